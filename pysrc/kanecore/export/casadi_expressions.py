# SPDX-License-Identifier: BSD-3-Clause
"""Kernels as expressions of CasADi, node by node of the graph, which CasADi differentiates any number of times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kanecore.derive.derivation import Derivation
from kanecore.derive.model_facts import sizes_of
from kanecore.describe.description import duplicate
from kanecore.errors import ModelError, unknown_name
from kanecore.graph.expression_graph import Given, Graph, Op
from kanecore.graph.operations import OPERATIONS
from kanecore.kernels import KERNELS, Kernel

from .exported_library import description_of

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["expression_function"]

_ROWS = {kernel.name: kernel for kernel in KERNELS if not (kernel.internal or kernel.beyond or len(kernel.shape) > 2)}
"""Kernels of t, x, r and p alone whose results are matrices."""


def expression_function(casadi: Any, dyn: Evaluator, kernel: str, name: str, wanted: list[bool]) -> Any:
    """Function of t, x, r, p that returns the result of a kernel, in the sparsity of its expressions."""
    if kernel not in _ROWS:
        raise unknown_name("kernel that is a matrix of t, x, r and p is called", kernel, _ROWS)
    derivation = Derivation(duplicate(description_of(dyn, "a function of CasADi")))
    roots = _roots(derivation, kernel)
    d = derivation.description
    t, variables = casadi.SX.sym("t"), []
    values = {d.time: t}
    for letter, nodes in (
        ("x", [*d.coordinates, *d.speeds, *d.states]),
        ("r", d.inputs),
        ("p", d.parameters),
    ):
        variables.append(casadi.SX.sym(letter, len(nodes)))
        values.update(zip(nodes, casadi.vertsplit(variables[-1]) if nodes else [], strict=True))
    result = _matrix(casadi, derivation, _ROWS[kernel], _expressions(casadi, derivation.graph, roots, values))
    given = {"is_diff_in": wanted}
    return casadi.Function(name, [t, *variables], [result], ["t", "x", "r", "p"], [kernel], given)


def _roots(derivation: Derivation, kernel: str) -> Sequence[int]:
    """The results of a kernel, with u̇ written out, if they are expressions."""
    name, derived = derivation.description.name, derivation.kernel(kernel)
    at_run_time = derived.after_udot and derivation.solved_at_run_time
    if at_run_time or derived.with_multipliers or derived.pivots or derived.limits:
        raise ModelError(
            f"{kernel} of {name!r} is no expression of CasADi: it is solved for, or holds derivatives of speeds or "
            "multipliers that are; mass_matrix, forcing and constraint_jacobian are expressions, and dyn.casadi('rhs') "
            "is a function"
        )
    if not derived.after_udot:
        return derived.roots
    udot = dict(zip(derivation.description.accelerations, derivation.kernel("udot").roots, strict=True))
    return derivation.graph.substitute(derived.roots, udot)


def _expressions(casadi: Any, g: Graph, roots: Sequence[int], values: dict[int, Any]) -> list[Any]:
    """The values of nodes."""
    z = dict(values)
    for i in g.below(roots):
        if i not in z:
            op, *operands = g.nodes[i]
            if op is Op.CONST or op is Op.PI:
                z[i] = math.pi if op is Op.PI else float(operands[0])
            elif isinstance(op, Given):
                raise ModelError(
                    f"it holds the function {op.name}, given by data, which is no expression of CasADi: "
                    "dyn.casadi('rhs') calls it"
                )
            else:
                row = OPERATIONS[op]
                act = getattr(casadi, row.casadi) if row.casadi else row.value
                z[i] = act(*(casadi.SX(z[k]) for k in operands))
    return [z[i] for i in roots]


def _matrix(casadi: Any, derivation: Derivation, row: Kernel, entries: Sequence[Any]) -> Any:
    """The entries, row by row, in place; zeros are no entries."""
    rows, columns = (*row.lengths(sizes_of(derivation)), 1, 1)[:2]
    result = casadi.SX(rows, columns)
    for number, entry in enumerate(entries):
        if not (isinstance(entry, float) and entry == 0.0):
            result[number // columns, number % columns] = entry
    return result
