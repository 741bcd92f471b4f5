# SPDX-License-Identifier: BSD-3-Clause
"""Keywords of pages as entries of the index, which the search lists first.

They are those of a page's front matter, and the subjects that lead to it in the subject index, ``start/subjects.md``.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.index_entries import split_index_msg

SUBJECTS = "start/subjects.md"
LINE = re.compile(r"^- ([^:]+): (.*)$", re.MULTILINE)
PAGE = re.compile(r"\]\(/([\w/]+)\.md")


@functools.cache
def subjects_by_page(folder: Path) -> dict[str, list[str]]:
    pages: dict[str, list[str]] = {}
    for subjects, links in LINE.findall((folder / SUBJECTS).read_text(encoding="utf-8")):
        for page in PAGE.findall(links):
            pages.setdefault(page, []).extend(subjects.split(","))
    return pages


class IndexKeywords(SphinxTransform):
    default_priority = 840  # before the domains collect what is in the index

    def apply(self, **_: Any) -> None:
        lists = [meta["content"] for meta in self.document.findall(nodes.meta) if meta.get("name") == "keywords"]
        words = [word for words in lists for word in words.split(",")]
        words += subjects_by_page(Path(self.env.srcdir)).get(self.env.docname, [])
        entries = [("single", word.strip(), "keywords", "main", None) for word in words if word.strip()]
        if entries:
            target = nodes.target("", "", ids=["keywords"])
            self.document[:0] = [addnodes.index(entries=entries), target]


def with_unchanged_pages(app: Sphinx) -> list[Any]:
    """Bring back the entries of pages that are not written again: Sphinx keeps those of pages that it writes alone."""
    found = getattr(app.env, "_search_index_index_entries", {})
    for page, entries in app.env.domains["index"].entries.items():
        if "nosearch" in app.env.metadata.get(page, {}):
            continue
        words = ((split_index_msg(kind, text), target, main) for kind, text, target, main, _ in entries)
        found.setdefault(page, sorted({(word, target, main) for several, target, main in words for word in several}))
    return []


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(IndexKeywords)
    app.connect("html-collect-pages", with_unchanged_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
