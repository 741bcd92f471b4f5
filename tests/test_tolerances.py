# SPDX-License-Identifier: BSD-3-Clause
"""What counts as equal is the same in Python and in C."""

from __future__ import annotations

import re
from pathlib import Path

from kanecore import tolerances


def test_python_and_c_agree(root: Path) -> None:
    text = (root / "pysrc/kanecore/emit/tolerances.h").read_text(encoding="utf-8")
    found = re.findall(r"#define KC_(\w+)\s+([0-9.e-]+)", text)
    assert len(found) == text.count("#define KC_") >= 6
    for name, value in found:
        assert getattr(tolerances, name) == float(value), name


def test_each_has_its_reason(root: Path) -> None:
    """A text follows each number."""
    text = (root / "pysrc/kanecore/tolerances.py").read_text(encoding="utf-8")
    for name in set(tolerances.__all__) - {"EPSILON"}:
        assert re.search(rf'^{name} = .+\n"""', text, flags=re.MULTILINE), name


def test_the_solver_names_its_thresholds(root: Path) -> None:
    """The only small number in its text is how far states to count rows at are spread about a guess."""
    text = (root / "pysrc/kanecore/emit/solve.h").read_text(encoding="utf-8")
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    assert re.findall(r"\b\d+(?:\.\d*)?e-\d+", code) == ["1e-2"]
