# SPDX-License-Identifier: BSD-3-Clause
"""A small page under each address that a page had before, which leads to its present one (``moved_pages``)."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Any

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


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("moved_pages", {}, "html", dict)
    app.connect("build-finished", write_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
