# SPDX-License-Identifier: BSD-3-Clause
"""Functions of CasADi: values, first and second derivatives, sparsity, and what optimizers and threads do with them."""

import ctypes
import importlib
import pickle
import re
import sys
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from gallery_states import loaded, some_state
from mechanisms import mass_point

import kanecore as kc
from kanecore.build.compilation import compile_library
from kanecore.export.casadi_text import text

ca = pytest.importorskip("casadi", reason="pip install casadi")
pytestmark = pytest.mark.compiler

Array = npt.NDArray[np.float64]

LARGE = ("g1", "anymal_c", "panda", "chain40", "tree30", "stewart_platform")
SHORT = ("rrp", "four_bar", "free_body", "rotating_tube")
REDUNDANT = ("bricard",)  # rows of G that depend on others
NAMES = [
    pytest.param(name, marks=() if name in SHORT else pytest.mark.long) for name in kc.models() if name not in LARGE
]


def place(name: str) -> tuple[kc.CompiledModel, float, Array, Array, Array]:
    dyn = loaded(name)
    r = np.linspace(0.1, 0.5, dyn.n_r)
    return dyn, 0.3, some_state(name, r), r, np.array(list(dyn.parameters.values()))


def dense(matrix: object) -> Array:
    return np.array(ca.DM(matrix))


@pytest.mark.parametrize("name", NAMES)
def test_values_and_first_derivatives(name: str) -> None:
    """The bits of the kernels; the Jacobian block by block, the adjoint, and products with both."""
    dyn, t, x, r, p = place(name)
    f = dyn.casadi()
    assert (f.name_in(), f.name_out()) == (["t", "x", "r", "p"], ["xdot"])
    xdot = dense(f(t, x, r, p))[:, 0]
    assert np.allclose(xdot, dyn.rhs(t, x, r=r), rtol=1e-13, atol=1e-13 * np.max(np.abs(xdot)))
    blocks = f.jacobian()(t, x, r, p, 0)
    slopes = dyn.kernels.linearize(t, x, r=r)
    size = np.max(np.abs(slopes), initial=1.0)
    assert np.allclose(np.hstack([dense(blocks[1]), dense(blocks[2])]), slopes, rtol=1e-11, atol=1e-12 * size)
    assert np.allclose(dense(blocks[0])[:, 0], dyn.rhs_time_derivative(t, x, r=r), atol=1e-11 * size)
    by_p = dyn.rhs_parameter_jacobian(t, x, r=r)
    assert np.allclose(dense(blocks[3]), by_p, rtol=1e-10, atol=1e-12 * np.max(np.abs(by_p), initial=1.0))
    rows, columns = dyn.sparsity("linearize")
    assert blocks[1].nnz() + blocks[2].nnz() == len(rows) == len(columns)
    w = np.cos(np.arange(dyn.n_x))
    adjoint = f.reverse(1)(t, x, r, p, 0, w)
    assert np.allclose(np.concatenate([dense(adjoint[1]), dense(adjoint[2])])[:, 0], w @ slopes, atol=1e-11 * size)
    assert np.allclose(dense(adjoint[3])[:, 0], w @ by_p, atol=1e-11 * np.max(np.abs(by_p), initial=1.0))
    forward = f.forward(1)(t, x, r, p, 0, 0, x, r, 0 * p)
    assert np.allclose(dense(forward)[:, 0], slopes @ [*x, *r], atol=1e-10 * size)


@pytest.mark.parametrize("name", NAMES)
def test_hessians(name: str) -> None:
    """Those of `rhs_hessian` by x and r, in the sparsity of the equations."""
    dyn, t, x, r, p = place(name)
    n, w = dyn.n_x + dyn.n_r, np.cos(np.arange(dyn.n_x))
    f, Z = dyn.casadi(), ca.MX.sym("z", n)
    weighed = ca.dot(w, f(t, Z[: dyn.n_x], Z[dyn.n_x :], p))
    hessian = ca.Function("hessian", [Z], [ca.hessian(weighed, Z)[0]])
    if name in REDUNDANT:
        with pytest.raises(RuntimeError, match="Evaluation failed"):
            hessian([*x, *r])
        return
    found, expected = dense(hessian([*x, *r])), dyn.rhs_hessian(t, x, w, r=r)
    size = np.max(np.abs(expected), initial=1.0)
    assert np.allclose(found, expected, rtol=1e-10, atol=1e-11 * size)
    structure = dense(ca.DM(hessian.sparsity_out(0), 1.0)) != 0.0
    assert not np.any(np.abs(expected[~structure]) > 1e-12 * size)


