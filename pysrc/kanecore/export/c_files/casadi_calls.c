/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model as functions that CasADi calls by its external interface. One file is written from five:
 *
 *   casadi_calls.c      what a call begins with: arguments, memory, kernels
 *   casadi_slopes.c     MODEL, f(t, x, r, p) = xdot; jac_MODEL, its Jacobian; fwdN_MODEL, its changes along
 *                       N directions
 *   casadi_gradient.c   adjN_MODEL: gradients of N weights . xdot
 *   casadi_hessian.c    fwdN_adj1_MODEL: changes of a gradient along N directions; jac_adj1_MODEL: its
 *                       Jacobian; derivatives of jac_MODEL, fwdN_MODEL and adjN_MODEL
 *   casadi_interface.c  sizes, names and sparsities of all these
 *
 * An argument that is NULL is zero, and a result that is NULL is skipped. A function returns 1 where the
 * equations have no solution. Nothing allocates memory: all scratch is CasADi's `w`.
 */
#include <stdio.h>
#include <string.h>

#if defined(_WIN32)
#define CA_OUT __declspec(dllexport)
#elif defined(__GNUC__)
#define CA_OUT __attribute__((visibility("default")))
#else
#define CA_OUT
#endif

/* Outcomes of kernels, of those of kc_status: no pivot of the mass matrix; a row of G that is lost. */
enum { CA_NO_PIVOT = INSERT_SINGULAR, CA_ROW_LOST = INSERT_LOST };

enum {
    NQ = INSERT_NQ,
    NU = INSERT_NU,
    NS = INSERT_NS, /* first-order states, behind q and u */
    NX = NQ + NU + NS,
    NR = INSERT_NR,
    NP = INSERT_NP,
    NM = INSERT_NM, /* rows of G */
    NC = INSERT_NC, /* prepared constants */
    NWORK = INSERT_NWORK,
    /* the variables v: those by which derivatives are wanted, and where each begins */
    BY_T = INSERT_BY_T,
    BY_X = INSERT_BY_X,
    BY_R = INSERT_BY_R,
    BY_P = INSERT_BY_P,
    AT_X = BY_T,
    AT_R = AT_X + BY_X * NX,
    AT_P = AT_R + BY_R * NR,
    NV = AT_P + BY_P * NP, /* how many they are */
    NZ = NX + NR,          /* the columns of linearize */
    NY = NU + NM,          /* y = (udot, lambda) */
    NE = NQ + NS,          /* rates that nothing is solved for */
    NA = NE + NY,          /* weights of qdot and zdot, then multipliers a of F */
    ND = NV + NY + NA,     /* of a direction */
    PLACE = NX + NY + NA,
    WIDTH = INSERT_WIDTH /* packs of scratch */
};

/*
 * CasADi checks out a memory for every call and returns it. It keeps the constants of the parameters, which
 * for constrained models take longer than the motion, for calls with the very same parameters. Where all
 * memories are taken, a call gets number 0 and keeps nothing.
 */
enum { MEMORIES = 32 };
typedef struct {
    int taken, filled;
    double p[NP + 1], c[NC + 1];
} ca_memory;
static ca_memory ca_memories[MEMORIES];

static int ca_take_memory(void)
{
#if defined(__GNUC__)
    for (int i = 1; i < MEMORIES; i++)
        if (__sync_bool_compare_and_swap(&ca_memories[i].taken, 0, 1))
            return i;
#endif
    return 0;
}

static void ca_leave_memory(int mem)
{
#if defined(__GNUC__)
    if (mem > 0 && mem < MEMORIES)
        __sync_lock_release(&ca_memories[mem].taken);
#else
    (void)mem;
#endif
}

typedef struct {
    double t;
    const double *x, *r, *c;
    double *work, *rest; /* of kernels, and what is free behind it */
} ca_call;

static const double ca_zeros[1 + NX + NR + NP];

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

