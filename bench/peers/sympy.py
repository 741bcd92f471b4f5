# SPDX-License-Identifier: BSD-3-Clause
"""SymPy alone: KanesMethod from the same objects, and lambdify with common subexpressions."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import models
import numpy as np
import sides
import sympy as sm
import sympy.physics.mechanics as me
from sides import Side
from tasks import Task

# Others take its derivation minutes, or have no arguments of KanesMethod.
KNOWN = {"rrp", "arm7", "rolling_disc", "whipple_bicycle", "four_bar", "cart 5 relative", "cart 5 absolute"}


class KaneResult(NamedTuple):
    """Results of SymPy's KanesMethod: its time, its operations after cse, M and f at one state."""

    seconds: float
    operations: int
    mass_matrix: np.ndarray
    forcing: np.ndarray


def kanes_method(objects: Mapping[str, Any], values: Mapping[Any, float]) -> KaneResult:
    """M and f by SymPy alone, from the same objects; ``values`` by symbol, for the comparison.

    The time is that of ``kanes_equations``, ``mass_matrix`` and ``forcing``: neither cse nor C text.
    """
    start = time.perf_counter()
    method = _method(objects)
    matrices = [method.mass_matrix, method.forcing]
    took = time.perf_counter() - start

    shared: tuple[Sequence[Any], Sequence[Any]] = sm.cse(matrices)
    count = int(sum(sm.count_ops(e) for _, e in shared[0]) + sum(sm.count_ops(m) for m in shared[1]))
    function = sm.lambdify(list(values), matrices, cse=lambda _: shared, dummify=True)
    mass_matrix, forcing = function(*values.values())
    return KaneResult(took, count, np.asarray(mass_matrix, float), np.asarray(forcing, float).ravel())


def _method(objects: Mapping[str, Any]) -> me.KanesMethod:
    """Equations by KanesMethod; it wants the rates of the configuration constraints among those of velocities."""
    q = [*objects["q_ind"], *objects.get("q_dependent", ())]
    rates = sm.solve(list(objects["kd_eqs"]), [q_i.diff() for q_i in q])
    configuration = list(objects.get("configuration_constraints", ()))
    velocity = [*objects.get("velocity_constraints", ()), *(row.diff(me.dynamicsymbols._t) for row in configuration)]
    dependent = {
        "q_dependent": list(objects.get("q_dependent", ())),
        "configuration_constraints": configuration,
        "u_dependent": list(objects.get("u_dependent", ())),
        "velocity_constraints": [sm.sympify(row).subs(rates) for row in velocity],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a point has several paths, which agree
        arguments = [objects[name] for name in ("frame", "q_ind", "u_ind", "kd_eqs")]
        method = me.KanesMethod(*arguments, **{name: rows for name, rows in dependent.items() if rows})
        method.kanes_equations(list(objects["bodies"]), list(objects["forcelist"]))
    return method


class Kane(NamedTuple):
    """Equations of a mechanism and what they are functions of."""

    method: me.KanesMethod
    q: Sequence[Any]
    u: Sequence[Any]
    inputs: Sequence[Any]
    parameters: Sequence[Any]


@cache
def kane(mechanism: models.Mechanism) -> Kane:
    """Derived once, by SymPy."""
    objects = mechanism.describe()
    method = _method(objects)
    q = [*objects["q_ind"], *objects.get("q_dependent", ())]
    u = [*objects["u_ind"], *objects.get("u_dependent", ())]
    inputs = list(objects.get("inputs") or sorted(_functions(method) - {*q, *u}, key=str))
    return Kane(method, q, u, inputs, [sm.Symbol(name) for name in mechanism.parameters])


def _functions(method: me.KanesMethod) -> set[Any]:
    return me.find_dynamicsymbols(sm.Matrix([method.forcing])) - {u.diff() for u in method.u}


@cache
def accelerations(mechanism: models.Mechanism) -> Callable[..., np.ndarray]:
    """u̇ of (x, r, p), rows of states broadcast: M and f by lambdify, solved by NumPy."""
    k = kane(mechanism)
    arguments = [[*k.q, *k.u], k.inputs, k.parameters]
    n, entries = len(k.u), [*k.method.mass_matrix, *k.method.forcing]
    function = sm.lambdify(arguments, entries, cse=True, dummify=True)

    def udot(x: np.ndarray, r: np.ndarray, p: np.ndarray) -> np.ndarray:
        values = function(x.T, r, p)
        values = np.array(values) if x.ndim == 1 else np.array(np.broadcast_arrays(*values)).T
        m, f = values[..., : n * n].reshape(*x.shape[:-1], n, n), values[..., n * n :]
        return np.linalg.solve(m, f[..., None])[..., 0]

    return udot


def parameters(mechanism: models.Mechanism) -> np.ndarray:
    """In the order of :class:`Kane`."""
    return np.array(list(mechanism.parameters.values()))


def first(task: Task) -> list[tuple[str, Callable[[], np.ndarray]]]:
    """From nothing to the first number."""
    if task.mechanism.name not in KNOWN:
        return []

    def number() -> np.ndarray:
        kane.cache_clear()
        accelerations.cache_clear()
        return accelerations(task.mechanism)(task.x[0], task.r, parameters(task.mechanism))

    return [("sympy lambdify(cse)", number)]


def in_python(task: Task) -> list[Side]:
    """lambdify(cse=True) and NumPy's solver."""
    if task.mechanism.name not in KNOWN:
        return []
    names = {"f": accelerations(task.mechanism), "r": task.r, "p": parameters(task.mechanism)}
    result = np.array([names["f"](x, names["r"], names["p"]) for x in task.x])
    return [sides.in_python("sympy lambdify(cse)", "f(x, r, p)", list(task.x), names, result=result)]


def batch(task: Task) -> list[Side]:
    """The same over rows of states."""
    if task.mechanism.name not in KNOWN:
        return []
    names = {"f": accelerations(task.mechanism), "r": task.r, "p": parameters(task.mechanism)}
    result = names["f"](task.rows, names["r"], names["p"])
    return [sides.rowwise("sympy lambdify(cse)", "f(x, r, p)", task.rows, names, result=result)]
