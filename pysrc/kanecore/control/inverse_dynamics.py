# SPDX-License-Identifier: BSD-3-Clause
"""Inverse dynamics of constrained systems, with reactions, and mixed problems, with some u̇ and some forces given.

    M u̇ = f + Gᵀλ + τ,    G u̇ + γ = 0

With s_j = 1/√M_jj, the metric of the masses, and rows of G of equal size, the unknowns are v = u̇/s, σ = s τ and λ.  A
singular value decomposition of their columns shows undetermined unknowns, and contradictory values.

The kernel `reactions` is for u̇ = M⁻¹(f + Gᵀλ).  At another u̇, inertia forces and loads in u̇ change; the joint of a
body carries the change for all bodies beyond the joint (Featherstone, *Rigid Body Dynamics Algorithms*, 2008, section
5.3).  At another λ, reactions change by ∂R/∂λ δλ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.binding.given_values import as_array, broadcast_shapes
from kanecore.constraints.constraint_values import Constraints
from kanecore.errors import ModelError
from kanecore.rank import connected, size_of
from kanecore.run.call_arguments import columns_of, leading, real_array
from kanecore.run.points_and_frames import TORQUE, numbers
from kanecore.run.printed_results import PrintedResult
from kanecore.tolerances import CONTRADICTORY, EQUAL, NOISE, RANK

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["InverseDynamics", "all_values", "reactions_at", "solve_inverse"]

Array = npt.NDArray[np.float64]


def reactions_at(at: Constraints, udot: Array, multipliers: Array) -> Array:
    """Reactions of the joints on their children: force, and torque about the joint point, (..., n_joints, 6).

    Raises
    ------
    ModelError
        The model has no reactions, or the places of its points do not follow from positions.
    SingularError
        The motion under the loads, from which reactions are computed, is not defined.
    """
    dyn, values = at.dyn, at.values
    wrenches = np.asarray(dyn.reactions(at.t, at.x, **values))
    motion = np.asarray(dyn.udot(at.t, at.x, **values))
    if dyn.facts.adrift:
        raise ModelError(
            f"reactions of {dyn.name!r} at a given udot need the positions of all points, and some do not follow "
            "from positions: locate the points of bodies from one another"
        )
    change = _lacking(at, udot) - _lacking(at, motion)
    if dyn.n_constraints:
        rates = multipliers - dyn.multipliers(at.t, at.x, **values)
        change = (
            change + (dyn.kernels.reaction_slopes(at.t, at.x, **values) @ rates[..., np.newaxis, :, np.newaxis])[..., 0]
        )
    return wrenches + change


def _lacking(at: Constraints, udot: Array) -> Array:
    """Wrenches at joints that balance the inertia of all bodies beyond them, and loads in u̇: (..., n_joints, 6)."""
    dyn, values = at.dyn, at.values
    vectors = np.asarray(dyn.inertia_forces(at.t, at.x, udot, **values))
    points, joint_points = dyn.positions(at.t, at.x, **values), dyn.joint_positions(at.t, at.x, **values)
    centres = points[..., numbers(dyn.facts.bodies, 2)[:, 0], :]
    # wrenches by body, each about its own point: first of inertia, then of loads
    acting = [(body, centres[..., body, :], vectors[..., body, :]) for body in range(dyn.n_bodies)]
    loads = numbers(dyn.facts.loads, 4)
    if len(loads) and dyn.kernels.has("inertial_loads"):
        added = np.asarray(dyn.kernels.inertial_loads(at.t, at.x, udot, **values))
        for row, (kind, place, _, body) in enumerate(loads):
            nothing = np.zeros_like(added[..., row, :])
            parts = (nothing, added[..., row, :]) if kind == TORQUE else (added[..., row, :], nothing)
            arm = centres[..., body, :] if kind == TORQUE else points[..., place, :]
            acting.append((body, arm, np.concatenate(parts, axis=-1)))
    hanging = _hanging(numbers(dyn.facts.joints, 3))
    result = np.zeros((*vectors.shape[:-2], dyn.n_joints, 6))
    for body, place, wrench in acting:
        for joint in np.flatnonzero(hanging[:, body]) if body >= 0 else ():
            force = wrench[..., :3]
            result[..., joint, :3] -= force
            result[..., joint, 3:] -= wrench[..., 3:] + np.cross(place - joint_points[..., joint, :], force)
    return result


def _hanging(joints: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Mask of the bodies beyond each joint: (n_joints, n_bodies)."""
    parents = dict(zip(joints[:, 1].tolist(), joints[:, 0].tolist(), strict=True))
    hanging = np.zeros((len(joints), len(parents)), dtype=bool)
    below = {child: joint for joint, child in enumerate(joints[:, 1].tolist())}
    for body in parents:
        carrier = body
        while carrier >= 0:
            hanging[below[carrier], body] = True
            carrier = parents[carrier]
    return hanging


