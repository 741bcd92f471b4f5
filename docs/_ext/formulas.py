# SPDX-License-Identifier: BSD-3-Clause
"""Formulas as MathML, which browsers draw themselves: no script, no font and no request to another host."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

# Browsers know MathML Core: of the variants of letters only "normal".
STYLES = {"bold-italic": "font-weight: bold", "sans-serif": "font-family: sans-serif; font-style: normal"}


def mathml(formula: str, display: str) -> str:
    """A formula in LaTeX as MathML; ``display`` is "inline" or "block"."""
    latex = re.sub(r"(begin|end)\{aligned\}", r"\1{align*}", formula)
    try:
        root = ElementTree.fromstring(convert(latex, xmlns="", display=display))
    except Exception as error:
        raise ExtensionError(f"no MathML of {formula!r}: {error!r}") from error
    for element in root.iter():
        _adapt(element)
    return ElementTree.tostring(root, encoding="unicode")


def _adapt(element: ElementTree.Element) -> None:
    """Say for MathML Core what the converter says in MathML 3.  No accent="true": the dot of q̇ would touch the q."""
    if element.tag in ("mi", "mn") and element.get("mathvariant") in STYLES:
        element.set("style", STYLES[element.attrib["mathvariant"]])
        element.set("mathvariant", "normal") if "sans" in element.attrib["style"] else element.attrib.pop("mathvariant")
    if element.tag == "mtd" and "columnalign" in element.attrib:
        element.set("style", f"text-align: {element.attrib['columnalign']}")
    if element.tag == "mo" and element.text in ("|", "‖"):
        element.attrib.update(lspace="0", rspace="0")


def visit_math(self: Any, node: nodes.math) -> None:
    self.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_displaymath(self: Any, node: nodes.math_block) -> None:
    self.body.append(f'<div class="formula">{mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
