# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of objects in the search, titles of pages first; what is left out of it and of the menus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain
from sphinx.ext.autosummary import autosummary_toc

FOLDER, REFERENCE, LEFT_OUT, AFTER_TITLES = "developers/", "reference/", -1, 2  # priorities of Sphinx's search


class Domain(PythonDomain):
    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        for *place, page, anchor, _ in super().get_objects():
            yield *place, page, anchor, LEFT_OUT if page.startswith(FOLDER) else AFTER_TITLES


def leave_out_of_menus(app: Sphinx, doctree: nodes.document) -> None:
    """Menus of each page are made of the contents of all: seven hundred objects take half the time of writing."""
    if app.env.docname.startswith(FOLDER):
        for signature in doctree.findall(addnodes.desc_signature):
            signature["_toc_name"] = ""


def leave_objects_out_of_menus(app: Sphinx, doctree: nodes.document) -> None:
    """Two hundred pages of one object each are reached by the tables of the reference and by the search."""
    if app.env.docname.startswith(REFERENCE):
        for listed in list(doctree.findall(autosummary_toc)):
            listed.parent.remove(listed)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_domain(Domain, override=True)
    app.connect("doctree-read", leave_out_of_menus, priority=400)  # before the contents are collected
    app.connect("doctree-read", leave_objects_out_of_menus, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
