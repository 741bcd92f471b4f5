# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of runs with rigid contacts, through impacts, slips, switches: closed forms, differences of runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import compiled, ground, plane_body, rates
from numpy.testing import assert_allclose

import kanecore as kc

G = 9.81
m, g, F = sm.symbols("m g F")
t = me.dynamicsymbols._t
NUMBERS = {m: 2.0, g: G, F: 5.0}


def particle(dimension: int = 2, pull: Any = 0, **options: Any) -> kc.CompiledModel:
    """A particle under gravity along its last axis, pulled along x."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("x y z")[:dimension], me.dynamicsymbols("u v w")[:dimension]
    P = O.locatenew("P", sum((a * e for a, e in zip(q, N, strict=False)), me.Vector(0)))
    P.set_vel(N, sum((a * e for a, e in zip(u, N, strict=False)), me.Vector(0)))
    loads = [(P, pull * N.x - m * g * (N.y if dimension == 2 else N.z))]
    options = {name: each(*q) if callable(each) else each for name, each in options.items()}
    model = kc.Model(N, q, u, rates(q, u), bodies=[me.Particle("P", P, m)], forcelist=loads, **options)
    return compiled(model, {symbol: value for symbol, value in NUMBERS.items() if symbol in model.parameters})


def agrees(
    modes: kc.Modes, span: tuple[float, float], start: Sequence[float], rtol: float = 1e-6, **options: Any
) -> Any:
    """Compare the derivatives by start and parameters with those of runs nearby, along motions of the modes."""
    times = np.linspace(*span, 7)
    run = modes.simulate(span, start, t_eval=times, sensitivities=["x0", "p"], **options)
    p, names = run.problem.p, run.problem.dyn.parameter_names
    at = np.concatenate([start, p])

    def outcome(values: Any) -> Any:
        given = dict(zip(names, values[len(start) :], strict=True))
        other = modes.simulate(
            span, values[: len(start)], t_eval=times, parameters=given, rtol=1e-12, atol=1e-13, **options
        )
        assert [mode for _, mode in other.modes] == [mode for _, mode in run.modes]
        events = np.concatenate(other.t_events) if other.t_events else np.zeros(0)
        return np.concatenate([other.x.ravel(), [when for when, _ in other.modes], events])

    # changes of the start that keep its closed contacts closed
    allowed = run.sensitivities[0][:, : len(start)]
    columns = [*np.linalg.svd(allowed)[0].T[: np.linalg.matrix_rank(allowed, tol=1e-6)]]
    directions = [np.concatenate([allowed @ c, 0.0 * p]) for c in columns if np.linalg.norm(allowed @ c) > 1e-6]
    directions += [np.concatenate([run.sensitivities[0][:, len(start) + i], e]) for i, e in enumerate(np.eye(len(p)))]
    for weight in np.random.default_rng(3).uniform(0.5, 1.0, (2, len(directions))):
        direction, step = weight @ directions, 1e-6
        slope = (outcome(at + step * direction) - outcome(at - step * direction)) / (2 * step)
        weights = np.concatenate([direction[: len(start)], direction[len(start) :]])
        found = np.concatenate(
            [
                (run.sensitivities @ weights).ravel(),
                run.modes_sensitivities @ weights,
                *(each @ weights for each in run.t_events_sensitivities),
            ]
        )
        assert_allclose(found, slope, rtol=rtol, atol=rtol * max(1.0, np.abs(slope).max()))
    return run


def test_a_bouncing_ball() -> None:
    """From h the ball lands at √(2 h/g), then after 2 e √(2 h/g), and so on; derivatives of these times."""
    h, e = 1.3, 0.7
    modes = kc.Modes(particle(), "P", e=e, mu=0.1)
    run = agrees(modes, (0.0, 1.3), [0.0, h, 0.9, 0.0])
    lands = np.sqrt(2 * h / G) * np.array([0.0, 1.0, 1 + 2 * e])
    assert_allclose([when for when, _ in run.modes], lands, rtol=1e-9)
    by = dict(zip(run.sensitivity_names, run.modes_sensitivities.T, strict=True))
    assert_allclose(by["y"], lands / (2 * h), rtol=1e-8, atol=1e-10)
    assert_allclose(by["g"], -lands / (2 * G), rtol=1e-8, atol=1e-10)
    assert_allclose(by["m"], 0.0, atol=1e-9)


def test_a_block_that_sticks() -> None:
    """It stops at v/(μ g), after v²/(2 μ g); then nothing but the place where it rests depends on v and g."""
    v, mu = 1.7, 0.4
    run = agrees(kc.Modes(particle(), "P", mu=mu), (0.0, 1.0), [0.2, 0.0, v, 0.0])
    assert [modes["P"] for _, modes in run.modes] == ["slide +", "stick"]
    x0, p = run.sensitivity_names.index("u"), run.sensitivity_names.index("g")
    assert_allclose(run.modes_sensitivities[1, [x0, p]], [1 / (mu * G), -v / (mu * G**2)], rtol=1e-8)
    assert_allclose(run.sensitivities[-1][:, x0], [v / (mu * G), 0, 0, 0], rtol=1e-8, atol=1e-9)
    assert_allclose(run.sensitivities[-1][:, p], [-(v**2) / (2 * mu * G**2), 0, 0, 0], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("case", ["break loose and lift", "in space", "rope", "capture", "rod", "reset"])
def test_changes_of_each_kind(case: str) -> None:
    x, y, u, v = me.dynamicsymbols("x y u v")
    if case == "break loose and lift":  # by a force that grows; it is watched by an event as well
        dyn = particle(pull=F * t, outputs=None)
        seen = kc.Event(x - 0.1, direction=1)
        agrees(kc.Modes(dyn, "P", mu=0.5), (0.0, 2.5), [0.0, 0.0, 0.0, 0.0], events=seen)
    elif case == "in space":
        law = {"normal": (0, 0, 1), "along": ((1, 0, 0), (0, 1, 0)), "e": 0.5, "mu": 0.3}
        agrees(kc.Modes(particle(3), "P", **law), (0.0, 0.6), [0.0, 0.0, 0.3, 2.5, 1.2, -0.1], rtol=1e-5)
    elif case == "rope":
        rope = {"configuration_constraints": lambda x, y: {"rope": 1 - x**2 - y**2}}
        agrees(kc.Modes(particle(**rope), switches={"rope": {}}), (0.0, 0.9), [0.6, 0.0, 0.2, 0.0])
    elif case == "capture":
        rod = {"configuration_constraints": lambda x, y: {"rod": 1 - x**2 - y**2}}
        law = {"on": kc.Event(y + 0.8, direction=-1), "off": 0.7, "in_place": True}
        agrees(kc.Modes(particle(**rod), switches={"rod": law}), (0.0, 0.9), [0.6, 0.0, 0.2, 0.0])
    elif case == "rod":
        rod = plane_body([(-0.5, 0.0), (0.5, 0.0)], m, m / 12, m * g)
        dyn = compiled(rod, {m: 2.0, g: G})
        laws: dict[str, Any] = {"mu": 0.6, "e": 0.4, "impact": "poisson"}
        run = agrees(kc.Modes(dyn, ["c0", "c1"], **laws), (0.0, 0.7), [0.0, 0.8, 0.5, 0.6, 0.1, 0.4], rtol=1e-5)
        assert len(run.impacts) > 1
    else:
        kick = kc.Event(x - 0.3, direction=1, reset={u: u + g / 10, v: 1})
        run = agrees(kc.Modes(particle(), "P", mu=0.2), (0.0, 1.0), [0.0, 0.0, 2.0, 0.0], events=kick)
        assert len(run.t_events_sensitivities[0]) == 1


def block(**options: Any) -> kc.CompiledModel:
    """A square block of 1 m on its two lower corners."""
    return compiled(plane_body([(-0.5, -0.5), (0.5, -0.5)], m, m / 6, m * g, **options), {m: 2.0, g: G})


def test_a_puck_that_stops_and_is_pulled_away() -> None:
    """It stops after v |v|/(2 μ g), in whichever direction, and breaks loose along the force that grows."""
    law = {"normal": (0, 0, 1), "along": ((1, 0, 0), (0, 1, 0)), "mu": 0.3}
    v = np.array([1.5, 2.0])
    run = kc.Modes(particle(3), "P", **law).simulate((0.0, 1.0), [0, 0, 0, *v, 0], sensitivities=["x0"])
    by_v = (np.outer(v, v) / 2.5 + 2.5 * np.eye(2)) / (0.6 * G)
    assert_allclose(run.sensitivities[-1][:2, 3:5], by_v, rtol=1e-7)
    assert_allclose(run.modes_sensitivities[1, 3:5], v / 2.5 / (0.3 * G), rtol=1e-7)
    pulled = kc.Modes(particle(3, pull=F * t), "P", **law)
    run = pulled.simulate((0.0, 1.6), [0.0, 0.0, 0.0, 0.0, 1.5, 0.0], sensitivities=["p"])
    assert [modes["P"] for _, modes in run.modes] == ["slide", "stick", "slide"]
    begins = 0.6 * G / 5.0  # then u = F (t² − t₀²)/(2 m) − μ g (t − t₀)
    by = dict(zip(run.sensitivity_names, run.sensitivities[-1, 3], strict=True))
    grown = (1.6**2 - begins**2) / 4
    assert_allclose([by["F"], by["m"], by["g"]], [grown, -2.5 * grown, -0.3 * (1.6 - begins)], rtol=1e-6)


def test_two_feet_stop_together() -> None:
    """Both slips are one function, so that the order does not matter; at rest both stick."""
    run = agrees(kc.Modes(block(), ["c0", "c1"], mu=0.5), (0.0, 0.6), [0.0, 0.5, 0.0, 1.0, 0.0, 0.0])
    assert run.modes[1:] == [(run.modes[1][0], {"c0": "stick", "c1": "stick"})]
    assert_allclose(run.modes_sensitivities[1, 3], 1 / (0.5 * G), rtol=1e-8)


def test_a_rocking_block_and_a_dumbbell() -> None:
    """Housner's block from corner to corner; two masses on a rod, a constraint of the model, that land."""
    c, s = np.cos(0.2), np.sin(0.2)
    tilted = [0.5 * (c - s), 0.5 * (c + s), 0.2, 0.0, 0.0, 0.0]
    run = agrees(kc.Modes(block(), ["c0", "c1"], mu=0.9), (0.0, 0.35), tilted)
    assert run.impacts
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("a b c d"), me.dynamicsymbols("va vb vc vd")
    ends = []
    for name, place, speed in zip("AB", (q[:2], q[2:]), (u[:2], u[2:]), strict=True):
        P = O.locatenew(name, place[0] * N.x + place[1] * N.y)
        P.set_vel(N, speed[0] * N.x + speed[1] * N.y)
        ends.append(P)
    rod = ends[0].pos_from(ends[1])
    model = kc.Model(
        *(N, q, u, rates(q, u)),
        bodies=[me.Particle(f"mass {end.name}", end, m) for end in ends],
        forcelist=[(end, -m * g * N.y) for end in ends],
        configuration_constraints={"rod": rod.dot(rod) - 1},
    )
    dumbbell = kc.Modes(compiled(model, {m: 2.0, g: G}), ["A", "B"], mu=0.3, e=0.2)
    start = [0.0, 0.3, np.cos(0.4), 0.3 + np.sin(0.4), 0.5, 0.0, 0.5, 0.0]
    run = agrees(dumbbell, (0.0, 0.3), start, rtol=1e-5)
    assert run.impacts


