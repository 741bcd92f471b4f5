# SPDX-License-Identifier: BSD-3-Clause
"""Kinetic and potential energy, and the power of all forces without a potential.

    T = ½ Σ (m v·v + ω·I·ω),
    U = −Σ F·r over constant forces, the energy of springs and fields (:mod:`.spring_potentials`), and the user's
    potentials, d(T + U)/dt = Σ_r F_r u_r (loads and generalized forces without a potential) − F*_t + (dU/dt at u = 0) +
    ∂U/∂z ż − Σ ½ ṁ v·v,

where loads include their terms in u̇, and F*_t are the inertia forces along the remainders v_t, ω_t.  The drive of a
prescribed motion has the force −F*_t − F_t.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

from kanecore.derive.kinematics import Accelerations, Kinematics
from kanecore.errors import warn
from kanecore.graph.calculus import Tangent
from kanecore.graph.expression_graph import PARAMETER
from kanecore.graph.random_samples import samples
from kanecore.graph.vectors import Components, add, cross, dot, matvec, scale
from kanecore.graph.zero_tests import adds_up, same_sum

from .generalized_forces import (
    Wrenches,
    active_forces,
    central_inertia,
    generalized_forces,
    inertia_change,
    inertia_torque,
    momentum_rate,
)
from .spring_potentials import Springs

__all__ = ["Energy", "accelerations_energy", "kinetic_energy", "momenta", "power"]

HALF = Fraction(1, 2)
SUBSET_MAX = 3  # loads that may share one potential energy of a body, such as the two ends of a spring


def kinetic_energy(k: Kinematics) -> int:
    g = k.graph
    total = 0
    for i, body in enumerate(k.description.bodies):
        v = k.velocity[body.point]
        total = g.add(total, g.mul(body.mass, dot(g, v, v)))
        if body.frame >= 0:
            w = k.omega[body.frame]
            total = g.add(total, dot(g, w, matvec(g, central_inertia(k, i), w)))
    return g.mul(g.constant(HALF), total)


def momenta(k: Kinematics) -> list[int]:
    """Generalized momenta ∂T/∂u_r, with each body's momentum as a force, its angular momentum as a torque."""
    g, wrenches = k.graph, Wrenches(k)
    for i, body in enumerate(k.description.bodies):
        wrenches.add_force(body.point, scale(g, body.mass, k.velocity[body.point]))
        if body.frame >= 0:
            wrenches.add_torque(body.frame, matvec(g, central_inertia(k, i), k.omega[body.frame]))
    return generalized_forces(wrenches)


def accelerations_energy(k: Kinematics) -> int:
    """Energy of accelerations S, half the integral of a·a dm over all bodies: ∂S/∂u̇_r = −F*_r.

    For changing masses and inertias, the work of ṁ v and İ·ω along the accelerations is added, since −F*_r has these
    terms.
    """
    g, half = k.graph, k.graph.constant(HALF)
    accelerations, total = Accelerations(k, k.description.accelerations), 0
    for i, body in enumerate(k.description.bodies):
        a, growth = accelerations.acceleration[body.point], k.rate.of(body.mass)
        total = g.add(total, g.mul(g.mul(half, body.mass), dot(g, a, a)))
        total = g.add(total, g.mul(growth, dot(g, a, k.velocity[body.point])))
        if body.frame >= 0:
            inertia, w, alpha = central_inertia(k, i), k.omega[body.frame], accelerations.alpha[body.frame]
            along = matvec(g, inertia, w)
            steady = add(g, cross(g, w, along), inertia_change(k, i))
            quadratic = g.add(dot(g, alpha, matvec(g, inertia, alpha)), g.mul(dot(g, w, w), dot(g, w, along)))
            total = g.add(total, g.add(g.mul(half, quadratic), dot(g, alpha, steady)))
    return total


