# SPDX-License-Identifier: BSD-3-Clause
"""Checks of functions in code for the interpreter: they read and write within its arrays only.

A program shows how far it reads and writes.  A solver calls functions, which write into its arrays: `SOLVERS` gives the
numbers that each function may write, the lengths of lists of places, and the numbers that the solver itself reads and
writes, according to the structures of ``emit/runtime``.  Texts are formulas in the members of a solver, with ``N``,
``M``, ``K`` for the sizes of its equations, ``n_x`` and similar names for sizes of the model, and ``there`` for the
names of its functions.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from types import CodeType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from kanecore.binding.table_checks import LARGEST

__all__ = ["Reach", "check_kernel", "check_operations", "check_preparing", "check_solver", "reach_of_program"]

_LONGEST = 1 << 13  # largest factor in a product of sizes, so that the product stays in an int of C
_MULTIPLIED = frozenset(("N", "M", "K", "n", "m", "k", "n_q", "n_u", "n_z", "n_y", "n_all", "m_all", "m_q", "m_u"))
_MULTIPLIED |= {"n_max", "rows", "columns", "n_inner", "n_outer", "trees"}
_ON_STACK = 1 << 19  # largest scratch in doubles, half of a thread's stack
_T, _X, _R, _C, _W, _OUT, _NO_ARRAY = range(7)  # names of KC_IN_T and so on


class Reach(NamedTuple):
    """Largest number of entries of ``out`` that a function writes, and of x and r that it reads."""

    out: int = 0
    x: int = 0
    r: int = 0


_ALL = "all"
"""In place of a number: the function writes into the result of the solver itself."""


@dataclass(frozen=True)
class _Solver:
    """A solver: the numbers that it reads and writes, the functions that it calls, and its lists of places.

    Attributes
    ----------
    sizes : str
        The numbers that determine its scratch, in their order.
    out, x : str
        Number of entries that it writes and reads itself.
    functions : mapping
        For each function the number of entries that it may write, and the condition on which it is required.
    arrays : mapping
        For each list its length, the bounds of its numbers, and the condition on which it is required.
    holds : str
        Further condition on its numbers.
    beside : str
        Number of scratch entries that it uses after its own arrays, where functions have theirs.
    """

    sizes: str = ""
    out: str = "0"
    x: str = "0"
    functions: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    arrays: Mapping[str, tuple[str, str, str, str]] = field(default_factory=dict)
    holds: str = "True"
    beside: str = "0"


_PARTS = {
    "mass_matrix": ("N*N", ""),
    "forcing": ("N*K", ""),
    "jacobian": ("M*N", ""),
    "bias": ("M*K", ""),
    "sums": ("M*N", ""),
}
_EQUATIONS = "N*(N + K) + M*(2*N + K)"
_MOTION = _Solver(
    sizes="N, M, n_known, n_residuals",
    out="N",
    functions={
        **_PARTS,
        "fill": (f"{_EQUATIONS} + n_known", ""),
        "doubt": ("M", "True"),
        "residuals": ("2*n_residuals", "True"),
        "result": (_ALL, ""),
        "otherwise": (_ALL, "'fill' in there"),
    },
    arrays={"speeds": ("N", "0", "size.n_u", ""), "rows": ("M", "0", "size.n_constraints", "")},
    holds="K == 1",
)
# u̇ and λ, of `kc_reduced_motion`; fronts take the scratch of all equations at once
_REDUCED_HOLDS = (
    "N <= n_all and M <= m_all and K == 1 and (not n_fronts or (n_held == N and m_held == M "
    "and numbers <= 2*N*N and widest <= N + 1 + M*(N + 3)))"
)
_REDUCED = {
    **_PARTS,
    "fill": (f"(numbers if n_fronts else {_EQUATIONS}) + n_known", "n_fronts"),
    "result": ("n_all", ""),
    "forces": ("m_all", ""),
    "otherwise": (_ALL, "True"),
}
_LINEARIZATION = {
    **_PARTS,
    "udot": ("N", "True"),
    "multipliers": ("M", ""),
    "fill": (f"{_EQUATIONS} + n_q*K", ""),
    "column": ("N + M + n_q", "'fill' not in there"),
}
_PRODUCT = {
    **_PARTS,
    "udot": ("N", "True"),
    "multipliers": ("M", ""),
    "sides": ("n_kept + N + M", "True"),
    "finish": (_ALL, "True"),
}
_UNIT = {"unit": ("4*n_unit", "0", "n_q + n_u", "n_unit")}
_LEVELS = {"position": "m_q", "velocity": "m_u"}
_PROJECTION = _Solver(
    sizes="n_q, n_u, n_max, max(m_q, m_u), front_room",
    out="n_q + n_u",
    x="n_q + n_u",
    functions={
        **{
            level: (f"({level}_numbers if {level}_n_fronts else n_u*(n_u + 1) + {m}*(2*n_u + 1)) + {m}", m)
            for level, m in _LEVELS.items()
        },
        "direction": ("n_q", "m_q"),
        "slopes": ("m_q*n_q", "m_q"),
    },
    arrays=_UNIT,
    holds="N == n_max == max(n_q, n_u) and M == max(m_q, m_u) and K == 1"
    + "".join(
        f" and (not {x}_n_fronts or ({x}_n_held == n_u and {x}_m_held == {m} and {x}_numbers + {m} + 2*n_u "
        f"+ {x}_n_fronts + {x}_widest <= front_room))"
        for x, m in _LEVELS.items()
    ),
)
_HESSIAN = {
    "fixed": ("n_fixed", "True"),
    "column": ("n", "n_inner"),
    "curvature": ("n_outer", "n_outer"),
}

SOLVERS: dict[str, _Solver] = {
    "after_motion": _Solver(
        "n, m", functions={"udot": ("n", "True"), "multipliers": ("m", ""), "evaluate": (_ALL, "True")}
    ),
    "short_way": _Solver(functions={"shortly": (_ALL, "True"), "otherwise": (_ALL, "True")}),
    "chain": _Solver(
        "n_y, n_q, n, k",
        "n_y*k",
        functions={"udot": ("n", "True"), "linearize": ("(n_q + n)*k", "True"), "slopes": ("n_y*(k + n)", "True")},
    ),
    "state_rows": _Solver(
        "n_z, n, k",
        "(n_q + n + n_z)*k",
        functions={"motion": ("(n_q + n)*k", "True"), "udot": ("n", ""), "slopes": ("n_z*(k + n)", "True")},
    ),
    "asked": _Solver("2", "n", functions={"result": (_ALL, "True"), "reason": ("2", "True")}),
    "motion": _MOTION,
    "general_motion": _MOTION,
    "front_motion": _Solver(
        "n_held, n_fronts, numbers, widest, n_known",
        "0 if 'result' in there else n_held",
        functions={
            "fill": ("numbers + n_known", "n_fronts"),
            "result": (_ALL, ""),
            "otherwise": (_ALL, "True"),
        },
        holds="n_fronts",
    ),
    "free_motion": _Solver("N", "N", functions=_PARTS, holds="M == 0 and K == 1"),
    "balance": _Solver("N, M", "M", functions={"udot": ("N", "True"), "fill": ("2*M*N + 2*N", "True")}, holds="K == 0"),
    "front_balance": _Solver(
        "N, M, n_known, n_all, m_all",
        "m_all",
        functions=_REDUCED,
        holds=f"{_REDUCED_HOLDS} and n_fronts",
        beside="n_known + N",
    ),
    "return": _Solver(
        "N, M, front_room",
        "2*N",
        functions={"fill": (f"numbers + 2*M if n_fronts else {_EQUATIONS}", "True")},
        holds="K == 2 and (not n_fronts or (n_held == N and m_held == M "
        "and numbers + 3*M + 6*N + n_fronts + widest <= front_room))",
    ),
    "projection": _PROJECTION,
    "projection_gradient": _Solver(
        f"{_PROJECTION.sizes}, n_q + n_u + n_z, n_all",
        out="n_all",
        x="weights + n_q + n_u + n_z",
        functions={
            **_PROJECTION.functions,
            "position_sides": ("n_u", "m_q"),
            "velocity_sides": ("n_u", "m_u"),
            "position_gradient": ("n_all", "m_q"),
            "velocity_gradient": ("n_all", "m_u"),
        },
        arrays=_UNIT,
        holds=f"{_PROJECTION.holds} and n_all >= n_q + n_u + n_z",
    ),
    "linearization": _Solver("n_q, N, M, K", "(n_q + N)*K", functions=_LINEARIZATION),
    "free_linearization": _Solver("n_q, N, M, K", "(n_q + N)*K", functions=_LINEARIZATION, holds="M == 0"),
    "reduced_linearization": _Solver(
        "N, M, n_known, n_all, m_all, k, n_q",
        "(n_q + n_all)*k",
        functions={**_REDUCED, "slopes": ("k*(M + n_q + n_all) + (n_all - N)*N", "True")},
        arrays={
            "speeds": ("N", "0", "n_all", ""),
            "followers": ("n_all - N", "0", "n_all", "n_all - N"),
        },
        holds=_REDUCED_HOLDS,
        beside="n_known + N",
    ),
    "inverse": _Solver(
        "n", "n*n", functions={"mass_matrix": ("n*n", "True")}, arrays={"parent": ("n", "-1", "own", "")}
    ),
    "matrix_product": _Solver(
        "rows, columns",
        "columns if gradient else rows",
        "behind + (rows if gradient else columns)",
        functions={"matrix": ("rows*columns", "True")},
    ),
    "product": _Solver(
        "N, M, n_known, n_all, m_all, n_kept",
        functions={**_REDUCED, "sides": ("n_kept + N + M", "True"), "finish": (_ALL, "True")},
        holds=_REDUCED_HOLDS,
        beside="n_known + N",
    ),
    "general_product": _Solver("N, M, n_kept", functions=_PRODUCT, holds="K == 1"),
    "free_product": _Solver("N, M, n_kept", functions=_PRODUCT, holds="M == 0 and K == 1"),
    "composites": _Solver(
        "n",
        "n*n",
        functions={"rates": ("15*n", "True")},
        arrays={"before": ("n", "-1", "own", "n"), "speed": ("n", "0", "n", "n")},
    ),
    "hessian": _Solver(
        "n_fixed",
        "n*n",
        functions=_HESSIAN,
        arrays={"variables": ("n", "0", "n", "n")},
        holds="n_inner + n_outer <= n",
        beside="max(n_inner, n_outer) + n",
    ),
    "factored_hessian": _Solver(
        "N, M",
        "n*n",
        functions={
            **_REDUCED,
            **_HESSIAN,
            "otherwise": (_ALL, "n_fronts"),
            "weights": ("N + M", "True"),
            "changes": ("2*(N + M)", "n_inner"),
        },
        arrays={"variables": ("n", "0", "n", "n")},
        holds=f"n_inner + n_outer <= n and n_all == N and m_all == M and {_REDUCED_HOLDS}",
        beside="n_fixed + max(n_inner, n_outer) + 2*(N + M) + max(n, 2*(N + M))",
    ),
    "forest": _Solver(
        "n, N, numbers, room, max(loaded, n_others)",
        "(n_q + n)*columns",
        "n_q + n",
        functions={
            "joints": ("16*n + numbers", "True"),
            "loads": ("loaded", "True"),
            "others": ("n_others", "n_others"),
        },
        arrays={
            **dict.fromkeys(("size", "n_free"), ("trees", "0", "N + 1", "True")),
            **dict.fromkeys(("width", "runs", "turns"), ("trees", "0", "2**13", "True")),
            "parent": ("n", "-1", "n", "True"),
            "first": ("n", "0", "n", "True"),
            "limb_end": ("n", "0", "n + 1", "True"),
            "speed": ("n", "0", "n", "True"),
            "run": ("3*sum(runs)", "0", "2**13", "sum(runs)"),
            "turn": ("2*sum(turns)", "0", "2**13", "sum(turns)"),
            "at": ("loaded", "0", "room", "loaded"),
            "ones": ("n_ones", "0", "(n_q + n)*columns", "n_ones"),
            "others_at": ("n_others", "0", "(n_q + n)*columns", "n_others"),
        },
        holds="M == 0 and K == 1 and numbers == 3*trees + sum(turns)",
    ),
    "closure": _Solver(
        "n_q, n_u, n_r, m_q, m",
        "1",
        functions={
            "configuration": ("m_q", "m_q"),
            "slopes": ("m_q*n_q", "m_q"),
            "velocity": ("m_u", "m_u and not linear"),
            "jacobian": ("m*n_u", "True"),
            "sizes": ("m_q + m_u", "m_q or (m_u and not linear)"),
            "weights": ("n_u", "True"),
        },
        arrays={**_UNIT, "guess": ("n_q + n_u", "", "", "True")},
        holds="N >= max(n_q, n_u) and M >= max(m, m_q) and m_u <= m and n_r >= size.n_r",
    ),
}

_INSTEAD = {"otherwise", "shortly"}  # functions that use the whole scratch of the solver
_AT_OWN_STATES = "closure"  # solvers that call functions at their own states


@functools.cache
def _compiled(formula: str) -> CodeType:
    return compile(formula, "<SOLVERS>", "eval")


def check_solver(function: Any, reaches: Sequence[Reach], sizes: Mapping[str, int]) -> tuple[Reach, int]:
    """The reach of a function with a solver, and the number of its scratch entries where functions have theirs.

    ``reaches`` belong to the functions before this one.  ValueError for an impossible size, member or list.
    """
    name, solver = function.solver, SOLVERS[function.solver]
    fronts, members = _fronts(function.members)
    called = {each: members.pop(each) for each in solver.functions if each in members}
    lists = {each: np.ravel(members.pop(each)) for each in solver.arrays if each in members}
    n, m, k = (0, 0, 0) if function.equations is None else function.equations[:3]
    numbers = {"N": n, "M": m, "K": k, **fronts, **members}
    _check_numbers(name, numbers)
    model = SimpleNamespace(**sizes)
    names = _Names({"size": model, **numbers, **lists, "there": called, "max": max, "sum": sum})

    def value(formula: str) -> Any:  # formulas come only from SOLVERS; code gives numbers
        return eval(_compiled(formula), {"__builtins__": {}}, names)

    if "rank" in members and members["rank"] >= sizes["n_prepared"]:
        raise ValueError(f"{name} counts rows by number {members['rank']} of {sizes['n_prepared']}")
    if not value(solver.holds):
        raise ValueError(f"the sizes of {name} do not go together")
    if tuple(function.sizes) != value(f"({solver.sizes},)" if solver.sizes else "()"):
        raise ValueError(f"{name} has the sizes {function.sizes}")
    for each, needed in [(x, row[-1]) for table in (solver.arrays, solver.functions) for x, row in table.items()]:
        if needed and each not in lists and each not in called and value(needed):
            raise ValueError(f"{name} has no {each}")
    for each, found in lists.items():
        length, low, high, _ = solver.arrays[each]
        _check_places(f"{each} of {name}", found, value(length), low, high, value)
    if name == "forest":
        _check_trees(names)
    out = value(solver.out)
    for each, i in called.items():
        most = solver.functions[each][0]
        if most == _ALL:
            out = max(out, reaches[i].out)
        elif reaches[i].out > value(most):
            raise ValueError(f"{each} of {name} writes {reaches[i].out} numbers, and there is room for {value(most)}")
    if {called[each] for each in _INSTEAD if each in called} != set(function.instead):
        raise ValueError(f"{name} calls {function.instead} in its place")
    x, r = (max((reaches[i][which] for i in called.values()), default=0) for which in (1, 2))
    if name == _AT_OWN_STATES:
        if x > value("n_q + n_u") or r > value("n_r"):
            raise ValueError(f"a function of {name} reads beyond its arrays")
        x = r = 0
    return Reach(out, max(x, value(solver.x)), r), value(solver.beside)


def _check_numbers(name: str, numbers: Mapping[str, Any]) -> None:
    """Raise ValueError for an impossible number."""
    for member, number in numbers.items():
        most = _LONGEST if member in _MULTIPLIED else LARGEST
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= most:
            raise ValueError(f"{member} of {name} is {number!r}")


class _Names(dict[str, Any]):
    """The numbers of a solver by name; missing numbers are zero."""

    def __missing__(self, name: str) -> int:
        return 0


def _check_places(label: str, places: Any, length: int, low: str, high: str, value: Any) -> None:
    """Raise ValueError unless a list has the length and bounded numbers; ``own``: each below its own place."""
    if len(places) != length:
        raise ValueError(f"{label} has {len(places)} numbers in place of {length}")
    if low and length:
        above = np.arange(length) if high == "own" else value(high)
        if not (np.issubdtype(places.dtype, np.integer) and np.all(places >= value(low)) and np.all(places < above)):
            raise ValueError(f"{label} names what is not there")


def _check_trees(s: Mapping[str, Any]) -> None:
    """Raise ValueError for inconsistent trees of joints, as ``tree_derivatives.h`` reads them."""

    def right(label: str, *found: Any) -> None:
        if not all(np.all(each) for each in found):
            raise ValueError(f"{label} of forest names what is not there")

    size, free, stride = s["size"], s["n_free"], -(-s["width"] // 8) * 8
    right("size", sum(size) == s["n"], free <= size, 2 * size - free <= stride)
    right("room", s["room"] >= sum(-(-size // 8) * 8 + size * stride))
    for begin, end in pairwise(accumulate(size.tolist(), initial=0)):
        own = np.arange(end - begin)
        right("parent", s["parent"][begin:end] < own)
        right("first", s["first"][begin:end] <= own)
        right("limb_end", s["limb_end"][begin:end] <= end - begin)
    for what, width, counts in (("run", 3, s["runs"]), ("turn", 2, s["turns"])):
        if not sum(counts):
            continue
        rows = s[what].reshape(-1, width)
        length = rows[:, 2] if width == 3 else 1
        right(what, rows[:, 0] + length <= np.repeat(stride, counts), rows[:, 1] + length <= s["columns"])


def _fronts(members: Mapping[str, Any]) -> tuple[dict[str, int], dict[str, Any]]:
    """The numbers of each structure of fronts by names that begin with its own; the other members by their names."""
    numbers, others, found = dict[str, int](), dict[str, Any](), dict[str, dict[str, Any]]()
    for name, x in members.items():
        structure, _, member = name.rpartition(".")
        if structure.endswith("fronts"):
            found.setdefault(structure.rpartition(".")[2].removesuffix("fronts"), {})[member] = x
        else:
            others[member] = x
    for name, of in found.items():
        lists = {each: np.asarray(of.pop(each, ()), dtype=np.int64).ravel() for each in _LISTS_OF_FRONTS}
        _check_numbers(f"{name}fronts", of)
        held = _check_fronts(_Names(of), **lists)
        numbers |= {f"{name}{each}": x for each, x in (*of.items(), *held.items())}
    return numbers, others


_LISTS_OF_FRONTS = ("sizes", "held", "places", "row_numbers")


def _check_fronts(s: Mapping[str, int], sizes: Any, held: Any, places: Any, row_numbers: Any) -> dict[str, int]:
    """Numbers of speeds and rows; ValueError for inconsistent fronts, as ``fronts.h`` reads them."""
    if not len(sizes) or len(sizes) != 8 * s["n_fronts"]:
        raise ValueError(f"there are no sizes of {s['n_fronts']} fronts")
    own, border, rows, parent, *places_of = sizes.reshape(-1, 8).T
    width = own + border + 1
    numbers = own * width + border * (border + 1) + rows * (width + np.maximum(width - 1, rows))
    lengths = (numbers, width - 1, border, rows)
    begins = [np.cumsum(length) - length for length in lengths]
    right = bool(np.all(own > 0) and min(border) >= 0 <= min(rows) and max(width) + max(rows) < _LONGEST)
    right = right and np.array_equal(places_of, begins)
    right = right and [len(held), len(places), len(row_numbers)] == [sum(each) for each in lengths[1:]]
    right = right and (s["numbers"], s["n"]) == (sum(numbers), sum(own))
    right = right and s["widest"] >= max(width + rows * (width + 2))
    order: list[int] = []
    for k in range(len(own) if right else 0):
        order += held[begins[1][k] :][: own[k]].tolist()
        of_border = places[begins[2][k] :][: border[k]]
        if border[k]:
            right = right and k < parent[k] < len(own) and of_border[0] >= 0 and of_border[-1] < width[parent[k]] - 1
            right = right and bool(np.all(np.diff(of_border) > 0))
    right = right and sorted(order) == list(range(s["n"])) and min(held) >= 0 and max(held) < s["n"]
    if not right or sorted(row_numbers) != list(range(len(row_numbers))):
        raise ValueError("fronts name what is not there")
    return {"n_held": s["n"], "m_held": len(row_numbers)}


def reach_of_program(function: Any) -> Reach:
    """The reach of a program with checked parts."""
    out, x, r = function.clear, 0, 0
    for part in function.parts:
        for array, places in _runs(part.loads, 1):
            x = max([x, *(i + 1 for i in places)]) if array == _X else x
            r = max([r, *(i + 1 for i in places)]) if array == _R else r
        for array, pairs in _runs(part.stores, 2):
            out = max([out, *(i + 1 for i in pairs[::2])]) if array == _OUT else out
    return Reach(out, x, r)


def check_operations(part: Any, operations: Mapping[str, int], n_axes: Sequence[int], first_address: int) -> bool:
    """Test whether a part with checked registers calls functions of C by their addresses.

    ``operations`` gives the number of operands of each operation, in order, and ``n_axes`` the number of arguments of
    each spline.  Addresses are in c from ``first_address`` on.  ValueError for a spline with another number of
    arguments, and for a call of a number that is no address.
    """
    names, code, i, calls = list(operations), part.code.tolist(), 0, False
    while (name := names[code[i]]) != "end":
        times, i = code[i + 1], i + 2
        if name == "apply":
            for _ in range(times):
                if code[i + 1] != n_axes[code[i]]:
                    raise ValueError(f"spline {code[i]} is given {code[i + 1]} arguments")
                i += 3 + code[i + 1] * (code[i + 2] + 1)
            continue
        end = i + times * operations[name]
        if name == "call":
            calls = True
            if not _loaded(part, first_address).issuperset(code[i : end : operations[name]]):
                raise ValueError("the called number is no function")
        i = end
    return calls


def _loaded(part: Any, first: int) -> set[int]:
    """The registers into which entries of c are loaded, from a place on."""
    register, found = len(part.constants), set()
    for array, places in _runs(part.loads, 1):
        found |= {register + i for i, place in enumerate(places) if array == _C and place >= first}
        register += len(places)
    return found


def _runs(words: Any, width: int) -> Iterator[tuple[int, list[int]]]:
    """The arrays in a list of loads or stores, each with its entries in the list."""
    words, i = words.tolist(), 0
    while words[i] != _NO_ARRAY:
        end = i + 2 + width * words[i + 1]
        yield words[i], words[i + 2 : end]
        i = end


def check_kernel(name: str, reaches: Sequence[Reach], kernel: Sequence[int], out: int, x: int, r: int) -> None:
    """ValueError unless a kernel stays within the numbers of ``out``, x and r."""
    function, before, offset, length = kernel
    made = [(reaches[function], offset), *([(reaches[before], 0)] if before >= 0 else [])]
    if length != out or offset < 0:
        raise ValueError(f"kernel {name} has {length} numbers from {offset} on, in place of {out}")
    for reach, first in made:
        if first + reach.out > out or reach.x > x or reach.r > r:
            raise ValueError(f"kernel {name} reads or writes beyond its arrays")


def check_preparing(code: Any, reaches: Sequence[Reach], room: int) -> None:
    """ValueError unless the program that prepares constants reads parameters only, and keeps the code's address."""
    prepare, sizes = code.functions[code.prepare], code.sizes
    reach = reaches[code.prepare]
    if prepare.solver or reach.out > sizes["n_prepared"] or reach.x > sizes["n_p"] or reach.r:
        raise ValueError("prepare reads or writes beyond its arrays")
    if room > _ON_STACK:
        raise ValueError(f"prepare takes {room} numbers")
    if prepare.clear or not all(_keeps_address(part) for part in prepare.parts):
        raise ValueError("prepare changes the address of the code")
    if code.counting is not None and code.functions[code.counting].solver != _AT_OWN_STATES:
        raise ValueError("rows are counted by another solver")


def _keeps_address(part: Any) -> bool:
    """Test whether a part keeps the first number of c, an address."""
    kept = set[int]()
    for array, pairs in _runs(part.stores, 2):
        if array == _OUT:
            kept |= {register for place, register in zip(pairs[::2], pairs[1::2], strict=True) if place == 0}
    return kept <= _loaded(part, 0) - _loaded(part, 1)
