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
from kanecore.errors import ModelError
from kanecore.motion.derivatives.sensitivities import wanted_sensitivities
from kanecore.motion.events import Events, as_list
from kanecore.motion.initial_value_problem import InitialValueProblem, posed
from kanecore.motion.integration_failures import failure, outcome
from kanecore.motion.progress import reporting_time
from kanecore.motion.rigid_contacts.contact_laws import Contact, read_contacts
from kanecore.motion.rigid_contacts.contact_results import ModeRun
from kanecore.motion.rigid_contacts.contact_sensitivities import ContactSensitivities, refuse_functions
from kanecore.motion.rigid_contacts.mode_course import Course
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

__all__ = ["ModeRun", "Modes"]

Array = npt.NDArray[np.float64]


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
        The model has loads that depend on reactions, or states with rates in u̇, or numbers in single precision.
    KeyError, ValueError
        There is no such point, frame, law or constraint; a number is negative, or ``mu_static`` less than ``mu``; there
        is nothing in contact.

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
        if not taken:
            raise ValueError("contacts and switches are empty: name points, such as contacts=['foot'], or use simulate")
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
            again = partial(Course, self, small=small)
            ContactSensitivities(result, wanted, course, again, watched, n, adaptive).add()
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


def _refuse(dyn: Any) -> None:
    """Raise ModelError for loads or rates of states that depend on contact forces."""
    if dyn.single:
        raise ModelError(
            f"{dyn.name!r} was compiled with real='float', and rigid contacts need doubles: leave real= out"
        )
    compliant = "use compliant contacts, kc.Contact, with simulate"
    if dyn.sizes["reactions"]:
        raise ModelError(
            f"{dyn.name!r} has loads that depend on reactions, and contacts that open change these: {compliant}"
        )
    missing = (dyn.kernels.why_not("hessian_products") or "") if dyn.n_z else ""
    if missing.startswith("rates of its states"):
        raise ModelError(f"{missing.partition(',')[0]}, which the forces of contacts change: {compliant}")
