# SPDX-License-Identifier: BSD-3-Clause
"""Faults that reviewers found in how systems are read: who hangs on whom, who owns a load, what a System may hold.

What each joint must give is found from positions and attitudes alone, by differences in 50 digits: Newton's and Euler's
equations of each body with all that it carries (Kane & Levinson 1985, section 4.9).
"""

import itertools
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import Pieces, ground, rates
from sweep import every

import kanecore as kc

t = me.dynamicsymbols._t
STEP = mpmath.mpf(10) ** -12


@dataclass
class Mechanism:
    """Coordinates whose rates are the speeds, an origin O at rest in N, and who really carries whom."""

    n: int
    tree: dict[str, tuple[Any, Any, Any]] = field(default_factory=dict)  # child: (parent or None, child, joint point)
    loads: list[tuple[Any, Any, Any]] = field(default_factory=list)  # (point or frame, vector, body or None)

    def __post_init__(self) -> None:
        self.q, self.u = me.dynamicsymbols(f"q1:{self.n + 1}"), me.dynamicsymbols(f"u1:{self.n + 1}")
        self.N, self.O = me.ReferenceFrame("N"), me.Point("O")
        self.O.set_vel(self.N, 0)

    def frame(self, name: str, parent: Any, axis: Any, angle: Any) -> Any:
        frame = me.ReferenceFrame(name)
        frame.orient_axis(parent, axis, angle)
        return frame

    def body(self, name: str, point: Any, frame: Any, parent: Any, joint: Any, mass: float = 1.3) -> Any:
        inertia = (me.inertia(frame, 0.3, 0.4, 0.5, 0.02, -0.03, 0.01), point)
        body = me.RigidBody(name, point, frame, mass, inertia)
        self.tree[name] = (parent, body, joint)
        return body

    def load(self, at: Any, vector: Any, body: Any) -> None:
        self.loads.append((at, vector, body))

    def model(self, order: Any = None, **options: Any) -> kc.Model:
        bodies = [body for _, body, _ in self.tree.values()]
        return kc.Model(
            *(self.N, self.q, self.u, [q.diff() - u for q, u in zip(self.q, self.u, strict=True)]),
            bodies=bodies if order is None else [bodies[i] for i in order],
            forcelist=[load[:2] for load in self.loads],
            **options,
        )

    def wrenches(self, x: Any, udot: Any) -> dict[str, Any]:
        """Force and torque on each child at its joint point, in the axes of N."""
        q, u, w = (list(map(mpmath.mpf, map(float, v))) for v in (x[: self.n], x[self.n :], udot))
        with mpmath.workdps(50):
            moments = [
                dict(zip(self.q, (a + b * h + c * h * h / 2 for a, b, c in zip(q, u, w, strict=True)), strict=True))
                | dict(zip(self.u, (b + c * h for b, c in zip(u, w, strict=True)), strict=True))
                for h in (-STEP, mpmath.mpf(0), STEP)
            ]
            return {name: self._held(body, joint, moments) for name, (_, body, joint) in self.tree.items()}

    def _held(self, body: Any, about: Any, moments: list[dict[Any, Any]]) -> Any:
        def numbers(e: Any, moment: dict[Any, Any]) -> Any:
            values = [sm.N(x.xreplace({k: sm.Float(v, 50) for k, v in moment.items()}), 50) for x in sm.Matrix(e)]
            return np.array([mpmath.mpf(str(v)) for v in values])

        def vector(v: Any, moment: dict[Any, Any] = moments[1]) -> Any:
            return numbers(v.to_matrix(self.N), moment) if v != 0 else np.zeros(3, dtype=object)

        places = [vector(body.masscenter.pos_from(self.O), m) for m in moments]
        force = float(body.mass) * (places[0] - 2 * places[1] + places[2]) / STEP**2
        attitudes = [numbers(self.N.dcm(body.frame), m).reshape(3, 3) for m in moments]
        first, second = (attitudes[2] - attitudes[0]) / (2 * STEP), (attitudes[0] - 2 * attitudes[1] + attitudes[2])
        spin, turning = first @ attitudes[1].T, second @ attitudes[1].T / STEP**2 + first @ first.T
        omega, alpha = (np.array([s[2, 1], s[0, 2], s[1, 0]]) for s in (spin, (turning - turning.T) / 2))
        tensor = numbers(body.central_inertia.to_matrix(self.N), moments[1]).reshape(3, 3)
        torque = tensor @ alpha + np.cross(omega, tensor @ omega)

        def arm(point: Any) -> Any:
            return vector(point.pos_from(about))

        torque = torque + np.cross(arm(body.masscenter), force)
        for at, load, owner in self.loads:
            if owner is body and isinstance(at, me.Point):
                force, torque = force - vector(load), torque - np.cross(arm(at), vector(load))
            elif owner is body:
                torque = torque - vector(load)
        for parent, child, joint in self.tree.values():
            if parent is body:
                wrench = self._held(child, joint, moments)
                force = force + wrench[:3]
                torque = torque + wrench[3:] + np.cross(arm(joint), wrench[:3])
        return np.concatenate([force, torque])

    def check(self, model: kc.Model) -> None:
        draw = random.Random(4)
        x = [draw.uniform(-1, 1) for _ in range(2 * self.n)]
        dyn = kc.compile(model)
        expected = self.wrenches(x, dyn.udot(0.0, x))
        named = dyn.reactions(0.0, x, named=True)
        size = max(abs(w).max() for w in expected.values())
        for name, wrench in expected.items():
            error = abs(named[name] - wrench.astype(float)).max() / float(size)
            assert error < 1e-10, f"{name}: {named[name]} instead of {wrench.astype(float)}"


