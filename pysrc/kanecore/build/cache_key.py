# SPDX-License-Identifier: BSD-3-Clause
"""Key of a library in the cache: SHA-256 of all inputs of its code.

The code depends on its C text, on ``kanecore.h`` and the headers in it, on the compiler's identity and its flags, and
on the processor that ``-march=native`` means.  These are found without running a process, so that a compile that hits
the cache starts none.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kanecore.build.c_compiler import HEADERS, Target

__all__ = ["Recipe", "compiler_identity", "digest", "library_key", "processor"]

# Raised when the files of a cache entry change their meaning.
_LAYOUT = "kanecore cache 3"

# Fields of /proc/cpuinfo that distinguish the instructions of processors, over all architectures.
_CPUINFO = {
    *("vendor_id", "cpu family", "model", "model name", "flags"),
    *("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features"),
    *("cpu", "machine", "features", "isa", "uarch"),
}


@dataclass(frozen=True)
class Recipe:
    """C text that is written only if the cache lacks its library.

    Attributes
    ----------
    fingerprint : str
        Text that identifies all inputs of the C text.
    write : callable
        Returns the text.
    """

    fingerprint: str
    write: Callable[[], str]


def library_key(source: str | Recipe, target: Target) -> str:
    """Key of the library that a target makes from C text, 64 hexadecimal digits."""
    parts = [
        _LAYOUT,
        ["recipe", source.fingerprint] if isinstance(source, Recipe) else digest(source),
        *((target.include / name).read_text(encoding="utf-8") for name in HEADERS),
        replace(target, include=Path("include")).command("c", "so"),
        compiler_identity(target.argv),
        processor() if target.native else [],
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def digest(text: str) -> str:
    """SHA-256 of a text, 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def compiler_identity(argv: Sequence[str]) -> list[str]:
    """Real path, size and time of every program in a command line: of ``ccache gcc -m64``, ccache and gcc.

    A program that only starts another (ccache under gcc's name, macOS's /usr/bin/cc) hides an update of the other
    program; an older library stays correct.
    """
    found = []
    for word in argv:
        if not word.startswith("-") and (program := shutil.which(word)):
            path = Path(program).resolve()
            status = path.stat()
            found += [str(path), str(status.st_size), str(status.st_mtime_ns)]
    return found


@functools.cache
def processor() -> tuple[str, ...]:
    """Describe the processor that ``-march=native`` means: in a shared home, each kind has its own libraries.

    If its features cannot be read, the machine's own name replaces them.
    """
    machine = (sys.platform, platform.machine())
    if sys.platform == "win32":
        return (*machine, os.environ.get("PROCESSOR_IDENTIFIER") or platform.node())
    features = _darwin_features() if sys.platform == "darwin" else _linux_features()
    return (*machine, *(features or [platform.node()]))


def _linux_features() -> list[str]:
    try:
        # The first processor's block; the kernel writes the others only if they are read.
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as file:
            block = file.read(1 << 14).partition("\n\n")[0]
    except OSError:
        return []
    features = []
    for line in block.splitlines():
        field, _, value = line.partition(":")
        if field.strip() in _CPUINFO:
            features.append(f"{field.strip()}: {' '.join(sorted(value.split()))}")
    return sorted(features)


def _darwin_features() -> list[str]:
    import ctypes

    sysctl = ctypes.CDLL(None).sysctlbyname
    sysctl.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    features = []
    for field in ("machdep.cpu.brand_string", "machdep.cpu.features", "machdep.cpu.leaf7_features"):
        value = ctypes.create_string_buffer(4096)
        length = ctypes.c_size_t(len(value))
        if (
            sysctl(field.encode(), value, ctypes.byref(length), None, 0) == 0
        ):  # Intel processors have all three fields, Apple's have the first
            features.append(f"{field}: {' '.join(sorted(value.value.decode(errors='replace').split()))}")
    return features
