/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A compiled model without Python: this file, the C text of a model, and kanecore.h.
 * Drops the model from rest at x = 0 for a tenth of a second, by Euler's
 * semi-implicit method.
 */
#include "kanecore.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    const kc_model *m = kc_get_model();
    const uint32_t n_x = m->n_q + m->n_u;
    double *c = calloc(m->n_prepared, sizeof(double));
    double *r = calloc(m->n_r + 1, sizeof(double));
    double *work = calloc(m->n_work, sizeof(double));
    double *x = calloc(n_x, sizeof(double));
    double *xdot = calloc(n_x, sizeof(double));
    if (c == NULL || r == NULL || work == NULL || x == NULL || xdot == NULL)
        return EXIT_FAILURE;

    if (m->abi_version != KC_ABI_VERSION)
        return EXIT_FAILURE;
    m->prepare(m->p_default, c); /* again whenever a parameter changes */

    const double dt = 1e-3;
    for (int step = 0; step < 100; step++) {
        work[0] = KC_OK;
        m->rhs(step * dt, x, r, c, work, xdot);
        if (work[0] == KC_SINGULAR) {
            fprintf(stderr, "no motion of %s\n", m->u_names[(int)work[1]]);
            return EXIT_FAILURE;
        }
        for (uint32_t i = 0; i < m->n_u; i++)
            x[m->n_q + i] += dt * xdot[m->n_q + i];
        for (uint32_t i = 0; i < m->n_q; i++)
            x[i] += dt * x[m->n_q + i]; /* qdot = u: see KC_QDOT_IS_U */
    }
    for (uint32_t i = 0; i < m->n_q; i++)
        printf("%s = %.6f\n", m->q_names[i], x[i]);

    free(c), free(r), free(work), free(x), free(xdot);
    return EXIT_SUCCESS;
}
