# SPDX-License-Identifier: BSD-3-Clause
"""Reactions that the motion depends on, as friction μN does: found with u̇ from the auxiliary equations.

The equations of the auxiliary speeds (Kane & Levinson 1985, sections 4.9 and 4.10) are linear in u̇ and in as many
unknown reactions N, A u̇ + C N = d.  N = C⁻¹ (d − A u̇) stands in place of N wherever it occurs: loads are then linear in
u̇, and join the mass matrix, which is no longer symmetric.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.derive.derivation import Derivation
from kanecore.describe.description import Description, Image
from kanecore.errors import ModelError
from kanecore.graph.calculus import Tangent, is_affine
from kanecore.graph.expression_graph import ACCELERATION
from kanecore.graph.linear_equations import Singular, solve

from .noncontributing_forces import but_loads, unlisted

__all__ = ["with_reactions"]


def with_reactions(d: Description, reactions: Sequence[int]) -> Description:
    """The description with some inputs, one for each auxiliary speed, as functions of q, u and u̇, on the same graph."""
    names = [d.input_names[d.inputs.index(i)] for i in reactions]
    _check(d, reactions, names)
    solution = _solution(d, reactions, names)
    image = Image(d.graph, d.graph, dict(zip(reactions, solution, strict=True))).description(unlisted(d, reactions))
    for load in image.loads:
        if not is_affine(d.graph, [x for _, v in load.vector for x in v], lambda i: d.graph.depends[i] & ACCELERATION):
            raise ModelError(
                f"load {load.number} is not linear in the reactions {', '.join(names)}, which are found with u̇ from "
                "linear equations: write mu*N in place of mu*Abs(N) where the sign is known, and make of one side of a "
                "joint that may press on either a model of its own"
            )
    return image


def _check(d: Description, reactions: Sequence[int], names: Sequence[str]) -> None:
    """One unknown for each auxiliary speed, that stands in loads and outputs alone."""
    if len(reactions) != len(d.auxiliary):
        raise ModelError(
            f"reactions lists {len(reactions)} unknowns ({', '.join(names)}), and u_auxiliary {len(d.auxiliary)} speeds"
            f" ({', '.join(d.auxiliary_names) or 'none'}): each auxiliary equation determines one reaction"
        )
    elsewhere = set(d.graph.below([*but_loads(d, outputs=False)]))
    for i, name in zip(reactions, names, strict=True):
        if d.input_rates[d.inputs.index(i)] >= 0 or i in elsewhere:
            raise ModelError(
                f"the reaction {name} stands in a position, a mass, a potential or a constraint, or has a rate: "
                "reactions may stand in loads and outputs"
            )


def _solution(d: Description, reactions: Sequence[int], names: Sequence[str]) -> list[int]:
    """N of the auxiliary equations."""
    derivation, g = Derivation(d), d.graph
    equations = derivation.kernel("auxiliary_forces").roots
    if not set(g.below(equations)).isdisjoint(derivation.multiplier_symbols):
        raise ModelError(
            f"the equations that give the reactions {', '.join(names)} hold multipliers of constraints, which are "
            "found after u̇: choose coordinates without these constraints"
        )
    above = set().union(*(g.above(i) for i in reactions))
    if not is_affine(g, equations, above.__contains__):
        raise ModelError(
            f"the auxiliary equations are not linear in the reactions {', '.join(names)}: write mu*N in place of "
            "mu*Abs(N) where the sign is known"
        )
    slopes = [Tangent(g, {i: g.one}).of for i in reactions]
    rest = g.substitute(list(equations), dict.fromkeys(reactions, 0))
    try:
        return solve(g, [[slope(e) for slope in slopes] for e in equations], [g.neg(e) for e in rest])
    except Singular as error:
        raise ModelError(
            f"the auxiliary equations do not determine the reaction {names[error.column]}: write it into forcelist as "
            f"a force along the motion of one of {', '.join(d.auxiliary_names)}, and its opposite on the other body"
        ) from None
