# SPDX-License-Identifier: BSD-3-Clause
"""Reactions of tree joints: every body's Newton–Euler equations balance, with SymPy's own accelerations."""

import dataclasses
import gc
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, mass_point, rates
from oracle.sympy_kinematics import SymPyKinematics
from sweep import part

import kanecore as kc
from kanecore.derive.derivation import Derivation
from kanecore.derive.kernel_registry import DERIVATIONS
from kanecore.derive.kernels import force_kernels
from kanecore.describe.description import duplicate
from kanecore.gallery import four_bar

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t


def absolute_chain() -> tuple[dict[str, Any], kc.Model]:
    """Three links in space, absolute angles as coordinates, their rates as speeds, springs between links."""
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    length, m, g, k = sm.symbols("l m g k")
    N, origin = ground()
    pivot, parent, bodies, force_kernels, loads = origin, N, [], {}, []
    for i in range(3):
        frame = me.ReferenceFrame(f"A{i}")
        frame.orient_axis(N, (N.x, N.y, N.z)[i], q[i])
        frame.set_ang_vel(N, u[i] * (N.x, N.y, N.z)[i])
        bodies.append(skew(f"link{i}", pivot.locatenew(f"C{i}", length / 2 * frame.x + length / 9 * frame.y), frame, m))
        centre = bodies[i].masscenter
        loads += [(centre, -m * g * N.z), (frame, -k * q[i] * N.y), (parent, k * q[i] * N.y)]
        force_kernels[f"link{i}"] = (bodies[i - 1] if i else None, bodies[i], pivot)
        pivot, parent = centre.locatenew(f"P{i}", length / 2 * frame.x), frame
    loads.append((pivot, 3 * N.x - 2 * u[1] * N.y))
    given = {"frame": N, "q_ind": q, "u_ind": u, "kd_eqs": rates(q, u), "bodies": bodies, "forcelist": loads}
    return {**given, "joints": force_kernels, "points": {"link2": [pivot]}}, kc.Model(**given)


def skew(name: str, centre: Any, frame: Any, mass: Any, inertia: Any = 0.3) -> me.RigidBody:
    """A body with products of inertia."""
    return me.RigidBody(name, centre, frame, mass, (me.inertia(frame, inertia, 0.4, 0.5, 0.02, -0.03, 0.01), centre))


def jointed_tree() -> tuple[dict[str, Any], kc.Model]:
    """A System's tree with a branch: slider, pin, ball, weld and cylinder, offset joint points, an actuator."""
    ground, names = me.RigidBody("ground"), [f"b{i}" for i in range(5)]
    system = me.System.from_newtonian(ground)
    bodies = [
        skew(name, me.Point(f"{name}_masscenter"), me.ReferenceFrame(f"{name}_frame"), 1 + i / 3, 0.3 + i / 9)
        for i, name in enumerate(names)
    ]
    b0, b1, b2, b3, b4 = bodies
    force_kernels = [
        me.PrismaticJoint("slide", ground, b0, joint_axis=ground.x + ground.y),
        me.PinJoint("pin", b0, b1, parent_point=0.3 * b0.y, child_point=-0.4 * b1.x, joint_axis=b0.z),
        me.SphericalJoint("ball", b1, b2, parent_point=0.5 * b1.x, child_point=-0.2 * b2.y + 0.1 * b2.z),
        me.WeldJoint("weld", b1, b3, parent_point=0.1 * b1.y, child_point=0.1 * b3.z),
        me.CylindricalJoint("screw", b0, b4, parent_point=-0.2 * b0.z, child_point=0.3 * b4.x, joint_axis=b0.y),
    ]
    system.add_joints(*force_kernels)
    system.apply_uniform_gravity(-9.81 * ground.z)
    path = me.LinearPathway(b1.masscenter, b4.masscenter.locatenew("eye", 0.2 * b4.z))
    system.add_actuators(me.LinearSpring(20, path, 0.1), me.LinearDamper(3, path))
    loads = [*system.loads, *(load for actuator in system.actuators for load in actuator.to_loads())]
    held = {j.name: (None if j.parent is ground else j.parent, j.child, j.parent_point) for j in force_kernels}
    given = {"frame": system.frame, "q_ind": list(system.q), "u_ind": list(system.u), "kd_eqs": list(system.kdes)}
    given |= {"bodies": bodies, "forcelist": loads, "joints": held, "points": {"b4": [loads[-1][0]]}}
    return given, kc.Model.from_system(system)


