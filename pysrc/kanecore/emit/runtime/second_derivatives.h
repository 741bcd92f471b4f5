/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second derivatives of weights . xdot by N variables: columns are the changes of its gradient along
 * units of the variables that M or G depend on. By the others, which M and G do not hold, they are those at
 * constant udot, lambda, mu and nu. Of each pair the one that is found along the earlier variable counts.
 */
typedef struct kc_hessian {
    int n;                /* N */
    int n_fixed;          /* how many numbers `fixed` gives */
    int n_inner, n_outer; /* how many variables have columns, how many others second derivatives */
    const int *variables; /* (N) their numbers: these, those, the rest */
    kc_function *fixed;   /* what does not depend on directions */
    kc_along *column;     /* the change of the gradient along some of the first (N) */
    kc_along *curvature;  /* that along some of the second, by these (n_outer) */

    /* where equations are solved; then `fixed` reads udot, lambda, mu and nu in w, and gives its numbers
     * behind them, where functions along directions read all of them */
    int n_changes; /* how many numbers the changes of these are, behind a direction of the first */
    void (*solve)(const void *solver, const kc_place *, kc_real *w, kc_real *d, kc_real *sides, int lanes);
    const void *solver;
} kc_hessian;

#define KC_HESSIAN_ROOM(n_fixed) (n_fixed)

/* Second derivatives along units of k variables, as many at once as stand side by side, by n of them. */
KC_INLINE void kc_find_columns(const kc_hessian *s, const kc_place *at, kc_along *function,
                               const int *variables, int k, int n, kc_real *w, kc_real *d, kc_real *out)
{
    const int solves = s->solve && function == s->column, n_seeds = solves ? k + s->n_changes : k;
    kc_real *const slopes = d + KC_COLUMNS(n_seeds);
    kc_clear(KC_COLUMNS(n_seeds), d);
    for (int j = 0; j < k; j += KC_BESIDE) {
        const int lanes = k - j < KC_BESIDE ? k - j : KC_BESIDE;
        kc_set_units(d, j, k, kc_all(1));
        if (solves)
            s->solve(s->solver, at, w, d, slopes, lanes);
        KC_CALL_ALONG(function, at, d, w, slopes);
        kc_set_units(d, j, k, kc_all(0));
        for (int lane = 0; lane < lanes; lane++)
            for (int i = j + lane; i < n; i++) {
                const int row = variables[i], column = variables[j + lane];
                out[row * s->n + column] = out[column * s->n + row] = slopes[i * KC_BESIDE + lane];
            }
    }
}

/* All of them; functions have their scratch in w, which holds `given` numbers. */
KC_INLINE kc_fault kc_find_all_columns(const kc_hessian *s, const kc_place *at, kc_real *w, int given,
                                       kc_real *out)
{
    kc_real *const d = w + given + s->n_fixed;
    const kc_fault failed = s->fixed(KC_AT(at), w, w + given);
    if (kc_stops(failed))
        return failed;
    kc_clear(s->n * s->n, out);
    if (s->n_inner)
        kc_find_columns(s, at, s->column, s->variables, s->n_inner, s->n, w, d, out);
    if (s->n_outer)
        kc_find_columns(s, at, s->curvature, s->variables + s->n_inner, s->n_outer, s->n_outer, w, d, out);
    return failed;
}

/* The kernel `rhs_hessian` where udot has an expression. */
KC_ONCE kc_fault kc_find_hessian(const kc_hessian *s, kc_real t, const kc_real *x, const kc_real *r,
                                 const kc_real *c, kc_real *w, kc_real *out)
{
    return kc_find_all_columns(s, &(kc_place){t, x, r, c}, w, 0, out);
}
