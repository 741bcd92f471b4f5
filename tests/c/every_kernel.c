/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls every kernel of a model, with buffers of exactly the lengths that kanecore.h promises, at states
 * from zero to NaN.  Linked with the C of a model and built with sanitizers, it ends where a kernel reads or
 * writes beside its buffers; by itself it tells a kernel that leaves part of its result unwritten, or that
 * reads its work or its result before it has written them.
 */
#include "kanecore.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    kc_kernel *call;
    size_t length; /* of out */
    size_t beyond; /* numbers that x goes on with */
} kernel;

enum { ZERO, ONE, RANDOM, LARGE = RANDOM + 4, ENORMOUS, INFINITE, NOT_A_NUMBER, STATES };

static void demand(int holds, const char *model, const char *where, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s, %s: %s\n", model, where, what);
    exit(1);
}

static double *doubles(size_t n)
{
    double *p = malloc(n * sizeof(double));
    demand(p != NULL || n == 0, "memory", "malloc", "there is none");
    return p;
}

/* Marsaglia's xorshift64, as a number in [-2, 2). */
static double next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) * 0x1p-51 - 2.0;
}

static double value(int state, size_t i, double random)
{
    switch (state) {
    case ZERO:
        return 0.0;
    case ONE:
        return 1.0;
    case LARGE: /* beyond the range of kc_sincos() */
        return 1e6 * random;
    case ENORMOUS:
        return 1e300 * random;
    case INFINITE:
        return i % 2 ? -HUGE_VAL : HUGE_VAL;
    case NOT_A_NUMBER:
        return NAN;
    default:
        return random;
    }
}

static void fill(double *v, size_t n, int state)
{
    uint64_t seed = UINT64_C(88172645463325252) + (uint64_t)state;
    for (size_t i = 0; i < n; i++)
        v[i] = value(state, i, next(&seed));
}

/* Scale the quaternions of a state to length one. */
static void normalize(const kc_model *m, double *x)
{
    for (uint32_t i = 0; i < m->n_unit; i++) {
        const uint32_t *at = m->unit + 4 * (size_t)i;
        const double length =
            sqrt(x[at[0]] * x[at[0]] + x[at[1]] * x[at[1]] + x[at[2]] * x[at[2]] + x[at[3]] * x[at[3]]);
        for (int j = 0; j < 4; j++)
            x[at[j]] /= length;
    }
}

static void check_names(const kc_model *m, const char *what, const char *const *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        demand(names[i] != NULL && strlen(names[i]) < 1000, m->name, what, "a name is missing");
}

static void check_table(const kc_model *m)
{
    demand(m->abi_version == KC_ABI_VERSION && m->struct_size == sizeof *m, m->name, "table",
           "version or size");
    demand(m->n_work >= 2, m->name, "table", "n_work is at least 2");
    demand(m->n_prepared >= m->n_p, m->name, "table", "prepared constants begin with the parameters");
    check_names(m, "info", m->info, m->n_info);
    check_names(m, "coordinates", m->q_names, m->n_q);
    check_names(m, "speeds", m->u_names, m->n_u);
    check_names(m, "states", m->z_names, m->n_z);
    check_names(m, "parameters", m->p_names, m->n_p);
    check_names(m, "inputs", m->r_names, m->n_r);
    check_names(m, "points", m->point_names, m->n_points);
    check_names(m, "frames", m->frame_names, m->n_frames);
    check_names(m, "outputs", m->output_names, m->n_outputs);
    check_names(m, "joints", m->joint_names, m->n_joints);
    check_names(m, "bodies", m->body_names, m->n_bodies);
    check_names(m, "constraints", m->constraint_names, m->n_constraints);
    demand(m->n_velocity <= m->n_constraints, m->name, "table", "rows on velocities are rows of G");
    demand(m->n_q_dependent <= m->n_q && m->n_u_dependent <= m->n_u, m->name, "table", "dependent ones");
    for (size_t i = 0; i < 4 * (size_t)m->n_unit; i++)
        demand(m->unit[i] < m->n_q, m->name, "unit", "a quaternion lies in the coordinates");
}

