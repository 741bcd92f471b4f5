/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of first-order states z behind those of q and u, k numbers each. Of the derivatives of xdot they are
 * dzdot/d(symbols) + dzdot/dudot dudot, with the rows of udot that stand before.
 */
typedef struct kc_state_rows {
    int n_z, n_q, n, k;
    kc_function *motion; /* the rows of q and u (n_q + n, k) */
    kc_function *udot;   /* NULL where the rows do not hold udot */
    kc_function
        *slopes; /* reads udot in w; the rows (n_z, k) at constant udot, then their slopes by it (n_z, n) */
} kc_state_rows;

#define KC_STATE_ROWS_ROOM(n_z, n, k) ((n) + (n_z) * ((k) + (n)))

KC_ONCE kc_fault kc_add_state_rows(const kc_state_rows *s, kc_real t, const kc_real *x, const kc_real *r,
                                   const kc_real *c, kc_real *w, kc_real *out)
{
    const int n = s->n, k = s->k;
    kc_real *const direct = w + n, *const by_udot = direct + s->n_z * k, *const work = by_udot + s->n_z * n;
    const kc_real *const udot = out + s->n_q * k;
    kc_real *const rows = out + (s->n_q + n) * k;
    kc_fault failed = s->motion(t, x, r, c, work, out);
    if (s->udot && !kc_stops(failed))
        failed |= s->udot(t, x, r, c, work, w);
    if (kc_stops(failed))
        return failed;
    s->slopes(t, x, r, c, w, direct);
    for (int i = 0; i < s->n_z; i++)
        for (int j = 0; j < k; j++) {
            kc_real sum = direct[i * k + j];
            if (s->udot)
                for (int l = 0; l < n; l++)
                    sum += by_udot[i * n + l] * udot[l * k + j];
            rows[i * k + j] = sum;
        }
    return failed;
}
