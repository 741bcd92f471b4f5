# SPDX-License-Identifier: BSD-3-Clause
"""Inputs and their derivatives, which are inputs too: accelerations hold the second one of a prescribed motion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kanecore.graph.scalars import Graph

__all__ = ["InputRates", "input_name"]


@dataclass
class InputRates:
    """Inputs as chains, each link the derivative of the one before.

    Attributes
    ----------
    names : dict of node to name
        In the order in which the inputs were made.
    derivative : dict of node to node
        Of inputs whose derivative is an input.
    """

    names: dict[int, str] = field(default_factory=dict)
    derivative: dict[int, int] = field(default_factory=dict)

    def bases(self) -> list[int]:
        """Inputs that are no derivatives."""
        rates = set(self.derivative.values())
        return [i for i in self.names if i not in rates]

    def chain(self, node: int) -> list[int]:
        """An input and its derivatives."""
        nodes = [node]
        while nodes[-1] in self.derivative:
            nodes.append(self.derivative[nodes[-1]])
        return nodes

    def orders(self, g: Graph, uses: Iterable[tuple[Iterable[int], int]]) -> dict[int, int]:
        """How many derivatives are needed of each base that stands in ``uses``, itself or as a derivative.

        Parameters
        ----------
        uses : iterable of (nodes, number)
            How often these nodes are differentiated.
        """
        place = {i: (base, order) for base in self.bases() for order, i in enumerate(self.chain(base))}
        needed: dict[int, int] = {}
        for nodes, number in uses:
            for i in g.below(nodes):
                if i in place:
                    base, order = place[i]
                    needed[base] = max(needed.get(base, 0), order + number)
        return needed


def input_name(base: str, order: int) -> str:
    """Names of an input and its derivatives: F, F_d, F_dd, ..."""
    return base + ("_" + "d" * order if order else "")