def newton_euler(described: dict[str, Any], dyn: kc.CompiledModel, x: Array) -> dict[str, tuple[Array, float]]:
    """What each body's joint must give, from SymPy's accelerations: (force, torque about the joint point), by child.

    The result is that of each body with all that it carries; with it comes the size of the largest force or moment.
    """
    N, q, u, force_kernels = (described[name] for name in ("frame", "q_ind", "u_ind", "joints"))
    sympy = SymPyKinematics({name: described[name] for name in ("frame", "q_ind", "u_ind", "kd_eqs", "bodies")})
    values = dict(zip([*q, *u, *(each.diff(t) for each in u)], [*x, *dyn.udot(0.0, x)], strict=True)) | {t: 0.0}
    sympy.at(values | {sm.Symbol(name): dyn.parameters[name] for name in dyn.parameter_names})
    vector, largest = sympy.vector, 0.0

    def pull(body: Any, about: Any) -> tuple[Array, Array]:
        nonlocal largest
        force = sympy.number(sm.sympify(body.mass)) * vector(body.masscenter.acc(N))
        arm = vector(body.masscenter.pos_from(about))
        tensor, omega, alpha = body.central_inertia, body.frame.ang_vel_in(N), body.frame.ang_acc_in(N)
        torque = vector(tensor.dot(alpha) + omega.cross(tensor.dot(omega))) + np.cross(arm, force)
        points = [body.masscenter, *described["points"].get(body.name, ())]
        for at, load in described["forcelist"]:
            if at is body.frame:
                torque = torque - vector(load)
            elif at in points:
                force = force - vector(load)
                torque = torque - np.cross(vector(at.pos_from(about)), vector(load))
            largest = max(largest, float(np.abs(force).max()), float(np.abs(torque).max()))
        for parent, child, point in force_kernels.values():
            if parent is body:
                f, m = pull(child, point)
                force, torque = force + f, torque + m + np.cross(vector(point.pos_from(about)), f)
        return force, torque

    wrenches = {child.name: np.concatenate(pull(child, point)) for _, child, point in force_kernels.values()}
    return {name: (wrench, largest) for name, wrench in wrenches.items()}


@pytest.mark.parametrize(("mechanism", "seed"), part([(absolute_chain, 3), (jointed_tree, 5)], [(absolute_chain, 3)]))
def test_balance(mechanism: Any, seed: int) -> None:
    """With absolute angles as coordinates, and of a System with every kind of joint."""
    described, model = mechanism()
    values = {"l": 0.7, "m": 1.3, "g": 9.81, "k": 2.0}
    dyn = kc.compile(model, parameters={str(p): values[str(p)] for p in model.parameters})
    x = np.random.default_rng(seed).uniform(-1.0, 1.0, dyn.n_x)
    named, expected = dyn.reactions(0.0, x, named=True), newton_euler(described, dyn, x)
    assert [*named] == [*described["joints"]]
    for name, (_, child, _) in described["joints"].items():
        wrench, largest = expected[child.name]
        np.testing.assert_allclose(named[name], wrench, rtol=0, atol=1e-10 * largest)
        assert np.abs(named[name]).max() > 1e-3 * largest  # there is something to compare


def test_joints_may_be_named() -> None:
    """A position straight from the origin does not tell what carries the body: the user does."""
    q, u, (N, origin) = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3"), ground()
    A, B = (N.orientnew(name, "Axis", (angle, N.z)) for name, angle in zip("AB", q, strict=True))
    knee, bob = origin.locatenew("knee", A.x), origin.locatenew("bob", A.x + B.x)
    one, two = me.Particle("one", knee, 2), me.Particle("two", bob, 3)
    options = {"bodies": [one, two], "forcelist": [(knee, 20 * N.x), (bob, 30 * N.x)]}
    force_kernels = {"hook": (N, one, origin), "string": (one, two, knee)}
    default, named = (
        kc.compile(kc.Model(N, q, u, rates(q, u), joints=each, **options)) for each in (None, force_kernels)
    )
    x = [0.3, 0.7, 1.0, -2.0]
    assert default.joints == ("one", "two")
    assert named.joints == ("hook", "string")
    free, tied = default.reactions(0.0, x), named.reactions(0.0, x)
    np.testing.assert_allclose(tied[1, :3], free[1, :3], rtol=1e-14)
    np.testing.assert_allclose(tied[0, :3], free[0, :3] + free[1, :3], rtol=1e-13, atol=1e-13)
    along = np.array([np.cos(0.7), np.sin(0.7), 0.0])
    np.testing.assert_allclose(np.cross(tied[1, :3], along), 0, atol=1e-13)  # a string pulls along itself


