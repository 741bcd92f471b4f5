# SPDX-License-Identifier: BSD-3-Clause
"""Sources of C text other than the description: if they are unchanged, nothing is derived again."""

from __future__ import annotations

import functools
import hashlib
from importlib import metadata
from pathlib import Path

import numpy as np

__all__ = ["sources", "version"]


@functools.cache
def sources() -> str:
    """Hash of the sources that turn descriptions into C: the package's own, and NumPy's version."""
    folder = Path(__file__).parents[1]
    layers = [folder / name for name in ("graph", "functions", "describe", "derive", "program", "emit")]
    files = [*folder.glob("*.py"), *(path for layer in layers for path in layer.rglob("*.[ph]*"))]
    digest = hashlib.sha256(f"{version()} {np.__version__}".encode())
    for path in sorted(files):
        if path.suffix in (".py", ".h"):
            digest.update(f"{path.name} {path.stat().st_size} ".encode() + path.read_bytes())
    return digest.hexdigest()


@functools.cache
def version() -> str:
    """Version of the package in C text."""
    try:
        return metadata.version("kanecore")
    except metadata.PackageNotFoundError:  # while setup.py builds the gallery
        return "source"
