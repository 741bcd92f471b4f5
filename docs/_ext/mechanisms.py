# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the gallery: the motion that each mechanism is shown in, its picture, its film, what is known of it."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import kanecore as kc

SECONDS = 4.0  # of each film
FRAMES, WIDTH, HEIGHT, TRIAD = 24, 150.0, 110.0, 0.07  # of each small picture of the index


@dataclass(frozen=True)
class Motion:
    """Where a mechanism starts, how long it is watched, and from where.

    Attributes
    ----------
    end : float
        Seconds of the motion.
    start : dict
        Coordinates and speeds by name; others are those of the module's STATE, or zero.
    inputs : dict
        Values or signals by name; others are zero.
    view : optional
        As of ``draw``.
    parameters : dict
        Values by name, in place of the module's.
    """

    end: float
    start: Mapping[str, float] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    view: Any = None
    parameters: Mapping[str, float] = field(default_factory=dict)


def bent(*angles: float) -> dict[str, float]:
    return {f"q{i}": angle for i, angle in enumerate(angles, 1)}


TURN = kc.Signal([0.0, 1.0, 2.0], [[0.6], [1.8], [3.0]], kind="cubic")
LEAP = {"u_base_x": 0.5, "u_base_z": 2.5}
MOTIONS = {
    "rrp": Motion(0.4, {"theta1": 0.5, "theta2": 0.6, "d3": 0.6, "omega1": 1.0, "v3": 1.5}, view=(20, 15)),
    "rotating_tube": Motion(2.0, {"q1": 0.1, "q2": 0.15}, {"theta": TURN}, view="y-x"),
    "double_pendulum": Motion(4.0, {"q1": 1.5, "q2": -0.3}),
    "rod_gravity": Motion(7e3, {"q2": 7e6, "q3": 1.0, "u1": 1.1e-3, "u3": 1.1e-3}, parameters={"L": 3e6}),
    "two_rods": Motion(2.0, {"q1": 0.4, "q2": 0.6}, view=(20, 30, "-x")),
    "wire_particle": Motion(2.0, {"theta": 2.0}, view="y-x"),
    "cart_pendulum": Motion(2.0, {"q0": 0.2, "q1": 1.2, "q2": 1.9, "q3": 1.4}),
    "cart_pole": Motion(4.0, {"x": 0.2, "theta": 2.8}),
    "furuta_pendulum": Motion(2.0, {"theta1": 0.6, "theta2": 2.8}, view=(20, -65)),
    "spinning_top": Motion(2.0, {"phi": 0.8, "theta": 0.5, "u3": 150.0}, view=(20, -65)),
    "spherical_pendulum": Motion(4.0, {"theta": 0.7, "phi": 0.5}, view=(15, -65)),
    "kepler": Motion(2.4e4, {"r": 246.0, "w": 6.8e-4}),
    "rotating_hoop": Motion(1.5, {"theta": 0.9}, view=(10, -75)),
    "gyroscope": Motion(2.0, {"theta": 0.5, "u1": 0.5, "u2": 1.0, "u3": 6.0}),
    "arm7": Motion(1.0, bent(0.4, 0.9, 0.2, -1.2, 0.3, 0.8, 0.0), view=(20, -65)),
    "planar_2r": Motion(2.0, bent(0.4, 0.9)),
    "ur5e": Motion(1.0, bent(0.3, -1.1, 1.4, -0.6, 0.4, 0.0), view=(20, -65)),
    "puma560": Motion(1.0, bent(0.3, 0.8, -2.2, 0.3, 0.5, 0.0), view=(20, -65)),
    "iiwa14": Motion(1.0, bent(0.4, 0.9, 0.2, -1.2, 0.3, 0.8, 0.0), view=(20, -65)),
    "panda": Motion(1.0, view=(20, -65)),
    "anymal_c": Motion(0.6, LEAP | {"u_LF_KFE": 2.0, "u_RF_KFE": 2.0, "u_base_ry": -1.0}, view=(15, -65)),
    "g1": Motion(0.6, LEAP | {"u_left_hip_pitch_joint": -3.0, "u_right_hip_pitch_joint": 3.0}, view=(10, -40)),
    "free_body": Motion(0.7, {"w1": 0.3, "w2": 8.0, "w3": 0.1, "v1": 1.0, "v3": 3.5}),
    "quadrotor": Motion(
        0.4, {"e0": 1.0, "e1": 0.2, "e2": 0.1, "w3": 3.0}, dict.fromkeys(("F1", "F2", "F3", "F4"), 0.08)
    ),
    "biped": Motion(
        0.3,
        {
            "x": 0.3,
            "z": 0.85,
            "pitch": 0.1,
            "hip_left": -0.5,
            "knee_left": 0.3,
            "ankle_left": 0.1,
            "hip_right": 0.3,
            "knee_right": 0.4,
            "ankle_right": 0.3,
        },
    ),
    "tree30": Motion(0.6, {f"q{i}": 0.2 for i in range(1, 31)}, view=(15, -30)),
    "chain40": Motion(2.0, {f"q{i}": 0.06 for i in range(1, 41)}),
    "rolling_disc": Motion(3.0, view=(20, -65)),
    "ball_turntable": Motion(6.0),
    "chaplygin_sleigh": Motion(4.0),
    "knife_edge": Motion(4.0),
    "snakeboard": Motion(4.0),
    "whipple_bicycle": Motion(0.6, view=(10, 75, "-z")),
    "car": Motion(4.0),
    "appell_hamel": Motion(1.0),
    "constant_speed_particle": Motion(1.0),
    "rrp_redundant": Motion(0.4, view=(20, 15)),
    "four_bar": Motion(4.0),
    "slider_crank": Motion(2.0),
    "five_bar": Motion(1.0),
    "five_bar_bodies": Motion(1.0),
    "andrews_squeezer": Motion(0.05),
    "bricard": Motion(6.0, view=(20, -60)),
    "stewart": Motion(0.3, view=(15, -65)),
    "stewart_platform": Motion(0.3, view=(15, -65)),
}


