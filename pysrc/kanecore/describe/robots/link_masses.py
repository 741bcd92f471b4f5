# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of a robot: one for all that moves with a frame, in numbers, or one for each link, with its parameters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kanecore.describe.builder import Builder
from kanecore.errors import warn
from kanecore.shapes import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere

from .number_nodes import constant_matrix, constant_vector
from .placed_links import PlacedLink, PlacedLinks
from .rigid_poses import Pose, product
from .robot import FREEDOMS, Inertial, Joint, Robot

__all__ = ["add_bodies", "warn_of_massless"]

Array = npt.NDArray[np.float64]

_ROUNDING = 1e-15  # of an inertia about a point, from which that about the mass centre is found
_SHAPES: dict[str, Callable[..., Shape]] = {
    "box": Box,
    "capsule": Capsule,
    "cylinder": Cylinder,
    "ellipsoid": Ellipsoid,
    "sphere": Sphere,
}


@dataclass
class _Carried:
    """Masses that move with a frame: their sum, first moments and inertias about the frame's point."""

    mass: float = 0.0
    moment: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    weighing: float = 0.0  # the mass on which gravity acts
    weighing_moment: Array = field(default_factory=lambda: np.zeros(3))

    def add(self, inertial: Inertial, pose: Pose, weighs: bool) -> None:
        """Add the inertia of a link, with its pose in the frame."""
        centre = product(pose.rotation, inertial.centre) + pose.position
        central = product(product(pose.rotation, inertial.inertia), pose.rotation.T)
        self.mass += inertial.mass
        self.moment += inertial.mass * centre
        if weighs:
            self.weighing += inertial.mass
            self.weighing_moment += inertial.mass * centre
        self.inertia += central + inertial.mass * (product(centre, centre) * np.eye(3) - np.outer(centre, centre))


def warn_of_massless(robot: Robot, base: str | None, rotors: Collection[str]) -> None:
    """Warn of joints whose motion meets no inertia, with ``base``, that of a floating root; ``rotors`` have their own.

    A link meets inertia in six directions at most, and in one less for each speed of a joint that carries the inertia.
    """
    met = {name: 6 if _resists(link.inertial) else 0 for name, link in robot.links.items()}
    moved = {*rotors}
    for joint in reversed(robot.joints):
        n = FREEDOMS[joint.kind] if joint.mimic is None else 0
        if met[joint.child] >= n > 0:
            moved.add(joint.name)
        elif joint.mimic is not None and met[joint.child]:
            moved.add(_leader(robot, joint))
        met[joint.parent] = min(6, met[joint.parent] + max(0, met[joint.child] - n))
    joints = [(joint.name, joint.child) for joint in robot.joints if joint.kind != "fixed" and joint.mimic is None]
    if base and met[robot.root] < 6:
        joints.insert(0, (base, robot.root))
    for name, link in joints:
        if name not in moved:
            lacks = (
                "what it carries resists in some directions alone" if met[link] else "nothing there has mass or inertia"
            )
            warn(
                f"{robot.where}, {robot.links[link].place}: link {link!r} moves by joint {name!r}, and {lacks}: its "
                "acceleration is not determined, and asking for it will be a SingularError; give the link an inertia"
            )


def _leader(robot: Robot, joint: Joint) -> str:
    """The joint that a mimic follows in the end."""
    by_name = {each.name: each for each in robot.joints}
    while joint.mimic is not None:
        joint = by_name[joint.mimic.joint]
    return joint.name


def _resists(inertial: Inertial | None) -> bool:
    return inertial is not None and (inertial.mass > 0.0 or bool(inertial.inertia.any()))


