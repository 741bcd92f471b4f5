# SPDX-License-Identifier: BSD-3-Clause
"""Products of the derivatives of ẋ with vectors, in one pass forwards or backwards: no Jacobian is formed.

With v some of x, r and p, y = (u̇, λ) and the equations of motion and of constraints,

    R = f + Gᵀ λ − M u̇ = 0,    S = G u̇ + γ = 0,

along a direction dv, R and S changed by dR and dS at constant y, ẋ changes by

    dq̇ = q̇_v dv,    M du̇ − Gᵀ dλ = dR,    G du̇ = −dS,

and the gradient of w · ẋ is that of w_q · q̇ + μ · R + ν · S at constant y, μ and ν, where

    Mᵀ μ − Gᵀ ν = w_u,    G μ = 0

(Griewank & Walther, *Evaluating Derivatives*, 2nd ed., 2008, chapters 3 and 15).  Where u̇ has an expression du̇ and μ
are solved on the graph, by the factorization of u̇.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kanecore.describe.description import Description
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.vectors import dot

from .derivation import Derivation
from .kernel_registry import Derived

__all__ = ["VARIABLES", "Adjoint", "Forwards", "adjoint", "forwards", "written_gradient", "written_tangent"]

VARIABLES: dict[str, Callable[[Description], list[int]]] = {
    "rhs_tangent": lambda d: [*d.coordinates, *d.speeds, *d.inputs],
    "rhs_gradient": lambda d: [*d.coordinates, *d.speeds, *d.inputs],
    "rhs_parameter_tangent": lambda d: list(d.parameters),
    "rhs_parameter_gradient": lambda d: list(d.parameters),
}
"""The symbols v of each kernel."""


def written_tangent(d: Derivation, variables: Sequence[int]) -> Derived:
    """The change of ẋ along a direction, where u̇ has an expression."""
    g, udot = d.graph, d.description.accelerations
    along = _along(d, variables)
    sides = g.substitute(list(map(along, d.residual(udot))), dict(zip(udot, d.solution.roots, strict=True)))
    return Derived((*map(along, d.description.rates), *d.solve(sides)), d.solution.pivots, d.solution.limits)


def written_gradient(d: Derivation, variables: Sequence[int]) -> Derived:
    """The gradient of w · ẋ, where u̇ has an expression."""
    g, description = d.graph, d.description
    n_q, udot = len(description.rates), description.accelerations
    weights = d.vector_symbols(n_q + len(udot))
    values = [*description.rates, *d.residual(udot)]
    pairs = list(zip(values, [*weights[:n_q], *d.solve(weights[n_q:])], strict=True))
    gradient = accumulate(g, pairs, variables, limits=True)
    roots = g.substitute(gradient, dict(zip(udot, d.solution.roots, strict=True)))
    return Derived(tuple(roots), d.solution.pivots, d.solution.limits)


@dataclass(frozen=True)
class Forwards:
    """Equations of du̇ along a direction, at given u̇ and λ.

    Attributes
    ----------
    sides : tuple of int
        dR (n), then dS (m).
    rates : tuple of int
        dq̇ (n_q).
    equations : tuple of int
        The entries of M (n, n), dR, G (m, n), dS, and the magnitude of the terms of G (m, n).
    """

    sides: tuple[int, ...]
    rates: tuple[int, ...]
    equations: tuple[int, ...]

    @property
    def roots(self) -> tuple[int, ...]:
        return (*self.equations, *self.rates)


def forwards(d: Derivation, variables: Sequence[int]) -> Forwards:
    """The equations of du̇ along a direction of some variables."""
    along, (balance, levels) = _along(d, variables), _equations(d)
    forces, changes = tuple(map(along, balance)), tuple(map(along, levels))
    equations = _saddle(d, d.mass_matrix, forces, changes)
    return Forwards((*forces, *changes), tuple(map(along, d.description.rates)), equations)


@dataclass(frozen=True)
class Adjoint:
    """Equations of the multipliers μ and ν of weights w, and the gradient at given u̇, λ, μ and ν.

    Attributes
    ----------
    sides : tuple of int
        w_u (n), then zeros (m).
    multipliers : tuple of int
        The symbols of μ and ν.
    gradient : tuple of int
    equations : tuple of int
        The entries of Mᵀ (n, n), w_u, G (m, n), zeros, and the magnitude of the terms of G (m, n).
    """

    sides: tuple[int, ...]
    multipliers: tuple[int, ...]
    gradient: tuple[int, ...]
    equations: tuple[int, ...]

    @property
    def roots(self) -> tuple[int, ...]:
        return (*self.equations, *self.gradient)


def adjoint(d: Derivation, variables: Sequence[int]) -> Adjoint:
    """The equations of μ and ν of weights of ẋ, and the gradient with respect to some variables."""
    n_q, n, m = len(d.description.rates), len(d.description.speeds), len(d.rows)
    symbols = d.vector_symbols(n_q + 2 * n + m)
    weights, multipliers = symbols[: n_q + n], symbols[n_q + n :]
    balance, levels = _equations(d)
    pairs = zip([*d.description.rates, *balance, *levels], [*weights[:n_q], *multipliers], strict=True)
    gradient = accumulate(d.graph, list(pairs), variables, limits=True)
    transposed = list(zip(*d.mass_matrix, strict=True))
    forces, zeros = tuple(weights[n_q:]), (0,) * m
    return Adjoint((*forces, *zeros), tuple(multipliers), tuple(gradient), _saddle(d, transposed, forces, zeros))


def _along(d: Derivation, variables: Sequence[int]) -> Callable[[int], int]:
    """The tangent of a node along the direction that a kernel is given."""
    return Tangent(d.graph, dict(zip(variables, d.vector_symbols(len(variables)), strict=True))).of


def _equations(d: Derivation) -> tuple[list[int], list[int]]:
    """R and S."""
    g, udot = d.graph, d.description.accelerations
    balance = d.residual(udot)
    for row, force in zip(d.rows, d.multiplier_symbols, strict=True):
        balance = [g.add(b, g.mul(x, force)) for b, x in zip(balance, row.jacobian, strict=True)]
    return balance, [g.add(row.bias, dot(g, row.jacobian, udot)) for row in d.rows]


def _saddle(
    d: Derivation, matrix: Sequence[Sequence[int]], sides: Sequence[int], levels: Sequence[int]
) -> tuple[int, ...]:
    """The entries of the equations in the order of ``runtime/equations.h``."""
    rows = [x for row in d.rows for x in row.jacobian]
    return (*(x for row in matrix for x in row), *sides, *rows, *levels, *d.sums(d.rows))
