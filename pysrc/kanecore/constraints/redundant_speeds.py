# SPDX-License-Identifier: BSD-3-Clause
"""Numerical matrices of redundant speeds: A, Ψ, Υ of any constrained model, and efforts projected by them.

With q̇ = Y p + z and the allowed motions p = Z p#, q̇# = Y# Z p#: Ψ = (Y# Z)⁻¹ and Υ = Z° Ψ.  This eliminates q̇ from
[p; φ̇] = [P(q, q̇); 0] for any mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.constraints.allowed_motions import dependence
from kanecore.constraints.constraint_values import Constraints
from kanecore.errors import ModelError, SingularError
from kanecore.speed_matrices import ProjectedEfforts, SpeedMatrices
from kanecore.tolerances import RANK

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["projected_efforts", "speed_matrices"]

Array = npt.NDArray[np.float64]


@method("Constraints", doubles=True)
def speed_matrices(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    *,
    coordinates: Sequence[Any] | None = None,
    independent: Sequence[Any] | None = None,
    r: Any = None,
    p: Any = None,
) -> SpeedMatrices:
    """A, Ψ and Υ of the speeds: p# = Ψ q̇#, p° = Υ q̇#, Λ = A p = 0.

    Parameters
    ----------
    t, x, r, p
        As for the kernels; x satisfies the constraints.
    coordinates, independent : sequences of names or symbols, optional
        q#, and p# (the quasi-velocities π that are chosen as independent).  Default: the independent coordinates and
        speeds of the model's description.

    Returns
    -------
    SpeedMatrices
        Arrays; without constraints Υ has no rows.

    Raises
    ------
    ModelError
        The number of the model's dependent speeds differs from the number of independent constraints; or there are
        constraints on accelerations; or ``coordinates`` or ``independent`` have a wrong number of names.
    KeyError
        The model has no such name.
    SingularError
        At this state the speeds do not follow from q̇#, or not from p#; choose others.
    """
    return _Motions(Constraints(dyn, t, x, r, p), coordinates, independent).matrices()


@method("Generalized forces", doubles=True)
def projected_efforts(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    *,
    efforts: Sequence[Any] | None = None,
    coordinates: Sequence[Any] | None = None,
    independent: Sequence[Any] | None = None,
    r: Any = None,
    p: Any = None,
) -> ProjectedEfforts:
    """The efforts of actuators along q and p, and their projections on q̇# and p#.

    f_p = F(r) − F(r without efforts), F_p = f_p# + (Υ Ψ⁻¹)ᵀ f_p°, F_q = Ψᵀ F_p.

    Parameters
    ----------
    t, x, coordinates, independent, r, p
        As for `speed_matrices`.
    efforts : sequence of names or symbols, optional
        The inputs that are efforts.  Default: all inputs except prescribed motions and their rates.

    Returns
    -------
    ProjectedEfforts

    Raises
    ------
    ModelError, KeyError, SingularError
        As for `speed_matrices`.
    """
    values = dyn.kernels.values("input") if r is None else np.asarray(dyn.names.resolved("input", r))
    rates = dyn.input_rates
    driving = {i for i, rate in enumerate(rates) if rate >= 0} | {rate for rate in rates if rate >= 0}
    places = [i for i in range(dyn.n_r) if i not in driving]
    if efforts is not None:
        places = _places(dyn, "input", efforts)
    without = np.array(values, dtype=np.float64)
    without[..., places] = 0.0
    f_p = np.asarray(dyn.generalized_active_forces(t, x, r=values, p=p)) - dyn.generalized_active_forces(
        t, x, r=without, p=p
    )
    motions = _Motions(Constraints(dyn, t, x, values, p), coordinates, independent)
    force_p = np.einsum("...ij,...i->...j", motions.allowed, f_p)
    force_q = np.einsum("...ij,...i->...j", motions.psi, force_p)
    f_q = np.zeros((*force_q.shape[:-1], dyn.n_q))
    f_q[..., motions.coordinates] = force_q
    return ProjectedEfforts(f_q, f_p, force_q, force_p)


class _Motions:
    """The allowed motions at a state, in terms of chosen independent speeds.

    Attributes
    ----------
    coordinates, independent : list of int
        Places of q# among the coordinates and of p# among the speeds.
    allowed : (..., n_u, dof)
        p = allowed @ p#.
    psi : (..., dof, number of q#)
    """

    def __init__(self, at: Constraints, coordinates: Any, independent: Any) -> None:
        dyn = self._dyn = at.dyn
        if dyn.n_velocity < dyn.n_constraints:
            raise ModelError(f"{dyn.name!r} has constraints on accelerations, which do not restrict velocities")
        self._at, dof = at, dyn.n_u - dyn.n_u_dependent
        self.coordinates, self.independent = list(range(dyn.n_q - dyn.n_q_dependent)), list(range(dof))
        if coordinates is not None:
            self.coordinates = _places(dyn, "coordinate", coordinates)
        if independent is not None:
            self.independent = _places(dyn, "speed", independent)
        if len(self.independent) != dof or len(self.coordinates) < dof:
            raise ModelError(
                f"{dyn.name!r} has {dof} degrees of freedom, and there are {len(self.independent)} independent "
                f"speeds and {len(self.coordinates)} independent coordinates: choose as many of each, by "
                "independent= and coordinates="
            )
        self.allowed = self._allowed(dof)
        units = at.coordinate_units[..., self.coordinates]
        rates = at.rates[0][..., self.coordinates, :] @ self.allowed
        self.psi = self._inverse(rates, np.where(units > 0.0, units, 1.0), self.independent, "coordinates")

    def _allowed(self, dof: int) -> Array:
        """Basis [1; A_n] of the allowed motions, with columns combined so that the rows of p# become unit vectors."""
        dependent = dependence(self._at) if self._dyn.n_constraints else np.zeros((0, dof))
        one = np.broadcast_to(np.eye(dof), (*dependent.shape[:-2], dof, dof))
        motions = np.concatenate([one, dependent], axis=-2)
        first = list(range(dof))
        if self.independent == first:
            return motions
        units = self._at.speed_units[..., self.independent]
        return np.asarray(motions @ self._inverse(motions[..., self.independent, :], units, first, "speeds"))

    def _inverse(self, matrix: Array, rows: Array, of_columns: list[int], variables: str) -> Array:
        """Left inverse, if no column is a combination of the others.

        ``rows`` are the units of the rows, ``of_columns`` the indices of the speeds of the columns.
        """
        rows, columns = rows[..., :, np.newaxis], self._at.speed_units[..., np.newaxis, of_columns]
        scaled = matrix / rows * columns
        s = np.linalg.svd(scaled, compute_uv=False)
        lost = ~(s[..., -1:] > RANK * s[..., :1]).all(axis=-1)
        if lost.any():
            chosen = self.coordinates if variables == "coordinates" else self.independent
            names = self._dyn.coordinate_names if variables == "coordinates" else self._dyn.speed_names
            raise SingularError(
                f"the motion of {self._dyn.name!r} does not follow from {', '.join(names[i] for i in chosen)} at "
                f"t = {self._at.t!r}, x = {self._at.x.tolist()!r}: choose other independent {variables}",
                t=self._at.t,
                x=self._at.x,
                rows=np.flatnonzero(lost) if lost.ndim else None,
            )
        return np.asarray(columns.swapaxes(-1, -2) * np.linalg.pinv(scaled) / rows.swapaxes(-1, -2))

    def matrices(self) -> SpeedMatrices:
        dyn, others = self._dyn, [i for i in range(self._dyn.n_u) if i not in self.independent]
        slopes = self._at.velocity_slopes if dyn.n_constraints else np.zeros((0, dyn.n_u))
        return SpeedMatrices(
            A=slopes,
            Psi=self.psi,
            Upsilon=self.allowed[..., others, :] @ self.psi,
            coordinates=tuple(dyn.coordinate_names[i] for i in self.coordinates),
            independent=tuple(dyn.speed_names[i] for i in self.independent),
            dependent=tuple(dyn.speed_names[i] for i in others),
        )


def _places(dyn: Evaluator, kind: Literal["coordinate", "speed", "input"], chosen: Sequence[Any]) -> list[int]:
    """Indices of some names or symbols."""
    places = [dyn.names.index(kind, name) for name in chosen]
    if len(set(places)) < len(places):
        raise ModelError(f"a {kind} is named twice: {', '.join(map(str, chosen))}")
    return places
