# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.control.recording_faults: bad rows and late efforts are named; standard errors cover the true values."""

import re
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates
from numpy.testing import assert_allclose
from sweep import part

import kanecore as kc

Array = npt.NDArray[np.float64]
pytestmark = pytest.mark.filterwarnings("ignore:no physical masses:kanecore.KanecoreWarning")


def recording(n: int = 400, step: float = 0.01) -> tuple[kc.CompiledModel, dict[str, Array]]:
    """An arm with two joints that follows sums of sines, its efforts with 2 % of noise."""
    dyn, t = kc.load("planar_2r"), step * np.arange(n)
    size, rate, phase = (
        np.array(a) for a in ([[1.0, 0.3], [0.8, 0.2]], [[2.0, 5.1], [3.3, 6.7]], [[0.0, 1.6], [1.6, 0.0]])
    )
    angle = t[:, np.newaxis, np.newaxis] * rate + phase
    q, u, udot = (
        np.sum(a, axis=-1) for a in (size * np.sin(angle), size * rate * np.cos(angle), -size * rate**2 * np.sin(angle))
    )
    x = np.hstack([q, u])
    r = dyn.inverse_dynamics(0.0, x, udot, r=np.zeros(2))
    r = r + 0.02 * np.mean(np.abs(r)) * np.random.default_rng(0).standard_normal(r.shape)
    return dyn, {"x": x, "udot": udot, "r": r, "t": t}


