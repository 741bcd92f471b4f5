/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model as functions that CasADi calls by its external interface: MODEL, f(t, x, r, p) = xdot, with its
 * Jacobian jac_MODEL, its adjoint adj1_MODEL, and the Jacobian of that, jac_adj1_MODEL, which holds exact
 * Hessians.
 *
 * An argument that is NULL is zero, a result that is NULL is wanted by nobody. A function returns 1 where the
 * equations have no solution. Nothing allocates memory; all scratch is CasADi's `w`.
 */
#include <string.h>

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
    /* variables by which derivatives are wanted at all, where they begin among these, and how many there are
     */
    BY_T = INSERT_BY_T,
    BY_X = INSERT_BY_X,
    BY_R = INSERT_BY_R,
    BY_P = INSERT_BY_P,
    AT_X = BY_T,
    AT_R = AT_X + BY_X * NX,
    AT_P = AT_R + BY_R * NR,
    NV = AT_P + BY_P * NP,
    NZ = NX + NR,      /* the columns of linearize */
    NY = NU + NM,      /* y = (udot, lambda) */
    NA = NQ + NY,      /* weights of qdot, then multipliers a of F */
    ND = NV + NY + NA, /* of a direction */
    PLACE = NX + NY + NA,
    WIDTH = INSERT_WIDTH /* packs of scratch */
};

/* ------------------------------------------------------------------------------------- constants of
 * parameters */

/*
 * Whoever checks out a memory finds there what an earlier call left, be it another's: CasADi checks one out
 * for every call. It keeps the constants of the parameters, which for constrained models take longer than the
 * motion; the place of derivatives; and rows of the Jacobian and columns of the Hessian there, as far as they
 * were asked for: CasADi asks for 13 sparse directions, say, one by one. All of that serves the very same
 * numbers only, and changes no bit. Memory 0 keeps nothing: it is that of those who came too late.
 */
enum { PLACES = 32, ROW_BLOCKS = NX / KC_PACK + 1, BLOCKS = NV / KC_PACK + 1 };
typedef struct {
    int taken, filled, there, weighed;
    double t, x[NX], r[NR + 1], w[NX], p[NP + 1], c[NC + 1];
    double at[PLACE], inverse[NY * NY];
    int has_rows[ROW_BLOCKS], has_columns[BLOCKS];
    double rows[NX * NV + 1], columns[NV * NV + 1];
} ca_memory;
static ca_memory ca_memories[PLACES];

static int ca_take_memory(void)
{
#if defined(__GNUC__)
    for (int i = 1; i < PLACES; i++)
        if (__sync_bool_compare_and_swap(&ca_memories[i].taken, 0, 1))
            return i;
#endif
    return 0;
}

static void ca_leave_memory(int mem)
{
#if defined(__GNUC__)
    if (mem > 0 && mem < PLACES)
        __sync_lock_release(&ca_memories[mem].taken);
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
    ca_memory *memory;   /* NULL: none */
} ca_call;

static const double ca_zeros[NX + NR + NP + 1];

static const double *ca_or_zeros(const double *argument)
{
    return argument ? argument : ca_zeros;
}

static void ca_copy(int n, const double *from, double *to)
{
    memcpy(to, from, (size_t)n * sizeof(double));
}

/* The same bits. */
static int ca_same(int n, const double *a, const double *b)
{
    return memcmp(a, b, (size_t)n * sizeof(double)) == 0;
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
                 w + NC + NWORK,
                 mem > 0 && mem < PLACES ? ca_memories + mem : NULL};
    if (!s.memory) {
        prepare(s.p, w);
        return s;
    }
    if (!s.memory->filled || !ca_same(NP, s.memory->p, s.p)) {
        ca_copy(NP, s.p, s.memory->p);
        prepare(s.p, s.memory->c);
        s.memory->filled = 1, s.memory->there = 0;
    }
    s.c = s.memory->c;
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
 * one pass backwards */

/*
 * Where derivatives are taken: x, then y = (udot, lambda) that solves F(v, y) = 0, then the weights of qdot
 * and the multipliers a of F, as kanecore/derive/adjoints.py says; with the inverse of F_y.
 */
typedef struct {
    double *at, *inverse;
    kc_loose_pack *d; /* a direction, and room behind it */
} ca_place;

