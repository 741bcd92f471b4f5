# Generated from kernels.py by kanecore.build.generated_sources.
# SPDX-License-Identifier: BSD-3-Clause
# Numbers of the kernels, in the order of the C table, and facts of each.

cdef enum:
    K_RHS
    K_UDOT
    K_QDOT
    K_MASS_MATRIX
    K_FORCING
    K_OUTPUTS
    K_PARTIAL_VELOCITIES
    K_VELOCITY_REMAINDERS
    K_PARTIAL_ANGULAR_VELOCITIES
    K_ANGULAR_VELOCITY_REMAINDERS
    K_GENERALIZED_ACTIVE_FORCES
    K_GENERALIZED_INERTIA_FORCES
    K_INVERSE_DYNAMICS
    K_KINETIC_ENERGY
    K_POTENTIAL_ENERGY
    K_POWER
    K_REACTIONS
    K_REACTION_SLOPES
    K_CONFIGURATION_RESIDUAL
    K_CONFIGURATION_JACOBIAN
    K_VELOCITY_RESIDUAL
    K_CONSTRAINT_SIZES
    K_CONSTRAINT_JACOBIAN
    K_CONSTRAINT_BIAS
    K_MULTIPLIERS
    K_STABILIZATION
    K_PROJECT
    K_LINEARIZE
    K_CONSTRAINT_SLOPES
    K_AUXILIARY_FORCES
    K_POSITIONS
    K_ORIENTATIONS
    K_LOAD_VECTORS
    K_BODY_MOMENTA
    K_INERTIA_FORCES
    K_MOMENTA
    K_GIBBS
    K_COORDINATE_FORCES
    K_EQUATIONS_RESIDUAL
    K_GENERALIZED_MOMENTA
    K_HAMILTONIAN
    K_KINETIC_ENERGY_PARTS
    K_MOMENTUM_RATES
    K_VELOCITIES
    K_ANGULAR_VELOCITIES
    K_MASSES
    K_POTENTIALS
    K_INERTIAL_LOADS
    K_HAMILTONIAN_RATE
    K_JOINT_POSITIONS
    K_ATTACHED_WRENCHES
    K_RHS_TIME_DERIVATIVE
    K_RHS_PARAMETER_JACOBIAN
    K_OUTPUT_JACOBIAN
    K_CORIOLIS_MATRIX
    K_GRAVITY_FORCES
    K_ACCELERATIONS
    K_ANGULAR_ACCELERATIONS
    K_GRAVITY_FIELD
    K_INVERSE_DYNAMICS_TANGENT
    K_INVERSE_DYNAMICS_GRADIENT
    K_REGRESSOR
    K_INERTIAL_PARAMETERS
    K_HESSIAN_PRODUCTS
    K_FORWARD_DYNAMICS
    K_OUTPUT_SLOPES
    K_JOINT_REGRESSOR
    K_AUXILIARY_PARTIALS
    K_RHS_TANGENT
    K_RHS_GRADIENT
    K_RHS_PARAMETER_TANGENT
    K_RHS_PARAMETER_GRADIENT
    K_MASS_MATRIX_INVERSE
    K_ZDOT
    K_RHS_HESSIAN
    K_REACTION_SHARES
    K_SHARE_LAWS
    K_OUTPUT_TANGENT
    K_OUTPUT_GRADIENT
    K_PROJECT_GRADIENT
    K_JACOBIAN_TERMS
    N_KERNELS

cdef inline kc_kernel **first_kernel(const kc_model *m) noexcept nogil:
    """The first of the members of a table that are kernels; they follow each other."""
    return <kc_kernel **>&m.rhs


cdef inline kc_lane_kernel **first_lane_kernel(const kc_lanes *lanes) noexcept nogil:
    """The same of the kernels for several states side by side."""
    return <kc_lane_kernel **>&lanes.rhs


cdef inline bint reads_udot(int k) noexcept nogil:
    return k == K_GENERALIZED_INERTIA_FORCES or k == K_INVERSE_DYNAMICS or k == K_POWER or k == K_INERTIA_FORCES or k == K_GIBBS or k == K_EQUATIONS_RESIDUAL or k == K_MOMENTUM_RATES or k == K_INERTIAL_LOADS or k == K_HAMILTONIAN_RATE or k == K_ACCELERATIONS or k == K_ANGULAR_ACCELERATIONS or k == K_INVERSE_DYNAMICS_TANGENT or k == K_INVERSE_DYNAMICS_GRADIENT or k == K_REGRESSOR or k == K_HESSIAN_PRODUCTS or k == K_FORWARD_DYNAMICS or k == K_OUTPUT_SLOPES or k == K_JOINT_REGRESSOR or k == K_RHS_TANGENT or k == K_RHS_GRADIENT or k == K_RHS_PARAMETER_TANGENT or k == K_RHS_PARAMETER_GRADIENT or k == K_RHS_HESSIAN or k == K_SHARE_LAWS or k == K_OUTPUT_TANGENT or k == K_OUTPUT_GRADIENT or k == K_PROJECT_GRADIENT


cdef inline bint reads_multipliers(int k) noexcept nogil:
    return k == K_EQUATIONS_RESIDUAL or k == K_INVERSE_DYNAMICS_TANGENT or k == K_INVERSE_DYNAMICS_GRADIENT or k == K_HESSIAN_PRODUCTS or k == K_RHS_TANGENT or k == K_RHS_GRADIENT or k == K_RHS_PARAMETER_TANGENT or k == K_RHS_PARAMETER_GRADIENT or k == K_RHS_HESSIAN or k == K_SHARE_LAWS or k == K_OUTPUT_TANGENT or k == K_OUTPUT_GRADIENT or k == K_PROJECT_GRADIENT


cdef inline Py_ssize_t n_vectors(Libraries m, int k) noexcept nogil:
    """Count of the numbers after udot and lambda in the x of a kernel."""
    if k == K_INVERSE_DYNAMICS_TANGENT:
        return m.n_x + m.n_r + m.n_u
    if k == K_INVERSE_DYNAMICS_GRADIENT:
        return m.n_u
    if k == K_HESSIAN_PRODUCTS:
        return m.n_x + m.n_constraints + m.n_x + m.n_r + m.n_u + m.n_constraints
    if k == K_RHS_TANGENT:
        return m.n_x + m.n_r
    if k == K_RHS_GRADIENT:
        return m.n_x
    if k == K_RHS_PARAMETER_TANGENT:
        return m.n_p
    if k == K_RHS_PARAMETER_GRADIENT:
        return m.n_x
    if k == K_RHS_HESSIAN:
        return m.n_x
    if k == K_SHARE_LAWS:
        return m.n_reactions
    if k == K_OUTPUT_TANGENT:
        return m.n_x + m.n_r
    if k == K_OUTPUT_GRADIENT:
        return m.n_outputs
    if k == K_PROJECT_GRADIENT:
        return m.n_x
    return 0
