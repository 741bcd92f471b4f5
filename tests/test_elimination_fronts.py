# SPDX-License-Identifier: BSD-3-Clause
"""Fronts of mechanisms with many loops: their structure, and results that are those of all equations at once.

Each loop is a four-bar of rods with particles.  It hangs on the carriage or on the crank of an earlier loop, and ends
beside where it begins, or on the ground.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from sweep import part

import kanecore as kc
from kanecore.derive import elimination_fronts, linearized_equations
from kanecore.derive.derivation import Derivation
from kanecore.derive.kernel_registry import Derived
from kanecore.describe.description import duplicate
from kanecore.gallery import hoberman_ring
from kanecore.program.function_parts import Solved
from kanecore.program.function_store import Functions

CARRIAGE = -1
DERIVATIVES = ("linearize", "rhs_tangent", "rhs_parameter_gradient")
Array = npt.NDArray[np.float64]


def mechanism(
    parents: Sequence[int], *, grounded: Sequence[int] = (), doubled: Sequence[int] = (), geared: Sequence[Any] = ()
) -> kc.Model:
    """Loop i hangs on loop ``parents[i]``; the ``doubled`` ones have their second row twice.

    The first and the last crank turn alike: rows with the factors ``geared``, functions of their angle.
    """
    n, frame = len(parents), me.ReferenceFrame("N")
    origin, (x, v), (m, g) = me.Point("O"), me.dynamicsymbols("x v"), sm.symbols("m g")
    origin.set_vel(frame, 0)
    cart = origin.locatenew("C", x * frame.x)
    cart.set_vel(frame, v * frame.x)
    angles = [me.dynamicsymbols(f"a{i} b{i} c{i}") for i in range(n)]
    rates = [me.dynamicsymbols(f"wa{i} wb{i} wc{i}") for i in range(n)]
    bodies, cranks, rows = [me.Particle("cart", cart, 3 * m)], [], []
    for i, parent in enumerate(parents):
        base = cart if parent == CARRIAGE else cranks[parent]
        point = base
        for k, length in enumerate((1, 2, 1.5)):
            rod = me.ReferenceFrame(f"R{i}_{k}")
            rod.orient_axis(frame, frame.z, angles[i][k])
            rod.set_ang_vel(frame, rates[i][k] * frame.z)
            middle = point.locatenew(f"M{i}_{k}", length * rod.x / 2)
            middle.v2pt_theory(point, frame, rod)
            bodies.append(me.Particle(f"rod{i}_{k}", middle, (1 + 0.1 * i + k) * m))
            point, before = point.locatenew(f"P{i}_{k}", length * rod.x), point
            point.v2pt_theory(before, frame, rod)
            if k == 0:
                cranks.append(point)
        gap = point.pos_from(origin if i in grounded else base) - (2.2 - 0.1 * i * (i in grounded)) * frame.x
        rows += [gap.dot(frame.x), gap.dot(frame.y), *([2 * gap.dot(frame.y)] if i in doubled else [])]
    held = [rates[-1][0]] if geared else []
    return kc.Model(
        *(frame, [x, *(a for a, _, _ in angles)], [v, *(w for w, _, _ in rates if w not in held)]),
        kd_eqs=[x.diff() - v, *(a.diff() - w for a, w in zip(chain(*angles), chain(*rates), strict=True))],
        q_dependent=[b for _, *rest in angles for b in rest],
        u_dependent=[*held, *(w for _, *rest in rates for w in rest)],
        bodies=bodies,
        forcelist=[(body.point, -body.mass * g * frame.y) for body in bodies],
        configuration_constraints=rows,
        velocity_constraints=[factor(angles[0][0]) * (rates[0][0] - rates[-1][0]) for factor in geared],
        name="loops",
    )


PARAMETERS = {"m": 1.0, "g": 9.81}
STRUCTURES: dict[str, dict[str, Any]] = {
    "an arrow": {"parents": [CARRIAGE] * 3},
    "a tree": {"parents": [CARRIAGE, 0, 1]},
    "shared speeds in G": {"parents": [CARRIAGE] * 3, "grounded": [1, 2]},
    "rows twice": {"parents": [CARRIAGE, CARRIAGE, 1], "doubled": [0, 2]},
    "a long arrow": {"parents": [CARRIAGE] * 7, "doubled": [3]},
    "a large tree": {"parents": [CARRIAGE, 0, 1, 0, CARRIAGE, 4], "grounded": [4]},
}


def near(n: int, seed: int) -> Array:
    """A state near one that closes the loops."""
    draw = np.random.default_rng(seed)
    a = draw.uniform(1.0, 1.6, n)
    angles = np.column_stack([np.full(n, 0.1), a + np.pi + 0.3])
    return np.array([0.2, *a, *angles.ravel(), *draw.uniform(-1, 1, 3 * n + 1)])


def saddle(dyn: kc.CompiledModel, x: Array) -> tuple[Array, Array]:
    """u̇ and Gᵀλ of the equations in 50 digits; redundant rows are left out."""
    jacobian = dyn.constraint_jacobian(0.0, x)
    ranks = [0, *(np.linalg.matrix_rank(jacobian[: i + 1], 1e-9) for i in range(len(jacobian)))]
    rows = [i for i in range(len(jacobian)) if ranks[i + 1] > ranks[i]]
    mass, n, m = dyn.mass_matrix(0.0, x), len(dyn.forcing(0.0, x)), len(rows)
    with mpmath.workdps(50):
        whole = mpmath.zeros(n + m)
        whole[:n, :n] = mpmath.matrix(mass.tolist())
        for k, i in enumerate(rows):
            for j in range(n):
                whole[n + k, j] = whole[j, n + k] = mpmath.mpf(jacobian[i, j])
        right = mpmath.matrix([*dyn.forcing(0.0, x), *-dyn.constraint_bias(0.0, x)[rows]])
        found = mpmath.lu_solve(whole, right)
    forces = np.array([-float(found[n + k]) for k in range(m)])
    return np.array([float(found[i]) for i in range(n)]), jacobian[rows].T @ forces


@pytest.fixture
def only_fronts(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of what is taken where fronts are in doubt stands a number that nobody takes for a result."""
    made = Functions.solved

    def solved(self: Functions, name: str, solver: str, members: Mapping[str, Any], *sizes: int) -> Solved:
        if "otherwise" in members and any(member.endswith("fronts.sizes") for member in members):
            wrong = self.once("wrong", Derived((self.g.constant(1e100),)))
            members = {**members, "otherwise": wrong}
        return made(self, name, solver, members, *sizes)

    monkeypatch.setattr(Functions, "solved", solved)


