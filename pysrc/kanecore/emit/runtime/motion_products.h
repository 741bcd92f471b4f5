/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of the derivatives of xdot with vectors, of models with constraints.  The equations of all speeds and
 * rows are factored once, and solved twice: for udot and lambda, then for the change of udot along a direction,
 *
 *     M da = dR + G' dlambda,    G da + dS = 0,    R = f + G' lambda - M udot,    S = G udot + gamma,
 *
 * or for the multipliers mu, nu of weights of udot, of which the gradient is made (adjoint.h).
 */
typedef struct kc_product {
    kc_saddle *equations;  /* k = 1 */
    int n_q;               /* how many numbers `sides` gives behind those of the equations */
    int rank;              /* c[rank] is how many rows of G count */
    kc_function *fill;     /* M, f, G, gamma, what G is summed from */
    kc_parts parts;        /* where `fill` is NULL: the same by functions of their own */
    kc_function *sides;    /* reads udot, lambda in w; dR, dS and dqdot, or w_u and zeros */
    kc_function *gradient; /* reads udot, lambda, mu, nu in w; NULL: the product is dqdot, da */
    kc_function *otherwise; /* the product by equations of its own, where M is not positive definite, or rows of G
                               are lost or contradict each other */
} kc_product;

#define KC_PRODUCT_ROOM(n, m, n_q)                                                                           \
    (KC_EQUATIONS_ROOM(n, m, 1) + KC_SCRATCH_ROOM(n, m) + (m) * (m) + (n) + 3 * ((n) + (m)) + (n_q))

/* The two solutions: udot, lambda, then da or mu, and nu, in `solution`. */
KC_INLINE kc_fault kc_solve_twice(kc_product *s, const kc_place *at, kc_real *solution, kc_real *sides, kc_real *w)
{
    kc_saddle *const e = s->equations;
    const int n = e->n, m = e->m;
    kc_real *const lambda = solution + n, *const second = lambda + m, *const nu = second + n;
    kc_real *const own = nu + m, *const work = own + n + m + s->n_q;
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
    if (kc_stops(failed))
        return failed;
    kc_find_forces(e, sides, lambda);
    if (e->rank < m)
        kc_least_norm(e, lambda);
    failed |= s->sides(KC_AT(at), solution, own);
    e->a = second;
    kc_solve_again(e, own, own + n);
    if (s->gradient) {
        for (int i = 0; i < n; i++)
            sides[i] = e->scale[i] * own[i];
        kc_find_forces(e, sides, nu);
    }
    return failed;
}

/* The kernels `rhs_tangent`, `rhs_gradient` and those by parameters. */
KC_INLINE kc_fault kc_multiply(kc_product *s, kc_real t, const kc_real *x, const kc_real *r, const kc_real *c,
                               kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const int n = e->n, m = e->m, n_q = s->n_q;
    e->combine = kc_place_scratch(e, kc_place_equations(e, w));
    kc_real *const sides = e->combine + m * m, *const solution = sides + n, *const change = solution + n + m;
    kc_fault failed = kc_solve_twice(s, &(kc_place){t, x, r, c}, solution, sides, w);
#if !defined(KC_WIDE)
    if (KC_UNLIKELY(failed || !e->factored))
        return s->otherwise(t, x, r, c, w, out);
#endif
    if (kc_stops(failed))
        return failed;
    if (s->gradient)
        return failed | s->gradient(t, x, r, c, solution, out);
    for (int i = 0; i < n_q; i++)
        out[i] = change[n + m + n + m + i];
    for (int i = 0; i < n; i++)
        out[n_q + i] = change[i];
    return failed;
}
