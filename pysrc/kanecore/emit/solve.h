/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Equations of motion, with constraints or without, solved by numbers at one state:
 *
 *     M a = f + G' lambda,    G a + g = 0.
 *
 * Which speeds depend on which changes along a motion, so G is reduced with pivots that are chosen anew in
 * every call, the largest entry first:
 *
 *     a_D = -A a_S - g_D,    a = P a_S + p,    (P' M P) a_S = P' (f - M p).
 *
 * It works where M is singular, as long as the system is not, and where M is not positive definite.
 *
 * Everything is compared in the metric of the masses: column j is divided by sqrt(M_jj), then every row of G
 * has one unit, and each is divided by its largest entry.  So no choice depends on the user's units.  Where
 * the order of the pivots matters to rounding alone, the nearest powers of two serve as factors, which round
 * nothing.
 *
 * Matrices are stored row by row: n speeds, m rows, k right-hand sides, one beside the other in each row of
 * f (n, k), g (m, k) and a (n, k).
 */

/*
 * What functions of the solver return beside -1, "solved", and the number of a speed that has no pivot:
 * KC_LOST + i where row i of G is lost at this state, KC_CONTRADICTS + i where it asks for other
 * accelerations than the rows before it.
 */
enum { KC_LOST = 1 << 24 };

typedef struct kc_equations {
    int n, m, k;
    int count;              /* how many rows of G count */
    int lenient;            /* rows may be lost, and redundant rows may leave anything */
    int symmetric;          /* M is */
    double bears;           /* what redundant rows may leave, beside the sums in `size` */
    double *M, *f, *G, *g;  /* used up */
    double *size;           /* m: what each g is a sum of */
    double *d;              /* n: the factors of the columns */
    double *W, *reduced;    /* n n + n, n n */
    double *combine;        /* NULL, or m m: each row of [1 A] in terms of the rows of G as they were */
    int *column, *order;    /* n, m: the first `rank` columns are D; rows in the order of their pivots */
    int *place;             /* n */
    int rank;
} kc_equations;

/* The same in numbers of the whole model: the row of G follows the n_u speeds.  NULL: all speeds and rows. */
KC_INLINE int kc_named(int n_u, int row, const int *speeds, const int *rows)
{
    const int contradicts = row & KC_CONTRADICTS, i = row & (KC_LOST - 1);
    if (row < KC_LOST)
        return speeds ? speeds[row] : row;
    return contradicts + n_u + (rows ? rows[i] : i);
}

/* A power of two near 1 / sqrt(x), for x > 0. */
KC_INLINE double kc_inverse_root(double x)
{
    const int exponent = (int)(kc_to_bits(x) >> 52 & 0x7ff) - 1023;
    return kc_from_bits((uint64_t)(1023 - (exponent - (exponent & 1)) / 2) << 52);
}

/*
 * The factors d of the columns, and G in them.  `weight` holds M_jj, `stride` apart; a speed that moves no
 * mass gets the factor that makes its largest coefficient one.
 */
KC_INLINE void kc_weigh(kc_equations *s, const double *weight, int stride)
{
    const int n = s->n, m = s->m;
    int massless = 0;
    for (int j = 0; j < n; j++) {
        const double x = fabs(weight[j * stride]);
        s->d[j] = !(x > 0.0) ? 0.0 : s->lenient ? 1.0 / sqrt(x) : kc_inverse_root(x);
        massless += s->d[j] == 0.0;
    }
    for (int j = 0; j < n && massless; j++) {
        double largest = 0.0;
        if (s->d[j] > 0.0)
            continue;
        for (int i = 0; i < m; i++) {
            double row = 0.0;
            if (s->G[i * n + j] == 0.0)
                continue;
            for (int l = 0; l < n; l++)
                row = kc_max(row, fabs(s->G[i * n + l]) * s->d[l]);
            largest = kc_max(largest, fabs(s->G[i * n + j]) / (row > 0.0 ? row : 1.0));
        }
        s->d[j] = !(largest > 0.0) ? 1.0 : s->lenient ? 1.0 / largest : kc_inverse(largest);
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            s->G[i * n + j] *= s->d[j];
}

/*
 * Rows that are small beside what their entries are sums of are rounding, and nothing: at a true singularity,
 * or where others were put into them.  `sums` (m, n) holds bounds of these sums.  After kc_weigh().
 */
KC_INLINE void kc_cancel(kc_equations *s, const double *sums, double tolerance)
{
    for (int i = 0; i < s->m; i++) {
        double largest = 0.0, size = 0.0;
        for (int j = 0; j < s->n; j++) {
            largest = kc_max(largest, fabs(s->G[i * s->n + j]));
            size = kc_max(size, sums[i * s->n + j] * s->d[j]);
        }
        if (largest <= tolerance * size)
            for (int j = 0; j < s->n; j++)
                s->G[i * s->n + j] = 0.0;
    }
}

/*
 * Reduce [G | g] to [1 A | g_D] in its first `rank` rows, after kc_weigh().  `count` pivots are taken, and
 * more only where they are no small ones.  Returns -1, KC_LOST + or KC_CONTRADICTS + a row.
 */
KC_INLINE int kc_reduce(kc_equations *s)
{
    const int n = s->n, m = s->m, k = s->k;
    double *const G = s->G, *const g = s->g, *const combine = s->combine;
    int r;
    for (int j = 0; j < n; j++)
        s->column[j] = j;
    for (int i = 0; i < m; i++) {
        double largest = 0.0;
        s->order[i] = i;
        for (int j = 0; j < n; j++)
            largest = kc_max(largest, fabs(G[i * n + j]));
        const double scale = !(largest > 0.0) ? 1.0 : s->lenient ? 1.0 / largest : kc_inverse(largest);
        for (int j = 0; j < n; j++)
            G[i * n + j] *= scale;
        for (int j = 0; j < k; j++)
            g[i * k + j] *= scale;
        if (s->size)
            s->size[i] *= scale;
        if (combine) {
            for (int j = 0; j < m; j++)
                combine[i * m + j] = 0.0;
            combine[i * m + i] = scale;
        }
    }
    for (r = 0; r < m && r < n; r++) {
        int pi = r, pj = r;
        double largest = -1.0;
        for (int i = r; i < m; i++)
            for (int j = r; j < n; j++)
                if (fabs(G[i * n + j]) > largest)
                    largest = fabs(G[i * n + j]), pi = i, pj = j;
        if (!(largest > (r < s->count ? KC_RANK : KC_INDEPENDENT)))
            break;
#define KC_SWAP(type, a, b)                                                                                  \
    do {                                                                                                     \
        const type kept = (a);                                                                               \
        (a) = (b), (b) = kept;                                                                               \
    } while (0)
        if (pi != r) {
            for (int j = 0; j < n; j++)
                KC_SWAP(double, G[pi * n + j], G[r * n + j]);
            for (int j = 0; j < k; j++)
                KC_SWAP(double, g[pi * k + j], g[r * k + j]);
            if (s->size)
                KC_SWAP(double, s->size[pi], s->size[r]);
            if (combine)
                for (int j = 0; j < m; j++)
                    KC_SWAP(double, combine[pi * m + j], combine[r * m + j]);
            KC_SWAP(int, s->order[pi], s->order[r]);
        }
        if (pj != r) {
            for (int i = 0; i < m; i++)
                KC_SWAP(double, G[i * n + pj], G[i * n + r]);
            KC_SWAP(int, s->column[pj], s->column[r]);
        }
#undef KC_SWAP
        const double inverse = 1.0 / G[r * n + r];
        for (int j = r; j < n; j++)
            G[r * n + j] *= inverse;
        for (int j = 0; j < k; j++)
            g[r * k + j] *= inverse;
        if (s->size)
            s->size[r] *= fabs(inverse);
        if (combine)
            for (int j = 0; j < m; j++)
                combine[r * m + j] *= inverse;
        for (int i = 0; i < m; i++) {
            const double factor = G[i * n + r];
            if (i == r || factor == 0.0)
                continue;
            for (int j = r; j < n; j++)
                G[i * n + j] -= factor * G[r * n + j];
            for (int j = 0; j < k; j++)
                g[i * k + j] -= factor * g[r * k + j];
            if (s->size)
                s->size[i] = kc_max(s->size[i], fabs(factor) * s->size[r]);
            if (combine)
                for (int j = 0; j < m; j++)
                    combine[i * m + j] -= factor * combine[r * m + j];
        }
    }
    s->rank = r;
    if (s->lenient)
        return -1;
    if (r < s->count)
        return KC_LOST + s->order[r];
    if (s->size)
        for (int i = r; i < m; i++)
            if (!(fabs(g[i]) <= s->bears * s->size[i])) /* one right-hand side */
                return KC_CONTRADICTS + s->order[i];
    return -1;
}

/* The same, one copy for all that is not the short way to udot: there the sizes are known to the compiler. */
KC_SOLVER int kc_reduce_shared(kc_equations *s)
{
    return kc_reduce(s);
}

/* P' M P in `reduced`, its lower triangle or all of it, from W = M P. */
KC_INLINE void kc_project_matrix(kc_equations *s, int whole)
{
    const int n = s->n, r = s->rank, free = n - r;
    for (int i = 0; i < free; i++) {
        const int end = whole ? free : i + 1;
        for (int j = 0; j < end; j++)
            s->reduced[i * free + j] = s->W[s->column[r + i] * free + j];
        for (int d = 0; d < r; d++) {
            const double entry = s->G[d * n + r + i];
            if (entry == 0.0)
                continue;
            for (int j = 0; j < end; j++)
                s->reduced[i * free + j] -= entry * s->W[s->column[d] * free + j];
        }
    }
}

/* L D L' of a matrix whose lower triangle is given, in place; -1, or where a pivot is not positive. */
KC_INLINE int kc_factor(int n, double *a)
{
    for (int i = 0; i < n; i++) {
        const double diagonal = a[i * n + i];
        double pivot = diagonal;
        for (int d = 0; d < i; d++) {
            double entry = a[i * n + d];
            for (int e = 0; e < d; e++)
                entry -= a[i * n + e] * a[d * n + e] * a[e * n + e];
            entry /= a[d * n + d];
            a[i * n + d] = entry;
            pivot -= entry * entry * a[d * n + d];
        }
        if (!(pivot > KC_PIVOT * n * DBL_EPSILON * diagonal))
            return i;
        a[i * n + i] = pivot;
    }
    return -1;
}

/* L D L' y = y, the factors in the lower triangle of a. */
KC_INLINE void kc_substitute(int n, int k, const double *a, double *y)
{
    for (int j = 0; j < k; j++) {
        for (int i = 0; i < n; i++)
            for (int d = 0; d < i; d++)
                y[i * k + j] -= a[i * n + d] * y[d * k + j];
        for (int i = n - 1; i >= 0; i--) {
            double sum = y[i * k + j] / a[i * n + i];
            for (int d = i + 1; d < n; d++)
                sum -= a[d * n + i] * y[d * k + j];
            y[i * k + j] = sum;
        }
    }
}

/* Solve for a (n, k).  -1, the speed that has no pivot, KC_LOST + or KC_CONTRADICTS + a row of G. */
KC_INLINE int kc_solve(kc_equations *s, double *a)
{
    const int n = s->n, k = s->k;
    double *const M = s->M, *const f = s->f, *const G = s->G, *const g = s->g, *const W = s->W;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            M[i * n + j] *= s->d[i] * s->d[j];
        for (int j = 0; j < k; j++)
            f[i * k + j] *= s->d[i];
    }
    const int lost = kc_reduce(s);
    if (lost >= 0)
        return lost;
    const int r = s->rank, free = n - r, *const column = s->column;
    /* W = M P and f - M p; most entries of M and G are zero, and cost nothing */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < free; j++)
            W[i * free + j] = M[i * n + column[r + j]];
        for (int d = 0; d < r; d++) {
            const double entry = M[i * n + column[d]];
            if (entry == 0.0)
                continue;
            for (int j = 0; j < free; j++)
                W[i * free + j] -= entry * G[d * n + r + j];
            for (int j = 0; j < k; j++)
                f[i * k + j] += entry * g[d * k + j];
        }
    }
    /* y = P' (f - M p), free rows of a */
    double *const y = a;
    for (int i = 0; i < free; i++) {
        for (int j = 0; j < k; j++)
            y[i * k + j] = f[column[r + i] * k + j];
        for (int d = 0; d < r; d++) {
            const double entry = G[d * n + r + i];
            for (int j = 0; j < k && entry != 0.0; j++)
                y[i * k + j] -= entry * f[column[d] * k + j];
        }
    }
    kc_project_matrix(s, 0);
    if (s->symmetric && kc_factor(free, s->reduced) < 0)
        kc_substitute(free, k, s->reduced, y);
    else { /* not positive definite, or singular */
        kc_project_matrix(s, 1);
        const int row = kc_eliminate(free, k, s->reduced, y, W, s->place);
        if (row >= 0)
            return column[r + row];
    }
    /* a = P y + p, by way of f */
    for (int j = 0; j < k; j++) {
        for (int i = 0; i < free; i++)
            f[column[r + i] * k + j] = y[i * k + j];
        for (int d = 0; d < r; d++) {
            double sum = -g[d * k + j];
            for (int i = 0; i < free; i++)
                sum -= G[d * n + r + i] * y[i * k + j];
            f[column[d] * k + j] = sum;
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++)
            a[i * k + j] = s->d[i] * f[i * k + j];
    return -1;
}

