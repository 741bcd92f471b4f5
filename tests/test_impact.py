# SPDX-License-Identifier: BSD-3-Clause
"""``dyn.impact``: closed forms of collisions, laws of walking from the literature, the equations, and its errors."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from gallery_states import loaded, some_state
from mechanisms import compiled, ground, l, m, particle, r, rates
from oracle.lines import lines
from sweep import part
from sympy.physics.mechanics import dynamicsymbols

import kanecore as kc

Array = npt.NDArray[np.float64]

MODELS = ["arm7", "bricard", "five_bar", "four_bar", "free_body", "rolling_disc", "rrp_redundant", "stewart"]


def dumbbell(mass: float = 2.0, length: float = 3.0) -> kc.CompiledModel:
    """Two particles of one mass, held apart by a constraint."""
    q, u = dynamicsymbols("q1:5"), dynamicsymbols("u1:5")
    N, origin = ground()
    ends = [origin.locatenew(name, a * N.x + b * N.y) for name, a, b in (("A", *q[:2]), ("B", *q[2:]))]
    velocities = [a * N.x + b * N.y for a, b in (u[:2], u[2:])]
    for end, velocity in zip(ends, velocities, strict=True):
        end.set_vel(N, velocity)
    gap = ends[0].pos_from(ends[1])
    outputs = {
        "tip": velocities[0].dot(N.y),
        "stretch": (velocities[0] - velocities[1]).dot(gap),
        "speed": velocities[0].dot(velocities[0]),
        "jerk": u[0].diff(),
        "gap": gap.dot(N.y),
    }
    model = kc.Model(
        *(N, q, u, rates(q, u)),
        configuration_constraints={"rod": gap.dot(gap) - l**2},
        bodies=[me.Particle(f"at {end.name}", end, m) for end in ends],
        outputs=outputs,
        name="dumbbell",
    )
    return compiled(model, {m: mass, l: length})


def in_a_plane(inertia: Any, values: dict[Any, float], more: Any) -> kc.CompiledModel:
    """A body at x, y that turns by theta; ``more(C, B)`` is what the model has beside it."""
    q, u = dynamicsymbols("x y theta"), dynamicsymbols("u v omega")
    N, origin = ground()
    B = N.orientnew("B", "Axis", [q[2], N.z])
    B.set_ang_vel(N, u[2] * N.z)
    C = origin.locatenew("C", q[0] * N.x + q[1] * N.y)
    C.set_vel(N, u[0] * N.x + u[1] * N.y)
    body = me.RigidBody("body", C, B, m, (me.inertia(B, 0, 0, inertia), C))
    return compiled(kc.Model(N, q, u, rates(q, u), bodies=[body], **more(C, B)), values)


def falling(angle: float, length: float = 3.0, v: float = 1.0) -> Array:
    """The dumbbell with end A below end B, which falls without turning."""
    return np.array([0, 0, length * np.cos(angle), length * np.sin(angle), 0, -v, 0, -v])


# --------------------------------------------------------------------------------------------------- closed forms
@pytest.mark.parametrize(("length", "mass", "v"), [(3.0, 2.0, 1.0), (3e-9, 2.0, 1e-6), (3.0, 2e12, 1e5)])
@pytest.mark.parametrize("e", part([0.0, 0.5], [0.5]))
def test_tip_of_a_dumbbell(e: float, length: float, mass: float, v: float) -> None:
    """About the centre 2m V⁺ = Λ − 2m v and ½ m l² ω⁺ = −Λ (l/2) cos θ, with v_tip⁺ = V⁺ − ω⁺ (l/2) cos θ = e v."""
    dyn, angle = dumbbell(mass, length), 0.6
    x = falling(angle, length, v)
    found = dyn.impact(0.0, x, "tip", e, full=True)
    impulse = 2 * mass * (1 + e) * v / (1 + np.cos(angle) ** 2)
    omega = -impulse * np.cos(angle) / (mass * length)
    centre, turn = impulse / (2 * mass) - v, omega * length / 2 * np.array([np.sin(angle), -np.cos(angle)])
    expected = [*turn, *-turn]
    expected[1], expected[3] = expected[1] + centre, expected[3] + centre
    np.testing.assert_allclose(found.x[4:], expected, rtol=0, atol=1e-13 * v)
    np.testing.assert_array_equal(found.x[:4], x[:4])
    assert found.impulses == pytest.approx([impulse], rel=1e-12)
    assert found.before == pytest.approx([-v])
    assert found.after == pytest.approx([e * v], abs=1e-13 * v)
    # the rod carries what end B changes by: M Δu = GᵀΛ there, with G = 2 (r_B − r_A) for B
    along = np.array([np.cos(angle), np.sin(angle)])
    carried = mass * np.array([expected[2], expected[3] + v])
    assert found.constraint_impulses[0] * 2 * length == pytest.approx(carried @ along, rel=1e-12)
    assert found.undetermined == ()
    np.testing.assert_array_equal(dyn.impact(0.0, x, [0, 1, 0, 0], e), found.x)
    np.testing.assert_array_equal(dyn.impact(0.0, x, ["tip"], [e]), found.x)


def test_one_speed_reset_and_projected_is_no_impact() -> None:
    """That way the tip leaves more slowly than its e says: the reason why `impact` exists."""
    dyn, x = dumbbell(), falling(np.pi / 4)
    reset = x.copy()
    reset[5] = 0.5
    assert dyn.consistent(0.0, reset, None)[5] < 0.2
    assert dyn.impact(0.0, x, "tip", 0.5)[5] == pytest.approx(0.5)


def test_two_balls() -> None:
    """Both in line: momentum is kept, and the approach is reversed by e."""
    u, (m1, m2), (a, b) = dynamicsymbols("u0 u1"), sm.symbols("m1 m2"), (2.0, 0.5)
    dyn = kc.compile(lines(2, masses=[m1, m2], outputs={"gap": u[1] - u[0]}), parameters={m1: a, m2: b})
    for e in (0.0, 0.3, 1.0):
        after = dyn.impact(0.0, {"x0": 1.0, "x1": 1.0, "u0": 3.0, "u1": -1.0}, "gap", e)[2:]
        np.testing.assert_allclose(after, [3 - b / (a + b) * (1 + e) * 4, -1 + a / (a + b) * (1 + e) * 4], rtol=1e-14)


def ball() -> kc.CompiledModel:
    """A solid ball over a plate that moves up and down by itself; it spins about the third axis."""
    v, (u, w), Y = dynamicsymbols("v"), dynamicsymbols("u omega"), dynamicsymbols("Y")
    outputs = {"normal": v - Y.diff(), "slip": u + r * w}
    more = {"inputs": [Y, Y.diff()], "outputs": outputs}
    return in_a_plane(sm.Rational(2, 5) * m * r**2, {m: 0.3, r: 0.2}, lambda C, B: more)


def test_super_ball() -> None:
    """Normal and tangential velocities reversed: Garwin, American Journal of Physics 37, 1969, with α = 2/5."""
    dyn, a = ball(), 0.2
    dyn.inputs = {"Y": 0.0, "Y_d": 0.0}
    x = np.array([0.0, a, 0.0, 1.5, -2.0, 7.0])
    found = dyn.impact(0.0, x, ["normal", "slip"], 1.0, full=True)
    slip = 1.5 + a * 7.0
    np.testing.assert_allclose(found.x[3:], [1.5 - 4 / 7 * slip, 2.0, 7.0 - 10 / 7 * slip / a], rtol=1e-14)
    assert dyn.kinetic_energy(0.0, found.x) == pytest.approx(float(dyn.kinetic_energy(0.0, x)), rel=1e-14)
    stuck = dyn.impact(0.0, x, ["normal", "slip"], [0.5, 0.0])
    np.testing.assert_allclose([stuck[4], stuck[3] + a * stuck[5]], [1.0, 0.0], atol=1e-15)


def test_moving_plate() -> None:
    """A prescribed motion counts in v_n: relative to the plate the ball leaves with e times its approach."""
    dyn = ball()
    dyn.inputs = {"Y": 0.0, "Y_d": 0.7}
    x = [0.0, 0.2, 0.0, 0.0, -2.0, 0.0]
    assert dyn.impact(0.0, x, "normal", 0.5)[4] == pytest.approx(0.7 + 0.5 * 2.7, rel=1e-14)
    assert dyn.impact(0.0, x, "normal", 0.5, r=[0.0, 3.0])[4] == pytest.approx(3.0 + 0.5 * 5.0, rel=1e-14)
    assert dyn.impact(0.0, x, [0, 1, 0], 0.5)[4] == pytest.approx(1.0, rel=1e-14)


# ------------------------------------------------------------------------------------------------------- walking
def test_rimless_wheel() -> None:
    """ω⁺ = ω⁻ (I + m l² cos 2α)/(I + m l²): McGeer, Int. J. of Robotics Research 9 (2), 1990, section 3."""
    j, alpha = sm.symbols("I alpha")

    def tip(hub: me.Point, B: me.ReferenceFrame) -> dict[str, Any]:
        return {"points": [hub.locatenew("tip", l * (sm.sin(alpha) * B.x - sm.cos(alpha) * B.y))]}

    dyn = in_a_plane(j, {m: 3.0, j: 0.2, l: 0.9, alpha: 0.1}, tip)
    mass, inertia, length, omega = 3.0, 0.2, 0.9, -1.7  # to the right, about the foot behind
    for half in (0.1, 0.3, np.pi / 4):
        dyn.parameters["alpha"] = half
        x0 = [0, length * np.cos(half), 0, -omega * length * np.cos(half), omega * length * np.sin(half), omega]
        landing = dyn.impact(0.0, x0, dyn.jacobian("tip", 0.0, x0)[:2], mu={0: (1, np.inf)}, full=True)
        ratio = (inertia + mass * length**2 * np.cos(2 * half)) / (inertia + mass * length**2)
        assert landing.x[5] == pytest.approx(ratio * omega, rel=1e-13)
        assert landing.impulses[1] > 0
        np.testing.assert_allclose(dyn.velocity("tip", 0.0, landing.x), 0, atol=1e-14)


def test_heel_strike_of_the_simplest_walker() -> None:
    """θ̇⁺ = cos 2θ θ̇⁻, φ̇⁺ = cos 2θ (1 − cos 2θ) θ̇⁻, for light feet: Garcia et al., J. Biomech. Eng. 120, 1998, (4).

    The legs change their names: θ of the stance leg becomes θ − φ, and φ becomes −φ.
    """
    (x, y, th, ph), (u, v, w, s) = dynamicsymbols("x y theta phi"), dynamicsymbols("u v omega sigma")
    N, stance = ground()
    A, C = N.orientnew("A", "Axis", [th, N.z]), N.orientnew("C", "Axis", [th - ph, N.z])
    A.set_ang_vel(N, w * N.z)
    C.set_ang_vel(N, (w - s) * N.z)
    behind = stance.locatenew("behind", x * N.x + y * N.y)
    behind.set_vel(N, u * N.x + v * N.y)
    hip = behind.locatenew("hip", A.y)
    hip.v2pt_theory(behind, N, A)
    ahead = hip.locatenew("ahead", -C.y)
    ahead.v2pt_theory(hip, N, C)
    model = kc.Model(
        *(N, [x, y, th, ph], [u, v, w, s], rates([x, y, th, ph], [u, v, w, s])),
        bodies=[me.Particle(f"at {P.name}", P, mass) for P, mass in ((behind, m), (hip, sm.Integer(1)), (ahead, m))],
        outputs={"along": ahead.vel(N).dot(N.x), "up": ahead.vel(N).dot(N.y)},
    )
    dyn, theta, rate = compiled(model, {m: 1e-7}), -0.2, -0.3
    after = dyn.impact(0.0, [0, 0, theta, 2 * theta, 0, 0, rate, 0.4], ["along", "up"])
    cos = np.cos(2 * theta)
    assert after[6] - after[7] == pytest.approx(cos * rate, rel=1e-6)
    assert -after[7] == pytest.approx(cos * (1 - cos) * rate, rel=1e-6)


# --------------------------------------------------------------------------------------------------- the equations
@pytest.mark.parametrize("name", part(MODELS, ["bricard", "free_body"]))
def test_equations_and_energy(name: str) -> None:
    """M Δu = GᵀΛ + WᵀΛ_n, G Δu = 0, v_n⁺ = −e v_n⁻, and ΔT = −½ (1 − e²) v_n Λ_n/(1 + e) for one contact."""
    dyn, rng = loaded(name), np.random.default_rng(5)
    x = some_state(name)
    mass, n = np.asarray(dyn.mass_matrix(0.3, x)), dyn.n_u
    G = np.asarray(dyn.constraint_jacobian(0.3, x)) if dyn.n_constraints else np.zeros((0, n))
    for e in (0.0, 0.4, 1.0):
        rows = rng.uniform(-1.0, 1.0, (1, n)) * np.sqrt(np.abs(np.diag(mass)))
        found = dyn.impact(0.3, x, rows, e, full=True)
        change = found.x[dyn.n_q :] - x[dyn.n_q :]
        momentum, size = mass @ change, np.max(np.abs(mass) @ np.abs(change))
        forces = G.T @ found.constraint_impulses + rows.T @ found.impulses
        np.testing.assert_allclose(momentum, forces, rtol=0, atol=1e-11 * size)
        np.testing.assert_allclose(G @ change, 0, atol=1e-11 * np.max(np.abs(G) @ np.abs(change), initial=1e-99))
        before, after = (rows @ state[dyn.n_q :] for state in (x, found.x))
        np.testing.assert_allclose(after, -e * before, atol=1e-11 * np.max(np.abs(before)))
        energies = [float(dyn.kinetic_energy(0.3, state)) for state in (x, found.x)]
        lost = 0.5 * (1 - e) * float(before @ found.impulses)
        assert lost <= 0
        assert energies[1] - energies[0] == pytest.approx(lost, abs=1e-10 * max(energies))


def test_drift_off_redundant_constraints_changes_little() -> None:
    """Rows that follow from others on the constraints alone are no conditions of their own a little beside these."""
    dyn, x = loaded("bricard"), some_state("bricard")
    rows = dyn.jacobian(dyn.points[1], 0.3, x)[:1] + np.eye(1, dyn.n_u)
    exact = dyn.impact(0.3, x, rows, 0.5)
    beside = x + 1e-7 * np.sin(np.arange(dyn.n_x))
    drifted = dyn.impact(0.3, beside, rows, 0.5)
    np.testing.assert_allclose(drifted, exact, rtol=0, atol=1e-4 * np.max(np.abs(exact)))
    assert dyn.impact(0.3, x, rows, 0.5, full=True).undetermined


def test_contacts_that_repeat_each_other_share() -> None:
    """One that follows from constraints at rest changes nothing, and neither does none."""
    dyn, x = dumbbell(), falling(0.6)
    once, twice = (dyn.impact(0.0, x, rows, 0.5, full=True) for rows in ("tip", ["tip", "tip"]))
    np.testing.assert_allclose(twice.x, once.x, atol=1e-15)
    np.testing.assert_allclose(twice.impulses, [once.impulses[0] / 2] * 2, rtol=1e-13)
    assert twice.undetermined == ("tip", "tip")
    assert "tip: -1 -> 0.5, impulse 3.56892\n" in str(once)
    assert "one of many" in str(twice)
    np.testing.assert_allclose(dyn.impact(0.0, x, ["stretch", "tip"], 0.5), once.x, atol=1e-14)
    np.testing.assert_array_equal(dyn.impact(0.0, x, np.zeros((0, 4))), x)
    np.testing.assert_array_equal(dyn.impact(0.0, x, np.zeros(4)), x)


def test_simultaneous_contacts_are_equations() -> None:
    """Both ends of a level rod hit: each leaves as its own e says."""
    dyn, x = dumbbell(), falling(0.0)
    found = dyn.impact(0.0, x, [[0, 1, 0, 0], [0, 0, 0, 1]], [0.5, 0.2], full=True)
    np.testing.assert_allclose(found.x[4:], [0, 0.5, 0, 0.2], atol=1e-15)
    np.testing.assert_allclose(found.impulses, [3.0, 2.4], rtol=1e-14)
    pulled = dyn.impact(0.0, [0, 0, 3, 0, 0, -1, 0, 1], [[0, 1, 0, 0], [0, 0, 0, 1]], 0.0, full=True)
    assert pulled.impulses[1] < 0
    assert (found.pulling, pulled.pulling) == ((), ("row 1",))


@pytest.mark.parametrize(("inertia", "pulling"), [(0.5, ()), (6.0, ("stands",))])
def test_a_block_that_rocks_would_be_pulled(inertia: float, pulling: tuple[str, ...]) -> None:
    """It turns about one corner until the other one hits: m b ω = Λ_1 + Λ_2, I ω = (Λ_2 − Λ_1) b, of half width b."""

    def corners(C: Any, B: Any) -> dict[str, Any]:
        u = dynamicsymbols("v omega")
        return {"outputs": {"stands": u[0] - u[1], "hits": u[0] + u[1]}}

    dyn, x = in_a_plane(inertia, {m: 2.0}, corners), [0, 0, 0, 0, -1.5, -1.5]
    said = "contact 'stands' of 'model' would have to pull, with an impulse of -3"
    with pytest.warns(kc.KanecoreWarning, match=said) if pulling else nullcontext():
        found = dyn.impact(0.0, x, ["stands", "hits"], full=True)
    np.testing.assert_allclose(found.impulses, [(2.0 - inertia) * 0.75, (2.0 + inertia) * 0.75], rtol=1e-14)
    assert found.pulling == pulling
    with pytest.warns(kc.KanecoreWarning, match=said) if pulling else nullcontext():
        after = dyn.impact(0.0, x, ["stands", "hits"])
    np.testing.assert_array_equal(after, found.x)
    with pytest.warns(kc.KanecoreWarning, match="row 0") if pulling else nullcontext():
        dyn.impact(0.0, x, [[0, 1, -1], [0, 1, 1]])


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("speed", [0.0, -0.5])
def test_friction_of_either_sign_is_no_pull(sign: int, speed: float) -> None:
    """A tilted rod hits with its end: the impulse along the plane has the sign of the tilt."""
    dyn = in_a_plane(0.5, {m: 2.0}, lambda C, B: {})
    x, rows = [0, 0, 0, speed, -2.0, 0], [[0, 1, -sign], [1, 0, 2]]
    found = dyn.impact(0.0, x, rows, mu={1: (0, np.inf)}, full=True)
    assert found.pulling == ()
    assert found.impulses[0] > 0 > found.impulses[1] * -sign or speed
    resting = sign < 0 and speed == 0.0  # nobody said that it is friction, and it does not move
    with pytest.warns(kc.KanecoreWarning, match="name it in mu") if resting else nullcontext():
        found = dyn.impact(0.0, x, rows, full=True)
    assert found.pulling == (("row 1",) if sign < 0 else ())


def test_what_is_told_of_friction_tells_a_pull() -> None:
    """Under the block that rocks one row holds both corners along the plane, too."""
    dyn, rows = in_a_plane(6.0, {m: 2.0}, lambda C, B: {}), [[0, 1, -1], [0, 1, 1], [1, 0, 0.5]]
    with pytest.warns(kc.KanecoreWarning, match="contact 'row 0'") as caught:
        found = dyn.impact(0.0, [0, 0, 0, 0.3, -1.5, -1.5], rows, full=True)
    assert found.pulling == ("row 0", "row 2")
    assert len(caught) == 1
    with pytest.warns(kc.KanecoreWarning) as caught:
        found = dyn.impact(0.0, [0, 0, 0, 0.3, -1.5, -1.5], rows, mu={"row 2": ("row 1", 0.01)}, full=True)
    assert found.pulling == ("row 0",)
    assert [str(w.message).split(" of ")[0] for w in caught] == ["contact 'row 0'", "row 'row 2'"]
    assert "would slide: to stick takes an impulse of 0.6" in str(caught[1].message)


def test_contacts_between_two_bodies_pull() -> None:
    """The block rocks on a slab that lies on nothing: forces at the corners act on both."""
    q, u = dynamicsymbols("q1:7"), dynamicsymbols("u1:7")
    N, origin = ground()
    bodies, speeds = [], []
    for name, (x, y, angle), (v, w, turn) in (("block", q[:3], u[:3]), ("slab", q[3:], u[3:])):
        B = N.orientnew(name[0].upper(), "Axis", [angle, N.z])
        B.set_ang_vel(N, turn * N.z)
        C = origin.locatenew(f"{name} C", x * N.x + y * N.y)
        C.set_vel(N, v * N.x + w * N.y)
        bodies.append(me.RigidBody(name, C, B, m, (me.inertia(B, 0, 0, 6), C)))
        speeds.append((w, turn))
    (w1, turn1), (w2, turn2) = speeds
    outputs = {name: w1 - w2 + b * (turn1 - turn2) for name, b in (("stands", -1), ("hits", 1))}
    dyn = compiled(kc.Model(N, q, u, rates(q, u), bodies=bodies, outputs=outputs), {m: 2.0})
    with pytest.warns(kc.KanecoreWarning, match="contact 'stands' of 'model' would have to pull"):
        dyn.impact(0.0, [0] * 6 + [0, -1.5, -1.5, 0, 0, 0], ["stands", "hits"])


def test_impulses_that_redundant_contacts_share_do_not_pull_for_sure() -> None:
    """Three feet in a row under a block: what the middle one takes is anybody's guess."""
    dyn = in_a_plane(6.0, {m: 2.0}, lambda C, B: {})
    rows = [[0, 1, -1], [0, 1, 1], [0, 1, 0]]
    found = dyn.impact(0.0, [0, 0, 0, 0, -1.5, -1.5], rows, full=True)
    assert found.pulling == ("row 0",)
    assert found.undetermined == ("row 0", "row 1", "row 2")


