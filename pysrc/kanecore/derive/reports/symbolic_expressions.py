# SPDX-License-Identifier: BSD-3-Clause
"""SymPy expressions and LaTeX of the kernels, and of the matrices of redundant speeds.

With redundant speeds, q̇# = Y# [1; A_n] p#, Ψ is its inverse, and Υ = A_n Ψ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kanecore.derive.closed_forms import closed_form
from kanecore.derive.derivation import Derivation
from kanecore.derive.independent_speeds import dependence, independent
from kanecore.derive.model_facts import sizes_of
from kanecore.describe.description import Description, Load
from kanecore.describe.from_sympy.reactions import multiplier
from kanecore.errors import ModelError, unknown_name, warn
from kanecore.graph.calculus import Tangent
from kanecore.graph.evaluation import count
from kanecore.graph.linear_equations import Singular, solve
from kanecore.graph.vectors import dot
from kanecore.kernels import KERNELS
from kanecore.speed_matrices import SpeedMatrices

from .described_model import Described

if TYPE_CHECKING:
    from kanecore.show.notebook_pages import Latex

__all__ = [
    "latex",
    "loads_by_number",
    "shown_equations",
    "speed_matrices",
    "symbolic",
    "symbols_by_key",
    "warn_of_names",
]


def loads_by_number(d: Description) -> dict[int, list[Load]]:
    """The acting loads, by their numbers in the user's list."""
    result: dict[int, list[Load]] = {}
    for load in d.loads:
        result.setdefault(load.number, []).append(load)
    return result


SHORT = 40  # largest number of operations of equations of motion that are written out
LONG = 200  # largest number of operations of equations that a notebook shows
LONGEST = 1_000_000  # largest number of operations of equations that are written out on request

KERNEL_ROWS = {kernel.name: kernel for kernel in KERNELS}
PARTIAL_ACCELERATIONS = {
    "partial_accelerations": "partial_velocities",
    "partial_angular_accelerations": "partial_angular_velocities",
}
"""Kernels with equal nonholonomic forms, by kernel."""

EQUATIONS = ("mass_matrix", "forcing", "constraint_jacobian", "constraint_bias")
PARTIAL_VECTORS = (
    "partial_velocities",
    "partial_angular_velocities",
    "partial_accelerations",
    "partial_angular_accelerations",
)
LONG_VECTORS = 2000  # operations beyond which partial velocities are written in matrices, with intermediate variables

RESIDUALS = ("configuration_residual", "velocity_residual", "constraint_jacobian")
AT_RUN_TIME = {
    "multipliers": ("it follows from udot, which is solved for at run time", EQUATIONS),
    "linearize": ("its linear equations are solved at run time", EQUATIONS),
    "rhs_time_derivative": ("its linear equations are solved at run time", EQUATIONS),
    "rhs_parameter_jacobian": ("its linear equations are solved at run time", EQUATIONS),
    "output_jacobian": ("the outputs depend on udot, and its derivatives are solved for at run time", EQUATIONS),
    "stabilization": ("its linear equations are solved at run time", RESIDUALS),
    "project": ("it is found at run time, step by step", RESIDUALS),
}
"""For kernels after u̇: the reason why there is no expression, and the kernels with expressions to use instead."""

WITHOUT_UDOT = ("stabilization", "project")
"""Kernels of this table that do not need u̇, and have no expression either."""


