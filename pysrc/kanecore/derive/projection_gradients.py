# SPDX-License-Identifier: BSD-3-Clause
"""Gradients through the projection to the constraints, step by step of Newton's method.

A step moves y = (q, u, z) to y⁺ by the least change a, weighted by mass, that solves the linearized constraints,

    M a = Gᵀ κ,    G a + φ = 0,

first q by q̇(a), then u by a, with c in place of φ.  The gradient of l · y⁺ by y, r and p is the gradient of
l · y⁺ + μ · (Gᵀ κ − M a) + ν · (G a + φ) at constant a, κ, μ and ν, where

    M μ − Gᵀ ν = y⁺_aᵀ l,    G μ = 0

(Griewank & Walther, *Evaluating Derivatives*, 2nd ed., 2008, chapters 3 and 15).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.expression_graph import ACCELERATION
from kanecore.graph.vectors import dot

from .derivation import Derivation

__all__ = ["LEVELS", "StepGradient", "step_gradient"]

LEVELS = ("position", "velocity")
"""The two levels: of q, then of u."""


@dataclass(frozen=True)
class StepGradient:
    """Terms of the gradient of a step, in addition to the equations of the step.

    Attributes
    ----------
    symbols : tuple of int
        The symbols of κ, μ, ν and l.
    sides : tuple of int
        y⁺_aᵀ l.
    gradient : tuple of int
        By y, r and p, at given a, κ, μ, ν and l.
    """

    symbols: tuple[int, ...]
    sides: tuple[int, ...]
    gradient: tuple[int, ...]


def step_gradient(d: Derivation, level: str) -> StepGradient:
    """The gradient of a step of a level; the symbols of a are those of u̇."""
    g, description = d.graph, d.description
    rows, values = _rows(d, level)
    n, m, n_x = len(description.speeds), len(rows), description.n_x
    symbols = d.vector_symbols(2 * n_x + 2 * m + n)[n_x:]  # the kernel's weights are the first n_x
    forces, rest = symbols[:m], symbols[m:]
    mu, nu, weights = rest[:n], rest[n : n + m], rest[n + m :]
    change = description.accelerations
    balance = [g.sub(dot(g, [row[j] for row in rows], forces), dot(g, d.metric[j], change)) for j in range(n)]
    levels = [g.add(dot(g, row, change), value) for row, value in zip(rows, values, strict=True)]
    after = list(zip(_moved(d, level), weights, strict=True))
    pairs = [*after, *zip(balance, mu, strict=True), *zip(levels, nu, strict=True)]
    wrt = [*description.x, *description.inputs, *description.parameters]
    sides = accumulate(g, after, change, ACCELERATION, limits=True)
    return StepGradient(tuple(symbols), tuple(sides), tuple(accumulate(g, pairs, wrt, limits=True)))


def _rows(d: Derivation, level: str) -> tuple[list[Sequence[int]], Sequence[int]]:
    """The rows G, and φ or c."""
    constraints = d.constraints
    if level == "position":
        return list(constraints.rates), constraints.configuration
    return [row.jacobian for row in constraints.rows if row.value >= 0], constraints.values


def _moved(d: Derivation, level: str) -> list[int]:
    """y⁺."""
    g, description = d.graph, d.description
    q, u, change = list(description.coordinates), list(description.speeds), description.accelerations
    if level == "position":
        along = Tangent(g, dict(zip(description.speeds, change, strict=True))).of
        q = [g.add(x, along(rate)) for x, rate in zip(q, description.rates, strict=True)]
    else:
        u = [g.add(x, a) for x, a in zip(u, change, strict=True)]
    return [*q, *u, *description.states]
