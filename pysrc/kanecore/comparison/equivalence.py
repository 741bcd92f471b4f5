# SPDX-License-Identifier: BSD-3-Clause
"""Equivalence of two models, `kanecore.equivalent`: one mechanism in different coordinates and speeds."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import sympy as sm

from kanecore._compile import compile
from kanecore.audit.audit_states import Places, States, random_states, whole_number
from kanecore.audit.force_audit import inertia_works, potential_works
from kanecore.audit.mechanics_as_written import Bodies
from kanecore.audit.verdicts import BY_DIFFERENCES, BY_FORMULA, FAILS, NotApplicable, Row, Verdicts, found, judged
from kanecore.compiled_model import CompiledModel
from kanecore.constraints.constraint_values import Constraints
from kanecore.errors import ModelError
from kanecore.model import Model
from kanecore.run.call_arguments import real_numbers
from kanecore.run.numerical_derivatives import Slope

__all__ = ["Equivalence", "equivalent"]

Array = npt.NDArray[np.float64]
Map: TypeAlias = Mapping[Any, Any] | Callable[[Array], Any]

_SAME = 1e-6  # relative difference of equal works of a load or body in both models


@dataclass(frozen=True, repr=False)
class Equivalence(Verdicts):
    """Result of `kanecore.equivalent` for the models ``names``, at states of the first; ``str()`` is a table."""

    names: tuple[str, str]

    @property
    def _title(self) -> str:
        verdict = "equivalent" if self.passed else "NOT EQUIVALENT"
        return f"{self.names[0]} and {self.names[1]} at {len(self.t)} random states: {verdict}"


def equivalent(
    a: Model | CompiledModel,
    b: Model | CompiledModel,
    map: Map | None = None,
    *,
    parameters: Mapping[Any, Any] | None = None,
    n: int = 30,
    x0: Any = None,
    seed: int = 0,
) -> Equivalence:
    """Compare two derivations of the same mechanism at n random states of the first.

    The mapped motion of a must be the motion of b: u̇, kinetic energy, the virtual powers of F_r and of F*_r along
    common virtual motions.  If these differ, loads and bodies are compared one by one, and the result names the
    different ones.

    Parameters
    ----------
    a, b : Model or CompiledModel
        A Model is compiled; parameters that are not given take values near 1.
    map : mapping or callable, optional
        Coordinates and speeds of b in terms of a's: {name or symbol of b: SymPy expression in a's symbols, or number},
        or a function of a state (n_x,) of a.  Names of b that a has as well may be left out; other speeds follow from
        the coordinates, and redundant speeds from the constraints.  Inputs of b may be given here as well.
    parameters : mapping, optional
        Values of b's parameters: {name or symbol: number, or name or symbol of a parameter of a}. Parameters with the
        same name are shared.
    n : int
        Number of states.
    x0 : optional
        A state of a around which states are drawn, as for `CompiledModel.audit`.  A map that is valid in a region only,
        such as r > 0 for polar coordinates, needs a state well inside the region.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    Equivalence

    Raises
    ------
    ModelError
        A coordinate of b, or an input, is neither in the map nor in a; b's speeds do not follow from its coordinates;
        an expression has other symbols than a's; the map gives a state that is not finite.
    TypeError, KeyError, ValueError
        Arguments of another kind, names that b does not have, parameters without a value.
    """
    for argument in (a, b):
        if not isinstance(argument, (Model, CompiledModel)):
            raise TypeError(f"equivalent takes Models and CompiledModels, not a {type(argument).__name__}")
    n = whole_number(n)
    for model in (a, b):
        _refuse_states(model)
    first = _with_values(a)
    second = _with_values(b)
    second = _sharing(first, second, parameters or {})
    pair = _Pair(random_states(first, n, x0, seed), second, _Mapping(first, second, map))
    states, rows = pair.ours, found(_CHECKS, pair)
    return Equivalence(tuple(rows), states.t, states.x, states.r, (first.name, second.name))


def _refuse_states(model: Model | CompiledModel) -> None:
    if model.n_z:
        symbols = model.states if isinstance(model, Model) else model.state_names
        raise ModelError(
            f"equivalent compares motions in q and u only, and {model.name!r} has the states "
            f"{', '.join([str(z) for z in symbols])}: compare models in which these are inputs, inputs=[...]"
        )


# ------------------------------------------------------------------------------------------------------ parameters


def _with_values(model: Model | CompiledModel) -> CompiledModel:
    """The compiled model; a Model is compiled with values near 1."""
    if isinstance(model, CompiledModel):
        return model
    dyn = compile(model)
    rng = random.Random(0)
    dyn.parameters.update({name: rng.uniform(0.5, 1.5) for name in dyn.parameter_names})
    return dyn


def _sharing(first: CompiledModel, second: CompiledModel, parameters: Mapping[Any, Any]) -> CompiledModel:
    """Second model with the parameters of the first; a copy if the user's own model would change."""
    if not isinstance(parameters, Mapping):
        raise TypeError(
            f"parameters is {parameters!r}; it must be a mapping of b's parameters to numbers or a's parameters"
        )
    values = dict(second.parameters) | {x: v for x, v in first.parameters.items() if x in second.parameter_names}
    for key, value in parameters.items():
        name = second.parameter_names[second.names.index("parameter", key)]
        values[name] = first.parameters[str(value)] if str(value) in first.parameter_names else float(value)
    if values == dict(second.parameters):
        return second
    other = copy.copy(second)
    other.parameters.update({name: value for name, value in values.items() if value == value})
    return other


