# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an audit about motion: velocities against positions, energies and momenta against masses as written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kanecore.audit.mechanics_as_written import Bodies
from kanecore.audit.verdicts import BY_DIFFERENCES, BY_FORMULA, PASSES, NotApplicable, Row, judged
from kanecore.run.numerical_derivatives import Slope

__all__ = ["CHECKS"]

Array = npt.NDArray[np.float64]

_SLOW = 1e-4  # floor for the comparison of slow points, relative to the fastest


def _norm(vectors: Array) -> Array:
    return np.asarray(np.linalg.norm(vectors, axis=-1))


def _located(
    name: str, b: Bodies, velocities: Array, terms: Array, slope: Slope, places: Sequence[int], quantity: str
) -> Row:
    """Row for velocities from partial velocities and remainders against derivatives of positions."""
    names = b.point_names if quantity == "position" else [f"frame {frame}" for frame in b.dyn.frames]
    raw = b.velocity if quantity == "position" else b.omega  # for the other rows
    difference = np.maximum(_norm(velocities - slope.value), _norm(raw - slope.value))[:, places]
    size = terms + _SLOW * np.max(terms, axis=1, keepdims=True, initial=0.0)
    row = judged(
        name,
        difference,
        size[:, places],
        BY_DIFFERENCES,
        uncertainty=np.max(slope.uncertainty, axis=-1)[:, places],
        labels=[names[i] for i in places],
        reason=f"it is not the derivative of the {quantity}",
    )
    silent = [names[i] for i in (b.adrift if quantity == "position" else b.unoriented)]
    if row.verdict == PASSES and silent:
        return replace(row, reason=f"no {quantity} determines the motion of {', '.join(silent)}")
    return row


def _velocities(name: str, b: Bodies) -> Row:
    used = dict.fromkeys([*b.point.tolist(), *(place for kind, place, *_ in b.loads if not kind)])
    places = [i for i in used if i not in b.adrift]
    if not used:
        raise NotApplicable("there are no bodies and no forces")
    if not places:
        raise NotApplicable("no position tells how points move: they are located from one that is set in motion")
    partials, remainder = b.partials("partial_velocities")
    given = np.einsum("nprc,nr->npc", partials, b.states.u) + remainder
    terms = np.einsum("npr,nr->np", _norm(partials), np.abs(b.states.u)) + _norm(remainder)
    return _located(name, b, given, terms, b.motion.points, places, "position")


def _angular_velocities(name: str, b: Bodies) -> Row:
    if not len(b.dyn.frames):
        raise NotApplicable(
            "no body and no torque has a frame, and frames=[...] names none; a frame that points are written in is "
            "judged by their velocities"
        )
    places = [i for i in range(len(b.dyn.frames)) if i not in b.unoriented]
    if not places:
        raise NotApplicable("no orientation is described")
    partials, remainder = b.partials("partial_angular_velocities")
    given = np.einsum("nfrc,nr->nfc", partials, b.states.u) + remainder
    terms = np.einsum("nfr,nr->nf", _norm(partials), np.abs(b.states.u)) + _norm(remainder)
    return _located(name, b, given, terms, b.motion.frames, places, "orientation")


def _rates(name: str, b: Bodies, kind: str, kernel: str, places: Sequence[int], names: Sequence[str]) -> Row:
    """Row that compares a kernel at u̇ with the derivatives of (angular) velocities along the motion."""
    b.require_rotations()
    value, slope = b.states.call(kernel, b.states.udot)[:, places], b.states.rate(kind, b.states.udot)
    partials = b.states.call(f"partial_{kind}")[:, places]
    terms = np.einsum("npr,nr->np", _norm(partials), np.abs(b.states.udot)) + _norm(value)
    return judged(
        name,
        _norm(value - slope.value[:, places]),
        terms + _SLOW * np.max(terms, axis=1, keepdims=True, initial=0.0),
        BY_DIFFERENCES,
        uncertainty=np.max(slope.uncertainty, axis=-1)[:, places],
        labels=[names[i] for i in places],
        reason=f"it is not the derivative of the {kind.replace('velocities', 'velocity').replace('_', ' ')}",
    )


def _accelerations(name: str, b: Bodies) -> Row:
    """Row for accelerations, except of points in axes that turn unlike their orientation: see `Bodies`."""
    places = [i for i in range(b.dyn.n_points) if i not in b.instant]
    if b.instant and not places:
        raise NotApplicable("accelerations are those of vectors as written, which is true at an instant")
    return _rates(name, b, "velocities", "accelerations", places, b.point_names)


def _angular_accelerations(name: str, b: Bodies) -> Row:
    names = [f"frame {frame}" for frame in b.dyn.frames]
    return _rates(name, b, "angular_velocities", "angular_accelerations", range(len(names)), names)