@pytest.mark.usefixtures("only_fronts")
@pytest.mark.parametrize("structure", part(STRUCTURES, ["a tree", "rows twice"]))
def test_accelerations_and_forces_are_those_of_all_equations_in_fifty_digits(structure: str) -> None:
    dyn = kc.compile(mechanism(**STRUCTURES[structure]), parameters=PARAMETERS, cache=False)
    x = dyn.consistent(0.0, near(len(STRUCTURES[structure]["parents"]), 1))
    udot, forces = saddle(dyn, x)
    np.testing.assert_allclose(dyn.udot(0.0, x), udot, rtol=0, atol=1e-12 * np.max(np.abs(udot)))
    jacobian = dyn.constraint_jacobian(0.0, x)
    found, least = dyn.multipliers(0.0, x), np.linalg.pinv(jacobian.T, 1e-9) @ forces
    np.testing.assert_allclose(found, least, rtol=0, atol=1e-12 * np.max(np.abs(least)))


def without_fronts(
    model: kc.Model,
    monkeypatch: pytest.MonkeyPatch,
    kernels: Sequence[str] = DERIVATIVES,
    parameters: Mapping[str, float] = PARAMETERS,
) -> kc.CompiledModel:
    with monkeypatch.context() as patch:
        patch.setattr(elimination_fronts, "HELP", np.inf)
        return kc.compile(model, parameters=parameters, cache=False, kernels=kernels)


