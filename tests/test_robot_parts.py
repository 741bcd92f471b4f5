# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.describe.from_sympy.robot_parts: loads, states, outputs, feedback that users add to robots from files."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from numpy.testing import assert_allclose
from test_mujoco_models import compiled_model
from test_urdf_file import compiled, joint

import kanecore as kc

LINK = """<link name="{}"><inertial><origin xyz="0.3 0.1 0"/><mass value="2"/>
<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0" iyz="0"/></inertial></link>"""
ARM = (
    '<robot name="arm"><link name="g"/><link name="tool"/>'
    + LINK.format("a")
    + LINK.format("b")
    + joint("shoulder", "g", "a", more='<origin xyz="0 0 1"/><axis xyz="0 1 0"/>')
    + joint("elbow", "a", "b", more='<origin xyz="1 0 0"/><axis xyz="0 0.6 0.8"/>')
    + joint("mount", "b", "tool", "fixed", '<origin xyz="0.5 0 0" rpy="0 0 0.4"/>')
    + "</robot>"
)
X = np.array([0.3, 0.4, 0.5, -0.6])


def test_a_motor_with_its_current() -> None:
    """The current is a state behind the speeds, and its torque stands in place of the effort, which is no input."""
    i, volt, torque, speed = me.dynamicsymbols("i volt tau_elbow u_elbow")
    resistance, inductance, k = sm.symbols("R L k")
    states = {i: (volt - resistance * i - k * speed) / inductance}
    model = kc.Model.from_urdf(ARM, states=states, feedback={torque: k * i})
    dyn = kc.compile(model, parameters={"R": 1.5, "L": 0.01, "k": 0.4}, cc="none")
    assert (dyn.input_names, dyn.parameter_names) == (("tau_shoulder", "volt"), ("L", "R", "k"))
    plain = compiled(kc.Model.from_urdf(ARM))
    xdot = dyn.rhs(0.0, [*X, 2.0], r={"volt": 3.0, "tau_shoulder": 1.0})
    assert_allclose(xdot[:4], plain.rhs(0.0, X, r=[1.0, 0.8]), rtol=1e-13)
    assert xdot[4] == pytest.approx((3.0 - 1.5 * 2.0 + 0.4 * 0.6) / 0.01)
    assert "law 0, for tau_elbow" in model.report()


def test_loads_at_points_and_on_frames_of_the_robot() -> None:
    """Beside those of ``forces=``; users' points and frames are located and oriented from the robot's."""
    f, g, h = me.dynamicsymbols("F G H")

    def forcelist(robot: Any) -> list[Any]:
        tool, world = robot.frames["tool"], robot.frames["world"]
        tip = robot.points["tool"].locatenew("tip", 0.2 * tool.x)
        own = me.ReferenceFrame("own")
        own.orient_axis(tool, tool.z, 0.7)
        spring = me.LinearSpring(8, me.LinearPathway(robot.points["g"], tip), equilibrium_length=sm.Rational(1, 2))
        return [(tip, f * world.x + g * own.y), (robot.frames["b"], h * own.x), spring]

    dyn = compiled(kc.Model.from_urdf(ARM, forcelist=forcelist))
    place = (0.2, 0.0, 0.0)
    forces: dict[str, Any] = {"tip": ("tool", place), "own": ("tool", place, "link")}
    plain = compiled(kc.Model.from_urdf(ARM, forces=forces, torques={"b": ("tool", "link")}))
    assert dyn.input_names == ("tau_shoulder", "tau_elbow", "F", "G", "H")
    y, x = np.array([-np.sin(0.7), np.cos(0.7), 0.0]), np.array([np.cos(0.7), np.sin(0.7), 0.0])
    turn = plain.orientations(0.0, X, named=True)["tool"]
    tip = plain.position("tool", 0.0, X) + turn @ place
    length = np.linalg.norm(tip)
    pull = -8.0 * (length - 0.5) * tip / length
    r = [1.0, 2.0, *(pull + np.array([3.0, 0.0, 0.0])), *(4.0 * y), *(5.0 * x)]
    assert_allclose(dyn.udot(0.0, X, r=[1.0, 2.0, 3.0, 4.0, 5.0]), plain.udot(0.0, X, r=r), rtol=1e-12)
    assert "load 5, force on point tip" in dyn.model.report()


def test_outputs_of_the_robot() -> None:
    street = sm.Function("street")
    heights = kc.Spline(np.linspace(-2, 2, 9), np.sin(np.linspace(-2, 2, 9)))

    def outputs(robot: Any) -> dict[str, Any]:
        speed = robot.speeds["u_elbow"]
        return {
            "tool": (robot.points["tool"], robot.frames["a"]),
            "a": speed.diff(),
            "power": robot.inputs["tau_elbow"] * speed,
            "rate": robot.coordinates["q_elbow"].diff(),
            "below": street(robot.coordinates["q_elbow"]) * robot.parameters["m_a"],
            "held": kc.multiplier("weld of tool and c, x"),
        }

    text = ARM.replace("</robot>", LINK.format("c") + joint("k", "g", "c", "floating") + "</robot>")
    loops = [("tool", "c", "weld")]
    model = kc.Model.from_urdf(text, parameters=True, loops=loops, outputs=outputs, functions={street: heights})
    dyn = compiled(model)
    x = dyn.consistent(0.0, {"q_shoulder": 0.3, "q_elbow": 0.4, "u_elbow": -0.6, "q_k_e0": 1.0}, None)
    r = {"tau_elbow": 2.0}
    found = dict(zip(dyn.output_names, dyn.outputs(0.0, x, r=r), strict=True))
    turn = dyn.orientations(0.0, x, named=True)["a"]
    places = [found[f"tool_{k}"] for k in "xyz"]
    assert_allclose(places, turn.T @ (dyn.position("tool", 0.0, x) - dyn.position("g", 0.0, x)), atol=1e-13)
    q = x[dyn.coordinate_names.index("q_elbow")]
    u = x[dyn.n_q + dyn.speed_names.index("u_elbow")]
    assert found["a"] == pytest.approx(dyn.udot(0.0, x, r=r)[dyn.speed_names.index("u_elbow")])
    assert (found["rate"], found["power"]) == pytest.approx((u, 2.0 * u))
    assert found["below"] == pytest.approx(2.0 * heights(q))
    assert found["held"] == pytest.approx(dyn.multipliers(0.0, x, r=r)[0])
    assert dyn.parameter_names[:2] == ("m_a", "cx_a")


