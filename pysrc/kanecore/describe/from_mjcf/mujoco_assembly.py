# SPDX-License-Identifier: BSD-3-Clause
"""The description of a compiled MuJoCo model: its smooth dynamics, M q̈ + bias = passive + actuator forces.

Source: the documentation of MuJoCo 4.0, "Computation".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kanecore.describe.builder import Builder
from kanecore.describe.mjcf_compiler.mujoco_enumerations import FREE, SLIDE
from kanecore.describe.reading import Addition, Keyframe, Reading, nothing_more
from kanecore.describe.robots.ground_contacts import weight_of
from kanecore.describe.robots.link_masses import add_bodies
from kanecore.describe.robots.placed_links import PlacedLinks
from kanecore.describe.robots.rigid_poses import from_unit_quaternion, product
from kanecore.describe.robots.robot import Inertial, Link, Robot, Solid
from kanecore.describe.robots.robot_assembly import named_joints
from kanecore.describe.robots.robot_options import RobotOptions
from kanecore.errors import ModelError
from kanecore.graph.expression_graph import Op

from .actuators import ActuatorNodes, add_actuators
from .body_tree import BodyTree
from .body_velocities import BodyVelocities
from .compiled_source import compiled
from .equality_rows import add_equality
from .geom_contacts import add_contacts, picture_of
from .limit_springs import add_limits
from .mujoco_source import Names, refuse_unread
from .named_numbers import NamedNumbers
from .passive_forces import Flags, add_passive_forces
from .sensor_outputs import add_sensors
from .sites import Sites
from .tendon_lengths import add_tendons

__all__ = ["MujocoOptions", "described_mujoco"]

_CHOICES = {"equality": ("exact", "ignore"), "limits": ("ignore", "spring")}


@dataclass(frozen=True)
class MujocoOptions:
    """Options by their names in `kanecore.Model.from_mjcf`, where each is explained."""

    parameters: bool = False
    actuators: bool = True
    equality: str = "exact"
    friction: float | None = None
    limits: str = "ignore"
    contacts: Any = None


def described_mujoco(source: Any, options: MujocoOptions, addition: Addition = nothing_more) -> Reading:
    """The description of a model of MuJoCo.

    Raises
    ------
    ModelError
        A part that is not read; MuJoCo refuses the file; an option is not what it must be.
    """
    for option, (one, other) in _CHOICES.items():
        if getattr(options, option) not in (one, other):
            raise ModelError(f"{option} is {getattr(options, option)!r}; it must be {one!r} or {other!r}")
    friction = RobotOptions(friction=options.friction).checked_friction()
    m = compiled(source)
    names = Names(m)
    refuse_unread(m, names)
    builder = Builder(names.model, "inertial")
    tree, flags = BodyTree(m, names, PlacedLinks(builder), NamedNumbers(builder, options.parameters)), Flags(m)
    tree.add_all()
    gravity = np.zeros(3) if "gravity" in flags.off else np.array(m.opt.gravity)
    robot = _robot(tree)
    values = add_bodies(tree.links, robot, gravity.tolist(), options.parameters)
    velocities = BodyVelocities(tree)
    sites = Sites(tree, velocities)
    sites.add_all()
    add_passive_forces(tree, velocities, flags)
    _add_friction(tree, friction)
    tendons = add_tendons(tree, sites, velocities, flags)
    actuators = list[ActuatorNodes]()
    if options.actuators:
        actuators = add_actuators(tree, tendons, sites, flags)
    else:
        for i in range(m.nv):
            tree.efforts[i].append(builder.input(f"tau_{tree.dof(i)}"))
    if options.limits == "spring" and not {"limit", "constraint"} & flags.off:
        add_limits(tree, tendons)
    for t, tendon in enumerate(tendons):
        builder.output(f"{names('tendon', t)} length", tendon.length)
        tendon.apply(tree, sites)
    tree.apply()
    unread = add_sensors(tree, velocities, tendons, actuators)
    if options.equality == "exact" and "equality" not in flags.off and "constraint" not in flags.off:
        add_equality(tree, tendons, sites)
    add_contacts(tree, options.contacts, weight_of(robot, math.hypot(*gravity)))
    complete = addition(builder)
    description = named_joints(builder.description(), _last_joints(tree))
    return complete(
        Reading(
            description,
            values=values | tree.numbers.values,
            notes=tuple(_notes(m, options, unread)),
            keyframes=_keyframes(m, names, options.actuators, len(description.states), len(description.inputs)),
        )
    )


def _keyframes(m: Any, names: Names, actuators: bool, n_states: int, n_inputs: int) -> dict[str, Keyframe]:
    """The poses that the file names, and the one of the file itself; states and inputs that were added are zero."""

    def keyframe(q: Any, u: Any, z: Any, r: Any) -> Keyframe:
        q = np.array(q, dtype=np.float64)
        for j in range(m.njnt):
            if m.jnt_type[j] < SLIDE:
                k = int(m.jnt_qposadr[j]) + 3 * (int(m.jnt_type[j]) == FREE)
                q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        states, inputs = np.zeros(n_states), np.zeros(n_inputs)
        if actuators:
            states[: m.na], inputs[: m.nu] = z, r
        return Keyframe(np.concatenate([q, u, states]), inputs)

    start = {"qpos0": keyframe(m.qpos0, np.zeros(m.nv), np.zeros(m.na), np.zeros(m.nu))}
    rows = (m.key_qpos, m.key_qvel, m.key_act, m.key_ctrl)
    return start | {names("key", k): keyframe(*(row[k] for row in rows)) for k in range(m.nkey)}


def _robot(tree: BodyTree) -> Robot:
    """Masses and shapes of the bodies."""
    m, links = tree.m, dict[str, Link]()
    for body in range(m.nbody):
        inertial = None
        if m.body_mass[body] > 0.0 and body:
            axes = from_unit_quaternion(m.body_iquat[body])
            tensor = product(product(axes, np.diag(m.body_inertia[body])), axes.T)
            inertial = Inertial(float(m.body_mass[body]), np.array(m.body_ipos[body]), 0.5 * (tensor + tensor.T))
        links[tree.name(body)] = Link(tree.name(body), "", inertial, tuple(_visuals(m, body)))
    return Robot(tree.names.model, tree.names.model, tree.name(0), links, ())


def _visuals(m: Any, body: int) -> Iterator[Solid]:
    for k in range(int(m.body_geomadr[body]), int(m.body_geomadr[body]) + int(m.body_geomnum[body])):
        if shape := picture_of(m, k):
            yield shape


def _add_friction(tree: BodyTree, friction: float | None) -> None:
    """Add the dry friction of joints, which turns over a speed."""
    if friction is None:
        return
    g = tree.builder.graph
    for i, u in enumerate(tree.u):
        if tree.m.dof_frictionloss[i]:
            turned = g.call(Op.TANH, g.mul(g.constant(1.0 / friction), u))
            loss = tree.numbers(f"frictionloss_{tree.dof(i)}", tree.m.dof_frictionloss[i])
            tree.efforts[i].append(g.neg(g.mul(loss, turned)))


def _last_joints(tree: BodyTree) -> dict[str, str]:
    """The last joint of each body that has joints, by names."""
    m = tree.m
    moving = (body for body in range(1, m.nbody) if m.body_jntnum[body])
    return {tree.name(k): tree.names("jnt", int(m.body_jntadr[k]) + int(m.body_jntnum[k]) - 1) for k in moving}


def _notes(m: Any, options: MujocoOptions, sensors: Sequence[str]) -> Iterator[str]:
    """Notes on parts of the file that the description lacks."""
    if options.friction is None and np.any(m.dof_frictionloss):
        yield "frictionloss of joints is ignored: friction=0.01, the speed over which it turns, reads it"
    if options.limits == "ignore" and (np.any(m.jnt_limited) or np.any(m.tendon_limited)):
        yield "ranges of joints and tendons are ignored: limits='spring' lets springs act beyond them"
    if options.contacts is None and (np.any(m.geom_contype) or np.any(m.geom_conaffinity)):
        yield "contacts of geoms are ignored: contacts='collision' lets them touch the ground"
    if sensors:
        yield f"sensors that are not read: {', '.join(sensors)}"
