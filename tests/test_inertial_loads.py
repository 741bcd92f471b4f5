# SPDX-License-Identifier: BSD-3-Clause
"""Loads that are affine in u̇: added mass, thrust that follows an acceleration, forces on an accelerating frame.

Expected values are closed forms, SymPy's equations with the derivatives of speeds sorted by hand, and models in which
what multiplies u̇ is mass.
"""

import itertools
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates
from oracle.on_graph import OnGraph
from sweep import part

import kanecore as kc

t = me.dynamicsymbols._t
q = q1, q2, q3 = me.dynamicsymbols("q1:4")
u = u1, u2, u3 = me.dynamicsymbols("u1:4")
F = me.dynamicsymbols("F")
m, c, g, k, b, J = sm.symbols("m c g k b J")
PARAMETERS = {m: 1.3, c: 0.4, g: 9.81, k: 7.0, b: 0.8, J: 0.6}
KD = rates(q, u)
rng = np.random.default_rng(7)


class Cart:
    """A cart in the plane with a rod on it: points O, P (cart), Q (rod's centre), frames N and A."""

    def __init__(self) -> None:
        self.N, self.O = me.ReferenceFrame("N"), me.Point("O")
        self.A = self.N.orientnew("A", "Axis", [q3, self.N.z])
        self.A.set_ang_vel(self.N, u3 * self.N.z)
        self.O.set_vel(self.N, 0)
        self.P = self.O.locatenew("P", q1 * self.N.x + q2 * self.N.y)
        self.P.set_vel(self.N, u1 * self.N.x + u2 * self.N.y)
        self.Q = self.P.locatenew("Q", b * self.A.x)
        self.Q.v2pt_theory(self.P, self.N, self.A)
        self.bodies = [
            me.Particle("cart", self.P, m),
            me.RigidBody("rod", self.Q, self.A, 2 * m, (me.inertia(self.A, 0, 0, J), self.Q)),
        ]
        self.weights = [(self.P, -m * g * self.N.y), (self.Q, -2 * m * g * self.N.y)]

    def model(self, loads: list[Any], weights: bool = True, **options: Any) -> kc.Model:
        forcelist = [*loads, *(self.weights if weights else [])]
        return kc.Model(self.N, q, u, KD, bodies=self.bodies, forcelist=forcelist, **options)


def compiled(model: kc.Model) -> kc.CompiledModel:
    return kc.compile(model, parameters={s: PARAMETERS[s] for s in model.parameters})


LOADS = {
    "added mass": lambda s: [(s.Q, -c * s.Q.acc(s.N))],
    "of one point on another": lambda s: [(s.P, -c * u3.diff() * s.A.y - k * q1 * s.N.x)],
    "torque": lambda s: [(s.A, (c * u1.diff() + F * q2 * u3.diff() - k * u3) * s.N.z)],
    "in a turning frame": lambda s: [(s.Q, (c * sm.cos(q1) * u2.diff() + F) * s.A.x - c * u3.diff() * u1 * s.N.y)],
    "of rates": lambda s: [(s.P, c * (q2 * u1).diff(t) * s.N.x)],
    "branches": lambda s: [(s.P, sm.Piecewise((c * u1.diff(), u1 > 0), (-k * q1, True)) * s.N.x)],
    "on a pathway": lambda s: [me.ForceActuator(c * u1.diff() + F, me.LinearPathway(s.O, s.Q))],
}
STORED = {"of one point on another": k * q1 * u1}  # what a spring among them takes up: no part of the power
SYMMETRIC = ("added mass", "of rates", "branches")


def on_graph(model: kc.Model) -> OnGraph:
    return OnGraph(model, {str(symbol): value for symbol, value in PARAMETERS.items()})


def state() -> dict[Any, float]:
    draw = rng.uniform(0.2, 1.2, 10)
    moving = dict(zip([*q, *u, *(x.diff() for x in u), F], draw, strict=True))
    return {**moving, **PARAMETERS}


def number(e: Any, at: dict[Any, float]) -> np.ndarray:
    """A SymPy matrix at a state; q̇ = u."""
    rates = {x.diff(): y for x, y in zip(q, u, strict=True)}
    e = sm.Matrix(e).xreplace(rates).xreplace({x: sm.Float(v, 17) for x, v in at.items()}).doit()
    return np.array(e.evalf(), dtype=float).squeeze()


