/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events: handling of functions of the state from step to step. kc_zeros.c finds the zeros in a step; this
 * file cuts the step at a zero that stops it, and reports zeros.
 *
 * A zero between two runs belongs to the run that ends there: at its end a value within rounding counts as a
 * zero that g crosses, and a run that starts within rounding waits for the first clear sign.
 */
#include "kc_zeros.h"

size_t kc_events_work(const kc_system *system, uint32_t n)
{
    return 3 + (size_t)n * (3 * KC_MOST_ZEROS + KC_N_PLACES + 14) + 2 * (size_t)kc_n_x(system) +
           kc_run_work(system);
}

void kc_forget_zeros(const kc_system *system, const kc_events *e)
{
    const kc_search w = kc_search_in(system, e);
    *w.crowded = (double)NAN;
    memset(w.least, 0, sizeof(double) * e->n);
    memset(w.turned, 0, sizeof(double) * e->n);
    for (uint32_t i = 0; i < e->n; i++)
        w.when[i] = (double)NAN;
}

/*
 * If x was changed at a zero of a function, the function's sign follows from its motion.  If the function
 * continues as before, it is beyond zero.  Otherwise it has turned round, or rests: it is on the side from
 * which it came, even if rounding has put it beyond, so that it cannot leave that side without another zero;
 * nor by a second change at the same time, which turns it again.
 */
static kc_status signs_after_changes(const kc_stride *s, const kc_events *e, const kc_search *w, double ahead)
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
    const kc_status status = kc_values_at(s, e, s->t + ahead, w->y, w->spare);
    for (uint32_t i = 0; i < e->n && status == KC_OK; i++) {
        const double after = kc_sign_of(w->turned[i]), near = fabs(w->turned[i]), g = w->start[i];
        const double change = w->spare[i] - g;
        const int again = fabs(s->t - w->when[i]) <= same, moved = w->moved[i] != 0.0;
        const int goes_on = kc_sign_of(change) == after && !again;
        w->turned[i] = 0.0;
        if (after == 0.0)
            continue;
        w->when[i] = goes_on ? (double)NAN : s->t;
        if (fabs(g) <= near && (again || moved || change != 0.0)) {
            w->sign[i] = goes_on ? after : -after;
            if (!goes_on) /* zeros that are now beyond come back first */
                w->least[i] = fmax(w->least[i], 2.0 * fabs(g));
        } else if (kc_sign_of(g) == -after && (again || (moved && (change != 0.0 || w->smooth[i] != 0.0)))) {
            /* perhaps no step of a method of low order ends at the zero: this one has ended before it */
            w->sign[i] = goes_on && fabs(g * ahead) <= fabs(change) * 1e3 * same ? after : -after;
            w->least[i] = 0.0;
        }
    }
    return status;
}

kc_status kc_begin_watch(const kc_stride *s, const kc_events *e, double ahead)
{
    const kc_search w = kc_search_in(s->run->system, e);
    kc_status status;
    memcpy(w.x, s->x, sizeof(double) * kc_n_x(s->run->system));
    status = kc_values_at(s, e, s->t, w.x, w.start);
    if (status == KC_OK)
        status = kc_rounding(s, e, &w, s->t, w.start);
    for (uint32_t i = 0; i < e->n && status == KC_OK; i++)
        w.sign[i] = kc_sign_beyond(&w, i, w.start[i]);
    if (status == KC_OK)
        status = signs_after_changes(s, e, &w, ahead);
    for (uint32_t i = 0; i < e->n && e->side && status == KC_OK; i++)
        if (e->side[i] != 0.0)
            w.sign[i] = e->side[i], w.least[i] = 0.0;
    return status;
}

/* True if a zero counts by its direction. */
static int counts(const kc_events *e, const kc_search *w, size_t k)
{
    const int direction = e->direction[(uint32_t)w->which[k]];
    return direction == 0 || (double)direction == w->after[k];
}

/* The index of the first zero that stops the step; the number of zeros if none does. */
static size_t first_stop(const kc_events *e, const kc_search *w)
{
    const size_t n = (size_t)*w->count;
    size_t k = 0;
    while (k < n && !(counts(e, w, k) && e->stops[(uint32_t)w->which[k]]))
        k++;
    return k;
}

/*
 * If zeros stop the step, cut it at the first: zeros at indistinguishable times are included, and later zeros
 * belong to the next step.
 */
static void cut(const kc_stride *s, const kc_events *e, const kc_search *w, double *stop)
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
static kc_status look_at_all(const kc_stride *s, const kc_events *e, const kc_search *w, int ends)
{
    int first = KC_EARLY + 1;
    kc_status status = KC_OK;
    for (uint32_t i = 0; i < e->n; i++)
        if (w->sign[i] == 0.0)
            first = 1;
    for (int k = first; k < KC_N_PLACES && status == KC_OK; k++)
        status = kc_values_within(s, e, w, KC_PLACES[k], w->g + (size_t)k * e->n);
    if (ends && status == KC_OK) { /* w->x is the state at the end */
        const double *const slope = s->k + (size_t)s->method->stages * kc_n_x(s->run->system);
        const double *const end = w->g + (size_t)(KC_N_PLACES - 1) * e->n;
        status = kc_rounding_from(s, e, w, s->next, s->next, slope, end, w->seam);
    }
    *w->count = 0.0;
    for (uint32_t i = 0; i < e->n && status == KC_OK; i++)
        status = kc_look(s, e, w, i, first, ends);
    return status;
}

