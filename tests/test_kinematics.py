# SPDX-License-Identifier: BSD-3-Clause
"""Positions, velocities and accelerations of points and frames: all of them, and one by its name.

Expected values are SymPy's own, on objects of which the model was made and which nobody else asks, Pinocchio's, and
differences of positions along motions.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates
from oracle.compare import input_values, read_reference
from oracle.instant_systems import described, rolling_disc
from oracle.random_trees import random_state as tree_state
from oracle.random_trees import random_tree
from oracle.sympy_kinematics import SymPyKinematics
from sweep import part

import kanecore as kc
from kanecore.describe.from_sympy.arguments import Arguments

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t
EXACT = 1e-13

Q = me.dynamicsymbols("turn swing slide")
U = me.dynamicsymbols("u1:4")
LIFT, PUSH = me.dynamicsymbols("lift push")
m, l, a, g = sm.symbols("m l a g")  # noqa: E741
VALUES = {m: 1.3, l: 0.7, a: 0.4, g: 9.81}


def same(found: npt.ArrayLike, expected: npt.ArrayLike, limit: float = EXACT) -> None:
    """To some of the largest of all."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    largest = np.max(np.abs(expected), initial=1e-300)
    assert np.max(np.abs(found - expected), initial=0.0) <= limit * largest


def random_state(dyn: kc.CompiledModel, seed: int) -> tuple[Array, Array, Array]:
    """x on the constraints, u̇, r."""
    rng = np.random.default_rng(seed)
    r = rng.uniform(0.2, 1.0, dyn.n_r)
    x = rng.uniform(0.3, 1.2, dyn.n_x)
    if dyn.n_constraints or dyn.n_configuration:
        x = dyn.consistent(0.0, dyn.check(r=r).x + rng.uniform(-0.05, 0.05, dyn.n_x), None, r=r)
    for group in dyn.unit:
        x[list(group)] /= np.linalg.norm(x[list(group)])
    return x, rng.uniform(-2.0, 2.0, dyn.n_u), r


def compare(dyn: kc.CompiledModel, expected: SymPyKinematics, time: float, x: Any, udot: Array, r: Any) -> None:
    """Whatever point and frame SymPy reaches, but for those that share a name."""
    points = [name for name in dyn.points if dyn.points.count(name) == 1 and name in expected.points]
    frames = [name for name in dyn.frames if dyn.frames.count(name) == 1 and name in expected.frames]
    assert points
    inertial, state = dyn.info["inertial"], (time, x)
    start = dict(zip(dyn.points, dyn.info["origins"], strict=True))
    located = [name for name in points if start[name]]
    unoriented = {dyn.frames[i] for i in dyn.info.get("unoriented", [])}
    oriented = [name for name in frames if name not in unoriented]

    def each(names: list[str], ours: Any, sympys: Any) -> None:
        same([ours(name) for name in names], [sympys(name) for name in names], 1e-12)

    each(located, lambda n: dyn.position(n, *state, r=r), lambda n: expected.position(n, start[n]))
    each(points, lambda n: dyn.velocity(n, *state, r=r), expected.velocity)
    each(points, lambda n: dyn.acceleration(n, *state, udot, r=r), expected.acceleration)
    each(oriented, lambda n: dyn.orientation(n, *state, r=r), lambda n: expected.axes(expected.frames[n]))
    each(frames, lambda n: dyn.angular_velocity(n, *state, r=r), lambda n: expected.angular_velocity(n, inertial))
    alpha = expected.angular_acceleration
    each(frames, lambda n: dyn.angular_acceleration(n, *state, udot, r=r), lambda n: alpha(n, inertial))