def test_massless_links_belong_to_the_child() -> None:
    """A carriage without mass, driven by a force, and a gimbal ring without mass, driven by a torque."""
    q, u, (F, tau) = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4"), me.dynamicsymbols("F tau")
    N, origin = ground()
    ring = N.orientnew("ring", "Axis", (q[1], N.x))
    rotor = ring.orientnew("rotor", "Axis", (q[2], ring.y))
    carriage = origin.locatenew("carriage", q[0] * N.x)
    body = rigid("rotor", carriage.locatenew("centre", 0.3 * ring.z), rotor)
    loads = [(carriage, F * N.x), (ring, tau * N.x), (body.masscenter, -19.62 * N.z)]
    dyn = kc.compile(kc.Model(N, q, u, rates(q, u), bodies=[body], forcelist=loads))
    [wrench] = dyn.reactions(0.0, [0.3, 0.4, 0.5, 0.6, 0.7, 0.8], r=[5.0, 2.0])
    np.testing.assert_allclose(wrench[[0, 3]], 0.0, atol=1e-13 * abs(wrench).max())  # smooth rail, smooth bearing
    assert abs(wrench).max() > 1.0


def test_reactions_need_forces() -> None:
    q, u = me.dynamicsymbols("q u")
    model = mass_point({q: u}, 1, potentials=[q**2])
    dyn = kc.compile(model)
    with pytest.raises(kc.ModelError, match="potentials"):
        dyn.reactions(0.0, [0.1, 0.0])
    with pytest.raises(kc.ModelError, match="potentials"):
        model.reactions  # noqa: B018
    assert dyn.potential_energy(0.0, [0.5, 0.0]) == 0.25


@pytest.mark.parametrize(
    ("joint", "words"),
    [
        (lambda d: {"j": (d["b"], d["a"])}, ["joint j", "(parent, child, point)"]),
        (lambda d: {"j": (d["other"], d["a"], d["O"])}, ["parent of joint j", "not in bodies nor the inertial frame"]),
        (lambda d: {"j": (d["N"], d["other"], d["O"])}, ["child of joint j", "not in bodies"]),
        (lambda d: {"j": (d["N"], d["B"], d["O"])}, ["child of joint j is B_f", "write the body B, not its frame"]),
        (lambda d: {"j": (d["N"], d["a"], d["N"])}, ["the point of joint j", "no Point"]),
        (lambda d: {"i": (d["N"], d["a"], d["O"]), "j": (d["b"], d["a"], d["O"])}, ["two joints", "loop"]),
        (lambda d: {"i": (d["b"], d["a"], d["O"]), "j": (d["a"], d["b"], d["O"])}, ["hangs on itself"]),
        (lambda d: [("j", d["N"], d["a"], d["O"])], ["joints must be a dict"]),
        (lambda d: {"a\0b": (d["N"], d["a"], d["O"])}, ["NUL"]),
    ],
)
def test_wrong_joints(joint: Any, words: list[str]) -> None:
    q, u = me.dynamicsymbols("q u")
    N, origin = ground()
    P, Q = origin.locatenew("P", q * N.x), origin.locatenew("Q", 2 * q * N.x)
    a, b, other = me.Particle("a", P, 1), me.Particle("b", Q, 1), me.Particle("other", Q, 1)
    body = rigid("B", Q, N.orientnew("B_f", "Axis", [q, N.z]))
    pieces = {"a": a, "b": b, "other": other, "N": N, "O": origin, "B": body.frame}
    with pytest.raises(kc.ModelError) as error:
        kc.Model(N, [q], [u], [q.diff() - u], bodies=[a, b, body], joints=joint(pieces))
    assert all(word in str(error.value) for word in words)


