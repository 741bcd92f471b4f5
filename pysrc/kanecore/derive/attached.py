# SPDX-License-Identifier: BSD-3-Clause
"""Where a row of G acts: the forces λ·vector on the child and −λ·vector on the parent, compared with the row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kanecore.describe.description import Attachment, Load
from kanecore.graph.decide import equal
from kanecore.graph.scalars import Graph

from .constraints import Row
from .kane import Wrenches, generalized_forces
from .kinematics import Kinematics
from .vectors import neg, scale

__all__ = ["attached_loads", "misattached", "unknown_rows"]


def attached_loads(g: Graph, acting: Iterable[Attachment], multiplier: int, number: int) -> list[Load]:
    """What a row does by its attachments, as a load of the user's list."""
    loads = []
    for a in acting:
        vector = tuple((f, scale(g, multiplier, v)) for f, v in a.vector)
        opposite = tuple((f, neg(g, v)) for f, v in vector)
        loads.append(Load(a.kind, a.child_at, vector, number, a.child))
        loads.append(Load(a.kind, a.parent_at, opposite, number, a.parent))
    return loads


def unknown_rows(attachments: Iterable[Attachment], rows: Sequence[Row]) -> str:
    """What is wrong where something is attached to a row that G does not have; empty where nothing is."""
    for a in attachments:
        if a.row >= len(rows):
            names = ", ".join(row.name for row in rows)
            return f"attach={{{a.row}: ...}} names no row of G, which has {len(rows)}: {names}"
    return ""


def misattached(k: Kinematics, number: int, row: Row, acting: Iterable[Attachment]) -> str:
    """What is wrong where attachments do not act as their row does; empty where they do."""
    g = k.graph
    given = generalized_forces(Wrenches(k, attached_loads(g, acting, g.one, -1)))
    if equal(g, zip(given, row.jacobian, strict=True), (*given, *row.jacobian), otherwise=True):
        return ""
    return (
        f"attach={{{number}: ...}} does not act as {row.name}: the generalized force of its vector is not "
        "the row of G; check sign and length of the vector, and the points: one of a contact needs the "
        "velocity of the body's point that touches, by set_vel"
    )
