# SPDX-License-Identifier: BSD-3-Clause
"""Optimal control as a method of a compiled model; what solves it is imported when the method is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kanecore.binding.declared_methods import method as declared

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.optimal.optimal_motion import OptimalMotion

__all__ = ["optimize"]


@declared("Motion", doubles=True)
def optimize(
    dyn: Evaluator,
    duration: Any,
    *,
    start: Any = None,
    end: Any = None,
    cost: Any = None,
    final_cost: Any = None,
    bounds: Any = None,
    path: Any = None,
    periodic: Any = None,
    unknown: Any = None,
    known: Any = None,
    parameters: Any = None,
    guess: Any = None,
    method: str = "hermite-simpson",
    intervals: Any = 50,
    tol: float = 1e-5,
    refinements: int = 6,
    options: Any = None,
) -> OptimalMotion:
    """Find a motion, with its inputs, that costs least: optimal control by direct collocation and IPOPT.

    It minimizes ∫ cost dt + final_cost, over x(t), r(t), unknown parameters and the duration, where ẋ = f(t, x, r, p),
    constraints, ends, bounds and path conditions hold; t goes from 0.

    Expressions are text or SymPy's, in the names of coordinates, speeds, first-order states, inputs, outputs,
    parameters, constraints, which are their multipliers, ``t``, and those of `known`: ``"F**2"``, ``theta.diff()**2``.

    Parameters
    ----------
    duration : float or (float, float)
        s; of a range the best one is found.
    start, end : mapping, or array_like (n_x,)
        States, and other expressions such as outputs: a number, or (low, high) with None for no limit; what is not
        named is free.  An array is a whole state.  A whole start must satisfy the constraints, as for `simulate`;
        elsewhere dependent coordinates and speeds may be left out.  Values that follow from others by the constraints,
        as of a full quaternion, are left out.
    cost, final_cost : expression, optional
        The integrand, and a function of the end: ``final_cost="t"`` asks for the least time.  Default: 0.
    bounds : mapping, optional
        Ranges at all times, of states, inputs, and other expressions.
    path : relation, list of relations, or mapping of expressions to ranges, optional
        What holds at all points where the equations of motion do: ``["x**2 + y**2 >= 1", "F*v <= 100"]``.
    periodic : True, list of states, or mapping of states to expressions, optional
        States that end as they began; True: all.  A mapping says what they are at the end, in states at the start:
        ``{"left": "right", "x": "x + 1"}``.
    unknown : mapping of parameters to (low, high), optional
        Parameters that are sought.
    known : mapping of names to numbers or Signals, optional
        Inputs that are not sought; and other names for expressions, such as measured angles to be tracked.  With a
        Signal the duration must be a number.
    parameters : mapping or array_like (n_p,), optional
        For this call only.
    guess : Trajectory, or mapping of names to numbers or arrays, optional
        States, inputs, parameters and ``"duration"``.  Arrays are values at even times, or at those of ``"t"``.  What
        is not named goes on a straight line between the ends, dependent coordinates and speeds follow, and inputs are
        0.1.  Some problems have several optima: try several guesses, and compare ``sol.cost``.
    method : str
        Rule of collocation: "hermite-simpson", of order 4; "radau-3", "legendre-3", and with 1 to 4 in place of 3, of
        orders 2 d − 1 and 2 d; "trapezoidal" and "midpoint", of order 2; "backward-euler", of order 1.
    intervals : int or array_like
        Number of intervals, or their ends from 0 to 1.
    tol : float
        Largest ``interval_error`` and ``cost_error`` of a success.
    refinements : int
        How many times the mesh may be refined where errors are larger: such intervals are split, and IPOPT begins at
        the solution.
    options : mapping, optional
        Options of IPOPT: ``{"max_iter": 3000, "print_level": 5}``.  By default its barrier is adaptive, and monotone
        where that finds nothing; ``"mu_strategy"`` asks for one of them.

    Returns
    -------
    OptimalMotion
        A `Trajectory` with ``success``, ``message``, ``cost``, ``interval_error``, ``multipliers`` and others;
        ``sol.optimize(...)`` goes on from there, and ``sol.feedback()`` makes the motion stand in `simulate`.  A motion
        that was not found is returned as well: ``sol.message`` names the conditions that are missed.

    Raises
    ------
    ImportError
        CasADi is missing: ``pip install casadi``.
    KeyError
        A name that the model does not have.
    ValueError, TypeError
        An empty range; ends off the constraints, or beyond bounds; an input that the equations never read; arguments
        that make no sense.
    ModelError
        As for `casadi`.

    Notes
    -----
    Inputs between points are polynomials, which may pass their bounds there a little where they jump.  Constraints are
    kept at all ends of intervals, without drift, and rows that follow from others are left out:
    `kanecore.optimal.transcription`.  Rates of prescribed motions that the equations read are tied to them: the last
    rate is the unknown.  Where rows of the constraints are redundant IPOPT has no second derivatives.

    Examples
    --------
    ``dyn.optimize(2.0, start=dyn.state(), end={"x": 0, "theta": np.pi, "v": 0, "omega": 0}, cost="F**2")``
    """
    arguments = {name: value for name, value in locals().items() if name != "dyn"}
    try:
        from kanecore.optimal.optimal_motion import optimal_motion
    except ImportError as error:
        raise ImportError("dyn.optimize needs the package casadi: pip install casadi") from error
    return optimal_motion(dyn, arguments)
