/* Generated from kernels.py by kanecore.build.generated_sources. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
/* The kernels of kc_model: NULL where the library does not hold them. */
kc_kernel *rhs; /* xdot = [qdot, udot, zdot]: n_q + n_u + n_z */
kc_kernel *udot; /* M udot = f + G' lambda, solved: n_u */
kc_kernel *qdot; /* Y u + z: n_q */
kc_kernel *mass_matrix; /* M, row by row: n_u * n_u */
kc_kernel *forcing; /* f: n_u */
kc_kernel *outputs; /* as described: n_outputs */
kc_kernel *partial_velocities; /* v_r, inertial axes: n_points * n_u * 3 */
kc_kernel *velocity_remainders; /* v_t, inertial axes: n_points * 3 */
kc_kernel *partial_angular_velocities; /* omega_r, inertial axes: n_frames * n_u * 3 */
kc_kernel *angular_velocity_remainders; /* omega_t, inertial axes: n_frames * 3 */
kc_kernel *generalized_active_forces; /* F_r: n_u */
kc_kernel *generalized_inertia_forces; /* F*_r [udot]: n_u */
kc_kernel *inverse_dynamics; /* -(F_r + F*_r) [udot]: n_u */
kc_kernel *kinetic_energy; /* T: 1 */
kc_kernel *potential_energy; /* U: 1 */
kc_kernel *power; /* d(T + U)/dt [udot]: 1 */
kc_kernel *reactions; /* force, torque on the child: n_joints * 6 */
kc_kernel *reaction_slopes; /* their d/d lambda: n_joints * 6 * n_constraints */
kc_kernel *configuration_residual; /* phi(q, t): n_configuration */
kc_kernel *configuration_jacobian; /* dphi/dq: n_configuration * n_q */
kc_kernel *velocity_residual; /* c(q, u, t): n_velocity */
kc_kernel *constraint_sizes; /* what phi, c are sums of: n_configuration + n_velocity */
kc_kernel *constraint_jacobian; /* G: n_constraints * n_u */
kc_kernel *constraint_bias; /* gamma: n_constraints */
kc_kernel *multipliers; /* lambda, of least norm: n_constraints */
kc_kernel *stabilization; /* [a, b], see kanecore.h: 2 * n_u */
kc_kernel *project; /* the nearest x on them: n_q + n_u + n_z */
kc_kernel *linearize; /* d xdot/d(x, r): (n_q + n_u + n_z) * (n_q + n_u + n_z + n_r) */
kc_kernel *constraint_slopes; /* d(phi, c)/d(x, r): (n_configuration + n_velocity) * (n_q + n_u + n_z + n_r) */
kc_kernel *auxiliary_forces; /* of the auxiliary speeds: n_auxiliary */
kc_kernel *positions; /* r, inertial axes: n_points * 3 */
kc_kernel *orientations; /* v_inertial = R v_frame: n_frames * 3 * 3 */
kc_kernel *load_vectors; /* forces, torques, inertial axes: n_loads * 3 */
kc_kernel *body_momenta; /* m v*, I omega, inertial axes: n_bodies * 6 */
kc_kernel *inertia_forces; /* R*, T*, inertial axes [udot]: n_bodies * 6 */
kc_kernel *momenta; /* dT/du: n_u */
kc_kernel *gibbs; /* S [udot]: 1 */
kc_kernel *coordinate_forces; /* Q_k, of the coordinates: n_q */
kc_kernel *equations_residual; /* F_r + F*_r + (G' lambda)_r, then phi, then c [udot, lambda]: n_u + n_configuration + n_velocity */
kc_kernel *generalized_momenta; /* p = dL/dqdot: n_q */
kc_kernel *hamiltonian; /* H = p qdot - L: 1 */
kc_kernel *kinetic_energy_parts; /* T2, T1, T0: 3 */
kc_kernel *momentum_rates; /* dp/dt, dL/dq [udot]: 2 * n_q */
kc_kernel *velocities; /* v, inertial axes: n_points * 3 */
kc_kernel *angular_velocities; /* omega, inertial axes: n_frames * 3 */
kc_kernel *masses; /* m, I about the inertia point, its place, body axes: n_bodies * 13 */
kc_kernel *potentials; /* each potential energy that stands for forces: n_potentials */
kc_kernel *inertial_loads; /* what udot adds to forces, torques [udot]: n_loads * 3 */
kc_kernel *hamiltonian_rate; /* dH/dt [udot]: 1 */
kc_kernel *joint_positions; /* r of joint points, inertial axes: n_joints * 3 */
kc_kernel *attached_wrenches; /* force, moment of unit multipliers: n_bodies * 6 * n_constraints */
kc_kernel *rhs_time_derivative; /* d xdot/dt: n_q + n_u + n_z */
kc_kernel *rhs_parameter_jacobian; /* d xdot/dp: (n_q + n_u + n_z) * n_p */
kc_kernel *output_jacobian; /* dy/d(x, r): n_outputs * (n_q + n_u + n_z + n_r) */
kc_kernel *coriolis_matrix; /* C(q, u) of M udot + C u + g: n_u * n_u */
kc_kernel *gravity_forces; /* g(q) of M udot + C u + g: n_u */
kc_kernel *accelerations; /* a, inertial axes [udot]: n_points * 3 */
kc_kernel *angular_accelerations; /* alpha, inertial axes [udot]: n_frames * 3 */
kc_kernel *gravity_field; /* weight per mass, inertial axes: 3 */
kc_kernel *inverse_dynamics_tangent; /* d(M udot - f) along d(x, r, udot) [udot, lambda, n_x + n_r + n_u]: n_u */
kc_kernel *inverse_dynamics_gradient; /* gradient of w (M udot - f) [udot, lambda, n_u]: n_q + n_u + n_z + n_r + n_u */
kc_kernel *regressor; /* Y of M udot - f = Y pi [udot]: n_u * 10 * n_bodies */
kc_kernel *inertial_parameters; /* m, m c, I about the first point: n_bodies * 10 */
kc_kernel *hessian_products; /* of the gradient of w qdot + mu R + nu S along d(x, r, udot, lambda), then of R [udot, lambda, n_x + n_constraints, n_x + n_r + n_u + n_constraints]: n_q + n_u + n_z + n_r + n_u + n_constraints + n_u */
kc_kernel *forward_dynamics; /* udot of M udot = f + tau + G' lambda, tau in place of udot [udot]: n_u */
kc_kernel *output_slopes; /* dy/d(x, r, udot) [udot]: n_outputs * (n_q + n_u + n_z + n_r + n_u) */
kc_kernel *joint_regressor; /* of viscous and dry friction, rotors [udot]: n_u * 3 * n_q */
kc_kernel *auxiliary_partials; /* d(v, omega, c)/du of auxiliary speeds: (3 * n_points + 3 * n_frames + n_constraints) * n_auxiliary */
kc_kernel *rhs_tangent; /* d xdot along d(x, r) [udot, lambda, n_x + n_r]: n_q + n_u + n_z */
kc_kernel *rhs_gradient; /* gradient of w xdot [udot, lambda, n_x]: n_q + n_u + n_z + n_r */
kc_kernel *rhs_parameter_tangent; /* d xdot along dp [udot, lambda, n_p]: n_q + n_u + n_z */
kc_kernel *rhs_parameter_gradient; /* gradient of w xdot by x, r, p [udot, lambda, n_x]: n_q + n_u + n_z + n_r + n_p */
kc_kernel *mass_matrix_inverse; /* inverse of M: n_u * n_u */
kc_kernel *zdot; /* as described: n_z */
kc_kernel *rhs_hessian; /* second derivatives of w xdot [udot, lambda, n_x]: (n_q + n_u + n_z + n_r) * (n_q + n_u + n_z + n_r) */
kc_kernel *reaction_shares; /* alpha, beta of N = alpha + beta s: n_reactions * (n_shares + 1) */
kc_kernel *share_laws; /* h, dh/dN, the power of a unit of s [udot, lambda, n_reactions]: n_shares * (n_reactions + 2) */
kc_kernel *output_tangent; /* dy along d(x, r) [udot, lambda, n_x + n_r]: n_outputs */
kc_kernel *output_gradient; /* gradient of w y [udot, lambda, n_outputs]: n_q + n_u + n_z + n_r */
kc_kernel *project_gradient; /* gradient of w project [udot, lambda, n_x]: n_q + n_u + n_z + n_r + n_p */
kc_kernel *jacobian_terms; /* what entries of G are sums of: n_constraints * n_u */
