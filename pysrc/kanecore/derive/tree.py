# SPDX-License-Identifier: BSD-3-Clause
"""The joint tree of a mechanism: links, joint rates, composite bodies, articulated bodies.

A link is a frame with an origin that moves with it.  Where the velocities of all bodies follow from relative motions
of links, each the sum of fixed axes times scalars w, the mass matrix in w comes from composite bodies (Featherstone,
*Rigid Body Dynamics Algorithms*, 2008, section 6.2) whatever the speeds u of the user are: w = S u + s with S square,

    M_u = Sᵀ M_w S,    f_u = Sᵀ f_w,    M_w y = f_w,    S u̇ = y,

with f taken at u̇ = 0, so that neither Ṡ nor ṡ is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kanecore.describe.description import Components, Matrix
from kanecore.graph.calculus import accumulate, is_affine
from kanecore.graph.decide import deciding, is_regular
from kanecore.graph.scalars import SPEED, Graph, Op

from .kane import central_inertia
from .kinematics import Kinematics
from .vectors import ZERO, add, cross, dot, matmul, matvec, scale, sub, transposed

__all__ = ["JointTree", "Link", "Rate", "articulated_solve", "composite_mass_matrix", "joint_tree"]

Symmetric = tuple[int, int, int, int, int, int]  # xx, yy, zz, xy, yz, zx


@dataclass(frozen=True)
class Rate:
    """One scalar of a joint's motion: the link turns about ``axis`` (or slides along it) by ``axis`` · w."""

    node: int
    axis: Components
    turns: bool


@dataclass
class Link:
    """A frame with an origin; ``offset`` is the origin from the parent's, in the parent's axes."""

    frame: int
    parent: int
    offset: Components
    rotation: list[Matrix]  # to the parent's axes, factor by factor
    rates: list[Rate] = field(default_factory=list)
    mass: int = 0
    moment: Components = ZERO  # Σ m c
    inertia: Symmetric = (0, 0, 0, 0, 0, 0)  # about the origin


@dataclass(frozen=True)
class JointTree:
    """Links, each after its parent, and S = ∂w/∂u, joint rate by joint rate."""

    links: list[Link]
    jacobian: list[list[int]]

    @property
    def rates(self) -> list[int]:
        return [rate.node for link in self.links for rate in link.rates]


def joint_tree(k: Kinematics) -> JointTree | None:
    """The tree, or None where velocities do not follow from one (then the mass matrix is formed by columns)."""
    if not k.from_positions():
        return None
    builder = _Builder(k)
    for i in range(len(k.description.bodies)):
        builder.add_body(i)
    return builder.finish()


