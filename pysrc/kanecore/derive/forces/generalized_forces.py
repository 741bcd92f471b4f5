# SPDX-License-Identifier: BSD-3-Clause
"""Generalized forces: Kane's, of the speeds, and Lagrange's, of the coordinates.

Kane's generalized active and inertia forces.

    F_r  = Σ v_r·R + ω_r·T                                 (Kane & Levinson 1985, sections 4.4 and 4.6)
    F*_r = Σ v_r·(−m a) + ω_r·T*,   T* = −(I·α + ω × I·ω)   (section 4.11)
    F_r + F*_r = 0                                          (section 6.1)

If a mass depends on q, t or inputs, −(m a + ṁ v) replaces −m a, as in SymPy.  Loads may be affine in u̇, for example
proportional to an acceleration: their value at u̇ = 0 belongs to F_r, and the rest to F*_r.

v_r and ω_r are the coefficients of the speeds u_r in the velocities, so both sums are products of forces with the
derivatives of the velocities.  Forces are the weights of velocities in a reverse accumulation, from the last body to
the first.

Generalized forces of the coordinates: Q_k = Σ F·∂v/∂q̇_k, from those of the speeds.

With q̇ = Y u + z the powers Q·Y u and F·u are the same for all u, so Yᵀ Q = F.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from kanecore.derive.kinematics import Accelerations, Kinematics
from kanecore.derive.recursions.spatial_inertia import second_moments
from kanecore.describe.description import Body, Description, GeneralizedForce, Load
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.expression_graph import ACCELERATION, PARAMETER, SPEED, Op
from kanecore.graph.linear_equations import Singular, solve
from kanecore.graph.vectors import (
    ZERO,
    Components,
    Matrix,
    add,
    cross,
    dot,
    matmul,
    matvec,
    neg,
    scale,
    sub,
    transposed,
)
from kanecore.graph.zero_tests import equal, vanish

__all__ = [
    "Wrenches",
    "active_forces",
    "at_rest",
    "central_inertia",
    "common_fields",
    "coordinate_forces",
    "generalized_forces",
    "holds_udot",
    "inertia_forces",
    "inertial_part",
    "momentum_rate",
    "rate_slopes",
    "rotational_torque",
    "same_field",
    "uniform_gravity",
    "unrelated",
    "weights",
]

SAME_FIELD = 1e-12  # relative difference of weight/mass between bodies that counts as rounding, not as another field


class Wrenches:
    """Sums of forces at points and of torques on frames, each in the axes of its velocity."""

    def __init__(self, k: Kinematics, loads: Iterable[Load] = ()) -> None:
        self.kinematics = k
        self.force: dict[int, Components] = {}
        self.torque: dict[int, Components] = {}
        for load in loads:
            self.add_load(load)

    def add_force(self, point: int, force: Components) -> None:
        self.force[point] = add(self.kinematics.graph, self.force.get(point, ZERO), force)

    def add_torque(self, frame: int, torque: Components) -> None:
        self.torque[frame] = add(self.kinematics.graph, self.torque.get(frame, ZERO), torque)

    def add_load(self, load: Load) -> None:
        k = self.kinematics
        if load.kind == "force":
            self.add_force(load.at, k.resolve_all(load.vector, k.home[load.at]))
        else:
            self.add_torque(load.at, k.resolve_all(load.vector, load.at))

    def weights(self) -> list[tuple[int, int]]:
        """``[(velocity component, force component), ...]``."""
        k = self.kinematics
        pairs = [(v, f) for p, force in self.force.items() for v, f in zip(k.velocity[p], force, strict=True)]
        pairs += [(w, t) for f, torque in self.torque.items() for w, t in zip(k.omega[f], torque, strict=True)]
        return pairs

    def power(self) -> int:
        """The sum of R·v + T·ω, with the remainders of the velocities."""
        return self.kinematics.graph.sum(self.kinematics.graph.mul(v, w) for v, w in self.weights())


def generalized_forces(wrenches: Wrenches) -> list[int]:
    """Sums of v_r·R + ω_r·T, for every speed."""
    k = wrenches.kinematics
    return accumulate(k.graph, wrenches.weights(), k.description.speeds, SPEED)


def active_forces(
    k: Kinematics, loads: Iterable[Load], potentials: Iterable[int] = (), generalized: Iterable[GeneralizedForce] = ()
) -> list[int]:
    """F_r of loads, −∂U/∂q · ∂q̇/∂u_r of potential energies, and given generalized forces."""
    g, d = k.graph, k.description
    forces = generalized_forces(Wrenches(k, loads))
    for energy in potentials:
        slopes = accumulate(g, [(energy, g.one)], d.coordinates)
        weights = [(rate, g.neg(slope)) for rate, slope in zip(d.rates, slopes, strict=True)]
        forces = [g.add(f, e) for f, e in zip(forces, accumulate(g, weights, d.speeds, SPEED), strict=True)]
    for given in generalized:
        forces = [g.add(f, x) for f, x in zip(forces, given.components[: len(forces)], strict=True)]
    return forces


def at_rest(k: Kinematics, loads: Iterable[Load]) -> list[Load]:
    """Loads at u̇ = 0, which belong to F_r."""
    g, zeros = k.graph, dict.fromkeys(k.description.accelerations, 0)
    return [_mapped(load, lambda v: g.substitute(v, zeros)) if holds_udot(k, load) else load for load in loads]


def inertial_part(k: Kinematics, loads: Iterable[Load], udot: Sequence[int]) -> list[Load]:
    """Part of loads that is linear in u̇, for given u̇; it belongs to F*_r."""
    along = Tangent(k.graph, dict(zip(k.description.accelerations, udot, strict=True))).of
    return [_mapped(load, lambda v: map(along, v)) for load in loads if holds_udot(k, load)]


def holds_udot(k: Kinematics, load: Load) -> bool:
    return any(k.graph.depends[x] & ACCELERATION for _, v in load.vector for x in v)


def _mapped(load: Load, function: Callable[[Components], Iterable[int]]) -> Load:
    return replace(load, vector=tuple((f, (x, y, z)) for f, v in load.vector for x, y, z in [function(v)]))


def central_inertia(k: Kinematics, body: int) -> Matrix:
    """The inertia tensor about the mass centre in the axes of the body's frame.

    From a tensor about another point Q, m (d² 1 − d dᵀ) is subtracted, where d is the vector from the mass centre to Q
    (parallel axes).
    """
    g, b = k.graph, k.description.bodies[body]
    total: list[list[int]] = [[0] * 3 for _ in range(3)]
    for f, tensor in b.inertia:
        for r in k.rotation(f, b.frame):
            tensor = matmul(g, matmul(g, r, tensor), transposed(r))
        for i in range(3):
            for j in range(3):
                total[i][j] = g.add(total[i][j], tensor[i][j])
    if b.about:
        d = k.resolve_all(b.about, b.frame)
        square = dot(g, d, d)
        for i in range(3):
            for j in range(3):
                steiner = g.sub(square if i == j else 0, g.mul(d[i], d[j]))
                total[i][j] = g.sub(total[i][j], g.mul(b.mass, steiner))
    return tuple(tuple(row) for row in total)  # type: ignore[return-value]


def inertia_change(k: Kinematics, body: int) -> Components:
    """The torque İ·ω, where İ is the derivative of the central inertia in the body's axes.

    It vanishes for a rigid body.  But a tensor may be written in another frame, which turns in the body with δ,

        İ·ω = δ × (I·ω) − I·(δ × ω),

    or about a point that moves in the body, or, for a changing mass, about a point away from the mass centre.  Numbers
    test whether the inertia is constant nevertheless, as for a wheel in its fork or a ball in its carrier.
    """
    g, b = k.graph, k.description.bodies[body]
    growth = k.rate.of(b.mass) if b.about else 0
    if not growth and all(f == b.frame for f, _ in (*b.inertia, *b.about)):
        return ZERO
    omega, change = k.omega[b.frame], ZERO

    def turning(f: int) -> tuple[Components, Components]:
        """Angular velocities of the body, and of frame f in the body, in the axes of f."""
        w = k.resolve(omega, b.frame, f)
        return w, sub(g, k.omega[f], w)

    for f, tensor in b.inertia:
        if f != b.frame:
            w, delta = turning(f)
            local = sub(g, cross(g, delta, matvec(g, tensor, w)), matvec(g, tensor, cross(g, delta, w)))
            change = add(g, change, k.resolve(local, f, b.frame))
    if any(f != b.frame for f, _ in b.about):
        d, rate = k.resolve_all(b.about, b.frame), ZERO
        for f, v in b.about:
            moved = add(g, (k.rate.of(v[0]), k.rate.of(v[1]), k.rate.of(v[2])), cross(g, turning(f)[1], v))
            rate = add(g, rate, k.resolve(moved, f, b.frame))
        # −m d/dt (d² 1 − d dᵀ)·ω
        steiner = scale(g, g.mul(g.constant(2), dot(g, d, rate)), omega)
        steiner = sub(g, steiner, scale(g, dot(g, d, omega), rate))
        steiner = sub(g, steiner, scale(g, dot(g, rate, omega), d))
        change = sub(g, change, scale(g, b.mass, steiner))
    if growth:  # −ṁ (d² 1 − d dᵀ)·ω
        d = k.resolve_all(b.about, b.frame)
        change = sub(g, change, scale(g, growth, cross(g, d, cross(g, omega, d))))
    return ZERO if vanish(g, change) else change


def momentum_rate(k: Kinematics, accelerations: Accelerations, body: int) -> Components:
    """Force m a + ṁ v of a body, in the axes of its mass centre's velocity."""
    g, b = k.graph, k.description.bodies[body]
    rate = scale(g, b.mass, accelerations.acceleration[b.point])
    return add(g, rate, scale(g, k.rate.of(b.mass), k.velocity[b.point]))


