# SPDX-License-Identifier: BSD-3-Clause
"""Texts of all pages as a script of the search page: opened from disk, a page may not request the others.

``search.js`` shows excerpts from it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

SCRIPT = "excerpts.js"


def load_on_search_page(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if page == "search":
        app.add_js_file(SCRIPT)


def write_texts(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    pages = {page: texts_of(app.env.get_doctree(page)) for page in sorted(app.env.found_docs)}
    text = f"const EXCERPTS = {json.dumps(pages, ensure_ascii=False)};\n".replace("</", "<\\/")
    Path(app.outdir, "_static", SCRIPT).write_text(text, encoding="utf-8")


def texts_of(document: nodes.document) -> list[list[str]]:
    """Anchor and text of each section, title included, without the subsections."""
    return [
        [section["ids"][0], " ".join(part.astext() for part in section.children if not isinstance(part, nodes.section))]
        for section in document.findall(nodes.section)
    ]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", load_on_search_page)
    app.connect("build-finished", write_texts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
