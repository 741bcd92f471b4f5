# SPDX-License-Identifier: BSD-3-Clause
"""Variables of a mechanism: coordinates, speeds, states, parameters and inputs, each with its node; names are unique.

The derivatives of inputs are inputs too: accelerations hold the second derivative of a prescribed motion.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kanecore.describe.checks import check_constant, check_count, check_name, check_nodes, check_rate
from kanecore.errors import ModelError
from kanecore.functions.c_functions import External
from kanecore.graph.expression_graph import (
    ACCELERATION,
    COORDINATE,
    INPUT,
    PARAMETER,
    SPEED,
    STATE,
    TIME,
    Graph,
    Number,
    Op,
)

__all__ = ["InputRates", "Variables", "input_name"]


@dataclass
class InputRates:
    """Inputs as chains, each link the derivative of the one before.

    Attributes
    ----------
    names : dict of node to name
        In the order in which the inputs were made.
    derivative : dict of node to node
        Derivatives of inputs that are inputs too.
    """

    names: dict[int, str] = field(default_factory=dict)
    derivative: dict[int, int] = field(default_factory=dict)

    def bases(self) -> list[int]:
        """Inputs that are no derivatives."""
        rates = set(self.derivative.values())
        return [i for i in self.names if i not in rates]

    def chain(self, node: int) -> list[int]:
        """An input and its derivatives."""
        nodes = [node]
        while nodes[-1] in self.derivative:
            nodes.append(self.derivative[nodes[-1]])
        return nodes

    def orders(self, g: Graph, uses: Iterable[tuple[Iterable[int], int]]) -> dict[int, int]:
        """Number of derivatives that are needed of each base in ``uses``, itself or as a derivative.

        Parameters
        ----------
        uses : iterable of (nodes, number)
            How often these nodes are differentiated.
        """
        place = {i: (base, order) for base in self.bases() for order, i in enumerate(self.chain(base))}
        needed: dict[int, int] = {}
        for nodes, number in uses:
            for i in g.below(nodes):
                if i in place:
                    base, order = place[i]
                    needed[base] = max(needed.get(base, 0), order + number)
        return needed


def input_name(base: str, order: int) -> str:
    """Names of an input and its derivatives: F, F_d, F_dd, ..."""
    return base + ("_" + "d" * order if order else "")


class Variables:
    """Coordinates, speeds, states, parameters and inputs on a graph of their own.

    Attributes
    ----------
    graph : Graph
        Where all scalars are made.
    time : int
        The node of t.
    coordinates, speeds, auxiliary_speeds, states, parameters : dict of node to name
        In the order in which they were made.
    dependent : set of node
        Dependent coordinates and speeds.
    rates, state_rates : dict of node to node
        Derivatives of coordinates and of states.
    inputs : InputRates
    multiplier_nodes : set of node
        Multipliers and components of joints' reactions that loads or outputs may hold.
    units : list of four nodes
        Unit quaternions.
    guesses : dict of node to float
    functions : dict of name to External
        Functions in C.
    """

    def __init__(self) -> None:
        self.graph = Graph()
        self.time = self.graph.symbol(("t",), TIME)
        self._taken: set[str] = set()  # names
        self.coordinates: dict[int, str] = {}
        self.speeds: dict[int, str] = {}
        self.auxiliary_speeds: dict[int, str] = {}
        self.parameters: dict[int, str] = {}
        self.inputs = InputRates()
        self.multiplier_nodes: set[int] = set()
        self.dependent: set[int] = set()
        self.rates: dict[int, int] = {}  # of coordinates
        self.states: dict[int, str] = {}
        self.state_rates: dict[int, int] = {}
        self.units: list[tuple[int, int, int, int]] = []
        self.guesses: dict[int, float] = {}
        self.functions: dict[str, External] = {}

    def _take(self, name: str) -> None:
        check_name(name)
        if name in self._taken:
            raise ModelError(f"two different symbols are named {name!r}: rename one, or make it once and use it twice")
        self._taken.add(name)

    def _symbol(self, letter: str, name: str, depends: int) -> int:
        self._take(name)
        return self.graph.symbol((letter, name), depends)

    def _state(self, listed: dict[int, str], letter: str, name: str, dependent: bool) -> int:
        node = self._symbol(letter, name, COORDINATE if letter == "q" else SPEED)
        if not dependent and not self.dependent.isdisjoint(listed):
            raise ModelError(f"{name} is independent, and was added after dependent ones: add those last")
        listed[node] = name
        if dependent:
            self.dependent.add(node)
        return node

    def coordinate(self, name: str, *, dependent: bool = False) -> int:
        """Add a generalized coordinate and return its node; dependent ones come last."""
        return self._state(self.coordinates, "q", name, dependent)

    def speed(self, name: str, *, dependent: bool = False) -> int:
        """Add a generalized speed and return its node; dependent ones come last."""
        return self._state(self.speeds, "u", name, dependent)

    def state(self, name: str) -> int:
        """Add a first-order state z, whose derivative is any function of the motion; return its node."""
        node = self._symbol("z", name, STATE)
        self.states[node] = name
        return node

    def acceleration(self, speed: int) -> int:
        """The node of the derivative of a speed."""
        check_nodes(self.graph, [speed], "acceleration()")
        if speed not in self.speeds:
            raise ModelError(f"{self._written(speed)} is no generalized speed, and has no derivative")
        return self.graph.symbol(("a", self.speeds[speed]), ACCELERATION)

    def auxiliary(self, name: str) -> int:
        """Add an auxiliary speed, which brings a reaction into evidence and is zero itself; return its node."""
        node = self._symbol("u", name, SPEED)
        self.auxiliary_speeds[node] = name
        return node

    def constant(self, value: Number) -> int:
        """The node of a number."""
        check_constant(value)
        return self.graph.constant(value)

    def parameter(self, name: str) -> int:
        """Add a named constant, whose value is set later; return its node."""
        node = self._symbol("p", name, PARAMETER)
        self.parameters[node] = name
        return node

    def input(self, name: str) -> int:
        """Add a function of time: a force, or a prescribed motion; return its node."""
        node = self._symbol("r", name, INPUT)
        self.inputs.names[node] = name
        return node

    def external(self, name: str, highest: int) -> External:
        """Add a function in C, with derivatives up to some order, that a compiled model calls by its address."""
        self._take(name)
        self.functions[name] = External(highest)
        return self.functions[name]

    def multiplier(self, row: int | str) -> int:
        """The node of λ of a row of G, by number or name, for loads and outputs."""
        if not isinstance(row, str):
            check_count(row, "the row of a multiplier")
        node = self.graph.symbol(("λ", row), ACCELERATION)
        self.multiplier_nodes.add(node)
        return node

    def reaction(self, joint: str, component: int) -> int:
        """The node of a component of a joint's reaction, force then torque in inertial axes, for loads and outputs."""
        node = self.graph.symbol(("R", joint, component), ACCELERATION)
        self.multiplier_nodes.add(node)
        return node

    def rate(self, x: int, derivative: int) -> None:
        """Set the derivative of a coordinate, in q, u and t, or of a state; or the input that is that of an input."""
        check_nodes(self.graph, [x, derivative], "rate()")
        if x in self.coordinates:
            name = self.coordinates[x]
            if x in self.rates:
                raise ModelError(f"coordinate {name} has two rates: give it one")
            check_rate(self.graph, derivative, f"the rate of coordinate {name}")
            self.rates[x] = derivative
        elif x in self.states:
            if x in self.state_rates:
                raise ModelError(f"state {self.states[x]} has two rates: give it one")
            self.state_rates[x] = derivative
        elif x in self.inputs.names and derivative in self.inputs.names:
            if x in self.inputs.derivative or x in self.inputs.chain(derivative):
                raise ModelError(f"input {self.inputs.names[x]} has two rates, or is its own: give it one")
            self.inputs.derivative[x] = derivative
        else:
            raise ModelError(
                f"{self._written(x)} has the rate {self._written(derivative)}: a rate is that of a coordinate "
                "or a state, or an input that is that of an input"
            )

    def named_nodes(self) -> dict[str, int]:
        """Nodes of all coordinates, speeds, states, parameters and inputs, and of t, by name."""
        of = (self.coordinates, self.speeds, self.states, self.parameters, self.inputs.names)
        return {"t": self.time} | {name: node for names in of for node, name in names.items()}

    def rate_of(self, coordinate: int) -> int:
        """The node of the derivative of a coordinate; ModelError for a node that is no coordinate here."""
        if coordinate not in self.rates:
            name = self._written(coordinate)
            raise ModelError(f"{name} is no coordinate: its derivative stands in no constraint on speeds")
        return self.rates[coordinate]

    def _written(self, node: int) -> str:
        """A node in a message: the name of a symbol, else its operation."""
        op, *operands = self.graph.nodes[node]
        if op is not Op.SYM:
            return f"an expression ({op})"
        key = operands[0]
        return str(key[-1] if isinstance(key, tuple) else key)

    def guess(self, x: int, value: Any) -> None:
        """Set the value of a coordinate or speed at which the search for a consistent state starts."""
        check_nodes(self.graph, [x], "guess()")
        name = {**self.coordinates, **self.speeds}.get(x)
        if name is None:
            raise ModelError(f"guess holds {self._written(x)}, which is neither a coordinate nor a speed")
        if x in self.guesses:
            raise ModelError(f"guess holds {name} twice")
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ModelError(f"guess of {name} is {value!r}, which is no number") from None
        if not math.isfinite(number):
            raise ModelError(f"guess of {name} is {value!r}, which is not finite")
        self.guesses[x] = number

    def unit(self, e0: int, e1: int, e2: int, e3: int) -> None:
        """Coordinates that are a unit quaternion, normalised while integrating.

        Checks by numbers are made at random states: say it before frames are turned by them.
        """
        group = (e0, e1, e2, e3)
        check_nodes(self.graph, group, "unit()")
        for x in group:
            if x not in self.coordinates:
                raise ModelError(f"{self._written(x)} in a unit quaternion is no coordinate")
            if group.count(x) > 1 or any(x in other for other in self.units):
                raise ModelError(f"{self.coordinates[x]} belongs to two quaternions")
        self.units.append(group)
        if group not in self.graph.unit:
            self.graph.unit.append(group)

    def list_in_order(self, parameters: Sequence[int], inputs: Sequence[int]) -> None:
        """Set the order of all parameters, and of all inputs, if it differs from that of their making.

        Derivatives of inputs follow them in any case, and need not be listed.
        """
        check_nodes(self.graph, [*parameters, *inputs], "list_in_order()")
        names = self.inputs.names
        listed = [*inputs, *(i for i in names if i not in inputs)]
        for items, order, what in ((self.parameters, parameters, "parameters"), (names, listed, "inputs")):
            if sorted(items) != sorted(order):
                raise ModelError(f"the order of the {what} must list each of them once, and nothing else")
        self.parameters = {i: self.parameters[i] for i in parameters}
        self.inputs.names = {i: names[i] for i in listed}
