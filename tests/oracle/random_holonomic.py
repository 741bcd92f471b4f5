# SPDX-License-Identifier: BSD-3-Clause
"""Random holonomic mechanisms in derivatives of coordinates, as SymPy's ``Lagrangian`` and `kanecore.Model` take them.

Trees of two to four bodies on pins and sliders, their origin at rest or moved in time, with weights, forces, torques
and dampers.  The same forces serve Kane's method and, but for the weights, which have a potential energy, Lagrange's.
"""

import random
from dataclasses import dataclass, field
from typing import Any

import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

__all__ = ["Holonomic", "random_holonomic"]

t = me.dynamicsymbols._t
GRAVITY = sm.Rational(981, 100)


@dataclass
class Holonomic:
    """A mechanism: what Kane's method and Lagrange's need of it."""

    frame: Any = field(default_factory=lambda: me.ReferenceFrame("N"))
    q: list[Any] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    weights: list[Any] = field(default_factory=list)
    forces: list[Any] = field(default_factory=list)
    potential: Any = sm.S.Zero

    def kane(self, *, mixed: random.Random | None = None) -> kc.Model:
        """With u = q̇, or with ``mixed`` speeds: a triangular matrix of functions of q, times q̇."""
        u = [me.dynamicsymbols(f"v{i}") for i in range(len(self.q))]
        rates = [x.diff(t) for x in self.q]
        equations = [rate - speed for rate, speed in zip(rates, u, strict=True)]
        if mixed is not None:
            for i in range(len(u)):
                for j in range(i):
                    equations[i] += mixed.choice([0, 1, sm.cos(self.q[j]), self.q[i]]) * rates[j]
        loads = [*self.weights, *self.forces]
        return kc.Model(self.frame, self.q, u, equations, bodies=self.bodies, forcelist=loads, name="kane")

    @property
    def lagrangian(self) -> Any:
        """SymPy's, of the bodies' kinetic energies; the weights' potential energy beside them."""
        return me.Lagrangian(self.frame, *self.bodies) - self.potential

    def lagrange(self) -> kc.Model:
        return kc.Model.from_lagrangian(
            self.lagrangian, self.q, forcelist=self.forces, frame=self.frame, name="lagrange"
        )


def random_holonomic(seed: int, least: int = 2, most: int = 4) -> Holonomic:
    rng, result = random.Random(seed), Holonomic()
    N = result.frame
    origin = me.Point("O")
    origin.set_vel(N, 0)
    base = origin
    if rng.random() < 0.3:
        base = origin.locatenew("base", sm.sin(2 * t) / 3 * N.x + t**2 / 5 * N.z)
        base.set_vel(N, base.pos_from(origin).dt(N))
    joints = [(base, N)]
    for i in range(rng.randint(least, most)):
        point, frame = rng.choice(joints[-2:])
        q = me.dynamicsymbols(f"q{i}")
        result.q.append(q)
        arm = sum((_number(rng) * axis for axis in rng.sample([frame.x, frame.y, frame.z], 2)), start=me.Vector(0))
        axis = rng.choice([frame.x, frame.y, frame.z, frame.x + frame.z])
        own = me.ReferenceFrame(f"A{i}")
        if rng.random() < 0.7:
            own.orient_axis(frame, axis, q)
        else:
            own.orient_axis(frame, frame.y, sm.Rational(1, 3))
            arm += (1 + q) * axis
        joint = point.locatenew(f"J{i}", arm)
        centre = joint.locatenew(f"C{i}", _number(rng) * own.x + _number(rng) * own.y)
        for each in (joint, centre):
            each.set_vel(N, each.pos_from(origin).dt(N))
        joints.append((joint, own))
        result.bodies.append(_body(rng, i, centre, own))
        _load(rng, result, origin, centre, (own, frame), q)
    return result


def _number(rng: random.Random) -> Any:
    return sm.Rational(rng.randint(3, 12), 10)


def _body(rng: random.Random, i: int, centre: Any, frame: Any) -> Any:
    mass = _number(rng)
    if rng.random() < 0.3:
        return me.Particle(f"P{i}", centre, mass)
    moments = [_number(rng) + 1 for _ in range(3)]
    products = [_number(rng) / 10 for _ in range(3)]
    return me.RigidBody(f"B{i}", centre, frame, mass, (me.inertia(frame, *moments, *products), centre))


def _load(rng: random.Random, to: Holonomic, origin: Any, centre: Any, frames: tuple[Any, Any], q: Any) -> None:
    N, mass, (own, frame) = to.frame, to.bodies[-1].mass, frames
    to.weights.append((centre, -mass * GRAVITY * N.y))
    to.potential += mass * GRAVITY * centre.pos_from(origin).dot(N.y)
    kind = rng.choice(["force", "torque", "damper", "none"])
    if kind == "force":
        to.forces.append((centre, _number(rng) * (1 + sm.sin(q)) * own.y))
    elif kind == "torque":
        to.forces.append((own, _number(rng) * sm.cos(t) * frame.z))
    elif kind == "damper":
        to.forces.append((centre, -_number(rng) * centre.vel(N)))
