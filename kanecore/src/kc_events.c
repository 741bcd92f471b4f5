/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Zeros of functions of the state.  Each step is looked at in several places of its interpolant.  Between two
 * that differ in sign a zero is bracketed; where |g| dips between three, its least value is looked for, so
 * that two zeros in one step are found.  Where a polynomial through some of these places misses the others, g
 * swings within the step, which is looked at in many more.  A sign counts where |g| is more than rounding of
 * t and x makes of it.
 *
 * A zero at the seam of two runs belongs to the one that ends there: that takes what is rounding at its end
 * for a zero that g crosses, and a run that starts on rounding waits for the first sign that shows.
 */
#include "kc_events.h"

/*
 * Where a step is looked at.  The first places serve functions that begin at zero, and may soon be there
 * again, as that of a ball that bounces little: they reach down to what t can tell.
 */
static const double PLACES[] = {0.0,    0x1p-50, 0x1p-40, 0x1p-30, 0x1p-20,      0x1p-10,
                                0x1p-6, 0.25,    0.5,     0.75,    1.0 - 0x1p-6, 1.0};
enum {
    N_PLACES = sizeof PLACES / sizeof *PLACES,
    EARLY = 5,              /* the last of the first places */
    COARSE = 32,            /* equal parts in which a step is looked at where g swings: at least, */
    FINE = 1024,            /* at most, */
    EACH = 8,               /* and for each change of sign */
    MOST = 2 * FINE / EACH, /* zeros of a function in a step; those at its end stand behind the others */
    MOST_ITERATIONS = 200
};

/* State kept between two steps, and work space to search one. */
typedef struct watch {
    double *crowded;       /* when g first changed its sign too often to be followed */
    double *first, *count; /* the number of the first zero that stops the step; how many there are */
    double *zero;          /* (MOST n) times of zeros, in order */
    double *which, *after; /* their functions, and the signs after them */
    double *sign, *end;    /* (n) 1, -1, or 0: none yet; at the start and the end of a step */
    double *due, *later;   /* (n) signs after zeros on which, and after which, the step was cut; or 0 */
    double *start;         /* (n) g at the start of a step */
    double *least;         /* (n) rounding of g at its last zero, where it may have been faster */
    double *noise;         /* (n) rounding of g */
    double *seam;          /* (n) the same at the end of the run, as a run that starts there finds it */
    double *turned; /* (n) where a zero may have changed x: the sign after it, times how near g is to it; else
                       0 */
    double *moved;  /* (n) whether it did */
    double *when;   /* (n) the last time at which a change turned g round, or let it rest */
    double *smooth; /* (n) whether g has come near to zero, and did not jump over it */
    double *g, *spare; /* (N_PLACES n), (2 n) */
    double *x, *y;     /* (n_x) */
    double *r;         /* (n_r), (kc_run_work) */
} watch;

size_t kc_events_work(const kc_system *system, uint32_t n)
{
    return 3 + (size_t)n * (3 * MOST + N_PLACES + 14) + 2 * (size_t)kc_n_x(system) + kc_run_work(system);
}

static watch rooms(const kc_system *system, const kc_events *e)
{
    const size_t n = e->n, n_x = kc_n_x(system);
    watch w;
    w.crowded = e->work, w.first = w.crowded + 1, w.count = w.first + 1;
    w.zero = w.count + 1, w.which = w.zero + MOST * n, w.after = w.which + MOST * n;
    w.sign = w.after + MOST * n, w.end = w.sign + n, w.due = w.end + n, w.later = w.due + n;
    w.start = w.later + n, w.least = w.start + n, w.noise = w.least + n;
    w.seam = w.noise + n, w.turned = w.seam + n, w.moved = w.turned + n, w.when = w.moved + n,
    w.smooth = w.when + n, w.g = w.smooth + n, w.spare = w.g + N_PLACES * n;
    w.x = w.spare + 2 * n, w.y = w.x + n_x;
    w.r = w.y + n_x;
    return w;
}

