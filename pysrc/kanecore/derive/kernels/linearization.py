# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of the equations of motion, of the constraints and of the outputs."""

from __future__ import annotations

from kanecore.derive.derivation import Derivation
from kanecore.derive.linearization import VARIABLES
from kanecore.derive.registry import Derived, derives
from kanecore.graph.calculus import accumulate
from kanecore.graph.scalars import ACCELERATION, COORDINATE, INPUT, SPEED, Op

from .constraints import has_constraints

__all__: list[str] = []


@derives("linearize")
def _linearize(d: Derivation) -> Derived:
    return _derivatives(d, "linearize")


def _derivatives(d: Derivation, kernel: str) -> Derived:
    """What a derivative of ẋ is solved from; zeros where nothing is."""
    slopes = d.linearization(kernel)
    if slopes.vanishes:
        n = len(d.description.coordinates) + len(d.description.speeds)
        return Derived((0,) * (n * len(VARIABLES[kernel](d.description))))
    return Derived(slopes.roots, after_udot=True, with_multipliers=bool(d.description.constraints))


@derives("rhs_time_derivative")
def _rhs_time_derivative(d: Derivation) -> Derived:
    return _derivatives(d, "rhs_time_derivative")


@derives("rhs_parameter_jacobian", applies=lambda d: bool(d.description.parameters))
def _rhs_parameter_jacobian(d: Derivation) -> Derived:
    return _derivatives(d, "rhs_parameter_jacobian")


def _held_multipliers(d: Derivation) -> str:
    symbols = (d.graph.nodes[i] for i in d.graph.below([node for _, node in d.description.outputs]))
    if any(op is Op.SYM and operands[0][0] == "λ" for op, *operands in symbols):
        return "its outputs hold multipliers, whose derivatives nothing determines where rows are redundant"
    return ""


@derives("output_jacobian", applies=lambda d: bool(d.description.outputs), missing=_held_multipliers)
def _output_jacobian(d: Derivation) -> Derived:
    """∂y/∂(q, u, r); where the outputs hold u̇ that at constant u̇, then ∂y/∂u̇."""
    g, description = d.graph, d.description
    nodes = [node for _, node in description.outputs]
    wrt = VARIABLES["linearize"](description)
    direct = [x for node in nodes for x in accumulate(g, [(node, g.one)], wrt, limits=True)]
    if not any(g.depends[node] & ACCELERATION for node in nodes):
        return Derived(tuple(direct))
    udot = description.accelerations
    by_udot = [x for node in nodes for x in accumulate(g, [(node, g.one)], udot, ACCELERATION, limits=True)]
    return Derived((*direct, *by_udot), after_udot=True)


@derives("constraint_slopes", applies=has_constraints)
def _constraint_slopes(d: Derivation) -> Derived:
    """∂φ/∂(q, u, r) and ∂c/∂(q, u, r) of the configuration constraints and of the rows of G on velocities."""
    g, description, level = d.graph, d.description, COORDINATE | SPEED | INPUT
    wrt = [*description.coordinates, *description.speeds, *description.inputs]
    nodes = [*d.constraints.configuration, *d.constraints.values]
    return Derived(tuple(x for node in nodes for x in accumulate(g, [(node, g.one)], wrt, level)))
