# SPDX-License-Identifier: BSD-3-Clause
"""Manipulator equations of robotics: Coriolis matrix, gravity forces, and the regressor.

The manipulator form is M u̇ + C u + g = τ + other loads, for models with q̇ = u.

    C_ij = Σ_k Γ_ijk u_k,    Γ_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i)

(Murray, Li & Sastry, *A Mathematical Introduction to Robotic Manipulation*, 1994, section 4.2).  The terms h of the
velocities, Σ_jk Γ_ijk u_j u_k, are of degree two in u, and Γ_ijk = Γ_ikj; so C = ½ ∂h/∂u, which takes no derivative of
M. Γ is the only choice that is symmetric in j and k and gives Ṁ = C + Cᵀ, so that Ṁ − 2C is skew.

The regressor gives the inertia forces and weights of rigid bodies as linear functions of their inertial parameters.
With P the first point of a body, c the mass centre from P, a the acceleration of P minus the field of gravity, U = [α]×
+ [ω]×[ω]× and I the inertia about P, in the body's axes,

    F = m a + U m c,    N = m c × a + I α + ω × I ω,    (M u̇ − f)_r = Σ v_r·F + ω_r·N = Y π

(Khalil & Dombre, *Modeling, Identification and Control of Robots*, 2002, section 9.3).  The first point of a body is
the first body-fixed point on the path from the origin to the mass centre: the joint, if the mass centre is located from
there.

For a coordinate with q̇ = W u + z, friction −b q̇ − c sign q̇ and a rotor of energy ½ J q̇² are linear in b, c, J, with
the columns W q̇, W sign q̇ and W q̈.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from kanecore.derive.derivation import Derivation
from kanecore.derive.forces.generalized_forces import active_forces, central_inertia, same_field, weights
from kanecore.derive.formulations.lagrange_equations import Lagrange
from kanecore.derive.kinematics import Accelerations, Kinematics
from kanecore.describe.description import Body
from kanecore.graph.calculus import Tangent, is_affine
from kanecore.graph.expression_graph import PARAMETER, SPEED, Op
from kanecore.graph.vectors import ZERO, Components, add, cross, dot, neg, unit
from kanecore.graph.zero_tests import equal
from kanecore.kernels import ENTRIES

__all__ = [
    "coriolis_matrix",
    "gravity_forces",
    "inertial_parameters",
    "joint_regressor",
    "regressor",
    "why_no_coriolis_matrix",
    "why_no_gravity_forces",
    "why_no_joint_regressor",
    "why_no_regressor",
]

HALF = Fraction(1, 2)
FIRST_ORDER = "its equations are of first order, in q and p: ask the model that they were made of"


def coriolis_matrix(derivation: Derivation) -> list[list[int]]:
    """C(q, u), row by row."""
    g, terms = derivation.graph, _velocity_terms(derivation)
    columns = [Tangent(g, {u: g.constant(HALF)}).of for u in derivation.description.speeds]
    return [[of(h) for of in columns] for h in terms]


def _velocity_terms(derivation: Derivation) -> list[int]:
    """h(q, u) = −F* at u̇ = 0."""
    forces = derivation.formulation.inertia_forces([0] * len(derivation.description.speeds))
    return [derivation.graph.neg(f) for f in forces]


def why_no_coriolis_matrix(derivation: Derivation) -> str:
    """Reason why a model has no Coriolis matrix C; empty if it has one."""
    d = derivation.description
    if d.first_order is not None:
        return FIRST_ORDER
    if d.rates != d.speeds:
        return "Christoffel symbols are of M(q) with qdot = u, and its kinematical equations say otherwise"
    if derivation.has_inertial_loads:
        return "some of its loads hold udot, and its mass matrix is not that of its bodies alone"
    if not _is_quadratic(derivation.copy()):
        return (
            "its inertia forces are not those of a kinetic energy ½ uᵀ M(q) u: of prescribed motions, masses that "
            "change, velocities that are not derivatives of positions, or another Lagrangian"
        )
    return ""


def _is_quadratic(derivation: Derivation) -> bool:
    """Test whether h = C u and Ṁ = C + Cᵀ, at random states; pass a copy, since the test adds nodes."""
    g, d = derivation.graph, derivation.description
    terms, c = _velocity_terms(derivation), coriolis_matrix(derivation)
    along = Tangent(g, derivation.kinematics.seeds).of
    pairs = [(dot(g, row, d.speeds), h) for row, h in zip(c, terms, strict=True)]
    if not equal(g, pairs, otherwise=False):
        return False
    m = derivation.mass_matrix
    rates = [(along(m[i][j]), g.add(c[i][j], c[j][i])) for i in range(len(m)) for j in range(i + 1)]
    return equal(g, rates, otherwise=False)


def gravity_forces(derivation: Derivation) -> list[int]:
    """The forces g = −F of all weights m γ at mass centres, and of given potential energies."""
    g, k, d = derivation.graph, derivation.kinematics, derivation.description
    forces = active_forces(k, [d.loads[i] for i in weights(k)], d.potentials)
    if isinstance(derivation.formulation, Lagrange):
        forces = [g.add(a, b) for a, b in zip(forces, derivation.formulation.conservative(), strict=True)]
    return [g.neg(f) for f in forces]


def why_no_gravity_forces(derivation: Derivation) -> str:
    """Reason why a model has no gravity forces g; empty if it has them, zero or not."""
    k, d = derivation.kinematics, derivation.description
    if d.first_order is not None:
        return FIRST_ORDER
    fields = weights(k)
    first = next(iter(fields), -1)
    other = next((i for i in fields if not same_field(k, fields[first], fields[i])), -1)
    if other >= 0:
        names = " and ".join(f"{number} at {d.points[d.loads[number].at].name}" for number in (first, other))
        return f"forces m γ on mass centres have more than one γ, so that nothing tells which are weights: {names}"
    return ""


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
    """The generalized forces of a unit of each parameter of one body."""
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
    """Force and torque at the first point for a unit of each parameter."""
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
    """Y_j, row by row: three columns of each coordinate; zeros for the members of unit quaternions."""
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
    """Reason why friction and rotors have no generalized forces; empty if they have some."""
    if derivation.description.first_order is not None:
        return "its equations are of first order, in q and p: ask the model that they were made of"
    d, g = derivation.description, derivation.graph
    for name, rate in zip(d.coordinate_names, d.rates, strict=True):
        if not is_affine(g, [rate], lambda i: g.depends[i] & SPEED):
            return f"the rate of coordinate {name} is not linear in the speeds"
    return ""


def _times(v: Components, i: int, j: int) -> Components:
    """The product of a vector with a symmetric tensor that has one entry and its mirror image."""
    x, y, z = (v[j] if axis == i else v[i] if axis == j else 0 for axis in range(3))
    return (x, y, z)


def why_no_regressor(derivation: Derivation) -> str:
    """Reason why the equations are not linear in the inertial parameters; empty if they are."""
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
        if d.loads_of_reactions:
            numbers = ", ".join(map(str, d.loads_of_reactions))
            return f"load {numbers} depends on reactions, and so, not linearly, on masses and inertias"
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
