# SPDX-License-Identifier: BSD-3-Clause
"""The manipulator form, the inertia that a point shows, the map of momentum: against Pinocchio, and by definition."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates
from oracle.compare import read_reference, relative_error
from oracle.precise import DIGITS, STEP, Precise
from oracle.serial_models import arm
from sweep import part

import kanecore as kc
from kanecore.gallery import MODELS, four_bar

Array = npt.NDArray[np.float64]
#: Exact but for rounding; M⁻¹ of the arms loses the digits that its condition takes.
TOLERANCE = 1e-12
#: Trees, a Lagrangian among them; those whose speeds are the rates of their coordinates.
MANIPULATORS = ("planar_2r", "cart_pole", "double_pendulum", "furuta_pendulum", "rrp", "puma560", "ur5e", "iiwa14")
t = me.dynamicsymbols._t
#: Pinocchio's order of the inertia is xx, xy, yy, xz, yz, zz.
ORDER = (0, 1, 2, 3, 4, 5, 7, 6, 8, 9)
#: Planar models give their bodies no inertia but about the normal; PUMA 560's as published are impossible.
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")


@cache
def robot(name: str) -> tuple[kc.CompiledModel, list[dict[str, Any]]]:
    """An arm (B) or a tree of arms (C), and Pinocchio's numbers."""
    system = arm(read_reference(f"pinocchio/{name}")["model"])
    model = kc.Model(
        system["frame"],
        system["q"],
        system["u"],
        kd_eqs=system["kdes"],
        bodies=system["bodies"],
        forcelist=system["loads"],
        inputs=system["inputs"],
        points=[next(iter(body.masscenter._pos_dict)) for body in system["bodies"]],  # of the joints
    )
    dyn = kc.compile(model, parameters=system["parameters"])
    return dyn, read_reference(f"pinocchio/manipulator_{name}")["states"]


@pytest.mark.parametrize("name", part("BC", "B"))
def test_pinocchio(name: str) -> None:
    """C by Christoffel symbols, gravity, M⁻¹, the map of momentum, and ∂u̇/∂(q, u, τ) beside `computeABADerivatives`."""
    dyn, states = robot(name)
    for state in states:
        x, n = np.array(state["q"] + state["v"]), dyn.n_q
        coriolis, gravity = dyn.coriolis_matrix(0.0, x), dyn.gravity_forces(0.0, x)
        assert relative_error(coriolis, state["coriolis"]) < TOLERANCE
        assert relative_error(gravity, state["gravity"]) < TOLERANCE
        assert relative_error(dyn.mass_matrix_inverse(0.0, x), state["M_inverse"]) < 1e-11
        assert relative_error(dyn.momentum_matrix(0.0, x), state["centroidal_map"]) < TOLERANCE
        A, B = dyn.linearize(0.0, x, r=np.array(state["tau_applied"]))
        assert relative_error(A[n:, :n], state["ddq_dq"]) < 1e-9
        assert relative_error(A[n:, n:], state["ddq_dv"]) < 1e-9
        assert relative_error(B[n:], state["M_inverse"]) < 1e-9


def test_pinocchio_at_a_point() -> None:
    """J of the last joint's frame, its inertia, a = J u̇ + what is left at u̇ = 0, and the regressor.

    Pinocchio's J M⁻¹ Jᵀ has a condition of 1e4 to 2e5.
    """
    dyn, states = robot("B")
    reference = np.array(read_reference("pinocchio/manipulator_B")["parameters"])[:, ORDER]
    for state in states:
        x, udot = np.array(state["q"] + state["v"]), np.array(state["a"])
        jacobian = dyn.jacobian("P7", 0.0, x, attached="B7")
        assert relative_error(jacobian, state["jacobian"]) < TOLERANCE
        drift, total = (
            np.concatenate([dyn.acceleration("P7", 0.0, x, a), dyn.angular_acceleration("B7", 0.0, x, a)])
            for a in (0 * udot, udot)
        )
        assert relative_error(jacobian @ udot + drift, total) < TOLERANCE
        found = dyn.operational_inertia("P7", 0.0, x, attached="B7")
        assert relative_error(found, state["operational_inertia"]) < 1e-10
        expected = np.linalg.inv(jacobian[:3] @ np.array(state["M_inverse"]) @ jacobian[:3].T)
        assert relative_error(dyn.operational_inertia("P7", 0.0, x), expected) < 1e-10
        expected = np.array(state["regressor"]).reshape(dyn.n_u, dyn.n_bodies, 10)[..., ORDER].reshape(dyn.n_u, -1)
        assert relative_error(dyn.regressor(0.0, x, udot), expected) < TOLERANCE
        assert relative_error(dyn.inertial_parameters(0.0, x), reference) < TOLERANCE


