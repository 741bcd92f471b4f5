# SPDX-License-Identifier: BSD-3-Clause
"""The manipulator form, the inertia that a point shows, the map of momentum: against Pinocchio, and by definition."""

from functools import cache
from importlib import import_module
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from gallery_states import OF_BODIES
from mechanisms import ground, knife_edge, rates
from oracle.compare import read_reference, relative_error
from oracle.serial_models import arm
from sweep import part

import kanecore as kc
from kanecore.control.operational_space import _inverted
from kanecore.gallery import MODELS, four_bar

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
    options = {"forcelist": system["loads"]} | {key: system[key] for key in ("bodies", "inputs")}
    options["points"] = [next(iter(body.masscenter._pos_dict)) for body in system["bodies"]]  # of the joints
    model = kc.Model(system["frame"], system["q"], system["u"], system["kdes"], **options)
    dyn = kc.compile(model, parameters=system["parameters"])
    return dyn, read_reference(f"pinocchio/manipulator_{name}")["states"]


@pytest.mark.long
@pytest.mark.parametrize("name", part("BC", "B"))
def test_pinocchio(name: str) -> None:
    """C by Christoffel symbols, gravity, M⁻¹, the map of momentum, and ∂u̇/∂(q, u, τ) beside `computeABADerivatives`."""
    dyn, states = robot(name)
    for state in states:
        x, n = np.array(state["q"] + state["v"]), dyn.n_q
        A, B = dyn.linearize(0.0, x, r=np.array(state["tau_applied"]))
        for found, expected, limit in (
            (dyn.coriolis_matrix(0.0, x), "coriolis", TOLERANCE),
            (dyn.gravity_forces(0.0, x), "gravity", TOLERANCE),
            (dyn.mass_matrix_inverse(0.0, x), "M_inverse", 1e-11),
            (dyn.momentum_matrix(0.0, x), "centroidal_map", TOLERANCE),
            (A[n:, :n], "ddq_dq", 1e-9),
            (A[n:, n:], "ddq_dv", 1e-9),
            (B[n:], "M_inverse", 1e-9),
        ):
            assert relative_error(found, state[expected]) < limit, expected


@pytest.mark.long
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
    """C_ij = ½ Σ (∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i) u_k by differences of M; Ṁ − 2C is skew, and C u is −F*."""
    dyn = kc.load(name)
    n, h = dyn.n_u, 1e-5
    x = np.random.default_rng(4).uniform(-1.0, 1.0, 2 * n)
    ends = [[dyn.mass_matrix(0.0, x + s * e) for e in h * np.eye(2 * n)[:n]] for s in (1, -1)]
    slopes = np.moveaxis(np.subtract(*ends) / (2 * h), 0, -1)  # ∂M_ij/∂q_k
    symbols = (slopes + slopes.transpose(0, 2, 1) - slopes.transpose(2, 0, 1)) / 2
    found, rate = dyn.coriolis_matrix(0.0, x), slopes @ x[n:]
    assert relative_error(found, symbols @ x[n:]) < 1e-8
    skew = rate - 2 * found
    assert np.max(np.abs(skew + skew.T)) < 1e-8 * np.max(np.abs(found))
    assert relative_error(found @ x[n:], -dyn.generalized_inertia_forces(0.0, x, np.zeros(n))) < 1e-11


def test_constrained_operational_inertia() -> None:
    """Of a closed loop: the acceleration that a force on the point makes, with what the constraints allow."""
    dyn = kc.load("four_bar")
    x = dyn.consistent(0.0, [four_bar.STATE[k] for k in (*dyn.coordinate_names, *dyn.speed_names)], None)
    M, G, jacobian = dyn.mass_matrix(0.0, x), dyn.constraint_jacobian(0.0, x), dyn.partial_velocities(0.0, x)[1]
    system = np.block([[M, -G.T], [G, np.zeros((len(G), len(G)))]])
    for direction in np.eye(3):
        udot = np.linalg.solve(system, np.append(jacobian @ direction, np.zeros(len(G))))[: dyn.n_u]
        along = jacobian.T @ udot  # the direction in which it goes
        if np.linalg.norm(along) < 1e-9:
            with pytest.raises(kc.SingularError, match="cannot move in every direction"):
                dyn.operational_inertia(dyn.points[1], 0.0, x, along=[direction])
        else:
            found = dyn.operational_inertia(dyn.points[1], 0.0, x, along=[direction])
            assert found.shape == (1, 1)
            np.testing.assert_allclose(found[0, 0], 1.0 / (direction @ along), rtol=1e-9)