def knee() -> Mechanism:
    """Two shanks at one knee, each with a point of its own there, as joints of SymPy make them."""
    s = Mechanism(3)
    A = s.frame("A", s.N, s.N.x, s.q[0])
    B, C = s.frame("B", A, A.y, s.q[1]), s.frame("C", A, A.z, s.q[2])
    thigh = s.O.locatenew("thigh", 0.4 * A.x + 0.1 * A.y)
    hinge = thigh.locatenew("knee", 0.5 * A.x)
    left, right = hinge.locatenew("left", 0), hinge.locatenew("right", 0)
    a = s.body("a", thigh, A, None, s.O)
    b = s.body("b", left.locatenew("CB", 0.3 * B.x + 0.2 * B.z), B, a, hinge)
    c = s.body("c", right.locatenew("CC", 0.3 * C.x + 0.1 * C.y), C, a, hinge)
    s.load(left, 2 * s.N.x + s.N.y, b)
    s.load(right, -3 * s.N.y, c)
    s.load(hinge, s.N.z, a)
    s.load(B, A.x, b)
    s.load(A, -A.x, a)
    return s


def gimbals() -> Mechanism:
    """Three bodies about one point."""
    s = Mechanism(3)
    A = s.frame("A", s.N, s.N.z, s.q[0])
    B = s.frame("B", A, A.x, s.q[1])
    C = s.frame("C", B, B.y, s.q[2])
    a = s.body("a", s.O, A, None, s.O)
    b = s.body("b", s.O, B, a, s.O, 1.0)
    c = s.body("c", s.O, C, b, s.O, 0.7)
    s.load(C, 2 * B.y, c)
    s.load(B, -2 * B.y + s.N.x, b)
    return s


def post_beside_a_pendulum() -> Mechanism:
    """A body at rest is not the ground that others hang on, nor is a load at the ground one on it."""
    s = Mechanism(1)
    W, A = s.frame("W", s.N, s.N.z, 0.3), s.frame("A", s.N, s.N.x, s.q[0])
    pivot, eye = s.O.locatenew("G", 3 * s.N.y), s.O.locatenew("eye", -3 * s.N.y)
    centre = s.O.locatenew("CW", 2 * W.x)
    w = s.body("w", centre, W, None, centre)
    a = s.body("a", pivot.locatenew("CA", 0.5 * A.y), A, None, pivot)
    s.load(eye, 7 * s.N.z, None)
    s.load(centre, -5 * s.N.z, w)
    s.load(a.masscenter, -s.N.z, a)
    return s


