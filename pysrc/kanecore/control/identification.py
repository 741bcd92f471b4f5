# SPDX-License-Identifier: BSD-3-Clause
"""Inertial parameters, friction and rotors from measured motion, by least squares.

With the parameters π0 of a model, e = M u̇ − f is the residual of its equations at measured x, u̇ and r.  The true
parameters satisfy Y (π − π0) + Y_j θ = −e, Y the regressor of the bodies and Y_j that of friction and rotors.  With
constraints both sides are projected on the allowed motions, in which the unknown forces of constraint have no part.
Only combinations of π and θ can be found, the base parameters (Khalil & Dombre, *Modeling, Identification and Control
of Robots*, 2002, chapters 9 and 12).  Among all π with these base parameters, the physical one nearest to a prior is
taken (`kanecore.control.physical_inertia`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.constraints.constraint_values import Constraints
from kanecore.control.inverse_dynamics import all_values
from kanecore.control.parameter_recovery import realised
from kanecore.control.physical_inertia import is_physical, least_change, nearest_physical, sizes, solid
from kanecore.errors import unknown_name, warn
from kanecore.kernels import OF_BODY
from kanecore.rank import equilibrated, independent_columns, speed_units
from kanecore.run.call_arguments import real_array
from kanecore.tolerances import EPSILON, RANK

if TYPE_CHECKING:
    from kanecore.binding.kernel_methods import Kernels

__all__ = ["Identification", "identify"]

Array = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]

OF_JOINT = ("viscous", "dry", "rotor")
ROTOR = OF_JOINT.index("rotor")

_AT_ONCE = 1024  # states with rows in memory at the same time
_NOTHING = 1e-12
"""A column that is smaller than this is rounding, and taken for zero.

It is compared with three things: for bodies, with the largest column of the same unit; for joints, with itself before
the equations are projected to the allowed motions; and, times what is usual for its parameter, with the terms of the
equations.
"""
_STILL = 1e-6  # of the largest terms, in the metric of the masses: floor for the terms of a speed at rest
_CLEAN = 1e2  # times ε and the condition: coefficients that are smaller, by the largest of a column, are rounding
_SHARE = 1e-2  # of the moment of inertia of its body: a rotor that cannot be told from it, before more is known
_WIDTH = 79


@dataclass(frozen=True, eq=False)
class Identification:
    """Result of `CompiledModel.identify`; ``str()`` is a table of the base parameters.

    Attributes
    ----------
    model : str
    columns : tuple of str
        Names of all parameters: ten of each body as in ``dyn.inertial_parameters``, such as ``"link1.Ixx"``, then the
        requested ones of joints, such as ``"q1.viscous"``.
    independent : tuple of int
        Numbers of the columns that stand for the base parameters: the first ones that do not follow from those before
        them, as in ``Model.base_parameters``, unless these are badly conditioned.
    matrix : ndarray, (rank, len(columns))
        The base parameters are ``matrix @ [π, θ]``, with lengths and other parameters as they are in the model.
    names : tuple of str
        Each base parameter as such a combination.
    base : ndarray, (rank,)
        Their values.
    standard_errors : ndarray, (rank,)
        Standard errors of these values, if the residual of the equations is independent noise.
    rank : int
        Number of identified base parameters; ``Model.base_parameters`` gives the number for motions that excite all of
        them.
    condition : float
        Condition number of the independent columns, each of length one: largest by smallest singular value.
    residual : ndarray, (n_u,)
        Residual of the equation of each speed, root mean square, in units of a generalized force.
    n_states : int
        States that were used.
    inertial_parameters : ndarray, (n_bodies, 10)
        π with these base parameters, physical and nearest to the prior; where ``physical`` is False, that of least
        change.
    physical : bool
        Whether each body has a mass and a pseudo-inertia that are positive (definite), or zero in some direction, as of
        a thin ring of which all is known.
    joint_parameters : ndarray, (n_q, 3)
        b, c and J of each coordinate, beyond those that the model has; 0 if they were not requested. A rotor that
        cannot be distinguished from the inertia of bodies gets a positive share of it, about a hundredth; friction that
        cannot be distinguished from other friction is 0.
    parameters : dict of str to float
        Values of the model's parameters that give these π, for ``dyn.parameters.update``. If no values do, as in a
        model whose bodies have only some moments of inertia, values that fit the equations best, with the least change;
        they need not be physical. Empty if π depends on no parameters.
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


