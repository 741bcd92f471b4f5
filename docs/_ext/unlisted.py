# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of objects in the search: titles of pages first; what the developers' pages document is left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain

FOLDER, LEFT_OUT, AFTER_TITLES = "developers/", -1, 2  # priorities of Sphinx's search


class Domain(PythonDomain):
    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        for *place, page, anchor, _ in super().get_objects():
            yield *place, page, anchor, LEFT_OUT if page.startswith(FOLDER) else AFTER_TITLES


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_domain(Domain, override=True)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
