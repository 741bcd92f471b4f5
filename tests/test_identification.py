# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.control.identification: base parameters, friction and rotors of arms and loops, with and without noise."""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import compiled, ground
from numpy.testing import assert_allclose
from scipy.linalg import qr
from sweep import part

import kanecore as kc
from kanecore.control.physical_inertia import pseudo_inertia

Array = npt.NDArray[np.float64]

ROBOTS = Path(__file__).parent / "robots"


@cache
def robot(**options: Any) -> kc.CompiledModel:
    """Without a compiler, by parameters."""
    return kc.compile(kc.Model.from_urdf(ROBOTS / "tools.urdf", parameters=True, **options), cc="none")


def states(dyn: kc.CompiledModel, n: int, seed: int = 0) -> tuple[Array, Array]:
    """Random x, away from zero speeds, and udot, both on the constraints."""
    rng = np.random.default_rng(seed)
    x, udot = rng.uniform(-1.0, 1.0, (n, dyn.n_x)), rng.uniform(-3.0, 3.0, (n, dyn.n_u))
    x[:, dyn.n_q :] += np.copysign(0.1, x[:, dyn.n_q :])
    return x, udot


def efforts(dyn: kc.CompiledModel, x: Array, udot: Array, theta: Array | None = None) -> Array:
    """Inputs, one for each speed and of its name, with which the true model moves like that."""
    balance = dyn.inverse_dynamics(0.0, x, udot, r=np.zeros(dyn.n_r))
    if theta is not None:
        balance = balance + dyn.joint_regressor(0.0, x, udot) @ theta.ravel()
    return np.asarray(balance)


def perturbed(dyn: kc.CompiledModel, share: float = 0.3, seed: int = 1) -> None:
    """Masses, mass centres and inertias that are wrong by up to a share."""
    rng = np.random.default_rng(seed)
    for name, value in dict(dyn.parameters).items():
        if name[0] in "mcI":
            dyn.parameters[name] = value * (1.0 + share * rng.uniform(-1.0, 1.0))


def true_base(fit: kc.Identification, dyn: kc.CompiledModel, theta: Array | None = None) -> tuple[Array, Array]:
    """Base parameters of the true model, and the terms that each is summed from."""
    found = dyn.inertial_parameters(0.0, np.zeros(dyn.n_x)).ravel()
    if theta is not None:
        names = [f"{q}.{kind}" for q in dyn.coordinate_names for kind in ("viscous", "dry", "rotor")]
        values = dict(zip(names, theta.ravel(), strict=True))
        found = np.concatenate([found, [values[name] for name in fit.columns[len(found) :]]])
    return fit.matrix @ found, np.abs(fit.matrix) @ np.abs(found)


def require_same(found: Array, expected: Array, size: Array) -> None:
    """Each to 1e-9; those that are zero to rounding of the others."""
    assert (np.abs(found - expected) <= 1e-9 * np.abs(expected) + 1e-13 * np.max(size)).all()


def require_physical(fit: kc.Identification) -> None:
    assert fit.physical
    assert (fit.inertial_parameters[:, 0] > 0.0).all()
    for p in pseudo_inertia(fit.inertial_parameters):
        size = np.sqrt(np.diag(p))
        assert np.linalg.eigvalsh(p / np.outer(size, size))[0] > 0.0


def pivoted_rank(columns: Array) -> int:
    columns = columns.reshape(-1, columns.shape[-1])
    size = np.linalg.norm(columns, axis=0)
    columns = columns[:, size > 1e-12 * size.max()] / size[size > 1e-12 * size.max()]
    diagonal = np.abs(np.diag(qr(columns, mode="r", pivoting=True)[0]))
    return int(np.sum(diagonal > 1e-10 * diagonal[0]))


