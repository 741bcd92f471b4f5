# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of mechanisms: what is drawn is where closed forms say, in the plane of the motion, with readable names."""

import itertools
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc
from kanecore.gallery import (
    arm7,
    biped,
    cart_pendulum,
    chain40,
    double_pendulum,
    four_bar,
    gyroscope,
    kepler,
    quadrotor,
    spherical_pendulum,
    spinning_top,
    stewart,
    two_rods,
)
from kanecore.show.viewpoints import View

pytest.importorskip("matplotlib")

q, u, torque, v = me.dynamicsymbols("q u torque v")
m, length, g = sm.symbols("m l g")
VALUES = {"m": 2.0, "l": 0.5, "g": 9.81}
ANGLE = 0.4


def pendulum(axes: str = "xyz", **options: Any) -> kc.Model:
    """A bob in the plane of the first two axes, the angle from the second one's opposite; a torque about the third."""
    N = me.ReferenceFrame("N")
    _, up, normal = (getattr(N, axis) for axis in axes)
    sign = 1 if axes in ("xyz", "yzx", "zxy") else -1
    A = N.orientnew("A", "Axis", [sign * q, normal])
    A.set_ang_vel(N, sign * u * normal)
    origin, P = me.Point("O"), me.Point("P")
    origin.set_vel(N, 0)
    P.set_pos(origin, -length * getattr(A, axes[1]))
    bob = me.RigidBody("bob", P, A, m, (me.inertia(A, 0.1, 0.1, 0.1), P))
    loads = [(P, -m * g * up), (A, torque * sign * normal)]
    return kc.Model(N, [q], [u], [q.diff() - u], bodies=[bob], forcelist=loads, **options)


@pytest.fixture(scope="module")
def model() -> kc.Model:
    return pendulum()


@pytest.fixture(scope="module")
def dyn(model: kc.Model) -> kc.CompiledModel:
    return kc.compile(model, parameters=VALUES)


def lines(figure: Any) -> Iterator[np.ndarray]:
    """The data of all lines of a figure, (2 or 3, n)."""
    for line in figure.axes[0].get_lines():
        yield np.array(line.get_data_3d() if hasattr(line, "get_data_3d") else line.get_data())


def has_line(figure: Any, *points: tuple[float, ...]) -> bool:
    wanted = np.array(points, dtype=float).T
    return any(line.shape == wanted.shape and np.allclose(line, wanted, atol=1e-12) for line in lines(figure))


def arrows(figure: Any) -> list[np.ndarray]:
    return [np.column_stack([a.U, a.V]) for a in figure.axes[0].collections if hasattr(a, "U")]


def rendered(figure: Any) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure).draw()


BOB = (0.5 * np.sin(ANGLE), -0.5 * np.cos(ANGLE))


def test_a_pendulum_is_where_it_should_be(dyn: kc.CompiledModel) -> None:
    figure = dyn.draw([ANGLE, 0.0])
    ax = figure.axes[0]
    assert has_line(figure, (0.0, 0.0), BOB)  # the rod
    assert has_line(figure, BOB)  # the mass centre
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    assert [text.get_text().strip() for text in ax.texts] == ["O", "bob"]
    axes = [line for line in lines(figure) if line.shape == (2, 2) and np.allclose(line[:, 0], BOB)]
    directions = [(line[:, 1] - line[:, 0]) / np.linalg.norm(line[:, 1] - line[:, 0]) for line in axes[:2]]
    c, s = np.cos(ANGLE), np.sin(ANGLE)
    assert np.allclose(directions, [(c, s), (-s, c)])


def test_loads_are_arrows(dyn: kc.CompiledModel) -> None:
    ax = dyn.draw([ANGLE, 0.0], r={"torque": -3.0}).axes[0]
    [[force]] = arrows(ax.figure)
    assert force[0] == pytest.approx(0.0, abs=1e-15)
    assert force[1] < 0.0
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["force, largest 19.6", "torque, largest 3"]
    markers = {line.get_marker() for line in ax.get_lines()}
    assert r"$\circlearrowright$" in markers
    assert r"$\circlearrowleft$" not in markers
    assert not arrows(dyn.draw([ANGLE, 0.0], loads=False))
    assert dyn.draw([ANGLE, 0.0], p={"g": 0.0}).axes[0].get_legend() is None