def tip_in_one_step() -> Mechanism:
    """Mass centre and tip of the second link, each located from the first body across two frames."""
    s = Mechanism(2)
    A = s.frame("A", s.N, s.N.x, s.q[0])
    B = s.frame("B", A, A.y, s.q[1])
    centre = s.O.locatenew("CA", 0.5 * A.y)
    a = s.body("a", centre, A, None, s.O)
    b = s.body("b", centre.locatenew("CB", 0.5 * A.y + 0.4 * B.z), B, a, centre)
    s.load(centre.locatenew("tip", 0.5 * A.y + 0.8 * B.z), 2 * s.N.x, b)
    return s


def massless_link() -> Mechanism:
    """A load at a point of a massless link, located from the ground's side."""
    s = Mechanism(2)
    A = s.frame("A", s.N, s.N.x, s.q[0])
    B = s.frame("B", A, A.x, s.q[1])
    b = s.body("b", s.O.locatenew("J", 0.5 * A.y).locatenew("CB", 0.4 * B.z), B, None, s.O)
    s.load(s.O.locatenew("E", 0.2 * A.z), 2 * s.N.x + s.N.y, b)
    return s


def massless_ring() -> Mechanism:
    """A torque on a massless ring whose rotor's angular velocity is given in the inertial frame."""
    s = Mechanism(2)
    A = s.frame("A", s.N, s.N.x, s.q[0])
    B = s.frame("B", A, A.y, s.q[1])
    B.set_ang_vel(s.N, s.u[0] * A.x + s.u[1] * A.y)
    b = s.body("b", s.O.locatenew("CB", 0.4 * B.z), B, None, s.O)
    s.load(A, 2 * s.N.x + s.N.y, b)
    return s


def bead_on_a_rod() -> Mechanism:
    """What slides along a turning rod is located from the pivot, and yet the rod carries it."""
    s = Mechanism(3)
    A = s.frame("A", s.N, s.N.z, s.q[0])
    B = s.frame("B", A, A.x, s.q[1])
    a = s.body("a", s.O.locatenew("CA", 0.2 * A.y), A, None, s.O)
    slider = s.O.locatenew("J", s.q[2] * A.x + 0.3 * A.z)
    b = s.body("b", slider.locatenew("CB", 0.4 * B.y), B, a, s.O)
    s.load(slider, 3 * s.N.y, b)
    s.load(A, 2 * s.N.z, a)
    return s


def flywheel_beside_a_pendulum() -> Mechanism:
    """Both about one point of the ground, which is the mass centre of one."""
    s = Mechanism(2)
    A, B = s.frame("A", s.N, s.N.z, s.q[0]), s.frame("B", s.N, s.N.x, s.q[1])
    s.body("a", s.O, A, None, s.O)
    b = s.body("b", s.O.locatenew("CB", 0.4 * B.y), B, None, s.O)
    s.load(b.masscenter, -3 * s.N.z, b)
    return s


def cart_with_an_offset_hinge() -> Mechanism:
    """Mass centre and hinge of the cart, each located from where it slides."""
    s = Mechanism(2)
    A = s.frame("A", s.N, s.N.z, s.q[1])
    slide = s.O.locatenew("S", s.q[0] * s.N.x)
    hinge = slide.locatenew("H", 0.5 * s.N.x + 0.2 * s.N.y)
    cart = s.body("cart", slide.locatenew("C", 0.1 * s.N.y), s.N, None, s.O)
    rod = s.body("rod", hinge.locatenew("D", 0.7 * A.y), A, cart, hinge)
    s.load(cart.masscenter, -9 * s.N.y, cart)
    s.load(rod.masscenter, -4 * s.N.y, rod)
    s.load(hinge, s.N.y, cart)
    return s


def cart_with_a_rod_at_its_mass_centre() -> Mechanism:
    """The textbook's cart and pendulum."""
    s = Mechanism(2)
    A = s.frame("A", s.N, s.N.z, s.q[1])
    cart = s.body("cart", s.O.locatenew("C", s.q[0] * s.N.x), s.N, None, s.O)
    rod = s.body("rod", cart.masscenter.locatenew("D", 0.7 * A.y), A, cart, cart.masscenter)
    s.load(cart.masscenter, -9 * s.N.y, cart)
    s.load(rod.masscenter, -4 * s.N.y, rod)
    return s


