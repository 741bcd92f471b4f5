# SPDX-License-Identifier: BSD-3-Clause
"""A kernel is a function of its arguments: the same bits in any order of calls, alone, in a batch, from any thread.

How many rows of G count belongs to the parameters of a call.  Nothing that was asked before may change it: not other
parameters, not other states, not calls that failed.
"""

import ctypes
import pickle
import platform
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
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
from numpy.testing import assert_array_equal
from oracle.lines import coordinates, lines
from sweep import constrained, every, part

import kanecore as kc
from kanecore._library import KERNELS
from kanecore.build import compile_library
from kanecore.kernels import KERNELS as TABLE

Array = npt.NDArray[np.float64]
Call = Callable[[kc.CompiledModel], Any]

#: A run may start from rest.
pytestmark = pytest.mark.filterwarnings("ignore:all states stay below")

# ------------------------------------------------------------------------------------------ the particle

#: cos x u + sin x v, and the same + k (cos y v + sin y w): one row where k = 0.
(x, y, z), (u, v, w) = coordinates(3)
k = sm.Symbol("k")
FIRST = sm.cos(x) * u + sm.sin(x) * v
ROWS = [FIRST, FIRST + k * (sm.cos(y) * v + sm.sin(y) * w)]
X = np.array([0.4, 0.7, -0.3, 0.0, 0.0, 0.0])
X[3:] = 0.3 * np.cross([np.cos(0.4), np.sin(0.4), 0.0], [0.0, np.cos(0.7), np.sin(0.7)])  # on both rows
FORCES = np.array([1.0, 2.0, -3.0])
#: k, as it counts and as it does not.
SMALL, NONE = 5e-4, 0.0
#: Both rows along v: one is lost unless k = 0.
DEAD = np.array([np.pi / 2, 0.0, 0.1, 0.2, 0.0, 0.3])


def particle(value: float = SMALL, **arguments: Any) -> kc.CompiledModel:
    """Unit masses; every call makes a new one, from the cache of compiled text."""
    model = lines(3, forces=FORCES.tolist(), velocity_constraints=ROWS, name="particle", **arguments)
    return kc.compile(model, parameters={k: value})


def expected(state: Array, value: float) -> Array:
    """u̇ by NumPy: minus the part of (f, −γ) that the rows take, in the difference of the rows for the second."""
    a, b = state[:2]
    u, v, w = state[3:]
    G = np.array([[np.cos(a), np.sin(a), 0.0], [0.0, np.cos(b), np.sin(b)]])
    gamma = np.array([u * (v * np.cos(a) - u * np.sin(a)), v * (w * np.cos(b) - v * np.sin(b))])
    if not value:
        G, gamma = G[:1], gamma[:1]
    return np.asarray(FORCES - G.T @ np.linalg.solve(G @ G.T, G @ FORCES + gamma))


def close(found: Any, state: Array, value: float) -> None:
    """To what the rounding of the second row, beside k, allows."""
    np.testing.assert_allclose(found, expected(state, value), rtol=0, atol=1e-11 + 1e-14 / (value or 1.0))


def test_the_third_answer_is_the_first() -> None:
    dyn = particle()
    first = dyn.udot(0.0, X)
    other = dyn.udot(0.0, X, p={"k": 0})
    close(first, X, SMALL)
    close(other, X, NONE)
    for _ in range(3):
        assert_array_equal(dyn.udot(0.0, X), first)
        assert_array_equal(dyn.udot(0.0, X, p=[0.0]), other)
        assert_array_equal(dyn.udot(0.0, X, p={k: SMALL}), first)


