# SPDX-License-Identifier: BSD-3-Clause
"""A page in which a model runs: one self-contained HTML file."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

import kanecore
from kanecore.describe.description import Description
from kanecore.errors import ModelError, unknown_name
from kanecore.export.exported_library import description_of
from kanecore.graph.expression_graph import ACCELERATION
from kanecore.show.movies import PICTURE, script_data
from kanecore.whole_files import whole_file

from .live_code import player, words_of
from .live_controls import effects_of, keys_of, labels_of, motions_of, ranges_of, units_of
from .live_events import with_events
from .live_scene import LiveScene
from .live_start import feedback_of, holding, pushed, started

__all__ = ["LivePage", "live_page"]

_FOLDER = Path(__file__).parent
_PAGE, _STYLE = _FOLDER / "live.html", _FOLDER / "live.css"
_SCRIPTS = ("machine.js", "motion.js", "plots.js", "solids.js", "controls.js", "hands.js", "sharing.js", "page.js")

METHODS = {"euler": 1e-3, "rk4": 1e-3, "dopri5": 0.0, "dop853": 0.0, "auto": 0.0, "rosenbrock": 0.0}
"""Methods of a page, with the step of fixed-step methods, in seconds of the page."""

PLOTS = ("coordinates", "speeds", "states", "outputs", "inputs", "energies", "power", "residuals", "phase")
PULL = 1.5  # frequency in Hz of a body that is pulled by the mouse


@dataclass(frozen=True)
class LivePage:
    """A page in which a model runs; a notebook shows it.

    Attributes
    ----------
    name : str
        Name of the model.
    data : dict
        Data of the page: names, sliders, scene, start.
    code : bytes
        Code of the model, for the player.
    """

    name: str
    data: Mapping[str, Any]
    code: bytes

    def __repr__(self) -> str:
        return f"<LivePage of {self.name!r}: {len(self.html()) / 1000:.0f} kB; .save('page.html') writes it>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page; ValueError unless the name ends in ``.html``."""
        if Path(path).suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"{os.fspath(path)!r} does not end in .html, as a live page must")
        page = self.html()
        with whole_file(path) as place:
            place.write_text(page, encoding="utf-8")

    def html(self) -> str:
        """The page as text."""
        script = "\n".join(path.read_text(encoding="utf-8") for path in (PICTURE, *(_FOLDER / s for s in _SCRIPTS)))
        script = re.sub(r"^ *//.*\n", "", script, flags=re.MULTILINE)  # comments stay in the sources
        script, style = f'\n"use strict";\n{script}', _STYLE.read_text(encoding="utf-8")
        parts = {
            "title": html.escape(self.data["title"] or self.name),
            "policy": f"script-src {_hash(script)} 'wasm-unsafe-eval'; style-src {_hash(style)}",
            "style": style,
            "player": _packed(player()),
            "code": _packed(self.code),
            "model": script_data(self.data),
            "script": script,
        }
        first, *rest = _PAGE.read_text(encoding="utf-8").split("{{")
        pieces = [first]
        for piece in rest:  # one pass: inserted text is not searched again
            name, _, after = piece.partition("}}")
            pieces += [parts[name], after]
        return "".join(pieces)

    def _repr_html_(self) -> str:
        style = 'width="100%" height="560" style="border: 0; max-width: 960px" sandbox="allow-scripts allow-downloads"'
        return f'<iframe srcdoc="{html.escape(self.html())}" {style} title="{html.escape(self.name)}"></iframe>'


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def live_page(
    dyn: Any,
    x0: Any = None,
    *,
    t0: float = 0.0,
    sliders: Any = None,
    inputs: Any = None,
    units: Any = None,
    speed: float = 1.0,
    trace: Any = (),
    follow: Any = None,
    view: Any = None,
    plots: Any = None,
    method: str = "dop853",
    rtol: float = 1e-8,
    feedback: Any = None,
    keys: Any = None,
    pull: float | None = None,
    events: Any = None,
    title: str | None = None,
    text: str | None = None,
    labels: Any = None,
    ground: float | None = None,
) -> LivePage:
    """Make the page of `CompiledModel.play`."""
    _check(method, rtol=rtol, speed=speed)
    if pull is None or pull is True:
        pull = PULL
    if not (isinstance(pull, Real) and 0.0 <= pull < math.inf):
        raise ValueError(f"pull is {pull!r}; it must be a frequency in Hz, or 0 for none")
    if dyn.n_x == 0:
        raise ModelError(f"{dyn.name!r} has no coordinate and no speed, so that nothing can run")
    for name, value in (("title", title), ("text", text)):
        if not isinstance(value, str | None):
            raise TypeError(f"{name} is {value!r}; it must be a text")
    if ground is not None and (isinstance(ground, bool) or not isinstance(ground, Real) or not math.isfinite(ground)):
        raise ValueError(f"ground is {ground!r}; it must be a height, a number in m")
    description = description_of(dyn, "a live page")
    _refuse_measured_rates(dyn, description)
    start = started(dyn, t0, x0, inputs)
    pace = float(speed) * start.pace
    law = feedback_of(dyn, feedback, start)
    sizes = effects_of(dyn, start.t, start.x, start.r, start.p, pace)
    free = feedback is None and inputs is None and x0 is None
    held = holding(dyn, start, float(speed), sizes) if free and dyn.n_r else None
    if held is not None:
        (start, law), pace = held, float(speed)
    moved = pushed(dyn, start, law, pace) if x0 is None else None
    start = moved or start
    by_signals = set() if start.signals is None else set(np.flatnonzero(start.signals["which"]).tolist())
    motions = motions_of(dyn, by_signals)
    offered = [i for i in range(dyn.n_r) if i not in by_signals and all(i not in chain for chain in motions)]
    if (motion := dyn.libraries.shown_motion()) is not None:
        units, text = motion.units if units is None else units, motion.text if text is None else text
    names = (*dyn.names.x, *dyn.input_names, *dyn.output_names, *dyn.parameter_names)
    ranges = ranges_of(dyn, description, sliders, start.p, np.maximum(sizes, 2.0 * np.abs(start.r)))
    if isinstance(trace, tuple) and not trace and len(dyn.bodies) == 1:
        trace = dyn.bodies
    if view is None:
        view, ground = start.view, start.ground if ground is None else ground
    ground = None if ground is None else float(ground)
    seen = LiveScene(dyn, start.t, start.x, start.r, start.p, view, trace, follow or start.follow, ground)
    if follow is None and held is not None and not np.any(start.r):
        seen.follow_unless_pinned(dyn.bodies[0])  # it falls
    description, watched = with_events(dyn, description, events)
    stiff = method in ("auto", "rosenbrock")
    data = {
        "name": dyn.name,
        "title": title,
        "text": text,
        "version": kanecore.__version__,
        "sizes": _sizes(dyn),
        "coordinates": dyn.coordinate_names,
        "speeds": dyn.speed_names,
        "states": dyn.state_names,
        "outputs": dyn.output_names,
        "constraints": [*dyn.configuration_names, *dyn.constraint_names[: dyn.n_velocity]],
        "parameters": _rows(dyn.parameter_names, start.p, ranges, range(dyn.n_p)),
        "inputs": _rows(dyn.input_names, start.r, ranges, [i for i in range(dyn.n_r) if i not in by_signals]),
        "units": units_of(units, names),
        "labels": labels_of(labels, names),
        "motions": motions,
        "signals": None if start.signals is None else {key: x.ravel().tolist() for key, x in start.signals.items()},
        "feedback": None if law is None else {"gain": law.gain.ravel().tolist(), "about": law.about.tolist()},
        "start": {"time": start.t, "state": start.x.tolist()},
        "run": {"method": f"{method}_w" if stiff else method, "step": METHODS[method] * pace, "rtol": rtol},
        "pushed": moved is not None,
        "speed": pace,
        "keys": keys_of(dyn, keys, offered, ranges),
        "pull": float(pull),
        "plots": _plots(dyn, [start.plotted or "coordinates", "energies"] if plots is None else plots),
        "events": watched,
        "scene": seen.data(),
    }
    return LivePage(dyn.name, data, words_of(description, stiff))


