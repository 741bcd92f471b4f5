# SPDX-License-Identifier: BSD-3-Clause
"""Names in exported code: a prefix that C takes, and an identifier for each name of a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["checked_function", "checked_prefix", "default_prefix", "identifiers"]

# A header with such a name would stand in for that of the C library.
_HEADERS = {
    *("assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits", "locale", "math"),
    *("setjmp", "signal", "stdalign", "stdarg", "stdatomic", "stdbool", "stddef", "stdint", "stdio", "stdlib"),
    *("stdnoreturn", "string", "tgmath", "threads", "time", "uchar", "wchar", "wctype"),
}
# Words of C up to C23, and of C++, which headers are written for too.
_WORDS = {
    *("alignas", "alignof", "auto", "bool", "break", "case", "char", "const", "constexpr", "continue", "default", "do"),
    *("double", "else", "enum", "extern", "false", "float", "for", "goto", "if", "inline", "int", "long", "nullptr"),
    *("register", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert", "struct", "switch"),
    *("thread_local", "true", "typedef", "typeof", "typeof_unqual", "union", "unsigned", "void", "volatile", "while"),
    *("and", "and_eq", "asm", "bitand", "bitor", "catch", "char8_t", "char16_t", "char32_t", "class", "co_await"),
    *("co_return", "co_yield", "compl", "concept", "const_cast", "consteval", "constinit", "decltype", "delete"),
    *("dynamic_cast", "explicit", "export", "friend", "mutable", "namespace", "new", "noexcept", "not", "not_eq"),
    *("operator", "or", "or_eq", "private", "protected", "public", "reinterpret_cast", "requires", "static_cast"),
    *("template", "this", "throw", "try", "typeid", "typename", "using", "virtual", "wchar_t", "xor", "xor_eq"),
}
# Functions of <math.h>, each also with the suffixes f and l; and others that compilers know without a header.
_MATH = {
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "erf"),
    *(
        "erfc",
        "exp",
        "exp2",
        "expm1",
        "fabs",
        "fdim",
        "floor",
        "fma",
        "fmax",
        "fmin",
        "fmod",
        "frexp",
        "hypot",
        "ilogb",
    ),
    *(
        "ldexp",
        "lgamma",
        "llrint",
        "llround",
        "log",
        "log10",
        "log1p",
        "log2",
        "logb",
        "lrint",
        "lround",
        "modf",
        "nan",
    ),
    *(
        "nearbyint",
        "nextafter",
        "nexttoward",
        "pow",
        "remainder",
        "remquo",
        "rint",
        "round",
        "scalbln",
        "scalbn",
        "sin",
    ),
    *("sinh", "sqrt", "tan", "tanh", "tgamma", "trunc"),
}
_KNOWN = {f"{name}{kind}" for name in _MATH for kind in ("", "f", "l")} | {
    *("main", "abort", "abs", "calloc", "exit", "free", "labs", "llabs", "malloc", "realloc", "printf", "puts"),
    *("memchr", "memcmp", "memcpy", "memmove", "memset", "strcat", "strchr", "strcmp", "strcpy", "strlen", "strncmp"),
    *("strncpy", "sincos", "signbit", "isfinite", "isinf", "isnan", "isnormal", "fpclassify"),
}
_OWN = ("kc", "compute", "kernel")  # of functions inside the code
_LONGEST = 63  # letters of a prefix: names that differ later are one name to some compilers, and files have limits


def default_prefix(name: str) -> str:
    """The name of a model, or its beginning, as an identifier of C."""
    prefix = re.sub(r"[^A-Za-z0-9]+", "_", name)[: _LONGEST - len("model_")].strip("_") or "model"
    return f"model_{prefix}" if prefix[0].isdigit() or _reason(prefix) else prefix


def checked_prefix(prefix: str, argument: str = "prefix") -> str:
    """A prefix that a user chose, as some argument.

    Raises
    ------
    TypeError, ValueError
        It is no text; no identifier of C, a long one, or one that code of the model, or the C library, uses.
    """
    if not isinstance(prefix, str):
        raise TypeError(f"{argument} is {prefix!r}; it must be a text, an identifier of C")
    if reason := _reason(prefix):
        raise ValueError(f"{argument} is {prefix!r}, {reason}: give another, {default_prefix(prefix)!r} say")
    return prefix


def checked_function(name: str, argument: str = "name") -> str:
    """Check a function name that a user chose, which stands in C without a suffix.

    Raises
    ------
    TypeError, ValueError
        As for `checked_prefix`; a word of C, a function that C or the code has, or a name that CasADi refuses.
    """
    checked_prefix(name, argument)
    reason = ""
    if name in _WORDS:
        reason = "which is a word of C or C++"
    elif name in _KNOWN:
        reason = "which is a function of the C library"
    elif name.startswith(("casadi_", "ca_", "kernel_", "along_")):
        reason = "which functions inside the code are named by"
    elif name in ("null", "jac", "hess") or "__" in name:
        reason = "and CasADi keeps null, jac, hess and __ for itself"
    if reason:
        plain = re.sub("_+", "_", name)
        raise ValueError(f"{argument} is {name!r}, {reason}: give another, {f'model_{plain}'!r} say")
    return name


def _reason(prefix: str) -> str:
    """Reason why a prefix is not allowed; empty if it is."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", prefix):
        return "which is no identifier of C (letters, digits and _, a letter first)"
    if prefix.startswith("_"):
        return "and C keeps names that begin with _ for itself"
    if prefix.lower() in _HEADERS:
        return f"and {prefix.lower()}.h is a header of the C library"
    if prefix in _OWN or prefix.startswith("kc_"):
        return "which functions inside the code are named by"
    if len(prefix) > _LONGEST:
        return f"which has {len(prefix)} letters, more than {_LONGEST}"
    return ""


def identifiers(names: Iterable[str], taken: Sequence[str] = ()) -> list[str]:
    """Identifiers that may follow a prefix and _, one for each name, all different."""
    used, result = set(taken), []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "x"
        unique = next(i for i in (plain, *(f"{plain}_{n}" for n in range(2, len(used) + 3))) if i not in used)
        used.add(unique)
        result.append(unique)
    return result
