# SPDX-License-Identifier: BSD-3-Clause
"""The pages that lead from a description to a closed loop: at most 55 statements each, and each loop returns."""

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PAGES = ("double_pendulum", "segway", "slung_load")


def code(root: Path, page: str) -> str:
    """The code that readers see; a block with `:hide-code:` shows a plot."""
    text = (root / f"docs/tutorials/{page}.md").read_text(encoding="utf-8")
    return "\n".join(re.findall(r"^```\{run\}\n(?!:hide-code:)(.*?)^```", text, re.MULTILINE | re.DOTALL))


@pytest.fixture(scope="module", params=PAGES)
def page(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    pytest.importorskip("matplotlib").use("Agg")
    pytest.importorskip("scipy")
    namespace: dict[str, Any] = {}
    exec(compile(code(Path(__file__).parents[1], request.param), request.param, "exec"), namespace)
    return request.param, namespace


def test_short(root: Path) -> None:
    for name in PAGES:
        assert sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(code(root, name)))) <= 55, name


def test_the_loop_returns(page: tuple[str, dict[str, Any]]) -> None:
    """From a disturbance that is none of rounding, through the nonlinear model, to the state that was trimmed."""
    _, found = page
    system, sol = found["system"], found["sol"]
    assert np.max(np.abs(system.error(sol.x[0]))) > 0.1
    assert np.max(np.abs(system.error(sol.x[-1]))) < 1e-3
    assert np.max(system.eigenvalues.real) > -1e-9, "without feedback it does not return"
    assert np.max(np.linalg.eigvals(system.A - system.B @ found["K"]).real) < -0.1
    assert system.uncontrollable == ()


def test_what_a_segway_cannot_do(page: tuple[str, dict[str, Any]]) -> None:
    """Its lateral position is uncontrollable at rest, and left out by name."""
    name, found = page
    if name == "segway":
        assert ("y",) in [mode.states for mode in found["everything"].uncontrollable]
        assert set(found["everything"].state_names) - set(found["system"].state_names) == {"y", "phi_l", "phi_r"}
    else:
        assert found["dyn"].linear_system(0.0, found["sol"].x[-1], found["system"].r).uncontrollable == ()
