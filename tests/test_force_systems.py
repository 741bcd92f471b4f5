# SPDX-License-Identifier: BSD-3-Clause
"""Force systems and velocity fields against the source's own examples, closed forms and numpy.

The source is P. V. Gomes, "Forças Generalizadas" (CEFET-RJ), after Kane & Levinson 1985, sections 4.1 to 4.3.
"""

import copy
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import rates
from numpy.testing import assert_allclose
from oracle.on_graph import OnGraph
from sweep import examples
from sympy.physics.vector import Vector

import kanecore as kc

N = me.ReferenceFrame("N")


def numbers(vector: Any, values: Any = ()) -> np.ndarray[Any, Any]:
    """Components in N, by SymPy itself."""
    return np.array(vector.to_matrix(N).subs(values), dtype=float).ravel()


def vector(components: Any, frame: Any = N) -> Any:
    return sum((c * axis for c, axis in zip(components, frame, strict=True)), Vector(0))


def snapshot(*items: Any) -> list[Any]:
    """What points and frames hold, their caches included."""
    return [{k: copy.copy(v) for k, v in item.__dict__.items() if isinstance(v, dict)} for item in items]


# --------------------------------------------------------------------- sources
def test_example_1_of_the_source() -> None:
    """Gravitational forces of P on P1 and P2: the point of zero moment is at s = 61/63 L."""
    G, m, M, L, s = sm.symbols("G m M L s")
    Q = me.Point("Q")
    P1, P2 = Q.locatenew("P1", (3 * L - s) * N.y), Q.locatenew("P2", -(3 * L + s) * N.y)
    F1 = G * M * m / (64 * L**2) * N.x
    F2 = G * M * m / (100 * L**2) * (0.8 * N.x + 0.6 * N.y)
    system = kc.ForceSystem([(P1, F1), (P2, F2)])
    printed = -0.008 * G * M * m * (-3 * L - s) / L**2 - G * M * m * (3 * L - s) / (64 * L**2)
    moment = system.moment(Q)
    assert sm.simplify(moment.dot(N.z) - printed) == 0
    assert moment.dot(N.x) == moment.dot(N.y) == 0
    [solution] = sm.solve(moment.dot(N.z), s)
    assert_allclose(float(solution / L), 61 / 63, rtol=1e-14)
    point, resultant = system.line_of_action()  # goes through Q, whatever point the package named
    off = point.pos_from(Q).cross(resultant).dot(N.z).subs(s, sm.Rational(61, 63) * L)
    assert abs(float(off.subs({G: 1, M: 1, m: 1, L: 1}))) < 1e-15
    assert not system.is_couple()


def test_example_2_of_the_source() -> None:
    """Four forces along the edges of a box are a couple."""
    k, a, b, c = sm.symbols("k a b c")
    C = me.Point("C")
    on_line_1, on_line_4 = C.locatenew("A", b * N.x - a * N.y - c * N.z), C.locatenew("D", b * N.x - a * N.y)
    F1, F2, F3, F4 = k * a * N.y, k * (-b * N.x + c * N.z), k * (b * N.x - a * N.y), -k * c * N.z
    system = kc.ForceSystem([(on_line_1, F1), (C, F2), (C, F3), (on_line_4, F4)])
    assert system.resultant == 0
    assert system.is_couple() is True
    printed = k * (2 * c * a * N.x + b * c * N.y + a * b * N.z)
    anywhere = C.locatenew("anywhere", sm.Symbol("d") * N.x + 7 * N.z)
    for torque in (system.moment(C), system.torque, system.moment(anywhere)):
        assert sm.simplify(torque.to_matrix(N) - printed.to_matrix(N)) == sm.zeros(3, 1)


