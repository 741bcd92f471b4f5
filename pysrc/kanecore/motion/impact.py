# SPDX-License-Identifier: BSD-3-Clause
"""Impacts: speeds jump at constant coordinates, by impulses at contacts and on the constraints.

    M Δu = GᵀΛ + WᵀΛ_n + I,    G Δu = 0,    W Δu = −(1 + e) v_n

I are given generalized impulses.  Finite forces have no effect in zero time, so f is absent.  Let Δu = P z, where the
columns of P span the motions that G allows, and are orthonormal in the metric of the masses.  Then only the rows W P
remain.  They determine some directions of z; along the other directions no contact acts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.constraints.consistent_states import state_of
from kanecore.constraints.constraint_state import ConstraintState, count_near
from kanecore.errors import ModelError, SingularError, unknown_name, warn
from kanecore.motion.contact_modes import MOST_ROWS, Friction, decided
from kanecore.motion.given_impulses import generalized_impulses
from kanecore.rank import equilibrated, rank_of, size_of, speed_units
from kanecore.run.call_arguments import real_array
from kanecore.run.printed_results import PrintedResult
from kanecore.tolerances import CONTRADICTORY, EQUAL, FEASIBLE, NOISE, RANK

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["Impact", "impact"]

Array = npt.NDArray[np.float64]

_REFINEMENTS = 3  # light bodies, such as feet with 1e-9 of the mass, cost each solution half of its digits


@dataclass(frozen=True, eq=False, repr=False)
class Impact(PrintedResult):
    """The state after an impact, and the impulses.

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
        Λ_n of the contacts: positive if the impulse increases v_n.
    pulling : tuple of str
        Contacts with Λ_n < 0, without the rows that ``mu`` names as friction.  If v_n grows as the bodies separate, no
        contact can pull: leave such contacts out, or let ``unilateral`` do that.
    constraint_impulses : ndarray, (n_constraints,)
        Λ of the rows of G.
    generalized_impulses : ndarray, (n_u,)
        I_r = Σ v_r·∫R dt + Σ ω_r·∫T dt of the given impulses.
    undetermined : tuple of str
        Contacts and constraints with impulses that are not unique, because rows are redundant; the least norm is taken.
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
    generalized_impulses: Array
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


