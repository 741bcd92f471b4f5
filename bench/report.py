# SPDX-License-Identifier: BSD-3-Clause
"""Results of a script, as a table to read and as JSON to keep."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import peers
import shared
from clock import reference

Row = dict[str, Any]


@dataclass(frozen=True)
class Report:
    """Rows by table; the first column of a row, ``case``, names it, and pairs it with that of another run."""

    name: str
    question: str
    tables: Mapping[str, Sequence[Row]]
    reference: Mapping[str, float]
    seconds: float

    def __str__(self) -> str:
        clock = ", ".join(f"{name} {value:.3g}" for name, value in self.reference.items())
        parts = [f"{self.name}: {self.question}", f"reference loops: {clock}"]
        parts += [f"\n{title}\n{table(rows)}" for title, rows in self.tables.items()]
        return "\n".join(parts) + "\n"


@dataclass(frozen=True)
class Run:
    """Reports of one run, with the ratios that kanecore promises, and what they depend on beside it."""

    reports: Sequence[Report]
    goals: Sequence[Row]
    smallest: bool
    facts: Mapping[str, Any] = field(default_factory=lambda: facts())

    def write(self, folder: Path, name: str) -> Path:
        """As JSON to keep, as text to read, as a picture where matplotlib is there."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.json"
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        path.with_suffix(".md").write_text(self.markdown(), encoding="utf-8")
        if find_spec("matplotlib"):
            from plot import draw

            draw(self, path.with_suffix(".svg"))
        return path

    def markdown(self) -> str:
        """All tables, for people and for the documentation."""
        parts = [
            ", ".join(f"{name} {value}" for name, value in self.facts.items() if not isinstance(value, dict)) + "."
        ]
        parts += [f"{name}: " + ", ".join(f"{k} {v}" for k, v in self.facts[name].items()) for name in VERSIONS]
        if self.goals:
            parts.append(f"## What it promises\n\n{markdown(self.goals)}")
        for report in self.reports:
            parts.append(f"## {report.name.capitalize()}: {report.question}")
            parts += [f"### {title}\n\n{markdown(rows)}" for title, rows in report.tables.items()]
        return "\n\n".join(parts) + "\n"


def read(path: Path) -> dict[str, Any]:
    """A run as :class:`Run` wrote it."""
    return json.loads(path.read_text(encoding="utf-8"))


VERSIONS = ("packages", "peers")


def facts() -> dict[str, Any]:
    """Machine, compiler and versions that the figures depend on beside kanecore."""
    packages = ("kanecore", "sympy", "numpy")
    return {
        "date": date.today().isoformat(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "compilers": ", ".join(_version(words) for words in shared.compilers().values()),
        "packages": {name: metadata.version(name) for name in packages},
        "peers": peers.versions(),
    }


def _version(compiler: Sequence[str]) -> str:
    """Name and version of a compiler, in its own words."""
    said = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False).stdout
    return said.partition("\n")[0]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def table(rows: Sequence[Row]) -> str:
    """Rows as text, one column a key, in order of appearance."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *([_cell(row.get(name, "")) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        )
        for line in cells
    ]
    return "\n".join(line.rstrip() for line in lines)


def markdown(rows: Sequence[Row]) -> str:
    """Rows as a table of Markdown."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, ["---"] * len(names), *([_cell(row.get(name, "")) for name in names] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def _cell(value: Any) -> str:
    return (
        f"{value:.3g}"
        if isinstance(value, float) and abs(value) < 100
        else f"{value:.0f}"
        if isinstance(value, float)
        else str(value)
    )


def run(name: str, question: str, measure: Callable[[bool], Mapping[str, Sequence[Row]]], smallest: bool) -> Report:
    """Measure, with the reference loops before and after: where the two differ, the machine was busy."""
    start, before = time.perf_counter(), reference()
    tables = measure(smallest)
    loops = {**before, **{f"{name}_after": value for name, value in reference().items()}}
    return Report(name, question, tables, loops, time.perf_counter() - start)


def main(name: str, question: str, measure: Callable[[bool], Mapping[str, Sequence[Row]]]) -> None:
    """A script of this folder, run on its own: ``--smallest`` for the smallest sizes."""
    print(run(name, question, measure, "--smallest" in sys.argv[1:]))
