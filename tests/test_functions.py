# SPDX-License-Identifier: BSD-3-Clause
"""Functions of coordinates that are data: streets, cams, terrains, in every kernel, against the same as expressions."""

import itertools
import pickle
from collections.abc import Callable, Collection
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, mass_point, moving_point
from scipy.interpolate import CubicSpline
from sweep import LONG, part

import kanecore as kc
from kanecore.describe.description import bake, fingerprint
from kanecore.emit.kernel_groups import emit_group
from kanecore.graph.calculus import Tangent
from kanecore.graph.evaluation import evaluate
from kanecore.graph.expression_graph import COORDINATE, Given, Graph
from kanecore.graph.sympy_bridge import FromSympy, to_sympy
from kanecore.graph.zero_tests import equal, vanish
from kanecore.kernels import KERNELS

t = me.dynamicsymbols._t
street, hills = sm.Function("street"), sm.Function("hills")
m, g, R, a, k = sm.symbols("m g R a k")
Array = npt.NDArray[np.float64]


# ---------------------------------------------------------------------------------------------------- models
def slider(height: Any, x: Any, **options: Any) -> kc.Model:
    """A bead on a wire y = f(x), pushed along x."""
    u, force = me.dynamicsymbols("u F")
    frame, origin = ground()
    bead = origin.locatenew("P", x * frame.x + height * frame.y)
    loads = [(bead, -m * g * frame.y + force * frame.x)]
    body = me.Particle("bead", bead, m)
    return kc.Model(frame, [x], [u], [x.diff() - u], bodies=[body], forcelist=loads, name="slider", **options)


def wheel(f: Callable[[Any], Any], **options: Any) -> kc.Model:
    """A disc that rolls on a street y = f(x), which it touches at x = s, and a spring that holds it.

    Its centre is R above the street along the normal, (−f', 1) / √(1 + f'²): accelerations hold f''', and so the
    linearization the f'''' that a cubic does not have.
    """
    s, theta, u, w = me.dynamicsymbols("s theta u w")
    torque = me.dynamicsymbols("T")
    frame, origin = ground()
    disc = frame.orientnew("D", "Axis", [theta, frame.z])
    slope = f(s + a).diff(s)
    along = sm.sqrt(1 + slope**2)
    centre = origin.locatenew("C", (s - R * slope / along) * frame.x + (f(s + a) + R / along) * frame.y)
    contact = centre.locatenew("Q", R * (slope * frame.x - frame.y) / along)
    contact.set_vel(frame, centre.vel(frame) + w * frame.z.cross(contact.pos_from(centre)))
    touched = origin.locatenew("T", s * frame.x + f(s + a) * frame.y)
    touched.set_vel(frame, 0)  # it is a point of the ground
    body = me.RigidBody("wheel", centre, disc, m, (me.inertia(disc, 0, 0, m * R**2 / 2), centre))
    # the centre moves along the street with R times its angular velocity; the street bends by f''/(1 + f'²)
    slip = u * along * (1 - R * slope.diff(s) / along**3) + R * w
    return kc.Model(
        *(frame, [s, theta], [u, w], [s.diff() - u, theta.diff() - w]),
        velocity_constraints={"rolling": slip},
        bodies=[body],
        forcelist=[(centre, -m * g * frame.y - k * s * frame.x), (disc, torque * frame.z)],
        points=[contact],
        attach={0: (body, contact, frame, touched, (frame.x + slope * frame.y) / along)},
        outputs={"height": f(s + a), "climb": f(s + a).diff(t), "bend": slope.diff(s)},
        name="wheel",
        **options,
    )


def cubic(x: Any) -> Any:
    return x**3 / 10 - 3 * x**2 / 10 + x / 4


def bump(x: Any) -> Any:
    """Two cubics with continuous second derivatives."""
    return cubic(x) + sm.Piecewise((x**3, x > 0), (0, True)) / 5


KNOTS = np.array([-3.0, -2.0, -1.2, -0.5, 0.0, 0.4, 1.0, 1.5, 2.2, 3.0])
NUMBERS = {"m": 2.0, "g": 9.81, "R": 0.3, "a": 0.4, "k": 5.0}


def sampled(f: Callable[[Any], Any]) -> kc.Spline:
    return kc.Spline(KNOTS, [float(f(sm.Float(x))) for x in KNOTS])


