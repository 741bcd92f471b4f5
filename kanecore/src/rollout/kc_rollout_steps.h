/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rollout of rows on numbers of the type KC_NUMBER, as a function KC_ROLL_OUT.  KC_TYPED(f) names the
 * functions that it calls, KC_ROLLOUT_BYTES is the size of a vector.  It may be included once for each type.
 *
 * Rows go in groups of n_blocks n_lanes: arrays hold n_lanes numbers side by side, as in kc_lanes.  Without
 * lanes a group is one row, in the same layout.  Each number of a state is advanced by the same operations,
 * and no operations are fused (setup.py): so lanes, vectors and single numbers round alike.
 */
#include <math.h>
#include <string.h>

#define KC_NORMALIZE KC_TYPED(normalize)
#include "kc_quaternions.h"
#undef KC_NORMALIZE

#ifndef KC_ROLLOUT_PATIENCE
#if defined(__GNUC__)
#define KC_AHEAD(address) __builtin_prefetch(address, 1)
#else
#define KC_AHEAD(address) ((void)(address))
#endif

#define KC_ROLLOUT_PATIENCE 16384 /* evaluations between two calls of `stop` */

typedef struct kc_stretch_of_time {
    double t, middle, next, h;
} kc_stretch_of_time;
#endif

#include "kc_rollout_packs.h"

typedef void KC_TYPED(kernel)(double t, const KC_NUMBER *x, const KC_NUMBER *r, const KC_NUMBER *c,
                              KC_NUMBER *work, KC_NUMBER *out);
typedef void KC_TYPED(lane_kernel)(uint32_t n_blocks, const KC_NUMBER *t, const KC_NUMBER *x,
                                   const KC_NUMBER *r, const KC_NUMBER *c, KC_NUMBER *work, KC_NUMBER *out,
                                   uint32_t *undone);
typedef void KC_TYPED(gather)(uint32_t n, const KC_NUMBER *const *rows, KC_NUMBER *to);
typedef void KC_TYPED(scatter)(uint32_t n, const KC_NUMBER *values, KC_NUMBER *const *rows);

#ifndef KC_ROLLOUT_N_X
#define KC_ROLLOUT_N_X(plan) ((plan)->n_q + (plan)->n_u + (plan)->n_z)
#endif

/* Rows in progress. */
typedef struct KC_TYPED(group) {
    const kc_rollout *plan;
    uint32_t n_x, n_lanes, n_blocks;
    size_t first;                                 /* the row in the first lane */
    uint32_t alive[KC_MOST_BLOCKS];               /* a bit for each lane with a row that goes on */
    uint32_t undone[KC_MOST_BLOCKS];              /* of the last call */
    uint64_t step;                                /* current step; this many are done */
    double time;                                  /* content of g->t; NaN: none */
    KC_NUMBER *to[KC_MOST_BLOCKS][KC_MOST_LANES]; /* addresses for the next state of each row */
    const KC_NUMBER *from[KC_MOST_LANES];         /* gathered values */
    /* in lanes, block after block */
    KC_NUMBER *t, *x, *y, *k1, *k2, *k3, *k4, *r, *c, *work;
    /* of one row */
    KC_NUMBER *row_x, *row_r, *row_out, *row_work, *spare;
} KC_TYPED(group);

/* Lay out the arrays of a group from `memory` on (NULL: nowhere); return their size in bytes. */
static size_t KC_TYPED(lay_out)(const kc_rollout *plan, void *memory, KC_TYPED(group) * g)
{
    const size_t n_x = KC_ROLLOUT_N_X(plan), lanes = plan->lanes ? plan->lanes->n_lanes : 1;
    const size_t width = lanes * plan->n_blocks;
    const size_t line = 64 / sizeof(KC_NUMBER); /* each array begins with one of the cache */
    const struct {
        KC_NUMBER **array;
        size_t n;
    } arrays[] = {{&g->t, width},
                  {&g->x, width * n_x},
                  {&g->y, width * n_x},
                  {&g->k1, width * n_x},
                  {&g->k2, width * n_x},
                  {&g->k3, width * n_x},
                  {&g->k4, width * n_x},
                  {&g->r, width * plan->n_r},
                  {&g->c, plan->lanes ? lanes * plan->n_prepared : 0},
                  {&g->work, plan->lanes ? width * plan->n_lane_work : 0},
                  {&g->row_x, n_x},
                  {&g->row_r, plan->n_r},
                  {&g->row_out, n_x},
                  {&g->row_work, plan->n_work},
                  {&g->spare, n_x}};
    size_t n = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i].array = memory ? (KC_NUMBER *)memory + n : NULL;
        n += (arrays[i].n + line - 1) / line * line;
    }
    return n * sizeof(KC_NUMBER);
}

