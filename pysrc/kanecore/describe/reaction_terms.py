# SPDX-License-Identifier: BSD-3-Clause
"""Reactions that loads depend on: how they follow from the loads, and the loads from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

__all__ = ["ReactionTerms"]


@dataclass(frozen=True)
class ReactionTerms:
    """N = α + β s of the reactions N and the parts s = h(N) of loads that hold them.

    Attributes
    ----------
    names : tuple of str
        Names of N, in words.
    symbols : tuple of int
        N in ``laws``.
    start : tuple of int
        α, a node for each reaction.
    slopes : tuple of tuple of int
        β, a row for each reaction.
    laws : tuple of int
        h.
    powers : tuple of int
        Power of a unit of each s in the motion at a state.
    fault : int
        A ``kc_status``: why there is no s that is connected with zero; 0 where there is one.
    """

    names: tuple[str, ...]
    symbols: tuple[int, ...]
    start: tuple[int, ...]
    slopes: tuple[tuple[int, ...], ...]
    laws: tuple[int, ...]
    powers: tuple[int, ...]
    fault: int

    def mapped(self, nodes: Callable[[Sequence[int]], tuple[int, ...]]) -> ReactionTerms:
        """The same with other nodes in place of all."""
        return replace(
            self,
            symbols=nodes(self.symbols),
            start=nodes(self.start),
            slopes=tuple(map(nodes, self.slopes)),
            laws=nodes(self.laws),
            powers=nodes(self.powers),
            fault=nodes([self.fault])[0],
        )
