# SPDX-License-Identifier: BSD-3-Clause
"""Forces and torques on links that are inputs, and springs between points of links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kanecore.errors import ModelError

from .number_nodes import number, triple
from .placed_links import PlacedLinks
from .rigid_poses import Pose
from .robot import LineSpring
from .robot_options import three_numbers

__all__ = ["add_forces", "add_spring", "add_torques"]

_AXES_OF = ("world", "link")


def add_spring(links: PlacedLinks, spring: LineSpring) -> None:
    """Add a spring and damper on the line between two points."""
    b, g = links.builder, links.builder.graph
    points = [links.end(link, pose, spring.name).point for link, pose in spring.ends]
    length, rate = b.line()
    stretched = g.sub(length, number(b, spring.rest))
    pull = g.add(g.mul(number(b, spring.stiffness), stretched), g.mul(number(b, spring.damping), rate))
    b.tendon(points, g.neg(pull), kind="spring")


def add_forces(links: PlacedLinks, forces: Any) -> None:
    """Add forces on points of links as inputs; ``forces`` as in `kanecore.Model.from_urdf`."""
    b, says = links.builder, '(link, (x, y, z)), or (link, (x, y, z), "link"), the point in the axes of the link'
    for name, parts in _named_loads("forces", forces, says):
        link, place, axes = (*parts, (0.0, 0.0, 0.0), "world")[:3] if len(parts) == 1 else (*parts, "world")[:3]
        spot = three_numbers(place)
        if spot is None or axes not in _AXES_OF or len(parts) > 3:
            raise ModelError(f"forces[{name!r}] is {parts!r}; it must be {says}")
        own = links.known(link).own_frame
        end = links.end(link, Pose(np.eye(3), spot), f"force {name}")
        force = triple([b.input(f"f_{name}_{axis}") for axis in "xyz"])
        b.force(end.point, ((b.inertial if axes == "world" else own, force),))


def add_torques(links: PlacedLinks, torques: Any) -> None:
    """Add torques on links as inputs; ``torques`` as in `kanecore.Model.from_urdf`."""
    b, says = links.builder, 'a link, or (link, "link"), in the axes of the link'
    for name, parts in _named_loads("torques", torques, says):
        link, axes = (*parts, "world")[:2]
        if axes not in _AXES_OF or len(parts) > 2:
            raise ModelError(f"torques[{name!r}] is {parts!r}; it must be {says}")
        own = links.known(link).own_frame
        torque = triple([b.input(f"t_{name}_{axis}") for axis in "xyz"])
        b.torque(own, ((b.inertial if axes == "world" else own, torque),))


def _named_loads(argument: str, loads: Any, says: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Names and places of loads: of a list of links, or by name."""
    if isinstance(loads, Mapping):
        for name, place in loads.items():
            parts = (place,) if isinstance(place, str) else place
            if not isinstance(name, str) or not isinstance(parts, Sequence) or not parts:
                raise ModelError(f"{argument}[{name!r}] is {place!r}; it must be {says}")
            yield name, tuple(parts)
        return
    if not isinstance(loads, Sequence) or isinstance(loads, (str, bytes)):
        raise ModelError(
            f'{argument} is {loads!r}; it must be a list of links, such as ["left foot"], a mapping of names, or []'
        )
    yield from ((link, (link,)) for link in loads)
