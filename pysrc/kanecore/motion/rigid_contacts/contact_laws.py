# SPDX-License-Identifier: BSD-3-Clause
"""Laws of rigid contacts, as users write them: points, planes, friction, restitution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import unknown_name
from kanecore.run.call_arguments import real_array
from kanecore.tolerances import EQUAL

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["Contact", "read_contacts", "require_laws", "restitution"]

Array = npt.NDArray[np.float64]

_LAWS = ("point", "mu", "mu_static", "e", "origin", "normal", "along", "frame", "gap", "rate", "holds")


@dataclass(frozen=True)
class Contact:
    """A point over a plane.

    Attributes
    ----------
    name, point : str
    axes : ndarray, (2 or 3, 3)
        Unit vectors out of the plane and along it, in axes of the frame.
    origin : ndarray, (3,)
        A point of a plane at rest, in inertial axes.
    base, frame : str or None
        A point of the model on the plane, and the frame in which the plane is fixed.
    mu, mu_static, e : float
    gap : expression, str, or None
        What is not negative, in place of a point.
    is_rate : bool
        Whether the gap is a velocity.
    holds : bool
        Whether the contact stays as it is once it has closed, and pulls as well.
    constraint : str or None
        A constraint of the model, in place of a point.
    watched : bool
        Whether it closes where its gap falls to zero.
    """

    name: str
    point: str
    axes: Array
    origin: Array
    base: str | None
    frame: str | None
    mu: float
    mu_static: float
    e: float
    gap: Any = None
    is_rate: bool = False
    holds: bool = False
    constraint: str | None = None
    watched: bool = True


def read_contacts(dyn: Evaluator, contacts: Any, common: Mapping[str, Any]) -> list[Contact]:
    """The contacts of `Modes`; ``common`` has the laws of contacts that have no own ones."""
    named = {contacts: {}} if isinstance(contacts, str) else contacts
    named = named if isinstance(named, Mapping) else {name: {} for name in named}
    found = [_contact(dyn, name, law, common) for name, law in named.items()]
    if len({len(contact.axes) for contact in found if contact.gap is None}) > 1:
        raise ValueError("along is one direction for all contacts, in a plane motion, or two for all, in space")
    return found


def _contact(dyn: Evaluator, name: str, law: Any, common: Mapping[str, Any]) -> Contact:
    require_laws("contact", name, law, _LAWS, "{'mu': 0.3}")
    laws = {**common, **law}
    if "gap" in law or "rate" in law:
        return _constraint(dyn, name, law, laws["e"])
    point, origin, frame = str(law.get("point", name)), laws["origin"], laws.get("frame")
    base = origin if isinstance(origin, str) else None
    for each in (point, base):
        if each is not None and each not in dyn.points:
            raise unknown_name("point", each, dyn.points)
    if frame is not None and frame not in dyn.frames:
        raise unknown_name("frame", frame, dyn.frames)
    if frame is not None and base is None:
        raise ValueError(
            f"contact {name!r} is with a plane of frame {frame!r}: origin must be a point of the model on it"
        )
    mu = _number(f"mu of {name}", laws["mu"])
    mu_static = _number(f"mu_static of {name}", laws.get("mu_static", mu))
    if mu_static < mu:
        raise ValueError(f"mu_static of {name} is {mu_static:g}, and mu {mu:g}: what sticks must not slip more easily")
    return Contact(
        name,
        point,
        _axes(laws["normal"], laws["along"]),
        np.zeros(3) if base else real_array("origin", origin, (3,), meaning="a point of the ground"),
        base,
        frame,
        mu,
        mu_static,
        0.0 if law.get("holds") else restitution(name, laws["e"]),
        holds=bool(law.get("holds")),
    )


def _constraint(dyn: Evaluator, name: str, law: Mapping[str, Any], e: Any) -> Contact:
    """A constraint that is on while its force pushes, by an expression or an output that is not negative."""
    for key in law:
        if key not in ("gap", "rate", "e", "holds"):
            raise ValueError(
                f"contacts[{name!r}] has a gap or a rate, and {key!r} is for points: leave one of them out"
            )
    if "gap" in law and "rate" in law:
        raise ValueError(f"contacts[{name!r}] has a gap and a rate: give the gap, of which the rate is the derivative")
    gap = law.get("gap", law.get("rate"))
    if isinstance(gap, str) and gap not in dyn.output_names:
        raise unknown_name("output", gap, dyn.output_names)
    axes, holds = np.zeros((1, 3)), bool(law.get("holds"))
    e = 0.0 if holds else restitution(name, e)
    return Contact(name, "", axes, np.zeros(3), None, None, 0.0, 0.0, e, gap, "rate" in law, holds)


def _axes(normal: Any, along: Any) -> Array:
    """Unit vectors out of the ground and along it, (2 or 3, 3); ValueError for other vectors."""
    axes = np.vstack([np.asarray(normal, dtype=float), np.atleast_2d(np.asarray(along, dtype=float))])
    if axes.shape not in ((2, 3), (3, 3)) or np.abs(axes @ axes.T - np.eye(len(axes))).max() > EQUAL:
        raise ValueError(
            "normal and along must be two unit vectors at right angles, such as (0, 1, 0), (1, 0, 0); in space along "
            "holds two, such as ((1, 0, 0), (0, 0, 1))"
        )
    return axes


def require_laws(kind: str, name: str, law: Any, known: Sequence[str], example: str) -> None:
    """Raise TypeError or KeyError unless ``law`` maps known names; ``kind`` is "contact" or "switch"."""
    if not isinstance(law, Mapping):
        plural = {"contact": "contacts", "switch": "switches"}[kind]
        raise TypeError(f"{plural}[{name!r}] is {law!r}; write its law by name, such as {example}")
    for key in law:
        if key not in known:
            raise unknown_name(f"law of {kind} {name!r} is called", key, known)


def restitution(name: str, value: Any) -> float:
    """The coefficient of restitution of a contact; ValueError unless it is a number, not negative."""
    return _number(f"e of {name}", value)


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not number >= 0.0:
        raise ValueError(f"{name} is {value!r}; it must be a number, not negative")
    return number
