# SPDX-License-Identifier: BSD-3-Clause
"""Guesses of a motion on a mesh: a straight line kept on the constraints, arrays by name, or another motion."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.given_values import real_numbers, symbol_name
from kanecore.constraints.consistent_states import consistent
from kanecore.errors import KanecoreWarning, ModelError, SingularError, unknown_name
from kanecore.motion.trajectory import Trajectory
from kanecore.optimal.collocated_motion import CollocatedMotion
from kanecore.optimal.collocation_rules import Mesh
from kanecore.optimal.motion_problem import MotionProblem

__all__ = ["first_guess", "resampled"]

Array = npt.NDArray[np.float64]

_INPUT = 0.1  # of inputs, off a place where a derivative may vanish


def first_guess(problem: MotionProblem) -> CollocatedMotion:
    """The guess of a problem on its mesh."""
    guess, dyn, mesh = problem.guess, problem.dyn, problem.mesh
    if isinstance(guess, Trajectory):
        return resampled(problem, mesh, guess)
    if guess is not None and not isinstance(guess, Mapping):
        raise TypeError(f"guess is {guess!r}; it must be a Trajectory, or a mapping from names to arrays or numbers")
    values = {symbol_name(key): real_numbers(f"guess {key!r}", value) for key, value in (guess or {}).items()}
    names = (*problem.states, *problem.controls, *problem.unknown, "duration", "t")
    for name, value in values.items():
        if name not in names:
            raise unknown_name("unknown of the problem is called", name, names)
        if value.ndim > (name not in (*problem.unknown, "duration")):
            raise ValueError(f"guess gives {name!r} in shape {value.shape}")
    low, high = problem.duration
    duration = values.get("duration", (low + high) / 2.0 if np.isfinite(high) else 2.0 * low)

    def along(name: str, times: Array) -> Array:
        own = values[name]
        if not own.ndim:
            return np.full(len(times), float(own))
        at = values.get("t", np.linspace(0.0, 1.0, len(own)))
        if len(at) != len(own):
            raise ValueError(f"guess gives {len(own)} values of {name!r} at {len(at)} times 't'")
        return np.interp(times, (at - at[0]) / (at[-1] - at[0]), own)

    duration = _within(duration, problem.duration)
    y = _straight(problem)
    for i, name in enumerate(problem.states):
        if name in values:
            y[:, i] = along(name, mesh.nodes)
    ends = {condition.name for condition in problem.end}
    moved = [name for name in dyn.coordinate_names if name in ends or name in values]
    y[:, : dyn.n_x] = _on_constraints(problem, y[:, : dyn.n_x], moved, {*dyn.speed_names} & {*values}, duration)
    y = np.clip(y, *problem.limits(problem.bounds, problem.states).T)
    v = np.full((len(mesh.points), len(problem.controls)), _INPUT)
    for i, name in enumerate(problem.controls):
        if name in values:
            v[:, i] = along(name, mesh.points)
    v = np.clip(v, *problem.limits(problem.bounds, problem.controls).T)
    return CollocatedMotion(problem, mesh, y, v, _parameters(problem, values), duration)


def resampled(problem: MotionProblem, mesh: Mesh, motion: Trajectory) -> CollocatedMotion:
    """A motion as a guess on a mesh, stretched to the duration."""
    start, end, inputs = float(motion.t[0]), float(motion.t[-1]), problem.dyn.input_names

    def at(times: Array) -> tuple[Array, Array]:
        samples = motion.at(np.clip(start + times * (end - start), min(start, end), max(start, end)))
        return samples.x, samples.r

    x, r = at(mesh.nodes)
    y = np.hstack([x, r[:, [inputs.index(name) for name in problem.states[problem.dyn.n_x :]]]])
    v = at(mesh.points)[1][:, [inputs.index(name) for name in problem.controls]]
    parameters = _parameters(problem, getattr(motion, "parameters", {}))
    return CollocatedMotion(problem, mesh, y, v, parameters, _within(end - start, problem.duration))


def _parameters(problem: MotionProblem, values: Mapping[str, Any]) -> Array:
    """Guesses of the parameters: as given, else the current value, moved into the range."""
    current = dict(zip(problem.dyn.parameter_names, problem.p.tolist(), strict=True))
    return np.array([_within(values.get(name, current[name]), limits) for name, limits in problem.unknown.items()])


def _within(value: Any, limits: Any) -> float:
    """A value moved into a range; for NaN its middle, or what is next to zero."""
    if np.isnan(value):
        value = np.mean(limits) if np.isfinite(limits).all() else 0.0
    return float(np.clip(value, *limits))


def _straight(problem: MotionProblem) -> Array:
    """States on a line between the ends; where one end is free, those of the other."""
    dyn = problem.dyn
    rest = np.concatenate([dyn.names.current("state"), np.zeros(len(problem.states) - dyn.n_x)])
    named = [
        {each.name: _within(np.nan, (each.low, each.high)) for each in end} for end in (problem.start, problem.end)
    ]
    start, end = (
        np.array([own.get(name, other.get(name, zero)) for name, zero in zip(problem.states, rest, strict=True)])
        for own, other in (named, named[::-1])
    )
    return np.asarray(start + problem.mesh.nodes[:, np.newaxis] * (end - start))


def _on_constraints(
    problem: MotionProblem, x: Array, moved: list[str], speeds: Collection[str], duration: float
) -> Array:
    """States on the constraints; coordinates that are not among ``moved`` follow, and speeds are their rates."""
    dyn, times = problem.dyn, duration * problem.mesh.nodes
    quaternions = [list(places) for places in dyn.unit]
    for places in quaternions:
        x[:, places] /= np.linalg.norm(x[:, places], axis=1, keepdims=True)
    if not moved:
        return x
    r = problem.known_values(times)[: dyn.n_r].T
    constrained = dyn.n_constraints + dyn.n_configuration > 0

    def near(k: int, state: Array, keep: list[str] | None) -> Array:
        """The state on the constraints next to one, as far as there is one."""
        with suppress(ModelError, SingularError, ValueError), warnings.catch_warnings():
            warnings.simplefilter("ignore", KanecoreWarning)
            return consistent(dyn, times[k], state, keep, r=r[k], p=problem.p)
        return state

    if constrained:
        places = [dyn.coordinate_names.index(name) for name in moved]
        keep = [dyn.coordinate_names[i] for i in places if not any(i in each for each in quaternions)]
        state = x[0]
        for k in range(len(times)):
            state = state.copy()
            state[places] = x[k, places]
            state = near(k, near(k, state, keep or None), None)
            x[k, : dyn.n_q] = state[: dyn.n_q]
    if not speeds:
        _add_speeds(problem, x, times, r)
    return np.array([near(k, state, None) for k, state in enumerate(x)]) if constrained else x


def _add_speeds(problem: MotionProblem, x: Array, times: Array, r: Array) -> None:
    """Write speeds u between the ends, with q̇ = N u + n nearest to the differences of coordinates."""
    dyn = problem.dyn
    rates = np.gradient(x[:, : dyn.n_q], times, axis=0)
    states = np.repeat(x[:, np.newaxis], dyn.n_u + 1, axis=1)
    states[..., dyn.names.speeds] = np.vstack([np.zeros(dyn.n_u), np.eye(dyn.n_u)])
    columns = np.asarray(dyn.qdot(times[:, np.newaxis], states, r=r[:, np.newaxis], p=problem.p))
    for k in range(1, len(times) - 1):
        slopes = (columns[k, 1:] - columns[k, 0]).T
        x[k, dyn.names.speeds] = np.linalg.lstsq(slopes, rates[k] - columns[k, 0], rcond=None)[0]
