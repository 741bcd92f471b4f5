# SPDX-License-Identifier: BSD-3-Clause
"""First-order states behind q and u: closed forms, and mechanisms integrated with 22 digits elsewhere."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sweep
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, mass_point, moving_point
from numpy.testing import assert_allclose

import kanecore as kc
from kanecore.control.derivative_products import _from_matrices

Array = Any
G = 9.81


def slider(**more: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
    """q, u, the point of a particle of mass m on a line, and the arguments of its model."""
    q, u = me.dynamicsymbols("q u")
    N, _, P = moving_point({q: u})
    arguments = {"frame": N, "q_ind": [q], "u_ind": [u], "kd_eqs": [q.diff() - u]}
    return q, u, (P, N), {**arguments, "bodies": [me.Particle("bob", P, sm.Symbol("m"))], **more}


def differences(function: Callable[[Array], Array], x: Array, h: float = 1e-4) -> Array:
    """∂f/∂x, by central differences of fourth order."""
    columns = []
    for e in np.eye(len(x)) * h:
        columns.append((8 * (function(x + e) - function(x - e)) - function(x + 2 * e) + function(x - 2 * e)) / (12 * h))
    return np.stack(columns, axis=-1)


# ----------------------------------------------------------------------------------------- motor with PI control
MOTOR = {"J": 2.1e-4, "n": 12, "m": 0.85, "l": 0.32, "g": G, "b": 0.015, "K": 0.043, "R": 0.72, "L": 1.4e-3}
GAINS = {"k_p": 24.0, "k_i": 30.0, "k_d": 1.5}


def motor() -> kc.CompiledModel:
    """A rotor with inductance and a gear lifts a pendulum; a PI controller with rate feedback sets the voltage."""
    phi, omega, i, z, target, load, V = me.dynamicsymbols("phi omega i z phi_ref T_L V")
    J, n, m, l, g, b, K, R, L, kp, ki, kd = sm.symbols("J n m l g b K R L k_p k_i k_d")  # noqa: E741
    N, O = ground()  # noqa: E741
    arm, shaft = me.ReferenceFrame("arm"), me.ReferenceFrame("shaft")
    for frame, gear in ((arm, 1), (shaft, n)):
        frame.orient_axis(N, N.z, gear * phi)
        frame.set_ang_vel(N, gear * omega * N.z)
    P = O.locatenew("P", -l * arm.y)
    model = kc.Model(
        *(N, [phi], [omega], [phi.diff() - omega]),
        bodies=[me.Particle("bob", P, m), me.RigidBody("rotor", O, shaft, 0, (me.inertia(shaft, 0, 0, J), O))],
        forcelist=[(P, -m * g * N.y), (arm, (n * K * i - b * omega + load) * N.z)],
        states={i: (V - R * i - n * K * omega) / L, z: target - phi},
        feedback={V: kp * (target - phi) + ki * z - kd * omega},
        outputs={"voltage": V, "slew": i.diff()},
        name="motor",
    )
    return kc.compile(model, parameters={**MOTOR, **GAINS})


def test_motor_with_pi_control() -> None:
    """Rates, equilibrium, eigenvalues and motion, by Taylor series with 22 digits."""
    dyn = motor()
    assert (dyn.n_q, dyn.n_u, dyn.n_z, dyn.n_x) == (1, 1, 2, 4)
    assert dyn.state_names == ("i", "z")
    with pytest.raises(ValueError, match=r"expected \(\.\.\., 4\): coordinates, then speeds, then first-order states"):
        dyn.rhs(0.0, [0.0, 0.0])
    assert dyn.input_names == ("T_L", "phi_ref")  # whose rates nobody needs
    x = dyn.state(phi=0.4, omega=-1.1, i=2.3, z=0.05)
    dyn.inputs["phi_ref"] = 1.2
    rates = [-1.1, 1.400130020899, 15186.85714286, 0.8]
    assert_allclose(dyn.rhs(0.0, x), rates, rtol=1e-12)
    assert_allclose(dyn.zdot(0.0, x), rates[2:], rtol=1e-12)
    assert_allclose(dyn.outputs(0.0, x), [24 * 0.8 + 30 * 0.05 + 1.5 * 1.1, rates[2]], rtol=1e-12)
    still = dyn.equilibrium()
    assert_allclose(still.x, [1.2, 0.0, 4.819725840830, 0.1156734201799], rtol=1e-12, atol=1e-14)
    system = dyn.linear_system(0.0, still.x)
    assert system.state_names == ("phi", "omega", "i", "z")
    pair = -5.573672190694 + 10.61613146523j
    assert_allclose(system.eigenvalues, [-1.30643424609, pair, pair.conjugate(), -501.9598347033], rtol=1e-11)
    assert_allclose(system.B[:, 1], [0.0, 0.0, 24 / 1.4e-3, 1.0], rtol=1e-13)
    sol = dyn.simulate((0.0, 0.6), np.zeros(4), rtol=1e-12, atol=1e-12, t_eval=[0.1, 0.3, 0.6])
    expected = [
        [0.5508500081086, 8.253135246012, 3.175217759163, 0.09949486566756],
        [1.409627513725, -0.2739370384704, -1.748986131652, 0.1112733854002],
        [1.136788343398, 0.09996901714306, 5.968026486250, 0.09861552087209],
    ]
    assert_allclose(sol.x, expected, rtol=1e-8, atol=1e-9)
    assert_allclose(sol["i"], sol.z[:, 0])
    assert sol.u.shape == (3, 1)
    assert dyn.simulate((0.0, 0.6), np.zeros(4), rtol=1e-11, atol=1e-11).energy_drift < 1e-8  # work of the motor


# -------------------------------------------------------------------------------------------- muscle of a forearm
FOREARM = {"m": 2.6, "I": 0.032, "d": 0.19, "g": G}


def forearm(how: str, **more: Any) -> kc.Model:
    """A forearm on a pin, lifted by SymPy's musculotendon with first-order activation."""
    from sympy.physics.biomechanics import FirstOrderActivationDeGroote2016, MusculotendonDeGroote2016

    q, u = me.dynamicsymbols("q u")
    m, I, d, g = sm.symbols("m I d g")  # noqa: E741
    N, O = ground()  # noqa: E741
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    C = O.locatenew("C", d * A.x)
    muscle = MusculotendonDeGroote2016.with_defaults(
        "biceps",
        me.LinearPathway(O.locatenew("H", 0.28 * N.y), O.locatenew("P", 0.045 * A.x)),
        FirstOrderActivationDeGroote2016.with_defaults("biceps"),
        tendon_slack_length=sm.Float("0.17"),
        peak_isometric_force=sm.Float(620),
        optimal_fiber_length=sm.Float("0.11"),
    )
    body, weight = me.RigidBody("forearm", C, A, m, (me.inertia(A, 0, 0, I), C)), (C, -m * g * N.y)
    kinematics = (N, [q], [u], [q.diff() - u])
    if how == "system":
        system = me.System(N, O)
        system.q_ind, system.u_ind, system.kdes = [q], [u], [q.diff() - u]
        system.add_bodies(body)
        system.add_loads(weight)
        system.add_actuators(muscle)
        return kc.Model.from_system(system)
    if how == "kane":
        for point in (C, muscle.pathway.attachments[1]):
            point.v2pt_theory(O, N, A)
        muscle.pathway.attachments[0].set_vel(N, 0)
        method = me.KanesMethod(*kinematics)
        method.kanes_equations([body], [*muscle.to_loads(), weight])
        return kc.Model.from_kane(method, **(more or {"states": muscle}))
    if how == "forcelist":
        return kc.Model(*kinematics, bodies=[body], forcelist=[muscle, weight])
    states = {"list": [muscle, muscle.activation_dynamics], "dict": {muscle.x[0]: muscle.rhs()[0]}}[how]
    return kc.Model(*kinematics, bodies=[body], forcelist=[muscle, weight], states=states)


