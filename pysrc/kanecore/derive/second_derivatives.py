# SPDX-License-Identifier: BSD-3-Clause
"""Second derivatives of w · ẋ: columns are changes of the gradient along unit vectors, by forward over reverse mode.

The gradient of w · ẋ by v = (x, r) is L_v of L = w_q · q̇ + μ · R + w_z · ż + ν · S (:mod:`.motion_products`), where ż
does not depend on u̇. Along dv the gradient changes with v, with (u̇, λ) and with (μ, ν).  L is linear in (u̇, λ), and
L_u̇ = L_λ = 0.  With the changes c and e of L_u̇ and L_λ along dv at constant μ and ν,

    M du̇ − Gᵀ dλ = dR,    G du̇ = −dS,    Mᵀ dμ − Gᵀ dν = c,    G dμ = −e.

So all solutions share one factorization.  Only the variables in M or G, a few coordinates, need such columns: along
other variables c = e = 0, and their L_v does not depend on (u̇, λ).  The remaining terms are second derivatives of L
itself, at constant u̇, λ, μ and ν, mostly by speeds: most mechanisms are quadratic in these.
"""

from __future__ import annotations

from dataclasses import dataclass

from kanecore.graph.calculus import Tangent, accumulate

from .derivation import Derivation
from .kernel_registry import Derived
from .motion_products import equations

__all__ = ["SecondDerivatives", "second_derivatives", "written"]


@dataclass(frozen=True)
class SecondDerivatives:
    """Changes of the gradient along directions, and the equations for them.

    Attributes
    ----------
    order : tuple of int
        Indices of the variables: first the variables of M or G, second others with second derivatives at constant
        solutions, then the rest.
    inner, outer : tuple of int
        Symbols of a direction of the first group, and of the second.
    weights : tuple of int
        The symbols of w_u.
    multipliers : tuple of int
        The symbols of μ and ν.
    sides : tuple of int
        Along a direction of the first group, at given u̇, λ, μ and ν: dR (n), dS (m), c (n), e (m).
    changes : tuple of int
        The symbols of du̇, dλ, dμ, dν.
    column : tuple of int
        The change of the gradient by all variables in `order`, along a direction of the first group, at given u̇, λ, μ,
        ν and `changes`.
    curvature : tuple of int
        The change of the gradient by the second group, along a direction of the second group, at given u̇, λ, μ and ν.
    """

    order: tuple[int, ...]
    inner: tuple[int, ...]
    outer: tuple[int, ...]
    weights: tuple[int, ...]
    multipliers: tuple[int, ...]
    sides: tuple[int, ...]
    changes: tuple[int, ...]
    column: tuple[int, ...]
    curvature: tuple[int, ...]


def second_derivatives(d: Derivation) -> SecondDerivatives:
    """Second derivatives of w · ẋ by (x, r), from symbols of the solutions."""
    g, description = d.graph, d.description
    variables = [*description.x, *description.inputs]
    solution = [*description.accelerations, *d.multiplier_symbols]
    rates, of_states, (balance, levels) = description.rates, description.state_rates, equations(d)
    n_q, n, n_x, size = len(rates), len(balance), description.n_x, len(solution)
    symbols = d.vector_symbols(n_x + len(variables) + 3 * size)
    weights, direction, rest = symbols[:n_x], symbols[n_x : n_x + len(variables)], symbols[n_x + len(variables) :]
    multipliers, changes = rest[:size], rest[size:]
    residuals = [*balance, *levels]
    pairs = list(
        zip([*rates, *of_states, *residuals], [*weights[:n_q], *weights[n_q + n :], *multipliers], strict=True)
    )
    gradient = accumulate(g, pairs, [*variables, *solution], limits=True)
    by_variables, by_solution = gradient[: len(variables)], gradient[len(variables) :]

    def held(nodes: list[int], among: list[int]) -> list[int]:
        below = set(g.below(nodes))
        return [i for i in among if variables[i] in below]

    first = held(by_solution, list(range(len(variables))))
    others = [i for i in range(len(variables)) if i not in first]
    second = held([by_variables[i] for i in others], others)
    order = [*first, *second, *(i for i in others if i not in second)]
    inner, outer = [direction[i] for i in first], [direction[i] for i in second]
    along = dict(zip([variables[i] for i in first], inner, strict=True))
    sides = map(Tangent(g, along).of, [*residuals, *by_solution])
    along |= dict(zip([*solution, *multipliers], changes, strict=True))
    column = map(Tangent(g, along).of, [by_variables[i] for i in order])
    beside = dict(zip([variables[i] for i in second], outer, strict=True))
    curvature = map(Tangent(g, beside).of, [by_variables[i] for i in second])
    return SecondDerivatives(
        *map(tuple, (order, inner, outer, weights[n_q : n_q + n], multipliers, sides, changes, column, curvature))
    )


def written(d: Derivation) -> Derived:
    """Column and curvature along directions, if u̇ and λ have expressions."""
    found, n, m = second_derivatives(d), len(d.description.speeds), len(d.rows)
    mu, nu = d.solve(found.weights, [0] * m)
    known = dict(zip(found.multipliers, [*mu, *nu], strict=True))
    sides = d.graph.substitute(d.at_solution(found.sides), known)
    forwards = d.solve(sides[:n], sides[n : n + m])
    backwards = d.solve(sides[n + m : 2 * n + m], sides[2 * n + m :])
    solved = [*forwards[0], *forwards[1], *backwards[0], *backwards[1]]
    known |= dict(zip(found.changes, solved, strict=True))
    roots = d.graph.substitute(d.at_solution([*found.column, *found.curvature]), known)
    return Derived(tuple(roots), d.solution.pivots, d.solution.limits)
