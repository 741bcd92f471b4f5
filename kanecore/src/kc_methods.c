/* SPDX-License-Identifier: BSD-3-Clause */
/* The integration methods: their special functions, and their rows. */
#include "kc_method.h"
#include "kc_rosenbrock.h"
#include "kc_tableaux.h"

/* ----------------------------------------------------------------------------------------- by the tableau */

/* Slope number i of the tableau, i > 0. */
static kc_status stage(const kc_stride *s, int i)
{
    const kc_method *m = s->method;
    const uint32_t n = kc_n_x(s->run->system);
    const double h = s->next - s->t;
    kc_advance(n, s->x, h, m->a + (size_t)i * (size_t)m->extended, i, s->k, s->y);
    return kc_evaluate(s->run, s->t + m->c[i] * h, s->y, s->k + (uint32_t)i * n);
}

/* Slopes 1 to `stages` - 1, and x1. */
static kc_status by_tableau(const kc_stride *s)
{
    const kc_method *m = s->method;
    for (int i = 1; i < m->stages; i++) {
        const kc_status status = stage(s, i);
        if (status != KC_OK)
            return status;
    }
    kc_advance(kc_n_x(s->run->system), s->x, s->next - s->t, m->a + (size_t)m->stages * (size_t)m->extended,
               m->stages, s->k, s->x1);
    return KC_OK;
}

/* ------------------------------------------------------------------- an interpolant from the slopes at both
 * ends */

/* Cubic Hermite polynomial: h times the slopes at both ends. */
static kc_status dense_hermite(const kc_stride *s)
{
    const uint32_t n = kc_n_x(s->run->system);
    const double h = s->next - s->t, *const end = s->k + (uint32_t)s->method->stages * n;
    for (uint32_t i = 0; i < n; i++) {
        s->dense[i] = h * s->k[i];
        s->dense[n + i] = h * end[i];
    }
    return KC_OK;
}

static void interpolate_hermite(const kc_step *step, double theta, double *x)
{
    const uint32_t n = kc_n_x(step->system);
    const double s = 1.0 - theta, *f = step->dense;
    for (uint32_t i = 0; i < n; i++) {
        const double a = step->x0[i], change = step->x1[i] - a;
        x[i] = a + theta * (change + s * (s * (f[i] - change) - theta * (f[n + i] - change)));
    }
}

/* ------------------------------------------------------------------------------------------------- methods
 */

/*
 * Semi-implicit (symplectic) Euler: speeds and first-order states, then the coordinates by them (Hairer,
 * Lubich & Wanner, Geometric Numerical Integration, 2nd ed. 2006, section I.1.2).
 */
static kc_status step_euler(const kc_stride *s)
{
    const kc_system *system = s->run->system;
    const uint32_t n_q = system->n_q, n = kc_n_x(system);
    const double h = s->next - s->t;
    for (uint32_t i = 0; i < n; i++)
        s->x1[i] = i < n_q ? s->x[i] : s->x[i] + h * s->k[i];
    kc_status status = kc_inputs(s->run, s->t, s->x);
    if (status != KC_OK)
        return status;
    system->qdot(s->t, s->x1, s->run->r, system->c, s->run->kernel_work, s->y);
    for (uint32_t i = 0; i < n_q; i++)
        s->x1[i] += h * s->y[i];
    return KC_OK;
}

/* The classical method of order 4 (Kutta 1901).  Three of its four rows have one entry: a step takes 10 %
 * less time than by its tableau, which is there for who differentiates a step. */
static kc_status step_rk4(const kc_stride *s)
{
    const uint32_t n = kc_n_x(s->run->system);
    const double h = s->next - s->t, middle = s->t + 0.5 * h, *restrict const x = s->x;
    double *restrict const k1 = s->k, *const k2 = k1 + n, *const k3 = k2 + n, *const k4 = k3 + n;
    kc_status status;
    for (uint32_t i = 0; i < n; i++)
        s->y[i] = x[i] + 0.5 * h * k1[i];
    if ((status = kc_evaluate(s->run, middle, s->y, k2)) != KC_OK)
        return status;
    for (uint32_t i = 0; i < n; i++)
        s->y[i] = x[i] + 0.5 * h * k2[i];
    if ((status = kc_evaluate(s->run, middle, s->y, k3)) != KC_OK)
        return status;
    for (uint32_t i = 0; i < n; i++)
        s->y[i] = x[i] + h * k3[i];
    if ((status = kc_evaluate(s->run, s->next, s->y, k4)) != KC_OK)
        return status;
    for (uint32_t i = 0; i < n; i++)
        s->x1[i] = x[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]);
    return KC_OK;
}

