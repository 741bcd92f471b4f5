# SPDX-License-Identifier: BSD-3-Clause
"""The results of the slides "Dinámica analítica", Mecánica Racional, Universidad de Sevilla.

Each test names its section.  Where the slides have a misprint, the test says which and holds the right result.
"""

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import mass_point
from oracle.gallery_systems import gallery_system
from source_expressions import (
    NOTHING,
    active,
    agree,
    by_frame,
    by_point,
    equal,
    equations,
    in_rates,
    inertial,
    noncontributing,
    position,
    t,
    turned,
)
from sweep import part
from sympy.core.function import AppliedUndef

import kanecore as kc
from kanecore.gallery import ball_turntable, chaplygin_sleigh, rolling_disc, wire_particle

pytestmark = pytest.mark.long  # what Kane's method gives is claimed by test_truth.py and the random mechanisms

Array = npt.NDArray[np.float64]
theta = me.dynamicsymbols("theta")
m, g = sm.symbols("m g")

# ----------------------------------------------------------------------------------- d'Alembert, equations of Lagrange
#: Particles in plane and space, in frames that turn as prescribed, by a symbol and by an input; rigid bodies; u = q̇.
PARTICLES = ["double_pendulum", "spherical_pendulum", "kepler", "rotating_hoop", "rotating_tube"]
HOLONOMIC = [*PARTICLES, "two_rods", "rod_gravity", "furuta_pendulum", "gyroscope", "rrp"]
SHOWN = ["rotating_hoop", "rotating_tube", "rod_gravity", "two_rods"]
CONSERVATIVE = ["double_pendulum", "spherical_pendulum", "kepler", "rotating_hoop"]


@cache
def built(name: str) -> tuple[kc.Model, dict[str, Any]]:
    """A gallery model, and its SymPy objects."""
    return import_module(f"kanecore.gallery.{name}").build(), gallery_system(name)


def symbolic(name: str, kernel: str) -> Any:
    """A result of a gallery model, written in q, q̇, q̈."""
    model, system = built(name)
    return in_rates(model.symbolic(kernel, nested=True), system)


def euler_lagrange(function: Any, q: Any) -> list[Any]:
    """d/dt ∂f/∂q̇_k − ∂f/∂q_k."""
    return [function.diff(q_k.diff()).diff(t) - function.diff(q_k) for q_k in q]


@pytest.mark.parametrize("name", PARTICLES)
def test_dalembert(name: str) -> None:
    """Principio de d'Alembert: Σ (F_i − m_i a_i)·δr_i = 0 for every δq, F_i with or without the ideal reactions.

    The slide prints Σ Φ_i·r_i for the term that vanishes, Σ Φ_i·δr_i: the δ is missing.
    """
    model, system = built(name)
    q, frame = system["q"], system["frame"]
    places = {body.masscenter: position(system, body.masscenter) for body in system["bodies"]}
    total = [sm.S.Zero] * len(q)
    for body in system["bodies"]:
        r = places[body.masscenter]
        force = sum((load.to_matrix(frame) for at, load in system["loads"] if at == body.masscenter), NOTHING)
        for k, q_k in enumerate(q):
            total[k] += (force - body.mass * r.diff(t, 2)).dot(r.diff(q_k))
    udot = symbolic(name, "udot")
    accelerations = {q_k.diff(t, 2): a for q_k, a in zip(q, udot, strict=True)}
    assert agree([in_rates(x, system).xreplace(accelerations) for x in total], [0] * len(q))
    assert model.n_constraints == 0


def test_ideal_forces_do_no_virtual_work() -> None:
    """Principio de d'Alembert: Σ Φ_i·δr_i = 0 of the double pendulum's tensions; Σ Φ_i·r_i, as printed, is not 0."""
    system = gallery_system("double_pendulum")
    tensions = me.dynamicsymbols("T1 T2")
    work, printed = dict.fromkeys(system["q"], sm.S.Zero), sm.S.Zero
    for point, load in system["loads"]:
        force, r = load.to_matrix(system["frame"]), position(system, point)
        ideal = sum((force.diff(x) * x for x in tensions), NOTHING)
        printed += ideal.dot(r)
        work = {q: work[q] + ideal.dot(r.diff(q)) for q in work}
    assert equal(list(work.values()), [0, 0])
    assert sm.simplify(printed) != 0


