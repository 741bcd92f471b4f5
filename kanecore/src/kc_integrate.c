/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver of all methods: stretches between knots of the inputs, steps and their lengths. */
#include "kc_chatter.h"
#include "kc_events.h"
#include "kc_rosenbrock.h"

/* Progress of t from one power of two of steps to the next; at first t0, then zeros. */
typedef struct kc_pace {
    uint64_t next; /* number of steps at the next check */
    double t, way; /* t at the last check, and its progress */
    int slower;    /* consecutive checks with less progress */
} kc_pace;

/* Step control, as in Hairer's program and SciPy's. */
static const double SAFETY = 0.9, MIN_FACTOR = 0.2, MAX_FACTOR = 10.0;

size_t kc_ode_work(const kc_system *system, const kc_method *method)
{
    const size_t own = method->rosenbrock ? kc_rosenbrock_work(system) : 0;
    return (size_t)(method->extended + method->n_dense + 3) * kc_n_x(system) + own + kc_run_work(system);
}

int kc_n_dense(const kc_method *method)
{
    return method->n_dense;
}

int kc_is_adaptive(const kc_method *method)
{
    return method->error != NULL;
}

/* Root mean square of v relative to the tolerance at x. */
static double norm(uint32_t n, const double *v, const double *x, const kc_plan *plan)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        const double e = v[i] / kc_tolerance(plan, i, x[i], x[i]);
        sum += e * e;
    }
    return sqrt(sum / n);
}

/*
 * After Hairer, Norsett & Wanner, section II.4: from two evaluations, a step with an error near the
 * tolerance.  They use seconds; this uses the unit `scale`, the time in which the state changes by its own
 * size, so that the unit of time does not matter.  For a state at rest, or zero, the unit is a part of the
 * span.  The term of order p = method->control of the series, h^p / p! times the slope or its rate, must be
 * 0.01.
 */
static kc_status first_step(const kc_stride *s, const kc_plan *plan, double *slope, double *h)
{
    const uint32_t n = kc_n_x(s->run->system);
    const double span = fabs(plan->t1 - plan->t0);
    const double d0 = norm(n, s->x, s->x, plan), d1 = norm(n, s->k, s->x, plan);
    const int at_rest = d0 < 1e-5 || span * d1 < 1e-5, order = s->method->control;
    const double scale = at_rest ? 1e-4 * span : fmin(d0 / d1, span), h0 = 0.01 * s->run->direction * scale;
    for (uint32_t i = 0; i < n; i++)
        s->y[i] = s->x[i] + h0 * s->k[i];
    const kc_status status = kc_evaluate(s->run, s->t + h0, s->y, slope);
    if (status == KC_STOPPED)
        return status;
    double d2 = 0.0, factorial = 1.0;
    if (status == KC_OK) {
        for (uint32_t i = 0; i < n; i++)
            slope[i] -= s->k[i];
        d2 = norm(n, slope, s->x, plan) / fabs(h0);
    }
    for (int i = 2; i <= order; i++)
        factorial *= i;
    *h = scale * fmin(1.0, pow(0.01 * factorial / (scale * fmax(d1, scale * d2)), 1.0 / order));
    return KC_OK;
}

/* True if the state inside the step may be needed. */
static int has_interpolant(const kc_stride *s, const kc_plan *plan)
{
    const double *const from = plan->interpolate_from;
    if (!s->method->error || plan->events)
        return 1;
    return plan->accept && (!from || (s->next - *from) * s->run->direction > 0.0);
}

/*
 * Distance of x1 from s->y by the projection, in units that the step explains: 1 and more is a jump, for
 * example by a row that starts to apply.  Errors of an adaptive method are some tolerances, those of other
 * methods are of the size of the step.
 */
static double jump_to_constraints(const kc_stride *s, const kc_plan *plan)
{
    const kc_system *const system = s->run->system;
    const uint32_t n = kc_n_x(system), ends[] = {system->n_q, system->n_q + system->n_u};
    const double tolerances = 1e3, ways = 3.0, share = 1e-3, rounding = 1e-10;
    double all = 0.0, most = 0.0;
    for (uint32_t i = 0; i < n; i++)
        all += s->y[i] * s->y[i];
    for (uint32_t block = 0, i = 0; block < 2; block++) {
        double change = 0.0, size = 0.0, explained = 0.0;
        for (; i < ends[block]; i++) {
            const double moved = s->x1[i] - s->y[i], way = s->y[i] - s->x[i];
            const double error =
                s->method->error ? tolerances * kc_tolerance(plan, i, s->x[i], s->y[i]) : ways * way;
            change += moved * moved, size += s->y[i] * s->y[i], explained += error * error;
        }
        if (change > share * share * size && change > rounding * rounding * all)
            most = fmax(most, sqrt(change / explained));
    }
    return most;
}

