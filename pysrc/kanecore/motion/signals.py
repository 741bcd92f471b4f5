# SPDX-License-Identifier: BSD-3-Clause
"""Inputs as functions of time: tables with constant, linear or cubic interpolation."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from kanecore.functions.splines import slopes
from kanecore.run.call_arguments import real_numbers

__all__ = ["Signal"]

Array = npt.NDArray[np.float64]
Kind = Literal["zoh", "linear", "cubic"]

_RATES = {"zoh": 0, "linear": 1, "cubic": 2}  # derivatives that are finite everywhere


class Signal:
    """Values at given times, and a rule between them.

    Parameters
    ----------
    t : array_like, (n,)
        Times, increasing, s.
    values : array_like, (n,) or (n, m)
        Values of one or of m inputs.
    kind : {"zoh", "linear", "cubic"}
        "zoh": each value holds until the next time, and the last one forever. "linear": straight lines. "cubic": a
        spline with continuous second derivative.  The first two pieces of the spline are the same cubic, and so are the
        last two (not-a-knot; a parabola through three values, a line through two).

    Raises
    ------
    ValueError
        Shapes that do not match, times that do not increase, numbers that are not finite.
    TypeError
        Complex numbers, text.

    Attributes
    ----------
    knots : ndarray
        The ends of the pieces.
    coefficients : ndarray, (pieces, m, 4)
        Each piece as a cubic in t − knot, constant term first.
    """

    def __init__(self, t: npt.ArrayLike, values: npt.ArrayLike, kind: Kind = "zoh") -> None:
        times, table = real_numbers("t of a signal", t), real_numbers("values of a signal", values)
        if kind not in _RATES:
            raise ValueError(f"kind is {kind!r}; it must be one of {', '.join(map(repr, _RATES))}")
        if times.ndim != 1 or len(times) < 2:
            raise ValueError(f"t has shape {times.shape}; a signal needs at least two times, (n,)")
        if table.ndim not in (1, 2) or len(table) != len(times):
            raise ValueError(f"values has shape {table.shape}; it must be ({len(times)},) or ({len(times)}, m), as t")
        if not np.isfinite(times).all() or not np.isfinite(table).all():
            raise ValueError("t and values of a signal must be finite")
        if not (np.diff(times) > 0).all():
            raise ValueError(f"t must increase; it does not after t[{int(np.argmin(np.diff(times)))}]")
        table = table.reshape(len(times), -1)
        self.kind = kind
        self.start = float(times[0])
        self.stop = float("inf") if kind == "zoh" else float(times[-1])
        self.knots, self.coefficients = _pieces(times, table, kind)

    @classmethod
    def of_cubics(cls, knots: npt.ArrayLike, coefficients: npt.ArrayLike) -> Signal:
        """The signal of given pieces, which may jump at the knots: ``knots`` (n + 1,), `coefficients` (n, m, 4)."""
        pieces, cubics = real_numbers("knots", knots), real_numbers("coefficients", coefficients)
        if cubics.ndim != 3 or cubics.shape[2] != 4 or pieces.shape != (len(cubics) + 1,):
            raise ValueError(f"coefficients has shape {cubics.shape}; it must be (n, m, 4), and knots (n + 1,)")
        made = cls(pieces, np.zeros(len(pieces)), "linear")
        made.coefficients = cubics
        return made

    def __repr__(self) -> str:
        columns = "1 column" if self.n == 1 else f"{self.n} columns"
        return f"<Signal of kind {self.kind!r}: {columns}, t = {self.start:g} ... {self.stop:g}>"

    @property
    def n(self) -> int:
        """Number of inputs."""
        return int(self.coefficients.shape[1])

    @property
    def smooth_rates(self) -> int:
        """Number of derivatives that are finite everywhere."""
        return _RATES[self.kind]

    def __call__(self, t: npt.ArrayLike) -> Array:
        """Values at times of any shape: (..., m), with m = 1 for the values of one input, also if they came as (n,).

        Raises
        ------
        ValueError
            A time outside the table; a signal of kind "zoh" continues forever.
        """
        times = np.asarray(t, dtype=np.float64)
        if times.size:
            self.require(float(times.min()), float(times.max()))
        return evaluate(self.knots, self.coefficients, times)

    def require(self, low: float, high: float, label: str = "") -> None:
        """ValueError unless the signal reaches from low to high."""
        if not (low >= self.start and high <= self.stop):
            raise ValueError(
                f"{label}the signal has t = {self.start} to {self.stop}, and {low} to {high} is needed: extend it"
            )

    def cubics_about(self, times: Array, column: int, order: int) -> Array:
        """Derivative of a column as cubics in t − times[i], each from the piece of times[i]: (..., 4)."""
        k = piece(self.knots, times)
        s = times - self.knots[k]
        a0, a1, a2, a3 = self.coefficients[k, column].T
        value, rate = a0 + s * (a1 + s * (a2 + s * a3)), a1 + s * (2 * a2 + 3 * s * a3)
        cubics = np.stack([value, rate, a2 + 3 * s * a3, a3], axis=-1)
        for _ in range(order):
            cubics = np.concatenate([cubics[:, 1:] * np.arange(1, 4), np.zeros((len(cubics), 1))], axis=-1)
        return cubics


def evaluate(knots: Array, coefficients: Array, t: npt.ArrayLike) -> Array:
    """Piecewise cubics at times t: (..., m)."""
    times = np.asarray(t, dtype=np.float64)
    k = piece(knots, times)
    s = (times - knots[k])[..., np.newaxis]
    return cubic_values(coefficients[k], s)


def cubic_values(cubic: Array, s: Array | float) -> Array:
    """Values of cubics, (..., m, 4), at s from their knots, (..., 1): (..., m)."""
    result = cubic[..., 0] + s * (cubic[..., 1] + s * (cubic[..., 2] + s * cubic[..., 3]))
    return np.asarray(result, dtype=np.float64)


def cubic_rates(cubic: Array, s: Array | float) -> Array:
    """Derivatives of cubics with respect to s: (..., m)."""
    result = cubic[..., 1] + s * (2.0 * cubic[..., 2] + s * (3.0 * cubic[..., 3]))
    return np.asarray(result, dtype=np.float64)


def piece(knots: Array, times: Array) -> npt.NDArray[np.intp]:
    """Piece of each time, at a knot the piece that begins there; the first and last extend to infinity."""
    return np.clip(np.searchsorted(knots, times, side="right") - 1, 0, len(knots) - 2)


def _pieces(times: Array, table: Array, kind: Kind) -> tuple[Array, Array]:
    if kind == "zoh":
        knots = np.append(times, times[-1] + 1.0)  # the last piece extends beyond its knot
        coefficients = np.zeros((len(times), table.shape[1], 4))
        coefficients[..., 0] = table
        return knots, coefficients
    if kind == "linear":
        coefficients = np.zeros((len(times) - 1, table.shape[1], 4))
        coefficients[..., 0] = table[:-1]
        coefficients[..., 1] = np.diff(table, axis=0) / np.diff(times)[:, np.newaxis]
        return times, coefficients
    h = np.diff(times)[:, np.newaxis]
    d = np.diff(table, axis=0) / h
    s = slopes(times, table)
    bend = (s[:-1] + s[1:] - 2 * d) / h
    return times, np.stack([table[:-1], s[:-1], (d - s[:-1]) / h - bend, bend / h], axis=-1)
