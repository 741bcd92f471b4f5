# SPDX-License-Identifier: BSD-3-Clause
"""Model.from_transforms: chains of homogeneous transforms against closed forms and the robots of the gallery.

The RRP robot of the source is in `test_redundant`.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from sweep import part
from sympy import cos, pi, sin

import kanecore as kc
from kanecore.gallery import five_bar_bodies
from kanecore.transforms import Link, LinkLoad, angular_velocity_matrix, dh, link_pose

Array = npt.NDArray[np.float64]
load = cache(kc.load)
g, l, m, I = sm.symbols("g l m I")  # noqa: E741
a, b, q, x, y = me.dynamicsymbols("a b q x y")

#: a, alpha, d of the joints, mass, mass centre and inertia of the links: Corke & Armstrong-Hélouvry 1994, in
#: the standard axes, as in the Robotics Toolbox (Puma560.py).
PUMA: tuple[tuple[Any, ...], ...] = (
    (0, pi / 2, 0.672, 0, (0, 0, 0), (0, 0.35, 0)),
    (0.4318, 0, 0, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    (0.0203, -pi / 2, 0.15005, 4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125)),
    (0, pi / 2, 0.4318, 0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3)),
    (0, -pi / 2, 0, 0.34, (0, 0, 0), (0.3e-3, 0.4e-3, 0.3e-3)),
    (0, 0, 0, 0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
)


def turn(axis: Any, angle: Any, place: Any = (0, 0, 0)) -> sm.Matrix:
    """H of a joint that turns about one of the axes x, y, z of the link before, at a place on it."""
    k = "xyz".index(axis)
    h = sm.eye(4)
    i, j = (k + 1) % 3, (k + 2) % 3
    h[i, i], h[i, j], h[j, i], h[j, j] = cos(angle), -sin(angle), sin(angle), cos(angle)
    h[:3, 3] = sm.Matrix(place)
    return h


def slide(*place: Any) -> sm.Matrix:
    return turn("x", 0, place)


def built(links: Any, parameters: dict[str, float] | None = None, **options: Any) -> kc.CompiledModel:
    return kc.compile(kc.Model.from_transforms(links, **options), parameters=parameters or {})


def states(dyn: kc.CompiledModel, n: int = 5) -> Array:
    rng = np.random.default_rng(11)
    guesses = rng.uniform(-1.0, 1.0, (n, dyn.n_x))
    return np.array([dyn.consistent(0.0, z) for z in guesses]) if dyn.n_constraints else guesses


# ------------------------------------------------------------------------------------------------- Denavit, Hartenberg
def test_dh_is_the_printed_matrix() -> None:
    """Spong, Hutchinson & Vidyasagar 2006, equation 3.10; Craig 2005, equation 3.6."""
    length, twist, offset, angle = sm.symbols("a alpha d theta")
    ct, st, ca, sa = cos(angle), sin(angle), cos(twist), sin(twist)
    standard = [
        *([ct, -st * ca, st * sa, length * ct], [st, ct * ca, -ct * sa, length * st]),
        *([0, sa, ca, offset], [0, 0, 0, 1]),
    ]
    modified = [
        *([ct, -st, 0, length], [st * ca, ct * ca, -sa, -sa * offset]),
        *([st * sa, ct * sa, ca, ca * offset], [0, 0, 0, 1]),
    ]
    assert dh(length, twist, offset, angle) == sm.Matrix(standard)
    assert dh(length, twist, offset, angle, convention="modified") == sm.Matrix(modified)
    assert dh(0, np.pi / 2, 0, q)[2, 2] == 0, "right angles that are floats leave nothing"
    with pytest.raises(kc.ModelError, match="modified"):
        dh(0, 0, 0, q, convention="Craig")


@pytest.mark.filterwarnings("ignore:no solid body")
def test_puma_by_denavit_and_hartenberg() -> None:
    """The gallery's arm is made of SymPy's frames and points, and costs as much: the tree is recognised as such."""
    angles = me.dynamicsymbols("q1:7")
    links = [
        Link(f"link{i}", dh(*row[:3], angle), mass=row[3], centre=row[4], inertia=row[5])
        for i, (row, angle) in enumerate(zip(PUMA, angles, strict=True), 1)
    ]
    dyn, expected = built(links, {"g": 9.81}, gravity=(0, 0, -g), efforts=angles), load("puma560")
    assert dyn.coordinate_names == tuple(f"q{i}" for i in range(1, 7))
    assert dyn.speed_names == tuple(f"q{i}_d" for i in range(1, 7))
    assert dyn.input_names == tuple(f"tau_q{i}" for i in range(1, 7))
    z, tau = states(dyn), [3.0, -20.0, 5.0, 0.2, -0.1, 0.05]
    np.testing.assert_allclose(dyn.udot(0.0, z, r=tau), expected.udot(0.0, z, r=tau), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(dyn.mass_matrix(0.0, z), expected.mass_matrix(0.0, z), rtol=0, atol=1e-13)
    np.testing.assert_allclose(dyn.kinetic_energy(0.0, z), expected.kinetic_energy(0.0, z), rtol=1e-13)
    assert dyn.info["operations"]["rhs"] <= 1.05 * expected.info["operations"]["rhs"]


# ------------------------------------------------------------------------------------------------------- closed forms
def cart_with_two_pendulums(**options: Any) -> kc.CompiledModel:
    links = [
        Link("right", turn("z", b, (l, 0, 0)), "cart", m, (0, -l, 0)),
        Link("cart", slide(x, 0, 0), "ground", 2 * m),
        Link("left", turn("z", a, (-l, 0, 0)), "cart", m, (0, -l, 0)),
    ]
    return built(links, {"m": 1.5, "l": 0.4, "g": 9.81}, gravity=(0, -g, 0), q=[x, a, b], efforts=[x], **options)


def test_a_tree_against_its_closed_form() -> None:
    """M and f of a cart that carries two pendulums, which do not know of each other."""
    dyn = cart_with_two_pendulums()
    mass, length, gravity = 1.5, 0.4, 9.81
    for z in states(dyn):
        (_, qa, qb), (_, ua, ub) = z[:3], z[3:]
        ca, cb = mass * length * np.cos([qa, qb])
        inertia = mass * length**2
        np.testing.assert_allclose(
            dyn.mass_matrix(0.0, z), [[4 * mass, ca, cb], [ca, inertia, 0], [cb, 0, inertia]], rtol=1e-13, atol=1e-15
        )
        push = 0.7 + mass * length * (np.sin(qa) * ua**2 + np.sin(qb) * ub**2)
        expected = [push, -mass * gravity * length * np.sin(qa), -mass * gravity * length * np.sin(qb)]
        np.testing.assert_allclose(dyn.forcing(0.0, z, r=[0.7]), expected, rtol=1e-12, atol=1e-13)


def test_a_tree_in_the_speeds_of_its_bodies() -> None:
    """Point masses on links: the speeds of massless turning are determined by Λ alone."""
    rates, bodies = cart_with_two_pendulums(), cart_with_two_pendulums(speeds="bodies", places="centres")
    assert bodies.coordinate_names[3:] == ("x1", "y1", "z1", "x2", "y2", "z2", "x3", "y3", "z3")
    assert bodies.check().dof == 3
    for state in states(bodies):
        z = np.concatenate([state[:3], bodies.qdot(0.0, state)[:3]])
        assert bodies.kinetic_energy(0.0, state) == pytest.approx(rates.kinetic_energy(0.0, z), rel=1e-12)
        assert bodies.potential_energy(0.0, state) == pytest.approx(rates.potential_energy(0.0, z), rel=1e-12)
        found = bodies.udot(0.0, state, r=[0.7])[bodies.speed_names.index("vx2")]
        assert found == pytest.approx(rates.udot(0.0, z, r=[0.7])[0], rel=1e-11)


def test_prescribed_motion_of_a_pivot() -> None:
    """l q̈ = −(g + r̈) sin q; what is listed as an input is no coordinate."""
    r = me.dynamicsymbols("r")
    links = [Link("rod", turn("z", q, (0, r, 0)), mass=m, centre=(0, -l, 0))]
    numbers = {"m": 1.5, "l": 0.4, "g": 9.81}
    by_inputs = built(links, numbers, gravity=(0, -g, 0), inputs=[r])
    by_q = built(links, numbers, gravity=(0, -g, 0), q=[q])
    for dyn in (by_inputs, by_q):
        assert (dyn.coordinate_names, dyn.input_names) == (("q",), ("r", "r_d", "r_dd"))
        for z in states(dyn):
            expected = -(9.81 + 3.0) / 0.4 * np.sin(z[0])
            assert dyn.udot(0.0, z, r=[0.1, 0.2, 3.0])[0] == pytest.approx(expected, rel=1e-12)
    bodies = built(links, numbers, gravity=(0, -g, 0), inputs=[r], speeds="bodies")
    state = bodies.consistent(0.0, [0.3, 0.5, *np.zeros(5)], r=[0.1, 0.2, 3.0])
    found = bodies.udot(0.0, state, r=[0.1, 0.2, 3.0])[bodies.speed_names.index("wz1")]
    assert found == pytest.approx(-(9.81 + 3.0) / 0.4 * np.sin(0.3), rel=1e-11)


@pytest.mark.parametrize("speeds", ["rates", "bodies"])
def test_a_transform_of_time(speeds: str) -> None:
    """A bead on a rod that turns at Ω: r̈ = Ω² r."""
    rate, t = sm.Symbol("Omega"), me.dynamicsymbols._t
    links = [Link("rod", turn("z", rate * t)), Link("bead", slide(q, 0, 0), mass=m)]
    dyn = built(links, {"m": 2.0, "Omega": 3.0}, speeds=speeds, **({"u": ["vx2"]} if speeds == "bodies" else {}))
    for state in states(dyn):
        assert dyn.udot(0.0, state)[0] == pytest.approx(9.0 * state[0], rel=1e-11)


def test_a_screw() -> None:
    """(I + m h²) θ̈ = τ − m g h, with one coordinate in rotation and displacement."""
    h = sm.Symbol("h")
    dyn = built(
        [Link("nut", turn("z", q, (0, 0, h * q)), mass=m, inertia=(I, I, I))],
        {"m": 2.0, "I": 0.3, "h": 0.5, "g": 10.0},
        gravity=(0, 0, -g),
        efforts=[q],
    )
    assert dyn.udot(0.0, [0.2, 0.4], r=[7.0])[0] == pytest.approx((7.0 - 10.0) / (0.3 + 0.5))


def test_a_mass_centre_that_holds_a_coordinate() -> None:
    """As the bar of the RRP robot, which slides in axes that do not."""
    sliding = [Link("arm", turn("z", a)), Link("bar", sm.eye(4), mass=m, centre=(q, 0, 0), inertia=(I, I, I))]
    carried = [Link("arm", turn("z", a)), Link("bar", slide(q, 0, 0), mass=m, inertia=(I, I, I))]
    numbers, options = {"m": 2.0, "I": 0.3, "g": 9.81}, {"gravity": (0, -g, 0), "efforts": [a, q]}
    dyn, expected = (built(links, numbers, **options) for links in (sliding, carried))
    z = states(dyn)
    np.testing.assert_allclose(dyn.udot(0.0, z, r=[1.0, 2.0]), expected.udot(0.0, z, r=[1.0, 2.0]), rtol=1e-12)


@pytest.mark.parametrize("speeds", ["rates", pytest.param("bodies", marks=pytest.mark.long)])
def test_efforts_do_the_work_of_their_coordinates(speeds: str) -> None:
    """A universal joint, a slider, a hinge: power τ · q̇ in both formulations, whatever the link before does."""
    c, d = me.dynamicsymbols("c d")
    links = [
        Link("cross", turn("x", a) * turn("y", b), mass=1, centre=(0.1, 0.2, 0.3), inertia=(1, 2, 2.5)),
        Link("slider", turn("x", 0.4, (0.1, 0.5, d)), mass=2, centre=(0.3, -0.2, 0.1), inertia=(1, 2, 2.5)),
        Link("hand", dh(0.2, 0.7, 0.3, c), mass=3, centre=(0.1, 0.1, -0.4), inertia=(1, 2, 2.5)),
    ]
    dyn, tau = built(links, speeds=speeds, efforts=[a, b, d, c], q=[a, b, d, c]), np.array([1.0, -2.0, 3.0, 0.5])
    for state in states(dyn):
        r = dict(zip(("tau_a", "tau_b", "tau_d", "tau_c"), tau, strict=True))
        e, rates, p = dyn.projected_efforts(0.0, state, r=r), dyn.qdot(0.0, state), state[4:]
        np.testing.assert_allclose(e.f_q, tau, rtol=0, atol=1e-12)
        np.testing.assert_allclose(e.F_q, tau, rtol=0, atol=1e-12)
        sharp = p[: len(e.F_p)]
        np.testing.assert_allclose([e.f_p @ p, e.F_p @ sharp, e.f_q @ rates], tau @ rates, rtol=1e-11)


@pytest.mark.parametrize("speeds", ["rates", "bodies"])
def test_further_loads(speeds: str) -> None:
    """A rod with a force at its end and a torque: I q̈ = τ + l F_y, or l (F_y cos q − F_x sin q)."""

    fx, fy, gx, gy, hx, tau = inputs = me.dynamicsymbols("fx fy gx gy hx tau")
    loads = [
        LinkLoad("rod", force=(fx, fy, 0), at=(0.5, 0, 0), torque=(1, 2, tau)),
        LinkLoad("rod", force=(gx, gy, 0), at=(0.5, 0, 0), inertial=True),
        LinkLoad("rod", force=(hx, 2 * hx, 3 * hx)),  # at the mass centre, which is on the axis
    ]
    rod = Link("rod", turn("z", q), mass=m, inertia=(0, 0, I))
    dyn = built([rod], {"m": 2.0, "I": 0.3}, speeds=speeds, q=[q], inputs=inputs, forcelist=loads)
    state = np.zeros(dyn.n_x)
    state[0] = 0.3
    at = dyn.speed_names.index("q_d" if speeds == "rates" else "wz1")

    def udot(*r: float) -> float:
        return float(dyn.udot(0.0, state, r=r)[at])

    assert udot(3, 4, 0, 0, 0, 0) == pytest.approx(4 * 0.5 / 0.3)
    assert udot(0, 0, 0, 0, 0, 3) == pytest.approx(3 / 0.3)
    assert udot(0, 0, 0, 0, 5, 0) == pytest.approx(0.0, abs=1e-14)
    assert udot(0, 0, 3, 4, 0, 0) == pytest.approx(0.5 * (4 * np.cos(0.3) - 3 * np.sin(0.3)) / 0.3)


def test_efforts_may_be_expressions() -> None:
    """A spring and a damper in a joint."""
    k, damping = sm.symbols("k c")
    links = [Link("rod", turn("z", q), mass=m, centre=(l, 0, 0))]
    model = kc.Model.from_transforms(links, efforts={q: -k * q - damping * q.diff()})
    assert (model.n_r, [str(p) for p in model.parameters]) == (0, ["c", "k", "l", "m"])
    dyn = kc.compile(model, parameters={"c": 0.1, "k": 2.0, "l": 0.5, "m": 3.0})
    assert dyn.udot(0.0, [0.3, 0.4])[0] == pytest.approx((-2.0 * 0.3 - 0.1 * 0.4) / (3.0 * 0.25))


@pytest.mark.parametrize("speeds", ["rates", "bodies"])
def test_numbers_of_numpy(speeds: str) -> None:
    """Arrays and floats: 0.0 is 0, and 1.0 is 1."""
    fixed = np.eye(4)
    fixed[:3, 3] = 0.1, 0.2, 0.3
    links = [
        Link("seat", fixed, mass=0.0, inertia=np.zeros(3)),
        Link("rod", turn("z", q), mass=2.0, centre=np.array([0.5, 0.0, 0.0]), inertia=np.diag([0.0, 0.1, 0.1])),
    ]
    dyn = built(links, gravity=np.array([0.0, -10.0, 0.0]), speeds=speeds)
    found = dyn.udot(0.0, [0.3, *np.zeros(dyn.n_u)])[dyn.speed_names.index("q_d" if speeds == "rates" else "wz2")]
    assert found == pytest.approx(-10.0 * 0.5 * 2.0 * np.cos(0.3) / (0.1 + 2.0 * 0.25), rel=1e-12)


def test_names_of_rates() -> None:
    links = [Link("rod", turn("z", q), mass=m, centre=(l, 0, 0))]
    assert [str(u) for u in kc.Model.from_transforms(links, u="omega").speeds] == ["omega(t)"]


# -------------------------------------------------------------------------------------------------- angular velocities
def test_angular_velocity_is_the_derivative_of_the_rotation() -> None:
    """S(ω) = Rᵀ Ṙ, entry by entry, for a product of turns."""
    c = me.dynamicsymbols("c")
    h = turn("x", a) * turn("y", b) * dh(1, 0.3, 2, c)
    found, r = angular_velocity_matrix(h), h[:3, :3]
    expected = r.T * r.diff(me.dynamicsymbols._t)
    numbers = dict(zip((a, b, c, a.diff(), b.diff(), c.diff()), (0.3, -0.7, 1.1, 0.5, 0.2, -0.4), strict=True))
    rates = {e: value for e, value in numbers.items() if e.is_Derivative}
    places = {e: value for e, value in numbers.items() if not e.is_Derivative}
    difference = np.array((found - expected).subs(rates).subs(places), float)
    np.testing.assert_allclose(difference, np.zeros((3, 3)), atol=1e-15)
    assert found + found.T == sm.zeros(3)
    assert angular_velocity_matrix(turn("z", q)[:3, :3]) == sm.Matrix([[0, -1, 0], [1, 0, 0], [0, 0, 0]]) * q.diff()
    with pytest.raises(kc.ModelError, match="no rotation"):
        angular_velocity_matrix(2 * turn("z", q)[:3, :3])
    with pytest.raises(kc.ModelError, match="is 2×2"):
        angular_velocity_matrix(sm.eye(2))


def test_pose_is_the_product_of_transforms() -> None:
    links = [Link("upper", dh(l, 0, 0, a)), Link("lower", dh(l, 0, 0, b)), Link("other", dh(2, 0, 0, q), "upper")]
    assert link_pose(links, "lower") == dh(l, 0, 0, a) * dh(l, 0, 0, b)
    assert link_pose(links, "other") == dh(l, 0, 0, a) * dh(2, 0, 0, q)
    with pytest.raises(kc.ModelError, match="no link is named 'hand': they are upper, lower, other"):
        link_pose(links, "hand")


# ------------------------------------------------------------------------------------------------ parallel mechanisms
@cache
def feasible(name: str, n: int = 3) -> Array:
    """States on the constraints near that of the gallery, with any speeds."""
    module = __import__(f"kanecore.gallery.{name}", fromlist=["STATE"])
    dyn, rng = load(name), np.random.default_rng(3)
    start = np.array([module.STATE[key] for key in (*dyn.coordinate_names, *dyn.speed_names)])
    noise = rng.uniform(-1.0, 1.0, (n, dyn.n_x)) * np.where(np.arange(dyn.n_x) < dyn.n_q, 0.05, 1.0)
    return np.array([dyn.consistent(0.0, start + row) for row in noise])


def places(names: tuple[str, ...], wanted: str) -> list[int]:
    return [names.index(name) for name in wanted.split()]


@pytest.mark.long
def test_five_bar_in_the_speeds_of_its_bodies() -> None:
    dyn, reduced = load("five_bar_bodies"), load("five_bar")
    torques = [1.5, -0.8]
    assert (dyn.n_q, dyn.n_u, dyn.coordinate_names[:2], dyn.speed_names[:2]) == (6, 24, ("x", "y"), ("wz1", "wz3"))
    for state in feasible("five_bar_bodies"):
        at = places(dyn.coordinate_names, "q1 q3 q2 q4")
        z = np.concatenate([state[at], dyn.qdot(0.0, state)[at]])  # the speeds of the other are the rates of angles
        assert dyn.kinetic_energy(0.0, state) == pytest.approx(reduced.kinetic_energy(0.0, z), rel=1e-11)
        found, expected = dyn.udot(0.0, state, r=torques), reduced.udot(0.0, z, r=torques)
        u = dict(zip(dyn.speed_names, found, strict=True))
        rates = [u["wz1"], u["wz3"], u["wz2"] - u["wz1"], u["wz4"] - u["wz3"]]
        np.testing.assert_allclose(rates, expected, rtol=0, atol=1e-9 * np.max(np.abs(expected)))


@pytest.mark.long
def test_stewart_platform_in_the_speeds_of_its_bodies() -> None:
    """Against `stewart`, which has a quaternion for angles, and the plate's velocity in inertial axes."""
    dyn, reduced, forces = load("stewart_platform"), load("stewart"), np.linspace(20.0, 45.0, 6)
    assert (dyn.n_q, dyn.n_u, dyn.n_constraints, dyn.check(feasible("stewart_platform")[0]).dof) == (24, 78, 72, 6)
    for state in feasible("stewart_platform"):
        value = dict(zip((*dyn.coordinate_names, *dyn.speed_names), state, strict=True))
        value |= dict(zip((f"u{name}" for name in dyn.coordinate_names), dyn.qdot(0.0, state), strict=True))
        axes = turn("x", value["alpha"]) * turn("y", value["theta"]) * turn("z", value["psi"])
        rotation = np.array(axes[:3, :3], float)
        v, w = (np.array([value[f"{kind}{k}1"] for k in "xyz"]) for kind in "vw")
        value |= dict(zip(("vx", "vy", "vz", "wx", "wy", "wz"), (*rotation @ v, *w), strict=True))
        e0, skew = np.sqrt(1 + np.trace(rotation)) / 2, rotation - rotation.T
        value |= dict(zip(("e0", "e1", "e2", "e3"), (e0, *skew[[2, 0, 1], [1, 2, 0]] / (4 * e0)), strict=True))
        z = np.array([value[name] for name in (*reduced.coordinate_names, *reduced.speed_names)])
        assert np.max(np.abs(reduced.configuration_residual(0.0, z))) < 1e-12
        assert dyn.kinetic_energy(0.0, state) == pytest.approx(reduced.kinetic_energy(0.0, z), rel=1e-11)
        found = dict(zip(dyn.speed_names, dyn.udot(0.0, state, r=forces), strict=True))
        turned = rotation @ (np.array([found[f"v{k}1"] for k in "xyz"]) + np.cross(w, v))
        expected = reduced.udot(0.0, z, r=forces)[:6]
        common = [*turned, *(found[f"w{k}1"] for k in "xyz")]
        np.testing.assert_allclose(common, expected, rtol=0, atol=1e-9 * np.max(np.abs(expected)))