/*
 * Take the step to s->x1 at s->next.  If its error relative to the tolerance is below 1, x1 is projected to
 * the constraints, and the slope there and the interpolant are computed.  Methods with fixed steps have the
 * error 0.  To unit spheres x1 is projected before the error is known, so that the slope for the error is the
 * slope of the next step as well.
 */
static kc_status take_step(kc_stride *s, const kc_plan *plan, double *error)
{
    const kc_method *m = s->method;
    const uint32_t n = kc_n_x(s->run->system);
    double *const end = s->k + (uint32_t)m->stages * n;
    const kc_system *system = s->run->system;
    kc_status status = m->step(s);
    s->jumps = 0;
    if (status != KC_OK)
        return status;
    *error = 0.0;
    if (m->error) {
        const int early = m->a != NULL; /* the error of linearly implicit methods does not use that slope */
        if ((status = kc_normalize(system->n_unit, system->unit, s->x1)) != KC_OK ||
            (early && (status = kc_evaluate(s->run, s->next, s->x1, end)) != KC_OK))
            return status;
        *error = m->error(s, plan);
        if (!(*error < 1.0))
            return KC_OK;
        if (plan->method->stiff)
            s->reach = m->reach(s, plan);
        if (has_interpolant(s, plan) && (status = m->dense(s)) != KC_OK)
            return status;
        if (early && !system->project)
            return KC_OK;
    }
    if (system->project || !m->error) {
        memcpy(s->y, s->x1, sizeof(double) * n);
        if ((status = kc_return(s->run, s->next, s->x1)) != KC_OK)
            return status;
        const double jump = system->project ? jump_to_constraints(s, plan) : 0.0;
        if (jump >= 1.0 && !m->error)
            return KC_JUMP;
        if (jump >= 1.0) { /* a shorter step may end before it */
            s->jumps = 1, *error = jump;
            return KC_OK;
        }
    }
    if ((status = kc_evaluate(s->run, s->next, s->x1, end)) != KC_OK || m->error)
        return status;
    return m->dense(s);
}

/*
 * Take the step; if an event must end it, again to the time of the event.  Newton's method finds the step
 * with g = 0 at its end, not only in its interpolant.  Other zeros may then be on the other side of the end,
 * so the step is searched again.
 */
static kc_status step_to_event(kc_stride *s, const kc_plan *plan, double *error)
{
    enum { MOST_TRIES = 40 };
    const uint32_t n = kc_n_x(s->run->system);
    const double goal = s->next, direction = s->run->direction;
    double stop;
    kc_status status = take_step(s, plan, error);
    if (status != KC_OK || !(*error < 1.0) || !plan->events)
        return status;
    if ((status = kc_watch(s, plan->events, plan->t1, &stop)) != KC_OK)
        return status;
    for (int tries = 0; stop != s->next; tries++) {
        s->next = (stop - goal) * direction > 0.0 ? goal : stop;
        if ((s->next - s->t) * direction <= 0.0) { /* at once: there is no step */
            s->next = s->t;
            memcpy(s->x1, s->x, sizeof(double) * n);
            memcpy(s->k + (uint32_t)s->method->stages * n, s->k, sizeof(double) * n);
            *error = 0.0;
            return KC_OK;
        }
        s->again = 1;
        status = take_step(s, plan, error);
        if (status != KC_OK || !(*error < 1.0))
            return status;
        if (tries < MOST_TRIES && kc_improve(s, plan->events, &stop) &&
            (s->next != goal || (stop - goal) * direction < 0.0))
            continue;
        if ((status = kc_watch_cut(s, plan->events, tries >= MOST_TRIES, &stop)) != KC_OK)
            return status;
    }
    return KC_OK;
}

/* Pass on a step of length zero, to x. */
static kc_status accept_jump(const kc_stride *s, const kc_plan *plan, const double *x)
{
    const kc_step jump = {s->next, 0.0, s->next, s->x1, x, s->dense, s->method, s->run->system};
    return plan->accept && plan->accept(&jump, plan->context) ? KC_STOPPED : KC_OK;
}

/* At the start of a stretch inputs may jump, and prescribed motion with them. */
static kc_status jump_with_inputs(const kc_stride *s, const kc_plan *plan, double *x)
{
    const size_t bytes = sizeof(double) * kc_n_x(s->run->system);
    memcpy(s->y, x, bytes);
    memcpy(s->x1, x, bytes);
    const kc_status status = kc_return(s->run, s->t, s->x1);
    if (status != KC_OK || !(jump_to_constraints(s, plan) >= 1.0))
        return status;
    memcpy(x, s->x1, bytes);
    memcpy(s->x1, s->y, bytes);
    return accept_jump(s, plan, x);
}

