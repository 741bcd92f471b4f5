# SPDX-License-Identifier: BSD-3-Clause
"""Robots, free bodies and chains of the gallery against other programs, published geometry and closed forms."""

import json
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest
from oracle.compare import read_reference, relative_error
from scipy.spatial.transform import Rotation
from sweep import every, part

import kanecore as kc

Array = npt.NDArray[np.float64]
CASES = Path(__file__).parent / "truth" / "cases"
#: The case of tests/truth/cases that holds the same robot.
ROBOTS = {"iiwa14": "robot_iiwa14", "planar_2r": "robot_2R", "puma560": "robot_puma560", "ur5e": "robot_ur5e"}
STATES = 20


@cache
def compiled(name: str) -> kc.CompiledModel:
    return kc.load(name)


def values(name: str) -> SimpleNamespace:
    """The default parameters, ``p.m``."""
    return SimpleNamespace(**import_module(f"kanecore.gallery.{name}").PARAMETERS)


def random(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).uniform(-1.5, 1.5, shape)


# -------------------------------------------------------------------------------------------------------- serial robots
@pytest.mark.filterwarnings("ignore:no solid body can have")
@pytest.mark.parametrize("name", part(ROBOTS, ["planar_2r", "puma560"]))
def test_robot_agrees_with_pinocchio(name: str) -> None:
    """tests/truth/cases: Pinocchio 4.1, MuJoCo 4.0 (but for the PUMA) and a recursive Newton–Euler code agree."""
    case, dyn = json.loads((CASES / f"{ROBOTS[name]}.json").read_text()), compiled(name)
    off = np.zeros(dyn.n_r)
    for state in case["states"]:
        x, tau = state["q"] + state["qd"], np.array(state["tau"])
        assert relative_error(dyn.mass_matrix(0.0, x), state["M"]) < case["tolerance"]
        assert relative_error(-dyn.forcing(0.0, x, r=off), state["bias"]) < case["tolerance"]
        assert relative_error(dyn.udot(0.0, x, r=tau), state["qdd"]) < case["tolerance"]
        assert relative_error(dyn.inverse_dynamics(0.0, x, state["qdd"], r=off), tau) < case["tolerance"]


@pytest.mark.parametrize(("name", "file"), part([("arm7", "B"), ("tree30", "C")], [("arm7", "B")]))
def test_tree_agrees_with_pinocchio(name: str, file: str) -> None:
    """Pinocchio 4.1.0: crba, rnea and aba of the same bodies, tests/truth/pinocchio."""
    dyn = compiled(name)
    for state in read_reference(f"pinocchio/{file}")["states"]:
        x, tau = state["q"] + state["v"], np.array(state["tau"])
        assert relative_error(dyn.mass_matrix(0.0, x), state["M"]) < 1e-11
        assert relative_error(-dyn.forcing(0.0, x, r=np.zeros(dyn.n_r)), state["nle"]) < 1e-11
        assert relative_error(dyn.udot(0.0, x, r=tau), state["qdd"]) < 1e-9
    if name == "tree30":  # its numbers stand in the equations
        assert dyn.parameter_names == ("g",)


def test_joints_are_those_of_the_robot() -> None:
    """Where several joints meet in one point, each body still hangs on the one that its motor pushes."""
    wrist = import_module("kanecore.gallery.puma560").build().report()
    assert "joint5: body5 at J5 on body4\n  joint6: body6 at J6 on body5" in wrist
    legs = import_module("kanecore.gallery.biped").build().report()
    assert "hip_left: thigh_left at H on torso" in legs
    assert "hip_right: thigh_right at H on torso" in legs


def test_puma_is_computed_with_a_warning() -> None:
    """Corke & Armstrong-Hélouvry 1994: link 3 has an inertia that no solid body can have, and link 1 one moment."""
    module = import_module("kanecore.gallery.puma560")
    with pytest.warns(kc.KanecoreWarning, match="no solid body") as found:
        kc.compile(module.build(), parameters=module.PARAMETERS)
    assert ["body3" in str(warning.message) for warning in found] == [True]


def along_dh(table: list[tuple[float, float, float]], q: Array) -> Array:
    """Origin of the last frame of Denavit and Hartenberg's (d, a, α), by A = Rz(θ) Tz(d) Tx(a) Rx(α)."""
    place = np.zeros(3)
    for (d, a, alpha), theta in zip(reversed(table), reversed(q), strict=True):
        place = Rotation.from_euler("x", alpha).apply(place) + np.array([a, 0, d])
        place = Rotation.from_euler("z", theta).apply(place)
    return place


