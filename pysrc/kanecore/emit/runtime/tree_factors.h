/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Factors L' D L of symmetric matrices, from the last row to the first, which keeps the zeros between
 * branches of a tree (Featherstone 2008, section 6.5).  The parent of a row, -1 of a root, is the last of the
 * rows in front of it that it is connected with; all others are parents of that one, in turn: its ancestors.
 */

/*
 * Factor M in place, of which the lower triangle is read; rows are `apart` numbers apart, in eights, and 1 /
 * D stands on the diagonal.  `diagonal` has room for n numbers, where those of M are kept.  Returns whether
 * all pivots are positive.
 */
KC_INLINE kc_mask kc_factor_tree(ptrdiff_t n, const int *parent, kc_real *L, ptrdiff_t apart,
                                 kc_real *diagonal)
{
    const kc_real tolerance = kc_all(KC_PIVOT * (kc_number)n * KC_EPSILON);
    kc_mask positive = KC_TRUE;
    for (ptrdiff_t d = 0; d < n; d++)
        diagonal[d] = L[d * apart + d];
    for (ptrdiff_t d = n - 1; d >= 0; d--) {
        kc_real *const row = L + d * apart;
        positive &= (kc_mask)(row[d] > tolerance * diagonal[d]);
        if (KC_UNLIKELY(!kc_any(positive)))
            return positive;
        const kc_real inverse = KC_REAL(1.0) / row[d];
        for (ptrdiff_t i = parent[d]; i >= 0; i = parent[i])
            kc_take(KC_EIGHTS(i + 1), L + i * apart, row[i] * inverse, row);
        for (ptrdiff_t j = 0; j < d; j += KC_BLOCK)
            *(kc_block *)(row + j) *= inverse;
        row[d] = inverse;
    }
    return positive;
}

/*
 * Solve L' D L x = y in place, of y (n, stride): from the last row to the first each takes those of which it
 * is an ancestor, then each its ancestors.  Those of which a row is an ancestor stand behind it, up to its
 * end.
 */
KC_INLINE void kc_solve_tree(ptrdiff_t n, const int *parent, const int *limb_end, const kc_real *L,
                             ptrdiff_t apart, kc_real *y, ptrdiff_t stride)
{
    for (ptrdiff_t j = 0; j < stride; j += KC_BLOCK) {
        for (ptrdiff_t i = n - 1; i >= 0; i--) {
            kc_block sum = *(kc_block *)(y + i * stride + j);
            for (ptrdiff_t d = i + 1; d < limb_end[i]; d++)
                sum -= L[d * apart + i] * *(kc_block *)(y + d * stride + j);
            *(kc_block *)(y + i * stride + j) = sum;
        }
        for (ptrdiff_t d = 0; d < n; d++) {
            const kc_real *const row = L + d * apart;
            kc_block sum = *(kc_block *)(y + d * stride + j) * row[d];
            for (ptrdiff_t i = parent[d]; i >= 0; i = parent[i])
                sum -= row[i] * *(kc_block *)(y + i * stride + j);
            *(kc_block *)(y + d * stride + j) = sum;
        }
    }
}

/* The same of one column. */
KC_INLINE void kc_solve_tree_once(ptrdiff_t n, const int *parent, const kc_real *L, ptrdiff_t apart,
                                  kc_real *y)
{
    for (ptrdiff_t d = n - 1; d >= 0; d--)
        for (ptrdiff_t i = parent[d]; i >= 0; i = parent[i])
            y[i] -= L[d * apart + i] * y[d];
    for (ptrdiff_t d = 0; d < n; d++) {
        kc_real sum = y[d] * L[d * apart + d];
        for (ptrdiff_t i = parent[d]; i >= 0; i = parent[i])
            sum -= L[d * apart + i] * y[i];
        y[d] = sum;
    }
}

/*
 * The inverse, with rows `apart` numbers apart as well.  It solves L X = D^-1 L'^-1, of which the right-hand
 * side is zero below the diagonal and known on it; so each row follows from those of its ancestors, as far as
 * the diagonal, and is its column (Takahashi, Fagan & Chen, Formation of a sparse bus impedance matrix,
 * 1973).
 */
KC_INLINE void kc_invert_tree(ptrdiff_t n, const int *parent, const kc_real *L, ptrdiff_t apart, kc_real *X)
{
    kc_clear(n * apart, X);
    for (ptrdiff_t d = 0; d < n; d++) {
        const kc_real *const row = L + d * apart;
        kc_real *const x = X + d * apart;
        for (ptrdiff_t j = 0; j < d; j += KC_BLOCK) {
            kc_block sum = {0};
            for (ptrdiff_t i = parent[d]; i >= 0; i = parent[i])
                sum -= row[i] * *(kc_block *)(X + i * apart + j);
            *(kc_block *)(x + j) = sum;
        }
        kc_real own = row[d];
        for (ptrdiff_t i = parent[d]; i >= 0; i = parent[i])
            own -= row[i] * x[i];
        x[d] = own;
        for (ptrdiff_t j = 0; j < d; j++)
            X[j * apart + d] = x[j];
    }
}
