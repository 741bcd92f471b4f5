# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an audit about Hamilton's quantities: p, H, the parts of T and their rates, compared with L by differences.

K is the part of L = K − U with the speeds.  It is T for bodies, p·u − T for a model made of a Lagrangian, and p·q̇ − H
+ U for a model in q and p.  With q̇ = Y u + z the speeds w = u + u_z, Y u_z = z, vanish together with q̇.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from kanecore.audit.mechanics_as_written import Bodies
from kanecore.audit.verdicts import BY_DIFFERENCES, BY_FORMULA, Row, judged
from kanecore.run.numerical_derivatives import Slope
from kanecore.tolerances import RANK

__all__ = ["CHECKS"]

Array = npt.NDArray[np.float64]

_SMALL = 1e-6  # floor for values that vanish at a state, relative to the largest at all states


def _kinetic_part(b: Bodies, t: Array, x: Array, r: Array) -> Array:
    """K."""

    def value(kernel: str) -> Array:
        return b.states.call(kernel, t=t, x=x, r=r)

    u = x[..., b.dyn.names.speeds]
    if len(b.point):
        return value("kinetic_energy")
    if b.dyn.kernels.has("momenta"):
        return np.asarray(np.sum(value("momenta") * u, axis=-1) - value("kinetic_energy"))
    return np.asarray(np.sum(u * value("qdot"), axis=-1) - value("hamiltonian") + value("potential_energy"))


def _slope(b: Bodies, dx: Array) -> Slope:
    """The derivatives of K."""
    return b.states.along(partial(_kinetic_part, b), dx, 0.0, np.zeros_like(b.states.r))


def _of_speeds(b: Bodies, change: Array) -> Array:
    """Direction in which only speeds change."""
    return np.concatenate([np.zeros((*change.shape[:-1], b.dyn.n_q)), change], axis=-1)


def _of_coordinates(b: Bodies) -> Array:
    """Random directions in which only coordinates change, (3, n, n_x)."""
    dx = b.states.sizes * np.random.default_rng(4).uniform(-1.0, 1.0, (3, *b.states.x.shape))
    dx[..., b.dyn.n_q :] = 0.0
    return np.asarray(dx)


def _homogeneous(b: Bodies) -> Array:
    """The speeds w of q̇ = Y w, (n, n_u)."""
    matrix, drift = b.states.at.rates
    units, rows = b.states.at.speed_units, b.states.at.coordinate_units
    scaled = matrix * units[:, np.newaxis, :] / np.where(rows > 0.0, rows, 1.0)[..., np.newaxis]
    of_drift = np.linalg.pinv(scaled, rcond=RANK) @ (drift / np.where(rows > 0.0, rows, 1.0))[..., np.newaxis]
    return np.asarray(b.states.u + units * of_drift[..., 0])


def _momenta(name: str, b: Bodies) -> Row:
    """Row for p·Y δu = ∂K/∂u·δu along any change of the speeds."""
    change = b.states.loose
    products = b.states.call("generalized_momenta") * b.states.coordinate_change(change)
    slope = _slope(b, _of_speeds(b, change))
    difference = np.sum(products, axis=-1) - slope.value
    terms = np.sum(np.abs(products), axis=-1) + np.abs(slope.value)
    reason = "p·Y δu is not the change of L by the speeds"
    return judged(name, difference.T, terms.T, BY_DIFFERENCES, uncertainty=slope.uncertainty.T, reason=reason)


def _hamiltonian(name: str, b: Bodies) -> Row:
    states = b.states
    given, potential = states.call("hamiltonian"), states.call("potential_energy")
    slope, kinetic = _slope(b, _of_speeds(b, _homogeneous(b))), _kinetic_part(b, states.t, states.x, states.r)
    difference = given - slope.value + kinetic - potential
    terms = np.abs(slope.value) + np.abs(kinetic) + np.abs(potential)
    reason = "it is not p·q̇ - L"
    return judged(name, difference, terms, BY_DIFFERENCES, uncertainty=slope.uncertainty, reason=reason)


