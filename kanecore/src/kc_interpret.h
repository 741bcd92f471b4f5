/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_interpret.h: the machine, for the processors that its compiler's options name; kc_machine.c and
 * kc_machine_fused.c include it.  Its arithmetic, and the ways to solve, are those of emitted text: the
 * headers of emit/runtime.
 */
#include "kc_machine.h"

#include <string.h>

#include "prelude.h"
#include "bits.h"
#include "sincos.h"
#include "double.h"
#include "arithmetic.h"
#include "kc_tolerances.h"
#include "equations.h"
#include "blocks.h"
#include "eliminate.h"
#include "saddle.h"
#include "motion.h"
#include "closure.h"
#include "linearize.h"
#include "screws.h"
#include "tree.h"
#include "spline.h"

static const kc_machine *machine_of(const double *c)
{
    return (const kc_machine *)(uintptr_t)c[0];
}

/* ---------------------------------------------------------------------------------------------- programs */

typedef double unary(double);
typedef double binary(double, double);

static double *apply_unary(unary *f, int n, const uint16_t *k, const double *z, double *next)
{
    for (int i = 0; i < n; i++)
        *next++ = f(z[k[i]]);
    return next;
}

static double *apply_binary(binary *f, int n, const uint16_t *k, const double *z, double *next)
{
    for (int i = 0; i < n; i++, k += 2)
        *next++ = f(z[k[0]], z[k[1]]);
    return next;
}

static double sign_of(double a)
{
    return kc_sign(a);
}

static double smaller(double a, double b)
{
    return kc_min(a, b);
}

static double larger(double a, double b)
{
    return kc_max(a, b);
}

static double half_power(double a, int k)
{
    double power = a;
    for (int i = 1; i < k; i++)
        power *= a;
    return power * sqrt(a);
}

/* Derivatives of a spline at one place. */
static double *apply_spline(const kc_spline *spline, const uint16_t *k, const double *z, double *next)
{
    const int n = k[0], m = k[1];
    const uint16_t *const orders = k + 2, *const places = orders + n * m;
    const kc_segment first = kc_locate(spline, 0, z[places[0]]);
    if (n == 1) {
        for (int i = 0; i < m; i++)
            *next++ = kc_cubic(spline, first, orders[i]);
        return next;
    }
    const kc_segment second = kc_locate(spline, 1, z[places[1]]);
    for (int i = 0; i < m; i++)
        *next++ = kc_bicubic(spline, first, second, orders[2 * i], orders[2 * i + 1]);
    return next;
}

#define EACH(n, operands, expression)                                                                        \
    for (const uint16_t *const last = k + (operands) * (n); k != last; k += (operands))                      \
        *next++ = (expression);                                                                              \
    break

#define LIBM(function)                                                                                       \
    case KC_OP_##function:                                                                                   \
        next = apply_unary(function, n, k, z, next);                                                         \
        k += n;                                                                                              \
        break

