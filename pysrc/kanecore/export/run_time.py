# SPDX-License-Identifier: BSD-3-Clause
"""kanecore as it is installed here, to be carried by what runs where it is not installed."""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from kanecore.emit.sources import version
from kanecore.errors import CompileError

from .binaries import platform_tag
from .distribution import normal_version

__all__ = ["REQUIREMENTS", "run_time", "tag_with"]

REQUIREMENTS = ("numpy>=1.24",)
"""What runs a model; pyproject.toml asks for the same, and for SymPy."""

_NATIVE = (".so", ".pyd", ".dll", ".dylib")
_OWN = EXTENSION_SUFFIXES[0]  # such as .cpython-311-x86_64-linux-gnu.so
_LEFT_OUT = ("__pycache__", "_lib")  # _lib: the compiled models of the gallery


def run_time() -> dict[str, bytes]:
    """The files by path: the package without the gallery's libraries, and metadata that tell its version.

    Its extension is for this Python and this system.  The package is whole: with SymPy beside it, it derives models.
    """
    package = Path(__file__).parents[1]
    files = {}
    for path in sorted(package.rglob("*")):
        parts = path.relative_to(package).parts
        extension = path.suffix in _NATIVE
        if path.is_file() and not set(parts) & {*_LEFT_OUT} and (not extension or path.name.endswith(_OWN)):
            files["/".join(("kanecore", *parts))] = path.read_bytes()
    own = version()
    release = normal_version(own) if own != "source" else "0"
    files[f"kanecore-{release}.dist-info/METADATA"] = (
        f"Metadata-Version: 2.1\nName: kanecore\nVersion: {release}\n".encode()
    )
    return files


def tag_with(libraries: list[bytes], carried: list[bytes]) -> str:
    """The tag of a wheel that holds libraries of a model, and of a run time, if any.

    Raises
    ------
    CompileError
        They are for different systems.
    """
    if not carried:
        return f"py3-none-{platform_tag(libraries)}"
    mine, its = platform_tag(libraries), platform_tag(carried)
    try:
        platform = platform_tag([*libraries, *carried])
    except CompileError as error:
        raise CompileError(
            f"the compiler builds for {mine}, and the run time of kanecore that the wheel would carry is for {its}: "
            "with runtime=False the wheel leaves it out, and asks for kanecore"
        ) from error
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}{getattr(sys, 'abiflags', '')}-{platform}"
