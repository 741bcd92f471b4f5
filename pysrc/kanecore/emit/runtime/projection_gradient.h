/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The gradient of weights of the state on the constraints, kc_project(), by the state before, r and p: its
 * steps are kept, and taken again from the last one to the first. A step solves M a = G' kappa, G a + phi =
 * 0; the gradient of weights l of the state y after it takes
 *
 *     M mu = (dy/da)' l + G' nu,    G mu = 0.
 */

/* Numbers behind y and a that functions read: kappa, mu, nu, l. */
#define KC_RECORD_ROOM(n_u, m, n_x) ((n_u) + 2 * (m) + (n_x))
#define KC_PROJECTION_GRADIENT_ROOM(n_q, n_u, n_max, m, front_room, n_x, n_all)                              \
    (KC_KEPT_ROOM((n_q) + (n_u)) + (n_all) + (m) * (m) + (m) + (n_u) +                                       \
     KC_PROJECTION_ROOM(n_q, n_u, n_max, m, front_room) + KC_RECORD_ROOM(n_u, m, n_x))

/* The gradient by e of weights of e / |e|, in their place. */
KC_ONCE void kc_leave_sphere(int n_unit, const uint32_t *unit, const kc_real *x, kc_real *weights)
{
    for (int i = 0; i < n_unit; i++) {
        const uint32_t *const place = unit + 4 * i;
        kc_real square = 0, along = 0;
        for (int j = 0; j < 4; j++) {
            square += x[place[j]] * x[place[j]];
            along += x[place[j]] * weights[place[j]];
        }
        const kc_real length = kc_sqrt(square);
        for (int j = 0; j < 4 && square > 0; j++)
            weights[place[j]] = (weights[place[j]] - x[place[j]] * along / square) / length;
    }
}

/* Take a step that was kept once more, from y: the change a, and factors for a second solution. */
KC_ONCE int kc_repeat_step(kc_projection *s, int level)
{
    kc_saddle *const e = s->equations;
    const int counted = (int)s->at.c[s->rank];
    e->m = level ? s->m_u : s->m_q;
    e->count = level == 0 ? 0 : e->m < counted ? e->m : counted;
    e->a = s->a;
    kc_fill_equations(s, level);
    const int fault = kc_find_change(s, level);
#if defined(KC_FRONTS)
    if (s->by_fronts)
        return 0;
#endif
    return fault || e->factored ? fault : KC_FAULT(KC_SINGULAR, 0);
}

/* Solve the equations of the step again: a of M a = sides + G' lambda, G a = 0. */
KC_ONCE void kc_solve_step_again(kc_projection *s, int level, kc_real *sides, const kc_real *zeros,
                                 kc_real *a)
{
    kc_saddle *const e = s->equations;
#if defined(KC_FRONTS)
    if (s->by_fronts) {
        kc_solve_fronts_again(kc_fronts_of_level(s, level), 1, sides, zeros, e->M, a);
        return;
    }
#endif
    (void)level, e->a = a;
    kc_solve_again(e, sides, zeros);
}

/* The forces lambda of M a = sides + G' lambda, of the first solution, whose sides are zero, or `again`. */
KC_ONCE void kc_find_forces_of_step(kc_projection *s, int level, int again, const kc_real *a, kc_real *sides,
                                    kc_real *lambda)
{
    kc_saddle *const e = s->equations;
#if defined(KC_FRONTS)
    if (s->by_fronts) {
        /* of the first solution they stand in the arrays, with what earlier fronts left */
        kc_find_front_forces(kc_fronts_of_level(s, level), a, again ? sides : 0, KC_SHARE_NONE, lambda);
        return;
    }
#endif
    (void)level, (void)again, (void)a;
    for (int i = 0; i < s->n_u; i++)
        sides[i] *= e->scale[i];
    kc_find_forces(e, sides, lambda);
}

/* One step backwards: `weights` of the state after it become the gradient by the one before, r and p. */
KC_ONCE int kc_undo_step(kc_projection *s, const kc_real *kept, kc_real *weights, kc_real *sides,
                         const kc_real *zeros, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const int n = s->n_u, n_x = s->n_q + n + s->n_z, level = (int)kept[0];
    for (int i = 0; i < s->n_q + n; i++)
        s->y[i] = kept[1 + i];
    const int fault = kc_repeat_step(s, level);
    if (fault)
        return fault;
    if (level == 0 && s->n_unit) {
        s->direction(KC_AT(&s->at), s->y, e->W);
        for (int i = 0; i < s->n_q; i++)
            e->W[i] += s->y[i];
    }
    kc_leave_sphere(s->n_unit, s->unit, level ? s->y : e->W, weights);
    kc_real *const forces = s->a + n, *const mu = forces + e->m, *const nu = mu + n, *const l = nu + e->m;
    for (int i = 0; i < n; i++)
        sides[i] = 0;
    kc_find_forces_of_step(s, level, 0, s->a, sides, forces);
    for (int i = 0; i < n_x; i++)
        l[i] = weights[i];
    (level ? s->velocity_sides : s->position_sides)(KC_AT(&s->at), s->y, sides);
    kc_solve_step_again(s, level, sides, zeros, mu);
    kc_find_forces_of_step(s, level, 1, mu, sides, nu);
    (level ? s->velocity_gradient : s->position_gradient)(KC_AT(&s->at), s->y, out);
    for (int i = 0; i < s->n_all; i++)
        weights[i] = i < n_x ? out[i] : weights[i] + out[i];
    return 0;
}

/* The kernel `project_gradient`. */
KC_ONCE int kc_project_back(kc_projection *s, kc_real t, const kc_real *x, const kc_real *r, const kc_real *c,
                            kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const int m = e->m, n = s->n_u, n_x = s->n_q + n + s->n_z;
    kc_real *const weights = w + KC_KEPT_ROOM(s->n_q + n), *const zeros = weights + s->n_all;
    kc_real *const sides = zeros + m, *const combine = sides + n;
    s->kept = w, s->n_kept = 0;
    int fault = kc_project(s, t, x, r, c, combine + m * m, out);
    for (int i = 0; i < s->n_all; i++)
        weights[i] = i < n_x ? x[s->weights + i] : 0;
    for (int i = 0; i < m; i++)
        zeros[i] = 0;
    e->combine = combine;
    for (int k = s->n_kept; k-- > 0 && !fault;)
        fault = kc_undo_step(s, w + k * (s->n_q + n + 1), weights, sides, zeros, out);
    kc_leave_sphere(s->n_unit, s->unit, x, weights);
    for (int i = 0; i < s->n_all; i++)
        out[i] = weights[i];
    return fault;
}
