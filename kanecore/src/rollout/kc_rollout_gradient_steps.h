/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gradients over rollouts on numbers of the type KC_NUMBER.  KC_TYPED(f) names the functions here,
 * KC_ROLLOUT_BYTES is the size of a vector.  The file may be included once for each type.
 *
 * A step x -> x + h (k1 + 2 k2 + 2 k3 + k4) / 6 is taken again, then its stages backwards: with J_i the
 * Jacobian of xdot at stage i and l the gradient by the next state,
 *
 *     g4 = J4' h/6 l,  g3 = J3' (h/3 l + h g4),  g2 = J2' (h/3 l + h/2 g3),  g1 = J1' (h/6 l + h/2 g2),
 *
 * and that by x is l + g1 + g2 + g3 + g4 (Griewank & Walther, Evaluating Derivatives, 2nd ed., 2008, ch. 3).
 */
#include <math.h>
#include <string.h>

#ifndef KC_ROLLOUT_STAGES
#define KC_ROLLOUT_STAGES   4
#define KC_ROLLOUT_PATIENCE 1024 /* steps between two questions whether to go on */
#endif

#include "kc_rollout_packs.h"

typedef void KC_TYPED(kernel)(double t, const KC_NUMBER *x, const KC_NUMBER *r, const KC_NUMBER *c,
                              KC_NUMBER *work, KC_NUMBER *out);
typedef void KC_TYPED(lane_kernel)(uint32_t n_blocks, const KC_NUMBER *t, const KC_NUMBER *x,
                                   const KC_NUMBER *r, const KC_NUMBER *c, KC_NUMBER *work, KC_NUMBER *out,
                                   uint32_t *undone);
typedef void KC_TYPED(gather)(uint32_t n, const KC_NUMBER *const *rows, KC_NUMBER *to);

typedef struct KC_TYPED(group) {
    const kc_rollout_gradient *plan;
    size_t n_x, n_lanes, first, end; /* rows first, first + 1, ...; lanes after the last one repeat it */
    /* in lanes */
    KC_NUMBER *t, *r, *c, *work;
    KC_NUMBER *stage[KC_ROLLOUT_STAGES]; /* [x, zeros, weights], as gradients read */
    KC_NUMBER *slope[KC_ROLLOUT_STAGES], *next, *to_next, *gradient;
    KC_NUMBER *way_back, *of_way_back; /* operands and result of `project_gradient` */
    KC_NUMBER *sum_x, *sum_r, *sum_p;
    /* of one row */
    KC_NUMBER *row_in, *row_r, *row_out, *row_work;
} KC_TYPED(group);

static size_t KC_TYPED(lay_out)(const kc_rollout_gradient *plan, KC_NUMBER *memory, KC_TYPED(group) * g)
{
    const size_t n_x = (size_t)plan->n_q + plan->n_u + plan->n_z,
                 lanes = plan->lanes ? plan->lanes->n_lanes : 1;
    const size_t n_in = 2 * n_x + plan->n_solution, most = n_x + plan->n_r + plan->n_p;
    const struct {
        KC_NUMBER **array;
        size_t n;
    } arrays[] = {
        {&g->t, lanes},
        {&g->r, lanes * plan->n_r},
        {&g->c, plan->lanes ? lanes * plan->n_prepared : 0},
        {&g->work, plan->lanes ? lanes * plan->n_lane_work : 0},
        {&g->stage[0], lanes * n_in},
        {&g->stage[1], lanes * n_in},
        {&g->stage[2], lanes * n_in},
        {&g->stage[3], lanes * n_in},
        {&g->slope[0], lanes * n_x},
        {&g->slope[1], lanes * n_x},
        {&g->slope[2], lanes * n_x},
        {&g->slope[3], lanes * n_x},
        {&g->next, lanes * n_x},
        {&g->to_next, lanes * n_x},
        {&g->gradient, lanes * most},
        {&g->way_back, plan->project_gradient ? lanes * n_in : 0},
        {&g->of_way_back, plan->project_gradient ? lanes * most : 0},
        {&g->sum_x, lanes * n_x},
        {&g->sum_r, lanes * plan->n_r},
        {&g->sum_p, lanes * plan->n_p},
        {&g->row_in, n_in},
        {&g->row_r, plan->n_r},
        {&g->row_out, most},
        {&g->row_work, plan->n_work},
    };
    const size_t line = 64 / sizeof(KC_NUMBER); /* each array begins with one of the cache */
    size_t n = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i].array = memory ? memory + n : NULL;
        n += (arrays[i].n + line - 1) / line * line;
    }
    g->plan = plan, g->n_x = n_x, g->n_lanes = lanes;
    return n * sizeof(KC_NUMBER);
}

