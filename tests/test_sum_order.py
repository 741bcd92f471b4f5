# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.program.sum_order: the same sums, in another order and no longer."""

import random
from importlib import import_module

import mpmath
import pytest

from kanecore.derive.derivation import Derivation
from kanecore.derive.kernel_registry import Derived
from kanecore.describe.description import duplicate
from kanecore.graph.evaluation import count, evaluate
from kanecore.graph.expression_graph import COORDINATE, Graph, Op
from kanecore.program.instructions import Entry, Operand
from kanecore.program.sum_order import associated


def test_the_last_term_to_be_known_is_added_last() -> None:
    g = Graph()
    x = [g.symbol(("x", i), COORDINATE) for i in range(3)]
    slow = g.sin(g.sin(x[0]))
    total = g.sub(g.add(slow, g.mul(x[1], x[2])), x[1])
    leaves = {node: Operand(Entry("x", i)) for i, node in enumerate(x)}
    new, kernel, found = associated(g, Derived((total,)), leaves)
    op, first, second = new.nodes[kernel.roots[0]]
    assert op is Op.ADD
    assert Op.SIN in (new.nodes[first][0], new.nodes[second][0])
    assert set(found.values()) == set(leaves.values())


@pytest.mark.parametrize("name", ["arm7", "furuta_pendulum", "planar_2r", "gyroscope"])
def test_nothing_else_changes(name: str) -> None:
    d = Derivation(duplicate(import_module(f"kanecore.gallery.{name}").build().description))
    udot = d.kernel("udot")
    symbols = [i for i in d.graph.below(udot.roots) if d.graph.nodes[i][0] is Op.SYM]
    leaves = {node: Operand(Entry("x", i)) for i, node in enumerate(symbols)}
    new, kernel, _ = associated(d.graph, udot, leaves)
    assert count(new, kernel.roots)["total"] <= count(d.graph, udot.roots)["total"]
    draw = random.Random(2)
    values = {d.graph.nodes[i][1]: draw.uniform(0.3, 1.3) for i in symbols}
    with mpmath.workdps(40):
        nodes = [*udot.roots, *(x for pivot in udot.pivots for x in pivot[:2])]
        before = evaluate(d.graph, nodes, values, mpmath.mp)
        nodes = [*kernel.roots, *(x for pivot in kernel.pivots for x in pivot[:2])]
        after = evaluate(new, nodes, values, mpmath.mp)
        assert max(abs(a - b) for a, b in zip(before, after, strict=True)) < 1e-30 * max(map(abs, before))
