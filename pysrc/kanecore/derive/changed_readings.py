# SPDX-License-Identifier: BSD-3-Clause
"""Readings made from another reading: in Hamilton's variables, without cyclic coordinates, with constraints freed.

Each has the new description, and keeps the user's names as far as they still apply.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from sympy import Symbol

from kanecore.derive.forces.freed_constraints import freed
from kanecore.derive.formulations.canonical_equations import canonical
from kanecore.derive.formulations.routhian import routhian
from kanecore.describe.description import Description
from kanecore.describe.from_sympy.reactions import multiplier
from kanecore.describe.from_sympy.symbols import function_of_time
from kanecore.describe.reading import Reading

__all__ = ["canonical_reading", "freed_reading", "routhian_reading"]


def canonical_reading(reading: Reading) -> Reading:
    """The reading in q and p = ∂L/∂q̇; ModelError as in `kanecore.Model.canonical`."""
    return _without_loads(reading, canonical(reading.description))


def routhian_reading(reading: Reading, cyclic: Sequence[str]) -> Reading:
    """The reading without the named coordinates, or without all cyclic ones; their momenta become parameters.

    ModelError and KeyError as in `kanecore.Model.routhian`.
    """
    d = routhian(reading.description, cyclic)
    momenta = d.parameter_names[len(reading.description.parameters) :]
    return _without_loads(replace(reading, symbols={**reading.symbols, **{name: Symbol(name) for name in momenta}}), d)


def _without_loads(reading: Reading, d: Description) -> Reading:
    """The reading with a description made of energies: with new speeds, without loads and some outputs."""
    outputs = {name for name, _ in d.outputs}
    return replace(
        reading,
        description=d,
        symbols={**reading.symbols, **{name: function_of_time(name) for name in d.speed_names}},
        written={name: e for name, e in reading.written.items() if str(name) in outputs},
        noncontributing=(),
        n_loads=0,
    )


def freed_reading(reading: Reading, constraints: Sequence[str | int], reserved: Collection[str]) -> Reading:
    """The reading without some constraints; their forces are inputs.  ModelError as in `kanecore.Model.free`.

    Parameters
    ----------
    constraints : sequence of str or int
        Names, or numbers of rows of G.
    reserved : collection of str
        Names that an input may not have, in addition to the names of the description.
    """
    result = freed(reading.description, constraints, reading.n_loads, set(reserved))
    forces = {name: function_of_time(name) for name in result.inputs}
    swap = {
        multiplier(row): forces[name] if name else multiplier(number)
        for row, (name, number) in enumerate(result.multipliers)
    }
    return replace(
        reading,
        description=result.description,
        symbols={**reading.symbols, **forces},
        n_loads=reading.n_loads + result.n_loads,
        written={name: e.xreplace(swap) for name, e in reading.written.items()},
    )
