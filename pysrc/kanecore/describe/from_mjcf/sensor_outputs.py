# SPDX-License-Identifier: BSD-3-Clause
"""Sensors of a compiled MuJoCo model as outputs: of joints, tendons, actuators, and of frames of bodies.

Source: the documentation of MuJoCo 4.0, "XML Reference", element ``sensor``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kanecore.describe.mjcf_compiler.mujoco_enumerations import SENSED, SENSORS
from kanecore.describe.robots.number_nodes import number, triple
from kanecore.describe.robots.rigid_poses import Pose, from_unit_quaternion
from kanecore.graph.expression_graph import Op
from kanecore.graph.vectors import Components, dot

from .actuators import ActuatorNodes
from .body_tree import BodyTree
from .body_velocities import BodyVelocities
from .quaternion_nodes import product_of, quaternion_numbers, turn_of_body
from .tendon_lengths import Tendon

__all__ = ["add_sensors"]

_BODY, _XBODY, _GEOM, _SITE = (SENSED[each][1] for each in ("body", "xbody", "geom", "site"))
_POSES = {_BODY: ("body_ipos", "body_iquat"), _XBODY: (), _GEOM: ("geom_pos", "geom_quat")}
_POSES[_SITE] = ("site_pos", "site_quat")
_BODIES = {_GEOM: "geom_bodyid", _SITE: "site_bodyid"}
_UNCUT = ("ballquat", "framequat", "framexaxis", "frameyaxis", "framezaxis")
"""Quaternions and axes, which no cutoff clips."""
_ENDINGS = {1: ("",), 3: ("_x", "_y", "_z"), 4: ("_e0", "_e1", "_e2", "_e3")}


@dataclass
class _Frame:
    """A frame of a body: a site, a geom, the body's own axes or those of its inertia."""

    tree: BodyTree
    velocities: BodyVelocities
    name: str
    body: int
    place: npt.NDArray[np.float64]
    quaternion: npt.NDArray[np.float64]

    def _rows(self) -> list[list[int]]:
        """The rotation of the frame, v_world = R v."""
        links, own = self.tree.links, self.tree.placed(self.body).own_frame
        return links.orientation(links.turned(own, from_unit_quaternion(self.quaternion), self.name))

    def position(self) -> list[int]:
        pose = Pose(np.eye(3), self.place)
        return self.tree.links.position(self.tree.links.end(self.tree.name(self.body), pose, self.name).point)

    def axis(self, k: int) -> list[int]:
        return [row[k] for row in self._rows()]

    def turn(self) -> list[int]:
        own = quaternion_numbers(self.tree, self.quaternion.tolist())
        return product_of(self.tree.builder.graph, turn_of_body(self.tree, self.body, 0), own)

    def velocity(self, *, own_axes: bool) -> list[int]:
        place = triple([number(self.tree.builder, float(x)) for x in self.place])
        return self._in_axes(self.velocities.at(self.body, place), own_axes)

    def angular_velocity(self, *, own_axes: bool) -> list[int]:
        return self._in_axes(self.velocities.of(self.body)[1], own_axes)

    def _in_axes(self, v: Components, own_axes: bool) -> list[int]:
        """Components in the axes of the frame or of the world, from those in the axes of the body."""
        g, links = self.tree.builder.graph, self.tree.links
        if own_axes:
            columns = from_unit_quaternion(self.quaternion).T
            return [dot(g, [number(self.tree.builder, float(x)) for x in column], v) for column in columns]
        return [dot(g, row, v) for row in links.orientation(self.tree.placed(self.body).own_frame)]


