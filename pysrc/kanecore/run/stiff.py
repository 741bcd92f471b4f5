# SPDX-License-Identifier: BSD-3-Clause
"""What stiff methods ask of a problem: which of its derivatives are known."""

from __future__ import annotations

from kanecore.errors import ModelError
from kanecore.run.problem import InitialValueProblem

__all__ = ["with_known_derivatives"]

_STIFF = ("rosenbrock", "auto", "rosenbrock_w", "auto_w")


def with_known_derivatives(method: str, problem: InitialValueProblem, baumgarte: tuple[float, float] | None) -> str:
    """The method that is meant by a name: "rosenbrock_w" by "rosenbrock" where some derivatives are unknown.

    Raises
    ------
    ModelError
        The model has no derivatives.
    """
    dyn = problem.dyn
    held = problem.inputs.function is None or problem.inputs.sampled  # samples do not change within a step
    unknown = not held or (baumgarte is not None and dyn.n_constraints > 0)
    if unknown and method in ("rosenbrock", "auto"):
        method += "_w"
    for kernel in ("linearize", "rhs_time_derivative") if method in _STIFF else ():
        try:
            dyn.address(kernel)
        except ModelError as error:
            raise ModelError(
                f"method {method!r} needs derivatives of the equations of motion, and {error}; give functions their "
                "derivatives, or take an explicit method: 'dop853'"
            ) from None
    return method
