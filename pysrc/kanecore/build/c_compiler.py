# SPDX-License-Identifier: BSD-3-Clause
"""The C compiler: its choice, its headers and its command line; this module runs no process."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from kanecore.errors import CompileError, warn

__all__ = [
    "CODE",
    "HEADERS",
    "NO_COMPILER",
    "Target",
    "find_compiler",
    "include_dir",
    "integrators",
    "is_there",
    "is_wanted",
    "named_compiler",
    "split_words",
]

NO_COMPILER = "none"
"""Value in place of a compiler: models are code for the interpreter of the extension."""

_HEADER = "kanecore.h"
HEADERS = (_HEADER, "kc_kernels.h", "kc_status.h")

# The emitter places every fused multiply-add itself, so contraction is off, and -ffast-math is never used. gcc's
# vectorizer of straight-line code fuses nevertheless (vfmaddsubpd, gcc 12), without gain in time, so it is off as well.
# -O1 makes code as fast as -O2, in 0.7 of the time (docs/developers/design.md).  A function must clear the upper halves
# of wide registers at its end, since the code after it is 3 to 5 times slower otherwise. gcc does so only with
# -fexpensive-optimizations; clang always does, and warns of the flag.
CODE = (
    *("-O1", "-fno-math-errno", "-ffp-contract=off", "-fno-tree-slp-vectorize"),
    *("-fexpensive-optimizations", "-Wno-ignored-optimization-argument"),
)
_BASE = ("-std=c99", *CODE, "-shared", "-fvisibility=hidden")
# Windows code is always position-independent, and its C library includes the mathematical functions.
_PIC, _LIBM = ((), ()) if sys.platform == "win32" else (("-fPIC",), ("-lm",))

# Folders in which macOS's xcode-select looks for the compiler that /usr/bin/cc calls.
_DEVELOPER_TOOLS = (
    "/var/db/xcode_select_link",
    "/Applications/Xcode.app",
    "/Library/Developer/CommandLineTools",
)

# Programs that take MSVC's command line.
_MSVC = {"cl", "cl.exe", "clang-cl", "clang-cl.exe"}

_NONE = (
    "no C compiler found: CC is not set, Python's own configuration names none that exists, and neither cc, gcc, clang "
    "nor the Python package ziglang is installed"
)
_INSTALL = """\
Install one:
    as a Python package, on any system:  pip install ziglang;
    on Debian and Ubuntu:  sudo apt install gcc libc6-dev;
    on macOS:  xcode-select --install;
or name one: cc="/path/to/clang" where you compile, or the environment variable CC.\
"""


def integrators() -> tuple[Path, Path]:
    """Folders of the headers, and of the C sources of the integrators."""
    include = include_dir()
    return include, include.parent / "src"


def include_dir() -> Path:
    """Return the folder of ``kanecore.h``: the package's or, in a bare source tree, the native half's."""
    package = Path(__file__).parents[1]
    folders = (package / "include", package.parents[1] / "kanecore" / "include")
    for folder in folders:
        if (folder / _HEADER).is_file():
            return folder
    raise CompileError(
        f"{_HEADER} is neither in {folders[0]} nor in {folders[1]}: this installation of kanecore is incomplete; "
        "install it again"
    )


# Which compiler ------------------------------------------------------------------------------------------


def find_compiler(cc: str | Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the compiler as an argument list, with an absolute path of its program; no process runs.

    If a requested compiler (`cc`, the environment's CC) does not exist, that is an error, and no other compiler is
    used.
    """
    if cc is not None:
        return named_compiler(cc, "the argument cc")
    environment = os.environ.get("CC", "").strip()
    if environment == NO_COMPILER:
        raise CompileError(
            "C must be compiled here, and the environment variable CC is 'none', which means no compiler: unset it; "
            "only a model that was compiled with CC, or cc, 'none' is unpickled without a compiler"
        )
    if environment:
        return named_compiler(environment, "the environment variable CC")
    if argv := _installed():
        return argv
    raise CompileError(f"{_NONE}.\n{_INSTALL}")


def is_wanted(cc: str | Sequence[str] | None, name: str) -> bool:
    """Test whether to compile: no if "none" is requested, or if no compiler is named and none is installed.

    In the latter case a warning names the model.
    """
    asked = cc if cc is not None else os.environ.get("CC", "").strip() or None
    if asked is None and _installed() is None:
        warn(
            f"{_NONE}. So {name!r} runs on a machine of kanecore's own: the same numbers, in two to six times the "
            f'time (with cc="none" without this warning).\n{_INSTALL}'
        )
        return False
    return asked != NO_COMPILER


