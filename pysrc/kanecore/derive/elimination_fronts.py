# SPDX-License-Identifier: BSD-3-Clause
"""Fronts: the parts of M a = f + Gᵀλ, G a + γ = 0 that are eliminated one after the other, from the leaves to the root.

Speeds are neighbours if an entry of M or a row of G connects them.  A front has own speeds, the rows of G that hold
them, and a border: the later speeds that these rows, or M, connect with the own ones.  Its elimination connects all
of its border, and nothing else.  So the work for a carriage with many loops is that of its loops (Duff and Reid, *ACM
Transactions on Mathematical Software* 9, 1983).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kanecore.graph.expression_graph import Graph

__all__ = ["HELP", "Front", "front_system", "fronts", "operations"]

HELP = 2
"""Times the operations of the fronts: they are used where all equations at once take more."""

OVERHEAD = 60  # operations that a front takes beside its loops


@dataclass(frozen=True)
class Front:
    """A part of the equations: numbers of its own speeds, of the speeds of its border, and of its rows of G.

    ``parent`` is the number of the front that eliminates the first speed of the border, −1 without a border; ``places``
    are those of the border among the own speeds of the parent and its border.
    """

    own: tuple[int, ...]
    border: tuple[int, ...]
    rows: tuple[int, ...]
    parent: int = -1
    places: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        """Columns of its equations: own speeds, border, right-hand side."""
        return len(self.own) + len(self.border) + 1

    @property
    def room(self) -> int:
        """Numbers of what the entries of G are summed from, and later of combinations of its rows."""
        return len(self.rows) * max(self.width - 1, len(self.rows))

    @property
    def numbers(self) -> int:
        """Numbers of all its arrays."""
        border, rows = len(self.border), len(self.rows)
        return len(self.own) * self.width + border * (border + 1) + rows * self.width + self.room


def fronts(n: int, m: int, system: Sequence[int]) -> tuple[Front, ...]:
    """The fronts of n speeds and m rows, in the order of their elimination; empty if they do not help.

    ``system`` is [M (n, n), f (n), G (m, n), γ (m), bounds (m, n) of the terms of the entries of G].
    """
    jacobian = n * (n + 1)
    masses = [{j for j in range(n) if j != i and system[i * n + j]} for i in range(n)]
    rows = [{j for j in range(n) if system[jacobian + i * n + j]} for i in range(m)]
    if not all(system[i * (n + 1)] for i in range(n)):  # a speed without mass has no unit
        return ()
    found = _eliminated(masses, rows)
    if sum(1 for front in found if front.rows) < 2:
        return ()
    if HELP * operations(n, m, found) > operations(n, m, ()):
        return ()
    if sum(front.numbers for front in found) > 2 * n * n:  # its scratch would not hold them
        return ()
    return _connected(found)


def front_system(g: Graph, n: int, m: int, system: Sequence[int], found: Sequence[Front]) -> tuple[int, ...]:
    """The arrays of all fronts, one after the other: see ``emit/runtime/fronts.h``."""
    parts, at = list[Sequence[int]](), 0
    for size in (n * n, n, m * n, m, m * n):
        parts.append(system[at : at + size])
        at += size
    mass, forcing, jacobian, bias, sums = parts
    entries: list[int] = []
    for front in found:
        speeds = (*front.own, *front.border)
        for i in front.own:
            entries += [*(mass[i * n + j] for j in speeds), g.neg(forcing[i])]
        entries += [0] * (len(front.border) * (len(front.border) + 1))
        for i in front.rows:
            entries += [*(jacobian[i * n + j] for j in speeds), bias[i]]
        for i in front.rows:
            entries += [sums[i * n + j] for j in speeds]
        entries += [0] * (front.room - len(front.rows) * len(speeds))
    return tuple(entries)


def operations(n: int, m: int, found: Sequence[Front]) -> int:
    """About how many operations the equations of n speeds and m rows take: by fronts, or all at once without any."""
    if not found:
        return _operations(n, 0, m)
    return sum(_operations(len(f.own), len(f.border), len(f.rows)) for f in found)


def _operations(own: int, border: int, rows: int) -> int:
    """About how many operations the elimination of a front takes."""
    width = own + border + 1
    return 2 * rows * rows * width + rows * width * width + max(own - rows, 0) * width * width + OVERHEAD


def _eliminated(masses: Sequence[set[int]], rows: Sequence[set[int]]) -> list[Front]:
    """Fronts, that with the smallest border first; ``masses`` are the neighbours of each speed by M, and change."""
    n = len(masses)
    held: list[set[int]] = [set() for _ in range(n)]  # rows that hold each speed
    for i, row in enumerate(rows):
        for j in row:
            held[j].add(i)
    left, found = set(range(n)), list[Front]()
    waiting: dict[tuple[int, int], _Candidate] = {}
    queue: list[tuple[int, int, int]] = []

    def consider(speeds: Iterable[int]) -> None:
        """The fronts of the rows of each speed, and, for later, of those of all speeds that M connects with it."""
        for j in speeds:
            for joined, several in enumerate(({j}, ({j} | masses[j]) & left)):
                waiting.pop((joined, j), None)
                if len(several) < len(left) and (each := _Candidate(several, masses, rows, held)).holds:
                    waiting[joined, j] = each
                    heapq.heappush(queue, (joined, len(each.border), j))

    consider(range(n))
    while queue:
        joined, border, j = heapq.heappop(queue)
        each = waiting.get((joined, j))
        if each is None or len(each.border) != border or not each.own <= left:
            continue
        if len(each.own) + len(each.border) >= len(left) and len(each.own) <= len(each.border):
            break  # the rest is dense, and may choose its pivots among all speeds
        found.append(Front(tuple(sorted(each.own)), tuple(sorted(each.border)), tuple(sorted(each.rows))))
        left -= each.own
        for i in each.rows:
            for j in rows[i]:
                held[j].discard(i)
        for j in each.border:
            masses[j] |= each.border
            masses[j] -= each.own | {j}
        touched = each.border | {k for j in each.border for i in held[j] for k in rows[i]}
        consider(sorted(touched & left))
    taken = {i for front in found for i in front.rows}
    others = tuple(i for i in range(len(rows)) if i not in taken)
    if left or not found:
        return [*found, Front(tuple(sorted(left)), (), others)]
    root = found[-1]  # it asks what rows without speeds say as well
    return [*found[:-1], Front(root.own, root.border, (*root.rows, *others))]


class _Candidate:
    """The front of all rows that hold some speeds: its own speeds stand in no other row."""

    def __init__(
        self, speeds: set[int], masses: Sequence[set[int]], rows: Sequence[set[int]], held: Sequence[set[int]]
    ) -> None:
        self.rows = set[int]().union(*(held[j] for j in speeds))
        beside = set[int]().union(*(rows[i] for i in self.rows))
        beside = {j for j in beside if held[j]} or speeds
        self.own = {j for j in beside if held[j] <= self.rows}
        self.border = beside.union(*(masses[j] for j in self.own)) - self.own
        self.holds = _matched(self.rows, rows, self.own)


def _matched(chosen: Iterable[int], rows: Sequence[set[int]], speeds: set[int]) -> bool:
    """Test whether each row can have a pivot of its own among some speeds."""
    pivot_of: dict[int, int] = {}

    def place(i: int, seen: set[int]) -> bool:
        for j in sorted((rows[i] & speeds) - seen):
            seen.add(j)
            if j not in pivot_of or place(pivot_of[j], seen):
                pivot_of[j] = i
                return True
        return False

    return all(place(i, set()) for i in sorted(chosen))


def _connected(found: Sequence[Front]) -> tuple[Front, ...]:
    """The fronts with borders in the order of elimination, and with their parents."""
    order = {j: k for k, j in enumerate(j for front in found for j in front.own)}
    front_of = {j: k for k, front in enumerate(found) for j in front.own}
    result = [Front(f.own, tuple(sorted(f.border, key=order.__getitem__)), f.rows) for f in found]
    for k, front in enumerate(result):
        if front.border:
            parent = front_of[front.border[0]]
            places = {j: i for i, j in enumerate((*result[parent].own, *result[parent].border))}
            result[k] = Front(front.own, front.border, front.rows, parent, tuple(places[j] for j in front.border))
    return tuple(result)
