# SPDX-License-Identifier: BSD-3-Clause
"""Several states at once: the bits of one state alone, in any batch, with any number of threads."""

import ctypes
import mmap
import platform
import sys
import threading
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
from gallery_states import some_state
from mechanisms import on_a_line
from sweep import part

import kanecore as kc
from kanecore._library import cpu_level
from kanecore.build import include_dir
from kanecore.build.c_compiler import find_compiler
from kanecore.build.compilation import prebuild
from kanecore.build.simd_levels import lane_levels
from kanecore.emit.kernel_groups import emit_prebuilt
from kanecore.kernels import GROUPS, KERNELS

Array = npt.NDArray[np.float64]
pytestmark = [
    pytest.mark.compiler,
    pytest.mark.filterwarnings("ignore:no solid body"),
]  # the measured inertias of a robot
ENOUGH = 256  # rows for which lanes are compiled


@cache
def compiled(name: str) -> kc.CompiledModel:
    module = import_module(f"kanecore.gallery.{name}")
    return kc.compile(module.build(), parameters=module.PARAMETERS)


def states(name: str, n: int, spread: float = 0.1) -> Array:
    """Around a state on the constraints."""
    x = some_state(name)
    return x + spread * np.random.default_rng(n).uniform(-1.0, 1.0, (n, x.size))


def rows_alone(dyn: kc.CompiledModel, kernel: str, t: Any, x: Array, **values: Any) -> Array:
    """Each state by a call of its own; NaN where that fails."""
    result = []
    for i in range(len(x)):
        own = {name: value[i] if np.ndim(value) == 2 else value for name, value in values.items()}
        try:
            result.append(dyn.kernels.method(kernel)(t if np.ndim(t) == 0 else t[i], x[i], **own))
        except (kc.SingularError, kc.NonFiniteError) as error:
            result.append(np.full_like(error.out, np.nan) if error.out is not None else np.nan)
    shape = np.broadcast_shapes(*{np.shape(each) for each in result})
    return np.array([np.broadcast_to(each, shape) for each in result])


def assert_same_bits(a: Array, b: Array) -> None:
    assert a.shape == b.shape
    different = (a.view(np.uint64) != b.view(np.uint64)) & ~(np.isnan(a) & np.isnan(b))
    assert not different.any(), f"{np.argwhere(different)[:5]}: {a[different][:5]}, {b[different][:5]}"


def check_group(name: str, group: str) -> set[str]:
    """Every kernel of a group that reads the state alone, or u̇ with it; those that lanes served."""
    dyn, x = compiled(name), states(name, ENOUGH + 5)
    dyn.inputs = dict.fromkeys(dyn.inputs, 0.3)
    t = np.linspace(0.0, 1.0, len(x))
    for kernel in KERNELS:
        if kernel.group != group or kernel.remainder_of or kernel.reads_multipliers:
            continue
        method = dyn.kernels.method(kernel.name)
        beyond = {"udot": x[:, : dyn.n_u] + 0.5} if kernel.reads_udot else {}
        try:
            method(0.0, x[0], **{key: value[0] for key, value in beyond.items()})
        except (kc.ModelError, TypeError):
            continue  # this model has no such kernel
        except kc.SingularError:
            pass
        try:
            together = method(t, x, **beyond)
        except kc.SingularError as error:
            together = error.out
        assert_same_bits(np.asarray(together), rows_alone(dyn, kernel.name, t, x, **beyond))
    return dyn.kernels.lanes[0] & set(GROUPS[group])


@pytest.mark.parametrize("name", part(kc.models(), ["free_body"]))
def test_bits_of_the_core(name: str) -> None:
    served = check_group(name, "core")
    assert served >= {"mass_matrix", "forcing"}


@pytest.mark.parametrize(
    "name", part(kc.models(), ["rrp", "slider_crank"])
)  # some states of the latter pivot otherwise
@pytest.mark.parametrize("group", part(["bodies", "energies", "forces", "linearize"], ["linearize"]))
def test_bits_of_other_groups(name: str, group: str) -> None:
    assert check_group(name, group)


@pytest.mark.long
@pytest.mark.parametrize("name", part(kc.models(), ["four_bar"]))
@pytest.mark.parametrize("group", ["forward", "reactions", "hamilton", "derivatives", "constraints"])
def test_bits_of_the_rest(name: str, group: str) -> None:
    """What solves in ways that have no lanes goes alone, so lanes may serve nothing."""
    check_group(name, group)