/* ------------------------------------------------------------------------------------------------- rows */

static size_t KC_TYPED(row_of)(const KC_TYPED(group) * g, size_t lane)
{
    const size_t row = g->first + lane;
    return row < g->end ? row : g->end - 1;
}

static const KC_NUMBER *KC_TYPED(constants)(const KC_TYPED(group) * g, size_t row)
{
    return (const KC_NUMBER *)(g->plan->c + (g->plan->c_at ? g->plan->c_at[row] : 0));
}

/* Copy the n numbers of each row into lanes, or sums back; rows are `apart` in memory. */
static void KC_TYPED(take)(const KC_TYPED(group) * g, size_t n, const KC_NUMBER *rows, size_t apart,
                           KC_NUMBER *to)
{
    const KC_NUMBER *from[KC_MOST_LANES];
    for (size_t lane = 0; lane < g->n_lanes; lane++)
        from[lane] = rows + KC_TYPED(row_of)(g, lane) * apart;
    if (g->plan->lanes)
        ((KC_TYPED(gather) *)g->plan->lanes->gather)((uint32_t)n, from, to);
    else
        memcpy(to, from[0], n * sizeof(KC_NUMBER));
}

static void KC_TYPED(give)(const KC_TYPED(group) * g, size_t n, const KC_NUMBER *a, KC_NUMBER *rows,
                           size_t apart)
{
    for (size_t lane = 0; lane < g->n_lanes && g->first + lane < g->end; lane++)
        for (size_t i = 0; i < n; i++)
            rows[(g->first + lane) * apart + i] = a[i * g->n_lanes + lane];
}

static void KC_TYPED(take_inputs)(const KC_TYPED(group) * g, uint64_t step)
{
    const kc_rollout_gradient *plan = g->plan;
    for (size_t lane = 0; lane < g->n_lanes && plan->n_r > 0; lane++) {
        const char *const at = plan->r + plan->r_at[KC_TYPED(row_of)(g, lane)] + (int64_t)step * plan->r_step;
        for (size_t i = 0; i < plan->n_r; i++)
            g->r[i * g->n_lanes + lane] = ((const KC_NUMBER *)at)[i];
    }
}

static void KC_TYPED(take_constants)(const KC_TYPED(group) * g)
{
    for (size_t lane = 0; lane < g->n_lanes && g->plan->lanes; lane++) {
        const KC_NUMBER *const c = KC_TYPED(constants)(g, KC_TYPED(row_of)(g, lane));
        for (size_t i = 0; i < g->plan->n_prepared; i++)
            g->c[i * g->n_lanes + lane] = c[i];
    }
}

/* ---------------------------------------------------------------------------------------------- kernels */

/* Call a kernel for the row in a lane; NaN if it has no result. */
static void KC_TYPED(evaluate_row)(const KC_TYPED(group) * g, kc_kernel *f, double t, size_t lane,
                                   const KC_NUMBER *x, size_t n_in, KC_NUMBER *out, size_t n)
{
    const size_t lanes = g->n_lanes;
    KC_NUMBER *const work = g->row_work;
    for (size_t i = 0; i < n_in; i++)
        g->row_in[i] = x[i * lanes + lane];
    for (size_t i = 0; i < g->plan->n_r; i++)
        g->row_r[i] = g->r[i * lanes + lane];
    work[0] = 0;
    ((KC_TYPED(kernel) *)f)(t, g->row_in, g->row_r, KC_TYPED(constants)(g, KC_TYPED(row_of)(g, lane)), work,
                            g->row_out);
    for (size_t i = 0; i < n; i++)
        out[i * lanes + lane] = work[0] == 0 ? g->row_out[i] : NAN;
}

