# SPDX-License-Identifier: BSD-3-Clause
"""Impacts: speeds jump while coordinates stay, because impulses act at contacts and on the constraints.

    M Δu = GᵀΛ + WᵀΛ_n,    G Δu = 0,    W Δu = −(1 + e) v_n

Finite forces have no effect in zero time, so f is absent.  With Δu = P z, whose columns span what G allows and are
orthonormal in the metric of the masses, the rows W P are all that is left.  They fix some directions of z, and no
impulse acts along the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.constraints.consistent_states import state_of
from kanecore.constraints.constraint_state import ConstraintState, count_near
from kanecore.errors import ModelError, SingularError, warn
from kanecore.rank import equilibrated, rank_of, size_of, speed_units
from kanecore.run.call_arguments import real_array
from kanecore.tolerances import CONTRADICTORY, EQUAL, FEASIBLE, NOISE, RANK

if TYPE_CHECKING:
    from kanecore._native import Kernels, _Values

__all__ = ["Impact", "impact"]

Array = npt.NDArray[np.float64]

_NORMAL = 1e-6  # the cosine of an angle that is right, and what is nothing beside forces and torques
_FEW = 30  # bodies, of which each pair may touch
_REFINEMENTS = 3  # light bodies, such as feet of 1e-9 of all mass, cost each solution half of its digits


@dataclass(frozen=True, eq=False)
class Impact:
    """The state after an impact, and the impulses that lead there.

    Attributes
    ----------
    name : str
        Name of the model.
    x : ndarray, (n_x,)
        The state after the impact.
    contacts, constraint_names : tuple of str
    before, after : ndarray, (k,)
        v_n of the contacts before and after the impact.
    impulses : ndarray, (k,)
        Λ_n of the contacts: positive where an impulse pushes the way in which v_n grows.
    pulling : tuple of str
        Contacts with Λ_n < 0.  If v_n grows as the bodies separate, no contact can pull: leave such contacts out.  Only
        the user knows the meaning of v_n; a row of friction may have either sign.
    constraint_impulses : ndarray, (n_constraints,)
        Λ of the rows of G.
    undetermined : tuple of str
        Contacts and constraints whose impulses are not unique, since redundant rows share them: of least norm.
    """

    name: str
    x: Array
    contacts: tuple[str, ...]
    constraint_names: tuple[str, ...]
    before: Array
    after: Array
    impulses: Array
    pulling: tuple[str, ...]
    constraint_impulses: Array
    undetermined: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.name}: an impact"]
        for name, before, after, impulse in zip(self.contacts, self.before, self.after, self.impulses, strict=True):
            lines.append(f"{name}: {before:.6g} -> {after:.6g}, impulse {impulse:.6g}{self._unless_unique(name)}")
        for name, impulse in zip(self.constraint_names, self.constraint_impulses, strict=True):
            lines.append(f"constraint {name}: impulse {impulse:.6g}{self._unless_unique(name)}")
        return "\n".join(lines)

    def _unless_unique(self, name: str) -> str:
        return ", one of many" if name in self.undetermined else ""


def impact(
    dyn: Kernels,
    t: float,
    x: _Values,
    rows: Any,
    e: npt.ArrayLike = 0.0,
    *,
    full: bool = False,
    r: Any = None,
    p: Any = None,
) -> Any:
    """The state right after an impact, by Newton's law of restitution: v_n⁺ = −e v_n⁻ of each contact.

    Coordinates stay.  Speeds change by M Δu = GᵀΛ + WᵀΛ_n with G Δu = 0, all contacts and constraints at once: impulses
    act along the contacts, and along the constraints that hold meanwhile (Kane & Levinson, *Dynamics: Theory and
    Applications*, 1985, section 4.11; Glocker, *Set-Valued Force Laws*, 2001; Featherstone, *Rigid Body Dynamics
    Algorithms*, 2008, section 11.7).

    Each row is an equation that holds.  Nothing decides whether a contact is closed, approaches or would have to pull:
    give the contacts that take part.  Where v_n grows as the bodies separate, v_n < 0 before the impact says that a
    contact closes, and Λ_n ≥ 0 that it pushes.  Of one contact that closes it always does, of several at once maybe
    not, as at both corners of a rocking block: with ``full`` `Impact.pulling` names those, and one is left out.
    Friction is a row along the contact plane, with e = 0 where it sticks, and its impulse may have either sign.  A
    KanecoreWarning names a row that pulls and is no friction: v_n ≤ 0, and no row that presses acts normal to it, as
    friction has one.

    Parameters
    ----------
    t : float
    x : array_like, (n_x,), or mapping by name
        The state before the impact.  The constraints keep the values that they have there.
    rows : str, list of str, or array_like, (n_u,) or (k, n_u)
        The contacts.  Names of outputs of the model are velocities v_n that are linear in the speeds, such as
        ``tip.vel(N).dot(N.y)``, also where prescribed motions or t move a body.  An array W gives v_n = W u, such as
        a row of ``dyn.jacobian("tip", t, x)``.
    e : float, or array_like, (k,)
        Coefficients of restitution: 0 where a contact stays closed, 1 where nothing is lost.
    full : bool
        Return impulses as well.
    r, p : optional
        Inputs and parameters, as for the kernels.

    Returns
    -------
    ndarray, (n_x,)
        With ``full`` an `Impact`.  Where nothing is prescribed T does not grow at one contact with e ≤ 1, nor at
        several with one e.

    Raises
    ------
    ModelError
        The constraints, or other contacts, do not let a contact change as it must; an output is not linear in the
        speeds, or holds their derivatives; a constraint is not linear in the speeds and changes its direction.
    SingularError
        The mass matrix is singular in the motions that contacts and constraints leave free, or a constraint is lost at
        x.
    KeyError
        No such output.
    ValueError, TypeError
        Shapes, numbers that are not finite, a negative e.
    """
    state = state_of(dyn, t, x, r, p)
    contacts = _contacts(state, rows)
    equations = _Equations(state, contacts, _restitution(e, len(contacts.names)))
    after = state.x.copy()
    after[dyn.n_q :] += equations.change
    _require_constant_rows(state, state.moved(after), contacts)
    found = equations.result(after)
    _warn_of_pulling(state, contacts, found)
    return found if full else after


# ------------------------------------------------------------------------------------------------ arguments


@dataclass(frozen=True)
class _Contacts:
    """Contacts of an impact at one state: names, v_n, its slopes W (k, n_u), the magnitude of the terms of v_n.

    ``outputs`` are their numbers, None if an array gave the rows.
    """

    names: tuple[str, ...]
    rows: Array
    velocities: Array
    terms: Array
    outputs: list[int] | None


def _contacts(state: ConstraintState, given: Any) -> _Contacts:
    names = [given] if isinstance(given, str) else given
    if isinstance(names, list | tuple) and names and all(isinstance(name, str) for name in names):
        return _of_outputs(state, [state.dyn._index("output", name) for name in names])
    n = state.dyn.n_u
    numbers = real_array(
        "rows", given, (n,), (None, n), meaning="a number for each speed", otherwise="names of outputs"
    )
    rows = np.atleast_2d(numbers)
    labels = tuple(f"row {i}" for i in range(len(rows)))
    return _Contacts(labels, rows, rows @ state.u, np.abs(rows) @ np.abs(state.u), None)


def _of_outputs(state: ConstraintState, numbers: list[int]) -> _Contacts:
    """Contacts whose velocities are outputs."""
    dyn = state.dyn
    names = tuple(dyn.output_names[i] for i in numbers)
    rows, by_udot = _output_slopes(state, numbers)
    for name, slopes in zip(names, by_udot, strict=True):
        if slopes.any():
            raise ModelError(f"output {name!r} of {dyn.name!r} holds derivatives of speeds, and is no velocity")
    velocities = np.asarray(dyn.outputs(state.t, state.x, **state.values))[numbers]
    terms = np.abs(rows) @ np.abs(state.u) + np.abs(velocities - rows @ state.u)
    if not (np.isfinite(rows).all() and np.isfinite(velocities).all()):
        raise ValueError(f"{', '.join(map(repr, names))} of {dyn.name!r} at t = {state.t!r} are not all finite")
    return _Contacts(names, rows, velocities, terms, numbers)


def _output_slopes(state: ConstraintState, numbers: list[int]) -> tuple[Array, Array]:
    """∂y/∂u at constant u̇, and ∂y/∂u̇, of some outputs: (k, n_u) each."""
    dyn = state.dyn
    slopes = np.asarray(dyn._output_slopes(state.t, state.x, np.zeros(dyn.n_u), **state.values))[numbers]
    return slopes[:, dyn.n_q : dyn.n_x], slopes[:, dyn.n_x + dyn.n_r :]


def _restitution(e: npt.ArrayLike, k: int) -> Array:
    """One e for each contact."""
    values = real_array("e", e, (), (k,), meaning="one number, or one for each contact")
    if not (values >= 0).all():
        raise ValueError(f"e is {e!r}; a coefficient of restitution is not negative")
    return np.broadcast_to(values, (k,))


def _require_constant_rows(before: ConstraintState, after: ConstraintState, contacts: _Contacts) -> None:
    """Raise ModelError if rows depend on the speeds: the impulse along them would depend on the impact's course."""
    dyn, units = before.dyn, before.speed_units
    if dyn.n_constraints:
        for name, moved in zip(dyn.constraint_names, _differ(before.rows, after.rows, units), strict=True):
            if moved:
                raise ModelError(
                    f"constraint {name!r} of {dyn.name!r} is not linear in the speeds: how its impulse acts while they "
                    "jump, the state before does not tell"
                )
    if contacts.outputs is not None:
        rows = _output_slopes(after, contacts.outputs)[0]
        for name, moved in zip(contacts.names, _differ(contacts.rows, rows, units), strict=True):
            if moved:
                raise ModelError(
                    f"output {name!r} of {dyn.name!r} is not linear in the speeds: a contact is a velocity, such as "
                    "point.vel(frame).dot(direction)"
                )


