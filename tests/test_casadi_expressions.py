# SPDX-License-Identifier: BSD-3-Clause
"""Kernels as expressions of CasADi: values beside the model's, derivatives of any order, and what has none."""

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from gallery_states import loaded, some_state
from mechanisms import ground, mass_point
from sweep import part

import kanecore as kc

ca = pytest.importorskip("casadi", reason="pip install casadi")

KERNELS = (
    *("mass_matrix", "forcing", "constraint_jacobian", "constraint_bias", "configuration_residual"),
    *("configuration_jacobian", "velocity_residual", "qdot", "outputs", "kinetic_energy", "positions"),
)


@pytest.mark.parametrize("name", part(kc.models(), ["four_bar", "rolling_disc", "free_body"]))
def test_values(name: str) -> None:
    dyn = loaded(name)
    r = np.linspace(0.1, 0.5, dyn.n_r)
    t, x, p = 0.3, some_state(name, r), list(dyn.parameters.values())
    for kernel in KERNELS:
        if dyn.kernels.why_not(kernel) or (kernel == "outputs" and dyn.n_outputs):
            continue
        f = dyn.casadi(kernel)
        assert (f.name_in(), f.name_out()) == (["t", "x", "r", "p"], [kernel])
        expected = np.asarray(getattr(dyn, kernel)(t, x, r=r))
        found = np.array(f(t, x, r, p)).reshape(expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.max(np.abs(expected), initial=1.0))


def test_third_derivatives() -> None:
    """Of the loop of a four-bar, by differences of second ones, as a projection's Hessian needs them."""
    dyn = loaded("four_bar")
    phi, x, weights = dyn.casadi("configuration_residual"), ca.SX.sym("x", dyn.n_x), [0.7, -0.4]
    p = list(dyn.parameters.values())
    second = ca.hessian(ca.dot(phi(0, x, [], p), weights), x)[0]
    third = ca.Function("third", [x], [ca.jacobian(ca.vec(second), x)])
    of_second, at, h = ca.Function("second", [x], [second]), np.linspace(0.3, 0.8, dyn.n_x), 1e-5
    for i in range(dyn.n_q):
        change = (of_second(at + h * np.eye(dyn.n_x)[i]) - of_second(at - h * np.eye(dyn.n_x)[i])) / (2 * h)
        np.testing.assert_allclose(np.array(third(at))[:, i], np.array(change).ravel("F"), rtol=0, atol=1e-8)
    assert dyn.casadi("constraint_jacobian").sparsity_out(0).shape == (2, 3)
    assert dyn.casadi("mass_matrix").nnz_out(0) == 5  # the rocker hangs on the ground


def particle(**options: object) -> kc.Model:
    """A particle that a force in many functions pulls along a line."""
    q, u, F = me.dynamicsymbols("q u F")
    pull = F + sm.Abs(q) + sm.Max(q, u, 0.1) + sm.Min(q, 2) + sm.sign(u) + sm.floor(3 * q) + sm.atan2(q, u)
    pull += sm.erf(q) + sm.asinh(q) + q**3 + sm.sqrt(q**2 + 1) + sm.Piecewise((q, u < 0), (sm.cos(q), True)) + sm.pi
    return mass_point({q: u}, 2, [pull], **options)


def test_every_operation() -> None:
    dyn = kc.compile(particle(outputs={"power": me.dynamicsymbols("u") * me.dynamicsymbols("u").diff()}))
    for x in ([0.7, -0.3], [-1.3, 0.4]):
        for kernel in ("forcing", "outputs"):
            found = np.array(dyn.casadi(kernel)(0, x, [0.5], [])).ravel()
            np.testing.assert_allclose(found, getattr(dyn, kernel)(0.0, x, r=[0.5]), rtol=1e-14)


def test_what_has_none() -> None:
    dyn = loaded("four_bar")
    with pytest.raises(KeyError, match="is called 'mass_matrx'; did you mean 'mass_matrix'"):
        dyn.casadi("mass_matrx")
    for kernel in ("udot", "multipliers"):
        with pytest.raises(kc.ModelError, match=f"{kernel} of 'four_bar' (has no|is no) expression"):
            dyn.casadi(kernel)
    with pytest.raises(KeyError, match="no kernel that is a matrix of t, x, r and p is called 'inverse_dynamics'"):
        dyn.casadi("inverse_dynamics")
    street, q, u = sm.Function("street"), *me.dynamicsymbols("q u")
    N, O = ground()  # noqa: E741
    P = O.locatenew("P", q * N.x + street(q) * N.y)
    rides = {street: kc.Spline([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 0.0, 1.0])}
    model = kc.Model(N, [q], [u], [q.diff() - u], bodies=[me.Particle("P", P, 1)], functions=rides)
    with pytest.raises(kc.ModelError, match="it holds the function street, given by data"):
        kc.compile(model).casadi("mass_matrix")
