# SPDX-License-Identifier: BSD-3-Clause
"""Results for people: SymPy expressions of the kernels, the report, the loads that have no effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from kanecore.describe.description import Description, Load, duplicate
from kanecore.describe.symbols import function_name, multiplier
from kanecore.errors import ModelError
from kanecore.graph.calculus import Tangent, is_affine
from kanecore.graph.decide import deciding
from kanecore.graph.evaluate import count
from kanecore.graph.scalars import Graph, Op
from kanecore.kernels import KERNELS
from kanecore.tolerances import EQUAL

from .contradictions import Contradiction
from .derivation import Derivation
from .kane import Wrenches, active_forces, at_rest, generalized_forces, holds_udot, inertia_forces, inertial_part
from .kinematics import Accelerations, Kinematics
from .reactions import is_free
from .reads import unread

__all__ = ["explain", "latex", "report", "symbolic", "symbols_by_key", "without_effect"]

KERNEL_ROWS = {kernel.name: kernel for kernel in KERNELS}
SHORT = 12  # operations of an expression that is written out in an explanation
LONG = 120  # characters of an expression of the user's that is not written out


class Described(Protocol):
    """A `kanecore.Model`: its derivation, the user's symbols, and what the reader set aside."""

    @property
    def name(self) -> str: ...
    @property
    def coordinates(self) -> tuple[Any, ...]: ...
    @property
    def speeds(self) -> tuple[Any, ...]: ...
    @property
    def inputs(self) -> tuple[Any, ...]: ...
    @property
    def parameters(self) -> tuple[Any, ...]: ...
    @property
    def noncontributing(self) -> tuple[Any, ...]: ...
    @property
    def description(self) -> Description: ...
    @property
    def n_q(self) -> int: ...
    @property
    def n_u(self) -> int: ...
    @property
    def n_p(self) -> int: ...
    @property
    def n_r(self) -> int: ...
    @property
    def _time(self) -> Any: ...
    @property
    def _laws(self) -> dict[Any, Any]: ...
    @property
    def _written(self) -> dict[str, Any]: ...
    @property
    def _n_loads(self) -> int: ...
    @property
    def _contradictions(self) -> list[Contradiction]: ...
    @property
    def _derivation(self) -> Derivation: ...


def without_effect(d: Description, candidates: Sequence[int]) -> list[int]:
    """The candidates on which no F_r depends.

    Some drop out by structure.  For others that the loads are affine in, such as the tension of a string between two
    particles, the terms v_r·∂R/∂T of ∂F_r/∂T cancel: to rounding, beside their own size, at two random states.  What
    multiplies masses is no unknown force but a field of gravity, which reactions feel.
    """
    d = duplicate(d)
    g, k = d.graph, Kinematics(d)
    reached = set(g.below(active_forces(k, d.loads)))
    weights = [pair for load in d.loads for pair in Wrenches(k, [load]).weights()]
    partial = [Tangent(g, {u: g.one}).of for u in d.speeds]

    def cancels(symbol: int) -> bool:
        if not is_affine(g, [w for _, w in weights], g.above(symbol).__contains__):
            return False
        slope = Tangent(g, {symbol: g.one}).of
        return all(_cancel(g, [g.mul(of(v), slope(w)) for v, w in weights]) for of in partial)

    masses = {i for i in g.below([b.mass for b in d.bodies]) if g.nodes[i][0] is Op.SYM}
    components = [x for load in d.loads for _, v in load.vector for x in v]
    numbers = {(b.point, abs(float(mass))) for b in d.bodies if (mass := g.value(b.mass))}
    weights_of_numbers = [
        (load.at, x) for load in d.loads if load.kind == "force" for _, v in load.vector for x in v if x
    ]

    def is_field(symbol: int) -> bool:
        slope = Tangent(g, {symbol: g.one}).of
        if not masses.isdisjoint(g.below([slope(x) for x in components])):
            return True
        factors = {(at, abs(float(value))) for at, x in weights_of_numbers if (value := g.value(slope(x)))}
        return not numbers.isdisjoint(factors - {(at, 1.0) for at, _ in factors})

    return [i for i in candidates if (i not in reached or cancels(i)) and not is_field(i)]


def _cancel(g: Graph, terms: Sequence[int]) -> bool:
    """Whether terms add up to zero; False where those that are not zero vanish, or are not defined, at random."""
    terms = [i for i in terms if i]
    states = deciding(g, terms, 2)
    return len(states) == 2 and all(
        not terms or abs(sum(values)) <= EQUAL * sum(map(abs, values)) != 0.0
        for values in (s.values(terms) for s in states)
    )


