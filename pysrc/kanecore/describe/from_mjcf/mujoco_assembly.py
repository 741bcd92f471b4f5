# SPDX-License-Identifier: BSD-3-Clause
"""The description of a compiled MuJoCo model: its smooth dynamics, M q̈ + bias = passive + actuator forces.

Source: the documentation of MuJoCo 4.0, "Computation".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kanecore.describe.builder import Builder
from kanecore.describe.reading import Reading
from kanecore.describe.robots.link_masses import add_bodies
from kanecore.describe.robots.placed_links import PlacedLinks
from kanecore.describe.robots.rigid_poses import Pose, from_unit_quaternion, product
from kanecore.describe.robots.robot import Inertial, Link, Robot, Solid
from kanecore.describe.robots.robot_assembly import named_joints
from kanecore.describe.robots.robot_options import RobotOptions
from kanecore.errors import ModelError
from kanecore.graph.expression_graph import Op

from .actuators import add_actuators
from .body_tree import BodyTree
from .body_velocities import BodyVelocities
from .compiled_source import compiled
from .equality_rows import add_equality
from .mujoco_source import Names, refuse_unread
from .passive_forces import Flags, add_passive_forces
from .sites import Sites
from .tendon_lengths import add_tendons

__all__ = ["MujocoOptions", "described_mujoco"]

_SPHERE, _CYLINDER, _BOX = 2, 5, 6  # types of geoms that pictures show
_EQUALITY = ("exact", "ignore")


@dataclass(frozen=True)
class MujocoOptions:
    """Options by their names in `kanecore.Model.from_mjcf`, where each is explained."""

    parameters: bool = False
    actuators: bool = True
    equality: str = "exact"
    friction: float | None = None


def described_mujoco(source: Any, options: MujocoOptions) -> Reading:
    """The description of a model of MuJoCo.

    Raises
    ------
    ModelError
        A part that is not read; MuJoCo refuses the file; an option is not what it must be.
    """
    if options.equality not in _EQUALITY:
        raise ModelError(f"equality is {options.equality!r}; it must be 'exact' or 'ignore'")
    friction = RobotOptions(friction=options.friction).checked_friction()
    m = compiled(source)
    names = Names(m)
    refuse_unread(m, names)
    builder = Builder(names.model, "inertial")
    tree, flags = BodyTree(m, names, PlacedLinks(builder)), Flags(m)
    tree.add_all()
    gravity = np.zeros(3) if "gravity" in flags.off else np.array(m.opt.gravity)
    values = add_bodies(tree.links, _robot(tree), gravity.tolist(), options.parameters)
    velocities = BodyVelocities(tree)
    sites = Sites(tree, velocities)
    sites.add_all()
    add_passive_forces(tree, velocities, flags)
    _add_friction(tree, friction)
    tendons = add_tendons(tree, sites, velocities, flags)
    if options.actuators:
        add_actuators(tree, tendons, sites, flags)
    else:
        for i, speed in enumerate(tree.u):
            tree.efforts[i].append(builder.input(f"tau_{builder.speeds[speed].removeprefix('u_')}"))
    for t, tendon in enumerate(tendons):
        builder.output(f"{names('tendon', t)} length", tendon.length)
        tendon.apply(tree, sites)
    tree.apply()
    if options.equality == "exact" and "equality" not in flags.off and "constraint" not in flags.off:
        add_equality(tree, tendons, sites)
    notes = tuple(_notes(m, options))
    return Reading(named_joints(builder.description(), _last_joints(tree)), values=values, notes=notes)


def _robot(tree: BodyTree) -> Robot:
    """Masses and shapes of the bodies."""
    m, links = tree.m, dict[str, Link]()
    for body in range(m.nbody):
        inertial = None
        if m.body_mass[body] > 0.0 and body:
            axes = from_unit_quaternion(m.body_iquat[body])
            tensor = product(product(axes, np.diag(m.body_inertia[body])), axes.T)
            inertial = Inertial(float(m.body_mass[body]), np.array(m.body_ipos[body]), 0.5 * (tensor + tensor.T))
        links[tree.name(body)] = Link(tree.name(body), "", inertial, tuple(_shapes(m, body)))
    return Robot(tree.names.model, tree.names.model, tree.name(0), links, ())


def _shapes(m: Any, body: int) -> Iterator[Solid]:
    for k in range(int(m.body_geomadr[body]), int(m.body_geomadr[body]) + int(m.body_geomnum[body])):
        size, kind = [float(x) for x in m.geom_size[k]], int(m.geom_type[k])
        pose = Pose(from_unit_quaternion(m.geom_quat[k]), np.array(m.geom_pos[k]))
        if kind == _SPHERE:
            yield Solid("sphere", (size[0],), pose)
        elif kind == _BOX:
            yield Solid("box", (2 * size[0], 2 * size[1], 2 * size[2]), pose)
        elif kind in (3, _CYLINDER):  # capsules without their ends
            yield Solid("cylinder", (size[0], 2 * size[1]), pose)


def _add_friction(tree: BodyTree, friction: float | None) -> None:
    """Add the dry friction of joints, which turns over a speed."""
    if friction is None:
        return
    g = tree.builder.graph
    for i, u in enumerate(tree.u):
        if tree.m.dof_frictionloss[i]:
            turned = g.call(Op.TANH, g.mul(g.constant(1.0 / friction), u))
            tree.efforts[i].append(g.neg(g.mul(g.constant(float(tree.m.dof_frictionloss[i])), turned)))


def _last_joints(tree: BodyTree) -> dict[str, str]:
    """The last joint of each body that has joints, by names."""
    m = tree.m
    moving = (body for body in range(1, m.nbody) if m.body_jntnum[body])
    return {tree.name(k): tree.names("jnt", int(m.body_jntadr[k]) + int(m.body_jntnum[k]) - 1) for k in moving}


def _notes(m: Any, options: MujocoOptions) -> Iterator[str]:
    """Notes on parts of the file that the description lacks."""
    if options.friction is None and np.any(m.dof_frictionloss):
        yield "frictionloss of joints is ignored: friction=0.01, the speed over which it turns, reads it"
    if np.any(m.jnt_limited) or np.any(m.tendon_limited):
        yield "ranges of joints and tendons are ignored: nothing stops at them"
    if np.any(m.geom_contype) or np.any(m.geom_conaffinity):
        yield "contacts of geoms are ignored"
