# SPDX-License-Identifier: BSD-3-Clause
"""Imports point one way, in the order that data passes the folders:

    errors <- graph <- describe <- derive <- program <- emit <- build        (SymPy, no extension)
                                   derive <- model <- kanes_method
    errors <- binding <- run <- constraints <- motion, control, audit <- compiled_model (the extension, no SymPy)

and `_compile` joins the two.  So a prebuilt model runs without SymPy and without a compiler, and the gallery
can be derived before the extension exists.  `export` and `live` stand on both halves, but not on the class of compiled
models; `comparison`, `wheels` and `cli` stand on all of these.  No folder needs another one that needs it.
"""

import ast
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import kanecore as kc

# What the modules of a layer may import at their top; a layer is a folder or a module of the package.  Of `a.b.c` the
# longest name counts that stands here.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "kernels": {"errors"},
    "tolerances": set(),
    "speed_matrices": set(),
    "statuses": set(),
    "shapes": set(),
    "robots": {"errors"},
    "whole_files": set(),
    "rank": {"tolerances"},
    # description and derivation, in the order that a model passes them
    "functions": {"errors"},
    "graph": {"errors", "tolerances"},
    "describe": {"errors", "graph", "functions", "shapes", "tolerances"},
    "describe.from_sympy": {"errors", "graph", "describe", "functions", "shapes", "tolerances"},
    "describe.robots": {"errors", "graph", "describe", "shapes"},
    "describe.from_urdf": {"errors", "describe.robots"},
    "describe.from_sdf": {"errors", "describe.robots"},
    "describe.mjcf_compiler": {"errors", "describe.robots"},
    "describe.from_mjcf": {"errors", "graph", "describe", "describe.robots", "describe.mjcf_compiler"},
    "describe.from_transforms": {"errors", "graph", "describe.from_sympy", "tolerances"},
    "transforms": {"describe.from_transforms"},
    "derive": {
        *("errors", "kernels", "graph", "describe", "describe.from_sympy", "tolerances", "speed_matrices", "rank"),
        "statuses",
    },
    "program": {"errors", "kernels", "graph", "derive", "tolerances"},
    "program.bytecode_format": set(),
    "program.garbage_collection": set(),
    "emit": {
        *("errors", "kernels", "graph", "describe", "derive", "program", "functions", "tolerances"),
        "program.bytecode_format",
    },
    "build": {
        "errors",
        "graph",
        "kernels",
        "statuses",
        "tolerances",
        "program.garbage_collection",
        "emit",
        "whole_files",
    },
    # what a user holds: a description, and what is derived from it
    "model": {
        *(
            "errors",
            "describe",
            "describe.from_sympy",
            "describe.from_urdf",
            "describe.from_sdf",
            "describe.from_mjcf",
            "describe.from_transforms",
        ),
        *("derive", "describe.robots", "functions", "kernels", "program.garbage_collection", "shapes"),
        "speed_matrices",
    },
    # the same for those who have KanesMethod code
    "kanes_method": {"errors", "graph", "describe", "describe.from_sympy", "derive", "model"},
    # a compiled model at numbers
    "binding": {
        *("errors", "kernels", "program.bytecode_format", "_binding", "_library", "_native"),
    },
    "run": {"errors", "binding", "kernels", "tolerances", "_library", "_native"},
    "constraints": {
        *("errors", "kernels", "statuses", "tolerances", "rank", "speed_matrices", "run", "binding"),
        *("_library", "_native"),
    },
    "motion": {
        *("errors", "functions", "statuses", "tolerances", "rank", "run", "constraints", "show"),
        *("_library", "_motion", "_native", "binding", "whole_files"),
    },
    "control": {"errors", "binding", "kernels", "tolerances", "rank", "run", "constraints", "_library", "_native"},
    "audit": {"errors", "binding", "tolerances", "rank", "run", "constraints", "_library", "_native"},
    # motions that are sought
    "optimal": {
        *("errors", "rank", "binding", "run", "constraints", "motion", "control", "export.export_methods"),
        "optimal.optimize_method",
    },
    "optimal.optimize_method": {"binding"},
    "optimal.fit_and_mpc_methods": {"binding"},
    "compiled_model": {
        *("errors", "binding", "run", "constraints", "motion", "control", "audit", "optimal.optimize_method"),
        "optimal.fit_and_mpc_methods",
        *("export.export_methods", "export.jax_function", "export.scipy_and_numba", "live.play_method"),
    },
    "single_model": {"errors", "binding", "compiled_model"},
    "show": {"errors", "shapes", "whole_files"},
    # methods of compiled models, which import what does their work when they are called
    "export.export_methods": {"binding"},
    "live.play_method": {"binding"},
    "export.jax_function": {
        "kernels",
        "binding",
        "run",
        "_motion",
        "_native",
    },  # these two stand on the extension alone
    "export.scipy_and_numba": {"errors", "binding", "run", "_motion", "_native"},
    "_library": set(),
    "_binding": {"program.bytecode_format"},
    "_native": {"_binding"},
    "_motion": {"_binding"},
    # both halves
    "_compile": {
        *("errors", "kernels", "functions", "program.bytecode_format", "program.garbage_collection"),
        *("emit", "build", "compiled_model", "single_model"),
    },
    "comparison": {"errors", "binding", "model", "_compile", "compiled_model", "run", "constraints", "audit"},
    "wheels": {
        "errors",
        "kernels",
        "build",
        "emit",
        "export",
        "compiled_model",
        "prebuilt",
        "tolerances",
        "whole_files",
    },
    # what a compiled model becomes for others
    "export": {
        *("errors", "kernels", "statuses", "tolerances", "program.bytecode_format", "graph", "describe", "derive"),
        *("program", "emit", "build", "binding", "run", "constraints", "audit", "_motion"),
        "whole_files",
    },
    # and what runs in a page
    "live": {
        *("errors", "program.bytecode_format", "program.garbage_collection", "graph", "describe", "emit", "binding"),
        *("run", "control", "motion", "show", "export", "kanecore", "whole_files"),
    },
    "cli": {"errors", "whole_files"},
    "cli.prebuilt_gallery": {"errors"},  # setup.py imports it where there is no NumPy
    "cli.demo": {"emit", "_compile", "compiled_model", "motion", "gallery", "whole_files"},
    "prebuilt": {"errors"},
    "gallery": {"errors", "prebuilt"},
}

