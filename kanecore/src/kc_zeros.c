/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Zeros of functions of the state.  Each function is evaluated in several places of a step's interpolant. Two
 * places of different sign bracket a zero; if |g| dips between three places, its minimum is searched, so that
 * two zeros in one step are found.  If a polynomial through some of these places misses the others, g
 * oscillates in the step, and is evaluated in many more places.  A sign counts if |g| exceeds the effect of
 * rounding of t and x.
 */
#include "kc_zeros.h"

enum { LEAST_PARTS = 32, MOST_ITERATIONS = 200 };

kc_search kc_search_in(const kc_system *system, const kc_events *e)
{
    const size_t n = e->n, n_x = kc_n_x(system);
    kc_search w;
    w.crowded = e->work, w.first = w.crowded + 1, w.count = w.first + 1;
    w.zero = w.count + 1, w.which = w.zero + KC_MOST_ZEROS * n, w.after = w.which + KC_MOST_ZEROS * n;
    w.sign = w.after + KC_MOST_ZEROS * n, w.end = w.sign + n, w.due = w.end + n, w.later = w.due + n;
    w.start = w.later + n, w.least = w.start + n, w.noise = w.least + n;
    w.seam = w.noise + n, w.turned = w.seam + n, w.moved = w.turned + n, w.when = w.moved + n,
    w.smooth = w.when + n, w.g = w.smooth + n, w.spare = w.g + KC_N_PLACES * n;
    w.x = w.spare + 2 * n, w.y = w.x + n_x;
    w.r = w.y + n_x;
    return w;
}

static kc_step step_of(const kc_stride *s)
{
    const kc_step step = {s->t, s->next - s->t, s->next, s->x, s->x1, s->dense, s->method, s->run->system};
    return step;
}

kc_status kc_values_at(const kc_stride *s, const kc_events *e, double t, const double *x, double *g)
{
    const kc_status status = kc_inputs(s->run, t, x);
    if (status != KC_OK)
        return status;
    return e->values(t, x, s->run->r, g, e->context) ? KC_STOPPED : KC_OK;
}

kc_status kc_values_within(const kc_stride *s, const kc_events *e, const kc_search *w, double theta,
                           double *g)
{
    const kc_step step = step_of(s);
    if (theta == 1.0) {
        memcpy(w->x, s->x1, sizeof(double) * kc_n_x(s->run->system));
        return kc_values_at(s, e, s->next, w->x, g);
    }
    const kc_status status = kc_interpolate(&step, theta, w->x, w->r);
    return status != KC_OK ? status : kc_values_at(s, e, s->t + theta * step.h, w->x, g);
}

/*
 * Each component of a small state changes alone.  Components of a larger state change all at once, several
 * times, by parts that are random and the same in each run: together these sums are as large as all changes,
 * by independent roundings.
 */
kc_status kc_rounding_from(const kc_stride *s, const kc_events *e, const kc_search *w, double t,
                           double earlier, const double *slope, const double *g, double *noise)
{
    enum { MOST = 8 };
    const uint32_t n = kc_n_x(s->run->system), changes = n < MOST ? n : MOST;
    const double small = 8.0 * DBL_EPSILON, later = small * fmax(fabs(t), fabs(earlier));
    double *const changed = w->spare + e->n;
    uint32_t random = 1;
    kc_status status = KC_OK;
    memset(noise, 0, sizeof(double) * e->n);
    for (uint32_t j = 0; j <= changes && status == KC_OK; j++) {
        memcpy(w->y, w->x, sizeof(double) * n);
        for (uint32_t m = 0; m < n; m++) {
            random = random * 1664525U + 1013904223U; /* Numerical Recipes' ranqd1 */
            const double part = n <= MOST ? (double)(m == j) : ((double)random - 0x1p31) * 0x1p-31;
            w->y[m] += j < changes ? part * small * w->y[m] : later * slope[m];
        }
        status = kc_values_at(s, e, j < changes ? t : t + later, w->y, changed);
        for (uint32_t i = 0; i < e->n; i++)
            noise[i] += fabs(changed[i] - g[i]);
    }
    return status;
}

