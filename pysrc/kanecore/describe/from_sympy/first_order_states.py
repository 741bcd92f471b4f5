# SPDX-License-Identifier: BSD-3-Clause
"""First-order states z with ż = w: currents, activations of muscles, integrals of controllers, as the user lists them.

Objects that bring states of their own follow SymPy's protocol of ``sympy.physics.biomechanics``: ``x`` are the states,
``r`` the inputs, and ``rhs()`` the derivatives of the states.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import sympy as sm
from sympy.core.function import AppliedUndef
from sympy.physics.mechanics import ActuatorBase
from sympy.physics.vector import Vector

from kanecore.errors import ModelError

from . import vector_internals
from .arguments import listed

__all__ = ["activations", "brings_states", "inputs_of_objects", "state_rates"]


def brings_states(item: Any) -> bool:
    """Test whether an item has states of its own, by SymPy's protocol."""
    return not isinstance(item, type) and all(hasattr(item, name) for name in ("x", "r", "rhs"))


def state_rates(states: Any, forcelist: Sequence[Any], known: Collection[Any]) -> dict[Any, Any]:
    """The states in order, each with its rate: first the states of the list, then the states of loads.

    A muscle brings the states of its activation: a state that comes twice has one rate.  ``known`` are symbols that
    the user listed in other roles, as the coordinate that a state may be.
    """
    result: dict[Any, Any] = {}
    for x, rate, what in _given([] if states is None else states):
        if x in result and result[x] != rate:
            raise ModelError(f"states gives {x} two rates, {result[x]} and {rate} of {what}: give it one")
        result[x] = rate
    for number, item in enumerate(forcelist):
        if brings_states(item):
            for x, rate in _of_object(item, f"load {number}, {_title(item)},"):
                if x not in known:
                    result.setdefault(x, rate)
        elif isinstance(item, ActuatorBase):
            _refuse_unknown(item, f"load {number}, {_title(item)},", [*known, *result])
        else:
            _refuse_activation(item, f"load {number}", {*known, *result})
    return result


def activations(states: Any, forcelist: Sequence[Any]) -> dict[Any, tuple[str, Any]]:
    """Activations of muscles, which lie between 0 and 1, each with the name of its muscle and its excitation."""
    biomechanics = sys.modules.get("sympy.physics.biomechanics")
    if biomechanics is None:
        return {}
    muscles = (biomechanics.ActivationBase, biomechanics.musculotendon.MusculotendonBase)
    return {item.a: (item.name, item.e) for item in _objects(states, forcelist) if isinstance(item, muscles)}


def inputs_of_objects(states: Any, forcelist: Sequence[Any]) -> set[Any]:
    """Inputs that objects with states name themselves."""
    return {r for item in _objects(states, forcelist) for r in item.r}


def _objects(states: Any, forcelist: Sequence[Any]) -> list[Any]:
    """Objects with states of their own, of both lists."""
    items = [] if states is None or isinstance(states, Mapping) else [states] if brings_states(states) else states
    return [item for item in (*items, *forcelist) if brings_states(item)]


def _refuse_unknown(item: Any, subject: str, known: Collection[Any]) -> None:
    """Raise ModelError for the states of an object that does not say their rates: they would be inputs at 0."""
    lost = [str(x) for x in listed(getattr(item, "x", None), "x") if x not in known]
    if lost:
        raise ModelError(
            f"{subject} has the state {', '.join(lost)}, and no rhs() that says its rate: it would be an input at 0; "
            "give the rate, states={state: rate}, or list the state in inputs=[...]"
        )


def _refuse_activation(item: Any, subject: str, known: Collection[Any]) -> None:
    """Raise ModelError for a muscle's force without its muscle, whose activation would be an input at 0.

    ``to_loads()``, and so a KanesMethod, keep the force alone.  It is known by SymPy's curves of fibres and tendons.
    """
    curves = sys.modules.get("sympy.physics.biomechanics.curve")
    if curves is None or not isinstance(item, Sequence) or not isinstance(item[-1], Vector):
        return
    for matrix, _ in vector_internals.terms(item[-1]):
        if not matrix.has(curves.CharacteristicCurveFunction):
            continue
        lost = sorted({str(x) for x in matrix.atoms(AppliedUndef) if x not in known})
        if lost:
            raise ModelError(
                f"{subject} is the force of a muscle, and nothing tells how {', '.join(lost)} changes: it would be an "
                "input at 0; name the muscle, states=muscle, or its rate, states={state: rate}; what is an input, "
                "list in inputs=[...]"
            )


def _given(states: Any) -> Iterator[tuple[Any, Any, str]]:
    items = [states] if isinstance(states, Mapping) or brings_states(states) else listed(states, "states")
    for item in items:
        if isinstance(item, Mapping):
            yield from ((x, rate, "a dict") for x, rate in item.items())
        elif brings_states(item):
            yield from ((x, rate, _title(item)) for x, rate in _of_object(item, _title(item)))
        else:
            raise ModelError(
                f"states holds {item!r}: write {{i: rate}}, with i of dynamicsymbols and the expression of its "
                "derivative, or an object with x, r and rhs(), such as a muscle of sympy.physics.biomechanics"
            )


def _title(item: Any) -> str:
    return f"the {type(item).__name__} {getattr(item, 'name', '')}".rstrip()


def _of_object(item: Any, subject: str) -> list[tuple[Any, Any]]:
    """Pairs of a state and its rate; ModelError if they do not go together."""
    states, rates = (list(sm.sympify(part)) for part in (item.x, item.rhs()))
    if len(states) != len(rates):
        raise ModelError(f"{subject} has {len(states)} states in x, and rhs() gives {len(rates)} rates: one for each")
    return list(zip(states, rates, strict=True))
