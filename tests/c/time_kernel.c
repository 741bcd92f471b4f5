/* SPDX-License-Identifier: BSD-3-Clause */
/* time_kernel.c: seconds that n calls of a kernel take in C. */
#define _POSIX_C_SOURCE 199309L
#include <time.h>

#include "kanecore.h"

double time_kernel(kc_kernel *kernel, const double *x, const double *r, const double *c, double *work,
                   double *out, long n);

double time_kernel(kc_kernel *kernel, const double *x, const double *r, const double *c, double *work,
                   double *out, long n)
{
    struct timespec start, end;

    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long i = 0; i < n; ++i) {
        work[0] = 0.0;
        kernel(0.0, x, r, c, work, out);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}
