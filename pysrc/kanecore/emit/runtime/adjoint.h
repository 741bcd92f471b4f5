/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gradients of weights of xdot, by one pass backwards at the udot and lambda of the state: those of
 * w_q qdot + mu R + nu S, with
 *
 *     M' mu = w_u + G' nu,    G mu = 0,    R = f + G' lambda - M udot,    S = G udot + gamma.
 */
typedef struct kc_adjoint {
    kc_saddle *equations; /* k = 1 */
    int rank;             /* c[rank] is how many rows of G count */
    kc_fault (*solve)(kc_saddle *, kc_real *sides, kc_real *nu); /* kc_solve_adjoint(), or as below */
    kc_function *udot, *multipliers; /* multipliers: NULL without constraints */
    kc_function *fill;               /* the equations: M', w_u, G, zeros, what G is summed from */
    kc_function *gradient;           /* reads udot, lambda, mu, nu in w */
} kc_adjoint;

#define KC_ADJOINT_ROOM(n, m)                                                                                \
    (KC_EQUATIONS_ROOM(n, m, 1) + KC_SCRATCH_ROOM(n, m) + (m) * (m) + (n) + 2 * ((n) + (m)))

/* The same without constraints. */
KC_INLINE kc_fault kc_solve_free_adjoint(kc_saddle *s, kc_real *sides, kc_real *nu)
{
    (void)sides, (void)nu;
    return kc_solve_free(s);
}

/* The kernels `rhs_gradient` and `rhs_parameter_gradient`. */
KC_ONCE kc_fault kc_find_gradient(kc_adjoint *s, kc_real t, const kc_real *x, const kc_real *r,
                                  const kc_real *c, kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const int n = e->n, m = e->m;
    e->combine = kc_place_scratch(e, kc_place_equations(e, w));
    kc_real *const sides = e->combine + m * m, *const udot = sides + n, *const lambda = udot + n;
    kc_real *const mu = lambda + m, *const nu = mu + n, *const work = nu + m;
    e->size = 0, e->a = mu;
    e->count = s->multipliers ? kc_count_of(c[s->rank]) : 0;
    kc_fault failed = s->udot(t, x, r, c, work, udot);
    if (kc_stops(failed))
        return failed;
    if (s->multipliers)
        failed |= s->multipliers(t, x, r, c, work, lambda);
    if (kc_stops(failed))
        return failed;
    s->fill(t, x, r, c, work, w);
    failed |= s->solve(e, sides, nu);
    if (kc_stops(failed))
        return failed;
    return failed | s->gradient(t, x, r, c, udot, out);
}
