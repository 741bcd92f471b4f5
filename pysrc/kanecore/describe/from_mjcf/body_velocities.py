# SPDX-License-Identifier: BSD-3-Clause
"""Velocities of bodies of a compiled MuJoCo model in their own axes, from joint to joint.

Relative to the world, or to a body that carries another one, which counts as at rest.
"""

from __future__ import annotations

import numpy as np

from kanecore.describe.mjcf_compiler.mujoco_enumerations import BALL, FREE, HINGE, SLIDE
from kanecore.describe.robots.number_nodes import constant_matrix, from_quaternion, number, product_with, triple, turn
from kanecore.describe.robots.rigid_poses import along, cleaned, from_unit_quaternion, joint_axes, product
from kanecore.graph.vectors import Components, Matrix, add, cross, dot

from .body_tree import BodyTree

__all__ = ["BodyVelocities"]

_STILL: Components = (0, 0, 0)


class BodyVelocities:
    """Velocity of the origin and angular velocity of each body, in the axes of the body; a chain is formed once."""

    def __init__(self, tree: BodyTree) -> None:
        self._tree, self._m, self._builder = tree, tree.m, tree.builder
        self._known: dict[tuple[int, int], tuple[Components, Components]] = {}

    def of(self, body: int, home: int = 0) -> tuple[Components, Components]:
        """Velocity and angular velocity of a body relative to another one, ``home``, which carries it."""
        if body == home:
            return _STILL, _STILL
        if (body, home) not in self._known:
            self._known[body, home] = self._carried_on(body, *self.of(int(self._m.body_parentid[body]), home))
        return self._known[body, home]

    def at(self, body: int, place: Components, home: int = 0) -> Components:
        """Velocity of a point of a body, at a place in its axes."""
        g = self._builder.graph
        v, w = self.of(body, home)
        return add(g, v, cross(g, w, place))

    def _numbers(self, vector: np.ndarray) -> Components:
        return triple([number(self._builder, float(x)) for x in vector])

    def _turned(self, rotation: Matrix, vector: Components) -> Components:
        """Components in turned axes, Rᵀ v."""
        return triple([dot(self._builder.graph, column, vector) for column in zip(*rotation, strict=True)])

    def _carried_on(self, body: int, v: Components, w: Components) -> tuple[Components, Components]:
        m, b, g = self._m, self._builder, self._builder.graph
        fixed = constant_matrix(b, from_unit_quaternion(m.body_quat[body]))
        v = self._turned(fixed, add(g, v, cross(g, w, self._numbers(m.body_pos[body]))))
        w = self._turned(fixed, w)
        first = int(m.body_jntadr[body])
        for j in range(first, first + int(m.body_jntnum[body])):
            kind, i, k = int(m.jnt_type[j]), int(m.jnt_dofadr[j]), int(m.jnt_qposadr[j])
            q, u = self._tree.q, self._tree.u
            if kind == FREE:
                v, w = (
                    self._turned(from_quaternion(b, q[k + 3 : k + 7]), triple(u[i : i + 3])),
                    triple(u[i + 3 : i + 6]),
                )
                continue
            axis, anchor = cleaned(np.array(m.jnt_axis[j])), self._numbers(m.jnt_pos[j])
            if kind in (SLIDE, HINGE):
                moved = g.sub(q[k], number(b, float(m.qpos0[k])))
                e = self._numbers(axis)
                along_axis = triple([g.mul(x, u[i]) for x in e])
            if kind == SLIDE:
                path = triple([g.mul(x, moved) for x in e])
                v = add(g, add(g, v, cross(g, w, path)), along_axis)
                continue
            v = add(g, v, cross(g, w, anchor))
            if kind == BALL:
                rotation, spin = from_quaternion(b, q[k : k + 4]), triple(u[i : i + 3])
            else:
                own = joint_axes(axis)
                axis_number, sign = along(product(own, axis))
                turned = turn(b, axis_number, sign, moved)
                rotation, spin = self._about(own, turned), along_axis
            w = add(g, self._turned(rotation, w), spin)
            back = triple([g.neg(x) for x in anchor])
            v = add(g, self._turned(rotation, v), cross(g, w, back))
        return v, w

    def _about(self, own: np.ndarray, turned: Matrix) -> Matrix:
        """The turn about an axis, in axes of the body: ownᵀ turn own."""
        b, g = self._builder, self._builder.graph
        left, right = product_with(b, own.T, turned), constant_matrix(b, own)
        x, y, z = (triple([dot(g, row, column) for column in zip(*right, strict=True)]) for row in left)
        return x, y, z
