# SPDX-License-Identifier: BSD-3-Clause
"""Runs of contacts that open, close, stick and slide, against closed forms and the literature's toys."""

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import compiled, ground, mass_point, plane_body, rates
from numpy.testing import assert_allclose

import kanecore as kc

G = 9.81


def falling(angle: float = 0.0, pull: Any = 0, **options: Any) -> kc.CompiledModel:
    """A particle of 2 kg over a ground along x; gravity leans by an angle."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    P = O.locatenew("P", q[0] * N.x + q[1] * N.y)
    P.set_vel(N, u[0] * N.x + u[1] * N.y)
    force = 2.0 * G * (np.sin(angle) * N.x - np.cos(angle) * N.y) + pull
    model = kc.Model(N, q, u, rates(q, u), bodies=[me.Particle("P", P, 2.0)], forcelist=[(P, force)], **options)
    return compiled(model)


def test_a_block_slides_up_a_slope_and_sticks_or_comes_back() -> None:
    angle = 0.4
    dyn = falling(angle)
    for mu in (0.5, 0.3):
        run = kc.Modes(dyn, ["P"], mu=mu).simulate((0.0, 2.0), [0.0, 0.0, -3.0, 0.0])
        up, down = G * (np.sin(angle) + mu * np.cos(angle)), G * (np.sin(angle) - mu * np.cos(angle))
        (start, first), (turn, second) = run.modes
        assert (start, first["P"], second["P"]) == (0.0, "slide -", "stick" if mu > np.tan(angle) else "slide +")
        assert_allclose(turn, 3.0 / up, rtol=1e-9)
        back = 0.0 if mu > np.tan(angle) else 0.5 * down * (2.0 - turn) ** 2
        assert_allclose(run.x[-1], [back - 4.5 / up, 0.0, 2 * back / (2.0 - turn), 0.0], atol=1e-8)
        assert not run.impacts


def test_a_block_breaks_loose_and_lifts() -> None:
    """Pulled by F = 4 t along and up it slides when F = μ (m g − F), and lifts when F = m g."""
    t = me.dynamicsymbols._t
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    dyn = compiled(mass_point(dict(zip(q, u, strict=True)), 2.0, [4 * t, 4 * t - 2.0 * G]))
    run = kc.Modes(dyn, "P", mu=0.5).simulate((0.0, 6.0), np.zeros(4))
    assert [mode["P"] for _, mode in run.modes] == ["stick", "slide +", "open"]
    assert_allclose([time for time, _ in run.modes[1:]], [0.5 * 2.0 * G / (4 * 1.5), 2.0 * G / 4], rtol=1e-9)
    left = 6.0 - 2.0 * G / 4
    assert_allclose(run.x[-1, [1, 3]], [left**3 / 3, left**2], rtol=1e-8)


@pytest.mark.parametrize("feet", [(-0.5, 0.5), (-0.1, 0.7), (-0.5, 0.2, 0.6)])
@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_a_block_on_several_feet_breaks_loose(feet: tuple[float, ...], scale: float) -> None:
    """A push F = c t, at the height of the ground: ẍ = (c t − μ m g)/m once it slips, under all feet alike."""
    corners, F = [(scale * a, -0.2 * scale) for a in feet], me.dynamicsymbols("F")
    dyn = compiled(plane_body(corners, 2.0, 0.3 * scale**2, 2.0 * G * scale, F))
    names = [f"c{i}" for i in range(len(feet))]
    run = kc.Modes(dyn, names, mu=0.2).simulate((0, 1), {"y": 0.2 * scale}, inputs={"F": lambda t: 10.0 * scale * t})
    slips = 0.2 * 2.0 * G / 10.0
    assert [modes for _, modes in run.modes] == [dict.fromkeys(names, "stick"), dict.fromkeys(names, "slide +")]
    assert_allclose(run.modes[1][0], slips, rtol=1e-9)
    assert_allclose(run.x[-1, 0], scale * 5.0 / 6.0 * (1.0 - slips) ** 3, rtol=1e-7)
    assert_allclose(run.x[-1, [1, 2]], [0.2 * scale, 0.0], atol=1e-9 * scale)


def test_a_ball_bounces_until_it_lies() -> None:
    run = kc.Modes(falling(), {"P": {"e": 0.6}}, rest=1e-3).simulate((0.0, 4.0), [0.0, 1.0, 0.5, 0.0])
    first, n = np.sqrt(2 / G), len(run.impacts)
    times = [first + 2 * first * sum(0.6**k for k in range(1, i + 1)) for i in range(n)]
    assert_allclose([time for time, _, _ in run.impacts], times, rtol=1e-8)
    assert [mode["P"] for _, mode in run.modes[-2:]] == ["open", "slide +"]
    assert_allclose(run.modes[-1][0], times[-1])
    assert_allclose(run.x[-1], [2.0, 0.0, 0.5, 0.0], atol=1e-7)


def test_first_order_states_go_on_between_impacts() -> None:
    """ż = v integrates to the way of a ball that bounces; ż = v̇ is refused, which contacts change."""
    v, z = me.dynamicsymbols("v z")
    run = kc.Modes(falling(states={z: v}), "P", e=0.5).simulate((0.0, 1.5), [0.0, 1.0, 0.5, 0.0, 0.2])
    assert len(run.impacts) > 3
    assert_allclose(run.x[:, 4], run.x[:, 1] - 0.8, atol=1e-7)
    with pytest.raises(kc.ModelError, match=r"rates of its states \(z\) hold .*, which the forces of contacts change"):
        kc.Modes(falling(states={z: v.diff()}), "P")


def test_a_ladder_leaves_the_wall() -> None:
    """A smooth ladder leaves at two thirds of its first height.

    θ̇² = (3 g/2 l) (sin θ₀ − sin θ) of a half length l; d²(l cos θ)/dt², to which the wall is needed, is zero there.
    """
    N, O = ground()  # noqa: E741
    (x, y, tilt), (vx, vy, rate) = me.dynamicsymbols("x y tilt"), me.dynamicsymbols("vx vy rate")
    A = N.orientnew("A", "Axis", [-tilt, N.z])
    A.set_ang_vel(N, -rate * N.z)
    C = O.locatenew("C", x * N.x + y * N.y)
    C.set_vel(N, vx * N.x + vy * N.y)
    foot, top = C.locatenew("foot", 1.5 * A.x), C.locatenew("top", -1.5 * A.x)
    body = me.RigidBody("ladder", C, A, 7.0, (me.inertia(A, 0, 0, sm.Rational(21, 4)), C))
    q, u = [x, y, tilt], [vx, vy, rate]
    pin = kc.JointFriction("ladder", mu=0.1, pin_radius=0.1, transition_velocity=1.0)
    loads, more = [(C, -7.0 * G * N.y)], {"bodies": [body], "points": [foot, top], "name": "ladder"}
    dyn = compiled(kc.Model(N, q, u, rates(q, u), forcelist=loads, **more))
    wall = {"normal": (1, 0, 0), "along": (0, 1, 0), "origin": (0.2, 0, 0)}
    start = [0.2 + 1.5 * np.cos(1.1), 1.5 * np.sin(1.1), 1.1, 0.0, 0.0, 0.0]
    run = kc.Modes(dyn, {"foot": {}, "top": wall}).simulate((0.0, 1.0), start)
    left = next(t for t, modes in run.modes if modes["top"] == "open")
    assert_allclose(run.x[np.searchsorted(run.t, left), 1], 1.5 * np.sin(1.1) * 2 / 3, rtol=1e-8)
    with pytest.raises(ValueError, match="along is one direction for all contacts, in a plane motion, or two for all"):
        kc.Modes(dyn, {"foot": {}, "top": {"along": ((1, 0, 0), (0, 0, 1))}})
    rubbing = compiled(kc.Model(N, q, u, rates(q, u), forcelist=[*loads, pin], **more))
    with pytest.raises(kc.ModelError, match="'ladder' has loads that depend on reactions, and contacts that open"):
        kc.Modes(rubbing, ["foot"])


def rocking(alpha: float) -> kc.CompiledModel:
    """A block of half diagonal 1 m, of which alpha is the angle between its side and its diagonal."""
    N, O = ground()  # noqa: E741
    (x, y, tilt), (vx, vy, rate) = me.dynamicsymbols("x y tilt"), me.dynamicsymbols("vx vy rate")
    A = N.orientnew("A", "Axis", [tilt, N.z])
    A.set_ang_vel(N, rate * N.z)
    C = O.locatenew("C", x * N.x + y * N.y)
    C.set_vel(N, vx * N.x + vy * N.y)
    corners = [
        C.locatenew(name, side * np.sin(alpha) * A.x - np.cos(alpha) * A.y)
        for name, side in (("left", -1.0), ("right", 1.0))
    ]
    body = me.RigidBody("block", C, A, 3.0, (me.inertia(A, 0, 0, sm.Rational(1)), C))
    q, u = [x, y, tilt], [vx, vy, rate]
    loads = [(C, -3.0 * G * N.y)]
    return compiled(kc.Model(N, q, u, rates(q, u), bodies=[body], forcelist=loads, points=corners, name="block"))


def test_a_rocking_block_keeps_what_housner_found() -> None:
    """1 − 1.5 sin²α of the rate at each impact; from −cos(α − θ₀) the energy tells the rate; at last it stands."""
    alpha, tilt = 0.3, 0.15
    c, s, w, h = np.cos(tilt), np.sin(tilt), np.sin(alpha), np.cos(alpha)
    start = [c * w - s * h, s * w + c * h, tilt, 0.0, 0.0, 0.0]
    run = kc.Modes(rocking(alpha), ["left", "right"], mu=2.0).simulate((0.0, 8.0), start)
    assert [mode for _, mode in run.modes[:3]] == [
        {"left": "stick", "right": "open"},
        {"left": "open", "right": "stick"},
        {"left": "stick", "right": "open"},
    ]
    kept = [after[5] / before[5] for _, before, after in run.impacts[:10]]
    assert_allclose(kept, 1 - 1.5 * np.sin(alpha) ** 2, rtol=1e-7)
    landing = -np.sqrt(1.5 * G * (np.cos(alpha - tilt) - np.cos(alpha)))  # ½ (4/3) m ω² = m g Δh
    assert_allclose(run.impacts[0][1][5], landing, rtol=1e-7)
    assert run.modes[-1][1] == {"left": "stick", "right": "stick"}
    assert_allclose(run.x[-1, 1:], [h, 0.0, 0.0, 0.0, 0.0], atol=1e-5)


def test_a_smooth_block_slides_off_its_corner() -> None:
    """Without friction nothing pushes sideways: the mass centre falls straight down."""
    alpha, tilt = 0.3, 0.15
    c, s, w, h = np.cos(tilt), np.sin(tilt), np.sin(alpha), np.cos(alpha)
    start = [c * w - s * h, s * w + c * h, tilt, 0.0, 0.0, 0.0]
    run = kc.Modes(rocking(alpha), ["left", "right"]).simulate((0.0, 0.3), start)
    assert_allclose(run.x[:, 0], start[0], atol=1e-9)
    assert run.modes[0][1]["left"].startswith("slide")


# ------------------------------------------------------------------------------------------------- in space
SPACE: dict[str, Any] = {"normal": (0, 0, 1), "along": ((1, 0, 0), (0, 1, 0))}


def puck(angle: float, pull: Any = None) -> kc.CompiledModel:
    """A particle of 2 kg over the plane z = 0; gravity leans along x by an angle."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("x y z"), me.dynamicsymbols("u v w")
    P = O.locatenew("P", sum((a * axis for a, axis in zip(q, N, strict=True)), me.Vector(0)))
    P.set_vel(N, sum((a * axis for a, axis in zip(u, N, strict=True)), me.Vector(0)))
    force = 2.0 * G * (np.sin(angle) * N.x - np.cos(angle) * N.z)
    if pull is not None:
        force += pull(N)
    return compiled(kc.Model(N, q, u, rates(q, u), bodies=[me.Particle("P", P, 2.0)], forcelist=[(P, force)]))


