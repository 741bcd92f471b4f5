# SPDX-License-Identifier: BSD-3-Clause
"""Current parameters and inputs of a model as mappings that read and set them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Literal, NoReturn

if TYPE_CHECKING:
    from kanecore.binding.names import Names

__all__ = ["LiveValues"]


class LiveValues(MutableMapping[Any, float]):
    """Current values of the model by name or symbol; setting a value changes the model.

    A value that was never given reads as NaN.  ``update`` sets several values at once, or none of them if a name or
    value is wrong; the model prepares its constants once.  Calls that run in other threads at the same time keep their
    initial values.

    Raises
    ------
    KeyError
        The model has no such name; the message shows the nearest names.
    TypeError
        A value that is no real number; numbers of SymPy and others with ``__float__`` are accepted.
    ValueError
        A value that is not finite, or an array.
    """

    def __init__(self, names: Names, kind: Literal["parameter", "input"]) -> None:
        self._names = names
        self._kind: Literal["parameter", "input"] = kind

    def __getitem__(self, key: Any) -> float:
        return self._names.value(self._kind, key)

    def __setitem__(self, key: Any, value: float) -> None:
        self._names.set(self._kind, {key: value})

    def __delitem__(self, key: Any) -> NoReturn:
        raise TypeError(f"the {self._kind}s of a model can be set, not removed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names.of(self._kind))

    def __len__(self) -> int:
        return len(self._names.of(self._kind))

    def update(self, *args: Any, **values: float) -> None:
        """Set several values at once, with the arguments of ``dict.update``."""
        self._names.set(self._kind, dict(*args, **values))

    def assign(self, values: Mapping[Any, float]) -> None:
        """Assign a mapping, as in ``dyn.parameters = values``: `update`, with a check of its type."""
        if not isinstance(values, Mapping):
            name = next(iter(self), "name")
            raise TypeError(f"dyn.{self._kind}s takes a mapping, such as {{{name!r}: 1.0}}, not {values!r}")
        self.update(values)

    def __repr__(self) -> str:
        return repr(dict(zip(self, self._names.current(self._kind).tolist(), strict=True)))
