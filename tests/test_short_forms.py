# SPDX-License-Identifier: BSD-3-Clause
"""Printed expressions: as short as those of books, equal in value, and written within a second."""

import random
from collections.abc import Callable
from typing import Any

import mpmath
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates, rolling_disc
from sweep import part

import kanecore as kc
from kanecore.gallery import arm7, ball_turntable, cart_pole, chain40, spherical_pendulum
from kanecore.graph import printed_expressions
from kanecore.graph.evaluation import evaluate
from kanecore.graph.expression_graph import COORDINATE, PARAMETER, SPEED, Graph
from kanecore.graph.printed_expressions import short_forms as shortened
from kanecore.graph.sympy_bridge import FromSympy


def operations(expressions: Any) -> int:
    """As count_ops counts them, with coordinates and speeds as plain symbols."""
    flat = list(expressions) if isinstance(expressions, sm.MatrixBase) else [expressions]
    plain = {f: sm.Symbol(f.func.__name__) for e in flat for f in e.atoms(sm.core.function.AppliedUndef)}
    return int(sum(sm.count_ops(e.xreplace(plain)) for e in flat))


def chain(n: int, absolute: bool, centres: bool) -> kc.Model:
    """Links in a plane, with bobs at their ends or with mass centres and moments of inertia."""
    q, u = me.dynamicsymbols(f"q1:{n + 1}"), me.dynamicsymbols(f"u1:{n + 1}")
    m, length, c, inertia = (sm.symbols(f"{name}1:{n + 1}") for name in ("m", "l", "c", "I"))
    g = sm.Symbol("g")
    N, start = ground()
    axes, spin, bodies, loads = N, sm.S.Zero, [], []
    for i in range(n):
        parent, spin = (N, u[i]) if absolute else (axes, spin + u[i])
        axes = me.ReferenceFrame(f"A{i}")
        axes.orient_axis(parent, parent.z, q[i])
        axes.set_ang_vel(N, spin * N.z)
        end = start.locatenew(f"E{i}", (length[0] if n == 2 else length[i]) * axes.x)
        centre = start.locatenew(f"C{i}", c[i] * axes.x) if centres else end
        for point in (centre, end):
            point.v2pt_theory(start, N, axes)
        bodies.append(
            me.RigidBody(f"B{i}", centre, axes, m[i], (me.inertia(axes, 0, 0, inertia[i]), centre))
            if centres
            else me.Particle(f"B{i}", centre, m[i])
        )
        loads.append((centre, -m[i] * g * N.y))
        start = end
    return kc.Model(N, q, u, rates(q, u), bodies=bodies, forcelist=loads)


def top() -> kc.Model:
    """Euler's angles, their rates as speeds; A and C are of the mass centre."""
    q, u = me.dynamicsymbols("phi theta psi"), me.dynamicsymbols("u1:4")
    m, g, length, A, C = sm.symbols("m g l A C")
    N, tip = ground()
    axes = me.ReferenceFrame("B")
    axes.orient_body_fixed(N, q, "313")
    axes.set_ang_vel(N, axes.ang_vel_in(N).subs(dict(zip([x.diff() for x in q], u, strict=True))))
    centre = tip.locatenew("C", length * axes.z)
    centre.v2pt_theory(tip, N, axes)
    body = me.RigidBody("top", centre, axes, m, (me.inertia(axes, A, A, C), centre))
    return kc.Model(N, q, u, rates(q, u), bodies=[body], forcelist=[(centre, -m * g * N.z)])


# By hand: T. R. Kane, D. A. Levinson, Dynamics, 1985; H. Goldstein, C. Poole, J. Safko, Classical Mechanics, 3rd ed.,
# 2002, sections 1.6 and 5.7; J. J. Craig, Introduction to Robotics, 3rd ed., 2005, section 6.7.
COUNTS: list[tuple[str, Callable[[], kc.Model], dict[str, int]]] = [
    ("double pendulum, absolute", lambda: chain(2, True, False), {"mass_matrix": 19, "forcing": 34}),
    ("double pendulum, absolute", lambda: chain(2, True, False), {"generalized_active_forces": 13}),
    ("double pendulum, relative", lambda: chain(2, False, False), {"generalized_active_forces": 20}),
    ("planar arm", lambda: chain(3, False, True), {"generalized_active_forces": 53}),
    ("rolling disc", rolling_disc, {"mass_matrix": 11, "forcing": 38}),
    ("top", top, {"kinetic_energy": 21}),
    ("cart and pole", cart_pole.build, {"mass_matrix": 13}),
    ("spherical pendulum", spherical_pendulum.build, {"mass_matrix": 8}),
]


@pytest.mark.parametrize(("build", "counts"), [pytest.param(*case, id=name) for name, *case in COUNTS])
def test_as_short_as_in_books(build: Callable[[], kc.Model], counts: dict[str, int]) -> None:
    model = build()
    for kernel, most in counts.items():
        found = model.symbolic(kernel, nested=True)
        assert operations(found) <= most, found