/* Root mean square of h sum_j e_j k_j relative to the tolerance. */
static double error_dopri5(const kc_stride *s, const kc_plan *plan)
{
    const uint32_t n = kc_n_x(s->run->system);
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        double e = 0.0;
        for (uint32_t j = 0; j <= KC_DOPRI5_STAGES; j++)
            e += kc_dopri5_e[j] * s->k[j * n + i];
        e *= (s->next - s->t) / kc_tolerance(plan, i, s->x[i], s->x1[i]);
        sum += e * e;
    }
    return sqrt(sum / n);
}

/* The coefficients of theta, theta^2, theta^3, theta^4 (Shampine 1986). */
static kc_status dense_dopri5(const kc_stride *s)
{
    const uint32_t n = kc_n_x(s->run->system);
    for (uint32_t d = 0; d < 4; d++)
        for (uint32_t i = 0; i < n; i++) {
            double sum = 0.0;
            for (uint32_t j = 0; j <= KC_DOPRI5_STAGES; j++)
                sum += kc_dopri5_d[d][j] * s->k[j * n + i];
            s->dense[d * n + i] = (s->next - s->t) * sum;
        }
    return KC_OK;
}

static void interpolate_dopri5(const kc_step *step, double theta, double *x)
{
    const uint32_t n = kc_n_x(step->system);
    const double *f = step->dense;
    for (uint32_t i = 0; i < n; i++)
        x[i] =
            step->x0[i] + theta * (f[i] + theta * (f[n + i] + theta * (f[2 * n + i] + theta * f[3 * n + i])));
}

/* From the estimates of orders 5 and 3 together. */
static double error_dop853(const kc_stride *s, const kc_plan *plan)
{
    const uint32_t n = kc_n_x(s->run->system);
    double five = 0.0, three = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        const double scale = kc_tolerance(plan, i, s->x[i], s->x1[i]);
        double e5 = 0.0, e3 = 0.0;
        for (uint32_t j = 0; j <= KC_DOP853_STAGES; j++) {
            e5 += kc_dop853_e5[j] * s->k[j * n + i];
            e3 += kc_dop853_e3[j] * s->k[j * n + i];
        }
        five += e5 / scale * (e5 / scale);
        three += e3 / scale * (e3 / scale);
    }
    if (five == 0.0 && three == 0.0)
        return 0.0;
    return fabs(s->next - s->t) * five / sqrt((five + 0.01 * three) * n);
}

/* Three more stages and the seven coefficients of the interpolant. */
static kc_status dense_dop853(const kc_stride *s)
{
    const uint32_t n = kc_n_x(s->run->system);
    const double h = s->next - s->t, *const k = s->k, *const end = k + KC_DOP853_STAGES * n;
    for (int i = KC_DOP853_STAGES + 1; i < KC_DOP853_EXTENDED; i++) {
        const kc_status status = stage(s, i);
        if (status != KC_OK)
            return status;
    }
    for (uint32_t i = 0; i < n; i++) {
        const double change = s->x1[i] - s->x[i];
        s->dense[i] = change;
        s->dense[n + i] = h * k[i] - change;
        s->dense[2 * n + i] = 2.0 * change - h * (end[i] + k[i]);
        double s3 = 0.0, s4 = 0.0, s5 = 0.0, s6 = 0.0; /* side by side: no sum waits for another */
        for (uint32_t j = 0; j < KC_DOP853_EXTENDED; j++) {
            const double slope = k[j * n + i];
            s3 += kc_dop853_d[0][j] * slope;
            s4 += kc_dop853_d[1][j] * slope;
            s5 += kc_dop853_d[2][j] * slope;
            s6 += kc_dop853_d[3][j] * slope;
        }
        s->dense[3 * n + i] = h * s3;
        s->dense[4 * n + i] = h * s4;
        s->dense[5 * n + i] = h * s5;
        s->dense[6 * n + i] = h * s6;
    }
    return KC_OK;
}

static void interpolate_dop853(const kc_step *step, double theta, double *x)
{
    const uint32_t n = kc_n_x(step->system);
    for (uint32_t i = 0; i < n; i++) {
        double y = 0.0;
        for (int j = 6; j >= 0; j--)
            y = (y + step->dense[(uint32_t)j * n + i]) * (j % 2 ? 1.0 - theta : theta);
        x[i] = step->x0[i] + y;
    }
}

