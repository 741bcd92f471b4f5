# SPDX-License-Identifier: BSD-3-Clause
"""The C compiler: its choice, flags and target processor; called with a list, never through a shell.

The key of a library is the SHA-256 of its C text, of ``kanecore.h`` and what it includes, of the
compiler's identity, of the flags, and of the processor that ``-march=native`` stands for.  All of that is
found without running anything, so that a compile that hits the cache starts no process.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import importlib.util
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PureWindowsPath
from typing import Any

from kanecore.build import cache as store
from kanecore.errors import CompileError, warn

__all__ = [
    "CODE",
    "NO_COMPILER",
    "Built",
    "Recipe",
    "compile_library",
    "find_compiler",
    "include_dir",
    "integrators",
    "is_there",
    "is_wanted",
    "lane_levels",
    "levels",
    "link",
    "prebuild",
]

NO_COMPILER = "none"
"""In place of a compiler: models are code for the machine of the extension."""

# Raised when the files of a cache entry change their meaning.
_LAYOUT = "kanecore cache 3"

_HEADER = "kanecore.h"
_HEADERS = (_HEADER, "kc_kernels.h", "kc_status.h")

# The emitter places every fused multiply-add itself, so contraction is off; -ffast-math never.  gcc's vectorizer of
# straight-line code fuses all the same (vfmaddsubpd, gcc 12), at no gain in time: it is off as well.  -O1 makes code as
# fast as -O2 does, in 0.7 of the time (docs/design.md); gcc clears the upper halves of wide registers at the end of a
# function, without which processors run what comes next 3 to 5 times slower, only with -fexpensive-optimizations, and
# clang always: it warns of the flag.
CODE = (
    *("-O1", "-fno-math-errno", "-ffp-contract=off", "-fno-tree-slp-vectorize"),
    *("-fexpensive-optimizations", "-Wno-ignored-optimization-argument"),
)
_BASE = ("-std=c99", *CODE, "-shared", "-fvisibility=hidden")
# Windows code is always position-independent, and its C library holds the mathematics.
_PIC, _LIBM = ((), ()) if sys.platform == "win32" else (("-fPIC",), ("-lm",))

# How gcc, clang and zig spell "for this very processor"; elsewhere they disagree, and nothing is said.
_NATIVE = {
    "x86_64": "-march=native",
    "amd64": "-march=native",
    "i386": "-march=native",
    "i686": "-march=native",
    "s390x": "-march=native",
    "arm64": "-mcpu=native",
    "aarch64": "-mcpu=native",
    "ppc64le": "-mcpu=native",
}

# Instruction levels of prebuilt models, by machine; elsewhere the compiler's own default.  Never -march=native: a wheel
# runs on other machines than the one that built it.  Nearly all processors have this level; on the few others a model
# is compiled when it is loaded (docs/design.md).
_V3 = {"x86-64-v3": ("-mavx2", "-mfma", "-mbmi2")}
_V4 = {"x86-64-v4": (*_V3["x86-64-v3"], *(f"-mavx512{part}" for part in ("f", "bw", "cd", "dq", "vl")))}
_LEVELS: Mapping[str, Mapping[str, tuple[str, ...]]] = {"x86_64": _V3, "amd64": _V3}
_LANE_LEVELS: Mapping[str, Mapping[str, tuple[str, ...]]] = {"x86_64": _V3 | _V4, "amd64": _V3 | _V4}
_ANY: Mapping[str, tuple[str, ...]] = {"baseline": ()}

# Fields of /proc/cpuinfo that distinguish the instructions of processors, over all architectures.
_CPUINFO = {
    *("vendor_id", "cpu family", "model", "model name", "flags"),
    *("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features"),
    *("cpu", "machine", "features", "isa", "uarch"),
}

# Where macOS's xcode-select looks for the compiler behind /usr/bin/cc.
_DEVELOPER_TOOLS = (
    "/var/db/xcode_select_link",
    "/Applications/Xcode.app",
    "/Library/Developer/CommandLineTools",
)

# Programs that take MSVC's command line.
_MSVC = {"cl", "cl.exe", "clang-cl", "clang-cl.exe"}

_NONE = (
    "no C compiler found: CC is not set, Python's own configuration names none that exists, and neither cc, gcc, clang "
    "nor the Python package ziglang is here"
)
_INSTALL = """\
Install one:
    Debian, Ubuntu   sudo apt install gcc libc6-dev
    macOS            xcode-select --install
    anywhere, Windows too, as a Python package (ziglang):
                     pip install "kanecore[compiler]"    or    pip install ziglang