@pytest.mark.parametrize("how", ["system", "kane", "forcelist", "list", "dict"])
def test_muscle_with_activation(how: str) -> None:
    """De Groote, Kinney, Rao & Fregly 2016: curves written from the paper's numbers, 22 digits."""
    model = forearm(how)
    assert [str(z) for z in model.states] == ["a_biceps(t)"]
    assert [str(r) for r in model.inputs] == ["e_biceps(t)"]  # the activation is no input, which would stay at 0
    dyn = kc.compile(model, parameters=FOREARM)
    rates = dyn.rhs(0.0, [0.3, -0.7, 0.45], r=[0.6])
    assert_allclose(rates, [-0.7, 54.74898129545, 8.246327347756], rtol=1e-11)


def test_force_of_a_muscle_without_its_muscle() -> None:
    """A KanesMethod keeps the force alone: the activation would be an input at 0."""
    with pytest.raises(kc.ModelError, match=r"load 0 is the force of a muscle, and nothing tells how a_biceps\(t\) ch"):
        forearm("kane", states=())
    assert forearm("kane", inputs=me.dynamicsymbols("a_biceps,")).n_z == 0


def test_muscle_in_an_equilibrium_is_activated_between_zero_and_one() -> None:
    """It pulls, by a limited force: it holds no forearm that its passive force lifts too far, and no heavy one."""
    dyn = kc.compile(forearm("forcelist"), parameters=FOREARM)
    holds = dyn.equilibrium({"q": 0.3}, fixed=["q"], inputs=["e_biceps"])
    assert_allclose(dyn.rhs(0.0, holds.x, r=holds.r), 0.0, atol=1e-12)
    free = {"fixed": ["q"], "inputs": ["e_biceps"]}
    for q, m, options in ((-1.5, 2.6, free), (0.3, 40.0, free), (0.0, 2.6, {"fixed": {"e_biceps": -0.02}})):
        with pytest.raises(kc.ModelError, match=r"a_biceps = .*, outside \[0, 1\]: the muscle biceps is activated"):
            dyn.equilibrium({"q": q}, p={**FOREARM, "m": m}, **options)


def test_excitation_that_jumps() -> None:
    dyn = kc.compile(forearm("forcelist"), parameters=FOREARM)
    assert dyn.input_rates == (-1,)
    options = {"rtol": 1e-12, "atol": 1e-13}
    up = dyn.simulate((0.0, 0.15), [-0.2, 0.0, 0.02], inputs=[0.3], t_eval=[0.05, 0.15], **options)
    assert_allclose(up.x[0], [-0.1922382739949, 0.6174372566973, 0.2884272882947], rtol=1e-9)
    assert_allclose(up.x[1], [-0.007716044963024, 3.109424471081, 0.2998552841269], rtol=1e-9)
    down = dyn.simulate((0.15, 0.3), up.x[1], inputs=[0.05], **options)
    assert_allclose(down.x[-1], [0.4238142727844, 1.314395310082, 0.05107371772761], rtol=1e-9)


# ------------------------------------------------------------------------------------ relaxation length of a tyre
@pytest.mark.parametrize("trail", [0.15, 0.1, 0.05])
def test_castor_shimmies_where_its_trail_is_shorter_than_the_relaxation_length(trail: float) -> None:
    """J σ s³ + J V s² + e² C s + e C V = 0, of stretched-string tyres (Pacejka 2012, section 5.4)."""
    delta, omega, alpha = me.dynamicsymbols("delta omega alpha")
    N, O = ground()  # noqa: E741
    J, C, sigma, V = 0.8, 6e3, 0.1, 8.0
    fork = N.orientnew("fork", "Axis", [delta, N.z])
    fork.set_ang_vel(N, omega * N.z)
    kingpin = O.locatenew("K", V * me.dynamicsymbols._t * N.x)
    model = kc.Model(
        *(N, [delta], [omega], [delta.diff() - omega]),
        bodies=[me.RigidBody("fork", kingpin, fork, 1, (me.inertia(fork, 0, 0, J), kingpin))],
        forcelist=[(kingpin.locatenew("W", -trail * fork.x), C * alpha * fork.y)],
        states={alpha: V * (sm.sin(delta) + trail * omega / V - alpha) / sigma},
    )
    found = kc.compile(model).linear_system(0.0, np.zeros(3)).eigenvalues
    expected = np.roots([J * sigma, J * V, trail**2 * C, trail * C * V])
    assert_allclose(np.sort_complex(found), np.sort_complex(expected), rtol=1e-10, atol=1e-9)
    assert np.sign(round(found[0].real, 9)) == np.sign(sigma - trail)