/* The same, one copy for all that is not the short way to udot. */
KC_SOLVER int kc_solve_shared(kc_equations *s, double *a)
{
    return kc_solve(s, a);
}

/*
 * The least-norm lambda of G' lambda = b, after kc_weigh(), with `combine`, and b (n) in the same columns.
 * With R G = [1 A] in the columns D, lambda = R_r' b_D is a solution; what it has along rows that are
 * redundant, R_0, is taken off.
 */
KC_SOLVER int kc_multipliers(kc_equations *s, const double *b, double *lambda)
{
    const int m = s->m, lost = kc_reduce_shared(s), r = s->rank;
    if (lost >= 0)
        return lost;
    for (int i = 0; i < m; i++) {
        lambda[i] = 0.0;
        for (int d = 0; d < r; d++)
            lambda[i] += s->combine[d * m + i] * b[s->column[d]];
    }
    /* orthonormal rows of R_0, by Gram and Schmidt twice over */
    for (int i = r; i < m; i++) {
        double *const row = s->combine + i * m;
        for (int pass = 0; pass < 2; pass++) {
            for (int d = r; d < i; d++) {
                double along = 0.0;
                for (int j = 0; j < m; j++)
                    along += row[j] * s->combine[d * m + j];
                for (int j = 0; j < m; j++)
                    row[j] -= along * s->combine[d * m + j];
            }
            double norm = 0.0;
            for (int j = 0; j < m; j++)
                norm += row[j] * row[j];
            norm = 1.0 / sqrt(norm);
            for (int j = 0; j < m; j++)
                row[j] *= norm;
        }
        double along = 0.0;
        for (int j = 0; j < m; j++)
            along += row[j] * lambda[j];
        for (int j = 0; j < m; j++)
            lambda[j] -= along * row[j];
    }
    return -1;
}