class _Builder:
    def __init__(self, k: Kinematics) -> None:
        self.k, self.g = k, k.graph
        self.links: list[Link] = [Link(0, -1, ZERO, [])]
        self.motion: list[Components] = [ZERO]  # relative ω or sliding velocity, in the link's axes
        self.turns: list[bool] = [True]
        self._pinned: dict[tuple[int, Components, int], int] = {}  # (link, place in it, frame) -> link turning there
        self._place: dict[int, tuple[int, Components]] = {}  # point -> (link it is fixed in, position in it)

    def place(self, point: int) -> tuple[int, Components]:
        points = self.k.description.points
        above = []
        while point >= 0 and point not in self._place:
            above.append(point)
            point = points[point].parent
        found = self._place[point] if point >= 0 else (0, ZERO)
        for point in reversed(above):
            position, rates = points[point].position, self.k.displacement_rate(point)
            for n in sorted(range(len(rates)), key=lambda n: position[n][0]):
                frame, vector = position[n]
                found = self._along(found, frame, vector, rates[n][1])
            self._place[point] = found
        return found

    def _along(
        self, start: tuple[int, Components], frame: int, vector: Components, rate: Components
    ) -> tuple[int, Components]:
        link, position = self._turned(start, frame)
        position = add(self.g, position, vector)
        if rate == ZERO:
            return link, position
        self.links.append(Link(frame, link, position, []))
        self.motion.append(rate)
        self.turns.append(False)
        return len(self.links) - 1, ZERO

    def _turned(self, start: tuple[int, Components], frame: int) -> tuple[int, Components]:
        """The link with the given frame at a point of another, frame by frame where several turn there."""
        link, position = start
        for f in reversed(self._turning(frame, self.links[link].frame)):
            if self.links[link].frame != f:
                link, position = self._pin(link, position, f), ZERO
        return link, position

    def _pin(self, link: int, position: Components, frame: int) -> int:
        """The link that turns with a frame at a place of another link."""
        key = (link, position, frame)
        found = self._pinned.get(key)
        if found is None:
            k, parent = self.k, self.links[link].frame
            omega = sub(self.g, k.omega[frame], k.resolve(k.omega[parent], parent, frame))
            self.links.append(Link(frame, link, position, k.rotation(frame, parent)))
            self.motion.append(self._relative(frame, parent, omega))
            self.turns.append(True)
            found = self._pinned[key] = len(self.links) - 1
        return found

    def _turning(self, frame: int, ancestor: int) -> list[int]:
        """A frame, then those that turn on the way to it from an ancestor, each before the next one turns."""
        f, found = frame, []
        while f not in (ancestor, 0):
            if self.k.relative[f]:
                found.append(f)
            f = self.k.description.frames[f].angular_parent
        return [frame, *found[1:]] if f == ancestor else [frame]

    def _relative(self, frame: int, parent: int, difference: Components) -> Components:
        """ω of ``frame`` in ``parent``: the terms between them, where they lie on one chain of frames."""
        k = self.k
        chain, f = [], frame
        while f != parent and f != 0:
            chain.append(f)
            f = k.description.frames[f].angular_parent
        if f != parent:
            return difference
        total = ZERO
        for f in chain:
            for h, w in k.relative[f]:
                total = add(self.g, total, k.resolve(w, h, frame))
        return total

    def add_body(self, number: int) -> None:
        g, k = self.g, self.k
        body = k.description.bodies[number]
        start = self.place(body.point)
        index, c = self._turned(start, body.frame) if body.frame >= 0 else start
        link = self.links[index]
        h = scale(g, body.mass, c)
        inertia = _steiner(g, c, h)
        if body.frame >= 0:
            tensor = central_inertia(k, number)
            own = (tensor[0][0], tensor[1][1], tensor[2][2], tensor[0][1], tensor[1][2], tensor[2][0])
            inertia = _plus(g, own, inertia)
        link.mass = g.add(link.mass, body.mass)
        link.moment = add(g, link.moment, h)
        link.inertia = _plus(g, link.inertia, inertia)

    def finish(self) -> JointTree | None:
        """Choose the joint rates: the user's own q̇ and u where a joint has them to itself, else the components."""
        g, d = self.g, self.k.description
        atoms = list(dict.fromkeys([*d.rates, *d.speeds]))
        atoms = [a for a in atoms if g.nodes[a][0] is not Op.NEG]
        slopes: list[dict[int, Components]] = []
        for motion in self.motion:
            columns: dict[int, list[int]] = {}
            for axis in range(3):
                if motion[axis]:
                    for atom, slope in zip(atoms, accumulate(g, [(motion[axis], 1)], atoms, SPEED), strict=True):
                        if slope:
                            columns.setdefault(atom, [0, 0, 0])[axis] = slope
            slopes.append({a: tuple(c) for a, c in columns.items()})  # type: ignore[misc]
        uses: dict[int, int] = {}
        for used in slopes:
            for atom in used:
                uses[atom] = uses.get(atom, 0) + 1
        for link, motion, used, turns in zip(self.links, self.motion, slopes, self.turns, strict=True):
            components = [i for i in range(3) if motion[i] and g.depends[motion[i]] & SPEED]
            if all(uses[a] == 1 for a in used) and len(used) <= len(components):
                link.rates = [Rate(atom, axis, turns) for atom, axis in used.items()]
            else:
                link.rates = [Rate(motion[i], _unit(i), turns) for i in components]
        rates = [rate for link in self.links for rate in link.rates]
        if len(rates) != len(d.speeds) or any(g.depends[x] & SPEED for r in rates for x in r.axis):
            return None
        nodes = [rate.node for rate in rates]
        if not is_affine(g, nodes, lambda i: g.depends[i] & SPEED):
            return None
        jacobian = [accumulate(g, [(node, 1)], d.speeds) for node in nodes]
        states = deciding(g, [x for row in jacobian for x in row], 1)
        if not states or not is_regular([states[0].values(row) for row in jacobian]):
            return None
        return JointTree(self.links, jacobian)


