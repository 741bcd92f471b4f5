# SPDX-License-Identifier: BSD-3-Clause
"""Each body and each load by itself: momenta, inertia forces, generalized forces, powers.

Expected values are SymPy's momenta and accelerations; the shares add up to the kernels that other tests compare.
"""

import pickle
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from gallery_states import OF_BODIES
from mechanisms import rates
from oracle.sympy_kinematics import SymPyKinematics
from sweep import LONG, part

import kanecore as kc

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t
Q = me.dynamicsymbols("yaw pitch slide swing")
U = me.dynamicsymbols("u1:5")
HEIGHT, F, TAU = me.dynamicsymbols("height F tau")
m, l, k, b, g = sm.symbols("m l k b g")  # noqa: E741
VALUES = {m: 1.3, l: 0.7, k: 21.0, b: 0.8, g: 9.81}


class Crane:
    """On a lift that moves as prescribed: a jib that turns and tilts, a trolley on it, a rod that hangs from that."""

    def __init__(self) -> None:
        yaw, pitch, slide, swing = Q
        self.N = N = me.ReferenceFrame("N")
        self.O = O = me.Point("O")  # noqa: E741
        O.set_vel(N, 0)
        self.tower = N.orientnew("tower", "Axis", [yaw, N.z])
        self.jib = self.tower.orientnew("jib", "Axis", [pitch, self.tower.x])
        self.rod = self.jib.orientnew("rod", "Axis", [swing, self.jib.y + self.jib.z])
        self.lift = O.locatenew("lift", HEIGHT * N.z)
        self.lift.set_vel(N, HEIGHT.diff() * N.z)
        self.centre = self.lift.locatenew("centre", l * self.jib.y)
        self.trolley = self.lift.locatenew("trolley", slide * self.jib.y + l * self.jib.z)
        self.end = self.trolley.locatenew("end", -l * self.rod.z + l / 3 * self.rod.x)
        tensor = me.inertia(self.jib, 3 * m, 3 * m, 2 * m, m / 4, m / 5, m / 6)
        bent = me.inertia(self.rod, 4 * m, 5 * m, 4 * m, 0, m / 7, 0)
        self.bodies = [
            me.RigidBody("jib", self.centre, self.jib, 4 * m, (tensor, self.centre)),
            me.Particle("trolley", self.trolley, m),
            me.RigidBody("rod", self.end, self.rod, 2 * m, (bent, self.trolley)),
        ]
        drive = F * self.jib.y
        self.loads = [
            *((body.masscenter, -body.mass * g * N.z) for body in self.bodies),
            (self.trolley, drive - k * slide * self.jib.y),
            (self.lift, -drive),
            (self.tower, TAU * N.z),
            me.TorqueActuator(-b * U[3], self.jib.y + self.jib.z, self.rod, self.jib),
        ]

    def arguments(self) -> dict[str, Any]:
        kd = rates(Q, U)
        given = {"frame": self.N, "q_ind": Q, "u_ind": U, "kd_eqs": kd, "bodies": self.bodies, "forcelist": self.loads}
        return {**given, "points": [self.O]}


CRANE = Crane()
SYMPY = SymPyKinematics(CRANE.arguments())
POINTS = (CRANE.O, CRANE.lift, CRANE.end)


@cache
def crane() -> kc.CompiledModel:
    return kc.compile(kc.Model(**CRANE.arguments()), parameters=VALUES)


@cache
def loaded(name: str) -> kc.CompiledModel:
    return kc.load(name)


def arguments(seed: int) -> tuple[Array, Array, dict[str, float], Any]:
    """x, u̇, r, and what gives the numbers of a SymPy vector there."""
    rng = np.random.default_rng(seed)
    x, udot, r = rng.uniform(0.3, 1.4, 8), rng.uniform(-2, 2, 4), rng.uniform(0.2, 1.0, 5)
    motion = (HEIGHT.diff(t, 2), HEIGHT.diff(), HEIGHT)
    inputs = dict(zip(("height_dd", "height_d", "height", "F", "tau"), r, strict=True))
    state = dict(zip([*(u.diff() for u in U), *motion, F, TAU, *Q, *U], [*udot, *r, *x], strict=True)) | VALUES
    return x, udot, inputs, SYMPY.at(state | {t: 0.0}).vector


def same(found: npt.ArrayLike, expected: npt.ArrayLike, limit: float = 1e-12, beside: float = 0.0) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    size = max(np.max(np.abs(expected), initial=beside), 1e-300)
    assert np.max(np.abs(found - expected), initial=0.0) <= limit * size


def test_momenta_against_sympy() -> None:
    dyn, N = crane(), CRANE.N
    x, _, r, number = arguments(1)
    same(dyn.linear_momentum(0.0, x, r=r), number(me.linear_momentum(N, *CRANE.bodies)))
    each = [number(me.linear_momentum(N, body)) for body in CRANE.bodies]
    same(dyn.linear_momentum(0.0, x, by_body=True, r=r), each)
    for about in POINTS:  # at rest, on the lift, on the rod
        each = [number(me.angular_momentum(about, N, body)) for body in CRANE.bodies]
        same(dyn.angular_momentum(0.0, x, about.name, by_body=True, r=r), each)
        same(dyn.angular_momentum(0.0, x, about, r=r), np.sum(each, axis=0))
    from_origin = number(CRANE.end.pos_from(CRANE.O))
    same(dyn.angular_momentum(0.0, x, from_origin, r=r), dyn.angular_momentum(0.0, x, "end", r=r))
    energy = dyn.body_momenta(0.0, x, r=r, named=True)["trolley"]
    assert not energy[3:].any()  # a particle


