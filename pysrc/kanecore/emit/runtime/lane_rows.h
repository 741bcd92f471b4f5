/* SPDX-License-Identifier: BSD-3-Clause */
/* States lie row by row; programs on packs read the same number of all states at once. */

/* The arrays of a kernel, whose lengths and alignment the caller answers for. */
#define KC_ARRAYS(t, x, r, c, work, out)                                                                     \
    (const kc_real *)(t), (const kc_real *)(x), (const kc_real *)(r), (const kc_real *)(c),                  \
        (kc_real *)(work), (kc_real *)(out)

/* Do something for each lane; written out, so that what is indexed stays in registers. */
#if KC_PACK == 16
#define KC_EACH_LANE(f)                                                                                      \
    f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11), f(12), f(13), f(14), f(15)
#elif KC_PACK == 8
#define KC_EACH_LANE(f) f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)
#elif KC_PACK == 4
#define KC_EACH_LANE(f) f(0), f(1), f(2), f(3)
#else
#define KC_EACH_LANE(f) f(0), f(1)
#endif
#define KC_ITSELF(i) i

/* Two packs become their entries at some places, those of the second counted on. */
#if defined(__clang__) || KC_HAS(__builtin_shufflevector)
#define KC_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define KC_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (kc_pack_mask){__VA_ARGS__})
#endif

/* The second of each two blocks of a pack, of some places, changes with the first ones of another. */
#define KC_FIRSTS(i, block)  ((i) & (block) ? KC_PACK + (i) - (block) : (i))
#define KC_SECONDS(i, block) ((i) & (block) ? KC_PACK + (i) : (i) + (block))
#define KC_CHANGE(block)                                                                                     \
    KC_INLINE void kc_change_##block(kc_pack *a, kc_pack *b)                                                 \
    {                                                                                                        \
        const kc_pack x = *a, y = *b;                                                                        \
        *a = KC_SHUFFLE(x, y, KC_EACH_LANE(KC_FIRSTS_##block));                                              \
        *b = KC_SHUFFLE(x, y, KC_EACH_LANE(KC_SECONDS_##block));                                             \
    }
#define KC_FIRSTS_1(i)  KC_FIRSTS(i, 1)
#define KC_SECONDS_1(i) KC_SECONDS(i, 1)
#define KC_CHANGE_1(i)  ((i) & 1 ? (void)0 : kc_change_1(a + (i), a + ((i) | 1)))
KC_CHANGE(1)
#if KC_PACK > 2
#define KC_FIRSTS_2(i)  KC_FIRSTS(i, 2)
#define KC_SECONDS_2(i) KC_SECONDS(i, 2)
#define KC_CHANGE_2(i)  ((i) & 2 ? (void)0 : kc_change_2(a + (i), a + ((i) | 2)))
KC_CHANGE(2)
#endif
#if KC_PACK > 4
#define KC_FIRSTS_4(i)  KC_FIRSTS(i, 4)
#define KC_SECONDS_4(i) KC_SECONDS(i, 4)
#define KC_CHANGE_4(i)  ((i) & 4 ? (void)0 : kc_change_4(a + (i), a + ((i) | 4)))
KC_CHANGE(4)
#endif
#if KC_PACK > 8
#define KC_FIRSTS_8(i)  KC_FIRSTS(i, 8)
#define KC_SECONDS_8(i) KC_SECONDS(i, 8)
#define KC_CHANGE_8(i)  ((i) & 8 ? (void)0 : kc_change_8(a + (i), a + ((i) | 8)))
KC_CHANGE(8)
#endif

/* Rows to columns: halves, quarters, ... of the packs a[0], ... change places. */
KC_INLINE void kc_transpose(kc_pack *a)
{
#if KC_PACK > 8
    KC_EACH_LANE(KC_CHANGE_8);
#endif
#if KC_PACK > 4
    KC_EACH_LANE(KC_CHANGE_4);
#endif
#if KC_PACK > 2
    KC_EACH_LANE(KC_CHANGE_2);
#endif
    KC_EACH_LANE(KC_CHANGE_1);
}

/* The first n numbers of a row that is shorter than a pack, and back. */
KC_INLINE kc_pack kc_load_some(uint32_t n, const kc_number *row)
{
    kc_pack some = {0};
#if defined(__AVX512F__)
    some = KC_IA32(loadu, 512_mask)(row, some, (kc_instruction_places)((1u << n) - 1));
#elif defined(__AVX__)
    const kc_pack_mask places = {KC_EACH_LANE(KC_ITSELF)}, end = KC_ALL((kc_integer)n);
    some = KC_IA32(maskload, 256)((const kc_pack *)row, (kc_instruction_mask)(places < end));
#else
    for (uint32_t i = 0; i < n; i++)
        some[i] = row[i];
#endif
    return some;
}

KC_INLINE void kc_store_some(uint32_t n, kc_number *row, kc_pack some)
{
#if defined(__AVX512F__)
    KC_IA32(storeu, 512_mask)(row, some, (kc_instruction_places)((1u << n) - 1));
#elif defined(__AVX__)
    const kc_pack_mask places = {KC_EACH_LANE(KC_ITSELF)}, end = KC_ALL((kc_integer)n);
    KC_IA32(maskstore, 256)((kc_pack *)row, (kc_instruction_mask)(places < end), some);
#else
    for (uint32_t i = 0; i < n; i++)
        row[i] = some[i];
#endif
}

/*
 * to[i] = entry i of each row, for n entries.  Where a last few are left over, the last two packs overlap;
 * only rows that are shorter than a pack are read in part.  So nothing is read outside of a row.
 */
static void kc_gather(uint32_t n, const kc_number *const *rows, kc_number *to)
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
#undef KC_LOAD
#undef KC_KEEP
    }
}

/* And back. */
static void kc_scatter(uint32_t n, const kc_number *values, kc_number *const *rows)
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
#undef KC_TAKE
#undef KC_STORE
    }
}

