# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of states and outputs: read by name, smoothed, with unknown parameters and the steps between samples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.given_values import finite_number, symbol_name
from kanecore.motion.run_inputs import RunInputs
from kanecore.motion.signals import Signal, evaluate
from kanecore.run.call_arguments import real_array

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["WEAK", "Range", "Recording", "Unknown", "bounds", "smoothed"]

Array = npt.NDArray[np.float64]
Range = tuple[float, float]

_WINDOW = 15  # samples that a cubic smooths
_FACTOR = 4.0  # how far starts of positive parameters lie from the first one
_FARTHEST = 12.0  # how far their logarithms may go
WEAK = 1e-3  # by how many sigma a large change of a parameter costs, so that what nothing tells stays where it was
_STEP = 1e-5  # of the range of a state: error of the Runge-Kutta steps between two samples


@dataclass(frozen=True)
class Unknown:
    """Parameters that are sought: names, places in p, values at first, ranges, and which are positive.

    The unknowns z of a program are the logarithms of the positive ones.
    """

    names: tuple[str, ...]
    places: tuple[int, ...]
    first: Array
    low: Array
    high: Array
    positive: npt.NDArray[np.bool_]

    def values(self, z: Array) -> Array:
        """Parameters of the unknowns z."""
        return np.where(self.positive, np.exp(np.where(self.positive, z, 0.0)), z)

    def inverse(self, values: Array) -> Array:
        """The unknowns z of parameters; -inf for 0."""
        with np.errstate(divide="ignore"):
            return np.where(self.positive, np.log(np.where(self.positive, values, 1.0)), values)

    @property
    def size(self) -> Array:
        """Change of each z that is large: 1 of a logarithm, else the width of the range, or the first value."""
        width = self.high - self.low
        known = np.where(self.first == 0.0, 1.0, np.abs(self.first))
        return np.where(self.positive, 1.0, np.where(np.isfinite(width), width, known))

    @property
    def ranges(self) -> tuple[Array, Array]:
        """Ranges of z; those of logarithms are not without end."""
        begin, reach = self.inverse(self.first), np.where(self.positive, _FARTHEST, np.inf)
        return np.maximum(self.inverse(self.low), begin - reach), np.minimum(self.inverse(self.high), begin + reach)

    def starts(self, n: int) -> Array:
        """The first values, and others at random, as z: (n, m)."""
        no_size = (self.first == 0.0) & np.isinf(self.high - self.low)
        reach = np.where(self.positive, math.log(_FACTOR), np.where(no_size, 0.0, self.size))
        z = self.inverse(self.first) + np.random.default_rng(1).uniform(-1.0, 1.0, (n, len(self.names))) * reach
        z[0] = self.inverse(self.first)
        return np.clip(z, *self.ranges)


