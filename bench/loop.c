/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop.c: what is timed without Python: a kernel over many states, and two reference loops whose work never
 * changes, so that ratios to them outlive a change of clock, load or machine.  Times are seconds.
 */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <time.h>

#include "kanecore.h"

enum { CHAIN = 1000 };

double time_kernel(kc_kernel *kernel, long n, long n_states, long stride, const double *x, const double *r,
                   const double *c, double *work, double *out);
void time_each(kc_kernel *kernel, long n, long n_states, long stride, const double *x, const double *r,
               const double *c, double *work, double *out, double *seconds);
double time_chain(long n);
double time_sin(long n);

static volatile double sink; /* makes results count: no loop may be optimized away */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* n calls, over the states x[0], x[stride], ... in turn. */
double time_kernel(kc_kernel *kernel, long n, long n_states, long stride, const double *x, const double *r,
                   const double *c, double *work, double *out)
{
    const double start = now();

    for (long i = 0, k = 0; i < n; i++) {
        work[0] = 0.0;
        kernel(0.0, x + k * stride, r, c, work, out);
        if (++k == n_states)
            k = 0;
    }
    sink = out[0];
    return now() - start;
}

/* The same, each call between two readings of the clock; without a kernel the readings alone. */
void time_each(kc_kernel *kernel, long n, long n_states, long stride, const double *x, const double *r,
               const double *c, double *work, double *out, double *seconds)
{
    double start = now();

    for (long i = 0, k = 0; i < n; i++) {
        work[0] = 0.0;
        if (kernel)
            kernel(0.0, x + k * stride, r, c, work, out);
        if (++k == n_states)
            k = 0;
        const double end = now();
        seconds[i] = end - start;
        start = end;
    }
    sink = out[0];
}

/* n chains of 1000 multiplications and additions, each waiting for the last: the processor's clock. */
double time_chain(long n)
{
    const double start = now();

    for (long i = 0; i < n; i++) {
        double z = 1.0 / (double)(i + 1);
        for (int k = 0; k < CHAIN; k++)
            z = z * 0.5 + 0.25;
        sink = z;
    }
    return now() - start;
}

/* n sines of libm. */
double time_sin(long n)
{
    const double start = now();
    double sum = 0.0;

    for (long i = 0; i < n; i++)
        sum += sin(0.1 * (double)(i & 63));
    sink = sum;
    return now() - start;
}