@pytest.mark.parametrize("name", part(HOLONOMIC, SHOWN))
def test_partial_velocities_are_partial_positions(name: str) -> None:
    """Ecuaciones de Lagrange: ∂v_i/∂q̇_k = ∂r_i/∂q_k, also where r_i depends on t."""
    model, system = built(name)
    points = {body.masscenter.name: position(system, body.masscenter) for body in system["bodies"]}
    for point, (partials, _) in by_point(model).items():
        if point in points:
            velocity = points[point].diff(t)
            for k, q_k in enumerate(system["q"]):
                assert agree(in_rates(partials[:, k], system), points[point].diff(q_k))
                assert agree(velocity.diff(q_k.diff()), points[point].diff(q_k))
    assert set(points) <= set(by_point(model))


@pytest.mark.parametrize("name", part(HOLONOMIC, SHOWN))
def test_rates_of_partial_positions(name: str) -> None:
    """Ecuaciones de Lagrange: d/dt (∂r_i/∂q_k) = ∂v_i/∂q_k, with the package's v_i = Σ v_r u_r + v_t."""
    model, system = built(name)
    points = by_point(model)
    for body in system["bodies"]:
        partials, remainder = points[body.masscenter.name]
        velocity = in_rates(partials * sm.Matrix(system["u"]) + remainder, system)
        for k, q_k in enumerate(system["q"]):
            assert agree(in_rates(partials[:, k], system).diff(t), velocity.diff(q_k))


@pytest.mark.parametrize("name", part(HOLONOMIC, SHOWN))
def test_inertia_terms(name: str) -> None:
    """Ecuaciones de Lagrange: P_k = d/dt ∂T/∂q̇_k − ∂T/∂q_k, which is −F*_k; of particles also Σ m_i a_i·∂r_i/∂q_k.

    The slide sums T = Σ T_i to n, the number of coordinates; it is over the N particles.
    """
    _, system = built(name)
    expected = euler_lagrange(symbolic(name, "kinetic_energy"), system["q"])
    assert agree(expected, [-x for x in symbolic(name, "generalized_inertia_forces")])
    if name in PARTICLES:
        defined = [sm.S.Zero] * len(system["q"])
        for body in system["bodies"]:
            r = position(system, body.masscenter)
            defined = [x + body.mass * r.diff(t, 2).dot(r.diff(q)) for x, q in zip(defined, system["q"], strict=True)]
        assert agree(expected, defined)


@pytest.mark.parametrize("name", PARTICLES)
def test_generalized_forces(name: str) -> None:
    """Ecuaciones de Lagrange: Q_k = Σ F_i·∂r_i/∂q_k.

    Sistemas conservativos prints Q_k^NC = Σ F_i·δr_i, which is the virtual work and no generalized force.
    """
    _, system = built(name)
    expected = [sm.S.Zero] * len(system["q"])
    for point, load in system["loads"]:
        force, r = load.to_matrix(system["frame"]), position(system, point)
        expected = [x + force.dot(r.diff(q)) for x, q in zip(expected, system["q"], strict=True)]
    assert agree(expected, list(symbolic(name, "generalized_active_forces")))