# The gallery's models are descriptions as a user writes them.
ALLOWED_IN_MODELS = {
    *("kanecore", "errors", "model", "describe", "describe.from_sympy", "describe.from_transforms", "shapes"),
    "describe.mjcf_compiler",
}

# The only imports against the order, made inside a function when it is called.
INSIDE_FUNCTIONS: dict[str, set[str]] = {
    # each command imports what it needs
    "cli": {"_compile", "audit", "build", "compiled_model", "gallery", "kanecore", "model", "optimal", "wheels"},
    "cli.prebuilt_gallery": {"build", "describe", "emit", "gallery", "prebuilt", "whole_files"},
    "prebuilt": {"_library", "single_model", "build"},
    "run": {"show"},
    "motion": {"emit"},  # events of expressions become code
    "constraints": {"derive"},  # the part of a description without a value, for an error
    "control": {"show"},
    "audit": {"show"},
    "export": {"model"},  # the description of a compiled model as a model
    "export.export_methods": {"export"},
    "live.play_method": {"live"},
    "optimal.optimize_method": {"optimal"},
    "optimal.fit_and_mpc_methods": {"optimal"},
    "gallery": {"compiled_model", "build", "_compile", "describe", "emit"},  # listing the models needs none of them
    "model": {"show"},  # a notebook shows it
    "compiled_model": {"export", "show"},  # which is handed over
    "_compile": {"model", "describe"},  # what was derived before needs no SymPy
    "derive": {"show"},  # a description is drawn
}

WITHOUT_SYMPY = {
    *("errors", "functions", "kernels", "statuses", "tolerances", "rank", "robots", "shapes"),
    "speed_matrices",
    "whole_files",
    *(
        "program.bytecode_format",
        "program.garbage_collection",
        "run",
        "constraints",
        "motion",
        "control",
        "audit",
        "compiled_model",
        "single_model",
        "export.export_methods",
        "live.play_method",
        "optimal.optimize_method",
        "optimal.fit_and_mpc_methods",
        "export.jax_function",
        "export.scipy_and_numba",
        "show",
    ),
    *("cli", "prebuilt"),
}