def test_inertia_forces_against_sympy() -> None:
    """R* = −m a*, T* = −(I·α + ω × I·ω) about the mass centre."""
    dyn, N = crane(), CRANE.N
    for seed in (2, 3) if LONG else (2,):
        x, udot, r, number = arguments(seed)
        found = dyn.inertia_forces(0.0, x, udot, r=r, named=True)
        assert list(found) == list(dyn.bodies) == [body.name for body in CRANE.bodies]
        for body in CRANE.bodies:
            expected = np.zeros(6)
            expected[:3] = number(-body.mass * body.masscenter.acc(N))
            if isinstance(body, me.RigidBody):
                w, alpha, tensor = body.frame.ang_vel_in(N), body.frame.ang_acc_in(N), body.central_inertia
                expected[3:] = number(-tensor.dot(alpha) - w.cross(tensor.dot(w)))
            same(found[body.name], expected)


@pytest.mark.parametrize("name", part(OF_BODIES, ["chaplygin_sleigh", "free_body", "rotating_tube"]))
def test_shares_add_up(name: str) -> None:
    dyn = loaded(name)
    rng = np.random.default_rng(2)
    x, udot, r = rng.uniform(0.3, 1.2, dyn.n_x), rng.uniform(-2, 2, dyn.n_u), rng.uniform(0.2, 1.0, dyn.n_r)
    for group in dyn.unit:
        x[list(group)] /= np.linalg.norm(x[list(group)])
    each = dyn.generalized_inertia_forces(0.0, x, udot, r=r, by="body")
    assert each.shape == (len(dyn.bodies), dyn.n_u)
    largest = float(np.max(np.abs(each)))
    same(each.sum(axis=0), dyn.generalized_inertia_forces(0.0, x, udot, r=r), 1e-11, largest)
    active = dyn.generalized_active_forces(0.0, x, r=r)
    loads = dyn.generalized_active_forces(0.0, x, r=r, by="load")
    terms = max((float(np.max(np.abs(v))) for v in loads.values()), default=0.0)
    same(sum(loads.values(), np.zeros(dyn.n_u)), active, 1e-11, terms)
    same(dyn.generalized_active_forces(0.0, x, r=r, by="body").sum(axis=0), active, 1e-11, terms)
    powers = dyn.load_powers(0.0, x, r=r)
    assert list(powers) == list(loads)
    if name != "rotating_tube":  # there the tube's motion does work as well
        for load, force in loads.items():
            same(powers[load], force @ x[dyn.n_q :], 1e-11, terms)


def test_loads_of_the_crane() -> None:
    dyn = crane()
    x, _, r, _ = arguments(5)
    names = ["load 0 at centre", "load 1 at trolley", "load 2 at end", "load 3 at trolley", "load 4 at lift"]
    names += ["load 5 on tower", "load 6 on rod, jib"]
    forces, powers = dyn.generalized_active_forces(0.0, x, r=r, by="load"), dyn.load_powers(0.0, x, r=r)
    assert sorted(forces) == sorted(powers)
    assert [name for name in names if name not in forces] in ([], ["load 6 on rod, jib"])
    by_number = {int(name.split()[1]): name for name in forces}
    assert list(by_number) == list(range(7))
    along = r["F"] - VALUES[k] * x[2]
    same(forces[by_number[3]], [0, -VALUES[l] * along, along, 0])
    same(forces[by_number[4]], np.zeros(4))  # the lift moves as prescribed: no partial velocity
    same(forces[by_number[5]], [r["tau"], 0, 0, 0])
    same(powers[by_number[5]], r["tau"] * x[4])
    same(
        powers[by_number[1]], -VALUES[m] * VALUES[g] * dyn.linear_momentum(0.0, x, by_body=True, r=r)[1, 2] / VALUES[m]
    )
    up = np.array([0.0, 0.0, 1.0])
    jib = r["F"] * (-np.sin(x[1]))  # −F jib.y on the lift, which rises
    same(powers[by_number[4]], jib * up[2] * r["height_d"])
    assert powers[by_number[6]] < 0  # a damper
    by_body = dyn.generalized_active_forces(0.0, x, r=r, by="body")
    same(by_body[1], forces[by_number[1]] + forces[by_number[3]], 1e-12)


