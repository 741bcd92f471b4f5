# SPDX-License-Identifier: BSD-3-Clause
"""Calls of compiled models, on some that are written by hand in C (tests/cmodels)."""

import ctypes
import gc
import mmap
import os
import pickle
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sweep
import sympy as sm
import sympy.physics.mechanics as me
from numpy.testing import assert_array_equal
from sweep import part
from sympy.physics.mechanics import dynamicsymbols

import kanecore as kc
from kanecore import _library
from kanecore.binding.given_values import symbol_name
from kanecore.build import compile_library
from kanecore.build.c_compiler import find_compiler
from kanecore.compiled_model import CompiledModel
from kanecore.gallery import rolling_disc
from kanecore.kernels import GROUPS, KERNEL_GROUPS

pytestmark = pytest.mark.compiler

VALUES = {"mc": 1.5, "m": 0.4, "l": 0.7, "k": 2.0}
X = np.array([0.3, 0.8, -0.5, 1.2])
UDOT = np.array([0.4, -2.0])
SHAPES = {
    "rhs": (4,),
    "udot": (2,),
    "qdot": (2,),
    "mass_matrix": (2, 2),
    "forcing": (2,),
    "outputs": (2,),
    "partial_velocities": (1, 2, 3),
    "partial_angular_velocities": (0, 2, 3),
    "generalized_active_forces": (2,),
    "kinetic_energy": (),
    "reactions": (2, 6),
}
UDOT_SHAPES = {"generalized_inertia_forces": (2,), "inverse_dynamics": (2,), "power": ()}
SHAPES |= UDOT_SHAPES


@pytest.fixture(scope="session")
def library(root: Path) -> Callable[..., str]:
    """Compiles a C model and returns the path of its library."""

    def compiled(name: str, *cflags: str) -> str:
        text = (root / "tests/cmodels" / f"{name}.c").read_text()
        return compile_library(text, cflags=list(cflags), cache=False, name=name).path

    return compiled


@pytest.fixture(scope="session")
def paths(library: Callable[..., str]) -> dict[str, str]:
    flags = {"all": (), "core": ("-DGROUP_CORE",), "energies": ("-DGROUP_ENERGIES",)}
    return {group: library("cartpole", *defines) for group, defines in flags.items()}


@pytest.fixture(scope="session")
def turntable(library: Callable[..., str]) -> CompiledModel:
    return CompiledModel({"all": library("turntable")}, source={})


@pytest.fixture
def bare(paths: dict[str, str]) -> CompiledModel:
    """The cart and pole as it comes: m, l and the input w were never given."""
    return CompiledModel({"all": paths["all"]}, source={}, origin=(reopened, (paths["all"],)))


@pytest.fixture
def dyn(bare: CompiledModel) -> CompiledModel:
    bare.parameters.update(VALUES)
    bare.inputs.update({"F": 0.25, "w": 0.1})
    return bare


def reopened(path: str) -> CompiledModel:
    return CompiledModel({"all": path}, source={}, origin=(reopened, (path,)))


def arguments(name: str) -> tuple[Any, ...]:
    return (0.0, X, UDOT) if name in UDOT_SHAPES else (0.0, X)


def cartpole_rhs(x: np.ndarray, p: dict[str, float], force: float, w: float) -> np.ndarray:
    c, s = np.cos(x[1]), np.sin(x[1])
    ml = p["m"] * p["l"]
    mass = [[p["mc"] + p["m"], ml * c], [ml * c, ml * p["l"]]]
    f = [force + ml * s * x[3] ** 2, ml * 9.81 * s - p["k"] * (x[1] - w)]
    return np.concatenate([x[2:], np.linalg.solve(mass, f)])


# What a model says of itself ------------------------------------------------------------------------------
def test_sizes_and_names(dyn: CompiledModel) -> None:
    assert (dyn.n_q, dyn.n_u, dyn.n_x, dyn.n_p, dyn.n_r) == (2, 2, 4, 5, 2)
    assert (dyn.n_points, dyn.n_frames, dyn.n_outputs, dyn.n_prepared) == (1, 0, 2, 8)
    assert dyn.n_work == 2
    assert dyn.name == "cart and pole"
    assert dyn.coordinate_names == ("s", "theta")
    assert dyn.speed_names == ("sdot", "thetadot")
    assert dyn.parameter_names == ("mc", "m", "l", "g", "k")
    assert dyn.input_names == ("F", "w")
    assert dyn.output_names == ("ratio", "time")
    assert dyn.points == ("P",)
    assert dyn.frames == ()
    assert (dyn.n_joints, dyn.joints, dyn.unit) == (2, ("cart", "pole"), ())
    assert dyn.info["written"] == "by hand"
    assert dyn.info["sizes"]["n_p"] == 5
    assert repr(dyn) == "<CompiledModel 'cart and pole': 2 coordinates, 2 speeds, 5 parameters, 2 inputs>"
    with pytest.raises(AttributeError):
        dyn.n_q = 3  # type: ignore[misc]


def test_groups_list_every_kernel_once() -> None:
    assert sorted(kernel for kernels in GROUPS.values() for kernel in kernels) == sorted(_library.KERNELS)
    assert tuple(KERNEL_GROUPS) == _library.KERNELS


# Opening --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("flag", part(["-DABI=1u", "-DABI=99u", "-DTABLE_SIZE=64"], ["-DABI=99u", "-DTABLE_SIZE=64"]))
def test_other_abi_is_refused_with_what_to_do(library: Callable[..., str], flag: str) -> None:
    message = rf"version {flag[6:-1]}, .*cache --clear" if "ABI" in flag else "64 bytes.*compile the model again"
    with pytest.raises(ImportError, match=message) as error:
        CompiledModel({"all": library("cartpole", flag)}, source={})
    assert error.value.path is not None


def test_larger_table_is_accepted(library: Callable[..., str]) -> None:
    """The table may grow at its end."""
    assert reopened(library("cartpole", "-DTABLE_SIZE=4096")).n_x == 4


def test_smaller_table_lacks_its_last_kernels(library: Callable[..., str]) -> None:
    """That of an older kanecore, which ended with inverse_dynamics: what lies behind its end is not read."""
    dyn = reopened(library("cartpole", "-DTABLE_SIZE=offsetof(kc_model,kinetic_energy)"))
    whole = reopened(library("cartpole"))
    x, given = np.array([0.1, 0.2, 0.3, 0.4]), {"p": np.ones(dyn.n_p), "r": np.ones(dyn.n_r)}
    assert np.array_equal(dyn.forcing(0.0, x, **given), whole.forcing(0.0, x, **given))
    assert whole.kernels.has("kinetic_energy")
    assert not dyn.kernels.has("kinetic_energy")
    with pytest.raises(kc.ModelError, match="has no kinetic energy"):
        dyn.kinetic_energy(0.0, x, **given)


