/* SPDX-License-Identifier: BSD-3-Clause */
/* The integrators from plain C: orders of convergence, knots, statuses, on systems with known solutions. */
#include "kc_ode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int failures = 0;

static void check(int holds, const char *what, double value)
{
    if (!holds) {
        printf("failed: %s (%.3e)\n", what, value);
        failures++;
    }
}

/* x'' = -w^2 x + r with w = c[0] */
static void oscillator(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)work;
    out[0] = x[1];
    out[1] = -c[0] * c[0] * x[0] + r[0];
}

/* singular at x < 0, infinite slope at x = 0 */
static void wall(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)r, (void)c;
    if (x[0] < 0.0) {
        work[0] = KC_SINGULAR;
        work[1] = 0.0;
    }
    out[0] = -1.0 + r[0];
}

/* singular after the time c[0] */
static void curtain(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)x, (void)r;
    if (t > c[0]) {
        work[0] = KC_SINGULAR;
        work[1] = 3.0;
    }
    out[0] = sin(3.0 * t);
}

/* a body that turns about its first axis at the rate c[0]: x = [twice the angle, e1, e0, e2, e3] */
static void spinner(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)r, (void)work;
    out[0] = 2.0 * c[0];
    out[1] = 0.5 * c[0] * x[2];
    out[2] = -0.5 * c[0] * x[1];
    out[3] = 0.5 * c[0] * x[4];
    out[4] = -0.5 * c[0] * x[3];
}

static const double one_knot[] = {0.0, 1.0}, nothing[] = {0.0, 0.0, 0.0, 0.0};
static const kc_signal silent = {1, 2, one_knot, nothing, NULL, NULL, NULL, 0.0};

typedef struct limits {
    double rtol;
    const double *atol;
    double first_step, max_step;
    uint64_t max_steps;
} limits;

static size_t work_of(const kc_system *system)
{
    return kc_ode_work(system, kc_find_method("dop853"));
}

static kc_status adaptive_run(const char *method, const kc_system *system, double t0, double t1, double *x,
                              const limits *o, kc_accept *accept, void *context, double *work,
                              kc_stats *stats)
{
    const kc_plan plan = {.method = kc_find_method(method),
                          .t0 = t0,
                          .t1 = t1,
                          .step = o->first_step,
                          .rtol = o->rtol,
                          .atol = o->atol,
                          .max_step = o->max_step,
                          .max_steps = o->max_steps,
                          .accept = accept,
                          .context = context};
    return kc_integrate(system, &plan, x, work, stats);
}

static kc_status dop853(const kc_system *system, double t0, double t1, double *x, const limits *o,
                        kc_accept *accept, void *context, double *work, kc_stats *stats)
{
    return adaptive_run("dop853", system, t0, t1, x, o, accept, context, work, stats);
}

static kc_status fixed_run(const char *method, const kc_system *system, double t0, double t1, double h,
                           double *x, kc_accept *accept, void *context, double *work, kc_stats *stats)
{
    const kc_plan plan = {.method = kc_find_method(method),
                          .t0 = t0,
                          .t1 = t1,
                          .step = h,
                          .accept = accept,
                          .context = context};
    return kc_integrate(system, &plan, x, work, stats);
}

static kc_status rk4(const kc_system *system, double t0, double t1, double h, double *x, kc_accept *accept,
                     void *context, double *work, kc_stats *stats)
{
    return fixed_run("rk4", system, t0, t1, h, x, accept, context, work, stats);
}

static void oscillator_qdot(double t, const double *x, const double *r, const double *c, double *work,
                            double *out)
{
    (void)t, (void)r, (void)c, (void)work;
    out[0] = x[1];
}

static double error_at_end(const char *method, double step, double t0, double t1, uint64_t *evaluations)
{
    const double w = 1.3, atol[] = {step, step};
    double x[] = {cos(w * t0), -w * sin(w * t0)};
    const kc_system system = {.rhs = oscillator,
                              .qdot = oscillator_qdot,
                              .n_q = 1,
                              .n_u = 1,
                              .n_work = 2,
                              .c = &w,
                              .signal = &silent};
    const limits options = {step, atol, 0.0, fabs(t1 - t0), 0};
    double *work = malloc(sizeof(double) * work_of(&system));
    kc_stats stats;
    const kc_status status =
        kc_is_adaptive(kc_find_method(method))
            ? adaptive_run(method, &system, t0, t1, x, &options, NULL, NULL, work, &stats)
            : fixed_run(method, &system, t0, t1, step, x, NULL, NULL, work, &stats);
    free(work);
    check(status == KC_OK, "status", status);
    check(stats.t == t1, "ends on t1 exactly", stats.t - t1);
    if (evaluations)
        *evaluations = stats.evaluations;
    return fabs(x[0] - cos(w * t1)) + fabs(x[1] + w * sin(w * t1));
}

