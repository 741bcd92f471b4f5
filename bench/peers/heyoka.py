# SPDX-License-Identifier: BSD-3-Clause
"""heyoka: the recursive algorithms in its expressions, compiled by LLVM, and Taylor integration."""

from __future__ import annotations

from functools import cache
from typing import Any

import heyoka as hy
import models
import numpy as np
import sides
from recursions import Functions, articulated, composite
from sides import Side
from tasks import Task

FORMS = {"composite": composite, "articulated": articulated}
LARGEST = 10  # bodies: beyond, LLVM takes minutes
LARGEST_UNROLLED = 6  # the same of the steps of its integrator without loops


def _has_words(mechanism: models.Mechanism) -> bool:
    robot = mechanism.robot(lambda _, number: float(number)) if mechanism.robot else None
    return robot is not None and robot.base is None and len(robot.bodies) <= LARGEST


def _accelerations(task: Task, form: str, r: Any, value: Any) -> tuple[list[Any], list[Any]]:
    """Coordinates and speeds of the joints; their accelerations under inputs r."""
    robot = task.mechanism.robot(value)
    n = len(robot.bodies)
    x = list(hy.make_vars(*(f"q{i}" for i in range(n)), *(f"u{i}" for i in range(n))))
    udot = FORMS[form](robot, x[:n], x[n:], task.efforts(r), Functions(hy.sin, hy.cos))
    return x, udot


@cache
def compiled(task: Task, form: str) -> Any:
    """u̇ of x, and of r and the parameters at run time, its "pars"; over many states in vectors of the processor."""
    names = ["" for _ in task.r] + ([] if task.numbers else task.mechanism.symbols())
    pars = {name: hy.par[i] for i, name in enumerate(names)}
    r = [hy.par[i] for i in range(len(task.r))]
    x, udot = _accelerations(task, form, r, lambda name, number: pars.get(name, float(number)))
    return hy.cfunc(udot, vars=x, compact_mode=False)


def in_python(task: Task) -> list[Side]:
    """Its compiled function, one state a call."""
    if not _has_words(task.mechanism):
        return []
    offered, pars = [], np.concatenate([task.r, task.parameters])
    for form in FORMS:
        names = {"f": compiled(task, form), "pars": pars, "out": np.zeros(task.dyn.n_u)}
        result = task.from_joints(np.array([names["f"](x, pars=pars) for x in task.joint_x]))
        statement = "f(x, pars=pars, outputs=out)"
        offered.append(sides.in_python("heyoka cfunc", statement, list(task.joint_x), names, result=result))
    return offered


def batch(task: Task) -> list[Side]:
    """The same, many states a call; states are its columns."""
    if not _has_words(task.mechanism):
        return []
    x = np.ascontiguousarray(task.joint_rows.T)
    pars = np.repeat(np.concatenate([task.r, task.parameters])[:, None], x.shape[1], axis=1)
    offered = []
    for form in FORMS:
        names = {"f": compiled(task, form), "pars": pars, "out": np.zeros((task.dyn.n_u, x.shape[1]))}
        result = task.from_joints(names["f"](x, pars=pars).T)
        offered.append(sides.rowwise("heyoka cfunc", "f(x, pars=pars, outputs=out)", x, names, result=result))
    return offered


def integrate(problem: Any) -> list[Any]:
    """Taylor's method, at ours and at its default tolerance, compiled in both of its ways."""
    task = problem.task
    if not _has_words(task.mechanism) or task.mechanism.to_joints is not None:
        return []
    r, value = [float(r) for r in task.r], lambda _, number: float(number)
    systems = {}
    for form in FORMS:
        x, udot = _accelerations(task, form, r, value)
        systems[form] = list(zip(x, [*x[len(udot) :], *udot], strict=True))

    def side(form: str, tolerance: float, compact: bool) -> Any:
        integrator = hy.taylor_adaptive(systems[form], list(problem.x0), tol=tolerance, compact_mode=compact)

        def run() -> np.ndarray:
            integrator.time = 0.0
            integrator.state[:] = problem.x0
            integrator.propagate_until(problem.end)
            return integrator.state.copy()

        return run

    offered = []
    for tolerance in (problem.tolerance, 1e-15):
        offered.append((f"heyoka taylor {tolerance:.0e}", side("articulated", tolerance, True)))
        if tolerance == problem.tolerance and len(task.mechanism.robot(value).bodies) <= LARGEST_UNROLLED:
            offered += [
                (f"heyoka taylor {tolerance:.0e}, unrolled {form}", side(form, tolerance, False)) for form in FORMS
            ]
    return offered
