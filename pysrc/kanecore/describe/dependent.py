# SPDX-License-Identifier: BSD-3-Clause
"""Whether what a description calls dependent can be: constraints must determine it."""

from __future__ import annotations

from collections.abc import Iterator, Set

from kanecore.errors import ModelError, warn

from .description import Description

__all__ = ["check_dependent"]


def check_dependent(d: Description) -> None:
    """ModelError for dependent speeds that no constraint determines; for coordinates, which little uses, a warning."""
    _check_counts(d)
    places = set(d.graph.below(_nodes(d, "configuration")))
    moving = [rate for q, rate in zip(d.coordinates, d.rates, strict=True) if q in places]
    speeds = set(d.graph.below([*_nodes(d, "velocity"), *_nodes(d, "acceleration"), *moving]))
    message = "{0} in {1}_dependent occurs in no constraint, and nothing determines it: list it in {1}_ind"
    if places:
        for name in _missing(d.coordinate_names, [{q} for q in d.coordinates], d.n_q_dependent, places):
            warn(message.format(name, "q") + "; nothing but linearize(minimal=True) looks at this label")
    determined = [{u, du} for u, du in zip(d.speeds, d.accelerations, strict=True)]
    for name in _missing(d.speed_names, determined, d.n_u_dependent, speeds):
        raise ModelError(message.format(name, "u"))


def _check_counts(d: Description) -> None:
    """No more coordinates and speeds can depend on others than there are constraints that determine them."""
    rows = len(d.constraints)
    places = len(_nodes(d, "configuration")) or rows  # velocity constraints may be derivatives of some on coordinates
    for letter, what, count, limit in (
        ("q", "coordinates", d.n_q_dependent, places),
        ("u", "speeds", d.n_u_dependent, rows),
    ):
        if count > limit:
            raise ModelError(
                f"{letter}_dependent names {count} {what}, and there are {limit} constraints that may determine "
                f"them: add what does, or list them in {letter}_ind"
            )


def _nodes(d: Description, kind: str) -> list[int]:
    return [each.node for each in d.constraints if each.kind == kind]


def _missing(names: tuple[str, ...], nodes: list[set[int]], count: int, present: Set[int]) -> Iterator[str]:
    """Names of the last ``count``, none of whose nodes is present."""
    first = len(names) - count
    return (name for name, own in zip(names[first:], nodes[first:], strict=True) if present.isdisjoint(own))
