# SPDX-License-Identifier: BSD-3-Clause
"""Values that are the same in all runs of a program: another program computes them once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kanecore.graph.expression_graph import Graph, Op

__all__ = ["fixed_values"]


def fixed_values(g: Graph, roots: Sequence[int], moving: Iterable[int], leaves: Mapping[int, Any]) -> list[int]:
    """Nodes independent of some symbols: roots, and operands of nodes below the roots that depend on the symbols.

    Parameters
    ----------
    g : Graph
    roots : sequence of int
    moving : iterable of int
        The symbols.
    leaves : mapping
        Symbols and nodes that a program reads from given places: nodes below are not computed.

    Returns
    -------
    list of int
        In the order of the graph, without leaves and numbers; a negated node is computed where it is used.
    """
    moves, found = set(moving), set[int]()

    def find(nodes: Iterable[int]) -> None:
        for k in nodes:
            while k not in leaves and g.nodes[k][0] is Op.NEG:
                k = g.nodes[k][1]
            if k not in moves and k not in leaves and g.depends[k]:
                found.add(k)

    for i in g.below(roots, stop=leaves):
        operands = () if i in leaves or i in moves else g.operands(i)
        if any(k in moves for k in operands):
            moves.add(i)
            find(operands)
    find(roots)
    return sorted(found)
