# SPDX-License-Identifier: BSD-3-Clause
"""The parameters and inputs of a compiled model as mappings that read and set it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Literal, NoReturn

from kanecore._native import Model

__all__ = ["LiveValues"]


class LiveValues(MutableMapping[Any, float]):
    """Current values by name or symbol, of the model itself: reading follows it, setting changes it.

    A value that was never given reads as NaN.  ``update`` sets several values at once, all of them or, where
    a name or value is wrong, none; the model prepares its constants once for it.  Calls that run meanwhile in
    other threads go on with the values they began with.

    Raises
    ------
    KeyError
        A name that the model does not have; the message holds the nearest ones.
    TypeError
        A value that is no real number; those of SymPy and others with ``__float__`` are.
    ValueError
        A value that is not finite, or an array.
    """

    def __init__(self, model: Model, what: Literal["parameter", "input"]) -> None:
        self._model = model
        self._what: Literal["parameter", "input"] = what

    @property
    def _names(self) -> tuple[str, ...]:
        return self._model.parameter_names if self._what == "parameter" else self._model.input_names

    def __getitem__(self, key: Any) -> float:
        return self._model._value(self._what, key)

    def __setitem__(self, key: Any, value: float) -> None:
        self._model._set(self._what, {key: value})

    def __delitem__(self, key: Any) -> NoReturn:
        raise TypeError(f"the {self._what}s of a model can be set, not removed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def update(self, *args: Any, **values: float) -> None:
        """Set several values at once: arguments as those of ``dict``."""
        self._model._set(self._what, dict(*args, **values))

    def _assign(self, values: Mapping[Any, float]) -> None:
        """What ``dyn.parameters = values`` does: `update`, with a mapping."""
        if not isinstance(values, Mapping):
            name = self._names[0] if self._names else "name"
            raise TypeError(f"dyn.{self._what}s takes a mapping, such as {{{name!r}: 1.0}}, not {values!r}")
        self.update(values)

    def __repr__(self) -> str:
        return repr(dict(zip(self._names, self._model._values(self._what).tolist(), strict=True)))
