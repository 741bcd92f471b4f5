# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.derive.recursions.inertia_regrouping: inertias handed over leave M and f as they were, and shorter."""

import random
from importlib import import_module
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from sweep import every, part

import kanecore as kc
from kanecore.derive.derivation import Derivation
from kanecore.derive.recursions.inertia_regrouping import regrouped
from kanecore.derive.recursions.mass_matrix import composite_mass_matrix
from kanecore.describe.description import duplicate
from kanecore.gallery._building_blocks import Link, parameters, tree
from kanecore.graph.evaluation import count_in_call, evaluate
from kanecore.graph.expression_graph import Op

#: What share of the operations of udot in a call remains, of arms whose bodies have mass centres off their axes.
SHARE = {"arm7": 0.91, "iiwa14": 0.93, "puma560": 0.93, "ur5e": 0.95, "tree30": 0.93}


def derivation(model: kc.Model) -> Derivation:
    return Derivation(duplicate(model.description))


def both(d: Derivation) -> tuple[list[int], list[int]]:
    """M, row by row, and f from the bodies as they are, then with inertias handed over."""
    bodies, zeros = d.formulation, [0] * len(d.description.speeds)
    handed = regrouped(d.kinematics, bodies.tree)
    assert handed is not None
    return tuple(
        [x for row in composite_mass_matrix(d.graph, links) for x in row] + bodies._residual(zeros, way)
        for links, way in ((bodies.tree, None), (handed.tree, handed))
    )


def numbers(d: Derivation, roots: list[int], draw: random.Random, given: dict[str, float] | None = None) -> dict:
    """A value for each symbol below some nodes: parameters have those given."""
    names = dict(zip(d.description.parameters, d.description.parameter_names, strict=True))
    symbols = [i for i in d.graph.below(roots) if d.graph.nodes[i][0] is Op.SYM]
    return {d.graph.nodes[i][1]: (given or {}).get(names.get(i, ""), draw.uniform(0.3, 1.3)) for i in symbols}


def difference(d: Derivation) -> float:
    plain, handed = both(d)
    values = numbers(d, [*plain, *handed], random.Random(7))
    with mpmath.workdps(40):
        a, b = (evaluate(d.graph, roots, values, mpmath.mp) for roots in (plain, handed))
        return float(max(abs(x - y) for x, y in zip(a, b, strict=True)) / max(map(abs, a)))


@pytest.mark.parametrize("name", part(SHARE, ["arm7"]))
def test_fewer_operations(name: str) -> None:
    model = import_module(f"kanecore.gallery.{name}").build()
    plain, handed = derivation(model), derivation(model)
    plain.formulation.recursions.regrouped = None
    before, after = (count_in_call(d.graph, d.kernel("udot").roots) for d in (plain, handed))
    assert after <= SHARE[name] * before


QUICK = ["biped", "rrp", "gyroscope"]


@pytest.mark.parametrize("name", part(["arm7", "stewart", "cart_pendulum", *QUICK], QUICK))
def test_nothing_changes(name: str) -> None:
    assert difference(derivation(import_module(f"kanecore.gallery.{name}").build())) < 1e-30


def test_a_link_keeps_what_moves_with_it() -> None:
    """Planar 2R: of link 2 remain m c and its inertia about the joint; link 1 has its mass at the elbow (by hand)."""
    d = derivation(import_module("kanecore.gallery.planar_2r").build())
    handed = regrouped(d.kinematics, d.formulation.tree)
    assert handed is not None
    first, second = (link for link in handed.tree.links[1:])
    assert first.mass == second.mass == 0
    roots = [first.moment[0], first.inertia[2], second.moment[0], second.inertia[2]]
    values = numbers(d, roots, random.Random(3))
    names = zip(d.description.parameters, d.description.parameter_names, strict=True)
    p = {name: values.get(d.graph.nodes[i][1], 0.0) for i, name in names}
    carried = p["m1"] * p["lc1"] + p["m2"] * p["l1"], p["I1"] + p["m1"] * p["lc1"] ** 2 + p["m2"] * p["l1"] ** 2
    expected = [*carried, p["m2"] * p["lc2"], p["I2"] + p["m2"] * p["lc2"] ** 2]
    np.testing.assert_allclose(evaluate(d.graph, roots, values), expected, rtol=1e-14)


def body(name: str, point: Any, frame: Any, mass: Any) -> me.RigidBody:
    tensor = me.inertia(frame, *sm.symbols(f"{name}xx {name}yy {name}zz {name}xy {name}yz {name}zx"))
    return me.RigidBody(name, point, frame, mass, (tensor, point))


