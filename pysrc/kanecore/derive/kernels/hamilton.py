# SPDX-License-Identifier: BSD-3-Clause
"""Generalized momenta, the Hamiltonian and the parts of T, and the rates by which `kanecore.run.conserved` decides."""

from __future__ import annotations

from kanecore.derive.derivation import Derivation
from kanecore.derive.hamilton import Hamilton, why_no_hamiltonian, why_no_momenta
from kanecore.derive.registry import Derived, derives

__all__: list[str] = []


@derives("generalized_momenta", missing=why_no_momenta)
def _generalized_momenta(d: Derivation) -> Derived:
    return Derived(tuple(Hamilton(d).momenta))


@derives("hamiltonian", missing=why_no_hamiltonian)
def _hamiltonian(d: Derivation) -> Derived:
    return Derived((Hamilton(d).hamiltonian,))


@derives("kinetic_energy_parts", missing=why_no_hamiltonian)
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
