# SPDX-License-Identifier: BSD-3-Clause
"""Registry of kernels: the function that derives each kernel of `kanecore.kernels`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["DERIVATIONS", "Derived", "KernelDerivation", "derives"]


@dataclass(frozen=True)
class Derived:
    """The results of a kernel, in the order of its ``out``.

    ``pivots`` are (pivot, diagonal entry, index of the speed).  The results are valid where every pivot is larger than
    64 n ε times its diagonal entry, and no node of ``limits`` is positive.  ``after_udot``: u̇ in the results is the
    model's, computed before; ``with_multipliers``: so is λ.
    """

    roots: tuple[int, ...]
    pivots: tuple[tuple[int, int, int], ...] = ()
    limits: tuple[int, ...] = ()
    after_udot: bool = False
    with_multipliers: bool = False


@dataclass(frozen=True)
class KernelDerivation:
    """Derivation of a kernel from a `Derivation`, and the test of whether the model has the kernel."""

    derive: Callable[[Any], Derived]
    applies: Callable[[Any], bool]
    missing: Callable[[Any], str]


DERIVATIONS: dict[str, KernelDerivation] = {}
"""The derivations of kernels, by name."""


def derives(
    name: str,
    *,
    applies: Callable[[Any], bool] = lambda derivation: True,
    missing: Callable[[Any], str] = lambda derivation: "",
) -> Callable[[Callable[[Any], Derived]], Callable[[Any], Derived]]:
    """Register the derivation of the kernel ``name``.

    Parameters
    ----------
    applies : callable
        Test whether the mechanism has the quantity; for example, a model without constraints has no multipliers.
    missing : callable
        Missing part of the description, in words for the user; empty if no part is missing.
    """

    def register(derive: Callable[[Any], Derived]) -> Callable[[Any], Derived]:
        DERIVATIONS[name] = KernelDerivation(derive, applies, missing)
        return derive

    return register
