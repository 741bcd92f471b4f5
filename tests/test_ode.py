# SPDX-License-Identifier: BSD-3-Clause
"""The integrators in C: their own test program, the tableaux against their theory, and every row by itself.

`faults` judges a row of `kc_methods` by its own claims, so that a new method is checked without a word here.
"""

import ctypes
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import prod
from pathlib import Path

import numpy as np
import pytest

from kanecore.build.c_compiler import find_compiler
from kanecore.motion.scipy_and_sundials import OUTSIDE_METHODS
from kanecore.motion.simulation import simulate

pytestmark = pytest.mark.compiler

NATIVE = Path(__file__).parents[1] / "kanecore"
INTEGRATORS = (
    *("chatter", "events", "integrate", "interpolate", "methods", "quaternions", "rosenbrock", "signal", "tableaux"),
    "zeros",
)
SOURCES = [NATIVE / f"src/kc_{name}.c" for name in INTEGRATORS]
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
FIRMWARE = ["-Wconversion", "-Wsign-conversion", "-Wdouble-promotion", "-Wshadow"]  # what its builds warn of as well
PLAIN = ["-O0"]


@pytest.fixture(scope="module")
def integrators(tmp_path_factory) -> Path:
    """All of them in one library, which several tests call; optimized, as some warnings need that."""
    return library_of(NATIVE, tmp_path_factory.mktemp("integrators"), "-O2", *FIRMWARE)


def library_of(native: Path, folder: Path, *flags: str) -> Path:
    """The sources in a folder such as kanecore/, compiled."""
    path = folder / "integrators.so"
    folders = [f"-I{native / 'include'}", f"-I{native / 'src'}"]
    files = [str(native / f"src/kc_{name}.c") for name in INTEGRATORS]
    command = [*find_compiler(), *STRICT, *(flags or PLAIN), "-fPIC", "-shared", *folders, *files]
    built = subprocess.run([*command, "-lm", "-o", str(path)], capture_output=True, text=True, check=False)
    assert not built.returncode, built.stderr
    return path


@pytest.mark.parametrize(
    "flags",
    [[], pytest.param(["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover"], marks=pytest.mark.long)],
    ids=["plain", "sanitized"],
)
def test_program(tmp_path, integrators, flags):
    program = tmp_path / "test_ode"
    folders = [f"-I{NATIVE / 'include'}", f"-I{NATIVE / 'src'}"]
    files = [Path(__file__).parent / "c" / "test_ode.c", *(SOURCES if flags else [integrators])]
    command = [*find_compiler(), *STRICT, *(flags or PLAIN), *folders, *map(str, files), "-lm", "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode and "sanitize" in built.stderr:
        pytest.skip(f"this compiler has no sanitizers: {built.stderr.splitlines()[0]}")
    assert not built.returncode, built.stderr
    ran = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "all checks passed\n"), ran.stdout + ran.stderr


@pytest.fixture(scope="module")
def tableau(integrators):
    library = ctypes.CDLL(str(integrators))

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


# Every row of kc_methods -----------------------------------------------------------------------------------
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)  # of the runs in tests/c/methods.c that choose their steps

HEUN = """
static const double heun_c[3] = {0.0, 1.0, 1.0};
static const double heun_a[3][3] = {{0.0}, {SLOPE}, {0.5, 0.5}};

static const kc_method heun = {.name = "heun",
                               .order = ORDER,
                               .stages = 2,
                               .extended = 3,
                               .n_dense = 2,
                               .a = heun_a[0],
                               .c = heun_c,
                               .step = by_tableau,
                               .dense = kc_hermite_dense,
                               .interpolate = kc_hermite_interpolate};

const kc_method *const kc_methods[] = {&heun, """
LAST = "\nconst kc_method *const kc_methods[] = {"


@dataclass(frozen=True)
class Method:
    """A row as tests/c/methods.c prints it: its claims, its tableau if it has one, and errors at halved steps."""

    name: str
    order: int
    stages: int
    control: int  # 0: steps are fixed
    a: list[float]
    c: list[float]
    # "global" of a run, "inside" of the interpolant in one step, "ends" of it at both ends, "estimates" of the error
    errors: dict[str, list[float]]
    controlled: list[float]  # errors of runs with TOLERANCES
    overruns: bool  # writes more slopes or numbers of the interpolant than the row says