static int dense_error(const kc_step *step, void *context)
{
    double x[2], *worst = context;
    for (int i = 0; i <= 10; i++) {
        const double theta = i / 10.0, t = step->t + theta * step->h;
        kc_interpolate(step, theta, x, NULL);
        const double e = fabs(x[0] - cos(1.3 * t)) + fabs(x[1] + 1.3 * sin(1.3 * t));
        if (e > *worst)
            *worst = e;
    }
    return 0;
}

static int stop_at_third(const kc_step *step, void *context)
{
    (void)step;
    return ++*(int *)context == 3;
}

static void orders(void)
{
    double previous = error_at_end("rk4", 0.1, 0.0, 4.0, NULL);
    for (double h = 0.05; h > 0.005; h /= 2.0) {
        const double error = error_at_end("rk4", h, 0.0, 4.0, NULL), order = log2(previous / error);
        check(fabs(order - 4.0) < 0.1, "order of rk4", order);
        previous = error;
    }
    check(error_at_end("rk4", 0.01, 4.0, -1.0, NULL) < 1e-7, "rk4 backwards", 0.0);
    check(error_at_end("rk4", 0.3, 0.0, 1.0, NULL) < 1e-2, "rk4 with a shorter last step", 0.0);
    check(error_at_end("rk4", 0.1, 0.0, 1e-12, NULL) < 1e-15, "rk4 over far less than a step", 0.0);
    uint64_t coarse, fine;
    const double loose = error_at_end("dop853", 1e-6, 0.0, 20.0, &coarse);
    const double tight = error_at_end("dop853", 1e-12, 0.0, 20.0, &fine);
    check(loose < 1e-4 && tight < 1e-10, "dop853 keeps its tolerance", tight);
    /* 10^6 times the accuracy for about 10^(6/8) = 5.6 times the work */
    check((double)fine / (double)coarse < 9.0, "dop853 is of high order", (double)fine / (double)coarse);
    check(error_at_end("dop853", 1e-12, 5.0, -5.0, NULL) < 1e-10, "dop853 backwards", 0.0);
    check(error_at_end("dopri5", 1e-6, 0.0, 20.0, &coarse) < 1e-4, "dopri5 keeps its tolerance", 0.0);
    check(error_at_end("dopri5", 1e-11, 5.0, -5.0, &fine) < 1e-9, "dopri5 backwards", 0.0);
    /* ten^5 times the accuracy for ten times the work, over half the span */
    check((double)fine / (double)coarse > 3.0 && (double)fine / (double)coarse < 7.0, "dopri5 is of order 5",
          (double)fine / (double)coarse);
    previous = error_at_end("euler", 0.01, 0.0, 4.0, NULL);
    for (double h = 0.005; h > 0.0005; h /= 2.0) {
        const double error = error_at_end("euler", h, 0.0, 4.0, NULL), order = log2(previous / error);
        check(fabs(order - 1.0) < 0.05, "order of euler", order);
        previous = error;
    }
    check(kc_find_method("heun") == NULL, "no such method", 0.0);
    check(error_at_end("dop853", 1e-12, 1.0, 1.0, NULL) < 1e-15, "no time to integrate", 0.0);
}