def free_body(angles: int = 3) -> tuple[Any, ...]:
    """Models of a rigid body in space from their loads; the body; its frame B, and P1, P2, Q that are fixed in it.

    With one angle it turns about N.z.
    """
    n, d = 3 + angles, sm.Symbol("d")
    q, u = me.dynamicsymbols(f"q:{n}"), me.dynamicsymbols(f"u:{n}")
    origin, B = me.Point("O"), me.ReferenceFrame("B")
    origin.set_vel(N, 0)
    if angles == 1:
        B.orient_axis(N, q[3], N.z)
    else:
        B.orient_body_fixed(N, q[3:], "123")
    C = origin.locatenew("C", vector(q[:3]))
    points = [C.locatenew("P1", d * B.x), C.locatenew("P2", 2 * B.y - d * B.z), C.locatenew("Q", B.x + d * B.y)]
    body = me.RigidBody("body", C, B, sm.Symbol("m"), (me.inertia(B, 1, 2, 2.5), C))

    def model(*loads: Any, others: Any = ()) -> kc.Model:
        return kc.Model(N, q, u, rates(q, u), bodies=[*others, body], forcelist=loads)

    return model, body, B, points


def forces_at(model: kc.Model, seed: int) -> np.ndarray[Any, Any]:
    """F_r at random values of all symbols, the same for all models of one seed."""
    draw = np.random.default_rng(seed).uniform(0.3, 1.3, 17)
    values = dict(zip(["d", "m", "f", "h", "moved"], draw[12:], strict=True))
    return np.asarray(OnGraph(model, values).generalized_active_forces(0.0, draw[:12], r=values))


def test_equivalence_in_a_model() -> None:
    """Huston's reduction: Σ F_i·v_r^{P_i} = R·v_r^Q + T·ω_r (Josephs & Huston 2002, equations 11.5.3 to 11.5.7)."""
    model, _, B, (P1, P2, Q) = free_body()
    (f, h), moved = sm.symbols("f h"), me.dynamicsymbols("moved")
    system = kc.ForceSystem([(P1, f * N.x + h * B.y), (P2, moved * B.z - h * N.y)], [f * B.x + N.z])
    force, torque = system.equivalent(Q)
    separate = model(*system.forces, *((B, each) for each in system.torques))
    reduced, whole = model((Q, force), (B, torque)), model((B, system))
    again = model((B, kc.ForceSystem([(Q, force)], [torque])))
    for seed in range(2):
        expected = forces_at(separate, seed)
        for other in (reduced, whole, again):
            assert_allclose(forces_at(other, seed), expected, rtol=1e-12, atol=1e-12)


def test_a_system_has_the_number_of_its_load() -> None:
    model, _, B, (P1, P2, Q) = free_body(angles=1)
    both = model((Q, N.y), (B, kc.ForceSystem([(P1, N.x), (P2, B.y)], [B.z])))
    assert "  load 1, force on P1 and P2, torque on B:" in both.explain()
    assert "  load 0, force on Q:" in both.explain()
    assert "  load 1, force on point P1 and force on point P2 and torque on frame B" in both.report()
    assert "  load 0, torque on B:" in model((B, kc.ForceSystem(torques=[B.z, N.x]))).explain()


def test_symbols_of_a_left_out_system_are_known() -> None:
    """A System's gravity pulls at the ground's mass centre as well; so may a force system."""
    model, _, B, (P1, _, _) = free_body()
    rail, (f, g) = me.Point("rail"), sm.symbols("f g")
    ground = me.RigidBody("ground", rail, N, sm.Symbol("M"), (me.inertia(N, 1, 1, 1), rail))
    rail.set_vel(N, 0)
    P1.set_pos(rail, vector(me.dynamicsymbols("q:3")) + sm.Symbol("d") * B.x)
    pulled = model((B, kc.ForceSystem([(P1, f * N.x), (rail, g * N.x)])), others=[ground])
    assert g in pulled.left_out
    assert f in pulled.parameters


# ---------------------------------------------------------------- closed forms
triple = st.tuples(*[st.integers(-9, 9)] * 3)


