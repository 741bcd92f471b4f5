# SPDX-License-Identifier: BSD-3-Clause
"""Reader of SDFormat files with one model, which fills the records of a robot; each mistake is told with its line.

The format: http://sdformat.org/spec.
"""

from __future__ import annotations

from os import PathLike

import numpy as np

from kanecore.describe.robots.rigid_poses import product
from kanecore.describe.robots.robot import Inertial, Joint, Link, Robot
from kanecore.describe.robots.robot_source import root_of
from kanecore.describe.robots.tree_checks import checked_tree
from kanecore.describe.robots.xml_reader import Element
from kanecore.errors import ModelError

from .sdf_joints import SdfJoints
from .sdf_poses import WORLD, SdfPoses
from .sdf_shapes import shapes
from .sdf_values import SdfValues

__all__ = ["read_sdf"]


def read_sdf(source: str | PathLike[str], collisions: bool = False) -> Robot:
    """Robot of a file, or of a text that begins with ``<``; elements ``collision`` are read with ``collisions``.

    Raises
    ------
    ModelError
        The text is no SDFormat, or contains an unsupported part; the message says in which line.
    OSError
        The file cannot be read.
    """
    top, where, folder = root_of(source, "SDF")
    if top.tag != "sdf":
        raise ModelError(f"{where}, line {top.line}: the file begins with <{top.tag}>; SDFormat begins with <sdf>")
    values = SdfValues(where)
    try:
        major, minor = (int(part) for part in values.text(top, "version").split("."))
    except ValueError:
        raise values.fault(
            top, f"version is {top.attributes['version']!r}; it must be a version, such as 1.11"
        ) from None
    values.version = (major, minor)
    if len(top.children) != 1 or top.children[0].tag != "model":
        parts = ", ".join(f"<{child.tag}> in line {child.line}" for child in top.children) or "nothing"
        raise values.fault(top, f"<sdf> holds {parts}; one <model> is read, without a world and other models")
    return _robot(values, top.children[0], folder, collisions)


def _robot(values: SdfValues, top: Element, folder: str | None, collides: bool) -> Robot:
    name = values.text(top, "name")
    values.check_parts(top, f"model {name!r}")
    if values.is_true(top.first("static"), False):
        raise values.fault(top, f"model {name!r} is static: nothing moves")
    if "placement_frame" in top.attributes:
        raise values.fault(top, f"placement_frame of model {name!r} is not read: write the <pose> of the model itself")
    elements = top.all("link")
    if not elements:
        raise values.fault(top, f"model {name!r} has no link")
    poses = SdfPoses(values, top)
    links = [Link(WORLD, f"line {top.line}", None), *(_link(values, poses, each, collides) for each in elements)]
    found = SdfJoints(values, poses, top)
    found.float_free([link.name for link in links[1:]], f"line {top.line}")
    links += found.links
    joints = found.joints
    for frame in top.all("frame"):
        values.check_parts(frame, f"frame {frame.attributes['name']!r}")
        own = frame.attributes["name"]
        owner = poses.link_of(own, frame)
        at = poses.of(owner, frame).inverse() @ poses.of(own, frame)
        links.append(Link(own, f"line {frame.line}", None))
        joints.append(Joint(f"{own} mount", f"line {frame.line}", "fixed", owner, own, at, np.array([1.0, 0.0, 0.0])))
    by_name = {link.name: link for link in links}
    _, ordered = checked_tree(values.where, by_name, joints)
    n_collisions = sum(len(element.all("collision")) for element in elements)
    return Robot(
        *(name, values.where, WORLD, by_name, ordered, folder),
        n_collisions=n_collisions,
        closures=tuple(found.closures),
    )


def _link(values: SdfValues, poses: SdfPoses, element: Element, collides: bool) -> Link:
    name = element.attributes["name"]
    values.check_parts(element, f"link {name!r}")
    return Link(
        name,
        f"line {element.line}",
        _masses(values, poses, element, name),
        tuple(shapes(values, poses, element, "visual")),
        tuple(shapes(values, poses, element, "collision")) if collides else (),
        weighs=values.is_true(element.first("gravity"), True),
    )


def _masses(values: SdfValues, poses: SdfPoses, link: Element, name: str) -> Inertial:
    """The inertia of a link; what is not given is 1 kg and 1 kg m², as the format says."""
    element = link.first("inertial")
    if element is None:
        return Inertial(1.0, np.zeros(3), np.eye(3))
    values.check_parts(element, f"link {name!r}")
    if element.attributes.get("auto", "false").strip().lower() not in ("false", "0"):
        raise values.fault(element, f"the inertia of link {name!r} is that of its shapes, which is not read: write it")
    given = element.first("pose")
    pose = values.numbers_of_pose(given)
    if given is not None and (base := given.attributes.get("relative_to", "")):
        pose = poses.of(name, given).inverse() @ poses.of(base, given) @ pose
    mass = values.content(element, "mass", 1.0)
    if mass < 0.0:
        raise values.fault(element, f"the mass of link {name!r} is {mass:g}; it cannot be negative")
    entries, tensor = np.eye(3), element.first("inertia")
    if tensor is not None:
        values.check_parts(tensor, f"link {name!r}")
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
            entries[i, j] = entries[j, i] = values.content(tensor, f"i{'xyz'[i]}{'xyz'[j]}", float(i == j))
    return Inertial(mass, pose.position, product(product(pose.rotation, entries), pose.rotation.T))