/* Twice with other bytes in work and out: what is written may depend on neither. */
static void call_twice(const kc_model *m, const kernel *k, double t, const double *x, const double *r,
                       const double *c)
{
    const size_t bytes = k->length * sizeof(double);
    const double n_rows = m->n_u + m->n_constraints + m->n_configuration;
    double *out[2];
    for (int turn = 0; turn < 2; turn++) {
        double *work = doubles(m->n_work);
        out[turn] = doubles(k->length);
        memset(work, turn ? 0x5a : 0xff, m->n_work * sizeof(double));
        memset(out[turn], turn ? 0x5a : 0xff, bytes);
        work[0] = 0.0;
        k->call(t, x, r, c, work, out[turn]);
        demand(work[0] == KC_OK || work[0] == KC_SINGULAR ||
                   (work[0] >= KC_CONTRADICTORY && work[0] <= KC_UNSATISFIED_CONFIGURATION),
               m->name, k->name, "an unknown status");
        demand(work[0] == KC_OK || (work[1] >= 0.0 && work[1] < n_rows), m->name, k->name,
               "the row of a pivot");
        free(work);
    }
    for (size_t i = 0; i < k->length; i++) {
        const double a = out[0][i], b = out[1][i];
        demand((a != a && b != b) || a == b, m->name, k->name,
               "the result depends on what was in work or out");
    }
    free(out[0]);
    free(out[1]);
}

/* What a library says of itself, its pieces put together. */
static const char *info(const kc_model *m)
{
    static char *whole = NULL;
    size_t length = 0;
    if (whole != NULL)
        return whole;
    for (uint32_t i = 0; i < m->n_info; i++)
        length += strlen(m->info[i]);
    whole = calloc(length + 1, 1);
    demand(whole != NULL, m->name, "info", "no memory");
    for (uint32_t i = 0; i < m->n_info; i++)
        strcat(whole, m->info[i]);
    return whole;
}

/* Whether a model may lack a kernel: project without constraints, and what `info` names as missing. */
static int may_be_missing(const kc_model *m, const char *name)
{
    const char *missing = strstr(info(m), "\"missing\"");
    char quoted[100];
    if (strcmp(name, "project") == 0 || strcmp(name, "project_gradient") == 0 ||
        strcmp(name, "stabilization") == 0)
        return m->n_constraints == 0;
    snprintf(quoted, sizeof quoted, "\"%s\":", strcmp(name, "reaction_slopes") == 0 ? "reactions" : name);
    return missing != NULL && strstr(missing, quoted) != NULL;
}

int main(void)
{
    const kc_model *m = kc_get_model();
    const size_t n_u = m->n_u, n_x = m->n_q + n_u + m->n_z;
    const kernel kernels[] = {
#include "kernels.inc"
    };
    int called = 0;
    check_table(m);
    for (int parameters = 0; parameters < 2; parameters++) {
        /* the model's own values, with 1 for what it leaves open; then massless bodies without length */
        double *p = doubles(m->n_p), *c = doubles(m->n_prepared);
        for (uint32_t i = 0; i < m->n_p; i++)
            p[i] = parameters ? 0.0 : isnan(m->p_default[i]) ? 1.0 : m->p_default[i];
        m->prepare(p, c);
        for (int state = 0; state < STATES; state++)
            for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
                const kernel *k = kernels + i;
                const size_t length = n_x + k->beyond;
                double t, *x = doubles(length), *r = doubles(m->n_r);
                if (k->call == NULL) {
                    demand(k->length == 0 || may_be_missing(m, k->name), m->name, k->name, "is missing");
                } else {
                    fill(&t, 1, state);
                    fill(x, length, state);
                    fill(r, m->n_r, state);
                    if (state >= RANDOM && state < LARGE)
                        normalize(m, x);
                    call_twice(m, k, t, x, r, c);
                    called += state == ZERO && parameters == 0;
                }
                free(x);
                free(r);
            }
        free(p);
        free(c);
    }
    printf("%d kernels\n", called);
    return 0;
}
