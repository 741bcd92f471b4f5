# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.derive.base_parameters: base parameters of known arms, of loops by energies of their own, hostile input."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sweep import part

import kanecore as kc

ROBOTS = Path(__file__).parent / "robots"


def built(name: str) -> Any:
    return import_module(f"kanecore.gallery.{name}").build()


def test_planar_2r() -> None:
    """By hand: m2 goes with m1 c1 and I1; nothing else of the two links moves in the plane."""
    found = built("planar_2r").base_parameters()
    assert found.names == (
        "link1.mcx + l1 link2.m",
        "link1.mcy",
        "link1.Izz + l1**2 link2.m",
        "link2.mcx",
        "link2.mcy",
        "link2.Izz",
    )
    assert "link1.m" in found.unidentifiable
    assert "link2.m" not in found.unidentifiable


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        pytest.param("puma560", 36, marks=pytest.mark.long),
        pytest.param("arm7", 43, marks=pytest.mark.long),
        ("cart_pole", 4),
        ("free_body", 10),
    ],
)
def test_ranks(name: str, rank: int) -> None:
    """36 of the PUMA (Khalil & Dombre 2002, section 9.4, with joints 2 and 3 parallel), 10 of a body that is free.

    The arm has 7 for each joint but one for the first, which is vertical; the cart m + m, the pole m c and I.
    """
    assert built(name).base_parameters().n_base == rank


@pytest.mark.long
def test_grouping_of_the_puma() -> None:
    """Link 2 and the wrist: XX − YY in place of both (Khalil & Dombre 2002, table 9.3), masses with moments."""
    names = built("puma560").base_parameters().names
    assert "body6.Ixx - body6.Iyy" in names
    assert "body5.Izz + body6.Iyy" in names
    assert "body3.mcx + d4x body4.m + d4x body5.m + d4x body6.m" in names
    assert any(name.startswith("body1.Izz") and "(d4z**2 + d4x**2 + d3x**2) body6.m" in name for name in names)


@pytest.mark.parametrize("name", part(["puma560", "rrp"], ["rrp"]))
def test_what_is_left_acts_as_all_did(name: str) -> None:
    """Y π from the base parameters alone, at states that had no part in finding them."""
    module = import_module(f"kanecore.gallery.{name}")
    found = module.build().base_parameters(module.PARAMETERS)
    dyn = kc.load(name)
    x, udot = np.random.default_rng(3).uniform(-1, 1, (2, 20, dyn.n_x))
    y = dyn.regressor(0.0, x, udot[:, : dyn.n_u])
    np.testing.assert_allclose(y[..., list(found.independent)] @ found.matrix, y, atol=1e-11 * np.max(np.abs(y)))


@pytest.mark.long
def test_axes_of_few_digits() -> None:
    """Axes at 1.5708 make a millionth of a column, and what rounding leaves beside that is no parameter: 25 by SVD."""
    dyn = kc.compile(kc.Model.from_urdf(ROBOTS / "tools.urdf"), cc="none")
    rng = np.random.default_rng(0)
    x, udot = rng.uniform(-1, 1, (100, dyn.n_x)), rng.uniform(-1, 1, (100, dyn.n_u))
    y = np.asarray(dyn.regressor(0.0, x, udot)).reshape(500, -1)
    y = y[:, y.any(axis=0)]
    s = np.linalg.svd(y / np.linalg.norm(y, axis=0), compute_uv=False)
    assert s[24] > 0.1
    assert s[25] < 1e-14
    assert kc.Model.from_urdf(ROBOTS / "tools.urdf").base_parameters().n_base == 25


