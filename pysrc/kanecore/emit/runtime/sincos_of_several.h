/* SPDX-License-Identifier: BSD-3-Clause */
/* Sines and cosines of 4 and 8 angles in one call, as many at once as a pack holds. */
#if defined(KC_PACK) && (defined(__SSE2__) || defined(__aarch64__)) /* else packs are taken apart */
#define KC_ANGLES KC_PACK
/* Those of one pack; arrays need not be aligned. */
KC_INLINE void kc_sincos_into(kc_pack angles, double *sine, double *cosine)
{
    kc_pack s, c;
    kc_sincos_pack(angles, &s, &c);
    *(kc_loose_pack *)sine = s, *(kc_loose_pack *)cosine = c;
}
#endif

KC_INLINE void kc_sincos_4(double a, double b, double c, double d, double *sine, double *cosine)
{
#if !defined(KC_ANGLES)
    const double angles[4] = {a, b, c, d};
    for (int i = 0; i < 4; i++)
        kc_sincos(angles[i], sine + i, cosine + i);
#elif KC_ANGLES == 8
    kc_pack s, co;
    kc_sincos_pack((kc_pack){a, b, c, d, 0.0, 0.0, 0.0, 0.0}, &s, &co);
    for (int i = 0; i < 4; i++)
        sine[i] = s[i], cosine[i] = co[i];
#elif KC_ANGLES == 4
    kc_sincos_into((kc_pack){a, b, c, d}, sine, cosine);
#else
    kc_sincos_into((kc_pack){a, b}, sine, cosine);
    kc_sincos_into((kc_pack){c, d}, sine + 2, cosine + 2);
#endif
}

KC_INLINE void kc_sincos_8(double a, double b, double c, double d, double e, double f, double g, double h,
                           double *sine, double *cosine)
{
#if defined(KC_ANGLES) && KC_ANGLES == 8
    kc_sincos_into((kc_pack){a, b, c, d, e, f, g, h}, sine, cosine);
#else
    kc_sincos_4(a, b, c, d, sine, cosine);
    kc_sincos_4(e, f, g, h, sine + 4, cosine + 4);
#endif
}
