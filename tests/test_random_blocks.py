# SPDX-License-Identifier: BSD-3-Clause
"""Random mechanisms of many blocks by fronts: results are those of all equations at once, in 50 digits or in doubles.

``oracle/random_blocks.py`` says what they contain.  Fronts are taken here wherever there are two, also where they take
more operations than all equations at once.  Speeds are compared in the metric of the masses, rows of G by their size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from oracle.random_blocks import KINDS, random_blocks
from scipy.linalg import qr
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import structural_rank
from sweep import part

import kanecore as kc
from kanecore.derive import elimination_fronts

# Drawn inertias need not be those of a solid body; they are computed with all the same.
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")

SEEDS = range(72)
SMALL = [4, 28]
DERIVATIVES = ("linearize", "rhs_tangent", "rhs_gradient", "rhs_parameter_gradient")
Array = npt.NDArray[np.float64]


class Compiled:
    """A mechanism with fronts, and if they are compared without; a state of it, units of its speeds and rows."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch, *kernels: str, compared: bool = True) -> None:
        self.blocks = random_blocks(seed)
        model, values, x = self.blocks.described()
        compiled = (self.compiled(model, values, kernels, least, monkeypatch) for least in (0.0, np.inf))
        self.dyn = next(compiled)
        self.other = next(compiled) if compared else self.dyn
        self.parameters = np.array([values[name] for name in self.dyn.parameter_names])
        self.units = np.sqrt(np.diag(self.dyn.mass_matrix(0.0, x)))
        self.all_units = np.concatenate([np.ones(self.dyn.n_q), self.units])
        self.x = self.with_speeds(x)
        jacobian = self.dyn.constraint_jacobian(0.0, self.x) / self.units
        self.rows = np.max(np.abs(jacobian), axis=1)
        self.rows[self.rows == 0] = 1
        self.jacobian = jacobian / self.rows[:, None]

    @staticmethod
    def compiled(
        model: kc.Model, values: dict[str, float], kernels: Any, least: float, monkeypatch: pytest.MonkeyPatch
    ) -> kc.CompiledModel:
        with monkeypatch.context() as patch:
            patch.setattr(elimination_fronts, "HELP", least)
            return kc.compile(model, parameters=values, kernels=kernels, cc="none", cache=False)

    def with_speeds(self, x: Array) -> Array:
        """The state with the speeds nearest to these that satisfy the rows, by NumPy."""
        missed, dyn = self.dyn.velocity_residual(0.0, x), self.dyn
        rows = dyn.constraint_jacobian(0.0, x)[: len(missed)] / self.units
        sizes = np.max(np.abs(rows), axis=1, initial=0)
        sizes[sizes == 0] = 1
        change = np.linalg.pinv(rows / sizes[:, None], 1e-9) @ (missed / sizes) / self.units
        return np.concatenate([x[: dyn.n_q], x[dyn.n_q :] - change])

    def rank(self) -> int:
        return int(np.linalg.matrix_rank(self.jacobian, 1e-8))

    def without_force(self) -> Array:
        """Orthonormal multipliers whose forces cancel each other."""
        found = np.linalg.svd(self.jacobian.T)[2][self.rank() :].T
        found = np.where(np.abs(found) < 1e-12, 0, found) / self.rows[:, None]
        return np.linalg.qr(found)[0]

    def motion(self) -> tuple[Array, Array]:
        """u̇ and Gᵀλ of M u̇ = f + Gᵀλ, G u̇ = −γ in 50 digits, of rows that are independent."""
        dyn, x, n = self.dyn, self.x, self.dyn.n_u
        chosen = sorted(qr(self.jacobian.T, pivoting=True)[2][: self.rank()])
        jacobian, size = dyn.constraint_jacobian(0.0, x), n + len(chosen)
        with mpmath.workdps(50):
            whole = mpmath.zeros(size)
            right = mpmath.matrix([*dyn.forcing(0.0, x), *-dyn.constraint_bias(0.0, x)[chosen]])
            whole[:n, :n] = mpmath.matrix(dyn.mass_matrix(0.0, x).tolist())
            for k, i in enumerate(chosen):
                for j in range(n):
                    whole[n + k, j] = whole[j, n + k] = mpmath.mpf(jacobian[i, j])
            units = [1 / mpmath.mpf(unit) for unit in (*self.units, *self.rows[chosen])]
            scaled = mpmath.matrix([[whole[i, j] * units[i] * units[j] for j in range(size)] for i in range(size)])
            found = mpmath.lu_solve(scaled, mpmath.matrix([right[i] * units[i] for i in range(size)]))
            found = [float(found[i] * units[i]) for i in range(size)]
        return np.array(found[:n]), jacobian[chosen].T @ -np.array(found[n:])


