# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx configuration: ``sphinx-build -W docs docs/_build/html``."""

import gc
import re
import sys
from pathlib import Path

import kanecore
from kanecore.binding.declared_methods import reference_text

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

# Pages, models and JAX stay to the end: looking for garbage among them took a sixth of a build's processor time.
gc.set_threshold(1_000_000)
gc.freeze()

project = "kanecore"
author = "The kanecore developers"
project_copyright = "The kanecore developers, BSD-3-Clause"
version = release = kanecore.__version__

# Attributes of internals, such as ``names``, stand in several classes: of one in a type's words any will do.
suppress_warnings = ["ref.python"]

extensions = [
    "excerpts",
    "executed",
    "formulas",
    "keywords",
    "live_pages",
    "moved",
    "notebooks",
    "searched",
    "translated",
    "unlisted",
    "used_in",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
]
locale_dirs = ["locale"]
gettext_compact = False
gettext_location = False
exclude_patterns = [
    "reference/kernels.*",
    "reference/methods.*",
    "_build",
    "_extra",
    "_inventories",
    "locale",
]
default_role = "code"  # in docstrings, `name` is code

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Tables of methods, as the functions themselves declare them: included in the page of compiled models.
reference = Path(__file__).parent / "reference"
(reference / "methods.md").write_text(
    reference_text(kanecore.CompiledModel), encoding="utf-8"
)

templates_path = ["_templates"]
autosummary_generate = [
    f"reference/{page.name}" for page in sorted(reference.glob("*.md"))
]
autosummary_context = {
    "listed_members": [
        "kanecore.CompiledModel",
        "kanecore.Model",
        "kanecore.Trajectory",
    ],  # which have pages of their own
    "compiled_examples": [
        "kanecore.CompiledModel.casadi",
        "kanecore.CompiledModel.export_fmu",
    ],
}
autosummary_filename_map = {
    "kanecore.sweep": "kanecore.sweep-function"
}  # beside Sweep, where case does not matter
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings give types with shapes and units
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # attributes are no targets: words such as `point` in types would refer to several

# Inventories that are kept here, so that no build asks for one: _inventories/renew.py.
intersphinx_mapping = {
    "sympy": ("https://docs.sympy.org/latest/", "_inventories/sympy.txt"),
    "scipy": ("https://docs.scipy.org/doc/scipy/", "_inventories/scipy.txt"),
    "numpy": ("https://numpy.org/doc/stable/", "_inventories/numpy.txt"),
}

html_theme = "furo"
html_title = f"kanecore {version}"
html_static_path = ["_static"]
html_css_files = ["kanecore.css"]
html_js_files = ["kanecore.js"]
html_extra_path = ["_extra"]
html_search_scorer = str(Path(__file__).parent / "_ext/search.js")
html_show_sphinx = False
html_math_renderer = "mathml"
copybutton_prompt_text = "$ "
copybutton_selector = "div:not(.output) > div.highlight > pre"

# Addresses of earlier releases.
FOLDERS = {
    "start": "quickstart",
    "tutorials": "double_pendulum segway slung_load quadruped",
    "howto": "describe robots constraints motion sweeps pictures control results sensitivities identification audit"
    " c_export fmu optimization jax other_languages wheels",
    "background": "theory sources instant performance",
    "reference": "errors",
    "developers": "design pipeline",
}
moved_pages = {
    name: f"{folder}/{name}"
    for folder, names in FOLDERS.items()
    for name in names.split()
} | {
    "gallery": "gallery/index",
    "reference/internals": "developers/internals",
    "stiff": "howto/integrators",
    "reference/citing": "reference/release",
    "howto/stick_slip": "howto/rigid_contact",
}

moved_sections = {
    "howto/describe": [
        "howto/loads",
        "howto/functions",
        "howto/joints",
        "howto/outputs",
        "howto/states",
    ],
    "howto/constraints": ["howto/rolling", "howto/multipliers", "howto/reactions"],
    "howto/results": [
        "howto/equations",
        "howto/kinematics",
        "howto/reactions",
        "howto/simulate",
    ],
    "howto/sensitivities": ["howto/periodic"],
    "howto/robots": ["howto/robot_parts"],
    "howto/other_languages": ["howto/python_packages"],
    "howto/contact": ["howto/smooth_contact"],
    "howto/impacts": ["howto/rigid_contact", "howto/switches"],
    "howto/rigid_contact": ["howto/smooth_contact"],
    "start/quickstart": ["howto/batches", "howto/inputs"],
}

SIGNATURE = re.compile(
    r"\w+\.\w+\(self\b.*\)"
)  # that Cython writes; of an alias autodoc leaves it
LITERAL = re.compile(r"(``.*?``)|\|")


def as_it_stands(app, what, name, obj, options, lines):
    """Docstrings are read in the source first: there |x| is a modulus, and a colon in a property's a colon."""
    if lines and SIGNATURE.fullmatch(lines[0]):
        del lines[0]
    lines[:] = [LITERAL.sub(lambda m: m[0] if m[1] else "\\|", line) for line in lines]
    if what in ("property", "attribute"):
        lines[:0] = [
            "..",
            "",
        ]  # an empty comment: napoleon takes what precedes a colon in the first line for a type


def setup(app):
    app.connect("autodoc-process-docstring", as_it_stands, priority=400)