/* --------------------------------------------------------------------------------------------- arithmetic */

/* x = x + h (k1 + 2 (k2 + k3) + k4); whether all is finite */
static inline int KC_TYPED(finish)(size_t n, KC_NUMBER *x, KC_NUMBER h, const KC_NUMBER *k1,
                                   const KC_NUMBER *k2, const KC_NUMBER *k3, const KC_NUMBER *k4)
{
    const KC_NUMBER zero = 0, two = 2;
    KC_TYPED(pack) check = {0}; /* NaN if any is not */
    KC_NUMBER rest = 0;
#define KC_EACH(type, i)                                                                                     \
    KC_OUT(type, x, i) =                                                                                     \
        KC_IN(type, x, i) +                                                                                  \
        h * (KC_IN(type, k1, i) + two * (KC_IN(type, k2, i) + KC_IN(type, k3, i)) + KC_IN(type, k4, i))
    size_t i = 0;
    for (; i + KC_TYPED(PER_PACK) <= n; i += KC_TYPED(PER_PACK)) {
        KC_EACH(KC_TYPED(pack), i);
        check += KC_IN(KC_TYPED(pack), x, i) * zero;
    }
    for (; i < n; i++) {
        KC_EACH(KC_NUMBER, i);
        rest += x[i] * zero;
    }
#undef KC_EACH
    for (int j = 0; j < KC_TYPED(PER_PACK); j++)
        rest += check[j];
    return rest == 0;
}

/* True if n numbers, `stride` apart, are finite. */
static inline int KC_TYPED(finite)(size_t n, const KC_NUMBER *x, size_t stride)
{
    const KC_NUMBER zero = 0;
    KC_NUMBER check = 0; /* NaN if any is not */
    for (size_t i = 0; i < n; i++)
        check += x[i * stride] * zero;
    return check == 0;
}

/* --------------------------------------------------------------------------------------------------- rows */

static inline size_t KC_TYPED(row_of)(const KC_TYPED(group) * g, uint32_t block, uint32_t lane)
{
    return g->first + (size_t)block * g->n_lanes + lane;
}

/* n numbers of a lane, and back. */
static void KC_TYPED(take)(const KC_TYPED(group) * g, uint32_t n, const KC_NUMBER *a, uint32_t block,
                           uint32_t lane, KC_NUMBER *row)
{
    a += (size_t)block * n * g->n_lanes + lane;
    for (uint32_t i = 0; i < n; i++)
        row[i] = a[(size_t)i * g->n_lanes];
}

static void KC_TYPED(put)(const KC_TYPED(group) * g, uint32_t n, const KC_NUMBER *row, uint32_t block,
                          uint32_t lane, KC_NUMBER *a)
{
    a += (size_t)block * n * g->n_lanes + lane;
    for (uint32_t i = 0; i < n; i++)
        a[(size_t)i * g->n_lanes] = row[i];
}

/* End the row in a lane: its last good step is number `last`, and later states are NaN. */
static void KC_TYPED(end_row)(KC_TYPED(group) * g, uint32_t block, uint32_t lane, int64_t last, int code,
                              int32_t number)
{
    const kc_rollout *plan = g->plan;
    const size_t row = KC_TYPED(row_of)(g, block, lane), n = (size_t)plan->steps + 1;
    KC_NUMBER *const states = (KC_NUMBER *)plan->out + row * n * g->n_x;
    for (size_t i = (size_t)(last + 1) * g->n_x; i < n * g->n_x; i++)
        states[i] = NAN;
    plan->code[row] = (unsigned char)code, plan->number[row] = number, plan->last[row] = last;
    g->alive[block] &= ~(1u << lane);
    g->to[block][lane] = g->spare;
}

static inline int KC_TYPED(any_alive)(const KC_TYPED(group) * g)
{
    uint32_t any = 0;
    for (uint32_t b = 0; b < g->n_blocks; b++)
        any |= g->alive[b];
    return any != 0;
}

static inline const KC_NUMBER *KC_TYPED(constants)(const kc_rollout *plan, size_t row)
{
    return (const KC_NUMBER *)(plan->c + (plan->c_at ? plan->c_at[row] : 0));
}

/* ------------------------------------------------------------------------------------------------- kernels
 */

