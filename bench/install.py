# SPDX-License-Identifier: BSD-3-Clause
"""Breakdown of the seconds of the README's two commands.

    python bench/install.py [--tests]

Clones this repository's HEAD into an empty folder and times, one after the other: the installation of numpy, sympy and
matplotlib into a new environment; the parts of the first command, each by the call that pip makes of it; the whole
first command; with ``--tests`` the whole second one, in a clone and an environment of its own.  Seconds are those of
the machine and of its package index; the ratio of a command to that installation holds on others as well.  Processor
time, of all processes together, tells a slow hour of the machine from more work.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
OTHERS = ["numpy", "sympy", "matplotlib"]

# The targets of the README's commands, in seconds on two idle cores and as ratios to the installation of `OTHERS`.
FIRST, SECOND = (45.0, 2.0), (180.0, 8.0)


def commands() -> list[str]:
    """The lines of the first fenced block of the README."""
    block = re.search(r"^```\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert block is not None
    return block[1].splitlines()


class Took(NamedTuple):
    """Seconds that a command took, and those of all processors together; these are 0 on Windows."""

    seconds: float
    processors: float

    def line(self, usual: Took, name: str) -> str:
        return f"{self.seconds:7.1f} s  {self.seconds / usual.seconds:5.2f}  {self.processors:7.1f} s  {name}"


def run(command: str | list[str], folder: Path, **environment: str) -> Took:
    """Run a command in a folder; its output is shown where it fails."""
    words = ["bash", "-c", command] if isinstance(command, str) else command
    # No cache of pip, of compiled models or of fonts: those of a newcomer are empty.  No variable that changes Python:
    # without bytecode that it wrote, say, each process compiles what it imports.
    home = {"HOME": str(folder / "home"), "PIP_NO_CACHE_DIR": "1"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    start, before = time.perf_counter(), os.times()
    done = subprocess.run(
        words,
        cwd=folder,
        env={**kept, **home, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{command}\n{done.stdout[-4000:]}\nended with status {done.returncode}")
    seconds, after = time.perf_counter() - start, os.times()
    processors = after.children_user + after.children_system - before.children_user - before.children_system
    return Took(seconds, processors)


def build_requirements() -> list[str]:
    """Those of pyproject.toml; this may run on a Python without tomllib."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    line = re.search(r"^requires = \[(.*?)\]", text, re.MULTILINE)
    assert line is not None
    return re.findall(r'"(.*?)"', line[1])


def parts(folder: Path) -> Iterator[tuple[str, Took]]:
    """The first command in its parts, each with how long it takes."""
    clone, python = folder / "kanecore", str(folder / "venv/bin/python")
    pip = [python, "-m", "pip", "--quiet"]
    wheels, built = str(folder / "wheels"), str(folder / "built")
    offline = ["--no-index", "--find-links", wheels]
    yield "new environment", run([sys.executable, "-m", "venv", str(folder / "venv")], folder)
    yield (
        "download of numpy, sympy, matplotlib and what they need",
        run([*pip, "download", "--dest", wheels, *OTHERS], folder),
    )
    yield "unpacking them", run([*pip, "install", "--no-compile", *offline, *OTHERS], folder)
    yield "byte-compiling them", run([python, "-m", "compileall", "-q", str(folder / "venv/lib")], folder)
    requirements = ["--target", str(folder / "build-requirements"), *build_requirements()]
    yield "build requirements: setuptools, Cython", run([*pip, "install", *requirements], folder)
    path = str(folder / "build-requirements")
    yield (
        "extension and wheel",
        run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", built, str(clone)], folder, PYTHONPATH=path),
    )
    (wheel,) = Path(built).glob("*.whl")
    yield "unpacking and byte-compiling kanecore", run([*pip, "install", "--no-deps", str(wheel)], folder)
    yield "kanecore demo", run([str(folder / "venv/bin/kanecore"), "demo"], folder)


def report(name: str, took: Took, usual: Took, target: tuple[float, float]) -> str:
    met = took.seconds <= target[0] and took.seconds <= target[1] * usual.seconds
    goal = f"at most {target[0]:g} s and {target[1]:g}: {'met' if met else 'NOT MET'}"
    return took.line(usual, f"{name}, {goal}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Where do the seconds of the README's two commands go?")
    parser.add_argument("--tests", action="store_true", help="time the second command as well")
    arguments = parser.parse_args()
    first, second = commands()
    with tempfile.TemporaryDirectory(prefix="kanecore-install-") as name:
        folders = {part: Path(name, part) for part in ("usual", "parts", "first", "second")}
        for folder in folders.values():
            (folder / "home").mkdir(parents=True)
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder / "kanecore")], check=True)
        venv = f"{shlex.quote(sys.executable)} -m venv v && v/bin/pip install {' '.join(OTHERS)}"
        usual = run(venv, folders["usual"])
        print(f"  seconds  ratio  processors\n{usual.line(usual, venv)}\n", flush=True)
        for part, took in parts(folders["parts"]):
            print(took.line(usual, part), flush=True)
        whole = run(f"cd kanecore && {first}", folders["first"])
        print(f"\n{report('first command', whole, usual, FIRST)}", flush=True)
        if arguments.tests:
            print(report("second command", run(f"cd kanecore && {second}", folders["second"]), usual, SECOND))


if __name__ == "__main__":
    main()
