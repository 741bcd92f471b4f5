/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partial derivatives, a column for each known.  Those of dx/dt are exact, and so are those of outputs with
 * respect to states and inputs.  Outputs with respect to parameters and time, and outputs that hold
 * multipliers, are differentiated by differences of order 6, which leave some 12 digits.
 */
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
    if (!is_wrt || m->output_jacobian == NULL)
        return differences(f, known, outputs);
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
