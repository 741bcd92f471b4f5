# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of a motion on a mesh, and what lies between its nodes by the polynomials of the rule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kanecore.errors import KanecoreError
from kanecore.motion.signals import Signal
from kanecore.optimal.collocation_rules import Mesh
from kanecore.optimal.motion_problem import MotionProblem

__all__ = ["CollocatedMotion", "without_rounding"]

Array = npt.NDArray[np.float64]

_ROUNDING = 1e-12


def without_rounding(values: Array, states: Array) -> Array:
    """Values in whose columns numbers that are rounding beside states, and 1, are zeros.

    `simulate` compares residuals of constraints with their terms, and refuses a state where these are rounding alone.
    """
    return np.where(np.abs(values) < _ROUNDING * np.max(np.abs(states), axis=0, initial=1.0), 0.0, values)


@dataclass(frozen=True, eq=False)
class CollocatedMotion:
    """A guess or a solution: states y (nodes, n_y), controls v (points, n_v), parameters that are sought, duration."""

    problem: MotionProblem
    mesh: Mesh
    y: Array
    v: Array
    parameters: Array
    duration: float

    @cached_property
    def p(self) -> Array:
        """All parameters, (n_p,)."""
        p = self.problem.p.copy()
        p[[self.problem.dyn.parameter_names.index(name) for name in self.problem.unknown]] = self.parameters
        return p

    @property
    def times(self) -> Array:
        """Times of the ends of intervals, (N + 1,)."""
        return self.duration * self.mesh.edges

    @property
    def ends(self) -> Array:
        """States y there, (N + 1, n_y)."""
        return self.y[:: self.mesh.stages]

    @cached_property
    def inputs(self) -> Signal | None:
        """The inputs as cubics of each interval; None for a model without inputs."""
        if not self.problem.dyn.n_r:
            return None
        cubics = np.einsum("jm,kmi->kij", self.mesh.rule.inputs, self._at_points[1][self.mesh.points_of()])
        return Signal.of_cubics(self.times, cubics / np.diff(self.times)[:, np.newaxis, np.newaxis] ** np.arange(4))

    @property
    def between(self) -> Array:
        """The states of each interval as coefficients of θ, θ², ... beside those at its start, (N, 5, n_x).

        They meet the nodes, also where constraints moved these.
        """
        dyn, (x, r) = self.problem.dyn, self._at_points
        try:
            rates = np.asarray(dyn.rhs(self.duration * self.mesh.points, x, r=r, p=self.p))
        except KanecoreError:  # at a singular state of a motion that was not found
            rates = np.zeros_like(x)
        dense = np.einsum("jm,kmi->kji", self.mesh.rule.dense, rates[self.mesh.points_of()])
        dense *= np.diff(self.times)[:, np.newaxis, np.newaxis]
        dense[:, 0] += np.diff(self.ends[:, : dyn.n_x], axis=0) - dense.sum(axis=1)
        return without_rounding(dense, x)

    @cached_property
    def _at_points(self) -> tuple[Array, Array]:
        """States and inputs at the points."""
        y, (of_y, of_v, _, _), mesh, n_x = self.y, self.problem.selections, self.mesh, self.problem.dyn.n_x
        if not mesh.rule.shared:
            states = mesh.stages * np.arange(mesh.n)[:, np.newaxis] + np.arange(mesh.stages + 1)
            y = np.einsum("ms,ksi->kmi", mesh.rule.of_nodes, y[states]).reshape(len(mesh.points), -1)
        known = self.problem.known_values(self.duration * mesh.points)[: self.problem.dyn.n_r].T
        return y[:, :n_x], y @ of_y.T + self.v @ of_v.T + known
