# SPDX-License-Identifier: BSD-3-Clause
"""Constrained models of SymPy, as they are: KanesMethod with dependent speeds and auxiliary ones, System with loops."""

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import PARAMETERS, compiled, g, ground, k, m, r, rates

import kanecore as kc

t = me.dynamicsymbols._t


def rolling_disc(auxiliary: bool = False) -> tuple[me.KanesMethod, list[Any]]:
    """SymPy's documentation, "A rolling disc, with Kane's method and constraint forces"."""
    q, u, aux, f = (me.dynamicsymbols(names) for names in ("q1:4", "u1:4", "u4:7", "f1:4"))
    N, Y, L, R = (me.ReferenceFrame(name) for name in "NYLR")
    Y.orient_axis(N, N.z, q[0])
    L.orient_axis(Y, Y.x, q[1])
    R.orient_axis(L, L.y, q[2])
    turning = R.ang_vel_in(N)
    R.set_ang_vel(N, vector(u, L))
    C, axes = me.Point("C"), (L.x, Y.z.cross(L.x), Y.z)
    C.set_vel(N, vector(aux, axes) if auxiliary else 0)
    centre = C.locatenew("Dmc", r * L.z)
    centre.set_vel(N, C.vel(N) + R.ang_vel_in(N).cross(r * L.z))
    body = me.RigidBody("disc", centre, R, m, (me.inertia(L, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4), centre))
    loads = [(centre, -m * g * Y.z), *([(C, vector(f, axes))] if auxiliary else [])]
    kd = [turning.dot(axis) - speed for axis, speed in zip(L, u, strict=True)]
    kane = me.KanesMethod(N, q, u, kd_eqs=kd, **({"u_auxiliary": aux} if auxiliary else {}))
    kane.kanes_equations([body], loads)
    return kane, f


def vector(components: Any, axes: Any) -> Any:
    return sum((a * axis for a, axis in zip(components, axes, strict=True)), me.Vector(0))


def number(e: Any, kane: me.KanesMethod, state: dict[Any, float]) -> Any:
    """Numbers of what SymPy has formed."""
    return np.array(me.msubs(me.msubs(e, kane.kindiffdict()), state).xreplace(PARAMETERS).tolist(), dtype=float)


def test_contact_forces_by_auxiliary_speeds() -> None:
    """auxiliary_forces at the model's own u̇ against SymPy's auxiliary equations solved for the contact forces."""
    kane, forces = rolling_disc(auxiliary=True)
    model = kc.Model.from_kane(kane)
    assert {str(s) for s in model.noncontributing} == {"f1(t)", "f2(t)", "f3(t)"}
    dyn = compiled(model)
    x = [0.3, 0.4, 0.5, 0.6, -2.0, 0.7]
    numbers = dict(zip([*kane.q, *kane.u], x, strict=True))
    udot = compiled(kc.Model.from_kane(rolling_disc()[0])).udot(0.0, x)
    np.testing.assert_allclose(dyn.udot(0.0, x), udot, rtol=1e-13)
    equations = [me.msubs(e, dict(zip([u.diff(t) for u in kane.u], udot, strict=True))) for e in kane.auxiliary_eqs]
    equations = [me.msubs(e, kane.kindiffdict()) for e in equations]
    equations = [me.msubs(e, numbers).xreplace(PARAMETERS) for e in equations]
    solved = sm.solve(equations, forces)
    expected = [float(solved[f]) for f in forces]
    np.testing.assert_allclose(-dyn.auxiliary_forces(0.0, x), expected, rtol=1e-11)
    given = compiled(kc.Model.from_kane(kane, inputs=forces))
    np.testing.assert_allclose(given.auxiliary_forces(0.0, x, r=expected), 0.0, atol=1e-11)


def skate_on_a_plane() -> me.KanesMethod:
    """On an inclined plane: the last speed depends on the others, as the skate does not slip sideways."""
    (x, y, th), (vx, vy, w) = me.dynamicsymbols("x y theta"), me.dynamicsymbols("v_x v_y omega")
    (N, origin), B = ground(), me.ReferenceFrame("B")
    B.orient_axis(N, N.z, th)
    B.set_ang_vel(N, w * N.z)
    C = origin.locatenew("C", x * N.x + y * N.y)
    C.set_vel(N, vx * N.x + vy * N.y)
    body, loads = me.RigidBody("skate", C, B, m, (me.inertia(B, 0, 0, k), C)), [(C, m * g * N.x)]
    dependent = {"u_dependent": [vy], "velocity_constraints": [C.vel(N).dot(B.y)]}
    kd_eqs = rates([x, y, th], [vx, vy, w])
    return me.KanesMethod(N, [x, y, th], [vx, w], kd_eqs, bodies=[body], forcelist=loads, **dependent)


