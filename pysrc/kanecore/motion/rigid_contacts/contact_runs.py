# SPDX-License-Identifier: BSD-3-Clause
"""Rigid contacts that open, close, stick and slide: smooth runs between events.

While contacts keep their modes, closed contacts are constraints, and sliding ones have Coulomb friction:

    M u̇ = f + Σ (n_i − μ s_i t_i) λ_i + Σ (n_j λ_j + t_j τ_j),      n·u̇ + ṅ·u = 0,    t_j·u̇ + ṫ_j·u = 0

with rows n_i, t_i of the velocities normal to the ground and along it, s_i the unit vector of the slip, and j the
contacts that stick.  In a plane motion t is one row, and s = ±1; in space t is two rows, and s turns with the slip.  A
run ends when a gap closes, λ falls to zero, |τ| reaches μ λ, or a slip ends.  If a gap closes, an impact follows.  The
next modes are the first that satisfy

    0 ≤ λ ⊥ a_n ≥ 0,      |τ| ≤ μ λ,      s·a_t ≥ 0 where a slip begins

(Glocker & Pfeiffer, *Multibody Dynamics with Unilateral Contacts*, 1996, chapter 6); there are few modes.  In space a
slip begins in the direction of its own acceleration.
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
from kanecore.motion.simulation_options import span
from kanecore.run.call_arguments import real_array
from kanecore.run.point_kinematics import acceleration, jacobian, position, velocity
from kanecore.tolerances import EQUAL, RANK

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["ModeRun", "Modes"]

Array = npt.NDArray[np.float64]
Choices = dict[int, tuple[str, ...]]  # possible modes of some contacts, in place of all

OPEN, STICK, FORTH, BACK, SLIDE = "open", "stick", "slide +", "slide -", "slide"
_SIGN = {FORTH: 1.0, BACK: -1.0}
_SLIDES = (FORTH, BACK, SLIDE)
_LAWS = ("mu", "e", "origin", "normal", "along")
_MOST_CHANGES = 10_000
_FIRST_STEP = 1e-6
_SLOW_SLIP = 10.0
"""Slip relative to `rest`: with friction, a slower slip ends together with the approach."""
_SLIP_ENDS = 1e-3
"""Slip relative to `rest`: a slower slip in space counts as zero, as its size seldom reaches zero."""
_CLOSED = 1e-13  # depth in m at which a gap is closed: a gap that opens by t³ is first negative by rounding
_TURNS = 50  # iterations for the direction of a beginning slip


@dataclass
class ModeRun:
    """A motion through several modes of contact.

    Attributes
    ----------
    t : ndarray, (N,)
        Times of the steps; times of events occur twice.
    x : ndarray, (N, n_x)
        States; at an event the state before and the state after it.
    modes : list of (float, dict of str to str)
        Start times of modes, with the mode of each contact: ``"open"``, ``"stick"``, ``"slide +"`` or ``"slide -"``; in
        space ``"slide"``.
    impacts : list of (float, ndarray, ndarray)
        Times of impacts, with the states before and after them.
    """

    t: Array
    x: Array
    modes: list[tuple[float, dict[str, str]]] = field(default_factory=list)
    impacts: list[tuple[float, Array, Array]] = field(default_factory=list)


class Modes:
    """Points in rigid contact with flat grounds, with dry friction and impacts.

    Parameters
    ----------
    dyn : CompiledModel
        A model without constraints, since contacts add their own.  First-order states are integrated, and constant in
        impacts.
    contacts : sequence of str, or mapping of str to dict
        Points of the model, at most six, in space four.  A dict gives a point its own ``mu``, ``e``, ``origin``,
        ``normal`` or ``along``, such as those of a wall.
    origin : (x, y, z)
        A point of the ground, in inertial axes.  Default: the origin.
    normal : (x, y, z)
        Unit vector out of the ground, in inertial axes.  Default: y.
    along : (x, y, z), or two of these
        The direction of slip in a plane motion, default: x; in space two directions at right angles, and friction acts
        against the slip.
    mu : float
        Coefficient of friction; ``math.inf``: contacts never slide.
    e : float
        Coefficient of restitution of the impacts.
    rest : float
        Approach speed, m/s, below which all touching contacts stay closed, so that bounces and rocking end.

    Raises
    ------
    ModelError
        The model has constraints, loads that depend on reactions, or states with rates in u̇.
    KeyError, ValueError
        There is no such point or law; a number is negative; there are too many contacts.

    Examples
    --------
    ``kc.Modes(dyn, ["left", "right"], mu=0.5).simulate((0, 2), x0).modes``; in space
    ``kc.Modes(dyn, feet, normal=(0, 0, 1), along=((1, 0, 0), (0, 1, 0)), mu=0.5)``; a ladder, on the ground and at a
    wall, ``kc.Modes(dyn, {"foot": {}, "top": {"normal": (1, 0, 0), "along": (0, 1, 0)}}, mu=0.3)``
    """

    def __init__(
        self,
        dyn: Evaluator,
        contacts: Sequence[str] | Mapping[str, Mapping[str, float]],
        *,
        origin: Sequence[float] = (0.0, 0.0, 0.0),
        normal: Sequence[float] = (0.0, 1.0, 0.0),
        along: Sequence[float] | Sequence[Sequence[float]] = (1.0, 0.0, 0.0),
        mu: float = 0.0,
        e: float = 0.0,
        rest: float = 1e-3,
    ) -> None:
        _refuse(dyn)
        named = {contacts: {}} if isinstance(contacts, str) else contacts
        named = named if isinstance(named, Mapping) else {name: {} for name in named}
        for name, law in named.items():
            if name not in dyn.points:
                raise unknown_name("point", name, dyn.points)
            if not isinstance(law, Mapping):
                raise TypeError(f"contacts[{name!r}] is {law!r}; write its law by name, such as {{'mu': 0.3}}")
            for key in law:
                if key not in _LAWS:
                    raise unknown_name(f"law of contact {name!r} is called", key, _LAWS)
        self._dyn, self._names = dyn, tuple(named)
        laws = list(named.values())
        self._axes = [_axes(law.get("normal", normal), law.get("along", along)) for law in laws]
        self._n = len(self._axes[0]) if self._axes else 2  # rows of a contact
        if any(len(axes) != self._n for axes in self._axes):
            raise ValueError("along is one direction for all contacts, in a plane motion, or two for all, in space")
        if self._n * len(named) > MOST_ROWS:
            most = MOST_ROWS // self._n
            raise ValueError(f"{len(named)} contacts; at most {most} are decided at once: leave some out")
        self._mu = np.array([_number(f"mu of {name}", law.get("mu", mu)) for name, law in named.items()])
        self._e = np.array([_number(f"e of {name}", law.get("e", e)) for name, law in named.items()])
        self._rest = _number("rest", rest)
        self._origins = [
            real_array("origin", law.get("origin", origin), (3,), meaning="a point of the ground") for law in laws
        ]
        self._in_space = self._n == 3

    def simulate(
        self,
        t_span: tuple[float, float],
        x0: Values,
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
            Initial state; points with a gap below 1e-9 m that does not open are in contact.
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
        t, end = span(t_span)
        if t > end:
            raise ValueError(f"t_span is {t_span!r}; it must not go back in time")
        if not (rtol > 0.0 and atol >= 0.0):
            raise ValueError(f"rtol must be positive and atol not negative; they are {rtol!r} and {atol!r}")
        x = state_of(self._dyn, t, x0, None, None).x.copy()
        gaps = self._gaps(t, x)
        if (gaps < -1e-9).any():
            below = self._names[int(np.argmin(gaps))]
            raise ModelError(f"contact {below!r} is {-gaps.min():.3g} m below the ground at t = {t:g}: lift x0")
        closed = [i for i in range(len(gaps)) if gaps[i] < 1e-9]
        run, times, states = ModeRun(np.empty(0), np.empty((0, len(x)))), [np.array([t])], [x[np.newaxis]]
        x, closed = self._struck(t, x, closed, run) if closed else (x, closed)
        leg = self._decided(t, x, closed, {})
        for _ in range(_MOST_CHANGES):
            if t >= end:
                run.t, run.x = np.concatenate(times), np.concatenate(states)
                return run
            run.modes.append((t, dict(zip(self._names, leg.modes, strict=True))))
            part = leg.integrated(t, end, x, rtol, atol, max_step)
            times.append(part.t)
            states.append(part.y.T)
            t, x = float(part.t[-1]), part.y[:, -1]
            if part.status != 1:
                run.t, run.x = np.concatenate(times), np.concatenate(states)
                return run
            happened = [w for w, at in zip(leg.watched, part.t_events, strict=True) if len(at)]
            leg, x = self._changed(t, x, leg.modes, happened, run)
        raise IntegrationError(f"the contacts of {self._dyn.name!r} changed {_MOST_CHANGES} times until t = {t!r}")

    # ------------------------------------------------------------------------------------------- changes

    def _changed(
        self, t: float, x: Array, modes: Sequence[str], events: Sequence[tuple[str, int]], run: ModeRun
    ) -> tuple[_Leg, Array]:
        """The next motion after events, and the state after their impact."""
        closed = [i for i, mode in enumerate(modes) if mode != OPEN]
        landed = [i for what, i in events if what == "gap"]
        choices: Choices = {}
        if landed:
            x, closed = self._struck(t, x, sorted({*closed, *landed}), run)
        else:
            slides = (SLIDE,) if self._in_space else (FORTH, BACK)
            for what, i in events:
                choices[i] = {"lift": (OPEN,), "grip": (*slides, OPEN), "slip": (STICK, *slides, OPEN)}[what]
            ended = [i for what, i in events if what == "slip"]
            if ended and self._in_space:
                x = self._without_slip(t, x, closed, ended)
        return self._decided(t, x, closed, choices), x

    def _struck(self, t: float, x: Array, closed: list[int], run: ModeRun) -> tuple[Array, list[int]]:
        """The state after an impact of the closed contacts, and the contacts that are closed then."""
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
        n = self._n
        e, rows = np.zeros(n * len(closed)), rows.copy()
        e[::n] = np.where(speeds[:, 0] < -self._rest, self._e[list(closed)], 0.0)
        mu = {n * k + j: (n * k, self._mu[i]) for k, i in enumerate(closed) for j in range(1, n)}
        if self._in_space:  # friction along and across the slip
            for k, (_, *slip) in enumerate(speeds):
                c, s = _unit(np.array(slip), np.array([1.0, 0.0]))
                rows[n * k + 1 : n * k + 3] = np.array([[c, s], [-s, c]]) @ rows[n * k + 1 : n * k + 3]
        return np.asarray(impact(self._dyn, t, x, rows, e, unilateral=True, mu=mu))

    def _held(self, t: float, x: Array, closed: Sequence[int], rows: Array, speeds: Array) -> Array:
        """The state with contacts at rest, by the least change in the metric of the masses; fast slips continue."""
        slips = np.linalg.norm(speeds[:, 1:], axis=1) <= _SLOW_SLIP * self._rest
        stops = np.repeat((slips & (self._mu[list(closed)] > 0.0))[:, np.newaxis], self._n, axis=1)
        stops[:, 0] = np.abs(speeds[:, 0]) <= self._rest
        return self._stopped(t, x, rows[stops.ravel()])

    def _without_slip(self, t: float, x: Array, closed: Sequence[int], ended: Sequence[int]) -> Array:
        """The state, by the least change, in which closed contacts do not open, and some do not slip."""
        parts = [self._rows(t, x, i)[: self._n if i in ended else 1] for i in closed]
        return self._stopped(t, x, np.concatenate(parts))

    def _stopped(self, t: float, x: Array, rows: Array) -> Array:
        """The state with B u = 0 for some rows B, by the least change in the metric of the masses."""
        free = np.linalg.solve(self._dyn.mass_matrix(t, x), rows.T)
        u = x[self._dyn.names.speeds]
        change = free @ np.linalg.lstsq(rows @ free, rows @ u, rcond=RANK)[0]
        return np.concatenate([x[: self._dyn.n_q], u - change, x[self._dyn.names.states]])

    def _decided(self, t: float, x: Array, closed: Sequence[int], choices: Choices) -> _Leg:
        """The first modes that satisfy the laws, most contacts closed and sticking first; ModelError without any."""
        options: list[tuple[str, ...]] = [(OPEN,)] * len(self._names)
        slips = dict(zip(closed, self._speeds(t, x, closed)[:, 1:], strict=True)) if closed else {}
        slow = self._slow(x)
        for i in closed:
            if self._in_space:
                ways: tuple[str, ...] = (STICK, SLIDE) if np.linalg.norm(slips[i]) <= slow else (SLIDE,)
            else:
                [slip] = slips[i]
                ways = (STICK, FORTH, BACK) if abs(slip) <= slow else (FORTH,) if slip > 0.0 else (BACK,)
            options[i] = choices.get(i, (*ways, OPEN))
        for modes in _most_closed_first(options):
            leg = _Leg(self, modes)
            leg.begin(t, x)
            if leg.holds(t, x, closed):
                return leg
        raise ModelError(
            f"no modes of the contacts of {self._dyn.name!r} satisfy the laws at t = {t!r}, x = {x.tolist()!r}: with "
            "so much friction rigid bodies may have no motion (Painlevé); use less mu, or compliant contacts, "
            "kc.Contact"
        )

    def _slow(self, x: Array) -> float:
        """Speed below which a contact counts as at rest."""
        return float(EQUAL * max(1.0, np.abs(x[self._dyn.names.speeds]).max(initial=0.0)))

    # ----------------------------------------------------------------------------------------- kinematics

    def _gaps(self, t: float, x: Array) -> Array:
        grounds = zip(self._names, self._axes, self._origins, strict=True)
        return np.array([axes[0] @ (position(self._dyn, name, t, x) - origin) for name, axes, origin in grounds])

    def _rows(self, t: float, x: Array, i: int) -> Array:
        """Rows n and t of a contact, (2 or 3, n_u)."""
        return np.asarray(self._axes[i] @ jacobian(self._dyn, self._names[i], t, x))

    def _speeds(self, t: float, x: Array, contacts: Sequence[int]) -> Array:
        """Velocities (k, 2 or 3) of contacts, normal to the ground and along it."""
        return np.array([self._axes[i] @ velocity(self._dyn, self._names[i], t, x) for i in contacts])

    def _bias(self, t: float, x: Array, i: int) -> Array:
        """Accelerations of a contact at u̇ = 0, normal to the ground and along it."""
        return np.asarray(self._axes[i] @ acceleration(self._dyn, self._names[i], t, x, np.zeros(self._dyn.n_u)))


class _Leg:
    """A smooth motion, while contacts keep their modes."""

    def __init__(self, owner: Modes, modes: Sequence[str]) -> None:
        self._owner, self.modes = owner, modes
        self._closed = [i for i, mode in enumerate(modes) if mode != OPEN]
        self._ways: dict[int, Array] = {}  # directions of slips that begin in space
        self.watched = [*self._watched()]

    def begin(self, t: float, x: Array) -> None:
        """Find the directions in which slips begin: the directions of their accelerations, from the friction before."""
        owner, slow = self._owner, self._owner._slow(x)
        begins = [i for i in self._closed if self.modes[i] == SLIDE and np.linalg.norm(self._slip(t, x, i)) <= slow]
        if not begins:
            return
        stuck = _Leg(owner, [STICK if i in begins else mode for i, mode in enumerate(self.modes)])
        held = stuck._solved(t, x)[1]
        self._ways = {i: _unit(-held[i][1:], np.array([1.0, 0.0])) for i in begins}
        for _ in range(_TURNS):
            udot = self._solved(t, x)[0]
            starts = {i: (owner._rows(t, x, i) @ udot + owner._bias(t, x, i))[1:] for i in begins}
            moving = max(1.0, np.abs(udot).max(initial=0.0)) * EQUAL
            ways = {
                i: _unit(a, self._ways[i]) if np.linalg.norm(a) > moving else self._ways[i] for i, a in starts.items()
            }
            turned = max(np.abs(ways[i] - self._ways[i]).max() for i in begins)
            self._ways = ways
            if turned <= EQUAL:
                return

    def _slip(self, t: float, x: Array, i: int) -> Array:
        return np.asarray(self._owner._speeds(t, x, [i])[0, 1:])

    def _way(self, t: float, x: Array, i: int) -> Array:
        """Unit vector of the slip of a contact, along the ground."""
        if self.modes[i] in _SIGN:
            return np.array([_SIGN[self.modes[i]]])
        slip, known = self._slip(t, x, i), self._ways.get(i)
        if known is not None and np.linalg.norm(slip) <= _SLIP_ENDS * self._owner._rest:
            return known
        return _unit(slip, np.zeros(2))

    def _watched(self) -> Iterator[tuple[str, int]]:
        for i, mode in enumerate(self.modes):
            if mode == OPEN:
                yield "gap", i
                continue
            yield "lift", i
            if mode == STICK and np.isfinite(self._owner._mu[i]):
                yield "grip", i
            elif mode in _SLIDES:
                yield "slip", i

    def _solved(self, t: float, x: Array) -> tuple[Array, dict[int, Array]]:
        """Accelerations u̇, and λ, then τ, of the closed contacts."""
        owner, dyn = self._owner, self._owner._dyn
        mass, force = dyn.mass_matrix(t, x), dyn.forcing(t, x)
        rows, columns, bias = list[Array](), list[Array](), list[float]()
        ways = {i: self._way(t, x, i) for i in self._closed if self.modes[i] in _SLIDES}
        for i in self._closed:
            (n, *along), (a_n, *a_t) = owner._rows(t, x, i), owner._bias(t, x, i)
            rows.append(n)
            bias.append(a_n)
            columns.append(n - owner._mu[i] * (ways[i] @ np.array(along)) if i in ways else n)
            if i not in ways:
                rows += along
                bias += a_t
                columns += along
        if not rows:
            return np.asarray(np.linalg.solve(mass, force), dtype=np.float64), {}
        A, C = np.array(rows), np.array(columns)
        free: Array = np.linalg.solve(mass, np.column_stack([force, C.T])).astype(np.float64)
        impulses = np.linalg.lstsq(A @ free[:, 1:], -(A @ free[:, 0] + bias), rcond=RANK)[0]
        found: dict[int, Array] = {}
        k = 0
        for i in self._closed:
            n = 1 if i in ways else owner._n
            tangent = -owner._mu[i] * impulses[k] * ways[i] if i in ways else impulses[k + 1 : k + n]
            found[i] = np.array([impulses[k], *tangent])
            k += n
        return np.asarray(free[:, 0] + free[:, 1:] @ impulses, dtype=np.float64), found

    def holds(self, t: float, x: Array, touching: Sequence[int]) -> bool:
        """Test whether the modes satisfy the laws of contact and friction."""
        owner = self._owner
        udot, forces = self._solved(t, x)
        accelerations = {i: owner._rows(t, x, i) @ udot + owner._bias(t, x, i) for i in touching}
        weak = EQUAL * max((np.abs(f).max() for f in forces.values()), default=0.0)
        slow = EQUAL * max(1.0, np.abs(udot).max(initial=0.0))
        if any(np.abs(accelerations[i][0]) > 1e3 * slow for i in self._closed):
            return False  # contradictory rows
        for i in touching:
            mode, (a_n, *a_t) = self.modes[i], accelerations[i]
            if mode == OPEN:
                if a_n < -slow:
                    return False
                continue
            normal, *tangent = forces[i]
            if normal < -weak or (mode == STICK and np.linalg.norm(tangent) > owner._mu[i] * max(normal, 0.0) + weak):
                return False
            begins = mode in _SLIDES and np.linalg.norm(self._slip(t, x, i)) <= slow
            if begins and self._way(t, x, i) @ np.array(a_t) < -slow:
                return False
        return True

    def integrated(self, t: float, end: float, x: Array, rtol: float, atol: float, max_step: float) -> Any:
        """SciPy's result until the first event."""
        from scipy.integrate import solve_ivp

        def slope(t: float, x: Array) -> Array:
            dyn = self._owner._dyn
            return np.concatenate([dyn.qdot(t, x), self._solved(t, x)[0], *([dyn.zdot(t, x)] if dyn.n_z else [])])

        floor = np.minimum(self._owner._gaps(t, x), 0.0) - _CLOSED  # an opening gap is zero to rounding
        events = [self._event(what, i, floor[i]) for what, i in self.watched]
        first = min(_FIRST_STEP, end - t, max_step)  # an opening gap is open at the end of the step
        options = {"method": "DOP853", "rtol": rtol, "atol": atol, "max_step": max_step, "first_step": first}
        return solve_ivp(slope, (t, end), x, events=events, **options)

    def _event(self, kind: str, i: int, floor: float) -> Callable[[float, Array], float]:
        owner, mode = self._owner, self.modes[i]

        def value(t: float, x: Array) -> float:
            if kind == "gap":
                return float(owner._gaps(t, x)[i] - floor)
            if kind == "slip":
                if mode == SLIDE:
                    return float(np.linalg.norm(self._slip(t, x, i)) - _SLIP_ENDS * owner._rest)
                return float(_SIGN[mode] * self._slip(t, x, i)[0])
            normal, *tangent = self._solved(t, x)[1][i]
            return float(normal if kind == "lift" else owner._mu[i] * normal - np.linalg.norm(tangent))

        value.terminal, value.direction = True, -1.0  # type: ignore[attr-defined]
        return value