@pytest.mark.filterwarnings("ignore:no solid body can have:kanecore.KanecoreWarning")  # of published inertias
@pytest.mark.parametrize("name", part(sorted({*kc.models()} - {*kc.gallery.robots()}), ["free_body", "rotating_tube"]))
def test_against_sympy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SymPy's objects are those of which the model was made; both are made anew for this."""
    given: list[dict[str, Any]] = []
    as_lists = Arguments.as_lists
    monkeypatch.setattr(Arguments, "as_lists", lambda arguments: given.append(vars(arguments)) or as_lists(arguments))
    dyn, model = kc.load(name), import_module(f"kanecore.gallery.{name}").build()
    x, udot, r = random_state(dyn, 1)
    symbols = [*model.coordinates, *model.speeds, *(u.diff(t) for u in model.speeds), *model.inputs]
    values = dict(zip(symbols, [*x, *udot, *r], strict=True)) | {t: 0.0}
    expected = SymPyKinematics(given[-1]).at(values | {s: dyn.parameters[s] for s in model.parameters})
    compare(dyn, expected, 0.0, x, udot, r)
    joint = dyn.joint_positions(0.0, x, r=r, named=True)
    at = {j.name: model.description.points[j.point].name for j in model.description.joints}
    known = [j for j in at if at[j] in expected.points and dyn.info.get("origin")]
    same([joint[j] for j in known], [expected.position(at[j], dyn.info["origin"]) for j in known])


@pytest.mark.filterwarnings("ignore:no solid body can have:kanecore.KanecoreWarning")
@pytest.mark.parametrize("seed", part(range(24), [3]))
def test_random_trees_against_sympy(seed: int) -> None:
    """Joints, speeds and prescribed motions of all kinds, and ways of writing them."""
    tree = random_tree(seed, complete=True)
    names = {"frame": "frame", "q_ind": "q", "u_ind": "u", "kd_eqs": "kdes", "bodies": "bodies", "forcelist": "loads"}
    given, parameters = {name: tree[other] for name, other in names.items()}, tree["parameters"]
    model = kc.Model(**given)
    dyn = kc.compile(model, parameters={s: float(parameters[s]) for s in model.parameters})
    state, udot = tree_state(tree, seed), np.random.default_rng(seed).uniform(-2.0, 2.0, dyn.n_u)
    r, x = input_values(dyn, tree, state), [*state["q"], *state["u"]]
    symbols = [*tree["q"], *tree["u"], *(u.diff(t) for u in tree["u"]), *tree.get("inputs", ())]
    values = dict(zip(symbols, [*x, *udot, *state["inputs"]], strict=True)) | {t: state["t"]}
    values |= {s: float(value) for s, value in parameters.items()}
    for motion, given_rates in zip(tree.get("prescribed", ()), state["prescribed"], strict=True):
        values |= {motion.diff(t, n) if n else motion: rate for n, rate in enumerate(given_rates)}
    compare(dyn, SymPyKinematics(given).at(values), state["t"], x, udot, r)


@pytest.mark.filterwarnings("ignore:no solid body can have:kanecore.KanecoreWarning")
@pytest.mark.parametrize("name", part(["planar_2r", "puma560", "ur5e", "iiwa14", "arm7", "tree30"], ["puma560"]))
def test_against_pinocchio(name: str) -> None:
    """Of all bodies; where the PUMA's first link, which has no mass, has its mass centre is arbitrary."""
    dyn = kc.load(name)
    bodies = dyn.info["bodies"][name == "puma560" :]
    centres, frames = (list(numbers) for numbers in zip(*bodies, strict=True))
    for state in read_reference("pinocchio/kinematics")["robots"][name]:
        x, udot = np.array(state["q"] + state["v"]), np.array(state["a"])
        same(dyn.joint_positions(0.0, x), state["joint"])
        for values, kind in (
            (dyn.positions(0.0, x)[centres], "position"),
            (dyn.velocities(0.0, x)[centres], "velocity"),
            (dyn.accelerations(0.0, x, udot)[centres], "acceleration"),
            (dyn.orientations(0.0, x)[frames], "orientation"),
            (dyn.angular_velocities(0.0, x)[frames], "angular_velocity"),
            (dyn.angular_accelerations(0.0, x, udot)[frames], "angular_acceleration"),
        ):
            same(values, state[kind][-len(bodies) :])


