/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers by their bits, and what sincos.h needs of them. */

#define KC_NAN ((kc_number)NAN) /* NAN is a float */

/* The bits of a number, and back. */
KC_INLINE kc_bits kc_to_bits(kc_number x)
{
    union {
        kc_number value;
        kc_bits bits;
    } both;
    both.value = x;
    return both.bits;
}

KC_INLINE kc_number kc_from_bits(kc_bits bits)
{
    union {
        kc_number value;
        kc_bits bits;
    } both;
    both.bits = bits;
    return both.value;
}

/* For sincos.h. */
#define KC_T       kc_number
#define KC_BITS    kc_bits
#define KC_F(name) kc_##name
#define KC_EACH(x) x

KC_INLINE kc_number kc_fma(kc_number a, kc_number b, kc_number c)
{
#if !defined(KC_FUSED)
    return a * b + c;
#elif defined(__GNUC__)
    return KC_MATH(__builtin_fma)(a, b, c);
#else
    return KC_MATH(fma)(a, b, c);
#endif
}

/* c - a*b */
KC_INLINE kc_number kc_fnma(kc_number a, kc_number b, kc_number c)
{
#if !defined(KC_FUSED)
    return c - a * b;
#else
    return kc_fma(-a, b, c);
#endif
}

KC_INLINE kc_number kc_size(kc_number x)
{
    return KC_MATH(fabs)(x);
}

KC_INLINE int kc_all_within(kc_number size, kc_number bound)
{
    return size <= bound;
}

/* Bits of sincos.h behind the point of |x| / (pi/2), beside those of the largest of its range. */
enum { KC_TURN = KC_MANTISSA == 52 ? 35 : 11 };

/* The rare large angle (large_angles.h). */
static void kc_sincos_far(kc_number x, kc_number *sine, kc_number *cosine);

/* Where numbers carry extra precision: x87, and floats of s390x. */
#if FLT_EVAL_METHOD == 2 || FLT_EVAL_METHOD < 0 || (FLT_EVAL_METHOD == 1 && KC_MANTISSA == 23)
#define KC_EXTRA_PRECISION
#endif

/* The reduction of sincos.h is good to here; nowhere, where numbers carry extra precision. */
#if defined(KC_EXTRA_PRECISION)
#define KC_ANGLE_MAX KC_LITERAL(-1.0)
#elif KC_MANTISSA == 52
#define KC_ANGLE_MAX 1e5
#else
#define KC_ANGLE_MAX 3e3f
#endif
