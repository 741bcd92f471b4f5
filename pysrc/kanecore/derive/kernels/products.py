# SPDX-License-Identifier: BSD-3-Clause
"""Products of derivatives with vectors, by one pass forwards or backwards: no matrix is formed.

The vectors stand behind u̇ and λ in what a kernel reads.
"""

from __future__ import annotations

from kanecore.derive.derivation import Derivation
from kanecore.derive.registry import Derived, derives
from kanecore.graph.calculus import Tangent, accumulate

__all__: list[str] = []


def _forces(d: Derivation) -> list[int]:
    """M u̇ − f."""
    return [d.graph.neg(f) for f in d.residual(d.description.accelerations)]


def _variables(d: Derivation) -> list[int]:
    """q, u, r, u̇."""
    description = d.description
    return [*description.coordinates, *description.speeds, *description.inputs, *description.accelerations]


@derives("inverse_dynamics_jvp")
def _inverse_dynamics_jvp(d: Derivation) -> Derived:
    """Along a direction (dx, dr, du̇)."""
    variables = _variables(d)
    along = Tangent(d.graph, dict(zip(variables, d.vector_symbols(len(variables)), strict=True))).of
    return Derived(tuple(map(along, _forces(d))))


@derives("inverse_dynamics_vjp")
def _inverse_dynamics_vjp(d: Derivation) -> Derived:
    """By weights of the forces, with respect to x, r, u̇."""
    forces = _forces(d)
    weights = zip(forces, d.vector_symbols(len(forces)), strict=True)
    return Derived(tuple(accumulate(d.graph, list(weights), _variables(d), limits=True)))
