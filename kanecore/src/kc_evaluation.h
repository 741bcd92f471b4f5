/* SPDX-License-Identifier: BSD-3-Clause */
/* Common parts of all methods: evaluations on one stretch of the inputs, and projection to constraints. */
#ifndef KC_STAGE_H
#define KC_STAGE_H

#include "kc_ode.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A run on one stretch, between two knots of the inputs. */
typedef struct kc_run {
    const kc_system *system;
    double direction;    /* 1 forwards, -1 backwards */
    uint32_t interval;   /* of the inputs */
    double *r;           /* (n_r) the inputs at the last evaluation */
    double *spare;       /* (n_x, or 2 n_u) written by `project` or `stabilization` */
    double *kernel_work; /* (n_work) */
    kc_stats *stats;
} kc_run;

/* Length of x = [q, u, z]. */
static inline uint32_t kc_n_x(const kc_system *s)
{
    return s->n_q + s->n_u + s->n_z;
}

/* Doubles that a run needs beside the states of its method. */
static inline size_t kc_run_work(const kc_system *s)
{
    const size_t n_x = kc_n_x(s), n_spare = n_x > 2 * (size_t)s->n_u ? n_x : 2 * (size_t)s->n_u;
    return s->signal->n_r + n_spare + s->n_work;
}

/* 1 forwards, -1 backwards. */
static inline double kc_direction(double t0, double t1)
{
    return t1 >= t0 ? 1.0 : -1.0;
}

/* A run at its beginning; `work` holds kc_run_work() doubles. */
static inline kc_run kc_begin(const kc_system *s, double direction, double *work, kc_stats *stats)
{
    const kc_run run = {s,    direction, 0, work, work + s->signal->n_r, work + (kc_run_work(s) - s->n_work),
                        stats};
    return run;
}

/* run->r at t and x; KC_STOPPED where a function gives the inputs and fails. */
static inline kc_status kc_inputs(const kc_run *run, double t, const double *x)
{
    const kc_signal *signal = run->system->signal;
    if (signal->held) {
        memcpy(run->r, signal->held, sizeof(double) * signal->n_r);
        return KC_OK;
    }
    if (signal->call)
        return signal->call(t, x, run->r, signal->context) ? KC_STOPPED : KC_OK;
    kc_signal_at(signal, run->interval, t, run->r);
    return KC_OK;
}

/* KC_OK if a kernel called with run->kernel_work found a solution. */
static inline kc_status kc_solved(const kc_run *run)
{
    if (run->kernel_work[0] == 0.0)
        return KC_OK;
    run->stats->number = (uint32_t)run->kernel_work[1];
    return (kc_status)run->kernel_work[0];
}

/*
 * k = rhs(t, x).  If the result is not KC_OK, k is invalid: the model is singular there, the result is not
 * finite, or the caller stops the run.
 */
static inline kc_status kc_evaluate(const kc_run *run, double t, const double *x, double *k)
{
    const kc_system *s = run->system;
    kc_status status = kc_inputs(run, t, x);
    if (status != KC_OK)
        return status;
    run->kernel_work[0] = 0.0;
    s->rhs(t, x, run->r, s->c, run->kernel_work, k);
    if (++run->stats->evaluations % KC_PATIENCE == 0 && s->interrupted && s->interrupted(s->context))
        return KC_STOPPED;
    if ((status = kc_solved(run)) != KC_OK)
        return status;
    if (s->stabilization) {
        double *const a = run->spare, *const b = a + s->n_u, *const udot = k + s->n_q;
        s->stabilization(t, x, run->r, s->c, run->kernel_work, a);
        if ((status = kc_solved(run)) != KC_OK)
            return status;
        for (uint32_t i = 0; i < s->n_u; i++)
            udot[i] += 2.0 * run->direction * s->alpha * a[i] + s->beta * s->beta * b[i];
    }
    double check = 0.0; /* NaN if any component is not finite */
    for (uint32_t i = 0; i < kc_n_x(s); i++)
        check += k[i] * 0.0;
    return check == 0.0 ? KC_OK : KC_NONFINITE;
}

/* The projection of a state to the unit spheres and the constraints, with least change. */
static inline kc_status kc_return(const kc_run *run, double t, double *x)
{
    const kc_system *s = run->system;
    kc_status status = kc_normalize(s->n_unit, s->unit, x);
    if (status != KC_OK || s->project == NULL)
        return status;
    if ((status = kc_inputs(run, t, x)) != KC_OK)
        return status;
    run->kernel_work[0] = 0.0;
    s->project(t, x, run->r, s->c, run->kernel_work, run->spare);
    if ((status = kc_solved(run)) != KC_OK)
        return status;
    memcpy(x, run->spare, sizeof(double) * kc_n_x(s));
    /* `project` moves a quaternion along the tangent of its sphere, off the sphere by the square of the
     * change */
    return kc_normalize(s->n_unit, s->unit, x);
}

/* The time of the first sample after t, with a sample in every period from t0 on. */
static inline double kc_next_sample(double t0, double period, double direction, double t)
{
    const double passed = fabs(t - t0) / period;
    const double rounding = 4.0 * DBL_EPSILON * (passed + fmax(fabs(t0), fabs(t)) / period);
    return t0 + direction * period * (floor(passed + rounding) + 1.0);
}

/*
 * The end of the stretch from t on, in a run from t0 to t1, and the interval of the inputs there.  Stretches
 * shorter than rounding are left out.
 */
static inline double kc_stretch(const kc_signal *signal, double t0, double t, double t1, uint32_t *interval)
{
    const double forward = kc_direction(t, t1);
    const double tiny = 4.0 * DBL_EPSILON * fmax(fabs(t), fabs(t1));
    *interval = 0;
    if (signal->held) {
        const double next = kc_next_sample(t0, signal->period, forward, t);
        return (t1 - next) * forward > tiny ? next : t1;
    }
    if (signal->call || signal->n_knots < 2)
        return t1;
    uint32_t k = kc_signal_interval(signal, t + forward * tiny);
    *interval = k;
    if (forward > 0.0) {
        const double end = k + 2 < signal->n_knots ? signal->knots[k + 1] : t1;
        return end < t1 ? end : t1;
    }
    const double end = k > 0 ? signal->knots[k] : t1;
    return end > t1 ? end : t1;
}

#endif
