# SPDX-License-Identifier: BSD-3-Clause
"""Time of u̇ and of a motion of a carriage that carries n four-bars, beside others; and from a description to C."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import clock
import models
import numpy as np
import peers
import report
import sides
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc
from kanecore.emit.kernel_groups import emit_group

QUESTION = "how do the times of u̇ [ns], of a motion [ms] and from a description to C [s] grow with the number of loops?"
LOOPS = (1, 2, 4, 8, 16, 32, 64, 128)
REPEATS, SEVERAL = 31, 8  # states
STEPS = ((32, 2), (128, 32))  # numbers of loops whose times are compared
LENGTH, ANGLE = 0.5, 1.2  # of the first bar
END, STEP = 0.3, 1e-3  # of a motion, in s, before the bars are in line; and of steps where there is no tolerance
BARS = {"a": (1, ANGLE), "b": (2, 0.0), "c": (1, ANGLE + np.pi)}
"""Lengths, in those of the first bar, and angles from the horizontal at which the loop is closed."""


def carriage(n: int) -> dict[str, Any]:
    """Arguments of ``Model``: 3n + 1 coordinates, two rows for each loop, all angles from the horizontal."""
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    (s, v), (m, g, length) = me.dynamicsymbols("s v"), sm.symbols("m g l")
    car = origin.locatenew("car", s * frame.x)
    car.set_vel(frame, v * frame.x)
    bodies, loads, loops = [me.Particle("car", car, 10 * m)], [], {}
    q: dict[bool, list[Any]] = {False: [s], True: []}  # by whether they are dependent
    u: dict[bool, list[Any]] = {False: [v], True: []}
    for i in range(n):
        tip = first = car.locatenew(f"stand{i}", i * length * frame.x)
        first.set_vel(frame, v * frame.x)
        for letter, (size, _) in BARS.items():
            angle, rate = me.dynamicsymbols(f"{letter}{i} w{letter}{i}")
            bar, start = me.ReferenceFrame(f"{letter}{i}"), tip
            bar.orient_axis(frame, frame.z, angle)
            bar.set_ang_vel(frame, rate * frame.z)
            centre, tip = (start.locatenew(f"{letter}{k}{i}", size * length / k * bar.x) for k in (2, 1))
            for point in (centre, tip):
                point.v2pt_theory(start, frame, bar)
            inertia = me.inertia(bar, 0, 0, m * size**3 * length**2 / 12)
            bodies.append(me.RigidBody(f"bar_{letter}{i}", centre, bar, size * m, (inertia, centre)))
            loads.append((centre, -size * m * g * frame.y))
            q[letter != "a"].append(angle)
            u[letter != "a"].append(rate)
        gap = tip.pos_from(first) - 2 * length * frame.x
        loops |= {f"x{i}": gap.dot(frame.x), f"y{i}": gap.dot(frame.y)}
    rates = zip([*q[False], *q[True]], [*u[False], *u[True]], strict=True)
    return {
        "frame": frame,
        "q_ind": q[False],
        "u_ind": u[False],
        "kd_eqs": [a.diff() - b for a, b in rates],
        "q_dependent": q[True],
        "u_dependent": u[True],
        "configuration_constraints": loops,
        "bodies": bodies,
        "forcelist": loads,
        "name": f"carriage_{n}",
    }


def mjcf(n: int) -> str:
    """The carriage for MuJoCo: hinges turn from bar to bar, and loops are soft, here as hard as it has them."""
    bodies, ends = [], []
    for i in range(n):
        opened, at, before = "", LENGTH * i, 0.0
        for letter, (size, angle) in BARS.items():
            turn, length, inertia = angle - before, size * LENGTH, size**3 * LENGTH**2 / 12
            opened += (
                f'<body name="{letter}{i}" pos="{at} 0 0" euler="0 0 {turn}"><joint name="{letter}{i}" ref="{turn}"/>'
                f'<inertial pos="{length / 2} 0 0" mass="{size}" diaginertia="{inertia} {inertia} {inertia}"/>'
            )
            at, before = length, angle
        bodies.append(opened + "</body>" * len(BARS))
        ends.append(f'<connect body1="c{i}" body2="car" anchor="{at} 0 0"/>')
    return (
        '<mujoco><compiler angle="radian"/><option gravity="0 -9.81 0"/>'
        '<default><equality solimp="0.9999 0.9999 0.001"/></default>'
        '<worldbody><body name="car"><joint name="s" type="slide" axis="1 0 0"/>'
        f'<inertial pos="0 0 0" mass="10" diaginertia="1 1 1"/>{"".join(bodies)}</body></worldbody>'
        f"<equality>{''.join(ends)}</equality></mujoco>"
    )


class Carriage:
    """The carriage with n four-bars, compiled, and states that close its loops."""

    def __init__(self, n: int) -> None:
        self.n = n
        start = time.perf_counter()
        given = carriage(n)
        described = time.perf_counter()
        model = kc.Model(**given)
        read = time.perf_counter()
        emit_group(model.description, "core")
        emitted = time.perf_counter()
        self.seconds = {"describe": described - start, "read": read - described, "derive and emit": emitted - read}
        self.dyn = kc.compile(model, parameters={"m": 1.0, "g": 9.81, "l": LENGTH})
        angles = {f"{letter}{i}": angle for i in range(n) for letter, (_, angle) in BARS.items()}
        about, spread = self.dyn.state(**angles), models.SPREAD * models.states(self.dyn.n_x)[:SEVERAL]
        self.x = np.array([self.dyn.consistent(0.0, about + row) for row in spread])

    def ours(self) -> sides.Side:
        names = {"udot": self.dyn.udot, "out": np.empty(self.dyn.n_u)}
        facts = {"operations": self.dyn.info["operations"]["udot"], "result": self.dyn.udot(0.0, self.x)}
        return sides.in_python("kanecore", "udot(0.0, x, out=out)", list(self.x), names, **facts)

    def linearize(self) -> sides.Side:
        names = {"linearize": self.dyn.linearize}
        return sides.in_python("linearize", "linearize(0.0, x)", list(self.x), names)

    def mujoco(self) -> sides.Side:
        """Its forward dynamics at the same states; the error is that of soft loops."""
        import mujoco

        m = mujoco.MjModel.from_xml_string(mjcf(self.n))
        d, pairs, result = mujoco.MjData(m), [], []
        joints = [m.joint(i).name for i in range(m.njnt)]
        to_joints = np.zeros((m.nv, self.dyn.n_u))
        for i, name in enumerate(joints):
            to_joints[i, self.dyn.names.index("coordinate", name)] = 1.0
            if name[0] in "bc":
                to_joints[i, self.dyn.names.index("coordinate", "ab"["bc".index(name[0])] + name[1:])] = -1.0
        for x in self.x:
            q, u = (to_joints @ part for part in np.split(x, [self.dyn.n_q]))
            pairs.append((q, u))
            d.qpos[:], d.qvel[:] = q, u
            mujoco.mj_forward(m, d)
            result.append(np.linalg.solve(to_joints, d.qacc))
        names = {"forward": mujoco.mj_forward, "m": m, "d": d, "q": d.qpos, "v": d.qvel}
        error = sides.difference(np.array(result), self.dyn.udot(0.0, self.x))
        statement = "q[:], v[:] = x; forward(m, d)"
        return sides.in_python("mujoco mj_forward", statement, pairs, names, error=error)


class Motion:
    """The carriage that falls from rest for `END`; the error of a side is that of where the carriage ends."""

    length, bars, end, step = LENGTH, BARS, END, STEP

    def __init__(self, each: Carriage) -> None:
        self.n, self.mjcf, self.dyn = each.n, mjcf(each.n), each.dyn
        angles = {f"{letter}{i}": angle for i in range(each.n) for letter, (_, angle) in BARS.items()}
        self.x0 = self.dyn.consistent(0.0, self.dyn.state(**angles))
        self.right = self._simulated(1e-12)

    def _simulated(self, tolerance: float) -> float:
        return float(self.dyn.simulate((0.0, END), self.x0, rtol=tolerance, atol=tolerance).x[-1, 0])

    def side(self, name: str, run: Callable[[], float]) -> sides.Side:
        return sides.Side(name, [sides.repeated(run)], error=abs(run() / self.right - 1.0))

    def rows(self, repeats: int) -> list[report.Row]:
        theirs, missing = peers.sides("loops", self)
        ours = [self.side(f"kanecore, tolerance {size:g}", partial(self._simulated, size)) for size in (1e-4, 1e-8)]
        return sides.in_milliseconds(sides.rows(f"{self.n} loops, {END} s", [*ours, *theirs], missing, repeats))


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One row a number of loops and side, the first ours; the ratios of times; seconds from a description to C."""
    loops, repeats = ((1, 2), 3) if smallest else (LOOPS, REPEATS)
    there = find_spec("mujoco") is not None
    beside, texts, slopes, motions = list[report.Row](), list[report.Row](), list[report.Row](), list[report.Row]()
    batches = {}
    for n in loops:
        each = Carriage(n)
        offered = [each.ours(), *([each.mujoco()] if there else [])]
        beside += sides.rows(f"{n} loops", offered, [] if there else ["mujoco"], repeats)
        batches[n] = offered[0].batches[0]
        texts.append({"case": f"{n} loops", **each.seconds})
        if n in (2, 32):
            motions += Motion(each).rows(3 if smallest else 5)
            both = clock.interleaved([offered[0].batches[0], each.linearize().batches[0]], repeats)
            slopes.append({"case": f"{n} loops: linearize beside u̇", "ratio": both[1].least / both[0].least})
    for more, fewer in STEPS:
        if more in batches and fewer in batches:
            both = clock.interleaved([batches[more], batches[fewer]], repeats)
            slopes.append({"case": f"{more} loops beside {fewer}", "ratio": both[0].least / both[1].least})
    return {"u̇ of n loops": beside, "growth": slopes, "motion": motions, "description to C": texts}


if __name__ == "__main__":
    report.main("closed_loops", QUESTION, measure)