def symbolic(
    model: Described,
    kernel: str,
    nested: bool,
    nonholonomic: bool = False,
    at: Mapping[Any, Any] | None = None,
    frame: Any = None,
    vectors: bool = False,
) -> Any:
    """See :meth:`kanecore.Model.symbolic`."""
    from kanecore.graph.printed_expressions import printed, with_intermediates, written_out
    from kanecore.graph.sympy_bridge import to_sympy

    from . import printed_vectors

    derivation = model.derivation
    name = PARTIAL_ACCELERATIONS.get(kernel, kernel)
    values = _values(model, at) if at else {}
    closed = None if nonholonomic else closed_form(derivation, name, values)
    if closed is None:
        _check(derivation, name, nonholonomic)
        graph, roots = derivation.graph, _roots(derivation, kernel, name, nonholonomic)
        roots = graph.substitute(roots, values) if values and not (frame or vectors) else roots
    else:
        graph, roots = closed
    row, symbols = KERNEL_ROWS[name], symbols_by_key(model)
    # solutions at run time and given values are written as u̇ and λ
    keys = [derivation.graph.nodes[i][1] for i in derivation.multiplier_symbols]
    symbols.update((key, multiplier(n)) for n, key in enumerate(keys))
    if frame is not None or vectors:
        printed_vectors.check_vectors(row, kernel)
        number = None if frame is None else printed_vectors.frame_number(derivation, frame)
        roots = graph.substitute(roots, values) if values else roots
        if vectors:
            return printed_vectors.vectors(derivation, row, roots, symbols, number, lambda i: _axes(model, i, frame))
        roots = printed_vectors.in_axes(derivation, roots, number or 0)
    if nested and (operations := written_out(graph, roots)) > LONGEST:
        warn(
            f"{kernel} of {model.name!r} takes {operations:.0e} operations if each is written out: it is returned with "
            "intermediate variables, (list of these, expressions), as without nested=True"
        )
        nested = False
    if nested:
        flat = printed(graph, roots, symbols)
    else:
        listed = to_sympy if row.internal and closed is None else with_intermediates
        intermediates, flat = listed(graph, roots, symbols)
    lengths = list(row.lengths(sizes_of(derivation)))
    if (nonholonomic or kernel in PARTIAL_ACCELERATIONS) and "n_u" in row.shape:
        lengths[row.shape.index("n_u")] -= derivation.description.n_u_dependent
    result = _shaped(flat, lengths, in_space=row.shape[1:][-1:] == ("3",) and row.shape[-2:] != ("3", "3"))
    return result if nested else (intermediates, result)


def _roots(derivation: Derivation, kernel: str, name: str, nonholonomic: bool) -> list[int]:
    """The results of a kernel, with u̇ written out if it has an expression."""
    program, row = derivation.kernel(name), KERNEL_ROWS[name]
    roots = list(program.roots)
    if nonholonomic or kernel in PARTIAL_ACCELERATIONS:
        roots = independent(derivation, row, roots)
    if program.after_udot and not derivation.solved_at_run_time:
        udot = dict(zip(derivation.description.accelerations, derivation.kernel("udot").roots, strict=True))
        roots = derivation.graph.substitute(roots, udot)
    return roots


def _values(model: Described, at: Mapping[Any, Any]) -> dict[int, int]:
    """Nodes of symbols, given as symbols or by name, and nodes of the values that replace them."""
    import sympy as sm

    from kanecore.graph.sympy_bridge import FromSympy

    d = model.derivation.description
    nodes = dict(zip(model.coordinates, d.coordinates, strict=True))
    others = ((model.speeds, d.speeds), (model.states, d.states), (model.inputs, d.inputs))
    for symbols, of in (*others, (model.parameters, d.parameters)):
        nodes.update(zip(symbols, of, strict=True))
    nodes[model.time] = d.time
    names = {str(getattr(symbol, "func", symbol) if symbol.is_Function else symbol): symbol for symbol in nodes}

    def leaf(symbol: Any) -> Any:
        if symbol not in nodes:
            raise ModelError(f"at= has {symbol}, which is no symbol of {d.name!r}")
        return nodes[symbol]

    read, result = FromSympy(d.graph, leaf, where="at="), {}
    for key, value in at.items():
        symbol = key if key in nodes else names.get(str(key))
        if symbol is None:
            raise unknown_name("symbol", str(key), names)
        result[nodes[symbol]] = read(sm.sympify(value))
    return result


def _axes(model: Described, number: int, frame: Any) -> Any:
    """SymPy's frame for an index: the given frame, the user's, or a new frame of the same name."""
    from sympy.physics.vector import ReferenceFrame

    name = model.derivation.description.frames[number].name
    if getattr(frame, "name", None) == name and isinstance(frame, ReferenceFrame):
        return frame
    return model.reading.frames.get(name) or ReferenceFrame(name)


