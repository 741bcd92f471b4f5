/* SPDX-License-Identifier: BSD-3-Clause */
/* The function, its Jacobian, and its changes along directions. */

CA_OUT int MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)
{
    (void)iw;
    const ca_call s = ca_begin_call(arg, w, mem);
    if (!res[0])
        return 0;
    return ca_ask(&s, kernel_rhs, s.x, res[0]);
}

/* Of t, x, r and p: how many numbers, whether derivatives by them are wanted, and where they stand in v. */
static const int ca_numbers[4] = {1, NX, NR, NP}, ca_wanted[4] = {BY_T, BY_X, BY_R, BY_P};
static const int ca_first[4] = {0, AT_X, AT_R, AT_P};

/* The slopes of xdot by t, x, r and p, of those that are asked for: row i begins at [i * ca_widths]. */
typedef struct {
    double *by[4];
} ca_slopes;

enum { SLOPES_ROOM = NX + NX * NZ + NX * NP };
static const int ca_widths[4] = {1, NZ, NZ, NP};

static int ca_differentiate(const ca_call *s, const int asked[4], double *room, ca_slopes *slopes)
{
    double *const by_z = room + NX, *const by_p = by_z + NX * NZ;
    *slopes = (ca_slopes){{room, by_z, by_z + NX, by_p}};
    return (BY_T && asked[0] && ca_ask(s, kernel_rhs_time_derivative, s->x, room)) ||
           (NX > 0 && (asked[1] || asked[2]) && ca_ask(s, kernel_linearize, s->x, by_z)) ||
           (BY_P && NP > 0 && asked[3] && ca_ask(s, INSERT_KERNEL_BY_P, s->x, by_p));
}

CA_OUT int jac_MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)
{
    (void)iw;
    const ca_call s = ca_begin_call(arg, w, mem);
    ca_slopes slopes;
    if (ca_differentiate(&s, (const int[]){!!res[0], !!res[1], !!res[2], !!res[3]}, s.rest, &slopes))
        return 1;
    for (int g = 0; g < 4; g++)
        if (res[g])
            ca_pick_entries(ca_patterns_jac[g], slopes.by[g], ca_widths[g], res[g]);
    return 0;
}

/* out += a matrix of NX rows, `width` numbers apart, times n directions of m numbers each; NULL is zero. */
static void ca_add_products(const double *matrix, int width, int n, int m, const double *directions,
                            double *out)
{
    for (int k = 0; directions && k < n; k++)
        for (int j = 0; j < m; j++) {
            const double factor = directions[k * m + j]; /* most are zero */
            for (int i = 0; factor != 0.0 && i < NX; i++)
                out[k * NX + i] += matrix[i * width + j] * factor;
        }
}

/* out = the slopes times n directions of t, x, r and p. */
static int ca_multiply(const ca_call *s, int n, const double *const seeds[4], double *room, double *out)
{
    ca_slopes slopes;
    if (ca_differentiate(s, (const int[]){!!seeds[0], !!seeds[1], !!seeds[2], !!seeds[3]}, room, &slopes))
        return 1;
    for (int i = 0; i < n * NX; i++)
        out[i] = 0.0;
    for (int g = 0; g < 4; g++)
        ca_add_products(slopes.by[g], ca_widths[g], n, ca_numbers[g], seeds[g], out);
    return 0;
}

/* n directions of t, x, r and p, of those that are wanted. */
static void ca_take_directions(int n, const double **arg, const double *seeds[4])
{
    for (int g = 0; g < 4; g++)
        seeds[g] = ca_wanted[g] ? ca_unless_zero(n * ca_numbers[g], arg[g]) : NULL;
}

/* The changes of xdot along n directions. */
static int ca_forward(int n, const double **arg, double **res, double *w, int mem)
{
    const ca_call s = ca_begin_call(arg, w, mem);
    const double *seeds[4];
    ca_take_directions(n, arg + 5, seeds);
    return res[0] && ca_multiply(&s, n, seeds, s.rest, res[0]);
}
