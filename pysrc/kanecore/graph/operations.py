# SPDX-License-Identifier: BSD-3-Clause
"""The operations of the graph, a row each: value, derivative, bounds, and names in SymPy, C and CasADi.

A new operation is a row of `Op`. `kanecore.build.generated_sources` writes it for the interpreter. A function that the
C library lacks is written in ``emit/runtime/`` for emitted C, and in ``lane_numbers.h`` there for SIMD lanes.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from kanecore.tolerances import LAST_STEP

from .intervals import Interval, anything, power, product, quotient, within

__all__ = ["OPERATIONS", "Op", "Operation", "log_of_size"]

Graph: TypeAlias = Any  # `expression_graph.Graph`, which is made of these operations
Partials: TypeAlias = list[tuple[int, int]]


def _no_partials(g: Graph, i: int, *operands: int) -> Partials:
    return []


@dataclass(frozen=True)
class Operation:
    """An operation: its value, bounds, derivatives, and its names in other languages.

    Attributes
    ----------
    name : str
    n_operands : int
    value : callable, optional
        The value, from the values of the operands. Default: the function of this name in ``math``, or in another
        context.
    whole : bool
        The value is a whole number, perhaps of another type than the operands.
    at_zero : int, optional
        f(0), where it is an exact number.
    parity : int
        −1 for f(−a) = −f(a), 1 for f(−a) = f(a).
    bounds : callable
        The interval of the value, from the intervals of the operands.
    partials : callable
        ``partials(g, i, *operands)`` gives (operand, node of ∂(node i)/∂operand) of all operands with a derivative.
    branches : callable, optional
        ``branches(g, *operands)`` gives the nodes (condition, value if it is true, value otherwise) of a choice.
    branching : bool
        The value jumps or has a kink somewhere, which random states may miss.
    antiderivative : callable, optional
        ``antiderivative(g, a)`` gives the node of ∫ f(a) da.
    steepness : callable, optional
        ``steepness(ctx, a, v)`` gives |f'(a)|, or −|f'(a)|, from the argument a and the value v.
    hides : bool
        The value may be so small, or so near a limit, that doubles at random states cannot decide: 1 − tanh 60.
    counted : str
        The name under which `kanecore.graph.evaluation.count` counts it.
    sympy, casadi : str
        The function of SymPy and of CasADi; empty if ``value`` accepts their objects, as Python's operators do.
    c : str
        The operator or the function of C; empty if the operation is not an expression of C.
    coded : bool
        The interpreter has this operation; its operations are in the order of the rows.
    """

    name: str
    n_operands: int
    value: Any = None
    whole: bool = False
    at_zero: int | None = None
    parity: int = 0
    bounds: Callable[..., Interval] = anything
    partials: Callable[..., Partials] = _no_partials
    branches: Callable[..., tuple[int, int, int]] | None = None
    branching: bool = False
    antiderivative: Callable[[Graph, int], int] | None = None
    steepness: Callable[[Any, Any, Any], Any] | None = None
    hides: bool = False
    counted: str = "functions"
    sympy: str = ""
    casadi: str = ""
    c: str = ""
    coded: bool = False


OPERATIONS: dict[Any, Operation] = {}
"""The row of each operation, by its name; functions that are given by data have none."""


def _row(name: str, n_operands: int, **meaning: Any) -> str:
    """Add a row; return its interned name, since operations are compared by ``is``."""
    name = sys.intern(name)
    OPERATIONS[name] = Operation(name, n_operands, **meaning)
    return name


def _function(name: str, slope: Callable[[Graph, int, int], int] | None = None, **meaning: Any) -> str:
    """Add a function of one argument; ``slope(g, a, i)`` is the node of f'(a), i that of f(a)."""
    if slope is not None:
        meaning["partials"] = lambda g, i, a: [(a, slope(g, a, i))]
    return _row(name, 1, **{"sympy": name, "casadi": name, "c": name, "coded": True} | meaning)