def four_bar_energies(lengths: dict[str, float], theta: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """T + V of a unit of m, mcx, mcy, Izz of each of three rods, by the closed form of the loop: (states, 12).

    Rod 1 stands at the origin, rod 2 at its end, rod 3 at (d, 0), and the ends of rods 2 and 3 meet.
    """

    def places(t: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        elbow = lengths["L1"] * np.exp(1j * t)
        apart = lengths["d"] - elbow
        reach = np.abs(apart)
        cosine = (lengths["L2"] ** 2 + reach**2 - lengths["L3"] ** 2) / (2 * lengths["L2"] * reach)
        second = np.angle(apart) + np.arccos(cosine)
        third = np.angle(elbow + lengths["L2"] * np.exp(1j * second) - lengths["d"])
        return [(0.0 * elbow, t), (elbow, second), (0.0 * elbow + lengths["d"], third)]

    step = 1e-4
    columns = []
    here = places(theta)
    near = [places(theta + k * step) for k in (-2, -1, 1, 2)]
    for i, (joint, angle) in enumerate(here):

        def rate(j: int, rod: int = i) -> np.ndarray:
            a, b, c, d = (each[rod][j] for each in near)
            return (a - 8 * b + 8 * c - d) / (12 * step) * omega

        v, w, axis = rate(0), rate(1), np.exp(1j * angle)
        columns += [0.5 * np.abs(v) ** 2 + 9.81 * joint.imag]
        for direction in (axis, 1j * axis):
            columns += [(np.conj(v) * 1j * w * direction).real + 9.81 * direction.imag]
        columns += [0.5 * w**2]
    return np.array(columns).T


def test_four_bar_by_its_energies() -> None:
    """A mechanism with one degree of freedom: two sets of parameters are alike where T + V differ by a constant."""
    given = {"L1": 0.5, "L2": 1.3, "L3": 1.1, "d": 1.2, "g": 9.81}
    found = built("four_bar").base_parameters(given)
    generator = np.random.default_rng(5)
    energies = four_bar_energies(given, generator.uniform(0.3, 2.5, 400), generator.uniform(-2, 2, 400))
    energies -= energies.mean(axis=0)
    energies /= np.maximum(np.linalg.norm(energies, axis=0), 1e-300)
    assert found.n_base == np.linalg.matrix_rank(energies, tol=1e-7) == 8


def test_units_do_not_matter() -> None:
    model = built("planar_2r")
    for unit in (1e-9, 1.0, 1e9):
        found = model.base_parameters({"l1": 0.5 * unit, "g": 9.81 * unit})
        assert found.n_base == 6
        np.testing.assert_allclose(found.matrix[0, found.columns.index("link2.m")], 0.5 * unit, rtol=1e-9)


@pytest.mark.long
def test_representation() -> None:
    text = repr(built("puma560").base_parameters())
    assert text.startswith("puma560: 36 base parameters of 60 inertial parameters\n")
    assert max(map(len, text.splitlines())) < 80


def test_errors() -> None:
    model = built("planar_2r")
    with pytest.raises(KeyError, match="no parameter 'l3'"):
        model.base_parameters({"l3": 1.0})
    with pytest.raises(ValueError, match="l1 occur in the regressor, and have no value"):
        model.base_parameters({"g": 9.81})
    with pytest.raises(ValueError, match="g is nan; give a finite number"):
        model.base_parameters({"g": float("nan"), "l1": 1.0})
    with pytest.raises(TypeError, match="g is '1'"):
        model.base_parameters({"g": "1", "l1": 1.0})
    with pytest.raises(kc.ModelError, match="has no regressor"):
        built("rolling_disc").base_parameters()


@pytest.mark.long
def test_constraints_that_no_state_satisfies() -> None:
    with pytest.raises(kc.ModelError, match="too few random states satisfy the constraints"):
        built("four_bar").base_parameters({"L1": 1.0, "L2": 1.0, "L3": 1.0, "d": 9.0, "g": 9.81})


def test_rotors_and_friction_are_columns_of_their_own() -> None:
    """By hand: the rotor of the first joint goes with the inertia of its link, that of the second stands alone."""
    model = built("planar_2r")
    found = model.base_parameters(joints={"rotor": ["q1", "q2"], "viscous": ["q2"]})
    assert found.names[2] == "link1.Izz + l1**2 link2.m + q1.rotor"
    assert found.names[-2:] == ("q2.viscous", "q2.rotor")
    assert found.n_base == model.base_parameters().n_base + 2
    with pytest.raises(KeyError, match="no column of joints is called 'rotors'; did you mean 'rotor'"):
        model.base_parameters(joints="rotors")