def _unit(i: int) -> Components:
    return (int(i == 0), int(i == 1), int(i == 2))


# ------------------------------------------------------------------------------------------- composite bodies
def composite_mass_matrix(g: Graph, tree: JointTree) -> list[list[int]]:
    """The mass matrix in the joint rates: M_ij from the momentum, per unit of rate j, of all that joint j carries."""
    links = tree.links
    composite = composites(g, links)
    n = len(tree.rates)
    first = _first_rates(links)
    matrix = [[0] * n for _ in range(n)]
    for i in range(len(links) - 1, -1, -1):
        mass, h, inertia = composite[i]
        for a, rate in enumerate(links[i].rates):
            column = first[i] + a
            if rate.turns:
                force, torque = cross(g, rate.axis, h), _times(g, inertia, rate.axis)
            else:
                force, torque = scale(g, mass, rate.axis), cross(g, h, rate.axis)
            j = i
            while True:
                for b, other in enumerate(links[j].rates):
                    row = first[j] + b
                    if row <= column:
                        value = dot(g, other.axis, torque if other.turns else force)
                        matrix[row][column] = matrix[column][row] = value
                if links[j].parent < 0:
                    break
                for r in links[j].rotation:
                    force, torque = matvec(g, r, force), matvec(g, r, torque)
                torque = add(g, torque, cross(g, links[j].offset, force))
                j = links[j].parent
    return matrix


def _first_rates(links: Sequence[Link]) -> list[int]:
    first, count = [], 0
    for link in links:
        first.append(count)
        count += len(link.rates)
    return first


def composites(g: Graph, links: Sequence[Link]) -> list[tuple[int, Components, Symmetric]]:
    """Mass, first moment and inertia, about each link's origin and in its axes, of the link and all it carries."""
    total = [(link.mass, link.moment, link.inertia) for link in links]
    for i in range(len(links) - 1, 0, -1):
        mass, h, inertia = total[i]
        for r in links[i].rotation:
            h, inertia = matvec(g, r, h), _rotated(g, r, inertia)
        p = links[i].offset
        k = add(g, h, scale(g, mass, p))
        inertia = _plus(g, inertia, _shift(g, p, k, h))
        j = links[i].parent
        total[j] = (g.add(total[j][0], mass), add(g, total[j][1], k), _plus(g, total[j][2], inertia))
    return total


def _plus(g: Graph, a: Symmetric, b: Symmetric) -> Symmetric:
    return tuple(g.add(x, y) for x, y in zip(a, b, strict=True))  # type: ignore[return-value]


def _times(g: Graph, s: Symmetric, v: Components) -> Components:
    xx, yy, zz, xy, yz, zx = s
    return matvec(g, ((xx, xy, zx), (xy, yy, yz), (zx, yz, zz)), v)


def _steiner(g: Graph, c: Components, h: Components) -> Symmetric:
    """(c·h) 1 − c hᵀ for h parallel to c: the inertia of a particle at c with first moment h."""
    x, y, z = g.mul(c[0], h[0]), g.mul(c[1], h[1]), g.mul(c[2], h[2])
    return (
        g.add(y, z),
        g.add(z, x),
        g.add(x, y),
        g.neg(g.mul(c[0], h[1])),
        g.neg(g.mul(c[1], h[2])),
        g.neg(g.mul(c[2], h[0])),
    )


def _shift(g: Graph, p: Components, k: Components, h: Components) -> Symmetric:
    """What a shift by p adds to an inertia with first moment h, k = h + m p: p·(h + k) 1 − (p kᵀ + h pᵀ)."""
    if p == ZERO:
        return (0, 0, 0, 0, 0, 0)
    s = add(g, k, h)
    x, y, z = (g.mul(a, b) for a, b in zip(p, s, strict=True))

    def off(i: int, j: int) -> int:
        return g.neg(g.add(g.mul(p[i], k[j]), g.mul(h[i], p[j])))

    return (g.add(y, z), g.add(z, x), g.add(x, y), off(0, 1), off(1, 2), off(2, 0))