static kc_step step_of(const kc_stride *s)
{
    const kc_step step = {s->t, s->next - s->t, s->next, s->x, s->x1, s->dense, s->method, s->run->system};
    return step;
}

/* All functions at t and x, with the inputs of the stretch. */
static kc_status values(const kc_stride *s, const kc_events *e, double t, const double *x, double *g)
{
    const kc_status status = kc_inputs(s->run, t, x);
    if (status != KC_OK)
        return status;
    return e->values(t, x, s->run->r, g, e->context) ? KC_STOPPED : KC_OK;
}

/* All functions at a place of the step, whose state goes into w->x. */
static kc_status values_within(const kc_stride *s, const kc_events *e, const watch *w, double theta,
                               double *g)
{
    const kc_step step = step_of(s);
    if (theta == 1.0) {
        memcpy(w->x, s->x1, sizeof(double) * kc_n_x(s->run->system));
        return values(s, e, s->next, w->x, g);
    }
    const kc_status status = kc_interpolate(&step, theta, w->x, w->r);
    return status != KC_OK ? status : values(s, e, s->t + theta * step.h, w->x, g);
}

static double sign_of(double g)
{
    return (double)((g > 0.0) - (g < 0.0));
}

/*
 * noise becomes the rounding of the functions, whose values at t and w->x are g: changes of each
 * component of x by some units in its last place, and of t, or of an earlier time, along a slope.
 */
static kc_status rounding_from(const kc_stride *s, const kc_events *e, const watch *w, double t,
                               double earlier, const double *slope, const double *g, double *noise)
{
    const uint32_t n = kc_n_x(s->run->system);
    const double small = 8.0 * DBL_EPSILON, later = small * fmax(fabs(t), fabs(earlier));
    double *const changed = w->spare + e->n;
    kc_status status = KC_OK;
    memset(noise, 0, sizeof(double) * e->n);
    for (uint32_t j = 0; j <= n && status == KC_OK; j++) {
        memcpy(w->y, w->x, sizeof(double) * n);
        if (j < n)
            w->y[j] += small * w->y[j];
        else
            for (uint32_t m = 0; m < n; m++)
                w->y[m] += later * slope[m];
        status = values(s, e, j < n ? t : t + later, w->y, changed);
        for (uint32_t i = 0; i < e->n; i++)
            noise[i] += fabs(changed[i] - g[i]);
    }
    return status;
}

/* w->noise becomes the rounding of the functions in the step. */
static kc_status rounding(const kc_stride *s, const kc_events *e, const watch *w, double t, const double *g)
{
    return rounding_from(s, e, w, t, s->t, s->k, g, w->noise);
}

/* The sign of g_i, or 0 where that is rounding, by the last rounding(). */
static double sign_beyond(const watch *w, uint32_t i, double g)
{
    return fabs(g) > fmax(w->noise[i], w->least[i]) ? sign_of(g) : 0.0;
}

/* *sign becomes that of g_i at a place of the step, or 0 where that is rounding; w->spare holds the values
 * there. */
static kc_status sign_within(const kc_stride *s, const kc_events *e, const watch *w, uint32_t i, double theta,
                             double *sign)
{
    kc_status status = values_within(s, e, w, theta, w->spare);
    if (status == KC_OK)
        status = rounding(s, e, w, s->t + theta * (s->next - s->t), w->spare);
    *sign = status == KC_OK ? sign_beyond(w, i, w->spare[i]) : 0.0;
    return status;
}

void kc_forget_zeros(const kc_system *system, const kc_events *e)
{
    const watch w = rooms(system, e);
    *w.crowded = NAN;
    memset(w.least, 0, sizeof(double) * e->n);
    memset(w.turned, 0, sizeof(double) * e->n);
    for (uint32_t i = 0; i < e->n; i++)
        w.when[i] = NAN;
}

