# SPDX-License-Identifier: BSD-3-Clause
"""MuJoCo: set q, v and forces, mj_forward, read the accelerations; contacts and its own constraints off."""

from __future__ import annotations

import ctypes
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import models
import mujoco
import mujoco.rollout
import numpy as np
import shared
import sides
from recursions import Body, Robot
from sides import Arrays, Side
from tasks import Task

LEAST_INERTIA = 1e-14  # of a particle: MuJoCo takes no less, and differs from the others by it


def mjcf(robot: Robot) -> str:
    """The robot as text."""
    gravity = " ".join(map(repr, robot.gravity))
    children: dict[int, list[int]] = {}
    for i, body in enumerate(robot.bodies):
        children.setdefault(body.parent, []).append(i)

    def written(i: int) -> str:
        body = robot.bodies[i]
        kind, axis = "hinge" if body.turns else "slide", " ".join(str(int(k == body.axis)) for k in range(3))
        inside = "".join(map(written, children.get(i, ())))
        joint = f'<joint name="j{i}" type="{kind}" axis="{axis}"/>'
        inertial = _inertia(body.mass, body.centre, body.inertia)
        return f'<body pos="{_numbers(body.offset)}" quat="{_quaternion(body)}">{inertial}{joint}{inside}</body>'

    inside = "".join(map(written, children[-1]))
    if robot.base:
        inside = f"<body>{_inertia(*robot.base)}<freejoint/>{inside}</body>"
    return (
        f'<mujoco><option gravity="{gravity}" timestep="0.001"><flag contact="disable" constraint="disable"/></option>'
        f"<worldbody>{inside}</worldbody></mujoco>"
    )


def _numbers(values: Any) -> str:
    return " ".join(repr(float(v)) for v in values)


def _quaternion(body: Body) -> str:
    out = np.zeros(4)
    mujoco.mju_mat2Quat(out, np.array(body.seat, dtype=float).ravel())
    return _numbers(out)


def _inertia(mass: float, centre: Any, inertia: Any) -> str:
    tensor = np.array(inertia, dtype=float)
    if not tensor.any():
        tensor = LEAST_INERTIA * np.eye(3)
    entries = [tensor[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    return f'<inertial pos="{_numbers(centre)}" mass="{mass!r}" fullinertia="{_numbers(entries)}"/>'


def _robot(mechanism: models.Mechanism) -> Robot | None:
    return mechanism.robot(lambda _, number: float(number)) if mechanism.robot else None


class Layout:
    """Its coordinates, speeds and forces, and ours: a free body's velocity is in inertial axes, ours in its own."""

    def __init__(self, task: Task, robot: Robot) -> None:
        self.task, self.free, self.efforts = task, robot.base is not None, np.array(task.efforts(task.r))
        self.q, self.v = task.split(task.joint_x)
        if self.free:
            self.velocity, self.spin = self.v[:, :3].copy(), self.v[:, 3:6]
            self.rotations = np.array([_matrix(e) for e in self.q[:, 3:7]])
            self.v[:, :3] = np.einsum("kij,kj->ki", self.rotations, self.velocity)

    def ours(self, udot: np.ndarray) -> np.ndarray:
        if self.free:
            own = np.einsum("kji,kj->ki", self.rotations, udot[:, :3]) - np.cross(self.spin, self.velocity)
            udot = np.hstack([own, udot[:, 3:]])
        return self.task.from_joints(udot)


def _matrix(quaternion: np.ndarray) -> np.ndarray:
    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, np.ascontiguousarray(quaternion))
    return out.reshape(3, 3)


def in_c(task: Task) -> list[Side]:
    """Its C interface."""
    robot, package = _robot(task.mechanism), Path(mujoco.__file__).parent
    if robot is None or not (package / "include").is_dir():
        return []
    (library,) = sorted(package.glob("libmujoco.so.*")) or [None]
    if library is None:
        return []
    text, compiler = Path(__file__).with_suffix(".c").read_text(encoding="utf-8"), next(iter(shared.compilers()))
    flags, libraries = (*shared.FLAGS, f"-I{package / 'include'}"), (str(library), f"-Wl,-rpath,{package}")
    (loaded,) = shared.copies(shared.library(text, compiler, flags, libraries=libraries), 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.xml")
        path.write_text(mjcf(robot), encoding="utf-8")
        mujoco.MjModel.from_xml_path(str(path))  # its errors come as exceptions
        loaded.build(ctypes.c_char_p(str(path).encode()))
    address = ctypes.cast(loaded.forward, ctypes.c_void_p).value or 0
    layout = Layout(task, robot)
    arrays = Arrays(np.hstack([layout.q, layout.v]), layout.efforts, np.zeros(1), (layout.v.shape[1],))
    side = sides.in_c("mujoco mj_forward", [address], arrays)
    return [replace(side, result=layout.ours(side.result))]


control = in_c


def in_python(task: Task) -> list[Side]:
    """Its Python package."""
    robot = _robot(task.mechanism)
    if robot is None:
        return []
    model = mujoco.MjModel.from_xml_string(mjcf(robot))
    data = mujoco.MjData(model)
    layout = Layout(task, robot)
    data.qfrc_applied[:] = layout.efforts
    states, result = list(zip(layout.q, layout.v, strict=True)), []
    for state in states:
        data.qpos[:], data.qvel[:] = state
        mujoco.mj_forward(model, data)
        result.append(data.qacc.copy())
    names = {"forward": mujoco.mj_forward, "m": model, "d": data, "q": data.qpos, "v": data.qvel}
    facts = {"result": layout.ours(np.array(result))}
    return [sides.in_python("mujoco mj_forward", "q[:], v[:] = x; forward(m, d)", states, names, **facts)]


def rollout(work: Any) -> list[Side]:
    """Its rollout by RK4, on one thread."""
    robot = _robot(work.task.mechanism)
    if robot is None:
        return []
    model = mujoco.MjModel.from_xml_string(mjcf(robot))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    layout = Layout(work.task, robot)
    if layout.free or work.task.mechanism.to_joints is not None:
        return []
    data, full = mujoco.MjData(model), mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.zeros((len(work.x0), mujoco.mj_stateSize(model, full)))
    start[:, 1 : 1 + work.x0.shape[1]] = work.x0  # behind the time
    given = {
        "control": np.tile(layout.efforts, (len(start), 1, 1)),
        "control_spec": mujoco.mjtState.mjSTATE_QFRC_APPLIED,
        "nstep": work.steps,
        "state": np.empty((len(start), work.steps, start.shape[1])),
    }

    def run() -> np.ndarray:
        return np.asarray(mujoco.rollout.rollout(model, data, start, **given)[0])

    return [work.side("mujoco rollout", run, run()[:, -1, 1 : 1 + work.x0.shape[1]])]


def loops(work: Any) -> list[Side]:
    """Its steps, with its default integrator."""
    model = mujoco.MjModel.from_xml_string(work.mjcf)
    model.opt.timestep = work.step
    data = mujoco.MjData(model)

    def run() -> float:
        mujoco.mj_resetData(model, data)
        for _ in range(round(work.end / work.step)):
            mujoco.mj_step(model, data)
        return float(data.qpos[0])

    return [work.side("mujoco", run)]