# ------------------------------------------------------------------------------------------------ default joints
def rigid(name: str, centre: Any, frame: Any) -> me.RigidBody:
    return me.RigidBody(name, centre, frame, 2, (me.inertia(frame, 0.3, 0.4, 0.5), centre))


class Pieces:
    """Frames A, B, C turning about N's axes, each in the one before or in N, and the origin."""

    def __init__(self, *, absolute: bool = False, welded: bool = False) -> None:
        self.q, self.u, (self.N, self.origin) = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4"), ground()
        self.frames, last = [], self.N
        for i, name in enumerate("ABC"):
            frame, parent = me.ReferenceFrame(name), self.N if absolute else last
            frame.orient_axis(parent, (parent.x, parent.y, parent.z)[i], 0.3 if welded and i == 1 else self.q[i])
            self.frames.append(frame)
            last = frame

    def model(self, bodies: list[Any], loads: Any = ()) -> kc.Model:
        return kc.Model(self.N, self.q, self.u, rates(self.q, self.u), bodies=bodies, forcelist=list(loads))

    def joints(self, bodies: list[Any]) -> dict[str, tuple[str, str]]:
        """The parent and the point of each."""
        d = self.model(bodies).description
        name = {-1: "N"} | {i: b.name for i, b in enumerate(d.bodies)}
        return {j.name: (name[j.parent], d.points[j.point].name) for j in d.joints}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (1, 0, 2)])
@pytest.mark.parametrize("absolute", [False, True])
def test_several_joints_at_one_knee(order: tuple[int, ...], absolute: bool) -> None:
    """As SymPy's PinJoints make them: the joint points of two children lie where the parent's lies."""
    p = Pieces(absolute=absolute)
    A, B, C = p.frames
    a = rigid("a", p.origin.locatenew("CA", 0.3 * A.y), A)
    knee = p.origin.locatenew("P", A.y)
    hips = [knee.locatenew(name, 0) for name in ("JB", "JC")]
    b, c = (rigid(n, h.locatenew(f"C{n}", 0.2 * f.z), f) for n, h, f in zip("bc", hips, (B, C), strict=True))
    found = p.joints([(a, b, c)[i] for i in order])
    assert found == {"a": ("N", "O"), "b": ("a", "JB"), "c": ("b" if not absolute else "a", "JC")}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_gimbals_with_one_centre(order: tuple[int, ...]) -> None:
    p = Pieces()
    bodies = [rigid(name, p.origin, frame) for name, frame in zip("abc", p.frames, strict=True)]
    assert p.joints([bodies[i] for i in order]) == {"a": ("N", "O"), "b": ("a", "O"), "c": ("b", "O")}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_welds_and_posts(order: tuple[int, ...]) -> None:
    """In one piece the body that the other is located from carries it; a post owns what is located from it."""
    p = Pieces(welded=True)
    A, B, _ = p.frames
    a = rigid("a", p.origin.locatenew("CA", 0.3 * A.y), A)
    w = rigid("w", a.masscenter.locatenew("CW", 0.2 * B.z), B)
    assert p.joints([(a, w)[i] for i in order]) == {"a": ("N", "O"), "w": ("a", "CW")}
    post = rigid("post", p.origin.locatenew("CP", 2 * p.N.x), p.N.orientnew("W", "Axis", (0.3, p.N.z)))
    hook = p.origin.locatenew("G", 3 * p.N.y)
    swing = rigid("swing", hook.locatenew("CS", A.y), A)
    assert p.joints([(post, swing)[i] for i in order])["swing"] == ("N", "G")
    on_post = rigid("swing", post.masscenter.locatenew("H", p.N.y).locatenew("CT", A.y), A)
    assert p.joints([(post, on_post)[i] for i in order])["swing"] == ("post", "H")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_bodies_in_one_frame(order: tuple[int, ...]) -> None:
    """What is located from the second hangs on the second."""
    p = Pieces()
    A, B, _ = p.frames
    a = rigid("a", p.origin.locatenew("CA", 0.3 * A.y), A)
    second = rigid("second", a.masscenter.locatenew("CS", 0.1 * A.x), A)
    hand = rigid("hand", second.masscenter.locatenew("F", 0.2 * A.x).locatenew("CH", 0.2 * B.z), B)
    assert p.joints([(a, second)[i] for i in order] + [hand])["hand"] == ("second", "F")


