# SPDX-License-Identifier: BSD-3-Clause
"""The report: how a description was understood, in words."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from kanecore.derive.derivation import Derivation
from kanecore.derive.forces.generalized_forces import holds_udot, uniform_gravity
from kanecore.derive.forces.joint_reactions import is_free
from kanecore.derive.forces.spring_potentials import is_gradient
from kanecore.derive.model_facts import unread
from kanecore.describe.description import Description
from kanecore.describe.from_sympy.symbols import function_name
from kanecore.graph.evaluation import count
from kanecore.graph.expression_graph import Op
from kanecore.kernels import KERNELS

from .described_model import Described
from .symbolic_expressions import loads_by_number

__all__ = ["report"]

WIDTH = 80  # characters of a line
INDENT = "    "  # further indentation of continuation lines

LISTING = ("inertial_parameters",)  # kernels that only list given values

VELOCITY_SOURCES = {
    "origin": "at rest",
    "position": "velocity from its position",
    "equal": "velocity as set by the user, which is the derivative of its position",
    "set": "velocity as set by the user",
}


def report(model: Described) -> str:
    """See :meth:`kanecore.Model.report`."""
    derivation = model.derivation
    lines = [*_summary(model), *_frames(model), *_points(model), *_source(derivation)]
    if derivation.description.constraints:
        lines += _constraints(derivation)
    lines += [*_loads(model), *_written(model), *_operations(derivation)]
    return "\n".join(map(_wrapped, lines))


def _wrapped(line: str) -> str:
    """A long line broken into lines of moderate length, between words."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    return "\n".join(
        textwrap.wrap(
            line,
            WIDTH,
            subsequent_indent=indent + INDENT,
            expand_tabs=False,
            replace_whitespace=False,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def _summary(model: Described) -> Iterator[str]:
    """Contradictions, sizes and names."""
    derivation = model.derivation
    d = derivation.description
    n = len(model.contradictions) + (len(derivation.constraints.opposed) if d.constraints else 0)
    yield f"{n} contradiction{'' if n == 1 else 's'} in the description"
    n_z = f"n_z = {model.n_z}, " if d.states else ""
    yield f"model {d.name}: n_q = {model.n_q}, n_u = {model.n_u}, {n_z}n_p = {model.n_p}, n_r = {model.n_r}"
    yield f"  q: {' '.join(d.coordinate_names)}"
    yield f"  u: {' '.join(d.speed_names)}" + ("   (u = q')" if d.rates == d.speeds else "")
    for letter, names in (("z", d.state_names), ("p", d.parameter_names), ("r", d.input_names)):
        if names:
            yield f"  {letter}: {' '.join(names)}"
    if d.prescribed:
        yield "  prescribed motion: " + " ".join(d.input_names[i] for i in sorted(d.prescribed))
    for f, data in model.functions.items():
        yield f"  function {f}: {data.extent}"
    if model.noncontributing:
        yield "  noncontributing, left out: " + " ".join(map(str, model.noncontributing))
    idle = [*_idle(derivation), *d.left_out_parameters, *d.left_out_inputs]
    if idle:
        yield "  without effect, and accepted by name: " + " ".join(sorted(idle))


def _idle(derivation: Derivation) -> list[str]:
    """Parameters that no kernel reads; the kernels that read most are tried first."""
    names = derivation.description.parameter_names
    idle = (1 << len(names)) - 1
    others = [x.name for x in KERNELS if not x.counts and not x.internal and x.name not in LISTING]
    for kernels in (["mass_matrix", "forcing", "qdot", "outputs", "zdot"], others):
        asked = [name for name in kernels if idle and derivation.has(name)]
        spared = unread(derivation, asked)
        for name in asked:
            idle &= spared.get(name, 0)
    return [name for i, name in enumerate(names) if idle >> i & 1]


def _frames(model: Described) -> Iterator[str]:
    d, k = model.derivation.description, model.derivation.kinematics
    if d.bodies or d.frames[1:]:
        yield "frames: orientation, angular velocity"
    for i, frame in enumerate(d.frames[1:], 1):
        turned, measured = d.frames[frame.parent].name, d.frames[frame.angular_parent].name
        how = f"from {turned}" if frame.oriented else f"not oriented, written in the axes of {turned}"
        note = "" if k.omega_fits[i] or not frame.oriented else ", and does not turn as its angular velocity says"
        yield f"  {frame.name}: {how}, angular velocity in {measured}{note}"
        yield from _contradictions(model, "frame", i, frame.name)
    for places in d.unit:
        yield "  unit quaternion: " + " ".join(d.coordinate_names[i] for i in places)
    if k.rounded:
        yield "  entries within 1e-14 of 0 or 1 taken for these: " + " ".join(k.rounded)


def _points(model: Described) -> Iterator[str]:
    d, k = model.derivation.description, model.derivation.kinematics
    if d.bodies or d.points:
        yield "points: position, source of the velocity"
    for i, point in enumerate(d.points):
        place = f"from {d.points[point.parent].name}, " if point.parent >= 0 else ""
        note = VELOCITY_SOURCES[k.source[i]]
        if k.source[i] == "set" and point.parent >= 0:
            note += ", which is not the derivative of its position"
        yield f"  {point.name}: {place}{note}, in {d.frames[k.home[i]].name}"
        yield from _contradictions(model, "point", i, point.name)
    yield from _measured(model.derivation)


def _measured(derivation: Derivation) -> Iterator[str]:
    """Lines on the origin, and on the reference points of points that are not located from the origin."""
    points, whereabouts = derivation.description.points, derivation.whereabouts
    origin = points[whereabouts.origin].name if whereabouts.origin >= 0 else ""
    if origin:
        yield f"positions are measured from {origin}"
    starts = [whereabouts.measured_from(i) for i in range(len(points))]
    for start in dict.fromkeys(starts):
        if start != whereabouts.origin:
            group = ", ".join(point.name for point, other in zip(points, starts, strict=True) if other == start)
            why = f": none lead to it from {origin}" if origin else ", which is not known to stay at rest"
            yield f"positions of {group} are measured from {points[start].name}{why}"


def _contradictions(model: Described, kind: str, at: int, name: str) -> Iterator[str]:
    """Lines about the contradictions of a frame, point or load."""
    for contradiction in model.contradictions:
        if (contradiction.kind, contradiction.at) == (kind, at):
            yield f"    contradiction: {contradiction.message(name)}"


def _source(derivation: Derivation) -> Iterator[str]:
    """Lines about the source of the equations of motion: a Lagrangian, equations of first order, or bodies."""
    d = derivation.description
    if d.lagrangian is not None:
        operations = count(derivation.graph, [d.lagrangian])
        yield f"Lagrangian: {operations['total']} operations, {operations['sincos']} pairs of sine and cosine"
    elif d.first_order is not None:
        yield "equations of first order, in coordinates and their momenta"
    else:
        yield from _bodies(derivation)


def _bodies(derivation: Derivation) -> Iterator[str]:
    """Lines about bodies and joints."""
    d, k = derivation.description, derivation.kinematics
    yield "bodies:"
    for body in d.bodies:
        kind = "particle" if body.frame < 0 else f"rigid body in frame {d.frames[body.frame].name}"
        note = ", of a mass that changes: its inertia force is −(m a + ṁ v)" if k.rate.of(body.mass) else ""
        yield f"  {body.name}: {kind}, mass centre {d.points[body.point].name}{note}"
    yield "joints: body, point, parent"
    for joint in d.joints:
        parent = d.bodies[joint.parent].name if joint.parent >= 0 else d.frames[0].name
        free = ", free: its reaction is zero" if is_free(k, joint) else ""
        yield f"  {joint.name}: {d.bodies[joint.child].name} at {d.points[joint.point].name} on {parent}{free}"


def _constraints(derivation: Derivation) -> Iterator[str]:
    d, constraints = derivation.description, derivation.constraints
    rows = constraints.rows
    yield f"constraints, {len(rows)} rows in G:"
    counted = {row.name for row in rows}
    for c in d.constraints:
        note = "" if c.name in counted else ": its derivative is among the others, and is not counted twice"
        yield f"  {c.name}{note}"
    for one, other in constraints.opposed:
        yield f"  {one} and {other} contradict each other: no speeds satisfy them together"
    if shared := constraints.shared:
        yield (
            "  multipliers that are not determined, as redundant rows share them (those of least norm are "
            f"computed): {', '.join(shared)}"
        )
    vanishing = [row.name for row in rows if not any(row.jacobian) and row.value <= 0]
    if vanishing:
        yield f"  zero at every state, and without effect: {', '.join(vanishing)}"
    for letter, state, dependent in (
        ("q", d.coordinate_names, d.n_q_dependent),
        ("u", d.speed_names, d.n_u_dependent),
    ):
        if dependent:
            yield f"  dependent {letter}: {' '.join(state[len(state) - dependent :])}"


def _loads(model: Described) -> Iterator[str]:
    """Lines about auxiliary speeds, loads and potentials."""
    derivation = model.derivation
    d, k = derivation.description, derivation.kinematics
    if d.auxiliary:
        yield "auxiliary speeds: " + " ".join(d.auxiliary_names)
    if model.reading.n_loads or d.potentials or d.generalized_forces:
        yield "loads" + (", with uniform gravity on every body:" if derivation.has_gravity else ":")
    if derivation.has_gravity and not model.reading.n_loads:  # from a file: no load is the user's
        yield _gravity(derivation)
    yield from model.reading.notes
    by_number = loads_by_number(d)
    for number in range(model.reading.n_loads):
        where = dict.fromkeys(
            f"{x.kind} on {'point' if x.kind == 'force' else 'frame'} "
            f"{(d.points if x.kind == 'force' else d.frames)[x.at].name}"
            for x in by_number.get(number, [])
        )
        note = _energy(derivation, number)
        yield f"  load {number}, {' and '.join(where) or 'left out: zero, on the ground, or noncontributing'}{note}"
        yield from _contradictions(model, "load", number, f"load {number}")
    inertial = dict.fromkeys(load.number for load in d.loads if holds_udot(k, load))
    if inertial:
        yield (
            f"  linear in derivatives of speeds, which counts with F*: {', '.join(f'load {i}' for i in inertial)}; "
            f"with it M is {'symmetric' if derivation.symmetric else 'not symmetric'}"
        )
    for number, _ in enumerate(d.potentials):
        yield f"  potential {number}"
    for force in d.generalized_forces:
        yield f"  {force.title}"


def _gravity(derivation: Derivation) -> str:
    """Line about the uniform field, with its numbers if they are known."""
    values = list(map(derivation.graph.value, uniform_gravity(derivation.kinematics)[0]))
    known = [f"{float(value):g}" for value in values if value is not None]
    what = f" ({', '.join(known)}) in {derivation.description.frames[0].name}" if len(known) == len(values) else ""
    return f"uniform gravity{what} on every body"


def _energy(derivation: Derivation, number: int) -> str:
    """Phrase about a load in the potential energy: whole, in part, or not."""
    energy, loads = derivation.energy, derivation.description.loads
    places = {i for i, load in enumerate(loads) if load.number == number}
    if places and places <= energy.accounted:
        return ", in the potential energy"
    if places & (energy.accounted | energy.in_part):
        return ", in part in the potential energy"
    if is_gradient(derivation.kinematics, [loads[i] for i in sorted(places)]):
        return ", the gradient of an energy that is not known: its work counts as power"
    return ""


def _written(model: Described) -> Iterator[str]:
    """Lines about the user's expressions: laws of feedback, outputs."""
    outputs = model.derivation.description.outputs
    if model.reading.laws:
        yield "feedback:"
    for number, law in enumerate(model.reading.laws):
        yield f"  law {number}, for {function_name(law)}"
    if outputs:
        yield "outputs:"
    for number, (name, _) in enumerate(outputs):
        yield f"  output {number}, {name}"
    d = model.derivation.description
    if d.states:
        yield "states: variables of the rate"
    for name, rate in zip(d.state_names, d.state_rates, strict=True):
        yield f"  {name}: {_named_below(d, rate)}"


def _named_below(d: Description, node: int) -> str:
    """Text with the names of states, inputs, derivatives of speeds and multipliers that a node depends on."""
    below = set(d.graph.below([node]))
    nodes, names = (*d.x, *d.accelerations, *d.inputs), (*d.x_names, *(f"{u}'" for u in d.speed_names), *d.input_names)
    found = [name for name, i in zip(names, nodes, strict=True) if i in below]
    found += ["multipliers"] * any(d.graph.nodes[i][1][0] == "λ" for i in below if d.graph.nodes[i][0] is Op.SYM)
    return " ".join(found) if found else "parameters and time alone"


def _operations(derivation: Derivation) -> Iterator[str]:
    missing = derivation.missing("udot")
    yield f"no equations of motion: {missing}" if missing else f"solver: {derivation.method}"
    yield "operations (+ - * / sqrt; pairs of sine and cosine):"
    names = filter(derivation.has, ("qdot", "mass_matrix", "forcing", "zdot"))
    programs = {name: derivation.kernel(name).roots for name in names}
    if missing:
        pass
    elif not derivation.solved_at_run_time:
        programs["udot"] = derivation.kernel("udot").roots
    elif derivation.solving is not None:
        programs["constraint_jacobian"] = derivation.kernel("constraint_jacobian").roots
        programs["udot, before it is solved"] = (*derivation.solving.system, *derivation.solving.known)
    for name, roots in programs.items():
        operations = count(derivation.graph, roots)
        yield f"  {name}: {operations['total']}; {operations['sincos']}"
