# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.functions.splines: SciPy's splines to rounding, at any place and of any order; what is refused."""

import copy
import pickle
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from scipy.interpolate import CubicSpline, RectBivariateSpline

import kanecore as kc

X = np.array([-1.3, -1.0, -0.2, 0.1, 0.9, 1.4, 2.6])
PLACES = np.array([-3.7, -1.31, *X, -0.5, 0.0, 0.5, 2.59, 2.61, 8.4])


def values(*shape: int) -> npt.NDArray[np.float64]:
    return np.random.default_rng(7).normal(size=shape)


def assert_close(found: npt.ArrayLike, expected: npt.ArrayLike, tolerance: float = 1e-13) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * float(np.nanmax(np.abs(expected))))


# ----------------------------------------------------------------------------------------------- one argument
@pytest.mark.parametrize("extrapolate", [True, False, "periodic"])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 7])
def test_scipys_spline(n: int, extrapolate: Any) -> None:
    """Two values give a line, three a parabola, as there; f''' at a knot is that of the piece behind it."""
    y = values(n)
    spline, theirs = kc.Spline(X[:n], y, extrapolate=extrapolate), CubicSpline(X[:n], y, extrapolate=extrapolate)
    inside = PLACES if extrapolate is not False else [*X[:n], *PLACES]
    for order in range(4):
        expected = theirs(inside, order)
        if n < 4:  # what is zero there is rounding here
            assert_close(np.append(spline(inside, nu=order), 9.0), np.append(expected, 9.0))
        else:
            assert_close(spline(inside, nu=order), expected)
    assert not spline(X[:n], nu=4).any()


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7])
def test_scipys_periodic_spline(n: int) -> None:
    """It goes on by itself, with f, f' and f'' joined."""
    y = values(n)
    y[-1] = y[0]
    spline, theirs = kc.Spline(X[:n], y, bc_type="periodic"), CubicSpline(X[:n], y, bc_type="periodic")
    assert spline.extrapolate == "periodic"
    for order in range(4):
        assert_close(np.append(spline(PLACES, nu=order), 9.0), np.append(theirs(PLACES, order), 9.0), 1e-12)
    once = kc.Spline(X[:n], y, bc_type="periodic", extrapolate=False)
    assert np.isnan(once([-5.0, 5.0])).all()


def test_many_knots() -> None:
    """Unevenly spaced; the system has no pivots to choose."""
    x = np.cumsum(np.random.default_rng(3).uniform(0.01, 1.0, 400))
    y = values(400)
    for bc_type in ("not-a-knot", "periodic"):
        y[-1] = y[0]
        spline, theirs = kc.Spline(x, y, bc_type=bc_type), CubicSpline(x, y, bc_type=bc_type)
        for order in range(4):
            assert_close(spline(x[:-1] + 0.3, nu=order), theirs(x[:-1] + 0.3, order), 1e-11)


def test_a_cubic_is_reproduced() -> None:
    def cubic(x: Any) -> Any:
        return 2 - x + 0.5 * x**2 - 0.25 * x**3

    spline = kc.Spline(X, cubic(X))
    assert_close(spline(PLACES), cubic(PLACES))
    assert_close(spline(PLACES, nu=3), np.full(PLACES.shape, -1.5), 1e-12)


def test_any_precision() -> None:
    """The same numbers as doubles give, and more digits of them."""
    spline = kc.Spline(X, values(7), extrapolate="periodic")
    with mpmath.workdps(40):
        exact = spline.value((1,), [mpmath.mpf("0.3") + 39], mpmath.mpf)
        assert isinstance(exact, mpmath.mpf)
        step = mpmath.mpf("1e-15")
        behind, before = (spline.value((0,), [mpmath.mpf("0.3") + 39 + d], mpmath.mpf) for d in (step, -step))
        assert abs((behind - before) / (2 * step) - exact) < mpmath.mpf("1e-24")
    assert float(spline(39.3, nu=1)) == pytest.approx(float(exact), rel=1e-12)


def test_arguments_of_any_shape() -> None:
    spline = kc.Spline(X, values(7))
    assert spline(0.5).shape == ()
    assert spline([[0.5, 1.0, 2.0]], nu=2).shape == (1, 3)
    assert spline([]).shape == (0,)
    assert np.isnan(spline([np.nan]))[0]
    assert np.isnan(kc.Spline(X, values(7), extrapolate="periodic")([np.inf]))[0]