# ------------------------------------------------------------------------------------------- arms
@pytest.mark.parametrize(("name", "rank"), [("puma560", 36), pytest.param("iiwa14", 43, marks=pytest.mark.long)])
def test_an_arm_from_exact_data(name: str, rank: int) -> None:
    """36 and 43 as in tests/test_base_parameters.py; the model then has the torques of the true one."""
    module = import_module(f"kanecore.gallery.{name}")
    true, dyn = kc.load(name), kc.load(name)
    perturbed(dyn)
    x, udot = states(true, 200)
    fit = dyn.identify(x, udot, efforts(true, x, udot))
    known = module.build().base_parameters(dict(dyn.parameters))
    assert fit.rank == rank == known.n_base == pivoted_rank(np.asarray(true.regressor(0.0, x, udot)))
    assert fit.independent == known.independent
    assert fit.columns == known.columns
    assert_allclose(fit.matrix, known.matrix, rtol=0, atol=1e-9)
    assert fit.condition < 10.0
    base, size = true_base(fit, true)
    require_same(fit.base, base, size)
    require_physical(fit)
    assert_allclose(fit.matrix @ fit.inertial_parameters.ravel(), fit.base, rtol=0, atol=1e-13 * np.max(size))
    dyn.parameters.update(fit.parameters)
    x, udot = states(true, 50, seed=5)
    wanted = efforts(true, x, udot)
    assert_allclose(efforts(dyn, x, udot), wanted, rtol=0, atol=1e-9 * np.min(np.max(np.abs(wanted), axis=0)))


@pytest.mark.long
def test_a_urdf_with_friction_and_rotors() -> None:
    """All values by the names of `from_urdf`, which give the physical bodies that were found, and the true motion."""
    true, dyn = robot(), kc.compile(kc.Model.from_urdf(ROBOTS / "tools.urdf", parameters=True), cc="none")
    perturbed(dyn)
    x, udot = states(true, 150)
    rng = np.random.default_rng(2)
    theta = rng.uniform(0.1, 1.0, (true.n_q, 3))
    by_speed = efforts(true, x, udot, theta)
    r = {name.replace("u_", "tau_"): by_speed[:, i] for i, name in enumerate(true.speed_names)}
    fit = dyn.identify(x, udot, r, joints=("viscous", "dry", "rotor"))
    known = kc.Model.from_urdf(ROBOTS / "tools.urdf", parameters=True).base_parameters(dict(dyn.parameters))
    assert fit.rank == known.n_base + 14
    assert fit.independent[: known.n_base] == known.independent
    base, size = true_base(fit, true, theta)
    require_same(fit.base, base, size)
    assert_allclose(fit.joint_parameters[:, :2], theta[:, :2], rtol=1e-9)
    require_physical(fit)
    dyn.parameters.update(fit.parameters)
    assert_allclose(
        dyn.inertial_parameters(0.0, x[0]),
        fit.inertial_parameters,
        rtol=0,
        atol=1e-12 * np.max(fit.inertial_parameters),
    )
    x, udot = states(true, 50, seed=7)
    found = efforts(dyn, x, udot, fit.joint_parameters)
    wanted = efforts(true, x, udot, theta)
    assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.max(np.abs(wanted)))


@pytest.mark.long
def test_rotors_of_the_puma() -> None:
    """Joints 1 and 2 stand on axes at rest and normal to one at rest: their links turn about them as their rotors do.

    So J goes with Izz of the link there, and the other four are told apart: 40.
    """
    true, dyn = kc.load("puma560"), kc.load("puma560")
    theta = np.zeros((6, 3))
    theta[:, 2] = [1.1, 4.7, 0.8, 0.2, 0.18, 0.19]
    x, udot = states(true, 200)
    fit = dyn.identify(x, udot, efforts(true, x, udot, theta), joints="rotor")
    assert fit.rank == 40
    row = fit.matrix[list(fit.independent).index(fit.columns.index("body2.Izz"))]
    assert row[[fit.columns.index(f"{q}.rotor") for q in true.coordinate_names]].round(12).tolist() == [
        0,
        1,
        0,
        0,
        0,
        0,
    ]
    assert_allclose(fit.joint_parameters[2:, 2], theta[2:, 2], rtol=1e-9)
    assert (fit.joint_parameters[:2, 2] > 0.0).all()
    base, size = true_base(fit, true, theta)
    require_same(fit.base, base, size)
    dyn.parameters.update(fit.parameters)
    wanted = efforts(true, x, udot, theta)
    found = efforts(dyn, x, udot, fit.joint_parameters)
    assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.max(np.abs(wanted)))


