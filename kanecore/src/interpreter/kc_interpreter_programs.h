/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_interpreter_programs.h: the interpreter, for the processors of its compiler's options: programs, tables
 * and structures. kc_interpreter.c and kc_interpreter_fma.c include it.  Its arithmetic and the solvers come
 * from the headers of emitted text, emit/runtime.
 */
#include "kc_interpreter.h"

#include <string.h>

#include "prelude.h"
#include "double.h"
#include "number_bits.h"
#include "sincos.h"
#include "large_angles.h"
#include "scalar.h"
#include "arithmetic.h"
#include "kc_tolerances.h"
#include "equations.h"
#include "vector_loops.h"
#include "linear_solver.h"
#include "constraint_solver.h"
#include "fronts.h"
#include "constrained_motion.h"
#include "projection_and_rank.h"
#include "projection_gradient.h"
#include "linearize.h"
#include "reduced_motion.h"
#include "front_balance.h"
#include "reduced_linearization.h"
#include "tree_factors.h"
#include "mass_matrix_inverse.h"
#include "motion_products.h"
#include "factored_products.h"
#include "second_derivatives.h"
#include "factored_hessian.h"
#include "state_rows.h"
#include "load_faults.h"
#include "spatial_vectors.h"
#include "composite_bodies.h"
#include "tree_derivatives.h"
#include "spline.h"

static const kc_machine *machine_of(const double *c)
{
    return (const kc_machine *)(uintptr_t)c[0];
}

/* The arguments of a function. */
#define ARGUMENTS double t, const double *x, const double *r, const double *c, double *w, double *out
#define GIVEN     t, x, r, c, w, out

static double half_power(double a, int k)
{
    double power = a;
    for (int i = 1; i < k; i++)
        power *= a;
    return power * sqrt(a);
}

/* Derivatives of a spline at the same arguments. */
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

#define A z[k[0]]
#define B z[k[1]]
#define C z[k[2]]
#define DO(operation, operands, expression)                                                                  \
    case KC_OP_##operation:                                                                                  \
        for (const uint16_t *const last = k + (operands) * n; k != last; k += (operands))                    \
            *next++ = (expression);                                                                          \
        break;
#define END_UNLESS(operation, operands, condition, fault)                                                    \
    case KC_OP_##operation:                                                                                  \
        for (int i = 0; i < n; i++, k += (operands))                                                         \
            if (KC_UNLIKELY(!(condition)))                                                                   \
                return fault;                                                                                \
        break;