@examples(40)
@given(st.lists(st.tuples(triple, triple), min_size=1, max_size=4), st.lists(triple, max_size=2), triple, triple)
def test_change_of_point(forces: list[Any], torques: list[Any], p: Any, q: Any) -> None:
    """M^{S/P} = M^{S/Q} + r^{PQ} × R, and all of it as numpy has it."""
    origin = me.Point("O")
    P, Q = origin.locatenew("P", vector(p)), origin.locatenew("Q", vector(q))
    bound = [(origin.locatenew(f"P{i}", vector(r)), vector(f)) for i, (r, f) in enumerate(forces)]
    system = kc.ForceSystem(bound, [vector(t) for t in torques])
    R = np.sum([f for _, f in forces], axis=0)
    expected = np.sum([*(np.cross(np.subtract(r, p), f) for r, f in forces), *torques], axis=0)
    assert_allclose(numbers(system.resultant), R)
    assert_allclose(numbers(system.moment(P)), expected)
    assert_allclose(numbers(system.moment(P)), numbers(system.moment(Q)) + np.cross(np.subtract(q, p), R))
    assert system.is_couple() == (not R.any())
    force, torque = system.equivalent(Q)
    again = kc.ForceSystem([(Q, force)], [torque])
    assert_allclose(numbers(again.moment(P)), expected)
    assert_allclose(numbers((system + -system).moment(P)), 0)
    if R.any():
        point, along = system.central_axis()
        r = numbers(point.pos_from(origin))
        moment = expected + np.cross(np.subtract(p, r), R)
        assert_allclose(numbers(along), moment, atol=1e-9 * max(1, abs(expected).max()))
        assert_allclose(np.cross(moment, R), 0, atol=1e-9 * max(1, abs(moment).max()) * abs(R).max())
        assert abs((r - np.array(forces[0][0])) @ R) < 1e-9  # the nearest point
        if expected @ R:
            with pytest.raises(kc.ModelError, match="wrench"):
                system.line_of_action()
        else:
            assert along == 0
            line, resultant = system.line_of_action()
            only = kc.ForceSystem([(line, resultant)])
            assert_allclose(numbers(only.moment(P)), expected, atol=1e-9)


def test_several_frames() -> None:
    """What SymPy's own products give, where vectors are written in frames that turn."""
    q1, q2 = me.dynamicsymbols("q1 q2")
    A, B, origin = me.ReferenceFrame("A"), me.ReferenceFrame("B"), me.Point("O")
    A.orient_axis(N, N.z, q1)
    B.orient_axis(A, A.x, q2)
    P = origin.locatenew("P", 2 * A.x + B.y)
    S = P.locatenew("S", N.y - 3 * B.z)
    system = kc.ForceSystem([(P, B.x + q1 * N.z), (S, A.y)], [q2 * B.z])
    before = snapshot(N, A, B, origin, P, S)
    ours, (point, along) = system.moment(origin), system.central_axis()
    assert snapshot(N, A, B, origin, P, S) == before, "the user's objects changed"
    theirs = P.pos_from(origin).cross(B.x + q1 * N.z) + S.pos_from(origin).cross(A.y) + q2 * B.z
    on_axis = theirs - point.pos_from(origin).cross(system.resultant)
    for found, expected in ((ours, theirs), (along, on_axis)):
        assert_allclose(*(numbers(each, {q1: 0.7, q2: -0.4}) for each in (found, expected)), atol=1e-14)


# ------------------------------------------------------------------- decisions
x, y = me.dynamicsymbols("x y")
a, b = sm.symbols("a b")
A = me.ReferenceFrame("A")
A.orient_axis(N, N.z, x)
TURNED = me.ReferenceFrame("turned")
TURNED.orient_body_fixed(N, (0.3, 0.4, 0.5), "123")
E = me.dynamicsymbols("e:4")
QUATERNION = me.ReferenceFrame("B")
QUATERNION.orient_quaternion(N, E)

