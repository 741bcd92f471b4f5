# SPDX-License-Identifier: BSD-3-Clause
"""The right-hand side as a function with the arguments of PyDy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["as_pydy"]

Array = npt.NDArray[np.float64]


@method("Other programs")
def as_pydy(dyn: Evaluator) -> Callable[..., Array]:
    """The right-hand side with PyDy's arguments, for code written for its ``ODEFunctionGenerator``.

    Returns
    -------
    callable
        ``f(x, t, r, p)`` -> xdot (n_x,), or ``f(x, t, p)`` for a model without inputs, as
        ``scipy.integrate.odeint`` takes it.  x (n_x,) is the state [q, u]; r (n_r,) the inputs, as an array, a
        mapping or a function ``r(x, t)``; p (n_p,) the parameters, as an array in the order of
        `parameter_names` or a mapping.  A mapping overrides some of the current values; None means all current values.

    Raises
    ------
    SingularError, NonFiniteError, ValueError, TypeError, KeyError
        From the callable: the errors of `rhs`.

    Examples
    --------
    ``odeint(dyn.as_pydy(), x0, times, args=(lambda x, t: [np.sin(t)], {"m": 2.0}))``
    """

    def with_inputs(x: npt.ArrayLike, t: float, r: Any, p: Any) -> Array:
        return dyn.rhs(t, x, r=r(x, t) if callable(r) else r, p=p)

    def without_inputs(x: npt.ArrayLike, t: float, p: Any) -> Array:
        return dyn.rhs(t, x, p=p)

    return with_inputs if dyn.n_r else without_inputs