/* Call a kernel for the row in a lane, which ends if the kernel fails.  `n`: number of results. */
static void KC_TYPED(evaluate_row)(KC_TYPED(group) * g, kc_kernel *f, double t, const KC_NUMBER *x,
                                   uint32_t block, uint32_t lane, uint32_t n, KC_NUMBER *out)
{
    const kc_rollout *plan = g->plan;
    const int one = g->n_lanes == 1;
    KC_NUMBER *const result = one ? out : g->row_out, *const work = g->row_work;
    if (!one) {
        KC_TYPED(take)(g, g->n_x, x, block, lane, g->row_x);
        KC_TYPED(take)(g, plan->n_r, g->r, block, lane, g->row_r);
    }
    work[0] = 0;
    ((KC_TYPED(kernel) *)f)(t, one ? x : g->row_x, one ? g->r : g->row_r,
                            KC_TYPED(constants)(plan, KC_TYPED(row_of)(g, block, lane)), work, result);
    if (work[0] != 0 || !KC_TYPED(finite)(n, result, 1)) {
        const int code = work[0] != 0 ? (int)work[0] : KC_NONFINITE;
        KC_TYPED(end_row)(g, block, lane, (int64_t)g->step, code, work[0] != 0 ? (int32_t)work[1] : -1);
    }
    if (!one)
        KC_TYPED(put)(g, n, result, block, lane, out);
}

/* Call a kernel for all rows, at states x: in lanes, and one by one where lanes have no result. */
static void KC_TYPED(evaluate)(KC_TYPED(group) * g, kc_kernel *f, kc_lane_kernel *of_lanes, double t,
                               const KC_NUMBER *x, uint32_t n, KC_NUMBER *out)
{
    if (!g->plan->lanes) {
        if (g->alive[0])
            KC_TYPED(evaluate_row)(g, f, t, x, 0, 0, n, out);
        return;
    }
    if (!(g->time == t)) {
        for (uint32_t i = 0; i < g->n_lanes * g->n_blocks; i++)
            g->t[i] = (KC_NUMBER)t;
        g->time = t;
    }
    ((KC_TYPED(lane_kernel) *)of_lanes)(g->n_blocks, g->t, x, g->r, g->c, g->work, out, g->undone);
    for (uint32_t b = 0; b < g->n_blocks; b++) {
        const uint32_t undone = g->undone[b] & g->alive[b];
        for (uint32_t lane = 0; undone >> lane; lane++)
            if (undone >> lane & 1)
                KC_TYPED(evaluate_row)(g, f, t, x, b, lane, n, out);
    }
}

static inline void KC_TYPED(slopes)(KC_TYPED(group) * g, double t, const KC_NUMBER *x, KC_NUMBER *k)
{
    KC_TYPED(evaluate)(g, g->plan->rhs, g->plan->rhs_of_lanes, t, x, g->n_x, k);
}

/* --------------------------------------------------------------------------------------------------- steps
 */

/* The classical method of order 4, as step_rk4() of kc_methods.c; whether all states are finite. */
static int KC_TYPED(step_rk4)(KC_TYPED(group) * g, const kc_stretch_of_time *s)
{
    const size_t n = (size_t)g->n_blocks * g->n_x * g->n_lanes;
    const KC_NUMBER h = (KC_NUMBER)s->h, half = (KC_NUMBER)0.5 * h, sixth = h / 6;
    KC_TYPED(slopes)(g, s->t, g->x, g->k1);
    KC_TYPED(advance)(n, g->x, half, g->k1, g->y);
    KC_TYPED(slopes)(g, s->middle, g->y, g->k2);
    KC_TYPED(advance)(n, g->x, half, g->k2, g->y);
    KC_TYPED(slopes)(g, s->middle, g->y, g->k3);
    KC_TYPED(advance)(n, g->x, h, g->k3, g->y);
    KC_TYPED(slopes)(g, s->next, g->y, g->k4);
    return KC_TYPED(finish)(n, g->x, sixth, g->k1, g->k2, g->k3, g->k4);
}

/*
 * Semi-implicit Euler, as step_euler() of kc_methods.c: speeds and states, then the coordinates by the new
 * speeds. Returns 0: whether states are finite is not known.
 */
static int KC_TYPED(step_euler)(KC_TYPED(group) * g, const kc_stretch_of_time *s)
{
    const kc_rollout *plan = g->plan;
    const size_t block = (size_t)g->n_x * g->n_lanes, n_q = (size_t)plan->n_q * g->n_lanes;
    const KC_NUMBER h = (KC_NUMBER)s->h;
    KC_TYPED(slopes)(g, s->t, g->x, g->k1);
    for (uint32_t b = 0; b < g->n_blocks; b++) {
        KC_NUMBER *const u = g->x + b * block + n_q;
        KC_TYPED(advance)(block - n_q, u, h, g->k1 + b * block + n_q, u);
    }
    KC_TYPED(evaluate)(g, plan->qdot, plan->qdot_of_lanes, s->t, g->x, plan->n_q, g->k2);
    for (uint32_t b = 0; b < g->n_blocks; b++) {
        KC_NUMBER *const q = g->x + b * block;
        KC_TYPED(advance)(n_q, q, h, g->k2 + b * n_q, q);
    }
    return 0;
}