def inertia_torque(k: Kinematics, accelerations: Accelerations, body: int) -> Components:
    """Torque I·α + ω × I·ω, and İ·ω if the tensor is not constant in the body's frame."""
    g, frame, inertia = k.graph, k.description.bodies[body].frame, central_inertia(k, body)
    second = second_moments(g, inertia)
    return add(g, rotational_torque(k, accelerations, frame, inertia, second), inertia_change(k, body))


def rotational_torque(
    k: Kinematics, accelerations: Accelerations, frame: int, inertia: Matrix, second: Matrix
) -> Components:
    """Torque I·α + ω × I·ω for an inertia I about a point of a frame, and S, its second moments of mass.

    The torque is ∫ ρ × (U ρ) dm = axial(U S) with S = ½ tr(I) 1 − I, since U is needed for the points of the frame
    anyway.  About a fixed direction the classical form is shorter.
    """
    g, w = k.graph, k.omega[frame]
    if sum(1 for x in w if x) <= 1:
        return add(g, matvec(g, inertia, accelerations.alpha[frame]), cross(g, w, matvec(g, inertia, w)))
    u = accelerations.matrix(frame)

    def about(x: int, y: int, z: int) -> int:
        """The component (U S)_zy − (U S)_yz."""
        own = g.sub(g.mul(second[y][y], u[z][y]), g.mul(second[z][z], u[y][z]))
        mixed = g.sub(g.mul(second[x][y], u[z][x]), g.mul(second[z][x], u[y][x]))
        return g.add(g.add(own, mixed), g.mul(second[y][z], g.sub(u[z][z], u[y][y])))

    return (about(0, 1, 2), about(1, 2, 0), about(2, 0, 1))


