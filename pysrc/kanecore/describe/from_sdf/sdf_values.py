# SPDX-License-Identifier: BSD-3-Clause
"""Elements of an SDFormat file that are read, and that have no part in the motion; all others are refused by name."""

from __future__ import annotations

import numpy as np

from kanecore.describe.robots.element_values import ElementValues
from kanecore.describe.robots.rigid_poses import Pose, from_unit_quaternion, roll_pitch_yaw
from kanecore.describe.robots.xml_reader import Element

__all__ = ["SdfValues"]

_READ = {
    "model": "pose link joint frame static",
    "link": "pose inertial gravity visual collision",
    "inertial": "pose mass inertia",
    "inertia": "ixx ixy ixz iyy iyz izz",
    "frame": "pose",
    "joint": "parent child pose axis axis2 screw_thread_pitch thread_pitch drake:rotor_inertia drake:gear_ratio",
    "axis": "xyz use_parent_model_frame dynamics mimic",
    "dynamics": "damping friction spring_stiffness spring_reference",
    "mimic": "multiplier offset reference",
}
_IDLE = {
    "model": "self_collide allow_auto_disable plugin gripper",
    "link": "self_collide must_be_base_link plugin sensor light projector audio_source audio_sink battery "
    "particle_emitter",
    "joint": "physics sensor",
    "axis": "limit",
}
_OFF = {"model": "enable_wind", "link": "kinematic enable_wind velocity_decay"}
"""Elements that have no part in the motion where they are off."""


class SdfValues(ElementValues):
    """Values of the elements of one SDFormat file.

    Attributes
    ----------
    version : tuple of int
        Of the format.
    """

    version = (1, 0)

    def check_parts(self, element: Element, owner: str) -> None:
        """ModelError for a child that is not read, and may act on the motion; ``owner`` names the element."""
        kind = "axis" if element.tag == "axis2" else element.tag
        known, off = f"{_READ[kind]} {_IDLE.get(kind, '')}".split(), _OFF.get(kind, "").split()
        for child in element.children:
            idle = child.tag in off and not any(map(_is_on, [child, *child.children]))
            if child.tag not in known and not idle:
                raise self.fault(child, f"<{child.tag}> of {owner} is not read, and may act on the motion: take it out")

    def is_true(self, element: Element | None, default: bool) -> bool:
        """The truth of the text of an element."""
        if element is None:
            return default
        text = element.text.strip().lower()
        if text not in ("true", "false", "1", "0"):
            raise self.fault(element, f"<{element.tag}> is {element.text!r}; it must be true or false")
        return text in ("true", "1")

    def content(self, element: Element, tag: str, default: float | None = None) -> float:
        """The number in a child; without a default it must be there."""
        child = element.first(tag)
        if child is not None:
            return self.content_number(child)
        if default is None:
            raise self.fault(element, f"<{element.tag}> has no <{tag}>")
        return default

    def part(self, element: Element, tag: str) -> Element:
        """A child that must be there."""
        child = element.first(tag)
        if child is None:
            raise self.fault(element, f"<{element.tag}> has no <{tag}>")
        return child

    def numbers_of_pose(self, element: Element | None) -> Pose:
        """The numbers of a <pose>, whatever it is relative to."""
        if element is None or not element.text.strip():
            return Pose.same()
        form = element.attributes.get("rotation_format", "euler_rpy")
        if form not in ("euler_rpy", "quat_xyzw"):
            raise self.fault(element, f"rotation_format is {form!r}; it must be 'euler_rpy' or 'quat_xyzw'")
        if form == "quat_xyzw":
            x, y, z, i, j, k, w = self.content_numbers(element, 7)
            if not any((i, j, k, w)):
                raise self.fault(element, "the quaternion of <pose> is 0 0 0 0, and turns nothing: write 0 0 0 1")
            return Pose(from_unit_quaternion(np.array([w, i, j, k])), np.array([x, y, z]))
        x, y, z, *angles = self.content_numbers(element, 6)
        in_degrees = element.attributes.get("degrees", "false").strip().lower() in ("true", "1")
        turned = np.deg2rad(angles) if in_degrees else np.array(angles)
        return Pose(roll_pitch_yaw(turned.tolist()), np.array([x, y, z]))


def _is_on(element: Element) -> bool:
    """Test whether the text of an element is neither empty nor zero nor false."""
    return element.text.strip().lower() not in ("", "false", "0", "0.0")
