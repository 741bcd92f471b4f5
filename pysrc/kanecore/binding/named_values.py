# SPDX-License-Identifier: BSD-3-Clause
"""Parameters, inputs, coordinates and speeds of a compiled model by name or symbol, and the arrays of one call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore._library import numbers, real_array
from kanecore.binding.given_values import broadcast_shapes, finite_number, real_values, symbol_name
from kanecore.errors import unknown_name

__all__ = ["NamedValues"]

Array = npt.NDArray[Any]  # of the type that kernels take

_ANY, _NONE, _RHS = -1, -2, 0  # in place of the number of a kernel, and that of `rhs`

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

# Meaning of the entries of an array, if their names would not say it.
_MEANING = {
    "state": "coordinates, then speeds",
    "coordinate": "coordinates",
    "speed": "one for each speed",
    "udot": "derivatives of the speeds",
    "multiplier": "one for each row of G",
}


class NamedValues:
    """A model that finds by name or symbol its parameters, inputs, outputs, and entries of x and udot."""

    # of the extension
    name: str
    dtype: np.dtype[Any]
    n_q: int
    n_u: int
    n_z: int
    n_x: int
    n_constraints: int
    n_configuration: int
    qdot_is_u: bool
    unit: tuple[tuple[int, int, int, int], ...]
    input_rates: tuple[int, ...]
    speed_names: tuple[str, ...]
    constraint_names: tuple[str, ...]
    _table_info: dict[str, Any]
    _baked: Collection[str]
    _values: Callable[[str], Array]
    _wanted: Callable[[int, int], bool]
    _replace: Callable[[str, dict[int, float]], None]

    def __init__(self, library: Any, addresses: Any = None) -> None:
        super().__init__(library, addresses)  # type: ignore[call-arg]
        names, info = self._names_in_table(), self._table_info
        self._names_of: dict[str, tuple[str, ...]] = names
        self._places_of = {what: {name: i for i, name in enumerate(own)} for what, own in names.items()}
        rates = range(self.n_u) if self.qdot_is_u else info.get("coordinate_rates") or [-1] * self.n_q
        self._coordinate_rates = tuple(rates)  # the speed that the derivative of each is, -1 where it is none
        left_out = info.get("left_out", {})
        # values of names that no kernel can read, of each kind
        self._unread = {what: dict.fromkeys(left_out.get(what, ()), np.nan) for what in names}

    def _names_in_table(self) -> dict[str, tuple[str, ...]]:
        m: Any = self
        return {
            "parameter": m.parameter_names,
            "input": m.input_names,
            "output": m.output_names,
            "state": m.coordinate_names + m.speed_names + m.state_names,
            "coordinate": m.coordinate_names,
            "speed": m.speed_names,
            "udot": m.speed_names,
            "multiplier": m.constraint_names,
        }

    @property
    def _x_names(self) -> tuple[str, ...]:
        """Names of all entries of x = [q, u, z]."""
        return self._names_of["state"]

    @property
    def _speeds(self) -> slice:
        """Places of the speeds in x, and of u̇ in ẋ."""
        return slice(self.n_q, self.n_q + self.n_u)

    @property
    def _states(self) -> slice:
        """Places of the first-order states in x."""
        return slice(self.n_q + self.n_u, self.n_x)

    @property
    def configuration_names(self) -> tuple[str, ...]:
        """Names of the configuration constraints, in the order of `configuration_residual`."""
        names = self._table_info.get("configuration_names")
        return tuple(names or [f"configuration constraint {i}" for i in range(self.n_configuration)])

    # ------------------------------------------------------------------------------------------------------ names
    def _pivot(self, row: int) -> str:
        """The speed of a vanished pivot, for errors, with all that moves with it if no mass does."""
        name = self.speed_names[row] if 0 <= row < self.n_u else row
        moving = self._table_info.get("massless", {}).get(name)
        nothing = f": nothing that moves with it, {moving}, has mass or inertia" if moving else ""
        return f"the pivot of speed {name!r} vanished{nothing}"

    def _row_name(self, row: int) -> str:
        """The constraint that errors name by a number from n_u on."""
        row -= self.n_u
        if row < self.n_constraints:
            return self.constraint_names[row]
        return self.configuration_names[row - self.n_constraints]

    def _index(self, what: str, key: Any) -> int:
        """The number of a parameter, an input, ..., by name or symbol; KeyError where the model does not have it.

        Of the kind "udot" a derivative is that of a speed, or the speed itself where that is the rate of a coordinate.
        """
        name = symbol_name(key)
        if type(key).__name__ == "Derivative":
            return self._index_of_rate(what, key, name)
        place = self._places_of[what].get(name)
        if place is not None:
            return place
        if what == "parameter" and name in self._baked:
            raise KeyError(
                f"parameter {name!r} of {self.name!r} was baked into its C text: compile the model with bake=False, or "
                "without this one in parameters=, to set it later"
            )
        raise unknown_name(f"{self._called(what)} of {self.name!r} is called", name, self._names_of[what])

    def _found(self, kinds: Collection[str], key: Any) -> tuple[str, int]:
        """The first of some kinds that has a name or symbol, and its number there; KeyError where none has it."""
        for what in kinds:
            try:
                return what, self._index(what, key)
            except KeyError:
                pass
        *called, last = [word for what in kinds for word in self._called(what).replace(" or ", ", ").split(", ")]
        names = [name for what in kinds for name in self._names_of[what]]
        raise unknown_name(f"{', '.join(called)} or {last} of {self.name!r} is called", symbol_name(key), names)

    def _index_of_rate(self, what: str, key: Any, name: str) -> int:
        """Name of a derivative, by the variable whose rate it is: its name may be another's."""
        base, order, places = symbol_name(key.args[0]), int(key.derivative_count), self._places_of
        i, is_speed = places[what].get(base, -1), what in ("speed", "udot")
        if is_speed and i < 0 and base in places["coordinate"]:
            i, order = self._coordinate_rates[places["coordinate"][base]], order - 1
        if what == "udot" and order > 0:
            order -= 1
        for _ in range(order):
            i = self._rate_of(what, i) if i >= 0 else -1
        if i >= 0:
            return i
        called = f"no {self._called(what)} of {self.name!r} is {key}"
        if is_speed or what == "state":
            raise KeyError(f"{called}: name one of the speeds {', '.join(self.speed_names)}")
        other = f", and {name!r} is an {what} of its own" if name in places[what] else ""
        raise KeyError(f"{called}: it does not occur in the equations{other}")

    def _rate_of(self, what: str, i: int) -> int:
        """The number of the derivative of an input, or of a coordinate where that is a speed; else -1."""
        if what == "input":
            return self.input_rates[i]
        if what == "state" and i < self.n_q and self._coordinate_rates[i] >= 0:
            return self.n_q + int(self._coordinate_rates[i])
        return -1

    def _by_place(
        self, what: str, items: Iterable[tuple[Any, Any]], argument: str
    ) -> tuple[dict[int, Any], dict[str, Any]]:
        """Values by number, and those of names that no kernel can read, by name; each of them once.

        ``items`` are pairs of a name or symbol and a value; in messages they stand in ``argument``.
        """
        numbered: dict[int, Any] = {}
        others: dict[str, Any] = {}
        given: dict[Any, Any] = {}
        unread = self._unread[what]
        for key, value in items:
            name = symbol_name(key)
            where: Any = name if name in unread else self._index(what, key)
            if where in given:
                name = name if where == name else self._names_of[what][where]
                raise ValueError(f"{argument} gives {name!r} twice, as {given[where]!r} and as {key!r}")
            given[where] = key
            if where == name:
                others[name] = value
            else:
                numbered[where] = value
        return numbered, others

    def _by_number(self, what: str, given: Mapping[Any, Any], argument: str) -> dict[int, Any]:
        """The values of a mapping by the numbers of their entries, without those that no kernel can read."""
        return self._by_place(what, _items(given), argument)[0]

    def _called(self, what: str) -> str:
        """Owner of the names of a kind, in messages."""
        return "coordinate, speed or state" if what == "state" and self.n_z else _CALLED[what]

    def _label(self, what: str, i: int) -> str:
        """Name of a value in messages."""
        kind = what
        if what == "state" and i < self.n_q + self.n_u:
            kind = "coordinate" if i < self.n_q else "speed"
        return f"{kind} {self._names_of[what][i]!r}"

    def _finite(self, what: str, i: int, value: Any) -> float:
        """One finite number; only an error needs its name."""
        if type(value) is float and isfinite(value):
            return value
        return finite_number(self._label(what, i), value)

    def _entry(self, what: str, key: Any, value: Any) -> tuple[int, float]:
        """The number of an entry of x, r or p, by name or symbol, and the finite number that it is set to."""
        i = self._index(what, key)
        return i, self._finite(what, i, value)

    # ---------------------------------------------------------------------------------------------- current values
    def _current(self, what: str) -> Array:
        """A copy of the current values, NaN where one was never given; of a state, or a part of one, those at rest.

        At rest all is zero, but unit quaternions turn nothing: (1, 0, 0, 0).
        """
        if what in ("parameter", "input"):
            return self._values(what)
        values = np.zeros(len(self._names_of[what]))
        for quaternion in self.unit if what == "state" else ():
            values[quaternion[0]] = 1.0
        return values

    def _value(self, what: str, key: Any) -> float:
        """The current value of one parameter or input, by name or symbol; NaN if it was never given."""
        unread = self._unread[what]
        if unread and symbol_name(key) in unread:
            return unread[symbol_name(key)]
        return float(self._values(what)[self._index(what, key)])

    def _left_out(self, what: str) -> dict[str, float]:
        """Values of names that occur only in parts without effect on the motion; NaN if none was given."""
        return dict(self._unread[what])

    def _set(self, what: str, values: Mapping[Any, Any]) -> None:
        """Set some parameters or inputs, all at once or, where one is wrong, none.

        Parameters
        ----------
        what : {"parameter", "input"}
        values : mapping
            From names or symbols to finite numbers.

        Raises
        ------
        KeyError
            A name that the model does not have.
        ValueError
            A value that is not finite.
        """
        numbered, others = self._by_place(what, values.items(), f"{what}s")
        numbered = {i: self._finite(what, i, value) for i, value in numbered.items()}
        others = {name: finite_number(f"{what} {name!r}", value) for name, value in others.items()}
        self._unread[what].update(others)
        self._replace(what, numbered)

    def _missing(self, what: str, indices: Iterable[int], argument: str | None = None) -> ValueError:
        """The ValueError for values that were never given."""
        names, argument = self._names_of[what], argument or _ARGUMENT[what]
        lost = [repr(names[i]) for i in indices]
        plural, were = ("s", "were") if len(lost) > 1 else ("", "was")
        return ValueError(
            f"{what}{plural} {', '.join(lost)} of {self.name!r} {were} never set: write dyn.{what}s[{lost[0]}] = ..., "
            f"or {argument}={{{lost[0]}: ...}} in the call"
        )

    # --------------------------------------------------------------------------------------------- those of a call
    def _rows(self, what: str, given: Any, argument: str | None = None, k: int = _ANY) -> Array:
        """Array (..., n) from an argument of one call: an array, or a mapping that overrides some current values.

        Its type is that which kernels take.  Parameters that kernel ``k`` does not read may be missing.
        """
        argument, names = argument or _ARGUMENT[what], self._names_of[what]
        if hasattr(given, "keys"):
            array = numbers(self._overridden(what, _items(given), argument, k), self.dtype)
        else:
            array = real_array(argument, given, self.dtype)
            if array.ndim == 0 or array.shape[-1] != len(names):
                meaning = self._meaning(what)
                raise ValueError(f"{argument} has shape {array.shape}, expected (..., {len(names)}): {meaning}")
        if what == "parameter" and not np.isfinite(array).all():
            current = self._values(what)
            for i in np.unique(np.argwhere(~np.isfinite(array))[:, -1]).tolist():
                if self._wanted(i, k):
                    if np.isnan(array[..., i]).all() and np.isnan(current[i]):
                        raise self._missing(what, [i], argument)
                    raise ValueError(f"parameter {names[i]!r} is not finite in {argument}")
        return array

    def _with_multipliers(self, udot: Any, multipliers: Any) -> Any:
        """Continuation of x for a kernel that reads the multipliers as well: [udot, lambda]."""
        if multipliers is None:
            if self.n_constraints:
                raise TypeError("multipliers is missing: give (..., n_constraints), one for each row of G")
            return udot
        parts = [self._rows("udot", udot), self._rows("multiplier", multipliers)]
        try:
            leading = broadcast_shapes(*(a.shape[:-1] for a in parts))
        except ValueError as error:
            raise ValueError(f"leading axes of udot and multipliers do not broadcast: {error}") from None
        return np.concatenate([np.broadcast_to(a, leading + a.shape[-1:]) for a in parts], axis=-1)

    def _meaning(self, what: str) -> str:
        """Meaning of the entries of an array, in messages."""
        names = self._names_of[what]
        meaning = _MEANING.get(what) or (f"{what}s {', '.join(names)}" if names else f"there are no {what}s")
        return meaning + (", then first-order states" if what == "state" and self.n_z else "")

    def _overridden(self, what: str, items: Iterable[tuple[Any, Any]], argument: str, k: int) -> Array:
        """The current values with those of pairs of a name or symbol and a value in their places, (..., n)."""
        names = self._names_of[what]
        numbered, others = self._by_place(what, items, argument)
        columns = {i: self._column(what, names[i], value, argument) for i, value in numbered.items()}
        for name, value in others.items():
            self._column(what, name, value, argument)
        base = self._current(what)
        lost = [i for i, value in enumerate(base.tolist()) if value != value and i not in columns]
        lost = [i for i in lost if what == "input" or self._wanted(i, k)]
        if lost:
            raise self._missing(what, lost, argument)
        for quaternion in self.unit if what == "state" else ():
            if any(place in columns for place in quaternion):  # entries that are not named are zero, as elsewhere
                base[quaternion[0]] = 0.0
        array = base
        if any(not isinstance(column, float) for column in columns.values()):
            array = np.empty((*_joint_shape(argument, names, columns), len(base)))
            array[...] = base
        for i, column in columns.items():
            array[..., i] = column
        return array

    def _column(self, what: str, name: str, value: Any, argument: str) -> float | Array:
        """Value of one name in a mapping, of any shape."""
        if isinstance(value, float) and (what != "parameter" or isfinite(value)):
            return value
        values = real_values(f"{argument}[{name!r}]", value)
        if what == "parameter" and not np.isfinite(values).all():
            raise ValueError(f"parameter {name!r} is not finite in {argument}")
        return values

    def _as_state(self, x: Any, argument: str = "x") -> Any:
        """Array for a mapping by name or symbol; other arguments stay as they are."""
        return self._rows("state", x, argument) if hasattr(x, "keys") else x

    def _state_of(self, items: Iterable[tuple[Any, Any]]) -> Array:
        """The state (..., n_x) of pairs of a coordinate or speed, by name or symbol, and a finite value."""
        state = self._overridden("state", items, "state", _NONE)
        if not np.isfinite(state).all():
            i = int(np.argwhere(~np.isfinite(state))[0][-1])
            raise ValueError(f"{self._label('state', i)} is not finite")
        return state

    def _resolved(self, what: str, given: Any) -> Array:
        """All parameters or inputs of one run: an array, or the current values with those of a mapping.

        Parameters
        ----------
        what : {"parameter", "input"}
        given : array_like (n,), or mapping
            In messages it is ``parameters`` or ``inputs``.

        Returns
        -------
        ndarray, (n,)
            Shares no memory with the argument.  NaN for parameters that `rhs` does not read and that are not set.

        Raises
        ------
        ValueError, TypeError, KeyError
            As the kernels, and for an input that is not finite.
        """
        argument = what + "s"
        values, names = np.array(self._rows(what, given, argument, _RHS)), self._names_of[what]
        if values.shape != (len(names),):
            raise ValueError(f"{argument} has shape {values.shape}, expected ({len(names)},): one set of {what}s")
        if what == "input" and not np.isfinite(values).all():
            name = names[np.flatnonzero(~np.isfinite(values))[0]]
            raise ValueError(f"{what} {name!r} is not finite in {argument}")
        return values


def _items(given: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """Pairs of a mapping, or of what has keys but iterates over values, such as a series of pandas."""
    return [(key, given[key]) for key in given.keys()]  # noqa: SIM118


def _joint_shape(argument: str, names: tuple[str, ...], columns: dict[int, Any]) -> tuple[int, ...]:
    """The shape to which all values of a mapping broadcast."""
    try:
        return broadcast_shapes(*(np.shape(column) for column in columns.values()))
    except ValueError as error:
        shapes = ", ".join(f"{names[i]} {column.shape}" for i, column in columns.items() if np.ndim(column))
        raise ValueError(f"values of {argument} do not broadcast: {shapes}: {error}") from None
