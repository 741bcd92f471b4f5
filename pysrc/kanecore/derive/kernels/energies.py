# SPDX-License-Identifier: BSD-3-Clause
"""Kinetic and potential energy, the power of what has no potential, momenta, and the energy of accelerations."""

from __future__ import annotations

from kanecore.derive.derivation import Derivation
from kanecore.derive.energy import accelerations_energy
from kanecore.derive.registry import Derived, derives
from kanecore.derive.vectors import dot

__all__: list[str] = []


@derives("kinetic_energy")
def _kinetic_energy(d: Derivation) -> Derived:
    return Derived((d.formulation.kinetic_energy,))


@derives("potential_energy")
def _potential_energy(d: Derivation) -> Derived:
    return Derived((d.formulation.potential_energy,))


@derives("power")
def _power(d: Derivation) -> Derived:
    g, description = d.graph, d.description
    total = d.formulation.power
    if description.constraints and d.constraints.do_work:  # (Gᵀλ)·u, by the equations of motion
        balance = [g.neg(f) for f in d.residual(description.accelerations)]
        total = g.add(total, dot(g, balance, description.speeds))
    return Derived((total,))


def _without_momenta(d: Derivation) -> str:
    return "its speeds are momenta themselves" if d.description.first_order is not None else ""


@derives("momenta", missing=_without_momenta)
def _momenta(d: Derivation) -> Derived:
    return Derived(tuple(d.formulation.momenta()))


def _without_bodies(d: Derivation) -> str:
    return "" if d.description.bodies else "it has no bodies, whose accelerations S is made of"


@derives("gibbs", missing=_without_bodies)
def _gibbs(d: Derivation) -> Derived:
    return Derived((accelerations_energy(d.kinematics),))
