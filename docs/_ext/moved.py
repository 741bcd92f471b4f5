# SPDX-License-Identifier: BSD-3-Clause
"""Addresses of earlier releases lead to the present ones.

A page that moved leaves a small page at its address (``moved_pages``).  A page of which sections moved to others
(``moved_sections``) has hidden links to them, and ``kanecore.js`` follows the one that has the anchor of the address.
"""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Moved</title>
<link rel="canonical" href="{target}">
<script>location.replace("{target}" + location.hash)</script>
<meta http-equiv="refresh" content="1; url={target}">
<p>This page is now <a href="{target}">{target}</a>.</p>
</html>
"""


def write_pages(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    for before, now in app.config.moved_pages.items():
        if now not in app.env.found_docs:
            raise ValueError(f"moved_pages: {before} leads to {now}, which is no page")
        file = Path(app.outdir, f"{before}.html")
        file.parent.mkdir(parents=True, exist_ok=True)
        target = posixpath.relpath(f"{now}.html", posixpath.dirname(before) or ".")
        file.write_text(PAGE.format(target=target), encoding="utf-8")


def link_sections(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    for now in app.config.moved_sections.get(page, ()):
        address = app.builder.get_relative_uri(page, now)
        for section in app.env.get_doctree(now).findall(nodes.section):
            for anchor in section["ids"]:
                context["body"] += f'<a class="reference internal" href="{address}#{anchor}" hidden></a>'


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("moved_pages", {}, "html", dict)
    app.add_config_value("moved_sections", {}, "html", dict)
    app.connect("html-page-context", link_sections)
    app.connect("build-finished", write_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
