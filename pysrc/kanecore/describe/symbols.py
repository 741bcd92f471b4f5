# SPDX-License-Identifier: BSD-3-Clause
"""The symbols of a model: coordinates, speeds, parameters, inputs and their rates, each with its node."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sm
from sympy.core.function import AppliedUndef

from kanecore.errors import ModelError, warn
from kanecore.graph.calculus import Tangent
from kanecore.graph.linear import Singular, solve
from kanecore.graph.sample import samples
from kanecore.graph.scalars import ACCELERATION, COORDINATE, INPUT, PARAMETER, SPEED, TIME, Graph
from kanecore.graph.sympy_bridge import FromSympy
from kanecore.tolerances import EQUAL

from . import sympy_access

__all__ = ["Symbols", "function_name", "input_name", "multiplier"]

LETTERS = 5  # of a name in which one edit is a slip; shorter ones differ by one letter on purpose
_MULTIPLIER = sm.Function("multiplier")
_RATES_ALLOWED = {
    "kinematics": "velocities and their constraints; put what multiplies it into the bodies' inertia or into a load",
    "potential": "potentials; put what multiplies it into a load, or into the bodies' inertia",
    "law": "feedback; write the force itself into forcelist, where it may be affine in it",
    "load": "loads but once differentiated",
    "acceleration": "acceleration constraints but once differentiated",
    "output": "outputs but once differentiated",
}
_HOLDS_UDOT = ("load", "acceleration", "output")


def multiplier(row: int) -> Any:
    """λ of a row of G, to stand in ``outputs`` of a `Model`: the force of a contact, the tension of a cut joint.

    Parameters
    ----------
    row : int
        From 0, in the order of ``dyn.constraint_names``: of M u̇ = f + Gᵀλ.

    Returns
    -------
    sympy expression

    Raises
    ------
    ValueError
        ``row`` is no number of a row.

    Examples
    --------
    ``kc.Model(..., outputs={"normal force": kc.multiplier(0)})``
    """
    if isinstance(row, bool) or not hasattr(row, "__index__") or row < 0:
        raise ValueError(f"multiplier({row!r}): give the number of a row of G, from 0")
    return _MULTIPLIER(int(row))


class Symbols:
    """What the names in SymPy expressions stand for.

    Attributes
    ----------
    q, u, t : SymPy's coordinates, speeds and time
    coordinates, speeds, accelerations, time : their nodes, and those of u̇
    rates : nodes of q̇, solved from the kinematical equations
    parameters : dict of Symbol to node
    inputs : dict of (function of time, order of derivative) to node
    stage : a key of ``_RATES_ALLOWED``: what is being read, and whether derivatives of speeds and multipliers may stand
        there
    """

    def __init__(
        self,
        graph: Graph,
        q: Sequence[Any],
        u: Sequence[Any],
        auxiliary: Sequence[Any] = (),
        lists: Sequence[str] = ("q_ind", "u_ind"),
    ) -> None:
        self.graph = graph
        self.t = sympy_access.time()
        self.q = self._functions(q, lists[0])
        self.u = self._functions(u, lists[1])
        if not self.u:
            raise ModelError("u_ind is empty: a model has at least one generalized speed")
        for x in self.u:
            if x in self.q:
                raise ModelError(
                    f"{function_name(x)} is listed both as a coordinate and as a speed: give the speed a symbol of its "
                    "own"
                )
        self.auxiliary = self._functions(auxiliary, "u_auxiliary")
        for x in self.auxiliary:
            if x in self.q or x in self.u:
                raise ModelError(f"{function_name(x)} is listed in u_auxiliary and among the coordinates or speeds")
        g = self.graph
        self.time = g.symbol(("t",), TIME)
        self.coordinates = [g.symbol(("q", function_name(x)), COORDINATE) for x in self.q]
        self.speeds = [g.symbol(("u", function_name(x)), SPEED) for x in self.u]
        self.accelerations = [g.symbol(("a", function_name(x)), ACCELERATION) for x in self.u]
        self._leaves: dict[Any, int] = {self.t: self.time}
        self._leaves.update(zip(self.q, self.coordinates, strict=True))
        self._leaves.update(zip(self.u, self.speeds, strict=True))
        self.auxiliary_nodes = [g.symbol(("u", function_name(x)), SPEED) for x in self.auxiliary]
        self._leaves.update(zip(self.auxiliary, self.auxiliary_nodes, strict=True))
        self._owner: dict[str, Any] = {str(self.t): self.t}
        for x in (*self.q, *self.u, *self.auxiliary):
            self._claim(function_name(x), x)
        self.parameters: dict[Any, int] = {}
        self.inputs: dict[tuple[Any, int], int] = {}  # (input, order of derivative) -> node
        self._first_read: dict[Any, str] = {}  # where inputs were met
        self._allowed_parameters: set[Any] | None = None
        self._allowed_inputs: set[Any] | None = None
        self._laws: dict[Any, Any] = {}
        self._laws_read: dict[Any, int] = {}
        self.stage = "kinematics"
        self._read = FromSympy(g, self._leaf)
        self.orders: dict[Any, int] = {}
        self.rates: list[int] = []

    def _functions(self, symbols: Any, argument: str) -> list[Any]:
        result = list(symbols) if isinstance(symbols, Iterable) else [symbols]
        for x in result:
            if isinstance(x, sm.Derivative):
                raise ModelError(
                    f"{argument} holds the derivative {x}: make a symbol of its own with dynamicsymbols, and tie it to "
                    "the derivative in kd_eqs"
                )
            if not (isinstance(x, AppliedUndef) and x.args == (self.t,)):
                raise ModelError(
                    f"{argument} holds {x!r}, which is no function of time: make it with dynamicsymbols({str(x)!r})"
                )
        if len(set(result)) != len(result):
            twice = next(x for x in result if result.count(x) > 1)
            raise ModelError(f"{function_name(twice)} is listed twice in {argument}")
        return result

    def _claim(self, name: str, symbol: Any) -> None:
        other = self._owner.setdefault(name, symbol)
        if other != symbol:
            raise ModelError(
                f"two different symbols are named {name!r} ({other!r} and {symbol!r}, perhaps with different "
                "assumptions): rename one, or make it once and use it everywhere"
            )

    def allow(self, parameters: Sequence[Any] | None, inputs: Sequence[Any] | None) -> None:
        """Declare the only parameters and inputs; None: whatever occurs."""
        if parameters is not None:
            self._allowed_parameters = set()
            for s in parameters:
                if not isinstance(s, sm.Symbol):
                    raise ModelError(f"parameters holds {s!r}: a parameter is a sympy Symbol, constant in time")
                if s == self.t:
                    raise ModelError("time is not a parameter")
                if s in self._allowed_parameters:
                    raise ModelError(f"{s} is listed twice in parameters")
                self._allowed_parameters.add(s)
                self._leaf(s)
        if inputs is not None:
            chosen = [x for x in inputs if not isinstance(x, sm.Derivative)]
            for x in self._functions(chosen, "inputs"):
                if x in self._leaves:
                    raise ModelError(f"{function_name(x)} is a coordinate or speed and cannot be an input")
            for x in inputs:
                if isinstance(x, sm.Derivative) and x.args[0] not in chosen:
                    raise ModelError(f"inputs holds {x} without {x.args[0]}: list that; its rates follow by themselves")
            self._allowed_inputs = set(chosen)
            for x in chosen:
                if x not in self._laws:
                    self.input(x, 0)

    def stand_in(self, symbol: Any, depends: int) -> int:
        """The node of a symbol that stands for something that is yet to be formed."""
        node = self._leaves[symbol] = self.graph.symbol(("stands in", symbol.name, len(self._leaves)), depends)
        return node

    def feed_back(self, laws: Mapping[Any, Any]) -> None:
        """Put expressions in place of some inputs wherever these occur in loads and outputs."""
        for x in self._functions(laws, "feedback"):
            if x in self._leaves:
                raise ModelError(f"feedback for {function_name(x)}, a coordinate or speed: only inputs can be fed back")
        self._laws = dict(laws)
        for x in self._laws:
            self._claim(function_name(x), x)

    def _fed_back(self, x: Any, order: int) -> int:
        node = self._laws_read.get(x)
        if node is None:
            where, stage = self.where, self.stage
            if stage == "kinematics" or order:
                raise ModelError(
                    f"{self.rate(x, order)} in {where} is given by feedback, which is for inputs of loads and outputs: "
                    "motion that follows a law is motion with generalized speeds of its own"
                )
            self._laws_read[x] = -1
            self.stage = "law"
            node = self._laws_read[x] = self.node(self._laws[x], f"the feedback for {function_name(x)}")
            self.stage, self.where = stage, where
        if node < 0:
            raise ModelError(f"the feedback for {function_name(x)} depends on itself: {x} = {self._laws[x]}")
        return node

    def warn_of_misspelt(self) -> None:
        """Name inputs that nobody declared and that are called nearly as a coordinate or speed is."""
        declared = self._allowed_inputs or ()
        for x in sorted({x for x, _ in self.inputs} - set(declared), key=function_name):
            meant = self._meant(x)
            if meant:
                warn(
                    f"{x} in {self._first_read[x]} is neither a coordinate nor a speed, and is taken for an input: is "
                    f"{meant} meant? If it is an input, list it in inputs=[...]"
                )

    def _meant(self, x: Any) -> str:
        """The coordinate or speed that a name may be meant for, as text; empty where none is close."""
        kinds = ("coordinate", self.q), ("speed", self.u), ("auxiliary speed", self.auxiliary)
        close = [
            f"the {kind} {y}"
            for kind, symbols in kinds
            for y in symbols
            if is_close(function_name(x), function_name(y))
        ]
        return " or ".join(close)

    def check_feedback(self) -> None:
        """Every law must have been used."""
        for x in self._laws:
            if x not in self._laws_read:
                raise ModelError(f"feedback for {x}, which occurs in no load and no output: check the symbol")

    def _leaf(self, e: Any) -> int:
        node = self._leaves.get(e)
        if node is not None:
            return node
        if isinstance(e, sm.Symbol):
            if self._allowed_parameters is not None and e not in self._allowed_parameters:
                raise ModelError(f"the symbol {e} in {self.where} is not listed in parameters: add it there")
            self._claim(str(e), e)
            node = self.parameters[e] = self._leaves[e] = self.graph.symbol(("p", str(e)), PARAMETER)
            return node
        if isinstance(e, sm.Derivative):
            return self._derivative(e)
        if e.func == _MULTIPLIER and e.args[0].is_Integer and e.args[0] >= 0:
            if self.stage != "output":
                raise ModelError(f"{e} in {self.where}: multipliers are solved for with u̇, and stand in outputs alone")
            return self.graph.symbol(("λ", int(e.args[0])), ACCELERATION)
        if e.args != (self.t,):
            raise ModelError(
                f"the unknown function {e} in {self.where}: a model knows functions of time only (dynamicsymbols); "
                "write it out, or make it an input"
            )
        return self.input(e, 0)

    def input(self, x: Any, order: int) -> int:
        if x in self._laws:
            return self._fed_back(x, order)
        key = (x, order)
        node = self.inputs.get(key)
        if node is None:
            if self._allowed_inputs is not None and x not in self._allowed_inputs:
                meant = self._meant(x)
                raise ModelError(
                    f"{x} in {self.where} is neither a coordinate, nor a speed, nor listed in inputs: "
                    + (f"is {meant} meant?" if meant else "add it to one of them")
                )
            name = input_name(x, order)
            self._first_read.setdefault(x, self.where)
            self._claim(name, self.rate(x, order))
            node = self.inputs[key] = self.graph.symbol(("r", name), INPUT)
            if order == 0:
                self._leaves[x] = node
        return node

    def rate(self, x: Any, order: int) -> Any:
        """SymPy's symbol of a derivative, which is made and not computed."""
        return sm.Derivative(x, (self.t, order), evaluate=False) if order else x

    def _derivative(self, e: Any) -> int:
        x, *variables = e.args
        order = sum(int(count) for variable, count in variables if variable == self.t)
        if not isinstance(x, AppliedUndef) or len(variables) != 1 or order != variables[0][1]:
            done = e.doit() if [v for v, _ in variables] == [self.t] and not isinstance(x, AppliedUndef) else e
            if done != e:
                return self.node(done)  # of an expression, left as it was written
            raise ModelError(f"the derivative {e} in {self.where} is not one of a function of time")
        if x.args != (self.t,):
            return self._leaf(x)  # which says that it is not known
        if x in self.q:
            if order == 1:
                return self.rates[self.q.index(x)]
            raise ModelError(
                f"{e} in {self.where}: write second derivatives of coordinates with derivatives of the speeds, "
                f"such as {function_name(self.u[0])}.diff()"
            )
        if x in self.u:
            if self.stage in _HOLDS_UDOT and order == 1:
                return self.accelerations[self.u.index(x)]
            raise self._is_solved_for(e)
        if x in self.auxiliary:
            raise ModelError(f"{e} in {self.where}: an auxiliary speed is zero, and so is its derivative: leave it out")
        return self.input(x, order)

    def _is_solved_for(self, derivative: Any) -> ModelError:
        return ModelError(
            f"{derivative} in {self.where}: the derivative of a speed is what is solved for and cannot stand in "
            f"{_RATES_ALLOWED[self.stage]}"
        )

    @property
    def where(self) -> str:
        """What is being read, for messages."""
        return self._read.where

    @where.setter
    def where(self, text: str) -> None:
        self._read.where = text

    def node(self, e: Any, where: str | None = None) -> int:
        """The node of an expression; ``where`` it stands, if not where the last one did."""
        if where is not None:
            self.where = where
        node = self._read(e)
        if self.graph.depends[node] & ACCELERATION and self.stage not in _HOLDS_UDOT:  # of a part that was read before
            raise self._is_solved_for(next(x for x in e.atoms(sm.Derivative) if x.args[0] in self.u))
        return node

    def foreign(self, graph: Graph, second: Mapping[Any, int]) -> FromSympy:
        """Reads what is no part of the model into a copy of its graph; ``second`` are the nodes of q̈ by coordinate.

        What the model does not know gets a symbol of its own.  KeyError for auxiliary speeds.
        """

        def leaf(e: Any) -> int:
            x, order = (e.args[0], int(e.derivative_count)) if isinstance(e, sm.Derivative) else (e, 0)
            if x in self.auxiliary:
                raise KeyError(x)
            known = {
                **{(y, 1): rate for y, rate in zip(self.q, self.rates, strict=True)},
                **{(y, 2): node for y, node in second.items()},
                **{(y, 1): node for y, node in zip(self.u, self.accelerations, strict=True)},
                **self.inputs,
            }
            node = known.get((x, order)) if order or x not in self._leaves else self._leaves[x]
            return graph.symbol(("foreign", str(e)), ACCELERATION) if node is None else node

        return FromSympy(graph, leaf)

    def has_read(self, e: Any) -> bool:
        """Whether an expression was read, and its symbols are known."""
        return e in self._read

    def solve_kinematics(self, kd_eqs: Sequence[Any]) -> None:
        """Find q̇ in q, u, t from the kinematical equations."""
        g, n = self.graph, len(self.q)
        self._check_exchanged(kd_eqs)
        if len(kd_eqs) > n:
            raise ModelError(
                f"{n} coordinates need {n} kinematical equations, but kd_eqs has {len(kd_eqs)}: "
                "give one for each, such as [q1.diff() - u1, ...]"
            )
        self.rates = [g.symbol(("qdot", function_name(x)), SPEED) for x in self.q]
        for i, e in enumerate(kd_eqs):
            if isinstance(e, sm.Eq):
                raise ModelError(f"kd_eqs[{i}] is {e}: write it as an expression that vanishes, {e.lhs - e.rhs}")
        equations = [self.node(e, f"kinematical equation {i}") for i, e in enumerate(kd_eqs)]
        columns = [Tangent(g, {rate: g.one}) for rate in self.rates]
        matrix = [[column.of(e) for column in columns] for e in equations]
        by_speed = [Tangent(g, {u: g.one}) for u in self.speeds]
        for i, row in enumerate(matrix):
            slopes = row + [column.of(equations[i]) for column in by_speed]
            if any(g.depends[a] & SPEED for a in slopes):
                raise ModelError(
                    f"kinematical equation {i}, {kd_eqs[i]}, is not linear in the derivatives of the "
                    "coordinates and in the speeds"
                )
        lost = self._undetermined(matrix)
        names = " and ".join(function_name(self.q[j]) for j in lost)
        if len(kd_eqs) < n:
            raise ModelError(
                f"{n} coordinates need {n} kinematical equations, but kd_eqs has {len(kd_eqs)}, and none determines "
                f"the derivative of {names}: add {n - len(kd_eqs)}, as {function_name(self.q[lost[-1]])}.diff() - u"
            )
        right = [g.neg(e) for e in g.substitute(equations, dict.fromkeys(self.rates, 0))]
        try:
            self.rates = solve(g, matrix, right)
        except Singular as error:
            names = names or function_name(self.q[error.column])
            raise ModelError(
                f"the kinematical equations are singular: they do not determine the derivative of {names}"
            ) from None
        self._read = FromSympy(g, self._leaf)  # what was read with unsolved rates is forgotten

    def _check_exchanged(self, kd_eqs: Sequence[Any]) -> None:
        """Coordinates are what kd_eqs holds the derivatives of, and speeds are not."""
        found = set().union(*(e.atoms(sm.Derivative) for e in kd_eqs if isinstance(e, sm.Basic)))
        moved = {e.args[0] for e in found}
        speeds, others = [x for x in self.u if x in moved], [x for x in self.q if x not in moved]
        if speeds and others:
            wrong, missing = (", ".join(map(function_name, x)) for x in (speeds, others))
            raise ModelError(
                f"q and u are exchanged: kd_eqs holds the derivative of {wrong}, listed among the speeds, and not that "
                f"of {missing}, listed among the coordinates; q_ind holds coordinates, u_ind speeds"
            )

    def _undetermined(self, matrix: Sequence[Sequence[int]]) -> list[int]:
        """Coordinates whose rates equations with these coefficients leave open, at a random state."""
        n = len(self.q)
        states = samples(self.graph, [i for row in matrix for i in row], 1)
        if not states or not n:
            return list(range(n))
        numbers = np.array([states[0].all(row) for row in matrix]).reshape(-1, n)
        _, s, basis = np.linalg.svd(numbers)
        free = basis[int(np.sum(s > EQUAL * max(s, default=0.0))) :]
        return [j for j in range(n) if np.max(np.abs(free[:, j]), initial=0.0) > EQUAL]

    def complete(self, place: Iterable[int], rate: Iterable[int], energies: Iterable[int]) -> None:
        """Add the rates that the accelerations hold: two more where an input moves a point, one where it is a rate."""
        by_node = {node: key for key, node in self.inputs.items()}

        def need(nodes: Iterable[int], extra: int) -> set[Any]:
            found = set()
            for i in self.graph.below(nodes):
                if i in by_node:
                    x, order = by_node[i]
                    self.orders[x] = max(self.orders.get(x, 0), order + extra)
                    found.add(x)
            return found

        self.prescribed = need(place, 2) | need((*rate, *self.rates), 1)
        need(energies, 1)
        need(self.inputs.values(), 0)


