# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the gallery: the motion that each mechanism is shown in, its picture, its film, what is known of it."""

from __future__ import annotations

import html
import textwrap
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import kanecore as kc
from kanecore.gallery._motions import MOTIONS

SECONDS = 4.0  # of each film
FRAMES, WIDTH, HEIGHT, TRIAD = 24, 150.0, 110.0, 0.07  # of each small picture of the index


def module(name: str) -> ModuleType:
    return import_module(f"kanecore.gallery.{name}")


@cache
def run(name: str) -> kc.Trajectory:
    """The motion of a mechanism, from its library."""
    dyn, motion = kc.load(name), MOTIONS[name]
    values = {dyn.coordinate_names[u[0]]: 1.0 for u in dyn.unit} | getattr(module(name), "STATE", {}) | motion.start
    x = np.array([values.get(state, 0.0) for state in (*dyn.coordinate_names, *dyn.speed_names)])
    for unit in dyn.unit:
        x[list(unit)] /= np.linalg.norm(x[list(unit)])
    return dyn.simulate((0.0, motion.end), x, inputs=dict(motion.inputs), parameters=motion.parameters)


def picture(name: str) -> Figure:
    sol = run(name)
    options = {"p": MOTIONS[name].parameters, "view": MOTIONS[name].view}
    return sol._dyn.draw(sol.x[0], r=sol.r[0], labels=name not in kc.gallery.robots(), **options)


def film(name: str, fps: float = 25.0) -> Any:
    motion, sol = MOTIONS[name], run(name)
    trace = sol._dyn.bodies if len(sol._dyn.bodies) == 1 else ()
    return sol.animate(fps=fps, speed=motion.end / SECONDS, trace=trace, labels=False, view=motion.view)


class OnClick:
    """A live page behind a button: browsers load what stands in a template when it leaves it."""

    def __init__(self, page: Any) -> None:
        self._page = page

    def _repr_html_(self) -> str:
        show = "this.replaceWith(this.nextElementSibling.content)"
        name = html.escape(self._page.name)
        button = f'<button type="button" class="live" onclick="{show}">Run {name} here</button>'
        return f"<div>{button}<template>{self._page._repr_html_()}</template></div>"


def on_click(page: Any) -> OnClick:
    return OnClick(page)


def live(name: str) -> OnClick:
    """The page in which a mechanism runs as it is shown, or held."""
    return OnClick(kc.load(name).play())


def facts(name: str) -> None:
    """Print parameters and report."""
    values = ", ".join(f"{symbol} = {value:g}" for symbol, value in module(name).PARAMETERS.items())
    print(textwrap.fill(values, 80), end="\n\n")
    lines = module(name).build().report().splitlines()
    if len(lines) > 90:
        lines[30:-8] = [f"... {len(lines) - 38} more lines"]
    print("\n".join(line if len(line) < 120 else line[:100] + " ..." for line in lines))


def mass_matrix(name: str) -> str:
    return module(name).build().latex("mass_matrix")


def forcing(name: str) -> str:
    return module(name).build().latex("forcing")


class Index:
    """Small moving pictures of all mechanisms, each leading to its page."""

    def _repr_html_(self) -> str:
        cells = "".join(
            f'<a href="gallery/{name}.html">{small(name)}<span>{html.escape(name)}</span></a>' for name in MOTIONS
        )
        return f'<div class="mechanisms">{cells}</div>'


def small(name: str) -> str:
    """The lines of a film, axes and mass centres of bodies, the way of one alone, as a picture that moves by itself."""
    film_ = film(name, fps=FRAMES / SECONDS)
    scene, (right, up, _) = film_.scene, film_.view.basis
    shapes = [line[:, :: 6 if line.shape[1] == 49 else 1] for line in scene.shapes]  # circles by fewer points
    lines = [*shapes, *(scene.places[:, list(pair)] for pair in scene.lines)]
    lines += [axis for body in scene.rigid for axis in scene.triad(body, TRIAD * scene.size)]
    lines += [film(name).scene.places[np.newaxis, :, place] for place in film_.traces]
    flat = [line @ np.stack([right, -up], axis=-1) for line in lines]
    dots = [scene.places[:, [place, place]] @ np.stack([right, -up], axis=-1) for place in scene.centres]
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
