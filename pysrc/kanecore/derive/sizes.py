# SPDX-License-Identifier: BSD-3-Clause
"""The sizes of a model, by the names that they have in the C table and in the shapes of kernels."""

from __future__ import annotations

from .derivation import Derivation

__all__ = ["sizes_of"]


def sizes_of(derivation: Derivation) -> dict[str, int]:
    """``n_q``, ``n_u``, ..., ``n_velocity``."""
    d = derivation.description
    n_q, n_u = len(d.coordinates), len(d.speeds)
    rows = (0, 0, 0)
    if d.constraints:
        constraints = derivation.constraints
        rows = len(constraints.rows), len(constraints.configuration), len(constraints.values)
    return {
        "n_q": n_q,
        "n_u": n_u,
        "n_x": n_q + n_u,
        "n_p": len(d.parameters),
        "n_r": len(d.inputs),
        "n_points": len(d.shown_points),
        "n_frames": len(d.shown_frames),
        "n_outputs": len(d.outputs),
        "n_joints": len(d.joints),
        "n_bodies": len(d.bodies),
        "n_loads": len(d.loads),
        "n_potentials": len(d.potentials),
        "n_unit": len(d.unit),
        "n_constraints": rows[0],
        "n_configuration": rows[1],
        "n_velocity": rows[2],
        "n_auxiliary": len(d.auxiliary),
        "n_q_dependent": d.n_q_dependent,
        "n_u_dependent": d.n_u_dependent,
    }