# --------------------------------------------------------------------------------------------------- a mechanism
class Rig:
    """A rod on a hinge on a lift that moves as prescribed, and a block on rails of their own."""

    def __init__(self) -> None:
        turn, swing, slide = Q
        self.N = N = me.ReferenceFrame("N")
        self.A = N.orientnew("A", "Axis", [turn, N.z])
        self.B = self.A.orientnew("B", "Axis", [swing, self.A.x])
        self.B.set_ang_vel(self.A, U[1] * self.A.x)
        self.O = me.Point("O")
        self.O.set_vel(N, 0)
        self.mount = self.O.locatenew("mount", a * N.x - 2 * l * N.y)
        self.hinge = self.O.locatenew("hinge", LIFT * N.z)
        self.centre = self.hinge.locatenew("centre", l * self.B.z)
        self.tip = self.hinge.locatenew("tip", 2 * l * self.B.z + a * self.B.x)
        self.tip.v2pt_theory(self.hinge, N, self.B)  # set, and equal to the derivative of its position
        self.rails = me.Point("rails")
        self.rails.set_vel(N, 0)
        self.block = self.rails.locatenew("block", slide * N.x)
        tensor = me.inertia(self.B, m * l**2, m * l**2, m * l**2 / 7)
        self.bodies = [
            me.RigidBody("rod", self.centre, self.B, m, (tensor, self.centre)),
            me.Particle("block", self.block, m),
        ]
        self.loads = [(body.masscenter, -body.mass * g * N.z) for body in self.bodies]
        self.loads.append((self.block, PUSH * N.x))

    def arguments(self, **options: Any) -> dict[str, Any]:
        given = {"frame": self.N, "q_ind": Q, "u_ind": U, "kd_eqs": rates(Q, U), "bodies": self.bodies}
        given |= {"forcelist": self.loads, "points": [self.mount, self.hinge, self.tip], "frames": [self.A]}
        return {**given, "name": "rig", **options}


@cache
def rig(origin: str = "") -> kc.CompiledModel:
    parts = Rig()
    return kc.compile(kc.Model(**parts.arguments(origin=getattr(parts, origin) if origin else None)), parameters=VALUES)


def of_rig(seed: int, leading: tuple[int, ...] = ()) -> tuple[Array, Array, dict[str, Any]]:
    """x, u̇, r."""
    rng = np.random.default_rng(seed)
    r = {name: rng.uniform(0.2, 1.0, leading) for name in rig().input_names}
    return rng.uniform(-1.4, 1.4, (*leading, 6)), rng.uniform(-2.0, 2.0, (*leading, 3)), r


def test_by_name_against_sympy() -> None:
    """From any point, in any frame, under a prescribed motion."""
    dyn, parts = rig(), Rig()
    x, udot, values = of_rig(3)
    symbols = [*Q, *U, *(u.diff() for u in U), LIFT, LIFT.diff(), LIFT.diff(t, 2)]
    motion = [values[name] for name in ("lift", "lift_d", "lift_dd")]
    known = dict(zip(symbols, [*x, *udot, *motion], strict=True)) | VALUES
    expected = SymPyKinematics(parts.arguments()).at(known)
    state, r = (0.0, x), {"r": values}
    axes, place = expected.axes(parts.B), expected.position("tip", "O")
    v, w = (expected.velocity(point) for point in ("tip", "hinge"))
    a_tip, a_hinge = (expected.acceleration(point) for point in ("tip", "hinge"))
    same(dyn.position("tip", *state, **r), place)
    same(dyn.position(parts.tip, *state, frame=parts.B, **r), axes.T @ place)
    same(dyn.position("tip", *state, frame="B", origin="hinge", **r), [VALUES[a], 0.0, 2 * VALUES[l]])
    same(dyn.velocity("tip", *state, frame="B", **r), axes.T @ v)
    same(dyn.velocity("tip", *state, origin="hinge", **r), v - w)
    same(dyn.acceleration("tip", *state, udot, frame="B", **r), axes.T @ a_tip)
    same(dyn.acceleration("tip", *state, udot, origin="hinge", **r), a_tip - a_hinge)
    same(dyn.specific_force("tip", *state, udot, frame="B", **r), axes.T @ (a_tip + VALUES[g] * np.eye(3)[2]))
    same(dyn.orientation("B", *state, **r), axes)
    same(dyn.orientation("B", *state, frame="A", **r), expected.axes(parts.A).T @ axes)
    same(dyn.orientation("N", *state, frame="B", **r), axes.T)
    for of, other in (("B", "N"), ("B", "A"), ("A", "B"), ("N", "B")):
        omega, alpha = expected.angular_velocity(of, other), expected.angular_acceleration(of, other)
        same(dyn.angular_velocity(of, *state, relative_to=other, frame="B", **r), axes.T @ omega)
        same(dyn.angular_acceleration(of, *state, udot, relative_to=other, **r), alpha)
    same(dyn.angular_velocity(parts.B, *state, **r), expected.angular_velocity("B", "N"))


