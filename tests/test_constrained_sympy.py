# SPDX-License-Identifier: BSD-3-Clause
"""Constrained models of SymPy, as they are: KanesMethod with dependent speeds and auxiliary ones, System with loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

t = me.dynamicsymbols._t


def rolling_disc(auxiliary: bool = False) -> tuple[me.KanesMethod, list[Any], list[Any], dict[Any, float], list[Any]]:
    """SymPy's documentation, "A rolling disc, with Kane's method and constraint forces"."""
    q = q1, q2, q3 = me.dynamicsymbols("q1 q2 q3")
    u = u1, u2, u3 = me.dynamicsymbols("u1 u2 u3")
    _u4, _u5, _u6 = aux = me.dynamicsymbols("u4 u5 u6")
    f = me.dynamicsymbols("f1 f2 f3")
    r, m, g = sm.symbols("r m g")
    N, Y, L, R = (me.ReferenceFrame(name) for name in "NYLR")
    Y.orient_axis(N, N.z, q1)
    L.orient_axis(Y, Y.x, q2)
    R.orient_axis(L, L.y, q3)
    w_R_N_qd = R.ang_vel_in(N)
    R.set_ang_vel(N, u1 * L.x + u2 * L.y + u3 * L.z)
    C = me.Point("C")
    axes = (L.x, Y.z.cross(L.x), Y.z)
    C.set_vel(N, sum((a * axis for a, axis in zip(aux, axes, strict=True)), me.Vector(0)) if auxiliary else 0)
    Dmc = C.locatenew("Dmc", r * L.z)
    Dmc.set_vel(N, C.vel(N) + R.ang_vel_in(N).cross(r * L.z))
    body = me.RigidBody("disc", Dmc, R, m, (me.inertia(L, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4), Dmc))
    loads = [(Dmc, -m * g * Y.z)]
    if auxiliary:
        loads.append((C, sum((a * axis for a, axis in zip(f, axes, strict=True)), me.Vector(0))))
    kd = [w_R_N_qd.dot(uv) - ui for uv, ui in zip(L, u, strict=True)]
    options = {"u_auxiliary": aux} if auxiliary else {}
    kane = me.KanesMethod(N, q, u, kd_eqs=kd, **options)
    return kane, [body], loads, {r: 0.3, m: 1.7, g: 9.81}, list(f)


def test_contact_forces_by_auxiliary_speeds() -> None:
    """auxiliary_forces at the model's own u̇ against SymPy's auxiliary equations solved for the contact forces."""
    kane, bodies, loads, values, forces = rolling_disc(auxiliary=True)
    kane.kanes_equations(bodies, loads)
    model = kc.Model.from_kane(kane)
    assert {str(s) for s in model.noncontributing} == {"f1(t)", "f2(t)", "f3(t)"}
    dyn = kc.compile(model, parameters=values)
    plain, bodies, loads, _, _ = rolling_disc()
    plain.kanes_equations(bodies, loads)
    x = [0.3, 0.4, 0.5, 0.6, -2.0, 0.7]
    numbers = dict(zip([*kane.q, *kane.u], x, strict=True))
    udot = kc.compile(kc.Model.from_kane(plain), parameters=values).udot(0.0, x)
    np.testing.assert_allclose(dyn.udot(0.0, x), udot, rtol=1e-13)
    equations = [me.msubs(e, dict(zip([u.diff(t) for u in kane.u], udot, strict=True))) for e in kane.auxiliary_eqs]
    equations = [me.msubs(e, kane.kindiffdict()) for e in equations]
    equations = [me.msubs(e, numbers).xreplace(values) for e in equations]
    solved = sm.solve(equations, forces)
    expected = [float(solved[f]) for f in forces]
    np.testing.assert_allclose(-dyn.auxiliary_forces(0.0, x), expected, rtol=1e-11)
    given = kc.compile(kc.Model.from_kane(kane, inputs=forces), parameters=values)
    np.testing.assert_allclose(given.auxiliary_forces(0.0, x, r=expected), 0.0, atol=1e-11)


