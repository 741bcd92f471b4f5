# SPDX-License-Identifier: BSD-3-Clause
"""Generalized momenta and the Hamiltonian, their rates, and beside what size a rate is zero.

What may be conserved is tested at random states by `kanecore.run.conserved`.  Each rate comes with the magnitude of
the terms that it is summed from; given as u̇ what bounds u̇ and its rounding, that is a bound of the rounding of the rate.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.derive.derivation import Derivation
from kanecore.derive.hamilton import Hamilton, why_no_hamiltonian, why_no_momenta
from kanecore.derive.magnitudes import magnitude
from kanecore.derive.registry import Derived, derives

__all__: list[str] = []


def _magnitudes(d: Derivation, nodes: Sequence[int]) -> tuple[int, ...]:
    known = dict[int, int]()
    return tuple(magnitude(d.graph, x, known) for x in nodes)


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
    """dp/dt, ∂L/∂q, and the magnitudes of both."""
    hamilton = Hamilton(d)
    rates = [*map(hamilton.rate, hamilton.momenta), *hamilton.position_slopes]
    return Derived((*rates, *_magnitudes(d, rates)))


@derives("hamiltonian_rate", missing=why_no_hamiltonian)
def _hamiltonian_rate(d: Derivation) -> Derived:
    """dH/dt and its magnitude."""
    hamilton = Hamilton(d)
    rate = d.kernel("power").roots[0] if hamilton.is_energy else hamilton.rate(hamilton.hamiltonian)
    return Derived((rate, *_magnitudes(d, [rate])))


@derives("power_size")
def _power_size(d: Derivation) -> Derived:
    return Derived(_magnitudes(d, d.kernel("power").roots))


@derives("force_sizes")
def _force_sizes(d: Derivation) -> Derived:
    return Derived(_magnitudes(d, d.forcing))


@derives("inertia_force_sizes")
def _inertia_force_sizes(d: Derivation) -> Derived:
    return Derived(_magnitudes(d, d.kernel("inertia_forces").roots))
