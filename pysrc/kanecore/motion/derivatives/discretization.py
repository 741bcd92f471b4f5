# SPDX-License-Identifier: BSD-3-Clause
"""Discrete systems x₁ = f(x, r) of a step with constant inputs, and their matrices A = ∂f/∂x, B = ∂f/∂r."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.motion.derivatives.step_derivatives import slopes_of_unit
from kanecore.motion.rollout import held_over_step, read, rollout

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["Discretization", "discretize"]

Array = npt.NDArray[Any]

_STAGES = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))  # stages of the classical method: reach, weight


class Discretization(NamedTuple):
    """A step of `discretize`: dx₁ = A dx + B dr.

    Attributes
    ----------
    x1 : ndarray, (..., n_x)
        The state after the step.
    A : ndarray, (..., n_x, n_x)
        Derivative by the state before the step.
    B : ndarray, (..., n_x, n_r)
        Derivative by the inputs, constant over the step.
    """

    x1: Array
    A: Array
    B: Array


@method("Motion")
def discretize(
    dyn: Evaluator, x: Values, r: Values | None, dt: float, *, t: float = 0.0, p: Values | None = None
) -> Discretization:
    """The state one step later and its derivatives, x₁ = f(x, r), A = ∂f/∂x, B = ∂f/∂r, at many states at once.

    The step is that of `step`: projection to unit quaternions and constraints, the classical method of order 4 with
    constant inputs, and projection again.  A and B are the exact derivatives of the whole step, and no approximation of
    the derivatives of the motion: the stages k = ẋ(y, r) satisfy dk = ∂ẋ/∂x dy + ∂ẋ/∂r dr.

    Parameters
    ----------
    x : array_like, (..., n_x), or mapping by name
        States at the start.  As for `rollout`, they must satisfy unit quaternions and constraints within 1e-6.  A step
        begins at the nearest state on these, so that changes of x off them have no effect.
    r : array_like, (..., n_r), or mapping by name, or None
        Inputs, constant over the step; None: the current values.  Rates of prescribed motions are separate inputs.
    dt : float
        The step, s; negative for a step backwards in time.
    t : float
        Time at the start.
    p : array_like, (..., n_p), or mapping by name, optional
        For this call only; default: the current values.

    Returns
    -------
    Discretization
        Named tuple (x1, A, B).  With constraints or unit quaternions A has no full rank: it maps changes along these at
        x to changes along these at x₁.

    Raises
    ------
    IntegrationError
        Rows failed, as in `rollout`.
    SingularError, NonFiniteError
        There is no derivative at a state of the step.
    ValueError, TypeError, KeyError
        As for `rollout`.

    Examples
    --------
    ``x1, A, B = dyn.discretize(X, R, 0.02)`` at all nodes of a horizon.
    """
    states = rollout(dyn, x, held_over_step(r), dt=dt, steps=1, t0=t, parameters=p)
    begin, after = states[..., 0, :], np.ascontiguousarray(states[..., 1, :])
    rows = read(dyn, x, held_over_step(r), p, (float(t), float(dt), 1))
    r, p, n = np.ascontiguousarray(rows.wide(rows.r, 2)[..., 0, :]), rows.p, dyn.n_x
    start = np.broadcast_to(np.eye(n, n + dyn.n_r, dtype=dyn.dtype), (*begin.shape, n + dyn.n_r))
    start = _brought_back(dyn, t, begin, r, p, start)
    slope, total = np.zeros_like(begin), np.zeros_like(begin)
    change = np.zeros((*begin.shape, n + dyn.n_r), dyn.dtype)
    sum_of_changes = np.zeros_like(change)
    for reach, weight in _STAGES:
        time, place = t + reach * dt, begin + reach * dt * slope
        slopes = np.asarray(dyn.kernels.linearize(time, place, r=r, p=p))
        moved = start + reach * dt * change
        change = slopes[..., :n] @ moved
        change[..., n:] += slopes[..., n:]
        slope = np.asarray(dyn.rhs(time, place, r=r, p=p))
        total += weight * slope
        sum_of_changes += weight * change
    end, columns = begin + dt * total, start + dt * sum_of_changes
    columns = _brought_back(dyn, t + dt, end, r, p, columns)
    return Discretization(after, columns[..., :n], columns[..., n:])


def _brought_back(dyn: Evaluator, t: float, x: Array, r: Array, p: Array, columns: Array) -> Array:
    """Derivatives after projection to unit quaternions and constraints, at the state before it."""
    if not (dyn.n_configuration + dyn.n_velocity):
        return slopes_of_unit(dyn.unit, x) @ columns if dyn.unit else columns
    n, solution = dyn.n_x, dyn.n_u + dyn.n_constraints
    weights = np.zeros((*x.shape, solution + n), dyn.dtype)  # a row each, after the places of udot and λ
    weights[..., :, solution:] = np.eye(n)
    slopes = np.asarray(
        dyn.kernels.project_gradient(
            t, x[..., np.newaxis, :], weights, r=r[..., np.newaxis, :], p=p[..., np.newaxis, :]
        )
    )
    result = slopes[..., :n] @ columns
    result[..., n:] += slopes[..., n : n + dyn.n_r]
    return result
