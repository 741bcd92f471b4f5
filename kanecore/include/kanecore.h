/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kanecore.h: the contract between a compiled model and any program that runs it.
 *
 * A model is one table of sizes, names and function pointers, got by calling the only symbol
 * that its library exports, kc_get_model().  Everything is immutable: any number of threads may
 * call any kernel at once, each with its own `work` and `out`.  Nothing here allocates.
 *
 *     const kc_model *m = kc_get_model();
 *     m->prepare(p, c);                      once, whenever a parameter changes
 *     m->rhs(t, x, r, c, work, xdot);        as often as you like
 *
 * Lengths, in doubles (KC_SINGLE: in floats):
 *     p     n_p          parameters, in the order of p_names
 *     c     n_prepared   prepared constants: p itself, then what depends on p alone; of a model that calls C
 *                        functions (info: "functions") their addresses stand between, four doubles for
 *                        each: f and its derivatives. They are put there before prepare() is called.
 *                        In a model without a compiler c begins with one number more, the address of its code
 *     x     n_x          = n_q + n_u + n_z: coordinates, speeds, first-order states; kernels marked [udot]
 *                        read n_u more, the derivatives of the speeds, and those marked [udot, lambda] then
 *                        n_constraints more, the multipliers, and vectors of the lengths that follow there
 *     r     n_r          inputs: forces, prescribed motions and their rates
 *     work  n_work       scratch of the caller's, never read before it is written; at least 2
 * `x`, `r`, `c` are read only and may not overlap `work` or `out`.
 */
#ifndef KANECORE_H
#define KANECORE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a field changes meaning; the table may grow at its end without it. */
#define KC_ABI_VERSION 10u

#include "kc_status.h" /* what kernels write to work[0], and integrators return */

/*
 * A kernel is a total function: it returns in every case.  On entry work[0] is ignored.  A kernel
 * that finds no solution of linear equations writes a kc_status to work[0], the zero-based number of the
 * speed, the row of G or the constraint on coordinates to work[1], and fills `out` with NaN.
 * Other kernels leave work[0] alone.  Callers set work[0] = 0 before, and look after.
 */
typedef void kc_kernel(double t, const double *x, const double *r, const double *c, double *work,
                       double *out);

/* The constants c of parameters p. */
typedef void kc_prepare(const double *p, double *c);

/*
 * A model in single precision has KC_SINGLE among its flags.  All its numbers are floats but t and the
 * defaults in the table: x, r, p, c, work and out, those of lanes as well.  The table holds its functions
 * under the types above; call them as these:
 */
typedef void kc_single_kernel(double t, const float *x, const float *r, const float *c, float *work,
                              float *out);
typedef void kc_single_prepare(const float *p, float *c);

/*
 * Constraints: G udot + gamma = 0, M udot = f + G' lambda.  c[n_prepared - 1] is the number of rows of G that
 * count, their rank at states on the constraints with these parameters; prepare() finds it.  A caller on a
 * part of the manifold where the rank is another one puts that number there.
 *
 * Stabilization (Baumgarte 1972): with udot + 2 alpha a + beta^2 b in place of udot the rows of G that stem
 * from configuration constraints give phi'' + 2 alpha phi' + beta^2 phi = 0, those on velocities
 * c' + 2 alpha c = 0.
 */

/*
 * Several states side by side, one in each lane: arrays hold all lanes' values of one number, then those of
 * the next, x[i * n_lanes + lane], so t has n_lanes values.  That is a block; up to KC_MOST_BLOCKS of them,
 * each with arrays of its own behind those of the one before, take one call. c is that of all.  All arrays
 * begin at multiples of the size of n_lanes numbers. `undone` gets a number for each block, a bit for each
 * lane without results: where the kernel of kc_model may fail, or its result may not be finite. Call that one
 * for them. All other lanes hold the bits that it gives for their states.
 */
enum { KC_MOST_BLOCKS = 8 };
typedef void kc_lane_kernel(uint32_t n_blocks, const double *t, const double *x, const double *r,
                            const double *c, double *work, double *out, uint32_t *undone);

