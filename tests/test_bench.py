# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks run, and say what they promise; how fast anything is, is no test."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kanecore as kc
from kanecore.gallery import rrp

pytestmark = pytest.mark.compiler

ERRORS = {"residual", "rhs_udot", "inverse", "sympy_difference"}
SIDES = {"case", "compiler", "ns_min", "ns", "ours/it", "ops", "error"}
SLOW_SIDES = SIDES - {"ns_min", "ns"} | {"ms_min", "ms"}
FIELDS = {
    "derive": {
        "core group": {
            *("case", "describe", "read", "derive", "emit", "to_c", "to_c_min", "to_c_first", "text_kB"),
            *("ops_rhs", "ops_mass_matrix", "ops_forcing", "residual"),
            *("sympy_ms", "sympy_ops", "sympy_difference"),
        },
        "C text": SLOW_SIDES,
    },
    "compile": {
        "core group": {
            *("case", "cold", "to_c", "cc", "cached", "described_cached", "cold_min", "cached_min"),
            *("processes", "text_kB", "library_kB", "ops_rhs", "residual"),
        },
        "file to machine code": {"case", "cold", "cached", "cold_min", "cached_min", "error"},
        "derivatives": {"case", "s", "derive", "cc"},
        "first number": {"case", "s", "ours/it", "error"},
    },
    "evaluate": {
        "kernels in C": {
            *("case", "ns", "ns_min", "ops", "sincos", "ns_per_op", "chains", "residual", "rhs_udot", "inverse")
        },
        "rhs from Python": {
            *("case", "c", "loop", "out", "allocating", "workspace", "ctypes"),
            *("+out", "+allocating", "+workspace", "+ctypes"),
            *("loop_min", "out_min", "allocating_min", "workspace_min", "ctypes_min"),
        },
        "u̇ in C": SIDES,
        "u̇ from Python": SIDES,
    },
    "derivatives": {
        "derivatives in C": {"case", "ns", "ns_min", "ops", "chains", "error"},
        "derivatives beside rhs, in C": {"case", "ns", "ns_min", "rhs", "column", "ops"},
        "derivatives from Python": {"case", "ns", "ns_min", "rhs"},
        "derivatives beside peers, from Python": SIDES,
        "derivatives beside peers, in C": SIDES,
        "derivatives beside peers, a state of a batch": SIDES,
    },
    "friction": {
        "friction of reactions": {"case", "ns", "ns_min", "ops", "chains", "error"},
        "first-order states": {"case", "ns", "ns_min", "ops", "chains", "error"},
    },
    "batch": {"u̇ per state": SIDES, "two threads": {"case", "one", "two", "two/one", "loops"}},
    "integrate": {"integration": SLOW_SIDES | {"drift"}},
    "rollout": {"a step of RK4": SIDES},
    "closed_loops": {
        "u̇ of n loops": SIDES,
        "growth": {"case", "ratio"},
        "motion": {"case", "compiler", "ms_min", "ms", "ours/it", "ops", "error"},
        "description to C": {"case", "describe", "read", "derive and emit"},
    },
    "mjcf": {"u̇ from Python": SIDES, "a step of RK4": SIDES, "file to u̇": {"case", "s"}},
    "stiff": {
        "stiff integration": {"case", "ms_min", "ours/it", "steps", "nfev", "njev", "error"},
        "ours over theirs at equal errors": {"case", "steps", "ms"},
    },
    "control": {"calls one by one": {"case", "p50", "p99", "p99.9", "worst", "p99.9/p50", "compiler"}},
    "peak": {
        "probe": {"case", "lanes", "ns", "per_ns"},
        "share of the peak": {"case", "ns", "instructions", "spills", "share"},
    },
}
PEERS = {"pydy", "casadi", "pinocchio", "mujoco", "heyoka"}  # of u̇ from Python


