# SPDX-License-Identifier: BSD-3-Clause
"""Integration methods of SciPy and SUNDIALS with a common interface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kanecore.errors import KanecoreError

__all__ = ["OUTSIDE_METHODS", "Equations", "Stepper", "Steps", "require_package", "stepper_of"]

Array = npt.NDArray[np.float64]

OUTSIDE_METHODS = {"radau": "scipy", "bdf": "scipy", "cvode": "scikit-sundae"}
"""Packages of methods, by the name of the method in `simulate`."""

_MODULES = {"radau": "scipy", "bdf": "scipy", "cvode": "sksundae"}
_UNLIMITED = 2**31 - 1


@dataclass(frozen=True)
class Equations:
    """ẋ = slope(t, x), and ∂ẋ/∂x if known; both return NaN where the equations have no value."""

    slope: Callable[[float, Array], Array]
    jacobian: Callable[[float, Array], Array] | None


@dataclass(frozen=True)
class Steps:
    """Options of steps: tolerances, first step (0: automatic), and longest step."""

    rtol: float
    atol: Array
    first: float
    longest: float


class Stepper(Protocol):
    """A method during its integration from t to an end.

    Attributes
    ----------
    t, x : float, ndarray
        Current time and state.
    evaluations, jacobians, factorizations : int
        Counts so far.
    """

    t: float
    x: Array

    @property
    def evaluations(self) -> int: ...
    @property
    def jacobians(self) -> int: ...
    @property
    def factorizations(self) -> int: ...

    def step(self) -> bool:
        """Take one step; False if this fails."""

    def within(self, times: Array) -> Array:
        """The states at times inside the last step, (N, n_x), by the method's own interpolant."""


def require_package(method: str) -> None:
    """Raise ImportError, with the package to install, unless the package of a method is installed."""
    module = _MODULES.get(method)
    if module is not None and find_spec(module) is None:
        raise ImportError(
            f"method {method!r} comes from {OUTSIDE_METHODS[method]}: pip install scipy scikit-sundae, or take "
            "method='rosenbrock'"
        )


def stepper_of(method: str, equations: Equations, start: tuple[float, Array], end: float, steps: Steps) -> Stepper:
    """A method at its start."""
    return (_Cvode if method == "cvode" else _Scipy)(method, equations, start, end, steps)


class _Scipy:
    """Radau IIA of order 5, or differentiation formulas of orders 1 to 5, of ``scipy.integrate``."""

    def __init__(self, method: str, equations: Equations, start: tuple[float, Array], end: float, steps: Steps) -> None:
        from scipy.integrate import BDF, Radau

        solver = Radau if method == "radau" else BDF
        length = abs(end - start[0])
        self._solver = solver(
            equations.slope,
            *start,
            end,
            rtol=steps.rtol,
            atol=np.maximum(steps.atol, np.finfo(np.float64).tiny),
            max_step=steps.longest,
            first_step=min(steps.first, length) or None,
            jac=equations.jacobian,
        )
        self.t, self.x = start

    @property
    def evaluations(self) -> int:
        return int(self._solver.nfev)

    @property
    def jacobians(self) -> int:
        return int(self._solver.njev)

    @property
    def factorizations(self) -> int:
        return int(self._solver.nlu)

    def step(self) -> bool:
        self._solver.step()
        self.t, self.x = float(self._solver.t), self._solver.y.copy()
        return bool(self._solver.status != "failed")

    def within(self, times: Array) -> Array:
        return np.asarray(self._solver.dense_output()(times).T)


class _Cvode:
    """Differentiation formulas of orders 1 to 5 with variable coefficients, SUNDIALS' CVODE, by scikit-SUNDAE.

    The package does not report the number of factorizations.
    """

    factorizations = 0

    def __init__(self, _: str, equations: Equations, start: tuple[float, Array], end: float, steps: Steps) -> None:
        from sksundae.cvode import CVODE

        jacobian = equations.jacobian

        def slope(t: float, x: Array, out: Array) -> None:
            out[:] = equations.slope(t, x)

        def slopes(t: float, x: Array, _: Array, out: Array) -> None:
            assert jacobian is not None
            out[:] = jacobian(t, x)

        length = abs(end - start[0])
        self._solver = CVODE(
            slope,
            jacfn=None if jacobian is None else slopes,
            rtol=steps.rtol,
            atol=np.maximum(steps.atol, np.finfo(np.float64).tiny),
            first_step=min(steps.first, length),
            max_step=steps.longest if steps.longest < length else 0.0,
            max_num_steps=_UNLIMITED,
        )
        self.t, self.x = start
        self._end = end
        self._counted: Any = self._solver.init_step(*start)

    @property
    def evaluations(self) -> int:
        return int(self._counted.nfev)

    @property
    def jacobians(self) -> int:
        return int(self._counted.njev)

    def step(self) -> bool:
        self._counted = reached = self._solver.step(self._end, method="onestep", tstop=self._end)
        if reached.success:
            self.t, self.x = float(reached.t), np.array(reached.y)
        return bool(reached.success)

    def within(self, times: Array) -> Array:
        states = [self._at(float(t)) for t in times]
        self._at(self.t)  # otherwise the next step would return to this time
        return np.array(states)

    def _at(self, t: float) -> Array:
        """The state at a time inside the last step; if SUNDIALS finds none, the package returns another with t."""
        reached = self._solver.step(t, method="normal")
        if not reached.success:
            raise KanecoreError(
                f"cvode went to t = {self.t!r}, and has no state at t = {t!r}, within its last step: SUNDIALS says "
                f"{str(reached.message)!r}; use method='bdf', which has the same formulas"
            )
        return np.array(reached.y)
