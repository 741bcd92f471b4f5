# SPDX-License-Identifier: BSD-3-Clause
"""URDF files: links and joints of a robot, as numbers, in the order of the tree.

The format: http://wiki.ros.org/urdf/XML.  Each mistake is told with its line.
"""

from __future__ import annotations

import errno
import math
import os
import re
import reprlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, unknown_name

from .unread_elements import CLOSURES, SINGLE, SPRINGS, warn_of_unread
from .xml_reader import LARGEST, Element, read_xml

__all__ = [
    *("BEYOND", "Closure", "Inertial", "Joint", "LineSpring", "Link", "Mimic", "Pose", "Robot", "Visual", "finite"),
    *("product", "read_urdf"),
]

Array = npt.NDArray[np.float64]

TYPES = (*SINGLE, "spherical", "planar", "floating", "fixed")
_NAMES = {"ball": "spherical"}  # of types in other programs
_INSTEAD = {
    "universal": ": write two revolute joints, with a link without mass between them",
    "screw": ": write a revolute and a prismatic joint, of which one is the <mimic> of the other",
}

# Products of several such numbers, as of a mass and two distances, are numbers; a multiple of it is no size of a robot.
BEYOND = 1e50
_SMALLEST = sys.float_info.min  # nearer to zero numbers lose their digits, and 1 / x overflows
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)

_LONGEST_NAME = 1000  # of a file, in characters
_SHOWN = 60  # characters of a text in a message
_EXACT = 1e-15  # entries of a rotation that are nearer to 0 or 1 are meant to be that


def product(a: Array, b: Array) -> Any:
    """The product of small matrices and vectors, with its sums in order of the index.

    NumPy's ``@`` asks BLAS, which rounds differently on different processors: the same file would give other C.
    """
    if b.ndim == 2:
        return np.stack([product(a, column) for column in b.T], axis=-1)
    total = a[..., 0] * b[0]
    for k in range(1, len(b)):
        total = total + a[..., k] * b[k]
    return total


def finite(value: Any) -> float | None:
    """Check a number of an option: None if it is no number, or too large for a robot."""
    try:
        number = None if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number is not None and abs(number) <= BEYOND else None


def _parsed(text: str) -> list[float]:
    """The numbers in a text, as C reads them: no underscores, and no digits of other scripts; ValueError."""
    parts = text.split()
    if not all(map(_NUMBER.fullmatch, parts)):
        raise ValueError(text)
    return list(map(float, parts))


def _vanishes(part: str) -> bool:
    """Test whether a number is not zero, but too small for a double with all its digits."""
    return abs(float(part)) < _SMALLEST and any(digit in "123456789" for digit in part.lower().partition("e")[0])


@dataclass(frozen=True)
class Pose:
    """A frame in another: v_other = rotation @ v + position."""

    rotation: Array
    position: Array

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(product(self.rotation, other.rotation), product(self.rotation, other.position) + self.position)


@dataclass(frozen=True)
class Inertial:
    """The mass of a link, kg, its centre (3,), m, and its central inertia (3, 3), kg m², in the axes of the link."""

    mass: float
    centre: Array
    inertia: Array


@dataclass(frozen=True)
class Visual:
    """A box (edges), cylinder (radius, length along z) or sphere (radius) of a picture, about its pose in the link.

    Or a mesh, with the name of its file as it is written; its sizes are the scales along its axes.
    """

    kind: str
    sizes: tuple[float, ...]
    pose: Pose
    file: str = ""


@dataclass(frozen=True)
class Link:
    """A link, with its line in the file."""

    name: str
    line: int
    inertial: Inertial | None
    visuals: tuple[Visual, ...]
    collisions: tuple[Visual, ...] = ()


