/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_rollout_gradient.h: gradients of costs over rollouts (kc_rollout.h), in reverse from the last step to
 * the first, private to the extension.
 */
#ifndef KC_ROLLOUT_GRADIENT_H
#define KC_ROLLOUT_GRADIENT_H

#include "kanecore.h"

#include <stddef.h>

/* A kernel, for one state and in lanes. */
typedef struct kc_pair_of_kernels {
    kc_kernel *one;
    kc_lane_kernel *in_lanes;
} kc_pair_of_kernels;

typedef struct kc_rollout_gradient {
    kc_pair_of_kernels rhs, qdot; /* qdot: of "euler" */
    kc_pair_of_kernels gradient;  /* by x and r, and by p if requested */
    kc_kernel *project_gradient;  /* NULL: no constraints */
    uint32_t n_q, n_u, n_z, n_r, n_p;
    int single;          /* numbers but times are floats */
    uint32_t n_solution; /* numbers between x and weights, which the gradients find themselves */
    uint32_t n_work, n_unit;
    const uint32_t *unit;
    const kc_lanes *lanes; /* NULL: one row after the other */
    uint32_t n_prepared, n_lane_work;
    int semi_implicit; /* Euler's steps; else those of order 4 */
    double t0, dt;
    uint64_t steps;
    const void *states,
        *weights; /* (rows, steps + 1, n_x): states of the rollout, and the cost's gradient by these */
    /* as in kc_rollout */
    const char *r, *c;
    const int64_t *r_at, *c_at;
    int64_t r_step;
    /* gradients: (rows, n_x), (rows, steps, n_r), (rows, n_p) */
    void *by_start, *by_inputs, *by_parameters;
    int (*interrupted)(void *context);
    void *context;
} kc_rollout_gradient;

/* Bytes of work, which begins at a multiple of 64. */
size_t kc_roll_back_work(const kc_rollout_gradient *plan);

/* Rows first to end - 1.  If a kernel has no result, the gradients of a row are NaN. */
void kc_roll_back(const kc_rollout_gradient *plan, size_t first, size_t end, void *work);

#endif
