# SPDX-License-Identifier: BSD-3-Clause
"""Forty mechanisms of textbooks: what is printed has the value of the book's form, and no more operations."""

import importlib.util
import math
import random
import sys
from pathlib import Path
from typing import Any

import pytest
import sympy as sm

_SPEC = importlib.util.spec_from_file_location(
    "textbook_forms", Path(__file__).parents[1] / "docs" / "_ext" / "textbook_forms.py"
)
assert _SPEC is not None
assert _SPEC.loader is not None
_MODULE = sys.modules["textbook_forms"] = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)
MECHANISMS, operations = _MODULE.MECHANISMS, _MODULE.operations

EACH = [pytest.param(m, id=m.name, marks=[] if i % 5 == 0 else pytest.mark.long) for i, m in enumerate(MECHANISMS)]


def printed(mechanism: Any, kernel: str) -> list[Any]:
    found = mechanism.build().symbolic(kernel, nested=True)
    return list(found) if isinstance(found, sm.MatrixBase) else [found]


@pytest.mark.parametrize("mechanism", EACH)
def test_as_short_as_the_book(mechanism: Any) -> None:
    draw = random.Random(1)
    for kernel in mechanism.forms:
        found, book = printed(mechanism, kernel), mechanism.expected(kernel)
        assert operations(found) <= operations(book), (kernel, found, book)
        atoms = {x for e in (*found, *book) for x in e.atoms(sm.Symbol, sm.core.function.AppliedUndef)}
        functions = {x: draw.uniform(0.3, 1.2) for x in sorted(atoms, key=str) if x.is_Function}
        symbols = {x: draw.uniform(0.3, 1.2) for x in sorted(atoms, key=str) if not x.is_Function}
        for ours, theirs in zip(found, book, strict=True):
            difference = (ours - theirs).xreplace(functions).xreplace(symbols)
            assert abs(float(difference)) < 1e-12


@pytest.mark.long
def test_shorter_on_average() -> None:
    assert len(MECHANISMS) == 40
    ratios = [
        operations(found) / count
        for mechanism in MECHANISMS
        for kernel in mechanism.forms
        if (count := operations(mechanism.expected(kernel))) and (found := printed(mechanism, kernel))
    ]
    assert math.fsum(map(math.log, filter(None, ratios))) <= 0
