# SPDX-License-Identifier: BSD-3-Clause
"""Systems for u̇ whose pivots are chosen at run time: what of them is emitted, and how u̇ follows from a solution."""

from __future__ import annotations

from dataclasses import dataclass

from kanecore.graph.scalars import ACCELERATION, Graph

from .elimination import Reduced
from .magnitudes import magnitude
from .registry import Derived

__all__ = ["Solving", "solving"]


@dataclass(frozen=True)
class Solving:
    """How u̇ is found with pivots that are chosen at run time.

    ``system`` are the entries of M (n, n), f (n), G (m, n), γ (m), and of bounds (m, n) of what those of G are sums of;
    then come ``known``, of which with the unknowns v the ``result`` u̇ is made, where this is not v itself.  ``doubt``
    (m) is what each γ is a sum of.  ``speeds`` and ``rows`` are the numbers of what v and G hold.
    """

    speeds: tuple[int, ...]
    rows: tuple[int, ...]
    system: tuple[int, ...]
    known: tuple[int, ...]
    unknowns: tuple[int, ...]
    result: tuple[int, ...]
    doubt: tuple[int, ...]
    limits: tuple[int, ...]

    @property
    def derived(self) -> Derived:
        """All that is computed on the way to u̇, beside the solution itself."""
        return Derived((*self.system, *self.known, *self.result), limits=self.limits)

    @property
    def sums(self) -> tuple[int, ...]:
        """The bounds at the end of ``system``."""
        return self.system[len(self.system) - len(self.speeds) * len(self.rows) :]


def solving(g: Graph, e: Reduced) -> Solving:
    """The system of the equations that an elimination leaves."""
    unknowns = [g.symbol(("v", i), ACCELERATION) for i in range(len(e.speeds))]
    known = dict.fromkeys(x for x in (*(x for row in e.projection for x in row), *e.offset) if g.depends[x])
    result = e.all_from(g, unknowns)
    system = [*(x for row in e.mass_matrix for x in row), *e.forcing]
    system += [*(x for row in e.jacobian for x in row), *e.bias, *e.sums]
    sizes = dict[int, int]()
    return Solving(
        speeds=e.speeds,
        rows=e.rows,
        system=tuple(system),
        known=tuple(known),
        unknowns=tuple(unknowns),
        result=tuple(result),
        doubt=tuple(magnitude(g, x, sizes) for x in e.bias),
        limits=e.limits,
    )
