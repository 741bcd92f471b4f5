# SPDX-License-Identifier: BSD-3-Clause
"""Quaternions: recognised or named, of length one wherever numbers decide, normalised while integrating."""

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

e = me.dynamicsymbols("e0:4")
u = me.dynamicsymbols("u1:4")
A, B, C = sm.symbols("A B C")
#: ė = ½ E ω, ω in body axes (Kane, Likins & Levinson, *Spacecraft Dynamics*, 1983, section 1.13; e0 the scalar part).
RATES = [
    (-e[1] * u[0] - e[2] * u[1] - e[3] * u[2]) / 2,
    (e[0] * u[0] - e[3] * u[1] + e[2] * u[2]) / 2,
    (e[3] * u[0] + e[0] * u[1] - e[1] * u[2]) / 2,
    (-e[2] * u[0] + e[1] * u[1] + e[0] * u[2]) / 2,
]


def rotation(q: Any) -> list[list[Any]]:
    a, b, c, d = q
    return [
        [1 - 2 * (c * c + d * d), 2 * (b * c - a * d), 2 * (b * d + a * c)],
        [2 * (b * c + a * d), 1 - 2 * (b * b + d * d), 2 * (c * d - a * b)],
        [2 * (b * d - a * c), 2 * (c * d + a * b), 1 - 2 * (b * b + c * c)],
    ]


def resting(N: Any) -> Any:
    origin = me.Point("O")
    origin.set_vel(N, 0)
    return origin


def top(way: str, **options: Any) -> kc.Model:
    """A body about a fixed point with a particle on it, without gravity; its attitude written in several ways."""
    N, body = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    kdes = [q.diff() - rate for q, rate in zip(e, RATES, strict=True)]
    if way == "explicit":
        body.orient_explicit(N, sm.Matrix(rotation(e)))
    else:
        body.orient_quaternion(N, e)
    if way == "solved":  # speeds defined as the components of SymPy's own ω
        stored = body.ang_vel_in(N)
        kdes = [stored.dot(axis) - speed for axis, speed in zip(body, u, strict=True)]
        kdes.append(sum(q * q.diff() for q in e))
    elif way != "stored":  # SymPy's ω, |e|² ω in ė, as it is
        body.set_ang_vel(N, u[0] * body.x + u[1] * body.y + u[2] * body.z)
    origin = resting(N)
    rigid = me.RigidBody("body", origin, body, 1, (me.inertia(body, A, B, C), origin))
    bob = me.Particle("bob", origin.locatenew("P", body.x / 3), sm.Rational(9, 10))
    return kc.Model(N, e, u, kdes, bodies=[rigid, bob], **options)


WAYS = ["stored", "set", "solved", "explicit"]
VALUES = {"A": 1.0, "B": 2.0, "C": 2.5}
STATE = np.array([2.0, 4.0, -5.0, 6.0, 3.0, -1.0, 2.0])
STATE[:4] /= 9.0


@pytest.mark.parametrize("way", WAYS)
def test_recognised_and_right(way: str) -> None:
    """Euler's equations, 0.1 m² of the particle added to B and C."""
    model = top(way)
    assert model.description.unit == ((0, 1, 2, 3),)
    assert "unit quaternion: e0 e1 e2 e3" in model.report()
    dyn = kc.compile(model, parameters=VALUES)
    a, b, c = 1.0, 2.1, 2.6
    x, y, z = STATE[4:]
    expected = [(b - c) * y * z / a, (c - a) * z * x / b, (a - b) * x * y / c]
    np.testing.assert_allclose(dyn.udot(0.0, STATE), expected, rtol=1e-13)
    # ω is u on the unit sphere: M is constant, and udot costs little more than Euler's equations
    assert dyn.info["operations"]["udot"] <= 34
    np.testing.assert_allclose(dyn.mass_matrix(0.0, 3 * STATE), np.diag([1.0, 2.1, 2.6]), rtol=1e-15)
    rates = dyn.qdot(0.0, STATE)
    assert abs(STATE[:4] @ rates) < 1e-15
    np.testing.assert_allclose(
        rates, [float(r.subs(dict(zip([*e, *u], STATE, strict=True)))) for r in RATES], rtol=1e-13
    )


@pytest.mark.parametrize("method", ["dop853", "rk4"])
def test_length_and_angular_momentum_are_kept(method: str) -> None:
    dyn = kc.compile(top("set"), parameters=VALUES)
    options = {"rtol": 1e-11, "atol": 1e-11} if method == "dop853" else {"dt": 1e-3}
    sol = dyn.simulate((0.0, 10.0), STATE, method=method, **options)
    norms = np.linalg.norm(sol.q, axis=1)
    assert abs(norms - 1).max() < 4e-16 * 2
    between = sol(np.linspace(0.0, 10.0, 277))
    assert abs(np.linalg.norm(between[:, :4], axis=1) - 1).max() < 4e-16 * 2
    momentum = np.array([np.array(rotation(x[:4])) @ (np.array([1.0, 2.1, 2.6]) * x[4:]) for x in between])
    np.testing.assert_allclose(momentum, momentum[:1].repeat(len(momentum), 0), atol=2e-8)
    assert sol.energy_drift < 1e-9