def links_located_from_their_joint() -> Mechanism:
    """Mass centres of both links from the joint between them, absolute angles."""
    s = Mechanism(2)
    A, B = s.frame("A", s.N, s.N.z, s.q[0]), s.frame("B", s.N, s.N.z, s.q[1])
    joint = s.O.locatenew("J", A.x)
    a = s.body("a", joint.locatenew("C", -0.5 * A.x), A, None, s.O)
    b = s.body("b", joint.locatenew("D", 0.7 * B.y), B, a, joint)
    s.load(b.masscenter, -4 * s.N.y, b)
    return s


def crank_put_at_its_pivot() -> Mechanism:
    """A mass centre that is another point in the origin's place."""
    s = Mechanism(2)
    A, B = s.frame("A", s.N, s.N.z, s.q[0]), s.frame("B", s.N, s.N.x, s.q[1])
    centre, pin = s.O.locatenew("C", 0), s.O.locatenew("J", A.x)
    a = s.body("a", centre, A, None, s.O)
    b = s.body("b", pin.locatenew("D", 0.7 * B.y), B, a, pin)
    s.load(pin, -9 * s.N.y, a)
    s.load(b.masscenter, -4 * s.N.y, b)
    return s


TREES = {  # by the number of bodies
    1: (massless_link, massless_ring),
    2: (
        *(cart_with_a_rod_at_its_mass_centre, links_located_from_their_joint, crank_put_at_its_pivot, bead_on_a_rod),
        *(post_beside_a_pendulum, tip_in_one_step, flywheel_beside_a_pendulum, cart_with_an_offset_hinge),
    ),
    3: (knee, gimbals),
}
CASES = [(make, order) for n, trees in TREES.items() for make in trees for order in itertools.permutations(range(n))]


@pytest.mark.parametrize(("mechanism", "order"), every(24, CASES, first=2))
def test_who_carries_whom(mechanism: Callable[[], Mechanism], order: tuple[int, ...]) -> None:
    """In whatever order the bodies are listed."""
    s = mechanism()
    assert len(s.tree) == len(order)
    s.check(s.model(order))


@pytest.mark.parametrize("child_first", [False, True])
def test_loads_on_the_child_of_a_weld_are_its_own(child_first: bool) -> None:
    s = Mechanism(1)
    A = s.frame("A", s.N, s.N.x, s.q[0])
    W = s.frame("W", A, A.y, sm.Rational(3, 10))
    centre = s.O.locatenew("CA", 0.4 * A.y + 0.1 * A.z)
    seam = centre.locatenew("J", 0.2 * A.x)
    a = s.body("a", centre, A, None, s.O)
    w = s.body("w", seam.locatenew("CW", 0.3 * W.z), W, a, seam)
    s.load(w.masscenter.locatenew("E", 0.2 * W.x), 2 * s.N.y + s.N.z, w)
    s.load(W, 3 * s.N.x + s.N.y, w)
    s.load(centre, -s.N.z, a)
    s.check(s.model([1, 0] if child_first else [0, 1], joints={"a": (s.N, a, s.O), "w": (a, w, seam)}))


