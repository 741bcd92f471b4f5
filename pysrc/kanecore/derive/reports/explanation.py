# SPDX-License-Identifier: BSD-3-Clause
"""Explanation of generalized forces: the contribution of each load and of each body's inertia."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kanecore.derive.derivation import Derivation
from kanecore.derive.forces.generalized_forces import (
    Wrenches,
    active_forces,
    at_rest,
    generalized_forces,
    inertia_forces,
    inertial_part,
)
from kanecore.derive.formulations.lagrange_equations import Lagrange
from kanecore.derive.kinematics import Accelerations
from kanecore.describe.description import Description, Load
from kanecore.graph.evaluation import count

from .described_model import Described
from .symbolic_expressions import loads_by_number, symbols_by_key

__all__ = ["explain"]

SHORT = 12  # largest number of operations of an expression that is written out in an explanation
LONG = 120  # characters beyond which a user's expression is not written out


def explain(model: Described, full: bool = False) -> str:
    """See :meth:`kanecore.Model.explain`."""
    shares = _Shares(model.derivation, symbols_by_key(model), full)
    return "\n".join([*_active(model, shares), *_written(model, full), *_inertial(shares)])


@dataclass(frozen=True)
class _Shares:
    """Lines about contributions to generalized forces, one for each speed; ``symbols`` by graph keys."""

    derivation: Derivation
    symbols: dict[Any, Any]
    full: bool

    def lines(self, forces: Sequence[int], letter: str) -> list[str]:
        names = self.derivation.description.speed_names
        values = [(name, self._value(node)) for name, node in zip(names, forces, strict=True) if node]
        return [f"    {letter}_{name} = {value}" for name, value in values if value] or ["    nothing"]

    def _value(self, node: int) -> str:
        """Text of an expression or, if it is long, of its size; empty if its terms cancel."""
        from sympy.physics.vector import vsstrrepr

        from kanecore.graph.printed_expressions import printed

        g = self.derivation.graph
        n = count(g, [node])
        size = n["total"] + n["functions"] + 2 * n["sincos"]
        if not self.full and size > SHORT:
            return f"{size} operations"
        [expression] = printed(g, [node], self.symbols)
        return "" if expression == 0 else str(vsstrrepr(expression))


def _active(model: Described, shares: _Shares) -> list[str]:
    """Lines about F_r, load by load."""
    from sympy.physics.vector import vsstrrepr

    d, k = shares.derivation.description, shares.derivation.kinematics
    lines = ["generalized active forces, load by load:"]
    for number, loads in loads_by_number(d).items():
        lines.append(f"  load {number}, {_places(d, loads)}:")
        lines += shares.lines(generalized_forces(Wrenches(k, at_rest(k, loads))), "F")
    if isinstance(shares.derivation.formulation, Lagrange):
        lines += ["  the Lagrangian at rest, U = -L:", *shares.lines(shares.derivation.formulation.conservative(), "F")]
    for number, energy in enumerate(d.potentials):
        lines += [f"  potential {number}:", *shares.lines(active_forces(k, (), [energy]), "F")]
    for force in d.generalized_forces:
        lines += [f"  {force.title}:", *shares.lines(active_forces(k, (), (), [force]), "F")]
    if model.noncontributing:
        lines.append("  left out, as no F_r depends on it: " + ", ".join(map(vsstrrepr, model.noncontributing)))
    return lines


def _places(d: Description, loads: Sequence[Load]) -> str:
    """Points and frames on which a load acts, in words: all forces, then all torques."""
    points = dict.fromkeys(d.points[load.at].name for load in loads if load.kind == "force")
    frames = dict.fromkeys(d.frames[load.at].name for load in loads if load.kind == "torque")
    kinds = (("force", points), ("torque", frames))
    return ", ".join(f"{kind} on {' and '.join(names)}" for kind, names in kinds if names)


def _written(model: Described, full: bool) -> list[str]:
    """Lines about laws of feedback and outputs, as the user wrote them."""
    from sympy.physics.vector import vsstrrepr

    lines = []
    for title, what, expressions in (
        ("feedback", "law", model.reading.laws),
        ("outputs", "output", model.reading.written),
    ):
        lines += [f"{title}:"] if expressions else []
        for number, (name, expression) in enumerate(expressions.items()):
            text = str(vsstrrepr(expression))
            if not full and len(text) > LONG:
                text = text[: LONG - 3] + "..."
            lines.append(f"  {what} {number}, {vsstrrepr(name) if what == 'law' else name} = {text}")
    return lines


def _inertial(shares: _Shares) -> list[str]:
    """Lines about F*_r, body by body."""
    d, k = shares.derivation.description, shares.derivation.kinematics
    lines = ["generalized inertia forces, body by body:"]
    if isinstance(shares.derivation.formulation, Lagrange):
        forces = shares.derivation.formulation.inertial(d.accelerations)
        lines += ["  the Lagrangian beside that:", *shares.lines(forces, "F*")]
    accelerations = Accelerations(k, d.accelerations)
    for i, body in enumerate(d.bodies):
        lines.append(f"  body {body.name}:")
        lines += shares.lines(generalized_forces(inertia_forces(k, accelerations, Wrenches(k), [i])), "F*")
    for number, loads in loads_by_number(d).items():
        part = inertial_part(k, loads, d.accelerations)
        if part:
            lines.append(f"  load {number}, what is linear in derivatives of speeds:")
            lines += shares.lines(generalized_forces(Wrenches(k, part)), "F*")
    return lines
