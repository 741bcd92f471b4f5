# SPDX-License-Identifier: BSD-3-Clause
"""``kc.sweep``: the same results from every executor, errors by case, and what is left when something ends it."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sweep
import sympy.physics.mechanics as me
from numpy.testing import assert_array_equal
from sweep_functions import Attributes, end, run, square, various, where

import kanecore as kc
from kanecore.motion import parameter_sweeps


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    """Processes that share nothing with this one."""
    with ProcessPoolExecutor(2 if sweep.LONG else 1, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


class Immediate:
    """All that an executor must have."""

    def __init__(self) -> None:
        self.submitted = 0

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        self.submitted += 1
        future: Future[Any] = Future()
        future.set_result(function(*arguments))
        return future


CASES = [{"theta1": 0.1 * i, "omega2": 0.3} for i in range(5)]


# ------------------------------------------------------------------------------------------------- results, errors
@pytest.mark.long
def test_every_executor_gives_the_same(pool: ProcessPoolExecutor) -> None:
    fn = partial(end, kc.load("rrp"))
    here = kc.sweep(fn, CASES)
    assert not here.errors
    assert here.unfinished == ()
    with ThreadPoolExecutor(2) as threads:
        for executor in (threads, pool, Immediate()):
            there = kc.sweep(fn, iter(CASES), executor)
            assert there.cases == CASES
            assert_array_equal(there.array(), here.array())
    assert here.array().shape == (5, 6)
    assert_array_equal(here.results[3], fn(CASES[3]))


def test_errors_are_those_of_their_cases(pool: ProcessPoolExecutor) -> None:
    cases = [1.0, "raise", 2.0, "exit", 3.0]
    for executor in (None, pool):
        found = kc.sweep(various, cases, executor)
        assert found.results == [1.0, None, 2.0, None, 3.0]
        assert list(found.errors) == [1, 3]
        assert isinstance(found.errors[1], Attributes)
        assert (str(found.errors[1]), found.errors[1].number) == ("as told", 7)
        assert isinstance(found.errors[3], SystemExit)
        assert repr(found) == "<Sweep of 5 cases: 2 failed>"
        assert_array_equal(found.array(), [1.0, np.nan, 2.0, np.nan, 3.0])
    assert "in various" in str(found.errors[1].__cause__)  # the traceback of the other process


@pytest.mark.long
def test_errors_of_kanecore_keep_what_they_hold(pool: ProcessPoolExecutor) -> None:
    found = kc.sweep(partial(end, kc.load("rrp")), [{"omega1": 13.0}, {"omega1": 1.0}], pool)
    error = found.errors[0]
    assert isinstance(error, kc.IntegrationError)
    assert error.trajectory.n_steps > 1
    assert_array_equal(error.trajectory(0.0), [0, 0, 0, 13.0, 0, 0])
    flat = {"d": 1.5, "L1": 1.0, "L2": 2.0, "L3": 1.5}
    found = kc.sweep(partial(kc.load("four_bar").udot, 0.0, p=flat), [np.zeros(6)], pool)
    assert isinstance(found.errors[0], kc.SingularError)
    assert found.errors[0].row == 3
    assert_array_equal(found.errors[0].x, np.zeros(6))


@pytest.mark.long
def test_trajectories_come_back_whole(pool: ProcessPoolExecutor) -> None:
    fn = partial(run, kc.load("rrp"))
    sol, here = kc.sweep(fn, CASES[:1], pool).results[0], fn(CASES[0])
    assert_array_equal(sol.x, here.x)
    assert_array_equal(sol([0.1, 0.33]), here([0.1, 0.33]))
    assert_array_equal(sol.r, here.r)


def test_what_cannot_be_pickled_is_an_error_of_its_case(
    pool: ProcessPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parameter_sweeps, "_cloudpickle", lambda: None)
    cases = [0, "unloadable", threading.Lock(), 1, "attribute"]
    found = kc.sweep(various, cases, pool)
    assert found.results == [0, None, None, 1, None]
    assert isinstance(found.errors[4], Attributes)
    assert vars(found.errors[4]) == {"number": 8, "lock": None}
    assert "cannot be loaded here" in str(found.errors[1])
    assert "3 that cannot be loaded" in str(found.errors[1])
    assert isinstance(found.errors[2], TypeError)
    assert "case 2 cannot be sent to other processes: TypeError: cannot pickle" in str(found.errors[2])
    # in a batch with others
    many = kc.sweep(square, [threading.Lock() if i == 7 else i for i in range(1500)], pool)
    assert list(many.errors) == [7]
    assert many.results[1499] == 1499**2
    with pytest.raises(TypeError, match=r"fn cannot be sent to other processes: .*Define it at the top of a module"):
        kc.sweep(lambda case: case, cases, pool)
    assert kc.sweep(square, [3], pool).results == [9]  # the pool is well


def test_results_that_cannot_be_sent_back() -> None:
    """Of a process that has no cloudpickle."""
    outcome = parameter_sweeps._Outcome(threading.Lock(), None)
    function, arguments, *_ = outcome.__reduce__()
    received = function(*arguments)
    assert "its result cannot be sent back: TypeError: cannot pickle" in str(received.error)


def test_a_function_that_workers_cannot_find(pool: ProcessPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parameter_sweeps, "_cloudpickle", lambda: None)
    monkeypatch.setattr(sys.modules["sweep_functions"], "later", square, raising=False)
    monkeypatch.setattr(square, "__qualname__", "later")
    found = kc.sweep(square, [1, 2], pool)
    assert isinstance(found.errors[1], kc.WorkerError)
    assert "could not load fn: AttributeError" in str(found.errors[1])


def test_functions_from_anywhere_with_cloudpickle(pool: ProcessPoolExecutor) -> None:
    pytest.importorskip("cloudpickle", reason="it comes with dask")
    dyn = kc.load("rrp")
    found = kc.sweep(lambda case: dyn.rhs(0.0, case), CASES, pool)
    assert_array_equal(found.array()[2], dyn.rhs(0.0, CASES[2]))


# ------------------------------------------------------------------------------------------------ what ends a sweep
def test_a_worker_that_dies() -> None:
    """What was computed is kept, and the rest says what happened."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        kc.sweep(square, [1, 2, 3, 4], executor)  # they have started
        found = kc.sweep(various, [0.5, "die", *range(3000)], executor)
    assert not found.unfinished
    assert found.results[0] is None or found.results[0] == 0.5
    assert 1 in found.errors
    for i, error in found.errors.items():
        assert isinstance(error, kc.WorkerError)
        assert f"case {i} was lost: a worker died" in str(error)
    assert {i for i, result in enumerate(found.results) if result is None} == set(found.errors)