# -------------------------------------------------------------------------------------------------------- the map


class _Mapping:
    """Map from states and inputs of a to those of b."""

    def __init__(self, first: CompiledModel, second: CompiledModel, mapping: Map | None) -> None:
        self.first, self.second = first, second
        self._whole = mapping if callable(mapping) else None
        explicit = {} if callable(mapping) else self._explicit({} if mapping is None else mapping)
        self._functions = {} if callable(mapping) else self._read(explicit)
        coordinates = [] if self._whole else [x for x in second.coordinate_names if x not in self._functions]
        for kind, names in (("coordinate", coordinates), ("input", self._missing_inputs())):
            if names:
                raise ModelError(
                    f"{kind} {names[0]} of {second.name!r} is not in the map, and {first.name!r} has no such name: "
                    f"add {{{names[0]!r}: ...}}, in terms of {', '.join(first.coordinate_names)}"
                )
        self.has_speeds = bool(self._whole) or all(x in explicit for x in second.speed_names)
        self.may_share_speeds = all(x in self._functions for x in second.speed_names)

    def _missing_inputs(self) -> list[str]:
        shared = self.first.input_names
        return [x for x in self.second.input_names if x not in self._functions and x not in shared]

    def _explicit(self, mapping: Mapping[Any, Any]) -> dict[str, Any]:
        """Expressions by the names of b."""
        if not isinstance(mapping, Mapping):
            raise TypeError(f"map is {mapping!r}; it must be a mapping of b's coordinates and speeds, or a function")
        second = self.second
        states = second.names.x
        expressions: dict[str, Any] = {}
        for key, value in mapping.items():
            what, i = second.names.found(("state", "input"), key)
            name = (states if what == "state" else second.input_names)[i]
            if name in expressions:
                raise ValueError(f"map gives {name!r} twice, the second time as {key!r}")
            expressions[name] = value
        return expressions

    def _read(self, explicit: Mapping[str, Any]) -> dict[str, Callable[[list[Array]], Any]]:
        """All coordinates, speeds and inputs, from expressions in a's symbols or shared with a."""
        expressions, own = dict(explicit), {*self.first.names.x}
        for name in self.second.names.x:
            if name not in expressions and name in own:
                expressions[name] = sm.Function(name)(sm.Symbol("t"))
        return {name: self._function(name, value) for name, value in expressions.items()}

    def _function(self, name: str, value: Any) -> Callable[[list[Array]], Any]:
        """An expression as a function of t, the state, the inputs and the parameters of a."""
        first = self.first
        names = ["t", *first.names.x, *first.input_names, *first.parameter_names]
        dummies = {each: sm.Dummy() for each in names}
        expression = sm.sympify(value)
        if expression.has(sm.Derivative):
            raise ModelError(f"the map's {name} has a derivative: write it in speeds")
        atoms = [*expression.atoms(sm.core.function.AppliedUndef), *expression.free_symbols]
        found = {atom: str(atom).removesuffix("(t)") for atom in atoms}
        if strange := [text for text in found.values() if text not in dummies]:
            raise ModelError(f"the map's {name} has {strange[0]}, which is no symbol of {first.name!r}")
        functions = {atom: dummies[text] for atom, text in found.items() if not atom.is_Symbol}
        symbols = {atom: dummies[text] for atom, text in found.items() if atom.is_Symbol}
        return sm.lambdify(list(dummies.values()), expression.xreplace(functions).xreplace(symbols), "numpy")  # type: ignore[no-any-return]

    def _numbers(self, t: Array, x: Array, r: Array) -> list[Any]:
        columns = [np.asarray(t), *np.moveaxis(x, -1, 0), *np.moveaxis(r, -1, 0)]
        return [*columns, *self.first.parameters.values()]

    def _columns(self, names: Sequence[str], t: Array, x: Array, r: Array) -> Array:
        numbers, lead = self._numbers(t, x, r), np.broadcast_shapes(np.shape(t), x.shape[:-1], r.shape[:-1])
        with np.errstate(all="ignore"):
            parts = [np.broadcast_to(self._functions[name](*numbers), lead) for name in names]
        return np.stack(parts, axis=-1) if parts else np.zeros((*lead, 0))

    def _states(self, x: Array) -> Array:
        assert self._whole is not None
        flat = [real_numbers("what map returned", self._whole(state)) for state in x.reshape(-1, x.shape[-1])]
        if any(state.shape != (self.second.n_x,) for state in flat):
            raise ValueError(f"map returns an array of shape {flat[0].shape}; a state of b is ({self.second.n_x},)")
        return np.array(flat).reshape(*x.shape[:-1], self.second.n_x)

    def coordinates(self, t: Array, x: Array, r: Array) -> Array:
        if self._whole:
            return self._states(x)[..., : self.second.n_q]
        return self._columns(self.second.coordinate_names, t, x, r)

    def speeds(self, t: Array, x: Array, r: Array) -> Array:
        """Speeds as the map gives them."""
        if self._whole:
            return self._states(x)[..., self.second.names.speeds]
        return self._columns(self.second.speed_names, t, x, r)

    def inputs(self, t: Array, x: Array, r: Array) -> Array:
        lead = np.broadcast_shapes(np.shape(t), x.shape[:-1], r.shape[:-1])
        numbers, columns = self._numbers(t, x, r), []
        for name in self.second.input_names:
            if name in self._functions:
                columns.append(np.broadcast_to(self._functions[name](*numbers), lead))
            else:
                columns.append(np.broadcast_to(r[..., self.first.input_names.index(name)], lead))
        return np.stack(columns, axis=-1) if columns else np.zeros((*lead, 0))


