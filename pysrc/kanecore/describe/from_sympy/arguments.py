# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of `kanecore.Model`: as the user gave them, and in one form: lists are lists, constraints have names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

from sympy import MatrixBase

from kanecore.errors import ModelError

__all__ = ["Arguments", "ListedArguments", "expect", "listed", "no_such_argument", "numbered"]

_DICTS = {
    "outputs": "names and expressions",
    "feedback": "inputs and expressions",
    "joints": "names and (parent, child, point)",
    "guess": "coordinates or speeds and numbers",
    "shapes": "bodies and shapes, such as kanecore.shapes.Disc(r)",
    "attach": "rows and (child, child_point, parent, parent_point, vector)",
    "functions": "undefined functions and kc.Spline(x, y) or kc.CFunction",
}
_INSTEAD_OF_DICT = {
    "kd_eqs": " of expressions equal to zero, such as [q1.diff() - u1]",
    "parameters": " of symbols; their values go to compile(model, parameters={...})",
    "inputs": " of functions of time; their values go to dyn.inputs, or to simulate(inputs=...)",
}


Items = Sequence[Any] | None
Constraints = Sequence[Any] | Mapping[str, Any] | None


@dataclass(frozen=True)
class Arguments:
    """The arguments of `kanecore.Model` as the user gave them, by their names there, where each is explained.

    Attributes
    ----------
    lagrangian : expression, optional
        Lagrangian in place of bodies.
    dissipation : expression, optional
        Function of the forces −∂R/∂q̇ beside it.
    """

    frame: Any
    q_ind: Sequence[Any]
    u_ind: Sequence[Any]
    kd_eqs: Items = None
    q_dependent: Items = None
    configuration_constraints: Constraints = None
    u_dependent: Items = None
    velocity_constraints: Constraints = None
    acceleration_constraints: Constraints = None
    u_auxiliary: Items = None
    bodies: Items = None
    forcelist: Items = None
    reactions: Items = None
    states: Mapping[Any, Any] | Items = None
    parameters: Items = None
    inputs: Items = None
    outputs: Mapping[str, Any] | None = None
    feedback: Mapping[Any, Any] | None = None
    potentials: Items = None
    points: Items = None
    frames: Items = None
    joints: Mapping[str, Any] | None = None
    attach: Mapping[int, Any] | None = None
    unit: Items = None
    guess: Mapping[Any, float] | None = None
    origin: Any = None
    functions: Mapping[Any, Any] | None = None
    shapes: Mapping[Any, Any] | None = None
    holonomic_constraints: Constraints = None
    nonholonomic_constraints: Constraints = None
    name: str | None = None
    lagrangian: Any = None
    dissipation: Any = None

    def with_options(self, options: Mapping[str, Any], maker: str) -> Arguments:
        """These arguments, and further ones of the user's, by their names as arguments of `kanecore.Model`.

        Raises
        ------
        TypeError
            There is no such argument, or ``maker``, the function that made these, has set it.
        """
        for name in options:
            if name not in _names():
                raise no_such_argument(name)
            if getattr(self, name) is not None:
                raise TypeError(f"{maker} sets {name} itself: leave it out")
        return replace(self, **options)

    def as_lists(self) -> ListedArguments:
        """The arguments, each in one form.

        Raises
        ------
        ModelError
            An argument is no list, or no dict, where it must be one; ``kd_eqs`` is missing.
        TypeError
            Constraints of one kind are given by both of their names.
        """
        if self.kd_eqs is None:
            raise ModelError(
                "kd_eqs is missing: give one kinematical equation for each coordinate, such as [q1.diff() - u1]"
            )
        for argument, items in _DICTS.items():
            mapping = getattr(self, argument)
            if mapping is not None and not isinstance(mapping, Mapping):
                raise ModelError(f"{argument} must be a dict of {items}, not {mapping!r}")
        bodies = listed(self.bodies, "bodies")
        return ListedArguments(
            name="model" if self.name is None else str(self.name),
            frame=self.frame,
            q_ind=listed(self.q_ind, "q_ind"),
            q_dependent=listed(self.q_dependent, "q_dependent"),
            u_ind=listed(self.u_ind, "u_ind"),
            u_dependent=listed(self.u_dependent, "u_dependent"),
            u_auxiliary=listed(self.u_auxiliary, "u_auxiliary"),
            reactions=listed(self.reactions, "reactions"),
            kd_eqs=listed(self.kd_eqs, "kd_eqs"),
            bodies=bodies,
            forcelist=listed(self.forcelist, "forcelist"),
            potentials=listed(self.potentials, "potentials"),
            points=listed(self.points, "points"),
            frames=listed(self.frames, "frames"),
            needs_bodies=self.lagrangian is None and (self.bodies is None or bool(bodies)),
            constraints={
                "velocity": self._named("velocity", "nonholonomic"),
                "configuration": self._named("configuration", "holonomic"),
                "acceleration": _by_name("acceleration_constraints", self.acceleration_constraints),
            },
            parameters=None if self.parameters is None else listed(self.parameters, "parameters"),
            inputs=None if self.inputs is None else listed(self.inputs, "inputs"),
            outputs=dict(self.outputs or {}),
            feedback=dict(self.feedback or {}),
            joints=dict(self.joints or {}),
            guess=dict(self.guess or {}),
            attach=dict(self.attach or {}),
            functions=dict(self.functions or {}),
            shapes=dict(self.shapes or {}),
            unit=_groups_of_four(self.unit),
            states=self.states,
            origin=self.origin,
            lagrangian=self.lagrangian,
            dissipation=self.dissipation,
        )

    def _named(self, kind: str, other_kind: str) -> dict[str, Any]:
        """Constraints of a kind that has two names."""
        argument, other = f"{kind}_constraints", f"{other_kind}_constraints"
        items, other_items = getattr(self, argument), getattr(self, other)
        if items is not None and other_items is not None:
            raise TypeError(f"{argument} and {other} are two names of one argument: give one of them")
        return _by_name(argument, items) if other_items is None else _by_name(other, other_items)


