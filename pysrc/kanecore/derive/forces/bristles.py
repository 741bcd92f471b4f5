# SPDX-License-Identifier: BSD-3-Clause
"""Bristles of friction that holds at rest: deflections z, which are first-order states, and the pull σ₀ z + σ₁ ż.

No motion deflects bristles beyond σ₀ |z| = m, with the largest coefficient m of friction; the output
``NAME_utilization`` is σ₀ |z| / m.  At rest ż = 0 for any z, so an equilibrium is compared with this bound.

Source: C. Canudas de Wit, H. Olsson, K. J. Åström and P. Lischinsky, *A new model for control of systems with
friction*, 1995.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kanecore.describe.description import Description, Range
from kanecore.errors import ModelError
from kanecore.graph.expression_graph import Graph

__all__ = ["Bristle", "Bristles", "utilization", "with_bristles"]

_UNUSED = 1e-32
"""Added to the square of a utilization, so that its root has derivatives at zero; the utilization there is 10⁻¹⁶."""


@dataclass(frozen=True)
class Bristle:
    """Deflection along one direction: a state in m, and its rate in m/s."""

    name: str
    state: int
    rate: int

    def pull(self, g: Graph, stiffness: int, damping: int) -> int:
        """σ₀ z + σ₁ ż, with σ₀ in 1/m and σ₁ in s/m: the share of the largest friction."""
        return g.add(g.mul(stiffness, self.state), g.mul(damping, self.rate))


@dataclass(frozen=True)
class Bristles:
    """The bristles of one contact or joint.

    Attributes
    ----------
    name : str
        Name of the contact or joint.
    directions : sequence of Bristle
        Bristles along each direction.
    utilization : int
        σ₀ |z| / m.
    """

    name: str
    directions: Sequence[Bristle]
    utilization: int


def utilization(g: Graph, pulls: Iterable[int], largest: int) -> int:
    """σ₀ |z| / m of the components of σ₀ z, with derivatives at z = 0 as well."""
    return g.sqrt(g.add(g.sum(g.square(g.div(pull, largest)) for pull in pulls), g.constant(_UNUSED)))


def with_bristles(d: Description, bristles: Sequence[Bristles], kind: str, otherwise: str) -> Description:
    """Description with states and utilization of the bristles of contacts or joints; ``kind`` says which of the two.

    ModelError if another symbol of the model has the same name; ``otherwise`` is the alternative to renaming it.
    """
    if not bristles:
        return d
    taken = {*d.x_names, *d.input_names, *d.parameter_names}
    states = [bristle for of_one in bristles for bristle in of_one.directions]
    for bristle in states:
        if bristle.name in taken:
            raise ModelError(f"{bristle.name!r} is a state of bristles of friction: rename the symbol, or {otherwise}")
        taken.add(bristle.name)
    ranges = [_range(of_one, kind) for of_one in bristles]
    taken |= {name for name, _ in d.outputs}
    for each in ranges:
        if each.name in taken:
            raise ModelError(f"{each.name!r} is an output of bristles of friction: rename the symbol, or {otherwise}")
    return replace(
        d,
        states=(*d.states, *(each.state for each in states)),
        state_rates=(*d.state_rates, *(each.rate for each in states)),
        state_names=(*d.state_names, *(each.name for each in states)),
        outputs=(*d.outputs, *((r.name, each.utilization) for r, each in zip(ranges, bristles, strict=True))),
        ranges=(*d.ranges, *ranges),
    )


def _range(bristles: Bristles, kind: str) -> Range:
    free = ", ".join(f"{each.name!r}: 0.0" for each in bristles.directions)
    why = (
        f"the friction of {kind} {bristles.name} carries less, and slips; fixed={{{free}}} looks for an equilibrium "
        "without it"
    )
    return Range(f"{bristles.name}_utilization", 0.0, 1.0, why)
