# SPDX-License-Identifier: BSD-3-Clause
"""Parts of the package meet by public names: functions and a compiled model, the extension and Python."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from pathlib import Path

import kanecore as kc
from kanecore.binding.declared_methods import shown
from kanecore.binding.evaluator import Evaluator
from kanecore.binding.facts import Facts
from kanecore.binding.hooks import Hooks
from kanecore.binding.kernel_methods import InternalKernels
from kanecore.binding.library_groups import LibraryGroups
from kanecore.binding.names import Names

# The files that read what SymPy keeps private, for the others.
OF_SYMPY = {"vector_internals.py", "method_internals.py"}

# What has no other name: methods of named tuples, of SymPy's KanesMethod in its subclass, and of the standard library.
OF_OTHERS = ("._replace", "self._initialize_vectors", "sys._getframe", "argparse._ActionsContainer")


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def private_reads(path: Path) -> list[str]:
    """Private attributes that a file reads and nothing in it defines: those of another file's objects."""
    own, read = set[str](), list[ast.Attribute]()
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            if isinstance(node.ctx, ast.Store):
                own.add(node.attr)
            else:
                read.append(node)
    return [f"{path.name}: {ast.unparse(node)}" for node in read if node.attr not in own]


HIDING_NAMES = {"of", "what", "whose", "given", "way", "one", "each"}  # a reader cannot tell what they hold


def names_of_arguments(path: Path) -> list[str]:
    """Names of the parameters of functions, and of the fields of classes; lambdas say in place what they take."""
    found = []
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef):
            found += [argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)]
        elif isinstance(node, ast.ClassDef):
            fields = (statement.target for statement in node.body if isinstance(statement, ast.AnnAssign))
            found += [field.id for field in fields if isinstance(field, ast.Name)]
    return found


def names_in_cython(path: Path) -> list[str]:
    """Names of the parameters of functions of Cython; each function's stand on one line, or on the first of two."""
    heads = re.findall(r"^ *(?:cdef|cpdef|def) [^=\n]*?\((.*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return [name for head in heads for name in re.findall(r"(\w+) *(?:=[^,)]*)?[,)]", head)]


def test_parameters_and_fields_are_nouns(root: Path) -> None:
    python = [path for path in (root / "pysrc/kanecore").rglob("*.py*") if path.suffix in {".py", ".pyi"}]
    cython = [path for path in (root / "kanecore").rglob("*.p*") if path.suffix in {".pyx", ".pxi", ".pxd"}]
    found = [(path.name, name) for path in python for name in names_of_arguments(path)]
    found += [(path.name, name) for path in cython for name in names_in_cython(path)]
    assert {("call_arguments.py", "values"), ("_xla.pxi", "settings")} <= {*found}
    assert {pair for pair in found if pair[1] in HIDING_NAMES} == set()


def test_private_names_are_read_where_they_are_defined(root: Path) -> None:
    """Where a class has its base in another file, what it reads of that as well; before there were 593 such reads."""
    files = [path for path in (root / "pysrc/kanecore").rglob("*.py") if path.parent.name != "gallery"]
    reads = [read for path in files if path.name not in OF_SYMPY for read in private_reads(path)]
    assert {read for read in reads if not read.endswith(OF_OTHERS)} == {"batch_simulation.py: self._names"}
    assert all(private_reads(path) for path in files if path.name in OF_SYMPY)


def test_the_extension_asks_little() -> None:
    """Where a library is, and why a kernel failed; no feature is among it."""
    assert Hooks.__abstractmethods__ == {"find", "find_lanes", "count_near", "failure"}
    assert all(vars(Hooks)[name].__doc__ for name in Hooks.__abstractmethods__)


def test_members_for_the_package_are_described() -> None:
    for kind in (Names, InternalKernels, LibraryGroups):
        members = [name for each in kind.__mro__[:-1] for name in vars(each) if not name.startswith("_")]
        assert [name for name in members if not (getattr(kind, name).__doc__ or name == "model")] == [], kind
    described = inspect.getdoc(Facts) or ""
    assert [name for name in Facts.__dataclass_fields__ if name not in described] == []
    text = inspect.getdoc(Evaluator) or ""
    members = re.findall(r"^(\w+) : ", text[text.index("Attributes") :], re.MULTILINE)
    assert members == ["names", "kernels", "facts", "libraries", "hooks"]
    assert {*members, "another"} & {name for names in shown(kc.CompiledModel).values() for name in names} == set()


def test_the_class_of_compiled_models_is_a_facade(root: Path) -> None:
    text = (root / "pysrc/kanecore/compiled_model.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 350
    [body] = [node.body for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    functions = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    assert {name for name in functions if not name.startswith("_")} == {"model"}