@pytest.mark.parametrize("formed", [False, True])
def test_kanes_method_with_a_dependent_speed(formed: bool) -> None:
    kane = skate_on_a_plane()
    if formed:
        kane.kanes_equations()
    dyn = compiled(kc.Model.from_kane(kane))
    assert dyn.n_constraints == 1  # SymPy's own derivative of the constraint is no second one
    if not formed:
        kane.kanes_equations()
    v, angle = 1.3, 0.4
    x = [0.1, 0.2, angle, v * np.cos(angle), 0.7, v * np.sin(angle)]
    state = dict(zip([*kane.q, *kane.u], x, strict=True))
    expected = np.linalg.solve(*(number(e, kane, state) for e in (kane.mass_matrix, kane.forcing))).ravel()
    np.testing.assert_allclose(dyn.udot(0.0, x), expected, rtol=1e-12, atol=1e-12)
    fr, _frstar = kane.kanes_equations()
    np.testing.assert_allclose(
        dyn.generalized_active_forces(0.0, x, nonholonomic=True), number(fr, kane, state).ravel(), rtol=1e-12
    )


def test_system_with_a_loop() -> None:
    """Four bars by SymPy's joints and a holonomic constraint; dφ/dt stands among its velocity constraints."""
    base, a, b, c = (me.RigidBody(name, mass=1.0 + i) for i, name in enumerate(("base", "a", "b", "c")))
    for body in (a, b, c):
        body.inertia = (me.inertia(body.frame, 0.1, 0.1, 0.1), body.masscenter)
    system = me.System.from_newtonian(base)
    joints = [
        me.PinJoint("A", base, a, child_point=-0.5 * a.x, joint_axis=base.z),
        me.PinJoint("B", a, b, parent_point=0.5 * a.x, child_point=-b.x, joint_axis=a.z),
        me.PinJoint("C", base, c, parent_point=2.2 * base.x, child_point=-0.75 * c.x, joint_axis=base.z),
    ]
    system.add_joints(*joints)
    system.apply_uniform_gravity(-9.81 * base.y)
    ends = b.masscenter.locatenew("end_b", b.x), c.masscenter.locatenew("end_c", 0.75 * c.x)
    gap = ends[0].pos_from(ends[1])
    q = joints[0].coordinates[0], joints[1].coordinates[0], joints[2].coordinates[0]
    system.q_ind, system.q_dep = [q[0]], [q[1], q[2]]
    u = [joint.speeds[0] for joint in joints]
    system.u_ind, system.u_dep = [u[0]], [u[1], u[2]]
    system.add_holonomic_constraints(gap.dot(base.x), gap.dot(base.y))
    model = kc.Model.from_system(system, guess={q[0]: 1.0, q[1]: -0.7, q[2]: 1.3})
    dyn = kc.compile(model)
    assert dyn.n_constraints == 2
    assert dyn.check().dof == 1
    x = dyn.consistent(0.0, [1.0, -0.7, 1.3, 0.8, 0.0, 0.0])
    system.form_eoms()
    state = dict(zip([*system.q, *system.u], x, strict=True))
    kane = system.eom_method
    expected = np.linalg.solve(*(number(e, kane, state) for e in (kane.mass_matrix, kane.forcing))).ravel()
    np.testing.assert_allclose(dyn.udot(0.0, x), expected, rtol=1e-10)
    sol = dyn.simulate((0.0, 2.0), x, rtol=1e-10, atol=1e-10)
    assert sol.constraint_drift < 1e-10
    assert sol.energy_drift < 1e-7


