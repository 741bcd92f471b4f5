/* SPDX-License-Identifier: BSD-3-Clause */
/* States on the constraints: the nearest one to a state, and how many rows of G count. */

/* Divide the unit quaternions of x by their lengths; `unit` holds four places each. */
KC_SOLVER void kc_unit_length(int n_unit, const uint32_t *unit, kc_real *x)
{
    for (int i = 0; i < n_unit; i++) {
        const uint32_t *const place = unit + 4 * i;
        kc_real square = 0;
        for (int j = 0; j < 4; j++)
            square += x[place[j]] * x[place[j]];
        const kc_real length = kc_sqrt(square);
        for (int j = 0; j < 4 && square > 0; j++)
            x[place[j]] /= length;
    }
}

/* ----------------------------------------------------------------------------------------------- projection
 */

/*
 * The nearest state y on the constraints, weighted by mass: Newton's method, first for phi along motions
 * qdot(a), then for c in u.  Where no motion leads back q itself moves, along all of the slopes of phi.
 */
typedef struct kc_projection {
    kc_saddle *equations; /* k = 1 */
    int n_q, n_u, n_max;  /* n_max: the larger of both */
    int m_q, m_u, rank;   /* how many values phi, c have; c[rank] is how many rows of G count */
    int n_unit;           /* unit quaternions */
    const uint32_t *unit; /* four places of each in x */
    /* These read y and a at the beginning of w. */
    kc_function *position;  /* the equations of least change, then what phi is summed from (m_q) */
    kc_function *velocity;  /* ... what c is summed from (m_u) */
    kc_function *direction; /* qdot(a) (n_q) */
    kc_function *slopes;    /* dphi/dq (m_q, n_q) */
    /* Of the gradient of the way back (projection_gradient.h): the functions read kappa, mu, nu, l as well.
     */
    kc_function *position_sides, *velocity_sides;       /* (dy/da)' l (n_u) */
    kc_function *position_gradient, *velocity_gradient; /* by y, r and p (n_all) */
    int n_z, n_all, weights;                            /* weights: their place in x */
#if defined(KC_FRONTS)
    /* The equations by fronts, with scratch for them: `position`, `velocity` fill these.  n_fronts = 0: all
     * at once. */
    kc_fronts position_fronts, velocity_fronts;
    int front_room;
#endif

    /* scratch */
    kc_place at;
    kc_real *arrays;   /* of the equations */
    kc_real *y, *a;    /* the state, and a change of it */
    kc_real *residual; /* phi or c */
    kc_real *sizes;    /* what each is summed from at the start: later that may vanish, or grow without end */
    kc_real *units;    /* of the coordinates, or of the speeds */
    int directly;      /* q itself moves, not along motions */
#if defined(KC_FRONTS)
    kc_real *fronted; /* the arrays of fronts, then their scratch */
    int by_fronts;    /* the last change was found by fronts, whose factors are there */
#endif
    kc_real *kept; /* NULL, or room for steps: the level, and y before the step */
    int n_kept;
} kc_projection;

/* Room for steps that are kept, of which there are 32 at most. */
#define KC_KEPT_ROOM(n) (32 * ((n) + 1))
#define KC_KEPT_STEPS   KC_KEPT_ROOM(0)

/* Steps of Newton's method on each way back, of each level. */
#define KC_PROJECTION_STEPS 64

#define KC_PROJECTION_ROOM(n_q, n_u, n_max, m, front_room)                                                   \
    (KC_EQUATIONS_ROOM(n_max, m, 1) + (m) + KC_SCRATCH_ROOM(n_max, m) + 2 * (m) + (n_max) + (n_q) + (n_u) +  \
     (n_max) + (front_room))

/* The units of the coordinates: how far motions move them in which one speed is one unit. */
KC_ONCE void kc_coordinate_units(kc_projection *s)
{
    kc_real *const rates = s->equations->W;
    for (int j = 0; j < s->n_q; j++)
        s->units[j] = 0;
    for (int k = 0; k < s->n_u; k++) {
        for (int j = 0; j < s->n_u; j++)
            s->a[j] = j == k ? s->equations->scale[k] : 0;
        s->direction(KC_AT(&s->at), s->y, rates);
        for (int j = 0; j < s->n_q; j++)
            s->units[j] += rates[j] * rates[j];
    }
    for (int j = 0; j < s->n_q; j++)
        s->units[j] = kc_sqrt(s->units[j]);
}

