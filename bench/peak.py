# SPDX-License-Identifier: BSD-3-Clause
"""Share of the core's peak of multiply-adds that u̇ reaches, scalar and in a batch, and its spills."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import clock
import models
import report
import shared
import tasks

from kanecore.build.cache import SUFFIX

QUESTION = "what share of the peak of multiply-adds, found by a probe in the same run, does u̇ reach?"
STEPS = 48  # of the probe in a round
FEWEST = 50  # instructions: fewer are none of a kernel of that kind
FLAGS = ("-O3", "-march=native", "-ffp-contract=fast", "-fno-tree-vectorize", "-fPIC", "-shared")
ARITHMETIC = re.compile(r"v?(?:add|sub|mul|div|sqrt|max|min|fn?m(?:add|sub)\d+|fmaddsub\d+|fmsubadd\d+)([sp])d")


class Counts(NamedTuple):
    """Instructions of one function: arithmetic on vectors and on single numbers, spills."""

    packed: int
    scalar: int
    spills: int

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))


class Way(NamedTuple):
    """u̇ by the scalar kernel or in a batch: ``states`` a call; the probe of its width, and what to count."""

    name: str
    batch: Callable[[int], float]
    states: int
    probe: str
    kind: str


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """The probe; then one row a model and way, with instructions counted in the compiled code."""
    repeats, compiler = 5 if smallest else clock.REPEATS, next(iter(shared.compilers()))
    text = Path(__file__).with_suffix(".c").read_text(encoding="utf-8")
    (probe,) = shared.copies(shared.library(text, compiler, FLAGS), 1)
    lanes = {"vectors": probe.width(), "scalars": 1}
    for name in lanes:
        getattr(probe, name).restype, getattr(probe, name).argtypes = ctypes.c_double, [ctypes.c_long]
    shares = []
    for mechanism in (models.arm(),) if smallest else (models.arm(), models.tree(), models.bicycle()):
        with tasks.empty_cache() as folder:
            task = tasks.compiled_once(mechanism, compiler)
            ways = _ways(task)
            functions = [function for library in folder.rglob(f"*{SUFFIX}") for function in _functions(library)]
        for way in ways:
            took, peak = clock.interleaved([way.batch, getattr(probe, way.probe)], repeats)
            ns, step = took.least / way.states * lanes[way.probe], peak.least / STEPS
            shares.append({"case": f"{mechanism.name}: {way.name}", "ns": ns, **_share(functions, way.kind, ns / step)})
    steps = [took.least / STEPS for took in clock.interleaved([getattr(probe, name) for name in lanes], repeats)]
    rows = [
        {"case": name, "lanes": lanes[name], "ns": ns, "per_ns": 1 / ns} for name, ns in zip(lanes, steps, strict=True)
    ]
    return {"probe": rows, "share of the peak": shares}


def _ways(task: tasks.Task) -> list[Way]:
    """Called once each, so that all libraries are compiled."""
    (scalar,) = tasks.ours_in_c(task)
    names = {"dyn": task.dyn, "out": task.dyn.udot(0.0, task.rows)}
    batch = clock.statement_batch("dyn.udot(0.0, x, out=out)", [task.rows], names)
    return [
        Way("scalar kernel", scalar.batches[0], 1, "scalars", "scalar"),
        Way("batch", batch, len(task.rows), "vectors", "packed"),
    ]


def _share(functions: Sequence[tuple[str, Counts]], kind: str, steps: float) -> report.Row:
    """Figures of the largest function for u̇ with instructions of a kind, in a time of so many steps of the probe."""
    counts = max((c for name, c in functions if "udot" in name), key=lambda c: getattr(c, kind), default=None)
    if counts is None or getattr(counts, kind) < FEWEST:
        return {"instructions": "", "spills": "", "share": ""}
    n = getattr(counts, kind)
    return {"instructions": n, "spills": counts.spills, "share": n / steps}


def _functions(library: Path) -> list[tuple[str, Counts]]:
    """Every function of a library with the sines it calls, by what objdump shows; none without objdump."""
    if not shutil.which("objdump"):
        return []
    command = ["objdump", "-d", "--no-show-raw-insn", str(library)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    heads = {block: re.match(r"[0-9a-f]+ <(.+)>:", block) for block in re.split(r"\n\n+", text)}
    blocks = {head[1]: block for block, head in heads.items() if head}
    own = {name: _counted(block) for name, block in blocks.items()}

    def with_sines(name: str) -> Counts:
        called = re.findall(r"(?:call|jmp)q?\s+[0-9a-f]+ <([^+>]*sincos[^+>]*)>", blocks[name])
        return sum((own[callee] for callee in called if callee in own and callee != name), own[name])

    return [(name, with_sines(name)) for name in own]


def _counted(block: str) -> Counts:
    """Instructions of one function; a spill is a move of a floating-point register to or from the stack."""
    instructions = re.findall(r"^\s*[0-9a-f]+:\s+(\S+)", block, re.MULTILINE)
    kinds = Counter(match[1] for match in map(ARITHMETIC.match, instructions) if match)
    spills = re.findall(r"\svmov[au]?p?[sd]d?\s[^\n]*\(%r[sb]p\)[^\n]*", block)
    return Counts(kinds["p"], kinds["s"], len(spills))


if __name__ == "__main__":
    report.main("peak", QUESTION, measure)