def test_a_puck_that_is_pushed_across_a_slope() -> None:
    """With μ = tan α, |v| + v_x is constant, since friction takes what gravity brings: at last v_x = v₀/2."""
    run = kc.Modes(puck(0.5), "P", mu=np.tan(0.5), **SPACE).simulate((0.0, 3.0), [0.0, 0.0, 0.0, 0.0, 1.2, 0.0])
    assert [mode["P"] for _, mode in run.modes] == ["slide"]
    assert_allclose(np.hypot(run.x[:, 3], run.x[:, 4]) + run.x[:, 3], 1.2, rtol=1e-8)
    assert_allclose(run.x[-1, 3:], [0.6, 0.0, 0.0], atol=1e-8)


def test_a_puck_lands_slides_and_stops() -> None:
    """The impulse of friction is μ times that of the ground, against the slip, and so is the force; then it sticks."""
    mu, e, fall = 0.2, 0.5, np.sqrt(2 * 0.05 * G)
    run = kc.Modes(puck(0.0), "P", mu=mu, e=e, **SPACE).simulate((0.0, 2.0), [0.0, 0.0, 0.05, 1.5, -2.0, 0.0])
    _, before, after = run.impacts[0]
    assert_allclose(before[3:], [1.5, -2.0, -fall], rtol=1e-9)
    assert_allclose(after[3:], [*((2.5 - mu * (1 + e) * fall) * np.array([0.6, -0.8])), e * fall], rtol=1e-9)
    (slides, _), (stops, last) = run.modes[-2:]
    left = np.linalg.norm(run.impacts[-1][2][3:5])
    assert last == {"P": "stick"}
    assert_allclose(stops - slides, left / (mu * G), rtol=1e-4)
    assert_allclose(run.x[-1, 2:], 0.0, atol=1e-6)


