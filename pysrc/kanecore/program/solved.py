# SPDX-License-Identifier: BSD-3-Clause
"""The functions of a library: programs, and those that solve what programs fill, by a way of ``emit/runtime``.

A way is a structure of the runtime with named members, and the function that takes it; sizes and arrays are its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .parts import Parts

__all__ = ["Equations", "Function", "Member", "Solved", "Straight"]


@dataclass(frozen=True)
class Equations:
    """M a = f + Gᵀλ, G a + γ = 0 with n speeds, m rows of G, k right-hand sides; see ``runtime/equations.h``.

    Attributes
    ----------
    symmetric : bool
        Whether M is, so that it may be factored as one that is positive definite.
    correction : bool
        They give the least change back to the constraints, not accelerations.
    """

    n: int
    m: int
    k: int = 1
    symmetric: bool = True
    correction: bool = False


Member = int | str | tuple[int, ...] | Equations | Mapping[str, str]
"""Of a structure: a number, the name of a function, an array, the equations, functions by name."""


@dataclass(frozen=True)
class Straight:
    """A function of one program.

    Attributes
    ----------
    name : str
    parts : Parts
    fails : bool
        Whether it may end with a fault, and without results.
    """

    name: str
    parts: Parts
    fails: bool

    @property
    def calls(self) -> tuple[str, ...]:
        """It calls no other function."""
        return ()


@dataclass(frozen=True)
class Solved:
    """A function that solves.

    Attributes
    ----------
    name : str
    way : str
        ``"motion"``, ``"balance"``, ...: a key of ``WAYS`` of `kanecore.emit.solved`; or ``"after_motion"`` and
        ``"short_way"``, which call others and have no structure.
    members : mapping
        What the structure holds, by the names that the members have there.
    sizes : tuple of int
        Of the arrays of the way, in its order.
    fails : bool
        Whether it may end with a fault, and without results.
    """

    name: str
    way: str
    members: Mapping[str, Member]
    sizes: tuple[int, ...] = ()
    fails: bool = True

    @property
    def calls(self) -> tuple[str, ...]:
        """Functions that it calls."""
        named = [m for m in self.members.values() if isinstance(m, str)]
        return (*named, *(name for m in self.members.values() if isinstance(m, Mapping) for name in m.values()))


Function = Straight | Solved
