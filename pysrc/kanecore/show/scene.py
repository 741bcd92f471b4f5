# SPDX-License-Identifier: BSD-3-Clause
"""Scenes: pictures of a mechanism as plain arrays: places, lines between them, axes of bodies, loads, shapes.

A scene is made from the facts in a library (`kanecore.derive.model_facts`), and from the results of the kernels of the
group "bodies". So pictures of compiled models and of descriptions are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, unknown_name
from kanecore.shapes import Shape

from .meshes import mesh_lines

__all__ = ["CROWD", "Names", "Scene", "scene"]

Array = npt.NDArray[np.float64]
FORCE, TORQUE = 0, 1
SKEWED = 0.05  # invisible errors of products of axes, as in interpolants
FLOOR = 3.0  # times the extent of the moving bodies: larger shapes of the ground would leave no room for these
CROWD = 24  # largest number of places with names, and bodies with axes: more would hide the mechanism
TOGETHER = 1e-6  # relative to the size of a picture: closer places share a label


@dataclass(frozen=True)
class Names:
    """Names of a model, and of its points, bodies and joints."""

    model: str
    points: Sequence[str]
    bodies: Sequence[str]
    joints: Sequence[str]


@dataclass(frozen=True)
class Outline:
    """A shape, and its lines, each (k, 3), in the axes of a body from its mass centre, or of the ground, -1."""

    body: int
    shape: Shape
    lines: tuple[Array, ...]

    @property
    def extent(self) -> float:
        return float(np.max(np.ptp(np.concatenate(self.lines), axis=0))) if self.lines else 0.0


@dataclass(frozen=True)
class Scene:
    """Mechanism at a state, or at several states along leading axes (...).

    Attributes
    ----------
    names : Names
    places : ndarray, (..., n, 3)
        The origin, then the points, then the joint points, m, inertial axes.
    labels : tuple of str
        Label of each place; empty if it has no own name.
    lines : tuple of (int, int)
        Connected places: each place and the nearest one that it is located from, if a joint or body connects them.
    joints : tuple of int
        The places of the joints.
    centres : tuple of int
        The place of the mass centre of each body.
    axes : ndarray, (..., n_bodies, 3, 3)
        The columns are the axes of the body; a particle has inertial ones.
    rigid : tuple of int
        The bodies with their own axes.
    forces, torques : ndarray, (..., k, 3)
    forces_at, torques_on : tuple of int
        The place of each force, and the body of each torque.
    outlines : tuple of Outline
    """

    names: Names
    places: Array
    labels: tuple[str, ...]
    lines: tuple[tuple[int, int], ...]
    joints: tuple[int, ...]
    centres: tuple[int, ...]
    axes: Array
    rigid: tuple[int, ...]
    forces: Array
    torques: Array
    forces_at: tuple[int, ...]
    torques_on: tuple[int, ...]
    outlines: tuple[Outline, ...]

    @property
    def crowded(self) -> bool:
        """Whether names of places, and axes of bodies, would hide the mechanism."""
        return int(self.places.shape[-2]) > CROWD

    @cached_property
    def shapes(self) -> list[Array]:
        """The lines of all shapes in inertial axes, (..., k, 3) each."""
        return [self._line(outline.body, line) for outline in self.outlines for line in outline.lines]

    def _line(self, body: int, line: Array) -> Array:
        if body < 0:
            return np.broadcast_to(line, (*self.places.shape[:-2], *line.shape))
        turned = np.einsum("...ij,kj->...ki", self.axes[..., body, :, :], line)
        return np.asarray(self.places[..., None, self.centres[body], :] + turned)

    def triad(self, body: int, length: float) -> list[Array]:
        """The axes x, y, z of a body as lines (..., 2, 3) from its mass centre."""
        start = self.places[..., self.centres[body], :]
        ends = (start + length * self.axes[..., body, :, i] for i in range(3))
        return [np.stack([start, end], axis=-2) for end in ends]

    def place(self, name: Any) -> int:
        """The place of a point, a body's mass centre or a joint; KeyError if there is none, with the nearest."""
        n, name = self.names, getattr(name, "name", name)
        places = {point: 1 + i for i, point in enumerate(n.points)}
        for others, at in ((n.bodies, self.centres), (n.joints, self.joints)):
            places = dict(zip(others, at, strict=True)) | places
        if name not in places:
            raise unknown_name(f"point, body or joint of {n.model!r} is called", name, places)
        return places[name]

    def together(self) -> list[tuple[int, str]]:
        """Places with names: (place, names); places that coincide in all states share their names."""
        named, result = [i for i, label in enumerate(self.labels) if label], []
        while named:
            apart = np.abs(self.places[..., named, :] - self.places[..., named[:1], :])
            same = np.max(apart.reshape(-1, len(named), 3), axis=(0, 2)) <= TOGETHER * self.size
            here = [i for i, one in zip(named, same, strict=True) if one]
            result.append((here[0], ", ".join(dict.fromkeys(self.labels[i] for i in here))))
            named = [i for i in named if i not in here]
        return result

    @cached_property
    def size(self) -> float:
        """Largest extent of the picture, in all states; 1 if all places coincide."""
        flat = np.concatenate([part.reshape(-1, 3) for part in (self.places, *self.shapes)])
        return float(np.max(np.ptp(flat, axis=0))) or 1.0


