# SPDX-License-Identifier: BSD-3-Clause
"""Parameters, initial states and inputs from noisy recordings of states and outputs, by direct collocation.

Every sample is a node with a state x_k of its own, joined to the next one by Runge-Kutta steps of ẋ = f(t, x, r, p):

    minimize Σ ((h(x_k) − y_k) / σ)²   subject to   x_{k+1} = F(x_k, p)

IPOPT solves this with exact second derivatives, with logarithms of positive parameters.  It starts at smoothed samples,
and at parameters for which a few steps from each sample end nearest to a later one (equation error).  No motion of the
whole is solved, so chaotic ones fit as well.  Covariances are those of the equality-constrained least squares problem
(Bock, Kostina & Schlöder, *GAMM-Mitteilungen* 30, 2007).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import warn
from kanecore.export.export_methods import casadi as casadi_function
from kanecore.motion.simulation_options import positive_count
from kanecore.optimal.ipopt import Solved, solve
from kanecore.optimal.recordings import WEAK, Range, Recording, bounds

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["ParameterFit", "fitted"]

Array = npt.NDArray[np.float64]

_CONFIDENCE = 0.95
_MISFIT = 3.0  # rms of residuals in units of sigma beyond which the model does not explain the recording
_NOISE = 1.5  # the same of all residuals, up to which no other start is tried
_STEP_ERROR = 1e-4  # of the range of a state, from sample to sample
_TOLD = 1.0  # standard error, of a logarithm or of the size of a parameter, beyond which nothing is known of it
_ROUNDING = 1e-12  # of variances
_WIDTH = 110


@dataclass(frozen=True, eq=False)
class ParameterFit:
    """Result of `CompiledModel.fit`; ``str()`` is a table.

    Attributes
    ----------
    success : bool
        IPOPT converged, residuals are noise (at most three times σ), every parameter can be told from the recording,
        and steps between samples are exact to 1e-4 of the range of each state.
    message : str
        Which of these failed, and why.
    parameters : dict of str to float
        The values found, for ``dyn.parameters.update``.
    standard_errors : dict of str to float
        Of the values, from the covariance; infinite for those that cannot be told from the recording.
    intervals : dict of str to (low, high)
        Confidence intervals of 95 %; of positive parameters, which have logarithms, not symmetric about the value.
    covariance : ndarray, (n, n)
        Of the values in the order of ``parameters``, scaled by the residuals.
    undetermined : tuple of dict of str to float
        Directions along which parameters change without effect: the weights of parameters, or of their logarithms.
    t, x, r : ndarray, (N,), (N, n_x), (N, n_r)
        Times of the recording; the states and inputs found there.
    start, start_errors : ndarray, (n_x,)
        The first state, and its standard errors.
    residuals : dict of str to ndarray, (N,)
        Model less recording for each signal, NaN where nothing was recorded.
    sigma, misfit : dict of str to float
        Standard deviation that was taken for each signal, and the rms of its residuals in units of that.
    cost : float
        Σ (residual / σ)².
    step_error : float
        Largest error of the steps from sample to sample, beside half as long ones, in ranges of the states.
    iterations : int
        Of IPOPT, of the best start.
    """

    model: str
    success: bool
    message: str
    parameters: dict[str, float]
    standard_errors: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    covariance: Array
    undetermined: tuple[dict[str, float], ...]
    t: Array
    x: Array
    r: Array
    start: Array
    start_errors: Array
    residuals: dict[str, Array]
    sigma: dict[str, float]
    misfit: dict[str, float]
    cost: float
    step_error: float
    iterations: int

    def __str__(self) -> str:
        left = [
            f"{name} {self.misfit[name] * self.sigma[name]:.3g} ({self.misfit[name]:.2f} σ)" for name in self.misfit
        ]
        lines = [
            f"{self.model}: {len(self.parameters)} parameters from {len(self.t)} samples; {self.message}",
            f"left of the recording, root mean square: {', '.join(left)}",
        ]
        width = max(map(len, self.parameters), default=0)
        for name, value in self.parameters.items():
            low, high = self.intervals[name]
            lines.append(
                f"{name:{width}}  {value:.6g} ± {self.standard_errors[name]:.2g}   95 %: {low:.6g} ... {high:.6g}"
            )
        return "\n".join("\n".join(textwrap.wrap(line, _WIDTH, subsequent_indent="    ")) for line in lines)

    __repr__ = __str__


def fitted(dyn: Evaluator, recorded: Any, unknown: Any, search: Mapping[str, Any]) -> ParameterFit:
    """The fit of `CompiledModel.fit`, whose other arguments are ``search``."""
    try:
        import casadi
        import scipy  # noqa: F401  # before any work
    except ImportError as error:
        raise ImportError(f"dyn.fit needs the package {error.name}: pip install {error.name}") from error
    from kanecore.optimal.fit_guesses import closed, equation_error, guessed_states

    record = closed(Recording.of(dyn, recorded, unknown, *(search[k] for k in ("inputs", "parameters", "sigma"))))
    named = dyn.names.by_number("state", search["start"] or {}, "start")
    first = {i: bounds(f"start[{dyn.names.of('state')[i]!r}]", value) for i, value in named.items()}
    number, m = positive_count("starts", search["starts"]), search["steps"]
    m = m if m is None else positive_count("steps", m)
    x = guessed_states(casadi, record, search["guess"], first)
    program = _Program(casadi, record, m or record.steps_for(x), first, x)
    tried = list[Solved]()
    for z in equation_error(record, x, number):
        tried.append(program.solved(z, x, search["options"] or {}))
        if tried[-1].converged and 2.0 * tried[-1].cost <= _NOISE**2 * program.errors.numel():
            break  # what is left is noise: another optimum cannot be much better
    return program.result(min(tried, key=lambda found: (not found.converged, found.cost)))


class _Program:
    """The nonlinear program of a recording: unknowns (z, X, W), parameters, states and inputs at the samples."""

    def __init__(self, casadi: Any, record: Recording, m: int, first: Mapping[int, Range], x: Array) -> None:
        self.casadi, self.record, self.m, self.first = casadi, record, m, first
        dyn, t, n = record.dyn, record.t, len(record.t)
        z, states = casadi.MX.sym("z", len(record.unknown.names)), casadi.MX.sym("X", dyn.n_x, n)
        sought = casadi.MX.sym("W", len(record.forces), n)
        p = casadi.MX(casadi.DM(record.p))
        for j, i in enumerate(record.unknown.places):
            p[i] = casadi.exp(z[j]) if record.unknown.positive[j] else z[j]
        r, now = casadi.MX(casadi.DM(record.stages(m).reshape(n - 1, -1).T)), casadi.MX(casadi.DM(record.r.T))
        for j, i in enumerate(record.forces):
            now[i, :] = sought[j, :]
            for k, part in enumerate(np.linspace(0.0, 1.0, 2 * m + 1)):
                r[k * dyn.n_r + i, :] = (1.0 - part) * sought[j, :-1] + part * sought[j, 1:]
        step = self._step().map(n - 1)
        gaps = states[:, 1:] - step(t[np.newaxis, :-1], states[:, :-1], r, p, np.diff(t)[np.newaxis])
        rows, self.redundant = self._at_start(states[:, 0], now[:, 0], p, x)
        self.unknowns = casadi.veccat(z, states, sought)
        self.rows = casadi.vertcat(casadi.vec(gaps), rows)
        self.known = np.isfinite(record.y)
        told = {"state": states, "input": now}
        if any(kind == "output" for _, kind, _ in record.signals):
            told["output"] = casadi_function(dyn, "outputs").map(n)(t[np.newaxis], states, now, p)
        errors = [
            (told[kind][i, np.flatnonzero(known).tolist()] - y[known][np.newaxis]) / deviation
            for (_, kind, i), y, known, deviation in zip(
                record.signals, record.y.T, self.known.T, record.sigma, strict=True
            )
        ]
        self.errors = casadi.horzcat(*errors).T

    def _step(self) -> Any:
        """Runge-Kutta steps from one sample to the next."""
        from kanecore.optimal.equations_of_motion import equations_of_motion

        casadi, dyn, m = self.casadi, self.record.dyn, self.m
        f, inputs = equations_of_motion(dyn, "txrp"), casadi.MX.sym("r", dyn.n_r * (2 * m + 1))
        t, x, p, h = (casadi.MX.sym(name, k) for name, k in (("t", 1), ("x", dyn.n_x), ("p", dyn.n_p), ("h", 1)))
        parts = casadi.vertsplit(inputs, dyn.n_r) if dyn.n_r else [casadi.MX(0, 1)] * (2 * m + 1)
        time, end, length = t, x, h / m
        for begin, middle, last in zip(parts[:-1:2], parts[1::2], parts[2::2], strict=True):
            k1 = f(time, end, begin, p)
            k2 = f(time + length / 2, end + length / 2 * k1, middle, p)
            k3 = f(time + length / 2, end + length / 2 * k2, middle, p)
            k4 = f(time + length, end + length * k3, last, p)
            time, end = time + length, end + length / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return casadi.Function("step", [t, x, inputs, p, h], [end])

    def _at_start(self, x: Any, r: Any, p: Any, guess: Array) -> tuple[Any, bool]:
        """Independent rows of the constraints at the first state, and whether there were others."""
        from kanecore.optimal.equations_of_motion import constraint_rows

        record, f = self.record, constraint_rows(self.record.dyn)
        _, *slopes = (np.array(part) for part in f.jacobian()(record.t[0], guess[0], record.r[0], record.p, *[0] * 2))
        matrix = np.vstack([slopes[0], slopes[4]])  # by x
        free, kept, limit = matrix.copy(), list[int](), 1e-8 * np.max(np.abs(matrix), initial=0.0)
        held = [i for i, (low, high) in self.first.items() if low == high]
        free[:, held] = 0.0
        for i in range(len(matrix)):
            if np.linalg.matrix_rank(free[[*kept, i]], tol=limit) > len(kept):
                kept.append(i)
        begin = guess[0].copy()
        begin[held] = [self.first[i][0] for i in held]
        missed = np.array(self.casadi.vertcat(*f(record.t[0], begin, record.r[0], record.p))).ravel()
        missed[kept] = 0.0
        if len(held) and np.max(np.abs(missed), initial=0.0) > 1e-6:
            raise ValueError("start does not satisfy the constraints: name independent coordinates and speeds alone")
        rows = self.casadi.vertcat(*f(record.t[0], x, r, p))
        return rows[kept], np.linalg.matrix_rank(matrix, tol=limit) < len(matrix) if len(matrix) else False

    def solved(self, z: Array, x: Array, options: Mapping[str, Any]) -> Solved:
        """Solution from some parameters and states."""
        record, free = self.record, np.inf
        low, high = record.unknown.ranges
        least, most = np.full(x.shape, -free), np.full(x.shape, free)
        for i, (first, last) in self.first.items():
            least[0, i], most[0, i] = first, last
        forces = record.r[:, list(record.forces)].ravel()
        side = np.full(forces.size, free)
        ranges = np.concatenate([low, least.ravel(), -side]), np.concatenate([high, most.ravel(), side])
        zeros = np.zeros(self.rows.numel())
        change = (self.unknowns[: len(z)] - record.unknown.inverse(record.unknown.first)) * WEAK / record.unknown.size
        cost = (self.casadi.sumsqr(self.errors) + self.casadi.sumsqr(change)) / 2
        program = {"x": self.unknowns, "f": cost, "g": self.rows}
        approximate = {"hessian_approximation": "limited-memory"} if self.redundant else {}
        z0 = np.concatenate([z, x.ravel(), forces])
        return solve(self.casadi, program, z0, ranges, (zeros, zeros), {"max_iter": 60, **approximate, **options})

    def result(self, solved: Solved) -> ParameterFit:
        """The result, with covariances and what fails."""
        from scipy.special import stdtrit

        record, unknown, dyn = self.record, self.record.unknown, self.record.dyn
        n, n_z = len(record.t), len(unknown.names)
        z, x = solved.z[:n_z], solved.z[n_z : n_z + n * dyn.n_x].reshape(n, dyn.n_x)
        r = record.r.copy()
        r[:, list(record.forces)] = solved.z[n_z + n * dyn.n_x :].reshape(n, -1)
        errors = np.array(self.casadi.Function("errors", [self.unknowns], [self.errors])(solved.z)).ravel()
        cost = float(errors @ errors)
        variances, freedom = self._covariance(solved.z)
        of_z, of_start = variances[:n_z, :n_z], variances[n_z:, n_z:]
        directions = _undetermined(of_z, unknown.size, unknown.names)
        lost = np.diag(of_z) < -_ROUNDING * unknown.size**2  # no variance is negative but by rounding
        directions += [{name: 1.0} for name, without in zip(unknown.names, lost, strict=True) if without]
        noise = cost / max(freedom, 1)
        slopes = np.where(unknown.positive, unknown.values(z), 1.0)
        deviation = np.sqrt(noise * np.maximum(np.diag(of_z), 0.0))
        deviation[[any(name in each for each in directions) for name in unknown.names]] = np.inf
        reach = stdtrit(max(freedom, 1), (1.0 + _CONFIDENCE) / 2) * deviation
        left = np.full((len(record.signals), n), np.nan)
        left[self.known.T] = errors
        signals = [name for name, _, _ in record.signals]
        misfit = np.sqrt(np.nanmean(left**2, axis=1))
        step_error = 0.0 if record.forces else record.step_error(x, self.m, record.with_parameters(z))
        faults = [] if solved.converged else [solved.sentence]
        if max(misfit) > _MISFIT:
            faults.append(
                f"the model misses the recording by {max(misfit):.3g} σ: it lacks something, or more starts, guesses "
                "or ranges lead to another optimum"
            )
        if step_error > _STEP_ERROR:
            faults.append(f"steps between samples err by {step_error:.1g} of a state's range: give more steps")
        if directions:
            faults.append(f"the recording does not tell {'; nor '.join(map(_written, directions))}")
            warn(f"{dyn.name!r}: {faults[-1]}; values along these are arbitrary")

        def named(values: Any, names: Iterable[str] = unknown.names) -> dict[str, Any]:
            return dict(zip(names, values.tolist() if values.ndim == 1 else values, strict=True))

        ends = np.stack([unknown.values(z - reach), unknown.values(z + reach)], axis=1)
        return ParameterFit(
            model=dyn.name,
            success=not faults,
            message="; ".join(faults) or "solved",
            parameters=named(unknown.values(z)),
            standard_errors=named(slopes * deviation),
            intervals={name: (low, high) for name, (low, high) in named(ends).items()},
            covariance=noise * slopes[:, np.newaxis] * of_z * slopes,
            undetermined=tuple(directions),
            t=record.t,
            x=x,
            r=r,
            start=x[0],
            start_errors=np.sqrt(noise * np.maximum(np.diag(of_start), 0.0)),
            residuals=named(left * record.sigma[:, np.newaxis], signals),
            sigma=named(record.sigma, signals),
            misfit=named(misfit, signals),
            cost=cost,
            step_error=step_error,
            iterations=solved.iterations,
        )

    def _covariance(self, at: Array) -> tuple[Array, int]:
        """Covariance of z and the first state for errors of variance 1, and the degrees of freedom."""
        from scipy import sparse
        from scipy.sparse.linalg import splu

        casadi, n_z, n_x = self.casadi, len(self.record.unknown.names), self.record.dyn.n_x
        held = [n_z + i for i, (low, high) in self.first.items() if low == high]
        every = [casadi.jacobian(self.errors, self.unknowns), casadi.jacobian(self.rows, self.unknowns)]
        slopes, rows = (part.sparse().tocsc() for part in casadi.Function("slopes", [self.unknowns], every)(at))
        if held:
            rows = sparse.vstack([rows, sparse.identity(len(at), format="csr")[held]])
        weak = np.full(len(at), 1e-8)  # so that states without any information have a variance
        weak[:n_z] = (WEAK / self.record.unknown.size) ** 2
        information = slopes.T @ slopes + sparse.diags(weak)
        matrix = sparse.bmat([[information, rows.T], [rows, None]], format="csc")
        columns = np.zeros((matrix.shape[0], n_z + n_x))
        np.fill_diagonal(columns, 1.0)
        variances = splu(matrix).solve(columns)[: n_z + n_x]
        return (variances + variances.T) / 2, self.errors.numel() - len(at) + rows.shape[0]


def _undetermined(covariance: Array, scale: Array, names: Iterable[str]) -> list[dict[str, float]]:
    """Directions, in units of scale, whose standard error is larger than one: weights by name."""
    variances, vectors = np.linalg.eigh(covariance / scale / scale[:, np.newaxis])
    result = []
    for vector in vectors[:, variances > _TOLD**2].T:
        weights = vector / vector[np.argmax(np.abs(vector))]
        result.append({name: float(w) for name, w in zip(names, weights, strict=True) if abs(w) > 0.05})
    return result


def _written(direction: Mapping[str, float]) -> str:
    """A direction as text; weights are exponents of positive parameters, factors of changes of others."""
    return " · ".join(
        name if abs(weight - 1.0) < 5e-3 else f"{name}^{weight:.2g}" for name, weight in direction.items()
    )
