# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of costs over rollouts, in reverse through the steps, with as many rows at once as there are lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kanecore import _motion
from kanecore.binding.declared_methods import method
from kanecore.errors import NonFiniteError
from kanecore.motion.rollout import read, rollout, steps_of, times
from kanecore.run.call_arguments import real_numbers

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["RolloutGradient", "rollout_vjp"]

Array = npt.NDArray[Any]


class RolloutGradient(NamedTuple):
    """Gradients of a cost over a rollout.

    Attributes
    ----------
    x0 : ndarray, (..., n_x)
        Gradient by the start.
    inputs : ndarray, (..., steps, n_r)
        Gradient by the inputs of each step; for constant inputs the gradient is the sum over the steps.
    parameters : ndarray, (..., n_p), or None
        Gradient by the parameters, if requested.
    states : ndarray, (..., steps + 1, n_x)
        The result of `rollout`.
    """

    x0: Array
    inputs: Array
    parameters: Array | None
    states: Array


@method("Motion")
def rollout_vjp(
    dyn: Evaluator,
    x0: Values,
    inputs: Values | None,
    weights: npt.ArrayLike | Callable[[Array], npt.ArrayLike],
    *,
    dt: float,
    steps: int | None = None,
    t0: float = 0.0,
    method: str = "rk4",
    parameters: Values | None = None,
    by_parameters: bool = False,
    threads: int | None = None,
) -> RolloutGradient:
    """The gradient of a cost over a rollout by its start, the inputs of each step, and the parameters.

    The cost is a function of the states X of `rollout`, and ``weights`` is its gradient ∂cost/∂X, so that the result is
    the gradient of weights · X at constant weights.  The formulas of each step are differentiated, by one product of
    `rhs_vjp` for each stage; no Jacobian is formed.  With constraints the projection to these is differentiated as
    well, through each step of Newton's method.

    Parameters
    ----------
    x0, inputs, dt, steps, t0, method, parameters, threads
        As for `rollout`.
    weights : array_like, (..., steps + 1, n_x), or callable
        ∂cost/∂X, or a function that takes X and returns it.  Leading axes broadcast to those of X.
    by_parameters : bool
        Return the gradient by the parameters as well.

    Returns
    -------
    RolloutGradient
        Its x0 (..., n_x), inputs (..., steps, n_r), parameters (..., n_p) or None, and states (..., steps + 1, n_x).

    Raises
    ------
    IntegrationError
        Rows failed, as in `rollout`.
    NonFiniteError
        A gradient is not finite for finite weights; the error has ``rows`` and the result, ``out``.
    ValueError, TypeError, KeyError
        As for `rollout`; weights with another shape, or without numbers.

    Notes
    -----
    All states are kept, 8 (steps + 1) n_x bytes for a row, in single precision half as many; other memory does not grow
    with the steps.  Stages are computed again in reverse.  Off unit length the derivative of a step by a quaternion is
    that of `rhs_vjp`, which differs from that of `rhs` by the order of the method.
    """
    first, step, count = times(t0, dt, steps_of(dyn, inputs) if steps is None else steps)
    states = rollout(dyn, x0, inputs, dt=dt, steps=count, t0=t0, method=method, parameters=parameters, threads=threads)
    rows = read(dyn, x0, inputs, parameters, (first, step, count))
    given = real_numbers("weights", weights(states) if callable(weights) else weights).astype(dyn.dtype)
    try:
        wide = np.ascontiguousarray(np.broadcast_to(given, states.shape))
    except ValueError:
        raise ValueError(
            f"weights has shape {given.shape}, expected {states.shape}: ∂cost/∂X, of each state of the rollout"
        ) from None
    run = _motion.roll_back(
        *(dyn, method, first, step, count, rows.shape, states, wide, rows.r, rows.c, by_parameters, threads)
    )
    found = RolloutGradient(run.by_start, run.by_inputs, run.by_parameters, states)
    if np.isfinite(wide).all():
        _refuse_infinite(dyn, found)
    return found


def _refuse_infinite(dyn: Evaluator, found: RolloutGradient) -> None:
    """Raise NonFiniteError if a gradient is not finite, for example because a derivative does not exist."""
    gradients = [found.x0, found.inputs.sum(axis=-2), *([] if found.parameters is None else [found.parameters])]
    lost = ~np.logical_and.reduce([np.isfinite(each).all(axis=-1) for each in gradients])
    if lost.any():
        rows = np.flatnonzero(lost)
        where = f" of row {rows[0]} and {len(rows) - 1} others" if lost.ndim else ""
        raise NonFiniteError(
            f"rollout_vjp of {dyn.name!r}: the gradient{where} is not finite: an overflow; or a derivative of rhs is "
            "not defined at a state of the rollout, such as a root at 0, which rhs_vjp reports; or no motion led back "
            "to the constraints, so that coordinates were changed directly",
            rows=rows if lost.ndim else None,
            out=found,
        )