@method("Motion", doubles=True)
def impact(
    dyn: Evaluator,
    t: float,
    x: Values,
    rows: Any = (),
    e: npt.ArrayLike = 0.0,
    *,
    impulses: Mapping[Any, Any] | None = None,
    unilateral: bool = False,
    mu: Mapping[Any, Any] | None = None,
    full: bool = False,
    r: Any = None,
    p: Any = None,
) -> Any:
    """The state right after an impact: given impulses, and Newton's law of restitution v_n⁺ = −e v_n⁻ of each contact.

    Coordinates are constant.  Speeds change by M Δu = GᵀΛ + WᵀΛ_n + I with G Δu = 0, at all contacts and constraints at
    once: impulses act along the contacts, and along the constraints, which stay satisfied (Kane & Levinson, *Dynamics:
    Theory and Applications*, 1985, chapter 7, on generalized impulse and on collisions; Glocker, *Set-Valued Force
    Laws*, 2001; Featherstone, *Rigid Body Dynamics Algorithms*, 2008, section 11.7).

    Without ``unilateral`` each row is an equation, whether its contact is closed, approaches, or would have to pull:
    give only the contacts that take part.  If v_n increases as the bodies separate, a contact closes with v_n < 0
    before the impact, and pushes with Λ_n ≥ 0.  A single closing contact always pushes.  Several at once may not, as at
    both corners of a rocking block: `Impact.pulling` names contacts that pull, and a KanecoreWarning names one that was
    at rest.  Friction is a row along the contact plane, with e = 0 if it sticks.  Its impulse may have either sign.
    With ``mu``, which names the friction rows, all other pulling rows cause a warning.

    Parameters
    ----------
    t : float
    x : array_like, (n_x,), or mapping by name
        The state before the impact.  The constraints keep their values.
    rows : str, list of str, or array_like, (n_u,) or (k, n_u)
        The contacts.  Names of outputs of the model are velocities v_n that are linear in the speeds, such as
        ``tip.vel(N).dot(N.y)``, also if prescribed motions or t move a body.  An array W gives v_n = W u, such as a row
        of ``dyn.jacobian("tip", t, x)``.  Default: none.
    e : float, or array_like, (k,)
        Coefficients of restitution: 0 if a contact stays closed, 1 if no energy is lost.
    impulses : mapping, optional
        Given impulses, in addition to those of the contacts: {point: ∫R dt, in N s}, {frame: ∫T dt, in N m s}, by names
        or SymPy's objects, each 3 numbers in inertial axes or a Vector of SymPy; {speed: generalized impulse}. I_r = Σ
        v_r·∫R dt + Σ ω_r·∫T dt.
    unilateral : bool
        Decide which contacts close, 0 ≤ Λ_n ⊥ v_n⁺ + e v_n⁻ ≥ 0, and which friction rows stick or slide.  For up to 12
        rows, and if M is positive definite on the allowed motions.  Friction may have several solutions: the one with
        most contacts closed and rows sticking is taken.
    mu : mapping, optional
        {friction row: (contact row, coefficient)}, rows by name or number.  |Λ_t| ≤ μ Λ_n for each row separately;
        ``math.inf`` for a row that always sticks.  Without ``unilateral`` friction rows stick, with a KanecoreWarning
        if the limit is exceeded.
    full : bool
        Return impulses as well.
    r, p : optional
        Inputs and parameters, as for the kernels.

    Returns
    -------
    ndarray, (n_x,)
        With ``full`` an `Impact`.  Without prescribed motions and given impulses, T does not increase at one contact
        with e ≤ 1, nor at several contacts with the same e.

    Raises
    ------
    ModelError
        The constraints, or other contacts, prevent the change at a contact; an output is not linear in the speeds, or
        depends on their derivatives; a constraint is not linear in the speeds and changes its direction; with
        ``unilateral`` no choice of contacts satisfies the laws.
    SingularError
        The mass matrix is singular in the motions that contacts and constraints leave free, or a constraint is lost at
        x.
    KeyError
        There is no such output, point, frame, speed or row.
    ValueError, TypeError
        Wrong shapes; numbers that are not finite; a negative e or coefficient of friction; more than 12 unilateral
        rows.

    Examples
    --------
    ``dyn.impact(0.0, x, impulses={"P": (0.3, 0.0, 0.0)})``
    """
    state = state_of(dyn, t, x, r, p)
    contacts = _contacts(state, rows)
    friction = _friction(contacts.names, mu)
    impulse = generalized_impulses(state, impulses)
    if unilateral and len(contacts.names) > MOST_ROWS:
        n = len(contacts.names)
        raise ValueError(f"{n} unilateral rows; at most {MOST_ROWS} are decided at once: leave some out")
    coefficients = _restitution(e, len(contacts.names))
    equations = _Equations(state, contacts, coefficients, impulse, friction if unilateral else None)
    after = state.x.copy()
    after[dyn.names.speeds] += equations.change
    _require_constant_rows(state, state.moved(after), contacts)
    found = equations.result(after, friction)
    if not unilateral:
        _warn_of_pulling(contacts, friction, mu is not None, found)
    return found if full else after


# ------------------------------------------------------------------------------------------------ arguments


@dataclass(frozen=True)
class _Contacts:
    """Contacts of an impact at a state: names, v_n, slopes W (k, n_u), and magnitude of the terms of v_n.

    ``outputs`` are their indices; None if an array gave the rows.
    """

    names: tuple[str, ...]
    rows: Array
    velocities: Array
    terms: Array
    outputs: list[int] | None


def _contacts(state: ConstraintState, contacts: Any) -> _Contacts:
    names = [contacts] if isinstance(contacts, str) else contacts
    if isinstance(names, list | tuple) and not names:
        contacts = np.zeros((0, state.dyn.n_u))
    if isinstance(names, list | tuple) and names and all(isinstance(name, str) for name in names):
        return _of_outputs(state, [state.dyn.names.index("output", name) for name in names])
    n = state.dyn.n_u
    numbers = real_array(
        "rows", contacts, (n,), (None, n), meaning="a number for each speed", otherwise="names of outputs"
    )
    rows = np.atleast_2d(numbers)
    labels = tuple(f"row {i}" for i in range(len(rows)))
    return _Contacts(labels, rows, rows @ state.u, np.abs(rows) @ np.abs(state.u), None)


