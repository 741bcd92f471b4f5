# SPDX-License-Identifier: BSD-3-Clause
"""The roboticists' names on models with constraints: aba solves with them, rnea and crba say what they are without."""

import itertools
from importlib import import_module

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground
from sweep import part

import kanecore as kc
from kanecore.compiled_model import CompiledModel
from kanecore.graph.evaluation import count_in_call

Array = npt.NDArray[np.float64]

CONSTRAINED = [
    "andrews_squeezer",
    "appell_hamel",
    "bricard",
    "constant_speed_particle",
    "five_bar",
    "four_bar",
    "knife_edge",
    "slider_crank",
]


def started(name: str, seed: int = 1) -> tuple[CompiledModel, Array]:
    dyn = kc.load(name)
    return dyn, np.asarray(dyn.consistent(0.0, np.random.default_rng(seed).uniform(-0.3, 0.3, dyn.n_x)))


def saddle(dyn: CompiledModel, x: Array, tau: Array) -> tuple[Array, Array]:
    """u̇ and λ of M u̇ − Gᵀλ = f + τ, G u̇ = −γ, both at once, by least squares: a formulation of its own."""
    rows = np.asarray(dyn.constraint_jacobian(0.0, x))
    m = len(rows)
    matrix = np.block([[dyn.mass_matrix(0.0, x), -rows.T], [rows, np.zeros((m, m))]])
    right = np.concatenate([dyn.forcing(0.0, x) + tau, -dyn.constraint_bias(0.0, x)])
    size = np.abs(matrix).max(axis=1)
    solution = np.linalg.lstsq(matrix / size[:, np.newaxis], right / size, rcond=1e-12)[0]
    return solution[: dyn.n_u], solution[dyn.n_u :]


@pytest.mark.parametrize("name", part(CONSTRAINED, ["appell_hamel", "four_bar"]))
def test_aba_keeps_the_constraints(name: str) -> None:
    dyn, x = started(name)
    q, u = x[: dyn.n_q], x[dyn.n_q :]
    tau = np.random.default_rng(2).normal(size=dyn.n_u)
    udot = dyn.aba(q, u, tau)
    expected, multipliers = saddle(dyn, x, tau)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(udot, expected, rtol=0, atol=1e-9 * scale)
    rows, bias = np.asarray(dyn.constraint_jacobian(0.0, x)), np.asarray(dyn.constraint_bias(0.0, x))
    np.testing.assert_allclose(rows @ udot, -bias, rtol=0, atol=1e-9 * np.abs(rows).max() * scale)
    np.testing.assert_allclose(dyn.aba(q, u, 0.0 * tau), dyn.udot(0.0, x), rtol=1e-14)
    # what rnea asks for beyond tau is the constraints' own force
    force = dyn.rnea(q, u, udot)
    np.testing.assert_allclose(force, tau + rows.T @ multipliers, rtol=0, atol=1e-8 * np.abs(force).max())
    np.testing.assert_array_equal(dyn.crba(q), dyn.mass_matrix(0.0, np.concatenate([q, 0 * u])))


def test_constrained_batches_broadcast() -> None:
    dyn, x = started("four_bar")
    q = np.stack([dyn.consistent(0.0, x + 0.1 * i)[:3] for i in range(4)])
    u, tau = x[3:], np.random.default_rng(3).normal(size=(5, 1, 3))
    many = dyn.aba(q, u, tau)
    assert many.shape == (5, 4, 3)
    for i in range(5):
        for k in range(4):
            np.testing.assert_allclose(many[i, k], dyn.aba(q[k], u, tau[i, 0]), rtol=1e-12)
    assert dyn.aba(q, u, tau[:0]).shape == (0, 4, 3)
    with pytest.raises(ValueError, match="shape mismatch"):
        dyn.aba(q, u, tau[:, [0, 0, 0]])
    q[2, 0] = np.nan
    some = dyn.aba(q, u, tau)
    assert np.isnan(some[:, 2]).all()
    np.testing.assert_allclose(some[:, [0, 1, 3]], many[:, [0, 1, 3]], rtol=1e-12)


