# SPDX-License-Identifier: BSD-3-Clause
"""Code for the expressions of events: models with these expressions as outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kanecore.describe.builder import Builder
from kanecore.emit.bytecode import FIRST, code
from kanecore.emit.kernel_groups import Groups
from kanecore.errors import ModelError
from kanecore.graph.calculus import accumulate
from kanecore.graph.sympy_bridge import FromSympy

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["compiled", "differentiated"]


def compiled(dyn: Evaluator, expressions: Sequence[Any]) -> Evaluator:
    """Compile expressions as `Event.compiled` says."""
    b, variables = _builder(dyn)
    for i, expression in enumerate(expressions):
        b.output(f"expression {i}", variables.read(expression))
    return _machine(dyn, b)


def differentiated(dyn: Evaluator, expressions: Sequence[Any]) -> Evaluator:
    """Compile derivatives of expressions as `Event.differentiated` says."""
    b, variables = _builder(dyn)
    for i, expression in enumerate(expressions):
        slopes = accumulate(b.graph, [(variables.read(expression), b.constant(1))], variables.nodes, limits=True)
        for j, slope in enumerate(slopes):
            b.output(f"expression {i} by {j}", slope)
    return _machine(dyn, b)


class _Variables:
    """Variables in expressions of a model: t, x, p and r, by a builder."""

    def __init__(self, dyn: Evaluator, b: Builder) -> None:
        self._dyn, self._time = dyn, b.time
        zero = b.constant(0)
        states = [b.coordinate(name) for name in dyn.coordinate_names] + [b.speed(name) for name in dyn.speed_names]
        states += [b.state(name) for name in dyn.state_names]
        for still in (*states[: dyn.n_q], *states[dyn.n_q + dyn.n_u :]):
            b.rate(still, zero)
        self._by_kind = {
            "state": states,
            "parameter": [b.parameter(name) for name in dyn.parameter_names],
            "input": [b.input(name) for name in dyn.input_names],
        }
        self._reader = FromSympy(b.graph, self._leaf)

    @property
    def nodes(self) -> list[int]:
        return [self._time, *self._by_kind["state"], *self._by_kind["parameter"], *self._by_kind["input"]]

    def read(self, expression: Any) -> int:
        with self._reader.at(f"the event or reset {expression}"):
            return self._reader(expression)

    def _leaf(self, symbol: Any) -> int:
        if str(symbol) == "t":
            return self._time
        try:
            kind, number = self._dyn.names.found(("state", "parameter", "input"), symbol)
        except KeyError as error:
            raise ModelError(f"{self._reader.where}: {error.args[0]}") from None
        return self._by_kind[kind][number]


def _builder(dyn: Evaluator) -> tuple[Builder, _Variables]:
    b = Builder(f"expressions of {dyn.name}")
    return b, _Variables(dyn, b)


def _machine(dyn: Evaluator, b: Builder) -> Evaluator:
    """Model of a builder, used only for its outputs."""
    zero = b.constant(0)
    b.solved([zero] * dyn.n_u)
    groups = Groups(b.description(), first=FIRST)
    return dyn.another({"core": code(groups.library("core"))})
