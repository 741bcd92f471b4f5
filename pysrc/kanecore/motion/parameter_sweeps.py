# SPDX-License-Identifier: BSD-3-Clause
"""Parameter sweeps: one function for many cases, in this process, in threads, in processes, or on a cluster.

A worker gets the function and a batch of cases, and answers each case separately, with a result or with the exception
of this case.  Function, cases and answers are pickled by this module.  So only a case that cannot be pickled or loaded
fails, while an executor would lose its worker.  A worker loads the function once, with its models.
"""

from __future__ import annotations

import pickle
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from functools import lru_cache
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kanecore.errors import WorkerError, unknown_name
from kanecore.motion.progress import reporting

__all__ = ["Sweep", "sweep"]

_TASKS = 1000  # batches of cases, and batches that an executor has at a time
_POLL = 0.5  # seconds after which a waiting process notices Ctrl-C, if a lock does not wake up by itself
_FUNCTIONS = 4  # functions that a worker keeps


class Sweep:
    """Results of `sweep`, case by case.

    Attributes
    ----------
    cases : list
    results : list
        Results in the order of the cases; None if a case failed, or was not reached.
    errors : dict of int to exception
        Exceptions by the number of the case, in order.
    unfinished : tuple of int
        Numbers of the cases that an interrupted sweep did not reach.
    """

    def __init__(self, cases: list[Any]) -> None:
        self.cases = cases
        self.results: list[Any] = [None] * len(cases)
        self._errors: dict[int, BaseException] = {}  # in order of arrival
        self._in_order: dict[int, BaseException] = {}
        self._open = dict.fromkeys(range(len(cases)))

    @property
    def errors(self) -> dict[int, BaseException]:
        if len(self._in_order) < len(self._errors):
            self._in_order = dict(sorted(self._errors.items()))
        return self._in_order

    @property
    def unfinished(self) -> tuple[int, ...]:
        return tuple(self._open)

    def __len__(self) -> int:
        return len(self.cases)

    def __repr__(self) -> str:
        left = f", {len(self._open)} not reached" if self._open else ""
        return f"<Sweep of {len(self)} cases: {len(self._errors)} failed{left}>"

    def array(self, name: Any = None) -> npt.NDArray[Any]:
        """Results as one array, (number of cases, ...), NaN for cases that failed or were not reached.

        Parameters
        ----------
        name : optional
            If results are mappings: the key of the value.

        Raises
        ------
        ValueError
            Results have different shapes, or there is none.
        TypeError
            Results are mappings and `name` is missing, or results are no numbers.
        KeyError
            No result has a value of this name.
        """
        values = {i: _value(self.results[i], name) for i in self._finished}
        if not values:
            raise ValueError(f"no case has a result: {self!r}; see .errors")
        arrays = {i: np.asarray(value) for i, value in values.items()}
        first = next(iter(arrays))
        for i, array in arrays.items():
            if array.dtype.kind not in "fiubc":
                raise TypeError(
                    f"the result of case {i} is a {type(values[i]).__name__}, which has no numbers: see .results"
                )
            if array.shape != arrays[first].shape:
                raise ValueError(
                    f"the result of case {i} has shape {array.shape}, and that of case {first} {arrays[first].shape}: "
                    "they cannot be joined in an array; see .results"
                )
        kind = np.result_type(*arrays.values())
        if len(arrays) == len(self):
            return np.array(list(arrays.values()), dtype=kind)
        stacked = np.full((len(self), *arrays[first].shape), np.nan, dtype=np.result_type(kind, np.float64))
        for i, array in arrays.items():
            stacked[i] = array
        return stacked

    def columns(self) -> dict[str, list[Any]]:
        """Cases and results as columns of a table: the keys of mappings, else ``case`` and ``result``; then ``error``.

        None if a case has no such value.  The column ``error`` exists if a case failed, and has the messages.

        Raises
        ------
        ValueError
            A case and a result have a key in common.
        """
        cases, results = _columns(self.cases, "case"), _columns(self.results, "result", self._finished)
        both = [name for name in (*results, "error") if name in cases]
        if both:
            raise ValueError(f"{both[0]!r} is a key of cases, and of results as well: give one of the two another name")
        table = {**cases, **results}
        if self.errors:
            messages = {i: f"{type(error).__name__}: {error}" for i, error in self.errors.items()}
            table["error"] = [messages.get(i) for i in range(len(self))]
        return table

    def to_dataframe(self) -> Any:
        """The table of `columns` as a ``pandas.DataFrame``; its index is the number of the case.

        Raises
        ------
        ModuleNotFoundError
            pandas is not installed.
        ValueError
            As for `columns`.
        """
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("to_dataframe needs pandas: pip install pandas, or use columns()") from error
        return pandas.DataFrame(self.columns())

    @property
    def _finished(self) -> list[int]:
        """The cases with a result."""
        return [i for i in range(len(self)) if i not in self._errors and i not in self._open]

    def _take(self, i: int, outcome: _Outcome) -> None:
        if outcome.error is None:
            self.results[i] = outcome.value
        else:
            self._errors[i] = outcome.error
        del self._open[i]  # last, since Ctrl-C may come before


