# SPDX-License-Identifier: BSD-3-Clause
"""Animations: a scene of several states as an HTML page, as GIF or as MP4."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.show.contact_marks import ContactMarks
from kanecore.show.drawings import ARROW, AXIS, Canvas, new_axes
from kanecore.show.scene import Scene
from kanecore.show.viewpoints import View
from kanecore.whole_files import whole_file

__all__ = ["PICTURE", "Animation", "drawn", "frame_times", "script_data"]

Array = npt.NDArray[np.float64]

PLAYER = Path(__file__).with_name("player.html")
PICTURE = Path(__file__).with_name("picture.js")
RESOLUTION = 1e-4  # resolution of places, relative to the size of the picture
MOST_FRAMES = 20_000
TRACES = ("#dd8452", "#55a868", "#8172b3", "#937860", "#da8bc3")
DPI = 100
FLASH = 0.15  # s of the film after an impact
GIF = 0.02, 655  # shortest and longest duration of a frame, s; for shorter ones browsers take 0.1 s


def frame_times(start: float, end: float, fps: float, speed: float) -> Array:
    """Times of the frames: equal steps from the start, 1/fps seconds of the movie, each of ``speed`` seconds of motion.

    ValueError if fps or speed is no positive number, or the frames are too many.
    """
    for name, value in (("fps", fps), ("speed", speed)):
        if not (isinstance(value, Real) and not isinstance(value, bool) and 0.0 < value < np.inf):
            raise ValueError(f"{name} is {value!r}: it must be a positive number")
    step = speed / fps
    count = abs(end - start) / step * (1.0 + 1e-12)
    if not count < MOST_FRAMES:
        raise ValueError(
            f"{abs(end - start):g} s at fps={fps:g}, speed={speed:g} are {count:.3g} frames, more than {MOST_FRAMES}: "
            f"choose speed={1.1 * speed * count / MOST_FRAMES:.2g} or more"
        )
    return np.asarray(start + np.sign(end - start) * step * np.arange(floor(count) + 1.0))


@dataclass(frozen=True)
class Animation:
    """An animation; a notebook shows it.

    Attributes
    ----------
    scene : Scene
        The mechanism at each frame.
    times : ndarray, (N,)
        Times of the frames, s.
    fps : float
        Frames per second.
    view : View
    traces : tuple of int
        Places with a drawn path.
    labels : bool
    contacts : ContactMarks, optional
    """

    scene: Scene
    times: Array
    fps: float
    view: View
    traces: tuple[int, ...]
    labels: bool
    contacts: ContactMarks | None = None

    def __repr__(self) -> str:
        n = len(self.times)
        return f"<Animation of {self.scene.names.model!r}: {n} frames, t = {self.times[0]:g} ... {self.times[-1]:g}>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file: ``.html`` with its own player, ``.gif`` or ``.mp4``.

        The page needs no network and no other file.  GIF and MP4 need matplotlib, MP4 the program ffmpeg as well.

        Raises
        ------
        ValueError
            The name has another suffix; a GIF has too many frames per second.
        ImportError
            matplotlib is missing.
        FileNotFoundError
            ffmpeg is missing.
        """
        kind = Path(path).suffix.lower()
        if kind not in (".html", ".gif", ".mp4"):
            raise ValueError(f"{os.fspath(path)!r} ends in none of .html, .gif, .mp4, which give the format")
        if kind == ".gif" and not GIF[0] <= 1.0 / self.fps <= GIF[1]:
            raise ValueError(
                f"a .gif shows each frame for {GIF[0]} ... {GIF[1]} s, and fps is {self.fps:g}: animate with fps="
                f"{1.0 / GIF[0]:g} or less, or save as .html or .mp4"
            )
        with whole_file(path) as place:
            if kind == ".html":
                place.write_text(self.html(), encoding="utf-8")
            else:
                self._film(place, kind)

    def html(self) -> str:
        """A self-contained page that plays the animation."""
        page = PLAYER.read_text(encoding="utf-8").replace("{title}", html.escape(self.scene.names.model))
        before, after = page.replace("{picture}", PICTURE.read_text(encoding="utf-8")).split("{movie}")
        return before + script_data(self._movie()) + after

    def _repr_html_(self) -> str:
        style = 'width="100%" height="420" style="border: 0; max-width: 640px" sandbox="allow-scripts"'
        name = html.escape(self.scene.names.model)
        return f'<iframe class="film" srcdoc="{html.escape(self.html())}" {style} title="Film of {name}"></iframe>'

    def _movie(self) -> dict[str, Any]:
        """Data for the player: places as whole numbers of ``unit``, axes of bodies in thousandths."""
        scene, n = self.scene, len(self.times)
        axes = [axis for body in scene.rigid for axis in scene.triad(body, AXIS * scene.size)]
        points = np.concatenate([part.reshape(-1, 3) for part in (scene.places, *scene.shapes, *axes)])
        low, high, unit = points.min(axis=0), points.max(axis=0), RESOLUTION * scene.size
        return {
            "places": _whole(scene.places.reshape(n, -1) / unit),
            "axes": _whole(scene.axes.reshape(n, -1) * 1000.0),
            "low": _whole(low / unit),
            "high": _whole(high / unit),
            "radius": float(np.max(np.linalg.norm(points - (low + high) / 2.0, axis=-1)) / unit),
            "axis": round(AXIS / RESOLUTION),
            **drawn(scene, self.view, self.traces, self.labels),
            "shapes": [[o.body, _whole(line / unit), o.shape.kind] for o in scene.outlines for line in o.lines],
            "start": float(self.times[0]),
            "step": self._step,
            "digits": self._digits,
            "fps": self.fps,
            "contacts": None if self.contacts is None else self.contacts.data(scene, unit, self._struck),
            "arrow": round(ARROW / RESOLUTION),
        }

    @property
    def _struck(self) -> Any:
        """Contacts that show an impact, in each frame, (N, n)."""
        seconds = max(1.0, FLASH * self.fps) * abs(self._step)
        return None if self.contacts is None else self.contacts.struck(self.times, seconds)

    @property
    def _step(self) -> float:
        return float(self.times[1] - self.times[0]) if len(self.times) > 1 else 0.0

    @property
    def _digits(self) -> int:
        """Number of digits of a shown time, so that frames have different times."""
        return max(0, min(9, 1 - floor(log10(abs(self._step))))) if self._step else 2

    def _film(self, path: Path, kind: str) -> None:
        ax = new_axes(self.view.planar)
        from matplotlib.animation import FFMpegWriter, PillowWriter

        if kind == ".mp4" and not FFMpegWriter.isAvailable():
            raise FileNotFoundError(
                "an .mp4 needs the program ffmpeg, which is not on the PATH: install it (apt install ffmpeg, brew "
                "install ffmpeg), or save as .html or .gif"
            )
        canvas = Canvas(ax, self.view, self.scene)
        for i, place in enumerate(self.traces):
            canvas.trace(place, color=TRACES[i % len(TRACES)])
        canvas.skeleton()
        if self.contacts is not None:
            canvas.contacts(self.contacts, self._struck)
        canvas.fit()
        title = ax.set_title("t", fontsize=9.0, loc="left")
        ax.figure.draw_without_rendering()
        ax.figure.set_layout_engine("none")  # the axes are the same in all frames
        make: Any = FFMpegWriter if kind == ".mp4" else PillowWriter
        writer = make(fps=self.fps)
        with writer.saving(ax.figure, str(path), DPI):
            for state, time in enumerate(self.times):
                canvas.show(state)
                title.set_text(f"t = {time:.{self._digits}f} s")
                writer.grab_frame()


def drawn(scene: Scene, view: View, traces: Sequence[int], labels: bool) -> dict[str, Any]:
    """The scene and camera of a page: data for ``picture.js`` that do not depend on the state."""
    return {
        "lines": scene.lines,
        "joints": scene.joints,
        "centres": scene.centres,
        "rigid": [] if scene.crowded else scene.rigid,
        "traces": traces,
        "labels": scene.together() if labels else [],
        "basis": view.basis[:2].tolist() if view.planar else None,
        "angles": [view.elevation, view.azimuth],
        "vertical": view.vertical,
        "sign": view.sign,
    }


def script_data(data: Any) -> str:
    """JSON for a script element of a page; no text in it can end the script."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _whole(numbers: Array) -> Any:
    return np.rint(numbers).astype(np.int64).tolist()