# ---------------------------------------------------------------------------------------------- two arguments
ORDERS = [(i, j) for i in range(4) for j in range(4 - i)]
Y = np.array([0.0, 0.3, 1.0, 1.1, 2.4])


@pytest.mark.parametrize("orders", ORDERS)
def test_scipys_tensor_product(orders: tuple[int, int]) -> None:
    """Inside by RectBivariateSpline, which goes no further than second derivatives; outside by splines of splines."""
    z = values(7, 5)
    spline = kc.Spline(X, Y, z)
    x, y = np.meshgrid(PLACES, [-0.7, *Y, 0.2, 1.7, 3.5], indexing="ij")
    along_y = CubicSpline(Y, z, axis=1)(y[0], orders[1])
    expected = CubicSpline(X, along_y)(PLACES, orders[0])
    assert_close(spline(x, y, nu=orders), expected, 1e-12)
    if max(orders) < 3:
        theirs = RectBivariateSpline(X, Y, z, kx=3, ky=3, s=0)
        rng = np.random.default_rng(2)
        x, y = rng.uniform(X[0], X[-1], 40), rng.uniform(Y[0], Y[-1], 40)
        assert_close(spline(x, y, nu=orders), theirs.ev(x, y, *orders), 1e-12)


def test_a_periodic_terrain() -> None:
    """It goes on along both arguments; one value for both says so."""
    z = values(7, 5)
    z[-1], z[:, -1] = z[0], z[:, 0]
    z[-1, -1] = z[0, 0]
    spline = kc.Spline(X, Y, z, bc_type="periodic")
    assert_close(spline(0.4 + 2 * 3.9, 0.7 - 2.4, nu=(1, 1)), spline(0.4, 0.7, nu=(1, 1)), 1e-12)
    assert np.isnan(kc.Spline(X, Y, z, extrapolate=False)(0.4, 2.5))


def test_few_values_along_one_argument() -> None:
    """A line along y: f = a + b y."""
    z = np.column_stack([X, X**3])
    spline = kc.Spline(X, [0.0, 2.0], z)
    assert_close(spline(0.5, 3.0), 0.5 + (0.5**3 - 0.5) * 1.5)
    assert_close(spline(0.5, 3.0, nu=(1, 1)), (3 * 0.25 - 1) / 2)
    assert spline(0.5, 3.0, nu=(0, 4)) == 0.0


# ------------------------------------------------------------------------------------------------- as a value
def test_equal_by_its_numbers() -> None:
    y = values(7)
    one, other = kc.Spline(X, y), kc.Spline(list(X), list(y))
    assert one == other
    assert {one: 1}[other] == 1
    assert one != kc.Spline(X, y + 1e-15)
    assert one != kc.Spline(X, y, extrapolate=False)
    assert one != kc.Spline(X, y, bc_type="not-a-knot", extrapolate="periodic")
    assert one != "spline"
    assert kc.Spline([0, 1], [0.0, 1]) == kc.Spline([-0.0, 1], [0, 1])
    # lengths count, and not only the numbers one after the other
    assert kc.Spline([0, 1], [2, 3], [[0, 1], [2, 3]]).digest != kc.Spline([0, 1, 2, 3], [0, 1, 2, 3]).digest


def test_immutable() -> None:
    x, y = X.copy(), values(7)
    spline = kc.Spline(x, y)
    before = spline(0.5)
    y[:] = 0.0
    x[0] = -9.0
    assert spline(0.5) == before
    with pytest.raises(AttributeError, match="immutable"):
        spline.extrapolate = False
    with pytest.raises(AttributeError, match="immutable"):
        del spline.knots
    for array in (*spline.knots, *spline.data, spline.hermite):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_copies_are_equal(twin: Any) -> None:
    z = values(7, 5)
    z[-1], z[:, -1] = z[0], z[:, 0]
    z[-1, -1] = z[0, 0]
    for spline in (kc.Spline(X, values(7), extrapolate=False), kc.Spline(X, Y, z, bc_type="periodic")):
        other = twin(spline)
        assert other == spline
        assert (other.extrapolate, other.bc_type) == (spline.extrapolate, spline.bc_type)
        assert not other.hermite.flags.writeable