@pytest.mark.parametrize("kind", ["ball", "universal", "slider", "weld", "tilted", "prescribed"])
def test_joints(kind: str) -> None:
    """A body on one that turns freely, by joints of several kinds: as without handing over, to 30 digits."""
    q = me.dynamicsymbols("q1:7")
    u = me.dynamicsymbols("u1:7")
    turn = me.dynamicsymbols("phi")
    n, a, b = (me.ReferenceFrame(x) for x in "NAB")
    a.orient_body_fixed(n, q[:3], "xyz")
    origin = me.Point("O")
    origin.set_vel(n, 0)
    x, y, z, c = sm.symbols("x y z c")
    joint = origin.locatenew("P", x * a.x + y * a.y + z * a.z)
    used, inputs = 3, []
    if kind == "ball":
        b.orient_body_fixed(a, q[3:6], "zxy")
        used = 6
    elif kind == "universal":
        cross = me.ReferenceFrame("C")
        cross.orient_axis(a, a.x, q[3])
        b.orient_axis(cross, cross.y, q[4])
        used = 5
    elif kind == "slider":
        b.orient_axis(a, a.z, 0)
        joint = joint.locatenew("S", q[3] * a.y)
        used = 4
    elif kind == "weld":
        b.orient_axis(a, a.x, sm.pi / 3)
    elif kind == "tilted":
        b.orient_axis(a, a.x + 2 * a.y, q[3])
        used = 4
    else:
        b.orient_axis(a, a.y, turn)
        inputs = [turn, turn.diff(), turn.diff().diff()]
    centre = joint.locatenew("Bc", c * b.x + 2 * c * b.y - c * b.z)
    bodies = [body("a", origin.locatenew("Ac", c * a.x - z * a.y + y * a.z), a, sm.Symbol("ma"))]
    bodies.append(body("b", centre, b, sm.Symbol("mb")))
    q, u = q[:used], u[:used]
    loads = [(each.masscenter, -sm.Symbol("g") * each.mass * n.z) for each in bodies]
    model = kc.Model(n, q, u, [x.diff() - w for x, w in zip(q, u, strict=True)], bodies=bodies, forcelist=loads,
                     inputs=inputs)  # fmt: skip
    assert difference(derivation(model)) < 1e-30


def test_an_orientation_that_is_not_followed_hands_over_nothing() -> None:
    """A body whose angular velocity is not that of its attitude has no axis that is fixed in both."""
    q, u = me.dynamicsymbols("q"), me.dynamicsymbols("u")
    n, a = me.ReferenceFrame("N"), me.ReferenceFrame("A")
    a.orient_axis(n, n.z, q)
    a.set_ang_vel(n, 2 * u * n.z)
    origin = me.Point("O")
    origin.set_vel(n, 0)
    centre = origin.locatenew("C", sm.Symbol("l") * a.x)
    with pytest.warns(kc.KanecoreWarning):
        model = kc.Model(n, [q], [u], [q.diff() - u], bodies=[body("a", centre, a, sm.Symbol("m"))])
    d = derivation(model)
    assert d.formulation.tree is None or regrouped(d.kinematics, d.formulation.tree) is None


def extreme(seed: int) -> tuple[kc.Model, dict[str, float]]:
    """A tree of five bodies of masses 1e-6 to 1e6 and lengths 1e-2 to 1e2, each a rod in some direction."""
    draw, links = random.Random(seed), []
    for _ in range(5):
        mass, length = 10 ** draw.uniform(-6, 6), 10 ** draw.uniform(-2, 2)
        second = [1e-6, 1e-6, 1e-6]
        second[draw.randrange(3)] = 1.0
        x, y, z = (mass * length**2 * 10 ** draw.uniform(-2, 0) * s for s in second)
        centre, offset = (tuple(length * draw.uniform(-1, 1) for _ in range(3)) for _ in range(2))
        seat, axis = draw.choice(["x y z", "x z -y", "-z y x", "y z x"]), draw.choice("xyz")
        links.append(Link(offset, seat, axis, mass, centre, (y + z, z + x, x + y, 0, 0, 0)))
    arm = tree(links, [0, 1, 2, 2, 3])
    model = kc.Model(arm.frame, arm.q, arm.u, arm.kd_eqs, bodies=arm.bodies, forcelist=arm.loads, inputs=arm.torques)
    return model, parameters(links)


@pytest.mark.filterwarnings("ignore:no solid body can have")
@pytest.mark.parametrize("seed", every(2, range(4)))
def test_digits(seed: int) -> None:
    """With masses of very different size M and f keep the digits that they have from the bodies as they are."""
    model, given = extreme(seed)
    d = derivation(model)
    plain, handed = both(d)
    for state in range(3):
        values = numbers(d, [*plain, *handed], random.Random(100 * seed + state), given)
        with mpmath.workdps(60):
            exact = np.array(evaluate(d.graph, plain, values, mpmath.mp), float)
        size = np.sqrt(np.abs(np.diag(exact[:25].reshape(5, 5))))
        scale = np.concatenate([np.outer(size, size).ravel(), np.abs(exact[25:])])
        before, after = (np.abs(np.array(evaluate(d.graph, x, values)) - exact) / scale for x in (plain, handed))
        assert np.max(after) < 30 * max(np.max(before), 1e-15)
