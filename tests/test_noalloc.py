# SPDX-License-Identifier: BSD-3-Clause
"""Calls with ``out=``, and those of a workspace, ask for no memory: neither Python's nor the C library's."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from kanecore.build import compile_library

pytestmark = pytest.mark.compiler

# Each of CALLS runs 10,000 times: the first for what the loop itself takes, the last to see the counter work.
CHILD = """
import ctypes, gc, sys, tracemalloc
from itertools import repeat
import numpy as np
from kanecore.compiled_model import CompiledModel

dyn = CompiledModel({"all": sys.argv[1]}, source={})
dyn.parameters.update(m=0.4, l=0.7)
dyn.inputs["w"] = 0.1
x, udot, r, p = np.array([0.3, 0.8, -0.5, 1.2]), np.ones(2), np.ones(2), np.ones(5)
xdot, M, f, T = np.empty(4), np.empty((2, 2)), np.empty(2), np.empty(())
ws = dyn.workspace()
CALLS = {
    "nothing": lambda: None,
    "rhs": lambda: dyn.rhs(0.0, x, out=xdot),
    "rhs, r and p": lambda: dyn.rhs(0.0, x, r=r, p=p, out=xdot),
    "mass_matrix": lambda: dyn.mass_matrix(0.0, x, out=M),
    "forcing": lambda: dyn.forcing(0, x, out=f),
    "inverse_dynamics": lambda: dyn.inverse_dynamics(0.0, x, udot, out=f),
    "kinetic_energy": lambda: dyn.kinetic_energy(0.0, x, out=T),
    "workspace": lambda: ws.rhs(),
    "workspace, changed parameter": lambda: ws.p.fill(1.0) or ws.rhs(),
    "allocating": lambda: dyn.rhs(0.0, x),
}

def run(call):
    for _ in repeat(None, 10_000):
        call()

def python_blocks(call):
    before = sys.getallocatedblocks()
    run(call)
    return sys.getallocatedblocks() - before

def python_peak(call):
    tracemalloc.start()
    run(call)
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    run(call)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return peak

def libc_allocations(call):
    count = ctypes.CDLL(None).allocations
    count.restype = ctypes.c_long
    before = count()
    run(call)
    return count() - before

gc.disable()
for measure in map(globals().get, sys.argv[2:]):
    for name, call in CALLS.items():
        run(call)
        measure(call)
    baseline = measure(CALLS["nothing"])
    for name, call in CALLS.items():
        print(measure.__name__, name, measure(call) - baseline, sep=":")
"""


@pytest.fixture(scope="module")
def library(root: Path) -> str:
    text = (root / "tests/cmodels/cartpole.c").read_text()
    return compile_library(text, cache=False, name="cartpole").path


def measured(library: str, folder: Path, *measures: str, **environment: str) -> list[dict[str, int]]:
    """The counts of each measure, by the name of the call."""
    command = [sys.executable, "-c", CHILD, library, *measures]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    counts = [line.split(":") for line in done.stdout.splitlines()]
    return [{name: int(count) for measure, name, count in counts if measure == each} for each in measures]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the interposer calls what glibc alone exports")
def test_c_library_is_asked_for_no_memory(root: Path, library: str, tmp_path: Path) -> None:
    text = (root / "tests/c/malloc_count.c").read_text()
    interposer = compile_library(text, cflags="-fvisibility=default", cache=False).path
    # With Python's own allocator out of the way, each of its objects is an allocation that is counted.
    [counts] = measured(library, tmp_path, "libc_allocations", LD_PRELOAD=interposer, PYTHONMALLOC="malloc")
    assert counts.pop("allocating") >= 10_000
    assert counts == dict.fromkeys(counts, 0)


def test_python_is_asked_for_no_memory(library: str, tmp_path: Path) -> None:
    blocks, peak = measured(library, tmp_path, "python_blocks", "python_peak")
    assert blocks.pop("allocating") == 0  # they are free again at the end
    assert peak.pop("allocating") > 0
    for counts in (blocks, peak):
        assert counts == dict.fromkeys(counts, 0)
        assert "workspace, changed parameter" in counts
