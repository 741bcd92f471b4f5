# SPDX-License-Identifier: BSD-3-Clause
"""Names in exported code: a prefix that C takes, and an identifier for each name of a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["checked_prefix", "default_prefix", "identifiers"]

# A header with such a name would stand in for that of the C library.
_HEADERS = {
    *("assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits", "locale", "math"),
    *("setjmp", "signal", "stdalign", "stdarg", "stdatomic", "stdbool", "stddef", "stdint", "stdio", "stdlib"),
    *("stdnoreturn", "string", "tgmath", "threads", "time", "uchar", "wchar", "wctype"),
}
_OWN = ("kc", "compute", "kernel")  # of functions inside the code


def default_prefix(name: str) -> str:
    """The name of a model as an identifier of C."""
    prefix = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "model"
    return f"model_{prefix}" if prefix[0].isdigit() or _reason(prefix) else prefix


def checked_prefix(prefix: str, argument: str = "prefix") -> str:
    """A prefix that a user chose, as some argument.

    Raises
    ------
    TypeError, ValueError
        It is no text; no identifier of C, or one that code of the model, or the C library, uses.
    """
    if not isinstance(prefix, str):
        raise TypeError(f"{argument} is {prefix!r}; it must be a text, an identifier of C")
    if reason := _reason(prefix):
        raise ValueError(f"{argument} is {prefix!r}, {reason}: give another, {default_prefix(prefix)!r} say")
    return prefix


def _reason(prefix: str) -> str:
    """Why it cannot be one; empty if it can."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", prefix):
        return "which is no identifier of C (letters, digits and _, a letter first)"
    if prefix.startswith("_"):
        return "and C keeps names that begin with _ for itself"
    if prefix.lower() in _HEADERS:
        return f"and {prefix.lower()}.h is a header of the C library"
    if prefix in _OWN or prefix.startswith("kc_"):
        return "which functions inside the code are named by"
    return ""


def identifiers(names: Iterable[str], taken: Sequence[str] = ()) -> list[str]:
    """What may follow a prefix and _, one for each name, all different."""
    used, result = set(taken), []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "x"
        unique = next(i for i in (plain, *(f"{plain}_{n}" for n in range(2, len(used) + 3))) if i not in used)
        used.add(unique)
        result.append(unique)
    return result
