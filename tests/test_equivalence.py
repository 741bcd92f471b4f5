# SPDX-License-Identifier: BSD-3-Clause
"""Two derivations of one mechanism agree, and of two that do not the load or body that differs is named."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc
from kanecore.transforms import Link, dh

m, l, g, k = sm.symbols("m l g k")  # noqa: E741
N = me.ReferenceFrame("N")
q, u, x, y, v, w = me.dynamicsymbols("q u x y v w")
VALUES = {"m": 1.3, "l": 0.8, "g": 9.81, "k": 0.4}


def origin() -> me.Point:
    point = me.Point("O")
    point.set_vel(N, 0)
    return point


@cache
def polar(sign: int = 1, mass: int = 1, gone: bool = False) -> kc.Model:
    A = me.ReferenceFrame("A")
    A.orient_axis(N, q, N.z)
    P = origin().locatenew("P", l * A.x)
    loads = [(P, sign * m * g * N.x)] + ([] if gone else [(P, -k * u * l * A.y)])
    bob = me.Particle("bob", P, mass * m)
    return kc.Model(N, [q], [u], [q.diff() - u], bodies=[bob], forcelist=loads, name="polar")


@cache
def cartesian() -> kc.Model:
    P = origin().locatenew("P", x * N.x + y * N.y)
    loads = [(P, m * g * N.x), (P, -k * (v * N.x + w * N.y))]
    return kc.Model(
        N, [x], [v], [x.diff() - v, y.diff() - w], q_dependent=[y], u_dependent=[w], bodies=[me.Particle("bob", P, m)],
        configuration_constraints=[x**2 + y**2 - l**2], velocity_constraints=[x * v + y * w], forcelist=loads,
        name="cartesian",
    )  # fmt: skip


@pytest.mark.parametrize("factor", [1, 2])
def test_a_model_of_bodies_and_one_of_a_lagrangian(factor: int) -> None:
    """The second has no bodies; with another kinetic energy the body of the first is named."""
    L = factor * m * l**2 * q.diff() ** 2 / 2 + m * g * l * sm.cos(q)
    by_lagrange = kc.Model.from_lagrangian(L, [q])
    for found in (kc.equivalent(polar(gone=True), by_lagrange), kc.equivalent(by_lagrange, polar(gone=True))):
        assert found.passed == (factor == 1), str(found)
        assert ("body bob" in str(found)) == (factor == 2)


TO_CARTESIAN = {"x": l * sm.cos(q), y: l * sm.sin(q)}


def test_a_pendulum_by_its_angle_and_in_a_plane() -> None:
    there = kc.equivalent(polar(), cartesian(), TO_CARTESIAN)
    back = kc.equivalent(cartesian(), polar(), {q: sm.atan2(y, x), u: (x * w - y * v) / l**2})
    for found in (there, back):
        assert found.passed, str(found)
        assert found
        assert min(row.digits for row in found.rows if not np.isnan(row.digits)) > 8.0
        assert "polar" in str(found)
        assert repr(found) == str(found)
    speeds = {v: -l * sm.sin(q) * u, w: l * sm.cos(q) * u}
    assert kc.equivalent(polar(), cartesian(), {**TO_CARTESIAN, **speeds})


def test_a_map_as_a_function() -> None:
    a = kc.compile(polar(), parameters=VALUES)
    length = VALUES["l"]

    def place(state: Any) -> Any:
        angle, rate = state
        s, c = np.sin(angle), np.cos(angle)
        return np.array([length * c, length * s, -length * s * rate, length * c * rate])

    assert kc.equivalent(a, cartesian(), place)
    with pytest.raises(ValueError, match=r"map returns an array of shape \(2,\)"):
        kc.equivalent(a, cartesian(), lambda state: state)


def test_the_load_that_differs_is_named() -> None:
    found = kc.equivalent(polar(sign=-1), cartesian(), TO_CARTESIAN)
    assert not found
    [row] = [row for row in found.failures if "active forces" in row.name]
    assert row.reason == "the work of load 0 (force at point P) is in b -1 times as large"
    assert {row.name for row in found.failures} == {
        "potential energy, up to a constant",
        "active forces, by virtual power",
        "motion: u̇ of b",
    }


def test_a_load_that_is_missing_is_named() -> None:
    found = kc.equivalent(polar(gone=True), cartesian(), TO_CARTESIAN)
    assert "load 1 (force at point P) of b has no equal in a" in str(found)


def test_the_body_that_differs_is_named() -> None:
    found = kc.equivalent(polar(mass=2), cartesian(), TO_CARTESIAN)
    assert not found
    reasons = [row.reason for row in found.failures]
    assert "the energy of body bob is in b 0.5 times as large" in reasons
    assert "the work of the inertia forces of body bob is in b 0.5 times as large" in reasons


def test_a_map_that_is_wrong() -> None:
    wrong = kc.equivalent(polar(), cartesian(), {**TO_CARTESIAN, v: l * sm.sin(q) * u, w: l * sm.cos(q) * u})
    assert "rates of b's coordinates follow from its speeds" in {row.name for row in wrong.failures}
    off = kc.equivalent(polar(), cartesian(), {x: 2 * l * sm.cos(q), y: l * sm.sin(q)})
    assert "constraints of b" in {row.name for row in off.failures}


def rigid(kind: str) -> kc.Model:
    """A free body: its attitude by three angles or by a quaternion, the speeds in its axes or not."""
    B, O = me.ReferenceFrame("B"), origin()  # noqa: E741
    rates = me.dynamicsymbols("w1:4")
    if kind == "quaternion":
        e = me.dynamicsymbols("e0:4")
        B.orient_quaternion(N, e)
        e0, e1, e2, e3 = e
        w1, w2, w3 = rates
        right = [-e1 * w1 - e2 * w2 - e3 * w3, e0 * w1 - e3 * w2 + e2 * w3]
        right += [e3 * w1 + e0 * w2 - e1 * w3, -e2 * w1 + e1 * w2 + e0 * w3]
        equations = [a.diff() - b / 2 for a, b in zip(e, right, strict=True)]
        B.set_ang_vel(N, sum((a * b for a, b in zip(rates, B, strict=True)), me.Vector(0)))
        coordinates = list(e)
    else:
        coordinates = list(me.dynamicsymbols("a1:4"))
        B.orient_body_fixed(N, coordinates, "313")
        equations = [a.diff() - b for a, b in zip(coordinates, rates, strict=True)]
    inertia = me.inertia(B, 1.0, 2.0, 2.5, 0.1, 0.2)
    body = me.RigidBody("top", O, B, m, (inertia, O))
    torque = [(B, k * N.z), (B, 0.3 * B.x)]
    return kc.Model(N, coordinates, rates, equations, bodies=[body], forcelist=torque, name=kind)


def test_attitude_by_angles_and_by_a_quaternion() -> None:
    """The quaternion of a 3-1-3 rotation (Kane, Likins & Levinson 1983, section 1.3)."""
    a1, a2, a3 = me.dynamicsymbols("a1:4")
    c, s = sm.cos(a2 / 2), sm.sin(a2 / 2)
    plus, minus = (a1 + a3) / 2, (a1 - a3) / 2
    quaternion = [c * sm.cos(plus), s * sm.cos(minus), s * sm.sin(minus), c * sm.sin(plus)]
    map = dict(zip(["e0", "e1", "e2", "e3"], quaternion, strict=True))
    found = kc.equivalent(rigid("angles"), rigid("quaternion"), map)
    assert found.passed, str(found)


def test_an_energy_that_is_no_multiple_is_named() -> None:
    """A disc that slides and spins, with another moment of inertia."""

    def disc(inertia: float) -> kc.Model:
        A, P = N.orientnew("A", "Axis", [q, N.z]), origin().locatenew("P", x * N.x)
        body = me.RigidBody("disc", P, A, m, (me.inertia(A, 0, 0, inertia), P))
        return kc.Model(N, [q, x], [u, v], [q.diff() - u, x.diff() - v], bodies=[body])

    found = kc.equivalent(disc(1.0), disc(2.0), {q: q, x: x})
    assert "the energy of body disc is in b another one" in str(found)


@pytest.mark.long
def test_a_speed_that_a_constraint_holds_at_zero() -> None:
    """The sideways speed of Chaplygin's sleigh: by differences it is not quite zero, and nothing stands beside it."""
    runner = Link("sleigh", sm.eye(4), mass=m, centre=(sm.Symbol("a"), 0, 0), inertia=(0, 0, sm.Symbol("I")))
    runner.transform[:2, :2] = sm.Matrix([[sm.cos(q), -sm.sin(q)], [sm.sin(q), sm.cos(q)]])
    runner.transform[:2, 3] = [x, y]
    rates = kc.Model.from_transforms(
        [runner], q=[x, y, q], u_dependent=["y_d"],
        nonholonomic_constraints=[x.diff() * sm.sin(q) - y.diff() * sm.cos(q)],
    )  # fmt: skip
    sleigh = kc.load("chaplygin_sleigh")
    for found in (kc.equivalent(rates, sleigh, {"theta": q}), kc.equivalent(sleigh, rates, {q: sm.Symbol("theta")})):
        assert found.passed, str(found)
    skewed = kc.compile(rates, parameters={**sleigh.parameters, "a": 2 * sleigh.parameters["a"]}, bake=True)
    assert not kc.equivalent(sleigh, skewed, {q: sm.Symbol("theta")})


