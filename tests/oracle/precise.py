# SPDX-License-Identifier: BSD-3-Clause
"""ẋ, λ and outputs at 50 digits, and differences of them: the oracle of exact derivatives.

M, f, G, γ are evaluated by mpmath as they stand, and the equations are solved by its LU with pivots: no derivative, no
elimination and no C of kanecore's is in it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt

import kanecore as kc
from kanecore.derive.derivation import Derivation
from kanecore.describe.description import duplicate
from kanecore.graph.evaluation import evaluate

Array = npt.NDArray[np.float64]
DIGITS = 50
STEP = 1e-16


class Precise:
    """The equations of motion of a model; arguments are (t, x, r, p), numbers and sequences of them."""

    def __init__(self, model: kc.Model) -> None:
        self.derivation = Derivation(duplicate(model.description))
        self.graph, self.d = self.derivation.graph, self.derivation.description

    def known(self, t: Any, x: Sequence[Any], r: Sequence[Any], p: Sequence[Any]) -> dict[Any, Any]:
        """Values of symbols, by their keys."""
        nodes = [self.d.time, *self.d.coordinates, *self.d.speeds, *self.d.inputs, *self.d.parameters]
        return {self.graph.nodes[i][1]: v for i, v in zip(nodes, [t, *x, *r, *p], strict=True)}

    def _kernel(self, name: str, known: dict[Any, Any]) -> list[Any]:
        return evaluate(self.graph, self.derivation.kernel(name).roots, known, mpmath.mp)

    def motion(self, *at: Any) -> tuple[list[Any], list[Any], list[Any]]:
        """q̇, u̇ and λ."""
        known, n = self.known(*at), len(self.d.speeds)
        m = len(self.derivation.rows)
        system, right = mpmath.zeros(n + m), mpmath.zeros(n + m, 1)
        mass, forcing = self._kernel("mass_matrix", known), self._kernel("forcing", known)
        for i in range(n):
            right[i] = forcing[i]
            for j in range(n):
                system[i, j] = mass[i * n + j]
        if m:
            jacobian, bias = self._kernel("constraint_jacobian", known), self._kernel("constraint_bias", known)
            for i in range(m):
                right[n + i] = -bias[i]
                for j in range(n):
                    system[n + i, j], system[j, n + i] = jacobian[i * n + j], -jacobian[i * n + j]
        solution = list(mpmath.lu_solve(system, right))
        return self._kernel("qdot", known), solution[:n], solution[n:]

    def rhs(self, *at: Any) -> list[Any]:
        qdot, udot, _ = self.motion(*at)
        return [*qdot, *udot]

    def outputs(self, *at: Any) -> list[Any]:
        _, udot, multipliers = self.motion(*at)
        nodes = [*self.d.accelerations, *self.derivation.multiplier_symbols]
        more = {self.graph.nodes[i][1]: v for i, v in zip(nodes, [*udot, *multipliers], strict=True)}
        return evaluate(self.graph, [node for _, node in self.d.outputs], self.known(*at) | more, mpmath.mp)


def jacobian(f: Callable[..., list[Any]], at: Sequence[Any], argument: int) -> Array:
    """The derivatives of f(*at) with respect to one argument, a number or a sequence, to about 30 digits."""
    with mpmath.workdps(DIGITS):
        h, rows = mpmath.mpf(STEP), []
        exact = [mpmath.mpf(a) if np.ndim(a) == 0 else [mpmath.mpf(float(v)) for v in a] for a in at]
        single = np.ndim(at[argument]) == 0
        for k in range(1 if single else len(at[argument])):
            ends = []
            for step in (h, -h):
                moved = list(exact)
                value = exact[argument]
                moved[argument] = value + step if single else [v + step * (i == k) for i, v in enumerate(value)]
                ends.append(f(*moved))
            rows.append([float((a - b) / (2 * h)) for a, b in zip(*ends, strict=True)])
        size = 0 if rows else len(f(*exact))
    return np.array(rows).T if rows else np.zeros((size, 0))


def curvature(f: Callable[[list[Any]], list[Any]], weights: Array, z: Array, direction: Array) -> float:
    """The second derivative of weights · f(z) along a direction."""
    with mpmath.workdps(DIGITS):
        h = mpmath.mpf(STEP)
        values = []
        for k in (-1, 0, 1):
            at = [mpmath.mpf(float(a)) + k * h * mpmath.mpf(float(b)) for a, b in zip(z, direction, strict=True)]
            values.append(mpmath.fsum(mpmath.mpf(float(w)) * y for w, y in zip(weights, f(at), strict=True)))
        return float((values[0] - 2 * values[1] + values[2]) / h**2)