enum { PLACE_ROOM = PLACE + 2 * NY * NY + NU * NU + NM * NU + 3 * NY };

/* F_y, where rows of G that are zero say nothing. Returns how many others there are. */
static int ca_fill_slopes(const double *mass, const double *rows, double *out)
{
    int n = 0;
    for (int i = 0; i < NY; i++)
        for (int j = 0; j < NY; j++)
            out[i * NY + j] = i < NU && j < NU ? -mass[i * NU + j]
                              : i < NU         ? rows[(j - NU) * NU + i]
                              : j < NU         ? rows[(i - NU) * NU + j]
                                               : 0.0;
    for (int k = 0; k < NM; k++) {
        int some = 0;
        for (int j = 0; j < NU; j++)
            some |= rows[k * NU + j] != 0.0;
        n += some;
        if (!some)
            out[(NU + k) * NY + NU + k] = 1.0;
    }
    return n;
}

/* The inverse of -M, which is positive definite nearly always. Returns whether it is. */
static int ca_invert_mass(const double *mass, double *matrix, double *factor, double *inverse)
{
    for (int i = 0; i < NU * NU; i++)
        matrix[i] = mass[i];
    if (!INSERT_SYMMETRIC || NM > 0 || !kc_factor(NU, matrix, factor))
        return 0;
    for (int i = 0; i < NU; i++)
        for (int j = 0; j < NU; j++)
            inverse[i * NU + j] = i == j ? -1.0 : 0.0;
    kc_substitute(NU, NU, matrix, inverse);
    return 1;
}

/*
 * Find the place, at which weights are whatever they were. Returns 1 where the equations have no solution, 2
 * where rows of G are redundant.
 */
static int ca_go_to(const ca_call *s, double *room, ca_place *place)
{
    ca_memory *const memory = s->memory;
    *place = (ca_place){memory ? memory->at : room, memory ? memory->inverse : room + PLACE,
                        (kc_loose_pack *)(room + PLACE_ROOM)};
    if (memory && memory->there && ca_same(1, &s->t, &memory->t) && ca_same(NX, s->x, memory->x) &&
        ca_same(NR, s->r, memory->r))
        return 0;
    double *const at = place->at, *const mass = room + PLACE + NY * NY, *const rows = mass + NU * NU;
    double *const matrix = rows + NM * NU, *const factor = matrix + NY * NY;
    int order[NY + 1];
    if (memory)
        memory->there = 0;
    ca_copy(NX, s->x, at);
    if (ca_ask(s, kernel_udot, s->x, at + NX) || ca_ask(s, kernel_mass_matrix, s->x, mass))
        return 1;
    INSERT_ROWS;
    if (!ca_invert_mass(mass, matrix, factor, place->inverse)) {
        if (ca_fill_slopes(mass, rows, matrix) > (NM > 0 ? (int)s->c[NC - 1] : 0))
            return 2;
        for (int i = 0; i < NY; i++)
            for (int j = 0; j < NY; j++)
                place->inverse[i * NY + j] = i == j;
        if (kc_eliminate(NY, NY, matrix, place->inverse, factor, order))
            return 2;
    }
    if (memory) {
        memory->there = 1, memory->weighed = 0, memory->t = s->t;
        ca_copy(NX, s->x, memory->x);
        ca_copy(NR, s->r, memory->r);
        for (int i = 0; i < ROW_BLOCKS; i++)
            memory->has_rows[i] = 0;
    }
    return 0;
}

/* out = -inverse b, or with its transpose. */
static void ca_solve(const double *inverse, int transposed, const kc_loose_pack *b, kc_loose_pack *out)
{
    for (int i = 0; i < NY; i++) {
        kc_pack sum = KC_ALL(0.0);
        for (int j = 0; j < NY; j++)
            sum = KC_FNMA_ALONG(KC_ALONG(inverse[transposed ? j * NY + i : i * NY + j]), b[j], sum);
        out[i] = sum;
    }
}

/* n numbers of each of some directions, which stand one behind the other, `stride` apart; NULL is zero. */
static void ca_gather(int n, int directions, const double *from, int stride, kc_loose_pack *packs)
{
    double *const to = (double *)packs;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < KC_PACK; k++)
            to[i * KC_PACK + k] = from && k < directions ? from[k * stride + i] : 0.0;
}

