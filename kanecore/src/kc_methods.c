/* SPDX-License-Identifier: BSD-3-Clause */
/* The integration methods: their steps and errors, and their rows. */
#include "kc_interpolate.h"
#include "kc_rosenbrock.h"
#include "kc_tableaux.h"

/* -------------------------------------------------------------------------------------- by the tableau */

/* Slopes 1 to `stages` - 1, and x1. */
static kc_status by_tableau(const kc_stride *s)
{
    const kc_method *m = s->method;
    for (int i = 1; i < m->stages; i++) {
        const kc_status status = kc_stage(s, i);
        if (status != KC_OK)
            return status;
    }
    kc_advance(kc_n_x(s->run->system), s->x, s->next - s->t, m->a + (size_t)m->stages * (size_t)m->extended,
               m->stages, s->k, s->x1);
    return KC_OK;
}

/* --------------------------------------------------------------------------------------------- methods */

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
 * less time than by its tableau, which is for the derivatives of a step. */
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

/*
 * After Hairer & Wanner, Solving Ordinary Differential Equations II, 2nd ed. 1996, section IV.2: the last
 * stage and the state at the end are at the same time, and their difference is multiplied by powers of df/dx.
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

/* ------------------------------------------------------------------------------------------------ rows */

static const kc_method euler = {.name = "euler",
                                .order = 1,
                                .uses_qdot = 1,
                                .stages = 1,
                                .extended = 2,
                                .n_dense = 2,
                                .step = step_euler,
                                .dense = kc_hermite_dense,
                                .interpolate = kc_hermite_interpolate};

static const kc_method rk4 = {.name = "rk4",
                              .order = 4,
                              .stages = KC_RK4_STAGES,
                              .extended = KC_RK4_STAGES + 1,
                              .n_dense = 2,
                              .a = kc_rk4_a[0],
                              .c = kc_rk4_c,
                              .step = step_rk4,
                              .dense = kc_hermite_dense,
                              .interpolate = kc_hermite_interpolate};

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
                                 .dense = kc_dopri5_dense,
                                 .interpolate = kc_dopri5_interpolate};

#define DOP853                                                                                               \
    .order = 8, .stages = KC_DOP853_STAGES, .extended = KC_DOP853_EXTENDED, .n_dense = KC_DOP853_DENSE,      \
    .a = kc_dop853_a[0], .c = kc_dop853_c, .step = by_tableau, .error = error_dop853, .control = 8,          \
    .dense = kc_dop853_dense, .interpolate = kc_dop853_interpolate

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

/* The stiff half of "auto" and of "auto_w", with interpolants in the form of the other half. */
#define STIFF_HALF                                                                                           \
    .name = "rosenbrock", .n_dense = KC_DOP853_DENSE, .step = kc_rosenbrock_step,                            \
    .error = kc_rosenbrock_error, .dense = kc_rosenbrock_dense_as_dop853,                                    \
    .interpolate = kc_dop853_interpolate, .reach = kc_rosenbrock_reach

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