@pytest.mark.parametrize(
    ("name", "weights"),
    part(
        itertools.product(LOADS, [True, False]),
        [*((name, True) for name in LOADS if name != "in a turning frame"), ("added mass", False)],
    ),
)
def test_against_sympys_equations(name: str, weights: bool) -> None:
    """SymPy leaves u̇ of loads in F_r: its derivative belongs to the mass matrix, what is left is f; T is as without."""
    system = Cart()
    loads = LOADS[name](system)
    model = system.model(loads, weights)
    flat = [x for load in loads for x in (load.to_loads() if hasattr(load, "to_loads") else [load])]
    kane = me.KanesMethod(system.N, q, u, KD)
    fr, frstar = kane.kanes_equations(system.bodies, flat + (system.weights if weights else []))
    at, udot = state(), [x.diff() for x in u]
    kd = {x.diff(): y for x, y in zip(q, u, strict=True)}
    fr = fr.xreplace(kd).doit()
    added, rest = fr.jacobian(udot), dict.fromkeys(udot, 0)
    mass, forcing = number(kane.mass_matrix - added, at), number(kane.forcing.xreplace(rest), at)
    acceleration, x, r = [at[x] for x in udot], [at[x] for x in (*q, *u)], {"F": at[F]}
    on, plain = on_graph(model), on_graph(system.model([], weights))
    for kernel, given, expected in (
        ("mass_matrix", (), mass),
        ("forcing", (), forcing),
        ("inverse_dynamics", (acceleration,), mass @ acceleration - forcing),
        ("generalized_active_forces", (), number(fr.xreplace(rest), at)),
        ("generalized_inertia_forces", (acceleration,), number(frstar.xreplace(kd) + added * sm.Matrix(udot), at)),
        ("kinetic_energy", (), plain.kinetic_energy(0.0, x, r=r)),
    ):
        found = getattr(on, kernel)(0.0, x, *given, r=r)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12, err_msg=kernel)
    assert model.derivation.symmetric == (name in SYMMETRIC)
    velocities = [load[0].vel(system.N) if isinstance(load[0], me.Point) else u3 * system.N.z for load in flat]
    work = sum(load[1].dot(v) for load, v in zip(flat, velocities, strict=True))
    if weights:  # they have a potential
        power = number([work + STORED.get(name, 0)], at)
        np.testing.assert_allclose(on.power(0.0, x, acceleration, r=r), [power], rtol=1e-12)


def test_reaction_of_a_pendulum_in_water() -> None:
    """One bob on a rod: along the rod −(m + c) b u², across it the weight less what the bob needs."""
    s = Cart()
    s.P.set_pos(s.O, b * s.A.x)
    s.P.set_vel(s.N, b * u3 * s.A.y)
    bob = me.Particle("bob", s.P, m)
    loads = [(s.P, -m * g * s.N.y), (s.P, -c * (b * u3.diff() * s.A.y - b * u3**2 * s.A.x))]
    model = kc.Model(s.N, [q3], [u3], [q3.diff() - u3], bodies=[bob], forcelist=loads)
    dyn = compiled(model)
    angle, speed = 0.4, 1.7
    M, C, G, L = (PARAMETERS[x] for x in (m, c, g, b))
    acceleration = -M * G * np.cos(angle) / ((M + C) * L)
    np.testing.assert_allclose(dyn.udot(0.0, [angle, speed]), [acceleration], rtol=1e-13)
    force = dyn.reactions(0.0, [angle, speed])[0, :3]
    along = np.array([np.cos(angle), np.sin(angle), 0.0])
    across = np.array([-np.sin(angle), np.cos(angle), 0.0])
    total = (M + C) * L * (acceleration * across - speed**2 * along)
    np.testing.assert_allclose(force, total + np.array([0.0, M * G, 0.0]), rtol=1e-12, atol=1e-12)


def test_auxiliary_speeds_count_such_loads() -> None:
    """The force along a guide, brought in evidence by an auxiliary speed: c u̇ acts across the guide."""
    N, origin = ground()
    ua = me.dynamicsymbols("ua")
    P = origin.locatenew("P", q1 * N.x)
    P.set_vel(N, u1 * N.x + ua * N.y)
    R = me.dynamicsymbols("R")
    loads = [(P, (F - k * q1) * N.x + (c * u1.diff() - m * g + R) * N.y)]
    model = kc.Model(
        *(N, [q1], [u1], [q1.diff() - u1]),
        parameters=[m, c, g, k],  # F of u1 depends on c nowhere
        u_auxiliary=[ua],
        bodies=[me.Particle("B", P, m)],
        forcelist=loads,
        inputs=[F, R],
    )
    dyn = compiled(model)
    acceleration = (2.0 - 7.0 * 0.3) / 1.3
    expected = 0.4 * acceleration - 1.3 * 9.81 + 5.0
    np.testing.assert_allclose(dyn.auxiliary_forces(0.0, [0.3, 0.1], r=[2.0, 5.0]), [expected], rtol=1e-13)


