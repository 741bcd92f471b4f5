# SPDX-License-Identifier: BSD-3-Clause
"""Products of the derivatives of ẋ, or of outputs, with vectors, in one pass forwards or backwards: without Jacobians.

With v some of x, r and p, y = (u̇, λ), the equations of motion and of constraints,

    R = f + Gᵀ λ − M u̇ = 0,    S = G u̇ + γ = 0,

and e(v, u̇) what is differentiated, ẋ = (q̇, u̇, ż) or outputs: along a direction dv, R and S changed by dR and dS at
constant y, e changes by

    de = e_v dv + e_u̇ du̇,    M du̇ − Gᵀ dλ = dR,    G du̇ = −dS,

and the gradient of w · e is that of w · e + μ · R + ν · S at constant y, μ and ν, where

    Mᵀ μ − Gᵀ ν = e_u̇ᵀ w,    G μ = 0

(Griewank & Walther, *Evaluating Derivatives*, 2nd ed., 2008, chapters 3 and 15).  Where u̇ has an expression du̇ and μ
are solved on the graph, by the factorization of u̇.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kanecore.describe.description import Description
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.expression_graph import ACCELERATION
from kanecore.graph.vectors import dot

from .derivation import Derivation
from .kernel_registry import Derived

__all__ = ["VARIABLES", "Product", "equations", "holds_udot", "is_tangent", "product", "written"]

VARIABLES: dict[str, Callable[[Description], list[int]]] = {
    "rhs_tangent": lambda d: [*d.x, *d.inputs],
    "rhs_gradient": lambda d: [*d.x, *d.inputs],
    "rhs_parameter_tangent": lambda d: list(d.parameters),
    "rhs_parameter_gradient": lambda d: [*d.x, *d.inputs, *d.parameters],
    "output_tangent": lambda d: [*d.x, *d.inputs],
    "output_gradient": lambda d: [*d.x, *d.inputs],
}
"""The symbols v of each kernel."""


@dataclass(frozen=True)
class Product:
    """Right-hand sides of equations with M and G that are solved at run time, and what the solution is used for.

    Attributes
    ----------
    sides : tuple of int
        Forwards dR (n), then dS (m), at given u̇ and λ; backwards e_u̇ᵀ w and zeros.
    rates : tuple of int
        Forwards dq̇ (n_q), where ẋ is (q̇, u̇).
    solution : tuple of int
        The symbols of what is solved for, du̇ and dλ or μ and ν, which `result` holds.
    result : tuple of int
        Change of e, or gradient, at given u̇, λ and solution; empty where it is dq̇ and du̇.
    """

    sides: tuple[int, ...]
    rates: tuple[int, ...] = ()
    solution: tuple[int, ...] = ()
    result: tuple[int, ...] = ()

    @property
    def roots(self) -> tuple[int, ...]:
        return (*self.sides, *self.rates, *self.result)


def differentiated(d: Derivation, kernel: str) -> list[int]:
    """e: outputs, or q̇, u̇ and ż."""
    description = d.description
    if kernel.startswith("output"):
        return [node for _, node in description.outputs]
    return [*description.rates, *description.accelerations, *d.differentiable_rates]


def holds_udot(d: Derivation, kernel: str) -> bool:
    """Test whether e depends on the accelerations, so that equations are solved."""
    return any(d.graph.depends[node] & ACCELERATION for node in differentiated(d, kernel))


def product(d: Derivation, kernel: str) -> Product:
    """The product that a kernel finds at run time."""
    variables = VARIABLES[kernel](d.description)
    return (_forwards if is_tangent(kernel) else _backwards)(d, kernel, variables)


def written(d: Derivation, kernel: str) -> Derived:
    """The product that a kernel finds where u̇ and λ have expressions, or e does not hold u̇."""
    variables = VARIABLES[kernel](d.description)
    roots = (_written_tangent if is_tangent(kernel) else _written_gradient)(d, kernel, variables)
    if not holds_udot(d, kernel):
        return Derived(tuple(roots))
    return Derived(tuple(d.at_solution(roots)), d.solution.pivots, d.solution.limits)


def is_tangent(kernel: str) -> bool:
    """Test whether a kernel multiplies forwards."""
    return kernel.endswith("_tangent")


def _forwards(d: Derivation, kernel: str, variables: Sequence[int]) -> Product:
    description, n = d.description, len(d.description.speeds)
    symbols = d.vector_symbols(len(variables) + n + len(d.rows))
    seeds, solution = dict(zip(variables, symbols, strict=False)), symbols[len(variables) :]
    along = Tangent(d.graph, seeds).of
    balance, levels = equations(d)
    sides = tuple(map(along, (*balance, *levels)))
    if not description.state_rates and kernel.startswith("rhs"):
        return Product(sides, rates=tuple(map(along, description.rates)))
    seeds |= dict(zip(description.accelerations, solution[:n], strict=True))
    result = map(Tangent(d.graph, seeds).of, differentiated(d, kernel))
    return Product(sides, solution=tuple(solution), result=tuple(result))


def _backwards(d: Derivation, kernel: str, variables: Sequence[int]) -> Product:
    e, (balance, levels) = differentiated(d, kernel), equations(d)
    symbols = d.vector_symbols(len(e) + len(balance) + len(levels))
    weights, solution = symbols[: len(e)], symbols[len(e) :]
    gradient = accumulate(d.graph, list(zip([*e, *balance, *levels], symbols, strict=True)), variables, limits=True)
    sides = (*_by_udot(d, e, weights), *[0] * len(levels))
    return Product(sides, solution=tuple(solution), result=tuple(gradient))


def _by_udot(d: Derivation, e: Sequence[int], weights: Sequence[int]) -> list[int]:
    """e_u̇ᵀ w."""
    pairs = list(zip(e, weights, strict=True))
    return accumulate(d.graph, pairs, d.description.accelerations, ACCELERATION, limits=True)


def _written_tangent(d: Derivation, kernel: str, variables: Sequence[int]) -> list[int]:
    """The change of e along a direction, where u̇ and λ have expressions."""
    e, seeds = differentiated(d, kernel), dict(zip(variables, d.vector_symbols(len(variables)), strict=True))
    if holds_udot(d, kernel):
        along, (balance, levels) = Tangent(d.graph, seeds).of, equations(d)
        sides = d.at_solution([along(x) for x in (*balance, *levels)])
        change, _ = d.solve(sides[: len(balance)], sides[len(balance) :])
        seeds |= dict(zip(d.description.accelerations, change, strict=True))
    return list(map(Tangent(d.graph, seeds).of, e))


def _written_gradient(d: Derivation, kernel: str, variables: Sequence[int]) -> list[int]:
    """The gradient of w · e, where u̇ and λ have expressions."""
    e = differentiated(d, kernel)
    weights = d.vector_symbols(len(e))
    pairs = list(zip(e, weights, strict=True))
    if holds_udot(d, kernel):
        balance, levels = equations(d)
        sides = d.at_solution(_by_udot(d, e, weights))
        mu, nu = d.solve(sides, [0] * len(levels))
        pairs += zip([*balance, *levels], [*mu, *nu], strict=True)
    return accumulate(d.graph, pairs, variables, limits=True)


def equations(d: Derivation) -> tuple[list[int], list[int]]:
    """R and S."""
    g, udot = d.graph, d.description.accelerations
    balance = d.residual(udot)
    for row, force in zip(d.rows, d.multiplier_symbols, strict=True):
        balance = [g.add(b, g.mul(x, force)) for b, x in zip(balance, row.jacobian, strict=True)]
    return balance, [g.add(row.bias, dot(g, row.jacobian, udot)) for row in d.rows]