def test_laws_in_place_of_inputs() -> None:
    """Of laws that hold others, derivatives of speeds, and inputs of one's own with their rates."""
    shoulder, elbow, speed, volt = me.dynamicsymbols("tau_shoulder tau_elbow u_elbow volt")
    feedback = {shoulder: 2 * elbow + volt.diff(), elbow: -3 * speed.diff() - volt}
    dyn = compiled(kc.Model.from_urdf(ARM, feedback=feedback, outputs={"effort": elbow * 1}))
    assert dyn.input_names == ("volt", "volt_d")
    udot = dyn.udot(0.0, X, r=[0.5, 0.25])
    efforts = [2 * (-3 * udot[1] - 0.5) + 0.25, -3 * udot[1] - 0.5]
    assert_allclose(udot, compiled(kc.Model.from_urdf(ARM)).udot(0.0, X, r=efforts), rtol=1e-12)
    assert dyn.outputs(0.0, X, r=[0.5, 0.25])[0] == pytest.approx(efforts[1])


def test_models_of_mujoco_take_them_as_well() -> None:
    """A law in place of an actuator's control, beside activations, sites and tendons."""
    plain = kc.compile(kc.Model.from_mjcf(compiled_model("forces")), cc="none")
    motor, heat = plain.input_names[0], me.dynamicsymbols("heat")

    def feedback(robot: Any) -> Mapping[Any, Any]:
        return {robot.inputs[motor]: 0.2 * robot.coordinates[plain.coordinate_names[0]]}

    def outputs(robot: Any) -> Mapping[str, Any]:
        return {"hook": robot.points["hook"], "change": robot.states["act_muscle"].diff()}

    options: dict[str, Any] = {"states": {heat: -heat}, "feedback": feedback, "outputs": outputs}
    dyn = kc.compile(kc.Model.from_mjcf(compiled_model("forces"), **options), cc="none")
    x, r = np.array(plain.state({})), np.linspace(0.1, 0.5, plain.n_r)
    x[0] = 0.7
    r[0] = 0.2 * x[0]
    expected = plain.rhs(0.0, x, r=r)
    assert_allclose(dyn.rhs(0.0, [*x, 2.0], r=r[1:]), [*expected, -2.0], rtol=1e-12)
    found = dict(zip(dyn.output_names, dyn.outputs(0.0, [*x, 2.0], r=r[1:]), strict=True))
    assert found["change"] == pytest.approx(expected[plain.n_q + plain.n_u + plain.state_names.index("act_muscle")])
    assert_allclose([found[f"hook_{k}"] for k in "xyz"], plain.position("hook", 0.0, x), atol=1e-14)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"outputs": lambda robot: {"a": robot.points["tol"]}}, KeyError, "no point of the robot is called 'tol'; did"),
        ({"outputs": lambda robot: [1]}, kc.ModelError, r"outputs must be a dict of names and expressions, not \[1\]"),
        ({"feedback": {me.dynamicsymbols("tau_elbo"): 1}}, kc.ModelError, "feedback for tau_elbo.*check the symbol"),
        ({"feedback": {me.dynamicsymbols("q_elbow"): 1}}, kc.ModelError, "only inputs can be fed back"),
        (
            {"feedback": {me.dynamicsymbols("tau_elbow"): me.dynamicsymbols("u_elbow").diff() ** 2}},
            kc.ModelError,
            "load 1, by feedback, is not affine in the derivatives of the speeds",
        ),
        (
            {"states": {me.dynamicsymbols("q_elbow"): 1}},
            kc.ModelError,
            "q_elbow is listed in states and in coord",
        ),
        ({"states": {me.dynamicsymbols("tau_elbow"): 1}}, kc.ModelError, "two different symbols are named 'tau_elb"),
        (
            {
                "velocity_constraints": [me.dynamicsymbols("u_elbow") - me.dynamicsymbols("tau_elbow")],
                "feedback": {me.dynamicsymbols("tau_elbow"): 1},
            },
            kc.ModelError,
            "tau_elbow in velocity constraint 0 is given by feedback",
        ),
        (
            {"forcelist": lambda robot: [(robot.points["tool"], me.ReferenceFrame("B").x)]},
            kc.ModelError,
            "frame B in load 0 on point tool is not oriented with respect to the inertial frame world",
        ),
    ],
)
def test_additions_that_are_wrong(options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        kc.Model.from_urdf(ARM, **options)
