# SPDX-License-Identifier: BSD-3-Clause
"""C text of a group of kernels, or of a whole model, with its ``kc_model`` table.

The text depends on the description alone: the same model gives the same bytes in any process on any machine.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import metadata
from pathlib import Path

from kanecore.c_functions import N_ADDRESSES
from kanecore.derive.derivation import Derivation
from kanecore.derive.registry import Derived
from kanecore.derive.sizes import sizes_of
from kanecore.describe.description import Description, bake, duplicate
from kanecore.graph.evaluate import count
from kanecore.graph.scalars import PARAMETER, Op
from kanecore.kernels import GROUPS, KERNEL_GROUPS, KERNELS
from kanecore.program.functions import Functions
from kanecore.program.instructions import Entry, Instruction, Operand, Program, Store
from kanecore.program.solved import Function, Solved, Straight
from kanecore.program.straight import address, straight_line

from .c import C
from .lanes import Lanes, below, in_lanes, in_parts, lane_function
from .solved import function, headers, room, structure
from .splines import HEADER, splines
from .splines import table as spline_table
from .table import Contents, table

__all__ = ["Emitted", "Groups", "Library", "emit_group", "emit_library", "emit_prebuilt", "version", "whole"]

_RUNTIME = Path(__file__).with_name("runtime")


@dataclass(frozen=True)
class Emitted:
    """C text, and how many operations each of its kernels takes, by kind."""

    text: str
    operations: dict[str, dict[str, int]]


class Groups:
    """The groups of kernels of one model, each as a library of its own.

    All share the prepared constants of the core group, so that one block serves every kernel; what only another group
    needs of the parameters it computes itself.  The core group is derived once: each group goes on from a copy.

    Parameters
    ----------
    description : Description
    baked : mapping of name to float, optional
        Parameters that become constants.
    first : int
        The place in c of the first parameter.
    """

    def __init__(self, description: Description, baked: Mapping[str, float] | None = None, first: int = 0) -> None:
        self._description, self._baked, self._first = description, baked, first

    @cached_property
    def _core(self) -> tuple[Derivation, dict[str, Derived]]:
        derivation = _derive(self._description, self._baked)
        return derivation, _programs(derivation, GROUPS["core"])

    def library(self, group: str, *, lanes: bool = False) -> Library:
        """``"core"``, ``"forces"``, ..., of `kanecore.kernels`; or the same for several states side by side."""
        derivation, core = self._core
        return _of_group(derivation.copy(), core, group, lanes, self._first)

    def emit(self, group: str, *, lanes: bool = False) -> Emitted:
        """Its C text."""
        return self.library(group, lanes=lanes).emitted()


def emit_group(
    description: Description, group: str, baked: Mapping[str, float] | None = None, *, lanes: bool = False
) -> Emitted:
    """One group of kernels of a model; or the same for several states side by side."""
    derivation = _derive(description, baked)
    return _of_group(derivation, _programs(derivation, GROUPS["core"]), group, lanes).emitted()


def _of_group(derivation: Derivation, core: Mapping[str, Derived], group: str, lanes: bool, first: int = 0) -> Library:
    kernels = core if group == "core" else _programs(derivation, filter(derivation.has, GROUPS[group]))
    return (_LaneLibrary if lanes else Library)(derivation, core, kernels, group, {}, first)


def emit_library(description: Description, parameters: Mapping[str, float] | None = None) -> Emitted:
    """All kernels in one library, with default values of the parameters: a prebuilt model."""
    return whole(description, parameters).emitted()


def whole(description: Description, parameters: Mapping[str, float] | None = None, first: int = 0) -> Library:
    """That library."""
    derivation = _derive(description, None)
    names = [name for group in GROUPS for name in GROUPS[group] if derivation.has(name)]
    kernels = _programs(derivation, names)
    return Library(derivation, kernels, kernels, "all", dict(parameters or {}), first)


def emit_prebuilt(description: Description, parameters: Mapping[str, float] | None = None) -> tuple[Emitted, Emitted]:
    """Its text, and that of the core group for several states."""
    library = whole(description, parameters)
    core = {name: kernel for name, kernel in library.kernels.items() if KERNEL_GROUPS[name] == "core"}
    lanes = _LaneLibrary(library.derivation, library.kernels, core, "all", {})
    return library.emitted(), lanes.emitted()


def _derive(description: Description, baked: Mapping[str, float] | None) -> Derivation:
    """A derivation on a graph of its own: what was derived before would change the numbers of the nodes."""
    return Derivation(bake(description, baked) if baked else duplicate(description))


def _programs(derivation: Derivation, names: Iterable[str]) -> dict[str, Derived]:
    """What some kernels are made of, in nodes; of u̇ that is solved at run time what fills its equations."""
    result = {}
    for name in names:
        solved = derivation.at_run_time(name)
        result["udot" if solved and name == "rhs" else name] = solved or derivation.kernel(name)
    return result


class Library:
    """What stands in one C text, or in the code of one group (:mod:`.machine`).

    Parameters
    ----------
    derivation : Derivation
    preparing : mapping
        The kernels for which ``prepare`` computes constants: those of the core group, or all.
    kernels : mapping
        The kernels that the library holds.
    group : str
        Their group, or "all".
    defaults : mapping of name to float
        Values of parameters.
    first : int
        The place in c of the first parameter.
    """

    target = C()
    in_lanes = False

    def __init__(
        self,
        derivation: Derivation,
        preparing: Mapping[str, Derived],
        kernels: Mapping[str, Derived],
        group: str,
        defaults: Mapping[str, float],
        first: int = 0,
    ) -> None:
        self.derivation, self.kernels, self.group, self.defaults = derivation, kernels, group, defaults
        self.d, self.g, self.first = derivation.description, derivation.graph, first
        self.sizes = sizes_of(derivation)
        self.symbols = self._symbol_places()
        self.prepared = self._prepared(preparing)
        self.prepares = group in ("core", "all")
        self.n_prepared = self._first_prepared + len(self.prepared) + bool(self.d.constraints)

    # ------------------------------------------------------------------ levels
    def _symbol_places(self) -> dict[int, Operand]:
        """Where the symbols stand: t, x = [q, u, u̇, λ, further vectors], r, c."""
        d = self.d
        state = [*d.coordinates, *d.speeds, *d.accelerations, *self.derivation.multiplier_symbols]
        vectors = [kernel.further(self.sizes) for kernel in KERNELS if kernel.vectors and kernel.name in self.kernels]
        state += self.derivation.vector_symbols(max(map(sum, vectors), default=0))
        arrays = {"x": (state, 0), "r": (d.inputs, 0), "c": (d.parameters, self.first)}
        places = {d.time: Operand(Entry("t"))}
        for array, (nodes, first) in arrays.items():
            places.update((node, Operand(Entry(array, i))) for i, node in enumerate(nodes, first))
        return {**places, **self._addresses()}

    def _addresses(self) -> dict[int, Operand]:
        """Behind the parameters in c, where who calls ``prepare`` has put them before."""
        symbols = [address(self.g, name, order) for name in self.d.functions for order in range(N_ADDRESSES)]
        return {node: Operand(Entry("c", i)) for i, node in enumerate(symbols, self.first + len(self.d.parameters))}

    @property
    def _first_prepared(self) -> int:
        """The place in c of the first prepared constant."""
        return self.first + len(self.d.parameters) + N_ADDRESSES * len(self.d.functions)

    def _prepared(self, kernels: Mapping[str, Derived]) -> dict[int, Operand]:
        """Places in c of what depends on parameters alone and is used by something that does not, in graph order."""
        g = self.g
        constants: set[int] = set()
        for kernel in kernels.values():
            roots = [*kernel.roots, *(i for pivot in kernel.pivots for i in pivot[:2]), *kernel.limits]
            below = g.below(roots)
            for i in below:
                if g.depends[i] & ~PARAMETER:
                    constants.update(k for k in g.operands(i) if g.depends[k] == PARAMETER)
            constants.update(i for i in roots if g.depends[i] == PARAMETER)
        # a negation costs nothing where it is used
        constants = {g.nodes[i][1] if g.nodes[i][0] is Op.NEG else i for i in constants}
        first = self._first_prepared
        slots = [i for i in sorted(constants) if g.nodes[i][0] is not Op.SYM]
        return {i: Operand(Entry("c", first + n)) for n, i in enumerate(slots)}

    # --------------------------------------------------------------- functions
    @cached_property
    def functions(self) -> Functions:
        """All of them, once `of_kernel` has made them."""
        return Functions(self.derivation, {**self.symbols, **self.prepared}, self.n_prepared - 1, self.in_lanes)

    @cached_property
    def of_kernel(self) -> dict[str, Function]:
        """What computes each kernel that has elements; of ``rhs`` u̇."""
        functions, of_rhs = self.functions, {}
        if "udot" in self.kernels:
            of_rhs["rhs"] = functions.udot()  # on which most others stand
        with_elements = (name for name, kernel in self.kernels.items() if kernel.roots and name != "rhs")
        return of_rhs | {name: functions.kernel(name) for name in with_elements}

    @cached_property
    def counting(self) -> Solved | None:
        """How ``prepare`` counts the rows of G; None where it does not."""
        return self.functions.counting() if self.prepares else None

    @cached_property
    def preparing(self) -> Program:
        """What depends on parameters alone."""
        leaves = {node: Operand(Entry("p", i)) for i, node in enumerate(self.d.parameters)}
        return straight_line(self.g, Derived(tuple(self.prepared)), {**leaves, **self._addresses()}, 1)

    @cached_property
    def preparing_stores(self) -> list[Instruction]:
        """Where it goes."""
        return [Store(Entry("c", i), z) for i, z in enumerate(self.preparing.results, self._first_prepared)]

    @property
    def guess(self) -> list[float]:
        """The state near which rows are counted first; NaN for what nobody gave."""
        guess = dict(self.d.guess)
        return [guess.get(i, math.nan) for i in range(self.sizes["n_x"])]

    def n_results(self, name: str) -> int:
        """How many numbers a kernel returns."""
        kernel = next(kernel for kernel in KERNELS if kernel.name == name)
        return math.prod(kernel.lengths(self.sizes))

    @cached_property
    def operations(self) -> dict[str, dict[str, int]]:
        """How many operations each kernel takes, by kind."""
        operations = {name: count(self.g, kernel.roots) for name, kernel in self.kernels.items() if kernel.roots}
        if "udot" in self.kernels:
            operations = {"rhs": count(self.g, [*self.kernels["udot"].roots, *self.d.rates]), **operations}
        return operations

    def contents(self, n_work: str) -> Contents:
        """What the table tells; ``n_work``: how much scratch the kernels take."""
        return Contents(
            derivation=self.derivation,
            group=self.group,
            version=version(),
            kernels=self.kernels,
            operations=self.operations,
            defaults=self.defaults,
            n_prepared=self.n_prepared,
            n_work=n_work,
            entries=list(self.of_kernel),
            prepares=self.prepares,
        )

    # -------------------------------------------------------------------- text
    def emitted(self) -> Emitted:
        entries = [self._kernel(name, function) for name, function in self.of_kernel.items() if name != "rhs"]
        if "rhs" in self.of_kernel:
            entries.append(self._rhs(self.of_kernel["rhs"]))
        counting, made = self.counting, self.functions.by_name
        prepare = self._prepare() if self.prepares else ""
        text = [
            self._opening(self.operations),
            '#include "kanecore.h"\n\n',
            *self._runtime([*made.values(), *([counting] if counting else [])]),
            *self._splines(made.values()),
            *(function(self.target, each, made) for each in made.values()),
            *entries,
            prepare,
            table(self.contents(f"2 + {room(made, made)}"), self.target),
        ]
        return Emitted("".join(text), self.operations)

    def _runtime(self, functions: Iterable[Function]) -> Iterator[str]:
        """The headers of the runtime that functions need; those of the target's real numbers first."""
        for name in self.target.headers:
            yield (_RUNTIME / name).read_text(encoding="utf-8") + "\n"
        needed = headers(functions)
        if needed:
            yield self.target.tolerances()
        for name in needed:
            yield (_RUNTIME / name).read_text(encoding="utf-8") + "\n"

    def _splines(self, functions: Iterable[Function]) -> Iterator[str]:
        """Tables of the splines that functions, and what prepares, apply."""
        instructions: list[Instruction] = list(self.preparing.instructions) if self.prepares else []
        for each in functions:
            if isinstance(each, Straight):
                instructions += (instruction for part in each.parts.parts for instruction in part)
        needed = splines(instructions)
        if needed:
            yield (_RUNTIME / HEADER).read_text(encoding="utf-8") + "\n"
        for spline in needed:
            yield spline_table(self.target, spline)

    def _opening(self, operations: Mapping[str, Mapping[str, int]]) -> str:
        d = self.d
        lines = [
            f"kanecore {version()}: model {_comment(d.name)}, kernels: {self.group}",
            "This file was generated and belongs to whoever generated it.",
            "",
        ]
        for letter, names in (
            ("q", d.coordinate_names),
            ("u", d.speed_names),
            ("r", d.input_names),
            ("p", d.parameter_names),
        ):
            lines.append(f"{letter}[{len(names)}]: " + " ".join(map(_comment, names)))
        lines.append("")
        lines.append("operations + - * / sqrt, and pairs of sine and cosine:")
        for name, n in operations.items():
            lines.append(f"  {name}: {n['total']}, {n['sincos']}")
        return "/*\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"

    def _prepare(self) -> str:
        n_p, target = len(self.d.parameters), self.target
        lines = [f"for (int i = 0; i < {n_p}; i++) c[i] = p[i];"] if n_p else []
        lines += target.statements([*self.preparing.instructions, *self.preparing_stores])
        if self.d.constraints:
            lines += self._count()
        body = "".join(f"    {line}\n" for line in lines)
        return f"static void prepare(const double *p, double *c)\n{{\n    (void)p, (void)c;\n{body}}}\n\n"

    def _count(self) -> list[str]:
        """Statements that count the rows of G; without ``counting`` all are eliminated on the graph."""
        slot, counting = f"c[{self.n_prepared - 1}]", self.counting
        if counting is None:
            return [f"{slot} = {self.target.literal(self.derivation.eliminated)};"]
        sizes = ", ".join(map(str, counting.sizes))
        return [
            f"static const double guess[] = {{{self.target.numbers(self.guess)}}};",
            *structure(self.target, counting),
            f"double w[KC_COUNT_ROOM({sizes}) + {room(counting.calls, self.functions.by_name)}];",
            "s.guess = guess;",
            f"{slot} = kc_count(&s, c, w);",
        ]

    def _kernel(self, name: str, function: Function) -> str:
        call = f"{function.name}(t, x, r, c, work + 2, out)"
        return self._entry(name, [f"const int fault = {call};", self._fail(name)] if function.fails else [f"{call};"])

    def _rhs(self, udot: Function) -> str:
        """q̇ stands before u̇, and is computed after it, where there is one."""
        n_q = self.sizes["n_q"]
        call = f"{udot.name}(t, x, r, c, work + 2, out + {n_q})"
        qdot = ["compute_qdot(t, x, r, c, work + 2, out);"] if n_q else []
        if not udot.fails:
            return self._entry("rhs", [f"{call};", *qdot])
        lines = [f"const int fault = {call};", self._fail("rhs"), *(f"else {line}" for line in qdot)]
        return self._entry("rhs", lines)

    def _fail(self, name: str) -> str:
        """The statement that ends a kernel without a solution."""
        return f"if (KC_UNLIKELY(fault)) kc_fail(work, out, {self.n_results(name)}, fault);"

    def _entry(self, name: str, lines: Sequence[str]) -> str:
        """The function that stands in the table, whose numbers are doubles."""
        text = "".join(f"    {line}\n" for line in lines)
        return f"static void kernel_{name}({self.target.arguments}, double *work, double *out)\n{{\n{text}}}\n\n"


