# SPDX-License-Identifier: BSD-3-Clause
"""Mechanisms with results from books, papers, other programs and closed forms, and SymPy's KanesMethod on them.

``truth/cases`` holds the numbers with their sources and how they were verified, ``truth/models`` the mechanisms.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from oracle.compare import input_values, read_reference, relative_error, state_errors
from oracle.gallery_systems import gallery_system
from truth.models import truth_system

import kanecore as kc

CASES = {path.stem: json.loads(path.read_text()) for path in (Path(__file__).parent / "truth" / "cases").glob("*.json")}
#: Cases with constraints: their M and f are compared with the constraints taken off, and with their published results
#: where NumPy puts the constraints back on.  test_constraints.py and test_gallery_constrained.py have them on:
WAITING = {
    "andrews_squeezer": "three closed loops: configuration constraints, their multipliers and the motion",
    "appell_hamel": "complex nonholonomic constraint on accelerations, and the motion",
    "iftomm_a01_pendulum": "pendulum in x and y: a configuration constraint and the motion",
    "kane85_8_6": "planar four-bar: generalized forces of the independent speed by the package itself",
    "kane85_8_10_gears": "gear train: generalized forces of the independent speed by the package itself",
    "kane85_rolling_disk": "rolling without slip: accelerations and forces of the independent speeds",
    "lmd_four_bar": "planar four-bar: configuration constraints",
    "lmd_snakeboard": "no side slip: velocity constraints",
    "loop_four_bar": "closed loop: configuration constraints, their multipliers, forces in all joints",
    "loop_slider_crank": "closed loop: configuration constraints, their multipliers, forces in all joints",
    "skate_incline": "knife edge: a velocity constraint and the motion",
    "sphere_incline": "rolling without slip: velocity constraints",
    "unicycle": "rolling without slip: velocity constraints",
    "whipple_linear_benchmark": "rolling wheels and the pitch constraint of the bicycle, linearized; its eigenvalues",
}
FREE = {name: case for name, case in CASES.items() if name not in WAITING}
ROBOTS = sorted(name for name in FREE if name.startswith("robot_"))
SIMULATED = sorted(name for name, case in FREE.items() if "ivp" in case)
REFERENCE = read_reference("named_systems")["systems"]
#: Planar models give their bodies no inertia but about the normal; robots are published with impossible ones.
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")
#: Of a model that has a size: the size at which it is compared with KanesMethod.
ARGUMENTS = {"n_pendulum": (5,)}


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
    checked = {name for name, case in FREE.items() if any(samples(case)) or "ivp" in case} | {*ROBOTS, "n_pendulum"}
    assert len(CASES) == 40
    assert checked == set(FREE), "a case in truth/cases without a test"
    assert set(CASES) - checked == set(WAITING)
    assert {f"truth/{name}" for name in CASES} == {name for name in REFERENCE if name.startswith("truth/")}
    assert {name for name in CASES if "constraints" in truth_system(name, *ARGUMENTS.get(name, ()))} == set(WAITING)


@pytest.mark.parametrize("name", sorted(name for name, case in FREE.items() if any(samples(case))))
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
    """M, f, q̇ and u̇ of every model here and in the gallery at random states, SymPy's in 50 digits."""
    kind, name = name.split("/")
    if kind == "gallery":
        dyn, system = kc.load(name), gallery_system(name)
    else:
        arguments = ARGUMENTS.get(name, ())
        dyn, system = compiled(name, *arguments), truth_system(name, *arguments)
    for state in REFERENCE[f"{kind}/{name}"]["states"]:
        r = input_values(dyn, system, state)
        assert max(state_errors(dyn, state, r).values()) < 1e-11
        if "udot" not in state:  # a speed moves no mass until the constraints are on
            with pytest.raises(kc.SingularError):
                dyn.udot(state["t"], state["q"] + state["u"], r=r)


def test_the_whole_gallery_is_compared() -> None:
    """Those without constraints; the others are in test_gallery_constrained.py."""
    free = {name for name in kc.models() if not kc.load(name).n_constraints}
    assert {f"gallery/{name}" for name in free} <= set(REFERENCE)


# ---------------------------------------------------------------- published results of constrained cases


