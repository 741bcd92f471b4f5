# SPDX-License-Identifier: BSD-3-Clause
"""Methods of compiled models by purpose: the decorator of functions, and the tables for help and reference.

A function of ``dyn`` becomes a method by the decorator `method`, and by a line in the body of `CompiledModel`.  The
table of a kernel is named in its row of `kanecore.kernels`, the table of an attribute of the extension in `ATTRIBUTES`.
Methods without a table work, and are not shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from kanecore.kernels import KERNELS, TABLES, first_sentence

__all__ = ["ATTRIBUTES", "method", "needs_digits", "reference_text", "shown", "table_text"]


class Declared(NamedTuple):
    """The table of a method, and whether it needs double precision."""

    table: str
    doubles: bool


_Function = TypeVar("_Function", bound=Callable[..., Any])

_DECLARED: dict[Any, Declared] = {}


def method(table: str = "", *, doubles: bool = False) -> Callable[[_Function], _Function]:
    """Mark a function as a method of compiled models, for a table of `kanecore.kernels.TABLES`.

    Parameters
    ----------
    table : str
        Title of the table in ``help(dyn)`` and in the reference; empty for a method that is not shown.
    doubles : bool
        The method has tolerances for doubles: models in single precision raise ModelError instead.
    """
    if table and table not in TABLES:
        raise ValueError(f"there is no table {table!r} of methods; there are {', '.join(TABLES)}")

    def mark(function: _Function) -> _Function:
        _DECLARED[function] = Declared(table, doubles)
        return function

    return mark


ATTRIBUTES = {
    "workspace": ("Equations of motion", ""),
    "address": ("Other programs", ""),
    "prepare": ("Other programs", ""),
    "prepared": ("Other programs", ""),
    "name": ("Values and facts", "The name of the model."),
    "dtype": ("Values and facts", "The type of its numbers: float64, or float32."),
    "n_q": ("Values and facts", "Number of coordinates."),
    "n_u": ("Values and facts", "Number of speeds."),
    "n_z": ("Values and facts", "Number of first-order states."),
    "n_x": ("Values and facts", "Length of x = [q, u, z], n_q + n_u + n_z."),
    "n_p": ("Values and facts", "Number of parameters."),
    "n_r": ("Values and facts", "Number of inputs."),
    "n_constraints": ("Values and facts", "Number of rows of G."),
    "n_work": ("Values and facts", "Length of ``work``, for calls of `address`."),
    "coordinate_names": ("Values and facts", "Names of the coordinates, in the order of x."),
    "speed_names": ("Values and facts", "Names of the speeds, in the order of x."),
    "state_names": ("Values and facts", "Names of the first-order states, in the order of x."),
    "parameter_names": ("Values and facts", "Names of the parameters, in the order of p."),
    "input_names": ("Values and facts", "Names of the inputs, in the order of r."),
    "output_names": ("Values and facts", "Names of the outputs."),
    "constraint_names": ("Values and facts", "Names of the rows of G."),
    "points": ("Values and facts", "Names of the points: of bodies and loads, then those given as ``points=``."),
    "frames": ("Values and facts", "Names of the frames: of bodies and loads, then those given as ``frames=``."),
    "bodies": ("Values and facts", "Names of the bodies."),
    "joints": ("Values and facts", "Names of the joints."),
}
"""Members of the extension by name: the table, and a description of members without docstring."""


def shown(kind: type) -> dict[str, list[str]]:
    """Names of a class by the title of their table: kernels, then members of the extension, then functions."""
    tables: dict[str, list[str]] = {title: [] for title in TABLES}
    for kernel in KERNELS:
        if kernel.table:
            tables[kernel.table].append(kernel.name)
    for name, (table, _) in ATTRIBUTES.items():
        tables[table].append(name)
    for each in reversed(kind.__mro__):
        for name, member in vars(each).items():
            declared = _DECLARED.get(getattr(member, "fget", member) if _is_hashable(member) else None)
            if declared and declared.table and name not in tables[declared.table]:
                tables[declared.table].append(name)
    return tables


def needs_digits(kind: type) -> list[str]:
    """Names of the methods of a class that need doubles."""
    members = {name: member for each in reversed(kind.__mro__) for name, member in vars(each).items()}
    return [name for name, member in members.items() if _is_hashable(member) and _is_for_doubles(member)]


def _is_for_doubles(member: Any) -> bool:
    declared = _DECLARED.get(member)
    return declared is not None and declared.doubles


def _is_hashable(member: Any) -> bool:
    return type(member).__hash__ is not None


def table_text(kind: type) -> str:
    """Tables of names for the docstring of a class; each name has a line with the first sentence of its docstring."""
    parts = []
    for title, names in shown(kind).items():
        rows = [f"    {name:<27} {_described(kind, name)}" for name in names]
        parts.append("\n".join([f"{title}::\n", *rows]))
    return "\n\n".join(parts)


def reference_text(kind: type) -> str:
    """Tables of names for the reference, in Markdown; each name with a docstring gets a separate page."""
    parts = []
    for title, names in shown(kind).items():
        rows = [f"   {kind.__name__}.{name}" for name in names if not ATTRIBUTES.get(name, ("", ""))[1]]
        listed = "\n".join([".. autosummary::", "   :toctree: api", "   :nosignatures:", "", *rows])
        parts.append(f"## {title}\n\n```{{eval-rst}}\n.. currentmodule:: kanecore\n\n{listed}\n```\n")
    return "\n".join(parts)


def _described(kind: type, name: str) -> str:
    """First sentence of a member's docstring, without the signature that Cython writes first."""
    described = ATTRIBUTES.get(name, ("", ""))[1]
    return described or first_sentence(re.sub(r"\A\w+\.\w+\(.*\)\n", "", getattr(kind, name).__doc__ or ""))