def inertia_forces(
    k: Kinematics, accelerations: Accelerations, wrenches: Wrenches, bodies: Iterable[int] | None = None
) -> Wrenches:
    """Add the inertia forces −(m a + ṁ v) and torques −(I·α + ω × I·ω) of some bodies, or of all, to ``wrenches``."""
    g, all_bodies = k.graph, k.description.bodies
    for i in range(len(all_bodies)) if bodies is None else bodies:
        body = all_bodies[i]
        wrenches.add_force(body.point, neg(g, momentum_rate(k, accelerations, i)))
        if body.frame >= 0:
            torque = inertia_torque(k, accelerations, i)
            wrenches.add_torque(body.frame, neg(g, torque))
    return wrenches


def uniform_gravity(k: Kinematics) -> tuple[Components, set[int]]:
    """The field γ, in inertial axes, and the numbers of the loads that are m γ at the mass centres of all bodies.

    It is the sum of the fields common to all bodies with mass; ``(ZERO, set())`` without such a field.
    """
    total, numbers = ZERO, set[int]()
    for field, loads in common_fields(k):
        total, numbers = add(k.graph, total, field), numbers | loads
    return total, numbers


def common_fields(k: Kinematics) -> list[tuple[Components, set[int]]]:
    """The fields γ in which every body with mass has a load m γ at its mass centre, and the numbers of these loads."""
    common: list[tuple[Components, set[int]]] = []
    taken: set[int] = set()
    forces_at = _forces_at_points(k)
    of_bodies = [_weights_of(k, body, forces_at) for body in k.description.bodies if body.mass]
    for field in of_bodies[0].values() if of_bodies else ():
        loads: set[int] = set()
        for own in of_bodies:
            free = (i for i, other in own.items() if i not in taken | loads and same_field(k, field, other))
            loads.update(itertools.islice(free, 1))
        if len(loads) == len(of_bodies):
            common.append((field, loads))
            taken |= loads
    return common


def weights(k: Kinematics) -> dict[int, Components]:
    """The numbers of the loads that are m γ at the mass centre of some body, each with its γ in inertial axes."""
    found: dict[int, Components] = {}
    forces_at = _forces_at_points(k)
    for body in k.description.bodies:
        for number, field in _weights_of(k, body, forces_at).items():
            found.setdefault(number, field)
    return found