def bead(scale: float = 1.0) -> CompiledModel:
    """A bead on a slope, its height in a unit of length of its own, and a speed without mass that it drags along."""
    x, y, z, ux, uy, uz = me.dynamicsymbols("x y z u_x u_y u_z")
    m, g = sm.symbols("m g")
    frame, origin = ground()
    point = origin.locatenew("P", x * frame.x + scale * y * frame.y)
    model = kc.Model(
        *(frame, [x, y, z], [ux, uy, uz], [x.diff() - ux, y.diff() - uy, z.diff() - uz]),
        velocity_constraints=[ux - 2 * scale * uy, uz - 3 * ux, 2 * uz - 6 * ux],
        bodies=[me.Particle("bead", point, m)],
        forcelist=[(point, -m * g * frame.y)],
    )
    return kc.compile(model, parameters={m: 2.0, g: 9.81})


@pytest.mark.parametrize("scale", [1.0, 1e9, 1e-9])
def test_redundant_rows_and_a_speed_without_mass(scale: float) -> None:
    """m (4 + 1) ÿ = −m g + 2 τ_x + τ_y + 6 τ_z, with y in the unit of x."""
    dyn = bead(scale)
    tau = np.array([1.0, 5.0, -0.5])
    udot = dyn.aba(np.zeros(3), np.zeros(3), tau * [1.0, scale, 1.0])
    y = (-2.0 * 9.81 + 2 * tau[0] + tau[1] + 6 * tau[2]) / 10.0
    np.testing.assert_allclose(udot, [2 * y, y / scale, 6 * y], rtol=1e-13)


def test_singular_states_are_named() -> None:
    dyn = bead()
    dyn.parameters["m"] = 0.0
    with pytest.raises(kc.SingularError):
        dyn.aba(np.zeros(3), np.zeros(3), np.ones(3))


def test_aba_is_as_long_as_udot() -> None:
    """One program for M u̇ = f + τ: n sums more."""
    d = import_module("kanecore.gallery.ur5e").build().derivation
    udot, pushed = (count_in_call(d.graph, d.kernel(name).roots) for name in ("udot", "forward_dynamics"))
    assert pushed <= udot + 6


def test_docstrings_say_what_constraints_do() -> None:
    dyn = kc.load("four_bar")
    assert "Gᵀλ is part" in str(dyn.rnea.__doc__)
    assert "constraints are not applied" in str(dyn.crba.__doc__)


@pytest.mark.parametrize(
    ("name", "span", "dt"),
    part(
        itertools.product(
            ["four_bar", "knife_edge", "slider_crank"], [(0.0, 2.0), (2.0, 0.0), (-1.0, -3.0)], [None, 2e-4]
        ),
        [("four_bar", (0.0, 2.0), None), ("knife_edge", (2.0, 0.0), 2e-4), ("slider_crank", (-1.0, -3.0), None)],
    ),
)
def test_baumgarte_attracts_in_the_direction_of_the_run(name: str, span: tuple[float, float], dt: float | None) -> None:
    dyn = kc.load(name)
    x0 = np.asarray(dyn.consistent(span[0], np.random.default_rng(4).uniform(0.1, 0.4, dyn.n_x), None))
    level = slice(0, dyn.n_q) if dyn.n_configuration else slice(dyn.n_q, dyn.n_x)
    x0[level] += 2e-7 * np.random.default_rng(5).uniform(0.5, 1.0, level.stop - level.start)

    def off(x: Array, t: float) -> float:
        parts = dyn.configuration_residual(t, x), dyn.velocity_residual(t, x)
        return float(max(np.abs(np.concatenate(parts))))

    method = "dop853" if dt is None else "rk4"
    sol = dyn.simulate(span, x0, method=method, dt=dt, rtol=1e-12, atol=1e-13, project=False, baumgarte=(8.0, 8.0))
    assert off(x0, span[0]) > 1e-8
    assert off(sol.x[-1], sol.t[-1]) < 1e-3 * off(x0, span[0]) + 1e-12