@pytest.mark.parametrize("outer", [False, True])
def test_joints_may_name_the_outer_body_as_parent(outer: bool) -> None:
    """SymPy's System takes a joint either way round."""
    base, a, b = (me.RigidBody(name, mass=1.0) for name in ("ground", "a", "b"))
    for body in (a, b):
        body.inertia = (me.inertia(body.frame, 0.3, 0.4, 0.5), body.masscenter)
    system = me.System.from_newtonian(base)
    if outer:
        first = me.PinJoint("first", base, a, child_point=0.5 * a.x, joint_axis=base.z)
        second = me.PinJoint("second", b, a, parent_point=0.3 * b.x, child_point=-0.4 * a.x, joint_axis=b.z)
        system.add_joints(first, second)
    else:
        system.add_joints(me.PinJoint("first", a, base, parent_point=0.5 * a.x, joint_axis=a.z))
    system.apply_uniform_gravity(-9.8 * base.y)
    dyn = kc.compile(kc.Model.from_system(system))
    system.form_eoms()
    x = np.linspace(-0.7, 0.9, dyn.n_x)
    state = dict(zip([*system.q, *system.u], x, strict=True))
    slopes = {q.diff(t): u for q, u in zip(system.q, system.u, strict=True)}
    for ours, theirs in ((dyn.mass_matrix, system.mass_matrix), (dyn.forcing, system.forcing)):
        right = np.array(me.msubs(me.msubs(theirs, slopes), state).tolist(), dtype=float)
        np.testing.assert_allclose(ours(0.0, x), right.reshape(ours(0.0, x).shape), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("way", ["duffing", "friction", "own length", "rate"])
def test_actuators_give_the_loads_that_sympy_writes(way: str) -> None:
    """Over an ObstacleSetPathway; the formulas of sympy.physics.mechanics.actuator."""
    q, u, (N, origin) = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3"), ground()
    P = origin.locatenew("P", q[0] * N.x + q[1] * N.y)
    ends = [origin.locatenew("A", 3 * N.x - N.z), P.locatenew("M", 0.3 * N.z), origin.locatenew("B", 2 * N.y + N.z)]
    path = me.ObstacleSetPathway(*ends)
    if way in ("duffing", "friction") and not hasattr(me, "CoulombKineticFriction"):
        pytest.skip("SymPy has it from 1.14 on")
    make: dict[str, Callable[[], Any]] = {
        "duffing": lambda: me.DuffingSpring(3, 2, path, 0.5),
        "friction": lambda: me.CoulombKineticFriction(0.3, 2, path, v_s=0.1, sigma=0.2, mu_s=0.5),
        "own length": lambda: me.ForceActuator(path.length * 2, path),
        "rate": lambda: me.ForceActuator(path.extension_velocity, path),
    }
    actuator = make[way]()
    arguments = (N, q, u, rates(q, u))
    bob = me.Particle("bob", P, 1)
    models = [kc.Model(*arguments, bodies=[bob], forcelist=loads) for loads in ([actuator], actuator.to_loads())]
    x = [0.2, 0.7, -0.4, 0.9]
    ours, theirs = (kc.compile(model).forcing(0.0, x) for model in models)
    np.testing.assert_allclose(ours, theirs, rtol=1e-13)
    assert abs(ours).min() > 0.01


RATIOS: list[Callable[[Any], Any]] = [lambda q: sm.Piecewise((1, q < 3), (2, True)), lambda q: sm.Max(1, q / 2)]


@pytest.mark.parametrize("ratio", RATIOS)
def test_transmission_with_two_speeds(ratio: Callable[[Any], Any]) -> None:
    """A ratio that a branch decides is not taken for what it is at the states that happen to be tried."""
    p = Pieces()
    p.A.set_ang_vel(p.N, ratio(p.q) * p.u * p.N.z)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kc.KanecoreWarning)
        model = p.model(bodies=[me.RigidBody("b", p.O, p.A, 1, (me.inertia(p.A, 1, 1, 1), p.O))], forcelist=[])
    dyn = kc.compile(model)
    for angle in (1.0, 5.0):
        assert dyn.mass_matrix(0.0, [angle, 0.0])[0, 0] == pytest.approx(float(ratio(sm.Float(angle))) ** 2)


def test_a_load_that_another_takes_back_for_a_while_contributes() -> None:
    p, T = Pieces(), sm.Symbol("T")
    loads = [(p.P, T * p.A.y), (p.P, -T * sm.Piecewise((1, p.q < 3), (0, True)) * p.A.y)]
    dyn = kc.compile(p.model(forcelist=loads), parameters={"T": 2.0, "m": 1.0, "l": 1.0})
    np.testing.assert_allclose([dyn.udot(0.0, [x, 0.0])[0] for x in (1.0, 5.0)], [0.0, 2.0])


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_names_of_bodies_and_joints_are_checked(name: str) -> None:
    p = Pieces()
    for changes in ({"bodies": [me.Particle(name, p.P, 1)]}, {"joints": {name: (p.N, p.body, p.O)}}):
        with pytest.raises(kc.ModelError, match="NUL or half a surrogate"):
            p.model(**changes)
