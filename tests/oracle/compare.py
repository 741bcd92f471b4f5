# SPDX-License-Identifier: BSD-3-Clause
"""How far a compiled model is from a reference; a NaN is infinitely far."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

TRUTH = Path(__file__).parents[1] / "truth"


def read_reference(name: str) -> dict[str, Any]:
    """The content of tests/truth/NAME.json.gz."""
    return json.loads(gzip.decompress((TRUTH / f"{name}.json.gz").read_bytes()))


def relative_error(found: npt.ArrayLike, expected: npt.ArrayLike) -> float:
    """max |found − expected| / max |expected|."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    if found.shape != expected.shape:
        raise ValueError(f"shape {found.shape} where {expected.shape} is expected")
    if not np.isfinite(found).all():
        return np.inf
    scale = np.max(np.abs(expected))
    difference = np.max(np.abs(found - expected))
    return float(difference / scale if scale > 0 else difference)


def residual(M: npt.NDArray, udot: npt.NDArray, f: npt.NDArray) -> float:
    """‖M u̇ − f‖ / (‖M‖ ‖u̇‖ + ‖f‖): how well u̇ solves the equations, whatever their condition."""
    if not np.isfinite(udot).all():
        return np.inf
    norm = np.linalg.norm
    left, scale = norm(M @ udot - f), norm(M, 2) * norm(udot) + norm(f)
    return float(left / scale if scale > 0 else left)


def symmetric(lower: list[list[float]]) -> npt.NDArray:
    """A matrix from the rows of its lower triangle."""
    M = np.zeros((len(lower), len(lower)))
    for i, row in enumerate(lower):
        M[i, : i + 1] = M[: i + 1, i] = row
    return M


def input_values(dyn: Any, system: dict[str, Any], state: dict[str, Any]) -> dict[str, float]:
    """A stored state's inputs and prescribed motions with their rates, by name, those that the model has."""
    values = dict(zip((x.func.__name__ for x in system.get("inputs", ())), state["inputs"], strict=True))
    for motion, rates in zip(system.get("prescribed", ()), state["prescribed"], strict=True):
        values |= {motion.func.__name__ + suffix: rate for suffix, rate in zip(("", "_d", "_dd"), rates, strict=True)}
    return {name: values[name] for name in dyn.input_names}


def state_errors(dyn: Any, state: dict[str, Any], r: dict[str, float]) -> dict[str, float]:
    """Relative errors of M, f and q̇ at a stored state, and the residual of u̇ in the stored equations.

    With constraints these are M u̇ = f + Gᵀλ and G u̇ + γ = 0; without, there is no u̇ where M is singular.
    """
    t, x = state["t"], np.array(state["q"] + state["u"])
    M, f = symmetric(state["M"]), np.array(state["f"])
    qdot = dyn.qdot(t, x, r=r)
    errors = {
        "mass_matrix": relative_error(dyn.mass_matrix(t, x, r=r), M),
        "forcing": relative_error(dyn.forcing(t, x, r=r), f),
        "qdot": relative_error(qdot, state["qdot"]),
    }
    if dyn.n_constraints or "udot" in state:
        udot = dyn.udot(t, x, r=r)
        if dyn.n_constraints:
            G = dyn.constraint_jacobian(t, x, r=r)
            f = f + dyn.multipliers(t, x, r=r) @ G
            errors["constraints"] = residual(G, udot, -dyn.constraint_bias(t, x, r=r))
        errors["udot"] = residual(M, udot, f)
        errors["rhs"] = relative_error(dyn.rhs(t, x, r=r), np.concatenate([qdot, udot]))
    return errors
