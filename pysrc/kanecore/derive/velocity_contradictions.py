# SPDX-License-Identifier: BSD-3-Clause
"""Contradictory velocities and accelerations: set by the user, but different from positions and orientations.

Set values are always used, so a mistake must be reported.  Published models purposely set values that are true only at
an instant, and these are no mistakes:

- a velocity of zero: the contact point of a wheel;
- v_C + ω × r from such a point C, with ω of a body: the centre of a rolling wheel, and points located from it;
- the velocity of a body's material point at a place through which the body moves: the touching point;
- a velocity that is the derivative of the position at states on the constraints, or that has auxiliary speeds;
- an angular velocity of a frame that was never turned, or with axes that no vector is written in: a ball without a
  defined attitude.

Numbers at random states on the constraints decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.describe.description import Description, duplicate, without_auxiliary
from kanecore.describe.reading import Reading
from kanecore.errors import ModelError
from kanecore.graph.calculus import Tangent
from kanecore.graph.evaluation import count
from kanecore.graph.expression_graph import COORDINATE, INPUT, TIME, Graph
from kanecore.graph.vectors import Components, Matrix, Vector, add, cross, neg
from kanecore.tolerances import EQUAL

from .constrained_states import constrained_states, moving_states
from .kinematics import Accelerations, Kinematics

__all__ = ["Contradiction", "contradictions", "excused"]

Array = npt.NDArray[np.float64]

LONG = 100  # largest number of characters of a vector that is written out in a message


@dataclass(frozen=True)
class SetAcceleration:
    """An acceleration of a point, or an angular acceleration of a frame in another frame, as the user set it."""

    kind: str  # "point" or "frame"
    at: int
    seen_from: int  # the frame in which it was set
    vector: Vector


@dataclass(frozen=True)
class Contradiction:
    """Point or frame with a set velocity or acceleration that contradicts its position or orientation."""

    kind: str  # "point" or "frame"
    at: int
    quantity: str  # "velocity", "angular velocity", "acceleration", "angular acceleration"
    written: str
    derived: str

    def message(self, name: str) -> str:
        """Message about the point or frame with this name."""
        source = {
            "velocity": "position",
            "angular velocity": "orientation",
            "acceleration": "velocity",
            "angular acceleration": "angular velocity",
        }[self.quantity]
        used = "the former is used" if self.quantity.endswith("velocity") else "the latter is used"
        setter = {
            "velocity": "set_vel",
            "angular velocity": "set_ang_vel",
            "acceleration": "set_acc",
            "angular acceleration": "set_ang_acc",
        }[self.quantity]
        return (
            f"the {self.quantity} of {self.kind} {name} is not the derivative of its {source}: {self.written} was set, "
            f"and {self.derived} follows; {used}. Correct {setter} or leave it out"
        )


def _read(d: Description, reading: Reading) -> tuple[Description, list[SetAcceleration]]:
    """Set accelerations, on a duplicate of the description, without auxiliary or unreadable ones."""
    if not reading.set_accelerations or reading.read_again is None:
        return d, []
    d = duplicate(d)
    g = d.graph
    seeds = dict(zip(d.x, (*d.rates, *d.accelerations, *d.state_rates), strict=True)) | {d.time: g.one}
    seeds.update((i, d.inputs[k]) for i, k in zip(d.inputs, d.input_rates, strict=True) if k >= 0)
    along = Tangent(g, seeds).of
    read, result = reading.read_again(g, [along(rate) for rate in d.rates]), []
    for kind, at, seen_from, terms in reading.set_accelerations:
        try:
            vector = tuple((f, (read(m[0]), read(m[1]), read(m[2]))) for f, m in terms)
        except (KeyError, ModelError):
            continue
        result.append(SetAcceleration(kind, at, seen_from, vector))
    return d, result


def contradictions(
    reading: Reading,
    k: Kinematics,
    names: Callable[[], Mapping[Any, Any]],
) -> list[Contradiction]:
    """Contradictions of a description, points first.

    Parameters
    ----------
    reading : Reading
        The description, and the set accelerations.
    k : Kinematics
        Kinematics of the description, or of its duplicate.
    names : callable
        SymPy's symbols by the keys of the graph, for messages.
    """
    description = reading.description
    points = [i for i, p in enumerate(description.points) if k.source[i] == "set" and p.parent >= 0 and p.velocity]
    frames = [i for i, f in enumerate(description.frames) if f.oriented and not k.omega_fits[i]]
    if not (points or frames or reading.set_accelerations):
        return []
    description, accelerations = _read(description, reading)
    return _Search(description, points, frames, accelerations, names).contradictions


def excused(description: Description, k: Kinematics) -> tuple[frozenset[int], frozenset[int]]:
    """Points and frames with set velocities that differ from their positions and orientations on purpose."""
    points = [i for i, p in enumerate(description.points) if k.source[i] == "set" and p.parent >= 0]
    frames = [i for i, f in enumerate(description.frames) if f.oriented and not k.omega_fits[i]]
    if not (points or frames):
        return frozenset(), frozenset()
    search = _Search(description, points, frames, [], dict)
    if not search.states:  # the audit compares velocities with positions at its own states
        return frozenset(), frozenset(frames)
    slips = {(slip.kind, slip.at) for slip in search.contradictions}
    return (
        frozenset(i for i in points if search.differs(i) and ("point", i) not in slips),
        frozenset(i for i in frames if ("frame", i) not in slips),
    )


class _Search:
    """Comparison of set velocities with derived ones, at states on the constraints."""

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
        self.contradictions: list[Contradiction] = []
        # values that agree off the constraints on positions agree on them as well; random loops seldom close
        self.states = [] if accelerations else moving_states(self.k)
        if self.states and self._agree(points, frames):
            return
        self.contradictions = []
        self.states = constrained_states(self.k, bool(accelerations))
        if self.states:
            self._of_points(points)
            self._of_frames(frames)
            self._of_accelerations(accelerations)

    def _agree(self, points: Sequence[int], frames: Sequence[int]) -> bool:
        """Test whether all velocities agree with positions and orientations; possible exceptions do not."""
        self._of_frames(frames)
        return not self.contradictions and not any(map(self.differs, points))

    # ----------------------------------------------------------------- comparing
    def _numbers(self, v: Components) -> Array:
        """(states, 3)."""
        return np.array([s.values(v) for s in self.states])

    @staticmethod
    def _equal(a: Array, b: Array, size: Any = 0.0) -> bool:
        """Compare at all states where both are finite; values of unused branches do not count."""
        scale = np.maximum(np.max(np.abs([a, b]), axis=(0, 2)), size)
        return not np.any(np.max(np.abs(a - b), axis=1) > EQUAL * scale)

    def _is_freed(self, vector: Vector) -> bool:
        """Test whether a vector has auxiliary speeds."""
        return not self._auxiliary.isdisjoint(self.g.below([i for _, v in vector for i in v]))

    def _add(self, kind: str, at: int, quantity: str, written: Vector, derived: Vector) -> None:
        self.contradictions.append(Contradiction(kind, at, quantity, self._text(written), self._text(derived)))

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
        differing = [i for i in points if self.differs(i)]
        for i in self._unexplained(differing) if differing else ():
            given = d.points[i].velocity or ((k.home[i], k.velocity[i]),)
            self._add("point", i, "velocity", given, ((k.home[i], k.carried(i)[0]),))

    def differs(self, i: int) -> bool:
        """Test whether a velocity is not the derivative of the position; False if it has auxiliary speeds."""
        if self._is_freed(self._freed.points[i].velocity or ()):
            return False
        carried, summands = self.k.carried(i)
        size = np.max(np.abs([s.values(summands) for s in self.states]), axis=1, initial=0.0)
        return not self._equal(self._numbers(self.k.velocity[i]), self._numbers(carried), size)

    def _unexplained(self, differing: Sequence[int]) -> list[int]:
        """Points that are no contacts, do not move with a contact, and do not touch another body."""
        d, motion = self.d, _Motion(self.k, self._numbers)
        own = {i: [b.frame for b in d.bodies if b.point == i and b.frame >= 0] for i in differing}
        at_rest = [i for i in differing if self._is_at_rest(i, motion.velocity[i])]
        fixed = [*(i for i, p in enumerate(d.points) if p.velocity == ()), *at_rest]
        contacts = [i for i in fixed if d.points[i].parent >= 0]  # at rest at moving places
        moving = [i for i in differing if i not in at_rest]

        def rolls(i: int) -> bool:
            if own[i]:
                ways = [(point, f) for f in own[i] for point in (*fixed, *contacts)]
            else:
                ways = [(point, f) for f in motion.omega for point in contacts]
            return any(self._is_carried(motion, i, point, f) for point, f in ways)

        while rolling := [i for i in moving if rolls(i)]:
            contacts += rolling  # points that move with a contact may carry further points
            moving = [i for i in moving if i not in rolling]
        centres = {b.point for b in d.bodies}
        bodies = [b for b in d.bodies if b.frame >= 0]

        def touches(i: int) -> bool:
            """Test whether a point has the velocity of a body's material point, for all motions of the body."""
            return i not in centres and any(self._is_carried(motion, i, b.point, b.frame) for b in bodies)

        return [i for i in moving if not touches(i)]

    def _is_carried(self, motion: _Motion, i: int, carrier: int, frame: int) -> bool:
        """Test whether v_i = v_C + ω × r, with the carrier C, ω of a body, and r the position of point i from C."""
        if i == carrier or motion.root[i] != motion.root[carrier]:
            return False
        omega, places = motion.omega[frame], [motion.position[i], motion.position[carrier]]
        size = np.max(np.abs(omega), axis=1) * np.max(np.abs(places), axis=(0, 2))
        return self._equal(motion.velocity[i], motion.velocity[carrier] + np.cross(omega, places[0] - places[1]), size)

    def _is_at_rest(self, i: int, velocity: Array) -> bool:
        compared = [self._numbers(v) for v in (self.k.velocity[i], self.k.carried(i)[0])]
        return not np.any(np.abs(velocity) > EQUAL * np.max(np.abs(compared), axis=(0, 2))[:, np.newaxis])

    # -------------------------------------------------------------------- frames
    def _of_frames(self, frames: Sequence[int]) -> None:
        k, d, g = self.k, self.d, self.g
        rate = Tangent(g, k.seeds)
        for i in frames:
            frame = d.frames[i]
            entries = [x for row in frame.rotation for x in row]
            if not any(g.depends[x] & (COORDINATE | TIME | INPUT) for x in entries):
                continue
            if self._is_freed(self._freed.frames[i].angular_velocity) or not self._matters(i):
                continue
            turned = k.turning(g, i, rate)
            if not all(self._equal_scalars(a, b) for a, b in k.square(g, i)):
                continue  # a prescribed quaternion is no rotation at random states
            given = k.relative_omega(g, i)
            if not self._equal(self._numbers(given), self._numbers(turned)):
                self._add("frame", i, "angular velocity", ((i, given),), ((i, turned),))

    def _matters(self, i: int) -> bool:
        """Test whether a vector or tensor is written in the axes of a frame, or of a frame oriented from it.

        The inertia of a ball does not count: it is the same in all axes.
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
        """Test whether two entries of rotation matrices are equal; they are pure numbers of size one."""
        return all(abs(s(a) - s(b)) <= EQUAL for s in self.states)

    # ------------------------------------------------------------- accelerations
    def _of_accelerations(self, accelerations: Sequence[SetAcceleration]) -> None:
        if not accelerations:
            return
        k = self.k
        derived = Accelerations(k, self.d.accelerations)
        for given in accelerations:
            i = given.at
            if given.kind == "point":
                vector, frame, what = derived.acceleration[i], k.home[i], "acceleration"
            else:
                vector, frame, what = self._alpha(derived, i, given.seen_from), i, "angular acceleration"
            if not self._equal(self._numbers(k.resolve_all(given.vector, frame)), self._numbers(vector)):
                self._add(given.kind, i, what, given.vector, ((frame, vector),))

    def _alpha(self, derived: Accelerations, i: int, seen_from: int) -> Components:
        """The angular acceleration of a frame in another: N d(ω)/dt − ω_other × ω, with ω of the frame in the other."""
        k, g = self.k, self.g
        omega_other = k.resolve(k.omega[seen_from], seen_from, i)
        omega = add(g, k.omega[i], neg(g, omega_other))
        change = add(g, derived.alpha[i], neg(g, k.resolve(derived.alpha[seen_from], seen_from, i)))
        return add(g, change, neg(g, cross(g, omega_other, omega)))


class _Motion:
    """Vectors of all points and bodies in inertial axes, (states, 3) each; ``root`` is the root of a point's tree."""

    def __init__(self, k: Kinematics, numbers: Callable[[Components], Array]) -> None:
        d = k.description
        self.velocity = [numbers(k.resolve(v, home, 0)) for v, home in zip(k.velocity, k.home, strict=True)]
        self.position = [numbers(k.position(i)) for i in range(len(d.points))]
        self.omega = {b.frame: numbers(k.resolve(k.omega[b.frame], b.frame, 0)) for b in d.bodies if b.frame >= 0}
        self.root: list[int] = []
        for i, p in enumerate(d.points):
            self.root.append(i if p.parent < 0 else self.root[p.parent])


def _is_isotropic(m: Matrix) -> bool:
    return all(m[a][b] == (m[0][0] if a == b else 0) for a in range(3) for b in range(3))