static void dense(void)
{
    const double w = 1.3, atol[] = {1e-10, 1e-10};
    const kc_system system = {.rhs = oscillator, .n_q = 1, .n_u = 1, .n_work = 2, .c = &w, .signal = &silent};
    const limits options = {1e-10, atol, 0.0, 10.0, 0};
    double work[200], x[] = {1.0, 0.0}, worst = 0.0;
    kc_stats stats;
    check(work_of(&system) <= 200, "work", (double)work_of(&system));
    dop853(&system, 0.0, 10.0, x, &options, dense_error, &worst, work, &stats);
    check(worst < 1e-8, "interpolant of dop853", worst);
    x[0] = 1.0, x[1] = 0.0, worst = 0.0;
    adaptive_run("dopri5", &system, 0.0, 10.0, x, &options, dense_error, &worst, work, &stats);
    check(worst < 1e-7, "interpolant of dopri5", worst);
    x[0] = 1.0, x[1] = 0.0, worst = 0.0;
    rk4(&system, 0.0, 10.0, 0.01, x, dense_error, &worst, work, &stats);
    check(worst < 1e-7, "interpolant of rk4", worst);
    int steps = 0;
    x[0] = 1.0, x[1] = 0.0;
    const kc_status status = rk4(&system, 0.0, 10.0, 0.01, x, stop_at_third, &steps, work, &stats);
    check(status == KC_STOPPED && stats.accepted == 3, "stop", (double)stats.accepted);
}

/* a force that jumps at 0.7 and 1.9, off the steps: both methods must end on the knots */
static void knots(void)
{
    const double knot[] = {0.0, 0.7, 1.9, 3.0}, w = 0.0, atol[] = {1e-12, 1e-12};
    const double held[] = {0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0};
    const kc_signal signal = {1, 4, knot, held, NULL, NULL, NULL, 0.0};
    const kc_system system = {.rhs = oscillator, .n_q = 1, .n_u = 1, .n_work = 2, .c = &w, .signal = &signal};
    const limits options = {1e-12, atol, 0.0, 3.0, 0};
    const double speed = 2.0 * 1.2 - 1.0 * 1.1;
    double work[200], x[] = {0.0, 0.0};
    kc_stats stats;
    rk4(&system, 0.0, 3.0, 0.25, x, NULL, NULL, work, &stats);
    check(fabs(x[1] - speed) < 1e-14, "rk4 over held inputs", x[1] - speed);
    x[0] = x[1] = 0.0;
    dop853(&system, 0.0, 3.0, x, &options, NULL, NULL, work, &stats);
    check(fabs(x[1] - speed) < 1e-14, "dop853 over held inputs", x[1] - speed);
    dop853(&system, 3.0, 0.0, x, &options, NULL, NULL, work, &stats);
    check(fabs(x[0]) + fabs(x[1]) < 1e-13, "and back", fabs(x[0]) + fabs(x[1]));
    double r;
    kc_signal_at(&signal, kc_signal_interval(&signal, 0.7), 0.7, &r);
    check(r == 2.0, "a knot begins its interval", r);
}

static void failing(void)
{
    const double w = 0.0, atol[] = {1e-8};
    const kc_system system = {.rhs = wall, .n_q = 1, .n_work = 2, .c = &w, .signal = &silent};
    const limits options = {1e-8, atol, 0.0, 5.0, 0}, few = {1e-8, atol, 1e-3, 1e-3, 7};
    double work[200], x[] = {1.0};
    kc_stats stats;
    kc_status status = dop853(&system, 0.0, 5.0, x, &options, NULL, NULL, work, &stats);
    check(status == KC_SINGULAR && fabs(stats.t - 1.0) < 1e-6, "dop853 walks up to a singular state",
          stats.t);
    x[0] = 1.0;
    status = rk4(&system, 0.0, 5.0, 0.01, x, NULL, NULL, work, &stats);
    check(status == KC_SINGULAR && fabs(stats.t - 1.0) < 0.02, "rk4 stops before it", stats.t);
    x[0] = 1.0;
    status = dop853(&system, 0.0, 5.0, x, &few, NULL, NULL, work, &stats);
    check(status == KC_MAX_STEPS && stats.accepted + stats.rejected == 7, "max_steps",
          (double)stats.accepted);
}

/* However close to a power of two a singularity lies, where rounding doubles: it is found, and named. */
static void rounding(void)
{
    const double atol[] = {1e-8};
    for (int i = -12; i <= 12; i++) {
        const double end = 1.0 + i * 0x1p-53;
        const kc_system system = {.rhs = curtain, .n_q = 1, .n_work = 2, .c = &end, .signal = &silent};
        for (int j = 0; j < 20; j++) {
            const limits options = {1e-8 * (1.0 + 0.1 * j), atol, 0.0, 5.0, 100000};
            double work[200], x[] = {0.3};
            kc_stats stats;
            const kc_status status =
                dop853(&system, 0.1 + 0.01 * j, 5.0, x, &options, NULL, NULL, work, &stats);
            check(status == KC_SINGULAR && stats.number == 3, "a singularity near 1", (double)status);
            check(fabs(stats.t - end) < 1e-14, "reached as far as rounding allows", stats.t - end);
        }
    }
}

