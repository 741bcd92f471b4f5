# SPDX-License-Identifier: BSD-3-Clause
"""What the results for people are made from: a model as the user described it, and the loads of its description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from kanecore.describe.description import Description, Load

from .contradictions import Contradiction
from .derivation import Derivation

__all__ = ["Described", "loads_by_number"]


class Described(Protocol):
    """A `kanecore.Model`: its derivation, the user's symbols, and what the reader set aside."""

    @property
    def name(self) -> str: ...
    @property
    def coordinates(self) -> tuple[Any, ...]: ...
    @property
    def speeds(self) -> tuple[Any, ...]: ...
    @property
    def inputs(self) -> tuple[Any, ...]: ...
    @property
    def parameters(self) -> tuple[Any, ...]: ...
    @property
    def functions(self) -> Mapping[Any, Any]: ...
    @property
    def noncontributing(self) -> tuple[Any, ...]: ...
    @property
    def description(self) -> Description: ...
    @property
    def n_q(self) -> int: ...
    @property
    def n_u(self) -> int: ...
    @property
    def n_p(self) -> int: ...
    @property
    def n_r(self) -> int: ...
    @property
    def _time(self) -> Any: ...
    @property
    def _laws(self) -> dict[Any, Any]: ...
    @property
    def _written(self) -> dict[str, Any]: ...
    @property
    def _n_loads(self) -> int: ...
    @property
    def _folder(self) -> str | None: ...
    @property
    def _notes(self) -> tuple[str, ...]: ...
    @property
    def _contradictions(self) -> list[Contradiction]: ...
    @property
    def _derivation(self) -> Derivation: ...


def loads_by_number(d: Description) -> dict[int, list[Load]]:
    """Loads by their places in the user's list, of those that act."""
    result: dict[int, list[Load]] = {}
    for load in d.loads:
        result.setdefault(load.number, []).append(load)
    return result
