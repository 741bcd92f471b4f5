# SPDX-License-Identifier: BSD-3-Clause
"""XML reader for untrusted files: a tree of elements that know their lines.

A document type is refused, and with it all entities but XML's own five: they can make a small file large, or read
others.  Size and depth have limits.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from xml.parsers import expat

from kanecore.errors import ModelError

__all__ = ["LARGEST", "Element", "parsed", "read_xml"]

LARGEST = 64_000_000
"""Bytes that are read at most: a hundred times those of a humanoid."""
_DEEPEST = 100
_INVALID_TOKEN = expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN]
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


@dataclass
class Element:
    """An element.

    Attributes
    ----------
    tag : str
    attributes : dict
    line : int
        Where it begins.
    children : list of Element
    text : str
        Its own, without that of its children.
    where : str
        The file, as messages name it.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""
    where: str = ""

    def all(self, tag: str) -> list[Element]:
        """The children of one kind."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """The first child of one kind."""
        return next((child for child in self.children if child.tag == tag), None)


def read_xml(text: bytes | str, where: str) -> Element:
    """Read a document and return its root; ``where`` names it in messages.

    Raises
    ------
    ModelError
        It is no XML, declares a document type or an encoding that is not known, or is too large or too deep.
    """
    decoded = isinstance(text, str)
    if isinstance(text, str):
        try:
            text = text.encode()
        except UnicodeEncodeError as error:
            whole, at = error.object, error.start
            line = whole.count("\n", 0, at) + 1
            raise ModelError(
                f"{where}, line {line}: {whole[at]!a} is half of a character, a surrogate: read the file as UTF-8, or "
                "in its own encoding"
            ) from None
    if len(text) > LARGEST:
        raise ModelError(f"{where} has more than {LARGEST} bytes, which are not read")
    parser = expat.ParserCreate("utf-8" if decoded else None)
    parser.buffer_text = True
    top = Element("", {}, 0)
    path = [top]

    def start(tag: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber
        if len(path) > _DEEPEST:
            raise ModelError(f"{where}, line {line}: <{tag}> stands in {_DEEPEST} others, and no deeper one is read")
        element = Element(tag, attributes, line, where=where)
        path[-1].children.append(element)
        path.append(element)

    def end(tag: str) -> None:
        path.pop()

    def write(text: str) -> None:
        path[-1].text += text

    def refuse(name: str, *rest: object) -> None:
        raise ModelError(
            f"{where}, line {parser.CurrentLineNumber}: it declares a document type, {name}, whose entities are not "
            "read: take that declaration out"
        )

    def declare(version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None:
            try:
                codecs.lookup(encoding)
            except LookupError:
                raise strange(f"declares the encoding {encoding!r}, which is not known") from None

    def strange(fault: str) -> ModelError:
        return ModelError(
            f"{where}, line {max(parser.CurrentLineNumber, 1)}: the file {fault}: save it as UTF-8, and declare that"
        )

    parser.XmlDeclHandler = declare
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, write
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        fault = f"this is no XML, {expat.ErrorString(error.code)}"
        at = parser.ErrorByteIndex
        if text[at : at + 1] >= b"\x80" and error.code == _INVALID_TOKEN:
            fault = (
                f"byte 0x{text[at]:02x} is no character of UTF-8: save the file as UTF-8, or declare its encoding, as "
                """by <?xml version="1.0" encoding="latin-1"?> in its first line"""
            )
        raise ModelError(f"{where}, line {error.lineno}: {fault}") from None
    except (LookupError, ValueError) as error:  # from Python's codecs, which read encodings that expat does not
        raise strange(f"declares an encoding that cannot be read ({error})") from None
    return top.children[0]


def parsed(text: str) -> list[float]:
    """The numbers in a text, as C reads them: no underscores, and no digits of other scripts; ValueError."""
    parts = text.split()
    if not all(map(_NUMBER.fullmatch, parts)):
        raise ValueError(text)
    return list(map(float, parts))
