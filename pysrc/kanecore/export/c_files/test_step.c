/* SPDX-License-Identifier: BSD-3-Clause */
static const MODEL_real step_length = INSERT_STEP;

static int take_step(MODEL_real t, const MODEL_real *x, const MODEL_real *r, const MODEL_real *constants,
                     MODEL_real *scratch, MODEL_real *next)
{
    return MODEL_step(t, step_length, x, r, constants, scratch, next);
}
