/* SPDX-License-Identifier: BSD-3-Clause */
/* Real numbers are doubles: literals and functions, powers of two by their bits. */

typedef double kc_real;
#define KC_REAL(literal)  literal
#define KC_MATH(function) function
#define KC_EPSILON        DBL_EPSILON
#define KC_LARGEST        DBL_MAX

/* A power of two near 1 / x, for x > 0. */
KC_INLINE double kc_inverse(double x)
{
    const int exponent = (int)(kc_to_bits(x) >> 52 & 0x7ff);
    return kc_from_bits((uint64_t)(exponent > 2045 ? 1 : exponent < 1 ? 2045 : 2046 - exponent) << 52);
}

/* A power of two near 1 / sqrt(x), for x > 0. */
KC_INLINE double kc_inverse_root(double x)
{
    const int exponent = (int)(kc_to_bits(x) >> 52 & 0x7ff) - 1023;
    return kc_from_bits((uint64_t)(1023 - (exponent - (exponent & 1)) / 2) << 52);
}
