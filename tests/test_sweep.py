# SPDX-License-Identifier: BSD-3-Clause
"""sweep.py and conftest.py: the default part, --long and --skipped are what they say; faults of mutations.py."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import mutations
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

WANTING = """\
import pytest

@pytest.mark.parametrize("n", [1, 2])
def test_case(n):
    if n == 2:
        pytest.importorskip("missing")

def test_whole(): pytest.importorskip("missing")

def test_neither(): pass
"""


def named(parameters: list[Any]) -> tuple[list[Any], list[Any]]:
    """Those that run by default, and the long ones."""
    long = [p for p in parameters if "long" in [mark.name for mark in getattr(p, "marks", ())]]
    return [p for p in parameters if p not in long], [p.values[0] for p in long]


@pytest.mark.parametrize("long", [False, True])
def test_parts(long: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "LONG", long)
    assert named(sweep.part("abc", "b")) == (["b"], ["a", "c"] if long else [])
    assert named(sweep.every(3, range(7), first=1)) == ([1, 4], [0, 2, 3, 5, 6] if long else [])
    with pytest.raises(AssertionError, match=r"does not hold: \['d'\]"):
        sweep.part("abc", "bd")


@pytest.mark.parametrize(
    ("options", "number"),
    [
        ([], 3 + 1 + 1),
        pytest.param(["--long"], 30 + 2 + 1, marks=pytest.mark.long),
        pytest.param(["--long", "-m", "long"], 27 + 1 + 1, marks=pytest.mark.long),
    ],
)
def test_what_runs(options: list[str], number: int, root: Path, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    assert f"{number} passed" in run(root, tmp_path, *options)


@pytest.mark.long
@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["one process", "workers"])
def test_what_was_skipped_runs_once_nothing_is_in_the_way(workers: list[str], root: Path, tmp_path: Path) -> None:
    """Single tests, single cases and whole files; and again, since the list is that of the last whole run."""
    (tmp_path / "test_one.py").write_text(WANTING)
    (tmp_path / "test_all.py").write_text('import pytest\npytest.importorskip("missing")\ndef test_a(): pass\n')
    assert "2 passed, 3 skipped" in run(root, tmp_path, *workers)
    (tmp_path / "missing.py").write_text("")
    for _ in range(2):
        said = run(root, tmp_path, *workers, "--skipped")
        assert "3 passed" in said
        assert "skipped" not in said.splitlines()[-1]


def run(root: Path, tmp_path: Path, *options: str) -> str:
    """What pytest prints of the tests in a folder, with our conftest.py."""
    (tmp_path / "conftest.py").write_text((root / "tests/conftest.py").read_text(encoding="utf-8"))
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {root / 'tests'} .\nmarkers = long: more\n")
    command = [sys.executable, "-m", "pytest", "-q", *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment).stdout


def test_faults_are_texts_of_the_package() -> None:
    """What mutations.py replaces stands once in its file."""
    mutations.check(mutations.FAULTS)
