# SPDX-License-Identifier: BSD-3-Clause
"""CasADi function of a compiled model, with exact first and second derivatives, by CasADi's external interface."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanecore.build.cache_key import Recipe, digest
from kanecore.build.compilation import compile_library
from kanecore.emit.sources import sources

from .c_names import checked_function, default_prefix
from .casadi_directions import opened

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["casadi_function"]

VARIABLES = ("t", "x", "r", "p")
"""Arguments with derivatives."""


def casadi_function(dyn: Evaluator, kernel: str, name: str | None, wrt: Iterable[str]) -> Any:
    """Make the function that `CompiledModel.casadi` returns."""
    try:
        import casadi
    except ImportError as error:
        raise ImportError("dyn.casadi needs the package casadi: pip install casadi") from error
    chosen = f"{default_prefix(dyn.name)}_{kernel}" if name is None else checked_function(name)
    variables = list(wrt)
    if unknown := [variable for variable in variables if variable not in VARIABLES]:
        raise ValueError(f"wrt holds {unknown[0]!r}; derivatives are those by {', '.join(map(repr, VARIABLES))}")
    wanted = tuple(variable in variables for variable in VARIABLES)
    with dyn.libraries.building:
        made, key = dyn.libraries.casadi_functions, (kernel, chosen, wanted)
        if key not in made and kernel == "rhs":
            path = compile_library(_recipe(dyn, chosen, variables), name=chosen).path
            made[key] = opened(casadi, chosen, path, list(wanted))
        elif key not in made:
            from .casadi_expressions import expression_function

            made[key] = expression_function(casadi, dyn, kernel, chosen, list(wanted))
        return made[key]


def _recipe(dyn: Evaluator, name: str, wrt: Sequence[str]) -> str | Recipe:
    """The C text, which is derived and written only if the cache lacks its library."""

    def write() -> str:
        from .casadi_text import text

        return text(dyn, name, wrt)

    fingerprint = dyn.libraries.fingerprint
    if fingerprint is None:
        return write()
    return Recipe(f"{fingerprint()} casadi {name} {sorted(wrt)} {sources()} {_own_sources()}", write)


@functools.cache
def _own_sources() -> str:
    """Hash of the files of this folder that the text depends on."""
    folder = Path(__file__).parent
    files = [*folder.glob("casadi_*.py"), folder / "c_source.py", *folder.glob("c_files/casadi_*.c")]
    return digest("".join(path.read_text(encoding="utf-8") for path in sorted(files)))
