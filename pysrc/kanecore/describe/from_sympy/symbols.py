# SPDX-License-Identifier: BSD-3-Clause
"""Symbols of SymPy and their nodes; the meaning of a symbol depends on the user's lists, and on where it stands."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import sympy as sm
from sympy.core.function import AppliedUndef, UndefinedFunction

from kanecore.describe.builder import Builder
from kanecore.describe.variables import input_name
from kanecore.errors import ModelError, is_close, warn
from kanecore.functions.c_functions import CFunction
from kanecore.functions.splines import Spline
from kanecore.graph.expression_graph import ACCELERATION, Data, Given, Graph
from kanecore.graph.sympy_bridge import FromSympy

from . import vector_internals
from .arguments import ListedArguments
from .first_order_states import inputs_of_objects, state_rates
from .reactions import reaction_of, row_of

__all__ = ["Symbols", "SymbolsByName", "function_name", "function_of_time", "functions_of_time"]

_RATES_ALLOWED = {
    "rate": "kinematical equations, which are solved for the derivatives of the coordinates",
    "kinematics": "velocities and their constraints; put what multiplies it into the bodies' inertia or into a load",
    "lagrangian": "a Lagrangian, which is a function of coordinates, their first derivatives, inputs and time",
    "dissipation": "a dissipation function, of coordinates, their first derivatives, inputs and time",
    "potential": "potentials; put what multiplies it into a load, or into the bodies' inertia",
    "law": "feedback laws but once differentiated",
    "load": "loads but once differentiated",
    "acceleration": "acceleration constraints but once differentiated",
    "output": "outputs but once differentiated",
    "state": "rates of states but once differentiated",
}
_HOLDS_UDOT = ("load", "acceleration", "output", "state", "law")
_NOT_FED_BACK = {
    "kinematics": "motion that follows a law is motion with generalized speeds of its own",
    "lagrangian": "a Lagrangian is differentiated by coordinates, and so would be the law; write the force into loads",
    "dissipation": "a dissipation function is differentiated by speeds, and so would be the law; write it into loads",
    "potential": "a potential is differentiated by coordinates, and so would be the law; write the force into loads",
}


class Symbols:
    """Meanings of the names in SymPy expressions.

    Attributes
    ----------
    q, u, t : SymPy's coordinates, speeds and time
    coordinates, speeds, accelerations, time : their nodes, and those of u̇
    z, states : SymPy's first-order states, and their nodes
    rates : nodes of q̇, solved from the kinematical equations
    parameters : dict of Symbol to node
    inputs : dict of (function of time, order of derivative) to node
    functions : dict of SymPy function to Data
        Functions of any scalars that are given by data, or in C.
    """

    def __init__(self, builder: Builder, arguments: ListedArguments) -> None:
        self._builder, self.graph = builder, builder.graph
        self.t = vector_internals.time()
        self._owner: dict[str, Any] = {str(self.t): self.t}
        self._list_states(arguments)
        self._list_functions(arguments.functions)
        self.time = builder.time
        n_q, n_u = len(arguments.q_ind), len(arguments.u_ind)
        held = dict(builder.states), dict(builder.parameters), dict(builder.inputs.names)
        if builder.coordinates:
            self.coordinates, self.speeds = list(builder.coordinates), list(builder.speeds)
        else:
            self.coordinates = [builder.coordinate(function_name(x), dependent=i >= n_q) for i, x in enumerate(self.q)]
            self.speeds = [builder.speed(function_name(x), dependent=i >= n_u) for i, x in enumerate(self.u)]
        self.accelerations = [builder.acceleration(u) for u in self.speeds]
        self.states = [builder.state(function_name(x)) for x in self.z]
        self._leaves: dict[Any, int] = {self.t: self.time}
        self._leaves.update(zip(self.q, self.coordinates, strict=True))
        self._leaves.update(zip(self.u, self.speeds, strict=True))
        self._leaves.update(zip(self.z, self.states, strict=True))
        self._leaves.update((x, builder.auxiliary(function_name(x))) for x in self.auxiliary)
        self.parameters: dict[Any, int] = {}
        self.inputs: dict[tuple[Any, int], int] = {}  # (input, order of derivative) -> node
        self._first_read: dict[Any, str] = {}  # where inputs were met
        self._allowed_parameters: set[Any] | None = None
        self._allowed_inputs: set[Any] | None = None
        self._reactions: list[Any] = []
        self._laws: dict[Any, Any] = {}
        self._laws_read: dict[Any, int | None] = {}
        self._state_rates_read: dict[Any, int] = {}
        self._stage = "kinematics"  # of what is being read
        self.rates: list[int] = []
        self._held: dict[Any, int] = {}  # parameters and inputs of the builder, with their nodes
        self._hold(held, arguments.feedback)
        self._read = FromSympy(self.graph, self._leaf, self.functions)

    def _hold(self, held: Sequence[Mapping[int, str]], laws: Mapping[Any, Any]) -> None:
        """Know what the builder had before, of a robot: states, parameters, and inputs that no law replaces."""
        states, parameters, inputs = held
        self.rates = [self._builder.rates[x] for x in self.coordinates if x in self._builder.rates]
        for node, name in states.items():
            x = function_of_time(name)
            self.z.append(x)
            self.states.append(node)
            self._leaves[x], self._state_rates_read[x] = node, self._builder.state_rates[node]
        for node, name in parameters.items():
            s = sm.Symbol(name)
            self.parameters[s] = self._leaves[s] = self._held[s] = node
        for node, name in inputs.items():
            x = function_of_time(name)
            self._held[x] = node
            if x not in laws:
                self.inputs[x, 0] = self._leaves[x] = node
        for x in (*self.z, *self._held):
            self._claim(symbol_name(x), x)

    def _list_states(self, arguments: ListedArguments) -> None:
        """List coordinates, speeds and auxiliary speeds: each must be one symbol, in one place."""
        a = arguments
        self.q = functions_of_time([*a.q_ind, *a.q_dependent], "q_ind + q_dependent" if a.q_dependent else "q_ind")
        self.u = functions_of_time([*a.u_ind, *a.u_dependent], "u_ind + u_dependent" if a.u_dependent else "u_ind")
        if not self.u:
            raise ModelError("u_ind is empty: a model has at least one generalized speed")
        self._place_in_q, self._place_in_u = ({x: i for i, x in enumerate(listed)} for listed in (self.q, self.u))
        for x in self.u:
            if x in self._place_in_q:
                raise ModelError(
                    f"{function_name(x)} is listed both as a coordinate and as a speed: give the speed a symbol of its "
                    "own"
                )
        self.auxiliary = functions_of_time(a.u_auxiliary, "u_auxiliary")
        for x in self.auxiliary:
            if x in self._place_in_q or x in self._place_in_u:
                raise ModelError(f"{function_name(x)} is listed in u_auxiliary and among the coordinates or speeds")
        self._list_first_order(a)
        for x in (*self.q, *self.u, *self.auxiliary, *self.z):
            self._claim(function_name(x), x)

    def _list_first_order(self, a: ListedArguments) -> None:
        """List the first-order states: symbols that have no other role."""
        listed = {
            "coordinates": self.q,
            "speeds": self.u,
            "u_auxiliary": self.auxiliary,
            "inputs": a.inputs or [],
            "reactions": a.reactions,
            "feedback": a.feedback,
        }
        self._state_rates = state_rates(a.states, a.forcelist, [x for group in listed.values() for x in group])
        self._of_objects = inputs_of_objects(a.states, a.forcelist)
        self.z = functions_of_time(self._state_rates, "states")
        for x in self.z:
            for what, group in listed.items():
                if x in group:
                    raise ModelError(f"{function_name(x)} is listed in states and in {what}: list it in one of them")

    def _list_functions(self, functions: Mapping[Any, Any]) -> None:
        """Functions that are given by data, checked."""
        for f, data in functions.items():
            if not isinstance(f, UndefinedFunction):
                raise ModelError(
                    f"functions holds {f!r}, which is no undefined function: write functions={{f: kc.Spline(x, y)}} "
                    "with f = sympy.Function('street'), and f(x) in the description"
                )
            if not isinstance(data, (Spline, CFunction)):
                raise ModelError(f"functions gives {data!r} for {f}: give the data, kc.Spline(x, y), or a kc.CFunction")
            self._claim(f.__name__, f)
        self.functions: dict[Any, Data] = {
            f: data if isinstance(data, Spline) else self._builder.external(f.__name__, data.highest)
            for f, data in functions.items()
        }

    def check_functions(self) -> None:
        """Every function that was given must have been read."""
        read = {op.name for op, *_ in self.graph.nodes if isinstance(op, Given)}
        inputs = [function_name(x) for x, _ in self.inputs]
        others = dict.fromkeys([*read, *inputs, *map(function_name, (*self.q, *self.u, *self.z))])
        for f in self.functions:
            if f.__name__ not in read:
                meant = get_close_matches(f.__name__, others, 1)
                raise ModelError(
                    f"functions holds {f}, which does not occur: "
                    + (f"is {meant[0]} meant?" if meant else f"write {f} of an expression, or leave it out")
                )

    def _claim(self, name: str, symbol: Any) -> None:
        other = self._owner.setdefault(name, symbol)
        if other != symbol:
            raise ModelError(
                f"two different symbols are named {name!r} ({other!r} and {symbol!r}, perhaps with different "
                "assumptions): rename one, or make it once and use it everywhere"
            )

    def allow(
        self, parameters: Sequence[Any] | None, inputs: Sequence[Any] | None, reactions: Sequence[Any] = ()
    ) -> None:
        """Declare the only parameters and inputs, None: all that occur; and reactions, which are read as inputs."""
        self._list_reactions(reactions, inputs or ())
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
            for x in functions_of_time(chosen, "inputs"):
                if x in self._leaves:
                    raise ModelError(f"{function_name(x)} is a coordinate or speed and cannot be an input")
            for x in inputs:
                if isinstance(x, sm.Derivative) and x.args[0] not in chosen:
                    raise ModelError(f"inputs holds {x} without {x.args[0]}: list that; its rates follow by themselves")
            self._allowed_inputs = {*chosen, *self._reactions}
            for x in chosen:
                if x not in self._laws:
                    self.input(x, 0)

    def _list_reactions(self, reactions: Sequence[Any], inputs: Sequence[Any]) -> None:
        """List the reactions that auxiliary equations determine."""
        self._reactions = functions_of_time(reactions, "reactions")
        for x in self._reactions:
            if x in self._leaves:
                raise ModelError(f"{function_name(x)} is a coordinate or speed and cannot be a reaction")
            if x in inputs or x in self._laws:
                other = "inputs" if x in inputs else "feedback"
                raise ModelError(
                    f"{function_name(x)} is listed in reactions and in {other}: a reaction follows from the auxiliary "
                    f"equations, so leave it out of {other}"
                )

    def reactions(self) -> tuple[int, ...]:
        """Nodes of the reactions; ModelError for one that stands nowhere."""
        for x in self._reactions:
            if (x, 0) not in self.inputs:
                raise ModelError(
                    f"reactions holds {function_name(x)}, which stands in no load: add the reaction to forcelist, as "
                    f"({x} times the direction of its auxiliary speed) at the point that this moves"
                )
        return tuple(self.inputs[x, 0] for x in self._reactions)

    def stand_in(self, symbol: Any, node: int) -> None:
        """Read a symbol as a node."""
        self._leaves[symbol] = node

    def feed_back(self, laws: Mapping[Any, Any]) -> None:
        """Put expressions in place of some inputs of loads, kinematical equations and outputs."""
        for x in functions_of_time(laws, "feedback"):
            if x in self._leaves:
                raise ModelError(f"feedback for {function_name(x)}, a coordinate or speed: only inputs can be fed back")
        self._laws = dict(laws)
        for x in self._laws:
            self._claim(function_name(x), x)

    def _fed_back(self, x: Any, order: int) -> int:
        if self._stage in _NOT_FED_BACK or order:
            why = _NOT_FED_BACK.get(self._stage, _NOT_FED_BACK["kinematics"])
            raise ModelError(
                f"{self.rate(x, order)} in {self.where} is given by feedback, which is for inputs of loads, of "
                f"kinematical equations and of outputs: {why}"
            )
        node = self._laws_read.get(x)
        if node is None:
            self._laws_read[x] = -1
            node = self._laws_read[x] = self.node(self._laws[x], f"the feedback for {function_name(x)}", "law")
        if node < 0:
            raise ModelError(f"the feedback for {function_name(x)} depends on itself: {x} = {self._laws[x]}")
        return node

    def laws_of_builder(self) -> dict[int, int]:
        """Nodes of inputs that the builder had before, and of the laws that replace them."""
        held = {x: node for x, node in self._held.items() if x in self._laws}
        return {node: self.node(x, f"input {function_name(x)}", "load") for x, node in held.items()}

    def in_order(self) -> list[Any]:
        """The parameters: first those that the builder had before, then the others by their names."""
        return sorted(self.parameters, key=self._rank)

    def _rank(self, x: Any) -> tuple[float, str]:
        return list(self._held).index(x) if x in self._held else math.inf, symbol_name(x)

    def warn_of_misspelt(self) -> None:
        """Warn of inputs that were not declared and whose names are close to those of coordinates or speeds."""
        declared = {*(self._allowed_inputs or self._reactions), *self._of_objects, *self._held}
        for x in sorted({x for x, _ in self.inputs} - declared, key=function_name):
            meant = self._meant(x)
            if meant:
                warn(
                    f"{x} in {self._first_read[x]} is neither a coordinate nor a speed, and is taken for an input: is "
                    f"{meant} meant? If it is an input, list it in inputs=[...]"
                )

    def _meant(self, x: Any) -> str:
        """The coordinate or speed that a name may be meant for, as text; empty if none is close."""
        kinds = ("coordinate", self.q), ("speed", self.u), ("state", self.z), ("auxiliary speed", self.auxiliary)
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
                raise ModelError(
                    f"feedback for {x}, which occurs in no load, kinematical equation or output: check the symbol"
                )

    def _leaf(self, e: Any) -> int:
        node = self._leaves.get(e)
        if node is not None:
            return node
        if isinstance(e, sm.Symbol):
            if self._allowed_parameters is not None and e not in self._allowed_parameters:
                raise ModelError(f"the symbol {e} in {self.where} is not listed in parameters: add it there")
            self._claim(str(e), e)
            node = self.parameters[e] = self._leaves[e] = self._builder.parameter(str(e))
            return node
        if isinstance(e, sm.Derivative):
            return self._derivative(e)
        row, part = row_of(e), reaction_of(e)
        if row is not None or part is not None:
            if self._stage not in ("output", "load", "state", "law"):
                written = f"multiplier({row!r})" if part is None else f"reaction({part[0]!r})"
                raise ModelError(
                    f"{written} in {self.where}: multipliers and reactions are found with u̇, and stand in loads, "
                    "feedback laws, rates of states and outputs alone"
                )
            return self._builder.reaction(*part) if part is not None else self._builder.multiplier(row or 0)
        if e.args != (self.t,):
            raise self._is_unknown(e)
        return self.input(e, 0)

    def _is_unknown(self, e: Any) -> ModelError:
        name = function_name(e)
        given = [f.__name__ for f in self.functions]
        meant = name if name in given else next(iter(get_close_matches(name, given, 1)), "")
        if meant:
            return ModelError(
                f"the unknown function {e} in {self.where}: functions gives the data of another function, {meant}: is "
                "that meant? Make it once, with all its assumptions, and use it everywhere"
            )
        data = ", ".join("xyz"[: len(e.args) + 1]) if len(e.args) < 3 else "x, y"
        return ModelError(
            f"the unknown function {e} in {self.where}: a model knows functions of time only (dynamicsymbols); give "
            f"its data, functions={{{name}: kc.Spline({data})}}, write it out, or make it an input"
        )

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
            name = input_name(function_name(x), order)
            self._first_read.setdefault(x, self.where)
            self._claim(name, self.rate(x, order))
            node = self.inputs[key] = self._builder.input(name)
            if order == 0:
                self._leaves[x] = node
            elif (x, order - 1) in self.inputs:
                self._builder.rate(self.inputs[x, order - 1], node)
            if (x, order + 1) in self.inputs:
                self._builder.rate(node, self.inputs[x, order + 1])
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
                return self.node(done)  # of an expression, not carried out
            raise ModelError(f"the derivative {e} in {self.where} is not one of a function of time")
        if x.args != (self.t,):
            return self._leaf(x)  # which raises an error for an unknown one
        if (place := self._place_in_q.get(x)) is not None:
            if order == 1:
                return self.rates[place]
            if self._stage in ("lagrangian", "dissipation"):
                raise self._is_solved_for(e)
            raise ModelError(
                f"{e} in {self.where}: write second derivatives of coordinates with derivatives of the speeds, "
                f"such as {function_name(self.u[0])}.diff()"
            )
        if (place := self._place_in_u.get(x)) is not None:
            if self._stage in _HOLDS_UDOT and order == 1:
                return self.accelerations[place]
            raise self._is_solved_for(e)
        if x in self.z:
            return self._derivative_of_state(x, order)
        if x in self.auxiliary:
            raise ModelError(f"{e} in {self.where}: an auxiliary speed is zero, and so is its derivative: leave it out")
        return self.input(x, order)

    def _derivative_of_state(self, x: Any, order: int) -> int:
        if order > 1:
            raise ModelError(
                f"{self.rate(x, order)} in {self.where}: the rate of {x} is known, and no higher derivative"
            )
        return self.rate_of_state(x)

    def rate_of_state(self, x: Any) -> int:
        """The node of ż of a first-order state."""
        node = self._state_rates_read.get(x)
        if node is None:
            self._state_rates_read[x] = -1
            where = f"the rate of state {function_name(x)}"
            node = self._state_rates_read[x] = self.node(self._state_rates[x], where, "state")
        if node < 0:
            raise ModelError(f"the rate of state {function_name(x)} depends on itself: {x} = {self._state_rates[x]}")
        return node

    def _is_solved_for(self, derivative: Any) -> ModelError:
        why = f"and cannot stand in {_RATES_ALLOWED[self._stage]}"
        if self._stage == "kinematics" and "constraint" in self.where:
            why = "so that this is a constraint on accelerations: give it in acceleration_constraints"
        return ModelError(f"{derivative} in {self.where}: the derivative of a speed is what is solved for, {why}")

    @property
    def where(self) -> str:
        """Place that is being read, for messages."""
        return self._read.where

    def node(self, e: Any, where: str | None = None, stage: str = "kinematics") -> int:
        """Node of an expression.

        Parameters
        ----------
        where : str, optional
            Its place, for messages; None for a part of what is being read.
        stage : str
            A key of ``_RATES_ALLOWED``: what it is a part of, which tells whether derivatives of speeds and multipliers
            may stand there.
        """
        if where is None:
            where, stage = self.where, self._stage
        before, self._stage = self._stage, stage
        try:
            with self._read.at(where):
                node = self._read(e)
                if self._laws and stage in _NOT_FED_BACK and isinstance(e, sm.Basic):
                    for x in e.atoms(AppliedUndef) & self._laws.keys():  # of a part that was read before
                        self._fed_back(x, 0)
                if self.graph.depends[node] & ACCELERATION and stage not in _HOLDS_UDOT:  # the same
                    raise self._is_solved_for(self._holding_udot(e))
        finally:
            self._stage = before
        return node

    def _holding_udot(self, e: Any) -> Any:
        """Derivative of a speed in an expression, or of a state whose rate holds some, or all of it."""
        derivatives = e.atoms(sm.Derivative)
        return next((x for x in derivatives if x.args[0] in (*self.u, *self.z)), e)

    def read_again(self, graph: Graph, second: Sequence[int]) -> FromSympy:
        """Reader of expressions outside the model into a copy of its graph; ``second`` are the nodes of q̈.

        What the model does not know gets a symbol of its own.  KeyError for auxiliary speeds.
        """

        def leaf(e: Any) -> int:
            x, order = (e.args[0], int(e.derivative_count)) if isinstance(e, sm.Derivative) else (e, 0)
            if x in self.auxiliary:
                raise KeyError(x)
            known = {
                **{(y, 1): rate for y, rate in zip(self.q, self.rates, strict=True)},
                **{(y, 2): node for y, node in zip(self.q, second, strict=True)},
                **{(y, 1): node for y, node in zip(self.u, self.accelerations, strict=True)},
                **{(y, 1): node for y, node in self._state_rates_read.items()},
                **self.inputs,
            }
            node = known.get((x, order)) if order or x not in self._leaves else self._leaves[x]
            return graph.symbol(("foreign", str(e)), ACCELERATION) if node is None else node

        return FromSympy(graph, leaf, self.functions)

    def by_name(self) -> dict[str, Any]:
        """SymPy's symbols by the names that they have in the description, rates of inputs included."""
        return dict(self._owner)

    def has_read(self, e: Any) -> bool:
        """Test whether an expression was read, so that its symbols are known."""
        return e in self._read

    def know_rates(self, rates: Sequence[int]) -> None:
        """Read derivatives of coordinates as q̇ from now on; all that was read before is forgotten."""
        self.rates = list(rates)
        self._laws_read = dict.fromkeys(self._laws_read)  # read, and to be read again
        self._read = FromSympy(self.graph, self._leaf, self.functions)

    def complete_inputs(self, declared: Sequence[Any] | None) -> list[Any]:
        """Make the derivatives of inputs that the accelerations hold; the inputs in order, without derivatives.

        The order is that of ``declared``, else that of the names, after those that the builder had before.
        """
        inputs = sorted({x for x, _ in self.inputs}, key=self._rank)
        if declared is not None:
            inputs = [x for x in declared if not isinstance(x, sm.Derivative) and x not in self._laws]
        for x in inputs:
            for order in range(max(order for y, order in self.inputs if y == x)):
                self.input(x, order)
        needed = self._builder.derivatives_needed()
        for x in inputs:
            for order in range(1, needed[self.inputs[x, 0]] + 1):
                self.input(x, order)
        return inputs