def test_points_located_from_another_body_in_one_step() -> None:
    """CB = CA + l/2 A.y + l/2 B.z, as in many papers: the tip is B's, and so is a load at it."""
    p = Pieces()
    A, B, C = p.frames
    length = sm.Symbol("l")
    a = rigid("a", p.origin.locatenew("CA", length / 2 * A.y), A)
    b = rigid("b", a.masscenter.locatenew("CB", length / 2 * A.y + length / 2 * B.z), B)
    tip = a.masscenter.locatenew("E", length / 2 * A.y + length * B.z)
    bodies = [a, b, me.Particle("bob", p.origin.locatenew("CC", 0.1 * C.x), 1)]
    x = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    pulled, free = (kc.compile(p.model(bodies, loads), parameters={"l": 0.7}) for loads in ([(tip, 5 * p.N.x)], []))
    change = pulled.udot(0.0, x) - free.udot(0.0, x)
    assert abs(change).max() > 0.1
    acceleration = free.partial_velocities(0.0, x)[1].T @ change
    wrench, without = (dyn.reactions(0.0, x, named=True)["b"] for dyn in (pulled, free))
    # b alone: m a − F is what its joint gives
    np.testing.assert_allclose((wrench - without)[:3], 2 * acceleration - [5, 0, 0], atol=1e-12)


def test_slider_on_a_rod_that_is_pinned_at_the_origin() -> None:
    p = Pieces()
    A, B, _ = p.frames
    rod = rigid("rod", p.origin.locatenew("CA", 0.2 * A.y), A)
    sleeve = p.origin.locatenew("J", p.q[2] * A.x + 0.3 * A.z)
    bead = rigid("bead", sleeve.locatenew("CB", 0.1 * B.x), B)
    assert p.joints([bead, rod]) == {"bead": ("rod", "O"), "rod": ("N", "O")}


def test_joints_of_a_system_lead_outwards() -> None:
    """Whichever body a joint calls its child: SymPy takes both, and a tree is a tree."""
    ground, a, b = (me.RigidBody(name) for name in ("ground", "a", "b"))
    system = me.System.from_newtonian(ground)
    system.add_joints(
        me.PinJoint("inner", ground, a, child_point=-0.3 * a.x),
        me.PinJoint("outer", b, a, parent_point=0.5 * b.x, child_point=0.4 * a.x),
    )
    d = kc.Model.from_system(system).description
    assert [(j.name, j.parent, j.child) for j in d.joints] == [("inner", -1, 0), ("outer", 0, 1)]
    assert d.points[d.joints[1].point].name == "outer_a_joint"
    mine = {"mine": (a, b, b.masscenter)}
    d = kc.Model.from_system(system, joints=mine).description
    assert [j.name for j in d.joints] == ["inner", "mine"]
    with pytest.raises(kc.ModelError, match="joints must be a dict"):
        kc.Model.from_system(system, joints=[1])
    with pytest.raises(TypeError, match="takes bodies from the System"):
        kc.Model.from_system(system, bodies=[a])


def test_loads_at_joint_points_act_on_the_body_that_is_located_from_them() -> None:
    """One pin has a point on each body: what pulls at the child's is carried by the joint."""
    ground, a, b = (me.RigidBody(name) for name in ("ground", "a", "b"))
    system = me.System.from_newtonian(ground)
    inner = me.PinJoint("inner", ground, a, child_point=-0.3 * a.x, joint_axis=ground.z)
    outer = me.PinJoint("outer", a, b, parent_point=0.5 * a.x, child_point=-0.4 * b.x, joint_axis=a.z)
    system.add_joints(inner, outer)
    values = {"a_mass": 1.0, "b_mass": 2.0, "a_izz": 0.3, "b_izz": 0.2}
    force_kernels = {"inner": (ground, a, inner.parent_point), "outer": (a, b, outer.parent_point)}
    wrench = []
    for point in (outer.parent_point, outer.child_point):
        given = {"bodies": system.bodies, "forcelist": [(point, 3 * ground.x + 5 * ground.z)], "joints": force_kernels}
        model = kc.Model(system.frame, system.q, system.u, system.kdes, **given)
        dyn = kc.compile(model, parameters={str(p): values.get(str(p), 0.0) for p in model.parameters})
        wrench.append(dyn.reactions(0.0, [0.1, 0.2, 0.3, 0.4], named=True)["outer"])
    np.testing.assert_allclose(wrench[0][:3] - wrench[1][:3], [3, 0, 5], atol=1e-13)