/* n numbers; NULL where all are zero. */
static const double *ca_unless_zero(int n, const double *v)
{
    const int zero = !v || n == 0 || (v[0] == 0.0 && ca_same(n - 1, v, v + 1));
    return zero ? NULL : v;
}

/* What a call begins with. `w` begins with room for constants and kernels. */
static ca_call ca_begin_call(const double **arg, double *w, int mem)
{
    ca_memory *const memory = mem > 0 && mem < MEMORIES ? ca_memories + mem : NULL;
    const double *const p = ca_or_zeros(arg[3]);
    double *const c = memory ? memory->c : w;
    if (!memory || !memory->filled || !ca_same(NP, memory->p, p))
        prepare(p, c);
    if (memory) {
        ca_copy(NP, p, memory->p);
        memory->filled = 1;
    }
    return (ca_call){
        arg[0] ? arg[0][0] : 0.0, ca_or_zeros(arg[1]), ca_or_zeros(arg[2]), c, w + NC, w + NC + NWORK};
}

static const char *const ca_row_names[] = {INSERT_CONSTRAINTS};

/*
 * Say why there is no solution, on stderr and once in a process: CasADi knows that a function failed, and
 * asks for no reason; an optimizer that shortens its step may fail often.
 */
static void ca_say(const ca_call *s)
{
    static const char *const speeds[] = {INSERT_SPEEDS};
    static int said;
    const int status = (int)s->work[0], number = (int)s->work[1];
    const int speed = status == CA_NO_PIVOT;
    const char *const name = number < 0 || number >= (speed ? NU : NM) ? ""
                             : speed                                   ? speeds[number]
                                                                       : ca_row_names[number];
    if (said)
        return;
    said = 1;
    fprintf(stderr, "kanecore: MODEL has no solution at t = %g: %s '%s' %s; dyn.rhs(t, x) says more\n", s->t,
            speed ? "the mass matrix is singular, the pivot of speed" : "the constraint", name,
            speed                   ? "vanished"
            : status == CA_ROW_LOST ? "is lost at this state"
                                    : "contradicts the others");
}

/* Call a kernel at x, or at what goes on behind it; 1 where it finds no solution. */
static int ca_ask(const ca_call *s, kc_kernel *kernel, const double *x, double *out)
{
    s->work[0] = 0.0;
    kernel(s->t, x, s->r, s->c, s->work, out);
    if (s->work[0] == 0.0)
        return 0;
    ca_say(s);
    return 1;
}

typedef INSERT_INTEGER casadi_int;
INSERT_SPARSITY;

/* The entries of a pattern, column by column, of a matrix stored row by row, `width` numbers a row. */
static void ca_pick_entries(const casadi_int *pattern, const double *matrix, int width, double *out)
{
    const casadi_int n = pattern[1], *const begin = pattern + 2, *const row = begin + n + 1;
    for (casadi_int j = 0; j < n; j++)
        for (casadi_int k = begin[j]; k < begin[j + 1]; k++)
            out[k] = matrix[row[k] * width + j];
}

/* Put them back, where the rest of the matrix is zero. */
static void ca_put_entries(const casadi_int *pattern, const double *entries, int width, double *matrix)
{
    const casadi_int n = pattern[1], *const begin = pattern + 2, *const row = begin + n + 1;
    for (casadi_int j = 0; j < n; j++)
        for (casadi_int k = begin[j]; k < begin[j + 1]; k++)
            matrix[row[k] * width + j] = entries[k];
}

/* The entries of the transposed matrix. */
static void ca_pick_transposed(const casadi_int *pattern, const double *matrix, int width, double *out)
{
    const casadi_int n = pattern[1], *const begin = pattern + 2, *const row = begin + n + 1;
    for (casadi_int j = 0; j < n; j++)
        for (casadi_int k = begin[j]; k < begin[j + 1]; k++)
            out[k] = matrix[j * width + row[k]];
}
