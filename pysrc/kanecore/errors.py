# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of kanecore, and suggestions for misspelt names.

All derive from :class:`KanecoreError`.  Wrong shapes, dtypes and names raise the built-in ``ValueError``,
``TypeError`` and ``KeyError``, as in NumPy.

A misspelt coordinate would become an input, without any error: so names that are close to others are found.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = [
    "CompileError",
    "IntegrationError",
    "KanecoreError",
    "KanecoreWarning",
    "ModelError",
    "NonFiniteError",
    "SingularError",
    "WorkerError",
    "is_close",
    "needs_doubles",
]

_SHOWN = 12  # names, where none is near


class KanecoreError(Exception):
    """Base of every error that kanecore raises by itself."""


class KanecoreWarning(UserWarning):
    """Warning of a suspicious description, which is used nevertheless."""


def warn(message: str) -> None:
    """Issue a KanecoreWarning at the line of the user's code that led here: below the outermost frame of ours."""
    package = str(Path(__file__).parent)
    level, ours, frame = 1, 1, sys._getframe()
    while frame.f_back is not None:
        if frame.f_code.co_filename.startswith(package):
            ours = level
        level, frame = level + 1, frame.f_back
    warnings.warn(message, KanecoreWarning, stacklevel=ours + 1)


class ModelError(KanecoreError):
    """Wrong or incomplete description; the message names the frame, point or symbol and what to add."""


class CompileError(KanecoreError):
    """Missing C compiler, or failed compile; the message has the compiler's output and the path of the log."""


class StateError(KanecoreError):
    """Failure at a state of the model, of one or of a batch.

    Attributes
    ----------
    t, x : float, ndarray
        Time and state [q, u] of the (first) failure.
    rows : ndarray of int or None
        For a batch: the indices of all states that failed.
    out : ndarray or None
        For a batch: the result; its other rows are right.
    """

    def __init__(
        self, message: str, *, t: float = float("nan"), x: Any = None, rows: Any = None, out: Any = None
    ) -> None:
        super().__init__(message)
        self.t, self.x, self.rows, self.out = t, x, rows, out


class NonFiniteError(StateError, FloatingPointError):
    """Non-finite result from finite input: a division by zero, the root of a negative number.

    Parameters
    ----------
    cause : callable or str
        The end of the message, or a function that returns it: a search that catches the error does not wait for it.

    Attributes
    ----------
    t, x : float, ndarray
        Time and state [q, u] of the (first) failure.
    rows : ndarray of int or None
        For a batch: the indices of all states that failed.
    out : ndarray or None
        For a batch: the result, NaN or infinite in the rows that failed.
    cause : str
    """

    def __init__(self, message: str, *, cause: Callable[[], str] | str = "", **state: Any) -> None:
        super().__init__(message, **state)
        self._cause = cause

    @property
    def cause(self) -> str:
        """The part of the model without a finite value, or what may be the reason; empty if that is not known."""
        if not isinstance(self._cause, str):
            self._cause = self._cause()
        return self._cause

    def __str__(self) -> str:
        return f"{self.args[0]}: {self.cause}" if self.cause else str(self.args[0])

    def __reduce__(self) -> Any:
        self._cause = self.cause  # a text, for other processes
        return super().__reduce__()


class SingularError(StateError):
    """The mass matrix, a block of the kinematical equations or the constraints are singular at a state.

    Or loads depend on reactions, and no solution is connected with the one without friction.

    Attributes
    ----------
    t, x : float, ndarray
        Time and state [q, u] of the (first) failure.
    row : int
        Zero-based number of the speed whose pivot vanished; or n_u + number of the row of G that is lost or contradicts
        the others; or n_u + n_constraints + number of the configuration constraint that cannot be satisfied.
    rows : ndarray of int or None
        For a batch: the indices of all states that failed.
    out : ndarray or None
        For a batch: the result, NaN in the rows that failed.
    contradictory : tuple of str
        The names of rows of G that contradict each other, if this is the cause.
    status : str
        "jammed" or "unconverged", where loads that depend on reactions are the cause; else empty.
    trajectory : Trajectory or None
        From an integration: the run up to the failure.
    """

    def __init__(
        self,
        message: str,
        *,
        row: int = -1,
        contradictory: tuple[str, ...] = (),
        status: str = "",
        trajectory: Any = None,
        **state: Any,
    ) -> None:
        super().__init__(message, **state)
        self.row, self.contradictory, self.status, self.trajectory = row, contradictory, status, trajectory


