/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tumbler.c: a free rigid body, written by hand against kanecore.h.
 *
 *     q = [n, e1, e2, e3, e0], u = [w1, w2, w3], about its principal axes
 *     ndot = w3,  e0dot = -(e1 w1 + e2 w2 + e3 w3) / 2,  edot = (e0 w + e x w) / 2
 *     I1 w1dot = (I2 - I3) w2 w3, and so on
 *
 * with e of norm 1; the outputs are the angular momentum in inertial axes.  With -DN_UNIT=0 nobody is told
 * that e is a unit quaternion.  -fvisibility=default exports kc_get_model.
 */
#include <stddef.h>

#include "kanecore.h"

#ifndef N_UNIT
#define N_UNIT 1
#endif

enum { COUNT, E1, E2, E3, E0, W1, W2, W3 };

static void prepare(const double *p, double *c)
{
    for (int i = 0; i < 3; ++i)
        c[i] = p[i];
}

static void udot(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)r, (void)work;
    out[0] = (c[1] - c[2]) * x[W2] * x[W3] / c[0];
    out[1] = (c[2] - c[0]) * x[W3] * x[W1] / c[1];
    out[2] = (c[0] - c[1]) * x[W1] * x[W2] / c[2];
}

static void rhs(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    out[COUNT] = x[W3];
    out[E1] = 0.5 * (x[E0] * x[W1] + x[E2] * x[W3] - x[E3] * x[W2]);
    out[E2] = 0.5 * (x[E0] * x[W2] + x[E3] * x[W1] - x[E1] * x[W3]);
    out[E3] = 0.5 * (x[E0] * x[W3] + x[E1] * x[W2] - x[E2] * x[W1]);
    out[E0] = -0.5 * (x[E1] * x[W1] + x[E2] * x[W2] + x[E3] * x[W3]);
    udot(t, x, r, c, work, out + 5);
}

/* H + 2 e0 e x H + 2 e x (e x H) */
static void outputs(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)r, (void)work;
    const double h1 = c[0] * x[W1], h2 = c[1] * x[W2], h3 = c[2] * x[W3];
    const double a = x[E2] * h3 - x[E3] * h2, b = x[E3] * h1 - x[E1] * h3, d = x[E1] * h2 - x[E2] * h1;
    out[0] = h1 + 2.0 * (x[E0] * a + x[E2] * d - x[E3] * b);
    out[1] = h2 + 2.0 * (x[E0] * b + x[E3] * a - x[E1] * d);
    out[2] = h3 + 2.0 * (x[E0] * d + x[E1] * b - x[E2] * a);
}

static void kinetic_energy(double t, const double *x, const double *r, const double *c, double *work,
                           double *out)
{
    (void)t, (void)r, (void)work;
    out[0] = 0.5 * (c[0] * x[W1] * x[W1] + c[1] * x[W2] * x[W2] + c[2] * x[W3] * x[W3]);
}

static void nothing(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)x, (void)r, (void)c, (void)work;
    out[0] = 0.0;
}

static const char *const q_names[] = {"n", "e1", "e2", "e3", "e0", NULL}, *const u_names[] = {"w1", "w2",
                                                                                              "w3", NULL};
static const char *const p_names[] = {"I1", "I2", "I3", NULL}, *const output_names[] = {"H1", "H2", "H3",
                                                                                        NULL};
static const double p_default[] = {1.0, 2.0, 3.0}, no_values[] = {0.0};
static const uint32_t unit[] = {E0, E1, E2, E3};

static const kc_model model = {
    .abi_version = KC_ABI_VERSION,
    .struct_size = sizeof(kc_model),
    .n_q = 5,
    .n_u = 3,
    .n_p = 3,
    .n_prepared = 3,
    .n_work = 2,
    .n_outputs = 3,
    .n_unit = N_UNIT,
    .name = "tumbler",
    .q_names = q_names,
    .u_names = u_names,
    .p_names = p_names,
    .output_names = output_names,
    .unit = unit,
    .p_default = p_default,
    .r_default = no_values,
    .prepare = prepare,
    .rhs = rhs,
    .udot = udot,
    .outputs = outputs,
    .kinetic_energy = kinetic_energy,
    .potential_energy = nothing,
    .power = nothing,
};

const kc_model *kc_get_model(void)
{
    return &model;
}
