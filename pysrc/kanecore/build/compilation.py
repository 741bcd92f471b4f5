# SPDX-License-Identifier: BSD-3-Clause
"""Compilation of C text to a shared library, by the compiler or from the cache; no shell is used."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kanecore.build import c_compiler
from kanecore.build import cache as store
from kanecore.build.c_compiler import Target, split_words
from kanecore.build.cache_key import Recipe, digest, library_key
from kanecore.build.simd_levels import level_flags, native_flag
from kanecore.errors import CompileError
from kanecore.whole_files import whole_file

__all__ = ["Built", "compile_library", "link", "prebuild"]

_ROOM = 1 << 20  # free bytes below which lack of room counts as the reason of a compiler's failure
_MAX_WORDS = 4000  # characters of the compiler's messages in an error; the log has all


@dataclass(frozen=True)
class Built:
    """A compiled library.

    Attributes
    ----------
    path : str
        The shared library.
    key : str
        SHA-256 of all its inputs, 64 hexadecimal digits.
    from_cache : bool
        True if nothing was compiled.
    seconds : float
        Duration of this call.
    command : tuple of str
        The command that made the library, with its temporary paths.
    log : str
        The compiler's messages (warnings); empty if there were none.
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
    telling: Callable[[], AbstractContextManager[None]] = nullcontext,
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
        Further flags, after kanecore's own and the environment's KANECORE_CFLAGS.  The key depends on their text, but
        not on the content of files that they name.
    cache : bool
        False compiles in any case, into a temporary folder that is removed with the process.
    verbose : bool
        Print the command and the compiler's messages.
    name : str
        Name of the library in the cache, in debuggers and in profilers.
    telling : callable
        Function that returns a context, which is entered while this process writes and compiles the text, but not while
        it waits for another process or reads the cache.

    Raises
    ------
    CompileError
        No compiler; the compiler failed; the cache folder is not safe; there is no place to write.
    """
    start = time.perf_counter()
    flags = (*split_words(os.environ.get("KANECORE_CFLAGS"), "KANECORE_CFLAGS"), *split_words(cflags, "cflags"))
    target = Target(c_compiler.find_compiler(cc), native_flag(), flags, c_compiler.include_dir())
    try:
        parent = store.folder() if cache else Path(tempfile.mkdtemp(dir=store.private_folder()))
        try:
            built = _find_or_build(parent, name, source, target, start, telling)
        except OSError:  # full, or unwritable after all
            built = _find_or_build(store.private_folder(), name, source, target, start, telling)
    except OSError as error:
        raise CompileError(
            f"no folder in which to compile {name!r}: {error}. Set KANECORE_CACHE_DIR to a folder with room, or "
            "TMPDIR for temporary files."
        ) from error
    if verbose:
        print(f"{name}: from the cache, {built.path}" if built.from_cache else shlex.join(built.command))
        print(built.log, end="\n" if built.log else "")
    return built


def prebuild(
    source: str | Recipe, level: str, *, machine: str, cc: Sequence[str], include: Path, folder: Path, name: str
) -> Built:
    """Compile C text for every processor of an instruction level, as `compile_library` does for this one.

    Parameters
    ----------
    source, name : str
        As in `compile_library`.
    level : str
        One of `levels` or of `lane_levels` of `simd_levels`, or "baseline": every processor of the architecture.
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
    flags = level_flags(machine, level)
    target = Target(c_compiler.named_compiler(cc, "the compiler"), None, flags, include)
    return _find_or_build(folder, name, source, target, time.perf_counter())


