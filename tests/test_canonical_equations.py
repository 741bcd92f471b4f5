# SPDX-License-Identifier: BSD-3-Clause
"""Hamilton's canonical equations: the flow of kanecore.Model.canonical is Kane's motion, and its H is right."""

import importlib
import pickle
import random
from functools import partial
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, pendulum, rates
from oracle.on_graph import OnGraph
from oracle.random_holonomic import random_holonomic
from sweep import every, part

import kanecore as kc
from kanecore.gallery import four_bar, free_body

t = me.dynamicsymbols._t
m, g, length, k = sm.symbols("m g l k", positive=True)
theta, phi, x, y = me.dynamicsymbols("theta phi x y")
N = me.ReferenceFrame("N")

GALLERY = ["arm7", "biped", "cart_pendulum", "cart_pole", "double_pendulum", "furuta_pendulum", "gyroscope", "iiwa14"]
GALLERY += ["planar_2r", "puma560", "spinning_top", "tree30", "two_rods", "ur5e"]


def momenta(qdot: Any, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """The p at which q̇(q, p), which is linear in p, has these values."""
    at_rest = qdot(np.r_[q, 0.0 * q])
    columns = [qdot(np.r_[q, row]) - at_rest for row in np.eye(len(q))]
    return np.linalg.solve(np.transpose(columns), rates - at_rest)


# ------------------------------------------------------------------------------------------------------------- motion
@pytest.mark.parametrize("name", part(GALLERY, ["gyroscope", "cart_pole"]))
@pytest.mark.filterwarnings("ignore:no solid body can have")
def test_the_flow_is_the_motion_of_kane(name: str) -> None:
    """Over 10 s, to the integrator's tolerance; chains are chaotic, and compared over one."""
    module = importlib.import_module(f"kanecore.gallery.{name}")
    model = module.build()
    kane, canonical = kc.load(name), kc.compile(model.canonical(), parameters=module.PARAMETERS)
    rng, n = np.random.default_rng(1), model.n_q
    q, u = rng.uniform(-0.3, 0.3, n), rng.uniform(-0.2, 0.2, n)
    state = np.r_[q, u]
    start = np.r_[q, momenta(partial(canonical.qdot, 0.0), q, kane.qdot(0.0, state))]
    np.testing.assert_allclose(canonical.qdot(0.0, start), kane.qdot(0.0, state), rtol=1e-9, atol=1e-10)
    for energy in ("kinetic_energy", "potential_energy"):
        values = [getattr(dyn, energy)(0.0, at) for dyn, at in ((canonical, start), (kane, state))]
        np.testing.assert_allclose(*values, rtol=1e-9, atol=1e-10)
    end = 10.0 if n <= 3 else 1.0
    runs = [dyn.simulate((0.0, end), at, rtol=1e-12, atol=1e-12) for dyn, at in ((kane, state), (canonical, start))]
    np.testing.assert_allclose(runs[1].q[-1], runs[0].q[-1], rtol=1e-7, atol=1e-6)
    assert runs[1].energy_drift < 1e-7


@pytest.mark.parametrize("seed", every(50, range(100), first=1))
def test_random_mechanisms_move_as_kane_says(seed: int) -> None:
    """In speeds that are functions of q and q̇: q̈ along the canonical flow is Kane's, and so are the energies."""
    mechanism = random_holonomic(seed, 2, 3)
    n, rng, h, time = len(mechanism.q), np.random.default_rng(seed), 1e-5, 0.4
    model = mechanism.kane(mixed=random.Random(seed))
    kane, canonical = OnGraph(model, {}), OnGraph(model.canonical(), {})
    q, u = rng.uniform(-1.0, 1.0, n), rng.uniform(-1.0, 1.0, n)
    state = np.r_[q, u]
    start = np.r_[q, momenta(partial(canonical.qdot, time, r={}), q, kane.qdot(time, state, r={}))]
    second, powers = [], []
    for on, at in ((canonical, start), (kane, state)):
        rate = np.asarray(on.rhs(time, at, r={}))
        ahead, behind = (on.qdot(time + s * h, at + s * h * rate, r={}) for s in (1, -1))
        second.append((ahead - behind) / (2 * h))  # q̈
        powers.append(on.power(time, at, rate[n:], r={})[0])
    np.testing.assert_allclose(*second, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(*powers, rtol=1e-8, atol=1e-8)
    for energy in ("kinetic_energy", "potential_energy"):
        values = [getattr(on, energy)(time, at, r={})[0] for on, at in ((canonical, start), (kane, state))]
        np.testing.assert_allclose(*values, rtol=1e-9)


# --------------------------------------------------------------------------------------------------------- structure
def spherical() -> kc.Model:
    L = m * length**2 / 2 * (theta.diff() ** 2 + phi.diff() ** 2 * sm.sin(theta) ** 2) + m * g * length * sm.cos(theta)
    pull = me.dynamicsymbols("theta_d").diff()
    outputs = {"height": -length * sm.cos(theta), "rate": phi.diff(), "pull": pull}
    return kc.Model.from_lagrangian(L, [theta, phi], outputs=outputs, guess={theta: 0.3}, name="spherical")


def test_spherical_pendulum_in_momenta() -> None:
    """H = p_θ²/(2ml²) + p_φ²/(2ml² sin²θ) − mgl cos θ (Goldstein, Poole & Safko, section 8.1); the model stays."""
    of_speeds = spherical()
    before = of_speeds.report()
    model = of_speeds.canonical()
    assert of_speeds.report() == before
    assert [str(u) for u in of_speeds.speeds] == ["theta_d(t)", "phi_d(t)"]
    assert [str(p) for p in model.speeds] == ["p_theta(t)", "p_phi(t)"]
    rhs, (p_theta, p_phi) = model.symbolic("rhs", nested=True), model.speeds
    kinetic = (p_theta**2 + p_phi**2 / sm.sin(theta) ** 2) / (2 * m * length**2)
    H = kinetic - m * g * length * sm.cos(theta)
    expected = [H.diff(p_theta), H.diff(p_phi), -H.diff(theta), -H.diff(phi)]
    assert [sm.simplify(a - b) for a, b in zip(rhs, expected, strict=True)] == [0] * 4
    energies = [model.symbolic(name, nested=True) for name in ("kinetic_energy", "potential_energy")]
    assert sm.simplify(sum(energies) - H) == 0
    assert model.symbolic("mass_matrix", nested=True) == sm.eye(2)


def test_the_whole_pipeline() -> None:
    """Outputs but those of u̇, reports, linearization, baking, pickling, the residual, and what there is not."""
    model = spherical().canonical()
    values = {"m": 2.0, "l": 0.5, "g": 9.81}
    dyn = kc.compile(model, parameters=values)
    assert dyn.output_names == ("height", "rate")
    state = np.array([0.7, 0.2, 0.1, 0.3])
    inertia = 0.5
    np.testing.assert_allclose(dyn.outputs(0.0, state), [-0.5 * np.cos(0.7), 0.3 / (inertia * np.sin(0.7) ** 2)])
    np.testing.assert_array_equal(dyn.mass_matrix(0.0, state), np.eye(2))
    np.testing.assert_allclose(dyn.forcing(0.0, state), dyn.udot(0.0, state))
    np.testing.assert_allclose(dyn.equations_residual(0.0, state, dyn.udot(0.0, state)), 0.0, atol=1e-14)
    A, _ = dyn.linearize(0.0, state)
    h = 1e-6
    columns = [(dyn.rhs(0.0, state + e) - dyn.rhs(0.0, state - e)) / (2 * h) for e in h * np.eye(4)]
    np.testing.assert_allclose(A, np.transpose(columns), rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(dyn)).rhs(0.0, state), dyn.rhs(0.0, state))
    baked = kc.compile(model, parameters=values, bake=True)
    np.testing.assert_allclose(baked.rhs(0.0, state), dyn.rhs(0.0, state), rtol=1e-13)
    assert "equations of first order" in model.report()
    assert "p_theta" in model.report()
    model.explain()
    assert repr(model) == "<Model 'spherical': n_q=2, n_u=2, n_p=3, n_r=0>"
    for missing in ("generalized_active_forces", "reactions", "coordinate_forces", "partial_velocities"):
        with pytest.raises(kc.ModelError, match=r"first order|no bodies"):
            getattr(dyn, missing)(0.0, state)


def test_a_singular_place_is_named() -> None:
    """Where an axis of a spherical pendulum is vertical, p_φ gives no φ̇: every kernel that divides by it says so."""
    dyn = kc.compile(spherical().canonical(), parameters={"m": 2.0, "l": 0.5, "g": 9.81})
    place = np.array([0.0, 0.2, 0.1, 0.3])
    for kernel in ("rhs", "udot", "qdot", "forcing", "outputs", "kinetic_energy"):
        with pytest.raises(kc.SingularError):
            getattr(dyn, kernel)(0.0, place)
    with pytest.raises(kc.SingularError):
        dyn.linearize(0.0, place)
    assert dyn.potential_energy(0.0, place) == pytest.approx(-9.81)


def test_driven_mechanisms() -> None:
    """A bead on a hoop that an input turns: p holds the rate of the input where it must, and the drift closes."""
    turn, F = me.dynamicsymbols("turn F")
    u, (N, origin) = me.dynamicsymbols("u1:3"), ground()
    A = N.orientnew("A", "Axis", [turn, N.z])
    B = A.orientnew("B", "Axis", [theta, A.x])
    bead = origin.locatenew("P", x * B.y)
    bodies, loads = [me.Particle("P", bead, m)], [(bead, -m * g * N.z + F * N.y)]
    model = kc.Model(N, [theta, x], u, rates([theta, x], u), bodies=bodies, forcelist=loads)
    kane, canonical = (kc.compile(each, parameters={"m": 0.4, "g": 9.81}) for each in (model, model.canonical()))
    assert canonical.input_names == kane.input_names == ("F", "turn", "turn_d", "turn_dd")
    signal = kc.Signal([0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 1.0, 4.0], kind="cubic")
    state = np.array([0.6, 0.8, 0.3, -0.1])
    at = {"turn": 0.0, "turn_d": 2.5, "turn_dd": 0.0, "F": 0.3}  # what turns does not move the bead along its p
    start = np.r_[state[:2], 0.4 * 0.64 * 0.3, 0.4 * -0.1]
    np.testing.assert_allclose(canonical.qdot(0.0, start, r=at), state[2:], rtol=1e-13)
    options: dict[str, Any] = {"inputs": {"turn": signal, "F": 0.3}, "rtol": 1e-11, "atol": 1e-11}
    runs = [dyn.simulate((0.0, 3.0), x0, **options) for dyn, x0 in ((kane, state), (canonical, start))]
    np.testing.assert_allclose(runs[1].q[-1], runs[0].q[-1], rtol=1e-7)
    assert max(run.energy_drift for run in runs) < 1e-7


def test_what_is_conserved_without_bodies() -> None:
    """The azimuth of a spherical pendulum is cyclic, and H conserved, in q and q̇ as in q and p."""
    for model in (spherical(), spherical().canonical()):
        found = kc.compile(model, parameters={"m": 2.0, "l": 0.5, "g": 9.81}).conserved()
        assert (found.momenta, found.cyclic) == (("phi",), ("phi",))
        assert found.hamiltonian
        assert found.energy
        assert found.linear_momentum == found.angular_momentum == ()


def test_an_indefinite_kinetic_energy() -> None:
    """L = m ẋ ẏ − k x y: two oscillators, coupled by their momenta."""
    model = kc.Model.from_lagrangian(m * x.diff() * y.diff() - k * x * y, [x, y]).canonical()
    dyn = kc.compile(model, parameters={"m": 2.0, "k": 3.0})
    np.testing.assert_allclose(dyn.rhs(0.0, [1.0, 2.0, 0.1, 0.2]), [0.1, 0.05, -6.0, -3.0])
    assert dyn.simulate((0.0, 2.0), [1.0, 2.0, 0.1, 0.2]).energy_drift < 1e-6


def test_hamiltonians_are_the_same_in_both_variables() -> None:
    """H = p·q̇ − L with terms of L that are linear in q̇, of a Lagrangian and of bodies; the momenta are p itself."""
    w = sm.Symbol("w")
    gyroscopic = m * (x.diff() ** 2 + y.diff() ** 2) / 2 + k * (x * y.diff() - y * x.diff()) / 2 - m * g * y
    turning = m * length**2 / 2 * (theta.diff() ** 2 + 2 * w * theta.diff() + sm.sin(theta) ** 2 * w**2)
    values = {"m": 1.3, "g": 9.81, "l": 0.7, "k": 2.0, "w": 1.5}
    models = [
        kc.Model.from_lagrangian(gyroscopic, [x, y]),
        kc.Model.from_lagrangian(turning + m * g * sm.cos(theta), [theta]),
        random_holonomic(3, 2, 2).kane(mixed=random.Random(3)),
        random_holonomic(7, 2, 2).kane(mixed=random.Random(7)),
    ]
    for model in models:
        on, canonical = OnGraph(model, values), OnGraph(model.canonical(), values)
        n = on.n_q
        state = np.random.default_rng(5).uniform(0.2, 0.9, 2 * n)
        p = on.generalized_momenta(0.3, state, r={})
        start = np.r_[state[:n], p]
        np.testing.assert_allclose(canonical.qdot(0.3, start, r={}), on.qdot(0.3, state, r={}), rtol=1e-10)
        np.testing.assert_allclose(canonical.generalized_momenta(0.3, start, r={}), p, rtol=1e-10)
        for kernel in ("hamiltonian", "kinetic_energy_parts"):
            expected = getattr(on, kernel)(0.3, state, r={})
            np.testing.assert_allclose(getattr(canonical, kernel)(0.3, start, r={}), expected, rtol=1e-9, atol=1e-9)
        pairs = ((on, state), (canonical, start))
        rates = [each.hamiltonian_rate(0.3, at, each.udot(0.3, at, r={}), r={}) for each, at in pairs]
        np.testing.assert_allclose(*rates, rtol=1e-9, atol=1e-9)


# ------------------------------------------------------------------------------------------------------------ reasons
def with_loads(loads: Any, mass: Any = m) -> kc.Model:
    """A pendulum; ``loads(A, P, u)``."""
    u, (N, origin) = me.dynamicsymbols("u"), ground()
    A = N.orientnew("A", "Axis", [theta, N.z])
    P = origin.locatenew("P", length * A.x)
    return kc.Model(N, [theta], [u], rates([theta], [u]), bodies=[me.Particle("P", P, mass)], forcelist=loads(A, P, u))


def of_a_velocity() -> kc.Model:
    """A particle whose velocity alone is known."""
    point = me.Point("P")
    point.set_vel(N, y * N.x + x * phi * N.y)
    return kc.Model(N, [x, theta], [y, phi], rates([x, theta], [y, phi]), bodies=[me.Particle("P", point, m)])


REASONS: dict[str, tuple[Any, str]] = {
    "constraints": (four_bar.build, "not independent"),
    "quaternion": (free_body.build, "7 coordinates and 6 speeds"),
    "set velocity": (
        lambda: pendulum(lambda A: 2 * sm.Symbol("l") * me.dynamicsymbols("u") * A.y),
        "velocity of point P, of body bob, was set",
    ),
    "moving origin": (of_a_velocity, "velocity of point P, of body P, was set"),
    "inertial load": (lambda: with_loads(lambda A, P, u: [(P, -k * u.diff() * A.y)]), "holds derivatives of speeds"),
    "mass that changes": (
        lambda: with_loads(lambda A, P, u: [], m * (2 + sm.sin(theta))),
        "mass or inertia of body P changes",
    ),
    "name": (lambda: with_loads(lambda A, P, u: [(P, sm.Symbol("p_theta") * A.y)]), "p_theta of a momentum is taken"),
    "not linear": (lambda: kc.Model.from_lagrangian(-sm.sqrt(1 - x.diff() ** 2), [x]), "not linear in the derivatives"),
    "no energy of motion": (
        lambda: kc.Model.from_lagrangian(m * x.diff() ** 2 + y.diff() * x, [x, y]),
        "some motion has no kinetic energy",
    ),
    "twice": (lambda: spherical().canonical(), "in q and p already"),
}


@pytest.mark.filterwarnings("ignore::kanecore.KanecoreWarning")
@pytest.mark.parametrize("case", REASONS)
def test_models_without_canonical_equations(case: str) -> None:
    build, message = REASONS[case]
    with pytest.raises(kc.ModelError, match=message):
        build().canonical()