def identify(
    dyn: Kernels,
    x: npt.ArrayLike,
    udot: npt.ArrayLike,
    r: Any = None,
    *,
    t: npt.ArrayLike = 0.0,
    joints: str | Sequence[str] | Mapping[str, Sequence[Any]] = (),
    prior: npt.ArrayLike | None = None,
    deviations: npt.ArrayLike | None = None,
    tolerance: float = 1e-5,
) -> Identification:
    """Base parameters, friction and rotors from measured motion, and physical inertial parameters that have them.

    Linear least squares in π and θ; the prior is the current model. Columns are scaled to length one, and the equation
    of each speed by the magnitude of its terms, so that nothing depends on units.

    Parameters
    ----------
    x : array_like, (N, n_x)
        Measured states, on the constraints if there are some.
    udot : array_like, (N, n_u)
        The derivatives of the speeds.
    r : array_like, (N, n_r), or mapping by name, optional
        Inputs, as for the kernels; those that are not given keep their current values.
    t : float or array_like, (N,)
        Times; a model whose equations hold t needs them.
    joints : names, or mapping of names to coordinates, optional
        "viscous", "dry" and "rotor": columns of `joint_regressor` that are identified as well, for all coordinates or
        for the listed ones. Default: none; the model has its friction and rotors, if any, already.
    prior : array_like, (n_bodies, 10), optional
        π to which the physical parameters shall be near; default: `inertial_parameters` of the model. In the default a
        body without mass gets a hundredth of the mean mass. A flat or thin body, such as a plane body with one moment
        of inertia about the normal, gets a hundredth of its largest second moment in the thin directions; a point gets
        as much in proportion to the other bodies. If all masses are zero, 1 kg and 1 m² are taken, whatever the units
        are: then give a prior.
    deviations : array_like, (n_u,), optional
        Standard deviations of the generalized forces, by which equations are divided; default: the root mean square of
        the terms of each.
    tolerance : float
        A column is independent if the others leave more than this fraction of it. Smaller remainders, for example from
        an axis that a file gives with five digits, cannot be measured.

    Returns
    -------
    Identification

    Raises
    ------
    ModelError
        The model has no `regressor`.
    ValueError, TypeError
        Another shape, numbers that are not finite, fewer equations than base parameters.
    KeyError
        There is no such kind of column, coordinate or input.

    Notes
    -----
    The physical π minimises Σ tr(P P0⁻¹) − log det(P P0⁻¹), P the pseudo-inertia of each body and P0 that of the prior
    (Lee, Wensing & Park, *IEEE Transactions on Robotics* 36, 2020). Where no physical π has these base parameters, as
    from noise, a warning says so. Friction and rotors are not kept positive.

    Examples
    --------
    ``fit = dyn.identify(sol.x, udot, r, joints=("viscous",)); dyn.parameters.update(fit.parameters)``
    """
    if not (isinstance(tolerance, int | float | np.number) and 0.0 < tolerance < 1.0):
        raise ValueError(f"tolerance is {tolerance!r}; it must be a number between 0 and 1")
    equations = _Equations.of(dyn, x, udot, r, t, _chosen(dyn, joints), deviations)
    first = None if equations.r is None else equations.r[0]
    start = np.asarray(dyn.inertial_parameters(equations.times(0), equations.x[0], r=first))
    near = start if prior is None else _prior(prior, start.shape)
    columns = [f"{body}.{name}" for body in dyn.bodies for name in OF_BODY]
    columns += [f"{dyn.coordinate_names[k // 3]}.{OF_JOINT[k % 3]}" for k in equations.chosen]
    found = equations.least_squares(start, tolerance)
    before = np.concatenate([start.ravel(), np.zeros(len(equations.chosen))])
    base = found.matrix @ before + found.change
    inertial, theta, physical = _full(dyn, near, equations.chosen, found, base)
    joint = np.zeros(3 * dyn.n_q)
    joint[equations.chosen] = theta
    of_bodies = np.array(found.independent, dtype=np.intp) < start.size
    matrix, of_joints = np.split(found.matrix[of_bodies], [start.size], axis=1)
    values = base[of_bodies] - of_joints @ theta
    weights = found.weights[: len(values), : len(values)]  # those of joints come last, and stay
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
        residual=equations.residual(np.concatenate([(inertial - start).ravel(), theta])),
        n_states=len(equations.x),
        inertial_parameters=inertial,
        physical=physical,
        joint_parameters=joint.reshape(dyn.n_q, 3),
        parameters=realised(dyn, equations.some, equations.udot, inertial, matrix, values, weights),
    )


