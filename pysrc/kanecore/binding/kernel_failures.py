# SPDX-License-Identifier: BSD-3-Clause
"""Errors of kernels in words: which part of a model has no solution, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import NonFiniteError, SingularError
from kanecore.statuses import BY_NUMBER

if TYPE_CHECKING:
    from kanecore.binding.kernel_methods import Kernels

__all__ = ["not_finite", "singular"]

Array = npt.NDArray[np.float64]


def _where(t: float, x: Array, rows: Array | None) -> str:
    where = f"at t = {t!r}, x = {x.tolist()!r}"
    if rows is None:
        return where
    if len(rows) == 1:
        return f"{where}, row {int(rows[0])}"
    return f"{where} and in {len(rows)} rows in all, the first {int(rows[0])}"


def not_finite(model: Kernels, kernel: str, t: float, x: Array, rows: Array | None, out: Any) -> NonFiniteError:
    """The error of a kernel whose result is not finite, though no equations are to blame."""
    return NonFiniteError(
        f"{kernel} of {model.name!r} is not finite {_where(t, x, rows)}: an overflow, or an expression that is not "
        "defined there (a division by zero, the root of a negative number, the pole of a tangent, a spline beyond its "
        "knots)",
        t=t,
        x=x,
        rows=rows,
        out=out,
    )


def singular(
    model: Kernels,
    kernel: str,
    status: int,
    row: int,
    t: float,
    x: Array,
    r: Array | None,
    p: Array | None,
    rows: Array | None,
    out: Any,
) -> SingularError:
    """The error of a kernel that found no solution, of a batch with the rows that failed and the result.

    ``row`` is that of the error: speeds, then rows of G, then constraints on coordinates.  r and p are None for the
    current ones.
    """
    where, outcome = _where(t, x, rows), BY_NUMBER[status]
    about: dict[str, Any] = {"t": t, "x": x, "rows": rows, "out": out, "row": row}
    of_model = f"of {model.name!r}"
    if outcome.name in ("JAMMED", "UNCONVERGED"):
        why = model._load_fault(t, x, r, p, outcome.name == "UNCONVERGED")
        about["row"] = model.n_u + int(model._table_info["loads_of_reactions"][0])
        return SingularError(f"{kernel}: {why} {where}", status=outcome.word, **about)
    if outcome.name == "SINGULAR" and kernel == "project_gradient":
        return SingularError(
            f"{kernel}: the way back to the constraints {of_model} has no gradient {where}: no motion led back, so "
            "that coordinates were changed directly, or the mass matrix is not positive definite on the way; start "
            "nearer to the constraints, from dyn.consistent(t, x)",
            **about,
        )
    if outcome.name == "SINGULAR":
        return SingularError(
            f"{kernel}: the mass matrix {of_model} is singular {where}: {model._pivot(row)}; give whatever this speed "
            "moves mass or inertia, or avoid the state, where the kinematical equations may be singular (gimbal lock)",
            **about,
        )
    name = model._row_name(row)
    if outcome.name == "LOST":
        return SingularError(
            f"{kernel}: {name!r} {of_model} is lost {where}: its coefficients, or what the other constraints leave of "
            "them, vanish there, and not nearby: a dead point; dyn.check(x) counts what is independent",
            **about,
        )
    if outcome.name == "CONTRADICTORY":
        others = [other for other in model._opposed(t, x, r, p, row - model.n_u) if other != name]
        against = " and ".join(map(repr, others)) or "the other constraints"
        return SingularError(
            f"{kernel}: {name!r} {of_model} contradicts {against} {where}: no accelerations satisfy them together; "
            "leave out redundant rows",
            contradictory=(*others, name),
            **about,
        )
    return SingularError(
        f"{kernel}: no state near x satisfies {name!r} {of_model} together with the other constraints {where}", **about
    )