/*
 * Where x was changed on a zero of a function, the sign of that is the one of its motion.  If it goes on as
 * before, it is beyond.  Otherwise it has turned round, or rests: it is on the side from which it came, even
 * where rounding has put it beyond, so that it cannot leave that side without another zero; nor by a second
 * change at the same time, which turns it again.
 */
static kc_status signs_after_changes(const kc_stride *s, const kc_events *e, const watch *w, double ahead)
{
    const uint32_t n = kc_n_x(s->run->system);
    const double same = kc_smallest_step(s->t, s->t);
    int any = 0;
    for (uint32_t i = 0; i < e->n; i++)
        any |= w->turned[i] != 0.0;
    if (!any)
        return KC_OK;
    for (uint32_t j = 0; j < n; j++)
        w->y[j] = s->x[j] + ahead * s->k[j];
    const kc_status status = values(s, e, s->t + ahead, w->y, w->spare);
    for (uint32_t i = 0; i < e->n && status == KC_OK; i++) {
        const double after = sign_of(w->turned[i]), near = fabs(w->turned[i]), g = w->start[i];
        const double change = w->spare[i] - g;
        const int again = fabs(s->t - w->when[i]) <= same, moved = w->moved[i] != 0.0;
        const int goes_on = sign_of(change) == after && !again;
        w->turned[i] = 0.0;
        if (after == 0.0)
            continue;
        w->when[i] = goes_on ? NAN : s->t;
        if (fabs(g) <= near && (again || moved || change != 0.0)) {
            w->sign[i] = goes_on ? after : -after;
            if (!goes_on) /* zeros that now lie beyond come back first */
                w->least[i] = fmax(w->least[i], 2.0 * fabs(g));
        } else if (sign_of(g) == -after && (again || (moved && (change != 0.0 || w->smooth[i] != 0.0)))) {
            /* no step of a method of low order may end on the zero: this one has ended before it */
            w->sign[i] = goes_on && fabs(g * ahead) <= fabs(change) * 1e3 * same ? after : -after;
            w->least[i] = 0.0;
        }
    }
    return status;
}

kc_status kc_begin_watch(const kc_stride *s, const kc_events *e, double ahead)
{
    const watch w = rooms(s->run->system, e);
    kc_status status;
    memcpy(w.x, s->x, sizeof(double) * kc_n_x(s->run->system));
    status = values(s, e, s->t, w.x, w.start);
    if (status == KC_OK)
        status = rounding(s, e, &w, s->t, w.start);
    for (uint32_t i = 0; i < e->n && status == KC_OK; i++)
        w.sign[i] = sign_beyond(&w, i, w.start[i]);
    return status != KC_OK ? status : signs_after_changes(s, e, &w, ahead);
}

/* ---------------------------------------------------------------------------------------------- one function
 */

/* The zero of g_i between two places with different signs (Chandrupatla, Advances in Engineering Software 28
 * (1997) 145-149), as exactly as t can tell. */
