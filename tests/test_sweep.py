# SPDX-License-Identifier: BSD-3-Clause
"""sweep.py and conftest.py: the default part and the long one are what they say; mutations.py finds its faults."""

import ast
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
        pytest.param(["-m", "not packaging"], 30 + 2 + 1, marks=pytest.mark.long),
        pytest.param(["-m", "long"], 27 + 1 + 1, marks=pytest.mark.long),
    ],
)
def test_what_runs(options: list[str], number: int, root: Path, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    assert f"{number} passed" in run(root, tmp_path, *options)


def run(root: Path, tmp_path: Path, *options: str) -> str:
    """What pytest prints of the tests in a folder, with our conftest.py."""
    (tmp_path / "conftest.py").write_text((root / "tests/conftest.py").read_text(encoding="utf-8"))
    settings = f"pythonpath = {root / 'tests'} .\naddopts = -m 'not packaging and not long'\nmarkers = long: more\n"
    (tmp_path / "pytest.ini").write_text("[pytest]\n" + settings)
    command = [sys.executable, "-m", "pytest", "-q", *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment).stdout


def test_lists_of_the_checks_name_tests(root: Path) -> None:
    """What .ci/run takes from a file is there: a test file, or a function in it."""
    for name in ("long_sample", "other_packages"):
        for line in (root / f".ci/{name}.txt").read_text(encoding="utf-8").splitlines():
            path, _, function = line.partition("[")[0].partition("::")
            assert f"def {function}(" in (root / path).read_text(encoding="utf-8") or not function, line


PYTHON = '''\
def f(a: int, *, b: bool = not True) -> float:
    """1 + 1"""
    if a < 2 or b:
        raise ValueError(f"{a + 1}")
    return -g(a, b[0]) if b else a - b
'''
C = '#define N 2\nint f(int a) { return a < 3 && !p->b ? a + 1.5 : puts("1 + 1"); /* 1 + 1 */ }\n'
FAULTS_OF_PYTHON = """dropped negation, opposite, and for or, comparison, off by one, nothing said, swapped branches,
    dropped negation, swapped arguments, off by one, sign, missing term"""


def test_faults_are_found_in_code() -> None:
    """Not in annotations, texts, comments and the preprocessor's lines; each changes its expression alone."""
    found = mutations.faults_of("f.py", PYTHON)
    assert sorted(fault.kind for fault in found) == sorted(each.strip() for each in FAULTS_OF_PYTHON.split(","))
    assert {fault.function for fault in found} == {1}
    [swapped] = (fault.put(PYTHON) for fault in found if fault.kind == "swapped arguments")
    assert swapped == PYTHON.replace("g(a, b[0])", "(g(b[0], a))")
    assert len({fault.put(PYTHON) for fault in found}) == len(found)
    put = [fault.put(C) for fault in mutations.faults_of("f.c", C)]
    assert put == [C.replace(*pair, 1) for pair in (("<", "<="), ("3", "4"), ("&&", "||"), ("!", ""), ("a +", "a -"))]


def test_faults_of_the_package_are_python() -> None:
    """A seed draws the same ones again."""
    drawn = mutations.drawn(20, 1, ["graph/zero_tests"], native=False)
    assert drawn == mutations.drawn(20, 1, ["graph/zero_tests"], native=False)
    for fault in drawn:
        ast.parse(fault.put((mutations.ROOT / fault.file).read_text(encoding="utf-8")))
