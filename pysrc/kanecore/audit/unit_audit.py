# SPDX-License-Identifier: BSD-3-Clause
"""Row of an audit about units: the motion is the same in other units of length, mass and time.

Dimensions of results follow from the dimensions of q, u and the energy: M_ij u_i u_j and f_i u_i t are energies.  A
model with a number that has a dimension, such as 9.81, is different in other units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.audit.audit_states import States
from kanecore.audit.mechanics_as_written import Bodies
from kanecore.audit.verdicts import BY_DIFFERENCES, Row, judged
from kanecore.binding.given_values import symbol_name
from kanecore.run.units import read_unit

__all__ = ["exponents", "units_row"]

Array = npt.NDArray[np.float64]

_FACTORS = np.array([3.7, 0.23, 1.9])  # factors of length, mass, time: no products of small powers of each other
_ENERGY, _TIME = np.array([2.0, 1.0, -2.0]), np.array([0.0, 0.0, 1.0])
_SMALL = 1e-5  # relative to the largest entry: smaller ones may be rounding of a zero
_LENGTH = np.array([1.0, 0.0, 0.0])
_BASE = ("m", "kg", "s")


def exponents(unit: Any, owner: str = "a variable") -> Array:
    """The exponents of (length, mass, time) of a unit in any notation."""
    read = read_unit(unit, owner)
    if read.powers is None:
        raise ValueError(
            f"the unit of {owner} is {unit!r}, which is not made of SI units: write kg, m, s, N, rad and similar "
            "units, 'kg.m2/s2' or 'kg*m**2/s**2', with brackets if a product divides: 'W/(m*s)'"
        )
    if strange := [base for base in read.powers if base not in (*_BASE, "rad")]:
        raise ValueError(
            f"the unit of {owner} is {unit}, and {', '.join(strange)} is no mechanical one: kg, m and s are"
        )
    return np.array([float(read.powers.get(base, 0.0)) for base in _BASE])


class _Dimensions:
    """Dimensions of the parameters, coordinates, speeds and inputs of a model."""

    def __init__(self, states: States, units: Mapping[Any, Any]) -> None:
        dyn = states.dyn
        if not isinstance(units, Mapping):
            raise TypeError(f"units is {units!r}; it must be a mapping of names to units")
        given = {(name := symbol_name(key)): exponents(unit, repr(name)) for key, unit in units.items()}
        if len(given) < len(units):
            raise ValueError(f"units gives a name twice: {', '.join(map(str, units))}")
        for name in given.keys() - _left_out(dyn):
            dyn.names.found(("parameter", "state", "input", "output"), name)
        zero = np.zeros(3)
        self.p, self.q, self.u, z, self.r = (
            np.array([given.get(name, zero) for name in names]).reshape(-1, 3)
            for names in (dyn.parameter_names, dyn.coordinate_names, dyn.speed_names, dyn.state_names, dyn.input_names)
        )
        for i, rate in enumerate(dyn.input_rates):  # an unnamed rate follows its motion
            if rate >= 0 and dyn.input_names[rate] not in given:
                self.r[rate] = self.r[i] - _TIME
        self.x = np.concatenate([self.q, self.u, z])


def _left_out(dyn: Any) -> set[str]:
    return {*dyn.names.left_out("parameter"), *dyn.names.left_out("input")}


def units_row(bodies: Bodies, units: Mapping[Any, Any]) -> Row:
    """Kernels at the states, and at the same states in other units."""
    name, states = "the same in other units", bodies.states
    dims, dyn = _Dimensions(states, units), states.dyn
    other = States(
        dyn,
        states.t * _factor(_TIME),
        states.x * _factor(dims.x),
        states.r * _factor(dims.r),
        states.sizes,
        states.udot * _factor(dims.u - _TIME),
        states.virtual,
        states.loose,
        states.rank,
        states.allowed,
    )
    p = dyn.kernels.values("parameter") * _factor(dims.p)
    results: list[tuple[Array, Array, str]] = []
    for kernel, expected, floor, named in _expected(dims, bodies):
        plain = states.call(kernel)
        scaled = np.asarray(dyn.kernels.method(kernel)(other.t, other.x, r=other.r, p=p)) / _factor(expected)
        size = np.abs(plain) + np.max(np.abs(plain), axis=0) + floor(plain)
        results.append(((scaled - plain).reshape(len(states.t), -1), size.reshape(len(states.t), -1), named))
    worst = [np.max(np.where(d != 0.0, np.abs(d) / np.where(s > 0.0, s, 1.0), 0.0), initial=0.0) for d, s, _ in results]
    first = next((i for i, w in enumerate(worst) if w > 10.0**-BY_DIFFERENCES), int(np.argmax(worst)))
    difference, size, what = results[first]
    columns = difference.shape[1]
    names = {dyn.n_x: dyn.names.x, dyn.n_u: dyn.speed_names}.get(columns, ())
    labels = [f"{what} of {names[i]}" if names else what for i in range(columns)]
    reason = "it is not the same in other units: does a number in the model have a dimension?"
    return judged(name, difference, np.where(size > 0.0, size, 1.0), BY_DIFFERENCES, labels=labels, reason=reason)


def _factor(dimensions: Array) -> Array:
    return np.asarray(np.prod(_FACTORS**dimensions, axis=-1))


def _expected(dims: _Dimensions, b: Bodies) -> list[tuple[str, Array, Callable[[Array], Any], str]]:
    """Kernels with the dimensions of their results, and the values with which vanishing entries are compared."""
    states, u, at = b.states, dims.u, b.states.at
    force, coordinates = _ENERGY - _TIME - u, np.where(at.coordinate_units > 0.0, at.coordinate_units, 1.0)
    units = at.speed_units

    inertial = np.sum(np.abs(at.mass * states.udot[:, np.newaxis, :]), axis=-1) + b.load_terms()

    def beside(sizes: Array) -> Callable[[Array], Array]:
        """Floor of each entry: a small fraction of the largest entry, in units of ``sizes``."""
        return lambda values: np.asarray(_SMALL * sizes * np.max(np.abs(values) / sizes, initial=0.0))

    pairs = 1.0 / (units[:, :, np.newaxis] * units[:, np.newaxis, :])
    bound = beside(np.concatenate([coordinates, units, np.ones((*units.shape[:-1], states.dyn.n_z))], axis=-1))
    largest = beside(np.ones(1))
    expected: list[tuple[str, Array, Callable[[Array], Any], str]] = [
        ("positions", np.tile(_LENGTH, (states.dyn.n_points, 3, 1)), largest, "a position"),
        ("kinetic_energy", _ENERGY, largest, "the kinetic energy"),
        ("mass_matrix", _ENERGY - u[:, np.newaxis] - u, beside(pairs), "the mass matrix"),
        ("generalized_active_forces", force, lambda _: _SMALL * inertial, "the active force"),
        ("potential_energy", _ENERGY, largest, "the potential energy"),
        ("forcing", force, lambda _: _SMALL * inertial, "the forcing"),
        ("rhs", dims.x - _TIME, bound, "the rate"),
    ]
    if states.dyn.kernels.why_not("generalized_active_forces"):  # a model in q and p: M is 1, and f is no force
        forces = ("mass_matrix", "generalized_active_forces", "forcing")
        return [row for row in expected if row[0] not in forces]
    return expected
