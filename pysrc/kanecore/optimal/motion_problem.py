# SPDX-License-Identifier: BSD-3-Clause
"""Optimal control problem: the arguments of `optimize`, read by names and checked before any work."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sm

from kanecore.binding.evaluator import Evaluator
from kanecore.binding.given_values import finite_number, symbol_name
from kanecore.constraints.consistent_states import feasible_state
from kanecore.errors import unknown_name
from kanecore.export.export_methods import casadi
from kanecore.motion.run_inputs import RunInputs
from kanecore.motion.signals import Signal
from kanecore.optimal.collocation_rules import Mesh, Rule
from kanecore.optimal.equations_of_motion import equations_of_motion
from kanecore.optimal.expressions_by_name import expression, relation

__all__ = ["Condition", "MotionProblem", "read"]

Array = npt.NDArray[np.float64]
Range = tuple[float, float]

_ANY = (-math.inf, math.inf)


@dataclass(frozen=True)
class Condition:
    """low ≤ expression ≤ high, with a label for messages."""

    label: str
    expression: Any
    low: float
    high: float

    @property
    def name(self) -> str:
        """Name of a variable; empty for any other expression."""
        return self.expression.name if self.expression.is_Symbol else ""


Conditions = tuple[Condition, ...]


@dataclass(frozen=True, eq=False)
class MotionProblem:
    """An optimal control problem, with the arguments of `optimize` in plain expressions and ranges.

    Its states y are those of the model, then prescribed inputs of which a rate is read, with all rates but the last;
    its controls v are the other inputs that are sought, or the last rates.  ``reset`` says what states of the phase
    that follows are at its start, in expressions at the end of this one.
    """

    dyn: Evaluator
    duration: Range
    p: Array
    known: dict[str, Any]
    unknown: dict[str, Range]
    bounds: Conditions
    start: Conditions
    end: Conditions
    path: Conditions
    periodic: dict[str, Any]
    reset: dict[str, Any]
    cost: Any
    final_cost: Any
    mesh: Mesh
    tol: float
    refinements: int
    guess: Any
    options: dict[str, Any]

    @property
    def free_duration(self) -> bool:
        return self.duration[0] < self.duration[1]

    @cached_property
    def f(self) -> Any:
        """ẋ = f(t, x, r, p), a function of CasADi."""
        return equations_of_motion(self.dyn, "txrp" if self.unknown or self.free_duration else "xr")

    @cached_property
    def names(self) -> set[str]:
        """Names that occur in expressions."""
        conditions = (*self.bounds, *self.start, *self.end, *self.path)
        formulas = [self.cost, self.final_cost, *self.periodic.values(), *self.reset.values()]
        formulas += [each.expression for each in conditions]
        return {symbol.name for formula in formulas if formula is not None for symbol in formula.free_symbols}

    @property
    def n_multipliers(self) -> int:
        """Number of multipliers, if expressions hold the name of one that is no other name; else 0."""
        dyn = self.dyn
        others = {*dyn.names.x, *dyn.input_names, *dyn.output_names, *dyn.parameter_names, *self.known}
        return dyn.n_constraints if self.names & {*dyn.constraint_names} - others else 0

    @cached_property
    def variables(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the states y and of the controls v."""
        dyn, states, controls = self.dyn, list(self.dyn.names.x), list[str]()
        moves, named = _read_inputs(dyn, self.f), set(self.names)
        if named & {*dyn.output_names}:
            named |= _read_inputs(dyn, casadi(dyn, "outputs"))
        for i, name in enumerate(dyn.input_names):
            if i in dyn.input_rates or name in self.known:
                continue
            chain = [name]
            while (i := dyn.input_rates[i]) >= 0:
                chain.append(dyn.input_names[i])
            while chain and chain[-1] not in moves | named:
                chain.pop()
            if chain and not moves & {*chain}:
                raise ValueError(
                    f"cost or conditions read the input {name!r}, which the equations of motion of {dyn.name!r} never "
                    "read, so that it cannot be found: leave it out, or give it a value by known="
                )
            states += chain[:-1]
            controls += chain[-1:]
        return tuple(states), tuple(controls)

    @property
    def states(self) -> tuple[str, ...]:
        return self.variables[0]

    @property
    def controls(self) -> tuple[str, ...]:
        return self.variables[1]

    def limits(self, conditions: Conditions, names: Iterable[str]) -> Array:
        """Ranges of variables, (n, 2), infinite without a condition."""
        ranges = {condition.name: (condition.low, condition.high) for condition in conditions}
        return np.array([ranges.get(name, _ANY) for name in names]).reshape(-1, 2)

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """Names of what `known_values` returns: all inputs, then further names of expressions."""
        return (*self.dyn.input_names, *(name for name in self.known if name not in self.dyn.input_names))

    def known_values(self, times: Array) -> Array:
        """Inputs and other names that are known, at times; zeros for what is sought: (len(numbers), n)."""
        rates = {self.dyn.input_names[i] for i in self.dyn.input_rates if i >= 0} - {*self.known}
        inputs = {name: self.known.get(name, 0.0) for name in self.dyn.input_names if name not in rates}
        run = RunInputs(self.dyn, inputs, 0.0, max(float(np.max(times)), 1e-300))
        rows = [*run(times, np.zeros((len(times), self.dyn.n_x))).T]
        for name in self.numbers[self.dyn.n_r :]:
            value = self.known[name]
            rows.append(value(times)[:, 0] if isinstance(value, Signal) else np.full(len(times), value))
        return np.array(rows).reshape(len(self.numbers), len(times))

    @cached_property
    def selections(self) -> tuple[Array, ...]:
        """(E, G, D, H) of r = E y + G v + known, and of the rates of states beyond x, D y + H v."""
        names = self.dyn.input_names
        rates = {names[i]: names[j] for i, j in enumerate(self.dyn.input_rates) if j >= 0}
        following = [rates[name] for name in self.states[self.dyn.n_x :]]
        return tuple(
            np.array([[float(name == other) for other in others] for name in rows]).reshape(len(rows), len(others))
            for rows in (names, following)
            for others in (self.states, self.controls)
        )


