# SPDX-License-Identifier: BSD-3-Clause
"""Each tutorial as a script and as a notebook, beside its page, with links to both at its end."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

FOLDER = "tutorials/"
BLOCK = re.compile(r"^(`{3,})\{run\}\n((?::.*\n)*)\n?((?:.*\n)*?)\1$", re.MULTILINE)
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
# Syntax unknown to notebooks: roles, labels, links to pages, fences of boxes.
REWRITTEN = (
    (re.compile(r"\{\w+\}`([^`<]*?)\s*<[^`>]*>`"), r"\1"),
    (re.compile(r"\{\w+\}`([^`]*)`"), r"`\1`"),
    (re.compile(r"\[([^\]]*)\]\([/.\w]+\.md[^)]*\)"), r"\1"),
    (re.compile(r"^\([\w-]+\)=\n", re.MULTILINE), ""),
    (re.compile(r"^:{3,}(?:\{dropdown\} (.*))?$", re.MULTILINE), lambda match: f"**{match[1]}**" if match[1] else ""),
    (re.compile(r"^```(?:\{seealso\})?$", re.MULTILINE), ""),
)
PACKAGES = re.compile(r"^\s*(?:import|from) (matplotlib|scipy|casadi|control)\b", re.MULTILINE)
LINKS = (
    '\n\n```{{raw}} html\n<p class="downloads">This page as <a href="{name}.py" download>script</a> · '
    '<a href="{name}.ipynb" download>notebook</a> (beside kanecore: <code>pip install {packages}</code>)</p>\n```\n'
)
PICTURES = "%matplotlib inline"  # shows figures that pyplot did not make


def cells(page: str) -> Iterator[tuple[str, str]]:
    """The page as ("markdown", text) and ("code", text), from top to bottom."""
    text, end = FRONT_MATTER.sub("", page), 0
    for block in BLOCK.finditer(text):
        yield "markdown", _plain(text[end : block.start()])
        yield "code", block[3].strip()
        end = block.end()
    yield "markdown", _plain(text[end:])


def _plain(text: str) -> str:
    for pattern, replacement in REWRITTEN:
        text = pattern.sub(replacement, text)
    return text.strip()


def script(page: str) -> str:
    """Cells as editors know them, ``# %%``, with the text as comments."""
    parts = []
    for kind, text in cells(page):
        commented = "\n".join(f"# {line}".rstrip() for line in text.splitlines())
        parts.append(f"# %% [markdown]\n{commented}" if kind == "markdown" else f"# %%\n{text}")
    return "\n\n".join(part for part in parts if part != "# %% [markdown]\n") + "\n"


def notebook(page: str) -> str:
    """A notebook of format 4.5, without outputs."""
    written: list[dict[str, Any]] = []
    for kind, text in [("code", PICTURES), *cells(page)]:
        if text:
            cell = {"id": f"cell{len(written)}", "cell_type": kind, "metadata": {}, "source": text}
            written.append(cell | ({"outputs": [], "execution_count": None} if kind == "code" else {}))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": written}
    return json.dumps(whole, ensure_ascii=False, indent=1)


def add_links(app: Sphinx, name: str, source: list[str]) -> None:
    if name.startswith(FOLDER):
        packages = sorted({"matplotlib", *PACKAGES.findall(source[0])})
        source[0] += LINKS.format(name=name.removeprefix(FOLDER), packages=" ".join(packages))


def write_downloads(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    for name in app.env.found_docs:
        if name.startswith(FOLDER):
            page = Path(app.env.doc2path(name)).read_text(encoding="utf-8")
            Path(app.outdir, f"{name}.py").write_text(script(page), encoding="utf-8")
            Path(app.outdir, f"{name}.ipynb").write_text(notebook(page), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", add_links)
    app.connect("build-finished", write_downloads)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