def test_tables_of_any_size_open_or_are_refused(library: Callable[..., str], tmp_path: Path) -> None:
    """What a table says of its size, altered in the library: no kernel beyond it, and nothing beyond the library."""
    mark = 0x5A5A1234
    binary = Path(library("cartpole", f"-DTABLE_SIZE={mark}")).read_bytes()
    assert binary.count(mark.to_bytes(4, "little")) == 1
    whole = reopened(library("cartpole"))
    held = sum(whole.kernels.has(name) for name in _library.KERNELS)
    counts = []
    for size in [*range(0, 1200, 4 if sweep.LONG else 12), 2**16, 2**31, 2**32 - 1]:
        path = tmp_path / f"{size}.so"
        path.write_bytes(binary.replace(mark.to_bytes(4, "little"), size.to_bytes(4, "little")))
        try:
            dyn = reopened(str(path))
        except ImportError:
            counts.append(-1)
        else:
            counts.append(sum(dyn.kernels.has(name) for name in _library.KERNELS))
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (-1, held)
    assert len(set(counts)) > held / 4  # many have no elements, and need no table


def test_what_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ImportError, match=r"cannot open the compiled model .*absent"):
        reopened(str(tmp_path / "absent.so"))
    text = tmp_path / "text.so"
    text.write_text("not a library")
    with pytest.raises(ImportError, match="cannot open"):
        reopened(str(text))
    plain = compile_library("int f(void); int f(void) { return 0; }", cache=False).path
    with pytest.raises(ImportError, match="kc_get_model"):
        reopened(plain)


def test_missing_extension(tmp_path: Path) -> None:
    """What a broken installation says to whoever loads a model."""
    assert kc.__file__ is not None
    shutil.copytree(Path(kc.__file__).parent, tmp_path / "kanecore", ignore=shutil.ignore_patterns("_library*", "_lib"))
    uses = ("load('rrp')", "CompiledModel", "ABI_VERSION")
    code = "import kanecore as kc\n"
    code += "".join(f"try:\n    kc.{use}\nexcept ImportError as error:\n    print(repr(str(error)))\n" for use in uses)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    said = done.stdout.splitlines()
    assert len(said) == len(uses)
    for words in said:
        assert "needs the extension kanecore._library" in words
        assert "install kanecore (again)" in words


def test_groups_of_different_models_do_not_mix(library: Callable[..., str], paths: dict[str, str]) -> None:
    other = library("cartpole", "-DGROUP_ENERGIES", '-DP0_NAME="M"')
    with pytest.raises(ImportError, match="core library must be opened first"):
        CompiledModel({"core": paths["energies"]}, source={})
    with pytest.raises(ImportError, match="another model than 'cart and pole'"):
        CompiledModel({"core": paths["core"], "energies": other}, source={})


def test_group_is_built_at_first_use(paths: dict[str, str], dyn: CompiledModel) -> None:
    built = []

    def builder(group: str) -> tuple[str, str]:
        built.append(group)
        return paths["energies"], f"C text of {group}"

    lazy = CompiledModel({"core": paths["core"]}, source={"core": "C text of core"}, builder=builder)
    lazy.parameters = dict(dyn.parameters)
    lazy.inputs = dict(dyn.inputs)
    ws = lazy.workspace()
    ws.x = X
    assert_array_equal(ws.rhs(), dyn.rhs(0.0, X))
    assert lazy.n_work == 2
    assert built == []
    assert not lazy.kernels.has("kinetic_energy")
    assert lazy.kinetic_energy(0.0, X) == dyn.kinetic_energy(0.0, X)
    assert built == ["energies"]
    assert lazy.n_work == 64
    assert ws.kinetic_energy() == dyn.kinetic_energy(0.0, X)
    assert_array_equal(ws.rhs(), dyn.rhs(0.0, X))
    lazy.build("energies", "core")
    lazy.build()
    lacks = ("constraints", "auxiliary", "project_gradient")  # it has no constraints, no auxiliary speeds
    assert built == ["energies", *(group for group in GROUPS if group not in ("core", "energies", *lacks))]
    assert lazy.info["kernels"] == [group for group in GROUPS if group not in lacks]
    assert lazy.source == {g: f"C text of {g}" for g in ("core", *built)}
    with pytest.raises(KeyError, match=f"no group 'fluids'; there are {', '.join(GROUPS)}, all"):
        lazy.build("fluids")


def test_kernel_that_the_model_does_not_have(
    dyn: CompiledModel, turntable: CompiledModel, paths: dict[str, str]
) -> None:
    with pytest.raises(kc.ModelError, match="'cart and pole' has no potential energy"):
        dyn.potential_energy(0.0, X)
    with pytest.raises(kc.ModelError, match="'turntable' has no inverse dynamics"):
        turntable.inverse_dynamics(0.0, [0.0, 0.0], [0.0])
    core = CompiledModel({"core": paths["core"]}, source={})
    for call in (lambda: core.reactions(0.0, X), core.workspace().reactions):
        with pytest.raises(kc.ModelError, match=r"'cart and pole' has no reactions: its description defines none, or"):
            call()


def test_kernels_of_no_elements(turntable: CompiledModel) -> None:
    assert turntable.outputs(0.0, np.zeros(2)).shape == (0,)
    assert turntable.outputs(0.0, np.zeros((5, 2))).shape == (5, 0)
    assert turntable.partial_velocities(0.0, np.zeros(2)).shape == (0, 1, 3)
    assert turntable.reactions(0.0, np.zeros((5, 2))).shape == (5, 0, 6)
    assert turntable.reactions(0.0, np.zeros(2), named=True) == {}


# Results --------------------------------------------------------------------------------------------------
def test_results(dyn: CompiledModel) -> None:
    np.testing.assert_allclose(dyn.rhs(0.0, X), cartpole_rhs(X, VALUES, 0.25, 0.1), rtol=1e-13)
    assert_array_equal(dyn.udot(0.0, X), dyn.rhs(0.0, X)[2:])
    assert_array_equal(dyn.qdot(0.0, X), X[2:])
    M, f = dyn.mass_matrix(0.0, X), dyn.forcing(0.0, X)
    np.testing.assert_allclose(M @ dyn.udot(0.0, X), f, rtol=1e-13)
    np.testing.assert_allclose(dyn.inverse_dynamics(0.0, X, UDOT), M @ UDOT - f, rtol=1e-13)
    total = dyn.generalized_active_forces(0.0, X) + dyn.generalized_inertia_forces(0.0, X, UDOT)
    np.testing.assert_allclose(total, f - M @ UDOT, rtol=1e-13)
    assert dyn.kinetic_energy(0.0, X) == pytest.approx(0.5 * X[2:] @ M @ X[2:], rel=1e-14)
    assert dyn.outputs(3.0, X)[1] == 3.0
    assert_array_equal(dyn.partial_velocities(3.0, X, remainder=True), [[3.0, 0.0, 0.0]])
    assert dyn.partial_angular_velocities(3.0, X, remainder=True).shape == (0, 3)


