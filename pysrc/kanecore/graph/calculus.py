# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives on the graph: forward tangents and reverse accumulation.

Both work node by node with structural zeros, so that a derivative costs a small multiple of the expression, however
deeply it is shared (Griewank & Walther, *Evaluating Derivatives*, 2nd ed., 2008, chapters 3 and 4).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from .scalars import Graph, Op

__all__ = ["Tangent", "accumulate", "is_affine", "partials"]


def is_affine(g: Graph, nodes: Iterable[int], moves: Callable[[int], object]) -> bool:
    """Whether nodes are affine in some symbols, by structure; ``moves(node)`` tells what depends on these."""
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
    """(condition, value where it holds, value elsewhere) of a node that chooses, else None."""
    op = node[0]
    if op is Op.SELECT:
        return node[1], node[2], node[3]
    if op is Op.MIN:
        return g.binary(Op.LE, node[1], node[2]), node[1], node[2]
    if op is Op.MAX:
        return g.binary(Op.LE, node[2], node[1]), node[1], node[2]
    return None


def partials(g: Graph, i: int) -> list[tuple[int, int]]:
    """``[(operand, ∂node/∂operand), ...]`` of one node that does not choose between its operands."""
    node = g.nodes[i]
    op = node[0]
    if op is Op.ADD:
        return [(node[1], g.one), (node[2], g.one)]
    if op is Op.SUB:
        return [(node[1], g.one), (node[2], g.neg(g.one))]
    if op is Op.MUL:
        a, b = node[1:]
        return _odd_power(g, a, b) or _odd_power(g, b, a) or [(a, b), (b, a)]
    if op is Op.NEG:
        return [(node[1], g.neg(g.one))]
    if op is Op.DIV:
        inverse = g.div(g.one, node[2])
        return [(node[1], inverse), (node[2], g.neg(g.mul(i, inverse)))]
    if op in (Op.CONST, Op.SYM, Op.PI, Op.SIGN, Op.FLOOR, Op.LT, Op.LE, Op.EQ):
        return []
    a = node[1]
    if op is Op.SIN:
        return [(a, g.cos(a))]
    if op is Op.COS:
        return [(a, g.neg(g.sin(a)))]
    if op is Op.SQRT:
        return [(a, g.div(g.constant(Fraction(1, 2)), i))]
    if op is Op.TAN:
        return [(a, g.add(g.one, g.square(i)))]
    if op is Op.ASIN:
        return [(a, g.div(g.one, g.sqrt(g.sub(g.one, g.square(a)))))]
    if op is Op.ACOS:
        return [(a, g.neg(g.div(g.one, g.sqrt(g.sub(g.one, g.square(a))))))]
    if op is Op.ATAN:
        return [(a, g.div(g.one, g.add(g.one, g.square(a))))]
    if op is Op.EXP:
        return [(a, i)]
    if op is Op.LOG:
        return [(a, g.div(g.one, a))]
    if op is Op.SINH:
        return [(a, g.call(Op.COSH, a))]
    if op is Op.COSH:
        return [(a, g.call(Op.SINH, a))]
    if op is Op.TANH:
        return [(a, g.sub(g.one, g.square(i)))]
    if op is Op.ASINH:
        return [(a, g.div(g.one, g.sqrt(g.add(g.square(a), g.one))))]
    if op is Op.ACOSH:
        return [(a, g.div(g.one, g.mul(g.sqrt(g.sub(a, g.one)), g.sqrt(g.add(a, g.one)))))]
    if op is Op.ATANH:
        return [(a, g.div(g.one, g.sub(g.one, g.square(a))))]
    if op is Op.ERF:
        slope = g.div(g.constant(2), g.sqrt(g.pi))
        return [(a, g.mul(slope, g.call(Op.EXP, g.neg(g.square(a)))))]
    if op is Op.ABS:
        return [(a, g.call(Op.SIGN, a))]
    b = node[2]
    if op is Op.ATAN2:
        r2 = g.add(g.square(a), g.square(b))
        return [(a, g.div(b, r2)), (b, g.neg(g.div(a, r2)))]
    if op is Op.POW:
        result = [(a, g.mul(b, g.pow(a, g.sub(b, g.one))))]
        if g.value(b) is None:
            result.append((b, _by_exponent(g, i, a)))
        return result
    raise AssertionError(op)


def _odd_power(g: Graph, x: int, y: int) -> list[tuple[int, int]]:
    """The partial of x |x|ᵉ, (e + 1) |x|ᵉ: by factors it would be 0·∞ at x = 0 where e < 1; [] of other products."""
    op, *args = g.nodes[y]
    if (op is not Op.SQRT and op is not Op.POW) or g.nodes[args[0]] != (Op.ABS, x):
        return []
    exponent = g.constant(Fraction(1, 2)) if op is Op.SQRT else args[1]
    result = [(x, g.mul(g.add(exponent, g.one), y))]
    if g.value(exponent) is None:
        result.append((exponent, _by_exponent(g, g.mul(x, y), args[0])))
    return result


