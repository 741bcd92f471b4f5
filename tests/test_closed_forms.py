# SPDX-License-Identifier: BSD-3-Clause
"""What the integration methods reach: orders, errors and evaluations on motions that are known in closed form.

Beside the methods that SciPy has as well stand SciPy's own runs with the same compiled right-hand side.  `test_ode.py`
judges the methods by themselves, on one oscillator; here are bodies, unit quaternions and constraints.
"""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from closed_forms import MOTIONS
from scipy.integrate import solve_ivp
from sweep import LONG, part

import kanecore as kc
from kanecore.gallery import cart_pendulum

Array = npt.NDArray[np.float64]
FREE = ["top", "free body", "kepler", "spherical pendulum"]
CONSTRAINED = ["bob on a sphere", "knife edge"]
TOLERANCES = 10.0 ** -np.arange(4, 13)
TWINS = {"dopri5": "RK45", "dop853": "DOP853"}


def test_all_motions_are_here() -> None:
    assert sorted(MOTIONS) == sorted(FREE + CONSTRAINED)


# Fixed steps ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", MOTIONS)
@pytest.mark.parametrize(("method", "order", "steps"), [("euler", 1, 4_000), ("rk4", 4, 800)])
def test_order_of_fixed_steps(name: str, method: str, order: int, steps: int) -> None:
    """Of the coordinates and of the speeds; what brings a state back to spheres and constraints leaves it as it is."""
    motion = MOTIONS[name]
    dyn, (t0, t1) = motion.compiled(), motion.span
    x0, exact = motion.state(t0), motion.state(t1)

    def errors(n: int) -> tuple[float, float]:
        sol = dyn.simulate((t0, t1), x0, method=method, dt=(t1 - t0) / n, t_eval=[t1], dense_output=False)
        off = motion.off(sol.x[-1], exact)
        return off[: dyn.n_q].max(), off[dyn.n_q :].max()

    coarse, fine = np.array(errors(steps)), np.array(errors(2 * steps))
    np.testing.assert_allclose(np.log2(coarse / fine), order, atol=0.1)


# Chosen steps -----------------------------------------------------------------------------------------------
@cache
def runs(name: str) -> list[tuple[tuple[float, float], Array, Array]]:
    """Spans, states at their starts and ends.

    They are five, since how far one run is off at a loose tolerance is luck.  On Kepler's ellipse SciPy's DOP853 at
    1e-5 is off by 3e-6 with a first step of 0.3, and by 1.3e-4 with one of 0.4; so is ours.
    """
    motion = MOTIONS[name]
    (t0, t1), starts = motion.span, 0.37 * np.arange(5)
    spans = [(t0 + s, t1 + s) for s in starts]
    return [(span, motion.state(span[0]), motion.state(span[1])) for span in spans]


@cache
def reached(name: str, method: str) -> tuple[Array, Array]:
    """Largest errors of components at the ends, and evaluations: (tolerances, runs) each; of SciPy by its own names."""
    motion = MOTIONS[name]
    dyn = motion.compiled()
    errors, evaluations = [], []
    for tolerance in TOLERANCES[: 7 if method == "rosenbrock_w" else None]:  # of order 3: no steps for 1e-12
        options: dict[str, Any] = {"method": method, "rtol": tolerance, "atol": tolerance}
        for span, x0, exact in runs(name):
            if method in TWINS.values():
                theirs = solve_ivp(dyn.rhs, span, x0, **options)
                x, n = theirs.y[:, -1], theirs.nfev
            else:
                ours = dyn.simulate(span, x0, **options, dense_output=False)
                x, n = ours.x[-1], ours.nfev
            errors.append(motion.off(x, exact).max())
            evaluations.append(n)
    return np.reshape(errors, (-1, 5)), np.reshape(evaluations, (-1, 5))


def mean(errors: Array) -> Array:
    """The geometric mean of the runs, for each tolerance."""
    return np.exp(np.log(errors).mean(axis=1))


def slope(errors: Array) -> float:
    """Of log error against log tolerance."""
    return float(np.polyfit(np.log(TOLERANCES[: len(errors)]), np.log(mean(errors)), 1)[0])