def quaternion_body(rates: str, filed: bool) -> kc.CompiledModel:
    """A free body, as in SymPy's test_implicit_kinematics; ``filed``: with e·e = 1 as a configuration constraint."""
    e, w = me.dynamicsymbols("e0:4"), me.dynamicsymbols("w1:4")
    a, b, c = sm.symbols("a b c")
    (N, O), B = ground(), me.ReferenceFrame("B")  # noqa: E741
    B.orient_quaternion(N, e)
    turning = B.ang_vel_in(N)
    B.set_ang_vel(N, vector(w, B))
    if rates == "implicit":
        kd_eqs = [(turning - B.ang_vel_in(N)).dot(axis) for axis in B] + [sum(x * x.diff(t) for x in e)]
    else:
        e0, e1, e2, e3 = e
        rows = sm.Matrix([[-e1, -e2, -e3], [e0, -e3, e2], [e3, e0, -e1], [-e2, e1, e0]])
        kd_eqs = list(sm.Matrix(e).diff(t) - rows * sm.Matrix(w) / 2)
    unit = {"q_dependent": e[:1], "configuration_constraints": [sum(x**2 for x in e) - 1]} if filed else {}
    model = kc.Model(
        *(N, e[1:] if filed else [*e[1:], e[0]], w, kd_eqs),
        bodies=[me.RigidBody("body", O, B, 1, (me.inertia(B, a, b, c), O))],
        forcelist=[(B, sm.Rational(3, 10) * B.x)],
        **unit,
    )
    return kc.compile(model, parameters={a: 1.0, b: 2.0, c: 2.5})


@pytest.mark.parametrize("rates", ["implicit", "explicit"])
def test_unit_norm_filed_as_a_constraint(rates: str) -> None:
    """No motion leaves it, so that it is no row of G."""
    dyn, free = quaternion_body(rates, filed=True), quaternion_body(rates, filed=False)
    x = np.array([-0.3, 0.2, 0.1, np.sqrt(0.86), 0.5, 1.0, 2.0])
    assert (dyn.n_constraints, dyn.n_configuration, dyn.check(x).dof) == (0, 1, 3)
    np.testing.assert_allclose(dyn.udot(0.0, x), free.udot(0.0, x), rtol=1e-15)
    sol = dyn.simulate((0.0, 2.0), x)
    np.testing.assert_allclose(sol.x, free.simulate((0.0, 2.0), x).x, atol=1e-9)
    assert sol.constraint_drift < 1e-14
    A, _ = dyn.linearize(0.0, x, minimal=True)
    assert A.shape == (6, 6)


def test_direction_cosines_on_a_circle() -> None:
    """ċ = −s u, ṡ = c u and c² + s² = 1: no row of G, but states that are off it are refused, and brought there."""
    c, s, u = me.dynamicsymbols("c s u")
    N, O = ground()  # noqa: E741
    P = O.locatenew("P", 2 * c * N.x + 2 * s * N.y)
    P.set_vel(N, 2 * u * (c * N.y - s * N.x))
    dyn = kc.compile(
        kc.Model(
            *(N, [c], [u], [c.diff(t) + s * u, s.diff(t) - c * u]),
            q_dependent=[s],
            configuration_constraints=[c**2 + s**2 - 1],
            bodies=[me.Particle("bob", P, sm.Integer(1))],
            forcelist=[(P, 9 * N.x)],
        )
    )
    x = [0.6, 0.8, 1.5]
    assert (dyn.n_constraints, dyn.check(x).dof) == (0, 1)
    np.testing.assert_allclose(dyn.udot(0.0, x), [-4.5 * 0.8], rtol=1e-14)
    with pytest.raises(ValueError, match="'configuration constraint 0'"):
        dyn.simulate((0.0, 1.0), [0.6, 0.81, 1.5])
    np.testing.assert_allclose(dyn.consistent(0.0, [0.6, 0.81, 1.5]), x, rtol=1e-14)
    near = dyn.consistent(0.0, [0.61, 0.81, 1.5], None)
    np.testing.assert_allclose(np.hypot(*near[:2]), 1.0, rtol=1e-14)
    assert dyn.simulate((0.0, 5.0), x, rtol=1e-11, atol=1e-11).constraint_drift < 1e-9


def test_a_row_that_vanishes_identically_counts_for_nothing() -> None:
    """The kinematical equation filed once more, in other words."""
    q, u = me.dynamicsymbols("q u")
    N, O = ground()  # noqa: E741
    P = O.locatenew("P", q * N.x)
    bead = me.Particle("bead", P, sm.Integer(2))
    kd_eqs, row = [q.diff(t) - u * (1 + sm.sin(q) ** 2)], q.diff(t) - u * (2 - sm.cos(q) ** 2)
    arguments = {"bodies": [bead], "forcelist": [(P, 5 * N.x)]}
    free, dyn = (
        kc.compile(kc.Model(N, [q], [u], kd_eqs, velocity_constraints=rows, **arguments)) for rows in ([], [row])
    )
    x = [0.1, 0.2]
    found = dyn.check(x)
    assert (found.rank, found.dof, found.redundant) == (0, 1, ("velocity constraint 0",))
    np.testing.assert_allclose(dyn.udot(0.0, x), free.udot(0.0, x), rtol=1e-15)
    assert dyn.multipliers(0.0, x) == [0.0]
    assert dyn.simulate((0.0, 1.0), x).constraint_drift == 0.0
    same = kc.compile(kc.Model(N, [q], [u], kd_eqs, velocity_constraints=kd_eqs, **arguments))
    assert same.constraint_jacobian(0.0, x) == [[0.0]]
    np.testing.assert_allclose(same.udot(0.0, x), free.udot(0.0, x), rtol=1e-15)


