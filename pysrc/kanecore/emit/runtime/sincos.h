/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sine and cosine, of numbers of the type KC_T, with KC_BITS for its bits: a number, or a pack of them.
 * KC_F(name) is the function of that type, and KC_EACH(x) is x in each place.  No step depends on the type,
 * so all give the same bits.
 */

#if defined(KC_T)
/*
 * Sine and cosine of x [rad] together, each within 1 ulp for |x| <= KC_ANGLE_MAX: 1e5 of doubles (the
 * largest error seen in 10^8 arguments: 0.78, without FMA 0.83), 3e3 of floats (of all arguments: 0.76,
 * 0.81). Larger angles, infinities and NaN go to large_angles.h.  Bit for bit sin(-x) = -sin(x) and cos(-x) =
 * cos(x), since |x| is what is reduced.  Nothing branches within the range.
 *
 * Reduction (Cody and Waite, Software Manual for the Elementary Functions, 1980):
 *     k = floor(|x| / (pi/2) + 1/2),     r + l = |x| - k (P1 + P2 + P3 [+ P4])
 * The floor is taken of bits: KC_TURN of them stand behind the point of |x| / (pi/2) + 1/2, less the last of
 * them, which leaves pi/4 below; they are cleared.  So no rounding mode, which another library may have set,
 * moves r by more than pi 2^-KC_TURN beyond pi/4: within 1.3 ulp in all modes.  P1 and P2 of doubles end
 * within 37 bits and k < 2^16, so k P1, |x| - k P1 and k P2 are exact.  r is |x| - k P1 - k P2 rounded; what
 * the rounding lost is exact too (Dekker's Fast2Sum), and goes into l with k P3.  Of floats P1, P2 and P3 end
 * within 13 bits and k < 2^11: r is |x| - k P1 - k P2 - k P3 rounded. The sum of the parts is pi/2 to 2^-130,
 * in floats to 2^-63.  No double in the range comes nearer than 2^-60.5 to a multiple of pi/2 (29 pi/2), or
 * than k 2^-67.8 (58285 pi/2), so r + l has 60 good bits at its worst.
 *
 * Polynomials in z = r^2 on |r| <= pi/4 (minimax in the relative error, rounded one coefficient
 * after the other; errors 2^-57.8 and 2^-63.9, in floats 2^-32.5 and 2^-37.2), with w = 1 - z/2 the head
 * of the cosine:
 *     sin(r + l) = r + [r z S(z) + l w],       cos(r + l) = w + [(1 - w - z/2) - r l + z^2 C(z)]
 */

