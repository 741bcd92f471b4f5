# SPDX-License-Identifier: BSD-3-Clause
"""200 random constrained systems against saddle-point equations in NumPy; ``oracle/random_constrained.py`` says what
they contain.

Every tenth is compiled; of the others the equations are evaluated on the graph and solved by NumPy.  By default ten of
the ones and ten of the others run; the others are long.

Errors of u̇ and λ are measured as max |found − expected| / max(1, max |expected|): a multiplier has the size of the
forces or, where it vanishes, of what rounding in forces of the order of one leaves.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from oracle.compare import input_values, read_reference
from oracle.make_reference import constrained_census
from oracle.on_graph import OnGraph
from oracle.random_constrained import CONSTRAINT_KINDS, random_constrained
from sweep import every

import kanecore as kc
from kanecore.constraints.constraint_values import residuals

# Drawn inertias need not be those of a solid body; they are computed with all the same.
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")

SYSTEMS = range(200)
CENSUS = read_reference("random_census")["constrained"]
TOLERANCE = 1e-9
BALANCE = 1e-10
#: In how many of the systems each kind must occur.
LEAST = 10


def described(system: dict[str, Any]) -> tuple[kc.Model, dict[str, float]]:
    """The model and the values of its parameters."""
    n_q, n_u = (len(system[name]) - system[f"{name}_dependent"] for name in ("q", "u"))
    rows = {
        f"{kind}_constraints": [row.expression for row in system["constraints"] if row.kind == kind]
        for kind in ("configuration", "velocity", "acceleration")
    }
    model = kc.Model(
        *(system["frame"], system["q"][:n_q], system["u"][:n_u]),
        kd_eqs=system["kdes"],
        q_dependent=system["q"][n_q:],
        u_dependent=system["u"][n_u:],
        bodies=system["bodies"],
        forcelist=system["loads"],
        **rows,
    )
    return model, {str(symbol): float(system["parameters"][symbol]) for symbol in model.parameters}


def error(found: npt.ArrayLike, expected: npt.NDArray[np.float64]) -> float:
    found = np.asarray(found, float)
    assert found.shape == expected.shape
    if not np.isfinite(found).all():
        return np.inf
    return float(np.max(np.abs(found - expected), initial=0.0) / max(1.0, np.max(np.abs(expected), initial=0.0)))


def drawn(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A system, and what the oracle says of it at its state."""
    system = random_constrained(seed)
    expected = system["oracle"](system["state"])
    assert constrained_census(system, expected) == CENSUS[str(seed)]
    return system, expected


@pytest.mark.parametrize("seed", every(32, SYSTEMS[::10]))
def test_agrees_with_an_independent_formulation(seed: int) -> None:
    system, expected = drawn(seed)
    state = system["state"]
    model, values = described(system)
    dyn = kc.compile(model, parameters=values)
    time, x, r = state["t"], np.array([*state["q"], *state["u"]]), input_values(dyn, system, state)

    assert np.max(np.abs(expected["residuals"]), initial=0.0) < 1e-14, "the state must be on the constraints"
    assert np.max(np.abs(residuals(dyn, time, x, r=r)), initial=0.0) < 1e-13
    found = dyn.check(x, time, r=r)
    assert (found.rank, found.typical_rank) == (system["rank"], system["rank"])
    assert found.dof == len(system["u"]) - system["rank"]

    G = dyn.constraint_jacobian(time, x, r=r)
    assert error(G, expected["G"]) < TOLERANCE
    udot, multipliers = dyn.udot(time, x, r=r), dyn.multipliers(time, x, r=r)
    check_motion(system, expected, udot, multipliers)
    if system["u_dependent"]:
        check_dependent(system, dyn, time, x, r)


@pytest.mark.filterwarnings("ignore:u_dependent of")  # some name fewer speeds than rows are independent
@pytest.mark.long
@pytest.mark.parametrize("seed", SYSTEMS)
def test_a_state_on_the_constraints_stays(seed: int) -> None:
    """In system 41 rates of constraints are summed from what rounding leaves of zero: q̇ = u + w with u = −w."""
    system, _ = drawn(seed)
    state = system["state"]
    model, values = described(system)
    dyn = kc.compile(model, parameters=values)
    x, r = np.array([*state["q"], *state["u"]]), input_values(dyn, system, state)
    for keep in ("independent", None):
        np.testing.assert_allclose(dyn.consistent(state["t"], x, keep, r=r), x, rtol=0, atol=1e-11)


