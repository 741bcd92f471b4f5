# SPDX-License-Identifier: BSD-3-Clause
"""One rank for all: every kernel, and what the package does beside them, takes the same rows of G for independent.

Of two rows that differ by ε, one follows from the other where ε is rounding, and says something of its own where it is
not.  On which side an ε falls is a convention.  That all answers fall on the same side is what these tests claim.
"""

import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
from oracle.lines import coordinates, lines
from sweep import part

import kanecore as kc
from kanecore.rank import rank_of
from kanecore.tolerances import RANK, SOLVED

Array = npt.NDArray[np.float64]
q, u = coordinates(3)
e, k0, k1 = sm.symbols("e k0 k1")
masses = sm.symbols("m0:3")
FORCES, STATE = (1.0, 2.0, 3.0), np.array([0.3, 0.0, 0.0, 0.0, 0.0, 0.0])
TINY = [1e-17, 1e-16, 1e-14, 1e-13, 1e-12, 0.3e-10, 0.5e-10, 0.7e-10, 1e-10, 1.5e-10, 2e-10, 3e-10, 1e-9, 1e-8]

PAIRS = {
    "numbers": (u[0] + u[1], u[0] + u[1] + e * u[2]),  # the graph solves the first, and leaves e u2 of the second
    "the other way round": (u[0] + u[1] + e * u[2], u[0] + u[1]),
    "scaled": (u[0] + u[1], k1 * (u[0] + u[1] + e * u[2])),
    "symbols": (k0 * (u[0] + u[1]), k1 * (u[0] + u[1] + e * u[2])),
    "of a state": (u[0] + sm.cos(q[0]) * u[1], u[0] + sm.cos(q[0]) * u[1] + e * u[2]),
}


@cache
def pair(name: str) -> kc.CompiledModel:
    return kc.compile(lines(3, masses=masses, forces=FORCES, velocity_constraints=list(PAIRS[name])))


def literally(value: float) -> kc.CompiledModel:
    """The same with a number in place of e: elimination on the graph must not take it for a pivot."""
    rows = [u[0] + u[1], u[0] + u[1] + sm.Float(value) * u[2]]
    return kc.compile(lines(3, masses=masses, forces=FORCES, velocity_constraints=rows))


def one_answer(dyn: kc.CompiledModel, x: Array) -> int:
    """The rank, after all answers at a state were found to be of this rank."""
    M, f = dyn.mass_matrix(0.0, x), dyn.forcing(0.0, x)
    G, gamma = dyn.constraint_jacobian(0.0, x), dyn.constraint_bias(0.0, x)
    root = np.sqrt(np.diag(M))
    rank = dyn.check(x).rank
    udot, multipliers = dyn.udot(0.0, x), dyn.multipliers(0.0, x)
    terms = np.abs(M @ udot) + np.abs(f) + 1e-3 * np.abs(G.T) @ np.abs(multipliers)  # of rows that differ by little
    assert np.max(np.abs(M @ udot - f - G.T @ multipliers) / root) < 1e-9 * np.max(terms / root)
    size = np.max(np.abs(G) / root, axis=1)
    assert np.max(np.abs(G @ udot + gamma) / size) < 10 * RANK * np.max(np.abs(udot) * root)
    assert (abs(udot[2] * root[2]) < 1e-6 * np.max(np.abs(f) / root)) == (rank == 2)

    for again in (dyn.udot(0.0, [x] * 5)[3], dyn.aba(x[:3], x[3:], np.zeros(3))):
        np.testing.assert_allclose(again, udot, rtol=1e-12, atol=1e-12 * np.max(np.abs(udot)))
    np.testing.assert_allclose(dyn.multipliers(0.0, [x] * 5)[3], multipliers, rtol=1e-9)
    given = np.array([1.0, -1.0, 3.0])
    pushed = dyn.consistent(0.0, x + np.array([0, 0, 0, *given]), None)[3:]
    solved = 10 * SOLVED * (np.abs(G) @ np.abs(given))
    if rank == 1 and np.all(np.abs(G @ given) <= solved):
        np.testing.assert_allclose(pushed[2], 3.0, rtol=1e-9)  # u2 is free
    assert np.all(np.abs(G @ pushed) <= solved)  # rows that do not count hold as well
    assert dyn.impact(0.0, x, [[0.0, 0.0, 1.0]]).shape == (6,)
    return rank


