# SPDX-License-Identifier: BSD-3-Clause
"""Mechanisms with results from books, papers, other programs and closed forms, and SymPy's KanesMethod on them.

``truth/cases`` holds the numbers with their sources and how they were verified, ``truth/models`` the mechanisms.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy.physics.mechanics as me
from oracle.compare import input_values, read_reference, relative_error, state_errors
from oracle.gallery_systems import gallery_system
from sweep import part
from truth.models import truth_system

import kanecore as kc

CASES = {path.stem: json.loads(path.read_text()) for path in (Path(__file__).parent / "truth" / "cases").glob("*.json")}
ROBOTS = sorted(name for name in CASES if name.startswith("robot_"))
REFERENCE = read_reference("named_systems")["systems"]
#: Planar models give their bodies no inertia but about the normal; robots are published with impossible ones.
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")
#: Of a model that has a size: the size at which it is compared with KanesMethod.
ARGUMENTS = {"n_pendulum": (5,)}


@cache
def compiled(name: str, *arguments: Any) -> kc.CompiledModel:
    """The model of a case; of one with constraints the last speeds are dependent."""
    system = truth_system(name, *arguments)
    udot = [speed.diff(me.dynamicsymbols._t) for speed in system["u"]]
    rows = system.get("constraints", [])
    free = len(system["u"]) - len(rows)
    model = kc.Model(
        *(system["frame"], system["q"], system["u"][:free]),
        kd_eqs=system["kdes"],
        u_dependent=system["u"][free:],
        velocity_constraints=[row for row in rows if not row.has(*udot)],
        acceleration_constraints=[row for row in rows if row.has(*udot)],
        bodies=system["bodies"],
        forcelist=system["loads"],
        inputs=system.get("inputs"),
        attach=system.get("attach"),
        name=name,
    )
    values = {symbol: system["parameters"][symbol] for symbol in model.parameters}
    return kc.compile(model, parameters=values)


# Those with constraints; their systems, which say so, take SymPy seconds.
CONSTRAINED = [
    *("andrews_squeezer", "appell_hamel", "iftomm_a01_pendulum", "kane85_8_10_gears", "kane85_8_6"),
    *("kane85_rolling_disk", "lmd_four_bar", "lmd_snakeboard", "loop_four_bar", "loop_slider_crank", "skate_incline"),
    *("sphere_incline", "unicycle", "whipple_linear_benchmark"),
]


#: Models that take a third of a second each to derive or to run, and whose results others of the sources, of the
#: gallery and of SymPy have as well.
LATE = ("andrews_squeezer", "kane85_8_1_A", "kane85_8_3", "kane85_8_7", "kane85_rolling_disk")
LONG_RUNS = ("andrews_squeezer", "iftomm_a05_flyball")


@dataclass(frozen=True)
class Result:
    """What a source says of one state; of u̇ the first entries where there are fewer than speeds."""

    kernel: str
    q: list[float]
    u: list[float]
    expected: npt.ArrayLike
    limit: float
    t: float = 0.0
    udot: list[float] | None = None

    def found(self, dyn: kc.CompiledModel) -> npt.NDArray:
        arguments = [self.t, self.q + self.u, *([self.udot] if self.kernel == "generalized_inertia_forces" else [])]
        if dyn.n_constraints and self.kernel.startswith("generalized"):
            return getattr(dyn, self.kernel)(*arguments, nonholonomic=True)
        if self.kernel == "reactions":  # in the plane
            return dyn.reactions(*arguments)[:, :2]
        result = getattr(dyn, self.kernel)(*arguments)
        return result[: len(self.expected)] if self.kernel == "udot" else result


KINDS = {
    "udot": "udot",
    "fr": "generalized_active_forces",
    "frstar": "generalized_inertia_forces",
    "T": "kinetic_energy",
    "mass_matrix": "mass_matrix",
}


def results(name: str) -> Iterator[Result]:
    """What the source of a case says of states, with the tolerance of each."""
    case = CASES[name]
    given = case.get("tolerance", 1e-9)
    limits = given if isinstance(given, dict) else {}
    limit = limits.get("udot", limits.get("udot_rel_to_max", 1e-9)) if limits else given
    if name == "andrews_squeezer":  # the multipliers have the other sign
        for state, values, limit_udot, limit_multipliers in (
            (("q0", "u0"), "expected_{}_t0", limits["udot_t0"], limits["multipliers_t0"]),
            (("converged_q_t1", "converged_u_t1"), "converged_{}_t1", 1e-9, 1e-9),
            (("expected_q_t1", "expected_u_t1"), "expected_{}_t1", *[limits["published_udot_t1_rel"]] * 2),
        ):
            q, u = (case[key] for key in state)
            yield Result("udot", q, u, case[values.format("udot")], limit_udot)
            yield Result("multipliers", q, u, [-x for x in case[values.format("multipliers")]], limit_multipliers)
    elif name == "iftomm_a01_pendulum":
        for (x, y, u1, u2), multiplier in zip(case["expected_x_y_vx_vy"], case["expected_multiplier"], strict=True):
            yield Result("multipliers", [y, x], [u2, u1], [multiplier], limits["multiplier"])
    elif name == "appell_hamel":
        yield Result("multipliers", case["q0"], case["u0"], case["expected_multiplier"], limit)
    if "expected_udot" in case and "samples" not in case:
        q, u = (case[key if key in case else f"{key}0"] for key in "qu")
        yield Result("udot", q, u, case["expected_udot"], limit)
    for sample in case.get("samples", ()):
        q, u, t = sample.get("q"), sample.get("u"), sample.get("t", 0.0)
        if "kind" in sample:
            yield Result(KINDS[sample["kind"]], q, u, sample["expected"], limit, t, sample.get("udot"))
        elif "Fr_exact" in sample:  # kane85_9_11 gives the coordinate alone
            yield Result("generalized_active_forces", [sample["q1"]], [0.0], [sample["Fr_exact"]], limit)
        elif "solved_udot" in sample:  # rotating_tube: its udot is any, for the inertia forces
            yield Result("udot", q, u, sample["solved_udot"], limit, t)
            yield Result("generalized_active_forces", q, u, sample["F"], limit, t)
            yield Result("generalized_inertia_forces", q, u, sample["Fstar"], limit, t, sample["udot"])
        else:
            yield Result("udot", q, u, sample.get("udot_independent", sample.get("udot")), limit, t)
        if "cut_joint_force" in sample:
            yield Result("multipliers", q, u, sample["cut_joint_force"], limits["forces"])
            yield Result("reactions", q, u, joint_forces(sample["all_joint_forces"]), limits["forces"])


def joint_forces(published: dict[str, float]) -> list[list[float]]:
    """The forces on the children of the tree's joints, x and y, in the order of the bodies."""
    given: dict[str, list[float]] = {}
    for label, value in published.items():
        if "(cut)" not in label and not label.startswith("guide"):
            given.setdefault(label.partition("->")[2][:-2], []).append(value)
    return [given[child] for child in sorted(given, key=lambda child: (child.startswith("particle"), child))]


