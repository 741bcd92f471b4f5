/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The equations M a = f + G' lambda, G a + gamma = 0 by fronts (derive/elimination_fronts.py).  A front has
 * `own` speeds, the `rows` of G that hold them, and a `border` of later speeds.  Its equations are
 *
 *     [M -f] [a 1]' = G' lambda,    [G gamma] [a 1]' = 0,
 *
 * so that the right-hand side is a last column, of a speed that is 1.  The rows of G are reduced with pivots
 * among the own speeds, chosen anew in every call: own dependent speeds D, others S,
 *
 *     a_D = -A [a_S a_border 1]'.
 *
 * With these M of S and the border changes by -A' V - V' A, V = M_D - 1/2 M_DD A.  Then each of S is
 * eliminated in turn, and what is left of the border goes to the parent.  Own speeds follow from later ones.
 *
 * A front decides nothing that is in doubt: pivots are clear, and not small beside their rows, or there is no
 * result.  Columns and rows are compared as in constraint_solver.h.
 */

#define KC_FRONTS /* other headers have parts for models with fronts */

/* A place in a matrix, which may be another one in each state. */
#if defined(KC_WIDE)
typedef kc_real kc_index;
#define KC_STATES                 KC_PACK
#define kc_index_of(i)            kc_all(i)
#define kc_index_in(index, lane)  ((int)(index)[lane])
#define kc_place_in(number, lane) ((int)(number)[lane])
#define kc_put_in(lane, to, from) ((to)[0][lane] = (from)[lane])
#define KC_FAULT_UNLESS(mask)     (~(mask))
#else
typedef int kc_index;
#define KC_STATES                 1
#define kc_index_of(i)            (i)
#define kc_index_in(index, lane)  (index)
#define kc_place_in(number, lane) ((int)(number))
#define kc_put_in(lane, to, from) ((to)[0] = (from))
#define KC_FAULT_UNLESS(mask)     ((mask) ? 0 : KC_NOT_HERE)
#endif

/* A function with loops of fronts of the usual sizes, whose lengths the compiler knows, and such a loop:
 * written out, and by -O2, they take three quarters of the time. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE_SIZE__)
#define KC_SHORT_LOOPS      __attribute__((optimize(2)))
#define KC_FOR(i, from, to) _Pragma("GCC unroll 8") for (int i = (from); i < (to); i++)
#else
#define KC_SHORT_LOOPS
#define KC_FOR(i, from, to) for (int i = (from); i < (to); i++)
#endif

#define KC_SIZES                                                                                             \
    8 /* of a front: own, border, rows, the parent or -1, where arrays, speeds, places, rows begin */

typedef struct kc_fronts {
    int n_fronts;
    int n;                  /* all speeds */
    int numbers;            /* of all arrays */
    int widest;             /* the most scratch of one front */
    int own, border, rows;  /* sizes that most fronts have: the compiler writes their loops out */
    const int *sizes;       /* (n_fronts, KC_SIZES) */
    const int *held;        /* own and border of each front, one front after the other */
    const int *places;      /* of each border: among the parent's own and border */
    const int *row_numbers; /* of the rows of each front */
    int correction;         /* whether rows that are left may contradict others, and more may count */

    /* scratch */
    kc_real *arrays; /* of each front [M -f] of its own speeds, zeros for its border, [G gamma], and what the
                        entries of G are summed from */
    kc_real *scale;  /* (n) factors of the columns */
    kc_real *chosen; /* (n) the own speeds of each front in the order of its pivots, then S */
    kc_real *rank;   /* (n_fronts) how many pivots G has */
    kc_real *work;   /* (widest) */
    kc_real *large;  /* (m) how large rows are; NULL: no forces are wanted */
} kc_fronts;

#define KC_FRONTS_ROOM(n, n_fronts, widest) (2 * (n) + (n_fronts) + (widest))

/* Place what the elimination needs from w on.  Returns where that ends. */
KC_INLINE kc_real *kc_place_fronts(kc_fronts *s, kc_real *arrays, kc_real *w)
{
    s->arrays = arrays, s->scale = w, s->chosen = s->scale + s->n;
    s->rank = s->chosen + s->n, s->work = s->rank + s->n_fronts;
    s->large = s->work; /* where no forces are wanted nobody writes there */
    return s->work + s->widest;
}

