/* SPDX-License-Identifier: BSD-3-Clause */
/* Real numbers are doubles: literals, functions, powers of two by their bits, sine and cosine. */

typedef double kc_real;
#define KC_REAL(literal)  literal
#define KC_MATH(function) function
#define KC_EPSILON        DBL_EPSILON
#define KC_LARGEST        DBL_MAX

/* The 64 bits of a double, and back. */
KC_INLINE uint64_t kc_to_bits(double x)
{
    union {
        double value;
        uint64_t bits;
    } both;
    both.value = x;
    return both.bits;
}

KC_INLINE double kc_from_bits(uint64_t bits)
{
    union {
        double value;
        uint64_t bits;
    } both;
    both.bits = bits;
    return both.value;
}

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

/* The rare large angle, out of line, so that compilers neither hoist nor vectorize the call. */
KC_COLD double kc_sin_far(double x)
{
    return sin(x);
}

KC_COLD double kc_cos_far(double x)
{
    return cos(x);
}

/* The reduction below is good to here; nowhere, where doubles carry extra precision (x87). */
#if FLT_EVAL_METHOD == 2 || FLT_EVAL_METHOD < 0
#define KC_ANGLE_MAX (-1.0)
#else
#define KC_ANGLE_MAX 1e5
#endif

/*
 * Sine and cosine of x [rad] together, each within 1 ulp for |x| <= 1e5 (the largest error seen in
 * 10^8 arguments: 0.78, without FMA 0.83).  Larger angles, infinities and NaN go to libm.  Bit for bit
 * sin(-x) = -sin(x) and cos(-x) = cos(x), since |x| is what is reduced.  Nothing branches within
 * the range.
 *
 * Reduction (Cody and Waite, Software Manual for the Elementary Functions, 1980):
 *     k = nearest integer to |x| / (pi/2),     r + l = |x| - k (P1 + P2 + P3)
 * P1 and P2 end within 37 bits and k < 2^16, so k P1, |x| - k P1 and k P2 are exact.  r is
 * |x| - k P1 - k P2 rounded; what the rounding lost is exact too (Dekker's Fast2Sum), and goes
 * into l with k P3.
 * P1 + P2 + P3 is pi/2 to 2^-130.  No double in the range comes nearer than 2^-60.5 to a multiple
 * of pi/2 (29 pi/2), or than k 2^-67.8 (58285 pi/2), so r + l has 60 good bits at its worst.
 *
 * Polynomials in z = r^2 on |r| <= pi/4 (minimax in the relative error, rounded one coefficient
 * after the other; errors 2^-57.8 and 2^-63.9), with w = 1 - z/2 the head of the cosine:
 *     sin(r + l) = r + [r z S(z) + l w],       cos(r + l) = w + [(1 - w - z/2) - r l + z^2 C(z)]
 */
KC_INLINE void kc_sincos(double x, double *sine, double *cosine)
{
    static const double TWO_OVER_PI = 0x1.45f306dc9c883p-1;
    static const double P1 = 0x1.921fb54440000p+0;
    static const double P2 = 0x1.68c234c4c0000p-39;
    static const double P3 = 0x1.98a2e03707345p-77;
    static const double SHIFT = 0x1.8p52; /* doubles near it are the integers */
    static const double S0 = -0x1.5555555555548p-3, S1 = 0x1.111111110f730p-7;
    static const double S2 = -0x1.a01a019be9210p-13, S3 = 0x1.71de35552a6a5p-19;
    static const double S4 = -0x1.ae5e4b82bead8p-26, S5 = 0x1.5d8b55201be02p-33;
    static const double C0 = 0x1.555555555554bp-5, C1 = -0x1.6c16c16c15015p-10;
    static const double C2 = 0x1.a01a019c8f253p-16, C3 = -0x1.27e4f7f191267p-22;
    static const double C4 = 0x1.1ee9dbced0402p-29, C5 = -0x1.8fa68464b4310p-37;
    static const uint64_t SIGN = UINT64_C(1) << 63;

    const double a = fabs(x);
    if (KC_UNLIKELY(!(a <= KC_ANGLE_MAX))) {
        *sine = kc_sin_far(x);
        *cosine = kc_cos_far(x);
        return;
    }

    /* the last bits of k + SHIFT are those of the integer k */
    const double shifted = KC_FMA(a, TWO_OVER_PI, SHIFT);
    const double k = shifted - SHIFT;
    const double head = KC_FNMA(k, P1, a);
    const double r = KC_FNMA(k, P2, head);
    const double l = KC_FNMA(k, P3, (head - r) - k * P2);

    /* in pairs of terms, which shortens the chain of dependent operations */
    const double z = r * r, z2 = z * z;
    const double S = KC_FMA(z2, KC_FMA(z2, KC_FMA(z, S5, S4), KC_FMA(z, S3, S2)), KC_FMA(z, S1, S0));
    const double C = KC_FMA(z2, KC_FMA(z2, KC_FMA(z, C5, C4), KC_FMA(z, C3, C2)), KC_FMA(z, C1, C0));
    const double half_r = 0.5 * r;
    const double w = KC_FNMA(half_r, r, 1.0);
    const double w_lost = KC_FNMA(half_r, r, 1.0 - w);
    const double sin_r = r + KC_FMA(r * z, S, l * w);
    const double cos_r = w + KC_FMA(z2, C, KC_FNMA(r, l, w_lost));

    /* k odd swaps sine and cosine; quadrants 2, 3 negate the sine, 1, 2 the cosine */
    const uint64_t quadrant = kc_to_bits(shifted);
    const uint64_t sin_bits = kc_to_bits(sin_r), cos_bits = kc_to_bits(cos_r);
    const uint64_t swap = (sin_bits ^ cos_bits) & (0 - (quadrant & 1));
    *sine = kc_from_bits(sin_bits ^ swap ^ ((quadrant << 62 ^ kc_to_bits(x)) & SIGN));
    *cosine = kc_from_bits(cos_bits ^ swap ^ ((quadrant + 1) << 62 & SIGN));
}

KC_INLINE double kc_sin(double x)
{
    double sine, cosine;
    kc_sincos(x, &sine, &cosine);
    return sine;
}

KC_INLINE double kc_cos(double x)
{
    double sine, cosine;
    kc_sincos(x, &sine, &cosine);
    return cosine;
}