/* In place of the equations of motions those of q in its units: M = 1, G = dphi/dq. */
KC_ONCE void kc_move_directly(kc_projection *s)
{
    kc_saddle *const e = s->equations;
    const int n = s->n_q;
    kc_coordinate_units(s);
    e->n = n;
    kc_place_equations(e, s->arrays);
    s->slopes(KC_AT(&s->at), s->y, e->G);
    for (int i = 0; i < e->m; i++)
        e->gamma[i] = s->residual[i];
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < e->m; i++)
            e->G[i * n + j] *= s->units[j];
        for (int i = 0; i < n; i++)
            e->M[i * n + j] = i == j;
        e->f[j] = 0;
        e->scale[j] = 1;
    }
    kc_forget_terms(e);
}

/* Say what each row is summed from that was not yet, `sizes`; of c with a share of the largest speed, in the
 * metric of the masses, as `misses` of constraints/constraint_values.py. */
KC_ONCE void kc_size_rows(kc_projection *s, int level, const kc_real *sizes)
{
    const kc_saddle *const e = s->equations;
    const int n = level ? e->n : 0;
    kc_real largest = 0;
    for (int j = 0; j < n; j++) {
        const kc_real root = kc_sqrt(kc_abs(e->M[j * (n + 1)]));
        s->units[j] = root > 0 ? 1 / root : 0;
        largest = kc_max(largest, kc_abs(s->y[s->n_q + j]) * root);
    }
    for (int i = 0; i < e->m; i++) {
        kc_real slope = 0;
        for (int j = 0; j < n; j++)
            slope = kc_max(slope, kc_abs(e->G[i * n + j]) * s->units[j]);
        if (s->sizes[i] == 0)
            s->sizes[i] = sizes[i] + KC_RANK / KC_SOLVED * slope * largest;
    }
}

#if defined(KC_FRONTS)
/* The same by fronts, and the residuals. */
KC_ONCE void kc_size_front_rows(kc_projection *s, const kc_fronts *fronts, int level, const kc_real *sizes)
{
    kc_real largest = 0;
    for (int k = 0; k < fronts->n_fronts && level; k++) {
        const int *const own = fronts->sizes + KC_SIZES * k;
        const kc_front f = kc_front_of(fronts, k, own[0], own[1], own[2]);
        for (int j = 0; j < f.own; j++) {
            const kc_real root = kc_sqrt(kc_abs(f.M[j * (f.width + 1)]));
            s->units[f.speeds[j]] = root > 0 ? 1 / root : 0;
            largest = kc_max(largest, kc_abs(s->y[s->n_q + f.speeds[j]]) * root);
        }
    }
    for (int k = 0; k < fronts->n_fronts; k++) {
        const int *const own = fronts->sizes + KC_SIZES * k, *const numbers = fronts->row_numbers + own[7];
        const kc_front f = kc_front_of(fronts, k, own[0], own[1], own[2]);
        for (int i = 0; i < f.rows; i++) {
            kc_real slope = 0;
            for (int j = 0; j < f.width - 1 && level; j++)
                slope = kc_max(slope, kc_abs(f.G[i * f.width + j]) * s->units[f.speeds[j]]);
            if (s->sizes[numbers[i]] == 0)
                s->sizes[numbers[i]] = sizes[numbers[i]] + KC_RANK / KC_SOLVED * slope * largest;
            s->residual[numbers[i]] = f.G[i * f.width + f.width - 1];
        }
    }
}

/* The fronts of a level, of which there may be none. */
KC_INLINE kc_fronts *kc_fronts_of_level(kc_projection *s, int level)
{
    return level ? &s->velocity_fronts : &s->position_fronts;
}
#endif

/* Fill the equations of a level (0: phi, 1: c) at y, or the arrays of its fronts.  Returns what follows: what
 * each row is summed from. */
KC_ONCE const kc_real *kc_fill_equations(kc_projection *s, int level)
{
    kc_function *const fill = level ? s->velocity : s->position;
    kc_real *to = s->arrays;
    s->equations->n = s->n_u;
    const kc_real *end = kc_place_equations(s->equations, to);
#if defined(KC_FRONTS)
    kc_fronts *const fronts = kc_fronts_of_level(s, level);
    if (fronts->n_fronts) {
        to = s->fronted, end = to + fronts->numbers;
        kc_place_fronts(fronts, to, to + fronts->numbers + s->equations->m);
        fronts->large = s->equations->gamma; /* nobody else needs room in these equations */
    }
#endif
    fill(KC_AT(&s->at), s->y, to);
    return end;
}

