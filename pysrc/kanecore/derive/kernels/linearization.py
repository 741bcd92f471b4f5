# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of the equations of motion and of the constraints with respect to x and r."""

from __future__ import annotations

from kanecore.derive.derivation import Derivation
from kanecore.derive.registry import Derived, derives
from kanecore.graph.calculus import accumulate
from kanecore.graph.scalars import COORDINATE, INPUT, SPEED

from .constraints import has_constraints

__all__: list[str] = []


@derives("linearize")
def _linearize(d: Derivation) -> Derived:
    return Derived(d.linearization.roots, after_udot=True, with_multipliers=bool(d.description.constraints))


@derives("constraint_slopes", applies=has_constraints)
def _constraint_slopes(d: Derivation) -> Derived:
    """∂φ/∂(q, u, r) and ∂c/∂(q, u, r) of the configuration constraints and of the rows of G on velocities."""
    g, description, level = d.graph, d.description, COORDINATE | SPEED | INPUT
    wrt = [*description.coordinates, *description.speeds, *description.inputs]
    nodes = [*d.constraints.configuration, *d.constraints.values]
    return Derived(tuple(x for node in nodes for x in accumulate(g, [(node, g.one)], wrt, level)))
