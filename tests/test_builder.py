# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.describe.builder: mechanisms without SymPy, the same as with it; what each error says."""

import importlib
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from builder_models import MODELS, about_z, copied, pendulum
from mechanisms import ground, rates
from sweep import models, part

import kanecore as kc
from kanecore.derive.derivation import Derivation
from kanecore.describe.builder import Builder
from kanecore.describe.description import Description
from kanecore.describe.load_makers import JointFriction
from kanecore.describe.reading import Reading
from kanecore.gallery import rolling_disc
from kanecore.graph.expression_graph import PARAMETER, Op
from kanecore.graph.vectors import Matrix


# ------------------------------------------------------------------------------- the same mechanisms with SymPy
def sympy_double_pendulum() -> kc.Model:
    q, u, torque = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3"), me.dynamicsymbols("T")
    m1, m2, l, g, k, c = sm.symbols("m1 m2 l g k c")  # noqa: E741
    (N, origin), frames = ground(), [me.ReferenceFrame(name) for name in "AB"]
    for frame, angle, speed in zip(frames, q, u, strict=True):
        frame.orient_axis(N, N.z, angle)
        frame.set_ang_vel(N, speed * N.z)
    hook = origin.locatenew("H", l * N.x)
    first = origin.locatenew("P1", -l * frames[0].y)
    second = first.locatenew("P2", -l * frames[1].y)
    line = me.LinearPathway(hook, second)
    loads = [(first, -m1 * g * N.y), (second, -m2 * g * N.y), (frames[0], torque * N.z)]
    loads.append(me.ForceActuator(-k * line.length - c * line.extension_velocity, line))
    bodies = [me.Particle("P1", first, m1), me.Particle("P2", second, m2)]
    options = {"parameters": [g, m1, m2, l, k, c], "outputs": {"height": l * sm.cos(q[0])}, "name": "double_pendulum"}
    return kc.Model(N, q, u, rates(q, u), bodies=bodies, forcelist=loads, **options)


def sympy_pendulum_on_a_base() -> kc.Model:
    q, u, s = me.dynamicsymbols("q u s")
    m, moment, l, k = sm.symbols("m I l k")  # noqa: E741
    (N, origin), rod = ground(), me.ReferenceFrame("A")
    rod.orient_axis(N, N.z, q)
    rod.set_ang_vel(N, u * rod.z)
    pivot = origin.locatenew("S", s * N.x)
    body = me.RigidBody("rod", pivot.locatenew("C", l * rod.x), rod, m, (me.inertia(rod, 0, moment, moment), pivot))
    options = {
        "potentials": [k * q**2 / 2],
        "parameters": [m, moment, l, k],
        "points": [pivot],
        "joints": {"pin": (N, body, pivot)},
        "origin": origin.locatenew("wall", l * N.x),
        "name": "pendulum_on_a_base",
    }
    return kc.Model(N, [q], [u], rates([q], [u]), bodies=[body], **options)


WITH_SYMPY = {
    "double_pendulum": sympy_double_pendulum,
    "pendulum_on_a_base": sympy_pendulum_on_a_base,
    "rolling_disc": rolling_disc.build,
}


