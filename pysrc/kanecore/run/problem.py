# SPDX-License-Identifier: BSD-3-Clause
"""The initial value problem of a run: a model with parameters and inputs, an interval, a start on the constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.run.constraint_state import ConstraintState
from kanecore.run.inputs import RunInputs
from kanecore.run.options import vector
from kanecore.run.rank import count_near
from kanecore.run.starts import normalized, on_constraints

if TYPE_CHECKING:
    from kanecore._native import Kernels, _Values

__all__ = ["InitialValueProblem", "posed"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class InitialValueProblem:
    """What is integrated, whatever the method.

    Attributes
    ----------
    dyn : CompiledModel
    t0, t1 : float
    x0 : ndarray, (n_x,)
    p : ndarray, (n_p,)
    inputs : RunInputs
    project : bool
        Whether states are brought back to the constraints.
    rank : int
        How many rows of G count.
    """

    dyn: Kernels
    t0: float
    t1: float
    x0: Array
    p: Array
    inputs: RunInputs
    project: bool
    rank: int

    @property
    def arguments(self) -> dict[str, Any]:
        """The keyword arguments that `integrate` and `interpolate` of the binding share."""
        return {
            "knots": self.inputs.knots,
            "coefficients": self.inputs.coefficients,
            "function": self.inputs.asked,
            "address": self.inputs.address,
            "p": self.p,
            "rank": self.rank,
            "project": self.project,
        }

    def state(self, t: float, x: Array) -> ConstraintState:
        """The constraints at a state of the run."""
        return ConstraintState(self.dyn, t, x, self.inputs(t, x), self.p)


def posed(
    dyn: Kernels,
    interval: tuple[float, float],
    x0: _Values,
    inputs: Any,
    parameters: Any,
    project: bool,
    sampled: bool = False,
) -> InitialValueProblem:
    """The problem for arguments of `simulate`, which are checked; with ``project`` x0 is brought to the constraints."""
    t0, t1 = interval
    x = normalized(dyn, vector("x0", dyn._as_state(x0, "x0"), dyn.n_x), "x0")
    p = dyn._resolved("parameter", {} if parameters is None else parameters)
    run_inputs = RunInputs(dyn, inputs, t0, t1, sampled)
    rank = 0
    if dyn.n_constraints or dyn.n_configuration:
        start = on_constraints(ConstraintState(dyn, t0, x, run_inputs(t0, x), p), "x0")
        x, rank = (start.x.copy() if project else x), count_near(start)
    return InitialValueProblem(dyn, t0, t1, x, p, run_inputs, project, rank)
