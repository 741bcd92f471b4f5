# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of kinematics: places and motion of points and frames, in inertial axes (Kane & Levinson 1985, 2.1–2.8)."""

from __future__ import annotations

from collections.abc import Iterable

from kanecore.derive.derivation import Derivation
from kanecore.derive.forces.generalized_forces import common_fields, uniform_gravity
from kanecore.derive.kernel_registry import Derived, derives
from kanecore.derive.kinematics import Accelerations
from kanecore.graph.vectors import Components, unit

__all__ = ["flat"]


def flat(vectors: Iterable[Components]) -> Derived:
    """The components of vectors, vector by vector."""
    return Derived(tuple(x for vector in vectors for x in vector))


@derives("positions")
def _positions(d: Derivation) -> Derived:
    return flat(map(d.whereabouts.position, d.description.shown_points))


@derives("joint_positions")
def _joint_positions(d: Derivation) -> Derived:
    return flat(d.whereabouts.position(joint.point) for joint in d.description.joints)


@derives("orientations")
def _orientations(d: Derivation) -> Derived:
    """Rows of R: the inertial axes, resolved in the frame."""
    return flat(d.kinematics.resolve(unit(i), 0, f) for f in d.description.shown_frames for i in range(3))


@derives("velocities")
def _velocities(d: Derivation) -> Derived:
    return flat(map(d.kinematics.inertial_velocity, d.description.shown_points))


@derives("angular_velocities")
def _angular_velocities(d: Derivation) -> Derived:
    return flat(map(d.kinematics.inertial_omega, d.description.shown_frames))


@derives("accelerations")
def _accelerations(d: Derivation) -> Derived:
    """Accelerations without the base acceleration that represents gravity in other kernels."""
    k = d.kinematics
    acceleration = Accelerations(k, d.description.accelerations).acceleration
    return flat(k.resolve(acceleration[point], k.home[point], 0) for point in d.description.shown_points)


@derives("angular_accelerations")
def _angular_accelerations(d: Derivation) -> Derived:
    alpha = Accelerations(d.kinematics, d.description.accelerations).alpha
    return flat(d.kinematics.resolve(alpha[frame], frame, 0) for frame in d.description.shown_frames)


def _without_gravity(d: Derivation) -> str:
    if not d.has_gravity:
        return (
            "its loads do not hold the weights of all bodies in one uniform field: let forcelist have (mass centre, "
            "m g) of every body with mass"
        )
    masses = [body.mass for body in d.description.bodies if body.mass]
    if len(masses) == 1 and d.graph.value(masses[0]) is not None and len(common_fields(d.kinematics)) > 1:
        return (
            "several constant forces act at the mass centre of its only body, whose mass is a number, so that nothing "
            "tells which is the weight: make the mass a parameter that is not baked"
        )
    return ""


@derives("gravity_field", missing=_without_gravity)
def _gravity_field(d: Derivation) -> Derived:
    field, _ = uniform_gravity(d.kinematics)
    return flat([field])
