# SPDX-License-Identifier: BSD-3-Clause
"""Which parameters each kernel does not read: a call of it does not ask for their values."""

from __future__ import annotations

from collections.abc import Iterable

from kanecore.kernels import KERNELS

from .derivation import Derivation

__all__ = ["unread"]

_COUNTED = [kernel.name for kernel in KERNELS if kernel.counts]  # that ask how many rows of G count


def unread(derivation: Derivation, kernels: Iterable[str]) -> dict[str, int]:
    """Of each kernel the parameters that none of its results depends on, as bits; without kernels that read all.

    What counts the rows of G reads the constraints and M, with which states are brought to them.
    """
    g, d = derivation.graph, derivation.description
    result = {}
    for name in kernels:
        below = set(g.below(_roots(derivation, name)))
        bits = sum(1 << i for i, node in enumerate(d.parameters) if node not in below)
        if bits:
            result[name] = bits
    return result


def _roots(derivation: Derivation, name: str) -> list[int]:
    d = derivation.description
    if name == "rhs":
        return [*_roots(derivation, "udot"), *d.rates]
    if name == "project":
        parts = list(derivation.projections.values())
    else:
        parts = [derivation.at_run_time(name) or derivation.kernel(name)]
    roots = [i for part in parts for i in (*part.roots, *(x for pivot in part.pivots for x in pivot[:2]))]
    if parts[0].after_udot:
        roots += _roots(derivation, "udot")
        if parts[0].with_multipliers:
            roots += derivation.kernel("multipliers").roots
    if d.constraints and name in _COUNTED:
        roots += [x for part in derivation.projections.values() for x in part.roots]
        roots += derivation.kernel("constraint_jacobian").roots
        roots += derivation.constraints.configuration
    return roots