def test_reactions(dyn: CompiledModel) -> None:
    """The pole pulls at its mass with m a - G; at the rail this, and what moves the cart, balance F (Newton's law)."""
    xdot, h = dyn.rhs(0.0, X), 1e-5
    m, length, g = VALUES["m"], VALUES["l"], dyn.parameters["g"]

    def velocity(x: np.ndarray) -> np.ndarray:
        return np.array([x[2] + length * np.cos(x[1]) * x[3], -length * np.sin(x[1]) * x[3]])

    acceleration = (velocity(X + h * xdot) - velocity(X - h * xdot)) / (2.0 * h)
    fx, fy = m * (acceleration + np.array([0.0, g]))
    cart = [VALUES["mc"] * xdot[2] + fx - 0.25, fy + VALUES["mc"] * g, 0.0, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(dyn.reactions(0.0, X), [cart, [fx, fy, 0.0, 0.0, 0.0, 0.0]], atol=1e-9)


def test_reactions_by_name(dyn: CompiledModel) -> None:
    batch = np.linspace(0.5, 1.0, 3)[:, np.newaxis] * X
    expected, out = dyn.reactions(0.0, batch), np.empty((3, 2, 6))
    named = dyn.reactions(0.0, batch, named=True, out=out)
    assert list(named) == ["cart", "pole"]
    for i, name in enumerate(named):
        assert_array_equal(named[name], expected[:, i])
        assert np.shares_memory(named[name], out)
    first = dyn.reactions(0.0, X, named=True)
    assert {name: wrench.shape for name, wrench in first.items()} == {"cart": (6,), "pole": (6,)}
    assert not np.shares_memory(first["pole"], dyn.reactions(0.0, X, named=True)["pole"])


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(dyn: CompiledModel, name: str) -> None:
    kernel = getattr(dyn, name)
    single = kernel(*arguments(name))
    assert np.shape(single) == SHAPES[name]
    if SHAPES[name] == ():
        assert type(single) is float
    out = np.full(SHAPES[name], np.pi)
    assert kernel(*arguments(name), out=out) is out
    assert_array_equal(out, single)
    # Through the general path: lists, integers, a 0-d time.
    general = kernel(np.float32(0.0), *(a.tolist() for a in arguments(name)[1:]))
    assert_array_equal(general, single)
    batch = kernel(np.zeros((3, 1)), *(np.tile(a, (2, 1)) for a in arguments(name)[1:]))
    assert batch.shape == (3, 2, *SHAPES[name])
    assert_array_equal(batch, np.broadcast_to(single, batch.shape))
    assert kernel(0.0, *(a[np.newaxis][:0] for a in arguments(name)[1:])).shape == (0, *SHAPES[name])


def test_results_share_no_memory(dyn: CompiledModel) -> None:
    first = dyn.rhs(0.0, X)
    kept = first.copy()
    dyn.rhs(0.0, 2.0 * X)
    assert_array_equal(first, kept)


@pytest.mark.parametrize(
    "x",
    [
        np.repeat(X, 2)[::2],
        X.astype(">f8"),
        np.asfortranarray(np.tile(X, (3, 1)))[1],
        X.tolist(),
        tuple(X),
        np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64),
    ],
    ids=["strided", "byte order", "column", "list", "tuple", "unaligned"],
)
@pytest.mark.parametrize("t", [0.0, 0, np.float64(0.0), np.array(0.0), np.int32(0)])
def test_whatever_numpy_would_take(dyn: CompiledModel, x: Any, t: Any) -> None:
    assert_array_equal(dyn.rhs(t, x), dyn.rhs(0.0, X))


def test_inputs_and_parameters_of_one_call(dyn: CompiledModel) -> None:
    expected = cartpole_rhs(X, {**VALUES, "m": 0.9}, -3.0, 0.1)
    r, p = np.array([-3.0, 0.1]), np.array([1.5, 0.9, 0.7, 9.81, 2.0])
    before = dyn.rhs(0.0, X)
    out = np.empty(4)
    m, force = sm.Symbol("m", positive=True), dynamicsymbols("F")
    for inputs in (r, list(r), {"F": -3}, {force: -3.0}):
        for parameters in (p, tuple(p), {"m": 0.9}, {m: sm.Float(0.9).__float__()}):
            result = dyn.rhs(0.0, X, r=inputs, p=parameters, out=out)
            assert result is out
            np.testing.assert_allclose(result, expected, rtol=1e-13)
            assert_array_equal(dyn.rhs(0.0, X, r=inputs, p=parameters), out)
    assert_array_equal(dyn.rhs(0.0, X, r={}, p={}), before)
    assert_array_equal(dyn.rhs(0.0, X), before)


def test_broadcasting_is_the_loop_to_the_bit(dyn: CompiledModel) -> None:
    rng = np.random.default_rng(1)
    t, x, udot = rng.normal(size=(3, 1)), rng.normal(size=(5, 4)), rng.normal(size=(2, 1, 1, 2))
    r, p = rng.normal(size=(3, 5, 2)), rng.uniform(1.0, 2.0, size=(2, 1, 5, 5))
    for name in SHAPES:
        kernel = getattr(dyn, name)
        last = (udot,) if name in UDOT_SHAPES else ()
        result = kernel(t, x, *last, r=r, p=p)
        assert result.shape == (2, 3, 5, *SHAPES[name])
        out = np.empty(result.shape)
        assert kernel(t, x, *last, r=r, p=p, out=out) is out
        assert_array_equal(result, out)
        for i, j, k in np.ndindex(2, 3, 5):
            args = (float(t[j, 0]), x[k], *(u[i, 0, 0] for u in last))
            assert_array_equal(result[i, j, k], kernel(*args, r=r[j, k], p=p[i, 0, k]))


def test_mapping_of_arrays_sweeps(dyn: CompiledModel) -> None:
    masses = np.linspace(0.1, 1.0, 7)
    result = dyn.rhs(0.0, X, p={"m": masses}, r={"F": masses[:, np.newaxis] + np.arange(7)})
    assert result.shape == (7, 7, 4)
    assert_array_equal(result[4, 2], dyn.rhs(0.0, X, p={"m": masses[2]}, r={"F": masses[4] + 2.0}))


def test_strided_batch_is_read_in_place(dyn: CompiledModel) -> None:
    trajectory = np.random.default_rng(2).normal(size=(6, 10))
    assert_array_equal(dyn.rhs(0.0, trajectory[::2, 3:7]), dyn.rhs(0.0, trajectory[::2, 3:7].copy()))
    assert_array_equal(dyn.rhs(0.0, trajectory.T[:4].T), dyn.rhs(0.0, trajectory[:, :4].copy()))


def test_two_threads_give_the_bits_of_one(dyn: CompiledModel) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(2000, 4))
    expected = dyn.rhs(0.0, x)

    def single(rows: range) -> np.ndarray:
        return np.array([dyn.rhs(0.0, x[i]) for i in rows])

    def batch(rows: range) -> np.ndarray:
        return dyn.rhs(0.0, x[rows.start : rows.stop])

    for work in (single, batch):
        with ThreadPoolExecutor(2) as pool:
            halves = list(pool.map(work, (range(1000), range(1000, 2000))))
        assert_array_equal(np.concatenate(halves), expected)