def test_auxiliary_speed_in_the_kinematical_equations() -> None:
    """Kane 1985, problems 8.12 and 8.17, as in SymPy's test_sub_qdot: ω of the wheel does not hold u3, as q̇2 does."""
    q1, q2 = me.dynamicsymbols("q1 q2")
    u1, u2, u3 = me.dynamicsymbols("u1 u2 u3")
    J, (A, O), C = sm.Symbol("J"), ground(), me.ReferenceFrame("C")  # noqa: E741
    C.set_ang_vel(A, (u3 + q2.diff(t)) * A.z)
    P = O.locatenew("P", q1 * A.x)
    P.set_vel(A, u1 * A.x + u3 * A.y)
    wheel = me.RigidBody("wheel", P, C, m, (me.inertia(A, J / 2, J / 2, J), P))
    kd_eqs = [q1.diff(t) - u1, q2.diff(t) + u3 - u2 / r]
    forces = [(P, m * g * A.x - 2 * m * g * A.y), (C, 3 * u1 * A.z)]
    kane = me.KanesMethod(A, [q1, q2], [u1, u2], kd_eqs, u_auxiliary=[u3])
    kane.kanes_equations([wheel], forces)
    x = [0.1, 0.2, 0.7, -0.4]
    built = kc.Model(A, [q1, q2], [u1, u2], kd_eqs, u_auxiliary=[u3], bodies=[wheel], forcelist=forces)
    for model in (kc.Model.from_kane(kane), built):
        dyn = compiled(model, {J: 1.3})
        state = dict(zip([q1, q2, u1, u2], x, strict=True))
        state |= dict(zip([u1.diff(t), u2.diff(t)], dyn.udot(0.0, x), strict=True))
        expected = me.msubs(kane.auxiliary_eqs, state).xreplace({**PARAMETERS, J: 1.3})
        np.testing.assert_allclose(dyn.auxiliary_forces(0.0, x), [float(expected[0])], rtol=1e-13)


def test_friction_of_a_reaction_is_refused() -> None:
    """A block slides down a slope with μN, N in evidence by an auxiliary speed (Kane & Levinson 1985, section 4.10)."""
    x, u, away, normal, push = me.dynamicsymbols("x u away normal push")
    m, g, mu, slope = sm.symbols("m g mu slope")
    N, origin = ground()
    A = N.orientnew("A", "Axis", [-slope, N.z])
    P = origin.locatenew("P", x * A.x)
    P.set_vel(N, u * A.x + away * A.y)
    options = {"u_auxiliary": [away], "bodies": [me.Particle("block", P, m)]}

    def sliding(force: Any, friction: Any, **more: Any) -> kc.Model:
        loads = [(P, -m * g * N.y + push * A.x), (P, force * A.y - friction * A.x)]
        return kc.Model(N, [x], [u], [x.diff() - u], forcelist=loads, **options, **more)

    with pytest.raises(
        kc.ModelError, match=r"load 1 depends on normal\(t\), .* speed away, and the motion .*inputs=\[normal"
    ):
        sliding(normal, mu * normal)
    assert sliding(normal, 0).inputs == (push,)
    assert sliding(normal, mu * m * g * sm.cos(slope)).noncontributing == (normal,)
    meant = sliding(normal, mu * normal, inputs=[normal, push])
    dyn = kc.compile(meant, parameters={m: 2.0, g: 9.81, mu: 0.2, slope: 0.6})
    r = [2.0 * 9.81 * np.cos(0.6), 0.0]
    np.testing.assert_allclose(dyn.auxiliary_forces(0.0, [0.1, 1.0], r=r), [0.0], atol=1e-13)
    np.testing.assert_allclose(dyn.udot(0.0, [0.1, 1.0], r=r), [9.81 * (np.sin(0.6) - 0.2 * np.cos(0.6))])
