# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of the stack that exported C states, against what gcc takes along its graph of calls."""

import re
import shutil
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path

import gallery_states
import pytest

from kanecore.export.exported_library import library_of
from kanecore.kernels import KERNEL_GROUPS
from kanecore.program.function_parts import Function

KERNELS = (
    *("rhs", "qdot", "mass_matrix", "inverse_dynamics", "positions", "reactions", "multipliers", "stabilization"),
    *("project", "linearize", "mass_matrix_inverse", "rhs_tangent", "rhs_gradient", "rhs_parameter_jacobian"),
    *("rhs_hessian", "hessian_products", "project_gradient"),
)
INDIRECT = "__indirect_call"
LINEAR = ("kc_linearize", "kc_multiply_generally", "kc_find_all_columns")  # functions that ask one of these:
SOLUTIONS = (
    "kc_solve_equations",
    "kc_solve_free",
    "kc_solve_with_forces",
    "kc_solve_without_forces",
    "kc_solve_changes",
)

pytestmark = [
    pytest.mark.compiler,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc tells the stack and the graph of calls"),
]


class Calls:
    """Frames and calls of the functions of a compiled text; a solver calls functions of the model by pointers."""

    def __init__(self, folder: Path, level: str, functions: dict[str, Function]) -> None:
        flags = ("-std=c99", level, "-ffp-contract=off", "-fno-math-errno", "-fcallgraph-info=su")
        subprocess.run(["gcc", *flags, "-c", "m.c", "-o", "m.o"], cwd=folder, check=True)
        text, self.functions = (folder / "m.ci").read_text(), functions
        frames = re.findall(r'node: \{ title: "([^"]+)" label: "[^"]*?(\d+) bytes', text)
        self.frames = {title: int(size) for title, size in frames}
        self.named = {self.name(title): title for title in self.frames}
        self.calls = defaultdict(set)
        for caller, called in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', text):
            self.calls[caller].add(called)
        self.depth = cache(self._depth)

    @staticmethod
    def name(title: str) -> str:
        """Name without file and the suffix of a specialized copy."""
        return title.split(":")[-1].split(".")[0]

    def _depth(self, title: str, model: str) -> int:
        """Stack of a function that serves, or is, a function of the model."""
        name = self.name(title)
        model = name if name in self.functions else model
        called = self.calls[title] - {INDIRECT}
        if INDIRECT in self.calls[title]:
            found = self.below(model) | ({*SOLUTIONS} if name in LINEAR else set())
            called |= {self.named[each] for each in found if each in self.named}
        return self.frames.get(title, 0) + max((self.depth(each, model) for each in called), default=0)

    def below(self, model: str) -> set[str]:
        """Functions that one calls, or those that were compiled into it."""
        found = set[str]()
        for each in self.functions[model].calls:
            if each in self.functions:
                found |= {each} if each in self.named else {each} | self.below(each)
        return found


@pytest.mark.parametrize("real", ["double", pytest.param("float", marks=pytest.mark.long)])
@pytest.mark.parametrize("level", ["-O2", *(pytest.param(o, marks=pytest.mark.long) for o in ("-O1", "-O3", "-Os"))])
@pytest.mark.parametrize(
    "name",
    [
        "cart_pole",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("rrp", "four_bar", "rolling_disc", "free_body", "arm7", "whipple_bicycle")
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:in floats about")
def test_bounds_hold(tmp_path: Path, name: str, level: str, real: str) -> None:
    """No kernel takes more than the header says, and the right-hand side a third of it."""
    dyn = gallery_states.loaded(name)
    library = library_of(dyn, "C", kernels=list(KERNEL_GROUPS), real=real)
    kernels = [kernel for kernel in KERNELS if kernel in library.of_kernel]
    if name == "cart_pole":
        kernels = ["rhs", "mass_matrix"]
    dyn.export_c(tmp_path, kernels=kernels, real=real, prefix="m")
    functions = dict(library.functions.by_name)
    calls, header = Calls(tmp_path, level, functions), (tmp_path / "m.h").read_text()
    stated = {kernel: int(n) for kernel, n in re.findall(r"m_stack_(\w+) = (\d+)", header)}
    taken = {kernel: calls.depth(calls.named[f"m_{kernel}"], library.of_kernel[kernel].name) for kernel in kernels}
    assert {k: (n, stated[k]) for k, n in taken.items() if n > stated[k]} == {}
    assert stated["rhs"] < 3 * taken["rhs"]
