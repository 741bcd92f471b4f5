# SPDX-License-Identifier: BSD-3-Clause
"""Vectors of kernels in other axes than the inertial ones, and as short SymPy vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kanecore.derive.derivation import Derivation
from kanecore.errors import ModelError, unknown_name
from kanecore.graph.printed_expressions import printed
from kanecore.kernels import KERNELS, Kernel

__all__ = ["check_vectors", "frame_number", "in_axes", "vectors"]

OWN_FRAMES: Mapping[str, str] = {
    "n_points": "shown_points",
    "n_frames": "shown_frames",
}
"""Kind of a kernel's vectors, points or frames, by the first axis of its shape."""


def check_vectors(kernel: Kernel, name: str) -> None:
    """Raise for a kernel whose results are not vectors of points or frames."""
    if not _has_vectors(kernel):
        having = ", ".join(x.name for x in KERNELS if _has_vectors(x) and not x.internal)
        raise ModelError(f"frame= and vectors= apply to {having}, and not to {name}")


def _has_vectors(kernel: Kernel) -> bool:
    return kernel.shape[:1] != kernel.shape and kernel.shape[0] in OWN_FRAMES and kernel.shape[-2:] != ("3", "3")


def frame_number(derivation: Derivation, frame: Any) -> int:
    """The number of a frame, given by its name or as SymPy's ReferenceFrame."""
    names = [each.name for each in derivation.description.frames]
    name = str(getattr(frame, "name", frame))
    if name not in names:
        raise unknown_name("frame", name, names)
    return names.index(name)


def in_axes(derivation: Derivation, roots: Sequence[int], frame: int) -> list[int]:
    """Components of vectors in the axes of a frame, from those in inertial axes, three for each vector."""
    return [x for v in _triples(roots) for x in derivation.kinematics.resolve(v, 0, frame)]


def vectors(
    derivation: Derivation,
    kernel: Kernel,
    roots: Sequence[int],
    symbols: Mapping[Any, Any],
    frame: int | None,
    axes: Callable[[int], Any],
) -> list[Any]:
    """SymPy vectors: a list for the points or frames; for partial velocities a list of lists for the speeds.

    Parameters
    ----------
    frame : int or None
        Frame of the components.  With None each vector is written in the frame with the fewest operations, among the
        frames from its own to the inertial one.
    axes : callable
        Function that gives SymPy's frame for an index.
    """
    d = derivation.description
    owners = d.shown_points if kernel.shape[0] == "n_points" else d.shown_frames
    triples = _triples(roots)
    each = len(triples) // max(1, len(owners))
    rows = []
    for n, owner in enumerate(owners):
        ways = [frame] if frame is not None else _ways(derivation, owner, kernel.shape[0] == "n_points")
        rows.append([_vector(derivation, v, ways, symbols, axes) for v in triples[n * each : (n + 1) * each]])
    return rows if len(kernel.shape) == 3 else [row[0] for row in rows]


def _triples(roots: Sequence[int]) -> list[tuple[int, int, int]]:
    return [(roots[i], roots[i + 1], roots[i + 2]) for i in range(0, len(roots), 3)]


def _ways(derivation: Derivation, owner: int, is_point: bool) -> list[int]:
    """Frames to try for a vector: those of a point and its ancestors, or a frame; each with its ancestors."""
    d, starts = derivation.description, [owner]
    if is_point:
        starts = []
        while owner >= 0:
            starts += [derivation.kinematics.home[owner], *(f for f, _ in d.points[owner].position)]
            owner = d.points[owner].parent
    chains = [list(_ancestors(derivation, start)) for start in starts]
    return list(dict.fromkeys([*starts, *(f for chain in chains for f in chain)]))


def _ancestors(derivation: Derivation, frame: int) -> Iterator[int]:
    """A frame and its ancestors, up to the root."""
    frames = derivation.description.frames
    while True:
        yield frame
        if frame <= 0:
            return
        frame = frames[frame].parent


def _vector(
    derivation: Derivation,
    v: tuple[int, int, int],
    ways: Sequence[int],
    symbols: Mapping[Any, Any],
    axes: Callable[[int], Any],
) -> Any:
    import sympy as sm
    from sympy.physics.vector import Vector

    if not any(v):
        return Vector(0)
    best: tuple[int, int, Any] | None = None
    for frame in ways:
        components = printed(derivation.graph, derivation.kinematics.resolve(v, 0, frame), symbols)
        plain = {x: sm.Dummy() for x in symbols.values() if isinstance(x, sm.Expr)}
        size = 2 * sum(1 for x in components if x != 0) + sum(sm.count_ops(x.xreplace(plain)) for x in components)
        if best is None or size < best[0]:
            best = size, frame, components
    assert best is not None
    _, frame, components = best
    unit = axes(frame)
    return sum((x * e for x, e in zip(components, (unit.x, unit.y, unit.z), strict=True)), Vector(0))