def test_jacobian() -> None:
    """v and ω are linear in u, but for the lift; forces have the generalized forces Jᵀ [R, T]."""
    dyn = rig()
    x, _, r = of_rig(4)
    still = np.append(x[:3], np.zeros(3))
    for frame in (None, "N", "B"):
        J = dyn.jacobian("tip", 0.0, x, attached="B", frame=frame, r=r)
        assert J.shape == (6, 3)
        v, v0 = (dyn.velocity("tip", 0.0, y, frame=frame, r=r) for y in (x, still))
        omega, omega0 = (dyn.angular_velocity("B", 0.0, y, frame=frame, r=r) for y in (x, still))
        same(J @ x[3:] + [*v0, *omega0], [*v, *omega])
        same(dyn.jacobian("tip", 0.0, x, frame=frame, r=r), J[:3])
    rod = dyn.jacobian("centre", 0.0, x, r=r).T @ [0.0, 0.0, -VALUES[m] * VALUES[g]]
    same(
        rod,
        next(
            force for name, force in dyn.generalized_active_forces(0.0, x, r=r, by="load").items() if "centre" in name
        ),
    )
    loop = kc.load("four_bar")
    x, _, r = random_state(loop, 5)
    independent = loop.jacobian(loop.points[0], 0.0, x, nonholonomic=True, r=r)
    assert independent.shape == (3, loop.n_u - loop.n_u_dependent)
    same(independent, loop.partial_velocities(0.0, x, nonholonomic=True, r=r)[0].T)


def test_leading_axes_and_parameters() -> None:
    dyn = rig()
    x, udot, r = of_rig(5, (4, 1))
    p = np.stack([[2.0 * VALUES[sm.Symbol(name)] for name in dyn.parameter_names]] * 3)
    assert dyn.position("tip", 0.0, x, frame="B", r=r, p=p).shape == (4, 3, 3)
    assert dyn.orientation("B", 0.0, x, frame="A", r=r, p=p).shape == (4, 3, 3, 3)
    assert dyn.orientation("N", 0.0, x, r=r).shape == (4, 1, 3, 3)
    assert dyn.angular_velocity("N", 0.0, x, r=r).shape == (4, 1, 3)
    assert dyn.jacobian("tip", 0.0, x, attached="B", frame="A", r=r, p=p).shape == (4, 3, 6, 3)
    one = {name: value[2, 0] for name, value in r.items()}
    many = dyn.specific_force("tip", 0.0, x, udot, frame="B", r=r, p=p)
    same(many[2, 1], dyn.specific_force("tip", 0.0, x[2, 0], udot[2, 0], frame="B", r=one, p=p[0]))
    result = dyn.position("tip", 0.0, x, r=r)
    result[:] = 0.0  # the user's own
    assert dyn.position("tip", 0.0, x, r=r).any()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda d, s: d.position("tp", *s[:2]), KeyError, r"no point of 'rig' .* 'tp'; did you mean 'tip'\?"),
        (lambda d, s: d.velocity("wheel", *s[:2]), KeyError, r"is called 'wheel'; there are 'centre', 'block'"),
        (lambda d, s: d.acceleration("tip", *s, frame="hand"), KeyError, "no frame of 'rig' .* is called 'hand'"),
        (lambda d, s: d.orientation("tip", *s[:2]), KeyError, "no frame of 'rig' .* is called 'tip'"),
        (lambda d, s: d.jacobian("B", *s[:2]), KeyError, "no point of 'rig' .* is called 'B'"),
        (lambda d, s: d.position(3, *s[:2]), TypeError, "3 is no point: give its name"),
        (lambda d, s: d.angular_velocity(np.zeros(3), *s[:2]), TypeError, "is no frame: give its name"),
        (lambda d, s: d.position("block", *s[:2], origin="tip"), kc.ModelError, "block from point tip is not known"),
        (lambda d, s: d.position("tip", 0.0, s[1][:2]), ValueError, "x has shape"),
    ],
)
def test_wrong_names(call: Any, error: type[Exception], message: str) -> None:
    x, udot, r = of_rig(6)
    dyn = rig()
    dyn.inputs = r
    with pytest.raises(error, match=message):
        call(dyn, (0.0, x, udot))


