# SPDX-License-Identifier: BSD-3-Clause
"""Failures of kernels in words: the part of a model without a solution, the state, and what to do."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.hooks import Hooks
from kanecore.constraints.constraint_state import ConstraintState, count_near
from kanecore.constraints.load_solutions import fault_of
from kanecore.errors import NonFiniteError, SingularError
from kanecore.statuses import BY_NUMBER

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.library_groups import LibraryGroups

__all__ = ["HooksOfModel", "kernel_failure", "vanished_pivot"]

Array = npt.NDArray[np.float64]


class HooksOfModel(Hooks):
    """Hooks of a model for the extension: libraries find kernels, and constraints explain failures."""

    def __init__(self, dyn: Evaluator, libraries: LibraryGroups) -> None:
        self._dyn, self._libraries = dyn, libraries

    def find(self, kernel: str) -> None:
        self._libraries.find(kernel)

    def find_lanes(self, kernel: str) -> None:
        self._libraries.find_lanes(kernel)

    def count_near(self, t: float, x: Array, r: Array, p: Array) -> int:
        return count_near(ConstraintState(self._dyn, t, x, r, p))

    def failure(
        self,
        kernel: str,
        status: int,
        row: int,
        t: float,
        x: Array,
        r: Array | None,
        p: Array | None,
        rows: Array | None,
        out: Any,
    ) -> Exception:
        return kernel_failure(self._dyn, kernel, status, row, t, x, r, p, rows, out)


def kernel_failure(
    dyn: Evaluator,
    kernel: str,
    status: int,
    row: int,
    t: float,
    x: Array,
    r: Array | None,
    p: Array | None,
    rows: Array | None,
    out: Any,
) -> NonFiniteError | SingularError:
    """The error of a kernel; for the arguments see `Hooks.failure`."""
    where, outcome, of_model = _where(t, x, rows), BY_NUMBER[status], f"of {dyn.name!r}"
    if outcome.name == "NONFINITE":
        values = [
            dyn.kernels.values(kind) if given is None else np.array(given)
            for kind, given in (("input", r), ("parameter", p))
        ]
        return NonFiniteError(
            f"{kernel} {of_model} is not finite {where}",
            cause=partial(_undefined, dyn, kernel, t, x, *values),
            t=t,
            x=x,
            rows=rows,
            out=out,
        )
    about: dict[str, Any] = {"t": t, "x": x, "rows": rows, "out": out, "row": row}
    if outcome.name in ("JAMMED", "UNCONVERGED"):
        why = fault_of(dyn, t, x, r, p, outcome.name == "UNCONVERGED")
        about["row"] = dyn.n_u + int(dyn.facts.loads_of_reactions[0])
        return SingularError(f"{kernel}: {why} {where}", status=outcome.word, **about)
    if outcome.name == "SINGULAR" and kernel == "project_gradient":
        return SingularError(
            f"{kernel}: the projection to the constraints {of_model} has no gradient {where}: no motion led back, so "
            "that coordinates were changed directly, or the mass matrix is not positive definite on the way; start "
            "nearer to the constraints, from dyn.consistent(t, x)",
            **about,
        )
    if outcome.name == "SINGULAR":
        return SingularError(
            f"{kernel}: the mass matrix {of_model} is singular {where}: {vanished_pivot(dyn, row)}; give mass or "
            "inertia to the parts that this speed moves, or avoid the state, where the kinematical equations may be "
            "singular (gimbal "
            "lock)",
            **about,
        )
    name = dyn.names.row_name(row)
    if outcome.name == "LOST":
        return SingularError(
            f"{kernel}: {name!r} {of_model} is lost {where}: its coefficients are zero there, also if only after "
            "elimination of the other constraints, but not nearby: a dead point; dyn.check(x) counts independent rows",
            **about,
        )
    if outcome.name == "CONTRADICTORY":
        # floats are too coarse to find the rows
        opposed = () if dyn.single else ConstraintState(dyn, t, x, r, p).contradictory_rows(row - dyn.n_u)
        others = [other for other in opposed if other != name]
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


def _undefined(dyn: Evaluator, kernel: str, t: float, x: Array, r: Array, p: Array) -> str:
    """The part of a model without a finite value at a state, or what may be the reason."""
    if dyn.libraries.describe is not None:
        with contextlib.suppress(ImportError):  # a model that runs without SymPy
            from kanecore.derive.reports.undefined_parts import undefined_part

            names = (*dyn.names.x, *dyn.input_names, *dyn.parameter_names)
            numbers = dict(zip(names, [*x.tolist(), *r.tolist(), *p.tolist()], strict=True), t=t)
            if found := undefined_part(dyn.libraries.describe(), numbers, kernel.startswith("output")):
                return found
    return (
        "an overflow, or an expression that is not defined there (a division by zero, the root of a negative number, "
        "the pole of a tangent, a spline beyond its knots)"
    )


def vanished_pivot(dyn: Evaluator, row: int) -> str:
    """The speed of a vanished pivot, with the parts that it moves if these have no mass."""
    name = dyn.speed_names[row] if 0 <= row < dyn.n_u else row
    moving = dyn.facts.massless.get(str(name))
    nothing = f": nothing that moves with it, {moving}, has mass or inertia" if moving else ""
    return f"the pivot of speed {name!r} vanished{nothing}"


def _where(t: float, x: Array, rows: Array | None) -> str:
    where = f"at t = {t!r}, x = {x.tolist()!r}"
    if rows is None:
        return where
    if len(rows) == 1:
        return f"{where}, row {int(rows[0])}"
    return f"{where} and in {len(rows)} rows in all, the first {int(rows[0])}"
