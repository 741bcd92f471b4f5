# SPDX-License-Identifier: BSD-3-Clause
"""Model.from_mjcf: M, forces, accelerations, activations and lengths are MuJoCo's; what is not read is refused by name.

``tests/mujoco_models`` has what MuJoCo 4.0.0 made of five files and the gallery's cheetah, and results at five states.
"""

import json
import math
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kanecore as kc

FOLDER = Path(__file__).parent / "mujoco_models"
NAMES = ["branches", "cheetah", "equality", "forces", "joints", "stops"]


@cache
def recorded(name: str) -> dict[str, Any]:
    return dict(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def compiled_model(name: str, **changes: Any) -> Any:
    """The numbers of a compiled model, as `mujoco.MjModel` has them, some of them changed."""
    numbers = {
        key: np.array(value) if isinstance(value, list) else value for key, value in recorded(name)["model"].items()
    }
    options = {key: np.array(value) if isinstance(value, list) else value for key, value in numbers.pop("opt").items()}
    numbers["names"] = numbers["names"].encode()
    for key, (place, value) in changes.items():
        numbers[key] = np.array(numbers[key])
        numbers[key][place] = value
    return SimpleNamespace(opt=SimpleNamespace(**options), **numbers)


@cache
def model(name: str, **options: Any) -> kc.CompiledModel:
    return kc.compile(kc.Model.from_mjcf(compiled_model(name), **options), cc="none")


@pytest.mark.filterwarnings("ignore:armature of")
@pytest.mark.parametrize("name", NAMES)
def test_numbers_of_mujoco(name: str) -> None:
    dyn = model(name, equality="ignore")
    for state in recorded(name)["states"]:
        x, options = state["x"], {"r": state["ctrl"]}
        expected = {
            "mass_matrix": state["M"],
            "forcing": np.add(state["qfrc_passive"], state["qfrc_actuator"]) - state["qfrc_bias"],
            "udot": state["qacc_smooth"],
            "zdot": state["act_dot"],
        }
        for kernel, right in expected.items():
            size = np.max(np.abs(right), initial=1.0)
            if len(right):
                np.testing.assert_allclose(getattr(dyn, kernel)(0.0, x, **options), right, rtol=0, atol=1e-12 * size)
        if dyn.output_names:
            outputs = dict(zip(dyn.output_names, dyn.outputs(0.0, x, **options), strict=True))
            for ending, key in ((" force", "actuator_force"), (" length", "ten_length")):
                found = [value for output, value in outputs.items() if output.endswith(ending)]
                np.testing.assert_allclose(found, state[key], rtol=1e-12, atol=1e-12)


def test_cheetah_of_the_gallery() -> None:
    """It is compiled without MuJoCo, also where that is installed."""
    dyn = kc.load("cheetah")
    for state in recorded("cheetah")["states"]:
        right = state["qacc_smooth"]
        found = dyn.udot(0.0, state["x"], r=state["ctrl"])
        np.testing.assert_allclose(found, right, rtol=0, atol=1e-12 * np.max(np.abs(right)))


def test_sensors_are_outputs() -> None:
    described = kc.Model.from_mjcf(compiled_model("stops"))
    dyn = model("stops")
    assert "sensors that are not read: seen toe, shock" in described.report()
    sensors = [name for name in dyn.output_names if not name.endswith((" force", " length"))]
    assert sensors[:3] == ["hip angle", "servo sensor", "ankle turn_e0"]  # beside the input of this name
    assert "strap length sensor" in sensors  # beside the length of the tendon
    for state in recorded("stops")["states"]:
        found = dict(zip(dyn.output_names, dyn.outputs(0.0, state["x"], r=state["ctrl"]), strict=True))
        values = [found[name] for name in sensors]
        np.testing.assert_allclose(values, state["sensordata"][: len(values)], rtol=1e-12, atol=1e-12)
    without = model("stops", actuators=False)
    assert {*sensors} - {*without.output_names} == {"turned", "turning", "servo push", "servo sensor"}


def test_names_and_order() -> None:
    dyn = model("joints")
    assert dyn.coordinate_names[:3] == ("q_x", "q_swing", "q_socket_e0")
    assert dyn.speed_names[-6:] == tuple(f"u_free_{each}" for each in ("x", "y", "z", "rx", "ry", "rz"))
    forces = model("forces")
    assert forces.input_names[:2] == ("arm motor", "arm brake")
    assert forces.state_names[:2] == ("act_affine", "act_drive")
    np.testing.assert_allclose(forces.position("hook", 0.0, recorded("forces")["states"][0]["x"]), [0.4, 0.1, 1.2])


def test_derivatives_where_a_ball_is_not_turned() -> None:
    """The spring of a ball joint has slopes at its rest, where its rotation vector is 0."""
    dyn = model("joints")
    x = np.zeros(dyn.n_x)
    for e in dyn.unit:
        x[e[0]] = 1.0
    A, _ = dyn.linearize(0.0, x)
    h = 1e-6
    i = dyn.unit[0][1]
    ends = [dyn.rhs(0.0, x + sign * h * np.eye(dyn.n_x)[i]) for sign in (1, -1)]
    np.testing.assert_allclose(A[:, i], (ends[0] - ends[1]) / (2 * h), atol=1e-6 * np.max(np.abs(A)))


def test_torques_in_place_of_actuators() -> None:
    dyn, other = model("forces", actuators=False), model("forces")
    assert dyn.input_names == tuple(name.replace("u_", "tau_", 1) for name in dyn.speed_names)
    assert dyn.n_z == 0
    x = recorded("forces")["states"][0]["x"][: dyn.n_x]
    np.testing.assert_allclose(dyn.forcing(0.0, x, r=np.arange(7.0)) - dyn.forcing(0.0, x), np.arange(7.0), atol=1e-12)
    assert other.n_r == 14


def test_equality_holds_exactly() -> None:
    with pytest.warns(kc.KanecoreWarning) as caught:
        described = kc.Model.from_mjcf(compiled_model("equality"))
    said = " ".join(str(each.message) for each in caught)
    assert "hold exactly here, and are stiff springs in MuJoCo: pin, teeth" in said
    assert "with mocap bodies are left out: grip" in said
    dyn = kc.compile(described, cc="none")
    x = dyn.consistent(0.0, {"q_crank": 0.4, "u_crank": 1.0}, keep=["q_crank", "u_crank"])
    assert dyn.check(x).rank == 3
    turned = x[0]
    gear = x[list(dyn.coordinate_names).index("q_gear")]
    assert gear == pytest.approx(0.1 - 2 * turned + 0.3 * turned**2, abs=1e-12)
    assert dyn.simulate((0.0, 1.0), x).energy_drift < 1e-6


def test_armature_that_joins_branches_is_told() -> None:
    with pytest.warns(kc.KanecoreWarning, match="joins two branches of the tree, by u_left and u_right") as caught:
        kc.Model.from_mjcf(compiled_model("branches"))
    assert [str(each.message).split(" joins")[0] for each in caught] == [
        "armature of tendon 'belt'",
        "armature of actuator 'belt motor'",
    ]


def test_masses_are_parameters() -> None:
    described = kc.Model.from_mjcf(compiled_model("joints"), parameters=True)
    dyn = kc.compile(described, cc="none")
    state = recorded("joints")["states"][0]
    np.testing.assert_allclose(dyn.udot(0.0, state["x"]), state["qacc_smooth"], rtol=1e-11, atol=1e-11)
    assert dyn.parameters["m_tip"] == 0.5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"actuator_trntype": (2, 5)}, "the transmission of actuator 'hip motor' of 'forces' is not read"),
        ({"actuator_dyntype": (4, 7)}, "the activation of actuator 'affine'"),
        ({"actuator_gaintype": (4, 3)}, "the force of actuator 'affine'"),
        ({"actuator_actearly": (4, True)}, "actearly=\"true\" of actuator 'affine'"),
        ({"actuator_delay": (2, 0.1)}, "the delay of actuator 'hip motor'"),
        ({"wrap_type": (2, 4)}, "tendon 'cable', which wraps around a geom,"),
        ({"tendon_springyield": (1, 0.2)}, "springyield of tendon 'cable'"),
        ({"tendon_armature": (1, 0.2)}, "the armature of tendon 'cable' through sites"),
        ({"tendon_actfrclimited": (1, True)}, "actuatorfrcrange of tendon 'cable'"),
        (
            {"jnt_actfrclimited": (1, True)},
            "actuatorfrcrange of joint 'knee', which actuator 'winch' moves through a site",
        ),
        (
            {"nu": ((), 0), "jnt_actgravcomp": (0, True), "body_gravcomp": (1, 0.5)},
            "actuatorgravcomp of joint 'hip', where no actuator acts",
        ),
        ({"nflex": ((), 1)}, "a flex of 'forces' is not read"),
        ({"nplugin": ((), 1)}, "a plugin of 'forces' is not read"),
    ],
)
def test_refused_by_name(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(kc.ModelError, match=message):
        kc.Model.from_mjcf(compiled_model("forces", **changes))


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match=r"takes a path, a text or a mujoco\.MjModel, not 3"):
        kc.Model.from_mjcf(3)
    with pytest.raises(kc.ModelError, match="equality is 'soft'"):
        kc.Model.from_mjcf(compiled_model("joints"), equality="soft")
    with pytest.raises(kc.ModelError, match="limits is 'hard'; it must be 'ignore' or 'spring'"):
        kc.Model.from_mjcf(compiled_model("joints"), limits="hard")
    with pytest.raises(kc.ModelError, match=r"solreflimit of joint 'hip' is .0\.02 0.: a positive"):
        kc.Model.from_mjcf(compiled_model("stops", jnt_solref=((1, 1), 0.0)), limits="spring")
    with pytest.raises(kc.ModelError, match="friction is -1"):
        kc.Model.from_mjcf(compiled_model("joints"), friction=-1)
    with pytest.raises(kc.ModelError, match="friction is 'dry'"):
        kc.Model.from_mjcf(compiled_model("joints"), friction="dry")  # type: ignore[arg-type]