Numbers = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class InverseDynamics(PrintedResult):
    """Accelerations and forces that satisfy M u̇ = f + Gᵀλ + τ, G u̇ + γ = 0.

    Attributes
    ----------
    name : str
        Name of the model.
    speed_names, constraint_names : tuple of str
    udot, tau : ndarray, (..., n_u)
        Accelerations and generalized forces, with the given ones; ``tau`` are forces beyond those modelled.
    multipliers : ndarray, (..., n_constraints)
        λ, of least norm if not unique.
    undetermined : tuple of str
        Constraints with multipliers that are not unique, because rows are redundant.
    """

    name: str
    speed_names: tuple[str, ...]
    constraint_names: tuple[str, ...]
    udot: Array
    tau: Array
    multipliers: Array
    undetermined: tuple[str, ...]
    _at: Constraints

    @cached_property
    def reactions(self) -> Array:
        """Reactions of the joints on their children at this u̇, beyond the loads of the model: (..., n_joints, 6).

        As in the kernel `reactions`: the force, then the torque about the joint point, in inertial axes.  They include
        τ along a joint, such as a motor's torque.  Multipliers that are not unique have least norm. ModelError if the
        model has no reactions.
        """
        return reactions_at(self._at, self.udot, self.multipliers)

    def __str__(self) -> str:
        lines = [f"{self.name}: udot, tau"]
        for i, name in enumerate(self.speed_names):
            lines.append(f"{name}: {_written(self.udot[..., i])}, {_written(self.tau[..., i])}")
        for i, name in enumerate(self.constraint_names):
            unique = ", one of many" if name in self.undetermined else ""
            lines.append(f"multiplier of {name}: {_written(self.multipliers[..., i])}{unique}")
        return "\n".join(lines)


@method("Control and derivatives", doubles=True)
def solve_inverse(
    dyn: Evaluator, t: npt.ArrayLike, x: Values, *, udot: Any = None, tau: Any = None, r: Any = None, p: Any = None
) -> InverseDynamics:
    """Solve M u̇ = f + Gᵀλ + τ, G u̇ + γ = 0 for the u̇ and τ that are not given.

    Give as many u̇ and τ together as there are speeds, so that the rest is determined.  For a four-bar with a motor on
    its crank ``udot={"u1": 0.3}, tau={"u2": 0.0, "u3": 0.0}`` gives the motor's torque, and ``tau={"u1": 2.0, "u2":
    0.0, "u3": 0.0}`` the accelerations.  More may be given if they agree.

    Parameters
    ----------
    t, x, r, p
        As for the kernels; leading axes broadcast.
    udot, tau : mapping of names to numbers or arrays, or array_like (..., n_u), optional
        Derivatives of speeds, and generalized forces along them beyond those modelled, by the speed's name or symbol;
        an array gives all.

    Returns
    -------
    InverseDynamics

    Raises
    ------
    ModelError
        Some u̇ or τ are undetermined or inconsistent; the message names them.
    KeyError
        No speed has this name.
    ValueError, TypeError
        A given value is no number, is not finite, or has another shape; x is not finite.
    """
    known = _Known(columns_of(dyn, "udot", "udot", udot), columns_of(dyn, "speed", "tau", tau))
    states, times = real_array("x", dyn.names.as_state(x), (..., dyn.n_x)), real_array("t", t)
    inputs, parameters = all_values(dyn, "input", r), all_values(dyn, "parameter", p)
    at = Constraints(dyn, times, states, inputs, parameters)
    forcing = np.asarray(dyn.forcing(at.t, at.x, **at.values))
    lead = leading(x=forcing.shape[:-1], **known.shapes(dyn.speed_names))
    n, m = dyn.n_u, dyn.n_constraints
    mass = np.broadcast_to(at.mass, (*lead, n, n))
    rows, bias = (at.rows, at.bias) if m else (np.zeros((0, n)), np.zeros(0))
    rows, bias = np.broadcast_to(rows, (*lead, m, n)), np.broadcast_to(bias, (*lead, m))
    units, forcing = np.broadcast_to(at.speed_units, (*lead, n)), np.broadcast_to(forcing, (*lead, n))
    results = np.empty((*lead, 2 * n + m))
    free = np.zeros(m, dtype=bool)
    for i in np.ndindex(lead):
        equations = _Equations(dyn, mass[i], forcing[i], rows[i], bias[i], units[i])
        results[i], undetermined = equations.solve(*known.at(i, lead))
        free |= undetermined
    return InverseDynamics(
        name=dyn.name,
        speed_names=dyn.speed_names,
        constraint_names=dyn.constraint_names,
        udot=results[..., :n],
        tau=results[..., n : 2 * n],
        multipliers=results[..., 2 * n :],
        undetermined=tuple(name for name, is_free in zip(dyn.constraint_names, free, strict=True) if is_free),
        _at=at,
    )


