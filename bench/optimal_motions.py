# SPDX-License-Identifier: BSD-3-Clause
"""Time from a description to the motion of least squared inputs between two states, beside opty and CasADi."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
import report
import sympy.physics.mechanics  # noqa: F401  # imports are no part of any time

import kanecore as kc
import kanecore._compile
import kanecore.export.casadi_text
import kanecore.model
import kanecore.optimal.optimal_motion

QUESTION = "how long does it take from a description to the motion of least squared inputs between two states?"
_TURNS = 0.5 * (-1.0) ** np.arange(7)
CASES = {
    "cart_pole": (2.0, {}, {"theta": np.pi}),
    "planar_2r": (2.0, {"q1": -np.pi / 2}, {"q1": np.pi / 2}),
    "furuta_pendulum": (2.0, {}, {"theta2": np.pi}),
    "rrp": (2.0, {"d3": 0.2}, {"theta1": 1.0, "theta2": 0.5, "d3": 0.3}),
    "puma560": (2.0, {}, {f"q{i + 1}": _TURNS[i] for i in range(6)}),
    "arm7": (2.0, {}, {f"q{i + 1}": _TURNS[i] for i in range(7)}),
}
WEIGHTS = {"puma560": 10.0, "arm7": 100.0}  # of squared speeds, without which light links turn like flywheels
INTERVALS = 100
_SAME = 1e-6  # of two optima


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """Seconds to build and to solve, iterations, and the optimum, of the same program: backward Euler.

    All begin at the same guess, a solution on 25 intervals, since other guesses lead to different optima, and divide
    the cost by that of this guess, so that tolerances mean the same.  Seconds are of the processor, with those of
    compilers.  ``build`` is from the gallery's module to the first iteration, with an empty cache; ``warm`` with a full
    one.  ``default`` is what users get, without a guess: Hermite and Simpson's rule, with the mesh refined to an
    interval error of 1e-5.
    """
    return {name: _rows(name, 10 if smallest else INTERVALS) for name in ([*CASES][:1] if smallest else CASES)}


def _rows(name: str, n: int) -> list[report.Row]:
    duration, first, last = CASES[name]
    with _empty_cache():
        start, end, coarse = _coarse(name, duration, first, last)
    with _empty_cache():
        rows = [_ours(case, name, duration, start, end, coarse, n) for case in ("kanecore", "warm", "default")]
    for case, package in (("CasADi by hand", "casadi_program"), ("opty", "opty")):
        try:
            rows.append(_theirs(case, package, name, duration, start, end, coarse, n))
        except ImportError:
            rows.append({"case": case, "build": "not compared"})
            continue
        for row in rows[:2]:
            if abs(row["optimum"] / rows[-1]["optimum"] - 1.0) < _SAME:
                row |= {f"{key}/{package}": row[key] / rows[-1][key] for key in ("build", "solve")}
    return rows


@contextmanager
def _empty_cache() -> Iterator[None]:
    before = os.environ.get("KANECORE_CACHE_DIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KANECORE_CACHE_DIR"] = folder
        try:
            yield
        finally:
            os.environ.pop("KANECORE_CACHE_DIR")
            os.environ |= {} if before is None else {"KANECORE_CACHE_DIR": before}


def _coarse(name: str, duration: float, first: Any, last: Any) -> tuple[Any, Any, Any]:
    """Both ends, and the guess of all."""
    dyn = kc.load(name)
    start, end = dyn.state(first), dyn.state(last)
    ends = {"start": start, "end": dict(zip(dyn.names.x, end.tolist(), strict=True))}
    return start, end, dyn.optimize(duration, **ends, cost=_cost(dyn, name, 1.0), intervals=25, refinements=0)


def _cost(dyn: Any, name: str, unit: float) -> str:
    """Squared inputs, and speeds where they have a weight, in units of a number."""
    weight = WEIGHTS.get(name, 0.0)
    terms = [f"{r}**2" for r in dyn.input_names] + [f"{weight}*{u}**2" for u in dyn.speed_names if weight]
    return f"({' + '.join(terms)})/{unit!r}"


def _ours(case: str, name: str, duration: float, start: Any, end: Any, coarse: Any, n: int) -> report.Row:
    begin = _processor()
    module = import_module(f"kanecore.gallery.{name}")
    dyn = kc.compile(module.build(), parameters=module.PARAMETERS)
    options: Any = {}
    if case != "default":
        times = np.linspace(0.0, duration, n + 1)
        there = coarse.at(times)
        guess = dict(zip(dyn.names.x, there.x.T, strict=True)) | {"t": times}
        guess |= dict(zip(dyn.input_names, there.r.T, strict=True))
        options = {"method": "backward-euler", "intervals": n, "refinements": 0, "guess": guess}
    ends = {"start": start, "end": dict(zip(dyn.names.x, end.tolist(), strict=True))}
    found = dyn.optimize(duration, **ends, cost=_cost(dyn, name, coarse.cost), **options)
    counts = found.seconds["functions"] + found.seconds["solver"], found.seconds["functions"], found.iterations
    build = _processor() - begin - counts[0] - found.seconds["check"]
    return _row(case, build, counts, found.cost * coarse.cost) | {"interval_error": found.interval_error}


def _theirs(
    case: str, package: str, name: str, duration: float, start: Any, end: Any, coarse: Any, n: int
) -> report.Row:
    peer = import_module(f"peers.{package}")
    begin = _processor()
    model = import_module(f"kanecore.gallery.{name}").build()
    dyn = coarse.problem.dyn
    values = {symbol: dyn.parameters[symbol.name] for symbol in model.parameters}
    costs = WEIGHTS.get(name, 0.0), coarse.cost
    problem = peer.LeastInputs(model, values, duration, (start, end), n, *costs)
    build = _processor() - begin
    there = coarse.at(np.linspace(0.0, duration, n + 1))
    optimum, status = problem.found(there.x, there.r)
    row = _row(case, build, problem.counts, optimum * coarse.cost)
    return row if status in (0, "Solve_Succeeded") else row | {"case": f"{case}, status {status}"}


def _processor() -> float:
    """Seconds of the processor until now, of this process and of those that it ran."""
    return sum(os.times()[:4])


def _row(case: str, build: float, counts: tuple[float, float, int], optimum: float) -> report.Row:
    row: report.Row = {"case": case, "build": build} | dict(
        zip(("solve", "functions", "iterations"), counts, strict=True)
    )
    return row | {"optimum": optimum}


if __name__ == "__main__":
    print(report.run("optimal_motions", QUESTION, measure, False))