static const uint32_t unit[] = {2, 1, 3, 4};

/* e lies on the unit sphere, and as near to the solution as *context, at the end of a step and within */
static int measure(const kc_step *step, void *context)
{
    const double *tolerance = context;
    for (int i = -1; i <= 10; i++) {
        const double theta = i < 0 ? 1.0 : i / 10.0, half = 0.5 * 0.9 * (step->t + theta * step->h);
        double x[5];
        kc_interpolate(step, theta, x, NULL);
        const double *e = i < 0 ? step->x1 : x;
        const double norm = sqrt(e[1] * e[1] + e[2] * e[2] + e[3] * e[3] + e[4] * e[4]);
        const double error = fabs(e[1] - sin(half)) + fabs(e[2] - cos(half));
        check(fabs(norm - 1.0) < 1e-15, "norm of a quaternion", norm - 1.0);
        check(error < *tolerance, "error of a quaternion", error);
    }
    return 0;
}

static void spheres(void)
{
    const double w = 0.9, atol[] = {1e-9, 1e-9, 1e-9, 1e-9, 1e-9};
    const kc_system system = {
        .rhs = spinner, .n_q = 5, .n_work = 2, .c = &w, .signal = &silent, .n_unit = 1, .unit = unit};
    const limits options = {1e-9, atol, 0.0, 100.0, 0};
    double work[200], x[] = {0.0, 0.0, 1.0, 0.0, 0.0}, tolerance = 1e-7;
    kc_stats stats;
    check(work_of(&system) <= 200, "work", (double)work_of(&system));
    kc_status status = dop853(&system, 0.0, 100.0, x, &options, measure, &tolerance, work, &stats);
    check(status == KC_OK, "dop853 of a quaternion", status);
    check(fabs(x[0] - 180.0) < 1e-11, "the other component is left alone", x[0] - 180.0);
    x[0] = x[1] = 0.0, x[2] = 1.0, tolerance = 1e-6;
    status = rk4(&system, 0.0, 100.0, 0.05, x, measure, &tolerance, work, &stats);
    check(status == KC_OK, "rk4 of a quaternion", status);
    check(fabs(x[0] - 180.0) < 1e-11, "the other component is left alone", x[0] - 180.0);
}

/* A quaternion without a direction is an error of both methods, and of no consequence to others. */
static void collapsed(void)
{
    const double w = 0.9, atol[] = {1e-9, 1e-9, 1e-9, 1e-9, 1e-9};
    const kc_system system = {
        .rhs = spinner, .n_q = 5, .n_work = 2, .c = &w, .signal = &silent, .n_unit = 1, .unit = unit};
    const limits options = {1e-9, atol, 1.0, 1.0, 0};
    const uint32_t two[] = {2, 1, 3, 4, 5, 6, 7, 8};
    double work[200], x[] = {0.0, 0.0, 0.0, 0.0, 0.0};
    kc_stats stats;
    kc_status status = dop853(&system, 0.0, 1.0, x, &options, NULL, NULL, work, &stats);
    check(status == KC_NONFINITE && stats.accepted == 0, "dop853 without a direction", status);
    status = rk4(&system, 0.0, 1.0, 0.1, x, NULL, NULL, work, &stats);
    check(status == KC_NONFINITE && stats.accepted == 0, "rk4 without a direction", status);
    double many[] = {7.0, 0.0, 3.0, 4.0, 0.0, 1e200, 0.0, 0.0, 0.0};
    check(kc_normalize(2, two, many) == KC_NONFINITE, "a norm that overflows", many[5]);
    check(many[0] == 7.0 && many[2] == 0.6 && many[3] == 0.8 && many[5] == 1e200, "one at a time", many[2]);
    check(kc_normalize(0, NULL, many) == KC_OK, "no quaternion", 0.0);
}

/* a particle held on a circle about the origin: x = [x, y, u, v] */
static void circle(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)r, (void)c, (void)work;
    const double pull = (x[2] * x[2] + x[3] * x[3]) / (x[0] * x[0] + x[1] * x[1]);
    out[0] = x[2];
    out[1] = x[3];
    out[2] = -pull * x[0];
    out[3] = -pull * x[1];
}