@pytest.mark.long
def test_rotors_beside_a_prior_without_inertia() -> None:
    """Bodies of such a prior get some inertia first, `solid`, and rotors have a share of that."""
    true, dyn = kc.load("puma560"), kc.load("puma560")
    x, udot = states(true, 200)
    r = efforts(true, x, udot)
    points = np.zeros((6, 10))
    points[:, 0] = 1.0
    for prior in (np.zeros((6, 10)), points):
        fit = dyn.identify(x, udot, r, joints="rotor", prior=prior)
        require_physical(fit)
        assert (fit.joint_parameters[:2, 2] > 0.0).all()
        base, size = true_base(fit, true, np.zeros((6, 3)))
        require_same(fit.base, base, size)


def test_joints_that_are_chosen() -> None:
    true, dyn = kc.load("planar_2r"), kc.load("planar_2r")
    perturbed(dyn)
    x, udot = states(true, 50)
    theta = np.array([[0.0, 0.0, 0.0], [0.4, 0.7, 0.0]])
    last = true.coordinate_names[1]
    fit = dyn.identify(x, udot, efforts(true, x, udot, theta), joints={"dry": [last], "viscous": last})
    assert fit.columns[-2:] == (f"{last}.viscous", f"{last}.dry")
    assert_allclose(fit.joint_parameters, theta, rtol=0, atol=1e-10)
    require_physical(fit)


@pytest.mark.long
def test_units_do_not_matter() -> None:
    """In millimetres and grams torques are 1e9 times as large; all that is found is the same, in these units."""
    true, dyn = kc.load("puma560"), kc.load("puma560")
    small_true, small = kc.load("puma560"), kc.load("puma560")
    perturbed(dyn)
    dimensions = import_module("kanecore.gallery.puma560").DIMENSIONS
    factor = {name: 1e3 ** dimensions[name][0] * 1e3 ** dimensions[name][1] for name in true.parameters}
    for from_model, to_model in ((true, small_true), (dyn, small)):
        to_model.parameters.update({name: value * factor[name] for name, value in from_model.parameters.items()})
    x, udot = states(true, 100)
    rng = np.random.default_rng(3)
    noise = 1e-5 * rng.standard_normal((100, 6))
    fit = dyn.identify(x, udot, efforts(true, x, udot) + noise)
    other = small.identify(x, udot, efforts(small_true, x, udot) + 1e9 * noise)
    assert other.independent == fit.independent
    assert other.condition == pytest.approx(fit.condition, rel=1e-6)
    assert_allclose(other.residual, 1e9 * fit.residual, rtol=1e-6)
    units = np.tile([1e3, *[1e6] * 3, *[1e9] * 6], 6)
    assert_allclose(other.base, fit.base * units[list(fit.independent)], rtol=1e-6)
    assert_allclose(other.standard_errors, fit.standard_errors * units[list(fit.independent)], rtol=1e-6)
    scale = np.max(np.abs(fit.inertial_parameters))
    assert other.physical == fit.physical
    assert_allclose(
        other.inertial_parameters.ravel() / units, fit.inertial_parameters.ravel(), rtol=0, atol=1e-6 * scale
    )
    for name, value in fit.parameters.items():
        assert other.parameters[name] / factor[name] == pytest.approx(value, rel=1e-5, abs=1e-6)


# ------------------------------------------------------------------------------------------- loops, and planes
@pytest.mark.parametrize("name", part(["four_bar", "five_bar"], ["four_bar"]))
def test_a_loop(name: str) -> None:
    """On the constraints, whose forces nobody measured."""
    module = import_module(f"kanecore.gallery.{name}")
    true, dyn = kc.load(name), kc.load(name)
    perturbed(dyn)
    rng = np.random.default_rng(4)
    start = np.array([module.STATE[k] for k in (*true.coordinate_names, *true.speed_names)])
    x = np.array([true.consistent(0.0, start + 0.4 * rng.uniform(-1, 1, true.n_x), None) for _ in range(80)])
    r = rng.uniform(-5.0, 5.0, (80, true.n_r))
    udot = true.udot(0.0, x, r=r)
    fit = dyn.identify(x, udot, r)
    assert fit.rank == module.build().base_parameters(dict(dyn.parameters)).n_base
    base, size = true_base(fit, true)
    require_same(fit.base, base, size)
    assert np.max(fit.residual) < 1e-9
    require_physical(fit)
    dyn.parameters.update(fit.parameters)
    assert_allclose(dyn.udot(0.0, x, r=r), udot, rtol=0, atol=1e-8 * np.max(np.abs(udot)))


