# SPDX-License-Identifier: BSD-3-Clause
"""The integrators in C: their own test program, and the tableaux against their theory."""

from __future__ import annotations

import ctypes
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kanecore.build.compiler import find_compiler

NATIVE = Path(__file__).parents[1] / "kanecore"
SOURCES = sorted((NATIVE / "src").glob("kc_[atsfu]*.c"))
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


@pytest.mark.parametrize(
    "flags", [["-O2"], ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover"]], ids=["plain", "sanitized"]
)
def test_program(tmp_path, flags):
    program = tmp_path / "test_ode"
    folders = [f"-I{NATIVE / 'include'}", f"-I{NATIVE / 'src'}"]
    files = [str(path) for path in (Path(__file__).parent / "c" / "test_ode.c", *SOURCES)]
    command = [*find_compiler(), *STRICT, *flags, *folders, *files, "-lm", "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode and "sanitize" in built.stderr:
        pytest.skip(f"this compiler has no sanitizers: {built.stderr.splitlines()[0]}")
    assert not built.returncode, built.stderr
    ran = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "all checks passed\n"), ran.stdout + ran.stderr


@pytest.fixture(scope="module")
def tableau(tmp_path_factory):
    path = tmp_path_factory.mktemp("tableau") / "tableau.so"
    command = [*find_compiler(), "-O1", "-fPIC", "-shared", str(NATIVE / "src" / "kc_tableaux.c"), "-o", str(path)]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(path))

    def table(name, *shape):
        return np.array((ctypes.c_double * int(np.prod(shape))).in_dll(library, f"kc_dop853_{name}")).reshape(shape)

    return {
        "c": table("c", 16),
        "a": table("a", 16, 16),
        "e5": table("e5", 13),
        "e3": table("e3", 13),
        "d": table("d", 4, 16),
    }


def test_rows_sum_to_their_times(tableau):
    np.testing.assert_allclose(tableau["a"].sum(axis=1), tableau["c"], atol=4e-15)
    assert not np.triu(tableau["a"]).any()


def test_weights_have_order_eight(tableau):
    b, c = tableau["a"][12][:12], tableau["c"][:12]
    for order in range(1, 9):
        assert abs(b @ c ** (order - 1) - 1 / order) < 1e-15, order
    a = tableau["a"][:12, :12]
    # a condition of each of orders 3, 4, 5, 6 that the row sums do not imply
    for left, value in ((c, Fraction(1, 6)), (c**2, Fraction(1, 12)), (c**3, Fraction(1, 20)), (c**4, Fraction(1, 30))):
        assert abs(b @ (a @ left) - float(value)) < 1e-15
    assert abs(b @ (a @ (a @ c)) - 1 / 24) < 1e-15


def test_error_estimates_vanish_at_low_order(tableau):
    c = tableau["c"][:13]
    for order in range(1, 6):
        assert abs(tableau["e5"] @ c ** (order - 1)) < 2e-14, order
    for order in range(1, 4):
        assert abs(tableau["e3"] @ c ** (order - 1)) < 2e-14, order
    assert abs(tableau["e5"] @ c**5) > 1e-6
    assert abs(tableau["e3"] @ c**3) > 1e-6


def test_same_numbers_as_scipy(tableau):
    ours = tableau
    theirs = pytest.importorskip("scipy.integrate._ivp.dop853_coefficients", reason="SciPy moved its private table")
    assert np.array_equal(ours["a"], theirs.A)
    assert np.array_equal(ours["e5"], theirs.E5)
    assert np.array_equal(ours["e3"], theirs.E3)
    assert np.array_equal(ours["d"], theirs.D)