def _refuse_measured_rates(dyn: Any, description: Description) -> None:
    """Raise ModelError if rates of states depend on u̇, which the mouse changes in the page."""
    if any(description.graph.depends[rate] & ACCELERATION for rate in description.state_rates):
        raise ModelError(
            f"{dyn.name!r} cannot run in a page: rates of its states ({', '.join(dyn.state_names)}) depend on "
            "derivatives of speeds or multipliers; simulate() integrates them, and sol.animate() shows a run"
        )


def _check(method: str, **positive: float) -> None:
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; a page has {', '.join(map(repr, METHODS))}")
    for name, value in positive.items():
        if not (isinstance(value, Real) and 0.0 < value < math.inf):
            raise ValueError(f"{name} is {value!r}; it must be a positive number")


def _sizes(dyn: Any) -> dict[str, int]:
    names = ("n_q", "n_u", "n_z", "n_r", "n_p", "n_points", "n_frames", "n_joints", "n_outputs")
    return {name: getattr(dyn, name) for name in names} | {"n_residuals": dyn.n_configuration + dyn.n_velocity}


def _rows(names: Iterable[str], values: Any, ranges: Mapping[str, Any], offered: Iterable[int]) -> list[dict[str, Any]]:
    """Name, value, and the range of the slider, if any."""
    rows: list[dict[str, Any]] = [
        {"name": name, "value": float(value)} for name, value in zip(names, values, strict=True)
    ]
    for i in offered:
        if rows[i]["name"] in ranges:
            rows[i]["range"] = ranges[rows[i]["name"]]
    return rows


def _plots(dyn: Any, plots: Any) -> list[Any]:
    """Initial plots of a page: kinds, or lists of names of coordinates, speeds, states, outputs and inputs."""
    names = (*dyn.names.x, *dyn.output_names, *dyn.input_names)
    kinds = [kind for kind in PLOTS if dyn.n_z or kind != "states"]
    result: list[Any] = []
    for each in [plots] if isinstance(plots, str) else plots:
        if isinstance(each, str) and each in kinds:
            result.append(each)
            continue
        wanted = [str(name) for name in ([each] if isinstance(each, str) or not hasattr(each, "__iter__") else each)]
        for name in wanted:
            if name not in names:
                raise unknown_name("plot, coordinate, speed, output or input is called", name, (*kinds, *names))
        result.append(wanted)
    return result
