# SPDX-License-Identifier: BSD-3-Clause
"""Makers of loads: laws of force whose loads are formed on the graph, from the kinematics of the whole model.

``NODES`` of each are its numbers and expressions, by their names in the user's object and in the description.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kanecore.graph.expression_graph import Data
from kanecore.graph.vectors import Components

__all__ = ["Contact", "JointFriction", "Surface"]


@dataclass(frozen=True)
class Surface:
    """A surface that spheres and points press on.

    Attributes
    ----------
    kind : {"plane", "height field", "sphere"}
    point : int
        A point of the plane, the centre of the sphere, the origin of the height field; −1: the one that positions are
        measured from.
    frame : int
        Frame in whose axes ``axes`` and ``velocity`` are written.
    axes : tuple of Components
        The normal of a plane; of a height field the directions of its arguments, then the one in which it rises.
    velocity : Components
        Velocity of the material in addition to that of its body, as of a belt.
    radius : int
        Of the sphere.
    height : Data or None
        Function of the height field.
    """

    kind: str
    point: int
    frame: int = 0
    axes: tuple[Components, ...] = ()
    velocity: Components = (0, 0, 0)
    radius: int = 0
    height: Data | None = None


@dataclass(frozen=True)
class Contact:
    """A compliant contact; `kanecore.derive.forces.contact_forces` makes loads and outputs of it before all else.

    Attributes
    ----------
    name : str
        Its outputs begin with it.
    point : int
        Centre of the sphere, or the point, that presses on the surface.
    radius : int
    surface : Surface
    stiffness, exponent, dissipation : int
        Nodes of k, n and d in k δⁿ (1 + d δ̇).
    mu, transition_velocity : int
        Friction; μ = 0: none.
    smooth : int
        Length over which the force sets in; 0: at once.
    bristle_stiffness, bristle_damping, mu_static, stribeck_velocity : int
        Friction of bristles, whose deflections are states; ``bristle_stiffness`` 0: none, friction has no state.
        ``stribeck_velocity`` 0: it is μ whatever the velocity.
    number : int or None
        Its place in the user's list of loads; None: the next.
    """

    name: str
    point: int
    radius: int
    surface: Surface
    stiffness: int
    exponent: int
    dissipation: int = 0
    mu: int = 0
    transition_velocity: int = 0
    smooth: int = 0
    bristle_stiffness: int = 0
    bristle_damping: int = 0
    mu_static: int = 0
    stribeck_velocity: int = 0
    number: int | None = None

    NODES: ClassVar = (
        *("radius", "stiffness", "exponent", "dissipation", "mu", "transition_velocity", "smooth"),
        *("bristle_stiffness", "bristle_damping", "mu_static", "stribeck_velocity"),
    )


@dataclass(frozen=True)
class JointFriction:
    """Friction of a joint by its reaction, of which `kanecore.derive.forces.friction_torques` makes loads.

    Attributes
    ----------
    joint : str
    mu, pin_radius, friction_arm, bending_arm, preload, transition_velocity : int
        Nodes; ``bending_arm`` 0: moments across the axis do not rub.
    bristle_stiffness, bristle_damping : int
        Friction of bristles, whose deflection is a state; 0: friction turns over ``transition_velocity``.
    number : int or None
        Its place in the user's list of loads; None: the next.
    """

    joint: str
    mu: int
    pin_radius: int
    friction_arm: int
    bending_arm: int
    preload: int
    transition_velocity: int
    bristle_stiffness: int = 0
    bristle_damping: int = 0
    number: int | None = None

    NODES: ClassVar = (
        *("mu", "pin_radius", "friction_arm", "bending_arm", "preload", "transition_velocity"),
        *("bristle_stiffness", "bristle_damping"),
    )
