/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_interpreter_fma.c: the interpreter with the fused multiply-adds of x86-64-v3, for which the extension is
 * not compiled. */
#include <math.h>

#if defined(__x86_64__) && defined(__GNUC__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi2"))), apply_to = function)
#ifndef FP_FAST_FMA
#define FP_FAST_FMA 1 /* the prelude asks for it; clang defines it for options only */
#endif
#else
#pragma GCC target("avx2,fma,bmi2")
#endif
#define KC_THIS_KIND kc_machine_fused
#include "kc_interpreter_programs.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
