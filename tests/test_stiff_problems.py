# SPDX-License-Identifier: BSD-3-Clause
"""The stiff motions of the benchmarks: what they are, and how many steps they take beside Radau's at equal errors."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sweep

TOLERANCES = 10.0 ** -np.arange(3, 11)
NAMES = ["van_der_pol", "damped_pendulum", "arm", "elastic_arm"]


@pytest.fixture(scope="module")
def stiff(root: Path) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root / "bench"))
        yield import_module("stiff_problems")


def test_all_are_here(stiff: Any) -> None:
    assert list(stiff.PROBLEMS) == NAMES


@pytest.mark.long
def test_arm_of_sympys_documentation(stiff: Any) -> None:
    """The numbers that it prints."""
    problem = stiff.arm()
    dyn, x0 = problem.dyn, problem.x0
    angles = [np.rad2deg(x0[dyn.coordinate_names.index(f"q{i}")]) for i in range(1, 5)]
    np.testing.assert_allclose(angles, [5.0, -0.60986636, 9.44918589, 88.68812842], atol=1e-8)
    left = [
        [0.00333333, -0.15174161, -0.00109772, -0.00152436],
        [0.19923894, 0.31, -0.04923615, 0.00996712],
        [0.01743115, 0.0, 0.29585191, 0.0011276],
        [0.0, -0.29256885, -0.0005241, -0.29983226],
    ]
    printed = np.linalg.solve(left, [-0.9121071, 0.0, 0.0, 0.0])
    # its triceps lies about an axis that is 9 degrees off the elbow's
    np.testing.assert_allclose(dyn.udot(0.0, x0, r=np.zeros(dyn.n_r)), printed, rtol=2e-3)
    a, e = 0.3, 0.8  # De Groote et al. 2016, (1) and (2), with 0.015 s and 0.06 s
    x, r = x0.copy(), {"e_biceps": e, "e_biceps_d": 0.0, "e_triceps": 0.0, "e_triceps_d": 0.0}
    place = dyn.coordinate_names.index("a_biceps")
    x[place] = a
    f = np.tanh(10.0 * (e - a)) / 2
    rate = ((f + 0.5) / (0.015 * (0.5 + 1.5 * a)) + (0.5 + 1.5 * a) / 0.06 * (0.5 - f)) * (e - a)
    assert dyn.qdot(0.0, x, r=r)[place] == pytest.approx(rate, rel=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("name", sweep.part(NAMES, NAMES[:1]))
def test_steps_beside_radaus(stiff: Any, name: str) -> None:
    """At equal errors of the coordinates at the end, between those of Radau at tolerances from 1e-3 to 1e-10."""
    problem = stiff.PROBLEMS[name]()
    n_q = problem.dyn.n_q
    truth = problem.run("rosenbrock", 1e-13).x[-1, :n_q]

    def reached(method: str) -> tuple[Any, Any]:
        runs = [problem.run(method, tolerance) for tolerance in TOLERANCES]
        errors = [np.abs(sol.x[-1, :n_q] - truth).max() for sol in runs]
        return np.array([sol.n_steps for sol in runs]), np.log(errors)

    (steps, errors), (their_steps, their_errors) = reached("rosenbrock"), reached("radau")
    at_same_error = np.exp(np.interp(errors, their_errors[::-1], np.log(their_steps)[::-1]))
    comparable = (errors > their_errors.min()) & (errors < their_errors.max())
    assert (np.diff(their_errors) < 0.0).all()
    assert comparable.sum() >= 5
    assert (steps < 1.5 * at_same_error)[comparable].all()
    assert abs(np.polyfit(np.log(TOLERANCES), errors, 1)[0] - 1.0) < 0.25