SYMBOLIC = ("rrp", "four_bar", "free_body", "rotating_tube", "rolling_disc")
SYMBOLIC_LONG = (
    *("andrews_squeezer", "appell_hamel", "biped", "cart_pendulum", "cart_pole", "chaplygin_sleigh", "double_pendulum"),
    *("constant_speed_particle", "five_bar", "five_bar_bodies", "furuta_pendulum", "gyroscope", "kepler", "knife_edge"),
    *("planar_2r", "quadrotor", "rod_gravity", "rotating_hoop", "rrp_redundant", "slider_crank", "snakeboard"),
    *("spherical_pendulum", "spinning_top", "two_rods", "wire_particle"),
)


@pytest.mark.parametrize("name", [*SYMBOLIC, *(pytest.param(name, marks=pytest.mark.long) for name in SYMBOLIC_LONG)])
def test_derivatives_by_all_arguments(name: str) -> None:
    """CasADi's own, of its own expressions for u̇: Jacobians, gradients and Hessians by t, x, r and p together."""
    dyn, t, x, r, p = place(name)
    w, Z = np.cos(np.arange(dyn.n_x)), ca.MX.sym("z", 1 + dyn.n_x + dyn.n_r + dyn.n_p)
    arguments = ca.vertsplit(Z, [*np.cumsum([0, 1, dyn.n_x, dyn.n_r, dyn.n_p])])
    results = []
    for f in (dyn.casadi(), expressions(name)):
        rates = f(*arguments)
        derivatives = [rates, ca.jacobian(rates, Z), *ca.hessian(ca.dot(w, rates), Z)]
        results.append(ca.Function("derivatives", [Z], derivatives)([t, *x, *r, *p]))
    for found, expected in zip(*(map(dense, result) for result in results), strict=True):
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-11 * np.max(np.abs(expected), initial=1.0))


@pytest.mark.parametrize("name", ["rotating_tube", "four_bar", "cart_pole"])
def test_derivatives_of_the_jacobian(name: str) -> None:
    """By directions, and backwards."""
    dyn, t, x, r, p = place(name)
    lengths = [1, dyn.n_x, dyn.n_r, dyn.n_p]
    Z = ca.MX.sym("z", sum(lengths))
    weights = np.cos(np.arange(dyn.n_x * sum(lengths))).reshape(dyn.n_x, sum(lengths))
    results = []
    for f in (dyn.casadi(), expressions(name)):
        J = ca.jacobian(f(*ca.vertsplit(Z, [0, *np.cumsum(lengths).tolist()])), Z)
        derivatives = [ca.jtimes(J, Z, np.sin(np.arange(sum(lengths)))), ca.gradient(ca.dot(weights, J), Z)]
        results.append(ca.Function("derivatives", [Z], derivatives)([t, *x, *r, *p]))
    for found, expected in zip(*(map(dense, result) for result in results), strict=True):
        assert np.max(np.abs(expected)) > 0.1
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-11 * np.max(np.abs(expected)))


def test_derivatives_of_several_gradients() -> None:
    """By variables and by weights, forwards and backwards."""
    dyn, t, x, r, p = place("cart_pole")
    states, weights = ca.MX.sym("x", dyn.n_x), ca.MX.sym("w", dyn.n_x, 4)
    z, places = ca.vertcat(states, ca.vec(weights)), [x, np.cos(np.arange(4 * dyn.n_x)).reshape(dyn.n_x, 4)]
    along, results = np.sin(np.arange(5 * dyn.n_x)), []
    for f in (dyn.casadi(), expressions("cart_pole")):
        gradients = f.reverse(4)(t, states, r, p, 0, weights)[1]
        sums = ca.dot(gradients, np.cos(1.0 + np.arange(4 * dyn.n_x)).reshape(dyn.n_x, 4))
        derivatives = [gradients, ca.jtimes(gradients, z, along), ca.gradient(sums, z)]
        results.append(ca.Function("derivatives", [states, weights], derivatives)(*places))
    for found, expected in zip(*(map(dense, result) for result in results), strict=True):
        assert np.allclose(found, expected, rtol=1e-10, atol=1e-12 * np.max(np.abs(expected)))


