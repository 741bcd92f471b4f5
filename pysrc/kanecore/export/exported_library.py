# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of exports: one library of all kernels, the integrators' C, zip files.

The library of all kernels of a compiled model holds its current parameters; every export starts from it.  The C of the
package's integrators is given as its files, or as part of one file of C.  The bytes of zip files, such as wheels and
FMUs, depend on nothing but their content.
"""

from __future__ import annotations

import math
import re
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kanecore.build.c_compiler import integrators as folders
from kanecore.describe.description import Description
from kanecore.describe.reading import Reading
from kanecore.emit.bytecode import FIRST, code
from kanecore.emit.kernel_groups import Groups, whole
from kanecore.emit.kernel_library import Library
from kanecore.errors import ModelError
from kanecore.program.bytecode_format import Code
from kanecore.whole_files import whole_file

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.model import Model

__all__ = [
    "LIBRARIES",
    "description_of",
    "headers",
    "in_one_file",
    "library_of",
    "model_of",
    "on_machine",
    "sources",
    "with_values",
    "write_archive",
]

_PARTS = (
    "quaternions",
    "signal",
    "tableaux",
    "methods",
    "rosenbrock",
    "chatter",
    "interpolate",
    "zeros",
    "events",
    "integrate",
)
_HEADERS = (
    "evaluation",
    "method",
    "rosenbrock",
    "tableaux",
    "interpolate",
    "chatter",
    "events",
    "zeros",
)  # each after the headers that it includes
_INSIDE = "kc_quaternions.h"  # which a source includes for a type of its own
_INCLUDE = re.compile(r'^#include "(\w+\.h)"\n', re.MULTILINE)
_PUBLIC = re.compile(r"^(?:extern )?(?:const )?[a-z_0-9]+ [a-z_ ]*\*?(?:const )?(kc_\w+)(?=\(|\[)", re.MULTILINE)


def sources() -> list[Path]:
    """The files to compile."""
    return [folders()[1] / f"kc_{part}.c" for part in _PARTS]


def headers() -> list[Path]:
    """Headers that the integrators include, but for ``kanecore.h`` and what it includes."""
    include, source = folders()
    return [include / "kc_ode.h", *(source / f"kc_{name}.h" for name in _HEADERS), source / _INSIDE]


def in_one_file(prefix: str) -> str:
    """All C of the integrators; it follows the text of a model, which has ``kc_status`` and ``kc_kernel``.

    Functions that one file of C cannot keep to itself get the prefix.
    """
    texts = {path.name: path.read_text(encoding="utf-8") for path in (*headers(), *sources())}
    inside = texts.pop(_INSIDE)
    public = sorted({name for file, text in texts.items() if file.endswith(".h") for name in _PUBLIC.findall(text)})
    renamed = "".join(f"#define {name} {prefix}_{name}\n" for name in public)
    body = "".join(texts.values()).replace(f'#include "{_INSIDE}"\n', inside)
    return f"/* Names that other files could meet. */\n{renamed}\n{_INCLUDE.sub('', body)}"


def library_of(dyn: Evaluator, product: str, kernels: Sequence[str] | None = None, real: str = "double") -> Library:
    """Library that holds all kernels, or some, with the current parameters as defaults.

    Parameters
    ----------
    dyn : Evaluator
    product : str
        Name of the export, for messages: "a C library".

    Raises
    ------
    ModelError
        The model calls functions of this process by their addresses, or its description is not known.
    """
    return whole(description_of(dyn, product), with_values(dyn.parameters), kernels=kernels, real=real)


def description_of(dyn: Evaluator, product: str) -> Description:
    """Description from which the model was derived; ModelError as `library_of` raises it."""
    if dyn.libraries.functions:
        raise ModelError(
            f"{dyn.name!r} cannot become {product}: it calls {', '.join(dyn.libraries.functions)} by address, "
            "kc.CFunction, and an address belongs to this process; describe the function by data, kc.Spline"
        )
    if dyn.libraries.describe is None:
        raise ModelError(
            f"{dyn.name!r} cannot become {product}: it comes from a wheel, without its description; export it where it "
            "was compiled"
        )
    description: Description = dyn.libraries.describe()
    return description


def model_of(dyn: Evaluator) -> Model:
    """Model with the names of a compiled one, made of its description without warnings, which were given before.

    ModelError where the description is not known.
    """
    from kanecore.model import Model

    if dyn.libraries.describe is None:
        raise ModelError(f"{dyn.name!r} comes from a wheel, without its description: ask where it was compiled")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Model.of_reading(Reading(dyn.libraries.describe()))


def with_values(numbers: Mapping[str, float]) -> dict[str, float]:
    """Parameters, or inputs, that have a value."""
    return {name: float(value) for name, value in numbers.items() if not math.isnan(value)}


def on_machine(dyn: Evaluator) -> Evaluator:
    """Copy of the model in doubles, without a compiler and without values of its parameters."""
    groups = Groups(description_of(dyn, "a model on the machine"), first=FIRST)

    def build(group: str) -> tuple[Code, None]:
        return code(groups.library(group)), None

    return dyn.another({"core": build("core")[0]}, build)


LIBRARIES = (".so", ".dylib", ".dll")
"""Endings of the names of shared libraries."""

_OLDEST = (1980, 1, 1, 0, 0, 0)  # the earliest of a zip file, in place of the time of its making
_UNIX = 3  # nor on which system


def write_archive(path: Path, contents: Mapping[str, bytes]) -> None:
    """Write a zip file with these contents by name."""
    with whole_file(path) as place, zipfile.ZipFile(place, "w") as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, _OLDEST)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, _UNIX
            entry.external_attr = (0o100755 if name.endswith(LIBRARIES) else 0o100644) << 16
            archive.writestr(entry, content)