/* Project the row in a lane to unit spheres and constraints, as kc_return() of kc_evaluation.h does. */
static kc_status KC_TYPED(return_row)(KC_TYPED(group) * g, double t, uint32_t block, uint32_t lane)
{
    const kc_rollout *plan = g->plan;
    KC_NUMBER *const x = g->x + (size_t)block * g->n_x * g->n_lanes + lane, *const work = g->row_work;
    const size_t row = KC_TYPED(row_of)(g, block, lane);
    kc_status status = KC_TYPED(normalize)(plan->n_unit, plan->unit, x, g->n_lanes);
    if (status != KC_OK || !plan->project)
        return status;
    KC_TYPED(take)(g, g->n_x, g->x, block, lane, g->row_x);
    KC_TYPED(take)(g, plan->n_r, g->r, block, lane, g->row_r);
    work[0] = 0;
    ((KC_TYPED(kernel) *)plan->project)(t, g->row_x, g->row_r, KC_TYPED(constants)(plan, row), work,
                                        g->row_out);
    if (work[0] != 0)
        return (kc_status)work[0];
    KC_TYPED(put)(g, g->n_x, g->row_out, block, lane, g->x);
    return KC_TYPED(normalize)(plan->n_unit, plan->unit, x, g->n_lanes);
}

/* Finish a step to time t: project to the manifold, and end rows that are not finite. */
static void KC_TYPED(settle)(KC_TYPED(group) * g, double t, int all_finite)
{
    const int returns = g->plan->n_unit > 0 || g->plan->project != NULL;
    if (!returns && all_finite)
        return;
    for (uint32_t b = 0; b < g->n_blocks; b++)
        for (uint32_t lane = 0; lane < g->n_lanes; lane++) {
            if (!(g->alive[b] >> lane & 1))
                continue;
            const kc_status status = returns ? KC_TYPED(return_row)(g, t, b, lane) : KC_OK;
            const KC_NUMBER *const x = g->x + (size_t)b * g->n_x * g->n_lanes + lane;
            if (status != KC_OK) {
                const int of_kernel = status != KC_NONFINITE;
                KC_TYPED(end_row)(g, b, lane, (int64_t)g->step, status,
                                  of_kernel ? (int32_t)g->row_work[1] : -1);
            } else if (!KC_TYPED(finite)(g->n_x, x, g->n_lanes))
                KC_TYPED(end_row)(g, b, lane, (int64_t)g->step, KC_NONFINITE, -1);
        }
}

/* -------------------------------------------------------------------------------------------- operands,
 * states
 */

/* One operand of each row of a block; lanes without a row have that of the last row. */
static void KC_TYPED(fill)(KC_TYPED(group) * g, uint32_t block, size_t end, const char *begin,
                           const int64_t *at, int64_t beyond, uint32_t n, KC_NUMBER *to)
{
    for (uint32_t lane = 0; lane < g->n_lanes; lane++) {
        const size_t row = KC_TYPED(row_of)(g, block, lane);
        g->from[lane] = (const KC_NUMBER *)(begin + at[row < end ? row : end - 1] + beyond);
    }
    if (g->plan->lanes)
        ((KC_TYPED(gather) *)g->plan->lanes->gather)(n, g->from, to);
    else
        memcpy(to, g->from[0], n * sizeof(KC_NUMBER));
}

static void KC_TYPED(fill_inputs)(KC_TYPED(group) * g, size_t end)
{
    const kc_rollout *plan = g->plan;
    if (plan->n_r == 0 || (g->step > 0 && plan->r_step == 0))
        return;
    for (uint32_t b = 0; b < g->n_blocks; b++)
        KC_TYPED(fill)(g, b, end, plan->r, plan->r_at, (int64_t)g->step * plan->r_step, plan->n_r,
                       g->r + (size_t)b * plan->n_r * g->n_lanes);
}

/* The constants of lanes: common to all rows, or, if each row has its own, those of the only block. */
static void KC_TYPED(fill_constants)(KC_TYPED(group) * g, size_t end)
{
    const kc_rollout *plan = g->plan;
    if (!plan->lanes)
        return;
    for (uint32_t lane = 0; lane < g->n_lanes; lane++) {
        const size_t row = KC_TYPED(row_of)(g, 0, lane);
        g->from[lane] = KC_TYPED(constants)(plan, row < end ? row : end - 1);
    }
    ((KC_TYPED(gather) *)plan->lanes->gather)(plan->n_prepared, g->from, g->c);
}