/* Execute operations, with results from `next` on.  Returns 0, or a fault. */
static int execute(const uint16_t *k, double *z, double *next, const kc_spline *splines)
{
    for (;;) {
        const int operation = k[0], n = k[1];
        k += 2;
        switch (operation) {
            DO(fma, 3, KC_FMA(A, B, C))
            DO(fms, 3, KC_FMS(A, B, C))
            DO(fnma, 3, KC_FNMA(A, B, C))
            DO(fnms, 3, KC_FNMS(A, B, C))
            DO(half_power, 2, half_power(A, k[1]))
            KC_COMPUTED(DO)
            DO(call, 2, ((double (*)(double))(uintptr_t)A)(B))
            END_UNLESS(pivot, 3, A > B, KC_FAULT(KC_SINGULAR, k[2]))
            END_UNLESS(limit, 1, A <= 0.0, KC_NOT_HERE)
        case KC_OP_sincos:
            for (int i = 0; i < n; i++, next += 2)
                kc_sincos(z[*k++], next, next + 1);
            break;
        case KC_OP_apply:
            for (int i = 0; i < n; i++, k += 3 + k[1] * (k[2] + 1))
                next = apply_spline(splines + k[0], k + 1, z, next);
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

static int run_program(const kc_coded_function *f, ARGUMENTS)
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

#include "kc_interpreter_solvers.h"

typedef int run_way(const kc_coded_function *f, ARGUMENTS);

/* name, structure, members and room, number of sizes in its room */
#define WAYS(WAY)                                                                                            \
    WAY(after_motion, after_motion, after_motion, 2)                                                         \
    WAY(short_way, short_way, short_way, 0)                                                                  \
    WAY(chain, kc_chain, chain, 4)                                                                           \
    WAY(state_rows, kc_state_rows, state_rows, 3)                                                            \
    WAY(asked, kc_asked, asked, 1)                                                                           \
    WAY(motion, kc_motion, motion, 4)                                                                        \
    WAY(general_motion, kc_motion, motion, 4)                                                                \
    WAY(front_motion, kc_front_motion, front_motion, 5)                                                      \
    WAY(free_motion, kc_free_motion, free_motion, 1)                                                         \
    WAY(balance, kc_balance, balance, 2)                                                                     \
    WAY(front_balance, kc_front_balance, front_balance, 5)                                                   \
    WAY(return, kc_return, return, 3)                                                                        \
    WAY(projection, kc_projection, projection, 5)                                                            \
    WAY(projection_gradient, kc_projection, projection_gradient, 7)                                          \
    WAY(linearization, kc_linearization, linearization, 4)                                                   \
    WAY(free_linearization, kc_linearization, linearization, 4)                                              \
    WAY(reduced_linearization, kc_reduced_linearization, reduced_linearization, 7)                           \
    WAY(inverse, kc_inversion, inverse, 1)                                                                   \
    WAY(matrix_product, kc_matrix_product, matrix_product, 2)                                                \
    WAY(product, kc_factored_product, product, 6)                                                            \
    WAY(general_product, kc_product, general_product, 3)                                                     \
    WAY(free_product, kc_product, general_product, 3)                                                        \
    WAY(composites, kc_composites, composites, 1)                                                            \
    WAY(hessian, kc_hessian, hessian, 1)                                                                     \
    WAY(factored_hessian, kc_factored_hessian, factored_hessian, 2)                                          \
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

/* Octal numbers: 128 and 512 of them. */
#define EIGHT(X, i) X(i##0) X(i##1) X(i##2) X(i##3) X(i##4) X(i##5) X(i##6) X(i##7)
#define SIXTY_FOUR(X, i)                                                                                     \
    EIGHT(X, i##0)                                                                                           \
    EIGHT(X, i##1) EIGHT(X, i##2) EIGHT(X, i##3) EIGHT(X, i##4) EIGHT(X, i##5) EIGHT(X, i##6) EIGHT(X, i##7)
#define KERNELS(X) SIXTY_FOUR(X, 0) SIXTY_FOUR(X, 1)
#define FUNCTIONS(X)                                                                                         \
    SIXTY_FOUR(X, 0)                                                                                         \
    SIXTY_FOUR(X, 1)                                                                                         \
    SIXTY_FOUR(X, 2) SIXTY_FOUR(X, 3) SIXTY_FOUR(X, 4) SIXTY_FOUR(X, 5) SIXTY_FOUR(X, 6) SIXTY_FOUR(X, 7)

/* Raise KC_CODED_KERNELS, and KERNELS, if this does not compile. */
typedef char there_is_one_for_each_kernel
    [offsetof(kc_model, rhs) + KC_CODED_KERNELS * sizeof(kc_kernel *) >= sizeof(kc_model) ? 1 : -1];

KERNELS(KERNEL)
FUNCTIONS(FUNCTION_OF_CODE)

static kc_kernel *const kernels[KC_CODED_KERNELS] = {KERNELS(NAME_OF_KERNEL)};
static kc_coded_call *const functions[KC_CODED_FUNCTIONS] = {FUNCTIONS(NAME_OF_FUNCTION)};

const kc_machine_kind KC_THIS_KIND = {ways,           sizeof(kc_saddle), sizeof(kc_spline),
                                      fill_equations, fill_axis,         fill_spline,
                                      prepare,        kernels,           functions};
