/* SPDX-License-Identifier: BSD-3-Clause */
/* Coefficients of the Runge-Kutta methods. */
#ifndef KC_TABLEAUX_H
#define KC_TABLEAUX_H

enum { KC_DOP853_STAGES = 12, KC_DOP853_EXTENDED = 16 };

/*
 * Stage i is at t + c[i] h and x + h sum_j a[i][j] k_j; stage 12 is the end of the step, stages 13 to
 * 15 serve the dense output.  e5 and e3 weigh the stages in the error estimates, d those of the last
 * four coefficients of the interpolant.
 */
extern const double kc_dop853_c[KC_DOP853_EXTENDED];
extern const double kc_dop853_a[KC_DOP853_EXTENDED][KC_DOP853_EXTENDED];
extern const double kc_dop853_e5[KC_DOP853_STAGES + 1];
extern const double kc_dop853_e3[KC_DOP853_STAGES + 1];
extern const double kc_dop853_d[4][KC_DOP853_EXTENDED];

#endif