RIGHT = np.pi / 2
PUMA = [
    *[(0.672, 0, RIGHT), (0, 0.4318, 0), (0.15005, 0.0203, -RIGHT)],
    *[(0.4318, 0, RIGHT), (0, 0, -RIGHT), (0, 0, 0)],
]
IIWA = [
    *[(0.36, 0, -RIGHT), (0, 0, RIGHT), (0.42, 0, RIGHT), (0, 0, -RIGHT)],
    *[(0.4, 0, -RIGHT), (0, 0, RIGHT), (0.126, 0, 0)],
]
UR5E = [
    *[(0.1625, 0, RIGHT), (0, -0.425, 0), (0, -0.3922, 0)],
    *[(0.1333, 0, RIGHT), (0.0997, 0, -RIGHT), (0.0996, 0, 0)],
]


@pytest.mark.filterwarnings("ignore:no solid body can have")
@pytest.mark.parametrize(
    ("name", "table", "turn", "limit"),
    every(3, [("puma560", PUMA, 0.0, 1e-12), ("iiwa14", IIWA, 0.0, 1e-12), ("ur5e", UR5E, -RIGHT, 2e-3)]),
)
def test_tip_against_published_geometry(
    name: str, table: list[tuple[float, float, float]], turn: float, limit: float
) -> None:
    """Denavit–Hartenberg parameters as the makers publish them.

    PUMA: Corke & Armstrong-Hélouvry 1994.  iiwa 14 R820: lengths 360, 420, 400 and 126 mm of KUKA's data sheet.
    UR5e: Universal Robots, "DH Parameters for calculations of kinematics and dynamics", where the base is turned by a
    quarter; the model's lengths are rounded to millimetres.
    """
    dyn = compiled(name)
    for q in random(4, STATES, dyn.n_q):
        found = dyn.outputs(0.0, [*q, *np.zeros(dyn.n_u)], r=np.zeros(dyn.n_r))
        assert np.abs(found - along_dh(table, q + turn * np.eye(dyn.n_q)[0])).max() < limit


# ---------------------------------------------------------------------------------------------------------- free bodies
def attitude(e: Array) -> Rotation:
    """From the body's axes to inertial ones; SciPy writes e0 last."""
    return Rotation.from_quat(np.roll(e, -1, axis=-1))


def tensor(p: SimpleNamespace) -> Array:
    return np.array([[p.Ixx, p.Ixy, p.Izx], [p.Ixy, p.Iyy, p.Iyz], [p.Izx, p.Iyz, p.Izz]])


def euler_parameter_rates(e: Array, w: Array) -> Array:
    """Kane, Likins & Levinson 1983, section 1.13: ė0 = −½ ω·ε, ε̇ = ½ (e0 ω + ε × ω)."""
    return np.array([-w @ e[1:], *(e[0] * w + np.cross(e[1:], w))]) / 2


def posed(seed: int, n: int) -> Array:
    """States (place, unit quaternion, ω, v)."""
    x = random(seed, n, 13)
    x[:, 3:7] /= np.linalg.norm(x[:, 3:7], axis=1, keepdims=True)
    return x


@pytest.fixture
def asymmetric() -> kc.CompiledModel:
    """A free body with all products of inertia."""
    dyn = kc.compile(import_module("kanecore.gallery.free_body").build())
    dyn.parameters.update(g=9.81, m=6.0, Ixx=0.065, Iyy=0.05, Izz=0.04, Ixy=0.004, Iyz=-0.006, Izx=0.003)
    return dyn


def test_free_body_against_newton_and_euler(asymmetric: kc.CompiledModel) -> None:
    """m (v̇ + ω × v) = Rᵀ(F − m g n_z), I ω̇ + ω × I ω = T, ẋ = R v."""
    p = SimpleNamespace(**asymmetric.parameters)
    for x, r in zip(posed(6, STATES), random(7, STATES, 6), strict=True):
        R, w, v = attitude(x[3:7]), x[7:10], x[10:]
        force = R.inv().apply(r[:3] - [0, 0, p.m * p.g])
        turned = np.linalg.solve(tensor(p), r[3:] - np.cross(w, tensor(p) @ w))
        expected = [*R.apply(v), *euler_parameter_rates(x[3:7], w), *turned, *(force / p.m - np.cross(w, v))]
        assert relative_error(asymmetric.rhs(0.0, x, r=r), expected) < 1e-12


# ------------------------------------------------------------------------------------------------------------ quadrotor
def test_quadrotor_against_newton_and_euler() -> None:
    """Mellinger & Kumar 2011, equations (3) and (4), with the rotors at the corners: m v̇ = −m g n_z + ΣF b_z."""
    p, dyn = values("quadrotor"), compiled("quadrotor")
    d, k = p.d, p.k
    mixer = np.array([[-d, -d, d, d], [-d, d, d, -d], [-k, k, -k, k]])  # roll, pitch, yaw of F1 ... F4
    for x, thrusts in zip(posed(9, STATES), random(10, STATES, 4) + 2, strict=True):
        R, w, v = attitude(x[3:7]), x[7:10], x[10:]
        turned = np.linalg.solve(tensor(p), mixer @ thrusts - np.cross(w, tensor(p) @ w))
        pushed = R.apply([0, 0, thrusts.sum() / p.m]) - [0, 0, p.g]
        found = dyn.rhs(0.0, x, r=thrusts)
        assert relative_error(found[:7], [*v, *euler_parameter_rates(x[3:7], w)]) < 1e-13
        assert relative_error(found[7:10], turned) < 1e-12
        assert relative_error(found[10:], pushed) < 1e-13