class Energy:
    """The potential energy of a model.

    Attributes
    ----------
    potential : node
    accounted : set of int
        Loads with their whole work in the potential energy.
    in_part : set of int
        Loads with a part of their work in the potential energy.
    others : list
        Loads without a potential energy, and the remainders of loads that have one in part.
    """

    def __init__(self, k: Kinematics) -> None:
        self.kinematics = k
        g, d = k.graph, k.description
        self.potential = g.sum(d.potentials)
        self.accounted: set[int] = set()
        self._bodies()
        for number, load in enumerate(d.loads):
            if number in self.accounted or load.kind != "force":
                continue
            if len(load.vector) == 1 and load.vector[0][0] == 0:
                force = load.vector[0][1]
                if not any(g.depends[x] & ~PARAMETER for x in force) and self._does_work_along(force, load.at):
                    self.potential = g.sub(self.potential, dot(g, force, k.position(load.at)))
                    self.accounted.add(number)
        springs = Springs(k, [i for i in range(len(d.loads)) if i not in self.accounted])
        self.potential = g.add(self.potential, springs.potential)
        self.accounted.update(i for i, left in springs.left.items() if left is None)
        self.in_part = {i for i, left in springs.left.items() if left is not None}
        kept = ((i, springs.left.get(i, load)) for i, load in enumerate(d.loads) if i not in self.accounted)
        self.others = [load for _, load in kept if load is not None]

    def _does_work_along(self, force: Components, point: int) -> bool:
        """Test whether F·v is the derivative of F·r, at random states if structure does not decide."""
        k = self.kinematics
        if k.reaches(point):
            return True
        g, position, velocity = k.graph, k.position(point), k.resolve(k.velocity[point], k.home[point], 0)
        terms = [g.mul(f, k.rate.of(x)) for f, x in zip(force, position, strict=True)]
        powers = [g.mul(f, x) for f, x in zip(force, velocity, strict=True)]
        return same_sum(g, terms, powers)

    def _bodies(self) -> None:
        """Use ``body.potential_energy`` in place of the loads that it describes, so that no load counts twice."""
        k = self.kinematics
        g, d = k.graph, k.description
        bodies = [b for b in d.bodies if b.potential]
        if not bodies:
            return
        along = Tangent(g, dict(zip(d.coordinates, d.rates, strict=True))).of
        at_rest = dict.fromkeys(d.speeds, 0)

        def by_speeds(powers: list[int]) -> list[int]:
            """Powers Σ F_r u_r, without the power of prescribed motion."""
            return [g.sub(power, drive) for power, drive in zip(powers, g.substitute(powers, at_rest), strict=True)]

        given = by_speeds([Wrenches(k, [load]).power() for load in d.loads])
        losses = by_speeds([g.neg(along(b.potential)) for b in bodies])
        states = samples(g, [*given, *losses], 3)
        powers = [[s(i) for s in states] for i in given]
        for body, loss in zip(bodies, ([s(i) for s in states] for i in losses), strict=True):
            free = [i for i in range(len(d.loads)) if i not in self.accounted]
            subsets = itertools.chain.from_iterable(
                itertools.combinations(free, size) for size in range(1, min(len(free), SUBSET_MAX) + 1)
            )
            described = next((s for s in (*subsets, tuple(free)) if _sums_to(powers, s, loss)), None)
            if described is None:
                warn(
                    f"the potential_energy of body {body.name} matches no load of forcelist and is left out: Kane's "
                    "method derives no force from it; give it in potentials=[...] instead"
                )
                continue
            self.potential = g.add(self.potential, body.potential)
            self.accounted.update(described)


def _sums_to(powers: list[list[float]], subset: tuple[int, ...], total: list[float]) -> bool:
    """Test whether some powers add up to a total at every state; False if there is no state to compare at."""
    return bool(total) and all(adds_up([powers[i][j] for i in subset], x) for j, x in enumerate(total))


def power(k: Kinematics, energy: Energy) -> int:
    """d(T + U)/dt, as the power of loads without a potential, of drives, and of moving potentials."""
    g, d = k.graph, k.description
    total = dot(g, active_forces(k, energy.others, generalized=d.generalized_forces), d.speeds)
    at_rest = dict.fromkeys(d.speeds, 0)
    total = g.add(total, g.substitute([k.at_states.of(energy.potential)], at_rest)[0])
    total = g.add(total, k.along_states.of(energy.potential))
    for i, body in enumerate(d.bodies):
        growth = k.rate.of(body.mass)
        if growth:  # T has half of the work of the force ṁ v
            v = k.velocity[body.point]
            total = g.sub(total, g.mul(g.mul(g.constant(HALF), growth), dot(g, v, v)))
        if body.frame >= 0:  # T has half of the work of the torque İ·ω
            half = g.mul(g.constant(HALF), dot(g, k.omega[body.frame], inertia_change(k, i)))
            total = g.sub(total, half)

    def remainder(vector: Components) -> Components:
        x, y, z = g.substitute(vector, at_rest)
        return (x, y, z)

    remainders = [remainder(v) for v in (*k.velocity, *k.omega)]
    if not any(map(any, remainders)):
        return total
    accelerations = Accelerations(k, d.accelerations)
    for i, body in enumerate(d.bodies):
        drift = remainder(k.velocity[body.point])
        if any(drift):
            total = g.add(total, dot(g, drift, momentum_rate(k, accelerations, i)))
        if body.frame >= 0:
            drift = remainder(k.omega[body.frame])
            if any(drift):
                torque = inertia_torque(k, accelerations, i)
                total = g.add(total, dot(g, drift, torque))
    return total