static void KC_TYPED(evaluate)(const KC_TYPED(group) * g, kc_pair_of_kernels f, double t, const KC_NUMBER *x,
                               size_t n_in, KC_NUMBER *out, size_t n)
{
    uint32_t undone[KC_MOST_BLOCKS] = {1};
    if (f.in_lanes) {
        for (size_t lane = 0; lane < g->n_lanes; lane++)
            g->t[lane] = (KC_NUMBER)t;
        ((KC_TYPED(lane_kernel) *)f.in_lanes)(1, g->t, x, g->r, g->c, g->work, out, undone);
    }
    for (size_t lane = 0; undone[0] >> lane; lane++)
        if (undone[0] >> lane & 1)
            KC_TYPED(evaluate_row)(g, f.one, t, lane, x, n_in, out, n);
}

/* Add the gradient of the weights, which follow a stage, to the sums; `gradient` keeps it. */
static void KC_TYPED(go_back)(const KC_TYPED(group) * g, double t, const KC_NUMBER *stage)
{
    const kc_rollout_gradient *plan = g->plan;
    const size_t by_p = plan->by_parameters ? plan->n_p : 0, n_in = 2 * g->n_x + plan->n_solution;
    const size_t n_x = g->n_x * g->n_lanes, n_r = plan->n_r * g->n_lanes, n_p = by_p * g->n_lanes;
    KC_TYPED(evaluate)(g, plan->gradient, t, stage, n_in, g->gradient, g->n_x + plan->n_r + by_p);
    KC_TYPED(advance)(n_x, g->sum_x, 1, g->gradient, g->sum_x);
    KC_TYPED(advance)(n_r, g->sum_r, 1, g->gradient + n_x, g->sum_r);
    KC_TYPED(advance)(n_p, g->sum_p, 1, g->gradient + n_x + n_r, g->sum_p);
}

/* ------------------------------------------------------------------------------------------------ steps */

static KC_NUMBER *KC_TYPED(weights_of)(const KC_TYPED(group) * g, KC_NUMBER *stage)
{
    return stage + (g->n_x + g->plan->n_solution) * g->n_lanes;
}

/*
 * The gradient by a quaternion e before normalization, from the gradient by e / |e|. `next` is e, `to_next`
 * the gradient, which is replaced.
 */
static void KC_TYPED(leave_sphere)(const KC_TYPED(group) * g)
{
    const size_t lanes = g->n_lanes;
    for (uint32_t k = 0; k < g->plan->n_unit; k++)
        for (size_t lane = 0; lane < lanes; lane++) {
            KC_NUMBER square = 0, along = 0;
            for (int i = 0; i < 4; i++) {
                const size_t at = g->plan->unit[4 * k + i] * lanes + lane;
                square += g->next[at] * g->next[at], along += g->next[at] * g->to_next[at];
            }
            for (int i = 0; i < 4; i++) {
                const size_t at = g->plan->unit[4 * k + i] * lanes + lane;
                g->to_next[at] =
                    (g->to_next[at] - g->next[at] * along / square) / (KC_NUMBER)sqrt((double)square);
            }
        }
}

static int KC_TYPED(returns)(const KC_TYPED(group) * g)
{
    return g->plan->n_unit > 0 || g->plan->project_gradient != NULL;
}

/* The gradient by the state `next` before projection at time t, from the gradient by the state after, in
 * `to_next`. */
