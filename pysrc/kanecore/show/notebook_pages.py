# SPDX-License-Identifier: BSD-3-Clause
"""HTML of models, trajectories and audits for notebooks, in which all user's texts are escaped.

Notebooks typeset any text between dollars.  So a page forbids this, and `formula` allows it.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from kanecore.errors import KanecoreError
from kanecore.show.plots import png

__all__ = [
    "Latex",
    "compiled_page",
    "folded",
    "formula",
    "model_page",
    "page",
    "picture",
    "preformatted",
    "table",
    "trajectory_page",
    "verdicts_page",
]


def page(title: str, *parts: str) -> str:
    """A page with a title, then parts in HTML."""
    return f'<div class="kanecore tex2jax_ignore mathjax_ignore"><strong>{escape(title)}</strong>{"".join(parts)}</div>'


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Table of rows of cells with escaped texts; the first cell of each row is its title."""
    lines = [f"<tr>{''.join(_cell('th', cell) for cell in head)}</tr>"] if head else []
    lines += [f"<tr>{_cell('th', row[0])}{''.join(_cell('td', cell) for cell in row[1:])}</tr>" for row in rows]
    return f"<table>{''.join(lines)}</table>"


def _cell(tag: str, content: object) -> str:
    return f'<{tag} style="text-align: left">{escape(str(content))}</{tag}>'


def folded(summary: str, *parts: str) -> str:
    """Parts in HTML that a click on the summary shows."""
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


SHOWN = 12  # largest number of shown names or rows
DPI = 80  # resolution of pictures

COMMANDS = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega "
    "dot ddot hat bar tilde vec prime mathrm mathbf"
)
"""LaTeX commands that a name may have: other commands can do more than typeset, such as open a link."""

PLAIN = re.compile(rf"(\\({COMMANDS.replace(' ', '|')})(?![A-Za-z])|[\w{{}}^' .,+-])*")
"""A name that may be typeset."""


class Latex(str):
    """Equations with the user's names, typeset by a notebook only if all names are harmless text."""

    def __new__(cls, text: str, names: Iterable[str]) -> Latex:
        self = super().__new__(cls, text)
        self._plain = all(map(PLAIN.fullmatch, names))
        return self

    _plain: bool

    def __getnewargs__(self) -> tuple[str, tuple[str, ...]]:  # type: ignore[override]  # as __new__
        """Arguments of `__new__` for copies and pickles; `_plain` is copied."""
        return str(self), ()

    def _repr_html_(self) -> str:
        return formula(self) if self._plain else preformatted(self)

    def _repr_latex_(self) -> str | None:
        return f"$${self}$$" if self._plain else None


def model_page(model: Any, equations: Sequence[Latex] | None) -> str:
    """Sizes and names of a `kanecore.Model`, and its equations of motion, folded; None if they are long."""
    sizes = (
        ("coordinates q", model.description.coordinate_names),
        ("speeds u", model.description.speed_names),
        *([("states z", model.description.state_names)] if model.description.states else []),
        ("parameters p", model.description.parameter_names),
        ("inputs r", model.description.input_names),
        ("outputs", [name for name, _ in model.description.outputs]),
        ("constraints", [constraint.name for constraint in model.description.constraints]),
    )
    long = [preformatted("they are long: model.latex(kernel), model.symbolic(kernel)")]
    shown = long if equations is None else [each._repr_html_() for each in equations]
    return page(f"Model {model.name}", _listed(sizes), folded("equations of motion", *shown))


def compiled_page(dyn: Any) -> str:
    """Sizes and names of a `kanecore.CompiledModel`; its current values, folded."""
    sizes = (
        ("coordinates q", dyn.coordinate_names),
        ("speeds u", dyn.speed_names),
        *([("states z", dyn.state_names)] if dyn.n_z else []),
        ("parameters p", dyn.parameter_names),
        ("inputs r", dyn.input_names),
        ("outputs", dyn.output_names),
        ("constraints", dyn.constraint_names),
        ("points", dyn.points),
        ("frames", dyn.frames),
        ("joints", dyn.joints),
        ("kernels compiled", dyn.info["kernels"]),
    )
    values = [
        folded(f"current {what}s", table(("", "value"), ((name, f"{value:g}") for name, value in mapping.items())))
        for what, mapping in (("parameter", dyn.parameters), ("input", dyn.inputs))
        if mapping
    ]
    return page(f"CompiledModel {dyn.name}", _listed(sizes), *values)


def trajectory_page(trajectory: Any) -> str:
    """HTML of a run: its outcome, the range of each coordinate and speed, and a picture if matplotlib is installed."""
    dyn = trajectory.problem.dyn
    names = dyn.names.x
    rows = [
        (name, *(f"{value:.5g}" for value in (x[0], x[-1], x.min(), x.max())))
        for name, x in zip(names[:SHOWN], trajectory.x.T, strict=False)
        if x.size
    ]
    if len(names) > SHOWN:
        rows.append((f"... {dyn.n_x - SHOWN} more",))
    facts = table(("", "first", "last", "smallest", "largest"), rows) if rows else ""
    return page(repr(trajectory).strip("<>"), facts, *_pictures(trajectory))


def verdicts_page(title: str, rows: Iterable[Sequence[str]]) -> str:
    """HTML of an audit, or a comparison of models: rows of name, digits, digits needed, verdict, and fault."""
    return page(title, table(("", "digits", "needed", "verdict", ""), rows))


def _listed(sizes: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Table of the number of items of each kind, and their names."""
    return table(
        (),
        [
            (what, len(names), ", ".join([*names[:SHOWN], *(["..."] if len(names) > SHOWN else [])]))
            for what, names in sizes
            if names
        ],
    )


def _pictures(trajectory: Any) -> Iterator[str]:
    """Plot, if possible: with matplotlib, for a run that kept its steps and has energies."""
    try:
        plot = png(trajectory.plot(), DPI)
    except (ImportError, ValueError, KanecoreError):
        return
    yield picture(plot, "coordinates, speeds and the error of the energy balance over time")
