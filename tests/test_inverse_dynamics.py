# SPDX-License-Identifier: BSD-3-Clause
"""``solve_inverse``: back to the accelerations of the kernels, other ways to the same forces, and its errors."""

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from gallery_states import loaded, some_state
from sweep import part

import kanecore as kc

MODELS = ["arm7", "four_bar", "rolling_disc", "whipple_bicycle", "appell_hamel", "stewart", "free_body", "five_bar"]


@pytest.mark.parametrize("name", part(MODELS, ["arm7", "four_bar", "rolling_disc"]))
def test_all_forces_given_is_the_motion(name: str) -> None:
    """τ = 0 in all speeds: u̇ and λ of the kernels."""
    dyn, x = loaded(name), some_state(name)
    found = dyn.solve_inverse(0.3, x, tau=np.zeros(dyn.n_u))
    udot = dyn.udot(0.3, x)
    np.testing.assert_allclose(found.udot, udot, rtol=0, atol=1e-9 * np.max(np.abs(udot)))
    assert not found.tau.any()
    if dyn.n_constraints:
        multipliers = dyn.multipliers(0.3, x)
        np.testing.assert_allclose(found.multipliers, multipliers, rtol=0, atol=1e-9 * np.max(np.abs(multipliers)))


@pytest.mark.parametrize("name", part(MODELS, ["arm7", "four_bar"]))
def test_some_accelerations_given_and_back(name: str) -> None:
    """The independent u̇ given, no force along the dependent speeds; what is found satisfies M u̇ = f + Gᵀλ + τ."""
    dyn, x, rng = loaded(name), some_state(name), np.random.default_rng(3)
    G = dyn.constraint_jacobian(0.3, x) if dyn.n_constraints else np.zeros((0, dyn.n_u))
    dof = dyn.n_u - (np.linalg.matrix_rank(G) if len(G) else 0)
    prescribed = dict(zip(dyn.speed_names[:dof], rng.uniform(-1.0, 1.0, dof), strict=True))
    found = dyn.solve_inverse(0.3, x, udot=prescribed, tau=dict.fromkeys(dyn.speed_names[dof:], 0.0))
    np.testing.assert_array_equal(found.udot[:dof], list(prescribed.values()))
    assert not found.tau[dof:].any()
    beyond = dyn.inverse_dynamics(0.3, x, found.udot)
    size = np.max(np.abs(beyond))
    np.testing.assert_allclose(found.tau + G.T @ found.multipliers, beyond, rtol=0, atol=1e-10 * size)
    if len(G):
        np.testing.assert_allclose(G @ found.udot + dyn.constraint_bias(0.3, x), 0.0, atol=1e-9 * size)
    else:
        np.testing.assert_allclose(found.tau, beyond, rtol=0, atol=1e-10 * size)


def test_the_motor_of_a_four_bar() -> None:
    """The torque that solve_inverse finds is the input that moves the crank so, and the multipliers are those then."""
    dyn, x = loaded("four_bar"), some_state("four_bar")
    found = dyn.solve_inverse(0.3, x, udot={"u1": 0.3}, tau={"u2": 0.0, "u3": 0.0})
    r = dyn.inputs["tau"] + found.tau[0]
    np.testing.assert_allclose(dyn.udot(0.3, x, r=[r]), found.udot, rtol=1e-10)
    np.testing.assert_allclose(dyn.multipliers(0.3, x, r=[r]), found.multipliers, rtol=1e-10)
    same = dyn.solve_inverse(0.3, x, udot={me.dynamicsymbols("u1"): 0.3}, tau={"u2": 0.0, "u3": 0.0}, r=[r])
    np.testing.assert_allclose(same.tau, 0.0, atol=1e-12 * abs(r))


def test_a_force_where_another_one_is_sought() -> None:
    """Underactuated: of the cart with the pole u̇ of the pole is given and no torque acts on it, as in swing-up."""
    dyn, x = loaded("cart_pole"), np.array([0.1, 2.5, 0.3, -0.4])
    found = dyn.solve_inverse(0.0, x, udot={"omega": 1.0}, tau={"omega": 0.0})
    np.testing.assert_allclose(dyn.udot(0.0, x, r=[found.tau[0]]), found.udot, rtol=1e-12)
    assert found.udot[1] == 1.0


