/* SPDX-License-Identifier: BSD-3-Clause */
/* Second derivatives (second_derivatives.h) with one factorization of the equations of all speeds and rows.
 */
typedef struct kc_factored_hessian {
    kc_saddle *equations; /* k = 1 */
    kc_reduced_motion motion;
    kc_hessian columns;
    kc_function *weights;   /* reads udot, lambda in w; the weights of udot, and zeros */
    kc_along *changes;      /* along some of the first: dR, dS, c, e */
    kc_function *otherwise; /* the same from all equations at once, where fronts are in doubt; or NULL */
    kc_real *room;          /* (n + m) right-hand sides, then as many for their solution */
} kc_factored_hessian;

#define KC_FACTORED_HESSIAN_ROOM(n, m) (KC_FACTORED_PRODUCT_ROOM(n, m, 0, n, m, 0) + 2 * ((n) + (m)))

/*
 * The changes of udot, lambda, mu and nu along as many directions as there are `lanes`, behind these in `d`:
 *
 *     M da = dR + G' dlambda,    G da + dS = 0;    M' dmu = c + G' dnu,    G dmu + e = 0.
 */
KC_SOLVER void kc_solve_changes(const void *solver, const kc_place *at, kc_real *w, kc_real *d,
                                kc_real *sides, int lanes)
{
    const kc_factored_hessian *const s = solver;
    kc_saddle *const e = s->equations;
    const int n = e->n, all = n + e->m;
    kc_real *const changes = d + KC_COLUMNS(s->columns.n_inner), *const side = s->room;
    e->a = side + all;
    KC_CALL_ALONG(s->changes, at, d, w, sides);
    for (int first = 0; first < 2 * all; first += all)
        for (int lane = 0; lane < lanes; lane++) {
            for (int i = 0; i < all; i++)
                side[i] = sides[(first + i) * KC_BESIDE + lane];
            kc_solve_motion_again(&s->motion, e, side, side + n);
            kc_find_forces_again(&s->motion, e, side, e->a + n);
            for (int i = 0; i < all; i++)
                changes[(first + i) * KC_BESIDE + lane] = e->a[i];
        }
}

/* The kernel `rhs_hessian` where the equations are solved: four solutions, two of them along each direction.
 */
KC_ONCE kc_fault kc_factor_hessian(kc_factored_hessian *s, kc_real t, const kc_real *x, const kc_real *r,
                                   const kc_real *c, kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const int all = e->n + e->m;
    const kc_place at = {t, x, r, c};
    kc_real *const filled = w + 2 * all, *const own = kc_place_motion(&s->motion, e, filled);
    kc_factored_product both = {.equations = e, .motion = s->motion, .adjoint = 1, .sides = s->weights};
    const kc_fault failed = kc_solve_twice(&both, 0, &at, filled, own);
#if defined(KC_WIDE)
    if (kc_stops(failed) || e->rank < e->m)
        return (kc_fault)KC_ALL(-1);
#else
    if (KC_UNLIKELY(failed && s->otherwise))
        return s->otherwise(t, x, r, c, w, out);
    if (failed || !e->factored || e->rank < e->m)
        return KC_FAULT(KC_SINGULAR, 0);
#endif
    s->room = w, s->columns.n_changes = 2 * all;
    s->columns.solve = kc_solve_changes, s->columns.solver = s;
    return failed | kc_find_all_columns(&s->columns, &at, own + e->m, 2 * all, out);
}
