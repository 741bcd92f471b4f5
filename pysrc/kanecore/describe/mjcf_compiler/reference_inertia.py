# SPDX-License-Identifier: BSD-3-Clause
"""The mass matrix of an MJCF file where its joints are at ``qpos0``, and what is scaled by it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kanecore.describe.robots.rigid_poses import from_unit_quaternion, product
from kanecore.errors import ModelError

from .geom_masses import turned
from .mjcf_bodies import SPEEDS
from .mjcf_poses import SAME, At, composed
from .mjcf_record import Record
from .mujoco_enumerations import BALL, FREE, SLIDE

__all__ = ["ReferenceInertia"]

Array = npt.NDArray[np.float64]


class ReferenceInertia:
    """Mass matrix and Jacobians at ``qpos0``.

    Parameters
    ----------
    places : list of (position, quaternion)
        Poses of the bodies in the world.

    Notes
    -----
    Where the matrix is singular what follows from its inverse is nan.
    """

    def __init__(self, record: Record, places: Sequence[At]) -> None:
        self._record, self._c, self._places, self._n = record, record.columns, places, record.count("dof")
        self._moves = [self._motion(i) for i in range(self._n)]
        try:
            self._inverse = np.linalg.inv(self._matrix())
        except np.linalg.LinAlgError:
            self._inverse = np.full((self._n, self._n), np.nan)

    def _motion(self, i: int) -> tuple[bool, Array, Array]:
        """Test whether a speed turns; its axis and a point of that, in the world."""
        c, j = self._c, self._c["dof_jntid"][i]
        place, axes = self._places[c["dof_bodyid"][i]][0], from_unit_quaternion(self._places[c["dof_bodyid"][i]][1])
        k, kind = i - c["jnt_dofadr"][j], c["jnt_type"][j]
        if kind == FREE and k < 3:
            return False, np.eye(3)[k], place
        axis = axes[:, k % 3] if kind in (FREE, BALL) else product(axes, c["jnt_axis"][j])
        return kind != SLIDE, axis, place + product(axes, c["jnt_pos"][j])

    def _above(self, body: int) -> list[int]:
        """Speeds that move a body."""
        c, found = self._c, list[int]()
        while body:
            found += [i for i in range(self._n) if c["dof_bodyid"][i] == body]
            body = c["body_parentid"][body]
        return found

    def _jacobians(self, body: int, point: Array) -> tuple[Array, Array]:
        """∂v/∂u and ∂ω/∂u of a point of a body, each (3, n)."""
        v, w = np.zeros((3, self._n)), np.zeros((3, self._n))
        for i in self._above(body):
            turns, axis, anchor = self._moves[i]
            v[:, i] = np.cross(axis, point - anchor) if turns else axis
            w[:, i] = axis if turns else 0.0
        return v, w

    def _matrix(self) -> Array:
        """The mass matrix; of armature of tendons and actuators it has what joins speeds of one chain of bodies."""
        c, count = self._c, self._record.count
        m = np.diag(np.array(c["dof_armature"]))
        for body in range(1, count("body")):
            centre, axes = composed(self._places[body], (c["body_ipos"][body], c["body_iquat"][body]))
            v, w = self._jacobians(body, centre)
            m = m + c["body_mass"][body] * v.T @ v + w.T @ turned(c["body_inertia"][body], axes) @ w
        armatures = list(c["tendon_armature"])
        for kind, (target, _), gear, armature in zip(
            *(c[f"actuator_{column}"] for column in ("trntype", "trnid", "gear", "armature")), strict=True
        ):
            if kind == 3:
                armatures[target] += gear[0] ** 2 * armature
            elif armature:
                speeds = range(c["jnt_dofadr"][target], c["jnt_dofadr"][target] + SPEEDS[c["jnt_type"][target]])
                m[speeds, speeds] += gear[0] ** 2 * armature
        chains = [self._above(body) for body in c["dof_bodyid"]]
        joined = np.array([[i in chains[j] or j in chains[i] for j in range(self._n)] for i in range(self._n)])
        for t, armature in enumerate(armatures):
            if armature:
                m = m + armature * np.outer(self._of_tendon(t), self._of_tendon(t)) * joined
        return np.asarray(m)

    def _of_tendon(self, t: int) -> Array:
        """∂L̇/∂u of the length of a tendon."""
        c, row, divisor = self._c, np.zeros(self._n), 1.0
        wraps = range(c["tendon_adr"][t], c["tendon_adr"][t] + c["tendon_num"][t])
        for k in wraps:
            if c["wrap_type"][k] == 1:
                row[c["jnt_dofadr"][c["wrap_objid"][k]]] += c["wrap_prm"][k]
        for k, after in itertools.pairwise(wraps):
            if c["wrap_type"][k] == 2:
                divisor = c["wrap_prm"][k]
            elif c["wrap_type"][k] == c["wrap_type"][after] == 3:
                (x, v), (y, w) = (self._site(c["wrap_objid"][each]) for each in (k, after))
                row += (y - x) @ (w - v) / math.sqrt(product(y - x, y - x)) / divisor
        return row

    def _site(self, s: int) -> tuple[Array, Array]:
        """Place of a site in the world, and ∂v/∂u."""
        body = self._c["site_bodyid"][s]
        place = composed(self._places[body], (self._c["site_pos"][s], SAME[1]))[0]
        return place, self._jacobians(body, place)[0]

    def _of_actuator(self, i: int) -> Array:
        """∂L̇/∂u of the length of an actuator on a joint or tendon."""
        c, row, (target, _) = self._c, np.zeros(self._n), self._c["actuator_trnid"][i]
        gear, name = np.array(c["actuator_gear"][i]), self._record.names["actuator"][i]
        if c["actuator_trntype"][i] == 4:
            raise ModelError(
                f"the damping ratio or scale of {name!r} on a site is not read without MuJoCo: pip install mujoco"
            )
        if c["actuator_trntype"][i] == 3:
            return np.asarray(gear[0] * self._of_tendon(target))
        first, kind = c["jnt_dofadr"][target], c["jnt_type"][target]
        if kind == FREE and c["actuator_trntype"][i] == 1:
            gear[3:] = product(from_unit_quaternion(self._places[c["jnt_bodyid"][target]][1]).T, gear[3:])
        row[first : first + SPEEDS[kind]] = gear[: SPEEDS[kind]]
        return row

    # ---------------------------------------------------------------------------------------- what it scales
    def check(self, scaled: str) -> None:
        """ModelError for what is scaled by a singular matrix."""
        if np.isnan(self._inverse).any():
            raise ModelError(f"{scaled} needs a mass matrix, which is singular at qpos0: give the forces as numbers")

    def weigh(self) -> None:
        """Set the inverse inertias of joints, as MuJoCo averages them, and of tendons."""
        c = self._c
        for j, kind in enumerate(c["jnt_type"]):
            first = c["jnt_dofadr"][j]
            for start in range(first, first + SPEEDS[kind], 3):
                part = range(start, min(start + 3, first + SPEEDS[kind]))
                mean = float(np.mean(self._inverse[part, part]))
                alone = kind == SLIDE and self._slides_alone(c["jnt_bodyid"][j])
                for i in part:
                    c["dof_invweight0"][i] = 1 / c["body_mass"][c["jnt_bodyid"][j]] if alone else mean
        for t in range(self._record.count("tendon")):
            row = self._of_tendon(t)
            c["tendon_invweight0"][t] = float(row @ self._inverse @ row)

    def _slides_alone(self, body: int) -> bool:
        """Test whether a body slides along its axes alone, on the world: MuJoCo leaves its armature out."""
        c, parent = self._c, self._c["body_parentid"][body]
        joints = range(c["body_jntadr"][body], c["body_jntadr"][body] + c["body_jntnum"][body])
        straight = all(
            c["jnt_type"][j] == SLIDE and np.sum(np.abs(c["jnt_axis"][j]) > 1e-14) == 1 and not c["jnt_pos"][j].any()
            for j in joints
        )
        centred = not c["body_ipos"][body].any() and np.array_equal(c["body_iquat"][body], SAME[1])
        armed = (self._bodies_of(t) for t, inertia in enumerate(c["tendon_armature"]) if inertia)
        grounded = parent == 0 or (c["body_parentid"][parent] == 0 and c["body_jntnum"][parent] == 0)
        return bool(
            straight and centred and grounded and not any(body in bodies for bodies in (c["body_parentid"][1:], *armed))
        )

    def _bodies_of(self, t: int) -> list[int]:
        """Bodies whose joints or sites a tendon has."""
        c, tables = self._c, {1: "jnt_bodyid", 3: "site_bodyid"}
        wraps = range(c["tendon_adr"][t], c["tendon_adr"][t] + c["tendon_num"][t])
        return [c[tables[c["wrap_type"][k]]][c["wrap_objid"][k]] for k in wraps if c["wrap_type"][k] in tables]

    def damping(self, i: int, ratio: float) -> float:
        """Damping of a position actuator by its ratio ζ: 2 ζ √(kp / (J M⁻¹ Jᵀ))."""
        row = self._of_actuator(i)
        return 2 * ratio * math.sqrt(self._c["actuator_gainprm"][i][0] / (row @ self._inverse @ row))

    def acceleration(self, i: int) -> float:
        """|M⁻¹ Jᵀ| of an actuator."""
        return float(np.linalg.norm(self._inverse @ self._of_actuator(i)))