/* A front. */
typedef struct kc_front {
    int own, border, rows, width;
    const int *speeds, *places;
    kc_real *M;      /* (own, width) */
    kc_real *N;      /* (border, border + 1) what later speeds get: of it the upper triangle */
    kc_real *G;      /* (rows, width) */
    kc_real *T;      /* (rows, width - 1) what its entries are summed from */
    kc_real *R;      /* (rows, rows) in its place, where forces are wanted: R G = [1 A] */
    kc_real *chosen; /* (own) */
    kc_real *large;  /* (rows) */
} kc_front;

KC_INLINE kc_front kc_front_of(const kc_fronts *s, int k, int own, int border, int rows)
{
    const int *const sizes = s->sizes + KC_SIZES * k;
    kc_front f = {.own = own, .border = border, .rows = rows, .width = own + border + 1};
    f.speeds = s->held + sizes[5], f.places = s->places + sizes[6];
    f.M = s->arrays + sizes[4], f.N = f.M + own * f.width, f.G = f.N + border * (border + 1);
    f.T = f.R = f.G + rows * f.width, f.chosen = s->chosen + (sizes[5] - sizes[6]);
    f.large = s->large + sizes[7];
    return f;
}

/* The larger number; b where a is NaN, which M or f will show. */
KC_INLINE kc_real kc_larger(kc_real a, kc_real b)
{
    return kc_pick((kc_mask)(a > b), a, b);
}

/* Exchange, in each state, numbers r and `other` of a, `apart` from each other, and n of them `stride` apart.
 */
KC_INLINE void kc_exchange(int r, kc_index other, kc_real *a, int apart, int n, int stride)
{
    for (int lane = 0; lane < KC_STATES; lane++) {
        const int place = kc_index_in(other, lane);
        if (place == r)
            continue;
#if defined(KC_WIDE)
        kc_swap_in(lane, n, a + place * apart, a + r * apart, stride);
#else
        kc_swap(n, a + place * apart, a + r * apart, stride);
#endif
    }
}

/* Reduce the rows of G to [1 A]; entries are compared after multiplication with factors of `columns` and
 * `units` of rows, `level` is what gamma is summed from.  Returns how many pivots are clear. */
KC_INLINE int kc_reduce_front(const kc_front *f, int forces, kc_real *columns, kc_real *units, kc_real *level,
                              kc_mask *holds)
{
    const int own = f->own, rows = f->rows, width = f->width, most = own < rows ? own : rows;
    const int n_forces = forces ? rows : 0;
    const kc_real none = kc_all(0);
    kc_real *const G = f->G, *const M = f->M, *const R = f->R;
    KC_FOR (i, 0, rows) {
        kc_real size = none;
        KC_FOR (j, 0, width - 1)
            size =
                kc_larger(kc_larger(kc_abs(G[i * width + j]), f->T[i * (width - 1) + j]) * columns[j], size);
        units[i] = kc_pick((kc_mask)(size > none), kc_inverse(size), kc_all(1));
        level[i] = kc_abs(G[i * width + width - 1]);
        if (forces)
            f->large[i] = kc_pick((kc_mask)(size > none), size, kc_all(1));
    }
    KC_FOR (i, 0, n_forces)
        KC_FOR (j, 0, rows)
            R[i * rows + j] = kc_all(i == j);
    KC_FOR (r, 0, most) {
        kc_real largest = none;
        kc_index row = kc_index_of(r), column = kc_index_of(r);
        KC_FOR (i, r, rows)
            KC_FOR (j, r, own) {
                const kc_real size = kc_abs(G[i * width + j]) * columns[j] * units[i];
                const kc_mask larger = (kc_mask)(size > largest);
                largest = kc_pick(larger, size, largest);
                row = kc_pick(larger, kc_index_of(i), row);
                column = kc_pick(larger, kc_index_of(j), column);
            }
        const kc_mask clear = (kc_mask)(largest > kc_all(KC_INDEPENDENT));
        if (!kc_any(clear))
            return r;
        *holds &= clear;
        kc_exchange(r, row, G, width, width, 1);
        if (forces)
            kc_exchange(r, row, R, rows, rows, 1);
        kc_exchange(r, row, units, 1, 1, 1);
        kc_exchange(r, row, level, 1, 1, 1);
        kc_exchange(r, column, G, 1, rows, width);
        kc_exchange(r, column, M, 1, own, width);
        kc_exchange(r, column, M, width, width, 1);
        kc_exchange(r, column, columns, 1, 1, 1);
        kc_exchange(r, column, f->chosen, 1, 1, 1);
        const kc_real inverse = kc_all(1) / G[r * width + r];
        KC_FOR (j, r, width)
            G[r * width + j] *= inverse;
        KC_FOR (j, 0, n_forces)
            R[r * rows + j] *= inverse;
        level[r] *= kc_abs(inverse);
        KC_FOR (i, 0, rows) {
            const kc_real factor = G[i * width + r];
            if (i == r)
                continue;
            KC_FOR (j, r, width)
                G[i * width + j] -= factor * G[r * width + j];
            KC_FOR (j, 0, n_forces)
                R[i * rows + j] -= factor * R[r * rows + j];
            level[i] = kc_larger(kc_abs(factor) * level[r], level[i]);
        }
    }
    return most;
}

