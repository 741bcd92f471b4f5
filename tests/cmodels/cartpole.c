/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cartpole.c: a cart on a rail with a pole on a pin, written by hand against kanecore.h.
 *
 *     q = [s, theta], u = [sdot, thetadot], theta from straight up
 *     (mc + m) udot_1 + m l cos(theta) udot_2 = F + m l sin(theta) u_2^2
 *     m l cos(theta) udot_1 + m l^2 udot_2 = m g l sin(theta) - k (theta - w)
 *
 * with the force F on the cart and a spring k to an angle w that is prescribed and must be given; x along
 * the rail, y up, and a joint of each body at the pin.
 * The determinant of M vanishes where l = 0, and where mc = 0 and theta = 0.  Built three ways:
 * -DGROUP_CORE, -DGROUP_ENERGIES (the rest), or all in one; -DABI, -DTABLE_SIZE and -DP0_NAME make tables
 * that a loader must refuse.
 */
#include <math.h>
#include <stddef.h>

#include "kanecore.h"

#ifndef ABI
#define ABI KC_ABI_VERSION
#endif
#ifndef TABLE_SIZE
#define TABLE_SIZE sizeof(kc_model)
#endif
#ifndef P0_NAME
#define P0_NAME "mc"
#endif

#if !defined(GROUP_ENERGIES)
#define CORE 1
#endif
#if !defined(GROUP_CORE)
#define REST 1
#endif

enum { MC, M, L, G, K, ML, MLL, MGL, N_PREPARED };

static void mass_matrix(double t, const double *x, const double *r, const double *c, double *work,
                        double *out)
{
    (void)t, (void)r, (void)work;
    out[0] = c[MC] + c[M];
    out[1] = out[2] = c[ML] * cos(x[1]);
    out[3] = c[MLL];
}

static void forcing(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)work;
    out[0] = r[0] + c[ML] * sin(x[1]) * x[3] * x[3];
    out[1] = c[MGL] * sin(x[1]) - c[K] * (x[1] - r[1]);
}

/* The udot of M udot = f + tau. */
static void accelerations(double t, const double *x, const double *r, const double *c, const double *tau,
                          double *work, double *out)
{
    double mass[4], f[2], pivot;

    mass_matrix(t, x, r, c, work, mass);
    forcing(t, x, r, c, work, f);
    f[0] += tau[0], f[1] += tau[1];
    if (!(mass[3] > 1e-12)) {
        work[0] = KC_SINGULAR, work[1] = 1.0;
        out[0] = out[1] = NAN;
        return;
    }
    pivot = mass[0] - mass[1] * mass[1] / mass[3];
    if (!(pivot > 1e-12 * mass[0])) {
        work[0] = KC_SINGULAR, work[1] = 0.0;
        out[0] = out[1] = NAN;
        return;
    }
    out[0] = (f[0] - mass[1] * f[1] / mass[3]) / pivot;
    out[1] = (f[1] - mass[1] * out[0]) / mass[3];
}

static void udot(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    static const double none[2] = {0.0, 0.0};

    accelerations(t, x, r, c, none, work, out);
}

static void forward_dynamics(double t, const double *x, const double *r, const double *c, double *work,
                             double *out)
{
    accelerations(t, x, r, c, x + 4, work, out);
}

#ifdef CORE
static void prepare(const double *p, double *c)
{
    for (int i = 0; i <= K; ++i)
        c[i] = p[i];
    c[ML] = p[M] * p[L];
    c[MLL] = p[M] * p[L] * p[L];
    c[MGL] = p[M] * p[G] * p[L];
}

static void qdot(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)r, (void)c, (void)work;
    out[0] = x[2];
    out[1] = x[3];
}

static void rhs(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    udot(t, x, r, c, work, out + 2);
    if (work[0] == KC_SINGULAR) {
        out[0] = out[1] = NAN;
        return;
    }
    qdot(t, x, r, c, work, out);
}

/* Infinite where cos(theta) is a half, and 0/0 where m l vanishes as well; and the time. */
static void outputs(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)r, (void)work;
    out[0] = c[ML] / (cos(x[1]) - 0.5);
    out[1] = t;
}
#endif

#ifdef REST
static void partial_velocities(double t, const double *x, const double *r, const double *c, double *work,
                               double *out)
{
    (void)t, (void)r, (void)work;
    for (int i = 0; i < 6; ++i)
        out[i] = 0.0;
    out[0] = 1.0;
    out[3] = c[L] * cos(x[1]);
    out[4] = -c[L] * sin(x[1]);
}

static void velocity_remainders(double t, const double *x, const double *r, const double *c, double *work,
                                double *out)
{
    (void)x, (void)r, (void)c, (void)work;
    out[0] = t;
    out[1] = out[2] = 0.0;
}

