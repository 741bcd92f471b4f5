# SPDX-License-Identifier: BSD-3-Clause
"""Compiler of MJCF files that needs no MuJoCo: the numbers of `mujoco.MjModel` that descriptions are read from."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from os import PathLike
from types import SimpleNamespace

import numpy as np

from kanecore.describe.robots.rigid_poses import from_unit_quaternion, product
from kanecore.describe.robots.xml_reader import Element, parsed
from kanecore.errors import ModelError

from .mjcf_actuators import add_actuator, read_actuator
from .mjcf_bodies import Bodies
from .mjcf_file import check_sections, read_mjcf, sections
from .mjcf_poses import SAME, composed, quaternion_product, unit
from .mjcf_record import Record
from .mjcf_values import Classes, Values, fault, read, unread
from .mujoco_enumerations import BALL, FLAGS, FREE, SLIDE
from .reference_inertia import ReferenceInertia

__all__ = ["compile_mjcf"]

_JOINT, _PULLEY, _SITE = 1, 2, 3  # of ``wrap_type``
_EQUALITIES = ("connect", "weld", "joint", "tendon")
_OF_BODIES, _OF_SITES = 1, 6  # of ``eq_objtype``
_SENSORS = {"velocimeter": 2, "gyro": 3, "jointpos": 9, "jointvel": 10, "tendonpos": 11, "tendonvel": 12}
_SENSORS |= {"actuatorpos": 13, "actuatorvel": 14, "actuatorfrc": 15, "ballquat": 18, "ballangvel": 19, "framepos": 26}
_SENSORS |= {
    "framequat": 27,
    "framexaxis": 28,
    "frameyaxis": 29,
    "framezaxis": 30,
    "framelinvel": 31,
    "frameangvel": 32,
}
"""Sensors that descriptions read, with their numbers."""
_SENSED = {"joint": (3, "jnt"), "tendon": (18, "tendon"), "actuator": (19, "actuator"), "site": (6, "site")}
_SENSED |= {"body": (1, "body"), "xbody": (2, "body"), "geom": (5, "geom")}
_MESH = 7  # of ``geom_type``
_SMALLEST = 1e-15  # of what divides
_INVERSE = np.array([1.0, -1.0, -1.0, -1.0])  # of a quaternion, part by part


def compile_mjcf(source: str | PathLike[str]) -> SimpleNamespace:
    """The record of a file, or of a text that begins with ``<``.

    Raises
    ------
    ModelError
        It cannot be read, is no MJCF, or has a part that only MuJoCo reads; the message says in which line.
    """
    top, folder = read_mjcf(source)
    check_sections(top)
    compiler, options = _merged(top, "compiler"), _merged(top, "option")
    for name, only in (("coordinate", "local"), ("alignfree", "false"), ("fusestatic", "false")):
        compiler.word(name, (only,))
    classes, record = Classes(read_actuator), Record()
    for section in top.all("default"):
        classes.add(section)
    bodies = Bodies(record, compiler, classes, dict(_meshes(top)), folder)
    bodies.add_all(top.all("worldbody"))
    rest = _Rest(record, bodies, classes)
    for element in sections(top, "tendon"):
        rest.add_tendon(element)
    for element in sections(top, "equality"):
        rest.add_equality(element)
    for element in sections(top, "actuator"):
        add_actuator(record, element, classes.base(element, "actuator"), bodies.automatic)
    for element in sections(top, "sensor"):
        rest.add_sensor(element)
    for element in sections(top, "keyframe"):
        rest.add_key(element)
    rest.scale_masses(compiler.number("settotalmass"))
    rest.scale_by_inertia()
    numbers = {name: options.number(name) for name in ("density", "viscosity")}
    vectors = {name: np.array(options.numbers(name)) for name in ("gravity", "wind")}
    flags = {"disableflags": _disabled(top), "disableactuator": 0}
    return record.as_model(top.attributes.get("model", "MuJoCo Model"), {**numbers, **vectors, **flags})


def _merged(top: Element, tag: str) -> Values:
    """Values of all sections of a kind, of which the last one holds."""
    values = read(tag, Element(tag, {}, 0))
    for section in top.all(tag):
        values = read(tag, section, values.data)
        for child in section.children:
            if child.tag not in ("flag", "lengthrange"):
                raise unread(child)
    return values


def _disabled(top: Element) -> int:
    """Bits of the flags that are switched off."""
    bits = 0
    for flag in (child for child in sections(top, "option") if child.tag == "flag"):
        for name, value in flag.attributes.items():
            if value not in ("enable", "disable"):
                raise fault(flag, f"{name} is {value!r}; it must be enable or disable")
            bit = 1 << FLAGS.index(name) if name in FLAGS else 0
            bits = bits | bit if value == "disable" else bits & ~bit
    return bits


def _meshes(top: Element) -> Iterator[tuple[str, Element]]:
    """Meshes by their names, which are those of their files by default."""
    known = set[str]()
    for element in (child for child in sections(top, "asset") if child.tag == "mesh"):
        file = element.attributes.get("file", "").replace("\\", "/").rpartition("/")[2]
        name = element.attributes.get("name") or file.rpartition(".")[0] or file
        if name in known:
            raise fault(element, f"the name {name!r} is that of another mesh")
        known.add(name)
        yield name, element


class _Rest:
    """Compiler of all sections but bodies: tendons, equality constraints, sensors, keyframes, numbers at ``qpos0``."""

    def __init__(self, record: Record, bodies: Bodies, classes: Classes) -> None:
        self.record, self.bodies, self.classes, self.c = record, bodies, classes, record.columns

    # --------------------------------------------------------------------------------------------------- tendons
    def add_tendon(self, element: Element) -> None:
        record, automatic = self.record, self.bodies.automatic
        if element.tag not in ("fixed", "spatial"):
            raise unread(element)
        values = read(element.tag, element, self.classes.base(element, "tendon"))
        start = record.count("wrap")
        for child in element.children:
            self._add_wrap(child, element.tag)
        self._check_path(element, start)
        rest = values.numbers("springlength")
        if rest == [-1.0, -1.0]:
            if element.tag == "spatial" and any(values.numbers("stiffness")) and record.qpos_spring != record.qpos0:
                raise unread(element, "the rest length, where joints have springref,")
            rest = 2 * [self._length(start, record.qpos_spring)]
        if rest[0] > rest[1] or values.number("armature") < 0:
            raise fault(element, "springlength is no range, or armature is negative")
        row = values.row("range stiffness damping armature margin actfrcrange=actuatorfrcrange")
        row |= values.row("solref_lim=solreflimit solimp_lim=solimplimit") | {"springyield": 0.0, "invweight0": 0.0}
        row |= {"adr": start, "num": record.count("wrap") - start, "lengthspring": rest}
        row["limited"] = values.limited("limited", "range", automatic)
        row["actfrclimited"] = values.limited("actuatorfrclimited", "actuatorfrcrange", automatic)
        record.add("tendon", element, {**row, "length0": self._length(start, record.qpos0)})

    def _check_path(self, element: Element, start: int) -> None:
        """ModelError for a path that is none: a joint twice, or a branch of fewer than two sites."""
        kinds, targets = self.c["wrap_type"][start:], self.c["wrap_objid"][start:]
        if element.tag == "fixed":
            if not kinds or len({*targets}) < len(targets):
                raise fault(element, "the tendon has no joint, or one of them twice")
            return
        branches = " ".join(str(k) for k in targets).split("-1")
        if kinds[:1] == [_PULLEY]:
            branches = branches[1:]
        for branch in (each.split() for each in branches):
            if len(branch) < 2 or any(one == other for one, other in itertools.pairwise(branch)):
                raise fault(element, "a branch of the tendon has fewer than two sites, or one of them twice in a row")

    def _add_wrap(self, child: Element, tag: str) -> None:
        kinds = {"fixed joint": (_JOINT, "coef"), "spatial site": (_SITE, ""), "spatial pulley": (_PULLEY, "divisor")}
        if f"{tag} {child.tag}" not in kinds:
            raise unread(child)
        values, target = read(f"{tag} {child.tag}", child), -1
        kind, number = kinds[f"{tag} {child.tag}"]
        if (number and number not in values) or (kind != _PULLEY and child.tag not in values):
            raise fault(child, f"<{child.tag}> of a tendon lacks {number or child.tag}")
        if kind != _PULLEY:
            target = self.record.find("jnt" if kind == _JOINT else "site", values.data[child.tag], child)
        if kind == _JOINT and self.c["jnt_type"][target] < SLIDE:
            raise fault(child, "a fixed tendon is of hinges and slides")
        if kind == _PULLEY and values.number(number) <= 0:
            raise fault(child, "the divisor of a pulley is positive")
        prm = values.number(number) if number else 0.0
        self.record.add("wrap", None, {"type": kind, "objid": target, "prm": prm})

    def _length(self, start: int, q: Sequence[float]) -> float:
        """Length of the last tendon: of joints at ``q``, of sites at ``qpos0``."""
        total, divisor, last = 0.0, 1.0, None
        for k in range(start, self.record.count("wrap")):
            kind, target, number = (self.c[f"wrap_{each}"][k] for each in ("type", "objid", "prm"))
            if kind == _JOINT:
                total += number * q[self.c["jnt_qposadr"][target]]
            elif kind == _PULLEY:
                divisor, last = number, None
            else:
                place = self.bodies.places[self.c["site_bodyid"][target]]
                here = composed(place, (self.c["site_pos"][target], SAME[1]))[0]
                total += 0.0 if last is None else math.sqrt(product(here - last, here - last)) / divisor
                last = here
        return total

    # -------------------------------------------------------------------------------------------------- equality
    def add_equality(self, element: Element) -> None:
        tag = element.tag
        if tag not in _EQUALITIES:
            raise unread(element)
        kind = f"eq{tag}" if tag in ("joint", "tendon") else tag
        base = {**read(kind, Element(tag, {}, 0)).data, **self.classes.base(element, "equality")}
        values, data, table = read(kind, element, base), [*(0.0,) * 10, 1.0, 0.0], 0
        if tag in ("joint", "tendon"):
            ends = self._ends(values, "jnt" if tag == "joint" else "tendon", f"{tag}1", f"{tag}2")
            data[:5] = values.numbers("polycoef")
        elif "site1" in values:
            ends, table = self._ends(values, "site", "site1", "site2"), _OF_SITES
        else:
            ends, table = self._ends(values, "body", "body1", "body2"), _OF_BODIES
            ends[1] = max(ends[1], 0)
            self._place(values, ends, data)
        self.record.add(
            "eq",
            element,
            {"type": _EQUALITIES.index(tag), "obj1id": ends[0], "obj2id": ends[1], "objtype": table, "data": data}
            | {"active0": values.true("active")},
        )

    def _ends(self, values: Values, table: str, *names: str) -> list[int]:
        """Numbers of both ends; −1 for a second one that is not given."""
        if names[0] not in values or (table == "site" and names[1] not in values):
            raise fault(values.element, f"<{values.element.tag}> has no {' or no '.join(names)}")
        found = [self.record.find(table, values.data[name], values.element) if name in values else -1 for name in names]
        if table == "jnt" and min(self.c["jnt_type"][end] for end in found if end >= 0) < SLIDE:
            raise fault(values.element, "<joint> is of hinges and slides")
        if found[0] == found[1] or (table == "body" and max(found) <= 0):
            raise fault(values.element, f"{names[0]} and {names[1]} are the same")
        return found

    def _place(self, values: Values, ends: Sequence[int], data: list[float]) -> None:
        """Set the points and axes of two bodies that coincide at ``qpos0``."""
        if "anchor" not in values:
            raise fault(values.element, "<connect> of bodies has no anchor")
        anchor, (one, other) = np.array(values.numbers("anchor")), (self.bodies.places[end] for end in ends)
        turns = [from_unit_quaternion(each[1]) for each in (one, other)]
        if values.element.tag == "connect":
            at = product(turns[0], anchor) + one[0]
            data[:6] = [*anchor, *product(turns[1].T, at - other[0])]
            return
        relative = values.numbers("relpose")
        if not any(relative[3:]):
            at = product(turns[1], anchor) + other[0]
            relative = [*product(turns[0].T, at - one[0]), *quaternion_product(one[1] * _INVERSE, other[1])]
        data[:11] = [*anchor, *relative[:3], *unit(relative[3:]), values.number("torquescale")]

    # -------------------------------------------------------------------------------------- sensors and keyframes
    def add_sensor(self, element: Element) -> None:
        """Add a sensor; one that is not read, is relative to a frame or on a mesh is there by name alone."""
        row = {"type": -1, "objtype": 0, "objid": -1, "refid": -1, "cutoff": 0.0}
        if element.tag in _SENSORS and "reftype" not in element.attributes:
            values = read("sensor", element)
            kind = next((name for name in _SENSED if name in values), str(values.data.get("objtype")))
            number, table = _SENSED.get(kind, (0, ""))
            name = values.data.get(kind, values.data.get("objname", ""))
            target = self.record.find(table, name, element) if table else -1
            if table and not (table == "geom" and self.c["geom_type"][target] == _MESH):
                row = {"type": _SENSORS[element.tag], "objtype": number, "objid": target, "refid": -1}
                row["cutoff"] = values.number("cutoff")
        self.record.add("sensor", element, row)

    def add_key(self, element: Element) -> None:
        values, record = read("key", element), self.record
        states = sum(kind > 0 for kind in self.c["actuator_dyntype"])
        counts = {"qvel": record.count("dof"), "act": states, "ctrl": record.count("actuator")}
        row = {"qpos": list(record.qpos0), **{name: [0.0] * count for name, count in counts.items()}}
        for name in (name for name in row if name in values):
            try:
                found = parsed(values.data[name])
            except ValueError:
                found = []
            if len(found) != len(row[name]):
                raise fault(element, f"{name} of the keyframe must be {len(row[name])} numbers")
            row[name] = found
        for kind, k in zip(self.c["jnt_type"], self.c["jnt_qposadr"], strict=True):
            if kind in (FREE, BALL):
                turn = slice(k + 3 * (kind == FREE), k + 3 * (kind == FREE) + 4)
                row["qpos"][turn] = unit(row["qpos"][turn]) if any(row["qpos"][turn]) else SAME[1]
        record.add("key", element, {"time": values.number("time"), **row})

    # --------------------------------------------------------------------------------- numbers that hold at qpos0
    def scale_masses(self, total: float) -> None:
        """Scale masses and inertias to a total, if one is given."""
        now = math.fsum(self.c["body_mass"])
        if total > 0 and now > 0:
            if min(mass for mass in self.c["body_mass"] if mass > 0) * min(1.0, total / now) < _SMALLEST:
                raise ModelError("settotalmass leaves a body nearly without mass: write the masses themselves")
            for name in ("body_mass", "body_inertia"):
                self.c[name] = [each * (total / now) for each in self.c[name]]

    def scale_by_inertia(self) -> None:
        """Set what follows from inertias at ``qpos0``: ``springdamper``, damping ratios, forces of muscles, limits."""
        c, inertia = self.c, ReferenceInertia(self.record, self.bodies.places)
        inertia.weigh()
        for joint, (time, ratio) in self.bodies.springdampers.items():
            speeds = [i for i, j in enumerate(c["dof_jntid"]) if j == joint]
            inertia.check(f"springdamper of joint {self.record.names['jnt'][joint]!r}")
            mass = len(speeds) / max(_SMALLEST, math.fsum(c["dof_invweight0"][i] for i in speeds))
            c["jnt_stiffness"][joint] = mass / max(_SMALLEST, (time * ratio) ** 2)
            for i in speeds:
                c["dof_damping"][i] = 2 * mass / max(_SMALLEST, time)
        for i in range(self.record.count("actuator")):
            gain, bias = c["actuator_gainprm"][i], c["actuator_biasprm"][i]
            scaled = [gain[0] == -bias[1] and bias[2] > 0]
            scaled += [
                c[f"actuator_{each}type"][i] == 2 and prm[2] < 0 for each, prm in (("gain", gain), ("bias", bias))
            ]
            if any(scaled):
                inertia.check(f"the damping ratio or scale of actuator {self.record.names['actuator'][i]!r}")
            if scaled[0]:
                bias[2] = -inertia.damping(i, bias[2])
            elif any(scaled):
                c["actuator_acc0"][i] = inertia.acceleration(i)
