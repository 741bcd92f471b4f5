# SPDX-License-Identifier: BSD-3-Clause
"""The command that writes a model for other programs: ``kanecore export``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kanecore.cli_runs import named_state
from kanecore.errors import ModelError

if TYPE_CHECKING:
    from kanecore.run.model import CompiledModel

__all__ = ["export_fmu"]

Dimensions = Mapping[str, tuple[int, int, int]]


def export_fmu(
    dyn: CompiledModel,
    path: Path,
    version: str,
    *,
    parameters: Sequence[str],
    inputs: Sequence[str],
    state: Sequence[str],
    units: Sequence[str],
    dimensions: Dimensions | None,
) -> None:
    """Write an FMU; values and units are NAME=VALUE each, and ``dimensions`` are those of a gallery model."""
    new_parameters, new_inputs = _numbers(parameters, "--parameter", "m=0.5"), _numbers(inputs, "--input", "F=0.5")
    given = _in_si(dyn, dimensions or {}) | _pairs(units, "--unit", "theta=rad")
    try:
        dyn.parameters.update(new_parameters)
        dyn.inputs.update(new_inputs)
        x0 = named_state(dyn, state) if state else None
        dyn.export_fmu(path, version=version, x0=x0, units=given)
    except (KeyError, ValueError, TypeError) as error:
        raise ModelError(str(error.args[0])) from None
    print(f"saved as {path}")


def _pairs(items: Sequence[str], option: str, example: str) -> dict[str, str]:
    """Names and what stands behind the last ``=``."""
    result = {}
    for item in items:
        name, equals, text = item.rpartition("=")
        if not equals:
            raise ModelError(f"{option} {item}: it must be NAME=VALUE, such as {example}")
        result[name] = text
    return result


def _numbers(items: Sequence[str], option: str, example: str) -> dict[str, float]:
    result = {}
    for name, text in _pairs(items, option, example).items():
        try:
            result[name] = float(text)
        except ValueError:
            raise ModelError(f"{option} {name}={text}: the value must be a number") from None
    return result


def _in_si(dyn: CompiledModel, dimensions: Dimensions) -> dict[str, str]:
    """The unit of each variable whose dimension is known; a number may be an angle, and has none."""
    names = {*dyn.coordinate_names, *dyn.speed_names, *dyn.parameter_names, *dyn.input_names}
    result = {}
    for name, (length, mass, time) in dimensions.items():
        powers = {"kg": mass, "m": length, "s": time}
        if name in names and any(powers.values()):
            above = [_power(unit, n) for unit, n in powers.items() if n > 0]
            below = [_power(unit, -n) for unit, n in powers.items() if n < 0]
            bottom = f"({'.'.join(below)})" if len(below) > 1 else "".join(below)
            result[name] = (".".join(above) or "1") + (f"/{bottom}" if bottom else "")
    return result


def _power(unit: str, n: int) -> str:
    return unit if n == 1 else f"{unit}{n}"
