/* SPDX-License-Identifier: BSD-3-Clause */
/* How functions inside this file end: the numbers that those of MODEL.h return. */
typedef enum kc_status {
    KC_OK = MODEL_ok,
    KC_SINGULAR = MODEL_singular,
    KC_NONFINITE = MODEL_nonfinite,
    KC_STEP_SIZE = 3,
    KC_MAX_STEPS = 4,
    KC_STOPPED = 5,
    KC_CONTRADICTORY = MODEL_contradictory,
    KC_LOST = MODEL_lost,
    KC_UNSATISFIED_ROW = MODEL_unsatisfied_row,
    KC_UNSATISFIED_CONFIGURATION = MODEL_unsatisfied_configuration,
    KC_CHATTER = 10
} kc_status;

typedef void kc_kernel(double t, const double *x, const double *r, const double *c, double *work,
                       double *out);
