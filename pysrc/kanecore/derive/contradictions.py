# SPDX-License-Identifier: BSD-3-Clause
"""Velocities and accelerations that a user set and that contradict positions and orientations.

What was set is used, whatever it is; so a slip must be said.  Published models say things on purpose that hold at an
instant alone, and these are no slips:

- a velocity of zero: the contact point of a wheel;
- v_C + ω × r from such a point C, ω that of a body: the centre of a wheel that rolls, and what is located from it;
- the velocity of a body's material point at a place through which the body moves: the point that touches;
- a velocity that is the derivative of the position wherever the constraints hold, or that holds auxiliary speeds;
- an angular velocity of a frame that was never turned, or in whose axes nothing is written: a ball whose attitude
  nobody needs.

All is decided by numbers, at random states that satisfy the constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.describe.description import Components, Description, Matrix, Vector, duplicate, without_auxiliary
from kanecore.describe.symbols import Symbols
from kanecore.errors import ModelError
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.evaluate import count
from kanecore.graph.sample import Sample
from kanecore.graph.scalars import COORDINATE, INPUT, TIME, Graph
from kanecore.tolerances import EQUAL, RANK

from .kinematics import Accelerations, Kinematics
from .vectors import add, cross, neg

__all__ = ["Contradiction", "contradictions"]

Given = tuple[str, int, int, list[tuple[int, Any]]]
Array = npt.NDArray[np.float64]

STATES, TRIES, STEPS = 2, 12, 30  # states to compare at, seeds to start from, steps of Newton's method that stall
CLOSED = 1e-11  # of the first-order terms of a row: what Newton's method leaves; beyond, only rounding
LONG = 100  # characters of a vector that is written out in a message


@dataclass(frozen=True)
class SetAcceleration:
    """An acceleration of a point, or an angular one of a frame in another, as the user set it."""

    kind: str  # "point" or "frame"
    at: int
    other: int  # frame that it was set in
    vector: Vector


@dataclass(frozen=True)
class Contradiction:
    """A point or frame whose velocity or acceleration was set to what its position or orientation denies."""

    kind: str  # "point" or "frame"
    at: int
    what: str  # "velocity", "angular velocity", "acceleration", "angular acceleration"
    given: str
    derived: str

    def told(self, name: str) -> str:
        """The message about the point or frame of that name."""
        of = {
            "velocity": "its position gives",
            "angular velocity": "its orientation gives",
            "acceleration": "the velocity that is used gives",
            "angular acceleration": "the angular velocity that is used gives",
        }[self.what]
        used = "the former is used" if self.what.endswith("velocity") else "the latter is used"
        setter = {
            "velocity": "set_vel",
            "angular velocity": "set_ang_vel",
            "acceleration": "set_acc",
            "angular acceleration": "set_ang_acc",
        }[self.what]
        return (
            f"{self.kind} {name}: its {self.what} was set to {self.given}, and {of} {self.derived}; {used}. Correct "
            f"{setter} or leave it out; report() says so beside {self.kind} {name}"
        )


def _read(d: Description, symbols: Symbols, given: Sequence[Given]) -> tuple[Description, list[SetAcceleration]]:
    """What was set, on a duplicate of the description; without what holds auxiliary speeds or cannot be read."""
    if not given:
        return d, []
    d = duplicate(d)
    g = d.graph
    seeds = dict(zip((*d.coordinates, *d.speeds), (*d.rates, *d.accelerations), strict=True)) | {d.time: g.one}
    seeds.update((i, d.inputs[k]) for i, k in zip(d.inputs, d.input_rates, strict=True) if k >= 0)
    along = Tangent(g, seeds).of
    second = {q: along(rate) for q, rate in zip(symbols.q, d.rates, strict=True)}
    read, result = symbols.foreign(g, second), []
    for kind, at, other, terms in given:
        try:
            vector = tuple((f, (read(c[0]), read(c[1]), read(c[2]))) for f, c in terms)
        except (KeyError, ModelError):
            continue
        result.append(SetAcceleration(kind, at, other, vector))
    return d, result


def contradictions(
    description: Description,
    k: Kinematics,
    given: Sequence[Given],
    symbols: Symbols,
    names: Callable[[], Mapping[Any, Any]],
) -> list[Contradiction]:
    """All of a description, points first.

    Parameters
    ----------
    k : Kinematics
        Of the description, or of its duplicate.
    given : sequence
        Accelerations that were set: kind, number, frame that it was set in, and its components as SymPy matrices.
    symbols : Symbols
        What they are read with.
    names : callable
        SymPy's symbols by the keys of the graph, for messages.
    """
    points = [i for i, p in enumerate(description.points) if k.source[i] == "set" and p.parent >= 0 and p.velocity]
    frames = [i for i, f in enumerate(description.frames) if f.oriented and not k.omega_fits[i]]
    if not (points or frames or given):
        return []
    description, accelerations = _read(description, symbols, given)
    return _Search(description, points, frames, accelerations, names).found


class _Search:
    def __init__(
        self,
        description: Description,
        points: Sequence[int],
        frames: Sequence[int],
        accelerations: Sequence[SetAcceleration],
        names: Callable[[], Mapping[Any, Any]],
    ) -> None:
        freed = duplicate(description)
        self.d = without_auxiliary(freed)
        self.g: Graph = self.d.graph
        self.k = Kinematics(self.d)
        self._names = names
        self._auxiliary = set(freed.auxiliary)
        self._freed = freed
        self.states = _states(self.k, bool(accelerations))
        self.found: list[Contradiction] = []
        if self.states:
            self._of_points(points)
            self._of_frames(frames)
            self._of_accelerations(accelerations)

    # ----------------------------------------------------------------- comparing
    def _numbers(self, v: Components) -> Array:
        """(states, 3)."""
        return np.array([s.values(v) for s in self.states])

    def _in_world(self, v: Components, frame: int) -> Array:
        return self._numbers(self.k.resolve(v, frame, 0))

    @staticmethod
    def _equal(a: Array, b: Array, size: Any = 0.0) -> bool:
        """At all states where both are numbers; those of branches that are not taken decide nothing."""
        scale = np.maximum(np.max(np.abs([a, b]), axis=(0, 2)), size)
        return not np.any(np.max(np.abs(a - b), axis=1) > EQUAL * scale)

    def _is_freed(self, vector: Vector) -> bool:
        """Whether a vector holds auxiliary speeds."""
        return not self._auxiliary.isdisjoint(self.g.below([i for _, v in vector for i in v]))

    def _add(self, kind: str, at: int, what: str, given: Vector, derived: Vector) -> None:
        self.found.append(Contradiction(kind, at, what, self._text(given), self._text(derived)))

    def _text(self, vector: Vector) -> str:
        from sympy import Symbol, trigsimp
        from sympy.physics.vector import vsstrrepr

        from kanecore.graph.sympy_bridge import to_sympy

        parts = [(f, axis, v[axis]) for f, v in vector for axis in range(3) if v[axis]]
        operations = count(self.g, [i for _, _, i in parts])
        if operations["total"] + operations["functions"] + operations["sincos"] <= LONG:
            names = {node[1]: Symbol(str(node[1][-1])) for node in self.g.nodes if node[0] == "sym"}
            written = to_sympy(self.g, [i for _, _, i in parts], {**names, **self._names()}, nested=True)[1]
            terms = []
            for e, (f, axis, _) in zip(written, parts, strict=True):
                e = trigsimp(e)
                factor = f"({vsstrrepr(e)})" if e.is_Add else vsstrrepr(e)
                terms.append(f"{factor}*{self.d.frames[f].name}.{'xyz'[axis]}" if e else "")
            text = " + ".join(filter(None, terms)).replace("+ -", "- ") or "0"
            if len(text) <= LONG:
                return text
        values = sum((np.array(self.states[0].values(self.k.resolve(v, f, 0))) for f, v in vector), start=np.zeros(3))
        numbers = ", ".join(f"{x:.3g}" for x in values)
        axes = self.d.frames[0].name
        return f"{operations['total']} operations, ({numbers}) in the axes of {axes} at a random state"

    # -------------------------------------------------------------------- points
    def _of_points(self, points: Sequence[int]) -> None:
        k, d = self.k, self.d
        open_points: dict[int, tuple[Components, Components]] = {}
        for i in points:
            carried, summands = k.carried(i)
            given = k.velocity[i]
            size = np.max(np.abs([s.values(summands) for s in self.states]), axis=1, initial=0.0)
            if self._is_freed(self._freed.points[i].velocity or ()):
                continue
            if not self._equal(self._numbers(given), self._numbers(carried), size):
                open_points[i] = given, carried
        if not open_points:
            return
        velocity = [self._in_world(v, home) for v, home in zip(k.velocity, k.home, strict=True)]
        position = [self._numbers(k.position(i)) for i in range(len(d.points))]
        turning = {b.frame: self._in_world(k.omega[b.frame], b.frame) for b in d.bodies if b.frame >= 0}
        root = [i if p.parent < 0 else -1 for i, p in enumerate(d.points)]
        for i, p in enumerate(d.points):
            root[i] = root[p.parent] if p.parent >= 0 else i
        own = {i: [b.frame for b in d.bodies if b.point == i and b.frame >= 0] for i in open_points}
        centres = {b.point for b in d.bodies}

        def moves_with(i: int, c: int, frame: int) -> bool:
            if i == c or root[i] != root[c]:
                return False
            swung = np.cross(turning[frame], position[i] - position[c])
            size = np.max(np.abs(turning[frame]), axis=1) * np.max(np.abs([position[i], position[c]]), axis=(0, 2))
            return self._equal(velocity[i], velocity[c] + swung, size)

        still = [i for i, p in enumerate(d.points) if p.velocity == ()]
        for i in [i for i in open_points if not np.any(np.abs(velocity[i]) > EQUAL * self._size(open_points[i]))]:
            still.append(i)
            del open_points[i]
        excused = [i for i in still if d.points[i].parent >= 0]  # contacts: at rest at places that move
        progress = True
        while progress:
            progress = False
            for i in list(open_points):
                ways = [(c, f) for f in own[i] for c in (*still, *excused)]
                if not own[i]:
                    ways += [(c, f) for f in turning for c in excused]
                if any(moves_with(i, c, f) for c, f in ways):
                    excused.append(i)
                    del open_points[i]
                    progress = True
        for i in [i for i in open_points if i not in centres]:  # what touches now, whatever its body does
            if any(moves_with(i, b.point, b.frame) for b in d.bodies if b.frame >= 0):
                del open_points[i]
        for i, (given, carried) in open_points.items():
            self._add("point", i, "velocity", d.points[i].velocity or ((k.home[i], given),), ((k.home[i], carried),))

    def _size(self, pair: tuple[Components, Components]) -> Array:
        return np.asarray(np.max(np.abs([self._numbers(v) for v in pair]), axis=(0, 2))[:, np.newaxis])

    # -------------------------------------------------------------------- frames
    def _of_frames(self, frames: Sequence[int]) -> None:
        k, d, g = self.k, self.d, self.g
        for i in frames:
            frame = d.frames[i]
            entries = [x for row in frame.rotation for x in row]
            if not any(g.depends[x] & (COORDINATE | TIME | INPUT) for x in entries):
                continue
            if self._is_freed(self._freed.frames[i].angular_velocity) or not self._matters(i):
                continue
            square, turned = k.turning(g, i)
            if not all(self._equal_scalars(a, b) for a, b in square):
                continue  # no rotation at random states: a quaternion that is prescribed
            told = k.relative_omega(g, i)
            if not self._equal(self._numbers(told), self._numbers(turned)):
                self._add("frame", i, "angular velocity", ((i, told),), ((i, turned),))

    def _matters(self, i: int) -> bool:
        """Whether anything is written in the axes of a frame, or of one that is oriented from it.

        The inertia of a ball is not: it is the same in all axes.
        """
        d = self.d
        below = {i}
        for j in range(i + 1, len(d.frames)):
            if d.frames[j].parent in below:
                below.add(j)
        vectors = [p.position for p in d.points] + [p.velocity or () for p in d.points] + [x.vector for x in d.loads]
        vectors += [b.about for b in d.bodies] + [a.vector for a in d.attachments]
        vectors += [f.angular_velocity for j, f in enumerate(d.frames) if j not in below]
        used = {f for vector in vectors for f, _ in vector}
        used |= {f for b in d.bodies for f, m in b.inertia if not _is_isotropic(m)}
        return not used.isdisjoint(below)

    def _equal_scalars(self, a: int, b: int) -> bool:
        """Of entries of rotation matrices: pure numbers, of size one."""
        return all(abs(s(a) - s(b)) <= EQUAL for s in self.states)

    # ------------------------------------------------------------- accelerations
    def _of_accelerations(self, accelerations: Sequence[SetAcceleration]) -> None:
        if not accelerations:
            return
        k, d, g = self.k, self.d, self.g
        found = Accelerations(k, d.accelerations)
        for item in accelerations:
            if item.kind == "point":
                derived, frame, what = found.acceleration[item.at], k.home[item.at], "acceleration"
            else:
                # in the other frame: N d(ω)/dt less ω_other × ω
                i, o, frame, what = item.at, item.other, item.at, "angular acceleration"
                spin = add(g, k.omega[i], neg(g, k.resolve(k.omega[o], o, i)))
                derived = add(g, found.alpha[i], neg(g, k.resolve(found.alpha[o], o, i)))
                derived = add(g, derived, neg(g, cross(g, k.resolve(k.omega[o], o, i), spin)))
            given = k.resolve_all(item.vector, frame)
            if not self._equal(self._numbers(given), self._numbers(derived)):
                self._add(item.kind, item.at, what, item.vector, ((frame, derived),))


def _is_isotropic(m: Matrix) -> bool:
    return all(m[a][b] == (m[0][0] if a == b else 0) for a in range(3) for b in range(3))


def _states(k: Kinematics, accelerations: bool) -> list[Sample]:
    """Random states at which constraints hold as positions, as velocities and, on request, as accelerations."""
    d, g = k.description, k.graph
    places, velocities, others = (
        [c.node for c in d.constraints if c.kind == kind] for kind in ("configuration", "velocity", "acceleration")
    )
    levels: list[tuple[Sequence[int], list[int]]] = []
    if places:
        norms = [g.sub(g.sum(g.square(d.coordinates[i]) for i in group), g.one) for group in d.unit]
        levels.append((d.coordinates, [*places, *norms]))
        others_move = (*d.coordinates, *d.parameters)  # four bars of random lengths seldom close
    rates = [*velocities, *(k.rate.of(phi) for phi in places)]
    if rates:
        levels.append((d.speeds, rates))
    if accelerations and (rates or others):
        seeds = {**k.seeds, **dict(zip(d.speeds, d.accelerations, strict=True))}
        along = Tangent(g, seeds).of
        levels.append((d.accelerations, [*others, *map(along, rates)]))
    systems = [(x, rows, [accumulate(g, [(row, g.one)], x) for row in rows]) for x, rows in levels]
    found: list[Sample] = []
    for seed in range(TRIES):
        given: dict[int, float] = {}
        values: dict[int, float] | None = given
        for x, rows, slopes in systems:
            values = _newton(g, seed, given, x, rows, slopes)
            if values is None and x is d.coordinates:
                wide = [accumulate(g, [(row, g.one)], others_move) for row in rows]
                values = _newton(g, seed, given, others_move, rows, wide)
            if values is None:
                break
            given = values
        if values is not None:
            found.append(Sample(g, seed, values))
        if len(found) == STATES:
            break
    return found


def _newton(
    g: Graph,
    seed: int,
    given: Mapping[int, float],
    unknown: Sequence[int],
    rows: Sequence[int],
    slopes: Sequence[Sequence[int]],
) -> dict[int, float] | None:
    """Values of the unknowns beside those given, with the least change from random ones; None where it finds none."""
    x = np.array(Sample(g, seed, given).values(unknown))
    stalled, before = 0, np.full(len(rows), np.inf)
    while stalled < STEPS:
        values = {**given, **dict(zip(unknown, x.tolist(), strict=True))}
        state = Sample(g, seed, values)
        residual = np.array(state.values(rows))
        jacobian = np.array([state.values(row) for row in slopes]).reshape(len(rows), len(unknown))
        if not (np.isfinite(residual).all() and np.isfinite(jacobian).all()):
            return None
        small = np.abs(residual) <= CLOSED * (np.abs(jacobian) @ np.abs(x))
        if all(ok or state.vanishes(row) for ok, row in zip(small, rows, strict=True)):
            return values
        falls = np.abs(residual) <= 0.5 * before  # far from a solution each step of a quadratic row leaves a quarter
        stalled, before = stalled + (not np.all(small | falls)), np.abs(residual)
        x = x - np.linalg.lstsq(jacobian, residual, rcond=RANK)[0]
    return None
