/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several directions side by side, from one place: a pack holds a number of each, and what the place gives is
 * the same for all.
 */
#if !defined(KC_PACK) /* a compiler without vectors: one at a time */
#define KC_PACK 1
typedef kc_number kc_pack, kc_loose_pack;
#define KC_ALL(x)                      {x}
#define kc_fma_pack                    kc_fma
#define KC_PICK_ALONG(condition, a, b) ((condition) ? (a) : (b))
#else
#define KC_PICK_ALONG(condition, a, b) kc_pick_pack((kc_pack_mask)(condition), (a), (b))
#endif
#define KC_ALONG(x)            ((kc_pack)KC_ALL(x))
#define KC_FMA_ALONG(a, b, c)  kc_fma_pack((a), (b), (c))
#define KC_FMS_ALONG(a, b, c)  kc_fma_pack((a), (b), -(c))
#define KC_FNMA_ALONG(a, b, c) kc_fma_pack(-(a), (b), (c))
#define KC_FNMS_ALONG(a, b, c) kc_fma_pack(-(a), (b), -(c))
