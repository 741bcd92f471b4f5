# Generated from kernels.py by kanecore.build.generated_sources.
# SPDX-License-Identifier: BSD-3-Clause
from libc.stdint cimport int32_t, int64_t, uint32_t

cdef extern from "kanecore.h" nogil:
    ctypedef enum kc_status:
        KC_OK
        KC_SINGULAR
        KC_NONFINITE
        KC_STEP_SIZE
        KC_MAX_STEPS
        KC_STOPPED
        KC_CONTRADICTORY
        KC_LOST
        KC_UNSATISFIED_ROW
        KC_UNSATISFIED_CONFIGURATION
        KC_CHATTER
        KC_JUMP
        KC_STALLED
        KC_NO_METHOD
        KC_JAMMED
        KC_UNCONVERGED

    ctypedef void kc_kernel(double t, const double *x, const double *r, const double *c, double *work,
                            double *out) noexcept nogil
    ctypedef void kc_prepare(const double *p, double *c) noexcept nogil
    ctypedef void kc_single_kernel(double t, const float *x, const float *r, const float *c, float *work,
                                   float *out) noexcept nogil
    ctypedef void kc_single_prepare(const float *p, float *c) noexcept nogil
    enum:
        KC_MOST_BLOCKS
    ctypedef void kc_lane_kernel(uint32_t n_blocks, const double *t, const double *x, const double *r, const double *c,
                                 double *work, double *out, uint32_t *undone) noexcept nogil

    ctypedef struct kc_lanes:
        uint32_t struct_size, n_lanes, n_prepared, n_work
        void (*gather)(uint32_t n, const double *const *rows, double *to) noexcept nogil
        void (*scatter)(uint32_t n, const double *values, double *const *rows) noexcept nogil
        void (*gather_blocks)(uint32_t n_blocks, uint32_t n, const double *begin, int64_t step, int64_t span,
                              double *to, uint32_t length) noexcept nogil
        void (*scatter_blocks)(uint32_t n_blocks, uint32_t n, const double *values, double *to) noexcept nogil
        kc_prepare *prepare
        kc_lane_kernel *rhs     # and all others, in the order of kc_model

    ctypedef struct kc_model:
        uint32_t abi_version, struct_size
        uint32_t n_q, n_u, n_p, n_r, n_prepared, n_work
        uint32_t n_points, n_frames, n_outputs, n_joints, n_bodies, n_loads, n_potentials, n_info, n_unit, flags
        uint32_t n_constraints, n_configuration, n_velocity
        uint32_t n_auxiliary, n_q_dependent, n_u_dependent, n_z, n_reactions, n_shares
        const char *name
        const char *const *info
        const char *const *q_names
        const char *const *u_names
        const char *const *z_names
        const char *const *p_names
        const char *const *r_names
        const char *const *point_names
        const char *const *frame_names
        const char *const *output_names
        const char *const *joint_names
        const char *const *body_names
        const char *const *constraint_names
        const uint32_t *unit
        const double *p_default
        const double *r_default
        const int32_t *r_rates
        const kc_lanes *lanes
        kc_prepare *prepare
        kc_kernel *rhs
        kc_kernel *udot
        kc_kernel *qdot
        kc_kernel *mass_matrix
        kc_kernel *forcing
        kc_kernel *outputs
        kc_kernel *partial_velocities
        kc_kernel *velocity_remainders
        kc_kernel *partial_angular_velocities
        kc_kernel *angular_velocity_remainders
        kc_kernel *generalized_active_forces
        kc_kernel *generalized_inertia_forces
        kc_kernel *inverse_dynamics
        kc_kernel *kinetic_energy
        kc_kernel *potential_energy
        kc_kernel *power
        kc_kernel *reactions
        kc_kernel *reaction_slopes
        kc_kernel *configuration_residual
        kc_kernel *configuration_jacobian
        kc_kernel *velocity_residual
        kc_kernel *constraint_sizes
        kc_kernel *constraint_jacobian
        kc_kernel *constraint_bias
        kc_kernel *multipliers
        kc_kernel *stabilization
        kc_kernel *project
        kc_kernel *linearize
        kc_kernel *constraint_slopes
        kc_kernel *auxiliary_forces
        kc_kernel *positions
        kc_kernel *orientations
        kc_kernel *load_vectors
        kc_kernel *body_momenta
        kc_kernel *inertia_forces
        kc_kernel *momenta
        kc_kernel *gibbs
        kc_kernel *coordinate_forces
        kc_kernel *equations_residual
        kc_kernel *generalized_momenta
        kc_kernel *hamiltonian
        kc_kernel *kinetic_energy_parts
        kc_kernel *momentum_rates
        kc_kernel *velocities
        kc_kernel *angular_velocities
        kc_kernel *masses
        kc_kernel *potentials
        kc_kernel *inertial_loads
        kc_kernel *hamiltonian_rate
        kc_kernel *joint_positions
        kc_kernel *attached_wrenches
        kc_kernel *rhs_time_derivative
        kc_kernel *rhs_parameter_jacobian
        kc_kernel *output_jacobian
        kc_kernel *coriolis_matrix
        kc_kernel *gravity_forces
        kc_kernel *accelerations
        kc_kernel *angular_accelerations
        kc_kernel *gravity_field
        kc_kernel *inverse_dynamics_tangent
        kc_kernel *inverse_dynamics_gradient
        kc_kernel *regressor
        kc_kernel *inertial_parameters
        kc_kernel *hessian_products
        kc_kernel *forward_dynamics
        kc_kernel *output_slopes
        kc_kernel *joint_regressor
        kc_kernel *auxiliary_partials
        kc_kernel *rhs_tangent
        kc_kernel *rhs_gradient
        kc_kernel *rhs_parameter_tangent
        kc_kernel *rhs_parameter_gradient
        kc_kernel *mass_matrix_inverse
        kc_kernel *zdot
        kc_kernel *rhs_hessian
        kc_kernel *reaction_shares
        kc_kernel *share_laws
        kc_kernel *output_tangent
        kc_kernel *output_gradient
        kc_kernel *project_gradient
        kc_kernel *jacobian_terms