def test_several_states(dyn: kc.CompiledModel) -> None:
    """All but the last are pale, and names and loads are those of the last."""
    figure = dyn.draw([[-ANGLE, 0.0], [0.0, 0.0], [ANGLE, 0.0]], [0.0, 1.0, 2.0])
    assert has_line(figure, (0.0, 0.0), BOB)
    assert has_line(figure, (0.0, 0.0), (-BOB[0], BOB[1]))
    rods = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) == 2 and line.get_linewidth() > 2]
    opacity = {round(float(rod.get_xdata()[1]), 6): rod.get_alpha() for rod in rods if rod.get_ydata()[1] < -0.1}
    assert [alpha for _, alpha in sorted(opacity.items())] == [0.25, 0.25, 1.0]
    [_, text] = figure.axes[0].texts
    assert text.get_position() == pytest.approx(BOB)
    states = [[-ANGLE, 0.0], [ANGLE, 0.0]]
    for ax in (
        dyn.draw(states, r=[[0.0], [2.0]], p=[[9.81, 1.0, 2.0], [9.81, 0.5, 2.0]]).axes[0],
        dyn.draw({"q": [-ANGLE, ANGLE]}, r={"torque": [0.0, 2.0]}, p={"l": [1.0, 0.5]}).axes[0],
    ):
        assert has_line(ax.figure, (0.0, 0.0), (-2 * BOB[0], 2 * BOB[1]))
        assert has_line(ax.figure, (0.0, 0.0), BOB)
        assert [t.get_text() for t in ax.get_legend().get_texts()] == ["force, largest 19.6", "torque, largest 2"]


def test_parameters_and_inputs_of_one_call(dyn: kc.CompiledModel) -> None:
    long = (1.0 * np.sin(ANGLE), -1.0 * np.cos(ANGLE))
    assert has_line(dyn.draw([ANGLE, 0.0], p={"l": 1.0}), (0.0, 0.0), long)
    assert dyn.parameters["l"] == VALUES["l"]


@pytest.mark.parametrize("axes", ["".join(axes) for axes in itertools.permutations("xyz")])
def test_the_plane_of_the_motion_is_found(axes: str) -> None:
    figure = pendulum(axes).draw({"q": ANGLE}, VALUES)
    ax = figure.axes[0]
    shown = "".join(sorted(axes[:2]))
    assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(shown)
    assert has_line(figure, (0.0, 0.0), BOB if shown == axes[:2] else BOB[::-1])


@pytest.mark.parametrize(
    ("module", "planar"),
    [(four_bar, "xy"), (biped, "xz"), (chain40, "xy"), (spherical_pendulum, ""), (gyroscope, ""), (two_rods, "")],
)
def test_plane_or_space(module: Any, planar: str) -> None:
    model = module.build()
    angles = dict.fromkeys(model.description.coordinate_names, 0.3)
    ax = model.draw(getattr(module, "STATE", angles), module.PARAMETERS).axes[0]
    assert (ax.name == "3d") == (not planar)
    if planar:
        assert ax.get_xlabel() + ax.get_ylabel() == planar


def test_a_motion_beside_the_origin_is_planar() -> None:
    """Two bobs swing in parallel planes, the base moves: no point leaves its plane."""
    N, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(N, 0)
    base = origin.locatenew("base", sm.sin(3 * me.dynamicsymbols._t) * N.x + 3 * N.z)
    bobs = []
    for name, angle, depth in (("one", q, 0), ("two", torque, length)):
        arm = N.orientnew(name, "Axis", [angle, N.z])
        bobs.append(me.Particle(name, base.locatenew(name, length * arm.x + depth * N.z), m))
    model = kc.Model(N, [q, torque], [u, v], [q.diff() - u, torque.diff() - v], bodies=bobs)
    ax = model.draw({"q": 0.3}, {"l": 0.5}, t=0.2).axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    turned = [me.Particle("bob", base.locatenew("P", length * (sm.cos(q) * N.x + sm.sin(q) * N.y + q * N.z)), m)]
    assert kc.Model(N, [q], [u], [q.diff() - u], bodies=turned).draw().axes[0].name == "3d"


