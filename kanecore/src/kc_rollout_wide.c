/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_rollout_wide.c: rollouts with the instructions of x86-64-v3, for which the extension is not compiled. */
#include "kc_rollout.h"

#if defined(__x86_64__) && defined(__GNUC__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif
#define KC_NUMBER   double
#define KC_TYPED(f) f##_of_doubles
#define KC_ROLL_OUT kc_roll_out_wide_doubles
#include "kc_rollout_steps.h"

#define KC_NUMBER   float
#define KC_TYPED(f) f##_of_floats
#define KC_ROLL_OUT kc_roll_out_wide_floats
#include "kc_rollout_steps.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
