# SPDX-License-Identifier: BSD-3-Clause
"""Models in single precision, against the same in double precision: as many digits as the condition leaves."""

import ctypes
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from gallery_states import some_state
from sweep import part

import kanecore as kc
from kanecore.build import include_dir
from kanecore.build.c_compiler import find_compiler
from kanecore.emit.kernel_groups import emit_group

Array = npt.NDArray[Any]
pytestmark = [
    pytest.mark.compiler,
    pytest.mark.filterwarnings("ignore:no solid body"),
]  # the measured inertias of a robot
EPSILON = 2.0**-24
ENOUGH = 256  # rows for which lanes are compiled
SOME = ["four_bar"]
ALLOWED = 8  # times what rounded operands, and a solution of that condition, leave: of 42 models two need more than 4


@cache
def both(name: str) -> tuple[kc.CompiledModel, kc.CompiledModel]:
    module = import_module(f"kanecore.gallery.{name}")
    models = [kc.compile(module.build(), parameters=module.PARAMETERS, real=real) for real in ("double", "float")]
    for dyn in models:
        dyn.inputs = dict.fromkeys(dyn.inputs, 0.25)
    return models[0], models[1]


def states(name: str, n: int) -> Array:
    """Near a state on the constraints, or on them."""
    spread = 0.0 if both(name)[0].n_constraints else 0.1
    noise = np.random.default_rng(n).uniform(-1.0, 1.0, (n, both(name)[0].n_x))
    return np.asarray(some_state(name) + spread * noise, dtype=np.float32)


def nearby(dyn: kc.CompiledModel, kernel: str, x: Array) -> Array:
    """How much a kernel changes where its operands are rounded to floats."""
    rng, call = np.random.default_rng(3), dyn.kernels.method(kernel)
    operands = [x.astype(float), dyn.kernels.values("input"), dyn.kernels.values("parameter")]
    true, change = call(0.25, operands[0]), 0.0
    for _ in range(12):
        x_, r_, p_ = (value * (1.0 + EPSILON * rng.choice([-1.0, 1.0], value.shape)) for value in operands)
        change = np.maximum(change, np.abs(call(0.25, x_, r=r_, p=p_) - true))
    return np.asarray(np.max(change, initial=0.0))


def condition(dyn: kc.CompiledModel, x: Array) -> float:
    """Of the mass matrix, in the metric of its diagonal."""
    mass = dyn.mass_matrix(0.25, x.astype(float))
    units = 1.0 / np.sqrt(np.maximum(np.diagonal(mass), 1e-12))
    scaled = units[:, np.newaxis] * mass * units
    return float(np.linalg.cond(scaled)) if np.linalg.matrix_rank(scaled) == len(scaled) else 1e3


@pytest.mark.long
@pytest.mark.parametrize("name", part(kc.models(), SOME))
def test_accuracy(name: str) -> None:
    double, single = both(name)
    for x in states(name, 3):
        size = np.max(np.abs(double.mass_matrix(0.25, x.astype(float))))
        for kernel in ("mass_matrix", "forcing", "udot", "linearize"):
            true, rounded = (dyn.kernels.method(kernel)(0.25, x) for dyn in (double, single))
            assert rounded.dtype == np.float32
            solved = condition(double, x) if kernel in ("udot", "linearize") else 1.0
            largest = np.max(np.abs(true), initial=0.0) + (10.0 * size if kernel == "forcing" else 0.0)
            allowed = ALLOWED * (nearby(double, kernel, x) + EPSILON * solved * largest)
            assert np.max(np.abs(rounded - true), initial=0.0) <= allowed, kernel


@pytest.mark.parametrize("name", part(kc.models(), ["wire_particle"]))
def test_lanes_have_the_bits_of_a_state_alone(name: str) -> None:
    dyn, x = both(name)[1], states(name, ENOUGH + 5)
    t = np.linspace(0.0, 1.0, len(x))
    for kernel in ("rhs", "mass_matrix", "forcing", "linearize"):
        method = dyn.kernels.method(kernel)
        together, alone = method(t, x), np.array([method(t[i], x[i]) for i in range(len(x))])
        assert together.dtype == np.float32
        assert together.tobytes() == alone.tobytes(), kernel
    assert {"rhs", "mass_matrix", "linearize"} <= dyn.kernels.lanes[0]
    assert dyn.kernels.lanes[1] in (4, 8, 16)