class IntegrationError(KanecoreError):
    """Failed integration; ``trajectory`` is the run up to the failure.

    Attributes
    ----------
    trajectory : Trajectory or None
        Trajectory of a simulation up to the failure.
    rows : ndarray of int or None
        Indices of the rows of a rollout that failed.
    out : ndarray or None
        Result of a rollout, NaN in rows that failed; the other rows are right.
    status : RolloutStatus or None
        Outcome of each row of a rollout.
    """

    def __init__(
        self, message: str, *, trajectory: Any = None, rows: Any = None, out: Any = None, status: Any = None
    ) -> None:
        super().__init__(message)
        self.trajectory, self.rows, self.out, self.status = trajectory, rows, out, status


class WorkerError(KanecoreError):
    """Lost case of a sweep: its worker died or could not load the function."""


def unknown_name(kind: str, name: object, names: Iterable[str]) -> KeyError:
    """KeyError for an unknown name, with similar names.

    The message reads ``no {kind} {name}; did you mean ...``; if no name is near, it lists all names.
    """
    known = list(dict.fromkeys(names))
    same = [other for other in known if plain_name(other) == plain_name(str(name))]
    near = list(dict.fromkeys([*same, *get_close_matches(str(name), known, n=3)]))[:3]
    if near:
        hint = "; did you mean " + " or ".join(map(repr, near)) + "?"
    elif known:
        hint = "; there are " + ", ".join([*map(repr, known[:_SHOWN]), *(["..."] if len(known) > _SHOWN else [])])
    else:
        hint = "; there are none"
    return KeyError(f"no {kind} {name!r}{hint}")


def plain_name(name: str) -> str:
    """Name without capitals, underscores and braces, which are easily mistaken."""
    return "".join(letter for letter in name.casefold() if letter not in "_{}")


_SYMPY = ("sympy", "mpmath")


def require_sympy() -> None:
    """Raise ImportError, in one sentence, without SymPy: readers of descriptions and the derivation call this first."""
    for name in _SYMPY:
        if name not in sys.modules:
            try:
                import_module(name)
            except ImportError as error:
                raise without_sympy(error) from None


def without_sympy(error: ImportError) -> ImportError:
    """Error to raise after a failed import: advice if SymPy is missing, else `error`."""
    if (error.name or "").partition(".")[0] not in _SYMPY:
        return error
    return ImportError(
        f"to describe models and to derive their equations kanecore needs SymPy, and {error.name} is not installed: "
        "pip install sympy. Models that are compiled already, of the gallery or from a model wheel, run without it",
        name=error.name,
    )


def without_part(name: str, error: ImportError) -> ImportError:
    """Error to raise if ``kanecore.name`` failed to import: advice if SymPy or the extension is missing."""
    if find_spec("kanecore._library") is not None:
        return without_sympy(error)
    missing = ImportError(
        f"kanecore.{name} needs the extension kanecore._library, which is not in {Path(__file__).parent}: "
        "install kanecore (again); in its source folder: pip install -e .",
        name="kanecore._library",
    )
    missing.__cause__ = error
    return missing


LETTERS = 5  # of a name in which one edit is a slip; shorter ones differ by one letter on purpose


def is_close(name: str, other: str) -> bool:
    """Test whether a name may be another misspelt.

    Such names are equal but for case, underscores and braces; or, in a name of five letters or more whose digits are
    the same, one letter is added, missing, another or exchanged with its neighbour.  F1 and F2, theta and theta_d are
    names of their own.
    """
    if name == other:
        return False
    if plain_name(name) == plain_name(other):
        return True
    if re.findall(r"\d", name) != re.findall(r"\d", other) or sum(letter.isalpha() for letter in other) < LETTERS:
        return False
    return _one_edit(name, other)


def _one_edit(a: str, b: str) -> bool:
    if len(a) > len(b):
        a, b = b, a
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) < len(b):
        return len(b) == len(a) + 1 and a[start:] == b[start + 1 :]
    exchanged = a[:start] + a[start + 1 : start + 2] + a[start : start + 1] + a[start + 2 :]
    return a[start + 1 :] == b[start + 1 :] or exchanged == b


def needs_doubles(dyn: Any, name: str) -> ModelError:
    """The error of a method, or option, of a model in single precision that has tolerances for doubles."""
    return ModelError(
        f"{name} needs the digits of doubles, and {dyn.name!r} is compiled with real='float': compile it without"
    )
