/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit quaternions: the projection of a state onto their spheres. */
#include "kc_ode.h"

#define KC_NUMBER    double
#define KC_NORMALIZE normalize
#include "kc_quaternions.h"

kc_status kc_normalize(uint32_t n_unit, const uint32_t *unit, double *x)
{
    return normalize(n_unit, unit, x, 1);
}
