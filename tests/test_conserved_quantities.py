# SPDX-License-Identifier: BSD-3-Clause
"""`dyn.conserved()`: what it claims stays in a simulation, what it denies drifts; and the textbooks' cases."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sweep
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates

import kanecore as kc
from kanecore.gallery import models

Array = npt.NDArray[np.float64]
time = me.dynamicsymbols._t
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


# ------------------------------------------------------------------------------------- against simulations
def quantities(
    dyn: Any, found: Any, times: Array, x: Array, **values: Any
) -> Iterator[tuple[str, list[Any], Any, float]]:
    """Kind, what is claimed of each, their values over time, and what is large for them."""
    if dyn.kernels.why_not("generalized_momenta") is None:
        p = dyn.generalized_momenta(times, x, **values)
        yield "momenta", [name in found.momenta for name in dyn.coordinate_names], p, 1e-6 * np.max(np.abs(p))
    if dyn.kernels.why_not("hamiltonian") is None:
        yield "hamiltonian", [found.hamiltonian], dyn.hamiltonian(times, x, **values)[:, np.newaxis], 1e-300
    energy = dyn.kinetic_energy(times, x, **values) + dyn.potential_energy(times, x, **values)
    yield "energy", [found.energy], energy[:, np.newaxis], 1e-300
    momenta, origin = dyn.body_momenta(times, x, **values), dyn.info["origins"][0]
    axes = [any(np.allclose(axis, e) for axis in found.linear_momentum) for e in np.eye(3)]
    yield "linear_momentum", axes, np.sum(momenta[..., :3], axis=1), np.max(np.abs(momenta))
    places = dyn.positions(times, x, **values)[:, [point for point, _ in dyn.info["bodies"]]]
    moments = np.cross(places, momenta[..., :3]) + momenta[..., 3:]
    about = [any(at == origin and np.allclose(axis, e) for at, axis in found.angular_momentum) for e in np.eye(3)]
    yield "angular_momentum", about, np.sum(moments, axis=1), np.max(np.abs(moments))


@pytest.mark.parametrize("name", sweep.part(models(), ["chaplygin_sleigh", "free_body", "rotating_tube"]))
def test_what_is_conserved_stays_and_all_else_drifts(name: str) -> None:
    """From a state on the constraints that has no symmetry."""
    dyn = kc.load(name)
    if name == "rotating_tube":
        dyn.inputs.update(theta=0.3, theta_d=1.1, theta_dd=0.0)
    if name == "rocking_block":
        dyn.inputs.update(dict.fromkeys(dyn.input_names, 0.0))
    if name == "rod_gravity":
        dyn.parameters.update(G=1.0, M=1.0, m=1.0, L=1.0)
    found, guess = dyn.conserved(), dyn.facts.guess
    x = np.random.default_rng(5).uniform(-1.0, 1.0, dyn.n_x) * (0.1 if guess else 0.5)
    for place, value in guess.items():
        x[int(place)] += value
    for quaternion in dyn.unit:
        x[list(quaternion)] /= np.linalg.norm(x[list(quaternion)])
    if name == "rod_gravity":  # outside of the particle, in an orbit
        x = np.array([0.3, 5.0, 0.4, 0.1, 0.2, 0.3])

    def inputs(t: float, x: Array) -> Array:
        return np.array([0.3 + 1.1 * t, 1.1, 0.0]) if name == "rotating_tube" else np.zeros(dyn.n_r)

    run = dyn.simulate((0.0, 1.0), dyn.consistent(0.0, x, None), rtol=1e-12, atol=1e-13, inputs=inputs)
    r = np.array([inputs(t, x) for t, x in zip(run.t, run.x, strict=True)])
    for kind, claims, values, size in quantities(dyn, found, run.t, run.x, r=r):
        if kind in found.not_conserved:  # of velocities that were set: nothing is claimed
            continue
        drift = np.max(np.abs(values - values[0]), axis=0) / np.maximum(np.max(np.abs(values), axis=0), size)
        assert claims == (drift < 1e-8).tolist(), (kind, drift)


# ----------------------------------------------------------------------------------------- closed cases
def says(found: Any, **expected: Any) -> None:
    """Each attribute as given; ``symmetric`` says both energies, ``about`` some of the angular momenta."""
    for name in ("hamiltonian", "energy") if "symmetric" in expected else ():
        assert getattr(found, name) is expected["symmetric"], name
    assert set(expected.pop("about", ())) <= set(found.angular_momentum)
    expected.pop("symmetric", None)
    for name, value in expected.items():
        assert getattr(found, name) == value, name


def point_mass(n: int = 3) -> dict[str, Any]:
    """A particle of mass m at (x, y, z), and what to build a model of it from."""
    q, u, m, (N, origin) = me.dynamicsymbols("x y z")[:n], me.dynamicsymbols("vx vy vz")[:n], sm.Symbol("m"), ground()
    P = origin.locatenew("P", sum((x * e for x, e in zip(q, N, strict=False)), me.Vector(0)))
    return {"N": N, "P": P, "q": q, "u": u, "m": m, "body": me.Particle("P", P, m)}


def compiled(s: dict[str, Any], forces: Any = (), parameters: Any = (), **options: Any) -> Any:
    kd_eqs = rates(s["q"], s["u"])
    model = kc.Model(s["N"], s["q"], s["u"], kd_eqs, bodies=[s["body"]], forcelist=list(forces), **options)
    return kc.compile(model, parameters=dict(parameters))


@pytest.mark.parametrize("law", ["potential", "force"])
def test_keplers_motion_conserves_the_areas_and_the_energy(law: str) -> None:
    """In polar coordinates, by the potential of the field or by its force."""
    rho, theta, v, w = me.dynamicsymbols("rho theta v w")
    (N, origin), (m, mu) = ground(), sm.symbols("m mu")
    A = N.orientnew("A", "Axis", (theta, N.z))
    P = origin.locatenew("P", rho * A.x)
    s = {"q": [rho, theta], "u": [v, w], "body": me.Particle("P", P, m), "N": N}
    given = {"potentials": [-mu * m / rho]} if law == "potential" else {"forces": [(P, -mu * m / rho**2 * A.x)]}
    found = compiled(s, parameters={m: 2.0, mu: 3.0}, **given).conserved()
    says(found, momenta=("theta",), cyclic=("theta",), symmetric=True, about=[("O", Z)], linear_momentum=(Z,))


def on_a_sphere(angle: Any, q: list[Any], u: list[Any], values: dict[Any, float]) -> Any:
    """A particle on a sphere under gravity: pitch theta, the azimuth as given."""
    (N, origin), (m, g, R) = ground(), sm.symbols("m g R")
    A = N.orientnew("A", "Axis", (angle, N.z))
    B = A.orientnew("B", "Axis", (q[0], A.y))
    P = origin.locatenew("P", -R * B.z)
    s = {"q": q, "u": u, "body": me.Particle("P", P, m), "N": N}
    return compiled(s, [(P, -m * g * N.z)], {m: 1.5, g: 9.81, R: 0.7, **values})


def spherical_pendulum() -> Any:
    theta, phi, a, b = me.dynamicsymbols("theta phi a b")
    return on_a_sphere(phi, [theta, phi], [a, b], {})


def test_a_spherical_pendulum_conserves_the_vertical_angular_momentum() -> None:
    """As a top does, which has two cyclic coordinates."""
    found = spherical_pendulum().conserved()
    says(found, momenta=("phi",), cyclic=("phi",), symmetric=True, linear_momentum=(), angular_momentum=(("O", Z),))
    assert "generalized momentum of phi" in str(found)
    assert "about (0, 0, 1) through O" in str(found)
    both = ("phi", "psi")
    says(kc.load("spinning_top").conserved(), momenta=both, cyclic=both, symmetric=True, angular_momentum=(("O", Z),))


def test_a_rotating_hoop_conserves_h_and_not_the_energy() -> None:
    """Ω t in the orientation; or a prescribed angle, which goes on at its current rates."""
    theta, u, phi, rate = *me.dynamicsymbols("theta u phi"), sm.Symbol("Omega")
    steady = {"hamiltonian": True, "energy": False, "momenta": (), "angular_momentum": ()}
    says(on_a_sphere(rate * time, [theta], [u], {rate: 4.0}).conserved(), **steady)
    dyn = on_a_sphere(phi, [theta], [u], {})
    phi, phi_d, phi_dd = dyn.input_names
    says(dyn.conserved(r={phi: 0.2, phi_d: 4.0, phi_dd: 0.0}), **steady)
    assert not dyn.conserved(r={phi: 0.2, phi_d: 4.0, phi_dd: 1.0}).hamiltonian
    says(dyn.conserved(r={phi: 0.2, phi_d: 0.0, phi_dd: 0.0}), symmetric=True)


@pytest.mark.parametrize("offset", [0, sm.Symbol("c")])
def test_only_homogeneous_constraints_leave_h_alone(offset: Any) -> None:
    s = point_mass()
    (x, y, _), (vx, vy, _), values = s["q"], s["u"], {s["m"]: 1.0} | ({offset: 0.5} if offset else {})
    for rows, normal in (
        ({"velocity_constraints": [vx - vy - offset]}, [1.0, -1.0, 0.0]),
        ({"configuration_constraints": [x + 2 * y - offset * time]}, [1.0, 2.0, 0.0]),
    ):
        found = compiled(s, [(s["P"], -s["m"] * 9.81 * s["N"].y)], values, **rows).conserved()
        says(found, symmetric=not offset, momenta=("z",))
        assert {"x", "z"} <= set(found.cyclic)
        assert found.linear_momentum[0] == Z
        assert np.allclose(found.linear_momentum[1:], normal / np.linalg.norm(normal))


def test_constraint_forces_take_the_momenta_of_cyclic_coordinates() -> None:
    """And the energy, where they keep the speed |v| = c."""
    found = kc.load("chaplygin_sleigh").conserved()
    says(found, symmetric=True)
    assert {"x", "y"} <= set(found.cyclic)
    assert not {"x", "y"} & set(found.momenta)
    assert found.not_conserved["x"] == "it is cyclic, and forces of constraint act along it"
    says(kc.load("constant_speed_particle").conserved(), symmetric=False)


def free_body(load: str = "") -> Any:
    """A rigid body on a quaternion."""
    q, v, w = me.dynamicsymbols("e0:4"), me.dynamicsymbols("v1:4"), me.dynamicsymbols("w1:4")
    (N, origin), x, (m, k) = ground(), me.dynamicsymbols("x y z"), sm.symbols("m k")
    B = N.orientnew("B", "Quaternion", q)
    B.set_ang_vel(N, w[0] * B.x + w[1] * B.y + w[2] * B.z)
    C = origin.locatenew("C", 2 * N.x - N.y + 3 * N.z)
    G = origin.locatenew("G", x[0] * N.x + x[1] * N.y + x[2] * N.z)
    body = me.RigidBody("body", G, B, m, (me.inertia(B, 1, 2, 2.5, 0.1, 0.2, 0.3), G))
    loads = {
        "gravity": (G, -m * 9.81 * N.y),
        "oblique": (G, m * (3 * N.x + 4 * N.z)),
        "torque": (B, k * N.z),
        "own torque": (B, k * B.z),
        "centre": (G, -k * G.pos_from(C)),
    }
    kd_eqs = [*me.kinematic_equations(w, q, "quaternion"), *rates(x, v)]
    forces = [loads[load]] if load else []
    model = kc.Model(N, [*q, *x], [*w, *v], kd_eqs, bodies=[body], forcelist=forces, points=[C])
    return kc.compile(model, parameters={s: {m: 2.0, k: 0.7}[s] for s in model.parameters})


@pytest.mark.parametrize(
    ("load", "energy", "linear", "angular"),
    [
        ("", True, (X, Y, Z), {("O", X), ("O", Y), ("O", Z)}),
        ("gravity", True, (X, Z), {("O", Y), ("C", Y)}),
        pytest.param("torque", False, (X, Y, Z), {("O", X), ("O", Y)}, marks=pytest.mark.long),
        ("own torque", False, (X, Y, Z), set()),
        pytest.param("centre", True, (), {("C", X), ("C", Y), ("C", Z)}, marks=pytest.mark.long),
    ],
)
def test_bodies_on_quaternions_have_conserved_quantities(
    load: str, energy: bool, linear: tuple[Any, ...], angular: set[Any]
) -> None:
    found = free_body(load).conserved()
    says(found, momenta=(), symmetric=energy, linear_momentum=linear)
    assert "as many speeds as coordinates" in found.not_conserved["momenta"]
    assert set(found.angular_momentum) == angular


def test_directions_need_not_be_axes() -> None:
    found = free_body("oblique").conserved()
    assert len(found.linear_momentum) == 2
    assert np.allclose(np.array(found.linear_momentum) @ [3.0, 0.0, 4.0], 0.0, atol=1e-12)
    assert np.allclose(np.linalg.norm(found.linear_momentum, axis=1), 1.0)
    about = {(at, tuple(np.round(axis, 9))) for at, axis in found.angular_momentum}
    assert about == {("O", (0.6, 0.0, 0.8)), ("C", (0.6, 0.0, 0.8))}


def test_current_parameters_and_inputs_decide() -> None:
    s, c = point_mass(1), sm.Symbol("c")
    damped = compiled(s, [(s["P"], -c * s["u"][0] * s["N"].x)], {s["m"]: 1.0, c: 0.3})
    says(damped.conserved(), energy=False, momenta=())
    assert damped.conserved().not_conserved["x"] == "it is cyclic, and forces without a potential act along it"
    says(damped.conserved(p={c: 0.0}), energy=True, momenta=("x",))
    assert not damped.conserved(p={c: 1e-9}).energy
    damped.parameters[c] = 0.0
    says(damped.conserved(), momenta=("x",), linear_momentum=(X, Y, Z))
    swing = kc.load("double_pendulum")
    says(swing.conserved(), momenta=())
    assert ("O", Z) not in swing.conserved().angular_momentum
    says(swing.conserved(p={"g": 0.0}), about=[("O", Z)])
    s, force = point_mass(2), me.dynamicsymbols("F")
    dyn = compiled(s, [(s["P"], force * s["N"].x)], {s["m"]: 1.0})
    says(dyn.conserved(), momenta=("x", "y"))
    says(dyn.conserved(r={force: 1e-9}), momenta=("y",))
    says(dyn.conserved(r={force: 1.0}), linear_momentum=(Y, Z))


def test_explicit_time() -> None:
    s = point_mass(2)
    x, N, m = s["q"][0], s["N"], s["m"]
    says(compiled(s, [(s["P"], m * sm.sin(time) * N.x)], {m: 1.0}).conserved(), momenta=("y",), symmetric=False)
    for potential, kept in (((2 + sm.cos(time)) * x**2, False), (2 * x**2, True)):
        found = compiled(s, potentials=[potential], parameters={m: 1.0}).conserved()
        says(found, momenta=("y",), symmetric=kept)


@pytest.mark.parametrize(
    ("mass", "length"), sweep.part(itertools.product([1e-12, 1.0, 1e12], [1e-6, 1.0, 1e6]), [(1e12, 1e-6)])
)
def test_units_do_not_matter(mass: float, length: float) -> None:
    dyn = spherical_pendulum()
    assert dyn.conserved(p={"m": mass, "R": length, "g": 9.81 * length}) == dyn.conserved()
    disc = kc.load("rolling_disc")
    p = {name: value * {"m": mass, "R": length, "g": length}.get(name, 1.0) for name, value in disc.parameters.items()}
    assert disc.conserved(p=p) == disc.conserved()


def test_symmetry_that_is_hidden_in_body_axes() -> None:
    """The velocity is written in axes that turn: T does not hold the angle, but for what cancels."""
    (x, y, a), (vx, vy, w) = me.dynamicsymbols("x y a"), me.dynamicsymbols("vx vy w")
    (N, origin), (m, J) = ground(), sm.symbols("m J")
    B = N.orientnew("B", "Axis", (a, N.z))
    G = origin.locatenew("G", x * N.x + y * N.y)
    G.set_vel(N, (vx * sm.cos(a) + vy * sm.sin(a)) * B.x + (vy * sm.cos(a) - vx * sm.sin(a)) * B.y)
    A = G.locatenew("A", 0.3 * B.x + 0.1 * B.y)
    s = {"q": [x, y, a], "u": [vx, vy, w], "N": N, "body": me.RigidBody("b", A, B, m, (me.inertia(B, 0, 0, J), A))}
    found = compiled(s, parameters={m: 3.0, J: 0.2}).conserved()
    says(found, momenta=("x", "y"), cyclic=("x", "y"), linear_momentum=(X, Y, Z))
    assert len(found.angular_momentum) == 3


def test_velocities_that_were_set_leave_h_undefined() -> None:
    """A wheel that rolls by its velocities: the constraint is in T, and Lagrange's equations do not hold."""
    (x, a), (v, w) = me.dynamicsymbols("x a"), me.dynamicsymbols("v w")
    (N, origin), (m, J, R) = ground(), sm.symbols("m J R")
    B = N.orientnew("B", "Axis", (a, N.z))
    G = origin.locatenew("G", x * N.x + R * N.y)
    G.set_vel(N, -R * w * N.x)
    s = {"q": [x, a], "u": [v, w], "N": N, "body": me.RigidBody("b", G, B, m, (me.inertia(B, 0, 0, J), G))}
    dyn = compiled(s, velocity_constraints=[v + R * w], parameters={m: 3.0, J: 0.2, R: 0.4})
    with pytest.raises(kc.ModelError, match="velocity of point G, of body b, was set"):
        dyn.hamiltonian(0.0, np.zeros(4))
    found = dyn.conserved()
    says(found, hamiltonian=False, energy=True, linear_momentum=(X, Y, Z))
    assert "was set" in found.not_conserved["hamiltonian"]