# ---------------------------------------------------------------------------------------- boom on a hydraulic cylinder
def boom() -> kc.CompiledModel:
    """Two chamber pressures, MPa, push along a line between two points; the valve's flow follows a root."""
    q, u, p1, p2, y = me.dynamicsymbols("q u p1 p2 y")
    N, O = ground()  # noqa: E741
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    C, P, centre = O.locatenew("C", 0.35 * N.x - 0.45 * N.y), O.locatenew("P", 0.7 * A.x), O.locatenew("M", 0.9 * A.x)
    path, areas = me.LinearPathway(C, P), (0.0045, 0.0031)
    s, rate = path.length, path.extension_velocity
    flow = [2.6e-4 * y * sm.sqrt(sm.Abs(d)) * sm.sign(d) for d in (18 - p1, p2 - sm.Float("0.1"))]
    chambers = (1.2e-3 + areas[0] * (s - 0.55), 1.8e-3 - areas[1] * (s - 0.55))
    force = 1_000_000 * (p1 * areas[0] - p2 * areas[1]) - 9000 * rate
    model = kc.Model(
        *(N, [q], [u], [q.diff() - u]),
        bodies=[me.RigidBody("boom", centre, A, 310, (me.inertia(A, 0, 0, 95), centre))],
        forcelist=[me.ForceActuator(force, path), (centre, -310 * G * N.y)],
        states=[
            {p1: 900 * (flow[0] - areas[0] * rate) / chambers[0]},
            {p2: 900 * (areas[1] * rate - flow[1]) / chambers[1]},
        ],
    )
    return kc.compile(model)


def test_boom_on_a_hydraulic_cylinder() -> None:
    dyn = boom()
    r = [0.4]
    rates = [0.3, 9.756991698232, -149.5555439865, 233.9269257888]
    assert_allclose(dyn.rhs(0.0, [0.25, 0.3, 4.2, 1.9], r=r), rates, rtol=1e-11)
    atol = {"p1": 1e-9, "p2": 1e-9, "q": 1e-11, "u": 1e-11}
    for method in ("rosenbrock", "dop853"):
        sol = dyn.simulate(
            (0.0, 0.5), [0.1, 0.0, 3.0, 1.0], inputs=r, method=method, rtol=1e-10, atol=atol, t_eval=[0.02, 0.5]
        )
        assert_allclose(sol.x[0], [0.1027636371993, 0.2583028672025, 3.622609696288, 2.378353615367], rtol=1e-7)
        assert_allclose(sol.x[1], [0.1760094124414, 0.1561343311783, 5.452528857573, 6.036079032340], rtol=1e-7)


def test_absolute_tolerances_by_name() -> None:
    dyn = filtered()
    few, many = (dyn.simulate((0.0, 1.0), [0.0, 0.0, 1.0], rtol=1e-13, atol={"z": a}) for a in (1e-2, 1e-10))
    assert few.n_steps < many.n_steps
    with pytest.raises(KeyError, match=r"coordinate, speed or state of 'filter' is called 'zz'"):
        dyn.simulate((0.0, 1.0), [0.0, 0.0, 1.0], atol={"zz": 1e-3})


# ------------------------------------------------------------------------------------------------- integrators
def filtered() -> kc.CompiledModel:
    """A particle without force, and a first-order filter z of its constant speed."""
    _q, u, _, arguments = slider()
    z, tau = me.dynamicsymbols("z"), sm.Symbol("tau")
    return kc.compile(
        kc.Model(**arguments, states={z: (u - z) / tau}, name="filter"), parameters={"m": 1.5, "tau": 0.3}
    )


METHODS = ("dop853", "dopri5", "rosenbrock", "rosenbrock_w", "auto", "radau", "bdf", "rk4", "cvode")


@pytest.mark.parametrize("method", METHODS)
def test_first_order_filter(method: str) -> None:
    """Speed v, z = v + (z₀ − v) exp(−t/τ)."""
    if method == "cvode":
        pytest.importorskip("sksundae")
    dyn = filtered()
    fixed = {"dt": 1e-3} if method == "rk4" else {"rtol": 1e-10, "atol": 1e-10}
    sol = dyn.simulate((0.0, 1.0), [0.2, 0.7, -0.4], method=method, **fixed)
    exact = 0.7 - 1.1 * np.exp(-sol.t / 0.3)
    assert_allclose(sol["z"], exact, atol=1e-8)
    assert_allclose(sol(0.5), [0.55, 0.7, 0.7 - 1.1 * np.exp(-0.5 / 0.3)], atol=1e-7)


def test_semi_implicit_euler_takes_rates_from_the_old_state() -> None:
    q, u, (P, N), arguments = slider()
    z = me.dynamicsymbols("z")
    model = kc.Model(**arguments, forcelist=[(P, z * N.x)], states={z: q * u})
    dyn = kc.compile(model, parameters={"m": 2.0})
    h, (q0, u0, z0) = 0.1, (0.5, -0.3, 0.8)
    u1 = u0 + h * z0 / 2.0
    expected = [q0 + h * u1, u1, z0 + h * q0 * u0]
    sol = dyn.simulate((0.0, h), [q0, u0, z0], method="euler", dt=h)
    assert_allclose(sol.x[-1], expected, rtol=1e-15)
    assert (dyn.rollout([q0, u0, z0], [], dt=h, steps=1, method="euler")[1] == sol.x[-1]).all()
    many = dyn.rollout(np.tile([q0, u0, z0], (40, 1)), [], dt=h, steps=3, method="euler")
    assert (many[:, 1] == sol.x[-1]).all()


def test_events_and_resets() -> None:
    """A relay: z rises until 1, and is set back to 0, like a sawtooth; the speed jumps with it."""
    _q, u, _, arguments = slider()
    z = me.dynamicsymbols("z")
    dyn = kc.compile(kc.Model(**arguments, states={z: 2 + 0 * u}), parameters={"m": 1.0})
    saw = kc.Event(z - 1, reset={"z": 0, u: u + z})
    sol = dyn.simulate((0.0, 1.25), [0.0, 0.0, 0.0], events=saw, rtol=1e-10)
    assert_allclose(sol.t_events[0], [0.5, 1.0], rtol=1e-12)
    assert_allclose(sol.x[-1], [0.5 * 1 + 0.25 * 2, 2.0, 0.5], rtol=1e-10)


# --------------------------------------------------------------------------------- rates that hold u̇ and reactions
def oscillator() -> kc.CompiledModel:
    """The accelerometer of an oscillator with a filter: a first-order state whose rate holds u̇."""
    q, u, (P, N), arguments = slider()
    (a, F), (k, c, T) = me.dynamicsymbols("a F"), sm.symbols("k c T")
    model = kc.Model(
        **arguments,
        forcelist=[(P, (F - k * q - c * u) * N.x)],
        states={a: (u.diff() - a) / T},
        outputs={"felt": u.diff() + a},
    )
    return kc.compile(model, parameters={"m": 2.0, "k": 3.0, "c": 0.4, "T": 0.1})


