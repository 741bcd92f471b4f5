# SPDX-License-Identifier: BSD-3-Clause
"""The description of a mechanism: :class:`Model`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sympy import MatrixBase
from sympy.physics.mechanics import KanesMethod, System

from kanecore.errors import ModelError, warn

from . import sympy_access
from .description import Description
from .expressions import Expressions
from .inertia import warn_of_impossible
from .reader import Reader
from .symbols import function_name

if TYPE_CHECKING:
    from kanecore.derive.contradictions import Contradiction
    from kanecore.derive.derivation import Derivation

__all__ = ["Model"]


class Model(Expressions):
    """A mechanism described with ``sympy.physics.mechanics``, checked, and ready to be compiled.

    Parameters
    ----------
    frame : ReferenceFrame
        The inertial frame.
    q_ind, u_ind : sequence of dynamicsymbols
        Coordinates and generalized speeds: the independent ones, where others depend on them by constraints.
    kd_eqs : sequence of expressions
        n_q kinematical differential equations, each equal to zero, linear in q̇ and u (Kane & Levinson 1985,
        section 2.12).
    q_dependent, u_dependent : sequences of dynamicsymbols, optional
        Coordinates and speeds that depend on the others; the state is x = [q_ind, q_dependent, u_ind, u_dependent].
        All may stand in ``q_ind`` and ``u_ind`` as well: at run time the choice is made anew at every state.
    configuration_constraints : sequence of expressions, optional
        φ(q, t), each equal to zero.
    velocity_constraints : sequence of expressions, optional
        c(q, u, t), each equal to zero; linear in u and q̇, or not (then it is a complex nonholonomic constraint).
        Derivatives of configuration constraints may stand here, and are not counted twice.
    acceleration_constraints : sequence of expressions, optional
        Expressions linear in u̇, each equal to zero; derivatives of the others may stand here.  Constraints of any kind
        may have names, as {name: expression}, which messages and ``dyn.constraint_names`` then use.
    u_auxiliary : sequence of dynamicsymbols, optional
        Auxiliary generalized speeds, which bring reactions in evidence and are zero themselves.
    bodies : sequence of Particle or RigidBody
    forcelist : sequence of (Point, force), (ReferenceFrame, torque) or actuators, optional
        Actuators of ``sympy.physics.mechanics``, such as ``LinearSpring``, need not be turned into loads.
    parameters : sequence of Symbol, optional
        Constants, in order; default: all that occur, sorted by name.
    inputs : sequence of dynamicsymbols, optional
        Forces and prescribed motions r(t); default: all functions of time that occur and are neither coordinates nor
        speeds, sorted by name.  Where a prescribed motion ``theta`` needs its rates they follow it as ``theta_d`` and
        ``theta_dd``.
    outputs : dict of name to expression, optional
        What the kernel ``outputs`` computes; may hold ``u.diff()`` and `kanecore.multiplier` (row).
    potentials : sequence of expressions, optional
        Potential energies, in place of the forces that they stand for.
    feedback : dict of input to expression, optional
        Laws in t, q, u, parameters and other inputs, put in place of inputs that occur in loads and outputs.
    points, frames : sequences, optional
        More points and frames for the kernels of partial velocities.
    joints : dict of name to (parent, child, point), optional
        Which body, or the inertial frame, carries which body, and at which point, for the kernel ``reactions``.
        Default: the parent is the nearest body on the path of points from the mass centre to the origin, the joint
        point the first there that belongs to it, the name that of the child.
    attach : dict of row to (child, child_point, parent, parent_point, vector), optional
        How a row of the constraint Jacobian acts: the force λ·vector on the child, its opposite on the parent, which
        ``reactions`` of constrained models need; two frames in place of the points for a torque; a list of several.
    guess : dict of coordinate or speed, or name of one, to number, optional
        Where a state that satisfies the constraints is looked for, when ``dyn.check`` is given none.
    unit : sequence of (e0, e1, e2, e3), optional
        Coordinates that are a unit quaternion, normalised while integrating; default: those of which some orientation
        is the standard matrix, as ``orient_quaternion`` writes it.
    holonomic_constraints, nonholonomic_constraints : optional
        SymPy's newer names of ``configuration_constraints`` and ``velocity_constraints``; TypeError for both.
    name : str, optional

    Raises
    ------
    ModelError
        What is wrong or missing, by name, and what to write.

    Notes
    -----
    A model is immutable, and it never changes the SymPy objects nor calls ``vel``, ``acc`` or ``dcm`` on them.
    Unknown reactions in ``forcelist`` on which no generalized active force depends are noncontributing forces: they
    are listed in ``noncontributing`` and are neither parameters nor inputs.
    """

    def __init__(
        self,
        frame: Any,
        q_ind: Sequence[Any],
        u_ind: Sequence[Any],
        kd_eqs: Sequence[Any] | None = None,
        q_dependent: Sequence[Any] | None = None,
        configuration_constraints: Sequence[Any] | Mapping[str, Any] | None = None,
        u_dependent: Sequence[Any] | None = None,
        velocity_constraints: Sequence[Any] | Mapping[str, Any] | None = None,
        acceleration_constraints: Sequence[Any] | Mapping[str, Any] | None = None,
        u_auxiliary: Sequence[Any] | None = None,
        bodies: Sequence[Any] | None = None,
        forcelist: Sequence[Any] | None = None,
        *,
        parameters: Sequence[Any] | None = None,
        inputs: Sequence[Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        feedback: Mapping[Any, Any] | None = None,
        potentials: Sequence[Any] | None = None,
        points: Sequence[Any] | None = None,
        frames: Sequence[Any] | None = None,
        joints: Mapping[str, Any] | None = None,
        attach: Mapping[int, Any] | None = None,
        unit: Sequence[Any] | None = None,
        guess: Mapping[Any, float] | None = None,
        holonomic_constraints: Sequence[Any] | Mapping[str, Any] | None = None,
        nonholonomic_constraints: Sequence[Any] | Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> None:
        if kd_eqs is None:
            raise ModelError(
                "kd_eqs is missing: give one kinematical equation for each coordinate, such as [q1.diff() - u1]"
            )
        for argument, value, what in (
            ("outputs", outputs, "names and expressions"),
            ("feedback", feedback, "inputs and expressions"),
            ("joints", joints, "names and (parent, child, point)"),
            ("guess", guess, "coordinates or speeds and numbers"),
            ("attach", attach, "rows and (child, child_point, parent, parent_point, vector)"),
        ):
            if value is not None and not isinstance(value, Mapping):
                raise ModelError(f"{argument} must be a dict of {what}, not {value!r}")
        dependent = _listed(q_dependent, "q_dependent"), _listed(u_dependent, "u_dependent")
        constraints = {
            "velocity": _named(velocity_constraints, "velocity", nonholonomic_constraints, "nonholonomic"),
            "configuration": _named(configuration_constraints, "configuration", holonomic_constraints, "holonomic"),
            "acceleration": _named(acceleration_constraints, "acceleration"),
        }
        _check_counts(dependent, constraints)
        reader = Reader(
            frame,
            [*_listed(q_ind, "q_ind"), *dependent[0]],
            [*_listed(u_ind, "u_ind"), *dependent[1]],
            _listed(kd_eqs, "kd_eqs"),
            "model" if name is None else str(name),
            _listed(u_auxiliary, "u_auxiliary"),
            tuple(f"{x}_ind + {x}_dependent" if d else f"{x}_ind" for x, d in zip("qu", dependent, strict=True)),
        )
        description = reader.read(
            _listed(bodies, "bodies"),
            _listed(forcelist, "forcelist"),
            _listed(potentials, "potentials"),
            dict(outputs or {}),
            _listed(points, "points"),
            _listed(frames, "frames"),
            None if parameters is None else _listed(parameters, "parameters"),
            None if inputs is None else _listed(inputs, "inputs"),
            dict(feedback or {}),
            dict(joints or {}),
            _groups_of_four(unit),
            constraints,
            dict(attach or {}),
        )
        _check_determined(description, dependent, constraints)
        description = replace(
            description,
            n_q_dependent=len(dependent[0]),
            n_u_dependent=len(dependent[1]),
            guess=_guess([*reader.symbols.q, *reader.symbols.u], guess or {}),
        )
        if reader.tendons:
            from kanecore.derive.tendons import with_tendons

            description = with_tendons(description, reader.tendons)
        free = set(description.inputs if inputs is None else ()) | set(
            description.parameters if parameters is None else ()
        )
        self._coordinates, self._speeds = tuple(reader.symbols.q), tuple(reader.symbols.u)
        symbols = dict(zip(description.parameters, reader.parameter_symbols, strict=True))
        symbols.update(zip(description.inputs, reader.input_symbols, strict=True))
        description, dropped = _drop_noncontributing(description, free)
        self._parameters = tuple(symbols[i] for i in description.parameters)
        self._inputs = tuple(symbols[i] for i in description.inputs)
        self._noncontributing = tuple(symbols[i] for i in dropped)
        self._left_out = reader.left_out(
            _listed(bodies, "bodies"),
            _listed(forcelist, "forcelist"),
            [*_listed(points, "points"), *_listed(frames, "frames")],
            (*self._parameters, *self._inputs),
        )
        description = replace(
            description,
            left_out_parameters=tuple(map(str, (s for s in self._left_out if s.is_Symbol))),
            left_out_inputs=tuple(map(function_name, (s for s in self._left_out if not s.is_Symbol))),
        )
        self._description = description
        self._laws = dict(feedback or {})
        self._written = dict(outputs or {})
        self._n_loads = len(_listed(forcelist, "forcelist"))
        warn_of_impossible(description)
        self._time = reader.symbols.t
        self._derived: Derivation | None = None
        self._contradictions = self._contradicting(reader)

    def _contradicting(self, reader: Reader) -> list[Contradiction]:
        """Warn of what was set and is denied by positions, orientations or velocities."""
        from kanecore.derive.contradictions import contradictions
        from kanecore.derive.symbolic import symbols_by_key

        d, k = self._description, self._derivation.kinematics
        given = list(reader.set_accelerations())
        found = contradictions(d, k, given, reader.symbols, lambda: symbols_by_key(self))
        for item in found:
            warn(item.told((d.points if item.kind == "point" else d.frames)[item.at].name))
        return found

    @classmethod
    def from_kane(cls, kanes_method: Any, bodies: Any = None, forcelist: Any = None, **options: Any) -> Model:
        """The model of a ``sympy.physics.mechanics.KanesMethod``, before or after ``kanes_equations()``.

        Parameters
        ----------
        kanes_method : KanesMethod
        bodies, forcelist : sequences, optional
            Default: those that the KanesMethod was given.
        **options
            Further arguments of :class:`Model`.
        """
        km = kanes_method
        if not isinstance(km, KanesMethod):
            raise TypeError(f"from_kane takes a sympy.physics.mechanics.KanesMethod, not a {type(km).__name__}")
        constraints: dict[str, Any] = sympy_access.constraints(km)
        n_q, n_u = len(km.q) - len(constraints["q_dependent"]), len(km.u) - len(constraints["u_dependent"])
        constraints = {argument: items for argument, items in constraints.items() if items}
        bodies = km.bodies if bodies is None else bodies
        if not bodies:
            raise ModelError("this KanesMethod knows no bodies yet: pass bodies=[...] to from_kane")
        return cls(
            sympy_access.inertial_frame(km),
            list(km.q)[:n_q],
            list(km.u)[:n_u],
            sympy_access.kinematical_equations(km),
            **constraints,
            bodies=bodies,
            forcelist=km.forcelist if forcelist is None else forcelist,
            **options,
        )

    @classmethod
    def from_system(cls, system: Any, **options: Any) -> Model:
        """The model of a ``sympy.physics.mechanics.System``, before or after ``form_eoms()``.

        Its actuators give their loads, its joints their names; the body that is its inertial frame is left out.  The
        child of a joint is the body that is farther from the ground, whichever the System calls so.

        Parameters
        ----------
        system : System
        **options
            Further arguments of :class:`Model`; ``joints`` replaces the System's joints of the same children.
        """
        if not isinstance(system, System):
            raise TypeError(f"from_system takes a sympy.physics.mechanics.System, not a {type(system).__name__}")
        own = {"frame", "q_ind", "u_ind", "kd_eqs", "bodies", "forcelist"}.intersection(options)
        if own:
            raise TypeError(f"from_system takes {', '.join(sorted(own))} from the System: add to it there")
        constraints: dict[str, Any] = {
            "q_dependent": system.q_dep,
            "configuration_constraints": system.holonomic_constraints,
            "u_dependent": system.u_dep,
            "velocity_constraints": system.velocity_constraints,
            "u_auxiliary": system.u_aux,
        }
        given: dict[str, Any] = {argument: list(items) for argument, items in constraints.items() if items}
        return cls(
            system.frame,
            list(system.q_ind),
            list(system.u_ind),
            list(system.kdes),
            **given,
            bodies=system.bodies,
            forcelist=[*system.loads, *system.actuators],
            joints=_system_joints(system, options.pop("joints", None)),
            **options,
        )

    # ------------------------------------------------------------------ facts
    @property
    def name(self) -> str:
        return self._description.name

    @property
    def description(self) -> Description:
        """The model on the expression graph: what is derived from."""
        return self._description

    @property
    def coordinates(self) -> tuple[Any, ...]:
        """Symbols of q."""
        return self._coordinates

    @property
    def speeds(self) -> tuple[Any, ...]:
        """Symbols of u."""
        return self._speeds

    @property
    def parameters(self) -> tuple[Any, ...]:
        """Symbols of p."""
        return self._parameters

    @property
    def inputs(self) -> tuple[Any, ...]:
        """Symbols of r, rates of prescribed motions included."""
        return self._inputs

    @property
    def noncontributing(self) -> tuple[Any, ...]:
        """Symbols of the loads on which no generalized active force depends."""
        return self._noncontributing

    @property
    def left_out(self) -> tuple[Any, ...]:
        """Symbols that stand only in what has no part in the motion, such as the ground: they may be set by name."""
        return self._left_out

    @property
    def n_q(self) -> int:
        return len(self._coordinates)

    @property
    def n_u(self) -> int:
        return len(self._speeds)

    @property
    def n_x(self) -> int:
        return self.n_q + self.n_u

    @property
    def n_p(self) -> int:
        return len(self._parameters)

    @property
    def n_r(self) -> int:
        return len(self._inputs)

    @property
    def n_constraints(self) -> int:
        """Rows of the constraint Jacobian: derivatives that were filed as well are not counted twice."""
        return len(self._derivation.constraints.rows) if self._description.constraints else 0

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: n_q={self.n_q}, n_u={self.n_u}, n_p={self.n_p}, n_r={self.n_r}>"

    # ---------------------------------------------------------------- results
    @property
    def _derivation(self) -> Derivation:
        from kanecore.derive.derivation import Derivation
        from kanecore.describe.description import duplicate

        if self._derived is None:
            self._derived = Derivation(duplicate(self._description))
        return self._derived

    def symbolic(self, kernel: str, *, nested: bool = False, nonholonomic: bool = False) -> Any:
        """The SymPy expressions of a kernel.

        Parameters
        ----------
        kernel : str
            ``"mass_matrix"``, ``"forcing"``, ``"generalized_active_forces"``, ... : a kernel of the compiled model,
            ``"partial_accelerations"`` or ``"partial_angular_accelerations"``.
        nested : bool
            Write intermediate variables out.
        nonholonomic : bool
            Put the dependent speeds in terms of the independent ones, as the compiled model does.

        Returns
        -------
        (intermediates, expressions) or expressions
            ``intermediates`` is a list of (symbol, expression), after Autolev's Z list; it is left out where
            ``nested``.  Expressions are a Matrix, for partial velocities a list (points or frames) of 3 × n_u matrices,
            for their remainders a 3 × n matrix, all in inertial axes, and a single expression for energies.  Reactions,
            auxiliary forces and outputs of a model whose constraints are solved at run time are written with
            ``u.diff()`` and `kanecore.multiplier` (row).
        """
        from kanecore.derive.symbolic import symbolic

        return symbolic(self, kernel, nested, nonholonomic)

    def latex(self, kernel: str, *, nested: bool = False) -> str:
        r"""What :meth:`symbolic` gives, as LaTeX: an ``aligned`` block, intermediates first."""
        from kanecore.derive.symbolic import latex

        return latex(self, kernel, nested)

    def explain(self, full: bool = False) -> str:
        """Which load gives which generalized active force, and which body which generalized inertia force.

        Loads, laws of feedback and outputs have the numbers that they have in :meth:`report`.

        Parameters
        ----------
        full : bool
            Write out every expression; else long ones are counted in operations.
        """
        from kanecore.derive.explain import explain

        return explain(self, full)

    def report(self) -> str:
        """What was understood: the tree, where each velocity came from, how M is formed, operation counts."""
        from kanecore.derive.report import report

        return report(self)


def _listed(items: Any, argument: str) -> list[Any]:
    """An argument as a list; a Matrix by its entries, a single item as a list of one."""
    if items is None:
        return []
    if isinstance(items, Mapping):
        raise ModelError(f"{argument} is a dict; it must be a list{_INSTEAD_OF_DICT.get(argument, '')}")
    if isinstance(items, Set):
        raise ModelError(f"{argument} is a set, which has no order: give a list")
    if isinstance(items, MatrixBase):
        return list(items.flat())
    if isinstance(items, str) or not isinstance(items, Iterable):
        return [items]
    return list(items)


def _named(items: Any, kind: str, other: Any = None, spelling: str = "") -> dict[str, Any]:
    """Constraints by name: those of a dict, else by their kind and number; ``other`` is a second spelling of them."""
    if items is not None and other is not None:
        raise TypeError(
            f"{kind}_constraints and {spelling}_constraints are two names of one argument: give one of them"
        )
    given, argument = (items, f"{kind}_constraints") if other is None else (other, f"{spelling}_constraints")
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str):
                raise ModelError(
                    f"{argument} is a dict; it must be a list, or {{name: expression}}, and {name!r} is no name"
                )
        return dict(given)
    return {f"{kind} constraint {i}": e for i, e in enumerate(_listed(given, argument))}


def _check_counts(dependent: tuple[list[Any], list[Any]], constraints: Mapping[str, Mapping[str, Any]]) -> None:
    """No more coordinates and speeds can depend on others than there are constraints that determine them."""
    rows = sum(map(len, constraints.values()))
    places = len(constraints["configuration"]) or rows  # velocity constraints may be derivatives of some on coordinates
    for letter, what, symbols, limit in (
        ("q", "coordinates", dependent[0], places),
        ("u", "speeds", dependent[1], rows),
    ):
        if len(symbols) > limit:
            raise ModelError(
                f"{letter}_dependent names {len(symbols)} {what}, and there are {limit} constraints that may determine "
                f"them: add what does, or list them in {letter}_ind"
            )


def _check_determined(
    d: Description, dependent: tuple[list[Any], list[Any]], constraints: Mapping[str, Mapping[str, Any]]
) -> None:
    """What is called dependent must occur where it can be determined; warn of coordinates, which nothing needs so."""
    nodes = {kind: [c.node for c in d.constraints if c.kind == kind] for kind in constraints}
    places = set(d.graph.below(nodes["configuration"]))
    moving = [rate for q, rate in zip(d.coordinates, d.rates, strict=True) if q in places]
    speeds = set(d.graph.below([*nodes["velocity"], *nodes["acceleration"], *moving]))
    for letter, symbols, found in (
        ("q", list(zip(d.coordinates, d.coordinates, strict=True)), places if nodes["configuration"] else None),
        ("u", list(zip(d.speeds, d.accelerations, strict=True)), speeds),
    ):
        count = len(dependent[letter == "u"])
        names = d.speed_names if letter == "u" else d.coordinate_names
        for name, pair in zip(names[len(names) - count :], symbols[len(names) - count :], strict=True):
            if found is None or not found.isdisjoint(pair):
                continue
            message = f"{name} in {letter}_dependent occurs in no constraint, and nothing determines it: list it in "
            if letter == "u":
                raise ModelError(f"{message}u_ind")
            warn(f"{message}q_ind; nothing but linearize(minimal=True) looks at this label")


def _guess(state: Sequence[Any], guess: Mapping[Any, Any]) -> tuple[tuple[int, float], ...]:
    result: list[tuple[int, float]] = []
    names = [function_name(x) for x in state]
    for key, value in guess.items():
        if key not in state and key not in names:
            raise ModelError(f"guess holds {key}, which is neither a coordinate nor a speed")
        place = state.index(key) if key in state else names.index(key)
        x = state[place]
        if any(place == other for other, _ in result):
            raise ModelError(f"guess holds {x} twice, by its symbol and by its name")
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ModelError(f"guess of {x} is {value!r}, which is no number") from None
        if number - number != 0.0:
            raise ModelError(f"guess of {x} is {value!r}, which is not finite")
        result.append((place, number))
    return tuple(sorted(result))


def _system_joints(system: Any, given: Any) -> Any:
    """The joints of a System, each from the ground outwards; those that the user gave replace others of their child."""
    if given is not None and not isinstance(given, Mapping):
        return given  # Model says what is wrong
    replaced = [joint[1] for joint in (given or {}).values() if isinstance(joint, Sequence) and len(joint) == 3]
    reached = [body for body in system.bodies if body.masscenter == system.fixed_point]
    waiting, result = list(system.joints), {}
    while waiting:
        joint = next((j for j in waiting if j.parent in reached or j.child in reached), waiting[0])
        waiting.remove(joint)
        outwards = joint.parent in reached or joint.child not in reached
        parent, child, point = joint.parent, joint.child, joint.parent_point
        if not outwards:
            parent, child, point = child, parent, joint.child_point
        reached += [parent, child]
        if not any(child is body for body in replaced):
            result[joint.name] = (parent, child, point)
    # in the System's order
    return {j.name: result[j.name] for j in system.joints if j.name in result} | dict(given or {})


def _groups_of_four(unit: Any) -> list[Any]:
    """The quaternions of ``unit``; one alone may stand without brackets."""
    groups = _listed(unit, "unit")
    return [tuple(groups)] if groups and not any(isinstance(x, Iterable) for x in groups) else groups


_INSTEAD_OF_DICT = {
    "kd_eqs": " of expressions that vanish, such as [q1.diff() - u1]",
    "parameters": " of symbols; their values go to compile(model, parameters={...})",
    "inputs": " of functions of time; their values go to dyn.inputs, or to simulate(inputs=...)",
}


def _drop_noncontributing(d: Description, free: set[int]) -> tuple[Description, list[int]]:
    """Leave out symbols that occur in loads only and on which no F_r depends."""
    g = d.graph
    elsewhere = [i for f in d.frames for row in f.rotation for i in row]
    elsewhere += [i for f in d.frames for _, v in f.angular_velocity for i in v]
    elsewhere += [i for p in d.points for vector in (p.position, p.velocity or ()) for _, v in vector for i in v]
    elsewhere += [
        i for b in d.bodies for i in (b.mass, b.potential, *(x for _, m in b.inertia for row in m for x in row))
    ]
    elsewhere += [i for b in d.bodies for _, v in b.about for i in v]
    elsewhere += [*d.rates, *d.potentials, *(i for _, i in d.outputs), *(c.node for c in d.constraints)]
    known = set(g.below(elsewhere))
    in_loads = g.below([i for load in d.loads for _, v in load.vector for i in v])
    candidates = [i for i in in_loads if i in free and i not in known]
    if not candidates:
        return d, []
    from kanecore.derive.noncontributing import without_effect

    dropped = without_effect(d, candidates)
    if not dropped:
        return d, []
    zero = dict.fromkeys(dropped, 0)
    loads = []
    for load in d.loads:
        vector = tuple((f, (a, b, c)) for f, (a, b, c) in ((f, g.substitute(v, zero)) for f, v in load.vector))
        loads.append(replace(load, vector=tuple((f, v) for f, v in vector if any(v))))
    inputs = [n for n, i in enumerate(d.inputs) if i not in zero]
    parameters = [n for n, i in enumerate(d.parameters) if i not in zero]
    place = {n: k for k, n in enumerate(inputs)}
    return (
        replace(
            d,
            loads=tuple(loads),
            inputs=tuple(d.inputs[n] for n in inputs),
            input_names=tuple(d.input_names[n] for n in inputs),
            input_rates=tuple(place.get(d.input_rates[n], -1) for n in inputs),
            prescribed=frozenset(place[n] for n in d.prescribed if n in place),
            parameters=tuple(d.parameters[n] for n in parameters),
            parameter_names=tuple(d.parameter_names[n] for n in parameters),
        ),
        dropped,
    )
