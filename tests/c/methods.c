/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every row of kc_methods, one line of JSON each: its numbers, its tableau, and its errors on a driven
 * pendulum whose solution is known.  tests/test_ode.py judges them.
 *
 * The angle is sin t and its rate u = cos t; the coordinate is q = 2 tan(angle / 2), so that the equation of
 * q is no simpler than that of u: both are nonlinear, and one depends on time.
 */
#include "kc_rosenbrock.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 2, HALVINGS = 12, ROOM = 64 };

static void qdot(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)r, (void)c, (void)work;
    out[0] = x[1] * (1.0 + 0.25 * x[0] * x[0]);
}

static void rhs(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    qdot(t, x, r, c, work, out);
    out[1] = sin(sin(t)) - sin(t) - x[0] / (1.0 + 0.25 * x[0] * x[0]);
}

/* [df/dx, df/dr] */
static void linearize(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    const double s = 1.0 + 0.25 * x[0] * x[0];
    (void)t, (void)r, (void)c, (void)work;
    out[0] = 0.5 * x[0] * x[1], out[1] = s, out[2] = 0.0;
    out[3] = (0.25 * x[0] * x[0] - 1.0) / (s * s), out[4] = 0.0, out[5] = 0.0;
}

static void rhs_time_derivative(double t, const double *x, const double *r, const double *c, double *work,
                                double *out)
{
    (void)x, (void)r, (void)c, (void)work;
    out[0] = 0.0;
    out[1] = cos(sin(t)) * cos(t) - cos(t);
}

static void solution(double t, double *x)
{
    x[0] = 2.0 * tan(0.5 * sin(t));
    x[1] = cos(t);
}

static double distance(const double *x, const double *y)
{
    return fmax(fabs(x[0] - y[0]), fabs(x[1] - y[1]));
}

static const double knots[] = {0.0, 1.0}, nothing[4] = {0.0}, one[N] = {1.0, 1.0};
static const kc_signal silent = {.n_r = 1, .n_knots = 2, .knots = knots, .coefficients = nothing};
static const kc_system pendulum = {.rhs = rhs,
                                   .qdot = qdot,
                                   .n_q = 1,
                                   .n_u = 1,
                                   .n_work = 2,
                                   .signal = &silent,
                                   .linearize = linearize,
                                   .rhs_time_derivative = rhs_time_derivative};

static void must(kc_status status)
{
    if (status != KC_OK) {
        fprintf(stderr, "status %d\n", (int)status);
        exit(1);
    }
}

/* A step of a method and its memory, of which nothing is shared with other steps. */
typedef struct trial {
    kc_stats stats;
    kc_run run;
    kc_stride stride;
    double x[N], x1[N], y[N], k[ROOM * N], dense[ROOM * N], work[ROOM], own[ROOM];
} trial;

/* What stands after the memory of a method, where none may write. */
static const double GUARD = 12345.0;

static int overrun(const trial *s, const kc_method *m)
{
    return s->k[m->extended * N] != GUARD || s->dense[m->n_dense * N] != GUARD;
}

/* From x at t, with the slope at its end. */
static void step(trial *s, const kc_method *m, double t, double h)
{
    s->stats = (kc_stats){.t = t};
    s->run = kc_begin(&pendulum, 1.0, s->work, &s->stats);
    s->stride =
        (kc_stride){&s->run, m, t, t + h, s->x, s->x1, s->k, s->y, s->dense, 0, 0.0, 0, 0, 0, s->own, NULL};
    s->k[m->extended * N] = s->dense[m->n_dense * N] = GUARD;
    must(kc_evaluate(&s->run, t, s->x, s->k));
    must(m->step(&s->stride));
    must(kc_evaluate(&s->run, t + h, s->x1, s->k + m->stages * N));
}