/* n numbers from where each lane's row begins, and back. */
typedef void kc_gather_rows(uint32_t n, const double *const *rows, double *to);
typedef void kc_scatter_rows(uint32_t n, const double *values, double *const *rows);
/* The same for n_blocks in turn.  Rows begin `step` numbers apart, and their numbers lie `span` apart; one of
 * both is 1.  In lanes the numbers of blocks begin `length` numbers of each lane apart.  Short rows are read
 * and written beyond their end, in order: n_lanes further rows follow. */
typedef void kc_gather_blocks(uint32_t n_blocks, uint32_t n, const double *from, int64_t step, int64_t span,
                              double *to, uint32_t length);
typedef void kc_scatter_blocks(uint32_t n_blocks, uint32_t n, const double *values, double *to);

typedef struct kc_lanes {
    uint32_t struct_size, n_lanes;
    uint32_t n_prepared, n_work; /* numbers in each lane of c and work */

    kc_gather_rows *gather;
    kc_scatter_rows *scatter;
    kc_gather_blocks *gather_blocks;
    kc_scatter_blocks *scatter_blocks; /* to rows that follow one another */
    kc_prepare *prepare;               /* NULL where kc_model's must prepare each lane's constants */

#define kc_kernel kc_lane_kernel
#include "kc_kernels.h"
#undef kc_kernel
} kc_lanes;

enum {
    KC_QDOT_IS_U = 1, /* qdot = u, element by element: the robotics names apply */
    KC_SINGLE = 2     /* numbers are floats, see kc_single_kernel */
};

typedef struct kc_model {
    uint32_t abi_version, struct_size; /* read these first */
    uint32_t n_q, n_u, n_p, n_r, n_prepared, n_work;
    uint32_t n_points, n_frames; /* of the kernels of partial velocities */
    uint32_t n_outputs, n_joints;
    uint32_t n_bodies, n_loads;            /* forces and torques, each at one place */
    uint32_t n_potentials;                 /* potential energies that stand for forces */
    uint32_t n_info;                       /* pieces of info */
    uint32_t n_unit;                       /* unit quaternions in x */
    uint32_t flags;                        /* KC_QDOT_IS_U, KC_SINGLE, both, or 0 */
    uint32_t n_constraints;                /* rows of G */
    uint32_t n_configuration;              /* constraints on coordinates */
    uint32_t n_velocity;                   /* rows of G on velocities, which come first */
    uint32_t n_auxiliary;                  /* auxiliary speeds, which are not in x */
    uint32_t n_q_dependent, n_u_dependent; /* the last of q and u that depend on the others */
    uint32_t n_z;                          /* first-order states, behind q and u in x */
    uint32_t n_reactions, n_shares;        /* that loads depend on, and parts of loads that do */
    const char *name;
    /* UTF-8; behind the last name of a list stands NULL; a list without names may be NULL itself */
    const char *const *info; /* pieces of JSON: operation counts, source, package version */
    const char *const *q_names, *const *u_names, *const *z_names, *const *p_names, *const *r_names;
    const char *const *point_names, *const *frame_names, *const *output_names;
    const char *const *joint_names, *const *body_names;
    const char *const *constraint_names; /* of the rows of G */
    const uint32_t *unit;                /* 4 n_unit places in x of unit quaternions, e0 e1 e2 e3 each */
    const double *p_default;             /* n_p values, NaN where the user must give one */
    const double *r_default; /* n_r values, NaN where the user must give one (prescribed motion) */
    const int32_t *r_rates;  /* n_r: the number of the input that is the derivative of this one, -1: none;
                                NULL: of none */

    const kc_lanes *lanes; /* NULL: none */

    kc_prepare *prepare;

#include "kc_kernels.h" /* and the kernels, whose order never changes; the table may grow at its end */
} kc_model;

/* The only symbol that a model's library exports; whoever puts a model into another library defines KC_EXPORT
 * as nothing. */
#if defined(KC_EXPORT)
#elif defined(_WIN32)
#define KC_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define KC_EXPORT __attribute__((visibility("default")))
#else
#define KC_EXPORT
#endif
KC_EXPORT const kc_model *kc_get_model(void);

#ifdef __cplusplus
}
#endif
#endif /* KANECORE_H */