class Forgetful:
    """An executor that breaks at its third task, without a word of the second."""

    def __init__(self) -> None:
        self.submitted = 0

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        self.submitted += 1
        future = Future[Any]()
        if self.submitted == 1:
            future.set_result(function(*arguments))
        if self.submitted > 2:
            raise BrokenExecutor("a process ended")
        return future


def test_a_task_that_a_broken_executor_forgot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's forgets one that is submitted while a worker dies."""
    monkeypatch.setattr(parameter_sweeps, "_POLL", 0.01)
    found = kc.sweep(square, [1, 2, 3], Forgetful())
    assert found.results == [1, None, None]
    assert all("was lost: a worker died" in str(found.errors[i]) for i in (1, 2))


def test_an_interrupted_sweep_keeps_what_it_has() -> None:
    def interrupt(case: int) -> int:
        if case == 3:
            raise KeyboardInterrupt
        return case

    with pytest.raises(KeyboardInterrupt) as caught:
        kc.sweep(interrupt, range(6))
    done = vars(caught.value)["sweep"]
    assert done.results == [0, 1, 2, None, None, None]
    assert done.unfinished == (3, 4, 5)
    assert repr(done) == "<Sweep of 6 cases: 0 failed, 3 not reached>"
    assert_array_equal(done.array(), [0, 1, 2, np.nan, np.nan, np.nan])