def all_values(dyn: Evaluator, kind: Literal["input", "parameter"], settings: Any) -> Array:
    """Copy of inputs or parameters (..., n), so that all kernels, also later calls, use the same values."""
    current, name = np.array(dyn.kernels.values(kind)), "r" if kind == "input" else "p"
    if settings is None:
        return current
    if not isinstance(settings, Mapping):
        return np.array(as_array(name, settings), dtype=np.float64)
    numbers = dyn.names.by_number(kind, settings, f"{kind}s")
    named = {i: np.asarray(as_array(f"{name}[{i}]", value), dtype=np.float64) for i, value in numbers.items()}
    values = np.empty((*broadcast_shapes(*(value.shape for value in named.values())), len(current)))
    values[...] = current
    for i, value in named.items():
        values[..., i] = value
    return values


_REFINED = 2  # steps of refinement, as rounding of the decomposition is relative to the largest unknown


@dataclass(frozen=True)
class _Known:
    """Given values: u̇ and τ by the index of the speed."""

    udot: dict[int, Array]
    tau: dict[int, Array]

    def shapes(self, names: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
        """Shapes of the given values, with names of arguments."""
        parts = (("udot", self.udot), ("tau", self.tau))
        return {f"{what} of {names[i]}": value.shape for what, part in parts for i, value in part.items()}

    def at(self, i: tuple[int, ...], lead: tuple[int, ...]) -> tuple[dict[int, float], dict[int, float]]:
        """Given u̇ and τ at one state."""
        udot, tau = (
            {place: float(np.broadcast_to(value, lead)[i]) for place, value in part.items()}
            for part in (self.udot, self.tau)
        )
        return udot, tau


@dataclass(frozen=True)
class _Equations:
    """M u̇ − f − Gᵀλ − τ = 0, G u̇ + γ = 0 at one state."""

    dyn: Evaluator
    mass: Array
    forcing: Array
    rows: Array
    bias: Array
    units: Array

    def solve(self, udot: dict[int, float], tau: dict[int, float]) -> tuple[Array, npt.NDArray[np.bool_]]:
        """[u̇, τ, λ], and a mask of λ that are not unique; ModelError if u̇ or τ is not unique, or without solution."""
        matrix, right, scale = self._scaled
        n = len(self.units)
        solution = np.zeros(len(scale))
        given = np.array([*udot, *(n + i for i in tau)], dtype=np.intp)
        values = np.array([*udot.values(), *tau.values()])
        solution[given] = values / scale[given]
        unknown = np.delete(np.arange(len(scale)), given)
        rest, free, opposed = right - matrix @ solution, list[Array](), list[tuple[Numbers, Array]]()
        for rows, columns in _parts(matrix[:, unknown]):
            part, places = matrix[np.ix_(rows, unknown[columns])], unknown[columns]
            of_rows, s, of_columns = np.linalg.svd(part)
            rank = int(np.sum(s > RANK * np.max(s, initial=0.0)))
            for _ in range(1 + _REFINED):
                left = rest[rows] - part @ solution[places]
                solution[places] += of_columns[:rank].T @ ((of_rows[:, :rank].T @ left) / s[:rank])
            free.append(np.zeros((len(scale), len(places) - rank)))
            free[-1][places] = of_columns[rank:].T
            opposed.append((rows, of_rows[:, rank:]))
        directions = np.hstack(free)
        self._require_unique(directions)
        for rows, combinations in opposed:
            self._require_agreement(solution, rows, combinations, given)
        undetermined = (np.abs(directions[2 * n :]) > EQUAL).any(axis=1)
        solution, directions = solution * scale, (directions * scale[:, np.newaxis])[2 * n :]
        solution[given] = values
        # λ of least norm for rows as written
        solution[2 * n :] -= directions @ np.linalg.lstsq(directions, solution[2 * n :], rcond=RANK)[0]
        return solution, np.asarray(undetermined)

    @cached_property
    def _scaled(self) -> tuple[Array, Array, Array]:
        """Matrix K and b of K [v, σ, λ] = b, and the factors that give u̇, τ, λ from the unknowns."""
        units, n = self.units, len(self.units)
        rows = self.rows * units
        size = size_of(rows)
        rows = rows / size[:, np.newaxis]
        matrix = np.zeros((n + len(rows), 2 * n + len(rows)))
        matrix[:n, :n] = self.mass * np.outer(units, units)
        matrix[:n, n : 2 * n] = -np.eye(n)
        matrix[:n, 2 * n :] = -rows.T
        matrix[n:, :n] = rows
        right = np.concatenate([units * self.forcing, -self.bias / size])
        return matrix, right, np.concatenate([units, 1.0 / units, 1.0 / size])

    def _require_unique(self, free: Array) -> None:
        """Raise ModelError unless u̇ and τ are determined; λ may be free."""
        moving = np.flatnonzero((np.abs(free[: 2 * len(self.units)]) > EQUAL).any(axis=1))
        if len(moving):
            raise ModelError(
                f"{', '.join(self._label(int(i)) for i in moving)} of {self.dyn.name!r} are not determined: give "
                f"{np.linalg.matrix_rank(free[moving], tol=EQUAL)} more of them"
            )

    def _require_agreement(self, solution: Array, rows: Numbers, opposed: Array, known_columns: Numbers) -> None:
        """Raise ModelError unless the given values agree with some equations, which share no unknowns with others."""
        matrix, right = self._scaled[0][rows], self._scaled[1][rows]
        rest, terms = matrix @ solution - right, np.abs(matrix) @ np.abs(solution) + np.abs(right)
        if not (np.abs(rest) > CONTRADICTORY * terms + NOISE * np.max(terms, initial=0.0)).any():
            return
        wrong = opposed @ (opposed.T @ rest)  # the combination of equations without unknowns
        parts = np.abs(wrong @ matrix[:, known_columns])
        names = [
            self._label(int(i))
            for i, part in zip(known_columns, parts, strict=True)
            if part > EQUAL * np.linalg.norm(wrong)
        ]
        if names:
            raise ModelError(f"{' and '.join(names)} of {self.dyn.name!r} do not agree: leave one of them open")
        raise ModelError(f"no accelerations satisfy the constraints of {self.dyn.name!r} together: see dyn.check(x)")

    def _label(self, column: int) -> str:
        n = len(self.units)
        return f"{'udot' if column < n else 'tau'} of {self.dyn.speed_names[column % n]}"


def _parts(matrix: Array) -> list[tuple[Numbers, Numbers]]:
    """Parts of rows and columns connected by nonzero entries; a column of zeros is a part without rows."""
    m, n = matrix.shape
    links = np.zeros((m + n, m + n), dtype=bool)
    links[:m, m:] = matrix != 0.0
    together = connected(links)
    parts = [np.flatnonzero(row) for i, row in enumerate(together) if np.argmax(row) == i]
    return [(part[part < m], part[part >= m] - m) for part in parts]


def _written(value: Array) -> str:
    return f"{value:.6g}" if value.ndim == 0 else f"{value.shape} numbers"