def _of_outputs(state: ConstraintState, numbers: list[int]) -> _Contacts:
    """Contacts with outputs as velocities."""
    dyn = state.dyn
    names = tuple(dyn.output_names[i] for i in numbers)
    rows, by_udot = _output_slopes(state, numbers)
    for name, slopes in zip(names, by_udot, strict=True):
        if slopes.any():
            raise ModelError(f"output {name!r} of {dyn.name!r} depends on derivatives of speeds, and is no velocity")
    for name, number, row in zip(names, numbers, rows, strict=True):
        if not row.any() and not _holds_speeds(dyn, number):
            raise ModelError(
                f"output {name!r} of {dyn.name!r} depends on no speed: a contact is a velocity, such as "
                "point.vel(frame).dot(direction), not the gap"
            )
    velocities = np.asarray(dyn.outputs(state.t, state.x, **state.values))[numbers]
    terms = np.abs(rows) @ np.abs(state.u) + np.abs(velocities - rows @ state.u)
    if not (np.isfinite(rows).all() and np.isfinite(velocities).all()):
        raise ValueError(f"{', '.join(map(repr, names))} of {dyn.name!r} at t = {state.t!r} are not all finite")
    return _Contacts(names, rows, velocities, terms, numbers)


def _holds_speeds(dyn: Any, output: int) -> bool:
    """Test whether an output depends on a speed, at any state."""
    speeds = range(dyn.n_x)[dyn.names.speeds]
    return any(i == output and j in speeds for i, j in zip(*dyn.sparsity("output_jacobian"), strict=True))


def _output_slopes(state: ConstraintState, numbers: list[int]) -> tuple[Array, Array]:
    """∂y/∂u at constant u̇, and ∂y/∂u̇, of some outputs: (k, n_u) each."""
    dyn = state.dyn
    slopes = np.asarray(dyn.kernels.output_slopes(state.t, state.x, np.zeros(dyn.n_u), **state.values))[numbers]
    return slopes[:, dyn.names.speeds], slopes[:, dyn.n_x + dyn.n_r :]


def _restitution(e: npt.ArrayLike, k: int) -> Array:
    """The coefficient e of each contact."""
    values = real_array("e", e, (), (k,), meaning="one number, or one for each contact")
    if not (values >= 0).all():
        raise ValueError(f"e is {e!r}; a coefficient of restitution is not negative")
    return np.broadcast_to(values, (k,))


def _friction(names: tuple[str, ...], mu: Mapping[Any, Any] | None) -> Friction:
    """Friction rows by index, with the contacts and coefficients that limit them."""
    if mu is None:
        return Friction({}, {})
    form = "{friction row: (contact row, coefficient)}, such as {'slip': ('normal', 0.4)}"
    if not isinstance(mu, Mapping):
        raise TypeError(f"mu is {mu!r}; it must say which row is friction of which contact: {form}")
    normal, coefficient = dict[int, int](), dict[int, float]()
    for key, pair in mu.items():
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise TypeError(f"mu of {key!r} is {pair!r}; write {form}")
        row = _row(names, key)
        normal[row], value = _row(names, pair[0]), np.asarray(pair[1])
        if value.dtype.kind not in "fiub" or value.shape or not value >= 0.0:
            raise ValueError(f"mu of {key!r} is {pair[1]!r}; a coefficient of friction is a number, and not negative")
        coefficient[row] = float(value)
    for row, contact in normal.items():
        if contact in normal:
            raise ValueError(f"mu names {names[contact]!r} as friction, and as the contact of {names[row]!r}")
    return Friction(normal, coefficient)