def _comparison(name: str, value: Callable[..., Any], sympy: str, c: str) -> str:
    """Add a comparison: 1 where it holds, 0 elsewhere."""
    bounds = within(0.0, 1.0)
    return _row(name, 2, value=value, whole=True, bounds=bounds, branching=True, sympy=sympy, c=c, coded=True)


def _power(base: Any, exponent: Any) -> Any:
    """A power of real numbers; Python's own ** of floats may give a complex number."""
    return math.pow(base, exponent) if type(base) is type(exponent) is float else base**exponent


def _partials_of_product(g: Graph, i: int, a: int, b: int) -> Partials:
    return _odd_power(g, a, b) or _odd_power(g, b, a) or [(a, b), (b, a)]


def _odd_power(g: Graph, x: int, y: int) -> Partials:
    """The partial (e + 1) |x|ᵉ of x |x|ᵉ, by factors 0·∞ at x = 0 for e < 1; [] of other products."""
    op, *args = g.nodes[y]
    if (op is not Op.SQRT and op is not Op.POW) or g.nodes[args[0]] != (Op.ABS, x):
        return []
    exponent = g.constant(Fraction(1, 2)) if op is Op.SQRT else args[1]
    result = [(x, g.mul(g.add(exponent, g.one), y))]
    if g.value(exponent) is None:
        result.append((exponent, _by_exponent(g, g.mul(x, y), args[0])))
    return result


def _partials_of_quotient(g: Graph, i: int, a: int, b: int) -> Partials:
    inverse = g.div(g.one, b)
    return [(a, inverse), (b, g.neg(g.mul(i, inverse)))]


def _partials_of_power(g: Graph, i: int, a: int, b: int) -> Partials:
    result = [(a, g.mul(b, g.pow(a, g.sub(b, g.one))))]
    if g.value(b) is None:
        result.append((b, _by_exponent(g, i, a)))
    return result


def _by_exponent(g: Graph, whole: int, base: int) -> int:
    """The partial ∂(aᵇ)/∂b = aᵇ log a, and its limit 0 at a = 0."""
    return int(g.select(g.binary(Op.EQ, base, g.zero), g.zero, g.mul(whole, g.call(Op.LOG, base))))


def _partials_of_angle(g: Graph, i: int, a: int, b: int) -> Partials:
    size = g.add(g.square(a), g.square(b))
    return [(a, g.div(b, size)), (b, g.neg(g.div(a, size)))]


def log_of_size(g: Graph, y: int) -> int:
    """The logarithm of |y| without a branch."""
    return int(g.mul(g.constant(Fraction(1, 2)), g.call(Op.LOG, g.square(y))))


