/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_rollout_gradient.c: gradients over rollouts in both types of numbers. */
#include "kc_rollout_gradient.h"

#include "kc_rollout.h"

#define KC_ROLLOUT_BYTES 16

#define KC_NUMBER   double
#define KC_TYPED(f) f##_of_doubles
#include "kc_rollout_gradient_steps.h"

#define KC_NUMBER   float
#define KC_TYPED(f) f##_of_floats
#include "kc_rollout_gradient_steps.h"

size_t kc_roll_back_work(const kc_rollout_gradient *plan)
{
    group_of_doubles doubles;
    group_of_floats floats;
    return plan->single ? lay_out_of_floats(plan, NULL, &floats) : lay_out_of_doubles(plan, NULL, &doubles);
}

void kc_roll_back(const kc_rollout_gradient *plan, size_t first, size_t end, void *work)
{
    (plan->single ? roll_rows_back_of_floats : roll_rows_back_of_doubles)(plan, first, end, work);
}
