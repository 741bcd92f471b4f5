# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of a model's outputs with respect to time and parameters, as the outputs of a second library.

No kernel of a model gives them. With ∂y/∂u̇ and ∂u̇/∂p, which kernels give, they are all of dy/dp.
"""

from __future__ import annotations

from dataclasses import replace

from kanecore.emit.groups import whole
from kanecore.emit.library import Library
from kanecore.graph.calculus import accumulate
from kanecore.graph.scalars import ACCELERATION, PARAMETER, TIME

__all__ = ["outputs_hold_udot", "slopes_library"]


def outputs_hold_udot(library: Library) -> bool:
    """Whether an output depends on the derivatives of speeds."""
    return any(library.g.depends[node] & ACCELERATION for _, node in library.d.outputs)


def slopes_library(library: Library) -> Library | None:
    """The library whose outputs are ∂y/∂(t, p) at constant u̇, (n_outputs, 1 + n_p), row by row.

    None of a model without outputs, and where outputs hold multipliers.
    """
    if not library.derivation.has("output_jacobian"):
        return None
    d = replace(library.d, graph=library.g.clone())
    wrt = [d.time, *d.parameters]
    rows = [accumulate(d.graph, [(node, d.graph.one)], wrt, TIME | PARAMETER, limits=True) for _, node in d.outputs]
    entries = [(f"{i} by {j}", node) for i, row in enumerate(rows) for j, node in enumerate(row)]
    return whole(replace(d, outputs=tuple(entries)), library.defaults, kernels=("outputs",))