def _check(derivation: Derivation, name: str, nonholonomic: bool) -> None:
    """Raise ModelError for a kernel without an expression, or without one in the independent speeds."""
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
    if name == "mass_matrix_inverse" and (derivation.at_run_time(name) or not derivation.kernel(name).limits):
        raise ModelError(
            f"{name} of {d.name!r} has no expression: M is inverted at run time, since the expression is long or M not "
            "symmetric; mass_matrix and forcing have"
        )
    row = KERNEL_ROWS.get(name)
    if row is not None and row.vectors:
        raise ModelError(
            f"{name} of {d.name!r} has no expression: it multiplies by vectors given in a call; mass_matrix and "
            "inverse_dynamics have"
        )
    of = KERNEL_ROWS[row.remainder_of] if row is not None and row.remainder_of else row
    if nonholonomic and of is not None and not of.nonholonomic:
        having = [x.name for x in KERNELS if x.nonholonomic]
        raise ModelError(f"nonholonomic=True applies to {', '.join(having)} and their remainders, and not to {name}")


def _shaped(flat: Sequence[Any], lengths: Sequence[int], in_space: bool) -> Any:
    """Results as a scalar, a Matrix, or a list of matrices; vectors in space are columns."""
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
    d = model.derivation.description
    keys, t = d.graph.nodes, model.time
    symbols = {keys[d.time][1]: t}
    for nodes, names in (
        (d.coordinates, model.coordinates),
        (d.speeds, model.speeds),
        (d.accelerations, [u.diff(t) for u in model.speeds]),
        (d.states, model.states),
        (d.inputs, model.inputs),
        (d.parameters, model.parameters),
    ):
        symbols.update((keys[i][1], s) for i, s in zip(nodes, names, strict=True))
    symbols.update((("f", f.__name__), f) for f in model.functions)
    return symbols


def warn_of_names(model: Described) -> None:
    """Warn of user's symbols that print alike, as theta1 and theta_1, or udot and the derivative of u."""
    from kanecore.graph.sympy_bridge import as_printed

    found: dict[str, str] = {}
    for symbol in dict.fromkeys([*symbols_by_key(model).values(), *(q.diff(model.time) for q in model.coordinates)]):
        name, text = getattr(symbol, "__name__", None) or str(symbol), as_printed(symbol)
        if found.setdefault(text, name) != name:
            warn(f"{found[text]} and {name} of {model.name!r} both print as {text}: give one of them another name")


def latex(model: Described, kernel: str, nested: bool, nonholonomic: bool = False) -> Latex:
    """See :meth:`kanecore.Model.latex`."""
    from sympy.physics.vector import vlatex

    from kanecore.show.notebook_pages import Latex

    d = model.derivation.description
    names = _names(d, kernel)
    warn_of_names(model)
    if kernel in PARTIAL_VECTORS and _are_short(model, kernel, nonholonomic):
        found = symbolic(model, kernel, nested, nonholonomic, vectors=True)
        rows = [
            (name, rf"\left({', '.join(map(vlatex, of_speeds))}\right)")
            for name, of_speeds in zip(names, found, strict=True)
        ]
    else:
        found = symbolic(model, kernel, nested, nonholonomic)
        intermediates, result = found if isinstance(found, tuple) else ([], found)
        rows = [(vlatex(z), vlatex(e)) for z, e in intermediates]
        results = result if isinstance(result, list) else [result]
        rows += [(name, vlatex(e)) for name, e in zip(names, results, strict=True)]
    body = " \\\\\n".join(f"{left} &= {right}" for left, right in rows)
    of_user = (*d.x_names, *d.parameter_names, *d.input_names, *map(str, model.functions))
    return Latex(f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}", of_user)


