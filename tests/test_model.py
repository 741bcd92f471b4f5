# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.Model: what is understood from a description, and the sources' results as SymPy expressions."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import pytest
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc
from kanecore.emit.groups import emit_group
from kanecore.gallery import double_pendulum, rotating_tube, rrp

t = me.dynamicsymbols._t


class Pendulum:
    """A particle on a rod, angle q from the axis x, weight along x; the pieces, for tests to vary."""

    def __init__(self) -> None:
        self.q, self.u = me.dynamicsymbols("q u")
        self.m, self.g, self.l = sm.symbols("m g l")
        self.ground, self.rod = me.ReferenceFrame("N"), me.ReferenceFrame("A")
        self.rod.orient_axis(self.ground, self.ground.z, self.q)
        self.rod.set_ang_vel(self.ground, self.u * self.ground.z)
        self.pivot = me.Point("O")
        self.pivot.set_vel(self.ground, 0)
        self.bob = self.pivot.locatenew("P", self.l * self.rod.x)
        self.body = me.Particle("bob", self.bob, self.m)
        self.weight = (self.bob, self.m * self.g * self.ground.x)

    def model(self, *loads: Any, **more: Any) -> kc.Model:
        arguments = {
            "frame": self.ground,
            "q_ind": [self.q],
            "u_ind": [self.u],
            "kd_eqs": [self.q.diff() - self.u],
            "bodies": [self.body],
            "forcelist": [self.weight, *loads],
        }
        return kc.Model(**{**arguments, **more})


@pytest.fixture
def p() -> Pendulum:
    return Pendulum()


def equal(a: Any, b: Any) -> bool:
    """Whether two expressions, lists of them or matrices are equal, by SymPy's simplify."""
    left, right = (list(x) if isinstance(x, (list, sm.MatrixBase)) else [x] for x in (a, b))
    return len(left) == len(right) and all(sm.simplify(x - y) == 0 for x, y in zip(left, right, strict=True))


# ------------------------------------------------------------------------------------- order, names, symbols
def test_order_and_sizes(p: Pendulum) -> None:
    model = p.model()
    assert (model.n_q, model.n_u, model.n_x, model.n_p, model.n_r) == (1, 1, 2, 3, 0)
    assert model.coordinates == (p.q,)
    assert model.speeds == (p.u,)
    assert model.parameters == (p.g, p.l, p.m), "by name"
    assert model.inputs == model.noncontributing == ()
    assert model.name == "model"
    assert repr(model) == "<Model 'model': n_q=1, n_u=1, n_p=3, n_r=0>"


def test_parameters_and_inputs_in_the_order_given(p: Pendulum) -> None:
    torque, force, spare = me.dynamicsymbols("T F spare")
    loads = [(p.rod, torque * p.ground.z), (p.bob, force * p.rod.y)]
    assert p.model(*loads).inputs == (force, torque)
    model = p.model(*loads, parameters=[p.m, sm.Symbol("unused"), p.l, p.g], inputs=[torque, spare, force])
    assert list(map(str, model.parameters)) == ["m", "unused", "l", "g"]
    assert model.inputs == (torque, spare, force)
    assert kc.Model(**arguments_of(p), parameters=list(model.parameters)).parameters == model.parameters


def arguments_of(p: Pendulum) -> dict[str, Any]:
    return {
        "frame": p.ground,
        "q_ind": [p.q],
        "u_ind": [p.u],
        "kd_eqs": [p.q.diff() - p.u],
        "bodies": [p.body],
        "forcelist": [p.weight],
    }


@pytest.mark.filterwarnings("ignore:.*velocity was set to")  # what counts here is another thing
@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_prescribed_motion_brings_its_rates(p: Pendulum, order: int) -> None:
    """A motion of a point needs two rates, of a speed that is set one, of a load none."""
    motion = me.dynamicsymbols("theta")
    if order == 2:
        p.pivot = me.Point("O")
        p.pivot.set_vel(p.ground, 0)
        p.bob = p.pivot.locatenew("H", motion * p.ground.y).locatenew("P", p.l * p.rod.x)
        p.body = me.Particle("bob", p.bob, p.m)
        p.weight = (p.bob, p.m * p.g * p.ground.x)
        model = p.model()
    elif order == 1:
        p.bob.set_vel(p.ground, p.l * p.u * p.rod.y + motion * p.ground.z)
        model = p.model()
    else:
        model = p.model((p.bob, motion * p.rod.y))
    assert model.description.input_names == ("theta", "theta_d", "theta_dd")[: order + 1]
    assert model.inputs == tuple(motion.diff(t, k) if k else motion for k in range(order + 1))
    assert model.description.prescribed == (frozenset(range(order + 1)) if order else frozenset())
    assert model.description.input_rates == (*range(1, order + 1), -1)