def test_model_and_compiled_model_draw_the_same(model: kc.Model, dyn: kc.CompiledModel) -> None:
    ours, theirs = (list(lines(f)) for f in (model.draw([ANGLE, 0.0], VALUES), dyn.draw([ANGLE, 0.0])))
    assert len(ours) == len(theirs)
    assert all(np.allclose(a, b, atol=1e-14) for a, b in zip(ours, theirs, strict=True))


def test_a_model_is_drawn_without_any_number(model: kc.Model) -> None:
    assert has_line(model.draw(), (0.0, 0.0), (0.0, -1.0))
    assert has_line(model.draw({q: ANGLE}, {length: 0.5}), (0.0, 0.0), BOB)
    assert has_line(pendulum(guess={"q": ANGLE}).draw(None, VALUES), (0.0, 0.0), BOB)


@pytest.mark.parametrize(
    ("module", "state"), [(four_bar, four_bar.STATE), (stewart, stewart.STATE), (arm7, {"q2": 0.9, "q4": -1.2})]
)
def test_a_metre_is_as_long_in_all_directions(module: Any, state: dict[str, float]) -> None:
    ax = module.build().draw(state, module.PARAMETERS).axes[0]
    ax.figure.draw_without_rendering()
    if ax.name == "3d":
        ranges = np.array([np.ptp(limits) for limits in (ax.get_xlim(), ax.get_ylim(), ax.get_zlim())])
        assert np.allclose(ranges / ax._box_aspect, (ranges / ax._box_aspect)[0])
    else:
        origin, x, y = ax.transData.transform([(0, 0), (1, 0), (0, 1)])
        assert x[0] - origin[0] == pytest.approx(y[1] - origin[1])


@pytest.mark.parametrize(
    ("module", "angle", "named"),
    [
        pytest.param(arm7, 0.5, 8, id="arm7"),
        pytest.param(chain40, 0.06, 8, id="chain40", marks=pytest.mark.long),
        pytest.param(biped, 0.2, 6, id="biped"),
    ],
)
def test_names_do_not_overlap(module: Any, angle: float, named: int) -> None:
    from matplotlib.text import Text
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    model = module.build()
    figure = model.draw(dict.fromkeys(model.description.coordinate_names, angle), module.PARAMETERS)
    rendered(figure)
    for text in figure.axes[0].texts:
        if hasattr(text, "get_position_3d"):  # which knows its place in the figure only while it is drawn
            Text.set_position(text, proj_transform(*text.get_position_3d(), figure.axes[0].get_proj())[:2])
    boxes = [Text.get_window_extent(text) for text in figure.axes[0].texts]
    assert len(boxes) >= named
    for a, b in itertools.combinations(boxes, 2):
        common = max(0.0, min(a.x1, b.x1) - max(a.x0, b.x0)) * max(0.0, min(a.y1, b.y1) - max(a.y0, b.y0))
        assert common <= 0.15 * min(a.width * a.height, b.width * b.height)


def overlap(a: Any, b: Any) -> bool:
    return bool(min(a.x1, b.x1) > max(a.x0, b.x0) + 1.0 and min(a.y1, b.y1) > max(a.y0, b.y0) + 1.0)


