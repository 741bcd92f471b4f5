# SPDX-License-Identifier: BSD-3-Clause
"""Compliant contacts of points and spheres: Hunt and Crossley's force with regularised friction.

With the depth δ, the normal n out of the surface, and the relative velocity v of the two materials in contact,

    F_n = k δⁿ max(1 + d δ̇, 0)  for δ > 0, else 0,      δ̇ = −n·v               (Hunt & Crossley 1975)
    F_t = −μ F_n tanh(|s|/v_t) s/|s|,                    s = v − n (n·v)

F = F_n n + F_t acts on the body of the point, and −F on the body of the surface, both at the same place.  Bristles have
a deflection z along the surface, which is a state:

    ż = s − σ₀ |s|/m(|s|) z for δ > 0, else −σ₀/σ₁ z,      F_t = −F_n (σ₀ z + σ₁ ż)        (Canudas de Wit et al. 1995)
    m(|s|) = μ + (μ_s − μ) exp(−s²/v_s²)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kanecore.derive.kinematics import Kinematics
from kanecore.describe.description import Description, Load
from kanecore.describe.frame_paths import Ancestry
from kanecore.describe.joints import Attachments
from kanecore.describe.load_makers import Contact
from kanecore.errors import ModelError
from kanecore.graph.expression_graph import STATE, Given, Graph, Op
from kanecore.graph.vectors import ZERO, Components, add, cross, dot, length, neg, scale, sub
from kanecore.graph.zero_tests import equal

from .bristles import Bristle, Bristles, utilization, with_bristles

__all__ = ["with_contacts"]

_AT_REST = 1e-16
"""Added to (|s|/v_t)², so that s/|s| has derivatives at s = 0; the effect is below the rounding of tanh(x)/x."""


def with_contacts(d: Description) -> Description:
    """Description in which the contacts are replaced by their loads and outputs."""
    if not d.contacts:
        return d
    pairs = _Pairs(d)
    forces = [pairs.force(contact) for contact in d.contacts]
    taken = {name for name, _ in d.outputs}
    outputs = [each for force in forces for each in force.outputs]
    for name, _ in outputs:
        if name in taken:
            raise ModelError(f"output {name!r} is an output of a contact: rename it, or write Contact(..., name=...)")
    bristles = [force.bristles for force in forces if force.bristles]
    loads = sorted([*d.loads, *(load for force in forces for load in force.loads)], key=lambda load: load.number)
    at = [load.at for force in forces for load in force.loads if load.kind == "force"]
    return replace(
        with_bristles(replace(d, outputs=(*d.outputs, *outputs)), bristles, "contact", "write Contact(..., name=...)"),
        loads=tuple(loads),
        contacts=(),
        shown_points=tuple(dict.fromkeys([*d.shown_points, *at])),
    )


@dataclass(frozen=True)
class _Force:
    """Loads, outputs and states of one contact."""

    loads: list[Load]
    outputs: list[tuple[str, int]]
    bristles: Bristles | None


@dataclass(frozen=True)
class _Gap:
    """Geometry of a contact, in the axes of a frame.

    Attributes
    ----------
    frame : int
    depth : int
    normal : Components
        Unit vector out of the surface.
    arm : Components
        Vector from the point of the surface to the place of contact.
    """

    frame: int
    depth: int
    normal: Components
    arm: Components


class _Pairs:
    """The two bodies of each contact, and their relative motion at the point."""

    def __init__(self, d: Description) -> None:
        self._k = Kinematics(d)
        self._bodies = Attachments(d.graph, d.frames, d.points, d.bodies, d.joints)
        self._location = Ancestry([point.parent for point in d.points])

    def force(self, contact: Contact) -> _Force:
        k, g, surface = self._k, self._k.graph, contact.surface
        start = surface.point if surface.point >= 0 else self._location.start(contact.point, k.description.origin)
        gap = self._gap(contact, start)
        f = gap.frame
        own, other = self._turning(contact.point), f or (self._turning(start) if surface.point >= 0 else 0)
        if surface.kind != "sphere" and not f and k.omega[other] != ZERO:
            raise ModelError(
                f"contact {contact.name}: the {surface.kind} moves with body frame {k.description.frames[other].name}, "
                "but its directions are in the inertial frame: write them in the axes of that frame"
            )
        lever = scale(g, g.neg(contact.radius), gap.normal)  # from the centre to the place of contact
        material = self._velocity(contact.point, own, lever, f)
        ground = add(g, self._velocity(start, other, gap.arm, f), surface.velocity)
        self._check_velocity(contact, gap.normal)
        v = sub(g, material, ground)
        closing = g.neg(dot(g, gap.normal, v))
        normal = _normal_force(g, contact, gap.depth, closing)
        slip = add(g, v, scale(g, closing, gap.normal))
        if contact.bristle_stiffness:
            bristles, along = _bristles(g, contact, gap, slip)
            friction = scale(g, g.neg(normal), along)
        else:
            bristles, friction = None, _friction(g, contact, normal, slip)
        force = add(g, scale(g, normal, gap.normal), friction)
        loads = [*self._loads(contact, contact.point, own, f, lever, force)]
        if f or k.velocity[start] != ZERO:
            loads += self._loads(contact, start, other, f, gap.arm, neg(g, force))
        outputs = [(f"{contact.name}_depth", gap.depth), (f"{contact.name}_normal", normal)]
        outputs += zip((f"{contact.name}_force_{axis}" for axis in "xyz"), k.resolve(force, f, 0), strict=True)
        return _Force(loads, outputs, bristles)

    def _check_velocity(self, contact: Contact, normal: Components) -> None:
        """ModelError if the material of a surface moves along the normal: the depth would not change with it."""
        g = self._k.graph
        out = dot(g, normal, contact.surface.velocity)
        if out and not equal(g, [(out, 0)], contact.surface.velocity, otherwise=True):
            raise ModelError(
                f"contact {contact.name}: the velocity of its plane has a part along the normal; the velocity of a "
                "belt is along the plane: let the plane's point move instead"
            )

    def _turning(self, point: int) -> int:
        """Frame of the body of a point; 0 for the ground and particles."""
        body = self._bodies.body_at(point)
        return max(self._k.description.bodies[body].frame, 0) if body >= 0 else 0

    def _velocity(self, point: int, turning: int, arm: Components, f: int) -> Components:
        """The velocity v + ω × arm, in the axes of frame f."""
        k = self._k
        omega = k.resolve(k.omega[turning], turning, f)
        return add(k.graph, k.resolve(k.velocity[point], k.home[point], f), cross(k.graph, omega, arm))

    def _loads(
        self, contact: Contact, point: int, turning: int, f: int, arm: Components, force: Components
    ) -> Iterator[Load]:
        """The force at the place of contact, as a force at a point of the body and a torque on the body's frame."""
        number = contact.number or 0
        yield Load("force", point, ((f, force),), number)
        torque = cross(self._k.graph, arm, force)
        if turning and torque != ZERO:
            yield Load("torque", turning, ((f, torque),), number)

    def _gap(self, contact: Contact, start: int) -> _Gap:
        k, g, surface = self._k, self._k.graph, contact.surface
        f = surface.frame if surface.kind != "sphere" else 0
        r = k.between(start, contact.point, f)
        if surface.kind == "sphere":
            distance = g.sqrt(dot(g, r, r))
            if not distance:
                raise ModelError(f"contact {contact.name}: its point is the centre of the sphere that it should touch")
            normal = _divided(g, r, distance)
            depth = g.sub(g.add(contact.radius, surface.radius), distance)
        elif surface.kind == "plane":
            normal = _unit(g, surface.axes[0])
            depth = g.sub(contact.radius, dot(g, normal, r))
        else:
            assert surface.height is not None
            *along, up = surface.axes
            places = [dot(g, axis, r) for axis in along]
            height = Given(f"height of {contact.name}", surface.height, (0,) * len(along))
            slopes = [g.given(height.slope(i), places) for i in range(len(along))]
            out = up
            for slope, axis in zip(slopes, along, strict=True):
                out = sub(g, out, scale(g, slope, axis))
            size = g.sqrt(dot(g, out, out))
            normal = _divided(g, out, size)
            below = g.sub(g.given(height, places), dot(g, up, r))
            depth = g.add(contact.radius, g.div(below, size))
        return _Gap(f, depth, normal, sub(g, r, scale(g, contact.radius, normal)))


