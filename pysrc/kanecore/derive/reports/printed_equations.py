# SPDX-License-Identifier: BSD-3-Clause
"""The equations of motion as SymPy equations and as LaTeX: F_r + F*_r = 0, or M u̇ = f, with q̇ and constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from kanecore.derive.derivation import Derivation
from kanecore.describe.from_sympy.reactions import multiplier
from kanecore.errors import ModelError

from .described_model import Described
from .symbolic_expressions import symbols_by_key, warn_of_names

if TYPE_CHECKING:
    from kanecore.show.notebook_pages import Latex

__all__ = ["equations", "whole"]


def equations(model: Described, form: str) -> list[Any]:
    """See :meth:`kanecore.Model.equations`."""
    if form not in FORMS:
        raise ValueError(f"form is {form!r}: write one of {', '.join(map(repr, FORMS))}")
    derivation = model.derivation
    if derivation.without_masses:
        raise ModelError(f"{model.name!r} has no equations of motion: {derivation.without_masses}")
    return [*_kinematical(model), *FORMS[form](model), *_constraints(model), *_first_order(model)]


def _symbols(model: Described) -> dict[Any, Any]:
    """The user's symbols by the keys of the graph, with symbols of multipliers."""
    derivation = model.derivation
    keys = [derivation.graph.nodes[i][1] for i in derivation.multiplier_symbols]
    return {**symbols_by_key(model), **{key: multiplier(n) for n, key in enumerate(keys)}}


def _kinematical(model: Described) -> list[Any]:
    """Equations of q̇; none if all q̇ are speeds."""
    import sympy as sm

    from kanecore.graph.printed_expressions import printed

    d, t = model.derivation.description, model.time
    if d.rates == d.speeds:
        return []
    rates = printed(d.graph, list(d.rates), _symbols(model))
    return [sm.Eq(q.diff(t), rate) for q, rate in zip(model.coordinates, rates, strict=True)]


def _kane(model: Described) -> list[Any]:
    """Equations F_r + F*_r + (Gᵀλ)_r = 0, one for each speed."""
    import sympy as sm

    from kanecore.graph.printed_expressions import printed

    derivation = model.derivation
    found = printed(derivation.graph, _balance(derivation), _symbols(model))
    return [sm.Eq(e, 0, evaluate=False) for e in found]


def _balance(derivation: Derivation) -> list[int]:
    g, balance = derivation.graph, list(derivation.residual(derivation.description.accelerations))
    for row, force in zip(derivation.rows, derivation.multiplier_symbols, strict=True):
        balance = [g.add(b, g.mul(x, force)) for b, x in zip(balance, row.jacobian, strict=True)]
    return balance


def _mass_matrix(model: Described) -> list[Any]:
    """The equation M u̇ = f + Gᵀλ of matrices."""
    import sympy as sm

    from kanecore.graph.printed_expressions import printed

    derivation, t = model.derivation, model.time
    g, forcing = derivation.graph, list(derivation.forcing)
    for row, force in zip(derivation.rows, derivation.multiplier_symbols, strict=True):
        forcing = [g.add(f, g.mul(x, force)) for f, x in zip(forcing, row.jacobian, strict=True)]
    n, mass = len(forcing), [x for line in derivation.mass_matrix for x in line]
    found = printed(g, [*mass, *forcing], _symbols(model))
    left = sm.MatMul(sm.ImmutableMatrix(n, n, found[: n * n]), sm.ImmutableMatrix([u.diff(t) for u in model.speeds]))
    return [sm.Eq(left, sm.ImmutableMatrix(found[n * n :]), evaluate=False)]


FORMS: dict[str, Callable[[Described], list[Any]]] = {"kane": _kane, "mass_matrix": _mass_matrix}