def warned(dyn: kc.CompiledModel, given: dict[str, Array], **options: Any) -> tuple[kc.Identification, str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = dyn.identify(**given, **options)
    return fit, "; ".join(str(each.message) for each in caught)


def test_a_good_recording_is_taken_without_a_word() -> None:
    dyn, given = recording()
    assert warned(dyn, given)[1] == ""
    exact = dyn.inverse_dynamics(0.0, given["x"], given["udot"], r=np.zeros(2))
    assert warned(dyn, given | {"r": exact})[1] == ""
    rng = np.random.default_rng(1)  # states in no order, noise with long tails
    x, udot = rng.uniform(-1.0, 1.0, (200, 4)), rng.uniform(-3.0, 3.0, (200, 2))
    r = dyn.inverse_dynamics(0.0, x, udot, r=np.zeros(2)) + 0.1 * rng.standard_t(3, (200, 2))
    assert warned(dyn, {"x": x, "udot": udot, "r": r})[1] == ""


@pytest.mark.parametrize(
    ("shift", "said"), [(10, r"late by 10 rows \(0.1 in t\)"), (-25, r"early by 25 rows \(0.25 in t\)")]
)
def test_efforts_that_are_late(shift: int, said: str) -> None:
    dyn, given = recording()
    given["r"] = np.roll(given["r"], shift, axis=0)
    with pytest.warns(kc.KanecoreWarning, match=f"the efforts r seem to be {said}: .* of the residual is left"):
        dyn.identify(**given)
    del given["t"]
    with pytest.warns(kc.KanecoreWarning, match=f"by {abs(shift)} rows: "):
        dyn.identify(**given)


def test_rows_that_were_not_measured() -> None:
    """Zeros for markers that were not seen: named, and of little weight with soft_l1."""
    dyn, given = recording()
    true = dyn.identify(**given)
    lost = np.random.default_rng(2).choice(400, 12, replace=False)
    given["x"][lost] = 0.0
    fit, said = warned(dyn, given)
    named = re.search(r"rows (\d+), (\d+), (\d+) and \d more of the recording lie far outside the others", said)
    assert named is not None
    assert {int(row) for row in named.groups()} <= set(lost.tolist())
    assert "leave out rows that were not measured, or write loss='soft_l1'" in said
    robust, said = warned(dyn, given, loss="soft_l1")
    assert said == ""
    far, near = (np.linalg.norm((each.base - true.base) / true.standard_errors) for each in (fit, robust))
    assert far > 5.0 * near
    assert near < 4.0


@pytest.mark.parametrize("of", ["r", "udot"])
def test_a_failure_value(of: str) -> None:
    """2e9 in one row, as a solver returns: among accelerations it hides base parameters."""
    dyn, given = recording()
    given[of][17] = 2e9
    fit, said = warned(dyn, given)
    assert "row 17 of the recording lies far outside the others: the equation of u" in said
    assert (fit.rank == 4) == (of == "udot")
    assert ("6 base parameters can be told without them in place of 4" in said) == (of == "udot")
    robust, said = warned(dyn, given, loss="soft_l1")
    assert ("row 17" in said) == (of == "udot")  # weights cannot help where columns are lost
    if of == "r":
        assert_allclose(
            robust.base, recording()[0].identify(**recording()[1]).base, atol=6.0 * np.max(robust.standard_errors)
        )


@pytest.mark.parametrize("of", ["x", "udot", "r"])
def test_a_mask_is_not_ignored(of: str) -> None:
    dyn, given = recording(60)
    masked = np.ma.masked_array(given[of], mask=np.zeros(given[of].shape, dtype=bool))
    assert dyn.identify(**given | {of: masked}).rank == 6
    masked.mask[3, 1] = True
    with pytest.raises(ValueError, match=rf"{of} is a masked array that hides 1 of its numbers, the first at \[3, 1\]"):
        dyn.identify(**given | {of: masked})
    if of == "x":
        with pytest.raises(ValueError, match="x is a masked array"):
            dyn.udot(0.0, masked)


def test_wrong_loss() -> None:
    dyn, given = recording(60)
    with pytest.raises(ValueError, match="loss is 'huber'; it must be 'linear' or 'soft_l1'"):
        dyn.identify(**given, loss="huber")  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------------------- standard errors
def test_sliders_of_1000_kg_and_1_kg() -> None:
    """Noise of 0.1 N on both: ±0.1/|a|, the closed form, for both masses, with deviations and without."""
    (q, u, F), m = (me.dynamicsymbols(f"{name}1:3") for name in "quF"), sm.symbols("m1:3")
    N, O = ground()  # noqa: E741
    points = [O.locatenew(f"P{i}", x * e) for i, (x, e) in enumerate(zip(q, (N.x, N.y), strict=True))]
    bodies = [me.Particle(f"b{i}", P, mass) for i, (P, mass) in enumerate(zip(points, m, strict=True))]
    loads = [(points[0], F[0] * N.x), (points[1], F[1] * N.y)]
    model = kc.Model(N, q, u, rates(q, u), bodies=bodies, forcelist=loads)
    dyn, rng = (
        kc.compile(model, parameters=dict(zip(m, (1000.0, 1.0), strict=True)), cc="none"),
        np.random.default_rng(0),
    )
    udot = rng.standard_normal((200, 2))
    efforts = udot * [1000.0, 1.0] + 0.1 * rng.standard_normal((200, 2))
    for options in ({}, {"deviations": [0.1, 0.1]}):
        fit = dyn.identify(np.zeros((200, 4)), udot, efforts, **options)
        assert_allclose(fit.standard_errors, 0.1 / np.linalg.norm(udot, axis=0), rtol=0.12)


@pytest.mark.parametrize(
    ("name", "options"),
    part(
        [("planar_2r", {}), ("planar_2r", {"loss": "soft_l1"}), ("puma560", {}), ("five_bar", {})], [("planar_2r", {})]
    ),
)
def test_coverage(name: str, options: dict[str, Any]) -> None:
    """Noise of the inputs from 0.01 to 1: the spread of estimates is what standard errors say, each within a third."""
    dyn, rng = kc.load(name), np.random.default_rng(0)
    x, r = rng.uniform(-1.0, 1.0, (80, dyn.n_x)), rng.uniform(-5.0, 5.0, (80, dyn.n_r))
    if dyn.n_constraints:
        x = np.array([dyn.consistent(0.0, each, None) for each in x])
    udot, noise = dyn.udot(0.0, x, r=r), np.geomspace(0.01, 1.0, dyn.n_r)
    fits = [dyn.identify(x, udot, r + noise * rng.standard_normal(r.shape), **options) for _ in range(50)]
    spread = np.std([fit.base for fit in fits], axis=0)
    said = np.mean([fit.standard_errors for fit in fits], axis=0)
    assert (said > spread / 1.45).all()
    assert (said < spread * 1.45).all()
