/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pack: as many numbers as one instruction holds, with the arithmetic of C on each, by the vector
 * extensions of gcc and clang; and what C has no operator for.  A comparison gives -1, true, or 0 in each
 * place.
 */
#if defined(__GNUC__) && !defined(KC_EXTRA_PRECISION)
#if defined(__AVX512F__)
#define KC_PACK KC_PER_PACK(8)
#elif defined(__AVX__)
#define KC_PACK KC_PER_PACK(4)
#else
#define KC_PACK KC_PER_PACK(2)
#endif
typedef kc_number kc_pack __attribute__((vector_size(sizeof(kc_number) * KC_PACK)));
typedef kc_number kc_loose_pack /* anywhere */
    __attribute__((vector_size(sizeof(kc_number) * KC_PACK), aligned(sizeof(kc_number)), may_alias));
typedef kc_integer kc_pack_mask __attribute__((vector_size(sizeof(kc_number) * KC_PACK)));
typedef kc_bits kc_pack_bits __attribute__((vector_size(sizeof(kc_number) * KC_PACK)));

/* The name of an instruction of x86-64, and of one for masks; and its bits of the places. */
#if KC_MANTISSA == 52
typedef unsigned char kc_instruction_places;
#define KC_IA32(name, width)      __builtin_ia32_##name##pd##width
#define KC_IA32_MASK(name, width) __builtin_ia32_##name##q2mask##width
#else
typedef unsigned short kc_instruction_places;
#define KC_IA32(name, width)      __builtin_ia32_##name##ps##width
#define KC_IA32_MASK(name, width) __builtin_ia32_##name##d2mask##width
#endif

/* One number in all places. */
#if KC_PACK == 16
#define KC_ALL(x) {x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}
#elif KC_PACK == 8
#define KC_ALL(x) {x, x, x, x, x, x, x, x}
#elif KC_PACK == 4
#define KC_ALL(x) {x, x, x, x}
#else
#define KC_ALL(x) {x, x}
#endif

#if defined(__has_builtin)
#define KC_HAS(builtin) __has_builtin(builtin)
#else
#define KC_HAS(builtin) 0
#endif

#define KC_EVERYWHERE ((1u << KC_PACK) - 1) /* a bit for each place */

/* a*b + c, rounded once in each place; prelude.h says where that is so. */
KC_INLINE kc_pack kc_fma_pack(kc_pack a, kc_pack b, kc_pack c)
{
#if !defined(KC_FUSED)
    return a * b + c;
#elif KC_HAS(__builtin_elementwise_fma)
    return __builtin_elementwise_fma(a, b, c);
#elif !defined(__clang__) && defined(__AVX512F__)
    return KC_IA32(vfmadd, 512_mask)(a, b, c, (kc_instruction_places)KC_EVERYWHERE,
                                     4); /* 4: the current rounding */
#elif !defined(__clang__) && defined(__AVX__) && defined(__FMA__)
    return KC_IA32(vfmadd, 256)(a, b, c);
#elif !defined(__clang__) && defined(__FMA__)
    return KC_IA32(vfmadd, )(a, b, c);
#else
    for (int i = 0; i < KC_PACK; i++)
        c[i] = kc_fma(a[i], b[i], c[i]);
    return c;
#endif
}

/* c - a*b */
KC_INLINE kc_pack kc_fnma_pack(kc_pack a, kc_pack b, kc_pack c)
{
#if !defined(KC_FUSED)
    return c - a * b;
#else
    return kc_fma_pack(-a, b, c);
#endif
}

KC_INLINE kc_pack_bits kc_to_bits_pack(kc_pack x)
{
    return (kc_pack_bits)x;
}

KC_INLINE kc_pack kc_from_bits_pack(kc_pack_bits bits)
{
    return (kc_pack)bits;
}

/* |x| */
KC_INLINE kc_pack kc_size_pack(kc_pack x)
{
    return (kc_pack)((kc_pack_bits)x & ~((kc_bits)1 << (8 * sizeof(kc_bits) - 1)));
}

/* a where the mask is true, else b. */
KC_INLINE kc_pack kc_pick_pack(kc_pack_mask mask, kc_pack a, kc_pack b)
{
    return (kc_pack)(((kc_pack_mask)a & mask) | ((kc_pack_mask)b & ~mask));
}

#if KC_MANTISSA == 52 /* as instructions for masks have it */
typedef long long kc_instruction_mask __attribute__((vector_size(sizeof(kc_pack))));
#else
typedef int kc_instruction_mask __attribute__((vector_size(sizeof(kc_pack))));
#endif

/* The places where a mask is true, a bit each. */
KC_INLINE unsigned kc_places(kc_pack_mask mask)
{
#if defined(__AVX512DQ__)
    return KC_EVERYWHERE & (unsigned)KC_IA32_MASK(cvt, 512)((kc_instruction_mask)mask);
#elif defined(__AVX__) && !defined(__AVX512F__)
    return (unsigned)KC_IA32(movmsk, 256)((kc_pack)mask);
#elif defined(__SSE2__) && !defined(__AVX__)
    return (unsigned)KC_IA32(movmsk, )((kc_pack)mask);
#else
    unsigned places = 0;
    for (int i = 0; i < KC_PACK; i++)
        places |= (unsigned)(mask[i] & 1) << i;
    return places;
#endif
}

/* Whether a mask is true anywhere. */
KC_INLINE int kc_any_pack(kc_pack_mask mask)
{
    return kc_places(mask) != 0;
}

KC_INLINE int kc_all_within_pack(kc_pack size, kc_number bound)
{
    const kc_pack most = KC_ALL(bound);
    return kc_places((kc_pack_mask)(size <= most)) == KC_EVERYWHERE;
}

/* The large angles of a pack. */
KC_COLD void kc_sincos_far_pack(kc_pack x, kc_pack *sine, kc_pack *cosine)
{
    for (int i = 0; i < KC_PACK; i++)
        if (!(KC_MATH(fabs)(x[i]) <= KC_ANGLE_MAX)) {
            kc_number s, c;
            kc_sincos_far(x[i], &s, &c);
            (*sine)[i] = s, (*cosine)[i] = c;
        }
}

/* For sincos.h. */
#define KC_T       kc_pack
#define KC_BITS    kc_pack_bits
#define KC_F(name) kc_##name##_pack
#define KC_EACH(x) KC_ALL(x)
#endif
