# SPDX-License-Identifier: BSD-3-Clause
"""Short forms as programs: never longer, and as accurate as what they replace."""

import importlib
import random

import mpmath
import pytest
from sweep import models

from kanecore.derive.derivation import Derivation
from kanecore.describe.description import duplicate
from kanecore.gallery import rolling_disc
from kanecore.graph.evaluation import count_in_call, evaluate
from kanecore.graph.expression_graph import COORDINATE, PARAMETER, Graph, Op
from kanecore.graph.shorter_programs import WORSE, rounding_ratio, shorter

DIGITS = mpmath.MPContext()
DIGITS.dps = 50


def derived(name: str) -> tuple[Derivation, Derivation]:
    """A model of the gallery, and the same with M and f of its recursions."""
    description = importlib.import_module(f"kanecore.gallery.{name}").build().description
    found, recursion = Derivation(duplicate(description)), Derivation(duplicate(description))
    recursion.__dict__["_short_forms"] = None
    return found, recursion


def programs(d: Derivation) -> dict[str, list[int]]:
    motion = d.udot_at_run_time if d.solved_at_run_time else d.kernel("udot")
    return {**{name: list(d.kernel(name).roots) for name in ("mass_matrix", "forcing")}, "udot": list(motion.roots)}


def angles(g: Graph, roots: list[int]) -> int:
    return len({g.nodes[i][1] for i in g.below(roots) if g.nodes[i][0] in (Op.SIN, Op.COS)})


@pytest.mark.parametrize("name", models(of_files=False))
def test_no_kernel_of_the_gallery_gets_longer(name: str) -> None:
    found, recursion = derived(name)
    before = programs(recursion)
    for kernel, roots in programs(found).items():
        assert count_in_call(found.graph, roots) <= count_in_call(recursion.graph, before[kernel]), kernel
        assert angles(found.graph, roots) <= angles(recursion.graph, before[kernel]), kernel


def test_the_rolling_disc_is_half_as_long() -> None:
    found, recursion = derived("rolling_disc")
    assert 2 * count_in_call(found.graph, programs(found)["forcing"]) < count_in_call(
        recursion.graph, programs(recursion)["forcing"]
    )
    assert "short forms" in found.method


@pytest.mark.parametrize("decades", [0, 3])
def test_errors_are_those_of_the_recursion(decades: int) -> None:
    """With parameters of one size and of sizes that differ by a million, against 50 digits."""
    d = Derivation(duplicate(rolling_disc.build().description))
    g, draw = d.graph, random.Random(decades)
    ways = ([*d.formulation.forcing], [*d.forcing])
    symbols = [i for i in g.below([*ways[0], *ways[1]]) if g.nodes[i][0] is Op.SYM]
    errors: tuple[list[float], list[float]] = ([], [])
    for _ in range(30):
        values = {
            g.nodes[i][1]: 10 ** draw.uniform(-decades, decades)
            if g.depends[i] == PARAMETER and decades
            else draw.uniform(0.3, 1.7)
            for i in symbols
        }
        exact = evaluate(g, ways[0], values, DIGITS)
        for way, found in zip(ways, errors, strict=True):
            numbers = zip(evaluate(g, way, values), exact, strict=True)
            found += [float(abs(x - y) / abs(y)) for x, y in numbers if y]
    for found in errors:
        found.sort()
    assert errors[1][len(errors[1]) // 2] <= 2 * errors[0][len(errors[0]) // 2]
    assert errors[1][-1] <= 4 * errors[0][-1]


def test_differences_that_are_multiplied_out_are_found() -> None:
    """Of x² − y² in place of (x − y)(x + y) nothing is left where x is near y."""
    g = Graph()
    x, y = g.symbol("x", COORDINATE), g.symbol("y", COORDINATE)
    together = g.mul(g.sub(x, y), g.add(x, y))
    apart = g.sub(g.square(x), g.square(y))
    assert rounding_ratio(g, [apart], [together]) > 1e4 * WORSE
    assert rounding_ratio(g, [together], [apart]) < WORSE


def test_squares_of_small_waves_are_not_differences() -> None:
    """Of 1 − cos² x in place of sin² x nothing is left near 0, and of 1 − sin² x near a quarter of a turn."""
    g = Graph()
    x = g.symbol("x", COORDINATE)
    sine, cosine = g.square(g.sin(x)), g.square(g.cos(x))
    assert rounding_ratio(g, [g.sub(g.one, cosine)], [sine]) > 1e4 * WORSE
    assert rounding_ratio(g, [g.sub(g.one, sine)], [cosine]) > 1e4 * WORSE
    assert rounding_ratio(g, [sine], [g.sub(g.one, cosine)]) < WORSE


def test_what_is_not_taken_leaves_no_nodes() -> None:
    g = Graph()
    x, y, m = g.symbol("x", COORDINATE), g.symbol("y", COORDINATE), g.symbol("m", PARAMETER)
    squares = g.add(g.square(g.sin(x)), g.square(g.cos(x)))
    short = [g.mul(m, g.sin(y))]
    size = len(g.nodes)
    assert shorter(g, short) == short
    assert len(g.nodes) == size
    assert shorter(g, [g.mul(m, squares)]) == [m]


def test_branches_stay_as_they_are() -> None:
    """Rounding would decide at a boundary."""
    g = Graph()
    x = g.symbol("x", COORDINATE)
    branch = [g.call(Op.ABS, g.sub(g.add(g.square(g.sin(x)), g.square(g.cos(x))), x))]
    assert shorter(g, branch) == branch