/* Those of x = k pi/2 + r + l; `quadrant` holds k in front of its last KC_TURN bits. */
KC_INLINE void KC_F(sincos_near)(KC_T x, KC_T r, KC_T l, KC_BITS quadrant, KC_T *sine, KC_T *cosine)
{
#if KC_MANTISSA == 52
    const KC_T S0 = KC_EACH(-0x1.5555555555548p-3), S1 = KC_EACH(0x1.111111110f730p-7);
    const KC_T S2 = KC_EACH(-0x1.a01a019be9210p-13), S3 = KC_EACH(0x1.71de35552a6a5p-19);
    const KC_T S4 = KC_EACH(-0x1.ae5e4b82bead8p-26), S5 = KC_EACH(0x1.5d8b55201be02p-33);
    const KC_T C0 = KC_EACH(0x1.555555555554bp-5), C1 = KC_EACH(-0x1.6c16c16c15015p-10);
    const KC_T C2 = KC_EACH(0x1.a01a019c8f253p-16), C3 = KC_EACH(-0x1.27e4f7f191267p-22);
    const KC_T C4 = KC_EACH(0x1.1ee9dbced0402p-29), C5 = KC_EACH(-0x1.8fa68464b4310p-37);
#else
    const KC_T S0 = KC_EACH(-0x1.555556p-3f), S1 = KC_EACH(0x1.111176p-7f);
    const KC_T S2 = KC_EACH(-0x1.a05bbcp-13f), S3 = KC_EACH(0x1.7cd93ap-19f);
    const KC_T C0 = KC_EACH(0x1.555556p-5f), C1 = KC_EACH(-0x1.6c1762p-10f);
    const KC_T C2 = KC_EACH(0x1.a075eap-16f), C3 = KC_EACH(-0x1.372526p-22f);
#endif
    const KC_T ONE = KC_EACH(KC_LITERAL(1.0)), HALF = KC_EACH(KC_LITERAL(0.5));
    const int last = 8 * (int)sizeof(kc_bits) - 1; /* the place of the sign */
    const kc_bits SIGN = (kc_bits)1 << last, TURN = (kc_bits)1 << KC_TURN;
    const int to_sign = last - 1 - KC_TURN;

    /* in pairs of terms, which shortens the chain of dependent operations */
    const KC_T z = r * r, z2 = z * z;
    const KC_T S23 = KC_F(fma)(z, S3, S2), S01 = KC_F(fma)(z, S1, S0);
    const KC_T C23 = KC_F(fma)(z, C3, C2), C01 = KC_F(fma)(z, C1, C0);
#if KC_MANTISSA == 52
    const KC_T S2345 = KC_F(fma)(z2, KC_F(fma)(z, S5, S4), S23), S = KC_F(fma)(z2, S2345, S01);
    const KC_T C2345 = KC_F(fma)(z2, KC_F(fma)(z, C5, C4), C23), C = KC_F(fma)(z2, C2345, C01);
#else
    const KC_T S = KC_F(fma)(z2, S23, S01), C = KC_F(fma)(z2, C23, C01);
#endif
    const KC_T half_r = HALF * r;
    const KC_T w = KC_F(fnma)(half_r, r, ONE);
    const KC_T w_lost = KC_F(fnma)(half_r, r, ONE - w);
    const KC_T sin_r = r + KC_F(fma)(r * z, S, l * w);
    const KC_T cos_r = w + KC_F(fma)(z2, C, KC_F(fnma)(r, l, w_lost));

    /* k odd swaps sine and cosine; quadrants 2, 3 negate the sine, 1, 2 the cosine */
    const KC_BITS sin_bits = KC_F(to_bits)(sin_r), cos_bits = KC_F(to_bits)(cos_r);
    const KC_BITS swap = (sin_bits ^ cos_bits) & (0 - (quadrant >> KC_TURN & 1));
    *sine = KC_F(from_bits)(sin_bits ^ swap ^ ((quadrant << to_sign ^ KC_F(to_bits)(x)) & SIGN));
    *cosine = KC_F(from_bits)(cos_bits ^ swap ^ ((quadrant + TURN) << to_sign & SIGN));
}

/* See above. */
KC_INLINE void KC_F(sincos)(KC_T x, KC_T *sine, KC_T *cosine)
{
#if KC_MANTISSA == 52
    const KC_T TWO_OVER_PI = KC_EACH(0x1.45f306dc9c883p-1);
    const KC_T P1 = KC_EACH(0x1.921fb54440000p+0);
    const KC_T P2 = KC_EACH(0x1.68c234c4c0000p-39);
    const KC_T P3 = KC_EACH(0x1.98a2e03707345p-77);
    const KC_T SHIFT = KC_EACH(0x1.8p17), SHIFT_AND_HALF = KC_EACH(0x1.80003ffffffffp17);
#else
    const KC_T TWO_OVER_PI = KC_EACH(0x1.45f306p-1f);
    const KC_T P1 = KC_EACH(0x1.921p+0f), P2 = KC_EACH(0x1.f6ap-13f), P3 = KC_EACH(0x1.11p-26f),
               P4 = KC_EACH(0x1.68c234p-39f);
    const KC_T SHIFT = KC_EACH(0x1.8p12f), SHIFT_AND_HALF = KC_EACH(0x1.8007fep12f);
#endif
    const KC_T a = KC_F(size)(x);
    /* numbers near SHIFT have KC_TURN bits behind the point */
    const kc_bits WHOLE = ~(((kc_bits)1 << KC_TURN) - 1);
    const KC_BITS shifted = KC_F(to_bits)(KC_F(fma)(a, TWO_OVER_PI, SHIFT_AND_HALF)) & WHOLE;
    const KC_T k = KC_F(from_bits)(shifted) - SHIFT;
    const KC_T head = KC_F(fnma)(k, P1, a);
#if KC_MANTISSA == 52
    const KC_T r = KC_F(fnma)(k, P2, head);
    const KC_T l = KC_F(fnma)(k, P3, (head - r) - k * P2);
#else
    const KC_T coarse = KC_F(fnma)(k, P2, head);
    const KC_T rest = KC_F(fnma)(k, P3, (head - coarse) - k * P2);
    const KC_T r = coarse + rest, l = KC_F(fnma)(k, P4, (coarse - r) + rest);
#endif

    KC_F(sincos_near)(x, r, l, shifted, sine, cosine);
    if (KC_UNLIKELY(!KC_F(all_within)(a, KC_ANGLE_MAX)))
        KC_F(sincos_far)(x, sine, cosine);
}

#undef KC_T
#undef KC_BITS
#undef KC_F
#undef KC_EACH
#endif