or name one: cc="/path/to/clang" where you compile, or the environment variable CC.\
"""

_ROOM = 1 << 20  # free bytes below which a compiler that failed is taken to have lacked room
_MAX_WORDS = 4000  # characters of the compiler's messages in an error; the log holds them all


@dataclass(frozen=True)
class Recipe:
    """C text that is written only if the cache does not hold its library.

    Attributes
    ----------
    fingerprint : str
        Stands for all that the text depends on.
    write : callable
        Returns the text.
    """

    fingerprint: str
    write: Callable[[], str]


@dataclass(frozen=True)
class Built:
    """A compiled library.

    Attributes
    ----------
    path : str
        The shared library.
    key : str
        SHA-256 of everything it depends on, 64 hexadecimal digits.
    from_cache : bool
        True if nothing was compiled.
    seconds : float
        Duration of this call.
    command : tuple of str
        The command that made the library, with the temporary paths that it was given.
    log : str
        The compiler's messages (warnings); empty if it had none.
    source : str
        The C text.
    """

    path: str
    key: str
    from_cache: bool
    seconds: float
    command: tuple[str, ...]
    log: str
    source: str


def compile_library(
    source: str | Recipe,
    *,
    cc: str | Sequence[str] | None = None,
    cflags: str | Sequence[str] | None = None,
    cache: bool = True,
    verbose: bool = False,
    name: str = "model",
) -> Built:
    """Compile C text for this machine into a shared library, or find it in the cache.

    Parameters
    ----------
    source : str or Recipe
        C99 text of one translation unit; it may include ``kanecore.h``.
    cc : str or sequence of str, optional
        The compiler, with arguments if any; else the environment's CC, the one Python was built with, ``cc``,
        ``gcc``, ``clang``, the ``ziglang`` package.
    cflags : str or sequence of str, optional
        Further flags, after kanecore's own and those of the environment's KANECORE_CFLAGS.  They enter the key as text:
        the content of a file that they name does not.
    cache : bool
        False compiles in any case, into a temporary folder that goes with the process.
    verbose : bool
        Print the command and the compiler's messages.
    name : str
        Name of the library in the cache, in debuggers and in profilers.

    Raises
    ------
    CompileError
        No compiler; the compiler refused; the cache folder is not safe; there is no place to write.
    """
    start = time.perf_counter()
    flags = (*_split(os.environ.get("KANECORE_CFLAGS"), "KANECORE_CFLAGS"), *_split(cflags, "cflags"))
    target = _Target(find_compiler(cc), _NATIVE.get(platform.machine().lower()), flags, include_dir())
    try:
        parent = store.folder() if cache else Path(tempfile.mkdtemp(dir=store.private_folder()))
        try:
            built = _find_or_build(parent, name, source, target, start)
        except OSError:  # full, or not to be written after all
            built = _find_or_build(store.private_folder(), name, source, target, start)
    except OSError as error:
        raise CompileError(
            f"no place to compile {name!r} in: {error}. Set KANECORE_CACHE_DIR to a folder with room, or "
            "TMPDIR for temporary files."
        ) from error
    if verbose:
        print(f"{name}: from the cache, {built.path}" if built.from_cache else shlex.join(built.command))
        print(built.log, end="\n" if built.log else "")
    return built


def levels(machine: str) -> tuple[str, ...]:
    """Names of the instruction levels of prebuilt models, the lowest first; `machine` is, for example, ``x86_64``."""
    return tuple(_LEVELS.get(machine.lower(), _ANY))


def lane_levels(machine: str) -> tuple[str, ...]:
    """Names of the levels for libraries that evaluate several states at once: more of them in wider registers."""
    return tuple(_LANE_LEVELS.get(machine.lower(), _ANY))


def prebuild(
    source: str | Recipe, level: str, *, machine: str, cc: Sequence[str], include: Path, folder: Path, name: str
) -> Built:
    """Compile C text for every processor of an instruction level, as `compile_library` does for this one.

    Parameters
    ----------
    source, name : str
        As in `compile_library`.
    level : str
        One of :func:`levels` or of :func:`lane_levels`, or "baseline": every processor of the architecture.
    machine : str
        The processors' architecture.
    cc : sequence of str
        The compiler with its arguments, such as the target.
    include : Path
        Folder of ``kanecore.h``.
    folder : Path
        The cache; it is made if missing.

    Raises
    ------
    CompileError, OSError
    """
    folder.mkdir(parents=True, exist_ok=True)
    flags = {**_ANY, **_LANE_LEVELS.get(machine.lower(), {})}[level]
    target = _Target(_asked_for(cc, "the compiler"), None, flags, include)
    return _find_or_build(folder, name, source, target, time.perf_counter())


def link(sources: Sequence[Path], library: Path, *, include: Path, cc: str | Sequence[str] | None = None) -> None:
    """Compile some C files into one shared library, for every processor of this architecture; past the cache.

    Parameters
    ----------
    sources : sequence of Path
        The first one is named in messages.
    library : Path
        Path of the library to make.
    include : Path
        Folder of the headers.
    cc : str or sequence of str, optional
        As in `compile_library`, and so are KANECORE_CFLAGS.

    Raises
    ------
    CompileError
        No compiler; the compiler refused.
    """
    first, *others = map(str, sources)
    flags = (*others, *_split(os.environ.get("KANECORE_CFLAGS"), "KANECORE_CFLAGS"))
    command = _command(_Target(find_compiler(cc), None, flags, include), first, library)
    status, words = _call(command, library.parent)
    if status or not library.is_file():
        text = _log_text(command, status, words, Path(first).read_text(encoding="utf-8"))
        log = store.write_log(store.folder(), library.stem, text)
        raise _refusal(library.stem, command, status, words, flags, log)


def integrators() -> tuple[Path, Path]:
    """Folders of the headers, and of the C sources of the integrators over them."""
    include = include_dir()
    return include, include.parent / "src"


def include_dir() -> Path:
    """Return the folder of ``kanecore.h``: the package's own; in a bare source tree, the native half's."""
    package = Path(__file__).parents[1]
    folders = (package / "include", package.parents[1] / "kanecore" / "include")
    for folder in folders:
        if (folder / _HEADER).is_file():
            return folder
    raise CompileError(
        f"{_HEADER} lies neither in {folders[0]} nor in {folders[1]}: this installation of kanecore is not "
        "whole; install it again"
    )


# Which compiler ------------------------------------------------------------------------------------------


def find_compiler(cc: str | Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the compiler as an argument list, its program as an absolute path; nothing is run.

    A compiler that was asked for (`cc`, the environment's CC) and is not there is an error, never silently
    another one.
    """
    if cc is not None:
        return _asked_for(cc, "the argument cc")
    environment = os.environ.get("CC", "").strip()
    if environment == NO_COMPILER:
        raise CompileError(
            "C must be compiled here, and the environment variable CC is 'none', which asks for no compiler: unset it; "
            "a model that was compiled where CC, or cc, is 'none' is pickled as what runs without one"
        )
    if environment:
        return _asked_for(environment, "the environment variable CC")
    if argv := _installed():
        return argv
    raise CompileError(f"{_NONE}.\n{_INSTALL}")