def test_redundant_rows_have_least_norm_and_are_named() -> None:
    dyn = loaded("bricard")
    x = dyn.check().x
    found = dyn.solve_inverse(0.0, x, tau=np.zeros(dyn.n_u))
    assert found.undetermined == dyn.check(x).undetermined
    np.testing.assert_allclose(found.multipliers, dyn.multipliers(0.0, x), rtol=0, atol=1e-8)
    assert "one of many" in str(found)


def test_leading_axes() -> None:
    dyn, x = loaded("four_bar"), some_state("four_bar")
    states = np.stack([x, dyn.consistent(0.0, x + 0.05)])
    wanted = np.array([[0.1], [0.2], [0.3]])
    found = dyn.solve_inverse(0.3, states, udot={"u1": wanted}, tau={"u2": 0.0, "u3": 0.0})
    assert found.udot.shape == (3, 2, 3)
    assert found.multipliers.shape == (3, 2, 2)
    for i, j in np.ndindex(3, 2):
        one = dyn.solve_inverse(0.3, states[j], udot={"u1": wanted[i, 0]}, tau={"u2": 0.0, "u3": 0.0})
        np.testing.assert_array_equal(found.tau[i, j], one.tau)


def test_more_than_enough_that_agrees() -> None:
    dyn, x = loaded("four_bar"), some_state("four_bar")
    udot = dyn.udot(0.3, x)
    found = dyn.solve_inverse(0.3, x, udot=udot, tau={"u2": 0.0, "u3": 0.0})
    assert abs(found.tau[0]) < 1e-9


# ------------------------------------------------------------------------------------------------- reactions
@pytest.mark.parametrize("name", ["arm7", "rrp"])
def test_reactions_of_the_motion(name: str) -> None:
    dyn, x = loaded(name), some_state(name)
    found = dyn.solve_inverse(0.3, x, tau=np.zeros(dyn.n_u)).reactions
    expected = dyn.reactions(0.3, x)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.max(np.abs(expected)))


def test_reactions_where_a_motor_acts() -> None:
    """The same motion by τ, and by the motor among the loads: the joint then lacks the motor's torque."""
    dyn, x = loaded("arm7"), some_state("arm7")
    wanted = np.linspace(-1.0, 1.0, 7)
    found = dyn.solve_inverse(0.0, np.stack([x, 0.5 * x]), udot=wanted)
    assert found.reactions.shape == (2, 7, 6)
    change = found.reactions[0] - dyn.reactions(0.0, x, r=found.tau[0])
    size = np.max(np.abs(found.reactions))
    np.testing.assert_allclose(change[:, :3], 0.0, atol=1e-12 * size)
    np.testing.assert_allclose(np.linalg.norm(change[:, 3:], axis=1), np.abs(found.tau[0]), rtol=0, atol=1e-12 * size)