class _Pair:
    """States of both models, with common motions and virtual motions."""

    def __init__(self, ours: States, dyn: CompiledModel, mapping: _Mapping) -> None:
        self.ours, self.mapping, self._dyn = ours, mapping, dyn
        self.theirs = self._mapped()

    def rate(self, udot: Array, t: Array | None = None, x: Array | None = None, r: Array | None = None) -> Array:
        """q̇ of b by differences of the map, along the motion of a with some u̇."""
        motion = np.concatenate([self.ours.qdot, udot], axis=-1)
        return self.ours.along(self.mapping.coordinates, motion, 1.0, self.ours.input_rates).value

    def speeds(self, t: Array, x: Array, r: Array) -> Array:
        """Speeds of b, from the map or from the rates of its coordinates."""
        mapping, dyn = self.mapping, self._dyn
        if mapping.has_speeds:
            return mapping.speeds(t, x, r)
        lead = np.broadcast_shapes(np.shape(t), x.shape[:-1], r.shape[:-1])
        t, x, r = (np.broadcast_to(part, (*lead, *part.shape[part.ndim - k :])) for part, k in ((t, 0), (x, 1), (r, 1)))
        here = Places(self.ours.dyn, t, x, r, self.ours.sizes)
        motion = np.concatenate([here.qdot, np.zeros_like(here.u)], axis=-1)
        moved = here.along(mapping.coordinates, motion, 1.0, here.input_rates).value
        there = np.zeros((*lead, dyn.n_x))
        there[..., : dyn.n_q] = mapping.coordinates(t, x, r)
        at = Constraints(dyn, t, there, mapping.inputs(t, x, r))
        matrix, offset = at.rates
        if dyn.n_velocity and dyn.n_u > dyn.n_q:  # redundant speeds follow from q̇ or from the constraints
            matrix = np.concatenate([matrix, at.velocity_slopes], axis=-2)
            offset = np.concatenate([offset, at.velocity_residual], axis=-1)
            moved = np.concatenate([moved, np.zeros_like(at.velocity_residual)], axis=-1)
        if np.linalg.matrix_rank(matrix.reshape(-1, *matrix.shape[-2:])[0]) < dyn.n_u:
            if mapping.may_share_speeds:
                return mapping.speeds(t, x, r)
            raise ModelError(
                f"the speeds of {dyn.name!r} do not follow from its coordinates: add {', '.join(dyn.speed_names)} to "
                "the map"
            )
        return np.asarray(np.einsum("...ij,...j->...i", np.linalg.pinv(matrix), moved - offset))

    def _mapped(self) -> States:
        ours, mapping, dyn = self.ours, self.mapping, self._dyn
        arguments = (ours.t, ours.x, ours.r)
        coordinates = self._finite(dyn.coordinate_names, mapping.coordinates(*arguments))
        speeds = self._finite(dyn.speed_names, self.speeds(*arguments))
        x = np.concatenate([coordinates, speeds], axis=-1)
        zero = np.zeros_like(ours.virtual)
        moved = np.concatenate([np.zeros((*zero.shape[:-1], ours.dyn.n_q)), ours.virtual], axis=-1)
        virtual = ours.along(self.speeds, moved, 0.0, np.zeros_like(ours.r)).value
        sizes = np.maximum(np.max(np.abs(x), axis=0), 1e-3)
        udot, none = self.accelerations(ours.udot).value, np.zeros((len(x), dyn.n_u, 0))
        return States(dyn, ours.t, x, mapping.inputs(*arguments), sizes, udot, virtual, virtual, 0, none)

    def _finite(self, names: Sequence[str], values: Array) -> Array:
        """Return the map's values at the states; raise ModelError if one is not finite."""
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            state, i = bad[0]
            raise ModelError(
                f"the map's {names[i]} is {values[state, i]} at t = {self.ours.t[state]:g}, "
                f"x = {self.ours.x[state].tolist()!r}: give as x0 a state around which the map is valid"
            )
        return values

    def accelerations(self, udot: Array) -> Slope:
        """u̇ of b by differences of the map, along the motion of a with some u̇."""
        motion = np.concatenate([self.ours.qdot, udot], axis=-1)
        return self.ours.along(self.speeds, motion, 1.0, self.ours.input_rates)

    @cached_property
    def bodies(self) -> tuple[Bodies, Bodies]:
        return Bodies(self.ours), Bodies(self.theirs)