# --------------------------------------------------------------------------------------------------- A, Ψ, Υ, efforts
@pytest.mark.parametrize(
    "name",
    part(
        ["five_bar", "five_bar_bodies", "stewart_platform", "slider_crank", "rolling_disc"],
        ["slider_crank", "rolling_disc"],
    ),
)
def test_speed_matrices_of_constrained_models(name: str) -> None:
    """p# = Ψ q̇#, p° = Υ q̇#, A p = 0, in every motion; of a disc that rolls q̇# are three of the rates."""
    dyn = load(name)
    q_sharp = {"rolling_disc": ["q1", "q2", "q3"]}.get(name)
    for state in feasible(name):
        matrices = dyn.speed_matrices(0.0, state, coordinates=q_sharp)
        p = dict(zip(dyn.speed_names, state[dyn.n_q :], strict=True))
        rates = dict(zip(dyn.coordinate_names, dyn.qdot(0.0, state), strict=True))
        sharp, tiny = (
            [rates[x] for x in matrices.coordinates],
            {"rtol": 0, "atol": 1e-10 * np.max(np.abs(state[dyn.n_q :]))},
        )
        np.testing.assert_allclose([p[u] for u in matrices.independent], matrices.Psi @ sharp, **tiny)
        np.testing.assert_allclose([p[u] for u in matrices.dependent], matrices.Upsilon @ sharp, **tiny)
        np.testing.assert_array_equal(matrices.A, dyn.constraint_jacobian(0.0, state))
        order = places(dyn.speed_names, " ".join((*matrices.independent, *matrices.dependent)))
        motions = np.vstack([matrices.Psi, matrices.Upsilon])
        largest = np.max(np.abs(matrices.A)) * np.max(np.abs(motions))
        assert np.max(np.abs(matrices.A[:, order] @ motions)) < 1e-11 * largest