/* the nearest state with x^2 + y^2 = 1 and x u + y v = 0; none after the time c[0] */
static void circle_project(double t, const double *x, const double *r, const double *c, double *work,
                           double *out)
{
    (void)r;
    if (t > c[0]) {
        work[0] = KC_UNSATISFIED_ROW;
        work[1] = 1.0;
    }
    const double norm = sqrt(x[0] * x[0] + x[1] * x[1]), ex = x[0] / norm, ey = x[1] / norm;
    const double along = ex * x[2] + ey * x[3];
    out[0] = ex, out[1] = ey, out[2] = x[2] - along * ex, out[3] = x[3] - along * ey;
}

/* [a, b] with ex a = -(ex u + ey v), ex b = -(x^2 + y^2 - 1) / 2 */
static void circle_stabilization(double t, const double *x, const double *r, const double *c, double *work,
                                 double *out)
{
    (void)t, (void)r, (void)c, (void)work;
    const double square = x[0] * x[0] + x[1] * x[1];
    const double rate = (x[0] * x[2] + x[1] * x[3]) / square, gap = 0.5 * (square - 1.0) / square;
    out[0] = -rate * x[0], out[1] = -rate * x[1], out[2] = -gap * x[0], out[3] = -gap * x[1];
}

static double off_circle;

static double off(const double *x)
{
    return fmax(fabs(x[0] * x[0] + x[1] * x[1] - 1.0), fabs(x[0] * x[2] + x[1] * x[3]));
}

static int watch_circle(const kc_step *step, void *context)
{
    off_circle = fmax(off_circle, off(step->x1));
    for (double theta = 0.0; theta <= 1.0; theta += 0.25) {
        double x[4];
        check(kc_interpolate(step, theta, x, context) == KC_OK, "interpolant on the circle", theta);
        off_circle = fmax(off_circle, off(x));
    }
    return 0;
}

static void run_circle(kc_system *system, int adaptive, double *x, kc_status expected, kc_stats *stats)
{
    const double atol[4] = {1e-6, 1e-6, 1e-6, 1e-6};
    const limits options = {.rtol = 1e-6, .atol = atol, .max_step = 3.0};
    double *work = malloc(2 * sizeof(double) * work_of(system)), *const spare = work + work_of(system);
    off_circle = 0.0;
    const kc_status status = adaptive
                                 ? dop853(system, 0.0, 3.0, x, &options, watch_circle, spare, work, stats)
                                 : rk4(system, 0.0, 3.0, 0.02, x, watch_circle, spare, work, stats);
    check(status == expected, "status on the circle", status);
    free(work);
}

/* Both methods stop when asked, also where no step is accepted and nobody looks at the steps. */
static int impatient(void *context)
{
    return ++*(int *)context == 3;
}

static void interrupted(void)
{
    const double w = 1.3, atol[] = {1e-10, 1e-10};
    int asked = 0;
    kc_system system = {.rhs = oscillator, .n_q = 1, .n_u = 1, .n_work = 2, .c = &w, .signal = &silent};
    system.interrupted = impatient, system.context = &asked;
    const limits options = {1e-10, atol, 0.0, 1e-4, 0};
    double work[200], x[] = {1.0, 0.0};
    kc_stats stats;
    kc_status status = rk4(&system, 0.0, 1e6, 1e-3, x, NULL, NULL, work, &stats);
    check(status == KC_STOPPED && stats.evaluations == 3 * KC_PATIENCE, "rk4 interrupted", status);
    asked = 0;
    status = dop853(&system, 0.0, 1e6, x, &options, NULL, NULL, work, &stats);
    check(status == KC_STOPPED && stats.evaluations == 3 * KC_PATIENCE, "dop853 interrupted", status);
    /* every step that is tried fails */
    const kc_system hopeless = {.rhs = curtain,
                                .n_q = 1,
                                .n_work = 2,
                                .c = (double[]){0.0},
                                .signal = &silent,
                                .interrupted = impatient,
                                .context = &asked};
    asked = 2 - KC_PATIENCE;
    status = dop853(&hopeless, 0.0, 1.0, x, &options, NULL, NULL, work, &stats);
    check(status == KC_SINGULAR && stats.accepted == 0, "no step at all", status);
}