def test_files_and_texts() -> None:
    mujoco = pytest.importorskip("mujoco", reason="reads files: pip install mujoco")
    path = FOLDER / "joints.xml"
    dyn = kc.compile(kc.Model.from_mjcf(path), cc="none")
    x = recorded("joints")["states"][0]["x"]
    same = kc.Model.from_mjcf(path.read_text(encoding="utf-8"))
    np.testing.assert_array_equal(kc.compile(same, cc="none").rhs(0.0, x), dyn.rhs(0.0, x))
    assert mujoco.__version__
    with pytest.raises(kc.ModelError, match="MuJoCo refuses the text"):
        kc.Model.from_mjcf("<mujoco><worldbody><nothing/></worldbody></mujoco>")


def test_numbers_that_people_identify() -> None:
    """Parameters of joints and actuators, at other values, are the same model with these numbers."""
    named = model("stops", parameters=True, friction=0.01)
    servo, pace, brake, motor = range(2, 6)
    joints = {"dof_armature": (6, 0.5), "dof_frictionloss": (6, 0.6), "jnt_stiffness": (1, 0.7)}
    damping, gain, bias = {"dof_damping": ([6, 9], [0.8, 2.0])}, (0, 0, 2, 0), (1, 2, 2)
    gains = {"actuator_gainprm": (([servo, pace, brake, motor], gain), [9.0, 8.0, -7.0, 6.0])}
    biases = {"actuator_biasprm": (([servo, servo, pace], bias), [-9.0, -5.0, -8.0])}
    described = kc.Model.from_mjcf(compiled_model("stops", **joints, **damping, **gains, **biases), friction=0.01)
    other = kc.compile(described, cc="none")
    values = {"armature_hip": 0.5, "frictionloss_hip": 0.6, "stiffness_hip": 0.7, "damping_hip": 0.8}
    values |= {"damping_ankle_ry": 2.0, "kp_servo": 9.0, "kv_servo": 5.0, "kv_pace": 8.0, "kv_brake": 7.0}
    values["gain_motor"] = 6.0
    x, r = recorded("stops")["states"][0]["x"], [0.1, -0.2, 0.3, 0.4, 0.5, 0.6]
    start = named.udot(0.0, x, r=r)
    np.testing.assert_allclose(named.udot(0.0, x, r=r, p=values), other.udot(0.0, x, r=r), rtol=1e-11, atol=1e-10)
    for name, value in values.items():
        assert np.max(np.abs(named.udot(0.0, x, r=r, p={name: value}) - start)) > 1e-2, name


