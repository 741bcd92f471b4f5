# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks run, and say what they promise; how fast anything is, is no test."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ERRORS = {"residual", "rhs_udot", "inverse", "sympy_difference"}
FIELDS = {
    "derive": {
        "core group": {
            *("describe", "read", "derive", "emit", "to_c", "to_c_min", "to_c_first", "text_kB"),
            *("ops_rhs", "ops_mass_matrix", "ops_forcing", "residual"),
            *("sympy_ms", "sympy_ops", "sympy_difference"),
        },
    },
    "compile": {
        "core group": {
            *("cold", "to_c", "cc", "cached", "described_cached", "cold_min", "cached_min"),
            *("processes", "text_kB", "library_kB", "ops_rhs", "residual"),
        },
    },
    "evaluate": {
        "kernels in C": {"ns", "ns_min", "ops", "sincos", "ns_per_op", "chains", "residual", "rhs_udot", "inverse"},
        "rhs from Python": {
            *("c", "loop", "out", "allocating", "workspace", "ctypes"),
            *("+out", "+allocating", "+workspace", "+ctypes"),
            *("loop_min", "out_min", "allocating_min", "workspace_min", "ctypes_min"),
        },
    },
}
PEERS = {"pydy", "casadi", "pinocchio"}


def python(root: Path, *arguments: str | Path) -> str:
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def run(root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the smallest run printed, and the folder of its results."""
    folder = tmp_path_factory.mktemp("results")
    return python(root, "bench/run.py", "--smallest", "--results", folder), folder


def result(folder: Path, name: str) -> dict[str, Any]:
    return json.loads((folder / f"{name}.json").read_text())


@pytest.mark.parametrize("name", FIELDS)
def test_fields(run: tuple[str, Path], name: str) -> None:
    printed, folder = run
    found = result(folder, name)
    assert found["name"] == name
    assert found["question"] in printed
    assert found["smallest"] is True
    assert {"python", "packages", "processor", "compiler"} <= set(found["facts"])
    assert all(value > 0 for value in found["reference"].values())
    assert list(found["tables"]) == list(FIELDS[name])
    for title, rows in found["tables"].items():
        assert rows
        assert len({row["case"] for row in rows}) == len(rows)
        for row in rows:
            assert set(row) == {"case"} | FIELDS[name][title] | PEERS
            assert all(math.isfinite(value) for value in row.values() if isinstance(value, float))
            assert all(isinstance(row[peer], str) for peer in PEERS)


@pytest.mark.parametrize("name", FIELDS)
def test_errors_are_those_of_rounding(run: tuple[str, Path], name: str) -> None:
    for rows in result(run[1], name)["tables"].values():
        for row in rows:
            assert all(row[error] == "" or row[error] < 1e-12 for error in ERRORS & set(row)), row


def test_peer_and_cache(run: tuple[str, Path]) -> None:
    rows = result(run[1], "derive")["tables"]["core group"]
    assert any(isinstance(row["sympy_difference"], float) for row in rows)
    assert all(row["processes"] == 0 for row in result(run[1], "compile")["tables"]["core group"])


def test_compare(run: tuple[str, Path], root: Path) -> None:
    path = run[1] / "compile.json"
    printed = python(root, "bench/compare.py", path, path)
    assert "arm7" in printed
    line = next(line for line in printed.splitlines() if line.startswith("reference loops"))
    assert set(line.split()[2:]) == {"1"}


def test_unknown_script(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "bench/run.py", "integrat"], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "no script 'integrat'; there are derive, compile, evaluate" in done.stderr
