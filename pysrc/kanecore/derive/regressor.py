# SPDX-License-Identifier: BSD-3-Clause
"""The inertia forces and weights of rigid bodies as linear functions of their inertial parameters.

With P the first point of a body, c the mass centre from P, a that of P less the field of gravity, U = [α]× + [ω]×[ω]×
and I the inertia about P, in the body's axes,

    F = m a + U m c,    N = m c × a + I α + ω × I ω,    (M u̇ − f)_r = Σ v_r·F + ω_r·N = Y π

(Khalil & Dombre, *Modeling, Identification and Control of Robots*, 2002, section 9.3).  The first point of a body is
the first on the way from the origin to its mass centre that is fixed in it: its joint, if it is located from there.

Friction of a coordinate with q̇ = W u + z, the forces −b q̇ and −c sign q̇, and a rotor of energy ½ J q̇² are linear in
b, c, J as well, with columns W q̇, W sign q̇ and W q̈ of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kanecore.describe.description import Body, Components
from kanecore.graph.calculus import Tangent
from kanecore.graph.scalars import PARAMETER, Op
from kanecore.inertial import ENTRIES

from .derivation import Derivation
from .kane import central_inertia, same_field, weights
from .kinematics import Accelerations, Kinematics
from .vectors import ZERO, add, cross, dot, neg, unit

__all__ = ["inertial_parameters", "joint_regressor", "regressor", "why_no_joint_regressor", "why_no_regressor"]


def first_point(k: Kinematics, body: Body) -> tuple[int, Components]:
    """The first point of a body, and its mass centre from there in the axes of its frame."""
    g, point, centre = k.graph, body.point, ZERO
    while body.frame >= 0:
        here = k.description.points[point]
        fixed = all(f == body.frame and not any(g.depends[x] & ~PARAMETER for x in v) for f, v in here.position)
        if here.parent < 0 or not fixed or k.source[point] not in ("position", "equal"):
            break
        for _, v in here.position:
            centre = add(g, v, centre)
        point = here.parent
    return point, centre


def inertial_parameters(k: Kinematics) -> list[list[int]]:
    """π of each body: m, m c, then I about its first point."""
    g, result = k.graph, []
    for i, body in enumerate(k.description.bodies):
        if body.frame < 0:
            result.append([body.mass, *[0] * 9])
            continue
        _, c = first_point(k, body)
        central, square = central_inertia(k, i), dot(g, c, c)
        inertia = [
            g.add(central[a][b], g.mul(body.mass, g.sub(square if a == b else 0, g.mul(c[a], c[b]))))
            for a, b in ENTRIES
        ]
        result.append([body.mass, *(g.mul(body.mass, x) for x in c), *inertia])
    return result


def regressor(derivation: Derivation) -> list[list[int]]:
    """Y, row by row."""
    k, d, g = derivation.kinematics, derivation.description, derivation.graph
    fields, udot = weights(k), d.accelerations
    plain = Accelerations(k, udot)
    field = next(iter(fields.values()), ZERO)
    falling = Accelerations(k, udot, neg(g, field)) if fields else plain
    heavy = {d.loads[i].at for i in fields}
    columns: list[list[int]] = []
    for body in d.bodies:
        columns += _columns(k, body, falling if body.point in heavy else plain)
    return [list(row) for row in zip(*columns, strict=True)]


def _columns(k: Kinematics, body: Body, accelerations: Accelerations) -> Iterator[list[int]]:
    """The generalized forces by a unit of each parameter of one body."""
    g, speeds = k.graph, k.description.speeds
    point, _ = first_point(k, body)
    axes = body.frame if body.frame >= 0 else k.home[point]
    velocity = k.resolve(k.velocity[point], k.home[point], axes)
    a = k.resolve(accelerations.acceleration[point], k.home[point], axes)
    omega = k.omega[body.frame] if body.frame >= 0 else ZERO
    tangents = [Tangent(g, {u: g.one}).of for u in speeds]
    partials = [([of(x) for x in velocity], [of(x) for x in omega]) for of in tangents]
    for force, torque in _wrenches(k, body, accelerations, a):
        yield [g.add(dot(g, v, force), dot(g, w, torque)) for v, w in partials]


def _wrenches(
    k: Kinematics, body: Body, accelerations: Accelerations, a: Components
) -> Iterator[tuple[Components, Components]]:
    """Force and torque at the first point by a unit of each parameter."""
    g = k.graph
    yield a, ZERO
    if body.frame < 0:
        yield from [(ZERO, ZERO)] * 9
        return
    matrix, alpha, omega = accelerations.matrix(body.frame), accelerations.alpha[body.frame], k.omega[body.frame]
    for axis in range(3):
        yield (matrix[0][axis], matrix[1][axis], matrix[2][axis]), cross(g, unit(axis), a)
    for i, j in ENTRIES:
        yield ZERO, add(g, _times(alpha, i, j), cross(g, omega, _times(omega, i, j)))


def joint_regressor(derivation: Derivation) -> list[list[int]]:
    """Y_j, row by row: three columns of each coordinate; zeros of the members of unit quaternions."""
    k, d, g = derivation.kinematics, derivation.description, derivation.graph
    second = Tangent(g, {**k.seeds, **dict(zip(d.speeds, d.accelerations, strict=True))}).of
    slopes = [Tangent(g, {u: g.one}).of for u in d.speeds]
    of_quaternions = {place for quaternion in d.unit for place in quaternion}
    columns: list[list[int]] = []
    for j, rate in enumerate(d.rates):
        if j in of_quaternions:
            columns += [[0] * len(slopes)] * 3
            continue
        forces = (rate, g.call(Op.SIGN, rate), second(rate))
        columns += [[g.mul(slope(rate), force) for slope in slopes] for force in forces]
    return [list(row) for row in zip(*columns, strict=True)]


def why_no_joint_regressor(derivation: Derivation) -> str:
    """What keeps friction and rotors from having generalized forces; empty where nothing does."""
    if derivation.description.first_order is not None:
        return "its equations are of first order, in q and p: ask the model that they were made of"
    return ""


def _times(v: Components, i: int, j: int) -> Components:
    """The product of a symmetric tensor of one entry, and the same below the diagonal, with a vector."""
    x, y, z = (v[j] if axis == i else v[i] if axis == j else 0 for axis in range(3))
    return (x, y, z)


def why_no_regressor(derivation: Derivation) -> str:
    """What keeps the equations from being linear in the inertial parameters; empty where nothing does."""
    k, d, g = derivation.kinematics, derivation.description, derivation.graph
    if not d.bodies:
        return "it has no bodies, but a Lagrangian or equations that are solved already"
    for body in d.bodies:
        frames = {f for f, _ in (*body.inertia, *body.about)}
        constants = [body.mass, *_entries(body), *(x for _, v in body.about for x in v)]
        if any(g.depends[x] & ~PARAMETER for x in constants) or not frames <= {body.frame}:
            return f"the mass or inertia of body {body.name} is not constant in its own frame"
    fields = weights(k)
    first = next(iter(fields.values()), ZERO)
    if not all(same_field(k, first, field) for field in fields.values()):
        return "forces m γ on mass centres have more than one γ, so that nothing tells which are weights"
    inertial = _symbols(derivation, [x for b in d.bodies for x in (b.mass, *_entries(b))])
    loads = [x for i, load in enumerate(d.loads) if i not in fields for _, v in load.vector for x in v]
    others = [*loads, *d.potentials, *(x for force in d.generalized_forces for x in force.components)]
    if shared := inertial & _symbols(derivation, others):
        names = dict(zip(d.parameters, d.parameter_names, strict=True))
        return (
            f"its loads or potential energies hold {', '.join(sorted(names[i] for i in shared))}, of a mass or an "
            "inertia, beside the weights m γ at mass centres"
        )
    return ""


def _entries(body: Body) -> list[int]:
    return [x for _, tensor in body.inertia for row in tensor for x in row]


def _symbols(derivation: Derivation, nodes: Sequence[int]) -> set[int]:
    """The parameters below some nodes."""
    g, parameters = derivation.graph, set(derivation.description.parameters)
    return {i for i in g.below(nodes) if g.nodes[i][0] is Op.SYM and i in parameters}
