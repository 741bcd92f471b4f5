/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every kind of rollout, in lanes and row by row, on doubles and floats, on a system of seven equations: all
 * give the same bits.  One row starts from NaN, one grows beyond all numbers, one comes to a state without
 * solution; lanes leave the second row of each four to the scalar kernel.
 */
#include "kc_cpu.h"
#include "rollout/kc_rollout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_Q = 4, N_U = 3, N_X = 7, ROWS = 11, STEPS = 9, LANES = 4, MANY = ROWS * (STEPS + 1) * N_X };

static const uint32_t unit[] = {0, 1, 2, 3};

#define KERNELS(number, named)                                                                               \
    static void named##qdot(double t, const number *x, const number *r, const number *c, number *work,       \
                            number *out)                                                                     \
    {                                                                                                        \
        (void)t, (void)r, (void)work;                                                                        \
        for (int i = 0; i < N_Q; i++)                                                                        \
            out[i] = c[0] * x[(i + 1) % N_Q] * x[N_Q + i % N_U];                                             \
    }                                                                                                        \
    static void named##rhs(double t, const number *x, const number *r, const number *c, number *work,        \
                           number *out)                                                                      \
    {                                                                                                        \
        named##qdot(t, x, r, c, work, out);                                                                  \
        for (int i = 0; i < N_U; i++)                                                                        \
            out[N_Q + i] = x[N_Q + i] * x[N_Q + i] - x[i] + r[0] + (number)t;                                \
        if (x[N_X - 1] > 100 && x[N_X - 1] < 200)                                                            \
            work[0] = KC_SINGULAR, work[1] = 2;                                                              \
    }                                                                                                        \
    static void named##gather(uint32_t n, const number *const *rows, number *to)                             \
    {                                                                                                        \
        for (uint32_t i = 0; i < n; i++)                                                                     \
            for (int lane = 0; lane < LANES; lane++)                                                         \
                to[i * LANES + (uint32_t)lane] = rows[lane][i];                                              \
    }                                                                                                        \
    static void named##scatter(uint32_t n, const number *values, number *const *rows)                        \
    {                                                                                                        \
        for (uint32_t i = 0; i < n; i++)                                                                     \
            for (int lane = 0; lane < LANES; lane++)                                                         \
                rows[lane][i] = values[i * LANES + (uint32_t)lane];                                          \
    }                                                                                                        \
    static void named##each(                                                                                 \
        void (*f)(double, const number *, const number *, const number *, number *, number *),               \
        uint32_t n_out, uint32_t n_blocks, const number *t, const number *x, const number *r,                \
        const number *c, number *out, uint32_t *undone)                                                      \
    {                                                                                                        \
        for (uint32_t b = 0; b < n_blocks; b++) {                                                            \
            undone[b] = 2;                                                                                   \
            for (uint32_t lane = 0; lane < LANES; lane++) {                                                  \
                number row[N_X], result[N_X], work[2] = {0};                                                 \
                for (uint32_t i = 0; i < N_X; i++)                                                           \
                    row[i] = x[(b * N_X + i) * LANES + lane];                                                \
                f(t[b * LANES + lane], row, r + b * LANES + lane, c + lane, work, result);                   \
                for (uint32_t i = 0; i < n_out; i++) {                                                       \
                    out[(b * n_out + i) * LANES + lane] = lane == 1 ? 77 : result[i];                        \
                    if (work[0] != 0 || !isfinite(result[i]))                                                \
                        undone[b] |= 1u << lane;                                                             \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static void named##lanes_rhs(uint32_t n_blocks, const number *t, const number *x, const number *r,       \
                                 const number *c, number *work, number *out, uint32_t *undone)               \
    {                                                                                                        \
        (void)work;                                                                                          \
        named##each(named##rhs, N_X, n_blocks, t, x, r, c, out, undone);                                     \
    }                                                                                                        \
    static void named##lanes_qdot(uint32_t n_blocks, const number *t, const number *x, const number *r,      \
                                  const number *c, number *work, number *out, uint32_t *undone)              \
    {                                                                                                        \
        (void)work;                                                                                          \
        named##each(named##qdot, N_Q, n_blocks, t, x, r, c, out, undone);                                    \
    }                                                                                                        \
    static const kc_lanes named##table = {.struct_size = sizeof(kc_lanes),                                   \
                                          .n_lanes = LANES,                                                  \
                                          .n_prepared = 1,                                                   \
                                          .n_work = 2,                                                       \
                                          .gather = (kc_gather_rows *)named##gather,                         \
                                          .scatter = (kc_scatter_rows *)named##scatter};                     \
    static void named##fill(kc_rollout *plan, int in_lanes)                                                  \
    {                                                                                                        \
        static number x0[ROWS][N_X], r[STEPS][ROWS], c[1] = {(number)0.75};                                  \
        static int64_t x0_at[ROWS], r_at[ROWS];                                                              \
        for (int row = 0; row < ROWS; row++) {                                                               \
            for (int i = 0; i < N_X; i++)                                                                    \
                x0[row][i] = (number)(sin(row + 3.0 * i) / 2);                                               \
            for (int step = 0; step < STEPS; step++)                                                         \
                r[step][row] = (number)cos(row * step);                                                      \
            x0_at[row] = (int64_t)sizeof(number) * N_X * row, r_at[row] = (int64_t)sizeof(number) * row;     \
        }                                                                                                    \
        x0[3][5] = NAN, x0[6][4] = 1000, x0[9][6] = 8;                                                       \
        plan->x0 = (const char *)x0, plan->r = (const char *)r, plan->c = (const char *)c;                   \
        plan->x0_at = x0_at, plan->r_at = r_at, plan->r_step = (int64_t)sizeof(number) * ROWS;               \
        plan->rhs = (kc_kernel *)named##rhs, plan->qdot = (kc_kernel *)named##qdot;                          \
        if (in_lanes) {                                                                                      \
            plan->lanes = &named##table, plan->n_blocks = 2, plan->n_lane_work = 2;                          \
            plan->rhs_of_lanes = (kc_lane_kernel *)named##lanes_rhs;                                         \
            plan->qdot_of_lanes = (kc_lane_kernel *)named##lanes_qdot;                                       \
        }                                                                                                    \
    }

KERNELS(double, of_doubles_)
KERNELS(float, of_floats_)

static int failures;

static void check(int good, const char *what, int kind, int single, int method, int in_lanes)
{
    failures += !good;
    if (!good)
        printf("%s: kind %d, %s, method %d, %s\n", what, kind, single ? "floats" : "doubles", method,
               in_lanes ? "lanes" : "row by row");
}

/* One kind against row by row on any processor, whose result is `first`. */
static void run(int kind, kc_roll_out_kind *f, int single, int method, int in_lanes, int with_unit,
                char *first)
{
    static double out[MANY];
    unsigned char code[ROWS] = {0};
    int32_t number[ROWS];
    int64_t last[ROWS];
    const size_t size = MANY * (single ? sizeof(float) : sizeof(double));
    kc_rollout plan = {.n_q = N_Q,
                       .n_u = N_U,
                       .n_r = 1,
                       .n_work = 2,
                       .n_prepared = 1,
                       .n_blocks = 1,
                       .n_unit = (uint32_t)with_unit,
                       .unit = unit,
                       .single = single,
                       .semi_implicit = method,
                       .t0 = 0.5,
                       .dt = 0.125,
                       .steps = STEPS,
                       .out = (char *)out,
                       .code = code,
                       .number = number,
                       .last = last};
    (single ? of_floats_fill : of_doubles_fill)(&plan, in_lanes);
    char *const memory = malloc(kc_rollout_work(&plan) + 64);
    f(&plan, 0, ROWS, memory + (64 - (uintptr_t)memory % 64));
    free(memory);
    if (kind == 0 && !in_lanes)
        memcpy(first, out, size);
    check(memcmp(first, out, size) == 0, "bits", kind, single, method, in_lanes);
    check(code[3] == KC_NONFINITE && last[3] == -1, "a start of NaN", kind, single, method, in_lanes);
    check(code[6] != KC_OK && last[6] >= 0 && last[6] < STEPS, "divergence", kind, single, method, in_lanes);
    check(code[0] == KC_OK && last[0] == STEPS, "a good row", kind, single, method, in_lanes);
    check(code[9] != KC_SINGULAR || number[9] == 2, "a number", kind, single, method, in_lanes);
}

int main(void)
{
    static char first[MANY * sizeof(double)];
    kc_roll_out_kind *kinds[3][2] = {{kc_roll_out_doubles, kc_roll_out_floats}};
    int n_kinds = 1;
#if defined(__x86_64__) && defined(__GNUC__)
    if (kc_cpu_level() >= 3)
        kinds[1][0] = kc_roll_out_doubles_v3, kinds[1][1] = kc_roll_out_floats_v3, n_kinds = 2;
    if (kc_cpu_level() >= 4)
        kinds[2][0] = kc_roll_out_doubles_v4, kinds[2][1] = kc_roll_out_floats_v4, n_kinds = 3;
#endif
    for (int single = 0; single < 2; single++)
        for (int method = 0; method < 2; method++)
            for (int with_unit = 0; with_unit < 2; with_unit++)
                for (int kind = 0; kind < n_kinds; kind++)
                    for (int in_lanes = 0; in_lanes < 2; in_lanes++)
                        run(kind, kinds[kind][single], single, method, in_lanes, with_unit, first);
    if (failures == 0)
        puts("all checks passed");
    return failures != 0;
}
