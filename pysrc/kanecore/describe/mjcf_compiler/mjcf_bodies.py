# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of an MJCF file in the record: joints, geoms, sites and inertias, numbered depth first as MuJoCo does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.describe.robots.rigid_poses import from_unit_quaternion, product
from kanecore.describe.robots.xml_reader import Element

from .geom_masses import SIZES, Mass, primitive, together
from .mesh_masses import mesh_mass
from .mjcf_poses import SAME, At, along_z, composed, oriented, principal, unit
from .mjcf_record import Record
from .mjcf_values import ORIENTATIONS, Classes, Values, fault, read, unread
from .mujoco_enumerations import BALL, FREE, HINGE, SLIDE

__all__ = ["SPEEDS", "Bodies"]

Array = npt.NDArray[np.float64]

SPEEDS = (6, 3, 1, 1)
"""Speeds of a joint, by its type."""
_JOINTS = ("free", "ball", "slide", "hinge")
_GEOMS = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
_PARTS = {"joint": ("joint", "freejoint"), "geom": ("geom",), "site": ("site",)}
_SMALLEST = 1e-14  # of masses and inertias that count
_TINY = 1e-15  # of mass and inertia of what moves

Part = tuple[Element, At, str]
"""An element, and the frame and the class around it."""


@dataclass
class _Body:
    """A body as it stands in the file.

    Attributes
    ----------
    at : (position, quaternion)
        Its pose in its parent.
    own : (position, quaternion)
        The same in the <frame> around it.
    values : Values, optional
        None of the world.
    """

    element: Element
    at: At = SAME
    own: At = SAME
    values: Values | None = None
    parts: list[Part] = field(default_factory=list)
    inertial: tuple[Element, At] | None = None
    bodies: list[_Body] = field(default_factory=list)


