# SPDX-License-Identifier: BSD-3-Clause
"""Outcomes of kernels and integrators: number and name in C, word in Python, and the reason in messages.

A new outcome is a row at the end; ``python -m kanecore.build.generated_sources`` then writes ``kc_status.h``, and what
Cython needs.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["BY_NUMBER", "BY_WORD", "NUMBER_OF", "OF_LOADS", "STATUSES", "Status"]


class Status(NamedTuple):
    """An outcome.

    Attributes
    ----------
    code, name
        KC_NAME = code, a ``kc_status``: what kernels write to ``work[0]``, and integrators return.
    word
        ``status`` of a run in Python.
    meaning
        Comment in C headers.
    reason
        Why a run ended, for messages; ``{subject}`` is the speed, or the constraint, of ``work[1]``.
    advice
        What the user may look for then, where no kernel names a speed or a constraint.
    of_kernels
        Kernels have this outcome, too.
    """

    code: int
    name: str
    word: str
    meaning: str
    reason: str
    advice: str = ""
    of_kernels: bool = False


STATUSES = (
    Status(
        *(0, "OK", "success", "the results are there"),
        "The integration reached the end of the interval",
        of_kernels=True,
    ),
    Status(
        *(1, "SINGULAR", "singular", "the mass matrix has no pivot; work[1] is the number of the speed, from 0"),
        "the mass matrix is singular, the pivot of speed {subject} vanished; the kinematical equations may be singular "
        "there (gimbal lock)",
        of_kernels=True,
    ),
    Status(
        *(2, "NONFINITE", "nonfinite", "a result is infinite or not a number"),
        "the equations of motion gave a result that is not finite",
        "the motion diverges, which smaller steps may prevent, or is not defined there",
        of_kernels=True,
    ),
    Status(
        *(3, "STEP_SIZE", "step_size", "the next step would be below rounding"),
        "the error tolerance asks for steps smaller than rounding allows",
        "loosen rtol and atol, or look for a discontinuity or singularity there",
    ),
    Status(
        *(4, "MAX_STEPS", "max_steps", "more steps than allowed"),
        "max_steps was reached",
        "the run is longer than that, or too stiff for this method (then take method='rosenbrock'), or comes to a "
        "singularity, where steps shrink",
    ),
    Status(*(5, "STOPPED", "stopped", "accept() asked for the end"), "a callback asked for the end"),
    Status(
        *(6, "CONTRADICTORY", "contradictory", "a row of G contradicts the others; work[1] is its number"),
        "{subject} contradicts other constraints; do prescribed motions allow it?",
        of_kernels=True,
    ),
    Status(
        *(7, "LOST", "lost", "a row of G is lost at this state; work[1] is its number"),
        "{subject} is lost: a dead point of all constraints",
        of_kernels=True,
    ),
    Status(
        *(8, "UNSATISFIED_ROW", "unsatisfied", "project cannot satisfy a row of G; work[1] is its number"),
        "no state on the constraints was found, {subject} cannot be satisfied with the others",
        of_kernels=True,
    ),
    Status(
        *(9, "UNSATISFIED_CONFIGURATION", "unsatisfied"),
        "project cannot satisfy a constraint on coordinates; work[1] is its number",
        "no state on the constraints was found, {subject} cannot be satisfied with the others",
        of_kernels=True,
    ),
    Status(
        *(10, "CHATTER", "chatter", "the motion crosses a jump of the slopes forth and back"),
        "speed {subject}: the motion chatters: its derivative jumps, as under friction mu*sign(u), and leads back to "
        "that from both sides, in tiny steps",
        "let it stick by events, or take a smooth law, tanh(u/epsilon), with method='rosenbrock'",
    ),
    Status(
        *(11, "JUMP", "jump", "the constraints ask for a jump of the state"),
        "the constraints ask for a jump of the state, as a row does that begins to hold",
        "let an event end the run, and go on from dyn.impact(t, x, rows), or from dyn.consistent(t, x) if that is "
        "meant",
    ),
    Status(
        *(12, "STALLED", "stalled", "steps shrink, and t comes to an end on the way"),
        "the motion comes to no later time: it speeds up without bound, and steps shrink with it",
        "something becomes singular there",
    ),
    Status(
        *(13, "NO_METHOD", "no_method", "there is no such method, or it needs kernels that the library does not hold"),
        "there is no such method, or it needs kernels that the library does not hold",
    ),
    Status(
        *(14, "JAMMED", "jammed"),
        "no solution for loads of reactions is connected with that without them; work[1] is the number of the load",
        "load {subject} depends on reactions, and no solution is connected with that without friction: the motion "
        "jams, or jumps without impact (Painlevé)",
        "dyn.check(x) lists the solutions that exist; take less friction, or end the run by an event before",
        of_kernels=True,
    ),
    Status(
        *(15, "UNCONVERGED", "unconverged"),
        "Newton's steps for loads of reactions did not end; work[1] is the number of the load",
        "load {subject} depends on reactions, and Newton's steps for these did not end in time",
        "its law is too steep: take a larger transition",
        of_kernels=True,
    ),
)
"""All outcomes, in the order of their numbers."""

BY_NUMBER = {status.code: status for status in STATUSES}
BY_WORD = {status.word: status for status in STATUSES}

OF_LOADS = ("jammed", "unconverged")
"""Words of those of loads that depend on reactions, which name a load."""

NUMBER_OF = {status.name.lower(): status.code for status in STATUSES}
"""Number by name, in small letters."""
