# SPDX-License-Identifier: BSD-3-Clause
"""Batches of simulations by one call of `simulate`, with states, inputs and parameters by row.

Results are bit-identical to those of single runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore import _motion
from kanecore.errors import IntegrationError
from kanecore.motion.batch_rows import Rows, count_again, failed_rows, named, starts
from kanecore.motion.initial_value_problem import with_known_derivatives
from kanecore.motion.integration_failures import reason
from kanecore.motion.prescribed_rates import warn_of_other_rates, warn_of_other_rates_in_rows
from kanecore.motion.run_inputs import RunInputs
from kanecore.motion.samples import Samples, names_of
from kanecore.motion.signals import Signal
from kanecore.run.call_arguments import leading
from kanecore.statuses import BY_NUMBER, NUMBER_OF

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["Control", "Trajectories", "by_row", "simulate_rows"]

Array = npt.NDArray[np.float64]


class Trajectories(Samples):
    """States over time of several runs, with leading axes.

    Attributes
    ----------
    t : ndarray, (N,)
        Times, s: ``t_eval``; without it the ends of fixed steps, or for adaptive methods the start and the end.  With
        spans by row (..., N): ``t_eval``, or start and end of each row.
    x, q, u, z : ndarray, (..., N, n_x), (..., N, n_q), (..., N, n_u), (..., N, n_z)
    r, outputs, energy : ndarray, (..., N, n_r), (..., N, n_outputs), (..., N)
    status : ndarray of int, (...)
        0 for a row that reached the end, otherwise the ``kc_status`` of kanecore.h; later values are NaN.
    t_end : ndarray, (...)
        Last time of each row.
    nfev, n_steps, n_rejected : ndarray of int, (...)
    success : bool
        Whether all rows reached the end.
    """

    def __init__(
        self,
        dyn: Evaluator,
        t: Array,
        x: Array,
        values: Mapping[str, Callable[[], Any]],
        run: _motion.RowsRun,
        shape: tuple[int, ...],
    ) -> None:
        super().__init__(dyn.name, names_of(dyn), t, x, values)
        self.status = run.codes.reshape(shape).astype(int)
        self.t_end = run.ends.reshape(shape)
        self.nfev, self.n_steps, self.n_rejected = (
            run.counts[:, i].astype(int).reshape(shape) for i in range(run.counts.shape[1])
        )
        self.success = not self.status.any()

    def __repr__(self) -> str:
        span = f"{len(self)} times, t = {self.t.flat[0]:g} ... {self.t.flat[-1]:g}" if self.t.size else "no times"
        return f"<{self.status.size} trajectories of {self.name!r}: {span}>"

    def row(self, *place: int) -> Samples:
        """Run at a place of the leading axes, for example for tables: ``sol.row(3).to_dataframe()``."""
        if len(place) != self.status.ndim:
            raise IndexError(f"row{place} has {len(place)} numbers; there are {self.status.ndim} leading axes")
        values: dict[str, Callable[[], Any]] = {
            "r": lambda: self.r[place],
            "outputs": lambda: self.outputs[place],
            "energy": lambda: self.energy[place],
            "facts": lambda: {**self.facts, "success": not self.status[place], "status": int(self.status[place])},
        }
        t = self.t[place] if self.t.ndim > 1 else self.t
        return Samples(self.name, self._names, t, self.x[place], values)

    def _table(self) -> dict[str, Any]:
        raise ValueError("a table holds one run: choose it by sol.row(number)")

    def __reduce__(self) -> tuple[Any, ...]:
        state = {**vars(self), "_values": {}, "r": self.r, "outputs": self.outputs, "facts": self.facts}
        return _restored, (state,)


def _restored(state: dict[str, Any]) -> Trajectories:
    result = Trajectories.__new__(Trajectories)
    vars(result).update(state)
    return result


@dataclass(frozen=True)
class Control:
    """Options of the integration of each row, for `integrate_rows` of the binding."""

    method: str
    rtol: float
    atol: Array
    step: float
    max_step: float
    max_steps: int
    project: bool
    baumgarte: tuple[float, float] | None


def by_row(argument: Any) -> bool:
    """Test whether a state, inputs or parameters have leading axes."""
    if argument is None or callable(argument) or isinstance(argument, Signal) or hasattr(argument, "address"):
        return False
    if isinstance(argument, Mapping):
        return any(np.ndim(value) > 0 for value in argument.values() if not isinstance(value, Signal))
    return np.ndim(argument) > 1


def simulate_rows(
    dyn: Evaluator,
    spans: tuple[Any, Any],
    x0: Values,
    inputs: Any,
    parameters: Any,
    times: Array | None,
    control: Control,
    threads: int,
    return_status: bool,
) -> Trajectories:
    """Simulate all rows; raise IntegrationError if rows failed, unless their status is returned."""
    t0, t1 = spans
    interval = float(np.min(spans, initial=np.inf)), float(np.max(spans, initial=-np.inf))
    if not np.ndim(t0):
        interval = float(t0), float(t1)
    x = dyn.names.rows("state", x0, "x0")
    p, c = _motion.parameters_of_rows(dyn, {} if parameters is None else parameters)
    held = dyn.names.rows("input", inputs, "inputs") if by_row(inputs) else None
    own = {"x0": x.shape[:-1], "inputs": () if held is None else held.shape[:-1], "parameters": p.shape[:-1]}
    shape = leading(t_span=np.shape(t0), t_eval=() if times is None else times.shape[:-1], **own)
    run_inputs = RunInputs(dyn, inputs if held is None else np.zeros(dyn.n_r), *interval)
    control = replace(control, method=with_known_derivatives(control.method, dyn, run_inputs, control.baumgarte))
    one = x.reshape(-1, dyn.n_x)[0] if x.size else np.zeros(dyn.n_x)
    first = held
    if first is None:
        wide = np.broadcast_to(t0, shape), np.broadcast_to(x, (*shape, dyn.n_x))
        first = run_inputs(*wide) if np.ndim(t0) else run_inputs(t0, one)
    rows = Rows(dyn, t0, 0.0, shape, x, np.asarray(first)[..., np.newaxis, :], p, c)
    if not np.isfinite(x).all():
        place = np.argwhere(~np.isfinite(x).all(axis=-1))[0]
        raise ValueError(f"{named('x0', tuple(place))} is {x[tuple(place)].tolist()}, which is not finite")
    if control.project:
        rows = replace(rows, x=starts(rows))
    t = _times(times, control, spans, run_inputs.knots)
    out = np.empty((*shape, t.shape[-1], dyn.n_x))
    run = _integrate(rows, run_inputs, held, spans, t, control, out, threads)
    if held is not None:
        warn_of_other_rates_in_rows(replace(rows, dt=interval[1] - interval[0]), 1)
    elif rows.x.size and (run_inputs.function is None or threads == 1):  # else neighbours are of other rows
        warn_of_other_rates(dyn, run_inputs, interval, rows.x.reshape(-1, dyn.n_x)[0], p[(0,) * (p.ndim - 1)])
    values = _values(dyn, t, out, run_inputs, held, p, control.method)
    result = Trajectories(dyn, t, out, values, run, shape)
    if not result.success and not return_status:
        raise _failure(rows, run, result)
    return result


def _times(times: Array | None, control: Control, spans: tuple[Any, Any], knots: Array) -> Array:
    """Times of the states: as given, or the ends of fixed steps, or the start and the end."""
    t0, t1 = spans
    if times is not None:
        return times
    if np.ndim(t0):
        return np.stack([t0, t1], axis=-1)
    if control.step == 0.0 or _motion.METHODS[control.method]:
        return np.array([t0, t1] if t1 != t0 else [t0])
    direction = 1.0 if t1 >= t0 else -1.0
    inner = knots[(knots > min(t0, t1)) & (knots < max(t0, t1))][:: int(direction)]
    ends = [t0]
    for start, end in zip([t0, *inner], [*inner, t1], strict=True):
        length = (end - start) * direction
        whole = np.floor(length / control.step * (1.0 + 8.0 * np.finfo(float).eps))
        count = int(whole) + bool(whole == 0 or length - whole * control.step > 1e-9 * control.step)
        ends += [start + direction * control.step * i for i in range(1, count)] + [end]  # as kc_integrate.c steps
    return np.array(ends if t1 != t0 else [t0])


def _integrate(
    rows: Rows,
    inputs: RunInputs,
    held: Array | None,
    spans: tuple[Any, Any],
    t: Array,
    control: Control,
    out: Array,
    threads: int,
) -> _motion.RowsRun:
    """Integrate all rows; rows in which G loses rank at the start run again with the rank there."""
    dyn, n = rows.dyn, int(np.prod(rows.shape))
    coefficients = None
    if held is not None:
        coefficients = np.zeros((n, len(inputs.knots) - 1, dyn.n_r, 4))
        coefficients[..., 0] = rows.wide(held, 1).reshape(n, 1, dyn.n_r)
    x = np.ascontiguousarray(rows.wide(rows.x, 1).reshape(n, dyn.n_x))
    t0, t1 = (np.broadcast_to(each, rows.shape if np.ndim(each) else (1,)).flatten() for each in spans)
    times = np.ascontiguousarray(rows.wide(t, 1).reshape(n, -1) if t.ndim > 1 else t[np.newaxis])
    c = rows.c.reshape(1, -1) if rows.c.ndim == 1 else np.ascontiguousarray(rows.wide(rows.c, 1).reshape(n, -1))

    def run(x: Array, coefficients: Array | None, c: Array, out: Array, some: slice = slice(None)) -> _motion.RowsRun:
        return _motion.integrate_rows(
            dyn,
            x=x,
            t0=t0[some] if len(t0) > 1 else t0,
            t1=t1[some] if len(t1) > 1 else t1,
            inputs=inputs.in_c(coefficients),
            constants=c,
            times=times[some] if len(times) > 1 else times,
            out=out,
            threads=threads,
            **vars(control),
        )

    result = run(x, coefficients, c, out)
    if dyn.n_constraints:
        states = out.reshape(n, t.shape[-1], dyn.n_x)

        def again(i: int, case: Rows) -> tuple[npt.NDArray[Any], ...]:
            own = None if coefficients is None else coefficients[i : i + 1]
            return _results(run(x[i : i + 1], own, case.c[np.newaxis], states[i], slice(i, i + 1)))

        lost = np.flatnonzero((result.codes == NUMBER_OF["lost"]) & (result.ends == t0))
        count_again(rows, lost, again, *_results(result))
    return result


def _results(run: _motion.RowsRun) -> tuple[npt.NDArray[Any], ...]:
    return run.codes, run.numbers, run.ends, run.counts


def _values(
    dyn: Evaluator, t: Array, x: Array, inputs: RunInputs, held: Array | None, p: Array, method: str
) -> dict[str, Callable[[], Any]]:
    """Functions that compute inputs, outputs and energies on first use; NaN after the end of a row."""
    p = p[..., np.newaxis, :] if p.ndim > 1 else p

    def r() -> Array:
        if held is not None:
            return np.broadcast_to(held[..., np.newaxis, :], (*x.shape[:-1], dyn.n_r))
        return inputs(np.broadcast_to(t, x.shape[:-1]), x)

    def outputs() -> Array:
        return np.asarray(dyn.outputs(t, x, r=r(), p=p))

    def energy() -> Array:
        now = r()
        return np.asarray(dyn.kinetic_energy(t, x, r=now, p=p) + dyn.potential_energy(t, x, r=now, p=p))

    return {"r": r, "outputs": outputs, "energy": energy, "facts": lambda: {"method": method}}


def _failure(rows: Rows, run: _motion.RowsRun, result: Trajectories) -> IntegrationError:
    """The error of the first failed row, with all failed rows."""

    def said(place: tuple[Any, ...]) -> str:
        ended, number = (values.reshape(rows.shape)[place] for values in (run.ends, run.numbers))
        why = reason(rows.dyn, BY_NUMBER[int(result.status[place])], int(number))
        return f"ends at t = {float(ended)!r}: {why}"

    rest = "later states are NaN, error.trajectory has all rows"
    about = {"trajectory": result, "out": result.x, "status": result.status}
    return failed_rows(rows, "runs", run.codes, said, rest, **about)
