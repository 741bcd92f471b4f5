/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * d xdot / d(q, u, r), N columns, at the udot and lambda of the state:
 *
 *     M da = dR + G' dlambda,    G da + dS = 0,    R = f + G' lambda - M udot,    S = G udot + gamma.
 */
typedef struct kc_linearization {
    kc_saddle *equations; /* k = N */
    int n_q;
    int rank;                        /* c[rank] is how many rows of G count */
    int (*solve)(kc_saddle *);       /* kc_solve_equations(), without constraints kc_solve_free() */
    kc_function *udot, *multipliers; /* multipliers: NULL without constraints */
    kc_function *fill;   /* reads udot, lambda in w; the equations, then the slopes of qdot (n_q, N) */
    kc_parts parts;      /* where `fill` is NULL: M, G and its sums, and `column` for the right-hand sides */
    kc_function *column; /* reads a direction (N) behind udot, lambda; the slopes along it of R, S, qdot */
} kc_linearization;

#define KC_LINEARIZATION_ROOM(n_q, n, m, N)                                                                  \
    (KC_EQUATIONS_ROOM(n, m, N) + (n_q) * (N) + KC_SCRATCH_ROOM(n, m) + 2 * ((n) + (m)) + (n_q) + (N))

/* Fill the equations column by column, and `rates` with the slopes of qdot; `solution` holds udot, lambda. */
KC_ONCE void kc_fill_columns(const kc_linearization *s, const kc_place *at, kc_real *solution, kc_real *rates)
{
    const kc_saddle *const e = s->equations;
    const int n = e->n, m = e->m, k = e->k;
    kc_real *const direction = solution + n + m, *const slopes = direction + k;
    kc_fill(s->parts, e, at, slopes);
    for (int j = 0; j < k; j++)
        direction[j] = 0;
    for (int j = 0; j < k; j++) {
        direction[j] = 1;
        s->column(KC_AT(at), solution, slopes);
        direction[j] = 0;
        for (int i = 0; i < n; i++)
            e->f[i * k + j] = slopes[i];
        for (int i = 0; i < m; i++)
            e->gamma[i * k + j] = slopes[n + i];
        for (int i = 0; i < s->n_q; i++)
            rates[i * k + j] = slopes[n + m + i];
    }
}

/* The kernel `linearize`. */
KC_ONCE int kc_linearize(kc_linearization *s, kc_real t, const kc_real *x, const kc_real *r, const kc_real *c,
                         kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const int n = e->n, k = e->k, n_q = s->n_q;
    kc_real *const rates = kc_place_equations(e, w);
    kc_real *const udot = kc_place_scratch(e, rates + n_q * k), *const lambda = udot + n;
    e->size = 0;
    e->a = out + n_q * k;
    e->count = s->multipliers ? (int)c[s->rank] : 0;
    int fault = s->udot(t, x, r, c, lambda, udot);
    if (!fault && s->multipliers)
        fault = s->multipliers(t, x, r, c, lambda + e->m, lambda);
    if (KC_UNLIKELY(fault))
        return fault;
    if (s->fill)
        s->fill(t, x, r, c, udot, w);
    else
        kc_fill_columns(s, &(kc_place){t, x, r, c}, udot, rates);
    for (int i = 0; i < n_q * k; i++)
        out[i] = rates[i];
    return s->solve(e);
}
