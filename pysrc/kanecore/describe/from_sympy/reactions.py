# SPDX-License-Identifier: BSD-3-Clause
"""Symbols of reactions: multipliers of rows of G, forces and torques of joints."""

from __future__ import annotations

from typing import Any

import sympy as sm
from sympy.physics.vector import ReferenceFrame

from kanecore.errors import ModelError

__all__ = ["INERTIAL_AXES", "Reaction", "multiplier", "reaction", "reaction_of", "row_of"]

INERTIAL_AXES = ReferenceFrame('inertial axes (write kc.reaction("joint", N))')
"""Frame in whose axes reactions are written if no other is named; readers take it for the inertial frame.

Its name is what SymPy's error says of a product with a vector of another frame.
"""

_MULTIPLIER, _REACTION = "multiplier", "reaction of "


def multiplier(row: int | str) -> Any:
    """Multiplier λ of a row of G, for ``outputs`` and ``forcelist`` of a `Model`: the force of a contact.

    Parameters
    ----------
    row : int or str
        Number from 0, in the order of ``dyn.constraint_names``, or one of these names: of M u̇ = f + Gᵀλ.

    Returns
    -------
    sympy expression

    Raises
    ------
    ValueError
        ``row`` is neither the number nor the name of a row.

    Examples
    --------
    ``kc.Model(..., outputs={"normal force": kc.multiplier(0)})``
    """
    if isinstance(row, str) and row:
        return sm.Function(f"{_MULTIPLIER} {row}")(0)
    if isinstance(row, (bool, str)) or not hasattr(row, "__index__") or row < 0:
        raise ValueError(f"multiplier({row!r}): give the number of a row of G, from 0, or its name")
    return sm.Function(_MULTIPLIER)(int(row))


class Reaction:
    """Reaction of a joint, as `reaction` makes it.

    Attributes
    ----------
    force, torque : Vector
        On the child, at the joint point, beyond the loads of ``forcelist``.
    """

    def __init__(self, joint: str, frame: Any) -> None:
        symbols = [sm.Function(f"{_REACTION}{joint}")(i) for i in range(6)]
        axes = (frame.x, frame.y, frame.z)
        self.force = sum((s * a for s, a in zip(symbols[:3], axes, strict=True)), 0 * frame.x)
        self.torque = sum((s * a for s, a in zip(symbols[3:], axes, strict=True)), 0 * frame.x)


def reaction(joint: str, frame: Any = None) -> Reaction:
    """Reaction of a joint, for ``forcelist`` and ``outputs`` of a `Model`.

    Loads that depend on it, such as friction, are found together with u̇.

    Parameters
    ----------
    joint : str
        One of ``dyn.joint_names``.
    frame : ReferenceFrame, optional
        The inertial frame of the model.  It is needed for products with vectors of other frames, as in
        ``kc.reaction("hinge", N).force.dot(A.y)``.

    Returns
    -------
    Reaction
        With ``force`` and ``torque``, vectors in inertial axes, N and N m, as in the kernel ``reactions``.

    Raises
    ------
    ModelError
        An argument is of the wrong kind.

    Examples
    --------
    ``kc.Model(..., outputs={"pin": kc.reaction("hinge").force.magnitude()})``
    """
    if not isinstance(joint, str) or not joint:
        raise ModelError(f"reaction({joint!r}): give the name of a joint, one of dyn.joint_names")
    if frame is not None and not isinstance(frame, ReferenceFrame):
        raise ModelError(f"reaction({joint!r}, {frame!r}): the second argument is the inertial ReferenceFrame")
    return Reaction(joint, INERTIAL_AXES if frame is None else frame)


def row_of(e: Any) -> int | str | None:
    """Row of G of a multiplier; None for other functions."""
    name = e.func.__name__
    if name == _MULTIPLIER and e.args[0].is_Integer and e.args[0] >= 0:
        return int(e.args[0])
    return name[len(_MULTIPLIER) + 1 :] if name.startswith(f"{_MULTIPLIER} ") else None


def reaction_of(e: Any) -> tuple[str, int] | None:
    """Joint and component of a reaction; None for other functions."""
    name = e.func.__name__
    return (name[len(_REACTION) :], int(e.args[0])) if name.startswith(_REACTION) else None
