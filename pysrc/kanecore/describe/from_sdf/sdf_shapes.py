# SPDX-License-Identifier: BSD-3-Clause
"""Shapes of a link in an SDFormat file: its elements <visual> and <collision>."""

from __future__ import annotations

from collections.abc import Iterator

from kanecore.describe.robots.rigid_poses import Pose
from kanecore.describe.robots.robot import Solid
from kanecore.describe.robots.xml_reader import Element

from .sdf_poses import SdfPoses
from .sdf_values import SdfValues

__all__ = ["shapes"]

_SIZES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length")}


def shapes(values: SdfValues, poses: SdfPoses, link: Element, tag: str) -> Iterator[Solid]:
    """Boxes, spheres, cylinders and capsules; other shapes are left out."""
    for element in link.all(tag):
        geometry = element.first("geometry")
        for kind, names in _SIZES.items():
            shape = None if geometry is None else geometry.first(kind)
            if shape is None:
                continue
            count = 3 if kind == "box" else 1
            sizes = [x for name in names for x in values.content_numbers(values.part(shape, name), count)]
            if min(sizes) > 0.0:
                yield Solid(kind, tuple(sizes), _pose(values, poses, link, element))


def _pose(values: SdfValues, poses: SdfPoses, link: Element, element: Element) -> Pose:
    """Pose of a shape in its link."""
    given = element.first("pose")
    pose = values.numbers_of_pose(given)
    base = "" if given is None else given.attributes.get("relative_to", "")
    if not base:
        return pose
    return poses.of(link.attributes["name"], element).inverse() @ poses.of(base, given) @ pose
