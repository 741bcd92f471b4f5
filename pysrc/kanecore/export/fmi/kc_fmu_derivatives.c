/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partial derivatives, a column for each known.  All are exact but those of outputs that hold multipliers:
 * these are differentiated by differences of order 6, which leave some 12 digits.
 */
#include "kc_fmu_facts.h"
#include "kc_fmu_parts.h"

#include <math.h>
#include <string.h>

/* dy/d(value): the values step aside, and come back. */
static kc_fmu_status differences(kc_fmu *f, uint32_t known, double *column)
{
    static const double weights[3] = {45.0, -9.0, 1.0};
    const uint32_t n = f->model->n_outputs;
    double *const at = f->values + known, *const y = f->spare, value = *at;
    const int is_parameter = is_in(f, known, f->p, f->model->n_p);
    const double h = 1e-3 * (known == 0 || value == 0.0 ? 1.0 : fabs(value));
    const unsigned before = f->known;
    kc_fmu_status status = KC_FMU_OK;
    for (int side = -3; side <= 3 && status == KC_FMU_OK; side++) {
        if (side == 0)
            continue;
        *at = value + side * h;
        f->known &= is_parameter ? 0 : PREPARED;
        status = kc_fmu_call(f, f->model->outputs, "the outputs beside a derivative", 0, y, n);
        const double weight = (side < 0 ? -1.0 : 1.0) * weights[side < 0 ? -side - 1 : side - 1] / (60.0 * h);
        for (uint32_t i = 0; i < n; i++)
            column[i] += weight * y[i];
    }
    *at = value;
    f->known = is_parameter ? before & ~(unsigned)PREPARED : before;
    return status;
}

static void copy_column(const double *matrix, uint32_t n_rows, uint32_t n_columns, uint32_t j, double *column)
{
    for (uint32_t i = 0; i < n_rows; i++)
        column[i] = matrix[(size_t)i * n_columns + j];
}

/* dy/d(t or a parameter): at constant du/dt, and through du/dt, whose derivatives are among the `slopes`. */
static kc_fmu_status by_parameter(kc_fmu *f, uint32_t known, const double *slopes, double *column)
{
    const kc_model *const m = f->model, *const s = f->slopes;
    const uint32_t n_y = m->n_outputs, n_direct = 1 + m->n_p, n_all = f->n_wrt + m->n_u;
    const uint32_t j = known == 0 ? 0 : 1 + known - (uint32_t)(f->p - f->values);
    kc_fmu_status status = KC_FMU_OK;
    if (!(f->known & Y_BY_P)) {
        kc_fmu_prepare_as(f, s, f->slopes_c);
        status = kc_fmu_call_at(f, s->outputs, f->x, f->slopes_c, "the derivatives of outputs by parameters",
                                Y_BY_P, f->y_by_p, (size_t)n_y * n_direct);
    }
    if (status != KC_FMU_OK)
        return status;
    copy_column(f->y_by_p, n_y, n_direct, j, column);
    if (!KC_FMU_OUTPUTS_HOLD_UDOT)
        return KC_FMU_OK;
    if (!(f->known & Y_BY_UDOT)) {
        if ((status = kc_fmu_find(f, SLOPES)) != KC_FMU_OK)
            return status;
        memcpy(f->x_udot, f->x, sizeof(double) * f->n_x);
        memcpy(f->x_udot + f->n_x, f->xdot + m->n_q, sizeof(double) * m->n_u);
        status = kc_fmu_call_at(f, m->output_slopes, f->x_udot, f->c, "the derivatives of outputs", Y_BY_UDOT,
                                f->y_by_udot, (size_t)n_y * n_all);
    }
    for (uint32_t i = 0; i < n_y && status == KC_FMU_OK; i++)
        for (uint32_t k = 0; k < m->n_u; k++)
            column[i] += f->y_by_udot[(size_t)i * n_all + f->n_wrt + k] * slopes[m->n_q + k];
    return status;
}

