# SPDX-License-Identifier: BSD-3-Clause
"""Progress reports of long computations, to a caller's function or as a bar of tqdm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["reporting", "reporting_time"]

_SECONDS = "{l_bar}{bar}| t = {n:.4g} of {total:.4g} s [{elapsed}<{remaining}]"


@contextmanager
def reporting(progress: Any, total: float, unit: str) -> Iterator[Callable[[float], None]]:
    """Function to call with the amount done of ``total``, for an argument ``progress``.

    Parameters
    ----------
    progress : bool or callable
        False: no report.  True: a bar of tqdm.  A callable is called with the amount done, and ``total``.

    Raises
    ------
    ModuleNotFoundError
        tqdm is not installed.
    TypeError
        `progress` is neither a bool nor callable.
    """
    if callable(progress):
        yield lambda done: progress(done, total)
    elif progress is True:
        with _bar(total, unit) as bar:
            yield lambda done: bar.update(done - bar.n)
    elif progress is False or progress is None:
        yield lambda done: None
    else:
        raise TypeError(f"progress must be True, False or a function of amount done and total, not {progress!r}")


@contextmanager
def reporting_time(progress: Any, t0: float, t1: float) -> Iterator[Callable[[float], object] | None]:
    """Function to call with t of a run from t0 to t1, for an argument ``progress``; or None.

    Parameters
    ----------
    progress : bool or callable
        False: no report.  True: a bar of tqdm.  A callable is called with t.

    Raises
    ------
    ModuleNotFoundError, TypeError
        As for `reporting`.
    """
    if callable(progress):
        yield progress
    elif progress is True:
        with _bar(abs(t1 - t0), "s", bar_format=_SECONDS) as bar:
            yield lambda t: bar.update(abs(t - t0) - bar.n)
    elif progress is False or progress is None:
        yield None
    else:
        raise TypeError(f"progress must be True, False or a function of t, not {progress!r}")


def _bar(total: float, unit: str, **options: Any) -> Any:
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("progress=True draws with tqdm: pip install tqdm, or pass a function") from error
    return tqdm(total=total, unit=unit, **options)
