# SPDX-License-Identifier: BSD-3-Clause
"""All kernels of a compiled model in one library, with its current parameters: what every export starts from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kanecore.emit.groups import whole
from kanecore.emit.library import Library
from kanecore.errors import ModelError

__all__ = ["current_parameters", "library_of"]


def library_of(dyn: Any, what: str, kernels: Sequence[str] | None = None, real: str = "double") -> Library:
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
    return whole(dyn._describe(), current_parameters(dyn), kernels=kernels, real=real)


def current_parameters(dyn: Any) -> dict[str, float]:
    """The parameters that have a value."""
    values = zip(dyn.parameter_names, map(float, dyn._values("parameter")), strict=True)
    return {name: value for name, value in values if not math.isnan(value)}
