# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives on the graph: forward tangents and reverse accumulation.

Both work node by node and skip structural zeros. A derivative costs a small multiple of the expression, however
deeply its parts are shared (Griewank & Walther, *Evaluating Derivatives*, 2nd ed., 2008, chapters 3 and 4).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any

from .evaluation import count
from .expression_graph import Given, Graph, Op
from .operations import OPERATIONS

__all__ = ["Tangent", "accumulate", "derivatives", "is_affine", "partials"]


def is_affine(g: Graph, nodes: Iterable[int], moves: Callable[[int], object]) -> bool:
    """Test by structure whether nodes are affine in some symbols; ``moves(node)``: it depends on these."""
    for i in g.below(nodes):
        if not moves(i):
            continue
        op, *args = g.nodes[i]
        if op in (Op.SYM, Op.ADD, Op.SUB, Op.NEG):
            continue
        moving = [k for k in args if moves(k)]
        if (op is Op.MUL and len(moving) == 1) or (op is Op.DIV and args[1] not in moving):
            continue
        if op is Op.SELECT and args[0] not in moving:
            continue
        return False
    return True


def _branches(g: Graph, node: tuple[Any, ...]) -> tuple[int, int, int] | None:
    """Condition, value if it holds, and value otherwise, of a node that chooses; None for other nodes."""
    row = OPERATIONS.get(node[0])
    return None if row is None or row.branches is None else row.branches(g, *node[1:])


def partials(g: Graph, i: int) -> list[tuple[int, int]]:
    """``[(operand, ∂node/∂operand), ...]`` of one node that does not choose between its operands."""
    op, *args = g.nodes[i]
    if isinstance(op, Given):
        return [(x, g.given(op.slope(place), args)) for place, x in enumerate(args)]
    return OPERATIONS[op].partials(g, i, *args) if op in OPERATIONS else []


class Tangent:
    """Directional derivative: d(node) along given tangents of some nodes, all others being constant.

    With seeds ``{q_k: q̇_k, t: 1}`` it is the time derivative of any node in q and t.  Tangents are kept, so many calls
    cost as much as one.  ``moving`` are the nodes that depend on the seeds, if they are known.
    """

    def __init__(self, g: Graph, seeds: Mapping[int, int], moving: Collection[int] | None = None) -> None:
        self.graph = g
        self._tangent = dict(seeds)
        self._mask = reduce(or_, (g.depends[i] for i in seeds), 0)
        self._moving = moving

    def of(self, root: int) -> int:
        """The tangent of one node."""
        g, tangent, found, waiting = self.graph, self._tangent, set[int](), [root]
        while waiting:
            i = waiting.pop()
            if i not in found and i not in tangent and self._moves(i):
                found.add(i)
                waiting += g.operands(i)
        for i in sorted(found):
            tangent[i] = self._of_node(i)
        return tangent.get(root, 0)

    def _moves(self, i: int) -> bool:
        return bool(self.graph.depends[i] & self._mask) if self._moving is None else i in self._moving

    def _of_node(self, i: int) -> int:
        """Tangent of one node from those of its operands."""
        g, tangent, node = self.graph, self._tangent, self.graph.nodes[i]
        op = node[0]
        if op is Op.SYM:
            return 0
        if op is Op.ADD or op is Op.SUB:
            da, db = tangent.get(node[1], 0), tangent.get(node[2], 0)
            return g.add(da, db) if op is Op.ADD else g.sub(da, db)
        if op is Op.DIV:
            # (a/b)' = (a' − (a/b) b') / b
            da, db = tangent.get(node[1], 0), tangent.get(node[2], 0)
            return g.div(g.sub(da, g.mul(i, db)), node[2])
        if not any(tangent.get(k, 0) for k in node[1:]):
            return 0
        if (choice := _branches(g, node)) is not None:
            condition, a, b = choice
            return g.select(condition, tangent.get(a, 0), tangent.get(b, 0))
        total = 0
        for k, slope in partials(g, i):
            if dk := tangent.get(k, 0):
                total = g.add(total, g.mul(slope, dk))
        return total


