# SPDX-License-Identifier: BSD-3-Clause
"""Examples of opty's gallery, from the description to the solution, beside opty: ``examples/opty_examples.py``."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import report
from peers import opty

QUESTION = "how long do four examples of opty's gallery take from the description to the solution?"
EXAMPLES = ("pendulum", "identification", "crane", "parking")
SAME = {  # opty's rule on its nodes
    "pendulum": {"method": "backward-euler", "intervals": 500},
    "crane": {"method": "backward-euler", "intervals": 149},
    "parking": {"method": "backward-euler", "intervals": 500},
}
NEAR = {"options": {"mu_init": 1e-6}}  # of a barrier that does not push away from a solution


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """Seconds from the mechanism's symbols to the solution, and the optimum.

    ``kanecore`` is what the documentation shows, with an empty cache, and ``again`` with what the former left there.
    ``same rule`` begins at opty's solution, with opty's rule and nodes: is that an optimum here as well?
    """
    opty.stand_in_for_cyipopt()
    return {name: _rows(name) for name in (EXAMPLES[:1] if smallest else EXAMPLES)}


def cells() -> dict[str, str]:
    text = (Path(__file__).parents[1] / "examples/opty_examples.py").read_text(encoding="utf-8")
    return dict(cell.split("\n", 1) for cell in text.split("\n# %% ")[1:])


def _rows(name: str) -> list[report.Row]:
    theirs, seconds = _run(name, "opty")
    rows = [_row("opty", theirs, seconds)]
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as folder:
        for case, environment in (
            ("without a compiler", {"CC": "none", "KANECORE_CACHE_DIR": empty}),
            ("kanecore", {"KANECORE_CACHE_DIR": folder}),
            ("again", {"KANECORE_CACHE_DIR": folder}),
        ):
            with mock.patch.dict(os.environ, environment):
                ours, seconds = _run(name, "kanecore")
            rows.append(_row(case, ours, seconds) | {"s/opty": seconds / rows[0]["s"]})
        begin = time.perf_counter()
        if name in SAME:
            near = {"guess": _guess(theirs, ours["dyn"]), "refinements": 0, **SAME[name], **NEAR}
            ours["sol"] = ours["sol"].optimize(**near)
        else:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(cells()[f"{name} by the same rule"], ours)
        rows.append(_row("same rule", ours, time.perf_counter() - begin))
    return rows


def _run(name: str, side: str) -> tuple[dict[str, Any], float]:
    """Names of a side's cells after they ran, and their seconds; imports are no part of them."""
    code, values = cells(), {}
    exec(code["imports"], values)
    exec("from opty import Problem, create_objective_function", values)
    begin = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code.get(f"{name}: the mechanism", ""), values)
        exec(code[f"{name} by {side}"], values)
    return values, time.perf_counter() - begin


def _guess(theirs: dict[str, Any], dyn: Any) -> dict[str, Any]:
    """A solution of opty by the names of the model."""
    states, inputs, *rest = theirs["problem"].parse_free(theirs["solution"])
    names = [s.func.__name__ for s in (*theirs["states"], *theirs.get("inputs", (theirs.get("F"),)))]
    guess = dict(zip(names, [*states, *np.atleast_2d(inputs)], strict=True))
    if len(rest) > 1:
        guess["duration"] = float(rest[1]) * (len(states[0]) - 1)
    known = (*dyn.coordinate_names, *dyn.speed_names, *dyn.input_names, "duration")
    return {name: row for name, row in guess.items() if name in known}


def _row(case: str, values: dict[str, Any], seconds: float) -> report.Row:
    row: report.Row = {"case": case, "s": seconds}
    if "info" in values:
        found = {"optimum": values["info"]["obj_val"], "iterations": values["problem"].iterations}
        return row | found | ({"p": values["solution"][-1]} if "p" in values else {})
    if "sol" not in values:
        return row | {"p": values["found"].parameters["p"]}
    sol = values["sol"]
    row |= {"optimum": sol.cost, "iterations": sol.iterations, "interval_error": sol.interval_error}
    return row | sol.parameters


if __name__ == "__main__":
    print(report.run("opty_examples", QUESTION, measure, False))
