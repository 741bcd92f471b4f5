/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kanecore.h: the contract between a compiled model and whatever runs it.
 *
 * A model is one table of sizes, names and function pointers, got by calling the only symbol
 * that its library exports, kc_get_model().  Everything is immutable: any number of threads may
 * call any kernel at once, each with its own `work` and `out`.  Nothing here allocates.
 *
 *     const kc_model *m = kc_get_model();
 *     m->prepare(p, c);                      once, whenever a parameter changes
 *     m->rhs(t, x, r, c, work, xdot);        as often as you like
 *
 * Lengths, in doubles:
 *     p     n_p          parameters, in the order of p_names
 *     c     n_prepared   prepared constants: p itself, then what depends on p alone
 *     x     n_q + n_u    coordinates, then speeds; kernels marked [udot] read n_u more, the
 *                        derivatives of the speeds
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
#define KC_ABI_VERSION 4u

typedef enum kc_status {
    KC_OK = 0,
    KC_SINGULAR = 1,   /* the mass matrix, or a row of G, is lost: see work[1] */
    KC_NONFINITE = 2,  /* finite input led to a result that is not */
    KC_STEP_SIZE = 3,  /* an adaptive integrator would need a step below rounding */
    KC_MAX_STEPS = 4,  /* ... or more steps than allowed */
    KC_STOPPED = 5,    /* a callback asked for the end */
    KC_CONTRADICTORY = 6 /* rows of G ask for different accelerations: see work[1] */
} kc_status;

/*
 * A kernel is a total function: it returns in every case.  On entry work[0] is ignored.  A kernel
 * that finds no solution of linear equations writes a kc_status to work[0], and fills `out` with NaN.
 * work[1] is then the zero-based number of the speed that has no pivot, or n_u + the row of G that is
 * lost, or contradicts those before it (`project`: that cannot be satisfied, and n_u + n_constraints +
 * the number of a configuration constraint).
 * Other kernels leave work[0] alone.  Callers set work[0] = 0 before, and look after.
 */
typedef void kc_kernel(double t, const double *x, const double *r, const double *c, double *work,
                       double *out);

enum {
    KC_QDOT_IS_U = 1,      /* qdot = u, element by element: the robotics names apply */
    KC_CONSERVATIVE = 2    /* kinetic + potential energy is constant: `power` is zero */
};

typedef struct kc_model {
    uint32_t abi_version, struct_size; /* read these first */
    uint32_t n_q, n_u, n_p, n_r, n_prepared, n_work;
    uint32_t n_points, n_frames, n_outputs, n_joints, n_unit, flags;
    uint32_t n_constraints;    /* rows of G */
    uint32_t n_configuration, n_velocity; /* constraints on coordinates; rows of G on velocities, its first */
    uint32_t n_auxiliary, n_q_dependent, n_u_dependent;
    const char *name;
    const char *info; /* JSON: operation counts, source, package version */
    const char *const *q_names, *const *u_names, *const *p_names, *const *r_names;
    const char *const *point_names, *const *frame_names, *const *output_names;
    const char *const *joint_names;
    const char *const *constraint_names; /* of the rows of G */
    const uint32_t *unit; /* 4 n_unit places in x of unit quaternions, e0 e1 e2 e3 each */
    const double *p_default; /* n_p values, NaN where the user must give one */
    const double *r_default; /* n_r values, NaN where the user must give one (prescribed motion) */
    const int32_t *r_rates; /* n_r: the number of the input that is the derivative of this one, -1: none;
                               NULL: of none */

    void (*prepare)(const double *p, double *c);

    /* Kernels; NULL where the library does not hold them.             length of out         */
    kc_kernel *rhs; /* [qdot, udot]               n_q + n_u             */
    kc_kernel *udot; /* M udot = f, solved         n_u                   */
    kc_kernel *qdot; /* Y u + z                    n_q                   */
    kc_kernel *mass_matrix; /* M, row by row              n_u * n_u             */
    kc_kernel *forcing; /* f                          n_u                   */
    kc_kernel *outputs; /*                            n_outputs             */
    kc_kernel *partial_velocities; /* v_r, inertial axes         n_points * n_u * 3    */
    kc_kernel *velocity_remainders; /* v_t                        n_points * 3          */
    kc_kernel *partial_angular_velocities; /* omega_r                    n_frames * n_u * 3    */
    kc_kernel *angular_velocity_remainders; /* omega_t                    n_frames * 3          */
    kc_kernel *generalized_active_forces; /* F_r                        n_u                   */
    kc_kernel *generalized_inertia_forces; /* F*_r [udot]                n_u                   */
    kc_kernel *inverse_dynamics; /* -(F_r + F*_r) [udot]       n_u                   */
    kc_kernel *kinetic_energy; /* T                          1                     */
    kc_kernel *potential_energy; /* U                          1                     */
    kc_kernel *power; /* d(T + U)/dt [udot]         1                     */
    kc_kernel *reactions; /* force, torque on the child n_joints * 6          */
    kc_kernel *reaction_slopes; /* their d/d lambda           n_joints * 6 * n_constraints */
    /*
     * Constraints: G udot + gamma = 0, M udot = f + G' lambda.  c[n_prepared - 1] is the number of rows of G
     * that count, their rank at states on the constraints with these parameters; prepare() finds it.  Where
     * the rank is another one on that part of the manifold where the caller is, they put that number there.
     */
    kc_kernel *configuration_residual; /* phi(q, t)                  n_configuration       */
    kc_kernel *configuration_jacobian; /* dphi/dq                    n_configuration * n_q */
    kc_kernel *velocity_residual; /* c(q, u, t)                 n_velocity            */
    kc_kernel *constraint_sizes; /* what phi, c are sums of    n_configuration + n_velocity */
    kc_kernel *constraint_jacobian; /* G                          n_constraints * n_u   */
    kc_kernel *constraint_bias; /* gamma                      n_constraints         */
    kc_kernel *multipliers; /* lambda, of least norm      n_constraints         */
    kc_kernel *stabilization; /* [a, b]                     2 * n_u               */
    kc_kernel *project; /* nearest x on them          n_q + n_u             */
    /*
     * With udot + 2 alpha a + beta^2 b in place of udot the rows of G that stem from configuration
     * constraints give phi'' + 2 alpha phi' + beta^2 phi = 0, those on velocities c' + 2 alpha c = 0
     * (Baumgarte 1972).
     */
    kc_kernel *linearize; /* d xdot/d(x, r)             n_x * (n_x + n_r)     */
    kc_kernel *constraint_slopes; /* d(phi, c)/d(x, r)  (n_configuration + n_velocity) * (n_x + n_r) */
    kc_kernel *auxiliary_forces; /* of the auxiliary speeds    n_auxiliary           */
} kc_model;

/* The only symbol that a model's library exports. */
#if defined(_WIN32)
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