@pytest.mark.long
def test_bits_of_products_and_forward_dynamics() -> None:
    """Kernels that read further vectors, or forces in place of accelerations."""
    dyn, x = compiled("arm7"), states("arm7", ENOUGH + 3)
    rng = np.random.default_rng(2)
    udot, change, weights = (rng.normal(size=(len(x), n)) for n in (dyn.n_u, dyn.n_x, dyn.n_u))
    q, u = x[:, : dyn.n_q], x[:, dyn.n_q :]
    assert_same_bits(dyn.aba(q, u, udot), np.array([dyn.aba(q[i], u[i], udot[i]) for i in range(len(x))]))
    along = dyn.jvp("inverse_dynamics", 0.0, x, udot, dx=change)
    assert_same_bits(
        along, np.array([dyn.jvp("inverse_dynamics", 0.0, x[i], udot[i], dx=change[i]) for i in range(len(x))])
    )
    back = dyn.vjp("inverse_dynamics", 0.0, x, udot, weights)
    assert_same_bits(
        back, np.array([dyn.vjp("inverse_dynamics", 0.0, x[i], udot[i], weights[i]) for i in range(len(x))])
    )
    assert {"forward_dynamics", "inverse_dynamics_tangent", "inverse_dynamics_gradient"} <= dyn.kernels.lanes[0]


@pytest.mark.parametrize(
    "name",
    part(["four_bar", "five_bar_bodies", "arm7", "rolling_disc", "rrp_redundant", "wire_particle"], ["wire_particle"]),
)
def test_bits_of_products_of_rhs(name: str) -> None:
    """A program, or with constraints two solutions; forwards and backwards."""
    dyn, x = compiled(name), states(name, ENOUGH + 3)
    vectors = np.random.default_rng(2).normal(size=x.shape)
    for product in (dyn.rhs_jvp, dyn.rhs_vjp):
        several = product(0.0, x, vectors)
        assert_same_bits(several, np.array([product(0.0, *pair) for pair in zip(x, vectors, strict=True)]))
    assert {"rhs_tangent", "rhs_gradient"} <= dyn.kernels.lanes[0]


@pytest.mark.parametrize("name", part(["four_bar", "rrp", "rolling_disc", "quadrotor", "anymal_c"], ["rrp"]))
def test_bits_of_second_derivatives(name: str) -> None:
    """One state has its directions in lanes, where several have one each; long programs go alone."""
    dyn, x = compiled(name), states(name, ENOUGH + 3)
    weights = np.random.default_rng(2).normal(size=x.shape)
    several = dyn.rhs_hessian(0.0, x, weights)
    for i in range(0, len(x), 7):
        assert_same_bits(several[i], dyn.rhs_hessian(0.0, x[i], weights[i]))
    assert ("rhs_hessian" in dyn.kernels.lanes[0]) == (name != "anymal_c")


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 257])
def test_any_number_of_rows(n: int) -> None:
    dyn, x = compiled("rrp"), states("rrp", ENOUGH)
    whole = dyn.rhs(0.0, x)
    assert "rhs" in dyn.kernels.lanes[0]
    x = np.concatenate([x, x])[:n]
    assert_same_bits(dyn.rhs(0.0, x), np.concatenate([whole, whole])[:n])


def test_rows_that_lie_anywhere() -> None:
    """Leading axes, steps, transposed and broadcast operands."""
    dyn, x = compiled("rrp"), states("rrp", 720)
    whole = dyn.rhs(0.0, x)
    assert_same_bits(dyn.rhs(0.0, x[::-3]), whole[::-3])
    assert_same_bits(dyn.rhs(0.0, np.asfortranarray(x)), whole)
    assert_same_bits(dyn.rhs(0.0, x.reshape(8, 9, 10, -1)), whole.reshape(8, 9, 10, -1))
    swapped = x.reshape(8, 9, 10, -1).swapaxes(0, 2)
    assert_same_bits(dyn.rhs(0.0, swapped), whole.reshape(8, 9, 10, -1).swapaxes(0, 2).copy())
    assert_same_bits(dyn.rhs(0.0, np.broadcast_to(x[3], (300, dyn.n_x))), np.tile(whole[3], (300, 1)))
    r = np.random.default_rng(1).uniform(-1.0, 1.0, (5, 1, dyn.n_r))
    result = dyn.rhs(np.linspace(0.0, 1.0, 5)[:, None], x[:100], r=r)
    for i in range(5):
        assert_same_bits(result[i], rows_alone(dyn, "rhs", i / 4, x[:100], r=r[i, 0]))