@pytest.mark.parametrize("name", part(kc.models(), ["wire_particle"]))
def test_products_with_derivatives(name: str) -> None:
    """Vectors of doubles, floats and lists are cast: those of the double, to the condition of its equations."""
    double, single = both(name)
    x, rng = states(name, 1)[0], np.random.default_rng(2)
    dx, w, udot = *rng.uniform(-1.0, 1.0, (2, double.n_x)), np.ones(double.n_u)
    calls: tuple[Callable[[kc.CompiledModel, Any], Array], ...] = (
        lambda dyn, cast: dyn.jvp("rhs", 0.25, x, cast(dx), dp=cast(np.ones(dyn.n_p))),
        lambda dyn, cast: dyn.vjp("rhs", 0.25, x, cast(w)),
        lambda dyn, cast: dyn.vjp("rhs", 0.25, x, cast(w), parameters=True)[1],
        lambda dyn, cast: dyn.jvp("inverse_dynamics", 0.25, x, cast(udot), cast(dx)),
        lambda dyn, cast: dyn.vjp("inverse_dynamics", 0.25, x, cast(udot), cast(udot)),
        lambda dyn, cast: dyn.jvp("rhs", 0.25, [x, x, x], cast(dx))[1],
    )
    for call in calls:
        true, found = call(double, np.asarray), call(single, np.asarray)
        assert found.dtype == np.float32
        allowed = 1e3 * EPSILON * condition(double, x) * max(1.0, float(np.max(np.abs(true), initial=0.0)))
        np.testing.assert_allclose(found, true, rtol=0.0, atol=allowed)
        for cast in (np.float32, np.ndarray.tolist):
            np.testing.assert_array_equal(call(single, cast), found)


@pytest.mark.long
def test_inverses_that_numpy_finds_are_floats() -> None:
    """M of the second row is indefinite."""
    dyn = both("rrp")[1]
    p = np.repeat(dyn.prepared[np.newaxis, : dyn.n_p], 2, axis=0)
    p[1, list(dyn.parameter_names).index("m3")] = -9.0
    x = states("rrp", 1)[0]
    found = dyn.mass_matrix_inverse(0.0, x, p=p)
    assert found.dtype == dyn.mass_matrix_inverse(0.0, x, p=p[1]).dtype == np.float32
    assert found[0].tobytes() == dyn.mass_matrix_inverse(0.0, x, p=p[0]).tobytes()
    np.testing.assert_allclose(found[1] @ dyn.mass_matrix(0.0, x, p=p[1]), np.eye(dyn.n_u), atol=1e-4)


@pytest.mark.long
def test_rows_that_lie_anywhere() -> None:
    """Steps, transposed and broadcast operands, parameters and inputs by row, threads."""
    dyn, x = both("quadrotor")[1], states("quadrotor", 2100)
    x = x + np.random.default_rng(0).uniform(-0.01, 0.01, x.shape).astype(np.float32)
    whole = dyn.forcing(0.0, x)
    assert np.array_equal(dyn.forcing(0.0, np.asfortranarray(x)), whole)
    assert np.array_equal(dyn.forcing(0.0, x[::-3]), whole[::-3])
    assert np.array_equal(dyn.forcing(0.0, x.reshape(700, 3, -1)), whole.reshape(700, 3, -1))
    assert np.array_equal(dyn.forcing(0.0, x, threads=2), whole)
    p = np.repeat(dyn.prepared[np.newaxis, : dyn.n_p], len(x), axis=0) * np.float32(1.25)
    r = np.random.default_rng(1).normal(size=(len(x), dyn.n_r)).astype(np.float32)
    assert np.array_equal(dyn.forcing(0.0, x, r=r, p=p)[7], dyn.forcing(0.0, x[7], r=r[7], p=p[7]))


@pytest.mark.long
def test_arrays_of_other_types_are_cast() -> None:
    dyn = both("rrp")[1]
    x = states("rrp", 1)[0]
    expected = dyn.rhs(0.5, x)
    for other in (
        x.astype(float),
        x.astype(">f4"),
        x.tolist(),
        dict(zip([*dyn.coordinate_names, *dyn.speed_names], x.tolist(), strict=True)),
    ):
        assert np.array_equal(dyn.rhs(0.5, other), expected)
    assert np.array_equal(dyn.rhs(np.float64(0.5), x, r={}, p={}), expected)
    out = np.empty(dyn.n_x, dtype=np.float32)
    assert dyn.rhs(0.5, x, out=out) is out
    assert np.array_equal(out, expected)
    with pytest.raises(TypeError, match="out must be of dtype float32, got float64"):
        dyn.rhs(0.5, x, out=np.empty(dyn.n_x))
    with pytest.raises(ValueError, match=r"x has shape \(2,\), expected"):
        dyn.rhs(0.5, [1.0, 2.0])
    assert isinstance(dyn.kinetic_energy(0.0, x), float)


