# SPDX-License-Identifier: BSD-3-Clause
"""SymPy's own descriptions of a mechanism as arguments of `kanecore.Model`.

They are KanesMethod, System, LagrangesMethod, or a Lagrangian and its coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy as sm
from sympy.physics.mechanics import JointsMethod, KanesMethod, LagrangesMethod, ReferenceFrame, System

from kanecore.errors import ModelError

from . import method_internals, vector_internals
from .arguments import Arguments, listed, numbered
from .contacts import Contact
from .joint_friction import JointFriction
from .symbols import function_name, functions_of_time

__all__ = ["of_kanes_method", "of_lagrangian", "of_system"]


_READ_BY = {
    KanesMethod: "kc.Model.from_kane(method)",
    LagrangesMethod: "kc.Model.from_lagrangian(method)",
    System: "kc.Model.from_system(system)",
    JointsMethod: "kc.Model.from_kane(method.method), after method.form_eoms()",
}


def _of_another_kind(function: str, kind: type, item: Any) -> TypeError:
    """The error for another object than a function takes; it names the function that reads this object."""
    reads = next((f": write {text}" for each, text in _READ_BY.items() if isinstance(item, each)), "")
    return TypeError(f"{function} takes a sympy.physics.mechanics.{kind.__name__}, not a {type(item).__name__}{reads}")


def of_kanes_method(kanes_method: Any, bodies: Any, forcelist: Any) -> Arguments:
    """Arguments of a KanesMethod; ``bodies`` and ``forcelist`` replace its own, unless they are None."""
    km = kanes_method
    if not isinstance(km, KanesMethod):
        raise _of_another_kind("from_kane", KanesMethod, km)
    constraints: dict[str, Any] = method_internals.constraints(km)
    n_q, n_u = len(km.q) - len(constraints["q_dependent"]), len(km.u) - len(constraints["u_dependent"])
    bodies = km.bodies if bodies is None else bodies
    if not bodies:
        raise ModelError("this KanesMethod knows no bodies yet: pass bodies=[...] to from_kane")
    return Arguments(
        frame=method_internals.inertial_frame(km),
        q_ind=list(km.q)[:n_q],
        u_ind=list(km.u)[:n_u],
        kd_eqs=method_internals.kinematical_equations(km),
        **{argument: items for argument, items in constraints.items() if items},
        bodies=bodies,
        forcelist=km.forcelist if forcelist is None else forcelist,
    )


# Arguments that a System may bring, each with the System's name for it.
_OF_SYSTEM = {
    "frame": "frame",
    "q_ind": "coordinates",
    "u_ind": "speeds",
    "kd_eqs": "kdes",
    "bodies": "bodies",
    "forcelist": "loads",
    "q_dependent": "q_dep",
    "configuration_constraints": "holonomic_constraints",
    "u_dependent": "u_dep",
    "velocity_constraints": "nonholonomic_constraints",
    "u_auxiliary": "u_aux",
}


def of_system(system: Any, options: Mapping[str, Any]) -> Arguments:
    """Arguments of a System, and ``options``, which are the user's further arguments.

    Their ``joints`` replace joints of the same children, and ``forcelist`` may add what a System cannot hold.
    """
    if not isinstance(system, System):
        raise _of_another_kind("from_system", System, system)
    arguments: dict[str, Any] = {
        "frame": system.frame,
        "q_ind": list(system.q_ind),
        "u_ind": list(system.u_ind),
        "kd_eqs": list(system.kdes),
        "bodies": system.bodies or None,
        "forcelist": [*system.loads, *system.actuators],
    }
    constraints: dict[str, Any] = {
        "q_dependent": system.q_dep,
        "configuration_constraints": system.holonomic_constraints,
        "u_dependent": system.u_dep,
        "velocity_constraints": system.velocity_constraints,
        "u_auxiliary": system.u_aux,
    }
    arguments.update((argument, list(items)) for argument, items in constraints.items() if items)
    if system.holonomic_constraints:
        arguments |= _holonomic(system, arguments.get("velocity_constraints", []))
    beyond = listed(options.get("forcelist") or [], "forcelist")
    if beyond and all(isinstance(item, (Contact, JointFriction)) for item in beyond):
        arguments["forcelist"] += beyond
        options = {name: value for name, value in options.items() if name != "forcelist"}
    for argument, other in _OF_SYSTEM.items():
        if argument in arguments and (given := [name for name in (argument, other) if name in options]):
            what = other.replace("_", " ")
            raise TypeError(
                f"from_system takes {given[0]} from the System, which has {what} of its own: add to it there"
            )
    joints = _joints(system, options.get("joints"))
    others = {name: value for name, value in options.items() if name != "joints"}
    return Arguments(**arguments, joints=joints).with_options(others, "from_system")


def _holonomic(system: Any, velocity: list[Any]) -> dict[str, Any]:
    """Constraints by the names that they have in a System, also where it differentiated them itself."""
    configuration = numbered("holonomic_constraints", system.holonomic_constraints)
    rates = [e.diff(vector_internals.time()) for e in configuration.values()]
    others = list(system.nonholonomic_constraints)
    if velocity != [*rates, *others]:
        return {"configuration_constraints": configuration}
    named = {f"rate of {name}": rate for name, rate in zip(configuration, rates, strict=True)}
    named |= numbered("nonholonomic_constraints", others)
    return {"configuration_constraints": configuration, "velocity_constraints": named}


def _joints(system: Any, by_user: Any) -> Any:
    """Joints of a System, each from the ground outwards; the user's joints replace others of the same child."""
    if by_user is not None and not isinstance(by_user, Mapping):
        return by_user  # Model raises the error
    replaced = [joint[1] for joint in (by_user or {}).values() if isinstance(joint, Sequence) and len(joint) == 3]
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
    return {j.name: result[j.name] for j in system.joints if j.name in result} | dict(by_user or {})