def is_there() -> bool:
    """Test whether a default compiler is available: the one in ``CC``, or else an installed one."""
    asked = os.environ.get("CC", "").strip()
    return asked != NO_COMPILER if asked else _installed() is not None


def _installed() -> tuple[str, ...] | None:
    """The default compiler, if none is requested."""
    for candidate in (sysconfig.get_config_var("CC"), "cc", "gcc", "clang"):
        argv = _resolve(_words(candidate)) if candidate else None
        if argv and not _is_msvc(argv) and not _is_empty_shim(argv):
            return argv
    return _ziglang()


def named_compiler(cc: str | Sequence[str], origin: str) -> tuple[str, ...]:
    """The compiler requested by an origin, named in messages; CompileError if it does not exist."""
    words = _words(cc)
    if _is_msvc(words):  # tested first, since installing it would not help
        raise CompileError(
            f"{origin} is {cc!r}: MSVC's command line and C99 are not supported. Install clang or "
            '"pip install ziglang", and leave CC unset or set it to clang.'
        )
    argv = _resolve(words)
    if argv is None:
        raise CompileError(f"{origin} is {cc!r}, and there is no such program on the PATH.\n{_INSTALL}")
    return argv


def _words(cc: str | Sequence[str]) -> tuple[str, ...]:
    """Return program and arguments; a string may be a path with spaces or a command line."""
    return (cc,) if isinstance(cc, str) and shutil.which(cc) else split_words(cc, "cc")


def _resolve(words: Sequence[str]) -> tuple[str, ...] | None:
    """Return the words if their program exists, else None."""
    program = shutil.which(words[0]) if words else None
    # The path as found, not resolved: ccache and clang depend on the name by which they are called.
    return (str(Path(program).absolute()), *words[1:]) if program else None


def _is_msvc(words: Sequence[str]) -> bool:
    """Test whether a command calls MSVC, or clang-cl: by any path, or by a launcher such as sccache."""
    programs = (PureWindowsPath(word).name.lower() for word in words if not word.startswith("-"))
    return any(program in _MSVC for program in programs)


def _is_empty_shim(argv: Sequence[str]) -> bool:
    """Test whether this is the /usr/bin/cc of a macOS without developer tools, which only asks to install them."""
    if sys.platform != "darwin" or Path(argv[0]).parent != Path("/usr/bin"):
        return False
    return "DEVELOPER_DIR" not in os.environ and not any(Path(place).exists() for place in _DEVELOPER_TOOLS)


def _is_zig(argv: Sequence[str]) -> bool:
    return Path(argv[0]).stem == "zig" or "ziglang" in argv


def _ziglang() -> tuple[str, ...] | None:
    """Command ``python -m ziglang cc``, without the Python process, which would only start zig."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        return None
    program = shutil.which(str(Path(spec.origin).with_name("zig")))
    return (program, "cc") if program else None


def split_words(words: str | Sequence[str] | None, argument: str) -> tuple[str, ...]:
    """Split a command line into words; backslashes are part of paths on Windows."""
    if words is None:
        return ()
    if not isinstance(words, str):
        return tuple(words)
    try:
        if os.name == "nt":
            return tuple(word.strip('"') for word in shlex.split(words, posix=False))
        return tuple(shlex.split(words))
    except ValueError as error:
        raise ValueError(f"{argument} {words!r} cannot be split into words: {error}") from None


# What a library depends on ------------------------------------------------------------------------------------


# The call ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """A compiler and the way to call it, for any text.

    Attributes
    ----------
    argv : tuple of str
        The compiler, with arguments if any.
    native : str or None
        The flag for code for this very processor; None if such code is not wanted.
    flags : tuple of str
        Flags that follow kanecore's own.
    include : Path
        The folder of kanecore.h.
    """

    argv: tuple[str, ...]
    native: str | None
    flags: tuple[str, ...]
    include: Path

    def command(self, text: str | Path, library: str | Path) -> tuple[str, ...]:
        """The command that makes a library of C text."""
        flags = self.flags
        processor = [self.native] if self.native else []
        if _is_zig(self.argv):  # zig writes processors with underscores, and takes this processor by default
            flags = tuple(re.sub("-(?!march=)", "_", flag) if flag.startswith("-march=") else flag for flag in flags)
            if not self.native and not any(flag.startswith(("-march=", "-mcpu=")) for flag in flags):
                processor = ["-mcpu=baseline"]
        own = (*_BASE, *_PIC, *processor, "-I", str(self.include))
        # The user's flags are last, so that they prevail, and so that libraries follow the objects that need them.
        return (*self.argv, *own, str(text), "-o", str(library), *flags, *_LIBM)
