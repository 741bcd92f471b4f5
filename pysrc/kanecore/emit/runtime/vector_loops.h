/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers side by side: loops over them take as many at once as one instruction holds. */
#if defined(KC_WIDE) /* numbers of several states stand side by side already */
#define KC_BLOCK 1
typedef kc_real kc_block;
#elif defined(__GNUC__)
#if defined(__AVX512F__)
#define KC_BLOCK 8
#elif defined(__AVX__)
#define KC_BLOCK 4
#else
#define KC_BLOCK 2
#endif
typedef kc_real kc_block
    __attribute__((vector_size(KC_BLOCK * sizeof(kc_real)), aligned(sizeof(kc_real)), may_alias));
#else
#define KC_BLOCK 1
typedef kc_real kc_block;
#endif

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
    const kc_block none = {0};
    ptrdiff_t i = 0;
    for (; i <= n - KC_BLOCK; i += KC_BLOCK)
        *(kc_block *)(x + i) = none;
    for (; i < n; i++)
        x[i] = KC_REAL(0.0);
}

/* Copy n numbers. */
KC_INLINE void kc_copy(ptrdiff_t n, kc_real *to, const kc_real *from)
{
    ptrdiff_t i = 0;
    for (; i <= n - KC_BLOCK; i += KC_BLOCK)
        *(kc_block *)(to + i) = *(const kc_block *)(from + i);
    for (; i < n; i++)
        to[i] = from[i];
}

/* Add n numbers. */
KC_INLINE void kc_sum(ptrdiff_t n, kc_real *to, const kc_real *from)
{
    ptrdiff_t i = 0;
    for (; i <= n - KC_BLOCK; i += KC_BLOCK)
        *(kc_block *)(to + i) += *(const kc_block *)(from + i);
    for (; i < n; i++)
        to[i] += from[i];
}

/* to -= multiple from, of n numbers. */
KC_INLINE void kc_take(ptrdiff_t n, kc_real *to, kc_real multiple, const kc_real *from)
{
    ptrdiff_t i = 0;
    for (; i <= n - KC_BLOCK; i += KC_BLOCK)
        *(kc_block *)(to + i) -= multiple * *(const kc_block *)(from + i);
    for (; i < n; i++)
        to[i] -= multiple * from[i];
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

/* Multiply n numbers by one. */
KC_INLINE void kc_scale(ptrdiff_t n, kc_real *to, kc_real factor)
{
    ptrdiff_t i = 0;
    for (; i <= n - KC_BLOCK; i += KC_BLOCK)
        *(kc_block *)(to + i) *= factor;
    for (; i < n; i++)
        to[i] *= factor;
}

/* to *= multiple from, number by number. */
KC_INLINE void kc_scale_each(ptrdiff_t n, kc_real *to, kc_real multiple, const kc_real *from)
{
    ptrdiff_t i = 0;
    for (; i <= n - KC_BLOCK; i += KC_BLOCK)
        *(kc_block *)(to + i) *= multiple * *(const kc_block *)(from + i);
    for (; i < n; i++)
        to[i] *= multiple * from[i];
}