def test_setting_parameters_beside_calls_gives_the_old_or_the_new(dyn: CompiledModel) -> None:
    """Never half of each."""
    x = np.tile(X, (300, 1))
    choices = [{"m": 0.4, "l": 0.7}, {"m": 0.9, "l": 1.1}]
    expected = []
    for choice in choices:
        dyn.parameters.update(choice)
        expected.append(dyn.rhs(0.0, X).tobytes())

    def evaluate() -> set[bytes]:
        seen = set()
        for _ in range(300):
            result = dyn.rhs(0.0, x)
            assert (result == result[0]).all()
            seen.add(result[0].tobytes())
        return seen

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(evaluate)
        i = 0
        while not future.done():
            dyn.parameters.update(choices[i % 2])
            i += 1
    assert future.result() <= set(expected)


# Parameters and inputs ------------------------------------------------------------------------------------
def test_values_never_given_are_named(bare: CompiledModel) -> None:
    out = np.empty(4)
    for call in (lambda: bare.rhs(0.0, X), lambda: bare.rhs(0.0, X, out=out), lambda: bare.prepared):
        with pytest.raises(ValueError, match=r"parameters 'm', 'l' of .* write dyn.parameters\['m'\] ="):
            call()
    with pytest.raises(ValueError, match="parameter 'l' of"):
        bare.rhs(0.0, X, p={"m": 1.0})
    bare.parameters.update(m=1.0, l=1.0)
    with pytest.raises(ValueError, match=r"input 'w' of .* never set: write dyn.inputs\['w'\] = "):
        bare.rhs(0.0, X)
    with pytest.raises(ValueError, match="input 'w'"):
        bare.rhs(0.0, X, r={"F": 1.0})
    bare.rhs(0.0, X, r={"w": 1.0})
    bare.inputs["w"] = 0.0
    bare.rhs(0.0, X)


def test_explicit_values_need_no_current_ones(bare: CompiledModel) -> None:
    p, r = np.ones(5), np.ones(2)
    assert_array_equal(bare.rhs(0.0, X, p=p, r=r), bare.rhs(0.0, [X], p=p, r=r)[0])


def test_live_mappings(dyn: CompiledModel) -> None:
    m, force = sm.Symbol("m"), dynamicsymbols("F")
    assert list(dyn.parameters) == list(dyn.parameter_names)
    assert dict(dyn.inputs) == {"F": 0.25, "w": 0.1}
    assert repr(dyn.inputs) == "{'F': 0.25, 'w': 0.1}"
    assert dyn.parameters[m] == dyn.parameters["m"] == 0.4
    assert m in dyn.parameters
    assert "mass" not in dyn.parameters
    dyn.parameters[m] = 0.8
    dyn.inputs[force] = 2
    assert (dyn.parameters["m"], dyn.inputs["F"]) == (0.8, 2.0)
    np.testing.assert_allclose(dyn.rhs(0.0, X), cartpole_rhs(X, {**VALUES, "m": 0.8}, 2.0, 0.1), rtol=1e-13)
    with pytest.raises(TypeError, match="set, not removed"):
        del dyn.parameters["m"]


def test_rates_of_inputs_are_known_by_their_derivatives() -> None:
    angle, t = dynamicsymbols("theta"), dynamicsymbols._t
    assert symbol_name(angle.diff(t)) == "theta_d"
    assert symbol_name(angle.diff(t, 2)) == "theta_dd"
    for wrong in (3, None, angle + 1):
        with pytest.raises(KeyError, match="neither a name nor a symbol"):
            symbol_name(wrong)


@pytest.mark.parametrize("values", [{"m": 3.0, "mass": 1.0}, {"m": 3.0, "l": np.nan}])
def test_update_is_all_or_nothing(dyn: CompiledModel, values: dict[str, float]) -> None:
    before = dict(dyn.parameters)
    with pytest.raises((KeyError, ValueError)):
        dyn.parameters.update(values)
    assert dict(dyn.parameters) == before


def test_wrong_names_and_values(dyn: CompiledModel) -> None:
    with pytest.raises(KeyError, match="no parameter of 'cart and pole' is called 'mcc'; did you mean 'mc'"):
        dyn.parameters["mcc"] = 1.0
    with pytest.raises(KeyError, match="there are 'F', 'w'"):
        dyn.rhs(0.0, X, r={"torque": 1.0})
    with pytest.raises(ValueError, match="parameter 'm' must be one finite number, got nan"):
        dyn.parameters["m"] = np.nan
    with pytest.raises(ValueError, match="input 'F' must be one finite number"):
        dyn.inputs["F"] = np.inf
    with pytest.raises(ValueError, match="one finite number"):
        dyn.parameters["m"] = [1.0, 2.0]
    for wrong in (1j, "1.0", None, sm.Symbol("x"), sm.I, [1.0, "2"], kc.Signal([0, 1], [0, 1])):
        with pytest.raises(TypeError, match="parameter 'm' must be a real number, got "):
            dyn.parameters["m"] = wrong
        with pytest.raises(TypeError, match=r"r\['F'\] must be a real number, got "):
            dyn.rhs(0.0, X, r={"F": wrong})
    with pytest.raises(ValueError, match=r"p\['m'\] is not an array of numbers"):
        dyn.rhs(0.0, X, p={"m": [[1.0], [1.0, 2.0]]})
    with pytest.raises(TypeError, match=r"dyn.parameters takes a mapping, such as \{'mc': 1.0\}, not \[1, 2\]"):
        dyn.parameters = [1, 2]  # type: ignore[assignment]
    with pytest.raises(TypeError, match=r"dyn.inputs takes a mapping"):
        dyn.inputs = 3.0  # type: ignore[assignment]
    with pytest.raises(ValueError, match="parameter 'l' is not finite in p"):
        dyn.rhs(0.0, X, p=np.array([1.0, 1.0, np.nan, 1.0, 1.0]))
    with pytest.raises(ValueError, match="parameter 'g' is not finite in p"):
        dyn.rhs(0.0, X, p={"g": [9.8, np.inf]})


@pytest.mark.parametrize("half", [sm.Rational(1, 2), Fraction(1, 2), Decimal("0.5"), np.float32(0.5), np.array(0.5)])
def test_numbers_of_other_packages(dyn: CompiledModel, half: Any) -> None:
    expected = dyn.rhs(0.0, X, p={"m": 0.5}, r={"F": 0.5})
    assert_array_equal(dyn.rhs(0.0, X, p={"m": half}, r={"F": half}), expected)
    assert_array_equal(dyn.rhs(0.0, X, p={"m": [half, 1]}, r={"F": [half, 1]})[0], expected)
    dyn.parameters[sm.Symbol("m")] = half
    dyn.inputs["F"] = half
    assert_array_equal(dyn.rhs(0.0, X), expected)


