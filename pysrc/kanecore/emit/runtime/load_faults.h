/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of models whose loads depend on reactions ask these loads why a result is not finite. */
typedef struct kc_asked {
    int n; /* numbers of the result */
    kc_function *result;
    kc_function *reason; /* writes a kc_status, and the number of a load */
} kc_asked;

#define KC_ASKED_ROOM(n) (n)

KC_ONCE kc_fault kc_ask(const kc_asked *s, kc_real t, const kc_real *x, const kc_real *r, const kc_real *c,
                        kc_real *w, kc_real *out)
{
    const kc_fault fault = s->result(t, x, r, c, w, out);
    if (KC_UNLIKELY(fault))
        return fault;
    kc_real check = 0; /* NaN if any is not finite */
    for (int i = 0; i < s->n; i++)
        check += out[i] * 0;
    if (!KC_UNLIKELY(check != 0))
        return 0;
    s->reason(t, x, r, c, w + 2, w);
    return KC_FAULT((int)w[0], (int)w[1]);
}
