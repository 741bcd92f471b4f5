# SPDX-License-Identifier: BSD-3-Clause
"""SymPy expressions of the kernels, and their LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kanecore.describe.description import Description
from kanecore.describe.symbols import multiplier
from kanecore.errors import ModelError
from kanecore.graph.evaluate import count
from kanecore.kernels import KERNELS

from .derivation import Derivation
from .described import Described
from .nonholonomic import independent
from .sizes import sizes_of

if TYPE_CHECKING:
    from kanecore.show.pages import Latex

__all__ = ["equations", "latex", "symbolic", "symbols_by_key"]

SHORT = 40  # operations of equations of motion that are written out
LONG = 200  # of those that a notebook does not show

KERNEL_ROWS = {kernel.name: kernel for kernel in KERNELS}
PARTIAL_ACCELERATIONS = {
    "partial_accelerations": "partial_velocities",
    "partial_angular_accelerations": "partial_angular_velocities",
}
"""What equals the nonholonomic form of a kernel, by that kernel."""

EQUATIONS = ("mass_matrix", "forcing", "constraint_jacobian", "constraint_bias")
RESIDUALS = ("configuration_residual", "velocity_residual", "constraint_jacobian")
AT_RUN_TIME = {
    "multipliers": ("it follows from udot, which is solved at run time", EQUATIONS),
    "linearize": ("its linear equations are solved at run time", EQUATIONS),
    "rhs_time_derivative": ("its linear equations are solved at run time", EQUATIONS),
    "rhs_parameter_jacobian": ("its linear equations are solved at run time", EQUATIONS),
    "output_jacobian": ("the outputs hold udot, whose derivatives are solved for at run time", EQUATIONS),
    "stabilization": ("its linear equations are solved at run time", RESIDUALS),
    "project": ("it is found at run time, step by step", RESIDUALS),
}
"""Why a kernel that comes after u̇ has no expression, and which have one of those that it is made from."""

WITHOUT_UDOT = ("stabilization", "project")
"""Those of them that have none though they do not come after u̇."""


def symbolic(model: Described, kernel: str, nested: bool, nonholonomic: bool = False) -> Any:
    """See :meth:`kanecore.Model.symbolic`."""
    from kanecore.graph.sympy_bridge import to_sympy

    derivation = model._derivation
    name = PARTIAL_ACCELERATIONS.get(kernel, kernel)
    _check(derivation, name, nonholonomic)
    program = derivation.kernel(name)
    symbols, roots = symbols_by_key(model), list(program.roots)
    lengths = list(KERNEL_ROWS[name].lengths(sizes_of(derivation)))
    if nonholonomic or kernel in PARTIAL_ACCELERATIONS:
        roots = independent(derivation, KERNEL_ROWS[name], roots)
        if "n_u" in KERNEL_ROWS[name].shape:
            lengths[KERNEL_ROWS[name].shape.index("n_u")] -= derivation.description.n_u_dependent
    if program.after_udot and not derivation.solved_at_run_time:
        udot = dict(zip(derivation.description.accelerations, derivation.kernel("udot").roots, strict=True))
        roots = derivation.graph.substitute(roots, udot)
    # what is solved at run time, or given, stands as u̇ and λ
    keys = [derivation.graph.nodes[i][1] for i in derivation.multiplier_symbols]
    symbols.update((key, multiplier(row)) for row, key in enumerate(keys))
    intermediates, flat = to_sympy(derivation.graph, roots, symbols, nested)
    shape = KERNEL_ROWS[name].shape
    result = _shaped(flat, lengths, in_space=shape[1:][-1:] == ("3",) and shape[-2:] != ("3", "3"))
    return result if nested else (intermediates, result)


def _check(derivation: Derivation, name: str, nonholonomic: bool) -> None:
    """Raise for a kernel that has no expression, or none in the independent speeds."""
    d = derivation.description
    if name in ("multipliers", "stabilization", "project") and not d.constraints:
        raise ModelError(f"{d.name!r} has no {name}: it has no constraints")
    if name == "reaction_slopes" and derivation.missing("reactions"):
        raise ModelError(f"{d.name!r} has no reaction slopes: {derivation.missing('reactions')}")
    if name in AT_RUN_TIME and (name in WITHOUT_UDOT or derivation.kernel(name).after_udot):
        why, related = AT_RUN_TIME[name]
        made_from = [x for x in related if d.constraints or "constraint" not in x]
        raise ModelError(
            f"{name} of {d.name!r} has no expression: {why}; {', '.join(made_from[:-1])} and {made_from[-1]} have"
        )
    row = KERNEL_ROWS.get(name)
    if row is not None and row.vectors:
        raise ModelError(
            f"{name} of {d.name!r} has no expression: it multiplies by vectors of a call; mass_matrix and "
            "inverse_dynamics have"
        )
    of = KERNEL_ROWS[row.remainder_of] if row is not None and row.remainder_of else row
    if nonholonomic and of is not None and not of.nonholonomic:
        having = [x.name for x in KERNELS if x.nonholonomic]
        raise ModelError(f"nonholonomic=True is for {', '.join(having)} and their remainders, and not for {name}")


def _shaped(flat: Sequence[Any], lengths: Sequence[int], in_space: bool) -> Any:
    """A scalar, a Matrix, or a list of matrices; vectors in space are columns, and matrices stay as they are."""
    import sympy as sm

    if not lengths:
        return flat[0]
    if len(lengths) == 3:
        n, *each = lengths
        size = each[0] * each[1]
        return [_shaped(flat[i * size : (i + 1) * size], each, in_space) for i in range(n)]
    matrix = sm.Matrix(*lengths, flat) if len(lengths) == 2 else sm.Matrix(len(flat), 1, flat)
    return matrix.T if in_space else matrix


def symbols_by_key(model: Described) -> dict[Any, Any]:
    """The user's symbols by the keys of the graph."""
    d = model._derivation.description
    keys, t = d.graph.nodes, model._time
    symbols = {keys[d.time][1]: t}
    for nodes, names in (
        (d.coordinates, model.coordinates),
        (d.speeds, model.speeds),
        (d.accelerations, [u.diff(t) for u in model.speeds]),
        (d.inputs, model.inputs),
        (d.parameters, model.parameters),
    ):
        symbols.update((keys[i][1], s) for i, s in zip(nodes, names, strict=True))
    symbols.update((("f", f.__name__), f) for f in model.functions)
    return symbols


