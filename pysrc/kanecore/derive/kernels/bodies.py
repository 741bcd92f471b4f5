# SPDX-License-Identifier: BSD-3-Clause
"""Each body and each load by itself, in inertial axes.

What `kanecore.run.audit` judges by is as the user wrote it: no axes are moved in parallel, nothing is multiplied by
partial velocities.
"""

from __future__ import annotations

from dataclasses import replace

from kanecore.derive.derivation import Derivation
from kanecore.derive.kane import Wrenches, at_rest, central_inertia, inertia_forces, inertial_part
from kanecore.derive.kinematics import Accelerations
from kanecore.derive.registry import Derived, derives
from kanecore.derive.vectors import ZERO, add, cross, matmul, matvec, neg, scale, transposed
from kanecore.describe.joints import GROUND

from .kinematics import flat

__all__: list[str] = []


@derives("load_vectors")
def _load_vectors(d: Derivation) -> Derived:
    return flat(d.kinematics.resolve_all(load.vector, 0) for load in at_rest(d.kinematics, d.description.loads))


@derives("body_momenta")
def _body_momenta(d: Derivation) -> Derived:
    k, g, vectors = d.kinematics, d.graph, []
    for i, body in enumerate(d.description.bodies):
        vectors.append(scale(g, body.mass, k.inertial_velocity(body.point)))
        about = matvec(g, central_inertia(k, i), k.omega[body.frame]) if body.frame >= 0 else ZERO
        vectors.append(k.resolve(about, body.frame, 0) if body.frame >= 0 else ZERO)
    return flat(vectors)


@derives("inertia_forces")
def _inertia_forces(d: Derivation) -> Derived:
    k, vectors = d.kinematics, []
    accelerations = Accelerations(k, d.description.accelerations)
    for i, body in enumerate(d.description.bodies):
        wrench = inertia_forces(k, accelerations, Wrenches(k), [i])
        vectors.append(k.resolve(wrench.force[body.point], k.home[body.point], 0))
        vectors.append(k.resolve(wrench.torque[body.frame], body.frame, 0) if body.frame >= 0 else ZERO)
    return flat(vectors)


@derives("masses")
def _masses(d: Derivation) -> Derived:
    """The mass, nine entries of the tensor, three of the place that it is about, in the axes of the body."""
    k, g, roots = d.kinematics, d.graph, []
    for body in d.description.bodies:
        total = (ZERO, ZERO, ZERO)
        for f, tensor in body.inertia:
            for r in k.rotation(f, body.frame):
                tensor = matmul(g, matmul(g, r, tensor), transposed(r))
            total = tuple(add(g, a, b) for a, b in zip(total, tensor, strict=True))  # type: ignore[assignment]
        about = k.resolve_all(body.about, body.frame) if body.about else ZERO
        roots += [body.mass, *(x for row in total for x in row), *about]
    return Derived(tuple(roots))


@derives("potentials", applies=lambda d: bool(d.description.potentials))
def _potentials(d: Derivation) -> Derived:
    return Derived(d.description.potentials)


@derives("inertial_loads", missing=lambda d: "" if d.has_inertial_loads else "no load of it holds u̇")
def _inertial_loads(d: Derivation) -> Derived:
    k, loads = d.kinematics, d.description.loads
    return flat(
        k.resolve_all(part.vector, 0)
        for load in loads
        for part in [*inertial_part(k, [load], d.description.accelerations), replace(load, vector=())][:1]
    )


@derives("attached_wrenches", missing=lambda d: d.missing("reactions"))
def _attached_wrenches(d: Derivation) -> Derived:
    k, g, rows = d.kinematics, d.graph, range(len(d.rows))
    wrench = {(i, row): (ZERO, ZERO) for i in range(len(d.description.bodies)) for row in rows}
    for a in d.description.attachments:
        vector = k.resolve_all(a.vector, 0)
        for body, place, v in ((a.child, a.child_at, vector), (a.parent, a.parent_at, neg(g, vector))):
            if body == GROUND:
                continue
            force, moment = wrench[body, a.row]
            if a.kind == "force":
                arm = k.between(d.description.bodies[body].point, place)
                force, moment = add(g, force, v), add(g, moment, cross(g, arm, v))
            else:
                moment = add(g, moment, v)
            wrench[body, a.row] = force, moment
    flat = {key: (*force, *moment) for key, (force, moment) in wrench.items()}
    bodies = range(len(d.description.bodies))
    return Derived(tuple(flat[i, row][j] for i in bodies for j in range(6) for row in rows))