@pytest.mark.parametrize("order", [(NONE, SMALL, NONE), (SMALL, NONE, SMALL), (1.0, SMALL, NONE), (NONE, 1e-6, 1.0)])
@pytest.mark.parametrize("compiled_at", part([SMALL, NONE, 1.0], [SMALL, NONE]))
def test_any_order(order: tuple[float, ...], compiled_at: float) -> None:
    """Whatever k the model was compiled with, given by call or set."""
    by_call, by_setting = particle(compiled_at), particle(compiled_at)
    for value in order:
        close(by_call.udot(0.0, X, p={"k": value}), X, value)
        by_setting.parameters["k"] = value
        close(by_setting.udot(0.0, X), X, value)
        close(by_setting.rhs(0.0, X)[3:], X, value)
    close(by_call.udot(0.0, X), X, compiled_at)


def test_a_first_call_that_fails_tells_nothing() -> None:
    """At a dead point the count is that of the parameters, as at every other state."""
    for value in (SMALL, 1.0):
        dyn = particle(NONE)
        for _ in range(2):
            with pytest.raises(kc.SingularError, match="velocity constraint"):
                dyn.udot(0.0, DEAD, p={"k": value})
            close(dyn.udot(0.0, X, p={"k": value}), X, value)
            close(dyn.udot(0.0, DEAD), DEAD, NONE)


@pytest.mark.parametrize("values", every(3, [[SMALL, NONE, SMALL], [NONE, SMALL, NONE], [1.0, NONE, 1e-6]]))
def test_a_batch_counts_by_row(values: list[float]) -> None:
    for compiled_at in (SMALL, NONE):
        dyn = particle(compiled_at)
        p = np.array(values)[:, np.newaxis]
        assert_array_equal(dyn.udot(0.0, X, p=p), [particle().udot(0.0, X, p=row) for row in p])
        for value, row in zip(values, dyn.udot(0.0, np.tile(X, (len(p), 1)), p=p), strict=True):
            close(row, X, value)
        for kernel in (dyn.rhs, dyn.multipliers):
            assert_array_equal(kernel(0.0, X, p=p), [kernel(0.0, X, p=row) for row in p])
        assert_array_equal(dyn.linearize(0.0, X, p=p)[0], [dyn.linearize(0.0, X, p=row)[0] for row in p])


@pytest.mark.long
@pytest.mark.compiler
def test_a_large_batch_of_rows_that_disagree() -> None:
    """Parameters along one axis, states along the other; no loop without a bound."""
    p = np.array([SMALL, NONE] * 50)[:, np.newaxis, np.newaxis]
    states = X + 0.01 * np.random.default_rng(0).uniform(-1.0, 1.0, (7, 6))
    found = particle().udot(0.0, states, p=p)
    assert found.shape == (100, 7, 3)
    assert_array_equal(found[::2], np.tile(found[0], (50, 1, 1)))
    assert_array_equal(found[1::2], np.tile(found[1], (50, 1, 1)))
    alone = particle()
    for i, value in enumerate((SMALL, NONE)):
        assert_array_equal(found[i], [alone.udot(0.0, state, p=[value]) for state in states])


def test_dead_points_in_a_batch_of_rows_that_disagree() -> None:
    states = np.array([X, X, DEAD, DEAD, X])
    p = np.array([SMALL, NONE, SMALL, NONE, NONE])[:, np.newaxis]
    for _ in range(2):
        dyn = particle()
        for _ in range(2):
            with pytest.raises(kc.SingularError) as caught:
                dyn.udot(0.0, states, p=p)
            assert caught.value.rows.tolist() == [2]
            assert np.isnan(caught.value.out[2]).all()
            for i in (0, 1, 3, 4):
                close(caught.value.out[i], states[i], float(p[i, 0]))
                assert_array_equal(caught.value.out[i], particle().udot(0.0, states[i], p=p[i]))