/* The largest error of a run with steps of one length. */
static double global_error(const kc_method *m, double length)
{
    const double span = 4.0;
    double worst = 0.0, exact[N];
    trial s;
    solution(0.0, s.x);
    for (int i = 0; i < (int)(span / length); i++) {
        step(&s, m, i * length, length);
        memcpy(s.x, s.x1, sizeof s.x);
        solution((i + 1) * length, exact);
        worst = fmax(worst, distance(s.x, exact));
    }
    return worst;
}

/* One step that begins on the solution. */
typedef struct first {
    double inside; /* error of the interpolant */
    double ends;   /* its distance from both ends of the step */
    double estimate;
    int overrun;
} first;

static first first_step(const kc_method *m, double h)
{
    const double t = 0.3;
    const kc_plan absolute = {.method = m, .atol = one};
    first f = {0.0, 0.0, 0.0, 0};
    double x[N], exact[N];
    trial s;
    solution(t, s.x);
    step(&s, m, t, h);
    if (m->error)
        f.estimate = m->error(&s.stride, &absolute);
    must(m->dense(&s.stride));
    f.overrun = overrun(&s, m);
    const kc_step whole = {t, h, t + h, s.x, s.x1, s.dense, m, &pendulum};
    for (int i = 1; i < 10; i++) {
        m->interpolate(&whole, 0.1 * i, x);
        solution(t + 0.1 * i * h, exact);
        f.inside = fmax(f.inside, distance(x, exact));
    }
    m->interpolate(&whole, 0.0, x);
    f.ends = distance(x, s.x);
    m->interpolate(&whole, 1.0, x);
    f.ends = fmax(f.ends, distance(x, s.x1));
    return f;
}

/* The error at the end of a run that keeps a tolerance. */
static double controlled_error(const kc_method *m, double tolerance)
{
    const double atol[N] = {tolerance, tolerance};
    const kc_plan plan = {.method = m, .t1 = 4.0, .rtol = tolerance, .atol = atol, .max_step = 4.0};
    double x[N], exact[N], *work = malloc(sizeof(double) * kc_ode_work(&pendulum, m));
    kc_stats stats;
    solution(0.0, x);
    must(kc_integrate(&pendulum, &plan, x, work, &stats));
    free(work);
    solution(4.0, exact);
    return distance(x, exact);
}

static void numbers(const char *name, const double *values, int count)
{
    printf(", \"%s\": [", name);
    for (int i = 0; i < count; i++)
        printf("%s%.17g", i ? ", " : "", values[i]);
    printf("]");
}

static void row(const kc_method *m)
{
    double global[HALVINGS], inside[HALVINGS], ends[HALVINGS], estimates[HALVINGS], controlled[4];
    int overruns = 0;
    if (m->extended >= ROOM || m->n_dense >= ROOM || kc_rosenbrock_work(&pendulum) > ROOM)
        must(KC_STOPPED);
    for (int i = 0; i < HALVINGS; i++) {
        const double h = ldexp(1.0, -i);
        const first f = first_step(m, h);
        global[i] = global_error(m, h);
        inside[i] = f.inside, ends[i] = f.ends, estimates[i] = f.estimate;
        overruns |= f.overrun;
    }
    for (int i = 0; m->error && i < 4; i++)
        controlled[i] = controlled_error(m, pow(10.0, -4 - 2 * i));
    printf("{\"name\": \"%s\", \"order\": %d, \"stages\": %d, \"control\": %d", m->name, m->order, m->stages,
           m->error ? m->control : 0);
    numbers("a", m->a, m->a ? m->extended * m->extended : 0);
    numbers("c", m->c, m->c ? m->extended : 0);
    numbers("global", global, HALVINGS);
    numbers("inside", inside, HALVINGS);
    numbers("ends", ends, HALVINGS);
    numbers("estimates", estimates, m->error ? HALVINGS : 0);
    numbers("controlled", controlled, m->error ? 4 : 0);
    printf(", \"overruns\": %s}\n", overruns ? "true" : "false");
}

int main(void)
{
    for (const kc_method *const *m = kc_methods; *m; m++)
        row(*m);
    return 0;
}
