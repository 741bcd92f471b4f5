# SPDX-License-Identifier: BSD-3-Clause
"""The way of a problem to its solution: guess, nonlinear program, errors of intervals, finer meshes."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import casadi as ca

from kanecore.binding.evaluator import Evaluator
from kanecore.optimal.initial_guess import first_guess, resampled
from kanecore.optimal.ipopt import solve
from kanecore.optimal.mesh_refinement import refined
from kanecore.optimal.motion_problem import read
from kanecore.optimal.optimal_motion import OptimalMotion
from kanecore.optimal.transcription import transcribe

__all__ = ["optimal_motion"]

_WARM = {"mu_init": 1e-3}  # of a start near a solution


def optimal_motion(dyn: Evaluator, arguments: dict[str, Any], **changes: Any) -> OptimalMotion:
    """What `optimize` returns for its arguments."""
    begin = time.perf_counter()
    arguments = {**arguments, **changes}
    problem = read(dyn, arguments)
    mesh, guess = problem.mesh, first_guess(problem)
    warm = isinstance(problem.guess, OptimalMotion) and problem.guess.success
    counts: dict[str, Any] = {"iterations": 0, "refinements": 0}
    counts |= dict.fromkeys(("build", "functions", "solver", "check"), 0.0)
    while True:
        program = transcribe(problem, mesh, guess, boxed=not warm)
        options = (_WARM if warm else {}) | problem.options
        if not program.exact:
            options = {"hessian_approximation": "limited-memory", **options}
        counts["build"] += time.perf_counter() - begin
        solved = solve(ca, program.terms, program.z0, program.bounds, program.rows, options)
        found = OptimalMotion(problem, mesh, program, solved, counts, partial(optimal_motion, dyn, arguments))
        if not solved.converged or found.success or found.refinements == problem.refinements:
            return found
        begin, warm = time.perf_counter(), True
        counts = {**found.seconds, "iterations": found.iterations, "refinements": found.refinements + 1}
        mesh = refined(mesh, found.interval_errors / problem.tol)
        guess = resampled(problem, mesh, found)