@pytest.mark.parametrize("n", [ENOUGH, ENOUGH + 7])
def test_arrays_in_column_order(n: int) -> None:
    """They are not copied: each column holds the lanes of one number.  A row that fails is served alone."""
    dyn, x, rng = compiled("rrp"), states("rrp", n), np.random.default_rng(4)
    r, udot = rng.uniform(-1.0, 1.0, (n, dyn.n_r)), rng.uniform(-1.0, 1.0, (n, dyn.n_u))
    assert_same_bits(dyn.rhs(0.0, np.asfortranarray(x), r=np.asfortranarray(r)), dyn.rhs(0.0, x, r=r))
    for given in (np.asfortranarray(udot), udot):
        assert_same_bits(dyn.inverse_dynamics(0.0, np.asfortranarray(x), given), dyn.inverse_dynamics(0.0, x, udot))
    t = np.linspace(0.0, 1.0, 3)[:, None]
    assert_same_bits(dyn.rhs(t, np.asfortranarray(x)), dyn.rhs(t, x))
    x[::50, 0] = 1e300  # whose sine is the C library's
    several = np.stack([x, x[::-1]]).transpose(2, 0, 1).copy()  # numbers, batches, rows
    for one, each in zip(several.transpose(1, 2, 0), (x, x[::-1]), strict=True):
        assert one.strides[0] == x.itemsize
        assert_same_bits(dyn.rhs(0.0, one), dyn.rhs(0.0, each))
    assert_same_bits(dyn.rhs(0.0, np.asfortranarray(x), threads=2), rows_alone(dyn, "rhs", 0.0, x))
    x[3] = np.nan
    assert np.isnan(dyn.rhs(0.0, np.asfortranarray(x))[3]).all()


@pytest.mark.parametrize("n", [ENOUGH, ENOUGH + 5])
@pytest.mark.parametrize("kernel", ["udot", "rhs", "mass_matrix"])
def test_nothing_is_written_beyond_the_rows(kernel: str, n: int) -> None:
    """Of results that are shorter than a pack as well; x has gaps between its rows and ends with the last."""
    dyn, x = compiled("rrp"), states("rrp", n)
    wide = np.full((n, dyn.n_x + 3), np.nan)
    wide[:, 3:] = x
    whole = getattr(dyn, kernel)(0.0, x)
    room = np.full((n + 40, *whole.shape[1:]), 7.0)
    getattr(dyn, kernel)(0.0, wide[:, 3:], out=room[20:-20], threads=2)
    assert_same_bits(room[20:-20], whole)
    assert (room[:20] == 7.0).all()
    assert (room[-20:] == 7.0).all()


@pytest.mark.parametrize("name", part(["rrp", "four_bar"], ["rrp"]))
def test_parameters_by_row(name: str) -> None:
    dyn, x = compiled(name), states(name, ENOUGH + 3)
    p = np.array(list(dyn.parameters.values())) * np.random.default_rng(2).uniform(0.95, 1.05, (len(x), dyn.n_p))
    assert_same_bits(dyn.udot(0.0, x, p=p), rows_alone(dyn, "udot", 0.0, x, p=p))
    few = np.repeat(p[:3], 90, axis=0)[: len(x)]
    assert_same_bits(dyn.udot(0.0, x, p=few), rows_alone(dyn, "udot", 0.0, x, p=few))


def test_a_row_that_fails_leaves_its_neighbours_alone() -> None:
    """NaN, an infinity and an angle of 1e300 give what they give alone."""
    dyn, x = compiled("rrp"), states("rrp", ENOUGH)
    good = dyn.rhs(0.0, x)
    bad = x.copy()
    bad[5], bad[77, 1], bad[200, 0] = np.nan, np.inf, 1e300
    with np.errstate(all="ignore"):
        result = dyn.rhs(0.0, bad)
    rest = np.setdiff1d(np.arange(ENOUGH), [5, 77, 200])
    assert_same_bits(result[rest], good[rest])
    assert np.isnan(result[5]).all()
    assert_same_bits(result[200], dyn.rhs(0.0, bad[200]))


