# SPDX-License-Identifier: BSD-3-Clause
"""A scene as a picture, with matplotlib (the extra ``plot``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.show.contact_marks import STRUCK, ContactMarks, mode_colour
from kanecore.show.plots import new_figure
from kanecore.show.scene import Scene
from kanecore.show.viewpoints import View, chosen

__all__ = ["Canvas", "draw", "new_axes"]

Array = npt.NDArray[np.float64]

BODY, SHAPE, CENTRE, GROUND = "#4c72b0", "#8aa4cf", "#c44e52", "#404040"
FORCE, TORQUE = "#dd8452", "#8172b3"
TRIAD = ("#c0392b", "#27ae60", "#2c6fbb")  # x, y, z of a body

# Lengths relative to the size of the picture.
AXIS, ARROW, MARGIN, LEAST = 0.07, 0.25, 0.12, 0.3

SIZE = 5.6, 4.2  # size of a figure, inches
HEAD = 0.25  # of an arrow
PALE = 0.25  # opacity of pale states
MANY = 150  # lines of shapes, as of meshes; if there are more, they are thin
FONT = 8.0  # points
TICKS = 7  # ticks along the longest axis
ZOOM, TALLEST = 0.82, 0.7  # margins in space, so that names of axes are not cut off, also below tall mechanisms
PADS = 6.0, 8.0  # distances of numbers and names from an axis in space, clear of narrow boxes
BLANKS = 3  # blanks between a place and its name, for the symbol of a torque
SIDES = [(h, v) for v in ("center", "bottom", "top") for h in ("left", "right")]


def new_axes(planar: bool) -> Any:
    """The axes of a new figure, flat or in space."""
    figure = new_figure(SIZE)
    return figure.add_subplot() if planar else figure.add_subplot(projection="3d")


def draw(scene: Scene, nearby: Scene, *, ax: Any, labels: bool, loads: bool, view: Any) -> Any:
    """Draw states in one picture, all except the last pale, in the plane of the motion or in space; return the Figure.

    Parameters
    ----------
    scene, nearby : Scene
        Scenes of the states, and of states near the last one, which show the plane of the motion.
    """
    seen, last = chosen(view, nearby, scene), len(scene.places) - 1
    ax = new_axes(seen.planar) if ax is None else ax
    shown = Canvas(ax, seen, scene)
    for state in range(last + 1):
        shown.state = state
        shown.skeleton(alpha=1.0 if state == last else PALE)
    if loads:
        shown.loads()
    shown.fit()
    if labels:
        shown.names()
    return ax.figure.figure


class Canvas:
    """A scene in axes of matplotlib, in one view.

    TypeError for other objects than axes, ValueError if the axes are flat and the picture is not, or the reverse.

    Attributes
    ----------
    state : int
        Number of the drawn state.
    """

    def __init__(self, ax: Any, view: View, scene: Scene) -> None:
        if not hasattr(ax, "get_lines"):
            raise TypeError(f"ax is {ax!r}: it must be Axes of matplotlib")
        if ax.name != ("rectilinear" if view.planar else "3d"):
            need = "flat axes, figure.add_subplot()" if view.planar else 'axes in space, add_subplot(projection="3d")'
            raise ValueError(f"ax does not suit the picture, which needs {need}; view= chooses another")
        self.ax, self.view, self.scene, self.state = ax, view, scene, 0
        self._moving: list[tuple[Any, Callable[[int], Array]]] = []
        self._arrows: list[Array] = []  # ends of arrows, (2, 3) each

    def seen(self, points: Array) -> Array:
        """Points in the coordinates of the axes: two in a plane, three in space."""
        return points @ self.view.basis[:2].T if self.view.planar else points

    def line(self, points: Callable[[int], Array], **style: Any) -> None:
        """Add a line through points (k, 3), which are a function of the number of the state."""
        self._moving.append((self.ax.plot(*self.seen(points(self.state)).T, **style)[0], points))

    def show(self, state: int) -> None:
        """Move all lines to their places in a state."""
        self.state = state
        for line, points in self._moving:
            data = self.seen(points(state)).T
            line.set_data(*data) if self.view.planar else line.set_data_3d(*data)

    def skeleton(self, alpha: float = 1.0) -> None:
        """Lines along the tree of points, joints, mass centres with their axes, shapes."""
        scene, places, size = self.scene, self.scene.places, self.scene.size
        width = 1.4 if len(scene.shapes) <= MANY else 0.7
        for line in scene.shapes:
            self.line(line.__getitem__, color=SHAPE, linewidth=width, alpha=alpha)
        for pair in scene.lines:
            self.line(places[:, pair].__getitem__, color=BODY, linewidth=2.2, alpha=alpha)
        for body in () if scene.crowded else scene.rigid:
            for colour, axis in zip(TRIAD, scene.triad(body, AXIS * size), strict=True):
                self.line(axis.__getitem__, color=colour, linewidth=1.2, alpha=alpha)
        points = tuple(range(1, 1 + len(scene.names.points)))
        for at, style in (
            (points, {"marker": "o", "color": BODY, "markersize": 3}),
            ((0,), {"marker": "^", "color": GROUND, "markersize": 8}),
            (scene.joints, {"marker": "o", "color": BODY, "markerfacecolor": "white", "markersize": 5}),
            (scene.centres, {"marker": "o", "color": CENTRE, "markersize": 5}),
        ):
            self.line(places[:, at].__getitem__, linestyle="", alpha=alpha, **style)

    def trace(self, place: int, **style: Any) -> None:
        """Add the path of a place up to the shown state."""
        path = self.scene.places[:, place]
        self.line(lambda state: path[: state + 1], linewidth=1.0, **style)

    def contacts(self, marks: ContactMarks, struck: npt.NDArray[np.bool_]) -> None:
        """Contacts as dots with the colour of their modes, arrows of forces, and rings after impacts."""
        drawn = [i for i, point in enumerate(marks.points) if point is not None]
        places = self.scene.places[:, [self.scene.place(marks.points[i]) for i in drawn]]
        arrows, away = ARROW * self.scene.size * marks.arrows[:, drawn], self.view.basis[2]
        back = -HEAD * arrows
        side = 0.5 * np.cross(away, back)
        tips = places + arrows
        corners = [places, tips, tips + back + side, tips, tips + back - side]
        for i, contact in enumerate(drawn):
            self.line(marks.plane(contact, places[:, i], self.scene.size).__getitem__, color=GROUND, linewidth=0.8)
            line = np.stack([corner[:, i] for corner in corners], axis=1)
            self.line(line.__getitem__, color=FORCE, linewidth=1.6)
        modes, struck = marks.modes[:, drawn], struck[:, drawn]
        dots: list[tuple[str, Any, dict[str, Any]]] = [
            (word, modes == word, {"markersize": 7, "markeredgecolor": GROUND, "markerfacecolor": _inside_of(word)})
            for word in marks.words
        ]
        if struck.any():
            ring = {"markersize": 14, "markeredgecolor": STRUCK, "markerfacecolor": "none"}
            dots.append(("impact", struck, ring))
        for word, shown, style in dots:
            here = np.where(shown[..., np.newaxis], places, np.nan)
            self.line(here.__getitem__, linestyle="", marker="o", label=word, zorder=4, **style)
        self.ax.legend(fontsize=FONT - 1.0, frameon=False, ncols=len(dots), loc="upper right", markerscale=0.6)

    def loads(self) -> None:
        """Forces as arrows at their points, torques at the mass centres of bodies; the largest of each is labelled."""
        scene = self.scene
        on = [scene.centres[body] for body in scene.torques_on]
        places, forces, torques = (part[self.state] for part in (scene.places, scene.forces, scene.torques))
        self._vectors("force", places[list(scene.forces_at)], forces, FORCE)
        self._vectors("torque", places[on], torques, TORQUE)
        if self.ax.get_legend_handles_labels()[0]:
            self.ax.legend(
                fontsize=FONT - 1.0, frameon=False, markerscale=0.5, loc="best" if self.view.planar else "upper left"
            )

    def _vectors(self, kind: str, at: Array, vectors: Array, colour: str) -> None:
        largest = float(np.max(np.linalg.norm(vectors, axis=-1), initial=0.0))
        if not largest:
            return
        arrows = ARROW * self.scene.size / largest * vectors
        if kind == "force" or not self.view.planar:
            self._arrows += list(np.stack([at, at + arrows], axis=1))
        style: dict[str, Any] = {"color": colour, "label": f"{kind}, largest {largest:.3g}"}
        if not self.view.planar:
            self.ax.quiver(*at.T, *arrows.T, arrow_length_ratio=0.2, linewidth=1.6, **style)
        elif kind == "force":
            ends = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "width": 0.006, "zorder": 3}
            self.ax.quiver(*self.seen(at).T, *self.seen(arrows).T, **ends, **style)
        else:
            self._turns(at, arrows, style)

    def _turns(self, at: Array, arrows: Array, style: dict[str, Any]) -> None:
        """Torques about the normal of the plane: circular arrows."""
        turning = arrows @ self.view.basis[2]
        for sign, marker in ((1.0, r"$\circlearrowleft$"), (-1.0, r"$\circlearrowright$")):
            shown = self.seen(at[sign * turning > 0.0])
            if len(shown):
                self.ax.plot(*shown.T, marker=marker, markersize=15, linestyle="", **style)
                style = {"color": style["color"]}

    def fit(self) -> None:
        """Set limits around all states, with the same scale along all axes."""
        scene = self.scene
        parts = (scene.places, *scene.shapes, *self._arrows)
        points = self.seen(np.concatenate([part.reshape(-1, 3) for part in parts]))
        middle, extent = (points.max(axis=0) + points.min(axis=0)) / 2.0, np.ptp(points, axis=0)
        half = np.maximum(extent, LEAST * scene.size) / 2.0 + MARGIN * scene.size
        if self.view.planar:  # unused width has room for names
            half[0] = max(half[0], half[1] * self.ax.bbox.width / self.ax.bbox.height)
        limits = zip("xyz", middle - half, middle + half, strict=False)
        self.ax.set(**{f"{axis}lim": (low, high) for axis, low, high in limits})
        names = self.view.axes or ("x", "y", "z")
        self.ax.set(**{f"{axis}label": name.replace("-", "−") for axis, name in zip("xyz", names, strict=False)})
        self.ax.tick_params(labelsize=FONT - 1.0)
        for name, length in zip("xyz", half / np.max(half), strict=False):
            self.ax.locator_params(name, nbins=max(1, round(TICKS * length)), min_n_ticks=1 + self.view.planar)
        if self.view.planar:
            self.ax.set_aspect("equal", adjustable="box")
            self.ax.grid(color="0.94")
            self.ax.set_axisbelow(True)
        else:
            tall = np.abs(self.view.basis[1]) @ half / np.linalg.norm(half)
            sides = np.roll(half, 2 - self.view.vertical)  # matplotlib expects the vertical axis last
            self.ax.set_box_aspect(sides, zoom=min(ZOOM, TALLEST / tall))
            self.ax.tick_params(pad=PADS[0])
            for axis in (self.ax.xaxis, self.ax.yaxis, self.ax.zaxis):
                axis.labelpad = PADS[1]
            angles = {"elev": self.view.sign * self.view.elevation, "azim": self.view.azimuth}
            roll = 0.0 if self.view.sign > 0 else 180.0
            self.ax.view_init(**angles, roll=roll, vertical_axis="xyz"[self.view.vertical])

    def names(self) -> None:
        """The names of places, inside the picture on the side that crosses fewest lines, without overlaps."""
        figure = self.ax.figure.figure  # also for axes in a part of the figure
        figure.draw_without_rendering()  # which determines the places in the figure
        places, dots = self.scene.places[self.state], figure.dpi / 72.0
        pixels = self._pixels(places)
        taken: list[Box] = [(*(p - 4.0), *(p + 4.0)) for p in pixels]
        strokes, picture = self._strokes(), (self.ax if self.view.planar else figure).bbox.extents
        for at, name in self.scene.together():
            boxes = {side: _box(pixels[at], name, *side, dots) for side in SIDES}
            free = [side for side, box in boxes.items() if not any(_overlap(box, other) for other in taken)]
            if free:
                h, v = min(free, key=lambda side: (_leaves(boxes[side], picture), _inside(strokes, boxes[side])))
                taken.append(boxes[h, v])
                blanks = BLANKS * "\u00a0"  # SVG keeps the name
                text = f"{blanks}{name}" if h == "left" else f"{name}{blanks}"
                self.ax.text(*self.seen(places[at]), text, ha=h, va=v, fontsize=FONT, color=GROUND, parse_math=False)

    def _strokes(self) -> Array:
        """Pixels along all lines, shapes and arrows, (n, 2)."""
        lines = [self.scene.places[self.state][list(pair)] for pair in self.scene.lines]
        lines += [
            axis[self.state] for body in self.scene.rigid for axis in self.scene.triad(body, AXIS * self.scene.size)
        ]
        curves = [shape[self.state] for shape in self.scene.shapes]
        lines += [curve[i : i + 2] for curve in curves for i in range(len(curve) - 1)]
        ends = np.array([*lines, *self._arrows])
        along = np.linspace(0.0, 1.0, 200)[:, np.newaxis, np.newaxis]
        return self._pixels(((1.0 - along) * ends[:, 0] + along * ends[:, 1]).reshape(-1, 3))

    def _pixels(self, points: Array) -> Array:
        seen = self.seen(points)
        if not self.view.planar:
            from mpl_toolkits.mplot3d import proj3d

            seen = np.stack(proj3d.proj_transform(*seen.T, self.ax.get_proj())[:2], axis=-1)
        return np.asarray(self.ax.transData.transform(seen), dtype=np.float64)


def _inside_of(mode: str) -> str:
    return "white" if mode == "open" else mode_colour(mode)


Box = tuple[float, float, float, float]


def _box(at: Array, name: str, h: str, v: str, pixels: float) -> Box:
    """Approximate box of a name, in pixels: left, bottom, right, top."""
    width, height, gap = (FONT * pixels * part for part in (0.62 * len(name), 1.1, 0.32 * BLANKS))
    left = at[0] + gap if h == "left" else at[0] - gap - width
    bottom = at[1] - {"center": height / 2.0, "bottom": 0.0, "top": height}[v]
    return left, bottom, left + width, bottom + height


def _inside(points: Array, box: Box) -> int:
    low, high = np.array(box[:2]), np.array(box[2:])
    return int(((points > low) & (points < high)).all(axis=-1).sum())


def _leaves(box: Box, picture: Box) -> bool:
    return box[0] < picture[0] or box[1] < picture[1] or box[2] > picture[2] or box[3] > picture[3]


def _overlap(a: Sequence[float], b: Sequence[float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