def every_kernel(
    found: kc.CompiledModel, expected: kc.CompiledModel, x: Array, tolerance: float, besides: Collection[str] = ()
) -> set[str]:
    """Compare all kernels that both models have, relative to the largest entry; the names of those."""
    rng, compared = np.random.default_rng(5), set()
    udot, r = rng.normal(size=found.n_u), rng.normal(size=found.n_r)
    for kernel in KERNELS:
        if kernel.internal or kernel.remainder_of or kernel.name in besides or found.kernels.why_not(kernel.name):
            continue
        if not found.n_auxiliary and kernel.group == "auxiliary":
            continue
        extra = [udot] if kernel.reads_udot else []
        extra += [rng.normal(size=found.n_constraints)] if kernel.reads_multipliers else []
        try:
            one, other = (np.asarray(getattr(dyn, kernel.name)(0.2, x, *extra, r=r)) for dyn in (found, expected))
        except kc.ModelError:  # one of them has none
            continue
        size = max(1.0, float(np.max(np.abs(other), initial=0.0)))
        assert np.max(np.abs(one - other), initial=0.0) <= tolerance * size, kernel.name
        compared.add(kernel.name)
    for one, other in zip(found.linearize(0.2, x, r=r), expected.linearize(0.2, x, r=r), strict=True):
        size = max(1.0, float(np.max(np.abs(other), initial=0.0)))
        assert np.max(np.abs(one - other), initial=0.0) <= tolerance * size, "linearize"
    return compared


@pytest.mark.long
@pytest.mark.parametrize("f", part([cubic, bump], [cubic]))
def test_a_wheel_on_a_street(f: Callable[[Any], Any]) -> None:
    """All kernels are those of the same street as an expression, in which a branch hides energies."""
    found = kc.compile(wheel(street, functions={street: sampled(f)}), parameters=NUMBERS)
    expected = kc.compile(wheel(f), parameters=NUMBERS)
    besides = set() if f is cubic else {"potential_energy", "hamiltonian", "power"}
    for s in (-1.1, -0.35, 0.3, 1.4):
        x = expected.consistent(0.2, [s, 0.4, 0.9, 0.0], None)
        compared = every_kernel(found, expected, x, 1e-12, besides)
        weights = np.array([0.3, -0.2, 0.9, 0.4])
        for product in ("rhs_jvp", "rhs_vjp", "rhs_hessian"):
            one, other = (getattr(dyn, product)(0.2, x, weights) for dyn in (found, expected))
            assert np.max(np.abs(one - other)) <= 1e-11 * np.max(np.abs(other)), product
    assert {"rhs", "reactions", "multipliers", "constraint_bias", "gibbs", "outputs"} <= compared


def closed_wire(height: Callable[[Any], Any], **options: Any) -> kc.Model:
    """A bead in a plane, kept on y = f(x + a) by a constraint on its coordinates."""
    x, y, u, v, force = me.dynamicsymbols("x y u v F")
    return mass_point(
        {x: u, y: v}, m, [force, -m * g], configuration_constraints={"wire": y - height(x + a)}, **options
    )


def test_a_wire_as_a_constraint() -> None:
    numbers = {name: NUMBERS[name] for name in ("m", "g", "a")}
    found = kc.compile(closed_wire(street, functions={street: sampled(cubic)}), parameters=numbers)
    expected = kc.compile(closed_wire(cubic), parameters=numbers)
    for x in (-1.1, 0.3, 4.1):  # the last one behind the knots
        compared = every_kernel(found, expected, expected.consistent(0.2, [x, 0.0, 0.9, 0.0], None), 1e-12)
    assert {"configuration_residual", "configuration_jacobian", "constraint_bias", "multipliers"} <= compared
    sol = found.simulate((0.0, 1.0), found.consistent(0.0, [0.3, 0.0, 0.0, 0.0], None))
    assert sol.constraint_drift < 1e-12


def pieces(spline: CubicSpline, x: Any) -> Any:
    """SciPy's spline in mpmath."""
    i = int(np.clip(np.searchsorted(spline.x, float(x), side="right") - 1, 0, len(spline.x) - 2))
    return mpmath.polyval([mpmath.mpf(c) for c in spline.c[:, i]], x - mpmath.mpf(spline.x[i]))