def module(name: str) -> ModuleType:
    return import_module(f"kanecore.gallery.{name}")


HELD = {  # by springs: nothing else keeps the fingers in their hand
    "panda": {"tau_panda_finger_joint1": lambda t, x: -500.0 * (x[7] - 0.02) - 20.0 * x[15]},
}
CLASSES = {
    "Pendulums and tops": "double_pendulum cart_pole cart_pendulum furuta_pendulum spherical_pendulum spinning_top"
    " gyroscope rotating_hoop chain40",
    "Robot arms": "planar_2r rrp rrp_redundant arm7 puma560 ur5e iiwa14 panda",
    "Legged, flying, floating": "anymal_c g1 biped quadrotor free_body tree30",
    "Rolling and sliding": "rolling_disc whipple_bicycle ball_turntable car snakeboard chaplygin_sleigh knife_edge"
    " appell_hamel",
    "Closed loops": "four_bar slider_crank five_bar five_bar_bodies andrews_squeezer bricard stewart stewart_platform",
    "Textbook examples": "rotating_tube two_rods rod_gravity wire_particle kepler constant_speed_particle",
}
FOLLOWED = ("rolling_disc", "whipple_bicycle", "car", "snakeboard")  # the picture goes along with them
SCATTERED = ("rrp_redundant",)  # bodies with coordinates of their own: lines join them in their order
LONG = 2500  # characters of LaTeX
BUSY = 8  # bodies, from which on their axes would hide them


@cache
def run(name: str) -> kc.Trajectory:
    """The motion of a mechanism, from its library."""
    dyn, motion = kc.load(name), MOTIONS[name]
    values = {dyn.coordinate_names[u[0]]: 1.0 for u in dyn.unit} | getattr(module(name), "STATE", {}) | motion.start
    x = np.array([values.get(state, 0.0) for state in (*dyn.coordinate_names, *dyn.speed_names)])
    for unit in dyn.unit:
        x[list(unit)] /= np.linalg.norm(x[list(unit)])
    return dyn.simulate(
        (0.0, motion.end), x, inputs={**motion.inputs, **HELD.get(name, {})}, parameters=motion.parameters
    )


def picture(name: str) -> Figure:
    sol = run(name)
    options = {"p": MOTIONS[name].parameters, "view": MOTIONS[name].view}
    return sol._dyn.draw(sol.x[0], r=sol.r[0], labels=name not in kc.gallery.robots(), **options)


