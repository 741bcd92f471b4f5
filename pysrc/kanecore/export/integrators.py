# SPDX-License-Identifier: BSD-3-Clause
"""The package's integrators as part of one C file: each once, names that leave it under the prefix."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["integrators"]

_FOLDER = Path(__file__).parents[1]
_HEADERS = (
    *("include/kc_ode.h", "src/kc_stage.h", "src/kc_method.h", "src/kc_rosenbrock.h", "src/kc_tableaux.h"),
    *("src/kc_chatter.h", "src/kc_events.h"),
)
_SOURCES = ("unit", "signal", "tableaux", "methods", "rosenbrock", "chatter", "events", "drive")
_INCLUDE = re.compile(r'^#include "(\w+\.h)"\n', re.MULTILINE)
_PUBLIC = re.compile(r"^(?:extern )?(?:const )?[a-z_0-9]+ [a-z_ ]*\*?(?:const )?(kc_\w+)(?=\(|\[)", re.MULTILINE)


def integrators(prefix: str) -> str:
    """Their text, behind that of a model; it needs ``kc_status`` and ``kc_kernel``."""
    headers = [(_FOLDER / name).read_text(encoding="utf-8") for name in _HEADERS]
    sources = [(_FOLDER / f"src/kc_{name}.c").read_text(encoding="utf-8") for name in _SOURCES]
    unit = (_FOLDER / "src/kc_unit.h").read_text(encoding="utf-8")
    public = sorted({name for text in headers for name in _PUBLIC.findall(text)})
    renamed = "".join(f"#define {name} {prefix}_{name}\n" for name in public)
    body = "".join(headers) + sources[0].replace('#include "kc_unit.h"\n', unit) + "".join(sources[1:])
    return f"/* Names that other files could meet. */\n{renamed}\n{_INCLUDE.sub('', body)}"