def scene(
    facts: Mapping[str, Any],
    names: Names,
    values: Callable[[str], Array],
    number: Callable[[str], float],
    loads: bool,
    folder: str | None = None,
) -> Scene:
    """The scene of a model, with its loads or without.

    Parameters
    ----------
    facts : mapping
        Facts from `kanecore.derive.model_facts`.
    names : Names
    values : callable
        The result of a kernel of the group "bodies", by its name.
    number : callable
        The value of a parameter, by its name.
    folder : str, optional
        Folder of the file that names meshes.

    Raises
    ------
    ModelError
        There is no point to draw; a size of a shape has no positive value; axes of a body are not orthonormal.
    """
    if not names.points:
        raise ModelError(
            f"{names.model!r} has no point whose position is known, such as the mass centre of a body, so there is "
            "nothing to draw: a Lagrangian has no positions, Model(points=[...]) adds points"
        )
    points, joints = values("positions"), values("joint_positions")
    origin = np.zeros((*points.shape[:-2], 1, 3))
    tree = facts.get("tree") or [-1] * (len(names.points) + len(names.joints))
    loose = facts.get("loose", ())
    bodies = facts.get("bodies", [])
    centres = tuple(1 + point for point, _ in bodies)
    first_joint = 1 + len(names.points)
    shown = facts.get("loads", ()) if loads else ()
    vectors = values("load_vectors") if loads else np.zeros((*points.shape[:-2], 0, 3))
    forces, forces_at, torques, torques_on = _loads(shown, vectors, len(bodies))
    places = np.concatenate([origin, points, joints], axis=-2)
    outlines = (_outline(each, names, number, folder) for each in facts.get("shapes", ()))
    reach = FLOOR * float(np.max(np.ptp(places.reshape(-1, 3), axis=0)))
    return Scene(
        names=names,
        places=places,
        labels=_labels(names, centres, facts.get("origin", "")),
        lines=tuple((1 + parent, 1 + n) for n, parent in enumerate(tree) if n not in loose),
        joints=tuple(first_joint + n for n in range(len(names.joints))),
        centres=centres,
        axes=_axes(names, bodies, values("orientations")),
        rigid=tuple(body for body, (_, frame) in enumerate(bodies) if frame >= 0),
        forces=forces,
        torques=torques,
        forces_at=forces_at,
        torques_on=torques_on,
        outlines=tuple(each for each in outlines if each.body >= 0 or each.extent <= reach),
    )


def _labels(names: Names, centres: Sequence[int], origin: str) -> tuple[str, ...]:
    """The origin, bodies at their mass centres, other points, and joints without the name of a body."""
    labels = [origin, *names.points, *("" if name in names.bodies else name for name in names.joints)]
    for place, body in zip(centres, names.bodies, strict=True):
        labels[place] = body
    return tuple(labels)


def _axes(names: Names, bodies: Sequence[Sequence[int]], orientations: Array) -> Array:
    axes = np.empty((*orientations.shape[:-3], len(bodies), 3, 3))
    for body, (_, frame) in enumerate(bodies):
        axes[..., body, :, :] = orientations[..., frame, :, :] if frame >= 0 else np.eye(3)
        products = np.swapaxes(axes[..., body, :, :], -1, -2) @ axes[..., body, :, :]
        if not np.max(np.abs(products - np.eye(3)), initial=0.0) <= SKEWED:
            raise ModelError(
                f"the axes of {names.bodies[body]!r} are not of length 1 and at right angles at this state: a unit "
                "quaternion in x must have norm 1, and without rotation it is (1, 0, 0, 0)"
            )
    return axes


def _loads(
    loads: Sequence[Sequence[int]], vectors: Array, n_bodies: int
) -> tuple[Array, tuple[int, ...], Array, tuple[int, ...]]:
    """Forces and torques that act on bodies, with their places and bodies; those on the ground are left out."""
    rows: dict[int, list[int]] = {FORCE: [], TORQUE: []}
    places: dict[int, list[int]] = {FORCE: [], TORQUE: []}
    for row, (kind, point, _, body) in enumerate(loads):
        if 0 <= body < n_bodies:
            rows[kind].append(row)
            places[kind].append(1 + point if kind == FORCE else body)
    return vectors[..., rows[FORCE], :], tuple(places[FORCE]), vectors[..., rows[TORQUE], :], tuple(places[TORQUE])


def _outline(row: Sequence[Any], names: Names, number: Callable[[str], float], folder: str | None) -> Outline:
    body, kind, sizes, axis, *more = row
    values = [number(size) if isinstance(size, str) else size for size in sizes]
    for size, value in zip(sizes, values, strict=True):
        if not 0.0 < value < np.inf:
            raise ModelError(
                f"the shape of {names.bodies[body]!r} has the size {size} = {value}: it must be a positive length"
            )
    shape = Shape(kind, tuple(sizes), axis, *map(_tuple, more))
    drawn = replace(shape, sizes=tuple(values))
    lines = drawn.put(mesh_lines(drawn.file, folder, tuple(values))) if drawn.file else drawn.lines()
    return Outline(body, shape, lines)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