def link(sources: Sequence[Path], library: Path, *, include: Path, cc: str | Sequence[str] | None = None) -> None:
    """Compile some C files into one shared library, for every processor of this architecture, without the cache.

    Parameters
    ----------
    sources : sequence of Path
        The C files; messages name the first.
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
    flags = (*others, *split_words(os.environ.get("KANECORE_CFLAGS"), "KANECORE_CFLAGS"))
    command = Target(c_compiler.find_compiler(cc), None, flags, include).command(first, library)
    status, words = _call(command, library.parent)
    if status or not library.is_file():
        text = _log_text(command, status, words, Path(first).read_text(encoding="utf-8"))
        log = store.write_log(store.folder(), library.stem, text)
        raise _refusal(library.stem, command, status, words, flags, log)


def _find_or_build(
    parent: Path,
    name: str,
    source: str | Recipe,
    target: Target,
    start: float,
    telling: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Built:
    """Take the library from the cache `parent`, or compile it there; OSError if `parent` is full or unwritable."""
    key = library_key(source, target)
    entry_name = f"{re.sub('[^A-Za-z0-9_]+', '_', name)[:40] or 'model'}-{key}"
    cached = found = store.load(parent / entry_name)
    if found is None:
        with store.alone(parent, entry_name):
            cached = found = store.load(parent / entry_name)  # the entry of a process that was faster
            if found is None:
                with telling():
                    text = source.write() if isinstance(source, Recipe) else source
                    found = _build(parent, entry_name, text, target)
    library, record = found
    seconds, words = time.perf_counter() - start, (tuple(record["command"]), str(record["log"]))
    return Built(str(library), key, cached is not None, seconds, *words, record["source"])


def _build(parent: Path, entry_name: str, source: str, target: Target) -> tuple[Path, dict[str, Any]]:
    limit = store.limit()
    name = entry_name.partition("-")[0]
    with store.scratch(parent) as folder:
        text, library = folder / f"{name}.c", folder / f"{name}{store.SUFFIX}"
        with whole_file(text) as file:
            file.write_text(source, encoding="utf-8")
        command = target.command(text, library)
        status, words = _call(command, folder)
        if status and target.native and "native" in words:
            # The compiler does not know this processor, or is a cross compiler: use its default.
            command = replace(target, native=None).command(text, library)
            status, words = _call(command, folder)
        if status and (full := _full(words, folder)):
            raise full
        if status or not library.is_file():
            log = store.write_log(parent, entry_name, _log_text(command, status, words, source))
            raise _refusal(name, command, status, words, target.flags, log)
        result = store.publish(
            folder, parent / entry_name, library, {"command": command, "log": words, "text": digest(source)}
        )
    with contextlib.suppress(OSError):  # files that cannot be removed now are removed later
        store.trim(parent, parent / entry_name, limit)
    return result


def _call(command: Sequence[str], folder: Path) -> tuple[int, str]:
    """Run the compiler; return its exit status and its messages, in English and ASCII.

    The compiler's temporary files are in `folder`, and are removed with it if the compiler is killed.  In the main
    thread, where Ctrl-C is raised, the compiler leads a process group, so that all its processes end.
    """
    interrupted = threading.current_thread() is threading.main_thread()
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, "LC_ALL": "C", "TMPDIR": temporary, "TMP": temporary, "TEMP": temporary},
                start_new_session=interrupted,
            )
        except OSError as error:  # not an executable, or removed in the meantime
            raise CompileError(f"the compiler {command[0]} cannot be started: {error.strerror}") from error
        with process:
            try:
                words, _ = process.communicate()
            except BaseException:
                if interrupted and sys.platform != "win32":
                    os.killpg(process.pid, signal.SIGKILL)
                process.kill()
                raise
    return process.returncode, words.decode(errors="replace").strip()


def _full(words: str, folder: Path) -> OSError | None:
    """Return the error of a compiler without room for the library, if this was the cause."""
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
            f"the compiler {command[0]} wrote no library for {name!r}; leave out of cflags what changes its output, "
            "such as -c, -E, -S or -o"
        )
    if len(words) > _MAX_WORDS:
        words = words[:_MAX_WORDS] + "\n..."
    extra = shlex.join(flags)
    own_flags = f"\nFlags beyond kanecore's own: {extra}" if extra else ""
    said = words or "(it said nothing)"
    return CompileError(f"{what}:\n\n{said}\n{own_flags}\nThe whole log, with the C text: {log}")
