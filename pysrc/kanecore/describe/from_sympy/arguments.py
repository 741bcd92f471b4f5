# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of `kanecore.Model`, each brought into one form: lists are lists, constraints have names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from sympy import MatrixBase

from kanecore.errors import ModelError

__all__ = ["Arguments", "expect", "listed", "no_such_argument", "numbered"]

_LISTS = (
    *("q_ind", "q_dependent", "u_ind", "u_dependent", "u_auxiliary", "reactions", "kd_eqs"),
    *("bodies", "forcelist", "potentials", "points", "frames"),
)
_DICTS = {
    "outputs": "names and expressions",
    "feedback": "inputs and expressions",
    "joints": "names and (parent, child, point)",
    "guess": "coordinates or speeds and numbers",
    "shapes": "bodies and shapes, such as kanecore.shapes.Disc(r)",
    "attach": "rows and (child, child_point, parent, parent_point, vector)",
    "functions": "undefined functions and kc.Spline(x, y) or kc.CFunction",
}
_KINDS = {"velocity": "nonholonomic", "configuration": "holonomic", "acceleration": None}
_INSTEAD_OF_DICT = {
    "kd_eqs": " of expressions that vanish, such as [q1.diff() - u1]",
    "parameters": " of symbols; their values go to compile(model, parameters={...})",
    "inputs": " of functions of time; their values go to dyn.inputs, or to simulate(inputs=...)",
}


@dataclass(frozen=True)
class Arguments:
    """The arguments of `kanecore.Model`, by their names there, where each is explained.

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
    lagrangian : expression or None
        Lagrangian in place of bodies.
    dissipation : expression or None
        Function of the forces −∂R/∂q̇ beside it.
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
    states: Any = None
    needs_bodies: bool = True
    origin: Any = None
    lagrangian: Any = None
    dissipation: Any = None

    @classmethod
    def of(cls, **given: Any) -> Arguments:
        """The arguments as the user gave them, by name; others are None."""
        given = defaultdict(lambda: None, given)
        if given["kd_eqs"] is None:
            raise ModelError(
                "kd_eqs is missing: give one kinematical equation for each coordinate, such as [q1.diff() - u1]"
            )
        for argument, what in _DICTS.items():
            if given[argument] is not None and not isinstance(given[argument], Mapping):
                raise ModelError(f"{argument} must be a dict of {what}, not {given[argument]!r}")
        lists: dict[str, Any] = {argument: listed(given[argument], argument) for argument in _LISTS}
        dicts: dict[str, Any] = {argument: dict(given[argument] or {}) for argument in _DICTS}
        return cls(
            name="model" if given["name"] is None else str(given["name"]),
            frame=given["frame"],
            **lists,
            needs_bodies=given["lagrangian"] is None and (given["bodies"] is None or bool(lists["bodies"])),
            constraints={kind: _named(given, kind, other) for kind, other in _KINDS.items()},
            parameters=None if given["parameters"] is None else listed(given["parameters"], "parameters"),
            inputs=None if given["inputs"] is None else listed(given["inputs"], "inputs"),
            **dicts,
            unit=_groups_of_four(given["unit"]),
            states=given["states"],
            origin=given["origin"],
            lagrangian=given["lagrangian"],
            dissipation=given["dissipation"],
        )


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


def _named(given: Mapping[str, Any], kind: str, other_kind: str | None) -> dict[str, Any]:
    """Constraints by name: the names of a dict, else a number and the user's name of the kind."""
    argument, other = f"{kind}_constraints", f"{other_kind}_constraints"
    items, other_items = given[argument], given.get(other)
    if items is not None and other_items is not None:
        raise TypeError(f"{argument} and {other} are two names of one argument: give one of them")
    if other_items is not None:
        argument, items = other, other_items
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


def no_such_argument(name: str, known: Collection[str]) -> TypeError:
    """Error for an argument that `kanecore.Model` does not have, with the most similar one."""
    near = [f"{argument}=" for argument in get_close_matches(name, known, 1)]
    instead = _INSTEAD.get(name) or (near[0] if near else None)
    hint = f"write {instead}" if instead else f"there are {', '.join(known)}"
    return TypeError(f"Model has no argument {name!r}: {hint}")


def expect(item: Any, kind: type, argument: str, what: str) -> None:
    """Raise ModelError if an item is not of a kind, which is called ``what``."""
    if not isinstance(item, kind):
        raise ModelError(f"{argument} is {item!r}, which is no {what}")
