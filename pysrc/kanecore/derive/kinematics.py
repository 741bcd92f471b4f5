# SPDX-License-Identifier: BSD-3-Clause
"""Kinematics on the graph: positions, velocities and accelerations of frames and points, in local components.

Along the tree of frames, with R the rotation to the parent and ω_rel the angular velocity relative to it,

    ω = Rᵀ ω_parent + ω_rel,        α = Rᵀ α_parent + dω_rel/dt + (Rᵀ ω_parent) × ω_rel,

and along the tree of points, for a vector d given in a frame with angular velocity ω,

    v = v_parent + ḋ + ω × d,       a = a_parent + d̈ + 2 ω × ḋ + U d,     U = [α]× + [ω]×[ω]×

(Kane & Levinson 1985, sections 2.7–2.8; Featherstone, *Rigid Body Dynamics Algorithms*, 2008, chapter 2).  Rotation
matrices are not differentiated: that would take a quarter more operations for a 7-joint arm.  It would also be wrong if
the user's angular velocity does not match the orientation, as for a ball without a defined attitude.  A vector is then
differentiated in the axes in which it was written.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.describe.description import Description, Point
from kanecore.describe.frame_paths import Ancestry
from kanecore.errors import ModelError
from kanecore.graph.calculus import Tangent
from kanecore.graph.evaluation import count
from kanecore.graph.expression_graph import ACCELERATION, Graph
from kanecore.graph.vectors import ZERO, Components, Matrix, add, cross, dot, matvec, scale, sub
from kanecore.graph.zero_tests import equal

from .rotations import Rotations

__all__ = ["Accelerations", "Kinematics", "rate_matrix"]


class Kinematics(Rotations):
    """Frames' angular velocities and points' velocities of one description.

    Attributes
    ----------
    omega : list of Components
        ω of each frame in the inertial frame, in its own axes.
    velocity : list of Components
        v of each point in the inertial frame, in the axes of frame ``home[point]``.
    source : list of str
        Source of each point's velocity: "position", "equal" (the user's, equal with fewer operations), "set" (the
        user's, different), "origin".
    omega_fits : list of bool
        Whether ω is the rate of the orientation, for each frame and all its parents.
    """

    def __init__(self, d: Description) -> None:
        super().__init__(d)
        g = self.graph
        self._location = Ancestry([point.parent for point in d.points])
        self._inertial_velocity: dict[int, Components] = {}
        seeds = dict(zip(d.coordinates, d.rates, strict=True))
        seeds[d.time] = g.one
        for i, k in zip(d.inputs, d.input_rates, strict=True):
            if k >= 0:
                seeds[i] = d.inputs[k]
        of_states = dict(zip(d.states, d.state_rates, strict=True))
        _check_rates_of_states(d)
        self.seeds = seeds | of_states
        self.rate = Tangent(g, self.seeds)  # d/dt with the speeds constant
        self.at_states = self.rate if not of_states else Tangent(g, seeds)  # with the first-order states as well
        self.along_states = Tangent(g, of_states)
        self.omega: list[Components] = [ZERO]
        self.relative: list[list[tuple[int, Components]]] = [[]]  # terms of each frame's ω_rel
        for i in range(1, len(d.frames)):
            self._angular_velocity(i)
        self.omega_fits = self._compare_turning()
        self.home = self._homes()
        self.velocity: list[Components] = []
        self.source: list[str] = []
        self._tree_velocity: list[bool] = []
        self._frames_fit: list[bool] = []  # of each point, whether ω fits the frames on its path
        for i in range(len(d.points)):
            self._point_velocity(i)

    # ---------------------------------------------------------- angular velocity
    def _angular_velocity(self, i: int) -> None:
        g, frame = self.graph, self.description.frames[i]
        parent = frame.angular_parent
        terms = list(frame.angular_velocity)
        if [f for f, _ in terms] == [frame.parent] == [parent] and self._is_axis(i, terms[0][1]):
            terms = [(i, terms[0][1])]  # the components along the axis of rotation are the same in both frames
        self.relative.append(terms)
        omega = self.resolve(self.omega[parent], parent, i)
        for f, w in terms:
            omega = add(g, omega, self.resolve(w, f, i))
        self.omega.append(omega)

    def inertial_omega(self, i: int) -> Components:
        """Angular velocity of a frame in inertial axes, summed along the chain in these axes."""
        total = ZERO
        while i > 0:
            for f, w in self.relative[i]:
                total = add(self.graph, total, self.resolve(w, f, 0))
            i = self.description.frames[i].angular_parent
        return total

    def _is_axis(self, i: int, w: Components) -> bool:
        if sum(1 for x in w if x) == 0:
            return True
        rotated = matvec(self.graph, self.to_parent[i], w)
        return equal(self.graph, zip(rotated, w, strict=True), w, otherwise=False)

    def _compare_turning(self) -> list[bool]:
        """Test at random states whether Rᵀ dR/dt is [ω_rel]×, for each frame and all its parents."""
        g = self.graph.clone()  # a copy: the comparison must not add nodes to the model
        result, rate = [True], Tangent(g, self.seeds)
        for i in range(1, len(self.description.frames)):
            pairs = list(zip(self.relative_omega(g, i), self.turning(g, i, rate), strict=True))
            # at random states a prescribed quaternion has another norm than one, so the states decide nothing
            fits = self._equal(g, pairs) or not self._equal(g, self.square(g, i))
            result.append(result[self.description.frames[i].parent] and fits)
        return result

    def square(self, g: Graph, i: int) -> list[tuple[int, int]]:
        """Pairs of entries of R Rᵀ and of 1."""
        return [(dot(g, a, b), int(a is b)) for a in self.to_parent[i] for b in self.to_parent[i]]

    def turning(self, g: Graph, i: int, rate: Tangent) -> Components:
        """Angular velocity ω in frame i with Rᵀ dR/dt = [ω]×; ``rate`` has the seeds of these kinematics in g."""
        r = self.to_parent[i]
        change = [tuple(map(rate.of, row)) for row in r]
        x, y, z = (dot(g, [row[k] for row in r], [row[j] for row in change]) for j, k in ((1, 2), (2, 0), (0, 1)))
        return x, y, z

    def relative_omega(self, g: Graph, i: int) -> Components:
        """Angular velocity of a frame relative to its parent frame, from the user's ω, in the frame's own axes."""
        frame = self.description.frames[i]
        if frame.angular_parent != frame.parent:
            return sub(g, self.omega[i], matvec(g, self.from_parent[i], self.omega[frame.parent]))
        total = ZERO  # from the terms before resolution, whatever the path to the inertial frame
        for f, w in self.relative[i]:
            total = add(g, total, self.resolve(w, f, i))
        return total

    @staticmethod
    def _equal(g: Graph, pairs: Sequence[tuple[int, int]]) -> bool:
        """Compare by numbers; if these do not decide, the user's velocity counts as equal."""
        return equal(g, pairs, otherwise=True)

    # ------------------------------------------------------------------- points
    def _homes(self) -> list[int]:
        """The frame of each point's velocity: the nearest one common to it and its children."""
        d = self.description
        frames: list[list[int]] = [[] for _ in d.points]
        for i, point in enumerate(d.points):
            own = [f for f, _ in point.position]
            frames[i].extend(own)
            if point.parent >= 0:
                frames[point.parent].extend(own)
        for body in d.bodies:
            if body.frame >= 0 and not frames[body.point]:
                frames[body.point].append(body.frame)
        homes: list[int] = []
        for i, point in enumerate(d.points):
            if point.parent < 0:
                homes.append(0)
            else:
                homes.append(self.common(frames[i]) if frames[i] else homes[point.parent])
        return homes

    def displacement_rate(self, i: int) -> list[tuple[int, Components]]:
        """``[(frame, ḋ), ...]`` of a point's position from its parent, each in the frame in which it was written."""
        rate = self.rate.of
        return [(f, (rate(v[0]), rate(v[1]), rate(v[2]))) for f, v in self.description.points[i].position]

    def _point_velocity(self, i: int) -> None:
        """Choose between the velocity that the position gives and the one that the user set."""
        point = self.description.points[i]
        carried, summands = self.carried(i) if point.parent >= 0 else (None, [])
        frames_fit = all(self.omega_fits[f] for f, _ in (*point.position, *(point.velocity or ())))
        frames_fit = frames_fit and (point.parent < 0 or self._frames_fit[point.parent])
        if point.velocity is None:
            assert carried is not None  # the reader ensures it
            self.velocity.append(carried)
            self.source.append("position")
            self._tree_velocity.append(self._tree_velocity[point.parent])
            self._frames_fit.append(frames_fit)
            return
        # in the axes in which the user wrote it, if this is one frame
        axes = point.velocity[0][0] if len(point.velocity) == 1 else self.home[i]
        given = self.resolve_all(point.velocity, axes)
        if carried is None:
            source, follows = ("origin", True) if given == ZERO else ("set", False)
        else:
            # if ω does not fit an orientation, equal velocities have different derivatives: the user's counts
            agrees = frames_fit and self._agree(self.resolve(given, axes, self.home[i]), carried, summands)
            source, follows = "equal" if agrees else "set", agrees and self._tree_velocity[point.parent]
            if agrees and not self._is_shorter(given, carried, point):
                source, given, axes = "position", carried, self.home[i]
        self.home[i] = axes
        self.velocity.append(given)
        self.source.append(source)
        self._tree_velocity.append(follows)
        self._frames_fit.append(frames_fit)

    def carried(self, i: int) -> tuple[Components, list[int]]:
        """The velocity of a point from its position relative to its parent, and the summands of the velocity."""
        g, point, home = self.graph, self.description.points[i], self.home[i]
        total = self.resolve(self.velocity[point.parent], self.home[point.parent], home)
        summands = [*total]
        for (f, v), (_, rate) in zip(point.position, self.displacement_rate(i), strict=True):
            turned = cross(g, self.omega[f], v)
            summands += [*rate, *turned]
            total = add(g, total, self.resolve(add(g, rate, turned), f, home))
        return total, summands

    def inertial_velocity(self, i: int) -> Components:
        """The velocity of a point in inertial axes, along the chain: its partials are the parent's plus a product."""
        g, chain = self.graph, []
        while i not in self._inertial_velocity:
            if self.source[i] != "position":
                self._inertial_velocity[i] = self.resolve(self.velocity[i], self.home[i], 0)
                break
            chain.append(i)
            i = self.description.points[i].parent
        for j in reversed(chain):
            total = self._inertial_velocity[i]
            for (f, v), (_, rate) in zip(self.description.points[j].position, self.displacement_rate(j), strict=True):
                total = add(g, total, self.resolve(rate, f, 0))
                total = add(g, total, cross(g, self.inertial_omega(f), self.resolve(v, f, 0)))
            self._inertial_velocity[j], i = total, j
        return self._inertial_velocity[i]

    def _is_shorter(self, velocity: Components, total: Components, point: Point) -> bool:
        """Test whether the user's velocity takes fewer operations than that from the position and the parent."""
        known = [*self.velocity[point.parent], *(x for f, _ in point.position for x in self.omega[f])]
        shared = set(self.graph.below(known))
        return count(self.graph, velocity)["total"] < count(self.graph, total, shared)["total"]

    def _agree(self, a: Components, b: Components, summands: Sequence[int]) -> bool:
        """Test whether two velocities are equal at random states, to the rounding of their summands."""
        return equal(self.graph, zip(a, b, strict=True), (*a, *b, *summands), otherwise=False)

    def reaches(self, point: int) -> bool:
        """Test whether a point's velocity is the derivative of its position from a fixed origin."""
        return self._tree_velocity[point] and self._frames_fit[point]

    def from_positions(self) -> bool:
        """Test whether every point's velocity follows from its position by ω × d, from a fixed origin."""
        return all(self._tree_velocity)

    def position(self, i: int, frame: int = 0) -> Components:
        """The position of a point from the root of its tree."""
        total = ZERO
        for j in self._location.chain(i):
            total = add(self.graph, self.resolve_all(self.description.points[j].position, frame), total)
        return total

    def between(self, a: int, b: int, frame: int = 0) -> Components:
        """The position of point b from point a."""
        up, down = self.chains(a, b)
        points, total = self.description.points, ZERO
        for j in down:
            total = add(self.graph, total, self.resolve_all(points[j].position, frame))
        for j in up:
            total = sub(self.graph, total, self.resolve_all(points[j].position, frame))
        return total

    def chains(self, a: int, b: int) -> tuple[list[int], list[int]]:
        """Points on the path from a up to the common ancestor of a and b, and from there down to b."""
        up, down = self._location.path(a, b)
        points = self.description.points
        if up and points[up[-1]].parent < 0:
            raise ModelError(
                f"the position of point {points[b].name} from point {points[a].name} is not known: locate both from "
                "one origin"
            )
        return up, down


def _check_rates_of_states(d: Description) -> None:
    """Raise ModelError if the time derivative of a state would bring u̇ into the equations for u̇."""
    g = d.graph
    pieces = [(f"the mass of body {body.name}", body.mass) for body in d.bodies]
    pieces += [(f"the potential energy of body {body.name}", body.potential) for body in d.bodies]
    pieces += [(f"potential {i}", node) for i, node in enumerate(d.potentials)]
    pieces += [(each.name, each.node) for each in d.constraints if each.kind == "velocity"]
    pieces += [("the Lagrangian", d.lagrangian)] if d.lagrangian is not None else []
    rates = zip(d.states, d.state_names, d.state_rates, strict=True)
    late = {z: name for z, name, rate in rates if g.depends[rate] & ACCELERATION}
    for what, node in pieces if late else ():
        for z in late.keys() & set(g.below([node])):
            raise ModelError(
                f"{what} depends on the state {late[z]}, and the rate of this state on derivatives of speeds or "
                "multipliers: these follow from the equations in which the rate would occur; filter the measured "
                "quantity by a second state, and use that"
            )


class Accelerations:
    """Accelerations α of frames and a of points for given u̇.

    Parameters
    ----------
    udot : sequence of nodes
        The derivatives of the speeds: zeros for the remainders of the accelerations at u̇ = 0.
    base : Components
        Added to every acceleration, in inertial axes.  With base = −γ for the uniform gravity field γ, forces m a
        include the weights at no cost.
    """

    def __init__(self, kinematics: Kinematics, udot: Sequence[int], base: Components = ZERO) -> None:
        k = self.kinematics = kinematics
        g, d = k.graph, k.description
        seeds = dict(k.seeds)
        seeds.update((u, a) for u, a in zip(d.speeds, udot, strict=True) if a)
        rate = k.rate.of if not any(udot) else Tangent(g, seeds).of
        self.alpha: list[Components] = [ZERO]
        for i in range(1, len(d.frames)):
            parent = d.frames[i].angular_parent
            alpha = k.resolve(self.alpha[parent], parent, i)
            terms = k.relative[i]
            for f, w in terms:
                # ω_f × w, without the part of ω_f along w if w is the whole relative angular velocity
                turning = k.resolve(k.omega[parent], parent, i) if len(terms) == 1 and f == i else k.omega[f]
                change = add(g, (rate(w[0]), rate(w[1]), rate(w[2])), cross(g, turning, w))
                alpha = add(g, alpha, k.resolve(change, f, i))
            self.alpha.append(alpha)
        self._matrices: dict[int, Matrix] = {}
        self.acceleration: list[Components] = []
        for i, point in enumerate(d.points):
            home = k.home[i]
            if k.source[i] != "position":
                total = k.resolve(base, 0, home)
                for f, v in point.velocity or ():
                    change = (rate(v[0]), rate(v[1]), rate(v[2]))
                    total = add(g, total, k.resolve(add(g, change, cross(g, k.omega[f], v)), f, home))
            else:
                total = k.resolve(self.acceleration[point.parent], k.home[point.parent], home)
                for (f, v), (_, first) in zip(point.position, k.displacement_rate(i), strict=True):
                    second = (rate(first[0]), rate(first[1]), rate(first[2]))
                    local = add(g, second, scale(g, g.constant(2), cross(g, k.omega[f], first)))
                    local = add(g, local, matvec(g, self.matrix(f), v))
                    total = add(g, total, k.resolve(local, f, home))
            self.acceleration.append(total)

    def matrix(self, f: int) -> Matrix:
        """The matrix U = [α]× + [ω]×[ω]× of a frame: the acceleration of a fixed vector d is U d."""
        result = self._matrices.get(f)
        if result is None:
            result = self._matrices[f] = rate_matrix(self.kinematics.graph, self.kinematics.omega[f], self.alpha[f])
        return result


def rate_matrix(g: Graph, w: Components, a: Components) -> Matrix:
    """The matrix U = [α]× + ω ωᵀ − ω² 1."""
    x, y, z = (g.square(i) for i in w)
    xy, yz, zx = g.mul(w[0], w[1]), g.mul(w[1], w[2]), g.mul(w[2], w[0])
    return (
        (g.neg(g.add(y, z)), g.sub(xy, a[2]), g.add(zx, a[1])),
        (g.add(xy, a[2]), g.neg(g.add(z, x)), g.sub(yz, a[0])),
        (g.sub(zx, a[1]), g.add(yz, a[0]), g.neg(g.add(x, y))),
    )