def test_dependent_coordinates_cannot_be_separated() -> None:
    """Ecuaciones de Lagrange: with n > r only Σ (P_k − Q_k) δq_k = 0, for the δq that the constraint allows.

    Chaplygin's sleigh in q̇ of x, y, θ.  The slide sums over i what has the index k.
    """
    p, dyn = chaplygin_sleigh.PARAMETERS, kc.load("chaplygin_sleigh")
    x, y, angle = q = me.dynamicsymbols("x y theta")
    mass, moment, a = sm.symbols("m I a")
    centre = sm.Matrix([x + a * sm.cos(angle), y + a * sm.sin(angle)])
    energy = mass * centre.diff(t).dot(centre.diff(t)) / 2 + moment * angle.diff(t) ** 2 / 2
    terms = euler_lagrange(energy, q)
    for seed in range(3):
        heading, v, w = np.random.default_rng(seed).uniform(0.3, 1.5, 3)
        state = [0.1, 0.2, heading, v, w, 0.0]
        vdot, wdot, _ = dyn.udot(0.0, state)
        c, s = np.cos(heading), np.sin(heading)
        motion = {x.diff(t, 2): vdot * c - v * w * s, y.diff(t, 2): vdot * s + v * w * c, angle.diff(t, 2): wdot}
        motion |= {x.diff(t): v * c, y.diff(t): v * s, angle.diff(t): w, angle: heading, x: 0.1, y: 0.2}
        found = [float(e.xreplace(motion | {sm.Symbol(k): value for k, value in p.items()})) for e in terms]
        assert min(abs(found[0]), abs(found[1])) > 0.01, "P_x and P_y are not Q_x = Q_y = 0"
        assert abs(found[0] * c + found[1] * s) < 1e-12, "δx : δy = cos θ : sin θ"
        assert abs(found[2]) < 1e-12


# -------------------------------------------------------------------------------- conservative systems, the Lagrangian
@pytest.mark.parametrize("name", CONSERVATIVE)
def test_conservative_forces(name: str) -> None:
    """Sistemas conservativos: Q_k = −∂U/∂q_k, also where the constraint depends on time."""
    _, system = built(name)
    potential = symbolic(name, "potential_energy")
    assert agree([-potential.diff(q) for q in system["q"]], list(symbolic(name, "generalized_active_forces")))


@pytest.mark.parametrize("name", CONSERVATIVE)
def test_lagrangian(name: str) -> None:
    """Lagrangiana: d/dt ∂L/∂q̇_k − ∂L/∂q_k = 0 are the equations of motion of a conservative system."""
    _, system = built(name)
    lagrangian = symbolic(name, "kinetic_energy") - symbolic(name, "potential_energy")
    assert agree(euler_lagrange(lagrangian, system["q"]), list(symbolic(name, "inverse_dynamics")))


def test_lagrangian_with_other_forces() -> None:
    """Lagrangiana: ... = Q_k^NC; of the cart-pole the push F and the friction −b ẋ, both along x."""
    _, system = built("cart_pole")
    x = system["q"][0]
    other = [me.dynamicsymbols("F") - sm.Symbol("b") * x.diff(), 0]
    lagrangian = symbolic("cart_pole", "kinetic_energy") - symbolic("cart_pole", "potential_energy")
    left = euler_lagrange(lagrangian, system["q"])
    equations_of_motion = list(symbolic("cart_pole", "inverse_dynamics"))
    assert agree([a - b for a, b in zip(left, other, strict=True)], equations_of_motion)


# ------------------------------------------------------------------------------------------ forces on a rigid body
def test_forces_on_a_rigid_body() -> None:
    """Fuerzas generalizadas para sólidos rígidos: Q_k = F·∂v^O/∂q̇_k + M_O·∂ω/∂q̇_k, O any point of the body."""
    N, body = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    q, u = me.dynamicsymbols("q1:7"), me.dynamicsymbols("u1:7")
    body.orient_body_fixed(N, q[3:], "123")
    origin = me.Point("O")
    origin.set_vel(N, 0)
    centre = origin.locatenew("C", sum((x * e for x, e in zip(q, N, strict=False)), me.Vector(0)))
    points = [centre.locatenew(f"P{i}", i * body.x - 2 * body.y + (i - 1) ** 2 * body.z) for i in range(4)]
    forces = [(p, sm.sin(i) * N.x + i * q[i] * N.y - u[i] * body.z) for i, p in enumerate(points)]
    other = centre.locatenew("Q", 3 * body.x + sm.Rational(1, 2) * body.y - body.z)

    def model(loads: list[Any]) -> kc.Model:
        rigid = me.RigidBody("body", centre, body, m, (me.inertia(body, 1, 2, 2), centre))
        rates = [a.diff() - b for a, b in zip(q, u, strict=True)]
        return kc.Model(N, q, u, rates, bodies=[rigid], forcelist=loads, points=[other], frames=[body])

    force, moment = kc.ForceSystem(forces).equivalent(other)
    direct, reduced = model(list(forces)), model([(other, force), (body, moment)])
    assert agree(active(direct), active(reduced))
    partials, turning = by_point(reduced)["Q"][0], by_frame(reduced)["B"][0]
    components = [x.to_matrix(N) for x in (force, moment)]
    projected = [partials[:, k].dot(components[0]) + turning[:, k].dot(components[1]) for k in range(6)]
    assert agree(active(direct), projected)


