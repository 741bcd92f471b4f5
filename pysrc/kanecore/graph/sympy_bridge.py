# SPDX-License-Identifier: BSD-3-Clause
"""Conversion between SymPy expressions and the graph, both ways.

`FromSympy` reads a user's expressions into a graph; `to_sympy` writes the expressions of `kanecore.Model.symbolic`.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import partial, reduce
from itertools import count
from types import MappingProxyType
from typing import Any

import sympy as sm
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import BooleanAtom, BooleanFunction

from kanecore.errors import ModelError
from kanecore.tolerances import LAST_STEP

from .evaluation import evaluate
from .expression_graph import Data, Given, Graph, Op
from .operations import OPERATIONS

__all__ = ["FromSympy", "as_printed", "new_symbols", "sympy_value", "to_sympy"]

_UNARY: dict[Any, str] = {
    getattr(sm, row.sympy): op for op, row in OPERATIONS.items() if row.n_operands == 1 and row.sympy
}
# These functions are written exactly by other functions.
_REWRITTEN: dict[Any, Callable[..., Any]] = {
    sm.sec: lambda x: 1 / sm.cos(x),
    sm.csc: lambda x: 1 / sm.sin(x),
    sm.cot: lambda x: sm.cos(x) / sm.sin(x),
    sm.asec: lambda x: sm.acos(1 / x),
    sm.acsc: lambda x: sm.asin(1 / x),
    sm.acot: lambda x: sm.atan(1 / x),
    sm.sech: lambda x: 1 / sm.cosh(x),
    sm.csch: lambda x: 1 / sm.sinh(x),
    sm.coth: lambda x: 1 / sm.tanh(x),
    sm.asech: lambda x: sm.acosh(1 / x),
    sm.acsch: lambda x: sm.asinh(1 / x),
    sm.acoth: lambda x: sm.atanh(1 / x),
    sm.erfc: lambda x: 1 - sm.erf(x),
    sm.sinc: lambda x: sm.Piecewise((sm.sin(x) / x, sm.Ne(x, 0)), (1, True)),
    sm.Heaviside: lambda x, at_zero=sm.S.Half: sm.Piecewise((0, x < 0), (at_zero, sm.Eq(x, 0)), (1, True)),
    sm.ceiling: lambda x: -sm.floor(-x),
    sm.frac: lambda x: x - sm.floor(x),
    sm.Mod: lambda x, y: x - y * sm.floor(x / y),
}
_COMPARE: dict[Any, tuple[str, bool]] = {
    sm.StrictLessThan: (Op.LT, False),
    sm.LessThan: (Op.LE, False),
    sm.StrictGreaterThan: (Op.LT, True),
    sm.GreaterThan: (Op.LE, True),
    sm.Equality: (Op.EQ, False),
}


class FromSympy:
    """Reader of SymPy expressions into a graph; each subexpression is read once.

    Parameters
    ----------
    graph : Graph
    leaf : callable
        ``leaf(expr) -> node`` for symbols, functions of time and their derivatives; raises ModelError for unknown ones.
    functions : mapping of SymPy function to Data, optional
        Undefined functions that are given by data.
    where : str
        Place of the expressions, for messages; `at` changes it.

    Attributes
    ----------
    where : str
        Place of the expression that is being read.
    """

    def __init__(
        self,
        graph: Graph,
        leaf: Callable[[Any], int],
        functions: Mapping[Any, Data] = MappingProxyType({}),
        where: str = "the expression",
    ) -> None:
        self.graph, self.where = graph, where
        self._leaf, self._functions = leaf, functions
        self._known: dict[Any, int] = {}

    @contextmanager
    def at(self, where: str) -> Iterator[None]:
        """Set the place of the expressions for messages, within a ``with`` block."""
        before, self.where = self.where, where
        try:
            yield
        finally:
            self.where = before

    def __contains__(self, expr: Any) -> bool:
        return expr in self._known

    def __call__(self, expr: Any) -> int:
        if isinstance(expr, numbers.Real):
            expr = sm.sympify(expr)
        if not isinstance(expr, sm.Basic):
            raise ModelError(f"{self.where} has {_short(expr)}, which is no SymPy expression of a scalar")
        node = self._known.get(expr)
        if node is not None:
            return node
        try:
            node = self._known[expr] = self._read(expr)
            if not self.graph.depends[node] and not math.isfinite(evaluate(self.graph, [node], {})[0]):
                raise OverflowError("too large")
        except (ArithmeticError, ValueError) as error:
            raise ModelError(f"{_short(expr)} in {self.where} is not a finite real number ({error})") from None
        return node

    def _read(self, e: Any) -> int:
        g = self.graph
        if isinstance(e, sm.Subs) or self._is_given(e) or (isinstance(e, sm.Derivative) and self._is_given(e.expr)):
            return self._given(e)
        if e.is_Symbol or isinstance(e, (AppliedUndef, sm.Derivative)):
            return self._leaf(e)
        if e.is_Atom and e.is_number:
            return self._number(e)
        if e.is_Add:
            return g.sum(map(self, e.args))  # SymPy's order of arguments is the same in every process
        if e.is_Mul:
            return self._product(e)
        if e.is_Pow:
            base, exponent = e.as_base_exp()
            if exponent.is_negative and exponent.is_Number:
                return g.div(g.one, self._power(base, -exponent))
            return self._power(base, exponent)
        return self._function(e)

    def _function(self, e: Any) -> int:
        g = self.graph
        if e.func in _UNARY:
            return g.call(_UNARY[e.func], self(e.args[0]))
        if e.func is sm.atan2:
            return g.binary(Op.ATAN2, self(e.args[0]), self(e.args[1]))
        if e.func in (sm.Min, sm.Max):
            op = Op.MIN if e.func is sm.Min else Op.MAX
            return reduce(partial(g.binary, op), [self(x) for x in sorted(e.args, key=sm.default_sort_key)])
        if e.func is sm.Piecewise:
            return self._piecewise(e)
        if e.func in _REWRITTEN:
            return self(_REWRITTEN[e.func](*e.args))
        if e.func is sm.UnevaluatedExpr:  # for the inverse curves of SymPy's muscles
            return self(e.args[0])
        if isinstance(e, sm.Function):  # a function that evaluates itself, such as the curves of SymPy's muscles
            written = e.doit(deep=False)
            if written.func is not e.func:
                return self(written)
        raise ModelError(
            f"the function {e.func.__name__} of {_short(e)} in {self.where} is not known: use powers, exp, log, "
            "trigonometric and hyperbolic functions and their inverses, atan2, erf, Abs, sign, floor, Mod, Min, Max, "
            "Heaviside or Piecewise, or make it an input"
        )

    def _is_given(self, e: Any) -> bool:
        return isinstance(e, AppliedUndef) and e.func in self._functions

    def _given(self, e: Any) -> int:
        """A given function, or one of its derivatives; SymPy writes ``Subs`` if an argument is no symbol."""
        call, place = (e.expr, dict(zip(e.variables, e.point, strict=True))) if isinstance(e, sm.Subs) else (e, {})
        call, variables = (call.expr, call.variable_count) if isinstance(call, sm.Derivative) else (call, ())
        if isinstance(call, AppliedUndef) and not self._is_given(call):
            return self._leaf(call.xreplace(place))
        if not self._is_given(call) or not all(self._is_partial(e, call, v) for v, _ in variables):
            written = e.doit()
            if written == e:
                raise ModelError(f"{_short(e)} in {self.where} is no derivative of a given function by its arguments")
            return self(written)
        data, name = self._functions[call.func], call.func.__name__
        if len(call.args) != data.n_arguments:
            raise ModelError(
                f"{_short(call)} in {self.where} has {len(call.args)} arguments, and what functions gives for {name} "
                f"has {data.n_arguments}: {data.extent}"
            )
        orders = tuple(sum(int(n) for v, n in variables if v == argument) for argument in call.args)
        return self.graph.given(Given(name, data, orders), [self(argument.xreplace(place)) for argument in call.args])

    def _is_partial(self, e: Any, call: Any, variable: Any) -> bool:
        """Test whether a derivative is by one argument, and not by a variable that several arguments contain.

        SymPy writes both alike if several arguments contain the same function of time: its chain rule doubles the
        derivative of f(x(t), x(t)). SymPy's second derivatives may have dummy symbols in place of arguments.
        """
        if variable not in call.args:
            return False
        several = _holding(call.args, variable) > 1
        name = str(variable) if variable.is_Symbol else ""
        if (several and not variable.is_Symbol) or (name.startswith("_") and name.endswith(")")):
            raise ModelError(
                f"{_short(e)} in {self.where}: SymPy loses by which argument of {call.func} this is a derivative; "
                f"differentiate {call.func}(X, Y) by symbols, and put the arguments in with Subs"
            )
        return not several

    def _number(self, e: Any) -> int:
        g = self.graph
        if e is sm.pi:
            return g.pi
        if e is sm.E:
            return g.call(Op.EXP, g.one)
        if e.is_Rational and e.is_finite:
            return g.constant(Fraction(int(e.p), int(e.q)))
        if e.is_Float and e.is_finite:
            return g.constant(float(e))
        if isinstance(e, sm.NumberSymbol):
            return g.constant(float(e))
        raise ValueError("a model holds finite real numbers only")

    def _power(self, base: Any, exponent: Any) -> int:
        g = self.graph
        if base is sm.E:
            return g.call(Op.EXP, self(exponent))
        return g.pow(self(base), self(exponent))

    def _product(self, e: Any) -> int:
        g = self.graph
        above, below = g.one, g.one
        for group in _gathered(e.args):
            part = g.one
            for factor in group:
                if factor.is_Pow and factor.exp.is_Number and factor.exp.is_negative:
                    below = g.mul(below, self._power(factor.base, -factor.exp))
                elif factor.is_Rational and factor.q != 1 and not factor.is_Float:
                    part = g.mul(part, g.constant(Fraction(int(factor.p), int(factor.q))))
                else:
                    part = g.mul(part, self(factor))
            above = g.mul(above, part)
        return g.div(above, below)

    def _piecewise(self, e: Any) -> int:
        g = self.graph
        *cases, (last, condition) = e.args
        if condition is not sm.true:
            raise ModelError(
                f"{_short(e)} in {self.where} has no value if all conditions are false: end it with (value, True)"
            )
        result = self(last)
        for value, condition in reversed(cases):
            result = g.select(self._condition(condition), self(value), result)
        return result

    def _condition(self, e: Any) -> int:
        g = self.graph
        if e is sm.true or e is sm.false:
            return g.one if e is sm.true else g.zero
        if isinstance(e, Relational) and e.func in _COMPARE:
            op, swapped = _COMPARE[e.func]
            a, b = self(e.lhs), self(e.rhs)
            return g.binary(op, b, a) if swapped else g.binary(op, a, b)
        if isinstance(e, sm.Unequality):
            return g.select(g.binary(Op.EQ, self(e.lhs), self(e.rhs)), g.zero, g.one)
        if isinstance(e, sm.And):
            return reduce(lambda a, b: g.select(a, b, g.zero), self._conditions(e))
        if isinstance(e, sm.Or):
            return reduce(lambda a, b: g.select(a, g.one, b), self._conditions(e))
        if isinstance(e, sm.Not):
            return g.select(self._condition(e.args[0]), g.zero, g.one)
        if isinstance(e, sm.ITE):
            return g.select(*map(self._condition, e.args))
        raise ModelError(
            f"the condition {_short(e)} in {self.where} is not known: use <, <=, >, >=, Eq, Ne, And, Or, Not"
        )

    def _conditions(self, e: Any) -> Iterator[int]:
        return map(self._condition, sorted(e.args, key=sm.default_sort_key))


def _gathered(factors: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Factors with powers of x and |x| gathered: xⁿ |x|ᵉ as |x|ⁿ⁺ᵉ or, for odd n, as x and |x|ⁿ⁺ᵉ⁻¹.

    |x| may be written as a power of x². SymPy gathers powers of x, and powers of |x|, but not x with |x|. Factor by
    factor, xⁿ |x|ᵉ has no derivative at x = 0 if e is no integer (see :func:`.calculus.partials`).
    """
    single = list(factors)
    groups: list[tuple[Any, ...]] = []
    for factor in factors:
        base, exponent = factor.as_base_exp()
        if base.is_Pow and base.exp.is_Integer and base.exp.is_even:
            x, exponent = base.base, base.exp * exponent
        elif isinstance(base, sm.Abs):
            x = base.args[0]
        else:
            continue
        if exponent.is_Integer:
            continue
        for partner in single:
            y, n = partner.as_base_exp()
            if partner is not factor and n.is_Integer and n > 0 and (ratio := _ratio(y, x)) is not None:
                odd = int(n) % 2
                size = sm.Abs(x) ** (exponent + n - odd)
                single = [f for f in single if f is not factor and f is not partner]
                groups += [(ratio**n,), (x, size) if odd else (size,)]
                break
    return [(f,) for f in single] + groups