/* ---------------------------------------------------------------------------------- states on constraints */

/* The largest residual beside the sums that it is made of, and where it is. */
KC_SOLVER double kc_residual(int m, const double *value, const double *size, int *worst)
{
    double largest = 0.0;
    for (int i = 0; i < m; i++) {
        const double error = value[i] == 0.0 ? 0.0 : fabs(value[i]) / size[i];
        if (!(error <= largest))
            largest = error, *worst = i;
    }
    return largest;
}

typedef int kc_body(double t, const double *x, const double *r, const double *c, double *w, double *out);

/* The bodies of a model's constraints, and their sizes. */
typedef struct kc_closure {
    int n_q, n_u, n_r, m_q, m_u, m; /* m_q rows phi; of the m rows of G the first m_u have a value c */
    int n_unit, linear;             /* unit quaternions; G does not depend on u */
    const uint32_t *unit;
    kc_body *phi, *slopes, *c, *G, *sizes, *weights; /* phi, dphi/dq, c, G, of phi and c, M_jj */
} kc_closure;

/* Pseudorandom numbers in +-(0.2 ... 1.2), always the same (Knuth, TAOCP 2, 3rd ed. 1998, section 3.3.4,
 * table 1). */
KC_SOLVER double kc_draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const double x = (double)(*state >> 11) / 9007199254740992.0;
    return x < 0.5 ? -0.2 - 2.0 * x : 0.2 + 2.0 * (x - 0.5);
}