@pytest.mark.long
@pytest.mark.usefixtures("only_fronts")
@pytest.mark.parametrize("structure", STRUCTURES)
def test_derivatives_are_those_without_fronts(structure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = mechanism(**STRUCTURES[structure])
    dyn, other = kc.compile(model, parameters=PARAMETERS, cache=False), without_fronts(model, monkeypatch)
    x = dyn.consistent(0.0, near(len(STRUCTURES[structure]["parents"]), 2))
    w = np.random.default_rng(3).uniform(-1, 1, dyn.n_x)
    for function in (
        lambda each: each.linearize(0.0, x)[0],
        lambda each: each.rhs_jvp(0.0, x, w),
        lambda each: each.rhs_vjp(0.0, x, w, parameters=True)[1],
    ):
        found, expected = function(dyn), function(other)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.max(np.abs(expected)))


@pytest.mark.long
@pytest.mark.usefixtures("only_fronts")
@pytest.mark.parametrize("structure", [x for x in STRUCTURES if "doubled" not in STRUCTURES[x]])
def test_second_derivatives_are_those_without_fronts(structure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = mechanism(**STRUCTURES[structure])
    dyn, other = kc.compile(model, parameters=PARAMETERS), without_fronts(model, monkeypatch, ("rhs_hessian",))
    x = near(len(STRUCTURES[structure]["parents"]), 2)
    w = np.random.default_rng(3).uniform(-1, 1, dyn.n_x)
    found, expected = (each.rhs_hessian(0.0, x, w) for each in (dyn, other))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.max(np.abs(expected)))


def test_long_derivatives_are_written_out_by_fronts(monkeypatch: pytest.MonkeyPatch) -> None:
    """They grow as the equations do, so no number of loops is too large."""
    monkeypatch.setattr(linearized_equations, "UNROLLED", 100)
    derivation = Derivation(duplicate(mechanism([CARRIAGE] * 3).description))
    assert derivation.fronts
    assert derivation.linearization("linearize").reduced is not None
    assert derivation.linearization("rhs_parameter_jacobian").reduced is not None


WAYS_BACK = ("project", "project_gradient", "stabilization")


@pytest.mark.parametrize("structure", part(STRUCTURES, ["rows twice"]))
def test_ways_back_to_the_constraints_are_those_without_fronts(structure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, loops = mechanism(**STRUCTURES[structure]), len(STRUCTURES[structure]["parents"])
    dyn, other = kc.compile(model, parameters=PARAMETERS), without_fronts(model, monkeypatch, WAYS_BACK)
    for seed in range(3):
        x, w = near(loops, seed), np.random.default_rng(seed).uniform(-1, 1, dyn.n_x)
        weights = np.concatenate([np.zeros(dyn.n_u + dyn.n_constraints), w])
        for kernel, *vectors in (("project",), ("project_gradient", weights), ("stabilization",)):
            found, expected = (getattr(each.kernels, kernel)(0.0, x, *vectors) for each in (dyn, other))
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.max(np.abs(expected)))
        assert np.max(np.abs(dyn.configuration_residual(0.0, dyn.kernels.project(0.0, x)))) < 1e-14


GEARS: dict[str, list[Any]] = {
    "twice": [lambda _: 1, lambda _: 2],
    "times a function": [lambda _: 1, lambda a: 2 + sm.cos(a)],
}


