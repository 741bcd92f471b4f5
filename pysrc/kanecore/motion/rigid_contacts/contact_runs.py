# SPDX-License-Identifier: BSD-3-Clause
"""Rigid contacts that open, close, stick and slide: one run of the integrators, in which events change modes.

While contacts keep their modes, closed contacts are constraints, and sliding ones have Coulomb friction:

    M u̇ = f + Σ (n_i − μ s_i t_i) λ_i + Σ (n_j λ_j + t_j τ_j),      n·u̇ + ṅ·u = 0,    t_j·u̇ + ṫ_j·u = 0

with rows n_i, t_i of the velocities normal to the ground and along it, s_i the unit vector of the slip, and j the
contacts that stick.  In a plane motion t is one row, and s = ±1; in space t is two rows, and s turns with the slip.
``kc_contacts.c`` has this motion.  Its events are a gap that closes, λ that falls to zero, |τ| that reaches μ λ, and a
slip that ends.  Then the next modes are chosen (`mode_choice`), after an impact if a gap closes (`contact_impacts`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore import _motion
from kanecore.errors import IntegrationError, ModelError, warn
from kanecore.motion.derivatives.sensitivities import wanted_sensitivities
from kanecore.motion.events import Events, as_list
from kanecore.motion.initial_value_problem import InitialValueProblem, posed
from kanecore.motion.integration_failures import failure, outcome
from kanecore.motion.progress import reporting_time
from kanecore.motion.rigid_contacts.contact_impacts import Impacts
from kanecore.motion.rigid_contacts.contact_laws import Contact, read_contacts
from kanecore.motion.rigid_contacts.contact_results import Change, Leg, ModeRun
from kanecore.motion.rigid_contacts.contact_sensitivities import add_sensitivities, refuse_functions
from kanecore.motion.rigid_contacts.mode_choice import (
    BACK,
    CLOSED,
    FORTH,
    HELD,
    OPEN,
    SIGN,
    SLIDE,
    SLIDES,
    STICK,
    Choice,
)
from kanecore.motion.rigid_contacts.switches import read_switches, switch_events
from kanecore.motion.scipy_and_sundials import OUTSIDE_METHODS
from kanecore.motion.simulation_options import (
    MAX_STEPS,
    longest_step,
    own_methods_only,
    recording,
    result_times,
    sample_period,
    span,
    step_length,
    step_limit,
    tolerances,
)

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["Course", "ModeRun", "Modes"]

Array = npt.NDArray[np.float64]

_TOUCHES = 1e-9  # of the terms of a gap: a smaller one is closed at the start, or where others close
_BELOW = 1e-13  # of the terms of a gap, OF_PLACES of kc_contacts.c: an open contact below is an event
_STILL = 1e-12  # of the terms of a speed
_BEYOND = 1e3  # times a slip that is zero with rounding: a faster one has its own direction
_SLOW = 1e4  # times atol: a slip that begins or ends in space keeps its direction so long
_ERROR = 1e-2  # of a slow slip: a slower one has the size of errors
_STIFF = 0.1  # of a slow slip: the error of one that begins, which friction turns stiffly
_ENDS_TOO = 1e-5  # of the slip before: a slower one ends together with another one
_HOLDS = 1e-6  # of the terms of a gap or a speed: a smaller one is zero where a switch goes on
_MOST_AT_ONCE = 100  # changes of modes without progress of time


class Modes:
    """Points in rigid contact with flat grounds, with dry friction and impacts.

    Parameters
    ----------
    dyn : CompiledModel
        A model without the contacts.  It may have constraints.  First-order states are constant in impacts.
    contacts : sequence of str, or mapping of str to dict
        Points of the model.  A dict gives a point its own laws: ``mu``, ``mu_static``, ``e``, ``origin``, ``normal``,
        ``along``, such as those of a wall; ``frame``, in which its plane is fixed; and ``point``, if the contact has
        another name.  ``holds``: once closed the contact pulls as well, and neither opens nor slips, as at a capture.
        In place of a point ``gap`` is what is never negative, an expression or the name of an output: the slack of a
        rope, the way to an end stop; or ``rate`` is a velocity that is never negative, as of a ratchet.
    switches : mapping of str to dict, optional
        Constraints of the model, by name, that are on and off in turn.  ``{}``: the constraint is never negative, and
        is on while its force pushes, as of a rope or an end stop, with restitution ``e``.  ``{"on": event, "off":
        event}``: between events it is on, and its force has any sign.  An event is what `simulate` takes as one, a
        time, ``"gap"``, where the constraint falls to zero, ``"force"``, where its force falls to zero, or a list of
        these.  At the start the constraint is as ``starts`` says, ``"on"`` or ``"off"``, or as its last time until
        then; without these it is on if it holds there.
        ``in_place``: it keeps the value that it has when it switches on, which need not be zero.  ``rows``: names of
        constraints that switch together; without it those that begin with the name and a comma, as of a loop.  Switches
        with the same event turn together.
    origin : (x, y, z), or str
        A point of the ground, in inertial axes; or the name of a point of the model on it, which may move.  Default:
        the origin.
    normal : (x, y, z)
        Unit vector out of the ground, in axes of ``frame``, or in inertial axes.  Default: y.
    along : (x, y, z), or two of these
        The direction of slip in a plane motion, default: x; in space two directions at right angles, and friction acts
        against the slip.
    mu : float
        Coefficient of friction; ``math.inf``: contacts never slide.
    e : float
        Coefficient of restitution of the impacts.
    impact : {"newton", "poisson"}
        What e is a ratio of: speeds after and before an impact, or impulses of its expansion and its compression.  They
        differ where several contacts take part, and with friction; energy grows by neither.
    rest : float, optional
        Approach speed below which all touching contacts stay closed, so that bounces and rocking end.  Default: 1e-6 of
        the largest approach speed of the contact in the run.

    Raises
    ------
    ModelError
        The model has loads that depend on reactions, or states with rates in u̇.
    KeyError, ValueError
        There is no such point, frame, law or constraint; a number is negative.

    Examples
    --------
    ``kc.Modes(dyn, ["left", "right"], mu=0.5).simulate((0, 2), x0).modes``; in space
    ``kc.Modes(dyn, feet, normal=(0, 0, 1), along=((1, 0, 0), (0, 1, 0)), mu=0.5)``; a ladder, on the ground and at a
    wall, ``kc.Modes(dyn, {"foot": {}, "top": {"normal": (1, 0, 0), "along": (0, 1, 0)}}, mu=0.3)``; on a wedge,
    ``kc.Modes(dyn, {"block": {"origin": "tip", "frame": "wedge"}})``; a rope, ``kc.Modes(dyn, {"rope": {"gap": l -
    r}})``; a constraint that is off from 2 s to 3 s, ``kc.Modes(dyn, switches={"rod": {"off": 2.0, "on": 3.0}})``
    """

    def __init__(
        self,
        dyn: Evaluator,
        contacts: Sequence[str] | Mapping[str, Mapping[str, Any]] = (),
        *,
        switches: Mapping[str, Mapping[str, Any]] | None = None,
        origin: Sequence[float] | str = (0.0, 0.0, 0.0),
        normal: Sequence[float] = (0.0, 1.0, 0.0),
        along: Sequence[float] | Sequence[Sequence[float]] = (1.0, 0.0, 0.0),
        mu: float = 0.0,
        e: float = 0.0,
        impact: str = "newton",
        rest: float | None = None,
    ) -> None:
        _refuse(dyn)
        common = {"origin": origin, "normal": normal, "along": along, "mu": mu, "e": e}
        self.dyn, self.contacts = dyn, read_contacts(dyn, contacts, common)
        self._described, n = dyn, len(self.contacts)
        self.switches, self.switched = [], list[range]()
        if switches:
            from kanecore.emit.freed_model import constraint_kinds, freed_model

            kinds = constraint_kinds(dyn)
            self.switches = read_switches(dyn, switches, kinds)
            for switch in self.switches:
                self.contacts += switch.contacts(kinds)
                self.switched.append(range(len(self.contacts) - len(switch.rows), len(self.contacts)))
            self.dyn = freed_model(dyn, [row for switch in self.switches for row in switch.rows])
        taken = [contact.name for contact in self.contacts[:n]] + [switch.name for switch in self.switches]
        for name in taken:
            if taken.count(name) > 1:
                raise ValueError(f"a contact and a switch are called {name!r}: give the contact another name")
        if rest is not None and not rest >= 0.0:
            raise ValueError(f"rest is {rest!r}; it must be a speed, not negative")
        if impact not in ("newton", "poisson"):
            raise ValueError(f"impact is {impact!r}; it must be 'newton' or 'poisson'")
        self.rest, self.impact = rest, impact
        self._rows: Evaluator | None = None

    @property
    def named(self) -> list[Contact]:
        """The contacts, and each switch as one contact of all its rows."""
        switches = [
            replace(self.contacts[rows[0]], axes=np.zeros((len(rows), 3)), constraint=", ".join(switch.rows))
            for switch, rows in zip(self.switches, self.switched, strict=True)
        ]
        return [contact for contact in self.contacts if not contact.constraint] + switches

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_rows": None}  # which are derived anew

    def numbers(self, problem: InitialValueProblem, slow: float = 0.0) -> _motion.Contacts:
        """The contacts of a run, for the integrators; a slower slip in space begins or ends."""
        if self._rows is None:
            from kanecore.emit.contact_rows import contact_rows

            self._rows = contact_rows(self._described, self.contacts)
        lengths = [len(contact.axes) for contact in self.contacts]
        placed = [1 - contact.is_rate + 2 * (not contact.watched) for contact in self.contacts]
        mu, mu_kin = [c.mu_static for c in self.contacts], [c.mu for c in self.contacts]
        numbers = _motion.Contacts(self.dyn, self._rows, lengths, placed, mu, mu_kin, problem.p, problem.rank)
        numbers.slow = slow
        return numbers

    def simulate(
        self,
        t_span: tuple[float, float],
        x0: Values,
        *,
        method: str = "auto",
        rtol: float = 1e-9,
        atol: Values = 1e-10,
        dt: float | None = None,
        t_eval: npt.ArrayLike | None = None,
        events: Any = (),
        inputs: Any = None,
        sample_time: float | None = None,
        parameters: Any = None,
        max_step: float = np.inf,
        first_step: float | None = None,
        max_steps: int | None = MAX_STEPS,
        dense_output: bool | None = None,
        sensitivities: Any = None,
        progress: Any = False,
    ) -> ModeRun:
        """The motion from x0.  The parameters are those of `CompiledModel.simulate`.

        Parameters
        ----------
        t_span : (float, float)
            Start and end, s.  It goes forward: which motion led to an impact, or to rest, is not unique.
        x0 : array_like, (n_x,), or mapping by name
            Initial state.  Points whose gap is zero to rounding, 1e-9 of its terms, are in contact unless they leave.
        method : str
            All but those of other packages.  The default becomes implicit where a slip in space turns fast, as it
            begins at several points.
        rtol, atol, dt, t_eval, events, inputs, sample_time, parameters, max_step, first_step, max_steps : optional
        dense_output, progress : optional
        sensitivities : list of "x0", "p", "r", optional
            Find the derivatives of states, of times of events and of changes of modes, ``run.modes_sensitivities``,
            with the modes that the run has.  They are differences of motions nearby, with eight digits or so.

        Returns
        -------
        ModeRun

        Raises
        ------
        ModelError
            A point is below the ground; no modes satisfy the laws, as in Painlevé's paradox.
        IntegrationError
            The modes change again and again at one time.  With `sensitivities`: a change has no derivative, since a
            function grazes zero, or since the order of changes at one time is not unique.

        Warns
        -----
        KanecoreWarning
            Several motions satisfy the laws, as in Painlevé's paradox.
        """
        t0, t1 = span(t_span)
        if t0 > t1:
            raise ValueError(
                f"t_span is {t_span!r}; it must not go back in time: which motion led to rest or to an impact is not "
                "unique"
            )
        if method in OUTSIDE_METHODS:
            own_methods_only(method, contacts=True)
        smallest = _motion.smallest_step(t0, t1)
        step = step_length(method, dt, first_step, smallest)
        relative, absolute = tolerances(self.dyn, rtol, atol)
        wanted = None if sensitivities is None else wanted_sensitivities(sensitivities)
        if wanted is not None and dense_output is not None and not dense_output:
            raise ValueError("sensitivities need the steps of the run: leave out dense_output=False")
        keeps = True if wanted is not None else dense_output
        records = recording(None if t_eval is None else result_times(t_eval, t0, t1), keeps)
        longest, limit = longest_step(max_step, smallest), step_limit(max_steps)
        for kind in ("parameter", "input") if self.switches else ():
            values = zip(self._described.names.of(kind), self._described.names.current(kind), strict=True)
            self.dyn.names.set(kind, {name: value for name, value in values if np.isfinite(value)})
        problem = posed(self.dyn, (t0, t1), x0, inputs, parameters, True, sample_period(sample_time, smallest))
        if wanted is not None:
            refuse_functions(problem)
        small = float(absolute.max())
        course = Course(self, problem, small)
        x = course.begin()
        own = switch_events(self.switches, course.turn)
        watched = Events(problem, [*as_list(events), *own], course.numbers, course.changed, course.chosen_anew)
        self._refuse_forced(watched)
        with reporting_time(progress, t0, t1) as report:
            run = _motion.integrate(
                self.dyn,
                {"rosenbrock": "rosenbrock_w", "auto": "auto_w"}.get(method, method),
                t0,
                t1,
                x,
                rtol=relative,
                atol=absolute,
                step=step,
                max_step=longest,
                max_steps=limit,
                watch=watched.watch,
                contacts=course.numbers,
                **problem.arguments,
                **vars(records),
                report=report,
            )
        result = ModeRun(problem, method, run, outcome(self.dyn, method, run, records), watched)
        n = len(watched) - len(own)
        result.t_events, result.y_events = watched.times[:n], watched.states[:n]
        result.contacts, result.modes, result.undetermined = self.named, course.modes, course.undetermined
        result.impacts, result.impulses = course.impacts.found, course.impacts.impulses
        result.legs, result.numbers = course.legs, partial(self.numbers, problem, course.numbers.slow)
        if run.error is not None:
            vars(run.error)["trajectory"] = result
            raise run.error
        if not result.success:
            raise failure(problem, run, result)
        if wanted is not None:
            adaptive = {"auto": "auto_w", "rosenbrock": "rosenbrock_w"}.get(method, method if dt is None else "dop853")
            add_sensitivities(result, wanted, course, lambda p: Course(self, p, small), watched, n, adaptive)
        return result

    def _refuse_forced(self, watched: Events) -> None:
        """Raise ModelError for events by outputs that depend on what contacts change."""
        seen = [self.dyn.output_names[what] for kind, what in (event.source for event in watched) if kind == "output"]
        if seen:
            from kanecore.emit.contact_rows import forced_outputs

            if lost := [name for name in forced_outputs(self.dyn) if name in seen]:
                raise ModelError(
                    f"output {lost[0]!r} of {self.dyn.name!r} depends on accelerations or forces, which contacts "
                    "change, and cannot be an event: watch coordinates and speeds"
                )


class Course:
    """What the contacts of one run do: modes, their changes, impacts."""

    def __init__(self, owner: Modes, problem: InitialValueProblem, small: float) -> None:
        self.owner, self.problem, self._small = owner, problem, small
        self.contacts: list[Contact] = owner.contacts
        self.numbers = owner.numbers(problem, _SLOW * small)
        self.lengths = [len(contact.axes) for contact in self.contacts]
        self.n_c = problem.dyn.n_constraints
        self.first = np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(int)  # rows of the speeds
        self.mu = np.array([max(contact.mu, contact.mu_static) for contact in self.contacts])
        self.mu_static = np.array([contact.mu_static for contact in self.contacts])
        self.now: tuple[str, ...] = (OPEN,) * len(self.contacts)
        self.modes: list[tuple[float, dict[str, str]]] = []
        self.undetermined: list[tuple[float, tuple[str, ...]]] = []
        self.impacts = Impacts(self)
        self.legs: list[Leg] = []
        self.scale = np.zeros(0)
        self.begins = [False] * len(self.contacts)
        self.path: list[Change] = []
        self._struck: Sequence[int] = ()
        self._guess = np.zeros(self.n_c + sum(self.lengths))
        self._slipped = np.zeros(len(self.contacts))
        self._at_once, self._last, self._now = 0, np.nan, problem.t0
        self._turned: dict[int, bool] = {}

    # ------------------------------------------------------------------------------------------- numbers
    def at(self, t: float, x: Array) -> None:
        """Evaluate the contacts at a state."""
        self.numbers.at(t, np.ascontiguousarray(x), np.ascontiguousarray(self.problem.inputs(t, x), dtype=np.float64))
        self.scale, self._now = self.numbers.speed_terms, t

    @property
    def normal_speeds(self) -> Array:
        return np.asarray(self.numbers.speeds[self.first])

    @property
    def slow(self) -> Array:
        """Normal speeds that are rounding."""
        return np.asarray(_STILL * self.scale[self.first])

    def slip(self, i: int) -> Array:
        row = self.first[i]
        return np.asarray(self.numbers.speeds[row + 1 : row + self.lengths[i]])

    @property
    def slips(self) -> Array:
        """The sizes of all slips."""
        return np.array([np.linalg.norm(self.slip(i)) for i in range(len(self.contacts))])

    def is_slow(self, i: int) -> bool:
        """Test whether the slip of a contact is zero to rounding, beside its terms or what these would make of it.

        A body at rest has speeds that are rounding alone, of terms that are as small.
        """
        c, n = self.numbers, self.lengths[i]
        speeds, pushes = self.first[i], self.n_c + self.first[i]
        rounding = _STILL * np.linalg.norm(self.scale[speeds + 1 : speeds + n])
        terms = np.maximum(c.terms, c.sizes)[pushes + 1 : pushes + n]
        gained = _STILL * np.linalg.norm(terms) * abs(self._now - c.since)
        return bool(np.linalg.norm(self.slip(i)) <= rounding + gained)

    # ------------------------------------------------------------------------------------------- changes
    def begin(self) -> Array:
        """The start, in its modes."""
        t, x = self.problem.t0, self.problem.x0
        self.at(t, x)
        c = self.numbers
        lowest = -(_TOUCHES * c.gap_terms + 10 * self._small)
        for i, contact in enumerate(self.contacts):
            if c.gaps[i] < lowest[i] and contact.watched and not (contact.constraint and contact.holds):
                raise ModelError(
                    f"contact {contact.name!r} is {-c.gaps[i]:.3g} m below the ground at t = {t:g}: lift x0"
                    if contact.point
                    else f"{contact.name!r} is {c.gaps[i]:.3g} at t = {t:g}, and is never negative: change x0"
                )
        touching = [
            i
            for i, contact in enumerate(self.contacts)
            if (not contact.constraint or (contact.watched and not contact.holds))
            and c.gaps[i] <= _TOUCHES * c.gap_terms[i]
        ]
        for switch, rows in zip(self.owner.switches, self.owner.switched, strict=True):
            starts = switch.at_start(t)
            if starts or (starts is None and self._holds(rows)):
                touching += self._zero(t, rows, switch)
            elif starts is False:
                touching = [i for i in touching if i not in rows]
        touching = sorted({*touching})
        known = self._known(t, x, "start")
        return self._noted(known, self._settled(t, x, touching, {}, ()))

    def _known(self, t: float, x: Array, kind: str, number: int = -1) -> dict[str, Any]:
        """What is known before a change."""
        self._struck = ()
        return {
            "t": t,
            "kind": kind,
            "number": number,
            "before": x.copy(),
            "now": self.now,
            "fastest": self.impacts.fastest.copy(),
            "again": self._last == t,
        }

    def _noted(self, known: dict[str, Any], x: Array) -> Array:
        """The state after a change, which is kept for derivatives."""
        self.path.append(Change(**known, after=x.copy(), struck=self._struck))
        return x

    def repeated(self, change: Change, leg: Leg, t: float, x: Array) -> Array:
        """The state after a change of another run to the modes of a leg, from a state that is nearly the one before."""
        if len(change.struck):
            self.impacts.fastest[:] = change.fastest
            self.at(t, x)
            x = self.impacts.after(t, x, change.struck)
        leg.set(self.numbers)
        r = np.ascontiguousarray(self.problem.inputs(t, x), dtype=np.float64)
        return np.asarray(self.numbers.projected(t, np.ascontiguousarray(x), r))

    def changed(self, k: int, t: float, x: Array) -> Array | None:
        """The state after function k of the contacts became negative; None if that was dealt with."""
        i, mode = k // 2, self.now[k // 2]
        what = "gap" if mode == OPEN else "lift" if k % 2 == 0 else "grip" if mode == STICK else "slip"
        self.at(t, x)
        c = self.numbers
        c.solve(c.start)
        self._guess = c.force.copy()
        if self._last == t:
            if c.laws()[i, k % 2] > 0.0 or (what == "gap" and self.normal_speeds[i] >= -self.slow[i]):
                return None  # an earlier change at this time dealt with it
            self._at_once += 1
            if self._at_once > _MOST_AT_ONCE:
                raise IntegrationError(
                    f"the contacts of {self.owner.dyn.name!r} changed {self._at_once} times at t = {t!r}, at last "
                    f"{self.contacts[i].name!r}, from {mode!r}"
                )
        else:
            self._at_once = 0
        if what == "gap" and self._just_left(i, t):
            return None
        if what == "slip" and self.lengths[i] == 3 and (not c.directions[i].any() or self.slips[i] > c.slow):
            known = self._known(t, x, "way", k)
            # a slow slip keeps the direction in which it ends; that of one that has begun is its own
            c.directions[i] = 0.0 if c.directions[i].any() else _unit(self.slip(i))
            self.legs.append(replace(self.legs[-1], t=t, directions=c.directions.copy()))
            return self._noted(known, x)
        near = [j for j in range(len(c.gaps)) if j == i or self.now[j] != OPEN or self._closes(j)]
        against = self.lengths[i] == 2 and c.force[self.n_c + self.first[i] + 1] > 0.0  # of the slip that begins
        slides = (SLIDE,) if self.lengths[i] == 3 else (BACK, FORTH) if against else (FORTH, BACK)
        choices = {"lift": (OPEN,), "grip": (*slides, OPEN), "slip": (STICK, *slides, OPEN), "gap": None}[what]
        if what == "gap" and self.contacts[i].is_rate:  # the speed is zero, with rounding of any sign
            choices = (self._ways(i, False)[0], OPEN)
        ended = [i, *(j for j in near if self._ends(t, j))] if what == "slip" else []
        known = self._known(t, x, "law", k)
        return self._noted(known, self._settled(t, x, near, {} if choices is None else {i: choices}, ended))

    def _just_left(self, i: int, t: float) -> bool:
        """Test whether an open latch leaves the place where it let go, to the side on which it closes."""
        c, contact = self.numbers, self.contacts[i]
        way = abs(self.normal_speeds[i]) * (t - c.since)
        return bool(contact.constraint and contact.holds and way <= _TOUCHES * max(c.gap_terms[i], self._small))

    def _closes(self, i: int) -> bool:
        """Test whether an open contact is about to close."""
        c, contact = self.numbers, self.contacts[i]
        gap = abs(c.gaps[i]) if contact.constraint else c.gaps[i]
        return bool(contact.watched and gap <= _TOUCHES * c.gap_terms[i] and self.normal_speeds[i] < 0.0)

    # ------------------------------------------------------------------------------------------ switches
    def turn(self, turns: Sequence[tuple[int, bool]]) -> bool:
        """Let switches go on or off with the next `chosen_anew`; return whether it is a change."""
        now = [any(self.now[i] != OPEN for i in rows) for rows in self.owner.switched]
        self._turned = {number: on for number, on in turns if on != now[number]}
        return bool(self._turned)

    def chosen_anew(self, event: int, t: float, before: Array, x: Array) -> Array:
        """The state after a reset to x by an event, or after one of a switch, in modes that are chosen anew."""
        known = self._known(t, before, "switch" if self._turned else "event", event)
        self.at(t, x)
        c = self.numbers
        c.solve(c.start)
        self._guess = c.force.copy()
        touching = [i for i in range(len(self.contacts)) if self.now[i] != OPEN or self._closes(i)]
        for number, on in self._turned.items():
            rows = self.owner.switched[number]
            touching = [i for i in touching if i not in rows]
            touching += self._zero(t, rows, self.owner.switches[number]) if on else ()
        self._turned = {}
        self.now = tuple(mode if mode == HELD and i in touching else OPEN for i, mode in enumerate(self.now))
        return self._noted(known, self._settled(t, x, sorted(touching), {}, ()))

    def _holds(self, rows: range) -> bool:
        """Test whether the constraints of a switch hold at the state evaluated last."""
        speeds = np.abs(self.normal_speeds)
        return all(self._is_zero(i) and speeds[i] <= _HOLDS * self.scale[self.first[i]] for i in rows)

    def _is_zero(self, i: int) -> bool:
        c = self.numbers
        return bool(abs(c.gaps[i]) <= _HOLDS * c.gap_terms[i] + 10 * self._small or self.contacts[i].is_rate)

    def _zero(self, t: float, rows: range, switch: Any) -> range:
        """The contacts of a switch that goes on; ModelError if a constraint is not zero, and is to be."""
        for i in rows:
            if not self._is_zero(i):
                raise ModelError(
                    f"switch {switch.name!r} goes on at t = {t!r}, and its constraint {self.contacts[i].constraint!r} "
                    f"is {self.numbers.gaps[i]:.3g}, not 0: give an event where it is, or in_place=True"
                )
        return rows

    def _hits(self, i: int) -> bool:
        """Test whether a contact that touches changes the speeds at once."""
        if not self._pulls(i):
            return bool(self.now[i] == OPEN and self.normal_speeds[i] < -self.slow[i])
        rows = slice(self.first[i], self.first[i] + self.lengths[i])
        small = (_STILL if self.now[i] == OPEN else _TOUCHES) * self.scale[rows]
        return bool((np.abs(self.numbers.speeds[rows]) > small).any())

    def _pulls(self, i: int) -> bool:
        """Test whether a contact that touches is held, whatever its speed is."""
        return self.contacts[i].holds and bool(self.contacts[i].constraint or self.now[i] == HELD)

    def _placed(self, t: float, x: Array) -> Array:
        """The state at which closed contacts are closed, slips that begin are zero, and open contacts are not below."""
        c, modes, r = self.numbers, self.numbers.mode.copy(), self.problem.inputs(t, x)
        r, n_q = np.ascontiguousarray(r, dtype=np.float64), self.problem.dyn.n_q
        c.mode[self.begins] = np.minimum(modes[self.begins], 1)
        x = c.projected(t, x, r)
        self.at(t, x)
        low = c.gaps < -_BELOW * c.gap_terms
        low &= [
            mode == OPEN and each.watched and not each.constraint
            for mode, each in zip(self.now, self.contacts, strict=True)
        ]
        if low.any():  # they touched, and others that closed have moved them
            c.mode[low] = 2
            places = c.projected(t, x, r)[:n_q]
            c.mode[low] = 0
            x = c.projected(t, np.concatenate([places, x[n_q:]]), r)
            self.at(t, x)
        c.mode[:] = modes
        return x

    def _noise(self, i: int) -> float:
        """The size of a slip that begins at zero with rounding; in space friction turns it stiffly, with errors."""
        c = self.numbers
        error = _STIFF * c.slow if self.now[i] == SLIDE else 0.0
        return max(_BEYOND * float(np.linalg.norm(self.slip(i))), error) if self.begins[i] else 0.0

    def _ends(self, t: float, i: int) -> bool:
        """Test whether a slip in space ends with another one: all do as a body comes to rest."""
        if self.now[i] != SLIDE:
            return False
        row, c = self.n_c + self.first[i], self.numbers
        gained = np.linalg.norm(c.after[row + 1 : row + 3]) * (t - c.since)
        return bool(self.slips[i] <= max(_ENDS_TOO * (self._slipped[i] + gained), _ERROR * c.slow))

    def _settled(
        self, t: float, x: Array, touching: Sequence[int], choices: Mapping[int, tuple[str, ...]], ended: Sequence[int]
    ) -> Array:
        """Modes from t on, of contacts that touch, after an impact if they approach; the state in them."""
        hits = any(self._hits(i) for i in touching)
        if hits:
            self._struck = tuple(touching)
            x = self.impacts.after(t, x, touching)
            scale = self.impacts.scale
            self.at(t, x)
            self.scale = np.maximum(scale, self.scale)  # what is left of greater speeds is rounding
            choices, self.begins = {}, [False] * len(self.contacts)
            self._guess[:] = 0.0
        closed = [
            i
            for i in touching
            if (self.now[i] != OPEN and not hits)
            or self.normal_speeds[i] <= self.slow[i]
            or self._pulls(i)
            or (i in choices and self.now[i] == OPEN)
        ]
        self.now, told = self._chosen(t, x, closed, choices, ended)
        self._last, names = t, tuple(contact.name for contact in self.contacts)
        if hits or not self.modes or told != tuple(self.modes[-1][1].values()):
            self.modes.append((t, dict(zip(names, told, strict=True))))
        if self.numbers.dependent and self.now != (OPEN,) * len(self.now):
            free = tuple(name for name, mode in zip(names, self.now, strict=True) if mode != OPEN)
            if free not in (said for _, said in self.undetermined):
                self.undetermined.append((t, free))
        c, x = self.numbers, self._placed(t, x)
        c.since, self._slipped = t, self.slips
        c.noise[:] = [self._noise(i) for i in range(len(self.contacts))]
        kept = (values.copy() for values in (c.directions, c.noise, c.reference))
        self.legs.append(Leg(t, c.mode.copy(), *kept))
        return x

    def _chosen(
        self, t: float, x: Array, closed: Sequence[int], choices: Mapping[int, tuple[str, ...]], ended: Sequence[int]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Modes that satisfy the laws, and their names for users."""
        options: list[tuple[str, ...]] = [(OPEN,)] * len(self.contacts)
        begun = self.begins if t == self._last else [False] * len(self.contacts)  # at this time, and nothing moved
        self.begins = begins = [False] * len(self.contacts)
        for i in closed:
            begins[i] = self.lengths[i] > 1 and (i in ended or begun[i] or self.is_slow(i) or self._sticks(i))
            ways = self._ways(i, begins[i])
            if i in choices and begins[i]:
                ways = tuple(mode for mode in choices[i] if mode != OPEN)
            options[i] = ways if choices.get(i) != (OPEN,) else ()
            options[i] = (*options[i], OPEN) if options[i] != (HELD,) else (HELD,)
        c = self.numbers
        choice = Choice(c, self.lengths, c.start.copy(), c.terms.copy(), options, begins, self.mu_static, self._guess)
        modes = choice.first()
        if modes is None and choices:  # the mode that ends may hold, at the limit of its law
            return self._chosen(t, x, closed, {}, ended)
        if modes is None:
            raise ModelError(
                f"no modes of the contacts of {self.owner.dyn.name!r} satisfy the laws at t = {t!r}, "
                f"x = {x.tolist()!r}: with so much friction rigid bodies may have no motion (Painlevé); use less mu, "
                "or compliant contacts, kc.Contact"
            )
        if choice.may_be_several(self.mu):
            modes = self._of_several(t, choice, modes)
        return modes, choice.settled(modes)

    def _sticks(self, i: int) -> bool:
        return self.now[i] == STICK

    def _ways(self, i: int, begins: bool) -> tuple[str, ...]:
        """Modes of a closed contact, by its slip."""
        n = self.lengths[i]
        if self.contacts[i].holds:
            return (HELD,)
        if n == 1:
            return (CLOSED,)
        if np.isinf(self.contacts[i].mu):
            return (STICK,)
        if begins:
            return (STICK, SLIDE) if n == 3 else (STICK, FORTH, BACK)
        if n == 3:
            return (SLIDE,)
        return (FORTH,) if self.slip(i)[0] > 0.0 else (BACK,)

    def _of_several(self, t: float, choice: Choice, first: tuple[str, ...]) -> tuple[str, ...]:
        """The modes to take where several satisfy the laws, after a warning."""
        c, known = self.numbers, list[tuple[tuple[str, ...], Array, bool]]()
        for modes in choice.all():
            motion = c.pushed() + c.free
            small = 1e-7 * (np.abs(c.free) + np.abs(motion) + np.abs(motion - c.free)).max()
            if not any(np.abs(motion - other).max() <= small for _, other, _ in known):
                known.append((modes, motion, self._is_stable(modes)))
        if len(known) > 1:
            taken = next((modes for modes, _, stable in known if stable), first)
            names = [contact.name for contact in self.contacts]
            said = [", ".join(f"{n}: {m}" for n, m in zip(names, modes, strict=True)) for modes, _, _ in known]
            warn(
                f"several motions of {self.owner.dyn.name!r} satisfy the laws at t = {t!r} (Painlevé): "
                f"{' | '.join(said)}; taken: {said[[modes for modes, _, _ in known].index(taken)]}"
            )
            first = taken
        choice.solve(first)
        return first

    def _is_stable(self, modes: tuple[str, ...]) -> bool:
        """Test whether a larger force of each sliding contact would separate it, as in compliant contacts."""
        d, c = self.numbers.delassus, self.numbers
        for i, mode in enumerate(modes):
            if mode in SLIDES:
                row = self.n_c + self.first[i]
                way = np.array([SIGN[mode]]) if mode in SIGN else c.directions[i]
                if d[row, row] <= self.contacts[i].mu * float(way @ d[row, row + 1 : row + self.lengths[i]]):
                    return False
        return True


def _unit(v: Array) -> Array:
    return np.asarray(v / np.linalg.norm(v))


def _refuse(dyn: Any) -> None:
    """Raise ModelError for loads or rates of states that depend on contact forces."""
    compliant = "use compliant contacts, kc.Contact, with simulate"
    if dyn.sizes["reactions"]:
        raise ModelError(
            f"{dyn.name!r} has loads that depend on reactions, and contacts that open change these: {compliant}"
        )
    missing = (dyn.kernels.why_not("hessian_products") or "") if dyn.n_z else ""
    if missing.startswith("rates of its states"):
        raise ModelError(f"{missing.partition(',')[0]}, which the forces of contacts change: {compliant}")