# ------------------------------------------------------------------------------------------------------------ rows


def _rates(name: str, pair: _Pair) -> Row:
    expected, found = pair.rate(np.zeros_like(pair.ours.u)), pair.theirs.qdot
    size = np.maximum(np.abs(expected), np.abs(found))
    terms = size + 1e-6 * np.max(size, axis=0)
    labels = list(pair.theirs.dyn.coordinate_names)
    reason = "it does not move as the speeds of b say: does the map give other speeds?"
    return judged(name, found - expected, terms, BY_DIFFERENCES, labels=labels, reason=reason)


def _constraints(name: str, pair: _Pair) -> Row:
    dyn, at = pair.theirs.dyn, pair.theirs.at
    if not (dyn.n_configuration or dyn.n_velocity):
        raise NotApplicable("b has no constraints on coordinates or speeds")
    parts = [at.configuration_residual, at.velocity_residual]
    labels = [*dyn.configuration_names, *dyn.constraint_names[: dyn.n_velocity]]
    terms = at.term_sizes + 1e-3 * np.max(at.term_sizes, axis=0)
    if dyn.n_velocity:  # if a row sets one speed to zero, its terms are zero as well
        terms[..., dyn.n_configuration :] += 1e-3 * np.abs(at.velocity_slopes) @ _alike(pair, pair.theirs.u)
    return judged(name, np.concatenate(parts, axis=-1), terms, BY_DIFFERENCES, labels=labels, reason="it is violated")


