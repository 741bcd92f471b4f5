# SPDX-License-Identifier: BSD-3-Clause
"""Robots of example-robot-data beside Pinocchio itself, where both are installed: a dozen by default, or all."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle.compare import relative_error
from sweep import part

import kanecore as kc

pin = pytest.importorskip("pinocchio", reason="compares with Pinocchio itself: pip install pin example-robot-data")

FOLDER = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
FILES = {path.stem: path for path in sorted(FOLDER.rglob("*.urdf"))}
if not FILES:
    pytest.skip("compares robots of a package: pip install example-robot-data", allow_module_level=True)

UNREADABLE = {"ur3"}  # holds no robot, and Pinocchio refuses it as well
SOME = [
    *("ur5_robot", "panda", "kinova", "double_pendulum_continuous", "allegro_right_hand", "solo12", "anymal", "iris"),
    *("hextilt_flying_arm_5", "tiago", "romeo", "simple_humanoid"),
]
TOLERANCE = 1e-10


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", part([name for name in FILES if name not in UNREADABLE], SOME))
def test_robot(name: str, floating: bool) -> None:
    """M, nonlinear effects, accelerations where M is regular, places of all links, the Jacobian of the last one.

    No joint follows another one.
    """
    root = [pin.JointModelFreeFlyer()] if floating else []
    theirs = pin.buildModelFromUrdf(str(FILES[name]), *root)
    if theirs.nv == 0:
        with pytest.raises(kc.ModelError, match="no joint moves a link: floating_base=True"):
            kc.Model.from_urdf(FILES[name])
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kc.KanecoreWarning)  # links without mass, inertias of no solid body
        dyn = kc.compile(kc.Model.from_urdf(FILES[name], floating_base=floating, mimic=False))
    data, rng = theirs.createData(), np.random.default_rng(0)
    for _ in range(10):
        q = pin.randomConfiguration(theirs, -np.ones(theirs.nq), np.ones(theirs.nq))
        v, tau = rng.uniform(-1, 1, (2, theirs.nv))
        if floating:
            tau[:6] = 0.0
        x = kc.robots.from_pinocchio(dyn, q, v, theirs)
        order = np.argsort(_order(dyn, theirs))
        mass = _symmetric(pin.crba(theirs, data, q))
        assert relative_error(np.asarray(dyn.mass_matrix(0.0, x)), mass[np.ix_(order, order)]) < TOLERANCE
        bias = pin.nonLinearEffects(theirs, data, q, v)[order]
        assert relative_error(-np.asarray(dyn.forcing(0.0, x, r=np.zeros(dyn.n_r))), bias) < TOLERANCE
        if np.linalg.cond(mass) < 1e10:
            efforts = dict(zip((speed.replace("u_", "tau_", 1) for speed in dyn.speed_names), tau[order], strict=True))
            r = np.array([efforts[name] for name in dyn.input_names])
            udot = pin.aba(theirs, data, q, v, tau)[order]
            assert relative_error(np.asarray(dyn.udot(0.0, x, r=r)), udot) < TOLERANCE
        _compare_frames(dyn, theirs, data, q, x, order)


def _order(dyn: kc.CompiledModel, theirs: Any) -> Any:
    """Which of our speeds each of Pinocchio's velocities is."""
    numbers = np.arange(1.0, theirs.nv + 1)
    ours = kc.robots.from_pinocchio(dyn, pin.neutral(theirs), numbers, theirs)[dyn.n_q :]
    return np.array([int(np.flatnonzero(ours == number)[0]) for number in numbers])


def _symmetric(upper: Any) -> Any:
    return np.triu(upper) + np.triu(upper, 1).T


def _compare_frames(dyn: kc.CompiledModel, theirs: Any, data: Any, q: Any, x: Any, order: Any) -> None:
    pin.framesForwardKinematics(theirs, data, q)
    pin.computeJointJacobians(theirs, data, q)
    positions, orientations = dyn.positions(0.0, x, named=True), dyn.orientations(0.0, x, named=True)
    links = [(i, frame.name) for i, frame in enumerate(theirs.frames) if frame.type == pin.FrameType.BODY]
    for i, link in links:
        if link != "universe":
            place = data.oMf[i]
            assert np.max(np.abs(positions[link] - place.translation)) < TOLERANCE
            assert np.max(np.abs(orientations[link] - place.rotation)) < TOLERANCE
    i, link = links[-1]
    jacobian = pin.getFrameJacobian(theirs, data, i, pin.LOCAL_WORLD_ALIGNED)[:, order]
    assert np.max(np.abs(np.asarray(dyn.jacobian(link, 0.0, x, attached=link)) - jacobian)) < TOLERANCE