class Op:
    """Names of the operations, the first entries of nodes' tuples."""

    CONST, SYM = "const", "sym"
    PI = _row("pi", 0, bounds=within(math.pi, math.pi))
    # the tolerance `LAST_STEP`, which depends on the real type
    LAST_STEP = _row("last_step", 0, bounds=within(LAST_STEP, LAST_STEP))

    ADD = _row(
        *("add", 2),
        value=operator.add,
        bounds=lambda a, b: (a[0] + b[0], a[1] + b[1]),
        partials=lambda g, i, a, b: [(a, g.one), (b, g.one)],
        counted="add",
        c="+",
    )
    SUB = _row(
        *("sub", 2),
        value=operator.sub,
        bounds=lambda a, b: (a[0] - b[1], a[1] - b[0]),
        partials=lambda g, i, a, b: [(a, g.one), (b, g.neg(g.one))],
        counted="add",
        c="-",
    )
    MUL = _row(
        *("mul", 2),
        value=operator.mul,
        bounds=product,
        partials=_partials_of_product,
        counted="mul",
        c="*",
    )
    NEG = _row(
        *("neg", 1),
        value=operator.neg,
        bounds=lambda a: (-a[1], -a[0]),
        partials=lambda g, i, a: [(a, g.neg(g.one))],
        counted="neg",
    )
    DIV = _row(
        *("div", 2),
        value=operator.truediv,
        bounds=quotient,
        partials=_partials_of_quotient,
        counted="div",
        c="/",
        coded=True,
    )
    SQRT: str = _function(
        "sqrt",
        lambda g, a, i: g.div(g.constant(Fraction(1, 2)), i),
        bounds=lambda a: (math.sqrt(max(a[0], 0.0)), math.sqrt(max(a[1], 0.0))),
        counted="sqrt",
    )

    # the condition, the value if it is not zero, and the value if it is zero
    SELECT = _row(
        *("select", 3),
        value=lambda condition, a, b: a if condition else b,
        bounds=lambda condition, a, b: (min(a[0], b[0]), max(a[1], b[1])),
        branches=lambda g, condition, a, b: (condition, a, b),
        branching=True,
        casadi="if_else",
        coded=True,
    )
    LT = _comparison("lt", operator.lt, sympy="StrictLessThan", c="<")
    LE = _comparison("le", operator.le, sympy="LessThan", c="<=")
    EQ = _comparison("eq", operator.eq, sympy="Equality", c="==")
    MIN = _row(
        *("min", 2),
        value=min,
        bounds=lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
        branches=lambda g, a, b: (g.binary(Op.LE, a, b), a, b),
        branching=True,
        sympy="Min",
        casadi="fmin",
        c="kc_min",
        coded=True,
    )
    MAX = _row(
        *("max", 2),
        value=max,
        bounds=lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
        branches=lambda g, a, b: (g.binary(Op.LE, b, a), a, b),
        branching=True,
        sympy="Max",
        casadi="fmax",
        c="kc_max",
        coded=True,
    )

    POW = _row(
        *("pow", 2),
        value=_power,
        bounds=power,
        partials=_partials_of_power,
        hides=True,
        c="pow",
        coded=True,
    )
    ATAN2 = _row(
        *("atan2", 2),
        bounds=within(-math.pi, math.pi),
        partials=_partials_of_angle,
        sympy="atan2",
        casadi="atan2",
        c="atan2",
        coded=True,
    )
    SIGN = _function(
        "sign",
        value=lambda a: int(a > 0) - int(a < 0),
        whole=True,
        parity=-1,
        bounds=within(-1.0, 1.0),
        branching=True,
        c="kc_sign",
    )
    ABS: str = _function(
        "abs",
        lambda g, a, i: g.call(Op.SIGN, a),
        value=abs,
        parity=1,
        bounds=lambda a: (max(a[0], -a[1], 0.0), max(-a[0], a[1])),
        branching=True,
        sympy="Abs",
        casadi="fabs",
        c="fabs",
    )
    FLOOR = _function("floor", whole=True, branching=True)

    SIN = _function(
        "sin",
        lambda g, a, i: g.cos(a),
        at_zero=0,
        parity=-1,
        bounds=within(-1.0, 1.0),
        antiderivative=lambda g, a: g.neg(g.cos(a)),
        steepness=lambda ctx, a, v: ctx.cos(a),
        counted="sincos",
        c="",
        coded=False,
    )
    COS = _function(
        "cos",
        lambda g, a, i: g.neg(g.sin(a)),
        at_zero=1,
        parity=1,
        bounds=within(-1.0, 1.0),
        antiderivative=lambda g, a: g.sin(a),
        steepness=lambda ctx, a, v: ctx.sin(a),
        counted="sincos",
        c="",
        coded=False,
    )
    TAN = _function(
        "tan",
        lambda g, a, i: g.add(g.one, g.square(i)),
        at_zero=0,
        parity=-1,
        antiderivative=lambda g, a: g.neg(log_of_size(g, g.cos(a))),
        steepness=lambda ctx, a, v: 1 + v * v,
    )
    ASIN = _function(
        "asin",
        lambda g, a, i: g.div(g.one, g.sqrt(g.sub(g.one, g.square(a)))),
        at_zero=0,
        parity=-1,
        bounds=within(-math.pi / 2, math.pi / 2),
        steepness=lambda ctx, a, v: 1 / ctx.cos(v),
    )
    ACOS = _function(
        "acos",
        lambda g, a, i: g.neg(g.div(g.one, g.sqrt(g.sub(g.one, g.square(a))))),
        bounds=within(0.0, math.pi),
        steepness=lambda ctx, a, v: 1 / ctx.sin(v),
    )
    ATAN: str = _function(
        "atan",
        lambda g, a, i: g.div(g.one, g.add(g.one, g.square(a))),
        at_zero=0,
        parity=-1,
        bounds=within(-math.pi / 2, math.pi / 2),
        antiderivative=lambda g, a: g.sub(
            g.mul(a, g.call(Op.ATAN, a)), g.mul(g.constant(Fraction(1, 2)), g.call(Op.LOG, g.add(g.one, g.square(a))))
        ),
        steepness=lambda ctx, a, v: 1 / (1 + a * a),
        hides=True,
    )
    SINH: str = _function(
        "sinh",
        lambda g, a, i: g.call(Op.COSH, a),
        at_zero=0,
        parity=-1,
        antiderivative=lambda g, a: g.call(Op.COSH, a),
        steepness=lambda ctx, a, v: ctx.cosh(a),
        hides=True,
    )
    COSH: str = _function(
        "cosh",
        lambda g, a, i: g.call(Op.SINH, a),
        at_zero=1,
        parity=1,
        bounds=within(1.0, math.inf),
        antiderivative=lambda g, a: g.call(Op.SINH, a),
        steepness=lambda ctx, a, v: ctx.sinh(a),
        hides=True,
    )
    TANH = _function(
        "tanh",
        lambda g, a, i: g.sub(g.one, g.square(i)),
        at_zero=0,
        parity=-1,
        bounds=within(-1.0, 1.0),
        antiderivative=lambda g, a: g.call(Op.LOG, g.call(Op.COSH, a)),
        steepness=lambda ctx, a, v: 1 / ctx.cosh(a) ** 2,
        hides=True,
    )
    ASINH = _function(
        "asinh",
        lambda g, a, i: g.div(g.one, g.sqrt(g.add(g.square(a), g.one))),
        at_zero=0,
        parity=-1,
        steepness=lambda ctx, a, v: 1 / ctx.cosh(v),
        hides=True,
    )
    ACOSH = _function(
        "acosh",
        lambda g, a, i: g.div(g.one, g.mul(g.sqrt(g.sub(a, g.one)), g.sqrt(g.add(a, g.one)))),
        bounds=within(0.0, math.inf),
        steepness=lambda ctx, a, v: 1 / ctx.sinh(v),
        hides=True,
    )
    ATANH = _function(
        "atanh",
        lambda g, a, i: g.div(g.one, g.sub(g.one, g.square(a))),
        at_zero=0,
        parity=-1,
        steepness=lambda ctx, a, v: 1 / (1 - a * a),
        hides=True,
    )
    EXP: str = _function(
        "exp",
        lambda g, a, i: i,
        at_zero=1,
        bounds=within(0.0, math.inf),
        antiderivative=lambda g, a: g.call(Op.EXP, a),
        steepness=lambda ctx, a, v: v,
        hides=True,
    )
    LOG: str = _function(
        "log",
        lambda g, a, i: g.div(g.one, a),
        antiderivative=lambda g, a: g.sub(g.mul(a, g.call(Op.LOG, a)), a),
        steepness=lambda ctx, a, v: 1 / a,
        hides=True,
    )
    ERF = _function(
        "erf",
        lambda g, a, i: g.mul(g.div(g.constant(2), g.sqrt(g.pi)), g.call(Op.EXP, g.neg(g.square(a)))),
        at_zero=0,
        parity=-1,
        bounds=within(-1.0, 1.0),
        steepness=lambda ctx, a, v: 1.2 * ctx.exp(-a * a),
        hides=True,
    )