KC_SOLVER void kc_unit_length(const kc_closure *s, double *x)
{
    for (int i = 0; i < s->n_unit; i++) {
        double square = 0.0;
        for (int j = 0; j < 4; j++)
            square += x[s->unit[4 * i + j]] * x[s->unit[4 * i + j]];
        for (int j = 0; j < 4 && square > 0.0; j++)
            x[s->unit[4 * i + j]] /= sqrt(square);
    }
}

/* Doubles of work of kc_count(), beside those of the bodies. */
#define KC_COUNT_ROOM(n_q, n_u, n_r, m_q, m)                                                                 \
    (((m) + (m_q)) * ((n_q) + (n_u)) + 3 * ((m_q) + (m)) + 3 * ((n_q) + (n_u)) + (n_r))

/*
 * Newton's method for phi = 0 (level 0, in q) or c = 0 (level 1, in u), with steps that are shortened until
 * they help: beside the sizes before the step, since far away residuals and sizes fall together.  Whether it
 * ends on the constraints.
 */
KC_SOLVER int kc_close(const kc_closure *s, int level, double t, double *x, const double *r, const double *c,
                       double *w, int *column, int *order)
{
    const int n = level ? s->n_u : s->n_q, m = level ? s->m_u : s->m_q;
    double *const rows = w, *const value = rows + (s->m + s->m_q) * n, *const size = value + s->m_q + s->m;
    double *const now = size + s->m_q + s->m, *const trial = now + s->m_q + s->m;
    double *const work = trial + s->n_q + s->n_u;
    const int first = level ? s->n_q : 0, at = level ? s->m_q : 0;
    double before = DBL_MAX;
    int worst = 0;
    for (int step = 0; step < 200; step++) {
        (level ? s->c : s->phi)(t, x, r, c, work, value);
        s->sizes(t, x, r, c, work, size);
        const double error = kc_residual(m, value, size + at, &worst);
        if (error == 0.0 || (before <= KC_SOLVED && !(error < 0.5 * before)))
            return error <= KC_SOLVED;
        if (!(error < DBL_MAX))
            return 0;
        before = error;
        (level ? s->G : s->slopes)(t, x, r, c, work, rows);
        kc_equations e = {.n = n, .m = m, .k = 1, .count = m, .lenient = 1};
        e.G = rows, e.g = value, e.column = column, e.order = order;
        kc_reduce_shared(&e);
        double length = 1.0;
        for (int shorter = 0;; shorter++, length *= 0.5) {
            for (int j = 0; j < s->n_q + s->n_u; j++)
                trial[j] = x[j];
            for (int i = 0; i < e.rank; i++)
                trial[first + column[i]] -= length * value[i];
            kc_unit_length(s, trial);
            (level ? s->c : s->phi)(t, trial, r, c, work, now);
            if (kc_residual(m, now, size + at, &worst) < error)
                break;
            if (shorter == 20)
                return error <= KC_SOLVED;
        }
        for (int j = 0; j < s->n_q + s->n_u; j++)
            x[j] = trial[j];
    }
    return before <= KC_SOLVED;
}

