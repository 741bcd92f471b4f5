# SPDX-License-Identifier: BSD-3-Clause
"""Linearization of the equations of motion, constrained or not, at any state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.errors import ModelError, SingularError, needs_doubles
from kanecore.rank import size_of
from kanecore.run.call_arguments import require_fits, written
from kanecore.tolerances import RANK

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["linearize"]

Array = npt.NDArray[np.float64]


@method("Control and derivatives")
def linearize(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    *,
    r: Any = None,
    p: Any = None,
    minimal: bool = False,
    out: tuple[Array, Array] | None = None,
) -> tuple[Array, Array]:
    """A = ∂ẋ/∂x and B = ∂ẋ/∂r of `rhs`, exact.

    With R = f + Gᵀλ − M u̇ and S = G u̇ + γ, the differentials dR and dS at constant u̇ and λ give

        M du̇ − Gᵀ dλ = dR,    G du̇ = −dS.

    If rows are redundant only on the constraints, as in Bricard's mechanism, the rank of G changes off the constraints,
    and u̇ jumps.  A and B are then derivatives along states on the constraints; differences through states off the
    constraints are different.

    Parameters
    ----------
    t, x, r, p
        As for the kernels; leading axes broadcast.
    minimal : bool
        Keep only the independent coordinates and speeds, and the states: the dependent ones follow from the linearized
        constraints, as in SymPy's ``Linearizer`` (Peterson, Gede & Hubbard, *Multibody System Dynamics* 33, 2015).
        Otherwise all of x may vary.  In both forms rates of prescribed motions are separate inputs.
    out : (ndarray, ndarray), optional
        Arrays of the model's number type for A and B, which are returned; both or neither.

    Returns
    -------
    A : ndarray, (..., n, n)
        n = n_x, or the number of independent coordinates, independent speeds and states, in this order.
    B : ndarray, (..., n, n_r)
        Without ``minimal`` A and B are views of one array, [A, B], row by row.

    Raises
    ------
    SingularError
        The equations of motion are singular at the state; or, with ``minimal``, the dependent coordinates or speeds do
        not follow from the others there.
    ModelError
        ``minimal`` with more or fewer dependent coordinates or speeds than the constraints determine.
    ValueError
        ``out`` is no pair with the shapes above, or its arrays share memory; errors of the kernels.
    """
    if out is not None and not (isinstance(out, (tuple, list)) and len(out) == 2):
        raise ValueError("out must be two arrays, (A, B)")
    if minimal and dyn.single and (dyn.n_constraints or dyn.n_configuration):
        raise needs_doubles(dyn, "linearize(minimal=True)")
    if out is not None and not minimal and dyn.kernels.linearize_into(t, x, r, p, out[0], out[1]):
        return out[0], out[1]
    slopes, n = dyn.kernels.linearize(t, x, r=r, p=p), dyn.n_x
    a, b = slopes[..., :n], slopes[..., n:]
    if out is None and not minimal:
        return a, b
    x = dyn.names.as_state(x)
    if minimal and (dyn.n_constraints or dyn.n_configuration):
        of_state, of_inputs = _dependence(dyn, t, x, dyn.kernels.constraint_slopes(t, x, r=r, p=p))
        independent = [*range(dyn.n_q - dyn.n_q_dependent), *range(dyn.n_q, dyn.n_q + dyn.n_u - dyn.n_u_dependent)]
        independent += range(dyn.n_q + dyn.n_u, dyn.n_x)
        a = a[..., independent, :]
        a, b = a @ of_state, b[..., independent, :] + a @ of_inputs
    if out is None:
        return a, b
    require_fits(out[0], a, "A of out")
    require_fits(out[1], b, "B of out")
    if np.may_share_memory(*out) and np.shares_memory(*out):
        raise ValueError("A and B of out share memory")
    return written(a, out[0]), written(b, out[1])


@dataclass(frozen=True)
class _Part:
    """The coordinates, or the speeds, in the linearized constraints.

    Attributes
    ----------
    kind : {"coordinates", "speeds"}
    argument : {"q_dependent", "u_dependent"}
        The argument of the description with the dependent names.
    rows : slice
        Rows of the constraints on these coordinates or speeds.
    columns, dependent : slice
        Places in a state of all of them, and of the dependent ones.
    """

    kind: str
    argument: str
    rows: slice
    columns: slice
    dependent: slice

    @property
    def n_dependent(self) -> int:
        return int(self.dependent.stop - self.dependent.start)


def _parts(dyn: Evaluator) -> tuple[_Part, _Part]:
    n_q, end, m = dyn.n_q, dyn.n_q + dyn.n_u, dyn.n_configuration
    return (
        _Part("coordinates", "q_dependent", slice(0, m), slice(0, n_q), slice(n_q - dyn.n_q_dependent, n_q)),
        _Part("speeds", "u_dependent", slice(m, None), slice(n_q, end), slice(end - dyn.n_u_dependent, end)),
    )


def _dependence(dyn: Evaluator, t: npt.ArrayLike, x: Any, slopes: Array) -> tuple[Array, Array]:
    """The linearized constraints δx = T ξ + T_r δr, with ξ the independent coordinates and speeds, then the states."""
    n_q, n_x = dyn.n_q, dyn.n_x
    q_free, u_free = n_q - dyn.n_q_dependent, dyn.n_u - dyn.n_u_dependent
    n_free = q_free + u_free + dyn.n_z
    lead = slopes.shape[:-2]
    # columns: a unit of each ξ, then of each r
    whole = np.zeros((*lead, n_x, n_free + dyn.n_r))
    whole[..., range(q_free), range(q_free)] = 1.0
    whole[..., range(n_q, n_q + u_free), range(q_free, q_free + u_free)] = 1.0
    whole[..., range(n_x - dyn.n_z, n_x), range(n_free - dyn.n_z, n_free)] = 1.0
    inputs = np.zeros((dyn.n_r, n_free + dyn.n_r))
    inputs[:, n_free:] = np.eye(dyn.n_r)
    finite = np.isfinite(slopes).all(axis=(-2, -1))  # other singular values do not exist
    whole[~finite] = np.nan
    numbers = np.flatnonzero(finite)
    time = np.broadcast_to(np.asarray(t, dtype=np.float64), lead)[finite]
    states = np.broadcast_to(np.asarray(x, dtype=np.float64), (*lead, n_x))[finite]
    slopes, state = slopes[finite], whole[finite]
    for part in _parts(dyn):
        rows = slopes[..., part.rows, :]
        rows = rows / size_of(rows[..., part.columns])[..., np.newaxis]
        _require_as_many(dyn, part, _rank(rows[..., part.columns]))
        _require_dependence(dyn, part, _rank(rows[..., part.dependent]), time, states, numbers if lead else None)
        change = rows[..., :n_x] @ state + rows[..., n_x:] @ inputs
        state[..., part.dependent, :] = -np.linalg.pinv(rows[..., part.dependent], rcond=RANK) @ change
    whole[finite] = state
    return whole[..., :n_free], whole[..., n_free:]


def _rank(rows: Array) -> Array:
    """The ranks of matrices with rows of equal size."""
    return np.asarray(np.sum(np.linalg.svd(rows, compute_uv=False) > RANK, axis=-1))


def _require_as_many(dyn: Evaluator, part: _Part, rank: Array) -> None:
    """Raise ModelError unless the constraints determine as many coordinates or speeds as are declared dependent."""
    wrong = rank != part.n_dependent
    if wrong.any():
        raise ModelError(
            f"minimal=True: the constraints determine {rank[_first(wrong)]} {part.kind} at this state of {dyn.name!r}, "
            f"and {part.n_dependent} are named in {part.argument} (constraints on "
            "accelerations determine none): name as many there as are determined"
        )


def _require_dependence(
    dyn: Evaluator, part: _Part, rank: Array, t: Array, x: Array, numbers: npt.NDArray[np.intp] | None
) -> None:
    """Raise SingularError unless the dependent coordinates or speeds follow from others; ``numbers`` index a batch."""
    lost = rank < part.n_dependent
    if lost.any():
        where = _first(lost)
        names = dyn.names.x[part.dependent]
        raise SingularError(
            f"minimal=True: the dependent {part.kind} {', '.join(names)} of {dyn.name!r} do not follow from the "
            f"others at t = {float(t[where])!r}, x = {x[where].tolist()!r} (a dead point): describe it with "
            f"other dependent {part.kind}",
            t=float(t[where]),
            x=x[where],
            rows=None if numbers is None else numbers[lost],
        )


def _first(wrong: npt.NDArray[np.bool_]) -> tuple[np.intp, ...]:
    """Index of the first wrong entry of a batch."""
    return np.unravel_index(int(np.argmax(wrong)), wrong.shape)