def symbolic(model: Described, kernel: str, nested: bool) -> Any:
    """See :meth:`kanecore.Model.symbolic`."""
    from kanecore.graph.sympy_bridge import to_sympy

    derivation = model._derivation
    program = derivation.kernel(kernel)
    if kernel == "multipliers" and not derivation.description.constraints:
        raise ModelError(f"{model.name!r} has no multipliers: it has no constraints")
    if kernel in ("multipliers", "linearize"):
        raise ModelError(
            f"{kernel} of {model.name!r} has no expression: it follows from udot, which is solved at run time; "
            "mass_matrix, forcing, constraint_jacobian and constraint_bias have"
        )
    symbols, roots = symbols_by_key(model), list(program.roots)
    if program.after_udot and not derivation.solved_at_run_time:
        found = dict(zip(derivation.description.accelerations, derivation.kernel("udot").roots, strict=True))
        roots = derivation.graph.substitute(roots, found)
    if program.after_udot:  # what is solved at run time stands as u̇ and λ
        keys = [derivation.graph.nodes[i][1] for i in derivation.multiplier_symbols]
        symbols.update((key, multiplier(row)) for row, key in enumerate(keys))
    intermediates, flat = to_sympy(derivation.graph, roots, symbols, nested)
    result = _shaped(flat, KERNEL_ROWS[kernel].shape, model)
    return result if nested else (intermediates, result)


