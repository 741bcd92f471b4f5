# SPDX-License-Identifier: BSD-3-Clause
"""Linearizations of trees of joints: closed recursions against the graph's calculus, and which models have them."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
import sweep
import sympy as sm
import sympy.physics.mechanics as me
from oracle.precise import Precise, jacobian
from sweep import every, part

import kanecore as kc
from kanecore.derive import linearized_equations
from kanecore.derive.recursions.joint_tree_derivatives import forest
from kanecore.emit.kernel_groups import Groups
from kanecore.gallery import arm7, cart_pendulum, tree30
from kanecore.program import way_to_solve

AGREE = 1e-11
t = me.dynamicsymbols._t


def both(
    monkeypatch: pytest.MonkeyPatch, build: Callable[[], kc.Model], parameters: Mapping[str, float], states: np.ndarray
) -> np.ndarray:
    """∂ẋ/∂(x, r) at some states; the recursions and the graph's calculus agree on it, along unit quaternions."""
    results, operations = [], []
    monkeypatch.setattr(linearized_equations, "UNROLLED", 10**9)
    for joint, cc in ((-(10**9), None), (10**9, "none")):
        monkeypatch.setattr(linearized_equations, "JOINT", joint)
        dyn = kc.compile(build(), parameters=parameters, cc=cc, cache=False)
        assert cc or dyn.info["machine"] or "kc_linearize_forest" in _text(dyn)
        dyn.build("linearize")
        operations.append(dyn.info["operations"]["linearize"])
        r = np.random.default_rng(0).uniform(-1, 1, dyn.n_r)
        x = states if states.shape[-1] == dyn.n_x else some_unit_states(dyn)
        A, B = dyn.linearize(0.0, x, r=r)
        for unit in map(list, dyn.unit):
            A[..., unit] -= (A[..., unit] @ x[:, unit, None]) * x[:, None, unit]
        results.append(np.concatenate([A, B], axis=-1))
    assert operations[0] != operations[1]
    recursive, written = results
    size = np.abs(written).max(axis=(-2, -1), keepdims=True)
    assert np.abs(recursive - written).max() <= AGREE * size.max()
    return written


def _text(dyn: kc.CompiledModel) -> str:
    dyn.build("linearize")
    return dyn.source["linearize"]


def some_states(n: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (3, 2 * n))


def some_unit_states(dyn: kc.CompiledModel, number: int = 3) -> np.ndarray:
    x = np.random.default_rng(1).uniform(-1, 1, (number, dyn.n_x))
    for unit in map(list, dyn.unit):
        x[:, unit] /= np.linalg.norm(x[:, unit], axis=1, keepdims=True)
    return x


def axes(frame: me.ReferenceFrame) -> tuple[me.Vector, me.Vector, me.Vector]:
    return frame.x, frame.y, frame.z