def test_plane_bodies_get_a_little_thickness() -> None:
    """Of which the model has one moment of inertia: those found are physical, and its own parameters follow."""
    true, dyn = kc.load("planar_2r"), kc.load("planar_2r")
    perturbed(dyn)
    lengths = dyn.parameters["l1"]
    x, udot = states(true, 40)
    fit = dyn.identify(x, udot, efforts(true, x, udot))
    require_physical(fit)
    assert "l1" not in fit.parameters
    dyn.parameters.update(fit.parameters)
    assert dyn.parameters["l1"] == lengths
    assert_allclose(efforts(dyn, x, udot), efforts(true, x, udot), rtol=0, atol=1e-10)


def test_particles_moved_as_prescribed() -> None:
    """Two masses in a tube that turns as given, on springs: inputs by name, and only masses to find."""
    true, dyn = kc.load("rotating_tube"), kc.load("rotating_tube")
    rng = np.random.default_rng(9)
    r = dict(zip(true.input_names, rng.uniform(-2.0, 2.0, (3, 40)), strict=True))
    x, _ = states(true, 40)
    udot = true.udot(0.0, x, r=r)
    dyn.parameters.update(m1=1.0, m2=1.0)
    fit = dyn.identify(x, udot, r, t=np.linspace(0.0, 1.0, 40))
    assert fit.parameters == pytest.approx({"m1": true.parameters["m1"], "m2": true.parameters["m2"]}, rel=1e-12)
    assert_allclose(fit.inertial_parameters[:, 1:], 0.0, rtol=0, atol=0)


def test_thin_rings() -> None:
    """No body is thinner, and the prior says so: with a little thickness they are physical, without a warning."""
    true, dyn = kc.load("gyroscope"), kc.load("gyroscope")
    x, udot = states(true, 60)
    fit = dyn.identify(x, udot, efforts(true, x, udot))
    require_physical(fit)
    require_same(fit.base, *true_base(fit, true))
    assert_allclose(fit.inertial_parameters, true.inertial_parameters(0.0, x[0]), rtol=0, atol=2e-5)


def test_without_known_forces_masses_have_no_scale() -> None:
    """A pendulum that swings by itself shows nothing of its mass, and its prior stays."""
    dyn = kc.load("spherical_pendulum")
    x, _ = states(dyn, 40)
    fit = dyn.identify(x, dyn.udot(0.0, x))
    assert fit.rank == 0
    assert_allclose(fit.inertial_parameters, dyn.inertial_parameters(0.0, x[0]), rtol=1e-12)


def test_an_equation_whose_terms_cancel() -> None:
    """Nothing turns the last bob of a chain: what rounding leaves of its equation is no measurement."""
    true, dyn = kc.load("cart_pendulum"), kc.load("cart_pendulum")
    perturbed(dyn)
    x, _ = states(true, 60)
    r = np.random.default_rng(1).uniform(-1.0, 1.0, (60, 1))
    fit = dyn.identify(x, true.udot(0.0, x, r=r), r)
    base, size = true_base(fit, true)
    require_same(fit.base, base, size)
    assert fit.condition < 20.0


# ------------------------------------------------------------------------------------------- noise
@pytest.mark.long
@pytest.mark.filterwarnings("ignore:no physical masses")
def test_standard_errors() -> None:
    """With noise of known size errors beside standard errors have mean square one, and residuals are of that size."""
    true, dyn = kc.load("puma560"), kc.load("puma560")
    x, udot = states(true, 200)
    deviations = np.array([2.0, 3.0, 1.0, 0.05, 0.03, 0.01])
    squares = []
    for seed in range(5):
        noise = deviations * np.random.default_rng(seed).standard_normal((200, 6))
        fit = dyn.identify(x, udot, efforts(true, x, udot) + noise, deviations=deviations)
        squares.append(((fit.base - true_base(fit, true)[0]) / fit.standard_errors) ** 2)
        assert_allclose(fit.residual, deviations, rtol=0.25)
    assert 0.75 < np.mean(squares) < 1.33