@dataclass(frozen=True)
class ListedArguments:
    """The arguments of `kanecore.Model`, each brought into one form.

    Attributes
    ----------
    constraints : dict
        {name: expression} by kind: "velocity", "configuration", "acceleration", the order of the rows of G.
    parameters, inputs : list or None
        None: all symbols that occur.
    unit : list
        Groups of four coordinates.
    states : mapping, object with states, list of these, or None
    origin : Point or None
    needs_bodies : bool
        False if a Lagrangian replaces bodies, or if the user wrote ``bodies=[]``.
    """

    name: str
    frame: Any
    q_ind: list[Any]
    q_dependent: list[Any]
    u_ind: list[Any]
    u_dependent: list[Any]
    u_auxiliary: list[Any]
    reactions: list[Any]
    kd_eqs: list[Any]
    constraints: dict[str, dict[str, Any]]
    bodies: list[Any]
    needs_bodies: bool
    forcelist: list[Any]
    potentials: list[Any]
    points: list[Any]
    frames: list[Any]
    parameters: list[Any] | None
    inputs: list[Any] | None
    outputs: dict[Any, Any]
    feedback: dict[Any, Any]
    joints: dict[Any, Any]
    guess: dict[Any, Any]
    attach: dict[Any, Any]
    functions: dict[Any, Any]
    shapes: dict[Any, Any]
    unit: list[Any]
    states: Any
    origin: Any
    lagrangian: Any
    dissipation: Any


def listed(items: Any, argument: str) -> list[Any]:
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


def _by_name(argument: str, items: Constraints) -> dict[str, Any]:
    """Constraints by name: the names of a dict, else those of `numbered`."""
    if isinstance(items, Mapping):
        for name in items:
            if not isinstance(name, str):
                raise ModelError(
                    f"{argument} is a dict; it must be a list, or {{name: expression}}, and {name!r} is no name"
                )
        return dict(items)
    return numbered(argument, listed(items, argument))


def numbered(argument: str, constraints: Iterable[Any]) -> dict[str, Any]:
    """Constraints of an argument such as ``holonomic_constraints`` by their names: holonomic constraint 0, ..."""
    kind = argument.removesuffix("_constraints")
    return {f"{kind} constraint {i}": e for i, e in enumerate(constraints)}


def _groups_of_four(unit: Any) -> list[Any]:
    """Quaternions of ``unit``; brackets may be left out for a single one."""
    groups = listed(unit, "unit")
    return [tuple(groups)] if groups and not any(isinstance(x, Iterable) for x in groups) else groups


_INSTEAD = {
    **dict.fromkeys(("loads", "forces", "torques", "actuators", "force_list", "load_list"), "forcelist="),
    **dict.fromkeys(("trace", "observe", "measurements", "sensors", "y"), "outputs={name: expression}"),
    **dict.fromkeys(("z", "first_order", "state_equations", "activations"), "states="),
    **dict.fromkeys(("q", "coordinates", "generalized_coordinates"), "q_ind="),
    **dict.fromkeys(("u", "speeds", "generalized_speeds"), "u_ind="),
    **dict.fromkeys(("kdes", "kinematics", "kinematical_equations", "kde"), "kd_eqs="),
    **dict.fromkeys(("q_dep", "dependent_coordinates"), "q_dependent="),
    **dict.fromkeys(("u_dep", "dependent_speeds"), "u_dependent="),
    **dict.fromkeys(("u_aux", "auxiliary_speeds"), "u_auxiliary="),
    **dict.fromkeys(("constraints",), "holonomic_constraints= or nonholonomic_constraints="),
    **dict.fromkeys(("particles", "rigid_bodies", "body", "bodylist"), "bodies="),
    **dict.fromkeys(("inertial_frame", "ground"), "frame="),
    **dict.fromkeys(("values", "constants"), "compile(model, parameters={...})"),
    **dict.fromkeys(("x0", "initial"), "guess="),
    **dict.fromkeys(("energy", "potential", "potential_energy"), "potentials="),
}
"""Arguments by the names that other packages have for them."""


def _names() -> list[str]:
    """Names of the arguments of `kanecore.Model`, in its order."""
    return [each.name for each in fields(Arguments) if each.name not in ("lagrangian", "dissipation")]


def no_such_argument(name: str) -> TypeError:
    """Error for an argument that `kanecore.Model` does not have, with the most similar one."""
    known = _names()
    near = [f"{argument}=" for argument in get_close_matches(name, known, 1)]
    instead = _INSTEAD.get(name) or (near[0] if near else None)
    hint = f"write {instead}" if instead else f"there are {', '.join(known)}"
    return TypeError(f"Model has no argument {name!r}: {hint}")


def expect(item: Any, kind: type, argument: str, kind_name: str) -> None:
    """Raise ModelError if an item is not of a kind, which is called ``kind_name``."""
    if not isinstance(item, kind):
        raise ModelError(f"{argument} is {item!r}, which is no {kind_name}")
