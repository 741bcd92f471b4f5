# SPDX-License-Identifier: BSD-3-Clause
"""The expression graph: hash-consed scalars.

A :class:`Graph` holds scalar expressions as nodes of a directed acyclic graph.  A node is a small integer i, which
is the index of the tuple ``graph.nodes[i]``: an operation and its operands. All operands are older nodes, so the order
of the numbers is an order of evaluation.  Equal tuples are the same node, so no expression is computed twice. A graph
does by machine what Autolev does by Z variables (Kane & Levinson, *Dynamics: Theory and Applications*, 1985).

A new node is simplified by cheap and safe rules only: constants fold, 0·x = 0, 1·x = x, x + 0 = x, x − x = 0,
−(−x) = x.  Signs move outwards, where they cost nothing. Operands of + and × are sorted. Nothing is expanded or
factored.  Integers, rationals and π stay exact until C is written. If constants fold to a value that is not finite and
real, ArithmeticError or ValueError is raised, as by Python's own arithmetic.

Besides the named operations there are functions given to the model as data (:class:`Given`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from operator import or_
from typing import Any, NamedTuple, Protocol

from .operations import OPERATIONS, Op

__all__ = [
    "ACCELERATION",
    "COORDINATE",
    "INPUT",
    "PARAMETER",
    "SPEED",
    "STATE",
    "TIME",
    "Data",
    "Given",
    "Graph",
    "Number",
    "Op",
]

Number = int | Fraction | float


class Data(Protocol):
    """Data of a given function, such as `kanecore.Spline`; hashable by its numbers."""

    @property
    def n_arguments(self) -> int: ...
    @property
    def known(self) -> bool:
        """True if the values are known while a model is derived; False if they are parameters."""

    @property
    def extent(self) -> str:
        """Extent of the data, in words."""

    @property
    def digest(self) -> str:
        """A digest of the data: equal for equal data only."""

    def lacks(self, name: str, orders: tuple[int, ...]) -> str:
        """Reason why a derivative of the function cannot be computed; empty if it can be."""

    def vanishes(self, orders: tuple[int, ...]) -> bool:
        """Test whether the derivative of these orders is zero everywhere."""

    def value(self, orders: tuple[int, ...], arguments: Sequence[Any], real: Callable[[Any], Any]) -> Any:
        """A derivative at numbers of any type; ``real`` converts a double to this type."""


class Given(NamedTuple):
    """Operation: a derivative of a function given by data, of some order in each argument.

    Attributes
    ----------
    name : str
        Name of the function in the model.
    data : Data
    orders : tuple of int
        Number of differentiations by each argument.
    """

    name: str
    data: Data
    orders: tuple[int, ...]

    def __repr__(self) -> str:
        """Text that identifies the function in comparisons of descriptions; equal for equal data only."""
        return f"Given({self.name!r}, {self.data.digest}, {self.orders})"

    def slope(self, place: int) -> Given:
        """The derivative by the argument with the given index."""
        return self._replace(orders=tuple(k + (i == place) for i, k in enumerate(self.orders)))


# Bits of what a node depends on. The emitter computes the nodes of a level once for as long as its symbols do not
# change.
PARAMETER, TIME, COORDINATE, SPEED, INPUT, ACCELERATION, STATE = 1, 2, 4, 8, 16, 32, 64


def _exact(value: Number) -> Number:
    """The number in its simplest type, so that 1, 1.0 and Fraction(1) are the same node."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise OverflowError(f"{value} is not a finite number")
        if value.is_integer() and abs(value) < 2**53:
            return int(value)
    return value


