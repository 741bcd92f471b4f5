/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers side by side: loops over them take as many at once as one instruction holds. */
#if defined(__GNUC__)
#if defined(__AVX512F__)
#define KC_LANES 8
#elif defined(__AVX__)
#define KC_LANES 4
#else
#define KC_LANES 2
#endif
typedef kc_real kc_lanes
    __attribute__((vector_size(KC_LANES * sizeof(kc_real)), aligned(sizeof(kc_real)), may_alias));
#else
#define KC_LANES 1
typedef kc_real kc_lanes;
#endif

/* A length that any number of lanes divides. */
#define KC_EIGHTS(n) (((n) + 7) / 8 * 8)

/* Set n numbers to zero. */
KC_INLINE void kc_clear(ptrdiff_t n, kc_real *x)
{
    const kc_lanes none = {0};
    ptrdiff_t i = 0;
    for (; i <= n - KC_LANES; i += KC_LANES)
        *(kc_lanes *)(x + i) = none;
    for (; i < n; i++)
        x[i] = 0;
}

/* Copy n numbers. */
KC_INLINE void kc_copy(ptrdiff_t n, kc_real *to, const kc_real *from)
{
    ptrdiff_t i = 0;
    for (; i <= n - KC_LANES; i += KC_LANES)
        *(kc_lanes *)(to + i) = *(const kc_lanes *)(from + i);
    for (; i < n; i++)
        to[i] = from[i];
}

/* Add n numbers. */
KC_INLINE void kc_sum(ptrdiff_t n, kc_real *to, const kc_real *from)
{
    ptrdiff_t i = 0;
    for (; i <= n - KC_LANES; i += KC_LANES)
        *(kc_lanes *)(to + i) += *(const kc_lanes *)(from + i);
    for (; i < n; i++)
        to[i] += from[i];
}

/* to -= multiple from, of n numbers. */
KC_INLINE void kc_take(ptrdiff_t n, kc_real *to, kc_real multiple, const kc_real *from)
{
    ptrdiff_t i = 0;
    for (; i <= n - KC_LANES; i += KC_LANES)
        *(kc_lanes *)(to + i) -= multiple * *(const kc_lanes *)(from + i);
    for (; i < n; i++)
        to[i] -= multiple * from[i];
}