def is_wanted(cc: str | Sequence[str] | None, name: str) -> bool:
    """Test whether to compile: no if "none" is asked for, or if no compiler is named and none is installed.

    The latter case warns, with the name of the model.
    """
    asked = cc if cc is not None else os.environ.get("CC", "").strip() or None
    if asked is None and _installed() is None:
        warn(
            f"{_NONE}. So {name!r} runs on a machine of kanecore's own: the same numbers, in two to six times the time "
            f'(cc="none" says that this is meant).\n{_INSTALL}'
        )
        return False
    return asked != NO_COMPILER


def is_there() -> bool:
    """Test whether a default compiler is available: the one that ``CC`` names, else an installed one."""
    asked = os.environ.get("CC", "").strip()
    return asked != NO_COMPILER if asked else _installed() is not None


def _installed() -> tuple[str, ...] | None:
    """Default compiler, if none was asked for."""
    for candidate in (sysconfig.get_config_var("CC"), "cc", "gcc", "clang"):
        argv = _resolve(_words(candidate)) if candidate else None
        if argv and not _is_msvc(argv) and not _is_empty_shim(argv):
            return argv
    return _ziglang()


def _asked_for(cc: str | Sequence[str], origin: str) -> tuple[str, ...]:
    words = _words(cc)
    if _is_msvc(words):  # before it is looked for: installing it would not help
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
    return (cc,) if isinstance(cc, str) and shutil.which(cc) else _split(cc, "cc")


