# SPDX-License-Identifier: BSD-3-Clause
"""Hamilton's canonical equations, on the graph (Goldstein, Poole & Safko, *Classical Mechanics*, 3rd ed. 2002, ch. 8).

With q̇ = w = Y u + z, and K the part of the Lagrangian L = K − U with the speeds,

    Yᵀ p = ∂K/∂u = M u + n,        dq/dt = w,        dp/dt = ∂K/∂q − (∂w/∂q)ᵀ p + Q,        Yᵀ Q = F,

where F are the generalized active forces.  The first equation is solved for u, and the solution is put into the other
two: dq/dt = ∂H/∂p, and dp/dt = −∂H/∂q plus the forces without a potential.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kanecore.derive.derivation import Derivation
from kanecore.derive.forces.generalized_forces import coordinate_forces, inertia_change, rate_slopes, unrelated
from kanecore.derive.kinematics import Kinematics
from kanecore.describe.description import Description, FirstOrder, Image, duplicate, momentum_name, without_bodies
from kanecore.errors import ModelError
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.expression_graph import ACCELERATION, COORDINATE, SPEED, Graph
from kanecore.graph.factorization import factorized_solve
from kanecore.graph.linear_equations import Singular, solve
from kanecore.graph.random_samples import samples
from kanecore.graph.vectors import ZERO, dot

from .formulation import named_pivots
from .hamiltonian import set_velocity

__all__ = ["canonical", "why_no_phase_space"]

STATES = 3  # random states and parameters: a mass matrix must be positive definite at one of them


def canonical(description: Description) -> Description:
    """The description in q and p of a model in q and u; ModelError if it has none."""
    derivation = Derivation(duplicate(description))
    reason = _obstacle(derivation)
    if reason:
        raise ModelError(f"{description.name!r} has no canonical equations: {reason}")
    try:
        equations = _Canonical(derivation).description()
    except Singular:
        reason = "its momenta do not give all speeds, as some motion has no kinetic energy"
        raise ModelError(f"{description.name!r} has no canonical equations: {reason}") from None
    return Image(equations.graph, Graph(), {}).description(equations)


def _obstacle(derivation: Derivation) -> str:
    """Reason why q and p cannot be the state of a model; empty if they can."""
    d = derivation.description
    if reason := why_no_phase_space(derivation):
        return reason
    taken = {*d.coordinate_names, *d.parameter_names, *d.input_names, *(name for name, _ in d.outputs)}
    clash = [name for name in map(momentum_name, d.coordinate_names) if name in taken]
    if clash:
        return f"the name {clash[0]} of a momentum is taken: rename the other"
    return _not_linear(derivation)


def why_no_phase_space(derivation: Derivation) -> str:
    """Reason why a model's equations are not Lagrange's in independent q with momenta p = ∂L/∂q̇; else empty."""
    d = derivation.description
    if d.first_order is not None:
        return "it is in q and p already"
    if d.constraints:
        return "its coordinates are not independent, but have constraints"
    if d.auxiliary:
        return "it has auxiliary speeds"
    if d.states:
        return f"it has first-order states, {', '.join(d.state_names)}, beside q and p"
    if derivation.has_inertial_loads:
        return "a load holds derivatives of speeds, which no momentum accounts for"
    return unrelated(d) or set_velocity(derivation) or _changing(derivation.kinematics)


def _changing(k: Kinematics) -> str:
    """Message about a mass or an inertia that changes with the motion: Lagrange's and Kane's equations then differ."""
    d, g = k.description, k.graph
    for i, body in enumerate(d.bodies):
        if g.depends[body.mass] & COORDINATE or (body.frame >= 0 and inertia_change(k, i) != ZERO):
            return f"the mass or inertia of body {body.name} changes with the motion"
    return ""


def _not_linear(derivation: Derivation) -> str:
    """Reason why u does not follow from p by linear equations; else empty."""
    g = derivation.graph
    if any(g.depends[x] & SPEED for row in derivation.metric for x in row):
        return (
            "its momenta p = dL/dq' are not linear in the derivatives of the coordinates, and are not solved for these"
        )
    return ""


class _Canonical:
    """The canonical equations of one derivation that `why_no_phase_space` accepts."""

    def __init__(self, derivation: Derivation) -> None:
        self.derivation, self.graph, self.d = derivation, derivation.graph, derivation.description
        self.names = tuple(map(momentum_name, self.d.coordinate_names))
        self.momenta = tuple(self.graph.symbol(("u", name), SPEED) for name in self.names)
        self.accelerations = tuple(self.graph.symbol(("a", name), ACCELERATION) for name in self.names)
        speeds, self.pivots = self._speeds()
        self.speed_of: Mapping[int, int] = dict(zip(self.d.speeds, speeds, strict=True))

    @property
    def _kinetic(self) -> int:
        return self.derivation.formulation.kinetic_part

    def _speeds(self) -> tuple[list[int], tuple[tuple[int, int, int], ...]]:
        """The speeds u in q and p, from M u = Yᵀ p − n, and the pivots."""
        g, d = self.graph, self.d
        given = accumulate(g, [(self._kinetic, g.one)], d.speeds, SPEED)
        at_rest = g.substitute(given, dict.fromkeys(d.speeds, 0))
        columns = zip(*rate_slopes(d), strict=True)
        right = [g.sub(dot(g, column, self.momenta), n) for column, n in zip(columns, at_rest, strict=True)]
        speeds, pivots = factorized_solve(g, self.derivation.metric, right)
        if any(all(s(pivot) > 0.0 for pivot, _ in pivots) for s in samples(g, [pivot for pivot, _ in pivots], STATES)):
            return speeds, named_pivots(pivots, range(len(speeds)))
        return solve(g, self.derivation.metric, right), ()  # M is not positive definite

    def _in_momenta(self, nodes: Sequence[int]) -> list[int]:
        return self.graph.substitute(nodes, self.speed_of)

    def _derivatives(self) -> list[int]:
        """The rates dp/dt, in q and u."""
        g, d = self.graph, self.d
        forces = coordinate_forces(d, self.derivation.formulation.active_forces())
        own = accumulate(g, [(self._kinetic, g.one)], d.coordinates, COORDINATE)
        turned = accumulate(g, list(zip(d.rates, self.momenta, strict=True)), d.coordinates, COORDINATE)
        return [g.add(g.sub(a, b), q) for a, b, q in zip(own, turned, forces, strict=True)]

    def _accelerations(self, rates: Sequence[int]) -> dict[int, int]:
        """Derivatives of u in q and p, from those of p, for the power of drives."""
        k, d = self.derivation.kinematics, self.d
        seeds = {i: rate for i, rate in k.seeds.items() if i not in d.coordinates}
        seeds.update(zip(d.coordinates, rates, strict=True))
        seeds.update(zip(self.momenta, self.accelerations, strict=True))
        along = Tangent(self.graph, seeds).of
        return {a: along(self.speed_of[u]) for u, a in zip(d.speeds, d.accelerations, strict=True)}

    def description(self) -> Description:
        g, d, formulation = self.graph, self.d, self.derivation.formulation
        outputs = [(name, node) for name, node in d.outputs if not g.depends[node] & ACCELERATION]
        energies = [formulation.kinetic_energy, formulation.potential_energy, formulation.power, formulation.lagrangian]
        n, nodes = len(d.speeds), [*d.rates, *self._derivatives(), *energies, *(node for _, node in outputs)]
        nodes = self._in_momenta(nodes)
        rates, derivatives, written = nodes[:n], nodes[n : 2 * n], nodes[2 * n + 4 :]
        kinetic, potential, power, lagrangian = nodes[2 * n : 2 * n + 4]
        if g.depends[power] & ACCELERATION:
            [power] = g.substitute([power], self._accelerations(rates))
        return replace(
            without_bodies(d),
            rates=tuple(rates),
            speeds=self.momenta,
            accelerations=self.accelerations,
            speed_names=self.names,
            outputs=tuple((name, node) for (name, _), node in zip(outputs, written, strict=True)),
            guess=tuple((place, value) for place, value in d.guess if place < n),
            n_q_dependent=0,
            n_u_dependent=0,
            lagrangian=None,
            first_order=FirstOrder(tuple(derivatives), kinetic, potential, power, lagrangian, self.pivots),
        )
