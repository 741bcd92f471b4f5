/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of arrays, of numbers of the type KC_NUMBER in packs of KC_ROLLOUT_BYTES.  KC_TYPED(f) names the
 * functions here. The file may be included once for each type.
 */

/* Several numbers, anywhere in memory. */
typedef KC_NUMBER KC_TYPED(pack)
    __attribute__((vector_size(KC_ROLLOUT_BYTES), aligned(sizeof(KC_NUMBER)), may_alias));

enum { KC_TYPED(PER_PACK) = KC_ROLLOUT_BYTES / sizeof(KC_NUMBER) };

/* A loop over n numbers, by packs, then one by one.  `each(pack, i)` is the body. */
#define KC_FOR_PACKS(n, each)                                                                                \
    do {                                                                                                     \
        size_t i = 0;                                                                                        \
        for (; i + KC_TYPED(PER_PACK) <= (n); i += KC_TYPED(PER_PACK))                                       \
            each(KC_TYPED(pack), i);                                                                         \
        for (; i < (n); i++)                                                                                 \
            each(KC_NUMBER, i);                                                                              \
    } while (0)
#define KC_IN(type, a, i)  (*(const type *)((a) + (i)))
#define KC_OUT(type, a, i) (*(type *)((a) + (i)))

/* y = x + h k */
static inline void KC_TYPED(advance)(size_t n, const KC_NUMBER *x, KC_NUMBER h, const KC_NUMBER *k,
                                     KC_NUMBER *y)
{
#define KC_EACH(type, i) KC_OUT(type, y, i) = KC_IN(type, x, i) + h * KC_IN(type, k, i)
    KC_FOR_PACKS(n, KC_EACH);
#undef KC_EACH
}