static void inertia_forces(double t, const double *x, const double *r, const double *c, double *work,
                           double *out)
{
    double mass[4];

    mass_matrix(t, x, r, c, work, mass);
    out[0] = -(mass[0] * x[4] + mass[1] * x[5] - c[ML] * sin(x[1]) * x[3] * x[3]);
    out[1] = -(mass[2] * x[4] + mass[3] * x[5]);
}

static void active_forces(double t, const double *x, const double *r, const double *c, double *work,
                          double *out)
{
    (void)t, (void)work;
    out[0] = r[0];
    out[1] = c[MGL] * sin(x[1]) - c[K] * (x[1] - r[1]);
}

static void inverse_dynamics(double t, const double *x, const double *r, const double *c, double *work,
                             double *out)
{
    double active[2];

    active_forces(t, x, r, c, work, active);
    inertia_forces(t, x, r, c, work, out);
    out[0] = -(active[0] + out[0]);
    out[1] = -(active[1] + out[1]);
}

static void kinetic_energy(double t, const double *x, const double *r, const double *c, double *work,
                           double *out)
{
    double mass[4];

    mass_matrix(t, x, r, c, work, mass);
    out[0] = 0.5 * (mass[0] * x[2] * x[2] + 2.0 * mass[1] * x[2] * x[3] + mass[3] * x[3] * x[3]);
}

static void power(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)work;
    out[0] = r[0] * x[2] - c[K] * (x[1] - r[1]) * x[3] + 0.0 * (x[4] + x[5]);
}

/* The mass at the end of the pole has only its weight and the pole, the cart only F, its weight, the rail. */
static void reactions(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    const double s = sin(x[1]), z = cos(x[1]), squared = x[3] * x[3];
    double a[2];

    udot(t, x, r, c, work, a);
    const double fx = c[M] * a[0] + c[ML] * (a[1] * z - squared * s);
    const double fy = c[M] * c[G] - c[ML] * (a[1] * s + squared * z);
    for (int i = 0; i < 12; ++i)
        out[i] = 0.0 * a[0]; /* NaN where M is singular */
    out[0] = c[MC] * a[0] + fx - r[0];
    out[1] = c[MC] * c[G] + fy;
    out[6] = fx;
    out[7] = fy;
    out[11] = out[5] = c[L] * (s * fy - z * fx) - c[K] * (x[1] - r[1]);
}
#endif

static const char *const info[] = {"{\"written\": ", "\"by hand\"}", NULL};
static const char *const q_names[] = {"s", "theta", NULL}, *const u_names[] = {"sdot", "thetadot", NULL};
static const char *const p_names[] = {P0_NAME, "m", "l", "g", "k", NULL};
static const char *const r_names[] = {"F", "w", NULL}, *const output_names[] = {"ratio", "time", NULL};
static const char *const point_names[] = {"P", NULL}, *const joint_names[] = {"cart", "pole", NULL};
static const char *const no_names[] = {NULL};
static const double p_default[] = {1.0, NAN, NAN, 9.81, 0.0}, r_default[] = {0.0, NAN};

static const kc_model model = {
    .abi_version = ABI,
    .struct_size = TABLE_SIZE,
    .n_q = 2,
    .n_u = 2,
    .n_p = 5,
    .n_r = 2,
    .n_prepared = N_PREPARED,
#ifdef GROUP_ENERGIES
    .n_work = 64,
#else
    .n_work = 2,
#endif
    .n_points = 1,
    .n_frames = 0,
    .n_outputs = 2,
    .n_joints = 2,
    .flags = KC_QDOT_IS_U,
    .name = "cart and pole",
    .n_info = 2,
    .info = info,
    .q_names = q_names,
    .u_names = u_names,
    .p_names = p_names,
    .r_names = r_names,
    .point_names = point_names,
    .frame_names = no_names,
    .output_names = output_names,
    .joint_names = joint_names,
    .p_default = p_default,
    .r_default = r_default,
#ifdef CORE
    .prepare = prepare,
    .rhs = rhs,
    .udot = udot,
    .qdot = qdot,
    .mass_matrix = mass_matrix,
    .forcing = forcing,
    .outputs = outputs,
#endif
#ifdef REST
    .partial_velocities = partial_velocities,
    .velocity_remainders = velocity_remainders,
    .generalized_active_forces = active_forces,
    .generalized_inertia_forces = inertia_forces,
    .inverse_dynamics = inverse_dynamics,
    .kinetic_energy = kinetic_energy,
    .power = power,
    .reactions = reactions,
    .forward_dynamics = forward_dynamics,
#endif
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