def test_what_is_away_is_called_back() -> None:
    begun = list[int]()

    def slow(case: int) -> int:
        begun.append(case)
        time.sleep(0.02)
        return case

    def impatient(done: int, total: int) -> None:
        if done == 2:
            raise RuntimeError("enough")

    with ThreadPoolExecutor(1) as threads, pytest.raises(RuntimeError, match="enough") as caught:
        kc.sweep(slow, range(50), threads, progress=impatient)
    done = vars(caught.value)["sweep"]
    assert done.results[:2] == [0, 1]
    assert len(begun) < 10
    assert len(done.unfinished) > 40


@pytest.mark.skipif(sys.platform == "win32", reason="another way to send Ctrl-C")
def test_ctrl_c() -> None:
    """With and without an executor."""
    code = """
import os, signal, threading, time
from concurrent.futures import ThreadPoolExecutor
import kanecore as kc

signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent may ignore it

def until_three(case):
    time.sleep(0.05)
    if case == 3:
        os.kill(os.getpid(), signal.SIGINT)
    return case

for executor in (None, ThreadPoolExecutor(1)):
    try:
        kc.sweep(until_three, range(100), executor)
    except KeyboardInterrupt as error:
        done = error.sweep
        assert done.results[0] == 0 and len(done.unfinished) > 80, done
        print("kept", flush=True)
os._exit(0)
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=30)
    assert (process.returncode, process.stdout) == (0, "kept\nkept\n"), process.stderr


def test_an_executor_that_was_shut_down() -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(RuntimeError, match="cannot schedule new futures after shutdown"):
        kc.sweep(square, [1], executor)


# ------------------------------------------------------------------------------------------------- many, and where
@pytest.mark.long
def test_many_cases_are_few_tasks() -> None:
    executor, reports = Immediate(), list[tuple[int, int]]()
    found = kc.sweep(square, range(100_000), executor, progress=lambda *done: reports.append(done))
    assert executor.submitted == 1000
    assert found.results[-1] == 99_999**2
    assert reports[-1] == (100_000, 100_000)
    assert kc.sweep(square, [], executor).results == []


@pytest.mark.long
@pytest.mark.compiler
def test_a_model_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By workers that start together, with a cache that does not know it; none by those whose cache does."""
    q, u = me.dynamicsymbols("q u")
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    bob = me.Particle("bob", origin.locatenew("P", 2 * q * frame.x), 1.5)
    model = kc.Model(frame, [q], [u], [q.diff() - u], bodies=[bob], name="sliding")
    dyn = kc.compile(model, kernels=["energies"])
    compiler = tmp_path / "cc"
    compiler.write_text(f'#!/bin/sh\necho run >>{tmp_path}/runs\nsleep 0.5\nexec cc "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("KANECORE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("CC", str(compiler))
    for _ in range(2):
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
            found = kc.sweep(partial(where, dyn), np.arange(40.0), executor)
    assert not found.errors
    processes, energies = zip(*found.results, strict=True)
    assert len(set(processes)) == 2
    np.testing.assert_allclose(energies, 0.5 * 1.5 * (2 * np.arange(40.0)) ** 2)
    assert len((tmp_path / "runs").read_text().split()) == len(dyn.source)


@pytest.mark.filterwarnings("default")  # what other packages warn of is theirs
def test_dask(tmp_path: Path) -> None:
    """A cluster with processes for workers: results, errors by case, and workers that a case kills."""
    distributed = pytest.importorskip("distributed", reason="pip install 'dask[distributed]'")
    import dask

    settings = {"distributed.scheduler.allowed-failures": 1, "temporary-directory": str(tmp_path)}
    cluster = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with dask.config.set(settings), distributed.LocalCluster(**cluster) as local, distributed.Client(local) as client:
        dyn = kc.load("rrp")
        fn = partial(end, dyn)
        here = kc.sweep(fn, CASES)
        for executor in (client, client.get_executor()):
            assert_array_equal(kc.sweep(fn, CASES, executor).array(), here.array())
        found = kc.sweep(lambda case: (os.getpid(), various(case)), [1, "raise", 2, threading.Lock()], client)
        assert os.getpid() not in {result[0] for result in found.results if result}
        assert [result and result[1] for result in found.results] == [1, None, 2, None]
        assert isinstance(found.errors[1], Attributes)
        assert "case 3 cannot be sent" in str(found.errors[3])
        found = kc.sweep(various, ["die"], client)
        assert isinstance(found.errors[0], kc.WorkerError)
        assert "KilledWorker" in str(found.errors[0])
        assert kc.sweep(various, range(3), client).results == [0, 1, 2]  # others are there by now


# ---------------------------------------------------------------------------------------------------------- tables
def test_tables() -> None:
    cases = [{"m": 1.0, "k": 2.0}, {"m": 0.0, "k": 3.0}, {"m": 4.0}]
    found = kc.sweep(lambda case: {"omega": (case.get("k", 1.0) / case["m"]) ** 0.5, "n": 1}, cases)
    with pytest.raises(ZeroDivisionError) as division:
        1.0 / 0.0  # noqa: B018  # whose words depend on Python
    assert found.columns() == {
        "m": [1.0, 0.0, 4.0],
        "k": [2.0, 3.0, None],
        "omega": [2.0**0.5, None, 0.5],
        "n": [1, None, 1],
        "error": [None, f"ZeroDivisionError: {division.value}", None],
    }
    assert_array_equal(found.array("omega"), [2.0**0.5, np.nan, 0.5])
    assert kc.sweep(square, [1, 2]).columns() == {"case": [1, 2], "result": [1, 4]}
    with pytest.raises(TypeError, match=r"results are mappings: name one of their values, array\('omega'\)"):
        found.array()
    with pytest.raises(KeyError, match="no value of the results is called 'omeg'; did you mean 'omega'"):
        found.array("omeg")
    with pytest.raises(ValueError, match="'m' is a key of cases, and of results as well"):
        kc.sweep(lambda case: {"m": 1}, cases).columns()


def test_dataframe() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is optional")
    table = kc.sweep(lambda case: {"omega": case["k"] ** 0.5}, [{"k": 4.0}, {"k": 9.0}]).to_dataframe()
    pandas.testing.assert_frame_equal(table, pandas.DataFrame({"k": [4.0, 9.0], "omega": [2.0, 3.0]}))
    with pytest.raises(TypeError, match="cases is a table, whose items are its columns"):
        kc.sweep(square, table)


def test_results_that_make_no_array() -> None:
    assert kc.sweep(square, [1, 2]).array().dtype == np.int64
    with pytest.raises(ValueError, match=r"result of case 1 has shape \(2,\), and that of case 0 \(1,\)"):
        kc.sweep(np.zeros, [1, 2]).array()
    with pytest.raises(TypeError, match="the result of case 0 is a str, which has no numbers"):
        kc.sweep(str, [1]).array()
    with pytest.raises(ValueError, match="no case has a result: <Sweep of 1 cases: 1 failed>"):
        kc.sweep(square, ["a"]).array()
    with pytest.raises(TypeError, match=r"array\('x'\) is for results that are mappings, not int"):
        kc.sweep(square, [1]).array("x")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((4, [1]), "fn is 4; it must be a function"),
        ((square, {"a": [1]}), "cases is a mapping, whose items are its keys: give a list"),
        ((square, [1], 4), r"executor must have submit\(function, \*arguments\)"),
        ((square, [1], None, "yes"), "progress must be True, False or a function"),
    ],
)
def test_wrong_arguments(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        kc.sweep(*arguments)


def test_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm", reason="tqdm is optional")
    kc.sweep(square, range(5), progress=True)
    assert "5/5" in capsys.readouterr().err


@pytest.mark.long
def test_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ModuleNotFoundError, match=r"progress=True draws with tqdm: pip install"):
        kc.sweep(square, range(5), progress=True)
