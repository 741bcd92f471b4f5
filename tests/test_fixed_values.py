# SPDX-License-Identifier: BSD-3-Clause
"""What is the same for all directions is computed once, and nothing else is."""

from kanecore.derive.kernel_registry import Derived
from kanecore.graph.expression_graph import PARAMETER, SPEED, Graph, Op
from kanecore.program.fixed_values import fixed_values
from kanecore.program.function_parts import SCRATCH
from kanecore.program.instructions import Entry, Operand
from kanecore.program.straight_line import straight_line


def test_values_beside_a_direction() -> None:
    g = Graph()
    a, b, d = g.symbol("a", SPEED), g.symbol("b", SPEED), g.symbol("d", SPEED)
    c = g.symbol("c", PARAMETER)
    product, sine = g.mul(a, b), g.call(Op.SIN, a)
    moving = g.add(g.mul(product, d), g.mul(g.neg(sine), g.mul(c, d)))
    places = {a: 0, b: 1, c: 2, d: 3}
    assert fixed_values(g, [moving], [d], places) == sorted([product, sine])  # neither symbols nor the negative
    assert fixed_values(g, [moving], [d], {**places, product: 4}) == [sine]  # what is there already
    assert fixed_values(g, [g.neg(product), a, d, moving], [d], places) == sorted([product, sine])  # a result as well
    assert fixed_values(g, [moving], [b], places) == [g.mul(sine, g.mul(c, d))]  # as a whole


def test_a_sine_that_is_there_beside_its_cosine() -> None:
    """Where several angles take one call, what is kept is read at its place."""
    g = Graph()
    angles = [g.symbol(name, SPEED) for name in "abc"]
    sines, cosines = ([g.call(op, x) for x in angles] for op in (Op.SIN, Op.COS))
    places = {node: Operand(Entry(SCRATCH, i)) for i, node in enumerate([*angles, sines[0]])}
    program = straight_line(g, Derived((*sines, *cosines)), places, 1)
    assert program.results[0] == places[sines[0]]