def test_momentum_map() -> None:
    """Any speeds: A u is the momentum, about the mass centre or a point; prescribed motions have no part in it."""
    dyn = kc.load("free_body")
    x = np.random.default_rng(1).uniform(-1.0, 1.0, (2, 3, dyn.n_x))
    u, point = x[..., dyn.n_q :, np.newaxis], dyn.points[0]
    found = (dyn.momentum_matrix(0.0, x) @ u)[..., 0]
    np.testing.assert_allclose(found[..., :3], dyn.linear_momentum(0.0, x), rtol=1e-12, atol=1e-14)
    found = (dyn.momentum_matrix(0.0, x, about=point) @ u)[..., 0]
    np.testing.assert_allclose(found[..., 3:], dyn.angular_momentum(0.0, x, point), rtol=1e-11, atol=1e-13)
    tube, x, r = kc.load("rotating_tube"), [0.2, 0.5, 0.3, -0.4], [0.3, 0.7, 0.2]
    moving, at_rest = (tube.linear_momentum(0.0, state, r=r) for state in (x, [*x[:2], 0.0, 0.0]))
    found = tube.momentum_matrix(0.0, x, r=r)
    assert found.shape == (6, 2)
    np.testing.assert_allclose(found[:3] @ x[2:], moving - at_rest, atol=1e-14)


# ----------------------------------------------------------------------------------------------- regressor
@pytest.mark.parametrize("name", part(OF_BODIES, ("rrp", "rotating_tube", "rolling_disc")))
def test_regressor_of_the_gallery(name: str) -> None:
    """Y π is −F* and the weights."""
    module = import_module(f"kanecore.gallery.{name}")
    model = module.build()
    if reason := model.derivation.missing("regressor"):
        assert "Lagrangian" in reason or "not constant" in reason or "loads" in reason
        return
    dyn, rng = kc.compile(model, parameters=module.PARAMETERS), np.random.default_rng(2)
    x, udot, r = (rng.uniform(-1.0, 1.0, n) for n in (dyn.n_x, dyn.n_u, dyn.n_r))
    for places in dyn.unit:
        x[list(places)] /= np.linalg.norm(x[list(places)])
    found, parameters = dyn.regressor(0.0, x, udot, r=r), dyn.inertial_parameters(0.0, x, named=True, r=r)
    assert found.shape == (dyn.n_u, 10 * dyn.n_bodies)
    assert tuple(parameters) == dyn.bodies
    pi = np.concatenate([*parameters.values()])
    expected = dyn.gravity_forces(0.0, x, r=r) - dyn.generalized_inertia_forces(0.0, x, udot, r=r)
    assert np.max(np.abs(found @ pi - expected)) < TOLERANCE * np.max(np.abs(found) @ np.abs(pi))


def slider(mass: Any, *loads: Any) -> kc.Model:
    q, u = me.dynamicsymbols("q u")
    N, origin = ground()
    P = origin.locatenew("P", q * N.x)
    forces = [(P, load * N.x) for load in loads]
    return kc.Model(N, [q], [u], rates([q], [u]), bodies=[me.Particle("P", P, mass)], forcelist=forces)


def test_models_without_a_regressor() -> None:
    (q, m, k), state = (me.dynamicsymbols("q"), *sm.symbols("m k")), (0.0, [0.1, 0.2], [0.3])
    lagrangian = kc.Model.from_lagrangian(m * q.diff(t) ** 2 / 2, [q], frame=me.ReferenceFrame("N"))
    for model, message in (
        (slider(1 + q**2, -k * q), "mass or inertia of body P is not constant"),
        (slider(m, -k * m * q), "hold m, of a mass"),
        (lagrangian, "no regressor: it has no bodies"),
    ):
        with pytest.raises(kc.ModelError, match=message):
            kc.compile(model).regressor(*state)
    given = kc.compile(slider(m, -k * q), parameters={"m": 2.0, "k": 3.0})
    np.testing.assert_allclose(given.regressor(*state), [[0.3, *[0.0] * 9]])