def error(found: npt.ArrayLike, expected: npt.ArrayLike) -> float:
    """max |found − expected| / max(1, |expected|), the measure that the cases' tolerances mean."""
    found, expected = np.ravel(found), np.ravel(expected)
    if found.shape != expected.shape or not np.isfinite(found).all():
        return np.inf
    return float(np.max(np.abs(found - expected) / max(1.0, np.max(np.abs(expected)))))


def test_every_case_is_compared() -> None:
    checked = {name for name in CASES if any(results(name)) or "ivp" in CASES[name]}
    assert len(CASES) == 40
    assert checked | {*ROBOTS, "n_pendulum", "whipple_linear_benchmark"} == set(CASES), "a case without a test"
    assert {f"truth/{name}" for name in CASES} == {name for name in REFERENCE if name.startswith("truth/")}
    assert len(CONSTRAINED) == 14
    assert all(any(results(name)) for name in CONSTRAINED if name != "whipple_linear_benchmark")


PUBLISHED = sorted(name for name in CASES if any(results(name)))
MOVING = sorted(name for name, case in CASES.items() if "ivp" in case)


@pytest.mark.parametrize("name", part(PUBLISHED, [name for name in PUBLISHED if name not in LATE]))
def test_published_results(name: str) -> None:
    """What the sources print, with constraints or without: u̇, λ, F, F*, T, joint forces."""
    for result in results(name):
        assert error(result.found(compiled(name)), result.expected) < result.limit, result.kernel


