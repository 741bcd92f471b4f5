# SPDX-License-Identifier: BSD-3-Clause
"""The gradient of weights · ẋ by one reverse pass, and its changes along directions, for optimizers.

Let v be some of t, x, r and p, let y = (u̇, λ), and let F(v, y) = 0 be the equations of motion and of constraints,

    F = (f + Gᵀ λ − M u̇,  G u̇ + γ),

and choose multipliers a such that w_u + F_yᵀ a = 0.  The gradient of w · ẋ is then L_v, the gradient of L = w_q · q̇ +
a · F at constant y and a (Griewank & Walther 2008, Evaluating Derivatives, chapter 15).  Along a direction dv it
changes by

    L_vv dv + L_vy dy + L_va da + (w_q · q̇)_v changed by dw_q,
    F_y dy = −F_v dv,    F_yᵀ da = −dw_u − d(F_yᵀ a),

where F_y depends on v alone, as F is linear in y.  The rates of first-order states follow q̇; they may not depend on y.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.vectors import dot

from .derivation import Derivation
from .kernel_registry import Derived

__all__ = ["VARIABLES", "Adjoints", "adjoints"]

VARIABLES = ("t", "x", "r", "p")


@dataclass(frozen=True)
class Adjoints:
    """Programs of the gradient and of its change along a direction.

    Attributes
    ----------
    point : list of int
        The symbols of w_q, w_z and a, which are constant at a point.
    direction : list of int
        The symbols of dv, dy, dw_q, da.
    gradient : Derived
        L_v with dw_q and da in place of w_q and a.
    tangent : Derived
        F_v dv, then d(F_yᵀ a).
    change : Derived
        The change of L_v along all of a direction.
    """

    point: list[int]
    direction: list[int]
    gradient: Derived
    tangent: Derived
    change: Derived


def adjoints(d: Derivation, by: Container[str]) -> Adjoints:
    """Adjoints with respect to the variables in ``by``."""
    g, description = d.graph, d.description
    groups = {
        "t": [description.time],
        "x": description.x,
        "r": description.inputs,
        "p": description.parameters,
    }
    v = [symbol for name in VARIABLES if name in by for symbol in groups[name]]
    y = [*description.accelerations, *d.multiplier_symbols]
    rates = [*description.rates, *description.state_rates]
    n_weights = len(rates) + len(y)
    symbols = d.vector_symbols(n_weights + len(v) + len(y) + n_weights)
    point, direction = symbols[:n_weights], symbols[n_weights:]
    along_v, along_y, weights = _split(direction, len(v), len(y))
    values = [*rates, *_equations(d)]

    def gradient(nodes: Sequence[int], variables: Sequence[int], weights: Sequence[int]) -> list[int]:
        return accumulate(g, list(zip(nodes, weights, strict=True)), variables, limits=True)

    dv = dict(zip(v, along_v, strict=True))
    equations = values[len(rates) :]
    by_y = gradient(equations, y, point[len(rates) :])
    along = Tangent(g, dv).of
    tangent = [*map(along, equations), *map(along, by_y)]
    everything = dict(zip([*v, *y, *point], [*along_v, *along_y, *weights], strict=True))
    change = list(map(Tangent(g, everything).of, gradient(values, v, point)))
    return Adjoints(
        point, direction, Derived(tuple(gradient(values, v, weights))), Derived(tuple(tangent)), Derived(tuple(change))
    )


def _split(direction: Sequence[int], n_v: int, n_y: int) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    return direction[:n_v], direction[n_v : n_v + n_y], direction[n_v + n_y :]


def _equations(d: Derivation) -> list[int]:
    """F."""
    g, udot = d.graph, d.description.accelerations
    balance = d.residual(udot)
    for row, force in zip(d.rows, d.multiplier_symbols, strict=True):
        balance = [g.add(b, g.mul(x, force)) for b, x in zip(balance, row.jacobian, strict=True)]
    return [*balance, *(g.add(row.bias, dot(g, row.jacobian, udot)) for row in d.rows)]