kc_status kc_rounding(const kc_stride *s, const kc_events *e, const kc_search *w, double t, const double *g)
{
    return kc_rounding_from(s, e, w, t, s->t, s->k, g, w->noise);
}

double kc_sign_beyond(const kc_search *w, uint32_t i, double g)
{
    return fabs(g) > fmax(w->noise[i], w->least[i]) ? kc_sign_of(g) : 0.0;
}

/* *sign becomes the sign of g_i at a place of the step, or 0 within rounding; w->spare has the values there.
 */
static kc_status sign_within(const kc_stride *s, const kc_events *e, const kc_search *w, uint32_t i,
                             double theta, double *sign)
{
    kc_status status = kc_values_within(s, e, w, theta, w->spare);
    if (status == KC_OK)
        status = kc_rounding(s, e, w, s->t + theta * (s->next - s->t), w->spare);
    *sign = status == KC_OK ? kc_sign_beyond(w, i, w->spare[i]) : 0.0;
    return status;
}

/* The zero of g_i between two places with different signs (Chandrupatla, Advances in Engineering Software 28
 * (1997) 145-149), to the resolution of t. */
static kc_status zero_between(const kc_stride *s, const kc_events *e, const kc_search *w, uint32_t i,
                              double a, double fa, double b, double fb, double *theta)
{
    const double h = fabs(s->next - s->t);
    const double tolerance = DBL_EPSILON * (1.0 + fmax(fabs(s->t), fabs(s->next)) / h);
    double c = a, fc = fa, part = 0.5;
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        const double x = b + part * (a - b);
        const kc_status status = kc_values_within(s, e, w, x, w->spare);
        const double f = w->spare[i];
        if (status != KC_OK)
            return status;
        if ((f > 0.0) == (fb > 0.0) && f != 0.0)
            c = b, fc = fb;
        else
            c = a, fc = fa, a = b, fa = fb;
        b = x, fb = f;
        *theta = fabs(fb) < fabs(fa) ? b : a;
        if (fmin(fabs(fa), fabs(fb)) > 0.25 * fmax(fabs(fa), fabs(fb))) /* the zero of a jump is its end */
            *theta = fmax(a, b);
        const double least = tolerance / fabs(a - b);
        if (least > 0.5 || fb == 0.0)
            break;
        const double xi = (b - a) / (c - a), phi = (fb - fa) / (fc - fa);
        part = 0.5;
        if (phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi)
            part = fb / (fa - fb) * fc / (fa - fc) + (c - b) / (a - b) * fb / (fc - fb) * fa / (fc - fa);
        part = fmin(fmax(part, least), 1.0 - least);
    }
    return KC_OK;
}

void kc_put_zero(const kc_stride *s, const kc_search *w, uint32_t i, double t, double after)
{
    const double direction = s->run->direction;
    size_t k = (size_t)*w->count;
    for (; k > 0 && (w->zero[k - 1] - t) * direction > 0.0; k--)
        w->zero[k] = w->zero[k - 1], w->which[k] = w->which[k - 1], w->after[k] = w->after[k - 1];
    w->zero[k] = t, w->which[k] = (double)i, w->after[k] = after;
    *w->count += 1.0;
}

/* Find the zero between two places, and record it. */
static kc_status add_zero(const kc_stride *s, const kc_events *e, const kc_search *w, uint32_t i, double a,
                          double fa, double b, double fb)
{
    double theta = b;
    const kc_status status = zero_between(s, e, w, i, a, fa, b, fb, &theta);
    if (status == KC_OK &&
        *w->count < (double)KC_MOST_ZEROS * e->n - e->n) /* the other entries are for ends of steps */
        kc_put_zero(s, w, i, theta == 1.0 ? s->next : s->t + theta * (s->next - s->t), kc_sign_of(fb));
    return status;
}

/*
 * Two zeros between three places where g has the same sign, and is nearest to zero in the middle: by golden
 * section, unless the parabola through the three places stays far from zero.
 */