def _elementary(g: Graph, r: Matrix) -> tuple[int, int, int] | None:
    """``(axis, c, s)`` of a rotation by an angle about one of the axes, else None."""
    for axis in range(3):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        if r[axis] == _unit(axis) and r[i][axis] == 0 and r[j][axis] == 0:
            c, s = r[i][i], r[j][i]
            if r[j][j] == c and r[i][j] == g.neg(s):
                return axis, c, s
    return None


def _rotated(g: Graph, r: Matrix, inertia: Symmetric) -> Symmetric:
    """R I Rᵀ; about a coordinate axis with 8 products, from s (I_ii − I_jj) + 2 c I_ij and its like."""
    xx, yy, zz, xy, yz, zx = inertia
    full = [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]
    turn = _elementary(g, r)
    if turn is not None:
        k, c, s = turn
        i, j = (k + 1) % 3, (k + 2) % 3
        e = g.add(g.mul(s, g.sub(full[i][i], full[j][j])), g.mul(c, g.add(full[i][j], full[i][j])))
        p = g.mul(s, e)
        ii, jj = g.sub(full[i][i], p), g.add(full[j][j], p)
        ij = g.sub(g.mul(c, e), full[i][j])
        ik = g.sub(g.mul(c, full[i][k]), g.mul(s, full[j][k]))
        jk = g.add(g.mul(s, full[i][k]), g.mul(c, full[j][k]))
        full[i][i], full[j][j] = ii, jj
        full[i][j] = full[j][i] = ij
        full[i][k] = full[k][i] = ik
        full[j][k] = full[k][j] = jk
    else:
        m: Matrix = tuple(tuple(row) for row in full)  # type: ignore[assignment]
        half = matmul(g, r, m)
        for a in range(3):
            for b in range(a, 3):
                full[a][b] = full[b][a] = dot(g, half[a], r[b])
    return (full[0][0], full[1][1], full[2][2], full[0][1], full[1][2], full[2][0])


# ------------------------------------------------------------------------------------------ articulated bodies
Block = list[list[int]]


def articulated_solve(g: Graph, tree: JointTree, right: Sequence[int]) -> tuple[list[int], list[tuple[int, int]]]:
    """Solve M_w y = f_w in O(n) operations; y, and the pivots as ``(pivot, diagonal of M_w)``.

    The articulated-body algorithm (Featherstone 2008, section 7.3) at rest and without gravity: f_w holds all that.
    The inertia of a link is kept as the blocks of the 6×6 matrix [J H; Hᵀ M] for (ω, v).
    """
    links = tree.links
    composite = composites(g, links)
    first = _first_rates(links)
    n_links = len(links)
    inertia: list[Block] = [_spatial(g, link) for link in links]
    bias: list[list[int]] = [[0] * 6 for _ in links]
    joints: dict[int, list[tuple[list[int], list[int], int, int]]] = {}
    pivots: list[tuple[int, int]] = [(0, 0)] * len(right)
    for i in range(n_links - 1, -1, -1):
        matrix, p = inertia[i], bias[i]
        steps = []
        for a in range(len(links[i].rates) - 1, -1, -1):
            rate, row = links[i].rates[a], first[i] + a
            axis = [*rate.axis, 0, 0, 0] if rate.turns else [0, 0, 0, *rate.axis]
            column = [dot(g, line, axis) for line in matrix]
            d = dot(g, axis, column)
            mass, _, about = composite[i]
            whole = _times(g, about, rate.axis) if rate.turns else scale(g, mass, rate.axis)
            pivots[row] = (d, dot(g, rate.axis, whole))
            inverse = g.div(g.one, d) if d else 0
            residual = g.sub(right[row], dot(g, axis, p))
            scaled = [g.mul(inverse, x) for x in column]
            steps.append((axis, scaled, g.mul(inverse, residual), row))
            matrix = _symmetric_less(g, matrix, scaled, column)
            p = [g.add(x, g.mul(y, residual)) for x, y in zip(p, scaled, strict=True)]
        joints[i] = steps[::-1]
        j = links[i].parent
        if j >= 0:
            matrix, p = _to_parent(g, links[i], matrix, p)
            inertia[j] = [
                [g.add(x, y) for x, y in zip(r, s, strict=True)] for r, s in zip(inertia[j], matrix, strict=True)
            ]
            bias[j] = [g.add(x, y) for x, y in zip(bias[j], p, strict=True)]
    y = [0] * len(right)
    motion: list[list[int]] = [[0] * 6 for _ in links]
    for i in range(n_links):
        link = links[i]
        if link.parent >= 0:
            above = motion[link.parent]
            turn: Components = (above[0], above[1], above[2])
            move = add(g, (above[3], above[4], above[5]), cross(g, turn, link.offset))
            for r in reversed(link.rotation):
                turn, move = matvec(g, transposed(r), turn), matvec(g, transposed(r), move)
            a6 = [*turn, *move]
        else:
            a6 = [0] * 6
        for axis, scaled, start, row in joints[i]:
            y[row] = g.sub(start, dot(g, scaled, a6))
            a6 = [g.add(x, g.mul(s, y[row])) for x, s in zip(a6, axis, strict=True)]
        motion[i] = a6
    return y, pivots