def _full(dyn: Kernels, near: Array, chosen: Numbers, found: _Found, base: Array) -> tuple[Array, Array, bool]:
    """π and θ with these base parameters, and whether π is physical.

    Among θ that are no base parameters, rotors may take a share of their bodies' inertia; friction stays zero.
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
            f"no physical masses and inertias of {dyn.name!r} have the base parameters that were identified: those "
            "of least change are returned; more states, or less noise in them, may help"
        )
    theta[independent[~of_bodies] - n] = base[~of_bodies] - found.matrix[~of_bodies, n:] @ theta
    return inertial, theta, physical


def _chosen(dyn: Kernels, joints: str | Sequence[str] | Mapping[str, Sequence[Any]]) -> Numbers:
    """Columns of `joint_regressor` that are wanted."""
    kinds: Mapping[str, Sequence[Any]]
    if isinstance(joints, Mapping):
        kinds = {kind: [of] if isinstance(of, str) else list(of) for kind, of in joints.items()}
    else:
        kinds = dict.fromkeys([joints] if isinstance(joints, str) else joints, dyn.coordinate_names)
    places = []
    for kind, coordinates in kinds.items():
        if kind not in OF_JOINT:
            raise unknown_name("column of joints is called", kind, OF_JOINT)
        for coordinate in coordinates:
            name = str(getattr(coordinate, "name", coordinate))
            if name not in dyn.coordinate_names:
                raise unknown_name("coordinate", name, dyn.coordinate_names)
            places.append(3 * dyn.coordinate_names.index(name) + OF_JOINT.index(kind))
    return np.array(sorted(set(places)), dtype=np.intp)


def _prior(given: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
    return real_array("prior", given, shape, meaning="ten of each body")


@dataclass(frozen=True)
class _Found:
    """Base parameters, as changes from those of the model.

    Attributes
    ----------
    absent : ndarray of bool
        Columns of bodies that are zero at all states.
    weights : ndarray
        The residual at other base parameters is larger by the square of ``weights @ difference``.
    """

    independent: tuple[int, ...]
    matrix: Array
    change: Array
    errors: Array
    condition: float
    absent: npt.NDArray[np.bool_]
    weights: Array


@dataclass(frozen=True)
class _Equations:
    """Y δπ + Y_j θ = −e at all states."""

    dyn: Kernels
    x: Array
    udot: Array
    r: Array | None
    t: Array
    chosen: Numbers
    deviations: Array | None

    @classmethod
    def of(cls, dyn: Kernels, x: Any, udot: Any, r: Any, t: Any, chosen: Numbers, deviations: Any) -> _Equations:
        every = "a row for each state"
        states = real_array("x", x, (None, dyn.n_x), meaning=every, finite=False)
        rates = real_array("udot", udot, (None, dyn.n_u), meaning=every, finite=False)
        if not len(states):
            raise ValueError("x has no rows: give the states at which the generalized forces were measured")
        n = len(states)
        times = real_array("t", t, finite=False)
        inputs = None if r is None else all_values(dyn, "input", r)
        parts = {"udot": rates, "t": times, **({} if inputs is None else {"r": inputs})}
        for name, array in parts.items():
            if name == "udot" or array.ndim == (1 if name == "t" else 2):
                if len(array) != n:
                    raise ValueError(f"x has {n} rows and {name} has {len(array)}: give one for each state")
            elif array.ndim > (0 if name == "t" else 1):
                raise ValueError(f"{name} has shape {array.shape}, and x has shape {states.shape}")
        for name, array in {"x": states, **parts}.items():
            finite = np.isfinite(array)
            if not finite.all():
                row = f" in row {int(np.argwhere(~finite)[0][0])}" if array.ndim and len(array) == n else ""
                raise ValueError(f"{name} holds a number that is not finite{row}")
        if inputs is not None:
            inputs = np.broadcast_to(inputs, (n, dyn.n_r))
        given = None
        if deviations is not None:
            given = real_array("deviations", deviations, (dyn.n_u,), meaning="one for each speed")
            if not (given > 0.0).all():
                raise ValueError(f"deviations is {given.tolist()}; they must be positive")
        return cls(dyn, states, rates, inputs, times, chosen, given)

    def times(self, k: Any) -> Any:
        """Times of one state, or of several."""
        return self.t[k] if self.t.ndim else float(self.t)

    @property
    def some(self) -> Constraints:
        return Constraints(self.dyn, self.times(slice(None)), self.x, self.r)

    def _places(self) -> Iterator[slice]:
        """Some states at a time."""
        return (slice(first, first + _AT_ONCE) for first in range(0, len(self.x), _AT_ONCE))

    def _parts(self) -> Iterator[tuple[Array, Array, Constraints]]:
        """[Y, Y_j] and e, some states at a time."""
        for k in self._places():
            at = self.times(k), self.x[k], self.udot[k]
            r = None if self.r is None else self.r[k]
            columns = np.asarray(self.dyn.regressor(*at, r=r))
            if len(self.chosen):
                more = np.asarray(self.dyn.joint_regressor(*at, r=r))[..., self.chosen]
                columns = np.concatenate([columns, more], axis=-1)
            missing = np.asarray(self.dyn.inverse_dynamics(*at, r=r))
            finite = np.isfinite(columns).all(axis=(-2, -1)) & np.isfinite(missing).all(axis=-1)
            if not finite.all():
                row = k.start + int(np.argmin(finite))
                raise ValueError(f"the equations are not finite at the state in row {row}")
            yield columns, missing, Constraints(self.dyn, at[0], at[1], r)

    @cached_property
    def _terms(self) -> Array:
        """Magnitude of the terms of each speed's equation, |M| |u̇| + |f|, root mean square."""
        total, mass = np.zeros(self.dyn.n_u), np.zeros((self.dyn.n_u, self.dyn.n_u))
        for k in self._places():
            at = self.times(k), self.x[k]
            r = None if self.r is None else self.r[k]
            matrix = np.abs(self.dyn.mass_matrix(*at, r=r))
            terms = np.einsum("kij,kj->ki", matrix, np.abs(self.udot[k])) + np.abs(self.dyn.forcing(*at, r=r))
            mass += np.sum(matrix, axis=0)
            with np.errstate(over="ignore"):
                total += np.sum(terms**2, axis=0)
        if not np.isfinite(total).all():
            raise ValueError("x and udot are so large that squares of the generalized forces are not finite")
        terms = np.sqrt(total / len(self.x))
        units = speed_units(mass / len(self.x), np.zeros((0, self.dyn.n_u)))
        terms = np.maximum(terms, _STILL * np.max(terms * units, initial=0.0) / units)
        return np.where(terms > 0.0, terms, 1.0)

    @property
    def _sizes(self) -> Array:
        """Divisors of the equations of the speeds."""
        return self._terms if self.deviations is None else self.deviations

    @staticmethod
    def _allowed(at: Constraints, sizes: Array) -> Array | None:
        """Orthonormal columns: motions that the constraints allow, of speeds times sizes; None if all are."""
        if not at.dyn.n_constraints:
            return None
        _, s, of_columns = np.linalg.svd(equilibrated(at.rows, 1.0 / sizes))
        rank = np.sum(s > RANK * np.max(s, axis=-1, keepdims=True, initial=0.0), axis=-1)
        lost = np.arange(len(sizes)) < rank[:, np.newaxis]
        return np.asarray(np.swapaxes(np.where(lost[..., np.newaxis], 0.0, of_columns), -1, -2))

    def _triangle(self) -> tuple[Array, Array, Array, int]:
        """R of the QR factorization of all rows and −e, and the number of rows that count.

        Between these two: the norms of columns before projection, and their root mean squares where each row is divided
        by its terms alone.
        """
        sizes, shares = self._sizes, np.zeros(self.dyn.n_bodies * 10 + len(self.chosen))
        n = self.dyn.n_bodies * 10 + len(self.chosen)
        triangle, norms, count = np.zeros((0, n + 1)), np.zeros(n), 0
        for columns, missing, at in self._parts():
            rows = np.concatenate([columns, -missing[..., np.newaxis]], axis=-1) / sizes[:, np.newaxis]
            norms += np.sum(rows[..., :-1] ** 2, axis=(0, 1))
            shares += np.sum((columns / self._terms[:, np.newaxis]) ** 2, axis=(0, 1))
            allowed = self._allowed(at, sizes)
            if allowed is None:
                count += rows.shape[0] * rows.shape[1]
            else:
                count += int(np.sum(allowed.any(axis=-2)))
                rows = np.swapaxes(allowed, -1, -2) @ rows
            triangle = np.asarray(np.linalg.qr(np.concatenate([triangle, rows.reshape(-1, n + 1)]), mode="r"))
        triangle = np.vstack([triangle, np.zeros((max(0, n + 1 - len(triangle)), n + 1))])
        return triangle, np.sqrt(norms), np.sqrt(shares / len(self.x)), count

    def least_squares(self, start: Array, tolerance: float) -> _Found:
        """Base parameters; ValueError if the equations are no more than these."""
        triangle, before, shares, count = self._triangle()
        size = np.linalg.norm(triangle[:, :-1], axis=0)
        limit = before.copy()
        of_bodies = limit[: start.size].reshape(-1, 10)
        for kind in (slice(0, 1), slice(1, 4), slice(4, 10)):
            of_bodies[:, kind] = np.max(of_bodies[:, kind], initial=0.0)
        there = (size > _NOTHING * limit) & (size > 0.0)
        there[: start.size] &= shares[: start.size] * sizes(solid(start)).ravel() > _NOTHING
        scaled = np.where(there, triangle[:, :-1] / np.where(there, size, 1.0), 0.0)
        independent = independent_columns(scaled, tolerance, start.size)
        rank = len(independent)
        if count <= rank:
            raise ValueError(
                f"{len(self.x)} states give {count} equations, and {rank} base parameters or more follow from them: "
                "give more states, of a motion in which all joints move"
            )
        chosen = scaled[:, independent]
        q, upper = np.linalg.qr(chosen)
        condition = float(np.linalg.cond(chosen)) if rank else 1.0
        inverse = np.linalg.inv(upper)
        weights = inverse @ (q.T @ scaled)
        largest = np.max(np.abs(weights), axis=0, initial=1.0, keepdims=True)
        weights[np.abs(weights) <= _CLEAN * EPSILON * condition * largest] = 0.0
        matrix = weights * size / size[independent][:, np.newaxis]
        matrix[:, independent] = np.eye(rank)
        right = triangle[:, -1]
        change = inverse @ (q.T @ right)
        variance = float(np.sum((right - chosen @ change) ** 2)) / (count - rank)
        errors = np.sqrt(variance) * np.linalg.norm(inverse, axis=1)
        return _Found(
            independent=tuple(map(int, independent)),
            matrix=matrix,
            change=change / size[independent],
            errors=errors / size[independent],
            condition=condition,
            absent=before[: start.size] == 0.0,
            weights=upper * size[independent],
        )

    def residual(self, change: Array) -> Array:
        """Residual of each speed's equation after a change of [π, θ], in the motions that constraints allow."""
        total = np.zeros(self.dyn.n_u)
        for columns, missing, at in self._parts():
            rest = missing + columns @ change
            if (allowed := self._allowed(at, self._sizes)) is not None:
                rest = np.einsum("kij,klj,kl->ki", allowed, allowed, rest / self._sizes) * self._sizes
            total += np.sum(rest**2, axis=0)
        return np.asarray(np.sqrt(total / len(self.x)))


def _combination(columns: Sequence[str], row: Array, own: int) -> str:
    """A row of the matrix as text, its own parameter first."""
    text = columns[own]
    for j in map(int, np.flatnonzero(row)):
        if j != own:
            size = f"{abs(row[j]):.6g}"
            text += f" {'-' if row[j] < 0.0 else '+'} {'' if size == '1' else size + ' '}{columns[j]}"
    return text
