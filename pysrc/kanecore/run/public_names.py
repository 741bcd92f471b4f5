# SPDX-License-Identifier: BSD-3-Clause
"""Public names of a compiled model, in tables by purpose."""

from __future__ import annotations

import re

from kanecore.kernels import first_sentence

__all__ = ["FACTS", "OF_EXTENSION", "TABLES", "table_text"]

TABLES = {
    "Equations of motion": "rhs udot qdot zdot mass_matrix mass_matrix_inverse forcing inverse_dynamics "
    "coriolis_matrix gravity_forces equations_residual outputs aba rnea crba workspace",
    "Generalized forces": "partial_velocities partial_angular_velocities partial_accelerations "
    "partial_angular_accelerations generalized_active_forces generalized_inertia_forces coordinate_forces "
    "auxiliary_forces constraint_forces multipliers reactions inertia_forces power load_powers projected_efforts",
    "Points and frames": "position positions velocity velocities acceleration accelerations specific_force orientation "
    "orientations angular_velocity angular_velocities angular_acceleration angular_accelerations jacobian "
    "operational_inertia joint_positions draw play",
    "Energy and momentum": "kinetic_energy kinetic_energy_parts potential_energy hamiltonian gibbs linear_momentum "
    "angular_momentum body_momenta momenta generalized_momenta momentum_matrix conserved",
    "Constraints": "check consistent configuration_residual configuration_jacobian velocity_residual "
    "constraint_jacobian constraint_bias speed_matrices",
    "Motion": "state simulate rollout rollout_vjp step discretize periodic impact",
    "Control and derivatives": "linearize linear_system state_error equilibrium solve_inverse jvp vjp rhs_jvp rhs_vjp "
    "rhs_hessian rhs_parameter_jacobian rhs_time_derivative output_jacobian sparsity",
    "Identification and audit": "identify regressor joint_regressor inertial_parameters audit",
    "Other programs": "export_c export_fmu casadi jax numba lowlevel_callable as_pydy address prepare prepared "
    "build source",
    "Values and facts": "parameters inputs model name info sizes dtype n_q n_u n_z n_x n_p n_r n_constraints n_work "
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
    "n_work": "Length of ``work``, for calls of `address`.",
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

OF_EXTENSION = {
    *("n_points", "n_frames", "n_outputs", "n_joints", "n_bodies", "n_loads", "n_potentials", "n_configuration"),
    *("n_velocity", "n_reactions", "n_shares", "n_auxiliary", "n_q_dependent", "n_u_dependent", "n_prepared"),
    *("unit", "input_rates", "qdot_is_u", "configuration_names", "single", "rows_for_lanes"),
}
"""Facts that the package reads of the extension; users are shown ``sizes``, ``info`` and ``dtype``."""


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