def _spatial(g: Graph, link: Link) -> Block:
    """[I [h]×; [h]×ᵀ m 1] of a rigid link about its origin, for (ω, v)."""
    xx, yy, zz, xy, yz, zx = link.inertia
    h, m = link.moment, link.mass
    hx = [[0, g.neg(h[2]), h[1]], [h[2], 0, g.neg(h[0])], [g.neg(h[1]), h[0], 0]]
    top = [[xx, xy, zx, *hx[0]], [xy, yy, yz, *hx[1]], [zx, yz, zz, *hx[2]]]
    bottom = [[hx[0][i], hx[1][i], hx[2][i], *(m if i == j else 0 for j in range(3))] for i in range(3)]
    return top + bottom


def _symmetric_less(g: Graph, matrix: Block, scaled: list[int], column: list[int]) -> Block:
    """``matrix − scaled columnᵀ``, which is symmetric: each entry once."""
    result = [row[:] for row in matrix]
    for i in range(6):
        for j in range(i, 6):
            value = g.sub(matrix[i][j], g.mul(scaled[i], column[j]))
            result[i][j] = result[j][i] = value
    return result


def _to_parent(g: Graph, link: Link, matrix: Block, p: list[int]) -> tuple[Block, list[int]]:
    """An articulated inertia and bias about the parent's origin, in its axes."""
    top: Matrix = tuple(tuple(row[:3]) for row in matrix[:3])  # type: ignore[assignment]
    side: Matrix = tuple(tuple(row[3:]) for row in matrix[:3])  # type: ignore[assignment]
    low: Matrix = tuple(tuple(row[3:]) for row in matrix[3:])  # type: ignore[assignment]
    turn: Components = (p[0], p[1], p[2])
    force: Components = (p[3], p[4], p[5])
    for r in link.rotation:
        top, low = _rotated_matrix(g, r, top), _rotated_matrix(g, r, low)
        side = matmul(g, matmul(g, r, side), transposed(r))
        turn, force = matvec(g, r, turn), matvec(g, r, force)
    d = link.offset
    if d != ZERO:
        dx: Matrix = ((0, g.neg(d[2]), d[1]), (d[2], 0, g.neg(d[0])), (g.neg(d[1]), d[0], 0))
        # H' = H + [d]× M;  J' = J + [d]× Hᵀ + H' [d]×ᵀ, symmetric
        moved = _sum(g, side, matmul(g, dx, low))
        change = _sum(g, matmul(g, dx, transposed(side)), matmul(g, moved, transposed(dx)))
        top = tuple(  # type: ignore[assignment]
            tuple(g.add(top[i][j], change[min(i, j)][max(i, j)]) for j in range(3)) for i in range(3)
        )
        side = moved
        turn = add(g, turn, cross(g, d, force))
    full = [[*top[i], *side[i]] for i in range(3)]
    full += [[side[0][i], side[1][i], side[2][i], *low[i]] for i in range(3)]
    return full, [*turn, *force]


def _rotated_matrix(g: Graph, r: Matrix, m: Matrix) -> Matrix:
    xx, yy, zz, xy, yz, zx = _rotated(g, r, (m[0][0], m[1][1], m[2][2], m[0][1], m[1][2], m[2][0]))
    return ((xx, xy, zx), (xy, yy, yz), (zx, yz, zz))


def _sum(g: Graph, a: Matrix, b: Matrix) -> Matrix:
    return (add(g, a[0], b[0]), add(g, a[1], b[1]), add(g, a[2], b[2]))