/* Report the events up to the end of a step.  If x changes there, pass on a step of length zero, and restart.
 */
static kc_status report_events(const kc_stride *s, const kc_plan *plan, const kc_step *step, double *x)
{
    int answer;
    const size_t bytes = sizeof(double) * kc_n_x(s->run->system);
    kc_status status = kc_report(s, plan->events, step, x, &answer);
    if (status != KC_OK || answer == KC_GO_ON)
        return status;
    if (memcmp(x, s->x1, bytes) != 0 && (status = accept_jump(s, plan, x)) != KC_OK)
        return status;
    if (answer == KC_END)
        return KC_STOPPED;
    kc_stride next = *s;
    next.t = next.next = step->end, next.x = x;
    if ((status = kc_evaluate(s->run, step->end, x, s->k)) != KC_OK)
        return status;
    const double ahead = fmax(0x1p-20 * fabs(s->next - s->t), 64.0 * kc_smallest_step(s->t, plan->t1));
    return kc_begin_watch(&next, plan->events, s->run->direction * ahead);
}

/* Move x to the end of the step, and pass the step to plan->accept(), and its events to their functions. */
static kc_status accept_step(const kc_stride *s, const kc_plan *plan, double *x)
{
    const uint32_t n = kc_n_x(s->run->system);
    const size_t bytes = sizeof(double) * n;
    memcpy(s->y, x, bytes);
    memcpy(x, s->x1, bytes);
    memcpy(s->k, s->k + (uint32_t)s->method->stages * n, bytes);
    s->run->stats->t = s->next;
    const double *const dense = has_interpolant(s, plan) ? s->dense : NULL;
    const kc_step step = {s->t, s->next - s->t, s->next, s->y, s->x1, dense, s->method, s->run->system};
    if (step.h != 0.0) {
        s->run->stats->accepted++;
        if (plan->accept && plan->accept(&step, plan->context))
            return KC_STOPPED;
    }
    return plan->events ? report_events(s, plan, &step, x) : KC_OK;
}

/*
 * Switch to the other of two methods after 15 steps in its favour, unless 6 in between are not: to the
 * implicit method if explicit steps are as long as stability allows, and back if they would be half as long
 * (Hairer & Wanner, Solving Ordinary Differential Equations II, 2nd ed. 1996, section IV.2).
 */
static void choose_method(kc_stride *s, const kc_plan *plan)
{
    enum { FOR = 15, AGAINST = 6 };
    const kc_method *const first = plan->method;
    kc_stats *const stats = s->run->stats;
    const int implicit = s->method == first->stiff;
    if (implicit ? s->reach < 0.5 * first->stable : s->reach > first->stable) {
        s->others = 0;
        s->votes++;
    } else if (++s->others == AGAINST)
        s->others = s->votes = 0;
    if (s->votes < FOR)
        return;
    s->votes = s->others = 0;
    s->method = implicit ? first : first->stiff;
    if (stats->switches < KC_SWITCHES)
        stats->switched[stats->switches] = stats->t;
    stats->switches++;
}

/* Whole steps from the start of a stretch, then a step to its end. */
static kc_status fixed_steps(kc_stride *s, const kc_plan *plan, double end, double *x)
{
    const double start = s->run->stats->t, direction = s->run->direction, h = plan->step;
    const double whole = floor((end - start) * direction / h * (1.0 + 8.0 * DBL_EPSILON));
    const int shorter = whole == 0.0 || (end - start) * direction - whole * h > 1e-9 * h;
    const uint64_t count = (uint64_t)whole + (shorter ? 1 : 0);
    for (uint64_t i = 0; i < count;) {
        const double goal = i + 1 == count ? end : start + direction * h * (double)(i + 1);
        double error;
        s->t = s->run->stats->t, s->next = goal;
        kc_status status = step_to_event(s, plan, &error);
        i += s->next == goal;
        if (status == KC_OK)
            status = accept_step(s, plan, x);
        if (status != KC_OK)
            return status;
    }
    return KC_OK;
}

/*
 * True if the motion never comes to t1: in the last three doublings of the number of steps, thousands of
 * them, t advanced ever less, so that the remaining progress, summed as a geometric series, ends before t1.
 */
static int stalls(kc_pace *pace, const kc_stats *stats, double t1, int contacts)
{
    enum { FIRST = 4096, DOUBLINGS = 3 };
    static const double SLOWER = 0.7, ALMOST = 1.05;
    if (contacts) /* which bounce ever faster, and come to rest */
        return 0;
    if (stats->accepted != (pace->next ? pace->next : FIRST))
        return 0;
    pace->next = 2 * stats->accepted;
    const double way = fabs(stats->t - pace->t), before = pace->way;
    pace->t = stats->t, pace->way = way;
    pace->slower = way < SLOWER * before ? pace->slower + 1 : 0;
    return pace->slower >= DOUBLINGS && way * way < (before - way) * ALMOST * fabs(t1 - stats->t);
}

