# SPDX-License-Identifier: BSD-3-Clause
"""Queries that readers type, each with the page that it should find (``search_queries.tsv``), tried on the built index.

A query that does not find its page among the first three results is a warning.  A build that reads some pages anew has
no index entries of the others, so there nothing is tried.  The ranking is that of Sphinx's
``searchtools.js``, for queries of words.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.search.en import SearchEnglish
from sphinx.util import logging

FIRST = 3  # results that a reader looks at
EXACT_NAME, PART_OF_NAME, PRIORITIES = 11, 6, {0: 15, 1: 5, 2: -5}
FOR_A_FEW = ("developers/", "background/sources/", "reference/changelog")
RELATED = 0.6  # weight of a synonym or a similar word
ENTRY, TITLE, PART_OF_TITLE, WORD, PART_OF_WORD = 100, 15, 7, 5, 2


class SearchIndex:
    """The index that the search of the site reads."""

    def __init__(self, file: Path) -> None:
        text = file.read_text(encoding="utf-8")
        self.index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
        self.language = SearchEnglish({})
        lines = [[self.language.stem(word) for word in line.split()] for line in _table("SYNONYMS")]
        self.synonyms = defaultdict[str, set[str]](set)
        for group in lines:
            for stem in group:
                self.synonyms[stem] |= {*group} - {stem}
        self.fillers = {self.language.stem(word) for line in _table("FILLERS") for word in line.split()}
        self.keywords = self._keywords()
        self.known = self.index["terms"].keys() | self.index["titleterms"].keys() | self.keywords.keys()

    def _keywords(self) -> dict[str, list[int]]:
        """The pages by the stems of their keywords."""
        pages = defaultdict[str, list[int]](list)
        for entry, places in self.index["indexentries"].items():
            for word in re.findall(r"\w+", entry):
                pages[self.language.stem(word)] += [page for page, _, is_main in places if is_main]
        return {stem: numbers for stem, numbers in pages.items() if numbers}

    def pages(self, query: str) -> list[str]:
        """The pages of the results, best first, each once."""
        lower = query.lower()
        found = [*self._titles(lower), *self._entries(lower), *self._objects(lower.split()), *self._words(query)]
        found.sort(key=lambda result: result[1].lower(), reverse=True)
        found.sort(key=lambda result: result[0])
        names = self.index["docnames"]
        return list(dict.fromkeys(names[page] for _, _, page in reversed(found)))

    def _titles(self, query: str) -> Iterator[tuple[float, str, int]]:
        pages = self.index["titles"]
        for title, places in self.index["alltitles"].items():
            if query in title.lower() and len(query) >= len(title) / 2:
                for page, _ in places:
                    yield round(TITLE * len(query) / len(title)) + (pages[page] == title), pages[page], page

    def _entries(self, query: str) -> Iterator[tuple[float, str, int]]:
        for entry, places in self.index["indexentries"].items():
            if query in entry and len(query) >= len(entry) / 2:
                for page, _, is_main in places:
                    if is_main:
                        yield round(ENTRY * len(query) / len(entry)), self.index["titles"][page], page

    def _objects(self, words: list[str]) -> Iterator[tuple[float, str, int]]:
        for prefix, members in self.index["objects"].items():
            for page, _, priority, _, name in members:
                full = f"{prefix}.{name}" if prefix else name
                last = full.lower().rpartition(".")[2]
                for word in words:
                    others = f"{full} {self.index['titles'][page]}".lower()
                    if word in full.lower() and all(other in others for other in words):
                        score = EXACT_NAME if word in (full.lower(), last) else PART_OF_NAME if word in last else 0
                        yield score + PRIORITIES.get(priority, 0), full, page

    def _words(self, query: str) -> Iterator[tuple[float, str, int]]:
        """Pages with half of the words or more, as in ``search.js``."""
        words = {word.lower() for word in re.findall(r"\w+", query)} - self.language.stopwords
        stems = {self.language.stem(word) for word in words if not word.isdigit()} - self.fillers
        found = [scores for scores in map(self._scores, sorted(stems)) if scores]
        sums, counts, whole = Counter[int](), Counter[int](), 0.0
        for scores in found:
            weight = math.log(1 + len(self.index["docnames"]) / (len(scores) + 1))
            whole += weight
            for page, score in scores.items():
                sums[page] += weight * score
                counts[page] += 1
        for page, count in counts.items():
            if 2 * count >= len(found):
                share = 0.5 if self.index["docnames"][page].startswith(FOR_A_FEW) else 1.0
                yield round(share * sums[page] / whole, 3), self.index["titles"][page], page

    def _scores(self, stem: str) -> dict[int, float]:
        """Pages of a word and of its synonyms; else of similar words, of its two parts, of words of which it is one."""
        own = [(self._pages(stem), 1.0)] if stem in self.known else []
        scores = _best([*own, *((self._pages(other), RELATED) for other in sorted(self.synonyms[stem] & self.known))])
        return (
            scores
            or _best((self._scores(other), RELATED) for other in self._similar(stem))
            or self._pages_of_parts(stem)
            or self._pages(stem)
        )

    def _similar(self, stem: str) -> list[str]:
        american = stem.removesuffix("is")
        if american != stem and american in self.known:
            return [american]
        if len(stem) < 5:
            return []
        terms = self.index["terms"].keys() | self.index["titleterms"].keys()
        return [other for other in terms if other[0] == stem[0] and is_misspelt(stem, other)]

    def _pages_of_parts(self, stem: str) -> dict[int, float]:
        for end in range(3, len(stem) - 2):
            first, second = self.language.stem(stem[:end]), stem[end:]
            if {first, second} <= self.known:
                one, two = self._pages(first), self._pages(second)
                return {page: min(one[page], two[page]) for page in one.keys() & two.keys()}
        return {}

    def _pages(self, stem: str) -> dict[int, float]:
        return dict(self._pages_of(stem)) | dict.fromkeys(self.keywords.get(stem, ()), TITLE)

    def _pages_of(self, stem: str) -> Iterator[tuple[int, float]]:
        """As in the site a later, weaker match takes the place of a stronger one."""
        for table, whole in (("terms", WORD), ("titleterms", TITLE)):
            yield from ((page, whole) for page in _listed(self.index[table].get(stem, [])))
        for table, part in (("terms", PART_OF_WORD), ("titleterms", PART_OF_TITLE)):
            if len(stem) > 2 and stem not in self.index[table]:
                for term, pages in self.index[table].items():
                    if stem in term:
                        yield from ((page, part) for page in _listed(pages))


def _listed(pages: int | list[int]) -> list[int]:
    return [pages] if isinstance(pages, int) else pages


def _table(name: str) -> list[str]:
    """The lines of a constant of ``search.js``."""
    text = Path(__file__).with_name("search.js").read_text(encoding="utf-8")
    table = re.search(rf"const {name} = `\n(.*?)\n`;", text, re.DOTALL)
    assert table is not None
    return table[1].splitlines()


def _best(found: Iterable[tuple[dict[int, float], float]]) -> dict[int, float]:
    scores: dict[int, float] = {}
    for pages, share in found:
        for page, score in pages.items():
            scores[page] = max(scores.get(page, 0.0), share * score)
    return scores


def is_misspelt(word: str, other: str) -> bool:
    """Test whether one letter is wrong, missing or too many, or two are in the other order."""
    start = _common(word, other)
    one, two = word[start:], other[start:]
    end = _common(one[::-1], two[::-1])
    one, two = one[: len(one) - end], two[: len(two) - end]
    return (len(one) < 2 and len(two) < 2) or (len(one) == 2 and one == two[::-1])


def _common(one: str, two: str) -> int:
    """How many letters both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))


def try_after(app: Sphinx, env: BuildEnvironment, names: list[str]) -> None:
    if app.builder.format == "html" and app.config.language == "en" and set(names) == env.found_docs:
        app.connect("build-finished", try_queries)


def try_queries(app: Sphinx, error: Exception | None) -> None:
    file, index = Path(app.srcdir, "search_queries.tsv"), Path(app.outdir, "searchindex.js")
    if error is not None:
        return
    search, logger = SearchIndex(index), logging.getLogger(__name__)
    for line in file.read_text(encoding="utf-8").splitlines():
        query, page = line.split("\t")
        first = search.pages(query)[:FIRST]
        if page not in first:
            logger.warning("search_queries.tsv: %r finds %s, not %s", query, first, page)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("env-before-read-docs", try_after)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
