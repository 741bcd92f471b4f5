/* SPDX-License-Identifier: BSD-3-Clause */
/* Real numbers of programs are numbers, those of one state (lane_numbers.h: of several). */
typedef kc_number kc_real;
#define KC_REAL(literal) KC_LITERAL(literal)

/* A power of two near 1 / x, for x > 0. */
KC_INLINE kc_real kc_inverse(kc_real x)
{
    const int exponent = (int)(kc_to_bits(x) >> KC_MANTISSA & KC_EXPONENT), most = KC_EXPONENT - 2;
    return kc_from_bits((kc_bits)(exponent > most ? 1
                                  : exponent < 1  ? most
                                                  : most + 1 - exponent)
                        << KC_MANTISSA);
}

/* A power of two near 1 / sqrt(x), for x > 0. */
KC_INLINE kc_real kc_inverse_root(kc_real x)
{
    const int one = KC_EXPONENT >> 1, exponent = (int)(kc_to_bits(x) >> KC_MANTISSA & KC_EXPONENT) - one;
    return kc_from_bits((kc_bits)(one - (exponent - (exponent & 1)) / 2) << KC_MANTISSA);
}
