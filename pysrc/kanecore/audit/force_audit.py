# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an audit about generalized forces: Kane against d'Alembert, Newton and Euler, Lagrange, Gibbs and Appell.

All rows use virtual motions δu that the constraints allow: Σ F_r δu_r is the virtual work Σ R·δr + T·δθ.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from kanecore.audit.mechanics_as_written import Bodies
from kanecore.audit.verdicts import BY_DIFFERENCES, BY_FORMULA, NotApplicable, Row, blame, judged
from kanecore.run.numerical_derivatives import Slope

__all__ = ["CHECKS", "displacement_gap", "inertia_works", "lagrange_powers", "potential_works", "why_not_energy"]

Array = npt.NDArray[np.float64]

_VARIES = 1e-7  # relative to an inertia: a larger change by a virtual motion is no rounding


def _along(b: Bodies, forces: Array) -> Array:
    """Σ F_r δu_r: (3, n)."""
    return np.asarray(np.einsum("nr,knr->kn", forces, b.states.virtual))


def potential_works(b: Bodies) -> Slope:
    """Virtual work −δU of each given potential: (3, n, n_potentials)."""
    dx = np.concatenate([b.states.coordinate_change(b.states.virtual), np.zeros_like(b.states.virtual)], axis=-1)
    slope = b.states.slope("potentials", dx)
    return Slope(-slope.value, slope.uncertainty)


def _sum_of_works(name: str, forces: Array, works: Array, gaps: Array, names: list[str], reason: str) -> Row:
    """Row for a virtual power against a sum of works (3, n, n_works), naming works that explain a difference."""
    difference, terms = forces - np.sum(works, axis=-1), np.sum(np.abs(works), axis=-1) + np.abs(forces)
    row = judged(name, difference.T, terms.T, BY_DIFFERENCES, uncertainty=gaps.T, reason=reason)
    if row.verdict != "fails":
        return row
    because = blame(difference.ravel(), terms.ravel(), works.reshape(-1, works.shape[-1]), names)
    return judged(
        name,
        difference.T,
        terms.T,
        BY_DIFFERENCES,
        uncertainty=gaps.T,
        reason=f"{reason}: {because}" if because else reason,
    )


def displacement_gap(b: Bodies, sizes: Array) -> Array:
    """Uncertainty of displacements, as work of forces (n, ...) of the given sizes: (3, n)."""
    moved = b.displacement
    gap = np.max(moved.points.uncertainty, axis=(-2, -1), initial=0.0)
    gap = np.maximum(gap, np.max(moved.frames.uncertainty, axis=(-2, -1), initial=0.0))
    return np.asarray(gap * np.max(sizes.reshape(len(sizes), -1), axis=1, initial=0.0))


def _active_forces(name: str, b: Bodies) -> Row:
    if not len(b.point):
        return _forces_of_lagrangian(name, b)
    loads, names = b.load_vectors(), list(b.load_names)
    works, gaps = b.virtual_works(loads), displacement_gap(b, np.abs(loads))
    if b.dyn.n_potentials:
        given = potential_works(b)
        works = np.concatenate([works, given.value], axis=-1)
        gaps = np.maximum(gaps, np.max(given.uncertainty, axis=-1))
        names += [f"potential {i}" for i in range(b.dyn.n_potentials)]
    if not works.shape[-1]:
        raise NotApplicable("there are no loads")
    return _sum_of_works(name, _active_power(b), works, gaps, names, "it is not the virtual work of the loads")


def _active_power(b: Bodies) -> Array:
    """Power Σ F_r δu_r without freed constraints at unknown places: their multipliers are zero."""
    r = b.states.r.copy()
    r[:, b.unlocated] = 0.0
    return _along(b, b.states.call("generalized_active_forces", r=r))


def _forces_of_lagrangian(name: str, b: Bodies) -> Row:
    """Row for the forces of a Lagrangian: L at q̇ = 0 is −U, unless additional loads have a potential in U."""
    forces = _active_power(b)
    if b.dyn.facts.dissipation:
        raise NotApplicable("F holds forces without a potential beside L, which the row of power counts")
    if b.loads:
        raise NotApplicable("the potential energy of L and that of loads beside it are one")
    dx = np.concatenate([b.states.coordinate_change(b.states.virtual), np.zeros_like(b.states.virtual)], axis=-1)
    loss = b.states.slope("potential_energy", dx)
    reason = "it is not the change of the potential energy"
    return _sum_of_works(name, forces, -loss.value[..., np.newaxis], loss.uncertainty, ["the potential energy"], reason)


