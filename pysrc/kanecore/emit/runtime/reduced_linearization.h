/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The derivatives of xdot (linearize.h) of models with constraints, from the speeds and rows of G that
 * elimination on the graph leaves, with one factorization for udot, lambda and all columns.  The speeds that
 * were eliminated follow: a_D = p + P a.
 */
typedef struct kc_reduced_linearization {
    kc_saddle *equations;  /* k = 1: of the speeds and rows that are left */
    int k;                 /* how many columns */
    int n_q, n_all, m_all; /* of the model */
    int rank;              /* c[rank] is how many rows of G count */
    int eliminated;        /* how many rows the graph eliminated */
    const int *speeds,
        *followers;      /* numbers of the speeds that are left, and of the others; NULL: all are left */
    int n_known;         /* how many numbers `result` reads beside the solution */
    kc_function *fill;   /* the equations of udot, then what `result` reads; or a fault */
    kc_parts parts;      /* where `fill` is NULL: the equations of all speeds and rows */
    kc_function *result; /* udot, from what `fill` left for it and the solution; NULL: that is udot */
    kc_function
        *forces; /* reads the lambda of the rows that are left, then udot; all of lambda.  NULL: all are */
    kc_function
        *slopes; /* reads udot, lambda; the right-hand sides (n, k), (m, k), the slopes of qdot, p, P */
    kc_function *otherwise; /* the same from all speeds and rows, where pivots are small, or rows are lost or
                               contradict each other */
} kc_reduced_linearization;

#define KC_REDUCED_LINEARIZATION_ROOM(n, m, k, n_known, n_q, n_all, m_all)                                   \
    (KC_EQUATIONS_ROOM(n, m, 1) + (n_known) + (n) + KC_SCRATCH_ROOM(n, m) + (m) * (m) + (n) +                \
     (k) * (3 * (n) + 2 * (m) + (n_q) + (n_all)) + (n_all) * (n) + (m) + (n_all) + (m_all))

/* Find udot and lambda, with room for the lambda of the rows that are left before them. */
KC_INLINE kc_fault kc_find_motion(const kc_reduced_linearization *s, const kc_place *at, const kc_real *known,
                                  kc_real *sides, kc_real *own, kc_real *udot)
{
    kc_saddle *const e = s->equations;
    kc_real *const lambda = udot + s->n_all, *const work = lambda + s->m_all,
                   *const found = s->forces ? own : lambda;
    kc_fault failed = {0};
    if (s->result) {
        kc_copy(s->n_known + e->n, work, known);
        failed |= s->result(KC_AT(at), work, udot);
    } else
        kc_copy(e->n, udot, e->a);
    kc_find_forces(e, sides, found);
    if (e->rank < e->m)
        kc_least_norm(e, found);
    if (s->forces)
        failed |= s->forces(KC_AT(at), own, lambda);
    return failed;
}

/* The rows of udot, from those of the speeds that are left. */
KC_INLINE void kc_finish_rows(const kc_reduced_linearization *s, const kc_real *a, const kc_real *offset,
                              const kc_real *projection, kc_real *out)
{
    const int n = s->equations->n, k = s->k, rest = s->n_all - n;
    const kc_real none = kc_all(0);
    for (int i = 0; i < n; i++)
        kc_copy(k, out + (s->speeds ? s->speeds[i] : i) * k, a + i * k);
    for (int i = 0; i < rest; i++) {
        kc_real *const row = out + s->followers[i] * k;
        kc_copy(k, row, offset + i * k);
        for (int j = 0; j < n; j++) {
            const kc_real entry = projection[i * n + j];
            const kc_mask some = (kc_mask)(entry != none);
            if (kc_any(some))
                kc_take_where(some, k, row, -entry, a + j * k);
        }
    }
}

/* The kernel `linearize`, and others like it. */
KC_INLINE kc_fault kc_linearize_reduced(kc_reduced_linearization *s, kc_real t, const kc_real *x,
                                        const kc_real *r, const kc_real *c, kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const int n = e->n, m = e->m, k = s->k, rest = s->n_all - n;
    const kc_place at = {t, x, r, c};
    kc_real *const known = kc_place_equations(e, w);
    e->a = known + s->n_known;
    e->combine = kc_place_scratch(e, e->a + n);
    kc_real *const sides = e->combine + m * m, *const f = sides + n, *const gamma = f + n * k;
    kc_real *const rates = gamma + m * k, *const offset = rates + s->n_q * k,
                   *const projection = offset + rest * k;
    kc_real *const own_f = projection + rest * n, *const own_gamma = own_f + n * k,
                   *const a = own_gamma + m * k;
    kc_real *const own = a + n * k, *const udot = own + m, *const work = udot + s->n_all + s->m_all;
    kc_fault failed = {0};
    e->count = kc_count_of(c[s->rank]) - s->eliminated;
    e->clear = 1;
    e->contradiction = kc_all(KC_CONTRADICTORY_REST);
    if (s->fill)
        failed |= s->fill(t, x, r, c, work, w);
    else
        kc_fill(s->parts, e, &at, work);
#if defined(KC_WIDE)
    failed |= (kc_mask)(c[s->rank] != kc_all(c[s->rank][0]));
#else
    if (KC_UNLIKELY(failed))
        return s->otherwise(t, x, r, c, w, out);
#endif
    kc_weigh(e, e->M, n + 1);
    kc_cancel(e, KC_INDEPENDENT);
    for (int i = 0; i < n; i++)
        sides[i] = e->scale[i] * e->f[i];
    for (int i = 0; i < m; i++)
        e->size[i] = kc_abs(e->gamma[i]);
    failed |= kc_solve(e);
#if defined(KC_WIDE)
    if (kc_stops(failed))
        return failed;
#else
    if (KC_UNLIKELY(failed || !e->factored))
        return s->otherwise(t, x, r, c, w, out);
#endif
    failed |= kc_find_motion(s, &at, known, sides, own, udot);
    failed |= s->slopes(t, x, r, c, udot, f);
    e->k = k, e->f = own_f, e->gamma = own_gamma, e->a = a;
    kc_solve_again(e, f, gamma);
    kc_copy(s->n_q * k, out, rates);
    kc_finish_rows(s, a, offset, projection, out + s->n_q * k);
    return failed;
}
