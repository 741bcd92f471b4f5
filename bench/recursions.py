# SPDX-License-Identifier: BSD-3-Clause
"""Forward dynamics of a tree of joints by the recursive algorithms, over floats or a package's own symbols.

Source: R. Featherstone, *Rigid Body Dynamics Algorithms*, Springer 2008, in the bodies' own axes: composite rigid
bodies (section 6.2) with the factorization of a tree's M (6.5), and articulated bodies (7.3).  Written for the peers
that bring symbols and no mechanics.  Constants are Python floats, so that a factor 0 or ±1 leaves no operation, as a
careful author of such code would have it; what else a package simplifies is its own affair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

Scalar = Any
Vector = Sequence[Any]  # 3 scalars
Matrix = Sequence[Vector]  # 3 rows


class Body(NamedTuple):
    """A body and the joint that carries it, numbered from 0; ``parent`` -1 is the ground.

    ``offset`` leads from the parent's joint to this one, the columns of ``seat`` are this joint's axes at rest, both in
    the parent's axes; it turns about, or slides along, its axis number ``axis``.  ``centre`` and the central
    ``inertia`` are in the body's own axes.
    """

    parent: int
    turns: bool
    axis: int
    offset: Vector
    seat: Matrix
    mass: Scalar
    centre: Vector
    inertia: Matrix


class Robot(NamedTuple):
    """Bodies, each after the one that carries it; ``gravity`` is the acceleration in the ground's axes.

    ``base``, where there is one, is a body that is free in space in the ground's stead: mass, centre and inertia.  Its
    coordinates stand before those of the joints: its place, and its unit quaternion with the scalar first; so do its
    speeds, which are its velocity and its angular velocity in its own axes, and its efforts, along them.
    """

    bodies: Sequence[Body]
    gravity: Vector
    base: tuple[Scalar, Vector, Matrix] | None = None


class Functions(NamedTuple):
    """Sine and cosine of the scalars."""

    sin: Callable[[Scalar], Scalar]
    cos: Callable[[Scalar], Scalar]


# Scalars, vectors, matrices ------------------------------------------------------------------------------


def mul(a: Scalar, b: Scalar) -> Scalar:
    for x, y in ((a, b), (b, a)):
        if isinstance(x, float) and x in (0.0, 1.0, -1.0):
            return 0.0 if x == 0.0 else y if x == 1.0 else -y
    return a * b


def add(a: Scalar, b: Scalar) -> Scalar:
    return b if _is_zero(a) else a if _is_zero(b) else a + b


def sub(a: Scalar, b: Scalar) -> Scalar:
    return a if _is_zero(b) else -b if _is_zero(a) else a - b


def _is_zero(a: Scalar) -> bool:
    return isinstance(a, float) and a == 0.0


def total(terms: Sequence[Any]) -> Scalar:
    return reduce(add, terms)


def dot(a: Vector, b: Vector) -> Scalar:
    return total([mul(x, y) for x, y in zip(a, b, strict=True)])


def plus(*vectors: Vector) -> Vector:
    return [total(entries) for entries in zip(*vectors, strict=True)]


def scaled(a: Scalar, b: Vector) -> Vector:
    return [mul(a, x) for x in b]


def cross(a: Vector, b: Vector) -> Vector:
    return [sub(mul(a[j], b[k]), mul(a[k], b[j])) for j, k in ((1, 2), (2, 0), (0, 1))]


def unit(axis: int) -> Vector:
    return [float(i == axis) for i in range(3)]


def transposed(a: Matrix) -> Matrix:
    return list(zip(*a, strict=True))


def apply(a: Matrix, b: Vector) -> Vector:
    return [dot(row, b) for row in a]


def product(a: Matrix, b: Matrix) -> Matrix:
    columns = transposed(b)
    return [[dot(row, column) for column in columns] for row in a]


def sums(a: Matrix, b: Matrix) -> Matrix:
    return [plus(x, y) for x, y in zip(a, b, strict=True)]


def symmetric(entry: Callable[[int, int], Scalar]) -> Matrix:
    """The matrix of which each entry on and above the diagonal is made once."""
    upper = {(i, j): entry(i, j) for i in range(3) for j in range(i, 3)}
    return [[upper[min(i, j), max(i, j)] for j in range(3)] for i in range(3)]


def turned(rotation: Matrix, a: Matrix) -> Matrix:
    """R A Rᵀ of a symmetric A."""
    left = product(rotation, a)
    return symmetric(lambda i, j: dot(left[i], rotation[j]))


def skew(a: Vector) -> Matrix:
    x, y, z = a
    return [[0.0, sub(0.0, z), y], [z, 0.0, sub(0.0, x)], [sub(0.0, y), x, 0.0]]


# What all recursions begin with --------------------------------------------------------------------------


STRAIGHT = [[float(i == j) for j in range(3)] for i in range(3)]
NONE = [[0.0] * 3 for _ in range(3)]
FREE = 6  # joints that stand for a free base


def jointed(robot: Robot) -> Robot:
    """The robot with six joints in the stead of a free base, along and about its own axes; the last one carries it.

    They hold at one moment: the first one's axes are those of the base already, the others turn nothing.  So M, and
    what is handed over from body to body, come out as of any joints.  Velocities do not: the base's are known.
    """
    if robot.base is None:
        return robot
    zero = [0.0] * 3
    joints = [Body(i - 1, i >= 3, i % 3, zero, STRAIGHT, 0.0, zero, NONE) for i in range(FREE)]
    mass, centre, inertia = robot.base
    joints[-1] = joints[-1]._replace(mass=mass, centre=centre, inertia=inertia)
    return robot._replace(bodies=[*joints, *(body._replace(parent=body.parent + FREE) for body in robot.bodies)])


def frames(robot: Robot, q: Vector, functions: Functions) -> list[tuple[Matrix, Vector]]:
    """Rotation of each body of a jointed robot to its parent's axes, and the place of its joint there."""
    if robot.base is None:
        return [_frame(body, q_i, functions) for body, q_i in zip(robot.bodies, q, strict=True)]
    joints = zip(robot.bodies[FREE:], q[FREE + 1 :], strict=True)
    zero = [0.0] * 3
    base = [(_of_quaternion(q[3 : FREE + 1]), zero), *[(STRAIGHT, zero)] * (FREE - 1)]
    return [*base, *(_frame(body, q_i, functions) for body, q_i in joints)]