def test_a_puck_breaks_loose_the_way_it_is_pulled() -> None:
    """By a force that grows along (3, 4)/5, 12 t₀ = μ N; it lifts when it is pulled up as hard as it weighs."""
    t = me.dynamicsymbols._t
    dyn = puck(0.0, lambda N: 12 * t * (0.6 * N.x + 0.8 * N.y) + 2 * G * t**2 * N.z)
    run = kc.Modes(dyn, "P", mu=0.5, **SPACE).simulate((0.0, 1.2), np.zeros(6))
    assert [mode["P"] for _, mode in run.modes] == ["stick", "slide", "open"]
    starts = np.roots([2 * G * 0.5, 12.0, -0.5 * 2 * G]).max()
    assert_allclose([time for time, _ in run.modes[1:]], [starts, 1.0], rtol=1e-8)
    assert_allclose(run.x[-1, 4] / run.x[-1, 3], 4 / 3, rtol=1e-9)


# ------------------------------------------------------------------------------------- mechanisms of the literature
def woodpecker() -> kc.CompiledModel:
    """A bird on a spring at a sleeve around a pole (Glocker 1995; Leine, Glocker & van Campen 2001)."""
    r0, rm, hm, lm, lg, hs, ls = 2.5e-3, 3.1e-3, 5.8e-3, 0.010, 0.015, 0.02, 0.0201
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("y sleeve bird"), me.dynamicsymbols("uy us ub")
    (y, s, b), speeds = q, dict(zip(q, u, strict=True))

    def point(name: str, gap: Any, height: Any) -> Any:
        place = O.locatenew(name, gap * N.x + height * N.y)
        along = [sum(sm.diff(e, z) * speeds[z] for z in q) for e in (gap, height)]
        place.set_vel(N, along[0] * N.x + along[1] * N.y)
        return place

    bodies, loads = [], []
    centres = (point("S", sm.S.Zero, y), point("B", sm.S.Zero, y + lm * s + lg * b))
    for centre, angle, other, mass, inertia in zip(centres, (s, b), (b, s), (3e-4, 4.5e-3), (5e-9, 7e-7), strict=True):
        A = N.orientnew(centre.name, "Axis", [angle, N.z])
        A.set_ang_vel(N, speeds[angle] * N.z)
        bodies.append(me.RigidBody(centre.name, centre, A, mass, (me.inertia(A, 0, 0, inertia), centre)))
        loads += [(centre, -mass * G * N.y), (A, 5.6e-3 * (other - angle) * N.z)]
    contacts = [
        point("beak", lm + lg - ls - r0 - hs * b, y + lm * s + (lg - ls) * b),
        point("below", rm - r0 + hm * s, y + rm * s),
        point("above", rm - r0 - hm * s, y + rm * s),
    ]
    return compiled(kc.Model(N, q, u, rates(q, u), bodies=bodies, forcelist=loads, points=contacts, name="toy"))