/*
 * Rows at equal steps, block after block.  Whole packs are moved even of rows that are shorter: what is read
 * beyond the end of one is not kept, and what is written there the next row overwrites.
 */
static void kc_gather_blocks_of_rows(uint32_t n_blocks, uint32_t n, const kc_number *from, int64_t step,
                                     int64_t span, kc_number *to, uint32_t length)
{
    kc_pack *packs = (kc_pack *)to, a[KC_PACK];
    for (uint32_t b = 0; b < n_blocks; b++, from += step * KC_PACK, packs += length) {
        if (step == 1) { /* the rows lie in columns, which are packs already */
            for (uint32_t i = 0; i < n; i++)
                packs[i] = *(const kc_loose_pack *)(from + i * span);
            continue;
        }
        for (uint32_t first = 0; first < n; first += KC_PACK) {
            const uint32_t i = first + KC_PACK <= n || n < KC_PACK ? first : n - KC_PACK;
#define KC_LOAD(lane) a[lane] = *(const kc_loose_pack *)(from + (lane) * step + i)
#define KC_KEEP(k)    (i + (k) < n ? (void)(packs[i + (k)] = a[k]) : (void)0)
            KC_EACH_LANE(KC_LOAD);
            kc_transpose(a);
            KC_EACH_LANE(KC_KEEP);
#undef KC_LOAD
#undef KC_KEEP
        }
    }
}

static void kc_scatter_blocks_of_rows(uint32_t n_blocks, uint32_t n, const kc_number *values, kc_number *to)
{
    const kc_pack *packs = (const kc_pack *)values;
    kc_pack a[KC_PACK];
    for (uint32_t b = 0; b < n_blocks; b++, to += (size_t)n * KC_PACK, packs += n) {
        for (uint32_t first = 0; first < n; first += KC_PACK) {
            const uint32_t i = first + KC_PACK <= n || n < KC_PACK ? first : n - KC_PACK;
#define KC_TAKE(k)     a[k] = i + (k) < n ? packs[i + (k)] : packs[0]
#define KC_STORE(lane) *(kc_loose_pack *)(to + (size_t)(lane) * n + i) = a[lane]
            KC_EACH_LANE(KC_TAKE);
            kc_transpose(a);
            KC_EACH_LANE(KC_STORE);
#undef KC_TAKE
#undef KC_STORE
        }
    }
}
