# SPDX-License-Identifier: BSD-3-Clause
"""Which body a load acts on, which hangs on which, and what has no place or no orientation: facts for the audit."""

from __future__ import annotations

from typing import Any

from kanecore.describe.description import Description
from kanecore.describe.joints import Attachments

from .kinematics import Kinematics
from .reactions import is_free
from .vectors import ZERO

__all__ = ["places"]


def places(k: Kinematics) -> dict[str, Any]:
    """The facts by name, for ``info`` of a model's table.

    ``joints``: parent, child, and whether the joint holds nothing; a parent of -1 is the inertial frame.
    ``acts_on``: the body of each load, -1 where it is the inertial frame.  ``adrift``: numbers of points, among those
    shown, that are located from a point that moves.  ``unoriented``: numbers of frames whose orientation is not known.
    """
    d = k.description
    owner = Attachments(d.graph, d.frames, d.points, d.bodies, d.joints)
    return {
        "joints": [[joint.parent, joint.child, int(is_free(k, joint))] for joint in d.joints],
        "acts_on": [owner.body_at(x.at) if x.kind == "force" else owner.body_of(x.at) for x in d.loads],
        "adrift": [n for n, point in enumerate(d.shown_points) if _moves(k, _root(d, point))],
        "unoriented": [n for n, frame in enumerate(d.shown_frames) if not _is_oriented(d, frame)],
    }


def _root(d: Description, point: int) -> int:
    while d.points[point].parent >= 0:
        point = d.points[point].parent
    return point


def _moves(k: Kinematics, root: int) -> bool:
    return k.velocity[root] != ZERO


def _is_oriented(d: Description, frame: int) -> bool:
    while frame > 0:
        if not d.frames[frame].oriented:
            return False
        frame = d.frames[frame].parent
    return True