def test_names() -> None:
    """Of all points, of two points with one name, and of a frame that is called as the inertial one."""
    dyn, (x, udot, r) = rig(), of_rig(6)
    assert list(dyn.accelerations(0.0, x, udot, r=r, named=True)) == list(dyn.points)
    same(dyn.positions(0.0, x, r=r, named=True)["tip"], dyn.position("tip", 0.0, x, r=r))
    same(dyn.velocity("block", 0.0, x, origin="tip", r=r), -dyn.velocity("tip", 0.0, x, origin="block", r=r))
    parts = Rig()
    parts.tip.name, parts.B.name = "centre", "N"
    named = kc.compile(kc.Model(**parts.arguments()), parameters=VALUES)
    same(named.position("mount", 0.0, x, frame="A", r=r), dyn.position("mount", 0.0, x, frame="A", r=r))
    assert named.positions(0.0, x, r=r).shape == (5, 3)
    two_frames = "2 frames of 'rig' are called 'N': rename all but one"
    for call, message in (
        (lambda: named.position("centre", 0.0, x, r=r), "2 points of 'rig' are called 'centre': rename"),
        (lambda: named.positions(0.0, x, r=r, named=True), "named=True: 2 are called 'centre'"),
        (lambda: named.position("mount", 0.0, x, frame=parts.B, r=r), two_frames),
        (lambda: named.orientation("N", 0.0, x, r=r), two_frames),
        (lambda: named.jacobian("mount", 0.0, x, attached="N", r=r), two_frames),
    ):
        with pytest.raises(KeyError, match=message):
            call()
    shown = Rig()
    listed = kc.compile(kc.Model(**shown.arguments(frames=[shown.A, shown.N])), parameters=VALUES)
    same(listed.orientation("N", 0.0, x, frame=shown.B, r=r), dyn.orientation("N", 0.0, x, frame="B", r=r))


# --------------------------------------------------------------------------------------------------- the origin
def test_origin() -> None:
    """Points that positions lead to are measured from it, all others from the root of their own."""
    dyn, other = rig(), rig("mount")
    assert (dyn.info["origin"], other.info["origin"]) == ("O", "mount")
    x, udot, r = of_rig(8)
    shift = np.array([VALUES[a], -2 * VALUES[l], 0.0])
    found, expected = other.positions(0.0, x, r=r, named=True), dyn.positions(0.0, x, r=r, named=True)
    for point in ("centre", "hinge", "tip", "mount"):
        same(found[point], expected[point] - shift)
    same(found["block"], [x[2], 0.0, 0.0])
    for kernel in ("velocities", "orientations", "potential_energy", "rhs"):
        same(getattr(other, kernel)(0.0, x, r=r), getattr(dyn, kernel)(0.0, x, r=r))
    same(other.accelerations(0.0, x, udot, r=r), dyn.accelerations(0.0, x, udot, r=r))


def test_what_is_measured_from_the_origin() -> None:
    """Momenta about a point, what is conserved, and the audit."""
    parts = Rig()
    options = {"bodies": parts.bodies[:1], "forcelist": parts.loads[:1], "q_ind": Q[:2], "u_ind": U[:2]}
    options |= {"kd_eqs": rates(Q[:2], U[:2])}
    dyn, other = (
        kc.compile(kc.Model(**parts.arguments(**options, origin=origin)), parameters=VALUES)
        for origin in (None, parts.mount)
    )
    x, r = np.array([0.3, 0.7, 0.5, -0.2]), {"lift": 0.2, "lift_d": 0.4, "lift_dd": -0.1}
    shift = np.array([VALUES[a], -2 * VALUES[l], 0.0])
    about = np.array([0.3, 0.1, -0.7])
    same(other.angular_momentum(0.0, x, about - shift, r=r), dyn.angular_momentum(0.0, x, about, r=r), 1e-12)
    same(other.angular_momentum(0.0, x, "hinge", r=r), dyn.angular_momentum(0.0, x, "hinge", r=r))
    for model in (dyn, other):
        model.inputs = {"lift": 0.0, "lift_d": 0.0, "lift_dd": 0.0}
    assert other.audit(3).passed
    axes = [dict(model.conserved().angular_momentum) for model in (dyn, other)]
    assert axes == [{"O": (0.0, 0.0, 1.0)}, {"hinge": (0.0, 0.0, 1.0)}]  # about one axis, which goes through O


