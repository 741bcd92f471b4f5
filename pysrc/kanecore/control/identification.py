# SPDX-License-Identifier: BSD-3-Clause
"""Inertial parameters, friction and rotors from measured motion, by least squares.

With the parameters π0 of a model, e = M u̇ − f is the residual of its equations at measured x, u̇ and r.  The true
parameters satisfy Y (π − π0) + Y_j θ = −e, with the regressor Y of the bodies and Y_j of friction and rotors.  With
constraints both sides are projected on the allowed motions, where the unknown constraint forces vanish. Only
combinations of π and θ can be found, the base parameters (Khalil & Dombre, *Modeling, Identification and Control of
Robots*, 2002, chapters 9 and 12).  Among all π with these base parameters, the physical one nearest to a prior is taken
(`kanecore.control.physical_inertia`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.control.parameter_recovery import realised
from kanecore.control.physical_inertia import is_physical, least_change, nearest_physical, sizes, solid
from kanecore.control.recording_faults import robust_weights, warn_of_lag, warn_of_rows
from kanecore.control.regression_equations import Equations, Found
from kanecore.errors import warn
from kanecore.kernels import OF_BODY, OF_JOINT, JointColumns, chosen_columns, column_name
from kanecore.run.call_arguments import real_array
from kanecore.run.printed_results import PrintedResult

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["Identification", "identify"]

Array = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]

ROTOR = OF_JOINT.index("rotor")

_SHARE = 1e-2  # share of the body's moment of inertia, as first guess of a rotor that cannot be distinguished from it
_WIDTH = 79


@dataclass(frozen=True, eq=False, repr=False)
class Identification(PrintedResult):
    """Result of `CompiledModel.identify`; ``str()`` is a table of the base parameters.

    Attributes
    ----------
    model : str
    columns : tuple of str
        Names of all parameters: ten of each body as in ``dyn.inertial_parameters``, such as ``"link1.Ixx"``, then the
        requested ones of joints, such as ``"q1.viscous"``.
    independent : tuple of int
        Indices of the columns of the base parameters: the first columns that do not follow from earlier ones, as in
        ``Model.base_parameters``, unless these are badly conditioned.
    matrix : ndarray, (rank, len(columns))
        The base parameters are ``matrix @ [π, θ]``, for the model's lengths and other parameters.
    names : tuple of str
        Each base parameter as a combination in words.
    base : ndarray, (rank,)
        Values of the base parameters.
    standard_errors : ndarray, (rank,)
        Standard errors of these values, if the residual of the equations is independent noise with one variance for the
        equation of each speed.
    rank : int
        Number of identified base parameters; ``Model.base_parameters`` gives the number for motions that excite all of
        them.
    condition : float
        Condition number of the independent columns, each of length one: largest by smallest singular value.
    residual : ndarray, (n_u,)
        Root mean square residual of the equation of each speed, in units of a generalized force.
    n_states : int
        Number of states used.
    inertial_parameters : ndarray, (n_bodies, 10)
        π with these base parameters, physical and nearest to the prior; if ``physical`` is False, π of least change.
    physical : bool
        Whether each body has a positive mass and a positive definite pseudo-inertia, or a semidefinite one, as a thin
        ring with known parameters.
    joint_parameters : ndarray, (n_q, 3)
        b, c and J of each coordinate, in addition to the model's; 0 if they were not requested. A rotor that
        cannot be distinguished from the inertia of bodies gets a positive share of it, about a hundredth; friction that
        cannot be distinguished from other friction is 0.
    parameters : dict of str to float
        Values of the model's parameters that give these π, for ``dyn.parameters.update``.  If there are no such values,
        as in a model that has only some moments of inertia, the values fit the equations best, with the least change,
        and need not be physical.  Empty if π depends on no parameters.
    """

    model: str
    columns: tuple[str, ...]
    independent: tuple[int, ...]
    matrix: Array
    names: tuple[str, ...]
    base: Array
    standard_errors: Array
    rank: int
    condition: float
    residual: Array
    n_states: int
    inertial_parameters: Array
    physical: bool
    joint_parameters: Array
    parameters: dict[str, float]

    def __str__(self) -> str:
        left = ", ".join(f"{value:.3g}" for value in self.residual)
        of = f"{self.rank} base parameters of {len(self.columns)} from {self.n_states} states"
        lines = [
            f"{self.model}: {of}, condition {self.condition:.3g}",
            f"left of the equations, root mean square: {left}",
            "masses and inertias are physical" if self.physical else "no physical masses and inertias have these",
        ]
        for name, value, error in zip(self.names, self.base, self.standard_errors, strict=True):
            lines.append(f"{value: .6g} ± {error:.2g}  {name}")
        return "\n".join("\n".join(textwrap.wrap(line, _WIDTH, subsequent_indent="    ")) for line in lines)

    __repr__ = __str__


@method("Identification and audit", doubles=True)
def identify(
    dyn: Evaluator,
    x: npt.ArrayLike,
    udot: npt.ArrayLike,
    r: Any = None,
    *,
    t: npt.ArrayLike = 0.0,
    joints: JointColumns = (),
    prior: npt.ArrayLike | None = None,
    deviations: npt.ArrayLike | None = None,
    tolerance: float = 1e-5,
    loss: Literal["linear", "soft_l1"] = "linear",
) -> Identification:
    """Base parameters, friction and rotors from measured motion, with physical inertial parameters.

    Linear least squares in π and θ; the prior is the current model. Columns are scaled to length one, and the equation
    of each speed by the magnitude of its terms, so that results do not depend on units.

    Parameters
    ----------
    x : array_like, (N, n_x)
        Measured states, on the constraints if there are some.
    udot : array_like, (N, n_u)
        The derivatives of the speeds.
    r : array_like, (N, n_r), or mapping by name, optional
        Inputs, as for the kernels; missing inputs keep their current values.
    t : float or array_like, (N,)
        Times, needed if the equations depend on t.
    joints : names, or mapping of names to coordinates, optional
        "viscous", "dry" and "rotor": columns of `joint_regressor` that are identified as well, for all coordinates or
        for the listed ones. Default: none; the model has its friction and rotors, if any, already.
    prior : array_like, (n_bodies, 10), optional
        Reference π for the physical parameters; default: `inertial_parameters` of the model.  In the default a
        body without mass gets a hundredth of the mean mass. A flat or thin body, such as a plane body with one moment
        of inertia about the normal, gets a hundredth of its largest second moment in the thin directions; a point gets
        as much in proportion to the other bodies.  If all masses are zero, 1 kg and 1 m² are taken in any units: then
        give a prior.
    deviations : array_like, (n_u,), optional
        Standard deviations of the generalized forces, by which equations are divided; default: the root mean square of
        the terms of each equation.
    tolerance : float
        A column is independent if its remainder after projection on the others is more than this fraction.  Smaller
        remainders, for example from an axis that a file gives with five digits, cannot be measured.
    loss : {"linear", "soft_l1"}
        "soft_l1" minimizes Σ 2 √(1 + (ê/σ)²) in place of the sum of squares, as SciPy's ``least_squares``, so that
        outliers count little. σ is the spread of each equation's residual ê, by its median.

    Returns
    -------
    Identification

    Warns
    -----
    KanecoreWarning
        Rows are far outside the others, or hide base parameters; the efforts are late or early; no physical π was
        found.

    Raises
    ------
    ModelError
        The model has no `regressor`.
    ValueError, TypeError
        Another shape; numbers that are not finite or masked; fewer equations than base parameters.
    KeyError
        There is no such kind of column, coordinate or input.

    Notes
    -----
    The physical π minimizes Σ tr(P P0⁻¹) − log det(P P0⁻¹), with the pseudo-inertia P of each body and P0 of the prior
    (Lee, Wensing & Park, *IEEE Transactions on Robotics* 36, 2020).  If no physical π has these base parameters, as
    with noise, a warning says so.  Friction and rotors are not kept positive.

    Examples
    --------
    ``fit = dyn.identify(sol.x, udot, r, joints=("viscous",)); dyn.parameters.update(fit.parameters)``
    """
    if not (isinstance(tolerance, int | float | np.number) and 0.0 < tolerance < 1.0):
        raise ValueError(f"tolerance is {tolerance!r}; it must be a number between 0 and 1")
    if loss not in ("linear", "soft_l1"):
        raise ValueError(f"loss is {loss!r}; it must be 'linear' or 'soft_l1'")
    equations = Equations.of(
        dyn, x, udot, r, t, np.array(chosen_columns(joints, dyn.coordinate_names), dtype=np.intp), deviations
    )
    first = None if equations.r is None else equations.r[0]
    start = np.asarray(dyn.inertial_parameters(equations.times(0), equations.x[0], r=first))
    near = start if prior is None else _prior(prior, start.shape)
    columns = [f"{body}.{name}" for body in dyn.bodies for name in OF_BODY]
    columns += [column_name(k, dyn.coordinate_names) for k in equations.chosen]
    if loss == "soft_l1":
        equations = robust_weights(equations, start, tolerance)
    found = equations.least_squares(start, tolerance)
    warn_of_rows(equations, found, start, tolerance)
    warn_of_lag(equations, found.independent)
    before = np.concatenate([start.ravel(), np.zeros(len(equations.chosen))])
    base = found.matrix @ before + found.change
    inertial, theta, physical = _full(dyn, near, equations.chosen, found, base)
    joint = np.zeros(3 * dyn.n_q)
    joint[equations.chosen] = theta
    of_bodies = np.array(found.independent, dtype=np.intp) < start.size
    matrix, of_joints = np.split(found.matrix[of_bodies], [start.size], axis=1)
    values = base[of_bodies] - of_joints @ theta
    weights = found.weights[: len(values), : len(values)]  # columns of joints are last, and stay
    rests = replace(equations, weights=None).rests(np.concatenate([(inertial - start).ravel(), theta]))
    return Identification(
        model=dyn.name,
        columns=tuple(columns),
        independent=found.independent,
        matrix=found.matrix,
        names=tuple(_combination(columns, row, own) for row, own in zip(found.matrix, found.independent, strict=True)),
        base=base,
        standard_errors=found.errors,
        rank=len(base),
        condition=found.condition,
        residual=np.sqrt(np.mean(rests**2, axis=0)),
        n_states=len(equations.x),
        inertial_parameters=inertial,
        physical=physical,
        joint_parameters=joint.reshape(dyn.n_q, 3),
        parameters=realised(dyn, equations.some, equations.udot, inertial, matrix, values, weights),
    )


def _full(dyn: Evaluator, near: Array, chosen: Numbers, found: Found, base: Array) -> tuple[Array, Array, bool]:
    """π and θ with these base parameters, and whether π is physical.

    For θ that are no base parameters, rotors get a share of their bodies' inertia, and friction stays zero.
    """
    n = near.size
    alone = np.asarray(found.absent.reshape(-1, 10)[:, 1:].all(axis=1) & ~near[:, 1:].any(axis=1))
    independent = np.array(found.independent, dtype=np.intp)
    of_bodies = independent < n
    matrix, values = found.matrix[of_bodies], base[of_bodies]
    shared = [k for k in range(n, n + len(chosen)) if k not in independent and chosen[k - n] % 3 == ROTOR]
    shared = [k for k in shared if matrix[:, k].any()]
    size = np.abs(matrix[:, :n]) @ sizes(solid(near, alone)).ravel()
    usual = np.array(
        [_SHARE * np.min(size[matrix[:, k] != 0.0] / np.abs(matrix[matrix[:, k] != 0.0, k])) for k in shared]
    )
    theta = np.zeros(len(chosen))
    columns = np.array([*range(n), *shared], dtype=np.intp)
    full = nearest_physical(near, alone, usual, matrix[:, columns], values)
    physical = full is not None
    if full is not None:
        inertial, theta[np.array(shared, dtype=np.intp) - n] = full
    else:
        inertial = least_change(near, alone, matrix[:, :n], values)
        physical = is_physical(inertial)
    if not physical:
        warn(
            f"no physical masses and inertias of {dyn.name!r} have the identified base parameters: those of least "
            "change are returned; more states, or less noise in them, may help"
        )
    theta[independent[~of_bodies] - n] = base[~of_bodies] - found.matrix[~of_bodies, n:] @ theta
    return inertial, theta, physical


def _prior(prior: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
    return real_array("prior", prior, shape, meaning="ten of each body")


def _combination(columns: Sequence[str], row: Array, own: int) -> str:
    """A row of the matrix as text, with its independent parameter first."""
    text = columns[own]
    for j in map(int, np.flatnonzero(row)):
        if j != own:
            size = f"{abs(row[j]):.6g}"
            text += f" {'-' if row[j] < 0.0 else '+'} {'' if size == '1' else size + ' '}{columns[j]}"
    return text
