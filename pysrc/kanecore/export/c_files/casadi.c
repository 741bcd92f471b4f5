/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model as functions that CasADi calls by its external interface: MODEL, f(t, x, r, p) = xdot, with its
 * Jacobian jac_MODEL, its adjoint adj1_MODEL, and the Jacobian of that, jac_adj1_MODEL, which holds exact
 * Hessians.
 *
 * An argument that is NULL is zero, a result that is NULL is wanted by nobody. A function returns 1 where the
 * equations have no solution. Nothing allocates memory; all scratch is CasADi's `w`.
 */
#if defined(_WIN32)
#define CA_OUT __declspec(dllexport)
#elif defined(__GNUC__)
#define CA_OUT __attribute__((visibility("default")))
#else
#define CA_OUT
#endif

enum {
    NQ = INSERT_NQ,
    NU = INSERT_NU,
    NX = NQ + NU,
    NR = INSERT_NR,
    NP = INSERT_NP,
    NM = INSERT_NM, /* rows of G */
    NC = INSERT_NC, /* prepared constants */
    NWORK = INSERT_NWORK,
    BY_T = INSERT_BY_T, /* whether derivatives by t and by p are wanted at all */
    BY_P = INSERT_BY_P,
    NZ = NX + NR,              /* x and r, by which second derivatives are exact */
    NY = NU + NM,              /* udot and lambda */
    BEYOND = NX + NY + NX + NM /* where the direction begins in what the kernel of second derivatives reads */
};

/* ------------------------------------------------------------------------------------- constants of
 * parameters */

/*
 * Whoever checks out a memory gets a place that keeps the constants of the parameters of the last call, which
 * for constrained models take longer than the motion. Memory 0 has none: it is that of those who came too
 * late.
 */
enum { PLACES = 64 };
typedef struct {
    int taken, filled;
    double p[NP + 1], c[NC + 1];
} ca_constants;
static ca_constants ca_kept[PLACES];

static int ca_take_place(void)
{
#if defined(__GNUC__)
    for (int i = 1; i < PLACES; i++)
        if (__sync_bool_compare_and_swap(&ca_kept[i].taken, 0, 1)) {
            ca_kept[i].filled = 0;
            return i;
        }
#endif
    return 0;
}

static void ca_leave_place(int mem)
{
#if defined(__GNUC__)
    if (mem > 0 && mem < PLACES)
        __sync_lock_release(&ca_kept[mem].taken);
#else
    (void)mem;
#endif
}

/* ---------------------------------------------------------------------------------------------------
 * arguments */

typedef struct {
    double t;
    const double *x, *r, *p, *c;
    double *work, *rest; /* of kernels, and what is free behind it */
} ca_call;

static const double ca_zeros[NX + NR + NP + 1];

static const double *ca_or_zeros(const double *argument)
{
    return argument ? argument : ca_zeros;
}

/* The same bits: a NaN is that of the call before. */
static int ca_same(int n, const double *a, const double *b)
{
    int same = 1;
    for (int i = 0; i < n; i++)
        same &= a[i] == b[i];
    return same;
}

/* `w` begins with room for constants and kernels. */
static ca_call ca_begin_call(const double **arg, double *w, int mem)
{
    ca_call s = {arg[0] ? arg[0][0] : 0.0,
                 ca_or_zeros(arg[1]),
                 ca_or_zeros(arg[2]),
                 ca_or_zeros(arg[3]),
                 w,
                 w + NC,
                 w + NC + NWORK};
    if (mem > 0 && mem < PLACES) {
        ca_constants *const place = ca_kept + mem;
        if (!place->filled || !ca_same(NP, place->p, s.p)) {
            for (int i = 0; i < NP; i++)
                place->p[i] = s.p[i];
            prepare(s.p, place->c);
            place->filled = 1;
        }
        s.c = place->c;
    } else
        prepare(s.p, w);
    return s;
}

/* Call a kernel at x, or at what goes on behind it; 1 where it finds no solution. */
static int ca_ask(const ca_call *s, kc_kernel *kernel, const double *x, double *out)
{
    s->work[0] = 0.0;
    kernel(s->t, x, s->r, s->c, s->work, out);
    return s->work[0] != 0.0;
}

