# SPDX-License-Identifier: BSD-3-Clause
"""Momenta ∂T/∂u, and the energy of accelerations S, whose derivatives are ∂S/∂u̇_r = −F*_r.

T is quadratic in u and S in u̇, so that central differences with steps of 1 are exact.  What S itself is, SymPy's
accelerations say.
"""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from gallery_states import OF_BODIES
from mechanisms import ground
from oracle.on_graph import OnGraph
from sweep import part
from test_inertial_loads import Cart
from test_redundant import compiled as redundant
from test_redundant import lifted, numeric_upsilon, states, tree
from test_variable_mass import KD, MASSES, VALUES, q, system, t, u
from test_variable_mass import model as of_varying_mass

import kanecore as kc

Array = npt.NDArray[np.float64]


@cache
def loaded(name: str) -> kc.CompiledModel:
    return kc.load(name)


def differences(f: Any, at: Array) -> Array:
    """∂f/∂at of a quadratic f."""
    return np.array([(f(at + e) - f(at - e)) / 2 for e in np.eye(len(at))])


def same(found: npt.ArrayLike, expected: npt.ArrayLike, limit: float = 1e-11) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert np.max(np.abs(found - expected), initial=0.0) <= limit * np.max(np.abs(expected), initial=1e-300)


def random_arguments(dyn: kc.CompiledModel, seed: int) -> tuple[Array, Array, Array]:
    """x in the region of the model's own lengths, u̇ and r; unit quaternions of length one."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.3, 1.2, dyn.n_x)
    for group in dyn.unit:
        x[list(group)] /= np.linalg.norm(x[list(group)])
    return x, rng.uniform(-2.0, 2.0, dyn.n_u), rng.uniform(0.2, 1.0, dyn.n_r)


@pytest.mark.parametrize("name", part(OF_BODIES, ["chaplygin_sleigh", "free_body", "rotating_tube"]))
def test_derivatives_on_the_gallery(name: str) -> None:
    dyn = loaded(name)
    for seed in range(2):
        x, udot, r = random_arguments(dyn, seed)
        slopes = differences(lambda a, x=x, r=r: float(dyn.gibbs(0.0, x, a, r=r)), udot)
        same(slopes, -dyn.generalized_inertia_forces(0.0, x, udot, r=r))
        rest, speeds = x[: dyn.n_q], x[dyn.n_q :]
        slopes = differences(lambda v, q=rest, r=r: float(dyn.kinetic_energy(0.0, [*q, *v], r=r)), speeds)
        same(dyn.momenta(0.0, x, r=r), slopes)


def test_redundant_speeds_have_the_energy_of_the_tree() -> None:
    """S at one motion is one number, and ∂S/∂u̇ = −F̃*_r with the dependent u̇ put in terms of the others."""
    dyn = redundant()
    for z in states(1):
        x = lifted(z)
        udot = dyn.udot(0.0, x)
        assert dyn.gibbs(0.0, x, udot) == pytest.approx(tree().gibbs(0.0, z, udot[:3]), rel=1e-12)
        slopes = differences(lambda a, x=x: float(dyn.gibbs(0.0, x, a)), udot)
        same(slopes, -dyn.generalized_inertia_forces(0.0, x, udot))
        reduced = slopes[:3] + numeric_upsilon(z).T @ slopes[3:]
        same(reduced, -tree().generalized_inertia_forces(0.0, z, udot[:3]))
        momenta = dyn.momenta(0.0, x)
        same(momenta[:3] + numeric_upsilon(z).T @ momenta[3:], tree().momenta(0.0, z))


def sympy_energy(N: Any, bodies: list[Any]) -> Any:
    """S of bodies of constant mass, from SymPy's accelerations."""
    total = sm.S.Zero
    for body in bodies:
        point = body.point if isinstance(body, me.Particle) else body.masscenter
        a = point.acc(N)
        total += body.mass * a.dot(a) / 2
        if isinstance(body, me.RigidBody):
            w, alpha, inertia = body.frame.ang_vel_in(N), body.frame.ang_acc_in(N), body.central_inertia
            total += alpha.dot(inertia.dot(alpha)) / 2 + alpha.dot(w.cross(inertia.dot(w)))
            total += w.dot(w) * w.dot(inertia.dot(w)) / 2
    return total


