/* Generated from statuses.py by kanecore.build.generated_sources. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
typedef enum kc_status {
    KC_OK = 0, /* the results are there */
    KC_SINGULAR = 1, /* the mass matrix has no pivot; work[1] is the number of the speed, from 0 */
    KC_NONFINITE = 2, /* a result is infinite or not a number */
    KC_STEP_SIZE = 3, /* the next step would be below rounding */
    KC_MAX_STEPS = 4, /* more steps than allowed */
    KC_STOPPED = 5, /* accept() asked for the end */
    KC_CONTRADICTORY = 6, /* a row of G contradicts the others; work[1] is its number */
    KC_LOST = 7, /* a row of G is lost at this state; work[1] is its number */
    KC_UNSATISFIED_ROW = 8, /* project cannot satisfy a row of G; work[1] is its number */
    KC_UNSATISFIED_CONFIGURATION = 9, /* project cannot satisfy a constraint on coordinates; work[1] is its number */
    KC_CHATTER = 10, /* the motion crosses a jump of the slopes forth and back */
    KC_JUMP = 11, /* the constraints ask for a jump of the state */
    KC_STALLED = 12, /* steps shrink, and t comes to an end on the way */
    KC_NO_METHOD = 13, /* there is no such method, or it needs kernels that the library does not hold */
    KC_JAMMED = 14, /* no solution for loads of reactions is connected with that without them; work[1] is the number of the load */
    KC_UNCONVERGED = 15 /* Newton's steps for loads of reactions did not end; work[1] is the number of the load */
} kc_status;