def of_lagrangian(lagrangian: Any, q: Any, others: Arguments) -> Arguments:
    """Arguments from L or a LagrangesMethod, its coordinates, and the other ones of `kanecore.Model.from_lagrangian`.

    The speeds are the derivatives of the coordinates: ``theta_d`` of ``theta``.
    """
    if isinstance(lagrangian, LagrangesMethod):
        own = {name: value for name, value in method_internals.lagrangian(lagrangian).items() if value}
        twice = sorted(name for name in own if (q if name == "q" else getattr(others, name, None)) is not None)
        if twice:
            raise TypeError(f"from_lagrangian takes {', '.join(twice)} from the LagrangesMethod: leave it out")
        lagrangian, q = own.pop("L"), own.pop("q")
        others = replace(others, **own)
    if lagrangian is None:
        raise ModelError("L is None: write an expression in coordinates and their derivatives, such as T - U")
    coordinates = functions_of_time(listed(q, "q"), "q")
    if not coordinates:
        raise ModelError("q is empty: list the coordinates of the Lagrangian")
    names = [function_name(x) for x in coordinates]
    for name in names:
        if f"{name}_d" in names:
            raise ModelError(f"q holds {name}_d, which is the name of the derivative of {name}: rename the coordinate")
    t = vector_internals.time()
    speeds = [sm.Function(f"{name}_d")(t) for name in names]
    if others.frame is None:
        _need_no_frame(others)
    return replace(
        others,
        lagrangian=lagrangian,
        frame=ReferenceFrame("N") if others.frame is None else others.frame,
        q_ind=coordinates,
        u_ind=speeds,
        kd_eqs=[x.diff(t) - u for x, u in zip(coordinates, speeds, strict=True)],
    )


def _need_no_frame(arguments: Arguments) -> None:
    """Raise ModelError if loads, points or frames are given without an inertial frame; L alone needs none."""
    placed = [name for name in ("forcelist", "points", "frames") if getattr(arguments, name)]
    if placed:
        raise ModelError(
            f"{' and '.join(placed)} given, and no frame: velocities are measured in the inertial ReferenceFrame, "
            "so write frame=N"
        )
