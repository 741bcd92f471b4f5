# SPDX-License-Identifier: BSD-3-Clause
"""The mechanisms that are measured, a row each: of the gallery, and built here where their size can be chosen."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import robots
import sympy as sm
import sympy.physics.mechanics as me
from recursions import NONE, STRAIGHT, Body, Robot

import kanecore as kc
from kanecore.gallery import (
    _building_blocks,
    andrews_squeezer,
    arm7,
    cart_pendulum,
    four_bar,
    rolling_disc,
    rrp,
    rrp_redundant,
    tree30,
    whipple_bicycle,
)

SEED = 20
N_STATES = 64
SPREAD = 0.05  # of the states of mechanisms with constraints, about one that satisfies them

Value = Callable[[str, float], Any]  # a parameter's name and number to the scalar that stands for it
_TENSOR = (("xx", "xy", "zx"), ("xy", "yy", "yz"), ("zx", "yz", "zz"))


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A mechanism for us, and for those who describe it in other ways.

    ``describe()`` makes SymPy objects anew, as keyword arguments of ``kc.Model``; ``model()`` makes the model where
    such arguments do not exist.  ``robot(value)`` describes a tree of joints to packages for robots; ``n_inputs`` of
    its joints, the first ones, have an input; ``to_joints`` are the matrices that map q and u to those of the robot
    where they are not the same.  A free base has its ``quaternion`` there in q.  ``start`` satisfies the constraints.
    ``file`` is where the robot is read from.
    """

    name: str
    parameters: Mapping[str, float]
    describe: Callable[[], dict[str, Any]] | None = None
    model: Callable[[], kc.Model] | None = None
    robot: Callable[[Value], Robot] | None = None
    n_inputs: int = 0
    to_joints: tuple[np.ndarray, np.ndarray] | None = None
    quaternion: slice | None = None
    start: Mapping[str, float] = field(default_factory=dict)
    file: Path | None = None

    def build(self) -> kc.Model:
        """A new model, equal to every other one of this mechanism."""
        return kc.Model(**self.describe()) if self.describe else self.model()

    def symbols(self) -> list[str]:
        """Names of the parameters that are not zero, in the order in which peers take them."""
        return [name for name, number in self.parameters.items() if number]


def of_gallery(module: Any, robot: Callable[[Value], Robot] | None = None, n_inputs: int = 0) -> Mechanism:
    """A mechanism of the gallery, with its own numbers and state."""
    name, start = module.__name__.rpartition(".")[2], getattr(module, "STATE", {})
    return Mechanism(name, module.PARAMETERS, lambda: objects(module), None, robot, n_inputs, start=start)


def objects(module: Any, *arguments: Any) -> dict[str, Any]:
    """Arguments of ``Model`` in a gallery module: with them the peers start from the same SymPy objects as we do."""
    signature = inspect.signature(kc.Model)
    with mock.patch("kanecore.model.Model", lambda *args, **kwargs: signature.bind(*args, **kwargs).arguments):
        return dict(module.build(*arguments))


@cache
def arm() -> Mechanism:
    """The arm with 7 revolute joints; its 78 numbers are symbols."""
    return of_gallery(arm7, lambda value: serial(arm7.LINKS, range(7), value), 7)


@cache
def tree() -> Mechanism:
    """Five arms of six joints each on the ground; g is its only symbol."""
    return of_gallery(tree30, lambda value: serial(*_limbs(), value, constant=True), 30)


@cache
def floating() -> Mechanism:
    """The same arms on a body that is free in space."""
    q, u = [4, 5, 6, 0, 1, 2, 3, *range(7, 37)], [3, 4, 5, 0, 1, 2, *range(6, 36)]
    to_joints = np.eye(37)[q], np.eye(36)[u]
    describe, free = _floating, {"quaternion": slice(0, 4), "to_joints": to_joints}
    return Mechanism("floating tree", {"g": 9.81}, describe, robot=_floating_robot, n_inputs=30, **free)


@cache
def panda() -> Mechanism:
    """An arm with 7 joints and a hand with 2 fingers, from a file."""
    return of_file("panda", "panda")


