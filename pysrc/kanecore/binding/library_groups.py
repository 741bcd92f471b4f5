# SPDX-License-Identifier: BSD-3-Clause
"""Libraries of a compiled model, one for each group of kernels: opening, compilation on first use, and facts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakSet

from kanecore.errors import CompileError, warn
from kanecore.kernels import GROUPS, KERNEL_GROUPS
from kanecore.program.bytecode_format import Code

if TYPE_CHECKING:
    from kanecore.binding.kernel_methods import InternalKernels
    from kanecore.describe.description import Description
    from kanecore.functions.c_functions import CFunction

__all__ = ["GroupBuilder", "LibraryGroups", "first_group"]

GroupBuilder: TypeAlias = Callable[[str], tuple[str | Code, str | None]]

_groups: WeakSet[LibraryGroups] = WeakSet()  # objects of this process, for forked children


def _unlock() -> None:
    """Renew the locks in a forked child: a thread that was building a group stayed with the parent."""
    for groups in _groups:
        groups.building = RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_unlock)


def first_group(libraries: Mapping[str, str | Code]) -> str:
    """The group to open first: its library has the names and sizes of the model."""
    return "all" if "all" in libraries else "core"


class LibraryGroups:
    """Libraries of a model, and their origin: C texts or codes, and the objects that recreate the model.

    For the parameters see `CompiledModel`.

    Attributes
    ----------
    sources : dict of str to str
        C text of each compiled group.
    codes : dict of str to Code
        Code of each group for the interpreter, in a model without a compiler.
    info : mapping
        Facts of all open libraries together, build times, compiler and flags.
    functions : dict of str to CFunction
        Functions in C that the libraries call by address; they live as long as this object.
    origin : tuple or None
        ``(function, arguments)`` that recreate the model, for pickling.
    describe : callable or None
        ``describe()`` returns the description from which the libraries were derived.
    fingerprint : callable or None
        ``fingerprint()`` stands for that description in the cache of libraries.
    described_by : callable or None
        ``described_by()`` returns the `Model` from which they were compiled.
    shown : callable or None
        ``shown()`` returns the motion of the model on a live page, `kanecore.gallery._motions.Motion`.
    building : lock
        Held while a group is compiled.
    casadi_functions : dict
        Functions of CasADi for the model, by name and variables.
    """

    def __init__(
        self,
        kernels: InternalKernels,
        libraries: Mapping[str, str | Code],
        *,
        source: Mapping[str, str],
        builder: GroupBuilder | None = None,
        lane_builder: Callable[[str], str | None] | None = None,
        info: Mapping[str, Any] | None = None,
        origin: tuple[Callable[..., Any], tuple[Any, ...]] | None = None,
        functions: Mapping[str, CFunction] = MappingProxyType({}),
        describe: Callable[[], Description] | None = None,
        fingerprint: Callable[[], str] | None = None,
        described_by: Callable[[], Any] | None = None,
        shown: Callable[[], Any] | None = None,
    ) -> None:
        self._kernels = kernels
        first = first_group(libraries)
        self.functions = dict(functions)
        self.codes = {group: library for group, library in libraries.items() if isinstance(library, Code)}
        self.sources = dict(source)
        self._builder, self._lane_builder = builder, lane_builder
        self.info = _merged(kernels.table_info, info or {})
        self.origin, self.describe, self.fingerprint = origin, describe, fingerprint
        self.described_by, self.shown = described_by, shown
        self._built = set(GROUPS) if first == "all" else {first}
        self._built_lanes: set[str] = set()
        self.building = RLock()
        self.casadi_functions: dict[Any, Any] = {}
        _groups.add(self)
        for group, library in libraries.items():
            if group != first:
                self._add(group, library)

    @property
    def names(self) -> tuple[str, ...]:
        """The groups in which this model has kernels."""
        m = self._kernels.model
        free = not (m.n_constraints or m.n_configuration)
        absent = {"constraints": free, "project_gradient": free, "auxiliary": not m.n_auxiliary}
        absent["output_tangent"] = not m.n_outputs
        return tuple(group for group in GROUPS if not absent.get(group, False))

    @property
    def built(self) -> tuple[str, ...]:
        """The groups with open libraries."""
        return tuple(group for group in self.names if group in self._built)

    def build(self, *groups: str) -> None:
        """Compile groups of kernels now; see `CompiledModel.build`."""
        wanted = tuple(GROUPS) if not groups or "all" in groups else groups
        for group in wanted:
            if group not in GROUPS:
                raise KeyError(f"no group {group!r}; there are {', '.join(GROUPS)}, all")
        with self.building:
            for group in wanted:
                if group in self.names and group not in self._built and self._builder is not None:
                    library, text = self._builder(group)
                    self._add(group, library)
                    if text is not None:
                        self.sources[group] = text

    def find(self, kernel: str) -> None:
        """Compile the group of a kernel that no open library has."""
        self.build(KERNEL_GROUPS[kernel])

    def find_lanes(self, kernel: str) -> None:
        """Open the group of a kernel for several states at once, if it is compiled or can be."""
        with self.building:
            group = KERNEL_GROUPS[kernel]
            if self._lane_builder is None or group in self._built_lanes:
                return
            self._built_lanes.add(group)
            try:
                path = self._lane_builder(group)
            except (CompileError, ImportError) as error:  # results are the same without lanes lanes
                name = self._kernels.model.name
                warn(f"batches of {name!r} are evaluated one state after the other: {error}")
            else:
                if path is not None:
                    self._kernels.open(path)

    def contents(self, groups: Sequence[str]) -> list[str | Code] | None:
        """C texts, or code, that define the results of some groups; None if addresses do, or if unknown."""
        known: dict[str, str | Code] = {**self.sources, **self.codes}
        # a library of several groups has the text of the first group
        found = [known.get(group) or known.get("all") or known.get("core") for group in groups]
        texts = [text for text in found if text is not None]
        return texts if len(texts) == len(groups) and not self.functions else None

    def shown_motion(self) -> Any:
        """The motion of the model on a live page; None if it is unknown."""
        return None if self.shown is None else self.shown()

    def _add(self, group: str, library: str | Code) -> None:
        self.info = _merged(self.info, self._kernels.open(library))
        if isinstance(library, Code):
            self.codes[group] = library
        self._built.add(group)


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two mappings: mappings under the same key are merged in turn; for other values `new` wins."""
    result = dict(old)
    for key, value in new.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = _merged(result[key], value) if both else value
    return result