/* ---------------------------------------------------------------------------------------------------
 * sparsity */

typedef INSERT_INTEGER casadi_int;
INSERT_SPARSITY;

/* The entries of a pattern, column by column, from a matrix that is stored row by row with `width` columns.
 */
static void ca_pick_entries(const casadi_int *pattern, const double *matrix, int width, double *out)
{
    const casadi_int n = pattern[1], *const begin = pattern + 2, *const row = begin + n + 1;
    for (casadi_int j = 0; j < n; j++)
        for (casadi_int k = begin[j]; k < begin[j + 1]; k++)
            out[k] = matrix[row[k] * width + j];
}

/* The same of its transpose. */
static void ca_pick_transposed(const casadi_int *pattern, const double *matrix, int width, double *out)
{
    const casadi_int n = pattern[1], *const begin = pattern + 2, *const row = begin + n + 1;
    for (casadi_int j = 0; j < n; j++)
        for (casadi_int k = begin[j]; k < begin[j + 1]; k++)
            out[k] = matrix[j * width + row[k]];
}

/* ----------------------------------------------------------------------------------- the function and its
 * Jacobian */

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

/* ----------------------------------------------------------------------------------------------------
 * adjoint */

/* out = slopes' weights, n columns of a matrix that has `width`. */
static void ca_transposed_product(int n, int width, const double *slopes, const double *weights, double *out)
{
    for (int j = 0; j < n; j++)
        out[j] = 0.0;
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < n; j++)
            out[j] += weights[i] * slopes[i * width + j];
}