@dataclass(frozen=True, eq=False)
class Recording:
    """A recording and what is sought in it.

    Attributes
    ----------
    dyn : Evaluator
    t : ndarray, (N,)
    signals : tuple of (name, kind, place)
        What was recorded, of the kinds "state", "output" and "input".
    y : ndarray, (N, n)
        NaN where nothing was recorded.
    sigma : ndarray, (n,)
    unknown : Unknown
    forces : tuple of int
        Places of inputs that are sought.
    inputs : RunInputs
        Of the whole recording; those that are sought as recorded, or zero.
    p : ndarray, (n_p,)
        Parameters, of those that are sought the first values.
    """

    dyn: Evaluator
    t: Array
    signals: tuple[tuple[str, str, int], ...]
    y: Array
    sigma: Array
    unknown: Unknown
    forces: tuple[int, ...]
    inputs: RunInputs
    p: Array

    @classmethod
    def of(cls, dyn: Evaluator, recorded: Any, unknown: Any, inputs: Any, parameters: Any, sigma: Any) -> Recording:
        """Read the arguments of `fit`; all errors are raised here, before any work."""
        if not (hasattr(recorded, "keys") and "t" in recorded):
            raise TypeError("recorded must be a mapping by name that holds 't', the times: {'t': t, 'theta': theta}")
        t = real_array("recorded['t']", recorded["t"], (None,), meaning="the times")
        if len(t) < 8 or not (np.diff(t) > 0.0).all():
            raise ValueError("recorded['t'] must hold at least 8 times, and increase")
        sought = _sought(dyn, unknown)
        forces = tuple(sought["input"])
        signals, columns, applied = [], [], dict(inputs or {}) if inputs is None or hasattr(inputs, "keys") else None
        for key in recorded:
            if symbol_name(key) == "t":
                continue
            kind, i = dyn.names.found(("state", "output", "input"), key)
            name = dyn.names.of(kind)[i]
            values = real_array(f"recorded[{name!r}]", recorded[key], (len(t),), meaning="one for each t", finite=False)
            if not np.isfinite(values).any():
                raise ValueError(f"recorded[{name!r}] holds no number: leave it out")
            if kind == "input":
                if applied is None or name in {symbol_name(other) for other in applied}:
                    raise ValueError(f"input {name!r} is in recorded and in inputs: leave out one")
                filled = np.interp(t, t[np.isfinite(values)], values[np.isfinite(values)])
                if i not in forces and not np.isfinite(values).all():
                    raise ValueError(f"recorded[{name!r}] holds NaN: an input must be known at all times")
                applied[name] = Signal(t, filled, kind="linear")
            if kind != "input" or i in forces:
                signals.append((name, kind, i))
                columns.append(values)
        if not signals:
            raise ValueError("recorded holds no coordinate, speed, state or output: there is nothing to compare with")
        run = RunInputs(dyn, inputs if applied is None else applied, t[0], t[-1])
        if run.function is not None:
            raise TypeError(
                "inputs of a fit are numbers and signals: tabulate the function, kc.Signal(t, f(t), 'cubic')"
            )
        known = dyn.names.by_number("parameter", parameters or {}, "parameters")
        found = _unknown(dyn, sought["parameter"], known)
        known |= dict(zip(found.places, found.first.tolist(), strict=True))
        p = dyn.names.resolved("parameter", {dyn.parameter_names[i]: value for i, value in known.items()})
        y = np.stack(columns, axis=-1)
        deviations = _deviations(dyn, signals, t, y, sigma)
        return cls(dyn, t, tuple(signals), y, deviations, found, forces, run, p)

    def with_parameters(self, z: Array) -> Array:
        """All parameters, for unknowns z."""
        p = self.p.copy()
        p[list(self.unknown.places)] = self.unknown.values(z)
        return p

    def stages(self, m: int) -> Array:
        """Inputs at the begins, middles and ends of m steps from each sample to the next: (N − 1, 2 m + 1, n_r)."""
        times = self.t[:-1, np.newaxis] + np.diff(self.t)[:, np.newaxis] * np.linspace(0.0, 1.0, 2 * m + 1)
        times[:, -1] = np.nextafter(self.t[1:], -np.inf)  # before what jumps at the next sample
        return evaluate(self.inputs.knots, self.inputs.coefficients, times)

    @property
    def r(self) -> Array:
        """Inputs at the samples, (N, n_r)."""
        return self.inputs(self.t, np.empty((len(self.t), self.dyn.n_x)))

    def advanced(self, x: Array, rows: Any, r: Array, p: Array) -> Array:
        """States at the next samples, from x at some, by Runge-Kutta steps with the inputs r of `stages`."""
        m = r.shape[1] // 2
        h = (np.diff(self.t)[rows] / m)[:, np.newaxis]
        for i in range(m):
            t, begin, middle, end = self.t[:-1][rows] + i * h[:, 0], *(r[:, 2 * i + j] for j in range(3))
            k1 = self.dyn.rhs(t, x, r=begin, p=p)
            k2 = self.dyn.rhs(t + h[:, 0] / 2, x + h / 2 * k1, r=middle, p=p)
            k3 = self.dyn.rhs(t + h[:, 0] / 2, x + h / 2 * k2, r=middle, p=p)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + self.dyn.rhs(t + h[:, 0], x + h * k3, r=end, p=p))
        return x

    def step_error(self, x: Array, m: int, p: Array) -> float:
        """Largest change by steps half as long, in ranges of the states."""
        rows = np.arange(len(self.t) - 1)
        error = self.advanced(x[:-1], rows, self.stages(m), p) - self.advanced(x[:-1], rows, self.stages(2 * m), p)
        size = np.maximum(np.ptp(x, axis=0), 1e-9 * (1.0 + np.max(np.abs(x), axis=0)))
        return float(np.nan_to_num(np.max(np.abs(error) / size), nan=np.inf))

    def steps_for(self, x: Array) -> int:
        """Steps between two samples for an error of 1e-5, at most 16."""
        return next((m for m in (1, 2, 4, 8) if self.step_error(x, m, self.p) <= _STEP), 16)


