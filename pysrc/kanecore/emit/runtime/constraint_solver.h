/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Equations of motion, with constraints or without, solved by numbers at one state:
 *
 *     M a = f + G' lambda,    G a + gamma = 0.
 *
 * Which speeds depend on which changes along a motion.  So G is reduced with pivots that are chosen anew in
 * every call, the largest entry first, into dependent speeds D and independent ones S:
 *
 *     a_D = -A a_S - gamma_D,    a = P a_S + p,    (P' M P) a_S = P' (f - M p).
 *
 * It works where M is singular, as long as the system is not, and where M is not positive definite.
 * Three steps: kc_reduce(), kc_solve_reduced(), kc_combine().
 *
 * Everything is compared in the metric of the masses: column j is divided by sqrt(M_jj), then every row of G
 * has one unit, and each is divided by its largest entry.  So no choice depends on the user's units.  Where
 * the order of the pivots matters to rounding alone, the nearest powers of two serve as factors, which round
 * nothing.
 *
 * Loops work on local copies of the pointers in the structure: at -O1 compilers would read a member again in
 * every turn, since a store might have changed it.
 */

/* What makes a number of size one; 1 where it is zero. */
KC_INLINE kc_real kc_to_one(const kc_saddle *s, kc_real size)
{
    const kc_real none = kc_all(0), one = kc_all(1);
    if (s->purpose == KC_CORRECTION)
        return kc_pick((kc_mask)(size > none), one / size, one);
    return kc_pick((kc_mask)(size > none), kc_inverse(size), one);
}

/* The factor of a column whose speed moves no mass: it makes the largest coefficient one. */
KC_INLINE kc_real kc_massless_factor(const kc_saddle *s, int column)
{
    const int n = s->n;
    const kc_real none = kc_all(0), one = kc_all(1);
    kc_real largest = none;
    for (int i = 0; i < s->m; i++) {
        const kc_real *const row = s->G + i * n;
        kc_real size = none;
        for (int l = 0; l < n; l++)
            size = kc_max(size, kc_abs(row[l]) * s->scale[l]);
        size = kc_abs(row[column]) / kc_pick((kc_mask)(size > none), size, one);
        largest = kc_pick((kc_mask)(row[column] != none), kc_max(largest, size), largest);
    }
    return kc_to_one(s, largest);
}

/* Find the factors of the columns, and scale G by them.  `weight` holds M_jj, `stride` apart. */
KC_INLINE void kc_weigh(kc_saddle *s, const kc_real *weight, int stride)
{
    const int n = s->n, m = s->m;
    const kc_real none = kc_all(0), one = kc_all(1);
    kc_real *const scale = s->scale, *const G = s->G;
    kc_mask massless = kc_not(KC_TRUE);
    for (int j = 0; j < n; j++) {
        const kc_real x = kc_abs(weight[j * stride]);
        const kc_real factor = s->purpose == KC_CORRECTION ? one / kc_sqrt(x) : kc_inverse_root(x);
        scale[j] = kc_pick((kc_mask)(x > none), factor, none);
        massless |= (kc_mask)(scale[j] == none);
    }
    for (int j = 0; j < n && kc_any(massless); j++)
        scale[j] = kc_pick((kc_mask)(scale[j] > none), scale[j], kc_massless_factor(s, j));
    for (int i = 0; i < m; i++)
        kc_scale_each(n, G + i * n, one, scale);
}

/*
 * Find what the largest entry of each row is summed from, which `peak` holds, and set rows to zero that are
 * small beside it: they are rounding.  Such are rows at a true singularity, and rows that elimination on the
 * graph left nothing of.  After kc_weigh().
 */
KC_INLINE void kc_cancel(kc_saddle *s, kc_number tolerance)
{
    const int n = s->n;
    const kc_real none = kc_all(0), *const scale = s->scale;
    for (int i = 0; i < s->m; i++) {
        kc_real *const row = s->G + i * n;
        kc_real largest = none, size = none;
        const kc_real *const sums = s->sums + i * n;
        for (int j = 0; j < n; j++)
            if (kc_any((kc_mask)(sums[j] != none))) { /* else the entry is zero, or the row stays */
                largest = kc_max(largest, kc_abs(row[j]));
                size = kc_max(size, sums[j] * scale[j]);
            }
        s->peak[i] = size;
        const kc_mask cancelled = (kc_mask)(size > none) & (kc_mask)(largest <= tolerance * size);
        if (!kc_any(cancelled))
            continue;
        for (int j = 0; j < n; j++)
            row[j] = kc_where(cancelled, none, row[j]);
    }
}

/* Find the largest entry of row i from column r on, the first of several; 0 where all of them are. */
KC_INLINE void kc_find_peak(kc_saddle *s, int i, int r)
{
    const int n = s->n;
    const kc_real *const row = s->G + i * n;
    kc_real largest = kc_all(0), place = kc_all(0);
    for (int j = r; j < n; j++) {
        const kc_real size = kc_abs(row[j]);
        const kc_mask larger = (kc_mask)(size > largest);
        if (kc_any(larger)) {
            largest = kc_where(larger, size, largest);
            place = kc_where(larger, kc_all(j), place);
        }
    }
    s->peak[i] = largest, s->peak_at[i] = place;
}

/* Rows of which it is not known what they are summed from are as large as their entries. */
KC_INLINE void kc_forget_terms(kc_saddle *s)
{
    for (int i = 0; i < s->m; i++)
        s->peak[i] = kc_all(0);
}

/*
 * Scale the rows of G to equal size: that of what they are summed from, so that a row which nearly vanishes
 * stays small.  What is left of it then is mostly the distance of the state from the constraints.
 */
KC_INLINE void kc_scale_rows(kc_saddle *s)
{
    const int n = s->n, m = s->m, k = s->k;
    kc_real *const gamma = s->gamma, *const combine = s->combine;
    for (int i = 0; i < m; i++) {
        const kc_real terms = s->peak[i];
        kc_find_peak(s, i, 0);
        const kc_real scale = kc_to_one(s, kc_max(terms, s->peak[i]));
        s->peak[i] *= scale;
        kc_scale(n, s->G + i * n, scale);
        for (int j = 0; j < k; j++)
            gamma[i * k + j] *= scale;
        if (s->size)
            s->size[i] *= scale;
        for (int j = 0; j < m && combine; j++)
            combine[i * m + j] = i == j ? scale : kc_all(0);
    }
}

#if !defined(KC_WIDE)
/* Exchange rows and columns so that the pivot at (row, column) stands at (r, r). */
KC_INLINE void kc_bring(kc_saddle *s, int r, int row, int column)
{
    const int n = s->n, m = s->m, k = s->k;
    if (row != r) {
        const int number = s->order[row];
        s->order[row] = s->order[r], s->order[r] = number;
        kc_swap(n - r, s->G + row * n + r, s->G + r * n + r, 1);
        if (k > 0)
            kc_swap(k, s->gamma + row * k, s->gamma + r * k, 1);
        kc_swap(1, s->peak + row, s->peak + r, 1);
        kc_swap(1, s->peak_at + row, s->peak_at + r, 1);
        if (s->size)
            kc_swap(1, s->size + row, s->size + r, 1);
        if (s->combine)
            kc_swap(m, s->combine + row * m, s->combine + r * m, 1);
    }
    if (column != r) {
        const int number = s->column[column];
        s->column[column] = s->column[r], s->column[r] = number;
        kc_swap(m, s->G + column, s->G + r, n);
    }
}
#endif

/* Clear column r of row i with row r, whose pivot is 1; in which states that changes the row. */
KC_INLINE kc_mask kc_clear_entry(kc_saddle *s, int i, int r)
{
    const int n = s->n, m = s->m, k = s->k;
    kc_real *const G = s->G, *const gamma = s->gamma, *const combine = s->combine;
    const kc_real factor = G[i * n + r];
    const kc_mask some = (kc_mask)(factor != kc_all(0));
    if (!kc_any(some))
        return some;
    for (int j = r; j < n; j++)
        G[i * n + j] = kc_where(some, G[i * n + j] - factor * G[r * n + j], G[i * n + j]);
    for (int j = 0; j < k; j++)
        gamma[i * k + j] = kc_where(some, gamma[i * k + j] - factor * gamma[r * k + j], gamma[i * k + j]);
    if (s->size)
        s->size[i] = kc_where(some, kc_max(s->size[i], kc_abs(factor) * s->size[r]), s->size[i]);
    for (int j = 0; j < m && combine; j++)
        combine[i * m + j] =
            kc_where(some, combine[i * m + j] - factor * combine[r * m + j], combine[i * m + j]);
    return some;
}

/*
 * Divide row r by its pivot, and clear the pivot's column in all other rows.  The largest entry of a row is
 * looked for again where the row changes, or where that entry has made place for the pivot.  So rows that
 * have nothing to do with the pivot, as those of other loops, cost a comparison each.
 */
KC_INLINE void kc_clear_column(kc_saddle *s, int r)
{
    const int n = s->n, m = s->m, k = s->k;
    kc_real *const G = s->G, *const combine = s->combine;
    const kc_real inverse = kc_all(1) / G[r * n + r];
    for (int j = r; j < n; j++)
        G[r * n + j] *= inverse;
    for (int j = 0; j < k; j++)
        s->gamma[r * k + j] *= inverse;
    if (s->size)
        s->size[r] *= kc_abs(inverse);
    for (int j = 0; j < m && combine; j++)
        combine[r * m + j] *= inverse;
    for (int i = 0; i < m; i++) {
        const kc_mask moved = (kc_mask)(s->peak_at[i] == kc_all(r));
        if (i != r && kc_any(kc_clear_entry(s, i, r) | moved) && i > r)
            kc_find_peak(s, i, r + 1);
    }
}

/*
 * Reduce [G | gamma] to [1 A | gamma_D] in its first `rank` rows, after kc_weigh().  `count` pivots are
 * taken, and more only if they are not small.  Returns 0, or KC_LOST or KC_CONTRADICTORY with a row.
 *
 * This decides the rank of all rows of G, for every kernel; `rank_of` of rank.py does the same.  Of the
 * rows that elimination on the graph leaves it decides nothing: with `clear` what is small counts as lost.
 */
KC_INLINE kc_number kc_smallest_pivot(const kc_saddle *s, int r)
{
    return r < s->count && !s->clear ? KC_RANK : s->blurred > KC_INDEPENDENT ? s->blurred : KC_INDEPENDENT;
}

#if !defined(KC_WIDE)
/* The size of the largest entry that is no pivot's, and where it is. */
KC_INLINE kc_real kc_next_pivot(const kc_saddle *s, int r, int *row, int *column)
{
    const int m = s->m;
    *row = r;
    for (int i = r + 1; i < m; i++)
        if (s->peak[i] > s->peak[*row])
            *row = i;
    *column = (int)s->peak_at[*row];
    return s->peak[*row];
}

KC_INLINE int kc_reduce(kc_saddle *s)
{
    const int n = s->n, m = s->m;
    int r;
    for (int j = 0; j < n; j++)
        s->column[j] = j;
    for (int i = 0; i < m; i++)
        s->order[i] = i;
    kc_scale_rows(s);
    for (r = 0; r < m && r < n; r++) {
        int row, column;
        if (!(kc_next_pivot(s, r, &row, &column) > kc_smallest_pivot(s, r)))
            break;
        kc_bring(s, r, row, column);
        kc_clear_column(s, r);
    }
    s->rank = r;
    if (s->purpose == KC_CORRECTION)
        return 0;
    if (r < s->count || (s->clear && r > s->count))
        return KC_FAULT(KC_LOST, r < m ? s->order[r] : 0);
    if (s->size)
        for (int i = r; i < m; i++)
            if (!(kc_abs(s->gamma[i]) <= s->contradiction * s->size[i])) /* k = 1 */
                return KC_FAULT(KC_CONTRADICTORY, s->order[i]);
    return 0;
}
#else
/* The same in each state. */
KC_INLINE kc_real kc_next_pivot(const kc_saddle *s, int r, int *row, int *column)
{
    const int m = s->m;
    kc_real largest = s->peak[r], place = s->peak_at[r], rows = kc_all(r);
    for (int i = r + 1; i < m; i++) {
        const kc_mask larger = (kc_mask)(s->peak[i] > largest);
        largest = kc_pick(larger, s->peak[i], largest);
        place = kc_pick(larger, s->peak_at[i], place);
        rows = kc_pick(larger, kc_all(i), rows);
    }
    for (int lane = 0; lane < KC_PACK; lane++)
        row[lane] = (int)rows[lane], column[lane] = (int)place[lane];
    return largest;
}

/* Exchange n numbers of one state. */
KC_INLINE void kc_swap_in(int lane, int n, kc_real *a, kc_real *b, int stride)
{
    for (int i = 0; i < n; i++) {
        const kc_number first = a[i * stride][lane];
        a[i * stride][lane] = b[i * stride][lane], b[i * stride][lane] = first;
    }
}

/* Exchange rows and columns so that the pivots at (row, column) stand at (r, r). */
KC_INLINE void kc_bring(kc_saddle *s, int r, const int *row, const int *column)
{
    const int n = s->n, m = s->m, k = s->k;
    for (int lane = 0; lane < KC_PACK; lane++) {
        int *const numbers = s->column + lane * n, number = numbers[column[lane]];
        if (row[lane] != r) {
            kc_swap_in(lane, n - r, s->G + row[lane] * n + r, s->G + r * n + r, 1);
            if (k > 0)
                kc_swap_in(lane, k, s->gamma + row[lane] * k, s->gamma + r * k, 1);
            kc_swap_in(lane, 1, s->peak + row[lane], s->peak + r, 1);
            kc_swap_in(lane, 1, s->peak_at + row[lane], s->peak_at + r, 1);
            if (s->size)
                kc_swap_in(lane, 1, s->size + row[lane], s->size + r, 1);
            if (s->combine)
                kc_swap_in(lane, m, s->combine + row[lane] * m, s->combine + r * m, 1);
        }
        numbers[column[lane]] = numbers[r], numbers[r] = number;
        if (column[lane] != r)
            kc_swap_in(lane, m, s->G + column[lane], s->G + r, n);
    }
}

KC_INLINE kc_fault kc_reduce(kc_saddle *s)
{
    const int n = s->n, m = s->m;
    kc_fault failed = {0};
    int r, row[KC_PACK], column[KC_PACK];
    for (int lane = 0; lane < KC_PACK; lane++)
        for (int j = 0; j < n; j++)
            s->column[lane * n + j] = j;
    kc_scale_rows(s);
    for (r = 0; r < m && r < n; r++) {
        const kc_real largest = kc_next_pivot(s, r, row, column);
        if (r >= s->count) { /* a state that would go on is left to itself */
            failed |= (kc_mask)(largest > kc_all(KC_INDEPENDENT));
            break;
        }
        failed |= ~(kc_mask)(largest > kc_all(kc_smallest_pivot(s, r)));
        kc_bring(s, r, row, column);
        kc_clear_column(s, r);
    }
    s->rank = r;
    if (r < s->count)
        return (kc_fault)KC_ALL(-1);
    if (s->size)
        for (int i = r; i < m; i++)
            failed |= ~(kc_mask)(kc_abs(s->gamma[i]) <= s->contradiction * s->size[i]);
    return failed;
}

/* In each state the numbers of its columns in the order of the first one's, so that these find them; or back.
 * `work` has room for n numbers. */
KC_INLINE void kc_renumber(const kc_saddle *s, int back, int n_rows, kc_real *a, int stride, int apart,
                           kc_real *work)
{
    const int n = s->n, *const first = s->column;
    kc_number *const held = (kc_number *)work;
    for (int lane = 1; lane < KC_PACK; lane++) {
        const int *const own = s->column + lane * n;
        const int *const from = back ? first : own, *const to = back ? own : first;
        int same = 1;
        for (int j = 0; j < n; j++)
            same &= own[j] == first[j];
        for (int i = 0; i < n_rows && !same; i++) {
            kc_real *const row = a + i * apart;
            for (int j = 0; j < n; j++)
                held[j] = row[from[j] * stride][lane];
            for (int j = 0; j < n; j++)
                row[to[j] * stride][lane] = held[j];
        }
    }
}
#endif

/* The same, as one copy for all but the short way to udot, where the compiler knows the sizes. */
KC_SOLVER kc_fault kc_reduce_shared(kc_saddle *s)
{
    return kc_reduce(s);
}

/* Find where the entries of each row of A begin and end that are not zero: the others cost nothing.  What
 * follows passes over zeros between them as well, lane by lane: x - 0 y is x but for the sign of a zero. */
KC_INLINE void kc_find_spans(kc_saddle *s)
{
    const int n = s->n, r = s->rank, free = n - r;
    for (int d = 0; d < r; d++) {
        const kc_real none = kc_all(0), *const row = s->G + d * n + r;
        int begin = 0, end = free;
        while (begin < end && !kc_any((kc_mask)(row[begin] != none)))
            begin++;
        while (begin < end && !kc_any((kc_mask)(row[end - 1] != none)))
            end--;
        s->begin[d] = begin, s->end[d] = end;
    }
}

/* W = (M P)', row by row, f - M p in place of f, and y = P' (f - M p) in the first rows of a.  M' stands in
 * place of M. */
KC_INLINE void kc_project_sides(kc_saddle *s)
{
    const int n = s->n, k = s->k, r = s->rank, free = n - r, *const column = s->column;
    const kc_real none = kc_all(0), *const M = s->M, *const G = s->G, *const gamma = s->gamma;
    kc_real *const W = s->W, *const f = s->f, *const y = s->a;
    for (int j = 0; j < free; j++)
        kc_copy(n, W + j * n, M + column[r + j] * n);
    for (int d = 0; d < r; d++) {
        const kc_real *const own = M + column[d] * n;
        for (int j = s->begin[d]; j < s->end[d]; j++) {
            const kc_mask some = (kc_mask)(G[d * n + r + j] != none);
            if (kc_any(some))
                kc_take_where(some, n, W + j * n, G[d * n + r + j], own);
        }
        if (k == 1)
            kc_take(n, f, -gamma[d], own);
        for (int i = 0; i < n && k > 1; i++)
            kc_take(k, f + i * k, -own[i], gamma + d * k);
    }
    for (int i = 0; i < free; i++)
        for (int j = 0; j < k; j++)
            y[i * k + j] = f[column[r + i] * k + j];
    for (int d = 0; d < r; d++)
        for (int i = s->begin[d]; i < s->end[d]; i++) {
            const kc_mask some = (kc_mask)(G[d * n + r + i] != none);
            if (kc_any(some))
                kc_take_where(some, k, y + i * k, G[d * n + r + i], f + column[d] * k);
        }
}

/* P' M P in `reduced`, from W = (M P)': the `whole` of it, or its lower triangle. */
KC_INLINE void kc_project_matrix(kc_saddle *s, int whole)
{
    const int n = s->n, r = s->rank, free = n - r, *const column = s->column;
    const kc_real none = kc_all(0), *const G = s->G, *const W = s->W;
    kc_real *const reduced = s->reduced;
    for (int i = 0; i < free; i++)
        for (int j = 0; j < (whole ? free : i + 1); j++)
            reduced[i * free + j] = W[j * n + column[r + i]];
    for (int d = 0; d < r; d++)
        for (int i = s->begin[d]; i < s->end[d]; i++) {
            const kc_real entry = G[d * n + r + i];
            const kc_mask some = (kc_mask)(entry != none);
            if (!kc_any(some))
                continue;
            kc_real *const row = reduced + i * free;
            for (int j = 0; j < (whole ? free : i + 1); j++)
                row[j] = kc_where(some, row[j] - entry * W[j * n + column[d]], row[j]);
        }
}

/* Solve (P' M P) a_S = y; a_S takes the place of y.  Returns 0, or KC_SINGULAR with the speed without a
 * pivot. */
KC_INLINE kc_fault kc_solve_reduced(kc_saddle *s)
{
    const int free = s->n - s->rank;
    kc_project_matrix(s, 0);
    s->factored = s->symmetric ? kc_factor(free, s->reduced, s->W + s->n * s->n) : kc_not(KC_TRUE);
    if (kc_any(s->factored))
        kc_substitute(free, s->k, s->reduced, s->a);
#if defined(KC_WIDE)
    return ~s->factored;
#else
    if (s->factored)
        return 0;
    kc_project_matrix(s, 1); /* not positive definite, or singular */
    const int fault = kc_eliminate(free, s->k, s->reduced, s->a, s->W, s->place);
    return fault ? KC_FAULT(KC_SINGULAR, s->column[s->rank + kc_number_of(fault)]) : 0;
#endif
}

/* a = P a_S + p, by way of f. */
KC_INLINE void kc_combine(kc_saddle *s)
{
    const int n = s->n, k = s->k, r = s->rank, free = n - r, *const column = s->column;
    const kc_real none = kc_all(0), *const G = s->G, *const gamma = s->gamma, *const scale = s->scale;
    kc_real *const f = s->f, *const a = s->a;
    for (int i = 0; i < free; i++)
        kc_copy(k, f + column[r + i] * k, a + i * k);
    for (int d = 0; d < r; d++) {
        kc_real *const row = f + column[d] * k, sum = -gamma[d * k]; /* of one column, in a register */
        for (int i = s->begin[d]; i < s->end[d] && k == 1; i++) {
            const kc_real entry = G[d * n + r + i];
            sum = kc_pick((kc_mask)(entry != none), sum - entry * a[i], sum);
        }
        if (k == 1)
            row[0] = sum;
        else
            kc_copy_scaled(k, row, kc_all(-1), gamma + d * k);
        for (int i = s->begin[d]; i < s->end[d] && k > 1; i++)
            kc_take_any(k, row, G[d * n + r + i], a + i * k);
    }
#if defined(KC_WIDE)
    for (int j = 0; j < k; j++)
        kc_renumber(s, 1, 1, f + j, k, 0, s->W + n * n);
#endif
    for (int i = 0; i < n; i++)
        kc_copy_scaled(k, a + i * k, scale[i], f + i * k);
}

/* Solve for a, after kc_weigh().  Returns 0, or KC_SINGULAR with a speed, KC_LOST or KC_CONTRADICTORY with a
 * row of G. */
KC_INLINE kc_fault kc_solve(kc_saddle *s)
{
    const int n = s->n, k = s->k;
    const kc_real *const scale = s->scale;
    kc_real *const M = s->M, *const f = s->f;
    for (int i = 0; i < n; i++) {
        kc_scale_each(n, M + i * n, scale[i], scale);
        for (int j = 0; j < k; j++)
            f[i * k + j] *= scale[i];
    }
    kc_fault failed = kc_reduce(s);
    if (kc_stops(failed))
        return failed;
#if defined(KC_WIDE)
    kc_renumber(s, 0, n, M, 1, n, s->W + n * n); /* columns, then rows */
    for (int j = 0; j < n; j++)
        kc_renumber(s, 0, 1, M + j, n, 0, s->W + n * n);
    for (int j = 0; j < k; j++)
        kc_renumber(s, 0, 1, f + j, k, 0, s->W + n * n);
#endif
    if (!s->symmetric)
        kc_transpose_square(n, M);
    kc_find_spans(s);
    kc_project_sides(s);
    failed |= kc_solve_reduced(s);
    if (kc_stops(failed))
        return failed;
    kc_combine(s);
    return failed;
}

/* The same, as one copy for all but the short way to udot. */
KC_SOLVER kc_fault kc_solve_shared(kc_saddle *s)
{
    return kc_solve(s);
}

/* The same from equations in the units of the user. */
KC_SOLVER kc_fault kc_solve_equations(kc_saddle *s)
{
    kc_weigh(s, s->M, s->n + 1);
    kc_cancel(s, KC_RANK);
    return kc_solve_shared(s);
}

/* Subtract from lambda its components along the rows of `combine` from `rank` on, which Gram and Schmidt's
 * method makes orthonormal, twice over. */
KC_ONCE void kc_least_norm(kc_saddle *s, kc_real *lambda)
{
    const int m = s->m, r = s->rank;
    const kc_real none = kc_all(0);
    for (int i = r; i < m; i++) {
        kc_real *const row = s->combine + i * m;
        kc_real along = none;
        for (int pass = 0; pass < 2; pass++) {
            kc_real norm = none;
            for (int d = r; d < i; d++) {
                along = none;
                for (int j = 0; j < m; j++)
                    along += row[j] * s->combine[d * m + j];
                for (int j = 0; j < m; j++)
                    row[j] -= along * s->combine[d * m + j];
            }
            for (int j = 0; j < m; j++)
                norm += row[j] * row[j];
            norm = kc_all(1) / kc_sqrt(norm);
            for (int j = 0; j < m; j++)
                row[j] *= norm;
        }
        along = none;
        for (int j = 0; j < m; j++)
            along += row[j] * lambda[j];
        for (int j = 0; j < m; j++)
            lambda[j] -= along * row[j];
    }
}

/* How large each row is, as kc_scale_rows() takes it; 1 for zeros. */
KC_INLINE void kc_size_of_rows(const kc_saddle *e, kc_real *sizes)
{
    const int n = e->n, m = e->m;
    for (int i = 0; i < m; i++) {
        kc_real size = e->peak[i];
        for (int j = 0; j < n; j++)
            size = kc_max(size, kc_abs(e->G[i * n + j]));
        sizes[i] = kc_pick((kc_mask)(size > kc_all(0)), size, kc_all(1));
    }
}

/* Of the forces of redundant rows those of least norm, as forces of rows of equal size: the units of rows
 * decide nothing, and no force is large beside the sum of all, which derivatives would multiply with what
 * rows miss. */
KC_INLINE void kc_share_forces(kc_saddle *e, const kc_real *sizes, kc_real *forces)
{
    const int m = e->m;
    for (int j = 0; j < m; j++) {
        forces[j] *= sizes[j];
        for (int i = e->rank; i < m; i++)
            e->combine[i * m + j] *= sizes[j];
    }
    kc_least_norm(e, forces);
    for (int j = 0; j < m; j++)
        forces[j] /= sizes[j];
}

/*
 * The lambda of least norm of G' lambda = b, after kc_weigh(); b (n) is scaled as the columns are, `work` has
 * n numbers.  `combine` becomes R of R G = [1 A].  Its first rows give a solution, lambda = R_r' b_D; the
 * others are combinations of rows of G that vanish, and along these lambda has no component.  With `sizes`
 * of the rows (m) the norm is that of forces of rows of equal size, else that in the user's units.  Returns
 * 0, or KC_LOST with a row.
 */
KC_ONCE kc_fault kc_solve_multipliers(kc_saddle *s, kc_real *b, kc_real *work, const kc_real *sizes,
                                      kc_real *lambda)
{
    const int m = s->m;
    const kc_fault failed = kc_reduce_shared(s);
    if (kc_stops(failed))
        return failed;
#if defined(KC_WIDE)
    kc_renumber(s, 0, 1, b, 1, 0, work);
#else
    (void)work;
#endif
    for (int i = 0; i < m; i++) {
        lambda[i] = kc_all(0);
        for (int d = 0; d < s->rank; d++)
            lambda[i] += s->combine[d * m + i] * b[s->column[d]];
    }
    if (sizes && s->rank < m)
        kc_share_forces(s, sizes, lambda);
    else
        kc_least_norm(s, lambda);
    return failed;
}

/* The forces lambda of M a = f + G' lambda after kc_solve(), which left a in f, and M' in M: of the rows of G
 * whose pivots it took, and zero for others.  `sides` holds f, scaled as the columns are. */
KC_INLINE void kc_find_forces(kc_saddle *s, kc_real *sides, kc_real *lambda)
{
    const int n = s->n, m = s->m, *const column = s->column;
    const kc_real *const M = s->M, *const a = s->f;
#if defined(KC_WIDE)
    kc_renumber(s, 0, 1, s->f, 1, 0, s->W + n * n);
    kc_renumber(s, 0, 1, sides, 1, 0, s->W + n * n);
#endif
    for (int i = 0; i < m; i++)
        lambda[i] = kc_all(0);
    for (int d = 0; d < s->rank; d++) {
        const kc_real *const row = s->combine + d * m;
        kc_real force = -sides[column[d]];
        for (int j = 0; j < n; j++) /* in the order of pivots, which renumbering leaves as it is */
            force += M[column[j] * n + column[d]] * a[column[j]];
        for (int i = 0; i < m; i++)
            lambda[i] += row[i] * force;
    }
}

/* Solve the equations in the units of the user for a, and for the forces lambda as above.  `combine` is
 * wanted; `sides` has room for n numbers. */
KC_ONCE kc_fault kc_solve_with_forces(kc_saddle *s, kc_real *sides, kc_real *lambda)
{
    kc_weigh(s, s->M, s->n + 1);
    kc_cancel(s, KC_RANK);
    for (int i = 0; i < s->n; i++)
        sides[i] = s->scale[i] * s->f[i];
    const kc_fault failed = kc_solve_shared(s);
    if (!kc_stops(failed))
        kc_find_forces(s, sides, lambda);
    return failed;
}

/* Solve for a with other right-hand sides f and gamma, by the factors of kc_solve(), of which there may be
 * another number k; of `combine`, which is wanted, the first `rank` rows.  M is symmetric. */
KC_INLINE void kc_solve_again(kc_saddle *s, const kc_real *f, const kc_real *gamma)
{
    const int n = s->n, m = s->m, k = s->k, r = s->rank, free = n - r, *const column = s->column;
    const kc_real *const M = s->M, *const G = s->G;
    kc_real *const side = s->f, *const level = s->gamma, *const y = s->a;
    for (int i = 0; i < n; i++)
        kc_copy_scaled(k, side + i * k, s->scale[i], f + i * k);
#if defined(KC_WIDE)
    for (int j = 0; j < k; j++)
        kc_renumber(s, 0, 1, side + j, k, 0, s->W + n * n);
#endif
    kc_clear(r * k, level);
    for (int d = 0; d < r; d++) {
        const kc_real *const own = M + column[d] * n;
        for (int i = 0; i < m; i++)
            kc_take_any(k, level + d * k, -s->combine[d * m + i], gamma + i * k);
        if (k == 1)
            kc_take(n, side, -level[d], own);
        for (int i = 0; i < n && k > 1; i++)
            kc_take_any(k, side + i * k, -own[i], level + d * k);
    }
    for (int i = 0; i < free; i++)
        kc_copy(k, y + i * k, side + column[r + i] * k);
    for (int d = 0; d < r; d++)
        for (int i = s->begin[d]; i < s->end[d]; i++)
            kc_take_any(k, y + i * k, G[d * n + r + i], side + column[d] * k);
    kc_substitute(free, k, s->reduced, y);
    kc_combine(s);
}
