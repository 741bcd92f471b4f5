# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the gallery: the motion that each mechanism is shown in, its picture, its film, what is known of it."""

from __future__ import annotations

import html
import textwrap
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import kanecore as kc
from kanecore.gallery import _model as described  # once for all blocks and pages of a process
from kanecore.gallery._motions import MOTIONS
from kanecore.live.live_code import player
from kanecore.live.live_page import _packed as packed
from kanecore.show.scene import CROWD

SECONDS = 4.0  # of each film
FRAMES, WIDTH, HEIGHT, TRIAD = 24, 150.0, 110.0, 0.07  # of each small picture of the index
FINE = 20.0  # frames a second of a poster


def module(name: str) -> ModuleType:
    return import_module(f"kanecore.gallery.{name}")


HELD = {  # by springs: nothing else keeps the fingers in their hand
    "panda": {"tau_panda_finger_joint1": lambda t, x: -500.0 * (x[7] - 0.02) - 20.0 * x[15]},
}
CLASSES = {
    "Pendulums and tops": "double_pendulum cart_pole cart_pendulum furuta_pendulum spherical_pendulum spinning_top"
    " gyroscope rotating_hoop chain40",
    "Robot arms": "planar_2r rrp rrp_redundant arm7 puma560 ur5e iiwa14 panda",
    "Legged, flying, floating": "anymal_c g1 biped quadrotor free_body cheetah tree30",
    "Rolling and sliding": "rolling_disc whipple_bicycle ball_turntable car snakeboard chaplygin_sleigh knife_edge"
    " appell_hamel",
    "Closed loops": "four_bar slider_crank five_bar five_bar_bodies andrews_squeezer bricard stewart"
    " stewart_platform hoberman_ring",
    "Contacts and impacts": "woodpecker rocking_block capture",
    "Textbook examples": "rotating_tube two_rods rod_gravity wire_particle kepler constant_speed_particle",
}
FOLLOWED = ("rolling_disc", "whipple_bicycle", "car", "snakeboard")  # the picture goes along with them
SCATTERED = ("rrp_redundant",)  # bodies with coordinates of their own: lines join them in their order
LONG = 2500  # characters of LaTeX
PLOTTED = 6  # coordinates in a plot
PLAYER = "{{player}}"  # in its place
BUSY = 8  # bodies, from which on their axes would hide them


@cache
def run(name: str) -> kc.Trajectory:
    """The motion of a mechanism, from its library."""
    dyn, motion = kc.load(name), MOTIONS[name]
    values = {dyn.coordinate_names[u[0]]: 1.0 for u in dyn.unit} | getattr(module(name), "STATE", {}) | motion.start
    x = np.array([values.get(state, 0.0) for state in (*dyn.coordinate_names, *dyn.speed_names)])
    for unit in dyn.unit:
        x[list(unit)] /= np.linalg.norm(x[list(unit)])
    contacts = getattr(module(name), "CONTACTS", None)
    simulate = dyn.simulate if contacts is None else kc.Modes(dyn, **contacts).simulate
    inputs = {**motion.inputs, **HELD.get(name, {})}
    return simulate((0.0, motion.end), x, inputs=inputs, parameters=motion.parameters)


def picture(name: str) -> Figure:
    sol = run(name)
    many = len(sol._dyn.bodies) > CROWD
    options = {"p": MOTIONS[name].parameters, "view": MOTIONS[name].view, "loads": not many}
    return sol._dyn.draw(sol.x[0], r=sol.r[0], labels=not many and name not in kc.gallery.robots(), **options)


def plot(name: str, *curves: str) -> Figure:
    """Curves of the shown motion over time: by default those of its live page, or the coordinates, the first ones."""
    sol = run(name)
    return sol.plot(*(curves or MOTIONS[name].plotted or sol._dyn.coordinate_names[:PLOTTED]))


def film(name: str, fps: float = 25.0) -> Any:
    motion, sol = MOTIONS[name], run(name)
    trace = sol._dyn.bodies if len(sol._dyn.bodies) == 1 else ()
    return sol.animate(fps=fps, speed=motion.end / SECONDS, trace=trace, labels=False, view=motion.view)


class OnClick:
    """A live page behind a button, which may be a picture.

    The player is the same in all pages of the site: ``kanecore.js`` puts it in from ``player.js``.
    """

    def __init__(self, page: Any, words: str, poster: str = "") -> None:
        self._page, self._words, self._poster = page, html.escape(words), poster

    def _repr_html_(self) -> str:
        kind = "live poster" if self._poster else "live"
        shown = f"{self._poster}<span>{self._words}</span>" if self._poster else self._words
        frame = self._page._repr_html_().replace(packed(player()), PLAYER)
        return f'<div><button type="button" class="{kind}">{shown}</button><template>{frame}</template></div>'


