# SPDX-License-Identifier: BSD-3-Clause
"""The kernel joint_regressor: beside models that have the friction and the rotors among their bodies and loads."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, pendulum
from numpy.testing import assert_allclose

import kanecore as kc

ROBOTS = Path(__file__).parent / "robots"


def compiled(model: kc.Model, values: dict[str, float] | None = None) -> kc.CompiledModel:
    """Without a compiler: these tests are of the description."""
    return kc.compile(model, parameters=values, cc="none")


def arm(flywheels: bool) -> kc.Model:
    """Two rods, whose speeds are no rates of the angles, and depend on t.

    ``flywheels``: a disc on the ground turns as fast as each angle changes, with torques of friction on it.
    """
    q1, q2, u1, u2 = me.dynamicsymbols("q1 q2 u1 u2")
    t, length = me.dynamicsymbols._t, sm.Symbol("l")
    N, origin = ground()
    kinematic = {
        q1.diff(): u1 * sm.cos(q2) - u2 * sm.sin(t) + sm.sin(2 * t) + 0.3 * q1,
        q2.diff(): u1 * (0.4 + q1**2) + u2 * sm.cos(q1 - q2),
    }
    bodies, loads, point = [], [], origin
    angle = 0
    for i, q in enumerate((q1, q2)):
        angle += q
        frame = me.ReferenceFrame(f"A{i}")
        frame.orient_axis(N, N.z, angle)
        frame.set_ang_vel(N, angle.diff().subs(kinematic) * N.z)
        centre, end = point.locatenew(f"C{i}", length * frame.x / 2), point.locatenew(f"E{i}", length * frame.x)
        for each in (centre, end):
            each.v2pt_theory(point, N, frame)
        bodies.append(me.RigidBody(f"rod{i}", centre, frame, 1.3, (me.inertia(frame, 0, 0, 0.1), centre)))
        loads.append((centre, -9.81 * 1.3 * N.y))
        point = end
    if flywheels:
        for i, q in enumerate((q1, q2)):
            viscous, dry, rotor = sm.symbols(f"b{i} c{i} J{i}")
            wheel, rate = me.ReferenceFrame(f"W{i}"), kinematic[q.diff()]
            wheel.orient_axis(N, N.z, q)
            wheel.set_ang_vel(N, rate * N.z)
            bodies.append(me.RigidBody(f"wheel{i}", origin, wheel, 0, (me.inertia(wheel, 0, 0, rotor), origin)))
            loads.append((wheel, -(viscous * rate + dry * sm.sign(rate)) * N.z))
    equations = [rate - value for rate, value in kinematic.items()]
    return kc.Model(N, [q1, q2], [u1, u2], kd_eqs=equations, bodies=bodies, forcelist=loads)


@pytest.mark.filterwarnings("ignore:no solid body can have")
def test_beside_flywheels() -> None:
    values = {"b0": 0.7, "c0": 1.1, "J0": 0.23, "b1": 0.05, "c1": 0.6, "J1": 1.7}
    plain = compiled(arm(False), {"l": 0.8})
    other = compiled(arm(True), {"l": 0.8, **values})
    x, udot = np.random.default_rng(0).uniform(-2.0, 2.0, (2, 30, 4))
    t = np.linspace(0.0, 3.0, 30)
    found = plain.joint_regressor(t, x, udot[:, :2])
    assert found.shape == (30, 2, 6)
    expected = other.inverse_dynamics(t, x, udot[:, :2]) - plain.inverse_dynamics(t, x, udot[:, :2])
    assert_allclose(found @ list(values.values()), expected, rtol=0, atol=1e-12 * np.max(np.abs(expected)))
    rates = plain.qdot(t, x)
    assert (rates > 0.0).any()
    assert (rates < 0.0).any()


@pytest.mark.long
def test_losses_of_a_urdf() -> None:
    """Damping, and friction that turns over at a speed at which all states are long past."""
    plain = compiled(kc.Model.from_urdf(ROBOTS / "tools.urdf"))
    lossy = compiled(kc.Model.from_urdf(ROBOTS / "tools.urdf", damping=True, friction=1e-4))
    rng = np.random.default_rng(1)
    x, udot = rng.uniform(-1, 1, (20, plain.n_x)), rng.uniform(-1, 1, (20, plain.n_u))
    theta = np.zeros((plain.n_q, 3))
    theta[plain.coordinate_names.index("q_turn"), :2] = 0.7, 0.4
    theta[plain.coordinate_names.index("q_lift"), 0] = 3.0
    lost = lossy.inverse_dynamics(0.0, x, udot) - plain.inverse_dynamics(0.0, x, udot)
    assert_allclose(plain.joint_regressor(0.0, x, udot) @ theta.ravel(), lost, rtol=0, atol=1e-11)


@pytest.mark.filterwarnings("ignore:no solid body can have")
def test_where_qdot_is_u() -> None:
    """Of each coordinate its own row: the speed, its sign, its derivative; nothing at rest but the rotor."""
    dyn = kc.load("puma560")
    x, udot = np.random.default_rng(2).uniform(-1, 1, (2, 12))
    x[7] = 0.0
    found = dyn.joint_regressor(0.0, x, udot[:6]).reshape(6, 6, 3)
    expected = np.zeros((6, 6, 3))
    expected[range(6), range(6)] = np.transpose([x[6:], np.sign(x[6:]), udot[:6]])
    assert_allclose(found, expected, rtol=0, atol=0)


def test_quaternions_have_no_joint() -> None:
    with pytest.warns(kc.KanecoreWarning, match="'world' moves by joint 'base', and what it carries resists in some"):
        dyn = compiled(kc.Model.from_urdf(ROBOTS / "rover.urdf", floating_base=True))
    rng = np.random.default_rng(3)
    x, udot = rng.uniform(-1, 1, dyn.n_x), rng.uniform(-1, 1, dyn.n_u)
    found = dyn.joint_regressor(0.0, x, udot).reshape(dyn.n_u, dyn.n_q, 3)
    of_quaternion = [name.startswith("q_base_e") for name in dyn.coordinate_names]
    assert sum(of_quaternion) == 4
    assert not found[:, of_quaternion].any()
    assert found[:, np.logical_not(of_quaternion)].any(axis=(0, 2)).all()


def test_first_order_equations_have_none() -> None:
    dyn: Any = kc.compile(pendulum().canonical())
    with pytest.raises(kc.ModelError, match="no joint regressor: its equations are of first order"):
        dyn.joint_regressor(0.0, np.zeros(dyn.n_x), np.zeros(dyn.n_u))