def _divided(g: Graph, v: Components, size: int) -> Components:
    return (g.div(v[0], size), g.div(v[1], size), g.div(v[2], size))


def _unit(g: Graph, v: Components) -> Components:
    return _divided(g, v, g.sqrt(dot(g, v, v)))


def _normal_force(g: Graph, contact: Contact, depth: int, closing: int) -> int:
    """The force F_n; unused branches, and their derivatives, do not divide by zero."""
    k, n, damping = contact.stiffness, contact.exponent, g.mul(contact.dissipation, closing)
    if contact.smooth:
        elastic = g.mul(k, g.pow(_smooth_depth(g, depth, contact.smooth), n))
        return g.mul(elastic, _smooth_factor(g, damping))
    apart = g.binary(Op.LE, depth, 0)
    elastic = g.mul(k, g.pow(g.select(apart, g.one, depth), n))
    return g.select(apart, 0, g.mul(elastic, g.binary(Op.MAX, g.add(g.one, damping), 0)))


def _smooth_depth(g: Graph, depth: int, length: int) -> int:
    """(δ + √(δ² + s²))/2 > 0, in a form without cancellation where δ is negative."""
    root = g.sqrt(g.add(g.square(depth), g.square(length)))
    beyond = g.div(g.square(length), g.mul(g.constant(2), g.add(root, g.call(Op.ABS, depth))))
    return g.select(g.binary(Op.LT, depth, 0), beyond, g.div(g.add(depth, root), g.constant(2)))