@dataclass(frozen=True)
class Import:
    """One imported module, or name of a module, as seen from the package's own folder.

    Attributes
    ----------
    name : str
        The module; of ``from kanecore import x`` that name.
    member : str
        The name with what is imported of it, by which a module in a folder is told from a name in a file.
    inside_function, for_types : bool
        Made when a function is called; made for type checkers alone.
    """

    name: str
    member: str
    inside_function: bool
    for_types: bool

    @property
    def top(self) -> str:
        return self.name.split(".")[0]

    @property
    def layer(self) -> str:
        """Layer of the package that it reaches: that of a public name is where the name lives."""
        return layer_of(home(self.name)) or "kanecore"


def layer_of(name: str) -> str:
    """The longest name in ALLOWED that a dotted name inside the package begins with, else its first part."""
    parts = name.split(".")
    names = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((name for name in names if name in ALLOWED), parts[0])


@cache
def modules(root: Path) -> list[tuple[str, list[Import]]]:
    """(dotted name inside the package, its imports) of every module but the package's own __init__."""
    package, found = root / "pysrc/kanecore", []
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")]):
        parts = path.relative_to(package).with_suffix("").parts
        if parts not in (("__init__",), ("__main__",)):
            text = path.read_text(encoding="utf-8")
            tree, folder = ast.parse(text, str(path)), ".".join(("kanecore", *parts[:-1]))
            imported = list(imports(tree.body, folder, False, False))
            if "import_module(" in text or "__import__(" in text:
                imported += by_calls(tree, folder)
            found.append((".".join(parts).removesuffix(".__init__"), imported))
    return found


def at_run_time(root: Path) -> list[tuple[str, list[Import]]]:
    """The same without what is imported for type checkers."""
    return [(name, [each for each in imported if not each.for_types]) for name, imported in modules(root)]


def imports(body: list[ast.stmt], folder: str, inside: bool, typed: bool) -> Iterator[Import]:
    """All imports of some statements and those in them; `folder` is the package around them."""
    for child in body:
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, alias.name, inside, typed) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            module = importlib.util.resolve_name("." * child.level + (child.module or ""), folder)
            for alias in child.names:
                member = f"{module}.{alias.name}"
                yield Import(member if module == "kanecore" else module, member, inside, typed)
        function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        types = isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING"
        for field in ("body", "orelse", "finalbody"):
            yield from imports(getattr(child, field, []), folder, inside or function, typed or types)
        for part in (*getattr(child, "handlers", ()), *getattr(child, "cases", ())):
            yield from imports(part.body, folder, inside, typed)


