# SPDX-License-Identifier: BSD-3-Clause
"""Imports point one way, in the order that data passes the folders:

    errors <- graph <- describe <- derive <- program <- emit <- build        (SymPy, no extension)
                                   derive <- model <- kanes_method
    errors <- run <- constraints <- motion, control, audit <- compiled_model (the extension, no SymPy)

and `_compile` joins the two.  So a prebuilt model runs without SymPy and without a compiler, and the gallery
can be derived before the extension exists.  `export`, `audit.equivalence` and `cli` stand on all of these.
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

# .ci/run runs them, and the order of the files is no concern of who installs.
pytestmark = pytest.mark.long

# What the modules of a layer may import at their top; a layer is a folder or a module of the package.  Of `a.b.c` the
# longest name counts that stands here.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "kernels": set(),
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
        *("errors", "describe", "describe.from_sympy", "describe.from_urdf", "describe.from_transforms"),
        *("derive", "describe.robots", "functions", "program.garbage_collection", "shapes", "speed_matrices"),
    },
    # the same for those who have KanesMethod code
    "kanes_method": {"errors", "graph", "describe", "describe.from_sympy", "derive", "model"},
    # a compiled model at numbers
    "run": {"errors", "binding", "kernels", "tolerances", "_library", "_native"},
    "constraints": {
        *("errors", "kernels", "tolerances", "rank", "speed_matrices", "run", "binding", "_library", "_native")
    },
    "motion": {
        *("errors", "functions", "statuses", "tolerances", "rank", "run", "constraints", "show"),
        *("_library", "_motion", "_native", "binding", "whole_files"),
    },
    "control": {"errors", "binding", "kernels", "tolerances", "rank", "run", "constraints", "_library", "_native"},
    "audit": {"errors", "binding", "tolerances", "rank", "run", "constraints", "_library", "_native"},
    "compiled_model": {
        *("errors", "kernels", "functions", "program.bytecode_format", "show"),
        *("run", "constraints", "motion", "control", "audit", "export.jax_function", "export.scipy_and_numba"),
        *("_library", "_native", "binding"),
    },
    "show": {"errors", "shapes", "whole_files"},
    "export.jax_function": {"kernels", "run", "_motion", "_native"},  # these two stand on the extension alone
    "export.scipy_and_numba": {"errors", "run", "_motion", "_native"},
    "binding": {"errors", "statuses", "_binding", "_library", "_native"},
    "_library": set(),
    "_binding": {"program.bytecode_format"},
    "_native": {"_binding"},
    "_motion": {"_binding"},
    # both halves
    "_compile": {
        *("errors", "kernels", "functions", "program.bytecode_format", "program.garbage_collection"),
        *("emit", "build", "compiled_model"),
    },
    "audit.equivalence": {"errors", "model", "_compile", "compiled_model", "run", "constraints", "audit"},
    # what a compiled model becomes for others
    "export": {
        *("errors", "kernels", "statuses", "tolerances", "program.bytecode_format", "graph", "describe", "derive"),
        *("program", "emit", "build", "run", "constraints", "audit", "compiled_model", "prebuilt", "_motion"),
        "whole_files",
    },
    # and what runs in a page
    "live": {
        *("errors", "program.bytecode_format", "program.garbage_collection", "graph", "describe", "emit", "run"),
        *("control", "motion", "show", "export", "kanecore", "whole_files"),
    },
    "cli": {"errors", "whole_files"},
    "cli.prebuilt_gallery": {"errors"},  # setup.py imports it where there is no NumPy
    "cli.demo": {"emit", "_compile", "compiled_model", "motion", "gallery", "whole_files"},
    "prebuilt": {"errors"},
    "gallery": {"errors", "prebuilt"},
}

# The gallery's models are descriptions as a user writes them.
ALLOWED_IN_MODELS = {
    *("kanecore", "errors", "model", "describe", "describe.from_sympy", "describe.from_transforms", "shapes")
}

# The only imports against the order, made inside a function when it is called.
INSIDE_FUNCTIONS: dict[str, set[str]] = {
    # each command imports what it needs
    "cli": {"_compile", "audit", "build", "compiled_model", "export", "gallery", "kanecore", "model"},
    "cli.prebuilt_gallery": {"build", "describe", "emit", "gallery", "prebuilt", "whole_files"},
    "prebuilt": {"_library", "compiled_model", "build"},
    "motion": {"emit"},  # events of expressions become code
    "control": {"show"},
    "audit": {"show"},
    "export": {"model"},  # the report of a wheel's model
    "gallery": {"compiled_model", "build", "_compile", "describe", "emit"},  # listing the models needs none of them
    "model": {"show"},  # a notebook shows it
    "compiled_model": {"export", "live"},  # which is handed over
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
        "export.jax_function",
        "export.scipy_and_numba",
        "show",
    ),
    *("cli", "prebuilt"),
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
        return layer_of(kc._HOMES.get(inner, f"kanecore.{inner}").removeprefix("kanecore.")) or "kanecore"


def layer_of(name: str) -> str:
    """The longest name in ALLOWED that a dotted name inside the package begins with, else its first part."""
    parts = name.split(".")
    names = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((name for name in names if name in ALLOWED), parts[0])


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


def test_sympy_stays_with_the_description(root: Path) -> None:
    importing = {name for name, imported in modules(root) if "sympy" in {module.top for module in imported}}
    assert not {name for name in importing if name == "gallery" or layer_of(name) in WITHOUT_SYMPY}


def test_only_build_runs_processes(root: Path) -> None:
    running = {name for name, imported in modules(root) if "subprocess" in {module.top for module in imported}}
    assert {name.split(".")[0] for name in running} == {"build"}


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
    assert len({path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}) <= 14
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


# Where a model is described, derived and written; and the files that read what SymPy keeps private.
FIRST_HALF = ("graph", "describe", "derive", "program", "emit", "build", "kanes_method", "model.py")
OF_SYMPY = {"vector_internals.py", "method_internals.py"}


def private_reads(path: Path) -> list[str]:
    """Private attributes that a file reads and nothing in it defines: those of another file's objects."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    defined |= {
        node.attr if isinstance(node, ast.Attribute) else node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return [
        f"{path.name}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and re.fullmatch(r"_[a-z]\w*", node.attr) and node.attr not in defined
    ]


def test_the_first_half_reads_no_private_names_of_other_files(root: Path) -> None:
    """But in two files those of SymPy, and in the subclass of its KanesMethod one that this inherits."""
    package = root / "pysrc/kanecore"
    files = [
        path for name in FIRST_HALF for path in [package / name, *(package / name).rglob("*.py")] if path.is_file()
    ]
    found = {read for path in files if path.name not in OF_SYMPY for read in private_reads(path)}
    tuples = {read for read in found if read.endswith("._replace")}  # a public method of named tuples
    of_a_model = {"expression_code.py: self._dyn._found", "expression_code.py: dyn._another"}
    assert found - tuples - of_a_model == {"kanes_method.py: self._initialize_vectors"}
    assert all(private_reads(path) for path in files if path.name in OF_SYMPY)
