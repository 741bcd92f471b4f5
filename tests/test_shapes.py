# SPDX-License-Identifier: BSD-3-Clause
"""Shapes of bodies: their lines, how they are named and refused, and that no equation knows them."""

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc
from kanecore.derive.derivation import Derivation
from kanecore.describe.description import duplicate

pytest.importorskip("matplotlib")

q, u = me.dynamicsymbols("q u")
m, r, g = sm.symbols("m r g")
VALUES = {"m": 2.0, "r": 0.3, "g": 9.81}


def wheel(shapes: Any = None, key: Any = None, **options: Any) -> kc.Model:
    """A wheel of radius r that turns about a fixed axis, as a body named "wheel" or as `key` of it says."""
    N = me.ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    C = me.Point("C")
    C.set_vel(N, 0)
    body = me.RigidBody("wheel", C, A, m, (me.inertia(A, 0, 0, m * r**2 / 2), C))
    shapes = {body if key == "itself" else "wheel": shapes} if isinstance(shapes, kc.shapes.Shape) else shapes
    return kc.Model(N, [q], [u], [q.diff() - u], bodies=[body], forcelist=[(C, m * g * N.x)], shapes=shapes, **options)


def drawn(figure: Any, n: int) -> list[np.ndarray]:
    """The lines through n points or more."""
    lines = [np.array(line.get_data()) for line in figure.axes[0].get_lines()]
    return [line for line in lines if line.shape[1] >= n]


@pytest.mark.parametrize("axis", "xyz")
def test_sizes_and_axes(axis: str) -> None:
    along = "xyz".index(axis)
    for shape, radius, length in (
        (kc.shapes.Disc(0.3, axis), 0.3, 0.0),
        (kc.shapes.Cylinder(0.3, 2.0, axis), 0.3, 2.0),
        (kc.shapes.Rod(2.0, axis), 0.0, 2.0),
    ):
        points = np.concatenate(shape.lines())
        assert np.ptp(points[:, along]) == pytest.approx(length, abs=1e-15)
        across = np.delete(points, along, axis=1)
        assert np.max(np.linalg.norm(across, axis=1)) == pytest.approx(radius, abs=1e-15)
        assert np.allclose(points.max(axis=0), -points.min(axis=0))


def test_boxes_and_spheres() -> None:
    box = kc.shapes.Box(1, 2, 3).lines()
    assert np.allclose(np.abs(np.concatenate(box)), (0.5, 1.0, 1.5))
    edges = {frozenset({tuple(a), tuple(b)}) for line in box for a, b in itertools.pairwise(line)}
    assert len(edges) == 12
    assert np.allclose(np.linalg.norm(np.concatenate(kc.shapes.Sphere(0.7).lines()), axis=1), 0.7)
    ellipsoid = np.concatenate(kc.shapes.Ellipsoid(1, 2, 3).lines())
    assert np.allclose(np.linalg.norm(ellipsoid / (1, 2, 3), axis=1), 1.0)
    capsule = np.concatenate(kc.shapes.Capsule(0.2, 2.0).lines())
    onto = np.clip(capsule[:, 2], -1.0, 1.0)  # the nearest point of the axis
    assert np.allclose(np.linalg.norm(capsule - np.outer(onto, (0, 0, 1)), axis=1), 0.2)
    assert np.max(capsule[:, 2]) == pytest.approx(1.2, abs=2e-3)


@pytest.mark.parametrize("key", ["name", "itself"])
@pytest.mark.parametrize("size", [r, "r", 0.3, sm.Rational(3, 10)])
def test_a_disc_turns_with_its_body(key: str, size: Any) -> None:
    model = wheel(kc.shapes.Disc(size), key)
    for figure in (model.draw({"q": 0.4}, VALUES), kc.compile(model, parameters=VALUES).draw([0.4, 0.0])):
        [circle] = drawn(figure, 10)
        assert np.allclose(np.linalg.norm(circle, axis=0), 0.3)
        assert np.allclose(circle[:, 0], (0.3 * np.cos(0.4), 0.3 * np.sin(0.4)))