def _shaped(flat: list[Any], shape: Sequence[str], model: Described) -> Any:
    """A scalar, a Matrix, or a list of matrices; vectors in space are columns."""
    import sympy as sm

    if not shape:
        return flat[0]
    width = 1
    if len(shape) > 1:
        width = int(shape[-1]) if shape[-1].isdigit() else int(getattr(model, shape[-1]))
    if len(shape) == 3:
        size = width * int(getattr(model, shape[1]))
        return [sm.Matrix(size // width, width, flat[i : i + size]).T for i in range(0, len(flat), size)]
    matrix = sm.Matrix(len(flat) // width if width else 0, width, flat)
    return matrix.T if shape[-1] == "3" else matrix


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
    return symbols


def latex(model: Described, kernel: str, nested: bool) -> str:
    """See :meth:`kanecore.Model.latex`."""
    from sympy.physics.vector import vlatex

    intermediates, result = ([], symbolic(model, kernel, True)) if nested else symbolic(model, kernel, False)
    d, results = model.description, result if isinstance(result, list) else [result]
    names = [KERNEL_ROWS[kernel].latex.partition(" = ")[0] or rf"\text{{{kernel.replace('_', ' ')}}}"]
    if kernel in ("partial_velocities", "partial_angular_velocities"):
        shown = [d.points[i].name for i in d.shown_points] if kernel == "partial_velocities" else []
        shown = shown or [d.frames[i].name for i in d.shown_frames]
        letter = "v" if kernel == "partial_velocities" else r"\omega"
        names = [rf"{letter}_r^{{\text{{{_escaped(name)}}}}}" for name in shown]
    rows = [(vlatex(z), vlatex(e)) for z, e in intermediates]
    rows += [(name, vlatex(e)) for name, e in zip(names, results, strict=True)]
    body = " \\\\\n".join(f"{left} &= {right}" for left, right in rows)
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def _escaped(name: str) -> str:
    """A name as LaTeX text."""
    special = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    return "".join(special.get(c, "\\" + c if c in "_%&{}$#" else c) for c in name)


def explain(model: Described, full: bool = False) -> str:
    """See :meth:`kanecore.Model.explain`."""
    from sympy.physics.vector import vsstrrepr

    from kanecore.graph.sympy_bridge import to_sympy

    derivation: Derivation = model._derivation
    d, k, g = derivation.description, derivation.kinematics, derivation.graph
    symbols = symbols_by_key(model)

    def shares(forces: Sequence[int], letter: str) -> list[str]:
        found = []
        for name, node in zip(d.speed_names, forces, strict=True):
            n = count(g, [node])
            size = n["total"] + n["functions"] + 2 * n["sincos"]
            if node:
                value = f"{size} operations"
                if full or size <= SHORT:
                    expression = to_sympy(g, [node], symbols, nested=True)[1][0]
                    if expression == 0:  # terms cancel
                        continue
                    value = vsstrrepr(expression)
                found.append(f"    {letter}_{name} = {value}")
        return found or ["    nothing"]

    lines = ["generalized active forces, load by load:"]
    for number, loads in _by_number(d).items():
        items = d.points if loads[0].kind == "force" else d.frames
        places = dict.fromkeys(items[load.at].name for load in loads)
        lines.append(f"  load {number}, {loads[0].kind} on {' and '.join(places)}:")
        lines += shares(generalized_forces(Wrenches(k, at_rest(k, loads))), "F")
    for number, energy in enumerate(d.potentials):
        lines += [f"  potential {number}:", *shares(active_forces(k, (), [energy]), "F")]
    if model.noncontributing:
        lines.append("  left out, as no F_r depends on it: " + ", ".join(map(vsstrrepr, model.noncontributing)))

    def written(expression: Any) -> str:
        text = str(vsstrrepr(expression))
        return text if full or len(text) <= LONG else text[: LONG - 3] + "..."

    for title, what, expressions in (("feedback", "law", model._laws), ("outputs", "output", model._written)):
        lines += [f"{title}:"] if expressions else []
        for number, (name, e) in enumerate(expressions.items()):
            lines.append(f"  {what} {number}, {vsstrrepr(name) if what == 'law' else name} = {written(e)}")
    lines.append("generalized inertia forces, body by body:")
    accelerations = Accelerations(k, d.accelerations)
    for i, body in enumerate(d.bodies):
        lines.append(f"  body {body.name}:")
        lines += shares(generalized_forces(inertia_forces(k, accelerations, Wrenches(k), [i])), "F*")
    for number, loads in _by_number(d).items():
        part = inertial_part(k, loads, d.accelerations)
        if part:
            lines.append(f"  load {number}, what is linear in derivatives of speeds:")
            lines += shares(generalized_forces(Wrenches(k, part)), "F*")
    return "\n".join(lines)


def _idle(derivation: Derivation) -> list[str]:
    """Parameters that no kernel reads; few kernels are asked before the others."""
    names = derivation.description.parameter_names
    left = (1 << len(names)) - 1
    others = [kernel.name for kernel in KERNELS if not kernel.counts]
    for kernels in (["mass_matrix", "forcing", "qdot", "outputs"], others):
        asked = [name for name in kernels if left and derivation.has(name)]
        spared = unread(derivation, asked)
        for name in asked:
            left &= spared.get(name, 0)
    return [name for i, name in enumerate(names) if left >> i & 1]


def _by_number(d: Description) -> dict[int, list[Load]]:
    """Loads by their places in the user's list, of those that act."""
    result: dict[int, list[Load]] = {}
    for load in d.loads:
        result.setdefault(load.number, []).append(load)
    return result


def report(model: Described) -> str:
    """See :meth:`kanecore.Model.report`."""
    derivation: Derivation = model._derivation
    d, k, g = derivation.description, derivation.kinematics, derivation.graph
    found = model._contradictions
    opposed = derivation.constraints.opposed if d.constraints else []
    n = len(found) + len(opposed)
    lines = [
        f"{n} contradiction{'' if n == 1 else 's'} between what was set and what follows",
        f"model {d.name}: n_q = {model.n_q}, n_u = {model.n_u}, n_p = {model.n_p}, n_r = {model.n_r}",
        f"  q: {' '.join(d.coordinate_names)}",
        f"  u: {' '.join(d.speed_names)}" + ("   (u = q')" if d.rates == d.speeds else ""),
    ]
    lines += [f"  {x}: {' '.join(names)}" for x, names in (("p", d.parameter_names), ("r", d.input_names)) if names]
    if d.prescribed:
        lines.append("  prescribed motion: " + " ".join(d.input_names[i] for i in sorted(d.prescribed)))
    if model.noncontributing:
        lines.append("  noncontributing, left out: " + " ".join(map(str, model.noncontributing)))
    idle = [*_idle(derivation), *d.left_out_parameters, *d.left_out_inputs]
    if idle:
        lines.append("  without effect, and accepted by name: " + " ".join(sorted(idle)))
    lines.append("frames, each with the frame it is oriented from and the one its angular velocity is given in:")
    for i, frame in enumerate(d.frames[1:], 1):
        turned, measured = d.frames[frame.parent].name, d.frames[frame.angular_parent].name
        how = f"from {turned}" if frame.oriented else f"not oriented, written in the axes of {turned}"
        note = "" if k.omega_fits[i] or not frame.oriented else ", and does not turn as its angular velocity says"
        lines.append(f"  {frame.name}: {how}, angular velocity in {measured}{note}")
        lines += [f"    contradiction: {x.message(frame.name)}" for x in found if (x.kind, x.at) == ("frame", i)]
    lines += ["  unit quaternion: " + " ".join(d.coordinate_names[i] for i in places) for places in d.unit]
    if k.rounded:
        lines.append("  entries within 1e-14 of 0 or 1 taken for these: " + " ".join(k.rounded))
    lines.append("points, each with the point it is located from and where its velocity comes from:")
    words = {
        "origin": "at rest",
        "position": "velocity from its position",
        "equal": "velocity as set by the user, which is the derivative of its position",
        "set": "velocity as set by the user",
    }
    for i, point in enumerate(d.points):
        place = f"from {d.points[point.parent].name}, " if point.parent >= 0 else ""
        axes = d.frames[k.home[i]].name
        note = words[k.source[i]]
        if k.source[i] == "set" and point.parent >= 0:
            note += ", which is not the derivative of its position"
        lines.append(f"  {point.name}: {place}{note}, in {axes}")
        lines += [f"    contradiction: {x.message(point.name)}" for x in found if (x.kind, x.at) == ("point", i)]
    lines.append("bodies:")
    for body in d.bodies:
        kind = "particle" if body.frame < 0 else f"rigid body in frame {d.frames[body.frame].name}"
        note = ", of a mass that changes: its inertia force is −(m a + ṁ v)" if k.rate.of(body.mass) else ""
        lines.append(f"  {body.name}: {kind}, mass centre {d.points[body.point].name}{note}")
    lines.append("joints, each with what it holds, where, and on what:")
    for joint in d.joints:
        parent = d.bodies[joint.parent].name if joint.parent >= 0 else d.frames[0].name
        free = ", free: its reaction is zero" if is_free(k, joint) else ""
        lines.append(f"  {joint.name}: {d.bodies[joint.child].name} at {d.points[joint.point].name} on {parent}{free}")
    if d.constraints:
        rows = derivation.constraints.rows
        lines.append(f"constraints, {len(rows)} rows in G:")
        counted = {row.name for row in rows}
        for c in d.constraints:
            note = "" if c.name in counted else ": its derivative is among the others, and is not counted twice"
            lines.append(f"  {c.name}{note}")
        lines += [
            f"  {one} and {other} contradict each other: no speeds satisfy them together" for one, other in opposed
        ]
        if derivation.constraints.shared:
            lines.append(
                "  multipliers that are not determined, as redundant rows share them (those of least norm are "
                f"computed): {', '.join(derivation.constraints.shared)}"
            )
        vanishing = [row.name for row in rows if not any(row.jacobian) and row.value <= 0]
        if vanishing:
            lines.append(f"  vanish identically, and take no part: {', '.join(vanishing)}")
        for letter, state, dependent in (
            ("q", d.coordinate_names, d.n_q_dependent),
            ("u", d.speed_names, d.n_u_dependent),
        ):
            if dependent:
                lines.append(f"  dependent {letter}: {' '.join(state[len(state) - dependent :])}")
    if d.auxiliary:
        lines.append("auxiliary speeds: " + " ".join(d.auxiliary_names))
    if model._n_loads:
        lines.append("loads" + (", with uniform gravity on every body:" if derivation.has_gravity else ":"))
    by_number = _by_number(d)
    for number in range(model._n_loads):
        acting = by_number.get(number, [])
        where = dict.fromkeys(
            f"{x.kind} on {'point' if x.kind == 'force' else 'frame'} "
            f"{(d.points if x.kind == 'force' else d.frames)[x.at].name}"
            for x in acting
        )
        lines.append(f"  load {number}, {' and '.join(where) or 'left out: zero, on the ground, or noncontributing'}")
    inertial = dict.fromkeys(load.number for load in d.loads if holds_udot(k, load))
    if inertial:
        lines.append(
            f"  linear in derivatives of speeds, which counts with F*: {', '.join(f'load {i}' for i in inertial)}; "
            f"with it M is {'symmetric' if derivation.symmetric else 'not symmetric'}"
        )
    for number, _ in enumerate(d.potentials):
        lines.append(f"  potential {number}")
    if model._laws:
        lines.append("feedback:")
        lines += [f"  law {number}, for {function_name(x)}" for number, x in enumerate(model._laws)]
    if d.outputs:
        lines.append("outputs:")
        lines += [f"  output {number}, {name}" for number, (name, _) in enumerate(d.outputs)]
    lines.append(f"solved by {derivation.method}")
    lines.append("operations (+ - * / sqrt; pairs of sine and cosine):")
    programs = {name: derivation.kernel(name).roots for name in ("qdot", "mass_matrix", "forcing")}
    if not derivation.solved_at_run_time:
        programs["udot"] = derivation.kernel("udot").roots
    elif derivation.solving is not None:
        programs["constraint_jacobian"] = derivation.kernel("constraint_jacobian").roots
        programs["udot, before it is solved"] = (*derivation.solving.system, *derivation.solving.known)
    for name, roots in programs.items():
        operations = count(g, roots)
        lines.append(f"  {name}: {operations['total']}; {operations['sincos']}")
    return "\n".join(lines)
