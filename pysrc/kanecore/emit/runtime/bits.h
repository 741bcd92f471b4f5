/* SPDX-License-Identifier: BSD-3-Clause */
/* Doubles by their bits, and what sincos.h needs of them. */

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

/* For sincos.h. */
#define KC_T       double
#define KC_BITS    uint64_t
#define KC_F(name) kc_##name
#define KC_EACH(x) x

KC_INLINE double kc_fma(double a, double b, double c)
{
#if !defined(KC_FUSED)
    return a * b + c;
#elif defined(__GNUC__)
    return __builtin_fma(a, b, c);
#else
    return fma(a, b, c);
#endif
}

/* c - a*b */
KC_INLINE double kc_fnma(double a, double b, double c)
{
#if !defined(KC_FUSED)
    return c - a * b;
#else
    return kc_fma(-a, b, c);
#endif
}

KC_INLINE double kc_size(double x)
{
    return fabs(x);
}

KC_INLINE int kc_all_within(double size, double bound)
{
    return size <= bound;
}

/* The rare large angle, out of line, so that compilers neither hoist nor vectorize the call. */
KC_COLD void kc_sincos_far(double x, double *sine, double *cosine)
{
    *sine = sin(x);
    *cosine = cos(x);
}

/* The reduction below is good to here; nowhere, where doubles carry extra precision (x87). */
#if FLT_EVAL_METHOD == 2 || FLT_EVAL_METHOD < 0
#define KC_ANGLE_MAX (-1.0)
#else
#define KC_ANGLE_MAX 1e5
#endif
