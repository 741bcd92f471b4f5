# SPDX-License-Identifier: BSD-3-Clause
"""Actuators of a compiled MuJoCo model: transmission, activation, force, and the sums of a joint's actuators.

The force is gain(L, V) y + bias(L, V) of the length L and the rate V of the transmission, y being the control or the
last activation.  Controls are inputs by the actuators' names, activations states ``act_NAME``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kanecore.describe.mjcf_compiler.mujoco_enumerations import BALL, FREE
from kanecore.describe.robots.number_nodes import from_quaternion, number, triple
from kanecore.graph.expression_graph import Op
from kanecore.graph.vectors import Components, cross, dot, neg

from .body_tree import BodyTree
from .muscle_curves import activation_rate, active_force, passive_force
from .passive_forces import Flags, damper
from .quaternion_nodes import rotation_vector
from .sites import Sites
from .tendon_lengths import Tendon, add_armature

__all__ = ["ActuatorNodes", "add_actuators"]

_JOINT, _IN_PARENT, _TENDON, _SITE = 0, 1, 3, 4
_AFFINE, _MUSCLE = 1, 2
_NONE, _INTEGRATOR, _FILTERS, _OF_MUSCLE = 0, 1, (2, 3), 4
_SMALLEST = 1e-15


@dataclass(frozen=True)
class ActuatorNodes:
    """Length, rate and force of an actuator."""

    length: int
    rate: int
    force: int


@dataclass
class _Transmission:
    """Length and rate of an actuator, and what its force, its damping and its armature do.

    The latter two act on the joint or tendon itself, times the square of the gear: of a ball or free joint on each of
    its speeds alone, with the first gear.
    """

    length: int
    rate: int
    push: Callable[[int], None]
    drag: Callable[[float, Sequence[float]], None]
    armature: Callable[[float], None]


def _nothing(*_: object) -> None:
    """An actuator on sites has no armature, which `mujoco_source` refuses, and no damping, which MuJoCo does."""


class _Actuators:
    def __init__(self, tree: BodyTree, tendons: Sequence[Tendon], sites: Sites, flags: Flags) -> None:
        self.tree, self.tendons, self.sites, self.flags = tree, tendons, sites, flags
        self.m, self.b, self.g = tree.m, tree.builder, tree.builder.graph
        self.of_joints: dict[int, list[int]] = {}  # the sum of which a joint may limit, by its speed

    # ----------------------------------------------------------------------------------------- transmissions
    def transmission(self, i: int) -> _Transmission:
        kind = int(self.m.actuator_trntype[i])
        if kind == _TENDON:
            return self._on_tendon(i)
        if kind == _SITE:
            return self._on_site(i)
        return self._on_joint(i)

    def _on_joint(self, i: int) -> _Transmission:
        m, g, tree = self.m, self.g, self.tree
        j, gear = int(m.actuator_trnid[i, 0]), m.actuator_gear[i]
        first, k, kind = int(m.jnt_dofadr[j]), int(m.jnt_qposadr[j]), int(m.jnt_type[j])
        if kind == FREE:
            gears, length = [number(self.b, float(x)) for x in gear[:6]], 0
        elif kind == BALL:
            gears = [number(self.b, float(x)) for x in gear[:3]]
            length = dot(g, gears, rotation_vector(g, tree.q[k : k + 4]))
        else:
            gears = [number(self.b, float(gear[0]))]
            length = g.mul(gears[0], tree.q[k])
        if int(m.actuator_trntype[i]) == _IN_PARENT and kind in (FREE, BALL):
            e = tree.q[k + 3 : k + 7] if kind == FREE else tree.q[k : k + 4]
            turned = [dot(g, column, gears[-3:]) for column in zip(*from_quaternion(self.b, e), strict=True)]
            gears[-3:] = turned
        speeds = tree.u[first : first + len(gears)]

        def push(force: int) -> None:
            for c, each in enumerate(gears):
                self.of_joints.setdefault(first + c, []).append(g.mul(each, force))

        squared = float(gear[0]) ** 2

        def drag(loss: float, poly: Sequence[float]) -> None:
            for c, u in enumerate(speeds):
                slowed = damper(g, number(self.b, squared * loss), [squared * float(x) for x in poly], u)
                tree.efforts[first + c].append(g.neg(slowed))

        def armature(inertia: float) -> None:
            for c, u in enumerate(speeds):
                tree.efforts[first + c].append(g.neg(g.mul(g.constant(squared * inertia), self.b.acceleration(u))))

        rate = g.sum([g.mul(x, u) for x, u in zip(gears, speeds, strict=True)])
        return _Transmission(length, rate, push, drag, armature)

    def _on_tendon(self, i: int) -> _Transmission:
        g, tendon = self.g, self.tendons[int(self.m.actuator_trnid[i, 0])]
        gear = number(self.b, float(self.m.actuator_gear[i, 0]))

        def push(force: int) -> None:
            if not tendon.coefficients:
                tendon.forces.append(g.mul(gear, force))
            for k, c in tendon.coefficients.items():
                self.of_joints.setdefault(k, []).append(g.mul(g.mul(gear, g.constant(c)), force))

        squared = float(self.m.actuator_gear[i, 0]) ** 2

        def drag(loss: float, poly: Sequence[float]) -> None:
            slowed = damper(g, number(self.b, squared * loss), [squared * float(x) for x in poly], tendon.rate)
            tendon.forces.append(g.neg(slowed))

        def armature(inertia: float) -> None:
            add_armature(self.tree, tendon, inertia * squared, f"actuator {self.tree.names('actuator', i)!r}")

        return _Transmission(g.mul(gear, tendon.length), g.mul(gear, tendon.rate), push, drag, armature)

    def _on_site(self, i: int) -> _Transmission:
        """A wrench at a site, in its axes, or in those of a reference site, on the motion between the two."""
        m, g, sites = self.m, self.g, self.sites
        site, reference = (int(x) for x in m.actuator_trnid[i])
        gear = [number(self.b, float(x)) for x in m.actuator_gear[i]]
        axes = sites.end(site if reference < 0 else reference).frame
        turned = self.tree.links.orientation(axes)
        f, t = (triple([dot(g, row, part) for row in turned]) for part in (gear[:3], gear[3:]))
        home = 0 if reference < 0 else self._common(sites.body(site), sites.body(reference))
        v, w = sites.velocity(site, home), sites.angular_velocity(site, home)
        length = 0
        if reference >= 0:
            v = triple([g.sub(x, y) for x, y in zip(v, sites.velocity(reference, home), strict=True)])
            w = triple([g.sub(x, y) for x, y in zip(w, sites.angular_velocity(reference, home), strict=True)])
            length = dot(g, f, sites.between(reference, site))
            if np.any(m.actuator_gear[i, 3:]):
                length = g.add(length, dot(g, triple(gear[3:]), sites.rotation(reference, site, home)))

        def push(force: int) -> None:
            self._wrench(site, home, force, f, t)
            if reference >= 0:
                self._wrench(reference, home, g.neg(force), f, t)

        return _Transmission(length, g.add(dot(g, f, v), dot(g, t, w)), push, _nothing, _nothing)

    def _common(self, first: int, second: int) -> int:
        """The nearest body that carries both, or is one of them."""
        above = [first]
        while above[-1]:
            above.append(int(self.m.body_parentid[above[-1]]))
        while second not in above:
            second = int(self.m.body_parentid[second])
        return second

    def _wrench(self, site: int, home: int, force: int, f: Components, t: Components) -> None:
        """Add a force and a torque at a site, in the axes of the world, and the opposite ones on the body ``home``."""
        b, g, tree = self.b, self.g, self.tree
        if not tree.placed(self.sites.body(site)).frame:
            return
        pull, turn = (triple([g.mul(force, x) for x in each]) for each in (f, t))
        b.force(self.sites.point(site), ((b.inertial, pull),))
        b.torque(tree.placed(self.sites.body(site)).own_frame, ((b.inertial, turn),))
        base = tree.placed(home)
        if base.frame:
            at = tree.links.position(base.own_point)
            arm = triple([g.sub(x, y) for x, y in zip(self.sites.position(site), at, strict=True)])
            b.force(base.own_point, ((b.inertial, neg(g, pull)),))
            whole = [g.add(x, y) for x, y in zip(turn, cross(g, arm, pull), strict=True)]
            b.torque(base.own_frame, ((b.inertial, neg(g, triple(whole))),))

    # ------------------------------------------------------------------------------------------------ forces
    def add(self, i: int) -> ActuatorNodes:
        m, b, g = self.m, self.b, self.g
        name = self.tree.names("actuator", i)
        through = self.transmission(i)
        control = b.input(name)
        if m.actuator_ctrllimited[i] and "clampctrl" not in self.flags.off:
            control = self._clamped(control, m.actuator_ctrlrange[i])
        y, kind, prm = control, int(m.actuator_dyntype[i]), m.actuator_dynprm[i]
        if kind != _NONE:
            y = b.state(f"act_{name}")
            if kind == _INTEGRATOR:
                rate = control
            elif kind in _FILTERS:
                rate = g.mul(g.sub(control, y), g.constant(1.0 / max(_SMALLEST, float(prm[0]))))
            else:
                rate = activation_rate(g, control, y, prm)
            b.rate(y, rate)
        force = self._force(i, y, through)
        if m.actuator_forcelimited[i]:
            force = self._clamped(force, m.actuator_forcerange[i])
        b.output(f"{name} force", force)
        if "actuation" not in self.flags.off:
            through.push(force)
        if "damper" not in self.flags.off and (m.actuator_damping[i] or np.any(m.actuator_dampingpoly[i])):
            through.drag(float(m.actuator_damping[i]), m.actuator_dampingpoly[i])
        if m.actuator_armature[i]:
            through.armature(float(m.actuator_armature[i]))
        return ActuatorNodes(through.length, through.rate, force)

    def _force(self, i: int, y: int, through: _Transmission) -> int:
        if int(self.m.actuator_gaintype[i]) == _MUSCLE:
            return self._of_muscle(i, y, through)
        g = self.g
        gain, bias = (
            g.sum([constant, g.mul(stiffness, through.length), g.mul(loss, through.rate)])
            for constant, stiffness, loss in self._gain_and_bias(i)
        )
        return g.add(g.mul(gain, y), bias)

    def _gain_and_bias(self, i: int) -> tuple[Components, Components]:
        """Nodes of the affine functions of length and rate: with parameters kp and kv of servos, else the gain."""
        m, g, name = self.m, self.g, self.tree.names("actuator", i)
        a0, a1, a2 = (float(x) for x in m.actuator_gainprm[i, :3])
        b0, b1, b2 = (float(x) for x in m.actuator_biasprm[i, :3])
        if int(m.actuator_gaintype[i]) != _AFFINE:
            a1 = a2 = 0.0
        if int(m.actuator_biastype[i]) != _AFFINE:
            b0 = b1 = b2 = 0.0
        numbers = self.tree.numbers
        kp = numbers(f"kp_{name}", -b1)
        kv = numbers(f"kv_{name}", -b2 or -a2)
        gain = kp if a0 == -b1 else kv if a0 == -b2 else numbers(f"gain_{name}", a0)
        of_rate = g.neg(kv) if not b2 else number(self.b, a2)
        return (gain, number(self.b, a1), of_rate), (number(self.b, b0), g.neg(kp), g.neg(kv) if b2 else 0)

    def _of_muscle(self, i: int, y: int, through: _Transmission) -> int:
        m, g = self.m, self.g
        gain, bias = m.actuator_gainprm[i], m.actuator_biasprm[i]
        start, end = (float(x) for x in m.actuator_lengthrange[i])

        def normalized(prm: Any) -> tuple[float, float, int]:
            optimal = (end - start) / max(_SMALLEST, float(prm[1] - prm[0]))
            peak = float(prm[2]) if prm[2] >= 0 else float(prm[3]) / max(_SMALLEST, float(m.actuator_acc0[i]))
            length = g.mul(g.sub(through.length, g.constant(start)), g.constant(1.0 / max(_SMALLEST, optimal)))
            return optimal, peak, g.add(g.constant(float(prm[0])), length)

        optimal, peak, length = normalized(gain)
        velocity = g.mul(through.rate, g.constant(1.0 / max(_SMALLEST, optimal * float(gain[6]))))
        force = g.mul(g.mul(g.constant(-peak), active_force(g, length, velocity, gain)), y)
        if int(m.actuator_biastype[i]) == _MUSCLE:
            _, peak, length = normalized(bias)
            force = g.sub(force, g.mul(g.constant(peak), passive_force(g, length, bias)))
        return force

    def _clamped(self, node: int, limits: Any) -> int:
        g = self.g
        low, high = (number(self.b, float(x)) for x in limits)
        return g.binary(Op.MIN, g.binary(Op.MAX, node, low), high)

    def apply(self) -> None:
        """Add the sums of the actuators of each speed, within the limits of its joint."""
        m = self.m
        limits = {int(m.jnt_dofadr[j]): m.jnt_actfrcrange[j] for j in range(m.njnt) if m.jnt_actfrclimited[j]}
        for i, forces in self.of_joints.items():
            total = self.g.sum(forces)
            self.tree.efforts[i].append(self._clamped(total, limits[i]) if i in limits else total)


def add_actuators(tree: BodyTree, tendons: Sequence[Tendon], sites: Sites, flags: Flags) -> list[ActuatorNodes]:
    """Add the actuators, their inputs, states and outputs."""
    actuators = _Actuators(tree, tendons, sites, flags)
    nodes = [actuators.add(i) for i in range(tree.m.nu)]
    actuators.apply()
    return nodes
