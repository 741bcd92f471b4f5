# SPDX-License-Identifier: BSD-3-Clause
"""Equality constraints of a compiled MuJoCo model as rows that hold exactly, where MuJoCo has stiff springs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanecore.describe.robots.loop_closures import Loops
from kanecore.describe.robots.number_nodes import number
from kanecore.describe.robots.rigid_poses import Pose, from_unit_quaternion
from kanecore.describe.robots.robot import Closure
from kanecore.errors import ModelError, warn

from .body_tree import BodyTree
from .sites import Sites
from .tendon_lengths import Tendon

__all__ = ["add_equality"]

_CONNECT, _WELD, _JOINT, _TENDON = range(4)  # of ``eq_type``
_SITES = 6  # of ``eq_objtype``


def add_equality(tree: BodyTree, tendons: Sequence[Tendon], sites: Sites) -> None:
    """Add the rows of all constraints that are active at the start; those with a mocap body are left out.

    Raises
    ------
    ModelError
        A constraint of another kind.
    """
    m, loops, left_out, rows = tree.m, Loops(tree.links), list[str](), list[str]()
    for i in range(m.neq):
        name, kind = tree.names("eq", i), int(m.eq_type[i])
        if not m.eq_active0[i]:
            continue
        if kind in (_JOINT, _TENDON):
            tree.builder.constraint("configuration", _polynomial(tree, tendons, i), name)
        elif kind in (_CONNECT, _WELD):
            ends = _ends(tree, sites, i)
            if any(m.body_mocapid[body] >= 0 for body, _ in ends):
                left_out.append(name)
                continue
            names = [(tree.name(body), pose) for body, pose in ends]
            loops.close_by(Closure(name, (names[0], names[1]), "point" if kind == _CONNECT else "weld"))
        else:
            raise ModelError(f"equality {name!r} is not read: joint, tendon, connect and weld are")
        rows.append(name)
    loops.attach()
    if rows:
        warn(
            f"equality constraints of {tree.names.model!r} hold exactly here, and are stiff springs in MuJoCo: "
            f"{', '.join(rows)}; equality='ignore' leaves them out"
        )
    if left_out:
        warn(f"equality constraints of {tree.names.model!r} with mocap bodies are left out: {', '.join(left_out)}")


def _polynomial(tree: BodyTree, tendons: Sequence[Tendon], i: int) -> int:
    """(y₁ − y₁₀) − Σ cₖ (y₂ − y₂₀)ᵏ of two joints or tendons; of one alone y₁ − y₁₀ − c₀."""
    m, b, g = tree.m, tree.builder, tree.builder.graph

    def displacement(item: int) -> int:
        if int(m.eq_type[i]) == _JOINT:
            k = int(m.jnt_qposadr[item])
            return g.sub(tree.q[k], number(b, float(m.qpos0[k])))
        return g.sub(tendons[item].length, number(b, float(m.tendon_length0[item])))

    result = g.sub(displacement(int(m.eq_obj1id[i])), number(b, float(m.eq_data[i, 0])))
    if m.eq_obj2id[i] < 0:
        return result
    y = displacement(int(m.eq_obj2id[i]))
    power = g.one
    for c in m.eq_data[i, 1:5]:
        power = g.mul(power, y)
        result = g.sub(result, g.mul(number(b, float(c)), power))
    return result


def _ends(tree: BodyTree, sites: Sites, i: int) -> list[tuple[int, Pose]]:
    """Bodies of a connect or weld, and the poses in them that coincide."""
    m, data = tree.m, np.array(tree.m.eq_data[i])
    objects = [int(m.eq_obj1id[i]), int(m.eq_obj2id[i])]
    if int(m.eq_objtype[i]) == _SITES:
        return [(sites.body(s), sites.pose(s)) for s in objects]
    if int(m.eq_type[i]) == _CONNECT:
        return [(body, Pose(np.eye(3), data[3 * k : 3 * k + 3])) for k, body in enumerate(objects)]
    relative = Pose(from_unit_quaternion(data[6:10]), data[3:6])
    anchor = Pose(np.eye(3), data[0:3])
    return [(objects[0], relative @ anchor), (objects[1], anchor)]