CA_OUT int adj1_MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)
{
    (void)iw;
    const ca_call s = ca_begin_call(arg, w, mem);
    const double *const weights = ca_or_zeros(arg[5]);
    ca_slopes d;
    if (ca_differentiate(&s, BY_T && res[0], res[1] || res[2], BY_P && res[3], s.rest, &d))
        return 1;
    if (BY_T && res[0])
        ca_transposed_product(1, 1, d.by_t, weights, res[0]);
    if (res[1])
        ca_transposed_product(NX, NZ, d.by_z, weights, res[1]);
    if (res[2])
        ca_transposed_product(NR, NZ, d.by_z + NX, weights, res[2]);
    if (BY_P && res[3])
        ca_transposed_product(NP, NP, d.by_p, weights, res[3]);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------
 * Hessians */

enum {
    HESSIAN_ROOM = NX * NZ + NY * NZ + NU * NU + NM * NU + NY * NY + NY + NY * NZ + 3 * NY + BEYOND + NZ +
    NY + NZ + NY + NU + NU * NZ
};

/* The equations F_y, or their transpose, where rows of G that are zero say nothing. */
static void ca_fill_slopes(const double *mass, const double *rows, int transposed, double *out)
{
    for (int i = 0; i < NY; i++)
        for (int j = 0; j < NY; j++) {
            double entry = 0.0;
            if (i < NU && j < NU)
                entry = -(transposed ? mass[j * NU + i] : mass[i * NU + j]);
            else if (i < NU)
                entry = rows[(j - NU) * NU + i];
            else if (j < NU)
                entry = rows[(i - NU) * NU + j];
            out[i * NY + j] = entry;
        }
    for (int k = 0; k < NM; k++) {
        int none = 1;
        for (int j = 0; j < NU; j++)
            none &= rows[k * NU + j] == 0.0;
        if (none)
            out[(NU + k) * NY + NU + k] = 1.0;
    }
}

/*
 * H (NZ, NZ) of weights xdot by x and r. With y = (udot, lambda), the equations F(z, y) = (R, S) = 0 of
 * `linearize`, and a such that w_u + F_y' a = 0, second derivatives of w xdot are those of L = w_q qdot + a F
 * along the motion,
 *
 *     H = L_zz + L_zy Y + (L_zy Y)' + Y' L_yy Y,    Y = dy/dz.
 */
static int ca_hessian(const ca_call *s, const double *weights, double *room, double *H)
{
    double *const slopes = room, *const Y = slopes + NX * NZ, *const mass = Y + NY * NZ;
    double *const rows = mass + NU * NU, *const matrix = rows + NM * NU, *const a = matrix + NY * NY;
    double *const sides = a + NY, *const factor = sides + NY * NZ, *const at = factor + 3 * NY;
    double *const direction = at + BEYOND, *const changes = direction + NZ + NY;
    int place[NY + 1];
    if (ca_ask(s, kernel_linearize, s->x, slopes) || ca_ask(s, kernel_udot, s->x, at + NX) ||
        ca_ask(s, kernel_mass_matrix, s->x, mass))
        return 1;
    INSERT_ROWS;
    for (int i = 0; i < NX; i++)
        at[i] = s->x[i];
    for (int i = 0; i < NY; i++)
        a[i] = i < NU ? -weights[NQ + i] : 0.0;
    ca_fill_slopes(mass, rows, 1, matrix);
    if (kc_eliminate(NY, 1, matrix, a, factor, place))
        return 1;
    for (int i = 0; i < NQ; i++)
        at[NX + NY + i] = weights[i];
    for (int i = 0; i < NY; i++)
        at[NX + NY + NQ + i] = a[i];
    for (int i = 0; i < NU; i++)
        for (int j = 0; j < NZ; j++)
            Y[i * NZ + j] = slopes[(NQ + i) * NZ + j];
    for (int i = 0; i < NZ + NY; i++)
        direction[i] = 0.0;
    if (NM > 0) { /* dlambda from G' dlambda = M dudot - dR, where dR is that at constant y */
        for (int j = 0; j < NZ; j++) {
            direction[j] = 1.0;
            ca_ask(s, kernel_hessian_products, at, changes);
            direction[j] = 0.0;
            for (int i = 0; i < NY; i++) {
                double side = 0.0;
                if (i < NU) {
                    side = -changes[NZ + NY + i];
                    for (int k = 0; k < NU; k++)
                        side += mass[i * NU + k] * Y[k * NZ + j];
                }
                sides[i * NZ + j] = side;
            }
        }
        ca_fill_slopes(mass, rows, 0, matrix);
        if (kc_eliminate(NY, NZ, matrix, sides, factor, place))
            return 1;
        for (int i = NU; i < NY; i++)
            for (int j = 0; j < NZ; j++)
                Y[i * NZ + j] = sides[i * NZ + j];
    }
    for (int j = 0; j < NZ; j++) {
        for (int i = 0; i < NY; i++)
            direction[NZ + i] = Y[i * NZ + j];
        direction[j] = 1.0;
        ca_ask(s, kernel_hessian_products, at, changes);
        direction[j] = 0.0;
        for (int i = 0; i < NZ; i++) {
            double sum = changes[i];
            for (int k = 0; k < NY; k++)
                sum += Y[k * NZ + i] * changes[NZ + k];
            H[i * NZ + j] = sum;
        }
    }
    for (int i = 0; i < NZ; i++)
        for (int j = 0; j < i; j++)
            H[i * NZ + j] = H[j * NZ + i] = 0.5 * (H[i * NZ + j] + H[j * NZ + i]);
    return 0;
}

/* The gradient of weights xdot by t, x, r, p, one after the other. */
static int ca_gradient(const ca_call *s, const double *weights, double *room, double *out)
{
    ca_slopes d;
    if (ca_differentiate(s, 1, 1, 1, room, &d))
        return 1;
    ca_transposed_product(1, 1, d.by_t, weights, out);
    ca_transposed_product(NZ, NZ, d.by_z, weights, out + 1);
    ca_transposed_product(NP, NP, d.by_p, weights, out + 1 + NZ);
    return 0;
}

enum { ALL = 1 + NZ + NP, MIXED_ROOM = 4 * ALL + NP + NC };

/*
 * The change of that gradient with t (column 0) or parameter k - 1: by a difference of order 4 of exact first
 * derivatives, at changes of 2^-11 beside the number.
 */
static int ca_mixed(const ca_call *s, const double *weights, int k, double *room, double *out)
{
    static const double steps[4] = {-2.0, -1.0, 1.0, 2.0}, factors[4] = {1.0, -8.0, 8.0, -1.0};
    double *const values = room, *const p = values + 4 * ALL, *const c = p + NP, *const rest = c + NC;
    const double base = k == 0 ? s->t : s->p[k - 1], h = 0x1p-11 * (base != 0.0 ? fabs(base) : 1.0);
    for (int i = 0; i < 4; i++) {
        ca_call moved = *s;
        if (k == 0)
            moved.t += steps[i] * h;
        else {
            for (int j = 0; j < NP; j++)
                p[j] = s->p[j];
            p[k - 1] += steps[i] * h;
            prepare(p, c);
            moved.p = p, moved.c = c;
        }
        if (ca_gradient(&moved, weights, rest, values + i * ALL))
            return 1;
    }
    for (int j = 0; j < ALL; j++) {
        out[j] = 0.0;
        for (int i = 0; i < 4; i++)
            out[j] += factors[i] * values[i * ALL + j];
        out[j] /= 12.0 * h;
    }
    return 0;
}

/* Results are numbered 6 (which of adj_t, adj_x, adj_r, adj_p) + by which of t, x, r, p, out_xdot, adj_xdot.
 */
CA_OUT int jac_adj1_MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)
{
    (void)iw;
    static const int first[4] = {0, 1, 1 + NX, 1 + NZ}; /* of t, x, r, p among all variables */
    const ca_call s = ca_begin_call(arg, w, mem);
    const double *const weights = ca_or_zeros(arg[5]);
    double *const all = s.rest, *const H = all + (size_t)ALL * ALL, *const room = H + NZ * NZ;
    int exact = 0, by_t = 0, by_p = 0, by_weights = 0;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            const int wanted = res[6 * i + j] != NULL &&
                               ca_patterns_of_second[6 * i + j][2 + ca_patterns_of_second[6 * i + j][1]] > 0;
            exact |= wanted && (i == 1 || i == 2) && (j == 1 || j == 2);
            by_t |= wanted && (i == 0 || j == 0);
            by_p |= wanted && (i == 3 || j == 3);
        }
        by_weights |= res[6 * i + 5] != NULL;
    }
    if (by_weights) {
        ca_slopes d;
        if (ca_differentiate(&s, BY_T && res[5], res[11] || res[17], BY_P && res[23], room, &d))
            return 1;
        if (res[5])
            ca_pick_transposed(ca_patterns_of_second[5], d.by_t, 1, res[5]);
        if (res[11])
            ca_pick_transposed(ca_patterns_of_second[11], d.by_z, NZ, res[11]);
        if (res[17])
            ca_pick_transposed(ca_patterns_of_second[17], d.by_z + NX, NZ, res[17]);
        if (res[23])
            ca_pick_transposed(ca_patterns_of_second[23], d.by_p, NP, res[23]);
    }
    if (exact && ca_hessian(&s, weights, room, H))
        return 1;
    for (int i = 0; exact && i < NZ; i++)
        for (int j = 0; j < NZ; j++)
            all[(1 + i) * ALL + 1 + j] = H[i * NZ + j];
    for (int k = 0; k <= NP; k++) {
        const int column = k == 0 ? 0 : NZ + k;
        if (!(k == 0 ? by_t : by_p))
            continue;
        if (ca_mixed(&s, weights, k, room + ALL, room))
            return 1;
        for (int i = 0; i < ALL; i++)
            all[i * ALL + column] = all[column * ALL + i] = room[i];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (res[6 * i + j])
                ca_pick_entries(ca_patterns_of_second[6 * i + j], all + first[i] * ALL + first[j], ALL,
                                res[6 * i + j]);
    return 0;
}

