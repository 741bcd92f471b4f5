# SPDX-License-Identifier: BSD-3-Clause
"""Shapes of a link in a URDF file: its elements <visual> and <collision>."""

from __future__ import annotations

import numpy as np

from kanecore.describe.robots.element_values import ElementValues
from kanecore.describe.robots.rigid_poses import Pose
from kanecore.describe.robots.robot import Solid
from kanecore.describe.robots.robot_options import BEYOND, SMALLEST
from kanecore.describe.robots.xml_reader import Element, parsed

__all__ = ["shapes"]

# A capsule is one of some programs.
_SIZES = {"box": ("size",), "capsule": ("radius", "length"), "cylinder": ("radius", "length"), "sphere": ("radius",)}
_LONGEST_NAME = 1000  # of a file, in characters


def shapes(values: ElementValues, element: Element) -> list[Solid]:
    """Shapes of a <visual> or <collision>; none if it has no size, or is a mesh that nothing could draw."""
    geometry = element.first("geometry")
    for kind, names in _SIZES.items():
        shape = None if geometry is None else geometry.first(kind)
        if shape is not None:
            count = 3 if kind == "box" else 1
            sizes = [size for name in names for size in values.numbers(shape, name, count)]
            return [Solid(kind, tuple(sizes), values.pose(element.first("origin")))] if min(sizes) > 0.0 else []
    mesh = None if geometry is None else geometry.first("mesh")
    return [] if mesh is None else _mesh(values, mesh, element)


def _mesh(values: ElementValues, mesh: Element, element: Element) -> list[Solid]:
    """Mesh, whose file is not read before a picture is drawn: faults in it are not those of the robot."""
    file = mesh.attributes.get("filename", "").strip()
    try:
        scale = parsed(mesh.attributes.get("scale", "1 1 1"))
    except ValueError:
        return []
    scale = 3 * scale if len(scale) == 1 else scale
    if not 0 < len(file) <= _LONGEST_NAME or len(scale) != 3 or not all(SMALLEST <= abs(x) <= BEYOND for x in scale):
        return []
    pose = values.pose(element.first("origin"))
    mirrored = Pose(pose.rotation * np.sign(scale), pose.position)
    return [Solid("mesh", tuple(map(abs, scale)), mirrored, file)]