class Graph:
    """Hash-consed scalar expressions.

    Attributes
    ----------
    nodes : list of tuple
        ``(op, operand, ...)``; ``(Op.CONST, value)``; ``(Op.SYM, key)`` with any hashable key.
    depends : list of int
        For each node the bits ``PARAMETER | TIME | COORDINATE | SPEED | INPUT | ACCELERATION | STATE`` of all symbols
        below.
    unit : list of tuple
        Tuples of symbols with the sum of squares 1, such as unit quaternions. Random states (:mod:`.random_samples`)
        satisfy it.
    """

    def __init__(self) -> None:
        self.nodes: list[tuple[Any, ...]] = []
        self.depends: list[int] = []
        self.unit: list[tuple[int, ...]] = []
        self._index: dict[tuple[Any, ...], int] = {}
        self.zero = self.constant(0)
        self.one = self.constant(1)
        self.pi = self._make((Op.PI,), 0)

    def clone(self) -> Graph:
        """An independent copy; every node keeps its number."""
        twin = Graph.__new__(Graph)
        twin.nodes, twin.depends, twin._index = self.nodes[:], self.depends[:], dict(self._index)
        twin.unit = self.unit[:]
        twin.zero, twin.one, twin.pi = self.zero, self.one, self.pi
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        """A deep copy is a clone, which shares the immutable nodes."""
        return memo.setdefault(id(self), self.clone())  # type: ignore[no-any-return]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore interned operations: they are compared by ``is``, and unpickled strings are other objects."""
        self.__dict__.update(state)
        self.nodes = [(sys.intern(op) if isinstance(op, str) else op, *operands) for op, *operands in self.nodes]

    # ------------------------------------------------------------------ leaves
    def _make(self, key: tuple[Any, ...], depends: int) -> int:
        i = self._index.get(key)
        if i is None:
            i = self._index[key] = len(self.nodes)
            self.nodes.append(key)
            self.depends.append(depends)
        return i

    def constant(self, value: Number) -> int:
        """The node of a finite number: an int, a Fraction, or a float; OverflowError for infinities and NaN."""
        return self._make((Op.CONST, _exact(value)), 0)

    def symbol(self, key: Any, depends: int) -> int:
        """The node of a symbol; ``depends``, one of the level bits, is fixed by the first call."""
        return self._make((Op.SYM, key), depends)

    def repeat(self, node: tuple[Any, ...], depends: int) -> int:
        """Copy a node of another graph onto operands of this graph, without folding."""
        return self._make(node, depends)

    def last_step(self) -> int:
        """The node of `kanecore.tolerances.LAST_STEP`, whose value depends on the real type of the program."""
        return self._make((Op.LAST_STEP,), 0)

    def value(self, i: int) -> Number | None:
        """The number that node ``i`` is, or None."""
        node = self.nodes[i]
        return node[1] if node[0] is Op.CONST else None

    # -------------------------------------------------------------- arithmetic
    def add(self, a: int, b: int) -> int:
        if a == 0:
            return b
        if b == 0:
            return a
        na, nb = self.nodes[a], self.nodes[b]
        if nb[0] is Op.NEG:
            return self.sub(a, nb[1])
        if na[0] is Op.NEG:
            return self.sub(b, na[1])
        if na[0] is Op.CONST and nb[0] is Op.CONST:
            return self.constant(na[1] + nb[1])
        return self._make((Op.ADD, a, b) if a < b else (Op.ADD, b, a), self.depends[a] | self.depends[b])

    def sub(self, a: int, b: int) -> int:
        if b == 0:
            return a
        if a == b:
            return 0
        if a == 0:
            return self.neg(b)
        na, nb = self.nodes[a], self.nodes[b]
        if nb[0] is Op.NEG:
            return self.add(a, nb[1])
        if na[0] is Op.NEG:
            return self.neg(self.add(na[1], b))
        if na[0] is Op.CONST and nb[0] is Op.CONST:
            return self.constant(na[1] - nb[1])
        reverse = self._index.get((Op.SUB, b, a))
        if reverse is not None:
            return self.neg(reverse)
        return self._make((Op.SUB, a, b), self.depends[a] | self.depends[b])

    def neg(self, a: int) -> int:
        if a == 0:
            return 0
        na = self.nodes[a]
        if na[0] is Op.NEG:
            return int(na[1])
        if na[0] is Op.CONST:
            return self.constant(-na[1])
        return self._make((Op.NEG, a), self.depends[a])

    def mul(self, a: int, b: int) -> int:
        if a == 0 or b == 0:
            return 0
        if a == 1:
            return b
        if b == 1:
            return a
        na, nb = self.nodes[a], self.nodes[b]
        if na[0] is Op.CONST:
            if nb[0] is Op.CONST:
                return self.constant(na[1] * nb[1])
            if na[1] < 0:
                return self.neg(self.mul(self.constant(-na[1]), b))
        elif nb[0] is Op.CONST and nb[1] < 0:
            return self.neg(self.mul(a, self.constant(-nb[1])))
        if na[0] is Op.NEG:
            if nb[0] is Op.NEG:
                return self.mul(na[1], nb[1])
            return self.neg(self.mul(na[1], b))
        if nb[0] is Op.NEG:
            return self.neg(self.mul(a, nb[1]))
        return self._make((Op.MUL, a, b) if a < b else (Op.MUL, b, a), self.depends[a] | self.depends[b])

    def div(self, a: int, b: int) -> int:
        if b == 0:
            raise ZeroDivisionError("division by an expression that is identically zero")
        if a == 0:
            return 0
        if a == b:
            return 1
        na, nb = self.nodes[a], self.nodes[b]
        if nb[0] is Op.CONST:
            inverse = 1.0 / nb[1] if isinstance(nb[1], float) else Fraction(1) / nb[1]
            return self.mul(a, self.constant(inverse))
        if na[0] is Op.NEG:
            return self.neg(self.div(na[1], b))
        if nb[0] is Op.NEG:
            return self.neg(self.div(a, nb[1]))
        return self._make((Op.DIV, a, b), self.depends[a] | self.depends[b])

    def sum(self, terms: Iterable[int]) -> int:
        total = 0
        for term in terms:
            total = self.add(total, term)
        return total

    def square(self, a: int) -> int:
        return self.mul(a, a)

    # --------------------------------------------------------------- functions
    def sqrt(self, a: int) -> int:
        node = self.nodes[a]
        if node[0] is Op.CONST and node[1] >= 0:
            value = node[1]
            if isinstance(value, float):
                return self.constant(math.sqrt(value))
            root = Fraction(math.isqrt(Fraction(value).numerator), math.isqrt(Fraction(value).denominator))
            if root * root == value:
                return self.constant(root)
        size = self._root_of_square(a) if self.depends[a] & ~PARAMETER else None
        return self._make((Op.SQRT, a), self.depends[a]) if size is None else size

    def _root_of_square(self, a: int) -> int | None:
        """The root of a square: |x| of x², |x| |y| of x² y², |x| / |y| of x² / y²; None for other nodes.

        The derivative of √(x²) itself would be 0/0 at x = 0.
        """
        op, *args = self.nodes[a]
        if op is not Op.MUL and op is not Op.DIV:
            return None
        if op is Op.MUL and args[0] == args[1]:
            return self.call(Op.ABS, args[0])
        x, y = map(self._root_of_square, args)
        if x is None or y is None:
            return None
        return self.mul(x, y) if op is Op.MUL else self.div(x, y)

    def power(self, base: int, exponent: Number) -> int:
        """``base**exponent``; integer exponents become products and quotients, ½ a square root.

        Powers x^(k + ½) stay powers until they are evaluated, since x √x has a derivative at 0 and √x has none.
        """
        if exponent * 2 == int(exponent * 2):
            exponent = Fraction(int(exponent * 2), 2)
        exponent = _exact(exponent)
        if isinstance(exponent, int):
            if exponent < 0:
                return self.div(self.one, self.power(base, -exponent))
            result, factor, n = self.one, base, exponent
            while n:
                if n & 1:
                    result = self.mul(result, factor)
                n >>= 1
                if n:
                    factor = self.square(factor)
            return result
        if isinstance(exponent, Fraction) and exponent.denominator == 2:
            if exponent < 0:
                return self.div(self.one, self.power(base, -exponent))
            root = self.sqrt(base)
            if exponent.numerator == 1 or self.nodes[root][0] is not Op.SQRT:
                return self.power(root, exponent.numerator)
        elif (size := self._root_of_square(base)) is not None:
            return self.power(size, exponent * 2)
        value = self.value(base)
        if value is not None and value > 0 and (isinstance(value, float) or isinstance(exponent, float)):
            return self.constant(float(value) ** float(exponent))
        return self._make((Op.POW, base, self.constant(exponent)), self.depends[base])

    def half_integer(self, i: int) -> tuple[int, int] | None:
        """(x, k) of a power x^(k + ½), which is evaluated as xᵏ √x; None for other nodes."""
        node = self.nodes[i]
        exponent = self.value(node[2]) if node[0] is Op.POW else None
        if not isinstance(exponent, Fraction) or exponent.denominator != 2:
            return None
        return node[1], exponent.numerator // 2

    def pow(self, base: int, exponent: int) -> int:
        """``base**exponent`` for an exponent that is a node."""
        value = self.value(exponent)
        if value is not None:
            return self.power(base, value)
        size = self._root_of_square(base)
        if size is not None:
            base, exponent = size, self.mul(self.constant(2), exponent)
        return self._make((Op.POW, base, exponent), self.depends[base] | self.depends[exponent])

    def call(self, op: str, a: int) -> int:
        """An elementary function of one argument, ``op`` one of ``Op.SIN`` ... ``Op.SIGN``."""
        if op is Op.SQRT:
            return self.sqrt(a)
        row, node = OPERATIONS[op], self.nodes[a]
        if node[0] is Op.NEG and row.parity:
            return self._with_sign(row.parity, self.call(op, node[1]))
        if node[0] is Op.CONST:
            value = node[1]
            if value == 0 and row.at_zero is not None:
                return self.constant(row.at_zero)
            if isinstance(value, float) or row.value is not None or row.whole:
                return self.constant((row.value or getattr(math, op))(value))
            if value < 0 and row.parity:
                return self._with_sign(row.parity, self.call(op, self.neg(a)))
        return self._make((op, a), self.depends[a])

    def _with_sign(self, parity: int, a: int) -> int:
        return self.neg(a) if parity < 0 else a

    def sin(self, a: int) -> int:
        return self.call(Op.SIN, a)

    def cos(self, a: int) -> int:
        return self.call(Op.COS, a)

    def binary(self, op: str, a: int, b: int) -> int:
        """``atan2``, ``min``, ``max``, or a comparison, which is 1 where it holds and 0 elsewhere."""
        va, vb, row = self.value(a), self.value(b), OPERATIONS[op]
        if va is not None and vb is not None:
            if op is Op.MIN or op is Op.MAX:
                return a if (va <= vb) == (op is Op.MIN) else b
            if row.whole and row.value is not None:
                return self.constant(int(row.value(va, vb)))
        if (op is Op.MIN or op is Op.MAX) and a == b:
            return a
        return self._make((op, a, b), self.depends[a] | self.depends[b])

    def given(self, function: Given, arguments: Sequence[int]) -> int:
        """A given function, or one of its derivatives."""
        if function.data.vanishes(function.orders):
            return 0
        depends = 0 if function.data.known else PARAMETER
        for a in arguments:
            depends |= self.depends[a]
        return self._make((function, *arguments), depends)

    def select(self, condition: int, a: int, b: int) -> int:
        """``a`` where ``condition`` is not zero, else ``b``."""
        if a == b:
            return a
        value = self.value(condition)
        if value is not None:
            return a if value else b
        return self._make((Op.SELECT, condition, a, b), self.depends[condition] | self.depends[a] | self.depends[b])

    # --------------------------------------------------------------- traversal
    def operands(self, i: int) -> tuple[int, ...]:
        node = self.nodes[i]
        return () if node[0] is Op.CONST or node[0] is Op.SYM else node[1:]

    def below(self, roots: Iterable[int], stop: Mapping[int, Any] | None = None) -> list[int]:
        """All nodes that ``roots`` need, with the roots, in order of evaluation; without nodes below ``stop``."""
        nodes = self.nodes
        seen: set[int] = set()
        stack = list(roots)
        while stack:
            i = stack.pop()
            if i in seen:
                continue
            seen.add(i)
            if stop is not None and i in stop:
                continue
            node = nodes[i]
            if node[0] is not Op.CONST and node[0] is not Op.SYM:
                stack.extend(node[1:])
        return sorted(seen)

    def reads(self, roots: Sequence[int], symbols: Sequence[int]) -> list[int]:
        """For each root the symbols that it depends on, as bits: bit k stands for ``symbols[k]``."""
        own = {node: 1 << k for k, node in enumerate(symbols)}
        read: dict[int, int] = {}
        for i in self.below(roots):
            read[i] = reduce(or_, (read[k] for k in self.operands(i)), own.get(i, 0))
        return [read[i] for i in roots]

    def above(self, i: int) -> set[int]:
        """All nodes with node ``i`` below them, and node ``i``."""
        holders = {i}
        for k in range(i + 1, len(self.nodes)):
            if not holders.isdisjoint(self.operands(k)):
                holders.add(k)
        return holders

    def symbols(self, roots: Iterable[int]) -> Iterator[Any]:
        """The keys of all symbols below ``roots``, in order of first appearance."""
        for i in self.below(roots):
            if self.nodes[i][0] is Op.SYM:
                yield self.nodes[i][1]

    def rebuild(self, node: tuple[Any, ...], args: Sequence[int]) -> int:
        """A node of the same operation with other operands, through the rules."""
        op = node[0]
        if op is Op.ADD:
            return self.add(args[0], args[1])
        if op is Op.SUB:
            return self.sub(args[0], args[1])
        if op is Op.MUL:
            return self.mul(args[0], args[1])
        if op is Op.DIV:
            return self.div(args[0], args[1])
        if op is Op.NEG:
            return self.neg(args[0])
        if op is Op.POW:
            return self.pow(args[0], args[1])
        if op is Op.SELECT:
            return self.select(args[0], args[1], args[2])
        if op is Op.PI:
            return self.pi
        if op is Op.LAST_STEP:
            return self.last_step()
        if isinstance(op, Given):
            return self.given(op, args)
        if len(args) == 2:
            return self.binary(op, args[0], args[1])
        return self.call(op, args[0])

    def copy(self, source: Graph, roots: Sequence[int], replace: Mapping[int, int]) -> list[int]:
        """Copy ``roots`` of ``source`` into this graph; ``replace`` gives nodes to use in place of some."""
        image = dict(replace)
        for i in source.below(roots, stop=image):
            if i in image:
                continue
            node = source.nodes[i]
            if node[0] is Op.CONST:
                image[i] = self.constant(node[1])
            elif node[0] is Op.SYM:
                image[i] = self.symbol(node[1], source.depends[i])
            else:
                image[i] = self.rebuild(node, [image[k] for k in node[1:]])
        return [image[i] for i in roots]

    def substitute(self, roots: Sequence[int], replace: Mapping[int, int]) -> list[int]:
        """``roots`` with some nodes replaced by others."""
        return self.copy(self, roots, replace)