COUPLES = {
    "a function of time": [x * N.x, -x * N.x],
    "hidden": [(sm.cos(x) ** 2 + sm.sin(x) ** 2) * N.x, -N.x],
    "of a rate": [x.diff() ** 2 * N.x, -(sm.exp(2 * sm.log(sm.sqrt(x.diff() ** 2)))) * N.x],
    "in another frame": [N.x, -sm.cos(x) * A.x + sm.sin(x) * A.y],
    "in a frame turned by numbers": [vector((1, 2, 3)), -vector(TURNED.dcm(N) * sm.Matrix([1, 2, 3]), TURNED)],
    "by a quaternion": [vector((1, 2, 3)), -vector(QUATERNION.dcm(N) * sm.Matrix([1, 2, 3]), QUATERNION)],
    "typed numbers": [0.1 * N.x, 0.2 * N.x, -0.3 * N.x],
    "large": [0.1e12 * N.x, 0.2e12 * N.x, -0.3e12 * N.x],
    "small": [0.1e-30 * N.x, 0.2e-30 * N.x, -0.3e-30 * N.x],
    "beside a branch": [sm.Abs(x) * sm.cos(y) ** 2 * N.x, sm.Abs(x) * sm.sin(y) ** 2 * N.x, -sm.Abs(x) * N.x],
    "a negative symbol": [sign * sm.sqrt(-sm.Symbol("n", negative=True)) * N.x for sign in (1, -1)],
    "factored": [(a + b) ** 2 * N.x, -(a**2 + 2 * a * b + b**2) * N.x],
}
FORCES = {
    "one of two": [x * N.x, -y * N.x],
    "small beside others": [1e10 * N.x, -1e10 * N.x, N.x],
    "small": [1e-30 * N.x],
    "across": [1e10 * N.x, -1e10 * N.x, 1e-3 * N.y],
    "nearly one": [N.x, -sm.tanh(60) * N.x],
    "in another frame": [N.x, -A.x],
    "two of one name": [sm.Symbol("a", real=True) * N.x, -a * N.x],
    "a rate": [x * N.x, -x.diff() * N.x],
    "a branch": [sm.Abs(x) * N.x, -x * N.x],
}


@pytest.mark.parametrize("name", COUPLES)
def test_couples(name: str) -> None:
    origin = me.Point("O")
    system = kc.ForceSystem([(origin.locatenew(f"P{i}", i * a * N.y), v) for i, v in enumerate(COUPLES[name])])
    assert system.is_couple() is True
    with pytest.raises(kc.ModelError, match="it is a couple"):
        system.central_axis()
    with pytest.raises(kc.ModelError, match="no line of action: it is a couple"):
        system.line_of_action()


@pytest.mark.parametrize("name", FORCES)
def test_what_is_no_couple(name: str) -> None:
    point = me.Point("O")
    system = kc.ForceSystem([(point, v) for v in FORCES[name]])
    assert system.is_couple() is False
    assert system.line_of_action()[0].pos_from(point).to_matrix(N) == sm.zeros(3, 1)
    with pytest.raises(kc.ModelError, match=r"no couple: their resultant is .* write moment"):
        _ = system.torque


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_a_wrench_in_any_units(unit: float) -> None:
    """R·M = 0 is decided beside its terms: of forces at typed places, in any units of length and force."""
    origin = me.Point("O")
    P = origin.locatenew("P", 0.1 * unit * N.x).locatenew("P'", 0.2 * unit * N.x).locatenew("P''", -0.3 * unit * N.x)
    R = vector((0.1, 0.2, 0.7)) / unit**2
    there = origin.locatenew("there", unit * vector((0.3, 0.1, 0.9)))
    free = kc.ForceSystem([(there, R), (P, 0.3 * R), (origin, -0.3 * R)])
    point, along = free.central_axis()
    assert along == 0
    assert_allclose(np.cross(numbers(point.pos_from(there)) / unit, numbers(R) * unit**2), 0, atol=1e-12)
    wrench = kc.ForceSystem(free.forces, [1e-6 * unit * R])
    assert_allclose(numbers(wrench.central_axis()[1]) * unit, 1e-6 * unit**2 * numbers(R), rtol=1e-6)


def test_reaction_and_sum() -> None:
    """Torques alone are a couple; the axes of two systems know where each other is."""
    origin = me.Point("O")
    P = origin.locatenew("P", a * N.x)
    system = kc.ForceSystem([(P, b * N.y)], [N.x])
    assert (-system).forces == ((P, -b * N.y),)
    assert (-system).torques == (-N.x,)
    assert (system + -system).is_couple()
    assert (system + -system).torque.to_matrix(N) == sm.zeros(3, 1)
    assert repr(system) == "ForceSystem([(P, b*N.y)], torques=[N.x])"
    with pytest.raises(TypeError):
        system + 3  # type: ignore[operator]
    alone = kc.ForceSystem(torques=[a * N.x, b * A.y])
    assert alone.is_couple() is True
    assert alone.resultant == 0
    assert alone.torque == alone.moment(me.Point("anywhere")) == a * N.x + b * A.y
    first, second = (kc.ForceSystem([(point, N.y)]).central_axis()[0] for point in (P, origin))
    assert kc.ForceSystem([(first, N.y), (second, -N.y)]).torque == a * N.z