def test_quadrotor_feels_its_thrust_only() -> None:
    """An accelerometer measures what is not gravity: ΣF/m along b_z, in any attitude and motion."""
    p, dyn = values("quadrotor"), compiled("quadrotor")
    assert dyn.output_names == ("acc_x", "acc_y", "acc_z", "gyro_x", "gyro_y", "gyro_z")
    for x, thrusts in zip(posed(11, STATES), random(12, STATES, 4) + 2, strict=True):
        expected = [0, 0, thrusts.sum() / p.m, *x[7:10]]
        assert relative_error(dyn.outputs(0.0, x, r=thrusts), expected) < 1e-12


# ---------------------------------------------------------------------------------------------------------------- biped
def test_biped_weighs_what_the_person_weighs() -> None:
    """Winter 2009, table 4.1: the fractions of head, arms and trunk, and of two legs, sum to one."""
    p = values("biped")
    total = p.m_torso + 2 * (p.m_thigh + p.m_shank + p.m_foot)
    assert total == pytest.approx(70, rel=1e-14)
    assert p.l_thigh + p.l_shank == pytest.approx((0.530 - 0.039) * 1.75, rel=1e-14)


def test_biped_base_block_is_that_of_one_body() -> None:
    """All joints locked it is one rigid body: mass, first moment; torques of joints move no mass centre."""
    dyn = compiled("biped")
    for q, u, r in zip(random(13, STATES, 9), random(14, STATES, 9), random(15, STATES, 6), strict=True):
        x = [*q, *np.zeros(9)]
        M, centre = dyn.mass_matrix(0.0, x), dyn.outputs(0.0, x, r=np.zeros(6))
        moment = 70 * (centre - q[:2])
        assert relative_error(M[:2, :3], [[70, 0, moment[1]], [0, 70, -moment[0]]]) < 1e-12
        assert M[2, 2] > moment @ moment / 70, "Steiner"
        x = [*q, *u]
        force = -dyn.inertia_forces(0.0, x, dyn.udot(0.0, x, r=8 * r), r=r)[:, :3].sum(axis=0)
        assert relative_error(force, [0, 0, -70 * dyn.parameters["g"]]) < 1e-9


def test_biped_has_two_equal_legs() -> None:
    dyn = compiled("biped")
    legs = np.array([0, 1, 2, 6, 7, 8, 3, 4, 5])
    swapped = np.concatenate([legs, legs + 9])
    for x, r in zip(random(16, STATES, 18), random(17, STATES, 6), strict=True):
        udot = dyn.udot(0.0, x, r=r)
        assert relative_error(dyn.udot(0.0, x[swapped], r=np.roll(r, 3)), udot[legs]) < 1e-10


# ---------------------------------------------------------------------------------------------------------------- chain
def chain_in_absolute_angles(n: int) -> tuple[SimpleNamespace, Array, Array]:
    """Parameters, A and b of T = ½ Σ A_ij cos(φi − φj) φ̇i φ̇j and U = −Σ b_i cos φi, φ the angles from the vertical.

    Baruh, *Analytical Dynamics*: link j swings with half its length, and carries all below with the whole of it.
    """
    p = values("chain40")
    below = n - 1 - np.arange(n)
    A = p.m * p.l**2 * (np.minimum.outer(below, below) + 0.5)
    np.fill_diagonal(A, p.I + p.m * p.l**2 * (below + 0.25))
    return p, A, p.m * p.g * p.l * (below + 0.5)


@pytest.mark.long
def test_chain_against_lagrange() -> None:
    """A_ij (cos(φi − φj) φ̈j + sin(φi − φj) φ̇j²) + b_i sin φi = 0, solved by NumPy."""
    dyn, n = compiled("chain40"), 40
    _, A, b = chain_in_absolute_angles(n)
    summed = np.tril(np.ones((n, n)))
    for x in random(18, STATES, 2 * n):
        phi, rate = summed @ x[:n], summed @ x[n:]
        between = phi[:, np.newaxis] - phi
        M = A * np.cos(between)
        second = np.linalg.solve(M, -(A * np.sin(between)) @ rate**2 - b * np.sin(phi))
        assert relative_error(dyn.udot(0.0, x), np.diff(second, prepend=0.0)) < 1e-9
        assert relative_error(dyn.mass_matrix(0.0, x), summed.T @ M @ summed) < 1e-12
        assert dyn.kinetic_energy(0.0, x) == pytest.approx(rate @ M @ rate / 2, rel=1e-12)
