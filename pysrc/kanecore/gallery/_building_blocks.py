# SPDX-License-Identifier: BSD-3-Clause
"""Building blocks of the gallery: chains of rods, trees of hinged bodies from a table, vectors from components.

The planar loops are made of chains of uniform slender rods in a vertical plane, the robots of trees of bodies, each of
which turns about one axis on the body before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from kanecore.gallery._dimensions import ACCELERATION, ANGLE, INERTIA, LENGTH, MASS, RATE, TORQUE, Dimension, of
from kanecore.shapes import Rod, Shape

if TYPE_CHECKING:
    import sympy as sm
    import sympy.physics.mechanics as me


@dataclass(frozen=True)
class Chain:
    """Bodies, weights and shapes of rods in series, the last point, and the frames of the rods."""

    bodies: list[me.RigidBody]
    loads: list[tuple[Any, me.Vector]]
    end: me.Point
    frames: list[me.ReferenceFrame]
    shapes: dict[str, Shape]


def chain(
    ground: me.ReferenceFrame,
    pivot: me.Point,
    numbers: Sequence[int],
    angles: Sequence[sm.Expr],
    rates: Sequence[sm.Expr],
    relative: bool = False,
) -> Chain:
    """Rods of lengths Li and masses mi, i in ``numbers``; gravity g along -n_y.

    Angles and their rates are from n_x, or (``relative``) from the rod before.
    """
    import sympy as sm
    import sympy.physics.mechanics as me

    g = sm.Symbol("g")
    result = Chain([], [], pivot, [], {})
    start, before = pivot, ground
    for i, angle, rate in zip(numbers, angles, rates, strict=True):
        length, mass = sm.symbols(f"L{i} m{i}")
        rod = me.ReferenceFrame(f"A{i}")
        rod.orient_axis(before, before.z, angle)
        rod.set_ang_vel(before, rate * before.z)
        centre = start.locatenew(f"C{i}", length / 2 * rod.x)
        inertia = me.inertia(rod, 0, 0, mass * length**2 / 12)
        result.bodies.append(me.RigidBody(f"rod{i}", centre, rod, mass, (inertia, centre)))
        result.loads.append((centre, -mass * g * ground.y))
        result.frames.append(rod)
        result.shapes[f"rod{i}"] = Rod(length)
        start = start.locatenew(f"E{i}", length * rod.x)
        before = rod if relative else ground
    return Chain(result.bodies, result.loads, start, result.frames, result.shapes)


def vector(components: Iterable[Any], frame: me.ReferenceFrame) -> me.Vector:
    """The vector with three components along the axes of a frame."""
    import sympy.physics.mechanics as me

    return sum((x * e for x, e in zip(components, frame, strict=True)), me.Vector(0))


_AXES, _TENSOR = "xyz", ("xx", "yy", "zz", "xy", "yz", "zx")


class Link(NamedTuple):
    """A body and the joint that carries it.

    ``offset`` leads from the joint of the body before to this joint, in that body's axes; ``seat`` names the directions
    of this joint's x, y and z there, such as ``"x z -y"``.  The body turns about ``axis`` of the joint; ``centre`` and
    the central ``inertia`` (xx, yy, zz, xy, yz, zx) are in the body's own axes, which are the joint's at rest.
    """

    offset: tuple[float, float, float]
    seat: str
    axis: str
    mass: float
    centre: tuple[float, float, float]
    inertia: tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class Tree:
    """Arguments of ``Model``; ``frames`` are those of the bodies, ``axes`` points on their joints' axes, in order."""

    frame: me.ReferenceFrame
    q: Sequence[Any]
    u: Sequence[Any]
    kd_eqs: Sequence[Any]
    bodies: Sequence[me.RigidBody]
    loads: Sequence[tuple[Any, me.Vector]]
    torques: Sequence[Any]
    joints: Mapping[str, tuple[Any, me.RigidBody, me.Point]]
    origin: me.Point
    frames: Sequence[me.ReferenceFrame]
    axes: Sequence[me.Point]

    def place(self, tool: me.Vector | None = None) -> dict[str, sm.Expr]:
        """Outputs for inertial coordinates of the last joint, or of the end of ``tool`` from there."""
        place = self.axes[-1].pos_from(self.origin)
        if tool is not None:
            place += tool
        return {f"tip_{a}": place.dot(e) for a, e in zip(_AXES, self.frame, strict=True)}


