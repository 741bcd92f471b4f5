# SPDX-License-Identifier: BSD-3-Clause
"""Cubic splines through data: for the graph, for C, and for the cubics of `kanecore.Signal`.

The data of a spline are its knots and, at each knot, its value and slope; with two arguments also ∂²f/∂x∂y.  Between
two knots it is a cubic in Hermite's form.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["Spline", "slopes"]

Array = npt.NDArray[np.float64]
Extrapolate = bool | Literal["periodic"]
Ends = Literal["not-a-knot", "periodic"]

HIGHEST = 3  # the order of the highest nonzero derivative
AXES = "xy"


class Spline:
    """A function f(x) or f(x, y) that is given by data, for ``functions=`` of `kanecore.Model`.

    Between two knots f is a cubic, f = f₀ + s (f₀' + s (a₂ + s a₃)) with s = x − x₀, and f'' is continuous.  The first
    two cubics are the same, and so are the last two (not-a-knot; de Boor, *A Practical Guide to Splines*, 1978, chapter
    IV).  The spline equals SciPy's ``CubicSpline(x, y)`` to rounding, and with two arguments the tensor product
    ``RectBivariateSpline(x, y, z)``.  Three values give a parabola, two values a line.

    Parameters
    ----------
    x : array_like, (n,)
        Increasing knots, at least two.
    y : array_like, (n,) or (m,)
        The values f(x), or with ``z`` the knots along the second argument.
    z : array_like, (n, m), optional
        The values f(x, y).
    extrapolate : bool or "periodic", optional
        Values of f outside its knots.  True: values of the first and last cubics.  False: f has no value, and kernels
        raise NonFiniteError. "periodic": f repeats with the distance of the outermost knots as its period.  Default:
        True, or "periodic" for ``bc_type="periodic"``.
    bc_type : {"not-a-knot", "periodic"}
        "periodic": f, f' and f'' at the last knot equal those at the first, as for a cam.  With "not-a-knot" a periodic
        continuation may jump.

    Raises
    ------
    ValueError
        Knots do not increase; shapes do not match; a number is not finite; an unknown ``extrapolate`` or ``bc_type``;
        first and last value differ although ``bc_type`` is "periodic".

    Attributes
    ----------
    knots : tuple of ndarray
        The knots along each argument.
    hermite : ndarray
        The function and its slope at the knots, (n, 2); with two arguments (n, m, 2, 2), the third index by ∂/∂x, the
        last by ∂/∂y.
    digest : str
        A digest: the same for equal splines only.

    Notes
    -----
    A spline is immutable; splines with equal data are equal. f''' is constant between two knots.  At a knot it is that
    of the piece that begins there.

    Examples
    --------
    >>> street = kc.Spline([0, 1, 2, 3, 4], [0, 0.1, 0, 0.2, 0])
    >>> float(street(1)), float(street(1.5, nu=2))
    """

    __slots__ = ("bc_type", "data", "digest", "extrapolate", "hermite", "knots")

    data: tuple[Array, ...]
    knots: tuple[Array, ...]
    hermite: Array
    digest: str
    extrapolate: Extrapolate
    bc_type: Ends

    def __init__(
        self,
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        z: npt.ArrayLike | None = None,
        *,
        extrapolate: Extrapolate | None = None,
        bc_type: Ends = "not-a-knot",
    ) -> None:
        if bc_type not in ("not-a-knot", "periodic"):
            raise ValueError(f"bc_type is {bc_type!r}; it must be 'not-a-knot' or 'periodic'")
        if extrapolate is None:
            extrapolate = "periodic" if bc_type == "periodic" else True
        if not (isinstance(extrapolate, (bool, np.bool_)) or extrapolate == "periodic"):
            raise ValueError(f"extrapolate is {extrapolate!r}; it must be True, False or 'periodic'")
        given = {"x": x, "y": y} if z is None else {"x": x, "y": y, "z": z}
        *knots, values = data = [_finite(name, value) for name, value in given.items()]
        _check(knots, values, "y" if z is None else "z", bc_type)
        derivatives = values
        with np.errstate(over="ignore", invalid="ignore"):
            for axis, points in enumerate(knots):
                derivatives = _with_slopes(points, derivatives, axis, bc_type)
        if not np.isfinite(derivatives).all():
            raise ValueError("the slopes of the spline are too large for doubles: its knots are too close together")
        label = f"{[a.shape for a in data]} {extrapolate} {bc_type} "
        digest = hashlib.sha256(label.encode() + b"".join(a.tobytes() for a in data)).hexdigest()
        members = {
            "data": tuple(map(_frozen, data)),
            "knots": tuple(map(_frozen, knots)),
            "hermite": _frozen(derivatives),
            "digest": digest,
            "extrapolate": extrapolate if extrapolate == "periodic" else bool(extrapolate),
            "bc_type": bc_type,
        }
        for name, member in members.items():
            object.__setattr__(self, name, member)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Spline is immutable: make another one to change its {name}")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __reduce__(self) -> tuple[Callable[..., Spline], tuple[Array, ...]]:
        return partial(Spline, extrapolate=self.extrapolate, bc_type=self.bc_type), self.data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spline) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<Spline of {self.extent}>"

    # ------------------------------------------------------------------- facts
    @property
    def n_arguments(self) -> int:
        """Number of arguments, 1 or 2."""
        return len(self.knots)

    @property
    def known(self) -> bool:
        """True, as its values are known while a model is derived."""
        return True

    @property
    def extent(self) -> str:
        """Extent of its knots, in words."""
        return " by ".join(f"{len(k)} knots from {k[0]:g} to {k[-1]:g}" for k in self.knots)

    # -------------------------------------------------------------- evaluation
    def __call__(self, *arguments: npt.ArrayLike, nu: int | Sequence[int] = 0) -> Array:
        """Values of f, or of a derivative, at arguments of any shapes that broadcast.

        Parameters
        ----------
        *arguments : array_like
            One or two.
        nu : int, or two of them
            Order of the derivative; with two arguments an order for each, such as (1, 0).

        Returns
        -------
        ndarray
            The values; NaN where f has no value.

        Raises
        ------
        TypeError, ValueError
            Another number of arguments or orders; an order that is no whole number ≥ 0.
        """
        orders = tuple(nu) if isinstance(nu, Sequence) else (nu,) if self.n_arguments == 1 or nu else (0, 0)
        if len(arguments) != self.n_arguments or len(orders) != self.n_arguments:
            raise TypeError(
                f"{self!r} has {self.n_arguments} arguments, and an order nu for each: it was called with "
                f"{len(arguments)} and nu={nu!r}"
            )
        if not all(isinstance(k, (int, np.integer)) and k >= 0 for k in orders):
            raise ValueError(f"nu is {nu!r}; orders of derivatives are 0, 1, 2, ...")
        evaluate = np.frompyfunc(lambda *place: self.value(orders, place), self.n_arguments, 1)
        places = [_real("an argument", a) for a in arguments]
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(evaluate(*places), dtype=np.float64)

    def lacks(self, name: str, orders: Sequence[int]) -> str:
        """Empty, since a spline has all derivatives."""
        return ""

    def vanishes(self, orders: Sequence[int]) -> bool:
        """Test whether the derivative of these orders is zero everywhere."""
        return max(orders) > HIGHEST

    def value(self, orders: Sequence[int], arguments: Sequence[Any], real: Callable[[Any], Any] = float) -> Any:
        """A derivative at numbers of any type; ``real`` converts a double to this type."""
        if self.vanishes(orders):
            return real(0.0)
        block: Any = self.hermite
        places = []
        for axis, (knots, x) in enumerate(zip(self.knots, arguments, strict=True)):
            inside = self._inside(knots, real(x), real)
            if inside is None:
                return real(float("nan"))
            piece = min(max(bisect_right(knots, inside) - 1, 0), len(knots) - 2)
            block = block.take([piece, piece + 1], axis=axis)
            low, high = (real(float(k)) for k in knots[piece : piece + 2])
            places.append((inside - low, high - low))
        corners = np.frompyfunc(lambda x: real(float(x)), 1, 1)(block)
        if self.n_arguments == 2:  # along y, for f and ∂f/∂x at both x
            at = [[_cubic(corners[i, :, k], *places[1], orders[1]) for k in range(2)] for i in range(2)]
            corners = np.array(at, dtype=object)
        return _cubic(corners, *places[0], orders[0])

    def _inside(self, knots: Array, x: Any, real: Callable[[Any], Any]) -> Any:
        """Argument at which to look f up; None if f has no value."""
        first, last = (real(float(k)) for k in knots[[0, -1]])
        if x != x:
            return None
        if self.extrapolate == "periodic":
            return first + (x - first) % (last - first) if x - x == 0 else None
        return x if self.extrapolate or first <= x <= last else None


def _cubic(ends: Any, s: Any, h: Any, order: int) -> Any:
    """The derivative of a cubic at a distance s from the first of two knots, h apart; ends[knot] are f and f'."""
    (f0, g0), (f1, g1) = ends
    chord = (f1 - f0) / h
    bend = (g0 + g1 - 2 * chord) / h
    a2, a3 = (chord - g0) / h - bend, bend / h
    if order == 0:
        return f0 + s * (g0 + s * (a2 + s * a3))
    if order == 1:
        return g0 + s * (2 * a2 + s * 3 * a3)
    return 2 * a2 + s * 6 * a3 if order == 2 else 6 * a3


# ------------------------------------------------------------------------------------------------------ data
def _real(name: str, values: npt.ArrayLike) -> Array:
    try:
        given = np.asarray(values)
        return given.astype(np.float64, casting="same_kind" if given.dtype.kind != "O" else "unsafe")
    except (TypeError, ValueError):
        raise ValueError(f"{name} of a spline must be an array of real numbers") from None


def _finite(name: str, values: npt.ArrayLike) -> Array:
    if np.ma.is_masked(values):
        raise ValueError(f"{name} of a spline holds masked values: leave them out, with their knots")
    array = _real(name, values) + 0.0  # a copy without −0.0, which equals 0.0
    if not np.isfinite(array).all():
        raise ValueError(f"{name} of a spline must be finite")
    return array


def _check(knots: Sequence[Array], values: Array, name: str, bc_type: Ends) -> None:
    for axis, points in zip(AXES, knots, strict=False):
        if points.ndim != 1 or len(points) < 2:
            raise ValueError(f"{axis} of a spline has shape {points.shape}; it must be (n,), two knots or more")
        rises = np.diff(points) > 0
        if not rises.all():
            at = int(np.argmin(rises))
            raise ValueError(
                f"{axis} of a spline must rise; it does not from {axis}[{at}] = {points[at]} to "
                f"{axis}[{at + 1}] = {points[at + 1]}: sort the data, and leave out repeated knots"
            )
    shape = tuple(map(len, knots))
    if values.shape != shape:
        raise ValueError(f"{name} of a spline has shape {values.shape}; it must be {shape}, a value for each knot")
    if bc_type == "periodic":
        for place in range(len(knots)):
            if not np.array_equal(values.take(0, place), values.take(-1, place)):
                raise ValueError(
                    f"bc_type is 'periodic', and {name} differs at the first and the last {AXES[place]}: repeat the "
                    "first value at the last"
                )


def _frozen(array: Array) -> Array:
    array.setflags(write=False)
    return array


def _with_slopes(knots: Array, values: Array, axis: int, ends: Ends) -> Array:
    """Values, and derivatives if any, with their slopes along one axis, as a further last index."""
    table = np.moveaxis(values, axis, 0)
    flat = table.reshape(len(knots), -1)
    own = (periodic_slopes if ends == "periodic" else slopes)(knots, flat).reshape(table.shape)
    return np.ascontiguousarray(np.stack([values, np.moveaxis(own, 0, axis)], axis=-1))


def slopes(knots: Array, table: Array) -> Array:
    """Slopes (n, m) of not-a-knot cubic splines at their knots (n,), from their values (n, m).

    The second derivative is continuous at inner knots, the third at the outermost of them: a tridiagonal system,
    solved by elimination without pivots, as every pivot is positive (de Boor, *A Practical Guide to Splines*, ch. IV).
    """
    h = np.diff(knots)[:, np.newaxis]
    d = np.diff(table, axis=0) / h
    n = len(h)
    if n < 3:  # the chord, or the parabola
        curvature = (d[-1] - d[0]) / h.sum(axis=0)
        return np.concatenate([d[:1] - h[0] * curvature, d[:1] + h[0] * curvature, d[1:] + h[1:] * curvature])
    inner = 3 * (h[1:] * d[:-1] + h[:-1] * d[1:])  # = h[i] s[i-1] + 2 (h[i-1] + h[i]) s[i] + h[i-1] s[i+1]
    begin = ((3 * h[0] + 2 * h[1]) * h[1] * d[0] + h[0] ** 2 * d[1]) / (h[0] + h[1])
    end = ((3 * h[-1] + 2 * h[-2]) * h[-2] * d[-1] + h[-1] ** 2 * d[-2]) / (h[-1] + h[-2])
    below = np.concatenate([np.zeros((1, 1)), h[1:], h[-1:] + h[-2:-1]])
    diagonal = np.concatenate([h[1:2], 2 * (h[:-1] + h[1:]), h[-2:-1]])
    above = np.concatenate([h[:1] + h[1:2], h[:-1]])
    return _tridiagonal(below, diagonal, above, np.concatenate([begin[np.newaxis], inner, end[np.newaxis]]))


def periodic_slopes(knots: Array, table: Array) -> Array:
    """Slopes of splines with the same first and second derivatives at the last and the first knot.

    The system is cyclic; its solution is the tridiagonal system's plus a multiple of the last unknown's effect.
    """
    h = np.diff(knots)[:, np.newaxis]
    d = np.diff(table, axis=0) / h
    n = len(h)
    before = np.roll(h, 1)
    right = 3 * (h * np.roll(d, 1, axis=0) + before * d)
    below, diagonal, above = h, 2 * (before + h), before  # of s[i-1], s[i], s[i+1], all numbers modulo n
    if n < 3:
        matrix = np.diag(diagonal[:, 0])
        for i in range(n):
            matrix[i, i - 1] += below[i, 0]
            matrix[i, (i + 1) % n] += above[i, 0]
        s = np.linalg.solve(matrix, right)
        return np.concatenate([s, s[:1]])
    last = np.zeros((n - 1, 1))
    last[0], last[-1] = below[0], above[-2]
    both = _tridiagonal(below[:-1], diagonal[:-1], above[:-1], np.hstack([right[:-1], last]))
    own, added = both[:, :-1], both[:, -1:]
    rest = right[-1] - below[-1] * own[-1] - above[-1] * own[0]
    s_last = rest / (diagonal[-1] - below[-1] * added[-1] - above[-1] * added[0])
    s = np.concatenate([own - added * s_last, s_last[np.newaxis]])
    return np.concatenate([s, s[:1]])


def _tridiagonal(below: Array, diagonal: Array, above: Array, right: Array) -> Array:
    """Solution of a tridiagonal system with positive pivots, by elimination; row i has s[i-1], s[i], s[i+1]."""
    diagonal, s = diagonal.copy(), right.copy()
    for i in range(1, len(s)):
        factor = below[i] / diagonal[i - 1]
        diagonal[i] -= factor * above[i - 1]
        s[i] -= factor * s[i - 1]
    s[-1] /= diagonal[-1]
    for i in range(len(s) - 2, -1, -1):
        s[i] = (s[i] - above[i] * s[i + 1]) / diagonal[i]
    return s
