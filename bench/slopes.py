# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of u̇ and M⁻¹ of a robot: what is compared, and our own sides.

Coordinates change by dq = Y dθ, as q̇ = Y u: a free body's place along its axes, its quaternion about them.  So none is
counted that would change the length of the quaternion, and [∂u̇/∂θ, ∂u̇/∂u] is (n_u, 2 n_u) for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import sides
from sides import Arrays, Side
from tasks import Task

KERNELS = {
    "linearize": "linearize",
    "mass_matrix_inverse": "mass_matrix_inverse",
    "rhs_jvp": "rhs_tangent",
    "rhs_vjp": "rhs_gradient",
}
"""Methods, and their kernels in C."""

ROWS = 512  # states of a batch


@dataclass(frozen=True, eq=False)
class Work:
    """A method to be compared, of a robot whose coordinates and speeds are ours.

    The product of ``rhs_jvp`` is [∂u̇/∂θ, ∂u̇/∂u] v, that of ``rhs_vjp`` is vᵀ times it, with one ``vector`` v at all
    states; other methods have none.  Inputs are those of the task.
    """

    task: Task
    kernel: str

    @cached_property
    def vector(self) -> np.ndarray:
        return np.linspace(-1.0, 1.0, {"rhs_jvp": 2, "rhs_vjp": 1}.get(self.kernel, 0) * self.task.dyn.n_u)

    @cached_property
    def rows(self) -> np.ndarray:
        """The states of a batch, (512, n_x): those of the task over and over."""
        return np.tile(self.task.x, (ROWS // len(self.task.x), 1))

    @cached_property
    def rates(self) -> np.ndarray:
        """Y at the states of the task, (64, n_q, n_u)."""
        dyn, x = self.task.dyn, self.task.x.copy()
        columns = []
        for unit in np.eye(dyn.n_u):
            x[:, dyn.n_q :] = unit
            columns.append(dyn.qdot(0.0, x))
        return np.stack(columns, axis=-1)

    @cached_property
    def vectors(self) -> np.ndarray:
        """The vector in our coordinates at each state: [Y dθ, du], or weights that are zero for q̇; (64, n_x or 0)."""
        n_q, n_u = self.task.dyn.n_q, self.task.dyn.n_u
        if self.kernel == "rhs_jvp":
            along, of_u = np.split(self.vector, 2)
            return np.hstack([self.rates @ along, np.tile(of_u, (len(self.rates), 1))])
        weights = np.concatenate([np.zeros(n_q if self.vector.size else 0), self.vector])
        assert weights.size in (0, n_q + n_u)
        return np.tile(weights, (len(self.rates), 1))

    def common(self, ours: Sequence[np.ndarray]) -> np.ndarray:
        """Results of our kernel at the states of the task, in the shape that all sides give."""
        n_q, n_x, raw = self.task.dyn.n_q, self.task.dyn.n_x, np.asarray(ours)
        if self.kernel == "mass_matrix_inverse":
            return raw
        if self.kernel == "rhs_jvp":
            return raw[:, n_q:]
        by_x = raw.reshape(len(raw), -1, n_x)[:, -1:] if self.kernel == "rhs_vjp" else raw[:, n_q:, :n_x]
        return np.concatenate([by_x[..., :n_q] @ self.rates, by_x[..., n_q:]], axis=-1)


def in_python(work: Work) -> Side:
    """The call of a method with one state."""
    dyn, x = work.task.dyn, work.task.x
    call = getattr(dyn, work.kernel)
    states, statement = (list(x), "call(0.0, x)")
    if work.vector.size:
        states, statement = list(zip(x, work.vectors, strict=True)), "call(0.0, x[0], x[1])"
    found = [call(0.0, *(state if work.vector.size else [state])) for state in states]
    result = work.common([each[0] for each in found] if work.kernel == "linearize" else found)
    return sides.in_python("kanecore", statement, states, {"call": call}, result=result, **_facts(work))


def in_c(work: Work) -> Side:
    """Its kernel; that of a product takes the vector behind the state and behind the places of u̇ and of that of r."""
    dyn, x = work.task.dyn, work.task.x
    kernel, n_x, n_r, n_u = KERNELS[work.kernel], dyn.n_x, dyn.n_r, dyn.n_u
    none = np.zeros((len(x), n_u))
    if work.kernel == "rhs_jvp":
        x = np.hstack([x, none, work.vectors, np.zeros((len(x), n_r))])
    elif work.kernel == "rhs_vjp":
        x = np.hstack([x, none, work.vectors])
    shape = {"linearize": (n_x, n_x + n_r), "rhs_jvp": (n_x,), "rhs_vjp": (n_x + n_r,)}.get(work.kernel, (n_u, n_u))
    side = sides.in_c("kanecore", [dyn.address(kernel)], Arrays(x, work.task.r, dyn.prepared, shape, dyn.n_work))
    found = side.result[:, :n_x] if work.kernel == "rhs_vjp" else side.result
    return replace(side, result=work.common(found), **_facts(work))


def in_batch(work: Work) -> Side:
    """One call for all states of a batch."""
    call, rows = getattr(work.task.dyn, work.kernel), work.rows
    vectors = np.tile(work.vectors, (ROWS // len(work.vectors), 1))
    names = {"call": call, "vectors": vectors}
    found = call(0.0, rows, vectors) if work.vector.size else call(0.0, rows)
    found = found[0] if work.kernel == "linearize" else found
    result = np.concatenate([work.common(part) for part in np.split(found, ROWS // len(work.task.x))])
    statement = "call(0.0, x, vectors)" if work.vector.size else "call(0.0, x)"
    return sides.rowwise("kanecore", statement, rows, names, result=result, **_facts(work))


def _facts(work: Work) -> dict[str, int | str]:
    return {"operations": work.task.dyn.info["operations"].get(KERNELS[work.kernel], "")}