/*
 * After Hairer & Wanner, Solving Ordinary Differential Equations II, 2nd ed. 1996, section IV.2: the last
 * stage and the state at the end are at the same time, and their difference has been stretched by powers of
 * df/dx.
 */
static double reach_dop853(const kc_stride *s, const kc_plan *plan)
{
    const uint32_t n = kc_n_x(s->run->system);
    const double *const last = s->k + (KC_DOP853_STAGES - 1) * n, *const end = last + n;
    double slopes = 0.0, states = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        const double scale = kc_tolerance(plan, i, s->x[i], s->x1[i]);
        const double slope = (end[i] - last[i]) / scale, state = (s->x1[i] - s->y[i]) / scale;
        slopes += slope * slope;
        states += state * state;
    }
    return states > 0.0 ? fabs(s->next - s->t) * sqrt(slopes / states) : 0.0;
}

/* The interpolant of a linearly implicit method in the form of dop853's, which holds it: of lower degree. */
static kc_status dense_as_dop853(const kc_stride *s)
{
    const uint32_t n = kc_n_x(s->run->system);
    double *const f = s->dense;
    memset(f, 0, sizeof(double) * KC_DOP853_DENSE * n);
    const kc_status status = kc_rosenbrock_dense(s);
    for (uint32_t i = 0; i < n; i++) {
        const double d0 = f[i], d1 = f[n + i], d2 = f[2 * n + i];
        f[i] = s->x1[i] - s->x[i];
        f[n + i] = d0;
        f[2 * n + i] = d1 + d2;
        f[3 * n + i] = -d2;
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------- rows
 */

static const kc_method euler = {.name = "euler",
                                .order = 1,
                                .uses_qdot = 1,
                                .stages = 1,
                                .extended = 2,
                                .n_dense = 2,
                                .step = step_euler,
                                .dense = dense_hermite,
                                .interpolate = interpolate_hermite};

static const kc_method rk4 = {.name = "rk4",
                              .order = 4,
                              .stages = KC_RK4_STAGES,
                              .extended = KC_RK4_STAGES + 1,
                              .n_dense = 2,
                              .a = kc_rk4_a[0],
                              .c = kc_rk4_c,
                              .step = step_rk4,
                              .dense = dense_hermite,
                              .interpolate = interpolate_hermite};

static const kc_method dopri5 = {.name = "dopri5",
                                 .order = 5,
                                 .stages = KC_DOPRI5_STAGES,
                                 .extended = KC_DOPRI5_STAGES + 1,
                                 .n_dense = 4,
                                 .a = kc_dopri5_a[0],
                                 .c = kc_dopri5_c,
                                 .step = by_tableau,
                                 .error = error_dopri5,
                                 .control = 5,
                                 .dense = dense_dopri5,
                                 .interpolate = interpolate_dopri5};

#define DOP853                                                                                               \
    .order = 8, .stages = KC_DOP853_STAGES, .extended = KC_DOP853_EXTENDED, .n_dense = KC_DOP853_DENSE,      \
    .a = kc_dop853_a[0], .c = kc_dop853_c, .step = by_tableau, .error = error_dop853, .control = 8,          \
    .dense = dense_dop853, .interpolate = interpolate_dop853

static const kc_method dop853 = {.name = "dop853", DOP853};

static const kc_rosenbrock rodas5p = {.stages = KC_RODAS5P_STAGES,
                                      .a = kc_rodas5p_a[0],
                                      .c = kc_rodas5p_c[0],
                                      .alpha = kc_rodas5p_alpha,
                                      .gamma = kc_rodas5p_gamma,
                                      .m = kc_rodas5p_m,
                                      .e = kc_rodas5p_e,
                                      .n_dense = 3,
                                      .d = kc_rodas5p_d[0]};

static const kc_method rosenbrock = {.name = "rosenbrock",
                                     .order = 5,
                                     .stages = KC_RODAS5P_STAGES + 1,
                                     .extended = KC_RODAS5P_STAGES + 2,
                                     .n_dense = 3,
                                     .rosenbrock = &rodas5p,
                                     .step = kc_rosenbrock_step,
                                     .error = kc_rosenbrock_error,
                                     .control = 5,
                                     .dense = kc_rosenbrock_dense,
                                     .interpolate = kc_rosenbrock_interpolate};

static const kc_rosenbrock ros34pw2 = {.stages = KC_ROS34PW2_STAGES,
                                       .a = kc_ros34pw2_a[0],
                                       .c = kc_ros34pw2_c[0],
                                       .alpha = kc_ros34pw2_alpha,
                                       .gamma = kc_ros34pw2_gamma,
                                       .m = kc_ros34pw2_m,
                                       .e = kc_ros34pw2_e,
                                       .n_dense = 1,
                                       .d = kc_ros34pw2_d[0]};

static const kc_method rosenbrock_w = {.name = "rosenbrock_w",
                                       .order = 3,
                                       .stages = KC_ROS34PW2_STAGES + 1,
                                       .extended = KC_ROS34PW2_STAGES + 2,
                                       .n_dense = 1,
                                       .rosenbrock = &ros34pw2,
                                       .step = kc_rosenbrock_step,
                                       .error = kc_rosenbrock_error,
                                       .control = 3,
                                       .dense = kc_rosenbrock_dense,
                                       .interpolate = kc_rosenbrock_interpolate};

/* The stiff half of "auto" and of "auto_w", with interpolants of one form with those of the other half. */
#define STIFF_HALF                                                                                           \
    .name = "rosenbrock", .n_dense = KC_DOP853_DENSE, .step = kc_rosenbrock_step,                            \
    .error = kc_rosenbrock_error, .dense = dense_as_dop853, .interpolate = interpolate_dop853,               \
    .reach = kc_rosenbrock_reach

static const kc_method stiff_half = {STIFF_HALF,
                                     .order = 5,
                                     .stages = KC_RODAS5P_STAGES + 1,
                                     .extended = KC_RODAS5P_STAGES + 2,
                                     .rosenbrock = &rodas5p,
                                     .control = 5};

static const kc_method stiff_half_w = {STIFF_HALF,
                                       .order = 3,
                                       .stages = KC_ROS34PW2_STAGES + 1,
                                       .extended = KC_ROS34PW2_STAGES + 2,
                                       .rosenbrock = &ros34pw2,
                                       .control = 3};

static const kc_method automatic = {.name = "auto",
                                    DOP853,
                                    .rosenbrock = &rodas5p,
                                    .reach = reach_dop853,
                                    .stable = 6.1,
                                    .stiff = &stiff_half};

static const kc_method automatic_w = {.name = "auto_w",
                                      DOP853,
                                      .rosenbrock = &ros34pw2,
                                      .reach = reach_dop853,
                                      .stable = 6.1,
                                      .stiff = &stiff_half_w};

const kc_method *const kc_methods[] = {&euler,        &rk4,       &dopri5,      &dop853, &rosenbrock,
                                       &rosenbrock_w, &automatic, &automatic_w, NULL};

const kc_method *kc_find_method(const char *name)
{
    const kc_method *const *m = kc_methods;
    while (*m && strcmp((*m)->name, name) != 0)
        m++;
    return *m;
}

/* --------------------------------------------------------------------------------------- its interpolant */

static void leave(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)x, (void)r, (void)c, (void)work, (void)out;
}

/* A step of length 1 whose slopes are unit vectors and stay such: the interpolant is linear in them. */
void kc_interpolant(const kc_method *method, double theta, double *w)
{
    enum { MOST = 3 + KC_DOP853_EXTENDED, LENGTH = MOST * MOST };
    const uint32_t n = 3 + (uint32_t)method->extended;
    const kc_signal none = {0};
    const kc_system system = {.rhs = leave, .n_q = n, .signal = &none};
    double ends[3 * MOST] = {0}, k[LENGTH] = {0}, dense[LENGTH] = {0}, y[MOST], work[2 * MOST + 8] = {0};
    double *const x0 = ends, *const x1 = ends + n, *const y1 = ends + 2 * n;
    kc_stats stats = {0};
    const kc_run run = kc_begin(&system, 1.0, work, &stats);
    const kc_stride s = {
        .run = &run, .method = method, .next = 1.0, .x = x0, .x1 = y1, .k = k, .y = y, .dense = dense};
    const kc_step step = {0.0, 1.0, 1.0, x0, x1, dense, method, &system};
    x0[0] = x1[1] = y1[2] = 1.0;
    for (uint32_t i = 3; i < n; i++)
        k[(i - 3) * n + i] = 1.0;
    method->dense(&s);
    method->interpolate(&step, theta, w);
}
