# SPDX-License-Identifier: BSD-3-Clause
"""The variables of an FMU: names that are unique, in the order of the value references that the C code knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from kanecore.derive.sparsity_patterns import patterns
from kanecore.emit.kernel_library import Library
from kanecore.graph.expression_graph import TIME
from kanecore.run.units import Unit, rate_of, read_unit, unit_of

__all__ = ["Variable", "variables_of", "xml_text"]

# Characters that XML 1.0 has not, and those that FMI forbids in names.
_NOT_IN_XML = re.compile("[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Variable:
    """One variable.

    Attributes
    ----------
    reference : int
        Its value reference, and its place in the list.
    causality, variability : str
        As FMI has them.
    start : float, optional
        Its value at the start; None if it is calculated.
    state : int, optional
        Reference of the state, for a derivative.
    depends, depends_at_start : tuple of int
        References that a calculated value may depend on, while the model runs and at the start.
    """

    name: str
    reference: int
    causality: str
    variability: str
    description: str
    start: float | None = None
    unit: Unit | None = None
    state: int | None = None
    depends: tuple[int, ...] = ()
    depends_at_start: tuple[int, ...] = ()


def xml_text(text: str) -> str:
    """Text in which characters that XML lacks, or that FMI forbids in names, are escaped as in Python."""
    return _NOT_IN_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def variables_of(
    dyn: Any, library: Library, start: Sequence[float], units: Mapping[Any, Any], drift: float | None
) -> list[Variable]:
    """All variables of a compiled model, with its current parameters.

    Parameters
    ----------
    start : sequence of float
        Start values of the states, then of the inputs.
    units : mapping
        Units by names or symbols.
    drift : float, optional
        The default of the parameter that says from which drift on constrained states are brought back.
    """
    states, inputs = [*dyn.names.x], list(dyn.input_names)
    outputs, parameters = list(dyn.output_names), list(dyn.parameter_names)
    known = _units(units, [*states, *inputs, *outputs, *parameters])
    taken: set[str] = set()

    n, first_input = len(states), 1 + 2 * len(states)
    first_output = first_input + len(inputs)
    first_parameter = first_output + len(outputs)
    state_names = [_free(name, "state", taken) for name in states]
    input_names = [_free(name, "input", taken) for name in inputs]
    parameter_names = [_free(name, "parameter", taken) for name in parameters]
    output_names = [_free(name, "output", taken) for name in outputs]
    time = _free("time", "independent variable", taken)

    by_wrt = [*range(1, 1 + n), *range(first_input, first_output)]  # references of x and r
    by_p = list(range(first_parameter, first_parameter + len(parameters)))
    slopes, at_start = _dependencies(library, by_wrt, by_p)

    result: list[Variable] = []

    def add(name: str, causality: str, variability: str, description: str, **more: Any) -> None:
        result.append(Variable(name, len(result), causality, variability, description, **more))

    add(time, "independent", "continuous", "time", unit=unit_of("s"))
    for i, name in enumerate(state_names):
        kind = "coordinate" if i < dyn.n_q else "speed" if i < dyn.n_q + dyn.n_u else "first-order state"
        add(name, "output", "continuous", kind, start=float(start[i]), unit=known.get(states[i]))
    for i, name in enumerate(state_names):
        unit = known.get(states[i])
        depends = {"depends": slopes["rhs"][i], "depends_at_start": at_start["rhs"][i]}
        rate, what = _free(f"der({name})", "rate", taken), f"derivative of {name}"
        add(rate, "local", "continuous", what, unit=rate_of(unit) if unit else None, state=1 + i, **depends)
    rates = {rate: i for i, rate in enumerate(dyn.input_rates) if rate >= 0}
    for i, name in enumerate(input_names):
        kind = f"input, the rate of {input_names[rates[i]]}" if i in rates else "input"
        add(name, "input", "continuous", kind, start=float(start[n + i]), unit=known.get(inputs[i]))
    for i, name in enumerate(output_names):
        depends = {"depends": slopes["outputs"][i], "depends_at_start": at_start["outputs"][i]}
        add(name, "output", "continuous", "output", unit=known.get(outputs[i]), **depends)
    for name, plain, value in zip(parameter_names, parameters, dyn.kernels.values("parameter"), strict=True):
        add(name, "parameter", "tunable", "parameter", start=float(value), unit=known.get(plain))
    if drift is not None:
        text = (
            "states that are off their constraints by more, relative to the terms these are summed from, or unit "
            "quaternions whose norms differ from 1 by more, ask for event mode and are brought back there"
        )
        add(_free("drift limit", "of constraints", taken), "parameter", "fixed", text, start=drift)
    return result


def _free(name: str, kind: str, taken: set[str]) -> str:
    """Name as XML can hold it; with its kind and a number appended, if another variable has it already."""
    text = xml_text(name) or "_"
    choices = (text, f"{text} ({kind})", *(f"{text} ({kind} {i})" for i in range(2, len(taken) + 3)))
    result = next(choice for choice in choices if choice not in taken)
    taken.add(result)
    return result


def _units(units: Mapping[Any, Any], names: Sequence[str]) -> dict[str, Unit]:
    """Units by name; KeyError, TypeError or ValueError if they are wrong."""
    if not isinstance(units, Mapping):
        raise TypeError(f"units is {units!r}; it must map names to units: {{'theta': 'rad'}}")
    result = {}
    for key, unit in units.items():
        named = key if isinstance(key, str) else getattr(getattr(key, "func", None), "__name__", "")
        name = named if named in names else str(key)  # of θ(t) the name is θ
        if name not in names:
            near = get_close_matches(name, names, 3)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise KeyError(f"units names {name!r}, which is no state, input, output or parameter{hint}")
        read = read_unit(unit, repr(name))
        if xml_text(read.name) != read.name:
            raise ValueError(f"the unit of {name!r} is {unit!r}; it must be printable text such as 'rad/s' or 'kg.m2'")
        if any(power != int(power) for power in (read.powers or {}).values()):
            raise ValueError(f"the unit of {name!r} is {unit}; FMI has whole powers of its base units alone")
        result[name] = read
    return result


def _dependencies(
    library: Library, by_wrt: Sequence[int], by_p: Sequence[int]
) -> tuple[dict[str, list[tuple[int, ...]]], dict[str, list[tuple[int, ...]]]]:
    """References on which derivatives of states, and outputs, may depend: while the model runs, and at the start."""
    derivation, known = library.derivation, patterns(library.derivation)
    d, g = library.d, library.g

    def rows(kernel: str, count: int, references: Sequence[int], otherwise: Sequence[int]) -> list[tuple[int, ...]]:
        if kernel not in known:
            return [tuple(otherwise)] * count
        return [tuple(_bits(int(row, 16), references)) for row in known[kernel]] or [()] * count

    n = len(d.coordinates) + len(d.speeds)
    times = rows("rhs_time_derivative", n, [0], ())
    running = [(*time, *row) for time, row in zip(times, rows("linearize", n, by_wrt, ()), strict=True)]
    of_p = rows("rhs_parameter_jacobian", n, by_p, ())
    udot_moves = any(times)
    outputs = []
    for (_, node), row in zip(d.outputs, rows("output_jacobian", len(d.outputs), by_wrt, by_wrt), strict=True):
        in_time = udot_moves or g.depends[node] & TIME or not derivation.has("output_jacobian")
        outputs.append(((0,) if in_time else ()) + row)
    return {"rhs": running, "outputs": outputs}, {
        "rhs": [(*row, *p) for row, p in zip(running, of_p, strict=True)],
        "outputs": [(*row, *by_p) for row in outputs],
    }


def _bits(row: int, references: Sequence[int]) -> Iterator[int]:
    return (reference for j, reference in enumerate(references) if row >> j & 1)
