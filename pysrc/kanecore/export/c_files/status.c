/* SPDX-License-Identifier: BSD-3-Clause */
/* How functions inside this file end: with the numbers of MODEL.h, and of what integrates. */
typedef enum kc_status {
    INSERT_STATUS,
} kc_status;

typedef void kc_kernel(double t, const double *x, const double *r, const double *c, double *work,
                       double *out);