def test_massless_frame_between_absolute_angular_velocities() -> None:
    """The torque on a ring without mass acts on the rotor, also where ω was given in N from the first."""
    p = Pieces()
    A, B, _ = p.frames
    B.set_ang_vel(p.N, p.u[0] * A.x + p.u[1] * A.y)
    rotor = rigid("rotor", p.origin.locatenew("CB", 0.1 * B.x), B)
    bob = me.Particle("bob", p.origin.locatenew("CC", p.q[2] * p.N.x), 1)
    dyn = kc.compile(p.model([rotor, bob], [(A, 2 * p.N.x)]))
    assert abs(dyn.reactions(0.0, [0.3, 0.4, 0.5, 0.6, 0.7, 0.8], named=True)["rotor"][3]) < 1e-13


def test_gravity_across_the_motion_is_felt_by_reactions() -> None:
    """A SCARA's arm, its axis upright: g drives no speed and is a parameter all the same, R is unknown and left out."""
    p, (m, g, R) = Pieces(), sm.symbols("m g R")
    tip = p.origin.locatenew("tip", p.frames[0].y)
    other = me.Particle("other", p.origin.locatenew("C", p.q[1] * p.N.y + p.q[2] * p.N.z), 1)
    model = p.model([me.Particle("arm", tip, m), other], [(tip, -m * g * p.N.x + R * p.N.x)])
    assert model.noncontributing == (R,)
    assert model.parameters == (g, m)
    dyn = kc.compile(model, parameters={m: 2.0, g: 9.81})
    assert dyn.reactions(0.0, [0.1] * 6, named=True)["arm"][0] == pytest.approx(19.62)
    assert kc.compile(model, parameters={R: 1.0}).parameters[R] == 1.0  # kept, and without effect


@pytest.mark.parametrize(
    ("turning", "force", "said", "reaction"),
    [
        (True, (0, -49, 0), "body at O on N, free: its reaction is zero\n", 0),
        (True, (0, 0, -49), "body at O on N\n", 49),
        (False, (3, 0, -49), "body at O on N\n", 49),  # a trolley that does not turn is held by its rails
    ],
)
def test_a_body_in_a_plane_is_free_where_nothing_leads_out_of_it(
    turning: bool, force: Any, said: str, reaction: float
) -> None:
    n, (N, origin) = 3 if turning else 2, ground()
    q, u = me.dynamicsymbols("x y th")[:n], me.dynamicsymbols("u v w")[:n]
    B = N.orientnew("B", "Axis", [q[2] if turning else 0, N.z])
    C = origin.locatenew("C", q[0] * N.x + q[1] * N.y)
    load = sum((a * e for a, e in zip(force, N, strict=True)), me.Vector(0))
    model = kc.Model(N, q, u, rates(q, u), bodies=[rigid("body", C, B)], forcelist=[(C, load)])
    assert said in model.report()
    expected = [[0, 0, reaction, 0, 0, 0]]
    np.testing.assert_allclose(kc.compile(model).reactions(0.0, np.zeros(2 * n)), expected, atol=1e-13)


def test_what_is_missing_is_remembered_by_the_derivation_alone() -> None:
    derivation = Derivation(duplicate(four_bar.build().description))
    assert derivation.missing("reactions") == derivation.missing("reactions")
    gone = weakref.ref(derivation)
    del derivation
    gc.collect()
    assert gone() is None


# -------------------------------------------------------------------------------- auxiliary speeds and constraints
LINKS = np.array([0.6, -0.6, 0.4, -0.4])  # the tip at the height of the pivot, and staying there


