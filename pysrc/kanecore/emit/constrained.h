/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Equations of motion with constraints, at one state:
 *
 *     M a = f + G' lambda,    G a + g = 0.
 *
 * G loses no more rows than are redundant, but which speeds depend on which changes along the motion.  So G
 * is reduced with pivots chosen anew at every call, largest entry first in rows of equal size:
 *
 *     a_D = -A a_S - g_D,    a = P a_S + p,    (P' M P) a_S = P' (f - M p).
 *
 * It works where M is singular, as long as the system is not.  Matrices are stored row by row; n speeds, m
 * rows, k right-hand sides, one beside the other in each row of f (n, k), g (m, k) and a (n, k).
 */

#define KC_RANK_TOLERANCE 1e-10 /* of the largest entry of a row: a smaller pivot is none */
#define KC_INDEPENDENT    1e-3  /* of it: a larger one is a pivot though more are found than were counted */
#define KC_CONSISTENT 1e-2  /* of the right-hand sides: what a redundant row may leave, at a stage off it */
#define KC_CANCELLED  1e-3  /* of squares of speeds: the same where right-hand sides are sums that cancel */
#define KC_FEASIBLE   1e-9  /* residual that is left where constraints can be satisfied */

#if defined(__GNUC__)
#define KC_SOLVER static __attribute__((unused))
#else
#define KC_SOLVER static inline
#endif

/*
 * Rows that are small beside what their entries are sums of are rounding, and nothing: at a true singularity,
 * or where others were put into them.  `size` (m) holds bounds of these sums, 0 for rows that cannot be lost.
 */
KC_SOLVER void kc_cancel(int n, int m, double *G, double *g, const double *size)
{
    for (int i = 0; i < m; i++) {
        double largest = 0.0;
        if (size[i] == 0.0)
            continue;
        for (int j = 0; j < n; j++)
            largest = kc_max(largest, fabs(G[i * n + j]));
        if (largest <= KC_RANK_TOLERANCE * size[i]) {
            for (int j = 0; j < n; j++)
                G[i * n + j] = 0.0;
            g[i] /= size[i];
        }
    }
}

/*
 * Reduce [G | g] to [1 A | g_D] in its first rows.  On return the first *rank entries of `column` are the
 * dependent speeds D, the others S; `order` holds the rows in the order of their pivots.  `most` pivots are
 * taken, more only where they are no small ones, and fewer where the rows that are left vanish and `exact` is
 * not 1; what is then left of g must vanish but for `noise`, unless `exact` is -1.  With `combine` (m, m),
 * not NULL, each row of [1 A] is known as a combination of the rows of G as they were.  Returns -1, or n +
 * the row that is lost or contradicts the others.
 */
KC_SOLVER int kc_reduce(int n, int m, int k, int most, int exact, double noise, double *G, double *g,
                        double *combine, int *column, int *order, int *rank)
{
    int r;
    double size = 0.0;
    for (int j = 0; j < n; j++)
        column[j] = j;
    for (int i = 0; i < m; i++) {
        double largest = 0.0;
        order[i] = i;
        for (int j = 0; j < n; j++)
            largest = kc_max(largest, fabs(G[i * n + j]));
        const double scale = largest > 0.0 ? 1.0 / largest : 1.0;
        for (int j = 0; j < n; j++)
            G[i * n + j] *= scale;
        for (int j = 0; j < k; j++)
            g[i * k + j] *= scale, size = kc_max(size, fabs(g[i * k + j]));
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
        if (largest != largest)
            return n + order[r];
        if (r >= most && largest <= KC_INDEPENDENT)
            break;
        if (largest <= KC_RANK_TOLERANCE) {
            if (exact > 0)
                return n + order[r];
            break;
        }
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
            if (combine)
                for (int j = 0; j < m; j++)
                    KC_SWAP(double, combine[pi * m + j], combine[r * m + j]);
            KC_SWAP(int, order[pi], order[r]);
        }
        if (pj != r) {
            for (int i = 0; i < m; i++)
                KC_SWAP(double, G[i * n + pj], G[i * n + r]);
            KC_SWAP(int, column[pj], column[r]);
        }
#undef KC_SWAP
        const double inverse = 1.0 / G[r * n + r];
        for (int j = r; j < n; j++)
            G[r * n + j] *= inverse;
        for (int j = 0; j < k; j++)
            g[r * k + j] *= inverse;
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
            if (combine)
                for (int j = 0; j < m; j++)
                    combine[i * m + j] -= factor * combine[r * m + j];
        }
    }
    *rank = r;
    for (int i = r; i < m && exact >= 0; i++)
        for (int j = 0; j < k; j++)
            if (!(fabs(g[i * k + j]) <= KC_CONSISTENT * size + noise))
                return n + order[i];
    return -1;
}

/*
 * Solve for a.  M, f, G and g are used up; W holds 2 n n doubles, `column` n and `order` m ints.  Returns -1,
 * the speed whose pivot in P' M P vanished, or n + a row of G.
 */
