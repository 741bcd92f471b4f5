# SPDX-License-Identifier: BSD-3-Clause
"""Rigid contacts of a plane motion that open, close, stick and slide: smooth runs between events.

While contacts keep their modes, closed ones are constraints, and the ones that slide have Coulomb's friction:

    M u̇ = f + Σ (n_i − μ s_i t_i) λ_i + Σ (n_j λ_j + t_j τ_j),      n·u̇ + ṅ·u = 0,    t_j·u̇ + ṫ_j·u = 0

with rows n_i, t_i of the velocities normal to the ground and along it, s_i = ±1 the way of the slip, and j the
contacts that stick.  A run ends where a gap closes, λ falls to zero, |τ| reaches μ λ, or a slip ends.  An impact
follows where a gap closes.  The next modes are the first that satisfy

    0 ≤ λ ⊥ a_n ≥ 0,      |τ| ≤ μ λ,      s a_t ≥ 0 where a slip begins

(Glocker & Pfeiffer, *Multibody Dynamics with Unilateral Contacts*, 1996, chapter 6), of which there are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.constraints.consistent_states import state_of
from kanecore.errors import IntegrationError, ModelError, unknown_name
from kanecore.motion.contact_modes import MOST_ROWS
from kanecore.motion.impact import impact
from kanecore.run.point_kinematics import acceleration, jacobian, position, velocity
from kanecore.tolerances import EQUAL, RANK

if TYPE_CHECKING:
    from kanecore._native import Kernels, _Values

__all__ = ["ModeRun", "Modes"]

Array = npt.NDArray[np.float64]
Choices = dict[int, tuple[str, ...]]  # modes of some contacts, in place of all

OPEN, STICK, FORTH, BACK = "open", "stick", "slide +", "slide -"
_SIGN = {FORTH: 1.0, BACK: -1.0}
_LAWS = ("mu", "e")
_MOST_CHANGES = 10_000
_FIRST_STEP = 1e-6
_SLOW_SLIP = 10.0
"""Relative to `rest`: the slip that ends together with the approach, where there is friction."""


@dataclass
class ModeRun:
    """A motion through several modes of contact.

    Attributes
    ----------
    t : ndarray, (N,)
        Times of the steps; those of events twice.
    x : ndarray, (N, n_x)
        States; at an event the one before and the one after it.
    modes : list of (float, dict of str to str)
        From when on each contact is ``"open"``, ``"stick"``, ``"slide +"`` or ``"slide -"``.
    impacts : list of (float, ndarray, ndarray)
        Times of impacts, with the states before and after them.
    """

    t: Array
    x: Array
    modes: list[tuple[float, dict[str, str]]] = field(default_factory=list)
    impacts: list[tuple[float, Array, Array]] = field(default_factory=list)


class Modes:
    """Points in rigid contact with a straight ground, in a plane motion, with dry friction and impacts.

    Parameters
    ----------
    dyn : CompiledModel
        Without constraints: contacts bring their own.
    contacts : sequence of str, or mapping of str to dict
        Points of the model, six at most.  A dict gives a point a ``mu`` or an ``e`` of its own.
    origin : (x, y, z)
        A point of the ground, in inertial axes.  Default: the origin.
    normal, along : (x, y, z)
        Unit vectors out of the ground and along it, in inertial axes.  Default: y and x.
    mu : float
        Coefficient of friction; ``math.inf``: contacts never slide.
    e : float
        Coefficient of restitution of the impacts.
    rest : float
        Approach, m/s, below which all contacts that touch stay closed, so that bounces and rocking come to an end.

    Raises
    ------
    ModelError
        The model has constraints.
    KeyError, ValueError
        There is no such point, or law; a number is negative; more than six contacts.

    Examples
    --------
    ``kc.Modes(dyn, ["left", "right"], mu=0.5).simulate((0, 2), x0).modes``
    """

    def __init__(
        self,
        dyn: Kernels,
        contacts: Sequence[str] | Mapping[str, Mapping[str, float]],
        *,
        origin: Sequence[float] = (0.0, 0.0, 0.0),
        normal: Sequence[float] = (0.0, 1.0, 0.0),
        along: Sequence[float] = (1.0, 0.0, 0.0),
        mu: float = 0.0,
        e: float = 0.0,
        rest: float = 1e-3,
    ) -> None:
        if dyn.n_constraints:
            raise ModelError(
                f"{dyn.name!r} has constraints, and Modes adds those of contacts itself: describe it without them, "
                "such as with model.free(...)"
            )
        if dyn.n_z:
            raise ModelError(
                f"{dyn.name!r} has the first-order states {', '.join(dyn.state_names)}, and Modes moves coordinates "
                "and speeds alone: take compliant contacts, kc.Contact, with simulate"
            )
        named = {contacts: {}} if isinstance(contacts, str) else contacts
        named = named if isinstance(named, Mapping) else {name: {} for name in named}
        if 2 * len(named) > MOST_ROWS:
            raise ValueError(f"{len(named)} contacts; at most {MOST_ROWS // 2} are decided at once: leave some out")
        for name, law in named.items():
            if name not in dyn.points:
                raise unknown_name("point", name, dyn.points)
            for key in law:
                if key not in _LAWS:
                    raise unknown_name(f"number of contact {name!r} is called", key, _LAWS)
        self._dyn, self._names = dyn, tuple(named)
        self._mu = np.array([_number(f"mu of {name}", law.get("mu", mu)) for name, law in named.items()])
        self._e = np.array([_number(f"e of {name}", law.get("e", e)) for name, law in named.items()])
        self._rest = _number("rest", rest)
        self._origin = np.asarray(origin, dtype=float)
        self._axes = np.array([normal, along], dtype=float)
        if self._axes.shape != (2, 3) or np.abs(self._axes @ self._axes.T - np.eye(2)).max() > EQUAL:
            raise ValueError("normal and along must be two unit vectors at right angles, such as (0, 1, 0), (1, 0, 0)")

    def simulate(
        self,
        t_span: tuple[float, float],
        x0: _Values,
        *,
        rtol: float = 1e-9,
        atol: float = 1e-10,
        max_step: float = np.inf,
    ) -> ModeRun:
        """The motion from x0, with SciPy's DOP853 between events.

        Parameters
        ----------
        t_span : (float, float)
        x0 : array_like, (n_x,), or mapping by name
            Points whose gap is less than 1e-9 m and does not open are in contact.
        rtol, atol, max_step : float
            As for SciPy's ``solve_ivp``.

        Returns
        -------
        ModeRun

        Raises
        ------
        ModelError
            A point is below the ground; no modes satisfy the laws, as in Painlevé's paradox.
        IntegrationError
            The modes change more than 10,000 times.
        """
        t, end = map(float, t_span)
        x = state_of(self._dyn, t, x0, None, None).x.copy()
        gaps = self._gaps(t, x)
        if (gaps < -1e-9).any():
            below = self._names[int(np.argmin(gaps))]
            raise ModelError(f"contact {below!r} is {-gaps.min():.3g} m below the ground at t = {t:g}: lift x0")
        closed = [i for i in range(len(gaps)) if gaps[i] < 1e-9]
        run, times, states = ModeRun(np.empty(0), np.empty((0, len(x)))), [np.array([t])], [x[np.newaxis]]
        x, closed = self._struck(t, x, closed, run) if closed else (x, closed)
        modes = self._decided(t, x, closed, {})
        for _ in range(_MOST_CHANGES):
            if t >= end:
                run.t, run.x = np.concatenate(times), np.concatenate(states)
                return run
            run.modes.append((t, dict(zip(self._names, modes, strict=True))))
            leg = _Leg(self, modes)
            part = leg.integrated(t, end, x, rtol, atol, max_step)
            times.append(part.t)
            states.append(part.y.T)
            t, x = float(part.t[-1]), part.y[:, -1]
            if part.status != 1:
                run.t, run.x = np.concatenate(times), np.concatenate(states)
                return run
            modes, x = self._changed(
                t, x, modes, [w for w, at in zip(leg.watched, part.t_events, strict=True) if len(at)], run
            )
        raise IntegrationError(f"the contacts of {self._dyn.name!r} changed {_MOST_CHANGES} times until t = {t!r}")

    # ------------------------------------------------------------------------------------------- changes

    def _changed(
        self, t: float, x: Array, modes: Sequence[str], events: Sequence[tuple[str, int]], run: ModeRun
    ) -> tuple[list[str], Array]:
        """Modes after events, and the state after their impact."""
        closed = [i for i, mode in enumerate(modes) if mode != OPEN]
        landed = [i for what, i in events if what == "gap"]
        choices: Choices = {}
        if landed:
            x, closed = self._struck(t, x, sorted({*closed, *landed}), run)
        else:
            for what, i in events:
                choices[i] = {"lift": (OPEN,), "grip": (FORTH, BACK, OPEN), "slip": (STICK, FORTH, BACK, OPEN)}[what]
        return self._decided(t, x, closed, choices), x

    def _struck(self, t: float, x: Array, closed: list[int], run: ModeRun) -> tuple[Array, list[int]]:
        """The state after an impact of the contacts that are closed, and those that are closed then."""
        rows = np.concatenate([self._rows(t, x, i) for i in closed])
        before = self._speeds(t, x, closed)
        after = x
        if (before[:, 0] < 0.0).any():
            slow = (np.abs(before[:, 0]) <= self._rest).all()
            after = self._held(t, x, closed, rows, before) if slow else self._rebounding(t, x, closed, rows, before)
            run.impacts.append((t, x, after))
        speeds = self._speeds(t, after, closed)[:, 0]
        slow = EQUAL * max(1.0, np.abs(before).max())
        return after, [i for i, v in zip(closed, speeds, strict=True) if v <= slow]

    def _rebounding(self, t: float, x: Array, closed: Sequence[int], rows: Array, speeds: Array) -> Array:
        """The state after an impact with restitution and friction."""
        e = np.zeros(2 * len(closed))
        e[::2] = np.where(speeds[:, 0] < -self._rest, self._e[list(closed)], 0.0)
        mu = {2 * k + 1: (2 * k, self._mu[i]) for k, i in enumerate(closed)}
        return np.asarray(impact(self._dyn, t, x, rows, e, unilateral=True, mu=mu))

    def _held(self, t: float, x: Array, closed: Sequence[int], rows: Array, speeds: Array) -> Array:
        """The state in which contacts rest, by the least change in the metric of the masses; fast slips go on."""
        stops = np.abs(speeds) <= [self._rest, _SLOW_SLIP * self._rest]
        stops[:, 1] &= self._mu[list(closed)] > 0.0
        rows = rows[stops.ravel()]
        free = np.linalg.solve(self._dyn.mass_matrix(t, x), rows.T)
        u = x[self._dyn._speeds]
        change = free @ np.linalg.lstsq(rows @ free, rows @ u, rcond=RANK)[0]
        return np.concatenate([x[: self._dyn.n_q], u - change, x[self._dyn._states]])

    def _decided(self, t: float, x: Array, closed: Sequence[int], choices: Choices) -> list[str]:
        """The first modes that satisfy the laws, most contacts closed and sticking first; else ModelError."""
        options: list[tuple[str, ...]] = [(OPEN,)] * len(self._names)
        speeds = dict(zip(closed, self._speeds(t, x, closed)[:, 1], strict=True)) if closed else {}
        slow = EQUAL * max(1.0, np.abs(x[self._dyn._speeds]).max(initial=0.0))
        for i in closed:
            ways = (STICK, FORTH, BACK) if abs(speeds[i]) <= slow else (FORTH,) if speeds[i] > 0.0 else (BACK,)
            options[i] = choices.get(i, (*ways, OPEN))
        for modes in _most_closed_first(options):
            leg = _Leg(self, modes)
            if leg.holds(t, x, closed):
                return list(modes)
        raise ModelError(
            f"no modes of the contacts of {self._dyn.name!r} satisfy the laws at t = {t!r}, x = {x.tolist()!r}: with "
            "so much friction rigid bodies may have no motion (Painlevé); take less mu, or compliant contacts, "
            "kc.Contact"
        )

    # ----------------------------------------------------------------------------------------- kinematics

    def _gaps(self, t: float, x: Array) -> Array:
        places = np.array([position(self._dyn, name, t, x) for name in self._names])
        return np.asarray((places - self._origin) @ self._axes[0])

    def _rows(self, t: float, x: Array, i: int) -> Array:
        """Rows n and t of a contact, (2, n_u)."""
        return np.asarray(self._axes @ jacobian(self._dyn, self._names[i], t, x))

    def _speeds(self, t: float, x: Array, contacts: Sequence[int]) -> Array:
        """Velocities (k, 2) of contacts, normal to the ground and along it."""
        return np.array([self._axes @ velocity(self._dyn, self._names[i], t, x) for i in contacts])

    def _bias(self, t: float, x: Array, i: int) -> Array:
        """Accelerations of a contact at u̇ = 0, normal to the ground and along it."""
        return np.asarray(self._axes @ acceleration(self._dyn, self._names[i], t, x, np.zeros(self._dyn.n_u)))


class _Leg:
    """Motion while contacts keep their modes."""

    def __init__(self, of: Modes, modes: Sequence[str]) -> None:
        self._of, self._modes = of, modes
        self._closed = [i for i, mode in enumerate(modes) if mode != OPEN]
        self.watched = [*self._watched()]

    def _watched(self) -> Iterator[tuple[str, int]]:
        for i, mode in enumerate(self._modes):
            if mode == OPEN:
                yield "gap", i
                continue
            yield "lift", i
            if mode == STICK and np.isfinite(self._of._mu[i]):
                yield "grip", i
            elif mode in _SIGN:
                yield "slip", i

    def _solved(self, t: float, x: Array) -> tuple[Array, dict[int, Array]]:
        """Accelerations u̇, and (λ, τ) of the closed contacts."""
        of, dyn = self._of, self._of._dyn
        mass, force = dyn.mass_matrix(t, x), dyn.forcing(t, x)
        rows, columns, bias = [], [], []
        for i in self._closed:
            (n, s), (a_n, a_t) = of._rows(t, x, i), of._bias(t, x, i)
            rows.append(n)
            bias.append(a_n)
            columns.append(n - of._mu[i] * _SIGN[self._modes[i]] * s if self._modes[i] in _SIGN else n)
            if self._modes[i] == STICK:
                rows.append(s)
                bias.append(a_t)
                columns.append(s)
        if not rows:
            return np.asarray(np.linalg.solve(mass, force), dtype=np.float64), {}
        A, C = np.array(rows), np.array(columns)
        free: Array = np.linalg.solve(mass, np.column_stack([force, C.T])).astype(np.float64)
        impulses = np.linalg.lstsq(A @ free[:, 1:], -(A @ free[:, 0] + bias), rcond=RANK)[0]
        found, k = {}, 0
        for i in self._closed:
            stuck = self._modes[i] == STICK
            tangent = impulses[k + 1] if stuck else -of._mu[i] * _SIGN[self._modes[i]] * impulses[k]
            found[i] = np.array([impulses[k], tangent])
            k += 1 + stuck
        return np.asarray(free[:, 0] + free[:, 1:] @ impulses, dtype=np.float64), found

    def holds(self, t: float, x: Array, touching: Sequence[int]) -> bool:
        """Test whether the modes satisfy the laws of contact and friction."""
        of = self._of
        udot, forces = self._solved(t, x)
        accelerations = {i: of._rows(t, x, i) @ udot + of._bias(t, x, i) for i in touching}
        weak = EQUAL * max((np.abs(f).max() for f in forces.values()), default=0.0)
        slow = EQUAL * max(1.0, np.abs(udot).max(initial=0.0))
        if any(np.abs(accelerations[i][0]) > 1e3 * slow for i in self._closed):
            return False  # rows that contradict each other
        for i in touching:
            mode, (a_n, a_t) = self._modes[i], accelerations[i]
            if mode == OPEN:
                if a_n < -slow:
                    return False
                continue
            normal, tangent = forces[i]
            if normal < -weak or (mode == STICK and abs(tangent) > of._mu[i] * max(normal, 0.0) + weak):
                return False
            begins = mode in _SIGN and abs(of._speeds(t, x, [i])[0, 1]) <= slow
            if begins and _SIGN[mode] * a_t < -slow:
                return False
        return True

    def integrated(self, t: float, end: float, x: Array, rtol: float, atol: float, max_step: float) -> Any:
        """SciPy's result until the first event."""
        from scipy.integrate import solve_ivp

        def slope(t: float, x: Array) -> Array:
            return np.concatenate([self._of._dyn.qdot(t, x), self._solved(t, x)[0]])

        floor = np.minimum(self._of._gaps(t, x), 0.0)  # a contact that opens is at zero but for rounding
        events = [self._event(what, i, floor[i]) for what, i in self.watched]
        first = min(_FIRST_STEP, end - t, max_step)  # by its end a gap that opens is open
        options = {"method": "DOP853", "rtol": rtol, "atol": atol, "max_step": max_step, "first_step": first}
        return solve_ivp(slope, (t, end), x, events=events, **options)

    def _event(self, what: str, i: int, floor: float) -> Callable[[float, Array], float]:
        of, mode = self._of, self._modes[i]

        def value(t: float, x: Array) -> float:
            if what == "gap":
                return float(of._gaps(t, x)[i] - floor)
            if what == "slip":
                return float(_SIGN[mode] * of._speeds(t, x, [i])[0, 1])
            normal, tangent = self._solved(t, x)[1][i]
            return float(normal if what == "lift" else of._mu[i] * normal - abs(tangent))

        value.terminal, value.direction = True, -1.0  # type: ignore[attr-defined]
        return value


def _most_closed_first(options: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    cost = {STICK: 0, FORTH: 1, BACK: 1, OPEN: 2}
    return sorted(product(*options), key=lambda modes: sum(cost[mode] for mode in modes))


def _number(what: str, value: Any) -> float:
    number = float(value)
    if not number >= 0.0:
        raise ValueError(f"{what} is {value!r}; it must be a number, not negative")
    return number
