# SPDX-License-Identifier: BSD-3-Clause
"""Elements of a robot file that are not read: those that act on the motion, or may, are warned of, each with its line.

URDF lets programs add elements of their own.  Here stand those that are read, and those that have no part in the
motion, such as pictures, sensors and plugins; every other one is warned of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kanecore.describe.robots.robot import SINGLE
from kanecore.describe.robots.xml_reader import Element
from kanecore.errors import warn

from .transmissions import is_off, plain_name, rotor_of

__all__ = ["AXIAL", "LOOP_JOINTS", "SPRINGS", "is_closure", "warn_of_unread"]

SPRINGS = (("spring_stiffness", "spring_reference"), ("stiffness", "spring_mount"))
"""Attributes of <dynamics>: the first are those of SDFormat, the second of RaiSim."""
AXIAL = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slider", "cylindrical": "cylinder"}
"""Types of <loop_joint> that have an <axis>, with the kinds of closures."""
LOOP_JOINTS = {"spherical": "point", "ball": "point", "fixed": "weld", **AXIAL}
"""Types of <loop_joint>."""

_PARTS = {
    "robot": (
        "link joint drake:joint material transmission gazebo sensor plugin ros2_control fixed_frame frame mujoco "
        "loop_joint force_element drake:ball_constraint drake:linear_spring_damper drake:collision_filter_group "
        "actuator camera mujoco_camera light"
    ),
    "link": "inertial visual collision contact sensor camera audio_source self_collision_checking",
    "inertial": "origin mass inertia",
    "joint": (
        "origin parent child axis limit dynamics mimic drake:mimic calibration safety_controller hardwareInterface "
        "actuator sensor"
    ),
    "force_element": "linear_spring_damper",
    "linear_spring_damper": "link1 link2",
    "loop_joint": "link1 link2 axis limit",
    "mujoco": "compiler size",
    "gazebo": (
        # pictures, sensors, programs
        "plugin sensor material visual visualize ambient diffuse genTexCoord light provideFeedback pose canonical_link "
        # contacts and limits, which are not those of a model
        "collision selfCollide self_collide mu mu1 mu2 mu3 fdir1 kp kd maxVel minDepth maxContacts max_contacts slip1 "
        "slip2 laserRetro stopKp stopKd stopCfm stopErp enable_wind "
        # how its solver computes, and which links it merges
        "implicitSpringDamper cfmDamping fudgeFactor disableFixedJointLumping preserveFixedJoint allow_auto_disable "
        "springStiffness springReference"
    ),
}
_DYNAMICS = ("damping", "friction", *(name for pair in SPRINGS for name in pair))
_ROTORS = ("rotorinertia", "motorinertia", "gearinertia", "armature")

_ROTOR = (
    "give it, times the square of the gear ratio, by from_urdf(armature={joint: inertia}); or write the rotor as a "
    'link with that inertia, on a joint with <mimic joint=... multiplier="gear ratio"/>'
)
_FORCE = "give its force as an input by forces=[...], or take the element out"
_LOOP = (
    "close the loop by loops=[...], or by a <loop_joint> of type spherical, fixed, or with an <axis> revolute, "
    "prismatic or cylindrical"
)
_INSTEAD = {
    "joint": _LOOP,
    "gravity": "push the link up by its weight, by forces=[...], or set gravity=(0, 0, 0) for all",
    "turnGravityOff": "push the link up by its weight, by forces=[...], or set gravity=(0, 0, 0) for all",
    "static": "join the root and its links by joints of type fixed",
    "drake:linear_bushing_rpy": _FORCE,
    "drake:tendon_constraint": _LOOP,
    "constraints": _LOOP,
    "torsional_spring": 'write <dynamics spring_stiffness="..." spring_reference="..."/> in its joint',
}


def is_closure(loop_joint: Element) -> bool:
    """Test whether a <loop_joint> is of a type that is read, with an axis where it needs one."""
    kind = loop_joint.attributes.get("type", "").strip()
    return kind in LOOP_JOINTS and (kind not in AXIAL or loop_joint.first("axis") is not None)


def warn_of_unread(top: Element, where: str, joints: Mapping[str, str]) -> None:
    """Warn of each element that is not read and may act on the motion; ``joints`` are names with their types."""
    for element, what, remedy in _unread(top, joints):
        warn(f"{where}, line {element.line}: {what} is not read, and may act on the motion: {remedy}")


def _unread(top: Element, joints: Mapping[str, str]) -> Iterator[tuple[Element, str, str]]:
    """Elements that are not read, each with its description and the advice what to write instead."""
    yield from _strangers(top, "robot", "the robot")
    for block in top.children:
        name = block.attributes.get("name") or block.attributes.get("reference") or ""
        of = f"{block.tag} {name!r}" if name else f"<{block.tag}>"
        if block.tag in ("joint", "drake:joint"):
            yield from _strangers(block, "joint", of)
            yield from _dynamics(block, of)
        elif block.tag == "gazebo":
            yield from _of_gazebo(block, of, joints)
        elif block.tag == "loop_joint":
            yield from _strangers(block, block.tag, of)
            if not is_closure(block):
                yield block, of, _LOOP
        elif block.tag in _PARTS:
            yield from _strangers(block, block.tag, of)
        for part in block.children:
            if part.tag in ("inertial", "linear_spring_damper"):
                yield from _strangers(part, part.tag, of)
        if block.tag != "transmission" or rotor_of(block, joints) is None:
            yield from _rotors(block, of)


def _strangers(element: Element, kind: str, owner: str) -> Iterator[tuple[Element, str, str]]:
    """Children of unknown kinds, but for rotors, which `_rotors` finds at any depth."""
    known = _PARTS[kind].split()
    for child in element.children:
        if child.tag not in known and not _is_rotor(child.tag):
            yield child, f"<{child.tag}> of {owner}", _INSTEAD.get(child.tag, _FORCE)


def _of_gazebo(block: Element, owner: str, joints: Mapping[str, str]) -> Iterator[tuple[Element, str, str]]:
    kind = joints.get(block.attributes.get("reference", ""), "")
    known = _PARTS["gazebo"].split()
    for child in block.children:
        idle = is_off(child.text) and not child.children
        off = child.tag in ("turnGravityOff", "static", "dampingFactor") and idle
        on = child.tag == "gravity" and not child.children and not idle
        several = child.tag == "springStiffness" and kind not in (*SINGLE, "fixed") and not idle
        if several:
            yield child, f"the spring of {owner}, which is no joint with one coordinate,", _FORCE
        elif child.tag not in known and not off and not on and not _is_rotor(child.tag):
            yield child, f"<{child.tag}> of {owner}", _INSTEAD.get(child.tag, _FORCE)


def _dynamics(joint: Element, owner: str) -> Iterator[tuple[Element, str, str]]:
    """Attributes of <dynamics> that are not known, and springs of several coordinates."""
    single = joint.attributes.get("type") in (*SINGLE, "fixed")
    for element in joint.all("dynamics"):
        for name, value in element.attributes.items():
            stiff = name in [k for k, _ in SPRINGS] and not single
            if (name not in _DYNAMICS or stiff) and not is_off(value):
                yield element, f'{name}="{value}" of {owner}', _ROTOR if _is_rotor(name) else _FORCE


def _rotors(element: Element, owner: str) -> Iterator[tuple[Element, str, str]]:
    """Inertias of rotors, at any depth, which several programs write in a joint or a transmission."""
    for child in element.children:
        if _is_rotor(child.tag) and not is_off(child.attributes.get("value", child.text)):
            yield child, f"<{child.tag}> of {owner}", _ROTOR
        yield from _rotors(child, owner)


def _is_rotor(name: str) -> bool:
    return plain_name(name) in _ROTORS
