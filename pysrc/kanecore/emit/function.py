# SPDX-License-Identifier: BSD-3-Clause
"""Nodes to statements: one straight-line C function, or several where one would outgrow the compiler.

Every node becomes one statement, ``const double z17 = z4 * c[9];``, in the order of the graph, so that the text reads
as the derivation went.  A product that is used once, in a sum, is fused into it: ``KC_FMA(a, b, c)``.  A sine and a
cosine of one argument share one call.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from kanecore.derive.registry import Derived
from kanecore.errors import ModelError
from kanecore.graph.evaluate import evaluate
from kanecore.graph.scalars import Graph, Op
from kanecore.kernels import KERNEL_GROUPS
from kanecore.tolerances import EPSILON, PIVOT

__all__ = ["Function", "literal"]

# Statements in one C function: the time of compilers grows faster than the text.  Integrators live on the core group: a
# tenth of its time is worth a longer compilation.  The other groups compile in two thirds of it.
CHUNK = 3000
CHUNK_BESIDE = 250
ZEROS = 32  # results of a kernel that are zero: more are cleared by a loop
PIVOT_TOLERANCE = PIVOT * EPSILON

_CALLS = {
    Op.TAN: "tan",
    Op.ASIN: "asin",
    Op.ACOS: "acos",
    Op.ATAN: "atan",
    Op.ATAN2: "atan2",
    Op.EXP: "exp",
    Op.LOG: "log",
    Op.SQRT: "sqrt",
    Op.SINH: "sinh",
    Op.COSH: "cosh",
    Op.TANH: "tanh",
    Op.ASINH: "asinh",
    Op.ACOSH: "acosh",
    Op.ATANH: "atanh",
    Op.ERF: "erf",
    Op.FLOOR: "floor",
    Op.POW: "pow",
    Op.ABS: "fabs",
    Op.SIGN: "kc_sign",
    Op.MIN: "kc_min",
    Op.MAX: "kc_max",
}
_COMPARE = {Op.LT: "<", Op.LE: "<=", Op.EQ: "=="}


def literal(value: float) -> str:
    """A C literal that reads back as exactly this finite number."""
    return repr(float(value))


def constant_value(g: Graph, i: int) -> float:
    """The double nearest to a node that depends on nothing; ModelError where it is no finite real number."""
    value = g.value(i)
    try:
        if value is None:
            import mpmath

            with mpmath.workdps(50):
                value = float(evaluate(g, [i], {}, mpmath.mp)[0])  # TypeError where it is complex
        if math.isfinite(float(value)):
            return float(value)
    except (TypeError, ValueError, ArithmeticError):
        pass
    raise ModelError(f"a constant of the model, {g.nodes[i]}, is no finite real number")


class Function:
    """The statements of one kernel.

    Parameters
    ----------
    g : Graph
    kernel : Derived
    leaves : mapping
        Node to C expression, for symbols and prepared constants: nothing below them is computed.
    n : int
        Number of speeds, for the tolerance of the pivots.
    """

    def __init__(self, g: Graph, kernel: Derived, leaves: Mapping[int, str], n: int) -> None:
        self.graph = g
        self.kernel = kernel
        self.statements: list[str] = []
        self.fails = False  # whether a pivot is tested
        self.names: dict[int, str] = {}
        self._number = 0
        self._owner: dict[str, int] = {}  # z name -> number of the statement that defines it
        self._uses: list[list[str]] = []  # per statement, the z names it reads
        guards = self._guards(n)
        needed = [*kernel.roots, *(i for pair in guards for i in pair[:2])]
        order = g.below(needed, stop=leaves)
        fused = self._fused(order, leaves, set(needed))
        pending = sorted(guards, key=lambda guard: max(guard[:2]))
        for i in order:
            while pending and max(pending[0][:2]) < i:
                self._guard(*pending.pop(0), n)
            if i in leaves:
                self.names[i] = leaves[i]
            elif i in self.names:
                continue  # the other half of a sine and cosine
            elif not g.depends[i]:
                self.names[i] = literal(constant_value(g, i))
            elif i not in fused:
                self._statement(i, fused)
        for guard in pending:
            self._guard(*guard, n)
        self.results = [self.names[i] for i in kernel.roots]

    # ------------------------------------------------------------------- order
    def _guards(self, n: int) -> list[tuple[int, int, int]]:
        """What is tested at run time: pivots, unless they are positive numbers, and limits, as of the row −1."""
        g = self.graph
        result = []
        for pivot, diagonal, row in self.kernel.pivots:
            numbers = not g.depends[pivot] and not g.depends[diagonal]
            if numbers and constant_value(g, pivot) > PIVOT_TOLERANCE * n * constant_value(g, diagonal):
                continue
            result.append((pivot, diagonal, row))
        return [*result, *((limit, limit, -1) for limit in self.kernel.limits)]

    def _fused(self, order: Sequence[int], leaves: Mapping[int, str], kept: set[int]) -> dict[int, int]:
        """Products that are used once, by a sum that takes them in: ``{product: sum}``; each sum takes one."""
        g = self.graph
        uses: dict[int, int] = {}
        for i in order:
            if i not in leaves:
                for k in g.operands(i):
                    uses[k] = uses.get(k, 0) + 1
        fused: dict[int, int] = {}
        for i in order:
            node = g.nodes[i]
            if i in leaves or not g.depends[i] or (node[0] is not Op.ADD and node[0] is not Op.SUB):
                continue
            # the younger operand first: along a sum of products it is the one that would wait
            for k in sorted(node[1:], reverse=True) if node[0] is Op.ADD else (node[2], node[1]):
                if g.nodes[k][0] is Op.MUL and g.depends[k] and uses[k] == 1 and k not in kept and k not in leaves:
                    fused[k] = i
                    break
        return fused

    # -------------------------------------------------------------- statements
    def _define(self, i: int, text: str, reads: Sequence[int]) -> None:
        self._number += 1
        name = f"z{self._number}"
        self.names[i] = name
        self._owner[name] = len(self.statements)
        self._uses.append([self.names[k].lstrip("-") for k in reads])
        self.statements.append(f"const double {name} = {text};")

    def _statement(self, i: int, fused: Mapping[int, int]) -> None:
        g, name = self.graph, self.names
        node = g.nodes[i]
        op, *args = node
        if op is Op.NEG:
            inner = name[args[0]]
            name[i] = inner[1:] if inner.startswith("-") else "-" + inner
        elif op is Op.SIN or op is Op.COS:
            self._sincos(i, args[0])
        elif op is Op.ADD or op is Op.SUB:
            a, b = args
            if fused.get(b) == i:
                x, y = g.nodes[b][1:]
                call = "KC_FMA" if op is Op.ADD else "KC_FNMA"
                self._define(i, f"{call}({name[x]}, {name[y]}, {name[a]})", (x, y, a))
            elif fused.get(a) == i:
                x, y = g.nodes[a][1:]
                call = "KC_FMA" if op is Op.ADD else "KC_FMS"
                self._define(i, f"{call}({name[x]}, {name[y]}, {name[b]})", (x, y, b))
            else:
                self._define(i, f"{name[a]} {'+' if op is Op.ADD else '-'} {_signed(name[b])}", args)
        elif op is Op.MUL or op is Op.DIV:
            a, b = args
            self._define(i, f"{name[a]} {'*' if op is Op.MUL else '/'} {_signed(name[b])}", args)
        elif op in _COMPARE:
            self._define(i, f"{name[args[0]]} {_COMPARE[op]} {_signed(name[args[1]])} ? 1.0 : 0.0", args)
        elif op is Op.SELECT:
            self._define(i, f"{name[args[0]]} != 0.0 ? {name[args[1]]} : {name[args[2]]}", args)
        elif (half := g.half_integer(i)) is not None:
            x, k = half
            factors = " * ".join([_signed(name[x])] * k)
            self._define(i, f"{factors} * sqrt({name[x]})", (x,))
        else:
            self._define(i, f"{_CALLS[op]}({', '.join(name[k] for k in args)})", args)

    def _sincos(self, i: int, angle: int) -> None:
        """Both at the first of them; the compiler drops the one that nobody reads."""
        g, name = self.graph, self.names
        self._number += 1
        sine, cosine = f"s{self._number}", f"c{self._number}"
        for op, z in ((Op.SIN, sine), (Op.COS, cosine)):
            k = g.call(op, angle)
            name[k] = z
            self._owner[z] = len(self.statements)
        self._uses.append([name[angle].lstrip("-")])
        self.statements.append(f"double {sine}, {cosine};\n    kc_sincos({name[angle]}, &{sine}, &{cosine});")

    def _guard(self, pivot: int, diagonal: int, row: int, n: int) -> None:
        a, b = self.names[pivot], self.names[diagonal]
        bound = "0.0" if pivot == diagonal else f"{literal(PIVOT_TOLERANCE * n)} * {_signed(b)}"
        self.fails = True
        self._uses.append([a.lstrip("-"), b.lstrip("-")])
        condition = f"{a} <= 0.0" if row < 0 else f"{a} > {bound}"
        self.statements.append(f"if (KC_UNLIKELY(!({condition}))) return {max(row, 0)};")

    # -------------------------------------------------------------------- text
    def text(self, name: str, first: int = 0) -> tuple[str, int]:
        """C text of ``static int name(t, x, r, c, w, out)``, and how many doubles of ``w`` it uses, from ``first`` on.

        The function returns −1, or the number of the speed whose pivot vanished.
        """
        in_core = KERNEL_GROUPS.get(name.partition("_")[2]) == "core"  # body_udot, system_udot, ...
        size = CHUNK if in_core else min(CHUNK, CHUNK_BESIDE)
        stores = {i: f"out[{i}] = {z};" for i, z in enumerate(self.results)}
        clear = []
        zeros = [i for i, z in enumerate(self.results) if z == "0.0"]
        if len(zeros) > ZEROS:  # thousands of them, among the partial velocities of a long tree
            clear = [f"for (int i = 0; i < {len(self.results)}; i++) out[i] = 0.0;"]
            for i in zeros:
                del stores[i]
        if len(self.statements) <= size + size // 2:
            # a result is stored where it is defined: those that are kept to the end fill the registers
            places: list[list[str]] = [[] for _ in range(len(self.statements) + 1)]
            for i, store in stores.items():
                places[self._owner.get(self.results[i].lstrip("-"), -1) + 1].append(store)
            lines = [line for stored, line in zip(places[1:], self.statements, strict=True) for line in (line, *stored)]
            return _function(name, [*clear, *places[0], *lines]), first
        n_chunks = (len(self.statements) + size - 1) // size
        last_use: dict[str, int] = {}
        for number, reads in enumerate(self._uses):
            last_use.update((z, number // size) for z in reads if z in self._owner)
        defined: list[list[str]] = [[] for _ in range(n_chunks)]
        for z, owner in self._owner.items():
            defined[owner // size].append(z)
        stored: list[list[str]] = [[] for _ in range(n_chunks)]  # each result where it is defined
        for i, store in stores.items():
            stored[self._owner.get(self.results[i].lstrip("-"), 0) // size].append(store)
        slots: dict[str, int] = {}
        free: list[int] = []
        width = first
        expiry: dict[int, list[int]] = {}
        parts, calls = [], []
        for chunk in range(n_chunks):
            free.extend(expiry.pop(chunk - 1, ()))
            lines = self.statements[chunk * size : (chunk + 1) * size]
            used = dict.fromkeys(z for reads in self._uses[chunk * size : (chunk + 1) * size] for z in reads)
            loads = [f"const double {z} = w[{slots[z]}];" for z in used if z in slots]
            kept = []
            for z in defined[chunk]:
                last = last_use.get(z, chunk)
                if last > chunk:
                    slot = free.pop() if free else width
                    width = max(width, slot + 1)
                    slots[z] = slot
                    expiry.setdefault(last, []).append(slot)
                    kept.append(f"w[{slot}] = {z};")
            parts.append(_function(f"{name}_{chunk + 1}", [*loads, *lines, *kept, *stored[chunk]], "KC_PART int"))
            calls.append(f"{name}_{chunk + 1}(t, x, r, c, w, out)")
        body = ["int row;", *clear, *(f"if (KC_UNLIKELY((row = {call}) >= 0)) return row;" for call in calls)]
        return "".join(parts) + _function(name, body), width


def _signed(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def _function(name: str, lines: Sequence[str], kind: str = "static int") -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return (
        f"{kind} {name}(double t, const double *x, const double *r, const double *c, double *w, double *out)\n"
        f"{{\n    (void)t, (void)x, (void)r, (void)c, (void)w, (void)out;\n{body}    return -1;\n}}\n\n"
    )