def _ratio(y: Any, x: Any) -> Any:
    """The ratio y / x if it is a number; None if no rule shows that."""
    a, b = y.as_coefficients_dict(), x.as_coefficients_dict()
    if set(a) != set(b):
        return None
    ratios = {a[term] / b[term] for term in b}
    return ratios.pop() if len(ratios) == 1 else None


def _holding(arguments: Sequence[Any], variable: Any) -> int:
    """Number of arguments that contain a variable."""
    return sum(argument.has(variable) for argument in arguments)


def _short(e: Any) -> str:
    text = str(e)
    return text if len(text) <= 80 else text[:77] + "..."


def as_printed(symbol: Any) -> str:
    """LaTeX of a symbol, a function of time, its derivative, or a function; different names may print alike."""
    from sympy.physics.vector import vlatex

    return str(vlatex(sm.Symbol(symbol.__name__) if isinstance(symbol, type) else symbol))


def new_symbols(name: str, symbols: Iterable[Any]) -> Iterator[Any]:
    """Symbols name1, name2, ...; none prints like one of the given symbols."""
    taken = set(map(as_printed, symbols))
    return (z for z in map(sm.Symbol, map(f"{name}{{}}".format, count(1))) if as_printed(z) not in taken)


def to_sympy(
    g: Graph, roots: Sequence[int], symbols: Mapping[Any, Any], nested: bool = False, name: str = "z"
) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """SymPy expressions of ``roots``.

    Parameters
    ----------
    symbols : mapping
        Symbol key to SymPy symbol; ``("f", name)`` of a given function to SymPy's function.
    nested : bool
        Write all expressions out. Otherwise an operation that is used more than once becomes an intermediate variable
        z1, z2, ..., unless it is a symbol or number with a sign.

    Returns
    -------
    intermediates : list of (symbol, expression)
        In order of evaluation, like Autolev's Z list; empty if ``nested``.
    expressions : list
        The expression of each root.
    """
    order = g.below(roots)
    uses: dict[int, int] = {}
    for i in order:
        for k in g.operands(i):
            uses[k] = uses.get(k, 0) + 1
    names = new_symbols(name, symbols.values())
    value: dict[int, Any] = {}
    intermediates: list[tuple[Any, Any]] = []
    for i in order:
        node = g.nodes[i]
        value[i] = sympy_value(node, value, symbols)
        if nested or uses.get(i, 0) < 2 or node[0] in (Op.CONST, Op.SYM, Op.PI, Op.NEG) or isinstance(value[i], _TRUTH):
            continue
        z = next(names)
        intermediates.append((z, value[i]))
        value[i] = z
    return intermediates, [value[i] for i in roots]