# ------------------------------------------------------------------------------------------- by definition


@pytest.mark.parametrize("name", part(MANIPULATORS, ("planar_2r", "rrp")))
def test_christoffel_symbols(name: str) -> None:
    """C_ij = ½ Σ (∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i) u_k by differences of M at 50 digits; Ṁ − 2C is skew."""
    import mpmath

    module = import_module(f"kanecore.gallery.{name}")
    model = module.build()
    dyn = kc.compile(model, parameters=module.PARAMETERS)
    n, rng, precise = dyn.n_u, np.random.default_rng(4), Precise(model)
    x, p = rng.uniform(-1.0, 1.0, 2 * n), [dyn.parameters[k] for k in dyn.parameter_names]

    def mass(q: list[Any]) -> list[Any]:
        known = precise.known(0.0, [*q, *x[n:]], np.zeros(dyn.n_r), p)
        return precise._kernel("mass_matrix", known)

    with mpmath.workdps(DIGITS):
        h, q = mpmath.mpf(STEP), [mpmath.mpf(float(v)) for v in x[:n]]
        slopes = np.empty((n, n, n))  # ∂M_ij/∂q_k
        for k in range(n):
            up, down = (mass([v + s * h * (i == k) for i, v in enumerate(q)]) for s in (1, -1))
            slopes[..., k] = np.reshape([float((a - b) / (2 * h)) for a, b in zip(up, down, strict=True)], (n, n))
    symbols = (slopes + slopes.transpose(0, 2, 1) - slopes.transpose(2, 0, 1)) / 2
    found, rate = dyn.coriolis_matrix(0.0, x), slopes @ x[n:]
    assert relative_error(found, symbols @ x[n:]) < TOLERANCE
    skew = rate - 2 * found
    assert np.max(np.abs(skew + skew.T)) < TOLERANCE * np.max(np.abs(found))
    assert relative_error(found @ x[n:], -dyn.generalized_inertia_forces(0.0, x, np.zeros(n))) < 1e-11


def test_constrained_operational_inertia() -> None:
    """Of a closed loop: the acceleration that a force on the point makes, with what the constraints allow."""
    module = import_module("kanecore.gallery.four_bar")
    dyn = kc.compile(module.build(), parameters=module.PARAMETERS)
    x = dyn.consistent(0.0, [module.STATE[k] for k in (*dyn.coordinate_names, *dyn.speed_names)], None)
    point = dyn.points[1]
    jacobian = dyn.partial_velocities(0.0, x)[1]
    system = np.block(
        [
            [dyn.mass_matrix(0.0, x), -dyn.constraint_jacobian(0.0, x).T],
            [dyn.constraint_jacobian(0.0, x), np.zeros((dyn.n_constraints,) * 2)],
        ]
    )
    for direction in np.eye(3):
        udot = np.linalg.solve(system, np.append(jacobian @ direction, np.zeros(dyn.n_constraints)))[: dyn.n_u]
        along = jacobian.T @ udot  # the direction in which it goes
        if np.linalg.norm(along) < 1e-9:
            with pytest.raises(kc.SingularError, match="cannot move in every direction"):
                dyn.operational_inertia(point, 0.0, x, along=[direction])
            continue
        found = dyn.operational_inertia(point, 0.0, x, along=[direction])
        assert found.shape == (1, 1)
        np.testing.assert_allclose(found[0, 0], 1.0 / (direction @ along), rtol=1e-9)


