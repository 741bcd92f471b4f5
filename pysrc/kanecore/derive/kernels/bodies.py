# SPDX-License-Identifier: BSD-3-Clause
"""Each body and each load by itself, in inertial axes."""

from __future__ import annotations

from collections.abc import Iterable

from kanecore.derive.derivation import Derivation
from kanecore.derive.kane import Wrenches, at_rest, central_inertia, inertia_forces
from kanecore.derive.kinematics import Accelerations
from kanecore.derive.registry import Derived, derives
from kanecore.derive.vectors import ZERO, matvec, scale, unit
from kanecore.describe.description import Components

__all__: list[str] = []


def _flat(vectors: Iterable[Components]) -> Derived:
    return Derived(tuple(x for vector in vectors for x in vector))


@derives("positions")
def _positions(d: Derivation) -> Derived:
    return _flat(d.kinematics.position(point) for point in d.description.shown_points)


@derives("orientations")
def _orientations(d: Derivation) -> Derived:
    """Rows of R: the inertial axes, resolved in the frame."""
    return _flat(d.kinematics.resolve(unit(i), 0, f) for f in d.description.shown_frames for i in range(3))


@derives("load_vectors")
def _load_vectors(d: Derivation) -> Derived:
    return _flat(d.kinematics.resolve_all(load.vector, 0) for load in at_rest(d.kinematics, d.description.loads))


@derives("body_momenta")
def _body_momenta(d: Derivation) -> Derived:
    k, g, vectors = d.kinematics, d.graph, []
    for i, body in enumerate(d.description.bodies):
        vectors.append(scale(g, body.mass, k.inertial_velocity(body.point)))
        about = matvec(g, central_inertia(k, i), k.omega[body.frame]) if body.frame >= 0 else ZERO
        vectors.append(k.resolve(about, body.frame, 0) if body.frame >= 0 else ZERO)
    return _flat(vectors)


@derives("inertia_forces")
def _inertia_forces(d: Derivation) -> Derived:
    k, vectors = d.kinematics, []
    accelerations = Accelerations(k, d.description.accelerations)
    for i, body in enumerate(d.description.bodies):
        wrench = inertia_forces(k, accelerations, Wrenches(k), [i])
        vectors.append(k.resolve(wrench.force[body.point], k.home[body.point], 0))
        vectors.append(k.resolve(wrench.torque[body.frame], body.frame, 0) if body.frame >= 0 else ZERO)
    return _flat(vectors)