kc_status kc_watch(const kc_stride *s, const kc_events *e, double t1, double *stop)
{
    const kc_search w = kc_search_in(s->run->system, e);
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
    const kc_search w = kc_search_in(s->run->system, e);
    const double goal = s->next, same = kc_smallest_step(s->t, goal);
    const double *const end = w.g + (size_t)(KC_N_PLACES - 1) * e->n;
    kc_status status = look_at_all(s, e, &w, 0);
    memcpy(w.x, s->x1, sizeof(double) * kc_n_x(s->run->system));
    if (status == KC_OK)
        status = kc_rounding(s, e, &w, goal, end);
    *stop = goal;
    if (status != KC_OK)
        return status;
    for (uint32_t i = 0; i < e->n; i++) {
        const double after = w.due[i] != 0.0                        ? w.due[i]
                             : kc_sign_beyond(&w, i, end[i]) == 0.0 ? w.later[i]
                                                                    : 0.0;
        if (after != 0.0 && w.end[i] != after)
            kc_put_zero(s, &w, i, goal, after);
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
    const kc_search w = kc_search_in(s->run->system, e);
    const uint32_t i = (uint32_t)w.which[(size_t)*w.first];
    const double h = s->next - s->t, back = 0x1p-10;
    double g[3]; /* at the end, and twice before */
    for (int k = 0; k < 3; k++) {
        if (kc_values_within(s, e, &w, 1.0 - (double)k * back, w.spare) != KC_OK)
            return 0;
        g[k] = w.spare[i];
    }
    const double fall = g[1] - g[0], earlier = g[2] - g[1];
    if (g[0] == 0.0 || !(fabs(fall - earlier) < 0.5 * fabs(fall))) /* at the zero, or g jumps */
        return 0;
    if (e->side && e->side[i] != 0.0 && fabs(g[0]) <= w.noise[i]) /* at the zero, with rounding */
        return 0;
    const double change = g[0] * back * h / fall;
    /* steps of low order miss by much, as the interpolant of a longer step is different */
    if (!(fabs(change) < 0.25 * fabs(h)) || fabs(change) < kc_smallest_step(s->t, s->next))
        return 0;
    *stop = s->next + change;
    return 1;
}

/* The largest |g_i| in the last part of a step.  Rounding of g is small relative to it, unless g jumps. */
static double largest(const kc_events *e, const kc_search *w, uint32_t i)
{
    double most = 0.0;
    for (int k = KC_EARLY + 1; k < KC_N_PLACES; k++)
        most = fmax(most, fabs(w->g[(size_t)k * e->n + i]));
    return most;
}

kc_status kc_report(const kc_stride *s, const kc_events *e, const kc_step *step, double *x, int *answer)
{
    const kc_search w = kc_search_in(s->run->system, e);
    const size_t n = (size_t)*w.count, first = (size_t)*w.first,
                 bytes = sizeof(double) * kc_n_x(s->run->system);
    kc_status status = KC_OK;
    double *const end = w.g + (size_t)(KC_N_PLACES - 1) * e->n;
    *answer = KC_GO_ON;
    if (first < n) { /* the step ends at zeros: the last search was in a longer step if there is no step */
        memcpy(w.x, s->x1, sizeof(double) * kc_n_x(s->run->system));
        if ((status = kc_values_at(s, e, step->end, w.x, end)) == KC_OK)
            status = kc_rounding(s, e, &w, step->end, end);
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
        } else { /* the step ends at it, as exactly as possible */
            const int before =
                kc_sign_of(end[i]) == -w.after[k]; /* it jumps: no step ends exactly at the jump */
            w.least[i] = before                                  ? fmax(w.noise[i], fabs(end[i]))
                         : w.noise[i] < 0.25 * largest(e, &w, i) ? w.noise[i]
                                                                 : 0.0;
            memcpy(w.y, x, bytes);
            said = e->found(i, step->end, x, e->context);
            if (said == KC_CHANGED) {
                const double earlier = w.g[(size_t)(KC_N_PLACES - 2) * e->n + i];
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
    if (first == n) { /* not cut: g at the end is known */
        memcpy(w.start, end, sizeof(double) * e->n);
        memcpy(w.sign, w.end, sizeof(double) * e->n);
        for (uint32_t i = 0; i < e->n; i++)
            if (w.least[i] >= 0.25 * largest(e, &w, i))
                w.least[i] = 0.0;
        return KC_OK;
    }
    if (*answer != KC_GO_ON)
        return KC_OK; /* the next part starts again */
    memcpy(w.x, x, sizeof(double) * kc_n_x(s->run->system));
    status = kc_values_at(s, e, step->end, w.x, w.start);
    if (status == KC_OK)
        status = kc_rounding(s, e, &w, step->end, w.start);
    for (uint32_t i = 0; i < e->n && status == KC_OK; i++) {
        const double sign = kc_sign_beyond(&w, i, w.start[i]);
        w.sign[i] = sign != 0.0 ? sign : w.sign[i];
    }
    return status;
}
