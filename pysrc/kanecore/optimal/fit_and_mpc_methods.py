# SPDX-License-Identifier: BSD-3-Clause
"""Fits of recordings and predictive control as methods of a compiled model; what they need is imported when called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kanecore.binding.declared_methods import method

if TYPE_CHECKING:
    import numpy.typing as npt

    from kanecore.binding.evaluator import Evaluator
    from kanecore.optimal.parameter_fit import ParameterFit
    from kanecore.optimal.predictive_control import PredictiveController

__all__ = ["fit", "mpc"]


@method("Identification and audit", doubles=True)
def fit(
    dyn: Evaluator,
    recorded: Mapping[Any, npt.ArrayLike],
    unknown: Mapping[Any, Any] | Iterable[Any],
    *,
    inputs: Any = None,
    start: Mapping[Any, Any] | None = None,
    guess: Mapping[Any, float] | None = None,
    parameters: Mapping[Any, float] | None = None,
    sigma: float | Mapping[Any, float] | None = None,
    starts: int = 10,
    steps: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> ParameterFit:
    """Parameters, initial states and inputs that explain a noisy recording of states or outputs, with their errors.

    Minimizes Σ ((h(x_k) − y_k) / σ)² over the unknowns and the states at all samples, which Runge-Kutta steps of the
    equations of motion join: exact second derivatives, IPOPT, several starts.  `identify`, linear least squares, fits
    masses and inertias to accelerations.

    Parameters
    ----------
    recorded : mapping of names to arrays, (N,)
        ``"t"``, increasing times, and any coordinates, speeds, states and outputs, by name or symbol; NaN where nothing
        was measured.  Inputs that it holds are applied, linear between samples, unless they are unknown.
    unknown : names, or mapping of names to None, a number or (low, high)
        Parameters to find: from their current value, a number, or within a range.  Those that are positive at first, or
        whose range is, stay so, and are found by their logarithms.  An input among them is found at each sample, linear
        in between; where it was recorded too, that is a measurement.
    inputs : as for `simulate`, but no functions, optional
        Numbers, arrays or `Signal` by name.
    start : mapping of names to numbers or (low, high), optional
        What is known of the first state; all else of it is found.
    guess : mapping of names to numbers, optional
        First guess of states that the recording does not tell at once, such as the coordinates of a loop.
    parameters : mapping of names to numbers, optional
        Values of other parameters, for this call.
    sigma : float, or mapping of names to float, optional
        Standard deviations of noise; default: from what cubics through 15 samples leave.
    starts : int
        How many values of the unknowns the search begins at: the first as given, the others at random, positive ones up
        to a factor of 4 away, the same in each call.
    steps : int, optional
        Runge-Kutta steps between two samples; default: as many as the error asks for, up to 16.
    options : mapping, optional
        Options of IPOPT.

    Returns
    -------
    ParameterFit
        ``success`` is honest: read ``message`` otherwise.

    Warns
    -----
    KanecoreWarning
        Parameters, or combinations of them, cannot be told from the recording.

    Raises
    ------
    ImportError
        CasADi or SciPy is missing: ``pip install casadi scipy``.
    ValueError, TypeError, KeyError
        Times that do not increase, fewer than eight samples, an array of another length, an empty range, a start value
        that is not set, a name that the model does not have.

    Notes
    -----
    Confidence intervals hold for independent noise and a true model.  Constraints hold at the first sample exactly, and
    from there on as far as the steps keep them.  A motion that is simulated from ``start`` follows the recording only
    where the motion is not chaotic: judge by the residuals.

    Examples
    --------
    ``found = dyn.fit({"t": t, "theta": theta, "F": F}, ["b", "l"]); dyn.parameters.update(found.parameters)``
    """
    from kanecore.optimal.parameter_fit import fitted

    names = ("inputs", "start", "guess", "parameters", "sigma", "starts", "steps", "options")
    values = (inputs, start, guess, parameters, sigma, starts, steps, options)
    return fitted(dyn, recorded, unknown, dict(zip(names, values, strict=True)))


@method("Control and derivatives", doubles=True)
def mpc(
    dyn: Evaluator,
    dt: float,
    horizon: int,
    *,
    Q: Any,
    R: Any,
    goal: Any,
    final: Any = None,
    bounds: Mapping[Any, Any] | None = None,
    inputs: Any = None,
    parameters: Any = None,
) -> PredictiveController:
    """A model-predictive controller: ``mpc(t, x)`` are the inputs of the next sample, by one step of optimization.

    Parameters
    ----------
    dt : float
        Length of a sample, over which inputs are held, s.
    horizon : int
        How many samples it looks ahead.
    Q : mapping of names to weights, or array_like, (n_x,) or (n_x, n_x)
        Weights of the squared errors of states.  An angle is as far from the goal as its number.
    R : mapping of names to weights, or array_like, (n_r,) or (n_r, n_r)
        Weights of squared inputs, all positive.  Of a mapping only the named inputs are controlled.
    goal : mapping by name, array_like (n_x,), or callable
        Where the states shall be; a function of times (N,) that returns (N, n_x), such as a `Trajectory`, is followed.
    final : as Q, optional
        Weights at the end of the horizon; default: Q.
    bounds : mapping of names to (low, high), optional
        Ranges of inputs.
    inputs : array_like, (n_r,), or mapping by name, optional
        Inputs that cost nothing, such as those that hold the goal, and the values of inputs that are not controlled;
        default: the current ones.
    parameters : as for `rollout`, optional
        Those of the model that predicts; default: the current values.

    Returns
    -------
    PredictiveController

    Raises
    ------
    ImportError
        PIQP is missing: ``pip install piqp``.
    ValueError, TypeError, KeyError
        Weights that are no weights, an empty range, a name that the model does not have.

    Examples
    --------
    ``mpc = dyn.mpc(0.02, 40, Q={"theta": 20}, R={"F": 1e-3}, goal={"theta": np.pi}, bounds={"F": (-20, 20)})``,
    ``dyn.simulate((0, 4), dyn.state(), inputs=mpc, sample_time=0.02)``
    """
    from kanecore.optimal.predictive_control import PredictiveController

    return PredictiveController(dyn, dt, horizon, (Q, R, final), goal, bounds or {}, inputs, parameters)