/* ------------------------------------------------------------------------------------ what CasADi asks of
 * each */

#define CA_MOST_ROOM(a, b) ((a) > (b) ? (a) : (b))
enum {
    FIRST_ROOM = NC + NWORK + SLOPES_ROOM,
    SECOND_ROOM = NC + NWORK + ALL * ALL + NZ * NZ +
        CA_MOST_ROOM(HESSIAN_ROOM, ALL + MIXED_ROOM + SLOPES_ROOM)
};

#define CA_FUNCTION(name, n_in, n_out, room, inputs, outputs, patterns_in, patterns_out)                     \
    CA_OUT casadi_int name##_n_in(void)                                                                      \
    {                                                                                                        \
        return n_in;                                                                                         \
    }                                                                                                        \
    CA_OUT casadi_int name##_n_out(void)                                                                     \
    {                                                                                                        \
        return n_out;                                                                                        \
    }                                                                                                        \
    CA_OUT const char *name##_name_in(casadi_int i)                                                          \
    {                                                                                                        \
        return inputs[i];                                                                                    \
    }                                                                                                        \
    CA_OUT const char *name##_name_out(casadi_int i)                                                         \
    {                                                                                                        \
        return outputs[i];                                                                                   \
    }                                                                                                        \
    CA_OUT const casadi_int *name##_sparsity_in(casadi_int i)                                                \
    {                                                                                                        \
        return patterns_in[i];                                                                               \
    }                                                                                                        \
    CA_OUT const casadi_int *name##_sparsity_out(casadi_int i)                                               \
    {                                                                                                        \
        return patterns_out[i];                                                                              \
    }                                                                                                        \
    CA_OUT int name##_work(casadi_int *n_arg, casadi_int *n_res, casadi_int *n_iw, casadi_int *n_w)          \
    {                                                                                                        \
        if (n_arg)                                                                                           \
            *n_arg = n_in;                                                                                   \
        if (n_res)                                                                                           \
            *n_res = n_out;                                                                                  \
        if (n_iw)                                                                                            \
            *n_iw = 0;                                                                                       \
        if (n_w)                                                                                             \
            *n_w = room;                                                                                     \
        return 0;                                                                                            \
    }                                                                                                        \
    CA_OUT int name##_alloc_mem(void)                                                                        \
    {                                                                                                        \
        return 0;                                                                                            \
    }                                                                                                        \
    CA_OUT int name##_init_mem(int mem)                                                                      \
    {                                                                                                        \
        (void)mem;                                                                                           \
        return 0;                                                                                            \
    }                                                                                                        \
    CA_OUT void name##_free_mem(int mem)                                                                     \
    {                                                                                                        \
        (void)mem;                                                                                           \
    }                                                                                                        \
    CA_OUT int name##_checkout(void)                                                                         \
    {                                                                                                        \
        return ca_take_place();                                                                              \
    }                                                                                                        \
    CA_OUT void name##_release(int mem)                                                                      \
    {                                                                                                        \
        ca_leave_place(mem);                                                                                 \
    }                                                                                                        \
    CA_OUT void name##_incref(void)                                                                          \
    {                                                                                                        \
    }                                                                                                        \
    CA_OUT void name##_decref(void)                                                                          \
    {                                                                                                        \
    }