def test_rates_follow_their_motion_at_once(p: Pendulum) -> None:
    a, b = me.dynamicsymbols("a b")
    hook = p.pivot.locatenew("H", a * p.ground.y + b * p.ground.z)
    names = p.model(points=[hook]).description.input_names
    assert names == ("a", "a_d", "a_dd", "b", "b_d", "b_dd")


def test_time_may_stand_anywhere(p: Pendulum) -> None:
    model = p.model((p.bob, sm.cos(2 * t) * p.rod.y), outputs={"clock": t})
    assert equal(model.symbolic("forcing", nested=True), [p.l * sm.cos(2 * t) - p.m * p.g * p.l * sm.sin(p.q)])
    assert model.inputs == ()


def test_speeds_may_differ_in_number_from_coordinates(p: Pendulum) -> None:
    """A ball with three speeds and no attitude; a coordinate without a speed of its own."""
    w = me.dynamicsymbols("w1:4")
    ball = me.ReferenceFrame("B")
    ball.orient_axis(p.ground, p.ground.z, 0)
    ball.set_ang_vel(p.ground, sum((x * e for x, e in zip(w, p.ground, strict=True)), me.Vector(0)))
    i = sm.Symbol("I")
    centre = p.pivot.locatenew("C", 0)
    body = me.RigidBody("ball", centre, ball, p.m, (me.inertia(p.ground, i, i, i), centre))
    model = kc.Model(p.ground, [], w, [], bodies=[body])
    assert (model.n_q, model.n_u) == (0, 3)
    assert equal(model.symbolic("mass_matrix", nested=True), sm.eye(3) * i)
    extra = me.dynamicsymbols("x")
    model = p.model(q_ind=[p.q, extra], kd_eqs=[p.q.diff() - p.u, extra.diff() - p.l * p.u])
    assert (model.n_q, model.n_u) == (2, 1)


@pytest.mark.filterwarnings("ignore:.*velocity was set to")  # what counts here is another thing
def test_kinematical_equations_are_solved(p: Pendulum) -> None:
    s = sm.Symbol("s")
    model = p.model(kd_eqs=[2 * p.q.diff() + 3 * p.u - s * p.q])
    assert equal(model.symbolic("qdot", nested=True), [(s * p.q - 3 * p.u) / 2])


# ------------------------------------------------------------------------------------------------- from_kane
@pytest.mark.filterwarnings("ignore:.*velocity was set to")  # what counts here is another thing
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("implicit", [False, True])
def test_from_kane(p: Pendulum, after: bool, implicit: bool) -> None:
    km = me.KanesMethod(
        p.ground,
        [p.q],
        [p.u],
        [2 * p.q.diff() - p.u],
        bodies=[p.body],
        forcelist=[p.weight],
        explicit_kinematics=not implicit,
    )
    if after:
        p.bob.v2pt_theory(p.pivot, p.ground, p.rod)
        km.kanes_equations()
    model = kc.Model.from_kane(km, name="pendulum")
    assert model.name == "pendulum"
    assert equal(model.symbolic("mass_matrix", nested=True), [p.m * p.l**2])
    assert equal(model.symbolic("forcing", nested=True), [-p.m * p.g * p.l * sm.sin(p.q)])
    assert equal(model.symbolic("qdot", nested=True), [p.u / 2])


def test_from_kane_with_bodies_and_loads_of_its_own(p: Pendulum) -> None:
    km = me.KanesMethod(p.ground, [p.q], [p.u], [p.q.diff() - p.u])
    assert kc.Model.from_kane(km, [p.body], [p.weight], parameters=[p.l, p.m, p.g]).parameters == (p.l, p.m, p.g)
    assert kc.Model.from_kane(km, [p.body]).parameters == (p.l, p.m)


