/* SPDX-License-Identifier: BSD-3-Clause */
/* Cubic splines f(x) and f(x, y), and their derivatives; kanecore/splines.py makes their numbers. */

/* What a spline is outside its knots: what the outermost cubics give, no number, or the same again. */
enum { KC_EXTRAPOLATED, KC_NOWHERE, KC_PERIODIC };

typedef struct kc_axis {
    const kc_real *knots; /* rising */
    int n;                /* of them, 2 at least */
} kc_axis;

typedef struct kc_spline {
    kc_axis axes[2];
    const kc_real *hermite; /* at each knot f, f'; at each pair, y running first, f, df/dy, df/dx, d2f/dxdy */
    int outside;
} kc_spline;

/* Where an argument lies: behind which knot, how far, and 1 / h of the distance h to the next. */
typedef struct kc_segment {
    int piece;
    kc_real s, per_h;
} kc_segment;

/* Of NaN, and of what has no value, s is NaN. */
KC_INLINE kc_segment kc_locate(const kc_spline *spline, int axis, kc_real x)
{
    const kc_real *knots = spline->axes[axis].knots;
    const int last = spline->axes[axis].n - 1;
    if (spline->outside == KC_PERIODIC) {
        const kc_real period = knots[last] - knots[0];
        const kc_real beyond = KC_MATH(fmod)(x - knots[0], period);
        x = knots[0] + (beyond < 0 ? beyond + period : beyond);
    }
    int piece = 0; /* knots[piece] <= x < knots[piece + n], within the knots; no branch to predict */
    for (int n = last; n > 1; n -= n / 2)
        piece += x >= knots[piece + n / 2] ? n / 2 : 0;
    const int nowhere = spline->outside == KC_NOWHERE && !(knots[0] <= x && x <= knots[last]);
    const kc_real s = nowhere ? (kc_real)NAN : x - knots[piece];
    const kc_segment place = {piece, s, 1 / (knots[piece + 1] - knots[piece])};
    return place;
}

/* The derivative of some order of the cubic with values f0, f1 and slopes g0, g1 at the ends of a piece. */
KC_INLINE kc_real kc_hermite(kc_segment at, kc_real f0, kc_real g0, kc_real f1, kc_real g1, int order)
{
    const kc_real chord = (f1 - f0) * at.per_h;
    const kc_real bend = (g0 + g1 - 2 * chord) * at.per_h;
    const kc_real a2 = (chord - g0) * at.per_h - bend, a3 = bend * at.per_h;
    switch (order) {
    case 0:
        return KC_FMA(at.s, KC_FMA(at.s, KC_FMA(at.s, a3, a2), g0), f0);
    case 1:
        return KC_FMA(at.s, KC_FMA(at.s, 3 * a3, 2 * a2), g0);
    case 2:
        return KC_FMA(at.s, 6 * a3, 2 * a2);
    default:
        return KC_FMA(at.s, 0, 6 * a3); /* NaN, where s is */
    }
}

KC_INLINE kc_real kc_cubic(const kc_spline *spline, kc_segment at, int order)
{
    const kc_real *f = spline->hermite + 2 * at.piece;
    return kc_hermite(at, f[0], f[1], f[2], f[3], order);
}

/* The derivative that is taken so many times by x and by y: first along y, of f and df/dx at both x. */
KC_INLINE kc_real kc_bicubic(const kc_spline *spline, kc_segment at_x, kc_segment at_y, int by_x, int by_y)
{
    const int row = 4 * spline->axes[1].n;
    const kc_real *f = spline->hermite + row * at_x.piece + 4 * at_y.piece, *g = f + row;
    const kc_real f0 = kc_hermite(at_y, f[0], f[1], f[4], f[5], by_y);
    const kc_real g0 = kc_hermite(at_y, f[2], f[3], f[6], f[7], by_y);
    const kc_real f1 = kc_hermite(at_y, g[0], g[1], g[4], g[5], by_y);
    const kc_real g1 = kc_hermite(at_y, g[2], g[3], g[6], g[7], by_y);
    return kc_hermite(at_x, f0, g0, f1, g1, by_x);
}
