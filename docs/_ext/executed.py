# SPDX-License-Identifier: BSD-3-Clause
"""The directive ``run``: Python that is executed while the site is built, shown with what it prints and draws.

The blocks of a page share one namespace, from top to bottom.  A page therefore shows the behaviour of this
version of the package; a block that fails stops the build, and so does one that should fail and does not (``raises``).
Executing one page needs nothing but the page: no notebook, no kernel, no second format.

Results are kept among the doctrees, under a key of the code and of the package: a build after a change of prose
executes nothing.  A fresh clone has no such folder, so there all is executed.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import dataclasses
import functools
import hashlib
import html
import importlib.metadata
import io
import json
import linecache
import os
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import matplotlib as mpl

# These three are loaded once, before Sphinx divides the pages among processes.
import scipy.integrate
import scipy.optimize  # noqa: F401
import sympy.physics.mechanics  # noqa: F401
from docutils import nodes
from docutils.parsers.rst import directives
from matplotlib import pyplot
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

import kanecore

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
        for helper in _helpers(f"{code}\n"):
            self.env.note_dependency(str(helper))
        page = self.env.temp_data.setdefault(
            "executed", Page(Path(self.config.executed_folder or self.env.doctreedir, "executed"))
        )
        result = page.result(self._block(code))
        shown = [] if "hide-code" in self.options else [nodes.literal_block(code, code, language="python")]
        output = self._nodes(result)
        return shown + (_folded(output, self.options["fold"]) if "fold" in self.options else output)

    def _block(self, code: str) -> Block:
        source, line = self.get_source_info()
        return Block(
            f"{code}\n{self.options.get('show', '')}",
            f"<{source}:{line}>",
            self.options.get("raises"),
            "compiler" in self.options,
            "math" in self.options,
        )

    def _nodes(self, result: Result) -> list[nodes.Node]:
        """Nodes of the printed output, then of the value."""
        shown: list[nodes.Node] = []
        if result.printed:
            text = result.printed.rstrip("\n")
            language = self.options.get("language", "text")
            classes = ["output", "columns"] if has_columns(text) else ["output"]
            shown.append(nodes.literal_block(text, text, language=language, classes=classes))
        if result.formula is not None:
            options = {"number": None, "no-wrap": False, "nowrap": False}  # the older name before Sphinx 8.2
            formula = result.formula
            shown.append(nodes.math_block(formula, formula, docname=self.env.docname, **options))
        if result.html is not None:
            shown.append(nodes.raw("", result.html, format="html"))
        if result.picture is not None:
            alt = html.escape(self.options.get("alt", "figure"))
            image = f'<img class="executed" alt="{alt}" src="data:image/svg+xml;base64,{result.picture}">'
            shown.append(nodes.raw("", image, format="html"))
        return shown


def has_columns(text: str) -> bool:
    """Test whether most lines have spaces that align words: a table, which a narrow page scrolls and does not wrap."""
    lines = text.splitlines()
    return 2 * sum(bool(re.search(r"\S {3,}\S", line)) for line in lines) > len(lines) > 2


class Page:
    """The blocks of a page, executed in one namespace when the first of them is not in the cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        self.key = _sources()
        self.waiting: list[Block] = []  # found in the cache, not executed

    def result(self, block: Block) -> Result:
        """The result of a block: its key is of the package, the blocks above it, itself and helpers that it imports."""
        texts = [file.read_text(encoding="utf-8") for file in _helpers(block.code)]
        self.key = hashlib.sha256(f"{self.key}{block.without_place()}{texts}".encode()).hexdigest()
        file = self.folder / f"{self.key}.json"
        if file.is_file():
            self.waiting.append(block)
            return Result(**json.loads(file.read_text(encoding="utf-8")))
        for earlier in self.waiting:
            earlier.execute(self.namespace)
        self.waiting.clear()
        result = block.execute(self.namespace)
        self.folder.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(dataclasses.asdict(result)), encoding="utf-8")
        return result


@dataclasses.dataclass
class Result:
    """Output of a block: printed text, and its value as LaTeX, HTML or an SVG in base64."""

    printed: str = ""
    formula: str | None = None
    html: str | None = None
    picture: str | None = None


@dataclasses.dataclass
class Block:
    """Code of a page, with its place in the page and how it is to be executed."""

    code: str
    place: str
    raises: str | None
    compiler: bool
    math: bool

    def without_place(self) -> tuple[object, ...]:
        return self.code, self.raises, self.compiler, self.math

    def execute(self, namespace: dict[str, Any]) -> Result:
        with _compiler(self.compiler):
            printed, value = self._execute(namespace)
            result = self._result(printed, value)
        if " at 0x" in result.printed:
            raise ExtensionError(f"{self.place}: a block prints an address: {result.printed.strip()}")
        return result

    def _result(self, printed: str, value: Any) -> Result:
        if value is None or self.math:
            return Result(printed, formula=value)
        if isinstance(value, Figure):
            return Result(printed, picture=_picture(value))
        if hasattr(value, "_repr_html_"):
            return Result(printed, html=value._repr_html_())
        if isinstance(value[0] if isinstance(value, list) and value else value, Artist):
            raise ExtensionError(f"{self.place}: a block ends with a part of a figure; end it with the figure")
        return Result(f"{printed}{value!r}\n")

    def _execute(self, namespace: dict[str, Any]) -> tuple[str, Any]:
        code, name = self.code, self.place
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)  # for tracebacks
        value, printed = None, io.StringIO()
        try:
            tree = ast.parse(code, name)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            with contextlib.redirect_stdout(printed):
                exec(compile(tree, name, "exec"), namespace)
                if last is not None:
                    value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
        except Exception as error:
            if type(error).__name__ != self.raises:
                raise ExtensionError(f"{name}: a block of code failed\n{traceback.format_exc()}") from None
            return f"{printed.getvalue()}{self.raises}: {error.args[0]}\n", None
        if self.raises:
            raise ExtensionError(f"{name}: a block of code should raise {self.raises}, and did not")
        return printed.getvalue(), value


@functools.cache
def _sources() -> str:
    """A digest of what all blocks run: the package, this module, Python and other packages."""
    digest = hashlib.sha256(sys.version.encode())
    for name in ("numpy", "sympy", "matplotlib", "scipy"):
        digest.update(importlib.metadata.version(name).encode())
    package = Path(kanecore.__file__).parent
    for file in [Path(__file__), *sorted(package.rglob("*"))]:
        if file.is_file() and "__pycache__" not in file.parts:
            digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()


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


def _helpers(code: str) -> list[Path]:
    """Modules beside this one that a block imports."""
    return [file for file in sorted(Path(__file__).parent.glob("*.py")) if f"import {file.stem}\n" in code]


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


def _picture(figure: Figure) -> str:
    """A figure as text that a page carries itself, so that no file is written beside the sources."""
    image = io.BytesIO()
    figure.savefig(image, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    return base64.b64encode(image.getvalue()).decode("ascii")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("executed_folder", "", "", str)  # with the results, instead of the doctrees'
    app.add_directive("run", Run)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