def test_baked_parameters_say_so(paths: dict[str, str]) -> None:
    dyn = CompiledModel({"all": paths["all"]}, source={}, info={"baked": ["radius"]})
    for wrong in (lambda: dyn.parameters.update(radius=1.0), lambda: dyn.rhs(0.0, X, p={"radius": 1.0})):
        with pytest.raises(KeyError, match=r"'radius' of 'cart and pole' was baked .* bake=False"):
            wrong()


@pytest.fixture(scope="module")
def circle() -> CompiledModel:
    """A particle of mass 1 on the unit circle: no parameter, and a prepared constant all the same."""
    q, u = dynamicsymbols("q:2"), dynamicsymbols("u:2")
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    point = origin.locatenew("P", q[0] * frame.x + q[1] * frame.y)
    model = kc.Model(
        *(frame, q, u, [q[i].diff() - u[i] for i in range(2)]),
        configuration_constraints=[q[0] ** 2 + q[1] ** 2 - 1],
        bodies=[me.Particle("P", point, sm.Integer(1))],
    )
    return kc.compile(model)


@pytest.mark.parametrize("shape", [(5, 0), (0,), (2, 3, 0), (0, 0), (5, 0, 0)])
def test_prepared_without_parameters(turntable: CompiledModel, circle: CompiledModel, shape: tuple[int, ...]) -> None:
    assert circle.n_prepared > 0
    for dyn in (turntable, circle):
        assert dyn.n_p == 0
        rows = int(np.prod(shape[:-1]))
        np.full(max(rows, 1), 7.0)  # memory that holds something, for what is not written
        assert_array_equal(dyn.prepare(np.zeros(shape)), np.broadcast_to(dyn.prepared, (*shape[:-1], dyn.n_prepared)))


def test_prepared(dyn: CompiledModel) -> None:
    c = dyn.prepared
    assert_array_equal(c, [1.5, 0.4, 0.7, 9.81, 2.0, 0.4 * 0.7, 0.4 * 0.7 * 0.7, 0.4 * 9.81 * 0.7])
    c[:] = 0.0
    assert dyn.prepared[0] == 1.5
    assert_array_equal(dyn.prepare({"mc": 2.0})[:1], [2.0])
    assert_array_equal(dyn.prepare(np.ones((2, 3, 5))), np.ones((2, 3, 8)) * dyn.prepare(np.ones(5)))


# Errors ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda d: d.rhs(0.0, X[:3]), ValueError, "x has shape (3,), expected (..., 4): coordinates, then"),
        (lambda d: d.rhs(0.0, 1.0), ValueError, "x has shape ()"),
        (lambda d: d.rhs(0.0, X * 1j), TypeError, "x must be real numbers, got dtype complex128"),
        (lambda d: d.rhs(0.0, [sm.Integer(1)] * 4), TypeError, "x must be real numbers, got dtype object"),
        (lambda d: d.rhs(0.0, ["a"] * 4), TypeError, "x must be real numbers"),
        (lambda d: d.rhs(0.0, [[1.0], [1.0, 2.0]]), ValueError, "x is not an array of numbers"),
        (lambda d: d.rhs(0.0, None), TypeError, "x must be real numbers"),
        (lambda d: d.rhs("now", X), TypeError, "t must be real numbers"),
        (lambda d: d.rhs(1j, X), TypeError, "t must be real numbers"),
        (lambda d: d.rhs(0.0, X, r=[1.0]), ValueError, "r has shape (1,), expected (..., 2): inputs F, w"),
        (lambda d: d.rhs(0.0, X, p=np.ones(4)), ValueError, "p has shape (4,), expected (..., 5): parameters m"),
        (lambda d: d.rhs(0.0, X, r=3.0), ValueError, "r has shape ()"),
        (lambda d: d.power(0.0, X, UDOT[:1]), ValueError, "udot has shape (1,), expected (..., 2)"),
        (lambda d: d.power(0.0, X, None), TypeError, "udot must be real numbers"),
        (lambda d: d.rhs([0.0, 1.0], [X] * 3), ValueError, "leading axes do not broadcast: t (2,), x (3,)"),
        (lambda d: d.address("rsh"), KeyError, "no kernel 'rsh'; did you mean 'rhs'"),
    ],
)
def test_wrong_arguments_are_named(
    dyn: CompiledModel, call: Callable[[CompiledModel], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call(dyn)


def read_only() -> np.ndarray:
    array = np.empty(4)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.empty(3), ValueError, r"out has shape (3,), expected (4,)"),
        (np.empty((1, 4)), ValueError, r"out has shape (1, 4), expected (4,)"),
        (np.empty(4, np.float32), TypeError, "out must be of dtype float64, got float32"),
        (np.empty(4, ">f8"), TypeError, "out must be of dtype float64, got >f8"),
        (np.empty(8)[::2], ValueError, "out must be C-contiguous"),
        (np.empty(33, np.uint8)[1:].view(np.float64), ValueError, "aligned"),
        (read_only(), ValueError, "out is read-only"),
        ([0.0] * 4, TypeError, "out must be an ndarray, got list"),
    ],
)
def test_wrong_out(dyn: CompiledModel, out: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        dyn.rhs(0.0, X, out=out)


@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 3])
def test_out_may_not_overlap_an_argument(dyn: CompiledModel, shift: int) -> None:
    memory = np.ones(24)
    out = memory[8:12]
    x = memory[8 + shift : 12 + shift]
    with pytest.raises(ValueError, match="out may not overlap x"):
        dyn.rhs(0.0, x, out=out)
    with pytest.raises(ValueError, match="out may not overlap x"):
        dyn.rhs([0.0], x, out=out.reshape(1, 4))
    with pytest.raises(ValueError, match="out may not overlap r"):
        dyn.rhs(0.0, X, r=memory[10:12], out=out)
    with pytest.raises(ValueError, match="out may not overlap p"):
        dyn.rhs(0.0, X, p=memory[4:9], out=out)
    with pytest.raises(ValueError, match="out may not overlap udot"):
        dyn.inverse_dynamics(0.0, X, memory[9:11], out=memory[8:10])
    dyn.rhs(0.0, memory[4:8], out=out)
    dyn.rhs(0.0, memory[12:16], out=out)


class Interface:
    """An array handed over by its interface alone."""

    def __init__(self, array: np.ndarray) -> None:
        self.__array_interface__ = array.__array_interface__
        self.array = array


class Method:
    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.array


def as_ctypes(array: np.ndarray) -> Any:
    return (ctypes.c_double * array.size).from_buffer(array)