def _resolve(words: Sequence[str]) -> tuple[str, ...] | None:
    """Return words whose program exists, or None."""
    program = shutil.which(words[0]) if words else None
    # The path as it was found, not resolved: ccache and clang look at the name they are called by.
    return (str(Path(program).absolute()), *words[1:]) if program else None


def _is_msvc(words: Sequence[str]) -> bool:
    """Test whether a command calls MSVC, or clang under its name: by any path, or by a launcher such as sccache."""
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
    """Command ``python -m ziglang cc``, without the Python process that would only start this program."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        return None
    program = shutil.which(str(Path(spec.origin).with_name("zig")))
    return (program, "cc") if program else None


def _split(words: str | Sequence[str] | None, argument: str) -> tuple[str, ...]:
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


# The key -------------------------------------------------------------------------------------------------


def _key(source: str | Recipe, target: _Target) -> str:
    parts = [
        _LAYOUT,
        ["recipe", source.fingerprint] if isinstance(source, Recipe) else _digest(source),
        *((target.include / name).read_text(encoding="utf-8") for name in _HEADERS),
        _command(replace(target, include=Path("include")), "c", "so"),
        _identity(target.argv),
        _processor() if target.native else [],
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _identity(argv: Sequence[str]) -> list[str]:
    """Real path, size and time of every program in a command line: of ``ccache gcc -m64``, ccache and gcc.

    A program that only starts another (ccache under gcc's name, macOS's /usr/bin/cc) hides an update of that
    other; the library made before it stays correct.
    """
    identity = []
    for word in argv:
        if not word.startswith("-") and (program := shutil.which(word)):
            path = Path(program).resolve()
            status = path.stat()
            identity += [str(path), str(status.st_size), str(status.st_mtime_ns)]
    return identity


@functools.cache
def _processor() -> tuple[str, ...]:
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
        ):  # Intel has all three, Apple's own the first
            features.append(f"{field}: {' '.join(sorted(value.value.decode(errors='replace').split()))}")
    return features


# The call ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Target:
    """A compiler and the way to call it, for any text.

    Attributes
    ----------
    argv : tuple of str
        The compiler, with arguments if any.
    native : str or None
        The flag for code that this very processor runs best; None if such code is not wanted.
    flags : tuple of str
        Flags after kanecore's own.
    include : Path
        The folder of kanecore.h.
    """

    argv: tuple[str, ...]
    native: str | None
    flags: tuple[str, ...]
    include: Path


def _command(target: _Target, text: str | Path, library: str | Path) -> tuple[str, ...]:
    flags = target.flags
    processor = [target.native] if target.native else []
    if _is_zig(target.argv):  # spells processors with underscores, and takes this one where none is named
        flags = tuple(re.sub("-(?!march=)", "_", flag) if flag.startswith("-march=") else flag for flag in flags)
        if not target.native and not any(flag.startswith(("-march=", "-mcpu=")) for flag in flags):
            processor = ["-mcpu=baseline"]
    own = (*_BASE, *_PIC, *processor, "-I", str(target.include))
    # The user's flags last, so that they win, and so that libraries among them follow the objects that need them.
    return (*target.argv, *own, str(text), "-o", str(library), *flags, *_LIBM)


def _find_or_build(parent: Path, name: str, source: str | Recipe, target: _Target, start: float) -> Built:
    """Take the library from the cache `parent`, or compile it there; OSError if `parent` cannot take it."""
    key = _key(source, target)
    entry_name = f"{re.sub('[^A-Za-z0-9_]+', '_', name)[:40] or 'model'}-{key}"
    cached = store.load(parent / entry_name)
    if cached is None:
        with store.alone(parent, entry_name):
            cached = store.load(parent / entry_name)  # of a process that was faster
            library, record = cached or _build(
                parent, entry_name, source.write() if isinstance(source, Recipe) else source, target
            )
    else:
        library, record = cached
    seconds, words = time.perf_counter() - start, (tuple(record["command"]), str(record["log"]))
    return Built(str(library), key, cached is not None, seconds, *words, record["source"])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _build(parent: Path, entry_name: str, source: str, target: _Target) -> tuple[Path, dict[str, Any]]:
    limit = store.limit()
    name = entry_name.partition("-")[0]
    with store.scratch(parent) as folder:
        text, library = folder / f"{name}.c", folder / f"{name}{store.SUFFIX}"
        text.write_text(source, encoding="utf-8")
        command = _command(target, text, library)
        status, words = _call(command, folder)
        if status and target.native and "native" in words:
            # A compiler that does not know this processor, or a cross compiler: its own default will do.
            command = _command(replace(target, native=None), text, library)
            status, words = _call(command, folder)
        if status and (full := _full(words, folder)):
            raise full
        if status or not library.is_file():
            log = store.write_log(parent, entry_name, _log_text(command, status, words, source))
            raise _refusal(name, command, status, words, target.flags, log)
        result = store.publish(
            folder, parent / entry_name, library, {"command": command, "log": words, "text": _digest(source)}
        )
    with contextlib.suppress(OSError):  # files that cannot be removed now are removed later
        store.trim(parent, parent / entry_name, limit)
    return result


def _call(command: Sequence[str], folder: Path) -> tuple[int, str]:
    """Run the compiler; its exit status and its words, in English and ASCII.

    Its temporary files lie in `folder`, so that those of a killed compiler are removed with the folder.
    """
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, "LC_ALL": "C", "TMPDIR": temporary, "TMP": temporary, "TEMP": temporary},
                check=False,
            )
        except OSError as error:  # not an executable, or gone since it was found
            raise CompileError(f"the compiler {command[0]} cannot be started: {error.strerror}") from error
    return done.returncode, done.stdout.decode(errors="replace").strip()


def _full(words: str, folder: Path) -> OSError | None:
    """Return the error of a compiler that had no room for the library, if that was the cause."""
    for number in (errno.ENOSPC, errno.EDQUOT):
        if os.strerror(number) in words:
            return OSError(number, os.strerror(number))
    if shutil.disk_usage(folder).free < _ROOM:  # clang's linker aborts without a word
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return None


def _log_text(command: Sequence[str], status: int, words: str, source: str) -> str:
    return f"{shlex.join(command)}\n{_ending(status)}\n\n{words}\n\nThe C text\n\n{source}"


def _ending(status: int) -> str:
    return f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"


def _refusal(
    name: str, command: Sequence[str], status: int, words: str, flags: Iterable[str], log: Path
) -> CompileError:
    if status:
        what = f"the compiler {command[0]} {_ending(status)} on the C text of {name!r}"
    else:
        what = (
            f"the compiler {command[0]} wrote no library for {name!r}; flags that change what it makes, such "
            "as -c, -E, -S or -o, have no place in cflags"
        )
    if len(words) > _MAX_WORDS:
        words = words[:_MAX_WORDS] + "\n..."
    extra = shlex.join(flags)
    own_flags = f"\nFlags beyond kanecore's own: {extra}" if extra else ""
    said = words or "(it said nothing)"
    return CompileError(f"{what}:\n\n{said}\n{own_flags}\nThe whole log, with the C text: {log}")
