/* SPDX-License-Identifier: BSD-3-Clause */
/* The inverse of a mass matrix that is positive definite, and in no doubt. */
typedef struct kc_inversion {
    kc_saddle *equations; /* m = 0 */
    kc_parts parts;       /* M */
} kc_inversion;

#define KC_INVERSE_ROOM(n) (KC_EQUATIONS_ROOM(n, 0, 1) + KC_SCRATCH_ROOM(n, 0))

/*
 * The inverse (n, n) from the factors of kc_factor(): of unit columns, each from its own row on.  Behind the
 * first loop `inverse` holds D L x in its upper triangle, behind the second one x.
 */
KC_INLINE void kc_invert_factors(int n, const kc_real *a, kc_real *inverse)
{
    const kc_real none = kc_all(0);
    for (int i = 0; i < n * n; i++)
        inverse[i] = none;
    for (int d = n - 1; d >= 0; d--) {
        inverse[d * n + d] = kc_all(1);
        for (int i = 0; i < d; i++) {
            const kc_mask some = (kc_mask)(a[d * n + i] != none);
            if (kc_any(some))
                kc_take_where(some, n - d, inverse + i * n + d, a[d * n + i], inverse + d * n + d);
        }
    }
    for (int d = 0; d < n; d++) {
        kc_real *const row = inverse + d * n;
        for (int j = d; j < n; j++)
            row[j] *= a[d * n + d];
        for (int i = 0; i < d; i++) {
            const kc_mask some = (kc_mask)(a[d * n + i] != none);
            if (kc_any(some))
                kc_take_where(some, n - d, row + d, a[d * n + i], inverse + i * n + d);
        }
        for (int j = d; j < n; j++)
            inverse[j * n + d] = row[j];
    }
}

/*
 * The kernel `mass_matrix_inverse`.  With rows and columns scaled to a diagonal of ones the largest
 * eigenvalue of M is at most n, and the least one at least 1 / the trace of the inverse.
 */
KC_ONCE kc_fault kc_invert(kc_inversion *s, kc_real t, const kc_real *x, const kc_real *r, const kc_real *c,
                           kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const int n = e->n;
    kc_real *const work = kc_place_scratch(e, kc_place_equations(e, w));
    kc_real trace = kc_all(0), *const M = e->M, *const factors = e->W;
    kc_fill(s->parts, e, &(kc_place){t, x, r, c}, work);
    kc_copy(n * n, factors, M);
    kc_mask certain = e->symmetric ? kc_factor(n, factors, factors + n * n) : kc_not(KC_TRUE);
    if (kc_any(certain))
        kc_invert_factors(n, factors, out);
    for (int i = 0; i < n && kc_any(certain); i++)
        trace += out[i * n + i] * M[i * n + i];
    certain &= (kc_mask)(trace * kc_all((kc_number)n * KC_CERTAIN * KC_RANK) < kc_all(1));
#if defined(KC_WIDE)
    return kc_not(certain);
#else
    return certain ? 0 : KC_FAULT(KC_SINGULAR, 0);
#endif
}
