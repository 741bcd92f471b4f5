# SPDX-License-Identifier: BSD-3-Clause
"""Kane's equations from positions and attitudes alone, by differences in 80 digits.

Where KanesMethod takes a minute, this takes a second.  It shares nothing with the package under test, and little with
KanesMethod: of SymPy's objects it reads where points are (``pos_from``), how neighbouring frames are turned (``dcm``),
the inertias, the loads and the kinematical equations.  Velocities and accelerations, also those that the user or a
joint of SymPy has set, are found anew, by differences over h = 1e-20: an error of h².

With q̇ = S u + s from the kinematical equations and the path q(τ) = q + q̇ τ + q̈ τ²/2 of the motion with u̇ = 0,

    v_r = ∂r/∂q · S_r,  a′ = d²r/dτ²,  ω_r = axial(∂R/∂q · S_r Rᵀ),  α′ = axial(R̈ Rᵀ + Ṙ Ṙᵀ),
    M_rs = Σ m v_r·v_s + ω_r·I ω_s,    f_r = Σ v_r·F + ω_r·T − Σ m v_r·a′ + ω_r·(I α′ + İ ω)

(Kane & Levinson 1985, sections 4.4 and 4.11); I is about the mass centre, in inertial axes, and its rate that of I.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import sympy as sm
import sympy.physics.mechanics as me

from .sympy_oracle import evaluable, solved

t = me.dynamicsymbols._t
#: Digits carried; with the step below a first difference is good to 40 digits and a second one as well.
DIGITS = 80
STEP = mpmath.mpf(10) ** -20

Vector = list[Any]
Matrix = list[Vector]


@dataclass(frozen=True)
class Moment:
    """Everything that varies, in numbers; ``prescribed`` holds (value, rate, second rate) of each motion."""

    t: Any
    q: Vector
    u: Vector
    qdot: Vector
    inputs: Vector
    prescribed: Matrix


@dataclass(frozen=True)
class Configuration:
    """Attitudes of frames, places of points and inertias of bodies about their mass centres, in inertial axes."""

    attitudes: list[Matrix]
    places: list[Vector]
    inertias: list[Matrix]


class PositionOracle:
    """M, f, u̇ and q̇ of a system without constraints, as :class:`KaneOracle` gives them.

    ``system`` has ``frame, origin, q, u, kdes, bodies, loads, parameters``, perhaps ``inputs`` and ``prescribed``; all
    points have a position from ``origin``, a point at rest in ``frame``.
    """

    def __init__(self, system: dict[str, Any]) -> None:
        self.system = system
        self.bodies, self.loads = system["bodies"], [tuple(load) for load in system["loads"]]
        self._joins = joins(system["frame"])
        self._frames = {system["frame"]: 0} | {child: k + 1 for k, (_, child) in enumerate(self._joins)}
        solid = self._solid = [body for body in self.bodies if isinstance(body, me.RigidBody)]
        points = [body.masscenter for body in self.bodies] + [body.inertia[1] for body in solid]
        points += [on for on, _ in self.loads if isinstance(on, me.Point)]
        self._points = {point: k for k, point in enumerate(dict.fromkeys(points))}

        rates, speeds = [q.diff(t) for q in system["q"]], system["u"]
        kdes = sm.Matrix(list(system["kdes"]))
        rest = kdes.xreplace(dict.fromkeys([*rates, *speeds], sm.S.Zero))
        self._kinematics = self._compiled([*kdes.jacobian(rates), *kdes.jacobian(speeds), *rest])
        self._turns = self._compiled([e for parent, child in self._joins for e in parent.dcm(child)])
        self._places = self._compiled_vectors([point.pos_from(system["origin"]) for point in self._points])
        self._tensor_frames = [frame_of(body.inertia[0]) for body in solid]
        tensors = [body.inertia[0].to_matrix(f) for body, f in zip(solid, self._tensor_frames, strict=True)]
        self._tensors = self._compiled([e for tensor in tensors for e in tensor])
        self._masses = self._compiled([body.mass for body in self.bodies])
        self._forces = self._compiled_vectors([vector for _, vector in self.loads])

    # ---------------------------------------------------------------- expressions

    def _compiled(self, expressions: Sequence[sm.Expr]) -> Callable[[Moment], Vector]:
        system = self.system
        motions = [d for m in system.get("prescribed", ()) for d in (m.diff(t, 2), m.diff(t), m)]
        varying = [*motions, *system.get("inputs", ()), *(q.diff(t) for q in system["q"]), *system["q"], *system["u"]]
        # rates come first, so that they are replaced before what they are rates of
        table = {value: sm.Dummy(f"v{k}") for k, value in enumerate([*varying, t, *system["parameters"]])}
        plain = [me.msubs(evaluable(sm.sympify(e)), table) for e in expressions]
        function = sm.lambdify(list(table.values()), plain, modules="mpmath", cse=True)
        constants = [float(value) for value in system["parameters"].values()]  # as double arithmetic has them

        def evaluate(moment: Moment) -> Vector:
            given = [x for motion in moment.prescribed for x in reversed(motion)]
            now = [*given, *moment.inputs, *moment.qdot, *moment.q, *moment.u, moment.t, *constants]
            return [mpmath.mpf(x) for x in function(*map(mpmath.mpf, now))]

        return evaluate

    def _compiled_vectors(self, vectors: Sequence[me.Vector]) -> Callable[[Moment, list[Matrix]], list[Vector]]:
        """Vectors in inertial axes, from their parts in the frames in which they are written."""
        parts = [(k, part, self._frames[frame]) for k, vector in enumerate(vectors) for part, frame in vector.args]
        numbers = self._compiled([e for _, part, _ in parts for e in part])

        def evaluate(moment: Moment, attitudes: list[Matrix]) -> list[Vector]:
            result = [[mpmath.mpf(0)] * 3 for _ in vectors]
            for (k, _, frame), part in zip(parts, rows(numbers(moment), 3), strict=True):
                result[k] = add(result[k], apply(attitudes[frame], part))
            return result

        return evaluate

    # ---------------------------------------------------------------- numbers

    def _rates(self, moment: Moment) -> tuple[mpmath.matrix, mpmath.matrix]:
        """S and s of q̇ = S u + s."""
        n, m = len(moment.q), len(moment.u)
        found = self._kinematics(moment)
        A, one = mpmath.matrix(rows(found[: n * n], n)), mpmath.eye(n)
        inverse = one if one == A else mpmath.inverse(A)  # of q̇ = u, as most are
        B, rest = mpmath.matrix(rows(found[n * n : n * (n + m)], m)), mpmath.matrix(found[n * (n + m) :])
        return -inverse * B, -inverse * rest

    def _qdot(self, moment: Moment) -> Vector:
        S, s = self._rates(moment)
        return list(S * mpmath.matrix(moment.u) + s)

    def _configuration(self, moment: Moment) -> Configuration:
        attitudes = [[[mpmath.mpf(i == k) for k in range(3)] for i in range(3)]]
        for (parent, _), turn in zip(self._joins, rows(rows(self._turns(moment), 3), 3), strict=True):
            attitudes.append(product(attitudes[self._frames[parent]], turn))
        places = self._places(moment, attitudes)
        masses = dict(zip(self.bodies, self._masses(moment), strict=True))
        tensors = rows(rows(self._tensors(moment), 3), 3)
        inertias = []
        for body, frame, tensor in zip(self._solid, self._tensor_frames, tensors, strict=True):
            R = attitudes[self._frames[frame]]
            about = product(product(R, tensor), transposed(R))
            arm = add(places[self._points[body.inertia[1]]], places[self._points[body.masscenter]], -1)
            m, square = masses[body], dot(arm, arm)
            inertias.append(
                [[about[i][k] - m * ((i == k) * square - arm[i] * arm[k]) for k in range(3)] for i in range(3)]
            )
        return Configuration(attitudes, places, inertias)

    def __call__(self, state: dict[str, Any]) -> dict[str, mpmath.matrix]:
        """M, f, udot and qdot at a state: t, q, u, inputs, and (value, rate, second rate) of what is prescribed."""
        with mpmath.workdps(DIGITS):
            given = {name: numbers(state.get(name, [])) for name in ("q", "u", "inputs", "prescribed")}
            now = Moment(t=mpmath.mpf(state["t"]), qdot=[mpmath.mpf(0)] * len(state["q"]), **given)
            return self._equations(replace(now, qdot=self._qdot(now)))

    def _equations(self, now: Moment) -> dict[str, mpmath.matrix]:
        h, S = STEP, self._rates(now)[0]

        def after(step: Any, acceleration: Vector) -> Moment:
            """The moment of the motion with u̇ = 0 that follows by ``step``."""
            q = add(add(now.q, now.qdot, step), acceleration, step**2 / 2)
            motions = [[x + v * step + a * step**2 / 2, v + a * step, a] for x, v, a in now.prescribed]
            return replace(now, t=now.t + step, q=q, prescribed=motions)

        still = [mpmath.mpf(0)] * len(now.q)
        ahead, behind = (self._qdot(after(step, still)) for step in (h, -h))
        bend = [(x - y) / (2 * h) for x, y in zip(ahead, behind, strict=True)]
        here, ahead, behind = (self._configuration(after(step, bend)) for step in (0, h, -h))

        v, w = [], []  # partial velocities of all points, and of all frames: [r][k]
        for r in range(len(now.u)):
            one, other = (self._configuration(replace(now, q=add(now.q, list(S[:, r]), step))) for step in (h, -h))
            v.append([slope(x, y) for x, y in zip(one.places, other.places, strict=True)])
            w.append(
                [
                    axial(product(slopes(x, y), transposed(R)))
                    for x, y, R in zip(one.attitudes, other.attitudes, here.attitudes, strict=True)
                ]
            )

        speeds = range(len(now.u))
        M = mpmath.matrix(len(now.u))
        f = mpmath.matrix(len(now.u), 1)
        for body, mass in zip(self.bodies, self._masses(now), strict=True):
            k = self._points[body.masscenter]
            x, y, z = ahead.places[k], here.places[k], behind.places[k]
            acceleration = [(a - 2 * b + c) / h**2 for a, b, c in zip(x, y, z, strict=True)]
            for r in speeds:
                f[r] -= mass * dot(v[r][k], acceleration)
                for s in speeds:
                    M[r, s] += mass * dot(v[r][k], v[s][k])
        for k, body in enumerate(self._solid):
            frame, tensor = self._frames[body.frame], here.inertias[k]
            R, forward, back = (c.attitudes[frame] for c in (here, ahead, behind))
            rate = slopes(forward, back)
            second = [
                [(a - 2 * b + c) / h**2 for a, b, c in zip(x, y, z, strict=True)]
                for x, y, z in zip(forward, R, back, strict=True)
            ]
            omega = axial(product(rate, transposed(R)))
            alpha = add(axial(product(second, transposed(R))), axial(product(rate, transposed(rate))))
            drift = slopes(ahead.inertias[k], behind.inertias[k])
            torque = add(apply(tensor, alpha), apply(drift, omega))
            for r in speeds:
                f[r] -= dot(w[r][frame], torque)
                momentum = apply(tensor, w[r][frame])
                for s in speeds:
                    M[r, s] += dot(momentum, w[s][frame])
        for (on, _), force in zip(self.loads, self._forces(now, here.attitudes), strict=True):
            for r in speeds:
                moved = v[r][self._points[on]] if isinstance(on, me.Point) else w[r][self._frames[on]]
                f[r] += dot(moved, force)
        return solved({"M": M, "f": f, "qdot": mpmath.matrix(now.qdot)})


# ---------------------------------------------------------------- of SymPy's objects
def joins(frame: me.ReferenceFrame) -> list[tuple[me.ReferenceFrame, me.ReferenceFrame]]:
    """Neighbouring frames (parent, child) outwards from ``frame``."""
    found, seen = [(frame, frame)], {frame}
    for _, parent in found:  # grows while it is read
        for child in parent._dlist[0]:
            if child not in seen:
                seen.add(child)
                found.append((parent, child))
    return found[1:]


def frame_of(tensor: me.Dyadic) -> me.ReferenceFrame:
    """The frame in whose axes an inertia dyadic is written."""
    frames = {frame for _, *vectors in tensor.args for vector in vectors for _, frame in vector.args}
    if len(frames) != 1:
        raise ValueError(f"an inertia written in the axes of {len(frames)} frames")
    return frames.pop()


# ---------------------------------------------------------------- vectors and matrices of three
def numbers(x: Any) -> Any:
    return [numbers(y) for y in x] if isinstance(x, (list, tuple)) else mpmath.mpf(x)


def rows(items: list[Any], length: int) -> list[list[Any]]:
    return [items[k : k + length] for k in range(0, len(items), length)]


def add(x: Vector, y: Vector, factor: Any = 1) -> Vector:
    return [a + factor * b for a, b in zip(x, y, strict=True)]


def dot(x: Vector, y: Vector) -> Any:
    return sum((a * b for a, b in zip(x, y, strict=True)), mpmath.mpf(0))


def apply(A: Matrix, x: Vector) -> Vector:
    return [dot(row, x) for row in A]


def transposed(A: Matrix) -> Matrix:
    return [list(column) for column in zip(*A, strict=True)]


def product(A: Matrix, B: Matrix) -> Matrix:
    return [[dot(row, column) for column in zip(*B, strict=True)] for row in A]


def slope(ahead: Vector, behind: Vector) -> Vector:
    return [(x - y) / (2 * STEP) for x, y in zip(ahead, behind, strict=True)]


def slopes(ahead: Matrix, behind: Matrix) -> Matrix:
    return [slope(x, y) for x, y in zip(ahead, behind, strict=True)]


def axial(A: Matrix) -> Vector:
    """The vector of the skew part of A: of Ṙ Rᵀ the angular velocity."""
    return [(A[2][1] - A[1][2]) / 2, (A[0][2] - A[2][0]) / 2, (A[1][0] - A[0][1]) / 2]