def test_multipliers_linearization_and_outputs() -> None:
    """λ of least norm where a row is redundant; all of them are asked before and after the other k."""
    a = me.dynamicsymbols("u0").diff()
    dyn = particle(outputs={"push": a, "grip": kc.multiplier(1)})
    kept = {}
    for value in (SMALL, NONE, SMALL, NONE):
        p = [value]
        found = {
            "multipliers": dyn.multipliers(0.0, X, p=p),
            "outputs": dyn.outputs(0.0, X, p=p),
            "A": dyn.linearize(0.0, X, p=p)[0],
            "simulated": dyn.simulate((0.0, 0.1), X, parameters={k: value}, t_eval=[0.05, 0.1]).x,
            "rank": np.array(dyn.check(X, p=p).rank),
        }
        force, G = found["multipliers"], dyn.constraint_jacobian(0.0, X, p=p)
        np.testing.assert_allclose(FORCES + G.T @ force, expected(X, value), rtol=0, atol=1e-9)
        np.testing.assert_allclose(found["outputs"], [expected(X, value)[0], force[1]], rtol=1e-9)
        assert found["rank"] == (2 if value else 1)
        if value in kept:
            for name, array in found.items():
                assert_array_equal(array, kept[value][name], err_msg=name)
        kept[value] = found
    assert kept[NONE]["multipliers"][0] == pytest.approx(kept[NONE]["multipliers"][1], rel=1e-12)  # least norm


def test_nonholonomic_quantities_know_the_rank_of_the_call() -> None:
    """Two dependent speeds fit two rows; with k = 0 they do not, before and after."""
    dyn = particle(u_dependent=[1, 2])
    first = dyn.generalized_active_forces(0.0, X, nonholonomic=True)
    assert first.shape == (1,)
    for _ in range(2):
        with pytest.raises(kc.ModelError, match="1 of the 2 constraint rows"):
            dyn.generalized_active_forces(0.0, X, nonholonomic=True, p=[NONE])
        assert_array_equal(dyn.generalized_active_forces(0.0, X, nonholonomic=True), first)


def test_workspaces_count_for_themselves() -> None:
    dyn = particle()
    ws, other = dyn.workspace(), dyn.workspace()
    ws.x, other.x = X, X
    ws.p, other.p = [SMALL], [NONE]
    for _ in range(3):
        close(ws.rhs()[3:], X, SMALL)
        close(other.rhs()[3:], X, NONE)
        assert_array_equal(ws.multipliers(), particle().multipliers(0.0, X))
        assert_array_equal(other.multipliers(), particle().multipliers(0.0, X, p=[NONE]))
        ws.x = DEAD
        with pytest.raises(kc.SingularError):
            ws.rhs()
        ws.x = X
    ws.p[0] = NONE
    close(ws.rhs()[3:], X, NONE)
    ws.p[0] = SMALL
    close(ws.rhs()[3:], X, SMALL)


def test_a_copy_is_the_same_function() -> None:
    dyn = particle()
    first = dyn.udot(0.0, X)
    dyn.udot(0.0, X, p=[NONE])
    again = pickle.loads(pickle.dumps(dyn))
    assert_array_equal(again.udot(0.0, X), first)
    dyn.parameters["k"] = NONE
    again = pickle.loads(pickle.dumps(dyn))
    close(again.udot(0.0, X), X, NONE)
    assert_array_equal(again.udot(0.0, X, p=[SMALL]), first)


@pytest.mark.long
@pytest.mark.compiler
def test_prepared_blocks_do_not_change() -> None:
    """The count is a part of the block, and of that block alone."""
    dyn = particle()
    blocks = {value: np.array(dyn.prepare([value])) for value in (SMALL, NONE, 1.0)}
    assert blocks[SMALL][-1] == 2
    assert blocks[NONE][-1] == 1
    now = np.array(dyn.prepared)
    for value in blocks:
        dyn.udot(0.0, X, p=[value])
        with pytest.raises(kc.SingularError) if value else nullcontext():
            dyn.udot(0.0, DEAD, p=[value])
        dyn.check(X, p=[value])
        dyn.check(p=[value])
        dyn.consistent(0.0, X, None, p=[value])
        for other, block in blocks.items():
            assert_array_equal(dyn.prepare([other]), block)
            assert_array_equal(particle(NONE).prepare([other]), block)
        assert_array_equal(dyn.prepared, now)
    assert_array_equal(dyn.prepare([[SMALL], [NONE]]), [blocks[SMALL], blocks[NONE]])