# ------------------------------------------------------------------------------------------------- given impulses
def test_a_blow_at_the_end_of_a_rod() -> None:
    """Δv = J/m and Δω = J·b/I; the point at I/(m b) beyond the mass centre, that of percussion, stays at rest."""
    dyn = in_a_plane(
        0.5, {m: 2.0}, lambda C, B: {"points": [C.locatenew("end", -1.5 * B.x), C.locatenew("far", B.x / 6)]}
    )
    found = dyn.impact(0.0, [0, 0, 0, 0, 0, 0], impulses={"end": (0.0, 3.0, 0.0)}, full=True)
    np.testing.assert_allclose(found.x[3:], [0.0, 1.5, -9.0], rtol=1e-14)
    np.testing.assert_allclose(found.generalized_impulses, [0.0, 3.0, -4.5], rtol=1e-14)
    np.testing.assert_allclose(dyn.velocities(0.0, found.x)[dyn.points.index("far")], 0.0, atol=1e-15)


def test_impulses_by_name_object_axes_and_kind() -> None:
    """I_r = Σ v_r·∫R dt + Σ ω_r·∫T dt, whatever the impulses are given by."""
    kept: list[Any] = []

    def ends(C: Any, B: Any) -> dict[str, Any]:
        kept.extend([C.locatenew("end", -1.5 * B.x), B])
        return {"points": kept[:1]}

    dyn, x = in_a_plane(0.5, {m: 2.0}, ends), np.array([0.3, -0.2, 0.7, 0.4, 0.1, -2.0])
    end, B = kept
    c, s = np.cos(0.7), np.sin(0.7)
    N = ground()[0]
    push = np.array([0.6 * c - 0.8 * s, 0.6 * s + 0.8 * c, 0.0])  # along the axes of the body 0.6, 0.8
    expected = x + np.array([0, 0, 0, push[0] / 2, push[1] / 2, (-1.5 * 0.8 + 0.9) / 0.5])
    for key, value in (
        ("end", push),
        (end, push.tolist()),
        ("end", 0.6 * B.x + 0.8 * B.y),
        (end, push[0] * N.x + push[1] * N.y),
    ):
        for turn in ({"B": (0, 0, 0.9)}, {B: 0.9 * N.z}, {"omega": 0.9}, {dynamicsymbols("omega"): 0.9}):
            np.testing.assert_allclose(dyn.impact(0.0, x, impulses={key: value, **turn}), expected, rtol=1e-13)


