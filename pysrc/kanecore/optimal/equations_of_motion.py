# SPDX-License-Identifier: BSD-3-Clause
"""Equations of motion and constraints as functions of CasADi."""

from __future__ import annotations

from typing import Any

import casadi as ca

from kanecore.binding.evaluator import Evaluator
from kanecore.errors import CompileError
from kanecore.export.export_methods import casadi

__all__ = ["constraint_rows", "equations_of_motion"]


def equations_of_motion(dyn: Evaluator, wrt: str) -> Any:
    """f(t, x, r, p) = ẋ with derivatives by some of its arguments, compiled, as `CompiledModel.casadi` has it.

    Where there is no compiler it is made of expressions: M u̇ − Gᵀ λ = f and G u̇ + γ = 0, solved by CasADi.
    """
    if not dyn.libraries.codes:
        try:
            return casadi(dyn, wrt=wrt)
        except CompileError:
            pass
    arguments = _arguments(dyn)

    def kernel(name: str) -> Any:
        return casadi(dyn, name)(*arguments)

    matrix, right = kernel("mass_matrix"), kernel("forcing")
    if m := dyn.n_constraints:
        G = kernel("constraint_jacobian")
        matrix = ca.blockcat([[matrix, -G.T], [G, ca.SX(m, m)]])
        right = ca.vertcat(right, -kernel("constraint_bias"))
    rates = [kernel("qdot"), ca.solve(matrix, right)[: dyn.n_u]] + ([kernel("zdot")] if dyn.n_z else [])
    return ca.Function("rates", arguments, [ca.vertcat(*rates)], ["t", "x", "r", "p"], ["xdot"])


def constraint_rows(dyn: Evaluator) -> Any:
    """Function of t, x, r and p: residuals of coordinates, with norms of unit quaternions, and of speeds."""
    arguments = _arguments(dyn)
    norms = [ca.sumsqr(arguments[1][list(places)]) - 1.0 for places in dyn.unit]
    constrained = dyn.n_constraints or dyn.n_configuration
    phi, psi = (
        casadi(dyn, f"{kind}_residual")(*arguments) if constrained else ca.SX(0, 1)
        for kind in ("configuration", "velocity")
    )
    return ca.Function("rows", arguments, [ca.vertcat(phi, *norms), psi])


def _arguments(dyn: Evaluator) -> list[Any]:
    return [ca.SX.sym(name, n) for name, n in zip("txrp", (1, dyn.n_x, dyn.n_r, dyn.n_p), strict=True)]
