# SPDX-License-Identifier: BSD-3-Clause
"""Initial value problem of a run: a model with parameters and inputs, an interval, an initial state on the constraints.

Stiff methods also need to know which derivatives are available.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.constraints.consistent_states import normalized, on_constraints
from kanecore.constraints.constraint_state import ConstraintState, count_near
from kanecore.errors import ModelError
from kanecore.motion.run_inputs import RunInputs
from kanecore.run.call_arguments import state_vector

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["InitialValueProblem", "posed", "with_known_derivatives"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class InitialValueProblem:
    """Initial value problem, independent of the integration method.

    Attributes
    ----------
    dyn : CompiledModel
    t0, t1 : float
    x0 : ndarray, (n_x,)
    p : ndarray, (n_p,)
    inputs : RunInputs
    project : bool
        Whether states are projected to the constraints.
    rank : int
        Number of rows of G that count.
    """

    dyn: Evaluator
    t0: float
    t1: float
    x0: Array
    p: Array
    inputs: RunInputs
    project: bool
    rank: int

    @property
    def arguments(self) -> dict[str, Any]:
        """The keyword arguments common to `integrate` and `interpolate` of the binding."""
        return {"inputs": self.inputs.in_c(), "p": self.p, "rank": self.rank, "project": self.project}

    @property
    def projects(self) -> bool:
        """Test whether there are constraints to which states are projected."""
        return self.project and self.dyn.n_configuration + self.dyn.n_velocity > 0

    def state(self, t: float, x: Array) -> ConstraintState:
        """The constraints at a state of the run."""
        return ConstraintState(self.dyn, t, x, self.inputs(t, x), self.p)


def posed(
    dyn: Evaluator,
    interval: tuple[float, float],
    x0: Values,
    inputs: Any,
    parameters: Any,
    project: bool,
    period: float = 0.0,
) -> InitialValueProblem:
    """The problem for arguments of `simulate`, after checks; with ``project`` x0 is projected to the constraints."""
    t0, t1 = interval
    x = normalized(dyn, state_vector(dyn, x0, "x0"), "x0")
    p = dyn.names.resolved("parameter", {} if parameters is None else parameters)
    run_inputs = RunInputs(dyn, inputs, t0, t1, period)
    rank = 0
    if dyn.n_constraints or dyn.n_configuration:
        start = on_constraints(ConstraintState(dyn, t0, x, run_inputs(t0, x), p), "x0")
        x, rank = (start.x.copy() if project else x), count_near(start)
    return InitialValueProblem(dyn, t0, t1, x, p, run_inputs, project, rank)


_STIFF = ("rosenbrock", "auto", "rosenbrock_w", "auto_w")


def with_known_derivatives(
    method: str, dyn: Evaluator, inputs: RunInputs, baumgarte: tuple[float, float] | None
) -> str:
    """Method for a name: "rosenbrock" becomes "rosenbrock_w" if some derivatives are unknown.

    Raises
    ------
    ModelError
        The model has no derivatives.
    """
    held = inputs.function is None or inputs.period > 0  # samples do not change within a step
    unknown = not held or (baumgarte is not None and dyn.n_constraints > 0)
    if unknown and method in ("rosenbrock", "auto"):
        method += "_w"
    for kernel in ("linearize", "rhs_time_derivative") if method in _STIFF else ():
        try:
            dyn.address(kernel)
        except ModelError as error:
            raise ModelError(
                f"method {method!r} needs derivatives of the equations of motion, and {error}; give functions their "
                "derivatives, or use an explicit method: 'dop853'"
            ) from None
    return method
