# SPDX-License-Identifier: BSD-3-Clause
"""Warnings of doubtful runs that reached their end: lost energy, and branching points."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from kanecore.constraints.constraint_values import Constraints
from kanecore.errors import KanecoreError, warn
from kanecore.motion.initial_value_problem import InitialValueProblem
from kanecore.motion.trajectory import Trajectory

__all__ = ["warn_of_branches", "warn_of_energy"]

Array = npt.NDArray[np.float64]

_SUDDEN = 100  # times the mean rate of the speeds: larger rates occur only where motions branch, or at impacts
_WEAK = 1e-2  # smallest singular value that counts, relative to its largest value in a run
_LOOKS = 100  # number of states of a run that are examined, in either case


def warn_of_energy(problem: InitialValueProblem, trajectory: Trajectory, rtol: float) -> None:
    """Warn if redundant rows changed the energy: by more than √rtol of the largest kinetic energy.

    The rank of redundant rows is decided by numbers, and a row too many brakes a motion.  There is no warning for runs
    that did not keep their steps, and for models without energies.
    """
    if not problem.dyn.n_constraints > problem.rank:
        return
    try:
        drift = trajectory.energy_drift
    except (ValueError, KanecoreError):
        return
    if drift > math.sqrt(rtol):
        warn(
            f"the energy balance of {problem.dyn.name!r} misses by {drift:.2g} of the largest kinetic energy, far from "
            f"rtol = {rtol:g}, in a run with redundant constraints: give a smaller rtol or another method "
            "(method='dop853'), and leave out the rows that dyn.check(x) names"
        )


def warn_of_branches(problem: InitialValueProblem, trajectory: Trajectory) -> None:
    """Warn if speeds change direction suddenly while a row nearly vanishes: two motions branch there.

    At a branching point, such as the flat pose of a parallelogram, constraints allow two motions.  Near it the
    equations magnify errors of the speeds along the other motion by the inverse of the distance, so that rounding may
    decide which motion a run follows.  There is no warning for a run that goes on smoothly.
    """
    times, states = trajectory.run.steps, trajectory.run.states
    if not problem.rank or times is None or states is None or len(times) < 3:
        return
    length, units = np.abs(np.diff(times)), problem.state(problem.t0, problem.x0).speed_units
    change = np.linalg.norm(np.diff(states[:, problem.dyn.names.speeds], axis=0) / units, axis=1)
    change[length == 0.0] = 0.0  # changed by an event
    sudden = np.flatnonzero(change * np.sum(length) > _SUDDEN * length * np.sum(change))
    if not len(sudden):
        return
    some = slice(None, None, -(-len(times) // _LOOKS))
    of_all = _scaled_rows(problem, times[some], states[some])
    sizes = np.max(np.abs(of_all), axis=(0, 2), initial=0.0)[:, np.newaxis]
    sizes[sizes == 0.0] = 1.0
    typical = np.max(np.linalg.svd(of_all / sizes, compute_uv=False)[:, problem.rank - 1])
    for k in sudden[np.argsort(-change[sudden] / length[sudden])][:_LOOKS]:
        of_rows, s, _ = np.linalg.svd(_scaled_rows(problem, times[k], states[k]) / sizes)
        if s[problem.rank - 1] < _WEAK * typical:
            row = int(np.argmax(np.abs(of_rows[:, problem.rank - 1])))
            warn(
                f"two motions of {problem.dyn.name!r} meet at t = {times[k]:.6g}, where "
                f"{problem.dyn.constraint_names[row]!r} depends on the other constraints: rounding decides which one "
                "the run follows from there, and may decide otherwise with another rtol. Replace or add a row that is "
                "true for one of the motions only, such as equal angles of a parallelogram"
            )
            return


def _scaled_rows(problem: InitialValueProblem, t: Array, x: Array) -> Array:
    """G at some states, in the metric of the masses: (..., n_constraints, n_u)."""
    at = Constraints(problem.dyn, t, x, problem.inputs(t, x), problem.p)
    return np.asarray(at.rows * at.speed_units[..., np.newaxis, :])
