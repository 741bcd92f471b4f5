# SPDX-License-Identifier: BSD-3-Clause
"""Values of elements of robot files: names, finite numbers and poses; each mistake is told with its line."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from kanecore.errors import ModelError, unknown_name

from .rigid_poses import Pose, from_unit_quaternion, roll_pitch_yaw
from .robot_options import BEYOND, SMALLEST
from .xml_reader import Element, parsed

__all__ = ["ElementValues"]


class ElementValues:
    """Values of the elements of one file.

    Parameters
    ----------
    where : str
        The file, as messages name it.
    """

    def __init__(self, where: str) -> None:
        self.where = where

    def fault(self, element: Element, message: str) -> ModelError:
        """ModelError that names the file and the line of an element."""
        return ModelError(f"{self.where}, line {element.line}: {message}")

    def text(self, element: Element, name: str) -> str:
        """Attribute that must be there."""
        value = element.attributes.get(name, "").strip()
        if not value:
            raise self.fault(element, f'<{element.tag}> has no {name}: write {name}="..."')
        return value

    def number(self, element: Element, name: str, default: float | None = None) -> float:
        """Attribute that is one number; without a default it must be there."""
        if default is not None and name not in element.attributes:
            return default
        return self.numbers(element, name, 1)[0]

    def numbers(self, element: Element, name: str, count: int, default: Sequence[float] = ()) -> list[float]:
        """Attribute that is so many numbers; without a default it must be there."""
        if default and name not in element.attributes:
            return list(default)
        text = self.text(element, name)
        try:
            values = parsed(text)
        except ValueError:
            values = []
        if len(values) != count or not all(map(math.isfinite, values)):
            wanted = "one finite number" if count == 1 else f"{count} finite numbers"
            wanted += "; it is xacro: run xacro on the file first" if "$" in text else ""
            raise self.fault(element, f"{name} of <{element.tag}> is {text!r}; it must be {wanted}")
        if max(map(abs, values)) > BEYOND:
            raise self.fault(element, f"{name} of <{element.tag}> is {text!r}; no number may be beyond {BEYOND:g}")
        if any(map(_vanishes, text.split())):
            raise self.fault(element, f"{name} of <{element.tag}> is {text!r}; write 0 for what is so small")
        return values

    def content_number(self, element: Element) -> float:
        """The number that is the text of an element."""
        return self.content_numbers(element, 1)[0]

    def content_numbers(self, element: Element, count: int) -> list[float]:
        """So many numbers that are the text of an element."""
        return self.numbers(Element(element.tag, {"text": element.text}, element.line), "text", count)

    def child_numbers(self, element: Element, tag: str, count: int) -> list[float]:
        """Numbers of an element of Drake: the attribute ``value`` of a child."""
        child = element.first(tag)
        if child is None:
            raise self.fault(element, f"<{element.tag}> has no <{tag}>")
        return self.numbers(child, "value", count)

    def known_link(self, element: Element, attribute: str, links: Collection[str]) -> str:
        """Name of a link that an element names."""
        link = self.text(element, attribute)
        if link not in links:
            raise self.fault(element, unknown_name("link is called", link, links).args[0])
        return link

    def pose(self, element: Element | None) -> Pose:
        """Pose of an <origin> of URDF."""
        if element is None:
            return Pose.same()
        zero = (0.0, 0.0, 0.0)
        position = np.array(self.numbers(element, "xyz", 3, zero))
        if "quat_xyzw" not in element.attributes:
            return Pose(roll_pitch_yaw(self.numbers(element, "rpy", 3, zero)), position)
        if "rpy" in element.attributes:
            raise self.fault(element, f"<{element.tag}> has rpy and quat_xyzw: give one of the two")
        x, y, z, w = self.numbers(element, "quat_xyzw", 4)
        if not any((x, y, z, w)):
            raise self.fault(element, f"quat_xyzw of <{element.tag}> is 0 0 0 0, and turns nothing: write 0 0 0 1")
        return Pose(from_unit_quaternion(np.array([w, x, y, z])), position)


def _vanishes(part: str) -> bool:
    """Test whether a number is not zero, but too small for a double with all its digits."""
    return abs(float(part)) < SMALLEST and any(digit in "123456789" for digit in part.lower().partition("e")[0])
