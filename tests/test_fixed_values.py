# SPDX-License-Identifier: BSD-3-Clause
"""What is the same for all directions is computed once, and nothing else is."""

from __future__ import annotations

from kanecore.graph.expression_graph import PARAMETER, SPEED, Graph, Op
from kanecore.program.fixed_values import fixed_values


def test_values_beside_a_direction() -> None:
    g = Graph()
    a, b, d = g.symbol("a", SPEED), g.symbol("b", SPEED), g.symbol("d", SPEED)
    c = g.symbol("c", PARAMETER)
    product, sine = g.mul(a, b), g.call(Op.SIN, a)
    moving = g.add(g.mul(product, d), g.mul(g.neg(sine), g.mul(c, d)))
    places = {a: 0, b: 1, c: 2, d: 3}
    assert fixed_values(g, [moving], [d], places) == sorted([product, sine])  # neither symbols nor the negative
    assert fixed_values(g, [moving], [d], {**places, product: 4}) == [sine]  # what is there already
    assert fixed_values(g, [product], [d], places) == []  # of which no direction is made
    assert fixed_values(g, [moving], [b], places) == [g.mul(sine, g.mul(c, d))]  # as a whole
