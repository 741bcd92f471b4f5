# SPDX-License-Identifier: BSD-3-Clause
"""Symbols without effect: accepted by name, kept, listed, and never asked for."""

import pickle
import re

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, mass_point, particle, rates

import kanecore as kc

x, v = me.dynamicsymbols("x v")
m, g, d = sm.symbols("m g d")


@pytest.fixture(scope="module")
def model() -> kc.Model:
    """A cart on a rail that is mounted at d: of d its position depends, of its inertia nothing but the reactions."""
    ground, cart = me.RigidBody("ground"), me.RigidBody("cart", mass=m)
    system = me.System.from_newtonian(ground)
    mounting = d * ground.x
    system.add_joints(me.PrismaticJoint("rail", ground, cart, x, v, joint_axis=ground.x, parent_point=mounting))
    system.apply_uniform_gravity(-g * ground.y)
    return kc.Model.from_system(system, outputs={"height": sm.Symbol("h") * x}, name="cart")


def test_parameters_are_what_the_reader_meets(model: kc.Model) -> None:
    assert {m, g, d, sm.Symbol("cart_ixx")} <= set(model.parameters)
    assert sm.Symbol("ground_mass") in model.left_out
    assert not set(model.left_out) & set(model.parameters)
    report = re.sub(r"\n {6,}", " ", model.report())  # lines as they were before they were wrapped
    [line] = [line for line in report.splitlines() if "without effect" in line]
    assert {"ground_mass", "ground_ixx", "cart_ixx"} <= set(line.split())
    assert not {"m", "g", "h", "d"} & set(line.split())


def test_every_constant_is_accepted(model: kc.Model) -> None:
    inertia = {s: 1.0 for s in (*model.parameters, *model.left_out) if "_i" in s.name and s.name[-1] == s.name[-2]}
    others = {s: 0.0 for s in (*model.parameters, *model.left_out) if "_i" in s.name and s not in inertia}
    values = {m: 2.0, g: 9.81, d: 0.3, "h": 1.0, "ground_mass": 7.0, **inertia, **others}
    dyn = kc.compile(model, parameters=values)
    assert dyn.parameters["ground_mass"] == dyn.parameters[sm.Symbol("ground_mass")] == 7.0
    assert len(dyn.parameters) == dyn.n_p == model.n_p
    dyn.parameters = {"ground_mass": 8.0, "m": 3.0}
    again = pickle.loads(pickle.dumps(dyn))
    assert (again.parameters["ground_mass"], again.parameters["m"]) == (8.0, 3.0)
    assert dyn.rhs(0.0, [0.1, 0.2], p={"ground_mass": 1.0}).tolist() == [0.2, 0.0]
    assert dyn.simulate((0.0, 1.0), [0.0, 1.0], parameters={"ground_ixx": 2.0}).x[-1, 0] == pytest.approx(1.0)
    baked = kc.compile(model, parameters=values, bake=True)
    assert baked.n_p == 0
    assert baked.parameters["ground_mass"] == 7.0


def test_a_call_asks_for_what_it_reads(model: kc.Model) -> None:
    dyn = kc.compile(model)
    state = np.array([0.1, 0.2])
    assert dyn.qdot(0.0, state).tolist() == [0.2]
    with pytest.raises(ValueError, match="parameter 'm' of 'cart' was never set"):
        dyn.mass_matrix(0.0, state)
    with pytest.raises(ValueError, match="parameter 'h' of 'cart' was never set"):
        dyn.outputs(0.0, state)
    dyn.parameters[m] = 2.0
    assert dyn.mass_matrix(0.0, state).tolist() == [[2.0]]
    assert dyn.rhs(0.0, np.tile(state, (3, 1))).tolist() == [[0.2, 0.0]] * 3
    assert dyn.kinetic_energy(0.0, state) == pytest.approx(0.04)
    assert dyn.simulate((0.0, 1.0), state, method="rk4", dt=0.1).x[-1].tolist() == pytest.approx([0.3, 0.2])
    with pytest.raises(ValueError, match="parameter 'g' of 'cart' was never set"):
        dyn.reactions(0.0, state)
    assert dyn.reactions(0.0, state, p={"g": 10.0})[0, 1] == pytest.approx(20.0)
    workspace = dyn.workspace()
    workspace.x = state
    assert workspace.rhs().tolist() == [0.2, 0.0]
    with pytest.raises(ValueError, match="parameter 'g' of 'cart' was never set"):
        workspace.reactions()
    workspace.p = {"g": 10.0}
    assert workspace.reactions()[0, 1] == pytest.approx(20.0)