/*
 * Store the states of all rows in `out`, at the next time.  The addresses of the states after them are
 * fetched into the cache, since a processor does not predict so many rows.
 */
static void KC_TYPED(write)(KC_TYPED(group) * g)
{
    for (uint32_t b = 0; b < g->n_blocks; b++) {
        const KC_NUMBER *const x = g->x + (size_t)b * g->n_x * g->n_lanes;
        if (g->plan->lanes)
            ((KC_TYPED(scatter) *)g->plan->lanes->scatter)(g->n_x, x, g->to[b]);
        else
            memcpy(g->to[b][0], x, g->n_x * sizeof(KC_NUMBER));
        const size_t n_x = g->n_x;
        const uint32_t alive = g->alive[b];
        for (uint32_t lane = 0; lane < g->n_lanes; lane++) {
            KC_NUMBER *const next = g->to[b][lane] += n_x & (0 - (size_t)(alive >> lane & 1));
            for (size_t i = 0; i < n_x; i += 64 / sizeof(KC_NUMBER))
                KC_AHEAD(next + i);
        }
    }
}

/* Start rows from g->first on, before `end`. */
static void KC_TYPED(begin)(KC_TYPED(group) * g, size_t end)
{
    const kc_rollout *plan = g->plan;
    g->step = 0, g->time = NAN;
    for (uint32_t b = 0; b < g->n_blocks; b++) {
        KC_NUMBER *const x = g->x + (size_t)b * g->n_x * g->n_lanes;
        KC_TYPED(fill)(g, b, end, plan->x0, plan->x0_at, 0, g->n_x, x);
        g->alive[b] = 0;
        for (uint32_t lane = 0; lane < g->n_lanes; lane++) {
            const size_t row = KC_TYPED(row_of)(g, b, lane);
            g->to[b][lane] = g->spare;
            if (row >= end)
                continue;
            g->alive[b] |= 1u << lane;
            g->to[b][lane] = (KC_NUMBER *)plan->out + row * ((size_t)plan->steps + 1) * g->n_x;
            plan->code[row] = KC_OK, plan->number[row] = -1, plan->last[row] = (int64_t)plan->steps;
            if (!KC_TYPED(finite)(g->n_x, x + lane, g->n_lanes))
                KC_TYPED(end_row)(g, b, lane, -1, KC_NONFINITE, -1);
        }
    }
    KC_TYPED(write)(g);
}

void KC_ROLL_OUT(const kc_rollout *plan, size_t first, size_t end, void *work)
{
    KC_TYPED(group) group, *const g = &group;
    uint32_t patience = 0;
    g->plan = plan, g->n_x = KC_ROLLOUT_N_X(plan), g->n_lanes = plan->lanes ? plan->lanes->n_lanes : 1;
    KC_TYPED(lay_out)(plan, work, g);
    for (g->first = first; g->first < end; g->first += (size_t)g->n_blocks * g->n_lanes) {
        const size_t blocks = (end - g->first + g->n_lanes - 1) / g->n_lanes;
        g->n_blocks = blocks < plan->n_blocks ? (uint32_t)blocks : plan->n_blocks;
        KC_TYPED(begin)(g, end);
        if (g->first == first || plan->c_at)
            KC_TYPED(fill_constants)(g, end);
        for (; g->step < plan->steps && KC_TYPED(any_alive)(g); g->step++) {
            const double t = plan->t0 + plan->dt * (double)g->step;
            const double next = plan->t0 + plan->dt * (double)(g->step + 1), h = next - t;
            const kc_stretch_of_time s = {t, t + 0.5 * h, next, h};
            KC_TYPED(fill_inputs)(g, end);
            const int all_finite = (plan->semi_implicit ? KC_TYPED(step_euler) : KC_TYPED(step_rk4))(g, &s);
            KC_TYPED(settle)(g, next, all_finite);
            KC_TYPED(write)(g);
            patience += 4 * g->n_blocks * g->n_lanes;
            if (patience >= KC_ROLLOUT_PATIENCE) {
                patience = 0;
                if (plan->interrupted && plan->interrupted(plan->context))
                    return;
            }
        }
    }
}

#undef KC_FOR_PACKS
#undef KC_IN
#undef KC_OUT
#undef KC_NUMBER
#undef KC_TYPED
#undef KC_ROLL_OUT
#undef KC_ROLLOUT_BYTES