/* Fill the equations of a level.  Returns the largest residual beside its terms; `worst` is its number. */
KC_ONCE kc_real kc_fill_level(kc_projection *s, int level, int *worst)
{
    kc_saddle *const e = s->equations;
    const kc_real *const sizes = kc_fill_equations(s, level);
#if defined(KC_FRONTS)
    if (kc_fronts_of_level(s, level)->n_fronts) {
        kc_size_front_rows(s, kc_fronts_of_level(s, level), level, sizes);
        return kc_residual(e->m, s->residual, s->sizes, worst);
    }
#endif
    kc_size_rows(s, level, sizes);
    for (int i = 0; i < e->m; i++)
        s->residual[i] = e->gamma[i];
    return kc_residual(e->m, s->residual, s->sizes, worst);
}

/* Keep y, from which a step along motions begins; or there is no room, or q itself moves: no gradient. */
KC_ONCE int kc_keep_step(kc_projection *s, int level)
{
    const int n = s->n_q + s->n_u;
    if (s->directly || s->n_kept == KC_KEPT_STEPS)
        return 0;
    kc_real *const to = s->kept + s->n_kept++ * (n + 1);
    to[0] = (kc_real)level;
    for (int i = 0; i < n; i++)
        to[1 + i] = s->y[i];
    return 1;
}

/* The least change a by the equations of a level, which are filled: by fronts, or where these are in doubt at
 * once; with what forces need, if `combine` is there. */
KC_ONCE int kc_find_change(kc_projection *s, int level)
{
    kc_saddle *const e = s->equations;
#if defined(KC_FRONTS)
    const kc_fronts *const fronts = kc_fronts_of_level(s, level);
    s->by_fronts = 0;
    if (fronts->n_fronts) {
        s->by_fronts = !s->directly && !kc_factor_fronts(fronts, e->count, e->combine != 0, s->a);
        if (s->by_fronts)
            return 0;
        if (!s->directly)
            kc_fill_equations(s, level);
        kc_join_fronts(fronts, e);
    }
#endif
    kc_weigh(e, e->M, e->n + 1);
    if (s->directly)
        kc_move_directly(s);
    else
        kc_cancel(e, level == 0 ? KC_INDEPENDENT : KC_RANK);
    return kc_solve_shared(e);
}

/* One step of Newton's method, from equations that are filled: 0, and y has moved, or their fault. */
KC_ONCE int kc_step_back(kc_projection *s, int level)
{
    kc_saddle *const e = s->equations;
    const int fault = kc_find_change(s, level);
    if (KC_UNLIKELY(fault))
        return fault;
    if (s->kept && !kc_keep_step(s, level))
        return KC_FAULT(KC_SINGULAR, 0);
    if (level > 0)
        for (int i = 0; i < s->n_u; i++)
            s->y[s->n_q + i] += s->a[i];
    else if (s->directly)
        for (int j = 0; j < s->n_q; j++)
            s->y[j] += s->units[j] * s->a[j];
    else {
        s->direction(KC_AT(&s->at), s->y, e->W);
        for (int i = 0; i < s->n_q; i++)
            s->y[i] += e->W[i];
    }
    kc_unit_length(s->n_unit, s->unit, s->y);
    return 0;
}

/* One level of the projection: 0, or the fault of its equations, or what cannot be satisfied. */
KC_ONCE int kc_project_level(kc_projection *s, int level)
{
    kc_saddle *const e = s->equations;
    const int counted = (int)s->at.c[s->rank];
    kc_real before = KC_LARGEST;
    int worst = 0, steps = 0;
    const int kept = s->n_kept;
    s->directly = 0;
    e->m = level ? s->m_u : s->m_q;
    for (int i = 0; i < e->m; i++)
        s->sizes[i] = 0;
    while (e->m > 0) {
        /* phi along motions: a small row or pivot would move much for little, so none of them counts */
        e->count = level == 0 ? s->directly * e->m : e->m < counted ? e->m : counted;
        const kc_real error = kc_fill_level(s, level, &worst);
        if (!(error < KC_REAL(0.5) * before) || error == 0 || steps == KC_PROJECTION_STEPS) {
            const int last = level > 0 || s->directly;
            if (error <= (last ? KC_SOLVED : KC_REACHED))
                break;
            if (last || !(error < KC_LARGEST))
                return KC_FAULT(level ? KC_UNSATISFIED_ROW : KC_UNSATISFIED_CONFIGURATION, worst);
            s->directly = 1, steps = 0;
        }
        before = error, steps++;
        const int fault = kc_step_back(s, level);
        if (fault && (level > 0 || s->directly))
            return fault;
        if (fault) /* no motion leads back */
            s->directly = 1, before = KC_LARGEST, steps = 0;
    }
    /* where nothing is to do a step has a derivative all the same */
    if (s->kept && e->m > 0 && s->n_kept == kept && !kc_keep_step(s, level))
        return KC_FAULT(KC_SINGULAR, 0);
    return 0;
}

