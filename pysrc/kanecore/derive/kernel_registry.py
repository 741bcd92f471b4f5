# SPDX-License-Identifier: BSD-3-Clause
"""How each kernel is derived: one function for each name in `kanecore.kernels`, registered where it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["WAYS", "Derived", "Way", "derives"]


@dataclass(frozen=True)
class Derived:
    """The results of one kernel, in the order of its ``out``.

    ``pivots`` are (pivot, diagonal entry, number of the speed): the results hold where every pivot is larger than
    64 n ε times its diagonal entry, and no node of ``limits`` is positive.  ``after_udot``: the accelerations in them
    are those of the model, found before; ``with_multipliers``: so are the multipliers.
    """

    roots: tuple[int, ...]
    pivots: tuple[tuple[int, int, int], ...] = ()
    limits: tuple[int, ...] = ()
    after_udot: bool = False
    with_multipliers: bool = False


@dataclass(frozen=True)
class Way:
    """How a kernel is derived from a `Derivation`, and whether one has it."""

    derive: Callable[[Any], Derived]
    applies: Callable[[Any], bool]
    missing: Callable[[Any], str]


WAYS: dict[str, Way] = {}
"""Of each kernel, by its name."""


def derives(
    name: str,
    *,
    applies: Callable[[Any], bool] = lambda derivation: True,
    missing: Callable[[Any], str] = lambda derivation: "",
) -> Callable[[Callable[[Any], Derived]], Callable[[Any], Derived]]:
    """Register how the kernel ``name`` is derived.

    Parameters
    ----------
    applies : callable
        Whether the mechanism has what the kernel is about: a model without constraints has no multipliers.
    missing : callable
        What the description lacks for it, in words for the user; empty where nothing.
    """

    def register(derive: Callable[[Any], Derived]) -> Callable[[Any], Derived]:
        WAYS[name] = Way(derive, applies, missing)
        return derive

    return register