def test_a_blow_on_what_is_held() -> None:
    """A rod of two masses is a rigid body; a foot on the ground takes a blow from above."""
    dyn, x = dumbbell(mass=2.0, length=3.0), np.array([0, 0, 3.0, 0, 0, 0, 0, 0])
    found = dyn.impact(0.0, x, impulses={"A": (1.0, 6.0, 0.0)}, full=True)
    np.testing.assert_allclose(found.x[4:], [0.25, 3.0, 0.25, 0.0], atol=1e-14)
    below = dyn.impact(0.0, [0, 0, 3.0, 0, 0, 0, 0, 0], "tip", impulses={"A": (0.0, -6.0, 0.0)}, full=True)
    np.testing.assert_allclose(below.x[4:], 0.0, atol=1e-14)
    np.testing.assert_allclose(below.impulses, [6.0])
    with pytest.warns(kc.KanecoreWarning, match="would have to pull"):
        dyn.impact(0.0, x, "tip", impulses={"A": (0.0, 6.0, 0.0)})
    away = dyn.impact(0.0, x, "tip", impulses={"A": (0.0, 6.0, 0.0)}, unilateral=True)
    np.testing.assert_allclose(away[4:], [0.0, 3.0, 0.0, 0.0], atol=1e-14)


@pytest.mark.parametrize(
    ("impulses", "error", "message"),
    [
        ([1, 2, 3], TypeError, "it must be a mapping"),
        ({"AA": (0, 0, 1)}, KeyError, "no point, frame or speed of 'dumbbell' is called 'AA'"),
        ({"A": (0, 1)}, ValueError, r"the impulse of A has shape \(2,\)"),
        ({"A": "up"}, TypeError, "it must be 3 numbers"),
        ({"A": (0, np.inf, 0)}, ValueError, "the impulse of A is not finite"),
        ({"A": l * me.ReferenceFrame("N").x}, TypeError, "has symbols: substitute numbers"),
        ({"A": me.ReferenceFrame("Q").x}, KeyError, "no frame of 'dumbbell'"),
        ({"u1": (0, 1, 0)}, TypeError, "the generalized impulse of the speed u1 is .*; it must be a number"),
        ({me.Point("Z"): (0, 1, 0)}, KeyError, "no point of 'dumbbell'"),
    ],
)
def test_wrong_impulses(impulses: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        dumbbell().impact(0.0, falling(0.6), impulses=impulses)


# ----------------------------------------------------------------------------------------- unilateral, with friction
@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.7])
def test_rocking_block_of_housner(alpha: float) -> None:
    """It turns about one corner until the other hits: that one opens, and ω⁺/ω⁻ = 1 − 3/2 sin² α (Housner 1963)."""
    R, mass = 1.3, 2.0
    b, h = R * np.sin(alpha), R * np.cos(alpha)
    dyn = in_a_plane(mass * R**2 / 3, {m: mass}, lambda C, B: {})
    rows = [[0, 1, -b], [0, 1, b], [1, 0, h]]  # the corner that stood, the one that hits, and that along the plane
    x = [0, 0, 0, h, -b, -1.0]  # about the left corner, at (−b, −h)
    found = dyn.impact(0.0, x, rows, unilateral=True, mu={2: (1, np.inf)}, full=True)
    assert found.x[5] == pytest.approx(-(1 - 1.5 * np.sin(alpha) ** 2), rel=1e-12)
    assert found.after[0] > 0
    assert found.impulses[0] == 0.0
    np.testing.assert_allclose(found.after[1:], 0.0, atol=1e-14)


