# SPDX-License-Identifier: BSD-3-Clause
"""C text of a group of kernels, or of a whole model.

The text depends only on the description: the same model gives the same bytes in any process on any machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from kanecore.derive.derivation import Derivation
from kanecore.derive.kernel_registry import Derived
from kanecore.describe.description import Description, bake, duplicate
from kanecore.kernels import GROUPS, KERNEL_GROUPS

from .c_target import C, Single
from .kernel_library import Emitted, Library
from .simd_lanes import LaneLibrary, Lanes, SingleLanes

__all__ = ["REALS", "Groups", "emit_group", "emit_library", "emit_prebuilt", "emit_some", "lanes_of", "whole"]

REALS: dict[str, tuple[C, Lanes]] = {"double": (C(), Lanes()), "float": (Single(), SingleLanes())}
"""The targets for each type of numbers: for one state, and for several states."""


class Groups:
    """The groups of kernels of a model, each as a separate library.

    All share the prepared constants of the core group, so that one block of parameters serves every kernel; a group
    computes further constants itself.  The core group is derived once: each group continues from a copy.

    Parameters
    ----------
    description : Description
    baked : mapping of name to float, optional
        Parameters that become constants.
    real : {"double", "float"}
        The type of numbers.
    first : int
        The place in c of the first parameter.
    defaults : mapping of name to float, optional
        Initial values of the parameters.
    """

    def __init__(
        self,
        description: Description,
        baked: Mapping[str, float] | None = None,
        real: str = "double",
        first: int = 0,
        defaults: Mapping[str, float] | None = None,
    ) -> None:
        self._description, self._baked, self._real, self._first = description, baked, real, first
        self._defaults = dict(defaults or {})

    @cached_property
    def _core(self) -> tuple[Derivation, dict[str, Derived]]:
        derivation = _derive(self._description, self._baked)
        return derivation, _of_core(derivation)

    def library(self, group: str, *, lanes: bool = False) -> Library:
        """Library of a group, ``"core"``, ``"forces"``, ...; for one state or several."""
        derivation, core = self._core
        return _of_group(derivation.copy(), core, group, lanes, self._real, self._first, self._defaults)

    def emit(self, group: str, *, lanes: bool = False) -> Emitted:
        """C text of a group."""
        return self.library(group, lanes=lanes).emitted()


def emit_group(
    description: Description,
    group: str,
    baked: Mapping[str, float] | None = None,
    *,
    lanes: bool = False,
    real: str = "double",
) -> Emitted:
    """Emit one group of kernels of a model, for one state or for several side by side."""
    derivation = _derive(description, baked)
    return _of_group(derivation, _of_core(derivation), group, lanes, real).emitted()


def _of_group(
    derivation: Derivation,
    core: Mapping[str, Derived],
    group: str,
    lanes: bool,
    real: str,
    first: int = 0,
    defaults: Mapping[str, float] | None = None,
) -> Library:
    kernels = core if group == "core" else _programs(derivation, filter(derivation.has, GROUPS[group]))
    if lanes:
        return LaneLibrary(derivation, core, kernels, group, target=REALS[real][1], first=first)
    return Library(derivation, core, kernels, group, dict(defaults or {}), target=REALS[real][0], first=first)


def emit_library(description: Description, parameters: Mapping[str, float] | None = None) -> Emitted:
    """Emit all kernels in one library, with default values of the parameters: a prebuilt model."""
    return whole(description, parameters).emitted()


def whole(
    description: Description,
    parameters: Mapping[str, float] | None = None,
    first: int = 0,
    kernels: Sequence[str] | None = None,
    real: str = "double",
) -> Library:
    """Library of all kernels of a description, or of some ``kernels``, with doubles or floats."""
    derivation = _derive(description, None)
    names = [name for group in GROUPS for name in GROUPS[group] if derivation.has(name)]
    programs = _programs(derivation, names if kernels is None else [name for name in names if name in kernels])
    return Library(derivation, programs, programs, "all", dict(parameters or {}), target=REALS[real][0], first=first)


def emit_some(description: Description, parameters: Mapping[str, float], groups: Sequence[str]) -> Emitted:
    """Emit some groups, with the core, in one library; `Groups` gives the other libraries."""
    derivation = _derive(description, None)
    core = _of_core(derivation)
    names = [name for group in groups if group != "core" for name in GROUPS[group] if derivation.has(name)]
    kernels = core | _programs(derivation, names)
    return Library(derivation, core, kernels, ", ".join(groups), dict(parameters)).emitted()


def emit_prebuilt(description: Description, parameters: Mapping[str, float] | None = None) -> tuple[Emitted, Emitted]:
    """The text of all kernels, and the text of the core group for several states."""
    library = whole(description, parameters)
    return library.emitted(), lanes_of(library).emitted()


def lanes_of(library: Library, real: str = "double") -> LaneLibrary:
    """The core group of a `whole` library for several states."""
    core = {name: kernel for name, kernel in library.kernels.items() if KERNEL_GROUPS[name] == "core"}
    return LaneLibrary(library.derivation, library.kernels, core, "all", target=REALS[real][1])


def _derive(description: Description, baked: Mapping[str, float] | None) -> Derivation:
    """Derivation on a new graph, as earlier derivations would change the numbers of the nodes."""
    return Derivation(bake(description, baked) if baked else duplicate(description))


def _of_core(derivation: Derivation) -> dict[str, Derived]:
    return _programs(derivation, filter(derivation.has, GROUPS["core"]))


def _programs(derivation: Derivation, names: Iterable[str]) -> dict[str, Derived]:
    """Nodes of some kernels' programs; if u̇ is solved for at run time, the nodes that fill its equations."""
    result = {}
    for name in names:
        solved = derivation.at_run_time(name)
        result["udot" if solved and name == "rhs" else name] = solved or derivation.program(name)
    return result