class Tree:
    """Joints added one by one; each is (parent, "turn" or "slide", axis), bodies with full inertia tensors."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.ground = me.ReferenceFrame("N")
        self.origin = me.Point("O")
        self.origin.set_vel(self.ground, 0)
        self.places: list[tuple[me.ReferenceFrame, me.Point]] = [(self.ground, self.origin)]
        self.bodies: list[object] = []
        self.loads: list[tuple[object, object]] = []
        self.q: list[sm.Expr] = []
        self.u: list[sm.Expr] = []
        self.rates: list[sm.Expr] = []

    def number(self, low: float = 0.3, high: float = 1.5) -> sm.Float:
        return sm.Float(self.rng.uniform(low, high))

    def vector(self, frame: me.ReferenceFrame) -> me.Vector:
        return sum((self.number(-1, 1) * e for e in axes(frame)), me.Vector(0))

    def add(self, parent: int, kind: str, axis: int, mass: object = None) -> int:
        """A joint, and a body behind it."""
        frame, point = self.places[parent]
        i = len(self.q) + 1
        q, u = me.dynamicsymbols(f"q{i}"), me.dynamicsymbols(f"u{i}")
        self.q.append(q)
        self.u.append(u)
        self.rates.append(q.diff() - u)
        joint = point.locatenew(f"P{i}", self.vector(frame))
        joint.v2pt_theory(point, self.ground, frame)
        own = me.ReferenceFrame(f"B{i}")
        if kind == "turn":
            fixed = frame.orientnew(f"F{i}", "Axis", (self.number(), axes(frame)[(axis + 1) % 3]))
            own.orient_axis(fixed, axes(fixed)[axis], q)
            own.set_ang_vel(frame, u * axes(fixed)[axis])
            end = joint
        else:
            own.orient_axis(frame, axes(frame)[(axis + 1) % 3], self.number())
            end = joint.locatenew(f"S{i}", q * axes(frame)[axis])
            end.set_vel(
                self.ground,
                joint.vel(self.ground)
                + u * axes(frame)[axis]
                + frame.ang_vel_in(self.ground).cross(q * axes(frame)[axis]),
            )
        return self._carry(own, end, mass)

    def free(self, attitude: str = "angles", inertial: bool = False) -> int:
        """A body that moves freely, with a velocity in its own axes or in inertial ones."""
        i = len(self.q) + 1
        x, u = me.dynamicsymbols(f"x{i}:{i + 3}"), me.dynamicsymbols(f"v{i}:{i + 3}")
        own = me.ReferenceFrame(f"B{i}")
        end = self.origin.locatenew(f"S{i}", sum((a * e for a, e in zip(x, self.ground, strict=True)), me.Vector(0)))
        self.q += x
        self.u += u
        first = len(self.rates)
        self._turn(own, self.ground, attitude)
        slides = sum((a * e for a, e in zip(u, self.ground if inertial else own, strict=True)), me.Vector(0))
        self.rates[first:first] = [a.diff() - slides.dot(e) for a, e in zip(x, self.ground, strict=True)]
        end.set_vel(self.ground, slides)
        return self._carry(own, end)

    def ball(self, parent: int, attitude: str = "angles") -> int:
        """A ball joint."""
        frame, point = self.places[parent]
        i = len(self.q) + 1
        own = me.ReferenceFrame(f"B{i}")
        joint = point.locatenew(f"P{i}", self.vector(frame))
        joint.v2pt_theory(point, self.ground, frame)
        self._turn(own, frame, attitude)
        return self._carry(own, joint)

    def _turn(self, own: me.ReferenceFrame, frame: me.ReferenceFrame, attitude: str) -> None:
        """Angles, in one frame or two, or a quaternion, with ω in own axes; "123" and "space" with rates of angles."""
        i = len(self.q) + 1
        u = me.dynamicsymbols(f"u{i}:{i + 3}")
        q = me.dynamicsymbols(f"e{i}_:4" if attitude == "quaternion" else f"q{i}:{i + 3}")
        if attitude == "quaternion":
            own.orient_quaternion(frame, q)
            self.rates += me.kinematic_equations(u, q, "quaternion")
        elif attitude == "space":
            own.orient_space_fixed(frame, q, "313")
        elif attitude == "frames":
            own.orient_body_fixed(frame.orientnew(f"F{i}", "Axis", (q[0], frame.x)), (q[1], q[2], 0), "231")
        else:
            own.orient_body_fixed(frame, q, "123")
        if attitude in ("123", "space"):
            self.rates += [a.diff() - b for a, b in zip(q, u, strict=True)]
        else:
            if attitude != "quaternion":
                turns = own.ang_vel_in(frame)
                self.rates += [turns.dot(e) - x for e, x in zip(own, u, strict=True)]
            own.set_ang_vel(frame, sum((x * e for x, e in zip(u, own, strict=True)), me.Vector(0)))
        self.q += q
        self.u += u

    def _carry(self, own: me.ReferenceFrame, end: me.Point, mass: object = None) -> int:
        """A body behind a joint, the number of its place."""
        i = len(self.places)
        centre = end.locatenew(f"C{i}", self.vector(own))
        inertia = me.inertia(own, *(self.number(1, 2) for _ in range(3)), *(self.number(-0.2, 0.2) for _ in range(3)))
        mass = self.number() if mass is None else mass
        self.bodies.append(me.RigidBody(f"body{i}", centre, own, mass, (inertia, centre)))
        self.loads.append((centre, -9.81 * mass * self.ground.y + 0.3 * mass * self.ground.x))
        self.places.append((own, end))
        return i

    def model(self, speeds: Sequence[int] | None = None, **more: object) -> kc.Model:
        """The model; ``speeds`` is another order of theirs."""
        order = list(speeds or range(len(self.u)))
        return kc.Model(
            *(self.ground, self.q, [self.u[i] for i in order], self.rates),
            bodies=self.bodies,
            forcelist=self.loads,
            **more,
        )


@pytest.mark.long
@pytest.mark.compiler
@pytest.mark.parametrize("seed", every(4, range(4)))
def test_random_trees(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Branches, slides, oblique axes, another order of the speeds, springs and dampers, a torque between links."""
    tree = Tree(seed)
    rng = np.random.default_rng(seed)
    for i in range(6):
        tree.add(int(rng.integers(0, i + 1)), str(rng.choice(["turn", "turn", "slide"])), int(rng.integers(3)))
    torque = me.dynamicsymbols("T")
    tree.loads += [
        (tree.places[3][0], torque * tree.places[3][0].z),
        (tree.places[1][1], -torque * tree.q[5] * tree.ground.x - 3 * tree.u[4] ** 3 * tree.ground.y),
    ]
    order = rng.permutation(6).tolist()
    both(monkeypatch, lambda: tree.model(order, inputs=[torque]), {}, some_states(6, seed))