def _smooth_factor(g: Graph, damping: int) -> int:
    """The factor 1 + w for w > 0, (1 + w/2)² for −2 < w < 0, 0 below, with continuous derivative."""
    half = g.add(g.one, g.div(damping, g.constant(2)))
    separating = g.square(g.binary(Op.MAX, half, 0))
    return g.select(g.binary(Op.LT, damping, 0), separating, g.add(g.one, damping))


def _friction(g: Graph, contact: Contact, normal: int, slip: Components) -> Components:
    """−μ F_n tanh(|s|/v_t) s/|s|."""
    if not contact.mu:
        return ZERO
    relative = _divided(g, slip, contact.transition_velocity)
    if relative == ZERO:
        return ZERO
    size = g.sqrt(g.add(dot(g, relative, relative), g.constant(_AT_REST)))
    share = g.div(g.call(Op.TANH, size), size)
    return scale(g, g.neg(g.mul(g.mul(contact.mu, normal), share)), relative)


def _bristles(g: Graph, contact: Contact, gap: _Gap, slip: Components) -> tuple[Bristles | None, Components]:
    """States z along the directions of slip, and σ₀ z + σ₁ ż as a vector along the surface."""
    directions = [axis for axis in _directions(g, gap.normal) if dot(g, slip, axis)]
    if not directions:
        return None, ZERO
    slips = [dot(g, slip, axis) for axis in directions]
    speed = length(g, slips)
    wear = g.div(g.mul(contact.bristle_stiffness, speed), _coefficient(g, contact, speed))
    decay = g.div(contact.bristle_stiffness, contact.bristle_damping)
    apart = g.binary(Op.LE, gap.depth, 0)
    bristles, along, held = [], ZERO, ZERO
    for i, (axis, s) in enumerate(zip(directions, slips, strict=True), 1):
        name = f"{contact.name}_bristle_{i}"
        z = g.symbol(("z", name), STATE)
        rate = g.select(apart, g.neg(g.mul(decay, z)), g.sub(s, g.mul(wear, z)))
        bristles.append(Bristle(name, z, rate))
        pull = bristles[-1].pull(g, contact.bristle_stiffness, contact.bristle_damping)
        along = add(g, along, scale(g, pull, axis))
        held = add(g, held, scale(g, g.mul(contact.bristle_stiffness, z), axis))
    if len(directions) > 2:
        along, held = (sub(g, v, scale(g, dot(g, v, gap.normal), gap.normal)) for v in (along, held))
    largest = g.binary(Op.MAX, contact.mu, contact.mu_static) if contact.stribeck_velocity else contact.mu
    return Bristles(contact.name, bristles, g.select(apart, 0, utilization(g, held, largest))), along


def _directions(g: Graph, normal: Components) -> list[Components]:
    """Unit vectors along a surface: two if the normal lies in a coordinate plane, otherwise the three axes."""
    axes: list[Components] = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    across = [axis for axis, component in zip(axes, normal, strict=True) if not component]
    return [across[0], cross(g, normal, across[0])] if across else axes


def _coefficient(g: Graph, contact: Contact, speed: int) -> int:
    """μ + (μ_s − μ) exp(−s²/v_s²)."""
    if not contact.stribeck_velocity:
        return contact.mu
    fall = g.call(Op.EXP, g.neg(g.square(g.div(speed, contact.stribeck_velocity))))
    return g.add(contact.mu, g.mul(g.sub(contact.mu_static, contact.mu), fall))
