# SPDX-License-Identifier: BSD-3-Clause
"""Random mechanisms with constraints, and what saddle-point equations in NumPy say of them.

``random_constrained(seed)`` takes a small random tree and a state of it, then adds constraints that hold at this state:
loops are closed by constants that the state decides, speeds are brought to the constraints that are linear in them, and
constants of the others are set last.  Rows that nearly depend on earlier ones are dropped; some that do are added.

``ConstraintOracle`` shares nothing with the package under test.  M and f are `PositionOracle`'s, from positions alone;
the rows of G u̇ + γ = 0 are differences of the constraint expressions in 80 digits; u̇ and the least λ are NumPy's
solution of

    M u̇ − Gᵀ λ = f,    G u̇ = −γ.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import sympy as sm
import sympy.physics.mechanics as me

from .position_oracle import DIGITS, STEP, Moment, PositionOracle, add, numbers
from .random_trees import Draw, Link, Tree, combine, random_state

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t

#: What a mechanism may contain; ``system["kinds"]`` counts them.
CONSTRAINT_KINDS = (
    *("tree", "roller", "planar", "cranks"),
    *("loop_planar", "loop_spatial", "loop_to_ground", "loop_between_bodies", "distance", "guide"),
    *("knife_edge", "rolling_ball", "rolling_disc", "touching", "gear", "pivot_by_speeds"),
    *("constant_speed", "sum_of_squares", "product_of_speeds"),
    *("rheonomic_t", "rheonomic_input", "on_accelerations"),
    *("doubled_row", "combined_row", "scaled_row", "filed_rate"),
    *("configuration", "velocity", "acceleration", "velocity_as_rates", "velocity_as_speeds"),
    *("dependent_named", "dependent_unnamed", "shuffled_rows"),
)
#: The least singular value of rows of size one that are taken to be independent.
APART = 0.02


@dataclass(frozen=True)
class Row:
    """``expression`` = 0; with ``constant``, a symbol in it, chosen so that it holds at the state."""

    kind: str  # "configuration", "velocity", "acceleration"
    expression: sm.Expr
    constant: sm.Symbol | None = None
    linear: bool = True


@dataclass(frozen=True)
class Group:
    """Rows that belong together, and the kinds that they are where all of them are kept."""

    rows: list[Row]
    kinds: Counter[str]


class ConstrainedTree(Tree):
    """A tree of one to four bodies, all velocities set, that knows candidates for constraints."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, complete=True)
        draw = self.draw
        self.family = draw.weighted({"tree": 5, "roller": 3, "planar": 3})
        self.kinds[self.family] += 1
        self.plain = False
        if self.family == "roller":
            self.n_bodies = draw.weighted({1: 3, 2: 2})
        else:
            self.n_bodies = draw.weighted({2: 1, 3: 3, 4: 2})
        self.constants = 0

    # ---------------------------------------------------------------- the tree

    def axis(self, frame: me.ReferenceFrame, joint: str) -> tuple[me.Vector, str]:
        return (frame.z, joint) if self.family == "planar" else super().axis(frame, joint)

    def fixed_frame(self, name: str, parent: me.ReferenceFrame) -> me.ReferenceFrame:
        if self.family != "planar":
            return super().fixed_frame(name, parent)
        frame = me.ReferenceFrame(name)
        frame.orient_explicit(parent, sm.Matrix([[3, -4, 0], [4, 3, 0], [0, 0, 5]]) / 5)
        return frame

    def add_link(self, i: int) -> None:
        parent = self.draw.one_of(self.links[-2:]) if self.links else self.ground
        joints = {"pin": 4.0, "slider": 2.0, "universal": 2.0, "free": 1.0 if parent is self.ground else 0.0}
        if self.family == "planar":
            joints = {"pin": 1.0}
        elif self.family == "roller":
            joints = {"pin": 3.0, "slider": 1.0} if self.links else {"free": 1.0}
        joint = self.draw.weighted(joints)
        link = getattr(self, joint)(i, parent, *self.mount(i, parent))
        link.depth = parent.depth + 1
        parent.children += 1
        self.links.append(link)
        self.add_body(i, link, joint)

    # ---------------------------------------------------------------- what constraints are made of

    def constant(self) -> sm.Symbol:
        self.constants += 1
        return sm.Symbol(f"const{self.constants}")

    def tip(self, link: Link) -> me.Point:
        """A point of a body, off its mass centre."""
        name = f"E{len(self.velocity_known)}"
        return self.fixed_point(name, link.centre, self.vector(f"e{name}", link.frame, -0.7, 0.7), link.frame)

    def moving(self, low: float = 0.2, high: float = 0.6) -> sm.Expr:
        """Zero, a function of time, or something that is given from outside with its rates."""
        kind = self.draw.weighted({"": 4, "rheonomic_t": 1.5, "rheonomic_input": 1.5})
        if not kind:
            return sm.S.Zero
        self.kinds[kind] += 1
        if kind == "rheonomic_t":
            return self.number("ra", low, high) * sm.sin(self.number("rw", 1, 2) * t)
        self.prescribed.append(me.dynamicsymbols(f"given{len(self.prescribed)}"))
        return self.prescribed[-1]

    def velocity(self, point: me.Point, direction: me.Vector) -> sm.Expr:
        """v·direction, in speeds, or in rates of coordinates by SymPy's derivative of the position."""
        if self.draw.chance(0.5):
            self.kinds["velocity_as_speeds"] += 1
            return point.vel(self.N).dot(direction)
        self.kinds["velocity_as_rates"] += 1
        place = point.pos_from(self.O)
        rate = combine([sm.diff(place.dot(e), t) for e in self.N], self.N)
        return rate.dot(direction)

    # ---------------------------------------------------------------- candidates

    def loop_planar(self) -> list[Row]:
        self.kinds["loop_planar"] += 1
        return self.loop([self.N.x, self.N.y])

    def loop_spatial(self) -> list[Row]:
        self.kinds["loop_spatial"] += 1
        return self.loop([self.N.x, self.N.y, self.N.z])

    def loop(self, axes: list[me.Vector]) -> list[Row]:
        """A point of a body stays at a point of another, or of the ground."""
        one, *others = self.draw.shuffled(self.links)
        gap = self.tip(one).pos_from(self.O)
        if others and self.draw.chance(0.5):
            self.kinds["loop_between_bodies"] += 1
            gap -= self.tip(others[0]).pos_from(self.O)
        else:
            self.kinds["loop_to_ground"] += 1
        moved = self.moving()
        rows = []
        for k, e in enumerate(axes):
            c = self.constant()
            rows.append(Row("configuration", gap.dot(e) - c - (moved if k == 0 else 0), c))
        return rows

    def distance(self) -> list[Row]:
        """A massless rod between two bodies, or a body and the ground."""
        self.kinds["distance"] += 1
        one, *others = self.draw.shuffled(self.links)
        reach = self.tip(one).pos_from(self.O) - combine([3, -2, 2], self.N)
        if others and self.draw.chance(0.6):
            reach = self.tip(one).pos_from(self.tip(others[0]))
        c = self.constant()
        return [Row("configuration", reach.dot(reach) - c - self.moving(), c)]

    def guide(self) -> list[Row]:
        """A point slides in a plane, or on a bowl."""
        self.kinds["guide"] += 1
        place, c = self.tip(self.draw.one_of(self.links)).pos_from(self.O), self.constant()
        x, y, z = (place.dot(e) for e in self.N)
        shape = self.draw.one_of((x - 2 * y + z, z - x**2 / 4 - y**2 / 3, y + sm.sin(x), x * y + z))
        if self.family == "planar":
            shape = self.draw.one_of((x - 2 * y, y - x**2 / 4, y + sm.sin(x)))
        return [Row("configuration", shape - c - self.moving(), c)]

    def knife_edge(self) -> list[Row]:
        self.kinds["knife_edge"] += 1
        link = self.draw.one_of(self.links)
        direction = self.draw.one_of((link.frame.x, link.frame.y))
        return [Row("velocity", self.velocity(self.tip(link), direction) - self.moving())]

    def pivot_by_speeds(self) -> list[Row]:
        """A point whose velocity is given in two or three directions, with no constraint on its place."""
        self.kinds["pivot_by_speeds"] += 1
        point = self.tip(self.draw.one_of(self.links))
        axes = [self.N.x, self.N.y, *([] if self.family == "planar" else [self.N.z])]
        return [Row("velocity", self.velocity(point, e) - (self.moving() if e == self.N.x else 0)) for e in axes]

    def rolling_ball(self) -> list[Row]:
        """The point of a ball on a plane is at rest, or moves with a belt."""
        self.kinds["rolling_ball"] += 1
        link, radius = self.links[0], self.number("rad", 0.3, 0.7)
        slip = link.centre.vel(self.N) + link.frame.ang_vel_in(self.N).cross(-radius * self.N.z)
        rows = [Row("velocity", slip.dot(self.N.x) - self.moving()), Row("velocity", slip.dot(self.N.y))]
        return [*rows, *self.touching(link.centre.pos_from(self.O).dot(self.N.z), slip.dot(self.N.z))]

    def rolling_disc(self) -> list[Row]:
        """A thin disc with the axis y of its body; its lowest point is at rest."""
        self.kinds["rolling_disc"] += 1
        link, radius = self.links[0], self.number("rad", 0.3, 0.7)
        axis, up = link.frame.y, self.N.z
        sink = axis.dot(up)
        lowest = -radius / sm.sqrt(1 - sink**2) * (up - sink * axis)
        slip = link.centre.vel(self.N) + link.frame.ang_vel_in(self.N).cross(lowest)
        rows = [Row("velocity", slip.dot(e)) for e in (self.N.x, self.N.y)]
        height = link.centre.pos_from(self.O).dot(up) - radius * sm.sqrt(1 - sink**2)
        return [*rows, *self.touching(height, slip.dot(up))]

    def touching(self, height: sm.Expr, rate: sm.Expr) -> list[Row]:
        """The body stays on the plane: by its height, by the velocity of its lowest point, or it may lift off."""
        way = self.draw.weighted({"height": 2, "rate": 1, "free": 1})
        if way == "free":
            return []
        self.kinds["touching"] += 1
        c = self.constant()
        return [Row("configuration", height - c, c) if way == "height" else Row("velocity", rate)]

    def gear(self) -> list[Row]:
        """Two speeds in a ratio, constant or not."""
        self.kinds["gear"] += 1
        one, other, *_ = self.draw.shuffled([c for c in self.coordinates if c.u is not None])
        ratio = self.draw.one_of((self.number("n", 0.5, 2), sm.Rational(-3, 2), 2 + sm.cos(one.q)))
        return [Row("velocity", one.u - ratio * other.u - self.moving())]

    def nonlinear(self) -> list[Row]:
        kind = self.draw.one_of(("constant_speed", "sum_of_squares", "product_of_speeds"))
        self.kinds[kind] += 1
        c, speeds = self.constant(), self.draw.shuffled([x.u for x in self.coordinates if x.u is not None])
        if kind == "constant_speed":
            v = self.tip(self.draw.one_of(self.links)).vel(self.N)
            value = v.dot(v)
        elif kind == "sum_of_squares":
            value = speeds[0] ** 2 + 2 * speeds[1] ** 2
        else:
            value = speeds[0] * speeds[1] - (speeds[2] if len(speeds) > 2 else speeds[1] ** 3)
        return [Row("velocity", value - c - self.moving(), c, linear=False)]

    def on_accelerations(self) -> list[Row]:
        """Given on u̇: it says nothing of the speeds."""
        self.kinds["on_accelerations"] += 1
        one, other, *_ = self.draw.shuffled([c for c in self.coordinates if c.u is not None])
        coefficient = self.draw.one_of((sm.Integer(2), self.number("k", 0.5, 2), sm.cos(other.q), 2 + one.u))
        drift = self.draw.one_of((sm.sin(t), one.u * other.u, self.number("b", 1, 3)))
        return [Row("acceleration", one.u.diff(t) + coefficient * other.u.diff(t) - drift)]

    def candidates(self) -> list[Group]:
        draw, planar = self.draw, self.family == "planar"
        several = sum(c.u is not None for c in self.coordinates) > 1
        ways: dict[Callable[[], list[Row]], float] = {
            self.distance: 2,
            self.guide: 3,
            self.knife_edge: 4,
            self.pivot_by_speeds: 3.5,
            **({self.gear: 3, self.nonlinear: 11, self.on_accelerations: 3} if several else {}),
        }
        chosen: list[Callable[[], list[Row]]] = []
        if self.family == "roller":
            chosen.append(draw.one_of((self.rolling_ball, self.rolling_disc)))
        elif planar or draw.chance(0.45):
            chosen.append(self.loop_planar if planar or draw.chance(0.2) else self.loop_spatial)
        more = draw.weighted({0: 1, 1: 3, 2: 3, 3: 1})
        chosen += [draw.weighted(ways) for _ in range(more or not chosen)]
        groups = []
        for way in chosen:
            before, self.kinds = self.kinds, Counter()
            groups.append(Group(way(), self.kinds))
            self.kinds = before
        return groups