def test_repr() -> None:
    assert repr(kc.Spline([0, 1, 4], [0, 1, 0])) == "<Spline of 3 knots from 0 to 4>"
    assert repr(kc.Spline([0, 1], [2, 3], [[0, 1], [0, 1]])) == "<Spline of 2 knots from 0 to 1 by 2 knots from 2 to 3>"


# --------------------------------------------------------------------------------------------------- refused
@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (([0, 1, 1, 2], [0, 0, 0, 0]), {}, r"x of a spline must rise; it does not from x\[1\] = 1.0 to x\[2\] = 1.0"),
        (([2, 1, 0], [0, 0, 0]), {}, r"must rise; it does not from x\[0\]"),
        (([0, 1], [1, 0], [[0, 0], [0, 0]]), {}, r"y of a spline must rise"),
        (([0, np.nan, 2], [0, 0, 0]), {}, "x of a spline must be finite"),
        (([0, 1, 2], [0, np.inf, 0]), {}, "y of a spline must be finite"),
        (([0, 1], [0, 1], [[0, np.nan], [0, 0]]), {}, "z of a spline must be finite"),
        (([0, 1, 2], [0, 1]), {}, r"y of a spline has shape \(2,\); it must be \(3,\)"),
        (([0, 1, 2], [[0], [1], [2]]), {}, r"y of a spline has shape \(3, 1\); it must be \(3,\)"),
        (([0, 1, 2], [0, 1], [[0, 1, 2], [0, 1, 2]]), {}, r"z of a spline has shape \(2, 3\); it must be \(3, 2\)"),
        (([0], [1]), {}, r"x of a spline has shape \(1,\); it must be \(n,\), two knots or more"),
        ((0.0, 1.0), {}, r"x of a spline has shape \(\)"),
        (([], []), {}, r"x of a spline has shape \(0,\)"),
        (([[0, 1], [2, 3]], [0, 1]), {}, r"x of a spline has shape \(2, 2\)"),
        (([0, 1], ["a", "b"]), {}, "y of a spline must be an array of real numbers"),
        (([0, 1], ["1", "2"]), {}, "y of a spline must be an array of real numbers"),
        (([0, 1], np.array([1j, 2])), {}, "y of a spline must be an array of real numbers"),
        (([0, 1], [1j, 2]), {}, "y of a spline must be an array of real numbers"),
        (([0, 1], None), {}, "y of a spline must be"),
        (([0, 1, 2], np.ma.array([0.0, 1.0, 2.0], mask=[0, 1, 0])), {}, "y of a spline holds masked values"),
        (([0, 5e-324, 1], [0, 1, 0]), {}, "too close together"),
        (([0, 1], [0, 1]), {"extrapolate": "linear"}, "extrapolate is 'linear'; it must be True, False or 'periodic'"),
        (([0, 1], [0, 1]), {"extrapolate": 1}, "extrapolate is 1"),
        (([0, 1], [0, 1]), {"bc_type": "natural"}, "bc_type is 'natural'; it must be 'not-a-knot' or 'periodic'"),
        (([0, 1, 2], [0, 1, 2]), {"bc_type": "periodic"}, "y differs at the first and the last x"),
        (([0, 1], [0, 1], [[0, 1], [0, 1]]), {"bc_type": "periodic"}, "z differs at the first and the last y"),
    ],
)
def test_wrong_data(data: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kc.Spline(*data, **options)


def test_wrong_calls() -> None:
    street, hills = kc.Spline([0, 1], [0, 1]), kc.Spline([0, 1], [0, 1], [[0, 1], [0, 1]])
    with pytest.raises(TypeError, match="has 1 arguments, and an order nu for each: it was called with 2"):
        street(1.0, 2.0)
    with pytest.raises(TypeError, match="has 2 arguments"):
        hills(1.0)
    with pytest.raises(TypeError, match="nu=1"):
        hills(1.0, 2.0, nu=1)
    for argument in (1j, np.array([1j]), "a", ["1"]):
        with pytest.raises(ValueError, match="an argument of a spline must be"):
            street(argument)
    for nu in (-1, 0.5, (2.5,), None, "1", 1.0):
        with pytest.raises(ValueError, match="orders of derivatives"):
            street(1.0, nu=nu)
    with pytest.raises(TypeError):
        kc.Spline([0, 1], [0, 1], None, False)
