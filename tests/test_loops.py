# SPDX-License-Identifier: BSD-3-Clause
"""Mechanisms with many loops: four-bars one after another, the ground of each the coupler of the one below."""

import numpy as np
import pytest
import sweep
import sympy.physics.mechanics as me
from mechanisms import c, compiled, g, ground, l, m, rates

import kanecore as kc
from kanecore.emit.kernel_groups import emit_group
from kanecore.graph.expression_graph import COORDINATE, Graph, Op
from kanecore.graph.factorization import factorized_solve, products
from kanecore.graph.magnitudes import terms
from kanecore.program import way_to_solve


def ladder(n: int, absolute: bool = False, redundant: int | None = None, name: str = "ladder") -> kc.Model:
    """n stages of bars L and R on the coupler below, and their coupler C.

    Angles are relative to what carries a bar, and each loop is closed in the axes of its ground; or they are
    ``absolute``, and loops are closed in inertial axes.  The loop ``redundant`` is closed in a third direction too.
    """
    q, u = me.dynamicsymbols(f"q:{3 * n}"), me.dynamicsymbols(f"u:{3 * n}")
    inertial, base = ground()
    floor, bodies, closed = inertial, [], []
    for i in range(n):
        frames = []
        for k, bar in enumerate("LCR"):
            parent = inertial if absolute else (floor, *frames)[k % 2]
            frame = parent.orientnew(f"{bar}{i}", "Axis", [q[3 * i + k], parent.z])
            frame.set_ang_vel(parent, u[3 * i + k] * parent.z)
            frames.append(frame)
        left, coupler, right = frames
        top, foot = base.locatenew(f"A{i}", l * left.y), base.locatenew(f"D{i}", c * floor.x)
        centres = (
            base.locatenew(f"L{i}", l / 2 * left.y),
            top.locatenew(f"C{i}", c / 2 * coupler.x),
            foot.locatenew(f"R{i}", l / 2 * right.y),
        )
        for bar, frame, centre in zip("LCR", frames, centres, strict=True):
            inertia = (me.inertia(frame, 0, 0, m * l**2 / 12), centre)
            bodies.append(me.RigidBody(f"{bar}{i}", centre, frame, m, inertia))
        gap = l * left.y + c * coupler.x - c * floor.x - l * right.y
        axes = inertial if absolute else floor
        closed += [gap.dot(axes.x), gap.dot(axes.y)]
        if i == redundant:
            closed.append(gap.dot(axes.x + 2 * axes.y))
        base, floor = top, coupler
    loads = [(body.masscenter, -m * g * inertial.y) for body in bodies]
    more = {"bodies": bodies, "forcelist": loads, "configuration_constraints": closed, "name": name}
    return kc.Model(inertial, q, u, rates(q, u), **more)


def absolute_angles(n: int) -> np.ndarray:
    """The matrix that makes absolute angles of relative ones."""
    matrix, ground = np.zeros((3 * n, 3 * n)), np.zeros(3 * n)
    for i in range(0, 3 * n, 3):
        own = np.eye(3 * n)[i : i + 3]
        matrix[i], matrix[i + 2] = ground + own[0], ground + own[2]
        ground = matrix[i + 1] = matrix[i] + own[1]
    return matrix


def states(n: int, count: int, seed: int = 7) -> np.ndarray:
    """States in which each loop is a parallelogram, and stays one."""
    rng = np.random.default_rng(seed)
    angles, rates = rng.uniform(-0.8, 0.8, (2, count, n))
    return np.hstack([np.stack([a, -a, a], axis=2).reshape(count, 3 * n) for a in (angles, rates)])