def scales(dyn: kc.CompiledModel, value: float) -> Iterator[None]:
    """ε, and masses and sizes of rows that must not matter to what is said together."""
    for k in (1.0, 1e6):
        for m in ((1.0, 1.0, 1.0), (1e-6, 1.0, 1.0), (1.0, 1e6, 1.0), (1.0, 1.0, 1e6), (1.0, 1.0, 1e-6)):
            values: dict[Any, float] = {e: value, k0: 1.0, k1: k, **dict(zip(masses, m, strict=True))}
            dyn.parameters.update({s: v for s, v in values.items() if str(s) in dyn.parameter_names})
            yield


@pytest.mark.parametrize("value", part(TINY, [0.7e-10, 1e-9]))
@pytest.mark.parametrize("name", part(PAIRS, [*PAIRS][::4]))
def test_all_kernels_take_the_same_rows(name: str, value: float) -> None:
    dyn = pair(name)
    for _ in scales(dyn, value):
        one_answer(dyn, STATE)


@pytest.mark.parametrize("value", part(TINY, [1e-13]))
def test_a_tiny_number_is_no_pivot(value: float) -> None:
    dyn = literally(value)
    for _ in scales(dyn, value):
        one_answer(dyn, STATE)


def test_kernels_lose_a_row_together() -> None:
    """q2 u2 at q2 = ε: two rows count in general, and either all kernels have both or all say which one is lost."""
    dyn = kc.compile(lines(3, forces=FORCES, velocity_constraints=[u[0] + u[1], u[0] + u[1] + q[2] * u[2]]))
    for value in TINY:
        x = np.array([0.0, 0.0, value, 0.0, 0.0, 0.0])
        try:
            dyn.udot(0.0, x)
        except kc.SingularError:
            for kernel in (dyn.multipliers, dyn.linearize):
                with pytest.raises(kc.SingularError, match="velocity constraint"):
                    kernel(0.0, x)
        else:
            one_answer(dyn, x)


def test_python_counts_as_c_does() -> None:
    """kc_count, by the kernels' own reduction, and rank_of; on both sides of the threshold."""
    dyn = pair("symbols")
    for value in np.geomspace(0.2 * RANK, 5 * RANK, 21):
        for _ in scales(dyn, float(value)):
            G, M = dyn.constraint_jacobian(0.0, STATE), dyn.mass_matrix(0.0, STATE)
            assert rank_of(G, np.diag(M) ** -0.5) == dyn.kernels.count()


# ---------------------------------------------------------------------------------------- heavy beside light
@pytest.mark.parametrize("dependent", [(), (0, 1), (1, 2)])
def test_a_heavy_particle_is_held_as_well(dependent: tuple[int, ...]) -> None:
    """u0 = u1 and u0 = u1 + u2 with m2 = 1e14: u2 = 0, and the speeds that are dependent do not follow from u2."""
    rows = [u[0] - u[1], u[0] - u[1] + u[2]]
    dyn = kc.compile(lines(3, [1, 1, sm.Symbol("m2")], FORCES, u_dependent=dependent, velocity_constraints=rows))
    dyn.parameters["m2"] = 1e14
    order = [dyn.speed_names.index(f"u{i}") for i in range(3)]
    for given in ([1.0, 1.0, 0.0], [1.0, 1.2, 0.4], [1.0, 1.0, 1e-3]):
        x = np.zeros(6)
        x[3 + np.array(order)] = given
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kc.KanecoreWarning)
            found = dyn.consistent(0.0, x)[3:][order]
            check = dyn.check(x)
        assert found[0] == pytest.approx(found[1])
        assert abs(found[2]) < 1e-12
        assert (check.rank, check.typical_rank, check.redundant) == (2, 2, ())
