# SPDX-License-Identifier: BSD-3-Clause
"""Parts of the package meet by public names: functions and a compiled model, the extension and Python."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import kanecore as kc
from kanecore.binding.evaluator import Evaluator
from kanecore.binding.facts import Facts
from kanecore.binding.hooks import Hooks
from kanecore.binding.kernel_methods import InternalKernels
from kanecore.binding.library_groups import LibraryGroups
from kanecore.binding.names import Names

# Of other packages, which have no other name for them; all but the last three of SymPy's mechanics.
OF_OTHERS = {
    *("_dcm", "_dcm_dict", "_ang_vel_dict", "_ang_acc_dict", "_pos_dict", "_vel_dict", "_acc_dict", "_t", "_inertial"),
    *("_k_nh", "_k_dnh", "_k_kqdot_implicit", "_f_k_implicit", "_k_ku_implicit", "_f_h", "_f_nh", "_f_dnh", "_udep"),
    *("_qdep", "_uaux", "_qdot", "_hol_coneqs", "_L", "_initialize_vectors", "_multipliers"),
    *("_replace", "_getframe", "_ActionsContainer"),
}
COMPILED_HALF = (
    "binding",
    "run",
    "constraints",
    "motion",
    "control",
    "audit",
    "show",
    "export",
    "live",
    "cli",
    "gallery",
)


def private_reads(path: Path) -> Iterator[str]:
    """Private names of kanecore's objects that a file reads and does not define."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own, read = set[str](), list[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Store):
                own.add(node.attr)
            elif node.attr.startswith("_") and not node.attr.startswith("__"):
                read.append(node.attr)
    return (name for name in read if name not in own | OF_OTHERS)


def test_private_names_are_read_where_they_are_defined(root: Path) -> None:
    package = root / "pysrc/kanecore"
    reads = {
        path.relative_to(package).as_posix(): Counter(private_reads(path))
        for path in package.rglob("*.py")
        if "gallery" not in path.parts or path.name == "__init__.py"
    }
    of_files = {file: dict(names) for file, names in reads.items() if names}
    compiled = {file: names for file, names in of_files.items() if file.split("/")[0] in COMPILED_HALF}
    assert sum(sum(names.values()) for names in compiled.values()) <= 2, compiled
    assert sum(sum(names.values()) for names in of_files.values()) <= 110, of_files


def test_the_extension_asks_little() -> None:
    """Where a library is, and why a kernel failed; no feature is among it."""
    assert Hooks.__abstractmethods__ == {"find", "find_lanes", "count_near", "failure"}
    assert all(vars(Hooks)[name].__doc__ for name in Hooks.__abstractmethods__)


def test_members_for_the_package_are_described() -> None:
    dyn = kc.load("rrp")
    assert isinstance(dyn, Evaluator)
    for kind in (Names, InternalKernels, LibraryGroups):
        members = [name for each in kind.__mro__[:-1] for name in vars(each) if not name.startswith("_")]
        assert [name for name in members if not (getattr(kind, name).__doc__ or name == "model")] == [], kind
    described = inspect.getdoc(Facts) or ""
    assert [name for name in Facts.__dataclass_fields__ if name not in described] == []
    hidden = {"names", "kernels", "facts", "libraries", "hooks", "another"}
    assert all(getattr(dyn, name) for name in hidden)
    assert hidden & set(dir(dyn)) == set()


def test_the_class_of_compiled_models_is_a_facade(root: Path) -> None:
    text = (root / "pysrc/kanecore/compiled_model.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 350
    [body] = [node.body for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    functions = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    assert {name for name in functions if not name.startswith("_")} == {"model"}