def test_loops_in_other_coordinates() -> None:
    """Neither M nor G is the same, the motion is; nor does a row too many change it.  Energy is kept.

    A flat loop is named: it resists no motion along itself.
    """
    n = 2 if sweep.LONG else 1
    thrice = compiled(ladder(n, redundant=n - 1))
    dyn, other, turned = compiled(ladder(n)), compiled(ladder(n, absolute=True)), absolute_angles(n)
    for x in states(n, 4):
        there = np.concatenate([turned @ x[: 3 * n], turned @ x[3 * n :]])
        np.testing.assert_allclose(other.udot(0.0, there), turned @ dyn.udot(0.0, x), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(thrice.udot(0.0, x), dyn.udot(0.0, x), rtol=1e-10, atol=1e-10)
    sol = dyn.simulate((0.0, 0.5), states(n, 1)[0], rtol=1e-10, atol=1e-10)
    energy = [dyn.kinetic_energy(t, y) + dyn.potential_energy(t, y) for t, y in zip(sol.t, sol.x, strict=True)]
    np.testing.assert_allclose(energy, energy[0], rtol=1e-7)
    for loop in range(n):
        [x] = states(n, 1)
        x[3 * loop : 3 * loop + 3] = np.pi / 2 * np.array([1, -1, 1])
        with pytest.raises(kc.SingularError, match=f"'configuration constraint {2 * loop}' of 'ladder'"):
            dyn.udot(0.0, x)


@pytest.mark.long
@pytest.mark.compiler
def test_long_equations_are_filled_by_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text holds M once; u̇ is the same, to the last bit alone and in lanes, each with its pivots."""
    by_program, x = compiled(ladder(2), cc="none"), states(2, 300)
    assert "fill_udot" in emit_group(ladder(2).description, "core").text
    monkeypatch.setattr(way_to_solve, "LONG", 100)
    filled = ladder(2, name="filled")
    assert "fill_udot" not in emit_group(filled.description, "core").text
    dyn = compiled(filled)
    alone = np.array([dyn.udot(0.0, row) for row in x])
    assert dyn.udot(np.zeros(300), x).tobytes() == alone.tobytes()
    np.testing.assert_allclose(alone, by_program.udot(0.0, x), rtol=1e-11, atol=1e-11)


@pytest.mark.long
def test_text_of_loops_grows_as_the_mass_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """All but M, which has an entry for each pair of speeds, grows with the number of loops."""
    monkeypatch.setattr(way_to_solve, "LONG", 100)

    def length(n: int) -> int:
        pieces = emit_group(ladder(n).description, "core").text.split("\n}\n")
        return sum(len(piece) for piece in pieces if "compute_mass_matrix" not in piece.split("{")[0])

    few, some, many = map(length, (2, 4, 8))
    assert many - some < 2.2 * (some - few)


def test_sizes_of_nested_sums_take_one_pass() -> None:
    graph = Graph()
    angles = [graph.symbol(("q", i), COORDINATE) for i in range(40)]
    x, y = graph.symbol("x", COORDINATE), graph.symbol("y", COORDINATE)
    for angle in angles:
        sin, cos = graph.call(Op.SIN, angle), graph.call(Op.COS, angle)
        x, y = (graph.add(graph.mul(cos, x), graph.mul(sin, y)), graph.sub(graph.mul(cos, y), graph.mul(sin, x)))
    before = len(graph.nodes)
    terms(graph, x, 1e-9)
    assert len(graph.nodes) < 6 * before


@pytest.mark.parametrize("reach", [1, 3, 11])
def test_products_of_a_factorization(reach: int) -> None:
    """As many as the graph multiplies, of the matrix of a tree, without numbers."""
    graph, n = Graph(), 12
    before = [i - 1 - i % reach if i % 7 else -1 for i in range(n)]
    matrix = [[0] * n for _ in range(n)]
    for i in range(n):
        j = i
        while j >= 0:
            matrix[i][j] = matrix[j][i] = graph.symbol(("a", i, j), COORDINATE)
            j = before[j]
    there = sum(node[0] is Op.MUL for node in graph.nodes)
    factorized_solve(graph, matrix, [0] * n)
    assert products(before) == sum(node[0] is Op.MUL for node in graph.nodes) - there