def test_a_result_is_never_silently_nan(model: kc.Model) -> None:
    dyn = kc.compile(model, parameters={m: 2.0})
    p = np.full(dyn.n_p, np.nan)
    p[dyn.parameter_names.index("m")] = 2.0
    assert np.isfinite(dyn.rhs(0.0, [0.1, 0.2], p=p)).all()
    p[dyn.parameter_names.index("m")] = np.nan
    with pytest.raises(ValueError, match="parameter 'm' is not finite in p"):
        dyn.rhs(0.0, [0.1, 0.2], p=p)
    with pytest.raises(ValueError, match="'ground_mass' is not finite"):
        dyn.rhs(0.0, [0.1, 0.2], p={"ground_mass": np.inf})


def test_strangers_are_refused(model: kc.Model) -> None:
    dyn = kc.compile(model)
    for name in ("nobody", "x", "ground"):
        with pytest.raises(KeyError, match="parameter"):
            dyn.parameters[name] = 1.0


def test_constraints_need_the_parameters_that_count_their_rows() -> None:
    """G reads a, which u̇ alone would not: one row says the same as another where a is zero."""
    (u1, u2), a = me.dynamicsymbols("u1:3"), sm.Symbol("a")
    model = particle(2, velocity_constraints=[u1 + a * u2], outputs={"bx": sm.Symbol("b") * me.dynamicsymbols("x")})
    dyn = kc.compile(model, parameters={m: 1.0})
    with pytest.raises(ValueError, match="parameter 'a' of 'model' was never set"):
        dyn.udot(0.0, np.zeros(4))
    dyn.parameters[a] = 1.0
    assert np.isfinite(dyn.udot(0.0, np.zeros(4))).all()


def test_constraints_ask_for_no_more_than_the_equations() -> None:
    """The inertia of a body that slides, beside a constraint whose pivots are chosen at run time."""
    (x, y), (u1, u2) = me.dynamicsymbols("x y"), me.dynamicsymbols("u1:3")
    N, origin = ground()
    C = origin.locatenew("C", x * N.x + y * N.y)
    plate = me.RigidBody("plate", C, N.orientnew("B", "Axis", (0, N.z)), m, (me.inertia(N, 0, 0, sm.Symbol("J")), C))
    options = {"bodies": [plate], "velocity_constraints": [y * u1 - x * u2], "name": "plate"}
    dyn = kc.compile(kc.Model(N, [x, y], [u1, u2], rates([x, y], [u1, u2]), **options), parameters={m: 2.0})
    x0 = np.array([1.0, 0.5, 0.2, 0.1])
    end = dyn.simulate((0.0, 0.1), x0, method="rk4", dt=0.05).x[-1]
    np.testing.assert_allclose(dyn.rollout(x0, np.zeros((2, 0)), dt=0.05)[-1], end)
    assert dyn.rhs(0.0, x0).shape == (4,)
    assert np.isfinite(dyn.linear_system(0.0, x0).A).all()
    assert dyn.audit(2).passed
    assert np.isnan(dyn.parameters["J"])
    with pytest.raises(ValueError, match="parameter 'm' of 'plate' was never set"):
        kc.compile(kc.Model(N, [x, y], [u1, u2], rates([x, y], [u1, u2]), **options)).audit()


def test_a_length_that_constraints_alone_hold() -> None:
    """Its value is asked for where states are brought to the constraints, and nowhere else."""
    x, y, vx, vy = me.dynamicsymbols("x y vx vy")
    m, g, length = sm.symbols("m g L")
    model = mass_point({x: vx, y: vy}, m, [0, -m * g], configuration_constraints=[x**2 + y**2 - length**2])
    dyn = kc.compile(model, parameters={"m": 2.0, "g": 9.81})
    state = [0.0, -1.0, 0.5, 0.0]
    assert dyn.kinetic_energy(0.0, state) == 0.25
    np.testing.assert_allclose(dyn.forcing(0.0, state), [0.0, -19.62])
    with pytest.raises(ValueError, match="parameter 'L' of 'model' was never set"):
        dyn.udot(0.0, state)
    np.testing.assert_allclose(dyn.udot(0.0, state, p={"L": 1.0}), [0.0, 0.25])
