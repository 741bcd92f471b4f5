# SPDX-License-Identifier: BSD-3-Clause
"""Changes of gradients of w · ẋ along directions, of which Hessians are made: forwards over backwards.

The gradient of w · ẋ by v = (x, r) is L_v of L = w_q · q̇ + μ · R + w_z · ż + ν · S (:mod:`.motion_products`), where ż
does not hold u̇.  Along dv it changes by what v, (u̇, λ) and (μ, ν) change in it.  L is linear in (u̇, λ), and
L_u̇ = L_λ = 0; with c and e the changes of these along dv at constant μ and ν,

    M du̇ − Gᵀ dλ = dR,    G du̇ = −dS,    Mᵀ dμ − Gᵀ dν = c,    G dμ = −e.

So four solutions take one factorization.
"""

from __future__ import annotations

from dataclasses import dataclass

from kanecore.graph.calculus import Tangent, accumulate

from .derivation import Derivation
from .kernel_registry import Derived
from .motion_products import equations

__all__ = ["Change", "change", "written_change"]


@dataclass(frozen=True)
class Change:
    """The change of a gradient along a direction, and the equations that it takes.

    Attributes
    ----------
    weights : tuple of int
        The symbols of w_u.
    multipliers : tuple of int
        The symbols of μ and ν.
    sides : tuple of int
        At given u̇, λ, μ and ν: dR (n), dS (m), c (n), e (m).
    changes : tuple of int
        The symbols of du̇, dλ, dμ, dν.
    gradient : tuple of int
        The change, at given u̇, λ, μ, ν and changes of these.
    """

    weights: tuple[int, ...]
    multipliers: tuple[int, ...]
    sides: tuple[int, ...]
    changes: tuple[int, ...]
    gradient: tuple[int, ...]


def change(d: Derivation) -> Change:
    """The change of a gradient, found from symbols of all that is solved for."""
    g, description = d.graph, d.description
    variables = [*description.x, *description.inputs]
    solution = [*description.accelerations, *d.multiplier_symbols]
    rates, of_states, (balance, levels) = description.rates, description.state_rates, equations(d)
    n_q, n, n_x, size = len(rates), len(balance), description.n_x, len(solution)
    symbols = d.vector_symbols(n_x + len(variables) + 3 * size)
    weights, direction, rest = symbols[:n_x], symbols[n_x : n_x + len(variables)], symbols[n_x + len(variables) :]
    multipliers, changes = rest[:size], rest[size:]
    residuals = [*balance, *levels]
    explicit = [*weights[:n_q], *weights[n_q + n :]]
    pairs = list(zip([*rates, *of_states, *residuals], [*explicit, *multipliers], strict=True))
    gradient = accumulate(g, pairs, [*variables, *solution], limits=True)
    along = dict(zip(variables, direction, strict=True))
    sides = map(Tangent(g, along).of, [*residuals, *gradient[len(variables) :]])
    along |= dict(zip([*solution, *multipliers], changes, strict=True))
    whole = map(Tangent(g, along).of, gradient[: len(variables)])
    return Change(tuple(weights[n_q : n_q + n]), tuple(multipliers), tuple(sides), tuple(changes), tuple(whole))


def written_change(d: Derivation) -> Derived:
    """The change of a gradient where u̇ and λ have expressions."""
    found, n, m = change(d), len(d.description.speeds), len(d.rows)
    mu, nu = d.solve(found.weights, [0] * m)
    known = dict(zip(found.multipliers, [*mu, *nu], strict=True))
    sides = d.graph.substitute(d.at_solution(found.sides), known)
    forwards = d.solve(sides[:n], sides[n : n + m])
    backwards = d.solve(sides[n + m : 2 * n + m], sides[2 * n + m :])
    solved = [*forwards[0], *forwards[1], *backwards[0], *backwards[1]]
    known |= dict(zip(found.changes, solved, strict=True))
    gradient = d.graph.substitute(d.at_solution(found.gradient), known)
    return Derived(tuple(gradient), d.solution.pivots, d.solution.limits)
