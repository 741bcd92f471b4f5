# SPDX-License-Identifier: BSD-3-Clause
"""200 random constrained systems against saddle-point equations in NumPy; ``oracle/random_constrained.py`` says what
they contain.

Errors of u̇ and λ are measured as max |found − expected| / max(1, max |expected|): a multiplier has the size of the
forces or, where it vanishes, of what rounding in forces of the order of one leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from oracle.compare import input_values, read_reference
from oracle.make_reference import constrained_census
from oracle.random_constrained import CONSTRAINT_KINDS, random_constrained

import kanecore as kc
from kanecore.run.constraints import residuals

# Drawn inertias need not be those of a solid body; they are computed with all the same.
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")

SYSTEMS = range(200)
CENSUS = read_reference("random_census")["constrained"]
TOLERANCE = 1e-9
BALANCE = 1e-10
#: In how many of the systems each kind must occur.
LEAST = 10


def compiled(seed: int, system: dict[str, Any]) -> kc.CompiledModel:
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
    values = {symbol: float(system["parameters"][symbol]) for symbol in model.parameters}
    # most of the time is the compiler's
    return kc.compile(model, parameters=values, cflags=["-O0"] if seed % 10 else None)


def error(found: npt.ArrayLike, expected: npt.NDArray[np.float64]) -> float:
    found = np.asarray(found, float)
    assert found.shape == expected.shape
    if not np.isfinite(found).all():
        return np.inf
    return float(np.max(np.abs(found - expected), initial=0.0) / max(1.0, np.max(np.abs(expected), initial=0.0)))


@pytest.mark.parametrize("seed", SYSTEMS)
def test_agrees_with_an_independent_formulation(seed: int) -> None:
    system = random_constrained(seed)
    state = system["state"]
    expected = system["oracle"](state)
    assert constrained_census(system, expected) == CENSUS[str(seed)]
    dyn = compiled(seed, system)
    time, x, r = state["t"], np.array([*state["q"], *state["u"]]), input_values(dyn, system, state)

    assert np.max(np.abs(expected["residuals"]), initial=0.0) < 1e-14, "the state must be on the constraints"
    assert np.max(np.abs(residuals(dyn, time, x, r=r)), initial=0.0) < 1e-13
    found = dyn.check(x, time, r=r)
    assert (found.rank, found.typical_rank) == (system["rank"], system["rank"])
    assert found.dof == len(system["u"]) - system["rank"]

    G = dyn.constraint_jacobian(time, x, r=r)
    assert error(G, expected["G"]) < TOLERANCE
    udot, multipliers = dyn.udot(time, x, r=r), dyn.multipliers(time, x, r=r)
    assert error(udot, expected["udot"]) < TOLERANCE, system["kinds"]
    assert error(multipliers, expected["multipliers"]) < TOLERANCE, system["kinds"]

    # what is left of the equations of motion that the oracle found, beside the largest force in them
    M, f, G = expected["M"], expected["f"], expected["G"]
    terms = np.array([M @ udot, -f, -G.T @ multipliers])
    assert np.max(np.abs(terms.sum(axis=0))) < BALANCE * np.max(np.abs(terms))
    left = G @ udot + expected["gamma"]
    assert np.max(np.abs(left) / (1.0 + np.abs(G) @ np.abs(udot)), initial=0.0) < BALANCE
    if system["u_dependent"]:
        check_dependent(system, dyn, time, x, r)


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
