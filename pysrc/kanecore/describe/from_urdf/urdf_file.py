# SPDX-License-Identifier: BSD-3-Clause
"""Reader of URDF files, which fills the records of a robot; each mistake is told with its line.

The format: http://wiki.ros.org/urdf/XML.
"""

from __future__ import annotations

from dataclasses import replace
from os import PathLike

import numpy as np

from kanecore.describe.robots.element_values import ElementValues
from kanecore.describe.robots.rigid_poses import product
from kanecore.describe.robots.robot import Inertial, Link, Robot
from kanecore.describe.robots.robot_source import root_of
from kanecore.describe.robots.tree_checks import checked_tree
from kanecore.describe.robots.xml_reader import Element
from kanecore.errors import ModelError

from .loops_and_springs import closures, line_springs
from .transmissions import reflected_inertias
from .unread_elements import warn_of_unread
from .urdf_joints import joint_of
from .urdf_shapes import shapes

__all__ = ["read_urdf"]


def read_urdf(source: str | PathLike[str], mimic: bool = True, collisions: bool = False) -> Robot:
    """Robot of a file, or of a text that begins with ``<``; without ``mimic`` all joints move independently.

    Elements ``collision`` are read with ``collisions``.  Beyond URDF closed loops and springs of Drake, Gazebo, Isaac
    Sim and RaiSim are read; what else acts on the motion, or may, is warned of.

    Raises
    ------
    ModelError
        The text is no URDF of a tree of links; the message says in which line.
    OSError
        The file cannot be read.
    """
    top, where, folder = root_of(source, "URDF")
    if top.tag != "robot":
        raise ModelError(f"{where}, line {top.line}: the file begins with <{top.tag}>; a URDF begins with <robot>")
    return _robot(ElementValues(where), top, folder, mimic, collisions)


def _robot(values: ElementValues, top: Element, folder: str | None, mimics: bool, collides: bool) -> Robot:
    _refuse_xacro(values, top)
    links = {link.name: link for link in (_link(values, e, collides) for e in _once(values, top, "link"))}
    elements = _once(values, top, "joint", "drake:joint")
    joints = [joint_of(values, element, top, links, mimics) for element in elements]
    kinds = {joint.name: joint.kind for joint in joints}
    rotors = reflected_inertias(values, top, kinds)
    joints = [replace(joint, armature=rotors.get(joint.name, 0.0)) for joint in joints]
    if not links:
        raise values.fault(top, "there is no link")
    root, ordered = checked_tree(values.where, links, joints)
    robot = Robot(
        *(top.attributes.get("name", "") or "robot", values.where, root, links, ordered, folder),
        n_collisions=sum(len(element.all("collision")) for element in top.all("link")),
        closures=tuple(closures(values, top, _once(values, top, "loop_joint"), links)),
        springs=tuple(line_springs(values, top, links)),
    )
    warn_of_unread(top, values.where, kinds)
    return robot


def _refuse_xacro(values: ElementValues, element: Element) -> None:
    """Raise ModelError for an element with xacro's prefix, at any depth."""
    if element.tag.startswith("xacro:"):
        raise values.fault(element, f"<{element.tag}> is xacro: run xacro on the file first")
    for child in element.children:
        _refuse_xacro(values, child)


def _once(values: ElementValues, top: Element, *tags: str) -> list[Element]:
    """The links, or the joints, each with a name of its own."""
    lines: dict[str, int] = {}
    elements = [element for element in top.children if element.tag in tags]
    for element in elements:
        name = values.text(element, "name")
        if name in lines:
            raise values.fault(element, f"a {tags[0]} named {name!r} stands in line {lines[name]} as well")
        lines[name] = element.line
    return elements


def _link(values: ElementValues, element: Element, collides: bool) -> Link:
    name, inertial = values.text(element, "name"), element.first("inertial")
    collisions = element.all("collision") if collides else []
    return Link(
        name,
        f"line {element.line}",
        None if inertial is None else _masses(values, inertial, name),
        tuple(solid for each in element.all("visual") for solid in shapes(values, each)),
        tuple(solid for each in collisions for solid in shapes(values, each)),
    )


def _masses(values: ElementValues, element: Element, link: str) -> Inertial:
    given, tensor = element.first("mass"), element.first("inertia")
    if given is None or tensor is None:
        part = '<mass value="..."/>' if given is None else '<inertia ixx="..." .../>, of zeros for a point of mass'
        raise values.fault(
            element,
            f"<inertial> of link {link!r} has no <{'mass' if given is None else 'inertia'}>: write {part}; or take "
            "<inertial> out for a link without mass",
        )
    mass = values.number(given, "value")
    if mass < 0.0:
        raise values.fault(given, f"the mass is {mass:g}; it cannot be negative")
    entries = np.zeros((3, 3))
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        entries[i, j] = entries[j, i] = values.number(tensor, f"i{'xyz'[i]}{'xyz'[j]}")
    pose = values.pose(element.first("origin"))
    return Inertial(mass, pose.position, product(product(pose.rotation, entries), pose.rotation.T))