def _differ(rows: Array, others: Array, units: Array) -> npt.NDArray[np.bool_]:
    """Mask of the rows that differ by more than rounding."""
    size = np.maximum(np.max(np.abs(rows * units), axis=-1), np.max(np.abs(others * units), axis=-1))
    return np.asarray(np.max(np.abs(rows - others) * units, axis=-1) > EQUAL * size)


# ------------------------------------------------------------------------------------------------ equations


class _Equations:
    """M Δu = GᵀΛ + WᵀΛ_n, G Δu = 0, W Δu = −(1 + e) v_n at one state."""

    def __init__(self, state: ConstraintState, contacts: _Contacts, e: Array) -> None:
        self._state, self._contacts, self._e = state, contacts, e

    @cached_property
    def _units(self) -> Array:
        """Units of the speeds: (n_u,)."""
        rows = self._contacts.rows
        if self._state.dyn.n_constraints:
            rows = np.vstack([self._state.rows, rows])
        return speed_units(self._state.mass, rows)

    @cached_property
    def _mass(self) -> Array:
        """M between units of the speeds."""
        return np.asarray(self._state.mass * np.outer(self._units, self._units))

    @cached_property
    def _size(self) -> Array:
        """Sizes of the rows of W, in units of the speeds."""
        return size_of(self._contacts.rows * self._units)

    @cached_property
    def _constraint_factors(self) -> tuple[Array, Array, Array, int]:
        """U, s, Vᵀ of the rows of G, of equal size between units, and how many of these count."""
        state, n = self._state, len(self._units)
        if not state.dyn.n_constraints:
            return np.zeros((0, 0)), np.zeros(0), np.eye(n), 0
        of_rows, s, of_columns = np.linalg.svd(equilibrated(state.rows, self._units))
        count, rank = state.count, rank_of(state.rows, self._units, state.count)
        if rank < count:
            count = count_near(state)
        if rank < count:
            raise SingularError(
                f"{rank} of {count} constraints of {state.dyn.name!r} are independent at t = {float(state.t)!r}, x = "
                f"{state.x.tolist()!r}: what they ask of an impact is lost there; look at it a little before or after",
                t=float(state.t),
                x=state.x,
            )
        return of_rows, s, of_columns, rank

    @cached_property
    def _allowed(self) -> Array:
        """P: an orthonormal basis, in units, of the Δu that the constraints allow."""
        _, _, of_columns, count = self._constraint_factors
        return of_columns[count:].T

    @cached_property
    def _contact_factors(self) -> tuple[Array, Array, Array, int]:
        """U, s, Vᵀ of W P, in rows of equal size before P, and its rank.

        What a state on the constraints may miss is no motion that they allow.
        """
        of_rows, s, of_columns = np.linalg.svd(self._rows)
        return of_rows, s, of_columns, int(np.sum(s > FEASIBLE))

    @cached_property
    def _rows(self) -> Array:
        """Rows W P, each relative to its size before P."""
        return equilibrated(self._contacts.rows, self._units) @ self._allowed

    @cached_property
    def _solution(self) -> tuple[Array, Array]:
        """Δu in units, and Λ_n of the rows of equal size."""
        of_rows, _, of_columns, rank = self._contact_factors
        jump = -(1.0 + self._e) * self._contacts.velocities / self._size
        self._require_agreement(jump, of_rows[:, rank:])
        mass, rows, free = self._allowed.T @ self._mass @ self._allowed, self._rows, of_columns[rank:].T
        inner = free.T @ mass @ free
        values = np.linalg.svd(inner, compute_uv=False)
        if values.size and not values[-1] > RANK * np.max(np.abs(mass)):
            raise self._undecided()
        z, impulses = np.zeros(len(mass)), np.zeros(len(rows))
        for _ in range(_REFINEMENTS):
            more = self._solved(mass, inner, rows.T @ impulses - mass @ z, jump - rows @ z)
            z, impulses = z + more[0], impulses + more[1]
        return self._allowed @ z, impulses

    def _solved(self, mass: Array, inner: Array, momentum: Array, jump: Array) -> tuple[Array, Array]:
        """[z, Λ] of M z − BᵀΛ = momentum, B z = jump, with B = U diag(s) Vᵀ: z = V_1 y + V_0 w, where B V_0 = 0."""
        of_rows, s, of_columns, rank = self._contact_factors
        left, right, free = of_rows[:, :rank] / s[:rank], of_columns[:rank].T, of_columns[rank:].T
        z = right @ (left.T @ jump)
        z += free @ np.linalg.solve(inner, free.T @ (momentum - mass @ z))
        return z, left @ (right.T @ (mass @ z - momentum))

    def _undecided(self) -> SingularError:
        state = self._state
        return SingularError(
            f"the mass matrix of {state.dyn.name!r} is singular in the motions that contacts and constraints leave "
            f"free, at t = {float(state.t)!r}, x = {state.x.tolist()!r}: no impulse decides those",
            t=float(state.t),
            x=state.x,
        )

    @property
    def change(self) -> Array:
        """Δu: (n_u,)."""
        return self._solution[0] * self._units

    def result(self, x: Array) -> Impact:
        """Result of the impact, with the state after it."""
        contacts, dyn = self._contacts, self._state.dyn
        (change, scaled), (of_rows, _, _, rank) = self._solution, self._contact_factors
        impulses, shared = _least(scaled, of_rows[:, rank:], self._size)
        of_rows, s, of_columns, count = self._constraint_factors
        right = of_columns[:count] @ (self._mass @ change - self._units * (contacts.rows.T @ impulses))
        size = size_of(self._state.rows * self._units) if dyn.n_constraints else np.zeros(0)
        others, also = _least(of_rows[:, :count] @ (right / s[:count]), of_rows[:, count:], size)
        names = (*contacts.names, *dyn.constraint_names)
        alike = impulses * self._size
        pulling = alike < -NOISE * np.max(np.abs(alike), initial=0.0)
        return Impact(
            name=dyn.name,
            x=x,
            contacts=contacts.names,
            constraint_names=dyn.constraint_names,
            before=contacts.velocities,
            after=contacts.velocities + contacts.rows @ self.change,
            impulses=impulses,
            pulling=tuple(name for name, pulls in zip(contacts.names, pulling, strict=True) if pulls),
            constraint_impulses=others,
            undetermined=tuple(name for name, free in zip(names, [*shared, *also], strict=True) if free),
        )

    def _require_agreement(self, jump: Array, opposed: Array) -> None:
        """Raise ModelError unless contacts that follow from constraints and other contacts jump consistently."""
        projector = opposed @ opposed.T
        projector[np.abs(projector) < EQUAL] = 0.0
        terms = np.abs(projector) @ ((1.0 + self._e) * self._contacts.terms / self._size)
        wrong = np.flatnonzero(np.abs(projector @ jump) > CONTRADICTORY * terms + NOISE * np.max(terms, initial=0.0))
        if not len(wrong):
            return
        contacts, name = self._contacts, self._state.dyn.name
        for i in wrong:
            if np.linalg.norm(self._rows[i]) <= FEASIBLE:
                raise ModelError(
                    f"contact {contacts.names[i]!r} of {name!r} moves at {contacts.velocities[i]:.6g}, and the "
                    "constraints let no impact change that: it follows from them alone"
                )
        raise ModelError(
            f"contacts {' and '.join(repr(contacts.names[i]) for i in wrong)} of {name!r} depend on each other, and "
            "the changes that are asked of them contradict each other: give them the same e, or leave one out"
        )


