# SPDX-License-Identifier: BSD-3-Clause
"""Links at the end of a gallery page to the pages that load its mechanism."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

GALLERY, FOLDERS = "gallery/", ("start", "tutorials", "howto", "background")
LOADED = re.compile(r"""(?:load\(|kanecore play )"?(\w+)|from kanecore\.gallery import ([\w, ]+)""")


@functools.cache
def pages_by_mechanism(folder: Path) -> dict[str, list[str]]:
    """Names of pages, without suffix, by the mechanism that they load."""
    pages: dict[str, list[str]] = {}
    for file in (file for part in FOLDERS for file in sorted((folder / part).rglob("*.md"))):
        found = LOADED.findall(file.read_text(encoding="utf-8"))
        for mechanism in {name.strip() for one, others in found for name in (one, *others.split(","))}:
            pages.setdefault(mechanism, []).append(file.relative_to(folder).with_suffix("").as_posix())
    return pages


def add_links(app: Sphinx, name: str, source: list[str]) -> None:
    pages = pages_by_mechanism(Path(app.srcdir)).get(name.removeprefix(GALLERY), [])
    if name.startswith(GALLERY) and pages:
        source[0] += "\n\nUsed in " + ", ".join(f"{{doc}}`/{page}`" for page in pages) + ".\n"


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", add_links)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
