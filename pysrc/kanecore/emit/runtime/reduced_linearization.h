/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The derivatives of xdot (linearize.h) of models with constraints, from the equations that elimination on
 * the graph leaves (reduced_motion.h), with one factorization for udot, lambda and all columns.  The speeds
 * that were eliminated follow: a_D = p + P a.
 */
typedef struct kc_reduced_linearization {
    kc_saddle *equations; /* k = 1: of the speeds and rows that are left */
    kc_reduced_motion motion;
    int k;   /* how many columns */
    int n_q; /* of the model */
    const int *speeds,
        *followers; /* numbers of the speeds that are left, and of the others; NULL: all are left */
    kc_function
        *slopes; /* reads udot, lambda; the right-hand sides (n, k), (m, k), the slopes of qdot, p, P */
    kc_function *otherwise; /* the same from all speeds and rows, where pivots are small, or rows are lost or
                               contradict each other */
} kc_reduced_linearization;

#define KC_REDUCED_LINEARIZATION_ROOM(n, m, n_known, n_all, m_all, k, n_q)                                   \
    (KC_REDUCED_MOTION_ROOM(n, m, n_known, n_all, m_all) + (k) * (3 * (n) + 2 * (m) + (n_q) + (n_all)) +     \
     (n_all) * (n))

/* The rows of udot, from those of the speeds that are left. */
KC_INLINE void kc_finish_rows(const kc_reduced_linearization *s, const kc_real *a, const kc_real *offset,
                              const kc_real *projection, kc_real *out)
{
    const int n = s->equations->n, k = s->k, rest = s->motion.n_all - n;
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
    const int n = e->n, m = e->m, k = s->k, rest = s->motion.n_all - n;
    const kc_place at = {t, x, r, c};
    kc_real *const f = kc_place_motion(&s->motion, e, w), *const gamma = f + n * k;
    kc_real *const rates = gamma + m * k, *const offset = rates + s->n_q * k,
                   *const projection = offset + rest * k;
    kc_real *const own_f = projection + rest * n, *const own_gamma = own_f + n * k,
                   *const a = own_gamma + m * k;
    kc_real *const own = a + n * k;
    kc_fault failed = kc_find_motion(&s->motion, e, 1, &at, w, own);
#if defined(KC_WIDE)
    if (kc_stops(failed))
        return failed;
#else
    if (KC_UNLIKELY(failed || !e->factored))
        return s->otherwise(t, x, r, c, w, out);
#endif
    failed |= s->slopes(t, x, r, c, own + m, f);
    e->k = k, e->f = own_f, e->gamma = own_gamma, e->a = a;
    kc_solve_motion_again(&s->motion, e, f, gamma);
    kc_copy(s->n_q * k, out, rates);
    kc_finish_rows(s, a, offset, projection, out + s->n_q * k);
    return failed;
}