@pytest.mark.parametrize("n", [1, 3, 4])
@pytest.mark.parametrize("name", ["rotating_tube", "four_bar", "cart_pole"])
def test_derivatives_of_products_with_the_jacobian(name: str, n: int) -> None:
    """By variables and by directions, forwards and backwards."""
    dyn, t, x, r, p = place(name)
    lengths = [1, dyn.n_x, dyn.n_r, dyn.n_p]
    v, seeds = ca.MX.sym("v", sum(lengths)), ca.MX.sym("s", sum(lengths), n)
    split = [0, *np.cumsum(lengths).tolist()]
    z, at = ca.vertcat(v, ca.vec(seeds)), np.cos(np.arange(sum(lengths) * n)).reshape(sum(lengths), n)
    weights, along = np.cos(1.0 + np.arange(dyn.n_x * n)).reshape(dyn.n_x, n), np.sin(np.arange(sum(lengths) * (n + 1)))
    results = []
    for f in (dyn.casadi(), expressions(name)):
        products = f.forward(n)(*ca.vertsplit(v, split), 0, *ca.vertsplit(seeds, split))
        derivatives = [products, ca.jtimes(products, z, along), ca.gradient(ca.dot(weights, products), z)]
        results.append(ca.Function("derivatives", [v, seeds], derivatives)([t, *x, *r, *p], at))
    for found, expected in zip(*(map(dense, result) for result in results), strict=True):
        assert np.max(np.abs(expected)) > 0.1
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-11 * np.max(np.abs(expected)))


@pytest.mark.parametrize("method", ["rk", "collocation", "cvodes", "idas"])
def test_inside_integrators(method: str) -> None:
    """CasADi's integrators, with first and second derivatives of where they end."""
    dyn, _, x, r, p = place("cart_pole")
    options = {"abstol": 1e-11, "reltol": 1e-11} if method in ("cvodes", "idas") else {}
    start, force = ca.MX.sym("x", dyn.n_x), ca.MX.sym("r", dyn.n_r)
    z, results = ca.vertcat(start, force), []
    for f in (dyn.casadi(), expressions("cart_pole")):
        motion = {"x": start, "p": force, "ode": f(0.0, start, force, p)}
        end = ca.integrator("end", method, motion, 0.0, 0.3, options)(x0=start, p=force)["xf"]
        derivatives = [end, ca.jacobian(end, z), *ca.hessian(ca.sumsqr(end), z)]
        results.append(ca.Function("derivatives", [start, force], derivatives)(x, r))
    for found, expected in zip(*(map(dense, result) for result in results), strict=True):
        assert np.allclose(found, expected, rtol=1e-6, atol=1e-6 * np.max(np.abs(expected)))


