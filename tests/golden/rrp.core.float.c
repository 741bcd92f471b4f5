/*
 * kanecore VERSION: model rrp, kernels: core
 * This file was generated and belongs to whoever generated it.
 *
 * q[3]: theta1 theta2 d3
 * u[3]: omega1 omega2 v3
 * r[3]: tau1 tau2 f3
 * p[20]: I1x I1y I1z I2x I2y I2z I3x I3y I3z g h l1 l1g l2 l2g l3 l3g m1 m2 m3
 *
 * operations + - * / sqrt, and pairs of sine and cosine:
 *   rhs: 77, 1
 *   udot: 77, 1
 *   qdot: 0, 0
 *   mass_matrix: 28, 1
 *   forcing: 58, 1
 *   outputs: 10, 2
 */
#include "kanecore.h"


static int compute_mass_matrix(float t, const float *x, const float *r, const float *c, float *w, float *out)
{
    (void)t, (void)x, (void)r, (void)c, (void)w, (void)out;
    out[1] = 0.0f;
    out[2] = 0.0f;
    out[3] = 0.0f;
    out[5] = 0.0f;
    out[6] = 0.0f;
    out[7] = 0.0f;
    out[8] = c[19];
    float s1, c1;
    kc_sincos(x[1], &s1, &c1);
    const float z2 = x[2] + c[20];
    const float z3 = c[19] * z2;
    const float z4 = z2 * z3;
    const float z5 = c[23] + z4;
    out[4] = z5;
    const float z6 = c[25] + z4;
    const float z7 = c[24] - z6;
    const float z8 = s1 * z7;
    const float z9 = KC_FMA(s1, z8, z6);
    const float z10 = c[26] + z9;
    out[0] = z10;
    return 0;
}

static int compute_forcing(float t, const float *x, const float *r, const float *c, float *w, float *out)
{
    (void)t, (void)x, (void)r, (void)c, (void)w, (void)out;
    float s1, c1;
    kc_sincos(x[1], &s1, &c1);
    const float z2 = x[2] + c[20];
    const float z3 = x[3] * s1;
    const float z4 = x[3] * c1;
    const float z5 = x[4] * z4;
    const float z6 = x[4] * z3;
    const float z7 = s1 * c[9];
    const float z8 = c1 * c[9];
    const float z9 = x[4] * x[4];
    const float z10 = z3 * z4;
    const float z11 = z6 + z6;
    const float z12 = z5 + z5;
    const float z13 = KC_FMA(z4, z4, z9);
    const float z14 = x[5] * z4;
    const float z15 = x[4] * x[5];
    const float z16 = 2.0f * z14;
    const float z17 = 2.0f * z15;
    const float z18 = KC_FMS(z2, z11, z16);
    const float z19 = KC_FMA(z2, z10, z17);
    const float z20 = KC_FNMA(z2, z13, z7);
    const float z21 = z8 + z19;
    const float z22 = c[25] * z10;
    const float z23 = KC_FNMA(c[24], z10, z22);
    const float z24 = c[24] * z12;
    const float z25 = c[25] * z11;
    const float z26 = KC_FMA(c[22], z8, z23);
    const float z27 = r[1] - z26;
    const float z28 = c[19] * z18;
    const float z29 = c[19] * z21;
    const float z30 = KC_FNMA(c[19], z20, r[2]);
    out[2] = z30;
    const float z31 = KC_FNMA(z2, z29, z27);
    out[1] = z31;
    const float z32 = KC_FMA(z2, z28, z25);
    const float z33 = KC_FMA(c1, z32, r[0]);
    const float z34 = KC_FNMA(s1, z24, z33);
    out[0] = z34;
    return 0;
}

static int general_udot(float t, const float *x, const float *r, const float *c, float *w, float *out)
{
    int column[3], order[1], place[3], begin[1] = {0}, end[1] = {0};
    float peak[1], peak_at[1];
    kc_saddle equations = {.n = 3, .m = 0, .k = 1, .purpose = KC_MOTION, .symmetric = 0, .column = column, .order = order, .place = place, .begin = begin, .end = end, .peak = peak, .peak_at = peak_at};
    kc_free_motion s = {
        .equations = &equations,
        .parts = {.mass_matrix = compute_mass_matrix, .forcing = compute_forcing},
    };
    return kc_accelerate_free(&s, t, x, r, c, w, out);
}

enum { ROOM_general_udot = KC_FREE_MOTION_ROOM(3) + 0 };

