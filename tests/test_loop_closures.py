# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.describe.robots.loop_closures: hinges, sliders and cylinders, beside trees and known mechanisms."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_urdf_file import compiled, four_bar

import kanecore as kc

INERTIAL = """<inertial><origin xyz="0.3 0.1 0"/><mass value="2"/>
<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0" iyz="0"/></inertial>"""


def link(name: str) -> str:
    return f'<link name="{name}">{INERTIAL}</link>\n'


def joint(name: str, parent: str, child: str, kind: str = "continuous", place: str = "", axis: str = "0 0 1") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin {place}/>'
        f'<axis xyz="{axis}"/></joint>\n'
    )


SEAT, MOUNT = 'xyz="0.4 -0.2 0.5" rpy="0.3 0.8 -0.4"', 'xyz="0.1 0.2 -0.3" rpy="-0.5 0.2 0.7"'
CARRIER = '<robot name="r"><link name="g"/>' + link("a") + joint("j", "g", "a", axis="0 1 0")
CARRIER += '<link name="seat"/>' + joint("s", "a", "seat", "fixed", SEAT)
JOINTS = {
    "hinge": joint("k", "seat", "m", axis="3 0 4"),
    "slider": joint("k", "seat", "m", "prismatic", axis="3 0 4"),
    "cylinder": joint("l", "seat", "n", "prismatic", axis="3 0 4")
    + '<link name="n"/>'
    + joint("k", "n", "m", axis="3 0 4"),
}
N_ROWS = {"hinge": 5, "slider": 5, "cylinder": 4}
LOOP_JOINTS = {"hinge": "revolute", "slider": "prismatic", "cylinder": "cylindrical"}


@pytest.mark.parametrize(("kind", "by_element"), [("hinge", False), ("slider", True), ("cylinder", True)])
def test_a_body_that_floats_moves_as_by_the_joint(kind: str, by_element: bool) -> None:
    """On a link that moves: accelerations of the body, and the reaction of the joint that carries both."""
    end = joint("f", "b", "m", "fixed", MOUNT)
    text = CARRIER + link("b") + '<link name="m"/>' + joint("k", "g", "b", "floating") + end
    loops = [("seat", "m", kind, (3, 0, 4))]
    if by_element:
        text += f"""<loop_joint name="loop" type="{LOOP_JOINTS[kind]}"><link1 link="a" {SEAT}/><link2 link="b" {MOUNT}/>
            <axis xyz="3 0 4"/></loop_joint>"""
        loops = []
    dyn = compiled(kc.Model.from_urdf(text + "</robot>", loops=loops))
    assert len(dyn.constraint_names) == N_ROWS[kind]
    tree = CARRIER + JOINTS[kind] + '<link name="m"/>'  # the body's own frame is a link that is fixed on the mount
    roll, pitch, yaw = (-0.5, 0.2, 0.7)
    turn = _roll_pitch_yaw(roll, pitch, yaw)
    back = -turn.T @ [0.1, 0.2, -0.3]
    inverse = f'xyz="{back[0]} {back[1]} {back[2]}" rpy="{" ".join(map(str, _angles(turn.T)))}"'
    joined = compiled(kc.Model.from_urdf(tree + link("b") + joint("f", "m", "b", "fixed", inverse) + "</robot>"))
    rng = np.random.default_rng(3)
    own = rng.uniform(-1, 1, joined.n_x)
    e = _quaternion(joined.orientations(0.0, own, named=True)["b"])
    axes = joined.orientations(0.0, own, named=True)["b"]
    start = dict(zip(("q_k_x", "q_k_y", "q_k_z"), joined.position("b", 0.0, own), strict=True))
    start |= {f"q_k_e{i}": x for i, x in enumerate(e)} | {"q_j": own[0], "u_j": own[joined.n_q]}
    start |= dict(zip(("u_k_x", "u_k_y", "u_k_z"), axes.T @ joined.velocities(0.0, own, named=True)["b"], strict=True))
    turning = axes.T @ joined.angular_velocities(0.0, own, named=True)["b"]
    start |= dict(zip(("u_k_rx", "u_k_ry", "u_k_rz"), turning, strict=True))
    x = dyn.state(start)
    assert np.max(np.abs(dyn.configuration_residual(0.0, x))) < 1e-13
    assert_allclose(dyn.constraint_jacobian(0.0, x) @ x[dyn.n_q :], 0.0, atol=1e-12)
    r = {"tau_j": 3.0}
    udot, expected = dyn.udot(0.0, x, r=r), joined.udot(0.0, own, r=r)
    for name in ("accelerations", "angular_accelerations"):
        found = getattr(dyn, name)(0.0, x, udot, named=True)["b"]
        assert_allclose(found, getattr(joined, name)(0.0, own, expected, named=True)["b"], rtol=0, atol=1e-9)
    whole, parts = (m.reactions(0.0, s, r=r, named=True) for m, s in ((joined, own), (dyn, x)))
    assert_allclose(parts["j"], whole["j"], rtol=0, atol=1e-8)


