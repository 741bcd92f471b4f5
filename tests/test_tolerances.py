# SPDX-License-Identifier: BSD-3-Clause
"""What counts as equal is the same in Python and in the C of models."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kanecore import tolerances


def in_c(root: Path) -> dict[str, float]:
    text = (root / "pysrc/kanecore/emit/tolerances.h").read_text(encoding="utf-8")
    return {name: float(value) for name, value in re.findall(r"^#define KC_(\w+)\s+(\S+)", text, re.MULTILINE)}


def test_python_and_c_agree(root: Path) -> None:
    found = in_c(root)
    assert len(found) == 6
    assert found == {name: getattr(tolerances, name) for name in found}


@pytest.mark.parametrize("name", tolerances.__all__)
def test_each_has_its_reason(name: str, root: Path) -> None:
    text = (root / "pysrc/kanecore/tolerances.py").read_text(encoding="utf-8")
    if name != "EPSILON":
        assert re.search(rf'^{name} = .*\n"""', text, re.MULTILINE)


def test_headers_of_the_solver_name_no_other_thresholds(root: Path) -> None:
    """Numbers like 1e-9 in ``solve.h`` are steps, not thresholds: those have names."""
    text = (root / "pysrc/kanecore/emit/solve.h").read_text(encoding="utf-8")
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    assert re.findall(r"\b\d+(?:\.\d*)?e-\d+", code) == ["1e-2"]  # how far trials are spread about a guess
