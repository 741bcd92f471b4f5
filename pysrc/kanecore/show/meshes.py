# SPDX-License-Identifier: BSD-3-Clause
"""Meshes of links as a few lines, for pictures: cuts through them, and their longest sharp edges.

Files are read by trimesh (the extra ``meshes``) when a picture is drawn.  They are not trusted: sizes are limited,
textures and other files that they name are not read, and unreadable meshes are not drawn.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

__all__ = ["find", "mesh_lines"]

Array = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

KINDS = (".stl", ".obj", ".dae")
LARGEST = 64_000_000
"""Largest number of bytes to read: some ten times the largest link of a humanoid."""
MOST_FACES = 1_000_000
FARTHEST = 1e9
"""The largest coordinate of a point, in the unit of the file."""
MOST_LINES, MOST_POINTS = 14, 240
"""Limits of one mesh: a humanoid of 40 links has a page of some 200 kB, and is drawn in a second."""
CUTS = 3
"""Number of cuts along the longest side of a mesh; fewer along shorter sides."""
SHARP = np.radians(40.0)
TOLERANCE = 0.006
"""Largest distance of simplified lines from the mesh, as a share of its size; closer points count as one."""
SHORTEST = 0.2


def find(name: str, folder: str | None) -> Path | None:
    """The file that a URDF calls ``name``, or None.

    Parameters
    ----------
    name : str
        ``package://PACKAGE/path``, ``file://path``, or a path.
    folder : str, optional
        Folder of the URDF file.  A package is a folder above it, or next to a folder above it; other paths start in the
        folder.
    """
    kind, mark, rest = name.partition("://")
    try:
        if not mark:
            path = Path(name)
        elif kind == "file":
            path = Path(unquote(rest))
        elif kind == "package" and folder is not None:
            package, _, within = rest.partition("/")
            above = (Path(folder), *Path(folder).parents)
            places = [each if each.name == package else each / package for each in above]
            path = next((place / within for place in places if (place / within).is_file()), Path())
        else:
            return None
        if not path.is_absolute():
            if folder is None:
                return None
            path = Path(folder) / path
        return path if path.suffix.lower() in KINDS and path.is_file() else None
    except (OSError, ValueError):  # no possible name of a file
        return None


def mesh_lines(name: str, folder: str | None, scale: tuple[float, ...]) -> tuple[Array, ...]:
    """Lines (k, 3) of a mesh in its own axes; empty if the file or trimesh is missing, or the file is unreadable."""
    path = find(name, folder)
    if path is None:
        return ()
    try:
        facts = path.stat()
    except OSError:
        return ()
    lines = _lines_of_file(path, facts.st_size, facts.st_mtime_ns)
    return tuple(line * np.array(scale) for line in lines)


@lru_cache(maxsize=256)
def _lines_of_file(path: Path, size: int, changed: int) -> tuple[Array, ...]:
    """Lines without a scale; ``changed`` is the file's time of change, so that a changed file is read again."""
    if size > LARGEST:
        return ()
    try:
        import trimesh  # noqa: F401
    except ImportError:
        return ()
    try:
        # corners far away, or at infinity; and what pycollada uses of NumPy that is deprecated
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            points, faces = _read(path)
    except Exception:  # any error of trimesh: the picture is drawn without the mesh
        return ()
    if not 0 < len(faces) <= MOST_FACES or not 0 <= faces.min() <= faces.max() < len(points):
        return ()
    if not np.all(np.abs(points) < FARTHEST):  # nor NaN
        return ()
    return tuple(_outline(*_welded(points, faces)))


def _read(path: Path) -> tuple[Array, Numbers]:
    """Vertices and triangles."""
    import trimesh

    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    kind = path.suffix.lower()
    if kind == ".dae" and (b"<!" in data.replace(b"<!--", b"").replace(b"<![CDATA[", b"") or b"\0" in data[:1000]):
        raise ValueError("a document type could define entities, which make a small file large")
    options: dict[str, Any] = {"file_type": kind[1:], "resolver": None, "process": False}
    mesh = trimesh.load_scene(BytesIO(data), **options).to_mesh()
    points, faces = np.asarray(mesh.vertices, dtype=np.float64), np.asarray(mesh.faces, dtype=np.int64)
    return points * _metres(str(mesh.units or "")), faces


def _metres(units: str) -> float:
    """The unit that a COLLADA file names, in m: trimesh calls it ``meters`` or ``0.001 * meters``."""
    number, times, unit = units.partition(" * ")
    return float(number) if times and unit == "meters" else 1.0


# ------------------------------------------------------------------------------------------------------- lines


