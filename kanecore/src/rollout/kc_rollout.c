/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_rollout.c: rollouts for the extension's processors, and the choice between these and wider ones. */
#include "kc_rollout.h"

#include "kc_cpu.h"

#define KC_NUMBER        double
#define KC_TYPED(f)      f##_of_doubles
#define KC_ROLL_OUT      kc_roll_out_doubles
#define KC_ROLLOUT_BYTES 16
#include "kc_rollout_steps.h"

#define KC_NUMBER        float
#define KC_TYPED(f)      f##_of_floats
#define KC_ROLL_OUT      kc_roll_out_floats
#define KC_ROLLOUT_BYTES 16
#include "kc_rollout_steps.h"

size_t kc_rollout_work(const kc_rollout *plan)
{
    group_of_doubles doubles;
    group_of_floats floats;
    return plan->single ? lay_out_of_floats(plan, NULL, &floats) : lay_out_of_doubles(plan, NULL, &doubles);
}

void kc_roll_out(const kc_rollout *plan, size_t first, size_t end, void *work)
{
    kc_roll_out_kind *kind = plan->single ? kc_roll_out_floats : kc_roll_out_doubles;
#if defined(__x86_64__) && defined(__GNUC__)
    const int level = kc_cpu_level();
    if (level >= 4)
        kind = plan->single ? kc_roll_out_floats_v4 : kc_roll_out_doubles_v4;
    else if (level >= 3)
        kind = plan->single ? kc_roll_out_floats_v3 : kc_roll_out_doubles_v3;
#endif
    kind(plan, first, end, work);
}
