/* SPDX-License-Identifier: BSD-3-Clause */
/* Piecewise polynomial inputs. */
#include "kc_ode.h"

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
