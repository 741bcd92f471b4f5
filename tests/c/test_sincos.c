/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_sincos() against long double: 10^6 random arguments, those beyond 1e5, the doubles around all k pi/2 up
 * to 1e5, and what must hold bit for bit.  Run by tests/test_prelude.py, or by hand:
 *
 *     cc -std=c99 -O2 -ffp-contract=off -march=native -I kanecore/include -I pysrc/kanecore/emit/runtime \
 *        tests/c/test_sincos.c -o test_sincos -lm && ./test_sincos
 */
#include "kanecore.h"

#include "prelude.h"

#include "double.h"

#include "number_bits.h"
#include "sincos.h"

#include "large_angles.h"

#include <stdio.h>
#include <stdlib.h>

static const double LIMIT_ULP = 1.0;
static int failures = 0;

/* The distance of `got` from the true value, in units of the last place of that value. */
static double error_in_ulps(double got, long double truth)
{
    int exponent;
    frexpl(truth, &exponent);
    const int last_place = exponent - DBL_MANT_DIG;
    const int smallest = DBL_MIN_EXP - DBL_MANT_DIG;
    return (double)ldexpl(fabsl(got - truth), -(last_place > smallest ? last_place : smallest));
}

typedef struct worst {
    double sin_ulp, sin_at, cos_ulp, cos_at;
} worst;

static void check_bits(const char *what, double x, double got, double expected)
{
    if (kc_to_bits(got) == kc_to_bits(expected) || (isnan(got) && isnan(expected)))
        return;
    printf("FAILED: %s at x = %a: %a, expected %a\n", what, x, got, expected);
    failures++;
}

static void check_at(double x, worst *w)
{
    double s, c, s_minus, c_minus;
    kc_sincos(x, &s, &c);
    kc_sincos(-x, &s_minus, &c_minus);
    check_bits("sin(-x) = -sin(x)", x, s_minus, -s);
    check_bits("cos(-x) = cos(x)", x, c_minus, c);
#if LDBL_MANT_DIG >= 64
    const double sin_ulp = error_in_ulps(s, sinl((long double)x));
    const double cos_ulp = error_in_ulps(c, cosl((long double)x));
    if (!(sin_ulp <= w->sin_ulp)) {
        w->sin_ulp = sin_ulp;
        w->sin_at = x;
    }
    if (!(cos_ulp <= w->cos_ulp)) {
        w->cos_ulp = cos_ulp;
        w->cos_at = x;
    }
#else
    (void)w;
    (void)error_in_ulps;
#endif
}

static void report(const char *set, long count, const worst *w)
{
#if LDBL_MANT_DIG >= 64
    printf("%-34s %8ld arguments: sin %.4f ulp (at %a), cos %.4f ulp (at %a)\n", set, count, w->sin_ulp,
           w->sin_at, w->cos_ulp, w->cos_at);
    if (!(w->sin_ulp <= LIMIT_ULP) || !(w->cos_ulp <= LIMIT_ULP)) {
        printf("FAILED: more than %g ulp\n", LIMIT_ULP);
        failures++;
    }
#else
    (void)w;
    printf("%-34s %8ld arguments: bits checked; ulps skipped, long double has no more bits than double\n",
           set, count);
#endif
}

/* Uniform in [0, 1): splitmix64, the same on every machine. */
static double uniform(void)
{
    static uint64_t state = 20261121;
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void test_uniform(double range, long count)
{
    worst w = {0};
    char set[64];
    for (long i = 0; i < count; i++)
        check_at((2.0 * uniform() - 1.0) * range, &w);
    snprintf(set, sizeof set, "uniform in +-%g", range);
    report(set, count, &w);
}

static void test_log_uniform(double smallest, long count)
{
    worst w = {0};
    char set[64];
    for (long i = 0; i < count; i++)
        check_at(smallest * exp(uniform() * log(1e5 / smallest)), &w);
    snprintf(set, sizeof set, "log-uniform from %g to 1e5", smallest);
    report(set, count, &w);
}

/* The double nearest to k pi/2 with two neighbours on both sides, and halfway, where k changes. */
static void test_quadrants(void)
{
    worst at_axes = {0}, between = {0};
    const long k_max = 63661; /* 63661 pi/2 = 99998.5 */
    for (long k = 1; k <= k_max; k++) {
        double axis = (double)(k * 1.570796326794896619231321691639751442L);
        double diagonal = (double)((k - 0.5L) * 1.570796326794896619231321691639751442L);
        axis = nextafter(nextafter(axis, 0.0), 0.0);
        diagonal = nextafter(nextafter(diagonal, 0.0), 0.0);
        for (int i = 0; i < 5; i++) {
            check_at(axis, &at_axes);
            check_at(diagonal, &between);
            axis = nextafter(axis, 1e9);
            diagonal = nextafter(diagonal, 1e9);
        }
    }
    report("around k pi/2", 5 * k_max, &at_axes);
    report("around (k - 1/2) pi/2", 5 * k_max, &between);
}

static void test_special(void)
{
    worst w = {0};
    double s, c;
    kc_sincos(0.0, &s, &c);
    check_bits("sin(0)", 0.0, s, 0.0);
    check_bits("cos(0)", 0.0, c, 1.0);
    kc_sincos(-0.0, &s, &c);
    check_bits("sin(-0)", -0.0, s, -0.0);
    check_bits("cos(-0)", -0.0, c, 1.0);

    const double tiny[] = {0x1p-1074, 0x1.8p-1060, DBL_MIN, 1e-300, 1e-100, 0x1p-60, 0x1p-30, 0x1p-27};
    for (size_t i = 0; i < sizeof tiny / sizeof *tiny; i++) {
        kc_sincos(tiny[i], &s, &c);
        if (tiny[i] < 0x1p-27)
            check_bits("sin(x) = x", tiny[i], s, tiny[i]);
        check_at(tiny[i], &w);
    }
    check_at(1e5, &w);
    check_at(nextafter(1e5, 0.0), &w);
    report("tiny ones and 1e5", 10, &w);

    const double endless[] = {INFINITY, -INFINITY, (double)NAN};
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        kc_sincos(endless[i], &s, &c);
        check_bits("sin of what is not finite", endless[i], s, NAN);
        check_bits("cos of what is not finite", endless[i], c, NAN);
    }
}

/* Beyond 1e5: all exponents, and the double that comes nearest to a multiple of pi/2 (Muller, Elementary
 * Functions, 3rd ed. 2016, table 11.1). */
static void test_far(long count)
{
    worst w = {0};
    check_at(nextafter(1e5, 1e9), &w);
    check_at(ldexp(6381956970095103.0, 797), &w);
    check_at(DBL_MAX, &w);
    for (long i = 0; i < count; i++)
        check_at(ldexp(1.0 + uniform(), 17 + (int)(uniform() * 1007.0)), &w);
    report("log-uniform from 1e5 to 1.8e308", count + 3, &w);
}

/* test_sincos [PART]: of the random arguments one in so many. */
int main(int argc, char **argv)
{
    const long part = argc > 1 ? atol(argv[1]) : 1;
#ifdef KC_FUSED
    puts("multiply-adds are fused");
#else
    puts("multiply-adds round twice");
#endif
    test_special();
    test_uniform(0.7853981633974483, 200000 / part);
    test_uniform(6.283185307179586, 200000 / part);
    test_uniform(100.0, 200000 / part);
    test_uniform(1e5, 200000 / part);
    test_log_uniform(1e-3, 100000 / part);
    test_log_uniform(1e-300, 100000 / part);
    test_quadrants();
    test_far(100000 / part);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