def add_bodies(links: PlacedLinks, robot: Robot, gravity: Sequence[float], parameters: bool) -> dict[str, float]:
    """Add bodies, their weights and their shapes; the values of parameters.

    Parameters
    ----------
    gravity : (3,)
        In inertial axes.
    parameters : bool
        Whether each link has parameters ``m_LINK``, ``cx_LINK``, ..., ``Ixx_LINK``, ..., in its own axes.
    """
    values: dict[str, float] = {}
    carried: dict[str, _Carried] = {}
    for name, link in robot.links.items():
        placed = links.by_name[name]
        if placed.frame == 0:
            _show(links.builder, robot, -1, name, placed.pose, np.zeros(3))
            continue
        if link.inertial is None:
            continue
        if parameters:
            values |= _named_body(links.builder, robot, name, link.inertial, placed, gravity)
        else:
            carried.setdefault(placed.carrier, _Carried()).add(link.inertial, placed.pose, link.weighs)
    riders: dict[str, list[str]] = {}
    for name in robot.links:
        riders.setdefault(links.by_name[name].carrier, []).append(name)
    for name, masses in carried.items():
        _merged_body(links, robot, name, masses, riders[name], gravity)
    return values


def _merged_body(
    links: PlacedLinks, robot: Robot, name: str, carried: _Carried, riders: Sequence[str], gravity: Sequence[float]
) -> None:
    """Add all that moves with one frame, as numbers; ``riders`` are the links that do."""
    b, placed = links.builder, links.by_name[name]
    centre = carried.moment / carried.mass if carried.mass > 0.0 else np.zeros(3)
    central = carried.inertia - carried.mass * (product(centre, centre) * np.eye(3) - np.outer(centre, centre))
    if np.max(np.abs(central)) <= _ROUNDING * np.max(np.abs(carried.inertia)):
        central = np.zeros((3, 3))  # points of mass in one place
    if not carried.mass and not central.any():
        return
    point = b.point(f"{name} mass centre", placed.point, constant_vector(b, placed.frame, centre))
    mass = b.constant(carried.mass)
    tensor = ((placed.frame, constant_matrix(b, 0.5 * (central + central.T))),)
    body = b.body(name, point, mass, frame=placed.frame, inertia=tensor)
    if carried.weighing == carried.mass:
        _weigh(b, point, mass, gravity)
    elif carried.weighing:
        place = constant_vector(b, placed.frame, carried.weighing_moment / carried.weighing)
        _weigh(b, b.point(f"{name} weight", placed.point, place), b.constant(carried.weighing), gravity)
    for link in riders:
        _show(b, robot, body, link, links.by_name[link].pose, centre)


def _named_body(
    b: Builder, robot: Robot, name: str, inertial: Inertial, placed: PlacedLink, gravity: Sequence[float]
) -> dict[str, float]:
    """Add a link with parameters of its own; their values."""
    values: dict[str, float] = {}

    def parameter(letter: str, value: float) -> int:
        values[f"{letter}_{name}"] = float(value)
        return b.parameter(f"{letter}_{name}")

    mass = parameter("m", inertial.mass)
    x, y, z = (parameter(f"c{k}", v) for k, v in zip("xyz", inertial.centre, strict=True))
    xx, xy, xz, yy, yz, zz = (
        parameter(f"I{'xyz'[i]}{'xyz'[j]}", inertial.inertia[i, j])
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    )
    frame = placed.own_frame
    point = b.point(f"{name} mass centre", placed.own_point, ((frame, (x, y, z)),))
    tensor = ((frame, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))),)
    body = b.body(name, point, mass, frame=frame, inertia=tensor)
    if robot.links[name].weighs:
        _weigh(b, point, mass, gravity)
    _show(b, robot, body, name, Pose.same(), inertial.centre)
    return values


def _weigh(b: Builder, point: int, mass: int, gravity: Sequence[float]) -> None:
    x, y, z = (b.graph.mul(mass, b.graph.constant(component)) if component else 0 for component in gravity)
    if any(gravity):
        b.force(point, ((b.inertial, (x, y, z)),))


def _show(b: Builder, robot: Robot, body: int, link: str, pose: Pose, centre: Array) -> None:
    """Add the shapes of a link to pictures of a body (−1: the ground), with the pose in its axes."""
    for visual in robot.links[link].visuals:
        at = pose @ visual.pose
        if visual.kind == "mesh":
            shape = Shape("Mesh", visual.sizes, file=visual.file)
        else:
            shape = _SHAPES[visual.kind](*visual.sizes)
        b.shape(body, shape.moved(at.rotation, at.position - centre))
