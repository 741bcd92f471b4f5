# SPDX-License-Identifier: BSD-3-Clause
"""Products of derivatives with vectors, by one pass forwards or backwards: no matrix is formed.

The vectors stand behind u̇ and λ in what a kernel reads.
"""

from __future__ import annotations

from kanecore.derive.derivation import Derivation
from kanecore.derive.registry import Derived, derives
from kanecore.derive.vectors import dot
from kanecore.graph.calculus import Tangent, accumulate

__all__: list[str] = []


def _forces(d: Derivation) -> list[int]:
    """M u̇ − f."""
    return [d.graph.neg(f) for f in d.residual(d.description.accelerations)]


def _variables(d: Derivation) -> list[int]:
    """q, u, r, u̇."""
    description = d.description
    return [*description.coordinates, *description.speeds, *description.inputs, *description.accelerations]


@derives("inverse_dynamics_tangent")
def _inverse_dynamics_tangent(d: Derivation) -> Derived:
    """Along a direction (dx, dr, du̇)."""
    variables = _variables(d)
    along = Tangent(d.graph, dict(zip(variables, d.vector_symbols(len(variables)), strict=True))).of
    return Derived(tuple(map(along, _forces(d))))


@derives("inverse_dynamics_gradient")
def _inverse_dynamics_gradient(d: Derivation) -> Derived:
    """By weights of the forces, with respect to x, r, u̇."""
    forces = _forces(d)
    weights = zip(forces, d.vector_symbols(len(forces)), strict=True)
    return Derived(tuple(accumulate(d.graph, list(weights), _variables(d), limits=True)))


@derives("hessian_products")
def _hessian_products(d: Derivation) -> Derived:
    """Along a direction of (x, r, u̇, λ): of the gradient of L = w_q·q̇ + μ·R + ν·S, and of R; R = f + Gᵀλ − M u̇."""
    g, description, multipliers = d.graph, d.description, d.multiplier_symbols
    n_q, n, m = len(description.coordinates), len(description.speeds), len(multipliers)
    symbols = [*_variables(d), *multipliers]
    vectors = d.vector_symbols(n_q + n + m + len(symbols))
    balance = d.residual(description.accelerations)
    for row, force in zip(d.rows, multipliers, strict=True):
        balance = [g.add(b, g.mul(x, force)) for b, x in zip(balance, row.jacobian, strict=True)]
    levels = [g.add(row.bias, dot(g, row.jacobian, description.accelerations)) for row in d.rows]
    weights = zip([*description.rates, *balance, *levels], vectors, strict=False)
    gradient = accumulate(g, list(weights), symbols, limits=True)
    along = Tangent(g, dict(zip(symbols, vectors[n_q + n + m :], strict=True))).of
    return Derived(tuple(map(along, (*gradient, *balance))))
