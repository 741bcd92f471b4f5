# SPDX-License-Identifier: BSD-3-Clause
"""Loads of a reading that affect the motion: explicit, with reactions solved for, without noncontributing forces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sympy import Derivative, Symbol

from kanecore.derive.forces.determined_reactions import with_reactions
from kanecore.derive.forces.explicit_loads import explicit_loads
from kanecore.derive.forces.noncontributing_forces import in_loads_alone, reactions_with_effect, without, without_effect
from kanecore.describe.from_sympy.symbols import function_name, symbol_name
from kanecore.describe.reading import Reading
from kanecore.errors import ModelError

__all__ = ["contributing", "contributing_as_written", "unknown_reactions"]


def contributing(reading: Reading) -> Reading:
    """The reading with explicit loads, with reactions in them solved for, and without noncontributing forces.

    A noncontributing force is an undeclared symbol that occurs in loads only, and on which no F_r depends.  ``whole``
    of the reading is the description with these forces.

    Raises
    ------
    ModelError
        A load depends on a reaction that affects the motion and is not listed; or a load cannot be made explicit.
    """
    reading = contributing_as_written(reading)
    for force, load, away in unknown_reactions(reading):
        raise ModelError(
            f"load {load} depends on {force}, the reaction of the auxiliary speed {away}, and the motion depends on "
            "it, as by friction: reactions are found after u̇, so it would be an input at 0. "
            f"List it: reactions=[{function_name(force)}, ...], one for each auxiliary speed, are found with "
            f"u̇; or inputs=[{function_name(force)}, ...]: its value is right where auxiliary_forces vanish"
        )
    return reading


def contributing_as_written(reading: Reading) -> Reading:
    """Apply `contributing`, but keep unlisted reactions that affect the motion as inputs."""
    d = with_reactions(explicit_loads(reading.description), reading.reactions)
    candidates = [i for i in in_loads_alone(d) if i in reading.undeclared] if reading.undeclared else []
    dropped = without_effect(d, candidates) if candidates else []
    names = zip((*d.parameters, *d.inputs), (*d.parameter_names, *d.input_names), strict=True)
    symbols = {i: reading.symbols[name] for i, name in names if i in reading.undeclared}
    of_parameters = {name: Symbol(name) for name in d.parameter_names}
    reading = replace(
        reading,
        whole=d,
        symbols={**of_parameters, **reading.symbols},
        noncontributing=tuple(symbols[i] for i in dropped),
    )
    return _naming_left_out(replace(reading, description=without(d, dropped) if dropped else d))


def _naming_left_out(reading: Reading) -> Reading:
    """The reading; its description names the parts that were left out, with noncontributing forces."""
    left_out = {*reading.left_out, *(x for x in reading.noncontributing if not isinstance(x, Derivative))}
    if not left_out:
        return reading
    in_order = tuple(sorted(left_out, key=symbol_name))
    description = replace(
        reading.description,
        left_out_parameters=tuple(str(x) for x in in_order if x.is_Symbol),
        left_out_inputs=tuple(function_name(x) for x in in_order if not x.is_Symbol),
    )
    return replace(reading, description=description, left_out=in_order)


def unknown_reactions(reading: Reading) -> Iterator[tuple[Any, int, str]]:
    """Undeclared reactions that affect the motion: (symbol, number of a load, auxiliary speed).

    The loads of the reading are explicit, as `contributing_as_written` leaves them.
    """
    d = reading.description
    for force, load, speed in reactions_with_effect(d, [i for i in d.inputs if i in reading.undeclared]):
        symbol = reading.symbols[d.input_names[d.inputs.index(force)]]
        yield symbol, load, d.auxiliary_names[d.auxiliary.index(speed)]
