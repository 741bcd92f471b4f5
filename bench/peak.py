# SPDX-License-Identifier: BSD-3-Clause
"""What share of the core's peak of multiply-adds does u̇ reach, scalar and in a batch, and what does it spill?"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import clock
import models
import numpy as np
import report
import shared
import tasks

import kanecore as kc
from kanecore.build.cache import SUFFIX

QUESTION = "what share of the peak of multiply-adds, found by a probe in the same run, does u̇ reach?"
ROUNDS = 100_000
FLAGS = ("-O3", "-march=native", "-ffp-contract=fast", "-fno-tree-vectorize", "-fPIC", "-shared")
ARITHMETIC = re.compile(r"v?(?:add|sub|mul|div|sqrt|max|min|fn?m(?:add|sub)\d+|fmaddsub\d+|fmsubadd\d+)([sp])d")


class Counts(NamedTuple):
    """Instructions of one function: arithmetic on vectors and on single numbers, spills."""

    packed: int
    scalar: int
    spills: int

    def __add__(self, other: Counts) -> Counts:  # type: ignore[override]
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """The probe; then one row a model and way, with instructions counted in the compiled code."""
    repeats = 5 if smallest else clock.REPEATS
    compiler = next(iter(shared.compilers()))
    probe = shared.copies(shared.library(Path(__file__).with_suffix(".c").read_text("utf-8"), compiler, FLAGS), 1)[0]
    for function in (probe.vectors, probe.scalars):
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_long]
    found = []
    for mechanism in (models.arm(),) if smallest else (models.arm(), models.tree(), models.bicycle()):
        with tasks.empty_cache() as folder:
            dyn = kc.compile(
                mechanism.build(), parameters=mechanism.parameters, bake=True, cc=shared.compilers()[compiler]
            )
            functions = _functions(next(folder.rglob(f"*{SUFFIX}")))
        found += _rows(tasks.Task(mechanism, True, {compiler: [dyn]}), functions, probe, repeats)
    peaks = {name: 1e9 * min(getattr(probe, name)(ROUNDS) for _ in range(repeats)) for name in ("vectors", "scalars")}
    lanes = {"vectors": probe.width(), "scalars": 1}
    rows = [{"case": name, "lanes": lanes[name], "ns": ns, "per_ns": 1 / ns} for name, ns in peaks.items()]
    return {"probe": rows, "share of the peak": found}


def _rows(task: tasks.Task, functions: dict[str, Counts], probe: ctypes.CDLL, repeats: int) -> list[report.Row]:
    """Scalar kernel and batch, each beside the probe of its own width, in turns."""
    task.dyn.inputs.update(zip(task.dyn.input_names, task.r, strict=True))
    named = {name: counts for name, counts in functions.items() if "udot" in name}
    out = np.empty((len(task.rows), task.dyn.n_u))
    names = {"dyn": task.dyn, "out": out}
    batch = clock.statement_batch("dyn.udot(0.0, x, out=out)", [task.rows], names)
    (scalar,) = tasks.ours_in_c(task)
    probes = [lambda n: n * probe.vectors(ROUNDS), lambda n: n * probe.scalars(ROUNDS)]
    times = clock.interleaved([scalar.batches[0], batch], repeats)
    peaks = [1e9 * min(p(1) for _ in range(repeats)) for p in probes]
    largest = [max((counts for counts in named.values()), key=key, default=None) for key in (_of_scalars, _of_vectors)]
    took = [times[0].least, times[1].least / len(task.rows) * probe.width()]
    ways = zip(("scalar kernel", "batch"), took, (peaks[1], peaks[0]), largest, (_of_scalars, _of_vectors), strict=True)
    found = []
    for way, ns, peak, counts, of in ways:
        row: report.Row = {
            "case": f"{task.mechanism.name}: {way}",
            "ns": ns,
            "instructions": "",
            "spills": "",
            "share": "",
        }
        if counts and of(counts):
            row |= {"instructions": of(counts), "spills": counts.spills, "share": of(counts) * peak / ns}
        found.append(row)
    return found


def _of_scalars(counts: Counts) -> int:
    return counts.scalar


def _of_vectors(counts: Counts) -> int:
    return counts.packed


def _functions(library: Path) -> dict[str, Counts]:
    """Counts of every function of a library with the sines it calls, by what objdump shows; none without objdump."""
    if not shutil.which("objdump"):
        return {}
    command = ["objdump", "-d", "--no-show-raw-insn", str(library)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    own: dict[str, Counts] = {}
    calls: dict[str, Counter[str]] = {}
    for block in re.split(r"\n\n+", text):
        if head := re.match(r"[0-9a-f]+ <(.+)>:", block):
            own[head[1]] = _counted(block)
            calls[head[1]] = Counter(re.findall(r"(?:call|jmp)q?\s+[0-9a-f]+ <([^+>]+)>", block))

    def with_sines(name: str) -> Counts:
        called = [callee for callee in calls[name].elements() if "sincos" in callee and callee != name]
        return sum((own[callee] for callee in called if callee in own), own[name])

    return {name: with_sines(name) for name in own}


def _counted(block: str) -> Counts:
    """Instructions of one function; a spill is a move of a floating-point register to or from the stack."""
    kinds = Counter(
        match[1] for match in map(ARITHMETIC.match, re.findall(r"^\s*[0-9a-f]+:\s+(\S+)", block, re.M)) if match
    )
    spills = re.findall(r"\svmov[au]?p?[sd]d?\s[^\n]*\(%r[sb]p\)[^\n]*", block)
    return Counts(kinds["p"], kinds["s"], len(spills))


if __name__ == "__main__":
    report.main("peak", QUESTION, measure)
