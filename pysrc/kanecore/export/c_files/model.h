/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MODEL.h: the equations of motion of INSERT_NAME, in C99.
 *
 * Written by kanecore INSERT_VERSION. It needs MODEL.c and libm; nothing allocates memory, and nothing is
 * kept between calls: any number of threads may call, each with arrays of its own.
 *
 *     MODEL_real c[MODEL_n_prepared], work[MODEL_n_work], out[INSERT_LENGTH];
 *     whenever a parameter changes:  MODEL_prepare(MODEL_p_default, c);
 *     as often as you like:          status = INSERT_FIRST(t, x, r, c, work, out);
 *
 *     t     time
 *     x     n_x: INSERT_STATES
 *     r     n_r: inputs (forces, prescribed motions and their rates)
 *     c     n_prepared: the parameters, and what depends on them alone
 *     work  n_work: scratch of any function, never read before it is written
 *     out   results, row by row
 *
 * The library has constants, and no variables: static memory 0. `x`, `r` and `c` are only read, and may not
 * overlap `work` or `out`. Functions return a status, see below. Where it is `nonfinite`, what is infinite or
 * NaN stands in `out`; at any other failure all of `out` is NaN. Every loop ends after a number of turns that
 * is known beforehand.
 */
#ifndef KANECORE_EXPORT_MODEL_H
#define KANECORE_EXPORT_MODEL_H

#ifdef __cplusplus
extern "C" {
#endif

typedef INSERT_REAL MODEL_real;

/* How many there are, and the lengths of arrays. */
INSERT_SIZES;

INSERT_PLACES;

/* What functions return. */
INSERT_STATUS;

/* The parameters and inputs that the model was exported with; NaN: you must give a value. */
extern const INSERT_REAL MODEL_p_default[]; /* n_p */
extern const INSERT_REAL MODEL_r_default[]; /* n_r */

/* The constants c of the parameters p. Returns ok, or nonfinite. */
int MODEL_prepare(const MODEL_real *p, MODEL_real *c);
INSERT_PREPARE;
INSERT_RANK;

/*
 * The kernels. Each has some numbers; steps in time, at the end, have the last of them:
 *
 *     length      of its result
 *     operations  that a call takes at most, at any state with angles up to INSERT_ANGLE_MAX rad. Each of
 *                 + - * / sqrt, a comparison and a call of libm is one, a fused multiply-add two, sine and
 *                 cosine together 66. Loops count with all their turns, and solvers with the way that they
 *                 take where a pivot vanishes: most calls take far less.
 *     any_angle   the same for larger angles, if there are sines: 400 more for each
 *     stack       bytes that a call takes at most, with what it calls, as gcc and clang compile it with -O1
 *                 to -O3 or -Os, without AVX, on a processor with registers for such numbers. `make stack`
 *                 tells what your compiler needs for each function alone.
 */
INSERT_KERNELS;
INSERT_STEP;
INSERT_STEP_JACOBIAN;
INSERT_INTEGRATE;

#ifdef __cplusplus
}
#endif
#endif