@cache
def quadruped() -> Mechanism:
    """A robot with 4 legs of 3 joints each, from a file."""
    return of_file("quadruped", "anymal_c", floating=True)


@cache
def humanoid() -> Mechanism:
    """A robot with 29 joints, from a file."""
    return of_file("humanoid", "g1", floating=True)


def of_file(name: str, file: str, floating: bool = False) -> Mechanism:
    """A robot of a URDF file of the gallery, its numbers in the code."""
    path = kc.gallery.robot_file(file)
    robot = robots.of_urdf(path, floating)
    facts = {"n_inputs": len(robot.bodies), "quaternion": slice(3, 7) if floating else None}
    model = partial(kc.Model.from_urdf, path, floating_base=floating, mimic=False)
    return Mechanism(name, {}, model=model, robot=lambda _: robot, file=path, **facts)


@cache
def robot() -> Mechanism:
    """The RRP robot."""
    return of_gallery(rrp, _rrp_robot, 3)


@cache
def redundant() -> Mechanism:
    """The RRP robot in 12 coordinates and 18 speeds."""
    return Mechanism("rrp_redundant", rrp_redundant.PARAMETERS, model=rrp_redundant.build, start=rrp_redundant.STATE)


@cache
def disc() -> Mechanism:
    """The rolling disc."""
    return of_gallery(rolling_disc)


@cache
def bicycle() -> Mechanism:
    """Whipple's bicycle."""
    return of_gallery(whipple_bicycle)


@cache
def linkage() -> Mechanism:
    """The four-bar linkage."""
    return of_gallery(four_bar)


@cache
def squeezer() -> Mechanism:
    """Andrews' squeezing mechanism."""
    return of_gallery(andrews_squeezer)


@cache
def cart(n: int) -> Mechanism:
    """Cart with n links, angles from the horizontal."""
    numbers, relative = _cart_parameters(n), np.eye(n + 1)
    relative[np.arange(2, n + 1), np.arange(1, n)] = -1.0
    describe, as_robot = lambda: objects(cart_pendulum, n), lambda value: _cart_robot(n, value)
    to_joints = relative, relative
    return Mechanism(f"cart {n} absolute", numbers, describe, robot=as_robot, n_inputs=1, to_joints=to_joints)


@cache
def chain(n: int) -> Mechanism:
    """Cart with n links, angles between neighbours: the same mechanism as :func:`cart` in joint rates."""
    numbers = _cart_parameters(n)
    return Mechanism(f"cart {n} relative", numbers, lambda: _chain(n), None, lambda value: _cart_robot(n, value), 1)


def all_of_them() -> list[Mechanism]:
    """A row each."""
    carts = [make(n) for n in (2, 5, 10, 20, 40) for make in (chain, cart)]
    files = [panda(), quadruped(), humanoid()]
    others = [disc(), bicycle(), robot(), redundant(), linkage(), squeezer()]
    return [arm(), *carts, tree(), floating(), *files, *others]


# Descriptions --------------------------------------------------------------------------------------------


def _cart_parameters(n: int) -> dict[str, float]:
    masses = {f"m{i}": 0.5 if i == 0 else 0.01 + 0.09 * i / n for i in range(n + 1)}
    return {"g": 9.81, **{f"l{i}": 1.0 / n for i in range(n)}, **masses}