@pytest.mark.parametrize("disguise", [memoryview, Interface, Method, as_ctypes, np.matrix.view, np.ndarray.view])
def test_out_may_not_overlap_what_an_argument_becomes(dyn: CompiledModel, disguise: Any) -> None:
    memory = np.ones(24)
    out, near = memory[8:12], memory[9:13]
    single = near.reshape(-1, 4) if disguise is np.matrix.view else near
    for x in (disguise(single), disguise(out.reshape(1, 4)) if disguise is not as_ctypes else as_ctypes(out)):
        with pytest.raises(ValueError, match="out may not overlap x"):
            dyn.rhs(np.zeros(np.asarray(x).shape[:-1]), x, out=out.reshape(np.asarray(x).shape))
    if disguise is np.matrix.view:
        return
    with pytest.raises(ValueError, match="out may not overlap r"):
        dyn.rhs(0.0, X, r=disguise(memory[10:12]), out=out)
    with pytest.raises(ValueError, match="out may not overlap p"):
        dyn.rhs(0.0, X, p=disguise(memory[4:9]), out=out)
    with pytest.raises(ValueError, match="out may not overlap udot"):
        dyn.inverse_dynamics(0.0, X, disguise(memory[9:11]), out=memory[8:10])
    if disguise is not as_ctypes:
        with pytest.raises(ValueError, match="out may not overlap t"):
            dyn.kinetic_energy(disguise(memory[:3]), np.tile(X, (3, 1)), out=memory[2:5])
    expected = dyn.rhs(0.0, memory[12:16])
    assert_array_equal(dyn.rhs(0.0, disguise(memory[12:16]), out=out), expected)


def test_out_may_overlap_what_is_copied_first(dyn: CompiledModel) -> None:
    memory = np.tile(X, (2, 1))
    expected = dyn.rhs(0.0, memory)
    assert_array_equal(dyn.rhs(0.0, [memory[1], memory[0]], out=memory), expected)
    memory[:] = X
    heavy = dyn.rhs(0.0, [X, X], p={"m": X[0] + 1})
    assert_array_equal(dyn.rhs(0.0, X, p={"m": memory[:, 0] + 1.0}, out=memory), heavy)
    memory[:] = X
    assert_array_equal(dyn.rhs(0.0, memory.astype(np.float32), out=memory), dyn.rhs(0.0, [X.astype(np.float32)] * 2))


def test_out_may_not_overlap_a_map_of_memory(dyn: CompiledModel) -> None:
    memory = mmap.mmap(-1, 256)
    both = np.frombuffer(memory, dtype=np.float64)
    both[:] = 1.0
    with pytest.raises(ValueError, match="out may not overlap x"):
        dyn.rhs(0.0, both[:4], out=both[2:6])
    with pytest.raises(ValueError, match="out may not overlap x"):
        dyn.rhs(0.0, memoryview(memory)[:32].cast("d"), out=both[3:7])


@pytest.mark.parametrize("n", [33, 34, 48, 63, 64])
def test_more_axes_than_numpy_broadcasts(dyn: CompiledModel, n: int) -> None:
    try:
        x = np.broadcast_to(X, (1,) * n + X.shape) if n < 64 else np.broadcast_to(X, (1,) * 63 + X.shape)
    except ValueError:  # NumPy 1
        return
    many = np.zeros(x.shape[:-1])
    for name in SHAPES:
        last = (UDOT,) if name in UDOT_SHAPES else ()
        for t in (0.0, many):
            with pytest.raises(ValueError, match=r"dimension"):
                getattr(dyn, name)(t, x, *last)
        with pytest.raises(ValueError, match=r"dimension"):
            getattr(dyn, name)(many, X, *last)
        with pytest.raises(ValueError, match=r"dimension"):
            getattr(dyn, name)(0.0, X, *last, p={"m": many + 1.0})
    with pytest.raises(ValueError, match=r"dimension"):
        dyn.aba(x[..., :2], X[2:], UDOT)
    with pytest.raises(ValueError, match=r"dimension"):
        dyn.aba(X[:2], X[2:], x[..., :2])


def test_as_many_axes_as_numpy_broadcasts(dyn: CompiledModel) -> None:
    x = np.broadcast_to(X, (1,) * 28 + (2, 4))
    for name in SHAPES.keys() - UDOT_SHAPES.keys():
        result = getattr(dyn, name)(0.0, x)
        assert result.shape == (1,) * 28 + (2, *SHAPES[name])
        assert_array_equal(result[(0,) * 28 + (1,)], getattr(dyn, name)(0.0, X))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_arguments_that_are_not_finite_give_nan(dyn: CompiledModel, bad: float) -> None:
    x = X.copy()
    x[1] = bad
    assert np.isnan(dyn.rhs(0.0, x)).all()
    assert np.isnan(dyn.rhs(0.0, [x, X])[0]).all()
    assert_array_equal(dyn.rhs(0.0, [x, X])[1], dyn.rhs(0.0, X))
    assert not np.isfinite(dyn.udot(0.0, X, r=np.array([bad, 0.0]))).any()
    assert not np.isfinite(dyn.udot(0.0, [X], r={"F": bad})).any()
    assert not np.isfinite(dyn.outputs(bad, X)[1])
    assert not np.isfinite(dyn.power(0.0, X, np.array([bad, 0.0])))


def test_one_number_that_is_not_finite() -> None:
    """Wherever it stands in the result; the largest finite ones pass."""
    t = me.dynamicsymbols._t
    (q,), (u,), N = me.dynamicsymbols("q:1"), me.dynamicsymbols("u:1"), me.ReferenceFrame("N")
    point, most = me.Point("P"), np.finfo(float).max
    point.set_vel(N, u * N.x)
    factors = sm.symbols("a:11")
    outputs = {f"y{i}": a * q for i, a in enumerate(factors)}
    model = kc.Model(N, [q], [u], [q.diff(t) - u], bodies=[me.Particle("p", point, 1)], outputs=outputs)
    dyn, x = kc.compile(model), np.array([-2.0, 0.0])
    p = np.full(11, most / 2)
    assert_array_equal(dyn.outputs(0.0, x, p=p), np.full(11, -most))
    for k in range(11):
        p[:] = 1.0
        p[k] = most
        with pytest.raises(kc.NonFiniteError, match=r"outputs of .* is not finite"):
            dyn.outputs(0.0, x, p=p)


def test_singular_mass_matrix(dyn: CompiledModel) -> None:
    x = np.array([0.3, 0.0, -0.5, 1.2])
    p = {"mc": 0.0}
    with pytest.raises(kc.SingularError, match=r"rhs: .* singular at t = 2.0, x = .*'sdot'.*gimbal lock") as e:
        dyn.rhs(2.0, x, p=p)
    assert (e.value.t, e.value.row, e.value.rows, e.value.out) == (2.0, 0, None, None)
    assert_array_equal(e.value.x, x)
    with pytest.raises(kc.SingularError, match=r"udot: .*speed 'thetadot'"):
        dyn.udot(0.0, x, p=np.array([1.0, 1.0, 0.0, 9.81, 0.0]))
    with pytest.raises(kc.SingularError, match=r"reactions: .* row 1: .*speed 'sdot'"):
        dyn.reactions(0.0, [X, x], p=p, named=True)