def test_rate_that_holds_the_acceleration() -> None:
    """A = [[0, 1, 0], [−k/m, −c/m, 0], [−k/(m T), −c/(m T), −1/T]] of a linear system."""
    dyn = oscillator()
    A, B = dyn.linearize(0.0, [0.3, 0.4, 0.2])
    lower = np.array([-1.5, -0.2, 0.0])
    assert_allclose(A, [[0, 1, 0], lower, 10 * lower - [0, 0, 10]], rtol=1e-14, atol=1e-15)
    assert_allclose(B, [[0.0], [0.5], [5.0]], rtol=1e-14)
    x = np.array([0.3, 0.4, 0.2])
    assert_allclose(dyn.rhs(0.0, x, r=[0.7]), A @ x + 0.7 * B[:, 0], rtol=1e-13)
    assert_allclose(dyn.rhs_parameter_jacobian(0.0, x, r=[0.0])[2, dyn.parameter_names.index("k")], -0.3 / 2.0 / 0.1)
    assert_allclose(dyn.output_jacobian(0.0, x)[0], [-1.5, -0.2, 1.0, 0.5], rtol=1e-14)
    with pytest.raises(kc.ModelError, match=r"rates of its states \(a\) hold derivatives of speeds"):
        dyn.rhs_hessian(0.0, x, np.ones(3))


def test_load_cells() -> None:
    """Filters of the force in a pin, and of the multiplier of a wire: tension m (g cos θ + l θ̇²) of a pendulum."""
    th, w, z, x, y, u, v = me.dynamicsymbols("theta w z x y u v")
    N, O = ground()  # noqa: E741
    A = N.orientnew("A", "Axis", [th, N.z])
    A.set_ang_vel(N, w * N.z)
    P = O.locatenew("P", -1.2 * A.y)
    bob = me.Particle("bob", P, 2)
    pin = kc.Model(
        *(N, [th], [w], [th.diff() - w]),
        bodies=[bob],
        forcelist=[(P, -2 * G * N.y)],
        joints={"pin": (N, bob, O)},
        states={z: (kc.reaction("pin", N).force.dot(A.y) - z) / 0.2},
    )
    tension = 2 * (G * np.cos(0.3) + 1.2 * 0.9**2)
    dyn = kc.compile(pin)
    assert_allclose(dyn.zdot(0.0, [0.3, 0.9, 4.0]), [(tension - 4.0) / 0.2], rtol=1e-13)
    slopes = differences(lambda s: dyn.rhs(0.0, s), np.array([0.3, 0.9, 4.0]))
    assert_allclose(dyn.linearize(0.0, [0.3, 0.9, 4.0])[0], slopes, atol=1e-9)
    Q = O.locatenew("Q", x * N.x + y * N.y)
    wire = kc.Model(
        *(N, [x, y], [u, v], [x.diff() - u, y.diff() - v]),
        configuration_constraints={"wire": (x**2 + y**2 - 1.44) / 2},
        bodies=[me.Particle("bob", Q, 2)],
        forcelist=[(Q, -2 * G * N.y)],
        states={z: -1.2 * kc.multiplier("wire") - z},
    )
    held, (s, c) = kc.compile(wire), (1.2 * np.sin(0.3), -1.2 * np.cos(0.3))
    state = [s, c, -0.9 * c, 0.9 * s, 4.0]
    assert_allclose(held.zdot(0.0, state), [tension - 4.0], rtol=1e-13)
    assert held.rhs(0.0, state)[4] == held.zdot(0.0, state)[0]
    slopes, w = held.linearize(0.0, state)[0], np.linspace(0.5, -1.0, 5)
    assert_allclose(slopes, differences(lambda s: held.rhs(0.0, s), np.array(state)), atol=1e-8)
    assert_allclose(held.jvp("rhs", 0.0, state, w), slopes @ w, rtol=1e-12)
    assert_allclose(held.vjp("rhs", 0.0, state, w), w @ slopes, rtol=1e-12)
    assert_allclose(held.equilibrium({"y": -1.2}).x[4], 2 * G, rtol=1e-12)


def test_load_cells_of_redundant_rows_have_no_derivatives() -> None:
    q, *_, arguments = slider()
    rows = {"left": q, "right": 2 * q}
    model = kc.Model(**arguments, configuration_constraints=rows, states={z: kc.multiplier("left") - z})
    dyn = kc.compile(model, parameters={"m": 1.0})
    assert dyn.zdot(0.0, [0.0, 0.0, 0.5]) == -0.5  # of least norm
    with pytest.raises(kc.ModelError, match="which nothing determines as the rows left, right follow"):
        dyn.linearize(0.0, [0.0, 0.0, 0.5])


# ------------------------------------------------------------------------- masses, potentials, velocity constraints
def rain() -> kc.CompiledModel:
    """A cart under rain, whose mass M is a state: M v is constant (Meriam & Kraige, *Dynamics*, section 4/7)."""
    _q, u, (P, _), arguments = slider()
    M, k = me.dynamicsymbols("M"), sm.Symbol("k")
    model = kc.Model(**{**arguments, "bodies": [me.Particle("cart", P, M)]}, states={M: k * (1 + u**2)})
    return kc.compile(model, parameters={"k": 0.3})


def test_products_are_those_of_matrices() -> None:
    dyn = rain()
    x, dx, w = [0.1, 2.0, 1.5], np.array([0.3, -0.2, 0.7]), np.array([0.5, 1.1, -0.4])
    slopes, by_p = dyn.linearize(0.0, x)[0], dyn.rhs_parameter_jacobian(0.0, x)
    assert_allclose(dyn.rhs_jvp(0.0, x, dx, dp=[2.0]), slopes @ dx + 2.0 * by_p[:, 0], rtol=1e-14)
    gradient, of_p = dyn.rhs_vjp(0.0, x, w, parameters=True)
    assert_allclose(gradient, slopes.T @ w, rtol=1e-14)
    assert_allclose(of_p, by_p.T @ w, rtol=1e-14)


