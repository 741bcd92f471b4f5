# SPDX-License-Identifier: BSD-3-Clause
"""Motions in phases: reset maps, impacts, periodic gaits; published gaits, closed forms, and `impact`."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from gallery_states import loaded
from mechanisms import ground, mass_point
from sweep import part

import kanecore as kc

pytest.importorskip("casadi", reason="pip install casadi")

S = me.dynamicsymbols
LEGS = {"a": "b", "b": "a", "w_a": "w_b", "w_b": "w_a"}


def block(mass: Any = 1) -> kc.CompiledModel:
    x, v, F = S("x v F")
    return kc.compile(mass_point({x: v}, mass, [F], name="block"))


def test_one_motion_in_two_parts() -> None:
    """The least effort over a unit distance is 12, in one phase or in two; a phase alone is `dyn.optimize`."""
    dyn, start, end = block(), {"x": 0, "v": 0}, {"x": 1, "v": 0}
    halves = [kc.Phase(dyn, 0.4, start=start, cost="F**2", intervals=4)]
    halves.append(kc.Phase(dyn, 0.6, end=end, cost="F**2", intervals=6))
    both = kc.optimize(halves)
    assert both.success
    assert str(both).startswith("success: IPOPT found an optimum; cost 12, 2 phases of 0.4, 0.6 s, ")
    assert both.cost == pytest.approx(12.0, rel=1e-9)
    assert both.duration == pytest.approx(1.0)
    assert both.interval_error < 1e-9
    assert set(both.seconds) == {"build", "functions", "solver", "check"}
    np.testing.assert_allclose(both.phases[1]["F"], 6 - 12 * (0.4 + both.phases[1].t), atol=1e-6)
    alone = kc.optimize(kc.Phase(dyn, 1.0, start=start, end=end, cost="F**2", intervals=4))
    assert alone.phases[0].cost == dyn.optimize(1.0, start=start, end=end, cost="F**2", intervals=4).cost


def test_a_parameter_of_both() -> None:
    """A force of 1 N moves 2 kg by 1 m in 2 s, and phases that seek the mass find one."""
    dyn = block(sm.Symbol("m"))
    options = {"known": {"F": 1.0}, "unknown": {"m": (0.5, 9)}, "intervals": 2}
    first = kc.Phase(dyn, 1.0, start={"x": 0, "v": 0}, **options)
    found = kc.optimize([first, kc.Phase(dyn, 1.0, end={"x": 1}, **options)])
    assert [phase.parameters["m"] for phase in found.phases] == pytest.approx([2.0, 2.0], rel=1e-7)


def of_two_parts(name: str) -> tuple[Any, Any]:
    """A motion in one phase and in two, with a prescribed motion, a unit quaternion, or a closed loop."""
    dyn = loaded(name)
    options = {"intervals": 10, "cost": " + ".join(f"{each}**2" for each in dyn.input_names)}
    if name == "rotating_tube":
        start = dict.fromkeys((*dyn.names.x, "theta", "theta_d"), 0)
        end, options["cost"] = {"theta": 1, "theta_d": 0}, "theta_dd**2"
        middle: dict[str, Any] = {}
    elif name == "free_body":
        start, half = dyn.state(), np.radians(75)
        turn = dict(zip(("e0", "e3"), (np.cos(half), np.sin(half)), strict=True))
        end = dict.fromkeys((*dyn.names.x,), 0) | turn
        middle = {"e0": np.cos(half / 2), "e3": np.sin(half / 2)}
    else:
        start = dyn.consistent(0.0, dyn.state(q1=1.9, q2=1.0, q3=1.2, q4=2.1))
        end = {"q1": 1.7, "q3": 1.7, "u1": 0, "u3": 0}
        middle = dict(zip(dyn.coordinate_names, start.tolist(), strict=False))
    first = kc.Phase(dyn, 0.5, start=start, guess=middle, **options)
    second = kc.Phase(dyn, 0.5, end=end, guess=middle, **options)
    both = kc.optimize([first, second], tol=1e-3)
    return dyn.optimize(1.0, start=start, end=end, **options | {"intervals": 20}, tol=1e-3), both


@pytest.mark.parametrize("name", part(["rotating_tube", "free_body", "five_bar"], ["rotating_tube"]))
def test_what_goes_on(name: str) -> None:
    """Constraints that hold on both sides are no conditions twice, and have no impulse."""
    one, both = of_two_parts(name)
    assert both.success, both.message
    assert both.cost == pytest.approx(one.cost, rel=1e-6)
    assert [*both.phases[1].impulses.values()] == pytest.approx([0.0] * one.problem.dyn.n_constraints, abs=1e-9)


def test_bouncing_on_a_spring(capsys: pytest.CaptureFixture[str]) -> None:
    """Stance π + 2 atan(g/(ω v)) over ω, flight 2 v/g: a vertical hop on a spring, between models of their own.

    Energy is conserved, so that v need not return as well; where it is asked to, nobody complains.
    """
    y, v = S("y v")
    k, g, fall = 400.0, 9.81, 1.5
    flight = kc.compile(mass_point({y: v}, 1, [-g], name="flight"))
    stance = kc.compile(mass_point({y: v}, 1, [k * (1 - y) - g], name="stance"))
    phases = [
        kc.Phase(stance, (0.02, 0.4), reset={"v": None}, start={"v": -fall}, end={"y": 1}, intervals=20),
        kc.Phase(flight, (0.1, 1), end={"y": 1}, guess={"y": [1, 1.1, 1]}, intervals=4),
    ]
    hop = kc.optimize(phases, periodic=True, tol=1e-7)
    assert hop.success, hop.message
    assert hop.phases[1]["v"][-1] == pytest.approx(-fall, rel=1e-7)
    twice = kc.Phase(stance, (0.02, 0.4), start={"y": 1, "v": -fall}, end={"y": 1}, intervals=20)
    assert kc.optimize([twice, phases[1]], periodic=True, tol=1e-7).success
    assert "CasADi" not in capsys.readouterr().err
    omega = np.sqrt(k)
    exact = [(np.pi + 2 * np.arctan(g / (omega * fall))) / omega, 2 * fall / g]
    assert [phase.duration for phase in hop.phases] == pytest.approx(exact, rel=1e-6)


@pytest.mark.long
def test_running_on_a_spring() -> None:
    """Blickhan's spring-mass model, *J. Biomech.* 22, 1989: stance in polar coordinates, so that reset maps are
    expressions of states and outputs; the symmetric step keeps its energy, and leaves as it came.
    """
    x, y, v, u, r, a, w, b = S("x y v u r a w b")
    N, O = ground()  # noqa: E741
    P, Q, A = O.locatenew("P", x * N.x + y * N.y), me.Point("Q"), me.ReferenceFrame("A")
    P.set_vel(N, v * N.x + u * N.y)
    A.orient_axis(N, -N.z, a)
    A.set_ang_vel(N, -b * N.z)
    Q.set_pos(O, r * A.y)
    Q.set_vel(N, w * A.y + r * b * A.x)
    weight, place, speed = -80 * 9.81 * N.y, Q.pos_from(O), Q.vel(N)
    outputs = {"x": place.dot(N.x), "y": place.dot(N.y), "v": speed.dot(N.x), "u": speed.dot(N.y)}
    flight, stance = (
        kc.compile(
            kc.Model(
                N,
                q,
                v,
                [each.diff() - rate for each, rate in zip(q, v, strict=True)],
                bodies=[me.Particle("P", point, 80)],
                forcelist=[(point, load)],
                outputs=shown,
                name="runner",
            )
        )
        for q, v, point, load, shown in (
            ([x, y], [v, u], P, weight, {}),
            ([r, a], [w, b], Q, weight + 2e4 * (1 - r) * A.y, outputs),
        )
    )
    leg = "sqrt(1 - y**2)"
    landing = {"r": "1", "a": f"-asin({leg})", "w": f"u*y - v*{leg}", "b": f"v*y + u*{leg}"}
    run = kc.optimize(
        [
            kc.Phase(
                flight, (0.02, 0.5), reset={"x": None, "u": None}, start={"x": 0, "u": 0, "v": 4}, guess={"y": 0.95}
            ),
            kc.Phase(stance, (0.05, 0.5), reset=landing, end={"r": 1, "a": (0, 1)}, guess={"a": [-0.35, 0.35], "b": 5}),
            kc.Phase(flight, (0.02, 0.5), reset={name: name for name in "xyvu"}, end={"u": 0}, guess={"y": 0.95}),
        ],
        periodic=True,
        tol=1e-7,
    )
    assert run.success, run.message
    fall, stand, rise = run.phases
    assert rise.duration == pytest.approx(fall.duration, rel=1e-6)
    np.testing.assert_allclose(stand.x[-1], stand.x[0] * [1, -1, -1, 1], rtol=1e-6)
    energy = [4.0**2 / 2 + 9.81 * fall["y"][0], (stand["w"][0] ** 2 + stand["b"][0] ** 2) / 2 + 9.81 * stand["y"][0]]
    assert energy[0] == pytest.approx(energy[1], rel=1e-9)


def test_the_simplest_walker() -> None:
    """Its fixed point at a slope of 0.009: Garcia, Chatterjee, Ruina & Coleman, *J. Biomech. Eng.* 120, 1998, by
    Bhounsule, *Dyn. Contin. Discrete Impuls. Syst. B* 21, 2014.  The jump at the landing is a reset map of expressions.
    """
    theta, phi, a, b, q, u = S("theta phi a b q u")
    slope, kept = 0.009, "cos(2*theta)"
    swing = sm.sin(theta - slope) + a**2 * sm.sin(phi) - sm.cos(theta - slope) * sm.sin(phi)
    rates = {theta: a, phi: b, a: sm.sin(theta - slope), b: swing}
    dyn = kc.compile(mass_point({q: u}, 1, states=rates, name="simplest walker"))
    landing = {
        "theta": "-theta",
        "phi": "-2*theta",
        "a": f"{kept}*a",
        "b": f"{kept}*(1 - {kept})*a",
        "q": None,
        S("u"): None,
    }
    guess = {"theta": [0.2, -0.2], "phi": [0.4, -0.4], "a": -0.2, "duration": 3.8}
    step = kc.Phase(
        dyn, (2, 5), reset=landing, start={"q": 0, "u": 0, "theta": (0.1, 0.4)}, end={"phi - 2*theta": 0}, guess=guess
    )
    gait = kc.optimize(step, periodic=True, tol=1e-8)
    assert gait.success, gait.message
    np.testing.assert_allclose(
        gait.phases[0].x[0, 2:], [0.200310900544, 0.400621801089, -0.199832473005, -0.015822999948], atol=1e-8
    )


@cache
def compass() -> tuple[kc.CompiledModel, kc.CompiledModel]:
    """Two legs of 1 m, masses of 5 kg in their middles and 10 kg at the hip; with the stance foot held, and free."""
    (x, y, a, b), u = S("x y a b"), S("v_x v_y w_a w_b")
    tau, slope = S("tau"), sm.Symbol("slope")
    N, O = ground()  # noqa: E741
    hip = O.locatenew("hip", x * N.x + y * N.y)
    hip.set_vel(N, u[0] * N.x + u[1] * N.y)
    bodies, feet, legs = [me.Particle("hip", hip, 10)], [], []
    for name, angle, rate in (("stance", a, u[2]), ("swing", b, u[3])):
        leg = me.ReferenceFrame(name)
        leg.orient_axis(N, -N.z, angle)
        leg.set_ang_vel(N, -rate * N.z)
        for place in (0.5, 1):
            point = hip.locatenew(f"{name} {place}", -place * leg.y)
            point.v2pt_theory(hip, N, leg)
        feet.append(point)
        middle = hip.locatenew(f"{name} middle", -leg.y / 2)
        middle.v2pt_theory(hip, N, leg)
        bodies.append(me.Particle(name, middle, 5))
        legs.append(leg)
    down = sm.sin(slope) * N.x - sm.cos(slope) * N.y
    loads = [(body.masscenter, 9.81 * body.mass * down) for body in bodies]
    loads += [(legs[0], -tau * N.z), (legs[1], tau * N.z)]
    foot = feet[0].pos_from(O)
    model = kc.Model(
        N,
        [x, y, a, b],
        u,
        [q.diff() - v for q, v in zip((x, y, a, b), u, strict=True)],
        configuration_constraints={"along": foot.dot(N.x), "up": foot.dot(N.y)},
        bodies=bodies,
        forcelist=loads,
        outputs={"lands_x": feet[1].vel(N).dot(N.x), "lands_y": feet[1].vel(N).dot(N.y)},
        name="compass gait",
    )
    return kc.compile(model, parameters={slope: 0.0}), kc.compile(model.free("along", "up"), parameters={slope: 0.0})


def walk(dyn: kc.CompiledModel, x: Any, angle: float, **arguments: Any) -> Any:
    guess = {"a": [-angle, angle], "b": [angle, -angle], "duration": 0.7}
    step = kc.Phase(
        dyn, (0.3, 1.5), reset=LEGS | {"x": x}, bounds={"a": (-1, 1), "b": (-1, 1)}, guess=guess, **arguments
    )
    return kc.optimize(step, periodic=True)


def test_a_passive_gait() -> None:
    """Down a slope of 3° without torque: angles from the vertical and rates of Goswami, Thuilot & Espiau, *Int. J. Rob.
    Res.* 17, 1998, for equal halves of the legs and a hip of twice their mass: 0.2187, -0.3234, -1.0918, -0.3772.
    """
    dyn, slope = compass()[0], np.radians(3)
    options = {"known": {"tau": 0}, "parameters": {"slope": slope}, "end": {"a": (0.1, 0.6)}}
    gait = walk(dyn, None, 0.25, intervals=16, **options)
    assert gait.success, gait.message
    _, _, a, b, *_, w_a, w_b = gait.phases[0].x[0]
    np.testing.assert_allclose([-a - slope, -b - slope, -w_a, -w_b], [0.2187, -0.3234, -1.0918, -0.3772], atol=1e-3)
    assert gait.duration == pytest.approx(0.734, abs=1e-3)


@pytest.mark.long
def test_a_step_of_least_torque() -> None:
    """On level ground, 0.4 m: the jump is that of `impact` of the free mechanism, whose impulses are found."""
    dyn, free = compass()
    gait = walk(dyn, "x - 0.4", 0.2, cost="tau**2", intervals=12)
    assert gait.success, gait.message
    assert gait.cost == pytest.approx(41.696, rel=1e-4)
    step = gait.phases[0]
    hit = free.impact(0.0, step.x[-1], ["lands_x", "lands_y"], mu={"lands_x": ("lands_y", np.inf)}, full=True)
    np.testing.assert_allclose(step.x[0], hit.x[[0, 1, 3, 2, 4, 5, 7, 6]] - [0.4, *[0] * 7], atol=1e-8)
    np.testing.assert_allclose([step.impulses["along"], step.impulses["up"]], hit.impulses, rtol=1e-7)


@cache
def hopper() -> tuple[kc.CompiledModel, kc.CompiledModel]:
    """A body of 4 kg on a foot of 1 kg, a force between them; with the foot held by the ground, and free."""
    y, z, v, w, F = S("y z v w F")
    N, O = ground()  # noqa: E741
    body, foot = O.locatenew("body", y * N.y), O.locatenew("foot", z * N.y)
    body.set_vel(N, v * N.y)
    foot.set_vel(N, w * N.y)
    held, free = (
        kc.compile(
            kc.Model(
                N,
                [y, z],
                [v, w],
                [y.diff() - v, z.diff() - w],
                configuration_constraints=rows,
                bodies=[me.Particle("body", body, 4), me.Particle("foot", foot, 1)],
                forcelist=[(body, (F - 4 * 9.81) * N.y), (foot, (-F - 9.81) * N.y)],
                name="hopper",
            )
        )
        for rows in ({"ground": z}, {})
    )
    return held, free


def test_forces_of_constraints() -> None:
    """The ground carries λ = 4 ÿ + 5 g, and ∫ λ² is least where y goes as a cubic: 16 · 12 d² + (5 g)²."""
    held, d = hopper()[0], 0.1
    start, end = {"y": 0.8, "v": 0, "z": 0, "w": 0}, {"y": 0.8 + d, "v": 0}
    sol = held.optimize(1.0, start=start, end=end, cost="ground**2", intervals=8)
    assert sol.success, sol.message
    assert sol.cost == pytest.approx(192 * d**2 + 49.05**2, rel=1e-9)
    off = held.optimize(1.0, start=start, end=end | {"ground": 40}, cost="F**2", path="ground <= 60", intervals=8)
    assert off.success, off.message
    forces = held.multipliers(off.t, off.x, r=off.r)[:, 0]
    assert forces[-1] == pytest.approx(40, rel=1e-6)
    assert forces.max() < 60 + 1e-5


def test_a_hop() -> None:
    """The impact of the foot is m v, and the leg restores the energy lost there; the ground does not pull."""
    stance, flight = hopper()
    leg = {"y - z": (0.5, 1.0)}
    hop = kc.optimize(
        [
            kc.Phase(
                stance,
                (0.05, 1),
                cost="F**2",
                bounds=leg,
                intervals=20,
                guess={"y": [0.9, 0.7, 0.9]},
                path="ground >= 0",
            ),
            kc.Phase(
                flight, (0.2, 1), cost="F**2", bounds=leg | {"z": (0, None)}, intervals=20, guess={"y": [1, 1.2, 1]}
            ),
        ],
        periodic=True,
    )
    assert hop.success, hop.message
    landing = hop.phases[1].x[-1]
    assert landing[3] < -0.1
    assert hop.phases[1].impulses == {}
    assert hop.phases[0].impulses == {"ground": pytest.approx(-landing[3], rel=1e-7)}
    work = sum(np.trapezoid(each["F"] * (each["v"] - each["w"]), each.t) for each in hop.phases)
    assert work == pytest.approx(landing[3] ** 2 / 2, rel=2e-3)
    np.testing.assert_allclose(hop.phases[0].x[0], landing * [1, 1, 1, 0], atol=1e-8)


def test_errors() -> None:
    dyn = block()
    with pytest.raises(TypeError, match=r"a phase has no argument 'tol': kc\.optimize has it, for all phases"):
        kc.Phase(dyn, 1.0, tol=1e-3)
    with pytest.raises(TypeError, match=r"a phase has no argument 'costs': dyn\.optimize has none either"):
        kc.Phase(dyn, 1.0, costs="F**2")
    with pytest.raises(TypeError, match=r"phases is .*; it must be a list of kc\.Phase"):
        kc.optimize([dyn])
    with pytest.raises(KeyError, match="no state of 'block' is called 'y'"):
        kc.optimize([kc.Phase(dyn, 1.0), kc.Phase(dyn, 1.0, reset={"y": "x"})])
    with pytest.raises(KeyError, match="no symbol of reset, 'z', is called 'z'"):
        kc.optimize([kc.Phase(dyn, 1.0), kc.Phase(dyn, 1.0, reset={"x": "z"})])
    with pytest.raises(TypeError, match="reset is 'x'; it must be a mapping by name"):
        kc.optimize([kc.Phase(dyn, 1.0), kc.Phase(dyn, 1.0, reset="x")])
    with pytest.raises(ValueError, match="reset of the first phase, which follows none"):
        kc.optimize([kc.Phase(dyn, 1.0, reset={"x": "x"})])
    missed = [
        kc.Phase(dyn, 1.0, start={"x": 0, "v": 0}, end={"x": 1, "v": 0}),
        kc.Phase(dyn, 1.0, start={"x": 2, "v": 0}),
    ]
    found = kc.optimize(missed)
    assert not found.success
    assert "phase 1: IPOPT found no motion that satisfies all conditions: reset x is missed by 1" in found.message
