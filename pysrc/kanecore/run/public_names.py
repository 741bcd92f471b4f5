# SPDX-License-Identifier: BSD-3-Clause
"""Public names of a compiled model, in tables by purpose, and names that go on working as aliases."""

from __future__ import annotations

import re

from kanecore.kernels import first_sentence

__all__ = ["ALIASES", "FACTS", "TABLES", "table_text"]

TABLES = {
    "Equations of motion": "rhs udot qdot zdot mass_matrix mass_matrix_inverse forcing inverse_dynamics "
    "coriolis_matrix gravity_forces equations_residual outputs aba workspace",
    "Generalized forces": "partial_velocities partial_angular_velocities generalized_active_forces "
    "generalized_inertia_forces coordinate_forces auxiliary_forces constraint_forces multipliers reactions "
    "inertia_wrenches power load_powers projected_efforts",
    "Points and frames": "position positions velocity velocities acceleration accelerations specific_force orientation "
    "orientations angular_velocity angular_velocities angular_acceleration angular_accelerations jacobian "
    "operational_inertia joint_positions draw play",
    "Energy and momentum": "kinetic_energy kinetic_energy_parts potential_energy hamiltonian gibbs linear_momentum "
    "angular_momentum body_momenta speed_momenta generalized_momenta momentum_matrix conserved",
    "Constraints": "check consistent configuration_residual configuration_jacobian velocity_residual "
    "constraint_jacobian constraint_bias speed_matrices",
    "Motion": "state simulate rollout rollout_vjp step discretize periodic impact",
    "Control and derivatives": "linearize linear_system equilibrium solve_inverse jvp vjp rhs_hessian "
    "rhs_parameter_jacobian rhs_time_derivative output_jacobian sparsity",
    "Identification and audit": "identify regressor joint_regressor inertial_parameters audit",
    "Other programs": "export_c export_fmu casadi jax numba lowlevel_callable address prepare prepared build source",
    "Values and facts": "parameters inputs model name info sizes dtype n_q n_u n_z n_x n_p n_r n_constraints "
    "coordinate_names speed_names state_names parameter_names input_names output_names constraint_names points "
    "frames bodies joints",
}
"""Names by purpose: each public name of a compiled model stands in one table."""

FACTS = {
    "name": "The name of the model.",
    "dtype": "The type of its numbers: float64, or float32.",
    "n_q": "Number of coordinates.",
    "n_u": "Number of speeds.",
    "n_z": "Number of first-order states.",
    "n_x": "Length of x = [q, u, z], n_q + n_u + n_z.",
    "n_p": "Number of parameters.",
    "n_r": "Number of inputs.",
    "n_constraints": "Number of rows of G.",
    "coordinate_names": "Names of the coordinates, in the order of x.",
    "speed_names": "Names of the speeds, in the order of x.",
    "state_names": "Names of the first-order states, in the order of x.",
    "parameter_names": "Names of the parameters, in the order of p.",
    "input_names": "Names of the inputs, in the order of r.",
    "output_names": "Names of the outputs.",
    "constraint_names": "Names of the rows of G.",
    "points": "Names of the points: of bodies and loads, then those given as ``points=``.",
    "frames": "Names of the frames: of bodies and loads, then those given as ``frames=``.",
    "bodies": "Names of the bodies.",
    "joints": "Names of the joints.",
}
"""Descriptions of the names that have no docstring of their own."""

ALIASES = {
    "n_points": 'sizes["points"]',
    "n_frames": 'sizes["frames"]',
    "n_outputs": 'sizes["outputs"]',
    "n_joints": 'sizes["joints"]',
    "n_bodies": 'sizes["bodies"]',
    "n_loads": 'sizes["loads"]',
    "n_potentials": 'sizes["potentials"]',
    "n_configuration": 'sizes["configuration"]',
    "n_velocity": 'sizes["velocity"]',
    "n_reactions": 'sizes["reactions"]',
    "n_shares": 'sizes["shares"]',
    "n_auxiliary": 'sizes["auxiliary"]',
    "n_q_dependent": 'sizes["q_dependent"]',
    "n_u_dependent": 'sizes["u_dependent"]',
    "n_prepared": 'sizes["prepared"]',
    "n_work": 'sizes["work"]',
    "partial_accelerations": "partial_velocities(t, x, nonholonomic=True)",
    "partial_angular_accelerations": "partial_angular_velocities(t, x, nonholonomic=True)",
    "active_forces_by_load": 'generalized_active_forces(t, x, by="load")',
    "active_forces_by_body": 'generalized_active_forces(t, x, by="body")',
    "inertia_forces_by_body": 'generalized_inertia_forces(t, x, udot, by="body")',
    "inertia_forces": "inertia_wrenches(t, x, udot)",
    "momenta": "speed_momenta(t, x)",
    "rhs_jvp": 'jvp("rhs", t, x, dx)',
    "rhs_vjp": 'vjp("rhs", t, x, weights)',
    "inverse_dynamics_jvp": 'jvp("inverse_dynamics", t, x, udot, dx)',
    "inverse_dynamics_vjp": 'vjp("inverse_dynamics", t, x, udot, weights)',
    "state_error": "linear_system(t, x_ref, r, p).error(x)",
    "rnea": "inverse_dynamics(0.0, [*q, *u], udot)",
    "crba": "mass_matrix(0.0, [*q, *u])",
    "as_pydy": "lambda x, t, r, p: dyn.rhs(t, x, r=r, p=p)",
    "unit": 'info["unit"]',
    "input_rates": 'info["input_rates"]',
    "qdot_is_u": 'info["qdot_is_u"]',
    "configuration_names": 'info["configuration_names"]',
    "single": "dtype == np.float32",
    "rows_for_lanes": "",  # of the extension alone
}
"""Names that go on working but are not shown, by what to write instead."""


def table_text(kind: type) -> str:
    """Tables of names with one line each, the first sentence of what documents them, for the docstring of a class."""
    parts = []
    for title, names in TABLES.items():
        rows = [f"    {name:<27} {FACTS.get(name) or _sentence(getattr(kind, name))}" for name in names.split()]
        parts.append("\n".join([f"{title}::\n", *rows]))
    return "\n\n".join(parts)


def _sentence(member: object) -> str:
    """First sentence of a docstring, without the signature that Cython writes before it."""
    return first_sentence(re.sub(r"\A\w+\.\w+\(.*\)\n", "", member.__doc__ or ""))
