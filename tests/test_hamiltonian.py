# SPDX-License-Identifier: BSD-3-Clause
"""p = ∂L/∂q̇, H = p·q̇ − L and T₂, T₁, T₀ against L(q, q̇, t) written out in SymPy, and dp/dt, dH/dt against theory."""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sweep
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates

import kanecore as kc

Array = npt.NDArray[np.float64]
time = me.dynamicsymbols._t


X, V, S = sm.symbols("x1:4"), sm.symbols("v1:4"), sm.Symbol("s")


class RandomSystem:
    """Particles at random places r(q, t), with potentials, a force without one, speeds of their own, a constraint.

    T, U, L, Q and A are written out from r alone, in plain symbols x, v, s of q, q̇, t: nothing of kanecore is in them.
    """

    def __init__(self, seed: int, constrained: bool, particles: int = 2) -> None:
        rng = np.random.default_rng(seed)

        def number() -> sm.Float:
            return sm.Float(round(float(rng.uniform(0.3, 1.3) * rng.choice([-1.0, 1.0])), 3))

        def place() -> list[Any]:
            pairs = [number() * sm.sin(X[i]) + number() * X[(i + 1) % 3] * X[(i + 2) % 3] for i in range(3)]
            return [pair + number() * sm.cos(S) * X[i] for i, pair in enumerate(pairs)]

        masses, places = [1.7, 0.6][:particles], [place() for _ in range(particles)]
        potential = number() * X[0] ** 2 + number() * X[1] * sm.sin(S) + number() * sm.cos(X[2])
        force = [number() * sm.sin(S), number() * V[1], number() * V[0] * X[2]]
        row = [number(), number() * sm.cos(X[0]), number()] if constrained else [sm.S.Zero] * 3
        offset = number() * sm.sin(S)

        def rate(e: Any) -> Any:
            return e.diff(S) + sum(e.diff(x) * v for x, v in zip(X, V, strict=True))

        kinetic = sum(m * sum(rate(c) ** 2 for c in r) / 2 for m, r in zip(masses, places, strict=True))
        L = kinetic - potential
        written = {
            "T": [kinetic],
            "L": [L],
            "p": [L.diff(v) for v in V],
            "slopes": [L.diff(x) for x in X],
            "drive": [-L.diff(S)],
            "forces": [sum(f * c.diff(x) for f, c in zip(force, places[0], strict=True)) for x in X],
            "row": row,
        }
        self.written = {name: sm.lambdify([*X, *V, S], e, "math", cse=True) for name, e in written.items()}

        q, u, (frame, origin) = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4"), ground()
        rates = [x.diff(time) for x in q]
        names = dict(zip([*X, *V, S], [*q, *rates, time], strict=True))

        def vector(components: list[Any]) -> Any:
            return sum((c.xreplace(names) * e for c, e in zip(components, frame, strict=True)), me.Vector(0))

        points = [origin.locatenew(f"P{i}", vector(r)) for i, r in enumerate(places)]
        self.model = kc.Model(
            *(frame, q, u),
            [
                x - sum(number() * v for v in u) * (2 + sm.sin(q[i])) - number() * u[i] - number() * q[i] * time
                for i, x in enumerate(rates)
            ],
            velocity_constraints=[(sm.Matrix(row).dot(V) + offset).xreplace(names)] if constrained else None,
            bodies=[me.Particle(f"p{i}", p, m) for i, (p, m) in enumerate(zip(points, masses, strict=True))],
            forcelist=[(points[0], vector(force))],
            potentials=[potential.xreplace(names)],
        )

    def numbers(self, name: str, t: float, q: Array, qdot: Array) -> Array:
        return np.array(self.written[name](*q, *qdot, t))