def by_calls(tree: ast.Module, folder: str) -> Iterator[Import]:
    """Imports by a text, which are made inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in ("import_module", "__import__"):
                module = by_text(node.args[0], folder)
                yield Import(module, module, True, False)


def by_text(name: ast.expr, folder: str) -> str:
    """The module that a text names, as far as it is written out: f"kanecore.gallery.{name}" is one of the gallery."""
    parts = name.values if isinstance(name, ast.JoinedStr) else [name]
    texts = []
    for part in parts:
        if isinstance(part, ast.Constant):
            texts.append(str(part.value))
        elif isinstance(part, ast.FormattedValue) and ast.unparse(part.value) == "__name__":
            texts.append(folder)
        else:
            break
    return "".join(texts).rstrip(".") or "?"


def test_imports_point_one_way(root: Path) -> None:
    wrong, used = [], set()
    for name, imported in at_run_time(root):
        own = layer_of(name)
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


def test_imports_of_modules_that_only_the_call_names(root: Path) -> None:
    """A part of the package that is missing, for its error; the module of a model wheel."""
    anywhere = {name for name, imported in modules(root) if "?" in {module.name for module in imported}}
    assert anywhere == {"errors", "prebuilt"}


def test_sympy_stays_with_the_description(root: Path) -> None:
    importing = {name for name, imported in at_run_time(root) if "sympy" in {module.top for module in imported}}
    assert not {name for name in importing if name == "gallery" or layer_of(name) in WITHOUT_SYMPY}


def test_only_build_runs_processes(root: Path) -> None:
    running = {name for name, imported in at_run_time(root) if "subprocess" in {module.top for module in imported}}
    assert {name.split(".")[0] for name in running} == {"build"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("blocked", "statements"),
    [
        (
            "sympy",
            [
                "import kanecore.run, kanecore.compiled_model, kanecore.motion.trajectory, kanecore.motion.signals",
                "import kanecore.cli.commands, kanecore.gallery, kanecore.errors",
                "import kanecore as kc; kc.load, kc.CompiledModel, kc.Trajectory, kc.Signal",
                "kc.ABI_VERSION, kc.models()",
            ],
        ),
        (
            "kanecore._native",
            [
                "import kanecore.graph, kanecore.model, kanecore.derive.derivation",
                "import kanecore.emit.kernel_groups, kanecore.build",
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


@pytest.mark.long
@pytest.mark.compiler
def test_a_model_in_the_cache_needs_no_sympy() -> None:
    kc.load("rrp")
    code = "import sys; sys.modules['sympy'] = None\nimport kanecore as kc; print(kc.load('rrp').n_x)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("6\n", "")


def test_no_circle_of_files(root: Path) -> None:
    """Late imports and those for type checkers count as well."""
    files = {f"kanecore.{name}".removesuffix(".__init__"): found for name, found in modules(root)}
    edges = {}
    for name, found in files.items():  # of a name that a file defines, that file
        used = {i.member if i.member in files else i.member.rpartition(".")[0] for i in found}
        edges[name] = used & files.keys() - {name}
    assert not circles(edges)


def test_no_circle_of_folders(root: Path) -> None:
    """Late imports, those for type checkers and those by a text count as well; a file beside the folders is one."""
    package = {path.stem for path in (root / "pysrc/kanecore").iterdir()}
    edges: dict[str, set[str]] = {}
    for name, found in modules(root):
        own = name.split(".")[0]
        used = {home(module.name).split(".")[0] for module in found if module.top == "kanecore"}
        edges.setdefault(own, set()).update(used & package - {own})
    assert sum(map(len, edges.values())) > 100
    assert not circles(edges)


def home(name: str) -> str:
    """A dotted name inside the package; of a public name that of the file where it lives."""
    inner = name.removeprefix("kanecore").lstrip(".")
    return kc._HOMES.get(inner, f"kanecore.{inner}").removeprefix("kanecore.")


def circles(edges: dict[str, set[str]]) -> list[str]:
    """The names that lead back to themselves."""
    found = []
    for start in sorted(edges):
        reached, ahead = set[str](), list(edges[start])
        while ahead:
            name = ahead.pop()
            if name not in reached:
                reached.add(name)
                ahead += edges.get(name, ())
        if start in reached:
            found.append(start)
    return found


def test_each_file_has_a_name_of_its_own(root: Path) -> None:
    """Also no folder but the gallery is long, and few modules stand beside the folders."""
    package = root / "pysrc/kanecore"
    names = [path.stem for path in package.rglob("*.py") if path.stem not in ("__init__", "__main__")]
    assert sorted(set(names)) == sorted(names)
    native = [
        path.name
        for folder in (package / "emit", package / "export", root / "kanecore")
        for path in [*folder.rglob("*.[chp]*")]
        if path.suffix in (".c", ".h", ".pyx", ".pxi")
        and "headers" not in path.parts
        and "__pycache__" not in path.parts
    ]
    assert sorted(set(native)) == sorted(native)
    folders = [path for path in package.rglob("*") if path.is_dir() and path.name not in ("__pycache__", "gallery")]
    lengths = {folder: len([*folder.glob("*.py")]) for folder in folders}
    assert max(lengths.values()) <= 25, lengths
    native = [root / "kanecore", *(path for path in (root / "kanecore").rglob("*") if path.is_dir())]
    assert max(len([path for path in folder.iterdir() if path.is_file()]) for folder in native) <= 25
    assert len({path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}) <= 15
    assert len((root / "setup.py").read_text(encoding="utf-8").splitlines()) <= 250


@pytest.mark.parametrize("folder", ["kanecore/src", "pysrc/kanecore/export/fmi"])
def test_no_circle_of_c_files(root: Path, folder: str) -> None:
    """A file of C calls functions of another one, and that one calls none of the first, nor of what the first calls."""
    texts = {path.name: re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S) for path in (root / folder).rglob("*.c")}
    home = {
        name: file
        for file, text in texts.items()
        for name in re.findall(r"^(?!static)\w[\w *]*?\b(kc_\w+)\([^;{]*\)\n{", text, re.M)
    }
    edges = {
        file: {home[name] for name in re.findall(r"\bkc_\w+\b", text) if home.get(name, file) != file}
        for file, text in texts.items()
    }
    assert any(edges.values())
    while leaves := [file for file, others in edges.items() if not others & edges.keys()]:
        for file in leaves:
            del edges[file]
    assert not edges
