/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of the derivatives of xdot, or of outputs, of models with constraints (motion_products.h), from
 * the equations that elimination on the graph leaves (reduced_motion.h), with the factorization that found
 * udot.
 */
typedef struct kc_factored_product {
    kc_saddle *equations; /* k = 1: of the speeds and rows that are left */
    kc_reduced_motion motion;
    int n_kept;             /* how many numbers `sides` gives for `finish` */
    int adjoint;            /* whether the product is a gradient, so that nu is wanted */
    kc_function *sides;     /* reads udot, lambda in w; what it keeps, and the right-hand sides (n), (m) */
    kc_function *finish;    /* reads udot, lambda, da or mu, nu, and what was kept in w; the product */
    kc_function *otherwise; /* the product by equations of its own, where M is not positive definite, or rows
                               of G are lost or contradict each other */
} kc_factored_product;

#define KC_FACTORED_PRODUCT_ROOM(n, m, n_known, n_all, m_all, n_kept)                                        \
    (KC_REDUCED_MOTION_ROOM(n, m, n_known, n_all, m_all) + 2 * ((n) + (m)) + (n_kept))

/* Find udot and lambda, which stand from `udot` on, and behind them the second solution with its forces, and
 * what is kept; `own` is as for kc_find_motion(). */
KC_INLINE kc_fault kc_solve_twice(kc_factored_product *s, int clear, const kc_place *at, kc_real *w,
                                  kc_real *own)
{
    kc_saddle *const e = s->equations;
    const int n = e->n, m = e->m;
    kc_real *const udot = own + m, *const second = udot + s->motion.n_all + s->motion.m_all;
    kc_real *const kept = second + n + m, *const f = kept + s->n_kept;
    kc_fault failed = kc_find_motion(&s->motion, e, clear, at, w, own);
    if (kc_stops(failed) || !kc_any(e->factored))
        return failed;
    failed |= s->sides(KC_AT(at), udot, kept);
    e->a = second;
    kc_solve_motion_again(&s->motion, e, f, f + n);
    if (!s->adjoint)
        return failed;
    kc_find_forces_again(&s->motion, e, f, second + n);
    return failed;
}

/* The kernels `rhs_tangent`, `rhs_gradient` and those by parameters. */
KC_INLINE kc_fault kc_multiply(kc_factored_product *s, kc_real t, const kc_real *x, const kc_real *r,
                               const kc_real *c, kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const kc_place at = {t, x, r, c};
    kc_real *const own = kc_place_motion(&s->motion, e, w);
    const kc_fault failed = kc_solve_twice(s, 1, &at, w, own);
#if !defined(KC_WIDE)
    if (KC_UNLIKELY(failed || !e->factored))
        return s->otherwise(t, x, r, c, w, out);
#endif
    return failed | s->finish(t, x, r, c, own + e->m, out);
}
