/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every emitted model stands on.  The emitter pastes this text below the inclusion of kanecore.h, so
 * that a model is one file that needs no library but libm.  The type of numbers follows (double.h, single.h):
 * kc_number, KC_MATH(sqrt) for a function of libm, KC_EPSILON, KC_LARGEST; then kc_real, KC_REAL(1e-3) for a
 * literal (scalar.h: a number, lane_numbers.h: one for each of several states).
 */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "kanecore needs IEEE arithmetic: compile without -ffast-math, -Ofast, -ffinite-math-only"
#endif

/* Functions may be unused: these headers are the same for all models. */
#if defined(__GNUC__)
#if defined(__OPTIMIZE_SIZE__) && !defined(KC_FAST)
#define KC_INLINE static inline __attribute__((unused)) /* small; not with KC_FAST */
#else
#define KC_INLINE static inline __attribute__((always_inline, unused))
#endif
#define KC_COLD   static __attribute__((noinline, cold, unused))
#define KC_PART   static __attribute__((noinline))
#define KC_SOLVER static __attribute__((noinline, unused))
#define KC_ONCE   static __attribute__((unused)) /* called in one place, where compilers inline it */
#define KC_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#else
#define KC_INLINE              static inline
#define KC_COLD                static inline
#define KC_PART                static
#define KC_SOLVER              static inline
#define KC_ONCE                static inline
#define KC_UNLIKELY(condition) (condition)
#endif

/*
 * Multiply-adds are fused where they are written, and nowhere else: the emitter places them, and
 * contraction is off (-ffp-contract=off; gcc does not know the pragma).  So the same program
 * gives the same bits in any loop, block or vector that the compiler makes of it.
 *
 *     KC_FMA(a, b, c)  = a*b + c      KC_FMS(a, b, c)  = a*b - c      KC_FNMA(a, b, c) = c - a*b
 *     KC_FNMS(a, b, c) = -a*b - c
 *
 * Without hardware for it they round twice: libm would do it in software, many times slower. With -DKC_FUSE
 * it does, and results are the same bits everywhere.
 */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif
#if defined(__riscv_flen) && __riscv_flen >= 64
#define KC_FUSE /* clang has no word of its own for RISC-V */
#endif
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(FP_FAST_FMA) || defined(KC_FUSE)
#if defined(__GNUC__)
#define KC_FUSED(a, b, c) KC_MATH(__builtin_fma)((a), (b), (c)) /* also with -fno-builtin */
#else
#define KC_FUSED(a, b, c) KC_MATH(fma)((a), (b), (c))
#endif
#define KC_FMA(a, b, c)  KC_FUSED((a), (b), (c))
#define KC_FMS(a, b, c)  KC_FUSED((a), (b), -(c))
#define KC_FNMA(a, b, c) KC_FUSED(-(a), (b), (c))
#define KC_FNMS(a, b, c) KC_FUSED(-(a), (b), -(c))
#else
#define KC_FMA(a, b, c)  ((a) * (b) + (c))
#define KC_FMS(a, b, c)  ((a) * (b) - (c))
#define KC_FNMA(a, b, c) ((c) - (a) * (b))
#define KC_FNMS(a, b, c) (-(a) * (b) - (c))
#endif
