# SPDX-License-Identifier: BSD-3-Clause
"""Robot: a tree of links and joints in numbers, which readers of robot files fill, with its loops, springs and shapes.

The records know no format.  ``place`` of a record says where it is told, such as "line 12" of the file, and messages
hold it.  A body with several joints is a chain of links without mass, a site a link on a fixed joint.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .rigid_poses import Pose

__all__ = [
    *("CLOSURES", "FREEDOMS", "KINDS", "NUMBERS", "SINGLE", "Closure", "Inertial", "Joint", "LineSpring", "Link"),
    *("LinkPose", "Mimic", "Robot", "Solid"),
]

Array = npt.NDArray[np.float64]

SINGLE = ("revolute", "continuous", "prismatic")
"""Kinds of joints that have one coordinate."""
_TURN = ("rx", "ry", "rz")
_QUATERNION = ("e0", "e1", "e2", "e3")
NUMBERS: dict[str, tuple[str, ...]] = {
    "spherical": (*_QUATERNION, *_TURN),
    "planar": ("x", "y", "r"),
    "floating": ("x", "y", "z", *_QUATERNION, *_TURN),
}
"""Ends of the names of coordinates and speeds, by the kinds of joints that have several."""
FREEDOMS = {**dict.fromkeys(SINGLE, 1), "spherical": 3, "planar": 3, "floating": 6, "fixed": 0}
"""Number of speeds, by kind of joint."""
KINDS = tuple(FREEDOMS)
"""Kinds of joints."""


@dataclass(frozen=True)
class Inertial:
    """The mass of a link, kg, its centre (3,), m, and its central inertia (3, 3), kg m², in the axes of the link."""

    mass: float
    centre: Array
    inertia: Array


@dataclass(frozen=True)
class Solid:
    """A shape, of a picture or for contacts, about its pose in the link.

    Attributes
    ----------
    kind : {"box", "cylinder", "sphere", "capsule", "ellipsoid", "mesh"}
    sizes : tuple of float
        Edges of a box; semi-axes of an ellipsoid; radius, and length along z; of a mesh the scales along its axes.
    pose : Pose
    file : str
        File of a mesh, as it is written.
    """

    kind: str
    sizes: tuple[float, ...]
    pose: Pose
    file: str = ""


@dataclass(frozen=True)
class Link:
    """A link; without ``inertial`` it has no mass.

    Attributes
    ----------
    weighs : bool
        Whether gravity acts on it.
    visuals, collisions : tuple of Solid
        Shapes of pictures, and for contacts.
    """

    name: str
    place: str
    inertial: Inertial | None
    visuals: tuple[Solid, ...] = ()
    collisions: tuple[Solid, ...] = ()
    weighs: bool = True


@dataclass(frozen=True)
class Mimic:
    """Rule of a joint that follows another one: q = multiplier q_joint + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class Joint:
    """A joint, by which the link ``child`` moves on the link ``parent``.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    origin : Pose
        Pose of the child in its parent, at q = 0.
    axis : ndarray, (3,)
        A unit vector, in the axes of the child.
    damping, friction : float
        N m s and N m, or N s/m and N.
    stiffness, rest : float
        A spring holds the joint by stiffness · (rest − q): N m/rad and rad, or N/m and m.
    armature : float
        Inertia of its rotors times the squares of their gear ratios, kg m², or kg.
    driven : bool
        Whether its efforts are inputs; else there are none.
    """

    name: str
    place: str
    kind: str
    parent: str
    child: str
    origin: Pose
    axis: Array
    mimic: Mimic | None = None
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    armature: float = 0.0
    driven: bool = True


CLOSURES = {
    "point": ("xyz", ""),
    "weld": ("xyz", "xyz"),
    "hinge": ("xyz", "xy"),
    "slider": ("xy", "xyz"),
    "cylinder": ("xy", "xy"),
}
"""Kinds of joints that close loops: directions in which the origins agree, and axes about which nothing turns.

A hinge turns about z of its poses, a slider moves along z, a cylinder does both.
"""


LinkPose = tuple[str, Pose]
"""A link, and a pose in its axes."""


@dataclass(frozen=True)
class Closure:
    """A joint that closes a loop, by two poses, which agree but for what the joint lets move.

    Attributes
    ----------
    kind : str
        One of `CLOSURES`.
    """

    name: str
    ends: tuple[LinkPose, LinkPose]
    kind: str


@dataclass(frozen=True)
class LineSpring:
    """A spring and damper on the line between two points: stiffness · (length − rest) + damping · rate pulls."""

    name: str
    ends: tuple[LinkPose, LinkPose]
    stiffness: float
    damping: float
    rest: float


@dataclass(frozen=True)
class Robot:
    """A tree of links.

    Attributes
    ----------
    where : str
        The file, as messages name it.
    root : str
        The link that is no child.
    links : dict of str to Link
    joints : tuple of Joint
        Each joint follows the one that carries its parent; joints of one parent are in the order of the file.
    folder : str, optional
        Folder of the file, to which names of meshes are relative; None for a text.
    n_collisions : int
        Number of shapes for contacts in the file, which are read only where contacts are asked for.
    closures : tuple of Closure
    springs : tuple of LineSpring
    """

    name: str
    where: str
    root: str
    links: dict[str, Link]
    joints: tuple[Joint, ...]
    folder: str | None = None
    n_collisions: int = 0
    closures: tuple[Closure, ...] = ()
    springs: tuple[LineSpring, ...] = ()
