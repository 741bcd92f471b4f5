# SPDX-License-Identifier: BSD-3-Clause
"""First guesses of a fit: states that agree with a recording, and parameters that a few steps from them agree with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.constraints.consistent_states import consistent
from kanecore.errors import KanecoreError
from kanecore.export.export_methods import casadi as casadi_function
from kanecore.optimal.equations_of_motion import constraint_rows
from kanecore.optimal.recordings import WEAK, Range, Recording, smoothed

__all__ = ["closed", "equation_error", "guessed_states"]

Array = npt.NDArray[np.float64]

_REACH = 5  # samples over which the equation error is taken
_ROWS = 400  # of the equation error at most
_TRIED = 3  # different starts that go on
_NEAR = 0.05  # logarithms, or parts of a parameter, within which two starts are one
_PULL = 0.02  # of where earlier samples lead, in ranges of a signal: it carries coordinates through singular poses


def guessed_states(
    casadi: Any, record: Recording, guess: Mapping[Any, float] | None, start: Mapping[int, Range]
) -> Array:
    """States at the samples: what was recorded, smoothed, the rest by constraints and by rates, (N, n_x)."""
    dyn, y = record.dyn, np.stack([smoothed(record.t, column)[0] for column in record.y.T], axis=-1)
    base = dyn.names.state([*(guess or {}).items()])
    for i, (low, high) in start.items():
        base[i] = np.clip(base[i], low, high)
    x = np.broadcast_to(base, (len(record.t), dyn.n_x)).copy()
    direct = {i: y[:, j] for j, (_, kind, i) in enumerate(record.signals) if kind == "state"}
    for i, values in direct.items():
        x[:, i] = values
        if dyn.qdot_is_u and 0 <= i - dyn.n_q < dyn.n_u and i - dyn.n_q not in direct:
            areas = np.diff(record.t) * (values[1:] + values[:-1]) / 2
            x[1:, i - dyn.n_q] += np.cumsum(areas)
    if dyn.n_configuration or any(kind == "output" for _, kind, _ in record.signals):
        x = _nearest(casadi, record, x, y)
    x[:, dyn.names.speeds] = _speeds(record, x)
    for i, values in direct.items():
        if i >= dyn.n_q:
            x[:, i] = values
    if dyn.n_configuration or dyn.n_velocity or dyn.unit:
        x = consistent(dyn, record.t, x, None, r=record.r, p=record.p)
    return x


def closed(record: Recording) -> Recording:
    """A recording from lengths for which the coordinates, if all are recorded, are nearest to the constraints."""
    from scipy.optimize import least_squares

    dyn, unknown, x = record.dyn, record.unknown, np.zeros((len(record.t), record.dyn.n_x))
    direct = {i: j for j, (_, kind, i) in enumerate(record.signals) if kind == "state"}
    if not (dyn.n_configuration and unknown.names and {*range(dyn.n_q)} <= {*direct}):
        return record
    for i in range(dyn.n_q):
        x[:, i] = smoothed(record.t, record.y[:, direct[i]])[0]
    begin, r, (low, high) = unknown.inverse(unknown.first), record.r, unknown.ranges

    def missed(z: Array) -> Array:
        gaps = dyn.configuration_residual(record.t, x, r=r, p=record.with_parameters(z))
        return np.append(gaps, WEAK * (z - begin) / unknown.size)

    z = least_squares(missed, np.clip(begin, low + 1e-9, high - 1e-9), bounds=(low, high), x_scale=unknown.size).x
    return replace(record, unknown=replace(unknown, first=unknown.values(z)), p=record.with_parameters(z))


def _nearest(casadi: Any, record: Recording, x: Array, y: Array) -> Array:
    """Coordinates that agree with outputs and constraints, sample by sample, from where the last two lead."""
    dyn, n, r = record.dyn, record.dyn.n_q, record.r
    q, t, now = casadi.SX.sym("q", n), casadi.SX.sym("t"), casadi.SX.sym("r", dyn.n_r)
    at = casadi.vertcat(q, casadi.DM.zeros(dyn.n_x - n))
    direct = {j: i for j, (_, kind, i) in enumerate(record.signals) if kind == "state" and i < n}
    outputs = {j: i for j, (_, kind, i) in enumerate(record.signals) if kind == "output"}
    told = [q[i] for i in direct.values()]
    if outputs:
        told += casadi.vertsplit(casadi_function(dyn, "outputs")(t, at, now, record.p)[list(outputs.values())])
    wanted = y[:, [*direct, *outputs]] / np.ptp(y[:, [*direct, *outputs]], axis=0)
    rows = casadi.vertcat(*told) / np.ptp(y[:, [*direct, *outputs]], axis=0)
    rows = casadi.vertcat(rows, 1e3 * constraint_rows(dyn)(t, at, now, record.p)[0])
    f = casadi.Function("f", [t, q, now], [rows, casadi.jacobian(rows, q)])
    for k in range(len(x)):
        place = 2 * x[k - 1, :n] - x[k - 2, :n] if k > 1 else x[max(k - 1, 0), :n].copy()
        place[list(direct.values())] = y[k, list(direct)]
        led, pull = place.copy(), 1e-3 if k == 0 else _PULL
        for _ in range(20 if k == 0 else 3):
            value, slope = (np.array(each) for each in f(record.t[k], place, r[k]))
            value[: wanted.shape[1], 0] -= wanted[k]
            matrix, right = np.vstack([slope, pull * np.eye(n)]), np.append(-value[:, 0], pull * (led - place))
            step = np.linalg.lstsq(matrix, right, rcond=None)[0]
            place += step * min(1.0, 0.5 / max(np.max(np.abs(step)), 1e-9))
        x[k, :n] = place
    return x


def _speeds(record: Recording, x: Array) -> Array:
    """Speeds whose q̇ = N u + a is nearest to the slopes of the coordinates."""
    dyn, r = record.dyn, record.r
    slopes = np.stack([smoothed(record.t, column)[1] for column in x[:, : dyn.n_q].T], axis=-1)
    at = x.copy()
    at[:, dyn.names.speeds] = 0.0
    a = np.asarray(dyn.qdot(record.t, at, r=r, p=record.p))
    columns = []
    for i in range(dyn.n_q, dyn.n_q + dyn.n_u):
        at[:, i] = 1.0
        columns.append(np.asarray(dyn.qdot(record.t, at, r=r, p=record.p)) - a)
        at[:, i] = 0.0
    return np.asarray((np.linalg.pinv(np.stack(columns, axis=-1)) @ (slopes - a)[..., np.newaxis])[..., 0])


def equation_error(record: Recording, x: Array, n: int) -> list[Array]:
    """Unknowns z, the best of n starts, for which steps over some samples end nearest to the guess there."""
    from scipy.optimize import least_squares

    unknown, last = record.unknown, len(record.t) - _REACH
    if not unknown.names:
        return [np.empty(0)]
    begin = unknown.inverse(unknown.first)
    rows = np.unique(np.linspace(0, last - 1, min(last, _ROWS)).astype(int))
    r, spread = record.stages(1), np.std(x[_REACH:] - x[:-_REACH], axis=0)
    size = np.where(spread > 1e-9 * np.max(np.abs(x), axis=0), spread, np.inf)

    def missed(z: Array) -> Array:
        at, p = x[rows], record.with_parameters(z)
        try:
            for k in range(_REACH):
                at = record.advanced(at, rows + k, r[rows + k], p)
        except (KanecoreError, FloatingPointError):
            return np.full(rows.size * record.dyn.n_x + len(z), 10.0)
        far = np.clip(np.nan_to_num((at - x[rows + _REACH]) / size, nan=10.0), -1e6, 1e6)
        return np.append(far, WEAK * (z - begin) / unknown.size)

    low, high = unknown.ranges
    found = []
    for z in unknown.starts(n):
        inside = np.clip(z, low + 1e-9 * unknown.size, high - 1e-9 * unknown.size)
        best = least_squares(missed, inside, loss="soft_l1", bounds=(low, high), x_scale=unknown.size, max_nfev=40)
        found.append((best.cost, best.x))
    result: list[Array] = []
    for _, z in sorted(found, key=lambda pair: pair[0]):
        if all(np.max(np.abs(z - other) / unknown.size) > _NEAR for other in result):
            result.append(z)
    return result[:_TRIED]