def test_reports_name_where_points_are_measured_from() -> None:
    """A contact that moves is no origin."""
    parts = Rig()
    text = kc.Model(**parts.arguments()).report()
    assert "positions are measured from O\n" in text
    assert "positions of rails, block are measured from rails: none lead to it from O\n" in text
    assert "positions are measured from mount\n" in kc.Model(**parts.arguments(origin=parts.mount)).report()
    system = rolling_disc()
    model = described(system)
    assert "are measured from C, which is not known to stay at rest" in model.report()
    assert "positions are measured" not in model.report()
    assert [point.name for point in model.description.points if point.parent < 0] == ["C"]
    wall = me.Point("wall")
    wall.set_vel(system["frame"], 0)
    text = described(system, points=[wall]).report()
    assert (
        "positions are measured from wall\npositions of C, Dmc are measured from C: none lead to it from wall" in text
    )


def at_rest(name: str, N: Any, place: Any = None) -> Any:
    """A point whose velocity is said to be zero, for an instant where its place moves."""
    point = place or me.Point(name)
    point.set_vel(N, 0)
    return point


@pytest.mark.parametrize(
    ("origin", "message"),
    [
        (lambda s: s.hinge, "origin=hinge is not at rest in N: name a point with position and velocity at rest"),
        (lambda s: s.tip, "origin=tip is not at rest"),
        (lambda s: "O", "origin is 'O', which is no Point"),
        (lambda s: s.N, "origin is N, which is no Point"),
        (lambda s: me.Point("new"), "point new of origin has no position path"),
        (
            lambda s: at_rest("apart", s.N),
            "origin=apart is no point of 'rig': no positions lead from it to centre, block",
        ),
        (lambda s: at_rest("", s.N, s.O.locatenew("touch", Q[2] * s.N.x)), "origin=touch is not at rest"),
    ],
)
def test_wrong_origins(origin: Any, message: str) -> None:
    parts = Rig()
    with pytest.raises(kc.ModelError, match=message):
        kc.Model(**parts.arguments(origin=origin(parts)))


def test_other_constructors_take_an_origin() -> None:
    q, v = me.dynamicsymbols("x v")
    N, O = ground()  # noqa: E741
    P, wall = O.locatenew("P", q * N.x), O.locatenew("wall", 3 * N.x)
    km = me.KanesMethod(N, [q], [v], kd_eqs=rates([q], [v]))
    kane = kc.Model.from_kane(km, bodies=[me.Particle("P", P, m)], origin=wall)
    lagrange = kc.Model.from_lagrangian(m * q.diff() ** 2 / 2, [q], frame=N, points=[P], origin=wall)
    for model in (kane, lagrange):
        same(kc.compile(model, parameters={m: 2.0}).position("P", 0.0, [0.5, 0.0]), [-2.5, 0.0, 0.0])


# --------------------------------------------------------------------------------------------------- gravity
def test_gravity_is_no_part_of_accelerations() -> None:
    """Nor is it of what falls freely: there an accelerometer feels nothing."""
    dyn = kc.load("free_body")
    x, r = random_state(dyn, 10)[0], np.zeros(dyn.n_r)
    udot = dyn.udot(0.0, x, r=r)
    centre, frame = dyn.points[dyn.info["bodies"][0][0]], dyn.frames[0]
    acceleration = dyn.acceleration(centre, 0.0, x, udot, r=r)
    assert abs(np.linalg.norm(acceleration) - dyn.parameters["g"]) < 1e-12
    assert np.max(np.abs(dyn.specific_force(centre, 0.0, x, udot, frame=frame, r=r))) < 1e-12
    resting = dyn.specific_force(centre, 0.0, x, np.zeros(dyn.n_u), frame=frame, r=r)
    assert np.linalg.norm(resting) > 1.0


def test_specific_force_needs_one_field() -> None:
    parts = Rig()
    heavier = [*parts.loads[:1], (parts.block, -1.1 * m * g * parts.N.z), *parts.loads[2:]]
    x, udot, r = of_rig(11)
    for loads in (heavier, parts.loads[2:]):
        dyn = kc.compile(kc.Model(**parts.arguments(forcelist=loads, outputs={"g": g})), parameters=VALUES)
        with pytest.raises(kc.ModelError, match="'rig' has no gravity field: its loads do not hold the weights"):
            dyn.specific_force("tip", 0.0, x, udot, r=r)


