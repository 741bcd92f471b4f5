# SPDX-License-Identifier: BSD-3-Clause
"""The cache of compiled models: a content-addressed folder, private to its owner and limited in size.

An entry is a folder ``<name>-<key>`` with the library, its C text and ``record.json`` (the entry's own name, the
SHA-256 of library and text, the command, the compiler's messages).  It is filled under a temporary name in the same
folder, and published by one ``os.replace``.  So an entry exists whole or not at all, and correctness does not depend on
a lock:

* two processes that build the same key both succeed; the first to publish wins, and the other uses its entry.  If the
  system has locks, the other process waits, so that many workers compile a model once;
* a killed compile leaves a temporary folder, which is never read, and no lock.  The folder's name has the machine and
  process: the next compile on that machine removes the folder, and so does `clear`; other machines remove it after a
  day;
* an entry that was truncated, altered or moved disagrees with its record, and is built again.

A failed compile leaves ``<name>-<key>.log``.  Files without such names are never read or removed, so
``KANECORE_CACHE_DIR`` may name a folder with other files.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import json
import os
import platform
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from kanecore.errors import CompileError
from kanecore.whole_files import whole_file

if sys.platform != "win32":
    import fcntl

__all__ = ["SUFFIX", "Entry", "clear", "entries", "folder", "size"]

SUFFIX = ".dll" if sys.platform == "win32" else ".so"
DEFAULT_SIZE = 1 << 30  # bytes
STALE = 24 * 3600.0  # seconds after which a temporary folder belongs to a killed process
PATIENCE = 600.0  # longest wait in seconds for another process that compiles the same

_TEMPORARY = ".kanecore-"
_PRIVATE = "kanecore-private-"
_RECORD = "record.json"
_OURS = re.compile(r"(?P<name>[A-Za-z0-9_]{1,40})-(?P<key>[0-9a-f]{64})(?P<log>\.log)?")
_ATTEMPTS = 5
_POLL = 0.02  # seconds
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True)
class Entry:
    """One compiled library.

    Attributes
    ----------
    name, key : str
        The model's name; the hash of all inputs of the library.
    path : Path
        Its folder.
    size : int
        Bytes on disk.
    used : float
        Time of last use, seconds since the epoch.
    """

    name: str
    key: str
    path: Path
    size: int
    used: float


# Where ---------------------------------------------------------------------------------------------------


def configured() -> Path:
    """Return ``KANECORE_CACHE_DIR`` if it is set, else the platform's own folder for caches.

    RuntimeError if the user has no home.
    """
    chosen = os.environ.get("KANECORE_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser().absolute()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "kanecore" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "kanecore"
    xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification says that relative paths are ignored.
    return (xdg if xdg.is_absolute() else Path.home() / ".cache") / "kanecore"


def folder() -> Path:
    """Return the folder in use, made with mode 0700 if missing; a private temporary folder if it is unwritable.

    A folder on a file system mounted noexec counts as unwritable, as no library could be loaded from it.

    Raises
    ------
    CompileError
        Another user owns the folder or may write to it: the user would run this code.
    """
    try:
        path = configured()
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except (OSError, RuntimeError):  # RuntimeError: no home
        return private_folder()
    _refuse_shared(path, status)
    return path if os.access(path, os.R_OK | os.W_OK | os.X_OK) and _may_run(path) else private_folder()


def _may_run(path: Path) -> bool:
    """Test whether code in a folder may be run, which a file system mounted noexec forbids."""
    if sys.platform in ("win32", "darwin"):
        return True
    return not os.statvfs(path).f_flag & os.ST_NOEXEC


def _refuse_shared(path: Path, status: os.stat_result) -> None:
    if sys.platform == "win32":  # Windows has access lists, not modes; the folder is in the user's own profile
        return
    user = os.geteuid()
    if status.st_uid != user:
        raise CompileError(
            f"the cache folder {path} belongs to another user (uid {status.st_uid}; this process runs as uid "
            f"{user}), who could put code into it that you would run. Set KANECORE_CACHE_DIR to a folder of "
            "your own, or compile with cache=False."
        )
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise CompileError(
            f"other users may write to the cache folder {path} (mode {stat.S_IMODE(status.st_mode):04o}) and "
            "put code into it that you would run. Remove that right by\n"
            f'    chmod go-w "{path}"\n'
            "or set KANECORE_CACHE_DIR to a folder of your own, or compile with cache=False."
        )


def private_folder() -> Path:
    """Return a temporary folder of this process, removed at exit (on Windows, unless still in use).

    The folder of a killed process is removed when a later process makes its own.

    Raises
    ------
    CompileError
        The folder of temporary files is mounted noexec.
    """
    path = _private_folder(os.getpid())
    if not path.is_dir():  # a cleaner of temporary files removed it
        _private_folder.cache_clear()
        path = _private_folder(os.getpid())
    return path


@functools.cache
def _private_folder(pid: int) -> Path:
    temporary = Path(tempfile.gettempdir())
    if not _may_run(temporary):
        raise CompileError(
            f"the folder of temporary files, {temporary}, is on a file system that is mounted noexec, from which no "
            "library can be loaded: set TMPDIR, or KANECORE_CACHE_DIR, to a folder from which programs may run"
        )
    path = Path(tempfile.mkdtemp(prefix=_made_here(_PRIVATE)))

    def remove() -> None:
        if os.getpid() == pid:  # not in a forked child: the parent still uses it
            shutil.rmtree(path, ignore_errors=True)

    atexit.register(remove)
    _remove_stale(path.parent, _PRIVATE)
    return path


# Entries ------------------------------------------------------------------------------------------------


def load(entry: Path) -> tuple[Path, dict[str, Any]] | None:
    """Library and record of an entry, with its C text, marked as used now; None if absent or damaged."""
    library = library_path(entry)
    try:
        record = json.loads((entry / _RECORD).read_bytes())
        text = library.with_suffix(".c").read_bytes()
        digests = [hashlib.sha256(each).hexdigest() for each in (library.read_bytes(), text)]
        if record["entry"] != entry.name or [record["sha256"], record["text"]] != digests:
            return None
        record["source"] = text.decode("utf-8")
        record["command"], record["log"] = [str(word) for word in record["command"]], str(record["log"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):  # no such entry; or a damaged record
        return None
    with contextlib.suppress(OSError):  # failing is worse than a wrong order of eviction
        os.utime(entry)
    return library, record


def library_path(entry: Path) -> Path:
    """Path ``arm-<key>/arm.so``, by which debuggers and profilers show a library."""
    return entry / (entry.name.partition("-")[0] + SUFFIX)


@contextlib.contextmanager
def scratch(parent: Path) -> Iterator[Path]:
    """Make a temporary folder inside `parent`, with mode 0700; it is removed at the end unless published."""
    path = Path(tempfile.mkdtemp(prefix=_made_here(_TEMPORARY), dir=parent))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def alone(parent: Path, entry_name: str) -> Iterator[None]:
    """Wait until no other process compiles the entry, which may exist then.

    The lock is a record lock: it ends with its process, and a forked child does not inherit it.  A child does not wait
    for its parent, since the parent may be waiting for the child, for example for the end of a pipe that the child
    inherited.  If the system or the file system has no locks, no process waits, and both compile.
    """
    path = parent / f"{_TEMPORARY}{entry_name}"
    with contextlib.ExitStack() as stack:
        if sys.platform != "win32":
            with contextlib.suppress(OSError):
                lock = stack.enter_context(path.open("a+b", buffering=0))
                stack.callback(path.unlink, missing_ok=True)  # while locked; others still see the entry
                _wait_for(lock)
        yield


def _wait_for(lock: IO[bytes]) -> None:
    """Lock a file, and write the number of this process into it; give up after a while."""
    if sys.platform != "win32":
        for _ in range(int(PATIENCE / _POLL)):
            try:
                fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):  # another process has the lock
                lock.seek(0)
                if lock.read() == b"%d" % os.getppid():
                    return
                time.sleep(_POLL)
            else:
                lock.truncate(0)
                lock.write(b"%d" % os.getpid())
                return


def publish(path: Path, entry: Path, library: Path, record: dict[str, Any]) -> tuple[Path, dict[str, Any]]:
    """Publish the scratch folder `path` with `library` as the entry `entry`; return the entry's library and record.

    If another process was faster, its entry is used; a damaged entry is replaced.
    """
    text = library.with_suffix(".c").read_bytes()
    digests = {"sha256": hashlib.sha256(library.read_bytes()).hexdigest(), "text": hashlib.sha256(text).hexdigest()}
    record = {"entry": entry.name, **digests, **record}
    with whole_file(path / _RECORD) as file:
        file.write_text(json.dumps(record, indent=1), encoding="utf-8")
    for attempt in range(_ATTEMPTS):
        try:
            path.replace(entry)  # fails if `entry` is a nonempty folder
        except OSError:
            if (existing := load(entry)) is not None:
                return existing
            if attempt == _ATTEMPTS - 1:
                raise
            _discard(entry)
        else:
            break
    return library_path(entry), {**record, "source": text.decode("utf-8")}


def write_log(parent: Path, entry_name: str, text: str) -> Path:
    """Keep the log of a failed compile in `parent`, or among the temporary files if `parent` is removed at exit."""
    if parent != private_folder() and private_folder() not in parent.parents:
        log = parent / f"{entry_name}.log"
        with contextlib.suppress(OSError):
            with whole_file(log) as place:
                place.write_text(text, encoding="utf-8")
            return log
    name = entry_name.partition("-")[0]
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", prefix=f"kanecore-{name}-", suffix=".log", delete=False
    ) as file:
        file.write(text)
    return Path(file.name)


def _items(parent: Path) -> list[tuple[float, int, Path]]:
    """(time of last use, bytes, path) of every entry and log, oldest first."""
    items = []
    with os.scandir(parent) as folder_items:
        for item in folder_items:
            if not _OURS.fullmatch(item.name):
                continue
            with contextlib.suppress(FileNotFoundError):  # another process evicted it meanwhile
                if item.is_dir(follow_symlinks=False):
                    with os.scandir(item.path) as files:
                        n_bytes = sum(file.stat(follow_symlinks=False).st_size for file in files)
                else:
                    n_bytes = item.stat(follow_symlinks=False).st_size
                items.append((item.stat(follow_symlinks=False).st_mtime, n_bytes, Path(item.path)))
    return sorted(items)


def entries() -> list[Entry]:
    """Return the compiled libraries in :func:`folder`, most recently used first."""
    result = []
    for used, n_bytes, path in reversed(_items(folder())):
        match = _OURS.fullmatch(path.name)
        if match and not match["log"]:
            result.append(Entry(match["name"], match["key"], path, n_bytes, used))
    return result


def size() -> int:
    """Bytes of libraries, C texts and logs in :func:`folder`."""
    return sum(n_bytes for _, n_bytes, _ in _items(folder()))


# Removal ------------------------------------------------------------------------------------------------


def limit() -> int:
    """``KANECORE_CACHE_SIZE`` in bytes (K, M, G may follow the number), else 1 GiB."""
    text = os.environ.get("KANECORE_CACHE_SIZE") or str(DEFAULT_SIZE)
    match = re.fullmatch(r"\s*(\d+)\s*([KMG]?)(i?B)?\s*", text, re.IGNORECASE)
    if match is None:
        raise CompileError(
            f"the environment variable KANECORE_CACHE_SIZE is {text!r}; write a number of bytes, or a number with K, M "
            "or G, such as 500M"
        )
    return int(match[1]) * _UNITS[match[2].upper()]


def trim(parent: Path, keep: Path, limit: int) -> None:
    """Remove the least recently used entries beyond `limit` bytes, but never `keep`; and stale folders."""
    items = _items(parent)
    total = sum(n_bytes for _, n_bytes, _ in items)
    for _, n_bytes, path in items:
        if total <= limit:
            break
        if path != keep and _discard(path):
            total -= n_bytes
    _remove_stale(parent, _TEMPORARY)


def _made_here(prefix: str) -> str:
    """Prefix of temporary folders: it names the process and the machine, as machines may share the cache."""
    return f"{prefix}{_machine()}-{os.getpid()}-"


@functools.cache
def _machine() -> str:
    return re.sub("[^A-Za-z0-9]+", "", platform.node())[:40] or "here"


def _is_orphan(name: str, prefix: str) -> bool:
    """Test whether a temporary folder was made on this machine by a process that has ended."""
    made = re.fullmatch(f"{re.escape(prefix)}{_machine()}-([0-9]+)-.*", name)
    if made is None or sys.platform == "win32":  # on Windows os.kill ends a process
        return False
    try:
        os.kill(int(made[1]), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _remove_stale(parent: Path, prefix: str) -> None:
    """Remove the folders of killed processes; those of another user stay."""
    now = time.time()
    for path in parent.glob(prefix + "*"):
        with contextlib.suppress(OSError):
            if now - path.lstat().st_mtime > STALE or _is_orphan(path.name, prefix):
                if path.is_dir():  # renamed first, since the compiler of a killed process may still write there
                    shutil.rmtree(path.rename(path.with_name(f"{path.name}x")), ignore_errors=True)
                else:  # of a lock
                    path.unlink()


def clear() -> int:
    """Remove all entries, logs and remains of killed compiles; return the number of removed libraries.

    Loaded libraries stay loaded.
    """
    removed = [path for _, _, path in _items(folder()) if _discard(path)]
    _remove_stale(folder(), _TEMPORARY)
    _remove_stale(Path(tempfile.gettempdir()), _PRIVATE)
    return sum(path.suffix != ".log" for path in removed)


def _discard(path: Path) -> bool:
    """Remove an entry or log, by renaming it first; False if this is impossible (on Windows, if it is loaded)."""
    try:
        with scratch(path.parent) as bin:
            path.replace(bin / "gone")
    except OSError:
        return not path.exists()
    return True
