/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chatter, such as that of a block at rest under friction mu m g sign(u).  Its slopes jump at a surface in
 * the space of states, and on both sides lead back to the surface: the motion can only go along it (Filippov,
 * Differential Equations with Discontinuous Righthand Sides, 1988), and integrators cross it back and forth,
 * in steps of the size of the tolerance.
 *
 * Counting raises suspicion: in one of SHARE steps a slope changes its sign, and at this pace the run needs
 * LEFT more steps.  Then one crossing is examined, and decides: a continuous motion, or one that only crosses
 * a jump, never counts as chatter.
 */
#include "kc_chatter.h"

enum { WINDOW = 2500, SHARE = 16, HALVINGS = 20 };
static const double LEFT = 2e5;

/* A step, and the room to examine it: slopes of stages, which the accepted step no longer needs. */
typedef struct crossing {
    const kc_stride *s;
    uint32_t n, i;            /* numbers of x; the place in it of the speed whose slope turns */
    double *before, *after;   /* slopes on both sides of the place where it turns */
    double *slope, *y, theta; /* a slope, a state, and that place as part of the step */
} crossing;

static int same_sign(double a, double b)
{
    return (a > 0.0) == (b > 0.0);
}

/* Bracket the place on the chord of the step where the slope turns, in a millionth of the step: rounding of x
 * still tells its ends apart there. */
static kc_status bracket(crossing *c)
{
    const kc_stride *const s = c->s;
    const double *const end = s->k + (uint32_t)s->method->stages * c->n;
    const size_t bytes = sizeof(double) * c->n;
    double a = 0.0, b = 1.0;
    memcpy(c->before, s->k, bytes);
    memcpy(c->after, end, bytes);
    for (int halving = 0; halving < HALVINGS; halving++) {
        c->theta = 0.5 * (a + b);
        for (uint32_t j = 0; j < c->n; j++)
            c->y[j] = s->x[j] + c->theta * (s->x1[j] - s->x[j]);
        const kc_status status = kc_evaluate(s->run, s->t + c->theta * (s->next - s->t), c->y, c->slope);
        if (status != KC_OK)
            return status;
        const int first = same_sign(c->slope[c->i], s->k[c->i]);
        memcpy(first ? c->before : c->after, c->slope, bytes);
        *(first ? &a : &b) = c->theta;
    }
    return KC_OK;
}

/* *goes becomes whether a motion from the place, along `slope`, reaches the side on which the slope has the
 * sign of `other`. */
static kc_status goes_to(const crossing *c, const double *slope, const double *other, int *goes)
{
    const kc_stride *const s = c->s;
    const double h = s->next - s->t, later = h / 64.0;
    for (uint32_t j = 0; j < c->n; j++)
        c->y[j] = s->x[j] + c->theta * (s->x1[j] - s->x[j]) + later * slope[j];
    const kc_status status = kc_evaluate(s->run, s->t + c->theta * h + later, c->y, c->slope);
    *goes = status == KC_OK && same_sign(c->slope[c->i], other[c->i]);
    return status;
}

/* *slides becomes whether the slope jumps there, and leads across from both sides. */
static kc_status look_at(crossing *c, int *slides)
{
    const double *const start = c->s->k, *const end = start + (uint32_t)c->s->method->stages * c->n;
    kc_status status = bracket(c);
    *slides = 0;
    if (status != KC_OK || fabs(c->before[c->i]) < 0.5 * fabs(start[c->i]) ||
        fabs(c->after[c->i]) < 0.5 * fabs(end[c->i]))
        return status;
    int forth, back;
    if ((status = goes_to(c, c->before, c->after, &forth)) == KC_OK &&
        (status = goes_to(c, c->after, c->before, &back)) == KC_OK)
        *slides = forth && back;
    return status;
}

kc_status kc_see_chatter(kc_chatter *chatter, const kc_stride *s, const kc_plan *plan)
{
    const uint32_t n_q = s->run->system->n_q, last = n_q + s->run->system->n_u, n = kc_n_x(s->run->system);
    const double *const end = s->k + (uint32_t)s->method->stages * n;
    int turns = 0;
    for (uint32_t i = n_q; i < last; i++)
        turns |= s->k[i] * end[i] < 0.0;
    if (chatter->steps++ == 0)
        chatter->since = s->t;
    chatter->turns += (uint64_t)turns;
    if (chatter->steps < WINDOW || !turns)
        return KC_OK;
    const double left = fabs(plan->t1 - s->next) * (double)chatter->steps / fabs(s->next - chatter->since);
    const int suspect = chatter->turns * SHARE >= chatter->steps && left > LEFT;
    *chatter = (kc_chatter){0};
    uint32_t found = n;
    double size = 0.0, jump = 0.0;
    for (uint32_t i = n_q; i < last && suspect; i++) {
        if (!(s->k[i] * end[i] < 0.0))
            continue;
        crossing c = {s, n, i, s->k + n, s->k + 2 * n, s->k + 3 * n, s->y, 0.0};
        int slides;
        const kc_status status = look_at(&c, &slides);
        if (status == KC_STOPPED)
            return status;
        /* a jump disturbs all speeds; the sliding one is small relative to the jump of its slope */
        const double change = fabs(c.after[i] - c.before[i]);
        if (slides && (found == n || change * size > jump * fabs(s->x1[i])))
            found = i, jump = change, size = fabs(s->x1[i]);
    }
    if (found == n)
        return KC_OK;
    s->run->stats->number = found - n_q;
    return KC_CHATTER;
}
