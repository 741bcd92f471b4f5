# SPDX-License-Identifier: BSD-3-Clause
"""Loops that move although they have more rows than freedoms: energy by every method, in every order of the rows."""

import math
import warnings
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from sweep import part

import kanecore as kc
from kanecore.motion.doubtful_runs import warn_of_branches, warn_of_energy

Array = npt.NDArray[np.float64]
G = 9.81

METHODS = ["dop853", "dopri5", "rosenbrock", "radau", "bdf", "cvode"]


def method_parameters(default: list[str]) -> list[Any]:
    installed = [name for name in METHODS if name != "cvode" or find_spec("sksundae")]
    return part(installed, [name for name in default if name in installed])


def bars(link: list[tuple[float, float]], backwards: bool) -> kc.Model:
    """A loop of bars (length, twist in degrees), each turned about the common normal's end by q_i; six rows of closure.

    The last bar closes the loop and has no mass.
    """
    n = len(link)
    q, u = me.dynamicsymbols(f"q1:{n + 1}"), me.dynamicsymbols(f"u1:{n + 1}")
    ground, point = me.ReferenceFrame("N"), me.Point("O")
    point.set_vel(ground, 0)
    origin, frame, bodies, loads = point, ground, list[Any](), list[Any]()
    for i, (length, twist) in enumerate(link):
        turned, end = me.ReferenceFrame(f"A{i}"), me.ReferenceFrame(f"B{i}")
        turned.orient_axis(frame, frame.z, q[i])
        turned.set_ang_vel(frame, u[i] * frame.z)
        end.orient_explicit(turned, about_x(math.radians(twist)))
        end.set_ang_vel(turned, 0)
        if i < n - 1:
            centre = point.locatenew(f"C{i}", length / 2 * turned.x)
            inertia = me.inertia(turned, 0.02, length**2 / 12 + 0.02, length**2 / 12 + 0.02)
            bodies.append(me.RigidBody(f"L{i}", centre, turned, 1.0, (inertia, centre)))
            loads.append((centre, -G * ground.y))
        point, frame = point.locatenew(f"P{i}", length * turned.x), end
    gap = point.pos_from(origin)
    rows = [gap.dot(axis) for axis in (ground.x, ground.y, ground.z)]
    rows += [frame.x.dot(ground.y), frame.y.dot(ground.z), frame.z.dot(ground.x)]
    return kc.Model(
        *(ground, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)]),
        configuration_constraints=rows[::-1] if backwards else rows,
        bodies=bodies,
        forcelist=loads,
    )


def about_x(angle: float) -> sm.Matrix:
    c, s = math.cos(angle), math.sin(angle)
    return sm.Matrix([[1, 0, 0], [0, c, -s], [0, s, c]])


@cache
def bennett(
    long: float, short: float, twist: float, q1: float, backwards: bool = False
) -> tuple[kc.CompiledModel, Array]:
    """Bennett's linkage of two pairs of equal bars, lengths in proportion to the sines of their twists, and a pose.

    Six rows have the rank 3, everywhere.
    """
    _, b = _twists(long, short, twist)
    dyn = kc.compile(bars([(long, twist), (short, math.degrees(b))] * 2, backwards))
    return dyn, dyn.consistent(0.0, [*pose(long, short, twist, q1), 0, 0, 0, 0], keep=None)


def pose(long: float, short: float, twist: float, q1: float) -> list[float]:
    """Its angles, from tan(q1/2) tan(q2/2) = sin((b + a)/2) / sin((b − a)/2) with the twists a and b."""
    a, b = _twists(long, short, twist)
    q2 = 2 * math.atan2(math.sin((b + a) / 2), math.sin((b - a) / 2) * math.tan(q1 / 2))
    return [q1, q2, -q1, -q2]


def _twists(long: float, short: float, twist: float) -> tuple[float, float]:
    a = math.radians(twist)
    return a, math.asin(short * math.sin(a) / long)