@pytest.mark.parametrize(("seed", "constrained"), sweep.part(itertools.product(range(10), [False, True]), [(0, True)]))
def test_against_a_lagrangian_that_is_written_out(seed: int, constrained: bool) -> None:
    s = RandomSystem(seed, constrained, 2 if sweep.LONG else 1)
    dyn, rng = kc.compile(s.model), np.random.default_rng(seed)
    for _ in range(3):
        t = float(rng.uniform(-1.0, 1.0))
        x = dyn.consistent(t, rng.uniform(-1.0, 1.0, 6), None)
        q, qdot, udot = x[:3], dyn.qdot(t, x), dyn.udot(t, x)
        at = {name: s.numbers(name, t, q, qdot) for name in s.written}
        total, opposite, at_rest = (s.numbers("T", t, q, v)[0] for v in (qdot, -qdot, 0.0 * qdot))
        p = at["p"]
        assert np.allclose(dyn.generalized_momenta(t, x), p, rtol=1e-11, atol=1e-11)
        assert np.isclose(dyn.hamiltonian(t, x), p @ qdot - at["L"][0], rtol=1e-11, atol=1e-11)
        parts = [(total + opposite) / 2 - at_rest, (total - opposite) / 2, at_rest]
        assert np.allclose(dyn.kinetic_energy_parts(t, x), parts)
        forces = at["forces"] + (dyn.multipliers(t, x)[0] * at["row"] if constrained else 0.0)
        rates, by_position = dyn.kernels.momentum_rates(t, x, udot)
        assert np.allclose(by_position, at["slopes"], rtol=1e-10, atol=1e-10)
        assert np.allclose(rates, at["slopes"] + forces, rtol=1e-9, atol=1e-9)
        assert np.isclose(
            dyn.kernels.hamiltonian_rate(t, x, udot), at["drive"][0] + forces @ qdot, rtol=1e-9, atol=1e-9
        )
    found = dyn.conserved()
    assert found.momenta == ()
    assert not found.hamiltonian


@pytest.mark.parametrize("name", sweep.part(kc.models(), ["chaplygin_sleigh", "free_body", "rotating_tube"]))
def test_parts_of_the_gallery(name: str) -> None:
    """T₂ + T₁ + T₀ = T, H = T₂ − T₀ + U, and dp/dt, dH/dt are the derivatives along the motion."""
    dyn = kc.load(name)
    if name == "rod_gravity":  # the state is not one about a planet
        dyn.parameters.update(G=1.0, M=1.0, m=1.0, L=1.0)
    t, r = 0.3, np.full(dyn.n_r, 0.4)
    x = dyn.check(t=t, r=r).x
    if name in ("five_bar_bodies", "rrp_redundant", "stewart_platform"):  # in the speeds of all bodies
        with pytest.raises(kc.ModelError, match="T is no function of q, qdot and t"):
            dyn.hamiltonian(t, x, r=r)
        return
    parts, h = dyn.kinetic_energy_parts(t, x, r=r), dyn.hamiltonian(t, x, r=r)
    assert np.isclose(np.sum(parts), dyn.kinetic_energy(t, x, r=r), rtol=1e-12)
    assert np.isclose(h, parts[0] - parts[2] + dyn.potential_energy(t, x, r=r), rtol=1e-12)

    udot, rates = dyn.udot(t, x, r=r), np.array([0.4 * (i >= 0) for i in dyn.input_rates])
    size = 1.0 + np.max(np.abs(x)) ** 2 + np.max(np.abs(udot)) ** 2  # close to the centre of a field as well
    close = {"rtol": 1e-6, "atol": 1e-6 * size}

    def slope(kernel: Any, udot: Array) -> Any:
        moves, step = np.concatenate([dyn.qdot(t, x, r=r), udot]), 1e-5
        ends = [kernel(t + d, x + d * moves, r=r + d * rates) for d in (step, -step)]
        return (ends[0] - ends[1]) / (2.0 * step)

    assert np.isclose(slope(dyn.hamiltonian, udot), dyn.kernels.hamiltonian_rate(t, x, udot, r=r), **close)
    if dyn.n_q == dyn.n_u:
        any_udot = np.random.default_rng(3).uniform(-1.0, 1.0, dyn.n_u)
        expected = dyn.kernels.momentum_rates(t, x, any_udot, r=r)[0]
        assert np.allclose(slope(dyn.generalized_momenta, any_udot), expected, **close)