def _accelerations(name: str, pair: _Pair) -> Row:
    slope = pair.accelerations(pair.ours.call("udot"))
    expected, found = slope.value, pair.theirs.call("udot")
    size = np.maximum(np.abs(expected), np.abs(found))
    terms = size + 1e-3 * np.maximum(np.max(size, axis=0), _alike(pair, size))
    labels = [f"the rate of {speed}" for speed in pair.theirs.dyn.speed_names]
    reason = "it differs from the motion of a"
    gaps = slope.uncertainty  # without accelerations all numbers are rounding errors
    return judged(name, found - expected, terms, BY_DIFFERENCES, uncertainty=gaps, labels=labels, reason=reason)


def _alike(pair: _Pair, values: Array) -> Array:
    """Size (n_u,) of each speed of b, or of its rate, with the same energy as the largest one."""
    units = pair.theirs.at.speed_units.reshape(-1, pair.theirs.dyn.n_u).max(axis=0)
    units = np.where(np.isfinite(units), units, 0.0)
    return np.asarray(units * np.max(np.abs(values) / np.where(units > 0.0, units, np.inf), initial=0.0))


def _kinetic(name: str, pair: _Pair) -> Row:
    ours, theirs = (states.call("kinetic_energy") for states in (pair.ours, pair.theirs))
    reason = _bodies_that_differ(pair, [_energies(b) for b in pair.bodies], "energy")
    return judged(name, ours - theirs, np.abs(ours) + np.abs(theirs), BY_DIFFERENCES, reason=reason)


def _energies(b: Bodies) -> Array:
    """T of each body, (1, n, n_bodies)."""
    raw, omega = b.momenta(), b.of_frames(b.omega)
    both = np.sum(b.velocity[:, b.point] * raw[..., :3], axis=-1) + np.sum(omega * raw[..., 3:], axis=-1)
    return np.asarray(0.5 * both)[np.newaxis]


def _virtual(states: States, kernel: str, *udot: Array) -> Array:
    return np.asarray(np.einsum("nr,knr->kn", states.call(kernel, *udot), states.virtual))


def _powers(name: str, ours: Array, theirs: Array, terms: Array, reason: str) -> Row:
    return judged(name, (theirs - ours).T, terms.T, BY_DIFFERENCES, reason=reason)


def _active(name: str, pair: _Pair) -> Row:
    works, names = zip(*(_load_works(b) for b in pair.bodies), strict=True)
    powers = [_virtual(states, "generalized_active_forces") for states in (pair.ours, pair.theirs)]
    terms = sum(np.sum(np.abs(part), axis=-1) for part in works) + np.abs(powers[0])
    if not terms.any():
        raise NotApplicable("there are no loads")
    reason = _that_differ(works, names, "work")
    return _powers(name, powers[0], powers[1], np.asarray(terms), reason)


def _load_works(b: Bodies) -> tuple[Array, list[str]]:
    works, names = b.virtual_works(b.load_vectors()), list(b.load_names)
    if b.dyn.n_potentials:
        works = np.concatenate([works, potential_works(b).value], axis=-1)
        names += [f"potential {i}" for i in range(b.dyn.n_potentials)]
    return works, names


