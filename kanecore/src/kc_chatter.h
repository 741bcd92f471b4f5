/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_chatter.h: motions that no step can follow, as they cross a jump of the slopes back and forth. */
#ifndef KC_CHATTER_H
#define KC_CHATTER_H

#include "kc_method.h"

/* State kept between two steps; all zero at first. */
typedef struct kc_chatter {
    double since; /* where counting began */
    uint64_t steps,
        turns; /* since then: number of steps, and of steps in which the slope of a speed changed its sign */
} kc_chatter;

/*
 * Call this for each step with an error below the tolerance.  KC_CHATTER: the slope of speed stats->number
 * jumps at a surface to which the motion returns from both sides, for thousands of steps, and the rest of the
 * run would take some hundred thousand such steps.
 */
kc_status kc_see_chatter(kc_chatter *chatter, const kc_stride *s, const kc_plan *plan);

#endif
