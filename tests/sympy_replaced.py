# SPDX-License-Identifier: BSD-3-Clause
"""A plugin of pytest that puts kanecore's KanesMethod in place of SymPy's while SymPy's own tests run.

``KANES_METHOD`` chooses the class: "kanecore"; or "simplified", whose F_r and F*_r are without the angles that have no
effect, for tests that compare forms.
``KANES_METHOD_REPORT`` is a file for the results, ``{test: [outcome, whether it reached the class]}``.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import sympy.physics.mechanics as mechanics
from sympy import cos, expand, sin

import kanecore as kc

REACHED: set[str] = set()
OUTCOMES: dict[str, str] = {}
SYMPY = mechanics.KanesMethod


def without_idle_angles(e: Any) -> Any:
    """The sum of products in which sin² + cos² = 1 is used for angles that drop out by it."""
    e = expand(e)
    for angle in {call.args[0] for call in e.atoms(cos)}:
        square = 1 - sin(angle) ** 2
        shorter = expand(e.subs(cos(angle) ** 4, square**2).subs(cos(angle) ** 2, square))
        e = e if shorter.has(sin(angle), cos(angle)) else shorter
    return e


def name(node: str) -> str:
    """``file::test`` of a node of pytest."""
    return node.rpartition("/")[2]


class Counted(kc.KanesMethod):
    """kanecore's class, which notes the tests that make one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        REACHED.add(name(os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]))
        super().__init__(*args, **kwargs)

    def kanes_equations(self, *args: Any, **kwargs: Any) -> Any:
        fr, frstar = super().kanes_equations(*args, **kwargs)
        if os.environ["KANES_METHOD"] == "simplified":
            fr, frstar = fr.applyfunc(without_idle_angles), frstar.applyfunc(without_idle_angles)
        return fr, frstar


def pytest_configure() -> None:
    """Replace the class in all of SymPy, before its tests are imported."""
    for module in list(sys.modules.values()):
        if module.__name__.startswith("sympy.") and getattr(module, "KanesMethod", None) is SYMPY:
            module.KanesMethod = Counted  # type: ignore[attr-defined]
    mechanics.System.form_eoms.__defaults__ = (Counted,)
    mechanics.JointsMethod.form_eoms.__defaults__ = (Counted,)
    mechanics.System.validate_system.__defaults__ = (Counted, False)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    before = OUTCOMES.get(name(report.nodeid), "passed")
    OUTCOMES[name(report.nodeid)] = report.outcome if before == "passed" else before


def pytest_sessionfinish() -> None:
    results = {test: [outcome, test in REACHED] for test, outcome in OUTCOMES.items()}
    Path(os.environ["KANES_METHOD_REPORT"]).write_text(json.dumps(results), encoding="utf-8")
