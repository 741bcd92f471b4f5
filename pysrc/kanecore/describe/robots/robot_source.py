# SPDX-License-Identifier: BSD-3-Clause
"""The text of a robot file: a path, or the text itself, which begins with ``<``."""

from __future__ import annotations

import errno
import os
import re
import reprlib
from os import PathLike
from pathlib import Path
from typing import Any

from kanecore.errors import ModelError

from .xml_reader import LARGEST, Element, read_xml

__all__ = ["root_of"]

_SHOWN = 60  # characters of a text in a message
_BLANK = "\ufeff \t\r\n"


def root_of(source: str | PathLike[str], kind: str) -> tuple[Element, str, str | None]:
    """The root of a file of a kind, such as "URDF"; the file, as messages name it; its folder, None of a text.

    Raises
    ------
    ModelError
        The source is no path and no text; it is no XML.
    OSError
        The file cannot be read.
    """
    if isinstance(source, str) and source.lstrip(_BLANK).startswith("<"):
        where = f"the {kind} text"
        return read_xml(source.lstrip(_BLANK), where), where, None
    where, folder = str(source), str(Path(_named_file(source, kind)).absolute().parent)
    return read_xml(_content(source, where), where), where, folder


def _named_file(source: Any, kind: str) -> str:
    """Check a path; ModelError if it is none."""
    if not isinstance(source, (str, os.PathLike)) or not isinstance(name := os.fspath(source), str) or not name.strip():
        given, article = reprlib.repr(source), "an" if kind == "SDF" else "a"
        raise ModelError(
            f"source is {given}; it must be the path of {article} {kind} file, or a text that begins with <"
        )
    return name


def _content(source: str | PathLike[str], where: str) -> bytes:
    try:
        with Path(source).open("rb") as file:
            return file.read(LARGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: a name that the system has no bytes for
        if isinstance(error, OSError) and error.errno != errno.ENAMETOOLONG and not re.search("[<\n]", where):
            raise
        shown = where if len(where) <= _SHOWN else f"{where[:_SHOWN]}..."
        why = error.strerror if isinstance(error, OSError) else error
        raise ModelError(f"{shown!a} names no file ({why}): give a path, or a text that begins with <") from None
