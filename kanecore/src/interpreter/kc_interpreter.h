/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_interpreter.h: models without a compiler.  Their functions are code (kanecore/emit/bytecode.py), which
 * an interpreter executes with the arithmetic of the C text, so that the bits are the same.
 *
 * A kernel has no argument for its model.  So the address of the model's code is in c[0], before the
 * parameters, as the addresses of C functions are after them.  Kernel k of all such models is the same C
 * function.
 */
#ifndef KC_MACHINE_H
#define KC_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "kanecore.h"
#include "kc_operations.h"

/*
 * Operations: name, number of operands, number of results.  Code has the number of the operation, the number
 * of repetitions, and then the operands of each.  Operands of operations marked * are more than registers:
 *
 *     half_power  a, k             a^k sqrt(a)
 *     apply       spline, n, m, m times the orders by n arguments, n arguments; it makes m values
 *     pivot       a, b, speed      the function ends unless a > b
 *     limit       a                ... unless a <= 0
 */
#define KC_OPERATIONS(OPERATION)                                                                             \
    OPERATION(fma, 3, 1)                                                                                     \
    OPERATION(fms, 3, 1)                                                                                     \
    OPERATION(fnma, 3, 1)                                                                                    \
    OPERATION(fnms, 3, 1)                                                                                    \
    OPERATION(sincos, 1, 2)                                                                                  \
    OPERATION(half_power, 2, 1) /* * */                                                                      \
    KC_OF_GRAPH(OPERATION)                                                                                   \
    OPERATION(call, 2, 1)  /* an address, an argument */                                                     \
    OPERATION(apply, 3, 0) /* * */                                                                           \
    OPERATION(pivot, 3, 0) /* * */                                                                           \
    OPERATION(limit, 1, 0) /* * */                                                                           \
    OPERATION(end, 0, 0)

#define KC_NUMBERED(name, operands, results) KC_OP_##name,
enum { KC_OPERATIONS(KC_NUMBERED) KC_N_OPERATIONS };

/* Arrays that a program reads, or writes. */
enum { KC_IN_T, KC_IN_X, KC_IN_R, KC_IN_C, KC_IN_W, KC_IN_OUT, KC_ARRAYS };

#define KC_NEGATIVE UINT32_C(0x80000000) /* in `stores`: the stored value is the negative of a register */

/*
 * A part of a program.  Its values are in registers z, each written once, in the order [constants, loaded
 * values, results of operations].  The lists of loads and stores end with KC_ARRAYS.
 */
typedef struct kc_coded_part {
    const double *constants;
    const uint32_t *loads;  /* an array, number of loads, their places; ... */
    const uint32_t *stores; /* an array, number of stores, for each its place and a register; ... */
    const uint16_t *code;
    uint32_t n_constants;
} kc_coded_part;

/* A function of a model: a program, or a solver of equations filled by other functions. */
typedef struct kc_coded_function {
    int way;                    /* the number of the solver, or KC_PROGRAM */
    int n_parts;                /* of a program */
    const kc_coded_part *parts; /* of a program */
    uint32_t clear;             /* of a program: number of zeros first in `out` */
    uint32_t width;             /* of a program: start of the registers in w */
    const void *structure;      /* of a solver: its members */
    const void *equations;      /* of a solver: a kc_saddle, or NULL */
    const void *splines;        /* kc_spline: those that the code refers to by number */
} kc_coded_function;

enum { KC_PROGRAM = -1 };

/* A kernel in the table of a model, with `n` results: a function that fills `out` from `offset` on, and for
 * `rhs` a function that fills the numbers before. */
typedef struct kc_coded_kernel {
    const kc_coded_function *function, *before;
    uint32_t offset, n;
} kc_coded_kernel;

enum { KC_CODED_KERNELS = 128, KC_CODED_FUNCTIONS = 512 };

/* The code of a model; its address is in c[0]. */
typedef struct kc_machine {
    kc_coded_kernel kernels[KC_CODED_KERNELS];
    const kc_coded_function *functions[KC_CODED_FUNCTIONS]; /* functions that others call */
    const kc_coded_function *prepare;                       /* reads p in place of x, and writes c */
    const kc_coded_function
        *counting; /* finds the number of rows of G that count, the last of c; NULL: `prepare` does */
    uint32_t prepare_room, n_prepared;
} kc_machine;

/* A member of the structure of a solver. */
typedef enum kc_member_kind { KC_NUMBER, KC_INTEGERS, KC_REALS, KC_FUNCTION, KC_EQUATIONS } kc_member_kind;

typedef struct kc_coded_member {
    const char *name;
    kc_member_kind kind;
    size_t offset;
} kc_coded_member;

typedef struct kc_coded_way {
    const char *name;
    size_t size; /* of its structure */
    const kc_coded_member *members;
    int n_sizes;
    int (*room)(const int *sizes); /* size of its arrays, in numbers */
} kc_coded_way;

/* A function of the model whose code c names, as a kc_function (emit/runtime/equations.h). */
typedef int kc_coded_call(double t, const double *x, const double *r, const double *c, double *w,
                          double *out);

/* An interpreter for processors of one kind. */
typedef struct kc_machine_kind {
    const kc_coded_way *ways; /* the last one has no name */
    size_t equations, spline; /* the sizes of a kc_saddle and a kc_spline */
    void (*fill_equations)(void *equations, int n, int m, int k, int symmetric, int correction);
    void (*fill_axis)(void *spline, int axis, const double *knots, int n);
    void (*fill_spline)(void *spline, const double *hermite, int outside);
    void (*prepare)(const double *p, double *c);
    kc_kernel *const *kernels;       /* KC_CODED_KERNELS */
    kc_coded_call *const *functions; /* KC_CODED_FUNCTIONS */
} kc_machine_kind;

extern const kc_machine_kind kc_machine_plain, kc_machine_fused;

/* The interpreter for this processor. */
const kc_machine_kind *kc_this_machine(void);

/* Names and numbers of operands and results of the operations, in order; the last one has no name. */
typedef struct kc_operation {
    const char *name;
    int operands, results;
} kc_operation;
extern const kc_operation kc_operations[];

/*
 * Number of registers of a part; 0 if its code reads a register before it is written, does not end within n
 * numbers, or has an unknown operation.
 */
uint32_t kc_check_code(const kc_coded_part *part, uint32_t n_loads, size_t n, uint32_t n_splines);

#endif /* KC_MACHINE_H */