def test_efforts_of_a_parallel_mechanism() -> None:
    """The torques act on q1 and q3: along these they are themselves, along the tool's place forces of one power."""
    dyn, torques = load("five_bar_bodies"), [1.5, -0.8]
    for state in feasible("five_bar_bodies"):
        rates, p = dyn.qdot(0.0, state), state[dyn.n_q :]
        at = places(dyn.coordinate_names, "q1 q3")
        power = torques @ rates[at]
        along_tool = dyn.projected_efforts(0.0, state, r=torques)
        along_joints = dyn.projected_efforts(
            0.0, state, coordinates=["q1", "q3"], independent=["wz2", "wz4"], r=torques
        )
        np.testing.assert_allclose(along_joints.F_q, torques, rtol=1e-10)
        quasi = p[places(dyn.speed_names, "wz2 wz4")]
        powers = [
            *(along_tool.f_q @ rates, along_tool.f_p @ p, along_tool.F_q @ rates[:2], along_tool.F_p @ p[:2]),
            *(along_joints.f_q @ rates, along_joints.f_p @ p, along_joints.F_q @ rates[at], along_joints.F_p @ quasi),
        ]
        np.testing.assert_allclose(powers, power, rtol=1e-9)
    several = feasible("five_bar_bodies", 2)
    both = dyn.speed_matrices(0.0, several)[:3], dyn.projected_efforts(0.0, several, r=torques)
    for i, state in enumerate(several):
        one = dyn.speed_matrices(0.0, state)[:3], dyn.projected_efforts(0.0, state, r=torques)
        for found, expected in zip((*both[0], *both[1]), (*one[0], *one[1]), strict=True):
            np.testing.assert_allclose(found[i], expected, rtol=1e-11, atol=1e-12)


