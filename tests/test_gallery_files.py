# SPDX-License-Identifier: BSD-3-Clause
"""Robots of the gallery that are read from files: beside Pinocchio, and that all of their kernels are there."""

import pickle
import shutil
import xml.etree.ElementTree as ET
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from gallery_states import loaded
from oracle.compare import read_reference, relative_error
from sweep import every, part

import kanecore as kc
from kanecore import gallery
from kanecore.build import compile_library
from kanecore.emit.kernel_groups import emit_some
from kanecore.prebuilt import libraries

Array = npt.NDArray[np.float64]

REFERENCE: dict[str, dict[str, Any]] = read_reference("pinocchio/gallery_robots")
FOLLOWERS = {"panda_finger_joint2": "panda_finger_joint1"}  # that turn or slide as far as the other
TOLERANCE = 1e-12


def test_robots_are_those_with_files() -> None:
    assert gallery.robots() == sorted([*REFERENCE, "cheetah"])  # which Pinocchio does not read
    assert set(gallery.robots()) < set(kc.models())


@pytest.mark.parametrize("name", gallery.robots())
def test_file_says_where_it_is_from(name: str) -> None:
    """Source, licence and what was changed stand at its head; the licence beside it."""
    file = kc.gallery.robot_file(name)
    head = file.read_text(encoding="utf-8").split("-->")[0]
    for word in ("Source: https://github.com/", "Copyright", "Licence: ", "Changed for kanecore: ", f"LICENSE.{name}"):
        assert word in head
    text = file.with_name(f"LICENSE.{name}").read_text(encoding="utf-8")
    assert ("Apache License" if "Apache-2.0" in head else "Redistribution and use in source and binary forms") in text
    used = {element.tag for element in ET.parse(file).iter()}
    assert not used & {"mesh", "collision", "material", "gazebo", "transmission", "asset", "camera", "light", "include"}


def test_unknown_robot() -> None:
    with pytest.raises(KeyError, match="no robot of the gallery is called 'anymal'; did you mean 'anymal_c'"):
        gallery.robot_file("anymal")


# ------------------------------------------------------------------------------------------------ beside Pinocchio
def state(name: str, reference: dict[str, Any]) -> tuple[Array, Array, list[str], Array]:
    """x, r, the names of our speeds in Pinocchio's order, and S: its velocities are S times ours."""
    dyn, joints = loaded(name), REFERENCE[name]["joints"]
    own = [joint for joint in joints if joint not in FOLLOWERS]
    S = np.zeros((len(joints), len(own)))
    for i, joint in enumerate(joints):
        S[i, own.index(FOLLOWERS.get(joint, joint))] = 1.0
    v, tau = (dict(zip(joints, reference[key], strict=True)) for key in ("v", "tau"))
    q = {coordinate: value for coordinate, value in reference["q"].items() if coordinate[2:] not in FOLLOWERS}
    x = np.asarray(dyn.state(q | {f"u_{joint}": v[joint] for joint in own}))
    r = np.array([tau[each.removeprefix("tau_")] for each in dyn.input_names])
    return x, r, [f"u_{joint}" for joint in own], S


@pytest.mark.parametrize("name", part(REFERENCE, ["panda"]))
def test_equations_of_motion(name: str) -> None:
    """M and nonlinear effects in the speeds that are independent; u̇ by Pinocchio's ABA where all are; places."""
    dyn = loaded(name)
    for reference in REFERENCE[name]["states"]:
        x, r, speeds, S = state(name, reference)
        order = [dyn.speed_names.index(speed) for speed in speeds]
        lower = np.array([[*row, *[0.0] * (len(S) - len(row))] for row in reference["M"]])
        M = S.T @ (np.tril(lower) + np.tril(lower, -1).T) @ S
        bias = S.T @ np.array(reference["nle"])
        assert relative_error(np.asarray(dyn.mass_matrix(0.0, x))[np.ix_(order, order)], M) < TOLERANCE
        assert relative_error(-np.asarray(dyn.forcing(0.0, x, r=np.zeros(dyn.n_r)))[order], bias) < TOLERANCE
        alone = S.shape[0] == S.shape[1]
        expected = reference["vdot"] if alone else np.linalg.solve(M, S.T @ np.array(reference["tau"]) - bias)
        assert relative_error(np.asarray(dyn.udot(0.0, x, r=r))[order], expected) < 1e-10
        for link, place in reference["links"].items():
            assert np.max(np.abs(dyn.position(link, 0.0, x) - place["position"])) < TOLERANCE
            assert np.max(np.abs(dyn.orientation(link, 0.0, x) - place["orientation"])) < TOLERANCE