def test_sizes_follow_parameters() -> None:
    dyn = kc.compile(wheel(kc.shapes.Disc(r)), parameters=VALUES)
    for figure, radius in (
        (dyn.draw([0.0, 0.0], p={"r": 0.5}), 0.5),
        (dyn.draw([0.0, 0.0], p={r: 0.6}), 0.6),
        (dyn.draw([0.0, 0.0], p=[9.81, 2.0, 0.7]), 0.7),
        (dyn.draw([0.0, 0.0]), 0.3),
    ):
        assert np.max(drawn(figure, 10)[0]) == pytest.approx(radius)
    dyn.parameters["r"] = 0.2
    assert np.max(drawn(dyn.draw([0.0, 0.0]), 10)[0]) == pytest.approx(0.2)
    with pytest.raises(kc.ModelError, match=r"'wheel' has the size r = -1\.0"):
        dyn.draw([0.0, 0.0], p={"r": -1.0})


@pytest.mark.skipif(sm.__version__ < "1.14", reason="SymPy itself cannot pickle functions of time before 1.14")
def test_shapes_survive() -> None:
    """Pickled models, pickled compiled ones, and baked sizes."""
    model = wheel(kc.shapes.Disc(r))
    dyn, baked = (kc.compile(model, parameters=VALUES, bake=bake) for bake in (False, True))
    assert baked.parameter_names == ()
    for each in (
        pickle.loads(pickle.dumps(dyn)),
        kc.compile(pickle.loads(pickle.dumps(model)), parameters=VALUES),
        baked,
    ):
        assert np.max(drawn(each.draw([0.0, 0.0]), 10)[0]) == pytest.approx(0.3)


def test_prebuilt_models_have_theirs() -> None:
    """The gallery's disc touches the ground, its rim a radius away from the centre, wherever it has rolled to."""
    dyn = kc.load("rolling_disc")
    ax = dyn.draw(dyn.state(q1=0.3, q2=0.4, q3=0.5, q4=1.0, q5=2.0)).axes[0]
    lines = [np.array(line.get_data_3d()) for line in ax.get_lines()]
    [rim] = [line for line in lines if line.shape[1] > 10]
    centre = (rim.max(axis=1) + rim.min(axis=1)) / 2.0
    assert np.allclose(np.linalg.norm(rim - centre[:, np.newaxis], axis=0), dyn.parameters["R"], rtol=1e-3)
    assert np.min(rim[2]) == pytest.approx(0.0, abs=0.01 * dyn.parameters["R"])


def test_no_equation_knows_them() -> None:
    plain, shaped = (Derivation(duplicate(x.description)) for x in (wheel(), wheel(kc.shapes.Box(r, 1, 2))))
    for kernel in ("udot", "mass_matrix", "positions", "kinetic_energy"):
        assert plain.kernel(kernel) == shaped.kernel(kernel)
    assert plain.graph.nodes == shaped.graph.nodes


def test_what_is_refused() -> None:
    disc = kc.shapes.Disc(r)
    for shapes, message in (
        ({"whele": disc}, "shapes names 'whele', and the bodies that move are wheel; is 'wheel' meant"),
        ([disc], "shapes must be a dict"),
        ({"wheel": 0.3}, r"the shape of wheel is 0\.3, which is no shape"),
        (kc.shapes.Disc("R"), "size R, which is no parameter"),
    ):
        with pytest.raises(kc.ModelError, match=message):
            wheel(shapes)
    with pytest.raises(TypeError, match="a size of a Disc is 2\\*r"):
        kc.shapes.Disc(2 * r)
    with pytest.raises(TypeError, match="a size of a Box is None"):
        kc.shapes.Box(1, None, 2)
    for size in (0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="must be a positive length"):
            kc.shapes.Sphere(size)
    with pytest.raises(ValueError, match="axis of a Rod is 'w'"):
        kc.shapes.Rod(1, axis="w")
    with pytest.raises(ValueError, match="axis of a Rod"):
        kc.shapes.Rod(1, axis="xy")


def test_bodies_of_one_name_are_given_themselves() -> None:
    N = me.ReferenceFrame("N")
    points = [me.Point("P1"), me.Point("P2")]
    for point in points:
        point.set_vel(N, u * N.x)
    bodies = [me.Particle("bob", point, m) for point in points]
    arguments = (N, [q], [u], [q.diff() - u])
    with pytest.raises(kc.ModelError, match="2 bodies have this name"):
        kc.Model(*arguments, bodies=bodies, shapes={"bob": kc.shapes.Sphere(1)})
    model = kc.Model(*arguments, bodies=bodies, shapes={bodies[1]: kc.shapes.Sphere(1)})
    assert model.description.shapes == ((1, kc.shapes.Sphere(1)),)
    assert len(drawn(model.draw(), 10)) == 3, "the circles of a particle's sphere"