@pytest.mark.parametrize("n", part([5, 10, 20], [5]))
def test_n_pendulum(n: int) -> None:
    for state in CASES["n_pendulum"]["by_n"][str(n)]["states"]:
        assert error(compiled("n_pendulum", n).udot(0.0, state["q"] + state["u"]), state["udot"]) < 1e-9


@pytest.mark.parametrize("name", part(ROBOTS, ["robot_puma560", "robot_2R"]))
def test_robots_agree_with_pinocchio(name: str) -> None:
    dyn, limit = compiled(name), CASES[name]["tolerance"]
    for state in CASES[name]["states"]:
        x, tau = state["q"] + state["qd"], np.array(state["tau"])
        assert relative_error(dyn.mass_matrix(0.0, x), state["M"]) < limit
        assert relative_error(-dyn.forcing(0.0, x, r=np.zeros(dyn.n_r)), state["bias"]) < limit
        assert relative_error(dyn.udot(0.0, x, r=tau), state["qdd"]) < limit
        assert relative_error(dyn.inverse_dynamics(0.0, x, state["qdd"], r=np.zeros(dyn.n_r)), tau) < limit


def test_puma_against_published_values() -> None:
    """Values of the Robotics Toolbox, printed with four decimals; its rotors' inertia is not in the model."""
    published = CASES["robot_puma560"]["published_rtb"]
    limit = published["tolerance"]
    dyn, rotors = compiled("robot_puma560"), np.diag(published["rotor_inertia_G2Jm"])
    q, rest, off = published["qn"], [0.0] * 6, np.zeros(6)
    M = dyn.mass_matrix(0.0, q + rest) + rotors
    gravity = -dyn.forcing(0.0, q + rest, r=off)
    coriolis = -dyn.forcing(0.0, q + published["coriolis_qd"], r=off) - gravity
    assert np.abs(M - published["inertia_qn_with_rotor"]).max() < limit["inertia"]
    assert np.abs(gravity - published["gravload_qn"]).max() < limit["gravload"]
    assert np.abs(coriolis - published["coriolis_times_qd"]).max() < limit["coriolis_times_qd"]
    assert np.abs(M @ published["itorque_qdd"] - published["itorque"]).max() < limit["itorque"]


@pytest.mark.parametrize("name", part(MOVING, [name for name in MOVING if name not in LONG_RUNS]))
def test_motion(name: str) -> None:
    motion = CASES[name]["ivp"]
    dyn = compiled(name)
    x0 = np.array(motion["q0"] + motion["u0"])
    times = np.array(motion["t"])
    sol = dyn.simulate((motion["t0"], times[-1]), x0, method="dop853", rtol=1e-12, atol=1e-13, t_eval=times)
    found, expected = sol.x[:, motion["observe"]], np.array(motion["expected"])
    assert np.all(np.abs(found - expected) <= motion["rtol"] * np.maximum(1, np.abs(expected)))


@pytest.mark.parametrize(("name", "limit"), [("double_pendulum", 1e-7), ("bead_hoop", 1e-9)])
def test_trajectory(name: str, limit: float) -> None:
    case = CASES[name]
    x0 = np.array(case["x0"] if "x0" in case else case["initial"]["x0"])
    sol = compiled(name).simulate((0.0, case["t"][-1]), x0, rtol=1e-12, atol=1e-13, t_eval=np.array(case["t"]))
    assert np.abs(sol.x - case["reference_trajectory"]).max() < limit


def test_double_pendulum_keeps_its_energy() -> None:
    initial = CASES["double_pendulum"]["initial"]
    dyn, x0 = compiled("double_pendulum"), np.array(initial["x0"])
    assert dyn.kinetic_energy(0.0, x0) + dyn.potential_energy(0.0, x0) == pytest.approx(initial["E0"], abs=1e-12)
    assert dyn.simulate((0.0, 3.0), x0, rtol=1e-12, atol=1e-13).energy_drift < 1e-9


