# SPDX-License-Identifier: BSD-3-Clause
"""Which body a load acts on, which hangs on which, and what has no place or no orientation: facts for the audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kanecore.describe.description import Description
from kanecore.describe.joints import Attachments

from .contradictions import excused
from .derivation import Derivation
from .reactions import is_free
from .vectors import ZERO

__all__ = ["places"]


def places(derivation: Derivation) -> dict[str, Any]:
    """The facts by name, for ``info`` of a model's table.

    ``joints``: parent, child, and whether the joint holds nothing; a parent of -1 is the inertial frame.
    ``acts_on``: the body of each load, -1 where it is the inertial frame.  ``adrift``: numbers of points, among those
    shown, of which no position tells how they move, since they are located from a point that was set in motion, or
    from a contact.  ``instant``: those that are located, or set in motion, in axes that turn otherwise than they
    are oriented: their accelerations are those of vectors as written.  ``unoriented``: numbers of frames of which no
    orientation tells how they turn.
    """
    d, k = derivation.description, derivation.kinematics
    owner = Attachments(d.graph, d.frames, d.points, d.bodies, d.joints)
    points, frames = excused(derivation.freed, k)
    unoriented: list[bool] = []
    for i, frame in enumerate(d.frames):
        unoriented.append(i > 0 and (unoriented[frame.parent] or not frame.oriented or i in frames))
    adrift: list[bool] = []
    for i, point in enumerate(d.points):
        above = adrift[point.parent] if point.parent >= 0 else k.velocity[i] != ZERO
        adrift.append(above or i in points or any(unoriented[f] for f, _ in point.position))
    wandering = [i for i in range(len(d.points)) if _is_written_in(d, i, unoriented)]
    return {
        "joints": [[joint.parent, joint.child, int(is_free(k, joint))] for joint in d.joints],
        "acts_on": [owner.body_at(x.at) if x.kind == "force" else owner.body_of(x.at) for x in d.loads],
        "adrift": [n for n, point in enumerate(d.shown_points) if adrift[point]],
        "instant": [n for n, point in enumerate(d.shown_points) if point in wandering],
        "unoriented": [n for n, frame in enumerate(d.shown_frames) if unoriented[frame]],
    }


def _is_written_in(d: Description, point: int, frames: Sequence[bool]) -> bool:
    """Whether the position or velocity of a point, or of one that it is located from, is written in some frames."""
    while point >= 0:
        here = d.points[point]
        if any(frames[f] for f, _ in (*here.position, *(here.velocity or ()))):
            return True
        point = here.parent
    return False
