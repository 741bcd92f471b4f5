# SPDX-License-Identifier: BSD-3-Clause
"""Poses of links, joints and frames of an SDFormat model, relative to each other, and the links they move with."""

from __future__ import annotations

from kanecore.describe.robots.rigid_poses import Pose
from kanecore.describe.robots.xml_reader import Element
from kanecore.errors import ModelError, unknown_name

from .sdf_values import SdfValues

__all__ = ["MODEL", "WORLD", "SdfPoses"]

MODEL, WORLD = "__model__", "world"


class SdfPoses:
    """Poses in the frame of the model, and owners.

    Parameters
    ----------
    top : Element
        The model.
    """

    def __init__(self, values: SdfValues, top: Element) -> None:
        self._values, self._named = values, dict[str, Element]()
        for element in top.children:
            if element.tag in ("link", "joint", "frame"):
                name = values.text(element, "name")
                if name in (MODEL, WORLD) or "::" in name:
                    raise values.fault(element, f"a {element.tag} cannot be called {name!r}")
                if name in self._named:
                    line = self._named[name].line
                    raise values.fault(element, f"{element.tag} {name!r} has the name of what stands in line {line}")
                self._named[name] = element
        self._model = values.numbers_of_pose(top.first("pose"))
        links = [element for element in top.children if element.tag == "link"]
        self._canonical = top.attributes.get("canonical_link", "") or links[0].attributes["name"]
        self._known: dict[str, Pose] = {MODEL: Pose.same(), WORLD: self._model.inverse()}

    def in_world(self, name: str) -> Pose:
        """Pose of something in the world."""
        return self._model @ self.of(name, None)

    def of(self, name: str, asking: Element | None) -> Pose:
        """Pose of a link, joint or frame in the frame of the model; ``asking`` refers to it, for messages."""
        above = list[Element]()  # from the link up to one whose pose is known
        while name not in self._known:
            element = self.element(name, asking)
            if element in above:
                raise self._fault(element, f"the pose of {name!r} is relative to itself")
            above.append(element)
            given = element.first("pose")
            base = "" if given is None else given.attributes.get("relative_to", "")
            name, asking = base or self._default(element), given or element
        pose = self._known[name]
        for element in reversed(above):
            pose = pose @ self._values.numbers_of_pose(element.first("pose"))
            self._known[element.attributes["name"]] = pose
        return pose

    def link_of(self, name: str, asking: Element) -> str:
        """The link that something moves with; the world itself."""
        seen = list[str]()
        while name != WORLD:
            element = self.element(self._canonical if name == MODEL else name, asking)
            if element.tag == "link":
                return element.attributes["name"]
            if name in seen:
                raise self._fault(asking, f"{name!r} is attached to itself")
            seen.append(name)
            if element.tag == "frame":
                name = element.attributes.get("attached_to", "") or MODEL
            else:
                name = self._values.part(element, "child").text.strip()
        return WORLD

    def element(self, name: str, asking: Element | None) -> Element:
        """The link, joint or frame of a name."""
        if name not in self._named:
            unknown = unknown_name("link, joint or frame is called", name, [*self._named, WORLD, MODEL]).args[0]
            raise self._fault(asking, unknown)
        return self._named[name]

    def _default(self, element: Element) -> str:
        """Name of the frame of a pose without ``relative_to``."""
        if element.tag == "joint":
            return self._values.part(element, "child").text.strip()
        return (element.attributes.get("attached_to", "") if element.tag == "frame" else "") or MODEL

    def _fault(self, asking: Element | None, message: str) -> ModelError:
        return ModelError(f"{self._values.where}: {message}") if asking is None else self._values.fault(asking, message)