def inertia_works(b: Bodies) -> tuple[Array, Array, list[str]]:
    """Virtual works of −d(m v)/dt, −(dH/dt − ω × H) and −ω × H of each body, and of loads in u̇; their uncertainty."""
    rates = b.rates_at_random
    turning = np.cross(b.of_frames(b.omega), b.momenta()[..., 3:])
    moved, turned = b.virtual_points[:, :, b.point], b.of_frames(b.virtual_frames)
    works = [
        -np.einsum("nbc,knbc->knb", rates.value[..., :3], moved),
        -np.einsum("nbc,knbc->knb", rates.value[..., 3:] - turning, turned),
        -np.einsum("nbc,knbc->knb", turning, turned),
    ]
    names = [f"{part} of {body}" for part in ("m a", "I·α", "ω × I·ω") for body in b.body_names]
    if b.has_inertial_loads:
        works.append(b.virtual_works(b.inertial_loads(b.states.udot)))
        names += [f"the part with udot of {load}" for load in b.load_names]
    gaps = np.einsum("nbc,knbc->kn", rates.uncertainty[..., :3], np.abs(moved))
    gaps += np.einsum("nbc,knbc->kn", rates.uncertainty[..., 3:], np.abs(turned))
    return np.concatenate(works, axis=-1), gaps + displacement_gap(b, np.abs(rates.value)), names


def _inertia_forces(name: str, b: Bodies) -> Row:
    b.require_bodies()
    works, gaps, names = inertia_works(b)
    forces = _along(b, b.states.call("generalized_inertia_forces", b.states.udot))
    return _sum_of_works(name, forces, works, gaps, names, "it is not the virtual work of -d(m v)/dt and -dH/dt")


def _gibbs(name: str, b: Bodies) -> Row:
    """Row for ∂S/∂u̇ against −F*; S is quadratic in u̇, so differences are exact."""
    states, change = b.states, b.states.virtual
    if not states.dyn.kernels.has("gibbs"):
        raise NotApplicable(states.dyn.kernels.why_not("gibbs") or "the model was compiled without S")
    ahead, behind = (states.call("gibbs", udot) for udot in (states.udot + change, states.udot - change))
    works = b.virtual_works(b.inertial_loads(states.udot))
    forces = _along(b, states.call("generalized_inertia_forces", states.udot)) - np.sum(works, axis=-1)
    terms = np.abs(ahead) + np.abs(behind) + np.abs(forces)
    difference = 0.5 * (ahead - behind) + forces
    return judged(name, difference.T, terms.T, BY_FORMULA, reason="∂S/∂u̇ is not -F*")


# ------------------------------------------------------------------------------------------------------ Lagrange


def _why_not_lagrange(b: Bodies) -> str:
    """Reason why −F* is not Lagrange's expression; empty if it is."""
    dyn, rates = b.dyn, b.states.at.rates[0]
    if dyn.n_u != dyn.n_q:
        return f"{dyn.n_q} coordinates and {dyn.n_u} speeds"
    scale = np.max(np.abs(rates), axis=-1, keepdims=True)
    if (np.linalg.svd(rates / np.where(scale > 0.0, scale, 1.0), compute_uv=False)[:, -1] < 1e-6).any():
        return "the speeds do not follow from the rates of the coordinates at some states"
    return why_not_energy(b)


def why_not_energy(b: Bodies) -> str:
    """Reason why T in q and speeds does not determine all inertia forces; empty if it does."""
    dyn = b.dyn
    if b.adrift or any(frame in b.unoriented for frame in b.frame.tolist()):
        return "velocities are not all derivatives of positions and orientations"
    if dyn.n_constraints and not _fits_everywhere(b):
        return "velocities are derivatives of positions only on the constraints"
    if _varies(b):
        return "masses or inertias change with the coordinates"
    return ""


