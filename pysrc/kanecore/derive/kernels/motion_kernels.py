# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of the equations of motion: M u̇ = f and q̇, their parts, the manipulator form, and the regressor.

C and g are parts of the manipulator form M u̇ + C u + g = τ + other loads.  Beside the regressor Y of M u̇ − f = Y π
there are π, and columns of friction and rotors.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.derive.derivation import Derivation
from kanecore.derive.formulations.formulation import named_pivots
from kanecore.derive.kernel_registry import Derived, derives
from kanecore.derive.manipulator_equations import (
    coriolis_matrix,
    gravity_forces,
    inertial_parameters,
    joint_regressor,
    regressor,
    why_no_coriolis_matrix,
    why_no_gravity_forces,
    why_no_joint_regressor,
    why_no_regressor,
)
from kanecore.errors import ModelError
from kanecore.graph.evaluation import count_in_call
from kanecore.graph.expression_graph import ACCELERATION, Op
from kanecore.graph.factorization import inverted

__all__ = ["without_masses"]

UNROLLED = 4_500  # largest number of operations of an inverse that is written out


@derives("coriolis_matrix", missing=why_no_coriolis_matrix)
def _coriolis_matrix(d: Derivation) -> Derived:
    return Derived(tuple(x for row in coriolis_matrix(d) for x in row))


@derives("gravity_forces", missing=why_no_gravity_forces)
def _gravity_forces(d: Derivation) -> Derived:
    return Derived(tuple(gravity_forces(d)))


@derives("regressor", missing=why_no_regressor)
def _regressor(d: Derivation) -> Derived:
    return Derived(tuple(x for row in regressor(d) for x in row))


@derives("inertial_parameters", missing=why_no_regressor)
def _inertial_parameters(d: Derivation) -> Derived:
    return Derived(tuple(x for body in inertial_parameters(d.kinematics) for x in body))


@derives("joint_regressor", missing=why_no_joint_regressor)
def _joint_regressor(d: Derivation) -> Derived:
    return Derived(tuple(x for row in joint_regressor(d) for x in row))


def without_masses(d: Derivation) -> str:
    """Reason why there is no mass matrix; empty if there is one."""
    return d.without_masses


@derives("rhs", missing=without_masses)
def _rhs(d: Derivation) -> Derived:
    udot, description = _solved(d, "rhs"), d.description
    zdot = d.graph.substitute(description.state_rates, dict(zip(description.accelerations, udot.roots, strict=True)))
    return Derived((*description.rates, *udot.roots, *zdot), udot.pivots, udot.limits)


@derives("udot", missing=without_masses)
def _udot(d: Derivation) -> Derived:
    return _solved(d, "udot")


def _solved(d: Derivation, name: str) -> Derived:
    if d.solved_at_run_time:
        what = "constraints are" if d.symmetric else "M, which loads make unsymmetric, is"
        raise ModelError(
            f"{name} of {d.description.name!r} has no expression: {what} solved with pivots chosen at every state; "
            "mass_matrix, forcing, constraint_jacobian and constraint_bias have"
        )
    return d.solution


@derives("forward_dynamics", missing=without_masses)
def _forward_dynamics(d: Derivation) -> Derived:
    return _solved(d.pushed, "forward_dynamics")


@derives("qdot")
def _qdot(d: Derivation) -> Derived:
    return Derived(d.description.rates)


@derives("mass_matrix", missing=without_masses)
def _mass_matrix(d: Derivation) -> Derived:
    return Derived(tuple(x for row in d.mass_matrix for x in row))


@derives("mass_matrix_inverse", missing=without_masses)
def _mass_matrix_inverse(d: Derivation) -> Derived:
    """The inverse of M written out, with its pivots; if it is long, M itself, for inversion at run time."""
    if d.symmetric:
        inverse, pivots, condition = inverted(d.graph, d.mass_matrix)
        if count_in_call(d.graph, inverse) <= UNROLLED:
            return Derived(tuple(inverse), named_pivots(pivots, range(len(pivots))), (condition,))
    return _mass_matrix(d)


@derives("forcing")
def _forcing(d: Derivation) -> Derived:
    return Derived(tuple(d.forcing))


@derives("inverse_dynamics")
def _inverse_dynamics(d: Derivation) -> Derived:
    return Derived(tuple(d.graph.neg(f) for f in d.residual(d.description.accelerations)))


@derives("zdot", applies=lambda d: bool(d.description.states))
def _zdot(d: Derivation) -> Derived:
    return _of_motion(d, d.description.state_rates, "rates of states")


@derives("outputs")
def _outputs(d: Derivation) -> Derived:
    return _of_motion(d, [node for _, node in d.description.outputs], "outputs")


def _of_motion(d: Derivation, roots: Sequence[int], label: str) -> Derived:
    """Functions of the motion, which may depend on u̇ and λ."""
    g = d.graph
    symbols = [g.nodes[i][1] for i in g.below(roots) if g.nodes[i][0] is Op.SYM]
    multipliers = {key[1] for key in symbols if key[0] == "λ"}
    if multipliers:
        rows = len(d.multiplier_symbols)
        if max(multipliers) >= rows:
            names = ", ".join(row.name for row in d.constraints.rows) if rows else "none"
            raise ModelError(
                f"{label} hold multiplier({max(multipliers)}), and the rows of G are numbered from 0: {names}"
            )
        return Derived(tuple(roots), after_udot=True, with_multipliers=True)
    return Derived(tuple(roots), after_udot=any(g.depends[i] & ACCELERATION for i in roots))