static kc_status look_in_dip(const kc_stride *s, const kc_events *e, const kc_search *w, uint32_t i,
                             const double *place, const double *f)
{
    const double golden = 0.6180339887498949, sign = kc_sign_of(f[1]);
    const double slope = (f[1] - f[0]) / (place[1] - place[0]);
    const double bend = ((f[2] - f[1]) / (place[2] - place[1]) - slope) / (place[2] - place[0]);
    const double at = 0.5 * (place[0] + place[1] - slope / bend);
    const double lowest = f[0] + (at - place[0]) * (slope + bend * (at - place[1]));
    double a = place[0], b = place[2], x = place[1], fx = f[1];
    if (!(sign * lowest < 0.5 * fabs(f[1])))
        return KC_OK;
    for (int iteration = 0; iteration < 40 && sign * fx > 0.0; iteration++) {
        const double y = x - a > b - x ? x - (1.0 - golden) * (x - a) : x + (1.0 - golden) * (b - x);
        const kc_status status = kc_values_within(s, e, w, y, w->spare);
        const double fy = w->spare[i];
        if (status != KC_OK)
            return status;
        if (sign * fy < sign * fx) {
            if (y < x)
                b = x;
            else
                a = x;
            x = y, fx = fy;
        } else if (y < x)
            a = y;
        else
            b = y;
    }
    double beyond = 0.0;
    kc_status status = KC_OK;
    if (sign * fx < 0.0)
        status = sign_within(s, e, w, i, x, &beyond);
    if (status != KC_OK || beyond == 0.0)
        return status;
    const int left = x < place[1]; /* sign of the middle place, which is on the other side of zero */
    status = add_zero(s, e, w, i, place[left ? 0 : 1], f[left ? 0 : 1], x, fx);
    return status != KC_OK ? status : add_zero(s, e, w, i, x, fx, place[left ? 1 : 2], f[left ? 1 : 2]);
}

/* The polynomial of least degree through n points, at x (Neville). */
static double through(int n, const double *at, const double *f, double x)
{
    double p[5];
    memcpy(p, f, sizeof(double) * (size_t)n);
    for (int m = 1; m < n; m++)
        for (int k = 0; k + m < n; k++)
            p[k] = ((x - at[k + m]) * p[k] + (at[k] - x) * p[k + 1]) / (at[k] - at[k + m]);
    return p[0];
}

/* Range of oscillations of g_i in the step, or its jump; 0 if the quarters of the step determine it near the
 * ends.
 */
static double swing(const kc_events *e, const kc_search *w, uint32_t i)
{
    enum { AFTER_START = KC_EARLY + 1, QUARTER, HALF, LAST_QUARTER, BEFORE_END, END };
    const double *const g = w->g + i;
    const size_t n = e->n;
    const double at[5] = {0.0, 0.25, 0.5, 0.75, 1.0};
    const double f[5] = {w->start[i], g[QUARTER * n], g[HALF * n], g[LAST_QUARTER * n], g[END * n]};
    double least = f[0], most = f[0], miss = 0.0;
    for (int k = 1; k < 5; k++)
        least = fmin(least, f[k]), most = fmax(most, f[k]);
    for (int k = AFTER_START; k <= BEFORE_END; k += BEFORE_END - AFTER_START) {
        const double there = g[(size_t)k * n];
        least = fmin(least, there), most = fmax(most, there);
        miss = fmax(miss, fabs(through(5, at, f, KC_PLACES[k]) - there));
    }
    return miss > 0.0625 * (most - least) ? most - least : 0.0;
}

/* True if g_i touches zero at the end of the step like a square, and so turns back. */
static int touches(const kc_events *e, const kc_search *w, uint32_t i)
{
    const double half = w->g[(KC_EARLY + 3) * (size_t)e->n + i],
                 quarter = w->g[(KC_EARLY + 4) * (size_t)e->n + i];
    const double ratio = half / quarter; /* 2 to the power of the order of the zero */
    return ratio > 2.8284271247461903 && ratio < 5.656854249492381;
}

/* State of a search: places where g has the current sign, at most three, and this sign. */
typedef struct trail {
    double place[3], f[3], sign;
    int n;
} trail;