def _chain(n: int) -> dict[str, Any]:
    q, u = me.dynamicsymbols(f"q0:{n + 1}"), me.dynamicsymbols(f"u0:{n + 1}")
    force, g = me.dynamicsymbols("F"), sm.Symbol("g")
    masses, lengths = sm.symbols(f"m0:{n + 1}"), sm.symbols(f"l0:{n}")

    ground = frame = me.ReferenceFrame("N")
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    joint = origin.locatenew("P0", q[0] * ground.x)
    bodies = [me.Particle("cart", joint, masses[0])]
    for i in range(n):
        link = me.ReferenceFrame(f"B{i}")
        link.orient_axis(frame, frame.z, q[i + 1])
        link.set_ang_vel(frame, u[i + 1] * frame.z)
        joint, frame = joint.locatenew(f"P{i + 1}", lengths[i] * link.x), link
        bodies.append(me.Particle(f"bob{i + 1}", joint, masses[i + 1]))
    loads = [(bodies[0].masscenter, force * ground.x)]
    loads += [(body.masscenter, -body.mass * g * ground.y) for body in bodies]
    return {
        "frame": ground,
        "q_ind": q,
        "u_ind": u,
        "kd_eqs": [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        "bodies": bodies,
        "forcelist": loads,
        "name": f"chain_{n}",
    }


def _limbs() -> tuple[list[_building_blocks.Link], list[int]]:
    """Links of the tree, and the number of the body that carries each, from 1."""
    links, parents = [], []
    for line, moments in zip(tree30.BODIES.strip().splitlines(), tree30.INERTIAS.strip().splitlines(), strict=True):
        parent, axis, *numbers = line.split()
        x, y, z, mass, *centre = map(float, numbers)
        links.append(
            _building_blocks.Link((x, y, z), "x y z", axis, mass, tuple(centre), tuple(map(float, moments.split())))
        )
        parents.append(int(parent))
    return links, parents


BASE_MASS, BASE_INERTIA, BASE_CENTRE = 12.0, (0.21, 0.18, 0.09), (0.01, -0.02, 0.15)


def _floating() -> dict[str, Any]:
    """The base's speeds are its angular velocity and the velocity of its origin, both in its own axes."""
    e, place = me.dynamicsymbols("e0:4"), me.dynamicsymbols("x y z")
    w, v = me.dynamicsymbols("w1:4"), me.dynamicsymbols("v1:4")
    links, parents = _limbs()
    limbs = _building_blocks.tree(links, parents, constant=True)
    ground, base, g = me.ReferenceFrame("E"), limbs.frame, sm.Symbol("g")
    base.orient(ground, "Quaternion", e)
    base.set_ang_vel(ground, _building_blocks.vector(w, base))
    centre_of_world = me.Point("W")
    centre_of_world.set_vel(ground, 0)
    limbs.origin.set_pos(centre_of_world, _building_blocks.vector(place, ground))
    limbs.origin.set_vel(ground, _building_blocks.vector(v, base))
    centre = limbs.origin.locatenew("C0", _building_blocks.vector(BASE_CENTRE, base))
    torso = me.RigidBody("base", centre, base, BASE_MASS, (me.inertia(base, *BASE_INERTIA), centre))
    bodies = [torso, *limbs.bodies]
    torques = [load for load in limbs.loads if isinstance(load[0], me.ReferenceFrame)]
    rooted = [i for i, parent in enumerate(parents) if parent == 0]
    on_base = [(base, -limbs.torques[i] * getattr(limbs.frames[i], links[i].axis)) for i in rooted]
    spin = sm.Matrix([[-e[1], -e[2], -e[3]], [e[0], -e[3], e[2]], [e[3], e[0], -e[1]], [-e[2], e[1], e[0]]])
    rates = [*(spin * sm.Matrix(w) / 2), *limbs.origin.vel(ground).to_matrix(ground)]
    kinematics = [q_i.diff() - rate for q_i, rate in zip([*e, *place], rates, strict=True)]
    return {
        "frame": ground,
        "q_ind": [*e, *place, *limbs.q],
        "u_ind": [*w, *v, *limbs.u],
        "kd_eqs": [*kinematics, *limbs.kd_eqs],
        "bodies": bodies,
        "forcelist": [*torques, *on_base, *((body.masscenter, -body.mass * g * ground.z) for body in bodies)],
        "inputs": limbs.torques,
        "unit": [tuple(e)],
        "name": "floating_tree",
    }


# For packages that know joints ---------------------------------------------------------------------------


def serial(
    links: Sequence[_building_blocks.Link], parents: Sequence[int], value: Value, constant: bool = False
) -> Robot:
    """The robot of a table of the gallery; what is zero there is the float 0, and ``constant`` numbers are floats."""
    name = (lambda _, number: number) if constant else value

    def scalar(symbol: str, number: float) -> Any:
        return name(symbol, float(number)) if number else 0.0

    bodies = []
    for i, (link, parent) in enumerate(zip(links, parents, strict=True), 1):
        numbers = dict(zip(("xx", "yy", "zz", "xy", "yz", "zx"), link.inertia, strict=True))
        columns = [[float(f"{d[:-1]}1") * (d[-1] == a) for a in "xyz"] for d in link.seat.split()]
        bodies.append(
            Body(
                parent - 1,
                True,
                "xyz".index(link.axis),
                [scalar(f"d{i}{a}", x) for a, x in zip("xyz", link.offset, strict=True)],
                [list(row) for row in zip(*columns, strict=True)],
                scalar(f"m{i}", link.mass),
                [scalar(f"c{i}{a}", x) for a, x in zip("xyz", link.centre, strict=True)],
                [[scalar(f"I{i}{a}", numbers[a]) for a in row] for row in _TENSOR],
            )
        )
    return Robot(bodies, [0.0, 0.0, -value("g", 9.81)])


def _floating_robot(value: Value) -> Robot:
    limbs = serial(*_limbs(), value, constant=True)
    return limbs._replace(base=(BASE_MASS, list(BASE_CENTRE), [list(row) for row in np.diag(BASE_INERTIA).tolist()]))


def _cart_robot(n: int, value: Value) -> Robot:
    numbers = _cart_parameters(n)
    zero, p = [0.0] * 3, {name: value(name, number) for name, number in numbers.items()}
    bodies = [Body(-1, False, 0, zero, STRAIGHT, p["m0"], zero, NONE)]
    for i in range(n):
        offset = [p[f"l{i - 1}"], 0.0, 0.0] if i else zero
        bodies.append(Body(i, True, 2, offset, STRAIGHT, p[f"m{i + 1}"], [p[f"l{i}"], 0.0, 0.0], NONE))
    return Robot(bodies, [0.0, -p["g"], 0.0])


def _rrp_robot(value: Value) -> Robot:
    p = {name: value(name, number) for name, number in rrp.PARAMETERS.items()}

    def body(i: int, turns: bool, axis: int, offset: list[Any], centre: list[Any]) -> Body:
        inertia = [[p[f"I{i}{a}"] if a == b else 0.0 for b in "xyz"] for a in "xyz"]
        return Body(i - 2, turns, axis, offset, STRAIGHT, p[f"m{i}"], centre, inertia)

    bodies = [
        body(1, True, 2, [0.0, 0.0, p["h"]], [0.0, 0.0, p["l1g"]]),
        body(2, True, 0, [0.0, 0.0, p["l1"]], [0.0, p["l2g"], 0.0]),
        body(3, False, 1, [0.0, p["l2"], 0.0], [0.0, p["l3g"] - p["l3"], 0.0]),
    ]
    return Robot(bodies, [0.0, 0.0, -p["g"]])


# States --------------------------------------------------------------------------------------------------


def feasible(mechanism: Mechanism, dyn: kc.CompiledModel) -> np.ndarray:
    """The random states of a mechanism, on its constraints, quaternions normalized, (64, n_x)."""
    x = states(dyn.n_x)
    if mechanism.start:
        about = dyn.state(**mechanism.start)
        x = np.array([dyn.consistent(0.0, about + SPREAD * row) for row in x])
    if mechanism.quaternion:
        x[:, mechanism.quaternion] /= np.linalg.norm(x[:, mechanism.quaternion], axis=1, keepdims=True)
    return x


def states(n_x: int) -> np.ndarray:
    """The random states at which everything is compared and timed, (64, n_x)."""
    return np.random.default_rng(SEED).uniform(-1.0, 1.0, (N_STATES, n_x))


def inputs(n_r: int) -> np.ndarray:
    """Values of the inputs, (n_r,)."""
    return np.random.default_rng(SEED + 1).uniform(-1.0, 1.0, n_r)


def residual(mass_matrix: np.ndarray, udot: np.ndarray, forcing: np.ndarray) -> float:
    """‖M u̇ − f‖ / (‖M‖ ‖u̇‖ + ‖f‖), the largest over leading axes."""
    norm = np.linalg.norm
    left = norm(np.einsum("...ij,...j->...i", mass_matrix, udot) - forcing, axis=-1)
    scale = norm(mass_matrix, axis=(-2, -1)) * norm(udot, axis=-1) + norm(forcing, axis=-1)
    return float(np.max(left / scale))
