/* SPDX-License-Identifier: BSD-3-Clause */
/* Adaptive steps: DOP853. */
#include "kc_stage.h"
#include "kc_tableaux.h"

#include <float.h>

/* Step control, as in Hairer's program and SciPy's. */
static const double SAFETY = 0.9, MIN_FACTOR = 0.2, MAX_FACTOR = 10.0, EXPONENT = -1.0 / 8.0;

size_t kc_ode_work(const kc_system *system)
{
    const size_t n = (size_t)system->n_q + system->n_u;
    return (KC_DOP853_EXTENDED + KC_DENSE + 3) * n + kc_run_work(system);
}

/* What an error in component i is measured by; not zero, so that 0 / 0 does not arise. */
static double tolerance(const kc_options *o, uint32_t i, double x, double y)
{
    return fmax(o->atol[i] + o->rtol * fmax(fabs(x), fabs(y)), DBL_MIN);
}

/* Root mean square of v relative to the tolerance at x. */
static double norm(uint32_t n, const double *v, const double *x, const kc_options *o)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        const double e = v[i] / tolerance(o, i, x[i], x[i]);
        sum += e * e;
    }
    return sqrt(sum / n);
}

/* y = x + h sum_j a_j k_j, j < stages */
static void advance(uint32_t n, const double *x, double h, const double *a, int stages, const double *k,
                    double *y)
{
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j < stages; j++)
            sum += a[j] * k[(uint32_t)j * n + i];
        y[i] = x[i] + h * sum;
    }
}

/*
 * After Hairer, Norsett & Wanner, section II.4: from two evaluations, a step with an error near the
 * tolerance. Where they count in seconds this counts in `scale`, the time in which the state changes by its
 * own size, so that the unit of time does not matter.  A state that is at rest, or zero, has no such time;
 * part of the span serves.  The term of order 8 of its series, h^8 / 8! times the slope or its rate, is to be
 * 0.01.
 */
static kc_status first_step(const kc_run *run, double t, double span, const double *x, const double *k,
                            double *y, double *slope, const kc_options *o, double *h)
{
    const uint32_t n = run->system->n_q + run->system->n_u;
    const double d0 = norm(n, x, x, o), d1 = norm(n, k, x, o);
    const int rests = d0 < 1e-5 || span * d1 < 1e-5;
    const double scale = rests ? 1e-4 * span : fmin(d0 / d1, span), h0 = 0.01 * run->direction * scale;
    for (uint32_t i = 0; i < n; i++)
        y[i] = x[i] + h0 * k[i];
    const kc_status status = kc_evaluate(run, t + h0, y, slope);
    if (status == KC_STOPPED)
        return status;
    double d2 = 0.0;
    if (status == KC_OK) {
        for (uint32_t i = 0; i < n; i++)
            slope[i] -= k[i];
        d2 = norm(n, slope, x, o) / fabs(h0);
    }
    *h = scale * fmin(1.0, pow(0.01 * 40320.0 / (scale * fmax(d1, scale * d2)), -EXPONENT));
    return KC_OK;
}

/* The error of a step relative to the tolerance, from the estimates of orders 5 and 3 together. */
static double step_error(uint32_t n, double h, const double *k, const double *x, const double *y,
                         const kc_options *o)
{
    double five = 0.0, three = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        const double scale = tolerance(o, i, x[i], y[i]);
        double e5 = 0.0, e3 = 0.0;
        for (uint32_t j = 0; j <= KC_DOP853_STAGES; j++) {
            e5 += kc_dop853_e5[j] * k[j * n + i];
            e3 += kc_dop853_e3[j] * k[j * n + i];
        }
        five += e5 / scale * (e5 / scale);
        three += e3 / scale * (e3 / scale);
    }
    if (five == 0.0 && three == 0.0)
        return 0.0;
    return fabs(h) * five / sqrt((five + 0.01 * three) * n);
}

/* Three more stages and the seven coefficients of the interpolant. */
static kc_status interpolant(const kc_run *run, double t, double h, const double *x, const double *x1,
                             double *k, double *y, double *dense)
{
    const uint32_t n = run->system->n_q + run->system->n_u;
    for (int s = KC_DOP853_STAGES + 1; s < KC_DOP853_EXTENDED; s++) {
        advance(n, x, h, kc_dop853_a[s], s, k, y);
        const kc_status status = kc_evaluate(run, t + kc_dop853_c[s] * h, y, k + (uint32_t)s * n);
        if (status != KC_OK)
            return status;
    }
    const double *end = k + KC_DOP853_STAGES * n;
    for (uint32_t i = 0; i < n; i++) {
        const double change = x1[i] - x[i];
        dense[i] = change;
        dense[n + i] = h * k[i] - change;
        dense[2 * n + i] = 2.0 * change - h * (end[i] + k[i]);
        for (uint32_t d = 0; d < 4; d++) {
            double sum = 0.0;
            for (uint32_t j = 0; j < KC_DOP853_EXTENDED; j++)
                sum += kc_dop853_d[d][j] * k[j * n + i];
            dense[(3 + d) * n + i] = h * sum;
        }
    }
    return KC_OK;
}