def _partial_velocities(name: str, b: Bodies) -> Row:
    """Row along virtual motions: Σ v_r δu_r, and Σ ω_r δu_r, are derivatives of positions by δq = Y δu."""
    results = []
    for kernel, moved, left_out in (
        ("partial_velocities", b.displacement.points, b.adrift),
        ("partial_angular_velocities", b.displacement.frames, b.unoriented),
    ):
        places = [i for i in range(moved.value.shape[2]) if i not in left_out]
        if kernel == "partial_velocities":
            used = {*b.point.tolist(), *(place for kind, place, *_ in b.loads if not kind)}
            places = [i for i in places if i in used]
        partials = b.partials(kernel)[0][:, places]
        given = np.einsum("nprc,knr->knpc", partials, b.states.virtual)
        terms = np.einsum("npr,knr->knp", _norm(partials), np.abs(b.states.virtual))
        size = terms + _SLOW * np.max(terms, axis=2, keepdims=True, initial=0.0)
        gaps = np.max(moved.uncertainty, axis=-1)[:, :, places]
        results.append((_norm(given - moved.value[:, :, places]), size, gaps))
    difference, size, gaps = (np.moveaxis(np.concatenate(part, axis=2), 1, 0) for part in zip(*results, strict=True))
    if not difference.size:
        raise NotApplicable("neither positions nor orientations tell how anything moves")
    return judged(name, difference, size, BY_DIFFERENCES, uncertainty=gaps, reason="not the derivatives by δq = Y δu")


def _kinetic_energy(name: str, b: Bodies) -> Row:
    b.require_bodies()
    raw, omega = b.momenta(), b.of_frames(b.omega)
    parts = 0.5 * np.stack(
        [
            np.sum(b.velocity[:, b.point] * raw[..., :3], axis=-1),
            np.sum(omega * raw[..., 3:], axis=-1),
        ]
    )
    given = b.states.call("kinetic_energy")
    reason = "it is not Σ ½ m v·v + ½ ω·I·ω of the masses as written"
    return judged(
        name, given - np.sum(parts, axis=(0, 2)), np.sum(np.abs(parts), axis=(0, 2)), BY_FORMULA, reason=reason
    )


def _body_momenta(name: str, b: Bodies) -> Row:
    b.require_bodies()
    tensor = b.inertia[1]
    raw, given = b.momenta(), b.states.call("body_momenta")
    sizes = np.linalg.norm(tensor, axis=(-2, -1)) * _norm(b.of_frames(b.omega))
    fastest = np.max(_norm(b.omega), axis=1, keepdims=True, initial=0.0)
    sizes += _SLOW * np.linalg.norm(tensor, axis=(-2, -1)) * fastest
    terms = np.stack([_norm(raw[..., :3]), np.maximum(sizes, _norm(raw[..., 3:]))], axis=-1)
    difference = np.stack([_norm(given[..., part] - raw[..., part]) for part in (slice(0, 3), slice(3, 6))], axis=-1)
    reason = "they are not m v and I·ω of the masses as written, about the mass centre"
    return judged(name, difference, terms, BY_FORMULA, labels=b.body_names, reason=reason)


def _with_speeds(b: Bodies, u: Array) -> Array:
    """The states with other speeds, (..., n, n_x)."""
    x = np.broadcast_to(b.states.x, (*u.shape[:-1], b.dyn.n_x)).copy()
    x[..., b.dyn.names.speeds] = u
    return x


def _momenta(name: str, b: Bodies) -> Row:
    """Row for momenta along changes of the speeds; T is quadratic in these, so differences are exact."""
    b.require_bodies()
    change = b.states.loose
    ahead, behind = (
        b.states.call("kinetic_energy", x=_with_speeds(b, u)) for u in (b.states.u + change, b.states.u - change)
    )
    given = np.einsum("ni,kni->kn", b.states.call("momenta"), change)
    terms = np.abs(ahead) + np.abs(behind)
    return judged(name, (given - 0.5 * (ahead - behind)).T, terms.T, BY_FORMULA, reason="they are not ∂T/∂u")


def _inertia_forces(name: str, b: Bodies) -> Row:
    b.require_bodies()
    rates, given = b.rates_at_random, b.states.call("inertia_forces", b.states.udot)
    omega, raw = b.of_frames(b.omega), b.momenta()
    parts = (slice(0, 3), slice(3, 6))
    difference = np.stack([_norm(given[..., part] + rates.value[..., part]) for part in parts], axis=-1)
    gaps = np.stack([np.max(rates.uncertainty[..., part], axis=-1) for part in parts], axis=-1)
    spin = np.linalg.norm(b.inertia[1], axis=(-2, -1)) * np.sum(omega * omega, axis=-1) + _norm(omega) * _norm(
        raw[..., 3:]
    )
    spin += _SLOW * np.max(spin + _norm(given[..., 3:]), axis=1, keepdims=True, initial=0.0)
    pull = (
        b.inertia[0] * _SLOW * np.max(_norm(rates.value[..., :3]), axis=1, keepdims=True) / np.max(np.abs(b.inertia[0]))
    )
    terms = np.stack([_norm(given[..., :3]) + pull, _norm(given[..., 3:]) + spin], axis=-1)
    reason = "they are not -d(m v)/dt and -d(I·ω)/dt"
    return judged(name, difference, terms, BY_DIFFERENCES, uncertainty=gaps, labels=b.body_names, reason=reason)


CHECKS: tuple[tuple[str, Callable[[str, Bodies], Row]], ...] = (
    ("velocities = derivatives of positions", _velocities),
    ("angular velocities = turning of orientations", _angular_velocities),
    ("partial velocities = virtual displacements", _partial_velocities),
    ("accelerations = derivatives of velocities", _accelerations),
    ("angular accelerations = those of angular velocities", _angular_accelerations),
    ("kinetic energy = that of masses as written", _kinetic_energy),
    ("body momenta = m v, I·ω as written", _body_momenta),
    ("momenta = ∂T/∂u", _momenta),
    ("body inertia forces = Newton-Euler", _inertia_forces),
)
"""The rows, and how each is found."""
