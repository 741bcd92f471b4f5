# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an audit about constraints: their rates and derivatives, the rank of G, the way back to them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from kanecore.run.audit_bodies import Bodies
from kanecore.run.audit_rows import BY_DIFFERENCES, BY_FORMULA, NotApplicable, Row, judged, verdict
from kanecore.run.constraints import Constraints

__all__ = ["CHECKS"]

Array = npt.NDArray[np.float64]

_SMALL = 1e-6  # of the largest term: what smaller ones are compared with
_NEAR = 1e-3  # of the sizes of coordinates and speeds: how far off the constraints a state is brought back from


def _constraint_rates(name: str, b: Bodies) -> Row:
    """d/dt of φ and c along any motion, also one that they do not allow."""
    states, dyn, at = b.states, b.dyn, b.states.at
    if not (dyn.n_velocity or dyn.n_configuration):
        raise NotApplicable("there are no constraints on coordinates or speeds")
    udot = states.loose[0]
    motion, still = np.concatenate([states.qdot, udot], axis=-1), np.concatenate([states.qdot, np.zeros_like(udot)], -1)
    rates = states.slope("velocity_residual", motion, 1.0, states.input_rates)
    n = dyn.n_velocity
    products = at.rows[:, :n] * udot[:, np.newaxis, :]
    results = [
        (
            rates.value - np.sum(products, axis=-1) - at.bias[:, :n],
            np.sum(np.abs(products), axis=-1) + np.abs(at.bias[:, :n]) + np.abs(rates.value),
            rates.uncertainty,
        )
    ]
    labels = list(dyn.constraint_names[:n])
    if dyn.n_configuration:
        moved = states.slope("configuration_residual", still)
        terms = np.abs(at.configuration_jacobian * states.qdot[:, np.newaxis, :])
        given = np.einsum("nij,nj->ni", at.configuration_jacobian, states.qdot)
        results.append((moved.value - given, np.sum(terms, axis=-1) + np.abs(moved.value), moved.uncertainty))
        labels += [f"∂φ/∂q of {name}" for name in dyn.configuration_names]
    difference, size, gaps = (np.concatenate(part, axis=-1) for part in zip(*results, strict=True))
    size = size + _SMALL * np.max(size, axis=-1, keepdims=True)
    reason = "G u̇ + γ is not the derivative of the constraint"
    return judged(name, difference, size, BY_DIFFERENCES, uncertainty=gaps, labels=labels, reason=reason)


def _constraint_slopes(name: str, b: Bodies) -> Row:
    states, dyn = b.states, b.dyn
    if not (dyn.n_configuration or dyn.n_velocity):
        raise NotApplicable("there are no constraints on coordinates or speeds")
    rng = np.random.default_rng(2)
    dx, dr = states.sizes * rng.uniform(-1.0, 1.0, states.x.shape), rng.uniform(-1.0, 1.0, states.r.shape)
    products = states.call("_constraint_slopes") * np.concatenate([dx, dr], axis=-1)[:, np.newaxis, :]
    slopes = [states.slope(kernel, dx, 0.0, dr) for kernel in ("configuration_residual", "velocity_residual")]
    value, gaps = (
        np.concatenate(part, axis=-1) for part in zip(*((s.value, s.uncertainty) for s in slopes), strict=True)
    )
    terms = np.sum(np.abs(products), axis=-1) + np.abs(value)
    labels = [*dyn.configuration_names, *dyn.constraint_names[: dyn.n_velocity]]
    difference, reason = np.sum(products, axis=-1) - value, "it is not the derivative of φ, c"
    return judged(name, difference, terms, BY_DIFFERENCES, uncertainty=gaps, labels=labels, reason=reason)


def _rank(name: str, b: Bodies) -> Row:
    dyn, states = b.dyn, b.states
    if not dyn.n_constraints:
        raise NotApplicable("there are no constraints")
    fact = f"rank {states.rank} of {dyn.n_constraints} rows"
    if states.rank < dyn.n_constraints:
        fact += f", {dyn.n_constraints - states.rank} redundant: multipliers of least norm"
    typical = dyn.check(states.x[0], states.t[0], r=states.r[0]).typical_rank  # type: ignore[attr-defined]
    if typical > states.rank:
        fact = f"the rank is {states.rank} at random states, and {typical} nearby"
    return verdict(name, typical <= states.rank, fact)


def _projection(name: str, b: Bodies) -> Row:
    """States near those that were drawn are brought back to the constraints."""
    states, dyn = b.states, b.dyn
    if not (dyn.n_velocity or dyn.n_configuration):
        raise NotApplicable("there are no constraints on coordinates or speeds")
    rng = np.random.default_rng(3)
    near = states.x + _NEAR * states.sizes * rng.uniform(-1.0, 1.0, states.x.shape)
    for quaternion in dyn.unit:
        near[:, list(quaternion)] = states.x[:, list(quaternion)]
    at = Constraints(dyn, states.t, states.call("_project", x=near), states.r)
    reached = np.isfinite(at.x).all(axis=-1)
    if not reached.any():
        raise NotApplicable("no state nearby is brought back")
    residuals = np.concatenate([at.configuration_residual, at.velocity_residual], axis=-1)[reached]
    sizes = at.term_sizes[reached]
    labels = [*dyn.configuration_names, *dyn.constraint_names[: dyn.n_velocity]]
    sizes = sizes + _SMALL * np.max(sizes, axis=0)
    return judged(name, residuals, sizes, BY_FORMULA, labels=labels, reason="a state is not brought back to it")


CHECKS: tuple[tuple[str, Callable[[str, Bodies], Row]], ...] = (
    ("G u̇ + γ = dc/dt", _constraint_rates),
    ("slopes of constraints = differences", _constraint_slopes),
    ("rank of G", _rank),
    ("projection reaches the constraints", _projection),
)
"""The rows, and how each is found."""
