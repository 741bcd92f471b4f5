# SPDX-License-Identifier: BSD-3-Clause
"""Content of one C text: kernels of a group, or of a whole model, with their ``kc_model`` table."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from kanecore.derive.derivation import Derivation
from kanecore.derive.kernel_registry import Derived
from kanecore.derive.model_facts import sizes_of
from kanecore.functions.c_functions import N_ADDRESSES
from kanecore.graph.evaluation import count
from kanecore.graph.expression_graph import PARAMETER, Op
from kanecore.kernels import GROUPS, KERNELS
from kanecore.program.function_parts import Function, Solved, Straight
from kanecore.program.function_store import Functions
from kanecore.program.instructions import Entry, Instruction, Operand, Program, Store
from kanecore.program.kernel_functions import kernel_function
from kanecore.program.motion_functions import asked, motion
from kanecore.program.row_counting import counting
from kanecore.program.straight_line import address, straight_line

from .c_target import C
from .library_tables import HEADER, Contents, splines, table
from .library_tables import spline_table as spline_table
from .solver_calls import function, headers, room, structure
from .sources import version

__all__ = [
    "Emitted",
    "Library",
]

# what only models with fronts need
_OF_FRONTS = re.compile(r"#if defined\(KC_FRONTS\)\n.*?#endif\n|#define KC_STEEPEST [^\n]*\n", re.DOTALL)
_RUNTIME = Path(__file__).with_name("runtime")


@dataclass(frozen=True)
class Emitted:
    """C text, and the number of operations of each kernel, by kind."""

    text: str
    operations: dict[str, dict[str, int]]


class Library:
    """Content of a C text, or of the code of a group (:mod:`.bytecode`).

    Parameters
    ----------
    derivation : Derivation
    preparing : mapping
        The kernels for which ``prepare`` computes constants: the core group's, or all.
    kernels : mapping
        The kernels of the library.
    group : str
        The group of the kernels, "all", or several groups with the core.
    defaults : mapping of name to float
        Values of parameters.
    target : C, optional
        Target of programs; default: C on doubles.
    first : int
        The place in c of the first parameter.
    """

    in_lanes = False
    also: tuple[str, ...] = ()  # headers of the runtime for appended text

    def __init__(
        self,
        derivation: Derivation,
        preparing: Mapping[str, Derived],
        kernels: Mapping[str, Derived],
        group: str,
        defaults: Mapping[str, float] = MappingProxyType({}),
        target: C | None = None,
        first: int = 0,
    ) -> None:
        self.target = target or C()
        self.derivation, self.kernels, self.group, self.defaults = derivation, kernels, group, defaults
        self.d, self.g, self.first = derivation.description, derivation.graph, first
        self.sizes = sizes_of(derivation)
        self.symbols = self._symbol_places()
        self.prepared = self._prepared(preparing)
        self.prepares = group == "core" or group not in GROUPS
        self.n_prepared = self._first_prepared + len(self.prepared) + bool(self.d.constraints)

    # ------------------------------------------------------------------ levels
    def _symbol_places(self) -> dict[int, Operand]:
        """Places of the symbols: t, x = [q, u, z, u̇, λ, further vectors], r, c."""
        d = self.d
        state = [*d.x, *d.accelerations, *self.derivation.multiplier_symbols]
        vectors = [kernel.further(self.sizes) for kernel in KERNELS if kernel.vectors and kernel.name in self.kernels]
        state += self.derivation.vector_symbols(max(map(sum, vectors), default=0))
        arrays = {"x": (state, 0), "r": (d.inputs, 0), "c": (d.parameters, self.first)}
        places = {d.time: Operand(Entry("t"))}
        for array, (nodes, first) in arrays.items():
            places.update((node, Operand(Entry(array, i))) for i, node in enumerate(nodes, first))
        return {**places, **self._addresses()}

    def _addresses(self) -> dict[int, Operand]:
        """Places of the addresses of C functions: in c after the parameters, set before ``prepare`` is called."""
        symbols = [address(self.g, name, order) for name in self.d.functions for order in range(N_ADDRESSES)]
        return {node: Operand(Entry("c", i)) for i, node in enumerate(symbols, self.first + len(self.d.parameters))}

    @property
    def _first_prepared(self) -> int:
        """The place in c of the first prepared constant."""
        return self.first + len(self.d.parameters) + N_ADDRESSES * len(self.d.functions)

    def _prepared(self, kernels: Mapping[str, Derived]) -> dict[int, Operand]:
        """Places in c of nodes that depend only on parameters and are used by nodes that do not, in graph order."""
        g = self.g
        constants: set[int] = set()
        for kernel in kernels.values():
            roots = [*kernel.roots, *(i for pivot in kernel.pivots for i in pivot[:2]), *kernel.limits]
            below = g.below(roots)
            for i in below:
                if g.depends[i] & ~PARAMETER:
                    constants.update(k for k in g.operands(i) if g.depends[k] == PARAMETER)
            constants.update(i for i in roots if g.depends[i] == PARAMETER)
        # a negation costs nothing at its use
        constants = {g.nodes[i][1] if g.nodes[i][0] is Op.NEG else i for i in constants}
        first = self._first_prepared
        slots = [i for i in sorted(constants) if g.nodes[i][0] is not Op.SYM]
        return {i: Operand(Entry("c", first + n)) for n, i in enumerate(slots)}

    # --------------------------------------------------------------- functions
    @cached_property
    def functions(self) -> Functions:
        """Functions of the library, complete after `of_kernel`."""
        return Functions(self.derivation, {**self.symbols, **self.prepared}, self.n_prepared - 1, self.in_lanes)

    @cached_property
    def of_kernel(self) -> dict[str, Function]:
        """Functions that compute the nonempty kernels; the function of ``rhs`` computes u̇, then ż.

        If loads depend on reactions, the functions report the fault of these; lanes leave such states to the functions.
        """
        functions, of_rhs = self.functions, {}
        if "udot" in self.kernels:
            of_rhs["rhs"] = motion(functions)
        with_elements = (name for name, kernel in self.kernels.items() if kernel.roots and name != "rhs")
        made = of_rhs | {name: kernel_function(functions, name) for name in with_elements}
        terms = self.d.reaction_terms
        if self.in_lanes or terms is None or not terms.fault:
            return made
        before = {"rhs": self.sizes["n_q"]}
        return {name: asked(functions, each, self.n_results(name) - before.get(name, 0)) for name, each in made.items()}

    @cached_property
    def counting(self) -> Solved | None:
        """Function by which ``prepare`` counts the independent rows of G; None if it does not count."""
        return counting(self.functions) if self.prepares else None

    @cached_property
    def preparing(self) -> Program:
        """Program of the values that depend only on parameters."""
        leaves = {node: Operand(Entry("p", i)) for i, node in enumerate(self.d.parameters)}
        return straight_line(self.g, Derived(tuple(self.prepared)), {**leaves, **self._addresses()}, 1)

    @cached_property
    def preparing_stores(self) -> list[Instruction]:
        """Stores of the prepared values to c."""
        return [Store(Entry("c", i), z) for i, z in enumerate(self.preparing.results, self._first_prepared)]

    @property
    def guess(self) -> list[float]:
        """Coordinates and speeds near which rows are counted first; NaN for missing entries."""
        guess = dict(self.d.guess)
        return [guess.get(i, math.nan) for i in range(self.sizes["n_q"] + self.sizes["n_u"])]

    @property
    def n_work(self) -> str:
        """Size of the scratch of the kernels, a constant expression of C."""
        made = self.functions.by_name
        return f"2 + {room(made, made)}"

    def n_results(self, name: str) -> int:
        """Number of results of a kernel."""
        kernel = next(kernel for kernel in KERNELS if kernel.name == name)
        return math.prod(kernel.lengths(self.sizes))

    @cached_property
    def operations(self) -> dict[str, dict[str, int]]:
        """Number of operations of each kernel, by kind."""
        operations = {name: count(self.g, kernel.roots) for name, kernel in self.kernels.items() if kernel.roots}
        if "udot" in self.kernels:
            operations = {
                "rhs": count(self.g, [*self.kernels["udot"].roots, *self.d.rates, *self.d.state_rates]),
                **operations,
            }
        return operations

    def contents(self, n_work: str) -> Contents:
        """Content of the table; ``n_work`` is the size of the kernels' scratch."""
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
        names = sorted(self.of_kernel, key=lambda name: name == "rhs")  # as it calls one of the others
        entries = [self._entry(name, self.entry_lines(name)) for name in names]
        counting, made = self.counting, self.functions.by_name
        prepare = self.preparation("prepare", self.counting_lines(self.counting)) if self.prepares else ""
        text = [
            self.opening(self.operations),
            '#include "kanecore.h"\n\n',
            *self.runtime([*made.values(), *([counting] if counting else [])]),
            *self.splines(made.values()),
            *(function(self.target, each, made) for each in made.values()),
            *entries,
            prepare,
            table(self.contents(self.n_work), self.target),
        ]
        return Emitted("".join(text), self.operations)

    def runtime(self, functions: Iterable[Function]) -> Iterator[str]:
        """Headers of the runtime that functions need; headers of the target's real numbers first."""
        for name in self.target.headers:
            yield (_RUNTIME / name).read_text(encoding="utf-8") + "\n"
        needed = headers(self.target, functions, self.also)
        texts = [self.target.tolerances()] if needed else []
        texts += [(_RUNTIME / name).read_text(encoding="utf-8") + "\n" for name in needed]
        yield from texts if "fronts.h" in needed else (_OF_FRONTS.sub("", text) for text in texts)

    def splines(self, functions: Iterable[Function]) -> Iterator[str]:
        """Tables of the splines in functions and in the preparation."""
        instructions: list[Instruction] = list(self.preparing.instructions) if self.prepares else []
        for each in functions:
            if isinstance(each, Straight):
                instructions += (instruction for part in each.parts.parts for instruction in part)
        needed = splines(instructions)
        if needed:
            yield (_RUNTIME / HEADER).read_text(encoding="utf-8") + "\n"
        for spline in needed:
            yield spline_table(self.target, spline)

    def opening(self, operations: Mapping[str, Mapping[str, int]]) -> str:
        """The comment at the beginning."""
        d = self.d
        lines = [
            f"kanecore {version()}: model {_comment(d.name)}, kernels: {self.group}",
            "This file was generated and belongs to whoever generated it.",
            "",
        ]
        for letter, names in (
            ("q", d.coordinate_names),
            ("u", d.speed_names),
            *([("z", d.state_names)] if d.states else []),
            ("r", d.input_names),
            ("p", d.parameter_names),
        ):
            lines.append(f"{letter}[{len(names)}]: " + " ".join(map(_comment, names)))
        lines.append("")
        lines.append("operations + - * / sqrt, and pairs of sine and cosine:")
        for name, n in operations.items():
            lines.append(f"  {name}: {n['total']}, {n['sincos']}")
        return "/*\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"

    def preparation(self, name: str, counting: Sequence[str] = ()) -> str:
        """Function that computes the values that depend only on parameters."""
        n_p, target = len(self.d.parameters), self.target
        lines = [f"for (int i = 0; i < {n_p}; i++) c[i] = p[i];"] if n_p else []
        lines += [*target.statements([*self.preparing.instructions, *self.preparing_stores]), *counting]
        body = "".join(f"    {line}\n" for line in lines)
        return f"static void {name}(const {target.real} *p, {target.real} *c)\n{{\n    (void)p, (void)c;\n{body}}}\n\n"

    def counting_lines(self, counting: Solved | None) -> list[str]:
        """Statements that count the rows of G by a function; without one it is how many the graph eliminates."""
        if not self.d.constraints:
            return []
        slot = f"c[{self.n_prepared - 1}]"
        if counting is None:
            return [f"{slot} = {self.target.literal(self.derivation.eliminated)};"]
        sizes = ", ".join(map(str, counting.sizes))
        return [
            f"static const {self.target.number} guess[] = {{{self.target.numbers(self.guess)}}};",
            *structure(self.target, counting),
            f"{self.target.number} w[KC_COUNT_ROOM({sizes}) + {room(counting.calls, self.functions.by_name)}];",
            "s.guess = guess;",
            f"{slot} = ({self.target.number})kc_count(&s, c, w);",
        ]

    def entry_lines(self, name: str) -> list[str]:
        """Statements of a kernel; ``rhs`` computes u̇ first, then q̇ if any, although q̇ is first in ``out``."""
        function, first, then = self.of_kernel[name], "out", []
        if name == "rhs" and (n_q := self.sizes["n_q"]):
            first, then = f"out + {n_q}", [f"compute_qdot({self.target.time}, x, r, c, work + 2, out);"]
        call = f"{function.name}({self.target.time}, x, r, c, work + 2, {first})"
        if not function.fails:
            return [f"{call};", *then]
        fail = f"if (KC_UNLIKELY(fault)) kc_fail(work, out, {self.n_results(name)}, fault);"
        return [f"const int fault = {call};", fail, *(f"else {line}" for line in then)]

    def _entry(self, name: str, lines: Sequence[str]) -> str:
        """Function for the table, with t as a double."""
        text, number = "".join(f"    {line}\n" for line in lines), self.target.number
        arguments = f"const {number} *x, const {number} *r, const {number} *c, {number} *work, {number} *out"
        return f"static void kernel_{name}(double t, {arguments})\n{{\n{text}}}\n\n"


def _comment(name: str) -> str:
    """Name in a form that is safe in a C comment."""
    return re.sub(r"[^A-Za-z0-9_.,+\-() ]", "?", name)
