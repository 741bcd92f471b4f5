# SPDX-License-Identifier: BSD-3-Clause
"""Constraints φ = 0, c = 0 and G u̇ + γ = 0, their multipliers, and the step that projects a state onto them."""

from __future__ import annotations

from kanecore.derive.derivation import Derivation
from kanecore.derive.kernel_registry import Derived, derives
from kanecore.derive.projection_gradients import LEVELS, step_gradient
from kanecore.tolerances import SOLVED

__all__ = ["has_constraints"]


def has_constraints(d: Derivation) -> bool:
    return bool(d.description.constraints)


def _has_rows(d: Derivation) -> bool:
    """Constraints that every motion satisfies do not count."""
    return has_constraints(d) and bool(d.constraints.rows)


@derives("configuration_residual", applies=has_constraints)
def _configuration_residual(d: Derivation) -> Derived:
    return Derived(tuple(d.constraints.configuration))


@derives("configuration_jacobian", applies=has_constraints)
def _configuration_jacobian(d: Derivation) -> Derived:
    return Derived(tuple(d.constraints.configuration_jacobian))


@derives("velocity_residual", applies=has_constraints)
def _velocity_residual(d: Derivation) -> Derived:
    return Derived(tuple(d.constraints.values))


@derives("constraint_sizes", applies=has_constraints)
def _constraint_sizes(d: Derivation) -> Derived:
    return Derived(tuple(d.constraints.sizes(SOLVED)))


@derives("constraint_jacobian", applies=has_constraints)
def _constraint_jacobian(d: Derivation) -> Derived:
    return Derived(tuple(x for row in d.constraints.rows for x in row.jacobian))


@derives("jacobian_terms", applies=has_constraints)
def _jacobian_terms(d: Derivation) -> Derived:
    return Derived(tuple(d.sums(d.constraints.rows)))


@derives("constraint_bias", applies=has_constraints)
def _constraint_bias(d: Derivation) -> Derived:
    return Derived(tuple(row.bias for row in d.constraints.rows))


@derives("multipliers", applies=has_constraints)
def _multipliers(d: Derivation) -> Derived:
    """Equations Gᵀλ = M u̇ − f of λ: G, the right side, the diagonal of M, and the magnitude of the terms of G."""
    balance = [d.graph.neg(f) for f in d.residual(d.description.accelerations)]
    return Derived((*_constraint_jacobian(d).roots, *balance, *d.weights, *d.sums(d.constraints.rows)), after_udot=True)


@derives("stabilization", applies=_has_rows)
def _stabilization(d: Derivation) -> Derived:
    """M, 0 (n, 2), G, residuals of each row in velocities and coordinates, and the magnitude of the terms of G."""
    rows = d.constraints.rows
    mass = [x for row in d.metric for x in row]
    residuals = [x for row in rows for x in (max(row.value, 0), max(row.position, 0))]
    forces = [0] * (2 * len(d.description.speeds))
    return Derived((*mass, *forces, *_constraint_jacobian(d).roots, *residuals, *d.sums(rows)))


@derives("project", applies=has_constraints)
def _project(d: Derivation) -> Derived:
    """Equations that project a state onto the constraints, level by level."""
    return Derived(tuple(x for part in d.projections.values() for x in part.roots))


@derives("project_gradient", applies=has_constraints)
def _project_gradient(d: Derivation) -> Derived:
    """Equations of `project`, and the gradients of its steps."""
    steps = [step_gradient(d, level) for level in LEVELS]
    return Derived((*_project(d).roots, *(x for step in steps for x in (*step.sides, *step.gradient))))
