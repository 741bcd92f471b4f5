# SPDX-License-Identifier: BSD-3-Clause
"""IPOPT, from the wheel of CasADi: a nonlinear program in, its solution and a sentence out."""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Solved", "solve"]

Array = npt.NDArray[np.float64]

_SENTENCES = {
    "Solve_Succeeded": "IPOPT found an optimum",
    "Solved_To_Acceptable_Level": "IPOPT found an optimum to its acceptable tolerance only",
    "Infeasible_Problem_Detected": "IPOPT found no motion that satisfies all conditions",
    "Restoration_Failed": "IPOPT found no motion that satisfies all conditions, and no way on",
    "Maximum_Iterations_Exceeded": "IPOPT reached its limit of iterations, options={'max_iter': ...}",
    "Maximum_CpuTime_Exceeded": "IPOPT reached its limit of time",
    "Maximum_WallTime_Exceeded": "IPOPT reached its limit of time",
    "Search_Direction_Becomes_Too_Small": "IPOPT found no way on",
    "Diverging_Iterates": "the unknowns of IPOPT grow without limit: bounds are missing, or the cost has no minimum",
    "Not_Enough_Degrees_Of_Freedom": "there are more conditions than unknowns: leave out some of start and end",
    "Invalid_Number_Detected": "an equation, the cost or a derivative is no number at the guess, or on the way",
    "Error_In_Step_Computation": "IPOPT could not solve its linear equations",
}


@dataclass(frozen=True, eq=False)
class Solved:
    """Result of IPOPT: unknowns, constraints and multipliers of both, and how it went.

    Attributes
    ----------
    converged : bool
    build, functions, solver : float
        Seconds before the first iteration, in functions and derivatives, and in all else.
    """

    z: Array
    g: Array
    cost: float
    of_bounds: Array
    of_rows: Array
    converged: bool
    status: str
    sentence: str
    iterations: int
    build: float
    functions: float
    solver: float


def solve(
    casadi: Any,
    program: Mapping[str, Any],
    z0: Array,
    bounds: tuple[Array, Array],
    rows: tuple[Array, Array],
    options: Mapping[str, Any],
) -> Solved:
    """Minimize ``program["f"]`` of ``program["x"]`` with ``program["g"]`` within ranges; options are IPOPT's."""
    first = time.perf_counter()
    chosen = {"print_level": 0, "sb": "yes", "tol": 1e-8, **options}
    solver = casadi.nlpsol(
        "optimize", "ipopt", dict(program), {"print_time": False} | {f"ipopt.{k}": v for k, v in chosen.items()}
    )
    begin, said = time.perf_counter(), io.StringIO()
    with contextlib.redirect_stderr(said):
        found = solver(x0=z0, lbx=bounds[0], ubx=bounds[1], lbg=rows[0], ubg=rows[1])
    for line in said.getvalue().splitlines():
        if "NLP is overconstrained" not in line:  # conditions that follow from others are no fault
            print(line, file=sys.stderr)
    wall, stats = time.perf_counter() - begin, solver.stats()
    z, g, of_bounds, of_rows = (np.array(found[name]).ravel() for name in ("x", "g", "lam_x", "lam_g"))
    functions = sum(value for name, value in stats.items() if name.startswith("t_wall_nlp_"))
    status = str(stats["return_status"])
    if status in ("User_Requested_Stop", "NonIpopt_Exception_Thrown"):  # so CasADi takes Ctrl-C
        raise KeyboardInterrupt
    sentence = _SENTENCES.get(status, f"IPOPT ended with {status}")
    converged, iterations, cost = status == "Solve_Succeeded", int(stats["iter_count"]), float(found["f"])
    times = begin - first, functions, wall - functions
    return Solved(z, g, cost, of_bounds, of_rows, converged, status, sentence, iterations, *times)