def test_choices_and_results_that_are_not_finite() -> None:
    """Both hold in some lanes and not in others; the first result, u, is finite where the second is not."""
    dyn = on_a_line(
        "choices",
        lambda q, u: sm.Piecewise((-q, q > 0), (-3 * q, True)) + sm.Max(u, -0.1) * sm.Min(q, u) * sm.Abs(u) + sm.exp(q),
        {},
    )
    x = np.random.default_rng(3).uniform(-1.0, 1.0, (ENOUGH, 2))
    assert_same_bits(dyn.rhs(0.0, x), rows_alone(dyn, "rhs", 0.0, x))
    x[[5, 77], 0] = 800.0
    with pytest.raises(kc.NonFiniteError) as caught:
        dyn.rhs(0.0, x)
    assert list(caught.value.rows) == [5, 77]


def test_singular_rows_are_named() -> None:
    """Two rows have no masses, and so no M that is regular; all others have results."""
    dyn, x = compiled("planar_2r"), states("planar_2r", ENOUGH)
    p = np.tile(list(dyn.parameters.values()), (ENOUGH, 1))
    p[[3, 130]] = 0.0
    with pytest.raises(kc.SingularError) as caught:
        dyn.udot(0.0, x, p=p)
    assert list(caught.value.rows) == [3, 130]
    rest = np.setdiff1d(np.arange(ENOUGH), [3, 130])
    assert np.isnan(caught.value.out[[3, 130]]).all()
    assert_same_bits(caught.value.out[rest], dyn.udot(0.0, x)[rest])
    with pytest.raises(kc.SingularError) as caught:  # where no lane of a pack has results
        dyn.udot(0.0, x, p=np.zeros_like(p))
    assert list(caught.value.rows) == list(range(ENOUGH))


def test_large_angles_take_the_way_of_libm_alone() -> None:
    dyn, x = compiled("rrp"), states("rrp", ENOUGH)
    x[::7, 0] = 1e5 * (1.0 + np.arange(len(x[::7])))
    x[3, 1] = -3e7
    assert_same_bits(dyn.rhs(0.0, x), rows_alone(dyn, "rhs", 0.0, x))


@pytest.mark.parametrize("threads", [1, 2, 3, 7, -1])
def test_threads(threads: int) -> None:
    dyn, x = compiled("rrp"), states("rrp", 5001)
    whole = dyn.rhs(0.0, x)
    assert_same_bits(dyn.rhs(0.0, x, threads=threads), whole)
    assert_same_bits(dyn.rhs(0.0, x.reshape(3, 1667, -1), threads=threads), whole.reshape(3, 1667, -1))
    out = np.full_like(whole, np.nan)
    assert dyn.rhs(0.0, x, out=out, threads=threads) is out
    assert_same_bits(out, whole)


def test_threads_that_cannot_be() -> None:
    dyn, x = compiled("rrp"), some_state("rrp")
    for wrong in (0, -2):
        with pytest.raises(ValueError, match=f"threads is {wrong}"):
            dyn.rhs(0.0, x, threads=wrong)
    for wrong in (1.5, "2", None, True):
        with pytest.raises(TypeError, match="threads is"):
            dyn.rhs(0.0, x, threads=wrong)