/* Whether a front whose first r rows have pivots is in no doubt: none is small beside the border, and rows
 * that are left say nothing. */
KC_INLINE kc_mask kc_is_certain(const kc_fronts *s, const kc_front *f, int r, const kc_real *columns,
                                const kc_real *units, const kc_real *level)
{
    const int own = f->own, width = f->width;
    const kc_real *const G = f->G;
    kc_mask holds = KC_TRUE;
    KC_FOR (d, 0, r) {
        const kc_real most = columns[d] * kc_all(KC_STEEPEST);
        KC_FOR (j, own, width - 1)
            holds &= (kc_mask)(kc_abs(G[d * width + j]) * columns[j] <= most);
    }
    KC_FOR (i, r, f->rows) {
        KC_FOR (j, r, width - 1)
            holds &= (kc_mask)(kc_abs(G[i * width + j]) * columns[j] * units[i] <= kc_all(KC_INDEPENDENT));
        if (!s->correction)
            holds &= (kc_mask)(kc_abs(G[i * width + width - 1]) <= kc_all(KC_CONTRADICTORY_REST) * level[i]);
    }
    return holds;
}

/* Take D out of M: of S and of the border. */
KC_INLINE void kc_project_front(const kc_front *f, int r, kc_real *V)
{
    const int own = f->own, border = f->border, width = f->width;
    const kc_real half = kc_all(0.5), *const G = f->G;
    kc_real *const M = f->M;
    KC_FOR (d, 0, r)
        KC_FOR (j, r, width) {
            kc_real sum = M[d * width] * G[j];
            KC_FOR (e, 1, r)
                sum += M[d * width + e] * G[e * width + j];
            V[d * width + j] = M[d * width + j] - half * sum;
        }
    KC_FOR (i, r, width - 1) {
        kc_real *const row = i < own ? M + i * width : f->N + (i - own) * (border + 1) - own;
        KC_FOR (j, i, width)
            KC_FOR (d, 0, r)
                row[j] -= G[d * width + i] * V[d * width + j] + V[d * width + i] * G[d * width + j];
    }
}

/* Eliminate S; the inverses of its pivots take their places. */
KC_INLINE kc_mask kc_factor_front(const kc_fronts *s, const kc_front *f, int r, const kc_real *columns)
{
    const int own = f->own, border = f->border, width = f->width;
    const kc_real tolerance = kc_all(KC_PIVOT * (kc_number)s->n * KC_EPSILON);
    kc_mask positive = KC_TRUE;
    KC_FOR (i, r, own) {
        kc_real *const row = f->M + i * width;
        positive &= (kc_mask)(row[i] * columns[i] * columns[i] > tolerance);
        const kc_real inverse = kc_all(1) / row[i];
        KC_FOR (k, i + 1, width - 1) {
            const kc_real multiple = row[k] * inverse;
            kc_real *const other = k < own ? f->M + k * width : f->N + (k - own) * (border + 1) - own;
            KC_FOR (j, k, width)
                other[j] -= multiple * row[j];
        }
        KC_FOR (j, i + 1, width)
            row[j] *= inverse;
        row[i] = inverse;
    }
    return positive;
}