def test_products_where_rates_hold_accelerations() -> None:
    """On a wire, whose equations are factored at run time, against the matrices, which take other ways."""
    x, y, u, v, z = me.dynamicsymbols("x y u v z")
    model = mass_point(
        {x: u, y: v},
        2,
        [-z, -2 * G],
        configuration_constraints={"wire": (x**2 + y**2 - 1.44) / 2},
        states={z: u.diff() * x + v - z},
        outputs={"pull": z * v.diff()},
    )
    dyn, (s, c) = kc.compile(model), (1.2 * np.sin(0.3), -1.2 * np.cos(0.3))
    state, dx, w = (
        np.array([s, c, -0.9 * c, 0.9 * s, 4.0]),
        np.array([0.3, -0.2, 0.7, 0.4, -0.5]),
        np.linspace(-1, 2, 5),
    )
    slopes, of_output = dyn.linearize(0.0, state)[0], dyn.output_jacobian(0.0, state)
    assert_allclose(dyn.jvp("rhs", 0.0, state, dx), slopes @ dx, rtol=1e-13)
    assert_allclose(dyn.vjp("rhs", 0.0, state, w), w @ slopes, rtol=1e-13)
    assert_allclose(dyn.jvp("outputs", 0.0, state, dx), of_output @ dx, rtol=1e-13)
    assert_allclose(dyn.vjp("outputs", 0.0, state, [0.7]), 0.7 * of_output[0], rtol=1e-13, atol=1e-13)


def test_mass_that_is_a_state() -> None:
    dyn = rain()
    sol = dyn.simulate((0.0, 2.0), [0.0, 2.0, 1.5], rtol=1e-11, atol=1e-11)
    assert_allclose(sol["M"] * sol["u"], 3.0, rtol=1e-9)
    assert_allclose(dyn.power(0.0, [0.0, 2.0, 1.5], dyn.udot(0.0, [0.0, 2.0, 1.5])), -0.5 * 0.3 * 5.0 * 4.0)
    assert dyn.audit(100 if sweep.LONG else 20).passed


def test_rocket() -> None:
    """Tsiolkovsky: v = c ln(m₀/m) − g t; the exhaust, at u − c, takes ṁ (c − u) from what F* holds."""
    _q, u, (P, N), arguments = slider()
    M, (k, c) = me.dynamicsymbols("M"), sm.symbols("k c")
    loads = [(P, -M * G * N.x), (P, k * (c - u) * N.x)]
    model = kc.Model(**{**arguments, "bodies": [me.Particle("rocket", P, M)]}, forcelist=loads, states={M: -k})
    dyn = kc.compile(model, parameters={"k": 0.1, "c": 50.0})
    sol = dyn.simulate((0.0, 5.0), [0.0, 0.0, 2.0], rtol=1e-11, atol=1e-11)
    assert_allclose(sol["u"][-1], 50.0 * np.log(2.0 / 1.5) - G * 5.0, rtol=1e-10)
    assert sol.energy_drift < 1e-9
    assert dyn.audit(100 if sweep.LONG else 20).passed


def test_load_cell_of_a_mass_that_grows() -> None:
    """A bob that gathers mass: no force acts across its rod, whatever ṁ is; along it, M (g cos θ + l θ̇²)."""
    th, w, M, z = me.dynamicsymbols("theta w M z")
    N, O = ground()  # noqa: E741
    A = N.orientnew("A", "Axis", [th, N.z])
    A.set_ang_vel(N, w * N.z)
    P = O.locatenew("P", -A.y)
    bob = me.Particle("bob", P, M)
    force = kc.reaction("pin", N).force
    model = kc.Model(
        *(N, [th], [w], [th.diff() - w]),
        bodies=[bob],
        forcelist=[(P, -M * G * N.y)],
        joints={"pin": (N, bob, O)},
        states={M: 0.4 + 0.4 * w**2, z: force.dot(A.x) + 10 * force.dot(A.y) - z},
    )
    found = kc.compile(model).zdot(0.0, [0.3, 0.8, 1.5, 0.2])
    assert_allclose(found, [0.4 * 1.64, 15 * (G * np.cos(0.3) + 0.64) - 0.2], rtol=1e-12)


def test_parameters_of_rates_are_asked_for() -> None:
    *_, arguments = slider()
    dyn = kc.compile(kc.Model(**arguments, states={z: -sm.Symbol("k") * z}), parameters={"m": 1.0})
    assert dyn.udot(0.0, [0.0, 0.0, 1.0]) == 0.0  # which does not read it
    for call in (dyn.rhs, dyn.zdot, dyn.linearize):
        with pytest.raises(ValueError, match="parameter 'k' of 'model' was never set"):
            call(0.0, [0.0, 0.0, 1.0])


def test_freed_constraint() -> None:
    """Without its blade, and with the blade's force as an input, the particle goes the same way."""
    x, y, u1, u2, heading, cell = me.dynamicsymbols("x y u1 u2 z c")
    whole = mass_point(
        {x: u1, y: u2},
        2,
        velocity_constraints={"blade": -sm.sin(heading) * u1 + sm.cos(heading) * u2},
        states={heading: 1 - heading, cell: kc.multiplier("blade") - cell},
    )
    state = [0.1, 0.2, 3 * np.cos(0.3), 3 * np.sin(0.3), 0.3, 0.7]
    held, free = kc.compile(whole), kc.compile(whole.free("blade"))
    force = held.multipliers(0.0, state)
    assert free.input_names == ("lambda_blade",)
    assert_allclose(free.rhs(0.0, state, r=force), held.rhs(0.0, state), rtol=1e-12)


def test_potential_that_holds_a_state() -> None:
    """d(T + U)/dt = ∂U/∂z ż = −k (q − z) ż: a spring whose end z creeps after the speed."""
    q, u, _, arguments = slider()
    z, k = me.dynamicsymbols("z"), sm.Symbol("k")
    dyn = kc.compile(
        kc.Model(**arguments, potentials=[k * (q - z) ** 2 / 2], states={z: u / 3 - z}), parameters={"m": 1.0, "k": 5.0}
    )
    x = [0.4, 0.9, 0.1]
    udot = dyn.udot(0.0, x)
    assert_allclose(udot, [-5.0 * 0.3])
    assert_allclose(dyn.power(0.0, x, udot), -5.0 * 0.3 * (0.3 - 0.1))
    assert dyn.audit(100 if sweep.LONG else 20).passed


