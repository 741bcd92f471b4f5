# SPDX-License-Identifier: BSD-3-Clause
"""What exports start from: one library of all kernels, the integrators' C, zip files.

The C of the package's integrators: its files, and all of it as part of one file of C.

All kernels of a compiled model in one library, with its current parameters: what every export starts from.

Zip files, such as wheels and FMUs, of which the bytes depend on nothing but what they hold.
"""

from __future__ import annotations

import math
import os
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kanecore.build.c_compiler import integrators as folders
from kanecore.describe.description import Description
from kanecore.emit.bytecode import FIRST, code
from kanecore.emit.kernel_groups import Groups, whole
from kanecore.emit.kernel_library import Library
from kanecore.errors import ModelError
from kanecore.program.bytecode_format import Code

__all__ = [
    "LIBRARIES",
    "CompiledModel",
    "description_of",
    "headers",
    "in_one_file",
    "library_of",
    "on_machine",
    "sources",
    "with_values",
    "write_archive",
]

_PARTS = ("quaternions", "signal", "tableaux", "methods", "rosenbrock", "chatter", "interpolate", "events", "integrate")
_HEADERS = ("evaluation", "method", "rosenbrock", "tableaux", "chatter", "events")  # each behind those that it includes
_INSIDE = "kc_quaternions.h"  # which a source includes for a type of its own
_INCLUDE = re.compile(r'^#include "(\w+\.h)"\n', re.MULTILINE)
_PUBLIC = re.compile(r"^(?:extern )?(?:const )?[a-z_0-9]+ [a-z_ ]*\*?(?:const )?(kc_\w+)(?=\(|\[)", re.MULTILINE)


def sources() -> list[Path]:
    """The files to compile."""
    return [folders()[1] / f"kc_{part}.c" for part in _PARTS]


def headers() -> list[Path]:
    """Those that they include, but for ``kanecore.h`` and what it includes."""
    include, source = folders()
    return [include / "kc_ode.h", *(source / f"kc_{name}.h" for name in _HEADERS), source / _INSIDE]


def in_one_file(prefix: str) -> str:
    """All of it, behind the text of a model that has ``kc_status`` and ``kc_kernel``.

    Functions that one file of C cannot keep to itself get the prefix.
    """
    texts = {path.name: path.read_text(encoding="utf-8") for path in (*headers(), *sources())}
    inside = texts.pop(_INSIDE)
    public = sorted({name for file, text in texts.items() if file.endswith(".h") for name in _PUBLIC.findall(text)})
    renamed = "".join(f"#define {name} {prefix}_{name}\n" for name in public)
    body = "".join(texts.values()).replace(f'#include "{_INSIDE}"\n', inside)
    return f"/* Names that other files could meet. */\n{renamed}\n{_INCLUDE.sub('', body)}"


CompiledModel = Any  # which imports what is here when it is asked to export itself


def library_of(dyn: CompiledModel, what: str, kernels: Sequence[str] | None = None, real: str = "double") -> Library:
    """The library that holds all kernels, or some, with the current parameters as defaults.

    Parameters
    ----------
    dyn : CompiledModel
    what : str
        What is made of it, for messages: "a C library".

    Raises
    ------
    ModelError
        The model calls functions of this process by their addresses, or nobody knows its description.
    """
    return whole(description_of(dyn, what), with_values(dyn.parameters), kernels=kernels, real=real)


def description_of(dyn: CompiledModel, what: str) -> Description:
    """What the model was derived from; ModelError as `library_of` raises it."""
    if dyn._functions:
        raise ModelError(
            f"{dyn.name!r} cannot become {what}: it calls {', '.join(dyn._functions)} by address, kc.CFunction, and an "
            "address belongs to this process; describe the function by data, kc.Spline"
        )
    if dyn._describe is None:
        raise ModelError(
            f"{dyn.name!r} cannot become {what}: it was unpickled, or comes from a wheel, without its description; "
            "export it where it was compiled"
        )
    description: Description = dyn._describe()
    return description


def with_values(numbers: Mapping[str, float]) -> dict[str, float]:
    """Those parameters, or inputs, that have a value."""
    return {name: float(value) for name, value in numbers.items() if not math.isnan(value)}


def on_machine(dyn: CompiledModel) -> CompiledModel:
    """The same model in doubles, without a compiler and with no value of its parameters."""
    groups = Groups(dyn._describe(), first=FIRST)

    def build(group: str) -> tuple[Code, None]:
        return code(groups.library(group)), None

    return dyn._another({"core": build("core")[0]}, build)


LIBRARIES = (".so", ".dylib", ".dll")
"""How names of shared libraries end."""

_OLDEST = (1980, 1, 1, 0, 0, 0)  # that a zip file can say: it tells not when it was made
_UNIX = 3  # nor on which system


def write_archive(path: Path, contents: Mapping[str, bytes]) -> None:
    """Write a zip file with these contents by name; under its name it is whole or not there."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(temporary, "w") as archive:
            for name, content in contents.items():
                entry = zipfile.ZipInfo(name, _OLDEST)
                entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, _UNIX
                entry.external_attr = (0o100755 if name.endswith(LIBRARIES) else 0o100644) << 16
                archive.writestr(entry, content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
