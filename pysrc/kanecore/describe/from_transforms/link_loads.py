# SPDX-License-Identifier: BSD-3-Clause
"""Loads on links: their weight, the efforts of actuators at their joints, and what the user adds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sm
import sympy.physics.mechanics as me

from kanecore.describe.from_sympy.symbols import function_name
from kanecore.errors import ModelError

from .homogeneous_transforms import Plain, column, functions_in, skew
from .link_motion import Motion, along

__all__ = ["LinkLoad", "loads_of"]

Loads = list[tuple[Any, Any]]


@dataclass(frozen=True)
class LinkLoad:
    """A force at a point of a link, a torque on it, or both, for `Model.from_transforms`.

    Parameters
    ----------
    link : str
    force, torque : (x, y, z)
        N, N m.
    at : (x, y, z), optional
        Where the force acts, in the link's axes, m.  Default: the mass centre.
    inertial : bool
        The components of force and torque are along inertial axes.  Default: along the link's own.
    """

    link: str
    force: Any = (0, 0, 0)
    torque: Any = (0, 0, 0)
    at: Any = None
    inertial: bool = False


def loads_of(
    motions: Mapping[str, Motion], q: Sequence[Any], gravity: Any, efforts: Any, forcelist: Any
) -> tuple[Loads, list[Any]]:
    """SymPy's loads, and the inputs that are efforts."""
    weight = column(gravity, "gravity")
    result: Loads = []
    for motion in motions.values():
        if any(weight) and not sm.sympify(motion.step.link.mass).is_zero:
            result.append((motion.centre, along(motion.step.link.mass * weight, motion.ground)))
    inputs = []
    for x, effort in _efforts(q, efforts).items():
        inputs.append(effort)
        result += _actuator(motions, x, effort)
    for load in [forcelist] if isinstance(forcelist, LinkLoad) else forcelist or ():
        result += _of_link(motions, load)
    return result, [x for x in inputs if x in functions_in([x])]


def _efforts(q: Sequence[Any], efforts: Any) -> dict[Any, Any]:
    """Efforts by coordinate; without an expression, the input ``tau_<q>``."""
    if efforts is None:
        return {}
    given = efforts if isinstance(efforts, Iterable) else [efforts]
    for x in given:
        if x not in q:
            raise ModelError(
                f"efforts holds {x}, which is no coordinate of the links: they are {', '.join(map(str, q))}"
            )
    if isinstance(efforts, Mapping):
        return {x: sm.sympify(effort) for x, effort in efforts.items()}
    return {x: me.dynamicsymbols(f"tau_{function_name(x)}") for x in given}


def _actuator(motions: Mapping[str, Motion], x: Any, effort: Any) -> Loads:
    """Loads on a link and on the one before it, opposite to each other, with the power effort times ẋ.

    If the link turns by x, they are torques; else a force at the mass centre, and on the link before it the equivalent
    of the opposite force there.
    """
    moved = [m for m in motions.values() if x in m.step.functions]
    if len(moved) != 1:
        names = ", ".join(m.step.link.name for m in moved)
        raise ModelError(
            f"{function_name(x)} moves several links ({names}), so that its effort has no place of its own: give it "
            "by forcelist"
        )
    (motion,) = moved
    step, parent = motion.step, motion.parent
    if x in step.angular.columns:
        torque = along(_dual(motion, x, step.angular.columns) * effort, motion.frame)
        return [(motion.frame, torque), *([(parent.frame, -torque)] if parent else [])]
    relative = step.origin + step.angular.through(-skew(step.centre)) + step.slide
    force = _dual(motion, x, relative.columns) * effort
    result = [(motion.centre, along(force, motion.frame))]
    if parent:
        arm = step.displacement + step.rotation * step.centre - parent.step.centre
        turning = skew(arm) * step.rotation * force
        result += [(parent.centre, -along(force, motion.frame)), (parent.frame, -along(turning, parent.frame))]
    return result


def _dual(motion: Motion, x: Any, columns: Mapping[Any, sm.Matrix]) -> sm.Matrix:
    """Dual vector of the velocity by x: its product with that velocity is 1, and with all others zero."""
    if x not in columns:
        raise ModelError(
            f"{function_name(x)} moves no mass centre and turns nothing, so that its effort does no work: leave it out"
        )
    axis = columns[x]
    plain = Plain(functions_in(e for each in columns.values() for e in each))
    for y, other in columns.items():
        if y != x and plain.shortest(axis.dot(other)) != 0:
            raise ModelError(
                f"the effort of {function_name(x)}: link {motion.step.link.name} moves by {function_name(y)} as well, "
                "in a direction that is not perpendicular: give each of them a link of its own"
            )
    return axis / plain.shortest(axis.dot(axis))


def _of_link(motions: Mapping[str, Motion], load: Any) -> Loads:
    if not isinstance(load, LinkLoad):
        raise ModelError(
            f"forcelist holds {load!r}: write kc.transforms.LinkLoad(link, force=(x, y, z), torque=(x, y, z))"
        )
    if load.link not in motions:
        raise ModelError(f"forcelist holds a load on {load.link!r}: the links are {', '.join(motions)}")
    motion = motions[load.link]
    what = f"of the load on link {load.link}"
    axes = motion.ground if load.inertial else motion.frame
    force, torque = column(load.force, f"the force {what}"), column(load.torque, f"the torque {what}")
    point = motion.centre if load.at is None else motion.material_point(column(load.at, f"the point {what}"))
    return [(point, along(force, axes))] * any(force) + [(motion.frame, along(torque, axes))] * any(torque)