def held_chain(form: str) -> kc.Model:
    """Two rods of length one in a plane, the tip on a level line; ua moves both of their ends along the first."""
    (q1, q2), (w1, w2), along = me.dynamicsymbols("q1 q2"), me.dynamicsymbols("w1 w2"), me.dynamicsymbols("ua")
    N, origin = ground()
    A, B = N.orientnew("A", "Axis", (q1, N.z)), N.orientnew("B", "Axis", (q2, N.z))
    A.set_ang_vel(N, w1 * N.z)
    B.set_ang_vel(N, w2 * N.z)
    elbow = origin.locatenew("elbow", A.x)
    elbow.set_vel(N, w1 * A.y + along * A.x)
    tip = elbow.locatenew("tip", B.x)
    tip.set_vel(N, elbow.vel(N) + w2 * B.y)
    end = me.RigidBody("end", tip, B, 1, (me.outer(B.z, B.z) / 10, tip))
    height, rate = sm.sin(q1) + sm.sin(q2), tip.vel(N).dot(N.y)
    forms: dict[str, dict[str, Any]] = {
        "velocity": {"velocity_constraints": [rate]},
        "filed beside": {"configuration_constraints": [height], "velocity_constraints": [rate]},
        "attached": {"configuration_constraints": [height], "attach": {0: (end, tip, N, origin, N.y)}},
        "coordinates": {"configuration_constraints": [height]},
        "attached as well": {"velocity_constraints": [rate], "attach": {0: (end, tip, N, origin, N.y)}},
        "attached wrongly": {"configuration_constraints": [height], "attach": {0: (end, tip, N, origin, 2 * N.y)}},
        "accelerations": {"acceleration_constraints": [rate.subs(along, 0).diff(t)]},
        "derivative": {"configuration_constraints": [height], "velocity_constraints": [rate.subs(along, 0)]},
        "attached derivative": {
            "configuration_constraints": [height],
            "velocity_constraints": [rate.subs(along, 0)],
            "attach": {0: (end, tip, N, origin, N.y)},
        },
        "potential": {"potentials": [20 * sm.sin(q1)]},
        "torques": {"forcelist": [(A, -20 * sm.cos(q1) * N.z)]},
    }
    forces = [(elbow, -20 * N.y), (tip, 3 * N.x - 10 * N.y), *forms[form].pop("forcelist", [])]
    return kc.Model(
        *(N, [q1, q2], [w1, w2], rates([q1, q2], [w1, w2])),
        u_auxiliary=[along],
        bodies=[me.Particle("mass", elbow, 2), end],
        forcelist=forces,
        **forms[form],
    )


@pytest.mark.parametrize("form", ["velocity", "filed beside", "attached", "attached as well", "attached derivative"])
def test_constraints_act_along_auxiliary_speeds(form: str) -> None:
    """What the first rod carries, by Newton's law of both ends along it, in whatever form the tip is held."""
    dyn = kc.compile(held_chain(form))
    q1, q2, w1, w2 = LINKS
    (v1, v2), (force,) = dyn.udot(0.0, LINKS), dyn.multipliers(0.0, LINKS)
    (a1, b1), (a2, b2) = (np.array([[np.cos(q), np.sin(q)], [-np.sin(q), np.cos(q)]]) for q in (q1, q2))
    elbow = v1 * b1 - w1**2 * a1
    tip = elbow + v2 * b2 - w2**2 * a2
    rest = np.array([3.0, -30.0 + force]) - 2 * elbow - tip
    np.testing.assert_allclose(dyn.auxiliary_forces(0.0, LINKS), [rest @ a1], rtol=1e-13)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("coordinates", "does not tell what ua would change.*velocity_constraints.*Model.attach={0: "),
        ("attached wrongly", "does not act as configuration constraint 0"),
        (
            "derivative",
            "velocity constraint 0 is the derivative of an equation of coordinates, and does not tell.*attach",
        ),
        ("accelerations", "an equation of accelerations, and does not tell what ua would.*Model.attach={0: "),
        ("potential", "potential 0 does not tell what ua would change.*write it into forcelist"),
    ],
)
def test_who_does_not_say_where_a_constraint_acts_gets_no_auxiliary_forces(form: str, said: str) -> None:
    dyn = kc.compile(held_chain(form))
    assert dyn.udot(0.0, LINKS).shape == (2,)
    with pytest.raises(kc.ModelError, match=said):
        dyn.auxiliary_forces(0.0, LINKS)


AUXILIARY_ROW = "auxiliary forces = virtual power along u_aux"


def auxiliary_row(dyn: kc.CompiledModel) -> Any:
    return next(row for row in dyn.audit(2).rows if row.name == AUXILIARY_ROW)