def test_potentials_and_loads_that_hold_udot() -> None:
    options: dict[str, Any] = {"bodies": CRANE.bodies, "potentials": [k * Q[3] ** 2 / 2]}
    kd = rates(Q, U)
    loads = [(CRANE.trolley, -b * U[2].diff() * CRANE.jib.y - k * Q[2] * CRANE.jib.y)]
    dyn = kc.compile(
        kc.Model(CRANE.N, Q, U, kd, forcelist=loads, **options), parameters={s: VALUES[s] for s in (m, l, k, b)}
    )
    x, udot, r, _ = arguments(6)
    r = {name: r[name] for name in dyn.input_names}
    forces = dyn.generalized_active_forces(0.0, x, r=r, by="load")
    assert list(forces) == ["load 0 at trolley", "potentials"]
    same(forces["load 0 at trolley"], [0, VALUES[l] * VALUES[k] * x[2], -VALUES[k] * x[2], 0])
    same(forces["potentials"], [0, 0, 0, -VALUES[k] * x[3]])
    assert list(dyn.load_powers(0.0, x, r=r)) == ["load 0 at trolley"]
    missing = dyn.generalized_inertia_forces(0.0, x, udot, r=r) - dyn.generalized_inertia_forces(
        0.0, x, udot, r=r, by="body"
    ).sum(0)
    same(missing, [0, VALUES[l] * VALUES[b] * udot[2], -VALUES[b] * udot[2], 0], 1e-11)


def test_leading_axes() -> None:
    dyn = crane()
    x, udot, r, _ = arguments(7)
    states = np.stack([x, 2 * x])
    assert dyn.linear_momentum(0.0, states, r=r).shape == (2, 3)
    assert dyn.linear_momentum(np.zeros((5, 1)), states, by_body=True, r=r).shape == (5, 2, 3, 3)
    found = dyn.angular_momentum(0.0, states, np.ones((5, 1, 3)), r=r)
    assert found.shape == (5, 2, 3)
    same(found[3, 1], dyn.angular_momentum(0.0, 2 * x, [1, 1, 1], r=r))
    found = dyn.generalized_inertia_forces(0.0, states, np.stack([udot, udot, udot])[:, np.newaxis], r=r, by="body")
    assert found.shape == (3, 2, 3, 4)
    same(found[2, 1], dyn.generalized_inertia_forces(0.0, 2 * x, udot, r=r, by="body"))
    assert {v.shape for v in dyn.generalized_active_forces(0.0, states, r=r, by="load").values()} == {(2, 4)}
    assert {v.shape for v in dyn.load_powers(0.0, states, r=r).values()} == {(2,)}
    heavier = [2 * VALUES[m] if name == "m" else VALUES[sm.Symbol(name)] for name in dyn.parameter_names]
    same(dyn.linear_momentum(0.0, x, r=r, p=heavier), 2 * dyn.linear_momentum(0.0, x, r=r))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda d, x: d.angular_momentum(0.0, x, "hook"), KeyError, r"no point of .* is called 'hook'.*lift"),
        (
            *(lambda d, x: d.angular_momentum(0.0, x, [0.0, 1.0]), ValueError),
            r"about has shape \(2,\), expected \(\.\.\., 3\)",
        ),
        *(
            (
                lambda d, x, wrong=wrong: d.angular_momentum(0.0, x, wrong),
                TypeError,
                "about must be .*; or give the name of a point",
            )
            for wrong in (None, 1j * np.ones(3), ["a", "b", "c"])
        ),
        (lambda d, x: d.linear_momentum(0.0, x[:3]), ValueError, "x has shape"),
        (lambda d, x: d.generalized_inertia_forces(0.0, x, [1.0], by="body"), ValueError, "udot"),
        (lambda d, x: d.angular_momentum(0.0, x), TypeError, "about"),
    ],
)
def test_wrong_arguments(call: Any, error: type[Exception], message: str) -> None:
    x, _, r, _ = arguments(8)
    crane().inputs = r
    with pytest.raises(error, match=message):
        call(crane(), x)


def test_points_of_several_trees() -> None:
    """Each located from an origin of its own: momenta are known, and moments about a common point are not."""
    N, q, u = me.ReferenceFrame("N"), me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    origins = [me.Point("one"), me.Point("other")]
    for origin in origins:
        origin.set_vel(N, 0)
    places = zip("AB", origins, q, strict=True)
    bodies = [me.Particle(name, origin.locatenew(name, place * N.x + N.y), m) for name, origin, place in places]
    dyn = kc.compile(kc.Model(N, q, u, rates(q, u), bodies=bodies), parameters={m: 2.0})
    state = [0.1, 0.2, 0.3, 0.4]
    same(dyn.linear_momentum(0.0, state), [1.4, 0, 0])
    unknown = r"the position of point [AB] from point [AB] is not known: locate both"
    for about in ("A", "B", [0.0, 0.0, 0.0]):
        with pytest.raises(kc.ModelError, match=unknown):
            dyn.angular_momentum(0.0, state, about)


def test_results_by_name_say_which_name_may_be_meant() -> None:
    dyn = kc.load("rrp")
    found = dyn.positions(0.0, np.zeros(dyn.n_x), named=True)
    name = dyn.points[0]
    with pytest.raises(KeyError, match=f"no result is called .*did you mean .*{name}"):
        found[name.swapcase() + "_"]
    assert type(pickle.loads(pickle.dumps(found))) is dict
