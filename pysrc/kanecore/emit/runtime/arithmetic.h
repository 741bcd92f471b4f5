/* SPDX-License-Identifier: BSD-3-Clause */
/* Small functions that programs call, and faults: how functions of a model end. */

/* -1, 0 or 1; NaN for NaN. */
KC_INLINE kc_real kc_sign(kc_real x)
{
    return x > 0 ? (kc_real)1 : x < 0 ? (kc_real)-1 : x == 0 ? (kc_real)0 : x;
}

/* The smaller and the larger; NaN if either is NaN, where fmin() and fmax() would hide it. */
KC_INLINE kc_real kc_min(kc_real a, kc_real b)
{
    return a < b || a != a ? a : b;
}

KC_INLINE kc_real kc_max(kc_real a, kc_real b)
{
    return a > b || a != a ? a : b;
}

/* The larger of two sizes, as a constant expression. */
#define KC_MOST(a, b) ((int)(a) > (int)(b) ? (int)(a) : (int)(b))

#define kc_abs  KC_MATH(fabs)
#define kc_sqrt KC_MATH(sqrt)

/* What is true of a number; lane_numbers.h has one for each of several states. */
typedef int kc_mask;
#define kc_all(number)         ((kc_real)(number))
#define KC_TRUE                1
#define kc_any(mask)           (mask)
#define kc_not(mask)           (!(mask))
#define kc_pick(mask, a, b)    ((mask) ? (a) : (b))
#define kc_where(mask, new, x) (new) /* called where it is true */

/*
 * A function of a model returns 0, or a fault: a kc_status with the number of the speed, the row of G or the
 * configuration constraint that it is about.
 */
#define KC_FAULT(status, number) ((int)(status) << 24 | (number))
typedef int kc_fault;
#define kc_stops(fault) KC_UNLIKELY(fault) /* whether there is nothing to go on for */
#define KC_UNLESS(mask) 0 /* the fault where a mask is not true, which is no longer so here */

/* The fault of a short way to udot that does not hold at this state: another way is taken. */
#define KC_NOT_HERE KC_FAULT(127, 0)

KC_INLINE int kc_status_of(int fault)
{
    return fault >> 24;
}

KC_INLINE int kc_number_of(int fault)
{
    return fault & 0xffffff;
}

/* The end of a kernel without a solution: the status and the number, and NaN for all n results. */
KC_COLD void kc_fail(kc_real *work, kc_real *out, int n, int fault)
{
    work[0] = (kc_real)kc_status_of(fault);
    work[1] = (kc_real)kc_number_of(fault);
    for (int i = 0; i < n; i++)
        out[i] = (kc_real)NAN;
}
