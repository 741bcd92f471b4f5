# SPDX-License-Identifier: BSD-3-Clause
"""Kinetic and potential energy, the power of what has no potential, momenta, and the energy of accelerations."""

from __future__ import annotations

from kanecore.derive.derivation import Derivation
from kanecore.derive.energy import accelerations_energy, kinetic_energy, momenta, power
from kanecore.derive.registry import Derived, derives
from kanecore.derive.vectors import dot

__all__: list[str] = []


@derives("kinetic_energy")
def _kinetic_energy(d: Derivation) -> Derived:
    return Derived((kinetic_energy(d.kinematics),))


@derives("potential_energy")
def _potential_energy(d: Derivation) -> Derived:
    return Derived((d.energy.potential,))


@derives("power")
def _power(d: Derivation) -> Derived:
    g, description = d.graph, d.description
    total = power(d.kinematics, d.energy)
    if description.constraints and d.constraints.do_work:  # (Gᵀλ)·u, by the equations of motion
        balance = [g.neg(f) for f in d.residual(description.accelerations)]
        total = g.add(total, dot(g, balance, description.speeds))
    return Derived((total,))


@derives("momenta")
def _momenta(d: Derivation) -> Derived:
    return Derived(tuple(momenta(d.kinematics)))


@derives("gibbs")
def _gibbs(d: Derivation) -> Derived:
    return Derived((accelerations_energy(d.kinematics),))
