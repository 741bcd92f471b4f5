/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of constrained models that solve equations, which functions of the model fill. */

#if !defined(KC_WIDE)
/* The largest residual beside what it is summed from; `worst` is its number. */
KC_SOLVER kc_real kc_residual(int m, const kc_real *value, const kc_real *size, int *worst)
{
    kc_real largest = 0;
    for (int i = 0; i < m; i++) {
        const kc_real error = value[i] == 0 ? 0 : kc_abs(value[i]) / size[i];
        if (!(error <= largest))
            largest = error, *worst = i;
    }
    return largest;
}
#endif

/* ------------------------------------------------------------------------------------------- accelerations
 */

/* The equations by which udot is found: those of all speeds and rows, or of the ones that elimination on the
 * graph left. */
typedef struct kc_motion {
    kc_saddle *equations;     /* k = 1 */
    int rank;                 /* c[rank] is how many rows of G count */
    int eliminated;           /* how many rows the graph eliminated */
    const int *speeds, *rows; /* the numbers in the model of the speeds and rows that it left; NULL: all */
    int n_known;              /* how many numbers `result` reads beside the solution */
    int n_residuals;          /* how many values phi and c have together */
    kc_function *fill;      /* the equations, then what `result` reads; or a fault, where they do not hold */
    kc_parts parts;         /* where `fill` is NULL: the equations of all speeds and rows */
    kc_function *doubt;     /* (m) what each gamma is summed from, in magnitude */
    kc_function *residuals; /* phi, c, then what each is summed from */
    kc_function *result; /* udot, from what `fill` left for it and the solution; NULL: the solution is udot */
#if defined(KC_WIDE)
    int clear; /* there is `otherwise`, to which states are left that are left to themselves */
#else
    kc_function *otherwise; /* udot from all rows, where `fill` ends with a fault or the rank is in doubt;
                               NULL: these are all */
#endif
} kc_motion;

/* How much scratch its arrays take; behind them stands that of the functions. */
#define KC_MOTION_ROOM(n, m, n_known, n_residuals)                                                           \
    (KC_EQUATIONS_ROOM(n, m, 1) + (n_known) + (n) + KC_SCRATCH_ROOM(n, m) + 2 * (n_residuals))

#if defined(KC_WIDE)
/* The kernel `udot`; states where rows contradict each other, or `fill` does not hold, are left to
 * themselves. */
KC_INLINE kc_fault kc_accelerate(kc_motion *s, kc_real t, const kc_real *x, const kc_real *r,
                                 const kc_real *c, kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    kc_real *const known = kc_place_equations(e, w);
    e->a = known + s->n_known;
    kc_real *const work = kc_place_scratch(e, e->a + e->n);
    e->count = kc_count_of(c[s->rank]) - s->eliminated;
    e->clear = s->clear;
    e->contradiction = kc_all(KC_CONTRADICTORY_REST);
    kc_fault failed = (kc_mask)(c[s->rank] != kc_all(c[s->rank][0]));
    if (s->fill)
        failed |= s->fill(t, x, r, c, work, w);
    else
        kc_fill(s->parts, e, &(kc_place){t, x, r, c}, work);
    kc_weigh(e, e->M, e->n + 1);
    kc_cancel(e, e->clear ? KC_INDEPENDENT : KC_RANK);
    for (int i = 0; i < e->m; i++)
        e->size[i] = kc_abs(e->gamma[i]);
    failed |= kc_solve(e);
    if (s->result)
        return failed | s->result(t, x, r, c, known, out);
    for (int i = 0; i < e->n; i++)
        out[i] = e->a[i];
    return failed;
}
#else
/* What may be left of redundant rows at a state that is off its constraints, beside their terms; 0 on them.
 * `residuals` gives n values, then what they are summed from.  (No structure is handed on: the compiler keeps
 * its members in registers.) */
KC_ONCE kc_real kc_explained(kc_function *residuals, int n, const kc_place *at, kc_real *work)
{
    int worst = 0;
    residuals(KC_AT(at), work + 2 * n, work);
    const kc_real off = kc_residual(n, work, work + n, &worst);
    return off > KC_SOLVED ? KC_EXPLAINED * off : 0;
}

