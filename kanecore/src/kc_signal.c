/* SPDX-License-Identifier: BSD-3-Clause */
/* Piecewise polynomial inputs, and the interpolants of the integrators. */
#include "kc_stage.h"

void kc_signal_at(const kc_signal *signal, uint32_t k, double t, double *r)
{
    const double s = signal->n_knots ? t - signal->knots[k] : 0.0;
    const double *c = signal->coefficients + (size_t)4 * k * signal->n_r;
    for (uint32_t i = 0; i < signal->n_r; i++, c += 4)
        r[i] = c[0] + s * (c[1] + s * (c[2] + s * c[3]));
}

uint32_t kc_signal_interval(const kc_signal *signal, double t)
{
    if (signal->n_knots < 2)
        return 0;
    uint32_t low = 0, high = signal->n_knots - 1; /* knots[low] <= t < knots[high], ends apart */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (signal->knots[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return low;
}

kc_status kc_interpolate(const kc_step *step, double theta, double *x, double *work)
{
    const uint32_t n_x = step->system->n_q + step->system->n_u;
    const double s = 1.0 - theta, *f = step->dense;
    if (step->method == KC_RK4) {
        /* cubic Hermite: f holds h k at both ends */
        for (uint32_t i = 0; i < n_x; i++) {
            const double a = step->x0[i], b = step->x1[i], change = b - a;
            const double bend = s * (f[i] - change) - theta * (f[n_x + i] - change);
            x[i] = a + theta * (change + s * bend);
        }
    } else {
        for (uint32_t i = 0; i < n_x; i++) {
            double y = 0.0;
            for (int j = KC_DENSE - 1; j >= 0; j--)
                y = (y + f[(uint32_t)j * n_x + i]) * (j % 2 ? s : theta);
            x[i] = step->x0[i] + y;
        }
    }
    const kc_system *system = step->system;
    if (system->project == NULL)
        return kc_normalize(system->n_unit, system->unit, x);
    const double t = step->t + theta * step->h;
    kc_stats stats = {.t = t};
    kc_run run = kc_begin(system, 1.0, work, &stats);
    run.interval = system->signal->call ? 0 : kc_signal_interval(system->signal, t);
    const kc_status status = kc_return(&run, t, x);
    work[0] = status, work[1] = status == KC_SINGULAR ? stats.row : 0.0;
    return status;
}
