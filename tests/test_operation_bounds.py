# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of operations that exported C states: true, and near what is counted."""

import re
import shutil
import subprocess
from pathlib import Path

import gallery_states
import pytest

from kanecore.export.operation_bounds import COUNT, NEWTON

FLAGS = ("-std=c++20", "-w", "-Wno-address-of-temporary", "-Wno-c99-designator", "-O1")
KERNELS = (
    *("rhs", "mass_matrix", "forcing", "reactions", "linearize", "rhs_tangent", "rhs_gradient", "rhs_hessian"),
    *("rhs_parameter_jacobian", "hessian_products", "inverse_dynamics"),
)
OF_CONSTRAINTS = ("rhs", "multipliers", "stabilization", "project", "linearize", "rhs_gradient", "rhs_hessian")


def stated(folder: Path, name: str) -> int:
    found = re.search(rf"m_operations_{name} = (\d+)", (folder / "m.h").read_text())
    assert found is not None, name
    return int(found[1])


def test_bounds_know_the_runtime(root: Path) -> None:
    text = (root / "pysrc/kanecore/emit/runtime/projection_and_rank.h").read_text()
    assert f"#define KC_PROJECTION_STEPS {NEWTON}\n" in text
    trials, ways, steps, lengths = (
        re.findall(pattern, text)
        for pattern in (r"trial < (\d+)", r"damped < (\d+)", r"step < (\d+)", r"shorter <= (\d+)")
    )
    trials_of_ways = int(*trials) * int(*ways)  # of coordinates, then of speeds
    assert 2 * trials_of_ways * int(*steps) * (1 + int(*set(lengths))) == COUNT


def test_a_small_model(tmp_path: Path) -> None:
    """25 operations, two sines at most three times over, and the solution where a pivot vanishes."""
    gallery_states.loaded("cart_pole").export_c(tmp_path / "c", kernels=["rhs", "qdot"], prefix="m")
    assert 250 < stated(tmp_path / "c", "rhs") < 350
    assert "any_angle_rhs" in (tmp_path / "c/m.h").read_text()
    assert "any_angle_qdot" not in (tmp_path / "c/m.h").read_text()


@pytest.mark.long
@pytest.mark.compiler
@pytest.mark.skipif(shutil.which("clang++") is None, reason="C of designated members becomes C++ by clang++ alone")
@pytest.mark.parametrize(
    ("name", "kernels", "times"),
    [
        ("cart_pole", KERNELS, 1.7),
        ("rrp", KERNELS, 1.7),
        ("four_bar", OF_CONSTRAINTS, 4),
        ("rolling_disc", OF_CONSTRAINTS, 4),
    ],
)
def test_bounds_hold(tmp_path: Path, root: Path, name: str, kernels: tuple[str, ...], times: float) -> None:
    """No call takes more than the header says; without iteration the largest takes a good part of it."""
    gallery_states.loaded(name).export_c(tmp_path / "c", kernels=kernels, prefix="m")
    text = (tmp_path / "c/m.c").read_text()  # vectors hold no numbers that count
    (tmp_path / "c/model.c").write_text(text.replace("defined(__GNUC__) && !defined(KC_EXTRA_PRECISION)", "0"))
    rows = ", ".join(f'{{"{kernel}", m_{kernel}, 0}}' for kernel in kernels)
    source = (root / "tests/counted_operations.cpp").read_text().replace("KERNELS", rows)
    (tmp_path / "c/count.cpp").write_text(source)
    subprocess.run(["clang++", *FLAGS, "-I.", "count.cpp", "-o", "count"], cwd=tmp_path / "c", check=True)
    lines = subprocess.run([tmp_path / "c/count"], capture_output=True, text=True, check=True).stdout.splitlines()
    counted = {name: int(most) for name, most in map(str.split, lines)}
    iterates = {"project", "prepare"}
    assert {k: (n, stated(tmp_path / "c", k)) for k, n in counted.items() if n > stated(tmp_path / "c", k)} == {}
    assert [k for k, n in counted.items() if k not in iterates and stated(tmp_path / "c", k) > times * n + 60] == []