def _forces_at_points(k: Kinematics) -> dict[int, list[int]]:
    """Numbers of the loads that are forces, by their points."""
    found: dict[int, list[int]] = {}
    for i, load in enumerate(k.description.loads):
        if load.kind == "force":
            found.setdefault(load.at, []).append(i)
    return found


def _weights_of(k: Kinematics, body: Body, forces_at: Mapping[int, Sequence[int]]) -> dict[int, Components]:
    """Numbers of the loads that are m γ at the mass centre of one body, each with its γ."""
    if not body.mass:
        return {}
    loads = k.description.loads
    fields = ((i, _per_mass(k, loads[i], body.mass)) for i in forces_at.get(body.point, ()))
    return {i: field for i, field in fields if field is not None}


def same_field(k: Kinematics, a: Components, b: Components) -> bool:
    """Test whether two fields are equal, by structure or as numbers to their rounding."""
    if a == b:
        return True
    values = [(k.graph.value(x), k.graph.value(y)) for x, y in zip(a, b, strict=True)]
    largest = max((abs(float(x)) for pair in values for x in pair if x is not None), default=0.0)
    return all(x is not None and y is not None and abs(float(x) - float(y)) <= SAME_FIELD * largest for x, y in values)


def _per_mass(k: Kinematics, load: Load, mass: int) -> Components | None:
    """Acceleration force/mass, if it is constant in inertial axes; otherwise None."""
    if len(load.vector) != 1 or load.vector[0][0] != 0:
        return None
    x, y, z = (_divided(k, component, mass) for component in load.vector[0][1])
    if x is None or y is None or z is None or any(k.graph.depends[i] & ~PARAMETER for i in (x, y, z)):
        return None
    return x, y, z


def _divided(k: Kinematics, node: int, mass: int) -> int | None:
    """Quotient ``node / mass`` if, by structure or by numbers, it does not depend on the symbols of the mass."""
    quotient = _without_factor(k, node, mass)
    g = k.graph
    if quotient is not None or g.value(mass) is not None:
        return quotient
    symbols = [i for i in g.below([mass]) if g.nodes[i][0] is Op.SYM]
    slopes = (accumulate(g, [(x, g.one)], symbols) for x in (node, mass))
    pairs = [(g.mul(mass, a), g.mul(node, b)) for a, b in zip(*slopes, strict=True)]
    if not equal(g, pairs, otherwise=False):
        return None
    above, below = g.substitute([node, mass], dict.fromkeys(symbols, g.one))
    return g.div(above, below) if below else None


def _without_factor(k: Kinematics, node: int, factor: int) -> int | None:
    """``node / factor`` where ``factor`` is a factor of ``node``, by structure or as a number; else None."""
    g = k.graph
    if node == 0:
        return 0
    if node == factor:
        return g.one
    value, divisor = g.value(node), g.value(factor)
    if value is not None and divisor is not None:
        return g.div(node, factor)
    op, *args = g.nodes[node]
    if op is Op.NEG:
        inner = _without_factor(k, args[0], factor)
        return None if inner is None else g.neg(inner)
    if op is Op.MUL:
        for a, b in (args, reversed(args)):
            inner = _without_factor(k, a, factor)
            if inner is not None:
                return g.mul(inner, b)
        if divisor is not None and any(g.value(a) is not None for a in args):
            return g.div(node, factor)
    if op is Op.ADD or op is Op.SUB:
        parts = [_without_factor(k, a, factor) for a in args]
        if parts[0] is not None and parts[1] is not None:
            return g.add(parts[0], parts[1]) if op is Op.ADD else g.sub(parts[0], parts[1])
    if op is Op.DIV:
        inner = _without_factor(k, args[0], factor)
        return None if inner is None else g.div(inner, args[1])
    return None


def rate_slopes(d: Description) -> list[list[int]]:
    """Y of q̇ = Y u + z."""
    columns = [Tangent(d.graph, {u: d.graph.one}).of for u in d.speeds]
    return [[of(rate) for of in columns] for rate in d.rates]


def coordinate_forces(d: Description, forces: Sequence[int]) -> list[int]:
    """The solution Q of Yᵀ Q = F; raises `Singular`."""
    return solve(d.graph, list(zip(*rate_slopes(d), strict=True)), forces)


def unrelated(d: Description) -> str:
    """Reason why the speeds do not follow from q̇; empty if they do."""
    n_q, n_u = len(d.coordinates), len(d.speeds)
    if n_q != n_u:
        return f"it has {n_q} coordinates and {n_u} speeds, and its speeds do not follow from as many derivatives of q"
    try:
        coordinate_forces(d, d.speeds)
    except Singular as error:
        return f"the speed {d.speed_names[error.column]} does not follow from the derivatives of the coordinates"
    return ""
