/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit quaternions: the projection of a state onto their spheres, as a function KC_NORMALIZE on numbers of
 * the type KC_NUMBER.  The numbers of a state are `stride` apart.
 */
#include <math.h>

static inline kc_status KC_NORMALIZE(uint32_t n_unit, const uint32_t *unit, KC_NUMBER *x, size_t stride)
{
    for (uint32_t k = 0; k < n_unit; k++) {
        const uint32_t *place = unit + (size_t)4 * k;
        KC_NUMBER *const at[4] = {x + place[0] * stride, x + place[1] * stride, x + place[2] * stride,
                                  x + place[3] * stride};
        const double e0 = (double)*at[0], e1 = (double)*at[1], e2 = (double)*at[2], e3 = (double)*at[3];
        const double norm = sqrt(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3);
        if (!(norm > 0.0 && norm < (double)INFINITY))
            return KC_NONFINITE;
        for (int i = 0; i < 4; i++)
            *at[i] = (KC_NUMBER)((double)*at[i] / norm);
    }
    return KC_OK;
}
