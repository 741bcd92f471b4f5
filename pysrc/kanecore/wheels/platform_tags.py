# SPDX-License-Identifier: BSD-3-Clause
"""Platform tags of wheels, from the systems on which a compiled library runs.

The library itself is read, since a compiler may build for another system than this one.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable

from kanecore.errors import CompileError

__all__ = ["platform_tag", "suffix"]

_ELF = {3: "i686", 21: "ppc64le", 22: "s390x", 40: "armv7l", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
_MACH = {0x01000007: "x86_64", 0x0100000C: "arm64"}
_PE = {0x14C: "win32", 0x8664: "win_amd64", 0xAA64: "win_arm64"}
_SUFFIXES = {b"\x7fELF": ".so", b"\xcf\xfa\xed\xfe": ".dylib", b"MZ": ".dll"}

# The oldest system of a tag: code for older systems runs on it as well, and every current pip knows it (PEP 599).
_OLDEST = (2, 17)
_GLIBC = re.compile(rb"(?<=\0)GLIBC_(\d+)\.(\d+)(?:\.\d+)?(?=\0)")
_LIBC = re.compile(rb"(?<=\0)(libc\.[-.\w]*)(?=\0)")


def suffix(library: bytes) -> str:
    """Suffix of the name of a library for a system."""
    return next((end for magic, end in _SUFFIXES.items() if library.startswith(magic)), ".so")


def platform_tag(libraries: Iterable[bytes]) -> str:
    """Platform tag that is valid for all libraries.

    On Linux the tag is manylinux with the newest glibc of a used symbol (PEP 600), or linux for a library without
    glibc.

    Raises
    ------
    CompileError
        The libraries are for different systems, or for an unknown one.
    """
    tags = [_tag(library) for library in libraries]
    systems = {(system, machine) for system, _, machine in tags}
    if len(systems) != 1:
        raise CompileError(f"the compiler made libraries for different systems: {sorted(systems)}")
    system, _, machine = tags[0]
    major, minor = max(version for _, version, _ in tags)
    return f"{system}_{major}_{minor}_{machine}" if major else "_".join(filter(None, (system, machine)))


def _tag(library: bytes) -> tuple[str, tuple[int, int], str]:
    """The system, its oldest version or (0, 0), and the architecture."""
    ending = suffix(library)
    if library.startswith(b"\x7fELF"):
        order = "<" if library[5] == 1 else ">"
        machine = _known(_ELF, struct.unpack_from(f"{order}H", library, 18)[0])
        if any(name != b"libc.so.6" for name in _LIBC.findall(library)):  # musl's, Android's
            return "linux", (0, 0), machine
        return "manylinux", max([_OLDEST, *((int(a), int(b)) for a, b in _GLIBC.findall(library))]), machine
    if ending == ".dylib":
        return "macosx", _macos(library), _known(_MACH, struct.unpack_from("<I", library, 4)[0])
    if ending == ".dll":
        (header,) = struct.unpack_from("<I", library, 0x3C)
        return _known(_PE, struct.unpack_from("<H", library, header + 4)[0]), (0, 0), ""
    raise CompileError(f"the compiler made a library that begins with {library[:4]!r}: its system is unknown")


def _known(names: dict[int, str], number: int) -> str:
    if number not in names:
        raise CompileError(f"the compiler made a library for processor {number:#x}, for which no wheel has a name")
    return names[number]


def _macos(library: bytes) -> tuple[int, int]:
    """The oldest macOS that a library was built for, by its load commands; the minor version is 0 from 11 on."""
    (n_commands,) = struct.unpack_from("<I", library, 16)
    at = 32
    for _ in range(n_commands):
        command, size = struct.unpack_from("<II", library, at)
        if command in (0x24, 0x32):  # LC_VERSION_MIN_MACOSX; LC_BUILD_VERSION, after the platform
            (version,) = struct.unpack_from("<I", library, at + (8 if command == 0x24 else 12))
            major, minor = version >> 16, version >> 8 & 0xFF
            return major, 0 if major > 10 else minor
        at += size
    raise CompileError("the compiler made a library without a version of macOS")