@pytest.mark.long
@pytest.mark.parametrize("seed", every(200, [seed for seed in SYSTEMS if seed % 10], first=9))
def test_equations_on_the_graph(seed: int) -> None:
    """M, f, G, γ and the constraints' values; u̇ and the least λ that they determine; F_r + F*_r = f − M u̇."""
    system, expected = drawn(seed)
    state = system["state"]
    graph = OnGraph(*described(system))
    at = (state["t"], np.array([*state["q"], *state["u"]]))
    r = input_values(graph, system, state)

    values = np.concatenate([graph.configuration_residual(*at, r=r), graph.velocity_residual(*at, r=r)])
    assert np.max(np.abs(values), initial=0.0) < 1e-13
    M, f = graph.mass_matrix(*at, r=r), graph.forcing(*at, r=r)
    G, gamma = graph.constraint_jacobian(*at, r=r), graph.constraint_bias(*at, r=r)
    for found, name in ((M, "M"), (f, "f"), (G, "G"), (gamma, "gamma")):
        assert error(found, expected[name]) < TOLERANCE, (name, system["kinds"])
    basis = np.linalg.svd(G)[2]
    free, held = basis[system["rank"] :].T, basis[: system["rank"]].T  # along the constraints, and across them
    across = -held @ np.linalg.lstsq(G @ held, gamma, rcond=None)[0]
    udot = across + free @ np.linalg.solve(free.T @ M @ free, free.T @ (f - M @ across))
    multipliers = held @ np.linalg.solve(held.T @ G.T @ G @ held, held.T @ (M @ udot - f))
    check_motion(system, expected, udot, G @ multipliers)

    forces = graph.generalized_active_forces(*at, r=r) + graph.generalized_inertia_forces(*at, udot, r=r)
    size = np.max(np.abs(f), initial=0.0) + np.max(np.abs(M @ udot), initial=0.0)
    assert np.max(np.abs(forces - f + M @ udot)) < BALANCE * max(1.0, size)


def check_motion(system: dict[str, Any], expected: dict[str, Any], udot: Any, multipliers: Any) -> None:
    assert error(udot, expected["udot"]) < TOLERANCE, system["kinds"]
    assert error(multipliers, expected["multipliers"]) < TOLERANCE, system["kinds"]

    # what is left of the equations of motion that the oracle found, beside the largest force in them
    M, f, G = expected["M"], expected["f"], expected["G"]
    terms = np.array([M @ udot, -f, -G.T @ multipliers])
    assert np.max(np.abs(terms.sum(axis=0))) < BALANCE * np.max(np.abs(terms))
    left = G @ udot + expected["gamma"]
    assert np.max(np.abs(left) / (1.0 + np.abs(G) @ np.abs(udot)), initial=0.0) < BALANCE


def check_dependent(system: dict[str, Any], dyn: kc.CompiledModel, time: float, x: Any, r: dict[str, float]) -> None:
    """Kane's equations in the independent speeds, and the state found again from these alone."""
    udot = dyn.udot(time, x, r=r)
    active = dyn.generalized_active_forces(time, x, r=r, nonholonomic=True)
    inertia = dyn.generalized_inertia_forces(time, x, udot, r=r, nonholonomic=True)
    assert active.shape == inertia.shape == (dyn.n_u - system["rank"],)
    size = np.max(np.abs(dyn.generalized_active_forces(time, x, r=r)), initial=0.0)
    size += np.max(np.abs(dyn.generalized_inertia_forces(time, x, udot, r=r)), initial=0.0)
    assert np.max(np.abs(active + inertia), initial=0.0) < BALANCE * max(1.0, size)

    if any(row.kind == "acceleration" for row in system["constraints"]):
        return  # constraints on accelerations say nothing of the speeds
    guess = x.copy()
    dependent = [*range(dyn.n_q - system["q_dependent"], dyn.n_q), *range(dyn.n_x - system["u_dependent"], dyn.n_x)]
    guess[dependent] += 1e-3 * np.random.default_rng(0).uniform(-1, 1, len(dependent))
    again = dyn.consistent(time, guess, r=r)
    np.testing.assert_allclose(again, x, rtol=0, atol=1e-8)
    independent = np.delete(np.arange(dyn.n_x), dependent)
    assert np.array_equal(again[independent], x[independent])


@pytest.mark.parametrize("kind", CONSTRAINT_KINDS)
def test_every_kind_occurs(kind: str) -> None:
    assert sum(kind in CENSUS[str(seed)]["kinds"] for seed in SYSTEMS) >= LEAST


def test_sizes_and_ranks_range() -> None:
    systems = [CENSUS[str(seed)] for seed in SYSTEMS]
    assert set(range(1, 6)) <= {system["rank"] for system in systems}
    assert set(range(2, 9)) <= {system["speeds"] for system in systems}
    assert sum(system["rows"] > system["rank"] for system in systems) >= 4 * LEAST
