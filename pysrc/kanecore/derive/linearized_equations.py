# SPDX-License-Identifier: BSD-3-Clause
"""Linearization of the equations of motion, by derivatives of residuals and not of solutions.

Derivatives with respect to x and r, to t, and to the parameters have the same form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kanecore.derive.kernel_registry import Derived
from kanecore.derive.recursions.joint_tree_derivatives import Forest
from kanecore.describe.description import Description
from kanecore.graph.calculus import Tangent, derivatives
from kanecore.graph.evaluation import count
from kanecore.graph.expression_graph import ACCELERATION
from kanecore.graph.magnitudes import sums
from kanecore.graph.vectors import dot

from .constraint_rows import Row

__all__ = ["BESIDE_FRONTS", "VARIABLES", "Linearization", "ReducedSlopes", "linearized"]

UNROLLED = 12_000  # most operations of a linearization that is written out; the compiler's time grows faster
BESIDE_FRONTS = 3  # times the operations of equations by fronts: derivatives of many loops grow as the equations do
SOLVED = 1_000  # how many more its solution and u̇ may take together with it

# Cost of recursions over joints, in operations of written code: for each joint, and for each pair of joints in which
# one carries the other.  Measured on an arm of seven joints in space and on carts with chains of 3 to 20 links in the
# plane.
JOINT, PAIR = 300, 60

VARIABLES: dict[str, Callable[[Description], list[int]]] = {
    "linearize": lambda d: [*d.x, *d.inputs],
    "rhs_time_derivative": lambda d: [d.time],
    "rhs_parameter_jacobian": lambda d: list(d.parameters),
}
"""Columns of each kernel that is a derivative of ẋ: the symbols of the derivatives."""


@dataclass(frozen=True)
class ReducedSlopes:
    """Expressions of the derivatives of u̇ in N columns, for models in which the graph eliminated speeds and all rows
    of G.

    Attributes
    ----------
    sides : tuple of int
        ∂R of the n remaining speeds and ∂S of the m rows, at given u̇ and λ: (n, N), then (m, N).
    rates : tuple of int
        ∂q̇ (n_q, N).
    offsets, projection : tuple of int
        The slopes of the eliminated accelerations are offsets (., N) + projection (., n) times the slopes of the
        others.
    """

    sides: tuple[int, ...]
    rates: tuple[int, ...]
    offsets: tuple[int, ...]
    projection: tuple[int, ...]

    @property
    def roots(self) -> tuple[int, ...]:
        return (*self.sides, *self.rates, *self.offsets, *self.projection)


@dataclass(frozen=True)
class Linearization:
    """Equations from which the derivatives of ẋ with respect to N symbols are solved.

    ``equations`` are the entries of M (n, n), ∂R (n, N), G (m, n), ∂S (m, N) and the magnitude of the terms of G
    (m, n); ``rates`` are the entries of ∂q̇ (n_q, N).  If the entries are many, both are left out, and one ``column``
    of ∂R, ∂S and ∂q̇ replaces them: the derivatives along the direction of the ``seeds`` (N). If recursions over the
    joints of a ``forest`` find all derivatives, only the forest is set.  If ẋ depends on none of the symbols, only
    ``vanishes`` is set.  A ``solution`` that is short enough is written out: the entries of ∂q̇ and ∂u̇ row by row.
    The ``column`` is given as well, for states at which the pivots of the solution are too small.  The same applies to
    slopes of ``reduced`` equations.
    """

    equations: tuple[int, ...] = ()
    rates: tuple[int, ...] = ()
    column: tuple[int, ...] = ()
    seeds: tuple[int, ...] = ()
    forest: Forest | None = None
    vanishes: bool = False
    solution: Derived | None = None
    reduced: ReducedSlopes | None = None

    @property
    def roots(self) -> tuple[int, ...]:
        for way in (self.forest, self.solution, self.reduced):
            if way is not None:
                return way.roots
        return (*self.equations, *self.rates, *self.column)


def linearized(
    d: Description,
    mass_matrix: Sequence[Sequence[int]],
    balance: Sequence[int],
    rows: Sequence[Row],
    multipliers: Sequence[int],
    wrt: Sequence[int],
    find_forest: Callable[[], Forest | None],
    solve: Callable[[Sequence[int], Sequence[int], Sequence[int]], Derived | ReducedSlopes | None],
    most: int = 0,
) -> Linearization:
    """The linearization at given u̇ and λ, from M, f − M u̇ and the rows of G, with respect to some symbols.

    With the residual R = f + Gᵀλ − M u̇ of the equations of motion and the rows S = G u̇ + γ,

        M du̇ − Gᵀ dλ = dR,    G du̇ = −dS,

    where dR and dS are the differentials at constant u̇ and λ: factorizations are not differentiated.

    ``solve`` takes the entries of ∂R (n, N), ∂S (m, N) and ∂q̇ (n_q, N), row by row.  It returns the solution or, if
    this has no expression, its reduced equations, or None.  ``most`` operations are written out in any case.
    """
    most = max(most, UNROLLED)
    g = d.graph
    for row, force in zip(rows, multipliers, strict=True):
        balance = [g.add(b, g.mul(x, force)) for b, x in zip(balance, row.jacobian, strict=True)]
    levels = [g.add(row.bias, dot(g, row.jacobian, d.accelerations)) for row in rows]
    nodes = [*d.rates, *balance, *levels]
    entries = derivatives(g, nodes, wrt, most=2 * most)
    if not any(entries):
        return Linearization(vanishes=True)
    operations = count(g, entries)["total"]
    if operations > JOINT * len(d.speeds) and (trees := find_forest()) is not None:
        recursion = count(g, trees.roots)["total"] + JOINT * len(d.speeds) + PAIR * trees.pairs
        if recursion < operations or operations > most:
            return Linearization(forest=trees)
    first_force, first_level = len(d.rates) * len(wrt), (len(nodes) - len(rows)) * len(wrt)
    rates, forces, slopes = entries[:first_force], entries[first_force:first_level], entries[first_level:]
    way = solve(forces, slopes, rates) if operations <= most else None
    if way is not None and count(g, way.roots)["total"] > most + SOLVED:
        way = None
    if operations > most or way:
        seeds = tuple(g.symbol(("d", i), ACCELERATION) for i in range(len(wrt)))
        along = Tangent(g, dict(zip(wrt, seeds, strict=True))).of
        column = [along(node) for node in nodes]
        n_q = len(d.rates)
        written, reduced = (way, None) if isinstance(way, Derived) else (None, way)
        return Linearization(column=(*column[n_q:], *column[:n_q]), seeds=seeds, solution=written, reduced=reduced)
    mass = [x for row in mass_matrix for x in row]
    jacobian = [x for row in rows for x in row.jacobian]
    bounds = [x for row in rows for x in sums(g, row.jacobian)]
    return Linearization((*mass, *forces, *jacobian, *slopes, *bounds), tuple(rates))
