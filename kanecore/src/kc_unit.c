/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit quaternions: the projection of a state onto their spheres. */
#include "kc_ode.h"

#include <math.h>

kc_status kc_normalize(uint32_t n_unit, const uint32_t *unit, double *x)
{
    for (uint32_t k = 0; k < n_unit; k++) {
        const uint32_t *place = unit + (size_t)4 * k;
        const double e0 = x[place[0]], e1 = x[place[1]], e2 = x[place[2]], e3 = x[place[3]];
        const double norm = sqrt(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3);
        if (!(norm > 0.0 && norm < INFINITY))
            return KC_NONFINITE;
        for (int i = 0; i < 4; i++)
            x[place[i]] /= norm;
    }
    return KC_OK;
}
