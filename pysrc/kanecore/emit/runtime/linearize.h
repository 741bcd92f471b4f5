/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The derivatives of xdot with respect to N symbols, at the udot and lambda of the state; of `linearize`
 * these are q, u and r:
 *
 *     M da = dR + G' dlambda,    G da + dS = 0,    R = f + G' lambda - M udot,    S = G udot + gamma.
 */
typedef struct kc_linearization {
    kc_saddle *equations; /* k = N */
    int n_q;
    int rank;                        /* c[rank] is how many rows of G count */
    kc_fault (*solve)(kc_saddle *);  /* kc_solve_equations(), without constraints kc_solve_free() */
    kc_function *udot, *multipliers; /* multipliers: NULL without constraints */
    kc_function *fill; /* reads udot, lambda in w; the equations, then the slopes of qdot (n_q, N) */
    kc_parts parts;    /* where `fill` is NULL: M, G and its sums, and `column` for the right-hand sides */
    kc_along *column;  /* reads udot, lambda in w; the slopes of R, S, qdot along directions (N) */
} kc_linearization;

#define KC_LINEARIZATION_ROOM(n_q, n, m, N)                                                                  \
    (KC_EQUATIONS_ROOM(n, m, N) + (n_q) * (N) + KC_SCRATCH_ROOM(n, m) + 2 * ((n) + (m)) + (n_q) + (N))

/* Fill the equations, as many columns at once as stand side by side, and `rates` with the slopes of qdot;
 * `solution` holds udot, lambda. */
KC_SOLVER void kc_fill_columns(const kc_linearization *s, const kc_place *at, kc_real *solution,
                               kc_real *rates)
{
    const kc_saddle *const e = s->equations;
    const int n = e->n, m = e->m, k = e->k;
    kc_real *const directions = solution + n + m, *const slopes = directions + KC_COLUMNS(k);
    kc_fill(s->parts, e, at, slopes);
    kc_clear(KC_COLUMNS(k), directions);
    for (int j = 0; j < k; j += KC_BESIDE) {
        kc_set_units(directions, j, k, kc_all(1));
        KC_CALL_ALONG(s->column, at, directions, solution, slopes);
        kc_set_units(directions, j, k, kc_all(0));
        for (int lane = 0; lane < KC_BESIDE && j + lane < k; lane++) {
            for (int i = 0; i < n; i++)
                e->f[i * k + j + lane] = slopes[i * KC_BESIDE + lane];
            for (int i = 0; i < m; i++)
                e->gamma[i * k + j + lane] = slopes[(n + i) * KC_BESIDE + lane];
            for (int i = 0; i < s->n_q; i++)
                rates[i * k + j + lane] = slopes[(n + m + i) * KC_BESIDE + lane];
        }
    }
}

/* The kernel `linearize`, and others like it. */
KC_SOLVER kc_fault kc_linearize(kc_linearization *s, kc_real t, const kc_real *x, const kc_real *r,
                                const kc_real *c, kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const int n = e->n, k = e->k, n_q = s->n_q;
    kc_real *const rates = kc_place_equations(e, w);
    kc_real *const udot = kc_place_scratch(e, rates + n_q * k), *const lambda = udot + n;
    e->size = 0;
    e->a = out + n_q * k;
    e->count = s->multipliers ? kc_count_of(c[s->rank]) : 0;
    kc_fault failed = s->udot(t, x, r, c, lambda, udot);
    if (kc_stops(failed))
        return failed;
    if (s->multipliers)
        failed |= s->multipliers(t, x, r, c, lambda + e->m, lambda);
    if (kc_stops(failed))
        return failed;
    if (s->fill)
        s->fill(t, x, r, c, udot, w);
    else
        kc_fill_columns(s, &(kc_place){t, x, r, c}, udot, rates);
    for (int i = 0; i < n_q * k; i++)
        out[i] = rates[i];
    return failed | s->solve(e);
}

/* The derivatives of n_y outputs that hold udot, dy = dy/d(q, u, r) + dy/dudot dudot. */
typedef struct kc_chain {
    int n_y, n_q, n, k;
    kc_function *udot, *linearize;
    kc_function *slopes; /* reads udot in w; dy/d(q, u, r) (n_y, k), then dy/dudot (n_y, n) */
} kc_chain;

#define KC_CHAIN_ROOM(n_y, n_q, n, k) ((n) + ((n_q) + (n)) * (k) + (n_y) * ((k) + (n)))

/* The kernel `output_jacobian` of such outputs. */
KC_ONCE kc_fault kc_chain_rule(const kc_chain *s, kc_real t, const kc_real *x, const kc_real *r,
                               const kc_real *c, kc_real *w, kc_real *out)
{
    const int n_y = s->n_y, n = s->n, k = s->k;
    kc_real *const rates = w + n, *const udot = rates + s->n_q * k;
    kc_real *const direct = udot + n * k, *const by_udot = direct + n_y * k, *const work = by_udot + n_y * n;
    kc_fault failed = s->udot(t, x, r, c, work, w);
    if (!kc_stops(failed))
        failed |= s->linearize(t, x, r, c, work, rates);
    if (kc_stops(failed))
        return failed;
    s->slopes(t, x, r, c, w, direct);
    for (int i = 0; i < n_y; i++)
        for (int j = 0; j < k; j++) {
            kc_real sum = direct[i * k + j];
            for (int l = 0; l < n; l++)
                sum += by_udot[i * n + l] * udot[l * k + j];
            out[i * k + j] = sum;
        }
    return failed;
}