def test_a_quaternion_has_a_psi_of_four_columns() -> None:
    """p = Ψ q̇ for q̇ along the sphere."""
    dyn = load("free_body")
    names = (*dyn.coordinate_names, *dyn.speed_names)
    state = np.array([0.3 * (i % 4) - 0.2 for i in range(len(names))])
    at = list(dyn.unit[0])
    state[at] /= np.linalg.norm(state[at])
    psi = dyn.speed_matrices(0.0, state).Psi
    assert psi.shape == (6, 7)
    np.testing.assert_allclose(psi @ dyn.qdot(0.0, state), state[7:], rtol=0, atol=1e-13)
    matrices = load("rrp").speed_matrices(0.0, np.full(6, 0.1))  # without constraints all is independent
    assert (matrices.A.shape, matrices.Upsilon.shape, matrices.dependent) == ((0, 3), (0, 3), ())
    np.testing.assert_array_equal(matrices.Psi, np.eye(3))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"independent": ["wz9", "wz3"]}, KeyError, "no speed of .* is called 'wz9'"),
        ({"coordinates": ["tool"]}, KeyError, "no coordinate of .* is called 'tool'"),
        ({"independent": ["wz1"]}, kc.ModelError, "2 degrees of freedom, and there are 1 independent speeds"),
        ({"independent": ["wz1", "wz1"]}, kc.ModelError, "named twice"),
        ({"coordinates": ["x"]}, kc.ModelError, "1 independent coordinates"),
        ({"independent": ["wx1", "wz3"]}, kc.SingularError, "does not follow from wx1, wz3"),
        ({"independent": ["wz1", "vy1"]}, kc.SingularError, "does not follow from wz1, vy1"),
    ],
)
def test_choices_that_do_not_do(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        load("five_bar_bodies").speed_matrices(0.0, feasible("five_bar_bodies", 1)[0], **options)


def test_no_speed_matrices() -> None:
    with pytest.raises(kc.ModelError, match="solved at run time"):
        five_bar_bodies.build().speed_matrices()
    with pytest.raises(KeyError, match=r"no input of .* is called 'tau9'"):
        load("rrp").projected_efforts(0.0, np.zeros(6), efforts=["tau9"])


# ------------------------------------------------------------------------------------------------------- hostile input
def link(**changes: Any) -> Link:
    return Link(**{"name": "rod", "transform": turn("z", q), "mass": m, "centre": (l, 0, 0), **changes})


def changed(row: int, column: int, value: Any) -> sm.Matrix:
    h = turn("z", q)
    h[row, column] = value
    return h


@pytest.mark.parametrize(
    ("links", "message"),
    [
        (list, "links is empty"),
        (lambda: link(), "give a list"),
        (lambda: [turn("z", q)], r"(?s)links\[0\] is Matrix.*write kc.transforms.Link"),
        (lambda: [link(name="")], r"links\[0\] has the name ''"),
        (lambda: [link(name="ground")], "'ground' is what all links are on"),
        (lambda: [link(), link()], "'rod' stands twice"),
        (lambda: [link(parent="base")], "link rod is on 'base', and no link has that name: they are rod"),
        (lambda: [link(parent="rod")], "links rod are on each other in a circle"),
        (lambda: [link(parent="b"), link(name="b", parent="rod")], "links rod, b are on each other in a circle"),
        (lambda: [link(transform=turn("z", q)[:3, :3])], "transform of link rod is 3×3"),
        (lambda: [link(transform=sm.eye(5))], "transform of link rod is 5×5"),
        (lambda: [link(transform="H")], "the transform of link rod is 'H', which is no matrix"),
        (lambda: [link(transform=changed(3, 1, l))], r"has l at \[3, 1\]: its last row is 0, 0, 0, 1"),
        (lambda: [link(transform=changed(3, 3, 2))], r"has 2 at \[3, 3\]"),
        (lambda: [link(transform=changed(0, 0, cos(a)))], "transform of link rod holds no rotation"),
        (lambda: [link(transform=changed(0, 0, 1.01 * cos(q)))], "transform of link rod holds no rotation"),
        (lambda: [link(transform=changed(2, 2, -1))], "transform of link rod holds no rotation"),  # det −1
        (lambda: [link(transform=changed(2, 2, 1 + sm.Symbol("epsilon")))], "holds no rotation"),
        (lambda: [link(transform=changed(0, 3, sm.nan))], "not a finite real number"),
        (lambda: [link(transform=changed(0, 3, q.diff()))], r"Derivative\(q\(t\), t\) in the transform or the centre"),
        (lambda: [link(transform=changed(0, 3, sm.Function("f")(l)))], r"f\(l\) in the transform or the centre"),
        (lambda: [link(centre=(l, 0))], "the centre of link rod has 2 entries"),
        (lambda: [link(centre=l)], "the centre of link rod has 1 entries"),
        (lambda: [link(inertia=(1, 2, 3, 4))], "the inertia of link rod has 4 entries, .* write 3 or 6"),
        (lambda: [link(inertia=[[1, 2, 3], [0, 1, 0], [0, 0, 1]])], "write a symmetric 3×3 matrix"),
        (lambda: [link(inertia=(I * q, 0, 0))], "inertia of body rod must be constant"),
        (lambda: [link(transform=sm.eye(4), centre=(0, 0, 0))], "nothing moves"),
        (lambda: [link(mass=None)], "the mass of link rod is None: write a number"),
        (lambda: [link(mass=[m])], r"the mass of link rod is \[m\]: write a number"),
        (lambda: [link(mass=sm.Symbol("l", positive=True))], "two different symbols are named 'l'"),
    ],
)
def test_links_that_are_wrong(links: Callable[[], Any], message: str) -> None:
    with pytest.raises(kc.ModelError, match=message):
        kc.Model.from_transforms(links())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"speeds": "momenta"}, "write 'rates'"),
        ({"gravity": g}, "gravity has 1 entries"),
        ({"q": [q, a]}, r"q holds a\(t\), which no transform"),
        ({"q": []}, "nothing moves"),
        ({"efforts": [a]}, r"efforts holds a\(t\), which is no coordinate"),
        ({"forcelist": [("rod", (1, 0, 0))]}, "write kc.transforms.LinkLoad"),
        ({"forcelist": [LinkLoad("arm", (1, 0, 0))]}, "a load on 'arm': the links are rod"),
        ({"forcelist": [LinkLoad("rod", (1, 0))]}, "the force of the load on link rod has 2 entries"),
        ({"places": [("arm", (x, y, None))]}, "the links are rod"),
        ({"places": [("rod", (x, y))]}, "gives link rod 2 coordinates"),
        ({"points": ["arm"]}, "points holds .*: the links are rod"),
        ({"frames": "arm"}, "frames holds .*: the links are rod"),
        ({"points": [me.Point("rod")]}, "points holds .*: the links are rod"),
        ({"u": "omega v"}, "u names 2 speeds, and there are 1"),
        ({"u_dependent": ["z_d"]}, "u_dependent holds z_d, and the speeds are q_d"),
        ({"speeds": "bodies", "u": ["wz2"]}, "u holds wz2, and the speeds are wx1"),
        ({"speeds": "bodies", "u": ["wz1", "wz1"]}, "u holds wz1, twice"),
    ],
)
def test_options_that_are_wrong(options: Any, message: str) -> None:
    with pytest.raises(kc.ModelError, match=message):
        kc.Model.from_transforms([link()], **options)
    with pytest.raises(TypeError, match="from_transforms makes kd_eqs, bodies from the links"):
        kc.Model.from_transforms([link()], bodies=[], kd_eqs=[])


