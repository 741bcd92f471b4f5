# SPDX-License-Identifier: BSD-3-Clause
"""Zip files, such as wheels and FMUs, of which the bytes depend on nothing but what they hold."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

__all__ = ["LIBRARIES", "write_archive"]

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
