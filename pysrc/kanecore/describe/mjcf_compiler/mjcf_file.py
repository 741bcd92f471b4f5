# SPDX-License-Identifier: BSD-3-Clause
"""An MJCF file as a tree of elements, with the files that it includes; and its sections."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path

from kanecore.describe.robots.xml_reader import LARGEST, Element, read_xml
from kanecore.errors import ModelError

from .mjcf_values import fault, unread

__all__ = ["check_sections", "is_text", "read_mjcf", "sections"]

_BLANK = "\ufeff \t\r\n"
_READ = ("compiler", "option", "default", "asset", "worldbody", "tendon", "equality", "actuator", "sensor", "keyframe")
_IDLE = ("size", "statistic", "visual", "custom", "contact", "extension", "deformable")


def is_text(source: str | PathLike[str]) -> bool:
    """Test whether a source is a text, which begins with ``<``, and no path."""
    return fspath(source).lstrip(_BLANK).startswith("<")


def read_mjcf(source: str | PathLike[str]) -> tuple[Element, Path]:
    """The root of a file, or of a text that begins with ``<``, and the folder that its names are relative to.

    Raises
    ------
    ModelError
        It is no MJCF; it, or an included file, cannot be read.
    """
    text = fspath(source)
    if is_text(source):
        top, folder, path = read_xml(text.lstrip(_BLANK), "the MJCF text"), Path(), None
    else:
        path = Path(text)
        top, folder = read_xml(_content(path), text), path.parent
    if top.tag != "mujoco":
        raise fault(top, f"the file begins with <{top.tag}>; MJCF begins with <mujoco>")
    _include(top, folder, folder, set() if path is None else {path.resolve()})
    return top, folder


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: a name that the system has no bytes for
        why = error.strerror if isinstance(error, OSError) else error
        raise ModelError(f"{path} cannot be read: {why}") from None


def _include(element: Element, main: Path, folder: Path, seen: set[Path]) -> None:
    """Put the contents of included files in the places of <include>, relative to the main file or to this one."""
    children = list[Element]()
    for child in element.children:
        if child.tag != "include":
            _include(child, main, folder, seen)
            children.append(child)
            continue
        name = child.attributes.get("file", "")
        path = next((each / name for each in (main, folder) if name and (each / name).is_file()), None)
        if path is None:
            raise fault(child, f"the included file {name!r} is not there")
        if path.resolve() in seen:
            raise fault(child, f"the file {name!r} is included already")
        seen.add(path.resolve())
        top = read_xml(_content(path), str(path))
        _include(top, main, path.parent, seen)
        children += top.children
    element.children[:] = children


def sections(top: Element, *tags: str) -> Iterator[Element]:
    """Elements of the sections of these names."""
    for section in top.children:
        if section.tag in tags:
            yield from section.children


def check_sections(top: Element) -> None:
    """ModelError for a section, or a part of one, that is not read and acts on the motion."""
    for section in top.children:
        if section.tag not in (*_READ, *_IDLE) or (section.tag == "extension" and section.children):
            raise unread(section)
        if section.tag == "deformable" and section.all("flex"):
            raise unread(section.all("flex")[0])
