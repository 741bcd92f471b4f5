# SPDX-License-Identifier: BSD-3-Clause
"""Joints of a URDF file: their types, axes, rules of mimics, losses and springs."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from kanecore.describe.robots.element_values import ElementValues
from kanecore.describe.robots.rigid_poses import direction
from kanecore.describe.robots.robot import KINDS, SINGLE, Joint, Mimic
from kanecore.describe.robots.xml_reader import Element

from .unread_elements import SPRINGS

__all__ = ["joint_axis", "joint_of"]

_NAMES = {"ball": "spherical"}  # of types in other programs
_INSTEAD = {
    "universal": ": write two revolute joints, with a link without mass between them",
    "screw": ": write a revolute and a prismatic joint, of which one is the <mimic> of the other",
}


def joint_of(values: ElementValues, element: Element, top: Element, links: Collection[str], mimics: bool) -> Joint:
    """Joint of an element <joint>; without ``mimics`` it moves independently.

    Parameters
    ----------
    top : Element
        The file, whose elements <gazebo> may hold the joint's spring.
    links : collection of str
        Names of all links.
    """
    name, kind = values.text(element, "name"), values.text(element, "type")
    kind = _NAMES.get(kind, kind)
    if kind not in KINDS:
        raise values.fault(
            element,
            f"joint {name!r} is of type {kind!r}; it must be one of {', '.join(KINDS)}{_INSTEAD.get(kind, '')}",
        )
    parent, child = (_link(values, element, side, name, links) for side in ("parent", "child"))
    dynamics = element.first("dynamics")
    stiffness, rest = _spring(values, dynamics, top, name) if kind in SINGLE else (0.0, 0.0)
    follows = mimics and kind != "fixed"
    return Joint(
        *(name, f"line {element.line}", kind, parent, child),
        origin=values.pose(element.first("origin")),
        axis=joint_axis(values, element.first("axis"), name, kind),
        mimic=_mimic(values, element.first("mimic") or element.first("drake:mimic")) if follows else None,
        damping=_loss(values, dynamics, "damping", name),
        friction=_loss(values, dynamics, "friction", name),
        stiffness=stiffness,
        rest=rest,
    )


def _link(values: ElementValues, element: Element, side: str, joint: str, links: Collection[str]) -> str:
    """Name of the parent or the child of a joint."""
    end = element.first(side)
    if end is None:
        raise values.fault(element, f"joint {joint!r} has no {side}: write <{side} link=...>")
    return values.known_link(end, "link", links)


def joint_axis(values: ElementValues, element: Element | None, name: str, kind: str) -> npt.NDArray[np.float64]:
    """Unit vector of an <axis>, (3,); x for joints without one."""
    axis = np.array([1.0, 0.0, 0.0] if element is None else values.numbers(element, "xyz", 3))
    if kind in ("fixed", "floating", "spherical"):
        return np.array([1.0, 0.0, 0.0])
    if not axis.any():
        assert element is not None
        raise values.fault(element, f"the axis of joint {name!r} has length zero")
    return direction(axis)


def _mimic(values: ElementValues, element: Element | None) -> Mimic | None:
    if element is None:
        return None
    return Mimic(
        values.text(element, "joint"),
        values.number(element, "multiplier", 1.0),
        values.number(element, "offset", 0.0),
    )


def _loss(values: ElementValues, dynamics: Element | None, name: str, joint: str) -> float:
    """The damping or the friction of a joint."""
    loss = 0.0 if dynamics is None else values.number(dynamics, name, 0.0)
    if dynamics is not None and loss < 0.0:
        raise values.fault(dynamics, f"the {name} of joint {joint!r} is {loss:g}; it takes energy, and is not negative")
    return loss


def _spring(values: ElementValues, dynamics: Element | None, top: Element, joint: str) -> tuple[float, float]:
    """Stiffness and rest position of a joint, by attributes of <dynamics>, or elements of <gazebo>."""
    springs: list[tuple[Element, float, float]] = []
    for stiffness, rest in SPRINGS:
        if dynamics is not None and stiffness in dynamics.attributes:
            springs.append((dynamics, values.number(dynamics, stiffness), values.number(dynamics, rest, 0.0)))
    for block in top.all("gazebo"):
        k, at = block.first("springStiffness"), block.first("springReference")
        if block.attributes.get("reference") == joint and k is not None:
            springs.append((k, values.content_number(k), 0.0 if at is None else values.content_number(at)))
    if len({spring[1:] for spring in springs}) > 1:
        lines = ", ".join(str(element.line) for element, *_ in springs)
        raise values.fault(springs[-1][0], f"joint {joint!r} has several springs, in lines {lines}: leave one")
    return springs[0][1:] if springs else (0.0, 0.0)
