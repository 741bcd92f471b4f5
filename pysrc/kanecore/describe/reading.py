# SPDX-License-Identifier: BSD-3-Clause
"""Reading: the result of a reader of SymPy objects or of a robot file, all that `kanecore.Model` takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kanecore.graph.expression_graph import Graph

from .builder import Builder
from .description import Description

__all__ = ["Actuator", "Addition", "Keyframe", "Reading", "SetAcceleration", "nothing_more"]

SetAcceleration: TypeAlias = tuple[str, int, int, list[tuple[int, Any]]]
"""An acceleration that the user set: "point" or "frame", its number, the frame that it was set in, SymPy's matrices."""


@dataclass(frozen=True)
class Actuator:
    """An actuator whose loads SymPy makes, with the force and velocity that give their power.

    Attributes
    ----------
    number : int
        Of its load.
    name, pathway : str
        "load 2, a LinearSpring", and the class of its pathway.
    force, velocity : SymPy expressions
        Positive where it pushes; the extension velocity of its pathway.
    """

    number: int
    name: str
    pathway: str
    force: Any
    velocity: Any


@dataclass(frozen=True)
class Keyframe:
    """A state x that a robot file names, (n_x,), and its inputs r, (n_r,)."""

    x: npt.NDArray[np.float64]
    r: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Reading:
    """A description, and the user's own words, in which results are written.

    Attributes
    ----------
    description : Description
    whole : Description or None
        The same with its noncontributing forces; None until `Model` has looked for them.
    symbols : dict of name to SymPy symbol
        Coordinates, speeds, parameters and inputs as the user made them; others are made of their names.
    frames : dict of name to ReferenceFrame
        SymPy's frames, as the user made them; others are made of their names.
    time : Symbol or None
        SymPy's time; None: that of `dynamicsymbols`.
    laws, functions, written : dict
        ``feedback`` and ``functions`` of `Model`, and its outputs, scalar by scalar.
    n_loads : int
        Number of the user's loads.
    noncontributing, left_out : tuple of symbols
        Forces without effect; symbols that stand only in parts without effect, sorted by name.
    values : dict of name to number
        Values of parameters, of a file that holds them.
    keyframes : dict of name to Keyframe
        States of a file that names them.
    folder : str or None
        Folder of the file that names meshes.
    notes : tuple of str
        Lines of the report: parts of a file that are not in the description.
    undeclared : frozenset of int
        Nodes of parameters and inputs that the user did not list: forces among them may be noncontributing.
    reactions : tuple of int
        Nodes of the inputs that the auxiliary equations determine.
    set_accelerations : sequence of SetAcceleration
    actuators : sequence of Actuator
    read_again : callable or None
        Reads what stands in both into a copy of the graph, for given nodes of q̈; None where no user sets any motion,
        so that nothing can contradict positions.
    """

    description: Description
    whole: Description | None = None
    symbols: dict[str, Any] = field(default_factory=dict)
    frames: dict[str, Any] = field(default_factory=dict)
    time: Any = None
    laws: dict[Any, Any] = field(default_factory=dict)
    functions: dict[Any, Any] = field(default_factory=dict)
    written: dict[str, Any] = field(default_factory=dict)
    n_loads: int = 0
    noncontributing: tuple[Any, ...] = ()
    left_out: tuple[Any, ...] = ()
    values: dict[str, float] = field(default_factory=dict)
    keyframes: dict[str, Keyframe] = field(default_factory=dict)
    folder: str | None = None
    notes: tuple[str, ...] = ()
    undeclared: frozenset[int] = frozenset()
    reactions: tuple[int, ...] = ()
    set_accelerations: Sequence[SetAcceleration] = ()
    actuators: Sequence[Actuator] = ()
    read_again: Callable[[Graph, Sequence[int]], Callable[[Any], int]] | None = None


Addition: TypeAlias = Callable[[Builder], Callable[[Reading], Reading]]
"""Adds what a user wrote to the description of a robot, and returns what completes its reading."""


def nothing_more(builder: Builder) -> Callable[[Reading], Reading]:
    """The addition that adds nothing."""
    return lambda reading: reading
