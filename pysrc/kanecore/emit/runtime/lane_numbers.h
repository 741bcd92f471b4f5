/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real numbers of programs are packs of numbers: one of each of several states, which one call of a program
 * evaluates side by side.  Each state gets the bits that it would get alone: the same operations in the same
 * order, blends in place of branches, and functions of libm place by place.
 */
#define KC_WIDE
typedef kc_pack kc_real;

/* Of what is true in some states; and of the states that a function ends without results for: the others go
 * on. */
typedef kc_pack_mask kc_mask, kc_fault;
#define kc_all(number)         ((kc_real)KC_ALL((kc_number)(number)))
#define KC_TRUE                ((kc_mask)KC_ALL(-1))
#define kc_any(mask)           kc_any_pack(mask)
#define kc_not(mask)           (~(mask))
#define kc_where(mask, new, x) kc_pick((mask), (new), (x))
#define kc_stops(fault)        0
#define KC_UNLESS(mask)        (~(mask))

#define KC_REAL(literal) ((kc_real)KC_ALL(KC_LITERAL(literal)))
#undef KC_FMA
#undef KC_FMS
#undef KC_FNMA
#undef KC_FNMS
#if defined(KC_FUSED)
#define KC_FMA(a, b, c)  kc_fma_pack((a), (b), (c))
#define KC_FMS(a, b, c)  kc_fma_pack((a), (b), -(c))
#define KC_FNMA(a, b, c) kc_fma_pack(-(a), (b), (c))
#define KC_FNMS(a, b, c) kc_fma_pack(-(a), (b), -(c))
#else
#define KC_FMA(a, b, c)  ((a) * (b) + (c))
#define KC_FMS(a, b, c)  ((a) * (b) - (c))
#define KC_FNMA(a, b, c) ((c) - (a) * (b))
#define KC_FNMS(a, b, c) (-(a) * (b) - (c))
#endif
#define kc_sincos kc_sincos_pack
#define kc_abs    kc_size_pack
#define kc_pick   kc_pick_pack

KC_INLINE kc_real kc_sqrt(kc_real x)
{
#if KC_HAS(__builtin_elementwise_sqrt)
    return __builtin_elementwise_sqrt(x);
#elif !defined(__clang__) && defined(__AVX512F__)
    return KC_IA32(sqrt, 512_mask)(x, x, -1, 4);
#elif !defined(__clang__) && defined(__AVX__)
    return KC_IA32(sqrt, 256)(x);
#else
    for (int i = 0; i < KC_PACK; i++)
        x[i] = KC_MATH(sqrt)(x[i]);
    return x;
#endif
}

/* As in arithmetic.h. */
KC_INLINE kc_real kc_sign(kc_real x)
{
    const kc_real one = KC_REAL(1.0), zero = KC_REAL(0.0);
    const kc_real beside = kc_pick((kc_mask)(x == zero), zero, x);
    return kc_pick((kc_mask)(x > zero), one, kc_pick((kc_mask)(x < zero), -one, beside));
}

KC_INLINE kc_real kc_min(kc_real a, kc_real b)
{
    return kc_pick((kc_mask)(a < b) | (kc_mask)(a != a), a, b);
}

KC_INLINE kc_real kc_max(kc_real a, kc_real b)
{
    return kc_pick((kc_mask)(a > b) | (kc_mask)(a != a), a, b);
}

/* Functions of libm, place by place. */
#define KC_PLACE_BY_PLACE(function)                                                                          \
    KC_INLINE kc_real kc_each_##function(kc_real x)                                                          \
    {                                                                                                        \
        for (int i = 0; i < KC_PACK; i++)                                                                    \
            x[i] = KC_MATH(function)(x[i]);                                                                  \
        return x;                                                                                            \
    }
#define KC_PLACE_BY_PLACE_OF_TWO(function)                                                                   \
    KC_INLINE kc_real kc_each_##function(kc_real x, kc_real y)                                               \
    {                                                                                                        \
        for (int i = 0; i < KC_PACK; i++)                                                                    \
            x[i] = KC_MATH(function)(x[i], y[i]);                                                            \
        return x;                                                                                            \
    }
KC_PLACE_BY_PLACE(tan)
KC_PLACE_BY_PLACE(asin)
KC_PLACE_BY_PLACE(acos)
KC_PLACE_BY_PLACE(atan)
KC_PLACE_BY_PLACE(sinh)
KC_PLACE_BY_PLACE(cosh)
KC_PLACE_BY_PLACE(tanh)
KC_PLACE_BY_PLACE(asinh)
KC_PLACE_BY_PLACE(acosh)
KC_PLACE_BY_PLACE(atanh)
KC_PLACE_BY_PLACE(exp)
KC_PLACE_BY_PLACE(log)
KC_PLACE_BY_PLACE(erf)
KC_PLACE_BY_PLACE(floor)
KC_PLACE_BY_PLACE_OF_TWO(atan2)
KC_PLACE_BY_PLACE_OF_TWO(pow)

/* The larger of two sizes, as a constant expression. */
#define KC_MOST(a, b) ((int)(a) > (int)(b) ? (int)(a) : (int)(b))

/* The states, a bit each, without results: those of the mask, and those with a result that is not finite. */
KC_INLINE uint32_t kc_undone(kc_mask failed, ptrdiff_t n, const kc_real *out)
{
    kc_mask off = {0}; /* x - x is zero, or NaN */
    for (ptrdiff_t i = 0; i < n; i++)
        off |= (kc_mask)(out[i] - out[i]);
    return kc_places(failed | (kc_mask)(off != 0));
}

/* Powers of two near 1 / x and 1 / sqrt(x), for x > 0; as in scalar.h. */
KC_INLINE kc_real kc_inverse(kc_real x)
{
    const kc_mask exponent = (kc_mask)((kc_pack_bits)x >> KC_MANTISSA & KC_EXPONENT);
    const kc_mask low = (exponent < 1), high = (exponent > KC_EXPONENT - 2);
    const kc_mask of_inverse =
        (~(low | high) & (KC_EXPONENT - 1 - exponent)) | (low & (KC_EXPONENT - 2)) | (high & 1);
    return (kc_real)((kc_pack_bits)of_inverse << KC_MANTISSA);
}

KC_INLINE kc_real kc_inverse_root(kc_real x)
{
    const int one = KC_EXPONENT >> 1;
    const kc_mask exponent = (kc_mask)((kc_pack_bits)x >> KC_MANTISSA & KC_EXPONENT) - one;
    return (kc_real)((kc_pack_bits)(one - ((exponent - (exponent & 1)) >> 1)) << KC_MANTISSA);
}
