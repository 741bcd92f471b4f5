# SPDX-License-Identifier: BSD-3-Clause
"""Routh's reduction: kanecore.Model.routhian moves as the whole model, and has the closed forms of textbooks."""

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc
from kanecore.gallery import kepler, rolling_disc, spherical_pendulum, spinning_top

t = me.dynamicsymbols._t
theta, phi, x = me.dynamicsymbols("theta phi x")
m, g, length, c = sm.symbols("m g l c", positive=True)


def test_conical_motion_of_a_pendulum_is_an_equilibrium() -> None:
    """At rest in θ it turns at φ̇² = g/(l cos θ) and swings about that at ω² = (g/l)(1 + 3 cos² θ)/cos θ."""
    model = spherical_pendulum.build().routhian()
    assert [str(symbol) for symbol in (*model.coordinates, *model.speeds)] == ["theta(t)", "theta_d(t)"]
    P, angle = spherical_pendulum.PARAMETERS, 0.7
    turn = np.sqrt(P["g"] / (P["l"] * np.cos(angle)))
    momentum = P["m"] * P["l"] ** 2 * np.sin(angle) ** 2 * turn
    dyn = kc.compile(model, parameters={**P, "p_phi": momentum})
    found = dyn.equilibrium([0.6, 0.0])
    np.testing.assert_allclose(found.x, [angle, 0.0], atol=1e-9)
    assert dyn.output_names == ("phi_d",)
    np.testing.assert_allclose(dyn.outputs(0.0, [angle, 0.0]), [turn], rtol=1e-12)
    A = dyn.linearize(0.0, [angle, 0.0])[0]
    omega = np.sqrt(P["g"] / P["l"] * (1 + 3 * np.cos(angle) ** 2) / np.cos(angle))
    np.testing.assert_allclose(np.linalg.eigvals(A).imag.max(), omega, rtol=1e-9)


def test_effective_potentials() -> None:
    """V' of the central force and of the top, whatever the speeds: Goldstein, Poole & Safko, sections 3.3 and 5.7."""
    r, m_, mu, p = kepler.build().coordinates[0], *sm.symbols("m mu p_theta")
    radial = kepler.build().routhian().symbolic("potential_energy", nested=True)
    assert sm.simplify(radial - p**2 / (2 * m_ * r**2) + mu * m_ / r) == 0
    top = spinning_top.build().routhian()
    I1, I3, m_, l_, g_, a, b = sm.symbols("I1 I3 m l g p_phi p_psi")
    tilt = top.coordinates[0]
    about_tip = I1 + m_ * l_**2
    expected = (a - b * sm.cos(tilt)) ** 2 / (2 * about_tip * sm.sin(tilt) ** 2)
    expected += b**2 / (2 * I3) + m_ * g_ * l_ * sm.cos(tilt)
    assert sm.simplify(top.symbolic("potential_energy", nested=True) - expected) == 0


def test_the_motion_is_that_of_the_whole_model() -> None:
    """With terms of first degree in the rates, a damper on what is left, an input, outputs, and a moving pivot."""
    F = me.dynamicsymbols("F")
    T = theta.diff() ** 2 * (2 + sm.sin(x)) + phi.diff() ** 2 * (1 + x**2) + x.diff() ** 2 + x.diff() * phi.diff()
    L = m * T / 2 + c * phi.diff() * sm.cos(theta) + phi.diff() * sm.sin(3 * t) - m * g * sm.cos(theta) * x + F * x
    R = c * x.diff() ** 2 / 2 + length * x.diff() * theta.diff()
    whole = kc.Model.from_lagrangian(
        *(L, [phi, theta, x]), dissipation=R, outputs={"turn": phi, "both": phi.diff() + x}, guess={x: 0.2}
    )
    reduced, values = whole.routhian(phi), {"m": 1.3, "g": 9.81, "l": 0.2, "c": 0.7}
    dyn = kc.compile(whole, parameters=values)
    state, time, r = np.array([0.4, 0.3, -0.5, 0.8, -1.1, 0.6]), 0.37, [1.7]
    values["p_phi"] = dyn.generalized_momenta(time, state, r=r)[0]
    less = kc.compile(reduced, parameters=values)
    assert (less.coordinate_names, less.output_names) == (("theta", "x"), ("both", "phi_d"))
    left = state[[1, 2, 4, 5]]
    np.testing.assert_allclose(less.udot(time, left, r=r), dyn.udot(time, state, r=r)[1:], rtol=1e-12)
    np.testing.assert_allclose(less.outputs(time, left, r=r), [state[3] + state[2], state[3]], rtol=1e-12)
    parts = ("kinetic_energy", "potential_energy")  # their sum is Jacobi's function
    energies = [sum(getattr(a, part)(time, b, r=r) for part in parts) for a, b in ((dyn, state), (less, left))]
    np.testing.assert_allclose(*energies, rtol=1e-12)
    assert less.audit(10).passed
    assert "forces without a potential" in reduced.report()


@pytest.mark.parametrize(
    ("model", "cyclic", "error", "message"),
    [
        (spinning_top.build, ["theta"], kc.ModelError, "theta of 'spinning_top' is not cyclic: L depends on it"),
        (spinning_top.build, ["thet"], KeyError, "did you mean 'theta'"),
        (rolling_disc.build, [], kc.ModelError, "not independent, but have constraints"),
        (lambda: spinning_top.build().canonical(), [], kc.ModelError, "in q and p already"),
        (lambda: free(), [], kc.ModelError, "all its coordinates are cyclic"),
        (lambda: free(dissipation=c * x.diff() ** 2), [x], kc.ModelError, "a force without a potential acts along it"),
        (lambda: free(dissipation=sm.cosh(x) * phi.diff() ** 2), [x], kc.ModelError, "a force depends on it"),
        (lambda: free(parameters=[m, sm.Symbol("p_x")]), [x], kc.ModelError, "needs the name 'p_x'"),
        (lambda: quartic(), [x], kc.ModelError, "not linear in their rates"),
    ],
)  # fmt: skip
def test_what_cannot_be_reduced(model: Any, cyclic: list[Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        model().routhian(*cyclic)


def free(**options: Any) -> kc.Model:
    return kc.Model.from_lagrangian(m * (x.diff() ** 2 + phi.diff() ** 2) / 2, [x, phi], **options)


def quartic() -> kc.Model:
    return kc.Model.from_lagrangian(m * x.diff() ** 4 + m * phi.diff() ** 2 - phi**2, [x, phi])