def falling(loads: Callable[[Any, Any], list[Any]], mass: Any = m, n: int = 1, **options: Any) -> kc.CompiledModel:
    """A particle P in a plane, or n of them at one place; ``loads(P, N)``."""
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("v w")
    N, O = ground()  # noqa: E741
    P = O.locatenew("P", q[0] * N.x + q[1] * N.y)
    bodies = [me.Particle(f"P{i}", P, mass) for i in range(n)]
    model = kc.Model(N, q, u, rates(q, u), bodies=bodies, forcelist=loads(P, N))
    return kc.compile(model, parameters={x: VALUES[x] for x in (m, g, a) if x in model.parameters}, **options)


FIELD = np.array([0.0, VALUES[g], 0.0])


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize(
    ("n", "loads", "expected"),
    [
        (1, lambda P, N: [(P, -m * g * N.y / 2), (P, -m * g * N.y / 2)], FIELD),
        (1, lambda P, N: [(P, -m * g * N.y), (P, 3 * m * N.x)], FIELD - [3.0, 0.0, 0.0]),
        (1, lambda P, N: [(P, a * N.x), (P, -m * g * N.y)], FIELD),
        (2, lambda P, N: [(P, -m * g * N.y), (P, -m * g * N.y)], FIELD),
    ],
    ids=["halves", "components", "thrust", "two bodies at one point"],
)
def test_weights_that_specific_force_finds(n: int, loads: Any, expected: Array, turn: int) -> None:
    """In any order."""
    dyn = falling(lambda P, N: loads(P, N)[::turn], n=n)
    same(dyn.specific_force("P", 0.0, np.zeros(4), np.zeros(2)), expected)
    same(dyn.udot(0.0, np.zeros(4))[1], -VALUES[g])


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize(
    ("loads", "options", "message"),
    [
        (lambda P, N: [(P, 5 * N.x), (P, -20 * N.y)], {"bake": True}, "nothing tells .*: make the mass a parameter"),
        (lambda P, N: [(P, 5 * N.x), (P, -20 * N.y)], {"mass": sm.Integer(2)}, "nothing tells which is the weight"),
        (lambda P, N: [(P, -m * g * N.y)], {"n": 2}, "its loads do not hold the weights of all bodies"),
    ],
    ids=["baked", "a number", "one of two bodies"],
)
def test_weights_that_nothing_tells(loads: Any, options: dict[str, Any], message: str, turn: int) -> None:
    dyn = falling(lambda P, N: loads(P, N)[::turn], **options)
    with pytest.raises(kc.ModelError, match=message):
        dyn.specific_force("P", 0.0, np.zeros(4), np.zeros(2))


def test_gravity_above_a_slope_and_of_a_changing_mass() -> None:
    """Written in a frame that is tilted for good; with a mass that is an input."""
    dyn, x = falling(lambda P, N: [(P, -m * g * N.orientnew("V", "Axis", [a, N.z]).y)]), np.array([0.3, -0.2, 0.0, 0.0])
    up = VALUES[g] * np.array([-np.sin(VALUES[a]), np.cos(VALUES[a]), 0.0])
    same(dyn.specific_force("P", 0.0, x, np.zeros(2)), up)
    same(dyn.gravity_forces(0.0, x), VALUES[m] * up[:2])
    same(dyn.potential_energy(0.0, x), VALUES[m] * up[:2] @ x[:2])
    mass, r = me.dynamicsymbols("mu"), {"mu": 3.0, "mu_d": 0.2}
    dyn = falling(lambda P, N: [(P, -mass * g * N.y)], mass)
    same(dyn.specific_force("P", 0.0, x, np.zeros(2), r=r), FIELD)
    same(dyn.gravity_forces(0.0, x, r=r), 3.0 * FIELD[:2])


@pytest.mark.parametrize("sign", [1, -1])
def test_speeds_that_are_components_of_an_angular_velocity(sign: int) -> None:
    """u = ±ω by axes of the body: Euler's equations I ω̇ = −ω × I ω."""
    q, u, (N, O) = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4"), ground()  # noqa: E741
    B = me.ReferenceFrame("B")
    B.orient_body_fixed(N, q, "XYZ")
    kd = [sign * B.ang_vel_in(N).dot(e) - x for e, x in zip(B, u, strict=True)]
    dyn = kc.compile(kc.Model(N, q, u, kd, bodies=[me.RigidBody("b", O, B, 1, (me.inertia(B, 1, 2, 2.5), O))]))
    omega, moments = np.array([0.5, -0.7, 1.1]), np.array([1.0, 2.0, 2.5])
    udot = dyn.udot(0.0, [0.3, 0.4, 0.5, *(sign * omega)])
    np.testing.assert_allclose(udot, -sign * np.cross(omega, moments * omega) / moments, rtol=1e-13)