static kc_status zero_between(const kc_stride *s, const kc_events *e, const watch *w, uint32_t i, double a,
                              double fa, double b, double fb, double *theta)
{
    const double h = fabs(s->next - s->t);
    const double tolerance = DBL_EPSILON * (1.0 + fmax(fabs(s->t), fabs(s->next)) / h);
    double c = a, fc = fa, part = 0.5;
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        const double x = b + part * (a - b);
        const kc_status status = values_within(s, e, w, x, w->spare);
        const double f = w->spare[i];
        if (status != KC_OK)
            return status;
        if ((f > 0.0) == (fb > 0.0) && f != 0.0)
            c = b, fc = fb;
        else
            c = a, fc = fa, a = b, fa = fb;
        b = x, fb = f;
        *theta = fabs(fb) < fabs(fa) ? b : a;
        if (fmin(fabs(fa), fabs(fb)) > 0.25 * fmax(fabs(fa), fabs(fb))) /* a jump ends where it is over */
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

/* Put down a zero, in the order of time. */
static void put(const kc_stride *s, const watch *w, uint32_t i, double t, double after)
{
    const double direction = s->run->direction;
    size_t k = (size_t)*w->count;
    for (; k > 0 && (w->zero[k - 1] - t) * direction > 0.0; k--)
        w->zero[k] = w->zero[k - 1], w->which[k] = w->which[k - 1], w->after[k] = w->after[k - 1];
    w->zero[k] = t, w->which[k] = (double)i, w->after[k] = after;
    *w->count += 1.0;
}

/* Find the zero between two places, and put it down. */
static kc_status add_zero(const kc_stride *s, const kc_events *e, const watch *w, uint32_t i, double a,
                          double fa, double b, double fb)
{
    double theta = b;
    const kc_status status = zero_between(s, e, w, i, a, fa, b, fb, &theta);
    if (status == KC_OK && *w->count < (double)MOST * e->n - e->n) /* the rest is for ends of steps */
        put(s, w, i, theta == 1.0 ? s->next : s->t + theta * (s->next - s->t), sign_of(fb));
    return status;
}

/*
 * Two zeros between three places where g has one sign, and is nearest to zero in the middle: by golden
 * section, unless the parabola through the three stays far from zero.
 */
static kc_status look_in_dip(const kc_stride *s, const kc_events *e, const watch *w, uint32_t i,
                             const double *place, const double *f)
{
    const double golden = 0.6180339887498949, sign = sign_of(f[1]);
    const double slope = (f[1] - f[0]) / (place[1] - place[0]);
    const double bend = ((f[2] - f[1]) / (place[2] - place[1]) - slope) / (place[2] - place[0]);
    const double at = 0.5 * (place[0] + place[1] - slope / bend);
    const double lowest = f[0] + (at - place[0]) * (slope + bend * (at - place[1]));
    double a = place[0], b = place[2], x = place[1], fx = f[1];
    if (!(sign * lowest < 0.5 * fabs(f[1])))
        return KC_OK;
    for (int iteration = 0; iteration < 40 && sign * fx > 0.0; iteration++) {
        const double y = x - a > b - x ? x - (1.0 - golden) * (x - a) : x + (1.0 - golden) * (b - x);
        const kc_status status = values_within(s, e, w, y, w->spare);
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
    const int left = x < place[1]; /* of the middle place, which lies on the other side of zero */
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

/* How far g_i swings within the step, or jumps; 0 where the quarters of the step tell what it is near the
 * ends.
 */
static double swing(const kc_events *e, const watch *w, uint32_t i)
{
    enum { AFTER_START = EARLY + 1, QUARTER, HALF, LAST_QUARTER, BEFORE_END, END };
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
        miss = fmax(miss, fabs(through(5, at, f, PLACES[k]) - there));
    }
    return miss > 0.0625 * (most - least) ? most - least : 0.0;
}

/* True if g_i touches the zero at the end of the step as a square does, and so will turn back. */
static int touches(const kc_events *e, const watch *w, uint32_t i)
{
    const double half = w->g[(EARLY + 3) * (size_t)e->n + i], quarter = w->g[(EARLY + 4) * (size_t)e->n + i];
    const double ratio = half / quarter; /* 2 to the power of the order of the zero */
    return ratio > 2.8284271247461903 && ratio < 5.656854249492381;
}

/* Where a look is: places with the sign that g has, at most three, and that sign. */
typedef struct trail {
    double place[3], f[3], sign;
    int n;
} trail;

/* One more place, at which g is g; `end` says that the run ends there. */
static kc_status look_here(const kc_stride *s, const kc_events *e, const watch *w, uint32_t i, trail *l,
                           double theta, double g, int end)
{
    double here = sign_of(g);
    kc_status status = KC_OK;
    if (end && fabs(g) <= w->seam[i]) { /* a zero of this run, not of the next one */
        if (l->n == 0 || l->sign == 0.0 || touches(e, w, i))
            return KC_OK;
        here = -l->sign, g = here * DBL_MIN;
    } else if (here == 0.0)
        return KC_OK;
    else if (here != l->sign && !end) { /* tell it from rounding */
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
 * *parts becomes how many equal parts of the step show how g_i swings: enough for its changes of sign, which
 * are as many in fewer parts.  Their ratio is golden, so that no period hides in both.
 */
static kc_status parts_for(const kc_stride *s, const kc_events *e, const watch *w, uint32_t i, int *parts)
{
    int before = -1;
    for (int n = COARSE; n <= FINE; n = (int)(1.618 * n)) {
        double sign = sign_of(w->start[i]);
        int changes = 0;
        *parts = n;
        for (int k = 1; k <= n; k++) {
            const kc_status status = values_within(s, e, w, (double)k / n, w->spare);
            if (status != KC_OK)
                return status;
            const double here = sign_of(w->spare[i]);
            changes += here * sign < 0.0;
            sign = here != 0.0 ? here : sign;
        }
        if (changes * EACH <= n && changes == before)
            return KC_OK;
        before = changes;
    }
    if (isnan(*w->crowded))
        *w->crowded = s->t;
    return KC_OK;
}

/* The zeros of g_i in a step, and its sign at the end; g was computed at all places from `first` on. */
static kc_status look(const kc_stride *s, const kc_events *e, const watch *w, uint32_t i, int first, int ends)
{
    trail l = {{0}, {0}, w->sign[i], 0};
    const double *const end = w->g + (size_t)(N_PLACES - 1) * e->n;
    const double far = swing(e, w, i);
    int parts = 0;
    kc_status status = KC_OK;
    if (far != 0.0) {
        memcpy(w->x, s->x1, sizeof(double) * kc_n_x(s->run->system));
        status = rounding(s, e, w, s->next, end);
        if (status == KC_OK && far > 8.0 * w->noise[i])
            status = parts_for(s, e, w, i, &parts);
    }
    if (w->start[i] * l.sign > 0.0)
        l.f[l.n++] = w->start[i];
    for (int k = first; k < (parts ? EARLY + 1 : N_PLACES - 1) && status == KC_OK; k++)
        status = look_here(s, e, w, i, &l, PLACES[k], w->g[(size_t)k * e->n + i], 0);
    for (int k = 1; k < parts && status == KC_OK; k++) {
        const double theta = (double)k / parts;
        status = values_within(s, e, w, theta, w->spare);
        if (status == KC_OK)
            status = look_here(s, e, w, i, &l, theta, w->spare[i], 0);
    }
    if (status == KC_OK)
        status = look_here(s, e, w, i, &l, 1.0, end[i], ends);
    w->end[i] = l.sign;
    return status;
}

/* -------------------------------------------------------------------------------------------- all functions
 */

/* True if a zero counts by its direction. */
static int counts(const kc_events *e, const watch *w, size_t k)
{
    const int direction = e->direction[(uint32_t)w->which[k]];
    return direction == 0 || (double)direction == w->after[k];
}

/* The first zero that stops the step; the number of zeros where there is none. */
static size_t first_stop(const kc_events *e, const watch *w)
{
    const size_t n = (size_t)*w->count;
    size_t k = 0;
    while (k < n && !(counts(e, w, k) && e->stops[(uint32_t)w->which[k]]))
        k++;
    return k;
}

/*
 * Where there are zeros that stop the step, cut it on the first: those that cannot be told from that in time
 * come with it, and what comes after is no longer of this step.
 */
static void cut(const kc_stride *s, const kc_events *e, const watch *w, double *stop)
{
    const size_t n = (size_t)*w->count, first = first_stop(e, w);
    const double same = kc_smallest_step(s->t, s->next);
    size_t k;
    *w->first = (double)first;
    if (first == n)
        return;
    *stop = w->zero[first];
    for (uint32_t i = 0; i < e->n; i++)
        if (w->due[i] != 0.0)
            w->later[i] = w->due[i], w->due[i] = 0.0;
    for (k = 0; k < n && (w->zero[k] - *stop) * s->run->direction <= same; k++) {
        const uint32_t i = (uint32_t)w->which[k];
        if (fabs(w->zero[k] - *stop) <= same)
            w->due[i] = w->after[k];
        else
            w->later[i] = w->after[k];
    }
    *w->count = (double)k;
    for (; k < n; k++) {
        const uint32_t i = (uint32_t)w->which[k];
        if (w->due[i] == 0.0 && w->later[i] == 0.0)
            w->later[i] = w->after[k];
    }
}

/* All zeros in a step. */
static kc_status look_at_all(const kc_stride *s, const kc_events *e, const watch *w, int ends)
{
    int first = EARLY + 1;
    kc_status status = KC_OK;
    for (uint32_t i = 0; i < e->n; i++)
        if (w->sign[i] == 0.0)
            first = 1;
    for (int k = first; k < N_PLACES && status == KC_OK; k++)
        status = values_within(s, e, w, PLACES[k], w->g + (size_t)k * e->n);
    if (ends && status == KC_OK) { /* w->x is the state at the end */
        const double *const slope = s->k + (size_t)s->method->stages * kc_n_x(s->run->system);
        const double *const end = w->g + (size_t)(N_PLACES - 1) * e->n;
        status = rounding_from(s, e, w, s->next, s->next, slope, end, w->seam);
    }
    *w->count = 0.0;
    for (uint32_t i = 0; i < e->n && status == KC_OK; i++)
        status = look(s, e, w, i, first, ends);
    return status;
}

kc_status kc_watch(const kc_stride *s, const kc_events *e, double t1, double *stop)
{
    const watch w = rooms(s->run->system, e);
    const kc_status status = look_at_all(s, e, &w, s->next == t1);
    *stop = s->next;
    memset(w.due, 0, sizeof(double) * e->n);
    memset(w.later, 0, sizeof(double) * e->n);
    if (status == KC_OK)
        cut(s, e, &w, stop);
    return status;
}

kc_status kc_watch_cut(const kc_stride *s, const kc_events *e, int last, double *stop)
{
    const watch w = rooms(s->run->system, e);
    const double goal = s->next, same = kc_smallest_step(s->t, goal);
    const double *const end = w.g + (size_t)(N_PLACES - 1) * e->n;
    kc_status status = look_at_all(s, e, &w, 0);
    memcpy(w.x, s->x1, sizeof(double) * kc_n_x(s->run->system));
    if (status == KC_OK)
        status = rounding(s, e, &w, goal, end);
    *stop = goal;
    if (status != KC_OK)
        return status;
    for (uint32_t i = 0; i < e->n; i++) {
        const double after = w.due[i] != 0.0                     ? w.due[i]
                             : sign_beyond(&w, i, end[i]) == 0.0 ? w.later[i]
                                                                 : 0.0;
        if (after != 0.0 && w.end[i] != after)
            put(s, &w, i, goal, after);
    }
    const size_t k = first_stop(e, &w);
    if (k < (size_t)*w.count && !last && fabs(w.zero[k] - goal) > same)
        cut(s, e, &w, stop);
    else
        *w.first = (double)k;
    return KC_OK;
}

int kc_improve(const kc_stride *s, const kc_events *e, double *stop)
{
    const watch w = rooms(s->run->system, e);
    const uint32_t i = (uint32_t)w.which[(size_t)*w.first];
    const double h = s->next - s->t, back = 0x1p-10;
    double g[3]; /* at the end, and twice before */
    for (int k = 0; k < 3; k++) {
        if (values_within(s, e, &w, 1.0 - (double)k * back, w.spare) != KC_OK)
            return 0;
        g[k] = w.spare[i];
    }
    const double fall = g[1] - g[0], earlier = g[2] - g[1];
    if (g[0] == 0.0 || !(fabs(fall - earlier) < 0.5 * fabs(fall))) /* there, or g jumps */
        return 0;
    const double change = g[0] * back * h / fall;
    /* steps of low order miss by much: the interpolant of a longer one is another */
    if (!(fabs(change) < 0.25 * fabs(h)) || fabs(change) < kc_smallest_step(s->t, s->next))
        return 0;
    *stop = s->next + change;
    return 1;
}

/* The largest |g_i| in the last part of a step. Rounding of g is small beside it, unless g jumps. */
static double largest(const kc_events *e, const watch *w, uint32_t i)
{
    double most = 0.0;
    for (int k = EARLY + 1; k < N_PLACES; k++)
        most = fmax(most, fabs(w->g[(size_t)k * e->n + i]));
    return most;
}

kc_status kc_report(const kc_stride *s, const kc_events *e, const kc_step *step, double *x, int *answer)
{
    const watch w = rooms(s->run->system, e);
    const size_t n = (size_t)*w.count, first = (size_t)*w.first,
                 bytes = sizeof(double) * kc_n_x(s->run->system);
    kc_status status = KC_OK;
    double *const end = w.g + (size_t)(N_PLACES - 1) * e->n;
    *answer = KC_GO_ON;
    if (first < n) { /* the step ends on zeros: the last look was at a longer one if there is no step */
        memcpy(w.x, s->x1, sizeof(double) * kc_n_x(s->run->system));
        if ((status = values(s, e, step->end, w.x, end)) == KC_OK)
            status = rounding(s, e, &w, step->end, end);
        if (status != KC_OK)
            return status;
    }
    for (size_t k = 0; k < n; k++) {
        const uint32_t i = (uint32_t)w.which[k];
        w.sign[i] = w.after[k];
        if (!counts(e, &w, k))
            continue;
        int said;
        if (k < first) {
            status = kc_interpolate(step, (w.zero[k] - step->t) / step->h, w.x, w.r);
            if (status != KC_OK)
                return status;
            said = e->found(i, w.zero[k], w.x, e->context);
        } else { /* the step ends on it, as well as that can be */
            const int before = sign_of(end[i]) == -w.after[k]; /* it jumps: no step ends on that exactly */
            w.least[i] = before                                  ? fmax(w.noise[i], fabs(end[i]))
                         : w.noise[i] < 0.25 * largest(e, &w, i) ? w.noise[i]
                                                                 : 0.0;
            memcpy(w.y, x, bytes);
            said = e->found(i, step->end, x, e->context);
            if (said == KC_CHANGED) {
                const double earlier = w.g[(size_t)(N_PLACES - 2) * e->n + i];
                const int smooth = fabs(end[i]) < 0x1p-10 * largest(e, &w, i) ||
                                   fabs(end[i] - earlier) > 0x1p-10 * fabs(end[i]);
                const double near = fmax(4.0 * w.noise[i], DBL_MIN);
                w.turned[i] = w.after[k] * (smooth && !before ? fmax(near, fabs(end[i])) : near);
                w.moved[i] = (double)(memcmp(w.y, x, bytes) != 0), w.smooth[i] = (double)smooth;
            }
        }
        if (said > *answer)
            *answer = said;
    }
    if (first == n) { /* not cut: g at the end was looked at */
        memcpy(w.start, end, sizeof(double) * e->n);
        memcpy(w.sign, w.end, sizeof(double) * e->n);
        for (uint32_t i = 0; i < e->n; i++)
            if (w.least[i] >= 0.25 * largest(e, &w, i))
                w.least[i] = 0.0;
        return KC_OK;
    }
    if (*answer != KC_GO_ON)
        return KC_OK; /* the next part begins anew */
    memcpy(w.x, x, sizeof(double) * kc_n_x(s->run->system));
    status = values(s, e, step->end, w.x, w.start);
    if (status == KC_OK)
        status = rounding(s, e, &w, step->end, w.start);
    for (uint32_t i = 0; i < e->n && status == KC_OK; i++) {
        const double sign = sign_beyond(&w, i, w.start[i]);
        w.sign[i] = sign != 0.0 ? sign : w.sign[i];
    }
    return status;
}
