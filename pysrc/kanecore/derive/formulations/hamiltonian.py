# SPDX-License-Identifier: BSD-3-Clause
"""Generalized momenta, the Hamiltonian and the parts of T, from L(q, u, t) with q̇ = Y u + z.

    p = ∂L/∂q̇ = Y⁻ᵀ ∂L/∂u,    H = p·q̇ − L = ∂L/∂u·w − L,    w = u + u_z,  Y u_z = z,
    T = T₂ + T₁ + T₀, homogeneous in q̇ = Y w,    H = T₂ − T₀ + U

(Goldstein, *Classical Mechanics*, 3rd ed., 2002, sections 2.7 and 8.1).  p needs as many speeds as coordinates; H is
defined if z lies in the range of Y, also with unit quaternions.  Neither is defined if a velocity set by the user is
not the derivative of a position: T is then no function of q, q̇, t, or T has constraints built in.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from kanecore.derive.derivation import Derivation
from kanecore.derive.forces.generalized_forces import rate_slopes
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.expression_graph import COORDINATE, SPEED
from kanecore.graph.linear_equations import Singular, solve
from kanecore.graph.vectors import dot
from kanecore.graph.zero_tests import equal, is_regular

__all__ = ["Hamilton", "set_velocity", "why_no_hamiltonian", "why_no_momenta"]

HALF = Fraction(1, 2)


def why_no_momenta(derivation: Derivation) -> str:
    """Reason why a model has no generalized momenta; empty if it has them."""
    d = derivation.description
    if len(d.speeds) != len(d.coordinates):
        return (
            f"p = ∂L/∂qdot needs as many speeds as coordinates, and there are {len(d.speeds)} and "
            f"{len(d.coordinates)}; the Hamiltonian and dyn.conserved() do not need that"
        )
    if not Hamilton(derivation).is_square:
        return "p = ∂L/∂qdot needs speeds that follow from qdot, and Y of qdot = Y u + z is singular"
    return set_velocity(derivation)


def why_no_hamiltonian(derivation: Derivation) -> str:
    """Reason why a model has no Hamiltonian; empty if it has one."""
    if reason := set_velocity(derivation):
        return reason
    if Hamilton(derivation).drift is None:
        return (
            "z of qdot = Y u + z is not in the range of Y, so that no speeds belong to qdot = 0, and T has no "
            "homogeneous parts in qdot; add speeds for what the remainder moves"
        )
    return ""


class Hamilton:
    """Generalized momenta, Hamiltonian and parts of the kinetic energy of a derivation."""

    def __init__(self, derivation: Derivation) -> None:
        self._derivation = derivation
        self.graph = derivation.graph
        self.description = derivation.description

    # ---------------------------------------------------------------- q̇ = Y u + z
    @cached_property
    def _slopes(self) -> list[list[int]]:
        """Y, row by row."""
        return rate_slopes(self.description)

    @cached_property
    def _remainders(self) -> list[int]:
        """The part z without speeds."""
        return self.graph.substitute(self.description.rates, dict.fromkeys(self.description.speeds, 0))

    @property
    def _is_identity(self) -> bool:
        return all(x == int(i == j) for i, row in enumerate(self._slopes) for j, x in enumerate(row))

    @property
    def is_square(self) -> bool:
        """Test whether speeds and rates of coordinates determine each other."""
        n_q, n_u = len(self.description.coordinates), len(self.description.speeds)
        return n_q == n_u and (self._is_identity or is_regular(self.graph, self._slopes))

    @cached_property
    def drift(self) -> list[int] | None:
        """Solution u_z of Y u_z = z; None if random states with unit quaternions show that there is none."""
        g, y, z = self.graph, self._slopes, self._remainders
        if not any(z):
            return [0] * len(self.description.speeds)
        try:
            if self.is_square:
                return z if self._is_identity else solve(g, y, z)
            drift = solve(g, self._normal, [dot(g, column, z) for column in self._columns])
        except Singular:
            return None
        reached = [dot(g, row, drift) for row in y]
        return drift if equal(g, zip(reached, z, strict=True), (*reached, *z), otherwise=False) else None

    @property
    def _homogeneous(self) -> list[int]:
        """Speeds w = u + u_z, with q̇ = Y w."""
        assert self.drift is not None  # otherwise why_no_hamiltonian gives a reason
        return [self.graph.add(u, x) for u, x in zip(self.description.speeds, self.drift, strict=True)]

    @cached_property
    def _normal(self) -> list[list[int]]:
        """YᵀY."""
        return [[dot(self.graph, a, b) for b in self._columns] for a in self._columns]

    @cached_property
    def _columns(self) -> list[list[int]]:
        return [list(column) for column in zip(*self._slopes, strict=True)]

    def is_total_derivative(self, velocity: int) -> bool:
        """Test whether a function J(q, t) q̇ + b(q, t) of the speeds is the rate of some function of q and t.

        It is a rate if d/dt J_k equals its derivative ∂/∂q_k at constant q̇, at random states.
        """
        g, d = self.graph, self.description
        by_speeds = accumulate(g, [(velocity, g.one)], d.speeds, SPEED)
        try:
            share = solve(g, self._normal, by_speeds)
        except Singular:
            return False
        slopes = [dot(g, row, share) for row in self._slopes]
        rest = g.sub(velocity, dot(g, slopes, d.rates))
        along = Tangent(g, {**dict(zip(d.coordinates, d.rates, strict=True)), d.time: g.one}).of
        weights = [(rest, g.one), *zip(slopes, d.rates, strict=True)]
        pairs = zip(map(along, slopes), accumulate(g, weights, d.coordinates, COORDINATE), strict=True)
        speeds = zip((dot(g, column, slopes) for column in self._columns), by_speeds, strict=True)
        return equal(g, [*pairs, *speeds], (velocity,), otherwise=False)

    # --------------------------------------------------------------- p, H and the parts of T
    @cached_property
    def momenta(self) -> list[int]:
        """The generalized momenta p = ∂L/∂q̇ = Y⁻ᵀ ∂L/∂u."""
        by_speeds = self._derivation.formulation.momenta()
        return by_speeds if self._is_identity else solve(self.graph, self._columns, by_speeds)

    @property
    def position_slopes(self) -> list[int]:
        """∂L/∂q at constant q̇: ∂L/∂q at constant u, minus the effect of the change of q̇ = Y u + z."""
        g, d = self.graph, self.description
        weights = [(rate, g.neg(p)) for rate, p in zip(d.rates, self.momenta, strict=True)]
        return accumulate(g, [(self._derivation.lagrangian, g.one), *weights], d.coordinates, COORDINATE)

    @cached_property
    def hamiltonian(self) -> int:
        """H = ∂L/∂u·w − L, written as T + U if they are equal by structure."""
        g, formulation = self.graph, self._derivation.formulation
        if self.is_energy:
            return g.add(formulation.kinetic_energy, formulation.potential_energy)
        return g.sub(dot(g, formulation.momenta(), self._homogeneous), self._derivation.lagrangian)

    @property
    def is_energy(self) -> bool:
        """Test by structure whether H is T + U: L is T − U, and T is of degree 2 in q̇."""
        d = self._derivation
        energy = d.kernel("kinetic_energy").roots[0]
        return d.lagrangian == self.graph.sub(energy, d.energy.potential) and self.parts(energy) == (energy, 0, 0)

    def parts(self, energy: int) -> tuple[int, int, int]:
        """The parts of a kinetic energy that are of degree 2, 1, 0 in q̇."""
        g, speeds, w = self.graph, self.description.speeds, self._homogeneous
        at_zero = {u: g.sub(u, x) for u, x in zip(speeds, w, strict=True)}  # q̇ = 0: u = −u_z
        slopes = accumulate(g, [(energy, g.one)], speeds, SPEED)
        constant, *linear = g.substitute([energy, *slopes], at_zero)
        if not constant and not any(linear):
            return energy, 0, 0
        along = Tangent(g, dict(zip(speeds, w, strict=True))).of
        quadratic = g.mul(g.constant(HALF), dot(g, w, [along(x) for x in slopes]))
        return quadratic, dot(g, w, linear), constant

    def rate(self, node: int) -> int:
        """The derivative of a function of q, u, t, r along the motion, for given u̇."""
        d = self.description
        seeds = dict(self._derivation.kinematics.seeds)
        seeds.update(zip(d.speeds, d.accelerations, strict=True))
        return Tangent(self.graph, seeds).of(node)


# ------------------------------------------------------------------------ velocities that were set


def set_velocity(derivation: Derivation) -> str:
    """Message about a body's velocity that is not the derivative of its position; empty if there is none."""
    k, d = derivation.kinematics, derivation.description
    for body in d.bodies:
        if not body.mass and not any(x for _, tensor in body.inertia for row in tensor for x in row):
            continue
        if not k.reaches(body.point) and not _is_a_rate(derivation, body.point):
            return (
                f"the velocity of point {d.points[body.point].name}, of body {body.name}, was set and is not the "
                "derivative of its position, so that T is no function of q, qdot and t (a constraint that was put "
                "into velocities is no constraint of L): give the position, and the constraint to the model"
            )
        if body.frame >= 0 and not k.omega_fits[body.frame]:
            return (
                f"the angular velocity of frame {d.frames[body.frame].name}, of body {body.name}, was set and is "
                "not that of its orientation, so that T is no function of q, qdot and t: orient the frame"
            )
    return ""


def _is_a_rate(derivation: Derivation, point: int) -> bool:
    """Test whether a point is located from a root, and the root's set velocity is the derivative of some position.

    A velocity v = J q̇ + b is such a derivative if d/dt J_k = ∂v/∂q_k at constant q̇, at random states.
    """
    k, d = derivation.kinematics, derivation.description
    while d.points[point].parent >= 0:
        if k.source[point] not in ("position", "equal"):
            return False
        point = d.points[point].parent
    if not k.omega_fits[k.home[point]]:
        return False
    hamilton = Hamilton(derivation)
    return all(hamilton.is_total_derivative(x) for x in k.inertial_velocity(point))