/* Add what a front leaves of its border to its parent, of which the own part is symmetric. */
KC_INLINE void kc_hand_over(const kc_fronts *s, const kc_front *f, int parent)
{
    const int *const sizes = s->sizes + KC_SIZES * parent, own = sizes[0], border = sizes[1],
                     width = own + border + 1;
    kc_real *const M = s->arrays + sizes[4], *const N = M + own * width - own * (border + 1) - own;
    const int *const places = f->places;
    for (int i = 0; i < f->border; i++) {
        const kc_real *const from = f->N + i * (f->border + 1);
        const int p = places[i];
        kc_real *const row = p < own ? M + p * width : N + p * (border + 1);
        for (int j = i; j < f->border; j++) {
            row[places[j]] += from[j];
            if (j > i && places[j] < own)
                M[places[j] * width + p] += from[j];
        }
        row[width - 1] += from[f->border];
    }
}

/* Eliminate the own speeds of front k.  Returns a fault where that is in doubt. */
KC_INLINE kc_fault kc_eliminate_front(const kc_fronts *s, int forces, int k, int own, int border, int rows)
{
    const kc_front f = kc_front_of(s, k, own, border, rows);
    kc_real *const columns = s->work, *const units = columns + own + border, *const level = units + rows,
                   *const V = level + rows;
    KC_FOR (j, 0, own + border)
        columns[j] = s->scale[f.speeds[j]];
    KC_FOR (j, 0, own)
        f.chosen[j] = kc_all(j);
    kc_mask holds = KC_TRUE;
    const int r = kc_reduce_front(&f, forces, columns, units, level, &holds);
    s->rank[k] = kc_all(r);
    holds &= kc_is_certain(s, &f, r, columns, units, level);
    if (!kc_any(holds))
        return KC_FAULT_UNLESS(holds);
    if (r == rows) { /* the compiler knows it */
        kc_project_front(&f, rows, V);
        holds &= kc_factor_front(s, &f, rows, columns);
    } else {
        kc_project_front(&f, r, V);
        holds &= kc_factor_front(s, &f, r, columns);
    }
    if (border > 0)
        kc_hand_over(s, &f, s->sizes[KC_SIZES * k + 3]);
    return KC_FAULT_UNLESS(holds);
}

/* The own speeds in the order of the pivots, from `all` speeds that follow. */
KC_INLINE void kc_follow_rows(const kc_front *f, int r, kc_real *all)
{
    const int own = f->own, width = f->width;
    KC_FOR (back, 0, own) {
        const int i = own - 1 - back;
        const kc_real *const row = i < r ? f->G + i * width : f->M + i * width;
        kc_real sum = -row[width - 1];
        KC_FOR (j, i < r ? r : i + 1, width - 1)
            sum -= row[j] * all[j];
        all[i] = sum;
    }
}

/* The own speeds of front k, from those of its border. */
KC_INLINE void kc_follow_front(const kc_fronts *s, int k, int own, int border, int rows, kc_real *a)
{
    const kc_front f = kc_front_of(s, k, own, border, rows);
    const int r = kc_count_of(s->rank[k]);
    kc_real *const all = s->work;
    KC_FOR (j, own, own + border)
        all[j] = a[f.speeds[j]];
    if (r == rows) /* the compiler knows it */
        kc_follow_rows(&f, rows, all);
    else
        kc_follow_rows(&f, r, all);
    KC_FOR (i, 0, own)
        for (int lane = 0; lane < KC_STATES; lane++)
            kc_put_in(lane, a + f.speeds[kc_place_in(f.chosen[i], lane)], all[i]);
}

/* The same for fronts of any size, as one copy. */
KC_SOLVER kc_fault kc_eliminate_any_front(const kc_fronts *s, int forces, int k)
{
    const int *const sizes = s->sizes + KC_SIZES * k;
    return kc_eliminate_front(s, forces, k, sizes[0], sizes[1], sizes[2]);
}