@pytest.mark.parametrize("name", part(MODELS, ["double_pendulum", "pendulum_on_a_base"]))
def test_a_model_without_sympy_is_the_same(name: str) -> None:
    d, model = MODELS[name](), WITH_SYMPY[name]()
    one, other = kc.compile(kc.Model.of_reading(Reading(d))), kc.compile(model)
    rng = np.random.default_rng(7)
    values = dict(zip(d.parameter_names, rng.uniform(0.5, 2.0, len(d.parameters)), strict=True))
    assert d.parameter_names == tuple(map(str, model.parameters))
    kernels = ["rhs", "mass_matrix", "forcing", "kinetic_energy", "potential_energy", "positions"]
    kernels += [] if d.potentials else ["reactions"]
    kernels += ["constraint_jacobian", "constraint_bias"] if d.constraints else []
    kernels += ["outputs"] if d.outputs else []
    if name == "pendulum_on_a_base":  # rates of a prescribed motion follow it
        assert (d.input_names, d.input_rates, d.prescribed) == (("s", "s_d", "s_dd"), (1, 2, -1), {0, 1, 2})
    for dyn in (one, other):
        dyn.parameters.update(values)
    for facts in ("input_names", "output_names", "constraint_names", "points", "frames", "joints"):
        assert getattr(one, facts) == getattr(other, facts)
    for _ in range(3):
        x, r = rng.uniform(-1.0, 1.0, one.n_x), rng.uniform(-1.0, 1.0, one.n_r)
        for kernel in kernels:
            expected = getattr(other, kernel)(0.0, x, r=r)
            np.testing.assert_allclose(getattr(one, kernel)(0.0, x, r=r), expected, rtol=1e-12, atol=1e-12)


def test_building_needs_no_sympy(tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); sys.modules['sympy'] = None\n"
        "from builder_models import MODELS\n"
        "for build in MODELS.values():\n    build()\n"
        "assert not [name for name in sys.modules if name.startswith('sympy.')]\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", models(of_files=False))
def test_everything_that_a_description_says_can_be_said(name: str) -> None:
    """Of each model of the gallery."""
    d = importlib.import_module(f"kanecore.gallery.{name}").build().description
    again, expected = copied(replace(d, loads=tuple(load for load in d.loads if load.vector)))
    for field in fields(d):
        assert getattr(again, field.name) == getattr(expected, field.name)


# ------------------------------------------------------------------------------------------------------ errors
def joined(b: Builder, *joints: tuple[str, int, int]) -> None:
    b.body("other", 1, b.graph.one)
    for name, parent, child in joints:
        b.joint(name, parent, child, 0)


def first(b: Builder) -> dict[str, int]:
    """The scalars of the pendulum by name."""
    return {key[0][-1]: i for i, (op, *key) in enumerate(b.graph.nodes) if op == "sym"}


def tensor(*entries: int) -> Matrix:
    xx, xy, yx = entries
    return (xx, xy, 0), (yx, 0, 0), (0, 0, 0)


def scaled(entry: int) -> Callable[[Any], object]:
    """A frame that a multiple of the unit matrix orients."""
    return lambda b: b.frame("B", 0, ((i := b.constant(entry), 0, 0), (0, i, 0), (0, 0, i)))


def foreign(b: Builder) -> int:
    """A symbol that the builder did not make."""
    return b.graph.symbol("foreign", PARAMETER)


def square_of_udot(b: Builder) -> int:
    return b.graph.square(b.acceleration(U))


def squared(b: Builder) -> int:
    return b.graph.square(U)


def along(x: Any) -> Any:
    """A vector along the first axis of the ground."""
    return ((0, (x, 0, 0)),)


Q, U, L, M = (first(pendulum())[name] for name in "qulm")

