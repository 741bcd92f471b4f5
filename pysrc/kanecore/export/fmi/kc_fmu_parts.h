/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of an instance share: kc_fmu.c, kc_fmu_steps.c and kc_fmu_derivatives.c. */
#ifndef KC_FMU_PARTS_H
#define KC_FMU_PARTS_H

#include "kc_fmu.h"

/* What may belong to the values as they are: bits of kc_fmu.known. */
enum {
    PREPARED = 1,
    SLOPES = 2,
    OUTPUTS = 4,
    BY_WRT = 8,
    BY_T = 16,
    BY_P = 32,
    Y_BY_WRT = 64,
    Y_BY_P = 128,
    Y_BY_UDOT = 256
};

/* Steps that a communication step may try. */
enum { KC_FMU_MOST_STEPS = 10000000 };

/* Whether a value reference is one of n values that begin at `part`. */
static inline int is_in(const kc_fmu *f, uint32_t reference, const double *part, uint32_t n)
{
    const size_t first = (size_t)(part - f->values);
    return reference >= first && reference - first < n;
}

/* What the integrators get. */
kc_system kc_fmu_system(const kc_fmu *f, const kc_signal *signal);

/* Says what a kernel or an integrator met at time t; number: its work[1]. */
kc_fmu_status kc_fmu_fail(const kc_fmu *f, kc_fmu_status status, const char *what, double t, kc_status met,
                          uint32_t number);

/* The prepared constants of the parameters: those of the instance, and those of a model that has the same
 * ones. */
void kc_fmu_prepare(kc_fmu *f);
void kc_fmu_prepare_as(const kc_fmu *f, const kc_model *model, double *c);

/*
 * The n results of a kernel of the model, unless `flag` says that they are known; `what` they are, for
 * messages. The second takes another state and other constants, and asks for no flag.
 */
kc_fmu_status kc_fmu_call(kc_fmu *f, kc_kernel *kernel, const char *what, unsigned flag, double *out,
                          size_t n);

kc_fmu_status kc_fmu_call_at(kc_fmu *f, kc_kernel *kernel, const double *x, const double *c, const char *what,
                             unsigned flag, double *out, size_t n);

/* dx/dt (SLOPES), the outputs (OUTPUTS), or both. */
kc_fmu_status kc_fmu_find(kc_fmu *f, unsigned wanted);

#endif