def _constraints(model: Described) -> list[Any]:
    """Equations G u̇ + γ = 0, row by row."""
    import sympy as sm

    from kanecore.graph.printed_expressions import printed

    derivation = model.derivation
    g, udot = derivation.graph, derivation.description.accelerations
    levels = [
        g.add(g.sum(g.mul(x, a) for x, a in zip(row.jacobian, udot, strict=True)), row.bias) for row in derivation.rows
    ]
    return [sm.Eq(e, 0, evaluate=False) for e in printed(g, levels, _symbols(model))]


def _first_order(model: Described) -> list[Any]:
    """Equations of ż."""
    import sympy as sm

    from kanecore.graph.printed_expressions import printed

    d = model.derivation.description
    rates = printed(d.graph, list(d.state_rates), _symbols(model))
    return [sm.Eq(z.diff(model.time), rate) for z, rate in zip(model.states, rates, strict=True)]


def _multipliers(m: int, symbols: Iterable[Any]) -> list[Any]:
    """Symbols λ₀, λ₁, ... of multipliers, or other letters if the user's symbols print like these."""
    import sympy as sm

    from kanecore.graph.sympy_bridge import as_printed

    taken = set(map(as_printed, symbols))
    letters = chain(("lambda", "Lambda"), map("lambda_c{}".format, count(1)))
    named = ([sm.Symbol(f"{letter}_{i}") for i in range(m)] for letter in letters)
    return next(each for each in named if taken.isdisjoint(map(as_printed, each)))


def whole(model: Described, nested: bool) -> Latex:
    """LaTeX of q̇, M u̇ = f + Gᵀλ, G u̇ = −γ and ż in one block, intermediate variables first."""
    import sympy as sm
    from sympy.physics.vector import vlatex

    from kanecore.graph.printed_expressions import printed, with_intermediates
    from kanecore.show.notebook_pages import Latex

    derivation, t = model.derivation, model.time
    d, g = derivation.description, derivation.graph
    if derivation.without_masses:
        raise ModelError(f"{model.name!r} has no equations of motion: {derivation.without_masses}")
    n, m, n_q = len(d.speeds), len(derivation.rows), 0 if d.rates == d.speeds else len(d.rates)
    jacobian = [x for row in derivation.rows for x in row.jacobian]
    parts = (d.rates[:n_q], [x for row in derivation.mass_matrix for x in row], derivation.forcing, jacobian)
    roots = [*(x for part in parts for x in part), *(g.neg(row.bias) for row in derivation.rows), *d.state_rates]
    symbols = symbols_by_key(model)
    warn_of_names(model)
    lambdas = _multipliers(m, symbols.values())
    keys = [g.nodes[i][1] for i in derivation.multiplier_symbols]
    symbols.update(zip(keys, lambdas, strict=True))
    variables, flat = ([], printed(g, roots, symbols)) if nested else with_intermediates(g, roots, symbols)
    taken = iter(flat)
    rates = [next(taken) for _ in range(n_q)]
    mass, forcing = sm.Matrix(n, n, lambda i, j: next(taken)), sm.Matrix(n, 1, lambda i, j: next(taken))
    rows = [(vlatex(z), vlatex(e)) for z, e in variables]
    rows += [(vlatex(q.diff(t)), vlatex(e)) for q, e in zip(model.coordinates, rates, strict=False)]
    udot = vlatex(sm.Matrix([u.diff(t) for u in model.speeds]))
    right = vlatex(forcing)
    if m:
        G, levels = sm.Matrix(m, n, lambda i, j: next(taken)), sm.Matrix(m, 1, lambda i, j: next(taken))
        right += f" + {vlatex(G.T)} {vlatex(sm.Matrix(lambdas))}"
    rows.append((f"{vlatex(mass)} {udot}", right))
    if m:
        rows.append((f"{vlatex(G)} {udot}", vlatex(levels)))
    rows += [(vlatex(z.diff(t)), vlatex(e)) for z, e in zip(model.states, taken, strict=True)]
    body = " \\\\\n".join(f"{left} &= {right}" for left, right in rows)
    of_user = (*d.x_names, *d.parameter_names, *d.input_names, *map(str, model.functions))
    return Latex(f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}", of_user)
