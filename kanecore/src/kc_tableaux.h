/* SPDX-License-Identifier: BSD-3-Clause */
/* Coefficients of the Runge-Kutta methods, by the letters of Hairer, Norsett & Wanner. */
#ifndef KC_TABLEAUX_H
#define KC_TABLEAUX_H

enum { KC_DOPRI5_STAGES = 6, KC_DOP853_STAGES = 12, KC_DOP853_EXTENDED = 16, KC_DOP853_DENSE = 7 };
enum { KC_RK4_STAGES = 4, KC_RODAS5P_STAGES = 8, KC_ROS34PW2_STAGES = 4 };

/*
 * Stage i is at t + c[i] h and x + h sum_j a[i][j] k_j; stage KC_..._STAGES is the end of the step.  Those
 * after it serve the dense output.  e, e5 and e3 weigh the stages in the error estimates, d in coefficients
 * of the interpolant: all of dopri5's, the last four of dop853's.
 */
extern const double kc_rk4_c[KC_RK4_STAGES + 1];
extern const double kc_rk4_a[KC_RK4_STAGES + 1][KC_RK4_STAGES + 1];

extern const double kc_dopri5_c[KC_DOPRI5_STAGES + 1];
extern const double kc_dopri5_a[KC_DOPRI5_STAGES + 1][KC_DOPRI5_STAGES + 1];
extern const double kc_dopri5_e[KC_DOPRI5_STAGES + 1];
extern const double kc_dopri5_d[4][KC_DOPRI5_STAGES + 1];

extern const double kc_dop853_c[KC_DOP853_EXTENDED];
extern const double kc_dop853_a[KC_DOP853_EXTENDED][KC_DOP853_EXTENDED];
extern const double kc_dop853_e5[KC_DOP853_STAGES + 1];
extern const double kc_dop853_e3[KC_DOP853_STAGES + 1];
extern const double kc_dop853_d[4][KC_DOP853_EXTENDED];

/*
 * Coefficients of linearly implicit methods, as in kc_rosenbrock.h; gamma[0] is gamma.
 */
extern const double kc_rodas5p_a[KC_RODAS5P_STAGES][KC_RODAS5P_STAGES];
extern const double kc_rodas5p_c[KC_RODAS5P_STAGES][KC_RODAS5P_STAGES];
extern const double kc_rodas5p_alpha[KC_RODAS5P_STAGES];
extern const double kc_rodas5p_gamma[KC_RODAS5P_STAGES];
extern const double kc_rodas5p_m[KC_RODAS5P_STAGES];
extern const double kc_rodas5p_e[KC_RODAS5P_STAGES];
extern const double kc_rodas5p_d[3][KC_RODAS5P_STAGES];

extern const double kc_ros34pw2_a[KC_ROS34PW2_STAGES][KC_ROS34PW2_STAGES];
extern const double kc_ros34pw2_c[KC_ROS34PW2_STAGES][KC_ROS34PW2_STAGES];
extern const double kc_ros34pw2_alpha[KC_ROS34PW2_STAGES];
extern const double kc_ros34pw2_gamma[KC_ROS34PW2_STAGES];
extern const double kc_ros34pw2_m[KC_ROS34PW2_STAGES];
extern const double kc_ros34pw2_e[KC_ROS34PW2_STAGES];
extern const double kc_ros34pw2_d[1][KC_ROS34PW2_STAGES];

#endif