/* Add a place with the value g; `end`: the run ends there. */
static kc_status look_here(const kc_stride *s, const kc_events *e, const kc_search *w, uint32_t i, trail *l,
                           double theta, double g, int end)
{
    double here = kc_sign_of(g);
    kc_status status = KC_OK;
    if (end && fabs(g) <= w->seam[i]) { /* a zero of this run, not of the next one */
        if (l->n == 0 || l->sign == 0.0 || touches(e, w, i))
            return KC_OK;
        here = -l->sign, g = here * DBL_MIN;
    } else if (here == 0.0)
        return KC_OK;
    else if (here != l->sign && !end) { /* distinguish it from rounding */
        status = sign_within(s, e, w, i, theta, &here);
        if (here == 0.0 || status != KC_OK)
            return status;
    }
    if (l->sign != 0.0 && here != l->sign) {
        const double before = l->n > 0 ? l->place[l->n - 1] : 0.0,
                     at = l->n > 0 ? l->f[l->n - 1] : l->sign * DBL_MIN;
        status = add_zero(s, e, w, i, before, at, theta, g);
        l->n = 0;
    }
    if (l->n == 3) {
        l->place[0] = l->place[1], l->place[1] = l->place[2], l->f[0] = l->f[1], l->f[1] = l->f[2];
        l->n = 2;
    }
    l->place[l->n] = theta, l->f[l->n++] = g, l->sign = here;
    if (l->n == 3 && fabs(l->f[1]) < fabs(l->f[0]) && fabs(l->f[1]) < fabs(l->f[2]) && status == KC_OK)
        status = look_in_dip(s, e, w, i, l->place, l->f);
    return status;
}

/*
 * *parts becomes the number of equal parts of the step that resolve the oscillations of g_i: the changes of
 * sign are as many in fewer parts.  The ratio of both numbers is golden, so that no period hides in both.
 */
static kc_status parts_for(const kc_stride *s, const kc_events *e, const kc_search *w, uint32_t i, int *parts)
{
    int before = -1;
    for (int n = LEAST_PARTS; n <= KC_MOST_PARTS; n = (int)(1.618 * n)) {
        double sign = kc_sign_of(w->start[i]);
        int changes = 0;
        *parts = n;
        for (int k = 1; k <= n; k++) {
            const kc_status status = kc_values_within(s, e, w, (double)k / n, w->spare);
            if (status != KC_OK)
                return status;
            const double here = kc_sign_of(w->spare[i]);
            changes += here * sign < 0.0;
            sign = here != 0.0 ? here : sign;
        }
        if (changes * KC_PARTS_OF_A_SIGN <= n && changes == before)
            return KC_OK;
        before = changes;
    }
    if (isnan(*w->crowded))
        *w->crowded = s->t;
    return KC_OK;
}

kc_status kc_look(const kc_stride *s, const kc_events *e, const kc_search *w, uint32_t i, int first, int ends)
{
    trail l = {{0}, {0}, w->sign[i], 0};
    const double *const end = w->g + (size_t)(KC_N_PLACES - 1) * e->n;
    const double far = swing(e, w, i);
    int parts = 0;
    kc_status status = KC_OK;
    if (far != 0.0) {
        memcpy(w->x, s->x1, sizeof(double) * kc_n_x(s->run->system));
        status = kc_rounding(s, e, w, s->next, end);
        if (status == KC_OK && far > 8.0 * w->noise[i])
            status = parts_for(s, e, w, i, &parts);
    }
    if (w->start[i] * l.sign > 0.0)
        l.f[l.n++] = w->start[i];
    for (int k = first; k < (parts ? KC_EARLY + 1 : KC_N_PLACES - 1) && status == KC_OK; k++)
        status = look_here(s, e, w, i, &l, KC_PLACES[k], w->g[(size_t)k * e->n + i], 0);
    for (int k = 1; k < parts && status == KC_OK; k++) {
        const double theta = (double)k / parts;
        status = kc_values_within(s, e, w, theta, w->spare);
        if (status == KC_OK)
            status = look_here(s, e, w, i, &l, theta, w->spare[i], 0);
    }
    if (status == KC_OK)
        status = look_here(s, e, w, i, &l, 1.0, end[i], ends);
    w->end[i] = l.sign;
    return status;
}