def _of_quaternion(e: Vector) -> Matrix:
    """From the base's axes to the ground's; the norm is 1."""
    w, x, y, z = e
    return [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]


def rates(robot: Robot, q: Vector, u: Vector) -> list[Any]:
    """q̇ = Y u: the base's place moves in the ground's axes, its quaternion as e ∘ (0, ω) / 2."""
    if robot.base is None:
        return list(u)
    w, e, velocity, spin = q[3], q[4 : FREE + 1], u[:3], u[3:FREE]
    scalar, vector = sub(0.0, dot(e, spin)), plus(scaled(w, spin), cross(e, spin))
    return [*apply(_of_quaternion(q[3 : FREE + 1]), velocity), *scaled(0.5, [scalar, *vector]), *u[FREE:]]


def _frame(body: Body, q: Scalar, functions: Functions) -> tuple[Matrix, Vector]:
    if not body.turns:
        return body.seat, plus(body.offset, scaled(q, apply(body.seat, unit(body.axis))))
    c, s = functions.cos(q), functions.sin(q)
    i, j, k = body.axis, (body.axis + 1) % 3, (body.axis + 2) % 3
    turn = [[0.0] * 3 for _ in range(3)]
    turn[i][i], turn[j][j], turn[k][k], turn[j][k], turn[k][j] = 1.0, c, c, -s, s
    return product(body.seat, turn), body.offset


def about_joint(body: Body) -> tuple[Matrix, Vector]:
    """The inertia about the joint, and mass times the place of the mass centre."""
    m, c = body.mass, body.centre
    square = dot(c, c)

    def entry(i: int, j: int) -> Scalar:
        steiner = sub(square if i == j else 0.0, mul(c[i], c[j]))
        return add(body.inertia[i][j], mul(m, steiner))

    return symmetric(entry), scaled(m, c)


# Composite rigid bodies ----------------------------------------------------------------------------------


