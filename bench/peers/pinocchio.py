# SPDX-License-Identifier: BSD-3-Clause
"""Pinocchio: articulated bodies, from Python, and in C++ where a compiler finds the headers of its wheel."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import models
import numpy as np
import pinocchio as pin
import shared
import sides
from recursions import Robot
from sides import Arrays, Side
from slopes import Work
from tasks import Task

CONVENTIONS = ("local", "world")
# What Pinocchio's own build sets: more joints than a list of Boost's holds by itself.
FLAGS = (
    *shared.FLAGS,
    *("-std=c++17", "-DNDEBUG", "-w", "-s", "-DBOOST_FUSION_INVOKE_MAX_ARITY=10"),
    *("-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_MPL_LIMIT_LIST_SIZE=30"),
)


def _robot(mechanism: models.Mechanism) -> Robot | None:
    return mechanism.robot(lambda _, number: float(number)) if mechanism.robot else None


def model(robot: Robot) -> pin.Model:
    """The robot as its user would build it."""
    made = pin.Model()
    made.gravity.linear = np.array(robot.gravity)
    revolute = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
    prismatic = (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ)
    root = 0
    if robot.base:
        mass, centre, inertia = robot.base
        root = made.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
        made.appendBodyToJoint(root, pin.Inertia(mass, np.array(centre), np.array(inertia)), pin.SE3.Identity())
    numbers: list[int] = []
    for i, body in enumerate(robot.bodies):
        joint = (revolute if body.turns else prismatic)[body.axis]()
        place = pin.SE3(np.array(body.seat), np.array(body.offset))
        numbers.append(made.addJoint(root if body.parent < 0 else numbers[body.parent], joint, place, f"joint{i}"))
        inertia = pin.Inertia(body.mass, np.array(body.centre), np.array(body.inertia))
        made.appendBodyToJoint(numbers[-1], inertia, pin.SE3.Identity())
    return made


def _flat(robot: Robot) -> np.ndarray:
    """The robot as pinocchio.cpp reads it."""
    identity, shift = np.eye(3).ravel(), int(robot.base is not None)
    rows = []
    if robot.base:
        mass, centre, inertia = robot.base
        rows.append([-1, 2, 0, 0, 0, 0, *identity, mass, *centre, *np.ravel(inertia)])
    for body in robot.bodies:
        joint = [body.parent + shift, 0 if body.turns else 1, body.axis]
        place = [*body.offset, *np.ravel(body.seat)]
        rows.append([*joint, *place, body.mass, *body.centre, *np.ravel(body.inertia)])
    return np.array([*robot.gravity, len(rows), *np.ravel(rows)], dtype=float)


class Layout:
    """Its coordinates, speeds and efforts: the scalar of a free body's quaternion is the last one there."""

    def __init__(self, task: Task, robot: Robot) -> None:
        self.tau = np.array(task.efforts(task.r))
        self.q, self.v = task.split(task.joint_x)
        if robot.base:
            self.q[:, 3:7] = np.roll(self.q[:, 3:7], -1, axis=1)

    @property
    def x(self) -> np.ndarray:
        return np.hstack([self.q, self.v])


def in_c(task: Task) -> list[Side]:
    """C++ by its headers; nothing where they or Eigen's are not offered."""
    robot, offered = _robot(task.mechanism), []
    if robot is None:
        return []
    layout = Layout(task, robot)
    arrays = Arrays(layout.x, layout.tau, np.zeros(1), (layout.v.shape[1],))
    for compiler, loaded in _libraries(robot).items():
        for convention in CONVENTIONS:
            address = [_address(loaded, f"aba_{convention}")]
            side = sides.in_c(f"pinocchio aba {convention}, C++", address, arrays, compiler=compiler)
            offered.append(replace(side, result=task.from_joints(side.result)))
    return offered


def _libraries(robot: Robot) -> dict[str, ctypes.CDLL]:
    """The C++ by compiler, with a model of its own each."""
    include, loaded = _include(), {}
    if not include:
        return {}
    text, description = Path(__file__).with_suffix(".cpp").read_text(encoding="utf-8"), _flat(robot)
    for compiler in shared.compilers("c++"):
        library = shared.library(text, compiler, (*FLAGS, *include), language="c++")
        (loaded[compiler],) = shared.copies(library, 1)
        loaded[compiler].build(description.ctypes.data_as(ctypes.c_void_p))
    return loaded


def _address(loaded: ctypes.CDLL, symbol: str) -> int:
    return ctypes.cast(getattr(loaded, symbol), ctypes.c_void_p).value or 0


control = in_c


