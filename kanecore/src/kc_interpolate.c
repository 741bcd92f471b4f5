/* SPDX-License-Identifier: BSD-3-Clause */
/* States inside a step, and the smallest step that there is. */
#include "kc_method.h"

double kc_smallest_step(double t0, double t1)
{
    return 4.0 * 2.220446049250313e-16 * fmax(fabs(t0), fabs(t1));
}

kc_status kc_interpolate(const kc_step *step, double theta, double *x, double *work)
{
    const kc_system *system = step->system;
    if (step->h == 0.0) { /* an event changed x */
        memcpy(x, step->x1, sizeof(double) * kc_n_x(system));
        return KC_OK;
    }
    step->method->interpolate(step, theta, x);
    if (system->project == NULL)
        return kc_normalize(system->n_unit, system->unit, x);
    const double t = step->t + theta * step->h;
    kc_stats stats = {.t = t};
    kc_run run = kc_begin(system, 1.0, work, &stats);
    run.interval = system->signal->call ? 0 : kc_signal_interval(system->signal, t);
    const kc_status status = kc_return(&run, t, x);
    work[0] = status, work[1] = stats.number;
    return status;
}