@pytest.mark.parametrize("speeds", part(["rates", "bodies"], ["bodies"]))
def test_points_and_frames_are_those_of_links(speeds: str) -> None:
    """Where a tool without mass is, how it moves, and its Jacobian."""
    links = [
        Link("upper", dh(l, 0, 0, q), mass=m, centre=(-l / 2, 0, 0), inertia=(I, I, I)),
        Link("lower", dh(l, 0, 0, a), mass=m, centre=(-l / 2, 0, 0), inertia=(I, I, I)),
        Link("tool", turn("y", b, (0, 0, l))),
    ]
    chain = {"points": ["upper", "tool"], "frames": "tool", "inputs": [b], "speeds": speeds}
    dyn = kc.compile(kc.Model.from_transforms(links, gravity=(0, -g, 0), **chain))
    dyn.parameters = dict.fromkeys(dyn.parameter_names, 0.7)
    r = {"b": 0.3, "b_d": -0.4, "b_dd": 0.2}
    r = {name: r[name] for name in dyn.input_names}
    x = dyn.state({q: 0.4, a: -0.9, dyn.speed_names[0]: 1.1})
    x = dyn.consistent(0.0, x, None, r=r) if dyn.n_constraints else x
    rates = dict(zip((q.diff(), a.diff()), dyn.qdot(0.0, x, r=r), strict=True)) | {b.diff(): -0.4}
    values = {q: 0.4, a: -0.9, b: 0.3, l: 0.7}
    pose = link_pose(links, "tool")
    place = np.array(pose[:3, 3].subs(values), float).ravel()
    moved = np.array(pose[:3, 3].diff(me.dynamicsymbols._t).subs(rates).subs(values), float).ravel()
    assert dyn.points[-2:] == ("upper origin", "tool origin")
    np.testing.assert_allclose(dyn.position("tool origin", 0.0, x, r=r), place, atol=1e-14)
    np.testing.assert_allclose(dyn.velocity("tool origin", 0.0, x, r=r), moved, atol=1e-14)
    axes = np.array(pose[:3, :3].subs(values), float)
    np.testing.assert_allclose(dyn.orientation("tool", 0.0, x, r=r), axes, atol=1e-14)
    jacobian = dyn.jacobian("tool origin", 0.0, x, r=r)
    np.testing.assert_allclose(jacobian @ x[dyn.n_q :], moved, atol=1e-14)  # the tool turns about its origin


