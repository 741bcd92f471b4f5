# SPDX-License-Identifier: BSD-3-Clause
"""What ∂ẋ/∂(q, u, r) is solved from: derivatives of the residuals of all equations, never of a solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanecore.describe.description import Description
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.evaluate import count
from kanecore.graph.scalars import COORDINATE, INPUT, SPEED

from .constraints import Row
from .magnitudes import sums
from .vectors import dot

__all__ = ["Linearization", "linearized"]

UNROLLED = 12_000  # operations of a linearization that is written out; the compiler's time grows faster than these


@dataclass(frozen=True)
class Linearization:
    """What the linearization is solved from, N = n_q + n_u + n_r columns.

    ``equations`` are the entries of M (n, n), ∂R (n, N), G (m, n), ∂S (m, N) and what the entries of G are sums of
    (m, n); ``rates`` those of ∂q̇ (n_q, N).  Where these are many, they are left out, and there is one ``column`` of ∂R,
    ∂S and ∂q̇ in their place: the derivatives along the direction of the ``seeds`` (N).
    """

    equations: tuple[int, ...] = ()
    rates: tuple[int, ...] = ()
    column: tuple[int, ...] = ()
    seeds: tuple[int, ...] = ()

    @property
    def roots(self) -> tuple[int, ...]:
        return (*self.equations, *self.rates, *self.column)


def linearized(
    d: Description,
    mass_matrix: Sequence[Sequence[int]],
    balance: Sequence[int],
    rows: Sequence[Row],
    multipliers: Sequence[int],
) -> Linearization:
    """The linearization at given u̇ and λ, from M, f − M u̇ and the rows of G.

    With the residual R = f + Gᵀλ − M u̇ of the equations of motion and the rows S = G u̇ + γ,

        M du̇ − Gᵀ dλ = dR,    G du̇ = −dS,

    dR and dS the differentials at constant u̇ and λ: nothing is differentiated through a factorization.
    """
    g = d.graph
    for row, force in zip(rows, multipliers, strict=True):
        balance = [g.add(b, g.mul(x, force)) for b, x in zip(balance, row.jacobian, strict=True)]
    levels = [g.add(row.bias, dot(g, row.jacobian, d.accelerations)) for row in rows]
    wrt = [*d.coordinates, *d.speeds, *d.inputs]
    nodes = [*d.rates, *balance, *levels]
    level = COORDINATE | SPEED | INPUT
    entries = [x for node in nodes for x in accumulate(g, [(node, g.one)], wrt, level, limits=True)]
    if count(g, entries)["total"] > UNROLLED:
        seeds = tuple(g.symbol(("d", i), level) for i in range(len(wrt)))
        along = Tangent(g, dict(zip(wrt, seeds, strict=True))).of
        column = [along(node) for node in nodes]
        n_q = len(d.rates)
        return Linearization(column=(*column[n_q:], *column[:n_q]), seeds=seeds)
    first_force, first_level = len(d.rates) * len(wrt), (len(nodes) - len(rows)) * len(wrt)
    mass = [x for row in mass_matrix for x in row]
    jacobian = [x for row in rows for x in row.jacobian]
    bounds = [x for row in rows for x in sums(g, row.jacobian)]
    equations = (*mass, *entries[first_force:first_level], *jacobian, *entries[first_level:], *bounds)
    return Linearization(equations, tuple(entries[:first_force]))
