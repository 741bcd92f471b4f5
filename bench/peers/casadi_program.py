# SPDX-License-Identifier: BSD-3-Clause
"""CasADi by hand: least squared inputs by backward Euler, from equations of motion as expressions in its scalars."""

from __future__ import annotations

import time
from typing import Any

import casadi as ca
import numpy as np
import sympy as sm

SAME = {name: getattr(ca, name) for name in ("sin", "cos", "tan", "sqrt", "tanh")} | {"Abs": ca.fabs}


class LeastInputs:
    """The inputs of least squares between two states, n intervals of backward Euler.

    The cost is that of squared inputs and of ``weight`` times squared speeds, in units of ``unit``.
    """

    def __init__(
        self, model: Any, values: dict[Any, float], duration: float, ends: Any, n: int, weight: float, unit: float
    ) -> None:
        parts = [sm.Matrix(model.symbolic(k, nested=True)) for k in ("mass_matrix", "forcing", "qdot")]
        variables = [*model.coordinates, *model.speeds, *model.inputs]
        plain = [sm.Symbol(f"s{i}") for i in range(len(variables))]
        named = dict(zip(variables, plain, strict=True))
        listed = [list(part.xreplace(values).xreplace(named)) for part in parts]
        n_u, n_x, n_r, h = len(model.speeds), len(variables) - len(model.inputs), len(model.inputs), duration / n
        x, r, rate = ca.SX.sym("x", n_x), ca.SX.sym("r", n_r), ca.SX.sym("rate", n_x)
        function = sm.lambdify(plain, listed, modules=[SAME, "math"], cse=True)
        mass, forcing, qdot = (ca.vertcat(*part) for part in function(*ca.vertsplit(x), *ca.vertsplit(r)))
        mass = ca.reshape(mass, n_u, n_u)
        gaps = ca.vertcat(rate[: n_x - n_u] - qdot, ca.mtimes(mass, rate[n_x - n_u :]) - forcing)
        gap = ca.Function("gap", [rate, x, r], [gaps])
        xs, rs = ca.MX.sym("X", n_x, n + 1), ca.MX.sym("R", n_r, n + 1)
        rows = ca.vec(gap.map(n)((xs[:, 1:] - xs[:, :-1]) / h, xs[:, 1:], rs[:, 1:]))
        cost = h / unit * (ca.sumsqr(rs[:, 1:]) + weight * ca.sumsqr(xs[n_x - n_u :, 1:]))
        program = {"x": ca.veccat(xs, rs), "f": cost, "g": rows}
        options = {"ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.max_iter": 3000, "ipopt.tol": 1e-8}
        self._solver = ca.nlpsol("least_inputs", "ipopt", program, {"print_time": False} | options)
        low = np.full((n + 1, n_x + n_r), -np.inf)
        for node, end in zip((0, -1), ends, strict=True):
            low[node, :n_x] = end
        flat = np.concatenate([low[:, :n_x].ravel(), low[:, n_x:].ravel()])
        self._bounds = {"lbx": flat, "ubx": np.where(np.isfinite(flat), flat, np.inf), "lbg": 0, "ubg": 0}

    def found(self, x: Any, r: Any) -> tuple[float, Any]:
        """The optimum from a guess, (n + 1, n_x) and (n + 1, n_r), and a status."""
        begin = time.process_time()
        found = self._solver(x0=np.concatenate([x.ravel(), r.ravel()]), **self._bounds)
        self._seconds = time.process_time() - begin
        return float(found["f"]), self._solver.stats()["return_status"]

    @property
    def counts(self) -> tuple[float, float, int]:
        """Seconds of all and of functions, and iterations, of the last call."""
        stats = self._solver.stats()
        functions = sum(value for name, value in stats.items() if name.startswith("t_proc_nlp_"))
        return self._seconds, functions, stats["iter_count"]