def test_where_nothing_physical_fits() -> None:
    """A negative moment of inertia about the only axis: a warning, and the set of least change."""
    dyn = kc.load("planar_2r")
    x, udot = states(dyn, 40)
    wrong = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -5.0]])
    with pytest.warns(kc.KanecoreWarning, match="no physical masses and inertias of 'planar_2r'"):
        fit = dyn.identify(x, udot, efforts(dyn, x, udot, wrong))
    assert not fit.physical
    assert "no physical masses" in str(fit)
    assert_allclose(fit.matrix @ fit.inertial_parameters.ravel(), fit.base, rtol=1e-9, atol=1e-12)


@pytest.mark.long
def test_parameters_that_fit_best() -> None:
    """Links without products of inertia: with noise no parameters give the base, and the best ones are given.

    Of these the efforts are those of the true arm, but for what the noise does.
    """
    true, dyn = kc.load("iiwa14"), kc.load("iiwa14")
    perturbed(dyn, 0.2)
    x, udot = states(true, 300)
    wanted = efforts(true, x, udot)
    size = np.std(wanted, axis=0)
    fit = dyn.identify(x, udot, wanted + 1e-3 * size * np.random.default_rng(0).standard_normal(wanted.shape))
    before = np.std(efforts(dyn, x, udot) - wanted, axis=0) / size
    dyn.parameters.update(fit.parameters)
    after = np.std(efforts(dyn, x, udot) - wanted, axis=0) / size
    assert (before > 1e-2).all()
    assert (after < 1e-3).all()


# ------------------------------------------------------------------------------------------- words
def test_representation() -> None:
    dyn = kc.load("planar_2r")
    x, udot = states(dyn, 40)
    text = str(dyn.identify(x, udot, efforts(dyn, x, udot), joints="viscous"))
    assert text.startswith("planar_2r: 8 base parameters of 22 from 40 states, condition ")
    assert "masses and inertias are physical" in text
    assert max(map(len, text.splitlines())) < 80


def test_errors() -> None:
    dyn = kc.load("planar_2r")
    x, udot = states(dyn, 40)
    r = efforts(dyn, x, udot)
    with pytest.raises(ValueError, match=r"x has shape \(4,\), expected \(N, 4\)"):
        dyn.identify(x[0], udot[0], r[0])
    with pytest.raises(ValueError, match=r"udot has shape \(40, 1\), expected \(N, 2\)"):
        dyn.identify(x, udot[:, :1], r)
    with pytest.raises(ValueError, match="x has 40 rows and udot has 39"):
        dyn.identify(x, udot[:-1], r)
    with pytest.raises(ValueError, match="x has 40 rows and r has 39"):
        dyn.identify(x, udot, r[:-1])
    with pytest.raises(ValueError, match="x has 40 rows and t has 3"):
        dyn.identify(x, udot, r, t=[0.0, 1.0, 2.0])
    bad = x.copy()
    bad[7, 1] = np.nan
    with pytest.raises(ValueError, match="x holds a number that is not finite in row 7"):
        dyn.identify(bad, udot, r)
    with pytest.raises(ValueError, match="so large that squares of the generalized forces are not finite"):
        dyn.identify(x, 1e200 * udot, r)
    with pytest.raises(ValueError, match="3 states give 6 equations, and 6 base parameters or more follow"):
        dyn.identify(x[:3], udot[:3], r[:3])
    with pytest.raises(KeyError, match="no column of joints is called 'viscos'; did you mean 'viscous'"):
        dyn.identify(x, udot, r, joints="viscos")
    with pytest.raises(KeyError, match="no coordinate 'q9'"):
        dyn.identify(x, udot, r, joints={"dry": ["q9"]})
    with pytest.raises(ValueError, match=r"prior has shape \(3, 10\), expected \(2, 10\)"):
        dyn.identify(x, udot, r, prior=np.zeros((3, 10)))
    with pytest.raises(ValueError, match="they must be positive"):
        dyn.identify(x, udot, r, deviations=[1.0, 0.0])
    with pytest.raises(ValueError, match="tolerance is 0; it must be a number between 0 and 1"):
        dyn.identify(x, udot, r, tolerance=0)
    with pytest.raises(kc.ModelError, match="has no inertial parameters: the mass or inertia"):
        kc.load("rolling_disc").identify(np.zeros((40, 10)), np.zeros((40, 5)))


