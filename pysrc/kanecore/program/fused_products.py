# SPDX-License-Identifier: BSD-3-Clause
"""Fused multiply-adds: an order of nodes that depends on their expressions, and not on their history.

Graphs number nodes in the order of creation: the number of an expression depends on the kernels that were derived
before.  The rounding of results must not depend on that number.
"""

from __future__ import annotations

from zlib import crc32

from kanecore.graph.expression_graph import PARAMETER, Graph, Op

__all__ = ["Forms"]

_EITHER_WAY = (Op.ADD, Op.SUB, Op.MUL)


class Forms:
    """Lengths of the chains of operations to nodes, and numbers that identify their expressions."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._known: dict[int, tuple[int, int]] = {}

    def rank(self, i: int) -> tuple[int, int]:
        """Rank of node i: (longest chain of operations to it; hash of its expression)."""
        g, known = self._graph, self._known
        if i not in known:
            for k in g.below([i], known):
                if k not in known:
                    known[k] = self._of(k)
        return known[i]

    def _of(self, k: int) -> tuple[int, int]:
        """Form of a node from the forms of its operands, up to sign: a − b may be written as −(b − a)."""
        g = self._graph
        op, *own = g.nodes[k]
        below = [self._known[operand] for operand in g.operands(k)]
        if op is Op.NEG:
            return below[0]
        depth = 1 + max((d for d, _ in below), default=0) if g.depends[k] & ~PARAMETER else 0
        parts = [form for _, form in below]
        form = repr((op, sorted(parts) if op in _EITHER_WAY else parts if parts else own))
        return depth, crc32(form.encode())