def test_bead_rests_at_its_relative_equilibrium() -> None:
    angle = CASES["bead_hoop"]["relative_equilibrium"]
    assert abs(compiled("bead_hoop").udot(0.3, [angle, 0.0])[0]) < 1e-12


@pytest.mark.parametrize("name", part(REFERENCE, ["gallery/gyroscope", "gallery/rotating_tube", "truth/kane85_8_1_E"]))
def test_agrees_with_kanes_method(name: str) -> None:
    """M, f, q̇ and u̇ of every model here and in the gallery at random states, SymPy's M and f in 50 digits.

    SymPy's are without constraints; u̇ and λ of the package solve M u̇ = f + Gᵀλ with them.
    """
    kind, name = name.split("/")
    if kind == "gallery":
        dyn, system = kc.load(name), gallery_system(name)
    else:
        arguments = ARGUMENTS.get(name, ())
        dyn, system = compiled(name, *arguments), truth_system(name, *arguments)
    for state in REFERENCE[f"{kind}/{name}"]["states"]:
        r = input_values(dyn, system, state)
        errors = state_errors(dyn, state, r)
        assert max(errors.values()) < 1e-11
        assert "udot" in errors


@pytest.mark.long
def test_the_whole_gallery_is_compared() -> None:
    """Those without constraints; the others are in test_gallery_constrained.py, and robots in test_gallery_files.py."""
    free = {name for name in kc.models() if not kc.load(name).n_constraints and name not in kc.gallery.robots()}
    assert {f"gallery/{name}" for name in free} <= set(REFERENCE)


# ------------------------------------------------------------------------------------- constrained cases
def test_particle_of_appell_and_hamel_moves_on_a_straight_line() -> None:
    case = CASES["appell_hamel"]
    x0 = np.array(case["q0"] + case["u0"])
    sol = compiled("appell_hamel").simulate((0.0, case["t"][-1]), x0, rtol=1e-12, atol=1e-13, t_eval=case["t"])
    assert error(sol.q, case["expected_q"]) < 1e-10


@pytest.mark.long  # tests/test_linearization.py has it of the model in the gallery
def test_mass_matrix_of_the_benchmark_bicycle() -> None:
    """Meijaard et al. 2007, table 2: the mass matrix of roll and steer, of the upright bicycle, to 14 digits."""
    case, dyn = CASES["whipple_linear_benchmark"], compiled("whipple_linear_benchmark")
    at_rest = np.zeros(dyn.n_x)
    G, free = dyn.constraint_jacobian(0.0, at_rest), dyn.n_u - dyn.n_constraints
    P = np.vstack([np.eye(free), -np.linalg.solve(G[:, free:], G[:, :free])])
    M = P.T @ dyn.mass_matrix(0.0, at_rest) @ P
    assert relative_error(M[:2, :2], case["M"]) < 1e-13


@pytest.mark.long  # tests/test_linearization.py has them of the model in the gallery
@pytest.mark.parametrize("v", sorted(map(int, CASES["whipple_linear_benchmark"]["eigenvalues"])))
def test_eigenvalues_of_the_benchmark_bicycle(v: int) -> None:
    """Meijaard et al. 2007, table 2: roll and steer at constant speed; all other eigenvalues are zero."""
    case, dyn = CASES["whipple_linear_benchmark"], compiled("whipple_linear_benchmark")
    x = np.zeros(dyn.n_x)
    for name, speed in (("ux", v), ("uthR", -v / case["parameters"]["rR"]), ("uthF", -v / case["parameters"]["rF"])):
        x[dyn.n_q + dyn.speed_names.index(name)] = speed
    assert np.abs(dyn.velocity_residual(0.0, x)).max() < 1e-14
    a, _ = dyn.linearize(0.0, x, minimal=True)
    found = np.linalg.eigvals(a)
    for entry in case["eigenvalues"][str(v)]:
        value = complex(*entry) if isinstance(entry, list) else entry
        assert np.abs(found - value).min() < case["tolerance"]["eigenvalues"] * max(1.0, abs(value))
