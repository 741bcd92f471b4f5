/* SPDX-License-Identifier: BSD-3-Clause */
/* lambda of models whose equations fall into fronts. */
typedef struct kc_front_balance {
    kc_saddle *equations; /* k = 1 */
    kc_reduced_motion motion;
    /* the same from all rows: where fronts are in doubt, or rows share forces with eliminated ones */
    kc_function *otherwise;
} kc_front_balance;

#define KC_FRONT_BALANCE_ROOM(n, m, n_known, n_all, m_all) KC_REDUCED_MOTION_ROOM(n, m, n_known, n_all, m_all)

/* The kernel `multipliers`. */
KC_INLINE kc_fault kc_balance_fronts(kc_front_balance *s, kc_real t, const kc_real *x, const kc_real *r,
                                     const kc_real *c, kc_real *w, kc_real *out)
{
    const kc_place at = {t, x, r, c};
    kc_real *const own = kc_place_motion(&s->motion, s->equations, w);
    kc_fault failed = KC_FAULT_UNLESS(kc_not(KC_TRUE));
    if (!s->motion.forces || kc_count_of(c[s->motion.rank]) == s->motion.m_all)
        failed = kc_find_motion(&s->motion, s->equations, 1, &at, w, own);
#if !defined(KC_WIDE)
    if (KC_UNLIKELY(failed))
        return s->otherwise(t, x, r, c, w, out);
#endif
    kc_copy(s->motion.m_all, out, own + s->equations->m + s->motion.n_all);
    return failed;
}
