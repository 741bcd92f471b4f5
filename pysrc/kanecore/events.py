# SPDX-License-Identifier: BSD-3-Clause
"""Events of a run, as users write them: `Event`, whose expressions become code when a run begins (`event_code`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
        from kanecore.event_code import compiled

        return compiled(dyn, expressions)

    @staticmethod
    def differentiated(dyn: CompiledModel, expressions: Sequence[Any]) -> CompiledModel:
        """The same for the derivatives of each expression with respect to t, x, p, then r."""
        from kanecore.event_code import differentiated

        return differentiated(dyn, expressions)
