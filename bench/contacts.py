# SPDX-License-Identifier: BSD-3-Clause
"""Time of runs with rigid contacts, of a change of mode beside an event with a reset, and of soft contacts."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import clock
import numpy as np
import report
import sides
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc
from kanecore.gallery import rocking_block, woodpecker

QUESTION = (
    "how long does a run with rigid contacts take [ms], a change of mode beside an event with a reset, and how near do "
    "soft contacts come, in which time?"
)
GRAVITY, MU, SPEED, REPEATS = 9.81, 0.5, 3.0, 5
TIME = me.dynamicsymbols._t
PUSH = 1.5 * MU * GRAVITY  # amplitude of the force on a block of 1 kg, which changes as sin 5 t
SOFT_STEPS = (1e-2, 1e-3, 1e-4)


def blocks(n: int, force: sm.Expr) -> kc.CompiledModel:
    """Blocks of 1 kg over the ground along x, between springs of 200 N/m; the force pulls the last one."""
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    x, y, u, v = (me.dynamicsymbols(f"{name}0:{n}") for name in "xyuv")
    points = [origin.locatenew(f"P{i}", x[i] * frame.x + y[i] * frame.y) for i in range(n)]
    stretch = [x[i + 1] - x[i] - 1 for i in range(n - 1)]
    loads = []
    for i, point in enumerate(points):
        point.set_vel(frame, u[i] * frame.x + v[i] * frame.y)
        pull = 200 * (sum(stretch[i : i + 1]) - sum(stretch[i - 1 : i] if i else [])) + (force if i + 1 == n else 0)
        loads.append((point, pull * frame.x - GRAVITY * frame.y))
    bodies = [me.Particle(f"b{i}", point, 1) for i, point in enumerate(points)]
    q, speeds = [*x, *y], [*u, *v]
    rates = [qdot.diff() - speed for qdot, speed in zip(q, speeds, strict=True)]
    return kc.compile(
        kc.Model(frame, q, speeds, rates, bodies=bodies, forcelist=loads, points=points, name=f"blocks_{n}")
    )


class Ball:
    """A ball that falls from 1 m and keeps a part e of its speed at each of some impacts."""

    def __init__(self, e: float, impacts: int) -> None:
        self.dyn, first = blocks(1, sm.Integer(0)), np.sqrt(2 / GRAVITY)
        self.end = first + 2 * first * e * (1 - e ** (impacts - 1)) / (1 - e) + first * e**impacts
        self.given: dict[str, Any] = {"t_eval": [0.0, self.end], "dense_output": False, "rtol": 1e-9, "atol": 1e-10}
        self.modes = kc.Modes(self.dyn, "P0", e=e, rest=0.0)
        y, v = me.dynamicsymbols("y0 v0")
        self.event = kc.Event(y, direction=-1, reset={v: -e * v})

    def run(self) -> Any:
        return self.modes.simulate((0.0, self.end), {"y0": 1.0}, **self.given)

    def events(self) -> Any:
        return self.dyn.simulate((0.0, self.end), {"y0": 1.0}, events=self.event, **self.given)


def shaken(end: float) -> Callable[[], Any]:
    """A block that sticks and slips under a force; a run to the end."""
    modes = kc.Modes(blocks(1, PUSH * sm.sin(5 * TIME)), "P0", mu=MU)
    return lambda: modes.simulate((0.0, end), {})


def chain(n: int) -> Callable[[], Any]:
    """Blocks in a row that break loose one by one."""
    modes = kc.Modes(blocks(n, 8 * TIME), [f"P{i}" for i in range(n)], mu=0.3)
    return lambda: modes.simulate((0.0, 10.0), {f"x{i}": float(i) for i in range(n)})


def pecking() -> Callable[[], Any]:
    """The woodpecker, from where its sleeve touches the pole."""
    start = {"phi_M": -0.0006 / 0.0058, "phi_S": -0.2788, "v": -0.3411, "omega_S": -7.4583}
    modes = kc.Modes(kc.load("woodpecker"), **woodpecker.CONTACTS)
    return lambda: modes.simulate((0.0, 3.0), start)


def rocking() -> Callable[[], Any]:
    """A block that stands on its left corner, leans and is let go."""
    dyn, lean, b, h = kc.load("rocking_block"), 0.2, rocking_block.PARAMETERS["b"], rocking_block.PARAMETERS["h"]
    c, s = np.cos(lean), np.sin(lean)
    modes = kc.Modes(dyn, **rocking_block.CONTACTS)
    start, still = {"x": b * c - h * s, "y": b * s + h * c, "theta": lean}, dict.fromkeys(("s", "s_d", "s_dd"), 0.0)
    return lambda: modes.simulate((0.0, 8.0), start, inputs=still)


def _runs(smallest: bool) -> list[report.Row]:
    """Times of runs and of one change of mode in them, ms."""
    ball, n = Ball(0.9, 20) if smallest else Ball(0.999, 10_000), 3 if smallest else 20
    runs = {
        f"ball, {20 if smallest else 10_000} impacts": ball.run,
        "rocking block, 8 s": rocking(),
        "woodpecker, 3 s": pecking(),
        f"{n} blocks break loose": chain(n),
    }
    rows = []
    for name, run in runs.items():
        took, found = clock.interleaved([sides.repeated(run)], 2 if smallest else REPEATS)[0], run()
        changes = len(found.modes) - 1
        row: report.Row = {"case": name, "ms_min": took.least / 1e6, "ms": took.median / 1e6, "changes": changes}
        rows.append(row | {"ms/change": took.least / 1e6 / changes, "steps": len(found.t)})
    return rows


def _beside_events(smallest: bool) -> list[report.Row]:
    """A change of mode in units of an event with a reset, of a ball, measured in turns."""
    ball = Ball(0.9, 20) if smallest else Ball(0.98, 150)
    runs = {"bounce": ball.run, "stick and slip": shaken(5.0 if smallest else 40.0)}
    changes = {name: len(run().modes) - 1 for name, run in runs.items()}
    batches = [sides.repeated(run) for run in (ball.events, *runs.values())]
    reset, *took = clock.interleaved(batches, 3 if smallest else 9)
    of_event = reset.least / len(ball.events().t_events[0])
    return [
        {"case": name, "changes": n, "ratio": each.least / n / of_event}
        for (name, n), each in zip(changes.items(), took, strict=True)
    ]


def _stops(smallest: bool) -> list[report.Row]:
    """A block that slides to a stop, and one that a force shakes for 10 s: times, and errors of its place.

    The stop has a closed form; the other place is that at tolerances of 1e-12.
    """
    sliding = kc.Modes(blocks(1, sm.Integer(0)), "P0", mu=MU)
    pushed = kc.Modes(blocks(1, PUSH * sm.sin(5 * TIME)), "P0", mu=MU)
    cases: dict[str, tuple[Callable[..., Any], float, Callable[[float], Any]]] = {
        "slides to a stop": (
            lambda **given: sliding.simulate((0.0, 1.0), {"u0": SPEED}, **given),
            SPEED**2 / (2 * MU * GRAVITY),
            lambda step: _soft(step, 1.0, SPEED, 0.0),
        ),
        "sticks and slips": (
            lambda **given: pushed.simulate((0.0, 10.0), {}, **given),
            float(pushed.simulate((0.0, 10.0), {}, rtol=1e-12, atol=1e-14).x[-1, 0]),
            lambda step: _soft(step, 10.0, 0.0, PUSH),
        ),
    }
    there, rows = find_spec("mujoco") is not None, list[report.Row]()
    for name, (run, right, soft) in cases.items():
        offered = [_side("kanecore", run, float(run().x[-1, 0]), right)]
        for step in SOFT_STEPS[: 1 if smallest else None] if there else ():
            offered.append(_side(f"mujoco, steps of {step:g} s", soft(step), soft(step)(), right))
        rows += sides.in_milliseconds(
            sides.rows(name, offered, [] if there else ["mujoco"], 2 if smallest else REPEATS)
        )
    return rows


def _side(name: str, run: Callable[[], Any], end: float, right: float) -> sides.Side:
    return sides.Side(name, [sides.repeated(run)], None, error=abs(end / right - 1))


def _soft(step: float, end: float, speed: float, push: float) -> Callable[[], float]:
    """Where MuJoCo's block is at the end: soft contacts of an elliptic cone that are as hard along as across."""
    import mujoco

    slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 0 1"))
    m = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{step}" gravity="0 0 {-GRAVITY}" cone="elliptic" impratio="100"/>'
        f'<default><geom friction="{MU} 0 0" condim="3"/></default><worldbody><geom type="plane" size="9 9 1"/>'
        f'<body pos="0 0 0.1">{slides}<geom type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>'
    )

    def run() -> float:
        d = mujoco.MjData(m)
        d.qvel[0] = speed
        if not push:
            mujoco.mj_step(m, d, round(end / step))
        for _ in range(round(end / step) if push else 0):
            d.qfrc_applied[0] = push * np.sin(5 * d.time)
            mujoco.mj_step(m, d)
        return float(d.qpos[0])

    return run


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """Runs, changes of mode in units of events, and soft contacts."""
    return {
        "runs with contacts": _runs(smallest),
        "a change of mode beside an event": _beside_events(smallest),
        "beside soft contacts": _stops(smallest),
    }


if __name__ == "__main__":
    report.main("contacts", QUESTION, measure)
