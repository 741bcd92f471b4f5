/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * turntable.c: a turntable, written by hand against kanecore.h; everything baked in.
 *
 *     q = [angle in turns], u = [omega], 2 pi qdot = omega, 3 udot = -omega
 *
 * No parameters, inputs, points, frames or outputs; qdot is not u; no potential energy.
 */
#include <stddef.h>

#include "kanecore.h"

static void prepare(const double *p, double *c)
{
    (void)p, (void)c;
}

static void rhs(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)r, (void)c, (void)work;
    out[0] = x[1] / 6.283185307179586;
    out[1] = -x[1] / 3.0;
}

static void mass_matrix(double t, const double *x, const double *r, const double *c, double *work,
                        double *out)
{
    (void)t, (void)x, (void)r, (void)c, (void)work;
    out[0] = 3.0;
}

static void forcing(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)r, (void)c, (void)work;
    out[0] = -x[1];
}

static const char *const q_names[] = {"turns", NULL}, *const u_names[] = {"omega", NULL},
                         *const no_names[] = {NULL};
static const double no_values[] = {0.0};

static const kc_model model = {
    .abi_version = KC_ABI_VERSION,
    .struct_size = sizeof(kc_model),
    .n_q = 1,
    .n_u = 1,
    .n_work = 2,
    .name = "turntable",
    .q_names = q_names,
    .u_names = u_names,
    .p_names = no_names,
    .r_names = no_names,
    .point_names = no_names,
    .frame_names = no_names,
    .output_names = no_names,
    .p_default = no_values,
    .r_default = no_values,
    .prepare = prepare,
    .rhs = rhs,
    .mass_matrix = mass_matrix,
    .forcing = forcing,
};

#ifdef _WIN32
__declspec(dllexport)
#elif defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const kc_model *kc_get_model(void)
{
    return &model;
}