def test_constants_added_to_inputs() -> None:
    """A force that jumps at 0.5 s breaks a block loose then, whatever constant is added; after that it counts."""
    pull = me.dynamicsymbols("f")
    modes = kc.Modes(particle(pull=pull), "P", mu=0.4)
    steps = kc.Signal([0.0, 0.5, 2.0], [0.0, 12.0, 3.0], "zoh")
    run = modes.simulate((0.0, 2.0), np.zeros(4), inputs={pull: steps}, t_eval=[0, 1, 2], sensitivities=["r"])
    assert [when for when, _ in run.modes] == [0.0, 0.5]
    assert_allclose(run.modes_sensitivities, 0.0)
    assert_allclose(run.sensitivities[1:, :, 0], [[0.0625, 0, 0.25, 0], [0.5625, 0, 0.75, 0]], atol=1e-9)


def test_what_has_no_derivative_is_refused() -> None:
    pull = me.dynamicsymbols("f")
    both = kc.Modes(block(), ["c0", "c1"], mu=0.5, e=0.3)
    with pytest.raises(
        kc.IntegrationError, match="gap of contact 'c0' and the gap of contact 'c1' fall to zero at one"
    ):
        both.simulate((0.0, 0.6), [0.0, 0.8, 0.0, 0.0, 0.0, 0.0], sensitivities=["x0"])
    ceiling = kc.Modes(particle(), {"P": {"normal": (0, -1, 0), "origin": (0, 1, 0)}})
    with pytest.raises(kc.IntegrationError, match=r"gap of contact 'P' has the rate 0 at its zero, .* it grazes"):
        ceiling.simulate((0.0, 1.0), [0.0, 0.0, 1.0, np.sqrt(2 * G * (1 + 5e-13))], sensitivities=["x0"])
    push = kc.Modes(particle(pull=pull), "P", mu=0.5)
    with pytest.raises(ValueError, match="sensitivities need the derivatives of the inputs, and a function gives them"):
        push.simulate((0.0, 1.0), np.zeros(4), inputs={pull: lambda t, x: 1.0}, sensitivities=["x0"])
    with pytest.raises(ValueError, match="sensitivities need the steps of the run: leave out dense_output=False"):
        ceiling.simulate((0.0, 1.0), np.zeros(4), dense_output=False, sensitivities=["x0"])