@pytest.mark.parametrize("place", [-4.2, -1.9, 0.13, 2.99, 3.7])
def test_against_mpmath(place: float) -> None:
    """u̇ and its derivatives, with f''', of a bead on a wire of random data: (1 + f'²) u̇ = F/m − f' (g + f'' u²)."""
    heights = np.random.default_rng(11).normal(size=len(KNOTS))
    x = me.dynamicsymbols("x")
    dyn = kc.compile(
        slider(street(x), x, functions={street: kc.Spline(KNOTS, heights)}), parameters={"m": 2, "g": 9.81}
    )
    theirs = CubicSpline(KNOTS, heights)
    with mpmath.workdps(40):

        def udot(x: Any, u: Any, force: Any) -> Any:
            slope, bend = (mpmath.diff(lambda s: pieces(theirs, s), x, n, h=mpmath.mpf("1e-12")) for n in (1, 2))
            return (force / 2 - slope * (mpmath.mpf(9.81) + bend * u**2)) / (1 + slope**2)

        at = [mpmath.mpf(place), mpmath.mpf(0.7), mpmath.mpf(-1.2)]
        expected = [float(udot(*at))]
        expected += [
            float(mpmath.diff(udot, at, [int(i == n) for i in range(3)], h=mpmath.mpf("1e-9"))) for n in range(3)
        ]
    state, inputs = [place, 0.7], [-1.2]
    a, b = dyn.linearize(0.0, state, r=inputs)
    found = [dyn.udot(0.0, state, r=inputs)[0], a[1, 0], a[1, 1], b[1, 0]]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


# ---------------------------------------------------------------------------------------------- two arguments
def boulder(height: Callable[[Any, Any], Any], **options: Any) -> kc.Model:
    """A particle on a terrain z = h(x, y + a), pulled by a force."""
    x, y, u, v, force = me.dynamicsymbols("x y u v F")
    frame, origin = ground()
    place = origin.locatenew("P", x * frame.x + y * frame.y + height(x, y + a) * frame.z)
    body = me.Particle("boulder", place, m)
    loads = [(place, -m * g * frame.z + force * frame.x)]
    rates = [x.diff() - u, y.diff() - v]
    return kc.Model(frame, [x, y], [u, v], rates, bodies=[body], forcelist=loads, **options)


def test_a_terrain() -> None:
    """A bicubic polynomial is reproduced, so all kernels are those of its expression; also beyond the knots."""

    def terrain(x: Any, y: Any) -> Any:
        return cubic(x) * (1 + y - y**3 / 4) + x * y**2 / 3

    grid = terrain(KNOTS[:, np.newaxis], KNOTS[np.newaxis, 1:])
    numbers = {"m": 2.0, "g": 9.81, "a": 0.4}
    found = kc.compile(boulder(hills, functions={hills: kc.Spline(KNOTS, KNOTS[1:], grid)}), parameters=numbers)
    expected = kc.compile(boulder(terrain), parameters=numbers)
    for x in ([0.2, -0.7, 0.4, 1.1], [-1.5, 1.9, -0.6, 0.3], [3.3, -2.6, 0.5, 0.5]):
        every_kernel(found, expected, np.array(x), 2e-12)


def test_a_random_terrain() -> None:
    """M = m (1 + ∇h ∇hᵀ), f = F − m ∇h (g + u·H u), with SciPy's splines of splines."""
    heights = np.random.default_rng(4).normal(size=(10, 9))
    model = boulder(hills, functions={hills: kc.Spline(KNOTS, KNOTS[1:], heights)})
    dyn = kc.compile(model, parameters={"m": 2.0, "g": 9.81, "a": 0.4})

    def theirs(i: int, j: int) -> float:
        return float(CubicSpline(KNOTS, CubicSpline(KNOTS[1:], heights, axis=1)(-0.3, j))(0.7, i))

    slope = np.array([theirs(1, 0), theirs(0, 1)])
    hessian = np.array([[theirs(2, 0), theirs(1, 1)], [theirs(1, 1), theirs(0, 2)]])
    u = np.array([0.4, -1.3])
    state = [0.7, -0.7, *u]
    np.testing.assert_allclose(dyn.mass_matrix(0, state), 2 * (np.eye(2) + np.outer(slope, slope)), rtol=1e-12)
    f = np.array([5.0, 0.0]) - 2 * slope * (9.81 + u @ hessian @ u)
    np.testing.assert_allclose(dyn.forcing(0, state, r=[5.0]), f, rtol=1e-12)


def test_mixed_derivatives_are_one_node() -> None:
    graph = Graph()
    x, y = graph.symbol("x", COORDINATE), graph.symbol("y", COORDINATE)
    node = graph.given(Given("h", kc.Spline([0, 1, 2], [0, 1], np.eye(3, 2)), (0, 0)), [x, y])
    by_x, by_y = (Tangent(graph, {s: graph.one}).of for s in (x, y))
    assert by_x(by_y(node)) == by_y(by_x(node))
    assert by_x(by_x(by_x(by_x(node)))) == 0
    assert by_y(by_x(by_x(by_x(node)))) != 0
    # of the same argument twice: the derivative along it
    twice = graph.given(Given("h", kc.Spline([0, 1, 2], [0, 1], np.eye(3, 2)), (0, 0)), [x, x])
    h = [graph.given(Given("h", kc.Spline([0, 1, 2], [0, 1], np.eye(3, 2)), k), [x, x]) for k in ((1, 0), (0, 1))]
    assert Tangent(graph, {x: graph.one}).of(twice) == graph.add(*h)


