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

FOLDER, REFERENCE, OBJECTS = "developers/", "reference/", "reference/api/"
LEFT_OUT, AFTER_TITLES = -1, 2  # priorities of Sphinx's search


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


MENUS: dict[tuple[tuple[str, Any], ...], str] = {}  # beside pages of one object, by options


def share_menus(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """The menu is the same beside all pages of one object, since none is in it: making it is most of their writing."""
    if not page.startswith(OBJECTS) or "toctree" not in context:
        return
    toctree = context["toctree"]

    def shared(**options: Any) -> str:
        key = tuple(sorted(options.items()))
        if key not in MENUS:
            MENUS[key] = toctree(**options)
        return MENUS[key]

    context["toctree"] = shared


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_domain(Domain, override=True)
    app.connect("doctree-read", leave_out_of_menus, priority=400)  # before the contents are collected
    app.connect("html-page-context", share_menus, priority=100)  # before the theme asks for the menu
    app.connect("doctree-read", leave_objects_out_of_menus, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