def steering(u_dependent: bool = False) -> kc.CompiledModel:
    """A particle with a blade whose heading is the state of a servo: −u₁ sin z + u₂ cos z = 0, ż = (c − z)/T."""
    x, y, u1, u2, z, target = me.dynamicsymbols("x y u1 u2 z c")
    N, O = ground()  # noqa: E741
    P = O.locatenew("P", x * N.x + y * N.y)
    model = kc.Model(
        *(N, [x, y], [u1] if u_dependent else [u1, u2], [x.diff() - u1, y.diff() - u2]),
        u_dependent=[u2] if u_dependent else None,
        velocity_constraints=[-sm.sin(z) * u1 + sm.cos(z) * u2],
        bodies=[me.Particle("bob", P, sm.Symbol("m"))],
        states={z: (target - z) / sm.Symbol("T")},
        name="steering",
    )
    return kc.compile(model, parameters={"m": 2.0, "T": 0.5})


SERVO = pytest.param(steering, marks=pytest.mark.long)
"""With a constraint; its groups take seconds to compile."""


@pytest.mark.parametrize("u_dependent", [False, True])
def test_steering_servo(u_dependent: bool) -> None:
    """The force of the blade does no work: the speed v stays, u̇ = v ż (−sin z, cos z), λ = m v ż."""
    dyn, z, v = steering(u_dependent), 0.2, 3.0
    x = np.array([0.5, -0.2, v * np.cos(z), v * np.sin(z), z])
    rate = (1.0 - z) / 0.5
    expected = [*x[2:4], -v * rate * np.sin(z), v * rate * np.cos(z), rate]
    assert_allclose(dyn.rhs(0.0, x, r=[1.0]), expected, rtol=1e-13)
    assert_allclose(dyn.multipliers(0.0, x, r=[1.0]), [2.0 * v * rate], rtol=1e-13)
    sol = dyn.simulate((0.0, 1.0), x, inputs=[1.0], rtol=1e-11, atol=1e-12)
    assert_allclose(np.hypot(*sol.u.T), v, rtol=1e-12)
    assert_allclose(sol["z"], 1.0 - 0.8 * np.exp(-2.0 * sol.t), rtol=1e-10)
    assert sol.constraint_drift < 1e-14
    near = dyn.consistent(0.0, x + np.eye(5)[2] / 10, r=[1.0])
    assert near[4] == z  # constraints move speeds alone
    assert_allclose(near[3] / near[2], np.tan(z), rtol=1e-13)
    assert "integrable" not in str(dyn.check(x, r=[1.0]))  # the heading moves as well
    if sweep.LONG or not u_dependent:
        assert dyn.audit(20).passed
    if u_dependent:
        A, _ = dyn.linearize(0.0, x, r=[1.0], minimal=True)
        assert A.shape == (4, 4)  # x, y, u1, z
        assert_allclose(A[:, 3], [0.0, v / np.cos(z), dependent_slope(v, z, rate), -2.0], rtol=1e-12, atol=1e-14)


def dependent_slope(v: float, z: float, rate: float) -> float:
    """∂u̇₁/∂z at constant u₁ of u̇₁ = −u₁ tan z ż, ż = (c − z)/T."""
    return -v * np.cos(z) * (rate / np.cos(z) ** 2 - 2.0 * np.tan(z))


# ----------------------------------------------------------------------------------------------- derivatives
@pytest.mark.parametrize("make", [motor, boom, rain, steering, lambda: kc.compile(forearm("dict"), parameters=FOREARM)])
def test_derivatives_are_those_of_the_rates(make: Callable[[], kc.CompiledModel]) -> None:
    dyn = make()
    start = {4: [0.25, 0.3, 4.2, 1.9], 3: [0.3, 0.7, 0.45], 5: [0.1, 0.2, 3 * np.cos(0.3), 3 * np.sin(0.3), 0.3]}
    x, r, n = np.array(start[dyn.n_x]), np.full(dyn.n_r, 0.6), dyn.n_x
    p = np.array(list(dyn.parameters.values()))

    def close(found: Array, function: Callable[[Array], Array], at: Array) -> None:
        expected = differences(function, at)
        size = np.max(np.abs(expected), axis=-1, initial=1e-3, keepdims=True)
        assert_allclose(found / size, expected / size, atol=2e-8)

    A, B = dyn.linearize(0.3, x, r=r)
    close(A, lambda s: dyn.rhs(0.3, s, r=r), x)
    if len(r):
        close(B, lambda s: dyn.rhs(0.3, x, r=s), r)
    if len(p):  # of many sizes
        close(dyn.rhs_parameter_jacobian(0.3, x, r=r) * p, lambda s: dyn.rhs(0.3, x, r=r, p=s * p), np.ones(len(p)))
    w = np.linspace(0.5, -1.0, n)
    assert_allclose(dyn.jvp("rhs", 0.3, x, w, r=r), A @ w, rtol=1e-12, atol=1e-12)
    assert_allclose(dyn.vjp("rhs", 0.3, x, w, r=r), w @ A, rtol=1e-12, atol=1e-12)
    hessian = dyn.rhs_hessian(0.3, x, w, r=r)
    close(hessian, lambda s: w @ np.hstack(dyn.linearize(0.3, s[:n], r=s[n:])), np.append(x, r))
    assert_allclose(_from_matrices(dyn, 0.3, x, w, r, None), hessian, rtol=1e-9, atol=1e-9)  # where kernels give none


def test_sensitivities() -> None:
    """Of the filter: ∂z/∂z₀ = exp(−t/τ), ∂z/∂u₀ = 1 − exp(−t/τ), ∂z/∂τ = −(z₀ − v) (−t/τ²) ...."""
    dyn, t, tau = filtered(), 0.4, 0.3
    sol = dyn.simulate((0.0, t), [0.2, 0.7, -0.4], sensitivities=["x0", "p"], rtol=1e-11, atol=1e-12)
    decay = np.exp(-t / tau)
    found = dict(zip(sol.sensitivity_names, sol.sensitivities[-1][2], strict=True))
    expected = {"q": 0.0, "u": 1 - decay, "z": decay, "m": 0.0, "tau": -1.1 * decay * t / tau**2}
    assert_allclose([found[name] for name in expected], list(expected.values()), atol=1e-9)