def hung(words: int, moving: bool = False) -> kc.CompiledModel:
    """A bar on a pin in x, y and its angle: two rows, with a third, the circle of its end, that says the same again."""
    x, y, a = me.dynamicsymbols("x y a")
    u = me.dynamicsymbols("ux uy ua")
    length = 1 + sm.sin(3 * me.dynamicsymbols._t) / 10 if moving else sm.Integer(1)
    ground, pin = me.ReferenceFrame("N"), me.Point("O")
    pin.set_vel(ground, 0)
    end, bar = pin.locatenew("P", x * ground.x + y * ground.y), me.ReferenceFrame("A")
    end.set_vel(ground, u[0] * ground.x + u[1] * ground.y)
    bar.orient_axis(ground, ground.z, a)
    bar.set_ang_vel(ground, u[2] * ground.z)
    body = me.RigidBody("bar", end, bar, 1.0, (me.inertia(bar, 0, 0, 0.1), end))
    rows = [x**2 + y**2 - length**2, x - length * sm.sin(a), y + length * sm.cos(a)][3 - words :]
    q = [x, y, a]
    return kc.compile(
        kc.Model(
            *(ground, q, u, [b.diff() - c for b, c in zip(q, u, strict=True)]),
            configuration_constraints=rows,
            bodies=[body],
            forcelist=[(end, -G * ground.y)],
        )
    )


@pytest.mark.parametrize("method", method_parameters(["rosenbrock", "bdf"]))
@pytest.mark.parametrize("backwards", [False, True], ids=["", "backwards"])
def test_bennetts_linkage_keeps_its_energy(method: str, backwards: bool) -> None:
    """Through its flat pose, where two of the rows nearly vanish: what is left of them is no row."""
    dyn, x0 = bennett(1.0, 0.7, 40.0, 1.0, backwards)
    sol = dyn.simulate((0.0, 1.6), x0, method=method, rtol=1e-6, atol=1e-8)
    assert np.min(np.abs(np.cos(sol.q[:, 0] / 2))) < 0.1  # the flat pose was passed
    assert sol.energy_drift < 1e-4


@pytest.mark.long
@pytest.mark.parametrize("method", method_parameters(METHODS))
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("sizes", [(1.2, 0.9, 48.0, 0.7), (2.0, 0.5, 75.0, 1.3)], ids=["48", "75"])
def test_other_linkages_of_bennett(method: str, rtol: float, sizes: tuple[float, float, float, float]) -> None:
    dyn, x0 = bennett(*sizes)
    sol = dyn.simulate((0.0, 4.0), x0, method=method, rtol=rtol, atol=1e-2 * rtol)
    assert sol.energy_drift < 1e3 * rtol


@pytest.mark.parametrize("offset", [1e-5, 1e-4])
@pytest.mark.parametrize("distance", [0.01, 0.03])
def test_accelerations_beside_the_flat_pose(offset: float, distance: float) -> None:
    """A state that is off the constraints by an offset moves as the one on them, to that offset."""
    dyn, _ = bennett(1.0, 0.7, 40.0, 1.0)
    x = dyn.consistent(0.0, [*pose(1.0, 0.7, 40.0, math.pi - distance), 0, 0, 0, 0], keep=None)
    assert dyn.check(x).rank == 3
    direction = np.array([1.0, -0.4, 0.7, 0.6, 0.0, 0.0, 0.0, 0.0])
    expected, got = dyn.udot(0.0, x), dyn.udot(0.0, x + offset * direction)
    assert np.max(np.abs(got - expected)) < 1e2 * offset * np.max(np.abs(expected))


@pytest.mark.parametrize("moving", [False, True], ids=["fixed", "moving"])
def test_a_row_in_other_words_costs_no_steps(moving: bool) -> None:
    """ "rosenbrock" takes the derivatives of its own right-hand side, whichever rows this takes."""
    steps = list[int]()
    for words in (2, 3):
        dyn = hung(words, moving)
        x0 = dyn.consistent(0.0, [math.sin(2.0), -math.cos(2.0), 2.0, 0, 0, 0], keep=["a", "ua"])
        steps.append(dyn.simulate((0.0, 2.0), x0, method="rosenbrock", rtol=1e-6, atol=1e-8).n_steps)
    assert abs(steps[1] - steps[0]) <= 1 + 0.05 * steps[0]


