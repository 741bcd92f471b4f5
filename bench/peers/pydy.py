# SPDX-License-Identifier: BSD-3-Clause
"""PyDy: C through Cython from SymPy's equations, by each of its solvers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import models
import numpy as np
import sides
import sympy as sm
from pydy.codegen.ode_function_generators import generate_ode_function
from sides import Side
from tasks import Task

from peers.sympy import KNOWN, kane, parameters

SOLVERS = ("numpy", "sympy")


@cache
def rhs(mechanism: models.Mechanism, solver: str) -> Callable[..., np.ndarray]:
    """ẋ of (x, t, r, p), or of (x, t, p) where there are no inputs."""
    k = kane(mechanism)
    rates = k.method.kindiffdict()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return generate_ode_function(
            k.method.forcing,
            k.q,
            k.u,
            k.parameters,
            mass_matrix=k.method.mass_matrix,
            coordinate_derivatives=sm.Matrix([rates[q.diff()] for q in k.q]),
            specifieds=k.inputs or None,
            generator="cython",
            linear_sys_solver=solver,
            constants_arg_type="array",
            specifieds_arg_type="array" if k.inputs else None,
        )


def arguments(task: Task) -> tuple[Any, ...]:
    """The arguments behind x: t, r, p."""
    return (0.0, *([task.r] if len(task.r) else []), parameters(task.mechanism))


def first(task: Task) -> list[tuple[str, Callable[[], np.ndarray]]]:
    """From nothing to the first number."""
    if task.mechanism.name not in KNOWN:
        return []

    def number() -> np.ndarray:
        kane.cache_clear()
        rhs.cache_clear()
        return rhs(task.mechanism, "numpy")(task.x[0].copy(), *arguments(task))[task.dyn.n_q :]

    return [("pydy cython", number)]


def in_python(task: Task) -> list[Side]:
    """ẋ, of which u̇ is checked."""
    if task.mechanism.name not in KNOWN:
        return []
    offered = []
    for solver in SOLVERS:
        names = {"f": rhs(task.mechanism, solver), "a": arguments(task)}
        result = np.array([names["f"](x, *names["a"]).copy()[task.dyn.n_q :] for x in task.x])
        offered.append(sides.in_python(f"pydy rhs, {solver}", "f(x, *a)", list(task.x), names, result=result))
    return offered


def integrate(problem: Any) -> list[Any]:
    """Its rhs in SciPy's integrator, copied: each result of PyDy overwrites the one before."""
    if problem.task.mechanism.name not in KNOWN:
        return []
    f, a = rhs(problem.task.mechanism, "sympy"), arguments(problem.task)
    return [("pydy + scipy DOP853", lambda: problem.by_scipy(lambda t, x: f(x, *a).copy()))]
