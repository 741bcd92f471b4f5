/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The state after a time h, with r held: one step of the classical method of Runge and Kutta, of order 4;
 * then unit quaternions are divided by their lengths. If the model has constraints, let MODEL_project bring
 * the state back to them. next: n_x, which may be x, and is left as it was where a stage fails.
 */
INSERT_FACTS;
int MODEL_step(MODEL_real t, MODEL_real h, const MODEL_real *x, const MODEL_real *r, const MODEL_real *c,
               MODEL_real *work, MODEL_real *next);