def test_limits_are_springs() -> None:
    """By the laws of MuJoCo's reference acceleration, with its inertias, which the recording holds."""
    free, held = model("stops"), model("stops", limits="spring")
    inside = free.state(q_knee=0.05)
    assert np.array_equal(free.forcing(0.0, inside), held.forcing(0.0, inside))
    assert np.isfinite(held.linearize(0.0, inside)[0]).all()  # also where the ball is not turned
    x = free.state({"q_hip": -0.5, "q_knee": -0.01, "q_lever": -0.9, "q_root_e0": 1.0, "u_hip": 0.1, "u_lever": 1.0})
    q, u = slice(9, 13), slice(22, 25)
    x[q] = [math.cos(0.4), 0.6 * math.sin(0.4), 0.8 * math.sin(0.4), 0.0]
    x[u] = [1.0, 0.5, 2.0]
    numbers = recorded("stops")["model"]
    m = 1.0 / np.array([*(numbers["dof_invweight0"][i] for i in (6, 7, 8)), *numbers["tendon_invweight0"]])
    k, b = 1.0 / (0.95 * 0.02**2), 2.0 / (0.95 * 0.02)
    hip = m[0] * (k * 0.1 - b * 0.1)
    knee = m[1] * (900 / 0.95 * 0.03)
    ankle = -m[2] * (k * 0.3 + b * (0.6 + 0.8 * 0.5)) * np.array([0.6, 0.8, 0.0])
    strap = m[3] * (k * 0.68 - b * (0.05 + 0.7))
    expected = [hip + 0.5 * strap, knee, *ankle, 0.7 * strap]
    np.testing.assert_allclose(held.forcing(0.0, x)[6:] - free.forcing(0.0, x)[6:], expected, rtol=1e-10)
    x[[20, 25]] = 100.0  # hip and lever come back so fast that nothing pulls them
    assert np.allclose(held.forcing(0.0, x)[[6, 11]], free.forcing(0.0, x)[[6, 11]])


