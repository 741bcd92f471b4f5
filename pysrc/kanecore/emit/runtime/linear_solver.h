/* SPDX-License-Identifier: BSD-3-Clause */
/* Linear equations by elimination, with pivots chosen by numbers; accelerations without constraints. */

/* Exchange n numbers that stand `stride` apart; a and b may be the same. */
KC_INLINE void kc_swap(int n, kc_real *a, kc_real *b, int stride)
{
    for (int i = 0; i < n; i++) {
        const kc_real first = a[i * stride];
        a[i * stride] = b[i * stride], b[i * stride] = first;
    }
}

/* Exchange the rows and columns of a (n, n). */
KC_INLINE void kc_transpose_square(int n, kc_real *a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            kc_swap(1, a + i * n + j, a + j * n + i, 1);
}

#if !defined(KC_WIDE)
/* Scale a row, or a column, by a power of two, so that its largest entry is near 1.  Returns the factor: 1
 * for zeros. */
KC_INLINE kc_real kc_scale_row(int n, kc_real *row, int stride)
{
    kc_real largest = 0;
    for (int j = 0; j < n; j++)
        largest = kc_max(largest, kc_abs(row[j * stride]));
    const kc_real scale = largest > 0 ? kc_inverse(largest) : 1;
    for (int j = 0; j < n; j++)
        row[j * stride] *= scale;
    return scale;
}

/* The size of the largest entry of a (m, n) from row and column r on, and where it is. */
KC_INLINE kc_real kc_largest(int m, int n, const kc_real *a, int r, int *row, int *column)
{
    kc_real largest = -1;
    *row = *column = r;
    for (int i = r; i < m; i++)
        for (int j = r; j < n; j++)
            if (kc_abs(a[i * n + j]) > largest)
                largest = kc_abs(a[i * n + j]), *row = i, *column = j;
    return largest;
}

/* Solve a x = b with the upper triangle of a; x takes the place of b. */
KC_INLINE void kc_back(int n, int k, const kc_real *a, kc_real *b)
{
    for (int i = n - 1; i >= 0; i--)
        for (int j = 0; j < k; j++) {
            kc_real sum = b[i * k + j];
            for (int l = i + 1; l < n; l++)
                sum -= a[i * n + l] * b[l * k + j];
            b[i * k + j] = sum / a[i * n + i];
        }
}

/*
 * Solve a x = b for any regular matrix a (n, n), by complete pivoting in rows and columns of equal size.  b
 * (n, k) becomes x, and a is used up.  `factor` has room for 2 n numbers, `place` for n ints.  Returns 0, or
 * KC_SINGULAR with the unknown that has no pivot.
 */
KC_COLD int kc_eliminate(int n, int k, kc_real *a, kc_real *b, kc_real *factor, int *place)
{
    kc_real first = 0, *const x = factor + n;
    for (int i = 0; i < n; i++) {
        const kc_real scale = kc_scale_row(n, a + i * n, 1);
        for (int j = 0; j < k; j++)
            b[i * k + j] *= scale;
        place[i] = i;
    }
    for (int j = 0; j < n; j++)
        factor[j] = kc_scale_row(n, a + j, n);
    for (int r = 0; r < n; r++) {
        int row, column;
        const kc_real largest = kc_largest(n, n, a, r, &row, &column);
        if (r == 0)
            first = largest;
        if (!(largest > KC_PIVOT * (kc_real)n * KC_EPSILON * first))
            return KC_FAULT(KC_SINGULAR, place[r]);
        kc_swap(n, a + row * n, a + r * n, 1);
        kc_swap(k, b + row * k, b + r * k, 1);
        kc_swap(n, a + column, a + r, n);
        const int unknown = place[column];
        place[column] = place[r], place[r] = unknown;
        for (int i = r + 1; i < n; i++) {
            const kc_real multiple = a[i * n + r] / a[r * n + r];
            if (multiple == 0)
                continue;
            for (int j = r + 1; j < n; j++)
                a[i * n + j] -= multiple * a[r * n + j];
            for (int j = 0; j < k; j++)
                b[i * k + j] -= multiple * b[r * k + j];
        }
    }
    kc_back(n, k, a, b);
    for (int j = 0; j < k; j++) {
        for (int i = 0; i < n; i++)
            x[place[i]] = b[i * k + j] * factor[place[i]];
        for (int i = 0; i < n; i++)
            b[i * k + j] = x[i];
    }
    return 0;
}
#endif