def values(model: kc.Model, kernel: str, state: dict[Any, float]) -> Array:
    """A kernel on the graph."""
    on = OnGraph(model, {str(s): state[s] for s in model.parameters})
    x, udot = [state[s] for s in (*model.coordinates, *model.speeds)], [state[s.diff()] for s in model.speeds]
    r = dict(zip(on.input_names, [state[s] for s in model.inputs], strict=True))
    return np.asarray(getattr(on, kernel)(state[t], x, udot, r=r))


def state_of(model: kc.Model) -> dict[Any, float]:
    rng = np.random.default_rng(5)
    moving = [*model.coordinates, *model.speeds, *(x.diff() for x in model.speeds), *model.inputs]
    return dict(zip([*moving, *model.parameters, t], rng.uniform(0.3, 1.2, 99), strict=False))


def test_against_sympy() -> None:
    """A particle and a rod on it; what a load holds of u̇ is in F*, and not in S."""
    cart = Cart()
    plain, loaded_by = cart.model([]), cart.model([(cart.Q, -sm.Symbol("c") * cart.Q.acc(cart.N))])
    expected = sympy_energy(cart.N, cart.bodies)
    for model in (plain, loaded_by):
        state = state_of(model)
        rates = {x.diff(): y for x, y in zip(model.coordinates, model.speeds, strict=True)}
        number = float(sm.sympify(expected).xreplace(rates).doit().xreplace(rates).xreplace(state))
        assert values(model, "gibbs", state)[0] == pytest.approx(number, rel=1e-13)
    assert not np.allclose(*(values(m, "generalized_inertia_forces", state_of(loaded_by)) for m in (plain, loaded_by)))


@pytest.mark.parametrize("name", part(MASSES, ["of two", "of an input"]))
def test_masses_that_change(name: str) -> None:
    """∂S/∂u̇ = −F*_r of SymPy, ṁ v in it; ∂T/∂u from SymPy's kinetic energy."""
    N, bodies, loads = system(MASSES[name])
    model = of_varying_mass(MASSES[name])
    _, frstar = me.KanesMethod(N, q, u, KD).kanes_equations(bodies, loads)
    state = {**state_of(model), **VALUES}
    rates = {x.diff(): y for x, y in zip(q, u, strict=True)}

    def gibbs(udot: Array) -> float:
        return float(values(model, "gibbs", {**state, **dict(zip([x.diff() for x in u], udot, strict=True))})[0])

    numbers = np.array(sm.Matrix(frstar).xreplace(rates).doit().xreplace(state).evalf(), float).ravel()
    same(differences(gibbs, np.array([state[x.diff()] for x in u])), -numbers)
    energy = me.kinetic_energy(N, *bodies).xreplace(rates)
    slopes = np.array([float(energy.diff(x).xreplace(state)) for x in u])
    same(values(model, "momenta", state), slopes)


def test_expressions() -> None:
    """A sliding particle: S = ½ m u̇², ∂T/∂u = m u; in polar speeds S holds the centripetal part as well."""
    N, origin = ground()
    r, phi, v, w = me.dynamicsymbols("r phi v w")
    m = sm.Symbol("m")
    A = N.orientnew("A", "Axis", [phi, N.z])
    P = origin.locatenew("P", r * A.x)
    model = kc.Model(N, [r, phi], [v, w], [r.diff() - v, phi.diff() - w], bodies=[me.Particle("P", P, m)])
    found = model.symbolic("gibbs", nested=True)
    expected = m * ((v.diff() - r * w**2) ** 2 + (r * w.diff() + 2 * v * w) ** 2) / 2
    assert sm.simplify(found - expected) == 0
    assert model.gibbs[1].free_symbols
    assert sm.simplify(model.symbolic("momenta", nested=True) - sm.Matrix([m * v, m * r**2 * w])) == sm.zeros(2, 1)


def test_arguments() -> None:
    """Leading axes broadcast; a missing u̇ and a wrong shape are errors."""
    dyn = loaded("rrp")
    x, udot, _ = random_arguments(dyn, 1)
    found = dyn.gibbs(0.0, np.stack([x, 2 * x]), np.zeros((5, 1, 3)) + udot)
    assert found.shape == (5, 2)
    assert found[3, 0] == dyn.gibbs(0.0, x, udot)
    assert dyn.momenta(0.0, np.zeros((4, dyn.n_x))).shape == (4, 3)
    with pytest.raises(TypeError):
        dyn.gibbs(0.0, x)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="udot"):
        dyn.gibbs(0.0, x, [1.0])