static void ca_scatter(int n, int directions, const kc_loose_pack *packs, double *to)
{
    const double *const from = (const double *)packs;
    for (int k = 0; k < directions; k++)
        for (int i = 0; i < n; i++)
            to[k * n + i] = from[i * KC_PACK + k];
}

/* The variables, t, x, r and p: how many there are, whether derivatives by them are wanted, and where these
 * stand. */
static const int ca_numbers[4] = {1, NX, NR, NP}, ca_wanted[4] = {BY_T, BY_X, BY_R, BY_P};
static const int ca_first[4] = {0, AT_X, AT_R, AT_P};

/* Gradients of some directions into results; of what is not wanted zeros. */
static void ca_give(int k, int directions, const kc_loose_pack *gradients, double *const *res)
{
    for (int i = 0; i < 4; i++) {
        const int n = ca_numbers[i];
        if (res[i] && ca_wanted[i])
            ca_scatter(n, directions, gradients + ca_first[i], res[i] + k * n);
        else if (res[i])
            for (int j = 0; j < directions * n; j++)
                res[i][k * n + j] = 0.0;
    }
}

static int ca_least(int a, int b)
{
    return a < b ? a : b;
}

/* The same from Jacobians, which exist where F_y has no inverse. */
static int ca_adjoint_of_slopes(const ca_call *s, int n, const double *weights, double *room,
                                double *const *res)
{
    ca_slopes d;
    if (ca_differentiate(s, BY_T && res[0], (BY_X && res[1]) || (BY_R && res[2]), BY_P && res[3], room, &d))
        return 1;
    const double *const slopes[4] = {d.by_t, d.by_z, d.by_z + NX, d.by_p};
    static const int width[4] = {1, NZ, NZ, NP};
    for (int g = 0; g < 4; g++)
        for (int k = 0; res[g] && k < n; k++)
            for (int j = 0; j < ca_numbers[g]; j++) {
                double sum = 0.0;
                for (int i = 0; ca_wanted[g] && i < NX; i++)
                    sum += weights[k * NX + i] * slopes[g][i * width[g] + j];
                res[g][k * ca_numbers[g] + j] = sum;
            }
    return 0;
}

/* Behind a direction: gradients along it; sides of equations; weights of speeds; scratch. */
#define CA_GRADIENTS(d) ((d) + ND)
#define CA_SIDES(d)     (CA_GRADIENTS(d) + NV)
#define CA_WEIGHTS(d)   (CA_SIDES(d) + 2 * NY)
#define CA_SCRATCH(d)   ((double *)(CA_WEIGHTS(d) + NY))
enum { PACKS_ROOM = KC_PACK * (ND + NV + 3 * NY + WIDTH) };

/* Gradients of the weights of a pack, of which those of qdot are in d. */
static int ca_gradients(const ca_call *s, const ca_place *place)
{
    kc_loose_pack *const d = place->d;
    ca_solve(place->inverse, 1, CA_WEIGHTS(d), d + NV + NY + NQ);
    return along_gradient(s->t, place->at, s->r, s->c, d, CA_SCRATCH(d), CA_GRADIENTS(d));
}

static void ca_set_weights(const ca_place *place, int directions, const double *weights)
{
    ca_gather(NQ, directions, weights, NX, place->d + NV + NY);
    ca_gather(NU, directions, weights ? weights + NQ : NULL, NX, CA_WEIGHTS(place->d));
    ca_gather(NM, 0, NULL, 0, CA_WEIGHTS(place->d) + NU);
}

/* Whether rows of the Jacobian serve weights better than a pass: there are not many, or the weights are few.
 */
static int ca_by_rows(const double *weights)
{
    int some = 0;
    for (int i = 0; i < NX; i++)
        some += weights[i] != 0.0;
    return NX <= 2 * KC_PACK || some <= 1 || 4 * some <= NX;
}

