# SPDX-License-Identifier: BSD-3-Clause
"""Equations of motion and constraints as functions of CasADi."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import casadi as ca
import numpy as np

from kanecore.binding.evaluator import Evaluator
from kanecore.errors import CompileError, ModelError
from kanecore.export.export_methods import casadi
from kanecore.rank import independent_columns

__all__ = ["constraint_rows", "equations_of_motion", "multipliers"]


_FOLLOWS = 1e-6  # the part of a row that is independent of others, if it follows from them
_SMALL = 3  # accelerations and multipliers that expressions solve for
_SHORT = 60  # operations of expressions, up to which a compiled function, which takes a second to make, is not faster


def equations_of_motion(dyn: Evaluator, wrt: str) -> Any:
    """f(t, x, r, p) = ẋ with derivatives by some of its arguments.

    For short equations it is made of expressions, M u̇ − Gᵀ λ = f and G u̇ + γ = 0, solved by CasADi.  For others it is
    compiled, as `CompiledModel.casadi` has it, unless there is no compiler.
    """
    made, key = dyn.libraries.casadi_functions, ("equations of motion", "", ())
    if key not in made and dyn.n_u + dyn.n_constraints <= _SMALL and _independent(dyn):
        with suppress(ModelError):  # of functions given by data
            made[key] = _expressions(dyn)
    if not dyn.libraries.codes and (key not in made or made[key].n_instructions() > _SHORT):
        try:
            return casadi(dyn, wrt=wrt)
        except CompileError:
            pass
    if key not in made:
        made[key] = _expressions(dyn)
    return made[key]


def _independent(dyn: Evaluator) -> bool:
    """Test whether no row of the constraints follows from others at the current state, as expressions need."""
    if not dyn.n_constraints:
        return True
    x, r, p = (np.nan_to_num(dyn.names.current(kind), nan=1.0) for kind in ("state", "input", "parameter"))
    rows = np.asarray(dyn.constraint_jacobian(0.0, x, r=r, p=p))
    return len(independent_columns(rows.T, _FOLLOWS)) == dyn.n_constraints


def _expressions(dyn: Evaluator) -> Any:
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


def multipliers(dyn: Evaluator) -> Any:
    """Function of t, x, r, p and u̇: the multipliers λ of M u̇ = f + Gᵀ λ, by G Gᵀ λ = G (M u̇ − f)."""
    arguments, udot = _arguments(dyn), ca.SX.sym("udot", dyn.n_u)
    mass, forcing, G = (casadi(dyn, name)(*arguments) for name in ("mass_matrix", "forcing", "constraint_jacobian"))
    found = ca.solve(ca.mtimes(G, G.T), ca.mtimes(G, ca.mtimes(mass, udot) - forcing))
    return ca.Function("multipliers", [*arguments, udot], [found])


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