WRONG: list[tuple[Callable[[Any], object], str]] = [
    # names
    (lambda b: b.parameter("a\0b"), r"the name 'a\\x00b' holds a NUL"),
    (lambda b: b.point("\ud800", 0), "surrogate pair"),
    (lambda b: b.input("q"), "two different symbols are named 'q'"),
    (lambda b: [b.parameter("s_d"), b.point("S", 0, along(b.input("s")))], "two different symbols are named 's_d'"),
    (lambda b: b.parameter(5), "the name 5 is no text: write a str"),
    (lambda b: [b.output("E", 1) for _ in range(2)], "two outputs are named 'E': give each a name of its own"),
    (lambda b: b.output("u", Q), "an output and the speed u are both called 'u'.*: rename the output"),
    (lambda b: [b.input("s"), b.output("s", Q)], "an output and the input s are both called 's'"),
    (lambda b: [b.point("S", 0, along(b.input("s"))), b.output("s_dd", Q)], "the input s_dd are both called 's_dd'"),
    (lambda b: joined(b, ("J", -1, 0), ("J", 0, 1)), "two joints are named 'J': give each a name"),
    # numbers and nodes
    (lambda b: b.constant(np.nan), "the constant nan is no finite number: write a finite int, Fraction or"),
    (lambda b: b.constant(-np.inf), "the constant -inf is no finite number"),
    (lambda b: b.constant(10**400), "is no finite number"),
    (lambda b: b.constant("2"), "the constant '2' is no finite number"),
    (lambda b: b.frame("B", 0.0), r"the parent of frame B is 0.0, which is no int: write the number"),
    (lambda b: b.torque("A", ()), r"the frame of a torque is 'A', which is no int: write the number"),
    (lambda b: b.point("Q", 0.0), r"the parent of point Q is 0.0, which is no int: write the number"),
    (lambda b: b.joint("J", -1, True, 0), r"the child of joint J is True, which is no int: write the number that body"),
    (lambda b: b.force(1, (("A", (1, 0, 0)),)), "a frame in load 0 on point P is 'A', which is no int"),
    (lambda b: b.force(1, (), -1), "the number of a load is -1: write an int, 0 or greater"),
    (lambda b: b.multiplier(-1), "the row of a multiplier is -1: write an int, 0 or"),
    (
        lambda b: b.point("Q", 0, along(999)),
        "the position of point Q holds 999, which is no node of the graph: write a symbol",
    ),
    (
        lambda b: b.point("Q", velocity=along(np.nan)),
        "the velocity of point Q holds nan, which is no node of the graph",
    ),
    (lambda b: b.body("B", 0, np.nan), "the mass of body B holds nan, which is no node"),
    (lambda b: b.body("B", 0, 1, potential=-1), "the potential energy of body B holds -1, which is no node"),
    (lambda b: b.potential(999), "potential 0 holds 999, which is no node"),
    (lambda b: b.tendon([0, 1], 999), "load 0, a tendon, holds 999, which is no node"),
    (lambda b: b.constraint("velocity", 999), "velocity constraint 0 holds 999, which is no"),
    (lambda b: b.output("E", 999), "output E holds 999, which is no node"),
    (lambda b: b.rate(Q, 999), r"rate\(\) holds 999, which is no node"),
    (lambda b: b.acceleration(999), r"acceleration\(\) holds 999, which is no node"),
    (lambda b: b.guess(999, 1.0), r"guess\(\) holds 999, which is no node"),
    (lambda b: b.unit(999, 0, 0, 0), r"unit\(\) holds 999, which is no node"),
    (lambda b: b.list_in_order([999], []), r"list_in_order\(\) holds 999, which is no node"),
    (
        lambda b: b.force(1, ((0, (1, 0)),)),
        r"load 0 on point P is \(\(0, \(1, 0\)\),\): write a vector as \(\(frame, \(x, y, z\)\), ...\)",
    ),
    (lambda b: b.force(1, (1, 0, 0)), r"load 0 on point P is \(1, 0, 0\): write a vector as"),
    (lambda b: b.force(1, 0), "load 0 on point P is 0: write a vector as"),
    (
        lambda b: b.frame("B", 0, ((1, 0), (0, 1))),
        r"the orientation of frame B is \(\(1, 0\), \(0, 1\)\): write three rows of three nodes",
    ),
    (
        lambda b: b.body("B", 0, 1, frame=1, inertia=[(1, ((1, 0), (0, 1)))]),
        r"a tensor of the inertia of body B is \(\(1, 0\), \(0, 1\)\): write three rows",
    ),
    (
        lambda b: b.body("B", 0, 1, frame=1, inertia=tensor(1, 0, 0)),
        r"a tensor of the inertia of body B is \(1, 0, 0\): write \(frame, 3×3 matrix\)",
    ),
    # symbols that have no value where they stand
    (
        lambda b: b.force(1, along(b.line()[0])),
        r"load 0 on point P holds the symbol \('stands in', 'length', 0\), which has no value there",
    ),
    (
        lambda b: [line := b.line(), b.tendon([0, 1], 0), b.tendon([0, 1], line[1])],
        r"load 1, a tendon, holds the symbol \('stands in', 'rate', 0\)",
    ),
    (lambda b: b.potential(b.multiplier(0)), r"potential 0 holds speeds: it may hold coordinates"),
    (lambda b: b.rate(b.coordinate("s"), foreign(b)), "the rate of coordinate s holds the symbol 'foreign'"),
    (
        lambda b: b.body("B", 0, b.graph.square(foreign(b))),
        "the mass of body B holds the symbol 'foreign', which has no value there",
    ),
    (
        lambda b: b.body("B", 0, 1, frame=1, inertia=[(1, tensor(foreign(b), 0, 0))]),
        "the inertia of body B holds the symbol 'foreign'",
    ),
    (lambda b: b.potential(foreign(b)), "potential 0 holds the symbol 'f"),
    (lambda b: b.output("E", foreign(b)), "output E holds the symbol 'foreign'"),
    (lambda b: b.torque(1, along(foreign(b))), "load 0 on frame A holds the symbol 'foreign'"),
    (
        lambda b: b.constraint("velocity", b.graph.mul(foreign(b), U)),
        "velocity constraint 0 holds the symbol 'foreign'",
    ),
    (lambda b: b.rate(foreign(b), U), "foreign has the rate u: a rate is"),
    # coordinates, speeds, inputs
    (lambda b: [b.speed("v", dependent=True), b.speed("w")], "w is independent, and was added after dependent ones"),
    (lambda b: b.acceleration(Q), "q is no generalized speed"),
    (lambda b: b.rate(Q, U), "coordinate q has two rates"),
    (lambda b: b.coordinate("s"), "coordinate s has no rate"),
    (
        lambda b: [b.rate(s := b.coordinate("s"), squared(b)), b.potential(s)],
        "the rate of coordinate s is not linear in the speeds",
    ),
    (lambda b: b.rate(M, U), "m has the rate u: a rate is that of a c"),
    (lambda b: b.rate(b.input("F"), squared(b)), r"F has the rate an expression \(mul\)"),
    (lambda b: b.rate(f := b.input("F"), f), "input F has two rates, or is its own"),
    (lambda b: b.list_in_order([M], []), "the order of the parameters must list each"),
    (lambda b: b.list_in_order([L, M], [Q]), "the order of the inputs must list each"),
    (lambda b: b.unit(Q, U, L, M), "u in a unit quaternion is no coord"),
    (lambda b: b.unit(*[Q] * 4), "q belongs to two quaternions"),
    (lambda b: b.guess(M, 1.0), "guess holds m, which is neither"),
    (lambda b: [b.guess(Q, i) for i in (1, 2)], "guess holds q twice"),
    (lambda b: b.guess(Q, "far"), "guess of q is 'far', which is no number"),
    (lambda b: b.guess(Q, np.inf), "guess of q is inf, which is not finite"),
    (
        lambda b: b.rate(b.coordinate("s", dependent=True), 0),
        "q_dependent names 1 coordinates, and there are 0 constraints",
    ),
    (lambda b: [b.speed("v", dependent=True), b.constraint("velocity", U)], "v in u_dependent occurs in no constraint"),
    # frames and points
    (lambda b: b.frame("B", 7), "there is no frame 7: add it first"),
    (lambda b: b.point("Q", 0, ((7, (1, 0, 0)),)), "there is no frame 7"),
    (lambda b: b.point("Q", 7), "there is no point 7"),
    (lambda b: b.origin(7), "there is no point 7"),
    (lambda b: b.position(7), "there is no point 7"),
    (lambda b: b.frame("B", 0, about_z(b.graph, U)), "the orientation of frame B holds speeds"),
    (
        lambda b: b.angular_velocity(b.frame("B", 0), along(squared(b))),
        "the angular velocity of frame B is not linear in the speeds",
    ),
    (scaled(2), "the orientation of frame B is no rotation: its rows must be unit vectors"),
    (scaled(-1), "the orientation of frame B is no rotation: .* right-handed"),
    (lambda b: b.angular_velocity(1, ()), "frame A has two angular velocities"),
    (lambda b: b.frame("B", 0, about_z(b.graph, Q)), "frame B turns and has no angular velocity"),
    (lambda b: b.angular_velocity(0, ()), "there is no frame 0"),
    (lambda b: b.point("Q"), "point Q is located from no other, and has no velocity"),
    (lambda b: b.point("Q", 0, along(U)), "the position of point Q holds speeds"),
    (lambda b: b.point("Q", velocity=along(squared(b))), "the velocity of point Q is not linear in the speeds"),
    # bodies and joints
    (lambda b: Builder("empty").description(), "at least one body that can move"),
    (
        lambda b: [(e := Builder("empty")).body("P", e.point("O", velocity=()), e.graph.one), e.description()],
        "at least one generalized speed",
    ),
    (lambda b: b.body("B", 0, U), "the mass of body B holds speeds"),
    (lambda b: b.body("B", 0, 1, inertia=[(0, tensor(1, 0, 0))]), "body B has an inertia and no frame"),
    (
        lambda b: b.body("B", 0, 1, frame=1, inertia=[(1, tensor(1, M, 0))]),
        "the inertia of body B is not symmetric in frame A",
    ),
    (
        lambda b: b.body("B", 0, 1, frame=1, inertia=[(1, tensor(Q, 0, 0))]),
        "the inertia of body B must be constant in the axes",
    ),
    (lambda b: b.joint("J", -1, 3, 0), "there is no body 3"),
    (lambda b: joined(b, ("J", -1, 1), ("K", 0, 1)), "body other is the child of two joints: joint K closes a loop"),
    (lambda b: joined(b, ("J", 1, 0), ("K", 0, 1)), "joint J hangs on itself"),
    (
        lambda b: [joined(b, ("J", 1, 0)), b.body("third", 1, 1), b.joint("K", 2, 1, 0), b.joint("L", 1, 2, 0)],
        "joint K hangs on itself",
    ),
    # loads
    (lambda b: b.force(1, along(square_of_udot(b))), "load 0 on point P is not affine"),
    (lambda b: [b.force(1, ()), b.torque(1, along(square_of_udot(b)))], "load 1 on frame A is not affine"),
    (lambda b: b.tendon([0, 1], square_of_udot(b)), "load 0, a tendon, is not affine"),
    (lambda b: b.tendon([0], 0), "load 0, a tendon, has a line through 1 points"),
    (lambda b: b.potential(U), "potential 0 holds speeds"),
    # constraints
    (lambda b: b.constraint("holonomic", 0), "no constraints of kind 'holonomic'"),
    (lambda b: [b.constraint("velocity", U, "stop") for _ in range(2)], "two constraints are named 'stop'"),
    (
        lambda b: b.constraint("configuration", U, written="u"),
        "configuration constraint 0, u, holds speeds: it is a velocity constraint",
    ),
    (lambda b: b.constraint("configuration", L), "holds no coordinate"),
    (lambda b: b.constraint("velocity", Q), "velocity constraint 0 holds no speed: it is a configuration constraint"),
    (lambda b: b.constraint("velocity", L), "holds no speed: nothing that moves can satisfy it"),
    (
        lambda b: b.constraint("velocity", b.acceleration(U)),
        "holds derivatives of speeds: it is an acceleration constraint",
    ),
    (lambda b: b.constraint("acceleration", U), "holds no derivative of a speed"),
    (lambda b: b.constraint("acceleration", square_of_udot(b)), "is not linear in the derivatives of the speeds"),
    (lambda b: b.attach(0, "force", (0, 1), (-1, 0), ()), r"attach=\{0: ...\}.*and there are none"),
    (
        lambda b: [b.constraint("velocity", U), b.attach("0", "force", (0, 1), (-1, 0), ())],
        r"attach=\{'0': ...\}.*its name: 0 .velocity constraint 0.",
    ),
    (
        lambda b: [b.constraint("velocity", U), b.attach(0, "force", 0, (-1, 0), ())],
        r"the child of attach=\{0: ...\} is 0: write \(body, point\) for a force",
    ),
    (
        lambda b: [b.constraint("velocity", U), b.attach(0, "couple", (0, 1), (-1, 0), ())],
        "is a 'couple': it is a force or a torque",
    ),
]


