# SPDX-License-Identifier: BSD-3-Clause
"""Results for people: SymPy expressions of the kernels, the report, the loads that have no effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kanecore.describe.description import Description, duplicate
from kanecore.graph.calculus import Tangent, is_affine
from kanecore.graph.evaluate import count
from kanecore.graph.sample import samples
from kanecore.graph.scalars import Graph

from .derivation import Derivation
from .kane import Wrenches, active_forces
from .kinematics import Kinematics

if TYPE_CHECKING:
    from kanecore.describe.model import Model

__all__ = ["report", "symbolic", "without_effect"]

CANCELLED = 1e-9  # a sum this small beside its terms is what rounding leaves of zero


def without_effect(d: Description, candidates: Sequence[int]) -> list[int]:
    """The candidates on which no F_r depends.

    Some drop out by structure.  For others that the loads are affine in, such as the tension of a string between two
    particles, the terms v_r·∂R/∂T of ∂F_r/∂T cancel: to rounding, beside their own size, at two random states.
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

    return [i for i in candidates if i not in reached or cancels(i)]


def _cancel(g: Graph, terms: Sequence[int]) -> bool:
    """Whether terms add up to zero; False where those that are not zero vanish, or are not defined, at random."""
    terms = [i for i in terms if i]
    states = samples(g, terms, 2)
    return len(states) == 2 and all(
        not terms or abs(sum(values)) <= CANCELLED * sum(map(abs, values)) != 0.0
        for values in (s.all(terms) for s in states)
    )


def symbolic(model: Model, kernel: str, nested: bool) -> Any:
    """See :meth:`kanecore.Model.symbolic`."""
    import sympy as sm

    from kanecore.graph.sympy_bridge import to_sympy

    derivation = model._derivation
    d = derivation.description
    keys = derivation.graph.nodes
    t = model._time
    symbols = {keys[d.time][1]: t}
    for nodes, names in (
        (d.coordinates, model.coordinates),
        (d.speeds, model.speeds),
        (d.accelerations, [u.diff(t) for u in model.speeds]),
        (d.inputs, model.inputs),
        (d.parameters, model.parameters),
    ):
        symbols.update((keys[i][1], s) for i, s in zip(nodes, names, strict=True))
    roots = derivation.kernel(kernel).roots
    intermediates, flat = to_sympy(derivation.graph, roots, symbols, nested)
    n = model.n_u
    result: Any
    if kernel == "mass_matrix":
        result = sm.Matrix(n, n, flat)
    elif kernel in ("partial_velocities", "partial_angular_velocities"):
        result = [sm.Matrix(n, 3, flat[i : i + 3 * n]).T for i in range(0, len(flat), 3 * n)]
    elif kernel in ("velocity_remainders", "angular_velocity_remainders"):
        result = sm.Matrix(len(flat) // 3, 3, flat).T
    elif kernel in ("kinetic_energy", "potential_energy", "power"):
        result = flat[0]
    else:
        result = sm.Matrix(len(flat), 1, flat)
    return result if nested else (intermediates, result)


def report(model: Model) -> str:
    """See :meth:`kanecore.Model.report`."""
    derivation: Derivation = model._derivation
    d, k, g = derivation.description, derivation.kinematics, derivation.graph
    lines = [
        f"model {d.name}: n_q = {model.n_q}, n_u = {model.n_u}, n_p = {model.n_p}, n_r = {model.n_r}",
        f"  q: {' '.join(d.coordinate_names)}",
        f"  u: {' '.join(d.speed_names)}" + ("   (u = q')" if d.rates == d.speeds else ""),
    ]
    lines += [f"  {x}: {' '.join(names)}" for x, names in (("p", d.parameter_names), ("r", d.input_names)) if names]
    if d.prescribed:
        lines.append("  prescribed motion: " + " ".join(d.input_names[i] for i in sorted(d.prescribed)))
    if model.noncontributing:
        lines.append("  noncontributing, left out: " + " ".join(map(str, model.noncontributing)))
    lines.append("frames, each with the frame it is oriented from and the one its angular velocity is given in:")
    for frame in d.frames[1:]:
        turned, measured = d.frames[frame.parent].name, d.frames[frame.angular_parent].name
        lines.append(f"  {frame.name}: from {turned}, angular velocity in {measured}")
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
    lines.append("bodies:")
    for body in d.bodies:
        kind = "particle" if body.frame < 0 else f"rigid body in frame {d.frames[body.frame].name}"
        lines.append(f"  {body.name}: {kind}, mass centre {d.points[body.point].name}")
    if d.loads:
        lines.append("loads" + (", with uniform gravity on every body:" if derivation.has_gravity else ":"))
    for kind, place, items in (("force", "point", d.points), ("torque", "frame", d.frames)):
        names = dict.fromkeys(items[load.at].name for load in d.loads if load.kind == kind)
        lines.extend(f"  {kind} on {place} {name}" for name in names)
    lines.append(f"solved by {derivation.method}")
    lines.append("operations (+ - * / sqrt; pairs of sine and cosine):")
    for name in ("qdot", "mass_matrix", "forcing", "udot"):
        n = count(g, derivation.kernel(name).roots)
        lines.append(f"  {name}: {n['total']}; {n['sincos']}")
    return "\n".join(lines)