def test_fields_that_differ_by_a_thousandth() -> None:
    q, u, (N, O) = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3"), ground()  # noqa: E741
    points = [O.locatenew(f"P{i}", x * N.x) for i, x in enumerate(q)]
    bodies, loads = [me.Particle(p.name, p, 2) for p in points], [(points[0], 19.62 * N.x), (points[1], 19.6 * N.x)]
    dyn = kc.compile(kc.Model(N, q, u, rates(q, u), bodies=bodies, forcelist=loads))
    np.testing.assert_allclose(dyn.udot(0.0, np.zeros(4)), [9.81, 9.8], rtol=1e-14)
    assert dyn.potential_energy(0.0, [1.0, 1.0, 0.0, 0.0]) == pytest.approx(-19.62 - 19.6, rel=1e-14)


def test_auxiliary_speeds_are_zero() -> None:
    """A pendulum whose pin has an auxiliary speed: its acceleration is that of the pendulum."""
    (q, u, away), (N, O) = me.dynamicsymbols("q u away"), ground()  # noqa: E741
    A = N.orientnew("A", "Axis", [q, N.z])
    O.set_vel(N, away * N.x)
    P = O.locatenew("P", l * A.x)
    P.v2pt_theory(O, N, A)
    bodies = [me.Particle("P", P, m)]
    dyn = kc.compile(kc.Model(N, [q], [u], rates([q], [u]), u_auxiliary=[away], bodies=bodies, origin=O))
    dyn.parameters.update(m=2.0, l=0.7)
    along, across = np.array([np.cos(0.3), np.sin(0.3), 0.0]), np.array([-np.sin(0.3), np.cos(0.3), 0.0])
    same(dyn.position("P", 0.0, [0.3, 1.5]), 0.7 * along)
    same(dyn.velocity("P", 0.0, [0.3, 1.5]), 0.7 * 1.5 * across)
    same(dyn.acceleration("P", 0.0, [0.3, 1.5], [2.5]), 0.7 * (2.5 * across - 1.5**2 * along))


def test_forces_without_bodies() -> None:
    """Where bodies=[] is said: F_r and partial velocities are there, and what stands on M tells why it is not."""
    N, origin = ground()
    (q,), (u,), push = Q[:1], U[:1], PUSH
    P = origin.locatenew("P", l * (sm.cos(q) * N.x + sm.sin(q) * N.y))
    arguments = (N, [q], [u], rates([q], [u]))
    model = kc.Model(*arguments, bodies=[], forcelist=[(P, push * N.x)], name="lever")
    dyn, x = kc.compile(model, parameters={l: 0.7}), [0.3, 1.1]
    same(dyn.generalized_active_forces(0.0, x, r=[2.0]), [-2.0 * 0.7 * np.sin(0.3)])
    same(dyn.partial_velocities(0.0, x)[0], 0.7 * np.array([[-np.sin(0.3), np.cos(0.3), 0.0]]))
    assert "no equations of motion: it has no bodies" in model.report()
    dyn.build()
    for call in (
        lambda: model.symbolic("mass_matrix"),
        lambda: dyn.mass_matrix(0.0, x),
        lambda: dyn.rhs(0.0, x),
        lambda: dyn.linearize(0.0, x),
        lambda: dyn.simulate((0.0, 1.0), x),
        lambda: dyn.rollout(x, np.zeros((2, 1)), dt=0.1),
        lambda: dyn.export_fmu("lever.fmu"),
    ):
        with pytest.raises(kc.ModelError, match="it has no bodies, whose masses M is made of"):
            call()
    with pytest.raises(kc.ModelError, match=r"needs at least one body: .* say so by bodies=\[\]"):
        kc.Model(*arguments)
    with pytest.raises(kc.ModelError, match=r"bodies=\[\] takes no constraints"):
        kc.Model(*arguments, bodies=[], velocity_constraints=[u - 1])
