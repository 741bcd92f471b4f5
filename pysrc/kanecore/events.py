# SPDX-License-Identifier: BSD-3-Clause
"""Events of a run, as users write them: `Event`, whose expressions become code when a run begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanecore.describe.builder import Builder
from kanecore.emit.groups import Groups
from kanecore.emit.machine import FIRST, code
from kanecore.errors import ModelError
from kanecore.graph.calculus import accumulate
from kanecore.graph.sympy_bridge import FromSympy
from kanecore.run.model import CompiledModel

__all__ = ["Event"]


class Event:
    """A function g of time and state whose zeros `CompiledModel.simulate` looks for.

    Parameters
    ----------
    expr : expression, str, or function
        A SymPy expression of coordinates, speeds, parameters, inputs and time, which becomes code; the name of a
        coordinate, a speed or an output of the model; a function ``g(t, x)`` of Python; or one in C,
        ``double g(double t, const double *x)``, from ctypes or numba (``cfunc``).
    terminal : bool or int
        Whether a zero ends the run; or how many do.
    direction : {-1, 0, 1}
        Look for zeros where g falls in the order of the run, for all, or for those where it grows.
    reset : mapping or callable, optional
        The state to go on from: expressions or numbers for some coordinates and speeds, by name or symbol, all of the
        state before; or ``reset(t, x) -> x``.  It must satisfy the constraints: see `CompiledModel.impact`.

    Examples
    --------
    A ball of height z and speed w that keeps 0.8 of its speed: ``kc.Event(z, direction=-1, reset={w: -0.8*w})``.
    """

    def __init__(self, expr: Any, terminal: bool | int = False, direction: int = 0, reset: Any = None) -> None:
        if reset is not None and not callable(reset) and not isinstance(reset, Mapping):
            raise TypeError(
                f"reset is {reset!r}; it must be a mapping such as {{u: -0.8*u}}, or a function reset(t, x)"
            )
        self.expr, self.terminal, self.direction, self.reset = expr, terminal, direction, reset

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in vars(self).items() if name != "expr" and value]
        return f"Event({', '.join([str(self.expr), *given])})"

    @staticmethod
    def compiled(dyn: CompiledModel, expressions: Sequence[Any]) -> CompiledModel:
        """A model with the x, r and p of another, whose outputs are some expressions.

        It moves nowhere.  It is code for the machine of the extension, which takes no compiler and no time.
        """
        b, variables = _builder(dyn)
        for i, expression in enumerate(expressions):
            b.output(f"expression {i}", variables.read(expression))
        return _machine(b, dyn.n_u)

    @staticmethod
    def differentiated(dyn: CompiledModel, expressions: Sequence[Any]) -> CompiledModel:
        """The same for the derivatives of each expression with respect to t, x, p, then r."""
        b, variables = _builder(dyn)
        for i, expression in enumerate(expressions):
            slopes = accumulate(b.graph, [(variables.read(expression), b.constant(1))], variables.nodes, limits=True)
            for j, slope in enumerate(slopes):
                b.output(f"expression {i} by {j}", slope)
        return _machine(b, dyn.n_u)


class _Variables:
    """What expressions of a model are of: t, x, p and r of a builder."""

    def __init__(self, dyn: CompiledModel, b: Builder) -> None:
        self._dyn, self._time = dyn, b.time
        zero = b.constant(0)
        states = [b.coordinate(name) for name in dyn.coordinate_names] + [b.speed(name) for name in dyn.speed_names]
        for coordinate in states[: dyn.n_q]:
            b.rate(coordinate, zero)
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
        self._reader.where = f"the event or reset {expression}"
        return self._reader(expression)

    def _leaf(self, symbol: Any) -> int:
        if str(symbol) == "t":
            return self._time
        try:
            kind, number = self._dyn._found(("state", "parameter", "input"), symbol)
        except KeyError as error:
            raise ModelError(f"{self._reader.where}: {error.args[0]}") from None
        return self._by_kind[kind][number]


def _builder(dyn: CompiledModel) -> tuple[Builder, _Variables]:
    b = Builder(f"expressions of {dyn.name}")
    return b, _Variables(dyn, b)


def _machine(b: Builder, n_u: int) -> CompiledModel:
    """The model of a builder whose outputs are all that matters."""
    zero = b.constant(0)
    b.solved([zero] * n_u)
    groups = Groups(b.description(), first=FIRST)
    info = {"build": {}, "baked": [], "real": "double", "machine": True}
    return CompiledModel({"core": code(groups.library("core"))}, source={}, info=info)
