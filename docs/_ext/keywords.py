# SPDX-License-Identifier: BSD-3-Clause
"""Keywords of a page's front matter as entries of the index, which the search lists first."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


class IndexKeywords(SphinxTransform):
    default_priority = 840  # before the domains collect what is in the index

    def apply(self, **_: Any) -> None:
        words = [meta["content"] for meta in self.document.findall(nodes.meta) if meta.get("name") == "keywords"]
        entries = [("single", word.strip(), "keywords", "main", None) for word in ",".join(words).split(",") if word]
        if entries:
            target = nodes.target("", "", ids=["keywords"])
            self.document[:0] = [addnodes.index(entries=entries), target]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(IndexKeywords)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