DOUBLES = ctypes.POINTER(ctypes.c_double)


def called_in_c(dyn: kc.CompiledModel, kernel: str, block: Array, state: Array, size: int) -> Array:
    """A kernel by its address, and its status checked."""
    function = ctypes.CFUNCTYPE(None, ctypes.c_double, *[DOUBLES] * 5)(dyn.address(kernel))
    work, out = np.zeros(dyn.n_work), np.empty(size)
    arrays = [np.array(state), np.append(dyn.kernels.values("input"), 0.0), np.array(block), work, out]
    function(0.0, *(a.ctypes.data_as(DOUBLES) for a in arrays))
    assert work[0] == 0.0 or kernel not in ("rhs", "udot", "multipliers", "linearize")
    return out


def prepared_in_c(dyn: kc.CompiledModel, p: Any) -> Array:
    """``kc_model.prepare``, by a C function that knows the table from kanecore.h."""
    header = (Path(kc.get_include()) / "kanecore.h").read_text()
    shim = header + "\nvoid shim(const kc_model *(*get)(void), const double *p, double *c) { get()->prepare(p, c); }\n"
    call = ctypes.CDLL(compile_library(shim, cflags="-fvisibility=default").path).shim
    library = ctypes.CDLL(compile_library(dyn.source["core"], name=dyn.name).path)
    given, block = np.array(p, dtype=np.float64), np.empty(dyn.n_prepared)
    call(library.kc_get_model, given.ctypes.data_as(DOUBLES), block.ctypes.data_as(DOUBLES))
    return block


@pytest.mark.long
@pytest.mark.compiler
@pytest.mark.parametrize("value", [SMALL, NONE, 1.0])
def test_blocks_in_c(value: float) -> None:
    """What C gets is what Python uses, from ``prepared``, from ``prepare`` and from the table."""
    dyn = particle(value)
    dyn.udot(0.0, X, p=[NONE if value else SMALL])
    for block in (dyn.prepared, particle(1.0).prepare([value]), prepared_in_c(dyn, [value])):
        close(called_in_c(dyn, "udot", block, X, 3), X, value)
        assert_array_equal(called_in_c(dyn, "udot", block, X, 3), dyn.udot(0.0, X))
        assert_array_equal(called_in_c(dyn, "multipliers", block, X, 2), dyn.multipliers(0.0, X))


# -------------------------------------------------------------------------------------------- the gallery
CONSTRAINED = constrained()
#: By default these; the others are long.
SHOWN = ["appell_hamel", "slider_crank"]
#: Parameters with which a state loses a row or more: (parameters, state).
DEAD_POINTS: dict[str, tuple[dict[str, float], dict[str, float]]] = {
    "four_bar": ({"L1": 1.0, "L2": 1.0, "L3": 1.0, "d": 1.0}, {"u1": 1.0, "u3": 1.0}),
    "slider_crank": ({"L1": 1.0, "L2": 1.0}, {"q1": np.pi / 2, "q2": -np.pi / 2, "u1": 0.3, "u2": 0.3}),
    "appell_hamel": ({}, {}),
    "constant_speed_particle": ({}, {}),
    "five_bar": ({"d": 0.2}, {}),
    "snakeboard": ({}, {}),
    "bricard": ({"L": 0.0}, {}),
    "whipple_bicycle": ({"rR": 0.0, "rF": 0.0}, {}),
}
#: Public kernels, and the projection that `consistent` and `simulate` stand on.
NAMES = [name for name in KERNELS if hasattr(kc.CompiledModel, name) or name == "project"]
NEEDS_UDOT = tuple(kernel.name for kernel in TABLE if kernel.reads_udot)
NEEDS_MULTIPLIERS = tuple(kernel.name for kernel in TABLE if kernel.reads_multipliers)