/* Execute operations, whose results go to `next` and on.  Returns 0, or a fault. */
static int execute(const uint16_t *k, double *z, double *next, const kc_spline *splines)
{
    for (;;) {
        const int operation = k[0], n = k[1];
        k += 2;
        switch (operation) {
        case KC_OP_fma:
            EACH(n, 3, KC_FMA(z[k[0]], z[k[1]], z[k[2]]));
        case KC_OP_fms:
            EACH(n, 3, KC_FMS(z[k[0]], z[k[1]], z[k[2]]));
        case KC_OP_fnma:
            EACH(n, 3, KC_FNMA(z[k[0]], z[k[1]], z[k[2]]));
        case KC_OP_fnms:
            EACH(n, 3, KC_FNMS(z[k[0]], z[k[1]], z[k[2]]));
        case KC_OP_div:
            EACH(n, 2, z[k[0]] / z[k[1]]);
        case KC_OP_sqrt:
            EACH(n, 1, sqrt(z[k[0]]));
        case KC_OP_sincos:
            for (int i = 0; i < n; i++, next += 2)
                kc_sincos(z[*k++], next, next + 1);
            break;
        case KC_OP_half_power:
            EACH(n, 2, half_power(z[k[0]], k[1]));
        case KC_OP_select:
            EACH(n, 3, z[k[0]] != 0.0 ? z[k[1]] : z[k[2]]);
        case KC_OP_lt:
            EACH(n, 2, z[k[0]] < z[k[1]] ? 1.0 : 0.0);
        case KC_OP_le:
            EACH(n, 2, z[k[0]] <= z[k[1]] ? 1.0 : 0.0);
        case KC_OP_eq:
            EACH(n, 2, z[k[0]] == z[k[1]] ? 1.0 : 0.0);
        case KC_OP_min:
            next = apply_binary(smaller, n, k, z, next);
            k += 2 * n;
            break;
        case KC_OP_max:
            next = apply_binary(larger, n, k, z, next);
            k += 2 * n;
            break;
        case KC_OP_pow:
            next = apply_binary(pow, n, k, z, next);
            k += 2 * n;
            break;
        case KC_OP_atan2:
            next = apply_binary(atan2, n, k, z, next);
            k += 2 * n;
            break;
        case KC_OP_sign:
            next = apply_unary(sign_of, n, k, z, next);
            k += n;
            break;
        case KC_OP_abs:
            EACH(n, 1, fabs(z[k[0]]));
            LIBM(floor);
            LIBM(tan);
            LIBM(asin);
            LIBM(acos);
            LIBM(atan);
            LIBM(sinh);
            LIBM(cosh);
            LIBM(tanh);
            LIBM(asinh);
            LIBM(acosh);
            LIBM(atanh);
            LIBM(exp);
            LIBM(log);
            LIBM(erf);
        case KC_OP_call:
            EACH(n, 2, ((unary *)(uintptr_t)z[k[0]])(z[k[1]]));
        case KC_OP_apply:
            for (int i = 0; i < n; i++) {
                next = apply_spline(splines + k[0], k + 1, z, next);
                k += 3 + k[1] * (k[2] + 1);
            }
            break;
        case KC_OP_pivot:
            for (int i = 0; i < n; i++, k += 3)
                if (KC_UNLIKELY(!(z[k[0]] > z[k[1]])))
                    return KC_FAULT(KC_SINGULAR, k[2]);
            break;
        case KC_OP_limit:
            for (int i = 0; i < n; i++, k++)
                if (KC_UNLIKELY(!(z[k[0]] <= 0.0)))
                    return KC_NOT_HERE;
            break;
        default:
            return 0;
        }
    }
}

static int run_part(const kc_coded_part *part, const double *const *from, double *w, double *out, double *z,
                    const kc_spline *splines)
{
    double *next = z + part->n_constants;
    memcpy(z, part->constants, part->n_constants * sizeof(double));
    for (const uint32_t *list = part->loads; *list != KC_ARRAYS;) {
        const double *const array = from[list[0]];
        const uint32_t *const last = list + 2 + list[1];
        for (list += 2; list != last; list++)
            *next++ = array[*list];
    }
    const int fault = execute(part->code, z, next, splines);
    if (KC_UNLIKELY(fault))
        return fault;
    for (const uint32_t *list = part->stores; *list != KC_ARRAYS;) {
        double *const array = list[0] == KC_IN_W ? w : out;
        const uint32_t *const last = list + 2 + 2 * list[1];
        for (list += 2; list != last; list += 2) {
            const double value = z[list[1] & ~KC_NEGATIVE];
            array[list[0]] = list[1] & KC_NEGATIVE ? -value : value;
        }
    }
    return 0;
}