static void KC_TYPED(leave_constraints)(const KC_TYPED(group) * g, double t)
{
    const kc_rollout_gradient *plan = g->plan;
    const size_t lanes = g->n_lanes, n_x = g->n_x * lanes, n_r = plan->n_r * lanes, n_p = plan->n_p * lanes;
    const size_t n_in = 2 * g->n_x + plan->n_solution, n_out = g->n_x + plan->n_r + plan->n_p;
    if (!plan->project_gradient) {
        KC_TYPED(leave_sphere)(g);
        return;
    }
    memcpy(g->way_back, g->next, n_x * sizeof(KC_NUMBER));
    memcpy(KC_TYPED(weights_of)(g, g->way_back), g->to_next, n_x * sizeof(KC_NUMBER));
    for (size_t lane = 0; lane < lanes; lane++)
        KC_TYPED(evaluate_row)(g, plan->project_gradient, t, lane, g->way_back, n_in, g->of_way_back, n_out);
    memcpy(g->to_next, g->of_way_back, n_x * sizeof(KC_NUMBER));
    KC_TYPED(advance)(n_r, g->sum_r, 1, g->of_way_back + n_x, g->sum_r);
    KC_TYPED(advance)(n_p, g->sum_p, 1, g->of_way_back + n_x + n_r, g->sum_p);
}

/* A step of order 4 that begins at t in stage[0]. */
static void KC_TYPED(step_rk4)(const KC_TYPED(group) * g, double t, double next)
{
    const size_t n = g->n_x * g->n_lanes;
    const double times[KC_ROLLOUT_STAGES] = {t, t + 0.5 * (next - t), t + 0.5 * (next - t), next};
    const KC_NUMBER h = (KC_NUMBER)(next - t), half = (KC_NUMBER)0.5 * h;
    const KC_NUMBER reach[KC_ROLLOUT_STAGES] = {0, half, half, h},
                    share[KC_ROLLOUT_STAGES] = {h / 6, h / 3, h / 3, h / 6};
    const int n_slopes = KC_TYPED(returns)(g)
                             ? KC_ROLLOUT_STAGES
                             : KC_ROLLOUT_STAGES - 1; /* the last one is for the projection only */
    for (int i = 0; i < KC_ROLLOUT_STAGES; i++) {
        if (i > 0)
            KC_TYPED(advance)(n, g->stage[0], reach[i], g->slope[i - 1], g->stage[i]);
        if (i < n_slopes)
            KC_TYPED(evaluate)(g, g->plan->rhs, times[i], g->stage[i], g->n_x, g->slope[i], g->n_x);
    }
    if (KC_TYPED(returns)(g)) {
        memcpy(g->next, g->stage[0], n * sizeof(KC_NUMBER));
        for (int i = 0; i < KC_ROLLOUT_STAGES; i++)
            KC_TYPED(advance)(n, g->next, share[i], g->slope[i], g->next);
        KC_TYPED(leave_constraints)(g, next);
    }
    memcpy(g->sum_x, g->to_next, n * sizeof(KC_NUMBER));
    for (int i = KC_ROLLOUT_STAGES - 1; i >= 0; i--) {
        KC_NUMBER *const weights = KC_TYPED(weights_of)(g, g->stage[i]);
        for (size_t j = 0; j < n; j++)
            weights[j] =
                share[i] * g->to_next[j] + (i < KC_ROLLOUT_STAGES - 1 ? reach[i + 1] * g->gradient[j] : 0.0);
        KC_TYPED(go_back)(g, times[i], g->stage[i]);
    }
}

/* A semi-implicit step of Euler: the coordinates by the new speeds; in reverse the speeds by all that follow.
 */