class _LaneLibrary(Library):
    """A C text with the kernels of a group for several states side by side, those that can be written so."""

    target = Lanes()
    in_lanes = True

    def emitted(self) -> Emitted:
        of_kernel, made, operations = self.of_kernel, self.functions.by_name, self.operations
        held = {name: each for name, each in of_kernel.items() if in_lanes(each.name, made)}
        needed = dict.fromkeys(name for each in held.values() for name in below(each.name, made))
        if "rhs" in held and self.sizes["n_q"]:
            needed["compute_qdot"] = None
        functions_of_lanes = [made[name] for name in made if name in needed]
        text = [
            self._opening({name: operations[name] for name in held}),
            '#include "kanecore.h"\n\n',
            *self._runtime(functions_of_lanes),
            *(lane_function(self.target, each, made) for each in functions_of_lanes),
            f"enum {{ LANE_WORK = {room(needed, made)} }};\n\n",
            *(self._lanes(name, each) for name, each in held.items()),
            self._lane_prepare() if self._prepares_lanes else "",
            self._lane_table(held),
            table(replace(self.contents("0"), entries=[], prepares=False, lanes=True), C()),
        ]
        return Emitted("".join(text), {name: operations[name] for name in held})

    @property
    def _prepares_lanes(self) -> bool:
        """Counting the rows of G, and addresses of functions, are left to kc_model's."""
        return self.prepares and not self.d.constraints and not self.d.functions

    def _lanes(self, name: str, function: Function) -> str:
        """A kernel for several states: each part of a program for all blocks, while it is in the cache."""
        n_q = self.sizes["n_q"] if name == "rhs" else 0
        calls = [(part, n_q) for part in in_parts(function, self.functions.by_name)]
        calls += [("compute_qdot", 0)] if n_q else []
        n, n_x, n_r = self.n_results(name), self._state_length(name), len(self.d.inputs)
        lines = ["kc_mask failed[KC_MOST_BLOCKS] = {{0}};"]
        for part, first in calls:
            out = f"out + b * {n}{f' + {first}' if first else ''}"
            lines.append("for (uint32_t b = 0; b < n_blocks; b++)")
            lines.append(
                f"    failed[b] |= {part}(t[b], x + b * {n_x}, r + b * {n_r}, c, work + b * LANE_WORK, {out});"
            )
        lines.append("for (uint32_t b = 0; b < n_blocks; b++)")
        lines.append(f"    undone[b] = kc_undone(failed[b], {n}, out + b * {n});")
        text = "".join(f"    {line}\n" for line in lines)
        return (
            f"static void of_lanes_{name}(uint32_t n_blocks, const kc_real *t, const kc_real *x, const kc_real *r, "
            f"const kc_real *c, kc_real *work, kc_real *out, uint32_t *undone)\n{{\n{text}}}\n\n"
            f"static void lanes_{name}(uint32_t n_blocks, const double *t, const double *x, const double *r, "
            "const double *c, double *work, double *out, uint32_t *undone)\n"
            f"{{\n    of_lanes_{name}(n_blocks, KC_ARRAYS(t, x, r, c, work, out), undone);\n}}\n\n"
        )

    def _state_length(self, name: str) -> int:
        """How many numbers of x a kernel reads."""
        kernel, sizes = next(kernel for kernel in KERNELS if kernel.name == name), self.sizes
        beyond = kernel.reads_udot * sizes["n_u"] + kernel.reads_multipliers * sizes["n_constraints"]
        return sizes["n_x"] + beyond + sum(kernel.further(sizes))

    def _lane_prepare(self) -> str:
        n_p = len(self.d.parameters)
        lines = [f"for (int i = 0; i < {n_p}; i++) c[i] = p[i];"] if n_p else []
        lines += self.target.statements([*self.preparing.instructions, *self.preparing_stores])
        body = "".join(f"    {line}\n" for line in lines)
        return (
            f"static void of_lanes_prepare(const kc_real *p, kc_real *c)\n{{\n    (void)p, (void)c;\n{body}}}\n\n"
            "static void prepare_lanes(const double *p, double *c)\n"
            "{\n    of_lanes_prepare((const kc_real *)p, (kc_real *)c);\n}\n\n"
        )

    def _lane_table(self, held: Mapping[str, Function]) -> str:
        members = {
            "struct_size": "sizeof(kc_lanes)",
            "n_lanes": "KC_PACK",
            "n_prepared": str(self.n_prepared),
            "n_work": "LANE_WORK",
            "gather": "kc_gather",
            "scatter": "kc_scatter",
            **({"prepare": "prepare_lanes"} if self._prepares_lanes else {}),
            **{name: f"lanes_{name}" for name in held},
        }
        body = "".join(f"    .{member} = {value},\n" for member, value in members.items())
        return f"static const kc_lanes lanes = {{\n{body}}};\n\n"


def version() -> str:
    """That of the package, as the C says it."""
    try:
        return metadata.version("kanecore")
    except metadata.PackageNotFoundError:  # while setup.py builds the gallery
        return "source"


def _comment(name: str) -> str:
    """A name as it may stand in a C comment."""
    return re.sub(r"[^A-Za-z0-9_.,+\-() ]", "?", name)