def accumulate(
    g: Graph,
    weights: Sequence[tuple[int, int]],
    wrt: Sequence[int],
    through: int | None = None,
    limits: bool = False,
) -> list[int]:
    """Sums Σ_i w_i ∂y_i/∂x for every node x in ``wrt``, by reverse accumulation.

    Parameters
    ----------
    weights : sequence of (node y_i, weight w_i)
        The weights may depend on any symbol; they are not differentiated.
    wrt : sequence of nodes x
        The nodes x count as independent of each other.
    through : bits, optional
        Only nodes that depend on one of these levels carry a derivative (default: the levels of ``wrt``).
    limits : bool
        Take 0·∞ for 0 where a power vanishes together with its factor, as in |v| v at v = 0. Every root becomes a
        choice, so use ``limits`` for final results only, which are not differentiated again.

    Notes
    -----
    With velocities as y, forces as w and speeds as x this is Kane's F_r = Σ v_r·R + ω_r·T, and along a chain of bodies
    it is the backward pass of the recursive Newton–Euler algorithm.
    """
    if through is None:
        through = 0
        for x in wrt:
            through |= g.depends[x]
    adjoints = _Adjoints(g, through, limits)
    for y, w in weights:
        if w:
            adjoints.give(y, w)
    targets = set(wrt)
    for i, w in adjoints.newest_first():
        if i in targets or not w:
            continue
        if (choice := _branches(g, g.nodes[i])) is not None:
            # follow each branch to its end before choosing: a weight of 0 times the NaN of the unused branch is NaN
            condition, a, b = choice
            ends = (accumulate(g, [(k, w)], wrt, through, limits) for k in (a, b))
            for x, wa, wb in zip(wrt, *ends, strict=True):
                adjoints.weigh(x, g.select(condition, wa, wb))
        else:
            adjoints.pass_on(i, w)
    return [adjoints.weight.get(x, 0) for x in wrt]


def derivatives(g: Graph, nodes: Sequence[int], wrt: Sequence[int], most: int) -> list[int]:
    """Derivatives ∂y_i/∂x_j of nodes, row by row: by gradients of rows or by tangents, whichever is shorter.

    Gradients share the common parts of a row of derivatives. Tangents share those of a column. The derivatives are
    final results, like those of `accumulate` with ``limits``.

    Parameters
    ----------
    nodes : sequence of nodes y
    wrt : sequence of symbols x
    most : int
        Tangents are tried only if the gradients have at most this number of operations.

    Returns
    -------
    list of len(nodes) · len(wrt) nodes
    """
    gradients = [x for node in nodes for x in accumulate(g, [(node, g.one)], wrt, limits=True)]
    operations = count(g, gradients)["total"]
    if operations > most or _have_limits(g, nodes, wrt):
        return gradients
    holders = dict[int, list[int]]()
    for i in g.below(nodes):
        for k in g.operands(i):
            holders.setdefault(k, []).append(i)
    columns = [list(map(Tangent(g, {x: g.one}, _above(holders, x)).of, nodes)) for x in wrt]
    tangents = [x for row in zip(*columns, strict=True) for x in row]
    return tangents if count(g, tangents)["total"] < operations else gradients


def _above(holders: Mapping[int, Sequence[int]], x: int) -> set[int]:
    """All nodes with a symbol below them."""
    found, waiting = set[int](), [x]
    while waiting:
        i = waiting.pop()
        if i not in found:
            found.add(i)
            waiting += holders.get(i, ())
    return found


def _have_limits(g: Graph, nodes: Sequence[int], wrt: Sequence[int]) -> bool:
    """Test whether a power of the symbols may vanish together with its factor; only gradients take that limit.

    Powers that are only divided by do not count: where such a power vanishes there is no value either.
    """
    moving, below = reduce(or_, (g.depends[x] for x in wrt), 0), g.below(nodes)
    powers = {i for i in below if g.nodes[i][0] in (Op.SQRT, Op.POW) and g.depends[i] & moving}
    used = set(nodes)
    for i in below if powers else ():
        operands = g.operands(i)
        used.update(operands[:1] if g.nodes[i][0] is Op.DIV else operands)
    return not powers.isdisjoint(used)


class _Adjoints:
    """Weights of nodes, passed from each node to its operands; ``through`` and ``limits`` as in `accumulate`."""

    def __init__(self, g: Graph, through: int, limits: bool) -> None:
        self.graph, self._through, self._limits = g, through, limits
        self.weight: dict[int, int] = {}
        self._queue: list[int] = []

    def newest_first(self) -> Iterator[tuple[int, int]]:
        """Nodes with their weights, newest first: a weight is complete once all newer nodes have passed theirs on."""
        while self._queue:
            i = -heapq.heappop(self._queue)
            yield i, self.weight[i]

    def weigh(self, i: int, w: int) -> None:
        if i in self.weight:
            self.weight[i] = self.graph.add(self.weight[i], w)
        else:
            self.weight[i] = w
            heapq.heappush(self._queue, -i)

    def give(self, i: int, w: int) -> None:
        """Weigh a node that carries a derivative."""
        if self.graph.depends[i] & self._through:
            self.weigh(i, w)

    def pass_on(self, i: int, w: int) -> None:
        g = self.graph
        op, *args = g.nodes[i]
        if op is Op.ADD:
            for k in args:
                self.give(k, w)
        elif op is Op.SUB:
            self.give(args[0], w)
            if g.depends[args[1]] & self._through:
                self.weigh(args[1], g.neg(w))
        elif op is Op.NEG:
            self.weigh(args[0], g.neg(w))
        else:
            nowhere = g.binary(Op.EQ, w, g.zero) if self._limits and (op is Op.SQRT or op is Op.POW) else g.zero
            for k, slope in partials(g, i):
                if g.depends[k] & self._through:
                    self.weigh(k, g.select(nowhere, g.zero, g.mul(w, slope)))
