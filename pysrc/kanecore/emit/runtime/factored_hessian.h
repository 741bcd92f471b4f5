/* SPDX-License-Identifier: BSD-3-Clause */
/* Second derivatives (second_derivatives.h) with one factorization of the equations of all speeds and rows.
 */
#define KC_FACTORED_HESSIAN_ROOM(n, m) (KC_FACTORED_PRODUCT_ROOM(n, m, 0, n, m, 0) + 3 * (n) + 2 * (m))

/*
 * The changes of udot, lambda, mu and nu along as many directions as there are `lanes`, behind these in `d`:
 *
 *     M da = dR + G' dlambda,    G da + dS = 0;    M' dmu = c + G' dnu,    G dmu + e = 0.
 */
KC_SOLVER void kc_solve_changes(const kc_hessian *s, const kc_place *at, kc_real *w, kc_real *d,
                                kc_real *sides, int lanes)
{
    kc_saddle *const e = s->equations;
    const int n = e->n, all = n + e->m;
    kc_real *const changes = d + KC_COLUMNS(s->n_inner), *const side = s->room, *const forces = side + all;
    e->a = forces + n;
    KC_CALL_ALONG(s->changes, at, d, w, sides);
    for (int first = 0; first < 2 * all; first += all)
        for (int lane = 0; lane < lanes; lane++) {
            for (int i = 0; i < all; i++)
                side[i] = sides[(first + i) * KC_BESIDE + lane];
            kc_solve_again(e, side, side + n);
            for (int i = 0; i < n; i++)
                forces[i] = e->scale[i] * side[i];
            kc_find_forces(e, forces, e->a + n);
            for (int i = 0; i < all; i++)
                changes[(first + i) * KC_BESIDE + lane] = e->a[i];
        }
}

/* The kernel `rhs_hessian` where the equations are solved: four solutions, two of them along each direction.
 */
KC_ONCE kc_fault kc_factor_hessian(kc_hessian *s, kc_real t, const kc_real *x, const kc_real *r,
                                   const kc_real *c, kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const int all = e->n + e->m;
    kc_factored_product both = {.equations = e, .adjoint = 1, .sides = s->weights};
    both.motion = (kc_reduced_motion){.rank = s->rank, .fill = s->fill, .parts = s->parts};
    both.motion.n_all = e->n, both.motion.m_all = e->m;
    s->room = w;
    kc_real *const filled = w + 2 * all + e->n, *const own = kc_place_motion(&both.motion, e, filled);
    const kc_place at = {t, x, r, c};
    const kc_fault failed = kc_solve_twice(&both, 0, &at, filled, own);
#if defined(KC_WIDE)
    if (e->rank < e->m)
        return (kc_fault)KC_ALL(-1);
#else
    if (failed || !e->factored || e->rank < e->m)
        return KC_FAULT(KC_SINGULAR, 0);
#endif
    return failed | kc_find_all_columns(s, &at, own + e->m, 2 * all, out);
}