def on_click(page: Any) -> OnClick:
    return OnClick(page, "▶ Run the model")


def poster(page: Any, sol: kc.Trajectory, trace: str) -> OnClick:
    """A live page behind a moving picture of one of its motions."""
    motion, path = (sol.animate(fps=fps, trace=trace, labels=False) for fps in (FINE, 6 * FINE))
    return OnClick(page, "▶ Run it here: drag the bobs, move the sliders", moving("", motion, sol.t[-1], path))


def live(name: str) -> OnClick:
    """The page in which a mechanism runs as it is shown, or held."""
    return on_click(kc.load(name).play())


def facts(name: str) -> None:
    """Print parameters and report."""
    values = ", ".join(f"{symbol} = {value:g}" for symbol, value in module(name).PARAMETERS.items())
    print(textwrap.fill(values, 80), end="\n\n")
    lines = described(name).report().splitlines()
    if len(lines) > 90:
        lines[30:-8] = [f"... {len(lines) - 38} more lines"]
    print("\n".join(line if len(line) < 120 else line[:100] + " ..." for line in lines))


def mass_matrix(name: str) -> str:
    return shortest(name, "mass_matrix")


def forcing(name: str) -> str:
    return shortest(name, "forcing")


def shortest(name: str, kernel: str) -> str:
    """LaTeX by intermediate variables, or written out where that is shorter; of long ones it is not tried."""
    by_variables = described(name).latex(kernel)
    if len(by_variables) > LONG:
        return by_variables
    return min(by_variables, described(name).latex(kernel, nested=True), key=len)


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
    """A small picture: lines, axes and mass centres of bodies, the way of one alone."""
    return moving(name, film(name, fps=FRAMES / SECONDS), SECONDS)


def moving(name: str, film_: Any, seconds: float, path: Any = None) -> str:
    """The lines of a film as one picture in SVG that moves by itself; traces may be those of a finer film."""
    scene, (right, up, _) = film_.scene, film_.view.basis
    shapes = [line[:, :: 6 if line.shape[1] == 49 else 1] for line in scene.shapes]  # circles by fewer points
    lines = [*shapes, *(scene.places[:, list(pair)] for pair in scene.lines)]
    if len(scene.rigid) < BUSY:
        lines += [axis for body in scene.rigid for axis in scene.triad(body, TRIAD * scene.size)]
    dots = [scene.places[:, [place, place]] for place in scene.centres]
    traces: list[np.ndarray] = []
    if name in SCATTERED:
        lines.append(scene.places[:, [0, *scene.centres]])
    if name in FOLLOWED:
        lines = [line for line in lines if np.ptp(line, axis=0).any()]
        middle = scene.places[:, list(scene.centres)].mean(axis=1)[:, np.newaxis]
        lines, dots = [line - middle for line in lines], [dot - middle for dot in dots]
    else:
        traced = path or film_
        traces = [traced.scene.places[np.newaxis, :, place] for place in traced.traces]
    flat, paths, dots = ([line @ np.stack([right, -up], axis=-1) for line in each] for each in (lines, traces, dots))
    places = np.concatenate([line.reshape(-1, 2) for line in flat + paths + dots])
    low, extent = places.min(axis=0), np.ptp(places, axis=0)
    scale = 0.9 * min(WIDTH / (extent[0] or 1e-300), HEIGHT / (extent[1] or 1e-300))
    shift = np.array([WIDTH, HEIGHT]) / 2.0 - scale * (low + extent / 2.0)
    drawn = "".join(_moving(scale * line + shift, seconds, ' class="trace"') for line in paths)
    drawn += "".join(_moving(scale * line + shift, seconds) for line in flat)
    drawn += "".join(_moving(scale * dot + shift, seconds, ' class="centre"') for dot in dots)
    return f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{html.escape(name)}">{drawn}</svg>'


def _moving(line: np.ndarray, seconds: float, kind: str = "") -> str:
    """A line (N, k, 2) over the frames."""
    frames = [" ".join(f"{x:.1f},{y:.1f}" for x, y in points) for points in line]
    if len(set(frames)) == 1:
        return f'<polyline{kind} points="{frames[0]}"/>'
    values = ";".join(frames)
    animate = f'<animate attributeName="points" dur="{seconds:g}s" repeatCount="indefinite" values="{values}"/>'
    return f'<polyline{kind} points="{frames[0]}">{animate}</polyline>'