def beyond(dyn: kc.CompiledModel, kernel: str) -> tuple[Array, ...]:
    """What a kernel takes behind x."""
    lengths = [dyn.n_u] * (kernel in NEEDS_UDOT) + [dyn.n_constraints] * (kernel in NEEDS_MULTIPLIERS)
    return tuple(np.linspace(-1.0, 1.0, n) for n in lengths)


def kernel_of(dyn: kc.CompiledModel, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = dyn.kernels.project if name == "project" else getattr(dyn, name)
    return found


@cache
def states(name: str) -> Array:
    """STATE, states near it on the constraints and off them, and a dead point where one is known."""
    module, dyn = import_module(f"kanecore.gallery.{name}"), kc.load(name)
    start = np.array([module.STATE[key] for key in (*dyn.coordinate_names, *dyn.speed_names)])
    rng = np.random.default_rng(3)
    off = start + 0.02 * rng.uniform(-1.0, 1.0, dyn.n_x)
    found = [start, dyn.consistent(0.0, off, None), off]
    if name in DEAD_POINTS:
        dead = np.zeros(dyn.n_x)
        for key, value in DEAD_POINTS[name][1].items():
            dead[(*dyn.coordinate_names, *dyn.speed_names).index(key)] = value
        found.append(dead)
    return np.array(found)


@cache
def parameter_sets(name: str) -> Array:
    """The defaults, others nearby, and those of the dead point."""
    dyn = kc.load(name)
    default = dyn.kernels.values("parameter")
    others = default * (1.0 + 0.05 * np.random.default_rng(5).uniform(-1.0, 1.0, dyn.n_p))
    found = [default, others]
    if name in DEAD_POINTS:
        dead = default.copy()
        for key, value in DEAD_POINTS[name][0].items():
            dead[dyn.parameter_names.index(key)] = value
        found.append(dead)
    return np.array(found)


def calls(name: str) -> dict[Any, Call]:
    """Every kernel at every state with every parameter set, and None for the current ones."""

    def call(kernel: str, x: Array, p: Array | None) -> Call:
        def evaluate(dyn: kc.CompiledModel) -> Any:
            return kernel_of(dyn, kernel)(0.0, x, *beyond(dyn, kernel), p=p)

        return evaluate

    dyn = kc.load(name)
    kernels = [n for n in NAMES if dyn.kernels.has(n)]
    sets = [None, *parameter_sets(name)[1:]]
    return {
        (kernel, i, j): call(kernel, x, p)
        for kernel in kernels
        for i, x in enumerate(states(name))
        for j, p in enumerate(sets)
    }


def outcome(call: Call, dyn: kc.CompiledModel) -> Any:
    """The bits of the result, or the words of the error."""
    try:
        found = call(dyn)
    except (kc.KanecoreError, ArithmeticError, ValueError) as error:
        return type(error).__name__, str(error)
    return tuple(np.asarray(a).tobytes() for a in (found if isinstance(found, tuple) else (found,)))


@cache
def alone(name: str) -> dict[Any, Any]:
    """Each call on a model of its own."""
    return {key: outcome(call, kc.load(name)) for key, call in calls(name).items()}


def disturbances(name: str) -> Iterator[Call]:
    """Calls that look at, or find, other ranks; most fail somewhere."""
    x, p = states(name), parameter_sets(name)
    while True:
        for state in x[::-1]:
            for values in p[::-1]:
                yield lambda dyn, s=state, v=values: dyn.check(s, p=v)
                yield lambda dyn, s=state, v=values: dyn.consistent(0.0, s, p=v)
                yield lambda dyn, s=state, v=values: dyn.consistent(0.0, s, None, p=v)
                yield lambda dyn, s=state, v=values: dyn.simulate(
                    (0.0, 1e-3), s, parameters=dict(zip(dyn.parameter_names, v, strict=True))
                )
                yield lambda dyn, s=state, v=values: dyn.simulate((0.0, 1e-3), s, project=False)
                yield lambda dyn, s=state, v=values: dyn.linearize(0.0, s, p=v, minimal=True)
                yield lambda dyn, s=state, v=values: dyn.partial_velocities(0.0, s, p=v, nonholonomic=True)


@pytest.mark.long
@pytest.mark.parametrize("name", part(CONSTRAINED, ["appell_hamel"]))
def test_any_order_of_calls(name: str) -> None:
    """The same bits, and the same words where there is an error, as on a model that was never called."""
    dyn, known = kc.load(name), calls(name)
    keys, between = list(known), disturbances(name)
    for seed in range(2):
        for i, place in enumerate(np.random.default_rng(seed).permutation(len(keys))):
            if i % 12 == 0:
                outcome(next(between), dyn)
            key = keys[place]
            assert outcome(known[key], dyn) == alone(name)[key], key


@pytest.mark.parametrize("name", part(CONSTRAINED, SHOWN))
def test_any_lane_of_a_batch(name: str) -> None:
    """All states with all parameters at once: row by row as alone, the others in ``.out`` where some are singular."""
    dyn, x, p = kc.load(name), states(name), parameter_sets(name)
    rng = np.random.default_rng(1)
    pairs = rng.permutation([(i, j) for i in range(len(x)) for j in range(len(p))] * 2)
    for kernel in sorted({key[0] for key in calls(name)}):
        more = beyond(dyn, kernel)
        single = [alone(name)[kernel, i, j] for i, j in pairs]
        if any(len(s) and s[0] in ("ModelError", "NonFiniteError", "ValueError") for s in single):
            continue
        broken = [row for row, s in enumerate(single) if s[0] == "SingularError"]
        if broken:
            with pytest.raises(kc.SingularError) as caught:
                kernel_of(dyn, kernel)(0.0, x[pairs[:, 0]], *more, p=p[pairs[:, 1]])
            assert caught.value.rows.tolist() == broken, kernel
            found = caught.value.out
            if kernel == "linearize":
                found = found[..., : dyn.n_x], found[..., dyn.n_x :]
        else:
            found = kernel_of(dyn, kernel)(0.0, x[pairs[:, 0]], *more, p=p[pairs[:, 1]])
        parts = found if isinstance(found, tuple) else (found,)
        for row, one in enumerate(single):
            if row not in broken:
                assert tuple(np.ascontiguousarray(part[row]).tobytes() for part in parts) == one, (kernel, row)


@pytest.mark.parametrize("name", part(CONSTRAINED, SHOWN))
def test_any_thread(name: str) -> None:
    """Two threads on one model, each in its own order, with what disturbs."""
    dyn, known, reference = kc.load(name), calls(name), alone(name)
    keys = list(known)

    def run(seed: int) -> list[Any]:
        between = disturbances(name)
        wrong = []
        for i, place in enumerate(np.random.default_rng(seed).permutation(len(keys))):
            if i % 20 == 0:
                outcome(next(between), dyn)
            if outcome(known[keys[place]], dyn) != reference[keys[place]]:
                wrong.append(keys[place])
        return wrong

    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(run, (11, 12))] == [[], []]


