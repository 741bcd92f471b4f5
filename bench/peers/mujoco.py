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
        return f'<body pos="{_numbers(body.offset)}" quat="{_quaternion(body)}">{_inertia(body)}{joint}{inside}</body>'

    return (
        f'<mujoco><option gravity="{gravity}" timestep="0.001"><flag contact="disable" constraint="disable"/></option>'
        f"<worldbody>{''.join(map(written, children[-1]))}</worldbody></mujoco>"
    )


def _numbers(values: Any) -> str:
    return " ".join(repr(float(v)) for v in values)


def _quaternion(body: Body) -> str:
    out = np.zeros(4)
    mujoco.mju_mat2Quat(out, np.array(body.seat, dtype=float).ravel())
    return _numbers(out)


def _inertia(body: Body) -> str:
    tensor = np.array(body.inertia, dtype=float)
    if not tensor.any():
        tensor = LEAST_INERTIA * np.eye(3)
    entries = [tensor[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    return f'<inertial pos="{_numbers(body.centre)}" mass="{body.mass!r}" fullinertia="{_numbers(entries)}"/>'


def _robot(mechanism: models.Mechanism) -> Robot | None:
    robot = mechanism.robot(lambda _, number: float(number)) if mechanism.robot else None
    return None if robot is None or robot.base else robot


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
    n = len(robot.bodies)
    side = sides.in_c(
        "mujoco mj_forward", [address], Arrays(task.joint_x, np.array(task.efforts(task.r)), np.zeros(1), (n,))
    )
    return [replace(side, result=task.from_joints(side.result))]


control = in_c


def in_python(task: Task) -> list[Side]:
    """Its Python package."""
    robot = _robot(task.mechanism)
    if robot is None:
        return []
    model = mujoco.MjModel.from_xml_string(mjcf(robot))
    data = mujoco.MjData(model)
    data.qfrc_applied[:] = task.efforts(task.r)
    states, result = [tuple(np.split(x, 2)) for x in task.joint_x], []
    for state in states:
        data.qpos[:], data.qvel[:] = state
        mujoco.mj_forward(model, data)
        result.append(data.qacc.copy())
    names = {"forward": mujoco.mj_forward, "m": model, "d": data, "q": data.qpos, "v": data.qvel}
    facts = {"result": task.from_joints(np.array(result))}
    return [sides.in_python("mujoco mj_forward", "q[:], v[:] = x; forward(m, d)", states, names, **facts)]
