# SPDX-License-Identifier: BSD-3-Clause
"""Some pages in Portuguese and Spanish: sites of these pages alone in folders of the site, built when it is finished.

Their messages are in ``locale/LANGUAGE/LC_MESSAGES``.  All links to other pages lead to the English ones.
"""

from __future__ import annotations

import posixpath
import subprocess
import sys
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util import docname_join

LANGUAGES = {"en": "English", "es": "Español", "pt": "Português"}
PAGES = ("index", "start/quickstart", "tutorials/kane_by_hand")
WORDS = {  # that no catalogue holds, as they are written in HTML
    "Run it here: drag the bobs, move the sliders": {
        "es": "Ejecútelo aquí: arrastre las masas, mueva los controles",
        "pt": "Execute-o aqui: arraste as massas, mova os controles",
    },
    "This page as <a": {"es": "Esta página como <a", "pt": "Esta página como <a"},
    "(beside kanecore: <code>": {"es": "(además de kanecore: <code>", "pt": "(além do kanecore: <code>"},
    ">notebook</a>": {"es": ">cuaderno</a>", "pt": ">notebook</a>"},
}


def translate(app: Sphinx, error: Exception | None) -> None:
    """Build the sites of the other languages, all at once."""
    if error is not None or app.builder.name != "html" or app.config.language != "en":
        return
    running = []
    for language in list(LANGUAGES)[1:]:
        trees, out = app.doctreedir / f"../trees_{language}", app.outdir / language
        options = [f"-Dexecuted_folder={app.doctreedir}", f"-t{language}", f"-d{trees}"]
        command = [sys.executable, "-m", "sphinx", "-W", "-q", "-bhtml", *options, str(app.srcdir), str(out)]
        running.append(subprocess.Popen(command))
    codes = [build.wait() for build in running]
    if any(codes):
        raise ExtensionError("a translation failed, see above; docs/locale/README.md says how to renew the messages")


def use_language(app: Sphinx, config: Any) -> None:
    """With a language's tag: the pages that are translated alone; ``en`` is for their messages."""
    language = next(filter(app.tags.has, LANGUAGES), None)
    if language is None:
        return
    config.language = language
    config.include_patterns = [f"{page}.md" for page in PAGES]
    config.moved_pages, config.moved_sections = {}, {}
    config.suppress_warnings = [
        "toc.excluded",
        "toc.not_readable",
        "toc.not_included",
    ]
    if language == "en":
        config.suppress_warnings.append("ref")
    else:
        config.intersphinx_disabled_reftypes = []
        config.intersphinx_mapping["kanecore"] = ("../", str(app.outdir.parent / "objects.inv"))


def look_in_the_english_site(app: Sphinx, env: BuildEnvironment, node: nodes.Element, _: nodes.Element) -> None:
    """Write the name of a page as the inventory of the English site has it."""
    if node["reftype"] == "doc":
        node["reftarget"] = docname_join(node["refdoc"], node["reftarget"])


def link_languages(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Put links to the page in all languages above it, and `WORDS` into its language."""
    if page not in PAGES or app.builder.name != "html":
        return
    here = app.config.language
    body = context["body"]
    for words, translations in WORDS.items():
        body = body.replace(words, translations.get(here, words))
    links = []
    for language, name in LANGUAGES.items():
        folder = "" if language == "en" else f"{language}/"
        start = posixpath.dirname(page if here == "en" else f"{here}/{page}")
        target = posixpath.relpath(f"{folder}{page}.html", start or ".")
        attributes = ' aria-current="page"' if language == here else ""
        links.append(f'<a href="{target}" hreflang="{language}" lang="{language}"{attributes}>{name}</a>')
    context["body"] = f'<nav class="languages" aria-label="languages">{" · ".join(links)}</nav>{body}'


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", use_language, priority=100)
    app.connect("missing-reference", look_in_the_english_site, priority=100)
    app.connect("html-page-context", link_languages)
    app.connect("build-finished", translate)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