def test_the_woodpecker_comes_back_to_its_published_state() -> None:
    """The periodic motion of the toy passes φ_S = −0.2788 with ẏ = −0.3411 and φ̇_S = −7.4583; it hits and slips."""
    laws: dict[str, dict[str, float]] = {"beak": {"e": 0.5}, "below": {}, "above": {}}
    toy = kc.Modes(woodpecker(), laws, normal=(1, 0, 0), along=(0, 1, 0), mu=0.3)
    run = toy.simulate((0.0, 0.15), [0.0, -0.6 / 5.8, -0.2788, -0.3411, 0.0, -7.4583], max_step=1e-3)
    bird, rate = run.x[:, 2], run.x[:, 5]
    [*_, last] = np.flatnonzero((bird[:-1] > -0.2788) & (bird[1:] <= -0.2788) & (rate[:-1] < 0.0))
    share = (bird[last] + 0.2788) / (bird[last] - bird[last + 1])
    speeds = run.x[last, 3:] + share * (run.x[last + 1, 3:] - run.x[last, 3:])
    assert_allclose(speeds, [-0.3411, 0.0, -7.4583], rtol=1e-2, atol=1e-9)
    assert_allclose(speeds[2], -7.4583, rtol=2e-3)
    passed = {(name, mode) for _, modes in run.modes for name, mode in modes.items()}
    assert {("below", "stick"), ("below", "slide -"), ("above", "slide +")} <= passed
    assert sum(after[5] * before[5] < 0.0 for _, before, after in run.impacts) == 1  # of the beak