def moving_body(set_velocity: bool, drift: float) -> Any:
    """A body on a quaternion that slides along x: more coordinates than speeds, with and without a drift of ω."""
    q, w, (x, v) = me.dynamicsymbols("e0:4"), me.dynamicsymbols("w1:4"), me.dynamicsymbols("x v")
    frame, origin = ground()
    body, turning = frame.orientnew("B", "Quaternion", q), [w[0], w[1], w[2] + sm.Float(drift)]
    body.set_ang_vel(frame, sum((a * e for a, e in zip(turning, body, strict=True)), me.Vector(0)))
    if set_velocity:
        centre = me.Point("G")
        centre.set_vel(frame, v * frame.x)
    else:
        centre = origin.locatenew("G", x * frame.x)
    kinematical = [*me.kinematic_equations(turning, q, "quaternion"), x.diff(time) - v]
    bodies = [me.RigidBody("b", centre, body, 2, (me.inertia(body, 1, 2, 3), centre))]
    return kc.compile(kc.Model(frame, [*q, x], [*w, v], kinematical, bodies=bodies))


@pytest.mark.parametrize("set_velocity", [False, True])
def test_h_of_quaternions(set_velocity: bool) -> None:
    """With q̇ = Y u + z of a drift that is a speed like others, H = ∂L/∂u · (u + u_z) − L, u_z its opposite at q̇ = 0."""
    plain, drifting = moving_body(set_velocity, 0.0), moving_body(set_velocity, 0.5)
    x = np.array([0.5, 0.5, -0.5, 0.5, 0.3, 0.2, -0.4, 0.7, 1.1])
    same = x - 0.5 * np.eye(9)[7]
    energy = plain.kinetic_energy(0.0, x)
    assert np.allclose(plain.qdot(0.0, x), drifting.qdot(0.0, same))
    assert np.allclose([drifting.hamiltonian(0.0, same), plain.hamiltonian(0.0, x)], energy, rtol=1e-13)
    assert np.allclose(drifting.kinetic_energy_parts(0.0, same), [energy, 0.0, 0.0], atol=1e-13)
    with pytest.raises(kc.ModelError, match="as many speeds as coordinates, and there are 4 and 5"):
        plain.generalized_momenta(0.0, x)
    assert plain.conserved().hamiltonian
    assert drifting.conserved().hamiltonian


def test_no_speeds_for_the_remainder() -> None:
    """A coordinate that moves by itself: no speeds make q̇ vanish, and H is not defined."""
    (x, y, v), (frame, origin) = me.dynamicsymbols("x y v"), ground()
    bodies = [me.Particle("p", origin.locatenew("P", x * frame.x + y * frame.y), 1)]
    kd_eqs = [x.diff(time) - v, y.diff(time) - 1 - sm.sin(x)]
    dyn = kc.compile(kc.Model(frame, [x, y], [v], kd_eqs, bodies=bodies))
    with pytest.raises(kc.ModelError, match="not in the range of Y"):
        dyn.hamiltonian(0.0, np.zeros(3))
    found = dyn.conserved()
    assert not found.hamiltonian
    assert "range of Y" in found.not_conserved["hamiltonian"]


@pytest.mark.parametrize("shear", [False, True])
def test_a_velocity_without_a_position(shear: bool) -> None:
    """Where a velocity alone was given it must be the rate of some position: ẏ is, x ẏ is not."""
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("v w")
    frame, point = me.ReferenceFrame("N"), me.Point("P")
    point.set_vel(frame, u[0] * frame.x + (q[0] if shear else 1) * u[1] * frame.y)
    dyn = kc.compile(kc.Model(frame, q, u, rates(q, u), bodies=[me.Particle("p", point, 2)]))
    state = np.array([0.3, 0.4, 0.5, 0.6])
    if shear:
        with pytest.raises(kc.ModelError, match="velocity of point P, of body p, was set"):
            dyn.generalized_momenta(0.0, state)
    else:
        assert np.allclose(dyn.generalized_momenta(0.0, state), [1.0, 1.2])
        assert dyn.conserved().momenta == ("x", "y")
        assert "from one fixed point" in dyn.conserved().not_conserved["angular_momentum"]