def _row(names: tuple[str, ...], key: Any) -> int:
    """The index of a row, by its name or number."""
    if isinstance(key, str):
        if key not in names:
            raise unknown_name("row of this impact is called", key, names)
        return names.index(key)
    if isinstance(key, bool) or not isinstance(key, int | np.integer) or not 0 <= key < len(names):
        raise KeyError(f"{key!r} is no row of this impact: there are {len(names)}, from 0")
    return int(key)


def _require_constant_rows(before: ConstraintState, after: ConstraintState, contacts: _Contacts) -> None:
    """Raise ModelError if rows depend on the speeds: the impulse along them would depend on the impact's course."""
    dyn, units = before.dyn, before.speed_units
    if dyn.n_constraints:
        for name, moved in zip(dyn.constraint_names, _differ(before.rows, after.rows, units), strict=True):
            if moved:
                raise ModelError(
                    f"constraint {name!r} of {dyn.name!r} is not linear in the speeds: the direction of its impulse "
                    "during the jump does not follow from the state before"
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
    """M Δu = GᵀΛ + WᵀΛ_n + I, G Δu = 0 and W Δu = −(1 + e) v_n, or the laws of unilateral contacts, at one state."""

    def __init__(
        self, state: ConstraintState, contacts: _Contacts, e: Array, impulse: Array, unilateral: Friction | None
    ) -> None:
        self._state, self._contacts, self._e = state, contacts, e
        self._impulse, self._unilateral = impulse, unilateral

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
        """U, s, Vᵀ of the rows of G, of equal size in units, and their rank."""
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
                f"{state.x.tolist()!r}: their effect on an impact is lost there; use a state a little before or after",
                t=float(state.t),
                x=state.x,
            )
        return of_rows, s, of_columns, rank

    @cached_property
    def _allowed(self) -> Array:
        """P, an orthonormal basis, in units, of the Δu that the constraints allow."""
        _, _, of_columns, count = self._constraint_factors
        return of_columns[count:].T

    @cached_property
    def _contact_factors(self) -> tuple[Array, Array, Array, int]:
        """U, s, Vᵀ of W P, in rows of equal size before P, and its rank.

        Residuals of a state on the constraints do not count as allowed motions.
        """
        of_rows, s, of_columns = np.linalg.svd(self._rows)
        return of_rows, s, of_columns, int(np.sum(s > FEASIBLE))

    @cached_property
    def _rows(self) -> Array:
        """Rows W P, each relative to its size before P."""
        return equilibrated(self._contacts.rows, self._units) @ self._allowed

    @cached_property
    def _push(self) -> Array:
        """Given impulses along the motions that the constraints allow."""
        return np.asarray(self._allowed.T @ (self._impulse * self._units))

    @cached_property
    def _solution(self) -> tuple[Array, Array, Array]:
        """Δu in units, Λ_n of rows of equal size, and columns that may be added to Λ_n without effect on the motion."""
        if self._unilateral is not None:
            return self._decided(self._unilateral)
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
            more = self._solved(mass, inner, self._push + rows.T @ impulses - mass @ z, jump - rows @ z)
            z, impulses = z + more[0], impulses + more[1]
        return self._allowed @ z, impulses, of_rows[:, rank:]

    def _decided(self, friction: Friction) -> tuple[Array, Array, Array]:
        """The solution by the laws of unilateral contacts."""
        mass, size = self._allowed.T @ self._mass @ self._allowed, self._size
        free = np.linalg.norm(self._rows, axis=1, keepdims=True) > FEASIBLE  # other rows follow from the constraints
        rows = np.where(free, self._rows, 0.0)
        values = np.linalg.eigvalsh(mass)
        if values.size and not values[0] > RANK * values[-1]:
            raise self._undecided()
        mobility = np.linalg.solve(mass, np.column_stack([rows.T, self._push]))
        start = (1.0 + self._e) * self._contacts.velocities / size + rows @ mobility[:, -1]
        scaled = {row: mu * size[row] / size[friction.normal[row]] for row, mu in friction.coefficient.items()}
        decision = decided(rows @ mobility[:, :-1], start, Friction(friction.normal, scaled))
        if decision is None:
            raise ModelError(
                f"no choice of contacts of {self._state.dyn.name!r} that close, slide or stick satisfies the laws of "
                "contact and friction: use less friction"
            )
        shared = np.zeros((len(rows), len(decision.equations)))
        of_rows, s, _ = np.linalg.svd(rows[decision.equations])
        shared[decision.equations] = of_rows
        change = mobility[:, :-1] @ decision.impulses + mobility[:, -1]
        return self._allowed @ change, decision.impulses, shared[:, int(np.sum(s > FEASIBLE)) :]

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

    def result(self, x: Array, friction: Friction) -> Impact:
        """Result of the impact, with the state after it."""
        contacts, dyn = self._contacts, self._state.dyn
        change, scaled, free = self._solution
        impulses, shared = _least(scaled, free, self._size)
        of_rows, s, of_columns, count = self._constraint_factors
        acting = contacts.rows.T @ impulses + self._impulse
        right = of_columns[:count] @ (self._mass @ change - self._units * acting)
        size = size_of(self._state.rows * self._units) if dyn.n_constraints else np.zeros(0)
        others, also = _least(of_rows[:, :count] @ (right / s[:count]), of_rows[:, count:], size)
        names = (*contacts.names, *dyn.constraint_names)
        alike = impulses * self._size
        pulling = alike < -NOISE * np.max(np.abs(alike), initial=0.0)
        pulling[list(friction.normal)] = False
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
            generalized_impulses=self._impulse,
            undetermined=tuple(name for name, free in zip(names, [*shared, *also], strict=True) if free),
        )

    def _require_agreement(self, jump: Array, opposed: Array) -> None:
        """Raise ModelError unless contacts that depend on constraints and other contacts have consistent jumps."""
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
                    f"contact {contacts.names[i]!r} of {name!r} moves at {contacts.velocities[i]:.6g}, and no impact "
                    "can change that: it follows from the constraints"
                )
        raise ModelError(
            f"contacts {' and '.join(repr(contacts.names[i]) for i in wrong)} of {name!r} depend on each other, and "
            "their changes by e contradict each other: give them the same e, or leave one out"
        )