@pytest.mark.parametrize(
    ("module", "view"), [(spinning_top, (20, -65)), (spherical_pendulum, (15, -65)), (two_rods, (20, 30, "-x"))]
)
def test_axes_in_space_are_readable(module: Any, view: tuple[Any, ...]) -> None:
    """Of what is tall and narrow: the names of the axes are in the figure, their numbers do not overlap."""
    model = module.build()
    figure = model.draw(dict.fromkeys(model.description.coordinate_names, 0.02), module.PARAMETERS, view=view)
    rendered(figure)
    axes = [figure.axes[0].xaxis, figure.axes[0].yaxis, figure.axes[0].zaxis]
    for axis in axes:
        name = axis.label.get_window_extent()
        assert figure.bbox.count_contains(name.corners()) == 4, axis.label.get_text()
        numbers = [number.get_window_extent() for number in axis.get_majorticklabels()]
        assert not any(overlap(a, b) for a, b in itertools.pairwise(numbers)), axis.label.get_text()


@pytest.mark.parametrize("module", [biped, four_bar, cart_pendulum])
def test_names_are_in_the_picture(module: Any) -> None:
    model = module.build()
    angles = dict.fromkeys(model.description.coordinate_names, 0.3)
    figure = model.draw(getattr(module, "STATE", angles), module.PARAMETERS)
    rendered(figure)
    ax = figure.axes[0]
    assert ax.texts
    for text in ax.texts:
        assert ax.bbox.count_contains(text.get_window_extent().corners()) == 4, text.get_text()


def test_names_keep_off_lines(dyn: kc.CompiledModel) -> None:
    """The origin's name is on the other side of it, however long the line is."""
    for angle in (np.pi / 2, -np.pi / 2):
        origin = dyn.draw([angle, 0.0], p={"l": 1e3}).axes[0].texts[0]
        assert origin.get_ha() == ("right" if angle > 0.0 else "left")


def test_views(dyn: kc.CompiledModel) -> None:
    figure = dyn.draw([ANGLE, 0.0], view="y-x")
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("y", "−x")
    assert has_line(figure, (0.0, 0.0), (BOB[1], -BOB[0]))
    ax = dyn.draw([ANGLE, 0.0], view=(30, 40)).axes[0]
    assert (ax.name, ax.elev, ax.azim) == ("3d", 30.0, 40.0)
    assert dyn.draw([ANGLE, 0.0], view=(np.int64(30), np.float32(40.0))).axes[0].azim == 40.0
    for wrong in (
        "x",
        "xx",
        "x-x",
        "xyz",
        "ab",
        (1.0,),
        (np.nan, 0.0),
        3,
        (1, 2, 3),
        (1, 2, "u"),
        ("x", "y"),
        (1, "z"),
    ):
        with pytest.raises(ValueError, match="view is"):
            dyn.draw([ANGLE, 0.0], view=wrong)


