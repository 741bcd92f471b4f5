# SPDX-License-Identifier: BSD-3-Clause
"""Functions in C by their addresses: against the same as expressions, each model with its own, and what is refused."""

import copy
import ctypes
import gc
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sweep
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import mass_point
from test_functions import NUMBERS, every_kernel, slider, street, wheel

import kanecore as kc
from kanecore.build.c_compiler import find_compiler
from kanecore.describe.builder import Builder
from kanecore.describe.description import fingerprint
from kanecore.emit.kernel_groups import emit_group
from kanecore.graph.expression_graph import PARAMETER, Given

pytestmark = pytest.mark.compiler

SOURCE = """
#include <math.h>
double f(double x) { return sin(x) / 3 + x * x / 7; }
double df(double x) { return cos(x) / 3 + 2 * x / 7; }
double d2f(double x) { return -sin(x) / 3 + 2.0 / 7; }
double d3f(double x) { return -cos(x) / 3; }
double line(double x) { return 2 * x; }
double slope(double x) { return x - x + 2; }
double zero(double x) { return x - x; }
"""
NAMES = ("f", "df", "d2f", "d3f", "line", "slope", "zero")


def expression(x: Any) -> Any:
    return sm.sin(x) / 3 + x**2 / 7


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Functions of a shared library."""
    folder: Path = tmp_path_factory.mktemp("functions")
    (folder / "f.c").write_text(SOURCE)
    command = [*find_compiler(), "-shared", "-fPIC", str(folder / "f.c"), "-o", str(folder / "f.so"), "-lm"]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(folder / "f.so"))
    return {name: getattr(library, name) for name in NAMES}


@pytest.fixture(scope="module")
def curve(code: dict[str, Any]) -> kc.CFunction:
    return kc.CFunction(code["f"], code["df"], code["d2f"], code["d3f"])


@pytest.fixture(scope="module")
def line(code: dict[str, Any]) -> kc.CFunction:
    return kc.CFunction(code["line"], code["slope"], code["zero"], code["zero"])


def bead(**functions: Any) -> kc.Model:
    x = me.dynamicsymbols("x")
    return slider(street(x), x, functions={street: functions["street"]})


def test_against_the_expression(curve: kc.CFunction) -> None:
    """All kernels, also of one that is drawn over a parameter and one whose position holds the slope but for f''''."""
    x, a = me.dynamicsymbols("x"), sm.Symbol("a")
    numbers = {"m": 2.0, "g": 9.81, "a": 0.4}
    cc = None if sweep.LONG else "none"  # the machine calls functions with the bits of C: test_bytecode.py
    found = kc.compile(slider(street(x + a) * street(a), x, functions={street: curve}), parameters=numbers, cc=cc)
    expected = kc.compile(slider(expression(x + a) * expression(a), x), parameters=numbers, cc="none")
    compared = every_kernel(found, expected, np.array([0.3, 1.1]), 1e-13)
    assert {"rhs", "potential_energy", "gibbs", "power"} <= compared
    for p in ([0.4, 9.81, 2.0], {"a": 0.7}, np.array([[0.4, 9.81, 2.0], [0.9, 9.81, 2.0]])):
        one, other = (dyn.udot(0.0, [0.3, 1.1], p=p) for dyn in (found, expected))
        np.testing.assert_allclose(one, other, rtol=1e-13)
    many = np.random.default_rng(1).normal(size=(50, 2))
    np.testing.assert_allclose(found.rhs(0.0, many), expected.rhs(0.0, many), rtol=1e-12)
    found.parameters["a"] = expected.parameters["a"] = -0.2
    np.testing.assert_allclose(found.rhs(0.0, many), expected.rhs(0.0, many), rtol=1e-12)
    workspace = found.workspace()
    workspace.x[:] = [0.3, 1.1]
    np.testing.assert_allclose(workspace.rhs(), expected.rhs(0.0, [0.3, 1.1]), rtol=1e-13)
    ends = [dyn.simulate((0.0, 1.0), [0.3, 0.0]).x[-1] for dyn in (found, expected)]
    np.testing.assert_allclose(*ends, rtol=1e-9)


@pytest.mark.long
def test_the_third_derivative_is_for_linearize(code: dict[str, Any]) -> None:
    dyn = kc.compile(bead(street=kc.CFunction(code["f"], code["df"], code["d2f"])), parameters={"m": 2.0, "g": 9.81})
    expected = kc.compile(slider(expression(me.dynamicsymbols("x")), me.dynamicsymbols("x")))
    expected.parameters = {"m": 2.0, "g": 9.81}
    np.testing.assert_allclose(dyn.udot(0.0, [0.3, 1.1]), expected.udot(0.0, [0.3, 1.1]), rtol=1e-13)
    with pytest.raises(kc.ModelError, match=r"no linearize: it holds the derivative of order 3 of street.*give d3f"):
        dyn.linearize(0.0, [0.3, 1.1])
    assert np.isfinite(dyn.udot(0.0, [0.3, 1.1])).all()
    dyn.build("all")
    audit = dyn.audit(2)
    assert audit.passed
    assert "does not apply: it holds the derivative of order 3" in str(audit)
    # a load that holds f alone needs f' there, and no more
    x, u = me.dynamicsymbols("x u")
    model = mass_point({x: u}, 1, [-street(x)], functions={street: kc.CFunction(code["f"], code["df"], code["d2f"])})
    slope = float(expression(x).diff(x).subs(x, 0.3))
    assert kc.compile(model).linearize(0.0, [0.3, 0.0])[0][1, 0] == pytest.approx(-slope, rel=1e-14)


@pytest.mark.long
def test_a_fourth_derivative_is_refused(curve: kc.CFunction) -> None:
    """A position that holds the slope: accelerations hold f''', and the linearization f''''."""
    dyn = kc.compile(wheel(street, functions={street: curve}), parameters=NUMBERS)
    expected = kc.compile(wheel(expression), parameters=NUMBERS)
    x = expected.consistent(0.0, [0.3, 0.1, 0.7, 0.0])
    short = kc.compile(wheel(street, functions={street: kc.CFunction(*curve.addresses[:3])}))
    with pytest.raises(kc.ModelError, match=r"derivative of order 3 of street.*give d3f"):
        short.udot(0.0, x)
    np.testing.assert_allclose(dyn.udot(0.0, x), expected.udot(0.0, x), rtol=1e-12)
    with pytest.raises(kc.ModelError, match=r"derivative of order 4 of street.*give the data, kc.Spline"):
        dyn.linearize(0.0, x)


# ------------------------------------------------------------------------------------- addresses of a process
@pytest.mark.long
def test_the_text_holds_no_address(curve: kc.CFunction, line: kc.CFunction) -> None:
    """Two models of one text, with functions of their own, at once and from several threads."""
    models = [bead(street=function) for function in (curve, line)]
    assert fingerprint(models[0].description) == fingerprint(models[1].description)
    texts = [emit_group(model.description, "core").text for model in models]
    assert texts[0] == texts[1]
    assert not any(str(address) in texts[0] for address in (*curve.addresses, *line.addresses))
    dyns = [kc.compile(model, parameters={"m": 2.0, "g": 9.81}) for model in models]
    assert dyns[1].info["build"]["core"]["from_cache"]
    x = me.dynamicsymbols("x")
    expected = [kc.compile(slider(e, x), parameters={"m": 2.0, "g": 9.81}) for e in (expression(x), 2 * x)]
    states = np.random.default_rng(2).normal(size=(2000, 2))
    results: list[Any] = [None] * 8

    def work(number: int) -> None:
        results[number] = [dyns[number % 2].rhs(0.0, states) for _ in range(5)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, several in enumerate(results):
        for result in several:
            np.testing.assert_allclose(result, expected[number % 2].rhs(0.0, states), rtol=1e-12, atol=1e-13)


def test_prepared_constants_hold_the_addresses(curve: kc.CFunction) -> None:
    """So whoever calls kernels by their addresses, with c, calls the functions of that model."""
    dyn = kc.compile(bead(street=curve), parameters={"m": 2.0, "g": 9.81})
    n = len(dyn.parameter_names)
    assert tuple(dyn.prepared[n : n + 4].astype(int)) == curve.addresses
    assert tuple(dyn.prepare([[9.81, 2.0], [1.0, 1.0]])[1, n : n + 4].astype(int)) == curve.addresses


def test_what_ctypes_makes_lives_as_long_as_the_model() -> None:
    """The objects are kept; Python's own functions may be called, from batches as well."""
    double = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
    powers = [lambda x: x**3, lambda x: 3 * x**2, lambda x: 6 * x, lambda x: 6.0]
    values, cc = {"m": 2.0, "g": 9.81}, None if sweep.LONG else "none"
    dyn = kc.compile(bead(street=kc.CFunction(*map(double, powers))), parameters=values, cc=cc)
    del powers
    gc.collect()
    x = me.dynamicsymbols("x")
    expected = kc.compile(slider(x**3, x), parameters=values, cc="none")
    states = np.random.default_rng(3).normal(size=(20, 2))
    np.testing.assert_allclose(dyn.rhs(0.0, states), expected.rhs(0.0, states), rtol=1e-12)


def test_numbers_as_addresses(code: dict[str, Any], curve: kc.CFunction) -> None:
    numbers = [ctypes.cast(code[name], ctypes.c_void_p).value for name in NAMES[:4]]
    assert kc.CFunction(*numbers).addresses == curve.addresses
    assert kc.CFunction(*map(np.uintp, numbers)).addresses == curve.addresses
    assert kc.CFunction(*numbers[:3]).addresses == (*curve.addresses[:3], 0)


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.deepcopy])
def test_pickling_is_refused_by_name(duplicate: Any, curve: kc.CFunction) -> None:
    dyn = kc.compile(bead(street=curve), parameters={"m": 2.0, "g": 9.81})
    with pytest.raises(kc.ModelError, match=r"'slider' cannot be pickled: it calls street by address"):
        duplicate(dyn)
    with pytest.raises(kc.ModelError, match="address belongs to this process"):
        pickle.dumps(curve)


def test_a_library_is_not_opened_without_its_functions(curve: kc.CFunction, tmp_path: Path) -> None:
    dyn = kc.compile(bead(street=curve), parameters={"m": 2.0, "g": 9.81})
    path = dyn.info["build"]["core"]["command"]
    assert path is not None
    from kanecore.build.compilation import compile_library

    library = compile_library(dyn.source["core"], name="slider").path
    with pytest.raises(ImportError, match="calls the C functions street, and was given the addresses of none"):
        kc.CompiledModel({"core": library}, source=dyn.source)
    other = kc.CompiledModel({"core": library}, source=dyn.source, functions={"street": curve})
    other.parameters = {"m": 2.0, "g": 9.81}
    np.testing.assert_array_equal(other.udot(0.0, [0.3, 1.1]), dyn.udot(0.0, [0.3, 1.1]))


def test_functions_of_two_names(curve: kc.CFunction, line: kc.CFunction) -> None:
    """Beside a spline; each stands in its place, whichever is used first."""
    x = me.dynamicsymbols("x")
    first, second, third = (sm.Function(name) for name in ("first", "second", "third"))
    functions = {second: line, third: kc.Spline([0, 1, 2], [0, 1, 4]), first: curve}
    outputs = {"a": first(x), "b": second(x), "c": third(x), "d": first(second(third(x)))}
    model = slider(0, x, functions=functions, outputs=outputs)
    dyn = kc.compile(model, parameters={"m": 2.0, "g": 9.81})
    f = sm.lambdify(x, expression(x))
    np.testing.assert_allclose(dyn.outputs(0.0, [0.7, 0.0]), [f(0.7), 1.4, 0.49, f(0.98)], rtol=1e-13)
    assert dyn.info["functions"] == ["second", "first"]
    assert "  function first: C functions f, f', f'', f'''" in model.report()
    assert model.functions == functions


