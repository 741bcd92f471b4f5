# SPDX-License-Identifier: BSD-3-Clause
"""Inputs and states between the nodes of a motion on a mesh, by the polynomials of its rule."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kanecore.errors import KanecoreError
from kanecore.motion.signals import Signal
from kanecore.optimal.collocation_rules import Mesh
from kanecore.optimal.motion_problem import MotionProblem
from kanecore.optimal.transcription import Unknowns

__all__ = ["inputs_between", "parameters_of", "states_between"]

Array = npt.NDArray[np.float64]


def parameters_of(problem: MotionProblem, motion: Unknowns) -> Array:
    """All parameters of a motion, (n_p,)."""
    p = problem.p.copy()
    p[[problem.dyn.parameter_names.index(name) for name in problem.unknown]] = motion.parameters
    return p


def inputs_between(problem: MotionProblem, mesh: Mesh, motion: Unknowns) -> Signal | None:
    """The inputs as cubics of each interval; None for a model without inputs."""
    if not problem.dyn.n_r:
        return None
    values = _at_points(problem, mesh, motion)[1][mesh.points_of()]  # (N, m, n_r)
    lengths = (motion.duration * mesh.widths)[:, np.newaxis, np.newaxis]
    cubics = np.einsum("jm,kmi->kij", mesh.rule.inputs, values) / lengths ** np.arange(4)
    return Signal.of_cubics(motion.duration * mesh.edges, cubics)


def states_between(problem: MotionProblem, mesh: Mesh, motion: Unknowns) -> Array:
    """The states of each interval as coefficients of θ, θ², ... beside those at its start: (N, 5, n_x).

    They meet the nodes, also where constraints moved these.
    """
    dyn, nodes = problem.dyn, motion.y[:: mesh.stages, : problem.dyn.n_x]
    x, r = _at_points(problem, mesh, motion)
    try:
        rates = np.asarray(dyn.rhs(motion.duration * mesh.points, x, r=r, p=parameters_of(problem, motion)))
    except KanecoreError:  # at a singular state of a motion that was not found
        rates = np.zeros_like(x)
    lengths = (motion.duration * mesh.widths)[:, np.newaxis, np.newaxis]
    dense = lengths * np.einsum("jm,kmi->kji", mesh.rule.dense, rates[mesh.points_of()])
    dense[:, 0] += np.diff(nodes, axis=0) - dense.sum(axis=1)
    return np.asarray(dense)


def _at_points(problem: MotionProblem, mesh: Mesh, motion: Unknowns) -> tuple[Array, Array]:
    """States and inputs at the points."""
    y, (of_y, of_v, _, _) = motion.y, problem.selections
    if not mesh.rule.shared:
        states = mesh.stages * np.arange(mesh.n)[:, np.newaxis] + np.arange(mesh.stages + 1)
        y = np.einsum("ms,ksi->kmi", mesh.rule.of_nodes, y[states]).reshape(len(mesh.points), -1)
    known = problem.known_values(motion.duration * mesh.points)[: problem.dyn.n_r].T
    return y[:, : problem.dyn.n_x], y @ of_y.T + motion.v @ of_v.T + known
