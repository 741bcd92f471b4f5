/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MODEL as a discrete model of acados: one step of MODEL_step, with its Jacobian. Compile it with MODEL.c and
 * the headers of acados and BLASFEO:
 *
 *     ocp.solver_options.integrator_type = "DISCRETE"
 *     ocp.model.dyn_ext_fun_type = "generic"
 *     ocp.model.dyn_generic_source = "MODEL_acados.c"
 *     ocp.model.dyn_disc_fun = "MODEL_acados_fun"
 *     ocp.model.dyn_disc_fun_jac = "MODEL_acados_fun_jac"
 *
 * with ocp.solver_options.hessian_approx = "GAUSS_NEWTON". x and u of acados are x and r here. The step is
 * MODEL_ACADOS_STEP seconds: give it with -DMODEL_ACADOS_STEP=0.02, as it must be the time of one shooting
 * interval. With -DMODEL_ACADOS_PARAMETERS the parameters of acados, n_p of them in the order of MODEL.h, are
 * those of the model; else it has its defaults. Time is 0.
 */
#include "MODEL.h"

#include "acados/utils/external_function_generic.h"
#include "blasfeo/include/blasfeo_d_aux.h"

#ifndef MODEL_ACADOS_STEP
#define MODEL_ACADOS_STEP 0.01
#endif

/* Read x and r, and find the constants of the parameters. */
static int start(void **in, void *params, double *x, double *r, double *c)
{
    struct blasfeo_dvec_args *const x_in = in[0], *const u_in = in[1];
    blasfeo_unpack_dvec(MODEL_n_x, x_in->x, x_in->xi, x, 1);
    blasfeo_unpack_dvec(MODEL_n_r, u_in->x, u_in->xi, r, 1);
#if defined(MODEL_ACADOS_PARAMETERS)
    return MODEL_prepare(params, c);
#else
    (void)params;
    return MODEL_prepare(MODEL_p_default, c);
#endif
}

int MODEL_acados_fun(void **in, void **out, void *params)
{
    double x[MODEL_n_x + 1], r[MODEL_n_r + 1], c[MODEL_n_prepared], work[MODEL_n_work];
    struct blasfeo_dvec_args *const next = out[0];
    int status = start(in, params, x, r, c);
    if (!status)
        status = MODEL_step(0.0, MODEL_ACADOS_STEP, x, r, c, work, x);
    blasfeo_pack_dvec(MODEL_n_x, x, 1, next->x, next->xi);
    return status;
}

/* Behind the state its derivatives, transposed: those with respect to u, then x, are the rows. */
int MODEL_acados_fun_jac(void **in, void **out, void *params)
{
    enum { n = MODEL_n_x, k = MODEL_n_x + MODEL_n_r };
    double x[n + 1], r[MODEL_n_r + 1], c[MODEL_n_prepared], work[MODEL_n_work], jacobian[n * k + 1];
    struct blasfeo_dvec_args *const next = out[0];
    struct blasfeo_dmat_args *const slopes = out[1];
    int status = start(in, params, x, r, c);
    if (!status)
        status = MODEL_step_jacobian(0.0, MODEL_ACADOS_STEP, x, r, c, work, x, jacobian);
    blasfeo_pack_dvec(n, x, 1, next->x, next->xi);
    /* ours row by row is theirs column by column, transposed */
    blasfeo_pack_dmat(MODEL_n_r, n, jacobian + n, k, slopes->A, slopes->ai, slopes->aj);
    blasfeo_pack_dmat(n, n, jacobian, k, slopes->A, slopes->ai + MODEL_n_r, slopes->aj);
    return status;
}