@pytest.mark.parametrize(("mu", "slides"), [(0.1, True), (0.3, False), (0.0, True), (np.inf, False)])
@pytest.mark.parametrize("way", [-1.0, 1.0])
def test_a_ball_slides_or_rolls_after_it_hits(mu: float, slides: bool, way: float) -> None:
    """Δv = μ (1 + e) v_n while it slides; rolling takes 2/7 of the slip, for which μ ≥ 2/7 slip/((1 + e) v_n)."""
    mass, r_, e, fall, slip = 2.0, 0.5, 0.6, 2.0, 3.0  # 2/7 · 3/(1.6 · 2) = 0.268
    dyn = in_a_plane(0.4 * mass * r_**2, {m: mass}, lambda C, B: {})
    rows, x = [[0, 1, 0], [1, 0, r_]], [0, 0, 0, way * slip, -fall, 0]
    found = dyn.impact(0.0, x, rows, [e, 0], unilateral=True, mu={1: (0, mu)}, full=True)
    change = min(mu * (1 + e) * fall, 2 / 7 * slip)
    assert slides == (change < 2 / 7 * slip)
    np.testing.assert_allclose(found.x[3:5], [way * (slip - change), e * fall], rtol=1e-12)
    np.testing.assert_allclose(found.x[5], -way * change * r_ / (0.4 * r_**2), rtol=1e-12, atol=1e-14)


