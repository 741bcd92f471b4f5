/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sine and cosine of angles beyond KC_ANGLE_MAX, without libm: the same bits everywhere, in a number of
 * operations that does not grow with the angle.
 *
 * Reduction (Payne and Hanek, Radian Reduction for Trigonometric Functions, SIGNUM Newsletter 18, 1983) in
 * integers: of |x| = m 2^e only those bits of 2/pi count that make |x| 2/pi mod 4. 192 of them leave the
 * fraction, which is at least 2^-62, 75 good bits.
 */
#if KC_MANTISSA == 52
enum { KC_PI_WORDS = 38, KC_REDUCED = 6 };
#else
enum { KC_PI_WORDS = 10, KC_REDUCED = 6 };
#endif

/* Word i of 2/pi, 32 bits each, the first behind the point. */
KC_COLD uint32_t kc_word_of_two_over_pi(int i)
{
    static const uint32_t words[] = {
        0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
        0xdebbc561, 0xb7246e3a, 0x424dd2e0,
#if KC_MANTISSA == 52
        0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026,
        0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
        0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7,
        0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab,
#endif
    };
    return i < 0 || i >= KC_PI_WORDS ? 0 : words[i];
}

/* Shift n words, the first of which is the highest, to the left by 0 to 31 bits. */
KC_COLD void kc_shift_words(int n, uint32_t *words, int by)
{
    for (int k = 0; k < n && by > 0; k++)
        words[k] = words[k] << by | (k + 1 < n ? words[k + 1] >> (32 - by) : 0);
}

/* sum (n words) += factor words (m words), the last of which stands for word `last` of the sum. */
KC_COLD void kc_add_multiple(int m, const uint32_t *words, uint32_t factor, int last, uint32_t *sum)
{
    uint64_t carry = 0;
    for (int k = last; k >= 0; k--) {
        const int from = k - last + m - 1;
        if (from >= 0)
            carry += (uint64_t)factor * words[from];
        carry += sum[k];
        sum[k] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* 2^n */
KC_INLINE kc_number kc_power_of_two(int n)
{
    return kc_from_bits((kc_bits)((KC_EXPONENT >> 1) + n) << KC_MANTISSA);
}

/* |x| mod pi/2 in [-pi/4, pi/4] as head + tail; returns how often pi/2 was taken, mod 4. */
KC_COLD unsigned kc_reduce_far(kc_bits size, kc_number *head, kc_number *tail)
{
    static const uint32_t half_pi[] = {0xc90fdaa2, 0x2168c234, 0xc4c6628c}; /* times 2^-95 */
    const kc_bits m = (size & (((kc_bits)1 << KC_MANTISSA) - 1)) | (kc_bits)1 << KC_MANTISSA;
    const int exponent = (int)(size >> KC_MANTISSA) - (KC_EXPONENT >> 1) - KC_MANTISSA;
    const int first = exponent - 2 + 64 * 32; /* the bit of 2/pi that is worth 2 */
    uint32_t words[KC_REDUCED], turns[KC_REDUCED] = {0}, product[KC_REDUCED] = {0};
    for (int k = 0; k < KC_REDUCED; k++) {
        const int i = first / 32 - 64 + k, by = first % 32;
        const uint64_t two = (uint64_t)kc_word_of_two_over_pi(i) << 32 | kc_word_of_two_over_pi(i + 1);
        words[k] = (uint32_t)(two >> (32 - by));
    }
    kc_add_multiple(KC_REDUCED, words, (uint32_t)m, KC_REDUCED - 1, turns);
    kc_add_multiple(KC_REDUCED - 1, words + 1, (uint32_t)((uint64_t)m >> 32), KC_REDUCED - 2, turns);
    unsigned quadrant = turns[0] >> 30;
    kc_shift_words(KC_REDUCED, turns, 2);
    const int beyond = (int)(turns[0] >> 31); /* the half: the next quadrant is nearer */
    if (beyond) {
        quadrant++;
        uint64_t carry = 1;
        for (int k = KC_REDUCED - 1; k >= 0; k--) {
            carry += (uint32_t)~turns[k];
            turns[k] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    /* turns (0.5 and less) = N 2^-96-shift, N the first three words, whose first bit is 1 */
    int shift = 0;
    while (turns[0] == 0 && shift < 96) {
        for (int k = 0; k < KC_REDUCED; k++)
            turns[k] = k + 1 < KC_REDUCED ? turns[k + 1] : 0;
        shift += 32;
    }
    int bits = 0;
    while (bits < 31 && !(turns[0] << bits >> 31))
        bits++;
    kc_shift_words(KC_REDUCED, turns, bits);
    shift += bits;
    for (int k = 2; k >= 0; k--)
        kc_add_multiple(3, turns, half_pi[k], 3 + k, product);
    if (!(product[0] >> 31))
        kc_shift_words(KC_REDUCED, product, 1), shift++;
    const uint64_t high = (uint64_t)product[0] << 32 | product[1],
                   low = (uint64_t)product[2] << 32 | product[3];
    const int n = KC_MANTISSA + 1; /* bits of a number */
    *head = (kc_number)(high >> (64 - n)) * kc_power_of_two(1 - n - shift);
    *tail = (kc_number)((high << n | low >> (64 - n)) >> (64 - n)) * kc_power_of_two(1 - 2 * n - shift);
    if (beyond)
        *head = -*head, *tail = -*tail;
    return quadrant;
}

/* Out of line, so that compilers neither hoist nor vectorize the call; NaN for what is not finite. */
KC_COLD void kc_sincos_far(kc_number x, kc_number *sine, kc_number *cosine)
{
    const kc_number size = kc_size(x);
    kc_number head = size, tail = 0;
    unsigned quadrant = 0;
    if (!(size <= KC_LARGEST)) {
        *sine = *cosine = x - x;
        return;
    }
    if (size > KC_LITERAL(0.5)) /* smaller ones come where numbers carry extra precision */
        quadrant = kc_reduce_far(kc_to_bits(size), &head, &tail);
    kc_sincos_near(x, head, tail, (kc_bits)quadrant << KC_TURN, sine, cosine);
}
