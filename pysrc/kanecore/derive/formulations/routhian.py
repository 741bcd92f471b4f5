# SPDX-License-Identifier: BSD-3-Clause
"""Routh's reduction, on the graph (Goldstein, Poole & Safko, *Classical Mechanics*, 3rd ed. 2002, section 8.3).

A coordinate φ is cyclic if ∂L/∂φ = 0 and no other force acts along it.  Then p_φ = ∂L/∂φ̇ is a constant, from which φ̇
follows in the other coordinates q, and

    𝓡(q, q̇, t; p_φ) = L − Σ p_φ φ̇,        d/dt ∂𝓡/∂q̇ − ∂𝓡/∂q = Q:

𝓡 is a Lagrangian of q only.  Goldstein's Routhian is −𝓡.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property

from kanecore.derive.derivation import Derivation
from kanecore.derive.forces.generalized_forces import active_forces, coordinate_forces
from kanecore.describe.description import (
    Description,
    GeneralizedForce,
    Image,
    duplicate,
    momentum_name,
    rate_name,
    without_bodies,
)
from kanecore.errors import ModelError, unknown_name
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.expression_graph import ACCELERATION, PARAMETER, SPEED, Graph
from kanecore.graph.linear_equations import Singular, solve
from kanecore.graph.vectors import dot
from kanecore.graph.zero_tests import vanish

from .canonical_equations import why_no_phase_space
from .hamiltonian import Hamilton

__all__ = ["routhian"]


def routhian(description: Description, chosen: Sequence[str]) -> Description:
    """The description without some cyclic coordinates, by default all; ModelError if no coordinate is cyclic."""
    derivation = Derivation(duplicate(description))
    if reason := why_no_phase_space(derivation):
        raise ModelError(f"{description.name!r} has no Routhian: {reason}")
    try:
        equations = _Routh(derivation, chosen).description()
    except Singular:
        raise ModelError(
            f"{description.name!r} has no Routhian: the momenta of its cyclic coordinates do not give their rates"
        ) from None
    return Image(equations.graph, Graph(), {}).description(equations)


class _Routh:
    """The reduction of a derivation; coordinates are given by index."""

    def __init__(self, derivation: Derivation, chosen: Sequence[str]) -> None:
        self.derivation, self.graph, self.d = derivation, derivation.graph, derivation.description
        self.cyclic = self._named(chosen) if chosen else self._all()
        self.kept = [i for i in range(len(self.d.coordinates)) if i not in self.cyclic]
        if not self.kept:
            raise ModelError(
                f"{self.d.name!r} has no Routhian: all its coordinates are cyclic, and the rates follow from constant "
                "momenta; name fewer"
            )

    # ------------------------------------------------------------------ which coordinates are cyclic
    @cached_property
    def _forces(self) -> list[int]:
        """The generalized forces Q that are not in L."""
        k, energy = self.derivation.kinematics, self.derivation.energy
        return coordinate_forces(self.d, active_forces(k, energy.others, generalized=self.d.generalized_forces))

    @cached_property
    def _slopes(self) -> list[int]:
        """∂L/∂q at constant q̇."""
        return Hamilton(self.derivation).position_slopes

    def _why_not(self, i: int) -> str:
        """Reason why a coordinate is not cyclic; empty if it is."""
        if not vanish(self.graph, [self._slopes[i]]):
            return "L depends on it"
        if not vanish(self.graph, [self._forces[i]]):
            return "a force without a potential acts along it"
        along = Tangent(self.graph, {self.d.coordinates[i]: self.graph.one}).of
        return "" if vanish(self.graph, [along(force) for force in self._forces]) else "a force depends on it"

    def _all(self) -> list[int]:
        reasons = [self._why_not(i) for i in range(len(self.d.coordinates))]
        if all(reasons):
            said = "; ".join(f"{name}: {why}" for name, why in zip(self.d.coordinate_names, reasons, strict=True))
            raise ModelError(f"{self.d.name!r} has no Routhian, as no coordinate is cyclic: {said}")
        return [i for i, reason in enumerate(reasons) if not reason]

    def _named(self, chosen: Sequence[str]) -> list[int]:
        names, found = self.d.coordinate_names, list[int]()
        for name in chosen:
            if name not in names:
                raise unknown_name(f"coordinate of {self.d.name!r} is called", name, names)
            if why := self._why_not(names.index(name)):
                raise ModelError(f"{name} of {self.d.name!r} is not cyclic: {why}, so that its momentum changes")
            found.append(names.index(name))
        return sorted(set(found))

    # ------------------------------------------------------------------ elimination
    @cached_property
    def _rates(self) -> list[int]:
        """Symbols of q̇."""
        return [self.graph.symbol(("u", rate_name(name)), SPEED) for name in self.d.coordinate_names]

    @cached_property
    def _momenta(self) -> list[int]:
        """Symbols of the constant momenta."""
        names = (momentum_name(self.d.coordinate_names[i]) for i in self.cyclic)
        return [self.graph.symbol(("p", name), PARAMETER) for name in names]

    @cached_property
    def _speeds(self) -> dict[int, int]:
        """The speeds u in q and q̇, from Y u = q̇ − z."""
        at_rest = self.graph.substitute(self.d.rates, dict.fromkeys(self.d.speeds, 0))
        columns = [Tangent(self.graph, {u: self.graph.one}).of for u in self.d.speeds]
        matrix = [[of(rate) for of in columns] for rate in self.d.rates]
        right = [self.graph.sub(rate, z) for rate, z in zip(self._rates, at_rest, strict=True)]
        return dict(zip(self.d.speeds, solve(self.graph, matrix, right), strict=True))

    @cached_property
    def _cyclic_rates(self) -> list[int]:
        """The rates φ̇ in q, q̇ and p, from ∂L/∂φ̇ = p."""
        g, symbols = self.graph, [self._rates[i] for i in self.cyclic]
        momenta = accumulate(g, [(self._lagrangian, g.one)], symbols, SPEED)
        matrix = [accumulate(g, [(p, g.one)], symbols, SPEED) for p in momenta]
        if any(not set(symbols).isdisjoint(g.below([x])) for row in matrix for x in row):
            raise ModelError(
                f"{self.d.name!r} has no Routhian: the momenta of its cyclic coordinates are not linear in their rates"
            )
        at_rest = g.substitute(momenta, dict.fromkeys(symbols, 0))
        return solve(g, matrix, [g.sub(p, n) for p, n in zip(self._momenta, at_rest, strict=True)])

    @cached_property
    def _lagrangian(self) -> int:
        """L in q and q̇."""
        return self.graph.substitute([self.derivation.lagrangian], self._speeds)[0]

    def _reduced(self, nodes: Sequence[int]) -> list[int]:
        """Nodes without the rates of cyclic coordinates, and with 0 for these coordinates."""
        g = self.graph
        nodes = g.substitute(nodes, self._speeds)
        rates = zip((self._rates[i] for i in self.cyclic), self._cyclic_rates, strict=True)
        nodes = g.substitute(nodes, dict(rates))
        return g.substitute(nodes, {self.d.coordinates[i]: 0 for i in self.cyclic})

    # ------------------------------------------------------------------ result
    def description(self) -> Description:
        g, d = self.graph, self.d
        products = dot(g, self._momenta, [self._rates[i] for i in self.cyclic])
        lagrangian, *forces = self._reduced([g.sub(self._lagrangian, products), *(self._forces[i] for i in self.kept)])
        names, outputs = [d.coordinate_names[i] for i in self.kept], self._outputs()
        speed_names = tuple(map(rate_name, names))
        momentum_names = tuple(momentum_name(d.coordinate_names[i]) for i in self.cyclic)
        _require_free(d, [*speed_names, *momentum_names, *(rate_name(d.coordinate_names[i]) for i in self.cyclic)])
        speeds, at = tuple(self._rates[i] for i in self.kept), {i: n for n, i in enumerate(self.kept)}
        return replace(
            without_bodies(d),
            tendons=(),
            coordinates=tuple(d.coordinates[i] for i in self.kept),
            coordinate_names=tuple(names),
            rates=speeds,
            speeds=speeds,
            speed_names=speed_names,
            accelerations=tuple(g.symbol(("a", name), ACCELERATION) for name in speed_names),
            parameters=(*d.parameters, *self._momenta),
            parameter_names=(*d.parameter_names, *momentum_names),
            outputs=tuple(outputs),
            guess=tuple((at[place], value) for place, value in d.guess if place in at),
            n_q_dependent=0,
            n_u_dependent=0,
            lagrangian=lagrangian,
            generalized_forces=(
                (GeneralizedForce("forces without a potential", tuple(forces), "reduction"),) if any(forces) else ()
            ),
        )

    def _outputs(self) -> list[tuple[str, int]]:
        """The outputs without u̇ and cyclic coordinates, and the rates of the cyclic coordinates."""
        g, kept = self.graph, []
        along = Tangent(g, {self.d.coordinates[i]: g.one for i in self.cyclic}).of
        for name, node in self.d.outputs:
            if not g.depends[node] & ACCELERATION and not along(node):
                kept.append((name, node))
        nodes = self._reduced([node for _, node in kept])
        rates = self._reduced(self._cyclic_rates)
        named = [rate_name(self.d.coordinate_names[i]) for i in self.cyclic]
        return [
            *((name, node) for (name, _), node in zip(kept, nodes, strict=True)),
            *zip(named, rates, strict=True),
        ]


def _require_free(d: Description, names: Collection[str]) -> None:
    """Raise ModelError if another symbol has the name of a rate or of a momentum."""
    taken = {*d.coordinate_names, *d.parameter_names, *d.input_names, *(name for name, _ in d.outputs)}
    for name in names:
        if name in taken:
            raise ModelError(f"the Routhian of {d.name!r} needs the name {name!r}, which is taken: rename its symbol")