static void KC_TYPED(step_euler)(const KC_TYPED(group) * g, double t, double next)
{
    const KC_NUMBER h = (KC_NUMBER)(next - t);
    const size_t n = g->n_x * g->n_lanes, n_q = g->plan->n_q * g->n_lanes;
    KC_NUMBER *const stage = g->stage[1], *const by_rates = KC_TYPED(weights_of)(g, stage),
                     *const by_udot = KC_TYPED(weights_of)(g, g->stage[0]);
    KC_TYPED(evaluate)(g, g->plan->rhs, t, g->stage[0], g->n_x, g->slope[0], g->n_x);
    memcpy(stage, g->stage[0], n_q * sizeof(KC_NUMBER));
    KC_TYPED(advance)(n - n_q, g->stage[0] + n_q, h, g->slope[0] + n_q, stage + n_q);
    if (KC_TYPED(returns)(g)) {
        KC_TYPED(evaluate)(g, g->plan->qdot, t, stage, g->n_x, g->slope[1], g->plan->n_q);
        memcpy(g->next, stage, n * sizeof(KC_NUMBER));
        KC_TYPED(advance)(n_q, stage, h, g->slope[1], g->next);
        KC_TYPED(leave_constraints)(g, next);
    }
    memcpy(g->sum_x, g->to_next, n * sizeof(KC_NUMBER));
    for (size_t i = 0; i < n; i++)
        by_rates[i] = i < n_q ? h * g->to_next[i] : 0.0;
    KC_TYPED(go_back)(g, t, stage);
    for (size_t i = 0; i < n; i++)
        by_udot[i] = i < n_q ? 0.0 : h * g->sum_x[i];
    KC_TYPED(go_back)(g, t, g->stage[0]);
}

/* The rows of a group; whether to go on. */
static int KC_TYPED(roll_back)(KC_TYPED(group) * g)
{
    const kc_rollout_gradient *plan = g->plan;
    const size_t n_x = g->n_x, n = n_x * g->n_lanes, apart = ((size_t)plan->steps + 1) * n_x;
    uint32_t patience = 0;
    KC_TYPED(take_constants)(g);
    memset(g->sum_p, 0, plan->n_p * g->n_lanes * sizeof(KC_NUMBER));
    KC_TYPED(take)(g, n_x, (const KC_NUMBER *)plan->weights + (size_t)plan->steps * n_x, apart, g->to_next);
    for (uint64_t step = plan->steps; step-- > 0;) {
        const double t = plan->t0 + plan->dt * (double)step, next = plan->t0 + plan->dt * (double)(step + 1);
        KC_TYPED(take)(g, n_x, (const KC_NUMBER *)plan->states + (size_t)step * n_x, apart, g->stage[0]);
        KC_TYPED(take_inputs)(g, step);
        memset(g->sum_r, 0, plan->n_r * g->n_lanes * sizeof(KC_NUMBER));
        (plan->semi_implicit ? KC_TYPED(step_euler) : KC_TYPED(step_rk4))(g, t, next);
        KC_TYPED(take)(g, n_x, (const KC_NUMBER *)plan->weights + (size_t)step * n_x, apart, g->to_next);
        KC_TYPED(advance)(n, g->to_next, 1, g->sum_x, g->to_next);
        if (step == 0 && KC_TYPED(returns)(g)) { /* the start was projected as well */
            memcpy(g->next, g->stage[0], n * sizeof(KC_NUMBER));
            KC_TYPED(leave_constraints)(g, t);
        }
        KC_TYPED(give)(g, plan->n_r, g->sum_r, (KC_NUMBER *)plan->by_inputs + (size_t)step * plan->n_r,
                       (size_t)plan->steps * plan->n_r);
        if (++patience % KC_ROLLOUT_PATIENCE == 0 && plan->interrupted && plan->interrupted(plan->context))
            return 0;
    }
    KC_TYPED(give)(g, n_x, g->to_next, (KC_NUMBER *)plan->by_start, n_x);
    if (plan->by_parameters)
        KC_TYPED(give)(g, plan->n_p, g->sum_p, (KC_NUMBER *)plan->by_parameters, plan->n_p);
    return 1;
}

static void KC_TYPED(roll_rows_back)(const kc_rollout_gradient *plan, size_t first, size_t end, void *work)
{
    KC_TYPED(group) g;
    memset(work, 0, KC_TYPED(lay_out)(plan, work, &g));
    g.end = end;
    for (g.first = first; g.first < end; g.first += g.n_lanes)
        if (!KC_TYPED(roll_back)(&g) || (plan->interrupted && plan->interrupted(plan->context)))
            return;
}

#undef KC_FOR_PACKS
#undef KC_IN
#undef KC_OUT
#undef KC_NUMBER
#undef KC_TYPED
