# SPDX-License-Identifier: BSD-3-Clause
"""Random mechanisms whose constraints fall into blocks: loops on trees, rings, shared bodies, legs on the ground.

``random_blocks(seed)`` draws a base, chains of links on it or on earlier chains, and rows that each close a part: the
end of a chain is held by a body or the ground.  Coefficients and constants are parameters: the constants are chosen so
that the rows hold at the state that was drawn.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

from .numbers import numbers

__all__ = ["KINDS", "Blocks", "random_blocks"]

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t
LAYOUTS = ("arrow", "tree", "line", "ring", "one object", "legs")
ROWS = ("distance", "guide", "point in a plane", "point", "point and angle", "knife edge", "gear")
MORE = ("twice", "times a function", "sum", "nearly twice", "switched", "scaled")
KINDS = (*LAYOUTS, *ROWS, *MORE, "mixed speeds", "units", "masses", "in line")
"""What mechanisms may contain."""


@dataclass
class Link:
    """A body with a frame and points: the joint that carries it, and the joint that it carries."""

    frame: Any
    joint: Any
    end: Any


@dataclass
class Blocks:
    """A mechanism, the values of its parameters, and a state near its constraints, which its q satisfies."""

    draw: random.Random
    kinds: set[str] = field(default_factory=set)
    frame: Any = field(default_factory=lambda: me.ReferenceFrame("N"))
    q: list[Any] = field(default_factory=list)
    at: list[float] = field(default_factory=list)
    rates: list[Any] = field(default_factory=list)  # of the speeds: q̇, or combinations
    bodies: list[Any] = field(default_factory=list)
    loads: list[Any] = field(default_factory=list)
    positions: list[Any] = field(default_factory=list)  # rows of configuration
    velocities: list[Any] = field(default_factory=list)
    held: list[tuple[Any, Any]] = field(default_factory=list)  # constants, and what they are at the state
    values: dict[Any, float] = field(default_factory=dict)
    mixed: bool = False
    masses: float = 0.3  # exponents of ten
    in_line: bool = False

    def __post_init__(self) -> None:
        self.length, self.mass, self.g = sm.symbols("l m g")
        self.origin = me.Point("O")
        self.origin.set_vel(self.frame, 0)
        self.ground = Link(self.frame, self.origin, self.origin)

    def coordinate(self, value: float, unit: Any = 1) -> Any:
        """A coordinate; of a length in its unit."""
        q = me.dynamicsymbols(f"q{len(self.q)}")
        self.q.append(q)
        self.at.append(value)
        return unit * q

    def body(self, point: Any, frame: Any, spatial: bool) -> None:
        i, mass = len(self.bodies), self.mass * round(10 ** self.draw.uniform(-self.masses, self.masses), 9)
        if self.draw.random() < 0.5 and not spatial:
            self.bodies.append(me.Particle(f"B{i}", point, mass))
        else:
            moments = [round(self.draw.uniform(0.3, 0.5), 2) * mass * self.length**2 for _ in range(3)]
            self.bodies.append(me.RigidBody(f"B{i}", point, frame, mass, (me.inertia(frame, *moments), point)))
        self.loads.append((point, -mass * self.g * self.length * self.frame.y))

    def pin(self, link: Link, axis: Any, value: float) -> Link:
        """A link on the end of another one."""
        i, draw = len(self.q), self.draw
        frame = me.ReferenceFrame(f"A{i}")
        frame.orient_axis(link.frame, axis, self.coordinate(value))
        spatial = axis != self.frame.z
        arm = self.length * (round(draw.uniform(0.5, 1.5), 2) * frame.x)
        if spatial:
            arm += self.length * round(draw.uniform(0.2, 0.6), 2) * frame.z
        end, centre = link.end.locatenew(f"P{i}", arm), link.end.locatenew(f"C{i}", arm / 2)
        for point in (end, centre):
            point.v2pt_theory(link.end, self.frame, frame)
        self.body(centre, frame, spatial)
        return Link(frame, link.end, end)

    def base(self, freedom: int) -> Link:
        """The ground, a cart, or a body that is free in the plane or in space."""
        if not freedom:
            return self.ground
        N, frame = self.frame, me.ReferenceFrame("F")
        axes = [N.x] if freedom == 1 else [N.x, N.y] if freedom == 3 else [N.x, N.y, N.z]
        moved = sum((self.coordinate(self.draw.uniform(-0.3, 0.3), self.length) * axis for axis in axes), me.Vector(0))
        centre = self.origin.locatenew("F", moved)
        centre.set_vel(N, moved.dt(N))
        frame.orient_axis(N, N.z, 0)
        if freedom == 3:
            frame.orient_axis(N, N.z, self.coordinate(0.2))
        elif freedom == 6:
            frame.orient_body_fixed(N, [self.coordinate(self.draw.uniform(-0.4, 0.4)) for _ in range(3)], "123")
        self.body(centre, frame, freedom == 6)
        end = centre.locatenew("E", self.length * frame.x / 4)
        end.v2pt_theory(centre, N, frame)
        return Link(frame, centre, end)

    def chain(self, link: Link, n: int, spatial: bool) -> list[Link]:
        """The links of a chain with n joints."""
        links = list[Link]()
        for k in range(n):
            axis = link.frame.z
            if spatial:
                axis = (link.frame.z, link.frame.y, link.frame.x)[k % 3]
            value = self.draw.uniform(0.5, 1.2) * (1 if k % 2 else -1)
            if self.in_line and not spatial and k:
                value = 0.0
            link = self.pin(link, axis if spatial else self.frame.z, value)
            links.append(link)
        return links

    def close(self, kind: str, links: list[Link], to: Link) -> None:
        """Rows that hold the end of a chain at a body or the ground."""
        self.kinds.add(kind)
        end, place, draw, N = links[-1].end, to.joint, self.draw, self.frame
        gap = end.pos_from(place)
        axes = (to.frame.x, to.frame.y, to.frame.z)
        before = len(self.positions)
        if kind == "distance":
            self.hold(gap.dot(gap), 2)
        elif kind == "guide":
            self.hold(gap.dot(to.frame.y), 1)
        elif kind == "point in a plane":
            for axis in (N.x, N.y):
                self.hold(gap.dot(axis), 1)
        elif kind in ("point", "point and angle"):
            for axis in axes:
                self.hold(gap.dot(axis), 1)
            if kind == "point and angle":
                self.hold(links[-1].frame.x.dot(to.frame.y), 0)
        elif kind == "knife edge":
            velocity = end.pos_from(self.origin).dt(N)
            self.velocities.append(velocity.dot(links[-1].frame.y))
        else:
            chosen = draw.sample(range(len(self.q)), 2)
            ratio = sm.Symbol(f"ratio{len(self.velocities)}")
            self.values[ratio] = round(draw.uniform(0.5, 2), 2)
            a, b = (self.q[i].diff(t) for i in chosen)
            self.velocities.append(a - ratio * b)
        self.more(kind, before, gap)

    def hold(self, expression: Any, power: int) -> None:
        """expression = its value at the state."""
        constant = sm.Symbol(f"c{len(self.held)}")
        self.held.append((constant, expression / self.length**power))
        self.positions.append(expression - constant * self.length**power)

    def more(self, kind: str, before: int, gap: Any) -> None:
        """Rows that follow from others, or that a parameter switches."""
        rows = self.velocities if kind in ("knife edge", "gear") else self.positions
        new = rows[before:] if rows is self.positions else rows[-1:]
        what = self.draw.choices((*MORE, ""), (2, 2, 2, 2, 2, 1, 12))[0]
        if not what or (what == "sum" and len(new) < 2) or (what == "nearly twice" and kind != "point in a plane"):
            return
        self.kinds.add(what)
        if what == "twice":
            rows.append(2 * new[-1])
        elif what == "times a function":
            rows.append((2 + sm.cos(self.q[0])) * new[0])
        elif what == "sum":
            rows.append(new[0] + 2 * new[1])
        elif what == "nearly twice":
            x, y = (constant for constant, _ in self.held[-2:])
            rows.append(gap.dot(gap) - (x**2 + y**2) * self.length**2)
        else:
            symbol = sm.Symbol(f"s{len(self.positions)}_{len(self.velocities)}")
            self.values[symbol] = float(self.draw.choice([0, 1] if what == "switched" else [-1e6, 1e-6]))
            rows[rows.index(new[0])] = symbol * new[0]

    # ------------------------------------------------------------------------------------------------

    def described(self) -> tuple[kc.Model, dict[str, float], Array]:
        """The model, the values of its parameters, and a state: of its speeds the rows hold nothing yet."""
        n, draw = len(self.q), self.draw
        speeds, rates = me.dynamicsymbols(f"u:{n}"), [q.diff(t) for q in self.q]
        equations = [rate - u for rate, u in zip(rates, speeds, strict=True)]
        if self.mixed:
            for i in range(n):
                factor = draw.choice([1, 1, 2, 2 + sm.cos(self.q[i]), 1000])
                equations[i] = factor * rates[i] - speeds[i]
                if i and draw.random() < 0.4:
                    equations[i] += rates[i - 1]
        known = dict(zip(self.q, self.at, strict=True)) | self.values
        levels = numbers(sm.Matrix([level for _, level in self.held]), known).ravel() if self.held else ()
        self.values |= {constant: float(level) for (constant, _), level in zip(self.held, levels, strict=True)}
        x = np.array([*self.at, *(draw.uniform(-1, 1) for _ in speeds)])
        model = kc.Model(
            *(self.frame, self.q, speeds, equations),
            bodies=self.bodies,
            forcelist=self.loads,
            configuration_constraints=self.positions,
            velocity_constraints=self.velocities,
            name="blocks",
        )
        return model, {str(each): value for each, value in self.values.items() if each in model.parameters}, x


def random_blocks(seed: int, least: int = 3, most: int = 5) -> Blocks:
    draw = random.Random(seed)
    blocks = Blocks(draw)
    layout = LAYOUTS[seed % len(LAYOUTS)]
    spatial = seed // len(LAYOUTS) % 3 == 2
    blocks.kinds |= {layout}
    blocks.mixed = draw.random() < 0.4
    if draw.random() < 0.25:
        blocks.masses = 3.0
        blocks.kinds.add("masses")
    blocks.in_line = not spatial and draw.random() < 0.15
    unit = draw.choice([0, 0, -6, 6])
    blocks.values |= {blocks.length: 10.0**unit, blocks.mass: 10.0 ** -draw.choice([0, unit]), blocks.g: 9.81}
    blocks.kinds |= {"units"} if unit else set()
    blocks.kinds |= {"mixed speeds"} if blocks.mixed else set()
    blocks.kinds |= {"in line"} if blocks.in_line else set()
    n = draw.randint(least, most)
    freedom = 6 if spatial else draw.choice([1, 3])
    if layout in ("ring", "one object"):
        freedom = 0
    base = blocks.base(freedom)
    choices = ROWS[:3] if not spatial else ("distance", "guide", "point", "point and angle")
    length = {"distance": 2, "guide": 2, "point in a plane": 3, "point": 4, "point and angle": 5}
    chains = list[list[Link]]()
    kinds = [draw.choice(choices) for _ in range(n)]
    for i, kind in enumerate(kinds):
        parent = base
        if layout == "tree" and chains and draw.random() < 0.7:
            parent = draw.choice(draw.choice(chains))
        elif layout == "line" and chains:
            parent = chains[-1][0]
        elif layout in ("ring", "one object"):
            parent = blocks.ground
            parent = Link(parent.frame, parent.joint, _fixed(blocks, f"G{i}", 2.0 * i))
        chains.append(blocks.chain(parent, length[kind], spatial))
        to = {"legs": blocks.ground, "arrow": base, "line": parent, "tree": parent}.get(layout)
        if layout == "tree" and draw.random() < 0.3:
            to = draw.choice([blocks.ground, base])
        if layout == "one object":
            to = chains[0][-1] if i else None
        if to is not None:
            blocks.close(kind, chains[-1], to)
        if draw.random() < 0.25:
            blocks.close("knife edge" if draw.random() < 0.4 else "gear", chains[-1], blocks.ground)
    if layout == "ring":
        for kind, (one, other) in zip(kinds, pairwise([*chains, chains[0]]), strict=True):
            blocks.close(kind, one, other[-1])
    return blocks


def _fixed(blocks: Blocks, name: str, distance: float) -> Any:
    point = blocks.origin.locatenew(name, distance * blocks.length * blocks.frame.x)
    point.set_vel(blocks.frame, 0)
    return point
