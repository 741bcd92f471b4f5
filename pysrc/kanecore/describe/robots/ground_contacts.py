# SPDX-License-Identifier: BSD-3-Clause
"""Contacts of a robot with the ground: points and spheres of its links that press on the plane z = 0, and their law."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.describe.load_makers import Contact, Surface
from kanecore.errors import ModelError, unknown_name, warn

from .number_nodes import constant_vector, number
from .placed_links import PlacedLink, PlacedLinks
from .robot import Robot, Solid
from .robot_options import finite

__all__ = ["ALL_SHAPES", "add_contacts", "contact_laws", "touch_at", "touching", "weight_of"]

Array = npt.NDArray[np.float64]
Laws = dict[str, dict[str, float]]
Spot = tuple[Array, float]

ALL_SHAPES = "collision"
"""In place of a link: all shapes by which links collide."""
_SAG = 1e-3  # m: depth at which one contact carries the weight of the robot, if no stiffness is given
_RIM = 8  # points of each rim of a cylinder
_DEFAULTS = {"radius": 0.0, "exponent": 1.5, "dissipation": 1.0, "mu": 0.8, "transition_velocity": 0.01, "smooth": 0.0}
_BRISTLES = ("bristle_stiffness", "bristle_damping", "mu_static", "stribeck_velocity")
_POSITIVE = ("stiffness", "transition_velocity", *_BRISTLES)


def add_contacts(links: PlacedLinks, robot: Robot, contacts: Any, gravity: float) -> bool:
    """Let links touch the ground z = 0: their origins, or the shapes by which they collide; whether these do.

    Parameters
    ----------
    contacts : mapping, "collision" or None
        As in `kanecore.Model.from_urdf`.
    gravity : float
        Its size, m/s²; a stiffness that is not given follows from it.
    """
    by_link = contact_laws(contacts, robot.links, weight_of(robot, gravity), "link")
    ground = Surface("plane", -1, links.builder.inertial, ((0, 0, 1),))
    for link, law in by_link.items():
        if link != ALL_SHAPES:
            _touch(links, link, links.by_name[link].own_point, law["radius"], law, ground)
    if ALL_SHAPES not in by_link:
        return False
    for link in [name for name in robot.links if name not in by_link and links.by_name[name].frame]:
        spots = [spot for shape in robot.links[link].collisions for spot in touching(link, shape)]
        touch_at(links, link, spots, links.by_name[link], by_link[ALL_SHAPES], ground)
    return True


def touch_at(
    links: PlacedLinks, name: str, spots: Sequence[Spot], placed: PlacedLink, law: dict[str, float], ground: Surface
) -> None:
    """Let points of a link touch the ground, each with the radius of a sphere about it."""
    b = links.builder
    for i, (place, radius) in enumerate(spots):
        spot = name if len(spots) == 1 else f"{name}_{i}"
        point = b.point(f"{spot} contact", placed.own_point, constant_vector(b, placed.own_frame, place))
        _touch(links, spot, point, radius, law, ground)


def weight_of(robot: Robot, gravity: float) -> float:
    """Weight of all links, N, on earth where there is no gravity."""
    return (gravity or 9.81) * sum(link.inertial.mass for link in robot.links.values() if link.inertial)


def _touch(links: PlacedLinks, name: str, point: int, radius: float, law: dict[str, float], ground: Surface) -> None:
    b = links.builder
    sizes = {each: number(b, law[each]) for each in Contact.NODES if each != "radius"}
    b.contact(Contact(name, point, number(b, radius), ground, **sizes))


def contact_laws(contacts: Any, names: Collection[str], weight: float, noun: str) -> Laws:
    """Laws of contact by name, or by "collision" for all others; numbers that are left out are set.

    Parameters
    ----------
    contacts : mapping, "collision" or None
    names : collection of str
        Parts that may touch, each a ``noun``.
    weight : float
        N; a stiffness that is not given carries it at one place.

    Raises
    ------
    ModelError
        It is none of these; no part has this name; a number that is not possible.
    """
    given = {ALL_SHAPES: {}} if contacts == ALL_SHAPES else contacts
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ModelError(
            f'contacts is {contacts!r}; write {{"left foot": {{"stiffness": 1e5, "mu": 0.8}}}}, or "collision"'
        )
    for name in given:
        if name != ALL_SHAPES and name not in names:
            raise ModelError(f"contacts: {unknown_name(f'{noun} is called', str(name), names).args[0]}")
    return {name: _law(name, law, weight) for name, law in given.items()}


def _law(link: Any, law: Any, weight: float) -> dict[str, float]:
    if not isinstance(law, Mapping):
        raise ModelError(
            f'contacts[{link!r}] is {law!r}; write numbers by name, such as {{"stiffness": 1e5, "mu": 0.8}}'
        )
    full = dict(_DEFAULTS)
    for name, value in law.items():
        known = [*_DEFAULTS, "stiffness", *_BRISTLES]
        if name not in known:
            raise ModelError(f"contacts[{link!r}]: {unknown_name('number is called', str(name), known).args[0]}")
        number = finite(value)
        if (
            number is None
            or number < 0.0
            or (name in _POSITIVE and not number)
            or (name == "exponent" and number < 1.0)
        ):
            least = "at least 1" if name == "exponent" else "positive" if name in _POSITIVE else "not negative"
            raise ModelError(f"contacts[{link!r}][{name!r}] is {value!r}; it must be a finite number, {least}")
        full[name] = number
    _check_bristles(link, law)
    return {"stiffness": weight / _SAG ** full["exponent"], **dict.fromkeys(_BRISTLES, 0.0), **full}


def _check_bristles(link: Any, law: Mapping[str, Any]) -> None:
    """ModelError where a number of friction by bristles lacks another one."""
    pairs = (("bristle_stiffness", "bristle_damping"), ("mu_static", "bristle_stiffness"))
    for one, other in (*pairs, *(pair[::-1] for pair in pairs[:1]), *(("mu_static", "stribeck_velocity"),)):
        if one in law and other not in law:
            raise ModelError(f"contacts[{link!r}] has {one!r} without {other!r}: write both")


def touching(link: str, shape: Solid) -> Iterator[Spot]:
    """Points of a shape that may touch, in the axes of the link, with the radius of the sphere about each."""
    local: list[tuple[tuple[float, ...], float]] = []
    if shape.kind == "sphere":
        local = [((0.0, 0.0, 0.0), shape.sizes[0])]
    elif shape.kind == "capsule":
        radius, length = shape.sizes
        local = [((0.0, 0.0, sign * length / 2), radius) for sign in (-1.0, 1.0)]
    elif shape.kind == "box":
        x, y, z = (size / 2 for size in shape.sizes)
        local = [((i * x, j * y, k * z), 0.0) for i in (-1.0, 1.0) for j in (-1.0, 1.0) for k in (-1.0, 1.0)]
    elif shape.kind == "cylinder":
        radius, length = shape.sizes
        angles = [2.0 * math.pi * i / _RIM for i in range(_RIM)]
        rim = [(radius * math.cos(a), radius * math.sin(a)) for a in angles]
        local = [((x, y, sign * length / 2), 0.0) for sign in (-1.0, 1.0) for x, y in rim]
    else:
        warn(
            f"link {link!r} collides by a mesh, {shape.file}, which is left out: only spheres, capsules, boxes and "
            "cylinders touch the ground; name a link on it in contacts, with a radius"
        )
    for place, radius in local:
        yield (shape.pose.rotation * np.array(place)).sum(axis=1) + shape.pose.position, radius