# ---------------------------------------------------------------------------------- conservation, function of Hamilton
def momenta(name: str) -> list[Any]:
    """p_k = ∂L/∂q̇_k; no potential here depends on q̇."""
    return [symbolic(name, "kinetic_energy").diff(q.diff()) for q in built(name)[1]["q"]]


def rate(name: str, function: Any) -> Any:
    """d/dt along the motion."""
    _, system = built(name)
    accelerations = dict(zip([q.diff(t, 2) for q in system["q"]], symbolic(name, "udot"), strict=True))
    return function.diff(t).xreplace(accelerations)


def hamiltonian(name: str) -> Any:
    """H = Σ p_k q̇_k − L."""
    lagrangian = symbolic(name, "kinetic_energy") - symbolic(name, "potential_energy")
    return sum(p * q.diff() for p, q in zip(momenta(name), built(name)[1]["q"], strict=True)) - lagrangian


def test_momenta_of_a_length_and_of_an_angle() -> None:
    """Teoremas de conservación: p of a length is a momentum, of an angle an angular momentum; Kepler's r and θ."""
    radius, angle, v, w = *built("kepler")[1]["q"], *built("kepler")[1]["u"]
    assert (v, w) != (radius, angle)
    assert equal(momenta("kepler"), [m * radius.diff(t), m * radius**2 * angle.diff(t)])


def test_momenta_of_absolute_angles_are_not_angular_momenta() -> None:
    """Teoremas de conservación says of any angle that p is an angular momentum.

    It is where δq turns all that it moves about one axis.  In the double pendulum q1, an absolute angle, moves P2
    without turning the second rod: p1 is the moment about O of what P1 would have with the momentum of both.
    """
    system = built("double_pendulum")[1]
    first, second = (position(system, body.masscenter) for body in system["bodies"])
    masses = [body.mass for body in system["bodies"]]
    momentum = [mass * place.diff(t) for mass, place in zip(masses, (first, second), strict=True)]
    about_pivot = first.cross(momentum[0]) + second.cross(momentum[1])
    p1, p2 = momenta("double_pendulum")
    assert agree(p1, first.cross(momentum[0] + momentum[1])[2])
    assert agree(p1 + p2, about_pivot[2])
    assert not agree(p1, about_pivot[2])


@pytest.mark.parametrize(("name", "k"), [("spherical_pendulum", 1), ("kepler", 1)])
def test_cyclic_coordinates_conserve_their_momenta(name: str, k: int) -> None:
    """Teoremas de conservación: ∂L/∂q_k = 0 implies p_k = const of a conservative system in independent coordinates."""
    lagrangian = symbolic(name, "kinetic_energy") - symbolic(name, "potential_energy")
    assert lagrangian.diff(built(name)[1]["q"][k]) == 0
    assert agree(rate(name, momenta(name)[k]), 0)
    assert not agree(rate(name, momenta(name)[1 - k]), 0)


def test_other_forces_change_momenta() -> None:
    """Teoremas de conservación: x of the cart-pole is cyclic, and ṗ_x is the force along it, which is not zero."""
    system = built("cart_pole")[1]
    x = system["q"][0]
    assert agree(rate("cart_pole", momenta("cart_pole")[0]), me.dynamicsymbols("F") - sm.Symbol("b") * x.diff())


def test_momenta_of_dependent_coordinates_are_not_conserved() -> None:
    """Teoremas de conservación asks for independent coordinates: x of the sleigh is cyclic, and p_x = m ẋ_G changes."""
    dyn, a = kc.load("chaplygin_sleigh"), chaplygin_sleigh.PARAMETERS["a"]
    state = list(chaplygin_sleigh.STATE.values())
    sol = dyn.simulate((0.0, 2.0), state, rtol=1e-11, atol=1e-11)
    angle, v, w = sol.x[:, 2], sol.x[:, 3], sol.x[:, 4]
    assert np.ptp(v * np.cos(angle) - a * w * np.sin(angle)) > 0.1 * np.abs(v).max()
    assert sol.energy_drift < 1e-8


