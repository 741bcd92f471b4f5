# SPDX-License-Identifier: BSD-3-Clause
"""Imports point one way:

    errors <- graph <- describe <- derive <- program <- emit <- build        (SymPy, no extension)
                                   derive <- model <- kanes_method
    errors <- run                                                            (the extension, no SymPy)

and `_compile` joins the three.  So a prebuilt model runs without SymPy and without a compiler, and the gallery
can be derived before the extension exists.
"""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import kanecore as kc

# .ci/run runs them, and the order of the files is no concern of who installs.
pytestmark = pytest.mark.long

# What the modules of a layer may import at their top; a layer is a folder or a module of the package.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "kernels": set(),
    "tolerances": set(),
    "speed_matrices": set(),
    "shapes": set(),
    "robots": {"errors"},
    "independence": {"tolerances"},
    "inertial": set(),
    "splines": set(),
    "c_functions": {"errors"},
    "machine_code": set(),
    "garbage": set(),
    "progress": set(),
    "sweeps": {"errors", "progress"},
    "graph": {"errors", "tolerances"},
    "describe": {"errors", "graph", "c_functions", "shapes", "splines", "tolerances"},
    "derive": {"errors", "kernels", "graph", "describe", "tolerances", "speed_matrices", "independence", "inertial"},
    "program": {"errors", "kernels", "graph", "derive", "tolerances"},
    "emit": {
        *("errors", "kernels", "graph", "describe", "derive", "program", "c_functions", "splines", "tolerances"),
        "machine_code",
    },
    "build": {"errors", "kernels", "tolerances", "garbage", "graph", "describe", "derive", "emit"},
    # what a compiled model becomes for others
    "export": {
        *("errors", "kernels", "tolerances", "machine_code", "graph", "describe", "derive", "program", "emit", "build"),
        *("run", "prebuilt", "_motion"),
    },
    "expressions": set(),
    # what a user holds: a description, and what is derived from it
    "model": {
        "errors",
        "describe",
        "derive",
        "expressions",
        "garbage",
        "c_functions",
        "shapes",
        "speed_matrices",
        "splines",
    },
    # the same for those who have KanesMethod code
    "kanes_method": {"graph", "describe", "derive", "model"},
    "run": {
        "errors",
        "independence",
        "inertial",
        "kernels",
        "tolerances",
        "c_functions",
        "speed_matrices",
        "splines",
        "machine_code",
        "progress",
        *("_library", "_motion", "_native"),
    },
    "show": {"errors", "shapes"},
    "_library": set(),
    "_binding": {"errors", "machine_code"},
    "_methods": {"_binding"},
    "_native": {"_binding", "_methods"},
    "_motion": {"_binding"},
    "_compile": {
        "errors",
        "kernels",
        "garbage",
        "c_functions",
        "machine_code",
        "describe",
        "model",
        "emit",
        "build",
        "run",
    },
    "events": set(),
    "event_code": {"errors", "graph", "describe", "emit", "run"},
    "equivalence": {"errors", "model", "_compile", "run"},
    "demo": {"errors", "model", "emit", "_compile", "run", "show", "gallery"},
    "cli": {"errors", "cli_models"},
    "cli_models": {"errors"},
    "cli_runs": {"errors"},
    "cli_export": {"errors", "cli_runs"},
    "prebuilt": {"errors"},
    "gallery": {"errors", "prebuilt"},
}

# The gallery's models are descriptions as a user writes them.
ALLOWED_IN_MODELS = {"kanecore", "errors", "model", "describe", "shapes"}

# The only imports against the order, made inside a function when it is called.
INSIDE_FUNCTIONS: dict[str, set[str]] = {
    # each command imports what it needs
    "cli": {"build", "cli_export", "cli_runs", "demo", "gallery", "kanecore"},
    "cli_models": {"_compile", "gallery", "model", "run"},
    "cli_export": {"export"},
    "prebuilt": {"_library", "run", "build"},
    "events": {"event_code"},  # names and functions need no code
    "export": {"model"},  # the report of a wheel's model
    "gallery": {"run", "build", "_compile", "emit"},  # listing the models needs none of them
    "model": {"show"},  # a notebook shows it
    # a model pickled as C text is compiled again; a trajectory is plotted; a compiled model is handed over
    "run": {"build", "show", "export"},
    "derive": {"show"},  # a description is drawn
}

WITHOUT_SYMPY = {
    "errors",
    "events",
    "independence",
    "inertial",
    "kernels",
    "tolerances",
    "c_functions",
    "robots",
    "shapes",
    "speed_matrices",
    "splines",
    "run",
    "show",
    "cli",
    "cli_export",
    "cli_models",
    "cli_runs",
    "prebuilt",
    "progress",
    "sweeps",
}