@pytest.mark.long
@pytest.mark.compiler
def test_trees_side_by_side_that_a_spring_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = Tree(7)
    for parent, kind, axis in ((0, "turn", 0), (1, "turn", 1), (0, "slide", 1), (3, "turn", 2), (0, "turn", 2)):
        tree.add(parent, kind, axis)
    between = tree.places[2][1].pos_from(tree.places[4][1])
    tree.loads += [(tree.places[2][1], -5 * between), (tree.places[4][1], 5 * between)]
    model = tree.model()
    found = forest(model.derivation.formulation)
    assert found is not None
    assert [len(each.speed) for each in found.trees] == [2, 2, 1]
    slopes = both(monkeypatch, tree.model, {}, some_states(5))
    assert np.abs(slopes[:, 5 + 1, 2]).min() > 0  # through the spring
    assert np.all(slopes[:, 5 + 4, :4] == 0)  # the third stands alone


@pytest.mark.long
def test_free_roots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limbs on a free body, out of order; another free body, an arm on the ground, springs, a drag, another order."""
    tree = Tree(21)
    tree.free()
    for parent, kind, axis in ((1, "turn", 0), (1, "slide", 1), (2, "turn", 2), (0, "turn", 1)):
        tree.add(parent, kind, axis)
    tree.free()
    force = me.dynamicsymbols("F")
    between = tree.places[4][1].pos_from(tree.places[6][1])
    tree.loads += [(tree.places[4][1], -5 * between), (tree.places[6][1], 5 * between)]
    tree.loads += [(tree.places[1][1], force * tree.places[1][0].x - 0.3 * tree.u[4] * tree.ground.z)]
    order = np.random.default_rng(2).permutation(len(tree.u)).tolist()
    model = tree.model(order, inputs=[force])
    found = forest(model.derivation.formulation)
    assert found is not None
    assert sorted((each.free, len(each.speed)) for each in found.trees) == [(0, 1), (3, 6), (3, 9)]
    both(monkeypatch, lambda: tree.model(order, inputs=[force]), {}, some_states(len(tree.u)))


@pytest.mark.parametrize(
    ("attitude", "inertial"),
    part(
        [(a, i) for a in ("quaternion", "angles", "frames", "123", "space") for i in (True, False) if i or len(a) > 5],
        [("frames", False)],
    ),
)
def test_ball_joints(monkeypatch: pytest.MonkeyPatch, attitude: str, inertial: bool) -> None:
    """On a free body with a velocity in inertial axes or in its own, on a limb of it and, which is long, on the ground.

    A limb that slides, forces between trees, one of them an input, and speeds in another order.
    """
    tree = Tree(22)
    tree.free(attitude, inertial)
    tree.add(1, "turn", 0)
    tree.ball(2, attitude)
    tree.add(3, "turn", 1)
    tree.add(1, "slide", 2)
    if sweep.LONG:
        tree.ball(0, attitude)
    else:
        tree.add(0, "turn", 1)
    end, other, force = tree.places[4][1], tree.places[6][1], me.dynamicsymbols("F")
    between = end.pos_from(other)
    tree.loads += [(end, -5 * between - 0.3 * tree.u[4] * tree.ground.z), (other, 5 * between)]
    tree.loads.append((tree.places[1][1], force * tree.places[1][0].x))
    order = np.random.default_rng(2).permutation(len(tree.u)).tolist()
    found = forest(tree.model(order, inputs=[force]).derivation.formulation)
    assert found is not None
    assert sorted((each.free, len(each.speed)) for each in found.trees) == [(0, 3 if sweep.LONG else 1), (3, 12)]
    both(monkeypatch, lambda: tree.model(order, inputs=[force]), {}, some_states(len(tree.u)))


@pytest.mark.compiler
@pytest.mark.parametrize("attitude", part(["quaternion", "angles", "123"], ["quaternion"]))
def test_velocities_in_inertial_axes(monkeypatch: pytest.MonkeyPatch, attitude: str) -> None:
    """Against differences at 50 digits along unit quaternions, and products; with the same bits in lanes."""
    monkeypatch.setattr(linearized_equations, "JOINT", -(10**9))
    tree = Tree(31)
    tree.free(attitude, inertial=True)
    tree.add(1, "turn", 0)
    end = tree.places[2][1]
    tree.loads += [(end, -5 * end.pos_from(tree.origin) - 0.3 * tree.u[4] * tree.ground.z)]
    dyn, by_machine = kc.compile(tree.model(), cache=False), kc.compile(tree.model(), cc="none", cache=False)
    assert "kc_linearize_forest" in _text(dyn)
    states = some_unit_states(dyn, number=300)
    x, keeping = states[7], np.eye(dyn.n_x)
    for unit in map(list, dyn.unit):
        keeping[np.ix_(unit, unit)] -= np.outer(x[unit], x[unit])
    A, _ = dyn.linearize(0.0, x)
    expected = jacobian(Precise(tree.model()).rhs, (0.0, x, [], []), 1) @ keeping
    size = np.abs(expected).max()
    assert np.abs(A @ keeping - expected).max() <= 1e-13 * size
    for k in range(dyn.n_x):
        assert np.abs(by_machine.jvp("rhs", 0.0, x, keeping[k]) - expected @ keeping[k]).max() <= 1e-13 * size
        assert np.abs(by_machine.vjp("rhs", 0.0, x, np.eye(dyn.n_x)[k]) @ keeping - expected[k]).max() <= 1e-13 * size
    np.testing.assert_array_equal(dyn.linearize(0.0, states)[0][7], A)


@pytest.mark.long
@pytest.mark.compiler
def test_the_gallerys_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (arm7, tree30):
        both(monkeypatch, module.build, module.PARAMETERS, some_states(kc.load(module.__name__.split(".")[-1]).n_u))


def indefinite_tree() -> Tree:
    """Three joints; the second carries a mass of −7 kg."""
    tree = Tree(3)
    tree.add(0, "turn", 0)
    tree.add(1, "turn", 1, mass=sm.Integer(-7))
    tree.add(2, "slide", 2)
    return tree


@pytest.mark.long
@pytest.mark.compiler
@pytest.mark.filterwarnings("ignore::kanecore.KanecoreWarning")
def test_negative_masses(monkeypatch: pytest.MonkeyPatch) -> None:
    """M is regular and not positive definite: pivots are chosen by numbers."""
    tree, states = indefinite_tree(), some_states(3)
    mass_matrix = kc.compile(tree.model(), cache=False).mass_matrix(0.0, states)
    assert np.linalg.eigvalsh(mass_matrix).min() < 0
    both(monkeypatch, tree.model, {}, states)


@pytest.mark.filterwarnings("ignore::kanecore.KanecoreWarning")
def test_products_where_masses_are_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the recursions' matrices, against equations of their own, which hold no recursion."""
    tree, force, rng, found = indefinite_tree(), me.dynamicsymbols("F"), np.random.default_rng(2), []
    tree.loads.append((tree.places[3][1], force * tree.ground.z))
    x, v, dr, weights = some_states(3), rng.uniform(-1, 1, 6), rng.uniform(-1, 1, 1), rng.uniform(-1, 1, 6)
    for brief, way in ((0, "matrix_product"), (10**9, "free_product")):
        monkeypatch.setattr(way_to_solve, "BRIEF", brief)
        model = tree.model(inputs=[force])
        for kernel in ("tangent", "gradient"):
            library = Groups(model.description).library(kernel)
            library.of_kernel  # noqa: B018 (which makes the functions)
            assert library.functions.by_name[f"general_rhs_{kernel}"].solver == way
        dyn = kc.compile(model, cache=False)
        found.append([dyn.rhs_jvp(0.0, x, v, dr=dr), *dyn.rhs_vjp(0.0, x, weights, full=True)])
    for each, other in zip(*found, strict=True):
        np.testing.assert_allclose(each, other, rtol=0, atol=AGREE * np.abs(other).max())


