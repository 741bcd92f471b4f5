# SPDX-License-Identifier: BSD-3-Clause
"""Errors of the intervals of a motion on a mesh: of its states, by simulation, and of its cost, by finer quadrature."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from kanecore.errors import KanecoreError, KanecoreWarning
from kanecore.motion.simulation import simulate
from kanecore.motion.trajectory import Trajectory
from kanecore.optimal.collocated_motion import CollocatedMotion
from kanecore.optimal.transcription import Formulas

__all__ = ["errors_of_cost", "errors_of_states"]

Array = npt.NDArray[np.float64]

_SMALL = 1e-3  # of the largest number of a kind: the least reference of the others
_LEAST = 1e-6  # reference of what is at rest
_INSIDE = 1.0 - 1e-9  # the end of an interval, where inputs may jump
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)
_NODES, _WEIGHTS = (_NODES + 1.0) / 2.0, _WEIGHTS / 2.0


def errors_of_states(motion: CollocatedMotion) -> Array:
    """Distance of each node from where `simulate` comes to from the node before, (N,).

    It is the largest over all states, each relative to its largest magnitude in the motion, or to a thousandth of the
    largest of all coordinates, speeds or first-order states, or to 1e-6.  Where an interval cannot be simulated it is
    infinite.
    """
    dyn, times = motion.problem.dyn, motion.times
    x = motion.ends[:, : dyn.n_x]
    largest = np.max(np.abs(x), axis=0)
    for part in (slice(0, dyn.n_q), dyn.names.speeds, dyn.names.states):
        floor = max(_LEAST, _SMALL * np.max(largest[part], initial=0.0))
        largest[part] = np.maximum(largest[part], floor)
    spans, fine = np.stack([times[:-1], times[1:]], axis=-1), {"rtol": 1e-10, "atol": 1e-12}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KanecoreWarning)
        try:
            run = simulate(dyn, spans, x[:-1], inputs=motion.inputs, parameters=motion.p, return_status=True, **fine)  # type: ignore[arg-type]
        except (KanecoreError, ValueError):  # off the constraints, of a motion that was not found
            return np.full(len(spans), np.inf)
    gaps = np.max(np.abs(run.x[:, -1] - x[1:]) / largest, axis=1)
    return np.where(np.isfinite(gaps), gaps, np.inf)


def errors_of_cost(motion: CollocatedMotion, between: Trajectory, cost: float) -> Array:
    """Difference of each interval's cost from a finer quadrature along the motion, relative to all cost: (N,)."""
    problem, mesh = motion.problem, motion.mesh
    if problem.cost is None:
        return np.zeros(mesh.n)
    integrand, names = Formulas(problem).function([problem.cost]), problem.dyn.input_names
    beyond, controls = (
        [names.index(name) for name in some] for some in (problem.states[problem.dyn.n_x :], problem.controls)
    )

    def values(fractions: Array) -> Array:
        times = (mesh.edges[:-1, np.newaxis] + mesh.widths[:, np.newaxis] * fractions).ravel() * motion.duration
        there = between.at(np.minimum(times, motion.duration))
        y = np.hstack([there.x, there.r[:, beyond]]).T
        r, p = there.r, motion.p
        forces = np.zeros((0, len(times)))
        if problem.n_multipliers:
            forces = np.asarray(problem.dyn.multipliers(times, there.x, r=r, p=p)).T
        found = integrand.map(len(times))(times, y, r[:, controls].T, p, problem.known_values(times), forces)
        return np.array(found).reshape(mesh.n, -1)

    finer = np.diff(motion.times) * (values(_NODES) @ _WEIGHTS)
    by_rule = np.diff(motion.times) * (values(np.minimum(mesh.rule.points, _INSIDE)) @ mesh.rule.integrals[-1])
    return np.asarray(np.abs(finer - by_rule) / max(abs(cost), np.sum(np.abs(finer)), _LEAST))