def rows(native: Path, integrators: Path, folder: Path) -> list[Method]:
    """Those of a library of the sources in a folder such as kanecore/."""
    program = folder / "methods"
    sources = [Path(__file__).parent / "c" / "methods.c", integrators]
    folders = [f"-I{native / 'include'}", f"-I{native / 'src'}"]
    command = [*find_compiler(), *STRICT, *PLAIN, *folders, *map(str, sources), "-lm", "-o", str(program)]
    subprocess.run(command, check=True)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    methods = []
    for line in printed.splitlines():
        row = json.loads(line)
        errors = {name: row.pop(name) for name in ("global", "inside", "ends", "estimates")}
        methods.append(Method(**row, errors=errors))
    return methods


@pytest.fixture(scope="module")
def methods(integrators, tmp_path_factory):
    return rows(NATIVE, integrators, tmp_path_factory.mktemp("methods"))


# A rooted tree is the tuple of the trees on its root.
@cache
def trees(order: int) -> tuple[tuple, ...]:
    """All rooted trees of so many nodes."""
    smaller = [(size, tree) for size in range(1, order) for tree in trees(size)]
    return tuple(forests(order - 1, smaller))


def forests(nodes: int, allowed: list[tuple[int, tuple]]) -> Iterator[tuple]:
    """All multisets of the allowed trees with so many nodes together."""
    if nodes == 0:
        yield ()
    for i, (size, tree) in enumerate(allowed):
        if size <= nodes:
            for others in forests(nodes - size, allowed[i:]):
                yield (tree, *others)


@cache
def size_and_density(tree: tuple) -> tuple[int, int]:
    """The number of nodes, and γ (Hairer, Nørsett & Wanner 1993, II.2)."""
    branches = [size_and_density(branch) for branch in tree]
    size = 1 + sum(nodes for nodes, _ in branches)
    return size, size * prod(density for _, density in branches)


def worst_condition(a, b, order: int) -> float:
    """The largest |Σ b Φ(tree) − 1/γ(tree)| over the rooted trees of an order."""

    @cache
    def slopes(tree):
        return prod((a @ slopes(branch) for branch in tree), start=np.ones(len(b)))

    return max(abs(b @ slopes(tree) - 1 / size_and_density(tree)[1]) for tree in trees(order))


def faults_of_tableau(method: Method) -> list[str]:
    c = np.array(method.c)
    a = np.array(method.a).reshape(len(c), len(c))
    stages = method.stages
    faults = []
    if np.triu(a).any():
        faults.append("a stage uses slopes that come after it")
    if np.abs(a.sum(axis=1) - c).max() > 1e-14:
        faults.append("rows do not sum to their times")
    if c[stages] != 1.0:
        faults.append("the step does not end at its end")
    for order in range(1, method.order + 1):
        if worst_condition(a[:stages, :stages], a[stages, :stages], order) > 1e-14:
            faults.append(f"a condition of order {order} fails")
    return faults


def slope(errors: list[float], rounding: float) -> float:
    """The order that errors at halved steps show, where they are smallest and still above rounding."""
    above = [error for error in errors if error > rounding]
    return float(np.log2(above[-2] / above[-1])) if len(above) > 1 else np.nan


def faults(method: Method) -> list[str]:
    """What a row claims and does not keep."""
    found = faults_of_tableau(method) if method.a else []
    observed = slope(method.errors["global"], 2e-12)
    if not abs(observed - method.order) < 0.3:
        found.append(f"its order is {observed:.2f}, not {method.order}")
    if method.overruns:
        found.append("it needs more memory than its row says")
    if max(method.errors["ends"]) > 2e-15:
        found.append("its interpolant misses an end of the step")
    # an error of one step: h^p there is as good as the run, whose error is of order p
    inside = slope(method.errors["inside"], 1e-12)
    if not inside > method.order - 0.3:
        found.append(f"its interpolant is of order {inside - 1:.2f}, below {method.order - 1}")
    if method.control:
        observed = slope(method.errors["estimates"], 1e-16)
        if not abs(observed - method.control) < 0.3:
            found.append(f"its estimate goes with h^{observed:.2f}, not h^{method.control}")
        if not all(error < 200 * tolerance for error, tolerance in zip(method.controlled, TOLERANCES, strict=True)):
            found.append("its error does not follow the tolerance")
    return found


def test_rooted_trees_are_all_there():
    """Their numbers (OEIS A000081)."""
    assert [len(set(trees(order))) for order in range(1, 10)] == [1, 1, 2, 4, 9, 20, 48, 115, 286]
    assert sorted(size_and_density(tree)[1] for tree in trees(4)) == [4, 8, 12, 24]