# ------------------------------------------------------------------------------------------ noncontributing
def test_tensions_do_not_contribute() -> None:
    model = double_pendulum.build()
    assert list(map(str, model.noncontributing)) == ["T1(t)", "T2(t)"]
    assert model.inputs == ()
    assert list(map(str, model.parameters)) == ["g", "l", "m1", "m2"]


def test_a_reaction_may_be_a_plain_symbol(p: Pendulum) -> None:
    tension, side = sm.symbols("tension side")
    model = p.model((p.bob, tension * p.rod.x + side * p.rod.z))
    assert model.noncontributing == (side, tension) or model.noncontributing == (tension, side)
    assert model.parameters == (p.g, p.l, p.m)


def test_what_is_asked_for_stays(p: Pendulum) -> None:
    tension = sm.Symbol("tension")
    load = (p.bob, tension * p.rod.x)
    assert tension in p.model(load, parameters=[p.g, p.l, p.m, tension]).parameters
    assert tension in p.model(load, outputs={"tension": tension}).parameters


def test_small_effects_are_effects(p: Pendulum) -> None:
    """Terms that are tiny beside others, or off at the states that were tried, are not left out."""
    k, stiff, edge = sm.symbols("k stiff edge")
    force = k * p.q**40 + stiff * sm.exp(-1e6 * p.q**2) + sm.Piecewise((0, p.q < edge), (p.q, True))
    model = p.model((p.bob, force * p.rod.y))
    assert model.noncontributing == ()
    assert {k, stiff, edge} <= set(model.parameters)


# --------------------------------------------------------------------------------------- outputs, potentials
def test_outputs_may_hold_accelerations(p: Pendulum) -> None:
    model = p.model(outputs={"alpha": p.u.diff(), "height": p.l * sm.cos(p.q), "rate": p.q.diff()})
    alpha, height, rate = model.symbolic("outputs", nested=True)
    assert equal(alpha, -p.g / p.l * sm.sin(p.q))
    assert equal([height, rate], [p.l * sm.cos(p.q), p.u])
    assert [name for name, _ in model.description.outputs] == ["alpha", "height", "rate"]


def test_potentials_stand_for_forces(p: Pendulum) -> None:
    k = sm.Symbol("k")
    energy = -p.m * p.g * p.l * sm.cos(p.q) + k * p.q**2 / 2
    with_loads = p.model((p.rod, -k * p.q * p.ground.z))
    without = p.model(forcelist=[], potentials=[energy])
    assert equal(with_loads.symbolic("forcing", nested=True), without.symbolic("forcing", nested=True))
    assert equal(without.symbolic("potential_energy", nested=True), energy)
    assert equal(p.model(potentials=[energy]).symbolic("potential_energy", nested=True), 2 * energy - k * p.q**2 / 2)


def test_contact_potential_has_no_force_before_contact(p: Pendulum) -> None:
    """Hertz: U = k q^(5/2) for q > 0; its slope is not defined where the root of q is not."""
    k = sm.Symbol("k")
    model = p.model(forcelist=[], potentials=[sm.Piecewise((k * p.q ** sm.Rational(5, 2), p.q > 0), (0, True))])
    dyn = kc.compile(model, parameters={"k": 2.0, "l": 1.0, "m": 1.0})
    assert dyn.forcing(0.0, [-0.5, 0.0]) == [0.0]
    assert dyn.forcing(0.0, [0.25, 0.0]) == pytest.approx([-5 * 0.125])


def test_potential_energy_of_a_body_counts_its_load_once(p: Pendulum) -> None:
    p.body.potential_energy = -p.m * p.g * p.l * sm.cos(p.q)
    model = p.model()
    assert equal(model.symbolic("potential_energy", nested=True), -p.m * p.g * p.l * sm.cos(p.q))
    assert equal(model.symbolic("forcing", nested=True), [-p.m * p.g * p.l * sm.sin(p.q)])
    assert model.symbolic("power", nested=True) == 0


def test_a_spring_between_two_bodies_counts_once() -> None:
    x1, x2, u1, u2 = me.dynamicsymbols("x1 x2 u1 u2")
    m, k = sm.symbols("m k")
    ground, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(ground, 0)
    points = [origin.locatenew(f"P{i}", x * ground.x) for i, x in enumerate((x1, x2))]
    bodies = [me.Particle(f"b{i}", point, m) for i, point in enumerate(points)]
    bodies[0].potential_energy = k * (x2 - x1) ** 2 / 2
    pull = k * (x2 - x1) * ground.x
    model = kc.Model(
        ground,
        [x1, x2],
        [u1, u2],
        [x1.diff() - u1, x2.diff() - u2],
        bodies=bodies,
        forcelist=[(points[0], pull), (points[1], -pull)],
    )
    assert equal(model.symbolic("potential_energy", nested=True), k * (x2 - x1) ** 2 / 2)
    assert model.symbolic("power", nested=True) == 0