def test_constraints_by_both_names() -> None:
    """Two hinges, of which the second holds the tip on the x axis."""
    links = [link(), link(name="tip", transform=turn("z", a, (l, 0, 0)))]
    height = (link_pose(links, "tip") * sm.Matrix([l, 0, 0, 1]))[1]
    for argument in ("configuration_constraints", "holonomic_constraints"):
        model = kc.Model.from_transforms(links, q_dependent=[a], **{argument: [height]})
        assert (model.n_constraints, [str(u) for u in model.speeds]) == (1, ["q_d(t)", "a_d(t)"])
    with pytest.raises(TypeError, match="two names of one argument"):
        kc.Model.from_transforms(links, configuration_constraints=[height], holonomic_constraints=[height])


@pytest.mark.parametrize(
    ("speeds", "dependent"), [("rates", ["y_d"]), ("rates", [me.dynamicsymbols("y_d")]), ("bodies", "vy1 wx1 wy1 vz1")]
)
def test_a_sleigh_names_its_dependent_speeds(speeds: str, dependent: Any) -> None:
    """Chaplygin's: ω̇ = −m a v ω / (I + m a²), v̇ = a ω² (Neimark & Fufaev, 1972, chapter 3)."""
    runner = Link("sleigh", turn("z", q, (x, y, 0)), mass=m, centre=(l, 0, 0), inertia=(0, 0, I))
    edge = {"edge": x.diff() * sin(q) - y.diff() * cos(q)}
    options = {"q": [x, y, q], "speeds": speeds, "nonholonomic_constraints": edge, "u_dependent": dependent}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dyn = built([runner], {"m": 1.2, "l": 0.3, "I": 0.2}, **options)
        dyn.check()
    z = dyn.consistent(0.0, np.linspace(0.4, 0.9, dyn.n_x))
    *velocity, spin = dyn.qdot(0.0, z)[:3]
    forward = np.array(velocity) @ [np.cos(z[2]), np.sin(z[2])]
    found = dyn.udot(0.0, z)[dyn.speed_names.index("q_d" if speeds == "rates" else "wz1")]
    assert found == pytest.approx(-1.2 * 0.3 * forward * spin / (0.2 + 1.2 * 0.09), rel=1e-12)