@dataclass(frozen=True)
class Import:
    """One imported module, or name of a module, as seen from the package's own folder."""

    name: str
    inside_function: bool

    @property
    def top(self) -> str:
        return self.name.split(".")[0]

    @property
    def layer(self) -> str:
        """Layer of the package that it reaches: that of a public name is where the name lives."""
        inner = self.name.removeprefix("kanecore").lstrip(".")
        return kc._HOMES.get(inner, f"kanecore.{inner}").split(".")[1] or "kanecore"


@cache
def modules(root: Path, typed: bool = False) -> list[tuple[str, list[Import]]]:
    """(dotted name inside the package, its imports) of every module but the package's own __init__.

    ``typed``: with what is imported for type checkers only.
    """
    package, found = root / "pysrc/kanecore", []
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")]):
        parts = path.relative_to(package).with_suffix("").parts
        if parts not in (("__init__",), ("__main__",)):
            tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
            folder = ".".join(("kanecore", *parts[:-1]))
            found.append((".".join(parts).removesuffix(".__init__"), list(imports(tree, folder, False, typed))))
    return found


def imports(node: ast.AST, folder: str, inside: bool, typed: bool) -> Iterator[Import]:
    """All imports below `node`, also those for type checkers if `typed`; `folder` is the package around it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING" and not typed:
            continue
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, inside) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            module = importlib.util.resolve_name("." * child.level + (child.module or ""), folder)
            names = [f"kanecore.{alias.name}" for alias in child.names] if module == "kanecore" else [module]
            names = [f"{module}.{alias.name}" for alias in child.names] if typed else names
            yield from (Import(name, inside) for name in names)
        function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from imports(child, folder, inside or function, typed)


def test_imports_point_one_way(root: Path) -> None:
    wrong, used = [], set()
    for name, imported in modules(root):
        own = name.split(".")[0]
        allowed = ALLOWED[own] | {own, "__version__"}
        if name.startswith("gallery."):
            allowed |= ALLOWED_IN_MODELS
        for module in imported:
            if module.top != "kanecore" or module.layer in allowed:
                continue
            if module.inside_function and module.layer in INSIDE_FUNCTIONS.get(own, set()):
                used.add((own, module.layer))
            else:
                wrong.append(f"{name} imports {module.name}")
    assert not wrong
    listed = {(own, layer) for own, layers in INSIDE_FUNCTIONS.items() for layer in layers}
    assert used == listed, "an exception that nobody needs any more"


def test_sympy_stays_with_the_description(root: Path) -> None:
    importing = {name for name, imported in modules(root) if "sympy" in {module.top for module in imported}}
    assert not {name for name in importing if name == "gallery" or name.split(".")[0] in WITHOUT_SYMPY}


def test_only_build_runs_processes(root: Path) -> None:
    running = {name for name, imported in modules(root) if "subprocess" in {module.top for module in imported}}
    assert {name.split(".")[0] for name in running} == {"build"}


@pytest.mark.parametrize(
    ("blocked", "statements"),
    [
        (
            "sympy",
            [
                "import kanecore.run, kanecore.run.model, kanecore.run.trajectory, kanecore.run.signals",
                "import kanecore.cli, kanecore.gallery, kanecore.errors",
                "import kanecore as kc; kc.load, kc.CompiledModel, kc.Trajectory, kc.Signal",
                "kc.ABI_VERSION, kc.models()",
            ],
        ),
        (
            "kanecore._native",
            [
                "import kanecore.graph, kanecore.model, kanecore.derive.derivation",
                "import kanecore.emit.groups, kanecore.build",
                "import kanecore as kc; kc.Model, kc.__version__, kc.get_include()",
                "import kanecore.gallery as g; [__import__(f'kanecore.gallery.{n}') for n in g.MODELS]",
            ],
        ),
    ],
)
def test_imports_without(blocked: str, statements: list[str], tmp_path: Path) -> None:
    """In a process in which importing `blocked` fails."""
    code = "\n".join([f"import sys; sys.modules[{blocked!r}] = None", *statements])
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.compiler
def test_a_model_in_the_cache_needs_no_sympy() -> None:
    kc.load("rrp")
    code = "import sys; sys.modules['sympy'] = None\nimport kanecore as kc; print(kc.load('rrp').n_x)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("6\n", "")


def test_no_circle_of_files(root: Path) -> None:
    """Late imports and those for type checkers count as well."""
    files = {f"kanecore.{name}".removesuffix(".__init__"): found for name, found in modules(root, typed=True)}
    edges = {}
    for name, found in files.items():  # of a name that a file defines, that file
        used = {i.name if i.name in files else i.name.rpartition(".")[0] for i in found}
        edges[name] = used & files.keys() - {name}
    circles = []
    for start in sorted(edges):
        reached, ahead = set[str](), list(edges[start])
        while ahead:
            name = ahead.pop()
            if name not in reached:
                reached.add(name)
                ahead += edges[name]
        if start in reached:
            circles.append(start)
    assert not circles
