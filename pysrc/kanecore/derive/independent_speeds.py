# SPDX-License-Identifier: BSD-3-Clause
"""Results in the independent speeds: A_n of u_dep = A_n u_ind + b, solved on the graph.

Kane & Levinson 1985, section 2.13.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.errors import ModelError
from kanecore.graph.linear_equations import Singular, solve
from kanecore.graph.vectors import dot
from kanecore.kernels import Kernel

from .constraint_rows import Row
from .derivation import Derivation

__all__ = ["dependence", "independent"]


def independent(derivation: Derivation, kernel: Kernel, roots: Sequence[int]) -> list[int]:
    """Results of a kernel in the independent speeds: the dependent speeds are eliminated.

    Raises
    ------
    ModelError
        The number of dependent speeds differs from the rows of G, or they do not follow from the other speeds.
    """
    g, n_u = derivation.graph, len(derivation.description.speeds)
    dof = n_u - derivation.description.n_u_dependent
    if kernel.remainder_of:
        return _remainders(derivation, kernel, roots)
    width = 3 if kernel.shape[-1] == "3" else 1  # components along each speed
    slopes = _slopes(derivation)
    result = []
    for start in range(0, len(roots), n_u * width):
        share = [roots[start + r * width : start + (r + 1) * width] for r in range(n_u)]
        for r, slope in enumerate(slopes):
            result += [g.add(share[r][i], dot(g, [x[i] for x in share[dof:]], slope)) for i in range(width)]
    return result


def dependence(derivation: Derivation) -> list[list[int]]:
    """A_n row by row; raises as `independent`."""
    columns = _slopes(derivation)
    return [[column[i] for column in columns] for i in range(derivation.description.n_u_dependent)]


def _slopes(derivation: Derivation) -> list[list[int]]:
    """The columns of A_n."""
    g, d, rows = derivation.graph, derivation.description, _rows(derivation)
    dof = len(d.speeds) - d.n_u_dependent
    return [_solved(derivation, [g.neg(row.jacobian[r]) for row in rows]) for r in range(dof)]


def _remainders(derivation: Derivation, kernel: Kernel, roots: Sequence[int]) -> list[int]:
    """Remainders v_t with the part of b, for a constraint linearized about u."""
    g, d, rows = derivation.graph, derivation.description, _rows(derivation)
    n_u, n = len(d.speeds), d.n_u_dependent
    if any(row.value < 0 for row in rows):
        raise ModelError(f"{d.name!r} has constraints on accelerations, which do not restrict velocities")
    offset = [g.sub(dot(g, row.jacobian, d.speeds), row.value) for row in rows]
    b = _solved(derivation, offset)
    partials = derivation.kernel(kernel.remainder_of).roots
    result = []
    for place, root in enumerate(roots):
        vector, i = divmod(place, 3)
        shares = [partials[(vector * n_u + r) * 3 + i] for r in range(n_u - n, n_u)]
        result.append(g.add(root, dot(g, shares, b)))
    return result


def _rows(derivation: Derivation) -> Sequence[Row]:
    """The rows of G, as many as there are dependent speeds."""
    d = derivation.description
    rows = derivation.constraints.rows if d.constraints else []
    if len(rows) != d.n_u_dependent:
        raise ModelError(
            f"the independent speeds of {d.name!r} are not known: G has {len(rows)} rows, and its description names "
            f"{d.n_u_dependent} speeds in u_dependent; name as many as rows, and leave out redundant constraints"
        )
    return rows


def _solved(derivation: Derivation, right: Sequence[int]) -> list[int]:
    """Solution of the rows of G for the dependent speeds."""
    d, n = derivation.description, derivation.description.n_u_dependent
    if not n:
        return []
    try:
        return solve(derivation.graph, [row.jacobian[-n:] for row in _rows(derivation)], right)
    except Singular:
        raise ModelError(
            f"the dependent speeds {', '.join(d.speed_names[-n:])} of {d.name!r} do not follow from the others: "
            "describe it with other dependent speeds"
        ) from None