def outcome(function: Callable[..., Any], dyn: kc.CompiledModel, x: Array, unit: Any) -> Any:
    """Numbers in their units, or what an error says."""
    try:
        return np.asarray(function(dyn, x), float) * unit
    except kc.KanecoreError as error:
        return f"{type(error).__name__}: {error}"


def check(found: Any, expected: Any, bound: float, name: str = "") -> None:
    """Numbers are equal beside the largest, errors to the letter."""
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected, name
        return
    most = np.max(np.abs(expected), initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=bound * most, err_msg=name)


@pytest.mark.parametrize("seed", part(SEEDS, SMALL))
def test_accelerations_and_forces_are_those_in_fifty_digits(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rows are lost the state is refused; forces that rows share are rounded in the units of the largest rows."""
    each = Compiled(seed, monkeypatch, "multipliers", compared=False)
    dyn, x, spread = each.dyn, each.x, np.max(each.rows) / np.min(each.rows)
    if "in line" in each.blocks.kinds and each.rank() < dyn.check(x, 0.0).typical_rank:
        with pytest.raises(kc.SingularError, match="is lost"):
            dyn.udot(0.0, x)
        return
    udot, forces = each.motion()
    check(dyn.udot(0.0, x) * each.units, udot * each.units, 1e-10)
    multipliers = dyn.multipliers(0.0, x)
    check(dyn.constraint_jacobian(0.0, x).T @ multipliers / each.units, forces / each.units, 1e-9 + 1e-20 * spread)
    shared = each.without_force().T @ multipliers if spread < 1e4 else 0
    np.testing.assert_allclose(shared, 0, atol=1e-9 * np.max(np.abs(multipliers)), err_msg="they are not the least")


@pytest.mark.parametrize("seed", part(SEEDS, [7]))
def test_gradients_of_ways_back_are_those_without_fronts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where fronts carry what rows of configuration miss to later ones, these forces are in the gradient."""
    each = Compiled(seed, monkeypatch, "project_gradient")
    draw, units, dyn = np.random.default_rng(seed), each.all_units, each.dyn
    x = each.x + 1e-3 * draw.uniform(-1, 1, len(units)) / units
    weights = np.concatenate([np.zeros(dyn.n_u + dyn.n_constraints), draw.uniform(-1, 1, len(units)) * units])
    check(
        outcome(lambda dyn, x: dyn.kernels.project_gradient(0.0, x, weights)[: dyn.n_x], dyn, x, 1 / units),
        outcome(lambda dyn, x: dyn.kernels.project_gradient(0.0, x, weights)[: dyn.n_x], each.other, x, 1 / units),
        1e-8,
    )


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_all_results_are_those_without_fronts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a state on the constraints and at one beside them, where some may say that rows contradict each other."""
    each = Compiled(seed, monkeypatch, *DERIVATIVES, "project")
    draw, units = np.random.default_rng(seed), each.all_units
    w = draw.uniform(-1, 1, len(units))
    y = each.x + 1e-3 * draw.uniform(-1, 1, len(units)) / units
    for x in (each.x, y):
        for name, (function, unit) in {
            "udot": (lambda dyn, x: dyn.udot(0.0, x), each.units),
            "linearize": (lambda dyn, x: dyn.linearize(0.0, x)[0] / units, units[:, None]),
            "jvp": (lambda dyn, x: dyn.rhs_jvp(0.0, x, w / units), units),
            "vjp": (lambda dyn, x: dyn.rhs_vjp(0.0, x, w * units), 1 / units),
            "vjp of p": (lambda dyn, x: dyn.rhs_vjp(0.0, x, w * units, parameters=True)[1], each.parameters),
            "consistent": (lambda dyn, x: dyn.consistent(0.0, x), units),
            "rank": (lambda dyn, x: dyn.check(x, 0.0).rank, 1),
        }.items():
            found, expected = outcome(function, each.dyn, x, unit), outcome(function, each.other, x, unit)
            check(found, expected, 1e-8, name)


@pytest.mark.long
def test_every_kind_occurs() -> None:
    found = Counter(kind for seed in SEEDS for kind in random_blocks(seed).kinds)
    assert set(found) == set(KINDS)
    assert min(found.values()) >= 3


def pivots(rows: npt.NDArray[np.bool_]) -> int:
    """How many rows may have a pivot of their own at once."""
    return int(structural_rank(csr_matrix(rows))) if rows.size else 0


@pytest.mark.parametrize("seed", range(3))
def test_each_speed_and_row_is_in_one_front(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of random patterns of M and G, with rows of no speed; what a front connects is in its parent."""
    monkeypatch.setattr(elimination_fronts, "HELP", 0.0)
    draw, used = np.random.default_rng(seed), 0
    for _ in range(30):
        n = int(draw.integers(4, 14))
        m = int(draw.integers(2, n))
        mass = draw.random((n, n)) < 0.15
        mass = mass | mass.T | np.eye(n, dtype=bool)
        rows = draw.random((m, n)) < 2 / n
        found = elimination_fronts.fronts(n, m, [*mass.ravel(), *[1] * n, *rows.ravel(), *[1] * (m + n * m)])
        if not found:
            continue
        used += 1
        assert sorted(j for front in found for j in front.own) == list(range(n))
        assert sorted(i for front in found for i in front.rows) == list(range(m))
        for k, front in enumerate(found):
            columns, later = {*front.own, *front.border}, {j for each in found[k + 1 :] for j in each.own}
            assert set(front.border) <= later
            assert all(set(np.flatnonzero(rows[i])) <= columns for i in front.rows)
            assert all(set(np.flatnonzero(mass[i])) & later <= columns for i in front.own)
            assert k == len(found) - 1 or pivots(rows[np.ix_(front.rows, front.own)]) == len(front.rows)
            if front.border:
                parent = found[front.parent]
                assert front.border[0] in parent.own
                assert [(*parent.own, *parent.border)[i] for i in front.places] == list(front.border)
    assert used > 10


@pytest.mark.parametrize(("n", "loops"), [(1, 0), (2, 0), (3, 3), (32, 32)])
def test_fronts_are_used_where_they_take_fewer_operations(n: int, loops: int) -> None:
    """Loops with two rows and three speeds of their own, on a carriage; and the same with all speeds in all rows."""
    speeds, rows = 3 * n + 1, 2 * n
    blocks = np.kron(np.eye(n, dtype=bool), np.ones((3, 3), dtype=bool))
    mass = np.pad(blocks, ((1, 0), (1, 0)), constant_values=True)
    jacobian = np.pad(np.kron(np.eye(n, dtype=bool), np.ones((2, 3), dtype=bool)), ((0, 0), (1, 0)))

    def found(matrix: Any) -> int:
        others = [1] * speeds, [1] * (rows + speeds * rows)
        system = [*mass.ravel(), *others[0], *matrix.ravel(), *others[1]]
        return sum(len(front.rows) == 2 for front in elimination_fronts.fronts(speeds, rows, system))

    assert (found(jacobian), found(np.ones_like(jacobian))) == (loops, 0)