/* d(values)/d(known), in f->column, where states, dx/dt and outputs stand. */
static kc_fmu_status find_column(kc_fmu *f, uint32_t known, unsigned wanted)
{
    const kc_model *const m = f->model;
    double *const slopes = f->column + (f->xdot - f->values), *const outputs = f->column + (f->y - f->values);
    kc_fmu_status status = KC_FMU_OK;
    const int is_state = is_in(f, known, f->x, f->n_x), is_wrt = is_state || is_in(f, known, f->r, m->n_r);
    const uint32_t j = is_state ? known - 1 : f->n_x + known - (uint32_t)(f->r - f->values);
    memset(f->column, 0, sizeof(double) * f->n_values);
    if (is_state)
        f->column[known] = 1.0;
    if (!is_wrt && wanted & OUTPUTS && KC_FMU_OUTPUTS_HOLD_UDOT && m->output_jacobian)
        wanted |= SLOPES;
    if (wanted & SLOPES) {
        if (is_wrt) {
            status = kc_fmu_call(f, m->linearize, "the derivatives by states and inputs", BY_WRT, f->by_wrt,
                                 (size_t)f->n_x * f->n_wrt);
            copy_column(f->by_wrt, f->n_x, f->n_wrt, j, slopes);
        } else if (known == 0) {
            status = kc_fmu_call(f, m->rhs_time_derivative, "the derivatives by time", BY_T, f->by_t, f->n_x);
            copy_column(f->by_t, f->n_x, 1, 0, slopes);
        } else {
            status = kc_fmu_call(f, m->rhs_parameter_jacobian, "the derivatives by parameters", BY_P, f->by_p,
                                 (size_t)f->n_x * m->n_p);
            copy_column(f->by_p, f->n_x, m->n_p, known - (uint32_t)(f->p - f->values), slopes);
        }
    }
    if (status != KC_FMU_OK || !(wanted & OUTPUTS))
        return status;
    if (m->output_jacobian == NULL)
        return differences(f, known, outputs);
    if (!is_wrt)
        return by_parameter(f, known, slopes, outputs);
    status = kc_fmu_call(f, m->output_jacobian, "the derivatives of outputs", Y_BY_WRT, f->y_by_wrt,
                         (size_t)m->n_outputs * f->n_wrt);
    copy_column(f->y_by_wrt, m->n_outputs, f->n_wrt, j, outputs);
    return status;
}

kc_fmu_status kc_fmu_derivative(kc_fmu *f, int adjoint, const uint32_t *unknowns, size_t n_unknowns,
                                const uint32_t *knowns, size_t n_knowns, const double *seed, double *result)
{
    const kc_model *const m = f->model;
    unsigned wanted = 0;
    for (size_t i = 0; i < n_unknowns; i++) {
        const unsigned one = is_in(f, unknowns[i], f->xdot, f->n_x)      ? SLOPES
                             : is_in(f, unknowns[i], f->y, m->n_outputs) ? OUTPUTS
                                                                         : 0;
        if (!one && !is_in(f, unknowns[i], f->x, f->n_x))
            return kc_fmu_say(f, KC_FMU_ERROR,
                              "variable %u is no unknown: derivatives of states and outputs are",
                              (unsigned)unknowns[i]);
        wanted |= one;
    }
    for (size_t k = 0; k < n_knowns; k++)
        if (!(knowns[k] == 0 || is_in(f, knowns[k], f->x, f->n_x) || is_in(f, knowns[k], f->r, m->n_r) ||
              is_in(f, knowns[k], f->p, m->n_p)))
            return kc_fmu_say(f, KC_FMU_ERROR,
                              "variable %u is no known: states, inputs, parameters and time are",
                              (unsigned)knowns[k]);
    for (size_t i = 0; i < (adjoint ? n_knowns : n_unknowns); i++)
        result[i] = 0.0;
    for (size_t k = 0; k < n_knowns; k++) {
        if (!adjoint && seed[k] == 0.0)
            continue;
        const kc_fmu_status status = find_column(f, knowns[k], wanted);
        if (status != KC_FMU_OK)
            return status;
        for (size_t i = 0; i < n_unknowns; i++) {
            if (adjoint)
                result[k] += f->column[unknowns[i]] * seed[i];
            else
                result[i] += f->column[unknowns[i]] * seed[k];
        }
    }
    return KC_FMU_OK;
}