def parameters(links: Sequence[Link]) -> dict[str, float]:
    """The numbers of a table that are not zero: d1x of an offset, m1, c1x of a mass centre, I1xx; and g."""
    found = {"g": 9.81}
    for i, link in enumerate(links, 1):
        found |= {name: value for name, value in _numbers(i, link).items() if value}
    return found


def dimensions(links: Sequence[Link]) -> dict[str, Dimension]:
    """Dimensions of the links' parameters, and of the joints' coordinates, speeds and torques."""
    kinds = {"d": LENGTH, "m": MASS, "c": LENGTH, "I": INERTIA}
    return {name: kinds[name[0]] for name in parameters(links) if name != "g"} | joint_dimensions(len(links))


def joint_dimensions(n: int) -> dict[str, Dimension]:
    """Dimensions of gravity and of the joints' coordinates, speeds and torques."""
    kinds = (("q", ANGLE), ("u", RATE), ("tau", TORQUE))
    return of("g", ACCELERATION) | {f"{name}{i}": d for i in range(1, n + 1) for name, d in kinds}


def tree(links: Sequence[Link], parents: Sequence[int] | None = None, constant: bool = False) -> Tree:
    """The bodies with joint rates u1 ... as speeds, and torques tau1 ... between each body and the one before it.

    Parameters
    ----------
    links : sequence of Link
    parents : sequence of int, optional
        Number of the body that carries each one, from 1; 0 is the ground.  Default: each carries the next.
    constant : bool, optional
        Write the numbers themselves into the equations; default: a parameter for each that is not zero.
    """
    import sympy as sm
    import sympy.physics.mechanics as me

    n = len(links)
    q, u, torques = (me.dynamicsymbols(f"{name}1:{n + 1}") for name in ("q", "u", "tau"))
    ground, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(ground, 0)
    frames, axes, bodies, loads, joints = [ground], [origin], [], [], {}
    for i, (link, parent) in enumerate(zip(links, range(n) if parents is None else parents, strict=True), 1):
        carrier = frames[parent]
        symbols = {
            name: sm.S.Zero if not value else sm.Float(value) if constant else sm.Symbol(name)
            for name, value in _numbers(i, link).items()
        }
        joint = axes[parent].locatenew(f"J{i}", vector([symbols[f"d{i}{a}"] for a in _AXES], carrier))
        seat, frame = me.ReferenceFrame(f"S{i}"), me.ReferenceFrame(f"B{i}")
        seat.orient_explicit(carrier, _rotation(link.seat))
        axis = getattr(seat, link.axis)
        frame.orient_axis(seat, axis, q[i - 1])
        frame.set_ang_vel(seat, u[i - 1] * axis)
        loads.append((frame, torques[i - 1] * axis))
        if carrier is not ground:
            loads.append((carrier, -torques[i - 1] * axis))
        centre = joint.locatenew(f"C{i}", vector([symbols[f"c{i}{a}"] for a in _AXES], frame))
        inertia = me.inertia(frame, *(symbols[f"I{i}{a}"] for a in _TENSOR))
        bodies.append(me.RigidBody(f"body{i}", centre, frame, symbols[f"m{i}"], (inertia, centre)))
        loads.append((centre, -symbols[f"m{i}"] * sm.Symbol("g") * ground.z))
        joints[f"joint{i}"] = (bodies[parent - 1] if parent else ground, bodies[-1], joint)
        frames.append(frame)
        axes.append(joint)
    kd_eqs = [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)]
    return Tree(ground, q, u, kd_eqs, bodies, loads, torques, joints, origin, frames[1:], axes[1:])


def _numbers(i: int, link: Link) -> dict[str, float]:
    """All numbers of the i-th link by name."""
    return {
        **{f"d{i}{a}": float(v) for a, v in zip(_AXES, link.offset, strict=True)},
        f"m{i}": float(link.mass),
        **{f"c{i}{a}": float(v) for a, v in zip(_AXES, link.centre, strict=True)},
        **{f"I{i}{a}": float(v) for a, v in zip(_TENSOR, link.inertia, strict=True)},
    }


def _rotation(seat: str) -> sm.Matrix:
    """The matrix whose columns are the named directions."""
    import sympy as sm

    columns = sm.zeros(3)
    for k, direction in enumerate(seat.split()):
        columns[_AXES.index(direction[-1]), k] = -1 if direction[0] == "-" else 1
    return columns