@pytest.mark.long
def test_redundant_speeds_follow_from_the_constraints() -> None:
    links = [Link("rod", dh(0, 0, 0, q), mass=m, centre=(l, 0, 0), inertia=(0, 0, k))]
    rates, bodies = (kc.Model.from_transforms(links, gravity=(g, 0, 0), speeds=kind) for kind in ("rates", "bodies"))
    found = kc.equivalent(rates, bodies)
    assert found.passed, str(found)
    heavier = kc.Model.from_transforms(links, gravity=(2 * g, 0, 0), speeds="bodies")
    assert "2 times as large" in str(kc.equivalent(rates, heavier))


def test_parameters_of_other_names_and_values() -> None:
    a, mass = kc.compile(polar(), parameters=VALUES), sm.Symbol("mass")
    P = origin().locatenew("P", x * N.x + y * N.y)
    loads = [(P, mass * g * N.x), (P, -k * (v * N.x + w * N.y))]
    model = kc.Model(
        N, [x], [v], [x.diff() - v, y.diff() - w], q_dependent=[y], u_dependent=[w],
        bodies=[me.Particle("bob", P, mass)], configuration_constraints=[x**2 + y**2 - l**2],
        velocity_constraints=[x * v + y * w], forcelist=loads,
    )  # fmt: skip
    b = kc.compile(model, parameters={"mass": 7.0, "l": 3.0, "g": 1.0, "k": 1.0})
    assert kc.equivalent(a, b, TO_CARTESIAN, parameters={mass: "m"})
    assert kc.equivalent(a, b, TO_CARTESIAN, parameters={"mass": VALUES["m"]})
    assert not kc.equivalent(a, b, TO_CARTESIAN)
    assert dict(b.parameters) == {"mass": 7.0, "l": 3.0, "g": 1.0, "k": 1.0}
    assert dict(a.parameters) == VALUES
    with pytest.raises(KeyError, match=r"no parameter of .* is called 'nosuch'"):
        kc.equivalent(a, b, TO_CARTESIAN, parameters={"nosuch": 1.0})


