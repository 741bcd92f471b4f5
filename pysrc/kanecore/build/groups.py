# SPDX-License-Identifier: BSD-3-Clause
"""Groups of kernels of one model, each compiled when it is first called."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kanecore.build.cache_key import Recipe
from kanecore.build.compilation import compile_library
from kanecore.emit.sources import sources
from kanecore.program.garbage_collection import no_collection

if TYPE_CHECKING:
    from kanecore.emit.kernel_groups import Groups

__all__ = ["group_builders"]


def group_builders(
    groups: Callable[[], Groups],
    fingerprinted: str,
    built_groups: dict[str, Any],
    options: Mapping[str, Any],
    *,
    warns: str | None = None,
    known: Mapping[str, str] = MappingProxyType({}),
    telling: Callable[[str], AbstractContextManager[None]] = lambda _: nullcontext(),
) -> tuple[Callable[[str], tuple[str, str]], Callable[[str], str]]:
    """Functions that compile a group of kernels; they return library path and C text, or the library in lanes.

    Parameters
    ----------
    groups : callable
        Function that returns the object that writes C text; called if the cache lacks a group.
    fingerprinted : str
        Text that identifies all inputs of the C text other than the package.
    built_groups : dict
        Receives the time that each group took.
    options : mapping
        Options of `compile_library`.
    warns : str, optional
        A group with warnings during derivation.  It is derived at each compile, so that each compile warns, and its C
        text is the key of the cache.
    known : mapping of group to C text
        Groups that are derived already.
    telling : callable
        Function that returns the ``telling`` of `compile_library` for the words about a group.
    """

    @no_collection()
    def build(group: str) -> tuple[str, str]:
        derived = 0.0

        def write() -> str:
            nonlocal derived
            if group in known:
                return known[group]
            start = time.perf_counter()
            text = groups().emit(group).text
            derived = time.perf_counter() - start
            return text

        recipe = write() if group == warns else Recipe(f"{fingerprinted} {group} {sources()}", write)
        built = compile_library(recipe, telling=lambda: telling(group), **options)
        built_groups[group] = {
            "derive_seconds": derived,
            "compile_seconds": built.seconds - (0.0 if group == warns else derived),
            "from_cache": built.from_cache,
            "command": list(built.command),
        }
        return built.path, built.source

    @no_collection()
    def build_lanes(group: str) -> str:
        recipe = Recipe(f"{fingerprinted} {group} in lanes {sources()}", lambda: groups().emit(group, lanes=True).text)
        return compile_library(recipe, telling=lambda: telling(f"{group}, for batches"), **options).path

    return build, build_lanes