def test_momentum_map_of_quaternions() -> None:
    """Any speeds: A u is the momentum, about the mass centre or a point."""
    dyn = kc.load("quadrotor")
    x = np.random.default_rng(1).uniform(-1.0, 1.0, (2, 3, dyn.n_x))
    u = x[..., dyn.n_q :, np.newaxis]
    found = (dyn.momentum_matrix(0.0, x) @ u)[..., 0]
    np.testing.assert_allclose(found[..., :3], dyn.linear_momentum(0.0, x), rtol=1e-12, atol=1e-14)
    point = dyn.points[0]
    found = (dyn.momentum_matrix(0.0, x, about=point) @ u)[..., 0]
    np.testing.assert_allclose(found[..., 3:], dyn.angular_momentum(0.0, x, point), rtol=1e-11, atol=1e-13)


def test_prescribed_motion_is_no_part_of_the_map() -> None:
    dyn = kc.load("rotating_tube")
    x, r = [0.2, 0.5, 0.3, -0.4], [0.3, 0.7, 0.2]
    at_rest = [*x[:2], 0.0, 0.0]
    expected = dyn.linear_momentum(0.0, x, r=r) - dyn.linear_momentum(0.0, at_rest, r=r)
    found = dyn.momentum_matrix(0.0, x, r=r)
    assert found.shape == (6, 2)
    np.testing.assert_allclose(found[:3] @ x[2:], expected, atol=1e-14)


# ----------------------------------------------------------------------------------------------- regressor


@pytest.mark.parametrize("name", part(MODELS, ("rrp", "rotating_tube", "rolling_disc", "four_bar")))
def test_regressor_of_the_gallery(name: str) -> None:
    """Y π is −F* and the weights."""
    module = import_module(f"kanecore.gallery.{name}")
    model = module.build()
    if reason := model._derivation.missing("regressor"):
        assert "Lagrangian" in reason or "not constant" in reason or "loads" in reason
        return
    dyn = kc.compile(model, parameters=module.PARAMETERS)
    rng = np.random.default_rng(2)
    x, udot, r = (rng.uniform(-1.0, 1.0, n) for n in (dyn.n_x, dyn.n_u, dyn.n_r))
    for places in dyn.unit:
        x[list(places)] /= np.linalg.norm(x[list(places)])
    found = dyn.regressor(0.0, x, udot, r=r)
    assert found.shape == (dyn.n_u, 10 * dyn.n_bodies)
    inertia = -dyn.generalized_inertia_forces(0.0, x, udot, r=r)
    weights = dyn.gravity_forces(0.0, x, r=r)
    parameters = dyn.inertial_parameters(0.0, x, named=True, r=r)
    assert tuple(parameters) == dyn.bodies
    expected = inertia + weights
    size = np.max(np.abs(found) @ np.abs(np.concatenate([*parameters.values()])))
    assert np.max(np.abs(found @ np.concatenate([*parameters.values()]) - expected)) < TOLERANCE * size


def slider(mass: Any, *loads: Any) -> kc.Model:
    q, u = me.dynamicsymbols("q u")
    N, origin = ground()
    P = origin.locatenew("P", q * N.x)
    forces = [(P, load * N.x) for load in loads]
    return kc.Model(N, [q], [u], rates([q], [u]), bodies=[me.Particle("P", P, mass)], forcelist=forces)


