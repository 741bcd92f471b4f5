# SPDX-License-Identifier: BSD-3-Clause
"""Facts of a model in its core library, other than names and sizes: `Facts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

__all__ = ["Facts"]


@dataclass(frozen=True)
class Facts:
    """Facts of a model, from ``info`` in the table of its core library; `kanecore.derive.model_facts` writes them.

    Points, frames and bodies are indices into the model's tuples; -1 means none.

    Attributes
    ----------
    left_out : mapping of "parameter", "input" to sequence of str
        Names that occur only in parts without effect on the motion.
    configuration_names : sequence of str
        Names of constraints on coordinates; empty if they are numbered.
    coordinate_rates : sequence of int
        For each coordinate the speed that is its derivative, or -1; empty if q̇ = u, or if all are -1.
    functions : sequence of str
        C functions that the libraries call by address.
    loads_of_reactions : sequence of str
        Numbers of the loads that depend on reactions.
    reaction_names : sequence of str
        Names of the reactions in these loads, for users.
    ranges : sequence of [name, low, high, why]
        Ranges in which parts of the description are valid, by the name of a coordinate.
    guess : mapping of str to float
        Values of some entries of x, by their places, from which searches for states start.
    bodies : sequence of [point, frame]
        Mass centre and frame of each body; the frame of a particle is -1.
    loads : sequence of [kind, place, number, body]
        Kind 0 is a force at a point, 1 a torque on a frame; the number is the load's in the user's list.
    joints : sequence of [parent, child, free]
        Bodies, and 1 if the joint is free.
    unlocated : sequence of int
        Inputs that are multipliers of freed constraints with unknown places.
    dissipation : bool
        A Lagrangian has generalized forces in addition.
    untold : sequence of int
        In a model with auxiliary speeds, rows of G with neither terms in these speeds nor a place.
    inertial, origin : str
        Names of the inertial frame, and of the reference point of positions, empty without one.
    roots : sequence of int
        For each point the index of its reference point; empty if all have the same.
    origins : sequence of str
        For each point the name of its reference point, empty if its velocity is no derivative of a position from there.
    adrift, instant : sequence of int
        Points with motions that no position determines; points with accelerations that are derivatives of vectors as
        written.
    unoriented, namesakes : sequence of int
        Frames with rotations that no orientation determines; frames with the name of the inertial frame.
    tree, loose : sequence of int
        For each point, then each joint point, the nearest of these that it is located from; starts of free chains.
    massless : mapping of str to str
        For each speed that moves no mass, the parts that it moves, in words.
    shapes : sequence of [body, kind, sizes, axis, ...]
        Drawn shapes of bodies.
    """

    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    configuration_names: Sequence[str] = ()
    coordinate_rates: Sequence[int] = ()
    functions: Sequence[str] = ()
    loads_of_reactions: Sequence[str] = ()
    reaction_names: Sequence[str] = ()
    ranges: Sequence[tuple[str, float, float, str]] = ()
    guess: Mapping[str, float] = field(default_factory=dict)
    bodies: Sequence[tuple[int, int]] = ()
    loads: Sequence[tuple[int, int, int, int]] = ()
    joints: Sequence[tuple[int, int, int]] = ()
    unlocated: Sequence[int] = ()
    dissipation: bool = False
    untold: Sequence[int] = ()
    inertial: str = ""
    origin: str = ""
    roots: Sequence[int] = ()
    origins: Sequence[str] = ()
    adrift: Sequence[int] = ()
    instant: Sequence[int] = ()
    unoriented: Sequence[int] = ()
    namesakes: Sequence[int] = ()
    tree: Sequence[int] = ()
    loose: Sequence[int] = ()
    massless: Mapping[str, str] = field(default_factory=dict)
    shapes: Sequence[Sequence[Any]] = ()

    @classmethod
    def of_table(cls, info: Mapping[str, Any]) -> Facts:
        """The facts in the ``info`` of a table, in which empty facts are missing."""
        return cls(**{each.name: info[each.name] for each in fields(cls) if each.name in info})