@pytest.mark.parametrize("up", ["x", "y", "z", "-x", "-y", "-z"])
def test_up_is_up(up: str) -> None:
    """In the picture of matplotlib, and in the same directions by `View.basis`, which the page of a film uses."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    model = spherical_pendulum.build()
    ax = model.draw({"theta": 0.7}, spherical_pendulum.PARAMETERS, view=(20, 30, up)).axes[0]
    ax.set_proj_type("ortho")
    basis = View((), 20.0, 30.0, up).basis
    assert np.allclose(basis @ basis.T, np.eye(3))
    assert np.linalg.det(basis) == pytest.approx(1.0)
    centre = np.array([np.mean(limits) for limits in (ax.get_xlim(), ax.get_ylim(), ax.get_zlim())])
    places = centre + 0.1 * np.vstack([np.zeros(3), np.eye(3)])
    x, y, _ = proj_transform(*places.T, ax.get_proj())
    seen = np.stack([x, y])[:, 1:] - np.stack([x, y])[:, :1]
    assert np.allclose(seen / np.linalg.norm(seen), basis[:2] / np.linalg.norm(basis[:2]), atol=1e-9)
    vertical, sign = "xyz".index(up[-1]), -1 if up[0] == "-" else 1
    assert sign * basis[1, vertical] == pytest.approx(np.cos(np.radians(20.0)))
    assert sign * basis[2, vertical] == pytest.approx(np.sin(np.radians(20.0)))


def test_axes_of_the_user(dyn: kc.CompiledModel) -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    flat, space = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")
    assert dyn.draw([ANGLE, 0.0], ax=flat) is figure
    assert flat.get_lines()
    dyn.draw([ANGLE, 0.0], ax=space, view=(20, 30), labels=False)
    assert not [text for text in space.texts if text.get_text().strip()]
    part = figure.subfigures(1, 2)[1].add_subplot()
    assert dyn.draw([ANGLE, 0.0], ax=part) is figure
    assert [text.get_text().strip() for text in part.texts] == ["O", "bob"]
    polar = figure.add_subplot(projection="polar")
    for ax, view in ((flat, (20, 30)), (space, None), (polar, None), (polar, (20, 30))):
        with pytest.raises(ValueError, match="ax does not suit"):
            dyn.draw([ANGLE, 0.0], ax=ax, view=view)


def test_names_are_text() -> None:
    """No name is read as a formula, not even one that is none."""
    N, P = me.ReferenceFrame("N"), me.Point("P")
    P.set_vel(N, u * N.x)
    for name in ("$\\frac", "a_b^c$", "<b>&", "ü"):
        model = kc.Model(N, [q], [u], [q.diff() - u], bodies=[me.Particle(name, P, m)])
        figure = model.draw()
        rendered(figure)
        assert [text.get_text().strip() for text in figure.axes[0].texts] == [name]


def test_what_cannot_be_drawn(model: kc.Model, dyn: kc.CompiledModel, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ([ANGLE], [[[ANGLE, 0.0]]], np.zeros((0, 2))):
        with pytest.raises(ValueError, match="x has shape"):
            dyn.draw(wrong)
    with pytest.raises(ValueError, match="finite"):
        dyn.draw([np.nan, 0.0])
    with pytest.raises(ValueError, match=r"t has shape \(2,\), expected \(\) or \(1,\), a time for each state"):
        dyn.draw([ANGLE, 0.0], [0.0, 1.0])
    with pytest.raises(ValueError, match="t is nan"):
        model.draw(t=np.nan)
    for value in ("a", [1.0, 2.0], 1j):
        with pytest.raises(TypeError, match=r"x\['q'\] is .*: it must be a number"):
            model.draw({"q": value})
    with pytest.raises(ValueError, match="x has shape"):
        model.draw([ANGLE])
    with pytest.raises(ValueError, match="finite"):
        model.draw({"q": np.inf})
    with pytest.raises(KeyError, match="no coordinate or speed of the model is called 'Q'; did you mean 'q'"):
        model.draw({"Q": 1.0})
    with pytest.raises(KeyError, match="no input of the model is called 'torq'; did you mean 'torque'"):
        model.draw(r={"torq": 1.0})
    with pytest.raises(KeyError, match="no parameter of the model is called 'mass'"):
        model.draw(parameters={"mass": 1.0})
    with pytest.raises(ValueError, match="parameter"):
        kc.compile(model).draw([ANGLE, 0.0])
    with pytest.raises(TypeError, match="ax is 3"):
        dyn.draw([ANGLE, 0.0], ax=3)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        dyn.draw([ANGLE, 0.0])


def test_the_plane_is_found_in_any_units() -> None:
    """What is defined for lengths below a nanometre alone is drawn there, and what moves in space in millions of km."""
    N, origin, P = me.ReferenceFrame("N"), me.Point("O"), me.Point("P")
    origin.set_vel(N, 0)
    P.set_pos(origin, q * N.x + sm.sqrt(length**2 - q**2) * N.y)
    bead = kc.Model(N, [q], [u], [q.diff() - u], bodies=[me.Particle("P", P, m)])
    for figure in (
        bead.draw({"q": 3e-10}, {"l": 5e-10}),
        kc.compile(bead, parameters={"m": 1.0, "l": 5e-10}).draw([3e-10, 0.0]),
    ):
        assert any(np.allclose(line, [[0.0, 3e-10], [0.0, 4e-10]], atol=1e-20) for line in lines(figure))
    P = origin.locatenew("P", q * N.x + torque * N.z)
    far = kc.Model(N, [q, torque], [u, v], [q.diff() - u, torque.diff() - v], bodies=[me.Particle("P", P, m)])
    assert far.draw({"q": 1e12, "torque": 0.0}).axes[0].get_ylabel() == "z"


def test_a_state_without_positions() -> None:
    N, origin, P = me.ReferenceFrame("N"), me.Point("O"), me.Point("P")
    origin.set_vel(N, 0)
    P.set_pos(origin, 1 / q * N.x)
    model = kc.Model(N, [q], [u], [q.diff() - u], bodies=[me.Particle("P", P, m)])
    with pytest.raises(kc.ModelError, match="no positions at this state"):
        model.draw()
    assert has_line(model.draw({"q": 2.0}), (0.0, 0.0), (0.5, 0.0))


def test_loads_that_are_not_defined_are_not_asked_for() -> None:
    """At the centre of attraction the force has no direction; the bodies are somewhere all the same."""
    model, dyn = kepler.build(), kc.load("kepler")
    for draw in (lambda **options: dyn.draw(np.zeros(4), **options), model.draw):
        assert draw(loads=False).axes[0].texts
        with pytest.raises(kc.KanecoreError, match=r"load.vectors"):
            draw()


def test_quaternions_that_turn_nothing() -> None:
    """No body is drawn at another size, or as a point."""
    model, dyn = quadrotor.build(), kc.load("quadrotor")
    for x in (np.zeros(dyn.n_x), {"e0": 2.0}, {"e0": 1.0, "e1": 0.5}):
        with pytest.raises(kc.ModelError, match=r"the axes of 'body' are not of length 1 .* quaternion in x must have"):
            dyn.draw(x)
        with pytest.raises(kc.ModelError, match="the axes of 'body' are not of length 1"):
            model.draw(x, quadrotor.PARAMETERS)
    assert dyn.draw({"e0": 0.6, "e1": 0.8}).axes[0].name == "3d"
    assert dyn.draw({"e0": 1.001}).axes[0].name == "3d"


def test_a_lagrangian_has_no_positions() -> None:
    L = m * q.diff() ** 2 / 2
    model = kc.Model.from_lagrangian(L, [q])
    with pytest.raises(kc.ModelError, match="a Lagrangian has no positions"):
        model.draw()
    with pytest.raises(kc.ModelError, match="a Lagrangian has no positions"):
        kc.compile(model, parameters={"m": 1.0}).draw([0.0, 0.0])
    N, origin, P = me.ReferenceFrame("N"), me.Point("O"), me.Point("P")
    origin.set_vel(N, 0)
    P.set_pos(origin, q * N.x)
    shown = kc.Model.from_lagrangian(L, [q], frame=N, points=[P])
    assert has_line(shown.draw({"q": 0.7}), (0.0, 0.0), (0.7, 0.0))
    assert has_line(kc.compile(shown, parameters={"m": 1.0}).draw([0.7, 0.0]), (0.0, 0.0), (0.7, 0.0))


def test_no_line_leads_to_what_moves_freely() -> None:
    """A quadrotor hangs on nothing; its rotors are held by its body, and the bobs of a pendulum by each other."""
    flying = quadrotor.build().draw({"x": 1.0, "y": 2.0, "z": 3.0}, quadrotor.PARAMETERS)
    pairs = [line for line in lines(flying) if line.shape == (3, 2)]
    assert not [line for line in pairs if not line[:, 0].any() and line[:, 1].any()]
    assert len([line for line in pairs if np.allclose(line[:, 0], (1.0, 2.0, 3.0))]) == 4 + 3  # rotors, axes
    bobs = double_pendulum.build().draw({"q1": 0.3, "q2": 0.5}, {"l": 1.0})
    first = (np.sin(0.3), -np.cos(0.3))
    assert has_line(bobs, (0.0, 0.0), first)
    assert has_line(bobs, first, (first[0] + np.sin(0.5), first[1] - np.cos(0.5)))
    with_two_coordinates = spherical_pendulum.build().draw({"theta": 0.7}, spherical_pendulum.PARAMETERS)
    assert [line for line in lines(with_two_coordinates) if line.shape == (3, 2) and not line[:, 0].any()]