/* Steps that are lost in t are refused by one method, and lengthened by the other. */
static void tiny_steps(void)
{
    const double w = 1.3, atol[] = {1e-10, 1e-10};
    const kc_system system = {.rhs = oscillator, .n_q = 1, .n_u = 1, .n_work = 2, .c = &w, .signal = &silent};
    double work[200], x[] = {1.0, 0.0};
    kc_stats stats;
    const double spans[][2] = {{0.0, 1.0}, {1e6, 1e6 + 1.0}, {1.0, 0.0}, {-3.0, 2.0}, {1e-9, 0.0}};
    for (int i = 0; i < 5; i++) {
        const double a = spans[i][0], b = spans[i][1], least = kc_smallest_step(a, b);
        const double bad[] = {0.0, -1.0, NAN, 1e-300, 5e-324, 0.99 * least};
        for (int j = 0; j < 6; j++) {
            const kc_status status = rk4(&system, a, b, bad[j], x, NULL, NULL, work, &stats);
            check(status == KC_STEP_SIZE && stats.t == a && !stats.evaluations, "a tiny step", bad[j]);
        }
        const double end = a + (b > a ? 100.0 : -100.0) * least;
        kc_status status = rk4(&system, a, end, least, x, NULL, NULL, work, &stats);
        check(status == KC_OK && stats.t == end && stats.accepted >= 99, "the smallest step", stats.t);
        const limits options = {1e-10, atol, 1e-300, a == 0.0 ? least : 1e-300, 0};
        status = dop853(&system, a, end, x, &options, NULL, NULL, work, &stats);
        check(status == KC_OK && stats.t == end, "a tiny max_step", stats.t);
    }
}

/* The same steps, whatever the unit of time: chosen at a state that moves, rests, or is zero. */
static uint64_t count_in_unit(double unit, double position, double speed, double span)
{
    const double w = 1.3 / unit, force[] = {0.5 / unit / unit, 0.0, 0.0, 0.0};
    const double atol[] = {1e-8, 1e-8 / unit}, knots[] = {0.0, 1.0};
    const kc_signal signal = {1, 2, knots, force, NULL, NULL, NULL, 0.0};
    const kc_system system = {.rhs = oscillator, .n_q = 1, .n_u = 1, .n_work = 2, .c = &w, .signal = &signal};
    const limits options = {1e-8, atol, 0.0, INFINITY, 0};
    double work[200], x[] = {position, speed / unit};
    kc_stats stats;
    const kc_status status = dop853(&system, 0.0, span * unit, x, &options, NULL, NULL, work, &stats);
    check(status == KC_OK, "status in a unit", status);
    return stats.evaluations;
}

static void units(void)
{
    const double starts[][2] = {{1.0, 0.0}, {0.0, 0.0}, {0.0, 1.0}, {0.5 / 1.69, 0.0}};
    for (int i = 0; i < 4; i++)
        for (double span = -5.0; span < 6.0; span += 10.0) {
            const uint64_t seconds = count_in_unit(1.0, starts[i][0], starts[i][1], span);
            check(count_in_unit(0x1p-30, starts[i][0], starts[i][1], span) == seconds, "nanoseconds", span);
            check(count_in_unit(0x1p30, starts[i][0], starts[i][1], span) == seconds, "decades", span);
        }
}