def is_close(name: str, other: str) -> bool:
    """Whether a name may be another misspelt.

    Equal but for case, underscores and braces; or one letter more, less, another or exchanged with its neighbour, in a
    name of five letters or more whose digits are the same: F1 and F2, theta and theta_d are names of their own.
    """
    if name == other:
        return False
    plain, meant = (re.sub(r"[_{}]", "", x).casefold() for x in (name, other))
    if plain == meant:
        return True
    if re.findall(r"\d", name) != re.findall(r"\d", other) or sum(c.isalpha() for c in other) < LETTERS:
        return False
    return _one_edit(name, other)


def _one_edit(a: str, b: str) -> bool:
    if len(a) > len(b):
        a, b = b, a
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) < len(b):
        return len(b) == len(a) + 1 and a[start:] == b[start + 1 :]
    exchanged = a[:start] + a[start + 1 : start + 2] + a[start : start + 1] + a[start + 2 :]
    return a[start + 1 :] == b[start + 1 :] or exchanged == b


def function_name(x: Any) -> str:
    """The function F of an expression F(t)."""
    return str(x.func.__name__)


def input_name(x: Any, order: int) -> str:
    """Names of a function and its derivatives: F, F_d, F_dd, ..."""
    return function_name(x) + ("_" + "d" * order if order else "")