FEET = {
    "anymal_c": {f"{leg}_FOOT": (0.0, 0.0, 0.0225) for leg in ("LF", "RF", "LH", "RH")},
    "g1": {f"{side}_ankle_roll_link": (0.0, 0.0, -0.03) for side in ("left", "right")},
}


@pytest.mark.long
@pytest.mark.parametrize(("name", "soles"), every(2, FEET.items()))
def test_state_stands_on_the_ground(name: str, soles: dict[str, tuple[float, float, float]]) -> None:
    """The spheres of the feet, whose centres these are, touch z = 0."""
    dyn = loaded(name)
    x = dyn.state(import_module(f"kanecore.gallery.{name}").STATE)
    tree = ET.parse(gallery.robot_file(name)).getroot()
    for link, centre in soles.items():
        [spheres] = [each.findall("visual//sphere") for each in tree.findall("link") if each.get("name") == link]
        height = dyn.position(link, 0.0, x) + dyn.orientation(link, 0.0, x) @ centre
        assert height[2] == pytest.approx(float(spheres[0].attrib["radius"]), abs=1e-4)


# ------------------------------------------------------------------------------------------- groups of kernels
@pytest.fixture
def prebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> kc.CompiledModel:
    """The panda as a wheel brings it: some groups of its kernels in one library."""
    module = import_module("kanecore.gallery.panda")
    text = emit_some(module.build().description, module.PARAMETERS, gallery.PREBUILT_OF_ROBOTS).text
    [*_, library] = libraries(tmp_path, "panda").values()
    shutil.copy(compile_library(text, name="panda").path, library)
    (tmp_path / "panda.c").write_text(text, encoding="utf-8")
    monkeypatch.setattr(gallery, "_FOLDER", tmp_path)
    return kc.load("panda")


@pytest.mark.compiler
@pytest.mark.long
def test_further_groups_go_with_the_prebuilt_ones(prebuilt: kc.CompiledModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those compiled at their first call give the bits of a model that was made as a whole; without a compiler the
    error says how to have it all, and what is prebuilt runs, also in batches."""
    module, dyn = import_module("kanecore.gallery.panda"), prebuilt
    assert dyn.info["kernels"] == list(gallery.PREBUILT_OF_ROBOTS)
    whole = kc.compile(module.build(), parameters=module.PARAMETERS, cc="none")
    x, r = dyn.state(module.STATE), np.linspace(-1.0, 1.0, dyn.n_r)
    x[dyn.n_q :] = np.linspace(-0.5, 0.7, dyn.n_u)
    assert dict(dyn.parameters) == module.PARAMETERS
    with monkeypatch.context() as patch:
        patch.setenv("CC", "none")
        with pytest.raises(kc.CompileError, match=r"'linearize' of 'panda' is compiled when .* no C compiler") as e:
            dyn.linearize(0.0, x)
        assert 'kanecore.compile(kanecore.gallery.panda.build(), cc="none")' in str(e.value)
        assert dyn.udot(0.0, [x] * 300, r=r).shape == (300, dyn.n_u)
    for given in ({}, {key: 1.1 * value for key, value in module.PARAMETERS.items()}):
        for kernel in ("udot", "inverse_dynamics", "momenta", "regressor"):
            arguments = [np.linspace(-1.0, 1.0, dyn.n_u)] if kernel in ("inverse_dynamics", "regressor") else []
            found, expected = (getattr(d, kernel)(0.0, x, *arguments, r=r, p=given) for d in (dyn, whole))
            assert relative_error(found, expected) < 1e-14, kernel
    assert set(dyn.info["kernels"]) == {*gallery.PREBUILT_OF_ROBOTS, "derivatives"}
    assert np.array_equal(pickle.loads(pickle.dumps(dyn)).udot(0.0, x, r=r), dyn.udot(0.0, x, r=r))


@pytest.mark.compiler
@pytest.mark.long
def test_batches_of_a_robot(prebuilt: kc.CompiledModel) -> None:
    """Several states at once are compiled when the first large batch comes, with the bits of each alone."""
    dyn, rng = prebuilt, np.random.default_rng(0)
    x, r = rng.uniform(-1.0, 1.0, (300, dyn.n_x)), np.zeros(dyn.n_r)
    assert not dyn.kernels.lanes[0]
    batch = dyn.udot(0.0, x, r=r)
    assert "udot" in dyn.kernels.lanes[0]
    assert np.array_equal(batch[::50], [dyn.udot(0.0, each, r=r) for each in x[::50]])