@pytest.mark.parametrize("name", ["spherical_pendulum", "kepler", "rotating_hoop", "rotating_tube"])
def test_rate_of_the_hamiltonian(name: str) -> None:
    """Función de Hamilton: dH/dt = −∂L/∂t; of the tube, whose θ(t) is given, it is not zero.

    The derivation prints + ∂L/∂t in its last line but one, where the sign must be minus, as in the result.
    The springs of the tube are counted here, whatever ``potential_energy`` holds of them.
    """
    system = built(name)[1]
    energy = symbolic(name, "kinetic_energy")
    potential = potential_of(name)
    h = sum(p * q.diff() for p, q in zip(momenta(name), system["q"], strict=True)) - energy + potential
    # ∂L/∂t at constant q and q̇: θ and its rate vary, t itself does not stand in these Lagrangians
    driven = [x for x in (energy - potential).atoms(AppliedUndef) if x not in system["q"]]
    explicit = sum(
        ((energy - potential).diff(x) * x.diff() + energy.diff(x.diff()) * x.diff(t, 2) for x in driven), sm.S.Zero
    )
    assert agree(rate(name, h), -explicit)
    assert (explicit == 0) == (name != "rotating_tube")


def potential_of(name: str) -> Any:
    """U, by hand of the tube: weights and springs."""
    if name != "rotating_tube":
        return symbolic(name, "potential_energy")
    q1, q2 = built(name)[1]["q"]
    m1, m2, k1, k2, L1, L2 = sm.symbols("m1 m2 k1 k2 L1 L2")
    springs = k1 * q1**2 / 2 + k2 * (q2 - q1) ** 2 / 2
    return springs - g * sm.cos(theta) * (m1 * (L1 + q1) + m2 * (L1 + L2 + q2))


@pytest.mark.parametrize("name", ["spherical_pendulum", "kepler", "double_pendulum"])
def test_scleronomic_hamiltonian_is_the_energy(name: str) -> None:
    """Función de Hamilton: H = T + U of a scleronomic and conservative system, and it is conserved."""
    assert agree(hamiltonian(name), symbolic(name, "kinetic_energy") + symbolic(name, "potential_energy"))
    assert agree(rate(name, hamiltonian(name)), 0)


def test_energy_is_not_conserved_though_time_is_cyclic() -> None:
    """Función de Hamilton concludes E = const from "conservative, independent coordinates, ∂L/∂t = 0": wrong.

    The hoop that turns at a constant rate has all three; H is conserved, and T + U is not, since the constraint moves.
    Sistemas conservativos says so itself: the energy may change by a rheonomic constraint.  "Scleronomic" is missing.
    """
    energy = symbolic("rotating_hoop", "kinetic_energy") + symbolic("rotating_hoop", "potential_energy")
    lagrangian = symbolic("rotating_hoop", "kinetic_energy") - symbolic("rotating_hoop", "potential_energy")
    assert (
        not lagrangian.xreplace({q.diff(): sm.Symbol("d") for q in built("rotating_hoop")[1]["q"]})
        .subs({q: sm.Symbol("c") for q in built("rotating_hoop")[1]["q"]})
        .has(t)
    )
    assert agree(rate("rotating_hoop", hamiltonian("rotating_hoop")), 0)
    assert not agree(rate("rotating_hoop", energy), 0)
    assert agree(rate("rotating_hoop", energy), symbolic("rotating_hoop", "power"))


# ----------------------------------------------------------------------------- particle on a wire, liberation
R = sm.Symbol("R")
r, z, v_r, omega, v_z = me.dynamicsymbols("r z v_r omega v_z")
N_r, N_z = me.dynamicsymbols("N_r N_z")