KC_SOLVER void kc_follow_any_front(const kc_fronts *s, int k, kc_real *a)
{
    const int *const sizes = s->sizes + KC_SIZES * k;
    kc_follow_front(s, k, sizes[0], sizes[1], sizes[2], a);
}

/* Factors of the own columns: those of borders belong to later fronts. */
KC_INLINE void kc_weigh_front(const kc_fronts *s, int k, int own, int border, int rows)
{
    const kc_front f = kc_front_of(s, k, own, border, rows);
    for (int j = 0; j < own; j++)
        s->scale[f.speeds[j]] = kc_inverse_root(kc_abs(f.M[j * (f.width + 1)]));
}

/* Solve for a (n), with arrays that are filled, if `count` rows are independent.  Returns a fault where
 * fronts do not say so without doubt. */
KC_INLINE kc_fault kc_solve_fronts(const kc_fronts *s, int count, int forces, kc_real *a)
{
    const int own = s->own, border = s->border, rows = s->rows;
    kc_fault failed = {0};
    int rank = 0;
    for (int k = 0; k < s->n_fronts; k++) {
        const int *const sizes = s->sizes + KC_SIZES * k;
        if (sizes[0] == own && sizes[1] == border && sizes[2] == rows)
            kc_weigh_front(s, k, own, border, rows);
        else
            kc_weigh_front(s, k, sizes[0], sizes[1], sizes[2]);
    }
    for (int k = 0; k < s->n_fronts; k++) {
        const int *const sizes = s->sizes + KC_SIZES * k;
        if (sizes[0] == own && sizes[1] == border && sizes[2] == rows)
            failed |= kc_eliminate_front(s, forces, k, own, border, rows);
        else
            failed |= kc_eliminate_any_front(s, forces, k);
        if (kc_stops(failed))
            return failed;
        rank += kc_count_of(s->rank[k]);
    }
    if (s->correction ? rank < count : rank != count)
        return KC_FAULT_UNLESS(kc_not(KC_TRUE));
    for (int k = s->n_fronts - 1; k >= 0; k--) {
        const int *const sizes = s->sizes + KC_SIZES * k;
        if (sizes[0] == own && sizes[1] == border && sizes[2] == rows)
            kc_follow_front(s, k, own, border, rows, a);
        else
            kc_follow_any_front(s, k, a);
    }
    return failed;
}

/* The same as one copy, with what forces and other right-hand sides need. */
KC_SOLVER kc_fault kc_factor_fronts(const kc_fronts *s, int count, int forces, kc_real *a)
{
    return kc_solve_fronts(s, count, forces, a);
}

/* Copy, in each state, row `place` of own speeds from rows of k numbers, or to these. */
KC_INLINE void kc_take_row(const kc_front *f, int place, int k, kc_real *to, const kc_real *rows)
{
#if defined(KC_WIDE)
    for (int lane = 0; lane < KC_STATES; lane++)
        for (int j = 0; j < k; j++)
            to[j][lane] = rows[f->speeds[kc_place_in(f->chosen[place], lane)] * k + j][lane];
#else
    kc_copy(k, to, rows + f->speeds[kc_place_in(f->chosen[place], 0)] * k);
#endif
}

KC_INLINE void kc_leave_row(const kc_front *f, int place, int k, const kc_real *from, kc_real *rows)
{
#if defined(KC_WIDE)
    for (int lane = 0; lane < KC_STATES; lane++)
        for (int j = 0; j < k; j++)
            rows[f->speeds[kc_place_in(f->chosen[place], lane)] * k + j][lane] = from[j][lane];
#else
    kc_copy(k, rows + f->speeds[kc_place_in(f->chosen[place], 0)] * k, from);
#endif
}