@pytest.mark.parametrize("moving", [False, True])
def test_the_axis_of_a_system_in_a_model(moving: bool) -> None:
    """R on the axis and the moment along it do as all forces do: where forces are constant in the body the axis is too;
    where it moves in the body, the load acts on the body's point that is there, and has that velocity."""
    model, body, B, (P1, P2, _) = free_body()
    f = sm.Symbol("f")
    system = kc.ForceSystem([(P1, f * N.x if moving else f * B.x + B.y), (P2, 2 * B.z)], [N.y if moving else B.x])
    before = snapshot(B, P1, P2)
    point, along = system.central_axis()
    assert snapshot(B, P1, P2) == before
    if moving:
        point.set_vel(N, kc.VelocityField(B, body.masscenter, N).velocity(point))
    expected = forces_at(model((B, system)), 0)
    for at in (point,) if moving else (point, point.locatenew("beyond", 3 * system.resultant)):
        assert_allclose(forces_at(model((at, system.resultant), (B, along)), 0), expected, rtol=1e-11)


# ---------------------------------------------------------------------- errors
ORIGIN, ELSEWHERE, LOOSE = me.Point("O"), me.Point("elsewhere"), me.ReferenceFrame("loose")


@pytest.mark.parametrize(
    ("forces", "torques", "message"),
    [
        ([], [], "the ForceSystem is empty"),
        ([(ORIGIN, N.x), (ELSEWHERE, N.y)], [], "points elsewhere and O are not connected: locate"),
        ([(ORIGIN, N.x), (ORIGIN, LOOSE.x)], [], "frames loose and N are not connected: orient"),
        ([(ORIGIN, N.x)], [LOOSE.x], "frames .* are not connected"),
        ([N.x], [], r"forces\[0\] is N.x, a vector without a point"),
        (N.x, [], "forces of a ForceSystem is N.x: write a list"),
        ([(ORIGIN, N.x)], N.x, "torques of a ForceSystem is N.x: write a list"),
        ([(ORIGIN, 3)], [], r"forces\[0\] is 3, not a Vector"),
        ([(ORIGIN, np.zeros(3))], [], r"forces\[0\] is array"),
        ([(N, N.x)], [], r"the point of forces\[0\] is N, which is no Point"),
        ([(ORIGIN, N.x, 1)], [], r"forces\[0\] is .*: write \(point, vector\)"),
        ([ORIGIN], [], r"forces\[0\] is O: write \(point, vector\)"),
        ({ORIGIN: N.x}, [], "write a list"),
        ([], [ORIGIN], r"torques\[0\] is O, not a Vector"),
    ],
)
def test_bad_systems(forces: Any, torques: Any, message: str) -> None:
    with pytest.raises(kc.ModelError, match=message):
        kc.ForceSystem(forces, torques)


def test_bad_points() -> None:
    system = kc.ForceSystem([(ORIGIN, N.x), (ORIGIN, 0)])
    with pytest.raises(kc.ModelError, match="about is N, which is no Point"):
        system.moment(N)
    with pytest.raises(kc.ModelError, match="points O and elsewhere are not connected"):
        system.equivalent(ELSEWHERE)


def test_bad_loads() -> None:
    model, body, B, (P1, _, _) = free_body()
    system = kc.ForceSystem([(P1, N.x)])
    for load, message in (
        ((P1, system), r"forcelist\[0\] acts on P1: a ForceSystem acts on the ReferenceFrame of a body"),
        (system, r"forcelist\[0\] is ForceSystem\(\[\(P1, N.x\)\]\): a load is"),
        ((body, system), r"forcelist\[0\] acts on .*: a ForceSystem acts on the ReferenceFrame"),
        ((B, kc.ForceSystem([(me.Point("lost"), N.x)])), "point lost of load 0 on point lost has no position path"),
        ((B, kc.ForceSystem([(P1, sm.zoo * N.x)])), "not a finite real number"),
    ):
        with pytest.raises(kc.ModelError, match=message):
            model(load)


