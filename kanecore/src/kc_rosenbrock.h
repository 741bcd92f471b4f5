/* SPDX-License-Identifier: BSD-3-Clause */
/* Linearly implicit methods, of Rosenbrock's type: their steps, errors and interpolants. */
#ifndef KC_ROSENBROCK_H
#define KC_ROSENBROCK_H

#include "kc_method.h"

/*
 * The numbers of a method in the form that needs no product with the Jacobian matrix J (Hairer & Wanner,
 * Solving Ordinary Differential Equations II, 2nd ed. 1996, section IV.7, equation 7.25):
 *
 *     (1 / (h gamma_0) - J) u_i = f(t + alpha_i h, x + sum_j a_ij u_j) + sum_j c_ij / h u_j + h gamma_i df/dt
 *
 *     x1 = x + sum_j m_j u_j,    error = sum_j e_j u_j
 *
 *     x(t + theta h) = (1 - theta) x + theta (x1 + (1 - theta) sum_k theta^k sum_j d_kj u_j)
 *
 * A W-method keeps its order where df/dt and J = df/dx are known in part.
 */
struct kc_rosenbrock {
    int stages;
    const double *a, *c;         /* (stages, stages), lower triangles without the diagonal */
    const double *alpha, *gamma; /* (stages); the first is gamma itself, of every diagonal */
    const double *m, *e;         /* (stages) */
    int n_dense;
    const double *d; /* (n_dense, stages) */
};

/* Doubles that a step needs beside the slopes of the method. */
size_t kc_rosenbrock_work(const kc_system *system);

/* As in kc_method; slope 0 is the slope at t, and the others are u_1, u_2, ... */
kc_status kc_rosenbrock_step(const kc_stride *s);
double kc_rosenbrock_error(const kc_stride *s, const kc_plan *plan);
double kc_rosenbrock_reach(const kc_stride *s, const kc_plan *plan);
kc_status kc_rosenbrock_dense(const kc_stride *s);
void kc_rosenbrock_interpolate(const kc_step *step, double theta, double *x);

#endif