/*
 * udot from `all` speeds and rows, or from those that elimination left.  If rows contradict each other, or
 * more are independent than were counted, the equations are solved again, with as much tolerance as the state
 * explains.  Where `all` is 0 every function below is inlined, so that the compiler knows all sizes.
 */
KC_INLINE int kc_accelerate_by(kc_motion *s, int all, const kc_place *at, kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    kc_real *const known = kc_place_equations(e, w);
    e->a = known + s->n_known;
    kc_real *const work = kc_place_scratch(e, e->a + e->n);
    int fault = 0;
    e->count = (int)at->c[s->rank] - s->eliminated;
    e->clear = s->otherwise != 0;
    e->contradiction = KC_CONTRADICTORY_REST;
    for (int doubting = 0; doubting < 2; doubting++) {
        if (!s->fill)
            kc_fill(s->parts, e, at, work);
        else if (KC_UNLIKELY(s->fill(KC_AT(at), work, w)))
            return s->otherwise(KC_AT(at), w, out);
        kc_weigh(e, e->M, e->n + 1);
        kc_cancel(e, e->clear ? KC_INDEPENDENT : KC_RANK);
        if (doubting) { /* redundant rows may contradict the others, and look independent, as explained */
            e->blurred = kc_explained(s->residuals, s->n_residuals, at, work);
            e->contradiction = kc_max(KC_CONTRADICTORY_REST, e->blurred);
            s->doubt(KC_AT(at), work, e->size);
        } else
            for (int i = 0; i < e->m; i++)
                e->size[i] = kc_abs(e->gamma[i]);
        fault = all ? kc_solve_shared(e) : kc_solve(e);
        const int more = !fault && e->rank > e->count;
        if (KC_UNLIKELY(more) && kc_explained(s->residuals, s->n_residuals, at, work) > KC_INDEPENDENT)
            continue;
        if (kc_status_of(fault) != KC_CONTRADICTORY)
            break;
    }
    const int status = kc_status_of(fault);
    /* a row that is small counts as lost here, but what it says of accelerations need not be small */
    if (KC_UNLIKELY(e->clear && (status == KC_LOST || status == KC_CONTRADICTORY)))
        return s->otherwise(KC_AT(at), w, out);
    if (KC_UNLIKELY(fault))
        return kc_model_fault(fault, s->speeds, s->rows);
    if (s->result)
        return s->result(KC_AT(at), known, out);
    for (int i = 0; i < e->n; i++)
        out[i] = e->a[i];
    return 0;
}

/* The kernel `udot`. */
KC_INLINE int kc_accelerate(kc_motion *s, kc_real t, const kc_real *x, const kc_real *r, const kc_real *c,
                            kc_real *w, kc_real *out)
{
    return kc_accelerate_by(s, 0, &(kc_place){t, x, r, c}, w, out);
}

/* The same from all speeds and rows; rarely called. */
KC_COLD int kc_accelerate_all(kc_motion *s, kc_real t, const kc_real *x, const kc_real *r, const kc_real *c,
                              kc_real *w, kc_real *out)
{
    return kc_accelerate_by(s, 1, &(kc_place){t, x, r, c}, w, out);
}
#endif

/* ---------------------------------------------------------------------------------------------- multipliers
 */

/* The equations G' lambda = M udot - f. */
typedef struct kc_balance {
    kc_saddle *equations;
    int rank;  /* c[rank] is how many rows of G count */
    int equal; /* whether the norm that is least is that of forces of rows of equal size: for derivatives */
    kc_function *udot;
    kc_function *fill; /* reads udot in w; G (m, n), M udot - f (n), M_jj (n), what G is summed from (m, n) */
} kc_balance;

#define KC_BALANCE_ROOM(n, m) (2 * (m) * (n) + 2 * (n) + (n) + (m) * (m) + (m) + (n))

