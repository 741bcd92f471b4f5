# SPDX-License-Identifier: BSD-3-Clause
"""Expressions in the names of a model: costs and conditions, from SymPy or text, and as expressions of CasADi."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping
from functools import reduce
from typing import Any

import sympy as sm
from sympy.core.function import AppliedUndef

from kanecore.binding.evaluator import Evaluator
from kanecore.binding.given_values import symbol_name
from kanecore.errors import unknown_name

__all__ = ["as_casadi", "expression", "relation"]

_SIDES = {"=": (0.0, 0.0), ">": (0.0, float("inf")), "<": (-float("inf"), 0.0)}
_ACTS: dict[str, Callable[..., Any]] = {"Add": operator.add, "Mul": operator.mul, "Pow": operator.pow}
_ACTS |= {"LessThan": operator.le, "StrictLessThan": operator.lt}
_ACTS |= {"GreaterThan": operator.ge, "StrictGreaterThan": operator.gt}

_SAME = "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh atan2 exp log sqrt sign floor erf"
_NAMES = {name: name for name in _SAME.split()}
_NAMES |= {"Abs": "fabs", "Max": "fmax", "Min": "fmin", "And": "logic_and", "Or": "logic_or", "Not": "logic_not"}


def expression(dyn: Evaluator, value: Any, argument: str, names: Collection[str]) -> Any:
    """A number, text, or expression of SymPy as an expression in plain symbols with the names of the model.

    Parameters
    ----------
    argument : str
        Name of the argument, for messages.
    names : collection of str
        What may occur in it.

    Raises
    ------
    KeyError
        A symbol that is no such name.
    ValueError
        Text that is no expression.
    """
    if isinstance(value, str) and value in names:
        return sm.Symbol(value)
    moving = {*dyn.names.x, *dyn.input_names}  # functions of t, which have rates
    known = {name: sm.Function(name)(sm.Symbol("t")) if name in moving else sm.Symbol(name) for name in names}
    try:
        made = sm.sympify(value, locals=known)
    except (sm.SympifyError, TypeError, SyntaxError, AttributeError) as error:
        if callable(value):
            raise TypeError(f"{argument} is a function; it must be text or an expression of SymPy") from None
        raise ValueError(f"{argument} holds {value!r}, which is no expression: {error}") from None
    rates = {rate: sm.Symbol(_name_of_rate(dyn, rate)) for rate in made.atoms(sm.Derivative)}
    made = made.xreplace(rates)
    made = made.xreplace({f: sm.Symbol(symbol_name(f)) for f in made.atoms(AppliedUndef)})
    made = made.xreplace({symbol: sm.Symbol(symbol.name) for symbol in made.free_symbols})
    for symbol in sorted(made.free_symbols, key=str):
        if symbol.name not in names:
            raise unknown_name(f"symbol of {argument}, {str(value)!r}, is called", symbol.name, names)
    return made


def _name_of_rate(dyn: Evaluator, rate: Any) -> str:
    kind, i = dyn.names.found(("state", "input"), rate)
    return dyn.names.of(kind)[i]


def relation(dyn: Evaluator, value: Any, argument: str, names: Collection[str]) -> tuple[Any, float, float]:
    """A relation, ``"x**2 + y**2 >= 1"``, as an expression with its lowest and highest value."""
    parts = re.split("(==|>=|<=)", value) if isinstance(value, str) else []
    if isinstance(value, sm.Rel) and value.rel_op != "!=":
        parts = [value.lhs, value.rel_op.rstrip("=") + "=", value.rhs]
    if len(parts) != 3:
        raise ValueError(
            f"{argument} holds {value!r}; it must be one relation, such as 'x >= 0', 'x <= y' or 'x == y', or a range, "
            "{expression: (low, high)}"
        )
    gap = expression(dyn, parts[0], argument, names) - expression(dyn, parts[2], argument, names)
    return gap, *_SIDES[parts[1][0]]


def as_casadi(casadi: Any, formula: Any, values: Mapping[str, Any]) -> Any:
    """An expression of `expression` with values in place of names; ValueError for a function that CasADi has not."""
    made: dict[Any, Any] = {}

    def convert(node: Any) -> Any:
        if node not in made:
            made[node] = _converted(casadi, node, convert, values)
        return made[node]

    return casadi.SX(convert(formula))


def _converted(casadi: Any, node: Any, convert: Callable[[Any], Any], values: Mapping[str, Any]) -> Any:
    if node.is_Symbol:
        return values[node.name]
    if node.is_number:
        return float(node)
    if node.is_Piecewise:
        result = casadi.SX(float("nan"))
        for branch, condition in reversed(node.args):
            held = condition == sm.true
            result = convert(branch) if held else casadi.if_else(convert(condition), convert(branch), result)
        return result
    kind = type(node).__name__
    act = _ACTS.get(kind) or getattr(casadi, _NAMES.get(kind, ""), None)
    if act is None:
        raise ValueError(f"{node} holds {kind}, which CasADi has not: write it by other functions")
    parts = [convert(part) for part in node.args]
    return reduce(act, parts) if len(parts) > 1 else act(parts[0])