def cranks(seed: int) -> tuple[dict[str, Any], list[Group], list[float]]:
    """A coupler on three or four equal parallel cranks: its rows depend on each other on the constraints alone."""
    draw = Draw(seed)
    n = draw.integer(3, 4)
    q, u = me.dynamicsymbols(f"q1:{n + 4}"), me.dynamicsymbols(f"u1:{n + 4}")
    values = {sm.Symbol(k): sm.Rational(draw.integer(3, 12), 10) for k in ("m", "l", "d", "I")}
    m, length, d, moment = values
    N, O = me.ReferenceFrame("N"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    B = N.orientnew("B", "Axis", [q[2], N.z])
    B.set_ang_vel(N, u[2] * N.z)
    P = O.locatenew("P", q[0] * N.x + q[1] * N.y)
    P.set_vel(N, u[0] * N.x + u[1] * N.y)
    bodies = [me.RigidBody("coupler", P, B, m, (me.inertia(B, moment, moment, moment), P))]
    rows = []
    for i, (angle, rate) in enumerate(zip(q[3:], u[3:], strict=True)):
        A = N.orientnew(f"A{i}", "Axis", [angle, N.z])
        A.set_ang_vel(N, rate * N.z)
        pivot = O.locatenew(f"V{i}", i * d * N.x)
        pivot.set_vel(N, 0)
        end = pivot.locatenew(f"C{i}", length * A.x)
        end.v2pt_theory(pivot, N, A)
        bodies.append(me.RigidBody(f"crank{i}", end, A, m, (me.inertia(A, moment, moment, moment), end)))
        gap = end.pos_from(O) - P.pos_from(O) - i * d * B.x
        rows += [Row("configuration", gap.dot(N.x)), Row("configuration", gap.dot(N.y))]
    turn, reach = draw.decimal(0.3, 1.2), float(values[length])
    system = {
        "frame": N,
        "origin": O,
        "q": list(q),
        "u": list(u),
        "bodies": bodies,
        "parameters": values,
        "kdes": [a.diff(t) - b for a, b in zip(q, u, strict=True)],
        "loads": [(body.masscenter, -10 * m * N.y) for body in bodies],
        "inputs": [],
        "prescribed": [],
        "spans": [(-1, 1)] * len(q),
        "unit": [],
        "kinds": Counter({"cranks": 1}),
    }
    place = [reach * float(mpmath.cos(turn)), reach * float(mpmath.sin(turn)), 0.0, *[turn] * n]
    return system, [Group(rows, Counter())], place


# ------------------------------------------------------------------------------------------- the oracle
@dataclass(frozen=True)
class Nearby:
    """Pairs of moments on both sides of one, for each speed: q along its partial rates; u; and the path with u̇ = 0."""

    along_q: list[list[Moment]]
    along_u: list[list[Moment]]
    path: list[Moment]


class ConstraintOracle:
    """G, γ, M, f, u̇ and the least λ of ``system``, which has ``constraints``, a list of Row."""

    def __init__(self, system: dict[str, Any], positions: PositionOracle) -> None:
        self.system, self._positions = system, positions
        self._udots = [speed.diff(t) for speed in system["u"]]
        self._functions: dict[sm.Expr, Callable[[Moment], list[Any]]] = {}
        self._nearby: tuple[Any, Nearby] | None = None

    def _function(self, expression: sm.Expr) -> Callable[[Moment], list[Any]]:
        """Compiled once; its constants must be known."""
        if expression not in self._functions:
            self._functions[expression] = self._positions._compiled([expression])
        return self._functions[expression]

    def moment(self, state: dict[str, Any]) -> Moment:
        given = {name: numbers(state.get(name, [])) for name in ("q", "u", "inputs", "prescribed")}
        return self._moved(Moment(t=mpmath.mpf(state["t"]), qdot=[mpmath.mpf(0)] * len(state["q"]), **given))

    def _moved(self, moment: Moment, **changes: Any) -> Moment:
        """Another moment, its q̇ from the kinematical equations."""
        moment = replace(moment, **changes)
        return replace(moment, qdot=self._positions._qdot(moment))

    def _after(self, now: Moment, step: Any) -> Moment:
        """The moment that follows by ``step`` in the motion with u̇ = 0, to the second order."""

        def along(step: Any, bend: Sequence[Any]) -> Moment:
            motions = [[x + v * step + a * step**2 / 2, v + a * step, a] for x, v, a in now.prescribed]
            q = add(add(now.q, now.qdot, step), list(bend), step**2 / 2)
            return self._moved(now, t=now.t + step, q=q, prescribed=motions)

        still = [mpmath.mpf(0)] * len(now.q)
        ahead, behind = along(STEP, still).qdot, along(-STEP, still).qdot
        return along(step, [(a - b) / (2 * STEP) for a, b in zip(ahead, behind, strict=True)])

    def value(self, expressions: Sequence[sm.Expr], state: dict[str, Any]) -> list[Any]:
        with mpmath.workdps(DIGITS):
            return self._positions._compiled(expressions)(self.moment(state))

    def row(self, kind: str, expression: sm.Expr, state: dict[str, Any]) -> tuple[list[Any], Any, Any]:
        """A row of G, its γ, and the value of the constraint on speeds (of an acceleration constraint: zero)."""
        with mpmath.workdps(DIGITS):
            return self._row(kind, expression, self.moment(state))

    def _row(self, kind: str, expression: sm.Expr, now: Moment) -> tuple[list[Any], Any, Any]:
        h = STEP
        if kind == "acceleration":
            still = dict.fromkeys(self._udots, sm.S.Zero)
            slopes = [expression.diff(x).xreplace(still) for x in self._udots]
            *G, gamma = self._positions._compiled([*slopes, expression.xreplace(still)])(now)
            return G, gamma, mpmath.mpf(0)
        function, near = self._function(expression), self._near(now)
        ends = near.along_q if kind == "configuration" else near.along_u
        G = [(function(a)[0] - function(b)[0]) / (2 * h) for a, b in ends]
        here, ahead, behind = (function(moment)[0] for moment in near.path)
        first = (ahead - behind) / (2 * h)
        if kind == "velocity":
            return G, first, here
        return G, (ahead - 2 * here + behind) / h**2, first

    def _near(self, now: Moment) -> Nearby:
        """The moments of all differences, the same for every row."""
        key = now.t, tuple(now.q), tuple(now.u)
        if self._nearby is None or self._nearby[0] != key:
            h, n, S = STEP, len(now.u), self._positions._rates(now)[0]
            axes = [[mpmath.mpf(k == r) for k in range(n)] for r in range(n)]
            near = Nearby(
                [[self._moved(now, q=add(now.q, list(S[:, r]), step)) for step in (h, -h)] for r in range(n)],
                [[self._moved(now, u=add(now.u, e, step)) for step in (h, -h)] for e in axes],
                [self._after(now, step) for step in (0, h, -h)],
            )
            self._nearby = key, near
        return self._nearby[1]

    def coordinate_rows(self, expressions: Sequence[sm.Expr], state: dict[str, Any]) -> Array:
        """∂φ/∂q."""
        with mpmath.workdps(DIGITS):
            now, function = self.moment(state), self._positions._compiled(expressions)
            columns = []
            for k in range(len(now.q)):
                e = [mpmath.mpf(j == k) for j in range(len(now.q))]
                ends = [function(self._moved(now, q=add(now.q, e, step))) for step in (STEP, -STEP)]
                columns.append([float((a - b) / (2 * STEP)) for a, b in zip(*ends, strict=True)])
        return np.array(columns).T.reshape(len(expressions), -1)

    def __call__(self, state: dict[str, Any]) -> dict[str, Array]:
        """M, f, G, gamma, udot, multipliers and the residuals of constraints on speeds."""
        found = self._positions(state)
        M, f = np.array(found["M"].tolist(), float), np.array(list(found["f"]), float)
        order = ("velocity", "configuration", "acceleration")
        rows = [(row, self.row(row.kind, row.expression, state)) for row in self.system["constraints"]]
        rows.sort(key=lambda item: order.index(item[0].kind))
        filed = np.array([G for row, (G, *_) in rows if row.kind == "velocity"], float).reshape(-1, len(f))
        kept: list[Any] = []
        for row, (slopes, bias, value) in rows:
            others = [[*g, b] for other, (g, b, _) in kept if other.kind != "acceleration"]
            before = filed if row.kind == "configuration" else np.array(others, float)
            new = slopes if row.kind == "configuration" else [*slopes, bias]
            if row.kind == "velocity" or not follows(before, np.array(new, float)):
                kept.append((row, (slopes, bias, value)))
        G = np.array([G for _, (G, *_) in kept], float)
        gamma = np.array([gamma for _, (_, gamma, _) in kept], float)
        n, m = len(f), len(G)
        system = np.block([[M, -G.T], [G, np.zeros((m, m))]])
        solution = np.linalg.lstsq(system, np.concatenate([f, -gamma]), rcond=1e-12)[0]
        return {
            "M": M,
            "f": f,
            "G": G,
            "gamma": gamma,
            "udot": solution[:n],
            "multipliers": solution[n:],
            "residuals": np.array([value for _, (*_, value) in rows], float),
        }


def apart(rows: npt.ArrayLike, more: npt.ArrayLike) -> float:
    """The least singular value of rows of size one; zero where there are too many, or one nearly vanishes."""
    all_rows = np.array([*np.asarray(rows, float), *np.array(more, float)])
    size = np.linalg.norm(all_rows, axis=1)
    if np.min(size) < 0.03 or len(all_rows) > all_rows.shape[1]:
        return 0.0
    return float(np.linalg.svd(all_rows / size[:, np.newaxis], compute_uv=False)[-1])


def follows(rows: Array, row: Array) -> bool:
    """Whether a row is a linear combination of others."""
    if not len(rows):
        return False
    rest = row - rows.T @ np.linalg.lstsq(rows.T, row, rcond=1e-10)[0]
    return bool(np.linalg.norm(rest) < 1e-9 * np.linalg.norm(row))


def pivots(rows: Array) -> list[int]:
    """Columns that elimination with full pivots takes, as many as there are independent rows."""
    left, found = rows / np.linalg.norm(rows, axis=1)[:, np.newaxis], []
    while len(left):
        i, j = np.unravel_index(np.argmax(np.abs(left)), left.shape)
        if abs(left[i, j]) < 1e-9:
            break
        found.append(int(j))
        left = np.delete(left - np.outer(left[:, j], left[i]) / left[i, j], i, axis=0)
    return found


# ------------------------------------------------------------------------------------------ the mechanisms
def random_constrained(seed: int) -> dict[str, Any]:
    """The mechanism of a seed, as `random_tree` gives it, and with it

    ``constraints``: a list of Row;
    ``state``: one on the constraints;
    ``oracle``: its ConstraintOracle;
    ``rank``: of the rows;
    ``q_dependent, u_dependent``: how many of the last coordinates and speeds to call dependent.
    """
    if seed % 10 == 9:
        system, groups, place = cranks(seed)
        state = random_state(system, seed)
        state["q"] = place
        draw = Draw(seed + 500_009)
    else:
        tree = ConstrainedTree(seed)
        system = tree.grow()
        with warnings.catch_warnings():  # several paths to a velocity that is the same along each
            warnings.simplefilter("ignore", UserWarning)
            groups = tree.candidates()
        state, draw = random_state(system, seed), tree.draw
    kinds: Counter[str] = system["kinds"]
    system["constraints"] = []
    oracle = system["oracle"] = ConstraintOracle(system, PositionOracle(system))
    rows = np.zeros((0, len(system["u"])))
    closed = "cranks" in kinds
    # what is linear in the speeds, first: constants of the others are decided by the speeds that are left
    chosen = [row for group in groups for row in group.rows]
    first = [row for row in chosen if row.linear and row.kind != "acceleration"]
    for row in [*first, None, *(row for row in chosen if row not in first)]:
        if row is None:
            bring_speeds(system, state)
            continue
        settle(row, system, state)
        new = np.array([oracle.row(row.kind, row.expression, state)[0]], float)
        if closed or (len(rows) + 1 < rows.shape[1] and apart(rows, new) >= APART):
            rows = np.concatenate([rows, new])
            system["constraints"].append(row)
    if not len(rows):  # nothing was far enough from singular
        return random_constrained(seed + 1000)
    kinds.update(row.kind for row in system["constraints"])
    for group in groups:
        if all(any(row is kept for kept in system["constraints"]) for row in group.rows):
            kinds.update(group.kinds)
    system["rank"] = len(pivots(rows))
    add_redundant(system, draw)
    if draw.chance(0.3):
        kinds["shuffled_rows"] += 1
        system["constraints"] = draw.shuffled(system["constraints"])
    name_dependent(system, state, rows, draw)
    return system | {"state": state}


def settle(row: Row, system: dict[str, Any], state: dict[str, Any]) -> None:
    """Give the row's constant the value with which it holds."""
    if row.constant is not None:
        value = system["oracle"].value([row.expression.xreplace({row.constant: sm.S.Zero})], state)
        system["parameters"][row.constant] = float(value[0])


def bring_speeds(system: dict[str, Any], state: dict[str, Any]) -> None:
    """The least change of the speeds that satisfies the constraints so far, which are linear in them."""
    rows = system["constraints"]
    for _ in range(2 if rows else 0):
        found = [system["oracle"].row(row.kind, row.expression, state) for row in rows]
        G, value = np.array([G for G, *_ in found], float), np.array([value for *_, value in found], float)
        state["u"] = (np.array(state["u"]) - np.linalg.pinv(G, rcond=1e-9) @ value).tolist()


def add_redundant(system: dict[str, Any], draw: Draw) -> None:
    """Rows that follow from others."""
    rows, kinds = system["constraints"], system["kinds"]
    velocity = [row for row in rows if row.kind == "velocity"]
    configuration = [row for row in rows if row.kind == "configuration"]
    if draw.chance(0.2):
        kinds["doubled_row"] += 1
        rows.append(draw.one_of(rows))
    for same in (velocity, configuration):
        if len(same) > 1 and draw.chance(0.3):
            kinds["combined_row"] += 1
            rows.append(replace(same[0], expression=2 * same[0].expression - 3 * same[1].expression))
    # a factor that varies changes what lies off the constraints alone; not on accelerations, where rows are given
    if velocity and draw.chance(0.2):
        kinds["scaled_row"] += 1
        rows.append(replace(velocity[-1], expression=(2 + sm.cos(system["q"][0])) * velocity[-1].expression))
    if configuration and draw.chance(0.25):
        kinds["filed_rate"] += 1
        rows.append(Row("velocity", configuration[0].expression.diff(t)))


def name_dependent(system: dict[str, Any], state: dict[str, Any], rows: Array, draw: Draw) -> None:
    """Dependent coordinates and speeds that follow from the others at the state, last in their lists; or none."""
    system["q_dependent"] = system["u_dependent"] = 0
    if draw.chance(0.4):
        system["kinds"]["dependent_unnamed"] += 1
        return
    system["kinds"]["dependent_named"] += 1
    configuration = [row.expression for row in system["constraints"] if row.kind == "configuration"]
    places = pivots(system["oracle"].coordinate_rows(configuration, state)) if configuration else []
    before = list(system["q"]), list(system["u"])
    for name, last in (("q", places), ("u", pivots(rows))):
        order = [k for k in range(len(system[name])) if k not in last] + sorted(last)
        for values in (system, state):
            values[name][:] = [values[name][k] for k in order]
        system[f"{name}_dependent"] = len(last)
    if before == (system["q"], system["u"]):
        return
    system["unit"], system["spans"] = [], []  # places in q that no longer hold; trees of pins have no quaternions
    system["oracle"] = ConstraintOracle(system, PositionOracle(system))