static void constrained(void)
{
    for (int adaptive = 0; adaptive < 2; adaptive++) {
        const double late = 10.0, soon = 1.0;
        kc_stats stats;
        kc_system system = {.rhs = circle, .n_q = 2, .n_u = 2, .n_work = 2, .c = &late, .signal = &silent};
        double x[4] = {1.0, 0.0, 0.0, 2.0};
        run_circle(&system, adaptive, x, KC_OK, &stats);
        check(off_circle > 1e-10, "without projection there is a drift", off_circle);

        system.project = circle_project;
        double y[4] = {1.0, 0.0, 0.0, 2.0};
        run_circle(&system, adaptive, y, KC_OK, &stats);
        check(off_circle < 1e-14, "steps and interpolants are on the circle", off_circle);
        check(fabs(y[0] - cos(6.0)) < 1e-5 && fabs(y[3] - 2.0 * cos(6.0)) < 1e-5, "motion on the circle",
              y[0]);

        system.c = &soon;
        double z[4] = {1.0, 0.0, 0.0, 2.0};
        run_circle(&system, adaptive, z, KC_UNSATISFIED_ROW, &stats);
        check(stats.number == 1, "the row that could not be satisfied", stats.number);
        check(stats.t <= 1.0 && stats.t > 0.97, "where that was", stats.t);

        /* a gap of 1e-3 shrinks as (1 + alpha t) exp(-alpha t) */
        system = (kc_system){.rhs = circle,
                             .n_q = 2,
                             .n_u = 2,
                             .n_work = 2,
                             .c = &late,
                             .signal = &silent,
                             .stabilization = circle_stabilization,
                             .alpha = 5.0,
                             .beta = 5.0};
        double v[4] = {1.0 + 1e-3, 0.0, 0.0, 2.0};
        run_circle(&system, adaptive, v, KC_OK, &stats);
        check(off(v) < 1e-5, "stabilization leads back", off(v));

        /* and does so backwards in time */
        const double atol[4] = {1e-8, 1e-8, 1e-8, 1e-8};
        const limits options = {.rtol = 1e-8, .atol = atol, .max_step = 3.0};
        double *work = malloc(sizeof(double) * work_of(&system));
        double back[4] = {1.0 + 1e-3, 0.0, 0.0, 2.0};
        const kc_status status = adaptive
                                     ? dop853(&system, 3.0, 0.0, back, &options, NULL, NULL, work, &stats)
                                     : rk4(&system, 3.0, 0.0, 0.02, back, NULL, NULL, work, &stats);
        check(status == KC_OK && off(back) < 1e-5, "stabilization leads back, backwards", off(back));
        free(work);
    }
}

/* ------------------------------------------------------------------------------------------------- events */

typedef struct heard {
    int n, end_after;
    double t[8], x[8];
} heard;

static int ground(double t, const double *x, const double *r, double *g, void *context)
{
    (void)t, (void)r, (void)context;
    g[0] = x[0];
    g[1] = x[0] - 1.25 + 1e-6;
    return 0;
}

static int bounce(uint32_t i, double t, double *x, void *context)
{
    heard *h = context;
    if (i == 1) {
        h->t[4 + h->n % 4] = t;
        return KC_GO_ON;
    }
    h->t[h->n] = t, h->x[h->n] = x[0];
    x[1] = -0.5 * x[1];
    return ++h->n == h->end_after ? KC_END : KC_CHANGED;
}

static void falls(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)r, (void)work;
    out[0] = x[1];
    out[1] = -c[0];
}

/* A ball from the height 5 with g = 10 meets the ground at 1, at 2, at 2.5; it is highest, 1.25, at 1.5. */
static void events(void)
{
    static const int direction[] = {-1, 0}, stops[] = {1, 0};
    const double g = 10.0, atol[] = {1e-9, 1e-9};
    const kc_system system = {.rhs = falls, .n_q = 1, .n_u = 1, .n_work = 2, .c = &g, .signal = &silent};
    static const char *const names[] = {"dopri5", "dop853", "rk4"};
    for (int k = 0; k < 3; k++) {
        heard h = {.end_after = 3};
        double x[] = {5.0, 0.0}, *work = malloc(sizeof(double) * work_of(&system)),
               *room = malloc(sizeof(double) * kc_events_work(&system, 2));
        const kc_events found = {2, ground, direction, stops, bounce, &h, room, NULL};
        const kc_plan plan = {.method = kc_find_method(names[k]),
                              .t1 = 9.0,
                              .step = k < 2 ? 0.0 : 0.3,
                              .rtol = 1e-9,
                              .atol = atol,
                              .max_step = 9.0,
                              .events = &found};
        kc_stats stats;
        const kc_status status = kc_integrate(&system, &plan, x, work, &stats);
        check(status == KC_STOPPED && h.n == 3, "an event ends the run", h.n);
        check(fabs(h.t[0] - 1.0) < 1e-12 && fabs(h.t[1] - 2.0) < 1e-12 && fabs(h.t[2] - 2.5) < 1e-12,
              "times of events", h.t[2]);
        check(fabs(h.t[5] - 1.5) < 1e-3 && h.t[5] > 1.5, "two zeros in a step", h.t[5] - 1.5);
        check(fabs(x[0]) < 1e-12 && fabs(x[1] - 1.25) < 1e-9 && stats.t == h.t[2], "the last reset", x[1]);
        free(room);
        free(work);
    }
}