def test_a_joint_that_moves_no_mass_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linearized_equations, "JOINT", -(10**9))
    m = sm.Symbol("m")
    tree = Tree(5)
    tree.add(0, "turn", 0)
    tree.add(1, "slide", 1, mass=m)
    tree.bodies[1] = me.Particle("bob", tree.places[2][1], m)
    tree.loads[1] = (tree.places[2][1], -9.81 * m * tree.ground.y)
    dyn = kc.compile(tree.model(), parameters={"m": 0.0}, cache=False)
    with pytest.raises(kc.SingularError, match="u2"):
        dyn.linearize(0.0, np.zeros(4))


def test_a_vehicle_far_away_is_as_exact_as_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Moments are taken about the first joint that turns: 1e7 m cost nothing."""
    monkeypatch.setattr(linearized_equations, "JOINT", -(10**9))
    tree = Tree(11)
    for parent, kind, axis in ((0, "slide", 0), (1, "slide", 1), (2, "turn", 2), (3, "turn", 0)):
        tree.add(parent, kind, axis)
    dyn = kc.compile(tree.model(), cache=False)
    near = some_states(4)
    far = near.copy()
    far[:, :2] += 1e7
    at_home, away = (np.concatenate(dyn.linearize(0.0, x), axis=-1) for x in (near, far))
    assert np.abs(at_home - away).max() <= 1e-12 * np.abs(at_home).max()


def test_models_that_are_no_such_trees() -> None:
    """Speeds that are no rates of joints, masses that change."""

    def of(mass: object = 1) -> object:
        tree = Tree(13)
        tree.add(0, "turn", 0, mass=mass)
        tree.add(1, "turn", 1)
        return forest(tree.model().derivation.formulation)

    assert of() is not None
    assert forest(cart_pendulum.build(3).derivation.formulation) is None  # angles from the horizontal
    assert of(mass=1 + me.dynamicsymbols("q1") ** 2) is None
    assert of(mass=2 + sm.sin(t)) is None