def film(name: str, fps: float = 25.0) -> Any:
    motion, sol = MOTIONS[name], run(name)
    trace = sol._dyn.bodies if len(sol._dyn.bodies) == 1 else ()
    return sol.animate(fps=fps, speed=motion.end / SECONDS, trace=trace, labels=False, view=motion.view)


def facts(name: str) -> None:
    """Print parameters and report."""
    values = ", ".join(f"{symbol} = {value:g}" for symbol, value in module(name).PARAMETERS.items())
    print(textwrap.fill(values, 80), end="\n\n")
    lines = module(name).build().report().splitlines()
    if len(lines) > 90:
        lines[30:-8] = [f"... {len(lines) - 38} more lines"]
    print("\n".join(line if len(line) < 120 else line[:100] + " ..." for line in lines))


def mass_matrix(name: str) -> str:
    return shortest(name, "mass_matrix")


def forcing(name: str) -> str:
    return shortest(name, "forcing")


def shortest(name: str, kernel: str) -> str:
    """LaTeX by intermediate variables, or written out where that is shorter; of long ones it is not tried."""
    model = module(name).build()
    by_variables = model.latex(kernel)
    return by_variables if len(by_variables) > LONG else min(by_variables, model.latex(kernel, nested=True), key=len)


class Index:
    """Small moving pictures of the mechanisms of one class, each leading to its page."""

    def __init__(self, title: str) -> None:
        self.names = CLASSES[title].split()

    def _repr_html_(self) -> str:
        cells = "".join(f'<a href="{name}.html">{small(name)}<span>{title(name)}</span></a>' for name in self.names)
        return f'<div class="mechanisms">{cells}</div>'


def title(name: str) -> str:
    """The heading of a mechanism's page."""
    page = Path(__file__).parent.parent / f"gallery/{name}.md"
    return html.escape(page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# "))


def small(name: str) -> str:
    """The lines of a film, axes and mass centres of bodies, the way of one alone, as a picture that moves by itself."""
    film_ = film(name, fps=FRAMES / SECONDS)
    scene, (right, up, _) = film_.scene, film_.view.basis
    shapes = [line[:, :: 6 if line.shape[1] == 49 else 1] for line in scene.shapes]  # circles by fewer points
    lines = [*shapes, *(scene.places[:, list(pair)] for pair in scene.lines)]
    if len(scene.rigid) < BUSY:
        lines += [axis for body in scene.rigid for axis in scene.triad(body, TRIAD * scene.size)]
    dots = [scene.places[:, [place, place]] for place in scene.centres]
    if name in SCATTERED:
        lines.append(scene.places[:, [0, *scene.centres]])
    if name in FOLLOWED:
        lines = [line for line in lines if np.ptp(line, axis=0).any()]
        middle = scene.places[:, list(scene.centres)].mean(axis=1)[:, np.newaxis]
        lines, dots = [line - middle for line in lines], [dot - middle for dot in dots]
    else:
        lines += [scene.places[np.newaxis, :, place] for place in film_.traces]
    flat, dots = ([line @ np.stack([right, -up], axis=-1) for line in each] for each in (lines, dots))
    places = np.concatenate([line.reshape(-1, 2) for line in flat + dots])
    low, extent = places.min(axis=0), np.ptp(places, axis=0)
    scale = 0.9 * min(WIDTH / (extent[0] or 1e-300), HEIGHT / (extent[1] or 1e-300))
    shift = np.array([WIDTH, HEIGHT]) / 2.0 - scale * (low + extent / 2.0)
    drawn = "".join(_moving(scale * line + shift) for line in flat)
    drawn += "".join(_moving(scale * dot + shift, ' class="centre"') for dot in dots)
    return f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{html.escape(name)}">{drawn}</svg>'


def _moving(line: np.ndarray, kind: str = "") -> str:
    """A line (N, k, 2) over the frames."""
    frames = [" ".join(f"{x:.1f},{y:.1f}" for x, y in points) for points in line]
    if len(set(frames)) == 1:
        return f'<polyline{kind} points="{frames[0]}"/>'
    values = ";".join(frames)
    animate = f'<animate attributeName="points" dur="{SECONDS:g}s" repeatCount="indefinite" values="{values}"/>'
    return f'<polyline{kind} points="{frames[0]}">{animate}</polyline>'
