# SPDX-License-Identifier: BSD-3-Clause
"""Calls from the extension to the classes of Python above it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

__all__ = ["Hooks"]


class Hooks:
    """Methods that the extension calls where it needs more than open libraries; `CompiledModel` overrides them.

    Without it libraries are used as they are: nothing is compiled, and no constraint is looked at.
    """

    _table_info: dict[str, Any]  # of the extension, as the next
    _count: Callable[[Any], int]

    def _find(self, kernel: str) -> None:
        """Open the library of a kernel that no open library holds, or do nothing; called before an error."""

    def _find_lanes(self, kernel: str) -> None:
        """Open the library that holds a kernel for several states; called once for a kernel, before a large batch."""

    def _why_not(self, kernel: str) -> str | None:
        """Missing part of the description that a kernel needs, or None; called for the error that it is missing."""
        missing: dict[str, str] = self._table_info.get("missing", {})
        return missing.get(kernel)

    @property
    def _baked(self) -> Collection[str]:
        """Names of parameters that became constants of the C text; asked for the error that a name is unknown."""
        return ()

    def _count_near(self, t: float, x: Any, r: Any, p: Any) -> int:
        """Number of independent rows of G at states on the constraints around x; called where a row is lost."""
        return self._count(p)

    def _opposed(self, t: float, x: Any, r: Any, p: Any, row: int) -> tuple[str, ...]:
        """Names of the rows of G that a row contradicts at x; called for the error that constraints contradict."""
        return ()

    def _load_fault(self, t: float, x: Any, r: Any, p: Any, unended: bool) -> str:
        """Reason why loads that depend on reactions have no solution at x; called for the error that they have none."""
        return "its loads depend on reactions, and none are connected with those without friction"

    def _nonholonomic(
        self, kind: str, t: Any, x: Any, udot: Any, remainder: bool, out: Any, values: dict[str, Any]
    ) -> Any:
        """Results of the kernel ``kind`` in the independent speeds; called for nonholonomic=True."""
        raise NotImplementedError

    def _forward_dynamics_of(self, q: Any, u: Any, tau: Any) -> Any:
        """Result of `aba`; called for all but one state in plain arrays."""
        raise NotImplementedError

    def _split(
        self, kernel: str, by: str, t: Any, x: Any, udot: Any, nonholonomic: bool, out: Any, values: dict[str, Any]
    ) -> Any:
        """Generalized forces load by load or body by body; called for ``by=``."""
        raise NotImplementedError