def test_geoms_touch_the_ground_of_the_file() -> None:
    with pytest.warns(kc.KanecoreWarning, match=r"geoms that touch nothing, .*: badge"):
        described = kc.Model.from_mjcf(compiled_model("stops"), contacts="collision")
    points = [p.name for p in described.description.points if p.name.endswith(" contact")]
    assert points == [
        "belly contact",
        *(f"thigh_{i} contact" for i in (0, 1)),
        *(f"sole_{i} contact" for i in range(8)),
    ]
    normal = np.array([math.sin(0.1), 0.0, math.cos(0.1)])
    alone = kc.compile(kc.Model.from_mjcf(compiled_model("stops"), contacts={"belly": {}}), cc="none")
    x = alone.state()
    x[:3] = np.array([0.0, 0.0, -0.5]) + 0.149 * normal  # the sphere with radius 0.15 is 1 mm deep
    push = alone.forcing(0.0, x) - model("stops").forcing(0.0, x)
    weight = 9.81 * (4 + 0.8 + 0.5 + 0.2 + 0.6)
    np.testing.assert_allclose(push[:3], weight * normal, rtol=1e-9)
    np.testing.assert_allclose(push[3:], 0.0, atol=1e-9)
    slid = x.copy()
    slid[14:17] = np.array([0.0, 5.0, 0.0])
    push = alone.forcing(0.0, slid) - model("stops").forcing(0.0, slid)
    np.testing.assert_allclose(push[1], -0.6 * weight, rtol=1e-6)  # friction of the file, the larger one


@pytest.mark.parametrize(
    ("contacts", "message"),
    [
        ({"bely": {}}, "contacts: no moving geom is called 'bely'; did you mean 'belly'"),
        ({"ground": {}}, "contacts: no moving geom is called 'ground'"),
        ({"badge": {}}, "geom 'badge' is neither a sphere"),
        ({"belly": {"radius": 0.1}}, r"contacts\['belly'\] has a radius, and the geom has its own"),
        ({"belly": 3}, r"contacts\['belly'\] is 3; write numbers"),
        ({"collision": {"nu": 3}}, "no number is called 'nu'"),
        ("all", "contacts is 'all'; write"),
    ],
)
def test_contacts_that_are_not_possible(contacts: Any, message: str) -> None:
    with pytest.raises(kc.ModelError, match=message):
        kc.Model.from_mjcf(compiled_model("stops"), contacts=contacts)


def test_keyframes_are_states() -> None:
    described = kc.Model.from_mjcf(compiled_model("stops"))
    assert list(described.keyframes) == ["qpos0", "crouch", "keyframe1"]
    crouch = described.keyframes["crouch"]
    dyn = model("stops")
    expected = {"q_root_z": 0.4, "q_root_e0": 1.0, "q_hip": -0.2, "q_knee": 0.05, "q_ankle_e0": 1.0, "q_lever": 0.3}
    np.testing.assert_array_equal(crouch.x, dyn.state({**expected, "u_hip": 1.0}))
    np.testing.assert_array_equal(crouch.r, [0.1, 0.0, -0.2, 0.0, 0.5, 1.0])
    torques = kc.Model.from_mjcf(compiled_model("forces"), actuators=False)
    start = torques.keyframes["qpos0"]
    assert (start.x.shape, start.r.shape) == ((torques.n_x,), (torques.n_r,))
    np.testing.assert_allclose(described.keyframes["qpos0"].x[:4], [0.3, 0.2, 1.0, 0.9 / math.sqrt(0.87)])
    assert dict(model("joints").model.keyframes).keys() == {"qpos0"}
