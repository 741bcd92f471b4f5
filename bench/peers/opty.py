# SPDX-License-Identifier: BSD-3-Clause
"""opty: least squared inputs by backward Euler, from the equations of motion as SymPy expressions.

opty calls IPOPT by cyipopt, which has no wheels: IPOPT of CasADi's wheel stands in for it, by its C interface.
"""

from __future__ import annotations

import ctypes
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sm
import sympy.physics.mechanics as me

DOUBLES, INTEGERS = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int)
FAR = 2e19


class Problem:
    """As much of ``cyipopt.Problem`` as opty needs, with seconds in functions and in all, and iterations."""

    def __init__(
        self, n: int, m: int, lb: Any = None, ub: Any = None, cl: Any = None, cu: Any = None, **_: Any
    ) -> None:
        import casadi

        self.n, self.m, self.functions, self.seconds, self.iterations = n, m, 0.0, 0.0, 0
        library = ctypes.CDLL(str(Path(casadi.__file__).with_name("libipopt.so.3")))
        library.CreateIpoptProblem.restype = ctypes.c_void_p
        rows, columns = (np.asarray(each, np.intc) for each in self.jacobianstructure())
        array = np.ctypeslib.as_array

        def callback(numbers: list[Any], function: Callable[..., None]) -> Any:
            def call(*arguments: Any) -> bool:
                begin = time.process_time()
                function(*arguments)
                self.functions += time.process_time() - begin
                return True

            return ctypes.CFUNCTYPE(ctypes.c_bool, *numbers)(call)

        def structure_or_values(n: int, x: Any, new: bool, m: int, k: int, i: Any, j: Any, out: Any, user: Any) -> None:
            if out:
                array(out, (k,))[:] = self.jacobian(array(x, (n,)).copy())
            else:
                array(i, (k,))[:], array(j, (k,))[:] = rows, columns

        def cost(n: int, x: Any, new: bool, out: Any, user: Any) -> None:
            out[0] = self.objective(array(x, (n,)).copy())

        def slopes(n: int, x: Any, new: bool, out: Any, user: Any) -> None:
            array(out, (n,))[:] = self.gradient(array(x, (n,)).copy())

        def gaps(n: int, x: Any, new: bool, m: int, out: Any, user: Any) -> None:
            array(out, (m,))[:] = self.constraints(array(x, (n,)).copy())

        def count(mode: int, iteration: int, *_: Any) -> bool:
            self.iterations = iteration
            return True

        number, yes, user = ctypes.c_int, ctypes.c_bool, ctypes.c_void_p
        self.kept: list[Any] = [
            callback([number, DOUBLES, yes, DOUBLES, user], cost),
            callback([number, DOUBLES, yes, number, DOUBLES, user], gaps),
            callback([number, DOUBLES, yes, DOUBLES, user], slopes),
            callback([number, DOUBLES, yes, number, number, INTEGERS, INTEGERS, DOUBLES, user], structure_or_values),
            callback([number, DOUBLES, yes, ctypes.c_double, number, *[user] * 9], lambda *_: None),
            ctypes.CFUNCTYPE(yes, number, number, *[ctypes.c_double] * 8, number, user)(count),
        ]
        ends = [
            np.ascontiguousarray(np.clip(np.broadcast_to(far if given is None else given, k), -FAR, FAR), float)
            for given, k, far in ((lb, n, -FAR), (ub, n, FAR), (cl, m, 0.0), (cu, m, 0.0))
        ]
        low, high, least, most = (each.ctypes.data_as(DOUBLES) for each in ends)
        sizes = (number(len(rows)), number(0), number(0))
        self.problem = user(
            library.CreateIpoptProblem(number(n), low, high, number(m), least, most, *sizes, *self.kept[:5])
        )
        library.SetIntermediateCallback(self.problem, self.kept[5])
        self.library = library
        for name, value in {"hessian_approximation": "limited-memory", "print_level": 0, "sb": "yes"}.items():
            self.add_option(name, value)

    def add_option(self, name: str, value: Any) -> None:
        kind = {str: "Str", int: "Int", float: "Num"}[type(value)]
        given = value.encode() if kind == "Str" else ctypes.c_double(value) if kind == "Num" else value
        getattr(self.library, f"AddIpopt{kind}Option")(self.problem, name.encode(), given)

    def solve(self, x: Any, **_: Any) -> tuple[Any, dict[str, Any]]:
        x, cost, self.functions = np.array(x, float), ctypes.c_double(), 0.0
        begin = time.process_time()
        rest = [ctypes.c_void_p()] * 4
        status = self.library.IpoptSolve(
            self.problem, x.ctypes.data_as(DOUBLES), rest[0], ctypes.byref(cost), *rest[:3], None
        )
        self.seconds = time.process_time() - begin
        return x, {"obj_val": cost.value, "status": status}


def stand_in_for_cyipopt() -> None:
    """Let opty import `Problem` as cyipopt's, where cyipopt is not installed."""
    stand_in = types.ModuleType("cyipopt")
    stand_in.Problem = Problem  # type: ignore[attr-defined]
    sys.modules.setdefault("cyipopt", stand_in)


class LeastInputs:
    """The inputs of least squares between two states, n intervals of backward Euler.

    The cost is that of squared inputs and of ``weight`` times squared speeds, in units of ``unit``.
    """

    def __init__(
        self, model: Any, values: dict[Any, float], duration: float, ends: Any, n: int, weight: float, unit: float
    ) -> None:
        self._problem = _problem(model, values, duration, ends, n, weight, unit)

    def found(self, x: Any, r: Any) -> tuple[float, Any]:
        """The optimum from a guess, (n + 1, n_x) and (n + 1, n_r), and a status."""
        _, found = self._problem.solve(np.concatenate([x.T.ravel(), r.T.ravel()]))
        return found["obj_val"], found["status"]

    @property
    def counts(self) -> tuple[float, float, int]:
        """Seconds of all and of functions, and iterations, of the last call."""
        return self._problem.seconds, self._problem.functions, self._problem.iterations


def _problem(
    model: Any, values: dict[Any, float], duration: float, ends: Any, n: int, weight: float, unit: float
) -> Any:
    stand_in_for_cyipopt()
    from opty import Problem as OptyProblem

    t, h = me.dynamicsymbols._t, duration / n
    M, forces, rates = (sm.Matrix(model.symbolic(k, nested=True)) for k in ("mass_matrix", "forcing", "qdot"))
    q, u = sm.Matrix(model.coordinates), sm.Matrix(model.speeds)
    equations, states = sm.Matrix([*(q.diff(t) - rates), *(M * u.diff(t) - forces)]), [*q, *u]
    weights = np.zeros((len(states) + len(model.inputs), n + 1))
    weights[len(q) : len(states), 1:] = weight * h / unit
    weights[len(states) :, 1:] = h / unit
    weights = weights.ravel()

    def cost(z: Any) -> float:
        return float(np.sum(weights * z**2))

    def slopes(z: Any) -> Any:
        return 2.0 * weights * z

    conditions = [
        s.func(at) - float(x)
        for at, end in zip((0.0, duration), ends, strict=True)
        for s, x in zip(states, end, strict=True)
    ]
    problem = OptyProblem(
        cost,
        slopes,
        equations,
        states,
        n + 1,
        h,
        known_parameter_map=values,
        instance_constraints=conditions,
        time_symbol=t,
    )
    for name, value in {"print_level": 0, "sb": "yes", "max_iter": 3000, "tol": 1e-8}.items():
        problem.add_option(name, value)
    return problem
