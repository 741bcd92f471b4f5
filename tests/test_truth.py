# SPDX-License-Identifier: BSD-3-Clause
"""Mechanisms with results from books, papers, other programs and closed forms, and SymPy's KanesMethod on them.

``truth/cases`` holds the numbers with their sources and how they were verified, ``truth/models`` the mechanisms.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from oracle.compare import input_values, read_reference, relative_error, state_errors
from oracle.gallery_systems import gallery_system
from truth.models import truth_system

import kanecore as kc

CASES = {path.stem: json.loads(path.read_text()) for path in (Path(__file__).parent / "truth" / "cases").glob("*.json")}
ROBOTS = sorted(name for name in CASES if name.startswith("robot_"))
SIMULATED = sorted(name for name, case in CASES.items() if "ivp" in case)
REFERENCE = read_reference("named_systems")["systems"]

#: The other cases of the collection that these come from: what they need beyond a tree without constraints.
NOT_COVERED = {
    "andrews_squeezer": "three closed loops: configuration constraints",
    "appell_hamel": "complex nonholonomic constraint on accelerations",
    "iftomm_a01_pendulum": "pendulum in x and y: a configuration constraint",
    "kane85_8_6": "planar four-bar: configuration constraints",
    "kane85_8_10_gears": "gear train: velocity constraints",
    "kane85_rolling_disk": "rolling without slip: velocity constraints",
    "lmd_four_bar": "planar four-bar: configuration constraints",
    "lmd_snakeboard": "no side slip: velocity constraints",
    "loop_four_bar": "closed loop: configuration constraints and their multipliers",
    "loop_slider_crank": "closed loop: configuration constraints and their multipliers",
    "skate_incline": "knife edge: a velocity constraint",
    "sphere_incline": "rolling without slip: velocity constraints",
    "unicycle": "rolling without slip: velocity constraints",
    "whipple_linear_benchmark": "rolling wheels and the pitch constraint of the bicycle, linearized",
}


@cache
def compiled(name: str, *arguments: Any) -> kc.CompiledModel:
    system = truth_system(name, *arguments)
    model = kc.Model(
        *(system["frame"], system["q"], system["u"]),
        kd_eqs=system["kdes"],
        bodies=system["bodies"],
        forcelist=system["loads"],
        inputs=system.get("inputs"),
        name=name,
    )
    values = {symbol: system["parameters"][symbol] for symbol in model.parameters}
    return kc.compile(model, parameters=values)


def tolerance(case: dict[str, Any]) -> float:
    given = case["tolerance"]
    return given if isinstance(given, float) else given.get("udot", given.get("udot_rel_to_max"))


def samples(case: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], list[float]]]:
    """(kernel, sample, expected result) of the samples of a case."""
    kernels = {
        "udot": "udot",
        "fr": "generalized_active_forces",
        "frstar": "generalized_inertia_forces",
        "T": "kinetic_energy",
        "mass_matrix": "mass_matrix",
    }
    for sample in case.get("samples", ()):
        if "kind" in sample:
            yield kernels[sample["kind"]], sample, sample["expected"]
        elif "Fr_exact" in sample:  # kane85_9_11 gives the coordinate alone
            yield "generalized_active_forces", {"q": [sample["q1"]], "u": [0.0]}, [sample["Fr_exact"]]
        elif "solved_udot" in sample:  # rotating_tube: its udot is any, for the inertia forces
            yield "udot", sample, sample["solved_udot"]
            yield "generalized_active_forces", sample, sample["F"]
            yield "generalized_inertia_forces", sample, sample["Fstar"]
        else:
            yield "udot", sample, sample["udot"]


def error(found: npt.ArrayLike, expected: npt.ArrayLike) -> float:
    """max |found − expected| / max(1, |expected|), the measure that the cases' tolerances mean."""
    found, expected = np.ravel(found), np.ravel(expected)
    if not np.isfinite(found).all():
        return np.inf
    return float(np.max(np.abs(found - expected) / max(1.0, np.max(np.abs(expected)))))


def test_every_case_is_covered_or_has_its_reason() -> None:
    assert len(CASES) + len(NOT_COVERED) == 40
    assert not CASES.keys() & NOT_COVERED
    checked = {name for name, case in CASES.items() if any(samples(case)) or "ivp" in case}
    assert checked | {*ROBOTS, "n_pendulum"} == set(CASES)


@pytest.mark.parametrize("name", sorted(name for name, case in CASES.items() if any(samples(case))))
def test_samples(name: str) -> None:
    dyn = compiled(name)
    for kernel, sample, expected in samples(CASES[name]):
        arguments = [sample.get("t", 0.0), sample["q"] + sample["u"]]
        if kernel == "generalized_inertia_forces":
            arguments.append(sample["udot"])
        assert error(getattr(dyn, kernel)(*arguments), expected) < tolerance(CASES[name]), kernel


@pytest.mark.parametrize("n", [5, 10, 20])
def test_n_pendulum(n: int) -> None:
    for state in CASES["n_pendulum"]["by_n"][str(n)]["states"]:
        assert error(compiled("n_pendulum", n).udot(0.0, state["q"] + state["u"]), state["udot"]) < 1e-9


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_agree_with_pinocchio(name: str) -> None:
    dyn, limit = compiled(name), tolerance(CASES[name])
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


@pytest.mark.parametrize("name", SIMULATED)
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


@pytest.mark.parametrize("name", REFERENCE)
def test_agrees_with_kanes_method(name: str) -> None:
    """M, f, q̇ and u̇ of every model here and in the gallery at random states, SymPy's in 30 digits."""
    kind, name = name.split("/")
    if kind == "gallery":
        dyn, system = kc.load(name), gallery_system(name)
    else:
        arguments = [5] if name == "n_pendulum" else []
        dyn, system = compiled(name, *arguments), truth_system(name, *arguments)
    for state in REFERENCE[f"{kind}/{name}"]["states"]:
        assert max(state_errors(dyn, state, input_values(dyn, system, state)).values()) < 1e-11


def test_the_whole_gallery_is_compared() -> None:
    assert {f"gallery/{name}" for name in kc.models()} <= set(REFERENCE)