def smoothed(t: Array, y: Array) -> tuple[Array, Array, float]:
    """Values and rates of the cubic through the 15 samples about each time, and the standard deviation about it.

    Savitzky & Golay, *Analytical Chemistry* 36, 1964, also for times that are not even; NaN in y is no sample.
    """
    width = min(_WINDOW, len(t))
    window = np.clip(np.arange(len(t)) - width // 2, 0, len(t) - width)[:, np.newaxis] + np.arange(width)
    s = t[window] - t[:, np.newaxis]
    reach = np.max(np.abs(s), axis=1)
    known = np.isfinite(y[window])
    matrix = (s / reach[:, np.newaxis])[..., np.newaxis] ** np.arange(4) * known[..., np.newaxis]
    values = np.where(known, y[window], 0.0)
    cubic = np.linalg.pinv(matrix) @ values[..., np.newaxis]
    rest = values - (matrix @ cubic)[..., 0]
    free = known.sum(axis=1) - 4
    noise = math.sqrt(float(np.median(np.sum(rest**2, axis=1)[free > 0] / free[free > 0]))) if (free > 0).any() else 0.0
    return cubic[:, 0, 0], cubic[:, 1, 0] / reach, noise


# -------------------------------------------------------------------------------------------------------- arguments


def bounds(label: str, value: Any) -> Range:
    """Range that a number, or (low, high), stands for."""
    if not np.ndim(value):
        return (finite_number(label, value),) * 2
    if np.shape(value) != (2,):
        raise ValueError(f"{label} is {value!r}; it must be a number, or (low, high)")
    low, high = float(value[0]), float(value[1])
    if not low < high:
        raise ValueError(f"{label} is {value!r}; low must be below high")
    return low, high


def _sought(dyn: Evaluator, unknown: Any) -> dict[str, dict[int, Any]]:
    """Ranges of unknowns, by kind and index: None, a number or (low, high)."""
    if isinstance(unknown, str) or hasattr(unknown, "free_symbols"):
        unknown = [unknown]
    result: dict[str, dict[int, Any]] = {"parameter": {}, "input": {}}
    for key in unknown:
        kind, i = dyn.names.found(("parameter", "input"), key)
        result[kind][i] = unknown[key] if isinstance(unknown, Mapping) else None
        if kind == "input" and (dyn.input_rates[i] >= 0 or i in dyn.input_rates):
            raise ValueError(f"input {dyn.input_names[i]!r} has rates that are inputs too: a fit does not find it")
    return result


def _unknown(dyn: Evaluator, sought: Mapping[int, Any], known: Mapping[int, Any]) -> Unknown:
    """The parameters that are sought; they begin at a number, else at the current value, else within their range."""
    rows = []
    for i, value in sought.items():
        label, least, most = f"unknown[{dyn.parameter_names[i]!r}]", -math.inf, math.inf
        begin = known.get(i, dyn.names.value("parameter", dyn.parameter_names[i]))
        if np.ndim(value):
            least, most = bounds(label, value)
            if not least < begin < most:
                begin = math.sqrt(least * most) if least > 0.0 else (least + most) / 2
        elif value is not None:
            begin = finite_number(label, value)
        if math.isnan(begin):
            raise dyn.names.missing("parameter", [i], "unknown")
        rows.append((begin, 0.0 if begin > 0.0 and math.isinf(least) else least, most))
    first, low, high = np.array(rows, dtype=float).reshape(-1, 3).T
    return Unknown(tuple(dyn.parameter_names[i] for i in sought), tuple(sought), first, low, high, low >= 0.0)


def _deviations(dyn: Evaluator, signals: Any, t: Array, y: Array, sigma: Any) -> Array:
    """Standard deviations of signals: as given, or of the noise about cubics."""
    values = np.array([max(smoothed(t, c)[2], 1e-9 * float(np.nanmax(np.abs(c))), 1e-12) for c in y.T])
    if sigma is not None and not hasattr(sigma, "keys"):
        sigma = {name: sigma for name, _, _ in signals}
    names = [name for name, _, _ in signals]
    for key, value in (sigma or {}).items():
        if symbol_name(key) not in names:
            raise ValueError(f"sigma holds {symbol_name(key)!r}, which was not recorded: {', '.join(names)} were")
        values[names.index(symbol_name(key))] = finite_number(f"sigma[{symbol_name(key)!r}]", value)
    if not (values > 0.0).all():
        raise ValueError(f"sigma is {sigma!r}; standard deviations must be positive")
    return values
