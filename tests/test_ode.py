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
SOURCES = sorted((NATIVE / "src").glob("kc_[dmstu]*.c"))
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

    def table(name, *shape, of="dop853"):
        return np.array((ctypes.c_double * int(np.prod(shape))).in_dll(library, f"kc_{of}_{name}")).reshape(shape)

    return {
        "c": table("c", 16),
        "a": table("a", 16, 16),
        "e5": table("e5", 13),
        "e3": table("e3", 13),
        "d": table("d", 4, 16),
        "dopri5": {
            "a": table("a", 7, 7, of="dopri5"),
            "c": table("c", 7, of="dopri5"),
            "e": table("e", 7, of="dopri5"),
            "d": table("d", 4, 7, of="dopri5"),
        },
    }


def test_order_conditions_of_dopri5(tableau):
    """All of them up to order 5 (Hairer, Nørsett & Wanner 1993, table II.2.1), by trees of the row sums."""
    a, c = tableau["dopri5"]["a"], tableau["dopri5"]["c"]
    np.testing.assert_allclose(a.sum(axis=1), c, atol=1e-15)
    b = a[-1]
    conditions = {
        1: [(np.ones_like(c), 1)],
        2: [(c, 2)],
        3: [(c**2, 3), (a @ c, 6)],
        4: [(c**3, 4), (c * (a @ c), 8), (a @ c**2, 12), (a @ (a @ c), 24)],
        5: [
            *((c**4, 5), (c**2 * (a @ c), 10), (c * (a @ c**2), 15), (c * (a @ (a @ c)), 30), ((a @ c) ** 2, 20)),
            *((a @ c**3, 20), (a @ (c * (a @ c)), 40), (a @ (a @ c**2), 60), (a @ (a @ (a @ c)), 120)),
        ],
    }
    for trees in conditions.values():
        for tree, gamma in trees:
            assert abs(b @ tree - 1 / gamma) < 1e-15


def test_dopri5_estimates_and_interpolates(tableau):
    c, e, d = (tableau["dopri5"][name] for name in "ced")
    for order in range(1, 5):
        assert abs(e @ c ** (order - 1)) < 1e-15
    assert abs(e @ c**4) > 1e-4
    np.testing.assert_allclose(d.sum(axis=0), tableau["dopri5"]["a"][-1], atol=1e-14)  # at theta = 1 the step itself
    for theta in (0.3, 0.8):
        weights = theta ** np.arange(1, 5) @ d
        for order in range(1, 5):
            assert abs(weights @ c ** (order - 1) - theta**order / order) < 1e-14


def test_dopri5_has_the_numbers_of_scipy(tableau):
    theirs = pytest.importorskip("scipy.integrate._ivp.rk", reason="SciPy moved its private table").RK45
    ours = tableau["dopri5"]
    np.testing.assert_allclose(ours["a"][:6, :5], theirs.A, rtol=1e-15, atol=1e-16)
    np.testing.assert_allclose(np.abs(ours["e"]), np.abs(theirs.E), rtol=1e-14)
    np.testing.assert_allclose(ours["d"].T, theirs.P, rtol=1e-14)


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