/*
 * x = T y with y_i' = -lambda_i (y_i - r0(t)) + r1(t), r1 = r0' a parabola: y_i = r0, however stiff it is. No
 * entry of the matrix stands alone in its row or column, and the rows have other units.
 */
static const double stiff_rates[] = {1.0, 1e5, 3e8},
                    to_x[3][3] = {{1.0, 2.0, 0.0}, {0.0, 1e6, 3e6}, {1e-6, 0.0, 1e-6}},
                    from_x[3][3] = {{1.0 / 7.0, -2e-6 / 7.0, 6e6 / 7.0},
                                    {3.0 / 7.0, 1e-6 / 7.0, -3e6 / 7.0},
                                    {-1.0 / 7.0, 2e-6 / 7.0, 1e6 / 7.0}};

static void stiff_linearize(double t, const double *x, const double *r, const double *c, double *work,
                            double *out)
{
    (void)t, (void)x, (void)r, (void)c, (void)work;
    for (int i = 0; i < 3; i++) {
        double *row = out + 5 * i;
        for (int j = 0; j < 5; j++)
            row[j] = 0.0;
        for (int k = 0; k < 3; k++) {
            for (int j = 0; j < 3; j++)
                row[j] -= to_x[i][k] * stiff_rates[k] * from_x[k][j];
            row[3] += to_x[i][k] * stiff_rates[k];
            row[4] += to_x[i][k];
        }
    }
}

static void stiff_rhs(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    double y[3];
    for (int k = 0; k < 3; k++) {
        y[k] = from_x[k][0] * x[0] + from_x[k][1] * x[1] + from_x[k][2] * x[2];
        y[k] = -stiff_rates[k] * (y[k] - r[0]) + r[1];
    }
    (void)t, (void)c, (void)work;
    for (int i = 0; i < 3; i++)
        out[i] = to_x[i][0] * y[0] + to_x[i][1] * y[1] + to_x[i][2] * y[2];
}

static void no_rate(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)x, (void)r, (void)c, (void)work;
    out[0] = out[1] = out[2] = 0.0;
}

static void stiff(void)
{
    const double knots[] = {0.0, 1.0}, cubics[] = {1.0, 2.0, -1.0, 0.5, 2.0, -2.0, 1.5, 0.0};
    const kc_signal signal = {2, 2, knots, cubics, NULL, NULL, NULL, 0.0};
    const kc_system system = {.rhs = stiff_rhs,
                              .n_q = 3,
                              .n_work = 2,
                              .signal = &signal,
                              .linearize = stiff_linearize,
                              .rhs_time_derivative = no_rate};
    const double atol[] = {1e-8, 1e-2, 1e-14}, end = 1.0 + 4.0 - 4.0 + 4.0;
    const limits options = {1e-8, atol, 0.0, INFINITY, 0};
    const char *const names[] = {"rosenbrock", "rosenbrock_w"};
    for (int i = 0; i < 2; i++) {
        double *work = malloc(sizeof(double) * kc_ode_work(&system, kc_find_method(names[i])));
        double x[3];
        kc_stats stats;
        for (int j = 0; j < 3; j++)
            x[j] = to_x[j][0] + to_x[j][1] + to_x[j][2];
        const kc_status status =
            adaptive_run(names[i], &system, 0.0, 2.0, x, &options, NULL, NULL, work, &stats);
        free(work);
        check(status == KC_OK, "status of a stiff run", status);
        for (int j = 0; j < 3; j++) {
            const double exact = end * (to_x[j][0] + to_x[j][1] + to_x[j][2]);
            check(fabs(x[j] / exact - 1.0) < 3e-7, "a stiff run", x[j] / exact - 1.0);
        }
        check(stats.accepted < 3000, "few steps", (double)stats.accepted);
        check(stats.jacobians == stats.accepted, "one matrix of derivatives a state",
              (double)stats.jacobians);
        check(stats.factorizations == stats.accepted + stats.rejected, "one factorization a try",
              (double)stats.factorizations);
    }
}

int main(void)
{
    events();
    orders();
    dense();
    knots();
    failing();
    rounding();
    spheres();
    collapsed();
    interrupted();
    tiny_steps();
    units();
    constrained();
    stiff();
    printf(failures ? "%d checks failed\n" : "all checks passed\n", failures);
    return failures != 0;
}