def sympy_value(node: tuple[Any, ...], value: Mapping[int, Any], symbols: Mapping[Any, Any]) -> Any:
    op = node[0]
    if op is Op.CONST:
        number = node[1]
        if isinstance(number, (int, Fraction)):
            return sm.Rational(number.numerator, number.denominator)
        return sm.Float(number)
    if op is Op.SYM:
        return symbols[node[1]]
    if isinstance(op, Given):
        return _applied(symbols["f", op.name], op.orders, [value[k] for k in node[1:]])
    return _SYMPY_OF[op](*(value[k] for k in node[1:]))


def _applied(function: Any, orders: Sequence[int], arguments: Sequence[Any]) -> Any:
    """SymPy's f, or a derivative; by the argument itself if no other argument equals it."""
    places, point = list(arguments), {}
    for i, argument in enumerate(arguments):
        plain = argument.is_Symbol or isinstance(argument, AppliedUndef)
        if orders[i] and not (plain and _holding(arguments, argument) == 1):
            places[i] = sm.Dummy(f"xi_{i + 1}", dummy_index=i)
            point[places[i]] = argument
    by = [(place, n) for place, n in zip(places, orders, strict=True) if n]
    derivative = sm.Derivative(function(*places), *by) if by else function(*places)
    return sm.Subs(derivative, tuple(point), tuple(point.values())) if point else derivative


_TRUTH = (Relational, BooleanFunction, BooleanAtom)


def _truth(value: Any) -> Any:
    """A number as a condition: true if it is not zero."""
    return value if isinstance(value, _TRUTH) else sm.Ne(value, 0)


def _select(condition: Any, a: Any, b: Any) -> Any:
    """SymPy's Piecewise, or a combination of conditions."""
    condition = _truth(condition)
    if not (isinstance(a, _TRUTH) or isinstance(b, _TRUTH)):
        return sm.Piecewise((a, condition), (b, True))
    a, b = _truth(a), _truth(b)
    if b is sm.false:
        return sm.And(condition, a)
    return sm.Or(condition, b) if a is sm.true else sm.ITE(condition, a, b)


_SYMPY_OF: dict[str, Callable[..., Any]] = {
    **{op: getattr(sm, row.sympy) if row.sympy else row.value for op, row in OPERATIONS.items()},
    Op.PI: lambda: sm.pi,
    Op.LAST_STEP: lambda: sm.Float(LAST_STEP),
    Op.SELECT: _select,
}