# --------------------------------------------------------------------------------------------------- refused
def test_immutable(curve: kc.CFunction) -> None:
    with pytest.raises(AttributeError, match="immutable"):
        curve.addresses = (1, 2, 3, 4)
    assert repr(curve) == "<CFunction: C functions f, f', f'', f'''>"


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ((0, 1, 1), ValueError, "f is 0, which is no address"),
        ((1, -5, 1), ValueError, "df is -5, which is no address"),
        ((1, 1, 2**60), ValueError, "d2f is 1152921504606846976, which is no address"),
        ((1, 1, 1, 0), ValueError, "d3f is 0, which is no address"),
        ((1.0, 1, 1), TypeError, "f is 1.0; it must be the address of a function"),
        ((1, "sin", 1), TypeError, "df is 'sin'"),
        ((np.sin, 1, 1), TypeError, "f is <ufunc 'sin'>"),
        ((lambda x: x, 1, 1), TypeError, "it must be the address"),
        ((1, 1, None), TypeError, "d2f is None"),
        ((True, 1, 1), TypeError, "f is True"),
        ((b"abc", 1, 1), TypeError, "f is b'abc'"),
        ((1,), TypeError, "argument"),
        ((ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int)(abs), 1, 1), TypeError, "f takes .*c_int.*double f.double"),
        ((1, ctypes.CFUNCTYPE(ctypes.c_double)(float), 1), TypeError, r"df takes \(\)"),
    ],
)
def test_wrong_addresses(given: tuple[Any, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        kc.CFunction(*given)


def test_wrong_number_of_arguments(curve: kc.CFunction) -> None:
    x = me.dynamicsymbols("x")
    with pytest.raises(kc.ModelError, match="has 2 arguments, and what functions gives for street has 1: C function"):
        slider(street(x, x), x, functions={street: curve})


def test_a_builder_names_them_once() -> None:
    builder = Builder("model")
    data = builder.external("f", 3)
    with pytest.raises(kc.ModelError, match="two different symbols are named 'f'"):
        builder.parameter("f")
    node = builder.graph.given(Given("f", data, (0,)), [builder.graph.constant(2)])
    assert builder.graph.depends[node] == PARAMETER


def test_of_a_constant(curve: kc.CFunction) -> None:
    """It is called when parameters are prepared, and is no constant of the C text."""
    x = me.dynamicsymbols("x")
    dyn = kc.compile(slider(0, x, functions={street: curve}, outputs={"two": street(2) * x}))
    dyn.parameters = {"m": 2.0, "g": 9.81}
    value = float(expression(sm.Integer(2)))
    assert dyn.outputs(0.0, [3.0, 0.0])[0] == pytest.approx(3 * value, rel=1e-14)


@pytest.mark.skipif(sys.platform == "win32", reason="libm")
def test_of_libm() -> None:
    library = ctypes.CDLL(None)
    minus_sin = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: -float(np.sin(x)))
    dyn = kc.compile(bead(street=kc.CFunction(library.sin, library.cos, minus_sin)), parameters={"m": 2.0, "g": 9.81})
    x = me.dynamicsymbols("x")
    expected = kc.compile(slider(sm.sin(x), x), parameters={"m": 2.0, "g": 9.81}, cc="none")
    one: npt.NDArray[np.float64] = dyn.udot(0.0, [0.3, 1.1])
    np.testing.assert_allclose(one, expected.udot(0.0, [0.3, 1.1]), rtol=1e-13)


def test_parameters_by_row_of_a_large_batch(code: dict[str, Any]) -> None:
    """A function of parameters alone is called where each row's constants are prepared."""
    x, u = me.dynamicsymbols("x u")
    m, k = sm.symbols("m k")
    functions = {street: kc.CFunction(code["f"], code["df"], code["d2f"])}
    dyn = kc.compile(mass_point({x: u}, m, [-street(k) * x], functions=functions))
    rng = np.random.default_rng(0)
    states, p = rng.uniform(-1.0, 1.0, (300, 2)), rng.uniform(1.0, 2.0, (300, 2))
    together = dyn.rhs(0.0, states, p=p)
    assert "rhs" in dyn.kernels.lanes[0]
    assert np.array_equal(together, [dyn.rhs(0.0, states[i], p=p[i]) for i in range(300)])
