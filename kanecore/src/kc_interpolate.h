/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_interpolate.h: dense output of the explicit methods, `dense` and `interpolate` of kc_method. */
#ifndef KC_INTERPOLATE_H
#define KC_INTERPOLATE_H

#include "kc_method.h"

kc_status kc_hermite_dense(const kc_stride *s);
void kc_hermite_interpolate(const kc_step *step, double theta, double *x);

kc_status kc_dopri5_dense(const kc_stride *s);
void kc_dopri5_interpolate(const kc_step *step, double theta, double *x);

kc_status kc_dop853_dense(const kc_stride *s);
void kc_dop853_interpolate(const kc_step *step, double theta, double *x);

/* The polynomial of a linearly implicit method in the form of dop853's, which is of higher degree. */
kc_status kc_rosenbrock_dense_as_dop853(const kc_stride *s);

#endif
