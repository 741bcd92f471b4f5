/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers side by side: loops over them take as many at once as one instruction holds. */
#if defined(__GNUC__)
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

/* Set n numbers to zero. */
KC_INLINE void kc_clear(ptrdiff_t n, kc_real *x)
{
    const kc_block none = {0};
    ptrdiff_t i = 0;
    for (; i <= n - KC_BLOCK; i += KC_BLOCK)
        *(kc_block *)(x + i) = none;
    for (; i < n; i++)
        x[i] = 0;
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
