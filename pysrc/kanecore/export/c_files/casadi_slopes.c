/* SPDX-License-Identifier: BSD-3-Clause */
/* The function and its Jacobian. */

CA_OUT int MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)
{
    (void)iw;
    const ca_call s = ca_begin_call(arg, w, mem);
    if (!res[0])
        return 0;
    return ca_ask(&s, kernel_rhs, s.x, res[0]);
}

/* The slopes of xdot by t (NX), by x and r (NX, NZ), by p (NX, NP), of those that are wanted. */
typedef struct {
    double *by_t, *by_z, *by_p;
} ca_slopes;

enum { SLOPES_ROOM = NX + NX * NZ + NX * NP };

static int ca_differentiate(const ca_call *s, int by_t, int by_z, int by_p, double *room, ca_slopes *slopes)
{
    *slopes = (ca_slopes){room, room + NX, room + NX + NX * NZ};
    return (by_t && ca_ask(s, kernel_rhs_time_derivative, s->x, slopes->by_t)) ||
           (by_z && ca_ask(s, kernel_linearize, s->x, slopes->by_z)) ||
           (NP > 0 && by_p && ca_ask(s, INSERT_KERNEL_BY_P, s->x, slopes->by_p));
}

CA_OUT int jac_MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)
{
    (void)iw;
    const ca_call s = ca_begin_call(arg, w, mem);
    ca_slopes d;
    if (ca_differentiate(&s, BY_T && res[0], res[1] || res[2], BY_P && res[3], s.rest, &d))
        return 1;
    if (res[0])
        ca_pick_entries(ca_pattern_xdot_t, d.by_t, 1, res[0]);
    if (res[1])
        ca_pick_entries(ca_pattern_xdot_x, d.by_z, NZ, res[1]);
    if (res[2])
        ca_pick_entries(ca_pattern_xdot_r, d.by_z + NX, NZ, res[2]);
    if (res[3])
        ca_pick_entries(ca_pattern_xdot_p, d.by_p, NP, res[3]);
    return 0;
}
