/* SPDX-License-Identifier: BSD-3-Clause */
/* What both integrators share: evaluation of the right-hand side along one stretch of the inputs. */
#ifndef KC_STAGE_H
#define KC_STAGE_H

#include "kc_ode.h"

#include <math.h>

/* A run between two knots of the inputs. */
typedef struct kc_run {
    const kc_system *system;
    uint32_t interval;   /* of the inputs */
    double *r;           /* n_r */
    double *kernel_work; /* n_work */
    kc_stats *stats;
} kc_run;

/*
 * k = rhs(t, x).  Anything but KC_OK leaves k useless: the model is singular there, the result is not
 * finite, or the input function asked for the end.
 */
static inline kc_status kc_evaluate(const kc_run *run, double t, const double *x, double *k)
{
    const kc_system *s = run->system;
    const kc_signal *signal = s->signal;
    if (signal->call) {
        if (signal->call(t, x, run->r, signal->context))
            return KC_STOPPED;
    } else {
        kc_signal_at(signal, run->interval, t, run->r);
    }
    run->kernel_work[0] = 0.0;
    s->rhs(t, x, run->r, s->c, run->kernel_work, k);
    run->stats->evaluations++;
    if (run->kernel_work[0] != 0.0) {
        run->stats->row = (uint32_t)run->kernel_work[1];
        return KC_SINGULAR;
    }
    double check = 0.0; /* NaN if any component is not finite */
    for (uint32_t i = 0; i < s->n_x; i++)
        check += k[i] * 0.0;
    return check == 0.0 ? KC_OK : KC_NONFINITE;
}

/*
 * The end of the stretch that begins at t, on the way to t1, and the interval of the inputs on it.  A
 * stretch that would be shorter than rounding is passed over.
 */
static inline double kc_stretch(const kc_signal *signal, double t, double t1, uint32_t *interval)
{
    const double forward = t1 >= t ? 1.0 : -1.0;
    const double tiny = 4.0 * 2.220446049250313e-16 * fmax(fabs(t), fabs(t1));
    if (signal->call || signal->n_knots < 2) {
        *interval = 0;
        return t1;
    }
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