def read(dyn: Evaluator, arguments: Mapping[str, Any], following: tuple[Evaluator, Any] | None = None) -> MotionProblem:
    """The problem of the arguments of `optimize`; what follows may be a phase of a model, with its reset map."""
    mesh = Mesh(Rule.named(arguments["method"]), _edges(arguments["intervals"]))
    duration = low, high = _range("duration", arguments["duration"])
    if not duration[0] > 0.0:
        raise ValueError(f"duration is {arguments['duration']!r}; it must be above 0")
    unknown = {
        dyn.parameter_names[dyn.names.index("parameter", key)]: _range(f"{key!r} in unknown", value)
        for key, value in _items("unknown", arguments["unknown"])
    }
    values = {} if arguments["parameters"] is None else arguments["parameters"]
    if isinstance(values, Mapping):  # one that is sought needs no value before
        values = {symbol_name(key): value for key, value in values.items()}
        unset = [name for name in unknown if np.isnan(dyn.names.value("parameter", name))]
        values = {name: np.clip(1.0, *unknown[name]) for name in unset} | values
    p = np.asarray(dyn.names.resolved("parameter", values), dtype=np.float64)
    known = _known(dyn, arguments["known"], duration)
    named = dyn.names.x, dyn.input_names, dyn.output_names, dyn.parameter_names, known, "t", dyn.constraint_names
    names = dict.fromkeys(name for some in named for name in some)

    def formula(argument: str, value: Any) -> Any:
        return None if value is None else expression(dyn, value, argument, names)

    def conditions(argument: str, entries: Any) -> Conditions:
        items = _items(argument, entries)
        found = tuple(
            Condition(str(key), formula(argument, key), *_range(f"{key!r} in {argument}", value))
            for key, value in items
        )
        for name in {condition.name for condition in found} - {""}:
            if sum(condition.name == name for condition in found) > 1:
                raise ValueError(f"{argument} gives {name!r} twice")
        return found

    path = arguments["path"]
    if path is None or isinstance(path, Mapping):
        rows = conditions("path", path)
    else:
        listed = path if isinstance(path, list | tuple) else [path]
        rows = tuple(Condition(str(each), *relation(dyn, each, "path", names)) for each in listed)
    start, end = (conditions(name, _by_name(dyn, name, arguments[name])) for name in ("start", "end"))
    cost, final_cost = (formula(name, arguments[name]) for name in ("cost", "final_cost"))
    if cost is None and final_cost is not None and final_cost.free_symbols == {sm.Symbol("t")} and low == high:
        raise ValueError(f"final_cost is {final_cost}, and duration is {low:g}: give it a range, (low, high)")
    tol, refinements, options = finite_number("tol", arguments["tol"]), arguments["refinements"], arguments["options"]
    conditioned = conditions("bounds", arguments["bounds"]), start, end, rows
    periodic = _by_state(dyn, "periodic", arguments["periodic"], formula)
    reset = dict[str, Any]()
    if following is not None:
        after, given = following
        same = {name: name for name in after.names.x if name in dyn.names.x}
        given = {symbol_name(key): value for key, value in _items("reset", given)}
        reset = _by_state(after, "reset", {k: v for k, v in (same | given).items() if v is not None}, formula)
    sought = periodic, reset, cost, final_cost
    asked = tol, refinements, arguments["guess"], dict(options or {})
    problem = MotionProblem(dyn, duration, p, known, unknown, *conditioned, *sought, mesh, *asked)
    _check_ends(problem)
    return problem


