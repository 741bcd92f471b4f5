/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loop at 1 kHz: it reads the state, finds the inputs, and lets the model take a step in place of the
 * mechanism. On a microcontroller a timer calls what stands in the loop, sensors give x, and motors take r.
 */
#if defined(__unix__) || defined(__APPLE__)
#define _POSIX_C_SOURCE 200112L
#endif
#include "MODEL.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

/* Until the next period begins. */
static void wait_for_next(void)
{
#if defined(CLOCK_MONOTONIC) && !defined(__APPLE__)
    static struct timespec next;
    if (next.tv_sec == 0 && next.tv_nsec == 0)
        clock_gettime(CLOCK_MONOTONIC, &next);
    next.tv_nsec += 1000000;
    if (next.tv_nsec >= 1000000000)
        next.tv_nsec -= 1000000000, next.tv_sec++;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
#endif
}

/* Your controller: the inputs r at time t and state x.  Here they stay as they were when the model was
 * exported. */
static void control(MODEL_real t, const MODEL_real *x, MODEL_real *r)
{
    (void)t, (void)x;
    for (int i = 0; i < MODEL_n_r; i++)
        r[i] = isnan(MODEL_r_default[i]) ? 0 : MODEL_r_default[i];
}

int main(void)
{
    static MODEL_real c[MODEL_n_prepared], work[MODEL_n_work], r[MODEL_n_r + 1];
    static MODEL_real x[MODEL_n_x + 1] = {INSERT_STATE};
    const MODEL_real h = (MODEL_real)1 / 1000;
    if (MODEL_prepare(MODEL_p_default, c) != MODEL_ok) {
        printf("parameters had no value when the model was exported: give prepare() an array with yours\n");
        return 1;
    }
    for (int k = 0; k < 1000; k++) {
        const MODEL_real t = (MODEL_real)k * h;
        control(t, x, r);
        int status = MODEL_step(t, h, x, r, c, work, x);
        INSERT_PROJECT;
        if (status) {
            printf("at %g s: status %d\n", (double)t, status);
            return 1;
        }
        wait_for_next();
        if (k % 100 == 99) {
            printf("%5.3f s ", (double)(t + h));
            for (int i = 0; i < MODEL_n_x; i++)
                printf(" %10.6f", (double)x[i]);
            printf("\n");
        }
    }
    return 0;
}
