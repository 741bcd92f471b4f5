# SPDX-License-Identifier: BSD-3-Clause
"""Kinematical equations, which are linear in q̇, are solved for q̇ in q, u and t.

Those of coordinates that move points and frames are linear in u as well, which the builder checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy as sm

from kanecore.errors import ModelError
from kanecore.graph.calculus import Tangent
from kanecore.graph.expression_graph import SPEED
from kanecore.graph.linear_equations import Singular, solve
from kanecore.graph.random_samples import samples
from kanecore.tolerances import EQUAL

from .symbols import Symbols, function_name

__all__ = ["solve_kinematics"]


def solve_kinematics(symbols: Symbols, kd_eqs: Sequence[Any]) -> list[int]:
    """Solve for q̇ in q, u and t; from now on ``symbols`` reads derivatives of coordinates as these nodes."""
    g = symbols.graph
    _check_equations(symbols, kd_eqs)
    symbols.know_rates([g.symbol(("qdot", function_name(x)), SPEED) for x in symbols.q])
    equations = [symbols.node(e, f"kinematical equation {i}", "rate") for i, e in enumerate(kd_eqs)]
    matrix = _coefficients(symbols, kd_eqs, equations)
    lost = _undetermined(symbols, matrix)
    names = " and ".join(function_name(symbols.q[j]) for j in lost)
    n = len(symbols.q)
    if len(kd_eqs) < n:
        raise ModelError(
            f"{n} coordinates need {n} kinematical equations, but kd_eqs has {len(kd_eqs)}, and none determines "
            f"the derivative of {names}: add {n - len(kd_eqs)}, as {function_name(symbols.q[lost[-1]])}.diff() - u"
        )
    right = [g.neg(e) for e in g.substitute(equations, dict.fromkeys(symbols.rates, 0))]
    try:
        symbols.know_rates(solve(g, matrix, right))
    except Singular as error:
        names = names or function_name(symbols.q[error.column])
        raise ModelError(
            f"the kinematical equations are singular: they do not determine the derivative of {names}"
        ) from None
    return symbols.rates


def _check_equations(symbols: Symbols, kd_eqs: Sequence[Any]) -> None:
    """Check the kinematical equations.

    There is one for each coordinate.  kd_eqs holds the derivatives of the coordinates, not those of speeds.
    """
    derivatives = set().union(*(e.atoms(sm.Derivative) for e in kd_eqs if isinstance(e, sm.Basic)))
    moved = {e.args[0] for e in derivatives}
    speeds, others = [x for x in symbols.u if x in moved], [x for x in symbols.q if x not in moved]
    if speeds and others:
        wrong, missing = (", ".join(map(function_name, x)) for x in (speeds, others))
        raise ModelError(
            f"q and u are exchanged: kd_eqs holds the derivative of {wrong}, listed among the speeds, and not that "
            f"of {missing}, listed among the coordinates; q_ind holds coordinates, u_ind speeds"
        )
    n = len(symbols.q)
    if len(kd_eqs) > n:
        raise ModelError(
            f"{n} coordinates need {n} kinematical equations, but kd_eqs has {len(kd_eqs)}: "
            "give one for each, such as [q1.diff() - u1, ...]"
        )
    for i, e in enumerate(kd_eqs):
        if isinstance(e, sm.Eq):
            raise ModelError(f"kd_eqs[{i}] is {e}: write it as an expression equal to zero, {e.lhs - e.rhs}")


def _coefficients(symbols: Symbols, kd_eqs: Sequence[Any], equations: Sequence[int]) -> list[list[int]]:
    """Derivatives of the equations by q̇, which depend on no speeds."""
    g = symbols.graph
    columns = [Tangent(g, {rate: g.one}) for rate in symbols.rates]
    read = g.reads(equations, symbols.rates)
    matrix = [
        [column.of(e) if bits >> j & 1 else 0 for j, column in enumerate(columns)]
        for e, bits in zip(equations, read, strict=True)
    ]
    by_speed = [Tangent(g, {u: g.one}) for u in symbols.speeds]
    for i, (row, bits) in enumerate(zip(matrix, g.reads(equations, symbols.speeds), strict=True)):
        for j, column in enumerate(by_speed):  # read by none: the C of a model follows the order of its nodes
            if bits >> j & 1:
                column.of(equations[i])
        if any(g.depends[a] & SPEED for a in row):
            raise ModelError(
                f"kinematical equation {i}, {kd_eqs[i]}, is not linear in the derivatives of the coordinates, which it "
                "is solved for"
            )
    return matrix


def _undetermined(symbols: Symbols, matrix: Sequence[Sequence[int]]) -> list[int]:
    """Coordinates whose rates do not follow from equations with these coefficients, at a random state."""
    n = len(symbols.q)
    states = samples(symbols.graph, [i for row in matrix for i in row], 1)
    if not states or not n:
        return list(range(n))
    numbers = np.array([states[0].values(row) for row in matrix]).reshape(-1, n)
    s = np.linalg.svd(numbers, compute_uv=False)
    if len(s) == n and s[-1] > EQUAL * s[0]:
        return []
    _, s, basis = np.linalg.svd(numbers)
    free = basis[int(np.sum(s > EQUAL * max(s, default=0.0))) :]
    return [j for j in range(n) if np.max(np.abs(free[:, j]), initial=0.0) > EQUAL]