def test_potential_energy_without_a_load_is_no_force(p: Pendulum) -> None:
    p.body.potential_energy = sm.Symbol("k") * p.q**2
    model = p.model()
    with pytest.warns(kc.KanecoreWarning, match="bob matches no load") as caught:
        energy = model.symbolic("potential_energy", nested=True)
    assert caught[0].filename == __file__  # the user's line, not ours
    assert equal(energy, -p.m * p.g * p.l * sm.cos(p.q))


# ---------------------------------------------------------------------------------------------------- report
def test_report_names_what_was_chosen(p: Pendulum) -> None:
    rolled = p.pivot.locatenew("R", p.q * p.ground.x)
    rolled.set_vel(p.ground, 0)
    turned = me.ReferenceFrame("S")
    turned.orient_explicit(p.rod, sm.Matrix([[1, 0, 0], [0, 6.1e-17, -1.0], [0, 1.0, 6.1e-17]]))
    text = " ".join(p.model(points=[rolled], frames=[turned]).report().split())
    assert "P: from O, velocity from its position" in text
    assert "R: from O, velocity as set by the user, which is not the derivative of its position" in text
    assert "within 1e-14 of 0 or 1 taken for these: S" in text
    assert "with uniform gravity on every body" in text


# --------------------------------------------------------------------- what the sources print, as expressions
def sources_tube() -> tuple[kc.Model, dict[str, Any]]:
    names = sm.symbols("m1 m2 k1 k2 L1 L2 g")
    values = dict(zip(("m1", "m2", "k1", "k2", "L1", "L2", "g"), names, strict=True))
    values.update(zip(("q1", "q2", "u1", "u2", "theta"), me.dynamicsymbols("q1 q2 u1 u2 theta"), strict=True))
    return rotating_tube.build(), values


def test_tube_generalized_active_forces() -> None:
    """Lecture notes on generalized forces, example 3 (Kane & Levinson 1985, section 5.4): F1, F2."""
    model, v = sources_tube()
    m1, m2, k1, k2, g, q1, q2 = (v[n] for n in ("m1", "m2", "k1", "k2", "g", "q1", "q2"))
    first, second = model.symbolic("generalized_active_forces", nested=True)
    assert equal(first, g * m1 * sm.cos(v["theta"]) - k1 * q1 + k2 * (q2 - q1))
    assert equal(second, g * m2 * sm.cos(v["theta"]) - k2 * (q2 - q1))


def test_tube_generalized_inertia_forces() -> None:
    """Lecture notes on generalized forces, example 5 (Kane & Levinson 1985, section 5.4): F1*, F2*."""
    model, v = sources_tube()
    spin = v["theta"].diff(t) ** 2
    first, second = model.symbolic("generalized_inertia_forces", nested=True)
    assert equal(first, v["m1"] * (v["L1"] + v["q1"]) * spin - v["m1"] * v["u1"].diff(t))
    assert equal(second, v["m2"] * (v["L1"] + v["L2"] + v["q2"]) * spin - v["m2"] * v["u2"].diff(t))


def test_tube_partial_velocities() -> None:
    """Lecture notes on generalized forces, example 3: v1 of P1 and v2 of P2 are the unit vector along the tube."""
    model, v = sources_tube()
    along = sm.Matrix([sm.cos(v["theta"]), sm.sin(v["theta"]), 0])
    for k, partials in enumerate(model.symbolic("partial_velocities", nested=True)[:2]):
        assert equal(partials[:, k], along)
        assert equal(partials[:, 1 - k], sm.zeros(3, 1))
    remainder = model.symbolic("velocity_remainders", nested=True)[:, 0]
    across = sm.Matrix([-sm.sin(v["theta"]), sm.cos(v["theta"]), 0])
    assert equal(remainder, (v["L1"] + v["q1"]) * v["theta"].diff(t) * across)


