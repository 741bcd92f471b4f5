# SPDX-License-Identifier: BSD-3-Clause
"""Written forms of expressions, and the number of operations that a reader counts in each.

A :class:`Form` is a tree of sums, products, powers, functions and symbols.  Operations are counted as
`sympy.count_ops` does: a − b is one operation, and so are a / b and a leading minus sign.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

import sympy as sm

from .evaluation import node_value, real
from .expression_graph import PARAMETER, Given, Graph, Op
from .random_samples import PRECISE, Sample
from .sympy_bridge import sympy_value
from .trigonometric_sums import Atom, Atoms

__all__ = ["PARENTHESIS", "Form", "Meaning", "cost_of", "number", "power", "summed", "times"]

PARENTHESIS, TERM = 1 / 256, 1.5 / 256  # costs that decide between equal numbers of operations


class Form:
    """A written form of an expression.

    Attributes
    ----------
    kind : {"number", "atom", "power", "product", "sum"}
    factor : Fraction or int
        The value of a number, the numerical factor of a product, or the exponent of a power.
    atom : int
        Number of the symbol, function or sum in :class:`~.trigonometric_sums.Sums`.
    parts : tuple of Form
        Base, factors, terms or arguments.
    cost : float
        Number of operations, plus a little for each parenthesis.
    """

    __slots__ = ("atom", "cost", "factor", "kind", "parts")

    def __init__(self, kind: str, cost: float, factor: Any = 1, atom: int = -1, parts: tuple[Form, ...] = ()) -> None:
        self.kind, self.cost, self.factor, self.atom, self.parts = kind, cost, factor, atom, parts

    @property
    def negative(self) -> bool:
        return self.kind in ("number", "product") and self.factor < 0


def number(x: Any) -> Form:
    return Form("number", (x < 0) + (x.denominator != 1), x)


def power(base: Form, n: int) -> Form:
    if n == 1:
        return base
    return Form("power", base.cost + (abs(n) != 1) + (n < 0) + _enclosed(base), n, parts=(base,))


def times(x: Any, factors: tuple[Form, ...]) -> Form:
    """The product of a number and of factors, none of them a product."""
    if not factors:
        return number(x)
    if x < 0:  # −(a − b) is b − a, without a sign
        k = next((k for k, f in enumerate(factors) if f.kind == "sum" and _negatives(f.parts)), None)
        if k is not None:
            x, factors = -x, (*factors[:k], summed(map(_opposite, factors[k].parts)), *factors[k + 1 :])
    if len(factors) == 1 and x == 1:
        return factors[0]
    if len(factors) == 1 and x == -1 and factors[0].kind == "sum":
        return summed(map(_opposite, factors[0].parts))
    cost, above, below = 0.0, abs(x.numerator) != 1, x.denominator != 1
    for f in factors:
        cost += f.cost + _enclosed(f)
        if f.kind == "power" and f.factor < 0:
            cost -= 1
            below += 1
        else:
            above += 1
    cost += max(above - 1, 0) + max(below - 1, 0) + (below > 0) + (x < 0)
    return Form("product", cost, x, parts=factors)


def summed(terms: Iterable[Form]) -> Form:
    flat: list[Form] = []
    for term in terms:
        if term.kind == "sum":
            flat += term.parts
        elif not (term.kind == "number" and not term.factor):
            flat.append(term)
    if not flat:
        return number(0)
    if len(flat) == 1:
        return flat[0]
    negative = _negatives(flat)  # a − b is one operation
    cost = sum(term.cost for term in flat) + len(flat) - 1 - negative + (negative == len(flat))
    cost += TERM * (len(flat) - 2)
    return Form("sum", cost, parts=tuple(flat))


def _negatives(terms: Iterable[Form]) -> int:
    return sum(term.negative for term in terms)


def _opposite(form: Form) -> Form:
    if form.kind == "number":
        return number(-form.factor)
    return times(-form.factor, form.parts) if form.kind == "product" else times(-1, (form,))


def _enclosed(form: Form) -> float:
    return PARENTHESIS if form.kind == "sum" else 0.0


def cost_of(form: Form) -> float:
    return form.cost


class Meaning:
    """The meaning of forms: their SymPy expressions, and their numbers."""

    def __init__(self, graph: Graph, atoms: Atoms) -> None:
        self._graph, self._atoms = graph, atoms

    def sympy(self, form: Form, symbols: Mapping[Any, Any], named: Mapping[int, Any]) -> Any:
        """SymPy's expression; a number times a sum is not multiplied out, as SymPy would do.

        ``symbols`` are the user's symbols by the keys of the graph; ``named`` are symbols of some atoms.
        """
        if form.kind == "number":
            return sm.Rational(form.factor)
        if form.atom in named:
            return named[form.atom]
        parts = [self.sympy(part, symbols, named) for part in form.parts]
        if form.kind == "atom":
            return self._sympy_of_atom(self._atoms[form.atom], parts, symbols)
        if form.kind == "power":
            return parts[0] ** form.factor
        if form.kind == "sum":
            return sm.Add(*parts)
        factor = sm.Rational(form.factor)
        return sm.Mul(factor, *parts, evaluate=not (len(parts) == 1 and parts[0].is_Add))

    def _sympy_of_atom(self, atom: Atom, parts: Sequence[Any], symbols: Mapping[Any, Any]) -> Any:
        kind, of, _ = atom
        if kind == "symbol":
            return symbols[self._graph.nodes[of][1]]
        if kind == "number":
            return sm.Float(of)
        if kind == "pi":
            return sm.pi
        if kind == "sum":
            return parts[0]
        if kind == "call":
            return sympy_value((of[0], *range(len(parts))), dict(enumerate(parts)), symbols)
        return getattr(sm, kind)(*parts)

    def node(self, form: Form) -> int:
        """The node of the graph; factors of parameters alone come first, computed once."""
        g = self._graph
        if form.kind == "number":
            return g.constant(form.factor)
        if form.kind == "product":
            return self._node_of_product(form)
        parts = [self.node(part) for part in form.parts]
        if form.kind == "atom":
            return self._node_of_atom(self._atoms[form.atom], parts)
        return g.power(parts[0], form.factor) if form.kind == "power" else g.sum(sorted(parts, key=self._varies))

    def _node_of_product(self, form: Form) -> int:
        g, above, below = self._graph, list[int](), list[int]()
        for part in form.parts:
            if part.kind == "power" and part.factor < 0:
                below.append(self.node(power(part.parts[0], -part.factor)))
            else:
                above.append(self.node(part))
        number = g.constant(form.factor)
        numerator = reduce(g.mul, sorted(above, key=self._varies), number)
        return g.div(numerator, reduce(g.mul, sorted(below, key=self._varies))) if below else numerator

    def _varies(self, i: int) -> int:
        """The key that sorts parameters before coordinates, coordinates before speeds."""
        return self._graph.depends[i] & ~PARAMETER

    def _node_of_atom(self, atom: Atom, parts: Sequence[int]) -> int:
        g, (kind, of, _) = self._graph, atom
        if kind == "symbol":
            return int(of)
        if kind == "number":
            return g.constant(of)
        if kind == "pi":
            return g.pi
        if kind == "sum":
            return parts[0]
        return g.rebuild((of[0],), parts) if kind == "call" else g.call(getattr(Op, kind.upper()), parts[0])

    def value(self, form: Form, at: Sample, named: Mapping[int, Any]) -> Any:
        """The value at a state; ``named`` are the values of some atoms."""
        if form.kind == "number":
            return real(PRECISE, form.factor)
        if form.atom in named:
            return named[form.atom]
        values = [self.value(part, at, named) for part in form.parts]
        if form.kind == "atom":
            return self._value_of_atom(self._atoms[form.atom], values, at)
        if form.kind == "power":
            return values[0] ** form.factor
        if form.kind == "sum":
            return sum(values)
        return reduce(operator.mul, values, real(PRECISE, form.factor))

    @staticmethod
    def _value_of_atom(atom: Atom, values: Sequence[Any], at: Sample) -> Any:
        kind, of, _ = atom
        if kind == "symbol":
            return at(of)
        if kind == "number":
            return real(PRECISE, of)
        if kind == "pi":
            return +PRECISE.pi
        if kind == "sum":
            return values[0]
        if kind != "call":
            return getattr(PRECISE, kind)(*values)
        op = of[0]
        if isinstance(op, Given):
            return at.stand_in(op, values)
        return node_value((op, *range(len(values))), dict(enumerate(values)), PRECISE)