/* Steps with errors below the tolerance; *h is the length of the next step. */
static kc_status adaptive_steps(kc_stride *s, const kc_plan *plan, double end, double *h, double *x,
                                kc_chatter *chatter, kc_pace *pace)
{
    kc_stats *const stats = s->run->stats;
    const double direction = s->run->direction;
    int rejected = 0;
    while (stats->t != end) {
        const double t = stats->t, smallest = 10.0 * fabs(nextafter(t, direction * (double)INFINITY) - t);
        if (plan->max_steps && stats->accepted + stats->rejected >= plan->max_steps)
            return KC_MAX_STEPS;
        *h = fmax(fmin(*h, plan->max_step), smallest);
        const int last = *h * (1.0 + 1e-10) >= (end - t) * direction;
        const double goal = last ? end : t + direction * *h;
        s->again = rejected;
        double error = (double)INFINITY;
        s->t = t, s->next = goal;
        kc_status status = step_to_event(s, plan, &error);
        const double length = fabs(s->next - t);
        if (status == KC_STOPPED)
            return status;
        const double factor = status != KC_OK ? MIN_FACTOR
                              : error == 0.0  ? MAX_FACTOR
                                              : SAFETY * pow(error, -1.0 / s->method->control);
        if (status != KC_OK || !(error < 1.0)) {
            stats->rejected++;
            /* too large a step may reach a singular state; only a tiny step proves that there is one */
            if (fmin(*h, length) <= smallest)
                return status != KC_OK ? status : s->jumps ? KC_JUMP : KC_STEP_SIZE;
            *h = length * fmax(MIN_FACTOR, factor);
            rejected = 1;
            continue;
        }
        /* a step cut by a knot or an event says little about the next one */
        const double proposed = length * fmin(rejected ? 1.0 : MAX_FACTOR, factor);
        *h = last || s->next != goal ? fmax(*h, proposed) : proposed;
        rejected = 0;
        const kc_status seen = kc_see_chatter(chatter, s, plan);
        if ((status = accept_step(s, plan, x)) != KC_OK || (status = seen) != KC_OK)
            return status;
        if (stalls(pace, stats, plan->t1, plan->events && plan->events->side))
            return KC_STALLED;
        if (plan->method->stiff)
            choose_method(s, plan);
    }
    return KC_OK;
}

kc_status kc_integrate(const kc_system *system, const kc_plan *plan, double *x, double *work, kc_stats *stats)
{
    const kc_method *m = plan->method;
    const uint32_t n = kc_n_x(system);
    double *const k = work, *const x1 = k + (uint32_t)m->extended * n, *const y = x1 + n,
                  *const slope = y + n;
    double *const dense = slope + n, *const own = dense + (uint32_t)m->n_dense * n,
                  *const rest = own + (m->rosenbrock ? kc_rosenbrock_work(system) : 0);
    kc_run run = kc_begin(system, kc_direction(plan->t0, plan->t1), rest, stats);
    kc_stride s = {&run, m, plan->t0, plan->t0, x, x1, k, y, dense, 0, 0.0, 0, 0, 0, own, plan};
    kc_chatter chatter = {0};
    kc_pace pace = {0, plan->t0, 0.0, 0};
    double h = plan->step;
    *stats = (kc_stats){.t = plan->t0};
    if (!m->error && !(h > 0.0 && h >= kc_smallest_step(plan->t0, plan->t1)))
        return KC_STEP_SIZE;
    if (plan->events)
        kc_forget_zeros(system, plan->events);
    while (stats->t != plan->t1) {
        const double end = kc_stretch(system->signal, plan->t0, stats->t, plan->t1, &run.interval);
        const kc_signal *const signal = system->signal;
        s.t = s.next = stats->t;
        if (signal->held && s.t != plan->t0 && signal->call(s.t, x, signal->held, signal->context))
            return KC_STOPPED;
        kc_status status = s.t != plan->t0 && system->project ? jump_with_inputs(&s, plan, x) : KC_OK;
        if (status == KC_OK)
            status = kc_evaluate(&run, s.t, x, k);
        if (status == KC_OK && plan->events && stats->accepted == 0)
            status = kc_begin_watch(&s, plan->events, 0.0);
        if (status == KC_OK && m->error && h == 0.0)
            status = first_step(&s, plan, slope, &h);
        if (status == KC_OK)
            status = m->error ? adaptive_steps(&s, plan, end, &h, x, &chatter, &pace)
                              : fixed_steps(&s, plan, end, x);
        if (status != KC_OK)
            return status;
    }
    return KC_OK;
}
