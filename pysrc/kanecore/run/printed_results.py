# SPDX-License-Identifier: BSD-3-Clause
"""Results that a prompt and a notebook show as ``print`` does."""

from __future__ import annotations

from html import escape

__all__ = ["PrintedResult"]


class PrintedResult:
    """Base of results with a table or sentences for people in ``__str__``; their dataclasses have ``repr=False``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """HTML for notebooks: the printed text."""
        return f"<pre>{escape(str(self))}</pre>"
