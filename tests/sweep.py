# SPDX-License-Identifier: BSD-3-Clause
"""What ``pytest`` runs, and what ``pytest -m long`` runs beside it.

A test over many cases names the part of them that makes each of its claims; the others carry the marker ``long``.  So
``pytest``, and then ``pytest -m long``, run every case once; ``pytest -m "not packaging"`` runs both.
"""

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any, TypeVar

import hypothesis
import pytest

__all__ = ["constrained", "every", "examples", "models", "part"]

Test = TypeVar("Test", bound=Callable[..., Any])

#: Whether long tests may run; conftest.py sets it before it reads the tests, which then make no case in vain.
LONG = False


def part(cases: Iterable[Any], default: Collection[Any]) -> list[Any]:
    """Parameters of a test: the cases among `default`; the others are long."""
    cases = list(cases)
    missing = [case for case in default if case not in cases]
    assert not missing, f"the default part names what the sweep does not hold: {missing}"
    return [case if case in default else _long(case) for case in cases if LONG or case in default]


def every(n: int, cases: Iterable[Any], first: int = 0) -> list[Any]:
    """Parameters of a test: each n-th of the cases, from number `first` on; the others are long."""
    return [case if k % n == first else _long(case) for k, case in enumerate(cases) if LONG or k % n == first]


def models(*, of_files: bool = True) -> list[Any]:
    """Parameters of a test: the models of the gallery, by default small ones of every kind.

    Trees, with a quaternion and with a prescribed motion; a loop, rolling, a constraint nonlinear in the speeds.
    Without those of files: all that are described with SymPy, and prebuilt as a whole.
    """
    from kanecore.gallery import (
        models,
        robots,
    )  # conftest.py, which reads this file, says what to do where it is missing

    names = [name for name in models() if of_files or name not in robots()]
    return part(names, ["appell_hamel", "four_bar", "free_body", "rolling_disc", "rotating_tube"])


def constrained() -> list[str]:
    """The models of the gallery with constraints: those whose modules give a state on them; robots have none."""
    from kanecore import gallery

    folder = Path(str(gallery.__file__)).parent
    names = [name for name in gallery.models() if name not in gallery.robots()]
    return [name for name in names if "\nSTATE" in (folder / f"{name}.py").read_text(encoding="utf-8")]


def examples(n: int) -> Callable[[Test], Test]:
    """Hypothesis draws n examples for a test that is long, a sixteenth of them by default."""

    def decorate(test: Test) -> Test:
        test = hypothesis.settings(max_examples=n if LONG else n // 16)(test)
        return pytest.mark.long(test) if LONG else test

    return decorate


def _long(case: Any) -> Any:
    if hasattr(case, "marks"):  # what pytest.param gives
        return pytest.param(*case.values, marks=[*case.marks, pytest.mark.long], id=case.id)
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)