def linkage() -> kc.CompiledModel:
    """A pendulum with a block that slides along it, held by a rod at a wall; water moves with the block."""
    (phi, s), (w, v) = me.dynamicsymbols("phi s"), me.dynamicsymbols("w v")
    (tau, force), (m, J, h) = me.dynamicsymbols("tau F"), sm.symbols("m J h")
    N, O = me.ReferenceFrame("N"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    A = N.orientnew("A", "Axis", [phi, N.z])
    P = O.locatenew("P", s * A.x)
    arm = me.RigidBody("arm", O, A, m, (me.inertia(A, J, J, J), O))
    block = me.Particle("block", P, m)
    loads = [(A, tau * N.z), (P, force * A.x), (P, -0.4 * m * v.diff() * A.x), (P, -9.81 * m * N.y)]
    model = kc.Model(
        *(N, [phi, s], [w, v], [phi.diff() - w, s.diff() - v]),
        configuration_constraints={"wall": s * sm.cos(phi) - h},
        attach={"wall": (block, P, N, O, N.x)},
        bodies=[arm, block],
        forcelist=loads,
        joints={"pin": (N, arm, O), "slider": (arm, block, P)},
        inputs=[tau, force],
        name="linkage",
    )
    return kc.compile(model, parameters={m: 1.5, J: 0.3, h: 0.8})


def test_reactions_with_constraints_and_loads_that_hold_udot() -> None:
    """The torque that solve_inverse finds, put in as a load: reactions differ by it alone, in its joint."""
    dyn = linkage()
    x = dyn.consistent(0.0, [0.4, 0.9, 0.7, 0.0], None)
    found = dyn.solve_inverse(0.0, x, udot={"w": 2.0}, tau={"v": 0.0}, r={"F": 1.1})
    with_motor = [found.tau[0], 1.1]
    np.testing.assert_allclose(dyn.udot(0.0, x, r=with_motor), found.udot, rtol=1e-11)
    expected = dyn.reactions(0.0, x, r=with_motor)
    expected[0, 5] += found.tau[0]
    np.testing.assert_allclose(found.reactions, expected, rtol=0, atol=1e-11 * np.max(np.abs(expected)))


def test_reactions_are_those_of_the_call() -> None:
    """Parameters that change afterwards change nothing."""
    dyn = linkage()
    x = dyn.consistent(0.0, [0.4, 0.9, 0.7, 0.0], None)
    expected = dyn.solve_inverse(0.0, x, udot={"w": 2.0}, tau={"v": 0.0}).reactions
    found = dyn.solve_inverse(0.0, x, udot={"w": 2.0}, tau={"v": 0.0})
    dyn.parameters["m"], dyn.inputs["tau"] = 7.0, 3.0
    np.testing.assert_array_equal(found.reactions, expected)


def test_no_reactions() -> None:
    dyn = loaded("rrp_redundant")
    found = dyn.solve_inverse(0.0, dyn.check().x, tau=np.zeros(dyn.n_u))
    with pytest.raises(kc.ModelError):
        _ = found.reactions


# ---------------------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"udot": {"u1": 0.3}}, kc.ModelError, "tau of u1, tau of u2, tau of u3 of 'four_bar' .*: give 2 more of them"),
        ({}, kc.ModelError, "udot of u1, .* are not determined: give 3 more"),
        (
            {"udot": {"u1": 0.3, "u2": 5.0}, "tau": {"u3": 0.0}},
            kc.ModelError,
            "not determined|udot of u1 and udot of u2 of 'four_bar' do not agree",
        ),
        (
            {"udot": {"u1": 0.3, "u2": 5.0}, "tau": {"u2": 0.0, "u3": 0.0}},
            kc.ModelError,
            "udot of u1 and udot of u2 of 'four_bar' do not agree: leave one of them open",
        ),
        (
            {"udot": {"u1": 300.0}, "tau": dict.fromkeys(("u1", "u2", "u3"), 0.0)},
            kc.ModelError,
            "udot of u1 and tau of u1 and tau of u2 and tau of u3 of 'four_bar' do not agree",
        ),
        ({"tau": {"u4": 0.0}}, KeyError, "no speed of 'four_bar' is called 'u4'; there are 'u1', 'u2', 'u3'"),
        ({"udot": [0.0, 0.0]}, ValueError, r"udot has shape \(2,\), expected \(\.\.\., 3\)"),
        ({"udot": {"u1": np.nan}}, ValueError, r"udot\['u1'\] is nan, which is not finite"),
        ({"udot": {"u1": "fast"}}, TypeError, r"udot\['u1'\] must be real numbers"),
        ({"tau": {me.dynamicsymbols("u1"): 0.0, "u1": 1.0}}, ValueError, "tau gives 'u1' twice"),
        (
            {"udot": {"u1": [0.0, 1.0]}, "tau": {"u2": 0.0, "u3": [0.0, 1.0, 2.0]}},
            ValueError,
            r"leading axes do not broadcast: udot of u1 \(2,\), tau of u3 \(3,\)",
        ),
    ],
)
def test_requests_that_cannot_be_met(given: dict[str, Any], error: type[Exception], message: str) -> None:
    dyn = loaded("four_bar")
    with pytest.raises(error, match=message):
        dyn.solve_inverse(0.3, some_state("four_bar"), **given)


def test_states_that_are_none() -> None:
    dyn = loaded("cart_pole")
    with pytest.raises(ValueError, match=r"x is \[nan, .*, which is not finite"):
        dyn.solve_inverse(0.0, [np.nan, 0.0, 0.0, 0.0], tau=[0.0, 0.0])
    with pytest.raises(ValueError, match="shape"):
        dyn.solve_inverse(0.0, [0.0, 0.0], tau=[0.0, 0.0])