/* Rows of the Jacobian, as many as a pack holds. */
static int ca_jacobian_block(const ca_call *s, const ca_place *place, int block, double *rows)
{
    const int first = block * KC_PACK, n = ca_least(KC_PACK, NX - first);
    ca_set_weights(place, 0, NULL);
    for (int k = 0; k < n; k++) {
        const int i = first + k;
        kc_loose_pack *const weight = i < NQ ? place->d + NV + NY + i : CA_WEIGHTS(place->d) + i - NQ;
        ((double *)weight)[k] = 1.0;
    }
    if (ca_gradients(s, place))
        return 1;
    ca_scatter(NV, n, CA_GRADIENTS(place->d), rows + first * NV);
    return 0;
}

/* out += the gradient of weights; `rows` serves where nothing is kept. */
static int ca_add_gradient(const ca_call *s, const ca_place *place, const double *weights, double *rows,
                           double *out)
{
    ca_memory *const memory = s->memory;
    if (!ca_by_rows(weights)) {
        ca_set_weights(place, 1, weights);
        if (ca_gradients(s, place))
            return 1;
        for (int k = 0; k < NV; k++)
            out[k] += ((const double *)(CA_GRADIENTS(place->d) + k))[0];
        return 0;
    }
    int last = -1;
    if (memory)
        rows = memory->rows;
    for (int i = 0; i < NX; i++) {
        const int block = i / KC_PACK;
        if (weights[i] == 0.0)
            continue;
        if (memory ? !memory->has_rows[block] : last != block) {
            if (ca_jacobian_block(s, place, block, rows))
                return 1;
            if (memory)
                memory->has_rows[block] = 1;
            last = block;
        }
        for (int k = 0; k < NV; k++)
            out[k] += weights[i] * rows[i * NV + k];
    }
    return 0;
}

/* Into results. */
static void ca_give_one(const double *gradient, double *const *res)
{
    for (int g = 0; g < 4; g++)
        for (int i = 0; res[g] && i < ca_numbers[g]; i++)
            res[g][i] = ca_wanted[g] ? gradient[ca_first[g] + i] : 0.0;
}

/* The gradients of n weights. */
static int ca_adjoint(int n, const double **arg, double **res, double *w, int mem)
{
    const ca_call s = ca_begin_call(arg, w, mem);
    const double *const weights = arg[5];
    ca_place place;
    const int fault = ca_go_to(&s, s.rest, &place);
    if (fault == 2 && weights)
        return ca_adjoint_of_slopes(&s, n, weights, s.rest, res);
    if (fault)
        return 1;
    if (n == 1) { /* of several, one by one */
        double *const sum = (double *)place.d + PACKS_ROOM;
        for (int i = 0; i < NV; i++)
            sum[i] = 0.0;
        if (ca_add_gradient(&s, &place, ca_or_zeros(weights), sum + NV, sum))
            return 1;
        ca_give_one(sum, res);
        return 0;
    }
    for (int k = 0; k < n; k += KC_PACK) {
        const int directions = ca_least(n - k, KC_PACK);
        ca_set_weights(&place, directions, weights ? weights + k * NX : NULL);
        if (ca_gradients(&s, &place))
            return 1;
        ca_give(k, directions, CA_GRADIENTS(place.d), res);
    }
    return 0;
}

/* ---------------------------------------------------------------------------------------------------
 * Hessians */

/* Weights, and the multipliers of F that go with them. */
static void ca_weigh(const ca_call *s, const ca_place *place, const double *weights)
{
    ca_memory *const memory = s->memory;
    if (memory && memory->weighed && ca_same(NX, weights, memory->w))
        return;
    double *const a = place->at + NX + NY;
    ca_copy(NQ, weights, a);
    for (int i = 0; i < NY; i++) {
        a[NQ + i] = 0.0;
        for (int j = 0; j < NU; j++)
            a[NQ + i] -= place->inverse[j * NY + i] * weights[NQ + j];
    }
    if (memory) {
        ca_copy(NX, weights, memory->w);
        memory->weighed = 1;
        for (int i = 0; i < BLOCKS; i++)
            memory->has_columns[i] = 0;
    }
}

/* Changes of the gradient along the directions of a pack, of which dv and the changes of weights are there.
 */
static int ca_changes(const ca_call *s, const ca_place *place)
{
    kc_loose_pack *const d = place->d, *const sides = CA_SIDES(d);
    if (along_tangent(s->t, place->at, s->r, s->c, d, CA_SCRATCH(d), sides))
        return 1;
    ca_solve(place->inverse, 0, sides, d + NV);
    for (int i = 0; i < NU; i++)
        sides[NY + i] += CA_WEIGHTS(d)[i];
    ca_solve(place->inverse, 1, sides + NY, d + NV + NY + NQ);
    return along_change(s->t, place->at, s->r, s->c, d, CA_SCRATCH(d), CA_GRADIENTS(d));
}