def leaning(mu: float, speed: float) -> tuple[kc.Modes, list[float]]:
    """Génot and Brogliato's rod of half-length 0.5 m, one radian from the ground, on which its end slides."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("x y tilt"), me.dynamicsymbols("vx vy rate")
    A = N.orientnew("A", "Axis", [q[2], N.z])
    A.set_ang_vel(N, u[2] * N.z)
    C = O.locatenew("C", q[0] * N.x + q[1] * N.y)
    C.set_vel(N, u[0] * N.x + u[1] * N.y)
    P = C.locatenew("P", -0.5 * A.x)
    body = me.RigidBody("rod", C, A, 1.3, (me.inertia(A, 0, 0, 1.3 / 12), C))
    model = kc.Model(N, q, u, rates(q, u), bodies=[body], forcelist=[(C, -1.3 * G * N.y)], points=[P])
    start = [0.5 * np.cos(1.0), 0.5 * np.sin(1.0), 1.0, speed, 0.0, 0.0]
    return kc.Modes(compiled(model), "P", mu=mu), start


def test_the_rod_of_genot_and_brogliato() -> None:
    """Sliding it falls with F = m g/(1 + 3 cos θ (cos θ − s μ sin θ)); where that is negative no motion is found."""
    modes, start = leaning(0.4, 2.0)
    run = modes.simulate((0.0, 1e-3), start)
    c, s = np.cos(1.0), np.sin(1.0)
    force = 1.3 * G / (1 + 3 * c * (c + 0.4 * s))
    assert run.modes[0][1] == {"P": "slide +"}
    assert_allclose(
        (run.x[-1, 3:] - start[3:]) / 1e-3,
        [-0.4 * force / 1.3, force / 1.3 - G, -6 * force * (c + 0.4 * s) / 1.3],
        rtol=1e-2,
    )
    modes, start = leaning(2.2, -2.0)
    with pytest.raises(kc.ModelError, match=r"no modes of the contacts .* may have no motion .Painlevé."):
        modes.simulate((0.0, 1e-3), start)


def test_wrong_arguments_are_named() -> None:
    dyn = falling()
    with pytest.raises(KeyError, match="'Q'"):
        kc.Modes(dyn, ["Q"])
    with pytest.raises(KeyError, match="no law of contact 'P' is called 'mi'"):
        kc.Modes(dyn, {"P": {"mi": 0.3}})
    with pytest.raises(TypeError, match=r"contacts\['P'\] is 0.3; write its law by name, such as {'mu': 0.3}"):
        kc.Modes(dyn, {"P": 0.3})
    with pytest.raises(ValueError, match=r"t_span is \(1.0, 0.0\); it must not go back in time"):
        kc.Modes(dyn, "P").simulate((1.0, 0.0), np.zeros(4))
    with pytest.raises(ValueError, match=r"mu of P is -1; it must be a number, not negative"):
        kc.Modes(dyn, "P", mu=-1)
    with pytest.raises(ValueError, match="mu of P is 'rough'; it must be a number"):
        kc.Modes(dyn, "P", mu="rough")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"mu_static of P is 0\.2, and mu 0\.5: what sticks must not slip more easily"):
        kc.Modes(dyn, {"P": {"mu": 0.5, "mu_static": 0.2}})
    with pytest.raises(ValueError, match="contacts and switches are empty: name points"):
        kc.Modes(dyn, [])
    with pytest.raises(ValueError, match="normal and along must be two unit vectors"):
        kc.Modes(dyn, "P", normal=(0, 2, 0))
    with pytest.raises(ValueError, match="in space along holds two"):
        kc.Modes(dyn, "P", along=((1, 0, 0), (1, 0, 0)))
    with pytest.raises(kc.ModelError, match=r"contact 'P' is 0.1 m below the ground at t = 0: lift x0"):
        kc.Modes(dyn, "P").simulate((0.0, 1.0), [0.0, -0.1, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"rest is -1\.0; it must be a speed, not negative"):
        kc.Modes(dyn, "P", rest=-1.0)
    with pytest.raises(KeyError, match="'Q'"):
        kc.Modes(dyn, {"P": {"origin": "Q"}})
    with pytest.raises(ValueError, match=r"with a plane of frame 'A': origin must be a point of the model on it"):
        kc.Modes(rocking(0.3), {"left": {"frame": "A"}})
    with pytest.raises(ValueError, match="contacts is for kanecore's own methods, and 'radau' is another package's"):
        kc.Modes(dyn, "P").simulate((0.0, 1.0), np.zeros(4), method="radau")


@pytest.mark.compiler
def test_single_precision_is_refused() -> None:
    floats = compiled(mass_point({me.dynamicsymbols("x"): me.dynamicsymbols("u")}), real="float")
    with pytest.raises(kc.ModelError, match="compiled with real='float', and rigid contacts need doubles"):
        kc.Modes(floats, {"stop": {"gap": me.dynamicsymbols("x")}})