# ------------------------------------------------------------------------------------ calls of other kinds
@pytest.mark.compiler
@pytest.mark.parametrize("make", [motor, SERVO])
def test_compiled_lanes_code_and_floats_agree(
    make: Callable[[], kc.CompiledModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One state, a batch, the machine without a compiler, a pickle: the same bits; floats to their digits."""
    dyn = make()
    rng = np.random.default_rng(2)
    x, r = rng.uniform(0.2, 1.0, (300, dyn.n_x)), rng.uniform(0.2, 1.0, dyn.n_r)
    alone = np.array([dyn.rhs(0.1, row, r=r) for row in x])
    assert (dyn.rhs(0.1, x, r=r) == alone).all()
    assert (dyn.zdot(0.1, x, r=r) == alone[:, dyn.n_q + dyn.n_u :]).all()
    slopes = dyn.linearize(0.1, x, r=r)[0]
    assert (slopes[7] == dyn.linearize(0.1, x[7], r=r)[0]).all()
    ws = dyn.workspace()
    ws.t, ws.x[:], ws.r[:] = 0.1, x[3], r
    ws.rhs()
    assert (np.concatenate([ws.qdot, ws.udot, ws.zdot]) == alone[3]).all()
    again = pickle.loads(pickle.dumps(dyn))
    assert again.state_names == dyn.state_names
    assert (again.rhs(0.1, x, r=r) == alone).all()
    with monkeypatch.context() as patched:
        patched.setenv("CC", "none")
        interpreted = make()
        assert (interpreted.rhs(0.1, x, r=r) == alone).all()
        assert (interpreted.linearize(0.1, x, r=r)[0] == slopes).all()
    values = {**MOTOR, **GAINS}
    _q, u, (P, N), arguments = slider()
    z = me.dynamicsymbols("z")
    single = kc.compile(
        kc.Model(**arguments, forcelist=[(P, z * N.x)], states={z: u - z}), parameters={"m": values["m"]}, real="float"
    )
    assert_allclose(single.rhs(0.0, np.array([[0.5, 0.25, 0.75]] * 300)), [[0.25, 0.75 / 0.85, -0.5]] * 300, rtol=1e-6)


def test_samples_and_files(tmp_path: Path) -> None:
    sol = filtered().simulate((0.0, 0.2), [0.2, 0.7, -0.4], t_eval=[0.0, 0.1, 0.2])
    sol.to_csv(tmp_path / "run.csv")
    assert (tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()[0].split(",")[:4] == ["t", "q", "u", "z"]
    sol.save(tmp_path / "run.npz")
    loaded = kc.Samples.load(tmp_path / "run.npz")
    assert loaded.state_names == ("z",)
    assert (loaded["z"] == sol.z[:, 0]).all()
    assert loaded.u.shape == loaded.z.shape == (3, 1)


def test_equations_and_report() -> None:
    q, u, (P, N), arguments = slider()
    z = me.dynamicsymbols("z")
    model = kc.Model(**arguments, forcelist=[(P, -z * N.x)], states={z: q * u - z**3})
    assert model.equations()[-1] == sm.Eq(z.diff(), q * u - z**3)
    assert model.symbolic("rhs", nested=True) == sm.Matrix([u, -z / sm.Symbol("m"), q * u - z**3])
    assert r"\dot{z} &= q u - z^{3}" in model.latex()
    assert "z: z\n" in model.report()
    assert "z: q u z" in model.report()
    assert (model.n_z, model.n_x, model.states) == (1, 3, (z,))


# ----------------------------------------------------------------------------------------------------- errors
q, u, z = me.dynamicsymbols("q u z")
T = sm.Symbol("T")
ERRORS = [
    ({"states": {q: -q}}, r"q is listed in states and in coordinates: list it in one of them"),
    ({"states": {z: -z}, "inputs": [z]}, r"z is listed in states and in inputs"),
    ({"states": {T: -T}}, r"states holds T, which is no function of time: make it with dynamicsymbols"),
    ({"states": [z]}, r"states holds z\(t\): write \{i: rate\}"),
    ({"states": [{z: -z}, {z: u - z}]}, r"states gives z\(t\) two rates, -z\(t\) and"),
    ({"states": {z: z.diff()}}, r"the rate of state z depends on itself"),
    (
        {"states": {z: u - z}, "kd_eqs": [q.diff() - u - z]},
        r"the rate of coordinate q holds the state z, .* list z in q_ind",
    ),
    ({"states": {z: u - z}, "configuration_constraints": [q - z]}, r"holds the state z, which then moves points"),
    (
        {"states": {z: u.diff() - z}, "potentials": [q * z]},
        r"potential 0 depends on the state z, and the rate of this state on derivatives",
    ),
    ({"states": {z: z.diff(me.dynamicsymbols._t, 2)}}, r"the rate of z\(t\) is known, and no higher derivative"),
    ({"states": {z: u - z}, "outputs": {"z": q}}, r"an output and the state z are both called 'z'"),
    ({"z": {z: u}}, r"Model has no argument 'z': write states="),
    ({"states": {z: kc.multiplier(0)}}, r"rates of states hold multiplier\(0\), and the rows of G are numbered"),
]


@pytest.mark.parametrize(("more", "message"), ERRORS)
def test_errors(more: dict[str, Any], message: str) -> None:
    *_, arguments = slider()
    with pytest.raises((kc.ModelError, TypeError), match=message):
        kc.Model(**{**arguments, **more}).symbolic("zdot")


def test_a_state_that_moves_a_point() -> None:
    *_, arguments = slider()
    N, O = ground()  # noqa: E741
    P = O.locatenew("P", (q + z) * N.x)
    P.set_vel(N, u * N.x)
    moved = {**arguments, "frame": N, "bodies": [me.Particle("bob", P, 1)], "states": {z: -z}}
    with pytest.raises(
        kc.ModelError, match=r"position of point P holds the state z, .* list z in q_ind, and its equation"
    ):
        kc.Model(**moved)


def test_objects_that_are_not_understood() -> None:
    """An actuator with states and without rates is refused: they would be inputs at 0."""
    _q, _u, (P, N), arguments = slider()
    O = me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    P.set_pos(O, q * N.x)

    class Valve(me.ForceActuator):
        x = sm.Matrix([z])

    valve = Valve(z, me.LinearPathway(O, P))
    with pytest.raises(kc.ModelError, match=r"load 0, the Valve.*, has the state z\(t\)"):
        kc.Model(**arguments, forcelist=[valve])
    assert kc.Model(**arguments, forcelist=[valve], states={z: -z}).n_z == 1
    assert kc.Model(**arguments, forcelist=[valve], inputs=[z]).n_r == 1


def test_lagrangian_with_a_state() -> None:
    """The pull of a solenoid, L = m q̇²/2 + Λ(q) i²/2 with a current i whose rate holds q̇."""
    x, i = me.dynamicsymbols("x i")
    m, R = sm.symbols("m R")
    model = kc.Model.from_lagrangian(
        m * x.diff() ** 2 / 2 + i**2 / (2 * (1 + x)), [x], states={i: 1 - R * i - x.diff()}
    )
    dyn = kc.compile(model, parameters={"m": 2.0, "R": 0.5})
    at = [0.3, -0.2, 0.7]
    assert_allclose(dyn.rhs(0.0, at), [-0.2, -0.49 / (2 * 1.69) / 2, 1 - 0.35 + 0.2], rtol=1e-13)
    assert dyn.audit(100 if sweep.LONG else 20).passed


def test_other_forms_refuse_states() -> None:
    *_, arguments = slider()
    model = kc.Model(**arguments, states={z: u - z})
    with pytest.raises(kc.ModelError, match="first-order states, z, beside q and p"):
        model.canonical()
    with pytest.raises(kc.ModelError, match="equivalent compares motions in q and u only"):
        kc.equivalent(model, model)


# ----------------------------------------------------------------------- coordinates that move nothing
def test_rate_of_a_coordinate_that_moves_nothing() -> None:
    """The temperature of a damper, as a coordinate: its rate c u² − T + e is not linear in u, and e may jump."""
    q, u, (P, N), arguments = slider()
    heat, e, c, k = *me.dynamicsymbols("T e"), *sm.symbols("c k")
    equations = {"q_ind": [q, heat], "kd_eqs": [q.diff() - u, heat.diff() - c * u**2 + heat - e]}
    model = kc.Model(**{**arguments, **equations}, forcelist=[(P, -k * (1 + heat) * u * N.x)])
    dyn = kc.compile(model, parameters={"m": 2.0, "c": 0.5, "k": 0.3})
    assert dyn.input_names == ("e",)
    x, r = np.array([0.1, 0.7, 0.2]), [0.4]
    assert_allclose(dyn.rhs(0.0, x, r=r), [0.2, 0.5 * 0.04 - 0.7 + 0.4, -0.3 * 1.7 * 0.2 / 2], rtol=1e-14)
    assert_allclose(dyn.linearize(0.0, x, r=r)[0], differences(lambda s: dyn.rhs(0.0, s, r=r), x), atol=1e-10)
    assert dyn.audit(100 if sweep.LONG else 20).passed
    with pytest.raises(kc.ModelError, match="rate of coordinate T is not linear in the speeds"):
        kc.Model(**{**arguments, **equations}, potentials=[heat * q])


# ------------------------------------------------------------------------------------------- other programs
@pytest.mark.compiler
@pytest.mark.parametrize("make", [motor, SERVO])
def test_exported_c(make: Callable[[], kc.CompiledModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make test` of the folder compares all functions, and steps with their Jacobian, with numbers of kanecore."""
    import shutil
    import subprocess

    if shutil.which("make") is None:
        pytest.skip("no make")
    if not sweep.LONG:  # numbers of the machine, which have the bits of C
        monkeypatch.setenv("CC", "none")
    dyn = make()
    dyn.export_c(tmp_path / dyn.name, kernels="all" if sweep.LONG else ["core", "linearize"])
    flags = [] if sweep.LONG else ["CFLAGS=-O0"]
    command = ["make", "test", "CC=cc", *flags]
    done = subprocess.run(command, cwd=tmp_path / dyn.name, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 numbers differ" in done.stdout
    header = next((tmp_path / dyn.name).glob("*.h")).read_text(encoding="utf-8")
    assert f"_n_z = {dyn.n_z}" in header


@pytest.mark.compiler
def test_fmu(tmp_path: Path) -> None:
    fmpy = pytest.importorskip("fmpy")
    dyn = motor()
    dyn.export_fmu(tmp_path / "motor.fmu")
    x, r = [0.4, -1.1, 2.3, 0.05], [0.6, 0.5]
    start = dict(
        zip([*dyn.coordinate_names, *dyn.speed_names, *dyn.state_names, *dyn.input_names], [*x, *r], strict=True)
    )
    end = fmpy.simulate_fmu(
        str(tmp_path / "motor.fmu"),
        stop_time=0.2,
        start_values=start,
        output=["phi", "i", "z"],
        relative_tolerance=1e-9,
    )[-1]
    sol = dyn.simulate((0.0, 0.2), x, inputs=r, rtol=1e-10, atol=1e-10)
    assert_allclose([end["phi"], end["i"], end["z"]], sol.x[-1][[0, 2, 3]], rtol=1e-4)


@pytest.mark.compiler
@pytest.mark.parametrize("make", [motor, SERVO])
def test_casadi_and_jax(make: Callable[[], kc.CompiledModel]) -> None:
    dyn = make()
    x, r = np.linspace(0.9, 0.3, dyn.n_x), np.full(dyn.n_r, 0.6)
    p, w, n = np.array(list(dyn.parameters.values())), np.linspace(0.3, -1.0, dyn.n_x), dyn.n_x
    jacobian, rates = dyn.linearize(0.1, x, r=r)[0], dyn.rhs(0.1, x, r=r)
    hessian = dyn.rhs_hessian(0.1, x, w, r=r)[:n, :n]
    ca = pytest.importorskip("casadi")
    f, at = dyn.casadi(), ca.MX.sym("x", n)
    weighted = ca.dot(ca.DM(w), f(0.1, at, r, p))
    results = [
        f(0.1, at, r, p),
        ca.jacobian(f(0.1, at, r, p), at),
        ca.gradient(weighted, at),
        ca.hessian(weighted, at)[0],
    ]
    for found, expected in zip(
        ca.Function("all", [at], results)(x), (rates, jacobian, w @ jacobian, hessian), strict=True
    ):
        assert_allclose(np.squeeze(np.array(found)), expected, rtol=1e-11, atol=1e-9)
    with pytest.raises(kc.ModelError, match=r"no function of CasADi: rates of its states \(a\) hold"):
        oscillator().casadi()
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    g = dyn.jax()
    assert_allclose(jax.jacfwd(lambda s: g(0.1, s, r, p))(x), jacobian, rtol=1e-12, atol=1e-12)
    assert_allclose(jax.hessian(lambda s: w @ g(0.1, s, r, p))(x), hessian, rtol=1e-11, atol=1e-9)
    assert_allclose(jax.jacfwd(lambda s: dyn.jax("zdot")(0.1, s, r, p))(x), jacobian[dyn.n_q + dyn.n_u :], atol=1e-12)