def _are_short(model: Described, kernel: str, nonholonomic: bool) -> bool:
    from kanecore.graph.printed_expressions import written_out

    derivation = model.derivation
    name = PARTIAL_ACCELERATIONS.get(kernel, kernel)
    _check(derivation, name, nonholonomic)
    return written_out(derivation.graph, _roots(derivation, kernel, name, nonholonomic)) <= LONG_VECTORS


def shown_equations(model: Described) -> list[Latex] | None:
    """LaTeX of the terms of q̇ = ..., M u̇ = f + Gᵀλ, G u̇ + γ = 0 and ż = ...; None if it is long."""
    derivation = model.derivation
    d, g = derivation.description, derivation.graph
    kernels = [*(["qdot"] if d.rates != d.speeds else []), "mass_matrix", "forcing"]
    kernels += ["constraint_jacobian", "constraint_bias"] if d.constraints else []
    kernels += ["zdot"] if d.states else []
    size = count(g, [root for kernel in kernels for root in derivation.kernel(kernel).roots])["total"]
    return None if size > LONG else [latex(model, kernel, size <= SHORT) for kernel in kernels]


def _names(d: Description, kernel: str) -> list[str]:
    """Left-hand sides of a kernel's results; a list has an item for each point, frame or joint."""
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


Matrix = list[list[int]]


def speed_matrices(model: Described) -> SpeedMatrices:
    """See :meth:`kanecore.Model.speed_matrices`."""
    import sympy as sm

    from kanecore.graph.sympy_bridge import to_sympy

    derivation = model.derivation
    d, g = derivation.description, derivation.graph
    rows = derivation.constraints.rows if d.constraints else []
    if any(row.value < 0 for row in rows):
        raise ModelError(f"{d.name!r} has constraints on accelerations, which do not restrict velocities")
    if len(rows) > sum(constraint.kind == "velocity" for constraint in d.constraints):
        raise ModelError(
            f"the speed matrices of {d.name!r} have no expression: constraints on coordinates, which close loops, are "
            "solved at run time; dyn.speed_matrices(t, x) gives the matrices as numbers"
        )
    slopes = [[row.jacobian[r] for r in range(len(d.speeds))] for row in rows]
    dependent = dependence(derivation)
    psi = _inverse(derivation, dependent)
    upsilon = [[dot(g, row, column) for column in zip(*psi, strict=True)] for row in dependent]
    symbols = symbols_by_key(model)

    def written(matrix: Matrix, width: int) -> Any:
        flat = to_sympy(g, [i for row in matrix for i in row], symbols, nested=True)[1]
        return sm.Matrix(len(matrix), width, flat)

    n, dof = len(d.coordinates) - d.n_q_dependent, len(d.speeds) - d.n_u_dependent
    return SpeedMatrices(
        A=written(slopes, len(d.speeds)),
        Psi=written(psi, n),
        Upsilon=written(upsilon, n),
        coordinates=d.coordinate_names[:n],
        independent=d.speed_names[:dof],
        dependent=d.speed_names[dof:],
    )


def _inverse(derivation: Derivation, dependent: Matrix) -> Matrix:
    """The matrix Ψ of q̇# = Ψ⁻¹ p#."""
    d, g = derivation.description, derivation.graph
    n, dof = len(d.coordinates) - d.n_q_dependent, len(d.speeds) - d.n_u_dependent
    if n != dof:
        raise ModelError(
            f"{d.name!r} has {n} independent coordinates and {dof} independent speeds: Ψ is square for as many"
        )
    by_speed = [Tangent(g, {u: g.one}) for u in d.speeds]
    rates = [[tangent.of(rate) for tangent in by_speed] for rate in d.rates[:n]]
    inverse = [[g.add(row[r], dot(g, row[dof:], [a[r] for a in dependent])) for r in range(dof)] for row in rates]
    try:
        columns = [solve(g, inverse, [g.one if i == j else 0 for i in range(n)]) for j in range(n)]
    except Singular:
        raise ModelError(
            f"the independent speeds of {d.name!r} do not follow from the rates of "
            f"{', '.join(d.coordinate_names[:n])}: describe it with other coordinates or speeds"
        ) from None
    return [list(row) for row in zip(*columns, strict=True)]