def python(root: Path, *arguments: str | Path) -> str:
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def run(root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the smallest run printed, and its JSON."""
    folder = tmp_path_factory.mktemp("results")
    return python(root, "bench/run.py", "--smallest", "--results", folder), folder / "run.json"


def result(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())


def tables(path: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    return {report["name"]: report["tables"] for report in result(path)["reports"]}


@pytest.mark.long
def test_facts(run: tuple[str, Path]) -> None:
    printed, path = run
    found = result(path)
    assert found["smallest"] is True
    assert {"date", "python", "packages", "processor", "compilers", "peers"} <= set(found["facts"])
    for report in found["reports"]:
        assert report["question"] in printed
        assert all(value > 0 for value in report["reference"].values())
    assert path.with_suffix(".md").read_text().startswith("date ")


@pytest.mark.long
@pytest.mark.parametrize("name", FIELDS)
def test_fields(run: tuple[str, Path], name: str) -> None:
    found = tables(run[1])[name]
    assert list(found) == list(FIELDS[name])
    for title, rows in found.items():
        assert rows
        assert len({row["case"] for row in rows}) == len(rows)
        for row in rows:
            assert set(row) <= FIELDS[name][title], row
            assert all(math.isfinite(value) for value in row.values() if isinstance(value, float))
        assert set().union(*rows) == FIELDS[name][title]


@pytest.mark.long
def test_errors_are_those_of_rounding(run: tuple[str, Path]) -> None:
    for found in tables(run[1]).values():
        for rows in found.values():
            for row in rows:
                assert all(row[error] == "" or row[error] < 1e-12 for error in ERRORS & set(row)), row


@pytest.mark.long
def test_sides_agree_or_are_not_compared(run: tuple[str, Path]) -> None:
    for name, found in tables(run[1]).items():
        for rows in found.values():
            for row in rows:
                assert "differs" not in row.values(), row
                if name in ("evaluate", "batch", "compile") and "ours/it" in row and row["error"] != "":
                    assert row["error"] < (1e-4 if "float" in row["case"] else 1e-9), row
    assert "rrp: sympy lambdify(cse)" in {row["case"] for row in tables(run[1])["evaluate"]["u̇ from Python"]}


@pytest.mark.long
def test_missing_peers_are_said_to_be_missing(run: tuple[str, Path]) -> None:
    installed = set(result(run[1])["facts"]["peers"])
    rows = {row["case"]: row for row in tables(run[1])["evaluate"]["u̇ from Python"]}
    for peer in PEERS:
        if peer in installed:
            assert any(case.startswith(f"rrp: {peer} ") for case in rows)
        else:
            assert rows[f"rrp: {peer}"]["ns_min"] == "not compared"


@pytest.mark.long
def test_peer_and_cache(run: tuple[str, Path]) -> None:
    found = tables(run[1])
    assert any(isinstance(row["sympy_difference"], float) for row in found["derive"]["core group"])
    assert all(row["processes"] == 0 for row in found["compile"]["core group"])


@pytest.mark.long
def test_compare(run: tuple[str, Path], root: Path) -> None:
    printed = python(root, "bench/compare.py", run[1], run[1])
    assert "arm7" in printed
    lines = [line for line in printed.splitlines() if line.startswith("reference loops")]
    assert len(lines) == len(FIELDS)
    assert all(set(line.split()[2:]) == {"1"} for line in lines)


@pytest.mark.long
def test_unknown_script(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "bench/run.py", "integrat"], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "no script 'integrat'; there are derive, compile, evaluate" in done.stderr


@pytest.fixture
def bench(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules of the benchmarks, as their scripts find them."""
    monkeypatch.syspath_prepend(str(root / "bench"))


@pytest.mark.parametrize("form", ["composite", "articulated"])
@pytest.mark.usefixtures("bench")
def test_recursions_of_the_peers(form: str) -> None:
    import models
    import recursions

    dyn = kc.load("rrp")
    x, r = np.array([0.3, -0.7, 0.2, 1.1, -0.4, 0.6]), [0.5, -1.2, 0.8]
    robot = models.robot().robot(lambda _, number: float(number))
    functions = recursions.Functions(math.sin, math.cos)
    udot = getattr(recursions, form)(robot, list(x[:3]), list(x[3:]), r, functions)
    assert np.allclose(udot, dyn.udot(0.0, x, r=r, p=rrp.PARAMETERS), rtol=1e-12)


LEG = """
<robot name="leg">
  <link name="trunk"><inertial><origin xyz="0.1 0 0.2" rpy="0.3 0 1"/><mass value="3"/>
    <inertia ixx="0.2" iyy="0.3" izz="0.25" ixy="0.01" ixz="0" iyz="0.02"/></inertial></link>
  <link name="mast"><inertial><origin xyz="0 0 0.1"/><mass value="0.5"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="thigh"><inertial><origin xyz="0.1 0.3 0"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.05" izz="0.08" ixy="0" ixz="0.01" iyz="0"/></inertial></link>
  <link name="shank"><inertial><origin xyz="0 0.2 0.1"/><mass value="1"/>
    <inertia ixx="0.05" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="mount" type="fixed"><parent link="trunk"/><child link="mast"/>
    <origin xyz="0.2 0 0.3" rpy="0.5 0.2 0"/></joint>
  <joint name="hip" type="revolute"><parent link="mast"/><child link="thigh"/>
    <origin xyz="0 0.1 0.2" rpy="0 0.4 0"/><axis xyz="0 -1 0"/></joint>
  <joint name="knee" type="prismatic"><parent link="thigh"/><child link="shank"/>
    <origin xyz="0.3 0 0"/><axis xyz="0.6 0 0.8"/></joint>
</robot>"""


@pytest.mark.long
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("form", ["composite", "articulated"])
@pytest.mark.usefixtures("bench")
def test_recursions_of_a_robot_from_a_file(form: str, floating: bool) -> None:
    import recursions
    import robots

    dyn = kc.compile(kc.Model.from_urdf(LEG, floating_base=floating))
    x = np.random.default_rng(0).uniform(-1.0, 1.0, dyn.n_x)
    if floating:
        x[3:7] /= np.linalg.norm(x[3:7])
    q, u, r = list(x[: dyn.n_q]), list(x[dyn.n_q :]), [0.5, -1.2]
    functions = recursions.Functions(math.sin, math.cos)
    efforts = [*[0.0] * (6 * floating), *r]
    udot = getattr(recursions, form)(robots.of_urdf(LEG, floating), q, u, efforts, functions)
    assert np.allclose(udot, dyn.udot(0.0, x, r=r), rtol=1e-12)


@pytest.mark.usefixtures("bench")
def test_a_side_that_does_something_else_is_not_timed() -> None:
    import sides

    def never(_: int) -> float:
        raise AssertionError

    ours = sides.Side("kanecore", [sides.repeated(lambda: None)], np.ones((2, 3)))
    other = sides.Side("other", [never], np.ones((2, 3)) * (1 + 1e-8))
    first, second, third = sides.rows("work", [ours, other], ["absent"], 1)
    assert first["case"] == "work: kanecore"
    assert (second["ns_min"], third["ns_min"]) == ("differs", "not compared")
    assert second["error"] == pytest.approx(1e-8)


@pytest.mark.usefixtures("bench")
def test_goals_take_the_best_of_the_others() -> None:
    import goals
    from report import Report

    times = {"kanecore": 60.0, "casadi composite": 120.0, "casadi articulated": 100.0}
    rows = [{"case": f"tree30 numbers: {name}", "ns_min": ns} for name, ns in times.items()]
    rows += [{"case": f"arm7: {name}", "ns_min": "not compared"} for name in ("kanecore", "casadi composite")]
    measured = {row["case"]: row for row in goals.goals([Report("evaluate", "?", {"u̇ in C": rows}, {}, 1.0)])}
    assert measured["tree, C"]["measured"] == pytest.approx(0.6)
    assert measured["tree, C"]["met"] == "yes"
    assert (measured["arm, C, parameters"]["measured"], measured["arm, C, parameters"]["met"]) == ("", "")
    assert len(measured) == len(goals.GOALS)


@pytest.mark.usefixtures("bench")
def test_goals_of_slow_works() -> None:
    import goals
    from report import Report

    times = {"kanecore dop853": (2.0, 1e-9), "pydy + scipy DOP853": (100.0, 2e-9)}
    rows = [{"case": f"cart 5 relative numbers: {k}", "ms_min": v[0], "drift": v[1]} for k, v in times.items()]
    stiff = [{"case": "van der Pol: radau", "steps": 1.25, "ms": 0.01}]
    reports = [
        Report("integrate", "?", {"integration": rows}, {}, 1.0),
        Report("stiff", "?", {"ours over theirs at equal errors": stiff}, {}, 1.0),
    ]
    measured = {row["case"]: row["measured"] for row in goals.goals(reports)}
    assert measured["cart, 5 links, 10 s, time"] == pytest.approx(0.02)
    assert measured["cart, 5 links, 10 s, drift"] == pytest.approx(0.5)
    assert measured["cart, 5 links, 10 s, time beside Taylor"] == ""
    assert measured["van der Pol, steps"] == 1.25
    assert measured["van der Pol, time"] == 0.01
    assert measured["damped pendulum, steps"] == ""


@pytest.mark.usefixtures("bench")
def test_ratios_at_equal_errors() -> None:
    """Ours of order 4 and theirs of order 2, at tolerances that mean other errors to each."""
    import stiff

    def rows(tolerance: float) -> list[dict[str, Any]]:
        mine = {"case": f"a, {tolerance}: ours", "error": tolerance, "steps": tolerance**-0.25, "ms_min": 1e-3}
        return [mine, {"case": f"a, {tolerance}: theirs", "error": 0.1 * tolerance, "steps": 500.0, "ms_min": 2.0}]

    [row] = stiff._ratios("a", [rows(1e-4), rows(1e-6), rows(1e-8)])
    assert row["case"] == "a: theirs"
    assert row["steps"] == pytest.approx(1e-7**-0.25 / 500)
    assert row["ms"] == pytest.approx(5e-4)


def test_other_code(root: Path) -> None:
    """Not among those of run.py: it needs JAX."""
    pytest.importorskip("jax")
    pytest.importorskip("scipy")
    printed = python(root, "bench/other_code.py", "--smallest")
    rows = [line.split() for line in printed.splitlines() if line.startswith(("cart_pole", "nquad"))]
    assert [row[0] for row in rows] == ["cart_pole", "cart_pole", "nquad"]
    assert all(float(row[-1]) < 1e-12 for row in rows)


@pytest.mark.long
def test_optimize(root: Path) -> None:
    """The same optimum with all derivatives and with some."""
    pytest.importorskip("casadi")
    printed = python(root, "bench/optimize.py", "--smallest")
    rows = [line.split() for line in printed.splitlines() if line.startswith("kanecore")]
    assert [row[:-5] for row in rows] == 2 * [["kanecore"], ["kanecore", "xr"]]
    assert all(float(row[-1]) < 1e-9 for row in rows)