def _include() -> list[str]:
    """Flags for the headers of its wheel, and for Eigen's, which CasADi's wheel brings where the system has none."""
    spec = find_spec("pinocchio")
    prefix = next(parent for parent in Path(spec.origin).parents if parent.name.startswith(("cmeel", "lib")))
    prefix = prefix if prefix.name.startswith("cmeel") else prefix.parent
    eigen = [prefix / "include" / "eigen3", Path("/usr/include/eigen3")]
    if casadi := find_spec("casadi"):
        eigen.append(Path(casadi.origin).parent / "include" / "eigen3")
    there = [path for path in eigen if (path / "Eigen" / "Core").is_file()]
    if not there or not (prefix / "include" / "pinocchio").is_dir():
        return []
    return ["-isystem", str(prefix / "include"), "-isystem", str(there[0])]


def in_python(task: Task) -> list[Side]:
    """Its aba, in the default convention."""
    robot = _robot(task.mechanism)
    if robot is None:
        return []
    layout, made = Layout(task, robot), model(robot)
    names = {"aba": pin.aba, "model": made, "data": made.createData(), "tau": layout.tau}
    states = list(zip(layout.q, layout.v, strict=True))
    result = task.from_joints(np.array([pin.aba(made, names["data"], q, v, layout.tau).copy() for q, v in states]))
    facts = {"result": result}
    return [sides.in_python("pinocchio aba", "aba(model, data, x[0], x[1], tau)", states, names, **facts)]


CALLS = {"linearize": "computeABADerivatives", "mass_matrix_inverse": "computeMinverse"}


def derivatives(work: Work) -> list[Side]:
    """Pinocchio's derivatives of u̇ by q, v and τ, or the triangle of M⁻¹ that it fills; it has no products."""
    task, robot = work.task, _robot(work.task.mechanism)
    if robot is None or work.kernel not in CALLS:
        return []
    layout, made = Layout(task, robot), model(robot)
    data = made.createData()

    def slopes(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        pin.computeABADerivatives(made, data, q, v, layout.tau)
        return np.hstack([data.ddq_dq, data.ddq_dv])

    def inverse(q: np.ndarray, _: np.ndarray) -> np.ndarray:
        upper = np.triu(pin.computeMinverse(made, data, q))
        return upper + upper.T - np.diag(upper.diagonal())

    find: Callable[[np.ndarray, np.ndarray], np.ndarray] = slopes if work.kernel == "linearize" else inverse
    states, call = list(zip(layout.q, layout.v, strict=True)), CALLS[work.kernel]
    result = np.array([find(q, v) for q, v in states])
    names = {"f": getattr(pin, call), "model": made, "data": data, "tau": layout.tau}
    statement = "f(model, data, x[0], x[1], tau)" if work.kernel == "linearize" else "f(model, data, x[0])"
    return [sides.in_python(f"pinocchio {call}", statement, states, names, result=result)]


def derivatives_in_c(work: Work) -> list[Side]:
    """Derivatives and M⁻¹ in C++; checked by copies, which are not timed."""
    task, robot = work.task, _robot(work.task.mechanism)
    if robot is None or work.kernel not in CALLS:
        return []
    layout, offered, n = Layout(task, robot), [], task.dyn.n_u
    shape = (n, 2 * n if work.kernel == "linearize" else n)
    arrays, name = Arrays(layout.x, layout.tau, np.zeros(1), shape), f"pinocchio {CALLS[work.kernel]}, C++"
    for compiler, loaded in _libraries(robot).items():
        copied = sides.in_c(name, [_address(loaded, f"{work.kernel}_copied")], arrays).result
        side = sides.in_c(name, [_address(loaded, work.kernel)], arrays, compiler=compiler)
        offered.append(replace(side, result=copied))
    return offered


def derivatives_in_batch(work: Work) -> list[Side]:
    """A loop over the states, as Pinocchio has no batches on one thread."""
    offered = []
    for side in derivatives_in_c(work):
        result = np.tile(side.result, (len(work.rows) // len(side.result), 1, 1))
        offered.append(replace(side, name=side.name.replace(" ", " loop over ", 1), result=result))
    return offered


def batch(task: Any) -> list[Side]:
    """Nothing of its own on one thread but a loop: in C++ where there is one."""
    offered = []
    for side in in_c(task):
        offered.append(
            replace(side, name=side.name.replace("aba", "loop over aba"), result=np.tile(side.result, (64, 1)))
        )
    return offered


def integrate(problem: Any) -> list[Any]:
    """Its aba in SciPy's integrator."""
    robot = _robot(problem.task.mechanism)
    if robot is None or robot.base or problem.task.mechanism.to_joints is not None:
        return []
    made = model(robot)
    data, n, tau = made.createData(), made.nv, np.array(problem.task.efforts(problem.task.r))

    def rhs(t: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[n:], pin.aba(made, data, x[:n], x[n:], tau)])

    return [("pinocchio + scipy DOP853", lambda: problem.by_scipy(rhs))]