# ------------------------------------------------------------------------------------------------ which contacts pull


def _warn_of_pulling(contacts: _Contacts, friction: Friction, told: bool, found: Impact) -> None:
    """Warn of contacts that would have to pull, and of friction beyond its limit.

    Impulses of redundant rows are not unique, and a contact that separated before the impact is meant to be held; there
    is no warning for these.  Without ``mu`` a moving row may be friction: then only contacts at rest are named.
    """
    slow = NOISE * contacts.terms
    pushes = contacts.velocities <= slow if told else np.abs(contacts.velocities) <= slow
    for name, impulse, alone in zip(contacts.names, found.impulses, pushes, strict=True):
        if alone and name in found.pulling and name not in found.undetermined:
            warn(
                f"contact {name!r} of {found.name!r} would have to pull, with an impulse of {impulse:.6g}: a contact "
                "that only pushes opens instead; leave it out of rows, or let unilateral=True decide; if it is "
                "friction, name it in mu"
            )
    for row, normal in friction.normal.items():
        name, beside, mu = contacts.names[row], contacts.names[normal], friction.coefficient[row]
        needed, limit = abs(found.impulses[row]), mu * max(found.impulses[normal], np.finfo(np.float64).tiny)
        if needed > limit * (1.0 + EQUAL) and {name, beside}.isdisjoint(found.undetermined):
            warn(
                f"row {name!r} of {found.name!r} would slide: to stick takes an impulse of {needed:.6g}, and {mu:g} "
                f"times that of {beside!r} is {limit:.6g}; with unilateral=True it slides"
            )


def _least(scaled: Array, free: Array, size: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Impulses of least norm for rows as written, from impulses for rows of equal size; mask of nonunique ones."""
    if not len(size):
        return np.zeros(0), np.zeros(0, dtype=bool)
    impulses, directions = scaled / size, free / size[:, np.newaxis]
    impulses = impulses - directions @ np.linalg.lstsq(directions, impulses, rcond=RANK)[0]
    return impulses, np.asarray((np.abs(free) > EQUAL).any(axis=1))