# ------------------------------------------------------------------------------------------ what they hold
def test_a_cam() -> None:
    """A follower on a cam whose angle is prescribed: its acceleration, and the force of contact that it takes."""
    angles = np.linspace(0.0, 2 * np.pi, 13)
    lift = 0.1 + 0.02 * np.cos(angles) + 0.005 * np.sin(3 * angles)
    lift[-1] = lift[0]
    cam, theta = sm.Function("cam"), me.dynamicsymbols("theta")
    x, u, held, force = me.dynamicsymbols("x u held force")
    frame, origin = ground()
    follower = origin.locatenew("A", cam(theta) * frame.y)
    follower.set_vel(frame, (cam(theta).diff(t) + held) * frame.y)
    table = follower.locatenew("B", x * frame.x)
    table.set_vel(frame, follower.vel(frame) + u * frame.x)
    model = kc.Model(
        *(frame, [x], [u], [x.diff() - u]),
        u_auxiliary=[held],
        bodies=[me.Particle("follower", follower, m), me.Particle("mass", table, m)],
        forcelist=[(follower, (force - m * g) * frame.y), (table, -k * x * frame.x - m * g * frame.y)],
        outputs={"lift": cam(theta), "speed": cam(theta).diff(t)},
        functions={cam: kc.Spline(angles, lift, bc_type="periodic")},
    )
    assert [str(r) for r in model.inputs] == ["theta(t)", "Derivative(theta(t), t)", "Derivative(theta(t), (t, 2))"]
    dyn = kc.compile(model, parameters={"m": 2.0, "g": 9.81, "k": 5.0})
    theirs = CubicSpline(angles, lift, bc_type="periodic")
    for angle in (0.3, 5.9, -1.0, 40.0):
        rate, change = 7.0, -3.0
        r = {"theta": angle, "theta_d": rate, "theta_dd": change}
        lifted = theirs(angle, 2) * rate**2 + theirs(angle, 1) * change
        np.testing.assert_allclose(dyn.auxiliary_forces(0, [0.1, 0.0], r=r), [-4 * (9.81 + lifted)], rtol=1e-11)
        expected = [theirs(angle), theirs(angle, 1) * rate]
        np.testing.assert_allclose(dyn.outputs(0, [0.1, 0.0], r=r), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.compiler
def test_functions_of_anything() -> None:
    """Of time, of an input, of a parameter, of another function, of what holds several; one table for all."""
    x, u, drive = me.dynamicsymbols("x u drive")
    spline = kc.Spline(KNOTS, np.sin(KNOTS))
    expressions = {
        "time": (street(t), lambda x, u, p, s: s(0.3)),
        "input": (street(drive), lambda x, u, p, s: s(1.2)),
        "parameter": (street(a) * street(sm.Rational(1, 2)), lambda x, u, p, s: s(0.4) * s(0.5)),
        "both": (street(x * a + t), lambda x, u, p, s: s(x * 0.4 + 0.3)),
        "speed": (street(u), lambda x, u, p, s: s(u)),
        "nested": (street(street(x)), lambda x, u, p, s: s(s(x))),
        "rate": (street(street(x)).diff(t), lambda x, u, p, s: s(s(x), nu=1) * s(x, nu=1) * u),
        "unevaluated": (sm.Derivative(street(2 * x), t), lambda x, u, p, s: 2 * s(2 * x, nu=1) * u),
        "of time": (street(t).diff(t, 2), lambda x, u, p, s: s(0.3, nu=2)),
        "partial": (street(x).diff(x), lambda x, u, p, s: s(x, nu=1)),
        "beside": (sm.Subs(street(a).diff(a), a, x + 1), lambda x, u, p, s: s(x + 1, nu=1)),
        "substituted": (sm.Subs(a * street(a), a, x), lambda x, u, p, s: x * s(x)),
    }
    model = slider(0, x, functions={street: spline}, outputs={name: e for name, (e, _) in expressions.items()})
    dyn = kc.compile(model, parameters={"m": 2.0, "g": 9.81, "a": 0.4})
    r = dict.fromkeys(dyn.input_names, 0.0) | {"drive": 1.2}
    found = dyn.outputs(0.3, [0.7, -1.1], r=r)
    for name, value in zip(dyn.output_names, found, strict=True):
        assert value == pytest.approx(float(expressions[name][1](0.7, -1.1, 0.4, spline)), rel=1e-12), name
    assert dyn.source["core"].count("static const kc_spline ") == 1
    baked = kc.compile(model, parameters={"m": 2.0, "g": 9.81, "a": 0.4}, bake=True)
    np.testing.assert_allclose(baked.outputs(0.3, [0.7, -1.1], r=r), found, rtol=1e-14)
    assert "a" in dyn.parameter_names
    assert not model.left_out


def test_second_derivatives_of_sympy() -> None:
    """Of two arguments, as far as SymPy tells these apart; a polynomial is reproduced."""
    x, y = me.dynamicsymbols("x y")
    still = {x.diff(t, 2): 0, y.diff(t, 2): 1}
    places = [(x, y), (x, 2 * y), (x + a, y), (t * x, t), (a * x, a)]
    outputs = {str(n): hills(*place).diff(t, 2).subs(still) for n, place in enumerate(places)}
    data = kc.Spline(KNOTS, KNOTS, np.outer(KNOTS**2, KNOTS**3))
    found = slider(0, x, functions={hills: data}, outputs=outputs)
    outputs = {str(n): (p**2 * q**3).diff(t, 2).subs(still) for n, (p, q) in enumerate(places)}
    expected = slider(0, x, outputs=outputs)
    values = []
    for model in (found, expected):
        dyn = kc.compile(model)
        values.append(dyn.outputs(0.3, [0.7, -1.1], r={"y": 0.9, "y_d": 1.3}, p={"a": 0.4}))
    np.testing.assert_allclose(*values, rtol=1e-12)
    for e in (hills(x + a, 2 * y).diff(t, 2), hills(x, x).diff(t), hills(x * y, x).diff(t)):
        with pytest.raises(kc.ModelError, match=r"SymPy loses .* argument of hills .* differentiate hills\(X, Y\)"):
            slider(0, x, functions={hills: data}, outputs={"lost": e.subs(still)})
    X, Y = sm.symbols("X Y")
    parts = [sm.Subs(hills(X, Y).diff(s), (X, Y), (x * y, x)) for s in (X, Y)]
    total = parts[0] * (x * y).diff(t) + parts[1] * x.diff(t)
    dyn = kc.compile(slider(0, x, functions={hills: data}, outputs={"rate": total}))
    p, q, v, w = 0.7 * 0.9, 0.7, -1.1, 1.3
    rate = 2 * p * q**3 * (v * 0.9 + 0.7 * w) + 3 * p**2 * q**2 * v
    assert dyn.outputs(0, [0.7, v], r={"y": 0.9, "y_d": w})[0] == pytest.approx(rate, rel=1e-12)


def test_the_place_is_looked_up_once() -> None:
    x = me.dynamicsymbols("x")
    text = emit_group(slider(street(x), x, functions={street: sampled(cubic)}).description, "core").text
    udot = text[text.index("static int short_udot") :]
    udot = udot[: udot.index("}\n")]
    assert udot.count("kc_locate(") == 1
    assert udot.count("kc_cubic(") == 2  # f' and f''
    assert "kc_locate" not in emit_group(slider(cubic(x), x).description, "core").text


def test_outside_without_extrapolation() -> None:
    x = me.dynamicsymbols("x")
    spline = kc.Spline(KNOTS, cubic(KNOTS), extrapolate=False)
    dyn = kc.compile(slider(street(x), x, functions={street: spline}), parameters={"m": 2.0, "g": 9.81})
    assert np.isfinite(dyn.udot(0.0, [3.0, 1.0])).all()
    with pytest.raises(kc.NonFiniteError):
        dyn.udot(0.0, [3.0000001, 1.0])
    with pytest.raises(kc.NonFiniteError):
        dyn.linearize(0.0, [-3.1, 1.0])
    assert np.isnan(dyn.udot(0.0, [np.nan, 1.0])).all()
    with pytest.raises(kc.IntegrationError):
        dyn.simulate((0.0, 1.0), [2.9, 5.0], max_steps=1000)
    with pytest.raises(kc.ModelError, match="street"):
        slider(street(sm.Integer(9)), x, functions={street: spline})


def test_flat_data() -> None:
    """Random states decide nothing of data: a street that happens to be flat is one, with all its parts."""
    x = me.dynamicsymbols("x")
    flat = kc.Spline(KNOTS, 0.0 * KNOTS)
    dyn = kc.compile(slider(street(x), x, functions={street: flat}), parameters={"m": 2.0, "g": 9.81})
    np.testing.assert_allclose(dyn.udot(0.0, [0.3, 1.0], r=[4.0]), [2.0])
    graph = Graph()
    s = graph.symbol(("q", "s"), COORDINATE)
    f, df = (graph.given(Given("f", flat, (n,)), [s]) for n in (0, 1))
    assert not vanish(graph, [f])
    assert not equal(graph, [(f, df)], otherwise=False)
    assert vanish(graph, [graph.sub(graph.mul(f, graph.mul(s, df)), graph.mul(s, graph.mul(f, df)))])
    # no relation between derivatives that single functions have: f f''' = f' f'' of a sine
    second, third = (graph.given(Given("f", flat, (n,)), [s]) for n in (2, 3))
    assert not equal(graph, [(graph.mul(f, third), graph.mul(df, second))], otherwise=False)


# ------------------------------------------------------------------------------------------- other ways in
def test_a_lagrangian() -> None:
    x = me.dynamicsymbols("x")
    height = street(x)
    lagrangian = m * (x.diff() ** 2 + height.diff(t) ** 2) / 2 - m * g * height
    found = kc.compile(
        kc.Model.from_lagrangian(lagrangian, [x], functions={street: sampled(cubic)}), parameters={"m": 2.0, "g": 9.81}
    )
    height = cubic(x)
    lagrangian = m * (x.diff() ** 2 + height.diff(t) ** 2) / 2 - m * g * height
    expected = kc.compile(kc.Model.from_lagrangian(lagrangian, [x]), parameters={"m": 2.0, "g": 9.81})
    every_kernel(found, expected, np.array([0.3, 1.1]), 1e-12)


def test_sympys_kanes_method() -> None:
    x, u = me.dynamicsymbols("x u")
    frame, origin = ground()
    bead = origin.locatenew("P", x * frame.x + street(x) * frame.y)
    bead.set_vel(frame, u * frame.x + street(x).diff(x) * u * frame.y)
    method = me.KanesMethod(frame, [x], [u], [x.diff() - u])
    body, load = me.Particle("bead", bead, m), (bead, -m * g * frame.y)
    method.kanes_equations([body], [load])
    model = kc.Model.from_kane(method, functions={street: sampled(cubic)})
    dyn = kc.compile(model, parameters={"m": 2.0, "g": 9.81})
    mass, forcing = (
        sm.lambdify((x, u), e.subs(street(x), cubic(x)).doit().subs({m: 2, g: 9.81}))
        for e in (method.mass_matrix, method.forcing)
    )
    np.testing.assert_allclose(dyn.mass_matrix(0, [0.3, 1.1]), mass(0.3, 1.1), rtol=1e-12)
    np.testing.assert_allclose(dyn.forcing(0, [0.3, 1.1]), forcing(0.3, 1.1)[0], rtol=1e-12)


def test_in_place_of_sympys_kanes_method() -> None:
    """The same M and f, with the function and its derivatives; and a model that compiles."""
    x, y, u, v = me.dynamicsymbols("x y u v")
    frame, _, bead = moving_point({x: u, y: v})
    pieces = (frame, [x], [u, v], [x.diff() - u, y.diff() - v])
    more = {"q_dependent": [y], "configuration_constraints": [y - street(x)]}
    more |= {"u_ind": [u], "u_dependent": [v], "velocity_constraints": [v - street(x).diff(x) * u]}
    body, load = me.Particle("bead", bead, m), (bead, -m * g * frame.y)
    theirs = me.KanesMethod(frame, [x], kd_eqs=pieces[3], **more)
    ours = kc.KanesMethod(frame, [x], kd_eqs=pieces[3], **more, functions={street: sampled(cubic)})
    at = {x.diff(): u, y.diff(): v}
    values = {x: 0.3, y: cubic(0.3), u: 1.1, v: 0.2, m: 2, g: 9.81}
    for method in (theirs, ours):
        method.kanes_equations([body], [load])
    for one, other in ((ours.mass_matrix, theirs.mass_matrix), (ours.forcing, theirs.forcing)):
        assert one.has(street)
        numbers = [
            np.array(e.subs(at).subs(street, sm.Lambda(a, cubic(a))).doit().subs(values), dtype=float)
            for e in (one, other)
        ]
        np.testing.assert_allclose(*numbers, rtol=1e-12)
    dyn = kc.compile(ours.model, parameters={"m": 2.0, "g": 9.81})
    slope, bend = (float(cubic(x).diff(x, n).subs(x, 0.3)) for n in (1, 2))
    state = [0.3, cubic(0.3), 1.1, slope * 1.1]
    expected = -slope * (9.81 + bend * 1.1**2) / (1 + slope**2)
    assert dyn.udot(0.0, state)[0] == pytest.approx(expected, rel=1e-12)


# --------------------------------------------------------------------------------------- symbols and texts
def test_symbolic_results_are_read_again() -> None:
    x = me.dynamicsymbols("x")
    for argument in (x, x + a, 2 * x) if LONG else (x, x + a):
        model = slider(street(argument), x, functions={street: sampled(cubic)})
        found = model.symbolic("udot", nested=True)[0]
        assert found.has(street)
        written = found.subs(street, sm.Lambda(a, cubic(a))).doit() if argument is x else None
        if written is not None:
            expected = slider(cubic(x), x).symbolic("udot", nested=True)[0]
            at = {x: 0.3, model.speeds[0]: 1.1, m: 2, g: 9.81, model.inputs[0]: 0.7}
            assert float(written.subs(at)) == pytest.approx(float(expected.subs(at)), rel=1e-12)
        graph = Graph()
        leaf = {s: graph.symbol(str(s), COORDINATE) for s in (x, a, m, g, *model.speeds, *model.inputs)}
        node = FromSympy(graph, leaf.__getitem__, model.functions)(found)
        values = {str(s): value for s, value in zip(leaf, (0.3, 0.4, 2.0, 9.81, 1.1, 0.7), strict=True)}
        (again,) = evaluate(graph, [node], values)
        dyn = kc.compile(model, parameters={name: values[name] for name in map(str, model.parameters)})
        assert again == pytest.approx(dyn.udot(0.0, [0.3, 1.1], r=[0.7])[0], rel=1e-12)
        assert "street" in model.latex("udot")
        assert "street" in model.explain(full=True)
        assert "  function street: 10 knots from -3 to 3\n" in model.report()


def test_derivatives_in_sympys_form() -> None:
    """By the argument where it can be told from the others, else at a place."""
    graph = Graph()
    spline = kc.Spline([0, 1, 2], [0, 1], np.eye(3, 2))
    x, y = me.dynamicsymbols("x y")
    symbols = {"x": x, "y": y, ("f", "hills"): hills}
    one, two = (graph.symbol(name, COORDINATE) for name in "xy")

    def written(orders: tuple[int, int], *arguments: int) -> Any:
        return to_sympy(graph, [graph.given(Given("hills", spline, orders), arguments)], symbols, nested=True)[1][0]

    assert written((0, 0), one, two) == hills(x, y)
    assert written((2, 1), one, two) == hills(x, y).diff(x, 2, y)
    total = hills(x, x).diff(x)
    parts = written((1, 0), one, one) + written((0, 1), one, one)
    assert (total - parts).subs(hills, sm.Lambda((m, g), m**3 * g**2)).doit() == 0
    shifted = graph.add(one, two)
    assert isinstance(written((1, 1), shifted, two), sm.Subs)
    read = FromSympy(graph, {x: one, y: two}.__getitem__, {hills: spline})
    for orders, arguments in itertools.product(
        ((0, 0), (2, 1), (1, 0), (0, 3)), ((one, two), (shifted, two), (one, one))
    ):
        node = graph.given(Given("hills", spline, orders), arguments)
        assert read(written(orders, *arguments)) == node


def test_the_text_depends_on_the_data() -> None:
    x = me.dynamicsymbols("x")

    def built(**options: Any) -> kc.Model:
        return slider(street(x), x, functions={street: kc.Spline(KNOTS, cubic(KNOTS), **options)})

    one, same, other = built(), built(), built(extrapolate=False)
    assert fingerprint(one.description) == fingerprint(same.description) != fingerprint(other.description)
    texts = [emit_group(model.description, "core").text for model in (one, same, other)]
    assert texts[0] == texts[1] != texts[2]
    assert "KC_NOWHERE}" in texts[2]
    again = pickle.loads(pickle.dumps(one.description))
    assert emit_group(again, "core").text == texts[0]
    assert fingerprint(again) == fingerprint(one.description)
    assert emit_group(bake(one.description, {"m": 2.0}), "core").text.count("kc_spline spline_") == 1


def test_a_compiled_model_pickles() -> None:
    x = me.dynamicsymbols("x")
    dyn = kc.compile(slider(street(x), x, functions={street: sampled(cubic)}), parameters={"m": 2.0, "g": 9.81})
    twin = pickle.loads(pickle.dumps(dyn))
    assert twin.udot(0.0, [0.3, 1.1]) == dyn.udot(0.0, [0.3, 1.1])


@pytest.mark.parametrize("method", ["dop853", "rk4"])
def test_beyond_the_knots_nothing_is_singular(method: str) -> None:
    """A run that leaves a street which ends says so, and kernels do; with constraints too."""
    ends = {street: kc.Spline(KNOTS, cubic(KNOTS), extrapolate=False)}
    x = me.dynamicsymbols("x")
    bead = kc.compile(slider(street(x), x, functions=ends), parameters={"m": 2.0, "g": 9.81})
    wire = kc.compile(closed_wire(street, functions=ends), parameters={"m": 2.0, "g": 9.81, "a": 0.4})
    for dyn, beyond, start in (
        (bead, [3.1, 1.0], [2.5, 9.0]),
        (wire, [2.7, 0.0, 1.0, 0.0], wire.consistent(0.0, [2.1, 0.0, 9.0, 0.0], None)),
    ):
        with pytest.raises(kc.NonFiniteError, match=r"udot of .* is not finite .* a spline beyond its knots"):
            dyn.udot(0.0, beyond)
        options: dict[str, Any] = {"method": method, "dt": 0.01} if method == "rk4" else {"method": method}
        with pytest.raises(kc.IntegrationError, match=r"not finite just after .* a spline beyond its knots") as caught:
            dyn.simulate((0.0, 2.0), start, **options)
        assert 2.9 < caught.value.trajectory["x"][-1] + (0.4 if dyn is wire else 0.0) <= 3.0


def test_of_a_batch_the_other_rows_are_kept() -> None:
    """Where one row overflows: its constraints are not lost, and no other error hides the rest."""
    dyn = kc.compile(wheel(street, functions={street: sampled(cubic)}), parameters=NUMBERS)
    states = np.array([[0.3, 0.1, 0.7, 0.0], [-1e300, 0.1, 0.7, 0.0], [0.5, 0.1, 0.7, 0.0]])
    with pytest.raises(kc.NonFiniteError, match=r"udot of 'wheel' is not finite at .*, row 1") as caught:
        dyn.udot(0.0, states)
    assert caught.value.rows.tolist() == [1]
    np.testing.assert_array_equal(caught.value.out[[0, 2]], dyn.udot(0.0, states[[0, 2]]))


def test_a_long_table_is_a_line_of_numbers() -> None:
    """Its text grows with the data, the rest does not."""
    x = me.dynamicsymbols("x")
    lengths = [
        len(
            emit_group(slider(street(x), x, functions={street: kc.Spline(range(n), range(n))}).description, "core").text
        )
        for n in (10, 1000)
    ]
    assert lengths[1] - lengths[0] < 1000 * 40


# --------------------------------------------------------------------------------------------------- refused
x, u = me.dynamicsymbols("x u")
LINE, GRID = kc.Spline([0, 1], [0, 1]), kc.Spline([0, 1], [0, 1], [[0, 1], [0, 1]])


@pytest.mark.parametrize(
    ("height", "functions", "message"),
    [
        (
            street(x),
            None,
            r"unknown function street\(x\(t\)\) in .*; give its data, functions={street: kc.Spline\(x, y\)}",
        ),
        (hills(x, t), {}, r"functions={hills: kc.Spline\(x, y, z\)}"),
        (
            street(x + a).diff(x),
            {},
            r"unknown function street\(a \+ x\(t\)\) in .*functions={street: kc.Spline\(x, y\)}",
        ),
        (
            sm.Function("stret")(x),
            {street: LINE},
            "functions gives the data of another function, street: is that meant",
        ),
        (sm.Function("street", real=True)(x), {street: LINE}, "another function, street: is that meant"),
        (x, {street: LINE}, "functions holds street, which does not occur: write street of an expression"),
        (x + sm.Function("stret")(t), {street: LINE}, "functions holds street, which does not occur: is stret meant?"),
        (
            hills(x, x),
            {hills: LINE},
            r"hills\(x\(t\), x\(t\)\) in .* has 2 arguments, and what functions gives for hills has 1: 2 knots",
        ),
        (street(x), {street: GRID}, r"street\(x\(t\)\) in .* has 1 arguments, and .* has 2"),
        (street(x), {street(x): LINE}, r"functions holds street\(x\(t\)\), which is no undefined function: write"),
        (street(x), {"street": LINE}, "functions holds 'street', which is no undefined function"),
        (street(x), {sm.sin: LINE}, "functions holds sin, which is no undefined function"),
        (
            street(x),
            {street: CubicSpline([0, 1], [0, 1])},
            r"functions gives <scipy.* for street: give the data, kc.Spl",
        ),
        (street(x), {street: None}, "functions gives None for street"),
        (street(x), [LINE], "functions must be a dict of undefined functions and kc.Spline"),
        (street(x), {x.func: LINE, street: LINE}, "two different symbols are named 'x'"),
        (street(x) * sm.Symbol("street"), {street: LINE}, "two different symbols are named 'street'"),
        (street(sm.I), {street: LINE}, "not a finite real number"),
        (street(street(x)).diff(street(x), t), {}, "street"),
    ],
)
def test_wrong_functions(height: Any, functions: Any, message: str) -> None:
    with pytest.raises(kc.ModelError, match=message):
        slider(height, x, functions=functions)