def test_contacts_that_leave_are_left_alone() -> None:
    dyn, x = dumbbell(), np.array([0, 0, 3.0, 0, 0, 1.0, 0, -1.0])
    after = dyn.impact(0.0, x, [[0, 1, 0, 0], [0, 0, 0, 1]], 0.5, unilateral=True)
    np.testing.assert_allclose(after[4:], [0, 1.0, 0, 0.5], atol=1e-14)


def test_three_feet_in_a_row_share() -> None:
    """Of a block that lands flat: which foot takes what is nobody's knowledge, and none pulls."""
    dyn = in_a_plane(6.0, {m: 2.0}, lambda C, B: {})
    found = dyn.impact(0.0, [0, 0, 0, 0, -1.5, -0.3], [[0, 1, -1], [0, 1, 1], [0, 1, 0]], unilateral=True, full=True)
    assert (found.impulses >= -1e-12).all()
    np.testing.assert_allclose(np.sum(found.impulses), 2.0 * (found.x[4] + 1.5), rtol=1e-12)
    assert (found.after >= -1e-12).all()
    assert set(found.undetermined) == {"row 0", "row 1", "row 2"}


@pytest.mark.parametrize(
    ("rows", "options", "error", "message"),
    [
        (["tip"], {"mu": 0.5}, TypeError, "it must say which row is friction of which contact"),
        (["tip"], {"mu": {"tip": 0.5}}, TypeError, "mu of 'tip' is 0.5; write"),
        (["tip"], {"mu": {"tap": ("tip", 0.5)}}, KeyError, "did you mean 'tip'"),
        (["tip"], {"mu": {3: ("tip", 0.5)}}, KeyError, "3 is no row of this impact"),
        (["tip", "stretch"], {"mu": {"stretch": ("tip", -0.5)}}, ValueError, "not negative"),
        (["tip"], {"mu": {"tip": ("tip", 0.5)}}, ValueError, "as friction, and as the contact of"),
        (np.ones((13, 4)), {"unilateral": True}, ValueError, "13 unilateral rows; at most 12"),
        (["stretch"], {"unilateral": True}, kc.ModelError, "no choice of contacts of 'dumbbell'"),
    ],
)
def test_wrong_unilateral_arguments(rows: Any, options: Any, error: type[Exception], message: str) -> None:
    x = falling(0.6)
    x[4] += 1.0
    with pytest.raises(error, match=message):
        dumbbell().impact(0.0, x, rows, **options)