/* From the leaves to the root: y (own, k) becomes gamma_D, then 1 / D L y of S; `a` is scratch. */
KC_INLINE void kc_reduce_sides(const kc_front *f, int r, int k, kc_real *side, const kc_real *gamma,
                               const int *row_numbers, kc_real *y, kc_real *a)
{
    const int own = f->own, width = f->width, rows = f->rows;
    for (int i = r; i < own; i++)
        kc_take_row(f, i, k, y + i * k, side);
    kc_clear(r * k, y);
    for (int d = 0; d < r; d++)
        for (int i = 0; i < rows; i++)
            kc_take(k, y + d * k, -f->R[d * rows + i], gamma + row_numbers[i] * k);
    for (int d = 0; d < r; d++) {
        kc_real *const carried = a + f->speeds[d] * k;
        kc_take_row(f, d, k, carried, side);
        for (int e = 0; e < r; e++)
            kc_take(k, carried, -f->M[d * width + e], y + e * k);
        for (int j = r; j < width - 1; j++) {
            kc_real *const row = j < own ? y + j * k : side + f->speeds[j] * k;
            kc_take(k, row, -f->M[d * width + j], y + d * k);
            kc_take(k, row, f->G[d * width + j], carried);
        }
    }
    for (int i = r; i < own; i++) {
        for (int j = i + 1; j < width - 1; j++)
            kc_take(k, j < own ? y + j * k : side + f->speeds[j] * k, f->M[i * width + j], y + i * k);
        kc_scale(k, y + i * k, f->M[i * width + i]);
    }
}

/* From the root to the leaves: the own speeds, from y and those of the border. */
KC_INLINE void kc_follow_sides(const kc_front *f, int r, int k, kc_real *y, kc_real *a)
{
    const int own = f->own, width = f->width;
    for (int i = own - 1; i >= 0; i--) {
        const kc_real *const row = i < r ? f->G + i * width : f->M + i * width;
        if (i < r)
            kc_scale(k, y + i * k, kc_all(-1));
        for (int j = i < r ? r : i + 1; j < width - 1; j++)
            kc_take(k, y + i * k, row[j], j < own ? y + j * k : a + f->speeds[j] * k);
    }
    for (int i = 0; i < own; i++)
        kc_leave_row(f, i, k, y + i * k, a);
}

/* Solve for a (n, k) with other right-hand sides, by the factors of kc_factor_fronts().  Of f (n, k) the
 * parts of dependent speeds are left, with what earlier fronts leave of theirs; y has room for (n, k). */
KC_SOLVER void kc_solve_fronts_again(const kc_fronts *s, int k, kc_real *f, const kc_real *gamma, kc_real *y,
                                     kc_real *a)
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < s->n_fronts; i++) {
            const int number = pass ? s->n_fronts - 1 - i : i, *const sizes = s->sizes + KC_SIZES * number;
            const kc_front front = kc_front_of(s, number, sizes[0], sizes[1], sizes[2]);
            const int r = kc_count_of(s->rank[number]);
            kc_real *const own = y + (sizes[5] - sizes[6]) * k;
            if (pass)
                kc_follow_sides(&front, r, k, own, a);
            else
                kc_reduce_sides(&front, r, k, f, gamma, s->row_numbers + sizes[7], own, a);
        }
}

typedef enum kc_sharing {
    KC_SHARE_SIZES, /* the norm of forces of rows of equal size is least */
    KC_SHARE_UNITS, /* the same in the units of the user */
    KC_SHARE_NONE   /* rows without a pivot have no force */
} kc_sharing;

/* The forces of M a = f + G' lambda; with `side` of M a = side + G' lambda after kc_solve_fronts_again(). */
KC_SOLVER void kc_find_front_forces(const kc_fronts *s, const kc_real *a, const kc_real *side,
                                    kc_sharing sharing, kc_real *lambda)
{
    for (int k = 0; k < s->n_fronts; k++) {
        const int *const sizes = s->sizes + KC_SIZES * k, *const numbers = s->row_numbers + sizes[7];
        const kc_front f = kc_front_of(s, k, sizes[0], sizes[1], sizes[2]);
        const int own = f.own, width = f.width, rows = f.rows, r = kc_count_of(s->rank[k]);
        kc_real *const all = s->work, *const forces = all + width;
        for (int j = 0; j < own; j++)
            kc_take_row(&f, j, 1, all + j, a);
        for (int j = own; j < width - 1; j++)
            all[j] = a[f.speeds[j]];
        kc_clear(rows, forces);
        for (int d = 0; d < r; d++) {
            kc_real force = f.M[d * width + width - 1];
            if (side) {
                kc_take_row(&f, d, 1, &force, side);
                force = -force;
            }
            for (int j = 0; j < width - 1; j++)
                force += f.M[d * width + j] * all[j];
            kc_take(rows, forces, -force, f.R + d * rows);
        }
        if (r < rows && sharing != KC_SHARE_NONE) {
            kc_saddle redundant = {.m = rows, .rank = r, .combine = f.R};
            if (sharing == KC_SHARE_SIZES)
                kc_share_forces(&redundant, f.large, forces);
            else
                kc_least_norm(&redundant, forces);
        }
        for (int i = 0; i < rows; i++)
            lambda[numbers[i]] = forces[i];
    }
}

