# SPDX-License-Identifier: BSD-3-Clause
"""What notebooks show of an object: pieces of HTML in which every text of the user's is text.

Notebooks typeset what stands between dollars wherever they find it.  So a page forbids it, and `formula` allows it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["folded", "formula", "page", "picture", "preformatted", "table"]


def page(title: str, *parts: str) -> str:
    """A title, then parts that are HTML already."""
    return f'<div class="kanecore tex2jax_ignore mathjax_ignore"><strong>{escape(title)}</strong>{"".join(parts)}</div>'


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Rows of cells, whose texts are escaped; the first cell of each names it."""
    lines = [f"<tr>{''.join(_cell('th', cell) for cell in head)}</tr>"] if head else []
    lines += [f"<tr>{_cell('th', row[0])}{''.join(_cell('td', cell) for cell in row[1:])}</tr>" for row in rows]
    return f"<table>{''.join(lines)}</table>"


def _cell(tag: str, content: object) -> str:
    return f'<{tag} style="text-align: left">{escape(str(content))}</{tag}>'


def folded(summary: str, *parts: str) -> str:
    """Parts that are HTML already, which a click on the summary shows."""
    return f"<details><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


def preformatted(text: str) -> str:
    """A text, line by line."""
    return f'<pre class="tex2jax_ignore mathjax_ignore">{escape(text)}</pre>'


def formula(latex: str) -> str:
    """LaTeX, which the notebook typesets."""
    return f'<div class="tex2jax_process mathjax_process">$${escape(latex)}$$</div>'


def picture(png: bytes, alternative: str) -> str:
    """A PNG within the page."""
    data = b64encode(png).decode("ascii")
    return f'<img alt="{escape(alternative)}" src="data:image/png;base64,{data}">'
