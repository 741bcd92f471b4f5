# SPDX-License-Identifier: BSD-3-Clause
"""Model.from_mjcf: M, forces, accelerations, activations and lengths are MuJoCo's; what is not read is refused by name.

``tests/mujoco_models`` has what MuJoCo 4.0.0 made of four files, and its results at five states.
"""

import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kanecore as kc

FOLDER = Path(__file__).parent / "mujoco_models"
NAMES = ["branches", "equality", "forces", "joints"]


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