/* The kernel `project`. */
KC_ONCE int kc_project(kc_projection *s, kc_real t, const kc_real *x, const kc_real *r, const kc_real *c,
                       kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const int m = e->m, n_x = s->n_q + s->n_u;
    s->at = (kc_place){t, x, r, c};
    s->arrays = w;
    e->n = s->n_max;
    s->residual = kc_place_scratch(e, w + KC_EQUATIONS_ROOM(s->n_max, m, 1) + m);
    s->sizes = s->residual + m, s->units = s->sizes + m, s->y = s->units + s->n_max;
#if defined(KC_FRONTS)
    s->fronted = s->y, s->y += s->front_room;
#endif
    s->a = s->y + n_x;
    e->a = s->a, e->size = 0;
    for (int i = 0; i < n_x; i++)
        s->y[i] = x[i];
    kc_unit_length(s->n_unit, s->unit, s->y);
    for (int level = 0; level < 2; level++) {
        const int fault = kc_project_level(s, level);
        if (KC_UNLIKELY(fault))
            return fault;
    }
    for (int i = 0; i < n_x; i++)
        out[i] = s->y[i];
    return 0;
}

/* ---------------------------------------------------------------------------------------------------- count
 */

/* What finds out how many rows of G count with some parameters: states on the constraints, and G there. */
typedef struct kc_closure {
    kc_saddle *equations; /* only their reduction is used, as that of accelerations */
    int n_q, n_u, n_r;
    int m_q, m_u, m;      /* phi has m_q values, c m_u; of the m rows of G the first m_u are dc/du */
    int n_unit, linear;   /* unit quaternions; whether G does not depend on u */
    const uint32_t *unit; /* four places of each in x */
    const kc_real *guess; /* (n_q + n_u) where to look first, NaN for what it does not say */
    kc_function *configuration, *slopes; /* phi, dphi/dq */
    kc_function *velocity, *jacobian;    /* c, G */
    kc_function *sizes, *weights;        /* what phi, then c are summed from; M_jj */

    /* scratch */
    kc_place at;
    kc_real *rows;        /* dphi/dq, or G */
    kc_real *value;       /* phi or c at x */
    kc_real *size;        /* what phi, then c are summed from */
    kc_real *trial, *now; /* a state on trial, and phi or c there */
    kc_real *unit_of;     /* of the coordinates, or of the speeds */
    kc_real *square;      /* A A', its factors, and two numbers a row */
    kc_real *work;        /* of the functions */
} kc_closure;

#define KC_COUNT_ROOM(n_q, n_u, n_r, m_q, m)                                                                 \
    (KC_MOST(m, m_q) * (KC_MOST(n_q, n_u) + 2 * KC_MOST(m, m_q) + 4) + (m_q) + (m) + 3 * (n_q) + 5 * (n_u) + \
     (n_r))

/* Pseudorandom numbers in +-(0.2 ... 1.2), always the same (Knuth, TAOCP 2, 3rd ed. 1998, section 3.3.4,
 * table 1). */
KC_SOLVER kc_real kc_draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const kc_real x = (kc_real)(*state >> 11) / KC_REAL(9007199254740992.0);
    return x < KC_REAL(0.5) ? KC_REAL(-0.2) - 2 * x : KC_REAL(0.2) + 2 * (x - KC_REAL(0.5));
}

/* The largest residual of a level (0: phi, 1: c) at a state, into `value`, beside `size`. */
KC_SOLVER kc_real kc_residual_of(kc_closure *s, int level, const kc_real *x, kc_real *value)
{
    int worst = 0;
    (level ? s->velocity : s->configuration)(s->at.t, x, s->at.r, s->at.c, s->work, value);
    return kc_residual(level ? s->m_u : s->m_q, value, s->size + (level ? s->m_q : 0), &worst);
}

/* Move x by Newton's step along the columns of the pivots, halved until the residual falls; whether it does.
 * Residuals stand beside the sizes before the step, since far away residuals and sizes fall together. */
