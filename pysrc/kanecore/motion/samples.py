# SPDX-License-Identifier: BSD-3-Clause
"""Samples of a run: states at some times with computed results, for tables and files, without a model."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, unknown_name
from kanecore.whole_files import whole_file

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["Samples", "names_of"]

Array = npt.NDArray[np.float64]

_FORMAT = 1  # format of files
_KINDS = ("coordinate", "speed", "state", "input", "output")


class Samples:
    """States over time with inputs, outputs and energies, by name.

    ``sol[10:20]`` and ``sol.at(t)`` of a `Trajectory` are samples; ``Samples.load(path)`` reads those that ``save``
    wrote. Samples need no model, and so cannot interpolate.

    Attributes
    ----------
    name : str
        Name of the model.
    t : ndarray, (N,)
    x, q, u, z : ndarray, (N, n_x), (N, n_q), (N, n_u), (N, n_z)
        States, coordinates, speeds, first-order states; ``y`` is x transposed, as in ``scipy.integrate.solve_ivp``.
    r, outputs : ndarray, (N, n_r), (N, n_outputs)
    energy : ndarray, (N,)
        T + U; ModelError if the model has none.
    coordinate_names, speed_names, state_names, input_names, output_names : tuple of str
    facts : dict
        Facts of the run: ``method``, ``n_steps``, ``n_rejected``, ``nfev``, ``success``, ``status``, ``message``; in a
        file also ``energy_drift`` and ``constraint_drift``, if the steps were kept.
    t_events, y_events : list of ndarray, (n,), (n, n_x); or None
        All zeros of each event of the run: the times, and the states before a reset.
    contacts : dict of str to ndarray, (N,)
        Modes, forces and impulses by name, of a `ModeRun`; else empty.
    """

    def __init__(
        self,
        name: str,
        names: Mapping[str, tuple[str, ...]],
        t: Array,
        x: Array,
        values: Mapping[str, Callable[[], Any]],
    ) -> None:
        """Take ``names`` of each kind, and functions for ``r``, ``outputs``, ``energy``, ``facts``, ``contacts``."""
        self.name, self._names, self.t, self.x, self._values = name, dict(names), t, x, values

    def __repr__(self) -> str:
        span = f"t = {self.t[0]:g} ... {self.t[-1]:g}" if len(self) else "empty"
        return f"<Samples of {self.name!r}: {span}, {len(self)} times>"

    def __len__(self) -> int:
        return int(self.t.shape[-1])

    def __getitem__(self, key: Any) -> Any:
        """A coordinate, speed, input or output by name or symbol, (N,); or fewer times, by a slice, indices or a mask.

        Raises
        ------
        KeyError
            There is no such name; the message shows the nearest names.
        IndexError
            An index is beyond the times.
        """
        if isinstance(key, slice | list | np.ndarray):
            return self._some(key)
        name = key if isinstance(key, str) else str(getattr(key, "name", key))
        states = (*self.coordinate_names, *self.speed_names, *self.state_names)
        for names, values in ((states, "x"), (self.input_names, "r"), (self.output_names, "outputs")):
            if name in names:
                return getattr(self, values)[..., names.index(name)]
        if name in self.contacts:
            return self.contacts[name]
        known = [name for kind in _KINDS for name in self._names[kind]] + list(self.contacts)
        raise unknown_name(f"coordinate, speed, input or output of {self.name!r} is called", name, known)

    def _some(self, key: Any) -> Samples:
        vectors = {what: lambda what=what: getattr(self, what)[..., key, :] for what in ("r", "outputs")}
        others = {"energy": lambda: self.energy[..., key], "facts": lambda: self.facts}
        others["contacts"] = lambda: {name: column[key] for name, column in self.contacts.items()}
        return Samples(self.name, self._names, self.t[..., key], self.x[..., key, :], {**vectors, **others})

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return self._names["coordinate"]

    @property
    def speed_names(self) -> tuple[str, ...]:
        return self._names["speed"]

    @property
    def state_names(self) -> tuple[str, ...]:
        return self._names["state"]

    @property
    def input_names(self) -> tuple[str, ...]:
        return self._names["input"]

    @property
    def output_names(self) -> tuple[str, ...]:
        return self._names["output"]

    @property
    def y(self) -> Array:
        return np.moveaxis(self.x, -1, -2)

    @property
    def q(self) -> Array:
        return self.x[..., : len(self.coordinate_names)]

    @property
    def u(self) -> Array:
        n_q = len(self.coordinate_names)
        return self.x[..., n_q : n_q + len(self.speed_names)]

    @property
    def z(self) -> Array:
        return self.x[..., len(self.coordinate_names) + len(self.speed_names) :]

    @cached_property
    def r(self) -> Array:
        return np.asarray(self._values["r"]())

    @cached_property
    def outputs(self) -> Array:
        return np.asarray(self._values["outputs"]())

    @cached_property
    def energy(self) -> Array:
        return np.asarray(self._values["energy"]())

    @cached_property
    def facts(self) -> dict[str, Any]:
        return dict(self._values["facts"]())

    @cached_property
    def contacts(self) -> dict[str, Any]:
        return dict(self._values.get("contacts", dict)())

    @property
    def t_events(self) -> list[Array] | None:
        given = self.facts.get("t_events")
        return None if given is None else [np.array(times, dtype=np.float64) for times in given]

    @property
    def y_events(self) -> list[Array] | None:
        given = self.facts.get("y_events")
        return None if given is None else [np.reshape(states, (-1, self.x.shape[-1])) for states in given]

    # ------------------------------------------------------------------------------------------------ tables

    def _table(self) -> dict[str, Any]:
        """A column for each name: coordinates, speeds, inputs, outputs, then what contacts do."""
        names = [name for kind in _KINDS for name in self._names[kind]]
        values = dict(zip(names[::-1], np.hstack([self.x, self.r, self.outputs]).T[::-1], strict=True))
        columns = {**self.contacts, **values}  # an output may be the state of its name
        return {name: columns[name] for name in (*names, *self.contacts)}

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write t, q, u, inputs, outputs, and modes and forces of contacts, as comma-separated values.

        The first line has their names; every number reads back exactly.  An existing file is replaced after the new one
        is complete.
        """
        columns = {"t": self.t} | self._table()
        with whole_file(path) as place, place.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))

    def to_dataframe(self) -> Any:
        """The columns of `to_csv` as a ``pandas.DataFrame``, with the index t.

        Raises
        ------
        ModuleNotFoundError
            pandas is not installed.
        """
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("to_dataframe needs pandas: pip install pandas, or use to_csv(path)") from error
        return pandas.DataFrame(self._table(), index=pandas.Index(self.t, name="t"))

    # ------------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all samples to a file of NumPy's format npz, without pickled objects; numbers read back exactly."""
        with whole_file(path) as place, place.open("wb") as file:
            np.savez_compressed(file, **self._stored())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Samples:
        """Load the samples that `save` wrote.

        Raises
        ------
        ValueError
            The file was not written by `save`, or was written by a newer version.
        OSError
            There is no such file.
        """
        with Path(path).open("rb") as file:
            try:
                with np.load(file, allow_pickle=False) as archive:
                    stored = dict(archive)
                version = int(stored.pop("kanecore_samples"))
            except (ValueError, KeyError, TypeError, AttributeError, EOFError, BadZipFile):
                raise ValueError(f"{os.fspath(path)!r} is no file written by Trajectory.save") from None
        if version > _FORMAT:
            raise ValueError(f"{os.fspath(path)!r} was written by a newer kanecore (its format is {version})")
        return _restored(stored)

    def _stored(self) -> dict[str, Any]:
        """Samples as arrays of numbers and of text."""
        stored = {what: getattr(self, what) for what in ("t", "x", "r", "outputs")}
        with suppress(ModelError):  # the model has no energies
            stored["energy"] = self.energy
        stored |= {f"contact {name}": column for name, column in self.contacts.items()}
        stored |= {f"{kind}_names": np.array(self._names[kind], dtype=np.str_) for kind in _KINDS}
        return {
            **stored,
            "name": np.array(self.name),
            "facts": np.array(json.dumps(self.facts)),
            "kanecore_samples": np.array(_FORMAT),
        }

    def __reduce__(self) -> tuple[Any, ...]:
        stored = self._stored()
        del stored["kanecore_samples"]
        return _restored, (stored,)


def names_of(dyn: Evaluator) -> dict[str, tuple[str, ...]]:
    """The names of each kind in samples of a model."""
    return {kind: getattr(dyn, f"{kind}_names") for kind in _KINDS}


def _restored(stored: dict[str, Any]) -> Samples:
    """Samples from stored arrays."""
    name, facts = str(stored["name"]), json.loads(str(stored["facts"]))
    names = {kind: tuple(map(str, stored.get(f"{kind}_names", ()))) for kind in _KINDS}  # older files: no states
    values: dict[str, Callable[[], Any]] = {
        "r": lambda: stored["r"],
        "outputs": lambda: stored["outputs"],
        "energy": lambda: _energy(stored, name),
        "facts": lambda: facts,
        "contacts": lambda: {
            key.removeprefix("contact "): column for key, column in stored.items() if key.startswith("contact ")
        },
    }
    return Samples(name, names, stored["t"], stored["x"], values)


def _energy(stored: Mapping[str, Array], name: str) -> Array:
    if "energy" not in stored:
        raise ModelError(f"{name!r} has no energies")
    return stored["energy"]
