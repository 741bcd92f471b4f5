/* SPDX-License-Identifier: BSD-3-Clause */
/* States lie row by row; programs on packs read the same number of all states at once. */

/* The arrays of a kernel, whose lengths and alignment the caller answers for. */
#define KC_ARRAYS(t, x, r, c, work, out)                                                                     \
    (const kc_real *)(t), (const kc_real *)(x), (const kc_real *)(r), (const kc_real *)(c),                  \
        (kc_real *)(work), (kc_real *)(out)

/* Do something for each lane; written out, so that what is indexed stays in registers. */
#if KC_PACK == 8
#define KC_EACH_LANE(f) f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)
#elif KC_PACK == 4
#define KC_EACH_LANE(f) f(0), f(1), f(2), f(3)
#else
#define KC_EACH_LANE(f) f(0), f(1)
#endif

/* Two packs become their entries at some places, those of the second counted on. */
#if defined(__clang__) || KC_HAS(__builtin_shufflevector)
#define KC_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define KC_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (kc_pack_mask){__VA_ARGS__})
#endif
/* Rows to columns, in the packs a[0], ...: halves, quarters and single entries change places. */
KC_INLINE void kc_halves(kc_pack *a, kc_pack *b)
{
    const kc_pack x = *a, y = *b;
#if KC_PACK == 8
    *a = KC_SHUFFLE(x, y, 0, 1, 2, 3, 8, 9, 10, 11), *b = KC_SHUFFLE(x, y, 4, 5, 6, 7, 12, 13, 14, 15);
#elif KC_PACK == 4
    *a = KC_SHUFFLE(x, y, 0, 1, 4, 5), *b = KC_SHUFFLE(x, y, 2, 3, 6, 7);
#else
    *a = KC_SHUFFLE(x, y, 0, 2), *b = KC_SHUFFLE(x, y, 1, 3);
#endif
}

#if KC_PACK == 8
KC_INLINE void kc_quarters(kc_pack *a, kc_pack *b)
{
    const kc_pack x = *a, y = *b;
    *a = KC_SHUFFLE(x, y, 0, 1, 8, 9, 4, 5, 12, 13), *b = KC_SHUFFLE(x, y, 2, 3, 10, 11, 6, 7, 14, 15);
}
#endif

#if KC_PACK > 2
KC_INLINE void kc_pairs(kc_pack *a, kc_pack *b)
{
    const kc_pack x = *a, y = *b;
#if KC_PACK == 8
    *a = KC_SHUFFLE(x, y, 0, 8, 2, 10, 4, 12, 6, 14), *b = KC_SHUFFLE(x, y, 1, 9, 3, 11, 5, 13, 7, 15);
#else
    *a = KC_SHUFFLE(x, y, 0, 4, 2, 6), *b = KC_SHUFFLE(x, y, 1, 5, 3, 7);
#endif
}
#endif

KC_INLINE void kc_transpose(kc_pack *a)
{
#if KC_PACK == 8
    kc_halves(a, a + 4), kc_halves(a + 1, a + 5), kc_halves(a + 2, a + 6), kc_halves(a + 3, a + 7);
    kc_quarters(a, a + 2), kc_quarters(a + 1, a + 3), kc_quarters(a + 4, a + 6), kc_quarters(a + 5, a + 7);
    kc_pairs(a, a + 1), kc_pairs(a + 2, a + 3), kc_pairs(a + 4, a + 5), kc_pairs(a + 6, a + 7);
#elif KC_PACK == 4
    kc_halves(a, a + 2), kc_halves(a + 1, a + 3);
    kc_pairs(a, a + 1), kc_pairs(a + 2, a + 3);
#else
    kc_halves(a, a + 1);
#endif
}

#if KC_PACK == 4
typedef long long kc_long_pack __attribute__((vector_size(32))); /* as the builtins have it */
#endif

/* The first n numbers of a row that is shorter than a pack, and back. */
KC_INLINE kc_pack kc_load_some(uint32_t n, const double *row)
{
    kc_pack some = {0};
#if defined(__AVX512F__)
    some = __builtin_ia32_loadupd512_mask(row, some, (unsigned char)((1u << n) - 1));
#elif defined(__AVX__)
    const int64_t m = (int64_t)n;
    const kc_pack_mask there = (kc_pack_mask){0, 1, 2, 3} < (kc_pack_mask){m, m, m, m};
    some = __builtin_ia32_maskloadpd256((const kc_pack *)row, (kc_long_pack)there);
#else
    some[0] = *row, (void)n;
#endif
    return some;
}

KC_INLINE void kc_store_some(uint32_t n, double *row, kc_pack some)
{
#if defined(__AVX512F__)
    __builtin_ia32_storeupd512_mask(row, some, (unsigned char)((1u << n) - 1));
#elif defined(__AVX__)
    const int64_t m = (int64_t)n;
    const kc_pack_mask there = (kc_pack_mask){0, 1, 2, 3} < (kc_pack_mask){m, m, m, m};
    __builtin_ia32_maskstorepd256((kc_pack *)row, (kc_long_pack)there, some);
#else
    *row = some[0], (void)n;
#endif
}

/*
 * to[i] = entry i of each row, for n entries.  Where a last few are left over, the last two packs overlap;
 * only rows that are shorter than a pack are read in part.  So nothing is read outside of a row.
 */
static void kc_gather(uint32_t n, const double *const *rows, double *to)
{
    kc_pack *const packs = (kc_pack *)to, a[KC_PACK];
    if (n < KC_PACK) {
#define KC_LOAD(lane) a[lane] = kc_load_some(n, rows[lane])
#define KC_KEEP(i)    (i < n ? (void)(packs[i] = a[i]) : (void)0)
        KC_EACH_LANE(KC_LOAD);
        kc_transpose(a);
        KC_EACH_LANE(KC_KEEP);
#undef KC_LOAD
#undef KC_KEEP
        return;
    }
    for (uint32_t first = 0; first < n; first += KC_PACK) {
        const uint32_t i = first + KC_PACK <= n ? first : n - KC_PACK;
#define KC_LOAD(lane) a[lane] = *(const kc_loose_pack *)(rows[lane] + i)
#define KC_KEEP(k)    packs[i + k] = a[k]
        KC_EACH_LANE(KC_LOAD);
        kc_transpose(a);
        KC_EACH_LANE(KC_KEEP);
    }
}

/* And back. */
static void kc_scatter(uint32_t n, const double *values, double *const *rows)
{
    const kc_pack *const packs = (const kc_pack *)values;
    kc_pack a[KC_PACK];
    if (n < KC_PACK) {
        const kc_pack none = {0};
#define KC_TAKE(i)     a[i] = i < n ? packs[i] : none
#define KC_STORE(lane) kc_store_some(n, rows[lane], a[lane])
        KC_EACH_LANE(KC_TAKE);
        kc_transpose(a);
        KC_EACH_LANE(KC_STORE);
#undef KC_TAKE
#undef KC_STORE
        return;
    }
    for (uint32_t first = 0; first < n; first += KC_PACK) {
        const uint32_t i = first + KC_PACK <= n ? first : n - KC_PACK;
#define KC_TAKE(k)     a[k] = packs[i + k]
#define KC_STORE(lane) *(kc_loose_pack *)(rows[lane] + i) = a[lane]
        KC_EACH_LANE(KC_TAKE);
        kc_transpose(a);
        KC_EACH_LANE(KC_STORE);
    }
}