# ----------------------------------------------------------------------------------------------- gravity
def test_gravity_of_a_lagrangian_and_of_potentials() -> None:
    """What is given as a potential energy counts, springs among it; loads that are no weights do not."""
    q, u, (m, g, k, c) = *me.dynamicsymbols("q u"), sm.symbols("m g k c", positive=True)
    N, O = ground()  # noqa: E741
    P, v = O.locatenew("P", q * N.y), q.diff(t)
    kane: dict[str, Any] = {"frame": N, "q_ind": [q], "u_ind": [u], "kd_eqs": rates([q], [u])}
    kane["bodies"] = [me.Particle("P", P, m)]
    weight, others = (P, -m * g * N.y), (P, -k * q**3 * N.y - c * v * N.y)
    L = m * v**2 / 2 - m * g * q - k * q**4
    for model, expected in (
        (kc.Model.from_lagrangian(L, [q], forcelist=[(P, -c * v * N.y)], frame=N), 2.0 * 9.81 + 4 * 3.0 * 0.5**3),
        (kc.Model(**kane, forcelist=[weight, others]), 2.0 * 9.81),
        (kc.Model(**kane, potentials=[m * g * q]), 2.0 * 9.81),
        (kc.Model(**kane, forcelist=[others]), 0.0),
    ):
        dyn = kc.compile(model, parameters={s: {m: 2.0, g: 9.81, k: 3.0, c: 0.7}[s] for s in model.parameters})
        np.testing.assert_allclose(dyn.gravity_forces(0.0, [0.5, 2.0]), [expected])


def test_gravity_of_a_mass_that_is_a_product() -> None:
    """The weight of m exp(-k t) has that mass as a factor in no structure of its own."""
    q, (m, g, k) = me.dynamicsymbols("q"), sm.symbols("m g k")
    decay = sm.exp(-k * t)
    dyn = kc.compile(slider(m * decay, -g * m * decay, -k * m * decay * q), parameters={"m": 2, "g": 9.81, "k": 0.1})
    assert dyn.gravity_forces(1.5, [0.3, 0.2]) == pytest.approx(2 * 9.81 * np.exp(-0.15), rel=1e-14)


# ------------------------------------------------------------------------------------------------ errors
def gallery(name: str) -> kc.Model:
    return import_module(f"kanecore.gallery.{name}").build()


@pytest.mark.parametrize(
    ("build", "why"),
    [
        (lambda: knife_edge(), "has no coriolis matrix: .*qdot = u"),
        pytest.param(lambda: gallery("quadrotor"), "has no coriolis matrix: .*qdot = u", marks=pytest.mark.long),
        (lambda: gallery("rotating_tube"), "has no coriolis matrix: .*prescribed motions"),
        (lambda: slider(1 + me.dynamicsymbols("q") ** 2, 0), "masses that change"),  # M(q) is no metric of T
        (lambda: slider(2, -me.dynamicsymbols("u").diff()), "loads hold udot"),  # M is not that of the bodies
    ],
)
def test_models_without_a_coriolis_matrix(build: Any, why: str) -> None:
    dyn = kc.compile(build())
    with pytest.raises(kc.ModelError, match=why):
        dyn.coriolis_matrix(0.0, np.zeros(dyn.n_x))


def test_two_fields_of_gravity() -> None:
    q, u, (m1, m2, g, h) = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3"), sm.symbols("m1 m2 g h")
    N, O = ground()  # noqa: E741
    P, Q = (O.locatenew(name, x * N.y) for name, x in zip("PQ", q, strict=True))
    bodies, loads = [me.Particle("P", P, m1), me.Particle("Q", Q, m2)], [(P, -m1 * g * N.y), (Q, -m2 * h * N.y)]
    dyn = kc.compile(kc.Model(N, q, u, rates(q, u), bodies=bodies, forcelist=loads))
    with pytest.raises(kc.ModelError, match=r"more than one γ, .*: 0 at P and 1 at Q"):
        dyn.gravity_forces(0.0, np.zeros(4))


def test_leading_axes() -> None:
    """Of states, parameters and places together, as one by one; of parameters with constraints."""
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
    loop, options = kc.load("four_bar"), {"along": [[1.0, 0.0, 0.0]]}
    x = loop.consistent(0.0, list(four_bar.STATE.values()))
    found = loop.operational_inertia("C2", 0.0, x, **options, p={"m2": masses})
    one_by_one = [loop.operational_inertia("C2", 0.0, x, **options, p={"m2": mass}) for mass in masses]
    np.testing.assert_allclose(found, one_by_one, rtol=1e-13)


def test_nearly_singular() -> None:
    """[[1, 1 - e], [1 - e, 1]] has the condition 2/e - 1, and its inverse is known; from 1e10 on it is refused."""
    dyn, x = kc.load("planar_2r"), np.zeros(4)

    def matrix(e: float) -> npt.NDArray[np.float64]:
        return np.array([[1.0, 1.0 - e], [1.0 - e, 1.0]])

    for e in (0.5, 2.0**-25, 2.0**-30):
        exact = np.array([[1.0, e - 1.0], [e - 1.0, 1.0]]) / (e * (2.0 - e))
        np.testing.assert_allclose(_inverted(dyn, matrix(e), 0.0, x, "no inverse"), exact, rtol=1e-5)
    for e in (2.0**-36, 0.0):
        with pytest.raises(kc.SingularError, match="no inverse") as caught:
            _inverted(dyn, np.stack([matrix(0.5), matrix(e)]), 0.0, x, "no inverse")
        assert caught.value.rows.tolist() == [1]