def freed_particle(weight: bool = True) -> kc.Model:
    """The particle without the wire: cylindrical coordinates r, theta, z, and the wire's reactions as forces."""
    N, E = me.ReferenceFrame("N"), me.ReferenceFrame("E")
    E.orient_axis(N, theta, N.z)
    origin = me.Point("O")
    origin.set_vel(N, 0)
    P = origin.locatenew("P", r * E.x + z * N.z)
    reaction = N_r * E.x + N_z * N.z
    q, u = [r, theta, z], [v_r, omega, v_z]
    return kc.Model(
        *(N, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)]),
        bodies=[me.Particle("particle", P, m)],
        forcelist=[(P, m * g * N.x + reaction if weight else reaction)],
    )


def test_freed_particle_energies() -> None:
    """Slides, liberation: T = m/2 (ṙ² + r² θ̇² + ż²), U = −m g r cos θ."""
    model = freed_particle()
    assert equal(model.symbolic("kinetic_energy", nested=True), m / 2 * (v_r**2 + r**2 * omega**2 + v_z**2))
    assert equal(model.symbolic("potential_energy", nested=True), -m * g * r * sm.cos(theta))


def test_freed_particle_reactions_as_generalized_forces() -> None:
    """Slides, liberation: Q_r = N_r, Q_θ = 0, Q_z = N_z."""
    assert equal(active(freed_particle(weight=False)), [N_r, 0, N_z])


def test_freed_particle_equations() -> None:
    """Slides, liberation: the three equations of Lagrange."""
    radial = m * v_r.diff(t) - m * r * omega**2 - m * g * sm.cos(theta) - N_r
    circular = m * r**2 * omega.diff(t) + 2 * m * r * v_r * omega + m * g * r * sm.sin(theta)
    lateral = m * v_z.diff(t) - N_z
    assert equal(equations(freed_particle()), [radial, circular, lateral])


def test_wire_put_back_gives_its_reactions() -> None:
    """Slides, liberation: with r = R, z = 0, N_r = −m (R θ̇² + g cos θ), N_z = 0, θ̈ = −(g/R) sin θ."""
    on_the_wire = {v_r.diff(t): 0, v_z.diff(t): 0, v_r: 0, v_z: 0, r: R, z: 0}
    radial, circular, lateral = (sm.simplify(me.msubs(e, on_the_wire)) for e in equations(freed_particle()))
    assert equal(sm.solve(radial, N_r)[0], -m * (R * omega**2 + g * sm.cos(theta)))
    assert sm.solve(lateral, N_z) == [0]
    assert equal(sm.solve(circular, omega.diff(t))[0], -g / R * sm.sin(theta))


def test_wire_set_free() -> None:
    """Aplicación del Principio de Liberación: ``free`` makes the freed particle of the bound one, row by row."""
    N, E, origin = me.ReferenceFrame("N"), me.ReferenceFrame("E"), me.Point("O")
    origin.set_vel(N, 0)
    E.orient_axis(N, theta, N.z)
    P = origin.locatenew("P", r * E.x + z * N.z)
    q, u = [r, theta, z], [v_r, omega, v_z]
    held = kc.Model(
        *(N, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)]),
        configuration_constraints={"wire": r - R, "plane": z},
        bodies=[me.Particle("particle", P, m)],
        forcelist=[(P, m * g * N.x)],
    )
    released = held.free("wire", "plane")
    force = dict(zip(released.inputs, (N_r, N_z), strict=True))
    assert [str(x) for x in force] == ["lambda_wire(t)", "lambda_plane(t)"]
    assert equal([x.xreplace(force) for x in equations(released)], equations(freed_particle()))


def test_wire_particle() -> None:
    """Slides, liberation: the bound particle, θ̈ = −(g/R) sin θ, and reactions that do not contribute (Q_θ = 0)."""
    model = wire_particle.build()
    u = model.speeds[0]
    _, along = turned(theta)
    assert equal(by_point(model)["P"][0], R * along)
    assert equal(active(model), [-m * g * R * sm.sin(theta)])
    assert equal(inertial(model), [-m * R**2 * u.diff(t)])
    assert equal(model.symbolic("udot", nested=True), [-g / R * sm.sin(theta)])
    assert noncontributing(model) == {"N_r", "N_z"}


