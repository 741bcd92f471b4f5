# SPDX-License-Identifier: BSD-3-Clause
"""Implausible masses and inertias, which no solid body can have: some are published, and are used with a warning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kanecore.errors import warn
from kanecore.graph.evaluation import evaluate

from .description import Body, Description

__all__ = ["impossible", "warn_of_impossible"]

ROUNDED = 1e-4  # of the sum of the principal moments: numbers were rounded when they were printed

NEGLIGIBLE = 1e-20  # m²: the radius of gyration is below 1e-10 m, the size of an atom


def warn_of_impossible(d: Description, values: Mapping[str, float] | None = None) -> None:
    """Warn of each body whose inertia no solid can have, if it consists of numbers, or does with ``values``.

    With the central principal moments I1 ≤ I2 ≤ I3, the second moments of mass ∫x² dm, ... are half of I2 + I3 − I1,
    I3 + I1 − I2 and I1 + I2 − I3: none can be negative.  Where two moments are zero and the third is not, a planar
    model gives the only one that matters.
    """
    for name, reason in impossible(d, values):
        warn(f"no solid body can have the {reason} of body {name}; it is used as it was given")


def impossible(d: Description, values: Mapping[str, float] | None) -> Iterator[tuple[str, str]]:
    """Names of bodies that no solid can be, each with the reason: as numbers, or if ``values`` are given with these."""
    values_by_name = values or {}
    keys = [d.graph.nodes[i][1] for i in d.parameters]
    numbers = {k: values_by_name[n] for k, n in zip(keys, d.parameter_names, strict=True) if n in values_by_name}
    for body in d.bodies:
        nodes = [body.mass, *(x for _, m in body.inertia for row in m for x in row)]
        nodes += [x for _, v in body.about for x in v]
        symbols = set(d.graph.symbols(nodes))
        if bool(symbols) != (values is not None) or not symbols <= numbers.keys():
            continue  # warned of when the model was made, or not yet a number
        reason = _impossible(body, evaluate(d.graph, nodes, numbers))
        if reason:
            yield body.name, reason


def _impossible(body: Body, numbers: Sequence[float]) -> str | None:
    mass, *rest = numbers
    if mass < 0:
        return f"mass {mass:g}"
    if len({f for f, _ in (*body.inertia, *body.about)}) != 1:
        return None  # a particle, or a tensor in the axes of several frames
    n = 9 * len(body.inertia)
    tensor = np.reshape(rest[:n], (-1, 3, 3)).sum(axis=0)
    offset = np.reshape(rest[n:], (-1, 3)).sum(axis=0)
    central = tensor - mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))
    moments = np.linalg.eigvalsh(central)
    rounding = 4.0 * np.finfo(float).eps * np.max(np.abs(tensor), initial=0.0)
    if np.max(np.abs(moments)) <= NEGLIGIBLE * mass + rounding:
        return None  # rounding of a zero
    if np.count_nonzero(moments) == 1 and moments[2] > 0:
        return None
    if moments[0] + moments[1] < moments[2] - ROUNDED * moments.sum() or moments[0] < -ROUNDED * abs(moments).sum():
        return "central principal moments of inertia " + ", ".join(f"{x:g}" for x in moments)
    return None
