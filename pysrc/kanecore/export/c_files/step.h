/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The state after a time h, with r held: one step of the classical Runge-Kutta method.INSERT_THEN
 * next: n_x, which may be x, and is left as it was where a stage fails.
 */
INSERT_FACTS;
int MODEL_step(MODEL_real t, MODEL_real h, const MODEL_real *x, const MODEL_real *r, const MODEL_real *c,
               MODEL_real *work, MODEL_real *next);
