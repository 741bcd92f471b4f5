# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the sources share: the expressions of a model, by point and by frame, and their comparison."""

import random
from typing import Any

import sympy as sm
import sympy.physics.mechanics as me
from oracle.gallery_systems import gallery_system
from sympy.core.function import AppliedUndef

import kanecore as kc

t = me.dynamicsymbols._t
NOTHING = sm.zeros(3, 1)
UP = sm.Matrix([0, 0, 1])


def turned(angle: Any) -> tuple[sm.Matrix, sm.Matrix]:
    """First and second axis of a frame that is turned by an angle about the inertial z, in inertial axes."""
    s, c = sm.sin(angle), sm.cos(angle)
    return sm.Matrix([c, s, 0]), sm.Matrix([-s, c, 0])


def equal(a: Any, b: Any) -> bool:
    """Whether two expressions, lists of them or matrices are equal, by SymPy's simplify."""
    left, right = entries(a), entries(b)
    return len(left) == len(right) and all(sm.simplify(x - y) == 0 for x, y in zip(left, right, strict=True))


def numbers(*expressions: Any, seed: int) -> dict[Any, float]:
    """A random number for each symbol, function and derivative, by which ``xreplace`` makes numbers of expressions.

    A function and its derivatives are as independent as they are in the equations of motion.
    """
    rng = random.Random(seed)
    kinds = (sm.Derivative, AppliedUndef, sm.Symbol)
    found = {x for e in expressions for kind in kinds for x in e.atoms(kind)}
    return {x: sm.Float(rng.uniform(0.3, 1.3), 30) for x in sorted(found, key=sm.default_sort_key)}


def entries(x: Any) -> list[Any]:
    """Of a list or a matrix, row by row; an expression alone."""
    return list(x) if isinstance(x, (list, sm.MatrixBase)) else [x]


def agree(a: Any, b: Any) -> bool:
    """Whether two expressions, or lists or matrices of them, are equal at random numbers, to 20 digits of 30."""
    left, right = sm.Matrix(entries(a)), sm.Matrix(entries(b))
    for seed in range(3):
        at = numbers(left, right, seed=seed)
        x, y = left.xreplace(at).evalf(30), right.xreplace(at).evalf(30)
        size = max(map(abs, (*x, *y)), default=0)
        if x.shape != y.shape or max(map(abs, x - y), default=0) > sm.Float("1e-20") * max(size, 1):
            return False
    return True


def by_point(model: kc.Model) -> dict[str, tuple[sm.Matrix, sm.Matrix]]:
    """Partial velocities, a column for each speed, and remainder of every point."""
    partials = model.symbolic("partial_velocities", nested=True)
    remainders = model.symbolic("velocity_remainders", nested=True)
    names = [model.description.points[i].name for i in model.description.shown_points]
    return {name: (v, remainders[:, i]) for i, (name, v) in enumerate(zip(names, partials, strict=True))}


def by_frame(model: kc.Model) -> dict[str, tuple[sm.Matrix, sm.Matrix]]:
    """Partial angular velocities, a column for each speed, and remainder of every frame."""
    partials = model.symbolic("partial_angular_velocities", nested=True)
    remainders = model.symbolic("angular_velocity_remainders", nested=True)
    names = [model.description.frames[i].name for i in model.description.shown_frames]
    return {name: (w, remainders[:, i]) for i, (name, w) in enumerate(zip(names, partials, strict=True))}


def active(model: kc.Model) -> list[Any]:
    """F_r."""
    return list(model.symbolic("generalized_active_forces", nested=True))


def inertial(model: kc.Model) -> list[Any]:
    """F_r*."""
    return list(model.symbolic("generalized_inertia_forces", nested=True))


def equations(model: kc.Model) -> list[Any]:
    """−(F_r + F_r*), equal to zero in every motion."""
    return list(model.symbolic("inverse_dynamics", nested=True))


def noncontributing(model: kc.Model) -> set[str]:
    return {str(x).removesuffix("(t)") for x in model.noncontributing}


def part_of(name: str, *bodies: str) -> kc.Model:
    """A gallery model with some of its bodies only, and the loads at their mass centres and on their frames."""
    system = gallery_system(name)
    kept = [body for body in system["bodies"] if body.name in bodies]
    acted_on = [x for body in kept for x in (body.masscenter, getattr(body, "frame", None))]
    loads = [(at, load) for at, load in system["loads"] if at in acted_on]
    assert len(kept) == len(bodies)
    return kc.Model(system["frame"], system["q"], system["u"], system["kdes"], bodies=kept, forcelist=loads)


def position(system: dict[str, Any], point: me.Point) -> sm.Matrix:
    """Where a point of a gallery system is, in inertial axes, by SymPy."""
    return point.pos_from(system["origin"]).to_matrix(system["frame"])


def in_rates(expression: Any, system: dict[str, Any]) -> Any:
    """An expression in u = q̇ of a gallery system, written in q̇."""
    rates = {u: q.diff() for q, u in zip(system["q"], system["u"], strict=True)}
    return sm.sympify(expression).xreplace(
        {u.diff(): q.diff(t, 2) for u, q in zip(rates, system["q"], strict=True)} | rates
    )