# ---------------------------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("rows", "e", "error", "message"),
    [
        ("tipp", 0, KeyError, "no output of 'dumbbell' is called 'tipp'; did you mean 'tip'"),
        ("speed", 0, kc.ModelError, "output 'speed' of 'dumbbell' is not linear in the speeds"),
        ("gap", 0, kc.ModelError, "output 'gap' of 'dumbbell' depends on no speed: a contact is a velocity"),
        ("jerk", 0, kc.ModelError, "output 'jerk' of 'dumbbell' depends on derivatives of speeds"),
        (["tip", 3], 0, TypeError, "rows must be .*; or give names of outputs"),
        ([1, 2, 3], 0, ValueError, r"rows has shape \(3,\), expected \(4,\) or \(N, 4\)"),
        ([[np.nan, 0, 0, 0]], 0, ValueError, r"rows is \[\[nan, .*, which is not finite"),
        ("tip", -0.5, ValueError, "e is -0.5; a coefficient of restitution is not negative"),
        ("tip", np.inf, ValueError, "e is inf, which is not finite"),
        ("tip", [0.5, 0.5], ValueError, r"e has shape \(2,\), expected \(\) or \(1,\): one number"),
        ("tip", "half", TypeError, "e must be real numbers"),
        (["tip", "tip"], [0.2, 0.5], kc.ModelError, "contacts 'tip' and 'tip' of 'dumbbell' depend on each other"),
    ],
)
def test_wrong_arguments(rows: Any, e: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        dumbbell().impact(0.0, falling(0.6), rows, e)


def test_a_contact_that_the_constraints_hold() -> None:
    x = falling(0.6)
    x[4] += 1.0  # off the rod's constraint: its row moves, and no impact may change that
    message = r"contact 'stretch' of 'dumbbell' moves at -2\.47601, and no impact can"
    with pytest.raises(kc.ModelError, match=message):
        dumbbell().impact(0.0, x, "stretch")


def test_constraints_that_turn_with_the_speeds() -> None:
    """Their impulses are not decided by the state before."""
    dyn, x = loaded("appell_hamel"), some_state("appell_hamel")
    with pytest.raises(kc.ModelError, match="is not linear in the speeds: the direction of its impulse"):
        dyn.impact(0.3, x, np.eye(1, dyn.n_u), 0.5)


def test_dead_point() -> None:
    """A four-bar that is flat: all rods in line, and one row more than there are directions."""
    dyn, flat = loaded("four_bar"), {"d": 1.5, "L1": 1.0, "L2": 2.0, "L3": 1.5}
    x = dyn.state({dyn.speed_names[0]: 1.0})
    assert abs(dyn.configuration_residual(0.0, x, p=flat)).max() < 1e-15
    with pytest.raises(kc.SingularError, match="1 of 2 constraints of 'four_bar' are independent"):
        dyn.impact(0.0, x, [1, 0, 0], p=flat)


def test_massless_motions() -> None:
    q, u = dynamicsymbols("q1 q2"), dynamicsymbols("u1 u2")
    N, origin = ground()
    bob = me.Particle("bob", origin.locatenew("P", (q[0] + q[1]) * N.x), sm.Integer(1))
    dyn = kc.compile(kc.Model(N, q, u, rates(q, u), bodies=[bob], name="light"))
    with pytest.raises(kc.SingularError, match="mass matrix of 'light' is singular in the motions that contacts"):
        dyn.impact(0.0, [0, 0, 1, 1], [1, 1])
    np.testing.assert_allclose(dyn.impact(0.0, [0, 0, 1, 1], np.eye(2)), 0, atol=1e-15)


@pytest.mark.compiler
def test_floats_refuse() -> None:
    with pytest.raises(kc.ModelError, match="impact needs the digits of doubles"):
        compiled(particle(1), real="float").impact(0.0, [0, 1], [1])
