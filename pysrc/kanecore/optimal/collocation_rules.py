# SPDX-License-Identifier: BSD-3-Clause
"""Collocation rules, and meshes of intervals on which a rule makes differential equations a nonlinear program.

A rule is one table of an interval of length 1 (Hairer, Nørsett & Wanner, *Solving Ordinary Differential Equations I*,
1993, II.7; Betts, *Practical Methods for Optimal Control*, 2010, 4.5).  States are unknowns at its nodes, inputs at its
points, where ẋ = f is evaluated.  With h the length of the interval and X its states

    points = C X,    defects = X_i − X_0 − h Σ_j B_ij f(points_j),    cost = h Σ_j w_j L(points_j),    w = B's last row
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

__all__ = ["METHODS", "Mesh", "Rule", "lagrange"]

Array = npt.NDArray[np.float64]
Triplets = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], Array, tuple[int, int]]

METHODS = ("backward-euler", "midpoint", "trapezoidal", "hermite-simpson", "radau-1 ... -4", "legendre-1 ... -4")


@dataclass(frozen=True, eq=False)
class Rule:
    """Table of a collocation rule.

    Attributes
    ----------
    name : str
    order : int
        Power of the longest interval with which errors at the ends of intervals fall.
    nodes : ndarray, (s + 1,)
        Times of the states in an interval, from 0 to 1.
    points : ndarray, (m,)
        Times at which f is evaluated.
    integrals : ndarray, (s, m)
        B above: the integral of the polynomial through f at the points, from 0 to each node but the first.
    """

    name: str
    order: int
    nodes: Array
    points: Array
    integrals: Array

    @classmethod
    def named(cls, name: str) -> Rule:
        """The rule of a name of `METHODS`; ValueError for any other name."""
        kind, _, digits = name.partition("-")
        if name in _RULES:
            order, nodes, points = _RULES[name]
        elif kind in ("radau", "legendre") and digits in ("1", "2", "3", "4"):
            d = int(digits)
            points = _zeros(kind, d)
            nodes = [0.0, *points] if kind == "radau" else [0.0, *points, 1.0]
            order = 2 * d - (kind == "radau")
        else:
            raise ValueError(f"method is {name!r}; it must be one of {', '.join(METHODS)}")
        weights = np.array([np.polyval(np.polyint(p), nodes[1:]) for p in lagrange(np.array(points))]).T
        return cls(name, order, np.array(nodes), np.array(points), weights)

    @property
    def shared(self) -> bool:
        """Test whether neighbouring intervals share the points at their ends."""
        return bool(self.points[0] == 0.0)

    @cached_property
    def of_nodes(self) -> Array:
        """C above, (m, s + 1)."""
        values = np.array([np.polyval(p, self.points) for p in lagrange(self.nodes)]).T
        return np.where(np.abs(values) < 1e-12, 0.0, values)

    @cached_property
    def dense(self) -> Array:
        """Coefficients of X_0 + h Σ_j f_j ∫ l_j over θ, from that of θ on, zeros behind: (5, m)."""
        columns = [np.polyint(p)[-2::-1] for p in lagrange(self.points)]
        return np.array([np.pad(column, (0, 5 - len(column))) for column in columns]).T

    @cached_property
    def inputs(self) -> Array:
        """Coefficients of the polynomial through values at the points, constant first, zeros behind: (4, m)."""
        return np.array([np.pad(p[::-1], (0, 4 - len(p))) for p in lagrange(self.points)]).T


_RULES = {
    "backward-euler": (1, [0.0, 1.0], [1.0]),
    "midpoint": (2, [0.0, 1.0], [0.5]),
    "trapezoidal": (2, [0.0, 1.0], [0.0, 1.0]),
    "hermite-simpson": (4, [0.0, 0.5, 1.0], [0.0, 0.5, 1.0]),
}


def lagrange(points: Array) -> list[Array]:
    """The polynomials that are 1 at one of some points and 0 at the others, highest power first."""
    others = [np.delete(points, i) for i in range(len(points))]
    return [np.atleast_1d(np.poly(rest)) / np.prod(points[i] - rest) for i, rest in enumerate(others)]


def _zeros(kind: str, d: int) -> list[float]:
    """Zeros of the polynomial of Legendre on 0 ... 1, or of Radau, whose last one is 1."""
    if kind == "legendre":
        return [(x + 1.0) / 2.0 for x in np.polynomial.legendre.leggauss(d)[0].tolist()]
    polynomial = np.poly([0.0] * (d - 1) + [1.0] * d)
    return [*np.sort(np.roots(np.polyder(polynomial, d - 1)).real)[:-1].tolist(), 1.0]


@dataclass(frozen=True, eq=False)
class Mesh:
    """Intervals of a motion whose time goes from 0 to 1, with a rule on each.

    Attributes
    ----------
    rule : Rule
    edges : ndarray, (N + 1,)
    """

    rule: Rule
    edges: Array

    @property
    def n(self) -> int:
        """Number of intervals."""
        return len(self.edges) - 1

    @property
    def stages(self) -> int:
        """Number of states that an interval adds."""
        return len(self.rule.nodes) - 1

    @property
    def stride(self) -> int:
        """Number of points that an interval adds."""
        return len(self.rule.points) - self.rule.shared

    @property
    def widths(self) -> Array:
        return np.diff(self.edges)

    @cached_property
    def nodes(self) -> Array:
        """Times of all states, (s N + 1,)."""
        inner = self.edges[:-1, np.newaxis] + self.widths[:, np.newaxis] * self.rule.nodes[:-1]
        return np.append(inner, 1.0)

    @cached_property
    def points(self) -> Array:
        """Times of all points."""
        inside = self.rule.points[: self.stride]
        times = self.edges[:-1, np.newaxis] + self.widths[:, np.newaxis] * inside
        return np.append(times, 1.0) if self.rule.shared else times.ravel()

    @property
    def of_nodes(self) -> Triplets:
        """C of all intervals, (points, states)."""
        if self.rule.shared:
            i = np.arange(len(self.points))
            return i, i, np.ones(len(i)), (len(i), len(i))
        return self.blocks(self.rule.of_nodes, self.stride, self.stages, np.ones(self.n), len(self.nodes))

    @property
    def differences(self) -> Triplets:
        """X_i − X_0 of all intervals, (s N, states)."""
        block = np.hstack([-np.ones((self.stages, 1)), np.eye(self.stages)])
        return self.blocks(block, self.stages, self.stages, np.ones(self.n), len(self.nodes))

    @property
    def integrals(self) -> Triplets:
        """B of all intervals, each times its length, (s N, points)."""
        return self.blocks(self.rule.integrals, self.stages, self.stride, self.widths, len(self.points))

    @cached_property
    def weights(self) -> Array:
        """The points' weights in an integral from 0 to 1."""
        _, columns, values, _ = self.blocks(self.rule.integrals[-1:], 1, self.stride, self.widths, len(self.points))
        return np.asarray(np.bincount(columns, values, len(self.points)), dtype=np.float64)

    def points_of(self) -> npt.NDArray[np.intp]:
        """Numbers of the points of each interval, (N, m)."""
        return self.stride * np.arange(self.n)[:, np.newaxis] + np.arange(len(self.rule.points))

    def refined(self, excess: Array) -> Mesh:
        """Mesh whose intervals are split where their error is ``excess`` > 1 times what is allowed.

        An error falls with the length to the power of order + 1: so many pieces, at most four, leave half of that.
        """
        pieces = np.clip(np.ceil((2.0 * excess) ** (1.0 / (self.rule.order + 1))), 2, 4)
        pieces = np.where(excess > 1.0, pieces, 1).astype(int)
        parts = [np.linspace(a, b, n + 1)[:-1] for a, b, n in zip(self.edges, self.edges[1:], pieces, strict=False)]
        return Mesh(self.rule, np.append(np.concatenate(parts), 1.0))

    def blocks(self, block: Array, down: int, right: int, scale: Array, width: int) -> Triplets:
        """A block of each interval, ``down`` rows and ``right`` columns from that of the one before."""
        i, j = np.nonzero(block)
        k = np.arange(self.n)[:, np.newaxis]
        values = scale[:, np.newaxis] * block[i, j]
        return (k * down + i).ravel(), (k * right + j).ravel(), values.ravel(), (self.n * down, width)
