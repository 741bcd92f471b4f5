# SPDX-License-Identifier: BSD-3-Clause
"""Mechanics from raw facts for an audit: positions, orientations, masses and loads as the user wrote them.

Velocities are derivatives of positions by differences.  Angular velocities are the vectors of Ṙ Rᵀ, with Ṙ by
differences of orientations.  Inertias are moved to mass centres here.  Results under audit are not used, except for
points and frames that a model defines only by velocities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.audit.audit_states import States
from kanecore.audit.verdicts import NotApplicable
from kanecore.run.numerical_derivatives import Slope

__all__ = ["Bodies", "Motion", "turning"]

Array = npt.NDArray[np.float64]

_ORTHOGONAL = 1e-6  # tolerance for products of axes against 0 and 1


@dataclass(frozen=True)
class Motion:
    """Motion or displacement of points and frames along one direction: (..., n_points, 3), (..., n_frames, 3)."""

    points: Slope
    frames: Slope


class Bodies:
    """The bodies and loads of a model at the states of an audit."""

    def __init__(self, states: States) -> None:
        self.states, self.dyn = states, states.dyn
        self.dyn.build("bodies")
        facts = self.dyn.facts
        self.point = np.array([b[0] for b in facts.bodies], dtype=int)
        self.frame = np.array([b[1] for b in facts.bodies], dtype=int)
        self.loads = facts.loads
        self.acts_on = [body for *_, body in self.loads]
        self.joints = facts.joints
        self.adrift = facts.adrift
        self.instant = facts.instant
        self.unoriented = facts.unoriented
        self.unlocated = facts.unlocated

    # -------------------------------------------------------------------------------------------------- names

    @cached_property
    def point_names(self) -> list[str]:
        """Label of each point: its name; for a mass centre also the name of the body."""
        names = [f"point {name}" for name in self.dyn.points]
        for body, place in zip(self.dyn.bodies, self.point, strict=True):
            names[place] = f"mass centre {self.dyn.points[place]} of body {body}"
        return names

    @cached_property
    def load_names(self) -> list[str]:
        places = (self.dyn.points, self.dyn.frames)
        kinds = ("force at point", "torque on frame")
        return [f"load {number} ({kinds[kind]} {places[kind][place]})" for kind, place, number, _ in self.loads]

    @property
    def body_names(self) -> list[str]:
        return [f"body {name}" for name in self.dyn.bodies]

    # -------------------------------------------------------------------------------------- by differences

    def moved(self, dx: Array, dt: float, dr: Array | None) -> Motion:
        """Derivatives of positions and orientations along a direction; zero for adrift points and unoriented frames."""
        self.require_rotations()
        turned = np.zeros_like(self.states.r) if dr is None else dr
        points = self.states.slope("positions", dx, dt, turned)
        frames = self.states.slope("orientations", dx, dt, turned)
        axes = self.states.call("orientations")
        return Motion(points, turning(frames, axes))

    @cached_property
    def motion(self) -> Motion:
        """Velocities and angular velocities."""
        udot = np.zeros_like(self.states.u)
        return self.moved(self.states.motion(udot), 1.0, self.states.input_rates)

    @cached_property
    def displacement(self) -> Motion:
        """Virtual displacements and rotations, (3, n, ...)."""
        change = self.states.coordinate_change(self.states.virtual)
        return self.moved(np.concatenate([change, np.zeros_like(self.states.virtual)], axis=-1), 0.0, None)

    # ------------------------------------------------------------------------------------------ facts of the model

    def partials(self, kernel: str) -> tuple[Array, Array]:
        """Partial velocities and remainders: (n, n_points, n_u, 3) and (n, n_points, 3)."""
        states = self.states
        remainder = getattr(self.dyn, kernel)(states.t, states.x, remainder=True, r=states.r)
        return states.call(kernel), np.asarray(remainder)

    @cached_property
    def velocity(self) -> Array:
        return self.states.call("velocities")

    @cached_property
    def omega(self) -> Array:
        return self.states.call("angular_velocities")

    @cached_property
    def virtual_points(self) -> Array:
        """Virtual displacement δr of each point, (3, n, n_points, 3): by partial velocities if positions fail."""
        dr = self.displacement.points.value.copy()
        if self.adrift:
            partials = self.states.call("partial_velocities")[:, self.adrift]
            dr[:, :, self.adrift] = np.einsum("nprc,knr->knpc", partials, self.states.virtual)
        return dr

    @cached_property
    def virtual_frames(self) -> Array:
        """Virtual rotation δθ of each frame, (3, n, n_frames, 3): by partial angular velocities without orientation."""
        turn = self.displacement.frames.value.copy()
        if self.unoriented:
            partials = self.states.call("partial_angular_velocities")[:, self.unoriented]
            turn[:, :, self.unoriented] = np.einsum("nfrc,knr->knfc", partials, self.states.virtual)
        return turn

    def of_frames(self, vectors: Array) -> Array:
        """The vectors of the bodies' frames; zero for particles."""
        result = np.zeros((*vectors.shape[:-2], len(self.frame), 3))
        rigid = self.frame >= 0
        result[..., rigid, :] = vectors[..., self.frame[rigid], :]
        return result

    # ---------------------------------------------------------------------------------------- masses and momenta

    def inertias(self, t: Any = None, x: Any = None, r: Any = None) -> tuple[Array, Array]:
        """Masses (..., n_bodies), and inertias about mass centres in inertial axes, (..., n_bodies, 3, 3)."""
        self.require_rotations()
        raw = self.states.call("masses", t=t, x=x, r=r)
        orientations = self.states.call("orientations", t=t, x=x, r=r)
        axes = np.zeros((*raw.shape[:-1], 3, 3))
        rigid = self.frame >= 0
        axes[..., rigid, :, :] = orientations[..., self.frame[rigid], :, :]
        mass, tensor = raw[..., 0], axes @ raw[..., 1:10].reshape(axes.shape) @ np.swapaxes(axes, -1, -2)
        arm = np.einsum("...ij,...j->...i", axes, raw[..., 10:])
        square = np.sum(arm * arm, axis=-1)[..., np.newaxis, np.newaxis] * np.eye(3)
        steiner = square - arm[..., :, np.newaxis] * arm[..., np.newaxis, :]
        return mass, tensor - mass[..., np.newaxis, np.newaxis] * steiner

    @cached_property
    def inertia(self) -> tuple[Array, Array]:
        return self.inertias()

    def momenta(self, t: Any = None, x: Any = None, r: Any = None) -> Array:
        """Momenta m v and I·ω of each body, (..., n_bodies, 6)."""
        mass, tensor = self.inertias(t, x, r)
        velocity = self.states.call("velocities", t=t, x=x, r=r)[..., self.point, :]
        omega = self.of_frames(self.states.call("angular_velocities", t=t, x=x, r=r))
        spin = np.einsum("...ij,...j->...i", tensor, omega)
        return np.concatenate([mass[..., np.newaxis] * velocity, spin], axis=-1)

    @cached_property
    def oblique(self) -> list[str]:
        """Frames with axes that are not orthonormal for random inputs, such as those of a prescribed quaternion."""
        here, there = (
            axes @ np.swapaxes(axes, -1, -2)
            for axes in (self.states.call("orientations", r=factor * self.states.r) for factor in (1.0, 2.0))
        )
        far = np.max(np.abs(there - here), axis=(0, 2, 3), initial=0.0) > _ORTHOGONAL
        return [name for name, oblique in zip(self.dyn.frames, far, strict=True) if oblique]

    def require_rotations(self) -> None:
        """Raise NotApplicable if frames are oblique."""
        if self.oblique:
            raise NotApplicable(f"the axes of frame {self.oblique[0]} are not orthogonal at random inputs")

    def require_bodies(self) -> None:
        """Raise NotApplicable if there are no bodies, as in a model made of a Lagrangian."""
        if not len(self.point):
            raise NotApplicable("there are no bodies")

    def require_accelerations(self) -> None:
        """Raise NotApplicable if accelerations are not the derivatives of velocities along the motion."""
        for body, point in zip(self.dyn.bodies, self.point.tolist(), strict=True):
            if point in self.instant:
                raise NotApplicable(
                    f"body {body} is written in axes with an angular velocity unlike their orientation's, which is "
                    "valid at an instant only: its acceleration is that of vectors as written"
                )

    @cached_property
    def udot(self) -> Array:
        """The u̇ of the motion, (n, n_u)."""
        return self.states.call("udot")

    @cached_property
    def rates_of_motion(self) -> Slope:
        """`momentum_rates` at the u̇ of the motion."""
        return self.momentum_rates(self.udot)

    @cached_property
    def rates_at_random(self) -> Slope:
        """`momentum_rates` at the random u̇ of the states."""
        return self.momentum_rates(self.states.udot)

    def momentum_rates(self, udot: Array) -> Slope:
        """Rates d(m v)/dt and d(I·ω)/dt of each body, (n, n_bodies, 6)."""
        self.require_accelerations()
        dx = self.states.motion(udot)
        rates = self.states.along(self.momenta, dx, 1.0, self.states.input_rates)
        spinning = [i for i, frame in enumerate(self.frame) if frame in self.unoriented]
        if spinning:  # the tensor is written in other axes than the body's: use Euler's equations
            alpha = self.states.rate("angular_velocities", udot)
            tensor, frames = self.inertia[1][:, spinning], self.frame[spinning]
            omega = self.omega[:, frames]
            spin = np.einsum("nbij,nbj->nbi", tensor, omega)
            turned = np.einsum("nbij,nbj->nbi", tensor, alpha.value[:, frames])
            rates.value[:, spinning, 3:] = turned + np.cross(omega, spin)
            rates.uncertainty[:, spinning, 3:] = np.max(alpha.uncertainty[:, frames], axis=-1, keepdims=True)
        return rates

    # ----------------------------------------------------------------------------------------------------- loads

    def load_vectors(self, udot: Array | None = None) -> Array:
        """Forces and torques in inertial axes, (n, n_loads, 3), with the part in u̇."""
        vectors = self.states.call("load_vectors")
        return vectors if udot is None else vectors + self.inertial_loads(udot)

    @property
    def has_inertial_loads(self) -> bool:
        """Test whether some load depends on u̇."""
        return bool(self.loads) and self.dyn.kernels.has("inertial_loads")

    def inertial_loads(self, udot: Array) -> Array:
        """The part of forces and torques in u̇, (n, n_loads, 3)."""
        if not self.has_inertial_loads:
            return np.zeros((len(self.states.t), len(self.loads), 3))
        return self.states.call("inertial_loads", udot)

    def load_terms(self) -> Array:
        """Magnitude of the terms of each F_r: (n, n_u)."""
        if not self.loads:
            return np.zeros_like(self.states.u)
        places = [
            np.linalg.norm(self.states.call(f"partial_{kind}"), axis=-1)
            for kind in ("velocities", "angular_velocities")
        ]
        sizes = np.linalg.norm(self.load_vectors(), axis=-1)
        terms = [sizes[:, i, np.newaxis] * places[kind][:, at] for i, (kind, at, *_) in enumerate(self.loads)]
        return np.asarray(np.sum(terms, axis=0))

    def virtual_works(self, vectors: Array) -> Array:
        """The virtual work of each load, (3, n, n_loads)."""
        moved = np.zeros((*self.states.virtual.shape[:2], len(self.loads), 3))
        for i, (kind, place, *_) in enumerate(self.loads):
            moved[:, :, i] = (self.virtual_frames if kind else self.virtual_points)[:, :, place]
        return np.asarray(np.einsum("nlc,knlc->knl", vectors, moved))


def turning(frames: Slope, axes: Array) -> Slope:
    """The axial vectors of Ṙ Rᵀ, from derivatives of R."""
    matrix = np.einsum("...ij,...kj->...ik", frames.value, axes)
    vector = 0.5 * np.stack([_less(matrix, 2, 1), _less(matrix, 0, 2), _less(matrix, 1, 0)], axis=-1)
    gap = np.max(frames.uncertainty, axis=(-2, -1))[..., np.newaxis]
    return Slope(vector, np.broadcast_to(gap, vector.shape))


def _less(matrix: Array, i: int, j: int) -> Array:
    return np.asarray(matrix[..., i, j] - matrix[..., j, i])
