/* SPDX-License-Identifier: BSD-3-Clause */
/* ---------------------------------------------------------------------------------- integration in time */

INSERT_KERNELS;
/* What is handed on after each step. */
static int kc_hand_on(const kc_step *step, void *context)
{
    const MODEL_run *const run = (const MODEL_run *)context;
    return run->accept ? run->accept(step->end, step->x1, run->context) : 0;
}

int MODEL_integrate(MODEL_run *run, const double *r, const double *c, double *work, double *x)
{
    static const char *const methods[] = {
        [MODEL_euler] = "euler",
        [MODEL_rk4] = "rk4",
        [MODEL_dopri5] = "dopri5",
        [MODEL_dop853] = "dop853",
        [MODEL_rosenbrock_w] = "rosenbrock_w",
        [MODEL_auto_w] = "auto_w",
        [MODEL_rosenbrock] = "rosenbrock",
        [MODEL_auto] = "auto",
    };
    static const uint32_t places[] = {INSERT_UNIT};
    if (run->method < 0 || run->method > (INSERT_DERIVATIVES ? MODEL_auto : MODEL_auto_w))
        return MODEL_no_method;
    const kc_method *const method = kc_find_method(methods[run->method]);
    double *const knots = work, *const atol = knots + 2, *const coefficients = atol + MODEL_n_x;
    double *const rest = coefficients + 4 * MODEL_n_r;
    const size_t room = MODEL_n_work - (size_t)(rest - work);
    knots[0] = run->t0, knots[1] = run->t1;
    for (int i = 0; i < MODEL_n_x; i++)
        atol[i] = run->atol;
    for (int i = 0; i < 4 * MODEL_n_r; i++)
        coefficients[i] = i % 4 ? 0.0 : r[i / 4];
    const kc_signal held = {.n_r = MODEL_n_r, .n_knots = 2, .knots = knots, .coefficients = coefficients};
    const kc_system system = {.rhs = kc_call_rhs,
                              .qdot = kc_call_qdot,
                              .n_q = MODEL_n_q,
                              .n_u = MODEL_n_u,
                              .n_z = MODEL_n_x - MODEL_n_q - MODEL_n_u,
                              .n_work = kc_n_work,
                              .c = c,
                              .signal = &held,
                              .n_unit = INSERT_N_UNIT,
                              .unit = places,
                              .project = INSERT_PROJECT,
                              .linearize = INSERT_LINEARIZE,
                              .rhs_time_derivative = INSERT_BY_TIME,
                              .n_constraints = INSERT_N_CONSTRAINTS,
                              .n_prepared = MODEL_n_prepared};
    const double span = fabs(run->t1 - run->t0);
    const kc_plan plan = {.method = method,
                          .t0 = run->t0,
                          .t1 = run->t1,
                          .step = run->step,
                          .rtol = run->rtol,
                          .atol = atol,
                          .max_step = run->max_step > 0.0 ? run->max_step : span,
                          .max_steps = run->max_steps > 0 ? (uint64_t)run->max_steps : 1000000,
                          .accept = kc_hand_on,
                          .context = run,
                          .interpolate_from = &held.knots[1]};
    kc_stats stats = {0};
    if (kc_ode_work(&system, method) > room)
        return MODEL_no_method;
    const kc_status status = kc_integrate(&system, &plan, x, rest, &stats);
    run->accepted = (long)stats.accepted, run->rejected = (long)stats.rejected;
    run->evaluations = (long)stats.evaluations;
    return (int)status;
}
