# SPDX-License-Identifier: BSD-3-Clause
"""Straight-line programs: nodes of the graph as instructions, in the order of the graph.

Every node becomes an instruction, in the order of the derivation.  A product that is used once, in a sum, is fused into
the sum.  A sine and a cosine of the same angle are one instruction.  So are a given function and its derivatives at the
same arguments.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kanecore.derive.kernel_registry import Derived
from kanecore.errors import ModelError
from kanecore.graph.evaluation import evaluate
from kanecore.graph.expression_graph import PARAMETER, Given, Graph, Op
from kanecore.graph.random_samples import PRECISE
from kanecore.tolerances import EPSILON, PIVOT

from .fused_products import Forms
from .instructions import (
    FMA,
    FMS,
    FNMA,
    FNMS,
    HALF_POWER,
    TOGETHER,
    Apply,
    Call,
    Compute,
    Instruction,
    Limit,
    Operand,
    Pivot,
    Program,
    SineCosine,
    SineCosines,
    Value,
)

__all__ = ["address", "constant_value", "straight_line"]

ENOUGH_ANGLES = 3  # least number of angles in one call; up to two, separate calls are as fast

_NEGATIVE = {FMA: FNMS, FMS: FNMA, FNMA: FMS}


def constant_value(g: Graph, i: int) -> float:
    """The double nearest to a constant node; ModelError if the constant is no finite real number."""
    value = g.value(i)
    try:
        if value is None:
            # a separate context, since other threads may change the precision of mpmath's global one
            value = float(evaluate(g, [i], {}, PRECISE)[0])  # TypeError if it is complex
        if math.isfinite(float(value)):
            return float(value)
    except (TypeError, ValueError, ArithmeticError):
        pass
    raise ModelError(f"a constant of the model, {g.nodes[i]}, is no finite real number")


def address(g: Graph, name: str, order: int) -> int:
    """Symbol for the address of a C function, or of one of its derivatives."""
    return g.symbol(("f", name, order), PARAMETER)


def straight_line(g: Graph, kernel: Derived, leaves: Mapping[int, Operand], n: int) -> Program:
    """The program of a kernel.

    Parameters
    ----------
    g : Graph
    kernel : Derived
    leaves : mapping
        Places of symbols, prepared constants and results of other programs; nodes below are not computed.
    n : int
        Number of speeds, for the tolerance of the pivots.
    """
    return _Writer(g, kernel, leaves, n).program


class _Guard(NamedTuple):
    """Test at run time, of a pivot relative to its diagonal entry, or of a limit if ``speed`` is None."""

    nodes: tuple[int, ...]
    speed: int | None


class _Writer:
    """A pass over the nodes below the results, in the order of the graph; :attr:`program` is the result."""

    def __init__(self, g: Graph, kernel: Derived, leaves: Mapping[int, Operand], n: int) -> None:
        self.graph, self.leaves, self.n = g, leaves, n
        self.instructions: list[Instruction] = []
        self.operands: dict[int, Operand] = {}
        self._number = 0
        guards = sorted(self._guards(kernel), key=lambda guard: max(guard.nodes))
        needed = [*kernel.roots, *(i for guard in guards for i in guard.nodes)]
        order = g.below(needed, stop=leaves)
        self._needed, self._uses = set(needed), self._count_uses(order)
        self._sum_of = self._fused(order)
        self._at_one_place = self._gathered(order)
        self._multiply_adds: dict[int, int] = {}  # places of nodes among the instructions
        for i in order:
            if not self._computed(i):
                self._visit(i)
        for guard in guards:
            if not any(map(self._computed, guard.nodes)):
                self._guard(guard)
        parts = [
            (part, [guard for guard in guards if any(i in part for i in guard.nodes)])
            for part in self._apart(order, guards)
        ]
        # pivots are tested as soon as they are known; the first failing one is named in the error
        parts.sort(key=lambda pair: min((max(guard.nodes) for guard in pair[1]), default=len(self.graph.nodes)))
        for part, own_guards in parts:
            self._write(part, own_guards)
        self.program = Program(tuple(self.instructions), tuple(self.operands[i] for i in kernel.roots))

    def _computed(self, i: int) -> bool:
        """Test whether a node needs an instruction; constants do not."""
        return i not in self.leaves and self.graph.depends[i] != 0

    def _apart(self, order: Sequence[int], guards: Sequence[_Guard]) -> list[dict[int, None]]:
        """Independent parts, such as trees side by side, each in order: so few values wait for later use.

        Nodes of the same instruction or guard stay in the same part.
        """
        g = self.graph
        first: dict[object, object] = {}  # for a node, or a node's group, a member of the group

        def root(a: object) -> object:
            while (b := first.setdefault(a, a)) != a:
                first[a] = first.setdefault(b, b)
                a = first[a]
            return a

        for i in filter(self._computed, order):
            op, *args = g.nodes[i]
            with_it: list[object] = [k for k in g.operands(i) if self._computed(k)]
            if op is Op.SIN or op is Op.COS:
                with_it.append(("angle", args[0]))
            elif isinstance(op, Given):
                with_it.append((op.data, *args))
            for other in with_it:
                first[root(other)] = root(i)
        for guard in guards:
            nodes = [i for i in guard.nodes if self._computed(i)]
            for other in nodes[1:]:
                first[root(other)] = root(nodes[0])
        parts: dict[object, dict[int, None]] = {}
        for i in filter(self._computed, order):
            parts.setdefault(root(i), {})[i] = None
        return list(parts.values())

    def _write(self, part: Mapping[int, None], guards: Sequence[_Guard]) -> None:
        """Write the instructions of nodes in order; guards follow as soon as their values are known."""
        self._first_angles(list(part))
        pending = list(guards)
        for i in part:
            while pending and max(pending[0].nodes) < i:
                self._guard(pending.pop(0))
            self._visit(i)
        for guard in pending:
            self._guard(guard)

    def _visit(self, i: int) -> None:
        """Assign an operand to a node."""
        if i in self.leaves:
            self.operands[i] = self.leaves[i]
        elif i in self.operands:
            return  # the other of a sine and cosine, or another derivative
        elif self.graph.nodes[i][0] is Op.LAST_STEP:
            self.operands[i] = Operand(Op.LAST_STEP)
        elif not self.graph.depends[i]:
            self.operands[i] = Operand(constant_value(self.graph, i))
        elif i not in self._sum_of:
            self._compute(i)

    # ------------------------------------------------------------------ guards
    def _guards(self, kernel: Derived) -> list[_Guard]:
        """Guards of a kernel: pivots, unless they are sufficiently large numbers, then limits."""
        g = self.graph
        result = []
        for pivot, diagonal, speed in kernel.pivots:
            numbers = not g.depends[pivot] and not g.depends[diagonal]
            if numbers and constant_value(g, pivot) > PIVOT * EPSILON * self.n * constant_value(g, diagonal):
                continue
            result.append(_Guard((pivot, diagonal), speed))
        return [*result, *(_Guard((limit,), None) for limit in kernel.limits)]

    def _guard(self, guard: _Guard) -> None:
        tested, *diagonal = (self.operands[i] for i in dict.fromkeys(guard.nodes))
        if guard.speed is None:
            self.instructions.append(Limit(tested))
        else:
            self.instructions.append(Pivot(tested, diagonal[0] if diagonal else None, self.n, guard.speed))

    # ------------------------------------------------------------- instructions
    def _count_uses(self, order: Sequence[int]) -> dict[int, int]:
        uses: dict[int, int] = {}
        for i in order:
            if i not in self.leaves:
                for k in self.graph.operands(i):
                    uses[k] = uses.get(k, 0) + 1
        return uses

    def _used_once(self, i: int) -> bool:
        """Test whether a node may be fused: it is used once, and not as a result or by a guard."""
        return self._uses[i] == 1 and i not in self._needed and i not in self.leaves

    def _fused(self, order: Sequence[int]) -> dict[int, int]:
        """Products that are used once, by a sum that fuses them: ``{product: sum}``; each sum fuses one product.

        Nodes that depend only on parameters are not fused.  So they have the same bits wherever they are computed, in
        ``prepare`` for several kernels or in a kernel.
        """
        g, leaves, forms = self.graph, self.leaves, Forms(self.graph)
        fused: dict[int, int] = {}
        for i in order:
            node = g.nodes[i]
            if i in leaves or not g.depends[i] or (node[0] is not Op.ADD and node[0] is not Op.SUB):
                continue
            products = [
                k for k in node[1:] if g.nodes[k][0] is Op.MUL and g.depends[k] & ~PARAMETER and self._used_once(k)
            ]
            if len(products) == 2:  # the later one: a sum of products would wait for it
                products.sort(key=forms.rank)
            if products:
                fused[products[-1]] = i
        return fused

    def _gathered(self, order: Sequence[int]) -> dict[tuple[object, ...], list[int]]:
        """The given functions to compute, with their derivatives, by their data and arguments."""
        places: dict[tuple[object, ...], list[int]] = {}
        for i in order:
            op, *args = self.graph.nodes[i]
            if isinstance(op, Given) and self.graph.depends[i] and i not in self.leaves:
                places.setdefault((op.data, *args), []).append(i)
        return places

    def _value(self) -> Value:
        self._number += 1
        return Value(self._number)

    def _define(self, i: int, operation: str, *operands: Operand) -> None:
        value = self._value()
        self.operands[i] = Operand(value)
        self.instructions.append(Compute(operation, value, operands))

    def _compute(self, i: int) -> None:
        g, operand = self.graph, self.operands
        op, *args = g.nodes[i]
        if op is Op.NEG:
            operand[i] = self._negative(args[0])
        elif op is Op.SIN or op is Op.COS:
            self._sine_cosine(args[0])
        elif isinstance(op, Given):
            if op.data.known:
                self._apply(op, args)
            else:
                self._call(i, op, args[0])
        elif (op is Op.ADD or op is Op.SUB) and i in (self._sum_of.get(args[0]), self._sum_of.get(args[1])):
            self._multiply_add(i, op, args[0], args[1])
        elif (half := g.half_integer(i)) is not None:
            self._define(i, HALF_POWER, operand[half[0]], Operand(float(half[1])))
        else:
            self._define(i, op, *(operand[k] for k in args))

    def _multiply_add(self, i: int, op: str, a: int, b: int) -> None:
        """Fuse a sum with a product that is used only there: a b + c, a b − c or c − a b."""
        second = self._sum_of.get(b) == i
        product, other = (b, a) if second else (a, b)
        operation = FMA if op is Op.ADD else FNMA if second else FMS
        x, y = self.graph.nodes[product][1:]
        self._multiply_adds[i] = len(self.instructions)
        self._define(i, operation, self.operands[x], self.operands[y], self.operands[other])

    def _negative(self, i: int) -> Operand:
        """Negated operand; a multiply-add that is used only there is negated itself.

        gcc does this as well, and clang does not.  If both terms are equal, a b − c and −(c − a b) are zeros of
        opposite sign.
        """
        at = self._multiply_adds.get(i)
        if at is None or not self._used_once(i):
            return self.operands[i].negated()
        made = self.instructions[at]
        assert isinstance(made, Compute)
        self.instructions[at] = Compute(_NEGATIVE[made.operation], made.target, made.operands)
        return self.operands[i]

    def _first_angles(self, order: Sequence[int]) -> None:
        """Write first the sines and cosines of angles that need no other sine or cosine, several in one call."""
        g, dependent = self.graph, set[int]()  # nodes that depend on a sine or cosine
        angles: dict[int, None] = {}
        for i in order:
            op, *args = g.nodes[i]
            if i in self.leaves or not g.depends[i]:
                continue
            if op is Op.SIN or op is Op.COS:
                dependent.add(i)
                if args[0] not in dependent:
                    angles[args[0]] = None
            elif any(k in dependent for k in g.operands(i)):
                dependent.add(i)
        if len(angles) < ENOUGH_ANGLES:
            return
        for i in g.below(list(angles), stop=self.leaves):
            self._visit(i)
        wanted, pairs = set(order), [self._pair(angle) for angle in angles]
        calls = {
            value: g.call(value.function, angle)
            for pair, angle in zip(pairs, angles, strict=True)
            for value in pair[:2]
        }
        read = tuple(value for value, node in calls.items() if node in wanted)
        for k in range(0, len(pairs), TOGETHER):
            self.instructions.append(SineCosines(tuple(pairs[k : k + TOGETHER]), read))

    def _sine_cosine(self, angle: int) -> None:
        """Write both sine and cosine at the first use; a compiler drops an unused one."""
        self.instructions.append(self._pair(angle))

    def _pair(self, angle: int) -> SineCosine:
        number = self._value().number
        sine, cosine = Value(number, Op.SIN), Value(number, Op.COS)
        for value in (sine, cosine):
            node = self.graph.call(value.function, angle)
            if node not in self.leaves:
                self.operands[node] = Operand(value)
        return SineCosine(sine, cosine, self.operands[angle])

    def _apply(self, function: Given, arguments: Sequence[int]) -> None:
        """Write all derivatives at the first use: the interval of the arguments is looked up once."""
        place = (function.data, *arguments)
        nodes = self._at_one_place[place]
        values = [self._value() for _ in nodes]
        self.operands.update((i, Operand(value)) for i, value in zip(nodes, values, strict=True))
        orders = tuple(self.graph.nodes[i][0].orders for i in nodes)
        at = tuple(self.operands[a] for a in arguments)
        self.instructions.append(Apply(function.data, orders, tuple(values), at))

    def _call(self, i: int, function: Given, argument: int) -> None:
        (order,) = function.orders
        if why := function.data.lacks(function.name, function.orders):
            raise ModelError(f"the equations of motion cannot be solved: {why}")
        value = self._value()
        self.operands[i] = Operand(value)
        where = self.leaves[address(self.graph, function.name, order)]
        self.instructions.append(Call(value, where, self.operands[argument]))
