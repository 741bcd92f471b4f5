# SPDX-License-Identifier: BSD-3-Clause
"""Files that are whole or not there: they are written beside their place, and renamed.

So a full disk, a quota or Ctrl-C leaves no half of a file, and one that was there before stays as it is.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["whole_file", "whole_folder"]

AnyPath = str | os.PathLike[str]


@contextmanager
def whole_file(path: AnyPath) -> Iterator[Path]:
    """Path under which a file is written: the file gets its own name, with the old one's mode, when the block ends.

    A link stays, and what it leads to is replaced. What is no file, such as ``/dev/stdout`` or a pipe, is written to.

    Raises
    ------
    OSError
        The file cannot be written: the error names it.
    """
    target = Path(os.path.realpath(path))
    temporary = _beside(target.parent, target.suffix)
    with _named(Path(path), temporary):
        if target.exists() and not target.is_file():
            yield target
            return
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        try:
            yield temporary
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: AnyPath) -> Iterator[Path]:
    """Folder in which the content of an empty or a new folder is written: it moves to its place when the block ends.

    Raises
    ------
    OSError
        The files cannot be written: the error names the file.
    """
    target = Path(path)
    missing = [each for each in (target, *target.absolute().parents) if not each.exists()]
    temporary = _beside(target)
    with _named(target, temporary):
        try:
            temporary.mkdir(parents=True)
            yield temporary
            for item in temporary.iterdir():
                item.replace(target / item.name)
            temporary.rmdir()
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            for made in missing:
                with suppress(OSError):
                    made.rmdir()
            raise


def _beside(folder: Path, suffix: str = "") -> Path:
    """A new name, of a hidden file or folder; its end tells some writers the format."""
    return folder / f".kanecore-{os.getpid()}-{secrets.token_hex(4)}{suffix}"


@contextmanager
def _named(path: Path, temporary: Path) -> Iterator[None]:
    """Name the user's path in an error of the system, which names the temporary one or, where a disk is full, none."""
    try:
        yield
    except OSError as error:
        named = Path(temporary if error.filename is None else os.fsdecode(error.filename))
        if error.errno is not None and named.is_relative_to(temporary):
            raise OSError(error.errno, error.strerror, str(path / named.relative_to(temporary))) from error
        raise