def on_a_pin(m: Any, *friction: Any) -> kc.CompiledModel:
    q, u, tau = me.dynamicsymbols("q u tau")
    N, O = ground()  # noqa: E741
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    C = O.locatenew("C", -0.35 * A.y)
    rod = me.RigidBody("rod", C, A, m, (me.inertia(A, 0, 0, 0.11), C))
    loads, joints = [(C, -m * 9.81 * N.y), (A, tau * N.z), *friction], {"hinge": (N, rod, O)}
    return compiled(
        kc.Model(N, [q], [u], [q.diff() - u], bodies=[rod], forcelist=loads, joints=joints, name="pin"),
        {m: 3.2} if m.is_Symbol else {},
    )


def test_a_model_of_numbers_alone() -> None:
    """Nothing can take the values: π is all that is found."""
    dyn = on_a_pin(sm.Integer(2))
    x, udot = states(dyn, 40)
    true = (0.11 + 3.2 * 0.35**2) * udot + 3.2 * 9.81 * 0.35 * np.sin(x[:, :1])
    fit = dyn.identify(x, udot, true)
    assert_allclose(fit.inertial_parameters[0, 2], -3.2 * 0.35, rtol=1e-12)
    assert fit.parameters == {}


def test_friction_by_reactions_is_not_linear_in_masses() -> None:
    """Of a pin whose friction is μ|R|: R holds the masses."""
    friction = kc.JointFriction("hinge", mu=0.2, pin_radius=0.03, transition_velocity=1e-3)
    dyn = on_a_pin(sm.Symbol("m"), friction)
    with pytest.raises(kc.ModelError, match="no inertial parameters: load 2 depends on reactions"):
        dyn.identify(*states(dyn, 40), np.zeros((40, 1)))


def test_parameters_that_are_zero_in_any_unit() -> None:
    """A product of inertia that is zero at first takes the value of π, also where moments of inertia are 1e18."""
    link = """
<robot name="wheel"><link name="floor"/>
  <link name="arm"><inertial><origin xyz="{c} 0 {c}"/><mass value="{m}"/>
    <inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tip"><inertial><origin xyz="{c} 0 {c}"/><mass value="{m}"/>
    <inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="a" type="continuous"><parent link="floor"/><child link="arm"/><axis xyz="0 0 1"/></joint>
  <joint name="b" type="continuous"><parent link="arm"/><child link="tip"/><axis xyz="0 1 0"/></joint>
</robot>"""
    found = []
    for length, mass in ((1.0, 1.0), (2.0**20, 2.0**30)):
        unit = mass * length**2
        text = link.format(c=0.125 * length, m=mass, i=0.0625 * unit)
        dyn, real = (
            kc.compile(kc.Model.from_urdf(text, parameters=True, gravity=(0.0, 0.0, -10.0 * length)), cc="none")
            for _ in range(2)
        )
        real.parameters["Ixz_tip"] = 0.01 * unit
        x, udot = states(dyn, 40)
        fit = dyn.identify(x, udot, real.inverse_dynamics(0.0, x, udot))
        found.append(fit.parameters["Ixz_tip"] / unit)
        assert len(fit.parameters) == 20
    assert found[1] == pytest.approx(found[0], rel=1e-6)
    assert abs(found[0]) > 1e-3


def test_rotors_that_a_model_has() -> None:
    """Those of ``armature=`` are in its equations; `joints` finds what they lack."""
    link = """<link name="{}"><inertial><origin xyz="0.3 0.1 0"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    hinge = """<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><origin xyz="{} 0 0"/>
    <axis xyz="0 1 0"/></joint>"""
    text = f'<robot name="r"><link name="g"/>{link.format("a")}{link.format("b")}'
    text += hinge.format("1", "g", "a", 0) + hinge.format("2", "a", "b", 0.7) + "</robot>"
    model = kc.Model.from_urdf(text, parameters=True, armature={"1": 0.2, "2": 0.5})
    true, dyn = kc.compile(model, cc="none"), kc.compile(model, cc="none")
    x, udot = states(true, 60)
    same = dyn.identify(x, udot, efforts(true, x, udot))
    require_same(same.base, *true_base(same, true))
    true.parameters["armature_2"] = 0.8
    fit = dyn.identify(x, udot, efforts(true, x, udot), joints="rotor")
    known = model.base_parameters(joints="rotor")
    assert (fit.columns, fit.independent) == (known.columns, known.independent)
    assert_allclose(fit.base[fit.names.index("q_2.rotor")], 0.3, rtol=1e-9)