/* The kernel `multipliers`, and what derivatives take in its place. */
KC_ONCE kc_fault kc_find_multipliers(kc_balance *s, kc_real t, const kc_real *x, const kc_real *r,
                                     const kc_real *c, kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const int n = e->n, m = e->m;
    kc_real *const b = w + m * n, *const weights = b + n;
    e->G = w, e->sums = weights + n, e->scale = e->sums + m * n, e->combine = e->scale + n;
    kc_real *const sizes = e->combine + m * m, *const udot = sizes + m;
    e->count = kc_count_of(c[s->rank]);
    const kc_fault failed = s->udot(t, x, r, c, udot + n, udot);
    if (kc_stops(failed))
        return failed;
    s->fill(t, x, r, c, udot, w);
    kc_weigh(e, weights, 1);
    kc_cancel(e, KC_RANK);
    for (int i = 0; i < n; i++)
        b[i] *= e->scale[i];
    if (s->equal)
        kc_size_of_rows(e, sizes);
    return failed | kc_solve_multipliers(e, b, udot, s->equal ? sizes : 0, out);
}

#if !defined(KC_WIDE)
/* -------------------------------------------------------------------------------------------- stabilization
 */

/* The two parts of udot that lead back to the constraints (kanecore.h), of least size in the metric of the
 * masses.  Redundant rows are left out: off the constraints they contradict the others. */
typedef struct kc_return {
    kc_saddle *equations; /* k = 2 */
    int rank;             /* c[rank] is how many rows of G count */
    kc_function *fill;    /* the equations, or the arrays of fronts, then gamma */
#if defined(KC_FRONTS)
    kc_fronts fronts; /* n_fronts = 0: all equations at once */
    int front_room;
#endif
} kc_return;

#define KC_RETURN_ROOM(n, m, front_room)                                                                     \
    (KC_EQUATIONS_ROOM(n, m, 2) + 2 * (n) + KC_SCRATCH_ROOM(n, m) + (front_room))

#if defined(KC_FRONTS)
/* Solve by fronts, whose arrays begin at w; where these are in doubt fill the equations.  Returns whether all
 * of them are to be solved at once. */
KC_ONCE int kc_return_by_fronts(kc_return *s, const kc_place *at, kc_real *w)
{
    kc_saddle *const e = s->equations;
    const int n = e->n, m = e->m, k = e->k;
    kc_real *const gamma = w + s->fronts.numbers, *const f = gamma + m * k, *const y = f + n * k;
    kc_real *const large = kc_place_fronts(&s->fronts, w, y + n * k), *const work = large + m;
    s->fronts.large = large;
    s->fill(KC_AT(at), work, w);
    if (!kc_factor_fronts(&s->fronts, e->count, 1, y)) {
        kc_clear(n * k, f);
        kc_solve_fronts_again(&s->fronts, k, f, gamma, y, e->a);
        return 0;
    }
    s->fill(KC_AT(at), work, w);
    kc_join_fronts(&s->fronts, e);
    kc_clear(n * k, e->f);
    kc_copy(m * k, e->gamma, gamma);
    return 1;
}
#endif

/* The kernel `stabilization`: one part a row of `out`. */
KC_ONCE int kc_stabilize(kc_return *s, kc_real t, const kc_real *x, const kc_real *r, const kc_real *c,
                         kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const kc_place at = {t, x, r, c};
    const int n = e->n, k = e->k;
    e->a = kc_place_equations(e, w);
    kc_real *const work = kc_place_scratch(e, e->a + k * n);
    int at_once = 1, fault = 0;
    e->size = 0;
    e->count = (int)c[s->rank];
#if defined(KC_FRONTS)
    if (s->fronts.n_fronts)
        at_once = kc_return_by_fronts(s, &at, work);
    else
#endif
        s->fill(KC_AT(&at), work, w);
    if (at_once)
        fault = kc_solve_equations(e);
    for (int i = 0; i < n && !fault; i++)
        for (int j = 0; j < k; j++)
            out[j * n + i] = e->a[i * k + j];
    return fault;
}
#endif
