/*
 * kanecore VERSION: model rotating_tube, kernels: core
 * This file was generated and belongs to whoever generated it.
 *
 * q[2]: q1 q2
 * u[2]: u1 u2
 * r[3]: theta theta_d theta_dd
 * p[7]: L1 L2 g k1 k2 m1 m2
 *
 * operations + - * / sqrt, and pairs of sine and cosine:
 *   rhs: 21, 1
 *   udot: 21, 1
 *   qdot: 0, 0
 *   mass_matrix: 0, 0
 *   forcing: 17, 1
 */
#include "kanecore.h"


static int compute_mass_matrix(double t, const double *x, const double *r, const double *c, double *w, double *out)
{
    (void)t, (void)x, (void)r, (void)c, (void)w, (void)out;
    out[0] = c[5];
    out[1] = 0.0;
    out[2] = 0.0;
    out[3] = c[6];
    return 0;
}

static int compute_forcing(double t, const double *x, const double *r, const double *c, double *w, double *out)
{
    (void)t, (void)x, (void)r, (void)c, (void)w, (void)out;
    const double z1 = x[0] + c[0];
    double s2, c2;
    kc_sincos(r[0], &s2, &c2);
    const double z3 = x[1] + c[7];
    const double z4 = x[1] - x[0];
    const double z5 = c[4] * z4;
    const double z6 = KC_FNMA(x[0], c[3], z5);
    const double z7 = c2 * c[2];
    const double z8 = r[1] * r[1];
    const double z9 = KC_FMA(z1, z8, z7);
    const double z10 = KC_FMA(z3, z8, z7);
    const double z11 = KC_FMA(c[5], z9, z6);
    out[0] = z11;
    const double z12 = KC_FMS(c[6], z10, z5);
    out[1] = z12;
    return 0;
}

static int general_udot(double t, const double *x, const double *r, const double *c, double *w, double *out)
{
    int column[2], order[1], place[2], begin[1] = {0}, end[1] = {0};
    double peak[1], peak_at[1];
    kc_saddle equations = {.n = 2, .m = 0, .k = 1, .purpose = KC_MOTION, .symmetric = 0, .column = column, .order = order, .place = place, .begin = begin, .end = end, .peak = peak, .peak_at = peak_at};
    kc_free_motion s = {
        .equations = &equations,
        .parts = {.mass_matrix = compute_mass_matrix, .forcing = compute_forcing},
    };
    return kc_accelerate_free(&s, t, x, r, c, w, out);
}

enum { ROOM_general_udot = KC_FREE_MOTION_ROOM(2) + 0 };

static int short_udot(double t, const double *x, const double *r, const double *c, double *w, double *out)
{
    (void)t, (void)x, (void)r, (void)c, (void)w, (void)out;
    if (KC_UNLIKELY(!(c[5] > 0.0))) return KC_FAULT(KC_SINGULAR, 0);
    if (KC_UNLIKELY(!(c[6] > 0.0))) return KC_FAULT(KC_SINGULAR, 1);
    const double z1 = x[0] + c[0];
    double s2, c2;
    kc_sincos(r[0], &s2, &c2);
    const double z3 = x[1] + c[7];
    const double z4 = x[1] - x[0];
    const double z5 = c[4] * z4;
    const double z6 = c2 * c[2];
    const double z7 = r[1] * r[1];
    const double z8 = KC_FMA(z1, z7, z6);
    const double z9 = KC_FMA(z3, z7, z6);
    const double z10 = KC_FNMA(x[0], c[3], z5);
    const double z11 = KC_FMA(c[5], z8, z10);
    const double z12 = KC_FMS(c[6], z9, z5);
    const double z13 = z11 * c[9];
    out[0] = z13;
    const double z14 = z12 * c[8];
    out[1] = z14;
    return 0;
}

static int compute_udot(double t, const double *x, const double *r, const double *c, double *w, double *out)
{
    const int fault = short_udot(t, x, r, c, w, out);
    if (!KC_UNLIKELY(fault)) return 0;
    const int other = general_udot(t, x, r, c, w, out);
    return fault != KC_NOT_HERE && kc_status_of(other) == KC_SINGULAR ? fault : other;
}

enum { ROOM_compute_udot = KC_MOST(0 + 0, ROOM_general_udot) };

static int compute_qdot(double t, const double *x, const double *r, const double *c, double *w, double *out)
{
    (void)t, (void)x, (void)r, (void)c, (void)w, (void)out;
    out[0] = x[2];
    out[1] = x[3];
    return 0;
}

static void kernel_udot(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    const int fault = compute_udot(t, x, r, c, work + 2, out);
    if (KC_UNLIKELY(fault)) kc_fail(work, out, 2, fault);
}