/* Fill the equations of all speeds and rows from arrays of fronts, before their elimination. */
KC_SOLVER void kc_join_fronts(const kc_fronts *s, const kc_saddle *e)
{
    const int n = e->n;
    kc_clear(n * n, e->M), kc_clear(e->m * n, e->G), kc_clear(e->m * n, e->sums);
    for (int k = 0; k < s->n_fronts; k++) {
        const int *const sizes = s->sizes + KC_SIZES * k, *const numbers = s->row_numbers + sizes[7];
        const kc_front f = kc_front_of(s, k, sizes[0], sizes[1], sizes[2]);
        const int last = f.width - 1, *const speeds = f.speeds;
        for (int i = 0; i < f.own; i++) {
            for (int j = 0; j < last; j++)
                e->M[speeds[i] * n + speeds[j]] = e->M[speeds[j] * n + speeds[i]] = f.M[i * f.width + j];
            e->f[speeds[i]] = -f.M[i * f.width + last];
        }
        for (int i = 0; i < f.rows; i++) {
            for (int j = 0; j < last; j++) {
                e->G[numbers[i] * n + speeds[j]] = f.G[i * f.width + j];
                e->sums[numbers[i] * n + speeds[j]] = f.T[i * last + j];
            }
            e->gamma[numbers[i]] = f.G[i * f.width + last];
        }
    }
}

/* udot of models whose equations fall into fronts. */
typedef struct kc_front_motion {
    kc_fronts fronts;
    int rank;            /* c[rank] is how many rows of G count */
    int eliminated;      /* how many rows the graph eliminated */
    int n_known;         /* how many numbers `result` reads beside the solution */
    kc_function *fill;   /* the arrays, then what `result` reads; or a fault, where they do not hold */
    kc_function *result; /* udot, from what `fill` left for it and the solution; NULL: the solution is udot */
#if !defined(KC_WIDE)
    kc_function *otherwise; /* udot from all rows, where fronts are in doubt */
#endif
} kc_front_motion;

#define KC_FRONT_MOTION_ROOM(n, n_fronts, numbers, widest, n_known)                                          \
    KC_ALIGNED_ROOM((numbers) + (n_known) + (n) + KC_FRONTS_ROOM(n, n_fronts, widest))

/* The kernel `udot`. */
KC_INLINE kc_fault kc_accelerate_fronts(kc_front_motion *s, kc_real t, const kc_real *x, const kc_real *r,
                                        const kc_real *c, kc_real *w, kc_real *out)
{
    kc_real *const arrays = kc_align(w), *const known = arrays + s->fronts.numbers;
    kc_real *const kept = known + s->n_known, *const a = s->result ? kept : out;
    kc_real *const work = kc_place_fronts(&s->fronts, arrays, kept + s->fronts.n);
    kc_fault failed = s->fill(t, x, r, c, work, arrays);
#if defined(KC_WIDE)
    failed |= (kc_mask)(c[s->rank] != kc_all(c[s->rank][0]));
#endif
    if (!kc_stops(failed))
        failed |= kc_solve_fronts(&s->fronts, kc_count_of(c[s->rank]) - s->eliminated, 0, a);
#if !defined(KC_WIDE)
    if (KC_UNLIKELY(failed))
        return s->otherwise(t, x, r, c, w, out);
#endif
    return s->result ? failed | s->result(t, x, r, c, known, out) : failed;
}
