# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of a compiled model, one row each.

A row is the whole declaration.  `kanecore.build.generated_sources` writes from the rows what other languages need: the
members of the C table (``kc_kernels.h``), the Cython tables and methods, their stubs, the workspace's methods, the
tables of the documentation, the list for the C test of every kernel.  How a kernel is derived stands in
`kanecore.derive`, which registers one function for each.

The order is that of the C table.  New rows come last: the kernels of an older, shorter table keep their places.

The ten inertial parameters of a body, π = (m, m c, I), in the order of regressors.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from kanecore.errors import unknown_name

__all__ = [
    *("ENTRIES", "GROUPS", "KERNELS", "KERNEL_GROUPS", "OF_BODY", "OF_JOINT", "TABLES", "JointColumns", "Kernel"),
    *("chosen_columns", "column_name", "first_sentence"),
]


TABLES = (
    "Equations of motion",
    "Generalized forces",
    "Points and frames",
    "Energy and momentum",
    "Constraints",
    "Motion",
    "Control and derivatives",
    "Identification and audit",
    "Other programs",
    "Values and facts",
)
"""Titles of the tables of methods of a compiled model, in their order."""


@dataclass(frozen=True)
class Kernel:
    """A function of t, x = [q, u, z], the inputs and the parameters.

    Attributes
    ----------
    name : str
    group : str
        Kernels of a group share one C text, one library and one cache entry.  The core group is compiled at once, each
        other one when a kernel of it is first called.
    shape : tuple of str
        Lengths of the axes of the result: numbers, sizes of the model, sums of these and of their products.
    latex : str
        What it is, as a formula; empty for what is no result of its own.
    brief : str
        The same in a few characters of plain text, for comments in C.
    doc : str
        The first line of its documentation, without the shape and the full stop.
    notes : str
        The lines that follow.
    reads_udot : bool
        x goes on with u̇.
    reads_multipliers : bool
        x goes on with λ, after u̇.
    vectors : tuple of str
        Lengths of the vectors in x after u̇ and λ, for an internal kernel that reads both.
    counts : bool
        It solves equations in which only those rows of G count that are independent.
    internal : bool
        Only functions of the package call it, by `CompiledModel.kernels`.
    remainder_of : str
        The kernel of which this is ``remainder=True``.
    nonholonomic : bool
        It has a form in the independent speeds alone, ``nonholonomic=True``.
    named : str
        The model's names of the first axis: ``named=True`` gives a dict.
    table : str
        Title of the table of methods in which it stands, one of `TABLES`; empty where it is no method of its own.
    part_of : str
        The kernel whose result holds this one.
    field : str
        The workspace's name of the array that it writes.
    """

    name: str
    group: str
    shape: tuple[str, ...]
    latex: str
    brief: str
    doc: str = ""
    notes: str = ""
    reads_udot: bool = False
    reads_multipliers: bool = False
    vectors: tuple[str, ...] = ()
    counts: bool = False
    internal: bool = False
    remainder_of: str = ""
    nonholonomic: bool = False
    named: str = ""
    table: str = ""
    part_of: str = ""
    field: str = ""

    @property
    def beyond(self) -> tuple[str, ...]:
        """Lengths of all vectors in x after the state."""
        return ("n_u",) * self.reads_udot + ("n_constraints",) * self.reads_multipliers + self.vectors

    def lengths(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The lengths of the axes of the result, for a model of some sizes."""
        return tuple(_length(axis, sizes) for axis in self.shape)

    def further(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The lengths of the vectors."""
        return tuple(_length(vector, sizes) for vector in self.vectors)


def _length(words: str, sizes: Mapping[str, int]) -> int:
    """The number of sums of products such as ``n_x + 10 * n_bodies``."""
    terms = (term.split(" * ") for term in words.split(" + "))
    return sum(math.prod(sizes[x] if x in sizes else int(x) for x in term) for term in terms)


KERNELS: tuple[Kernel, ...] = (
    Kernel(
        *("rhs", "core", ("n_x",), r"\dot x = [\dot q, \dot u, \dot z]", "xdot = [qdot, udot, zdot]"),
        "The right-hand side xdot = [qdot, udot, zdot] of the equations of motion",
        counts=True,
        field="xdot",
        table="Equations of motion",
    ),
    Kernel(
        *("udot", "core", ("n_u",), r"\dot u", "M udot = f + G' lambda, solved"),
        "The derivatives of the speeds, udot = M⁻¹ f, with constraints M⁻¹ (f + Gᵀ lambda)",
        counts=True,
        part_of="rhs",
        table="Equations of motion",
    ),
    Kernel(
        *("qdot", "core", ("n_q",), r"\dot q = Y u + z", "Y u + z"),
        "The derivatives of the coordinates, qdot = Y(q, t) u + z(q, t)",
        part_of="rhs",
        table="Equations of motion",
    ),
    Kernel(
        *("mass_matrix", "core", ("n_u", "n_u"), "M", "M, row by row"),
        "The mass matrix M of M udot = f in all speeds, symmetric",
        field="M",
        table="Equations of motion",
    ),
    Kernel(
        *("forcing", "core", ("n_u",), "f", "f"),
        "The right-hand side f of M udot = f in all speeds, F_r + F*_r at udot = 0",
        field="f",
        table="Equations of motion",
    ),
    Kernel(
        *("outputs", "core", ("n_outputs",), "y", "as described"),
        "The outputs that the model was described with, in the order of `output_names`",
        table="Equations of motion",
    ),
    Kernel(
        *("partial_velocities", "forces", ("n_points", "n_u", "3"), r"\boldsymbol v_r", "v_r, inertial axes"),
        "The partial velocities ∂v/∂u_r of all points, inertial axes",
        "With ``remainder=True`` instead the parts of the velocities that no speed multiplies, "
        "v_t = v - Σ v_r u_r, (..., n_points, 3). Points in the order of `points`.",
        nonholonomic=True,
        table="Generalized forces",
    ),
    Kernel(
        *("velocity_remainders", "forces", ("n_points", "3"), r"\boldsymbol v_t", "v_t, inertial axes"),
        remainder_of="partial_velocities",
    ),
    Kernel(
        *("partial_angular_velocities", "forces", ("n_frames", "n_u", "3"), r"\boldsymbol\omega_r"),
        "omega_r, inertial axes",
        "The partial angular velocities ∂ω/∂u_r of all frames, inertial axes",
        "With ``remainder=True`` instead ω_t = ω - Σ ω_r u_r, (..., n_frames, 3). Frames in the order of `frames`.",
        nonholonomic=True,
        table="Generalized forces",
    ),
    Kernel(
        *("angular_velocity_remainders", "forces", ("n_frames", "3"), r"\boldsymbol\omega_t", "omega_t, inertial axes"),
        remainder_of="partial_angular_velocities",
    ),
    Kernel(
        *("generalized_active_forces", "forces", ("n_u",), "F", "F_r"),
        "The generalized active forces F_r = Σ v_r · R + ω_r · T",
        "A load that is linear in udot counts as it is at udot = 0.",
        nonholonomic=True,
        table="Generalized forces",
    ),
    Kernel(
        *("generalized_inertia_forces", "forces", ("n_u",), "F^*", "F*_r"),
        "The generalized inertia forces F*_r = -Σ v_r · m a + ω_r · (I α + ω × I ω) at udot",
        reads_udot=True,
        nonholonomic=True,
        table="Generalized forces",
    ),
    Kernel(
        *("inverse_dynamics", "forces", ("n_u",), r"-(F + F^*) = M \dot u - f", "-(F_r + F*_r)"),
        "The generalized forces beyond those modelled that produce udot",
        "-(F_r + F*_r) = M udot - f. With constraints Gᵀ lambda is part of it.",
        reads_udot=True,
        table="Equations of motion",
    ),
    Kernel(
        *("kinetic_energy", "energies", (), "T", "T"),
        "The kinetic energy T of all bodies, relative to the inertial frame",
        table="Energy and momentum",
    ),
    Kernel(
        *("potential_energy", "energies", (), "U", "U"),
        "The potential energy U of the loads that have one",
        table="Energy and momentum",
    ),
    Kernel(
        *("power", "energies", (), r"\frac{d}{dt}(T + U)", "d(T + U)/dt"),
        "The rate d(T + U)/dt at udot, the power of the loads without a potential",
        reads_udot=True,
        table="Generalized forces",
    ),
    Kernel(
        *("reactions", "reactions", ("n_joints", "6"), r"[\boldsymbol R, \boldsymbol T]", "force, torque on the child"),
        "Forces of the joints on their children beyond the loads of the model",
        "The force (3), N, then the torque (3), N m, that act on the child at the joint point, in inertial axes: what "
        "the Newton-Euler equations of every body lack at udot = M⁻¹ f (Featherstone, *Rigid Body Dynamics "
        "Algorithms*, 2008, section 5.3). Opposite ones act on the parent. Joints in the order of `joints`. With "
        "``named=True`` a dict of views of the result, {name: (..., 6)}.",
        named="joints",
        table="Generalized forces",
    ),
    Kernel(
        *("reaction_slopes", "reactions", ("n_joints", "6", "n_constraints"), "", "their d/d lambda"),
        "The derivatives of `reactions` with respect to the multipliers",
        internal=True,
    ),
    Kernel(
        *("configuration_residual", "constraints", ("n_configuration",), r"\varphi", "phi(q, t)"),
        "The configuration constraints' values phi(q, t), in the order given",
        table="Constraints",
    ),
    Kernel(
        *("configuration_jacobian", "constraints", ("n_configuration", "n_q")),
        *(r"\partial\varphi/\partial q", "dphi/dq"),
        "The derivatives of the configuration constraints ∂phi/∂q",
        table="Constraints",
    ),
    Kernel(
        *("velocity_residual", "constraints", ("n_velocity",), "c", "c(q, u, t)"),
        "The values of the constraints on velocities, c(q, u, t): of the first rows of G",
        table="Constraints",
    ),
    Kernel(
        *("constraint_sizes", "constraints", ("n_configuration + n_velocity",), "", "what phi, c are sums of"),
        "Magnitudes of the terms of phi, then c, with which residuals are compared",
        internal=True,
    ),
    Kernel(
        *("constraint_jacobian", "constraints", ("n_constraints", "n_u"), "G", "G"),
        "The matrix G of the constraints G udot + gamma = 0; rows in the order of `constraint_names`",
        "Velocity constraints, then derivatives of configuration constraints outside their row space, then "
        "acceleration constraints; ∂c/∂u where they are not linear in u.",
        table="Constraints",
    ),
    Kernel(
        *("constraint_bias", "constraints", ("n_constraints",), r"\gamma", "gamma"),
        "The bias gamma of the constraints G udot + gamma = 0",
        table="Constraints",
    ),
    Kernel(
        *("multipliers", "constraints", ("n_constraints",), r"\lambda", "lambda, of least norm"),
        "The multipliers lambda of M udot = f + Gᵀ lambda, of least norm where rows are redundant",
        counts=True,
        table="Generalized forces",
    ),
    Kernel(
        *("stabilization", "constraints", ("2", "n_u"), "", "[a, b], see kanecore.h"),
        "Derivatives of speeds that lead back to the constraints (Baumgarte 1972), see kanecore.h",
        counts=True,
        internal=True,
    ),
    Kernel(
        *("project", "constraints", ("n_x",), "", "the nearest x on them"),
        "The state on the constraints that takes the least change, weighted by mass",
        counts=True,
        internal=True,
    ),
    Kernel(
        *("linearize", "linearize", ("n_x", "n_x + n_r"), r"\partial\dot x/\partial(x, r)", "d xdot/d(x, r)"),
        "The derivatives of `rhs` with respect to x and r",
        counts=True,
        internal=True,
    ),
    Kernel(
        *("constraint_slopes", "linearize", ("n_configuration + n_velocity", "n_x + n_r"), "", "d(phi, c)/d(x, r)"),
        "The derivatives of phi, then c, with respect to x and r",
        internal=True,
    ),
    Kernel(
        *("auxiliary_forces", "auxiliary", ("n_auxiliary",), r"F_r + F_r^* + (G^{\mathsf T}\lambda)_r"),
        "of the auxiliary speeds",
        "The values of the auxiliary equations, F_r + F*_r + (Gᵀλ)_r of the auxiliary speeds",
        "With the reactions among the inputs they are zero where these are right; with unknown ones left out each is "
        "minus the reaction along its auxiliary speed (Kane & Levinson 1985, "
        "section 4.9).",
        table="Generalized forces",
    ),
    Kernel(
        *("positions", "bodies", ("n_points", "3"), r"\boldsymbol r", "r, inertial axes"),
        "The positions of all points from the model's origin, inertial axes",
        "The origin is that of ``Model(origin=...)``, or the point at rest that most bodies are located from. Where no "
        "positions lead from it to a point, that one is measured from the root of its own points. ``model.report()`` "
        "names both. Points in the order of `points`. With ``named=True`` a dict of views of the result, "
        "{name: (..., 3)}; `position` gives one of them, in any frame.",
        named="points",
        table="Points and frames",
    ),
    Kernel(
        *("orientations", "bodies", ("n_frames", "3", "3"), "R", "v_inertial = R v_frame"),
        "The orientations R of all frames: the columns are their axes, in inertial axes",
        "v_inertial = R v_frame. Frames in the order of `frames`, with ``named=True`` a dict {name: (..., 3, 3)}. That "
        "of a frame of which the angular velocity alone was given is the one that it is written in.",
        named="frames",
        table="Points and frames",
    ),
    Kernel(
        *(
            "load_vectors",
            "bodies",
            ("n_loads", "3"),
            r"\boldsymbol R, \boldsymbol T",
            "forces, torques, inertial axes",
        ),
        "The forces and torques that act, in inertial axes, at udot = 0",
        internal=True,
    ),
    Kernel(
        *("body_momenta", "bodies", ("n_bodies", "6")),
        *(r"[m \boldsymbol v^*, \mathbf I\cdot\boldsymbol\omega]", "m v*, I omega, inertial axes"),
        "The momentum m v* of each body, then its angular momentum I·ω about its mass centre",
        "In inertial axes, N s and N m s (Kane & Levinson 1985, section 3.5). Bodies in the order of `bodies`; the "
        "angular momentum of a particle is zero.",
        named="bodies",
        table="Energy and momentum",
    ),
    Kernel(
        *(
            "inertia_forces",
            "bodies",
            ("n_bodies", "6"),
            r"[\boldsymbol R^*, \boldsymbol T^*]",
            "R*, T*, inertial axes",
        ),
        "The inertia force R* = -m a* of each body, then its inertia torque T* = -(I·α + ω × I·ω), at udot",
        "In inertial axes, N and N m (Kane & Levinson 1985, section 4.11). Accelerations are those of the motion: "
        "gravity is no part of them.",
        reads_udot=True,
        named="bodies",
        table="Generalized forces",
    ),
    Kernel(
        *("momenta", "energies", ("n_u",), r"\partial T/\partial u", "dT/du"),
        "The derivatives of the kinetic energy ∂T/∂u_r = Σ v_r · m v + ω_r · I·ω",
        "Where qdot is u, and every velocity the derivative of its position, these are the generalized momenta.",
        table="Energy and momentum",
    ),
    Kernel(
        *("gibbs", "energies", (), "S", "S"),
        "The energy of accelerations S = Σ ½ m a·a + ½ (α·I·α + 2 α·(ω × I·ω) + (ω·ω)(ω·I·ω)) at udot",
        "Its derivatives are the generalized inertia forces of the bodies, ∂S/∂u̇_r = -F*_r (Gibbs 1879, Appell 1899), "
        "in redundant speeds too. Where a mass or a tensor changes, S holds a·ṁ v and α·İ·ω as well, so that this "
        "stays true. What loads that are linear in udot add to F*_r is no part of S.",
        reads_udot=True,
        table="Energy and momentum",
    ),
    Kernel(
        *("coordinate_forces", "forces", ("n_q",), "Q", "Q_k, of the coordinates"),
        "The generalized forces of the coordinates, Q_k = Σ R · ∂v/∂qdot_k + T · ∂ω/∂qdot_k, with Yᵀ Q = F",
        "Of all loads and potentials, as `generalized_active_forces`, which they are where qdot = u.",
        table="Generalized forces",
    ),
    Kernel(
        *("equations_residual", "forces", ("n_u + n_configuration + n_velocity",)),
        *(r"[F + F^* + G^{\mathsf T}\lambda, \varphi, c]", "F_r + F*_r + (G' lambda)_r, then phi, then c"),
        "Residuals of all equations at any udot and lambda, [F + F* + Gᵀ lambda, phi, c]",
        "The first n_u are f + Gᵀ lambda - M udot, of Lagrange's equations with multipliers those of the coordinates. "
        "``multipliers`` (..., n_constraints) may be left out where there are no constraints.",
        reads_udot=True,
        reads_multipliers=True,
        table="Equations of motion",
    ),
    Kernel(
        *("generalized_momenta", "hamilton", ("n_q",), r"p = \partial L/\partial\dot q", "p = dL/dqdot"),
        "The generalized momenta p_k = ∂L/∂q̇_k of the coordinates, L = T - U",
        "∂L/∂u only where u = q̇. They need as many speeds as coordinates, and velocities that are the derivatives of "
        "positions; ModelError elsewhere (Goldstein, *Classical Mechanics*, 3rd ed., 2002, section 2.6).",
        table="Energy and momentum",
    ),
    Kernel(
        *("hamiltonian", "hamilton", (), r"H = p\cdot\dot q - L", "H = p qdot - L"),
        "The Hamiltonian H = Σ p_k q̇_k - L = T₂ - T₀ + U, as a function of q, u, t",
        "It is T + U only where q̇ = 0 means that all is at rest. With quaternions too: where u_z with Y u_z = z "
        "exists for q̇ = Y u + z, H = ∂L/∂u · (u + u_z) - L; ModelError where none exists or velocities were set "
        "(Goldstein, section 8.1).",
        table="Energy and momentum",
    ),
    Kernel(
        *("kinetic_energy_parts", "hamilton", ("3",), "T_2, T_1, T_0", "T2, T1, T0"),
        "The parts T₂, T₁, T₀ of the kinetic energy that are of degree 2, 1, 0 in q̇",
        "Their sum is T. ModelError where there is no `hamiltonian` (Goldstein, section 2.7).",
        table="Energy and momentum",
    ),
    Kernel(
        *("momentum_rates", "hamilton", ("2", "n_q"), r"\dot p, \partial L/\partial q", "dp/dt, dL/dq"),
        "The rates dp/dt at udot, then ∂L/∂q at constant q̇",
        reads_udot=True,
        internal=True,
    ),
    Kernel(
        *("velocities", "bodies", ("n_points", "3"), r"\boldsymbol v", "v, inertial axes"),
        "The velocities v of all points in the inertial frame, inertial axes",
        "v = Σ v_r u_r + v_t. Points in the order of `points`, with ``named=True`` a dict {name: (..., 3)}.",
        named="points",
        table="Points and frames",
    ),
    Kernel(
        *("angular_velocities", "bodies", ("n_frames", "3"), r"\boldsymbol\omega", "omega, inertial axes"),
        "The angular velocities ω of all frames in the inertial frame, inertial axes",
        "ω = Σ ω_r u_r + ω_t. Frames in the order of `frames`, with ``named=True`` a dict {name: (..., 3)}.",
        named="frames",
        table="Points and frames",
    ),
    Kernel(
        *("masses", "bodies", ("n_bodies", "13"), "", "m, I about the inertia point, its place, body axes"),
        "The mass of each body, its inertia about its inertia point, that from the mass centre, in its axes",
        internal=True,
    ),
    Kernel(
        *("potentials", "bodies", ("n_potentials",), "", "each potential energy that stands for forces"),
        "The potential energies that stand for forces, in the order given",
        internal=True,
    ),
    Kernel(
        *("inertial_loads", "bodies", ("n_loads", "3"), "", "what udot adds to forces, torques"),
        "The part of forces and torques that is linear in udot, in inertial axes",
        reads_udot=True,
        internal=True,
    ),
    Kernel(
        *("hamiltonian_rate", "hamilton", (), r"\dot H", "dH/dt"),
        "The rate dH/dt at udot",
        reads_udot=True,
        internal=True,
    ),
    Kernel(
        *("joint_positions", "bodies", ("n_joints", "3"), r"\boldsymbol r", "r of joint points, inertial axes"),
        "The positions of the joint points, measured as `positions` are, inertial axes",
        "Joints in the order of `joints`, with ``named=True`` a dict {name: (..., 3)}.",
        named="joints",
        table="Points and frames",
    ),
    Kernel(
        *("attached_wrenches", "bodies", ("n_bodies", "6", "n_constraints"), "", "force, moment of unit multipliers"),
        "The force on each body, and its moment about the mass centre, by which a unit of each multiplier acts",
        internal=True,
    ),
    Kernel(
        *("rhs_time_derivative", "derivatives", ("n_x",), r"\partial\dot x/\partial t", "d xdot/dt"),
        "The derivatives ∂xdot/∂t of `rhs` at constant x and r",
        "What t does where it stands in the description itself: a prescribed motion that is an input is held, and its "
        "rates are inputs of their own.",
        counts=True,
        table="Control and derivatives",
    ),
    Kernel(
        *("rhs_parameter_jacobian", "derivatives", ("n_x", "n_p"), r"\partial\dot x/\partial p", "d xdot/dp"),
        "The derivatives ∂xdot/∂p of `rhs`, parameters in the order of `parameter_names`",
        "Exact, and with constraints too: with R = f + Gᵀλ - M udot and S = G udot + gamma at constant udot and λ, "
        "M dudot - Gᵀ dλ = ∂R/∂p dp and G dudot = -∂S/∂p dp, as of `linearize`.",
        counts=True,
        table="Control and derivatives",
    ),
    Kernel(
        *("output_jacobian", "derivatives", ("n_outputs", "n_x + n_r"), r"\partial y/\partial(x, r)", "dy/d(x, r)"),
        "The derivatives of the outputs with respect to x, then r: C and D of dy = C dx + D dr",
        "Where outputs hold udot, it varies with x and r as `udot` does. ModelError where they hold multipliers.",
        counts=True,
        table="Control and derivatives",
    ),
    Kernel(
        *("coriolis_matrix", "derivatives", ("n_u", "n_u"), "C", "C(q, u) of M udot + C u + g"),
        "The Coriolis matrix C(q, u) of M udot + C u + g = tau + other loads, by Christoffel symbols",
        "C_ij = ½ Σ (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i) u_k, so that dM/dt - 2C is skew (Murray, Li & Sastry, *A "
        "Mathematical Introduction to Robotic Manipulation*, 1994, section 4.2). ModelError unless qdot is u and "
        "T = ½ uᵀ M(q) u.",
        table="Equations of motion",
    ),
    Kernel(
        *("gravity_forces", "derivatives", ("n_u",), "g", "g(q) of M udot + C u + g"),
        "The generalized forces g(q) that hold the weights of all bodies: g of M udot + C u + g = tau + other loads",
        "Minus the generalized active forces of loads m γ at mass centres, γ one constant field, and of potential "
        "energies that were given as such, those in a Lagrangian included. Zero where there are none.",
        table="Equations of motion",
    ),
    Kernel(
        *("accelerations", "bodies", ("n_points", "3"), r"\boldsymbol a = \dot{\boldsymbol v}", "a, inertial axes"),
        "The accelerations a of all points in the inertial frame at udot, inertial axes",
        "a = Σ v_r u̇_r + Σ v̇_r u_r + v̇_t: those of the motion, of which gravity is no part (Kane & Levinson 1985, "
        "section 2.8); what an accelerometer feels is `specific_force`. Points in the order of `points`, with "
        "``named=True`` a dict {name: (..., 3)}.",
        reads_udot=True,
        named="points",
        table="Points and frames",
    ),
    Kernel(
        *("angular_accelerations", "bodies", ("n_frames", "3")),
        *(r"\boldsymbol\alpha = \dot{\boldsymbol\omega}", "alpha, inertial axes"),
        "The angular accelerations α of all frames in the inertial frame at udot, inertial axes",
        "α = Σ ω_r u̇_r + Σ ω̇_r u_r + ω̇_t. Frames in the order of `frames`, with ``named=True`` a dict {name: "
        "(..., 3)}.",
        reads_udot=True,
        named="frames",
        table="Points and frames",
    ),
    Kernel(
        *("gravity_field", "bodies", ("3",), r"\boldsymbol\gamma", "weight per mass, inertial axes"),
        "The uniform field of gravity in which all bodies have their weights, inertial axes",
        internal=True,
    ),
    Kernel(
        *("inverse_dynamics_tangent", "derivatives", ("n_u",), "", "d(M udot - f) along d(x, r, udot)"),
        "The change of `inverse_dynamics` along a direction (dx, dr, dudot)",
        reads_udot=True,
        reads_multipliers=True,
        vectors=("n_x + n_r + n_u",),
        internal=True,
    ),
    Kernel(
        *("inverse_dynamics_gradient", "derivatives", ("n_x + n_r + n_u",), "", "gradient of w (M udot - f)"),
        "The gradient of weights times `inverse_dynamics` with respect to x, r, udot",
        reads_udot=True,
        reads_multipliers=True,
        vectors=("n_u",),
        internal=True,
    ),
    Kernel(
        *("regressor", "derivatives", ("n_u", "10 * n_bodies"), "Y", "Y of M udot - f = Y pi"),
        "The regressor Y(x, udot) of the inertia forces and weights: M udot - f without other loads is Y π",
        "π holds `inertial_parameters`, ten of each body, in the order of `bodies`. Exact (Khalil & Dombre, "
        "*Modeling, Identification and Control of Robots*, 2002, section 9.3). ModelError where masses or inertias are "
        "not constant, or other loads hold its symbols.",
        reads_udot=True,
        table="Identification and audit",
    ),
    Kernel(
        *("inertial_parameters", "derivatives", ("n_bodies", "10"), r"\pi", "m, m c, I about the first point"),
        "The inertial parameters π of each body: m, m c (3), I about the first point (xx, xy, xz, yy, yz, zz)",
        "In the axes of the body's frame, c the mass centre from the first point: the first on the way from the origin "
        "to the mass centre that is fixed in the body, where its joint is if it is located from there. Of a particle "
        "nine are zero.",
        named="bodies",
        table="Identification and audit",
    ),
    Kernel(
        "hessian_products",
        "derivatives",
        ("n_x + n_r + n_u + n_constraints + n_u",),
        "",
        "of the gradient of w qdot + mu R + nu S along d(x, r, udot, lambda), then of R",
        "The changes of the gradient of w qdot + μ R + ν S along a direction of (x, r, udot, λ), then that of R",
        reads_udot=True,
        reads_multipliers=True,
        vectors=("n_x + n_constraints", "n_x + n_r + n_u + n_constraints"),
        internal=True,
    ),
    Kernel(
        *("forward_dynamics", "forward", ("n_u",), "", "udot of M udot = f + tau + G' lambda, tau in place of udot"),
        "The derivatives of the speeds by generalized forces beyond those modelled, which take the place of udot",
        reads_udot=True,
        counts=True,
        internal=True,
    ),
    Kernel(
        *("output_slopes", "linearize", ("n_outputs", "n_x + n_r + n_u"), "", "dy/d(x, r, udot)"),
        "Derivatives of the outputs, by x and r at constant u̇, then by u̇",
        reads_udot=True,
        internal=True,
    ),
    Kernel(
        *("joint_regressor", "derivatives", ("n_u", "3 * n_q"), "Y_j", "of viscous and dry friction, rotors"),
        "The columns Y_j(x, udot) of friction and rotors: M udot - f + Y_j θ = tau, θ = (b, c, J) of each coordinate",
        "With W = ∂qdot/∂u those of coordinate j are W_j qdot_j of viscous friction b, W_j sign(qdot_j) of dry "
        "friction c, where sign is 0 at 0, and W_j qddot_j of the inertia J of a rotor of energy ½ J qdot_j²: n² J of"
        " one that turns n times as fast (Khalil & Dombre, *Modeling, Identification and Control of Robots*, 2002, "
        "section 9.3 and chapter 12). Zero of members of unit quaternions, which no joint moves. ModelError where the"
        " equations are of first order.",
        reads_udot=True,
        table="Identification and audit",
    ),
    Kernel(
        *("auxiliary_partials", "auxiliary", ("3 * n_points + 3 * n_frames + n_constraints", "n_auxiliary"), ""),
        "d(v, omega, c)/du of auxiliary speeds",
        "Partial velocities of points and of frames by the auxiliary speeds, then the power of unit multipliers",
        internal=True,
    ),
    Kernel(
        *("rhs_tangent", "tangent", ("n_x",), "", "d xdot along d(x, r)"),
        "The change of `rhs` along a direction (dx, dr)",
        reads_udot=True,
        reads_multipliers=True,
        vectors=("n_x + n_r",),
        counts=True,
        internal=True,
    ),
    Kernel(
        *("rhs_gradient", "gradient", ("n_x + n_r",), "", "gradient of w xdot"),
        "The gradient of weights times `rhs` with respect to x, r",
        reads_udot=True,
        reads_multipliers=True,
        vectors=("n_x",),
        counts=True,
        internal=True,
    ),
    Kernel(
        *("rhs_parameter_tangent", "parameter_tangent", ("n_x",), "", "d xdot along dp"),
        "The change of `rhs` along a direction dp",
        reads_udot=True,
        reads_multipliers=True,
        vectors=("n_p",),
        counts=True,
        internal=True,
    ),
    Kernel(
        *("rhs_parameter_gradient", "parameter_gradient", ("n_x + n_r + n_p",), "", "gradient of w xdot by x, r, p"),
        "The gradient of weights times `rhs` with respect to x, r and p, in one pass",
        reads_udot=True,
        reads_multipliers=True,
        vectors=("n_x",),
        counts=True,
        internal=True,
    ),
    Kernel(
        *("mass_matrix_inverse", "inverse", ("n_u", "n_u"), "", "inverse of M"),
        "The inverse of a mass matrix that is positive definite, and in no doubt",
        internal=True,
    ),
    Kernel(
        *("zdot", "core", ("n_z",), r"\dot z", "as described"),
        "The derivatives zdot of the first-order states, in the order of `state_names`",
        "At the udot and the multipliers of the motion, where rates hold these.",
        part_of="rhs",
        table="Equations of motion",
    ),
    Kernel(
        *("rhs_hessian", "hessian", ("n_x + n_r", "n_x + n_r"), "", "second derivatives of w xdot"),
        "The second derivatives of weights times `rhs` with respect to x, r",
        reads_udot=True,
        reads_multipliers=True,
        vectors=("n_x",),
        counts=True,
        internal=True,
    ),
    Kernel(
        *("reaction_shares", "reactions", ("n_reactions", "n_shares + 1"), "", "alpha, beta of N = alpha + beta s"),
        "The reactions that loads depend on, without what they bring, and by a unit of each part of loads",
        internal=True,
    ),
    Kernel(
        *("share_laws", "reactions", ("n_shares", "n_reactions + 2"), "", "h, dh/dN, the power of a unit of s"),
        "The parts s = h(N) of loads at given reactions N, their derivatives, and the power of a unit of each",
        reads_udot=True,
        reads_multipliers=True,
        vectors=("n_reactions",),
        internal=True,
    ),
    Kernel(
        *("output_tangent", "output_tangent", ("n_outputs",), "", "dy along d(x, r)"),
        "The change of `outputs` along a direction (dx, dr)",
        reads_udot=True,
        reads_multipliers=True,
        vectors=("n_x + n_r",),
        counts=True,
        internal=True,
    ),
    Kernel(
        *("output_gradient", "output_gradient", ("n_x + n_r",), "", "gradient of w y"),
        "The gradient of weights times `outputs` with respect to x, r",
        reads_udot=True,
        reads_multipliers=True,
        vectors=("n_outputs",),
        counts=True,
        internal=True,
    ),
    Kernel(
        *("project_gradient", "project_gradient", ("n_x + n_r + n_p",), "", "gradient of w project"),
        "The gradient of weights times `project` with respect to x, r and p",
        reads_udot=True,
        reads_multipliers=True,
        vectors=("n_x",),
        counts=True,
        internal=True,
    ),
    Kernel(
        *("jacobian_terms", "constraints", ("n_constraints", "n_u"), "", "what entries of G are sums of"),
        "Magnitudes of the terms of each entry of G; zeros in rows with an entry that is a number",
        internal=True,
    ),
)

KERNEL_GROUPS: dict[str, str] = {kernel.name: kernel.group for kernel in KERNELS}
"""Group of each kernel."""

GROUPS: dict[str, tuple[str, ...]] = {
    group: tuple(name for name, of in KERNEL_GROUPS.items() if of == group)
    for group in dict.fromkeys(KERNEL_GROUPS.values())
}
"""Names of the kernels of each group, in the order of the C table."""


ENTRIES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""Entries of I, about the first point of the body."""

OF_BODY = ("m", *(f"mc{axis}" for axis in "xyz"), *(f"I{'xyz'[i]}{'xyz'[j]}" for i, j in ENTRIES))
"""Their names."""

OF_JOINT = ("viscous", "dry", "rotor")
"""Columns of ``joint_regressor`` of each coordinate: viscous friction, dry friction, rotor."""

JointColumns: TypeAlias = str | Sequence[str] | Mapping[str, Sequence[Any]]
"""Kinds of columns, for all coordinates, or for those of a mapping."""


def chosen_columns(joints: JointColumns, coordinates: Sequence[str]) -> list[int]:
    """Numbers of the columns that are wanted, in order; KeyError for unknown kinds and coordinates."""
    kinds: Mapping[str, Sequence[Any]]
    if isinstance(joints, Mapping):
        kinds = {kind: [of] if isinstance(of, str) else list(of) for kind, of in joints.items()}
    else:
        kinds = dict.fromkeys([joints] if isinstance(joints, str) else joints, coordinates)
    places = set()
    for kind, names in kinds.items():
        if kind not in OF_JOINT:
            raise unknown_name("column of joints is called", kind, OF_JOINT)
        for coordinate in names:
            name = str(getattr(coordinate, "name", coordinate))
            if name not in coordinates:
                raise unknown_name("coordinate", name, coordinates)
            places.add(len(OF_JOINT) * list(coordinates).index(name) + OF_JOINT.index(kind))
    return sorted(places)


def column_name(column: int, coordinates: Sequence[str]) -> str:
    """The name of a column, such as ``"q1.rotor"``."""
    return f"{coordinates[column // len(OF_JOINT)]}.{OF_JOINT[column % len(OF_JOINT)]}"


def first_sentence(doc: str) -> str:
    """First sentence of a docstring, without shapes."""
    paragraph = doc.partition("\n\n")[0]
    text = re.sub(r"(?:: a float, or|,)? \((?:\.\.\.|n_)[^)]*\)", "", " ".join(paragraph.split()))
    return re.split(r"[.;](?:\s|\Z)", text)[0].strip(" ,.:") + "."