/* Columns of the Hessian, as many as a pack holds. */
static int ca_hessian_block(const ca_call *s, const ca_place *place, int block, double *columns)
{
    const int first = block * KC_PACK, n = ca_least(KC_PACK, NV - first);
    ca_gather(NV, 0, NULL, 0, place->d);
    ca_set_weights(place, 0, NULL);
    for (int i = 0; i < n; i++)
        ((double *)(place->d + first))[i * KC_PACK + i] = 1.0;
    if (ca_changes(s, place))
        return 1;
    ca_scatter(NV, n, CA_GRADIENTS(place->d), columns + first * NV);
    return 0;
}

/* out += the Hessian times dv; `columns` serves where nothing is kept. */
static int ca_add_product(const ca_call *s, const ca_place *place, const double *dv, double *columns,
                          double *out)
{
    ca_memory *const memory = s->memory;
    int last = -1;
    if (memory)
        columns = memory->columns;
    for (int j = 0; j < NV; j++) {
        const int block = j / KC_PACK;
        if (dv[j] == 0.0)
            continue;
        if (memory ? !memory->has_columns[block] : last != block) {
            if (ca_hessian_block(s, place, block, columns))
                return 1;
            if (memory)
                memory->has_columns[block] = 1;
            last = block;
        }
        for (int k = 0; k < NV; k++)
            out[k] += dv[j] * columns[j * NV + k];
    }
    return 0;
}

/* The changes of a gradient along n directions of (t, x, r, p) and weights. */
static int ca_forward_of_adjoint(int n, const double **arg, double **res, double *w, int mem)
{
    const ca_call s = ca_begin_call(arg, w, mem);
    const double *const *const seeds = arg + 10, *const dw = arg[15];
    ca_place place;
    if (ca_go_to(&s, s.rest, &place))
        return 1;
    ca_weigh(&s, &place, ca_or_zeros(arg[5]));
    if (n == 1) { /* of several, one by one */
        double *const dv = (double *)place.d + PACKS_ROOM, *const sum = dv + NV;
        for (int g = 0; g < 4; g++)
            for (int i = 0; ca_wanted[g] && i < ca_numbers[g]; i++)
                dv[ca_first[g] + i] = seeds[g] ? seeds[g][i] : 0.0;
        for (int i = 0; i < NV; i++)
            sum[i] = 0.0;
        if (ca_add_product(&s, &place, dv, sum + NV, sum) ||
            (dw && ca_add_gradient(&s, &place, dw, sum + NV, sum)))
            return 1;
        ca_give_one(sum, res);
        return 0;
    }
    for (int k = 0; k < n; k += KC_PACK) {
        const int directions = ca_least(n - k, KC_PACK);
        for (int g = 0; g < 4; g++)
            if (ca_wanted[g])
                ca_gather(ca_numbers[g], directions, seeds[g] ? seeds[g] + k * ca_numbers[g] : NULL,
                          ca_numbers[g], place.d + ca_first[g]);
        ca_set_weights(&place, directions, dw ? dw + k * NX : NULL);
        if (ca_changes(&s, &place))
            return 1;
        ca_give(k, directions, CA_GRADIENTS(place.d), res);
    }
    return 0;
}

/* Results are numbered 6 (which of adj_t, adj_x, adj_r, adj_p) + by which of t, x, r, p, out_xdot, adj_xdot.
 */
