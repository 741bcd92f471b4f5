# SPDX-License-Identifier: BSD-3-Clause
"""Which loads the potential energy holds: springs and fields, and nothing that is none.

Expected energies are the textbooks'; they are compared up to a constant.  The power balance closes in any case.
"""

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates
from oracle.on_graph import OnGraph
from sweep import every

import kanecore as kc
from kanecore.graph.antiderivatives import antiderivative
from kanecore.graph.calculus import Tangent
from kanecore.graph.expression_graph import COORDINATE, PARAMETER, Graph, Op
from kanecore.graph.zero_tests import same_sum

t = me.dynamicsymbols._t
Q = x, y, phi, psi = me.dynamicsymbols("x y phi psi")
U = me.dynamicsymbols("vx vy wphi wpsi")
F = me.dynamicsymbols("F")
k, a, b, c, m, J = sm.symbols("k a b c m J", positive=True)
VALUES = {k: 21.0, a: 0.4, b: 3.0, c: 0.3, m: 1.3, J: 0.2}
NAMED = {str(symbol): value for symbol, value in VALUES.items()}


class Plane:
    """A particle P at (x, y), and two rods about O, the second hinged to the end of the first."""

    def __init__(self) -> None:
        self.N, self.O = me.ReferenceFrame("N"), me.Point("O")
        self.O.set_vel(self.N, 0)
        self.A = self.N.orientnew("A", "Axis", [phi, self.N.z])
        self.B = self.N.orientnew("B", "Axis", [psi, self.N.z])
        self.P = self.O.locatenew("P", x * self.N.x + y * self.N.y)
        self.C = self.O.locatenew("C", a * self.A.x)
        self.D = self.C.locatenew("D", a * self.B.x)
        self.wall = self.O.locatenew("wall", 2 * a * self.N.x)
        self.wall.set_vel(self.N, 0)
        self.line, self.to_wall = self.P.pos_from(self.D), self.D.pos_from(self.wall)
        self.length, self.reach = (sm.sqrt(sum(v.dot(e) ** 2 for e in self.N)) for v in (self.line, self.to_wall))
        self.polar = self.O.locatenew("polar", x * self.A.x)
        inertia = me.inertia(self.N, 0, 0, J)
        self.bodies = [
            me.Particle("P", self.P, m),
            me.RigidBody("first", self.C, self.A, m, (inertia, self.C)),
            me.RigidBody("second", self.D, self.B, m, (inertia, self.D)),
        ]

    def model(self, loads: list[Any], u: Any = U, kd: Any = None, **options: Any) -> kc.Model:
        return kc.Model(self.N, Q, u, kd or rates(Q, u), bodies=self.bodies, forcelist=loads, **options)


PLANE = Plane()
N, PATH = PLANE.N, me.LinearPathway(PLANE.D, PLANE.P)
r2 = x**2 + y**2
SPRINGS: dict[str, tuple[Any, Any]] = {
    "along an axis": ([(PLANE.P, -k * (x - a) * N.x)], k * (x - a) ** 2 / 2),
    "written out": ([(PLANE.P, (-k * x + k * a) * N.x)], k * (x - a) ** 2 / 2),
    "a weight in one load with a spring": ([(PLANE.P, -(m * b + k * x) * N.x)], m * b * x + k * x**2 / 2),
    "Duffing": ([(PLANE.P, -(k * x + b * x**3) * N.x)], k * x**2 / 2 + b * x**4 / 4),
    "in two directions": ([(PLANE.P, -k * x * N.x - b * y * N.y)], k * x**2 / 2 + b * y**2 / 2),
    "torsion": ([(PLANE.A, -k * (phi - a) * N.z)], k * (phi - a) ** 2 / 2),
    "torsion between rods": (
        [(PLANE.A, k * (psi - phi) * N.z), (PLANE.B, -k * (psi - phi) * N.z)],
        k * (psi - phi) ** 2 / 2,
    ),
    "torsion, an actuator": ([me.TorqueActuator(-k * (psi - phi), N.z, PLANE.B, PLANE.A)], k * (psi - phi) ** 2 / 2),
    "cross terms": ([(PLANE.P, (b * y - k * x) * N.x), (PLANE.P, b * x * N.y)], k * x**2 / 2 - b * x * y),
    "between points": (
        [(at, s * k * (1 - a / PLANE.length) * PLANE.line) for at, s in ((PLANE.P, -1), (PLANE.D, 1))],
        k * (PLANE.length - a) ** 2 / 2,
    ),
    "to a fixed point": ([(PLANE.D, -k * (1 - a / PLANE.reach) * PLANE.to_wall)], k * (PLANE.reach - a) ** 2 / 2),
    "on a pathway": ([me.LinearSpring(k, PATH, equilibrium_length=a)], k * (PLANE.length - a) ** 2 / 2),
    "hard, on a pathway": ([me.ForceActuator(-k * (PATH.length - a) ** 3, PATH)], k * (PLANE.length - a) ** 4 / 4),
    "gravitation": ([(PLANE.P, -b * (x * N.x + y * N.y) / r2 ** sm.Rational(3, 2))], -b / sm.sqrt(r2)),
    "gravitation, polar": ([(PLANE.polar, -b / x**2 * PLANE.A.x)], -b / x),
    "gravitation between points": ([me.ForceActuator(-b / PATH.length**2, PATH)], -b / PLANE.length),
    "magnets": ([(PLANE.P, b / (x + 5) ** 4 * N.x)], b / (3 * (x + 5) ** 3)),
    "charges on a line": ([(PLANE.P, b / (x + 5) * N.x)], -b * sm.log(x + 5)),
    "exponential": ([(PLANE.P, -k * sm.exp(x / a) * N.x)], k * a * sm.exp(x / a)),
    "pendulum": ([(PLANE.A, -k * sm.sin(2 * phi + a) * N.z)], -k * sm.cos(2 * phi + a) / 2),
    "in a rotating frame": ([(PLANE.polar, -k * (x - a) * PLANE.A.x)], k * (x - a) ** 2 / 2),
    "of a height": ([(PLANE.C, -k * a * sm.sin(phi) * N.y)], k * a**2 * sm.sin(phi) ** 2 / 2),
    "of two coordinates": ([(PLANE.P, -k * y * sm.sin(x) * N.x + k * sm.cos(x) * N.y)], -k * y * sm.cos(x)),
}