@pytest.mark.parametrize(
    "form", part(["velocity", "filed beside", "attached", "attached as well", "torques"], ["attached", "torques"])
)
def test_the_audit_finds_the_power_along_auxiliary_speeds(form: str) -> None:
    row = auxiliary_row(kc.compile(held_chain(form)))
    assert row.verdict == "passes"
    assert row.digits > 10.0


@pytest.mark.parametrize("form", part(["coordinates", "accelerations", "potential"], ["coordinates"]))
def test_the_audit_says_why_there_are_no_auxiliary_forces(form: str) -> None:
    row = auxiliary_row(kc.compile(held_chain(form)))
    assert row.verdict == "does not apply"
    assert "does not tell what ua would change" in row.reason


def test_the_audit_misses_the_force_of_an_attached_constraint(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what accounts for constraints on coordinates in `auxiliary_forces`."""
    monkeypatch.setattr(force_kernels, "attached_loads", lambda *arguments: [])
    row = auxiliary_row(kc.compile(held_chain("attached"), cache=False))
    assert (row.verdict, row.worst) == ("fails", "auxiliary speed 0")


@pytest.mark.parametrize(
    ("form", "kind"),
    part([("coordinates", "configuration"), ("accelerations", "acceleration")], [("coordinates", "configuration")]),
)
def test_the_audit_misses_the_force_of_a_constraint_that_nobody_placed(
    form: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("auxiliary_forces", "auxiliary_partials"):
        monkeypatch.setitem(DERIVATIONS, name, dataclasses.replace(DERIVATIONS[name], missing=lambda derivation: ""))
    row = auxiliary_row(kc.compile(held_chain(form), cache=False))
    assert (row.verdict, row.worst) == ("fails", f"{kind} constraint 0")


def test_a_freed_constraint_acts_along_auxiliary_speeds_where_it_was_attached() -> None:
    free = kc.compile(held_chain("attached").free(0))
    dyn, force = kc.compile(held_chain("attached")), kc.compile(held_chain("attached")).multipliers(0.0, LINKS)
    np.testing.assert_allclose(free.auxiliary_forces(0.0, LINKS, r=force), dyn.auxiliary_forces(0.0, LINKS), rtol=1e-12)
    assert auxiliary_row(free).verdict == "passes"
    untold = kc.compile(held_chain("coordinates").free(0))
    with pytest.raises(kc.ModelError, match="force of a freed configuration constraint, which does not tell what ua"):
        untold.auxiliary_forces(0.0, LINKS, r=force)


def hung_beside(q: list[Any], u: list[Any], **rows: Any) -> kc.CompiledModel:
    """A bob on a string that is brought in evidence, beside a particle at q in N with speeds u."""
    angle, w, along = me.dynamicsymbols("angle w ua")
    N, origin = ground()
    A = N.orientnew("A", "Axis", (angle, N.z))
    bob = origin.locatenew("bob", -A.y)
    bob.set_vel(N, w * A.x - along * A.y)
    other = origin.locatenew("other", sum((a * e for a, e in zip(q, N, strict=False)), me.Vector(0)))
    other.set_vel(N, sum((a * e for a, e in zip(u, N, strict=False)), me.Vector(0)))
    bodies, q, u = [me.Particle("bob", bob, 2), me.Particle("other", other, 1)], [angle, *q], [w, *u]
    rows |= {"u_auxiliary": [along], "bodies": bodies, "forcelist": [(bob, -20 * N.y)]}
    return kc.compile(kc.Model(N, q, u, rates(q, u), **rows))


def test_what_stands_beside_a_string_takes_no_part_in_its_tension() -> None:
    """A potential that no auxiliary speed moves is no obstacle, and constraints elsewhere have no force along one."""
    x, y, v1, v2 = me.dynamicsymbols("x y v1 v2")
    tension = 2 * (10 * np.cos(0.7) + 1.3**2)
    block = hung_beside([x], [v1], potentials=[5 * x**2])
    np.testing.assert_allclose(block.auxiliary_forces(0.0, [0.7, 1.0, 1.3, 0.5]), [tension], rtol=1e-13)
    assert auxiliary_row(block).verdict == "passes"
    bead = hung_beside([x, y], [v1, v2], configuration_constraints=[x**2 + y**2 - 1])
    np.testing.assert_allclose(bead.auxiliary_forces(0.0, [0.7, 1.0, 0.0, 1.3, 0.0, 0.5]), [tension], rtol=1e-13)