/*
 * Factor a symmetric matrix as L' D L in place, of which the lower triangle is read; from the last row to the
 * first, which keeps the zeros that branches leave (Featherstone 2008, section 6.5).  `diagonal` has room for
 * n numbers.  Returns whether all pivots are positive.
 */
KC_INLINE kc_mask kc_factor(int n, kc_real *a, kc_real *diagonal)
{
    const kc_real none = kc_all(0), tolerance = kc_all(KC_PIVOT * (kc_number)n * KC_EPSILON);
    kc_mask positive = KC_TRUE;
    for (int i = 0; i < n; i++)
        diagonal[i] = a[i * n + i];
    for (int d = n - 1; d >= 0; d--) {
        kc_real *const row = a + d * n;
        const kc_real pivot = row[d];
        positive &= (kc_mask)(pivot > tolerance * diagonal[d]);
        if (!kc_any(positive))
            return positive;
        const kc_real inverse = kc_all(1) / pivot;
        for (int i = 0; i < d; i++) {
            const kc_mask some = (kc_mask)(row[i] != none);
            if (kc_any(some))
                kc_take_where(some, i + 1, a + i * n, row[i] * inverse, row);
        }
        for (int i = 0; i < d; i++)
            row[i] *= inverse;
        row[d] = inverse;
    }
    return positive;
}

/* Solve L' D L x = y with these factors, 1 / D on the diagonal; x (n, k) takes the place of y. */
KC_INLINE void kc_substitute(int n, int k, const kc_real *a, kc_real *y)
{
    const kc_real none = kc_all(0);
    for (int d = n - 1; d >= 0; d--)
        for (int i = 0; i < d; i++) {
            const kc_mask some = (kc_mask)(a[d * n + i] != none);
            if (kc_any(some))
                kc_take_where(some, k, y + i * k, a[d * n + i], y + d * k);
        }
    for (int d = 0; d < n; d++) {
        for (int j = 0; j < k; j++)
            y[d * k + j] *= a[d * n + d];
        for (int i = 0; i < d; i++) {
            const kc_mask some = (kc_mask)(a[d * n + i] != none);
            if (kc_any(some))
                kc_take_where(some, k, y + d * k, a[d * n + i], y + i * k);
        }
    }
}

/* Solve the equations of a model without constraints for a.  Returns 0, or KC_SINGULAR with a speed. */
KC_SOLVER kc_fault kc_solve_free(kc_saddle *s)
{
    const int n = s->n, k = s->k;
    kc_real *const a = s->a;
    for (int i = 0; i < n * k; i++)
        a[i] = s->f[i];
    kc_mask positive = kc_not(KC_TRUE);
#if !defined(KC_NONE_SYMMETRIC) /* in exports of such models */
    if (s->symmetric) {
        kc_real *const factors = s->W;
        for (int i = 0; i < n * n; i++)
            factors[i] = s->M[i];
        positive = kc_factor(n, factors, factors + n * n);
        if (kc_any(positive))
            kc_substitute(n, k, factors, a);
    }
#endif
#if defined(KC_WIDE)
    return kc_not(positive);
#else
    return positive ? 0 : kc_eliminate(n, k, s->M, a, s->scale, s->place);
#endif
}

#if !defined(KC_WIDE)
/* udot of such a model, where its mass matrix is not positive definite. */
typedef struct kc_free_motion {
    kc_saddle *equations; /* m = 0, k = 1 */
    kc_parts parts;       /* M and f */
} kc_free_motion;

#define KC_FREE_MOTION_ROOM(n) (KC_EQUATIONS_ROOM(n, 0, 1) + KC_SCRATCH_ROOM(n, 0))

KC_COLD int kc_accelerate_free(kc_free_motion *s, kc_real t, const kc_real *x, const kc_real *r,
                               const kc_real *c, kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    kc_real *const work = kc_place_scratch(e, kc_place_equations(e, w));
    e->a = out;
    kc_fill(s->parts, e, &(kc_place){t, x, r, c}, work);
    return kc_solve_free(e);
}
#endif
