# SPDX-License-Identifier: BSD-3-Clause
"""Events of a live page: expressions with zeros that end the motion or change the state, as further outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from kanecore.describe.description import Description, duplicate
from kanecore.errors import ModelError
from kanecore.graph.sympy_bridge import FromSympy
from kanecore.motion.events import as_list

__all__ = ["with_events"]


def with_events(dyn: Any, description: Description, events: Any) -> tuple[Description, list[dict[str, Any]]]:
    """Description with values of events, then of resets, after its outputs; and the events as data.

    Raises
    ------
    ModelError
        An event or a reset is a function of Python or C, which a page does not have.
    """
    given = [] if events is None else as_list(events)
    if not given:
        return description, []
    d = duplicate(description)
    read = _reader(dyn, d)
    values = [read(_expression(dyn, i, event)) for i, event in enumerate(given)]
    resets: list[int] = []
    rows = []
    for i, event in enumerate(given):
        changes = {dyn.names.index("state", key): value for key, value in (_reset(dyn, i, event) or {}).items()}
        rows.append(
            {
                "direction": (event.direction > 0) - (event.direction < 0),
                "terminal": int(event.terminal),
                "first": len(given) + len(resets),
                "places": list(changes),
            }
        )
        resets += [read(value) for value in changes.values()]
    named = tuple((f"event {i}", node) for i, node in enumerate([*values, *resets]))
    return replace(d, outputs=(*d.outputs, *named)), rows


def _reader(dyn: Any, d: Description) -> Callable[[Any], int]:
    """Function from an expression, or the name of a coordinate, a speed or an output, to its node."""
    nodes = {"state": d.x, "parameter": d.parameters, "input": d.inputs}
    outputs = dict(d.outputs)

    def leaf(symbol: Any) -> int:
        if str(symbol) == "t":
            return d.time
        if str(symbol) in outputs and isinstance(symbol, str):
            return outputs[symbol]
        try:
            kind, number = dyn.names.found(("state", "parameter", "input"), symbol)
        except KeyError as error:
            raise ModelError(f"an event: {error.args[0]}") from None
        return int(nodes[kind][number])

    reader = FromSympy(d.graph, leaf)

    def read(expression: Any) -> int:
        return leaf(expression) if isinstance(expression, str) else reader(expression)

    return read


def _expression(dyn: Any, i: int, event: Any) -> Any:
    what = event.expr if hasattr(event, "compiled") else None
    if what is None or ((callable(what) or hasattr(what, "address")) and not hasattr(what, "free_symbols")):
        raise ModelError(
            f"{dyn.name!r} cannot run in a page with event {i}, {event!r}: a page has no Python; write it as an "
            "expression, kc.Event(expression, reset={speed: expression})"
        )
    return what


def _reset(dyn: Any, i: int, event: Any) -> Mapping[Any, Any] | None:
    if callable(event.reset):
        raise ModelError(
            f"{dyn.name!r} cannot run in a page with the reset of event {i}: a page has no Python; write it as "
            "expressions, reset={speed: expression}"
        )
    return event.reset  # type: ignore[no-any-return]