def test_models_without_a_regressor() -> None:
    q, m, k = me.dynamicsymbols("q"), *sm.symbols("m k")
    with pytest.raises(kc.ModelError, match="mass or inertia of body P is not constant"):
        kc.compile(slider(1 + q**2, -k * q)).regressor(0.0, [0.1, 0.2], [0.3])
    with pytest.raises(kc.ModelError, match="hold m, of a mass"):
        kc.compile(slider(m, -k * m * q)).regressor(0.0, [0.1, 0.2], [0.3])
    lagrangian = kc.Model.from_lagrangian(m * q.diff(t) ** 2 / 2, [q], frame=me.ReferenceFrame("N"))
    with pytest.raises(kc.ModelError, match="no regressor: it has no bodies"):
        kc.compile(lagrangian, parameters={"m": 1.0}).regressor(0.0, [0.1, 0.2], [0.3])
    given = kc.compile(slider(m, -k * q), parameters={"m": 2.0, "k": 3.0})
    np.testing.assert_allclose(given.regressor(0.0, [0.1, 0.2], [0.3]), [[0.3, *[0.0] * 9]])


# ----------------------------------------------------------------------------------------------- gravity


def test_gravity_of_a_lagrangian_and_of_potentials() -> None:
    """What is given as a potential energy counts, springs among it; loads that are no weights do not."""
    q, u, (m, g, k, c) = *me.dynamicsymbols("q u"), sm.symbols("m g k c", positive=True)
    N, O = ground()  # noqa: E741
    P = O.locatenew("P", q * N.y)
    L = m * q.diff(t) ** 2 / 2 - m * g * q - k * q**4
    loads = [(P, -m * g * N.y), (P, -k * q**3 * N.y - c * q.diff(t) * N.y)]
    weight = 2.0 * 9.81

    def kane(**options: Any) -> kc.Model:
        return kc.Model(N, [q], [u], rates([q], [u]), bodies=[me.Particle("P", P, m)], **options)

    for model, expected in (
        (kc.Model.from_lagrangian(L, [q], forcelist=[(P, -c * q.diff(t) * N.y)], frame=N), weight + 4 * 3.0 * 0.5**3),
        (kane(forcelist=loads), weight),
        (kane(potentials=[m * g * q]), weight),
        (kane(forcelist=loads[1:]), 0.0),
    ):
        dyn = kc.compile(model, parameters={s: {m: 2.0, g: 9.81, k: 3.0, c: 0.7}[s] for s in model.parameters})
        np.testing.assert_allclose(dyn.gravity_forces(0.0, [0.5, 2.0]), [expected])


# ------------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("rolling_disc", "qdot = u"),
        ("quadrotor", "qdot = u"),
        ("rotating_tube", "prescribed motions"),
    ],
)
def test_models_without_a_coriolis_matrix(name: str, why: str) -> None:
    dyn = kc.compile(import_module(f"kanecore.gallery.{name}").build())
    with pytest.raises(kc.ModelError, match=f"has no coriolis matrix: .*{why}"):
        dyn.coriolis_matrix(0.0, np.zeros(dyn.n_x))


def test_masses_that_change_and_loads_of_udot() -> None:
    """M(q) that is no metric of a kinetic energy, and M that is not that of the bodies."""
    q, u = me.dynamicsymbols("q u")
    for model, words in ((slider(1 + q**2, 0), "masses that change"), (slider(2, -u.diff()), "loads hold udot")):
        with pytest.raises(kc.ModelError, match=words):
            kc.compile(model).coriolis_matrix(0.0, [0.1, 0.2])


def test_two_fields_of_gravity() -> None:
    q, u, (m1, m2, g, h) = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3"), sm.symbols("m1 m2 g h")
    N, O = ground()  # noqa: E741
    P, Q = (O.locatenew(name, x * N.y) for name, x in zip("PQ", q, strict=True))
    bodies, loads = [me.Particle("P", P, m1), me.Particle("Q", Q, m2)], [(P, -m1 * g * N.y), (Q, -m2 * h * N.y)]
    dyn = kc.compile(kc.Model(N, q, u, rates(q, u), bodies=bodies, forcelist=loads))
    with pytest.raises(kc.ModelError, match=r"more than one γ, .*: 0 at P and 1 at Q"):
        dyn.gravity_forces(0.0, np.zeros(4))


