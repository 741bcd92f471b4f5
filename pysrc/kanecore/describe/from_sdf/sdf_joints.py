# SPDX-License-Identifier: BSD-3-Clause
"""Joints of an SDFormat model as records: those of the tree, and those that close loops."""

from __future__ import annotations

from dataclasses import replace
from math import pi
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.describe.robots.rigid_poses import Pose, direction, product
from kanecore.describe.robots.robot import Closure, Joint, Link, Mimic
from kanecore.describe.robots.xml_reader import Element
from kanecore.errors import warn

from .sdf_poses import MODEL, WORLD, SdfPoses
from .sdf_values import SdfValues

__all__ = ["SdfJoints"]

_KINDS = {
    **{kind: kind for kind in ("fixed", "revolute", "continuous", "prismatic")},
    "ball": "spherical",
    "universal": "revolute",
    "screw": "revolute",
}
_N_AXES = {"fixed": 0, "ball": 0, "universal": 2}  # 1 of others
_CLOSURES = {
    "ball": "point",
    "fixed": "weld",
    "revolute": "hinge",
    "continuous": "hinge",
    "prismatic": "slider",
}
_X = np.array([1.0, 0.0, 0.0])


class SdfJoints:
    """Records of the joints of one model.

    Attributes
    ----------
    joints : list of Joint
        Of the tree, with those by which free links float.
    links : list of Link
        Links without mass, between the joints of universal and screw joints, and in the frames of joints.
    closures : list of Closure
    """

    def __init__(self, values: SdfValues, poses: SdfPoses, top: Element) -> None:
        self._values, self._poses = values, poses
        self.joints: list[Joint] = []
        self.links: list[Link] = []
        self.closures: list[Closure] = []
        self._above: dict[str, str] = {}
        self._kinds = {element.attributes["name"]: element.attributes.get("type", "") for element in top.all("joint")}
        for element in top.all("joint"):
            self._add(element)

    def float_free(self, links: list[str], place: str) -> None:
        """Let each link that no joint moves float in the world, at q = 0 where the file places it."""
        for name in links:
            if name not in self._above:
                joint = name if name not in self._kinds else f"{name} floats"
                at = self._poses.in_world(name)
                self.joints.append(Joint(joint, place, "floating", WORLD, name, at, _X, driven=False))

    # ------------------------------------------------------------------------------------------------- one joint
    def _add(self, element: Element) -> None:
        values, name = self._values, element.attributes["name"]
        values.check_parts(element, f"joint {name!r}")
        kind = values.text(element, "type")
        if kind not in _KINDS:
            hint = ": write two joints of type revolute" if kind == "revolute2" else ""
            raise values.fault(
                element, f"joint {name!r} is of type {kind!r}; it must be one of {', '.join(_KINDS)}{hint}"
            )
        ends = [values.part(element, side) for side in ("parent", "child")]
        parent, child = (self._poses.link_of(end.text.strip(), end) for end in ends)
        if child == WORLD or parent == child:
            raise values.fault(element, f"joint {name!r} joins {parent!r} and {child!r}: its child is another link")
        at = self._poses.of(name, element)
        on_parent, on_child = (self._poses.of(link, element).inverse() @ at for link in (parent, child))
        if child in self._above or self._carries(child, parent):
            self._close(element, name, kind, (parent, on_parent), (child, on_child))
            return
        self._above[child] = parent
        self._join(element, kind, parent, child, on_parent, on_child)

    def _carries(self, link: str, other: str) -> bool:
        """Test whether a link carries another one in the tree so far."""
        while other != link and other in self._above:
            other = self._above[other]
        return other == link

    def _join(self, element: Element, kind: str, parent: str, child: str, on_parent: Pose, on_child: Pose) -> None:
        """Add a joint of the tree: one record for each of its axes, and a fixed one to a child that stands aside."""
        values, name, place = self._values, element.attributes["name"], f"line {element.line}"
        axes = [self._axis(element, tag) for tag in ("axis", "axis2")[: _N_AXES.get(kind, 1)]]
        records = [
            Joint(name, place, _KINDS[kind], parent, child, on_parent, direction, **self._dynamics(element, tag))
            for direction, tag in zip(axes or [_X], ("axis", "axis2"), strict=False)
        ]
        if kind == "universal":
            records = [replace(each, name=f"{name}_{i + 1}") for i, each in enumerate(records)]
        elif kind == "screw":
            slides = Mimic(name, self._advance(element), 0.0)
            slide = Joint(f"{name} slide", place, "prismatic", parent, child, on_parent, axes[0], slides, driven=False)
            records.append(slide)
        inertia, ratio = (element.first(f"drake:{part}") for part in ("rotor_inertia", "gear_ratio"))
        if inertia is not None:
            turns = 1.0 if ratio is None else values.content_number(ratio)
            records[0] = replace(records[0], armature=values.content_number(inertia) * turns**2)
        beside = on_child.inverse()
        if not (beside.turns_nothing and not beside.position.any()):
            records.append(Joint(f"{name} mount", place, "fixed", parent, child, beside, _X))
        for i, record in enumerate(records):  # a chain, from link to link
            below = child if record is records[-1] else f"{name} link" + (f" {i + 1}" if i else "")
            if below != child:
                self.links.append(Link(below, place, None))
            origin = record.origin if i == 0 or record.kind == "fixed" else Pose.same()
            self.joints.append(replace(record, parent=parent, child=below, origin=origin))
            parent = below

    def _close(self, element: Element, name: str, kind: str, *ends: tuple[str, Pose]) -> None:
        """Add a joint that closes a loop."""
        values = self._values
        if kind not in _CLOSURES:
            raise values.fault(
                element, f"joint {name!r} closes a loop by type {kind}, which is not read: let another joint close it"
            )
        axes = [self._axis(element, "axis")] if _N_AXES.get(kind, 1) else []
        losses = self._dynamics(element, "axis") if axes else {}
        acts = [part for part in ("stiffness", "damping", "friction", "mimic") if losses.get(part)]
        acts += ["a rotor"] * bool(element.all("drake:rotor_inertia"))
        what = f"joint {name!r} closes a loop, and has {' and '.join(acts)}"
        advice = "write it before the other joints of the loop, of which the last one closes it"
        if {"stiffness", "mimic", "a rotor"}.intersection(acts):
            raise values.fault(element, f"{what}: {advice}")
        if acts:
            warn(f"{values.where}, line {element.line}: {what}, which is left out: {advice}")
        turned = Pose.about(axes[0]) if axes else Pose.same()
        (first, at_first), (second, at_second) = ends
        self.closures.append(Closure(name, ((first, at_first @ turned), (second, at_second @ turned)), _CLOSURES[kind]))

    # ------------------------------------------------------------------------------------------------- its parts
    def _axis(self, element: Element, tag: str) -> npt.NDArray[np.float64]:
        """Unit vector of an axis, in the axes of the joint."""
        values, name = self._values, element.attributes["name"]
        axis = element.first(tag)
        if axis is None:
            raise values.fault(element, f"joint {name!r} has no <{tag}>: write <{tag}><xyz>0 0 1</xyz></{tag}>")
        values.check_parts(axis, f"joint {name!r}")
        given, old = axis.first("xyz"), axis.first("use_parent_model_frame")
        numbers = np.array([0.0, 0.0, 1.0] if given is None else values.content_numbers(given, 3))
        if not numbers.any():
            raise values.fault(axis, f"the {tag} of joint {name!r} has length zero")
        frame = "" if given is None else given.attributes.get("expressed_in", "")
        if not frame and (values.version < (1, 5) or values.is_true(old, False)):
            frame = MODEL
        if frame:
            to_joint = self._poses.of(name, element).rotation.T
            numbers = product(to_joint, product(self._poses.of(frame, given or axis).rotation, numbers))
        return direction(numbers)

    def _dynamics(self, element: Element, tag: str) -> dict[str, Any]:
        """Losses, spring and mimic of an axis."""
        values, name, axis = self._values, element.attributes["name"], element.first(tag)
        found: dict[str, Any] = {}
        if axis is None:
            return found
        for dynamics in axis.all("dynamics"):
            values.check_parts(dynamics, f"joint {name!r}")
            for record, part in (("damping",) * 2, ("friction",) * 2, ("stiffness", "spring_stiffness")):
                found[record] = values.content(dynamics, part, 0.0)
                if found[record] < 0.0:
                    raise values.fault(dynamics, f"the {part} of joint {name!r} is {found[record]}; it is not negative")
            found["rest"] = values.content(dynamics, "spring_reference", 0.0)
        for mimic in axis.all("mimic"):
            values.check_parts(mimic, f"joint {name!r}")
            leader = values.text(mimic, "joint")
            if self._kinds.get(leader) == "universal":
                leader += "_2" if mimic.attributes.get("axis", "axis") == "axis2" else "_1"
            factor = values.content(mimic, "multiplier")
            offset = values.content(mimic, "offset", 0.0) - factor * values.content(mimic, "reference", 0.0)
            found["mimic"] = Mimic(leader, factor, offset)
        return found

    def _advance(self, element: Element) -> float:
        """Advance of a screw, m/rad."""
        values, pitch, old = self._values, element.first("screw_thread_pitch"), element.first("thread_pitch")
        if pitch is not None:
            return values.content_number(pitch) / (2.0 * pi)
        if old is None:
            return 1.0 / (2.0 * pi)
        if (turns := values.content_number(old)) == 0.0:
            raise values.fault(old, "thread_pitch is 0; it is −2π by the advance of a turn: write <screw_thread_pitch>")
        return -1.0 / turns