static void kernel_qdot(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    compute_qdot(t, x, r, c, work + 2, out);
}

static void kernel_mass_matrix(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    compute_mass_matrix(t, x, r, c, work + 2, out);
}

static void kernel_forcing(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    compute_forcing(t, x, r, c, work + 2, out);
}

static void kernel_rhs(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    const int fault = compute_udot(t, x, r, c, work + 2, out + 2);
    if (KC_UNLIKELY(fault)) kc_fail(work, out, 4, fault);
    else compute_qdot(t, x, r, c, work + 2, out);
}

static void prepare(const double *p, double *c)
{
    (void)p, (void)c;
    for (int i = 0; i < 7; i++) c[i] = p[i];
    const double z1 = p[0] + p[1];
    const double z2 = 1.0 / p[6];
    const double z3 = 1.0 / p[5];
    c[7] = z1;
    c[8] = z2;
    c[9] = z3;
}

static const char *const q_names[] = {"q1", "q2", 0};
static const char *const u_names[] = {"u1", "u2", 0};
static const char *const p_names[] = {"L1", "L2", "g", "k1", "k2", "m1", "m2", 0};
static const char *const r_names[] = {"theta", "theta_d", "theta_dd", 0};
static const char *const point_names[] = {"P1", "P2", 0};
static const char *const frame_names[] = {0};
static const char *const output_names[] = {0};
static const char *const joint_names[] = {"P1", "P2", 0};
static const char *const body_names[] = {"P1", "P2", 0};
static const char *const constraint_names[] = {0};
static const char *const info[] = {"{\042version\042:\0420.1.0\042,\042kernels\042:\042core\042,\042operations\042:{\042rhs\042:21,\042udot\042:21,\042qdot\042:0,\042m",
    "ass_matrix\042:0,\042forcing\042:17},\042sincos\042:{\042rhs\042:1,\042udot\042:1,\042forcing\042:1},\042unread\042:{\042q",
    "dot\042:127,\042mass_matrix\042:31,\042outputs\042:127},\042mass_matrix\042:\042composite bodies, L\134u1d4",
    "0DL\042,\042left_out\042:{\042parameter\042:[],\042input\042:[\042T12\042,\042T13\042,\042T22\042,\042T23\042]},\042bodies\042:[[0,",
    "-1],[1,-1]],\042loads\042:[[0,0,0,0],[0,0,0,0],[0,1,1,1],[0,1,1,1],[0,0,2,0],[0,1,3,1]",
    "],\042joints\042:[[-1,0,0],[-1,1,0]],\042inertial\042:\042N\042,\042origin\042:\042O\042,\042origins\042:[\042O\042,\042O\042],\042",
    "tree\042:[2,2,-1,2]}",
    0};
static const double p_default[] = {KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN};
static const double r_default[] = {KC_NAN, KC_NAN, KC_NAN};
static const int32_t r_rates[] = {1, 2, -1};
static const uint32_t unit[] = {0};
static const kc_model model = {
    .abi_version = KC_ABI_VERSION,
    .struct_size = sizeof(kc_model),
    .n_q = 2,
    .n_u = 2,
    .n_p = 7,
    .n_r = 3,
    .n_prepared = 10,
    .n_work = 2 + KC_MOST(ROOM_general_udot, ROOM_compute_udot),
    .n_points = 2,
    .n_frames = 0,
    .n_outputs = 0,
    .n_joints = 2,
    .n_bodies = 2,
    .n_loads = 6,
    .n_potentials = 0,
    .n_unit = 0,
    .n_constraints = 0,
    .n_configuration = 0,
    .n_velocity = 0,
    .n_auxiliary = 0,
    .n_q_dependent = 0,
    .n_u_dependent = 0,
    .n_info = 7,
    .flags = KC_QDOT_IS_U,
    .name = "rotating_tube",
    .q_names = q_names,
    .u_names = u_names,
    .p_names = p_names,
    .r_names = r_names,
    .point_names = point_names,
    .frame_names = frame_names,
    .output_names = output_names,
    .joint_names = joint_names,
    .body_names = body_names,
    .constraint_names = constraint_names,
    .info = info,
    .p_default = p_default,
    .r_default = r_default,
    .r_rates = r_rates,
    .unit = unit,
    .prepare = prepare,
    .rhs = kernel_rhs,
    .udot = kernel_udot,
    .qdot = kernel_qdot,
    .mass_matrix = kernel_mass_matrix,
    .forcing = kernel_forcing,
};

const kc_model *kc_get_model(void)
{
    return &model;
}