def test_size_of_a_row_whose_terms_share_a_factor_that_vanishes() -> None:
    """At states on the constraints such a row is all rounding: it is beside the coordinates that it is small."""
    x, y = me.dynamicsymbols("x y")
    ux, uy = me.dynamicsymbols("ux uy")
    ground, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(ground, 0)
    point = origin.locatenew("P", x * ground.x + y * ground.y)
    point.set_vel(ground, ux * ground.x + uy * ground.y)
    away = sm.sin(x) * sm.cos(y) - sm.cos(x) * sm.sin(y)  # sin(x - y), in two terms that cancel
    dyn = kc.compile(
        kc.Model(
            *(ground, [x, y], [ux, uy], [x.diff() - ux, y.diff() - uy]),
            configuration_constraints=[x * away + sm.cos(x) * away],
            bodies=[me.Particle("P", point, 1.0)],
        )
    )
    for value in (0.3, 0.9138704186329613, 1.7):
        found = dyn.consistent(0.0, [value, value, 1.0, 1.0], keep=None)
        np.testing.assert_allclose(found[:2], value, rtol=0, atol=1e-12)


def crank(words: int) -> kc.CompiledModel:
    """A slider crank by three coordinates, whose loop closes by two rows; the third, of lengths alone, follows."""
    q, u = me.dynamicsymbols("th ph s"), me.dynamicsymbols("uth uph us")
    ground, pin = me.ReferenceFrame("N"), me.Point("O")
    pin.set_vel(ground, 0)
    arm, rod = me.ReferenceFrame("A"), me.ReferenceFrame("B")
    for frame, angle, speed in ((arm, q[0], u[0]), (rod, q[1], u[1])):
        frame.orient_axis(ground, ground.z, angle)
        frame.set_ang_vel(ground, speed * ground.z)
    elbow, piston = pin.locatenew("C", 0.3 * arm.x), pin.locatenew("P", q[2] * ground.x)
    elbow.v2pt_theory(pin, ground, arm)
    piston.set_vel(ground, u[2] * ground.x)
    rows = [
        0.3 * sm.cos(q[0]) + sm.cos(q[1]) - q[2],
        0.3 * sm.sin(q[0]) + sm.sin(q[1]),
        q[2] ** 2 - 0.6 * q[2] * sm.cos(q[0]) + 0.09 - 1,
    ]
    bodies = [
        me.RigidBody("arm", elbow, arm, 2.0, (me.inertia(arm, 0, 0, 0.02), elbow)),
        me.RigidBody("rod", elbow, rod, 1.0, (me.inertia(rod, 0, 0, 0.09), elbow)),
        me.Particle("piston", piston, 3.0),
    ]
    return kc.compile(
        kc.Model(
            *(ground, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)]),
            configuration_constraints=rows[:words],
            bodies=bodies,
            forcelist=[(elbow, -20 * ground.y), (piston, -4 * ground.x)],
        )
    )


def test_a_row_that_follows_and_nearly_vanishes_contradicts_nothing() -> None:
    """What elimination leaves of the third row goes with sin(th): at small angles no row, and no contradiction."""
    two, three = crank(2), crank(3)
    for angle in np.linspace(-0.02, 0.02, 33):
        x = two.consistent(0.0, [angle, -0.19, 1.2, 2.0, 0, 0], keep=["th", "uth"])
        np.testing.assert_allclose(three.udot(0.0, x), two.udot(0.0, x), rtol=1e-10)


def parallelogram() -> kc.CompiledModel:
    """Three bars of 1 m and 1 kg by their angles, on two pins that are 1 m apart."""
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    ground, point = me.ReferenceFrame("N"), me.Point("O")
    point.set_vel(ground, 0)
    origin, bodies, loads = point, list[Any](), list[Any]()
    for i in range(3):
        bar = me.ReferenceFrame(f"A{i}")
        bar.orient_axis(ground, ground.z, q[i])
        bar.set_ang_vel(ground, u[i] * ground.z)
        centre, end = point.locatenew(f"C{i}", bar.x / 2), point.locatenew(f"E{i}", bar.x)
        centre.v2pt_theory(point, ground, bar)
        end.v2pt_theory(point, ground, bar)
        bodies.append(me.RigidBody(f"B{i}", centre, bar, 1.0, (me.inertia(bar, 0, 0, 1 / 12), centre)))
        loads.append((centre, -G * ground.y))
        point = end
    gap = point.pos_from(origin) - ground.x
    return kc.compile(
        kc.Model(
            *(ground, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)]),
            configuration_constraints={"along": gap.dot(ground.x), "up": gap.dot(ground.y)},
            bodies=bodies,
            forcelist=loads,
            name="parallelogram",
        )
    )