@pytest.mark.parametrize(
    "load",
    [
        u1.diff() ** 2,
        sm.sin(u1.diff()),
        u1.diff() * u2.diff(),
        1 / u1.diff(),
        sm.Abs(u1.diff()),
        u1.diff() * F * u3.diff(),
    ],
)
def test_what_is_not_affine_names_its_load(load: Any) -> None:
    system = Cart()
    with pytest.raises(kc.ModelError, match=r"load 1 on point Q is not affine in the derivatives of the speeds.*b\*u1"):
        system.model([(system.P, F * system.N.x), (system.Q, load * system.A.y)])
    with pytest.raises(kc.ModelError, match=r"load 0, a ForceActuator, is not affine"):
        system.model([me.ForceActuator(load, me.LinearPathway(system.O, system.Q))])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"potentials": [c * u1.diff()]}, r"u1\(t\), t\) in potential 0: the derivative of a speed.*potentials"),
        ({"velocity_constraints": [c * u1.diff() - u2]}, r"in velocity constraint 0: the derivative of a speed"),
        ({"points": "late"}, r"in the velocity of point late: the derivative of a speed"),
    ],
)
def test_where_derivatives_of_speeds_stay_out(options: dict[str, Any], message: str) -> None:
    """Also where a load has been read before that holds the same product."""
    system = Cart()
    if options == {"points": "late"}:
        late = me.Point("late")
        late.set_vel(system.N, c * u1.diff() * system.N.x)
        options = {"points": [late]}
    with pytest.raises(kc.ModelError, match=message):
        system.model([(system.P, c * u1.diff() * system.N.x + F * system.N.y)], **options)
    with pytest.raises(kc.ModelError, match=r"load 0 on point P: .*loads but once differentiated"):
        system.model([(system.P, u1.diff(t, 2) * system.N.x)])
    with pytest.raises(kc.ModelError, match=r"load 0 on point P: write second derivatives.*u1.diff\(\)"):
        system.model([(system.P, q1.diff(t, 2) * system.N.x)])


def test_it_is_reported() -> None:
    system = Cart()
    report = " ".join(system.model([(system.Q, -c * system.Q.acc(system.N))]).report().split())
    assert "which counts with F*: load 0; with it M is symmetric" in report
    model = system.model([(system.P, -k * q1 * system.N.x), (system.P, (F + c * u3.diff()) * system.N.x)])
    assert "which counts with F*: load 1; with it M is not symmetric" in " ".join(model.report().split())
    assert "LU with pivots chosen at run time" in model.report()
    text = model.explain()
    active, inertial = text.split("generalized inertia forces")
    assert "F_u1 = F" in active
    assert "u3'" not in active
    assert "load 1, what is linear in derivatives of speeds:\n    F*_u1 = c*u3'" in inertial
    M, f, udot = (model.symbolic(kernel, nested=True) for kernel in ("mass_matrix", "forcing", "udot"))
    left = M * udot - f
    names = sorted(me.find_dynamicsymbols(left) | left.free_symbols - {me.dynamicsymbols._t}, key=str)
    at = left.subs({name: sm.Rational(i + 2, 7) for i, name in enumerate(names)})
    assert max(abs(x) for x in at.evalf(30)) < 1e-25


def test_parameters_of_the_part_in_udot_are_kept() -> None:
    system = Cart()
    for weights, load in itertools.product((True, False), (c * u3.diff(), sm.Symbol("d") * u1.diff() - c * u1.diff())):
        assert c in system.model([(system.P, load * system.N.x)], weights).parameters


@pytest.mark.parametrize("constrained", [False, True])
def test_an_unsymmetric_mass_matrix_is_solved(constrained: bool) -> None:
    system = Cart()
    loads = [(system.P, -k * q1 * system.N.x), (system.P, (F + c * u3.diff()) * system.N.x)]
    rows = {"velocity_constraints": [u1 - sm.cos(q3) * u3 / 2]} if constrained else {}
    dyn = compiled(system.model(loads, **rows))
    x, r = rng.uniform(-1.0, 1.0, (4, dyn.n_x)), np.array([0.7])
    if constrained:
        x = np.array([dyn.consistent(0.0, y, None) for y in x])
    matrix, force = dyn.mass_matrix(0.0, x, r=r), dyn.forcing(0.0, x, r=r)
    assert abs(matrix - np.swapaxes(matrix, 1, 2)).max() > 0.1
    jacobian, bias = dyn.constraint_jacobian(0.0, x, r=r), dyn.constraint_bias(0.0, x, r=r)
    for i, y in enumerate(x):
        m = dyn.n_constraints
        system_matrix = np.block([[matrix[i], -jacobian[i].T], [jacobian[i], np.zeros((m, m))]])
        both = np.linalg.solve(system_matrix, np.concatenate([force[i], -bias[i]]))
        np.testing.assert_allclose(dyn.udot(0.0, y, r=r), both[: dyn.n_u], rtol=1e-12, atol=1e-13)
        slopes, v = dyn.linearize(0.0, y, r=r)[0], np.linspace(-1.0, 0.7, dyn.n_x)
        np.testing.assert_allclose(dyn.rhs_jvp(0.0, y, v, r=r), slopes @ v, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(dyn.rhs_vjp(0.0, y, v, r=r), v @ slopes, rtol=1e-12, atol=1e-12)
        if constrained:
            np.testing.assert_allclose(dyn.multipliers(0.0, y, r=r), both[dyn.n_u :], rtol=1e-11, atol=1e-12)
            continue
        step = 1e-6
        for j in range(dyn.n_x):
            up, down = (dyn.rhs(0.0, y + sign * step * np.eye(dyn.n_x)[j], r=r) for sign in (1, -1))
            np.testing.assert_allclose(slopes[:, j], (up - down) / (2 * step), rtol=1e-6, atol=1e-7)