def latex(model: Described, kernel: str, nested: bool) -> Latex:
    """See :meth:`kanecore.Model.latex`."""
    from sympy.physics.vector import vlatex

    from kanecore.show.pages import Latex

    d = model._derivation.description
    intermediates, result = ([], symbolic(model, kernel, True)) if nested else symbolic(model, kernel, False)
    names, results = _names(d, kernel), result if isinstance(result, list) else [result]
    rows = [(vlatex(z), vlatex(e)) for z, e in intermediates]
    rows += [(name, vlatex(e)) for name, e in zip(names, results, strict=True)]
    body = " \\\\\n".join(f"{left} &= {right}" for left, right in rows)
    of_user = (*d.coordinate_names, *d.speed_names, *d.parameter_names, *d.input_names, *map(str, model.functions))
    return Latex(f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}", of_user)


def equations(model: Described) -> list[Latex] | None:
    """What q̇ = ..., M u̇ = f + Gᵀλ and G u̇ + γ = 0 are made of, in LaTeX; None where it is long."""
    derivation = model._derivation
    d, g = derivation.description, derivation.graph
    kernels = [*(["qdot"] if d.rates != d.speeds else []), "mass_matrix", "forcing"]
    kernels += ["constraint_jacobian", "constraint_bias"] if d.constraints else []
    size = count(g, [root for kernel in kernels for root in derivation.kernel(kernel).roots])["total"]
    return None if size > LONG else [latex(model, kernel, size <= SHORT) for kernel in kernels]


def _names(d: Description, kernel: str) -> list[str]:
    """What stands on the left of the results of a kernel: a list has one for each point, frame or joint."""
    points, frames = [d.points[i].name for i in d.shown_points], [d.frames[i].name for i in d.shown_frames]
    several = {
        "orientations": ("R", frames),
        "partial_velocities": ("v_r", points),
        "partial_angular_velocities": (r"\omega_r", frames),
        "partial_accelerations": ("a_r", points),
        "partial_angular_accelerations": (r"\alpha_r", frames),
        "reaction_slopes": (r"\partial_\lambda", [joint.name for joint in d.joints]),
    }
    if kernel in several:
        letter, names = several[kernel]
        return [rf"{letter}^{{\text{{{_escaped(name)}}}}}" for name in names]
    return [KERNEL_ROWS[kernel].latex.partition(" = ")[0] or rf"\text{{{kernel.replace('_', ' ')}}}"]


def _escaped(name: str) -> str:
    """A name as LaTeX text."""
    special = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    return "".join(special.get(c, "\\" + c if c in "_%&{}$#" else c) for c in name)