def add_sensors(
    tree: BodyTree, velocities: BodyVelocities, tendons: Sequence[Tendon], actuators: Sequence[ActuatorNodes]
) -> list[str]:
    """Add the outputs of the sensors that are read, ``"NAME"``, or ``"NAME_x"``, ...; names of the others.

    One whose name is that of an input, or of an output of an actuator or tendon, is ``"NAME sensor"``.
    """
    m, b, left_out = tree.m, tree.builder, list[str]()
    taken = {f"{tree.names('actuator', i)} force" for i in range(m.nu)}
    taken |= {f"{tree.names('tendon', t)} length" for t in range(m.ntendon)} | {*b.inputs.names.values()}
    for i in range(m.nsensor):
        name, kind, k = tree.names("sensor", i), SENSORS[int(m.sensor_type[i])], int(m.sensor_objid[i])
        if kind in _OF_JOINTS:
            nodes = _OF_JOINTS[kind](tree, k)
        elif kind in _OF_TENDONS:
            nodes = [_OF_TENDONS[kind](tendons[k])]
        elif kind in _OF_ACTUATORS and actuators:
            nodes = [_OF_ACTUATORS[kind](actuators[k])]
        elif kind in _OF_FRAMES and int(m.sensor_objtype[i]) in _POSES and m.sensor_refid[i] < 0:
            nodes = _OF_FRAMES[kind](_frame(tree, velocities, name, int(m.sensor_objtype[i]), k))
        else:
            left_out.append(name)
            continue
        name += " sensor" if name in taken else ""
        for ending, node in zip(_ENDINGS[len(nodes)], nodes, strict=True):
            b.output(name + ending, _cut(tree, i, node))
    return left_out


def _frame(tree: BodyTree, velocities: BodyVelocities, name: str, kind: int, k: int) -> _Frame:
    m, place, turned = tree.m, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    if _POSES[kind]:
        place, turned = (np.array(getattr(m, field)[k]) for field in _POSES[kind])
    body = int(getattr(m, _BODIES[kind])[k]) if kind in _BODIES else k
    return _Frame(tree, velocities, name, body, place, turned)


def _cut(tree: BodyTree, i: int, node: int) -> int:
    """A value within the cutoff of its sensor."""
    b, limit = tree.builder, float(tree.m.sensor_cutoff[i])
    if limit <= 0.0 or SENSORS[int(tree.m.sensor_type[i])] in _UNCUT:
        return node
    return b.graph.binary(Op.MIN, b.graph.binary(Op.MAX, node, number(b, -limit)), number(b, limit))


_OF_JOINTS: dict[str, Callable[[BodyTree, int], list[int]]] = {
    "jointpos": lambda tree, j: [tree.q[int(tree.m.jnt_qposadr[j])]],
    "jointvel": lambda tree, j: [tree.u[int(tree.m.jnt_dofadr[j])]],
    "ballquat": lambda tree, j: tree.q[int(tree.m.jnt_qposadr[j]) :][:4],
    "ballangvel": lambda tree, j: tree.u[int(tree.m.jnt_dofadr[j]) :][:3],
}
_OF_TENDONS: dict[str, Callable[[Tendon], int]] = {
    "tendonpos": lambda tendon: tendon.length,
    "tendonvel": lambda tendon: tendon.rate,
}
_OF_ACTUATORS: dict[str, Callable[[ActuatorNodes], int]] = {
    "actuatorpos": lambda actuator: actuator.length,
    "actuatorvel": lambda actuator: actuator.rate,
    "actuatorfrc": lambda actuator: actuator.force,
}
_OF_FRAMES: dict[str, Callable[[_Frame], list[int]]] = {
    "velocimeter": lambda frame: frame.velocity(own_axes=True),
    "gyro": lambda frame: frame.angular_velocity(own_axes=True),
    "framepos": _Frame.position,
    "framequat": _Frame.turn,
    "framexaxis": lambda frame: frame.axis(0),
    "frameyaxis": lambda frame: frame.axis(1),
    "framezaxis": lambda frame: frame.axis(2),
    "framelinvel": lambda frame: frame.velocity(own_axes=False),
    "frameangvel": lambda frame: frame.angular_velocity(own_axes=False),
}