class Bodies:
    """Reader of bodies.

    Attributes
    ----------
    places : list of (position, quaternion)
        Poses of the bodies in the world, where the joints are at ``qpos0``.
    springdampers : dict of int to (float, float)
        Time constants and damping ratios of joints.
    automatic : bool
        Whether a range that is given limits.
    """

    def __init__(
        self, record: Record, compiler: Values, classes: Classes, meshes: dict[str, Element], folder: Path
    ) -> None:
        self.record, self.compiler, self.classes, self.meshes = record, compiler, classes, meshes
        self.folder = folder / compiler.data.get("meshdir", compiler.data.get("assetdir", ""))
        self.degrees, self.sequence = compiler.word("angle", ("radian", "degree")) == 1, compiler.data["eulerseq"]
        self.automatic = compiler.true("autolimits")
        self.springdampers = dict[int, tuple[float, float]]()
        self.places = list[At]()
        self._last_speed = list[int]()  # of the chain of bodies to each one
        self._known_meshes = dict[str, tuple[float, Array, At]]()

    def add_all(self, sections: Iterable[Element]) -> None:
        """Add the world and all bodies."""
        world = _Body(Element("worldbody", {}, 0))
        for section in sections:
            world.element = Element(section.tag, {"name": "world"}, section.line, where=section.where)
            if section.attributes:
                raise fault(section, "<worldbody> has no attributes")
            self._collect(section, world, SAME, "main")
        world.element.attributes["name"] = "world"
        self._add(world, -1)

    def _collect(self, section: Element, body: _Body, frame: At, childclass: str) -> None:
        """Sort the children of an element, which stand in a frame of a body."""
        for child in section.children:
            if child.tag in ("joint", "freejoint", "geom", "site"):
                if child.children:
                    raise unread(child.children[0])
                body.parts.append((child, frame, childclass))
            elif child.tag == "inertial":
                if body.inertial is not None or body.values is None:
                    raise fault(child, "the world has no inertia" if body.inertial is None else "it stands twice")
                body.inertial = child, frame
            elif child.tag in ("frame", "body"):
                values = read(child.tag, child)
                own = oriented(values, self.degrees, self.sequence)
                at, name = composed(frame, own), self.classes.check(child, values.data.get("childclass", childclass))
                if child.tag == "frame":
                    self._collect(child, body, at, name)
                else:
                    body.bodies.append(_Body(child, at, own, values))
                    self._collect(child, body.bodies[-1], SAME, name)
            elif child.tag not in ("camera", "light"):
                raise unread(child)

    # ---------------------------------------------------------------------------------------------------- bodies
    def _add(self, body: _Body, parent: int) -> bool:
        """Add a body and those on it; whether it has mass, alone or with those that are fixed to it."""
        record, values = self.record, body.values
        joints, geoms, sites = ([part for part in body.parts if part[0].tag in tags] for tags in _PARTS.values())
        mocap = values is not None and values.true("mocap")
        if joints and values is None:
            raise fault(joints[0][0], "the world has no joint")
        if mocap and (parent or joints):
            raise fault(body.element, "a mocap body is a child of the world, and has no joints")
        self.places.append(composed(self.places[parent], body.at) if values else SAME)
        self._last_speed.append(self._last_speed[parent] if values else -1)
        number = record.count("body")
        masses = [mass for part in geoms for mass in self._geom(*part, number, self._counts(body))]
        mass = self._mass(body, masses) if values else Mass(0.0, np.zeros(3), SAME)
        row = {"parentid": max(parent, 0), "pos": body.at[0], "quat": body.at[1], "mass": mass.mass}
        row |= {"ipos": mass.at[0], "iquat": mass.at[1], "inertia": mass.inertia, "mocapid": -1}
        row |= {"jntnum": len(joints), "jntadr": record.count("jnt") if joints else -1}
        row |= {"geomnum": len(geoms), "geomadr": record.count("geom") - len(geoms) if geoms else -1}
        if mocap:
            row["mocapid"] = sum(each >= 0 for each in record.columns["body_mocapid"])
        record.add("body", body.element, row | {"gravcomp": values.number("gravcomp") if values else 0.0})
        kinds = [self._joint(*part, body, number) for part in joints]
        self._check_joints(kinds, body, parent)
        for part in sites:
            self._site(*part, number)
        has_mass = mass.mass >= _TINY and bool(np.all(mass.inertia >= _TINY))
        for child in body.bodies:
            heavy = self._add(child, number)
            has_mass |= heavy and not any(part[0].tag in _PARTS["joint"] for part in child.parts)
        if joints and not has_mass:
            raise fault(body.element, "the body moves, and neither it nor what is fixed to it has mass and inertia")
        return has_mass

    def _check_joints(self, kinds: Sequence[int], body: _Body, parent: int) -> None:
        if FREE in kinds and (len(kinds) > 1 or parent):
            raise fault(body.element, "a free joint stands alone, in a body on the world")
        if sum(SPEEDS[kind] for kind in kinds) > 6:
            raise fault(body.element, "the joints of the body have more than six degrees of freedom")
        if BALL in kinds and {BALL, HINGE} & {*kinds[kinds.index(BALL) + 1 :]}:
            raise fault(body.element, "in the body a ball joint is followed by one that turns")

    def _counts(self, body: _Body) -> bool:
        """Test whether the masses of a body's geoms count."""
        rule = self.compiler.word("inertiafromgeom", ("false", "true", "auto"))
        return body.values is not None and (rule == 1 or (rule == 2 and body.inertial is None))

    def _mass(self, body: _Body, masses: Sequence[Mass]) -> Mass:
        """The inertia of a body: of its geoms, or as it stands; within the bounds of the compiler."""
        mass = Mass(0.0, np.zeros(3), body.own)  # what has no mass has its centre there in MuJoCo
        if masses:
            mass = together(masses)
        elif body.inertial is not None:
            mass = self._own_inertia(*body.inertial)
        total = max(mass.mass, self.compiler.number("boundmass"))
        a, b, c = inertia = np.maximum(mass.inertia, self.compiler.number("boundinertia"))
        if a + b < c or a + c < b or b + c < a:
            if not self.compiler.true("balanceinertia"):
                raise fault(body.element, f"no body has the inertias {a:g} {b:g} {c:g}; balanceinertia evens them")
            inertia = np.full(3, (a + b + c) / 3.0)
        return Mass(total, inertia, mass.at)

    def _own_inertia(self, element: Element, frame: At) -> Mass:
        values = read("inertial", element)
        if "pos" not in values or "mass" not in values:
            raise fault(element, "<inertial> has no pos or no mass")
        inertia, at = np.array(values.numbers("diaginertia")), oriented(values, self.degrees, self.sequence)
        if "fullinertia" in values:
            if inertia.any() or any(name in values for name in ORIENTATIONS):
                raise fault(element, "<inertial> has fullinertia and diaginertia or an orientation: give one of them")
            xx, yy, zz, xy, xz, yz = values.numbers("fullinertia")
            inertia, axes = principal(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
            at = at[0], axes
            if min(inertia) < _SMALLEST and not self.compiler.number("boundinertia"):
                raise fault(element, "fullinertia is not positive")
        return Mass(values.number("mass"), inertia, composed(frame, at))

    # ----------------------------------------------------------------------------------------------------- parts
    def _joint(self, element: Element, frame: At, childclass: str, body: _Body, number: int) -> int:
        """Add a joint; its type."""
        record = self.record
        if element.tag == "freejoint":
            read("freejoint", element).word("align", ("false", "auto"))
            base = {**read("joint", Element("joint", {}, 0)).data, "type": "free"}
            values = Values(element, base)
        else:
            values = read("joint", element, self.classes.base(element, "joint", childclass))
        kind, radian = values.word("type", _JOINTS), math.pi / 180.0 if self.degrees else 1.0
        single, scale = kind in (SLIDE, HINGE), radian if kind == HINGE else 1.0
        axis, place = np.array([0.0, 0.0, 1.0]), np.zeros(3)
        if kind != FREE:
            place = composed(frame, (np.array(values.numbers("pos")), SAME[1]))[0]
        if single:
            axis = unit(product(from_unit_quaternion(frame[1]), np.array(values.numbers("axis"))))
            if not axis.any():
                raise fault(element, "the axis of the joint has no direction")
        limited = kind != FREE and values.limited("limited", "range", self.automatic)
        bounds = np.array(values.numbers("range")) * (radian if limited and kind in (BALL, HINGE) else 1.0)
        if limited and kind == BALL and bounds[0]:
            raise fault(element, "the first number of a ball's range is 0")
        force = single and values.limited("actuatorfrclimited", "actuatorfrcrange", self.automatic)
        row = values.row("stiffness margin actfrcrange=actuatorfrcrange solref=solreflimit solimp=solimplimit")
        row |= {"type": kind, "qposadr": len(record.qpos0), "dofadr": record.count("dof"), "bodyid": number}
        row |= {"pos": place, "axis": axis, "limited": limited, "range": bounds, "actfrclimited": force}
        joint = record.add("jnt", element, {**row, "actgravcomp": values.true("actuatorgravcomp")})
        start, spring = [*body.at[0], *body.at[1]] if kind == FREE else [1.0, 0.0, 0.0, 0.0], None
        if single:
            start, spring = [values.number("ref") * scale], [values.number("springref") * scale]
        record.qpos0 += start
        record.qpos_spring += spring or start
        row = values.row("damping armature frictionloss") | {"bodyid": number, "jntid": joint, "invweight0": 0.0}
        for _ in range(SPEEDS[kind]):
            self._last_speed[number] = record.add("dof", None, {**row, "parentid": self._last_speed[number]})
        time, ratio = values.numbers("springdamper")
        if time or ratio:
            if min(time, ratio) <= 0:
                raise fault(element, "springdamper is two positive numbers")
            self.springdampers[joint] = time, ratio
        return kind

    def _geom(self, element: Element, frame: At, childclass: str, body: int, counts: bool) -> list[Mass]:
        """Add a geom; its mass, if it has one that counts."""
        values = read("geom", element, self.classes.base(element, "geom", childclass))
        number, kind = values.word("type", _GEOMS), values.data["type"]
        values.word("fluidshape", ("none",))
        if ("mesh" in values) != (kind == "mesh"):
            raise unread(element, "a shape that is fitted to a mesh" if "mesh" in values else "a mesh without a name")
        sizes, at = self._placed(values, frame)
        if min(sizes[: SIZES.get(kind, 0)], default=1.0) <= 0:
            raise fault(element, f"the first {SIZES[kind]} of size must be positive")
        row: dict[str, Any] = {
            name: int(values.number(name)) for name in ("contype", "conaffinity", "condim", "priority")
        }
        row |= {"type": number, "bodyid": body, "pos": at[0], "quat": at[1], "size": sizes, "fluid": [0.0] * 12}
        self.record.add("geom", element, row | values.row("friction"))
        low, high = self.compiler.numbers("inertiagrouprange")
        return self._mass_of(values, kind, sizes, at) if counts and low <= values.number("group") <= high else []

    def _mass_of(self, values: Values, kind: str, sizes: Sequence[float], at: At) -> list[Mass]:
        given = values.number("mass") if "mass" in values else None
        if given == 0 or (given is None and values.number("density") == 0) or kind not in (*SIZES, "mesh"):
            return []
        if values.true("shellinertia"):
            raise unread(values.element, 'shellinertia="true"')
        if kind == "mesh":
            volume, inertia, own = self._mesh(values)
            at = composed(at, own)
        else:
            volume, inertia = primitive(kind, sizes)
        mass = values.number("density") * volume if given is None else given if volume > _SMALLEST else 0.0
        if mass < 0:
            raise fault(values.element, "the mass of the geom is negative")
        return [Mass(mass, mass * inertia, at)] if mass > _SMALLEST else []

    def _mesh(self, values: Values) -> tuple[float, Array, At]:
        name = values.data["mesh"]
        if name not in self.meshes:
            raise fault(values.element, f"no mesh is called {name!r}")
        if name not in self._known_meshes:
            element = self.meshes[name]
            mesh = read("mesh", element, self.classes.base(element, "mesh"))
            if "file" not in mesh or element.children:
                raise unread(element, "a mesh without a file")
            file = mesh.data["file"].replace("\\", "/")
            path = self.folder / (file.rpartition("/")[2] if self.compiler.true("strippath") else file)
            self._known_meshes[name] = mesh_mass(mesh, path)
        return self._known_meshes[name]

    def _placed(self, values: Values, frame: At) -> tuple[list[float], At]:
        """Sizes of a geom or site, and its pose in the body; it may be given by the ends of its axis."""
        sizes, kind = values.numbers("size"), values.data["type"]
        if "fromto" not in values:
            return sizes, composed(frame, oriented(values, self.degrees, self.sequence))
        ends = np.array(values.numbers("fromto"))
        span, long = ends[:3] - ends[3:], kind in ("ellipsoid", "box")
        if (
            kind not in ("capsule", "cylinder", "ellipsoid", "box")
            or any(values.numbers("pos"))
            or not unit(span).any()
        ):
            raise fault(
                values.element, "fromto is of capsules, cylinders, boxes, ellipsoids, without pos, with two ends"
            )
        half = 0.5 * math.sqrt(product(span, span))
        sizes = [sizes[0], sizes[0] if long else half, half if long else sizes[2]]
        return sizes, composed(frame, (0.5 * (ends[:3] + ends[3:]), along_z(unit(span))))

    def _site(self, element: Element, frame: At, childclass: str, body: int) -> None:
        values = read("site", element, self.classes.base(element, "site", childclass))
        values.word("type", _GEOMS[2:7])
        place, turn = self._placed(values, frame)[1]
        self.record.add("site", element, {"bodyid": body, "pos": place, "quat": unit(turn)})
