# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of energies and momenta: kinetic and potential energy, power, momenta, the energy of accelerations.

Further kernels are generalized momenta, the Hamiltonian, the parts of T, and the rates for
`kanecore.audit.conserved_quantities`.
"""

from __future__ import annotations

from kanecore.derive.derivation import Derivation
from kanecore.derive.forces.energies import accelerations_energy
from kanecore.derive.formulations.hamiltonian import Hamilton, why_no_hamiltonian, why_no_momenta
from kanecore.derive.kernel_registry import Derived, derives
from kanecore.graph.expression_graph import SPEED
from kanecore.graph.vectors import dot

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


@derives("generalized_momenta", missing=why_no_momenta)
def _generalized_momenta(d: Derivation) -> Derived:
    return Derived(tuple(Hamilton(d).momenta))


@derives("hamiltonian", missing=why_no_hamiltonian)
def _hamiltonian(d: Derivation) -> Derived:
    return Derived((Hamilton(d).hamiltonian,))


def _why_no_parts(d: Derivation) -> str:
    given = d.description.lagrangian is not None  # bodies have a kinetic energy of degree two
    if given and any(d.graph.depends[x] & SPEED for row in d.metric for x in row):
        return "its kinetic energy is not of degree two in the speeds, as that of a relativistic Lagrangian"
    return why_no_hamiltonian(d)


@derives("kinetic_energy_parts", missing=_why_no_parts)
def _kinetic_energy_parts(d: Derivation) -> Derived:
    return Derived(Hamilton(d).parts(d.kernel("kinetic_energy").roots[0]))


@derives("momentum_rates", missing=why_no_momenta)
def _momentum_rates(d: Derivation) -> Derived:
    hamilton = Hamilton(d)
    return Derived((*map(hamilton.rate, hamilton.momenta), *hamilton.position_slopes))


@derives("hamiltonian_rate", missing=why_no_hamiltonian)
def _hamiltonian_rate(d: Derivation) -> Derived:
    hamilton = Hamilton(d)
    return d.kernel("power") if hamilton.is_energy else Derived((hamilton.rate(hamilton.hamiltonian),))
