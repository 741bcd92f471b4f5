/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of the derivatives of xdot of models with constraints (motion_products.h), with one factorization.
 */

/* The two solutions: udot and lambda, then the second one with its forces. */
KC_INLINE kc_fault kc_solve_twice(kc_product *s, const kc_place *at, kc_real *solution, kc_real *sides,
                                  kc_real *w)
{
    kc_saddle *const e = s->equations;
    const int n = e->n, m = e->m;
    kc_real *const lambda = solution + n, *const second = lambda + m, *const own = second + n + m;
    kc_real *const work = own + n + m + s->n_q;
    e->a = solution;
    e->count = kc_count_of(at->c[s->rank]);
    e->clear = 0;
    e->contradiction = kc_all(KC_CONTRADICTORY_REST);
    if (s->fill)
        s->fill(KC_AT(at), work, w);
    else
        kc_fill(s->parts, e, at, work);
    kc_weigh(e, e->M, n + 1);
    kc_cancel(e, KC_RANK);
    for (int i = 0; i < n; i++)
        sides[i] = e->scale[i] * e->f[i];
    for (int i = 0; i < m; i++)
        e->size[i] = kc_abs(e->gamma[i]);
    kc_fault failed = kc_solve(e);
    if (kc_stops(failed) || !kc_any(e->factored))
        return failed;
    kc_find_forces(e, sides, lambda);
    if (e->rank < m)
        kc_least_norm(e, lambda);
    failed |= s->sides(KC_AT(at), solution, own);
    e->a = second;
    kc_solve_again(e, own, own + n);
    for (int i = 0; i < n && s->gradient; i++)
        sides[i] = e->scale[i] * own[i];
    if (s->gradient)
        kc_find_forces(e, sides, second + n);
    return failed;
}

/* The kernels `rhs_tangent`, `rhs_gradient` and those by parameters. */
KC_INLINE kc_fault kc_multiply(kc_product *s, kc_real t, const kc_real *x, const kc_real *r, const kc_real *c,
                               kc_real *w, kc_real *out)
{
    kc_real *sides, *const solution = kc_place_product(s, w, &sides);
    const kc_place at = {t, x, r, c};
    kc_fault failed = kc_solve_twice(s, &at, solution, sides, w);
#if defined(KC_WIDE)
    failed |= (kc_mask)(c[s->rank] != kc_all(c[s->rank][0]));
#else
    if (KC_UNLIKELY(failed || !s->equations->factored))
        return s->otherwise(t, x, r, c, w, out);
#endif
    return failed | kc_finish_product(s, &at, solution, out);
}