@pytest.mark.long
@pytest.mark.parametrize("name", part(MOTIONS, ["knife edge"]))
@pytest.mark.parametrize("method", TWINS)
def test_errors_and_evaluations_beside_scipys(name: str, method: str) -> None:
    """A constraint costs an evaluation a step: 1/6 of those of "dopri5", 1/12 of those of "dop853"."""
    (ours, cost), (theirs, their_cost) = reached(name, method), reached(name, TWINS[method])
    ratios = mean(ours) / mean(theirs)
    assert np.exp(np.log(ratios).mean()) < 2.0
    assert ratios.max() < 10.0
    # each step's error is of the order of the tolerance, and so is their sum: in theory the slope is 1
    assert slope(ours) == pytest.approx(1.0 if name in FREE else slope(theirs), abs=0.15)
    more = cost.sum() / their_cost.sum()
    if name in FREE:
        assert (cost.sum(axis=1) < 1.1 * their_cost.sum(axis=1)).all()
        assert more < 1.01
    else:
        assert more < {"dopri5": 1.17, "dop853": 1.1}[method]


@pytest.mark.parametrize("name", part(MOTIONS, ["knife edge"]))
@pytest.mark.parametrize("method", ["rosenbrock", "rosenbrock_w", "auto"])
def test_stiff_methods_keep_the_tolerance_where_nothing_is_stiff(name: str, method: str) -> None:
    """The error goes with the tolerance, and is at most 80 times as large."""
    errors, _ = reached(name, method)
    assert slope(errors) == pytest.approx(1.0, abs=0.15)
    assert (errors < 80.0 * TOLERANCES[: len(errors), np.newaxis]).all()


# Energy -----------------------------------------------------------------------------------------------------
LINKS = 5


@pytest.fixture(scope="module")
def cart() -> kc.CompiledModel:
    masses = {f"m{i}": 0.5 if i == 0 else 0.01 + 0.09 * i / LINKS for i in range(LINKS + 1)}
    lengths = {f"l{i}": 1 / LINKS for i in range(LINKS)}
    return kc.compile(cart_pendulum.build(LINKS), parameters={"g": 9.81, **masses, **lengths})


def energy_errors(cart: kc.CompiledModel, angles: Array, **options: Any) -> tuple[float, float]:
    """Of 10 s from rest at these angles, by dop853 and by SciPy's, at 1e-8: the largest |E − E0| at a step."""
    x0 = np.concatenate([[0.0], angles, np.zeros(LINKS + 1)])
    options |= {"rtol": 1e-8, "atol": 1e-8}
    ours = cart.simulate((0.0, 10.0), x0, **options).x
    theirs = solve_ivp(cart.rhs, (0.0, 10.0), x0, method="DOP853", **options).y.T

    def error(x: Array) -> float:
        energy = cart.kinetic_energy(0.0, x) + cart.potential_energy(0.0, x)
        return float(np.abs(energy - energy[0]).max())

    return error(ours), error(np.ascontiguousarray(theirs))


def test_energy_of_a_swinging_chain(cart: kc.CompiledModel) -> None:
    """From the same first step on the same steps."""
    for angle in (0.3, 0.5, 0.7) if LONG else (0.7,):
        ours, theirs = energy_errors(cart, np.full(LINKS, angle - np.pi / 2), first_step=1e-2)
        assert ours <= 1.01 * theirs
        assert ours < 2e-9


@pytest.mark.long
def test_energy_of_a_chain_that_tumbles(cart: kc.CompiledModel) -> None:
    """Such motions are chaotic: a run differs from its twin by a factor near 1.6 either way, their mean does not."""
    starts = np.random.default_rng(1).uniform(-3.0, 3.0, (20, LINKS))
    ours, theirs = np.array([energy_errors(cart, angles) for angles in starts]).T
    # the standard error of the mean of 20 logarithms is 0.11
    assert np.log(ours / theirs).mean() < 0.35
    assert ours.max() < 1e-6
