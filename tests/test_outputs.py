# SPDX-License-Identifier: BSD-3-Clause
"""Outputs that are vectors, points and matrices, against the kernels and against scalars that say the same."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates

import kanecore as kc

t = me.dynamicsymbols._t
Q, U = me.dynamicsymbols("turn swing"), me.dynamicsymbols("u1:3")
LIFT, F = me.dynamicsymbols("lift F")
m, l, g = sm.symbols("m l g")  # noqa: E741
VALUES = {m: 1.3, l: 0.7, g: 9.81}
STATE, UDOT = np.array([0.4, -0.8, 1.1, 0.6]), np.array([0.9, -1.7])
INPUTS = {"lift": 0.3, "lift_d": 0.5, "lift_dd": -0.8, "F": 0.7}


class Crane:
    """A rod that hangs from a lift, turned and swung; a wall at rest beside it."""

    def __init__(self) -> None:
        self.N = N = me.ReferenceFrame("N")
        self.A = N.orientnew("A", "Axis", [Q[0], N.z])
        self.B = self.A.orientnew("B", "Axis", [Q[1], self.A.x])
        self.O = me.Point("O")
        self.O.set_vel(N, 0)
        self.wall = self.O.locatenew("wall", 2 * l * N.x + N.y)
        self.hook = self.O.locatenew("hook", LIFT * N.z)
        self.centre = self.hook.locatenew("centre", -l * self.B.z)
        self.tip = self.centre.locatenew("tip", l * self.B.y - l * self.B.z)
        self.body = me.RigidBody("rod", self.centre, self.B, m, (me.inertia(self.B, m, 2 * m, m), self.centre))

    def model(self, outputs: dict[str, Any], **options: Any) -> kc.Model:
        return kc.Model(
            *(self.N, Q, U, rates(Q, U)),
            bodies=[self.body],
            forcelist=[(self.centre, F * self.N.y - m * g * self.N.z)],
            outputs=outputs,
            name="crane",
            **options,
        )


def compiled(model: kc.Model) -> kc.CompiledModel:
    return kc.compile(model, parameters=VALUES)


def values(dyn: kc.CompiledModel) -> dict[str, float]:
    return dict(zip(dyn.output_names, dyn.outputs(0.0, STATE, r=INPUTS).tolist(), strict=True))


@cache
def plain() -> kc.CompiledModel:
    c = Crane()
    return compiled(c.model({}, points=[c.tip, c.wall], frames=[c.A], inputs=[LIFT, F]))


def test_points_and_vectors_in_any_frame() -> None:
    c = Crane()
    spin = U[0] * c.A.z + U[1] * c.A.x
    outputs = {
        "tip": c.tip,
        "seen": (c.tip, c.B),
        "w": (spin, c.B),
        "v": spin.cross(c.tip.pos_from(c.hook)) + LIFT.diff() * c.N.z,
        "nothing": me.Vector(0),
        "s": Q[0] + 1,
    }
    dyn, other = compiled(c.model(outputs)), plain()
    names = [f"{name}_{axis}" for name in ("tip", "seen", "w", "v", "nothing") for axis in "xyz"]
    assert dyn.output_names == (*names, "s")
    expected = [
        other.position("tip", 0.0, STATE, r=INPUTS),
        other.position("tip", 0.0, STATE, frame="B", r=INPUTS),
        other.angular_velocity("B", 0.0, STATE, frame="B", r=INPUTS),
        other.velocity("tip", 0.0, STATE, r=INPUTS),
        np.zeros(3),
        [1.4],
    ]
    np.testing.assert_allclose(list(values(dyn).values()), np.concatenate(expected), rtol=1e-13, atol=1e-14)


def test_accelerations_as_outputs() -> None:
    """An output that holds u̇ has that of the model, and an accelerometer is a vector as others are."""
    c = Crane()
    rates = {x.diff(): u for x, u in zip(Q, U, strict=True)}
    acceleration = me.msubs(me.msubs(c.tip.pos_from(c.O).dt(c.N), rates).dt(c.N), rates)
    fresh = Crane()
    axes = {c.N: fresh.N, c.A: fresh.A, c.B: fresh.B}
    vector = me.Vector(0)
    for column, frame in acceleration.args:
        vector += sum((e * axis for e, axis in zip(column, axes[frame], strict=True)), me.Vector(0))
    felt = vector + g * fresh.N.z
    model = fresh.model({"imu": (felt, fresh.B)}, points=[fresh.tip])
    dyn = compiled(model)
    udot = dyn.udot(0.0, STATE, r=INPUTS)
    expected = dyn.specific_force("tip", 0.0, STATE, udot, frame="B", r=INPUTS)
    np.testing.assert_allclose(list(values(dyn).values()), expected, rtol=1e-12)


def test_matrices() -> None:
    q, u = Q[0], U[0]
    dyn = compiled(
        Crane().model({"A": sm.Matrix([[q, 0], [u, F]]), "c": sm.Matrix([q, u.diff()]), "r": sm.Matrix([[l, u]])})
    )
    udot = dyn.udot(0.0, STATE, r=INPUTS)
    expected = {"A_0_0": STATE[0], "A_0_1": 0.0, "A_1_0": STATE[2], "A_1_1": INPUTS["F"]}
    expected |= {"c_0": STATE[0], "c_1": udot[0], "r_0": 0.7, "r_1": STATE[2]}
    assert values(dyn) == pytest.approx(expected, rel=1e-13)
    assert dyn.output_names == tuple(expected)


def test_points_are_measured_from_the_origin() -> None:
    """That which was named, of points to which positions lead from it; others from the root of their own."""
    c = Crane()
    away = me.Point("away")
    away.set_vel(c.N, 0)
    post = away.locatenew("post", 3 * c.N.x)
    dyn = compiled(
        c.model({"tip": (c.tip, c.A), "post": post, "wall": c.wall}, points=[c.tip], frames=[c.A], origin=c.wall)
    )
    found = values(dyn)
    expected = dyn.position("tip", 0.0, STATE, frame="A", r=INPUTS)
    np.testing.assert_allclose([found[f"tip_{axis}"] for axis in "xyz"], expected, rtol=1e-13)
    assert [found[f"post_{axis}"] for axis in "xyz"] == [3.0, 0.0, 0.0]
    assert [found[f"wall_{axis}"] for axis in "xyz"] == [0.0, 0.0, 0.0]
    from_origin = plain().position("tip", 0.0, STATE, frame="A", origin="wall", r=INPUTS)
    np.testing.assert_allclose(expected, from_origin, rtol=1e-13)


def test_what_people_read() -> None:
    c = Crane()
    model = c.model({"tip": (c.tip, c.A), "w": U[0] * c.A.z, "M": sm.Matrix([Q[0]])})
    report, text = model.report(), model.explain()
    for number, name in enumerate(["tip_x", "tip_y", "tip_z", "w_x", "w_y", "w_z", "M_0"]):
        assert f"output {number}, {name}" in report
        assert f"output {number}, {name} = " in text
    assert "tip_y = tip along A.y" in text
    assert "w_x = (u1*A.z) along N.x" in text
    assert model.symbolic("outputs", nested=True)[5] == U[0]


def test_multipliers_of_freed_constraints() -> None:
    """In a vector, where another row is freed and the rest is numbered anew."""
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("v w")
    N, O = ground()  # noqa: E741
    P = O.locatenew("P", q[0] * N.x + q[1] * N.y)
    model = kc.Model(
        *(N, q, u, rates(q, u)),
        bodies=[me.Particle("P", P, m)],
        forcelist=[(P, -m * g * N.y)],
        velocity_constraints={"rail": u[0], "floor": u[1]},
        outputs={"force": kc.multiplier(0) * N.x + kc.multiplier(1) * N.y},
    )
    freed = model.free("rail")
    assert "force_x = (lambda_rail*N.x + multiplier(0)*N.y) along N.x" in freed.explain()
    found = kc.compile(freed, parameters={m: 2.0, g: 9.81}).outputs(0.0, np.zeros(4), r={"lambda_rail": 0.25})
    np.testing.assert_allclose(found, [0.25, 2.0 * 9.81, 0.0], rtol=1e-13)


def test_canonical_models_keep_what_holds_no_udot() -> None:
    c = Crane()
    outputs = {"tip": (c.tip, c.B), "a": U[0].diff() * c.N.x + Q[0] * c.N.y}
    model = c.model(outputs).canonical()
    dyn = compiled(model)
    assert dyn.output_names == ("tip_x", "tip_y", "tip_z", "a_y", "a_z")
    assert "tip_z = tip along B.z" in model.explain()


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (lambda c: {"a": [Q[0], Q[1]]}, "output a is a list: write a scalar, a Vector or a Point"),
        (lambda c: {"a": np.zeros(2)}, "output a is a ndarray: write a scalar"),
        (lambda c: {"a": (Q[0], c.N)}, "output a is a tuple: write a scalar"),
        (lambda c: {"a": sm.MatrixSymbol("X", 2, 2)}, "output a is a MatrixSymbol"),
        (lambda c: {"a": (c.tip, "B")}, "output a is to be shown in 'B', which is no ReferenceFrame"),
        (lambda c: {"a": (c.N.x, me.ReferenceFrame("C"))}, "frame C in output a is not oriented"),
        (lambda c: {"a": me.ReferenceFrame("C").x}, "frame C in output a is not oriented"),
        (lambda c: {"a": me.Point("new")}, "point new of output a has no position path"),
        (lambda c: {"a": c.tip, "a_x": Q[0]}, "a_x"),
        (lambda c: {"a": Q[0].diff(t, 2) * c.N.x}, "in output a: write second derivatives"),
        (lambda c: {"a": sm.Matrix([sm.Symbol("w"), Q[0].diff(t, 2)])}, "in output a_1: write second derivatives"),
    ],
)
def test_wrong_outputs(outputs: Any, message: str) -> None:
    c = Crane()
    with pytest.raises(kc.ModelError, match=message):
        c.model(outputs(c))