def _fits_everywhere(b: Bodies) -> bool:
    """Test whether partial velocities are derivatives of positions also along motions off the constraints."""
    states, dyn = b.states, b.dyn
    dx = np.concatenate([states.coordinate_change(states.loose), np.zeros_like(states.loose)], axis=-1)
    moved = b.moved(dx, 0.0, None)
    for kernel, slope, places in (
        ("partial_velocities", moved.points, b.point.tolist()),
        ("partial_angular_velocities", moved.frames, list(range(len(dyn.frames)))),
    ):
        partials = states.call(kernel)[:, places]
        given = np.einsum("nprc,knr->knpc", partials, states.loose)
        terms = np.einsum("nprc,knr->kn", np.abs(partials), np.abs(states.loose))[..., np.newaxis, np.newaxis]
        if (np.abs(given - slope.value[:, :, places]) > 10.0**-BY_DIFFERENCES * terms).any():
            return False
    return True


def _varies(b: Bodies) -> bool:
    """Test whether a mass, or an inertia in the axes of its body, changes along virtual motions."""
    states = b.states

    def facts(t: Array, x: Array, r: Array) -> Array:
        mass, tensor = b.inertias(t, x, r)
        axes = states.call("orientations", t=t, x=x, r=r)
        local = tensor.copy()
        rigid = b.frame >= 0
        turn = axes[..., b.frame[rigid], :, :]
        local[..., rigid, :, :] = np.swapaxes(turn, -1, -2) @ tensor[..., rigid, :, :] @ turn
        return np.concatenate([mass[..., np.newaxis], local.reshape(*mass.shape, 9)], axis=-1)

    dx = np.concatenate([states.coordinate_change(states.virtual), np.zeros_like(states.virtual)], axis=-1)
    change, size = states.along(facts, dx, 0.0, np.zeros_like(states.r)), facts(states.t, states.x, states.r)
    largest = np.stack([np.abs(size[..., 0]), np.max(np.abs(size[..., 1:]), axis=-1)], axis=-1)
    changes = np.stack([np.abs(change.value[..., 0]), np.max(np.abs(change.value[..., 1:]), axis=-1)], axis=-1)
    return bool((changes > _VARIES * largest).any())


def _lagrange(name: str, b: Bodies) -> Row:
    """Row for Lagrange's equations along η = δq: −Σ F*_r δu_r = d/dt (∂T/∂q̇·η) − ∂T/∂q·η.

    η is constant along the motion, and T is a function of q, q̇ and t.  T is quadratic in q̇, so differences give
    ∂T/∂q̇·η exactly.
    """
    if not len(b.point):
        return _inertia_of_lagrangian(name, b)
    powers, terms, gaps = lagrange_powers(b, b.states.udot)
    forces = _along(b, b.states.call("generalized_inertia_forces", b.states.udot))
    works = np.sum(b.virtual_works(b.inertial_loads(b.states.udot)), axis=-1)
    difference, terms = forces - works + powers, terms + np.abs(forces)
    return judged(
        name, difference.T, terms.T, BY_DIFFERENCES, uncertainty=gaps.T, reason="d/dt ∂T/∂q̇ - ∂T/∂q is not -F*"
    )


def lagrange_powers(b: Bodies, udot: Array) -> tuple[Array, Array, Array]:
    """The sum d/dt (∂T/∂q̇·η) − ∂T/∂q·η along η = Y δu, its terms, and their uncertainty: (3, n) each."""
    if reason := _why_not_lagrange(b):
        raise NotApplicable(reason)
    states, n_q = b.states, b.dyn.n_q
    eta = states.coordinate_change(states.virtual)
    qddot = states.rate("qdot", udot).value

    def energy(t: Array, q: Array, qdot: Array, z: Array, r: Array) -> Array:
        return states.call("kinetic_energy", t=t, x=_state(b, t, q, qdot, z, r), r=r)

    def momentum(t: Array, x: Array, r: Array, qdot: Array) -> Array:
        q = np.broadcast_to(x[..., :n_q], np.broadcast_shapes(x[..., :n_q].shape, eta.shape))
        z = x[..., b.dyn.names.states]
        return 0.5 * (energy(t, q, qdot + eta, z, r) - energy(t, q, qdot - eta, z, r))

    over = np.broadcast_to(states.motion(np.zeros_like(udot)), (len(states.virtual), *states.x.shape))
    first = states.along(lambda t, x, r: momentum(t, x, r, states.qdot), over, 1.0, states.input_rates)
    size = np.max(np.abs(qddot) / states.sizes[:n_q], axis=-1, initial=0.0)
    size = np.where(size > 0.0, size, 1.0)  # p is affine in q̇; a q̈ of other size than η would lose digits
    at = (states.t, states.x, states.r)
    pushed = size * (momentum(*at, qddot / size[:, np.newaxis]) - momentum(*at, np.zeros_like(qddot)))
    second = states.along(
        lambda t, x, r: energy(
            t, x[..., :n_q], np.broadcast_to(states.qdot, x[..., :n_q].shape), x[..., b.dyn.names.states], r
        ),
        _held(eta, states.virtual),
        0.0,
        np.zeros_like(states.r),
    )
    terms = np.abs(first.value) + np.abs(pushed) + np.abs(second.value)
    return first.value + pushed - second.value, terms, first.uncertainty + second.uncertainty


