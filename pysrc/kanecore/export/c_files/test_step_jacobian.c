/* SPDX-License-Identifier: BSD-3-Clause */

/* The state after the step, then its derivatives. */
static int take_step_jacobian(MODEL_real t, const MODEL_real *x, const MODEL_real *r,
                              const MODEL_real *constants, MODEL_real *scratch, MODEL_real *next)
{
    return MODEL_step_jacobian(t, step_length, x, r, constants, scratch, next, next + MODEL_n_x);
}
