# SPDX-License-Identifier: BSD-3-Clause
"""What may stand where in a mechanism, so that it has the form that Kane's method needs: one rule a function.

Each raises ModelError with ``what`` as the subject of its message.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kanecore.errors import ModelError
from kanecore.graph.calculus import is_affine
from kanecore.graph.decide import equal
from kanecore.graph.scalars import ACCELERATION, COORDINATE, PARAMETER, SPEED, Graph

from .description import Joint, Matrix

__all__ = [
    "check_constraint",
    "check_inertia",
    "check_load",
    "check_name",
    "check_place",
    "check_ring",
    "check_velocity",
]


def check_name(name: str) -> None:
    """Any name will do that can be a C string in UTF-8."""
    if "\0" in name or any("\ud800" <= c <= "\udfff" for c in name):
        raise ModelError(f"the name {name!r} holds a NUL or half a surrogate pair: choose another")


def check_place(g: Graph, nodes: Iterable[int], what: str) -> None:
    """Positions, orientations, masses and potentials hold no speeds."""
    if any(g.depends[i] & (SPEED | ACCELERATION) for i in nodes):
        raise ModelError(f"{what} holds speeds: it may hold coordinates, inputs, parameters and time")


def check_velocity(g: Graph, nodes: Iterable[int], what: str) -> None:
    """Partial velocities exist where velocities are linear in the speeds."""
    if not is_affine(g, nodes, lambda i: g.depends[i] & (SPEED | ACCELERATION)):
        raise ModelError(f"{what} is not linear in the speeds: choose speeds in which it is")


def check_load(g: Graph, nodes: Iterable[int], what: str) -> None:
    """What is linear in u̇ joins the mass matrix; nothing else can."""
    if not is_affine(g, nodes, lambda i: g.depends[i] & ACCELERATION):
        raise ModelError(
            f"{what} is not affine in the derivatives of the speeds, which are solved from linear equations: write "
            "it as a + b*u1.diff() + ..., a and b without derivatives of speeds, or make it an input"
        )


def check_inertia(g: Graph, tensors: Sequence[tuple[str, Matrix]], what: str) -> None:
    """Tensors, each with the name of its frame: symmetric, by structure or else by numbers, and constant."""
    for frame, m in tensors:
        pairs = [(m[i][j], m[j][i]) for i, j in ((0, 1), (1, 2), (2, 0))]
        if not equal(g, pairs, [i for row in m for i in row], otherwise=True):
            raise ModelError(f"{what} is not symmetric in frame {frame}: make it with sympy.physics.mechanics.inertia")
    if any(g.depends[i] & ~PARAMETER for _, m in tensors for row in m for i in row):
        raise ModelError(
            f"{what} must be constant in the axes it is written in, and holds coordinates, speeds, "
            "inputs or time: what changes it moves in the body, and is a body of its own"
        )


def check_constraint(g: Graph, kind: str, node: int, what: str) -> None:
    """A constraint holds the highest derivative of its kind, and no higher one."""
    depends = g.depends[node]
    if node == g.zero:  # a component of a planar loop across its plane: a row of zeros
        return
    if kind == "configuration":
        if depends & (SPEED | ACCELERATION):
            raise ModelError(f"{what} holds speeds: it is a velocity constraint")
        if not depends & COORDINATE:
            raise ModelError(f"{what} holds no coordinate: nothing that moves can satisfy it")
    elif kind == "velocity":
        if depends & ACCELERATION:
            raise ModelError(f"{what} holds derivatives of speeds: it is an acceleration constraint")
        if not depends & SPEED:
            where = "it is a configuration constraint" if depends & COORDINATE else "nothing that moves can satisfy it"
            raise ModelError(f"{what} holds no speed: {where}")
    elif not depends & ACCELERATION:
        raise ModelError(f"{what} holds no derivative of a speed: it is a velocity constraint")
    elif not is_affine(g, [node], lambda i: g.depends[i] & ACCELERATION):
        raise ModelError(f"{what} is not linear in the derivatives of the speeds")


def check_ring(joints: Sequence[Joint]) -> None:
    """No joint hangs on itself: the way from its parent to the ground never leads to its child."""
    parents = {joint.child: joint.parent for joint in joints}
    for joint in joints:
        above, passed = joint.parent, set[int]()
        while above in parents and above != joint.child and above not in passed:
            passed.add(above)
            above = parents[above]
        if above == joint.child:
            raise ModelError(f"joint {joint.name} hangs on itself: its parent is carried by its child")