def sweep(fn: Callable[[Any], Any], cases: Iterable[Any], executor: Any = None, progress: Any = False) -> Sweep:
    """Call ``fn(case)`` for each case, in this process, in threads, in processes, or on a cluster.

    Parameters
    ----------
    fn : callable
        ``fn(case) -> result``.  It must not change its own data, since any worker may compute any case.  So give
        parameters to ``simulate(..., parameters=case)``, and do not set ``dyn.parameters``.  For other processes `fn`
        is pickled, with its models: it must be a function of a module, or a ``functools.partial`` of one.  With
        cloudpickle, which Dask installs, it may be defined anywhere.
    cases : iterable
        Arguments of the calls of `fn`, one each.
    executor : optional
        None: one case after another in this process.  Else any object with ``submit(function, *arguments)`` that
        returns futures like those of ``concurrent.futures``: its ThreadPoolExecutor (`simulate` and batches release the
        GIL) and ProcessPoolExecutor (with any start method), a Client of Dask, executors of loky, mpi4py, ipyparallel.
        The executor stays open.
    progress : bool or callable
        True: a bar of tqdm.  A callable is called with the number of finished cases, and the number of all cases.

    Returns
    -------
    Sweep
        ``.results`` in the order of the cases, ``.errors`` by the number of the case.  An exception in a case does not
        affect other cases.  A worker that dies (out of memory, killed) loses its cases, and a pool of
        ``concurrent.futures`` then loses all unfinished cases: these have a WorkerError.

    Raises
    ------
    TypeError
        `fn` cannot be called; `cases` is a mapping or a table; `executor` has no ``submit``; `fn` cannot be pickled.
    KeyboardInterrupt
        Ctrl-C was pressed; ``error.sweep`` has the results so far, as for any other error that ends the sweep.

    Notes
    -----
    Cases are sent in batches of at most a thousand.  A worker loads `fn` once; a model is compiled once on a machine,
    by the first process that needs it.
    """
    if not callable(fn):
        raise TypeError(f"fn is {fn!r}; it must be a function fn(case)")
    listed = _listed(cases)
    submit = None if executor is None else _submitting(executor)
    done = Sweep(listed)
    with reporting(progress, len(listed), "case") as report:
        try:
            if submit is None:
                for i, case in enumerate(listed):
                    done._take(i, _answer(fn, _Sent(case)))
                    report(i + 1)
            else:
                _Tasks(fn, done, submit, report).run()
        except BaseException as error:
            vars(error)["sweep"] = done  # of any class, also of one without settable attributes
            raise
    return done


def _listed(cases: Iterable[Any]) -> list[Any]:
    if isinstance(cases, Mapping):
        raise TypeError(
            "cases is a mapping, whose items are its keys: give a list of cases, such as "
            "[dict(zip(arrays, values)) for values in zip(*arrays.values())]"
        )
    if hasattr(cases, "to_dict") and hasattr(cases, "columns"):
        raise TypeError('cases is a table, whose items are its columns: give its rows, table.to_dict("records")')
    return list(cases)


def _submitting(executor: Any) -> Callable[..., Any]:
    """Method ``submit`` of an executor; for a Client of Dask a version that never merges two equal calls."""
    if hasattr(executor, "get_executor"):
        executor = executor.get_executor(pure=False)
    if not callable(getattr(executor, "submit", None)):
        raise TypeError(
            f"executor must have submit(function, *arguments), as concurrent.futures.ProcessPoolExecutor() has, not "
            f"{executor!r}"
        )
    submit: Callable[..., Any] = executor.submit
    return submit


def _value(result: Any, name: Any) -> Any:
    """A result, or its value with a given name."""
    if not isinstance(result, Mapping):
        if name is not None:
            raise TypeError(f"array({name!r}) is for results that are mappings, not {type(result).__name__}")
        return result
    if name is None:
        raise TypeError(f"results are mappings: name one of their values, array({next(iter(result), 'name')!r})")
    if name not in result:
        raise unknown_name("value of the results is called", name, map(str, result))
    return result[name]