@pytest.mark.long
def test_constraints_that_nothing_satisfies() -> None:
    s = point_mass(2)
    dyn = compiled(s, configuration_constraints=[s["q"][0] ** 2 + s["q"][1] ** 2 + 1], parameters={s["m"]: 1.0})
    with pytest.raises(kc.ModelError):
        dyn.conserved()


def test_a_lagrangian_alone() -> None:
    """A charge in a magnetic field: ẏ is no momentum, p_y = m ẏ + B x is, and H is the kinetic energy."""
    (x, y), m, B = me.dynamicsymbols("x y"), *sm.symbols("m B")
    lagrangian = m / 2 * (x.diff() ** 2 + y.diff() ** 2) + B * x * y.diff()
    found = kc.compile(kc.Model.from_lagrangian(lagrangian, [x, y]), parameters={"m": 1.5, "B": 2.0}).conserved()
    says(found, momenta=("y",), cyclic=("y",), hamiltonian=True, linear_momentum=(), angular_momentum=())


def test_speeds_are_the_users() -> None:
    s, (u1, u2) = point_mass(2), me.dynamicsymbols("u1 u2")
    (x, y), N, m = s["q"], s["N"], s["m"]
    kinematical = [x.diff(time) + y.diff(time) - u1, 2 * x.diff(time) - y.diff(time) - u2 * (2 + sm.sin(y))]
    model = kc.Model(N, [x, y], [u1, u2], kinematical, bodies=[s["body"]], forcelist=[(s["P"], -m * 9.81 * N.y)])
    found = kc.compile(model, parameters={"m": 2.0}).conserved()
    says(found, momenta=("x",), cyclic=("x",), hamiltonian=True, linear_momentum=(X, Z))


@pytest.mark.parametrize(("stiffness", "mass"), sweep.every(2, [(3.0, 6e12), (3.0, 1.0), (3e-9, 1.0), (3e9, 6e-12)]))
def test_momentum_that_is_no_coordinates(stiffness: float, mass: float) -> None:
    """Two particles and the spring between them: the force takes the momentum of each."""
    x, v = me.dynamicsymbols("x1 x2"), me.dynamicsymbols("v1 v2")
    (N, origin), (k, m) = ground(), sm.symbols("k m")
    a, b = (origin.locatenew(name, place * N.x) for name, place in zip("AB", x, strict=True))
    pull, bodies = k * (x[1] - x[0] - 1) * N.x, [me.Particle("a", a, 1), me.Particle("b", b, m)]
    model = kc.Model(N, x, v, rates(x, v), bodies=bodies, forcelist=[(a, pull), (b, -pull)])
    found = kc.compile(model, parameters={"k": stiffness, "m": mass}).conserved()
    says(found, momenta=(), linear_momentum=(X, Y, Z))
    assert len(found.angular_momentum) == 3