@pytest.mark.parametrize(
    ("map", "error", "words"),
    [
        ({}, kc.ModelError, "coordinate x of 'cartesian' is not in the map"),
        ({**TO_CARTESIAN, "nosuch": 1}, KeyError, "no coordinate, speed or input of .* is called 'nosuch'"),
        ({"x": sm.Symbol("strange"), "y": 0}, kc.ModelError, "has strange"),
        ({"x": q.diff(), "y": 0}, kc.ModelError, "has a derivative"),
        ([1], TypeError, "map is"),
        (
            lambda state: np.array([0.0, *state, 0.0]) + 0j,
            TypeError,
            "what map returned must be real numbers.* complex128",
        ),
    ],
)
def test_wrong_maps(map: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        kc.equivalent(polar(), cartesian(), map)


@pytest.mark.parametrize("map", [{**TO_CARTESIAN, y: sm.log(-1 - q**2)}, lambda state: [np.nan, *state, 0.0]])
def test_a_map_without_numbers(map: Any) -> None:
    with pytest.raises(kc.ModelError, match=r"is nan at t = .* give as x0 a state around which the map is valid"):
        kc.equivalent(polar(), cartesian(), map)


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="Models and CompiledModels, not a str"):
        kc.equivalent("polar", cartesian(), {})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n is 0"):
        kc.equivalent(polar(), cartesian(), TO_CARTESIAN, n=0)
    with pytest.raises(TypeError, match="parameters is"):
        kc.equivalent(polar(), cartesian(), TO_CARTESIAN, parameters=[1])  # type: ignore[arg-type]