def drawn(draw: random.Random, graph: Graph, depth: int) -> int:
    """A random polynomial in waves, with divisions by one of them."""
    if not depth:
        return draw.choice([graph.symbol(x, kind) for x, kind in KINDS.items()])
    a, b = (drawn(draw, graph, depth - 1) for _ in range(2))
    kind = draw.randrange(7)
    if kind < 4:
        return (graph.add, graph.sub, graph.mul, graph.mul)[kind](a, b)
    angle = graph.add(graph.symbol("q1", COORDINATE), graph.symbol("q2", COORDINATE))
    wave = draw.choice([graph.sin, graph.cos])(draw.choice([angle, graph.symbol("q1", COORDINATE)]))
    return graph.div(a, graph.cos(angle)) if kind == 4 else graph.mul(a, wave)


KINDS = {"a": PARAMETER, "b": PARAMETER, "q1": COORDINATE, "q2": COORDINATE, "u": SPEED}


@pytest.mark.parametrize("seed", range(8))
def test_values_are_kept(seed: int) -> None:
    draw, graph = random.Random(seed), Graph()
    root = drawn(draw, graph, 4)
    symbols = {name: sm.Symbol(name) for name in KINDS}
    [found] = shortened(graph, [root], symbols)
    numbers = {name: mpmath.mpf(draw.uniform(0.3, 1.3)) for name in KINDS}
    with mpmath.workdps(50):
        [expected] = evaluate(graph, [root], numbers, mpmath.mp)
        value = found.evalf(50, subs={symbols[name]: sm.Float(x, 50) for name, x in numbers.items()})
        assert abs(mpmath.mpf(str(value)) - expected) < 1e-40 * (1 + abs(expected))


@pytest.mark.parametrize(
    ("written", "short"),
    [
        ("sin(x)**2 + cos(x)**2", "1"),
        ("a*sin(x)*cos(y) + a*cos(x)*sin(y)", "a*sin(x + y)"),
        ("a*a*u + 2*a*b*u + b*b*u", "u*(a + b)**2"),
        ("sin(x)/cos(x)", "tan(x)"),
        ("(a + b)*(a - b)/(a**2 - b**2)", "1"),
        ("sqrt(sin(x)**2 + cos(x)**2 + a)", "sqrt(a + 1)"),
        ("cos(x + pi/2)", "-sin(x)"),
        ("a*(b - a) + a**2", "a*b"),
        ("cos(3*x)", "cos(3*x)"),
        ("a*cos(100*x) + b*sin(100*x)*cos(50*x)", "a*cos(100*x) + b*sin(100*x)*cos(50*x)"),
        ("atan2(a*sin(x)**2 + a*cos(x)**2, b)", "atan2(a, b)"),
        ("x*y - y*x", "0"),
        ("a*u*(b + y) - a*u*(b + y)*sin(x)**2", "a*u*(b + y)*cos(x)**2"),
        ("0.5*a*x**2 + 0.5*a*y**2", "a*(x**2 + y**2)/2"),
        ("0.1*a*x", "0.1*a*x"),
        ("a*(cos(2*x) + 33)/2", "a*(cos(x)**2 + 16)"),
    ],
)
def test_identities(written: str, short: str) -> None:
    names = {name: sm.Symbol(name) for name in "abuxy"}
    graph = Graph()
    read = FromSympy(graph, lambda s: graph.symbol(s.name, COORDINATE if s.name in "xy" else PARAMETER))
    [found] = shortened(graph, [read(sm.sympify(written, names, evaluate=False))], names)
    assert found == sm.sympify(short, names)


def test_the_norm_of_a_quaternion_is_one() -> None:
    """Ball on a turntable: its centre turns at 2/7 of the table's rate (K. Weltner, Am. J. Phys. 47, 984, 1979)."""
    model = ball_turntable.build()
    m, R, W = sm.symbols("m R W")
    ux, uy = model.speeds[-2:]
    assert model.symbolic("mass_matrix", nested=True) == sm.diag(*[2 * m * R**2 / 5] * 3, m, m)
    udot = model.symbolic("udot", nested=True)
    assert udot[-2:] == [-2 * W * uy / 7, 2 * W * ux / 7]


@pytest.mark.parametrize("model", part([arm7, chain40], [chain40]))
def test_what_is_long_stays_as_it_is(model: Any) -> None:
    derivation = model.build().derivation
    assert shortened(derivation.graph, derivation.kernel("forcing").roots, {})[0] is None


def test_a_wrong_form_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printed_expressions, "_agree", lambda a, b: False)
    graph = Graph()
    with pytest.warns(kc.KanecoreWarning, match="a short form of an expression differs"):
        assert shortened(graph, [graph.symbol("a", PARAMETER)], {"a": sm.Symbol("a")}) == [None]