@pytest.mark.parametrize(
    "name", part([name for name in MODELS if name != "five_bar_bodies"], ("rrp", "four_bar", "free_body"))
)
def test_inverse_in_50_digits(name: str) -> None:
    """Written out, from factors in loops where that is long, and in lanes."""
    module = import_module(f"kanecore.gallery.{name}")
    dyn = kc.compile(module.build(), parameters=module.PARAMETERS)
    x, r = np.random.default_rng(5).uniform(-1.0, 1.0, (9, dyn.n_x)), np.ones(dyn.n_r)
    mass, found = dyn.mass_matrix(0.0, x[0], r=r), dyn.mass_matrix_inverse(0.0, x, r=r)
    with mpmath.workdps(50):
        exact = np.array((mpmath.matrix(mass.tolist()) ** -1).tolist(), dtype=float).reshape(mass.shape)
    units = np.sqrt(np.diagonal(mass))
    scale = np.outer(units, units)
    allowed = 10 * dyn.n_u * np.finfo(float).eps * np.linalg.cond(mass / scale)
    np.testing.assert_allclose(found[0] * scale, exact * scale, rtol=0, atol=allowed * np.max(np.abs(exact * scale)))
    np.testing.assert_array_equal(found, [dyn.mass_matrix_inverse(0.0, state, r=r) for state in x])
    np.testing.assert_array_equal(found, np.swapaxes(found, 1, 2))


def test_inverses_in_doubt() -> None:
    """M = [[1, c], [c, 1]]: nearly singular ones are inverted by NumPy, singular ones refused, alone and in a batch."""
    (q1, q2), c = me.dynamicsymbols("q1 q2"), sm.Symbol("c")
    lagrangian = (q1.diff(t) ** 2 + 2 * c * q1.diff(t) * q2.diff(t) + q2.diff(t) ** 2) / 2
    dyn, x = kc.compile(kc.Model.from_lagrangian(lagrangian, [q1, q2])), np.zeros((2, 4))
    for e in (1.5, 2.5, 2.0**-25, 2.0**-30):  # of 2.5 M is indefinite
        exact = np.array([[1.0, e - 1.0], [e - 1.0, 1.0]]) / (e * (2.0 - e))
        np.testing.assert_allclose(dyn.mass_matrix_inverse(0.0, x, p=[1.0 - e]), [exact, exact], rtol=1e-5)
    p = np.array([[[0.3], [0.3]], [[-1.5], [1.0 - 2.0**-30]], [[0.7], [0.7]]])
    for found, alone in zip(dyn.mass_matrix_inverse(0.0, x, p=p).reshape(6, 2, 2), p.reshape(6, 1), strict=True):
        np.testing.assert_array_equal(found, dyn.mass_matrix_inverse(0.0, x[0], p=alone))  # whatever stands beside it
    for e in (2.0**-36, 0.0, 2.0):
        with pytest.raises(kc.SingularError, match="the mass matrix is singular: some combination") as caught:
            dyn.mass_matrix_inverse(0.0, x, p=[[0.5], [1.0 - e]])
        assert caught.value.rows.tolist() == [1]


def test_wrong_calls() -> None:
    dyn, x = kc.load("planar_2r"), np.array([0.3, 0.8, 0.0, 0.0])
    inertia, tip = dyn.operational_inertia, dyn.points[-1]
    with pytest.raises(KeyError, match=r"no point of 'planar_2r' .* 'tipp'"):
        inertia("tipp", 0.0, x)
    with pytest.raises(KeyError, match=r"no frame of 'planar_2r' .* 'Z'"):
        inertia(tip, 0.0, x, attached="Z")
    with pytest.raises(ValueError, match=r"along has shape \(3,\), expected \(N, 3\)"):
        inertia(tip, 0.0, x, along=[1.0, 0.0, 0.0])
    with pytest.raises(kc.SingularError, match="cannot move in every direction") as caught:
        inertia(tip, 0.0, [x, x])
    assert caught.value.rows.tolist() == [0, 1]
    assert inertia(tip, 0.0, [x, x], along=np.eye(3)[:2]).shape == (2, 2, 2)
    by_name = dict(zip(dyn.coordinate_names, x[:2], strict=True))
    for function in (dyn.mass_matrix_inverse, dyn.momentum_matrix):
        np.testing.assert_array_equal(function(0.0, by_name), function(0.0, x))
    assert np.isnan(dyn.mass_matrix_inverse(0.0, [np.nan, np.nan, 0.0, 0.0])).all()