/* Where a step keeps its numbers: KC_DOP853_EXTENDED slopes, three states, the interpolant. */
typedef struct memory {
    double *k, *y, *x1, *spare, *dense;
} memory;

/*
 * The step from x at t to m->x1 at `next`, its error relative to the tolerance and, where that is below
 * 1, its interpolant.  m->k holds the slope at t and gets the others; that at m->x1 begins the next step.
 */
static kc_status try_step(const kc_run *run, double t, double next, const double *x, const kc_options *o,
                          const memory *m, double *error)
{
    const uint32_t n = run->system->n_q + run->system->n_u;
    const double h = next - t;
    kc_status status;
    for (int s = 1; s < KC_DOP853_STAGES; s++) {
        advance(n, x, h, kc_dop853_a[s], s, m->k, m->y);
        if ((status = kc_evaluate(run, t + kc_dop853_c[s] * h, m->y, m->k + (uint32_t)s * n)) != KC_OK)
            return status;
    }
    advance(n, x, h, kc_dop853_a[KC_DOP853_STAGES], KC_DOP853_STAGES, m->k, m->x1);
    if ((status = kc_evaluate(run, next, m->x1, m->k + KC_DOP853_STAGES * n)) != KC_OK)
        return status;
    *error = step_error(n, h, m->k, x, m->x1, o);
    if (!(*error < 1.0))
        return KC_OK;
    status = interpolant(run, t, h, x, m->x1, m->k, m->y, m->dense);
    if (status != KC_OK || !kc_returns(run->system))
        return status;
    if ((status = kc_return(run, next, m->x1)) != KC_OK)
        return status;
    return kc_evaluate(run, next, m->x1, m->k + KC_DOP853_STAGES * n);
}

kc_status kc_dop853(const kc_system *system, double t0, double t1, double *x, const kc_options *options,
                    kc_accept *accept, void *context, double *work, kc_stats *stats)
{
    const uint32_t n = system->n_q + system->n_u;
    const size_t bytes = sizeof(double) * n;
    double *states = work + KC_DOP853_EXTENDED * n;
    const memory m = {work, states, states + n, states + 2 * n, states + 3 * n};
    const double direction = kc_direction(t0, t1);
    kc_run run = kc_begin(system, direction, states + (3 + KC_DENSE) * n, stats);
    double h = options->first_step;
    kc_status status;
    *stats = (kc_stats){.t = t0};
    while (stats->t != t1) {
        const double end = kc_stretch(system->signal, stats->t, t1, &run.interval);
        if ((status = kc_evaluate(&run, stats->t, x, m.k)) != KC_OK)
            return status;
        if (h == 0.0) {
            status = first_step(&run, stats->t, fabs(t1 - t0), x, m.k, m.y, m.spare, options, &h);
            if (status != KC_OK)
                return status;
        }
        int rejected = 0;
        while (stats->t != end) {
            const double t = stats->t, smallest = 10.0 * fabs(nextafter(t, direction * INFINITY) - t);
            if (options->max_steps && stats->accepted + stats->rejected >= options->max_steps)
                return KC_MAX_STEPS;
            h = fmax(fmin(h, options->max_step), smallest);
            const int last = h * (1.0 + 1e-10) >= (end - t) * direction;
            const double next = last ? end : t + direction * h, length = fabs(next - t);
            double error = INFINITY;
            status = try_step(&run, t, next, x, options, &m, &error);
            if (status == KC_STOPPED)
                return status;
            const double factor = status != KC_OK ? MIN_FACTOR
                                  : error == 0.0  ? MAX_FACTOR
                                                  : SAFETY * pow(error, EXPONENT);
            if (status != KC_OK || !(error < 1.0)) {
                stats->rejected++;
                /* too large a step may run into a singular state; only a tiny one proves that it is there */
                if (fmin(h, length) <= smallest)
                    return status == KC_OK ? KC_STEP_SIZE : status;
                h = length * fmax(MIN_FACTOR, factor);
                rejected = 1;
                continue;
            }
            /* a step cut short by a knot says little about the next one */
            const double proposed = length * fmin(rejected ? 1.0 : MAX_FACTOR, factor);
            h = last ? fmax(h, proposed) : proposed;
            rejected = 0;
            memcpy(m.y, x, bytes);
            memcpy(x, m.x1, bytes);
            memcpy(m.k, m.k + KC_DOP853_STAGES * n, bytes); /* first slope of the next step */
            stats->t = next;
            stats->accepted++;
            const kc_step done = {t, next - t, next, m.y, x, m.dense, KC_DOP853, system};
            if (accept && accept(&done, context))
                return KC_STOPPED;
        }
    }
    return KC_OK;
}
