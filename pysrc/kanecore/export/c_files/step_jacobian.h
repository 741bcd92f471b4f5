/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The same, with d next / d(x, r) in `jacobian`: n_x * (n_x + n_r), row by row.
 */
INSERT_FACTS;
int MODEL_step_jacobian(MODEL_real t, MODEL_real h, const MODEL_real *x, const MODEL_real *r,
                        const MODEL_real *c, MODEL_real *work, MODEL_real *next, MODEL_real *jacobian);
