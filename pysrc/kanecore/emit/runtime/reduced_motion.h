/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * udot and lambda of models with constraints, from the speeds and rows of G that elimination on the graph
 * leaves; the factors that found them serve derivatives.
 */
typedef struct kc_reduced_motion {
    int n_all, m_all;    /* speeds and rows of the model */
    int rank;            /* c[rank] is how many rows of G count */
    int eliminated;      /* how many rows the graph eliminated */
    int n_known;         /* how many numbers `result` reads beside the solution */
    kc_function *fill;   /* the equations of udot, then what `result` reads; or a fault */
    kc_parts parts;      /* where `fill` is NULL: the equations of all speeds and rows */
    kc_function *result; /* udot, from what `fill` left for it and the solution; NULL: that is udot */
#if defined(KC_FRONTS)
    kc_fronts fronts;   /* the equations by fronts, and `fill` fills them; n_fronts = 0: all at once */
    kc_sharing sharing; /* of the forces of redundant rows, by fronts */
#endif
    kc_function
        *forces; /* reads the lambda of the rows that are left, then udot; all of lambda.  NULL: all are */

    /* scratch */
    kc_real *known;   /* what `fill` left for `result`, then the solution */
    kc_real *sides;   /* (n) f, scaled */
    kc_real *weights; /* (m) how large rows are */
} kc_reduced_motion;

#define KC_REDUCED_MOTION_ROOM(n, m, n_known, n_all, m_all)                                                  \
    (KC_EQUATIONS_ROOM(n, m, 1) + (n_known) + (n) + KC_SCRATCH_ROOM(n, m) + (m) * (m) + (n) + 2 * (m) +      \
     (n_all) + (m_all))

/* Place the equations `e`, of k = 1, and what their solution needs from w on.  Returns where that ends. */
KC_INLINE kc_real *kc_place_motion(kc_reduced_motion *s, kc_saddle *e, kc_real *w)
{
#if defined(KC_FRONTS)
    if (s->fronts.n_fronts) { /* these take less than all equations at once */
        s->known = w + s->fronts.numbers;
        e->a = s->known + s->n_known;
        s->sides = kc_place_fronts(&s->fronts, w, e->a + e->n), e->f = s->sides + e->n;
        s->weights = s->fronts.large = e->f + e->n;
        return s->weights + e->m;
    }
#endif
    s->known = kc_place_equations(e, w);
    e->a = s->known + s->n_known;
    e->combine = kc_place_scratch(e, e->a + e->n);
    s->sides = e->combine + e->m * e->m;
    s->weights = s->sides + e->n;
    return s->weights + e->m;
}

/* Solve the equations, which are filled, for e->a, and find the lambda of the rows that are left. */
KC_INLINE kc_fault kc_solve_motion(const kc_reduced_motion *s, kc_saddle *e, int clear, kc_real *lambda)
{
    const int n = e->n, m = e->m;
#if defined(KC_FRONTS)
    if (s->fronts.n_fronts) {
        const kc_fault doubt = kc_factor_fronts(&s->fronts, e->count, 1, e->a);
        e->rank = e->count, e->factored = KC_TRUE;
        if (!kc_stops(doubt))
            kc_find_front_forces(&s->fronts, e->a, 0, s->sharing, lambda);
        return doubt;
    }
#endif
    kc_weigh(e, e->M, n + 1);
    kc_cancel(e, clear ? KC_INDEPENDENT : KC_RANK);
    kc_size_of_rows(e, s->weights);
    for (int i = 0; i < n; i++)
        s->sides[i] = e->scale[i] * e->f[i];
    for (int i = 0; i < m; i++)
        e->size[i] = kc_abs(e->gamma[i]);
    const kc_fault failed = kc_solve(e);
    if (kc_stops(failed) || !kc_any(e->factored))
        return failed;
    kc_find_forces(e, s->sides, lambda);
    if (e->rank < m)
        kc_share_forces(e, s->weights, lambda);
    return failed;
}

/* Solve for e->a with other right-hand sides f (n, k), of which the scratch of fronts is made, and gamma. */
KC_INLINE void kc_solve_motion_again(const kc_reduced_motion *s, kc_saddle *e, kc_real *f,
                                     const kc_real *gamma)
{
#if defined(KC_FRONTS)
    if (s->fronts.n_fronts) {
        kc_solve_fronts_again(&s->fronts, e->k, f, gamma, e->f, e->a);
        return;
    }
#endif
    (void)s, kc_solve_again(e, f, gamma);
}

/* The forces of these, of k = 1: of rows with a pivot. */
KC_INLINE void kc_find_forces_again(const kc_reduced_motion *s, kc_saddle *e, const kc_real *f,
                                    kc_real *lambda)
{
#if defined(KC_FRONTS)
    if (s->fronts.n_fronts) {
        kc_find_front_forces(&s->fronts, e->a, f, KC_SHARE_NONE, lambda);
        return;
    }
#endif
    for (int i = 0; i < e->n; i++)
        s->sides[i] = e->scale[i] * f[i];
    kc_find_forces(e, s->sides, lambda);
}

/*
 * Fill the equations, which begin at w, and solve them: `own` holds the lambda of the rows that are left (m),
 * udot and lambda; functions have their scratch behind.  With `clear` rows in doubt count as lost.  Of one
 * state nothing is found where `factored` is 0.
 */
KC_INLINE kc_fault kc_find_motion(const kc_reduced_motion *s, kc_saddle *e, int clear, const kc_place *at,
                                  kc_real *w, kc_real *own)
{
    const int n = e->n;
    kc_real *const udot = own + e->m, *const lambda = udot + s->n_all, *const work = lambda + s->m_all;
    kc_real *const found = s->forces ? own : lambda;
    kc_fault failed = {0};
    e->count = kc_count_of(at->c[s->rank]) - s->eliminated;
    e->clear = clear;
    e->contradiction = kc_all(KC_CONTRADICTORY_REST);
    e->factored = kc_not(KC_TRUE);
    if (s->fill)
        failed |= s->fill(KC_AT(at), work, w);
    else
        kc_fill(s->parts, e, at, work);
#if defined(KC_WIDE)
    failed |= (kc_mask)(at->c[s->rank] != kc_all(at->c[s->rank][0]));
#else
    if (KC_UNLIKELY(failed))
        return failed;
#endif
    failed |= kc_solve_motion(s, e, clear, found);
    if (kc_stops(failed) || !kc_any(e->factored))
        return failed;
    if (s->result) {
        kc_copy(s->n_known + n, work, s->known);
        failed |= s->result(KC_AT(at), work, udot);
    } else
        kc_copy(n, udot, e->a);
    if (s->forces)
        failed |= s->forces(KC_AT(at), own, lambda);
    return failed;
}
