# SPDX-License-Identifier: BSD-3-Clause
"""Objects that the developers' pages document keep their links, but the search leaves them out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain

FOLDER, LEFT_OUT = "developers/", -1  # a priority of Sphinx's search


class Domain(PythonDomain):
    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        for *place, page, anchor, priority in super().get_objects():
            yield *place, page, anchor, LEFT_OUT if page.startswith(FOLDER) else priority


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_domain(Domain, override=True)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
