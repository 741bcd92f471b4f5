# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that solve equations: programs, and one of the ways of ``emit/runtime`` to solve what they fill.

A way is a structure of the runtime with named members, and the function that takes it; sizes and arrays are its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Body", "Equations", "Member", "Solved", "Straight"]

from .parts import Parts


@dataclass(frozen=True)
class Equations:
    """M a = f + Gᵀλ, G a + γ = 0: n speeds, m rows, k right-hand sides; see ``runtime/equations.h``."""

    n: int
    m: int
    k: int = 1
    symmetric: bool = True
    correction: bool = False  # the least change back to the constraints, not accelerations


Member = int | str | tuple[int, ...] | Equations | Mapping[str, str]
"""Of a structure: a number, the name of a function, an array, the equations, functions by name."""


@dataclass(frozen=True)
class Straight:
    """A function of one straight line; ``fails``: it may end with a fault."""

    name: str
    parts: Parts
    fails: bool

    @property
    def calls(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True)
class Solved:
    """A function that solves.

    Attributes
    ----------
    name : str
    way : str
        ``"motion"``, ``"balance"``, ...: the structure ``kc_motion``, ... of the runtime.
    members : mapping
        What the structure holds, by the names that the members have there.
    sizes : tuple of int
        Of the arrays of the way, in its order.
    """

    name: str
    way: str
    members: Mapping[str, Member]
    sizes: tuple[int, ...] = ()
    fails: bool = field(default=True)

    @property
    def calls(self) -> tuple[str, ...]:
        """Functions that it calls."""
        named = [m for m in self.members.values() if isinstance(m, str)]
        return (*named, *(name for m in self.members.values() if isinstance(m, Mapping) for name in m.values()))


Body = Straight | Solved