def composite(robot: Robot, q: Vector, u: Vector, tau: Vector, functions: Functions) -> list[Any]:
    """Return u̇ from M by composite rigid bodies, the bias by Newton and Euler, and M's factors on the tree."""
    robot = jointed(robot)
    places = frames(robot, q, functions)
    bias = newton_euler(robot, u, places)
    return _solved(robot, mass_matrix(robot, places), [sub(a, b) for a, b in zip(tau, bias, strict=True)])


def newton_euler(robot: Robot, u: Vector, places: Sequence[tuple[Matrix, Vector]]) -> list[Any]:
    """Joint forces that keep u̇ = 0."""
    zero = [0.0] * 3
    w: list[Any] = []
    al: list[Any] = []  # angular acceleration, acceleration of the joint; force and moment there
    ac: list[Any] = []
    if robot.base:
        velocity, spin = u[:3], u[3:FREE]
        falling = apply(transposed(places[0][0]), scaled(-1.0, robot.gravity))
        w, al, ac = [spin] * FREE, [zero] * FREE, [plus(falling, cross(spin, velocity))] * FREE
    for body, u_i, (rotation, p) in list(zip(robot.bodies, u, places, strict=True))[len(w) :]:
        e = scaled(u_i, unit(body.axis))
        if body.parent < 0:
            w_p, al_p, a = zero, zero, scaled(-1.0, robot.gravity)
        else:
            w_p, al_p = w[body.parent], al[body.parent]
            a = plus(ac[body.parent], cross(al_p, p), cross(w_p, cross(w_p, p)))
        back = transposed(rotation)
        w_i, al_i, a = apply(back, w_p), apply(back, al_p), apply(back, a)
        if body.turns:
            al_i = plus(al_i, cross(w_i, e))
            w_i = plus(w_i, e)
        else:
            a = plus(a, scaled(2.0, cross(w_i, e)))
        w.append(w_i)
        al.append(al_i)
        ac.append(a)
    force: list[Any] = []
    moment: list[Any] = []
    for body, w_i, al_i, a in zip(robot.bodies, w, al, ac, strict=True):
        inertia, h = about_joint(body)
        force.append(plus(scaled(body.mass, a), cross(al_i, h), cross(w_i, cross(w_i, h))))
        moment.append(plus(apply(inertia, al_i), cross(w_i, apply(inertia, w_i)), cross(h, a)))
    bias: list[Any] = [0.0] * len(w)
    for i, body in reversed(list(enumerate(robot.bodies))):
        bias[i] = moment[i][body.axis] if body.turns else force[i][body.axis]
        if body.parent >= 0:
            rotation, p = places[i]
            f = apply(rotation, force[i])
            force[body.parent] = plus(force[body.parent], f)
            moment[body.parent] = plus(moment[body.parent], apply(rotation, moment[i]), cross(p, f))
    return bias


def mass_matrix(robot: Robot, places: Sequence[tuple[Matrix, Vector]]) -> list[list[Any]]:
    """M by composite rigid bodies; entries of bodies on different branches are 0."""
    n = len(robot.bodies)
    m = [body.mass for body in robot.bodies]
    inertia, h = map(list, zip(*map(about_joint, robot.bodies), strict=True))
    out: list[list[Any]] = [[0.0] * n for _ in range(n)]
    for i, body in reversed(list(enumerate(robot.bodies))):
        e = unit(body.axis)
        force = cross(e, h[i]) if body.turns else scaled(m[i], e)
        moment = apply(inertia[i], e) if body.turns else cross(h[i], e)
        out[i][i] = moment[body.axis] if body.turns else force[body.axis]
        j = i
        while (parent := robot.bodies[j].parent) >= 0:
            rotation, p = places[j]
            force = apply(rotation, force)
            moment = plus(apply(rotation, moment), cross(p, force))
            j = parent
            entry = (moment if robot.bodies[j].turns else force)[robot.bodies[j].axis]
            out[i][j] = out[j][i] = entry
        if body.parent >= 0:
            turned_h = apply(places[i][0], h[i])
            moved = _moved(turned(places[i][0], inertia[i]), turned_h, m[i], places[i][1])
            inertia[body.parent] = sums(inertia[body.parent], moved)
            h[body.parent] = plus(h[body.parent], turned_h, scaled(m[i], places[i][1]))
            m[body.parent] = add(m[body.parent], m[i])
    return out


