# SPDX-License-Identifier: BSD-3-Clause
"""Partial velocities, and the generalized active and inertia forces that follow from them.

Kane & Levinson 1985, sections 2.14, 4.4 and 4.11.
"""

from __future__ import annotations

from collections.abc import Iterable

from kanecore.derive.coordinate_forces import coordinate_forces, unrelated
from kanecore.derive.derivation import Derivation
from kanecore.derive.registry import Derived, derives
from kanecore.describe.description import Components, duplicate
from kanecore.graph.calculus import Tangent

__all__: list[str] = []


def _no_forces(d: Derivation) -> str:
    if d.description.first_order is not None:
        return "its equations are of first order, in q and p: ask the model that they were made of"
    return ""


def _missing_coordinate_forces(d: Derivation) -> str:
    return _no_forces(d) or unrelated(duplicate(d.description))


def _velocities(d: Derivation) -> list[Components]:
    return [d.kinematics.inertial_velocity(p) for p in d.description.shown_points]


def _angular_velocities(d: Derivation) -> list[Components]:
    return [d.kinematics.inertial_omega(f) for f in d.description.shown_frames]


def _partials(d: Derivation, vectors: Iterable[Components]) -> Derived:
    """∂v/∂u_r, for each vector and speed."""
    tangents = [Tangent(d.graph, {u: 1}).of for u in d.description.speeds]
    return Derived(tuple(of(x) for v in vectors for of in tangents for x in v))


def _remainders(d: Derivation, vectors: Iterable[Components]) -> Derived:
    """What of the vectors is left at u = 0."""
    at_rest = dict.fromkeys(d.description.speeds, 0)
    return Derived(tuple(x for v in vectors for x in d.graph.substitute(v, at_rest)))


@derives("partial_velocities", missing=_no_forces)
def _partial_velocities(d: Derivation) -> Derived:
    return _partials(d, _velocities(d))


@derives("velocity_remainders")
def _velocity_remainders(d: Derivation) -> Derived:
    return _remainders(d, _velocities(d))


@derives("partial_angular_velocities", missing=_no_forces)
def _partial_angular_velocities(d: Derivation) -> Derived:
    return _partials(d, _angular_velocities(d))


@derives("angular_velocity_remainders")
def _angular_velocity_remainders(d: Derivation) -> Derived:
    return _remainders(d, _angular_velocities(d))


@derives("generalized_active_forces", missing=_no_forces)
def _generalized_active_forces(d: Derivation) -> Derived:
    return Derived(tuple(d.formulation.active_forces()))


@derives("generalized_inertia_forces", missing=_no_forces)
def _generalized_inertia_forces(d: Derivation) -> Derived:
    return Derived(tuple(d.formulation.inertia_forces(d.description.accelerations)))


@derives("coordinate_forces", missing=_missing_coordinate_forces)
def _coordinate_forces(d: Derivation) -> Derived:
    return Derived(tuple(coordinate_forces(d.description, d.formulation.active_forces())))


@derives("equations_residual")
def _equations_residual(d: Derivation) -> Derived:
    """F + Gᵀλ − M u̇, φ and c: those of dynamics, geometry and motion, at any u̇ and λ."""
    g, description = d.graph, d.description
    balance = d.residual(description.accelerations)
    for row, force in zip(d.rows, d.multiplier_symbols, strict=True):
        balance = [g.add(b, g.mul(x, force)) for b, x in zip(balance, row.jacobian, strict=True)]
    given = [*d.constraints.configuration, *d.constraints.values] if description.constraints else []
    return Derived((*balance, *given))