def test_leading_axes() -> None:
    """Of states, parameters and places together, as one by one."""
    dyn, states = kc.load("cart_pole"), np.random.default_rng(2).uniform(-1.0, 1.0, (3, 1, 4))
    masses, about = np.array([1.0, 2.0]), np.random.default_rng(3).uniform(-1.0, 1.0, (3, 2, 3))
    for place in (None, "G", about):
        found = dyn.momentum_matrix(0.0, states, about=place, p={"m": masses})
        for i, j in np.ndindex(3, 2):
            here = place[i, j] if isinstance(place, np.ndarray) else place
            expected = dyn.momentum_matrix(0.0, states[i, 0], about=here, p={"m": masses[j]})
            np.testing.assert_allclose(found[i, j], expected, rtol=0, atol=1e-15)
    assert dyn.momentum_matrix(0.0, states[0, 0], about=about).shape == (3, 2, 6, 2)
    with pytest.raises(ValueError, match=r"leading axes do not broadcast: x \(3, 1\), about \(2, 1\)"):
        dyn.momentum_matrix(0.0, states, about=np.zeros((2, 1, 3)))


def test_leading_axes_of_parameters_with_constraints() -> None:
    dyn, masses = kc.load("four_bar"), np.array([1.0, 1.2, 1.4])
    x = dyn.consistent(0.0, list(four_bar.STATE.values()))
    found = dyn.operational_inertia("C2", 0.0, x, along=[[1.0, 0.0, 0.0]], p={"m2": masses})
    one_by_one = [dyn.operational_inertia("C2", 0.0, x, along=[[1.0, 0.0, 0.0]], p={"m2": m}) for m in masses]
    np.testing.assert_allclose(found, one_by_one, rtol=1e-13)


def test_wrong_calls() -> None:
    dyn, x = kc.load("planar_2r"), np.array([0.3, 0.8, 0.0, 0.0])
    with pytest.raises(KeyError, match=r"no point of 'planar_2r' .* 'tipp'"):
        dyn.operational_inertia("tipp", 0.0, x)
    with pytest.raises(KeyError, match=r"no frame of 'planar_2r' .* 'Z'"):
        dyn.operational_inertia(dyn.points[-1], 0.0, x, attached="Z")
    with pytest.raises(ValueError, match=r"along holds directions in rows, \(3 numbers each\)"):
        dyn.operational_inertia(dyn.points[-1], 0.0, x, along=[1.0, 0.0, 0.0])
    with pytest.raises(kc.SingularError, match="cannot move in every direction") as caught:
        dyn.operational_inertia(dyn.points[-1], 0.0, [x, x])
    assert caught.value.rows.tolist() == [0, 1]
    assert dyn.operational_inertia(dyn.points[-1], 0.0, [x, x], along=np.eye(3)[:2]).shape == (2, 2, 2)
    for function in (dyn.mass_matrix_inverse, dyn.momentum_matrix):
        np.testing.assert_array_equal(
            function(0.0, dict(zip(dyn.coordinate_names, x[:2], strict=True))), function(0.0, x)
        )
    assert np.isnan(dyn.mass_matrix_inverse(0.0, [np.nan, np.nan, 0.0, 0.0])).all()


def test_gravity_of_a_mass_that_is_a_product() -> None:
    """The weight of m exp(-k t) has that mass as a factor in no structure of its own."""
    q, (m, g, k) = me.dynamicsymbols("q"), sm.symbols("m g k")
    mass = m * sm.exp(-k * t)
    model = slider(mass, -g * m * sm.exp(-k * t), -k * mass * q)
    dyn = kc.compile(model, parameters={"m": 2, "g": 9.81, "k": 0.1})
    assert dyn.gravity_forces(1.5, [0.3, 0.2]) == pytest.approx(2 * 9.81 * np.exp(-0.15), rel=1e-14)