def _welded(points: Array, faces: Numbers) -> tuple[Array, Numbers]:
    """Merge vertices at the same place, which files repeat for each triangle."""
    size = float(np.max(np.ptp(points, axis=0))) or 1.0
    cells = np.round((points - points.min(axis=0)) / (1e-5 * size)).astype(np.int64)
    _, first, number = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    faces = number.reshape(-1)[faces]
    a, b, c = faces.T
    return points[first], faces[(a != b) & (b != c) & (c != a)]


def _outline(points: Array, faces: Numbers) -> list[Array]:
    """The longest lines of cuts and of sharp edges, up to the allowed number."""
    low, extent = points.min(axis=0), np.ptp(points, axis=0)
    size = float(np.max(extent))
    found = [line for line in _chains(points, _sharp_edges(points, faces)) if _length(line) > SHORTEST * size]
    for axis in range(3):
        n = max(1, round(CUTS * extent[axis] / size)) if extent[axis] > 0.02 * size else 0
        for k in range(n):
            found += _chains(*_cut(points, faces, axis, low[axis] + (k + 0.5) / n * extent[axis]))
    lines: list[Array] = []
    n_points = 0
    for line in sorted(found, key=_length, reverse=True):
        if len(lines) == MOST_LINES or _length(line) <= SHORTEST * size:
            break
        simple = _simplified(line, TOLERANCE * size)
        if n_points + len(simple) <= MOST_POINTS:
            lines.append(simple)
            n_points += len(simple)
    return lines


def _length(line: Array) -> float:
    return float(np.sum(np.linalg.norm(np.diff(line, axis=0), axis=1)))


def _sharp_edges(points: Array, faces: Numbers) -> Numbers:
    """Pairs of vertices, (n, 2): edges of a single triangle, or of two triangles at an angle."""
    import trimesh

    mesh = trimesh.Trimesh(points, faces, process=False)
    edges, count = np.unique(mesh.edges_sorted, axis=0, return_counts=True)
    bent = mesh.face_adjacency_edges[mesh.face_adjacency_angles > SHARP]
    return np.concatenate([edges[count == 1], bent])


def _cut(points: Array, faces: Numbers, axis: int, at: float) -> tuple[Array, Numbers]:
    """Section of the mesh by a plane across an axis: points on edges, and a pair of points for each triangle."""
    height = points[:, axis] - at
    above = height > 0.0
    met = faces[np.any(above[faces], axis=1) & ~np.all(above[faces], axis=1)]
    sides = np.sort(np.stack([met[:, [0, 1]], met[:, [1, 2]], met[:, [2, 0]]], axis=1), axis=2)
    crossing = sides[above[sides[..., 0]] != above[sides[..., 1]]]  # two points of each triangle, one after the other
    edges, number = np.unique(crossing, axis=0, return_inverse=True)
    start, end = height[edges[:, 0]], height[edges[:, 1]]
    share = (start / (start - end))[:, np.newaxis]
    return (1.0 - share) * points[edges[:, 0]] + share * points[edges[:, 1]], number.reshape(-1, 2)


def _chains(points: Array, pairs: Numbers) -> list[Array]:
    """Lines (k, 3) along pairs of points, each pair once: from ends and branchings on, then closed lines."""
    around: dict[int, list[int]] = {}
    for a, b in pairs.tolist():
        around.setdefault(a, []).append(b)
        around.setdefault(b, []).append(a)
    chains = []
    for only_ends in (True, False):
        for start, others in around.items():
            if only_ends and len(others) == 2:
                continue
            while others:
                chain = [start]
                while around[chain[-1]]:
                    here, there = chain[-1], around[chain[-1]].pop()
                    around[there].remove(here)
                    chain.append(there)
                    if there == start or len(around[there]) != 1:
                        break
                chains.append(points[chain])
    return chains


def _simplified(line: Array, tolerance: float) -> Array:
    """The line through fewer of its points, within the tolerance (Douglas and Peucker 1973)."""
    far = int(np.argmax(np.linalg.norm(line - line[0], axis=1)))
    keep = {0, far, len(line) - 1}
    ahead = [(0, far), (far, len(line) - 1)]
    while ahead:
        i, j = ahead.pop()
        if j - i < 2:
            continue
        along, away = line[j] - line[i], line[i + 1 : j] - line[i]
        square = float(along @ along)
        if square:
            away = away - np.outer(away @ along / square, along)
        distance = np.linalg.norm(away, axis=1)
        k = int(np.argmax(distance))
        if distance[k] > tolerance:
            keep.add(i + 1 + k)
            ahead += [(i, i + 1 + k), (i + 1 + k, j)]
    return line[sorted(keep)]