def test_named_where_the_matrix_is_not_recognised() -> None:
    """A sensor's axes are turned in the body that the quaternion orients, and nothing else is: the user says it."""
    earth, body, N, sensor = (me.ReferenceFrame(name) for name in ("E", "B", "N", "S"))
    body.orient_quaternion(earth, e)  # to get the matrix: neither frame is in the model
    turned = sm.rot_axis3(1.1)
    sensor.orient_explicit(N, body.dcm(earth).T * turned)
    sensor.set_ang_vel(N, u[0] * sensor.x + u[1] * sensor.y + u[2] * sensor.z)
    origin = resting(N)
    rigid = me.RigidBody("body", origin, sensor, 1, (me.inertia(sensor, A, B, C), origin))
    speeds = list(turned * sm.Matrix(u))
    rates = [r.subs(dict(zip(u, speeds, strict=True)), simultaneous=True) for r in RATES]
    arguments = (N, e, u, [q.diff() - rate for q, rate in zip(e, rates, strict=True)])
    assert kc.Model(*arguments, bodies=[rigid]).description.unit == ()
    for unit in ([tuple(e)], e):
        assert kc.Model(*arguments, bodies=[rigid], unit=unit).description.unit == ((0, 1, 2, 3),)


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ([e[:3]], ["unit holds", "four coordinates"]),
        ([(*e[:3], e[0])], ["unit holds", "four coordinates"]),
        ([(*e[:3], u[0])], ["u1", "no coordinate"]),
        ([tuple(e), (e[1], e[0], e[3], e[2])], ["belongs to two quaternions"]),
        (["e0"], ["unit holds", "four coordinates"]),
    ],
)
def test_wrong_quaternions(unit: Any, words: list[str]) -> None:
    with pytest.raises(kc.ModelError) as error:
        top("set", unit=unit)
    for word in words:
        assert word in str(error.value)


@pytest.mark.long
def test_other_matrices_of_four_coordinates_are_no_quaternions() -> None:
    """Four coordinates in one orientation: two angles about x and two about y."""
    N, body = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    body.orient_explicit(N, sm.rot_axis1(-e[0] - e[1]) * sm.rot_axis2(-e[2] - e[3]))
    speeds = me.dynamicsymbols("w0:4")
    body.set_ang_vel(N, (speeds[0] + speeds[1]) * N.x + (speeds[2] + speeds[3]) * body.y)
    origin = resting(N)
    rigid = me.RigidBody("body", origin, body, 1, (me.inertia(body, A, B, C), origin))
    kdes = [q.diff() - w for q, w in zip(e, speeds, strict=True)]
    assert kc.Model(N, e, speeds, kdes, bodies=[rigid]).description.unit == ()


def test_quaternions_of_frames_that_are_not_used() -> None:
    """Four Cartesian coordinates are none because some frame, which no body has, is oriented by them."""
    q, v = me.dynamicsymbols("q1:5"), me.dynamicsymbols("v1:5")
    N, idle, strange, origin = *(me.ReferenceFrame(name) for name in ("N", "Z", "S")), me.Point("O")
    idle.orient_quaternion(N, q)
    strange.orient_explicit(N, sm.gamma(q[0] + q[1] + q[2] + q[3]) * sm.eye(3))
    origin.set_vel(N, 0)
    bodies = [me.Particle(f"P{i}", origin.locatenew(f"P{i}", a * N.x), 1) for i, a in enumerate(q)]
    model = kc.Model(N, q, v, [a.diff() - b for a, b in zip(q, v, strict=True)], bodies=bodies)
    assert model.description.unit == ()


def test_a_prescribed_quaternion_is_believed() -> None:
    N, body, origin = me.ReferenceFrame("N"), me.ReferenceFrame("B"), me.Point("O")
    body.orient_quaternion(N, e)
    q, v = me.dynamicsymbols("q v")
    origin.set_vel(N, 0)
    P = origin.locatenew("P", q * body.x)
    model = kc.Model(N, [q], [v], [q.diff() - v], bodies=[me.Particle("p", P, 1)])
    assert "does not turn" not in model.report()
    assert model.n_r == 12


def test_row_written_twice() -> None:
    """A row that a quaternion carries and that is written twice is redundant, at all states, and is no flat row."""
    rng = np.random.default_rng(0)
    place, e, u = rng.normal(size=3), me.dynamicsymbols("e0:4"), me.dynamicsymbols("u1:4")
    N, B, O = me.ReferenceFrame("N"), me.ReferenceFrame("B"), me.Point("O")  # noqa: E741
    B.orient_quaternion(N, e)
    B.set_ang_vel(N, u[0] * B.x + u[1] * B.y + u[2] * B.z)
    O.set_vel(N, 0)
    P = O.locatenew("P", place[0] * B.x + place[1] * B.y + place[2] * B.z)
    body = me.RigidBody("b", O, B, 1.3, (me.inertia(B, 0.1, 0.2, 0.25), O))
    ends = rng.normal(size=3)
    ends *= np.linalg.norm(place) / np.linalg.norm(ends)
    held = [P.pos_from(O).dot(axis) - end for axis, end in zip((N.y, N.z), ends[1:], strict=True)]
    turned = sm.Matrix([[-e[1], -e[2], -e[3]], [e[0], -e[3], e[2]], [e[3], e[0], -e[1]], [-e[2], e[1], e[0]]])
    kinematics = [a.diff() - b for a, b in zip(e, turned * sm.Matrix(u) / 2, strict=True)]
    model = kc.Model(N, e, u, kinematics, bodies=[body], configuration_constraints=[*held, held[0]])
    dyn = kc.compile(model, cc="none")
    found = dyn.check()
    assert (found.rank, found.redundant) == (2, ("configuration constraint 2",))
    for _ in range(5):
        quaternion = rng.normal(size=4)
        x = dyn.consistent(0.0, [*quaternion / np.linalg.norm(quaternion), 0.3, 0.2, 0.1])
        assert dyn.check(x).rank == 2
        assert np.abs(dyn.consistent(0.0, x, keep=None) - x).max() < 1e-9
