# SPDX-License-Identifier: BSD-3-Clause
"""What a script found, as a table to read and as JSON to keep."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from clock import reference

from kanecore.build.compiler import find_compiler

Row = dict[str, Any]


@dataclass(frozen=True)
class Report:
    """Rows by table; the first column of a row, ``case``, names it, and pairs it with that of another run."""

    name: str
    question: str
    tables: Mapping[str, Sequence[Row]]
    reference: Mapping[str, float]
    smallest: bool
    facts: Mapping[str, Any] = field(default_factory=lambda: facts())

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        return path

    def __str__(self) -> str:
        clock = ", ".join(f"{name} {value:.3g}" for name, value in self.reference.items())
        parts = [f"{self.name}: {self.question}", f"reference loops: {clock}"]
        parts += [f"\n{title}\n{table(rows)}" for title, rows in self.tables.items()]
        return "\n".join(parts) + "\n"


def facts() -> dict[str, Any]:
    """What the figures depend on beside kanecore."""
    packages = ("kanecore", "sympy", "numpy")
    return {
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in packages},
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "compiler": Path(find_compiler()[0]).name,
    }


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
    before = reference()
    tables = measure(smallest)
    after = reference()
    loops = {**before, **{f"{name}_after": value for name, value in after.items()}}
    return Report(name, question, tables, loops, smallest)


def main(name: str, question: str, measure: Callable[[bool], Mapping[str, Sequence[Row]]]) -> None:
    """A script of this folder, run on its own: ``--smallest`` for the smallest sizes."""
    print(run(name, question, measure, "--smallest" in sys.argv[1:]))