def functions_of_time(symbols: Any, argument: str) -> list[Any]:
    """Check symbols such as dynamicsymbols makes, each once; ModelError for others."""
    result = list(symbols) if isinstance(symbols, Iterable) else [symbols]
    for x in result:
        if isinstance(x, sm.Derivative):
            raise ModelError(
                f"{argument} holds the derivative {x}: make a symbol of its own with dynamicsymbols, and tie it to "
                "the derivative in kd_eqs"
            )
        if not (isinstance(x, AppliedUndef) and x.args == (vector_internals.time(),)):
            raise ModelError(
                f"{argument} holds {x!r}, which is no function of time: make it with dynamicsymbols({str(x)!r})"
            )
    if len(set(result)) != len(result):
        twice = next(x for x in result if result.count(x) > 1)
        raise ModelError(f"{function_name(twice)} is listed twice in {argument}")
    return result


def function_of_time(name: str) -> Any:
    """The function F(t), of any name F: dynamicsymbols makes several of one with a space or a colon."""
    return sm.Function(name)(vector_internals.time())


class SymbolsByName(dict[str, Any]):
    """Symbols by name, which makes a function of time of a new name when it is asked for.

    SymPy makes a class of each, which takes longer than reading a robot's file.
    """

    def __missing__(self, name: str) -> Any:
        self[name] = symbol = function_of_time(name)
        return symbol


def symbol_name(x: Any) -> str:
    """The name of a Symbol or of a function of time."""
    return str(x) if isinstance(x, sm.Symbol) else function_name(x)


def function_name(x: Any) -> str:
    """The function F of an expression F(t)."""
    return str(x.func.__name__)
