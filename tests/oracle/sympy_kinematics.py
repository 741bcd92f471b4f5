# SPDX-License-Identifier: BSD-3-Clause
"""Kinematics as SymPy has them, by its own ``pos_from``, ``vel``, ``acc``, ``dcm``, ``ang_vel_in`` and ``ang_acc_in``.

These store what they compute in the frames and points: a `SymPyKinematics` is given objects of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sm
import sympy.physics.mechanics as me

from kanecore.describe.from_sympy import vector_internals

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t


class SymPyKinematics:
    """What SymPy says of points and frames, in inertial axes; `at` chooses the state.

    Parameters
    ----------
    given : mapping
        Arguments of `kanecore.Model`, by name.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.inertial = given["frame"]
        self._q = [*given["q_ind"], *(given.get("q_dependent") or ())]
        self._kd_eqs = [sm.sympify(e) for e in given["kd_eqs"]]
        self._asked: dict[tuple[str, ...], Any] = {}  # what SymPy would compute anew for each state
        self._numbers: dict[Any, float] = {}
        self._known: dict[Any, float] = {}
        bodies, loads = given["bodies"] or (), [x for x in given.get("forcelist") or () if isinstance(x, tuple)]
        places = [*(body.masscenter for body in bodies), *(place for place, _ in loads)]
        places += [*(given.get("points") or ()), *(given.get("frames") or ()), self.inertial]
        places += [body.frame for body in bodies if isinstance(body, me.RigidBody)]
        self.points = _reached((x for x in places if isinstance(x, me.Point)), vector_internals.positions)
        frames = [x for x in places if isinstance(x, me.ReferenceFrame)]
        self.frames = _reached(
            frames, lambda f: {**vector_internals.neighbours(f), **vector_internals.angular_velocities(f)}
        )

    def at(self, numbers: Mapping[Any, float]) -> SymPyKinematics:
        """Itself, at values of all symbols: time, q, u, u̇, inputs with their rates, parameters.

        q̇ and q̈ follow from the kinematical equations e = 0, linear in q̇: ∂e/∂q̇ q̈ = −(de/dt at q̈ = 0).
        """
        self._numbers = dict(numbers)
        self._known.clear()
        for order in (1, 2):
            equations = [e.diff(t) if order == 2 else e for e in self._kd_eqs]
            unknown = [x.diff(t, order) for x in self._q]
            slopes = np.array([[self.number(e.diff(x)) for x in unknown] for e in equations])
            self._numbers.update(dict.fromkeys(unknown, 0.0))
            rest = np.array([self.number(e) for e in equations])
            self._numbers.update(zip(unknown, np.linalg.solve(slopes, -rest), strict=True))
            self._known.clear()
        return self

    def number(self, e: Any) -> float:
        """The value of an expression; parts that it shares with others are computed once."""
        value = self._numbers.get(e, self._known.get(e))
        if value is None:
            if e.is_Add:
                value = sum(map(self.number, e.args))
            elif e.is_Mul:
                value = float(np.prod([self.number(x) for x in e.args]))
            elif e.args:
                value = float(e.func(*(sm.Float(self.number(x), 17) if x.args or x.is_Symbol else x for x in e.args)))
            else:
                value = float(e)
            self._known[e] = value
        return value

    def axes(self, frame: Any) -> Array:
        """The matrix of ``dcm``: v_inertial = R v_frame."""
        matrix = self._once(self.inertial.dcm, "dcm", frame)
        return np.array([[self.number(e) for e in row] for row in matrix.tolist()])

    def _once(self, ask: Callable[..., Any], what: str, *arguments: Any) -> Any:
        key = (what, *(x.name for x in arguments))
        if key not in self._asked:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that a velocity follows from several points
                self._asked[key] = ask(*arguments)
        return self._asked[key]

    def vector(self, v: Any) -> Array:
        total = np.zeros(3)
        for column, frame in vector_internals.terms(v):
            total += self.axes(frame) @ [self.number(e) for e in column]
        return total

    def position(self, point: str, origin: str) -> Array:
        return self.vector(self._once(me.Point.pos_from, "position", self.points[point], self.points[origin]))

    def velocity(self, point: str) -> Array:
        return self.vector(self._once(me.Point.vel, "velocity", self.points[point], self.inertial))

    def acceleration(self, point: str) -> Array:
        self.velocity(point)  # what acc differentiates
        return self.vector(self._once(me.Point.acc, "acceleration", self.points[point], self.inertial))

    def angular_velocity(self, frame: str, other: str) -> Array:
        ask = me.ReferenceFrame.ang_vel_in
        return self.vector(self._once(ask, "angular velocity", self.frames[frame], self.frames[other]))

    def angular_acceleration(self, frame: str, other: str) -> Array:
        ask = me.ReferenceFrame.ang_acc_in
        return self.vector(self._once(ask, "angular acceleration", self.frames[frame], self.frames[other]))


def _reached(start: Iterable[Any], neighbours: Any) -> dict[str, Any]:
    """All that is connected, by name; without names that two have."""
    queue = list(dict.fromkeys(start))
    for item in queue:
        queue += [other for other in neighbours(item) if other not in queue]
    names = [item.name for item in queue]
    return {item.name: item for item in queue if names.count(item.name) == 1}
