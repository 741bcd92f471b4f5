# SPDX-License-Identifier: BSD-3-Clause
"""Values of MJCF elements: their attributes over those of default classes, each mistake with its file and line.

Only what stands in the tables here is read.  Any other element or attribute is refused, unless it has no part in the
motion, such as colours and settings of the solver: nothing is left out in silence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanecore.describe.robots.robot_options import BEYOND
from kanecore.describe.robots.xml_reader import Element, parsed
from kanecore.errors import ModelError

__all__ = ["ORIENTATIONS", "SHORTCUTS", "Classes", "Values", "fault", "read", "unread"]

ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
SHORTCUTS = ("general", "motor", "position", "intvelocity", "velocity", "damper", "muscle")
"""Elements of actuators."""

# What is read of an element: NAME=DEFAULT, numbers or a word; NAME:COUNT, numbers without a default; NAME, a word
# without one.  Then what has no part in the motion.
_POSE = "pos=0,0,0 quat:4 axisangle:4 xyaxes:6 zaxis:3 euler:3"
_SOLVER = "solreffriction solimpfriction group user"
_LIMITS = "limited=auto range=0,0 solreflimit=.02,1 solimplimit=.9,.95,.001,.5,2 margin=0"
_FORCES = "stiffness=0,0,0 damping=0,0,0 armature=0 actuatorfrclimited=auto actuatorfrcrange=0,0"
_ACTUATOR = (
    "joint jointinparent tendon site refsite lengthrange=0,0 gear=1,0,0,0,0,0 damping=0,0,0 armature=0 "
    "ctrllimited=auto ctrlrange=0,0 forcelimited=auto forcerange=0,0"
)
_NINE = 9 * ",0"
_SOFT = "solref solimp"
_COMPILER = (
    "angle=degree eulerseq=xyz autolimits=true boundmass=0 boundinertia=0 settotalmass=-1 balanceinertia=false "
    "inertiafromgeom=auto inertiagrouprange=0,5 meshdir assetdir strippath=false coordinate=local alignfree=false "
    "fusestatic=false"
)
_OPTIONS = (
    "timestep impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance sleep_tolerance magnetic o_margin "
    "o_solref o_solimp o_friction integrator cone jacobian solver iterations ls_iterations noslip_iterations "
    "ccd_iterations sdf_iterations sdf_initpoints"
)
_JOINT = "type=hinge pos=0,0,0 axis=0,0,1 ref=0 springref=0 springdamper=0,0 frictionloss=0 actuatorgravcomp=false"
_GEOM = (
    f"type=sphere size=0,0,0 {_POSE} fromto:6 mass:1 density=1000 group=0 contype=1 conaffinity=1 condim=3 priority=0 "
    "friction=1,.005,.0001 mesh shellinertia=false fluidshape=none"
)
_GENERAL = (
    f"actlimited=auto actrange=0,0 gaintype=fixed gainprm=1{_NINE} biastype=none biasprm=0{_NINE} dyntype=none "
    f"dynprm=1{_NINE} actearly=false inheritrange=0"
)
_FORMS = {
    "compiler": (
        _COMPILER,
        "texturedir usethread fitaabb saveinertial savecompiled savecanonical passthrough conflict discardvisual",
    ),
    "option": ("gravity=0,0,-9.81 density=0 viscosity=0 wind=0,0,0", _OPTIONS),
    "body": (f"{_POSE} childclass mocap=false gravcomp=0", "sleep simple fuse user"),
    "frame": (f"{_POSE} childclass", ""),
    "inertial": (f"{_POSE.replace('=0,0,0', ':3')} mass:1 diaginertia=0,0,0 fullinertia:6", ""),
    "joint": (f"{_JOINT} {_LIMITS} {_FORCES}", _SOLVER),
    "freejoint": ("align=auto", "group"),
    "geom": (
        _GEOM,
        "material solmix solref solimp margin gap surfacevel adhesion hfield rgba castshadow fluidcoef fitscale user",
    ),
    "site": (f"type=sphere size=.005,.005,.005 {_POSE} fromto:6", "material rgba group user"),
    "mesh": (
        "file scale=1,1,1 inertia=legacy refpos=0,0,0 refquat=1,0,0,0",
        "content_type normal texcoord smoothnormal maxhullvert material",
    ),
    **dict.fromkeys(
        ("tendon", "fixed", "spatial"),
        (f"{_LIMITS} {_FORCES} springlength=-1,-1", f"{_SOLVER} frictionloss width material rgba"),
    ),
    "fixed joint": ("joint coef:1", ""),
    "spatial site": ("site", ""),
    "spatial pulley": ("divisor:1", ""),
    "equality": ("active=true", _SOFT),
    "connect": ("active=true body1 body2 anchor:3 site1 site2", _SOFT),
    "weld": ("active=true body1 body2 anchor=0,0,0 relpose=0,0,0,0,0,0,0 torquescale=1 site1 site2", _SOFT),
    "eqjoint": ("active=true joint1 joint2 polycoef=0,1,0,0,0", _SOFT),
    "eqtendon": ("active=true tendon1 tendon2 polycoef=0,1,0,0,0", _SOFT),
    "sensor": ("joint tendon actuator site objtype objname cutoff=0", "noise nsample interp delay interval user"),
    "key": ("time=0 qpos qvel act ctrl", "mpos mquat"),
    "general": (f"{_ACTUATOR} {_GENERAL}", "group user"),
    "motor": (_ACTUATOR, "group user"),
    "position": (f"{_ACTUATOR} kp:1 kv:1 dampratio:1 timeconst:1 inheritrange=0", "group user"),
    "intvelocity": (f"{_ACTUATOR} kp:1 kv:1 dampratio:1 inheritrange=0 actlimited=auto actrange=0,0", "group user"),
    "velocity": (f"{_ACTUATOR} kv:1", "group user"),
    "damper": (f"{_ACTUATOR} kv:1", "group user"),
    "muscle": (
        f"{_ACTUATOR} timeconst:2 tausmooth:1 range:2 force:1 scale:1 lmin:1 lmax:1 vmax:1 fpmax:1 fvmax:1",
        "group user",
    ),
}
_SHORTER = {
    *("size", "stiffness", "damping", "gear", "springlength", "gainprm", "biasprm", "dynprm", "polycoef", "friction"),
    *("solreflimit", "solimplimit"),
}
"""Attributes that may give fewer numbers: the others keep their defaults."""


def _form(text: str) -> dict[str, tuple[int, Any]]:
    """Attributes with the count of their numbers, 0 for a word, and their defaults."""
    form = dict[str, tuple[int, Any]]()
    for each in text.split():
        name, given, default = each.partition("=")
        if given and default[0] in "-.0123456789":
            numbers = tuple(map(float, default.split(",")))
            form[name] = len(numbers), numbers
        else:
            name, _, count = name.partition(":")
            form[name] = int(count or 0), default or None
    return form


_TABLES = {kind: (_form(text), {*idle.split(), "name", "class"}) for kind, (text, idle) in _FORMS.items()}


def fault(element: Element, message: str) -> ModelError:
    """ModelError that names the file and the line of an element."""
    return ModelError(f"{element.where}, line {element.line}: {message}")


def unread(element: Element, part: str = "") -> ModelError:
    """ModelError for an element, or a part of it, that only MuJoCo reads."""
    name = element.attributes.get("name")
    tag = f"<{element.tag} name={name!r}>" if name else f"<{element.tag}>"
    return fault(element, f"{part}{' of ' * bool(part)}{tag} is not read without MuJoCo: pip install mujoco")


@dataclass(frozen=True)
class Values:
    """Values of an element by attribute, tuples of numbers and words: those given, and those that have defaults."""

    element: Element
    data: Mapping[str, Any]

    def __contains__(self, name: str) -> bool:
        return name in self.data

    def numbers(self, name: str) -> list[float]:
        return list(self.data[name])

    def number(self, name: str) -> float:
        return float(self.data[name][0])

    def row(self, columns: str) -> dict[str, Any]:
        """Columns NAME, or NAME=ATTRIBUTE, with one number or several; a polynomial has its first number apart."""
        found = dict[str, Any]()
        for column, _, name in (each.partition("=") for each in columns.split()):
            numbers = self.numbers(name or column)
            if column in ("stiffness", "damping"):
                found |= {column: numbers[0], f"{column}poly": numbers[1:]}
            else:
                found[column] = numbers if len(numbers) > 1 else numbers[0]
        return found

    def word(self, name: str, options: Sequence[str]) -> int:
        """Place of a word among those that it may be."""
        if self.data[name] not in options:
            raise unread(self.element, f'{name}="{self.data[name]}"')
        return options.index(self.data[name])

    def true(self, name: str) -> bool:
        return self.word(name, ("false", "true")) == 1

    def limited(self, name: str, bounds: str, automatic: bool) -> bool:
        """Test whether a range counts: as it is said, or where it is one."""
        known, (low, high) = self.word(name, ("false", "true", "auto")), self.data[bounds]
        if known == 2 and not automatic and (low or high):
            raise fault(self.element, f'{bounds} is given without {name}: write autolimits="true", or {name}="true"')
        if known == 1 and low >= high:
            raise fault(self.element, f"{bounds} is {low:g} {high:g}; the first must be the smaller one")
        return low < high if known == 2 else known == 1


def read(kind: str, element: Element, base: Mapping[str, Any] | None = None) -> Values:
    """Values of an element of a kind over those of its class, by default over the defaults of its kind."""
    form, idle = _TABLES[kind]
    if base is None:
        base = {name: default for name, (_, default) in form.items() if default is not None}
    given = {name: text for name, text in element.attributes.items() if text.strip()}
    turns = [name for name in given if name in ORIENTATIONS]
    if len(turns) > 1:
        raise fault(element, f"<{element.tag}> has {' and '.join(turns)}: give one of them")
    values = {name: value for name, value in base.items() if not (turns and name in ORIENTATIONS)}
    for name, text in given.items():
        if name in form:
            count = form[name][0]
            values[name] = _numbers(element, name, text, count, values.get(name, ())) if count else text
        elif name not in idle:
            raise unread(element, name)
    return Values(element, values)


def _numbers(element: Element, name: str, text: str, count: int, base: tuple[float, ...]) -> tuple[float, ...]:
    try:
        found = tuple(parsed(text))
    except ValueError:
        found = ()
    least = 1 if name in _SHORTER else count
    if not all(map(math.isfinite, found)) or not least <= len(found) <= count:
        wanted = f"{'at most ' * (least < count)}{count} finite number{'s' * (count > 1)}"
        raise fault(element, f"{name} of <{element.tag}> is {text!r}; it must be {wanted}")
    if max(map(abs, found)) > BEYOND:
        raise fault(element, f"{name} of <{element.tag}> is {text!r}; no number may be beyond {BEYOND:g}")
    if name == "quat" and not any(found):
        raise fault(element, f"quat of <{element.tag}> is 0 0 0 0, and turns nothing: write 1 0 0 0")
    return found * 2 if name == "springlength" and len(found) == 1 else found + base[len(found) :]


class Classes:
    """Default classes: for each, and for each kind of element, the values that its elements begin with.

    Parameters
    ----------
    actuator : callable
        Reads the default of actuators, of an element and the values so far.
    """

    _KINDS = ("joint", "geom", "site", "mesh", "tendon", "equality")
    _PICTURES = ("material", "texture", "camera", "light", "pair")

    def __init__(self, actuator: Callable[[Element, Mapping[str, Any]], Values]) -> None:
        self._actuator, nothing = actuator, Element("default", {}, 0)
        main = {kind: dict(read(kind, nothing).data) for kind in (*self._KINDS, "general")}
        self._known = {"main": {**main, "actuator": {**main["general"], "shortcut": "general", "parent": None}}}

    def add(self, section: Element, parent: str = "") -> None:
        """Read a section <default>; a class begins with the values that its parent has by then."""
        name = section.attributes.get("class", "" if parent else "main")
        if not parent and name != "main":
            raise fault(section, f"the outermost <default> has the class {name!r}; it is 'main', or has none")
        if parent:
            if not name or name in self._known:
                raise fault(section, f"the default class {name!r} {'is there already' if name else 'has no name'}")
            above = self._known[parent]
            self._known[name] = {**above, "actuator": {**above["actuator"], "parent": above["actuator"]}}
        values = self._known[name]
        for element in section.children:
            if element.tag in self._KINDS:
                values[element.tag] = dict(read(element.tag, element, values[element.tag]).data)
            elif element.tag in SHORTCUTS:
                values["actuator"] = dict(self._actuator(element, values["actuator"]).data)
            elif element.tag not in (*self._PICTURES, "default"):
                raise unread(element)
        for element in section.all("default"):
            self.add(element, name)

    def check(self, element: Element, name: str) -> str:
        """A class; ModelError if there is none of this name."""
        if name not in self._known:
            raise fault(element, f"no default class is called {name!r}: there are {', '.join(self._known)}")
        return name

    def base(self, element: Element, kind: str, childclass: str = "main") -> dict[str, Any]:
        """Values that an element of a kind begins with: of its own class, or of the nearest childclass."""
        return self._known[self.check(element, element.attributes.get("class") or childclass)][kind]
