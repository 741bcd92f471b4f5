# SPDX-License-Identifier: BSD-3-Clause
"""Bristles of friction that holds: deflections z, which are first-order states, and the pull σ₀ z + σ₁ ż.

Source: C. Canudas de Wit, H. Olsson, K. J. Åström and P. Lischinsky, *A new model for control of systems with
friction*, 1995.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kanecore.describe.description import Description
from kanecore.errors import ModelError
from kanecore.graph.expression_graph import Graph

__all__ = ["Bristle", "speed_of", "with_bristles"]

_STILL = 1e-30
"""Added to s², in m²/s², so that |s| has derivatives at s = 0: bristles slip by 10⁻¹⁵ m/s there."""


@dataclass(frozen=True)
class Bristle:
    """Deflection along one direction: a state, in m, and its rate, in m/s."""

    name: str
    state: int
    rate: int

    def pull(self, g: Graph, stiffness: int, damping: int) -> int:
        """σ₀ z + σ₁ ż, with σ₀ in 1/m and σ₁ in s/m: the share of the largest friction."""
        return g.add(g.mul(stiffness, self.state), g.mul(damping, self.rate))


def speed_of(g: Graph, slips: Iterable[int]) -> int:
    """|s| of the slip along some directions, in m/s, with derivatives at rest as well."""
    return g.sqrt(g.add(g.sum(map(g.square, slips)), g.constant(_STILL)))


def with_bristles(d: Description, bristles: Sequence[Bristle], otherwise: str) -> Description:
    """Description with the states of bristles; ModelError for one that is called as another symbol of the model."""
    taken = {*d.x_names, *d.input_names, *d.parameter_names}
    for each in bristles:
        if each.name in taken:
            raise ModelError(f"{each.name!r} is a state of bristles of friction: rename the symbol, or {otherwise}")
        taken.add(each.name)
    return replace(
        d,
        states=(*d.states, *(each.state for each in bristles)),
        state_rates=(*d.state_rates, *(each.rate for each in bristles)),
        state_names=(*d.state_names, *(each.name for each in bristles)),
    )
