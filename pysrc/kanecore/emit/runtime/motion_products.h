/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of the derivatives of xdot, or of outputs, with vectors, at the udot and lambda of the state: the
 * change of e(x, r, udot) along a direction,
 *
 *     M da = dR + G' dlambda,    G da + dS = 0,    R = f + G' lambda - M udot,    S = G udot + gamma,
 *
 * or the gradient of w e, of w e + mu R + nu S at constant mu and nu:
 *
 *     M' mu = (de/dudot)' w + G' nu,    G mu = 0.
 */
typedef struct kc_product {
    kc_saddle *equations;            /* k = 1 */
    int rank;                        /* c[rank] is how many rows of G count */
    int n_kept;                      /* how many numbers `sides` gives for `finish` */
    int adjoint;                     /* whether the product is a gradient */
    kc_function *udot, *multipliers; /* multipliers: NULL without constraints */
    kc_parts parts;                  /* M, G, what G is summed from */
    kc_function *sides; /* reads udot, lambda in w; what it keeps, and dR, dS, or (de/dudot)' w and zeros */
    kc_function
        *finish; /* reads udot, lambda, da or mu, dlambda or nu, and what was kept in w; the product */
    kc_fault (*solve)(kc_saddle *, kc_real *sides, kc_real *lambda); /* kc_solve_with_forces(), or as below */
} kc_product;

#define KC_PRODUCT_ROOM(n, m, n_kept)                                                                        \
    (KC_EQUATIONS_ROOM(n, m, 1) + KC_SCRATCH_ROOM(n, m) + (m) * (m) + (n) + 3 * ((n) + (m)) + (n_kept))

/* Solve the equations of a model without constraints. */
KC_INLINE kc_fault kc_solve_without_forces(kc_saddle *s, kc_real *sides, kc_real *lambda)
{
    (void)sides, (void)lambda;
    return kc_solve_free(s);
}

/* The kernels `rhs_tangent`, `rhs_gradient` and those by parameters, from given functions of udot and lambda.
 */
KC_ONCE kc_fault kc_multiply_generally(kc_product *s, kc_real t, const kc_real *x, const kc_real *r,
                                       const kc_real *c, kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const int n = e->n, m = e->m;
    e->combine = kc_place_scratch(e, kc_place_equations(e, w));
    kc_real *const sides = e->combine + m * m, *const solution = sides + n, *const second = solution + n + m;
    kc_real *const kept = second + n + m, *const own = kept + s->n_kept, *const work = own + n + m;
    const kc_place at = {t, x, r, c};
    e->size = 0, e->a = second;
    e->count = s->multipliers ? kc_count_of(c[s->rank]) : 0;
    kc_fault failed = s->udot(t, x, r, c, work, solution);
    if (kc_stops(failed))
        return failed;
    if (s->multipliers)
        failed |= s->multipliers(t, x, r, c, work, solution + n);
    if (kc_stops(failed))
        return failed;
    kc_fill(s->parts, e, &at, work);
    if (s->adjoint && !e->symmetric)
        kc_transpose_square(n, e->M);
    failed |= s->sides(t, x, r, c, solution, kept);
    for (int i = 0; i < n; i++)
        e->f[i] = own[i];
    for (int i = 0; i < m; i++)
        e->gamma[i] = own[n + i];
    failed |= s->solve(e, sides, second + n);
    if (kc_stops(failed))
        return failed;
    return failed | s->finish(t, x, r, c, solution, out);
}

/* A product with a matrix that is known as a whole. */
typedef struct kc_matrix_product {
    int rows, columns;
    int behind;          /* where the vector stands in x */
    int gradient;        /* whether it stands at the left of the matrix */
    kc_function *matrix; /* (rows, columns) */
} kc_matrix_product;

#define KC_MATRIX_PRODUCT_ROOM(rows, columns) ((rows) * (columns))

KC_ONCE kc_fault kc_multiply_matrix(kc_matrix_product *s, kc_real t, const kc_real *x, const kc_real *r,
                                    const kc_real *c, kc_real *w, kc_real *out)
{
    const int rows = s->rows, columns = s->columns;
    const kc_real *const vector = x + s->behind;
    const kc_fault failed = s->matrix(t, x, r, c, w + KC_MATRIX_PRODUCT_ROOM(rows, columns), w);
    if (kc_stops(failed))
        return failed;
    kc_clear(s->gradient ? columns : rows, out);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            out[s->gradient ? j : i] += w[i * columns + j] * vector[s->gradient ? i : j];
    return failed;
}