# ------------------------------------------------------------------ velocities
def test_a_rolling_wheel_turns_about_its_contact() -> None:
    r, theta = sm.Symbol("r"), me.dynamicsymbols("theta")
    origin, wheel = me.Point("O"), me.ReferenceFrame("wheel")
    origin.set_vel(N, 0)
    wheel.orient_axis(N, -N.z, theta)
    C = origin.locatenew("C", r * theta * N.x + r * N.y)
    contact = C.locatenew("contact", -r * N.y)
    before = snapshot(N, wheel, origin, C, contact)
    field = kc.VelocityField(wheel, C, N)
    point, along = field.instantaneous_screw()
    assert snapshot(N, wheel, origin, C, contact) == before
    assert along == 0
    for zero in (point.pos_from(contact), field.velocity(contact)):
        assert sm.simplify(zero.to_matrix(N)) == sm.zeros(3, 1)
    assert field.reduction(C) == (field.angular_velocity, r * theta.diff() * N.x)
    assert field.angular_velocity == -theta.diff() * N.z


def test_a_screw_motion() -> None:
    """A body on a helix of pitch h turns about the axis of the helix, and moves along it by h ω."""
    (h, R), q = sm.symbols("h R"), me.dynamicsymbols("q")
    origin, nut = me.Point("O"), me.ReferenceFrame("nut")
    origin.set_vel(N, 0)
    nut.orient_axis(N, N.z, q)
    P = origin.locatenew("P", R * nut.x + h * q * N.z)
    point, along = kc.VelocityField(nut, P, N).instantaneous_screw()
    assert sm.simplify(point.pos_from(origin).to_matrix(N)) == sm.Matrix([0, 0, h * q])
    assert sm.simplify(along.to_matrix(N)) == sm.Matrix([0, 0, h * q.diff()])


def test_velocities_are_those_of_sympy() -> None:
    q = me.dynamicsymbols("q:6")
    origin, middle, B = me.Point("O"), me.ReferenceFrame("middle"), me.ReferenceFrame("B")
    middle.orient_axis(N, N.z, q[3])
    B.orient_body_fixed(middle, (q[4], q[5], 0.3), "123")
    origin.set_vel(N, 0)
    C = origin.locatenew("C", q[0] * N.x + q[1] * middle.y + q[2] * B.z)
    P = C.locatenew("P", B.x + 2 * B.y)
    ours = kc.VelocityField(B, C, N).velocity(P)
    theirs = P.v2pt_theory(C, N, B)  # stores the velocity of C, after ours was asked for
    values = {s: 0.1 * i + 0.2 for i, s in enumerate([*(s.diff() for s in q), *q])}
    assert_allclose(numbers(ours - theirs, values), 0, atol=1e-14)
    by_user, velocity = me.Point("set"), vector(me.dynamicsymbols("u:3"))
    by_user.set_vel(N, velocity)
    assert kc.VelocityField(B, by_user, N).velocity(by_user) == velocity


def test_bad_velocity_fields() -> None:
    origin, lost, slides = me.Point("O"), me.Point("lost"), me.ReferenceFrame("slides")
    origin.set_vel(N, 0)
    slides.orient_axis(N, N.z, 0)
    field, P = kc.VelocityField, origin.locatenew("P", x * N.x)
    for call, message in (
        (lambda: field(slides, P, N).instantaneous_screw(), "frame slides does not turn in N: all points have one"),
        (lambda: field(N, origin, N).instantaneous_screw(), "frame N does not turn in N"),
        (lambda: field(A, lost, N), "point lost has no velocity in N: locate it"),
        (lambda: field(LOOSE, origin, N), "frame loose has no angular velocity in N"),
        (lambda: field(A, N, N), "point is N, which is no Point"),
        (lambda: field(A, origin, N).velocity(lost), "points O and lost are not connected"),
    ):
        with pytest.raises(kc.ModelError, match=message):
            call()
