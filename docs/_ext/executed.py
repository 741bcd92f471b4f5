# SPDX-License-Identifier: BSD-3-Clause
"""The directive ``run``: Python that is executed while the site is built, shown with what it prints and draws.

The blocks of a page share one namespace, from top to bottom.  What a page shows is therefore what this version of the
package does; a block that fails stops the build, and so does one that should fail and does not (``raises``).
Executing one page needs nothing but the page: no notebook, no kernel, no second format.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import html
import io
import linecache
import os
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import matplotlib as mpl
from docutils import nodes
from docutils.parsers.rst import directives
from matplotlib.figure import Figure
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

CELL = "# %% "  # opens a named cell of a script, as editors know it

mpl.use("Agg")
mpl.rcParams.update({"svg.hashsalt": "kanecore", "svg.fonttype": "none"})  # the same figure, the same bytes


class Run(SphinxDirective):
    """``{run}`` with code, or ``{run} ../examples/script.py`` with the option ``cell`` to take one cell of it.

    As in a notebook, the value of a last line that is an expression is shown: figures as pictures, what has HTML of its
    own as that, all else as ``repr``.

    Options
    -------
    cell : the title of a cell, ``# %% title``, of the script
    show : an expression that is evaluated after the code, and shown in its place
    raises : the name of the exception that the block must end with; its message is the output
    language : of the output, for colours
    math : the value is LaTeX: show the formula
    fold : a title, under which the output is folded away
    hide-code, alt : show the output alone; text for those who do not see the picture
    compiler : compile the models of this block; others run as bytecode, which gives the same bits and no wait
    """

    has_content = True
    optional_arguments = 1
    option_spec: ClassVar = {
        "cell": directives.unchanged_required,
        "show": directives.unchanged_required,
        "raises": directives.unchanged_required,
        "language": directives.unchanged_required,
        "fold": directives.unchanged_required,
        "alt": directives.unchanged_required,
        "hide-code": directives.flag,
        "compiler": directives.flag,
        "math": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        code = "\n".join(self.content)
        if self.arguments:
            _, file = self.env.relfn2path(self.arguments[0])
            self.env.note_dependency(file)
            code = _cell(Path(file), self.options.get("cell"))
        namespace = self.env.temp_data.setdefault("executed", {"__name__": "__main__"})
        with _compiler("compiler" in self.options):
            printed, value = self._execute(f"{code}\n{self.options.get('show', '')}", namespace)
            output = self._output(printed, value)
        shown = [] if "hide-code" in self.options else [nodes.literal_block(code, code, language="python")]
        return shown + (_folded(output, self.options["fold"]) if "fold" in self.options else output)

    def _output(self, printed: str, value: Any) -> list[nodes.Node]:
        """What was printed, then the value."""
        result: list[nodes.Node] = []
        formula = value if "math" in self.options else None
        page = None if formula is not None or not hasattr(value, "_repr_html_") else value._repr_html_()
        if value is not None and formula is None and page is None and not isinstance(value, Figure):
            printed += f"{value!r}\n"
        if " at 0x" in printed:
            raise ExtensionError(f"a block prints an address, which is another in each build: {printed.strip()}")
        if printed:
            text = printed.rstrip("\n")
            block = nodes.literal_block(text, text, language=self.options.get("language", "text"), classes=["output"])
            result.append(block)
        if formula is not None:
            options = {"number": None, "no-wrap": False, "nowrap": False}  # the older name before Sphinx 8.2
            result.append(nodes.math_block(formula, formula, docname=self.env.docname, **options))
        if page is not None:
            result.append(nodes.raw("", page, format="html"))
        if isinstance(value, Figure):
            result.append(nodes.raw("", _picture(value, self.options.get("alt", "figure")), format="html"))
        return result

    def _execute(self, code: str, namespace: dict[str, Any]) -> tuple[str, Any]:
        source, line = self.get_source_info()
        name = f"<{source}:{line}>"
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)  # for tracebacks
        value, expected, printed = None, self.options.get("raises"), io.StringIO()
        try:
            tree = ast.parse(code, name)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            with contextlib.redirect_stdout(printed):
                exec(compile(tree, name, "exec"), namespace)
                if last is not None:
                    value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
        except Exception as error:
            if type(error).__name__ != expected:
                raise ExtensionError(f"{source}:{line}: a block of code failed\n{traceback.format_exc()}") from None
            return f"{printed.getvalue()}{expected}: {error.args[0]}\n", None
        if expected:
            raise ExtensionError(f"{source}:{line}: a block of code should raise {expected}, and did not")
        return printed.getvalue(), value


@contextlib.contextmanager
def _compiler(wanted: bool) -> Iterator[None]:
    """CC as it is, or without a compiler."""
    before = os.environ.get("CC")
    if not wanted:
        os.environ["CC"] = "none"
    try:
        yield
    finally:
        os.environ.pop("CC", None)
        if before is not None:
            os.environ["CC"] = before


def _cell(file: Path, title: str | None) -> str:
    text = file.read_text(encoding="utf-8")
    if title is None:
        return text.strip()
    for cell in ("\n" + text).split("\n" + CELL)[1:]:
        first, _, code = cell.partition("\n")
        if first.strip() == title:
            return code.strip()
    raise ExtensionError(f"{file} has no cell {CELL}{title}")


def _folded(output: list[nodes.Node], title: str) -> list[nodes.Node]:
    before = f"<details class='executed'><summary>{html.escape(title)}</summary>"
    return [nodes.raw("", before, format="html"), *output, nodes.raw("", "</details>", format="html")]


def _picture(figure: Figure, alt: str) -> str:
    """A figure as an element that carries its own picture, so that no file is written beside the sources."""
    image = io.BytesIO()
    figure.savefig(image, format="svg", metadata={"Date": None})
    data = base64.b64encode(image.getvalue()).decode("ascii")
    return f'<img class="executed" alt="{alt}" src="data:image/svg+xml;base64,{data}">'


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("run", Run)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