@pytest.mark.parametrize("name", part(CONSTRAINED, SHOWN))
def test_workspaces_pickles_and_c(name: str) -> None:
    dyn, between = kc.load(name), disturbances(name)
    for _ in range(4):
        outcome(next(between), dyn)
    again, ws = pickle.loads(pickle.dumps(dyn)), dyn.workspace()
    sets = parameter_sets(name)
    for (kernel, i, j), call in calls(name).items():
        expected = alone(name)[kernel, i, j]
        assert outcome(call, again) == expected, (kernel, i, j)
        if kernel in ("project", "linearize", *NEEDS_UDOT):
            continue
        if callable(getattr(ws, kernel, None)):
            ws.x, ws.p = states(name)[i], sets[j]
            found = outcome(lambda _, kernel=kernel: getattr(ws, kernel)(), dyn)
            assert found == expected or found[0] == expected[0] == "SingularError", (kernel, i, j)
        if expected[0] not in ("SingularError", "NonFiniteError", "ModelError"):
            size = len(expected[0]) // 8
            block = dyn.prepare(sets[j]) if j else dyn.prepared
            assert called_in_c(dyn, kernel, block, states(name)[i], size).tobytes() == expected[0], (kernel, i, j)


@pytest.mark.parametrize("name", part(CONSTRAINED, SHOWN))
def test_runs_do_not_depend_on_what_was_before(name: str) -> None:
    """A run's bits: on a new model, and after everything else."""

    def run(dyn: kc.CompiledModel) -> Any:
        return dyn.simulate((0.0, 0.01), states(name)[1], t_eval=np.linspace(0.0, 0.01, 3)).x

    dyn, expected = kc.load(name), outcome(run, kc.load(name))
    assert isinstance(expected[0], bytes), expected
    for _, disturb in zip(range(21), disturbances(name), strict=False):
        outcome(disturb, dyn)
    assert outcome(run, dyn) == expected
    found = outcome(lambda m: tuple(vars(m.check(states(name)[1])).values())[2:7], kc.load(name))
    assert outcome(lambda m: tuple(vars(m.check(states(name)[1])).values())[2:7], dyn) == found