@pytest.mark.long
def test_kernels_of_accelerations_and_robotics() -> None:
    double, single = both("planar_2r")
    x = states("planar_2r", 1)[0]
    udot = np.linspace(-1.0, 1.0, single.n_u, dtype=np.float32)
    tau = single.inverse_dynamics(0.0, x, udot)
    np.testing.assert_allclose(tau, double.inverse_dynamics(0.0, x, udot), rtol=0, atol=1e-4)
    q, u = x[: single.n_q], x[single.n_q :]
    assert single.aba(q, u, tau).dtype == np.float32
    np.testing.assert_allclose(single.aba(q, u, single.rnea(q, u, udot)), udot, rtol=0, atol=1e-3)
    np.testing.assert_allclose(
        single.position(single.points[-1], 0.0, x), double.position(double.points[-1], 0.0, x), atol=1e-5
    )


def test_parameters_and_prepared_constants() -> None:
    double, single = both("rrp")
    assert single.prepared.dtype == np.float32
    np.testing.assert_allclose(single.prepared, double.prepared, rtol=1e-5)
    other = {"m1": 0.1}
    assert single.prepare(other).dtype == np.float32
    x = states("rrp", 1)[0]
    changed = kc.compile(import_module("kanecore.gallery.rrp").build(), real="float")
    changed.parameters = {**dict(single.parameters), **other}
    changed.inputs = dict(single.inputs)
    assert changed.parameters["m1"] == 0.1  # as it was set
    assert np.array_equal(single.rhs(0.0, x, p=other), changed.rhs(0.0, x))


def test_a_workspace() -> None:
    dyn, x = both("wire_particle")[1], states("wire_particle", 1)[0]
    ws = dyn.workspace()
    ws.x, ws.t = x, 0.25
    assert ws.x.dtype == ws.r.dtype == ws.p.dtype == ws.udot.dtype == np.float32
    assert np.array_equal(ws.rhs(), dyn.rhs(0.25, x))
    assert np.array_equal(ws.inverse_dynamics(), dyn.inverse_dynamics(0.25, x, ws.udot))
    name = dyn.parameter_names[0]
    ws.p[name] = 2.0
    assert np.array_equal(ws.rhs(), dyn.rhs(0.25, x, p={name: 2.0}))
    ws.p[0] = np.nan
    with pytest.raises(ValueError, match=name):
        ws.rhs()


def test_the_address_takes_floats() -> None:
    dyn, x = both("rrp")[1], states("rrp", 1)[0]
    numbers = ctypes.POINTER(ctypes.c_float)
    f = ctypes.CFUNCTYPE(None, ctypes.c_double, *[numbers] * 5)(dyn.address("rhs"))
    arrays = [
        x,
        dyn.kernels.values("input").astype(np.float32),
        dyn.prepared,
        np.zeros(dyn.n_work, np.float32),
        np.zeros_like(x),
    ]
    f(0.5, *(a.ctypes.data_as(numbers) for a in arrays))
    assert np.array_equal(arrays[-1], dyn.rhs(0.5, x))


def test_what_fails() -> None:
    """Rows beside a failing one stay; what is lost or overflows has its error, with states in floats."""
    dyn = both("chaplygin_sleigh")[1]
    x = np.repeat(states("chaplygin_sleigh", 1), ENOUGH, axis=0)
    x[5, -1] = np.nan
    assert np.isnan(dyn.rhs(0.0, x)[5]).any()
    x[5] = x[4]
    x[7, -1] = 3e38
    with pytest.raises(kc.NonFiniteError) as caught:
        dyn.rhs(0.0, x)
    assert list(caught.value.rows) == [7]
    assert np.array_equal(caught.value.out[8], dyn.rhs(0.0, x[8]))
    with pytest.raises(kc.SingularError):
        dyn.udot(0.0, np.zeros(dyn.n_x), p=dict.fromkeys(dyn.parameter_names, 0.0))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("simulate", ((0.0, 1.0), [0.0])), ("consistent", (0.0, [0.0])), ("audit", ()), ("equilibrium", ([0.0],))],
)
def test_what_needs_doubles_refuses(name: str, arguments: tuple[Any, ...]) -> None:
    dyn = both("wire_particle")[1]
    with pytest.raises(
        kc.ModelError, match=f"{name} needs the digits of doubles, and 'wire_particle' is compiled with real="
    ):
        getattr(dyn, name)(*arguments)