def _items(argument: str, entries: Any) -> Iterable[tuple[Any, Any]]:
    if entries is not None and not isinstance(entries, Mapping):
        raise TypeError(f"{argument} is {entries!r}; it must be a mapping by name")
    return () if entries is None else entries.items()


def _range(label: str, value: Any) -> Range:
    """(low, high) of a number, or of two, of which either may be None: no limit."""
    sides = tuple(value) if isinstance(value, tuple | list | np.ndarray) and np.ndim(value) else (value, value)
    if len(sides) != 2:
        raise ValueError(f"{label} is {value!r}; it must be a number, or (low, high)")
    low, high = (
        limit if side is None or side == limit else finite_number(label, side)
        for limit, side in zip(_ANY, sides, strict=True)
    )
    if low > high:
        raise ValueError(f"{label} has the empty range ({low:g}, {high:g}): the lower limit comes first")
    return low, high


def _edges(intervals: Any) -> Array:
    edges = np.asarray(intervals, dtype=np.float64)
    if edges.ndim == 0 and edges >= 1 and edges == int(edges):
        return np.linspace(0.0, 1.0, int(edges) + 1)
    if edges.ndim != 1 or len(edges) < 2 or edges[0] != 0.0 or edges[-1] != 1.0 or not (np.diff(edges) > 0.0).all():
        raise ValueError(
            f"intervals is {intervals!r}; it must be a number of intervals, or their ends, increasing from 0.0 to 1.0"
        )
    return edges


def _known(dyn: Evaluator, known: Any, duration: Range) -> dict[str, Any]:
    values = {symbol_name(key): value for key, value in _items("known", known)}
    for name, value in values.items():
        if name in (*dyn.names.x, *dyn.parameter_names, *dyn.output_names):
            raise ValueError(f"known gives {name!r}, which is no input: write start=, parameters= or end= for it")
        if not isinstance(value, Signal):
            values[name] = finite_number(f"known {name!r}", value)
        elif duration[0] < duration[1]:
            raise ValueError(f"known gives {name!r} as a signal of time: this needs a duration that is a number")
        else:
            value.require(0.0, duration[1], f"known {name!r}: ")
    return values


def _read_inputs(dyn: Evaluator, function: Any) -> set[str]:
    """Names of the inputs that a function of t, x, r, p reads."""
    begins = function.jac_sparsity(0, 2).colind()
    return {name for i, name in enumerate(dyn.input_names) if begins[i] < begins[i + 1]}


def _by_name(dyn: Evaluator, argument: str, state: Any) -> Any:
    """A state as a mapping."""
    if state is None or isinstance(state, Mapping):
        return state
    array = np.asarray(state, dtype=np.float64)
    if array.shape != (dyn.n_x,):
        raise ValueError(f"{argument} has shape {array.shape}; it must be a mapping by name, or a state, ({dyn.n_x},)")
    return dict(zip(dyn.names.x, array.tolist(), strict=True))


def _check_ends(problem: MotionProblem) -> None:
    """Refuse ends beyond bounds, and a whole start off the constraints."""
    dyn = problem.dyn
    for argument, conditions in (("start", problem.start), ("end", problem.end)):
        for end in conditions:
            ((low, high),) = problem.limits(problem.bounds, [end.name])
            if end.low > high or end.high < low:
                asked = f"{end.low:g}" if end.low == end.high else f"({end.low:g}, {end.high:g})"
                raise ValueError(
                    f"{argument} puts {end.label!r} at {asked}, and bounds keep it within ({low:g}, {high:g})"
                )
    low, high = problem.limits(problem.start, dyn.names.x).T
    if (low == high).all():
        r = problem.known_values(np.zeros(1))[: dyn.n_r, 0]
        inputs = problem.limits(problem.start, dyn.input_names)[:, 0]
        feasible_state(dyn, 0.0, low, np.where(np.isfinite(inputs), inputs, r), problem.p, "start")


def _by_state(dyn: Evaluator, argument: str, entries: Any, formula: Any) -> dict[str, Any]:
    """Expressions by names of states; a list of names stands for themselves, and True for all."""
    if isinstance(entries, str):
        raise TypeError(f"{argument} is {entries!r}; it must be True, or names of states: [{entries!r}]")
    entries = dyn.names.x if entries is True else entries or ()
    pairs = entries.items() if isinstance(entries, Mapping) else ((key, key) for key in entries)
    found = {symbol_name(key): formula(argument, value) for key, value in pairs}
    for name in found:
        if name not in dyn.names.x:
            raise unknown_name(f"state of {dyn.name!r} is called", name, dyn.names.x)
    return found