def knife_edge_on_a_plane() -> tuple[me.KanesMethod, dict[Any, float]]:
    """A skate on an inclined plane: u3 depends on the others by the condition that it does not slip sideways."""
    x, y, th, vx, vy, w = me.dynamicsymbols("x y theta v_x v_y omega")
    m, inertia, g = sm.symbols("m I g")
    N, B, origin = me.ReferenceFrame("N"), me.ReferenceFrame("B"), me.Point("O")
    B.orient_axis(N, N.z, th)
    B.set_ang_vel(N, w * N.z)
    origin.set_vel(N, 0)
    C = origin.locatenew("C", x * N.x + y * N.y)
    C.set_vel(N, vx * N.x + vy * N.y)
    body = me.RigidBody("skate", C, B, m, (me.inertia(B, 0, 0, inertia), C))
    kane = me.KanesMethod(
        N,
        [x, y, th],
        [vx, w],
        kd_eqs=[x.diff() - vx, y.diff() - vy, th.diff() - w],
        u_dependent=[vy],
        velocity_constraints=[C.vel(N).dot(B.y)],
        bodies=[body],
        forcelist=[(C, m * g * N.x)],
    )
    return kane, {m: 2.0, inertia: 0.3, g: 9.81}


@pytest.mark.parametrize("formed", [False, True])
def test_kanes_method_with_a_dependent_speed(formed: bool) -> None:
    kane, values = knife_edge_on_a_plane()
    if formed:
        kane.kanes_equations()
    dyn = kc.compile(kc.Model.from_kane(kane), parameters=values)
    assert dyn.n_constraints == 1  # SymPy's own derivative of the constraint is no second one
    if not formed:
        kane.kanes_equations()
    v, angle = 1.3, 0.4
    x = [0.1, 0.2, angle, v * np.cos(angle), 0.7, v * np.sin(angle)]
    state = dict(zip([*kane.q, *kane.u], x, strict=True))

    def number(e: Any) -> Any:
        return np.array(me.msubs(me.msubs(e, kane.kindiffdict()), state).xreplace(values).tolist(), dtype=float)

    expected = np.linalg.solve(number(kane.mass_matrix), number(kane.forcing)).ravel()
    np.testing.assert_allclose(dyn.udot(0.0, x), expected, rtol=1e-12, atol=1e-12)
    fr, _frstar = kane.kanes_equations()
    np.testing.assert_allclose(dyn.generalized_active_forces(0.0, x, nonholonomic=True), number(fr).ravel(), rtol=1e-12)


def test_system_with_a_loop() -> None:
    """Four bars by SymPy's joints and a holonomic constraint; dφ/dt stands among its velocity constraints."""
    ground, a, b, c = (me.RigidBody(name, mass=1.0 + i) for i, name in enumerate(("ground", "a", "b", "c")))
    for body in (a, b, c):
        body.inertia = (me.inertia(body.frame, 0.1, 0.1, 0.1), body.masscenter)
    system = me.System.from_newtonian(ground)
    joints = [
        me.PinJoint("A", ground, a, child_point=-0.5 * a.x, joint_axis=ground.z),
        me.PinJoint("B", a, b, parent_point=0.5 * a.x, child_point=-b.x, joint_axis=a.z),
        me.PinJoint("C", ground, c, parent_point=2.2 * ground.x, child_point=-0.75 * c.x, joint_axis=ground.z),
    ]
    system.add_joints(*joints)
    system.apply_uniform_gravity(-9.81 * ground.y)
    ends = b.masscenter.locatenew("end_b", b.x), c.masscenter.locatenew("end_c", 0.75 * c.x)
    gap = ends[0].pos_from(ends[1])
    q = joints[0].coordinates[0], joints[1].coordinates[0], joints[2].coordinates[0]
    system.q_ind, system.q_dep = [q[0]], [q[1], q[2]]
    u = [joint.speeds[0] for joint in joints]
    system.u_ind, system.u_dep = [u[0]], [u[1], u[2]]
    system.add_holonomic_constraints(gap.dot(ground.x), gap.dot(ground.y))
    model = kc.Model.from_system(system, guess={q[0]: 1.0, q[1]: -0.7, q[2]: 1.3})
    dyn = kc.compile(model)
    assert dyn.n_constraints == 2
    assert dyn.check().dof == 1
    x = dyn.consistent(0.0, [1.0, -0.7, 1.3, 0.8, 0.0, 0.0])
    system.form_eoms()
    state = dict(zip([*system.q, *system.u], x, strict=True))
    kane = system.eom_method

    def number(e: Any) -> Any:
        return np.array(me.msubs(me.msubs(e, kane.kindiffdict()), state).tolist(), dtype=float)

    expected = np.linalg.solve(number(kane.mass_matrix), number(kane.forcing)).ravel()
    np.testing.assert_allclose(dyn.udot(0.0, x), expected, rtol=1e-10)
    sol = dyn.simulate((0.0, 5.0), x, rtol=1e-10, atol=1e-10)
    assert sol.constraint_drift < 1e-10
    assert sol.energy_drift < 1e-7
