# SPDX-License-Identifier: BSD-3-Clause
"""Products of the derivatives of ẋ, or of outputs, with vectors, by one forward or reverse pass, without Jacobians.

Let v be some of t, x, r and p, and y = (u̇, λ).  The equations of motion and of constraints are

    R = f + Gᵀ λ − M u̇ = 0,    S = G u̇ + γ = 0,

and e(v, u̇) is the vector to differentiate: ẋ = (q̇, u̇, ż), or outputs.  Along a direction dv, R and S change by dR
and dS at constant y, and e changes by

    de = e_v dv + e_u̇ du̇,    M du̇ − Gᵀ dλ = dR,    G du̇ = −dS.

The gradient of w · e equals the gradient of w · e + μ · R + ν · S at constant y, μ and ν, where

    Mᵀ μ − Gᵀ ν = e_u̇ᵀ w,    G μ = 0

(Griewank & Walther, *Evaluating Derivatives*, 2nd ed., 2008, chapters 3 and 15).  If u̇ has an expression, du̇ and μ
are solved for on the graph, by the factorization of u̇.
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

__all__ = [
    "VARIABLES",
    "Product",
    "equations",
    "general_product",
    "holds_udot",
    "is_tangent",
    "leaves_fewer",
    "product",
    "written",
]

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
    """Right-hand sides of equations that are solved at run time, and the results that use the solution.

    Attributes
    ----------
    sides : tuple of int
        In forward mode dR, then dS, at given u̇ and λ; in reverse mode e_u̇ᵀ w and zeros.
    solution : tuple of int
        The symbols of the unknowns in `result`: du̇ and dλ, or μ and ν.
    result : tuple of int
        Change of e, or gradient, at given u̇, λ and solution.
    by_solution : tuple of int
        The nodes that determine what else `result` reads at the state: all of `result` in forward mode, the terms in μ
        and ν in reverse mode.
    """

    sides: tuple[int, ...]
    solution: tuple[int, ...]
    result: tuple[int, ...]
    by_solution: tuple[int, ...] = ()

    @property
    def roots(self) -> tuple[int, ...]:
        return (*self.sides, *self.result)


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
    """The product that a kernel finds at run time, from the reduced equations, or from all equations."""
    return _product(d, kernel, leaves_fewer(d))


def general_product(d: Derivation, kernel: str) -> Product:
    """The product from the equations of all speeds and rows."""
    return _product(d, kernel, False)


def leaves_fewer(d: Derivation) -> bool:
    """Test whether the elimination on the graph leaves fewer equations for run time."""
    return d.solving is not None and (len(d.solving.speeds), len(d.solving.rows)) != (len(d.mass_matrix), len(d.rows))


def _product(d: Derivation, kernel: str, left: bool) -> Product:
    variables = VARIABLES[kernel](d.description)
    return (_forwards if is_tangent(kernel) else _backwards)(d, kernel, variables, left)


def written(d: Derivation, kernel: str) -> Derived:
    """The product of a kernel if u̇ and λ have expressions, or if e does not depend on u̇."""
    variables = VARIABLES[kernel](d.description)
    roots = (_written_tangent if is_tangent(kernel) else _written_gradient)(d, kernel, variables)
    if not holds_udot(d, kernel):
        return Derived(tuple(roots))
    return Derived(tuple(d.at_solution(roots)), d.solution.pivots, d.solution.limits)


def is_tangent(kernel: str) -> bool:
    """Test whether a kernel is a forward product."""
    return kernel.endswith("_tangent")


def _forwards(d: Derivation, kernel: str, variables: Sequence[int], left: bool) -> Product:
    description, (n, m) = d.description, _size(d, left)
    symbols = d.vector_symbols(len(variables) + n + m)
    seeds, solution = dict(zip(variables, symbols, strict=False)), symbols[len(variables) :]
    along = Tangent(d.graph, seeds).of
    balance, levels = equations(d)
    sides, change = [along(x) for x in (*balance, *levels)], solution[:n]
    if left:
        sides, offset = d.left_sides(sides)
        change = d.all_solved(change, offset)
    seeds |= dict(zip(description.accelerations, change, strict=True))
    result = tuple(map(Tangent(d.graph, seeds).of, differentiated(d, kernel)))
    return Product(tuple(sides), tuple(solution), result, result)


def _backwards(d: Derivation, kernel: str, variables: Sequence[int], left: bool) -> Product:
    e, (balance, levels), (n, m) = differentiated(d, kernel), equations(d), _size(d, left)
    symbols = d.vector_symbols(len(e) + n + m)
    weights, solution = symbols[: len(e)], symbols[len(e) :]
    by_udot = _by_udot(d, e, weights)
    sides, mu, nu = [*by_udot, *[0] * len(levels)], solution[:n], solution[n:]
    if left:
        sides, offset = d.left_sides(sides)
        mu = d.all_solved(mu, offset)
        nu = list(d.all_forces(_balance(d, by_udot, mu), nu))
    pairs = list(zip([*e, *balance, *levels], [*weights, *mu, *nu], strict=True))
    gradient = accumulate(d.graph, pairs, variables, limits=True)
    return Product(tuple(sides), tuple(solution), tuple(gradient), (*mu, *nu))


def _size(d: Derivation, left: bool) -> tuple[int, int]:
    """Numbers of speeds and rows of the reduced equations, or of all equations."""
    if left and d.solving:
        return len(d.solving.speeds), len(d.solving.rows)
    return len(d.description.speeds), len(d.rows)


def _balance(d: Derivation, forces: Sequence[int], change: Sequence[int]) -> list[int]:
    """Forces minus M times a change of u̇."""
    g = d.graph
    return [g.sub(force, dot(g, row, change)) for force, row in zip(forces, d.mass_matrix, strict=True)]


def _by_udot(d: Derivation, e: Sequence[int], weights: Sequence[int]) -> list[int]:
    """e_u̇ᵀ w."""
    pairs = list(zip(e, weights, strict=True))
    return accumulate(d.graph, pairs, d.description.accelerations, ACCELERATION, limits=True)


def _written_tangent(d: Derivation, kernel: str, variables: Sequence[int]) -> list[int]:
    """The change of e along a direction, if u̇ and λ have expressions."""
    e, seeds = differentiated(d, kernel), dict(zip(variables, d.vector_symbols(len(variables)), strict=True))
    if holds_udot(d, kernel):
        along, (balance, levels) = Tangent(d.graph, seeds).of, equations(d)
        sides = d.at_solution([along(x) for x in (*balance, *levels)])
        change, _ = d.solve(sides[: len(balance)], sides[len(balance) :])
        seeds |= dict(zip(d.description.accelerations, change, strict=True))
    return list(map(Tangent(d.graph, seeds).of, e))


def _written_gradient(d: Derivation, kernel: str, variables: Sequence[int]) -> list[int]:
    """The gradient of w · e, if u̇ and λ have expressions."""
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
    """The residuals R and S."""
    g, udot = d.graph, d.description.accelerations
    balance = d.residual(udot)
    for row, force in zip(d.rows, d.multiplier_symbols, strict=True):
        balance = [g.add(b, g.mul(x, force)) for b, x in zip(balance, row.jacobian, strict=True)]
    return balance, [g.add(row.bias, dot(g, row.jacobian, udot)) for row in d.rows]
