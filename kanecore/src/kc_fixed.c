/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixed steps: the classical Runge-Kutta method. */
#include "kc_stage.h"

double kc_smallest_step(double t0, double t1)
{
    return 4.0 * 2.220446049250313e-16 * fmax(fabs(t0), fabs(t1));
}

kc_status kc_rk4(const kc_system *system, double t0, double t1, double h, double *x, kc_accept *accept,
                 void *context, double *work, kc_stats *stats)
{
    const uint32_t n = system->n_q + system->n_u;
    const size_t bytes = sizeof(double) * n;
    double *k1 = work, *k2 = k1 + n, *k3 = k2 + n, *k4 = k3 + n, *y = k4 + n, *x0 = y + n, *dense = x0 + n;
    const double direction = kc_direction(t0, t1);
    kc_run run = kc_begin(system, direction, dense + 2 * n, stats);
    kc_status status;
    *stats = (kc_stats){.t = t0};
    if (!(h > 0.0 && h >= kc_smallest_step(t0, t1)))
        return KC_STEP_SIZE;
    while (stats->t != t1) {
        /* whole steps from the start of each stretch of the inputs, then one that ends on its end */
        const double start = stats->t, end = kc_stretch(system->signal, start, t1, &run.interval);
        const double whole = floor((end - start) * direction / h * (1.0 + 8.0 * 2.220446049250313e-16));
        const int shorter = whole == 0.0 || (end - start) * direction - whole * h > 1e-9 * h;
        const uint64_t count = (uint64_t)whole + (shorter ? 1 : 0);
        if ((status = kc_evaluate(&run, start, x, k1)) != KC_OK)
            return status;
        for (uint64_t i = 0; i < count; i++) {
            const double t = start + direction * h * (double)i;
            const int last = i + 1 == count;
            const double next = last ? end : start + direction * h * (double)(i + 1), s = next - t;
            memcpy(x0, x, bytes);
            for (uint32_t j = 0; j < n; j++)
                y[j] = x0[j] + 0.5 * s * k1[j];
            if ((status = kc_evaluate(&run, t + 0.5 * s, y, k2)) != KC_OK)
                return status;
            for (uint32_t j = 0; j < n; j++)
                y[j] = x0[j] + 0.5 * s * k2[j];
            if ((status = kc_evaluate(&run, t + 0.5 * s, y, k3)) != KC_OK)
                return status;
            for (uint32_t j = 0; j < n; j++)
                y[j] = x0[j] + s * k3[j];
            if ((status = kc_evaluate(&run, next, y, k4)) != KC_OK)
                return status;
            for (uint32_t j = 0; j < n; j++) {
                y[j] = x0[j] + s / 6.0 * (k1[j] + 2.0 * (k2[j] + k3[j]) + k4[j]);
                dense[j] = s * k1[j];
            }
            if (kc_returns(system) && (status = kc_return(&run, next, y)) != KC_OK)
                return status;
            /* the slope at the end serves the interpolant and begins the next step */
            if ((status = kc_evaluate(&run, next, y, k1)) != KC_OK)
                return status;
            for (uint32_t j = 0; j < n; j++)
                dense[n + j] = s * k1[j];
            memcpy(x, y, bytes);
            stats->t = next;
            stats->accepted++;
            const kc_step step = {t, s, next, x0, x, dense, KC_RK4, system};
            if (accept && accept(&step, context))
                return KC_STOPPED;
        }
    }
    return KC_OK;
}
