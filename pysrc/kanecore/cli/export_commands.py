# SPDX-License-Identifier: BSD-3-Clause
"""The command that writes a model for other programs: ``kanecore export``."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanecore.cli.run_commands import named_state, numbers, pairs
from kanecore.errors import ModelError

if TYPE_CHECKING:
    from kanecore.compiled_model import CompiledModel

__all__ = ["export_c", "export_fmu", "export_wheel"]

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
    **times: Any,
) -> None:
    """Write an FMU; values and units are NAME=VALUE, ``dimensions`` are a gallery model's, and times are in s."""
    given = _in_si(dyn, dimensions or {}) | pairs(units, "--unit", "theta=rad")
    with _in_one_line():
        _give(dyn, parameters, inputs)
        x0 = named_state(dyn, state) if state else None
        dyn.export_fmu(path, version=version, x0=x0, units=given, **times)
    print(f"saved as {path}")


def export_c(
    dyn: CompiledModel,
    folder: Path,
    *,
    parameters: Sequence[str],
    inputs: Sequence[str],
    kernels: str | None,
    **named: Any,
) -> None:
    """Write C; values are NAME=VALUE, kernels are separated by commas."""
    with _in_one_line():
        _give(dyn, parameters, inputs)
        names = None if kernels is None else [name.strip() for name in kernels.split(",") if name.strip()]
        dyn.export_c(folder, kernels=names, **named)
    print(f"saved in {folder}: make -C {shlex.quote(str(folder))} test")


def export_wheel(
    dyn: CompiledModel,
    folder: Path,
    name: str | None,
    version: str,
    *,
    parameters: Sequence[str],
    inputs: Sequence[str],
    runtime: bool,
) -> None:
    """Write a model wheel; its default name is the model's name with "-model"."""
    from kanecore.wheels.model_wheel import build_wheel

    plain = re.sub(r"[^A-Za-z0-9]+", "-", dyn.name).strip("-")
    with _in_one_line():
        _give(dyn, parameters, inputs)
        distribution = f"{plain}-model".lstrip("-") if name is None else name
        path = build_wheel(dyn, folder, name=distribution, version=version, runtime=runtime)
    print(f"saved as {path}")


def _give(dyn: CompiledModel, parameters: Sequence[str], inputs: Sequence[str]) -> None:
    """Set new values of parameters and inputs."""
    new_parameters, new_inputs = numbers(parameters, "--parameter", "m=0.5"), numbers(inputs, "--input", "F=0.5")
    dyn.parameters.update(new_parameters)
    dyn.inputs.update(new_inputs)


@contextlib.contextmanager
def _in_one_line() -> Iterator[None]:
    """Raise a KeyError, ValueError or TypeError as a ModelError, which the command prints in one line."""
    try:
        yield
    except (KeyError, ValueError, TypeError) as error:
        raise ModelError(str(error.args[0] if len(error.args) == 1 else error)) from error


def _in_si(dyn: CompiledModel, dimensions: Dimensions) -> dict[str, Any]:
    """The unit of each variable with a known dimension; a pure number may be an angle, and has no unit."""
    names = {*dyn.names.x, *dyn.parameter_names, *dyn.input_names}
    return {name: powers for name, powers in dimensions.items() if name in names and any(powers)}
