# SPDX-License-Identifier: BSD-3-Clause
"""Sparsity patterns: entries of matrices that can be nonzero, by the symbols that their expressions depend on.

The pattern of a solution at run time follows from its equations: if M or G connects speeds, directly or not, each speed
depends on the symbols of all their equations.  Each row of a pattern is an integer with a bit for each column.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.graph.expression_graph import Graph
from kanecore.kernels import KERNELS

from .derivation import Derivation
from .linearized_equations import VARIABLES
from .model_facts import sizes_of

__all__ = ["elimination_tree", "mass_matrix_pattern", "patterns", "second_pattern"]

WRITTEN_OUT = ("mass_matrix", "constraint_jacobian", "configuration_jacobian", "coriolis_matrix")
"""Kernels with all entries on the graph."""


def patterns(derivation: Derivation) -> dict[str, list[str]]:
    """The rows of each matrix of the model, in hexadecimal digits, for ``info`` of the model's table."""
    sizes, rows = sizes_of(derivation), {}
    for kernel in KERNELS:
        if kernel.name in WRITTEN_OUT and derivation.has(kernel.name):
            roots = derivation.kernel(kernel.name).roots
            _, width = kernel.lengths(sizes)
            entries = [roots[i : i + width] for i in range(0, len(roots), width)] if width else []
            rows[kernel.name] = [sum(1 << j for j, x in enumerate(row) if x) for row in entries]
        elif kernel.name in VARIABLES:
            rows[kernel.name] = _solved(derivation, VARIABLES[kernel.name](derivation.description))
    if derivation.has("output_jacobian"):
        rows["output_jacobian"] = _outputs(derivation, rows["linearize"])
    return {name: [f"{row:x}" for row in pattern] for name, pattern in rows.items()}


def second_pattern(derivation: Derivation) -> list[int]:
    """The rows of the second derivatives of any weights · ẋ by x, r (`kanecore.control.derivative_products`)."""
    sizes = sizes_of(derivation)
    n_z, n_y = sizes["n_x"] + sizes["n_r"], sizes["n_u"] + sizes["n_constraints"]
    vectors = derivation.vector_symbols(sizes["n_x"] + sizes["n_constraints"] + n_z + n_y)
    changes = derivation.kernel("hessian_products").roots[: n_z + n_y]
    of_lagrangian = _below(derivation.graph, changes, vectors[sizes["n_x"] + sizes["n_constraints"] :])
    by_motion = _solved(derivation, VARIABLES["linearize"](derivation.description))[sizes["n_q"] :][: sizes["n_u"]]
    full = (1 << n_z) - 1
    of_y = [*by_motion, *[full] * sizes["n_constraints"]]  # multipliers may depend on all symbols
    through = [_sum_of(of_y, row >> n_z) for row in of_lagrangian]  # L_zy Y, then L_yy Y
    rows = [(of_lagrangian[i] & full) | through[i] for i in range(n_z)]
    for k in range(n_y):  # Y' L_yy Y
        for i in range(n_z):
            if of_y[k] >> i & 1:
                rows[i] |= through[n_z + k]
    return [row | sum(1 << j for j in range(n_z) if rows[j] >> i & 1) for i, row in enumerate(rows)]


def mass_matrix_pattern(derivation: Derivation) -> list[int]:
    """The rows of M."""
    if derivation.composite_rates:
        return derivation.composite_rates.pattern
    return [sum(1 << j for j, x in enumerate(row) if x) for row in derivation.mass_matrix]


def elimination_tree(rows: Sequence[int]) -> tuple[int, ...]:
    """The parents of rows of a symmetric matrix that is factored from its last row to its first; −1 for roots.

    The parent of a row is the last earlier row that is connected with it, originally or after the elimination of later
    rows.  All earlier rows that are connected with a row are its ancestors (Liu, *SIAM Journal on Matrix Analysis and
    Applications* 11, 1990).
    """
    rows, parents = list(rows), [-1] * len(rows)
    for d in reversed(range(len(rows))):
        before = rows[d] & ((1 << d) - 1)
        parents[d] = before.bit_length() - 1
        if before:
            rows[parents[d]] |= before
    return tuple(parents)


def _sum_of(rows: Sequence[int], which: int) -> int:
    """The union of the rows selected by bits."""
    union = 0
    for k, row in enumerate(rows):
        union |= row if which >> k & 1 else 0
    return union


def _solved(derivation: Derivation, wrt: Sequence[int]) -> list[int]:
    """Pattern of ẋ with respect to some symbols."""
    g, d, rows = derivation.graph, derivation.description, derivation.rows
    levels = [node for row in rows for node in (*row.jacobian, row.bias)]
    own = [*derivation.residual(d.accelerations), *levels]
    bits = _below(g, [*d.rates, *own], wrt)
    n_q, n = len(d.coordinates), len(d.speeds)
    of_states = _below(g, derivation.differentiable_rates, wrt)
    speeds = bits[n_q : n_q + n]
    for k in range(len(rows)):
        row = bits[n_q + n + k * (n + 1) : n_q + n + (k + 1) * (n + 1)]
        for i, entry in enumerate(row[:n]):
            if rows[k].jacobian[i]:  # terms of Gᵀλ and of the row itself
                speeds[i] |= entry | row[n]
                for other in row[:n]:
                    speeds[i] |= other
    shared = [0] * n
    for group in _connected(derivation):
        union = 0
        for i in group:
            union |= speeds[i]
        for i in group:
            shared[i] = union
    for i, through in enumerate(_below(g, derivation.differentiable_rates, d.accelerations)):
        of_states[i] |= _sum_of(shared, through)
    return [*bits[:n_q], *shared, *of_states]


def _connected(derivation: Derivation) -> list[list[int]]:
    """Speeds that M or G connect."""
    links = [[j for j, x in enumerate(row) if x] for row in derivation.mass_matrix]
    groups = [{i, *link} for i, link in enumerate(links)]
    groups += [{j for j, x in enumerate(row.jacobian) if x} for row in derivation.rows]
    merged: list[set[int]] = []
    for group in groups:
        apart = [other for other in merged if not other & group]
        merged = [*apart, group.union(*(other for other in merged if other & group))]
    return [sorted(group) for group in merged]


def _outputs(derivation: Derivation, of_rates: Sequence[int]) -> list[int]:
    g, d = derivation.graph, derivation.description
    nodes = [node for _, node in d.outputs]
    direct = _below(g, nodes, VARIABLES["linearize"](d))
    for k, through in enumerate(_below(g, nodes, d.accelerations)):
        for i, row in enumerate(of_rates[len(d.coordinates) :][: len(d.speeds)]):
            direct[k] |= row if through >> i & 1 else 0
    return direct


def _below(g: Graph, nodes: Sequence[int], symbols: Sequence[int]) -> list[int]:
    """The given symbols below each node, as bits."""
    bits = {symbol: 1 << i for i, symbol in enumerate(symbols)}
    for i in g.below(nodes):
        own = bits.get(i, 0)
        for k in g.operands(i):
            own |= bits[k]
        bits[i] = own
    return [bits[i] for i in nodes]