def test_singular_rows_of_a_batch(dyn: CompiledModel) -> None:
    dyn.parameters["mc"] = 0.0
    x = np.tile(X, (2, 3, 1))
    x[0, 2, 1] = x[1, 1, 1] = 0.0
    x[1, 0, 0] = np.nan  # its own NaN, and no error: s is in no equation
    out = np.empty((2, 3, 4))
    with pytest.raises(kc.SingularError, match="2 rows in all, the first 2") as error:
        dyn.rhs(np.arange(2.0)[:, np.newaxis], x, out=out)
    assert_array_equal(error.value.rows, [2, 4])
    assert error.value.out is out
    assert (error.value.t, error.value.row) == (0.0, 0)
    assert_array_equal(error.value.x, x[0, 2])
    rows = out.reshape(6, 4)
    assert np.isnan(rows[[2, 4]]).all()
    assert_array_equal(rows[[0, 1, 3, 5]], np.tile(dyn.rhs(0.0, X), (4, 1)))


def test_result_that_is_not_finite(dyn: CompiledModel) -> None:
    x = X.copy()
    x[3] = 1e200
    message = r"rhs of 'cart and pole' is not finite at t = 0.0, x = .*1e\+200.*overflow"
    with pytest.raises(FloatingPointError, match=message) as single:
        dyn.rhs(0.0, x)
    assert isinstance(single.value, kc.NonFiniteError)
    assert (single.value.t, single.value.rows, single.value.out) == (0.0, None, None)
    assert_array_equal(single.value.x, x)
    with pytest.raises(kc.NonFiniteError, match="row 1") as batch:
        dyn.rhs([0.0, 2.0], [X, x])
    assert batch.value.t == 2.0
    assert_array_equal(batch.value.x, x)
    assert_array_equal(batch.value.rows, [1])
    assert_array_equal(batch.value.out[0], dyn.rhs(0.0, X))
    again = pickle.loads(pickle.dumps(batch.value))
    assert (str(again), again.t) == (str(batch.value), 2.0)


# Workspace ------------------------------------------------------------------------------------------------
def test_workspace(dyn: CompiledModel) -> None:
    ws = dyn.workspace()
    ws.t, ws.x, ws.r = 2.0, X, {"F": 0.5}
    result = ws.rhs()
    assert result is ws.xdot
    assert_array_equal(result, dyn.rhs(2.0, X, r={"F": 0.5}))
    assert_array_equal(np.concatenate([ws.qdot, ws.udot]), ws.xdot)
    assert np.shares_memory(ws.udot, ws.xdot)
    assert ws.mass_matrix() is ws.M
    assert_array_equal(ws.M, dyn.mass_matrix(2.0, X))
    assert ws.forcing() is ws.f
    assert_array_equal(ws.f, dyn.forcing(2.0, X, r={"F": 0.5}))
    np.testing.assert_allclose(ws.inverse_dynamics(), 0.0, atol=1e-14)
    ws.udot = UDOT
    for name in SHAPES.keys() - {"rhs", "udot", "qdot"}:
        last = (UDOT,) if name in UDOT_SHAPES else ()
        expected = getattr(dyn, name)(2.0, X, *last, r={"F": 0.5})
        assert_array_equal(getattr(ws, name)(), expected)
        if SHAPES[name]:
            assert getattr(ws, name)() is getattr(ws, name)()
    x = ws.x
    x[1] = 0.2
    assert ws.x is x
    assert_array_equal(ws.rhs(), dyn.rhs(2.0, x, r={"F": 0.5}))


def test_memory_of_a_workspace_stays(dyn: CompiledModel) -> None:
    """Nothing that is done to its arrays, or to what they stand on, takes the memory from under C."""
    ws = dyn.workspace()
    ws.x = X
    expected = ws.rhs().copy()
    arrays = [ws.x, ws.r, ws.p, ws.xdot, ws.qdot, ws.udot, ws.M, ws.f, ws.outputs(), ws.partial_velocities()]
    for array in arrays:
        while isinstance(array, np.ndarray):
            assert not array.flags.owndata
            with pytest.raises(ValueError, match="own"):
                array.resize(1 << 20, refcheck=False)
            array = array.base
        assert not hasattr(array, "resize")
    for array in (ws.M, ws.f, ws.xdot):
        array.__setstate__((1, (2,), np.dtype(float), False, bytes(16)))  # it stands on other memory now
    gc.collect(0)
    assert [np.empty(500) for _ in range(100)]
    ws.rhs(), ws.mass_matrix(), ws.forcing()
    assert_array_equal(np.concatenate([ws.qdot, ws.udot]), expected)
    ws.x.__setstate__((1, (4,), np.dtype(float), False, bytes(32)))
    gc.collect(0)
    ws.rhs()
    assert_array_equal(ws.udot, expected[2:])  # C still reads where x was


def test_results_outlive_a_workspace(dyn: CompiledModel) -> None:
    ws = dyn.workspace()
    ws.x = X
    xdot, outputs = ws.rhs(), ws.outputs()
    expected = xdot.copy(), outputs.copy()
    del ws
    gc.collect(0)
    assert [np.full(4, 7.0) for _ in range(1000)]
    assert_array_equal(xdot, expected[0])
    assert_array_equal(outputs, expected[1])


def test_workspace_results_are_nan_until_written(dyn: CompiledModel) -> None:
    ws = dyn.workspace()
    ws.x = X
    assert repr(ws) == "<Workspace of 'cart and pole' at t = 0: x (4,), r (2,), p (5,)>"
    for result in (ws.xdot, ws.qdot, ws.udot, ws.M, ws.f):
        assert np.isnan(result).all()
    assert np.isnan(ws.inverse_dynamics()).all()
    assert np.isnan(ws.power())
    ws.udot = UDOT
    assert_array_equal(ws.inverse_dynamics(), dyn.inverse_dynamics(0.0, X, UDOT))
    assert np.isnan(ws.qdot).all()


def test_workspace_sees_changed_parameters(dyn: CompiledModel) -> None:
    ws = dyn.workspace()
    ws.x = X
    ws.rhs()
    ws.p[1] = 0.9
    assert_array_equal(ws.rhs(), dyn.rhs(0.0, X, p={"m": 0.9}))
    ws.p = {"l": 1.3}
    assert_array_equal(ws.rhs(), dyn.rhs(0.0, X, p={"l": 1.3}))
    ws.p[0] = np.nan
    for _ in range(2):
        with pytest.raises(ValueError, match="parameter 'mc' is not finite"):
            ws.rhs()
    ws.p[0] = 1.5
    assert np.isfinite(ws.rhs()).all()
    dyn.parameters["m"] = 0.1
    assert ws.p[1] == 0.4