/*
 * How many rows of G count: their rank at states on the constraints, a function of the parameters alone.  A
 * loop may close redundantly by its dimensions: its rows are independent everywhere but where it is closed.
 * Such a state is looked for near the guess (n_q + n_u, NaN for what it does not say) and from numbers that
 * are always the same; where none is found the rank is that at these.
 */
KC_SOLVER double kc_count(const kc_closure *s, const double *guess, const double *c, double *w, int *column,
                          int *order)
{
    const int n_x = s->n_q + s->n_u, most = s->m < s->n_u ? s->m : s->n_u;
    double *const x = w, *const r = x + n_x, *const d = r + s->n_r, *const room = d + s->n_u;
    int closed = -1, open = -1;
    for (int trial = 0; trial < 4 && closed < most; trial++) {
        uint64_t state = (uint64_t)trial + 1;
        const double t = 0.5 + fabs(kc_draw(&state));
        for (int j = 0; j < n_x; j++) {
            x[j] = kc_draw(&state);
            if (guess[j] == guess[j])
                x[j] = guess[j] + 1e-2 * trial * x[j] * (guess[j] != 0.0 ? fabs(guess[j]) : 1.0);
        }
        for (int j = 0; j < s->n_r; j++)
            r[j] = kc_draw(&state);
        kc_unit_length(s, x);
        int on = s->m_q == 0 || kc_close(s, 0, t, x, r, c, room, column, order);
        if (!s->linear && s->m_u > 0)
            on = kc_close(s, 1, t, x, r, c, room, column, order) && on;
        kc_equations e = {.n = s->n_u, .m = s->m, .k = 0, .count = s->m, .lenient = 1};
        double none = 0.0, *const weight = room + s->m * s->n_u;
        e.G = room, e.g = &none, e.d = d, e.column = column, e.order = order;
        s->G(t, x, r, c, weight + s->n_u, e.G);
        s->weights(t, x, r, c, weight + s->n_u, weight);
        kc_weigh(&e, weight, 1);
        double finite = 0.0;
        for (int i = 0; i < s->m * s->n_u; i++)
            finite += 0.0 * e.G[i];
        if (finite != 0.0)
            continue;
        kc_reduce_shared(&e);
        if (on && e.rank > closed)
            closed = e.rank;
        if (!on && e.rank > open)
            open = e.rank;
    }
    return closed >= 0 ? closed : open >= 0 ? open : most;
}
