# SPDX-License-Identifier: BSD-3-Clause
"""A compiled library as a function of CasADi, with derivatives along any number of directions in one call."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

__all__ = ["NUMBERS", "NUMBERS_OF_CHANGES", "opened"]

NUMBERS = (2, 4, 8, 16, 32, 64)
"""Numbers of weights, or directions, in one call, beside 1. CasADi asks for 64 at most."""

NUMBERS_OF_CHANGES = (*range(2, 33), 64)
"""The same of changes of a gradient, of which Hessians are made."""


def opened(casadi: Any, name: str, path: str, wanted: list[bool]) -> Any:
    """The function of a library, with its derivatives along any number of directions.

    Where that is no power of two, CasADi calls the function of one direction again and again, though one call for all
    may take less time than two of these.  So the caches of the function and of its gradient, where CasADi looks first,
    begin with functions of all numbers.
    """
    gradient = [*wanted, True, True]  # the arguments of the gradient that have derivatives
    caches: dict[str, dict[str, Any]] = {name: {}, f"adj1_{name}": {}}
    for kind, of, numbers, first, arguments, results in (
        ("fwd", name, NUMBERS, 5, [*wanted, True, *wanted], [True]),
        ("adj", name, NUMBERS, 5, gradient, wanted),
        ("fwd", f"adj1_{name}", NUMBERS_OF_CHANGES, 10, [*gradient, *wanted, *gradient], wanted),
    ):
        options = {"is_diff_in": arguments, "is_diff_out": results}
        for fewer, number in pairwise([1, *numbers]):
            whole = caches[of][f"{kind}{number}_{of}"] = casadi.external(f"{kind}{number}_{of}", path, options)
            for n in range(fewer + 1, number):
                some = f"{kind}{n}_{of}"
                caches[of][some] = _some_of(casadi, whole, first, n, some, options)
    of_gradient = {"cache": caches[f"adj1_{name}"]}
    return casadi.external(name, path, {"is_diff_in": wanted, "cache": caches[name], "reverse_options": of_gradient})


def _some_of(casadi: Any, whole: Any, first: int, n: int, name: str, options: Mapping[str, Any]) -> Any:
    """Function of n directions, by that of more; from the first on, arguments have a column for each direction."""
    arguments = whole.mx_in()
    all_of_them = list(arguments)
    for i in range(first, len(arguments)):
        rows, columns = arguments[i].shape
        kind = casadi.Sparsity.dense if arguments[i].is_dense() else casadi.Sparsity  # full, or empty
        arguments[i] = casadi.MX.sym(whole.name_in(i), kind(rows, n))
        all_of_them[i] = casadi.MX(arguments[i])
        all_of_them[i].enlarge(rows, columns, range(rows), range(n))
    results = [result[:, :n] for result in whole.call(all_of_them)]
    return casadi.Function(name, arguments, results, whole.name_in(), whole.name_out(), options)