def test_workspace_errors(bare: CompiledModel) -> None:
    ws = bare.workspace()
    with pytest.raises(ValueError, match="parameters 'm', 'l'"):
        ws.rhs()
    ws.p = {"m": 1.0, "l": 1.0}
    with pytest.raises(ValueError, match="input 'w'"):
        ws.rhs()
    ws.r[:] = 0.0
    ws.rhs()
    with pytest.raises(ValueError, match=r"x has shape \(3,\)"):
        ws.x = X[:3]
    with pytest.raises(TypeError):
        ws.t = "now"  # type: ignore[assignment]
    ws.p[:] = [0.0, 1.0, 1.0, 9.81, 0.0]
    with pytest.raises(kc.SingularError, match="'sdot'"):
        ws.rhs()
    ws.x[0] = np.nan
    assert np.isnan(ws.rhs()).all()
    with pytest.raises(kc.ModelError, match="potential energy"):
        ws.potential_energy()


# Other code -----------------------------------------------------------------------------------------------
def test_address_is_the_c_function(dyn: CompiledModel) -> None:
    double_p = ctypes.POINTER(ctypes.c_double)
    function = ctypes.CFUNCTYPE(None, ctypes.c_double, *[double_p] * 5)(dyn.address("rhs"))
    arrays = [X, dyn.kernels.values("input"), dyn.prepared, np.empty(dyn.n_work), np.empty(dyn.n_x)]
    function(0.0, *(a.ctypes.data_as(double_p) for a in arrays))
    assert_array_equal(arrays[-1], dyn.rhs(0.0, X))


def test_as_pydy(dyn: CompiledModel, turntable: CompiledModel) -> None:
    f = dyn.as_pydy()
    p = dict(dyn.parameters)
    expected = dyn.rhs(0.0, X, r=[1.0, 0.0])
    assert_array_equal(f(X, 0.0, [1.0, 0.0], p), expected)
    assert_array_equal(f(X, 0.0, lambda x, t: [1.0, t], list(p.values())), expected)
    assert_array_equal(turntable.as_pydy()([0.1, 0.2], 0.0, []), turntable.rhs(0.0, [0.1, 0.2]))


def test_robotics_names(dyn: CompiledModel, turntable: CompiledModel) -> None:
    q, u, tau = X[:2], X[2:], np.array([0.3, -0.6])
    udot = dyn.aba(q, u, tau)
    np.testing.assert_allclose(dyn.rnea(q, u, udot), tau, rtol=1e-13)
    assert_array_equal(dyn.crba(q), dyn.mass_matrix(0.0, X))
    many = np.random.default_rng(4).normal(size=(3, 1, 2))
    batch = dyn.aba(many, np.tile(u, (5, 1)), tau)
    assert batch.shape == (3, 5, 2)
    assert_array_equal(batch[2, 3], dyn.aba(many[2, 0], u, tau))
    with pytest.raises(ValueError, match=r"tau has shape \(1,\)"):
        dyn.aba(q, u, tau[:1])
    with pytest.raises(TypeError, match="q must be real"):
        dyn.crba(1j * q)
    dyn.parameters["mc"] = 0.0
    with pytest.raises(kc.SingularError):
        dyn.aba([0.0, 0.0], u, tau)
    with pytest.raises(kc.ModelError, match="crba is for models with qdot = u"):
        turntable.crba([0.0])


def test_pickle_by_origin(bare: CompiledModel) -> None:
    bare.parameters["m"] = 0.4
    again = pickle.loads(pickle.dumps(bare))
    assert dict(again.inputs) == pytest.approx(dict(bare.inputs), nan_ok=True)
    assert dict(again.parameters) == pytest.approx(dict(bare.parameters), nan_ok=True)


def test_why_a_kernel_is_missing_is_known_before_its_group_is_compiled() -> None:
    disc = kc.compile(rolling_disc.build(), parameters=rolling_disc.PARAMETERS, cc="none")
    assert "Christoffel symbols" in str(disc.kernels.why_not("coriolis_matrix"))


def test_pickle_needs_something_to_go_by(turntable: CompiledModel) -> None:
    with pytest.raises(kc.ModelError, match="cannot be pickled"):
        pickle.dumps(turntable)


FUNCTIONS_OF_NUMPY = {
    "KC_NUMPY_ABI": "PyArray_GetNDArrayCVersion",
    "KC_NUMPY_ARRAY": "PyArray_Type",
    "KC_NUMPY_DTYPE": "PyArray_DescrFromType",
    "KC_NUMPY_NEW": "PyArray_New",
    "KC_NUMPY_ZEROS": "PyArray_Zeros",
    "KC_NUMPY_EMPTY": "PyArray_Empty",
    "KC_NUMPY_SET_BASE": "PyArray_SetBaseObject",
}
# Of each structure its name here and there, and the members that are used.
STRUCTURES_OF_NUMPY = [
    ("kc_ndarray", "PyArrayObject_fields", ["data", "nd", "dimensions", "strides", "base", "descr", "flags"]),
    ("kc_dtype", "PyArray_Descr", ["typeobj", "kind", "type", "byteorder", "type_num"]),
]
BOTH_HEADERS = """
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <stddef.h>
#include <numpy/arrayobject.h>
#define SAME(name, a, b) typedef char name[(a) == (b) ? 1 : -1]
"""


def test_declarations_are_those_of_the_installed_numpy(root: Path, tmp_path: Path) -> None:
    ours = (root / "kanecore/binding/kc_numpy.h").read_text(encoding="utf-8").partition("static void **")[0]
    ours = ours.replace("NPY_", "KC_NPY_").replace("npy_intp", "kc_intp")
    table = Path(np.get_include(), "numpy/__multiarray_api.h").read_text(encoding="utf-8")
    places = dict(re.findall(r"^#define (PyArray_\w+)[^#]*?PyArray_API\[(\d+)\]", table, re.MULTILINE))
    assert set(FUNCTIONS_OF_NUMPY) == set(re.findall(r"KC_NUMPY_[A-Z]\w+", ours))
    values = [(here, places[there]) for here, there in FUNCTIONS_OF_NUMPY.items()]
    values += [(f"KC_{name}", name) for name in re.findall(r"\bKC_(NPY_\w+) =", ours)]
    values += [("sizeof(kc_intp)", "sizeof(npy_intp)")]
    for here, there, members in STRUCTURES_OF_NUMPY:
        for name in members:
            values.append((f"offsetof({here}, {name})", f"offsetof({there}, {name})"))
            values.append((f"sizeof((({here} *)0)->{name})", f"sizeof((({there} *)0)->{name})"))
    lines = [f"SAME(same_{i}, {here}, {there});" for i, (here, there) in enumerate(values)]
    (tmp_path / "numpy.c").write_text(f"{BOTH_HEADERS}{ours}#endif\n" + "\n".join(lines) + "\n", encoding="utf-8")
    include = [f"-I{np.get_include()}", f"-I{sysconfig.get_path('include')}"]
    subprocess.run([*find_compiler(), *include, "-fsyntax-only", "numpy.c"], cwd=tmp_path, check=True)
