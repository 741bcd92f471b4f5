# SPDX-License-Identifier: BSD-3-Clause
"""A, Ψ and Υ of redundant speeds as SymPy expressions: q̇# = Y# [1; A_n] p#, Ψ its inverse, Υ = A_n Ψ."""

from __future__ import annotations

from typing import Any

from kanecore.errors import ModelError
from kanecore.graph.calculus import Tangent
from kanecore.graph.linear import Singular, solve
from kanecore.speed_matrices import SpeedMatrices

from .derivation import Derivation
from .described import Described
from .nonholonomic import dependence
from .symbolic import symbols_by_key
from .vectors import dot

__all__ = ["speed_matrices"]

Matrix = list[list[int]]


def speed_matrices(model: Described) -> SpeedMatrices:
    """See :meth:`kanecore.Model.speed_matrices`."""
    import sympy as sm

    from kanecore.graph.sympy_bridge import to_sympy

    derivation = model._derivation
    d, g = derivation.description, derivation.graph
    if derivation.counted:
        raise ModelError(
            f"the speed matrices of {d.name!r} have no expression: its constraints are solved at run time; "
            "dyn.speed_matrices(t, x) gives their numbers"
        )
    rows = derivation.constraints.rows if d.constraints else []
    if any(row.value < 0 for row in rows):
        raise ModelError(f"{d.name!r} has constraints on accelerations, which say nothing of velocities")
    slopes = [[row.jacobian[r] for r in range(len(d.speeds))] for row in rows]
    dependent = dependence(derivation)
    psi = _inverse(derivation, dependent)
    upsilon = [[dot(g, row, column) for column in zip(*psi, strict=True)] for row in dependent]
    symbols = symbols_by_key(model)

    def written(matrix: Matrix, width: int) -> Any:
        flat = to_sympy(g, [i for row in matrix for i in row], symbols, nested=True)[1]
        return sm.Matrix(len(matrix), width, flat)

    n, dof = len(d.coordinates) - d.n_q_dependent, len(d.speeds) - d.n_u_dependent
    return SpeedMatrices(
        A=written(slopes, len(d.speeds)),
        Psi=written(psi, n),
        Upsilon=written(upsilon, n),
        coordinates=d.coordinate_names[:n],
        independent=d.speed_names[:dof],
        dependent=d.speed_names[dof:],
    )


def _inverse(derivation: Derivation, dependent: Matrix) -> Matrix:
    """Ψ, of q̇# = Ψ⁻¹ p#."""
    d, g = derivation.description, derivation.graph
    n, dof = len(d.coordinates) - d.n_q_dependent, len(d.speeds) - d.n_u_dependent
    if n != dof:
        raise ModelError(
            f"{d.name!r} has {n} independent coordinates and {dof} independent speeds: Ψ is square for as many"
        )
    by_speed = [Tangent(g, {u: g.one}) for u in d.speeds]
    rates = [[tangent.of(rate) for tangent in by_speed] for rate in d.rates[:n]]
    inverse = [[g.add(row[r], dot(g, row[dof:], [a[r] for a in dependent])) for r in range(dof)] for row in rates]
    try:
        columns = [solve(g, inverse, [g.one if i == j else 0 for i in range(n)]) for j in range(n)]
    except Singular:
        raise ModelError(
            f"the independent speeds of {d.name!r} do not follow from the rates of "
            f"{', '.join(d.coordinate_names[:n])}: describe it with other ones"
        ) from None
    return [list(row) for row in zip(*columns, strict=True)]