def expressions(name: str) -> object:
    """The model's M, f, G and γ as SX; u̇ by elimination."""
    dyn, model = kc.load(name), importlib.import_module(f"kanecore.gallery.{name}").build()
    arguments = [ca.SX.sym(letter, n) for letter, n in zip("txrp", (1, dyn.n_x, dyn.n_r, dyn.n_p), strict=True)]
    time, n, m = me.dynamicsymbols._t, dyn.n_u, dyn.n_constraints
    symbols = [time, *model.coordinates, *model.speeds, *model.inputs, *model.parameters]
    plain = {symbol: sm.Symbol(f"v{i}") for i, symbol in enumerate(symbols)}
    functions = {symbol: plain[symbol] for symbol in symbols if symbol is not time}
    results = ["qdot", "mass_matrix", "forcing", *(["constraint_jacobian", "constraint_bias"] if m else [])]
    matrices = [model.symbolic(each, nested=True).subs(functions).subs(time, plain[time]) for each in results]
    names = ("sin", "cos", "tan", "sqrt", "exp", "log", "atan2")
    module = {"Abs": ca.fabs, **{name: getattr(ca, name) for name in names}}
    call = sm.lambdify(list(plain.values()), [list(each) for each in matrices], modules=[module, "math"], cse=True)
    qdot, *entries = call(*ca.vertsplit(ca.vertcat(*arguments)))
    mass, forcing, rows, bias = (ca.vertcat(*each) for each in (*entries, *([[]] * (0 if m else 2))))
    mass, rows = ca.reshape(mass, n, n).T, ca.reshape(rows, n, m).T
    matrix = ca.blockcat([[mass, -rows.T], [rows, ca.SX(m, m)]])
    udot = ca.solve(matrix, ca.vertcat(forcing, -bias))[:n]
    return ca.Function("own", arguments, [ca.vertcat(*qdot, udot)])


@pytest.mark.parametrize("name", ["four_bar", *(pytest.param(name, marks=pytest.mark.long) for name in REDUNDANT)])
def test_null_arguments_and_results(name: str) -> None:
    """By the C interface: an argument that is not there is zero, a result that is not there is not computed."""
    dyn, _, x, _, p = place(name)
    library = ctypes.CDLL(compile_library(text(dyn, "null_test")).path)
    pointers = ctypes.POINTER(ctypes.c_double)
    work, slopes = np.empty(100_000), [np.full(n, np.nan) for n in (1, dyn.n_x, dyn.n_r, dyn.n_p)]
    given = [None, x.ctypes.data_as(pointers), None, p.ctypes.data_as(pointers)]

    def call(function: str, n_in: int, results: Sequence[Array | None]) -> int:
        arguments = (pointers * n_in)(*given)
        out = (pointers * len(results))(*[None if each is None else each.ctypes.data_as(pointers) for each in results])
        return int(library[function](arguments, out, None, work.ctypes.data_as(pointers), 0))

    out = np.empty(dyn.n_x)
    assert call("null_test", 4, [out]) == 0
    assert np.allclose(out, dyn.rhs(0.0, x), rtol=1e-14)
    assert call("null_test", 4, [None]) == 0
    assert call("jac_null_test", 5, [None] * 4) == 0
    assert call("jac_adj1_null_test", 10, [None] * 24) == 0
    assert call("adj1_null_test", 6, [None] * 4) == 0
    assert call("adj1_null_test", 6, slopes) == 0
    if name not in REDUNDANT:
        assert call("fwd1_null_test", 9, [out]) == 0
        assert not np.any(out)
        assert call("fwd1_fwd1_null_test", 19, [out]) == 0
        assert call("adj1_fwd1_null_test", 11, [*slopes, None, *slopes]) == 0
        assert call("adj1_fwd1_null_test", 11, [None] * 9) == 0
        assert not np.any(out)
        assert call("fwd1_jac_null_test", 14, [None] * 4) == 0
        assert call("adj1_jac_null_test", 13, [*slopes, None]) == 0
        assert call("fwd1_adj2_null_test", 16, [None] * 4) == 0
        assert call("adj1_adj2_null_test", 14, [*slopes, None, None]) == 0
    assert not any(np.any(slope) for slope in slopes)


