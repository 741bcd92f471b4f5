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

__all__ = ["VARIABLES", "Product", "at_solution", "equations", "is_tangent", "product", "written"]

VARIABLES: dict[str, Callable[[Description], list[int]]] = {
    "rhs_tangent": lambda d: [*d.coordinates, *d.speeds, *d.inputs],
    "rhs_gradient": lambda d: [*d.coordinates, *d.speeds, *d.inputs],
    "rhs_parameter_tangent": lambda d: list(d.parameters),
    "rhs_parameter_gradient": lambda d: list(d.parameters),
}
"""The symbols v of each kernel."""


@dataclass(frozen=True)
class Product:
    """Right-hand sides of equations with M and G that are solved at run time, and what the solution is used for.

    Attributes
    ----------
    sides : tuple of int
        Forwards dR (n), then dS (m), at given u̇ and λ; backwards w_u and zeros.
    rates : tuple of int
        Forwards dq̇ (n_q).
    multipliers : tuple of int
        Backwards the symbols of μ and ν, which are solved for.
    gradient : tuple of int
        Backwards the gradient, at given u̇, λ, μ and ν.
    """

    sides: tuple[int, ...]
    rates: tuple[int, ...] = ()
    multipliers: tuple[int, ...] = ()
    gradient: tuple[int, ...] = ()

    @property
    def roots(self) -> tuple[int, ...]:
        return (*self.sides, *self.rates, *self.gradient)


def product(d: Derivation, kernel: str) -> Product:
    """The product that a kernel finds at run time."""
    variables = VARIABLES[kernel](d.description)
    return _forwards(d, variables) if is_tangent(kernel) else _backwards(d, variables)


def written(d: Derivation, kernel: str) -> Derived:
    """The product that a kernel finds where u̇ and λ have expressions."""
    variables = VARIABLES[kernel](d.description)
    return _written_tangent(d, variables) if is_tangent(kernel) else _written_gradient(d, variables)


def is_tangent(kernel: str) -> bool:
    """Test whether a kernel multiplies forwards."""
    return kernel.endswith("_tangent")


def _forwards(d: Derivation, variables: Sequence[int]) -> Product:
    along, (balance, levels) = _along(d, variables), equations(d)
    return Product(tuple(map(along, (*balance, *levels))), rates=tuple(map(along, d.description.rates)))


def _backwards(d: Derivation, variables: Sequence[int]) -> Product:
    n_q, n, m = len(d.description.rates), len(d.description.speeds), len(d.rows)
    symbols = d.vector_symbols(n_q + 2 * n + m)
    weights, multipliers = symbols[: n_q + n], symbols[n_q + n :]
    balance, levels = equations(d)
    pairs = zip([*d.description.rates, *balance, *levels], [*weights[:n_q], *multipliers], strict=True)
    gradient = accumulate(d.graph, list(pairs), variables, limits=True)
    return Product((*weights[n_q:], *[0] * m), multipliers=tuple(multipliers), gradient=tuple(gradient))


def _written_tangent(d: Derivation, variables: Sequence[int]) -> Derived:
    """The change of ẋ along a direction, where u̇ and λ have expressions."""
    along, (balance, levels) = _along(d, variables), equations(d)
    sides = at_solution(d, [along(x) for x in (*balance, *levels)])
    change, _ = d.solve(sides[: len(balance)], sides[len(balance) :])
    return Derived((*map(along, d.description.rates), *change), d.solution.pivots, d.solution.limits)


def _written_gradient(d: Derivation, variables: Sequence[int]) -> Derived:
    """The gradient of w · ẋ, where u̇ and λ have expressions."""
    rates, (balance, levels) = d.description.rates, equations(d)
    weights = d.vector_symbols(len(rates) + len(balance))
    mu, nu = d.solve(weights[len(rates) :], [0] * len(levels))
    pairs = zip([*rates, *balance, *levels], [*weights[: len(rates)], *mu, *nu], strict=True)
    gradient = accumulate(d.graph, list(pairs), variables, limits=True)
    return Derived(tuple(at_solution(d, gradient)), d.solution.pivots, d.solution.limits)


def at_solution(d: Derivation, nodes: Sequence[int]) -> list[int]:
    """Nodes with the expressions of u̇ and λ in place of their symbols."""
    udot = d.solution.roots
    known = dict(zip(d.description.accelerations, udot, strict=True))
    if d.rows:
        known |= dict(zip(d.multiplier_symbols, d.forces_of(udot, d.forcing), strict=True))
    return d.graph.substitute(nodes, known)


def _along(d: Derivation, variables: Sequence[int]) -> Callable[[int], int]:
    """The tangent of a node along the direction that a kernel is given."""
    return Tangent(d.graph, dict(zip(variables, d.vector_symbols(len(variables)), strict=True))).of


def equations(d: Derivation) -> tuple[list[int], list[int]]:
    """R and S."""
    g, udot = d.graph, d.description.accelerations
    balance = d.residual(udot)
    for row, force in zip(d.rows, d.multiplier_symbols, strict=True):
        balance = [g.add(b, g.mul(x, force)) for b, x in zip(balance, row.jacobian, strict=True)]
    return balance, [g.add(row.bias, dot(g, row.jacobian, udot)) for row in d.rows]