def _roll_pitch_yaw(roll: float, pitch: float, yaw: float) -> np.ndarray:
    def about(k: int, angle: float) -> np.ndarray:
        i, j, turned = (k + 1) % 3, (k + 2) % 3, np.eye(3)
        turned[[i, j], [i, j]] = np.cos(angle)
        turned[i, j], turned[j, i] = -np.sin(angle), np.sin(angle)
        return turned

    return about(2, yaw) @ about(1, pitch) @ about(0, roll)


def _angles(turn: np.ndarray) -> tuple[float, float, float]:
    return (
        float(np.arctan2(turn[2, 1], turn[2, 2])),
        float(np.arcsin(-turn[2, 0])),
        float(np.arctan2(turn[1, 0], turn[0, 0])),
    )


def _quaternion(turn: np.ndarray) -> np.ndarray:
    w = 0.5 * np.sqrt(1.0 + np.trace(turn))
    x, y, z = (turn[j, i] - turn[i, j] for i, j in ((1, 2), (2, 0), (0, 1)))
    return np.array([w, x / (4 * w), y / (4 * w), z / (4 * w)])


def test_the_linkage_of_bennett() -> None:
    """Of four hinges in space, with tan(θ₁/2) tan(θ₂/2) constant; of the five rows of the loop two are independent.

    Hunt, Kinematic Geometry of Mechanisms, 1978, section 7.16.
    """
    a, b, alpha = 0.7, 1.1, 0.6
    beta = np.arcsin(b * np.sin(alpha) / a)
    sides = [f'xyz="{length} 0 0" rpy="{twist} 0 0"' for length, twist in ((a, alpha), (b, beta))]
    text = '<robot name="bennett"><link name="g"/><link name="heel"/><link name="end"/>' + "".join(map(link, "klm"))
    text += joint("1", "g", "k") + joint("2", "k", "l", place=sides[0]) + joint("3", "l", "m", place=sides[1])
    text += joint("t", "m", "end", "fixed", sides[0])
    text += joint("h", "g", "heel", "fixed", f'xyz="{-b} 0 0" rpy="{-beta} 0 0"') + "</robot>"
    dyn = compiled(kc.Model.from_urdf(text, loops=[("heel", "end", "hinge", (0, 0, 1))]))
    assert len(dyn.constraint_names) == 5
    product = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    x = dyn.consistent(0.0, {"q_1": 0.8, "q_2": 2.9, "q_3": -0.8, "u_1": 1.0}, None)
    assert dyn.check(x).rank == 2
    sol = dyn.simulate((0.0, 1.0), x)
    assert np.ptp(sol["q_1"]) > 1.0
    assert_allclose(np.tan(sol["q_1"] / 2) * np.tan(sol["q_2"] / 2), product, rtol=1e-8)
    assert_allclose(sol["q_1"] + sol["q_3"], 0.0, atol=1e-9)


def test_a_four_bar_in_space_is_the_one_in_the_plane() -> None:
    text = four_bar(1.2, 1.1)
    plane, space = (
        compiled(kc.Model.from_urdf(text, loops=[loop]))
        for loop in (("pin", "end", "point"), ("pin", "end", "hinge", (0, 1, 0)))
    )
    x = plane.consistent(0.0, {"q_a": -1.2, "q_b": 1.0, "q_c": -1.0, "u_a": 1.0}, None)
    assert space.check(x).rank == 2
    r = [1.0, -2.0, 0.5]
    assert_allclose(space.udot(0.0, x, r=r), plane.udot(0.0, x, r=r), rtol=1e-11)


