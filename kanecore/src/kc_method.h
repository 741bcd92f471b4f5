/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_method.h: an integration method as a row of numbers and functions; kc_integrate.c runs any of them.
 *
 * A new method needs a tableau in kc_tableaux.c, or a separate function, and a row in kc_methods.c.  Common
 * parts of linearly implicit methods are in kc_rosenbrock.c.
 */
#ifndef KC_METHOD_H
#define KC_METHOD_H

#include "kc_evaluation.h"

#include <float.h>

/* A step in progress. */
typedef struct kc_stride {
    const kc_run *run;
    const kc_method *method;
    double t, next;    /* times of its start and end */
    const double *x;   /* the state at t */
    double *x1;        /* the state at `next` */
    double *k;         /* slopes, `extended` of them; the caller has evaluated the first */
    double *y;         /* a state, to work with */
    double *dense;     /* the interpolant */
    int again;         /* whether the last trial step began here, too, and was too long */
    double reach;      /* of the step, see kc_method */
    int votes, others; /* number of recent steps in favour of the other of two methods, and of later ones that
                          are not */
    int jumps;         /* whether the constraints moved x1 far */
    double *own;       /* data kept from trial to trial: kc_rosenbrock_work() for linearly implicit methods */
    const kc_plan *plan;
} kc_stride;

typedef struct kc_rosenbrock kc_rosenbrock; /* see kc_rosenbrock.h */

/* A method; a and c are Butcher's. */

struct kc_method {
    const char *name;
    int order;           /* of the step */
    int uses_qdot;       /* whether it calls system->qdot */
    int stages;          /* number of slopes; the slope at its end has index `stages` */
    int extended;        /* with the slope at its end and those of the interpolant */
    int n_dense;         /* number of coefficients of the interpolant for each component */
    const double *a, *c; /* (extended, extended), (extended): stage i is at t + c_i h, x + h sum_j a_ij k_j */
    const kc_rosenbrock *rosenbrock; /* the numbers of a linearly implicit method; NULL: it is explicit */
    /* The other slopes and x1; with a tableau by_tableau, which ends the step with row `stages`. */
    kc_status (*step)(const kc_stride *s);
    /* The error of x1 relative to the tolerance, proportional to h^control; NULL: steps are fixed. */
    double (*error)(const kc_stride *s, const kc_plan *plan);
    int control;
    /* The interpolant in s->dense, and its value at theta. */
    kc_status (*dense)(const kc_stride *s);
    void (*interpolate)(const kc_step *step, double theta, double *x);
    /*
     * For methods that may hand over to another: |h lambda|, lambda being the largest eigenvalue of df/dx in
     * a step; the reach up to which explicit steps are stable; and the method for systems in which this
     * limit keeps steps short.
     */
    double (*reach)(const kc_stride *s, const kc_plan *plan);
    double stable;
    const kc_method *stiff;
};

/* The rows of all methods, then NULL. */
extern const kc_method *const kc_methods[];

/*
 * The interpolant as weights w (3 + extended):
 *
 *     x(t + theta h) = w[0] x0 + w[1] x1 + w[2] y1 + sum_j w[3 + j] K_j
 *
 * y1 is the end of a step before projection to the constraints.  K_j is h k_j or, for a linearly implicit
 * method, its stage value.
 */
void kc_interpolant(const kc_method *method, double theta, double *w);

/*
 * y = x + h sum_j a_j k_j, j < stages, with many a_j zero; one pass over the others for four components.  The
 * sums stay in registers, which takes a fraction of the time of sums in y.
 */
static inline void kc_advance(uint32_t n, const double *restrict x, double h, const double *a, int stages,
                              const double *restrict k, double *restrict y)
{
    int last = stages - 1, first = 0;
    while (last > 0 && a[last] == 0.0)
        last--;
    while (first < last && a[first] == 0.0)
        first++;
    const double *const begin = k + (uint32_t)first * n, *const end = k + (uint32_t)last * n;
    if (first == last) {
        for (uint32_t i = 0; i < n; i++)
            y[i] = x[i] + h * (a[last] * end[i]);
        return;
    }
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const double *kj = begin + i;
        double s0 = a[first] * kj[0], s1 = a[first] * kj[1], s2 = a[first] * kj[2], s3 = a[first] * kj[3];
        for (int j = first + 1; j < last; j++)
            if (kj += n, a[j] != 0.0) {
                s0 += a[j] * kj[0];
                s1 += a[j] * kj[1];
                s2 += a[j] * kj[2];
                s3 += a[j] * kj[3];
            }
        y[i] = x[i] + h * (s0 + a[last] * end[i]);
        y[i + 1] = x[i + 1] + h * (s1 + a[last] * end[i + 1]);
        y[i + 2] = x[i + 2] + h * (s2 + a[last] * end[i + 2]);
        y[i + 3] = x[i + 3] + h * (s3 + a[last] * end[i + 3]);
    }
    for (; i < n; i++) {
        const double *kj = begin + i;
        double sum = a[first] * kj[0];
        for (int j = first + 1; j < last; j++)
            if (kj += n, a[j] != 0.0)
                sum += a[j] * kj[0];
        y[i] = x[i] + h * (sum + a[last] * end[i]);
    }
}

/* Slope number i of the tableau, i > 0. */
static inline kc_status kc_stage(const kc_stride *s, int i)
{
    const kc_method *m = s->method;
    const uint32_t n = kc_n_x(s->run->system);
    const double h = s->next - s->t;
    kc_advance(n, s->x, h, m->a + (size_t)i * (size_t)m->extended, i, s->k, s->y);
    return kc_evaluate(s->run, s->t + m->c[i] * h, s->y, s->k + (uint32_t)i * n);
}

/* Unit for an error in component i; not zero, so that 0 / 0 does not arise. */
static inline double kc_tolerance(const kc_plan *p, uint32_t i, double x, double y)
{
    return fmax(p->atol[i] + p->rtol * fmax(fabs(x), fabs(y)), DBL_MIN);
}

#endif
