/* SPDX-License-Identifier: BSD-3-Clause */
/* The inverse of a mass matrix that is positive definite, and in no doubt. */
typedef struct kc_inversion {
    int n;
    const int *parent; /* (n) of each row of M, as in tree_factors.h; NULL: M is not symmetric */
    kc_function *mass_matrix;
} kc_inversion;

#define KC_INVERSE_ROOM(n)                                                                                   \
    KC_ALIGNED_ROOM(2 * (n) * KC_EIGHTS(n) + (n)) /* factors; M, then its inverse; its diagonal */

/*
 * The kernel `mass_matrix_inverse`.  With rows and columns scaled to a diagonal of ones the largest
 * eigenvalue of M is at most n, and the least one at least 1 / the trace of the inverse.
 */
KC_ONCE kc_fault kc_invert(kc_inversion *s, kc_real t, const kc_real *x, const kc_real *r, const kc_real *c,
                           kc_real *w, kc_real *out)
{
    const ptrdiff_t n = s->n, apart = KC_EIGHTS(n);
    kc_real *const L = kc_align(w), *const M = L + n * apart, *const inverse = M,
                   *const diagonal = M + n * apart;
    kc_real trace = kc_all(0);
    kc_fault failed = s->mass_matrix(t, x, r, c, diagonal + n, M);
    kc_mask certain = kc_not(KC_TRUE);
    if (s->parent) {
        kc_clear(n * apart, L);
        for (ptrdiff_t i = 0; i < n; i++)
            kc_copy(i + 1, L + i * apart, M + i * n);
        certain = kc_factor_tree(n, s->parent, L, apart, diagonal);
    }
    if (kc_any(certain)) {
        kc_invert_tree(n, s->parent, L, apart, inverse);
        for (ptrdiff_t i = 0; i < n; i++) {
            trace += inverse[i * apart + i] * diagonal[i];
            kc_copy(n, out + i * n, inverse + i * apart);
        }
    }
    certain &= (kc_mask)(trace * kc_all((kc_number)n * KC_CERTAIN * KC_RANK) < kc_all(1));
#if defined(KC_WIDE)
    return failed | kc_not(certain);
#else
    return failed ? failed : certain ? 0 : KC_FAULT(KC_SINGULAR, 0);
#endif
}