def test_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written for an equal model, whatever the values of its parameters; for another one it is."""

    def model(stiffness: int) -> kc.Model:
        q, u, k = *me.dynamicsymbols("q u"), sm.Symbol("k")
        return mass_point({q: u}, 2, [-stiffness * k * q**3], parameters=[k])

    kc.compile(model(1), parameters={"k": 2.0}).casadi(name="kept")
    monkeypatch.setattr("kanecore.export.casadi_text.text", lambda *_: pytest.fail("the text is written"))
    dyn = pickle.loads(pickle.dumps(kc.compile(model(1), parameters={"k": 3.0})))
    assert dense(dyn.casadi(name="kept").jacobian()(0, [2.0, 0.0], [], [3.0], 0)[1])[1, 0] == -18.0
    for other, options in ((model(1), {"wrt": "xr"}), (model(1), {"name": "renamed"}), (model(5), {})):
        with pytest.raises(pytest.fail.Exception, match="the text is written"):
            kc.compile(other).casadi(**{"name": "kept", **options})


def test_map_and_threads() -> None:
    """Many states at once, each with its own numbers, serially and in threads; parameters that change in between."""
    dyn, _, x, _, p = place("four_bar")
    f, n = dyn.casadi(), 200
    X = np.array([dyn.consistent(0.0, x + 0.01 * k) for k in np.linspace(-1, 1, n)])
    P = p + 0.01 * np.linspace(0, 1, n)[:, np.newaxis]
    expected = np.array([dyn.rhs(0.0, a, p=b) for a, b in zip(X, P, strict=True)])
    for parallel in ("serial", "thread"):
        mapped = f.map(n, parallel) if parallel == "serial" else f.map(n, parallel, 2)
        assert np.allclose(dense(mapped(0, X.T, np.zeros((dyn.n_r, n)), P.T)).T, expected, rtol=1e-12, atol=1e-12)


def test_what_is_kept_changes_no_bit() -> None:
    """Constants of the parameters are kept; with those of another call nothing is computed."""
    dyn, t, x, r, p = place("four_bar")
    w, v = np.cos(np.arange(dyn.n_x)), np.sin(np.arange(dyn.n_x))
    f = dyn.casadi()
    changes, gradient = f.reverse(1).forward(1), f.reverse(1)

    def bits(x: Array, p: Array, w: Array, v: Array) -> bytes:
        along = changes(t, x, r, p, 0, w, *[0] * 4, 1, v, 0 * r, 0 * p, 0, v)
        return b"".join(dense(block).tobytes() for block in (*along, *gradient(t, x, r, p, 0, v)))

    places = [(x, p, w, v), (x + 0.01, p, w, v), (x, p * 1.01, w, v), (x, p, v, w), (x, p, w, 0 * v), (x, p, w, w)]
    fresh = []
    for each in places:
        bits(x + 1.0, p, w, v)
        fresh.append(bits(*each))
    assert len(set(fresh)) == len(fresh)
    assert [bits(*each) for each in places] == fresh
    assert [bits(*each) for each in places[::-1]] == fresh[::-1]
    library = ctypes.CDLL(compile_library(text(dyn, "keeping"), name="keeping").path)
    pointers = ctypes.POINTER(ctypes.c_double)
    zeros, time, work = np.zeros(100), np.array([t]), np.empty(1_000_000)
    along = [np.ones(1), v, 0 * r, 0 * p, zeros, v]
    arguments = [time, x, r, p, zeros, w, zeros, zeros, zeros, zeros, *along]
    given = (pointers * 16)(*[a.ctypes.data_as(pointers) for a in arguments])
    for mem in (0, library.keeping_checkout()):
        results = [np.empty(n) for n in (1, dyn.n_x, dyn.n_r, dyn.n_p)]
        out = (pointers * 4)(*[a.ctypes.data_as(pointers) for a in results])
        assert library.fwd1_adj1_keeping(given, out, None, work.ctypes.data_as(pointers), mem) == 0
        assert fresh[0].startswith(b"".join(a.tobytes() for a in results))


@pytest.mark.parametrize("n", [2, 3, 8, 13, 32, 43])
def test_several_directions(n: int) -> None:
    """Side by side they give what they give one by one: a call of C for all, of which some may be zero."""
    dyn, t, x, r, p = place("rotating_tube")
    f, rng = dyn.casadi(), np.random.default_rng(n)
    w, W = rng.normal(size=dyn.n_x), rng.normal(size=(dyn.n_x, n))
    lengths = (1, dyn.n_x, dyn.n_r, dyn.n_p)
    seeds = [rng.normal(size=(length, n)) for length in lengths]
    if n > 20:
        for each in (*seeds, W):
            each[:, 8:17] = 0.0
    power = 1 << (n - 1).bit_length()
    of, of_changes = f.name(), f"adj1_{f.name()}"
    called = {f"fwd{power}_{of}": f.forward(n), f"adj{power}_{of}": f.reverse(n)}
    called[f"fwd{n if n < 33 else power}_{of_changes}"] = f.reverse(1).forward(n)
    for expected, function in called.items():
        inside = function.find_functions()[0] if function.is_a("MXFunction") else function
        assert inside.name() == expected
    forward = f.forward(n)(t, x, r, p, 0, *seeds)
    one, together = f.reverse(1), f.reverse(n)(t, x, r, p, 0, W)
    along = f.reverse(1).forward(n)(t, x, r, p, 0, w, *[0] * 4, *seeds, 0, W)
    for k in range(n):
        product = f.forward(1)(t, x, r, p, 0, *[seed[:, k] for seed in seeds])
        assert np.allclose(dense(forward)[:, k], dense(product)[:, 0], rtol=1e-11, atol=1e-11)
        for found, alone in zip(together, one(t, x, r, p, 0, W[:, k]), strict=True):
            assert np.allclose(dense(found)[:, k], dense(alone)[:, 0], rtol=1e-11, atol=1e-11)
        single = one.forward(1)(t, x, r, p, 0, w, *[0] * 4, *[seed[:, k] for seed in seeds], 0, W[:, k])
        for found, alone in zip(along, single, strict=True):
            assert np.allclose(dense(found)[:, k], dense(alone)[:, 0], rtol=1e-10, atol=1e-10)


def test_the_same_function_for_the_same_arguments() -> None:
    rrp = importlib.import_module("kanecore.gallery.rrp")
    dyn = kc.compile(rrp.build(), parameters=rrp.PARAMETERS)
    f = dyn.casadi()
    dyn.parameters["m1"] = 1.5  # which is an argument of the function
    assert dyn.casadi("rhs", wrt=("x", "t", "r", "p")) is f
    assert dyn.casadi(wrt="xr") is not f


def test_singular_state_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    dyn = kc.load("cart_pole")
    f = dyn.casadi()
    zero = np.zeros(dyn.n_p)  # no mass at all
    with pytest.raises(RuntimeError, match="Evaluation failed"):
        f(0, np.ones(dyn.n_x), np.ones(dyn.n_r), zero)
    reason = "cart_pole_rhs has no solution at t = 0: the mass matrix is singular, the pivot of speed"
    assert capfd.readouterr().err.count(reason) == 1
    with pytest.raises(RuntimeError, match="Evaluation failed"):
        f(0, np.zeros(dyn.n_x), np.ones(dyn.n_r), zero)
    assert reason not in capfd.readouterr().err  # said once
    assert np.isfinite(dense(f(0, np.ones(dyn.n_x), 1.0, list(dyn.parameters.values())))).all()


def test_second_derivatives_with_redundant_rows(capfd: pytest.CaptureFixture[str]) -> None:
    """The row of a rail is written again, in another unit: the message names it."""
    q, u = me.dynamicsymbols("x y z"), me.dynamicsymbols("vx vy vz")
    rail = q[1] - sm.sin(q[0])
    model = mass_point(
        dict(zip(q, u, strict=True)),
        1,
        [-q[0]],
        configuration_constraints=[rail, q[2] * (1 + q[0] ** 2), 1000 * rail],
        name="railed",
    )
    dyn = kc.compile(model)
    x = dyn.consistent(0.0, [0.3, 0.2, 0.0, 1.0, 0.0, 0.0])
    f, Z = dyn.casadi(), ca.MX.sym("z", dyn.n_x)
    weighed = ca.sum1(f(0, Z, [], []))
    slopes = dense(ca.Function("gradient", [Z], [ca.gradient(weighed, Z)])(x))[:, 0]
    assert np.allclose(slopes, dyn.linearize(0.0, x)[0].sum(axis=0), rtol=1e-11, atol=1e-11)
    assert "kanecore: railed_rhs" not in capfd.readouterr().err
    for _ in range(2):
        with pytest.raises(RuntimeError, match="Evaluation failed"):
            ca.Function("hessian", [Z], [ca.hessian(weighed, Z)[0]])(x)
    said = capfd.readouterr().err
    row = re.findall("railed_rhs has no second derivatives, since the constraint '(.*)' follows", said)
    assert row in ([dyn.constraint_names[0]], [dyn.constraint_names[2]])  # of the two it may be either; said once


def test_arguments_that_do_not_change() -> None:
    """Derivatives by them are empty, and all others what they were."""
    dyn, t, x, r, p = place("rrp")
    f, all_of_them = dyn.casadi(wrt="xr", name="rrp_xr"), dyn.casadi()
    blocks, expected = (g.jacobian()(t, x, r, p, 0) for g in (f, all_of_them))
    assert [block.nnz() for block in blocks] == [0, expected[1].nnz(), expected[2].nnz(), 0]
    w, Z = np.cos(np.arange(dyn.n_x)), ca.MX.sym("z", dyn.n_x + dyn.n_r)
    found, exact = (
        ca.Function("h", [Z], [ca.hessian(ca.dot(w, g(t, Z[: dyn.n_x], Z[dyn.n_x :], p)), Z)[0]])([*x, *r])
        for g in (f, all_of_them)
    )
    assert np.allclose(dense(found), dense(exact), rtol=1e-13, atol=1e-13)
    assert np.array_equal(dense(f.reverse(1)(t, x, r, p, 0, w)[3]), np.zeros((dyn.n_p, 1)))


def test_swing_up() -> None:
    """IPOPT with exact Hessians finds that of CasADi's own expressions, in as many iterations."""
    dyn = kc.load("cart_pole")
    f, p = dyn.casadi(), np.array(list(dyn.parameters.values()))
    n, h = 40, 0.05
    results = []
    for rates in (f, expressions("cart_pole")):
        states, forces = ca.MX.sym("X", dyn.n_x, n + 1), ca.MX.sym("F", 1, n + 1)
        slopes = rates.map(n + 1)(0, states, forces, p)
        gaps = states[:, 1:] - states[:, :-1] - h / 2 * (slopes[:, 1:] + slopes[:, :-1])
        z = ca.vertcat(ca.vec(states), ca.vec(forces))
        ends = ca.vertcat(states[:, 0] - dyn.state(theta=np.pi), states[:, -1] - dyn.state())
        problem = {"x": z, "f": h * ca.sumsqr(forces), "g": ca.vertcat(ca.vec(gaps), ends)}
        options = {"ipopt.print_level": 0, "print_time": False, "ipopt.tol": 1e-10}
        solver = ca.nlpsol("solver", "ipopt", problem, options)
        start = np.linspace(dyn.state(theta=np.pi), dyn.state(), n + 1).ravel()
        solution = solver(x0=np.concatenate([start, np.full(n + 1, 0.1)]), lbg=0, ubg=0)
        assert solver.stats()["return_status"] == "Solve_Succeeded"
        results.append((float(solution["f"]), solver.stats()["iter_count"]))
    assert results[0][0] == pytest.approx(results[1][0], rel=1e-9)
    assert results[0][1] == results[1][1]


def test_rates_of_states_with_branches() -> None:
    """A choice between a direction and what depends on it: ż = −z, or x − 2 z where x is positive."""
    x, v, z = me.dynamicsymbols("x v z")
    rate = sm.Piecewise((x - 2 * z, x > 0), (-z, True))
    dyn = kc.compile(mass_point({x: v}, 1, [-x], states={z: rate}))
    slopes = dyn.casadi().jacobian()
    for place, row in ((0.5, [1, 0, -2]), (-0.5, [0, 0, -1])):
        assert dense(slopes(0, [place, 0.1, 0.3], [], [], 0)[1])[2].tolist() == row


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"kernel": "mass_matrx"}, KeyError, "did you mean 'mass_matrix'"),
        ({"name": "a b"}, ValueError, "name is 'a b', .* no identifier of C"),
        ({"name": 1}, TypeError, "must be a text"),
        ({"wrt": "xq"}, ValueError, "wrt holds 'q'; .* 't', 'x', 'r', 'p'"),
    ],
)
def test_wrong_arguments(arguments: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        kc.load("rrp").casadi(**arguments)  # type: ignore[arg-type]


def test_without_casadi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(ImportError, match="pip install casadi"):
        kc.load("rrp").casadi()