KC_ONCE int kc_shortened_step(kc_closure *s, int level, kc_real error, kc_real *x)
{
    kc_saddle *const e = s->equations;
    const int n_x = s->n_q + s->n_u, first = level ? s->n_q : 0;
    e->n = level ? s->n_u : s->n_q, e->m = level ? s->m_u : s->m_q, e->k = 1, e->count = e->m;
    e->G = s->rows, e->gamma = s->value;
    (level ? s->jacobian : s->slopes)(KC_AT(&s->at), s->work, s->rows);
    kc_forget_terms(e);
    kc_reduce_shared(e);
    kc_real length = 1;
    for (int shorter = 0; shorter <= 20; shorter++, length *= KC_REAL(0.5)) {
        for (int j = 0; j < n_x; j++)
            s->trial[j] = x[j];
        for (int i = 0; i < e->rank; i++)
            s->trial[first + e->column[i]] -= length * s->value[i];
        kc_unit_length(s->n_unit, s->unit, s->trial);
        if (kc_residual_of(s, level, s->trial, s->now) < error) {
            for (int j = 0; j < n_x; j++)
                x[j] = s->trial[j];
            return 1;
        }
    }
    return 0;
}

/* The sum of the squares of residuals beside their sizes. */
KC_SOLVER kc_real kc_squares(int m, const kc_real *value, const kc_real *size)
{
    kc_real sum = 0;
    for (int i = 0; i < m; i++) {
        const kc_real error = value[i] == 0 ? 0 : value[i] / size[i];
        sum += error * error;
    }
    return sum;
}

/*
 * Move x by the step of least norm of Newton's method, damped more and more (Levenberg and Marquardt) until
 * the squares of the residuals fall; whether they do.  Rows stand beside their sizes before the step, since
 * far away residuals and sizes fall together, and columns beside their largest entry, so that no unit
 * matters:
 *
 *     (A A' + mu) y = b,    dx = -D A' y,    A = rows D / size,  b = value / size
 */
KC_ONCE int kc_damped_step(kc_closure *s, int level, kc_real *x)
{
    const int n_x = s->n_q + s->n_u, first = level ? s->n_q : 0, n = level ? s->n_u : s->n_q;
    const int m = level ? s->m_u : s->m_q;
    const kc_real *const size = s->size + (level ? s->m_q : 0);
    kc_real *const A = s->rows, *const square = s->square, *const factors = square + m * m,
                   *const y = factors + m * m;
    const kc_real before = kc_squares(m, s->value, size);
    kc_real largest = 0;
    (level ? s->jacobian : s->slopes)(KC_AT(&s->at), s->work, A);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n && size[i] > 0; j++)
            A[i * n + j] /= size[i];
    for (int j = 0; j < n; j++) {
        s->unit_of[j] = 0;
        for (int i = 0; i < m; i++)
            s->unit_of[j] = kc_max(s->unit_of[j], kc_abs(A[i * n + j]));
        s->unit_of[j] = s->unit_of[j] > 0 ? 1 / s->unit_of[j] : 1;
        for (int i = 0; i < m; i++)
            A[i * n + j] *= s->unit_of[j];
    }
    for (int i = 0; i < m; i++)
        for (int k = 0; k < m; k++) {
            kc_real sum = 0;
            for (int j = 0; j < n; j++)
                sum += A[i * n + j] * A[k * n + j];
            square[i * m + k] = sum;
            largest = kc_max(largest, sum);
        }
    kc_real damping = KC_RANK;
    for (int shorter = 0; shorter <= 20; shorter++, damping *= 5) {
        for (int i = 0; i < m * m; i++)
            factors[i] = square[i] + (i % (m + 1) == 0 ? damping * largest : 0);
        for (int i = 0; i < m; i++)
            y[i] = s->value[i] == 0 ? 0 : s->value[i] / size[i];
        if (!kc_factor(m, factors, y + m))
            continue;
        kc_substitute(m, 1, factors, y);
        for (int j = 0; j < n_x; j++)
            s->trial[j] = x[j];
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++)
                s->trial[first + j] -= s->unit_of[j] * A[i * n + j] * y[i];
        kc_unit_length(s->n_unit, s->unit, s->trial);
        kc_residual_of(s, level, s->trial, s->now);
        if (kc_squares(m, s->now, size) < before) {
            for (int j = 0; j < n_x; j++)
                x[j] = s->trial[j];
            return 1;
        }
    }
    return 0;
}

