# SPDX-License-Identifier: BSD-3-Clause
"""Motions that repeat themselves: known periods, and known eigenvalues of return maps."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, on_a_line
from numpy.testing import assert_allclose
from scipy.integrate import simpson

import kanecore as kc

Array = npt.NDArray[np.float64]

T = me.dynamicsymbols._t


@pytest.fixture(scope="module")
def van_der_pol() -> kc.CompiledModel:
    mu = sm.Symbol("mu")
    return on_a_line("van der Pol", lambda q, u: mu * (1 - q**2) * u - q, {mu: 1.0})


# ------------------------------------------------------------------------------------------------------- limit cycles
PERIOD = 6.6632868593231301896996820305
"""Of van der Pol's oscillator with mu = 1 (Viswanath, *Studies in Applied Mathematics* 107, 2001, and OEIS A225599)."""


def test_a_limit_cycle(van_der_pol: kc.CompiledModel) -> None:
    """Multipliers are 1 and exp ∫ tr A dt, by Liouville."""
    found = van_der_pol.periodic([2.0, 0.5], 6.0)
    assert found.period == pytest.approx(PERIOD, abs=1e-9)
    t = np.linspace(0, found.period, 2001)
    trace = 1.0 - found.trajectory(t)[:, 0] ** 2
    decay = np.exp(simpson(trace, x=t))
    assert_allclose(found.multipliers, [1.0, decay], rtol=1e-6)
    assert_allclose(found.trajectory.x[-1], found.x0, rtol=0, atol=1e-9)
    assert str(found).startswith("van der Pol: a motion of period 6.6632868")


def test_a_limit_cycle_by_an_event(van_der_pol: kc.CompiledModel) -> None:
    """A return map has the same multipliers, but for that along the motion; after two returns their squares."""
    by_time = van_der_pol.periodic([2.0, 0.5], 6.0)
    for event, power in ((kc.Event("u", direction=-1), 1), (kc.Event("u", terminal=2, direction=-1), 2)):
        found = van_der_pol.periodic([2.0, 0.0], 6.0 * power, event=event)
        assert found.period == pytest.approx(power * PERIOD, abs=1e-9)
        assert found.x0[0] == pytest.approx(2.0086, abs=1e-4)
        assert_allclose(found.multipliers, [by_time.multipliers[1] ** power, 0.0], atol=1e-9)


def test_a_start_just_before_its_event(van_der_pol: kc.CompiledModel) -> None:
    """The zero that comes at once is not counted, also of several."""
    for event in (kc.Event("u", direction=-1), kc.Event("u", terminal=2)):
        found = van_der_pol.periodic([2.0, 0.01], 6.0, event=event)
        assert found.period == pytest.approx(PERIOD, abs=1e-9)


def test_a_guess_that_is_far_too_long(van_der_pol: kc.CompiledModel) -> None:
    """The event alone decides how long a period takes."""
    found = van_der_pol.periodic([2.0, 0.0], 80.0, event=kc.Event("u", direction=-1))
    assert found.period == pytest.approx(PERIOD, abs=1e-9)


def test_events_by_name_beside_expressions(van_der_pol: kc.CompiledModel) -> None:
    q = me.dynamicsymbols("q")
    found = van_der_pol.periodic([2.0, 0.5], 6.0, events=kc.Event(q - 1))
    assert found.trajectory.t_events is not None
    assert len(found.trajectory.t_events[0]) == 2
    by_name = van_der_pol.periodic([2.0, 0.0], 6.0, event="u", events=[kc.Event(q - 1)])
    assert by_name.residual < 1e-9


