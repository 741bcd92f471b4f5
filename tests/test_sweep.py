# SPDX-License-Identifier: BSD-3-Clause
"""tests/sweep.py: the default part and what --long adds are the whole, and share nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sweep

TESTS = """\
import pytest
import sweep
from hypothesis import given, strategies as st

@pytest.mark.parametrize("n", sweep.every(10, range(30), first=3))
def test_each(n): pass

@pytest.mark.parametrize(("a", "b"), sweep.part([(1, 2), pytest.param(3, 4, id="five")], [(1, 2)]))
def test_pair(a, b): pass

@sweep.examples(50)
@given(st.integers())
def test_drawn(n): pass
"""


def named(parameters: list[Any]) -> tuple[list[Any], list[Any]]:
    """Those that run by default, and the long ones."""
    long = [p for p in parameters if "long" in [mark.name for mark in getattr(p, "marks", ())]]
    return [p for p in parameters if p not in long], [p.values[0] for p in long]


def test_parts() -> None:
    assert named(sweep.part("abc", "b")) == (["b"], ["a", "c"])
    assert named(sweep.every(3, range(7), first=1)) == ([1, 4], [0, 2, 3, 5, 6])
    with pytest.raises(AssertionError, match=r"does not hold: \['d'\]"):
        sweep.part("abc", "bd")


@pytest.mark.parametrize(
    ("options", "number"), [([], 3 + 1 + 1), (["--long"], 30 + 2 + 1), (["--long", "-m", "long"], 27 + 1 + 1)]
)
def test_what_runs(options: list[str], number: int, root: Path, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text((root / "tests/conftest.py").read_text(encoding="utf-8"))
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {root / 'tests'}\nmarkers = long: more\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert f"{number} passed" in done.stdout, done.stdout