def test_a_slider_crank() -> None:
    """The block at the end of the rod: x = r cos θ + √(l² − r² sin² θ)."""
    text = '<robot name="engine"><link name="g"/>' + "".join(map(link, ("crank", "rod", "block")))
    text += joint("a", "g", "crank") + joint("b", "crank", "rod", place='xyz="0.5 0 0"')
    text += joint("c", "rod", "block", place='xyz="1.3 0 0"') + "</robot>"
    dyn = compiled(kc.Model.from_urdf(text, loops=[("g", "block", "slider", (1, 0, 0))]))
    x = dyn.consistent(0.0, {"q_a": 0.9, "q_b": -1.2, "q_c": 0.3, "u_a": 1.0}, None)
    assert dyn.check(x).rank == 2
    sol = dyn.simulate((0.0, 1.0), x)
    expected = 0.5 * np.cos(sol["q_a"]) + np.sqrt(1.3**2 - (0.5 * np.sin(sol["q_a"])) ** 2)
    places = dyn.positions(sol.t, sol.x, named=True)["block"]
    assert_allclose(places, np.stack([expected, 0 * expected, 0 * expected], axis=-1), rtol=0, atol=1e-8)


def test_axes_of_two_links() -> None:
    """One axis in each link, where their frames are turned."""
    text = '<robot name="r"><link name="g"/>' + link("b") + joint("k", "g", "b", "floating") + "</robot>"
    dyn = compiled(kc.Model.from_urdf(text, loops=[("g", "b", "hinge", (0, 0, 2), (1, 0, 0))]))
    turned = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])  # x of the body is z of the ground
    x = dyn.state({f"q_k_e{i}": value for i, value in enumerate(_quaternion(turned))})
    assert_allclose(dyn.configuration_residual(0.0, x), 0.0, atol=1e-14)
    assert_allclose(dyn.orientations(0.0, x, named=True)["b"] @ [1, 0, 0], [0, 0, 1], atol=1e-14)


@pytest.mark.parametrize(
    ("loop", "says"),
    [
        (("g", "b", "hinge"), r"loops\[0\] is .*; it must be .*\(link, link, \"hinge\", axis\)"),
        (("g", "b", "point", (0, 0, 1)), "it must be"),
        (("g", "b", "screw", (0, 0, 1)), "it must be"),
        (("g", "b", "hinge", (0, 0, 0)), "the axis of a hinge is three finite numbers, not all zero"),
        (("g", "b", "slider", "z"), "the axis of a slider is three finite numbers"),
        (("g", "b", "hinge", (0, 0, 1), (0, 1, 0), (1, 0, 0)), "it must be"),
        (("b", (0, 0, 1), "hinge", (0, 0, 1)), "a link comes with another one, or with three finite numbers and"),
        (("g", "g", "hinge", (0, 0, 1)), "hinge of g and g: both links move with 'g'"),
        (("g", "c", "hinge", (0, 0, 1)), "no link is called 'c'"),
    ],
)
def test_loops_that_are_none(loop: tuple[object, ...], says: str) -> None:
    text = '<robot name="r"><link name="g"/>' + link("b") + joint("k", "g", "b", "floating") + "</robot>"
    with pytest.raises(kc.ModelError, match=says):
        kc.Model.from_urdf(text, loops=[loop])  # type: ignore[list-item]


@pytest.mark.parametrize("loop", [("tip", (1.5, 0, 0.2), "point"), ("g", "tip", "hinge", (0, 1, 0))])
def test_reactions_where_the_first_joint_stands_in_the_origin(loop: tuple[Any, ...]) -> None:
    """A loop to the ground loads no body there: reactions are those of the chain, pushed by the multipliers."""
    text = '<robot name="chain"><link name="g"/><link name="tip"/>' + "".join(map(link, "abc"))
    for name, parent, child, x in (("1", "g", "a", 0), ("2", "a", "b", 1), ("3", "b", "c", 1)):
        text += joint(name, parent, child, place=f'xyz="{x} 0 0"', axis="0 1 0")
    text += joint("t", "c", "tip", "fixed", 'xyz="1 0 0"') + "</robot>"
    dyn = compiled(kc.Model.from_urdf(text, loops=[loop]))
    pushed = compiled(kc.Model.from_urdf(text, forces=["tip"], torques=["tip"]))
    x = dyn.consistent(0.0, {"q_1": -1.2, "q_2": 1.9, "q_3": 1.9, "u_1": 1.0}, None)
    axes = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]] if "hinge" in loop else np.eye(3))
    parts = np.array([*dyn.multipliers(0.0, x), 0.0, 0.0, 0.0])[:6]
    r = [0.0, 0.0, 0.0, *(axes @ parts[:3]), *(axes @ parts[3:])]
    assert np.max(np.abs(r)) > 1.0
    assert_allclose(dyn.reactions(0.0, x), pushed.reactions(0.0, x, r=r), rtol=0, atol=1e-8)