def test_linearize() -> None:
    dyn, x = both("wire_particle")[1], states("wire_particle", 1)[0]
    out = np.empty((dyn.n_x, dyn.n_x), np.float32), np.empty((dyn.n_x, dyn.n_r), np.float32)
    a, b = dyn.linearize(0.25, x, out=out)
    assert (a is out[0], b is out[1]) == (True, True)
    assert np.array_equal(a, dyn.linearize(0.25, x)[0])
    with pytest.raises(ValueError, match="A of out must be a float32 array"):
        dyn.linearize(0.25, x, out=(a.astype(float), b.astype(float)))
    with pytest.raises(kc.ModelError, match=r"linearize\(minimal=True\) needs the digits of doubles"):
        both("chaplygin_sleigh")[1].linearize(0.25, states("chaplygin_sleigh", 1)[0], minimal=True)


def test_what_cannot_be_compiled() -> None:
    x, u = me.dynamicsymbols("x u")
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    tip = origin.locatenew("P", x * frame.x)
    tip.set_vel(frame, u * frame.x)

    def model(force: sm.Expr, **functions: Any) -> kc.Model:
        body, options = me.Particle("b", tip, 1), {"functions": functions.pop("functions", {})}
        return kc.Model(frame, [x], [u], [x.diff() - u], bodies=[body], forcelist=[(tip, force * frame.x)], **options)

    with pytest.raises(kc.ModelError, match="1e\\+39 is a constant too large for a float"):
        kc.compile(model(-sm.Float(1e39) * x), real="float")
    with pytest.raises(ValueError, match="real is 'half'; it must be one of 'double', 'float'"):
        kc.compile(model(-x), real="half")
    with pytest.raises(ValueError, match="there is no compiler"):
        kc.compile(model(-x), real="float", cc="none")
    street = sm.Function("street")
    given = kc.CFunction(id(street), id(street), id(street))
    with pytest.raises(kc.ModelError, match="calls street by address"):
        kc.compile(model(-street(x), functions={street: given}), real="float")
    knots = np.linspace(-1.0, 1.0, 5)
    spline = kc.compile(model(-street(x), functions={street: kc.Spline(knots, knots**2)}), real="float")
    many = np.linspace(-0.9, 0.9, ENOUGH, dtype=np.float32)[:, np.newaxis] * np.ones(2, dtype=np.float32)
    np.testing.assert_allclose(spline.udot(0.0, many)[:, 0], -(many[:, 0] ** 2), atol=1e-5)


@pytest.mark.long
def test_pickling_keeps_the_type() -> None:
    dyn, x = both("rrp")[1], states("rrp", 1)[0]
    again = pickle.loads(pickle.dumps(dyn))
    assert again.single
    assert np.array_equal(again.rhs(0.0, x), dyn.rhs(0.0, x))
    assert again.info["real"] == "float"


def test_libraries_of_both_types_do_not_mix() -> None:
    double, single = (kc.compile(import_module("kanecore.gallery.kepler").build(), real=r) for r in ("double", "float"))
    path = single.libraries._builder("energies")[0]  # type: ignore[attr-defined, misc]
    with pytest.raises(ImportError, match="holds another model"):
        double.kernels.open(path)


@pytest.mark.parametrize("name", part(["rrp", "four_bar", "rolling_disc", "bricard"], ["rrp"]))
@pytest.mark.parametrize("lanes", [False, True])
def test_no_operation_is_in_doubles(name: str, lanes: bool, tmp_path: Path) -> None:
    """Beside the time of a call: on a microcontroller they would run in software."""
    description = import_module(f"kanecore.gallery.{name}").build().description
    strict = ["-std=gnu99", "-O0", "-Wdouble-promotion", "-Wfloat-conversion", "-Werror", "-Wno-psabi"]
    for group in ("core", "linearize", "constraints"):
        (tmp_path / "single.c").write_text(emit_group(description, group, lanes=lanes, real="float").text)
        command = [*find_compiler(), *strict, "-fsyntax-only", f"-I{include_dir()}", str(tmp_path / "single.c")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="asks for levels of x86-64 by flags of gcc and clang")
@pytest.mark.parametrize("level", part(["-mno-fma -mno-avx512f", "-mno-avx"], ["-mno-avx"]))
def test_other_levels(level: str) -> None:
    """8 floats at once with AVX2, 4 without: the same bits as each state alone."""
    if not subprocess.run(
        [*find_compiler(), *level.split(), "-E", "-"], input="", text=True, capture_output=True
    ).stdout:
        pytest.skip("no such flags here")
    module = import_module("kanecore.gallery.rrp")
    dyn = kc.compile(module.build(), parameters=module.PARAMETERS, real="float", cflags=level)
    x = states("rrp", ENOUGH + 3)
    together = dyn.rhs(0.0, x)
    assert dyn.kernels.lanes[1] in (4, 8)
    assert together.tobytes() == np.array([dyn.rhs(0.0, row) for row in x]).tobytes()