def test_a_slide_by_an_absolute_value() -> None:
    """T = m (d|q|/dt)² / 2."""
    dyn = built([Link("bead", turn("z", 0, (sm.Abs(q), 0, 0)), mass=m)], {"m": 2.0})
    assert dyn.kinetic_energy(0.0, [-0.3, 0.7]) == pytest.approx(0.49, rel=1e-15)


def test_an_effort_that_no_wrench_of_the_joint_gives() -> None:
    """Axes that are not perpendicular, a coordinate of two links, and one that moves nothing."""
    with pytest.raises(kc.ModelError, match=r"the effort of a: link rod moves by b as well.* a link of its own"):
        kc.Model.from_transforms([link(transform=turn("x", a) * turn("y", 0.4) * turn("x", b))], efforts=[a])
    with pytest.raises(kc.ModelError, match=r"q moves several links \(rod, hand\), so that its effort"):
        kc.Model.from_transforms([link(), link(name="hand")], efforts=[q])


@pytest.mark.parametrize("speeds", ["rates", "bodies"])
def test_inertias_that_no_body_has(speeds: str) -> None:
    with pytest.warns(kc.KanecoreWarning, match="inertia 1, 1, 3 of body rod"):
        kc.Model.from_transforms([link(mass=1, centre=(1, 0, 0), inertia=(1, 1, 3))], speeds=speeds)
    with pytest.raises(kc.ModelError, match="no link has mass"):
        kc.Model.from_transforms([link(mass=0, inertia=(0, 0, 0))], speeds=speeds)


def test_coordinates_that_move_nothing_alone() -> None:
    """Two angles about one axis; a quaternion that is not of length one."""
    both = kc.Model.from_transforms([link(transform=turn("z", a) * turn("z", b))])
    assert both.n_u == 2  # singular in rates, and said where it is solved
    with pytest.raises(kc.ModelError, match="determine 1 of the rates of the 2 coordinates a, b"):
        kc.Model.from_transforms([link(transform=turn("z", a) * turn("z", b))], speeds="bodies")
    N, B, e = me.ReferenceFrame("N"), me.ReferenceFrame("B"), me.dynamicsymbols("e0:4")
    B.orient_quaternion(N, e)
    with pytest.raises(kc.ModelError, match="a quaternion that is not of length one"):
        kc.Model.from_transforms([link(transform=sm.diag(N.dcm(B), 1))])
