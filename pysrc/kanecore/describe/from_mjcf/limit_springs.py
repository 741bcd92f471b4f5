# SPDX-License-Identifier: BSD-3-Clause
"""Limits of joints and tendons of a compiled MuJoCo model as springs and dampers that act beyond them.

f = max(0, k d + b ḋ) at a depth d > 0, by the reference acceleration of MuJoCo's limits: with ``solref`` (T, ζ) and the
largest impedance D, k = m/(D T² ζ²) and b = 2 m/(D T); with (−κ, −β), k = m κ/D and b = m β/D.  m is the inertia that
resists in the pose ``qpos0``, 1/invweight0.  Source: the documentation of MuJoCo 4.0, "Modeling", "Solver parameters".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kanecore.describe.mjcf_compiler.mujoco_enumerations import BALL
from kanecore.describe.robots.number_nodes import number
from kanecore.errors import ModelError
from kanecore.graph.expression_graph import Op
from kanecore.graph.vectors import dot

from .body_tree import BodyTree
from .quaternion_nodes import rotation_vector
from .tendon_lengths import Tendon

__all__ = ["add_limits"]

_IMPEDANCES = (1e-4, 0.9999)  # within which MuJoCo holds them
_TURNED = 1e-12  # rad²: below it a ball joint is not turned, and its angle has no slope


class _Stop:
    """The law of a limit.

    Parameters
    ----------
    reference, impedance : sequences
        ``solref`` and ``solimp``.
    margin : float
        Distance before the limit at which the spring begins.
    mobility : float
        1/m.
    owner : str
        What has the limit, in messages.

    Raises
    ------
    ModelError
        The damping ratio is 0, which leaves the stiffness open.
    """

    def __init__(
        self, tree: BodyTree, reference: Any, impedance: Any, margin: float, mobility: float, owner: str
    ) -> None:
        time, ratio = (float(x) for x in reference[:2])
        if time > 0.0 and ratio <= 0.0:
            raise ModelError(
                f'solreflimit of {owner} is "{time:g} {ratio:g}": a positive time constant takes a positive damping '
                'ratio, such as "0.02 1"'
            )
        largest = min(max(float(impedance[1]), _IMPEDANCES[0]), _IMPEDANCES[1])
        if time > 0.0:
            stiffness, damping = (time * ratio) ** -2 / largest, 2.0 / (largest * time)
        else:
            stiffness, damping = -time / largest, -ratio / largest
        self._b, self._margin = tree.builder, float(margin)
        self._stiffness, self._damping = stiffness / float(mobility), damping / float(mobility)

    def force(self, limit: float, sign: int, x: int, rate: int) -> int:
        """The force that lowers x above a limit, or with the sign −1 raises it below."""
        b, g = self._b, self._b.graph
        depth = g.add(g.sub(x, number(b, float(limit))), number(b, sign * self._margin))
        if sign < 0:
            depth, rate = g.neg(depth), g.neg(rate)
        push = g.add(g.mul(number(b, self._stiffness), depth), g.mul(number(b, self._damping), rate))
        beyond = g.select(g.binary(Op.LT, 0, depth), g.binary(Op.MAX, push, 0), 0)
        return g.neg(beyond) if sign > 0 else beyond

    def within(self, limits: Any, x: int, rate: int) -> int:
        """The sum at both limits."""
        return self._b.graph.add(self.force(limits[0], -1, x, rate), self.force(limits[1], 1, x, rate))


def add_limits(tree: BodyTree, tendons: Sequence[Tendon]) -> None:
    """Add the springs of all joints and tendons that have limits."""
    m, g = tree.m, tree.builder.graph
    for j in range(m.njnt):
        if not m.jnt_limited[j]:
            continue
        i, k = int(m.jnt_dofadr[j]), int(m.jnt_qposadr[j])
        law = m.jnt_solref[j], m.jnt_solimp[j], m.jnt_margin[j], m.dof_invweight0[i]
        stop = _Stop(tree, *law, f"joint {tree.names('jnt', j)!r}")
        if int(m.jnt_type[j]) != BALL:
            tree.efforts[i].append(stop.within(m.jnt_range[j], tree.q[k], tree.u[i]))
            continue
        turned = rotation_vector(g, tree.q[k : k + 4])
        angle = g.sqrt(g.binary(Op.MAX, dot(g, turned, turned), g.constant(_TURNED)))
        axis = [g.div(x, angle) for x in turned]
        rate = g.sum([g.mul(x, w) for x, w in zip(axis, tree.u[i : i + 3], strict=True)])
        torque = stop.force(max(m.jnt_range[j]), 1, angle, rate)
        for c, x in enumerate(axis):
            tree.efforts[i + c].append(g.mul(x, torque))
    for t, tendon in enumerate(tendons):
        if m.tendon_limited[t]:
            law = m.tendon_solref_lim[t], m.tendon_solimp_lim[t], m.tendon_margin[t], m.tendon_invweight0[t]
            stop = _Stop(tree, *law, f"tendon {tree.names('tendon', t)!r}")
            tendon.forces.append(stop.within(m.tendon_range[t], tendon.length, tendon.rate))