def _by_exponent(g: Graph, power: int, base: int) -> int:
    """∂(aᵇ)/∂b = aᵇ log a, and its limit 0 at a = 0."""
    return g.select(g.binary(Op.EQ, base, g.zero), g.zero, g.mul(power, g.call(Op.LOG, base)))


class Tangent:
    """Directional derivative: d(node) along given tangents of some nodes, all others being constant.

    With seeds ``{q_k: q̇_k, t: 1}`` it is the time derivative of whatever holds q and t.  Tangents are kept, so the
    cost of many calls is that of one.
    """

    def __init__(self, g: Graph, seeds: Mapping[int, int]) -> None:
        self.graph = g
        self._tangent = dict(seeds)
        self._mask = 0
        for i in seeds:
            self._mask |= g.depends[i]

    def of(self, root: int) -> int:
        """The tangent of one node."""
        g, tangent, mask = self.graph, self._tangent, self._mask
        if root in tangent:
            return tangent[root]
        if not g.depends[root] & mask:
            return 0
        for i in g.below([root], stop=tangent):
            if i in tangent:
                continue
            if not g.depends[i] & mask:
                tangent[i] = 0  # known from now on: nothing below is looked at again
                continue
            node = g.nodes[i]
            op = node[0]
            if op is Op.SYM:
                tangent[i] = 0
                continue
            if op is Op.ADD or op is Op.SUB:
                da, db = tangent.get(node[1], 0), tangent.get(node[2], 0)
                tangent[i] = g.add(da, db) if op is Op.ADD else g.sub(da, db)
            elif op is Op.DIV:
                # (a/b)' = (a' − (a/b) b') / b
                da, db = tangent.get(node[1], 0), tangent.get(node[2], 0)
                tangent[i] = g.div(g.sub(da, g.mul(i, db)), node[2])
            elif not any(tangent.get(k, 0) for k in node[1:]):
                tangent[i] = 0
            elif (choice := _branches(g, node)) is not None:
                condition, a, b = choice
                tangent[i] = g.select(condition, tangent.get(a, 0), tangent.get(b, 0))
            else:
                total = 0
                for k, d in partials(g, i):
                    dk = tangent.get(k, 0)
                    if dk:
                        total = g.add(total, g.mul(d, dk))
                tangent[i] = total
        return tangent[root]


def accumulate(
    g: Graph,
    weights: Sequence[tuple[int, int]],
    wrt: Sequence[int],
    through: int | None = None,
    limits: bool = False,
) -> list[int]:
    """Σ_i w_i ∂y_i/∂x for every node x in ``wrt``, by reverse accumulation.

    Parameters
    ----------
    weights : sequence of (node y_i, weight w_i)
        The weights may depend on anything; they are not differentiated.
    wrt : sequence of nodes x
        Taken as independent of each other.
    through : bits, optional
        Only nodes that depend on one of these levels carry a derivative (default: the levels of ``wrt``).
    limits : bool
        Take 0·∞ for 0 where a power vanishes together with what it is multiplied by, as in |v| v at v = 0.  That makes
        a choice of every root: it is meant for results that nothing is derived from.

    Notes
    -----
    With velocities as y, forces as w and speeds as x this is Kane's F_r = Σ v_r·R + ω_r·T, and along a chain of bodies
    it is the backward pass of the recursive Newton–Euler algorithm.
    """
    if through is None:
        through = 0
        for x in wrt:
            through |= g.depends[x]
    targets = set(wrt)
    adjoint: dict[int, int] = {}
    queue: list[int] = []

    def give(i: int, w: int) -> None:
        if i in adjoint:
            adjoint[i] = g.add(adjoint[i], w)
        else:
            adjoint[i] = w
            heapq.heappush(queue, -i)

    for y, w in weights:
        if w and g.depends[y] & through:
            give(y, w)
    depends = g.depends
    while queue:
        i = -heapq.heappop(queue)
        if i in targets:
            continue
        w = adjoint[i]
        if not w:
            continue
        node = g.nodes[i]
        op = node[0]
        if op is Op.ADD:
            for k in node[1:]:
                if depends[k] & through:
                    give(k, w)
        elif op is Op.SUB:
            if depends[node[1]] & through:
                give(node[1], w)
            if depends[node[2]] & through:
                give(node[2], g.neg(w))
        elif op is Op.NEG:
            give(node[1], g.neg(w))
        elif (choice := _branches(g, node)) is not None:
            # each branch to its end before choosing: a weight of 0 would meet the NaN of the branch that is dead
            condition, a, b = choice
            ends = (accumulate(g, [(k, w)], wrt, through, limits) for k in (a, b))
            for x, wa, wb in zip(wrt, *ends, strict=True):
                give(x, g.select(condition, wa, wb))
        else:
            nowhere = g.binary(Op.EQ, w, g.zero) if limits and (op is Op.SQRT or op is Op.POW) else g.zero
            for k, d in partials(g, i):
                if depends[k] & through:
                    give(k, g.select(nowhere, g.zero, g.mul(w, d)))
    return [adjoint.get(x, 0) for x in wrt]
