# SPDX-License-Identifier: BSD-3-Clause
"""Parameters, inputs, coordinates and speeds of a compiled model by name or symbol, and the arrays of a call."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore._library import numbers, real_array
from kanecore.binding.given_values import broadcast_shapes, finite_number, real_values, symbol_name
from kanecore.errors import unknown_name

if TYPE_CHECKING:
    from kanecore._native import Model, ModelKernels
    from kanecore.binding.facts import Facts

__all__ = ["Names"]

Array = npt.NDArray[Any]  # array of the type that kernels take

_ANY, _NONE, _RHS = -1, -2, 0  # numbers of no kernel, and of `rhs`

# Owners of the names of each kind, in messages.
_CALLED = {
    "parameter": "parameter",
    "input": "input",
    "output": "output",
    "state": "coordinate or speed",
    "coordinate": "coordinate",
    "speed": "speed",
    "udot": "speed",
    "multiplier": "constraint",
}

# The argument of a call by the kind of its values.
_ARGUMENT = {"parameter": "p", "input": "r", "state": "x", "udot": "udot", "multiplier": "multipliers"}

# Meaning of the entries of an array, if their names do not show it.
_MEANING = {
    "state": "coordinates, then speeds",
    "coordinate": "coordinates",
    "speed": "one for each speed",
    "udot": "derivatives of the speeds",
    "multiplier": "one for each row of G",
}


class Names:
    """Names of a model's parameters, inputs, outputs, and entries of x and udot, with values by name or symbol.

    A *kind* is one of "parameter", "input", "output", "state" (an entry of x), "coordinate", "speed", "udot",
    "multiplier".

    Attributes
    ----------
    x : tuple of str, (n_x,)
        Names of all entries of x = [q, u, z].
    speeds, states : slice
        Places of the speeds in x, and of u̇ in ẋ; places of the first-order states in x.
    configuration : tuple of str, (n_configuration,)
        Names of the constraints on coordinates, in the order of `configuration_residual`.
    """

    def __init__(self, model: Model, kernels: ModelKernels, facts: Facts, baked: Collection[str] = ()) -> None:
        m = self._model = model
        self._kernels, self._baked = kernels, baked  # parameters that became constants of the C text
        self.x = m.coordinate_names + m.speed_names + m.state_names
        self.speeds, self.states = slice(m.n_q, m.n_q + m.n_u), slice(m.n_q + m.n_u, m.n_x)
        numbered = [f"configuration constraint {i}" for i in range(m.n_configuration)]
        self.configuration = tuple(facts.configuration_names or numbered)
        self._names: dict[str, tuple[str, ...]] = {
            "parameter": m.parameter_names,
            "input": m.input_names,
            "output": m.output_names,
            "state": self.x,
            "coordinate": m.coordinate_names,
            "speed": m.speed_names,
            "udot": m.speed_names,
            "multiplier": m.constraint_names,
        }
        self._places = {kind: {name: i for i, name in enumerate(own)} for kind, own in self._names.items()}
        rates = range(m.n_u) if m.qdot_is_u else facts.coordinate_rates or [-1] * m.n_q
        self._coordinate_rates = tuple(rates)  # for each coordinate the speed that is its derivative, or -1
        # values of names that no kernel can read, by kind
        self._unread = {kind: dict.fromkeys(facts.left_out.get(kind, ()), np.nan) for kind in self._names}

    def of(self, kind: str) -> tuple[str, ...]:
        """Names of a kind, in the order of its arrays."""
        return self._names[kind]

    # ------------------------------------------------------------------------------------------------------ names
    def row_name(self, row: int) -> str:
        """The constraint that errors give by a number from n_u on."""
        row -= self._model.n_u
        if row < self._model.n_constraints:
            return self._model.constraint_names[row]
        return self.configuration[row - self._model.n_constraints]

    def index(self, kind: str, key: Any) -> int:
        """The index of a parameter, an input, ..., by name or symbol; KeyError if the model does not have it.

        For the kind "udot" a key may be the derivative of a speed, or the speed itself if it is the rate of a
        coordinate.
        """
        name = symbol_name(key)
        if type(key).__name__ == "Derivative":
            return self._index_of_rate(kind, key, name)
        place = self._places[kind].get(name)
        if place is not None:
            return place
        if kind == "parameter" and name in self._baked:
            raise KeyError(
                f"parameter {name!r} of {self._model.name!r} was baked into its C text: compile the model with "
                "bake=False, or without this one in parameters=, to set it later"
            )
        raise unknown_name(f"{self._called(kind)} of {self._model.name!r} is called", name, self._names[kind])

    def found(self, kinds: Collection[str], key: Any) -> tuple[str, int]:
        """The first of some kinds with a name or symbol, and the index there; KeyError if no kind has it."""
        for kind in kinds:
            try:
                return kind, self.index(kind, key)
            except KeyError:
                pass
        *called, last = [word for kind in kinds for word in self._called(kind).replace(" or ", ", ").split(", ")]
        names = [name for kind in kinds for name in self._names[kind]]
        raise unknown_name(f"{', '.join(called)} or {last} of {self._model.name!r} is called", symbol_name(key), names)

    def _index_of_rate(self, kind: str, key: Any, name: str) -> int:
        """Index of a derivative, by its variable, since its name may belong to another variable."""
        base, order, places = symbol_name(key.args[0]), int(key.derivative_count), self._places
        i, is_speed = places[kind].get(base, -1), kind in ("speed", "udot")
        if is_speed and i < 0 and base in places["coordinate"]:
            i, order = self._coordinate_rates[places["coordinate"][base]], order - 1
        if kind == "udot" and order > 0:
            order -= 1
        for _ in range(order):
            i = self._rate_of(kind, i) if i >= 0 else -1
        if i >= 0:
            return i
        called = f"no {self._called(kind)} of {self._model.name!r} is {key}"
        if is_speed or kind == "state":
            raise KeyError(f"{called}: name one of the speeds {', '.join(self._model.speed_names)}")
        other = f", and {name!r} is a separate {kind}" if name in places[kind] else ""
        raise KeyError(f"{called}: it does not occur in the equations{other}")

    def _rate_of(self, kind: str, i: int) -> int:
        """The index of the derivative of an input, or of a coordinate if it is a speed; otherwise -1."""
        if kind == "input":
            return self._model.input_rates[i]
        if kind == "state" and i < self._model.n_q and self._coordinate_rates[i] >= 0:
            return self._model.n_q + int(self._coordinate_rates[i])
        return -1

    def _by_place(
        self, kind: str, items: Iterable[tuple[Any, Any]], argument: str
    ) -> tuple[dict[int, Any], dict[str, Any]]:
        """Values by index, and values by name for names that no kernel can read; ValueError for a repeated name.

        ``items`` are pairs of a name or symbol and a value; messages name the ``argument``.
        """
        numbered: dict[int, Any] = {}
        others: dict[str, Any] = {}
        given: dict[Any, Any] = {}
        unread = self._unread[kind]
        for key, value in items:
            name = symbol_name(key)
            where: Any = name if name in unread else self.index(kind, key)
            if where in given:
                name = name if where == name else self._names[kind][where]
                raise ValueError(f"{argument} gives {name!r} twice, as {given[where]!r} and as {key!r}")
            given[where] = key
            if where == name:
                others[name] = value
            else:
                numbered[where] = value
        return numbered, others

    def by_number(self, kind: str, mapping: Mapping[Any, Any], argument: str) -> dict[int, Any]:
        """The values of a mapping by the indices of their entries, without values that no kernel can read."""
        return self._by_place(kind, _items(mapping), argument)[0]

    def _called(self, kind: str) -> str:
        """Owner of the names of a kind, in messages."""
        return "coordinate, speed or state" if kind == "state" and self._model.n_z else _CALLED[kind]

    def _label(self, kind: str, i: int) -> str:
        """Name of a value in messages."""
        owner = kind
        if kind == "state" and i < self._model.n_q + self._model.n_u:
            owner = "coordinate" if i < self._model.n_q else "speed"
        return f"{owner} {self._names[kind][i]!r}"

    def _finite(self, kind: str, i: int, value: Any) -> float:
        """A finite number; only an error needs its name."""
        if type(value) is float and isfinite(value):
            return value
        return finite_number(self._label(kind, i), value)

    def entry(self, kind: str, key: Any, value: Any) -> tuple[int, float]:
        """The index of an entry of x, r or p, by name or symbol, and its new finite value."""
        i = self.index(kind, key)
        return i, self._finite(kind, i, value)

    # ---------------------------------------------------------------------------------------------- current values
    def current(self, kind: str) -> Array:
        """A copy of the current values, NaN if never given; for a state, or a part of it, values at rest.

        At rest all values are zero, except unit quaternions, which are (1, 0, 0, 0).
        """
        if kind in ("parameter", "input"):
            return self._kernels.values(kind)
        values = np.zeros(len(self._names[kind]))
        for quaternion in self._model.unit if kind == "state" else ():
            values[quaternion[0]] = 1.0
        return values

    def value(self, kind: str, key: Any) -> float:
        """The current value of a parameter or input, by name or symbol; NaN if it was never given."""
        unread = self._unread[kind]
        if unread and symbol_name(key) in unread:
            return unread[symbol_name(key)]
        return float(self._kernels.values(kind)[self.index(kind, key)])

    def left_out(self, kind: str) -> dict[str, float]:
        """Values of names that occur only in parts without effect on the motion; NaN if none was given."""
        return dict(self._unread[kind])

    def set(self, kind: str, values: Mapping[Any, Any]) -> None:
        """Set some parameters or inputs, all at once, or none if one is wrong.

        Parameters
        ----------
        kind : {"parameter", "input"}
        values : mapping
            Names or symbols with finite numbers.

        Raises
        ------
        KeyError
            The model has no such name.
        ValueError
            A value that is not finite.
        """
        numbered, others = self._by_place(kind, values.items(), f"{kind}s")
        numbered = {i: self._finite(kind, i, value) for i, value in numbered.items()}
        others = {name: finite_number(f"{kind} {name!r}", value) for name, value in others.items()}
        self._unread[kind].update(others)
        self._kernels.replace(kind, numbered)

    def missing(self, kind: str, indices: Iterable[int], argument: str | None = None) -> ValueError:
        """The ValueError for values that were never given."""
        names, argument = self._names[kind], argument or _ARGUMENT[kind]
        lost = [repr(names[i]) for i in indices]
        plural, were = ("s", "were") if len(lost) > 1 else ("", "was")
        return ValueError(
            f"{kind}{plural} {', '.join(lost)} of {self._model.name!r} {were} never set: write "
            f"dyn.{kind}s[{lost[0]}] = ..., or {argument}={{{lost[0]}: ...}} in the call"
        )

    # --------------------------------------------------------------------------------------------- those of a call
    def rows(self, kind: str, values: Any, argument: str | None = None, k: int = _ANY) -> Array:
        """Array (..., n) from an argument of a call: an array, or a mapping that overrides some current values.

        The array has the type that kernels take.  Parameters that kernel ``k`` does not read may be missing.
        """
        argument, names = argument or _ARGUMENT[kind], self._names[kind]
        if hasattr(values, "keys"):
            array = numbers(self._overridden(kind, _items(values), argument, k), self._model.dtype)
        else:
            array = real_array(argument, values, self._model.dtype)
            if array.ndim == 0 or array.shape[-1] != len(names):
                meaning = self._meaning(kind)
                raise ValueError(f"{argument} has shape {array.shape}, expected (..., {len(names)}): {meaning}")
        if kind == "parameter" and not np.isfinite(array).all():
            current = self._kernels.values(kind)
            for i in np.unique(np.argwhere(~np.isfinite(array))[:, -1]).tolist():
                if self._kernels.reads(i, k):
                    if np.isnan(array[..., i]).all() and np.isnan(current[i]):
                        raise self.missing(kind, [i], argument)
                    raise ValueError(f"parameter {names[i]!r} is not finite in {argument}")
        return array

    def with_multipliers(self, udot: Any, multipliers: Any) -> Any:
        """Continuation of x for a kernel that reads the multipliers as well: [udot, lambda]."""
        if multipliers is None:
            if self._model.n_constraints:
                raise TypeError("multipliers is missing: give (..., n_constraints), one for each row of G")
            return udot
        parts = [self.rows("udot", udot), self.rows("multiplier", multipliers)]
        try:
            leading = broadcast_shapes(*(a.shape[:-1] for a in parts))
        except ValueError as error:
            raise ValueError(f"leading axes of udot and multipliers do not broadcast: {error}") from None
        return np.concatenate([np.broadcast_to(a, leading + a.shape[-1:]) for a in parts], axis=-1)

    def _meaning(self, kind: str) -> str:
        """Meaning of the entries of an array, in messages."""
        names = self._names[kind]
        meaning = _MEANING.get(kind) or (f"{kind}s {', '.join(names)}" if names else f"there are no {kind}s")
        return meaning + (", then first-order states" if kind == "state" and self._model.n_z else "")

    def _overridden(self, kind: str, items: Iterable[tuple[Any, Any]], argument: str, k: int) -> Array:
        """The current values, overridden by pairs of a name or symbol and a value, (..., n)."""
        names = self._names[kind]
        numbered, others = self._by_place(kind, items, argument)
        columns = {i: self._column(kind, names[i], value, argument) for i, value in numbered.items()}
        for name, value in others.items():
            self._column(kind, name, value, argument)
        base = self.current(kind)
        lost = [i for i, value in enumerate(base.tolist()) if value != value and i not in columns]
        lost = [i for i in lost if kind == "input" or self._kernels.reads(i, k)]
        if lost:
            raise self.missing(kind, lost, argument)
        for quaternion in self._model.unit if kind == "state" else ():
            if any(place in columns for place in quaternion):  # other entries are zero, as elsewhere
                base[quaternion[0]] = 0.0
        array = base
        if any(not isinstance(column, float) for column in columns.values()):
            array = np.empty((*_joint_shape(argument, names, columns), len(base)))
            array[...] = base
        for i, column in columns.items():
            array[..., i] = column
        return array

    def _column(self, kind: str, name: str, value: Any, argument: str) -> float | Array:
        """Value of a name in a mapping, of any shape."""
        if isinstance(value, float) and (kind != "parameter" or isfinite(value)):
            return value
        values = real_values(f"{argument}[{name!r}]", value)
        if kind == "parameter" and not np.isfinite(values).all():
            raise ValueError(f"parameter {name!r} is not finite in {argument}")
        return values

    def as_state(self, x: Any, argument: str = "x") -> Any:
        """Array for a mapping by name or symbol; other arguments stay as they are."""
        return self.rows("state", x, argument) if hasattr(x, "keys") else x

    def state(self, items: Iterable[tuple[Any, Any]]) -> Array:
        """The state (..., n_x) of pairs of a coordinate or speed, by name or symbol, and a finite value."""
        state = self._overridden("state", items, "state", _NONE)
        if not np.isfinite(state).all():
            i = int(np.argwhere(~np.isfinite(state))[0][-1])
            raise ValueError(f"{self._label('state', i)} is not finite")
        return state

    def resolved(self, kind: str, settings: Any) -> Array:
        """All parameters or inputs of a run: an array, or the current values overridden by a mapping.

        Parameters
        ----------
        kind : {"parameter", "input"}
        settings : array_like (n,), or mapping
            The argument ``parameters`` or ``inputs``.

        Returns
        -------
        ndarray, (n,)
            Shares no memory with the argument.  NaN for parameters that `rhs` does not read and that are not set.

        Raises
        ------
        ValueError, TypeError, KeyError
            Errors of the kernels; an input that is not finite.
        """
        argument = kind + "s"
        values, names = np.array(self.rows(kind, settings, argument, _RHS)), self._names[kind]
        if values.shape != (len(names),):
            raise ValueError(f"{argument} has shape {values.shape}, expected ({len(names)},): one set of {kind}s")
        if kind == "input" and not np.isfinite(values).all():
            name = names[np.flatnonzero(~np.isfinite(values))[0]]
            raise ValueError(f"{kind} {name!r} is not finite in {argument}")
        return values


def _items(mapping: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """Pairs (key, value) of a mapping, or of an object with keys that iterates over values, as a series of pandas."""
    return [(key, mapping[key]) for key in mapping.keys()]  # noqa: SIM118


def _joint_shape(argument: str, names: tuple[str, ...], columns: dict[int, Any]) -> tuple[int, ...]:
    """The shape to which all values of a mapping broadcast."""
    try:
        return broadcast_shapes(*(np.shape(column) for column in columns.values()))
    except ValueError as error:
        shapes = ", ".join(f"{names[i]} {column.shape}" for i, column in columns.items() if np.ndim(column))
        raise ValueError(f"values of {argument} do not broadcast: {shapes}: {error}") from None