def _columns(items: list[Any], name: str, there: Iterable[int] | None = None) -> dict[str, list[Any]]:
    """Columns of a table: the keys of mappings, or one column with this name; None for missing items."""
    numbers = range(len(items)) if there is None else list(there)
    if not (numbers and all(isinstance(items[i], Mapping) for i in numbers)):
        return {name: items}
    table: dict[str, list[Any]] = {}
    for i in numbers:
        for key, value in items[i].items():
            table.setdefault(str(key), [None] * len(items))[i] = value
    return table


# ------------------------------------------------------------------------------------------------ the caller


class _Tasks:
    """The batches of a sweep, sent to an executor and received."""

    def __init__(
        self, fn: Callable[[Any], Any], done: Sweep, submit: Callable[..., Any], report: Callable[[float], None]
    ) -> None:
        self._fn, self._done, self._submit, self._report = _Sent(fn), done, submit, report
        n = len(done)
        size = -(-n // _TASKS) or 1
        self._waiting = deque(range(first, min(first + size, n)) for first in range(0, n, size))
        self._away: dict[int, _Task] = {}
        self._back: SimpleQueue[int] = SimpleQueue()
        self._broken: BrokenExecutor | None = None  # the executor's error if it broke

    def run(self) -> None:
        number = 0
        try:
            while self._waiting or self._away:
                while self._waiting and len(self._away) < _TASKS:
                    self._send(number, self._waiting.popleft())
                    number += 1
                self._receive()
        except BaseException:
            self._stop()
            raise

    def _send(self, number: int, batch: range) -> None:
        task = _Task(batch, [_Sent(self._done.cases[i]) for i in batch])
        try:
            task.future = self._submit(_answers, self._fn, task.cases)
        except Exception as error:
            self._refused(task, error)
            return
        self._away[number] = task
        task.future.add_done_callback(lambda _: self._back.put(number))

    def _receive(self) -> None:
        """Wait for a batch, and take its answers."""
        try:
            task = self._away.pop(self._back.get(timeout=_POLL), None)
        except Empty:
            if self._broken is not None:
                self._forget(self._broken)
            return
        if task is None:
            return  # it returned after all
        try:
            self._take(task)
        except Exception as error:
            self._refused(task, error)
        except BaseException as error:  # raised in a worker: Ctrl-C reaches all processes of the terminal
            self._lose(task, error)
        self._report(len(self._done) - len(self._done._open))

    def _forget(self, error: BrokenExecutor) -> None:
        """Give up tasks in flight: a ProcessPoolExecutor never ends tasks that it got while it broke."""
        for task in self._away.values():
            self._lose(task, error)
        self._away.clear()

    def _take(self, task: _Task) -> None:
        for i, answer in zip(task.batch, task.future.result(), strict=True):
            self._done._take(i, answer)

    def _refused(self, task: _Task, error: Exception) -> None:
        """Handle an error of the executor, not of the function: the worker died, or an object could not be sent."""
        if self._fn.refused is not None:
            raise TypeError(
                f"fn cannot be sent to other processes: {self._fn.refused}. Define it at the top of a module, give it "
                "what it needs by functools.partial, or install cloudpickle"
            ) from error
        if isinstance(error, BrokenExecutor):
            self._broken = error
            self._lose(task, error)
        elif isinstance(error, RuntimeError) and not self._done._finished:
            raise error  # the executor was shut down
        elif len(task.batch) > 1:
            self._waiting.extend(range(i, i + 1) for i in task.batch)  # one by one, to find the failing case
        else:
            self._lose(task, error)

    def _lose(self, task: _Task, error: BaseException) -> None:
        for i, case in zip(task.batch, task.cases, strict=True):
            if case.refused is not None:
                lost: Exception = TypeError(f"case {i} cannot be sent to other processes: {case.refused}")
            else:
                lost = WorkerError(
                    f"case {i} was lost: a worker died, or the executor with it ({type(error).__name__}: {error}); run "
                    "the lost cases again, with fewer at a time if memory was short"
                )
            lost.__cause__ = error
            self._done._take(i, _Outcome(None, lost))

    def _stop(self) -> None:
        """Cancel tasks that have not begun, and collect finished ones."""
        for task in self._away.values():
            task.future.cancel()
        for task in self._away.values():
            if task.future.done():
                with suppress(BaseException):
                    self._take(task)


class _Task:
    """Batch: the numbers of its cases, the cases as sent, and the executor's future."""

    future: Any

    def __init__(self, batch: range, cases: list[_Sent]) -> None:
        self.batch, self.cases = batch, cases


# ----------------------------------------------------------------------------------------------- the workers


class _Loadable(Protocol):
    def load(self) -> Any: ...

    def load_once(self) -> Any: ...


def _answers(fn: _Loadable, cases: Sequence[_Loadable]) -> list[_Outcome]:
    """Answers of a worker to a batch of cases."""
    try:
        function = fn.load_once()
    except Exception as error:
        lost = WorkerError(
            f"a worker could not load fn: {type(error).__name__}: {error}. Define it in a module that workers can "
            "import, or install cloudpickle"
        )
        return [_Outcome(None, lost)] * len(cases)
    return [_answer(function, case) for case in cases]


def _answer(fn: Callable[[Any], Any], case: _Loadable) -> _Outcome:
    """Result of a function for one case, or the exception that it raised."""
    try:
        return _Outcome(fn(case.load()), None)
    except (Exception, SystemExit) as error:
        return _Outcome(None, error)


class _Outcome:
    """Result of a case, or its error, pickled as bytes; a failure to send it becomes the error of the case."""

    def __init__(self, value: Any, error: BaseException | None) -> None:
        self.value, self.error = value, error

    def __reduce__(self) -> tuple[Any, ...]:
        trace = "" if self.error is None else "".join(traceback.format_exception(self.error))
        try:
            data = _dumps((self.value, _without_what_stays(self.error)))
        except Exception as error:
            data = _dumps((None, _unsent(trace, "sent back", error)))
        return _received, (data, trace)


def _without_what_stays(error: BaseException | None) -> BaseException | None:
    """Error with None for attributes that cannot be pickled, which is better than no error."""
    for name, value in list(vars(error).items()) if error is not None else ():
        try:
            _dumps(value)
        except Exception:
            vars(error)[name] = None
    return error


def _received(data: bytes, trace: str) -> _Outcome:
    """An outcome, unpickled by the caller."""
    try:
        value, error = pickle.loads(data)
    except Exception as failure:
        value, error = None, _unsent(trace, "loaded here", failure)
    if trace and error.__cause__ is None:
        error.__cause__ = _Remote(trace)
    return _Outcome(value, error)


def _unsent(trace: str, action: str, why: Exception) -> TypeError:
    """Error of a case whose result, or whose error, cannot be sent to another process."""
    subject = f"its error, {trace.strip().splitlines()[-1]!r}," if trace else "its result"
    return TypeError(f"{subject} cannot be {action}: {type(why).__name__}: {why}")


class _Remote(Exception):
    """Traceback of an exception in another process, as text: the cause of the exception here."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


# -------------------------------------------------------------------------------------------------- between


class _Sent:
    """Object sent to a worker, pickled when it leaves the process; ``refused`` is the reason if that fails."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._data: bytes | None = None
        self.refused: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        if self._data is None:
            try:
                self._data = _dumps(self._value, by_value=True)
            except Exception as error:
                self.refused = f"{type(error).__name__}: {error}"
                raise
        return _Arrived, (self._data,)

    def load(self) -> Any:
        return self._value

    load_once = load


class _Arrived:
    """Object received by a worker, still pickled, so that errors of unpickling arise at its use."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __reduce__(self) -> tuple[Any, ...]:
        return _Arrived, (self._data,)

    def load(self) -> Any:
        return pickle.loads(self._data)

    def load_once(self) -> Any:
        """The object common to all batches: a function with its models."""
        with _loading:
            return _loaded(self._data)


_loading = Lock()


@lru_cache(maxsize=_FUNCTIONS)
def _loaded(data: bytes) -> Any:
    return pickle.loads(data)


def _dumps(value: Any, by_value: bool = False) -> bytes:
    """Pickle an object, by cloudpickle (if installed) if pickle fails or if only this process could find the object."""
    try:
        data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception:
        if (dumps := _cloudpickle()) is None:
            raise
        return dumps(value)
    if by_value and b"__main__" in data and (dumps := _cloudpickle()) is not None:
        return dumps(value)
    return data


@lru_cache
def _cloudpickle() -> Callable[[Any], bytes] | None:
    try:
        from cloudpickle import dumps
    except ModuleNotFoundError:
        return None
    function: Callable[[Any], bytes] = dumps
    return function