def test_a_driven_oscillator() -> None:
    """q̈ = −k q − c q̇ + cos 2t: the amplitude is 1/|k − 4 + 2 i c|, the multipliers are exp(λ π)."""
    k, c = sm.symbols("k c")
    dyn = on_a_line("driven", lambda q, u: -k * q - c * u + sm.cos(2 * T), {k: 9.0, c: 0.4})
    found = dyn.periodic([1.0, 0.0], np.pi, fixed_period=True)
    response = 1 / (9 - 4 + 0.8j)
    assert_allclose(found.x0, [response.real, (2j * response).real], atol=1e-9)
    roots = np.exp(np.roots([1.0, 0.4, 9.0]) * np.pi)
    assert_allclose(sorted(found.multipliers, key=np.imag), sorted(roots, key=np.imag), atol=1e-7)
    with pytest.raises(kc.ModelError, match="fixed_period=True"):
        dyn.periodic([0.2, 0.0], 3.1)
    with pytest.raises(kc.ModelError, match="give its own period"):
        dyn.periodic([0.2, 0.0], 3.0, fixed_period=True)


# ---------------------------------------------------------------------------------------------- energy is conserved
def test_kepler() -> None:
    """T = 2π √(a³/μ) (Kepler's third law), and all multipliers are 1; the polar angle goes on."""
    dyn = kc.load("kepler")
    mu = dyn.parameters["mu"]
    found = dyn.periodic({"r": 1.0, "v": 0.1, "w": 2.4}, 3.2, advancing=["theta"])
    assert np.ptp(found.trajectory["r"]) > 0.01  # on circles, r repeats itself after any time
    energy = float(dyn.kinetic_energy(0.0, found.x0) + dyn.potential_energy(0.0, found.x0)) / dyn.parameters["m"]
    a = -mu / (2 * energy)
    assert found.period == pytest.approx(2 * np.pi * np.sqrt(a**3 / mu), rel=1e-9)
    assert_allclose(found.multipliers, 1.0, atol=1e-3)  # one Jordan block: the roots of rounding


def test_a_pendulum_in_a_loop() -> None:
    """On constraints: as many multipliers as free directions."""
    dyn = kc.load("four_bar")
    rest = dyn.equilibrium()
    x0 = np.asarray(dyn.consistent(0.0, rest.x + np.r_[0.05, np.zeros(dyn.n_x - 1)]))
    poles = np.linalg.eigvals(dyn.linearize(0.0, rest.x, minimal=True)[0])
    found = dyn.periodic(x0, 2 * np.pi / float(np.max(np.abs(poles.imag))))
    assert found.residual < 1e-9
    assert len(found.multipliers) == len(poles)
    assert_allclose(np.abs(found.multipliers), 1.0, atol=1e-4)
    assert np.max(np.abs(found.x0[dyn.n_q :])) + np.max(np.abs(found.x0 - rest.x)) > 1e-3  # and not at rest


def test_a_quaternion_that_ends_as_its_negative() -> None:
    """A body that turns at 2 rad/s has its attitude again after π s, and its quaternion after 2 π s.

    The multipliers off the axis 3 are those of Euler's equations: exp ±i √((I1 − I3)(I2 − I3)/(I1 I2)) 2 π.
    """
    dyn = kc.load("free_body")
    x0 = {"e0": 1.0, "w3": 2.0, "v1": 0.3}
    found = dyn.periodic(x0, 3.2, advancing=["x", "y", "z"], parameters={"g": 0.0})
    assert found.period == pytest.approx(np.pi, rel=0.02)
    assert found.x0[9] * found.period == pytest.approx(2 * np.pi, rel=1e-8)
    ixx, iyy, izz = (dyn.parameters[name] for name in ("Ixx", "Iyy", "Izz"))
    turn = np.exp(2j * np.pi * np.sqrt((ixx - izz) * (iyy - izz) / (ixx * iyy)))
    assert len(found.multipliers) == dyn.n_x - 1
    assert np.min(np.abs(found.multipliers - turn)) < 1e-6


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_do_not_matter(unit: float) -> None:
    dyn = on_a_line("in other units", lambda q, u: (1 - (q / unit) ** 2) * u - q, {})
    found = dyn.periodic([2.0 * unit, 0.5 * unit], 6.0)
    assert found.period == pytest.approx(PERIOD, abs=1e-9)