@pytest.mark.parametrize(
    ("velocity", "is_rate"),
    [
        (lambda q, v: q * v, True),  # of q²/2
        (lambda q, v: time * v + q, True),  # of t q
        (lambda q, v: v + sm.cos(time), True),
        (lambda q, v: time * v, False),
        (lambda q, v: v + q, False),
        (lambda q, v: q * v + time * q, False),
        (lambda q, v: sm.sqrt(-1 - q**2) * v, False),  # no state tells
    ],
)
def test_a_velocity_that_drifts(velocity: Any, is_rate: bool) -> None:
    """J(q, t) q̇ + b(q, t) along a line is the rate of a position where ∂J/∂t = ∂b/∂q."""
    q, v = me.dynamicsymbols("q v")
    frame, point = me.ReferenceFrame("N"), me.Point("P")
    point.set_vel(frame, velocity(q, v) * frame.x)
    dyn = kc.compile(kc.Model(frame, [q], [v], [q.diff() - v], bodies=[me.Particle("p", point, 2)]))
    if not is_rate:
        with pytest.raises(kc.ModelError, match="velocity of point P, of body p, was set"):
            dyn.generalized_momenta(0.7, np.array([0.3, 0.5]))
        return
    at = {q: 0.3, v: 0.5, time: 0.7}
    expected = 2 * sm.sympify(velocity(q, v) * sm.diff(velocity(q, v), v)).subs(at)
    assert np.allclose(dyn.generalized_momenta(0.7, np.array([0.3, 0.5])), [float(expected)])


def test_a_velocity_in_speeds_that_say_one_thing_twice() -> None:
    """Q̇ = v + w does not tell the speeds, of which the velocity of the point holds another sum."""
    q, v, w = me.dynamicsymbols("q v w")
    frame, point = me.ReferenceFrame("N"), me.Point("P")
    point.set_vel(frame, (v + 2 * w) * frame.x)
    dyn = kc.compile(kc.Model(frame, [q], [v, w], [q.diff() - v - w], bodies=[me.Particle("p", point, 2)]))
    with pytest.raises(kc.ModelError, match="velocity of point P, of body p, was set"):
        dyn.hamiltonian(0.0, np.zeros(3))


def test_a_remainder_of_which_no_state_tells() -> None:
    x, y, v = me.dynamicsymbols("x y v")
    frame, origin = ground()
    bodies = [me.Particle("p", origin.locatenew("P", x * frame.x + y * frame.y), 1)]
    kd_eqs = [x.diff(time) - v, y.diff(time) - sm.sqrt(-1 - x**2)]
    with pytest.raises(kc.ModelError, match="not in the range of Y"):
        kc.compile(kc.Model(frame, [x, y], [v], kd_eqs, bodies=bodies)).hamiltonian(0.0, np.zeros(3))


def test_a_frame_that_was_never_turned() -> None:
    w, q = me.dynamicsymbols("w1:4"), me.dynamicsymbols("a1:4")
    (frame, point), ball = ground(), me.ReferenceFrame("B")
    ball.set_ang_vel(frame, w[0] * frame.x + w[1] * frame.y + w[2] * frame.z)
    body = me.RigidBody("ball", point, ball, 1, (me.inertia(ball, 1, 1, 1), point))
    dyn = kc.compile(kc.Model(frame, q, w, rates(q, w), bodies=[body]))
    with pytest.raises(kc.ModelError, match="angular velocity of frame B, of body ball, was set"):
        dyn.generalized_momenta(0.0, np.zeros(6))