static int short_udot(float t, const float *x, const float *r, const float *c, float *w, float *out)
{
    (void)t, (void)x, (void)r, (void)c, (void)w, (void)out;
    if (KC_UNLIKELY(!(c[19] > 0.0f))) return KC_FAULT(KC_SINGULAR, 2);
    float s1, c1;
    kc_sincos(x[1], &s1, &c1);
    const float z2 = x[2] + c[20];
    const float z3 = x[3] * s1;
    const float z4 = x[3] * c1;
    const float z5 = x[4] * z4;
    const float z6 = x[4] * z3;
    const float z7 = s1 * c[9];
    const float z8 = c1 * c[9];
    const float z9 = x[4] * x[4];
    const float z10 = z3 * z4;
    const float z11 = z6 + z6;
    const float z12 = z5 + z5;
    const float z13 = KC_FMA(z4, z4, z9);
    const float z14 = x[5] * z4;
    const float z15 = x[4] * x[5];
    const float z16 = 2.0f * z14;
    const float z17 = KC_FMS(z2, z11, z16);
    const float z18 = KC_FNMA(z2, z13, z7);
    const float z19 = KC_FMA(2.0f, z15, z8);
    const float z20 = KC_FMA(z2, z10, z19);
    const float z21 = c[24] * z12;
    const float z22 = c[25] * z11;
    const float z23 = c[19] * z17;
    const float z24 = c[19] * z20;
    const float z25 = KC_FNMA(c[19], z18, r[2]);
    const float z26 = KC_FNMA(c[22], z8, r[1]);
    const float z27 = KC_FNMA(c[25], z10, z26);
    const float z28 = KC_FMA(c[24], z10, z27);
    const float z29 = KC_FNMA(z2, z24, z28);
    const float z30 = KC_FMA(z2, z23, z22);
    const float z31 = KC_FNMA(s1, z21, r[0]);
    const float z32 = KC_FMA(c1, z30, z31);
    const float z33 = c[19] * z2;
    const float z34 = z2 * z33;
    const float z35 = c[23] + z34;
    if (KC_UNLIKELY(!(z35 > 0.0f))) return KC_FAULT(KC_SINGULAR, 1);
    const float z36 = c[25] + z34;
    const float z37 = c[24] - z36;
    const float z38 = s1 * z37;
    const float z39 = c[26] + z36;
    const float z40 = KC_FMA(s1, z38, z39);
    if (KC_UNLIKELY(!(z40 > 0.0f))) return KC_FAULT(KC_SINGULAR, 0);
    const float z41 = 1.0f / z35;
    const float z42 = 1.0f / z40;
    const float z43 = z32 * z42;
    out[0] = z43;
    const float z44 = z29 * z41;
    out[1] = z44;
    const float z45 = z25 * c[27];
    out[2] = z45;
    return 0;
}

static int compute_udot(float t, const float *x, const float *r, const float *c, float *w, float *out)
{
    const int fault = short_udot(t, x, r, c, w, out);
    if (!KC_UNLIKELY(fault)) return 0;
    const int other = general_udot(t, x, r, c, w, out);
    return fault != KC_NOT_HERE && kc_status_of(other) == KC_SINGULAR ? fault : other;
}

enum { ROOM_compute_udot = KC_MOST(0 + 0, ROOM_general_udot) };

static int compute_qdot(float t, const float *x, const float *r, const float *c, float *w, float *out)
{
    (void)t, (void)x, (void)r, (void)c, (void)w, (void)out;
    out[0] = x[3];
    out[1] = x[4];
    out[2] = x[5];
    return 0;
}

static int compute_outputs(float t, const float *x, const float *r, const float *c, float *w, float *out)
{
    (void)t, (void)x, (void)r, (void)c, (void)w, (void)out;
    float s1, c1;
    kc_sincos(x[0], &s1, &c1);
    float s2, c2;
    kc_sincos(x[1], &s2, &c2);
    const float z3 = x[2] + c[20];
    const float z4 = c2 * z3;
    const float z5 = s1 * z4;
    out[0] = -z5;
    const float z6 = c1 * z3;
    const float z7 = c2 * z6;
    out[1] = z7;
    const float z8 = KC_FMA(s2, z3, c[21]);
    out[2] = z8;
    return 0;
}

static void kernel_udot(double t, const float *x, const float *r, const float *c, float *work, float *out)
{
    const int fault = compute_udot((float)t, x, r, c, work + 2, out);
    if (KC_UNLIKELY(fault)) kc_fail(work, out, 3, fault);
}

static void kernel_qdot(double t, const float *x, const float *r, const float *c, float *work, float *out)
{
    compute_qdot((float)t, x, r, c, work + 2, out);
}

static void kernel_mass_matrix(double t, const float *x, const float *r, const float *c, float *work, float *out)
{
    compute_mass_matrix((float)t, x, r, c, work + 2, out);
}

static void kernel_forcing(double t, const float *x, const float *r, const float *c, float *work, float *out)
{
    compute_forcing((float)t, x, r, c, work + 2, out);
}

static void kernel_outputs(double t, const float *x, const float *r, const float *c, float *work, float *out)
{
    compute_outputs((float)t, x, r, c, work + 2, out);
}

static void kernel_rhs(double t, const float *x, const float *r, const float *c, float *work, float *out)
{
    const int fault = compute_udot((float)t, x, r, c, work + 2, out + 3);
    if (KC_UNLIKELY(fault)) kc_fail(work, out, 6, fault);
    else compute_qdot((float)t, x, r, c, work + 2, out);
}