@pytest.mark.parametrize("rtol", part([1e-4, 1e-6, 1e-8, 1e-9], [1e-6, 1e-9]))
def test_a_run_that_leaves_a_parallelogram_says_so(rtol: float) -> None:
    """In its flat pose two motions meet: a run that goes on as a parallelogram, or a warning, or an error."""
    dyn, said = parallelogram(), 0
    for k in range(3, 9):
        a = math.pi / 2 + 0.02 * k
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                sol = dyn.simulate(
                    (0.0, 3.0), [a, 0, a + math.pi, -1, 0, -1], method="dop853", rtol=rtol, atol=1e-2 * rtol
                )
            except kc.SingularError:
                said += 1
                continue
        stayed = np.max(np.abs(sol.u[:, 1])) < 1e-2
        text = " ".join(str(each.message) for each in caught)
        assert stayed or ("two motions of 'parallelogram' meet" in text and "rtol" in text)
        said += bool(caught)
    assert said if rtol < 1e-8 else said < 6


def test_energy_that_redundant_rows_take_is_told() -> None:
    dyn, x0 = bennett(1.0, 0.7, 40.0, 1.0)
    sol = dyn.simulate((0.0, 0.3), x0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_energy(sol.problem, sol, 1e-8)
        warn_of_branches(sol.problem, sol)
    vars(sol)["energy_drift"] = 0.45
    with pytest.warns(
        kc.KanecoreWarning, match=r"misses by 0\.45 of the largest kinetic energy, far from rtol = 1e-08"
    ):
        warn_of_energy(sol.problem, sol, 1e-8)


@pytest.mark.parametrize("unit", [1.0, 1e3], ids=["m", "mm"])
@pytest.mark.parametrize("method", part(["dop853", "dopri5", "rosenbrock"], ["rosenbrock"]))
def test_sensitivities_in_any_unit_of_length(method: str, unit: float) -> None:
    """Along the motion of the linkage, beside differences; rows of lengths stand beside rows of direction cosines."""
    sizes = (1.1 * unit, 0.9 * unit, 37.0)
    dyn, _ = bennett(*sizes, 1.4)
    starts = [dyn.consistent(0.0, [*pose(*sizes, 1.4 + h), 0, 0, 0, 0], keep=None) for h in (-1e-4, 0.0, 1e-4)]
    span = (0.0, 0.3 * math.sqrt(unit))
    before, after = (dyn.simulate(span, x, rtol=1e-11, atol=1e-11 / math.sqrt(unit)).x[-1] for x in starts[::2])
    expected, along = (after - before) / 2e-4, (starts[2] - starts[0]) / 2e-4
    sol = dyn.simulate(span, starts[1], method=method, rtol=1e-9, atol=1e-11, sensitivities=["x0"])
    assert sol.sensitivities is not None
    np.testing.assert_allclose(sol.sensitivities[-1] @ along, expected, rtol=0, atol=1e-5 * np.max(np.abs(expected)))


def test_a_collapsed_loop_has_a_rank_of_its_own() -> None:
    """Hinges of Bricard's mechanism fall together: it has two freedoms, and a row of G is rounding of its terms."""
    dyn = kc.load("bricard")
    x = dyn.consistent(0.0, [0.7, math.pi / 2, -0.7, 0.13, math.pi / 2, 0.6, 0.0, -0.6, -1.3, 0.0], keep=None)
    found = dyn.check(x)
    assert (found.rank, found.dof, found.contradictory) == (3, 2, ())
    kernels = (dyn.mass_matrix, dyn.constraint_jacobian, dyn.forcing, dyn.constraint_bias)
    mass, rows, f, bias = (np.asarray(kernel(0.0, x)) for kernel in kernels)
    root = np.linalg.cholesky(np.linalg.inv(mass))
    free = root.T @ f
    expected = root @ (free - np.linalg.pinv(rows @ root, rcond=1e-9) @ (bias + rows @ root @ free))
    np.testing.assert_allclose(dyn.udot(0.0, x), expected, rtol=0, atol=1e-12 * np.max(np.abs(expected)))