def changed(change: Callable[[Any], object]) -> Description:
    b = pendulum()
    change(b)
    return b.description()


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_error(wrong: Callable[[Any], object], message: str) -> None:
    with pytest.raises(kc.ModelError, match=message):
        changed(wrong)


def test_dependent_coordinate_that_nothing_determines() -> None:
    b = pendulum()
    b.rate(b.coordinate("s", dependent=True), 0)
    b.constraint("configuration", Q)
    with pytest.warns(kc.KanecoreWarning, match="s in q_dependent occurs in no constraint"):
        assert b.description().n_q_dependent == 1


def test_rotations_are_right_to_the_rounding_of_their_entries() -> None:
    b = pendulum()
    g = b.graph
    digits, few, exact = b.constant(0.70710678118), b.constant(0.707), g.sqrt(b.constant(0.5))
    for name, i in (("digits", digits), ("few digits", few), ("exact", exact)):
        b.frame(name, 0, ((i, g.neg(i), 0), (i, i, 0), (0, 0, 1)))
    with pytest.raises(kc.ModelError, match="the orientation of frame rough is no rotation"):
        b.frame("rough", 0, ((i := b.constant(0.69), g.neg(i), 0), (i, i, 0), (0, 0, 1)))


def test_frames_points_and_bodies_may_share_a_name() -> None:
    """As in SymPy: they are told apart by their numbers."""
    b = pendulum()
    assert (b.frame("A", 0), b.point("P", 0), b.body("bob", 0, 1)) == (2, 2, 1)
    assert [body.name for body in b.description().bodies] == ["bob", "bob"]


