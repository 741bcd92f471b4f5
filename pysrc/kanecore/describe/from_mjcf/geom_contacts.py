# SPDX-License-Identifier: BSD-3-Clause
"""Geoms of a compiled MuJoCo model as shapes of pictures, and their contacts with its ground plane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kanecore.describe.load_makers import Surface
from kanecore.describe.robots.ground_contacts import ALL_SHAPES, contact_laws, touch_at, touching
from kanecore.describe.robots.number_nodes import constant_vector, number, triple
from kanecore.describe.robots.rigid_poses import Pose, from_unit_quaternion, product
from kanecore.describe.robots.robot import Solid
from kanecore.errors import ModelError, warn

from .body_tree import BodyTree

__all__ = ["add_contacts", "picture_of"]

_PLANE, _SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX = 0, 2, 3, 4, 5, 6  # of ``geom_type``


def shape_of(m: Any, geom: int) -> Solid | None:
    """Sphere, capsule, cylinder or box in the axes of its body; None for other geoms."""
    x, y, z = (float(size) for size in m.geom_size[geom])
    sizes = {_SPHERE: (x,), _CAPSULE: (x, 2 * y), _CYLINDER: (x, 2 * y), _BOX: (2 * x, 2 * y, 2 * z)}
    kinds = {_SPHERE: "sphere", _CAPSULE: "capsule", _CYLINDER: "cylinder", _BOX: "box"}
    kind = int(m.geom_type[geom])
    pose = Pose(from_unit_quaternion(m.geom_quat[geom]), np.array(m.geom_pos[geom]))
    return Solid(kinds[kind], sizes[kind], pose) if kind in kinds else None


def picture_of(m: Any, geom: int) -> Solid | None:
    """The shape of pictures, which may be an ellipsoid."""
    if int(m.geom_type[geom]) == _ELLIPSOID:
        pose = Pose(from_unit_quaternion(m.geom_quat[geom]), np.array(m.geom_pos[geom]))
        return Solid("ellipsoid", tuple(map(float, m.geom_size[geom])), pose)
    return shape_of(m, geom)


def add_contacts(tree: BodyTree, contacts: Any, weight: float) -> None:
    """Let geoms touch the ground: spheres, capsules by their ends, boxes by their corners, cylinders by their rims.

    The ground is the first plane that the world holds, or z = 0.  Friction that is not given is that of the file.

    Parameters
    ----------
    contacts : mapping, "collision" or None
        As in `kanecore.Model.from_mjcf`.
    weight : float
        Of the robot, N.

    Raises
    ------
    ModelError
        As `contact_laws`; a geom that does not move, has another shape, or gets a radius beside its own.
    """
    if contacts is None:
        return
    m = tree.m
    moving = {tree.names("geom", k): k for k in range(m.ngeom) if tree.placed(int(m.geom_bodyid[k])).frame}
    planes = [k for k in range(m.ngeom) if m.geom_type[k] == _PLANE and not tree.placed(int(m.geom_bodyid[k])).frame]
    plane = planes[0] if planes else -1
    by_geom, left_out = _by_geom(m, moving, contacts, plane)
    laws, ground = contact_laws(by_geom, moving, weight, "moving geom"), _ground(tree, plane)
    for name, law in laws.items():
        shape = shape_of(m, moving[name])
        if shape is None:
            raise ModelError(f"contacts: geom {name!r} is neither a sphere, a capsule, a cylinder nor a box")
        body = tree.placed(int(m.geom_bodyid[moving[name]]))
        touch_at(tree.links, name, list(touching(name, shape)), body, law, ground)
    if left_out:
        warn(f"geoms that touch nothing, since only spheres, capsules, cylinders and boxes do: {', '.join(left_out)}")
    if len(planes) > 1:
        others = ", ".join(tree.names("geom", k) for k in planes[1:])
        warn(f"contacts are with plane {tree.names('geom', plane)!r} alone; the file has other planes: {others}")


def _by_geom(m: Any, moving: Mapping[str, int], contacts: Any, plane: int) -> tuple[Any, list[str]]:
    """Laws by geom, with the friction of the file, and colliding geoms of other shapes."""
    given = {ALL_SHAPES: {}} if contacts == ALL_SHAPES else contacts
    if not isinstance(given, Mapping):
        return given, []
    by_geom, left_out = {name: law for name, law in given.items() if name != ALL_SHAPES}, list[str]()
    if ALL_SHAPES in given:
        rest = [name for name, k in moving.items() if name not in given and _collides(m, k, plane)]
        left_out = [name for name in rest if shape_of(m, moving[name]) is None]
        by_geom |= {name: given[ALL_SHAPES] for name in rest if name not in left_out}
    for name, law in by_geom.items():
        if isinstance(law, Mapping) and name in moving:
            if "radius" in law:
                raise ModelError(f"contacts[{name!r}] has a radius, and the geom has its own: leave it out")
            by_geom[name] = {"mu": _friction(m, moving[name], plane), **law}
    return by_geom, left_out


def _collides(m: Any, geom: int, plane: int) -> bool:
    """Test whether MuJoCo lets a geom touch the plane, or anything where there is none."""
    if plane < 0:
        return bool(m.geom_contype[geom] or m.geom_conaffinity[geom])
    return any(m.geom_contype[a] & m.geom_conaffinity[b] for a, b in ((geom, plane), (plane, geom)))


def _friction(m: Any, geom: int, plane: int) -> float:
    """Coefficient of sliding friction: the larger one of both, or that of the geom with priority."""
    pair = [geom, plane] if plane >= 0 else [geom]
    first = [k for k in pair if m.geom_priority[k] == max(m.geom_priority[i] for i in pair)]
    sliding = max(int(m.geom_condim[k]) for k in first) > 1
    return max(float(m.geom_friction[k, 0]) for k in first) if sliding else 0.0


def _ground(tree: BodyTree, plane: int) -> Surface:
    b, links, m = tree.builder, tree.links, tree.m
    if plane < 0:
        return Surface("plane", -1, b.inertial, ((0, 0, 1),))
    local = Pose(from_unit_quaternion(m.geom_quat[plane]), np.array(m.geom_pos[plane]))
    pose = tree.placed(int(m.geom_bodyid[plane])).pose @ local
    place = constant_vector(b, b.inertial, pose.position)
    point = b.point(tree.names("geom", plane), links.world, place) if place else -1
    normal = triple([number(b, x) for x in product(pose.rotation, np.array([0.0, 0.0, 1.0]))])
    return Surface("plane", point, b.inertial, (normal,))
