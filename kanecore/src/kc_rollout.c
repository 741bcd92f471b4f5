/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_rollout.c: rollouts as the extension is compiled, and the choice between them and wider ones. */
#include "kc_rollout.h"

#include "kc_cpu.h"

#define KC_NUMBER   double
#define KC_TYPED(f) f##_of_doubles
#define KC_ROLL_OUT kc_roll_out_doubles
#include "kc_rollout_steps.h"

#define KC_NUMBER   float
#define KC_TYPED(f) f##_of_floats
#define KC_ROLL_OUT kc_roll_out_floats
#include "kc_rollout_steps.h"

size_t kc_rollout_work(const kc_rollout *plan)
{
    return plan->single ? work_of_floats(plan, NULL, NULL) : work_of_doubles(plan, NULL, NULL);
}

void kc_roll_out(const kc_rollout *plan, size_t first, size_t end, void *work)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (kc_cpu_level() >= 3) {
        (plan->single ? kc_roll_out_wide_floats : kc_roll_out_wide_doubles)(plan, first, end, work);
        return;
    }
#endif
    (plan->single ? kc_roll_out_floats : kc_roll_out_doubles)(plan, first, end, work);
}