@dataclass(frozen=True)
class Mimic:
    """Rule of a joint that follows another one: q = multiplier q_joint + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class Joint:
    """A joint, with its line in the file.

    Attributes
    ----------
    origin : Pose
        Pose of the child in its parent, at q = 0.
    axis : ndarray, (3,)
        A unit vector, in the axes of the child.
    damping, friction : float
        N m s and N m, or N s/m and N.
    stiffness, rest : float
        A spring holds the joint by stiffness · (rest − q): N m and rad, or N/m and m.
    """

    name: str
    line: int
    kind: str
    parent: str
    child: str
    origin: Pose
    axis: Array
    mimic: Mimic | None
    damping: float
    friction: float
    stiffness: float = 0.0
    rest: float = 0.0


Ends = tuple[tuple[str, Pose], tuple[str, Pose]]  # two links, with a pose in the axes of each


@dataclass(frozen=True)
class Closure:
    """A joint that closes a loop: the origins of two poses coincide.

    ``kind`` is "point" for that alone, "weld" if their axes agree as well, "axis" if one axis of both does.
    """

    name: str
    ends: Ends
    kind: str
    axis: Array | None = None


@dataclass(frozen=True)
class LineSpring:
    """A spring and damper on the line between two points: stiffness · (length − rest) + damping · rate pulls."""

    name: str
    ends: Ends
    stiffness: float
    damping: float
    rest: float


@dataclass(frozen=True)
class Robot:
    """A tree of links; ``where`` names its file in messages.

    Attributes
    ----------
    folder : str, optional
        Folder of the file, to which names of meshes are relative; None for a text.
    root : str
        The link that is no child.
    links : dict of str to Link
    joints : tuple of Joint
        Each joint follows the one that carries its parent; joints of one parent are in the order of the file.
    n_collisions : int
        The elements ``collision`` of all links, which are read for contacts alone.
    closures : tuple of Closure
    springs : tuple of LineSpring
    """

    name: str
    where: str
    root: str
    links: dict[str, Link]
    joints: tuple[Joint, ...]
    folder: str | None = None
    n_collisions: int = 0
    closures: tuple[Closure, ...] = ()
    springs: tuple[LineSpring, ...] = ()


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
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        where, folder = "the URDF text", None
        top = read_xml(source.lstrip("\ufeff \t\r\n"), where)
    else:
        where, folder = str(source), str(Path(_named_file(source)).absolute().parent)
        try:
            with Path(source).open("rb") as file:
                content = file.read(LARGEST + 1)
        except (OSError, ValueError) as error:  # ValueError: a name that the system has no bytes for
            if isinstance(error, OSError) and error.errno != errno.ENAMETOOLONG and not re.search("[<\n]", where):
                raise
            shown = where if len(where) <= _SHOWN else f"{where[:_SHOWN]}..."
            why = error.strerror if isinstance(error, OSError) else error
            raise ModelError(f"{shown!a} names no file ({why}): give a path, or a text that begins with <") from None
        top = read_xml(content, where)
    if top.tag != "robot":
        raise ModelError(f"{where}, line {top.line}: the file begins with <{top.tag}>; a URDF begins with <robot>")
    return replace(_Reading(where, top, mimic, collisions).robot(), folder=folder)


def _named_file(source: Any) -> str:
    """Check a path; ModelError if it is none."""
    if not isinstance(source, (str, os.PathLike)) or not isinstance(name := os.fspath(source), str) or not name.strip():
        given = reprlib.repr(source)
        raise ModelError(f"source is {given}; it must be the path of a URDF file, or a text that begins with <")
    return name


class _Reading:
    """A document, as it is read."""

    def __init__(self, where: str, top: Element, mimic: bool, collisions: bool) -> None:
        self._where, self._top, self._mimics, self._collides = where, top, mimic, collisions

    def robot(self) -> Robot:
        for element in self._top.children:
            if element.tag.startswith("xacro:"):
                raise self._wrong(element, f"<{element.tag}> is xacro: run xacro on the file first")
        links = {link.name: link for link in map(self._link, self._once("link"))}
        joints = [self._joint(element, links) for element in self._once("joint", "drake:joint")]
        if not links:
            raise self._wrong(self._top, "there is no link")
        root = self._root(links, joints)
        self._check_mimics(joints)
        name = self._top.attributes.get("name", "") or "robot"
        n = sum(len(element.all("collision")) for element in self._top.all("link"))
        closures, springs = tuple(self._closures(links)), tuple(self._line_springs(links))
        warn_of_unread(self._top, self._where, {joint.name: joint.kind for joint in joints})
        return Robot(
            *(name, self._where, root, links, tuple(_from_root(root, joints))),
            n_collisions=n,
            closures=closures,
            springs=springs,
        )

    def _wrong(self, element: Element, message: str) -> ModelError:
        return ModelError(f"{self._where}, line {element.line}: {message}")

    def _once(self, *tags: str) -> list[Element]:
        """The links, or the joints, each with a name of its own."""
        lines: dict[str, int] = {}
        elements = [element for element in self._top.children if element.tag in tags]
        for element in elements:
            name = self._attribute(element, "name")
            if name in lines:
                raise self._wrong(element, f"a {tags[0]} named {name!r} stands in line {lines[name]} as well")
            lines[name] = element.line
        return elements

    # --------------------------------------------------------------------------------------------- attributes

    def _attribute(self, element: Element, name: str) -> str:
        value = element.attributes.get(name, "").strip()
        if not value:
            raise self._wrong(element, f'<{element.tag}> has no {name}: write {name}="..."')
        return value

    def _number(self, element: Element, name: str, default: float | None = None) -> float:
        if default is not None and name not in element.attributes:
            return default
        return self._numbers(element, name, 1)[0]

    def _numbers(self, element: Element, name: str, count: int, default: Sequence[float] = ()) -> list[float]:
        if default and name not in element.attributes:
            return list(default)
        text = self._attribute(element, name)
        try:
            values = _parsed(text)
        except ValueError:
            values = []
        if len(values) != count or not all(map(math.isfinite, values)):
            wanted = "one finite number" if count == 1 else f"{count} finite numbers"
            raise self._wrong(element, f"{name} of <{element.tag}> is {text!r}; it must be {wanted}")
        if max(map(abs, values)) > BEYOND:
            raise self._wrong(element, f"{name} of <{element.tag}> is {text!r}; no number may be beyond {BEYOND:g}")
        if any(map(_vanishes, text.split())):
            raise self._wrong(element, f"{name} of <{element.tag}> is {text!r}; write 0 for what is so small")
        return values

    def _child_numbers(self, element: Element, tag: str, count: int, default: Sequence[float] = ()) -> list[float]:
        """Numbers of an element of Drake: the attribute ``value`` of a child."""
        child = element.first(tag)
        if child is None and not default:
            raise self._wrong(element, f"<{element.tag}> has no <{tag}>")
        return list(default) if child is None else self._numbers(child, "value", count)

    def _loss(self, dynamics: Element | None, name: str, joint: str) -> float:
        """The damping or the friction of a joint."""
        loss = 0.0 if dynamics is None else self._number(dynamics, name, 0.0)
        if dynamics is not None and loss < 0.0:
            raise self._wrong(
                dynamics, f"the {name} of joint {joint!r} is {loss:g}; it takes energy, and is not negative"
            )
        return loss

    def _pose(self, element: Element | None) -> Pose:
        """Pose of an <origin>."""
        if element is None:
            return Pose(np.eye(3), np.zeros(3))
        zero = (0.0, 0.0, 0.0)
        return Pose(_rotation(self._numbers(element, "rpy", 3, zero)), np.array(self._numbers(element, "xyz", 3, zero)))

    # -------------------------------------------------------------------------------------------------- links

    def _link(self, element: Element) -> Link:
        inertial = element.first("inertial")
        collisions = element.all("collision") if self._collides else []
        return Link(
            self._attribute(element, "name"),
            element.line,
            None if inertial is None else self._masses(inertial),
            tuple(visual for each in element.all("visual") for visual in self._visual(each)),
            tuple(shape for each in collisions for shape in self._collision(each)),
        )

    def _collision(self, element: Element) -> list[Visual]:
        """Shapes of a <collision>; a capsule is one of some programs."""
        geometry = element.first("geometry")
        capsule = None if geometry is None else geometry.first("capsule")
        if capsule is None:
            return self._visual(element)
        sizes = tuple(self._number(capsule, name) for name in ("radius", "length"))
        return [Visual("capsule", sizes, self._pose(element.first("origin")))] if min(sizes) > 0.0 else []

    def _visual(self, element: Element) -> list[Visual]:
        """Shapes of a <visual>; none if it has no size, or is a mesh that nothing could draw."""
        geometry = element.first("geometry")
        for kind, names in (("box", ("size",)), ("cylinder", ("radius", "length")), ("sphere", ("radius",))):
            shape = None if geometry is None else geometry.first(kind)
            if shape is not None:
                count = 3 if kind == "box" else 1
                sizes = [size for name in names for size in self._numbers(shape, name, count)]
                return [Visual(kind, tuple(sizes), self._pose(element.first("origin")))] if min(sizes) > 0.0 else []
        mesh = None if geometry is None else geometry.first("mesh")
        return [] if mesh is None else self._mesh(mesh, element)

    def _mesh(self, mesh: Element, element: Element) -> list[Visual]:
        """Mesh, whose file is not read before a picture is drawn: faults in it are not those of the robot."""
        file = mesh.attributes.get("filename", "").strip()
        try:
            scale = _parsed(mesh.attributes.get("scale", "1 1 1"))
        except ValueError:
            return []
        scale = 3 * scale if len(scale) == 1 else scale
        if (
            not 0 < len(file) <= _LONGEST_NAME
            or len(scale) != 3
            or not all(_SMALLEST <= abs(x) <= BEYOND for x in scale)
        ):
            return []
        pose = self._pose(element.first("origin"))
        mirrored = Pose(pose.rotation * np.sign(scale), pose.position)
        return [Visual("mesh", tuple(map(abs, scale)), mirrored, file)]

    def _masses(self, element: Element) -> Inertial:
        given, tensor = element.first("mass"), element.first("inertia")
        if given is None or tensor is None:
            raise self._wrong(element, f"<inertial> has no <{'mass' if given is None else 'inertia'}>")
        mass = self._number(given, "value")
        if mass < 0.0:
            raise self._wrong(given, f"the mass is {mass:g}; it cannot be negative")
        entries = np.zeros((3, 3))
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
            entries[i, j] = entries[j, i] = self._number(tensor, f"i{'xyz'[i]}{'xyz'[j]}")
        pose = self._pose(element.first("origin"))
        return Inertial(mass, pose.position, product(product(pose.rotation, entries), pose.rotation.T))

    # ------------------------------------------------------------------------------------------------- joints

    def _joint(self, element: Element, links: dict[str, Link]) -> Joint:
        name, kind = self._attribute(element, "name"), self._attribute(element, "type")
        kind = _NAMES.get(kind, kind)
        if kind not in TYPES:
            raise self._wrong(
                element,
                f"joint {name!r} is of type {kind!r}; it must be one of {', '.join(TYPES)}{_INSTEAD.get(kind, '')}",
            )
        ends = []
        for side in ("parent", "child"):
            end = element.first(side)
            if end is None:
                raise self._wrong(element, f"joint {name!r} has no {side}: write <{side} link=...>")
            ends.append(self._known_link(end, "link", links))
        dynamics = element.first("dynamics")
        return Joint(
            name,
            element.line,
            kind,
            ends[0],
            ends[1],
            self._pose(element.first("origin")),
            self._axis(element.first("axis"), name, kind),
            self._mimic(element.first("mimic") or element.first("drake:mimic"))
            if self._mimics and kind != "fixed"
            else None,
            self._loss(dynamics, "damping", name),
            self._loss(dynamics, "friction", name),
            *(self._spring(name, dynamics) if kind in SINGLE else (0.0, 0.0)),
        )

    def _known_link(self, element: Element, attribute: str, links: dict[str, Link]) -> str:
        """Name of a link that an element names."""
        link = self._attribute(element, attribute)
        if link not in links:
            raise self._wrong(element, unknown_name("link is called", link, links).args[0])
        return link

    def _spring(self, joint: str, dynamics: Element | None) -> tuple[float, float]:
        """Stiffness and rest position of a joint, by attributes of <dynamics>, or elements of <gazebo>."""
        given: list[tuple[Element, float, float]] = []
        for stiffness, rest in SPRINGS:
            if dynamics is not None and stiffness in dynamics.attributes:
                given.append((dynamics, self._number(dynamics, stiffness), self._number(dynamics, rest, 0.0)))
        for block in self._top.all("gazebo"):
            k, at = block.first("springStiffness"), block.first("springReference")
            if block.attributes.get("reference") == joint and k is not None:
                given.append((k, self._text_number(k), 0.0 if at is None else self._text_number(at)))
        if len({spring[1:] for spring in given}) > 1:
            lines = ", ".join(str(element.line) for element, *_ in given)
            raise self._wrong(given[-1][0], f"joint {joint!r} has several springs, in lines {lines}: leave one")
        return given[0][1:] if given else (0.0, 0.0)

    def _text_number(self, element: Element) -> float:
        """The number that is the text of an element."""
        return self._number(Element(element.tag, {"text": element.text}, element.line), "text")

    def _axis(self, element: Element | None, name: str, kind: str) -> Array:
        axis = np.array([1.0, 0.0, 0.0] if element is None else self._numbers(element, "xyz", 3))
        axis /= np.max(np.abs(axis)) or 1.0  # squares of small numbers are zero
        length = math.sqrt(product(axis, axis))
        if kind in ("fixed", "floating", "spherical"):
            return np.array([1.0, 0.0, 0.0])
        if length == 0.0:
            raise self._wrong(element or self._top, f"the axis of joint {name!r} has length zero")
        return _cleaned(axis / length)

    def _mimic(self, element: Element | None) -> Mimic | None:
        if element is None:
            return None
        return Mimic(
            self._attribute(element, "joint"),
            self._number(element, "multiplier", 1.0),
            self._number(element, "offset", 0.0),
        )

    # ------------------------------------------------------------------------------------ loops and line springs

    def _ends(self, element: Element, links: dict[str, Link]) -> Ends:
        """Two links with poses, <link1 link=... xyz=... rpy=.../> and <link2 .../>."""
        return self._end(element, "link1", links), self._end(element, "link2", links)

    def _end(self, element: Element, side: str, links: dict[str, Link]) -> tuple[str, Pose]:
        end = element.first(side)
        if end is None:
            raise self._wrong(element, f"<{element.tag}> has no {side}: write <{side} link=... xyz=...>")
        return self._known_link(end, "link", links), self._pose(end)

    def _drake_ends(self, element: Element, links: dict[str, Link]) -> Ends:
        """Two bodies with points of Drake's elements, <TAG_body_A name=.../> and <TAG_p_AP value=.../>."""
        return self._drake_end(element, "A", "P", links), self._drake_end(element, "B", "Q", links)

    def _drake_end(self, element: Element, body: str, point: str, links: dict[str, Link]) -> tuple[str, Pose]:
        named = element.first(f"{element.tag}_body_{body}")
        if named is None:
            raise self._wrong(element, f"<{element.tag}> has no <{element.tag}_body_{body}>")
        place = self._child_numbers(element, f"{element.tag}_p_{body}{point}", 3)
        return self._known_link(named, "name", links), Pose(np.eye(3), np.array(place))

    def _closures(self, links: dict[str, Link]) -> Iterator[Closure]:
        """Joints that close loops: <loop_joint> of Isaac Sim and older Drake, <drake:ball_constraint>."""
        for element in self._once("loop_joint"):
            name, kind = self._attribute(element, "name"), self._attribute(element, "type")
            axis = element.first("axis")
            if kind not in CLOSURES or (CLOSURES[kind] == "axis" and axis is None):
                continue  # warned of
            along = self._axis(axis, name, kind) if CLOSURES[kind] == "axis" else None
            yield Closure(name, self._ends(element, links), CLOSURES[kind], along)
        for number, element in enumerate(self._top.all("drake:ball_constraint")):
            yield Closure(f"ball constraint {number}", self._drake_ends(element, links), "point")

    def _line_springs(self, links: dict[str, Link]) -> Iterator[LineSpring]:
        """Springs between points: <linear_spring_damper> of older Drake, <drake:linear_spring_damper>."""
        for element in self._top.all("force_element"):
            for spring in element.all("linear_spring_damper"):
                k, c, rest = (self._number(spring, name, 0.0) for name in ("stiffness", "damping", "rest_length"))
                name = element.attributes.get("name", "spring")
                yield LineSpring(name, self._ends(spring, links), k, c, rest)
        for spring in self._top.all("drake:linear_spring_damper"):
            [k], [c], [rest] = (
                self._child_numbers(spring, f"{spring.tag}_{name}", 1)
                for name in ("stiffness", "damping", "free_length")
            )
            yield LineSpring("spring", self._drake_ends(spring, links), k, c, rest)

    # --------------------------------------------------------------------------------------------- the tree

    def _root(self, links: dict[str, Link], joints: list[Joint]) -> str:
        parents: dict[str, Joint] = {}
        for joint in joints:
            if joint.child in parents:
                raise ModelError(
                    f"{self._where}, line {joint.line}: link {joint.child!r} is the child of joint {joint.name!r} and "
                    f"of {parents[joint.child].name!r}: a URDF is a tree; close loops with loops=[...]"
                )
            parents[joint.child] = joint
        roots = [name for name in links if name not in parents]
        if len(roots) > 1:
            names = ", ".join(f"{name!r} (line {links[name].line})" for name in roots[:5])
            raise ModelError(
                f"{self._where}: {len(roots)} links are no child of a joint: {names}{', ...' * (len(roots) > 5)}; a "
                "robot has one root"
            )
        reached = {joint.child for joint in _from_root(roots[0], joints)} if roots else set()
        lost = [joint for joint in joints if joint.child not in reached]
        if lost:
            raise ModelError(
                f"{self._where}, line {lost[0].line}: joint {lost[0].name!r} is part of a ring of joints, each the "
                "child of the next; a robot has one root"
            )
        return roots[0]

    def _check_mimics(self, joints: list[Joint]) -> None:
        by_name = {joint.name: joint for joint in joints}
        for joint in joints:
            seen, leader = {joint.name}, joint
            while leader.mimic is not None:
                name = leader.mimic.joint
                if name not in by_name:
                    unknown = unknown_name("joint is called", name, by_name).args[0]
                    raise ModelError(f"{self._where}, line {leader.line}: {unknown}")
                if name in seen:
                    raise ModelError(f"{self._where}, line {joint.line}: joint {joint.name!r} mimics itself")
                seen.add(name)
                leader = by_name[name]
            if joint.mimic is not None and not {joint.kind, leader.kind} <= set(SINGLE):
                raise ModelError(
                    f"{self._where}, line {joint.line}: joint {joint.name!r} ({joint.kind}) mimics {leader.name!r} "
                    f"({leader.kind}); only {', '.join(SINGLE)} joints mimic each other"
                )


def _from_root(root: str, joints: Iterable[Joint]) -> list[Joint]:
    """The joints that are reached from the root, each after the one that carries its parent."""
    of_parent: dict[str, list[Joint]] = {}
    for joint in joints:
        of_parent.setdefault(joint.parent, []).append(joint)
    ordered, waiting = [], of_parent.get(root, [])[::-1]
    while waiting:
        joint = waiting.pop()
        ordered.append(joint)
        waiting += of_parent.get(joint.child, [])[::-1]
    return ordered


def _rotation(rpy: Sequence[float]) -> Array:
    """Rotation about the fixed axes x, y, z by roll, pitch and yaw: v_parent = R v."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return _cleaned(
        np.array(
            [
                [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                [-sp, cp * sr, cp * cr],
            ]
        )
    )


def _cleaned(numbers: Array) -> Array:
    """Rotation matrix without the rounding errors of 0 and 1."""
    near = np.round(numbers)
    return np.where(np.abs(numbers - near) < _EXACT, near, numbers) + 0.0
