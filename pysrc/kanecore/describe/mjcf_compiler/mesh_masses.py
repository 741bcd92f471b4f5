# SPDX-License-Identifier: BSD-3-Clause
"""Volume, mass centre and inertia of meshes as MuJoCo has them by default: of pyramids on their triangles.

The pyramids stand on the centroid of the surface, and each counts as positive ("legacy").  ``inertia="exact"`` has the
signs.  Read are binary STL and OBJ.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from kanecore.describe.robots.rigid_poses import from_unit_quaternion, product
from kanecore.describe.robots.xml_reader import LARGEST, Element

from .mjcf_poses import At, principal, unit
from .mjcf_values import Values, fault, unread

__all__ = ["mesh_mass"]

Array = npt.NDArray[np.float64]

_HEAD, _TRIANGLE = 84, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_AXES = 1e-7  # tolerance of the axes of meshes
_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def mesh_mass(values: Values, file: Path) -> tuple[float, Array, At]:
    """Volume of a mesh, principal inertias (3,) of a unit of its mass, and the pose of their axes.

    Raises
    ------
    ModelError
        The file is missing, of another format, or encloses no volume.
    """
    signed = values.word("inertia", ("legacy", "exact")) == 1
    corners = (_triangles(values.element, file) - values.numbers("refpos")).reshape(-1, 3)
    corners = product(corners, from_unit_quaternion(unit(values.numbers("refquat"))))
    scale = np.array(values.numbers("scale"))
    corners = (corners * scale).reshape(-1, 3, 3)
    if np.prod(scale) < 0:
        corners = corners[:, [0, 2, 1]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])  # twice the area
    centres, areas = corners.mean(axis=1), np.sqrt((normals**2).sum(axis=1))
    if not areas.sum():
        raise fault(values.element, "the mesh has no area")

    def pyramids(top: Array) -> Array:
        volumes = ((centres - top) * normals).sum(axis=1) / 6
        return np.asarray(volumes if signed else np.abs(volumes))

    top = (areas[:, None] * centres).sum(axis=0) / areas.sum()
    volumes = pyramids(top)
    volume = volumes.sum()
    if volume < 1e-15:
        raise fault(values.element, "the mesh encloses no volume: turn its triangles, or give the body an <inertial>")
    centre = (volumes[:, None] * (0.75 * centres + 0.25 * top)).sum(axis=0) / volume
    volumes, corners = pyramids(centre), corners - centre
    total = corners.sum(axis=1)
    moments = np.zeros((3, 3))
    for i, j in _PAIRS:
        products = (corners[:, :, i] * corners[:, :, j]).sum(axis=1) + total[:, i] * total[:, j]
        moments[i, j] = moments[j, i] = (volumes * products).sum() / 20
    volume = float(volumes.sum())
    inertia, axes = principal(moments.trace() * np.eye(3) - moments, _AXES)
    return volume, inertia / volume, (centre, axes)


def _triangles(mesh: Element, file: Path) -> Array:
    """Corners (n, 3, 3) of the triangles of a file, in the 32 bits that it has."""
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST + 1)
    except OSError as error:
        raise fault(mesh, f"the file of the mesh, {file}, cannot be read: {error.strerror}") from None
    kind = file.suffix.lower()
    if len(data) > LARGEST or kind not in (".stl", ".obj"):
        raise unread(mesh, f"the file {file.name}")
    if kind == ".obj":
        return _of_obj(mesh, data.decode("utf-8", "replace"))
    count = int.from_bytes(data[_HEAD - 4 : _HEAD], "little")
    if len(data) != _HEAD + count * _TRIANGLE.itemsize:
        raise fault(mesh, f"{file} is no binary STL file: MuJoCo reads no other ones")
    return np.frombuffer(data, _TRIANGLE, count, _HEAD)["corners"].astype(float)


def _of_obj(mesh: Element, text: str) -> Array:
    """Triangles of an OBJ file; quadrilaterals are cut along their shorter diagonal."""
    points, faces = list[list[float]](), list[list[int]]()
    try:
        for line in text.replace("\\\n", " ").splitlines():
            word, *rest = line.split() or [""]
            if word == "v":
                points.append([float(x) for x in rest[:3]])
            elif word == "f":
                numbers = [int(each.split("/")[0]) for each in rest]
                faces.append([k - 1 if k > 0 else len(points) + k for k in numbers])
        if max(map(len, faces)) > 4:
            raise unread(mesh, "a polygon of more than four corners")
        corners = np.array(points, dtype=np.float32).astype(float)
        triangles = [face for face in faces if len(face) == 3]
        for a, b, c, d in (face for face in faces if len(face) == 4):
            shorter = np.sum((corners[c] - corners[a]) ** 2) < np.sum((corners[d] - corners[b]) ** 2)
            triangles += [[a, b, c], [a, c, d]] if shorter else [[a, b, d], [b, c, d]]
        return np.asarray(corners[np.array(triangles)])
    except (ValueError, IndexError) as error:
        raise fault(mesh, f"the OBJ file of the mesh cannot be read ({error})") from None