def test_a_derivation_makes_all_loads_explicit() -> None:
    """Of a description that no model holds: a spring, and friction of a pin, whose torque holds its reactions."""
    b = Builder("rod")
    g, q, u = b.graph, b.coordinate("q"), b.speed("u")
    b.rate(q, u)
    frame = b.frame("A", b.inertial, about_z(g, q))
    b.angular_velocity(frame, ((frame, (0, 0, u)),))
    origin = b.point("O", velocity=())
    hook, centre = b.point("H", origin, ((0, (1, 0, 0)),)), b.point("C", origin, ((frame, (0, 2, 0)),))
    b.body("rod", centre, 3, frame=frame, inertia=((frame, ((1, 0, 0), (0, 1, 0), (0, 0, 1))),))
    length, _ = b.line()
    b.tendon([hook, centre], g.neg(length))
    b.friction(JointFriction("rod", *[b.parameter(name) for name in ("mu", "r", "r_f", "l_b", "T_0", "v_t")]))
    d = Derivation(b.description()).freed
    assert (d.tendons, d.contacts, d.frictions) == ((), (), ())
    assert [load.kind for load in d.loads] == ["force", "force", "torque"]
    held = {d.graph.nodes[i][1][:2] for i in d.graph.below(d.loads[-1].vector[0][1]) if d.graph.nodes[i][0] is Op.SYM}
    assert ("R", "rod") in held