def test_small_motions() -> None:
    """Of an amplitude of 1e-5 beside 1; of 1e-7 the given tolerances have too few digits, and the error says so."""
    dyn = on_a_line("small", lambda q, u: -sm.sin(q - 1), {})
    assert dyn.periodic([1 + 1e-5, 0.0], 6.0).period == pytest.approx(2 * np.pi, abs=1e-8)
    with pytest.raises(kc.ModelError, match="make them smaller"):
        dyn.periodic([1 + 1e-7, 0.0], 6.0)


# ---------------------------------------------------------------------------------------------------------- walkers
def test_the_simplest_walker() -> None:
    """Garcia, Chatterjee, Ruina & Coleman, *Journal of Biomechanical Engineering* 120, 1998: slope 0.009.

    The feet weigh next to nothing beside the hip; so the digits end where their mass, 1e-9 of the hip's, begins.
    """
    th, ph, w, s = me.dynamicsymbols("theta phi omega sigma")
    beta, gamma = sm.symbols("beta gamma")
    frame, origin = ground()
    stance, swing = frame.orientnew("A", "Axis", [th, frame.z]), frame.orientnew("C", "Axis", [th - ph, frame.z])
    stance.set_ang_vel(frame, w * frame.z)
    swing.set_ang_vel(frame, (w - s) * frame.z)
    hip = origin.locatenew("hip", stance.y)
    foot = hip.locatenew("foot", -swing.y)
    hip.v2pt_theory(origin, frame, stance)
    foot.v2pt_theory(hip, frame, swing)
    down = sm.sin(gamma) * frame.x - sm.cos(gamma) * frame.y
    model = kc.Model(
        *(frame, [th, ph], [w, s], [th.diff() - w, ph.diff() - s]),
        bodies=[me.Particle("hip", hip, 1), me.Particle("foot", foot, beta)],
        forcelist=[(hip, down), (foot, beta * down)],
        name="walker",
    )
    dyn = kc.compile(model, parameters={beta: 1e-9, gamma: 0.009})
    # the new stance leg is the old swing leg; the foot passes the ground from above where φ − 2 θ grows
    cos = sm.cos(2 * th)
    strike = kc.Event(ph - 2 * th, direction=1, reset={th: -th, ph: -2 * th, w: cos * w, s: cos * (1 - cos) * w})
    long = dyn.periodic([0.2, 0.4, -0.2, -0.016], 3.9, event=strike)
    assert_allclose(long.x0[[0, 2]], [0.200310900544287, -0.199832473004977], atol=1e-7)
    assert_allclose(long.multipliers[:2].real, -0.190099639402167, atol=2e-6)
    assert_allclose(np.sort(long.multipliers[:2].imag), [-0.557599274284362, 0.557599274284362], atol=2e-6)
    short = dyn.periodic([0.1939, 0.3879, -0.2039, -0.0151], 3.8, event=strike)
    assert_allclose(short.x0[[0, 2]], [0.193937369810184, -0.203866927442010], atol=1e-7)
    assert_allclose(short.multipliers, [4.003865226079, 0.459589047035257, 0.0, 0.0], atol=5e-6)