def has_energy(model: kc.Model, expected: Any) -> bool:
    """Its potential energy is that but for a constant, at random places."""
    found, at = OnGraph(model, NAMED), np.random.default_rng(3).uniform(0.2, 1.2, (4, 4))
    own = [Q.index(each) for each in model.coordinates]
    r, written = dict.fromkeys(found.input_names, 0.0), sm.lambdify([*Q, *VALUES], expected, "math")
    one = [found.potential_energy(0.0, [*q[own], *np.zeros(found.n_u)], r=r)[0] for q in at]
    other = [float(written(*q, *VALUES.values())) for q in at]
    return bool(np.ptp(np.subtract(one, other)) < 1e-12 * np.ptp(other))


@pytest.mark.parametrize("name", every(4, SPRINGS, first=2))
def test_springs_and_fields(name: str) -> None:
    loads, expected = SPRINGS[name]
    model = PLANE.model(loads)
    assert has_energy(model, expected)
    assert model.symbolic("power", nested=True) == 0
    report = model.report()
    for number in range(len(loads)):
        assert f"load {number}, " in report
    assert report.count(", in the potential energy") == len(loads)


@pytest.mark.parametrize("name", every(2, ["along an axis", "torsion between rods", "between points", "on a pathway"]))
def test_in_other_speeds(name: str) -> None:
    """Speeds that are sums of q̇, with cosines: the energy is the same."""
    loads, expected = SPRINGS[name]
    kd = [U[0] - x.diff() * 2 - y.diff(), U[1] - y.diff(), U[2] - phi.diff() + x.diff() * sm.cos(y), U[3] - psi.diff()]
    model = PLANE.model(loads, kd=kd)
    assert has_energy(model, expected)
    assert model.symbolic("power", nested=True) == 0


