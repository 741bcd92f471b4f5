# SPDX-License-Identifier: BSD-3-Clause
"""The C of the package's integrators: its files, and all of it as part of one file of C."""

from __future__ import annotations

import re
from pathlib import Path

from kanecore.build.compiler import integrators as folders

__all__ = ["headers", "in_one_file", "sources"]

_PARTS = ("unit", "signal", "tableaux", "methods", "rosenbrock", "chatter", "events", "drive")
_HEADERS = ("stage", "method", "rosenbrock", "tableaux", "chatter", "events")  # each behind those that it includes
_INSIDE = "kc_unit.h"  # which a source includes for a type of its own
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