KC_SOLVER int kc_constrained(int n, int m, int k, int most, int exact, double noise, double *M, double *f,
                             double *G, double *g, double *W, int *column, int *order, double *a)
{
    int r = 0;
    const int lost = kc_reduce(n, m, k, most, exact, noise, G, g, 0, column, order, &r);
    if (lost >= 0)
        return lost;
    const int s = n - r;
    double *const reduced = W + n * n;
    /* W = M P and f - M p; most entries of M and G are zero, and cost nothing */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < s; j++)
            W[i * s + j] = M[i * n + column[r + j]];
        for (int d = 0; d < r; d++) {
            const double entry = M[i * n + column[d]];
            if (entry == 0.0)
                continue;
            for (int j = 0; j < s; j++)
                W[i * s + j] -= entry * G[d * n + r + j];
            for (int j = 0; j < k; j++)
                f[i * k + j] += entry * g[d * k + j];
        }
    }
    /* P' M P in `reduced`, P' (f - M p) in the rows S of a */
    for (int i = 0; i < s; i++) {
        for (int j = 0; j <= i; j++)
            reduced[i * s + j] = W[column[r + i] * s + j];
        for (int j = 0; j < k; j++)
            a[column[r + i] * k + j] = f[column[r + i] * k + j];
        for (int d = 0; d < r; d++) {
            const double entry = G[d * n + r + i];
            if (entry == 0.0)
                continue;
            for (int j = 0; j <= i; j++)
                reduced[i * s + j] -= entry * W[column[d] * s + j];
            for (int j = 0; j < k; j++)
                a[column[r + i] * k + j] -= entry * f[column[d] * k + j];
        }
    }
    /* L D L' */
    for (int i = 0; i < s; i++) {
        const double diagonal = reduced[i * s + i];
        double pivot = diagonal;
        for (int d = 0; d < i; d++) {
            double entry = reduced[i * s + d];
            for (int e = 0; e < d; e++)
                entry -= reduced[i * s + e] * reduced[d * s + e] * reduced[e * s + e];
            entry /= reduced[d * s + d];
            reduced[i * s + d] = entry;
            pivot -= entry * entry * reduced[d * s + d];
        }
        if (!(pivot > 64.0 * n * DBL_EPSILON * diagonal))
            return column[r + i];
        reduced[i * s + i] = pivot;
    }
    for (int j = 0; j < k; j++) {
        for (int i = 0; i < s; i++)
            for (int d = 0; d < i; d++)
                a[column[r + i] * k + j] -= reduced[i * s + d] * a[column[r + d] * k + j];
        for (int i = s - 1; i >= 0; i--) {
            double sum = a[column[r + i] * k + j] / reduced[i * s + i];
            for (int d = i + 1; d < s; d++)
                sum -= reduced[d * s + i] * a[column[r + d] * k + j];
            a[column[r + i] * k + j] = sum;
        }
        for (int d = 0; d < r; d++) {
            double sum = -g[d * k + j];
            for (int i = 0; i < s; i++)
                sum -= G[d * n + r + i] * a[column[r + i] * k + j];
            a[column[d] * k + j] = sum;
        }
    }
    return -1;
}

/*
 * The least-norm lambda of G' lambda = b.  G is used up; `combine` holds m m doubles.  With R G = [1 A] in
 * the columns D, lambda = R_r' b_D is a solution; what it has along rows that are redundant, R_0, is taken
 * off.
 */
KC_SOLVER int kc_multipliers(int n, int m, int most, int exact, double *G, const double *b, double *combine,
                             int *column, int *order, double *lambda)
{
    int r = 0;
    double none = 0.0;
    const int lost = kc_reduce(n, m, 0, most, exact, 0.0, G, &none, combine, column, order, &r);
    if (lost >= 0)
        return lost;
    for (int i = 0; i < m; i++) {
        lambda[i] = 0.0;
        for (int d = 0; d < r; d++)
            lambda[i] += combine[d * m + i] * b[column[d]];
    }
    /* orthonormal rows of R_0, by Gram and Schmidt twice over */
    for (int i = r; i < m; i++) {
        double *const row = combine + i * m;
        for (int pass = 0; pass < 2; pass++) {
            for (int d = r; d < i; d++) {
                double along = 0.0;
                for (int j = 0; j < m; j++)
                    along += row[j] * combine[d * m + j];
                for (int j = 0; j < m; j++)
                    row[j] -= along * combine[d * m + j];
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

/* What may be left of right-hand sides that are quadratic in the speeds, or functions of time. */
KC_SOLVER double kc_noise(int n, const double *u)
{
    double fastest = 0.0;
    for (int i = 0; i < n; i++)
        fastest = kc_max(fastest, fabs(u[i]));
    return KC_CANCELLED * fastest * fastest + 1e-12;
}

/* The largest residual in units of the speeds, g[i] by the largest entry of its row. */
KC_SOLVER double kc_residual(int n, int m, const double *G, const double *g, int *worst)
{
    double largest = 0.0;
    for (int i = 0; i < m; i++) {
        double size = DBL_MIN;
        for (int j = 0; j < n; j++)
            size = kc_max(size, fabs(G[i * n + j]));
        const double error = fabs(g[i]) / size;
        if (!(error <= largest))
            largest = error, *worst = i;
    }
    return largest;
}