OTHERS: dict[str, Any] = {
    "damper": [(PLANE.P, -c * U[0] * N.x)],
    "motor": [(PLANE.P, F * N.x), (PLANE.A, F * phi * N.z)],
    "of time": [(PLANE.P, -k * x * sm.cos(t) * N.x)],
    "with a curl": [(PLANE.P, -k * y * N.x + k * x * N.y)],
    "follower": [(PLANE.D, -k * (psi - phi) * PLANE.B.x)],
    "torque on one rod of two": [(PLANE.A, k * (psi - phi) * N.z)],
    "of another coordinate": [(PLANE.P, -k * phi * N.x)],
    "contact": [(PLANE.P, sm.Piecewise((-k * x, x < 0), (0, True)) * N.x)],
    "friction": [(PLANE.P, -k * sm.sign(U[0]) * N.x)],
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_has_none(name: str) -> None:
    model = PLANE.model(OTHERS[name])
    assert model.symbolic("potential_energy", nested=True) == 0
    assert model.symbolic("power", nested=True) != 0
    assert "potential energy" not in model.report()


def test_a_gradient_without_antiderivative_is_reported() -> None:
    """exp(−x²) has no elementary antiderivative; the force of a contact is not looked into."""
    model = PLANE.model([(PLANE.P, -k * sm.exp(-(x**2)) * N.x), (PLANE.P, -k * y * N.y)])
    assert has_energy(model, k * y**2 / 2)
    assert "load 0, force on point P, the gradient of an energy that is not known" in model.report()
    assert "load 1, force on point P, in the potential energy" in model.report()


def test_a_spring_with_a_damper() -> None:
    """In one vector, or in one actuator: the spring is in U, and the damper's power is left."""
    damper, between = -c * U[0] + F, -c * PATH.extension_velocity
    alone = PLANE.model([(PLANE.P, damper * N.x), me.ForceActuator(between, PATH)])
    loads = [(PLANE.P, (damper - k * (x - a)) * N.x), me.ForceActuator(between - k * (PATH.length - a), PATH)]
    model = PLANE.model(loads)
    assert has_energy(model, k * (x - a) ** 2 / 2 + k * (PLANE.length - a) ** 2 / 2)
    assert "load 0, force on point P, in part in the potential energy" in model.report()
    *state, force = np.random.default_rng(1).uniform(0.2, 1.2, 9)
    powers = [OnGraph(each, NAMED).power(0.0, state, np.ones(4), r={"F": force})[0] for each in (model, alone)]
    assert powers[0] == pytest.approx(powers[1], rel=1e-12)


def test_nothing_is_counted_twice() -> None:
    """With ``body.potential_energy`` beside the spring, and with ``potentials=`` instead of it."""
    plane, energy = Plane(), k * (x - a) ** 2 / 2
    spring = (plane.P, -k * (x - a) * plane.N.x)
    assert has_energy(plane.model([], potentials=[energy]), energy)
    assert has_energy(plane.model([spring], potentials=[energy]), 2 * energy)  # two springs, as F_r says
    plane.bodies[0].potential_energy = energy
    assert has_energy(plane.model([spring]), energy)


@pytest.mark.parametrize("axis", every(2, [[1, 1, 0], [1, 2, 0], [1, 1, 1], [1, 0, -1]]))
def test_a_torsion_spring_about_an_oblique_axis(axis: list[int]) -> None:
    """Its direction has roots, √2/2 in two components, that are a factor of both."""
    (N, O), w = ground(), me.dynamicsymbols("w")  # noqa: E741
    along = sum((n * e for n, e in zip(axis, N, strict=True)), me.Vector(0))
    S = N.orientnew("S", "Axis", (phi, along))
    body = me.RigidBody("body", O, S, m, (me.inertia(S, J, J, J), O))
    model = kc.Model(N, [phi], [w], [phi.diff() - w], bodies=[body], forcelist=[(S, -k * phi * along.normalize())])
    assert has_energy(model, k * phi**2 / 2)


def test_a_slider() -> None:
    """The length of a pathway along an axis is |x|, whichever side the slider is on."""
    plane = Plane()
    at = plane.O.locatenew("slider", x * plane.N.x)
    slider = me.Particle("slider", at, m)
    loads = [me.LinearSpring(k, me.LinearPathway(plane.O, at), equilibrium_length=a)]
    model = kc.Model(plane.N, [x], [U[0]], [x.diff() - U[0]], bodies=[slider], forcelist=loads)
    dyn = kc.compile(model, parameters={s: VALUES[s] for s in (a, k, m)})
    for place in (-0.7, 0.9):
        assert dyn.potential_energy(0.0, [place, 0.1]) == pytest.approx(VALUES[k] * (abs(place) - VALUES[a]) ** 2 / 2)
        assert dyn.power(0.0, [place, 0.1], [0.0]) == 0.0


def test_on_a_quaternion() -> None:
    """A body that hangs free in space on a spring at its corner."""
    e, w = me.dynamicsymbols("e0:4"), me.dynamicsymbols("w1:4")
    place, v = me.dynamicsymbols("p1:4"), me.dynamicsymbols("v1:4")
    N, O = ground()  # noqa: E741
    S = N.orientnew("S", "Quaternion", e)
    S.set_ang_vel(N, sum((s * d for s, d in zip(w, S, strict=True)), me.Vector(0)))
    centre = O.locatenew("centre", sum((s * d for s, d in zip(place, N, strict=True)), me.Vector(0)))
    corner = centre.locatenew("corner", a * S.x + b / 9 * S.z)
    bodies = [me.RigidBody("body", centre, S, m, (me.inertia(S, J, 2 * J, 2 * J), centre))]
    kd = [*me.kinematic_equations(w, e, "quaternion"), *rates(place, v)]
    loads = [(centre, -m * 9.81 * N.z), me.LinearSpring(k, me.LinearPathway(O, corner), equilibrium_length=a)]
    model = kc.Model(N, [*e, *place], [*w, *v], kd, bodies=bodies, forcelist=loads)
    assert "load 1, force on point O and force on point corner, in the potential energy" in model.report()
    dyn = kc.compile(model, parameters={s: VALUES[s] for s in (k, a, b, m, J)})
    x0 = np.array([1, 0, 0, 0, 0.3, 0.1, -0.9, 0.5, -0.7, 0.4, 0.1, 0.3, 0.0])
    sol = dyn.simulate((0.0, 3.0), x0, rtol=1e-10, atol=1e-10)
    energy = dyn.kinetic_energy(sol.t, sol.x) + dyn.potential_energy(sol.t, sol.x)
    assert np.ptp(energy) < 1e-7 * np.max(dyn.kinetic_energy(sol.t, sol.x))


def test_on_a_base_that_moves() -> None:
    """A tube that turns as prescribed: the springs in it are in U, the drive's work and the damper's in the power."""
    options = {"inputs": lambda s, _: [np.sin(s), np.cos(s), -np.sin(s)], "rtol": 1e-10, "atol": 1e-10}
    assert kc.load("rotating_tube").simulate((0.0, 2.0), [0.02, -0.03, 0.4, -0.2], **options).energy_drift < 1e-8


def test_the_rod_of_the_lecture_notes_keeps_its_energy() -> None:
    """Force and torque of gravitation together are a gradient, of two coordinates."""
    dyn = kc.load("rod_gravity")
    sol = dyn.simulate((0.0, 500.0), [0.0, 7e6, 0.4, 1e-3, 10.0, 2e-3], rtol=1e-11, atol=1e-11)
    assert not dyn.power(sol.t, sol.x, dyn.udot(sol.t, sol.x)).any()
    energy = dyn.kinetic_energy(sol.t, sol.x) + dyn.potential_energy(sol.t, sol.x)
    assert np.ptp(energy) <= 1e-9 * np.max(np.abs(energy))


# ---------------------------------------------------------------------------------------------------- antiderivatives
def expressions(g: Graph) -> dict[str, tuple[int, bool]]:
    """Expressions of x, and whether there is an antiderivative."""
    s, p, one = g.symbol("s", COORDINATE), g.symbol("p", PARAMETER), g.one
    affine = g.add(g.mul(p, s), one)
    return {
        "0": (0, True),
        "constant": (p, True),
        "power": (g.power(affine, 3), True),
        "inverse": (g.div(p, affine), True),
        "inverse of a square": (g.div(one, g.power(s, 2)), True),
        "root": (g.sqrt(affine), True),
        "power of three halves": (g.div(p, g.power(s, 1.5)), True),
        "quotient": (g.div(g.sub(s, p), s), True),
        "polynomial": (g.mul(g.sub(s, p), g.mul(affine, g.add(s, one))), True),
        **{
            op: (g.call(op, affine), True)
            for op in (Op.SIN, Op.COS, Op.TAN, Op.EXP, Op.LOG, Op.ATAN, Op.SINH, Op.COSH, Op.TANH)
        },
        "gaussian": (g.call(Op.EXP, g.neg(g.square(s))), False),
        "two roots": (g.mul(g.sqrt(affine), g.sqrt(g.add(s, one))), False),
        "choice": (g.select(g.binary(Op.LT, s, p), s, p), False),
    }


@pytest.mark.parametrize("name", expressions(Graph()))
def test_antiderivatives(name: str) -> None:
    g = Graph()
    node, exists = expressions(g)[name]
    s = g.symbol("s", COORDINATE)
    found = antiderivative(g, node, s)
    assert (found is not None) == exists
    if found is not None:
        assert found == node == 0 or same_sum(g, [Tangent(g, {s: g.one}).of(found)], [node])


def test_antiderivatives_have_an_end() -> None:
    """Products of many sums are not multiplied out for ever."""
    g = Graph()
    s = g.symbol("s", COORDINATE)
    node = g.one
    for i in range(20):
        node = g.mul(node, g.add(s, g.symbol(f"p{i}", PARAMETER)))
    assert antiderivative(g, node, s) is None
