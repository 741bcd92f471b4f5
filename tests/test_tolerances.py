# SPDX-License-Identifier: BSD-3-Clause
"""What counts as equal is the same in Python and in C."""

import math
import re
from pathlib import Path

import pytest

from kanecore import tolerances
from kanecore.emit.c_target import C
from kanecore.emit.solver_calls import HEADERS


def test_python_and_c_agree() -> None:
    found = re.findall(r"#define KC_(\w+)\s+([0-9.e-]+)", C().tolerances())
    assert {name: float(value) for name, value in found} == tolerances.IN_C
    assert len(found) >= 6


def test_floats_have_the_same_share_of_digits() -> None:
    scaled, epsilon = tolerances.of_floats(2.0**-23), 2.0**-23
    for name, value in tolerances.IN_C.items():
        if value < 1.0:
            assert epsilon < scaled[name] < 0.1
            assert math.log(scaled[name], epsilon) == pytest.approx(math.log(value, tolerances.EPSILON))
    assert scaled["EXPLAINED"] == tolerances.EXPLAINED


def test_each_has_its_reason(root: Path) -> None:
    """A text follows each number."""
    text = (root / "pysrc/kanecore/tolerances.py").read_text(encoding="utf-8")
    for name in set(tolerances.__all__) - {"EPSILON", "IN_C", "of_floats"}:
        assert re.search(rf'^{name} = .+\n"""', text, flags=re.MULTILINE), name


def test_the_solver_names_its_thresholds(root: Path) -> None:
    """The only small number in its text is how far states to count rows at are spread about a guess."""
    texts = [(root / "pysrc/kanecore/emit/runtime" / name).read_text(encoding="utf-8") for name in HEADERS]
    code = re.sub(r"/\*.*?\*/", "", "".join(texts), flags=re.DOTALL)
    assert re.findall(r"\b\d+(?:\.\d*)?e-\d+", code) == ["1e-2"]