def _inertial(name: str, pair: _Pair) -> Row:
    works = []
    for b in pair.bodies:
        parts, count = inertia_works(b)[0], len(b.point)
        works.append(np.sum(parts[..., : 3 * count].reshape(*parts.shape[:-1], 3, count), axis=-2))
    powers = [_virtual(s, "generalized_inertia_forces", s.udot) for s in (pair.ours, pair.theirs)]
    terms = sum(np.sum(np.abs(part), axis=-1) for part in works) + np.abs(powers[0])
    reason = _bodies_that_differ(pair, works, "work of the inertia forces")
    return _powers(name, powers[0], powers[1], np.asarray(terms), reason)


def _bodies_that_differ(pair: _Pair, works: Sequence[Array], quantity: str) -> str:
    return _that_differ(works, tuple(b.body_names for b in pair.bodies), quantity)


def _that_differ(works: Sequence[Array], names: Sequence[Sequence[str]], quantity: str) -> str:
    """Phrase that names loads or bodies of a without an equal in b, and the reverse; (..., n_works) each.

    Equal works are matched, first works with the same name; among the rest, works with the same name are compared.
    """
    flat = [part.reshape(math.prod(part.shape[:-1]), part.shape[-1]) for part in works]
    ours, theirs = ([i for i in range(part.shape[1]) if np.any(part[:, i])] for part in flat)
    for i in list(ours):
        same = [j for j in theirs if _are_equal(flat[0][:, i], flat[1][:, j])]
        if same:
            theirs.remove(next((j for j in same if names[0][i] == names[1][j]), same[0]))
            ours.remove(i)
    texts = []
    for i in list(ours):
        alike = [j for j in theirs if names[0][i] == names[1][j]] or (theirs if len(ours) == len(theirs) == 1 else [])
        if alike:
            twin = alike[0]
            ours.remove(i)
            theirs.remove(twin)
            there = "in b" if names[0][i] == names[1][twin] else f"in b, as {names[1][twin]},"
            texts.append(f"the {quantity} of {names[0][i]} is {there} {_ratio(flat[1][:, twin], flat[0][:, i])}")
    texts += [f"{names[0][i]} of a has no equal in b" for i in ours]
    texts += [f"{names[1][j]} of b has no equal in a" for j in theirs]
    return "; ".join(texts)


def _are_equal(first: Array, second: Array) -> bool:
    return bool(np.linalg.norm(first - second) <= _SAME * max(np.linalg.norm(first), np.linalg.norm(second)))


def _ratio(first: Array, second: Array) -> str:
    factor = float(first @ second / (second @ second))
    return f"{factor:.5g} times as large" if _are_equal(first, factor * second) else "another one"


def _potential(name: str, pair: _Pair) -> Row:
    """Row for U up to a constant; it does not apply if only the choice of loads in U differs and the forces agree."""
    try:
        ours, theirs = (states.call("potential_energy") for states in (pair.ours, pair.theirs))
    except ModelError as error:
        raise NotApplicable(str(error)) from None
    difference = theirs - ours
    difference = difference - difference[0]
    terms = np.abs(ours) + np.abs(theirs) + np.max(np.abs(ours - ours[0]))
    row = judged(name, difference, terms, BY_FORMULA - 2.0, reason="it differs from a's by more than a constant")
    if row.verdict == FAILS and _active("", pair).verdict != FAILS:
        raise NotApplicable("the models have different loads in U, and their forces are the same")
    return row


_CHECKS: tuple[tuple[str, Callable[[str, _Pair], Row]], ...] = (
    ("rates of b's coordinates follow from its speeds", _rates),
    ("constraints of b", _constraints),
    ("kinetic energy", _kinetic),
    ("potential energy, up to a constant", _potential),
    ("active forces, by virtual power", _active),
    ("inertia forces, by virtual power", _inertial),
    ("motion: u̇ of b", _accelerations),
)
