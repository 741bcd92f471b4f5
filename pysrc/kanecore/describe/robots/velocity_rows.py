# SPDX-License-Identifier: BSD-3-Clause
"""Constraints on the speeds of a robot, which its user writes in SymPy, by the names of coordinates and speeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kanecore.describe.builder import Builder
from kanecore.errors import ModelError, unknown_name

__all__ = ["constrain_velocities"]


def constrain_velocities(builder: Builder, velocity_constraints: Any) -> None:
    """Add expressions equal to zero, of a list or by name, such as the rows of rolling wheels."""
    if not velocity_constraints:
        return
    if isinstance(velocity_constraints, (str, bytes)) or not isinstance(velocity_constraints, (Mapping, Sequence)):
        raise ModelError(
            f"velocity_constraints is {velocity_constraints!r}; it must be a list of SymPy expressions, or a "
            "mapping of names to them"
        )
    from kanecore.graph.sympy_bridge import FromSympy

    known = builder.named_nodes()

    def leaf(symbol: Any) -> int:
        differentiated = symbol.is_Derivative and len(symbol.variables) == 1
        of = symbol.expr if differentiated else symbol
        name = str(getattr(of, "func", of) if of.is_Function else of)
        if name not in known:
            unknown = unknown_name("coordinate, speed or input is called", name, known).args[0]
            raise ModelError(f"{reader.where}: {unknown}")
        return builder.rate_of(known[name]) if differentiated else known[name]

    reader = FromSympy(builder.graph, leaf)
    rows: Iterable[tuple[Any, Any]]
    if isinstance(velocity_constraints, Mapping):
        rows = velocity_constraints.items()
    else:
        rows = [(None, expression) for expression in velocity_constraints]
    for number, (name, expression) in enumerate(rows):
        with reader.at(f"velocity_constraints[{number if name is None else name!r}]"):
            builder.constraint("velocity", reader(expression), name, expression)