static void prepare(const float *p, float *c)
{
    (void)p, (void)c;
    for (int i = 0; i < 20; i++) c[i] = p[i];
    const float z1 = p[13] + p[16];
    const float z2 = z1 - p[15];
    const float z3 = p[10] + p[11];
    const float z4 = p[18] * p[14];
    const float z5 = p[14] * z4;
    const float z6 = p[3] + z5;
    const float z7 = p[5] + z5;
    const float z8 = p[6] + z6;
    const float z9 = p[4] + p[7];
    const float z10 = p[8] + z7;
    const float z11 = z9 - z10;
    const float z12 = z9 - z8;
    const float z13 = z10 + z12;
    const float z14 = 0.5f * z13;
    const float z15 = z8 + z11;
    const float z16 = 0.5f * z15;
    const float z17 = z8 - z11;
    const float z18 = 0.5f * z17;
    const float z19 = p[2] + z14;
    const float z20 = 1.0f / p[19];
    c[20] = z2;
    c[21] = z3;
    c[22] = z4;
    c[23] = z8;
    c[24] = z16;
    c[25] = z18;
    c[26] = z19;
    c[27] = z20;
}

static const char *const q_names[] = {"theta1", "theta2", "d3", 0};
static const char *const u_names[] = {"omega1", "omega2", "v3", 0};
static const char *const p_names[] = {"I1x",
    "I1y",
    "I1z",
    "I2x",
    "I2y",
    "I2z",
    "I3x",
    "I3y",
    "I3z",
    "g",
    "h",
    "l1",
    "l1g",
    "l2",
    "l2g",
    "l3",
    "l3g",
    "m1",
    "m2",
    "m3",
    0};
static const char *const r_names[] = {"tau1", "tau2", "f3", 0};
static const char *const point_names[] = {"G1", "G2", "G3", "slide", 0};
static const char *const frame_names[] = {"B1", "B2", 0};
static const char *const output_names[] = {"tip_x", "tip_y", "tip_z", 0};
static const char *const joint_names[] = {"link1", "link2", "link3", 0};
static const char *const body_names[] = {"link1", "link2", "link3", 0};
static const char *const constraint_names[] = {0};
static const char *const info[] = {"{\042version\042:\0420.1.0\042,\042kernels\042:\042core\042,\042operations\042:{\042rhs\042:77,\042udot\042:77,\042qdot\042:0,\042m",
    "ass_matrix\042:28,\042forcing\042:58,\042outputs\042:10},\042sincos\042:{\042rhs\042:1,\042udot\042:1,\042mass_matri",
    "x\042:1,\042forcing\042:1,\042outputs\042:2},\042unread\042:{\042rhs\042:138243,\042udot\042:138243,\042qdot\042:104857",
    "5,\042mass_matrix\042:138755,\042forcing\042:138247,\042outputs\042:939007},\042mass_matrix\042:\042composi",
    "te bodies, L\134u1d40DL\042,\042bodies\042:[[0,0],[1,1],[2,1]],\042loads\042:[[0,0,0,0],[0,1,1,1],",
    "[0,2,2,2],[1,0,3,0],[1,1,4,1],[1,0,5,0],[0,2,6,2],[0,3,7,1]],\042joints\042:[[-1,0,0],",
    "[0,1,0],[1,2,0]],\042inertial\042:\042N\042,\042origin\042:\042O\042,\042origins\042:[\042O\042,\042O\042,\042O\042,\042O\042],\042tree\042:",
    "[4,5,5,5,-1,4,5]}",
    0};
static const double p_default[] = {KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN, KC_NAN};
static const double r_default[] = {0.0, 0.0, 0.0};
static const int32_t r_rates[] = {-1, -1, -1};
static const uint32_t unit[] = {0};
static const kc_model model = {
    .abi_version = KC_ABI_VERSION,
    .struct_size = sizeof(kc_model),
    .n_q = 3,
    .n_u = 3,
    .n_p = 20,
    .n_r = 3,
    .n_prepared = 28,
    .n_work = 2 + KC_MOST(ROOM_general_udot, ROOM_compute_udot),
    .n_points = 4,
    .n_frames = 2,
    .n_outputs = 3,
    .n_joints = 3,
    .n_bodies = 3,
    .n_loads = 8,
    .n_potentials = 0,
    .n_unit = 0,
    .n_constraints = 0,
    .n_configuration = 0,
    .n_velocity = 0,
    .n_auxiliary = 0,
    .n_q_dependent = 0,
    .n_u_dependent = 0,
    .n_info = 8,
    .flags = KC_SINGLE | KC_QDOT_IS_U,
    .name = "rrp",
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
    .prepare = KC_STORED(kc_prepare, prepare),
    .rhs = KC_STORED(kc_kernel, kernel_rhs),
    .udot = KC_STORED(kc_kernel, kernel_udot),
    .qdot = KC_STORED(kc_kernel, kernel_qdot),
    .mass_matrix = KC_STORED(kc_kernel, kernel_mass_matrix),
    .forcing = KC_STORED(kc_kernel, kernel_forcing),
    .outputs = KC_STORED(kc_kernel, kernel_outputs),
};

const kc_model *kc_get_model(void)
{
    return &model;
}