# ------------------------------------------------------------------------------------------ multipliers of Lagrange
def bound_particle(polar: bool) -> kc.Model:
    """The particle of the wire in a plane, freed, with the wire as a constraint: r = R or x² + y² = R²."""
    N, E = me.ReferenceFrame("N"), me.ReferenceFrame("E")
    origin = me.Point("O")
    origin.set_vel(N, 0)
    (a, b), u = me.dynamicsymbols("theta r" if polar else "x y"), me.dynamicsymbols("u1:3")
    E.orient_axis(N, a if polar else 0, N.z)
    P = origin.locatenew("P", b * E.x if polar else a * N.x + b * N.y)
    return kc.Model(
        *(N, [a], u[:1], [a.diff() - u[0], b.diff() - u[1]]),
        q_dependent=[b],
        u_dependent=u[1:],
        configuration_constraints=[b - R if polar else a**2 + b**2 - R**2],
        bodies=[me.Particle("particle", P, m)],
        forcelist=[(P, m * g * N.x)],
        name="wire",
    )


def test_virtual_displacements_on_the_circle() -> None:
    """Ligaduras geométricas: δf = 2x δx + 2y δy = 0, δy = −(x/y) δx, and Φ = λ∇f is normal to it."""
    model = bound_particle(polar=False)
    x, y = me.dynamicsymbols("x y")
    (along,) = model.symbolic("partial_velocities", nested=True, nonholonomic=True)
    assert equal(list(along), [1, -x / y, 0])
    gradient = sm.Matrix(model.symbolic("constraint_jacobian", nested=True))
    assert equal(list(gradient), [2 * x, 2 * y])
    assert equal((gradient @ along[:2, :])[0], 0)


def test_the_same_force_by_two_gradients() -> None:
    """Ligaduras geométricas: Q_r = λ, Q_θ = 0 with f = r − R; Φ = λ (2x, 2y) with f = x² + y² − R².

    The slide calls λ the magnitude of the force.  It is where |∇f| = 1; with x² + y² − R² the magnitude is 2 R |λ|.
    Both give the N_r of the principle of liberation.
    """
    values = {m: 0.2, R: 0.3, g: 9.81}
    cartesian, polar = (kc.compile(bound_particle(kind), parameters=values) for kind in (False, True))
    for angle, spin in ((0.4, 2.0), (2.0, -5.0)):
        c, s = np.cos(angle), np.sin(angle)
        x = [0.3 * c, 0.3 * s, -0.3 * spin * s, 0.3 * spin * c]
        push = -0.2 * (0.3 * spin**2 + 9.81 * c)
        (first,), (second,) = cartesian.multipliers(0.0, x), polar.multipliers(0.0, [angle, 0.3, spin, 0.0])
        assert second == pytest.approx(push, rel=1e-12)
        assert 2 * 0.3 * first == pytest.approx(push, rel=1e-12)
        np.testing.assert_allclose(polar.constraint_jacobian(0.0, [angle, 0.3, spin, 0.0]), [[0.0, 1.0]])


def skate_on_a_sphere() -> tuple[kc.Model, Any, Any, Any]:
    """A particle with n = 3, m = 1, p = 1: x² + y² + z² = R² and ẋ − z ẏ + 0.3 = 0; and f, g, L."""
    q, u = me.dynamicsymbols("x y z"), me.dynamicsymbols("u1:4")
    f = q[0] ** 2 + q[1] ** 2 + q[2] ** 2 - R**2
    kinematic = u[0] - q[2] * u[1] + sm.Rational(3, 10)
    model = mass_point(
        dict(zip(q, u, strict=True)),
        m,
        [0, -u[1], -m * g],
        velocity_constraints=[kinematic],
        configuration_constraints=[f],
        name="skate on a sphere",
    )
    lagrangian = m * sum(x.diff() ** 2 for x in q) / 2 - m * g * q[2]
    return model, f, kinematic.xreplace({b: a.diff() for a, b in zip(q, u, strict=True)}), lagrangian