# ------------------------------------------------------------------------------------------------------ rounding
#: Of fesetround on x86-64.
MODES = {"downward": 0x400, "upward": 0x800, "toward zero": 0xC00}


@pytest.mark.skipif(platform.machine() != "x86_64" or sys.platform != "linux", reason="calls fesetround by its numbers")
@pytest.mark.parametrize("compiler", ["none", pytest.param(None, marks=pytest.mark.compiler)])
@pytest.mark.parametrize("name", part(kc.models(), ["cart_pole"]))
def test_another_rounding_mode(name: str, compiler: str | None) -> None:
    """Whatever mode another library leaves set: what rounding of arguments changes, at large angles, in lanes too."""
    libm, module = ctypes.CDLL(None), import_module(f"kanecore.gallery.{name}")
    dyn = kc.compile(module.build(), parameters=module.PARAMETERS, cc=compiler)
    dyn.inputs = dict.fromkeys(dyn.inputs, 0.25)
    state, rng = np.asarray(some_state(name)), np.random.default_rng(0)
    states = [state, np.repeat(state[np.newaxis], 256, axis=0)]
    if not dyn.n_constraints and not dyn.unit:
        states += [state + np.repeat([turn, 0.0], [dyn.n_q, dyn.n_x - dyn.n_q]) for turn in (3e4, 1e12)]

    def near(x: Array) -> Array:
        p, r = dyn.kernels.values("parameter"), dyn.kernels.values("input")
        x, r, p = (value * (1.0 + 2.0**-52 * rng.choice([-1.0, 1.0], np.shape(value))) for value in (x, r, p))
        return np.asarray(dyn.rhs(0.25, x, r=r, p=p))

    for x in states:
        true = dyn.rhs(0.25, x)
        allowed = 8 * max(np.max(np.abs(near(x) - true)) for _ in range(6)) + 2e-15 * np.max(np.abs(true), initial=0.0)
        for mode in MODES.values():
            try:
                assert libm.fesetround(mode) == 0
                found = dyn.rhs(0.25, x)
            finally:
                libm.fesetround(0)
            assert np.max(np.abs(found - true), initial=0.0) <= allowed