CA_OUT int jac_adj1_MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)
{
    (void)iw;
    const ca_call s = ca_begin_call(arg, w, mem);
    double *const columns = s.rest, *const room = columns + (size_t)NV * NV;
    int wanted[BLOCKS] = {0}, any = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const casadi_int *const pattern = ca_patterns_of_second[6 * i + j];
            if (!res[6 * i + j] || pattern[2 + pattern[1]] == 0)
                continue;
            for (int k = 0; k < ca_numbers[j]; k++)
                wanted[(ca_first[j] + k) / KC_PACK] = any = 1;
        }
    if (res[5] || res[11] || res[17] || res[23]) {
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
    if (any) {
        ca_place place;
        if (ca_go_to(&s, room, &place))
            return 1;
        ca_weigh(&s, &place, ca_or_zeros(arg[5]));
        for (int i = 0; i < BLOCKS; i++)
            if (wanted[i] && ca_hessian_block(&s, &place, i, columns))
                return 1;
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (res[6 * i + j])
                ca_pick_transposed(ca_patterns_of_second[6 * i + j], columns + ca_first[j] * NV + ca_first[i],
                                   NV, res[6 * i + j]);
    return 0;
}

/* ------------------------------------------------------------------------------------ what CasADi asks of
 * each */

#define CA_MOST_ROOM(a, b) ((a) > (b) ? (a) : (b))
enum {
    FIRST_ROOM = NC + NWORK + SLOPES_ROOM,
    ALONG_ROOM = NC + NWORK +
        CA_MOST_ROOM(SLOPES_ROOM, PLACE_ROOM + PACKS_ROOM + 2 * NV + NV * CA_MOST_ROOM(NV, NX)),
    SECOND_ROOM = ALONG_ROOM + NV * NV
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
        return ca_take_memory();                                                                             \
    }                                                                                                        \
    CA_OUT void name##_release(int mem)                                                                      \
    {                                                                                                        \
        ca_leave_memory(mem);                                                                                \
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
CA_FUNCTION(jac_adj1_MODEL, 10, 24, SECOND_ROOM, ca_inputs_of, ca_second_names, ca_patterns_in,
            ca_patterns_of_second)

/* Functions of n directions, which CasADi asks for by that number. */
static const char *const ca_along_names[] = {
    "t",         "x",         "r",     "p",     "out_xdot", "adj_xdot", "out_adj_t",    "out_adj_x",
    "out_adj_r", "out_adj_p", "fwd_t", "fwd_x", "fwd_r",    "fwd_p",    "fwd_out_xdot", "fwd_adj_xdot"};
static const char *const ca_changes_names[] = {"fwd_adj_t", "fwd_adj_x", "fwd_adj_r", "fwd_adj_p"};

/* Patterns: {rows, columns, 1} is full. */
#define CA_ALONG(n)                                                                                          \
    static const casadi_int ca_t_##n[] = {1, n, 1}, ca_x_##n[] = {NX, n, 1}, ca_r_##n[] = {NR, n, 1};        \
    static const casadi_int ca_p_##n[] = {NP, n, 1}, ca_none_##n[n + 3] = {NX, n};                           \
    static const casadi_int *const ca_along_in_##n[] = {                                                     \
        ca_of_t, ca_of_x, ca_of_r,  ca_of_p,  ca_no_xdot, ca_of_xdot, ca_no_t,     ca_no_x,                  \
        ca_no_r, ca_no_p, ca_t_##n, ca_x_##n, ca_r_##n,   ca_p_##n,   ca_none_##n, ca_x_##n};                \
    static const casadi_int *const ca_adjoint_in_##n[] = {ca_of_t, ca_of_x,    ca_of_r,                      \
                                                          ca_of_p, ca_no_xdot, ca_x_##n};                    \
    static const casadi_int *const ca_along_out_##n[] = {ca_t_##n, ca_x_##n, ca_r_##n, ca_p_##n};            \
    CA_OUT int adj##n##_MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)          \
    {                                                                                                        \
        (void)iw;                                                                                            \
        return ca_adjoint(n, arg, res, w, mem);                                                              \
    }                                                                                                        \
    CA_OUT int fwd##n##_adj1_MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)     \
    {                                                                                                        \
        (void)iw;                                                                                            \
        return ca_forward_of_adjoint(n, arg, res, w, mem);                                                   \
    }                                                                                                        \
    CA_FUNCTION(adj##n##_MODEL, 6, 4, ALONG_ROOM, ca_inputs_of, ca_adj_names, ca_adjoint_in_##n,             \
                ca_along_out_##n)                                                                            \
    CA_FUNCTION(fwd##n##_adj1_MODEL, 16, 4, ALONG_ROOM, ca_along_names, ca_changes_names, ca_along_in_##n,   \
                ca_along_out_##n)
INSERT_DIRECTIONS;