def test_equations_with_multipliers() -> None:
    """Multiplicadores: d/dt ∂L/∂q̇ − ∂L/∂q = Q^NC + Σ λ ∂f/∂q + Σ μ ∂g/∂q̇, with f = 0 and g = 0: n + m + p of each.

    n + m + p = 5 equations for as many unknowns, here q̈, λ and μ at a state, and r = n − m − p = 1.
    """
    model, f, kinematic, lagrangian = skate_on_a_sphere()
    values = {m: 0.7, R: 1.1, g: 9.81}
    dyn = kc.compile(model, parameters=values)
    q = model.coordinates
    state = dyn.consistent(0.0, [0.3, 0.5, 0.8, 0.2, 0.9, 0.1])
    assert (dyn.n_u, dyn.n_configuration, dyn.n_constraints, dyn.check(state).dof) == (3, 1, 2, 1)
    mu, lam = dyn.multipliers(0.0, state)
    other = [0, -q[1].diff(), 0]
    left = euler_lagrange(lagrangian, q)
    right = [force + lam * f.diff(x) + mu * kinematic.diff(x.diff()) for force, x in zip(other, q, strict=True)]
    rows = [*(a - b for a, b in zip(left, right, strict=True)), f.diff(t, 2), kinematic.diff(t)]
    motion = dict(zip([x.diff(t, 2) for x in q], dyn.udot(0.0, state), strict=True))
    motion |= dict(zip([x.diff() for x in q], state[3:], strict=True)) | dict(zip(q, state[:3], strict=True)) | values
    assert len(rows) == len(q) + 1 + 1
    assert max(abs(float(e.xreplace(motion))) for e in rows) < 1e-12


def test_time_is_frozen_in_virtual_displacements() -> None:
    """Ligaduras cinemáticas: Σ a_lk dq_k + b_l dt = 0 of a motion, Σ a_lk δq_k = 0 of a virtual one, a = ∂g/∂q̇.

    The ball on the turntable, whose constraint holds b: its reaction works in the motion, and in no virtual one.
    """
    dyn, state = kc.load("ball_turntable"), np.array(list(ball_turntable.STATE.values()))
    G, multipliers = dyn.constraint_jacobian(0.0, state), dyn.multipliers(0.0, state)
    assert np.abs(dyn.velocity_residual(0.0, state)).max() < 1e-12
    moved = G @ state[dyn.n_q :]
    assert np.abs(moved).max() > 0.1, "a_lk q̇_k = −b_l"
    assert abs(multipliers @ moved) > 1e-4
    virtual = np.linalg.svd(G)[2][len(G) :]
    assert np.abs(virtual @ (G.T @ multipliers)).max() < 1e-14


def test_multipliers_are_found_by_equating_powers() -> None:
    """Multiplicadores: Σ Φ·v* = Σ Q_k q̇_k in every virtual motion; of a rigid body Φ·v^O + Γ_O·ω, O any point.

    Φ is the friction on the rolling disc, by Newton's law: m a − m g.  O is the mass centre, then the contact.
    """
    dyn, p = kc.load("rolling_disc"), rolling_disc.PARAMETERS
    state = np.array(list(rolling_disc.STATE.values()))

    def velocity(x: Array) -> Array:
        """Of the mass centre."""
        return np.asarray(x[5:] @ dyn.partial_velocities(0.0, x)[0])

    h, rate = 1e-5, dyn.rhs(0.0, state)
    acceleration = (velocity(state + h * rate) - velocity(state - h * rate)) / (2 * h)
    friction = p["m"] * acceleration * [1, 1, 0]
    multipliers = dyn.multipliers(0.0, state)
    np.testing.assert_allclose(multipliers, friction[:2], rtol=0, atol=1e-8)
    heading, lean = state[0], np.pi / 2 - state[1]
    radius = -p["R"] * np.array([-np.sin(heading) * np.cos(lean), np.cos(heading) * np.cos(lean), np.sin(lean)])
    for seed in range(3):
        virtual = np.random.default_rng(seed).uniform(-1.0, 1.0, 5)
        analytic = (dyn.constraint_jacobian(0.0, state).T @ multipliers) @ virtual
        v = virtual @ dyn.partial_velocities(0.0, state)[0]
        w = virtual @ dyn.partial_angular_velocities(0.0, state)[0]
        assert friction @ v + np.cross(radius, friction) @ w == pytest.approx(analytic, rel=1e-7)
        assert friction @ (v + np.cross(w, radius)) == pytest.approx(analytic, rel=1e-7)