def test_tube_forces_do_not_contribute() -> None:
    """Lecture notes on generalized forces, example 3: T12, T13, T22, T23 contribute nothing."""
    model, _ = sources_tube()
    assert sorted(map(str, model.noncontributing)) == ["T12(t)", "T13(t)", "T22(t)", "T23(t)"]
    assert [str(x) for x in model.inputs] == [str(me.dynamicsymbols("theta").diff(t, k)) for k in range(3)]


def test_double_pendulum_generalized_active_forces() -> None:
    """J. K. Moore, Learn Multibody Dynamics, "Generalized Forces": F1 and F2 without the tensions."""
    q1, q2 = me.dynamicsymbols("q1 q2")
    m1, m2, length, g = sm.symbols("m1 m2 l g")
    first, second = double_pendulum.build().symbolic("generalized_active_forces", nested=True)
    assert equal(first, -(m1 + m2) * g * length * sm.sin(q1))
    assert equal(second, -m2 * g * length * sm.sin(q2))


def test_double_pendulum_partial_velocities() -> None:
    """J. K. Moore, Learn Multibody Dynamics, "Generalized Forces": l a_x, 0; l a_x, l b_x."""
    q1, q2, length = *me.dynamicsymbols("q1 q2"), sm.Symbol("l")
    a, b = (length * sm.Matrix([sm.cos(q), sm.sin(q), 0]) for q in (q1, q2))
    first, second = double_pendulum.build().symbolic("partial_velocities", nested=True)[:2]
    assert equal(first, sm.Matrix.hstack(a, sm.zeros(3, 1)))
    assert equal(second, sm.Matrix.hstack(a, b))


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
        ground,
        [q1, q2],
        [u1, u2],
        [q1.diff() - u1, q2.diff() - u2],
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


def test_two_rods_generalized_active_forces() -> None:
    """J. K. Moore, Learn Multibody Dynamics, "Generalized Active Forces on a Rigid Body"."""
    model, v = two_rods()
    forces = model.symbolic("generalized_active_forces", nested=True)
    weight = v["g"] * v["l"] * v["m"] * sm.sin(v["q1"])
    assert equal(forces, [-sm.Rational(3, 2) * weight - v["k"] * v["q1"], -v["k"] * v["q2"]])


def test_two_rods_generalized_inertia_forces() -> None:
    """J. K. Moore, Learn Multibody Dynamics, "Generalized Inertia Forces"."""
    model, v = two_rods()
    m, length, q2, u1, u2 = (v[n] for n in ("m", "l", "q2", "u1", "u2"))
    i = m * length**2 / 12
    s, c = sm.sin(q2), sm.cos(q2)
    first = -(m * length**2 / 4 + m * length**2 + i + i * c**2) * u1.diff(t) + 2 * i * s * c * u1 * u2
    second = -i * u2.diff(t) - i * s * c * u1**2
    assert equal(model.symbolic("generalized_inertia_forces", nested=True), [first, second])


def test_two_rods_partial_angular_velocities() -> None:
    """J. K. Moore, Learn Multibody Dynamics: ω1 of A and B is n_z, ω2 of B is a_x."""
    model, v = two_rods()
    first, second = model.symbolic("partial_angular_velocities", nested=True)
    up, along = sm.Matrix([0, 0, 1]), sm.Matrix([sm.cos(v["q1"]), sm.sin(v["q1"]), 0])
    assert equal(first, sm.Matrix.hstack(up, sm.zeros(3, 1)))
    assert equal(second, sm.Matrix.hstack(up, along))


def rrp_symbols() -> dict[str, Any]:
    names = {str(s): s for s in sm.symbols("l1 l2 l3 l1g l2g l3g h")}
    names.update(zip(("theta1", "theta2", "d3"), me.dynamicsymbols("theta1 theta2 d3"), strict=True))
    return names


def rrp_rotation(v: dict[str, Any]) -> sm.Matrix:
    """Axes of the arm in those of the base: Rot(theta1, z) Rot(theta2, x)."""
    (s1, c1), (s2, c2) = ((sm.sin(v[n]), sm.cos(v[n])) for n in ("theta1", "theta2"))
    return sm.Matrix([[c1, -s1, 0], [s1, c1, 0], [0, 0, 1]]) * sm.Matrix([[1, 0, 0], [0, c2, -s2], [0, s2, c2]])


