# SPDX-License-Identifier: BSD-3-Clause
"""Loops and springs that programs write into URDF files by elements of their own: Drake, Gazebo, Isaac Sim, RaiSim."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from kanecore.describe.robots.element_values import ElementValues
from kanecore.describe.robots.rigid_poses import Pose
from kanecore.describe.robots.robot import Closure, LineSpring, LinkPose
from kanecore.describe.robots.xml_reader import Element

from .unread_elements import AXIAL, LOOP_JOINTS, is_closure
from .urdf_joints import joint_axis

__all__ = ["closures", "line_springs"]

Names = Collection[str]


def closures(values: ElementValues, top: Element, loop_joints: Sequence[Element], links: Names) -> Iterator[Closure]:
    """Joints that close loops: <loop_joint> of Isaac Sim and older Drake, <drake:ball_constraint>."""
    for element in loop_joints:
        name, kind = values.text(element, "name"), values.text(element, "type")
        axis = element.first("axis")
        if not is_closure(element):
            continue  # warned of
        (first, at_first), (second, at_second) = _ends(values, element, links)
        turned = Pose.about(joint_axis(values, axis, name, kind)) if axis is not None and kind in AXIAL else Pose.same()
        yield Closure(name, ((first, at_first @ turned), (second, at_second @ turned)), LOOP_JOINTS[kind])
    for number, element in enumerate(top.all("drake:ball_constraint")):
        yield Closure(f"ball constraint {number}", _drake_ends(values, element, links), "point")


def line_springs(values: ElementValues, top: Element, links: Names) -> Iterator[LineSpring]:
    """Springs between points: <linear_spring_damper> of older Drake, <drake:linear_spring_damper>."""
    for element in top.all("force_element"):
        for spring in element.all("linear_spring_damper"):
            k, c, rest = (values.number(spring, name, 0.0) for name in ("stiffness", "damping", "rest_length"))
            name = element.attributes.get("name", "spring")
            yield LineSpring(name, _ends(values, spring, links), k, c, rest)
    for spring in top.all("drake:linear_spring_damper"):
        [k], [c], [rest] = (
            values.child_numbers(spring, f"{spring.tag}_{name}", 1) for name in ("stiffness", "damping", "free_length")
        )
        yield LineSpring("spring", _drake_ends(values, spring, links), k, c, rest)


def _ends(values: ElementValues, element: Element, links: Names) -> tuple[LinkPose, LinkPose]:
    """Two links with poses, <link1 link=... xyz=... rpy=.../> and <link2 .../>."""
    return _end(values, element, "link1", links), _end(values, element, "link2", links)


def _end(values: ElementValues, element: Element, side: str, links: Names) -> LinkPose:
    end = element.first(side)
    if end is None:
        raise values.fault(element, f"<{element.tag}> has no {side}: write <{side} link=... xyz=...>")
    return values.known_link(end, "link", links), values.pose(end)


def _drake_ends(values: ElementValues, element: Element, links: Names) -> tuple[LinkPose, LinkPose]:
    """Two bodies with points of Drake's elements, <TAG_body_A name=.../> and <TAG_p_AP value=.../>."""
    return _drake_end(values, element, "A", "P", links), _drake_end(values, element, "B", "Q", links)


def _drake_end(values: ElementValues, element: Element, body: str, point: str, links: Names) -> LinkPose:
    named = element.first(f"{element.tag}_body_{body}")
    if named is None:
        raise values.fault(element, f"<{element.tag}> has no <{element.tag}_body_{body}>")
    place = values.child_numbers(element, f"{element.tag}_p_{body}{point}", 3)
    return values.known_link(named, "name", links), Pose(np.eye(3), np.array(place))
