# SPDX-License-Identifier: BSD-3-Clause
"""The part of a C text that its public functions need: declarations that nothing reaches are left out.

The text is that of ``emit/runtime`` and of the emitter, which is formatted: a declaration begins at the left margin,
and ends with a line that begins with ``}`` or ends with ``;``.  Conditions of the preprocessor whose value is known are
decided; others stay, with what is reached in all of their branches.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

__all__ = ["reachable"]

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_CONDITION = re.compile(r"#(if|ifdef|ifndef|elif|else|endif)\b *(.*)")
_INSIDE = re.compile(r"static\b|typedef\b|enum\b|struct\b|KC_[A-Z]+\b|#define\b|#undef\b")
_WORD = re.compile(r"[A-Za-z_]\w*")
_JOINS = re.compile(r"#define (\w+)\(name\) (\w*)##name(?:##(\w+))?\s*$")
_ALIAS = re.compile(r"#define (\w+) +(\w+)\s*$")
_IN_PARENTHESES = re.compile(r"\([^()]*\)")
_IN_BRACES = re.compile(r"\{[^{}]*\}")
_NO_NAMES = {"char", "long", "__attribute__"}


@dataclass(eq=False)
class _Thing:
    """A declaration or a directive, with the comment above it; or the heading of a part.

    Attributes
    ----------
    lines : list of str
    inside : bool
        Whether only this text can see it.
    makes, needs : set of str
        Names that it declares, and that it mentions.
    around : list of list of _Thing
        What is there if it is: the heading, and the directives of each condition that it stands in.
    """

    lines: list[str]
    inside: bool = True
    makes: set[str] = field(default_factory=set)
    needs: set[str] = field(default_factory=set)
    around: list[list[_Thing]] = field(default_factory=list)


def reachable(text: str, facts: Mapping[str, bool]) -> str:
    """Text that public functions and variables reach; ``facts`` has the values of preprocessor conditions."""
    things = list(_things("".join(_decided(text.splitlines(keepends=True), facts))))
    makers = defaultdict(list)
    for thing in things:
        for name in thing.makes:
            makers[name].append(thing)
    kept: set[_Thing] = set()
    waiting = [thing for thing in things if not thing.inside]
    while waiting:
        thing = waiting.pop()
        if thing not in kept:
            kept.add(thing)
            waiting += [each for name in thing.needs for each in makers[name]]
            waiting += [each for group in thing.around for each in group]
    return "".join(line for thing in things if thing in kept for line in thing.lines)


@dataclass
class _Branches:
    """A condition with its branches: whether this one is read, whether none after it is, whether directives stay."""

    read: bool = False
    chosen: bool = False
    stays: bool = False


def _decided(lines: Iterable[str], facts: Mapping[str, bool]) -> Iterator[str]:
    """The lines, without conditions that are known."""
    conditions: list[_Branches] = []
    for line in lines:
        match = _CONDITION.match(line)
        if match is None:
            if all(each.read for each in conditions):
                yield line
            continue
        kind, condition = match[1], _COMMENT.sub("", match[2]).strip()
        if kind in ("if", "ifdef", "ifndef"):
            conditions.append(_Branches(chosen=not all(each.read for each in conditions)))
        now = conditions[-1]
        if kind == "endif":
            conditions.pop()
            if now.stays:
                yield line
            continue
        value = True if kind == "else" else facts.get(condition)
        now.read = not now.chosen and value is not False
        if not now.read:
            continue
        now.chosen = value is True
        if now.stays:
            yield line if value is None else "#else\n"
        elif value is None:
            now.stays = True
            yield line.replace("#elif", "#if", 1)


def _things(text: str) -> Iterator[_Thing]:
    """Declarations, directives and headings, in order."""
    undone: dict[str, int] = {}  # macros that were undefined, how often
    joins: dict[str, str] = {}  # macros that make a name of another
    aliases: dict[str, str] = {}  # macros that stand for a name
    groups: list[list[_Thing]] = []
    heading: list[_Thing] = []
    lines: list[str] = []
    code = ""

    def joined(code: str) -> str:
        for macro, name in joins.items():
            code = re.sub(rf"\b{macro}\((\w+)\)", name, code)
        return code

    def numbered(names: Iterable[str]) -> set[str]:
        return {f"{name} {undone[name]}" if name in undone else name for name in names}

    without = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    for line, bare in zip(text.splitlines(keepends=True), without.splitlines(keepends=True), strict=True):
        if line.isspace() and not code and not all(map(str.isspace, lines)):
            heading = [_Thing(lines)]
            yield heading[0]
            lines = []
        lines.append(line)
        code += bare.strip() and bare
        if not _complete(code, bare):
            continue
        match = _CONDITION.match(code)
        if match and match[1] in ("if", "ifdef", "ifndef"):
            groups.append([])
        thing = _Thing(lines, bool(match or _INSIDE.match(code)), around=[heading, *groups])
        thing.needs = numbered(_WORD.findall(code + joined(code)))
        if match:
            groups[-1].append(thing)
            if match[1] == "endif":
                groups.pop()
        else:
            declared = _declared(joined(code))
            if not code.startswith("#"):
                declared |= {aliases[name] for name in declared if name in aliases}
            thing.makes = numbered(declared)
        yield thing
        if alias := _ALIAS.match(code):
            aliases[alias[1]] = alias[2]
        elif join := _JOINS.match(code):
            joins[join[1]] = rf"{join[2]}\1{join[3] or ''}"
        elif code.startswith("#undef"):
            name = code.split()[1]
            undone[name] = undone.get(name, 0) + 1
            joins.pop(name, None), aliases.pop(name, None)
        lines, code = [], ""


def _complete(code: str, last: str) -> bool:
    """Test whether a declaration or directive is read to its end."""
    if code.startswith("#"):
        return not last.rstrip().endswith("\\")
    return last.startswith("}") or (last.rstrip().endswith(";") and code.count("{") == code.count("}"))


def _declared(code: str) -> set[str]:
    """Names that a declaration or a macro declares."""
    if code.startswith("#"):
        return set(_WORD.findall(code)[1:2])
    names = set()
    if re.match(r"(typedef )?enum\b", code):
        flat = _without(_IN_PARENTHESES, code)
        names = set(re.findall(r"(\w+)\s*(?:=[^,}]*)?[,}]", flat[flat.index("{") + 1 :]))
    if code.startswith("typedef"):
        return names | {*_WORD.findall(_without(_IN_BRACES, _without(_IN_PARENTHESES, code)))[2:]} - _NO_NAMES
    found = re.search(r"(\w+)\s*[\[({=;]", re.sub(r"__attribute__\(\(.*?\)\)", "", code))
    return names | ({found[1]} if found else set())


def _without(pattern: re.Pattern[str], code: str) -> str:
    """A text without what stands in parentheses, or in braces."""
    while (shorter := pattern.sub(" ", code)) != code:
        code = shorter
    return code