@pytest.mark.parametrize("gears", GEARS)
def test_rows_that_the_graph_eliminates_share_their_forces(gears: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rows with constant coefficients the second vanishes, or leaves a rate without coefficients."""
    monkeypatch.setattr(elimination_fronts, "HELP", 0.0)
    model = mechanism([CARRIAGE] * 3, geared=GEARS[gears])
    dyn = kc.compile(model, parameters=PARAMETERS, cc="none", kernels=["multipliers"])
    x = near(3, 1)
    x[dyn.n_q :] = 0.0
    first, second = (dyn.multipliers(0.0, x)[dyn.constraint_names.index(f"velocity constraint {i}")] for i in (0, 1))
    factors = [float(factor(x[1])) for factor in GEARS[gears]]
    assert abs(first) > 0.1
    assert second * factors[0] == pytest.approx(first * factors[1], rel=1e-12)


@pytest.mark.long
@pytest.mark.compiler
def test_lanes_floats_and_compiled_code_give_the_same_bits() -> None:
    model = mechanism(**STRUCTURES["rows twice"])
    dyn, coded = kc.compile(model, parameters=PARAMETERS), kc.compile(model, parameters=PARAMETERS, cc="none")
    x = np.array([coded.consistent(0.0, near(3, seed)) for seed in range(11)])
    single = np.array([dyn.rhs(0.0, each) for each in x])
    assert np.array_equal(single, [coded.rhs(0.0, each) for each in x])
    assert np.array_equal(single, dyn.rhs(0.0, x))
    assert np.array_equal(dyn.multipliers(0.0, x), [coded.multipliers(0.0, each) for each in x])
    floats = kc.compile(model, parameters=PARAMETERS, real="float").rhs(0.0, x.astype(np.float32))
    np.testing.assert_allclose(floats, single, rtol=0, atol=1e-4 * np.max(np.abs(single)))


def test_states_in_doubt_are_left_to_all_equations_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rods in one line lose a row, nearly so they lose digits: the answer is that without fronts, bit by bit."""
    model = mechanism([CARRIAGE] * 4)
    dyn, other = kc.compile(model, parameters=PARAMETERS), without_fronts(model, monkeypatch)
    for off in (0.0, 1e-9, 1e-5):
        x = np.zeros(dyn.n_x)
        x[1:5] = [off, 1.2, 1.3, 1.4]
        for i in range(1, 4):
            x[5 + 2 * i : 7 + 2 * i] = 0.1, x[1 + i] + np.pi + 0.3
        found = []
        for each in (dyn, other):
            try:
                found.append(each.udot(0.0, x).tolist())
            except kc.KanecoreError as error:
                found.append(str(error))
        assert found[0] == found[1]


@pytest.mark.long
def test_energy_of_many_loops_is_kept() -> None:
    dyn = kc.compile(mechanism([CARRIAGE] * 32), parameters=PARAMETERS)
    run = dyn.simulate((0.0, 100.0), dyn.consistent(0.0, near(32, 1)), rtol=1e-9, atol=1e-9)
    kinetic = dyn.kinetic_energy(0.0, run.x)
    assert np.ptp(kinetic + dyn.potential_energy(0.0, run.x)) < 1e-7 * np.max(kinetic)
    assert np.max(np.abs(dyn.configuration_residual(0.0, run.x))) < 1e-9


@pytest.mark.long
def test_links_with_coordinates_of_their_own_keep_their_fronts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows with constant coefficients stay: their elimination would connect all links."""
    pairs = 12
    model = hoberman_ring.build(pairs)
    derivation = Derivation(duplicate(model.description))
    assert derivation.eliminated == 0
    assert max(front.width for front in derivation.fronts) <= 4 * 3 + 1
    dyn = kc.compile(model, parameters=hoberman_ring.PARAMETERS, cache=False, kernels=("udot", "project"))
    other = without_fronts(model, monkeypatch, ("udot",), hoberman_ring.PARAMETERS)
    x = np.array([hoberman_ring.closed(1.2, 0.7, pairs)[name] for name in dyn.names.x])
    found, expected = (each.udot(0.0, x, r=[20.0]) for each in (dyn, other))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.max(np.abs(expected)))
    back = dyn.kernels.project(0.0, x + np.random.default_rng(1).uniform(-0.05, 0.05, len(x)))
    assert np.max(np.abs(dyn.configuration_residual(0.0, back))) < 1e-14