def _moved(inertia: Matrix, h: Vector, m: Scalar, p: Vector) -> Matrix:
    """The inertia about a point that p leads away from."""
    square = add(mul(2.0, dot(h, p)), mul(m, dot(p, p)))

    def entry(i: int, j: int) -> Scalar:
        mixed = add(add(mul(h[i], p[j]), mul(p[i], h[j])), mul(mul(m, p[i]), p[j]))
        return add(inertia[i][j], sub(square if i == j else 0.0, mixed))

    return symmetric(entry)


def _solved(robot: Robot, m: list[list[Any]], b: Sequence[Any]) -> list[Any]:
    """M⁻¹ b by LᵀDL without fill-in: only ancestors meet."""
    ancestors = [_ancestors(robot, i) for i in range(len(b))]
    for k in reversed(range(len(b))):
        m[k][k] = 1.0 / m[k][k]
        for i in ancestors[k]:
            a = mul(m[k][i], m[k][k])
            for j in (i, *ancestors[i]):
                m[i][j] = sub(m[i][j], mul(a, m[k][j]))
            m[k][i] = a
    x = list(b)
    for i in reversed(range(len(b))):
        for j in ancestors[i]:
            x[j] = sub(x[j], mul(m[i][j], x[i]))
    x = [mul(x_i, m[i][i]) for i, x_i in enumerate(x)]
    for i in range(len(b)):
        for j in ancestors[i]:
            x[i] = sub(x[i], mul(m[i][j], x[j]))
    return x


def _ancestors(robot: Robot, i: int) -> list[int]:
    """From the parent to the root."""
    line = []
    while (i := robot.bodies[i].parent) >= 0:
        line.append(i)
    return line


# Articulated bodies --------------------------------------------------------------------------------------


class _Articulated(NamedTuple):
    """Inertia [[A, B], [Bᵀ, D]] about the joint, and the bias moment and force; motions are (angular, linear)."""

    a: Matrix
    b: Matrix
    d: Matrix
    moment: Vector
    force: Vector

    def __add__(self, other: _Articulated) -> _Articulated:
        matrices = [sums(x, y) for x, y in zip(self[:3], other[:3], strict=True)]
        return _Articulated(*matrices, plus(self.moment, other.moment), plus(self.force, other.force))


class _Joint(NamedTuple):
    """Results of the inward sweep for the outward one: inertia's column along the joint, 1 / its entry, force."""

    angular: Vector
    linear: Vector
    inverse: Scalar
    effort: Scalar


def articulated(robot: Robot, q: Vector, u: Vector, tau: Vector, functions: Functions) -> list[Any]:
    """Return u̇ by articulated bodies."""
    robot = jointed(robot)
    places = frames(robot, q, functions)
    bodies, coriolis = _velocities(robot, u, places)
    joints: list[Any] = [None] * len(bodies)
    for i, body in reversed(list(enumerate(robot.bodies))):
        joints[i] = _joint(bodies[i], body, tau[i])
        if body.parent >= 0:
            bodies[body.parent] += _handed_over(bodies[i], body, joints[i], coriolis[i], places[i])
    return _accelerations(robot, joints, coriolis, places)


def _velocities(
    robot: Robot, u: Vector, places: Sequence[tuple[Matrix, Vector]]
) -> tuple[list[_Articulated], list[tuple[Vector, Vector]]]:
    """Each body by itself, with its bias; and its acceleration at u̇ = 0 relative to its parent's."""
    w: list[Any] = []
    v: list[Any] = []
    coriolis: list[tuple[Vector, Vector]] = []
    zero = [0.0] * 3
    if robot.base:
        w, v, coriolis = [u[3:FREE]] * FREE, [u[:3]] * FREE, [(zero, zero)] * FREE
    for body, u_i, (rotation, p) in list(zip(robot.bodies, u, places, strict=True))[len(w) :]:
        back, e = transposed(rotation), scaled(u_i, unit(body.axis))
        if body.parent < 0:
            w_i = v_i = zero
        else:
            w_p = w[body.parent]
            w_i, v_i = apply(back, w_p), apply(back, plus(v[body.parent], cross(w_p, p)))
        coriolis.append((cross(w_i, e), cross(v_i, e)) if body.turns else (zero, cross(w_i, e)))
        w_i, v_i = (plus(w_i, e), v_i) if body.turns else (w_i, plus(v_i, e))
        w.append(w_i)
        v.append(v_i)
    bodies = []
    for body, w_i, v_i in zip(robot.bodies, w, v, strict=True):
        (inertia, h), m = about_joint(body), body.mass
        spin = plus(apply(inertia, w_i), cross(h, v_i))
        momentum = plus(scaled(m, v_i), cross(w_i, h))
        d = [scaled(m, unit(k)) for k in range(3)]
        moment = plus(cross(w_i, spin), cross(v_i, momentum))
        bodies.append(_Articulated(inertia, skew(h), d, moment, cross(w_i, momentum)))
    return bodies, coriolis