static const char *const ca_inputs_of[] = {"t",        "x",         "r",         "p",         "out_xdot",
                                           "adj_xdot", "out_adj_t", "out_adj_x", "out_adj_r", "out_adj_p"};
static const char *const ca_inputs_of_jac[] = {"t", "x", "r", "p", "out_xdot"};
static const char *const ca_rates[] = {"xdot"};
static const char *const ca_jac_names[] = {"jac_xdot_t", "jac_xdot_x", "jac_xdot_r", "jac_xdot_p"};
static const char *const ca_adj_names[] = {"adj_t", "adj_x", "adj_r", "adj_p"};
INSERT_NAMES;

CA_FUNCTION(MODEL, 4, 1, FIRST_ROOM, ca_inputs_of, ca_rates, ca_patterns_in, ca_patterns_rates)
CA_FUNCTION(jac_MODEL, 5, 4, FIRST_ROOM, ca_inputs_of_jac, ca_jac_names, ca_patterns_in, ca_patterns_jac)
CA_FUNCTION(adj1_MODEL, 6, 4, FIRST_ROOM, ca_inputs_of, ca_adj_names, ca_patterns_in, ca_patterns_adj)
CA_FUNCTION(jac_adj1_MODEL, 10, 24, SECOND_ROOM, ca_inputs_of, ca_second_names, ca_patterns_in,
            ca_patterns_of_second)