def _parts(name: str, b: Bodies) -> Row:
    """Row for the parts of T of degrees 2, 1, 0, from T at q̇, 0 and −q̇."""
    states, w = b.states, _homogeneous(b)
    given = states.call("kinetic_energy_parts")
    q = states.x[:, : b.dyn.n_q]
    ahead, still, behind = (
        states.call(
            "kinetic_energy", x=np.concatenate([q, states.u + (s - 1.0) * w, states.x[:, b.dyn.names.states]], axis=-1)
        )
        for s in (1.0, 0.0, -1.0)
    )
    parts = np.stack([0.5 * (ahead + behind) - still, 0.5 * (ahead - behind), still], axis=-1)
    terms = (np.abs(ahead) + np.abs(behind) + np.abs(still))[:, np.newaxis]
    reason = "it is not the part of T of its degree in q̇"
    return judged(name, given - parts, terms, BY_FORMULA, labels=("T₂", "T₁", "T₀"), reason=reason)


def _momentum_rates(name: str, b: Bodies) -> Row:
    """Row for ∂L/∂q and dp/dt along changes of all coordinates, since some momenta may vanish."""
    states, dq = b.states, b.states.coordinate_change(b.states.loose)
    given = states.call("momentum_rates", states.udot)[:, 0] * dq
    rates = states.rate("generalized_momenta", states.udot)
    terms = np.sum(np.abs(given) + np.abs(rates.value * dq), axis=-1)
    terms += _SMALL * np.max(terms)
    gaps = np.sum(rates.uncertainty * np.abs(dq), axis=-1)
    difference = np.sum(given - rates.value * dq, axis=-1)
    reason = "it is not the derivative of p"
    return judged(name, difference.T, terms.T, BY_DIFFERENCES, uncertainty=gaps.T, reason=reason)


def _position_slopes(name: str, b: Bodies) -> Row:
    """Row for ∂L/∂q at constant q̇, the slope of L − p·q̇ at constant p.

    As q changes at constant u, q̇ changes as well.
    """
    states, dx = b.states, _of_coordinates(b)
    products = states.call("momentum_rates", states.udot)[:, 1] * dx[..., : b.dyn.n_q]
    p = states.call("generalized_momenta")
    kinetic, potential, turned = _slope(b, dx), states.slope("potential_energy", dx), states.slope("qdot", dx)
    difference = np.sum(products, axis=-1) - kinetic.value + potential.value + np.sum(p * turned.value, axis=-1)
    gaps = kinetic.uncertainty + potential.uncertainty + np.sum(np.abs(p) * turned.uncertainty, axis=-1)
    terms = np.abs(kinetic.value) + np.abs(potential.value) + np.sum(np.abs(products) + np.abs(p * turned.value), -1)
    terms += _SMALL * np.max(terms)
    reason = "it is not the derivative of L"
    return judged(name, difference.T, terms.T, BY_DIFFERENCES, uncertainty=gaps.T, reason=reason)


def _hamiltonian_rate(name: str, b: Bodies) -> Row:
    """Row for dH/dt along the motion, relative to the changes of T and U, which may be larger."""
    b.require_accelerations()
    states, udot = b.states, b.states.call("udot")
    given = states.call("hamiltonian_rate", udot)

    def moving(t: Array, x: Array, r: Array) -> Array:
        """H − U, since a large U would hide errors."""
        return states.call("hamiltonian", t=t, x=x, r=r) - states.call("potential_energy", t=t, x=x, r=r)

    rates = [
        states.along_motion(moving, udot),
        *(states.rate(f"{kind}_energy", udot) for kind in ("potential", "kinetic")),
    ]
    terms = np.abs(given) + sum(np.abs(rate.value) for rate in rates)
    terms += _SMALL * np.max(terms)
    difference, gaps = given - rates[0].value - rates[1].value, rates[0].uncertainty + rates[1].uncertainty
    reason = "it is not the derivative of H along the motion"
    return judged(name, difference, terms, BY_DIFFERENCES, uncertainty=gaps, reason=reason)


CHECKS: tuple[tuple[str, Callable[[str, Bodies], Row]], ...] = (
    ("generalized momenta: Yᵀ p = ∂L/∂u", _momenta),
    ("Hamiltonian H = p·q̇ - L", _hamiltonian),
    ("T₂, T₁, T₀ = parts of T by degree in q̇", _parts),
    ("dp/dt = differences of p", _momentum_rates),
    ("∂L/∂q at constant q̇ = differences of L", _position_slopes),
    ("dH/dt = differences of H", _hamiltonian_rate),
)
"""The rows, and how each is found."""
