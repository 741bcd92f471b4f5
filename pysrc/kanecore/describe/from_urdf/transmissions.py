# SPDX-License-Identifier: BSD-3-Clause
"""Rotors in elements <transmission>: an inertia with a gear ratio, of ROS, Drake and others, on one joint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kanecore.describe.robots.element_values import ElementValues
from kanecore.describe.robots.robot import SINGLE
from kanecore.describe.robots.xml_reader import Element

__all__ = ["is_off", "plain_name", "reflected_inertias", "rotor_of"]

_RATIOS = ("mechanicalreduction", "gearratio")
_INERTIAS = ("rotorinertia", "motorinertia")


def reflected_inertias(values: ElementValues, top: Element, kinds: Mapping[str, str]) -> dict[str, float]:
    """Inertia of the rotors of each joint, times the square of the gear ratio; ``kinds`` are those of all joints."""
    found: dict[str, float] = {}
    for transmission in top.all("transmission"):
        rotor = rotor_of(transmission, kinds)
        if rotor is not None:
            joint, inertia, ratio = rotor
            size = _number(values, inertia)
            if size < 0.0:
                raise values.fault(inertia, f"the rotor of joint {joint!r} has the inertia {size:g}, which is negative")
            if ratio is not None:
                size *= _number(values, ratio) ** 2
            found[joint] = found.get(joint, 0.0) + size
    return found


def rotor_of(transmission: Element, kinds: Mapping[str, str]) -> tuple[str, Element, Element | None] | None:
    """The joint of a transmission, the inertia of its rotor, and its gear ratio if it has one.

    None if there is not one inertia, on one joint that has one coordinate.
    """
    joints = [joint.attributes.get("name", "").strip() for joint in transmission.all("joint")]
    parts = list(_below(transmission))
    inertias = [part for part in parts if plain_name(part.tag) in _INERTIAS and not is_off(_text(part))]
    ratios = [part for part in parts if plain_name(part.tag) in _RATIOS]
    if len(joints) != 1 or len(inertias) != 1 or len(ratios) > 1 or kinds.get(joints[0]) not in SINGLE:
        return None
    return joints[0], inertias[0], next(iter(ratios), None)


def plain_name(tag: str) -> str:
    """The name of an element without prefix and underscores, in small letters."""
    return tag.rpartition(":")[2].replace("_", "").lower()


def is_off(text: str) -> bool:
    """Test whether an attribute or a text is zero, false or empty."""
    try:
        return float(text) == 0.0
    except ValueError:
        return text.strip().lower() in ("", "false")


def _below(element: Element) -> Iterator[Element]:
    for child in element.children:
        yield child
        yield from _below(child)


def _text(element: Element) -> str:
    return element.attributes.get("value", element.text)


def _number(values: ElementValues, element: Element) -> float:
    return values.content_number(Element(element.tag, {}, element.line, text=_text(element)))