@cache
def constraint_rows(name: str) -> Callable[..., tuple[npt.NDArray, npt.NDArray]]:
    """``rows(q, u, qdot)``: G and g of the constraints as G u̇ + g = 0, by SymPy and NumPy."""
    system = truth_system(name)
    t, q, u = me.dynamicsymbols._t, system["q"], system["u"]
    udot, values = [speed.diff(t) for speed in u], system["parameters"]
    rows = sm.Matrix([row if row.has(*udot) else row.diff(t) for row in system["constraints"]])
    G, g = rows.jacobian(udot), rows.xreplace(dict.fromkeys(udot, sm.S.Zero))
    arguments = [[x.diff(t) for x in q], q, u, list(values)]
    plain = [[sm.Dummy() for _ in group] for group in arguments]
    table = {x: y for group, names in zip(arguments, plain, strict=True) for x, y in zip(group, names, strict=True)}
    evaluate = sm.lambdify(plain, [me.msubs(G, table), me.msubs(g, table)])

    def numbers(q: list[float], u: list[float], qdot: npt.NDArray) -> tuple[npt.NDArray, npt.NDArray]:
        G, g = evaluate(qdot, q, u, list(values.values()))
        return np.array(G, float), np.array(g, float).ravel()

    return numbers


def held(name: str, q: list[float], u: list[float]) -> tuple[npt.NDArray, npt.NDArray, npt.NDArray]:
    """u̇ and λ of M u̇ = f + Gᵀλ, G u̇ + g = 0 with the package's M and f; and P, speeds per independent speed."""
    dyn, x = compiled(name), q + u
    G, g = constraint_rows(name)(q, u, dyn.qdot(0.0, x))
    M, f, (m, n) = dyn.mass_matrix(0.0, x), dyn.forcing(0.0, x), G.shape
    solution = np.linalg.solve(np.block([[M, -G.T], [G, np.zeros((m, m))]]), np.concatenate([f, -g]))
    free = n - m  # the models have their dependent speeds last
    P = np.vstack([np.eye(free), -np.linalg.solve(G[:, free:], G[:, :free])])
    return solution[:n], solution[n:], P


def published(name: str) -> Iterator[tuple[str, list[float], list[float], list[float], float]]:
    """(what, q, u, expected, tolerance) of a constrained case."""
    case = CASES[name]
    limit = case["tolerance"] if isinstance(case["tolerance"], float) else case["tolerance"].get("udot", 1e-9)
    if name == "andrews_squeezer":  # its multipliers have the other sign
        for q, u, end in (("q0", "u0", "t0"), ("converged_q_t1", "converged_u_t1", "t1")):
            which = "expected" if end == "t0" else "converged"
            yield "udot", case[q], case[u], case[f"{which}_udot_{end}"], 1e-9
            yield "multipliers", case[q], case[u], [-x for x in case[f"{which}_multipliers_{end}"]], 1e-9
    elif name == "iftomm_a01_pendulum":
        for (x, y, u1, u2), multiplier in zip(case["expected_x_y_vx_vy"], case["expected_multiplier"], strict=True):
            yield "multipliers", [y, x], [u2, u1], [multiplier], case["tolerance"]["multiplier"]
    elif "expected_udot" in case and "samples" not in case:
        state = ("q", "u") if "q" in case else ("q0", "u0")
        yield "udot", case[state[0]], case[state[1]], case["expected_udot"], limit
    for sample in case.get("samples", ()):
        q, u = sample["q"], sample["u"]
        if "kind" in sample:
            yield sample["kind"], q, u, sample["expected"], limit
            continue
        yield "udot", q, u, sample.get("udot_independent", sample.get("udot")), limit
        if "cut_joint_force" in sample:
            yield "multipliers", q, u, sample["cut_joint_force"], case["tolerance"]["forces"]


@pytest.mark.parametrize("name", sorted(set(WAITING) - {"whipple_linear_benchmark"}))
def test_published_results_with_the_constraints_put_back(name: str) -> None:
    """What the sources print of constrained systems follows from M, f, F_r and T without the constraints."""
    dyn = compiled(name)
    for what, q, u, expected, limit in published(name):
        udot, multipliers, P = held(name, q, u)
        if what == "udot":
            found = udot[: len(expected)]
        elif what == "multipliers":
            found = multipliers
        elif what == "fr":
            found = P.T @ dyn.generalized_active_forces(0.0, q + u)
        else:
            found = dyn.kinetic_energy(0.0, q + u)
        assert error(found, expected) < limit, what


def test_every_waiting_case_has_published_results() -> None:
    assert all(any(published(name)) for name in set(WAITING) - {"whipple_linear_benchmark"})


def test_mass_matrix_of_the_benchmark_bicycle() -> None:
    """Meijaard et al. 2007, table 2: the mass matrix of roll and steer, of the upright bicycle, to 14 digits."""
    case, at_rest = CASES["whipple_linear_benchmark"], [0.0] * 8
    _, _, P = held("whipple_linear_benchmark", at_rest, at_rest)
    M = P.T @ compiled("whipple_linear_benchmark").mass_matrix(0.0, at_rest + at_rest) @ P
    assert relative_error(M[:2, :2], case["M"]) < 1e-13