def _joint(body: _Articulated, description: Body, tau: Scalar) -> _Joint:
    k = description.axis
    if description.turns:
        angular, linear = [row[k] for row in body.a], body.b[k]
        return _Joint(angular, linear, 1.0 / angular[k], sub(tau, body.moment[k]))
    angular, linear = [row[k] for row in body.b], [row[k] for row in body.d]
    return _Joint(angular, linear, 1.0 / linear[k], sub(tau, body.force[k]))


def _handed_over(
    body: _Articulated, description: Body, joint: _Joint, coriolis: tuple[Vector, Vector], place: tuple[Matrix, Vector]
) -> _Articulated:
    """Inertia and force of a body on its parent through a joint that gives way, in axes of the parent's joint."""
    (rotation, p), k, turns = place, description.axis, description.turns
    gain_a, gain_l = scaled(joint.inverse, joint.angular), scaled(joint.inverse, joint.linear)

    def less(m: Matrix, x: Vector, y: Vector, gone: Callable[[int, int], bool]) -> Callable[[int, int], Scalar]:
        return lambda i, j: 0.0 if gone(i, j) else sub(m[i][j], mul(x[i], y[j]))  # along the joint nothing is left

    a = symmetric(less(body.a, gain_a, joint.angular, lambda i, j: turns and k in (i, j)))
    d = symmetric(less(body.d, gain_l, joint.linear, lambda i, j: not turns and k in (i, j)))
    entry = less(body.b, gain_a, joint.linear, lambda i, j: k == (i if turns else j))
    b = [[entry(i, j) for j in range(3)] for i in range(3)]
    step = mul(joint.effort, joint.inverse)
    c_a, c_l = coriolis
    moment = plus(body.moment, apply(a, c_a), apply(b, c_l), scaled(step, joint.angular))
    force = apply(rotation, plus(body.force, apply(transposed(b), c_a), apply(d, c_l), scaled(step, joint.linear)))
    moment = plus(apply(rotation, moment), cross(p, force))

    a, d, b = turned(rotation, a), turned(rotation, d), product(product(rotation, b), transposed(rotation))
    arm = skew(p)
    b_moved = sums(b, product(arm, d))
    first, second = product(arm, transposed(b)), product(b_moved, arm)
    a_moved = symmetric(lambda i, j: sub(add(a[i][j], first[i][j]), second[i][j]))
    return _Articulated(a_moved, b_moved, d, moment, force)


def _accelerations(
    robot: Robot,
    joints: Sequence[_Joint],
    coriolis: Sequence[tuple[Vector, Vector]],
    places: Sequence[tuple[Matrix, Vector]],
) -> list[Any]:
    w: list[Any] = []
    v: list[Any] = []
    udot = []
    for body, joint, (c_a, c_l), (rotation, p) in zip(robot.bodies, joints, coriolis, places, strict=True):
        if body.parent < 0:
            w_p, v_p = [0.0] * 3, scaled(-1.0, robot.gravity)
        else:
            w_p = w[body.parent]
            v_p = plus(v[body.parent], cross(w_p, p))
        back = transposed(rotation)
        w_i, v_i = plus(apply(back, w_p), c_a), plus(apply(back, v_p), c_l)
        udot.append(mul(joint.inverse, sub(sub(joint.effort, dot(joint.angular, w_i)), dot(joint.linear, v_i))))
        e = scaled(udot[-1], unit(body.axis))
        w.append(plus(w_i, e) if body.turns else w_i)
        v.append(v_i if body.turns else plus(v_i, e))
    return udot
