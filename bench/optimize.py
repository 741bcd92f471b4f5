# SPDX-License-Identifier: BSD-3-Clause
"""Time of an iteration of IPOPT that swings an arm of seven joints up, by the source of its derivatives."""

from __future__ import annotations

import time
from typing import Any

import casadi as ca
import models
import numpy as np
import report
from peers import casadi as peer

import kanecore as kc
from kanecore.build import compile_library

QUESTION = "how long does an iteration of IPOPT take that swings an arm of seven joints up, with whose derivatives?"
SECONDS, NODES = 2.0, 60


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """Milliseconds an iteration, as least times: in all, and in the functions with their exact Hessians.

    The trapezoidal rule and Hermite and Simpson's, with states and forces at midpoints, both by ``map``.  ``kanecore``
    is ``dyn.casadi()``, ``kanecore xr`` the function without derivatives by t and p; the others are CasADi's own SX by
    two recursions, emitted with their derivatives as C and compiled with kanecore's flags.
    """
    nodes, repeats = (4, 1) if smallest else (NODES, 3)
    functions = _functions(smallest)
    return {
        "trapezoidal rule": _rows(functions, _trapezoidal, nodes, repeats),
        "Hermite-Simpson": _rows(functions, _hermite_simpson, nodes // 2, repeats),
    }


def _functions(smallest: bool) -> dict[str, ca.Function]:
    dyn = kc.load("arm7")
    forms = () if smallest else ("composite", "articulated")  # which take minutes to compile
    ours = {"kanecore": dyn.casadi(), "kanecore xr": dyn.casadi(wrt="xr", name="arm7_xr")}
    return ours | {f"casadi {form}": _emitted(dyn, form) for form in forms}


def _emitted(dyn: kc.CompiledModel, form: str) -> ca.Function:
    """CasADi's own recursion, with numbers as parameters, and its derivatives in C."""
    udot = peer.function(models.arm(), True, form)
    n = dyn.n_u
    t, x, r, p = ca.SX.sym("t"), ca.SX.sym("x", 2 * n), ca.SX.sym("r", n), ca.SX.sym("p", dyn.n_p)
    rates = ca.vertcat(x[n:], udot(x[:n], x[n:], r, ca.SX(0, 1)))
    function = ca.Function(f"arm_{form}", [t, x, r, p], [rates], ["t", "x", "r", "p"], ["xdot"])
    adjoint = function.reverse(1)
    generator = ca.CodeGenerator("arm.c")
    for each in (function, function.jacobian(), adjoint, adjoint.jacobian(), function.forward(1)):
        generator.add(each)
    name, exporting = function.name(), "-DGCC_HASCLASSVISIBILITY"
    return ca.external(name, compile_library(generator.dump(), cflags=exporting, name=name).path)


def _rows(functions: dict[str, ca.Function], method: Any, nodes: int, repeats: int) -> list[report.Row]:
    solvers = {name: method(function, nodes) for name, function in functions.items()}
    best: dict[str, report.Row] = {}
    for _ in range(repeats):
        for name, (solver, start) in solvers.items():
            begin = time.perf_counter()
            solution = solver(x0=start, lbg=0, ubg=0)
            seconds, stats = time.perf_counter() - begin, solver.stats()
            iterations = stats["iter_count"]
            in_functions = sum(value for key, value in stats.items() if key.startswith("t_wall_nlp_"))
            row: report.Row = {"case": name, "iterations": iterations, "ms": 1e3 * seconds / iterations}
            row["functions"], row["optimum"] = 1e3 * in_functions / iterations, float(solution["f"])
            if name not in best or row["ms"] < best[name]["ms"]:
                best[name] = row
    others = [row for name, row in best.items() if name.startswith("casadi")]
    for row in best.values():
        for key in ("ms", "functions"):
            if others:
                row[f"{key}/casadi"] = row[key] / min(other[key] for other in others)
        row["error"] = abs(row["optimum"] - best["kanecore"]["optimum"])
    return list(best.values())


def _trapezoidal(f: ca.Function, nodes: int) -> tuple[ca.Function, np.ndarray]:
    n, h = f.size1_in(2), SECONDS / nodes
    x, r = ca.MX.sym("x", 2 * n, nodes + 1), ca.MX.sym("r", n, nodes + 1)
    rates = f.map(nodes + 1)(0.0, x, r, _parameters())
    gaps = x[:, 1:] - x[:, :-1] - h / 2 * (rates[:, 1:] + rates[:, :-1])
    return _solver(n, x, [x, r], [gaps], _cost(n, x, r, h))


def _hermite_simpson(f: ca.Function, nodes: int) -> tuple[ca.Function, np.ndarray]:
    n, h = f.size1_in(2), SECONDS / nodes
    x, r = ca.MX.sym("x", 2 * n, nodes + 1), ca.MX.sym("r", n, nodes + 1)
    middle, force = ca.MX.sym("middle", 2 * n, nodes), ca.MX.sym("force", n, nodes)
    rates, between = f.map(nodes + 1)(0.0, x, r, _parameters()), f.map(nodes)(0.0, middle, force, _parameters())
    gaps = x[:, 1:] - x[:, :-1] - h / 6 * (rates[:, 1:] + 4 * between + rates[:, :-1])
    bends = middle - (x[:, 1:] + x[:, :-1]) / 2 + h / 8 * (rates[:, 1:] - rates[:, :-1])
    cost = (_cost(n, x, r, h) + 2 * _cost(n, middle, force, h)) / 3
    return _solver(n, x, [x, r, middle, force], [gaps, bends], cost)


def _cost(n: int, x: ca.MX, r: ca.MX, h: float) -> ca.MX:
    return h * (1e-3 * ca.sumsqr(r) + 1e-2 * ca.sumsqr(x[n:, :]))


def _solver(n: int, x: ca.MX, unknowns: list[ca.MX], gaps: list[ca.MX], cost: ca.MX) -> tuple[ca.Function, np.ndarray]:
    """From hanging to standing, at rest at both ends; the first guess goes straight, without forces."""
    up = np.zeros(2 * n)
    up[1] = np.pi
    equations = ca.vertcat(*map(ca.vec, gaps), x[:, 0], x[:, -1] - up)
    problem = {"x": ca.vertcat(*map(ca.vec, unknowns)), "f": cost, "g": equations}
    options = {"ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False, "ipopt.tol": 1e-9}
    lines = [
        np.linspace(0.0 * up, up, unknown.size2()).ravel() if unknown.size1() == 2 * n else np.zeros(unknown.numel())
        for unknown in unknowns
    ]
    return ca.nlpsol("solver", "ipopt", problem, options), np.concatenate(lines)


def _parameters() -> np.ndarray:
    return np.array(list(kc.load("arm7").parameters.values()))


if __name__ == "__main__":
    report.main("optimize", QUESTION, measure)
