/* SPDX-License-Identifier: BSD-3-Clause */
/* Dense output: the polynomials of the methods between the ends of a step, and states inside a step. */
#include "kc_interpolate.h"
#include "kc_rosenbrock.h"
#include "kc_tableaux.h"

/* ----------------------------------------------------------------- cubic, from the slopes at both ends */

/* Hermite's polynomial: h times the slopes at both ends. */
kc_status kc_hermite_dense(const kc_stride *s)
{
    const uint32_t n = kc_n_x(s->run->system);
    const double h = s->next - s->t, *const end = s->k + (uint32_t)s->method->stages * n;
    for (uint32_t i = 0; i < n; i++) {
        s->dense[i] = h * s->k[i];
        s->dense[n + i] = h * end[i];
    }
    return KC_OK;
}

void kc_hermite_interpolate(const kc_step *step, double theta, double *x)
{
    const uint32_t n = kc_n_x(step->system);
    const double s = 1.0 - theta, *f = step->dense;
    for (uint32_t i = 0; i < n; i++) {
        const double a = step->x0[i], change = step->x1[i] - a;
        x[i] = a + theta * (change + s * (s * (f[i] - change) - theta * (f[n + i] - change)));
    }
}

/* ---------------------------------------------------------------------------------------------- dopri5 */

/* The coefficients of theta, theta^2, theta^3, theta^4 (Shampine 1986). */
kc_status kc_dopri5_dense(const kc_stride *s)
{
    const uint32_t n = kc_n_x(s->run->system);
    for (uint32_t d = 0; d < 4; d++)
        for (uint32_t i = 0; i < n; i++) {
            double sum = 0.0;
            for (uint32_t j = 0; j <= KC_DOPRI5_STAGES; j++)
                sum += kc_dopri5_d[d][j] * s->k[j * n + i];
            s->dense[d * n + i] = (s->next - s->t) * sum;
        }
    return KC_OK;
}

void kc_dopri5_interpolate(const kc_step *step, double theta, double *x)
{
    const uint32_t n = kc_n_x(step->system);
    const double *f = step->dense;
    for (uint32_t i = 0; i < n; i++)
        x[i] =
            step->x0[i] + theta * (f[i] + theta * (f[n + i] + theta * (f[2 * n + i] + theta * f[3 * n + i])));
}

/* ---------------------------------------------------------------------------------------------- dop853 */

/* Three more stages and the seven coefficients of the interpolant. */
kc_status kc_dop853_dense(const kc_stride *s)
{
    const uint32_t n = kc_n_x(s->run->system);
    const double h = s->next - s->t, *const k = s->k, *const end = k + KC_DOP853_STAGES * n;
    for (int i = KC_DOP853_STAGES + 1; i < KC_DOP853_EXTENDED; i++) {
        const kc_status status = kc_stage(s, i);
        if (status != KC_OK)
            return status;
    }
    for (uint32_t i = 0; i < n; i++) {
        const double change = s->x1[i] - s->x[i];
        s->dense[i] = change;
        s->dense[n + i] = h * k[i] - change;
        s->dense[2 * n + i] = 2.0 * change - h * (end[i] + k[i]);
        double s3 = 0.0, s4 = 0.0, s5 = 0.0, s6 = 0.0; /* side by side: no sum waits for another */
        for (uint32_t j = 0; j < KC_DOP853_EXTENDED; j++) {
            const double slope = k[j * n + i];
            s3 += kc_dop853_d[0][j] * slope;
            s4 += kc_dop853_d[1][j] * slope;
            s5 += kc_dop853_d[2][j] * slope;
            s6 += kc_dop853_d[3][j] * slope;
        }
        s->dense[3 * n + i] = h * s3;
        s->dense[4 * n + i] = h * s4;
        s->dense[5 * n + i] = h * s5;
        s->dense[6 * n + i] = h * s6;
    }
    return KC_OK;
}

void kc_dop853_interpolate(const kc_step *step, double theta, double *x)
{
    const uint32_t n = kc_n_x(step->system);
    for (uint32_t i = 0; i < n; i++) {
        double y = 0.0;
        for (int j = 6; j >= 0; j--)
            y = (y + step->dense[(uint32_t)j * n + i]) * (j % 2 ? 1.0 - theta : theta);
        x[i] = step->x0[i] + y;
    }
}

/* The interpolant of a linearly implicit method in the form of dop853's, which holds it: of lower degree. */
kc_status kc_rosenbrock_dense_as_dop853(const kc_stride *s)
{
    const uint32_t n = kc_n_x(s->run->system);
    double *const f = s->dense;
    memset(f, 0, sizeof(double) * KC_DOP853_DENSE * n);
    const kc_status status = kc_rosenbrock_dense(s);
    for (uint32_t i = 0; i < n; i++) {
        const double d0 = f[i], d1 = f[n + i], d2 = f[2 * n + i];
        f[i] = s->x1[i] - s->x[i];
        f[n + i] = d0;
        f[2 * n + i] = d1 + d2;
        f[3 * n + i] = -d2;
    }
    return status;
}

/* --------------------------------------------------------------------------------------- of any method */

double kc_smallest_step(double t0, double t1)
{
    return 4.0 * 2.220446049250313e-16 * fmax(fabs(t0), fabs(t1));
}

kc_status kc_interpolate(const kc_step *step, double theta, double *x, double *work)
{
    const kc_system *system = step->system;
    if (step->h == 0.0) { /* an event changed x */
        memcpy(x, step->x1, sizeof(double) * kc_n_x(system));
        return KC_OK;
    }
    step->method->interpolate(step, theta, x);
    if (system->project == NULL)
        return kc_normalize(system->n_unit, system->unit, x);
    const double t = step->t + theta * step->h;
    kc_stats stats = {.t = t};
    kc_run run = kc_begin(system, 1.0, work, &stats);
    run.interval = system->signal->call ? 0 : kc_signal_interval(system->signal, t);
    const kc_status status = kc_return(&run, t, x);
    work[0] = status, work[1] = stats.number;
    return status;
}

static void leave(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)x, (void)r, (void)c, (void)work, (void)out;
}

/* A step of length 1 whose slopes are unit vectors and stay such: the interpolant is linear in them. */
void kc_interpolant(const kc_method *method, double theta, double *w)
{
    enum { MOST = 3 + KC_DOP853_EXTENDED, LENGTH = MOST * MOST };
    const uint32_t n = 3 + (uint32_t)method->extended;
    const kc_signal none = {0};
    const kc_system system = {.rhs = leave, .n_q = n, .signal = &none};
    double ends[3 * MOST] = {0}, k[LENGTH] = {0}, dense[LENGTH] = {0}, y[MOST], work[2 * MOST + 8] = {0};
    double *const x0 = ends, *const x1 = ends + n, *const y1 = ends + 2 * n;
    kc_stats stats = {0};
    const kc_run run = kc_begin(&system, 1.0, work, &stats);
    const kc_stride s = {
        .run = &run, .method = method, .next = 1.0, .x = x0, .x1 = y1, .k = k, .y = y, .dense = dense};
    const kc_step step = {0.0, 1.0, 1.0, x0, x1, dense, method, &system};
    x0[0] = x1[1] = y1[2] = 1.0;
    for (uint32_t i = 3; i < n; i++)
        k[(i - 3) * n + i] = 1.0;
    method->dense(&s);
    method->interpolate(&step, theta, w);
}
