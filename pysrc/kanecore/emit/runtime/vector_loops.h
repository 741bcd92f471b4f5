/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers side by side: loops over them take as many at once as one instruction holds. */
#if defined(KC_WIDE) /* numbers of several states stand side by side already */
#define KC_BLOCK 1
typedef kc_real kc_block;
#elif defined(__GNUC__) && !defined(KC_EXTRA_PRECISION) /* a number of more bits is no factor of vectors */
#if defined(__AVX512F__)
#define KC_BLOCK 8
#elif defined(__AVX__)
#define KC_BLOCK 4
#else
#define KC_BLOCK 2
#endif
#define KC_BLOCK_OF(n)                                                                                       \
    __attribute__((vector_size((n) * sizeof(kc_real)), aligned(sizeof(kc_real)), may_alias))
typedef kc_real kc_block KC_BLOCK_OF(KC_BLOCK);
typedef kc_real kc_four KC_BLOCK_OF(4);
typedef kc_real kc_pair KC_BLOCK_OF(2);
#else
#define KC_BLOCK 1
typedef kc_real kc_block;
#endif

/* Do something with numbers i, i + 1, ... of n, which are a kc_several: blocks, then smaller ones, since most
 * rows are short. */
#define KC_NUMBERS_IN(type) ((ptrdiff_t)(sizeof(type) / sizeof(kc_real)))
#define KC_STEPS(type, n, something)                                                                         \
    for (; i <= (n) - KC_NUMBERS_IN(type); i += KC_NUMBERS_IN(type)) {                                       \
        typedef type kc_several;                                                                             \
        something;                                                                                           \
    }
#if KC_BLOCK == 8
#define KC_SHORTER_STEPS(n, something) KC_STEPS(kc_four, n, something) KC_STEPS(kc_pair, n, something)
#elif KC_BLOCK == 4
#define KC_SHORTER_STEPS(n, something) KC_STEPS(kc_pair, n, something)
#else
#define KC_SHORTER_STEPS(n, something)
#endif
#define KC_EACH(n, something)                                                                                \
    do {                                                                                                     \
        ptrdiff_t i = 0;                                                                                     \
        KC_STEPS(kc_block, n, something)                                                                     \
        KC_SHORTER_STEPS(n, something)                                                                       \
        KC_STEPS(kc_real, n, something)                                                                      \
    } while (0)
#define KC_SEVERAL(x)       (*(kc_several *)((x) + i))
#define KC_SEVERAL_GIVEN(x) (*(const kc_several *)((x) + i))

/* A length that any number of lanes divides. */
#define KC_EIGHTS(n) (((n) + 7) / 8 * 8)

/*
 * Where eight numbers begin in memory, the first from w on: rows in eights go into vectors from there without
 * crossing a line of the cache, wherever w is.  Bits do not depend on it, but time does: up to a quarter.
 */
#define KC_ALIGNED_ROOM(n) ((n) + 7)
KC_INLINE kc_real *kc_align(kc_real *w)
{
    const size_t number = sizeof(kc_real);
    return w + (7 - ((uintptr_t)w / number + 7) % 8);
}

/* Set n numbers to zero. */
KC_INLINE void kc_clear(ptrdiff_t n, kc_real *x)
{
    KC_EACH(n, KC_SEVERAL(x) = (kc_several){0});
}

/* Copy n numbers. */
KC_INLINE void kc_copy(ptrdiff_t n, kc_real *to, const kc_real *from)
{
    KC_EACH(n, KC_SEVERAL(to) = KC_SEVERAL_GIVEN(from));
}

/* Add n numbers. */
KC_INLINE void kc_sum(ptrdiff_t n, kc_real *to, const kc_real *from)
{
    KC_EACH(n, KC_SEVERAL(to) += KC_SEVERAL_GIVEN(from));
}

/* to -= multiple from, of n numbers. */
KC_INLINE void kc_take(ptrdiff_t n, kc_real *to, kc_real multiple, const kc_real *from)
{
    KC_EACH(n, KC_SEVERAL(to) -= multiple * KC_SEVERAL_GIVEN(from));
}

/* The same where a mask is true. */
KC_INLINE void kc_take_where(kc_mask mask, ptrdiff_t n, kc_real *to, kc_real multiple, const kc_real *from)
{
#if defined(KC_WIDE)
    for (ptrdiff_t i = 0; i < n; i++)
        to[i] = kc_pick(mask, to[i] - multiple * from[i], to[i]);
#else
    (void)mask; /* else nobody calls this */
    kc_take(n, to, multiple, from);
#endif
}

/* The same in the states where the multiple is not zero: none of a zero takes no time. */
KC_INLINE void kc_take_any(ptrdiff_t n, kc_real *to, kc_real multiple, const kc_real *from)
{
    const kc_mask some = (kc_mask)(multiple != kc_all(0));
    if (kc_any(some))
        kc_take_where(some, n, to, multiple, from);
}

/* Multiply n numbers by one. */
KC_INLINE void kc_scale(ptrdiff_t n, kc_real *to, kc_real factor)
{
    KC_EACH(n, KC_SEVERAL(to) *= factor);
}

/* to = factor from, of n numbers. */
KC_INLINE void kc_copy_scaled(ptrdiff_t n, kc_real *to, kc_real factor, const kc_real *from)
{
    KC_EACH(n, KC_SEVERAL(to) = factor * KC_SEVERAL_GIVEN(from));
}

/* to *= multiple from, number by number. */
KC_INLINE void kc_scale_each(ptrdiff_t n, kc_real *to, kc_real multiple, const kc_real *from)
{
    KC_EACH(n, KC_SEVERAL(to) *= multiple * KC_SEVERAL_GIVEN(from));
}