def _refuse(dyn: Any) -> None:
    """Raise ModelError for constraints, and for loads or rates of states that depend on contact forces."""
    if dyn.n_constraints:
        raise ModelError(
            f"{dyn.name!r} has constraints, and Modes adds those of contacts itself: describe it without them, "
            "such as with model.free(...)"
        )
    compliant = "use compliant contacts, kc.Contact, with simulate"
    if dyn.sizes["reactions"]:
        raise ModelError(
            f"{dyn.name!r} has loads that depend on reactions, and contacts that open change these: {compliant}"
        )
    missing = (dyn.kernels.why_not("hessian_products") or "") if dyn.n_z else ""
    if missing.startswith("rates of its states"):
        raise ModelError(f"{missing.partition(',')[0]}, which the forces of contacts change: {compliant}")


def _most_closed_first(options: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    cost = {STICK: 0, FORTH: 1, BACK: 1, SLIDE: 1, OPEN: 2}
    return sorted(product(*options), key=lambda modes: sum(cost[mode] for mode in modes))


def _axes(normal: Any, along: Any) -> Array:
    """Unit vectors out of the ground and along it, (2 or 3, 3); ValueError for other vectors."""
    axes = np.vstack([np.asarray(normal, dtype=float), np.atleast_2d(np.asarray(along, dtype=float))])
    if axes.shape not in ((2, 3), (3, 3)) or np.abs(axes @ axes.T - np.eye(len(axes))).max() > EQUAL:
        raise ValueError(
            "normal and along must be two unit vectors at right angles, such as (0, 1, 0), (1, 0, 0); in space along "
            "holds two, such as ((1, 0, 0), (0, 0, 1))"
        )
    return axes


def _unit(v: Array, otherwise: Array) -> Array:
    """The unit vector along v; any unit vector if v is zero."""
    size = np.linalg.norm(v)
    return np.asarray(v / size) if size > 0.0 else otherwise


def _number(name: str, value: Any) -> float:
    number = float(value)
    if not number >= 0.0:
        raise ValueError(f"{name} is {value!r}; it must be a number, not negative")
    return number
