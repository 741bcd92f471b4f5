# SPDX-License-Identifier: BSD-3-Clause
"""Passive forces of a compiled MuJoCo model: springs, dampers, armature, gravity compensation, fluid.

Springs f = −(k x + k₂ x² + k₃ x³), dampers f = −(d v + d₂ v |v| + d₃ v³).  Of a ball and of the rotation of a free
joint x is the shortest rotation vector from the spring's pose, and f = −(k + k₂ |x| + k₃ |x|²) x; so it is for the
displacement of a free joint.  Source: the documentation of MuJoCo 4.0, "Computation" and "Modeling".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kanecore.describe.mjcf_compiler.mujoco_enumerations import FLAGS, FREE, HINGE, SLIDE
from kanecore.describe.robots.number_nodes import number, triple
from kanecore.describe.robots.rigid_poses import Pose, from_unit_quaternion
from kanecore.graph.expression_graph import Graph, Op
from kanecore.graph.vectors import Components, dot

from .body_tree import BodyTree
from .body_velocities import BodyVelocities
from .quaternion_nodes import conjugate, product_of, quaternion_numbers, rotation_vector

__all__ = ["Flags", "add_passive_forces", "damper", "spring"]

_MASSLESS = 1e-15


class Flags:
    """Flags that switch terms off."""

    def __init__(self, m: Any) -> None:
        bits = int(m.opt.disableflags)
        self.off = {name for i, name in enumerate(FLAGS) if bits >> i & 1}


def spring(g: Graph, k: int, poly: Sequence[float], x: int) -> int:
    """Evaluate k x + k₂ x² + k₃ x³, the node k and numbers."""
    x2 = g.mul(x, x)
    return g.sum([g.mul(k, x), g.mul(_number(g, poly[0]), x2), g.mul(_number(g, poly[1]), g.mul(x2, x))])


def damper(g: Graph, d: int, poly: Sequence[float], v: int) -> int:
    """Evaluate d v + d₂ v |v| + d₃ v³, the node d and numbers."""
    terms = [g.mul(d, v)]
    if poly[0]:
        terms.append(g.mul(_number(g, poly[0]), g.mul(v, g.call(Op.ABS, v))))
    if poly[1]:
        terms.append(g.mul(_number(g, poly[1]), g.mul(v, g.mul(v, v))))
    return g.sum(terms)


def _number(g: Graph, value: float) -> int:
    return g.constant(float(value))


def _vector_spring(g: Graph, k: int, poly: Sequence[float], x: Components) -> list[int]:
    """(k + k₂ |x| + k₃ |x|²) x, component by component."""
    n2 = dot(g, x, x)
    factor = g.sum([k, g.mul(_number(g, poly[1]), n2)])
    if poly[0]:
        factor = g.add(factor, g.mul(_number(g, poly[0]), g.sqrt(n2)))
    return [g.mul(factor, each) for each in x]


def add_passive_forces(tree: BodyTree, velocities: BodyVelocities, flags: Flags) -> None:
    """Add the springs, dampers and armature of joints to the efforts, and what acts on bodies as loads."""
    m, b, g = tree.m, tree.builder, tree.builder.graph
    if "spring" not in flags.off:
        for j in range(m.njnt):
            _add_joint_spring(tree, j)
    for i, u in enumerate(tree.u):
        if "damper" not in flags.off and (m.dof_damping[i] or np.any(m.dof_dampingpoly[i])):
            loss = damper(g, tree.numbers(f"damping_{tree.dof(i)}", m.dof_damping[i]), m.dof_dampingpoly[i], u)
            tree.efforts[i].append(g.neg(loss))
        if m.dof_armature[i]:
            inertia = tree.numbers(f"armature_{tree.dof(i)}", m.dof_armature[i])
            tree.efforts[i].append(g.neg(g.mul(inertia, b.acceleration(u))))
    for body in range(1, m.nbody):
        if not tree.placed(body).frame:
            continue
        if m.body_gravcomp[body] and "gravity" not in flags.off and np.any(m.opt.gravity):
            centre = tree.links.end(tree.name(body), Pose(np.eye(3), np.array(m.body_ipos[body])), "centre")
            lift = -m.body_mass[body] * m.body_gravcomp[body] * np.array(m.opt.gravity)
            b.force(centre.point, ((b.inertial, triple([number(b, float(x)) for x in lift])),))
        if (m.opt.density or m.opt.viscosity) and m.body_mass[body] > _MASSLESS:
            _add_fluid(tree, velocities, body)


def _add_joint_spring(tree: BodyTree, j: int) -> None:
    m, g = tree.m, tree.builder.graph
    i, k, kind = int(m.jnt_dofadr[j]), int(m.jnt_qposadr[j]), int(m.jnt_type[j])
    poly = m.jnt_stiffnesspoly[j]
    if not m.jnt_stiffness[j] and not np.any(poly):
        return
    stiffness = tree.numbers(f"stiffness_{tree.names('jnt', j)}", m.jnt_stiffness[j])
    if kind in (SLIDE, HINGE):
        stretched = g.sub(tree.q[k], _number(g, m.qpos_spring[k]))
        tree.efforts[i].append(g.neg(spring(g, stiffness, poly, stretched)))
        return
    if kind == FREE:
        away = triple([g.sub(tree.q[k + c], _number(g, m.qpos_spring[k + c])) for c in range(3)])
        for c, force in enumerate(_vector_spring(g, stiffness, poly, away)):
            tree.efforts[i + c].append(g.neg(force))
        i, k = i + 3, k + 3
    rest = quaternion_numbers(tree, m.qpos_spring[k : k + 4])
    turned = rotation_vector(g, product_of(g, conjugate(g, rest), tree.q[k : k + 4]))
    for c, torque in enumerate(_vector_spring(g, stiffness, poly, turned)):
        tree.efforts[i + c].append(g.neg(torque))


def _add_fluid(tree: BodyTree, velocities: BodyVelocities, body: int) -> None:
    """Add the drag of the box that has the inertia of a body, in the axes of that inertia."""
    m, b, g = tree.m, tree.builder, tree.builder.graph
    inertia, mass = np.array(m.body_inertia[body]), float(m.body_mass[body])
    others = np.roll(inertia, -1) + np.roll(inertia, -2) - inertia
    s = np.sqrt(np.maximum(_MASSLESS, others) / mass * 6)  # as MuJoCo rounds it: of flat bodies the root magnifies that
    density, viscosity, diameter = float(m.opt.density), float(m.opt.viscosity), float(s.mean())
    centre, axes = np.array(m.body_ipos[body]), from_unit_quaternion(m.body_iquat[body])
    end = tree.links.end(tree.name(body), Pose(axes, centre), "fluid")
    place = triple([number(b, float(x)) for x in centre])
    v, (_, w) = velocities.at(body, place), velocities.of(body)
    if np.any(m.opt.wind):
        own = tree.links.orientation(tree.placed(body).own_frame)
        wind = [number(b, float(x)) for x in m.opt.wind]
        v = triple([g.sub(v[c], dot(g, [own[i][c] for i in range(3)], wind)) for c in range(3)])
    columns = [[number(b, float(x)) for x in axes[:, c]] for c in range(3)]
    v, w = (triple([dot(g, column, each) for column in columns]) for each in (v, w))
    force, torque = [], []
    for c in range(3):
        i, k = (c + 1) % 3, (c + 2) % 3
        area, moment = s[i] * s[k], s[c] * (s[i] ** 4 + s[k] ** 4)
        linear, quadratic = 3 * math.pi * diameter * viscosity, 0.5 * density * area
        force.append(g.neg(damper(g, number(b, linear), (quadratic, 0.0), v[c])))
        linear, quadratic = math.pi * diameter**3 * viscosity, density * moment / 64
        torque.append(g.neg(damper(g, number(b, linear), (quadratic, 0.0), w[c])))
    b.force(end.point, ((end.frame, triple(force)),))
    b.torque(end.frame, ((end.frame, triple(torque)),))
