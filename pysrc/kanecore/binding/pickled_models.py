# SPDX-License-Identifier: BSD-3-Clause
"""Pickles of compiled models: the source that recreates them, their current values, and a digest of both."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["pickled", "restored", "unsealed"]

Array = npt.NDArray[np.float64]


def pickled(dyn: Evaluator) -> tuple[Any, ...]:
    """The result of ``__reduce__`` of a model; ModelError if no pickle can recreate the model."""
    if dyn.libraries.functions:
        raise ModelError(
            f"{dyn.name!r} cannot be pickled: it calls {', '.join(dyn.libraries.functions)} by address, kc.CFunction, "
            "and an address belongs to this process; give the data, kc.Spline, or compile the model in that process"
        )
    if dyn.libraries.origin is None:
        raise ModelError(f"{dyn.name!r} cannot be pickled: its origin is not known")
    make, arguments = dyn.libraries.origin
    values = dyn.kernels.values("parameter"), dyn.kernels.values("input")
    left_out = dyn.names.left_out("parameter"), dyn.names.left_out("input")
    content = pickle.dumps((make, arguments, *values, left_out))
    return unsealed, (dyn.name, hashlib.sha256(content).hexdigest(), content)


def unsealed(name: str, digest: str, content: bytes) -> Evaluator:
    """Rebuild a model from a pickle; ModelError if the content was altered."""
    if hashlib.sha256(content).hexdigest() != digest:
        raise ModelError(f"the pickle of {name!r} was altered since it was written: pickle the model again")
    return restored(*pickle.loads(content))


def restored(
    make: Callable[..., Evaluator],
    arguments: tuple[Any, ...],
    parameters: Array,
    inputs: Array,
    left_out: tuple[dict[str, float], dict[str, float]] = ({}, {}),
) -> Evaluator:
    """Rebuild an unpickled model with its former values; NaN means a value that was never given."""
    model = make(*arguments)
    for mapping, values, others in zip((model.parameters, model.inputs), (parameters, inputs), left_out, strict=True):
        by_name = dict(zip(mapping, values, strict=True)) | others
        mapping.update({name: value for name, value in by_name.items() if np.isfinite(value)})
    return model
