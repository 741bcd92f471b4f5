/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit quaternions: the projection of a state onto their spheres. */
#include "kc_ode.h"

#include <math.h>

kc_status kc_normalize(uint32_t n_unit, const uint32_t *unit, double *x)
{
    for (uint32_t k = 0; k < n_unit; k++) {
        const uint32_t *e = unit + (size_t)4 * k;
        const double a = x[e[0]], b = x[e[1]], c = x[e[2]], d = x[e[3]];
        const double norm = sqrt(a * a + b * b + c * c + d * d);
        if (!(norm > 0.0 && norm < INFINITY))
            return KC_NONFINITE;
        for (int i = 0; i < 4; i++)
            x[e[i]] /= norm;
    }
    return KC_OK;
}