# ------------------------------------------------------------------------------------------------ which contacts pull


def _warn_of_pulling(state: ConstraintState, contacts: _Contacts, found: Impact) -> None:
    """Warn of contacts that would have to pull, unless the model leaves it open whether they are friction."""
    if not found.pulling or len(contacts.names) == 1:
        return
    sure = set(found.pulling).difference(found.undetermined)  # impulses that redundant rows share may be others
    closed = contacts.velocities <= NOISE * contacts.terms
    pulls = [i for i, name in enumerate(contacts.names) if name in sure and closed[i]]
    if not pulls:
        return
    directions = _directions(state, contacts.rows)
    pressing = [
        direction
        for direction, name, impulse in zip(directions, contacts.names, found.impulses, strict=True)
        if name in found.undetermined or (name not in sure and impulse > 0.0)
    ]
    for i in pulls:
        told = all([directions[i], *pressing])
        if told and not any(abs(np.dot(a, b)) < _NORMAL for other in pressing for a in directions[i] for b in other):
            warn(
                f"contact {contacts.names[i]!r} of {found.name!r} would have to pull, with an impulse of "
                f"{found.impulses[i]:.6g}: a contact that only pushes opens instead; leave it out of rows"
            )


def _directions(state: ConstraintState, rows: Array) -> list[list[Array]]:
    """The directions of the forces that act as each row: on one body, or between two; empty where the model tells none.

    W = f·v + m·ω, and f is unique where no f·v is some m·ω.
    """
    dyn, units = state.dyn, state.speed_units[:, np.newaxis]
    points, frames = np.reshape(np.array(dyn._table_info.get("bodies", []), dtype=np.intp), (-1, 2)).T
    velocities = np.asarray(dyn.partial_velocities(state.t, state.x, **state.values))[points] * units
    omegas = np.asarray(dyn.partial_angular_velocities(state.t, state.x, **state.values))[frames[frames >= 0]] * units
    turning = [np.zeros((dyn.n_u, 0)) for _ in points]
    for body, omega in zip(np.flatnonzero(frames >= 0), omegas, strict=True):
        turning[body] = omega
    acting = list(zip(velocities, turning, strict=True))
    if len(points) <= _FEW:
        for (v, w), (other, turn) in combinations(list(acting), 2):
            acting.append((v - other, np.hstack([w, turn])))
    directions: list[list[Array]] = [[] for _ in rows]
    for v, w in acting:
        both = np.hstack([v / (np.linalg.norm(v) or 1.0), w / (np.linalg.norm(w) or 1.0)])
        rank, *parts = (np.linalg.matrix_rank(part, _NORMAL) for part in (both, both[:, :3], both[:, 3:]))
        for found, row in zip(directions, rows * units[:, 0], strict=True):
            wrench = np.linalg.lstsq(both, row, rcond=_NORMAL)[0]
            size = float(np.linalg.norm(wrench[:3]))
            if np.linalg.norm(both @ wrench - row) > _NORMAL * np.linalg.norm(row):
                continue
            if rank < sum(parts) or size <= _NORMAL * np.linalg.norm(wrench):
                return [[] for _ in rows]  # another force, or a torque, does the same
            found.append(wrench[:3] / size)
    return directions


def _least(scaled: Array, free: Array, size: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Impulses of least norm in the rows as written, from those of rows of equal size; and those not unique."""
    if not len(size):
        return np.zeros(0), np.zeros(0, dtype=bool)
    impulses, directions = scaled / size, free / size[:, np.newaxis]
    impulses = impulses - directions @ np.linalg.lstsq(directions, impulses, rcond=RANK)[0]
    return impulses, np.asarray((np.abs(free) > EQUAL).any(axis=1))