def test_rrp_partial_velocities() -> None:
    """Lecture notes on redundant coordinates, RRP robot: Υ, in the axes of bodies 2 and 3 (with −c2 l2g)."""
    v = rrp_symbols()
    c2, reach = sm.cos(v["theta2"]), v["l2"] - v["l3"] + v["l3g"] + v["d3"]
    expected = {
        "G1": sm.zeros(3, 3),
        "G2": sm.Matrix([[-v["l2g"] * c2, 0, 0], [0, 0, 0], [0, v["l2g"], 0]]),
        "G3": sm.Matrix([[-reach * c2, 0, 0], [0, 0, 1], [0, reach, 0]]),
    }
    model = rrp.build()
    d = model.description
    partials = model.symbolic("partial_velocities", nested=True)
    found = {d.points[i].name: m for i, m in zip(d.shown_points, partials, strict=True)}
    for name, matrix in expected.items():
        assert equal(rrp_rotation(v).T * found[name], matrix), name


def test_rrp_partial_angular_velocities() -> None:
    """Lecture notes on redundant coordinates, RRP robot: the rows s2, c2 and 1 of Υ."""
    v = rrp_symbols()
    model = rrp.build()
    d = model.description
    partials = model.symbolic("partial_angular_velocities", nested=True)
    found = {d.frames[i].name: m for i, m in zip(d.shown_frames, partials, strict=True)}
    s2, c2 = sm.sin(v["theta2"]), sm.cos(v["theta2"])
    assert equal(rrp_rotation(v).T * found["B2"], sm.Matrix([[0, 1, 0], [s2, 0, 0], [c2, 0, 0]]))
    assert equal(found["B1"], sm.Matrix([[0, 0, 0], [0, 0, 0], [1, 0, 0]]))


def test_rrp_positions() -> None:
    """Lecture notes on redundant coordinates, RRP robot: the last three rows of φ."""
    v = rrp_symbols()
    reach = v["l2"] - v["l3"] + v["l3g"] + v["d3"]
    s1, c1, s2, c2 = (f(v[n]) for n in ("theta1", "theta2") for f in (sm.sin, sm.cos))
    x, y, z = rrp.build().symbolic("outputs", nested=True)
    assert equal([x, y, z], [-c2 * s1 * reach, c1 * c2 * reach, v["h"] + v["l1"] + s2 * reach])


def test_intermediates_put_back_give_the_nested_form() -> None:
    model, _ = two_rods()
    for kernel in ("mass_matrix", "forcing", "generalized_active_forces", "generalized_inertia_forces"):
        intermediates, e = getattr(model, kernel)
        for z, inner in reversed(intermediates):
            e = e.xreplace({z: inner})
        assert equal(e, model.symbolic(kernel, nested=True)), kernel


def test_symbolic_shapes() -> None:
    model, _ = two_rods()
    _, matrix = model.mass_matrix
    assert matrix.shape == (2, 2)
    assert model.forcing[1].shape == (2, 1)
    assert [v.shape for v in model.partial_velocities[1]] == [(3, 2)] * 2
    assert [w.shape for w in model.partial_angular_velocities[1]] == [(3, 2)] * 2
    assert model.symbolic("velocity_remainders", nested=True).shape == (3, 2)
    assert isinstance(model.symbolic("kinetic_energy", nested=True), sm.Expr)
    with pytest.raises(KeyError, match="nonsense"):
        model.symbolic("nonsense")


@pytest.mark.skipif(sm.__version__ < "1.14", reason="SymPy itself cannot pickle functions of time before 1.14")
def test_a_model_may_be_pickled() -> None:
    """As a process pool does."""
    model = rrp.build()
    twin = pickle.loads(pickle.dumps(model))
    assert twin.symbolic("mass_matrix") == model.symbolic("mass_matrix")
    assert emit_group(twin.description, "core").text == emit_group(model.description, "core").text


def test_deriving_does_not_change_the_model() -> None:
    """What was asked for before does not change what comes after."""
    model, _ = two_rods()
    first = model.symbolic("forcing")
    nodes = len(model.description.graph.nodes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.report()
        model.symbolic("udot")
        kc.compile(model, parameters=dict.fromkeys("gklm", 1.0), kernels="all")
    assert len(model.description.graph.nodes) == nodes
    assert model.symbolic("forcing") == first
