# SPDX-License-Identifier: BSD-3-Clause
"""Prebuilt models: libraries compiled elsewhere for several instruction levels, and the one that this processor runs.

The gallery and model wheels lay them in a folder: ``NAME.c``, ``NAME.LEVEL.so`` with all kernels, and
``NAME.lanes.LEVEL.so`` with those that evaluate several states at once.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanecore.errors import without_part

if TYPE_CHECKING:
    from kanecore.compiled_model import CompiledModel

__all__ = ["FACTS", "LEVELS", "lane_library", "libraries", "library", "load_wheel"]

# Levels that a model is compiled for, with the least kc_cpu_level() of each; the best first.
LEVELS = {"x86-64-v4": 4, "x86-64-v3": 3, "baseline": 1}
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")

FACTS = "model.json"
"""The file in the module of a model wheel that says what the others are; they bear the names of groups of kernels."""


def libraries(folder: Path, name: str, level: str | None = None) -> dict[str, Path]:
    """The files that a model may have, by level, the best first."""
    return {each: folder / f"{name}.{each}{SUFFIX}" for each in ([level] if level else LEVELS)}


def library(folder: Path, name: str) -> Path:
    """Best library for this processor; it is compiled now if the processor is older than all of them.

    Raises
    ------
    FileNotFoundError
        The folder holds no library of this model for this system.
    CompileError
        The processor is older than the libraries' instruction levels, and there is no C compiler.
    """
    from kanecore._library import cpu_level

    built = {each: path for each, path in libraries(folder, name).items() if path.exists()}
    if not built:
        raise FileNotFoundError(f"no library of {name!r} for this system lies in {folder}")
    runs = [path for each, path in built.items() if LEVELS[each] <= cpu_level()]
    if not runs:
        from kanecore.build import compile_library

        return Path(compile_library((folder / f"{name}.c").read_text(encoding="utf-8"), name=name).path)
    return runs[0]


def lane_library(folder: Path, name: str) -> str | None:
    """The library that evaluates as many states at once as this processor can; None if there is none."""
    from kanecore._library import cpu_level

    found = libraries(folder, f"{name}.lanes")
    return next((str(path) for each, path in found.items() if LEVELS[each] <= cpu_level() and path.exists()), None)


def load_wheel(module: str) -> CompiledModel:
    """The model in the module of a model wheel, :func:`kanecore.build_wheel`; parameters and inputs as it was built.

    Raises
    ------
    ImportError
        The wheel was built for another version of the C contract, `kanecore.ABI_VERSION`; or for another system.
    """
    try:
        from kanecore._library import ABI_VERSION
        from kanecore.single_model import class_of
    except ImportError as error:
        raise without_part("load", error) from error.__cause__

    folder = Path(str(import_module(module).__file__)).parent
    facts: dict[str, Any] = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    wheel = f"{facts['distribution']} {facts['version']}"
    if facts["abi"] != ABI_VERSION:
        newer = facts["abi"] > ABI_VERSION
        first = (
            "upgrade kanecore (pip install --upgrade kanecore)" if newer else "install a newer version of this wheel"
        )
        raise ImportError(
            f"the model wheel {wheel} was built for ABI version {facts['abi']} of kanecore, by kanecore "
            f"{facts['kanecore']}, and this kanecore has ABI version {ABI_VERSION}: {first}, or build the wheel again "
            "with this kanecore, kc.build_wheel",
            name=module,
        )
    try:
        dyn = class_of(facts["real"])(
            {group: str(library(folder, group)) for group in facts["groups"]},
            source={group: (folder / f"{group}.c").read_text(encoding="utf-8") for group in facts["groups"]},
            lane_builder=lambda group: lane_library(folder, group),
            info={"real": facts["real"], "baked": facts["baked"]},
            origin=(load_wheel, (module,)),
        )
    except (FileNotFoundError, ImportError) as error:
        raise ImportError(
            f"the model wheel {wheel} cannot be loaded: {error}; install it again", name=module
        ) from error
    dyn.parameters.update(facts["parameters"])
    dyn.inputs.update(facts["inputs"])
    return dyn