def test_every_method_keeps_what_its_row_claims(methods):
    """The order of its step and, if it has one, of its tableau; its error estimate; its interpolant.

    The interpolants are of order 1 (euler, whose step is no better), 3 (rk4, the cubic), 4 (dopri5) and 7 (dop853).
    """
    assert {method.name: faults(method) for method in methods} == {method.name: [] for method in methods}


def heun(slope: str, order: int) -> str:
    """C text that stands for LAST: one method more, which is right with slope 1.0 and order 2."""
    return HEUN.replace("SLOPE", slope).replace("ORDER", str(order))


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "right", "wrong", "fault"),
    [
        ("kc_tableaux.c", "{0.075, 0.225}", "{0.076, 0.225}", "dopri5: rows do not sum"),
        ("kc_tableaux.c", "{0.075, 0.225}", "{0.076, 0.224}", "dopri5: a condition of order 4 fails"),
        ("kc_tableaux.c", "0.0, 0.2, 0.3,", "0.0, 0.2, 0.31,", "dopri5: its order is"),
        ("kc_tableaux.c", "{0.2},", "{0.2, 1e-30},", "dopri5: a stage uses slopes that come after it"),
        ("kc_tableaux.c", "-0.0012326388888888888,", "-0.0012,", "dopri5: its estimate goes with"),
        ("kc_methods.c", "2.0 * (k2[i] + k3[i])", "2.1 * (k2[i] + k3[i])", "rk4: its order is"),
        ("kc_methods.c", ".order = 4,", ".order = 5,", "rk4: its order is 4.00, not 5"),
        ("kc_methods.c", ".control = 8,", ".control = 7,", "dop853: its estimate goes with"),
        ("kc_interpolate.c", "(change + s * (s *", "(change + s * (theta *", "rk4: its interpolant is of order"),
        (
            "kc_interpolate.c",
            "f[n + i] - change)));",
            "f[n + i] - change))) + 1e-9;",
            "rk4: its interpolant misses an end",
        ),
        ("kc_methods.c", "sqrt(sum / n)", "1e-6 * sqrt(sum / n)", "dopri5: its error does not follow the tolerance"),
        ("kc_tableaux.h", "KC_DOP853_DENSE = 7", "KC_DOP853_DENSE = 6", "dop853: it needs more memory"),
        ("kc_methods.c", LAST, heun("0.9", 5), "heun: rows do not sum"),
        ("kc_methods.c", LAST, heun("1.0", 3), "heun: a condition of order 3 fails"),
    ],
)
def test_a_wrong_row_is_noticed(tmp_path, file, right, wrong, fault):
    assert any(words.startswith(fault) for words in faults_after(tmp_path, file, right, wrong))


@pytest.mark.long
def test_a_right_row_needs_no_word_here(tmp_path):
    assert not faults_after(tmp_path, "kc_methods.c", LAST, heun("1.0", 2))


def faults_after(folder: Path, file: str, right: str, wrong: str) -> list[str]:
    """Of all rows, in a copy of the sources with one change."""
    copy = folder / "kanecore"
    for name in ("include", "src"):
        shutil.copytree(NATIVE / name, copy / name)
    text = (copy / "src" / file).read_text(encoding="utf-8")
    assert text.count(right) == 1
    (copy / "src" / file).write_text(text.replace(right, wrong), encoding="utf-8")
    return [
        f"{method.name}: {words}" for method in rows(copy, library_of(copy, folder), folder) for words in faults(method)
    ]


def test_the_docstring_of_simulate_lists_the_methods(methods):
    text = simulate.__doc__
    choices = re.search(r"^ *method : \{(.*)\}$", text, re.MULTILINE)[1]
    by_hand = [method.name for method in methods if not method.name.endswith("_w")]  # those `simulate` takes by itself
    assert sorted(re.findall(r'"(\w+)"', choices)) == sorted([*by_hand, *OUTSIDE_METHODS])
    assert all(f'"{method.name}"' in text for method in methods)
    fixed = re.search(r"^ *Step of (.*?),", text, re.MULTILINE)[1]
    assert sorted(re.findall(r'"(\w+)"', fixed)) == sorted(method.name for method in methods if not method.control)


def test_the_header_lists_the_methods(methods):
    comment = re.search(r"A method by its name, or NULL:(.*?)\*/", (NATIVE / "include" / "kc_ode.h").read_text(), re.S)
    entries = re.findall(r"^ \*     (\w+) +(.*?order (\d+).*)$", comment[1], re.MULTILINE)
    listed = {name: (int(order), "fixed steps" in words) for name, words, order in entries}
    assert listed == {method.name: (method.order, not method.control) for method in methods}