/* Newton's method for phi = 0 in q, or c = 0 in u, at x; whether it ends on the constraints. */
KC_SOLVER int kc_close(kc_closure *s, int level, int damped, kc_real *x)
{
    kc_real error = KC_LARGEST;
    for (int step = 0; step < 200; step++) {
        const kc_real before = error;
        s->sizes(KC_AT(&s->at), s->work, s->size);
        error = kc_residual_of(s, level, x, s->value);
        if (error == 0 || (before <= KC_SOLVED && !(error < KC_REAL(0.5) * before)))
            return error <= KC_SOLVED;
        if (!(error < KC_LARGEST))
            return 0;
        if (!(damped ? kc_damped_step(s, level, x) : kc_shortened_step(s, level, error, x)))
            return error <= KC_SOLVED;
    }
    return error <= KC_SOLVED;
}

/* The rank of G at the state; -1 where G is not finite. */
KC_ONCE int kc_rank_at(kc_closure *s, kc_real *scale, kc_real *weights)
{
    kc_saddle *const e = s->equations;
    kc_real finite = 0;
    e->n = s->n_u, e->m = s->m, e->k = 0, e->count = s->m;
    e->G = s->rows, e->scale = scale;
    s->jacobian(KC_AT(&s->at), s->work, s->rows);
    s->weights(KC_AT(&s->at), s->work, weights);
    kc_weigh(e, weights, 1);
    for (int i = 0; i < s->m * s->n_u; i++)
        finite += 0 * e->G[i];
    if (finite != 0)
        return -1;
    kc_forget_terms(e);
    kc_reduce_shared(e);
    return e->rank;
}

/* The state and the inputs of one trial: the guess, from the second trial on with noise; what has no guess
 * gets pseudorandom numbers. */
KC_ONCE void kc_start_trial(kc_closure *s, int trial, kc_real *x, kc_real *r)
{
    uint64_t state = (uint64_t)trial + 1;
    s->at.t = KC_REAL(0.5) + kc_abs(kc_draw(&state));
    for (int j = 0; j < s->n_q + s->n_u; j++) {
        const kc_real guess = s->guess[j], noise = kc_draw(&state);
        x[j] = guess != guess
                   ? noise
                   : guess + KC_REAL(1e-2) * (kc_real)trial * noise * (guess != 0 ? kc_abs(guess) : 1);
    }
    for (int j = 0; j < s->n_r; j++)
        r[j] = kc_draw(&state);
    kc_unit_length(s->n_unit, s->unit, x);
}

/*
 * The rank of G at states on the constraints, a function of the parameters alone.  It must be found where a
 * loop is closed: a loop may close redundantly by its dimensions, and then its rows are independent at all
 * other states.  States on the constraints are looked for near the guess and from numbers that are always the
 * same.  Where there are none the rank off the constraints serves.
 */
KC_ONCE int kc_count(kc_closure *s, const kc_real *c, kc_real *w)
{
    const int n_x = s->n_q + s->n_u, m = KC_MOST(s->m, s->m_q), full = s->m < s->n_u ? s->m : s->n_u;
    kc_real *const x = w, *const r = x + n_x, *const scale = r + s->n_r, *const weights = scale + s->n_u;
    int closed = -1, open = -1; /* the largest rank where the loops are closed, and where they are not */
    s->at = (kc_place){0, x, r, c};
    s->rows = weights + s->n_u, s->value = s->rows + m * KC_MOST(s->n_q, s->n_u);
    s->size = s->value + m, s->now = s->size + s->m_q + s->m, s->trial = s->now + m;
    s->unit_of = s->trial + n_x;
    s->square = s->unit_of + n_x, s->work = s->square + 2 * m * (m + 1);
    for (int trial = 0; trial < 4 && closed < full; trial++) {
        int on_constraints =
            0; /* steps along pivots are tried first: they reach states that damped ones pass by */
        for (int damped = 0; damped < 2 && !on_constraints; damped++) {
            kc_start_trial(s, trial, x, r);
            on_constraints = s->m_q == 0 || kc_close(s, 0, damped, x);
            if (!s->linear && s->m_u > 0)
                on_constraints = kc_close(s, 1, damped, x) && on_constraints;
        }
        const int rank = kc_rank_at(s, scale, weights);
        if (on_constraints && rank > closed)
            closed = rank;
        if (!on_constraints && rank > open)
            open = rank;
    }
    return closed >= 0 ? closed : open >= 0 ? open : full;
}