static int run_program(const kc_coded_function *f, double t, const double *x, const double *r,
                       const double *c, double *w, double *out)
{
    const double *const from[KC_ARRAYS] = {&t, x, r, c, w, out};
    for (uint32_t i = 0; i < f->clear; i++)
        out[i] = 0.0;
    for (int i = 0; i < f->n_parts; i++) {
        const int fault = run_part(f->parts + i, from, w, out, w + f->width, f->splines);
        if (KC_UNLIKELY(fault))
            return fault;
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------------- ways */

/* The arguments of a function. */
#define ARGUMENTS double t, const double *x, const double *r, const double *c, double *w, double *out
#define GIVEN     t, x, r, c, w, out

/* The accelerations, and the multipliers behind them, at the beginning of the scratch; then what they are
 * for. */
typedef struct after_motion {
    int n, m; /* accelerations, multipliers */
    kc_function *udot, *multipliers, *evaluate;
} after_motion;

#define AFTER_MOTION_ROOM(n, m) ((n) + (m))

static int follow_motion(const after_motion *s, ARGUMENTS)
{
    const int taken = s->n + s->m;
    int fault = s->udot(t, x, r, c, w + taken, w);
    if (!fault && s->multipliers)
        fault = s->multipliers(t, x, r, c, w + taken, w + s->n);
    return fault ? fault : s->evaluate(GIVEN);
}

/* The short way, else the other; where both lack a pivot the short way names the speed. */
typedef struct short_way {
    kc_function *shortly, *otherwise;
} short_way;

static int go_shortly(const short_way *s, ARGUMENTS)
{
    const int fault = s->shortly(GIVEN);
    if (!KC_UNLIKELY(fault))
        return 0;
    const int other = s->otherwise(GIVEN);
    return fault != KC_NOT_HERE && kc_status_of(other) == KC_SINGULAR ? fault : other;
}

/* Ways without equations of their own. */
#define CALLING(name, type, function)                                                                        \
    static int run_##name(const kc_coded_function *f, ARGUMENTS)                                             \
    {                                                                                                        \
        type s = *(const type *)f->structure;                                                                \
        return function(&s, GIVEN);                                                                          \
    }

/* Ways with equations: what these change belongs to the call. */
#define SOLVING(name, type, function)                                                                        \
    static int run_##name(const kc_coded_function *f, ARGUMENTS)                                             \
    {                                                                                                        \
        type s = *(const type *)f->structure;                                                                \
        kc_saddle equations = *(const kc_saddle *)f->equations;                                              \
        int column[KC_MOST(equations.n, 1)], order[KC_MOST(equations.m, 1)], place[KC_MOST(equations.n, 1)]; \
        equations.column = column, equations.order = order, equations.place = place;                         \
        s.equations = &equations;                                                                            \
        return function(&s, GIVEN);                                                                          \
    }

static int linearize_constrained(kc_linearization *s, ARGUMENTS)
{
    s->solve = kc_solve_equations;
    return kc_linearize(s, GIVEN);
}

static int linearize_free(kc_linearization *s, ARGUMENTS)
{
    s->solve = kc_solve_free;
    return kc_linearize(s, GIVEN);
}

CALLING(after_motion, after_motion, follow_motion)
CALLING(short_way, short_way, go_shortly)
CALLING(chain, kc_chain, kc_chain_rule)
SOLVING(motion, kc_motion, kc_accelerate)
SOLVING(general_motion, kc_motion, kc_accelerate_all)
SOLVING(free_motion, kc_free_motion, kc_accelerate_free)
SOLVING(balance, kc_balance, kc_find_multipliers)
SOLVING(return, kc_return, kc_stabilize)
SOLVING(projection, kc_projection, kc_project)
SOLVING(linearization, kc_linearization, linearize_constrained)
SOLVING(free_linearization, kc_linearization, linearize_free)
SOLVING(forest, kc_forest, kc_linearize_forest)

static int run_closure(const kc_coded_function *f, ARGUMENTS)
{
    kc_closure s = *(const kc_closure *)f->structure;
    kc_saddle equations = *(const kc_saddle *)f->equations;
    int column[KC_MOST(equations.n, 1)], order[KC_MOST(equations.m, 1)], place[KC_MOST(equations.n, 1)];
    equations.column = column, equations.order = order, equations.place = place;
    s.equations = &equations;
    (void)t, (void)x, (void)r;
    *out = kc_count(&s, c, w);
    return 0;
}

#define AT(type, member)       offsetof(type, member)
#define NUMBER(type, member)   {#member, KC_NUMBER, AT(type, member)}
#define INTEGERS(type, member) {#member, KC_INTEGERS, AT(type, member)}
#define FUNCTION(type, member) {#member, KC_FUNCTION, AT(type, member)}
#define PART(type, member)     {"parts." #member, KC_FUNCTION, AT(type, parts) + AT(kc_parts, member)}
#define PARTS(type)                                                                                          \
    PART(type, mass_matrix), PART(type, forcing), PART(type, jacobian), PART(type, bias), PART(type, sums)
#define EQUATIONS {"equations", KC_EQUATIONS, 0}
#define NO_MORE   {NULL, KC_NUMBER, 0}

static const kc_coded_member of_after_motion[] = {
    NUMBER(after_motion, n),          NUMBER(after_motion, m),
    FUNCTION(after_motion, udot),     FUNCTION(after_motion, multipliers),
    FUNCTION(after_motion, evaluate), NO_MORE};
static const kc_coded_member of_short_way[] = {FUNCTION(short_way, shortly), FUNCTION(short_way, otherwise),
                                               NO_MORE};
static const kc_coded_member of_chain[] = {
    NUMBER(kc_chain, n_y),    NUMBER(kc_chain, n_q),         NUMBER(kc_chain, n),        NUMBER(kc_chain, k),
    FUNCTION(kc_chain, udot), FUNCTION(kc_chain, linearize), FUNCTION(kc_chain, slopes), NO_MORE};
static const kc_coded_member of_motion[] = {EQUATIONS,
                                            NUMBER(kc_motion, rank),
                                            NUMBER(kc_motion, eliminated),
                                            INTEGERS(kc_motion, speeds),
                                            INTEGERS(kc_motion, rows),
                                            NUMBER(kc_motion, n_known),
                                            NUMBER(kc_motion, n_residuals),
                                            FUNCTION(kc_motion, fill),
                                            PARTS(kc_motion),
                                            FUNCTION(kc_motion, doubt),
                                            FUNCTION(kc_motion, residuals),
                                            FUNCTION(kc_motion, result),
                                            FUNCTION(kc_motion, otherwise),
                                            NO_MORE};
static const kc_coded_member of_free_motion[] = {EQUATIONS, PARTS(kc_free_motion), NO_MORE};
static const kc_coded_member of_balance[] = {EQUATIONS, NUMBER(kc_balance, rank), FUNCTION(kc_balance, udot),
                                             FUNCTION(kc_balance, fill), NO_MORE};
static const kc_coded_member of_return[] = {EQUATIONS, NUMBER(kc_return, rank), FUNCTION(kc_return, fill),
                                            NO_MORE};
static const kc_coded_member of_projection[] = {EQUATIONS,
                                                NUMBER(kc_projection, n_q),
                                                NUMBER(kc_projection, n_u),
                                                NUMBER(kc_projection, n_max),
                                                NUMBER(kc_projection, m_q),
                                                NUMBER(kc_projection, m_u),
                                                NUMBER(kc_projection, rank),
                                                NUMBER(kc_projection, n_unit),
                                                INTEGERS(kc_projection, unit),
                                                FUNCTION(kc_projection, position),
                                                FUNCTION(kc_projection, velocity),
                                                FUNCTION(kc_projection, direction),
                                                FUNCTION(kc_projection, slopes),
                                                NO_MORE};
static const kc_coded_member of_linearization[] = {EQUATIONS,
                                                   NUMBER(kc_linearization, n_q),
                                                   NUMBER(kc_linearization, rank),
                                                   FUNCTION(kc_linearization, udot),
                                                   FUNCTION(kc_linearization, multipliers),
                                                   FUNCTION(kc_linearization, fill),
                                                   PARTS(kc_linearization),
                                                   FUNCTION(kc_linearization, column),
                                                   NO_MORE};
static const kc_coded_member of_forest[] = {EQUATIONS,
                                            NUMBER(kc_forest, n),
                                            NUMBER(kc_forest, columns),
                                            NUMBER(kc_forest, trees),
                                            INTEGERS(kc_forest, size),
                                            INTEGERS(kc_forest, width),
                                            INTEGERS(kc_forest, parent),
                                            INTEGERS(kc_forest, coordinate),
                                            INTEGERS(kc_forest, speed),
                                            INTEGERS(kc_forest, runs),
                                            INTEGERS(kc_forest, run),
                                            FUNCTION(kc_forest, joints),
                                            FUNCTION(kc_forest, loads),
                                            NUMBER(kc_forest, loaded),
                                            INTEGERS(kc_forest, at),
                                            NUMBER(kc_forest, widest),
                                            NUMBER(kc_forest, room),
                                            NO_MORE};
static const kc_coded_member of_closure[] = {EQUATIONS,
                                             NUMBER(kc_closure, n_q),
                                             NUMBER(kc_closure, n_u),
                                             NUMBER(kc_closure, n_r),
                                             NUMBER(kc_closure, m_q),
                                             NUMBER(kc_closure, m_u),
                                             NUMBER(kc_closure, m),
                                             NUMBER(kc_closure, n_unit),
                                             NUMBER(kc_closure, linear),
                                             INTEGERS(kc_closure, unit),
                                             {"guess", KC_REALS, AT(kc_closure, guess)},
                                             FUNCTION(kc_closure, configuration),
                                             FUNCTION(kc_closure, slopes),
                                             FUNCTION(kc_closure, velocity),
                                             FUNCTION(kc_closure, jacobian),
                                             FUNCTION(kc_closure, sizes),
                                             FUNCTION(kc_closure, weights),
                                             NO_MORE};

#define ROOM(name, expression)                                                                               \
    static int room_of_##name(const int *s)                                                                  \
    {                                                                                                        \
        return (void)s, (expression);                                                                        \
    }

ROOM(after_motion, s[0] + s[1])
ROOM(short_way, 0)
ROOM(chain, KC_CHAIN_ROOM(s[0], s[1], s[2], s[3]))
ROOM(motion, KC_MOTION_ROOM(s[0], s[1], s[2], s[3]))
ROOM(free_motion, KC_FREE_MOTION_ROOM(s[0]))
ROOM(balance, KC_BALANCE_ROOM(s[0], s[1]))
ROOM(return, KC_RETURN_ROOM(s[0], s[1]))
ROOM(projection, KC_PROJECTION_ROOM(s[0], s[1], s[2], s[3]))
ROOM(linearization, KC_LINEARIZATION_ROOM(s[0], s[1], s[2], s[3]))
ROOM(forest, KC_FOREST_ROOM(s[0], s[1], s[2], s[3], s[4]))
ROOM(closure, KC_COUNT_ROOM(s[0], s[1], s[2], s[3], s[4]))

typedef int run_way(const kc_coded_function *f, ARGUMENTS);

/* name, structure, members and room, how many sizes its room takes */
#define WAYS(WAY)                                                                                            \
    WAY(after_motion, after_motion, after_motion, 2)                                                         \
    WAY(short_way, short_way, short_way, 0)                                                                  \
    WAY(chain, kc_chain, chain, 4)                                                                           \
    WAY(motion, kc_motion, motion, 4)                                                                        \
    WAY(general_motion, kc_motion, motion, 4)                                                                \
    WAY(free_motion, kc_free_motion, free_motion, 1)                                                         \
    WAY(balance, kc_balance, balance, 2)                                                                     \
    WAY(return, kc_return, return, 2)                                                                        \
    WAY(projection, kc_projection, projection, 4)                                                            \
    WAY(linearization, kc_linearization, linearization, 4)                                                   \
    WAY(free_linearization, kc_linearization, linearization, 4)                                              \
    WAY(forest, kc_forest, forest, 5)                                                                        \
    WAY(closure, kc_closure, closure, 5)

#define FACTS(name, type, like, n_sizes) {#name, sizeof(type), of_##like, n_sizes, room_of_##like},
#define RUN(name, type, like, n_sizes)   run_##name,

static const kc_coded_way ways[] = {WAYS(FACTS){NULL, 0, NULL, 0, NULL}};
static run_way *const runs[] = {WAYS(RUN)};

static int run(const kc_coded_function *f, ARGUMENTS)
{
    return f->way == KC_PROGRAM ? run_program(f, GIVEN) : runs[f->way](f, GIVEN);
}

/* ----------------------------------------------------------------------------- what stands in tables and
 * structures */

static void run_kernel(int number, double t, const double *x, const double *r, const double *c, double *work,
                       double *out)
{
    const kc_coded_kernel *const k = machine_of(c)->kernels + number;
    const int fault = run(k->function, t, x, r, c, work + 2, out + k->offset);
    if (KC_UNLIKELY(fault))
        kc_fail(work, out, (int)k->n, fault);
    else if (k->before)
        run(k->before, t, x, r, c, work + 2, out);
}

static void prepare(const double *p, double *c)
{
    const kc_machine *const m = machine_of(c);
    double w[m->prepare_room];
    run(m->prepare, 0.0, p, NULL, c, w, c);
    if (m->counting)
        run(m->counting, 0.0, NULL, NULL, c, w, c + m->n_prepared - 1);
}

static void fill_equations(void *equations, int n, int m, int k, int symmetric, int correction)
{
    const kc_saddle s = {
        .n = n, .m = m, .k = k, .purpose = correction ? KC_CORRECTION : KC_MOTION, .symmetric = symmetric};
    *(kc_saddle *)equations = s;
}

static void fill_axis(void *spline, int axis, const double *knots, int n)
{
    ((kc_spline *)spline)->axes[axis] = (kc_axis){knots, n};
}

static void fill_spline(void *spline, const double *hermite, int outside)
{
    ((kc_spline *)spline)->hermite = hermite, ((kc_spline *)spline)->outside = outside;
}

#define KERNEL(i)                                                                                            \
    static void kernel_##i(double t, const double *x, const double *r, const double *c, double *work,        \
                           double *out)                                                                      \
    {                                                                                                        \
        run_kernel(0##i, t, x, r, c, work, out);                                                             \
    }
#define FUNCTION_OF_CODE(i)                                                                                  \
    static int function_##i(ARGUMENTS)                                                                       \
    {                                                                                                        \
        return run(machine_of(c)->functions[0##i], GIVEN);                                                   \
    }
#define NAME_OF_KERNEL(i)   kernel_##i,
#define NAME_OF_FUNCTION(i) function_##i,

/* Octal numbers: 64 and 512 of them. */
#define EIGHT(X, i) X(i##0) X(i##1) X(i##2) X(i##3) X(i##4) X(i##5) X(i##6) X(i##7)
#define KERNELS(X)                                                                                           \
    EIGHT(X, 0) EIGHT(X, 1) EIGHT(X, 2) EIGHT(X, 3) EIGHT(X, 4) EIGHT(X, 5) EIGHT(X, 6) EIGHT(X, 7)
#define SIXTY_FOUR(X, i)                                                                                     \
    EIGHT(X, i##0)                                                                                           \
    EIGHT(X, i##1) EIGHT(X, i##2) EIGHT(X, i##3) EIGHT(X, i##4) EIGHT(X, i##5) EIGHT(X, i##6) EIGHT(X, i##7)
#define FUNCTIONS(X)                                                                                         \
    SIXTY_FOUR(X, 0)                                                                                         \
    SIXTY_FOUR(X, 1)                                                                                         \
    SIXTY_FOUR(X, 2) SIXTY_FOUR(X, 3) SIXTY_FOUR(X, 4) SIXTY_FOUR(X, 5) SIXTY_FOUR(X, 6) SIXTY_FOUR(X, 7)

KERNELS(KERNEL)
FUNCTIONS(FUNCTION_OF_CODE)

static kc_kernel *const kernels[KC_CODED_KERNELS] = {KERNELS(NAME_OF_KERNEL)};
static kc_coded_call *const functions[KC_CODED_FUNCTIONS] = {FUNCTIONS(NAME_OF_FUNCTION)};

const kc_machine_kind KC_THIS_KIND = {ways,           sizeof(kc_saddle), sizeof(kc_spline),
                                      fill_equations, fill_axis,         fill_spline,
                                      prepare,        kernels,           functions};
