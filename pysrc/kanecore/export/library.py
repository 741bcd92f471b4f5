# SPDX-License-Identifier: BSD-3-Clause
"""All kernels of a compiled model in one library, with its current parameters: what every export starts from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kanecore.describe.description import Description
from kanecore.emit.groups import Groups, whole
from kanecore.emit.library import Library
from kanecore.emit.machine import FIRST, code
from kanecore.errors import ModelError
from kanecore.machine_code import Code

__all__ = ["CompiledModel", "description_of", "library_of", "on_machine", "with_values"]

CompiledModel = Any  # which imports what is here when it is asked to export itself


def library_of(dyn: CompiledModel, what: str, kernels: Sequence[str] | None = None, real: str = "double") -> Library:
    """The library that holds all kernels, or some, with the current parameters as defaults.

    Parameters
    ----------
    dyn : CompiledModel
    what : str
        What is made of it, for messages: "a C library".

    Raises
    ------
    ModelError
        The model calls functions of this process by their addresses, or nobody knows its description.
    """
    return whole(description_of(dyn, what), with_values(dyn.parameters), kernels=kernels, real=real)


def description_of(dyn: CompiledModel, what: str) -> Description:
    """What the model was derived from; ModelError as `library_of` raises it."""
    if dyn._functions:
        raise ModelError(
            f"{dyn.name!r} cannot become {what}: it calls {', '.join(dyn._functions)} by address, kc.CFunction, and an "
            "address belongs to this process; describe the function by data, kc.Spline"
        )
    if dyn._describe is None:
        raise ModelError(
            f"{dyn.name!r} cannot become {what}: it was unpickled, or comes from a wheel, without its description; "
            "export it where it was compiled"
        )
    description: Description = dyn._describe()
    return description


def with_values(numbers: Mapping[str, float]) -> dict[str, float]:
    """Those parameters, or inputs, that have a value."""
    return {name: float(value) for name, value in numbers.items() if not math.isnan(value)}


def on_machine(dyn: CompiledModel) -> CompiledModel:
    """The same model in doubles, without a compiler and with no value of its parameters."""
    groups = Groups(dyn._describe(), first=FIRST)

    def build(group: str) -> tuple[Code, None]:
        return code(groups.library(group)), None

    return dyn._another({"core": build("core")[0]}, build)