def test_calls_from_several_threads() -> None:
    """Each has memory of its own."""
    dyn, x = compiled("rrp"), states("rrp", 3000)
    whole, results = dyn.rhs(0.0, x), [np.empty((3000, dyn.n_x)) for _ in range(4)]
    calls = [threading.Thread(target=lambda out=out: dyn.rhs(0.0, x, out=out, threads=2)) for out in results]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    for result in results:
        assert_same_bits(result, whole)


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages by mprotect")
@pytest.mark.parametrize("n", [ENOUGH, ENOUGH + 1, ENOUGH + 7])
def test_nothing_outside_of_the_arrays_is_touched(n: int) -> None:
    """Each array ends where a page begins that nobody may read."""
    libc = ctypes.CDLL(None, use_errno=True)
    held = []

    def guarded(shape: tuple[int, ...]) -> Array:
        size = int(np.prod(shape)) * 8
        pages = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        memory = mmap.mmap(-1, pages + mmap.PAGESIZE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        assert libc.mprotect(ctypes.c_void_p(start + pages), mmap.PAGESIZE, 0) == 0
        held.append((memory, start + pages))
        return np.frombuffer(memory, dtype=np.float64, count=size // 8, offset=pages - size).reshape(shape)

    for name, kernel in (("rrp", "udot"), ("rrp", "rhs"), ("free_body", "rhs"), ("cart_pole", "outputs")):
        dyn, values = compiled(name), states(name, n)
        method = getattr(dyn, kernel)
        x, r, t = guarded((n, dyn.n_x)), guarded((n, dyn.n_r)), guarded((n,))
        x[:], r[:], t[:] = values, 0.1, 0.2
        out = guarded(method(0.2, values, r=r).shape)
        assert_same_bits(method(t, x, r=r, out=out), rows_alone(dyn, kernel, 0.2, values, r=r))
    for _, page in held:
        libc.mprotect(ctypes.c_void_p(page), mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE)


def test_small_batches_compile_nothing() -> None:
    dyn = kc.compile(import_module("kanecore.gallery.furuta_pendulum").build())
    dyn.parameters.update(dict.fromkeys(dyn.parameters, 1.0))
    dyn.mass_matrix(0.0, np.zeros((ENOUGH - 1, dyn.n_x)))
    assert dyn.kernels.lanes == (set(), 0)
    dyn.mass_matrix(0.0, np.zeros((ENOUGH, dyn.n_x)))
    assert "mass_matrix" in dyn.kernels.lanes[0]
    assert dyn.kernels.lanes[1] in (2, 4, 8)


@pytest.mark.long
@pytest.mark.parametrize("level", lane_levels(platform.machine()))
def test_prebuilt_levels(level: str, tmp_path: Path) -> None:
    """Each that this processor runs; no compiler is asked for."""
    if {"x86-64-v3": 3, "x86-64-v4": 4}.get(level, 0) > cpu_level():
        pytest.skip(f"this processor is older than {level}")
    module = import_module("kanecore.gallery.rrp")
    library, lanes = emit_prebuilt(module.build().description, module.PARAMETERS)
    one, several = (
        prebuild(
            text,
            level,
            machine=platform.machine(),
            cc=find_compiler(),
            include=include_dir(),
            folder=tmp_path,
            name=name,
        )
        for name, text in (("rrp", library.text), ("rrp_lanes", lanes.text))
    )
    dyn = kc.CompiledModel({"all": one.path}, source={}, lane_builder=lambda _: several.path)
    x, r = states("rrp", ENOUGH + 3), np.full(dyn.n_r, 0.3)
    assert_same_bits(dyn.rhs(0.2, x, r=r), rows_alone(dyn, "rhs", 0.2, x, r=r))
    assert dyn.kernels.lanes[1] in (2, 4, 8)
    assert {"rhs", "udot", "mass_matrix", "forcing"} <= dyn.kernels.lanes[0]


def test_without_a_compiler_rows_go_one_by_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dyn = kc.compile(import_module("kanecore.gallery.kepler").build(), parameters={"m": 1.0, "mu": 1.0})
    x = states("kepler", ENOUGH)
    monkeypatch.setenv("CC", "no_such_compiler")
    monkeypatch.setenv("KANECORE_CACHE_DIR", str(tmp_path))
    with pytest.warns(kc.KanecoreWarning, match="one state after the other.*no such program"):
        together = dyn.rhs(0.0, x)
    assert_same_bits(together, rows_alone(dyn, "rhs", 0.0, x))
    assert_same_bits(together, dyn.rhs(0.0, x))  # and says so once
    assert dyn.kernels.lanes == (set(), 0)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the threads of a process stand there on Linux")
def test_no_more_threads_begin_than_there_are_parts() -> None:
    tasks = Path("/proc/self/task")
    dyn, before = kc.load("cart_pole"), len(list(tasks.iterdir()))
    dyn.udot(0.0, np.zeros((1024, dyn.n_x)), threads=1000)  # two parts
    dyn.simulate((0, 0.01), np.zeros((2, dyn.n_x)), threads=1000)
    dyn.rollout(np.zeros((2, dyn.n_x)), dt=0.01, steps=2, threads=1000)
    assert len(list(tasks.iterdir())) <= before + 1
