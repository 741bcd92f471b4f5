# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.Model: what is understood from a description, and the sources' results as SymPy expressions."""

import inspect
import pickle
import warnings
from typing import Any, NoReturn

import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import Pieces, ground, rates

import kanecore as kc
from kanecore.describe.from_sympy.arguments import Arguments
from kanecore.describe.reading import Reading
from kanecore.emit.kernel_groups import emit_group
from kanecore.gallery import rotating_tube, rrp

t = me.dynamicsymbols._t


@pytest.fixture
def p() -> Pieces:
    return Pieces()


def equal(a: Any, b: Any) -> bool:
    """Whether two expressions, lists of them or matrices are equal, by SymPy."""
    left, right = (list(x) if isinstance(x, (list, sm.MatrixBase)) else [x] for x in (a, b))
    return len(left) == len(right) and all(is_zero(x - y) for x, y in zip(left, right, strict=True))


def is_zero(e: sm.Expr) -> bool:
    """By sin² = 1 − cos² in a polynomial, which is quick; by simplify, where that does not show it."""
    even = sm.expand(e).replace(
        lambda x: x.is_Pow and isinstance(x.base, sm.sin) and x.exp.is_Integer and x.exp > 1,
        lambda x: (1 - sm.cos(x.base.args[0]) ** 2) ** (x.exp // 2) * x.base ** (x.exp % 2),
    )
    return sm.expand(even) == 0 or sm.simplify(e) == 0


# ------------------------------------------------------------------------------------- order, names, symbols
def test_order_and_sizes(p: Pieces) -> None:
    model = p.model()
    assert (model.n_q, model.n_u, model.n_x, model.n_p, model.n_r) == (1, 1, 2, 3, 0)
    assert model.coordinates == (p.q,)
    assert model.speeds == (p.u,)
    assert model.parameters == (p.g, p.l, p.m), "by name"
    assert model.inputs == model.noncontributing == ()
    assert model.name == "model"
    assert repr(model) == "<Model 'model': n_q=1, n_u=1, n_p=3, n_r=0>"


def test_parameters_and_inputs_in_the_order_given(p: Pieces) -> None:
    torque, force, spare = me.dynamicsymbols("T F spare")
    loads = [(p.A, torque * p.N.z), (p.P, force * p.A.y)]
    assert p.model(*loads).inputs == (force, torque)
    model = p.model(*loads, parameters=[p.m, sm.Symbol("unused"), p.l, p.g], inputs=[torque, spare, force])
    assert list(map(str, model.parameters)) == ["m", "unused", "l", "g"]
    assert model.inputs == (torque, spare, force)
    assert p.model(parameters=list(model.parameters)).parameters == model.parameters


@pytest.mark.filterwarnings("ignore:.*is not the derivative of its")  # what counts here is another thing
@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_prescribed_motion_brings_its_rates(p: Pieces, order: int) -> None:
    """A motion of a point needs two rates, of a speed that is set one, of a load none."""
    motion = me.dynamicsymbols("theta")
    if order == 2:
        p.O = me.Point("O")
        p.O.set_vel(p.N, 0)
        p.P = p.O.locatenew("H", motion * p.N.y).locatenew("P", p.l * p.A.x)
        p.body = me.Particle("bob", p.P, p.m)
        p.weight = (p.P, p.m * p.g * p.N.x)
        model = p.model()
    elif order == 1:
        p.P.set_vel(p.N, p.l * p.u * p.A.y + motion * p.N.z)
        model = p.model()
    else:
        model = p.model((p.P, motion * p.A.y))
    assert model.description.input_names == ("theta", "theta_d", "theta_dd")[: order + 1]
    assert model.inputs == tuple(motion.diff(t, k) if k else motion for k in range(order + 1))
    assert model.description.prescribed == (frozenset(range(order + 1)) if order else frozenset())
    assert model.description.input_rates == (*range(1, order + 1), -1)


def test_rates_follow_their_motion_at_once(p: Pieces) -> None:
    a, b = me.dynamicsymbols("a b")
    hook = p.O.locatenew("H", a * p.N.y + b * p.N.z)
    names = p.model(points=[hook]).description.input_names
    assert names == ("a", "a_d", "a_dd", "b", "b_d", "b_dd")


def test_time_may_stand_anywhere(p: Pieces) -> None:
    model = p.model((p.P, sm.cos(2 * t) * p.A.y), outputs={"clock": t})
    assert equal(model.symbolic("forcing", nested=True), [p.l * sm.cos(2 * t) - p.m * p.g * p.l * sm.sin(p.q)])
    assert model.inputs == ()


def test_speeds_may_differ_in_number_from_coordinates(p: Pieces) -> None:
    """A ball with three speeds and no attitude; a coordinate without a speed of its own."""
    w = me.dynamicsymbols("w1:4")
    ball = me.ReferenceFrame("B")
    ball.orient_axis(p.N, p.N.z, 0)
    ball.set_ang_vel(p.N, sum((x * e for x, e in zip(w, p.N, strict=True)), me.Vector(0)))
    i = sm.Symbol("I")
    centre = p.O.locatenew("C", 0)
    body = me.RigidBody("ball", centre, ball, p.m, (me.inertia(p.N, i, i, i), centre))
    model = kc.Model(p.N, [], w, [], bodies=[body])
    assert (model.n_q, model.n_u) == (0, 3)
    assert equal(model.symbolic("mass_matrix", nested=True), sm.eye(3) * i)
    extra = me.dynamicsymbols("x")
    model = p.model(q_ind=[p.q, extra], kd_eqs=[p.q.diff() - p.u, extra.diff() - p.l * p.u])
    assert (model.n_q, model.n_u) == (2, 1)


@pytest.mark.filterwarnings("ignore:.*is not the derivative of its")  # what counts here is another thing
def test_kinematical_equations_are_solved(p: Pieces) -> None:
    s = sm.Symbol("s")
    model = p.model(kd_eqs=[2 * p.q.diff() + 3 * p.u - s * p.q])
    assert equal(model.symbolic("qdot", nested=True), [(s * p.q - 3 * p.u) / 2])


# ------------------------------------------------------------------------------------------------- from_kane
@pytest.mark.filterwarnings("ignore:.*is not the derivative of its")  # what counts here is another thing
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("implicit", [False, True])
def test_from_kane(p: Pieces, after: bool, implicit: bool) -> None:
    km = me.KanesMethod(
        *(p.N, [p.q], [p.u], [2 * p.q.diff() - p.u]),
        bodies=[p.body],
        forcelist=[p.weight],
        explicit_kinematics=not implicit,
    )
    if after:
        p.P.v2pt_theory(p.O, p.N, p.A)
        km.kanes_equations()
    model = kc.Model.from_kane(km, name="pendulum")
    assert model.name == "pendulum"
    assert equal(model.symbolic("mass_matrix", nested=True), [p.m * p.l**2])
    assert equal(model.symbolic("forcing", nested=True), [-p.m * p.g * p.l * sm.sin(p.q)])
    assert equal(model.symbolic("qdot", nested=True), [p.u / 2])


def test_from_kane_with_bodies_and_loads_of_its_own(p: Pieces) -> None:
    km = me.KanesMethod(p.N, [p.q], [p.u], [p.q.diff() - p.u])
    assert kc.Model.from_kane(km, [p.body], [p.weight], parameters=[p.l, p.m, p.g]).parameters == (p.l, p.m, p.g)
    assert kc.Model.from_kane(km, [p.body]).parameters == (p.l, p.m)


# ------------------------------------------------------------------------------------------ noncontributing
def test_what_does_not_contribute_is_no_input_or_parameter(p: Pieces) -> None:
    """A reaction may be a plain symbol or a function of time."""
    tension, side = sm.Symbol("tension"), me.dynamicsymbols("side")
    model = p.model((p.P, tension * p.A.x + side * p.A.z))
    assert set(model.noncontributing) == {side, tension}
    assert (model.parameters, model.inputs) == ((p.g, p.l, p.m), ())


def test_what_is_asked_for_stays(p: Pieces) -> None:
    tension = sm.Symbol("tension")
    load = (p.P, tension * p.A.x)
    assert tension in p.model(load, parameters=[p.g, p.l, p.m, tension]).parameters
    assert tension in p.model(load, outputs={"tension": tension}).parameters


def test_small_effects_are_effects(p: Pieces) -> None:
    """Terms that are tiny beside others, or off at the states that were tried, are not left out."""
    k, stiff, edge = sm.symbols("k stiff edge")
    force = k * p.q**40 + stiff * sm.exp(-1e6 * p.q**2) + sm.Piecewise((0, p.q < edge), (p.q, True))
    model = p.model((p.P, force * p.A.y))
    assert model.noncontributing == ()
    assert {k, stiff, edge} <= set(model.parameters)


# --------------------------------------------------------------------------------------- outputs, potentials
def test_outputs_may_hold_accelerations(p: Pieces) -> None:
    model = p.model(outputs={"alpha": p.u.diff(), "height": p.l * sm.cos(p.q), "rate": p.q.diff()})
    alpha, height, rate = model.symbolic("outputs", nested=True)
    assert equal(alpha, -p.g / p.l * sm.sin(p.q))
    assert equal([height, rate], [p.l * sm.cos(p.q), p.u])
    assert [name for name, _ in model.description.outputs] == ["alpha", "height", "rate"]


def test_potentials_stand_for_forces(p: Pieces) -> None:
    k = sm.Symbol("k")
    energy = -p.m * p.g * p.l * sm.cos(p.q) + k * p.q**2 / 2
    with_loads = p.model((p.A, -k * p.q * p.N.z))
    without = p.model(forcelist=[], potentials=[energy])
    assert equal(with_loads.symbolic("forcing", nested=True), without.symbolic("forcing", nested=True))
    assert equal(without.symbolic("potential_energy", nested=True), energy)
    assert equal(p.model(potentials=[energy]).symbolic("potential_energy", nested=True), 2 * energy - k * p.q**2 / 2)


def test_contact_potential_has_no_force_before_contact(p: Pieces) -> None:
    """Hertz: U = k q^(5/2) for q > 0; its slope is not defined where the root of q is not."""
    k = sm.Symbol("k")
    model = p.model(forcelist=[], potentials=[sm.Piecewise((k * p.q ** sm.Rational(5, 2), p.q > 0), (0, True))])
    dyn = kc.compile(model, parameters={"k": 2.0, "l": 1.0, "m": 1.0})
    assert dyn.forcing(0.0, [-0.5, 0.0]) == [0.0]
    assert dyn.forcing(0.0, [0.25, 0.0]) == pytest.approx([-5 * 0.125])


def test_potential_energy_of_a_body_counts_its_load_once(p: Pieces) -> None:
    p.body.potential_energy = -p.m * p.g * p.l * sm.cos(p.q)
    model = p.model()
    assert equal(model.symbolic("potential_energy", nested=True), -p.m * p.g * p.l * sm.cos(p.q))
    assert equal(model.symbolic("forcing", nested=True), [-p.m * p.g * p.l * sm.sin(p.q)])
    assert model.symbolic("power", nested=True) == 0


def test_a_spring_between_two_bodies_counts_once() -> None:
    x1, x2, u1, u2 = me.dynamicsymbols("x1 x2 u1 u2")
    m, k = sm.symbols("m k")
    N, origin = ground()
    points = [origin.locatenew(f"P{i}", x * N.x) for i, x in enumerate((x1, x2))]
    bodies = [me.Particle(f"b{i}", point, m) for i, point in enumerate(points)]
    bodies[0].potential_energy = k * (x2 - x1) ** 2 / 2
    loads = [(points[0], k * (x2 - x1) * N.x), (points[1], -k * (x2 - x1) * N.x)]
    model = kc.Model(N, [x1, x2], [u1, u2], rates([x1, x2], [u1, u2]), bodies=bodies, forcelist=loads)
    assert equal(model.symbolic("potential_energy", nested=True), k * (x2 - x1) ** 2 / 2)
    assert model.symbolic("power", nested=True) == 0


def test_potential_energy_without_a_load_is_no_force(p: Pieces) -> None:
    p.body.potential_energy = sm.Symbol("k") * p.q**2
    model = p.model()
    with pytest.warns(kc.KanecoreWarning, match="bob matches no load") as caught:
        energy = model.symbolic("potential_energy", nested=True)
    assert caught[0].filename == __file__  # the user's line, not ours
    assert equal(energy, -p.m * p.g * p.l * sm.cos(p.q))


# ---------------------------------------------------------------------------------------------------- report
def test_report_names_what_was_chosen(p: Pieces) -> None:
    rolled = p.O.locatenew("R", p.q * p.N.x)
    rolled.set_vel(p.N, 0)
    turned = me.ReferenceFrame("S")
    turned.orient_explicit(p.A, sm.Matrix([[1, 0, 0], [0, 6.1e-17, -1.0], [0, 1.0, 6.1e-17]]))
    text = " ".join(p.model(points=[rolled], frames=[turned]).report().split())
    assert "P: from O, velocity from its position" in text
    assert "R: from O, velocity as set by the user, which is not the derivative of its position" in text
    assert "within 1e-14 of 0 or 1 taken for these: S" in text
    assert "with uniform gravity on every body" in text


# --------------------------------------------------------------------- what the sources print, as expressions
def two_rods() -> tuple[kc.Model, dict[str, Any]]:
    """J. K. Moore, Learn Multibody Dynamics, "Generalized Forces": two thin rods with torsion springs."""
    q1, q2, u1, u2 = me.dynamicsymbols("q1 q2 u1 u2")
    m, g, k, length = sm.symbols("m g k l")
    ground, a, b = (me.ReferenceFrame(name) for name in "NAB")
    a.orient_axis(ground, q1, ground.z)
    b.orient_axis(a, q2, a.x)
    a.set_ang_vel(ground, u1 * ground.z)
    b.set_ang_vel(a, u2 * a.x)
    origin, centre_a, centre_b = (me.Point(name) for name in ("O", "A_O", "B_O"))
    origin.set_vel(ground, 0)
    centre_a.set_pos(origin, length / 2 * a.x)
    centre_b.set_pos(origin, length * a.x)
    centre_a.v2pt_theory(origin, ground, a)
    centre_b.v2pt_theory(origin, ground, a)
    i = m * length**2 / 12
    inertia_a = i * me.outer(a.y, a.y) + i * me.outer(a.z, a.z)
    inertia_b = i * me.outer(b.x, b.x) + i * me.outer(b.z, b.z)
    model = kc.Model(
        *(ground, [q1, q2], [u1, u2], [q1.diff() - u1, q2.diff() - u2]),
        bodies=[
            me.RigidBody("A", centre_a, a, m, (inertia_a, centre_a)),
            me.RigidBody("B", centre_b, b, m, (inertia_b, centre_b)),
        ],
        forcelist=[
            (centre_a, m * g * ground.x),
            (centre_b, m * g * ground.x),
            (a, -k * q1 * ground.z + k * q2 * a.x),
            (b, -k * q2 * a.x),
        ],
    )
    names = {"q1": q1, "q2": q2, "u1": u1, "u2": u2, "m": m, "g": g, "k": k, "l": length}
    return model, names


def test_two_rods() -> None:
    """J. K. Moore, Learn Multibody Dynamics: generalized active and inertia forces, partial angular velocities."""
    model, v = two_rods()
    m, length, q1, q2, u1, u2 = (v[n] for n in ("m", "l", "q1", "q2", "u1", "u2"))
    weight, i, s, c = v["g"] * length * m * sm.sin(q1), m * length**2 / 12, sm.sin(q2), sm.cos(q2)
    active = [-sm.Rational(3, 2) * weight - v["k"] * q1, -v["k"] * q2]
    assert equal(model.symbolic("generalized_active_forces", nested=True), active)
    inertia = [
        -(m * length**2 / 4 + m * length**2 + i + i * c**2) * u1.diff(t) + 2 * i * s * c * u1 * u2,
        -i * u2.diff(t) - i * s * c * u1**2,
    ]
    assert equal(model.symbolic("generalized_inertia_forces", nested=True), inertia)
    first, second = model.symbolic("partial_angular_velocities", nested=True)
    up, along = sm.Matrix([0, 0, 1]), sm.Matrix([sm.cos(q1), sm.sin(q1), 0])
    assert equal(first, sm.Matrix.hstack(up, sm.zeros(3, 1)))
    assert equal(second, sm.Matrix.hstack(up, along))


def test_rrp() -> None:
    """Lecture notes on redundant coordinates, RRP robot: Υ in the axes of the bodies (with −c2 l2g), and φ."""
    v = {str(s): s for s in sm.symbols("l1 l2 l3 l1g l2g l3g h")}
    v.update(zip(("theta1", "theta2", "d3"), me.dynamicsymbols("theta1 theta2 d3"), strict=True))
    s1, c1, s2, c2 = (f(v[n]) for n in ("theta1", "theta2") for f in (sm.sin, sm.cos))
    axes = sm.Matrix([[c1, -s1, 0], [s1, c1, 0], [0, 0, 1]]) * sm.Matrix([[1, 0, 0], [0, c2, -s2], [0, s2, c2]])
    reach = v["l2"] - v["l3"] + v["l3g"] + v["d3"]
    model = rrp.build()
    d = model.description
    velocities, turns = (model.symbolic(f"partial_{kind}velocities", nested=True) for kind in ("", "angular_"))
    of_point = {d.points[i].name: matrix for i, matrix in zip(d.shown_points, velocities, strict=True)}
    of_frame = {d.frames[i].name: matrix for i, matrix in zip(d.shown_frames, turns, strict=True)}
    assert equal(of_point["G1"], sm.zeros(3, 3))
    assert equal(axes.T * of_point["G2"], sm.Matrix([[-v["l2g"] * c2, 0, 0], [0, 0, 0], [0, v["l2g"], 0]]))
    assert equal(axes.T * of_point["G3"], sm.Matrix([[-reach * c2, 0, 0], [0, 0, 1], [0, reach, 0]]))
    assert equal(axes.T * of_frame["B2"], sm.Matrix([[0, 1, 0], [s2, 0, 0], [c2, 0, 0]]))
    assert equal(of_frame["B1"], sm.Matrix([[0, 0, 0], [0, 0, 0], [1, 0, 0]]))
    places = [-c2 * s1 * reach, c1 * c2 * reach, v["h"] + v["l1"] + s2 * reach]
    assert equal(model.symbolic("outputs", nested=True), places)


def test_velocity_remainders() -> None:
    """Lecture notes on generalized forces, example 3: a tube that turns as theta(t), the bead at L1 + q1."""
    theta, q1, length = *me.dynamicsymbols("theta q1"), sm.Symbol("L1")
    remainder = rotating_tube.build().symbolic("velocity_remainders", nested=True)[:, 0]
    across = sm.Matrix([-sm.sin(theta), sm.cos(theta), 0])
    assert equal(remainder, (length + q1) * theta.diff(t) * across)


def test_intermediates_put_back_give_the_nested_form() -> None:
    model, _ = two_rods()
    for kernel in ("mass_matrix", "forcing", "generalized_active_forces", "generalized_inertia_forces"):
        intermediates, e = getattr(model, kernel)
        for z, inner in reversed(intermediates):
            e = e.xreplace({z: inner})
        assert equal(e, model.symbolic(kernel, nested=True)), kernel
    assert (model.mass_matrix[1].shape, model.forcing[1].shape) == ((2, 2), (2, 1))
    assert [v.shape for v in model.partial_velocities[1]] == [(3, 2)] * 2
    assert isinstance(model.symbolic("kinetic_energy", nested=True), sm.Expr)
    with pytest.raises(KeyError, match="nonsense"):
        model.symbolic("nonsense")


@pytest.mark.skipif(sm.__version__ < "1.14", reason="SymPy itself cannot pickle functions of time before 1.14")
def test_a_model_may_be_pickled() -> None:
    """As a process pool does."""
    model, _ = two_rods()
    twin = pickle.loads(pickle.dumps(model))
    assert twin.symbolic("mass_matrix") == model.symbolic("mass_matrix")
    assert emit_group(twin.description, "core").text == emit_group(model.description, "core").text


def test_deriving_does_not_change_the_model(p: Pieces) -> None:
    """What was asked for before does not change what comes after."""
    model = p.model()
    first = model.symbolic("forcing")
    nodes = len(model.description.graph.nodes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.report()
        model.symbolic("udot")
        kc.compile(model, parameters=dict.fromkeys("glm", 1.0), kernels="all")
    assert len(model.description.graph.nodes) == nodes
    assert model.symbolic("forcing") == first


def test_all_models_hold_a_reading_in_one_way(p: Pieces) -> None:
    """SymPy objects, a Lagrangian, a file, a description and another model give the same attributes."""
    file = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="2"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="j" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""
    model, q, m = p.model(), me.dynamicsymbols("q"), sm.symbols("m")
    lagrangian = kc.Model.from_lagrangian(m * q.diff() ** 2 / 2, [q])
    robot = kc.Model.from_urdf(file)
    described = kc.Model.of_reading(Reading(robot.description))
    for each in (lagrangian, robot, described, lagrangian.canonical(), robot.canonical()):
        assert vars(each).keys() == vars(model).keys()
    assert (robot.coordinates, robot.speeds) == (tuple(me.dynamicsymbols("q_j,")), tuple(me.dynamicsymbols("u_j,")))
    assert robot.coordinates[0] is robot.coordinates[0], "made once"
    assert robot.canonical().speeds == (me.dynamicsymbols("p_q_j"),)
    assert robot.canonical().inputs == robot.inputs == (me.dynamicsymbols("tau_j"),)


def test_each_argument_reaches_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """All arguments of Model, and those of from_lagrangian but L and q, by their names and in their order."""
    read: list[Arguments] = []

    def reader(arguments: Arguments) -> NoReturn:
        read.append(arguments)
        raise InterruptedError

    monkeypatch.setattr("kanecore.model.Reader", reader)
    names = [x for x in inspect.signature(kc.Model).parameters if x != "others"]
    with pytest.raises(InterruptedError):
        kc.Model(**{name: name for name in names})
    given = vars(read[0])
    assert [name for name in given if name not in ("lagrangian", "dissipation")] == names
    assert all(given[name] == name for name in names)
    names = [x for x in inspect.signature(kc.Model.from_lagrangian).parameters if x not in ("L", "q")]
    with pytest.raises(InterruptedError):
        kc.Model.from_lagrangian("L", [me.dynamicsymbols("q")], **{name: name for name in names})
    given = vars(read[1])
    assert all(given[name] == name for name in names)
    assert given["lagrangian"] == "L"