def _held(dq: Array, speeds: Array) -> Array:
    """Directions in which only coordinates change."""
    return np.concatenate([dq, np.zeros_like(speeds)], axis=-1)


def _inertia_of_lagrangian(name: str, b: Bodies) -> Row:
    """Row for the part K = p·u − T of L with u = q̇: −F* = dp/dt − ∂K/∂q, with loads in u̇."""
    states = b.states
    works = np.sum(b.virtual_works(b.inertial_loads(states.udot)), axis=-1)
    forces = _along(b, states.call("generalized_inertia_forces", states.udot)) - works

    def kinetic(t: Array, x: Array, r: Array) -> Array:
        products = states.call("momenta", t=t, x=x, r=r) * x[..., b.dyn.names.speeds]
        return np.asarray(np.sum(products, axis=-1) - states.call("kinetic_energy", t=t, x=x, r=r))

    dx = np.concatenate([states.virtual, np.zeros_like(states.virtual)], axis=-1)
    slope = states.along(kinetic, dx, 0.0, np.zeros_like(states.r))
    rates = states.rate("momenta", states.udot)
    products = rates.value * states.virtual
    difference = forces + np.sum(products, axis=-1) - slope.value
    terms = np.abs(forces) + np.sum(np.abs(products), axis=-1) + np.abs(slope.value)
    gaps = slope.uncertainty + np.sum(rates.uncertainty * np.abs(states.virtual), axis=-1)
    return judged(name, difference.T, terms.T, BY_DIFFERENCES, uncertainty=gaps.T, reason="dp/dt - ∂K/∂q is not -F*")


def _state(b: Bodies, t: Array, q: Array, qdot: Array, z: Array, r: Array) -> Array:
    """The state [q, u, z] with u that gives q̇."""
    n, dyn = b.dyn.n_u, b.dyn
    q = np.broadcast_to(q, np.broadcast_shapes(q.shape, qdot.shape))
    z = np.broadcast_to(z, (*q.shape[:-1], dyn.n_z))
    if dyn.qdot_is_u:
        return np.concatenate([q, np.broadcast_to(qdot, q.shape), z], axis=-1)
    places = np.zeros((n + 1, *q.shape[:-1], dyn.n_x))
    places[..., : dyn.n_q] = q
    places[..., dyn.names.states] = z
    for j in range(n):
        places[j + 1, ..., dyn.n_q + j] = 1.0
    rates = b.states.call("qdot", t=np.broadcast_to(t, q.shape[:-1]), x=places, r=r)
    matrix = np.moveaxis(rates[1:] - rates[0], 0, -1)
    u = np.linalg.solve(matrix, (qdot - rates[0])[..., np.newaxis])[..., 0]
    return np.concatenate([q, u, z], axis=-1)


CHECKS: tuple[tuple[str, Callable[[str, Bodies], Row]], ...] = (
    ("active forces F = virtual work (d'Alembert)", _active_forces),
    ("inertia forces F* = Newton-Euler", _inertia_forces),
    ("inertia forces F* = Lagrange", _lagrange),
    ("inertia forces F* = Gibbs-Appell", _gibbs),
)
"""The rows, and how each is found."""
