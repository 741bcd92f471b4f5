# SPDX-License-Identifier: BSD-3-Clause
"""Mechanisms with many loops: four-bars one after another, the ground of each the coupler of the one below."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc
from kanecore.derive.magnitudes import terms
from kanecore.emit.groups import emit_group
from kanecore.graph.factorize import factorized_solve, products
from kanecore.graph.scalars import COORDINATE, Graph, Op
from kanecore.program import functions

M, LENGTH, G, WIDTH = sm.symbols("m l g w")
PARAMETERS = {"m": 1.0, "l": 1.0, "g": 9.81, "w": 0.7}


def ladder(n: int, absolute: bool = False, redundant: int | None = None, name: str = "ladder") -> kc.Model:
    """n stages of bars L and R on the coupler below, and their coupler C.

    Angles are relative to what carries a bar, and each loop is closed in the axes of its ground; or they are
    ``absolute``, and loops are closed in inertial axes.  The loop ``redundant`` is closed in a third direction too.
    """
    q, u = me.dynamicsymbols(f"q:{3 * n}"), me.dynamicsymbols(f"u:{3 * n}")
    inertial, base = me.ReferenceFrame("N"), me.Point("O")
    base.set_vel(inertial, 0)
    ground, bodies, loads, closed = inertial, [], [], []
    for i in range(n):
        frames = []
        for k, bar in enumerate("LCR"):
            parent = inertial if absolute else (ground, *frames)[k % 2]
            frame = parent.orientnew(f"{bar}{i}", "Axis", [q[3 * i + k], parent.z])
            frame.set_ang_vel(parent, u[3 * i + k] * parent.z)
            frames.append(frame)
        left, coupler, right = frames
        top, foot = base.locatenew(f"A{i}", LENGTH * left.y), base.locatenew(f"D{i}", WIDTH * ground.x)
        centres = (
            base.locatenew(f"L{i}", LENGTH / 2 * left.y),
            top.locatenew(f"C{i}", WIDTH / 2 * coupler.x),
            foot.locatenew(f"R{i}", LENGTH / 2 * right.y),
        )
        for bar, frame, centre in zip("LCR", frames, centres, strict=True):
            inertia = (me.inertia(frame, 0, 0, M * LENGTH**2 / 12), centre)
            bodies.append(me.RigidBody(f"{bar}{i}", centre, frame, M, inertia))
            loads.append((centre, -M * G * inertial.y))
        gap = LENGTH * left.y + WIDTH * coupler.x - WIDTH * ground.x - LENGTH * right.y
        axes = inertial if absolute else ground
        closed += [gap.dot(axes.x), gap.dot(axes.y)]
        if i == redundant:
            closed.append(gap.dot(axes.x + 2 * axes.y))
        base, ground = top, coupler
    rates = [a.diff(me.dynamicsymbols._t) - b for a, b in zip(q, u, strict=True)]
    return kc.Model(inertial, q, u, rates, bodies=bodies, forcelist=loads, configuration_constraints=closed, name=name)


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


@pytest.fixture(scope="module")
def five() -> kc.CompiledModel:
    return kc.compile(ladder(5), parameters=PARAMETERS)


def test_loops_in_other_coordinates(five: kc.CompiledModel) -> None:
    """Neither M nor G is the same, the motion is."""
    other = kc.compile(ladder(5, absolute=True), parameters=PARAMETERS)
    turned = absolute_angles(5)
    for x in states(5, 4):
        there = np.concatenate([turned @ x[:15], turned @ x[15:]])
        np.testing.assert_allclose(other.udot(0.0, there), turned @ five.udot(0.0, x), rtol=1e-9, atol=1e-9)


def test_energy_of_many_loops_is_kept(five: kc.CompiledModel) -> None:
    [x] = states(5, 1)
    sol = five.simulate((0.0, 1.0), x, rtol=1e-10, atol=1e-10)
    energy = [five.kinetic_energy(t, y) + five.potential_energy(t, y) for t, y in zip(sol.t, sol.x, strict=True)]
    np.testing.assert_allclose(energy, energy[0], rtol=1e-7)


def test_lanes_of_many_loops_have_the_bits_of_one_state(five: kc.CompiledModel) -> None:
    """Each state takes its pivots in an order of its own."""
    x = states(5, 300)
    alone = np.array([five.udot(0.0, row) for row in x])
    assert five.udot(np.zeros(300), x).tobytes() == alone.tobytes()


def test_redundant_row_in_one_of_the_loops() -> None:
    plain = kc.compile(ladder(3), parameters=PARAMETERS)
    thrice = kc.compile(ladder(3, redundant=1), parameters=PARAMETERS)
    for x in states(3, 4):
        np.testing.assert_allclose(thrice.udot(0.0, x), plain.udot(0.0, x), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("loop", [0, 2, 4])
def test_dead_point_of_one_loop_is_named(five: kc.CompiledModel, loop: int) -> None:
    """A flat parallelogram resists no motion along itself."""
    [x] = states(5, 1)
    x[3 * loop : 3 * loop + 3] = np.pi / 2 * np.array([1, -1, 1])
    with pytest.raises(kc.SingularError, match=f"'configuration constraint {2 * loop}' of 'ladder'"):
        five.udot(0.0, x)


def test_long_equations_are_filled_by_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text holds M once; u̇ is the same, alone and in lanes, to the last bit of either."""
    short = ladder(2)
    by_program = kc.compile(short, parameters=PARAMETERS)
    monkeypatch.setattr(functions, "LONG", 100)
    text = emit_group(short.description, "core").text
    assert "fill_udot" not in text
    by_kernels = kc.compile(ladder(2, name="filled"), parameters=PARAMETERS)
    x = states(2, 300)
    alone = np.array([by_kernels.udot(0.0, row) for row in x])
    np.testing.assert_allclose(alone, by_program.udot(np.zeros(300), x), rtol=1e-11, atol=1e-11)
    assert by_kernels.udot(np.zeros(300), x).tobytes() == alone.tobytes()


def test_text_of_loops_grows_as_the_mass_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """All but M, which has an entry for each pair of speeds, grows with the number of loops."""
    monkeypatch.setattr(functions, "LONG", 100)

    def length(n: int) -> int:
        pieces = emit_group(ladder(n).description, "core").text.split("\n}\n")
        return sum(len(piece) for piece in pieces if "compute_mass_matrix" not in piece.split("{")[0])

    few, some, many = map(length, (5, 10, 20))
    assert many - some < 2.2 * (some - few)


def test_sizes_of_nested_sums_take_one_pass() -> None:
    g = Graph()
    angles = [g.symbol(("q", i), COORDINATE) for i in range(40)]
    x, y = g.symbol("x", COORDINATE), g.symbol("y", COORDINATE)
    for angle in angles:
        s, c = g.call(Op.SIN, angle), g.call(Op.COS, angle)
        x, y = g.add(g.mul(c, x), g.mul(s, y)), g.sub(g.mul(c, y), g.mul(s, x))
    before = len(g.nodes)
    terms(g, x)
    assert len(g.nodes) < 6 * before


@pytest.mark.parametrize("band", [1, 3, 11])
def test_products_of_a_factorization(band: int) -> None:
    """As many as the graph multiplies, of a matrix without numbers."""
    g, n = Graph(), 12
    matrix = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(max(0, i - band), i + 1):
            matrix[i][j] = matrix[j][i] = g.symbol(("a", i, j), COORDINATE)
    before = sum(node[0] is Op.MUL for node in g.nodes)
    factorized_solve(g, matrix, [0] * n)
    assert products(matrix) == sum(node[0] is Op.MUL for node in g.nodes) - before
