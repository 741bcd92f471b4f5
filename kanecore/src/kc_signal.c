/* SPDX-License-Identifier: BSD-3-Clause */
/* The inputs of a run as piecewise cubics: their values, and the piece of a time. */
#include "kc_ode.h"

void kc_signal_at(const kc_signal *signal, uint32_t k, double t, double *r)
{
    const double s = signal->n_knots ? t - signal->knots[k] : 0.0;
    const double *cubic = signal->coefficients + (size_t)4 * k * signal->n_r;
    for (uint32_t i = 0; i < signal->n_r; i++, cubic += 4)
        r[i] = cubic[0] + s * (cubic[1] + s * (cubic[2] + s * cubic[3]));
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
