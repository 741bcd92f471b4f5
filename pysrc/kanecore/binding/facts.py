# SPDX-License-Identifier: BSD-3-Clause
"""Facts of a model as a whole that its core library tells beside names and sizes: `Facts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

__all__ = ["Facts"]


@dataclass(frozen=True)
class Facts:
    """Facts of a model, as ``info`` in the table of its core library tells them; `kanecore.derive.model_facts`.

    Points, frames and bodies are numbers, those of the model's own tuples; -1 stands for none.

    Attributes
    ----------
    left_out : mapping of "parameter", "input" to sequence of str
        Names that occur only in parts without effect on the motion.
    configuration_names : sequence of str
        Constraints on coordinates; empty where they are numbered.
    coordinate_rates : sequence of int
        Of each coordinate the speed that is its derivative, -1 where none is; empty where q̇ = u, or none is.
    functions : sequence of str
        C functions that the libraries call by address.
    loads_of_reactions : sequence of str
        Numbers of the loads that depend on reactions.
    reaction_names : sequence of str
        Reactions that these depend on, as users see them.
    ranges : sequence of [name, low, high, why]
        Ranges in which parts of the description hold, by the name of a coordinate.
    guess : mapping of str to float
        Values of some entries of x, by their places, with which searches for states begin.
    bodies : sequence of [point, frame]
        Mass centre and frame of each body, the latter -1 of a particle.
    loads : sequence of [kind, place, number, body]
        Kind 0 is a force at a point, 1 a torque on a frame; the number is that in the user's list.
    joints : sequence of [parent, child, free]
        Bodies, and 1 where the joint holds nothing.
    unlocated : sequence of int
        Inputs that are multipliers of freed constraints, of which nobody said where they act.
    dissipation : bool
        Generalized forces stand beside a Lagrangian.
    untold : sequence of int
        Of a model with auxiliary speeds the rows of G that say neither what these change in them nor where they act.
    inertial, origin : str
        Names of the inertial frame, and of the point that positions are measured from, empty where there is none.
    roots : sequence of int
        Of each point the number of what it is measured from; empty if that is one point.
    origins : sequence of str
        Of each point the name of what it is measured from, empty if its velocity is no derivative from there.
    adrift, instant : sequence of int
        Points of which no position tells how they move; those whose accelerations are those of vectors as written.
    unoriented, namesakes : sequence of int
        Frames of which no orientation tells how they turn; those that are called as the inertial one.
    tree, loose : sequence of int
        Of each point, then each joint point, the nearest of these that it is located from; where free chains begin.
    massless : mapping of str to str
        Of each speed that moves no mass what moves with it, in words.
    shapes : sequence of [body, kind, sizes, axis, ...]
        What is drawn of bodies.
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
        """The facts in the ``info`` of a table, which holds only those that are not empty."""
        return cls(**{each.name: info[each.name] for each in fields(cls) if each.name in info})
