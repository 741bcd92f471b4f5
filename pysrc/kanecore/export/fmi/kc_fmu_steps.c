/* SPDX-License-Identifier: BSD-3-Clause */
/* How an instance drifts off its constraints and comes back, and the steps of co-simulation. */
#include "kc_fmu_parts.h"

#include <math.h>
#include <string.h>

double kc_fmu_drift(kc_fmu *f)
{
    const kc_model *const m = f->model;
    const double t = f->values[0];
    double drift = 0.0;
    for (uint32_t k = 0; k < m->n_unit; k++) {
        double square = 0.0;
        for (uint32_t i = 0; i < 4; i++)
            square += f->x[m->unit[4 * k + i]] * f->x[m->unit[4 * k + i]];
        drift = fmax(drift, fabs(sqrt(square) - 1.0));
    }
    const uint32_t n = m->n_configuration + m->n_velocity;
    if (n == 0)
        return drift;
    double *const residual = f->spare, *const size = residual + n;
    kc_fmu_prepare(f);
    if (m->n_configuration)
        m->configuration_residual(t, f->x, f->r, f->c, f->work, residual);
    if (m->n_velocity)
        m->velocity_residual(t, f->x, f->r, f->c, f->work, residual + m->n_configuration);
    m->constraint_sizes(t, f->x, f->r, f->c, f->work, size);
    for (uint32_t i = 0; i < n; i++)
        if (residual[i] != 0.0)
            drift = fmax(drift, fabs(residual[i]) / size[i]);
    return drift;
}

int kc_fmu_drifted(kc_fmu *f)
{
    return f->limit != NULL && !(kc_fmu_drift(f) <= *f->limit);
}

kc_fmu_status kc_fmu_settle(kc_fmu *f, int *changed)
{
    const kc_model *const m = f->model;
    const double t = f->values[0];
    *changed = 0;
    if (!kc_fmu_drifted(f))
        return KC_FMU_OK;
    double *const x = f->spare;
    memcpy(x, f->x, sizeof(double) * f->n_x);
    kc_status met = kc_normalize(m->n_unit, m->unit, x);
    if (met == KC_OK && m->project) {
        f->work[0] = 0.0;
        m->project(t, x, f->r, f->c, f->work, f->column);
        met = (kc_status)f->work[0];
        memcpy(x, f->column, sizeof(double) * f->n_x);
        if (met == KC_OK) /* `project` moves quaternions along the tangents of their spheres */
            met = kc_normalize(m->n_unit, m->unit, x);
    }
    if (met != KC_OK)
        return kc_fmu_fail(f, KC_FMU_ERROR, "the way back to the constraints", t, met, (uint32_t)f->work[1]);
    *changed = 1;
    return kc_fmu_set_states(f, x, f->n_x);
}

kc_fmu_status kc_fmu_begin(kc_fmu *f)
{
    int changed;
    kc_fmu_status status = KC_FMU_OK;
    if (f->cosimulation)
        status = kc_fmu_settle(f, &changed);
    f->mode = status != KC_FMU_OK ? KC_FMU_FAILED : f->cosimulation ? KC_FMU_STEPPING : KC_FMU_EVENT;
    return status;
}

/* The inputs from t to the end of a step, as cubics. */
static void hold_inputs(kc_fmu *f)
{
    const kc_model *const m = f->model;
    memset(f->coefficients, 0, sizeof(double) * 4 * m->n_r);
    for (uint32_t i = 0; i < m->n_r; i++) {
        double *const cubic = f->coefficients + (size_t)4 * i;
        const int32_t rate = m->r_rates ? m->r_rates[i] : -1, second = rate < 0 ? -1 : m->r_rates[rate];
        cubic[0] = f->r[i];
        cubic[1] = rate < 0 ? 0.0 : f->r[rate];
        cubic[2] = second < 0 ? 0.0 : f->r[second] / 2.0;
    }
}

kc_fmu_status kc_fmu_advance(kc_fmu *f, double t, double h)
{
    const kc_model *const m = f->model;
    const double tiny = 1e-9 * fabs(h) + 16.0 * kc_smallest_step(t, f->values[0]);
    int changed;
    if (!(h > 0.0 && isfinite(t + h)) || t + h == t)
        return kc_fmu_say(f, KC_FMU_ERROR,
                          "a step of %.17g from t = %.17g: it must be positive and beyond rounding", h, t);
    if (!(fabs(t - f->values[0]) <= tiny))
        return kc_fmu_say(f, KC_FMU_ERROR, "a step from t = %.17g, and the last one ended at %.17g", t,
                          f->values[0]);
    kc_fmu_set_time(f, t);
    if (kc_fmu_settle(f, &changed) != KC_FMU_OK) {
        f->mode = KC_FMU_FAILED;
        return KC_FMU_ERROR;
    }
    kc_fmu_prepare(f);
    hold_inputs(f);
    const double knots[2] = {t, t + h};
    const kc_signal signal = {.n_r = m->n_r, .n_knots = 2, .knots = knots, .coefficients = f->coefficients};
    const kc_system s = kc_fmu_system(f, &signal);
    for (uint32_t i = 0; i < f->n_x; i++)
        f->column[i] = f->tolerance;
    const kc_plan plan = {.method = f->method,
                          .t0 = t,
                          .t1 = t + h,
                          .rtol = f->tolerance,
                          .atol = f->column,
                          .max_step = h,
                          .max_steps = KC_FMU_MOST_STEPS};
    kc_stats stats;
    memcpy(f->spare, f->x, sizeof(double) * f->n_x); /* a step that fails changes nothing */
    const kc_status met = kc_integrate(&s, &plan, f->spare, f->work, &stats);
    if (met != KC_OK) {
        f->mode = KC_FMU_FAILED;
        return kc_fmu_fail(f, KC_FMU_ERROR, "the step ended", stats.t, met, stats.number);
    }
    kc_fmu_set_states(f, f->spare, f->n_x);
    return kc_fmu_set_time(f, t + h);
}
