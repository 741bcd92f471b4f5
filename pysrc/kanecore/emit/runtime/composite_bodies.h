/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mass matrix of trees of joints by composite bodies, in loops: Featherstone, Rigid Body Dynamics
 * Algorithms, 2008, table 6.2.
 */

/* A rate of a joint, and all that it carries, frozen; in axes that are common to the tree. */
typedef struct kc_composite {
    kc_screw axis;
    kc_vector offset; /* from the origin of the rate before */
    kc_screw push;    /* the momentum at a rate of one, about its origin */
} kc_composite;

typedef struct kc_composites {
    int n;
    const int *before;  /* (n) the rate that carries each, or -1 */
    const int *speed;   /* (n) the number of each among the speeds */
    kc_function *rates; /* kc_composite (n) */
} kc_composites;

#define KC_COMPOSITES_ROOM(n) (15 * (n)) /* kc_composite (n) */

/* The kernel `mass_matrix` of such a model: each push walks to the root, from origin to origin. */
KC_ONCE kc_fault kc_fill_mass_matrix(kc_composites *s, kc_real t, const kc_real *x, const kc_real *r,
                                     const kc_real *c, kc_real *w, kc_real *out)
{
    const ptrdiff_t n = s->n;
    const int *const before = s->before, *const speed = s->speed;
    const kc_composite *const rates = (const kc_composite *)w;
    const kc_fault failed = s->rates(t, x, r, c, w + KC_COMPOSITES_ROOM(n), w);
    kc_clear(n * n, out);
    for (ptrdiff_t i = 0; i < n; i++) {
        kc_screw push = rates[i].push;
        kc_real *const row = out + speed[i] * n, *const column = out + speed[i];
        for (ptrdiff_t j = i; j >= 0; j = before[j]) {
            const ptrdiff_t other = speed[j];
            row[other] = column[other * n] = kc_power(rates[j].axis, push);
            push.turn = kc_plus_cross(push.turn, rates[j].offset, push.slide);
        }
    }
    return failed;
}