def test_a_rimless_wheel() -> None:
    """Return map ω² -> cos² 2α (ω² + 4 (g/l) sin α sin γ) (McGeer 1990; Coleman 1998), feet held by constraints."""
    hx, hy, th, ux, uy, om = me.dynamicsymbols("h_x h_y theta u_x u_y omega")
    frame, origin = ground()
    a, slope = np.pi / 8, 0.08
    spoke = frame.orientnew("S", "Axis", [-th, frame.z])
    following = spoke.orientnew("F", "Axis", [2 * sm.Float(a), frame.z])
    spoke.set_ang_vel(frame, -om * frame.z)
    hub = origin.locatenew("hub", hx * frame.x + hy * frame.y)
    hub.set_vel(frame, ux * frame.x + uy * frame.y)
    foot, landing = hub.locatenew("foot", -spoke.y), hub.locatenew("landing", -following.y)
    for point in (foot, landing):
        point.v2pt_theory(hub, frame, spoke)
    model = kc.Model(
        *(frame, [hx, hy, th], [ux, uy, om], [hx.diff() - ux, hy.diff() - uy, th.diff() - om]),
        velocity_constraints={"along": foot.vel(frame).dot(frame.x), "up": foot.vel(frame).dot(frame.y)},
        bodies=[me.Particle("mass", hub, 1)],
        forcelist=[(hub, 9.81 * (np.sin(slope) * frame.x - np.cos(slope) * frame.y))],
        outputs={"next along": landing.vel(frame).dot(frame.x), "next up": landing.vel(frame).dot(frame.y)},
        name="rimless wheel",
    )
    rolling, free = kc.compile(model), kc.compile(model.free("along", "up"))

    def heel_strike(t: float, x: Array) -> Array:
        x = free.impact(t, x, ["next along", "next up"], mu={"next along": ("next up", np.inf)})
        x[2] -= 2 * a
        return x

    strike = kc.Event(th - a, direction=1, reset=heel_strike)
    start = [0.0, np.cos(a), -a, 1.2 * np.cos(a), 1.2 * np.sin(a), 1.2]
    found = rolling.periodic(start, 0.5, event=strike, advancing=["h_x"])
    eta2 = np.cos(2 * a) ** 2
    assert found.x0[5] == pytest.approx(np.sqrt(4 * 9.81 * eta2 * np.sin(a) * np.sin(slope) / (1 - eta2)), rel=1e-8)
    # the two coordinates of the hub stay where they are put, and what is off the section returns to it
    assert_allclose(found.multipliers, [1.0, 1.0, eta2, 0.0], atol=1e-6)


# ------------------------------------------------------------------------------------------------------------ errors
@pytest.mark.parametrize(
    ("arguments", "options", "error", "says"),
    [
        (([2.0, 0.0], -1.0), {}, ValueError, "period is -1.0"),
        (([2.0, 0.0], np.nan), {}, ValueError, "period is nan"),
        (([2.0, 0.0], 6.0), {"event": kc.Event("u"), "fixed_period": True}, ValueError, "without event"),
        (([2.0, 0.0], 6.0), {"event": kc.Event(lambda t, x: 5.0)}, kc.ModelError, "did not occur within 18"),
        (([2.0, 0.0], 6.0), {"advancing": ["v"]}, KeyError, "'v'"),
        (([2.0, 0.0, 1.0], 6.0), {}, ValueError, "x0 has shape"),
        (([2.0, 0.0], 6.0), {"fixed_period": True, "method": "bdf"}, ValueError, "sensitivities are for"),
        (([2.0, 0.0], 6.0), {"sensitivities": ["p"]}, TypeError, "sensitivities"),
        (([2.0, 0.0], 6.0), {"project": False}, TypeError, "project"),
        (([2.0, 0.0], None), {}, ValueError, "period is None"),
        (([2.0, 0.0], 6.0), {"tolerance": 0.0}, ValueError, "tolerance is 0.0"),
        (([2.0, 0.0], 6.0), {"advancing": "q"}, TypeError, "a list of coordinates"),
        (([2.0, 0.0], 6.0), {"advancing": ["q"]}, kc.ModelError, "rates depend on"),
        (([2.0, 0.0], 6.0), {"event": sm.Symbol("u")}, TypeError, "write kc.Event"),
        (([2.0, 0.0], 6.0), {"events": [kc.Event("u", terminal=True)]}, ValueError, "only event ends a period"),
    ],
)
def test_errors(
    van_der_pol: kc.CompiledModel, arguments: Any, options: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        van_der_pol.periodic(*arguments, **options)


def test_a_motion_that_only_decays() -> None:
    """Of a damped oscillator rest alone repeats itself: with any period."""
    dyn = on_a_line("damped", lambda q, u: -q - u / 10, {})
    found = dyn.periodic([1.0, 0.0], 6.0)
    assert_allclose(found.x0, 0.0, atol=1e-8)
    falls = on_a_line("falls", lambda q, u: sm.Integer(1), {})
    with pytest.raises(kc.ModelError, match="no periodic motion of 'falls' was found near this one"):
        falls.periodic([0.0, 1.0], 1.0)
